/*
 * weights.c: the type kanon_weights: an array of numbers, '{1,2}', or JSON, '{"zip": 2}',
 * kept as jsonb.  weights_parse checks what is in it.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

PG_FUNCTION_INFO_V1(kanon_weights_in);
PG_FUNCTION_INFO_V1(kanon_weights_out);

/* An object names columns before a colon; only arrays say where they begin, before "=". */
static bool
is_array_literal(const char *text)
{
	text += strspn(text, " \t\n\r\f\v");
	return *text == '{' ? strchr(text, ':') == NULL : *text == '[' ? strchr(text, '=') != NULL : false;
}

/* The numbers of an array, to their last digit; NULL and NaN stay what no weight is. */
static Jsonb *
json_of_array(char *text)
{
	ArrayType *array = DatumGetArrayTypeP(OidInputFunctionCall(F_ARRAY_IN, text, NUMERICOID, -1));
	StringInfoData json;
	Datum *elements;
	bool *nulls;
	int n;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("weights must have one dimension")));
	deconstruct_array(array, NUMERICOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
	initStringInfo(&json);
	for (int i = 0; i < n; i++)
	{
		Numeric number = nulls[i] ? NULL : DatumGetNumeric(elements[i]);

		appendStringInfo(&json, "%s%s", i > 0 ? "," : "[",
						 number == NULL ? "null"
						 : numeric_is_nan(number) || numeric_is_inf(number)
							 ? "\"\""
							 : DatumGetCString(DirectFunctionCall1(numeric_out, elements[i])));
	}
	appendStringInfoString(&json, n > 0 ? "]" : "[]");
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data)));
}

/* The server's error about a text that is neither does not leave this function. */
static void
add_hint(void *arg)
{
	errhint("Write numbers in the order of the quasi-identifiers, '{1,2}', or by name, '{\"zip\": 2}'.");
}

/* kanon_weights_in(text cstring) */
Datum
kanon_weights_in(PG_FUNCTION_ARGS)
{
	char *text = PG_GETARG_CSTRING(0);
	ErrorContextCallback callback = {.previous = error_context_stack, .callback = add_hint};
	Jsonb *weights;

	error_context_stack = &callback;
	weights = is_array_literal(text) ? json_of_array(text)
									 : DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
	error_context_stack = callback.previous;
	PG_RETURN_JSONB_P(weights);
}

/* kanon_weights_out(weights kanon_weights) */
Datum
kanon_weights_out(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(jsonb_out, PG_GETARG_DATUM(0));
}
