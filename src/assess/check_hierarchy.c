/*
 * check_hierarchy.c: kanon_check_hierarchy: what is wrong with a hierarchy.
 */
#include "compat.h"
#include "host/lines.h"
#include "hierarchies/hierarchy.h"
#include "run/request.h"

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
