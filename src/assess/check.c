/*
 * check.c: kanon_check: how any relation groups by some columns.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/lines.h"
#include "host/gate.h"
#include "rows/row_types.h"
#include "hierarchies/hierarchy.h"
#include "options/request.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_check);

/* Says so when the caller's record has the relation as a freeform release. */
static void
notice_freeform(FunctionCallInfo fcinfo, const Source *source)
{
	const char *schema = quote_identifier(name_schema(get_func_namespace(fcinfo->flinfo->fn_oid)));
	Oid text[1] = {TEXTOID};
	Datum values[1] = {CStringGetTextDatum(source->name)};
	bool isnull = true;

	if (gate_ask(
			psprintf("SELECT u.matches FROM %s.kanon_usefulness u WHERE u.target OPERATOR(pg_catalog.=) $1"
					 " ORDER BY u.run DESC LIMIT 1",
					 schema),
			1, text, values, NULL, true, 1) > 0)
		(void) gate_value(0, 1, INT8OID, &isnull);
	if (!isnull)
		ereport(NOTICE, (errmsg("the table is a freeform release, which has no classes"),
						 errdetail("Its records overlap; the k of equal records says nothing about it."),
						 errhint("Ask kanon_check_freeform, with the table that was published.")));
}

/* A blank row has NULL in every column; the blank ones are a class like any other. */
static void
put_sizes(Lines *lines, const SizeCount *sizes, size_t n)
{
	int64 k = PG_INT64_MAX, classes = 0, rows = 0, unique = 0, blank = 0, largest = 0;

	for (size_t i = 0; i < n; i++)
	{
		classes += sizes[i].classes;
		rows += sizes[i].rows;
		largest = Max(largest, sizes[i].size);
		k = Min(k, sizes[i].size);
		unique += sizes[i].size == 1 ? sizes[i].classes : 0;
		if (sizes[i].blank)
			blank = sizes[i].rows;
	}
	line_int8(lines, k, n > 0);
	line_int8(lines, classes, true);
	line_int8(lines, rows, true);
	line_int8(lines, unique, true);
	line_int8(lines, blank, true);
	line_float8(lines, n > 0 ? (double) rows / (double) classes : 0, n > 0);
	line_int8(lines, largest, n > 0);
	line_end(lines);
}

/* kanon_check(relation regclass, quasi_identifiers name[]) */
Datum
kanon_check(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Source *source;
	SizeCount *sizes;
	size_t n;

	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("relation must not be NULL"),
						errhint("Name a table or view.")));
	lines = lines_begin(fcinfo);
	SPI_connect();
	source = source_open(PG_GETARG_OID(0), PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), NULL, NULL);
	source_snapshot(source);
	notice_freeform(fcinfo, source);
	sizes = class_sizes(source, NULL, &n);
	put_sizes(lines, sizes, n);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}

/* ---- Kanon_check_hierarchy: what is wrong with a hierarchy ---- */

PG_FUNCTION_INFO_V1(kanon_check_hierarchy);

enum
{
	ARG_RELATION,
	ARG_SOURCE,
	ARG_COLUMN,
	ARG_WITH_VALUES
};

/* ["value", ...] */
static Datum
examples_json(const HierarchyFault *fault)
{
	JsonbInState state = {0};

	kanon_push_jsonb(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < fault->nexamples; i++)
	{
		JsonbValue value = {.type = jbvNull};

		if (fault->examples[i] != NULL)
		{
			value.type = jbvString;
			value.val.string.val = unconstify(char *, fault->examples[i]);
			value.val.string.len = strlen(fault->examples[i]);
		}
		kanon_push_jsonb(&state, WJB_ELEM, &value);
	}
	kanon_push_jsonb(&state, WJB_END_ARRAY, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(state.result));
}

static void
put_fault(Lines *lines, const HierarchyFault *fault, bool with_values)
{
	line_text(lines, hierarchy_fault_name(fault->kind));
	line_int4(lines, fault->level, fault->level > 0);
	line_int8(lines, fault->count, true);
	line_int8(lines, fault->rows, true);
	line_text(lines, hierarchy_fault_text(fault));
	line_value(lines, with_values ? examples_json(fault) : (Datum) 0, with_values);
	line_end(lines);
}

/* kanon_check_hierarchy(relation, source, column_name, with_values) */
Datum
kanon_check_hierarchy(PG_FUNCTION_ARGS)
{
	Lines *lines;
	bool with_values = bool_arg(fcinfo, ARG_WITH_VALUES, "with_values");
	Border *border;
	Source *source;
	Hierarchy hierarchy;
	HierarchyFault *faults;
	RowTypes *types;
	int n;

	refuse_null(fcinfo, ARG_RELATION, "relation", "Name the table or view with the hierarchy.");
	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view whose column it is for.");
	refuse_null(fcinfo, ARG_COLUMN, "column_name", "Name the column that it is for.");
	lines = lines_begin(fcinfo);
	border = border_create("kanon_check_hierarchy");
	SPI_connect();
	source =
		source_open_columns(PG_GETARG_OID(ARG_SOURCE), name_array_arg(fcinfo, ARG_COLUMN), "column_name");
	source_lock(source);
	hierarchy_open(&hierarchy, &(HierarchyChoice){.relation = PG_GETARG_OID(ARG_RELATION)}, source, 0);
	/* younger than the locks */
	PushActiveSnapshot(GetTransactionSnapshot());
	types = rowtypes_read(source, border);
	faults = hierarchy_faults(&hierarchy, source, rows_of_codes(types, 0, border), border, &n);
	for (int i = 0; i < n; i++)
		put_fault(lines, &faults[i], with_values);
	PopActiveSnapshot();
	SPI_finish();
	MemoryContextDelete(border->context);
	return (Datum) 0;
}
