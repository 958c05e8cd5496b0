/*
 * test_relaxed.c: (1,k)-, (k,1)- and (k,k)-anonymity: the matches that each promises,
 * counted by trying every row against every record; costs against the least for each
 * record by itself; every allocation and every poll failing once.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"
#include "freeform/freeform_work.h"
#include "unclassed.h"

#define MOST_ROWS 64

static bool
cell_shows(const KanonRelease *release, KanonCell cell, uint32_t code)
{
	const uint32_t *pool = release->pool + cell.code;

	if (cell.show == KANON_SHOW_NOTHING)
		return true;
	if (cell.show == KANON_SHOW_VALUE)
		return cell.code == code;
	if (cell.show == KANON_SHOW_RANGE)
		return pool[0] <= code && code <= pool[1];
	for (uint32_t x = 1; x <= pool[0]; x++)
		if (pool[x] == code)
			return true;
	return false;
}

static bool
class_shows(const KanonProblem *problem, const KanonRelease *release, uint32_t class, uint32_t type)
{
	for (int c = 0; c < problem->ncolumns; c++)
		if (!cell_shows(release, release->cells[class * (size_t) problem->ncolumns + (size_t) c],
						problem->columns[c].code[type]))
			return false;
	return true;
}

/* The fewest records of a row, the fewest rows of a record. */
static void
count_by_hand(const KanonProblem *problem, const KanonRelease *release, int64_t *of_row, int64_t *of_record)
{
	*of_row = *of_record = INT64_MAX;
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		int64_t rows = 0;

		for (uint32_t t = 0; t < problem->ntypes; t++)
			rows += class_shows(problem, release, i, t) ? problem->rows[t] : 0;
		*of_record = rows < *of_record ? rows : *of_record;
	}
	for (uint32_t t = 0; t < problem->ntypes; t++)
	{
		int64_t records = 0;

		for (uint32_t i = 0; i < release->nclasses; i++)
			records += class_shows(problem, release, i, t) ? release->classes[i].rows : 0;
		*of_row = records < *of_row ? records : *of_row;
	}
}

/* Records are those of all rows, each in a record that shows it. */
static void
assert_own_records(const KanonProblem *problem, const KanonRelease *release)
{
	int64_t rows[MOST_ROWS] = {0};

	assert_int_equal(release->dropped, 0);
	for (size_t f = 0; f < release->nflows; f++)
	{
		assert_true(class_shows(problem, release, release->flows[f].class_, release->flows[f].type));
		rows[release->flows[f].type] += release->flows[f].rows;
	}
	for (uint32_t t = 0; t < problem->ntypes; t++)
		assert_int_equal(rows[t], problem->rows[t]);
}

static void
promises(void **state)
{
	uint64_t random = 2008;
	int one_sided = 0;

	(void) state;
	for (int round = 0; round < cases(600); round++)
	{
		Host host;
		size_t rows = 2 + random_below(&random, MOST_ROWS - 2);
		int64_t k = 2 + random_below(&random, (uint32_t) rows - 1);
		KanonProblem *problem = random_table(&host, &random, rows, 1 + (int) random_below(&random, 5),
											 1 + random_below(&random, 9), k);
		double cost[3];

		if (k > 6 && round % 2 == 0)
			problem->k = k = 2 + k % 4;
		for (int m = 0; kanon_methods(KANON_RELAXED)[m].name != NULL; m++)
		{
			KanonFreeformOptions options;
			KanonRelease release;
			KanonReport report;
			KanonFreeformFacts facts;
			int64_t of_row;
			int64_t of_record;

			options.method = kanon_methods(KANON_RELAXED)[m].number;
			options = (KanonFreeformOptions){.method = options.method};
			problem->freeform = &options;
			assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
			count_by_hand(problem, &release, &of_row, &of_record);
			assert_true(of_row >= (options.method == KANON_FREEFORM_K_ONE ? 1 : k));
			assert_true(of_record >= (options.method == KANON_FREEFORM_ONE_K ? 1 : k));
			one_sided += of_row < k || of_record < k;
			assert_int_equal(kanon_freeform_check(problem, &release, 0, -1, &facts), KANON_OK);
			assert_int_equal(facts.row_matches, of_row);
			assert_int_equal(facts.record_matches, of_record);
			assert_true(facts.same_size);
			assert_own_records(problem, &release);
			cost[m] = report.cost;
			assert_true(fabs(report.cost - cost_by_hand(problem, &release)) < 1e-4 * (double) rows);
			/* nothing is worse than to show nothing */
			assert_true(report.cost <= (double) rows * problem->ncolumns + 1e-4);
			assert_false(report.proven);
			kanon_release_free(problem, &release);
		}
		/* the second step only adds to the first */
		assert_true(cost[2] >= cost[1] - 1e-6);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	/* one direction is really less than both */
	assert_true(one_sided > cases(100));
}

/* ---- costs ---- */

/* What a record costs that shows these rows (types, each once). */
static double
set_price(const KanonProblem *problem, unsigned set)
{
	KanonCell cells[3];
	KanonClass class = {KANON_NONE, 1};
	uint32_t pool[64];
	KanonRelease release = {.nclasses = 1, .classes = &class, .cells = cells, .pool = pool};
	uint32_t npool = 0;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		const KanonColumn *column = &problem->columns[c];
		unsigned codes = 0;
		uint32_t low;
		uint32_t high;

		for (uint32_t t = 0; t < problem->ntypes; t++)
			codes |= set >> t & 1 ? 1u << column->code[t] : 0;
		low = (uint32_t) __builtin_ctz(codes);
		high = 31 - (uint32_t) __builtin_clz(codes);
		cells[c] = (KanonCell){KANON_SHOW_VALUE, low & KANON_MAX_TYPES};
		if (low == high)
			continue;
		if (column->number == NULL)
		{
			cells[c] = (KanonCell){KANON_SHOW_SET, npool & KANON_MAX_TYPES};
			pool[npool++] = (uint32_t) __builtin_popcount(codes);
		}
		else if (isnan(column->number[high]))
			cells[c] = (KanonCell){KANON_SHOW_NOTHING, 0};
		else
		{
			cells[c] = (KanonCell){KANON_SHOW_RANGE, npool & KANON_MAX_TYPES};
			pool[npool++] = low;
			pool[npool++] = high;
		}
	}
	return cost_by_hand(problem, &release);
}

/* (k,1): each record by itself is at best the cheapest set of k rows with its own. */
static void
least_costs(void **state)
{
	uint64_t random = 31;
	double sum = 0;
	double best = 0;

	(void) state;
	for (int round = 0; round < cases(100); round++)
	{
		Host host;
		int64_t k = 2 + random_below(&random, 3);
		KanonProblem *problem = random_table(&host, &random, 9, 3, 6, k);
		KanonFreeformOptions options = {.method = KANON_FREEFORM_K_ONE};
		KanonRelease release;
		KanonReport report;
		double least = 0;

		problem->freeform = &options;
		for (uint32_t own = 0; own < problem->ntypes; own++)
		{
			double cheapest = INFINITY;

			for (unsigned set = 1; set < 1u << problem->ntypes; set++)
			{
				int64_t rows = 0;

				for (uint32_t t = 0; t < problem->ntypes; t++)
					rows += set >> t & 1 ? problem->rows[t] : 0;
				if ((set >> own & 1) != 0 && rows >= k)
					cheapest = fmin(cheapest, set_price(problem, set));
			}
			least += cheapest * (double) problem->rows[own];
		}
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		assert_true(report.cost >= least - 1e-5);
		/* with k = 2 there is but one row to choose */
		if (k == 2)
			assert_true(report.cost <= least + 1e-5);
		sum += report.cost;
		best += least;
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(sum <= 1.2 * best);
}

/* Equal rows lose nothing, and k may be all of them. */
static void
equal_rows(void **state)
{
	uint32_t same[10] = {0};
	uint32_t apart[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

	(void) state;
	for (int m = 0; kanon_methods(KANON_RELAXED)[m].name != NULL; m++)
		for (int differ = 0; differ < 2; differ++)
		{
			Host host;
			KanonProblem *problem;
			KanonFreeformOptions options = {.method = (KanonFreeformMethod) (KANON_FREEFORM_ONE_K + m)};
			KanonRelease release;
			KanonReport report;

			host_init(&host);
			problem = problem_from_codes(&host, differ ? apart : same, 10, 1, 10);
			problem->freeform = &options;
			assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
			assert_int_equal(release.nclasses, 1);
			assert_true(fabs(report.cost - (differ ? 10 : 0)) < 1e-4);
			kanon_release_free(problem, &release);
			assert_int_equal(host.blocks, 0);
			problem_free(problem);
		}
}

/* ---- what is refused ---- */

static void
limits(void **state)
{
	uint64_t random = 1;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 9, 2, 4, 9);
	KanonFreeformOptions options = {.method = KANON_FREEFORM_K_K};
	int64_t many = KANON_RELAXED_ROWS + 1;
	uint32_t ntypes = problem->ntypes;
	const int64_t *rows = problem->rows;
	KanonRelease release;
	KanonReport report;

	(void) state;
	problem->freeform = &options;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	kanon_release_free(problem, &release);
	problem->k = 10;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_TOO_LARGE);
	problem->k = 1;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_TOO_LARGE);
	problem->k = 2;
	problem->ntypes = 1;
	problem->rows = &many;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_TOO_LARGE);
	assert_non_null(strstr(report.detail, "more than 50000 rows"));
	problem->ntypes = ntypes;
	problem->rows = rows;
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* The release's own check asks for what the method promises, and for no more. */
static void
broken_promises(void **state)
{
	uint64_t random = 5;
	int refused = 0;

	(void) state;
	for (int round = 0; round < cases(100); round++)
		for (int m = 0; m < 2; m++)
		{
			Host host;
			KanonProblem *problem = random_table(&host, &random, 20, 3, 6, 3);
			KanonFreeformOptions options = {.method = (KanonFreeformMethod) (KANON_FREEFORM_ONE_K + m)};
			KanonRelease release;
			KanonReport report;
			KanonFreeformFacts facts;
			KanonStatus status;

			problem->freeform = &options;
			assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
			assert_int_equal(kanon_freeform_check(problem, &release, 0, -1, &facts), KANON_OK);
			options.method = KANON_FREEFORM_K_K;
			status = kanon_release_finish(problem, &release, &report);
			if (facts.row_matches < 3 || facts.record_matches < 3)
				assert_int_equal(status, KANON_BROKEN);
			refused += status == KANON_BROKEN;
			kanon_release_free(problem, &release);
			assert_int_equal(host.blocks, 0);
			problem_free(problem);
		}
	assert_true(refused > cases(100));
}

/* ---- memory and cancel ---- */

static KanonProblem *
make_table(Host *host, int method)
{
	static KanonFreeformOptions options;
	uint64_t random = 11;
	KanonProblem *problem = random_table(host, &random, 40, 4, 6, 4);

	options.method = (KanonFreeformMethod) (KANON_FREEFORM_ONE_K + method);
	problem->freeform = &options;
	return problem;
}

static KanonStatus
solve_and_count(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = kanon_solve_freeform(problem, release, report);
	KanonFreeformFacts facts;

	if (status == KANON_OK)
	{
		status = kanon_freeform_check(problem, release, 0, -1, &facts);
		if (status != KANON_OK)
			kanon_release_free(problem, release);
	}
	return status;
}

static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int m = 0; kanon_methods(KANON_RELAXED)[m].name != NULL; m++)
	{
		exact_refuse_each(make_table, m, solve_and_count, false);
		exact_cancel_each(make_table, m, solve_and_count);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(promises), cmocka_unit_test(least_costs),     cmocka_unit_test(equal_rows),
		cmocka_unit_test(limits),   cmocka_unit_test(broken_promises), cmocka_unit_test(memory_and_cancel),
	};

	return cmocka_run_group_tests_name("relaxed", tests, NULL, NULL);
}
