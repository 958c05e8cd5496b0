/*
 * hierarchy_build.c: what the functions have in common that write a hierarchy of
 * a source's column into a table.
 */
#include "compat.h"
#include "sql/hierarchy_build.h"
#include "host/catalog.h"
#include "rows/cell_values.h"
#include "rows/verify.h"
#include "options/request.h"
#include "hierarchies/hierarchy.h"
#include "rows/target.h"

#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/queryenvironment.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

static Source *
open_column(FunctionCallInfo fcinfo)
{
	refuse_null(fcinfo, BUILD_SOURCE, "source", "Name the table or view whose column it is for.");
	refuse_null(fcinfo, BUILD_COLUMN, "column_name", "Name the column that it is for.");
	return source_open_columns(PG_GETARG_OID(BUILD_SOURCE), name_array_arg(fcinfo, BUILD_COLUMN),
							   "column_name");
}

HierarchyBuild *
hierarchy_build_begin(FunctionCallInfo fcinfo)
{
	HierarchyBuild *build = palloc0(sizeof(HierarchyBuild));
	char *target = text_arg(fcinfo, BUILD_TARGET, "target", "Name the table to create.");
	int replace = PG_NARGS() - 1;

	refuse_read_only(fcinfo);
	SPI_connect();
	build->source = open_column(fcinfo);
	build->column = &build->source->qis[0];
	build->type = getBaseType(build->column->type);
	source_lock(build->source);
	build->target = target_resolve(target, build->source, bool_arg(fcinfo, replace, "replace"), false);
	/* younger than the locks: a load may have emptied the source first */
	PushActiveSnapshot(GetTransactionSnapshot());
	return build;
}

Datum *
hierarchy_build_array(ArrayType *array, const char *argument, const char *example, int *n)
{
	Datum *elements;
	bool *nulls;
	int16 length;
	bool byval;
	char align;

	if (array == NULL)
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", argument),
						errhint("Write it like '%s': one for each level, the finest first.", example)));
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &byval, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, byval, align, &elements, &nulls, n);
	if (ARR_NDIM(array) > 1 || *n < 1 || *n > HIERARCHY_MAX_LEVELS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s must be a list of 1 to %d levels", argument, HIERARCHY_MAX_LEVELS),
						errhint("Write it like '%s': one for each level, the finest first.", example)));
	for (int i = 0; i < *n; i++)
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not contain NULL", argument),
					 errhint("Write it like '%s': one for each level, the finest first.", example)));
	return elements;
}

static bool
store_row(void *arg, TupleTableSlot *slot)
{
	EphemeralNamedRelation relation = arg;

	tuplestore_puttupleslot(relation->reldata, slot);
	relation->md.enrtuples++;
	return true;
}

void
hierarchy_build_store(HierarchyBuild *build, const char *name, Gate *gate, const char *query)
{
	EphemeralNamedRelation relation = palloc0(sizeof(EphemeralNamedRelationData));

	Assert(build->nstores < BUILD_MAX_STORES);
	relation->md.name = pstrdup(name);
	relation->md.enrtype = ENR_NAMED_TUPLESTORE;
	relation->md.tupdesc = gate->desc;
	relation->reldata = build->stores[build->nstores++] = tuplestore_begin_heap(true, false, work_mem);
	gate_select(gate, query, true, store_row, relation);
	if (SPI_register_relation(relation) != SPI_OK_REL_REGISTER)
		elog(ERROR, "could not keep what was read");
}

/* ORDER BY takes the type's own order, whatever the search_path. */
void
hierarchy_build_values(HierarchyBuild *build)
{
	SourceColumn value = *build->column;
	SourceColumn text = {.name = "t", .type = TEXTOID, .typmod = -1, .collation = C_COLLATION_OID};
	Gate *gate = gate_create(build->source->name, build->source->relid, 3);

	value.name = "v";
	gate_columns(gate, &value, 1);
	gate_computed(gate, "place", INT8OID);
	gate_columns(gate, &text, 1);
	hierarchy_build_store(
		build, "vals", gate,
		psprintf(
			"SELECT g.v, pg_catalog.row_number() OVER (ORDER BY g.v) AS place, %s COLLATE pg_catalog.\"C\" AS t"
			" FROM (SELECT %s AS v FROM %s WHERE %s IS NOT NULL GROUP BY 1) AS g",
			text_expression("g.v", build->column->type), build->column->quoted, build->source->name,
			build->column->quoted));
}

/* The planner does not know how long a walk up a tree is, so it is made to hash and not to sort. */
static void
execute(HierarchyBuild *build, const char *query, bool read_only, int expected)
{
	int path = catalog_path_begin();
	int text = plain_text_begin();
	int grouping = grouping_begin();

	(void) gate_execute(query, read_only, expected);
	grouping_end(grouping);
	plain_text_end(text);
	catalog_path_end(path);
}

int64
hierarchy_build_ask(HierarchyBuild *build, const char *query)
{
	bool isnull;
	Datum result;

	execute(build, query, true, SPI_OK_SELECT);
	result = gate_value(0, 1, INT8OID, &isnull);
	return isnull ? 0 : DatumGetInt64(result);
}

/* The target with that many levels of a type, empty. */
static Relation
create_table(HierarchyBuild *build, int nlevels, Oid type)
{
	Source table = *build->source;
	Relation rel;

	table.nqis = 0;
	table.nkept = nlevels + 1;
	table.kept = palloc0(sizeof(SourceColumn) * table.nkept);
	table.kept[0] = *build->column;
	table.kept[0].name = "value";
	table.kept[0].quoted = quote_identifier("value");
	for (int h = 1; h <= nlevels; h++)
	{
		SourceColumn *level = &table.kept[h];

		level->name = psprintf("level%d", h);
		level->quoted = quote_identifier(level->name);
		level->type = type;
		level->typmod = -1;
		level->collation = type == TEXTOID ? DEFAULT_COLLATION_OID : InvalidOid;
	}
	target_create(build->target, &table);
	/* a constraint that an event trigger slips in would print values */
	rel = target_open(build->target);
	if (!target_is_plain(rel, build->target, &table))
		raise_unsafe("It has other columns than a hierarchy, or constraints, indexes or triggers.");
	return rel;
}

static void
finish(HierarchyBuild *build)
{
	target_install(build->target, build->source);
	PopActiveSnapshot();
	SPI_finish();
}

int64
hierarchy_build_write(HierarchyBuild *build, int nlevels, Oid type, const char *query)
{
	int64 lines;

	table_close(create_table(build, nlevels, type), NoLock);
	execute(build, psprintf("INSERT INTO %s %s ORDER BY 1", build->target->building, query), false,
			SPI_OK_INSERT);
	lines = (int64) SPI_processed;
	for (int i = 0; i < build->nstores; i++)
		tuplestore_end(build->stores[i]);
	finish(build);
	return lines;
}

/* The same of what a builder of the column makes. */
static int64
hierarchy_build_levels(HierarchyBuild *build, LevelBuilder *builder)
{
	Border *border = border_create("kanon_hierarchy");
	RowTypes *types = rowtypes_read(build->source, border);
	HierarchyChoice choice = {.builder = builder};
	Hierarchy hierarchy;
	HierarchyLines *lines;
	int64 *rows;
	Holders holders;
	Relation rel;
	BulkWriter *bulk;
	int64 written;

	hierarchy_open(&hierarchy, &choice, build->source, 0);
	rows = rows_of_codes(types, 0, border);
	holders = (Holders){.least = builder->least, .rows = rows};
	builder->holders = &holders;
	lines = hierarchy_lines_read(&hierarchy, build->column, rows, true, border);
	hierarchy_lines_check(lines);
	rel = create_table(build, builder->nlevels, hierarchy.levels[0].type);
	bulk = bulk_begin(rel);
	for (uint32 i = 0; i < lines->n; i++)
	{
		TupleTableSlot *slot = bulk_slot(bulk);

		slot->tts_values[0] = dictionary_value(lines->values, lines->value[i], &slot->tts_isnull[0]);
		for (int h = 0; h < lines->nlevels; h++)
			slot->tts_values[h + 1] =
				dictionary_value(lines->level[h], lines->node[h][i], &slot->tts_isnull[h + 1]);
		bulk_put(bulk);
	}
	written = bulk_end(bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	MemoryContextDelete(border->context);
	finish(build);
	return written;
}

/*
 * ---- Kanon_hierarchy_interval, _prefix, _date and _quantile: the
 * levels of a builder (hierarchies/builder.c) as a table.
 */

PG_FUNCTION_INFO_V1(kanon_hierarchy_interval);
PG_FUNCTION_INFO_V1(kanon_hierarchy_prefix);
PG_FUNCTION_INFO_V1(kanon_hierarchy_date);
PG_FUNCTION_INFO_V1(kanon_hierarchy_quantile);

/* After the arguments that all have. */
#define ARG_LEVELS BUILD_ARGS
#define ARG_ORIGIN (BUILD_ARGS + 1)
#define ARG_LEAST (BUILD_ARGS + 1)
#define ARG_LOWER (BUILD_ARGS + 2)
#define ARG_UPPER (BUILD_ARGS + 3)

static int *
integers_arg(FunctionCallInfo fcinfo, const char *name, const char *example, int *n)
{
	Datum *elements = hierarchy_build_array(array_arg(fcinfo, ARG_LEVELS), name, example, n);
	int *integers = palloc(sizeof(int) * *n);

	for (int i = 0; i < *n; i++)
		integers[i] = DatumGetInt32(elements[i]);
	return integers;
}

/* kanon_hierarchy_interval(source, column_name, target, widths, origin, lower, upper, replace) */
Datum
kanon_hierarchy_interval(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	int n;
	Datum *elements = hierarchy_build_array(array_arg(fcinfo, ARG_LEVELS), "widths", "{5,10,20}", &n);
	Numeric *widths = palloc(sizeof(Numeric) * n);

	refuse_null(fcinfo, ARG_ORIGIN, "origin", "0 is the default: some interval begins there.");
	for (int i = 0; i < n; i++)
		widths[i] = DatumGetNumeric(elements[i]);
	PG_RETURN_INT64(hierarchy_build_levels(
		build, builder_interval("widths", build->column, widths, n, PG_GETARG_NUMERIC(ARG_ORIGIN),
								PG_ARGISNULL(ARG_LOWER) ? NULL : PG_GETARG_NUMERIC(ARG_LOWER),
								PG_ARGISNULL(ARG_UPPER) ? NULL : PG_GETARG_NUMERIC(ARG_UPPER))));
}

/* kanon_hierarchy_prefix(source, column_name, target, keep, replace) */
Datum
kanon_hierarchy_prefix(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	int n;
	int *keep = integers_arg(fcinfo, "keep", "{3,1}", &n);

	PG_RETURN_INT64(hierarchy_build_levels(build, builder_prefix("keep", build->column, keep, n)));
}

/* kanon_hierarchy_date(source, column_name, target, levels, replace) */
Datum
kanon_hierarchy_date(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	int n;
	Datum *elements =
		hierarchy_build_array(array_arg(fcinfo, ARG_LEVELS), "levels", "{month,year,decade}", &n);
	char **levels = palloc(sizeof(char *) * n);

	for (int i = 0; i < n; i++)
		levels[i] = TextDatumGetCString(elements[i]);
	PG_RETURN_INT64(hierarchy_build_levels(build, builder_date("levels", build->column, levels, n)));
}

/* kanon_hierarchy_quantile(source, column_name, target, groups, k, replace) */
Datum
kanon_hierarchy_quantile(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	int n;
	int *groups = integers_arg(fcinfo, "groups", "{16,8,2}", &n);
	LevelBuilder *builder = builder_quantile("groups", build->column, groups, n);

	builder->least =
		k_arg(fcinfo, ARG_LEAST, 1, "The rows that must have a value before a range may end in it.");
	PG_RETURN_INT64(hierarchy_build_levels(build, builder));
}
