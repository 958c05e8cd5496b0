/*
 * args.c: what SQL functions are called with, checked and in the core's form.
 */
#include "compat.h"
#include "run/args.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "read/number.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

double *
weights_parse(ArrayType *array, int ncolumns)
{
	Datum *elements;
	bool *nulls;
	int count;
	double *weights = palloc(sizeof(double) * ncolumns);
	double sum = 0;

	if (array == NULL)
	{
		for (int c = 0; c < ncolumns; c++)
			weights[c] = 1;
		return weights;
	}
	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, &nulls,
					  &count);
	if (ARR_NDIM(array) > 1 || count != ncolumns)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%d weights do not fit %d quasi-identifiers", count, ncolumns),
						errhint("Give one weight for each quasi-identifier, in their order.")));
	for (int c = 0; c < ncolumns; c++)
	{
		weights[c] = nulls[c] ? NAN : DatumGetFloat8(elements[c]);
		if (!isfinite(weights[c]) || weights[c] < 0)
			ereport(ERROR,
					(errcode(nulls[c] ? ERRCODE_NULL_VALUE_NOT_ALLOWED : ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("weight %d is not a finite number of at least 0", c + 1),
					 errhint("A weight is what one suppressed cell of the column costs; 1 is the default.")));
		sum += weights[c];
	}
	if (!(sum > 0) || !isfinite(sum))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the weights add up to %s", sum > 0 ? "more than can be counted" : "0"),
				 sum > 0 ? errhint("It is their ratios that decide: divide them all by the same number.")
						 : errhint("At least one quasi-identifier must cost something to suppress.")));
	return weights;
}

KanonResidual
residual_parse(const char *word)
{
	if (strcmp(word, "suppress") == 0)
		return KANON_RESIDUAL_SUPPRESS;
	if (strcmp(word, "drop") == 0)
		return KANON_RESIDUAL_DROP;
	if (strcmp(word, "error") == 0)
		return KANON_RESIDUAL_ERROR;
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("residual \"%s\" is not known", word),
					errhint("It is 'suppress', 'drop' or 'error'.")));
}

const KanonSolver *
method_parse(const char *word)
{
	const KanonSolver *solver = kanon_solver_find(word);
	StringInfoData known;

	if (solver != NULL)
		return solver;
	initStringInfo(&known);
	for (solver = kanon_solvers; solver->name != NULL; solver++)
		appendStringInfo(&known, "%s'%s'", known.len > 0 ? ", " : "", solver->name);
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("method \"%s\" is not known", word),
					errhint("Known methods: %s.", known.data)));
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

LevelCost
level_cost_arg(FunctionCallInfo fcinfo, int arg)
{
	const char *hint =
		"It is 'height' (levels cost equal steps) or 'ncp' (the certainty penalty of each level).";
	const char *word = text_arg(fcinfo, arg, "level_cost", hint);

	if (strcmp(word, "height") == 0)
		return LEVEL_COST_HEIGHT;
	if (strcmp(word, "ncp") == 0)
		return LEVEL_COST_NCP;
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("level_cost \"%s\" is not known", word),
					errhint("%s", hint)));
}

ArrayType *
name_array_arg(FunctionCallInfo fcinfo, int arg)
{
	Datum name = PG_GETARG_DATUM(arg);

	return construct_array(&name, 1, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

int64
k_arg(FunctionCallInfo fcinfo, int arg, int64 least, const char *hint)
{
	int64 k;

	refuse_null(fcinfo, arg, "k", hint);
	k = PG_GETARG_INT64(arg);
	if (k < least)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k must be at least " INT64_FORMAT, least),
				 errhint("%s",
						 least > 1 ? "With k = 1 every row may stand alone, which protects nobody." : hint)));
	return k;
}

double
time_limit_arg(FunctionCallInfo fcinfo, int arg)
{
	double seconds;

	if (PG_ARGISNULL(arg))
		return INFINITY;
	seconds = value_as_number(INTERVALOID, PG_GETARG_DATUM(arg)) / USECS_PER_SEC;
	if (seconds <= 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("time_limit must be positive"),
						errhint("It is an interval such as '60 s'; NULL means no limit.")));
	return seconds;
}

static double
gap_arg(FunctionCallInfo fcinfo, int arg)
{
	double gap;

	refuse_null(fcinfo, arg, "gap", "0 asks for the proven optimum.");
	gap = PG_GETARG_FLOAT8(arg);
	if (!(gap >= 0 && gap < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("gap must be at least 0 and below 1"),
				 errhint("0 asks for the proven optimum, 0.01 for at most one per cent more than it.")));
	return gap;
}

static double
effort_arg(FunctionCallInfo fcinfo, int arg)
{
	double effort;

	refuse_null(fcinfo, arg, "effort", "1 is the default.");
	effort = PG_GETARG_FLOAT8(arg);
	if (!(effort > 0) || isinf(effort))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("effort must be positive and finite"),
				 errhint("1 is the default, 10 works ten times as long.")));
	return effort;
}

void
mask_args(FunctionCallInfo fcinfo, int patterns, int rules, const Source *source, KanonMask *mask)
{
	mask->max_suppressed = -1;
	mask->max_cost = INFINITY;
	mask->order = KANON_ORDER_DOMAIN;
	if (!PG_ARGISNULL(patterns) && !PG_ARGISNULL(rules))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("patterns and rules cannot both be given"),
				 errhint("List the patterns, or say them in rules.")));
	if (!PG_ARGISNULL(patterns))
	{
		mask->order = KANON_ORDER_GIVEN;
		mask->list = patterns_parse(PG_GETARG_ARRAYTYPE_P(patterns), &source->levels, &mask->nlist);
	}
	else if (!PG_ARGISNULL(rules))
		rules_parse(PG_GETARG_JSONB_P(rules), source, mask);
}

Limits
limits_arg(FunctionCallInfo fcinfo, int first)
{
	Limits limits;

	limits.time_limit = time_limit_arg(fcinfo, first);
	limits.gap = gap_arg(fcinfo, first + 1);
	refuse_null(fcinfo, first + 2, "seed", "Any number will do; the same one gives the same release.");
	limits.seed = (uint64) PG_GETARG_INT64(first + 2);
	limits.effort = effort_arg(fcinfo, first + 3);
	return limits;
}

void
set_limits(KanonProblem *problem, const Limits *limits)
{
	problem->time_limit = limits->time_limit;
	problem->gap = limits->gap;
	problem->seed = limits->seed;
	problem->effort = limits->effort;
}
