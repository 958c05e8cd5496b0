/*
 * frontier.c: kanon_frontier: what each of several ks would cost.  The source is
 * read once; its row types are solved for every k.
 */
#include "compat.h"
#include "run/args.h"
#include "run/dry.h"
#include "run/many.h"

#include "catalog/pg_type.h"

PG_FUNCTION_INFO_V1(kanon_frontier);

#define ARG_KS 2
#define FRONTIER_COLUMNS 13

static int
compare_ks(const void *a, const void *b)
{
	int64 left = *(const int64 *) a;
	int64 right = *(const int64 *) b;

	return left < right ? -1 : left > right;
}

/* The ks in ascending order, each once. */
static int64 *
ks_arg(FunctionCallInfo fcinfo, int *n)
{
	static const char *const hint = "Name the ks to compare, such as '{2,5,10,20}'.";
	ArrayType *array;
	Datum *elements;
	bool *nulls;
	int count;
	int64 *ks;
	bool sorted = true;

	refuse_null(fcinfo, ARG_KS, "ks", hint);
	array = PG_GETARG_ARRAYTYPE_P(ARG_KS);
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("ks must be a one-dimensional list"),
						errhint("%s", hint)));
	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, &nulls,
					  &count);
	if (count == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ks must not be empty"),
						errhint("%s", hint)));
	ks = palloc(sizeof(int64) * count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("ks must not contain NULL"),
							errhint("%s", hint)));
		ks[i] = DatumGetInt64(elements[i]);
		if (ks[i] < 2)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k must be at least 2"),
							errhint("With k = 1 every row may stand alone, which protects nobody.")));
		sorted &= i == 0 || ks[i - 1] < ks[i];
	}
	*n = count;
	if (sorted)
		return ks;
	qsort(ks, count, sizeof(int64), compare_ks);
	*n = 1;
	for (int i = 1; i < count; i++)
		if (ks[i] != ks[*n - 1])
			ks[(*n)++] = ks[i];
	ereport(NOTICE, (errmsg("the ks are taken in ascending order, each once")));
	return ks;
}

typedef struct Line
{
	int n;
	Datum values[FRONTIER_COLUMNS];
	bool nulls[FRONTIER_COLUMNS];
} Line;

static void
put(Line *line, Datum value, bool known)
{
	Assert(line->n < FRONTIER_COLUMNS);
	line->values[line->n] = value;
	line->nulls[line->n++] = !known;
}

/* Measures are NULL where there is no release; its classes have no size when it has none. */
static void
put_k(ReturnSetInfo *rsinfo, int ncolumns, int64 k, const Solution *solution)
{
	const KanonMeasures *measures = &solution->measures;
	double cells = (double) measures->rows * ncolumns;
	bool found = solution->found;
	bool some = found && solution->nclasses > 0;
	Line line = {0};

	put(&line, Int64GetDatum(k), true);
	put(&line, Int64GetDatum(measures->suppressed_cells), found);
	put(&line, Float8GetDatum(some ? measures->suppressed_cells / cells : 0), some);
	put(&line, Float8GetDatum(measures->usefulness), some);
	put(&line, Float8GetDatum(measures->gcp), some);
	put(&line, Int64GetDatum(measures->classes), found);
	put(&line, Int64GetDatum(measures->class_min), some);
	put(&line, Float8GetDatum(measures->class_avg), some);
	put(&line, Int64GetDatum(measures->class_max), some);
	put(&line, Int64GetDatum(solution->residual), found);
	put(&line, Float8GetDatum(solution->cost), found);
	put(&line, BoolGetDatum(solution->proven), some);
	put(&line, Float8GetDatum(solution->ms), true);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, line.values, line.nulls);
}

/*
 * kanon_frontier(source, quasi_identifiers, ks, DRY_OPTIONS)
 *
 * A k for which there is no release (more than the rows, or residual is 'error'
 * and rows are left) is a line of NULLs: the others are still worth knowing.
 */
Datum
kanon_frontier(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Request request;
	Run *run;
	int64 nrows;
	int nks;
	int nsolved = 0;
	int64 *ks = ks_arg(fcinfo, &nks);
	Solution *solutions = palloc0(sizeof(Solution) * nks);

	InitMaterializedSRF(fcinfo, 0);
	request_of_dry_call(&request, fcinfo, &pattern_guided_model, "kanon_frontier", DRY_OPTIONS);
	run = run_read(&request);
	nrows = run->types->nrows;
	while (nsolved < nks && ks[nsolved] <= nrows)
		nsolved++;
	solve_many(run, ks, nsolved, solutions);
	for (int i = 0; i < nks; i++)
	{
		/* of no rows nothing is lost, whatever k */
		if (nrows == 0)
			solutions[i].found = true;
		put_k(rsinfo, run->source->nqis, ks[i], &solutions[i]);
	}
	run_end(run);
	return (Datum) 0;
}
