/*
 * freeform.c: kanon_freeform, from its arguments to the table that is published.
 */
#include "compat.h"
#include "run/freeform.h"
#include "run/publish.h"
#include "write/show.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(kanon_freeform);

#define RESULT_COLUMNS 8

/* In the order of the SQL declaration. */
enum
{
	ARG_METHOD = PUBLISH_K + 1,
	ARG_PARTITION_SIZE,
	ARG_SEED,
	ARG_WEIGHTS,
	ARG_KEEP,
	ARG_CATEGORICAL,
	ARG_SYMMETRIC,
	ARG_MARK,
	ARG_REPLACE,
	ARG_DRY_RUN,
	ARG_TIME_LIMIT
};

/*
 * What the record keeps of the call.  Not the seed: with it the assignment could
 * be drawn again.
 */
static const int recorded[] = {PUBLISH_QIS, PUBLISH_K,   ARG_METHOD,      ARG_PARTITION_SIZE,
							   ARG_WEIGHTS, ARG_KEEP,    ARG_CATEGORICAL, ARG_SYMMETRIC,
							   ARG_MARK,    ARG_REPLACE, ARG_TIME_LIMIT};

static const PublishSignature signature = {
	.function = "kanon_freeform",
	.least_k = 2,
	.k_hint = "Every row will match k published records, every record k rows; 5 is a usual choice.",
	PUBLISH_COMMON};

static bool
strong_random(void *to, size_t size)
{
	return pg_strong_random(to, size);
}

void
freeform_columns(Source *source)
{
	for (int c = 0; c < source->nqis; c++)
	{
		SourceColumn *column = &source->qis[c];
		TypeCacheEntry *entry = lookup_type_cache(column->type, TYPECACHE_LT_OPR);

		if (!OidIsValid(entry->lt_opr))
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
							errmsg("column \"%s\" of type %s has no order", column->name,
								   format_type_be(column->type)),
							errdetail("Freeform generalisation takes the rows in lexicographic order."),
							errhint("Read it through a view that casts it to another type, such as text.")));
		if (column->numerical && OidIsValid(range_type_of(column->type)))
		{
			column->show_as = SHOW_AS_RANGE;
			continue;
		}
		/* numbers without a range type (money, time, interval) are sets, and priced so */
		column->numerical = false;
		column->show_as = SHOW_AS_SET;
		if (!OidIsValid(get_array_type(getBaseType(column->type))))
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
							errmsg("column \"%s\" of type %s has no array type", column->name,
								   format_type_be(column->type)),
							errdetail("Each record shows the set of its rows' values as an array."),
							errhint("Read it through a view that casts it to another type, such as text.")));
	}
}

static KanonFreeformMethod
method_arg(const char *name)
{
	KanonFreeformMethod method;
	StringInfoData known;

	if (kanon_freeform_method(name, &method))
		return method;
	initStringInfo(&known);
	for (int m = 0; kanon_freeform_name(m) != NULL; m++)
		appendStringInfo(&known, "%s'%s'", m > 0 ? ", " : "", kanon_freeform_name(m));
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("method \"%s\" is not known", name),
					errhint("Known methods: %s.", known.data)));
}

static void
symmetric_arg(FunctionCallInfo fcinfo, KanonFreeformOptions *options)
{
	options->symmetric = bool_arg(fcinfo, ARG_SYMMETRIC, "symmetric");
	if (options->symmetric &&
		(options->method == KANON_FREEFORM_MIP || options->method == KANON_FREEFORM_MIN_COST_FLOW ||
		 options->method == KANON_FREEFORM_CONCEALMENT))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("method \"%s\" makes no symmetric release", kanon_freeform_name(options->method)),
				 errhint("Methods 'greedy', 'sort_greedy', 'hungarian' and 'ring' do.")));
}

static void
partition_arg(FunctionCallInfo fcinfo, int64 k, KanonFreeformOptions *options)
{
	int32 size;

	if (PG_ARGISNULL(ARG_PARTITION_SIZE))
		return;
	size = PG_GETARG_INT32(ARG_PARTITION_SIZE);
	if (size < 2 * k)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("partition_size must be at least twice k"),
				 errdetail("It is %d, k is " INT64_FORMAT ".", size, k),
				 errhint("100 to 250 rows are usual for k up to 50; NULL means that the table is not cut.")));
	options->partition_size = size;
}

/* k must leave room for an exchange: k < (n + 3) / 2. */
static void
check_k(const Run *run)
{
	int64 n = run->types->nrows;

	if (n > 0 && 2 * run->problem.k >= n + 3)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k is too large for this table"),
						errdetail("k is " INT64_FORMAT ", the source has " INT64_FORMAT
								  " rows; k must be below (rows + 3) / 2.",
								  run->problem.k, n),
						errhint("Lower k to at most " INT64_FORMAT ".", Max((n + 2) / 2, 1))));
}

double
freeform_release_memory(const Run *run)
{
	double row =
		sizeof(KanonClass) + sizeof(KanonFlow) + 2 * sizeof(size_t) + 4 * (double) (run->problem.k + 2);

	return run->types->nrows * (row + 20.0 * run->source->nqis) * 1.5;
}

/*
 * Refuses early what would need more memory than there is, and says which
 * partition_size would do.
 */
static void
check_memory(const Run *run, const KanonFreeformOptions *options)
{
	double left = (double) run->border->limit - run->border->used - freeform_release_memory(run);
	uint32 n = options->partition_size > 0 ? Min((int64) options->partition_size * 2, run->types->nrows)
										   : run->types->nrows;
	uint32 low = 2 * run->problem.k, high = n;

	if (run->types->nrows == 0 || kanon_freeform_memory(&run->problem, n) <= left)
		return;
	/* parts have up to twice partition_size rows */
	while (low < high)
	{
		uint32 middle = low + (high - low + 1) / 2;

		if (kanon_freeform_memory(&run->problem, Min(2.0 * middle, run->types->nrows)) <= left)
			low = middle;
		else
			high = middle - 1;
	}
	if (kanon_freeform_memory(&run->problem, 2 * low) <= left)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("kanon needs more memory than it may use"),
						errdetail("Parts of %u rows would take about %.0f kB, of which %.0f kB are left.", n,
								  kanon_freeform_memory(&run->problem, n) / 1024, Max(left, 0) / 1024),
						errhint("Say partition_size => %u, or raise \"kanon.max_memory\".", low)));
	ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("kanon needs more memory than it may use"),
					errdetail("The release alone would take about %.0f kB, of which %.0f kB may be used.",
							  freeform_release_memory(run) / 1024,
							  ((double) run->border->limit - run->border->used) / 1024),
					errhint("Raise \"kanon.max_memory\".")));
}

/* One row that sums up. */
static void
return_summary(const Run *run, const FreeformCall *call, ReturnSetInfo *rsinfo)
{
	const KanonReport *report = &run->report;
	bool none = run->types->nrows == 0;
	double cells = 0;
	Datum values[RESULT_COLUMNS];
	bool nulls[RESULT_COLUMNS] = {false};

	for (int c = 0; c < run->problem.ncolumns; c++)
		cells += run->problem.columns[c].weight * run->types->nrows;
	values[0] = Int64GetDatum(run->types->nrows);
	values[1] = Int64GetDatum(none ? 0 : call->parts);
	values[2] = Float8GetDatum(none ? 0 : report->cost / cells);
	values[3] = Float8GetDatum(report->cost);
	values[4] = Float8GetDatum(report->lower_bound);
	nulls[4] = none || isinf(report->lower_bound);
	values[5] = BoolGetDatum(report->proven);
	values[6] = Int32GetDatum(call->workers);
	values[7] = Float8GetDatum(run->record.solve_ms);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

Datum
kanon_freeform(PG_FUNCTION_ARGS)
{
	FreeformCall call = {.fcinfo = fcinfo};
	Publish publish;
	double time_limit;
	const char *method;
	Run *run;

	publish_args(&publish, fcinfo, &signature);
	method = text_arg(fcinfo, ARG_METHOD, "method", "'sort_greedy' is the default.");
	call.options.method = method_arg(method);
	partition_arg(fcinfo, publish.k, &call.options);
	symmetric_arg(fcinfo, &call.options);
	time_limit = time_limit_arg(fcinfo, ARG_TIME_LIMIT);
	if (PG_ARGISNULL(ARG_SEED))
		call.options.strong = strong_random;

	run = publish_begin(&publish);
	call.border = run->border;
	run->problem.freeform = &call.options;
	run->problem.time_limit = time_limit;
	run->problem.mask.max_suppressed = -1;
	run->problem.mask.max_cost = INFINITY;
	run->problem.seed = PG_ARGISNULL(ARG_SEED) ? 0 : (uint64) PG_GETARG_INT64(ARG_SEED);
	freeform_columns(run->source);
	publish_read(&publish);
	check_k(run);
	check_memory(run, &call.options);
	if (call.options.method == KANON_FREEFORM_CONCEALMENT)
		ereport(NOTICE,
				(errmsg("k-concealment is weaker than the other methods"),
				 errdetail("Each row could be the one of k records, but these are not equally likely."),
				 errhint("Publish with another method, 'sort_greedy' say.")));
	if (!PG_ARGISNULL(ARG_SEED))
		ereport(NOTICE,
				(errmsg("with a seed, which kept values go with which record is no secret to who knows it"),
				 errhint("A seed is for tests; leave it out to publish.")));
	run_solve(run, method, freeform_solve);
	if (call.options.method == KANON_FREEFORM_MIP && call.parts <= 1)
		run_notice_unproven(run, false);
	publish_end(&publish);
	return_summary(run, &call, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
