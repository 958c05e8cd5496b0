/*
 * test_stable.c: row types keep their classes where they may, and what comes out
 * is a release like any other.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "fixture.h"

#define TABLES 3000

/* What a release leaves for the next one; freed by forget. */
static KanonPrevious
remember(const KanonRelease *release)
{
	KanonPrevious previous = {.nclasses = release->nclasses};
	KanonPattern *pattern = malloc(sizeof(KanonPattern) * (release->nclasses + 1));
	KanonFlow *flows = malloc(sizeof(KanonFlow) * (release->nflows + 1));

	for (uint32_t c = 0; c < release->nclasses; c++)
		pattern[c] = release->classes[c].pattern;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			flows[previous.nflows++] = release->flows[f];
	previous.pattern = pattern;
	previous.flows = flows;
	return previous;
}

static void
forget(KanonPrevious *previous)
{
	free((void *) previous->pattern);
	free((void *) previous->flows);
}

/* Rows of a class that are there before anybody joins it. */
static int64_t
rows_left(const KanonProblem *problem, const KanonPrevious *previous, uint32_t class_)
{
	int64_t rows = 0;

	for (size_t f = 0; f < previous->nflows; f++)
		if (previous->flows[f].class_ == class_)
			rows += problem->rows[previous->flows[f].type];
	return rows;
}

/* Greedy never splits a row type: classes are merged, whether they may stay or not, and never divided. */
static void
stays(void **state)
{
	uint64_t random = 1;
	int stayed = 0, went = 0;

	(void) state;
	for (int i = 0; i < cases(TABLES); i++)
	{
		Host host;
		KanonProblem *problem;
		KanonRelease before, after;
		KanonReport report;
		KanonPrevious previous;

		host_init(&host);
		problem = problem_random(&host, &random, 60, 4);
		problem->residual = KANON_RESIDUAL_SUPPRESS;
		assert_int_equal(kanon_solve_greedy(problem, &before, &report), KANON_OK);
		previous = remember(&before);
		kanon_release_free(problem, &before);
		for (uint32_t type = 0; type < problem->ntypes; type++)
			if (random_below(&random, 3) == 0)
				((int64_t *) problem->rows)[type] = 1 + random_below(&random, 4);
		assert_int_equal(kanon_solve_stable(problem, &previous, kanon_solve_greedy, &after, &report),
						 KANON_OK);
		for (size_t f = 0; f < previous.nflows; f++)
		{
			const KanonFlow *flow = &previous.flows[f];

			if (rows_left(problem, &previous, flow->class_) < problem->k)
				went++;
			else
				stayed++;
		}
		assert_true(stay_together(&previous, &after));
		/* checked once more, as if it came from anywhere */
		assert_int_equal(kanon_release_finish(problem, &after, &report), KANON_OK);
		kanon_release_free(problem, &after);
		forget(&previous);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(stayed > cases(TABLES) && went > cases(TABLES) / 4);
}

/* Whatever is said to have been before: split types, other patterns, classes that never were. */
static void
anything(void **state)
{
	uint64_t random = 2;

	(void) state;
	for (int i = 0; i < cases(TABLES); i++)
	{
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report, plain_report;
		KanonPattern pattern[4];
		KanonFlow flows[400];
		KanonPrevious previous = {.nclasses = 4, .pattern = pattern, .flows = flows};
		KanonStatus status, plain;

		host_init(&host);
		problem = problem_random(&host, &random, 60, 4);
		for (int c = 0; c < 4; c++)
			pattern[c] = random_columns(&random, problem->ncolumns);
		for (uint32_t type = 0; type < problem->ntypes; type++)
			for (uint32_t c = 0; c < 4; c++)
				if (random_below(&random, 3) == 0)
					flows[previous.nflows++] = (KanonFlow){type, c, 1 + random_below(&random, 5)};
		status = kanon_solve_stable(problem, &previous, kanon_solve_greedy, &release, &report);
		if (status == KANON_OK)
		{
			assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
			kanon_release_free(problem, &release);
		}
		else
		{
			plain = kanon_solve_greedy(problem, &release, &plain_report);
			assert_int_equal(status, plain);
		}
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
}

/* Nobody before, nothing gained: the method's own release. */
static void
nothing_before(void **state)
{
	uint64_t random = 3;

	(void) state;
	for (int i = 0; i < cases(TABLES) / 4; i++)
	{
		Host host;
		KanonProblem *problem;
		KanonRelease near, plain;
		KanonReport near_report, report;
		KanonPrevious previous = {0};

		host_init(&host);
		problem = problem_random(&host, &random, 60, 4);
		problem->residual = KANON_RESIDUAL_SUPPRESS;
		assert_int_equal(kanon_solve_stable(problem, &previous, kanon_solve_greedy, &near, &near_report),
						 KANON_OK);
		assert_int_equal(kanon_solve_greedy(problem, &plain, &report), KANON_OK);
		assert_int_equal(near.nclasses, plain.nclasses);
		assert_true(near_report.cost == report.cost);
		kanon_release_free(problem, &near);
		kanon_release_free(problem, &plain);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
}

/* Of a class of the rest that has one row more than k, one joins a cheaper class that stayed. */
static void
leaves_k_behind(void **state)
{
	static const uint32_t code[][2] = {{0, 0}, {0, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 0},
									   {1, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}, {2, 2}};
	const KanonPattern pattern[] = {KANON_BITS(2), KANON_BITS(2)};
	KanonFlow flows[4];
	KanonPrevious previous = {.nclasses = 2, .pattern = pattern, .flows = flows};
	Host host;
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, code[0], sizeof(code) / sizeof(code[0]), 2, 3);
	((KanonColumn *) problem->columns)[1].weight = 0.5;
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		uint32_t first = problem->columns[0].code[type];

		if (problem->columns[1].code[type] < 2)
			flows[previous.nflows++] = (KanonFlow){type, first, 2};
	}
	assert_int_equal(previous.nflows, 4);
	assert_int_equal(kanon_solve_stable(problem, &previous, kanon_solve_greedy, &release, &report), KANON_OK);
	assert_int_equal(release.nclasses, 3);
	assert_true(report.cost == 9 * 0.5 + 3);
	kanon_release_free(problem, &release);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* A class that keeps the rules without a newcomer turns it away where they would be broken, and stays as it was. */
static void
turns_away(void **state)
{
	/* the last column is sensitive; in no class may a value have more than half of the rows */
	static const uint32_t code[][3] = {{0, 0, 0}, {0, 1, 1}, {0, 2, 0}, {1, 0, 0},
									   {1, 1, 1}, {2, 2, 1}, {3, 2, 0}, {4, 2, 1}};
	const KanonPattern pattern[] = {KANON_BITS(2), KANON_BITS(2)};
	KanonFlow flows[] = {{0, 0, 1}, {1, 0, 1}, {3, 1, 1}, {4, 1, 1}};
	KanonPrevious previous = {.nclasses = 2, .pattern = pattern, .flows = flows, .nflows = 4};
	Host host;
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, code[0], sizeof(code) / sizeof(code[0]), 3, 2);
	((KanonColumn *) problem->columns)[1].weight = 0.5;
	problem->ncolumns--;
	problem->nextra = 1;
	problem->extra = problem->columns + problem->ncolumns;
	diverse_dense((KanonColumn *) problem->extra, problem->ntypes);
	diverse_rules[0] = (KanonPrivacyRule){.kind = KANON_ALPHA, .share = 0.5};
	diverse_nrules = 1;
	diverse_reopen(problem);
	assert_int_equal(kanon_solve_stable(problem, &previous, kanon_solve_greedy, &release, &report), KANON_OK);
	/* the newcomers are a class of their own, which costs more than the first class would */
	assert_int_equal(release.nclasses, 3);
	assert_true(stay_together(&previous, &release));
	assert_true(report.cost == 4 * 0.5 + 4);
	kanon_release_free(problem, &release);
	diverse_free(problem);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* Every allocation refused once, every poll answered with yes once. */
static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int what = 0; what < 2; what++)
	{
		Failure failure = {.how = what == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

		while (fails_again(&failure))
		{
			uint64_t random = 7;
			Host host;
			KanonProblem *problem;
			KanonRelease before, after;
			KanonReport report;
			KanonPrevious previous;

			host_init(&host);
			do
				problem = problem_random(&host, &random, 60, 4);
			while (problem->ntypes < 20 && (problem_random_free(problem), true));
			problem->residual = KANON_RESIDUAL_SUPPRESS;
			assert_int_equal(kanon_solve_greedy(problem, &before, &report), KANON_OK);
			previous = remember(&before);
			kanon_release_free(problem, &before);
			for (uint32_t type = 0; type < problem->ntypes; type += 3)
				((int64_t *) problem->rows)[type] = 1;
			fail_at(&host, &failure);
			failure.status = kanon_solve_stable(problem, &previous, kanon_solve_greedy, &after, &report);
			host.refuse_at = host.cancel_at = 0;
			if (failure.status == KANON_OK)
				kanon_release_free(problem, &after);
			forget(&previous);
			problem_random_free(problem);
			assert_int_equal(host.blocks, 0);
		}
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays),           cmocka_unit_test(anything),   cmocka_unit_test(nothing_before),
		cmocka_unit_test(leaves_k_behind), cmocka_unit_test(turns_away), cmocka_unit_test(memory_and_cancel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
