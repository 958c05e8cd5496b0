/*
 * test_bound.c: the lower bound of the anytime solver against exact optima, and
 * what a box of prices leaves of a model against the whole.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"
#include "program/bound.h"

static double
random_double(uint64_t *random)
{
	return (double) random_below(random, 1000001) / 1e6;
}

static KanonProblem *
random_problem(Host *host, uint64_t *random, int round)
{
	KanonProblem *problem =
		exact_problem(host, random, 5 + random_below(random, 40), 2 + (int) random_below(random, 4), 3,
					  2 + random_below(random, 4), true);

	if (round % 2)
		((KanonColumn *) problem->columns)[0].weight = 0.37;
	return problem;
}

/* The instances up to a cost, and the model of them. */
static KanonStatus
build(const KanonProblem *problem, double max_cost, KanonPace *watch, KanonInstances *instances,
	  IlpModel *model)
{
	KanonStatus status;

	kanon_pace_limit(watch, problem, "test");
	status = kanon_instances_build(problem, KANON_INSTANCES_CLOSED, max_cost, 1000000, watch, instances);
	return status != KANON_OK ? status : ilp_model_build(problem, instances, false, watch, model);
}

/* At all prices in a box the part made for it has the bound of the whole. */
static void
box_is_exact(void **state)
{
	uint64_t random = 77;
	size_t left_out = 0;

	(void) state;
	for (int round = 0; round < exact_cases(300); round++)
	{
		Host host;
		KanonProblem *problem = random_problem(&host, &random, round);
		KanonEnv *env = problem->env;
		KanonPace watch;
		KanonInstances instances;
		IlpModel model;
		IlpModel part;
		IlpBox box = {0};
		IlpPrices prices = {0};
		IlpPrices own = {0};
		double reach = random_double(&random);

		assert_int_equal(build(problem, INFINITY, &watch, &instances, &model), KANON_OK);
		prices.y = kanon_alloc(env, model.m, sizeof(*prices.y));
		own.y = kanon_alloc(env, model.m, sizeof(*own.y));
		for (uint32_t i = 0; i < model.m; i++)
			prices.y[i] = model.c[i] * random_double(&random);
		assert_int_equal(ilp_box_around(&model, prices.y, reach, instances.all_cost, &box), KANON_OK);
		assert_int_equal(ilp_box_model(&model, &box, &part, &watch), KANON_OK);
		left_out += model.start[model.nf] - part.start[part.nf];
		for (int point = 0; point < 10; point++)
		{
			for (uint32_t i = 0; i < model.m; i++)
			{
				double at = point == 0 ? 0 : point == 1 ? 1 : random_double(&random);

				prices.y[i] = box.low[i] + at * (box.high[i] - box.low[i]);
				own.y[i] = prices.y[i];
			}
			assert_int_equal(ilp_price(&model, &prices, &watch), KANON_OK);
			assert_int_equal(ilp_price(&part, &own, &watch), KANON_OK);
			assert_true(fabs(prices.bound - own.bound) < 1e-9);
		}
		ilp_prices_free(env, &prices);
		ilp_prices_free(env, &own);
		ilp_box_free(env, &box);
		ilp_model_free(&part);
		ilp_model_free(&model);
		kanon_instances_free(env, &instances);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(left_out > 1000);
}

/* The bound with every row's fallback as cheap as the instances that are missing. */
static double
cheap_bound(const IlpModel *model, const KanonInstances *instances, double upper, KanonPace *watch)
{
	IlpModel cheap = *model;
	IlpPrices prices = {0};
	double bound;

	cheap.base *= instances->max_cost / instances->all_cost;
	cheap.c = malloc(model->m * sizeof(*cheap.c));
	for (uint32_t i = 0; i < model->m; i++)
		cheap.c[i] = instances->max_cost;
	assert_int_equal(ilp_lagrange(&cheap, upper, 400, &prices, watch), KANON_OK);
	bound = prices.bound;
	ilp_prices_free(model->env, &prices);
	free(cheap.c);
	return bound;
}

/*
 * The bound is at most the optimum, whatever instances are missing, does not fall
 * when it is sought again, and often is better than if they were not looked at.
 */
static void
missing_are_found(void **state)
{
	uint64_t random = 78;
	int better = 0;

	(void) state;
	for (int round = 0; round < exact_cases(200); round++)
	{
		Host host;
		KanonProblem *problem = random_problem(&host, &random, round);
		KanonEnv *env = problem->env;
		KanonPace watch;
		KanonInstances instances;
		IlpModel model;
		IlpPrices prices = {0};
		IlpMissing missing = {.problem = problem, .instances = &instances};
		KanonRelease release;
		KanonReport report;
		uint32_t *map = malloc(problem->ntypes * sizeof(*map));
		double optimum;
		double cheap;

		kanon_instances_grid(problem, &instances);
		assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_OK);
		assert_true(report.proven);
		optimum = report.cost / instances.unit;
		kanon_release_free(problem, &release);
		assert_int_equal(
			build(problem, instances.all_cost * random_double(&random), &watch, &instances, &model),
			KANON_OK);
		assert_int_equal(ilp_model_merge(&model, map, &watch), KANON_OK);
		assert_int_equal(ilp_model_transpose(&model, &watch), KANON_OK);
		missing.map = map;
		cheap = cheap_bound(&model, &instances, optimum, &watch);
		for (int again = 0; again < 2; again++)
		{
			double before = prices.bound;

			assert_int_equal(ilp_bound(&model, &missing, optimum, 60, &prices, &watch), KANON_OK);
			assert_true(prices.bound <= optimum + 1e-6);
			assert_true(again == 0 || prices.bound >= before - 1e-9);
		}
		better += prices.bound > cheap + 1e-6;
		ilp_prices_free(env, &prices);
		ilp_model_free(&model);
		kanon_instances_free(env, &instances);
		free(map);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(better > exact_cases(200) / 3);
}

/* Memory for few pairs, so that the costly instances are missing. */
static KanonProblem *
scarce_problem(Host *host, int variant)
{
	uint64_t random = 11;
	KanonProblem *problem = exact_problem(host, &random, 40, 4, 3, 2, false);

	(void) variant;
	problem->seed = 1;
	problem->effort = 0.003;
	host->env.foreign = 4000;
	return problem;
}

static void
ends_early(void **state)
{
	(void) state;
	exact_refuse_each(scarce_problem, 0, kanon_solve_improve, true);
	exact_cancel_each(scarce_problem, 0, kanon_solve_improve);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(box_is_exact),
		cmocka_unit_test(missing_are_found),
		cmocka_unit_test(ends_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
