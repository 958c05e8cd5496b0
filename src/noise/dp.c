/*
 * dp.c: kanon_dp: a question about rows is answered with noise, from a budget;
 * kanon_set_budget.
 */
#include "compat.h"
#include "core/noise/noise.h"
#include "host/gate.h"
#include "host/lines.h"
#include "host/border.h"
#include "rows/dictionary.h"
#include "noise/models.h"
#include "options/request.h"

#include <math.h>

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_dp);
PG_FUNCTION_INFO_V1(kanon_set_budget);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE,
	ARG_AGGREGATE,
	ARG_EPSILON,
	ARG_OF,
	ARG_BY,
	ARG_SUBJECT,
	ARG_LOWER,
	ARG_UPPER,
	ARG_BINS,
	ARG_GROUPS,
	ARG_DELTA,
	ARG_CONTRIBUTIONS,
	ARG_GRID
};

#define EPSILON_HINT \
	"It says how much a person changes the odds of any answer, exp(epsilon) at most: 0.1 to 1 are usual, with six decimals at most."
#define DELTA_HINT \
	"It is the chance that the answer names a group of one person. Choose it far below 1 / rows, such as 0.000001."
#define BOUNDS_HINT \
	"Choose bounds by what you know of the matter, not by the rows: numbers beyond them count as the bound."
#define MOST_BINS 10000
#define MOST_CONTRIBUTIONS 1000000

/* Steps of a grid that was not given lie so many decimals below the larger bound. */
#define GRID_DIGITS 4

/* In how many of 100 answers the noise may be beyond the margin. */
#define BEYOND 0.05

typedef struct Asked
{
	KanonQuestion question;
	RandomPool *random;
	Subjects *subjects;
	Numeric lower, upper, step; /* NULL: not asked for */
	int64 epsilon, delta;
} Asked;

static uint64_t
draw(void *arg)
{
	return random_draw(arg);
}

/* ---- numbers ---- */

static Numeric
calculate(PGFunction function, Numeric a, Numeric b)
{
	return DatumGetNumeric(DirectFunctionCall2(function, NumericGetDatum(a), NumericGetDatum(b)));
}

static Numeric
numeric_of_text(const char *text)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text),
											   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

static Numeric
wide_as_numeric(KanonWide value)
{
	char text[64], *at = text + sizeof(text);
	bool negative = value < 0;

	*--at = '\0';
	do
	{
		*--at = (char) ('0' + (int) (negative ? -(value % 10) : value % 10));
		value /= 10;
	} while (value != 0);
	if (negative)
		*--at = '-';
	return numeric_of_text(at);
}

static double
as_number(Numeric value)
{
	return value_as_number(NUMERICOID, NumericGetDatum(value));
}

/* A bound, or the grid: a finite number; NULL: not given. */
static Numeric
number_arg(FunctionCallInfo fcinfo, int arg, const char *name)
{
	Numeric value;

	if (PG_ARGISNULL(arg))
		return NULL;
	value = PG_GETARG_NUMERIC(arg);
	if (!isfinite(as_number(value)))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be a finite number", name),
						errhint(BOUNDS_HINT)));
	return value;
}

/* ---- what is asked ---- */

static void
take_epsilon(FunctionCallInfo fcinfo, Asked *asked)
{
	asked->epsilon = decimal_arg(fcinfo, ARG_EPSILON, "epsilon", EPSILON_DIGITS, EPSILON_HINT);
	if (asked->epsilon < 1 || asked->epsilon > (int64) KANON_MOST_EPSILON)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("epsilon must be above 0 and at most 1000"), errhint(EPSILON_HINT)));
	asked->question.epsilon = (uint64) asked->epsilon;
}

/* Groups are declared, or found, or there is just one. */
static void
take_groups(FunctionCallInfo fcinfo, Asked *asked)
{
	bool by = !PG_ARGISNULL(ARG_BY) && ArrayGetNItems(ARR_NDIM(PG_GETARG_ARRAYTYPE_P(ARG_BY)),
													  ARR_DIMS(PG_GETARG_ARRAYTYPE_P(ARG_BY))) > 0;
	bool declared = !PG_ARGISNULL(ARG_GROUPS), found = !PG_ARGISNULL(ARG_DELTA);

	if (by ? declared == found : declared || found)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 by ? errmsg("with \"by\" either groups or delta is needed")
				: errmsg("groups and delta need columns in \"by\""),
			 by ? errhint(
					  "The groups alone can reveal who is in the table. List the groups in \"groups\", or give a delta: "
					  "then the answer has the groups of enough persons.")
				: errhint("Name columns in \"by\", or leave groups and delta out.")));
	if (!found)
		return;
	asked->delta = decimal_arg(fcinfo, ARG_DELTA, "delta", DELTA_DIGITS, DELTA_HINT);
	asked->question.delta = (double) asked->delta / 1e15;
	if (asked->question.delta <= 0 || asked->question.delta >= 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("delta must be above 0 and below 1"),
						errhint(DELTA_HINT)));
}

static void
take_contributions(FunctionCallInfo fcinfo, Asked *asked)
{
	const char *hint = "At most so many rows of a subject are counted; the default is 1.";
	int contributions;

	refuse_null(fcinfo, ARG_CONTRIBUTIONS, "contributions", hint);
	contributions = PG_GETARG_INT32(ARG_CONTRIBUTIONS);
	if (contributions < 1 || contributions > MOST_CONTRIBUTIONS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("contributions must be between 1 and %d", MOST_CONTRIBUTIONS), errhint("%s", hint)));
	if (contributions > 1 && PG_ARGISNULL(ARG_SUBJECT))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("contributions need a subject"),
			 errhint(
				 "Name the column that says whom a row is about. Without a subject each row counts as a person.")));
	asked->question.contributions = (uint32) contributions;
}

/* Which of these arguments an aggregate takes. */
static void
refuse_other(FunctionCallInfo fcinfo, int arg, const char *name, const char *aggregate)
{
	if (!PG_ARGISNULL(arg))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s does not go with %s", name, aggregate), errhint("Leave it out.")));
}

/* 10^(digits of the larger bound - GRID_DIGITS) */
static Numeric
default_grid(const Asked *asked)
{
	double largest = Max(fabs(as_number(asked->lower)), fabs(as_number(asked->upper)));

	return numeric_of_text(psprintf("1e%d", (int) floor(log10(largest)) - GRID_DIGITS));
}

/* Bounds in whole steps, those that do not fit rounded to the next. */
static void
take_grid(FunctionCallInfo fcinfo, Asked *asked)
{
	KanonQuestion *question = &asked->question;
	double lower, upper;

	asked->step = number_arg(fcinfo, ARG_GRID, "grid");
	if (asked->step == NULL)
		asked->step = default_grid(asked);
	asked->subjects->step = as_number(asked->step);
	if (!(asked->subjects->step > 0))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("grid must be positive"),
						errhint("It is the step to which numbers are rounded, such as 1 or 0.01.")));
	lower = round(as_number(asked->lower) / asked->subjects->step);
	upper = round(as_number(asked->upper) / asked->subjects->step);
	if (lower < upper && Max(fabs(lower), fabs(upper)) <= (double) KANON_MOST_SENSITIVITY)
	{
		question->lower = (int64) lower;
		question->upper = (int64) upper;
		if (kanon_sensitivity(question) > 0)
			return;
	}
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("the grid is too %s for the bounds", lower < upper ? "fine" : "coarse"),
		 errhint(
			 "Use at most 2^40 steps of grid from 0 to the larger bound times contributions, and at least one step between the bounds.")));
}

static void
take_bins(FunctionCallInfo fcinfo, Asked *asked)
{
	const char *hint = "It is into how many equal ranges the numbers from lower to upper are divided.";

	refuse_null(fcinfo, ARG_BINS, "bins", hint);
	if (PG_GETARG_INT32(ARG_BINS) < 1 || PG_GETARG_INT32(ARG_BINS) > MOST_BINS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("bins must be between 1 and %d", MOST_BINS), errhint("%s", hint)));
	asked->question.bins = (uint32) PG_GETARG_INT32(ARG_BINS);
}

/* Bounds of a row's contribution. */
static void
take_bounds(FunctionCallInfo fcinfo, Asked *asked, const char *aggregate)
{
	refuse_null(fcinfo, ARG_LOWER, "lower", BOUNDS_HINT);
	refuse_null(fcinfo, ARG_UPPER, "upper", BOUNDS_HINT);
	asked->lower = number_arg(fcinfo, ARG_LOWER, "lower");
	asked->upper = number_arg(fcinfo, ARG_UPPER, "upper");
	asked->subjects->lower = as_number(asked->lower);
	asked->subjects->upper = as_number(asked->upper);
	if (!(asked->subjects->lower < asked->subjects->upper))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("lower must be below upper"),
						errhint(BOUNDS_HINT)));
	if (asked->question.aggregate == KANON_AGGREGATE_HISTOGRAM)
	{
		refuse_other(fcinfo, ARG_GRID, "grid", aggregate);
		take_bins(fcinfo, asked);
	}
	else
	{
		refuse_other(fcinfo, ARG_BINS, "bins", aggregate);
		take_grid(fcinfo, asked);
	}
}

static void
refuse_bounds(FunctionCallInfo fcinfo, const char *aggregate)
{
	refuse_other(fcinfo, ARG_LOWER, "lower", aggregate);
	refuse_other(fcinfo, ARG_UPPER, "upper", aggregate);
	refuse_other(fcinfo, ARG_BINS, "bins", aggregate);
	refuse_other(fcinfo, ARG_GRID, "grid", aggregate);
}

/* All that can be wrong with the arguments, before the source is looked at but for its columns. */
static const char *
take_arguments(FunctionCallInfo fcinfo, Asked *asked)
{
	static const char *const aggregates[] = {"count", "sum", "mean", "histogram", NULL};
	const char *aggregate;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view to ask.");
	aggregate = text_arg(fcinfo, ARG_AGGREGATE, "aggregate", "It is 'count', 'sum', 'mean' or 'histogram'.");
	/* "mean" is spelled much like it, and is not meant */
	if (pg_strcasecmp(aggregate, "median") == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("kanon_dp has no median"),
			 errhint(
				 "A 'histogram' of \"bins\" between \"lower\" and \"upper\" tells in which the median lies.")));
	asked->question.aggregate = word_among(aggregate, "aggregate", aggregates, NULL);
	asked->question.bins = 1;
	take_epsilon(fcinfo, asked);
	take_groups(fcinfo, asked);
	take_contributions(fcinfo, asked);
	if (asked->question.aggregate != KANON_AGGREGATE_COUNT)
		refuse_null(fcinfo, ARG_OF, "of", "Name the column that has the numbers.");
	return aggregates[asked->question.aggregate];
}

static ArrayType *
optional_name(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : name_array_arg(fcinfo, arg);
}

static void
spend(Oid caller, const Asked *asked, Oid relation, const char *aggregate)
{
	Spending spending = {.schema = get_func_namespace(caller),
						 .relation = relation,
						 .asker = {GetSessionUserId(), GetOuterUserId(), GetUserId()},
						 .epsilon = asked->epsilon,
						 .delta = asked->delta,
						 .queries = kanon_question_parts(&asked->question)};

	namestrcpy(&spending.aggregate, aggregate);
	budget_spend(caller, &spending);
}

/* ---- what is answered ---- */

/* The lower end of a bin, or of the one after the last. */
static Numeric
bin_bound(const Asked *asked, uint32 bin)
{
	Numeric width = calculate(numeric_sub, asked->upper, asked->lower);
	Numeric part = calculate(numeric_div, calculate(numeric_mul, width, int64_to_numeric(bin)),
							 int64_to_numeric(asked->question.bins));

	if (bin == asked->question.bins)
		return asked->upper;
	return DatumGetNumeric(
		DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(calculate(numeric_add, asked->lower, part))));
}

static Numeric
shown_value(const Asked *asked, const KanonFigure *figure)
{
	switch (asked->question.aggregate)
	{
		case KANON_AGGREGATE_SUM:
			return calculate(numeric_mul, wide_as_numeric(figure->value), asked->step);
		case KANON_AGGREGATE_MEAN:
			return DatumGetNumeric(
				DirectFunctionCall1(float8_numeric, Float8GetDatum(figure->mean * asked->subjects->step)));
		case KANON_AGGREGATE_COUNT:
		case KANON_AGGREGATE_HISTOGRAM:
			break;
	}
	return wide_as_numeric(figure->value);
}

static void
put_group(Lines *lines, const Asked *asked, const char *group, const KanonFigure *figures)
{
	const KanonQuestion *question = &asked->question;
	bool histogram = question->aggregate == KANON_AGGREGATE_HISTOGRAM;
	bool known = question->aggregate != KANON_AGGREGATE_MEAN;
	double sensitivity = (double) kanon_sensitivity(question) * kanon_question_parts(question);
	double margin =
		kanon_noise_margin(sensitivity, (double) question->epsilon / (double) KANON_EPSILON_ONE, BEYOND);

	/* steps of a grid such as 0.1, which is no double: as many digits as are sure */
	if (question->aggregate == KANON_AGGREGATE_SUM)
		margin = strtod(psprintf("%.15g", margin * asked->subjects->step), NULL);
	for (uint32 bin = 0; bin < question->bins; bin++)
	{
		line_value(lines, DirectFunctionCall1(jsonb_in, CStringGetDatum(group)), true);
		line_value(lines, histogram ? NumericGetDatum(bin_bound(asked, bin)) : (Datum) 0, histogram);
		line_value(lines, histogram ? NumericGetDatum(bin_bound(asked, bin + 1)) : (Datum) 0, histogram);
		line_value(lines, NumericGetDatum(shown_value(asked, &figures[bin])), true);
		line_float8(lines, margin, known);
		line_end(lines);
	}
}

typedef struct Told
{
	char *group;
	KanonFigure *figures;
} Told;

static int
compare_told(const void *a, const void *b)
{
	return strcmp(((const Told *) a)->group, ((const Told *) b)->group);
}

/* Declared groups as they were declared; those that were found by their values, as rows came in any order. */
static void
put_answer(Lines *lines, const Asked *asked, KanonTally *tally)
{
	const Subjects *subjects = asked->subjects;
	uint32 n = 0;
	Told *told = palloc_extended(sizeof(Told) * Max(subjects->ngroups, 1), MCXT_ALLOC_HUGE);

	for (uint32 g = 0; g < subjects->ngroups; g++)
	{
		KanonFigure *figures = palloc(sizeof(KanonFigure) * asked->question.bins);

		CHECK_FOR_INTERRUPTS();
		if (kanon_tally_answer(tally, g, figures))
			told[n++] = (Told){subjects_group(subjects, g), figures};
		else
			pfree(figures);
	}
	if (!subjects->declared)
		qsort(told, n, sizeof(Told), compare_told);
	for (uint32 i = 0; i < n; i++)
		put_group(lines, asked, told[i].group, told[i].figures);
}

static KanonTally *
read_rows(Asked *asked, Border *border)
{
	KanonTally *tally;

	asked->question.env = &border->env;
	asked->question.chance = (KanonChance){draw, asked->random};
	tally = kanon_tally_begin(&asked->question);
	if (tally == NULL)
		border_check(border, KANON_NO_MEMORY, "");
	subjects_read(asked->subjects, tally, border);
	return tally;
}

/* The NOTICE says that a subject may have more rows.  It must not depend on whether one has. */
static void
say_contributions(FunctionCallInfo fcinfo, const Asked *asked)
{
	if (!PG_ARGISNULL(ARG_SUBJECT) && asked->question.contributions == 1)
		ereport(NOTICE,
				(errmsg("at most one row of each \"%s\" is counted", NameStr(*PG_GETARG_NAME(ARG_SUBJECT))),
				 errdetail("Further rows are missing in the answer, beside the noise that margin tells of."),
				 errhint("Say with contributions how many rows of one may count, if some have several.")));
}

/* kanon_dp(source, aggregate, epsilon, of, by, subject, lower, upper, bins, groups, delta, contributions, grid) */
Datum
kanon_dp(PG_FUNCTION_ARGS)
{
	Asked *asked = palloc0(sizeof(Asked));
	const char *aggregate = take_arguments(fcinfo, asked);
	bool counts = asked->question.aggregate == KANON_AGGREGATE_COUNT;
	Lines *lines = lines_begin(fcinfo);
	Border *border;
	Oid relation;

	SPI_connect();
	border = border_create("kanon_dp");
	asked->random = palloc0(sizeof(RandomPool));
	asked->subjects = subjects_open(PG_GETARG_OID(ARG_SOURCE), optional_name(fcinfo, ARG_OF), !counts,
									array_arg(fcinfo, ARG_BY), optional_name(fcinfo, ARG_SUBJECT));
	asked->subjects->question = &asked->question;
	if (counts)
		refuse_bounds(fcinfo, aggregate);
	else
		take_bounds(fcinfo, asked, aggregate);
	subjects_declare(asked->subjects,
					 asked->subjects->nby > 0
						 ? jsonb_arg(fcinfo, ARG_GROUPS)
						 : DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("{}"))),
					 border);
	/*
	 * A role that may not read the relation must not spend the budget of others.  So leave is asked for the relation
	 * that pays: from here on functions in a view run, and they may define the view anew.
	 */
	relation = source_single_table(asked->subjects->source);
	source_lock(asked->subjects->source);
	spend(fcinfo->flinfo->fn_oid, asked, relation, aggregate);
	source_snapshot(asked->subjects->source);
	say_contributions(fcinfo, asked);
	put_answer(lines, asked, read_rows(asked, border));
	PopActiveSnapshot();
	MemoryContextDelete(border->context);
	SPI_finish();
	return (Datum) 0;
}

/* ---- budgets ---- */

enum
{
	BUDGET_RELATION,
	BUDGET_EPSILON,
	BUDGET_DELTA,
	BUDGET_ROLE,
	BUDGET_QUERIES,
	BUDGET_POWER
};

/* The owner's to say. */
static Oid
open_table(Oid relid)
{
	Relation rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid),
				 errhint("Name a table that exists.")));
	if (!kanon_owns_relation(relid, GetUserId()))
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("must be owner of table %s", RelationGetRelationName(rel)),
						errhint("Only the owner of a table sets its budgets.")));
	if (single_table(relid) != relid)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is a partition", RelationGetRelationName(rel)),
						errhint("Set the budget of the table that it is a partition of.")));
	relation_close(rel, NoLock);
	return relid;
}

/* rows^power: SuLQ's sub-linear number. */
static int64
sublinear(Oid relid, double power)
{
	Source *source = source_open_bare(relid);
	Gate *gate = gate_create(source->name, relid, 1);
	bool isnull;
	int64 rows;

	SPI_connect();
	source_snapshot(source);
	gate_computed(gate, "count", INT8OID);
	gate_query(gate, psprintf("SELECT pg_catalog.count(*) FROM %s", source->name), true);
	rows = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	PopActiveSnapshot();
	SPI_finish();
	return (int64) floor(pow((double) rows, power));
}

/* Fewer than rows of the table, as SuLQ has it, or so many; negative: any number. */
static int64
queries_arg(FunctionCallInfo fcinfo, Oid relid)
{
	int64 queries = -1;

	if (!PG_ARGISNULL(BUDGET_QUERIES))
	{
		queries = PG_GETARG_INT64(BUDGET_QUERIES);
		if (queries < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("queries must not be negative"),
					 errhint("It is how many sums and counts may be asked for; NULL means any number.")));
	}
	if (!PG_ARGISNULL(BUDGET_POWER))
	{
		double power = PG_GETARG_FLOAT8(BUDGET_POWER);
		int64 most;

		if (!(power > 0 && power < 1))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("power must be above 0 and below 1"),
					 errhint("kanon_dp then answers at most n^power sums and counts about n rows.")));
		most = sublinear(relid, power);
		queries = queries < 0 ? most : Min(queries, most);
	}
	return queries;
}

/* kanon_set_budget(relation, epsilon, delta, role, queries, power) */
Datum
kanon_set_budget(PG_FUNCTION_ARGS)
{
	Oid relid, role = PG_ARGISNULL(BUDGET_ROLE) ? InvalidOid : PG_GETARG_OID(BUDGET_ROLE);
	int64 epsilon, delta;

	refuse_read_only(fcinfo);
	refuse_null(fcinfo, BUDGET_RELATION, "relation", "Name the table that the budget is about.");
	epsilon = decimal_arg(fcinfo, BUDGET_EPSILON, "epsilon", EPSILON_DIGITS,
						  "It is the sum of all answers' epsilon, with six decimals at most; 0 allows none.");
	delta = decimal_arg(fcinfo, BUDGET_DELTA, "delta", DELTA_DIGITS,
						"It is the sum of all answers' delta, with 15 decimals at most; 0 is the default.");
	if (epsilon < 0 || epsilon > INT64CONST(1000000) * (int64) KANON_EPSILON_ONE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon must be between 0 and 1000000"),
				 errhint("1 is a usual budget; beyond 10 it promises next to nothing.")));
	if (delta < 0 || delta >= INT64CONST(1000000000000000))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("delta must be at least 0 and below 1"),
				 errhint("delta is the probability that the promise fails: choose it far below 1 / rows.")));
	if (OidIsValid(role) && GetUserNameFromId(role, true) == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role with OID %u does not exist", role),
						errhint("Name a role that exists; NULL means all roles together.")));
	relid = open_table(PG_GETARG_OID(BUDGET_RELATION));
	budget_set(get_func_namespace(fcinfo->flinfo->fn_oid), relid, role, epsilon, delta,
			   queries_arg(fcinfo, relid));
	PG_RETURN_VOID();
}
