/*
 * test_fill.c: the fully suppressed rows are none, or k of them, at the least extra cost.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"

static int64_t
blank_rows(const KanonProblem *problem, const KanonRelease *release)
{
	for (uint32_t i = 0; i < release->nclasses; i++)
		if (kanon_class_blank(problem, release, i))
			return release->classes[i].rows;
	return 0;
}

/*
 * The least cost of suppressing `need` rows of the classes from `class_` on, each of which keeps k rows or none;
 * INFINITY: they have not as many.
 */
static double
least_fill(const KanonProblem *problem, const KanonRelease *release, uint32_t class_, int64_t need)
{
	double best;
	double each;
	int64_t rows;

	if (need <= 0)
		return 0;
	if (class_ == release->nclasses || kanon_class_blank(problem, release, class_))
		return INFINITY;
	rows = release->classes[class_].rows;
	each = kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns)) -
		   kanon_pattern_cost(problem, release->classes[class_].pattern);
	best = each * (double) rows + least_fill(problem, release, class_ + 1, need - rows);
	for (int64_t take = 0; take <= rows - problem->k && take <= need; take++)
		best = fmin(best, each * (double) take + least_fill(problem, release, class_ + 1, need - take));
	return best;
}

/* The same of all rows of one class. */
static double
least_class(const KanonProblem *problem, const KanonRelease *release)
{
	double best = INFINITY;

	for (uint32_t i = 0; i < release->nclasses; i++)
		if (!kanon_class_blank(problem, release, i))
			best = fmin(best, (kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns)) -
							   kanon_pattern_cost(problem, release->classes[i].pattern)) *
								  (double) release->classes[i].rows);
	return best;
}

/* Least more that one class loses when row type `type` comes to it, of all patterns of the mask. */
static double
least_merge(const KanonProblem *problem, const KanonRelease *release, uint32_t type, int64_t rows)
{
	KanonPattern *patterns;
	size_t npatterns;
	double best = INFINITY;

	assert_int_equal(kanon_mask_enumerate(problem, 10000, &patterns, &npatterns), KANON_OK);
	for (uint32_t i = 0; i < release->nclasses; i++)
		for (size_t p = 0; p + 1 < npatterns && !kanon_class_blank(problem, release, i); p++)
		{
			const KanonClass *class = &release->classes[i];
			const KanonCell *cell = release->cells + i * (size_t) problem->ncolumns;
			bool shows = true;

			for (int c = 0; c < problem->ncolumns && shows; c++)
				shows = kanon_has(patterns[p], c) ||
						(cell[c].show == KANON_SHOW_VALUE && cell[c].code == problem->columns[c].code[type]);
			if (shows)
				best = fmin(best, kanon_pattern_cost(problem, patterns[p]) * (double) (class->rows + rows) -
									  kanon_pattern_cost(problem, class->pattern) * (double) class->rows);
		}
	kanon_free(problem->env, patterns);
	return best;
}

/* Greedy as it was, and filled: the cheaper way of the two, as far as one row type shows the second. */
static void
greedy_fills(void **state)
{
	int filled = 0;
	int merged = 0;
	int as_it_was = 0;

	(void) state;
	for (int round = 0; round < exact_cases(4000); round++)
	{
		uint64_t random = 7000 + (uint64_t) round;
		Host host;
		KanonProblem *problem;
		KanonRelease before;
		KanonRelease release;
		KanonReport before_report;
		KanonReport report;
		int64_t rest;

		host_init(&host);
		problem = problem_random(&host, &random, 14, 3);
		problem->effort = 0; /* the one order: otherwise another one may need no filling */
		problem->residual = KANON_RESIDUAL_SUPPRESS;
		assert_int_equal(kanon_solve_greedy(problem, &before, &before_report), KANON_OK);
		problem->residual = KANON_RESIDUAL_FILL;
		rest = blank_rows(problem, &before);
		if (rest > 0 && rest < problem->k)
		{
			double fill = least_fill(problem, &before, 0, problem->k - rest);
			double all = kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));
			KanonStatus status = kanon_solve_greedy(problem, &release, &report);
			double most = before_report.cost + fill;
			uint32_t last = 0;
			int types = 0;

			for (size_t f = 0; f < before.nflows; f++)
				if (kanon_class_blank(problem, &before, before.flows[f].class_))
				{
					last = before.flows[f].type;
					types++;
				}
			if (types == 1)
				most = fmin(most, before_report.cost - all * (double) rest +
									  least_merge(problem, &before, last, rest));
			assert_int_equal(status, most < INFINITY ? KANON_OK : KANON_RESIDUAL);
			if (status == KANON_OK)
			{
				int64_t blank = blank_rows(problem, &release);

				assert_true(blank == 0 || blank >= problem->k);
				assert_true(report.cost <= most * (1 + 1e-9) + 1e-9 && report.cost >= 0);
				/* (of several row types the second may find what the first has made of a class) */
				assert_true(types > 1 || fabs(report.cost - most) <= 1e-9 * (1 + most));
				assert_true(report.guarantee == 0);
				filled += blank > 0;
				merged += blank == 0;
				kanon_release_free(problem, &release);
			}
			else
				assert_true(report.detail[0] != '\0');
		}
		else
		{
			assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
			assert_true(report.cost == before_report.cost && report.guarantee == before_report.guarantee);
			assert_int_equal(release.nflows, before.nflows);
			assert_memory_equal(release.flows, before.flows, before.nflows * sizeof(KanonFlow));
			as_it_was++;
			kanon_release_free(problem, &release);
		}
		kanon_release_free(problem, &before);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	assert_true(filled > 0 && merged > 0 && as_it_was > 0);
}

/* Any method's release is filled when it is finished: by the rows of one class. */
static void
finished(void **state)
{
	int filled = 0;

	(void) state;
	for (int round = 0; round < exact_cases(2000); round++)
	{
		uint64_t random = 90000 + (uint64_t) round;
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;
		int64_t rest;

		host_init(&host);
		problem = problem_random(&host, &random, 14, 3);
		problem->residual = KANON_RESIDUAL_SUPPRESS;
		assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
		rest = blank_rows(problem, &release);
		problem->residual = KANON_RESIDUAL_FILL;
		if (rest > 0 && rest < problem->k)
		{
			double fill = least_class(problem, &release);
			double before = report.cost;
			KanonStatus status = kanon_release_finish(problem, &release, &report);

			assert_int_equal(status, fill < INFINITY ? KANON_OK : KANON_RESIDUAL);
			if (status == KANON_OK)
			{
				assert_true(fabs(report.cost - before - fill) <= 1e-9 * (1 + report.cost));
				assert_true(blank_rows(problem, &release) >= problem->k);
				filled++;
			}
		}
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	assert_true(filled > 0);
}

/* Three rows alike, one like them but for a column, and one of its own; k = 3: variant 0 fills, 1 merges. */
static KanonProblem *
five_rows(Host *host, int variant)
{
	static const uint32_t codes[2][18] = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2},
										  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
	KanonProblem *problem;

	host_init(host);
	problem = problem_from_codes(host, codes[variant], 6, 3, 3);

	problem->mask.order = KANON_ORDER_GIVEN;
	problem->residual = KANON_RESIDUAL_FILL;
	if (variant == 0)
		problem->mask.max_suppressed = 0;
	return problem;
}

static void
in_trouble(void **state)
{
	(void) state;
	for (int variant = 0; variant < 2; variant++)
	{
		exact_refuse_each(five_rows, variant, kanon_solve_greedy, true);
		exact_cancel_each(five_rows, variant, kanon_solve_greedy);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(greedy_fills),
		cmocka_unit_test(finished),
		cmocka_unit_test(in_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
