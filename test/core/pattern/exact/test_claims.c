/*
 * test_claims.c: what is called proven is, and no bound is above the least cost, when
 * weights are of very different magnitude and row types have billions of rows: costs
 * are compared with one another as they are, not with the largest weight.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "exact.h"
#include "pattern/program/program_model.h"

typedef struct Answer
{
	bool there;
	bool proven;
	double cost;
	double bound;
} Answer;

static const struct
{
	const char *name;
	KanonSolve solve;
} methods[] = {{"ilp", kanon_solve_ilp},   {"improve", kanon_solve_improve},
			   {"best", kanon_solve_best}, {"matching", kanon_solve_matching},
			   {"fpt", kanon_solve_fpt},   {"greedy", kanon_solve_greedy}};

#define METHODS (sizeof(methods) / sizeof(methods[0]))

/* (rows left out are priced as fully suppressed ones, in the bound as in the cost) */
static Answer
ask(const KanonProblem *problem, KanonSolve solve)
{
	KanonRelease release;
	KanonReport report;
	Answer answer = {0};

	if (solve(problem, &release, &report) != KANON_OK)
		return answer;
	answer.there = true;
	answer.proven = report.proven;
	answer.cost = exact_cost(problem, &release, &report);
	answer.bound = report.lower_bound + (answer.cost - report.cost);
	kanon_release_free(problem, &release);
	return answer;
}

/* From 1e-16 to 1 or 1e6, alone or in steps, and billions of rows of a type or none. */
static void
spread_out(KanonProblem *problem, uint64_t *random, int round)
{
	double span = 2 + random_below(random, 15);

	for (int c = 0; c < problem->ncolumns; c++)
	{
		double size = pow(10, -span * random_below(random, 1000) / 1000.0);

		if (round % 3 == 1)
			size = pow(10, -rint(span * random_below(random, 3) / 2.0));
		if (round % 3 == 2)
			size = (double) (1 + random_below(random, 2)) * pow(10, random_below(random, 2) * span - 8);
		((KanonColumn *) problem->columns)[c].weight = size;
	}
	for (uint32_t i = 0; i < problem->ntypes && round % 2 == 0; i++)
		if (random_below(random, 3) == 0)
			((int64_t *) problem->rows)[i] +=
				(int64_t) (random_next(random) >> (24 + random_below(random, 30)));
}

static void
hold(void **state)
{
	uint64_t random = 11;
	int claims[METHODS] = {0}, unproven = 0;

	(void) state;
	for (int round = 0; round < exact_cases(1000); round++)
	{
		Host host;
		uint64_t seed = random;
		KanonProblem *problem;
		Answer answer[METHODS];
		double least = INFINITY;
		KanonInstances grid;

		host_init(&host);
		problem = problem_random(&host, &random, 10, 4);
		spread_out(problem, &random, round);
		if (round % 4 < 2)
			problem->k = 2;
		problem->effort = 0.01;
		kanon_instances_grid(problem, &grid);
		for (size_t s = 0; s < METHODS; s++)
		{
			answer[s] = ask(problem, methods[s].solve);
			if (answer[s].there)
				least = fmin(least, answer[s].cost);
		}
		for (size_t s = 0; s < METHODS; s++)
		{
			if (!answer[s].there)
				continue;
			if ((answer[s].proven && answer[s].cost > least * (1 + 1e-6)) ||
				answer[s].bound > least * (1 + 1e-6))
				fail_msg("round %d, seed %llu: %s costs %.17g, proven %d, bound %.17g, but there is %.17g",
						 round, (unsigned long long) seed, methods[s].name, answer[s].cost, answer[s].proven,
						 answer[s].bound, least);
			/* (and sums of that many rows are known to no more digits) */
			assert_true(!answer[s].proven || answer[s].cost == 0 ||
						grid.rounding <= 2 * kanon_instances_slack(&grid, answer[s].cost / grid.unit));
			claims[s] += answer[s].proven;
			unproven += !answer[s].proven && s == 0;
		}
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	for (size_t s = 0; s < METHODS; s++)
		print_message("%s: %d proven\n", methods[s].name, claims[s]);
	/* most are, all the same */
	assert_true(claims[0] > 2 * unproven && claims[0] > exact_cases(1000) / 4);
	assert_true(unproven > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
