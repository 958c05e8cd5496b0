/*
 * hierarchy_check.c: kanon_check_hierarchy: what is wrong with a hierarchy.
 */
#include "compat.h"
#include "read/hierarchy.h"
#include "run/args.h"

#include "utils/builtins.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_check_hierarchy);

enum
{
	ARG_RELATION,
	ARG_SOURCE,
	ARG_COLUMN,
	ARG_WITH_VALUES
};

enum
{
	FAULT,
	LEVEL,
	FAULT_COUNT,
	ROW_COUNT,
	DETAIL,
	SHOWN,
	NCOLUMNS
};

/* ["value", ...] */
static Datum
examples_json(const HierarchyFault *fault)
{
	JsonbParseState *state = NULL;

	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < fault->nexamples; i++)
	{
		JsonbValue value = {.type = jbvNull};

		if (fault->examples[i] != NULL)
		{
			value.type = jbvString;
			value.val.string.val = unconstify(char *, fault->examples[i]);
			value.val.string.len = strlen(fault->examples[i]);
		}
		pushJsonbValue(&state, WJB_ELEM, &value);
	}
	return JsonbPGetDatum(JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_ARRAY, NULL)));
}

static void
put_fault(ReturnSetInfo *rsinfo, const HierarchyFault *fault, bool with_values)
{
	Datum values[NCOLUMNS] = {0};
	bool nulls[NCOLUMNS] = {false};

	values[FAULT] = CStringGetTextDatum(hierarchy_fault_name(fault->kind));
	values[LEVEL] = Int32GetDatum(fault->level);
	nulls[LEVEL] = fault->level == 0;
	values[FAULT_COUNT] = Int64GetDatum(fault->count);
	values[ROW_COUNT] = Int64GetDatum(fault->rows);
	values[DETAIL] = CStringGetTextDatum(hierarchy_fault_text(fault));
	if (with_values)
		values[SHOWN] = examples_json(fault);
	nulls[SHOWN] = !with_values;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* kanon_check_hierarchy(relation, source, column_name, with_values) */
Datum
kanon_check_hierarchy(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
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
	InitMaterializedSRF(fcinfo, 0);
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
		put_fault(rsinfo, &faults[i], with_values);
	PopActiveSnapshot();
	SPI_finish();
	MemoryContextDelete(border->context);
	return (Datum) 0;
}
