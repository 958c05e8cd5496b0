/*
 * test_search.c: the search keeps the best that it has seen, and what its parts find; the
 * grid of costs; the best of exact and anytime solver is the exact one where it can be.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "anytime/improve.h"
#include "program/flow.h"
#include "search/search.h"
#include "exact.h"

#define TABLES 40

/* What a search with so much work finds: the cost itself, which must be that of its classes. */
static double
search(const IlpModel *model, uint64_t seed, double work, double parts, const IlpList *start,
	   KanonWatch *watch, IlpList *open)
{
	double cost = INFINITY;
	double assigned;
	size_t nflows;

	open->n = 0;
	assert_int_equal(ilp_search(model, seed, work, parts, -INFINITY, NULL, start, &cost, open, watch),
					 KANON_OK);
	assert_int_equal(ilp_assign(model, open, &assigned, NULL, &nflows, watch), KANON_OK);
	assert_true(fabs(assigned - cost) < 1e-6);
	return cost;
}

/*
 * Long enough, each search finds the optimum, and never does better; a short one comes as
 * near as it did when this was measured.
 */
static void
keeps_the_best(void **state)
{
	uint64_t random = 31;
	int tables = exact_cases(TABLES);
	int found = 0;
	int by_parts = 0;
	int gone_on = 0;
	double sum[3] = {0};

	(void) state;
	for (int table = 0; table < tables; table++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 35, 3, 4, 2 + table % 3, false);
		KanonReport report = {0};
		KanonRelease release;
		KanonWatch watch;
		KanonInstances instances;
		IlpModel model;
		IlpList open = {0};
		IlpList next = {0};
		double optimum, cost, short_cost;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_OK);
		assert_true(report.proven);
		optimum = report.cost;
		kanon_release_free(problem, &release);
		kanon_watch_init(&watch, problem, "test");
		assert_int_equal(kanon_instances_build(problem, KANON_INSTANCES_CLOSED, INFINITY, 1 << 20, &watch,
											   &instances, &report),
						 KANON_OK);
		assert_int_equal(ilp_model_build(problem, &instances, false, &watch, &model), KANON_OK);
		assert_int_equal(ilp_model_transpose(&model, &watch), KANON_OK);
		cost = search(&model, 1 + (uint64_t) table, 4e5, 0, NULL, &watch, &open);
		assert_true(cost >= optimum - 1e-6);
		found += cost < optimum + 1e-6;
		/* as soon as it is there it ends, and that is what it returns */
		if (cost < optimum + 1e-6)
		{
			double early = INFINITY;

			open.n = 0;
			assert_int_equal(
				ilp_search(&model, 1 + (uint64_t) table, 4e5, 0, optimum, NULL, NULL, &early, &open, &watch),
				KANON_OK);
			assert_true(early <= optimum + 1e-6);
		}
		for (int w = 0; w < 3; w++)
			sum[w] += search(&model, 3, 1000 << 2 * w, 0, NULL, &watch, &open) / optimum;
		short_cost = search(&model, 1 + (uint64_t) table, 3000, 0, NULL, &watch, &open);
		/* hot or warm, what it starts from is not lost */
		cost = search(&model, 7, 20000, 0, &open, &watch, &next);
		assert_true(cost >= optimum - 1e-6);
		gone_on += cost < short_cost - 1e-6;
		cost = search(&model, 1 + (uint64_t) table, 3000, 1e6, NULL, &watch, &open);
		assert_true(cost <= short_cost + 1e-6 && cost >= optimum - 1e-6);
		by_parts += cost < optimum + 1e-6;
		kanon_free(&host.env, open.v);
		kanon_free(&host.env, next.v);
		ilp_model_free(&model);
		kanon_instances_free(&host.env, &instances);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_int_equal(found, tables);
	assert_int_equal(by_parts, tables);
	assert_true(gone_on > tables / 4);
	/* as measured: a search that loses its best on the way is worse */
	if (tables == TABLES)
		assert_true(sum[0] < 43.2 && sum[1] < 42.73 && sum[2] < 41.02);
}

/* Costs are multiples of the largest unit, unless the sums get too large for that. */
static void
grid(void **state)
{
	static const struct
	{
		double weight[3];
		int64_t rows;
		bool integral;
		double unit;
	} cases[] = {
		{{1, 2, 3}, 10, true, 1},
		{{1, 2.5, 0.5}, 10, true, 0.5},
		{{0, 6, 4}, 10, true, 2},
		{{0, 0, 0}, 10, false, 1},
		{{1, 1, 1}, INT64_C(300000000000), true, 1},
		{{1, 1, 1}, INT64_C(400000000000), false, 1},
		{{1, 2, 5}, INT64_C(200000000000), false, 5},
		{{1, M_PI, 2}, 10, false, M_PI},
	};
	static const uint32_t code[] = {0, 0, 0, 1, 1, 1};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		Host host;
		KanonProblem *problem;
		KanonInstances instances = {0};

		host_init(&host);
		problem = problem_from_codes(&host, code, 2, 3, 2);
		for (int c = 0; c < 3; c++)
			((KanonColumn *) problem->columns)[c].weight = cases[i].weight[c];
		((int64_t *) problem->rows)[0] = cases[i].rows - 1;
		kanon_instances_grid(problem, &instances);
		assert_int_equal(instances.integral, cases[i].integral);
		assert_true(fabs(instances.unit - cases[i].unit) < 1e-9);
		problem_free(problem);
	}
}

/* Where the model is small the exact solver has the word, and its proof. */
static void
best_is_exact(void **state)
{
	uint64_t random = 8;
	int unproven = 0;

	(void) state;
	for (int table = 0; table < exact_cases(20); table++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 50, 4, 4, 2 + table % 3, false);
		KanonReport best, alone;
		KanonRelease release;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		/* too little for the search to prove it, but enough nodes for the exact solver */
		problem->effort = 0.01;
		assert_int_equal(kanon_solve_best(problem, &release, &best), KANON_OK);
		kanon_release_free(problem, &release);
		assert_true(best.proven);
		assert_int_equal(improve_traced(problem, &release, &alone, NULL), KANON_OK);
		kanon_release_free(problem, &release);
		unproven += !alone.proven;
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(unproven > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_best),
		cmocka_unit_test(grid),
		cmocka_unit_test(best_is_exact),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
