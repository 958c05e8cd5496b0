/*
 * args.c: arguments of SQL functions, checked and in the core's form.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "options/request.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

/* A weight of JSON: NAN where it is no number. */
static double
weight_of(const JsonbValue *value)
{
	return value->type == jbvNumeric ? DatumGetFloat8(DirectFunctionCall1(
										   numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)))
									 : NAN;
}

static void
refuse_weight(const JsonbValue *value, const char *which)
{
	ereport(ERROR, (errcode(value->type == jbvNull ? ERRCODE_NULL_VALUE_NOT_ALLOWED
												   : ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("%s of weights must be finite and at least 0", which),
					errhint("A weight is what one suppressed cell of the column costs; 1 is the default.")));
}

static int
weighted_column(const char *name, char *const *columns, int ncolumns)
{
	Nearest nearest = nearest_to(name);

	for (int c = 0; c < ncolumns; c++)
	{
		if (strcmp(columns[c], name) == 0)
			return c;
		nearest_try(&nearest, columns[c]);
	}
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
					errmsg("weights names \"%s\", which is no quasi-identifier", excerpt(name)),
					errhint("%s", nearest_hint(&nearest, "Name quasi-identifiers; the others cost 1."))));
}

/* Each element of a list, or each pair of an object, into its column's place. */
static void
take_weights(Jsonb *given, double *weights, char *const *columns, int ncolumns)
{
	JsonbIterator *it = JsonbIteratorInit(&given->root);
	JsonbIteratorToken token;
	JsonbValue value;
	int c = -1;
	bool named = false;

	(void) JsonbIteratorNext(&it, &value, true);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			c = weighted_column(pnstrdup(value.val.string.val, value.val.string.len), columns, ncolumns);
			named = true;
		}
		else if (token == WJB_VALUE || token == WJB_ELEM)
		{
			if (!named)
				c++;
			weights[c] = weight_of(&value);
			if (!isfinite(weights[c]) || weights[c] < 0)
				refuse_weight(&value, named ? psprintf("\"%s\"", columns[c]) : psprintf("number %d", c + 1));
		}
	}
}

double *
weights_parse(Jsonb *given, char *const *columns, int ncolumns)
{
	double *weights = palloc(sizeof(double) * ncolumns);
	double sum = 0;
	int count;

	for (int c = 0; c < ncolumns; c++)
		weights[c] = 1;
	if (given == NULL)
		return weights;
	count = JB_ROOT_COUNT(given);
	if (JB_ROOT_IS_SCALAR(given) || (JB_ROOT_IS_OBJECT(given) ? count == 0 : count != ncolumns))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d weights do not fit %d quasi-identifiers", count, ncolumns),
				 errhint("Give one weight for each quasi-identifier, in their order, or weights of some "
						 "by name, such as '{\"%s\": 2}'.",
						 ncolumns > 0 ? columns[0] : "zip")));
	take_weights(given, weights, columns, ncolumns);
	for (int c = 0; c < ncolumns; c++)
		sum += weights[c];
	/* what any number of rows loses is a number, and twice that in sums */
	if (!(sum > 0) || !isfinite(sum * PG_INT64_MAX * 4))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the weights add up to %s", sum > 0 ? "more than can be counted" : "0"),
				 sum > 0 ? errhint("It is their ratios that decide: divide them all by the same number.")
						 : errhint("At least one quasi-identifier must cost something to suppress.")));
	return weights;
}

void
refuse_read_only(FunctionCallInfo fcinfo)
{
	if (XactReadOnly)
		ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
						errmsg("cannot execute %s in a read-only transaction",
							   get_func_name(fcinfo->flinfo->fn_oid)),
						RecoveryInProgress() ? errhint("Call it on the primary server.")
											 : errhint("Call it in a transaction that may write.")));
}

void
refuse_null(FunctionCallInfo fcinfo, int arg, const char *name, const char *hint)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name),
						errhint("%s", hint)));
}

char *
text_arg(FunctionCallInfo fcinfo, int arg, const char *name, const char *hint)
{
	refuse_null(fcinfo, arg, name, hint);
	return text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

bool
bool_arg(FunctionCallInfo fcinfo, int arg, const char *name)
{
	refuse_null(fcinfo, arg, name, "It is true or false.");
	return PG_GETARG_BOOL(arg);
}

ArrayType *
array_arg(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : PG_GETARG_ARRAYTYPE_P(arg);
}

Jsonb *
jsonb_arg(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : PG_GETARG_JSONB_P(arg);
}

ArrayType *
name_array_arg(FunctionCallInfo fcinfo, int arg)
{
	Datum name = PG_GETARG_DATUM(arg);

	return construct_array(&name, 1, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

void
refuse_small_k(int64 k, int64 least, const char *hint)
{
	if (k < least)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k must be at least " INT64_FORMAT, least),
				 errhint("%s",
						 least > 1 ? "With k = 1 every row may stand alone, which protects nobody." : hint)));
}

int64
k_arg(FunctionCallInfo fcinfo, int arg, int64 least, const char *hint)
{
	int64 k;

	refuse_null(fcinfo, arg, "k", hint);
	k = PG_GETARG_INT64(arg);
	refuse_small_k(k, least, hint);
	return k;
}

void
refuse_other_k(const KanonMethod *method, int64 k, const char *hint)
{
	if (method->only_k > 0 && k != method->only_k)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("method \"%s\" is for k = %d only", method->name, method->only_k),
						errhint("%s", hint)));
}

/* 10^digits, which fits into 64 bits. */
static int64
power_of_ten(int digits)
{
	int64 power = 1;

	while (digits-- > 0)
		power *= 10;
	return power;
}

/* Beyond what any argument of this kind may be, and within 64 bits. */
#define MOST_DECIMAL (INT64CONST(1) << 62)

int64
decimal_arg(FunctionCallInfo fcinfo, int arg, const char *name, int digits, const char *hint)
{
	Numeric value, scaled;

	refuse_null(fcinfo, arg, name, hint);
	value = PG_GETARG_NUMERIC(arg);
	if (numeric_is_nan(value) || numeric_is_inf(value))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be a finite number", name),
						errhint("%s", hint)));
	scaled = DatumGetNumeric(DirectFunctionCall2(numeric_mul, NumericGetDatum(value),
												 NumericGetDatum(int64_to_numeric(power_of_ten(digits)))));
	if (!DatumGetBool(DirectFunctionCall2(
			numeric_eq, NumericGetDatum(scaled),
			DirectFunctionCall2(numeric_trunc, NumericGetDatum(scaled), Int32GetDatum(0)))))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s must have no more than %d decimals", name, digits), errhint("%s", hint)));
	if (DatumGetBool(DirectFunctionCall2(numeric_gt,
										 DirectFunctionCall1(numeric_abs, NumericGetDatum(scaled)),
										 NumericGetDatum(int64_to_numeric(MOST_DECIMAL)))))
		return DatumGetBool(DirectFunctionCall2(numeric_gt, NumericGetDatum(scaled),
												NumericGetDatum(int64_to_numeric(0))))
				   ? MOST_DECIMAL
				   : -MOST_DECIMAL;
	return DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(scaled)));
}

char *
decimal_text(int64 value, int digits)
{
	char *text = psprintf("%s%lld.%0*lld", value < 0 ? "-" : "", llabs(value) / power_of_ten(digits), digits,
						  llabs(value) % power_of_ten(digits));
	char *end = text + strlen(text);

	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
	return text;
}

double
threshold_arg(FunctionCallInfo fcinfo, int arg)
{
	double threshold;

	refuse_null(fcinfo, arg, "threshold", "0.2 is the default: one in five.");
	threshold = PG_GETARG_FLOAT8(arg);
	if (!(threshold > 0 && threshold <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("threshold must be above 0 and at most 1"),
				 errhint("It is a chance; 0.2 means one in five.")));
	return threshold;
}
