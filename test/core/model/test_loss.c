/*
 * test_loss.c: the measures of what a release has lost: by hand, and against the
 * formulas written out cell by cell on random releases.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "model/model.h"

static bool
close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/*
 * Seven rows of (age, zip), k = 2:
 *
 *   30 A, 30 A, 30 B | 30 C, 40 C, 50 D, 50 E
 *
 * With every pattern allowed greedy keeps the two "30 A", then tries the patterns
 * of cost 1, those that suppress the wider domain (zip: 5 values, age: 3) first:
 * "30 *" takes 30 B and 30 C, "50 *" takes 50 D and 50 E, and 40 C is left alone
 * and fully suppressed.
 *
 *   suppressed cells     zip 5, age 1: 6 of 14
 *   discernibility       2^2 + 2^2 + 2^2 + 1 * 7 = 19
 *   c_avg                7 rows / 4 classes / 2 = 0.875
 *   iloss                age 1 * 2/3 + zip 5 * 4/5 = 4.666…
 *   ncp                  age 1 * 1 + zip 5 * 1 = 6, by 7 * 2 gives gcp 6/14
 *   precision            1 - 6/14
 *   entropy              of the hidden values: age 40 (1 of 7); zip B, D, E (1 of
 *                        7 each), C and C (2 of 7):
 *                        4 log2 7 + 2 log2 3.5
 */
static void
test_by_hand(void **state)
{
	static const uint32_t code[] = {0, 0, 0, 0, 0, 1, 0, 2, 1, 2, 2, 3, 2, 4};
	Host host;
	KanonRelease release;
	KanonReport report;
	KanonMeasures measures;
	KanonColumnMeasures columns[2];
	KanonProblem *problem;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, code, 7, 2, 2);
	problem->mask.order = KANON_ORDER_DOMAIN;
	assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
	assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
	assert_int_equal(measures.suppressed_cells, 6);
	assert_true(measures.discernibility == 19);
	assert_true(measures.c_avg == 0.875);
	assert_true(close_to(measures.iloss, 2.0 / 3 + 4));
	assert_true(close_to(measures.ncp, 6));
	assert_true(close_to(measures.gcp, 6.0 / 14));
	assert_true(close_to(measures.precision, 8.0 / 14));
	assert_true(close_to(measures.entropy, 4 * log2(7) + 2 * log2(3.5)));
	/* everything hidden: 30 four times, 50 twice, 40; A and C twice, the others */
	assert_true(close_to(measures.entropy_share, measures.entropy / (4 * log2(7.0 / 4) + 2 * log2(3.5) +
																	 log2(7) + 4 * log2(3.5) + 3 * log2(7))));
	assert_int_equal(kanon_measure_columns(problem, &release, columns), KANON_OK);
	assert_int_equal(columns[0].suppressed, 1);
	assert_int_equal(columns[0].shown, 2); /* 30, 50 */
	assert_true(close_to(columns[0].ncp, 1.0 / 7));
	assert_int_equal(columns[1].suppressed, 5);
	assert_int_equal(columns[1].shown, 1); /* A */
	assert_true(close_to(columns[1].ncp, 5.0 / 7));
	kanon_release_free(problem, &release);

	/* left out instead of suppressed: no measure but the cells gets better */
	problem->residual = KANON_RESIDUAL_DROP;
	assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
	assert_int_equal(release.dropped, 1);
	assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
	assert_int_equal(measures.suppressed_cells, 4);
	assert_true(measures.discernibility == 19);
	assert_true(close_to(measures.gcp, 6.0 / 14));
	assert_true(close_to(measures.precision, 8.0 / 14));
	assert_true(close_to(measures.iloss, 2.0 / 3 + 4));
	kanon_release_free(problem, &release);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* Four rows of age and sex, k = 2; `decade` as a level of age, of weight 0.5. */
static KanonProblem *
ages(Host *host, bool levels)
{
	static const uint32_t with_decade[] = {0, 0, 0, 1, 0, 0, 2, 1, 1, 3, 1, 1};
	static const uint32_t without[] = {0, 0, 1, 0, 2, 1, 3, 1};
	static const double years[] = {21, 22, 35, 38};
	KanonProblem *problem;
	KanonColumn *columns;

	host_init(host);
	problem = problem_from_codes(host, levels ? with_decade : without, 4, levels ? 3 : 2, 2);
	columns = (KanonColumn *) problem->columns;
	columns[0].number = malloc(sizeof(years));
	memcpy((double *) columns[0].number, years, sizeof(years));
	if (levels)
	{
		columns[1].level = 1;
		columns[1].weight = 0.5;
	}
	return problem;
}

/*
 * Greedy generalizes age: (20s, M) has 21 and 22, (30s, F) has 35 and 38.
 *
 *   iloss                4 cells of 2 of 4 values: 4 * 1.5 * 1/4
 *   ncp                  (1 + 1 + 3 + 3) / 17, of weight 1.5
 *   precision            4 of 8 cells half way up: 1 - 2/8
 *   entropy              a bit each, of 4 * 2 for age and 4 * 1 for sex
 *   usefulness           age 1/17 and 3/17, sex 1/2 twice, by 2 classes
 */
static void
test_levels_by_hand(void **state)
{
	Host host;
	KanonProblem *problem = ages(&host, true);
	KanonRelease release;
	KanonReport report;
	KanonMeasures measures;
	KanonColumnMeasures columns[2];

	(void) state;
	problem->mask.order = KANON_ORDER_DOMAIN;
	assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
	assert_int_equal(release.nclasses, 2);
	assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
	assert_int_equal(measures.suppressed_cells, 0);
	assert_true(measures.discernibility == 8);
	assert_true(close_to(measures.iloss, 1.5));
	assert_true(close_to(measures.ncp, 1.5 * 8 / 17));
	assert_true(close_to(measures.gcp, 1.5 * 8 / 17 / (4 * 2.5)));
	assert_true(close_to(measures.precision, 0.75));
	assert_true(close_to(measures.entropy, 4));
	assert_true(close_to(measures.entropy_share, 4.0 / 12));
	assert_true(close_to(measures.usefulness, (4.0 / 17 + 1) / 2));
	assert_int_equal(kanon_measure_columns(problem, &release, columns), KANON_OK);
	assert_int_equal(columns[0].suppressed, 0);
	assert_int_equal(columns[0].shown, 2);
	assert_true(close_to(columns[0].ncp, 2.0 / 17));
	assert_int_equal(columns[1].shown, 2);
	kanon_release_free(problem, &release);

	/* without numbers: 2 of 4 values; and what only one value generalizes to costs nothing */
	free((void *) problem->columns[0].number);
	((KanonColumn *) problem->columns)[0].number = NULL;
	assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
	assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
	assert_true(close_to(measures.ncp, 4 * 1.5 * 2 / 4));
	kanon_release_free(problem, &release);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/*
 * (21-22, {M, F}) and (35-38, F):
 *
 *   iloss                age 4 * 1/4, sex 2 * 1/2
 *   ncp                  age 8/17, sex 2 * 2/2
 *   entropy              age a bit each; sex 2 of 4 rows, twice
 */
static void
test_several_by_hand(void **state)
{
	static const uint32_t pool[] = {0, 1, 2, 3, 2, 0, 1};
	Host host;
	KanonProblem *problem = ages(&host, false);
	KanonRelease release = {.nclasses = 2, .nflows = 4, .npool = 7};
	KanonReport report;
	KanonMeasures measures;
	KanonColumnMeasures columns[2];

	(void) state;
	release.classes = kanon_alloc0(&host.env, 2, sizeof(KanonClass));
	release.cells = kanon_alloc0(&host.env, 4, sizeof(KanonCell));
	release.flows = kanon_alloc0(&host.env, 4, sizeof(KanonFlow));
	release.pool = kanon_alloc(&host.env, 7, sizeof(uint32_t));
	memcpy(release.pool, pool, sizeof(pool));
	release.classes[0].pattern = KANON_BITS(3);
	release.cells[0] = (KanonCell){KANON_SHOW_RANGE, 0};
	release.cells[1] = (KanonCell){KANON_SHOW_SET, 4};
	release.classes[1].pattern = KANON_BITS(1);
	release.cells[2] = (KanonCell){KANON_SHOW_RANGE, 2};
	release.cells[3] = (KanonCell){KANON_SHOW_VALUE, 1};
	for (uint32_t i = 0; i < 4; i++)
		release.flows[i] = (KanonFlow){i, i / 2, 1};
	problem->mask.never = KANON_BITS(3); /* which is about suppressing */
	assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
	assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
	assert_int_equal(measures.suppressed_cells, 0);
	assert_true(measures.discernibility == 8);
	assert_true(close_to(measures.iloss, 2));
	assert_true(close_to(measures.ncp, 8.0 / 17 + 2));
	assert_true(isnan(measures.precision));
	assert_true(close_to(measures.entropy, 6));
	assert_true(close_to(measures.entropy_share, 6.0 / 12));
	assert_true(close_to(measures.usefulness, (4.0 / 17 + 1) / 2));
	assert_int_equal(kanon_measure_columns(problem, &release, columns), KANON_OK);
	assert_int_equal(columns[0].lost, 0);
	assert_int_equal(columns[0].shown, 2);
	assert_int_equal(columns[1].shown, 2);
	kanon_release_free(problem, &release);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* Does a class show something that stands for this row type's value in column c? */
static bool
stands_for(const KanonProblem *problem, const KanonRelease *release, const KanonCell *cell, int c,
		   uint32_t type)
{
	uint32_t code = problem->columns[c].code[type];
	const uint32_t *pool = release->pool + cell[c].code;

	if (cell[c].show == KANON_SHOW_VALUE)
		return cell[c].code == code;
	if (cell[c].show == KANON_SHOW_RANGE)
		return pool[0] <= code && code <= pool[1];
	for (uint32_t i = 1; cell[c].show == KANON_SHOW_SET && i <= pool[0]; i++)
		if (pool[i] == code)
			return true;
	return cell[c].show == KANON_SHOW_NOTHING;
}

/* The range of the numbers of some codes; infinite when it knows none. */
static double
spread(const KanonColumn *column, const bool *within)
{
	double low = INFINITY, high = -INFINITY;

	for (uint32_t v = 0; v < column->distinct; v++)
		if (within == NULL ? isfinite(column->number[v]) : within[v])
		{
			if (!isfinite(column->number[v]))
				return INFINITY;
			low = fmin(low, column->number[v]);
			high = fmax(high, column->number[v]);
		}
	return high - low;
}

/* The formulas, row by row and cell by cell; within has room for all codes. */
static void
naive_cell(const KanonProblem *problem, const KanonRelease *release, const KanonFlow *flow, int first,
		   int next, double rows, bool *within, KanonMeasures *sums)
{
	static const KanonCell nothing[KANON_MAX_COLUMNS];
	const KanonCell *cell =
		flow->class_ == KANON_DROPPED ? nothing : release->cells + flow->class_ * (size_t) problem->ncolumns;
	const KanonColumn *column = &problem->columns[first];
	double n = (double) flow->rows, same = 0, held = 0, weight = 0, values = 0, penalty;
	int c = first;

	for (int d = first; d < next; d++)
		weight += problem->columns[d].weight;
	while (c + 1 < next && cell[c].show == KANON_SHOW_NOTHING)
		c++;
	memset(within, 0, column->distinct);
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		if (column->code[i] == column->code[flow->type])
			same += (double) problem->rows[i];
		if (!stands_for(problem, release, cell, c, i))
			continue;
		held += (double) problem->rows[i];
		values += !within[column->code[i]];
		within[column->code[i]] = true;
	}
	sums->entropy_share += n * log1p((rows - same) / same) / log(2);
	sums->entropy += n * log1p((held - same) / same) / log(2);
	if (cell[c].show == KANON_SHOW_RANGE || cell[c].show == KANON_SHOW_SET)
	{
		const uint32_t *pool = release->pool + cell[c].code;
		bool range = cell[c].show == KANON_SHOW_RANGE;

		values = range ? pool[1] - pool[0] + 1 : pool[0];
		penalty = values / column->distinct;
		if (range && column->number != NULL)
			penalty =
				spread(column, NULL) > 0
					? fmin((column->number[pool[1]] - column->number[pool[0]]) / spread(column, NULL), 1)
					: 0;
		if (range && column->number != NULL && !isfinite(column->number[pool[1]]))
			penalty = 1;
		sums->precision = NAN;
	}
	else if (cell[c].show == KANON_SHOW_NOTHING)
	{
		values = column->distinct;
		penalty = column->distinct > 1;
		sums->precision += n;
		sums->suppressed_cells += flow->class_ == KANON_DROPPED ? 0 : flow->rows;
	}
	else
	{
		values = c == first ? 1 : values;
		penalty = values < 2                      ? 0
				  : column->number == NULL        ? values / column->distinct
				  : isinf(spread(column, within)) ? 1
				  : spread(column, NULL) > 0      ? spread(column, within) / spread(column, NULL)
												  : 0;
		sums->precision += n * (c - first) / (next - first);
	}
	sums->iloss += n * weight * (values - 1) / column->distinct;
	sums->ncp += n * weight * penalty;
}

static void
naive(const KanonProblem *problem, const KanonRelease *release, KanonMeasures *measures)
{
	double rows = 0, weights = 0;
	bool *within = malloc(1 << 17);

	memset(measures, 0, sizeof(*measures));
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows += (double) problem->rows[i];
	for (int c = 0; c < problem->ncolumns; c++)
		weights += problem->columns[c].weight;
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];
		bool blank = true;

		for (int c = 0; c < problem->ncolumns && flow->class_ != KANON_DROPPED; c++)
			blank &= release->cells[flow->class_ * (size_t) problem->ncolumns + (size_t) c].show ==
					 KANON_SHOW_NOTHING;
		assert_true(flow->class_ == KANON_DROPPED ||
					blank == kanon_class_blank(problem, release, flow->class_));
		measures->discernibility +=
			(double) flow->rows * (blank ? rows : (double) release->classes[flow->class_].rows);
		for (int q = 0; q < kanon_count_qis(problem); q++)
			naive_cell(problem, release, flow, kanon_first_column(problem, q),
					   kanon_first_column(problem, q + 1), rows, within, measures);
	}
	measures->gcp = rows > 0 && weights > 0 ? measures->ncp / rows / weights : 0;
	measures->precision = rows > 0 ? 1 - measures->precision / rows / kanon_count_qis(problem) : 1;
	measures->entropy_share = measures->entropy_share > 0 ? measures->entropy / measures->entropy_share : 0;
	free(within);
}

/* Some of the columns of level 0 get numbers, NULL among them. */
static void
add_numbers(KanonProblem *problem, uint64_t *random)
{
	for (int c = 0; c < problem->ncolumns; c++)
	{
		KanonColumn *column = &((KanonColumn *) problem->columns)[c];
		double *number;

		column->has_null = column->distinct > 0 && random_below(random, 3) == 0;
		if (column->level > 0 || random_below(random, 2) == 0)
			continue;
		number = malloc((column->distinct + 1) * sizeof(double));
		for (uint32_t v = 0; v < column->distinct; v++)
			number[v] = (v == 0 ? 0 : number[v - 1]) + random_below(random, 10);
		if (column->has_null)
			number[column->distinct - 1] = NAN;
		else if (column->distinct > 0 && random_below(random, 4) == 0)
			number[column->distinct - 1] = INFINITY;
		column->number = number;
	}
}

/* Quasi-identifier first .. next of a class shows a range or a set of what its rows have. */
static void
show_several(const KanonProblem *problem, KanonRelease *release, uint32_t class, int first, int next,
			 bool range)
{
	const KanonColumn *column = &problem->columns[first];
	KanonCell *cell = release->cells + class * (size_t) problem->ncolumns;
	uint32_t from = (uint32_t) release->npool;
	uint32_t n = 0;
	uint32_t *pool =
		kanon_realloc(problem->env, release->pool, release->npool + column->distinct + 2, sizeof(uint32_t));

	release->pool = pool;
	for (uint32_t v = 0; v < column->distinct; v++)
	{
		bool present = false;

		for (size_t f = 0; f < release->nflows && !present; f++)
			present = release->flows[f].class_ == class && column->code[release->flows[f].type] == v;
		/* and one more, if there is but one */
		if (present || (n == 1 && v + 1 < column->distinct && v % 2 == 1))
			pool[from + 1 + n++] = v;
	}
	if (n < 2 || (range && column->has_null && pool[from + n] == column->distinct - 1))
		return;
	cell[first] = (KanonCell){range ? KANON_SHOW_RANGE : KANON_SHOW_SET, from};
	if (range)
	{
		pool[from] = pool[from + 1];
		pool[from + 1] = pool[from + n];
	}
	else
		pool[from] = n;
	release->npool += range ? 2 : n + 1;
	for (int c = first; c < next; c++)
	{
		kanon_add(&release->classes[class].pattern, c);
		if (c > first)
			cell[c] = (KanonCell){KANON_SHOW_NOTHING, 0};
	}
}

/* Classes that may be on their own show ranges and sets here and there, in any order. */
static void
add_several(const KanonProblem *problem, KanonRelease *release, uint64_t *random)
{
	for (uint32_t i = 0; i < release->nclasses; i++)
		for (int q = 0; q < kanon_count_qis(problem); q++)
			if (release->classes[i].rows >= problem->k && random_below(random, 3) == 0)
				show_several(problem, release, i, kanon_first_column(problem, q),
							 kanon_first_column(problem, q + 1), random_below(random, 2) == 0);
}

static void
compare_naive(const KanonProblem *problem, const KanonRelease *release)
{
	KanonMeasures measures, expected;
	KanonColumnMeasures columns[6];
	int64_t suppressed = 0;
	double ncp = 0;

	assert_int_equal(kanon_measure(problem, release, &measures, NULL), KANON_OK);
	naive(problem, release, &expected);
	assert_true(close_to(measures.discernibility, expected.discernibility));
	assert_true(close_to(measures.iloss, expected.iloss));
	assert_true(close_to(measures.ncp, expected.ncp));
	assert_true(close_to(measures.gcp, expected.gcp));
	assert_int_equal(isnan(measures.precision), isnan(expected.precision));
	assert_true(isnan(expected.precision) || close_to(measures.precision, expected.precision));
	assert_true(close_to(measures.entropy, expected.entropy));
	assert_true(close_to(measures.entropy_share, expected.entropy_share));
	assert_int_equal(measures.suppressed_cells, expected.suppressed_cells);
	assert_true(measures.gcp >= 0 && measures.gcp <= 1 + 1e-12);
	assert_int_equal(kanon_measure_columns(problem, release, columns), KANON_OK);
	for (int q = 0; q < kanon_count_qis(problem); q++)
	{
		double weight = 0;

		for (int c = kanon_first_column(problem, q); c < kanon_first_column(problem, q + 1); c++)
			weight += problem->columns[c].weight;
		suppressed += columns[q].suppressed;
		ncp += weight * columns[q].ncp * (double) (measures.rows + release->dropped);
	}
	assert_int_equal(suppressed, measures.suppressed_cells);
	assert_true(close_to(ncp, measures.ncp));
}

/* Releases as they are solved; and with ranges and sets, brought into form again. */
static void
test_random(void **state)
{
	int with_several = 0;

	(void) state;
	for (int i = 0; i < cases(600); i++)
	{
		uint64_t random = 77000 + (uint64_t) i;
		Host host;
		KanonRelease release;
		KanonReport report;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 120, 6);
		KanonStatus status = kanon_solve_greedy(problem, &release, &report);

		add_numbers(problem, &random);
		if (status == KANON_OK)
		{
			compare_naive(problem, &release);
			add_several(problem, &release, &random);
			report.detail[0] = '\0';
			status = kanon_release_finish(problem, &release, &report);
			if (status != KANON_OK)
				print_error("%d: %s\n", i, report.detail);
			assert_int_equal(status, KANON_OK);
			compare_naive(problem, &release);
			with_several += release.npool > 0;
		}
		kanon_release_free(problem, &release);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(with_several > cases(600) / 4);
}

/* Out of memory and stopped wherever that can be, with levels, ranges and sets. */
static void
test_memory_and_cancel(void **state)
{
	(void) state;
	for (int i = 0; i < 40; i++)
	{
		uint64_t random = 78000 + (uint64_t) i;
		Host host;
		KanonRelease release;
		KanonReport report;
		KanonMeasures measures;
		KanonStatus status;
		size_t blocks;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 60, 5);

		status = kanon_solve_greedy(problem, &release, &report);
		add_numbers(problem, &random);
		if (status == KANON_OK)
		{
			add_several(problem, &release, &random);
			assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
			blocks = host.blocks;
			status = KANON_NO_MEMORY;
			for (uint64_t at = 1; status == KANON_NO_MEMORY; at = next_failure(at))
			{
				host.allocations = 0;
				host.refuse_at = at;
				status = kanon_measure(problem, &release, &measures, NULL);
				assert_int_equal(host.blocks, blocks);
			}
			assert_int_equal(status, KANON_OK);
			host.refuse_at = 0;
			status = KANON_CANCELLED;
			for (uint64_t at = 1; status == KANON_CANCELLED; at = next_failure(at))
			{
				host.polls = 0;
				host.cancel_at = at;
				status = kanon_measure(problem, &release, &measures, NULL);
				assert_int_equal(host.blocks, blocks);
			}
			assert_int_equal(status, KANON_OK);
		}
		kanon_release_free(problem, &release);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
}

/* Where the data of some numbers is: these are its ends. */
static void
assert_data(const double *number, size_t n, double low, double high)
{
	double found[2];

	kanon_data_range(number, n, &found[0], &found[1]);
	assert_true(found[0] == low && found[1] == high);
}

static void
test_data(void **state)
{
	double number[40];

	(void) state;
	for (int i = 0; i < 40; i++)
		number[i] = i;
	assert_data(number, 40, 0, 39);
	/* a gap of three times the range is one of the data, one more is none */
	number[39] = 38 * 4;
	assert_data(number, 40, 0, 38 * 4);
	number[39]++;
	assert_data(number, 40, 0, 38);
	/* two of them; on the other side as well, where the range is that without these */
	number[38] = 10000;
	number[39] = 10001;
	number[0] = -1e300;
	assert_data(number, 40, 1, 37);
	assert_true(kanon_is_far(1, 37, 10000) && kanon_is_far(1, 37, -1e300) && !kanon_is_far(1, 37, 0));
	/* what is near what is far is part of a far group, unless that is a tenth of all or more */
	for (int i = 35; i < 40; i++)
		number[i] = 20000 + i;
	assert_data(number, 40, 1, 20039);
	/* too few to tell */
	number[9] = 1e9;
	assert_data(number + 1, 9, 1, 1e9);
	assert_data(number + 1, 1, 1, 1);
	/* differences that no double holds */
	for (int i = 0; i < 40; i++)
		number[i] = -1.6e308 + i * 8e306;
	assert_data(number, 40, number[0], number[39]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data),           cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_levels_by_hand), cmocka_unit_test(test_several_by_hand),
		cmocka_unit_test(test_random),         cmocka_unit_test(test_memory_and_cancel),
	};

	return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
