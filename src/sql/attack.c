/*
 * attack.c: kanon_attack: linkage tried out.
 *
 * Somebody knows some columns of a person, finds the records of the target that
 * may be that person's, and picks one of them at random.  The records that fit are counted
 * by one query, which compares what is known with what a cell shows: a value, a
 * range, a set, a level of a hierarchy, or nothing, which fits everybody.  Arrays are
 * compared, not values: their operators are pg_catalog's, and find equality by the type.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/citus.h"
#include "host/gate.h"
#include "host/lines.h"
#include "read/hierarchy.h"
#include "read/source.h"
#include "run/args.h"

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_attack);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE,
	ARG_TARGET,
	ARG_KEY,
	ARG_KNOWN,
	ARG_TRIALS,
	ARG_HIERARCHIES
};

static void
put(Lines *lines, const char *measure, double value, bool known, const char *meaning)
{
	line_text(lines, measure);
	line_float8(lines, value, known);
	line_text(lines, meaning);
	line_end(lines);
}

static void
append_text(StringInfo query, const char *alias, const SourceColumn *column)
{
	appendStringInfoString(query, text_expression(psprintf("%s.%s", alias, column->quoted), column->type));
}

/* A value or a level above it, as text: of a line of the hierarchy. */
static void
append_levels(StringInfo query, const SourceColumn *known, const SourceColumn *shown, Oid relation)
{
	Source *levels = hierarchy_columns(relation);

	appendStringInfo(query, "EXISTS (SELECT FROM %s AS h WHERE ARRAY[", levels->name);
	append_text(query, "h", &levels->qis[0]);
	appendStringInfoString(query, "] OPERATOR(pg_catalog.@>) ARRAY[");
	append_text(query, "s", known);
	appendStringInfoString(query, "] AND ARRAY[");
	append_text(query, "t", shown);
	appendStringInfoString(query, "] OPERATOR(pg_catalog.&&) ARRAY[");
	append_text(query, "s", known);
	for (int i = 1; i < levels->nqis; i++)
	{
		appendStringInfoString(query, ", ");
		append_text(query, "h", &levels->qis[i]);
	}
	appendStringInfoString(query, "])");
}

/* Whether a cell of the target (t) fits a value of the source (s). */
static void
append_fits(StringInfo query, const SourceColumn *known, const SourceColumn *shown,
			const HierarchyChoice *hierarchy)
{
	appendStringInfo(query, " AND (t.%s IS NULL OR ", shown->quoted);
	if (hierarchy->builder != NULL)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("hierarchies of kanon_attack must be relations"),
						errhint("Write the levels of \"%s\" into a table by kanon_hierarchy_interval or its "
								"like, and name that.",
								known->name)));
	if (OidIsValid(hierarchy->relation))
		append_levels(query, known, shown, hierarchy->relation);
	else if (shown->type == known->type)
		appendStringInfo(query, "ARRAY[t.%s] OPERATOR(pg_catalog.@>) ARRAY[s.%s]", shown->quoted,
						 known->quoted);
	else if (get_range_subtype(shown->type) == known->type)
		appendStringInfo(query, "t.%s OPERATOR(pg_catalog.@>) s.%s", shown->quoted, known->quoted);
	else if (get_element_type(shown->type) == known->type)
		appendStringInfo(query, "t.%s OPERATOR(pg_catalog.@>) ARRAY[s.%s]", shown->quoted, known->quoted);
	else
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("column \"%s\" has another type in the target", known->name),
						errdetail("It is neither the source's type, nor a range or an array of it."),
						errhint("If it shows levels of a hierarchy, name that in hierarchies.")));
	appendStringInfoChar(query, ')');
}

/* Is there a column of that name, and of that type? */
static bool
has_column(const Source *target, const SourceColumn *column)
{
	AttrNumber attnum = get_attnum(target->relid, column->name);

	return attnum > 0 && get_atttype(target->relid, attnum) == column->type;
}

/* For each of so many random rows how many records fit, and how many of these are the person's. */
static char *
attack_query(const Source *source, const Source *target, const SourceColumn *key,
			 const HierarchyChoice *hierarchies, int trials)
{
	const char *records = target->name;
	StringInfoData query;

	initStringInfo(&query);
	/* Citus joins no row with what it counts on workers: so the records come here, once */
	if (citus_reads(target->relid))
	{
		records = "kanon_records";
		appendStringInfo(&query, "WITH %s AS MATERIALIZED (SELECT %s%s%s FROM %s) ", records,
						 column_list(target->qis, target->nqis), has_column(target, key) ? ", " : "",
						 has_column(target, key) ? key->quoted : "", target->name);
	}
	appendStringInfoString(&query, "SELECT m.fits, m.own FROM (SELECT ");
	appendStringInfo(&query, "%s, %s FROM %s ORDER BY pg_catalog.random() LIMIT %d) AS s, LATERAL (",
					 column_list(source->qis, source->nqis), key->quoted, source->name, trials);
	appendStringInfoString(&query, "SELECT pg_catalog.count(*) AS fits, ");
	/* what a release says of a row is so: its record is among them */
	if (has_column(target, key))
		appendStringInfo(&query,
						 "pg_catalog.count(*) FILTER (WHERE ARRAY[t.%s] OPERATOR(pg_catalog.@>) ARRAY[s.%s])",
						 key->quoted, key->quoted);
	else
		appendStringInfoString(&query, "LEAST(pg_catalog.count(*), '1'::pg_catalog.int8)");
	appendStringInfo(&query, " AS own FROM %s AS t WHERE true", records);
	for (int i = 0; i < source->nqis; i++)
		append_fits(&query, &source->qis[i], &target->qis[i], &hierarchies[i]);
	appendStringInfoString(&query, ") AS m");
	return query.data;
}

/* What was promised of the table: 1/k of the run that wrote it; false: nothing about rows. */
static bool
promised(Oid schema, Oid target, double *chance)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(target)};
	int nest = catalog_path_begin();
	bool isnull = true;

	if (gate_ask(psprintf("SELECT 1 / u.k::float8 FROM %s.kanon_usefulness u WHERE u.target_oid = $1"
						  " AND u.transactions IS NULL AND u.method <> 'k_one'"
						  " AND NOT jsonb_path_exists(u.options, '$.privacy[*] ? (@.rule == \"k_map\")')"
						  " ORDER BY u.run DESC LIMIT 1",
						  quote_identifier(get_namespace_name(schema))),
				 1, types, values, NULL, true, 1) > 0)
		*chance = DatumGetFloat8(gate_value(0, 1, FLOAT8OID, &isnull));
	catalog_path_end(nest);
	return !isnull;
}

/* The outcome of the query, with a draw for each trial. */
static void
put_outcome(Lines *lines)
{
	uint64 n = SPI_processed;
	double chances = 0, highest = 0, fitting = 0, found = 0, hits = 0;
	int64 least = PG_INT64_MAX;

	for (uint64 i = 0; i < n; i++)
	{
		bool isnull;
		int64 fits = DatumGetInt64(gate_value(i, 1, INT8OID, &isnull));
		int64 own = DatumGetInt64(gate_value(i, 2, INT8OID, &isnull));
		double chance = fits > 0 ? (double) own / (double) fits : 0;

		least = Min(least, fits);
		fitting += (double) fits;
		found += fits > 0;
		chances += chance;
		highest = Max(highest, chance);
		hits += pg_prng_double(&pg_global_prng_state) < chance;
	}
	put(lines, "trials", (double) n, true, "persons who were looked for, by a random row of theirs");
	put(lines, "found", found, true, "of whom at least one record may be");
	put(lines, "matches_least", (double) least, n > 0, "records that may be one person's, at least");
	put(lines, "matches_average", n > 0 ? fitting / n : 0, n > 0, "the same on average");
	put(lines, "success_highest", highest, n > 0, "the best chance to pick the right record");
	put(lines, "success_expected", n > 0 ? chances / n : 0, n > 0, "the chance on average");
	put(lines, "success_observed", n > 0 ? hits / n : 0, n > 0,
		"the share of trials in which the record that was picked was the right one");
}

/* kanon_attack(source, target, key, known, trials, hierarchies) */
Datum
kanon_attack(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Source *source, *target;
	SourceColumn *key;
	HierarchyChoice *hierarchies;
	Gate *gate;
	double chance = 0;
	bool about_rows;
	int trials, n, nest;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table that was published.");
	refuse_null(fcinfo, ARG_TARGET, "target", "Name what was published of it.");
	refuse_null(fcinfo, ARG_KEY, "key", "Name the column that says who a row of the source is about.");
	refuse_null(fcinfo, ARG_TRIALS, "trials", "1000 is the default.");
	trials = PG_GETARG_INT32(ARG_TRIALS);
	if (trials < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("trials must be at least 1"),
						errhint("It is how many persons are looked for; 1000 is the default.")));
	lines = lines_begin(fcinfo);
	SPI_connect();
	source = source_open_columns(PG_GETARG_OID(ARG_SOURCE), array_arg(fcinfo, ARG_KNOWN), "known");
	target = source_open_columns(PG_GETARG_OID(ARG_TARGET), array_arg(fcinfo, ARG_KNOWN), "known");
	key = source_columns(source, name_array_arg(fcinfo, ARG_KEY), "key", "the key", &n);
	hierarchies = hierarchies_named(jsonb_arg(fcinfo, ARG_HIERARCHIES), source->qis, source->nqis, "known");
	source_lock(target);
	about_rows = promised(schema, target->relid, &chance);
	source_snapshot(source);
	gate = gate_create(source->name, source->relid, 2);
	gate_computed(gate, "fits", INT8OID);
	gate_computed(gate, "own", INT8OID);
	nest = plain_text_begin();
	gate_query(gate, attack_query(source, target, key, hierarchies, trials), true);
	plain_text_end(nest);
	put_outcome(lines);
	put(lines, "success_promised", chance, about_rows,
		"1 / k of the run that wrote the target, the highest chance, unless fewer than k rows are blank throughout; NULL: no such promise");
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
