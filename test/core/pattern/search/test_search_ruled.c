/*
 * test_search_ruled.c: the search under rules beyond k, from any start; instances that prices choose, where time or
 * memory ends.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pattern/improve/improve.h"
#include "diverse.h"
#include "exact.h"
#include "pattern/search/search.h"

#define TABLES 30

static void
end(KanonProblem *problem)
{
	Host *host = problem->env->arg;

	diverse_free(problem);
	assert_int_equal(host->blocks, 0);
	problem_free(problem);
}

static KanonProblem *
patterned(Host *host, uint64_t *random, int i, bool values)
{
	KanonProblem *problem =
		exact_problem(host, random, 50 + (size_t) i % 4 * 10, 7, 2 + (uint32_t) i % 2, 2 + i % 3, false);

	if (values)
		diverse_ask(problem, 2);
	else
		diverse_make(problem, random, DIVERSE_ALL);
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight =
			i % 5 == 3 ? 1 + 0.37 * ((c + i) % 3) : 1 + (c + i) % 3;
	problem->residual = (KanonResidual) (i % 3);
	problem->seed = (uint64_t) i;
	problem->effort = 0.003;
	return problem;
}

/* What is found keeps the rules, and costs what the search says of it. */
static double
search_one(const KanonProblem *problem, const KanonInstances *instances, const KanonRelease *start,
		   int64_t moves, double target, KanonPace *pace)
{
	KanonRelease release;
	KanonReport report;
	double cost;

	assert_int_equal(kanon_search_ruled(problem, instances, start,
										&(SearchPlan){.work = moves, .target = target}, &cost, &release,
										pace),
					 KANON_OK);
	if (cost < INFINITY)
	{
		assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
		assert_true(fabs(cost * instances->unit - exact_cost(problem, &release, &report)) <=
					1e-9 * report.cost);
	}
	kanon_release_free(problem, &release);
	return cost;
}

/* A row type of very many rows goes in and out: what its moves add up to has no last digits any more. */
static void
among_many(void **state)
{
	int searched = 0;

	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		uint64_t random = 970 + (uint64_t) i;
		Host host;
		KanonProblem *problem = patterned(&host, &random, i, true);
		KanonInstances instances;
		KanonRelease start;
		KanonReport report;
		KanonPace pace;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		((KanonColumn *) problem->columns)[1].weight = 1e6;
		((int64_t *) problem->rows)[i % 7] = INT64_C(1700000000000);
		diverse_reopen(problem);
		kanon_pace_limit(&pace, problem, "test");
		if (kanon_solve_greedy(problem, &start, &report) == KANON_OK)
		{
			assert_int_equal(
				kanon_instances_build(problem, KANON_INSTANCES_ALL, INFINITY, 1000000, &pace, &instances),
				KANON_OK);
			searched += search_one(problem, &instances, &start, 300000, -INFINITY, &pace) < INFINITY;
			kanon_instances_free(problem->env, &instances);
		}
		kanon_release_free(problem, &start);
		end(problem);
	}
	assert_true(searched > 0);
}

/* From what greedy finds: as it is, and without some rows, which are then in no class. */
static void
searches(void **state)
{
	int forbidden = 0;

	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		uint64_t random = 950 + (uint64_t) i;
		Host host;
		KanonProblem *problem = patterned(&host, &random, i, i % 2 == 1);
		KanonInstances instances;
		KanonRelease release;
		KanonReport report;
		KanonPace pace;

		kanon_pace_limit(&pace, problem, "test");
		if (kanon_solve_greedy(problem, &release, &report) == KANON_OK && release.nclasses > 1)
		{
			assert_int_equal(kanon_instances_build(problem,
												   i % 2 == 0 ? KANON_INSTANCES_ALL : KANON_INSTANCES_CLOSED,
												   INFINITY, 1000000, &pace, &instances),
							 KANON_OK);
			/* from a start that may be, never to a dearer one */
			assert_true(search_one(problem, &instances, &release, 20000, -INFINITY, &pace) * instances.unit <=
						exact_cost(problem, &release, &report) * (1 + 1e-9));
			search_one(problem, &instances, &release, 20000, report.cost * 0.97, &pace);
			/* the start is as good as the target, so that all that counts is whether it may be */
			for (size_t f = 0; f < release.nflows; f += 3)
			{
				uint32_t class = release.flows[f].class_;

				release.flows[f].class_ = KANON_DROPPED;
				forbidden += search_one(problem, &instances, &release, 20000, INFINITY, &pace) == INFINITY;
				release.flows[f].class_ = class;
			}
			kanon_instances_free(&host.env, &instances);
		}
		kanon_release_free(problem, &release);
		end(problem);
	}
	assert_true(forbidden > 0);
}

/* ---- instances that prices choose ---- */

static KanonProblem *
priced_problem(Host *host, uint64_t *random, int i)
{
	/* (one after the other: compilers take arguments in any order) */
	int64_t k = 2 + random_below(random, 4);
	int columns = 3 + (int) random_below(random, 4);
	size_t rows = 20 + random_below(random, 60);
	KanonProblem *problem = exact_problem(host, random, rows, columns, 3, k, true);

	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight =
			i % 3 == 2 ? 1 + 0.37 * ((c + i) % 3) : 1 + (c + i) % 3;
	problem->residual = (KanonResidual) (i % 3);
	return problem;
}

/* refuse_at: the allocation to refuse; 0: none.  False: it did not come to so many. */
static bool
price_one(int i, size_t most, double limit, uint64_t refuse_at)
{
	uint64_t random = 1000 + (uint64_t) i;
	Host host;
	KanonProblem *problem = priced_problem(&host, &random, i);
	KanonInstances chosen;
	KanonReport report;
	KanonPace pace;
	IlpResult greedy;
	IlpModel model;
	IlpPrices prices = {0};
	KanonStatus status;
	uint32_t first;
	bool reached;

	kanon_instances_grid(problem, &chosen);
	assert_int_equal(ilp_greedy(problem, &chosen, NULL, &greedy, &report), KANON_OK);
	host_tick(&host);
	problem->time_limit = limit;
	kanon_pace_limit(&pace, problem, "test");
	host.allocations = 0;
	host.refuse_at = refuse_at;
	status = improve_priced(problem, &greedy, most, i % 4 == 0 ? 0.2 : 1,
							&(PricedInto){&chosen, &first, &model, &prices, NULL}, &pace);
	reached = host.allocations >= refuse_at;
	assert_true(status == KANON_OK || status == KANON_TOO_LARGE ||
				(refuse_at > 0 && status == KANON_NO_MEMORY));
	if (status == KANON_OK)
	{
		/* in units; a bound that is more than what greedy loses is none */
		assert_true(prices.bound <= greedy.cost * (1 + 1e-9));
		assert_true(first <= chosen.n);
		ilp_model_free(&model);
		ilp_prices_free(&host.env, &prices);
		kanon_instances_free(&host.env, &chosen);
	}
	kanon_release_free(problem, &greedy.release);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
	return reached;
}

static void
prices(void **state)
{
	static const size_t most[] = {1000000, 400, 200, 100, 40};
	static const double limits[] = {0.5, 1.5, 2.5, 4.5, 8.5, 16.5, 40.5};

	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		price_one(i, most[i % 5], INFINITY, 0);
		price_one(i, most[i % 2], limits[i % 7], 0);
	}
	for (int i = 0; i < 3; i++)
		for (uint64_t at = 1; at < 400 && price_one(i, most[i], INFINITY, at); at = next_failure(at))
			;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches),
		cmocka_unit_test(among_many),
		cmocka_unit_test(prices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
