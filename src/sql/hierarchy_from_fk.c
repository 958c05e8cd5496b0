/*
 * hierarchy_from_fk.c: kanon_hierarchy_from_fk: what a lookup table that points
 * to its own parents or to another table, or a path of labels (ltree), says above a column's values.
 *
 * Keys, parents and labels are compared as text, so that the column and the
 * lookup may be of different types.  Level r is the ancestor r steps up; where
 * there are fewer, the highest one: a node thus has the same parent everywhere.
 */
#include "compat.h"
#include "options/request.h"
#include "sql/hierarchy_build.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(kanon_hierarchy_from_fk);

enum
{
	ARG_LOOKUP = BUILD_ARGS,
	ARG_KEY,
	ARG_PARENT,
	ARG_LABEL,
	ARG_ABOVE,
	ARG_ABOVE_KEY,
	ARG_ABOVE_LABEL
};

/* Before a key of the table above, so that it is none of the lookup's own. */
#define ABOVE "pg_catalog.chr(1) OPERATOR(pg_catalog.||) "

/* The lookup's lines: "lookup", with key k, parent p and label b, all text. */
#define LINES "lines AS (SELECT k, nullif(p, k) AS p, coalesce(b, k) AS b FROM lookup)"
#define KEYS "keys AS (SELECT v, t AS k, place FROM vals)"

/* Every ancestor of every value, itself at depth 0. */
#define ANCESTORS                                                             \
	"up AS (SELECT place, 0 AS depth, k, p, b FROM keys JOIN lines USING (k)" \
	" UNION ALL SELECT up.place, up.depth + 1, l.k, l.p, l.b FROM up JOIN lines AS l ON l.k = up.p)"

/* Labels from the top down: a lookup's, which has them as its parent, or the value's own. */
#define LOOKUP_PATHS \
	KEYS ", paths AS (SELECT keys.v, string_to_array(lookup.p, '.') AS path FROM keys JOIN lookup USING (k))"
#define OWN_PATHS "paths AS (SELECT v, string_to_array(t, '.') AS path FROM vals)"

static bool
is_ltree(Oid type)
{
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(getBaseType(type)));
	bool result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	result = strcmp(NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname), "ltree") == 0;
	ReleaseSysCache(tuple);
	return result;
}

static void
refuse(int64 count, const char *name, const char *what, const char *hint)
{
	if (count > 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s has %s: " INT64_FORMAT, name, what, count), errhint("%s", hint)));
}

static void
check_height(int64 height, const char *name)
{
	if (height < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s has no level above the values of the column", name),
						errhint("At least one value must have a parent.")));
	if (height > HIERARCHY_MAX_LEVELS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("%s has " INT64_FORMAT " levels above the values of the column, more than %d",
							   name, height, HIERARCHY_MAX_LEVELS),
						errhint("Use a view that leaves some of them out.")));
}

/* A column as text of one collation, so that all columns can be compared. */
static char *
as_text(const SourceColumn *column)
{
	return psprintf("%s COLLATE pg_catalog.\"C\"", column != NULL
													   ? text_expression(column->quoted, column->type)
													   : "CAST(NULL AS pg_catalog.text)");
}

/* Lines of the lookup, whose parents are lines of the table above, if there is one. */
static char *
lookup_query(Gate *gate, const Source *lookup, const Source *above)
{
	const SourceColumn *columns = lookup->qis;
	char *key = as_text(&columns[0]), *parent = as_text(&columns[1]);
	char *label = as_text(lookup->nqis > 2 ? &columns[2] : NULL);

	if (above == NULL)
		return psprintf("SELECT %s AS k, %s AS p, %s AS b FROM %s", key, parent, label, lookup->name);
	return psprintf("SELECT %s AS k, " ABOVE "%s AS p, %s AS b FROM %s UNION ALL SELECT " ABOVE
					"%s, NULL, %s FROM %s",
					key, parent, label, lookup->name, as_text(&above->qis[0]),
					as_text(&above->qis[above->nqis - 1]), gate_also(gate, above->relid));
}

static void
read_lookup(HierarchyBuild *build, const Source *lookup, const Source *above)
{
	static const char *const names[] = {"k", "p", "b"};
	Gate *gate = gate_create(lookup->name, lookup->relid, lengthof(names));

	for (int i = 0; i < lengthof(names); i++)
	{
		SourceColumn text = {.name = unconstify(char *, names[i]),
							 .type = TEXTOID,
							 .typmod = -1,
							 .collation = C_COLLATION_OID};

		gate_columns(gate, &text, 1);
	}
	hierarchy_build_store(build, "lookup", gate,
						  psprintf("SELECT l.k, l.p, l.b FROM (%s) AS l WHERE l.k IS NOT NULL",
								   lookup_query(gate, lookup, above)));
}

static void
check_keys(HierarchyBuild *build, const Source *lookup)
{
	refuse(hierarchy_build_ask(
			   build, "SELECT count(*) FROM (SELECT 1 FROM lookup GROUP BY k HAVING count(*) > 1) AS twice"),
		   lookup->name, "keys with more than one line",
		   "A key has one parent: use a view with one line for each.");
	refuse(hierarchy_build_ask(
			   build,
			   "WITH " KEYS
			   " SELECT count(*) FROM keys WHERE NOT EXISTS (SELECT 1 FROM lookup AS l WHERE l.k = keys.k)"),
		   lookup->name, psprintf("no line for values of column \"%s\"", build->column->name),
		   "Every value of the column needs a line.");
}

/* A walk up that stays finite where lines go round in circles. */
static void
check_parents(HierarchyBuild *build, const Source *lookup)
{
	refuse(hierarchy_build_ask(build, "WITH " LINES " SELECT count(*) FROM lines AS below WHERE p IS NOT NULL"
									  " AND NOT EXISTS (SELECT 1 FROM lines AS l WHERE l.k = below.p)"),
		   lookup->name, "parents that are no key", "The highest line has NULL, or itself, as its parent.");
	refuse(
		hierarchy_build_ask(
			build,
			"WITH RECURSIVE " LINES ","
			" walk AS (SELECT k AS start, p AS k FROM lines WHERE p IS NOT NULL"
			" UNION SELECT walk.start, l.p FROM walk JOIN lines AS l ON l.k = walk.k WHERE l.p IS NOT NULL)"
			" SELECT count(*) FROM walk WHERE start = k"),
		lookup->name, "keys that are their own ancestors", "Following the parents must come to an end.");
}

/* Raises an error when two nodes of a level would look alike. */
static void
check_labels(HierarchyBuild *build, const Source *lookup)
{
	refuse(hierarchy_build_ask(build, "WITH RECURSIVE " LINES ", " KEYS ", " ANCESTORS
									  " SELECT count(*) FROM (SELECT 1 FROM up WHERE depth > 0 OR p IS NULL"
									  "  GROUP BY b HAVING min(k) <> max(k)) AS shared"),
		   lookup->name, "labels that several keys share",
		   "Leave the label out, or use a view that makes labels unique.");
}

static int64
write_parents(HierarchyBuild *build, const Source *lookup)
{
	StringInfoData query;
	int64 height;

	check_keys(build, lookup);
	check_parents(build, lookup);
	check_labels(build, lookup);
	height = hierarchy_build_ask(build, "WITH RECURSIVE " LINES ", " KEYS ", " ANCESTORS
										" SELECT max(depth)::int8 FROM up");
	check_height(height, lookup->name);
	initStringInfo(&query);
	appendStringInfoString(
		&query,
		"WITH RECURSIVE " LINES ", " KEYS ", " ANCESTORS
		", paths AS (SELECT place, array_agg(b ORDER BY depth) AS path FROM up GROUP BY place) SELECT v");
	for (int r = 1; r <= height; r++)
		appendStringInfo(&query, ", path[least(%d, cardinality(path))]", r + 1);
	appendStringInfoString(&query, " FROM keys JOIN paths USING (place)");
	return hierarchy_build_write(build, (int) height, TEXTOID, query.data);
}

/* sources: the query's WITH, up to the paths of all values. */
static int64
write_paths(HierarchyBuild *build, const char *sources, const char *name)
{
	StringInfoData query;
	int64 height;

	height = hierarchy_build_ask(
		build, psprintf("WITH %s SELECT max(cardinality(path))::int8 - 1 FROM paths", sources));
	check_height(height, name);
	initStringInfo(&query);
	appendStringInfo(&query, "WITH %s SELECT v", sources);
	for (int r = 1; r <= height; r++)
		appendStringInfo(&query, ", array_to_string(path[1:greatest(cardinality(path) - %d, 1)], '.')", r);
	appendStringInfoString(&query, " FROM paths");
	return hierarchy_build_write(build, (int) height, TEXTOID, query.data);
}

/* key, parent and, if given, label. */
static Source *
open_lookup(FunctionCallInfo fcinfo, const Target *target)
{
	Datum names[3];
	Source *lookup;
	int n = 0;

	refuse_null(fcinfo, ARG_KEY, "key", "Name the lookup's column that has the column's values.");
	refuse_null(fcinfo, ARG_PARENT, "parent",
				"Name the lookup's column that has the key of each line's parent, or its ltree path.");
	for (int arg = ARG_KEY; arg <= ARG_LABEL; arg++)
		if (!PG_ARGISNULL(arg))
			names[n++] = PG_GETARG_DATUM(arg);
	/* a label may be the key itself */
	if (n == 3 && strcmp(NameStr(*DatumGetName(names[2])), NameStr(*DatumGetName(names[0]))) == 0)
		n--;
	lookup = source_open_columns(PG_GETARG_OID(ARG_LOOKUP),
								 construct_array(names, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR),
								 "key, parent and label");
	source_lock(lookup);
	target_spare(target->replaced, target->name, lookup->relid);
	PopActiveSnapshot();
	PushActiveSnapshot(GetTransactionSnapshot());
	return lookup;
}

/* The table that the lookup's parents are in: its key and, if given, label; or NULL. */
static Source *
open_above(FunctionCallInfo fcinfo, const Source *lookup, const Target *target)
{
	Datum names[2];
	Source *above;

	if (PG_ARGISNULL(ARG_ABOVE))
		return NULL;
	if (is_ltree(lookup->qis[1].type))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("above goes with a parent that is a key, not a path"),
						errhint("Leave above out: a path has all labels in it.")));
	refuse_null(fcinfo, ARG_ABOVE_KEY, "above_key",
				"Name the column of the table above that the lookup's parent column references.");
	names[0] = PG_GETARG_DATUM(ARG_ABOVE_KEY);
	if (!PG_ARGISNULL(ARG_ABOVE_LABEL))
		names[1] = PG_GETARG_DATUM(ARG_ABOVE_LABEL);
	above = source_open_columns(
		PG_GETARG_OID(ARG_ABOVE),
		construct_array(names,
						PG_ARGISNULL(ARG_ABOVE_LABEL) || strcmp(NameStr(*DatumGetName(names[0])),
																NameStr(*DatumGetName(names[1]))) == 0
							? 1
							: 2,
						NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR),
		"above_key and above_label");
	source_lock(above);
	target_spare(target->replaced, target->name, above->relid);
	PopActiveSnapshot();
	PushActiveSnapshot(GetTransactionSnapshot());
	return above;
}

/*
 * kanon_hierarchy_from_fk(source, column_name, target, lookup, key, parent, label, above, above_key,
 * above_label, replace)
 */
Datum
kanon_hierarchy_from_fk(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	Source *lookup;

	if (PG_ARGISNULL(ARG_LOOKUP))
	{
		char category;
		bool preferred;

		get_type_category_preferred(build->type, &category, &preferred);
		if (category != TYPCATEGORY_STRING && !is_ltree(build->type))
			builder_refuse(
				"hierarchy of paths", build->column,
				"Name a lookup, or use a column of texts or ltrees with labels separated by dots.");
		hierarchy_build_values(build);
		PG_RETURN_INT64(write_paths(build, OWN_PATHS, build->source->name));
	}
	lookup = open_lookup(fcinfo, build->target);
	read_lookup(build, lookup, open_above(fcinfo, lookup, build->target));
	hierarchy_build_values(build);
	if (!is_ltree(lookup->qis[1].type))
		PG_RETURN_INT64(write_parents(build, lookup));
	check_keys(build, lookup);
	refuse(hierarchy_build_ask(build, "SELECT count(*) FROM lookup WHERE p IS NULL"), lookup->name,
		   "keys without a path", "Every line needs a path.");
	PG_RETURN_INT64(write_paths(build, LOOKUP_PATHS, lookup->name));
}
