/*
 * model_freeform.c: the model without classes: every row matches k records.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "run/run.h"
#include "options/together.h"
#include "rows/cell_values.h"
#include "rows/dictionary.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

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
		bool levels = source->levels.first[c + 1] - source->levels.first[c] > 1;

		if (!OidIsValid(entry->lt_opr))
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
							errmsg("column \"%s\" of type %s has no order", column->name,
								   format_type_be(column->type)),
							errdetail("Freeform generalisation takes the rows in lexicographic order."),
							errhint("Read it through a view that casts it to another type, such as text.")));
		/* shown by its levels, and priced as what they have below them */
		if (levels)
			continue;
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

/* k must leave room for an exchange: k < (n + 3) / 2. */
static int64
most_k(const Run *run)
{
	return Max((run->types->nrows + 2) / 2, 1);
}

/* How many rows want more than so many matches. */
static int64
own_k_above(const RowTypes *types, const int64 *own_k, int64 most)
{
	int64 rows = 0;

	for (uint32 i = 0; i < types->ntypes; i++)
		if (own_k[i] > most)
			rows += types->rows[i];
	return rows;
}

static void
check_k(const Run *run)
{
	const FreeformCall *call = run->request->own;
	int64 n = run->types->nrows;
	int64 wanting;

	if (n > 0 && run->problem.k > most_k(run))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k is too large for this table"),
						errdetail("k is " INT64_FORMAT ", the source has " INT64_FORMAT
								  " rows; k must be below (rows + 3) / 2.",
								  run->problem.k, n),
						errhint("Lower k to at most " INT64_FORMAT ".", most_k(run))));
	wanting = call->options.own_k == NULL ? 0 : own_k_above(run->types, call->options.own_k, most_k(run));
	if (wanting > 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(INT64_FORMAT " rows want more matches than this table has", wanting),
			 errdetail("The source has " INT64_FORMAT " rows; a row's k must be below (rows + 3) / 2.", n),
			 errhint("No row of column \"%s\" may want more than " INT64_FORMAT ".",
					 run->request->freeform.k_column, most_k(run))));
}

/* The ks of the rows, and how many matches they make: where few want many, others are made to. */
static void
read_own_ks(Run *run)
{
	FreeformCall *call = run->request->own;
	double most;

	call->matches = (double) (run->request->k + 1) * run->types->nrows;
	if (call->k_column == 0)
		return;
	call->options.own_k = own_k_read(run->types, call->k_column, run->border);
	call->matches = run->types->nrows;
	for (uint32 i = 0; i < run->types->ntypes; i++)
		call->matches += (double) kanon_freeform_own_k(&run->problem, i) * run->types->rows[i];
	most = (double) kanon_freeform_most_k(&run->problem);
	call->matches += 2 * most * Min(most, run->types->nrows);
}

double
freeform_release_memory(const Run *run, int64 rows)
{
	double row = sizeof(KanonClass) + sizeof(KanonFlow) + 2 * sizeof(size_t) + sizeof(uint32);
	double matches = (double) (run->request->k + 1) * rows;

	/* once the rows are read it is known what they want */
	if (run->types != NULL && run->request->model == &freeform_model)
		matches = ((const FreeformCall *) run->request->own)->matches;
	row += 16.0 * run->source->nqis + sizeof(KanonCell) * run->source->levels.first[run->source->nqis];
	return (rows * row + sizeof(uint32) * matches) * 1.5;
}

/* Bytes that so many rows take at least, whatever their values. */
static double
least_memory(const Run *run, int64 rows)
{
	const FreeformCall *call = run->request->own;
	const Levels *levels = &run->source->levels;
	KanonColumn *columns = palloc0(sizeof(KanonColumn) * levels->first[levels->nqis]);
	KanonProblem problem = {.freeform = &call->options,
							.columns = columns,
							.ncolumns = levels->first[levels->nqis],
							.k = run->request->k};
	int size = call->options.partition_size;
	double memory;

	for (int c = 0; c < levels->nqis; c++)
		for (int level = 1; levels->first[c] + level < levels->first[c + 1]; level++)
			columns[levels->first[c] + level].level = level;

	memory = freeform_release_memory(run, rows) +
			 kanon_freeform_memory(&problem, (uint32) (size > 0 ? Min((int64) size, rows) : rows));
	pfree(columns);
	return memory;
}

/* Refuses, before they are read, rows that cannot be published in the memory that there is. */
static void
refuse_rows(const Run *run)
{
	double limit = (double) run->border->limit;
	int64 low = 0, high = PG_INT32_MAX;

	/* the most rows that may do */
	while (low < high)
	{
		int64 middle = low + (high - low + 1) / 2;

		if (least_memory(run, middle) <= limit)
			low = middle;
		else
			high = middle - 1;
	}
	if (low < PG_INT32_MAX && run_has_more_rows(run, low))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("kanon needs more memory than it may use"),
				 errdetail("For more than " INT64_FORMAT " rows, which the source has, %.0f kB are too few.",
						   low, limit / 1024),
				 ((const FreeformCall *) run->request->own)->options.partition_size > 0
					 ? errhint("Raise \"kanon.max_memory\".")
					 : errhint("Say partition_size => 200 or so, which cuts the table into parts, or raise "
							   "\"kanon.max_memory\".")));
}

/*
 * Refuses early what would need more memory than there is, and says which
 * partition_size would do.
 */
static void
check_memory(const Run *run, const KanonFreeformOptions *options)
{
	double left =
		(double) run->border->limit - run->border->used - freeform_release_memory(run, run->types->nrows);
	uint32 n = options->partition_size > 0 ? Min((int64) options->partition_size * 2, run->types->nrows)
										   : run->types->nrows;
	uint32 low = 2 * Min(kanon_freeform_most_k(&run->problem), n), high = n;

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
							  freeform_release_memory(run, run->types->nrows) / 1024,
							  ((double) run->border->limit - run->border->used) / 1024),
					errhint("Raise \"kanon.max_memory\".")));
}

/* ---- the model ---- */

/* Rules are about classes, of which there are none. */
static void
check_privacy(const Request *request)
{
	if (request->privacy == NULL)
		return;
	together_refuse(TOGETHER_FREEFORM_RULES, request->method, NULL);
}

static void
check_request(Request *request)
{
	FreeformCall *call = palloc0(sizeof(FreeformCall));
	KanonFreeformOptions *options = &call->options;

	options->method = method_among(request, KANON_FREEFORM)->number;
	options->partition_size = request->partition_size;
	options->symmetric = request->freeform.mutual;
	if (options->symmetric &&
		(options->method == KANON_FREEFORM_MIP || options->method == KANON_FREEFORM_MIN_COST_FLOW ||
		 options->method == KANON_FREEFORM_CONCEALMENT))
		together_refuse(TOGETHER_METHOD_MUTUAL, request->method, NULL);
	if (request->freeform.k_column != NULL && options->method == KANON_FREEFORM_CONCEALMENT)
		together_refuse(TOGETHER_CONCEALMENT_K_COLUMN, "concealment", NULL);
	check_privacy(request);
	if (!request->seeded)
	{
		options->strong = strong_random;
		request->seed = 0;
	}
	request->own = call;
	request->solve_run = freeform_solve;
}

static void
set_up(Run *run)
{
	FreeformCall *call = run->request->own;

	run->problem.freeform = &call->options;
	run->problem.mask.order = KANON_ORDER_GIVEN;
	freeform_columns(run->source);
	if (run->request->freeform.k_column != NULL)
	{
		call->k_column = own_k_column(run->source, run->request->freeform.k_column);
		source_check_groupable(run->source->qis, run->source->ngrouped);
	}
	refuse_rows(run);
}

static void
ready(Run *run)
{
	const FreeformCall *call = run->request->own;

	read_own_ks(run);
	check_k(run);
	check_memory(run, &call->options);
	if (call->options.method == KANON_FREEFORM_CONCEALMENT)
		ereport(NOTICE,
				(errmsg("k-concealment is weaker than the other methods"),
				 errdetail("Each row could be the one of k records, but these are not equally likely."),
				 errhint("Publish with another method, 'sort_greedy' say.")));
	if (run->request->seeded)
		ereport(NOTICE, (errmsg("an attacker who knows the seed can tell which kept values belong to whom"),
						 errhint("Leave the seed out to publish; a seed is for tests.")));
}

static void
solved(Run *run)
{
	const FreeformCall *call = run->request->own;

	if (call->options.method == KANON_FREEFORM_MIP && call->parts <= 1)
		run_notice_unproven(run, false, run_proof_by_glpk);
}

const Model freeform_model = {
	.name = "freeform",
	.family = KANON_FREEFORM,
	.method = "sort_greedy",
	.hint = "'sort_greedy' is the default.",
	.least_k = 2,
	.k_hint = "Every row will match k published records, every record k rows; 5 is a usual choice.",
	.options = TAKES(METHOD) | TAKES(PARTITION_SIZE) | TAKES(MUTUAL) | TAKES(K_COLUMN) | TAKES(KEEP) |
			   TAKES(ALLOW_IDENTIFYING) | TAKES(MASK) | TAKES(WEIGHTS) | TAKES(HIERARCHIES) | TAKES(PRIVACY) |
			   TAKES(CATEGORICAL) | TAKES(MARK) | TAKES(REPLACE) | TAKES(DRY_RUN) | TAKES(TIME_LIMIT) |
			   TAKES(SEED),
	.secret_seed = true, /* with it the assignment could be drawn again */
	.check = check_request,
	.set_up = set_up,
	.ready = ready,
	.most_k = most_k,
	.no_near = NO_CLASSES_TO_KEEP,
	.solved = solved};

/* ---- K_column, the column that says how many matches each row wants ---- */

int
own_k_column(Source *source, char *name)
{
	SourceColumn *column;
	int n;
	Oid type;

	column = source_columns(source, name_list((const char *const *) &name, 1), "k_column",
							"the column of each row's k", &n);
	type = getBaseType(column->type);
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of k_column has type %s", column->name, format_type_be(column->type)),
				 errhint("It says how many records each row is to match: smallint, integer or bigint.")));
	return source_group_by(source, column);
}

const int64 *
own_k_read(const RowTypes *types, int column, Border *border)
{
	const SourceColumn *of = &types->source->qis[column];
	Oid type = getBaseType(of->type);
	int64 *own_k = border_palloc(border, sizeof(int64) * (Size) Max(types->ntypes, 1));
	int64 refused = 0;

	for (uint32 i = 0; i < types->ntypes; i++)
	{
		bool isnull;
		Datum value = dictionary_value(of->dictionary, types->grouped[column].code[i], &isnull);

		own_k[i] = isnull            ? 0
				   : type == INT2OID ? DatumGetInt16(value)
				   : type == INT4OID ? DatumGetInt32(value)
									 : DatumGetInt64(value);
		if (own_k[i] < 1)
			refused += types->rows[i];
	}
	if (refused > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of k_column has no k for every row", of->name),
				 errdetail("It is NULL or below 1 in " INT64_FORMAT " of " INT64_FORMAT " rows.", refused,
						   types->nrows),
				 errhint("A row that wants no more than the others has a 1: k is the least for all.")));
	return own_k;
}
