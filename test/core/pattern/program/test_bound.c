/*
 * test_bound.c: the lower bound of the anytime method against exact optima, and
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
#include "pattern/improve/improve.h"
#include "pattern/search/search.h"

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
		assert_int_equal(ilp_box_around(&model, prices.y, reach, &box), KANON_OK);
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

/*
 * What an instance lists in a box: all types that can be among its dearest so many rows at some prices, and
 * no type that never is, each in the order given; where it never opens, nothing.
 */
static void
box_lists_the_dearest(void **state)
{
	uint64_t random = 78;
	int opened = 0;
	int left_out = 0;

	(void) state;
	for (int round = 0; round < exact_cases(2000); round++)
	{
		double price[12], low[12], high[12];
		double c[12];
		int64_t n[12];
		uint32_t types[12], kept[12];
		IlpCandidate cand[12];
		IlpModel model = {.k = 2 + (int64_t) random_below(&random, 4), .m = 12, .n = n, .c = c};
		IlpBox box = {low, high};
		double w = 1 + random_below(&random, 3);
		double reach = random_double(&random);
		double least_g = INFINITY;
		int64_t more =
			random_below(&random, 4) == 0 ? INT64_MAX : model.k * (1 + (int64_t) random_below(&random, 4));
		uint32_t ntypes = 1 + random_below(&random, 12);
		uint32_t nkept;
		uint32_t at = 0;

		for (uint32_t i = 0; i < 12; i++)
		{
			types[i] = i;
			n[i] = 1 + random_below(&random, 3);
			c[i] = 9;
			price[i] = 4 * random_double(&random);
			low[i] = price[i] - reach;
			high[i] = price[i] + reach;
		}
		nkept = ilp_box_sift(&model, &box, w, more, types, ntypes, cand, kept);
		/* g at the highest prices: all that gain, and the dearest that are lacking */
		{
			double g = 0;
			int64_t rows = 0;
			bool taken[12] = {false};

			for (;;)
			{
				uint32_t best = 12;
				int64_t take;

				for (uint32_t i = 0; i < ntypes; i++)
					if (!taken[i] && (best == 12 || high[i] > high[best]))
						best = i;
				if (best == 12 || (rows >= model.k && high[best] <= w))
					break;
				taken[best] = true;
				take = high[best] > w || n[best] < model.k - rows ? n[best] : model.k - rows;
				rows += take;
				g += (w - high[best]) * (double) take;
			}
			if (rows >= model.k)
				least_g = g;
		}
		if (least_g > -1e-9)
		{
			assert_true(nkept == 0 || least_g < 1e-9);
			continue;
		}
		opened++;
		for (uint32_t i = 0; i < ntypes; i++)
		{
			/* rows that are dearer whatever the prices */
			int64_t dearer = 0;
			bool listed;

			for (uint32_t j = 0; j < ntypes; j++)
				if (low[j] > high[i])
					dearer += n[j];
			listed = dearer < more || high[i] > w;
			left_out += !listed;
			assert_true((at < nkept && kept[at] == i) == listed);
			at += listed;
		}
		assert_int_equal(at, nkept);
	}
	assert_true(opened > exact_cases(200) && left_out > exact_cases(200));
}

/* Steps that go on from prices in a box: between what they were at last and the longest there are. */
static void
steps_go_on(void **state)
{
	IlpPrices prices = {0};

	(void) state;
	assert_true(ilp_steps_on(&prices) == 0);
	prices.lambda = 1;
	assert_true(ilp_steps_on(&prices) == 1);
	prices.lambda = 0.4;
	assert_true(ilp_steps_on(&prices) > 0.4 && ilp_steps_on(&prices) < 1);
	prices.lambda = 0.001;
	assert_true(ilp_steps_on(&prices) > 0.01 && ilp_steps_on(&prices) < 0.2);
}

/* What is compatible with its pattern and live, then the classes of a release. */
static void
check_chosen(const KanonProblem *problem, const KanonInstances *instances, uint32_t first,
			 const KanonRelease *release)
{
	uint32_t nclasses = 0;

	for (uint32_t c = 0; c < release->nclasses; c++)
		nclasses += !kanon_same(release->classes[c].pattern, kanon_pattern_all(problem->ncolumns));
	assert_int_equal(instances->n - first, nclasses);

	for (uint32_t f = 0; f < instances->n; f++)
	{
		KanonPattern shown = kanon_minus(kanon_pattern_all(problem->ncolumns), instances->pattern[f]);
		const uint32_t *type = instances->type + instances->start[f];
		uint32_t n = (uint32_t) (instances->start[f + 1] - instances->start[f]);
		int64_t rows = 0;

		for (uint32_t j = 0; j < n; j++)
		{
			rows += problem->rows[type[j]];
			assert_true(j == 0 || type[j - 1] < type[j]);
			for (int c = 0; c < problem->ncolumns; c++)
				assert_true(!kanon_has(shown, c) ||
							problem->columns[c].code[type[j]] == problem->columns[c].code[type[0]]);
		}
		assert_true(rows >= problem->k);
	}
}

/*
 * Instances that prices ask for: they are instances, the release's classes are among
 * them, the bound is at most the optimum, and mostly near that of all instances.
 */
static void
prices_choose(void **state)
{
	uint64_t random = 78;
	int near = 0;
	size_t left_out = 0;

	(void) state;
	for (int round = 0; round < exact_cases(200); round++)
	{
		Host host;
		KanonProblem *problem = random_problem(&host, &random, round);
		KanonEnv *env = problem->env;
		KanonPace watch;
		KanonInstances all;
		KanonInstances chosen;
		IlpModel whole;
		IlpModel model;
		IlpPrices prices = {0};
		IlpResult greedy;
		KanonRelease release;
		KanonReport report = {0};
		double optimum;
		uint32_t first;
		size_t most = round % 3 == 0 ? 200 : 1000000;
		KanonStatus status;

		assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_OK);
		assert_true(report.proven);
		kanon_release_free(problem, &release);
		assert_int_equal(build(problem, INFINITY, &watch, &all, &whole), KANON_OK);
		optimum = report.cost / all.unit;
		kanon_instances_grid(problem, &chosen);
		assert_int_equal(ilp_greedy(problem, &chosen, NULL, &greedy, &report), KANON_OK);
		status = improve_priced(problem, &greedy, most, 1,
								&(PricedInto){&chosen, &first, &model, &prices, NULL}, &watch);
		if (status == KANON_OK)
		{
			assert_true(prices.bound <= optimum + 1e-6);
			near += prices.bound >= optimum - 0.1 * (greedy.cost - optimum) - 0.05 * optimum;
			assert_int_equal(model.nf, chosen.n);
			assert_true(first <= chosen.n && chosen.start[first] <= most);
			left_out += all.start[all.n] > chosen.start[first] ? all.start[all.n] - chosen.start[first] : 0;
			check_chosen(problem, &chosen, first, &greedy.release);
			ilp_model_free(&model);
			ilp_prices_free(env, &prices);
			kanon_instances_free(env, &chosen);
		}
		else
			assert_true(status == KANON_TOO_LARGE && most == 200);
		kanon_release_free(problem, &greedy.release);
		ilp_model_free(&whole);
		kanon_instances_free(env, &all);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(near > exact_cases(200) * 2 / 3);
	assert_true(left_out > 1000);
}

/* Rows of all types that an instance lists, or, whole, of all that agree with it in what it shows. */
static int64_t
rows_listed(const KanonProblem *problem, const KanonInstances *instances, uint32_t f, bool whole)
{
	KanonPattern shown = kanon_minus(kanon_pattern_all(problem->ncolumns), instances->pattern[f]);
	const uint32_t *types = instances->type + instances->start[f];
	size_t n = whole ? problem->ntypes : instances->start[f + 1] - instances->start[f];
	int64_t rows = 0;

	for (size_t j = 0; j < n; j++)
	{
		uint32_t i = whole ? (uint32_t) j : types[j];
		bool fits = true;

		for (int c = 0; c < problem->ncolumns; c++)
			fits = fits && (!kanon_has(shown, c) ||
							problem->columns[c].code[i] == problem->columns[c].code[types[0]]);
		rows += fits ? problem->rows[i] : 0;
	}
	return rows;
}

/* Has an instance all rows that agree with it in what it shows? */
static bool
has_all(const KanonProblem *problem, const KanonInstances *instances, uint32_t f)
{
	return rows_listed(problem, instances, f, false) == rows_listed(problem, instances, f, true);
}

/*
 * A class is filled up with rows that the bound has no use for: the search has four times k of each
 * instance, where there are so many.
 */
static void
rows_to_spare(void **state)
{
	uint64_t random = 79;
	int more = 0;

	(void) state;
	for (int round = 0; round < exact_cases(50); round++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 200, 4, 4, 2 + round % 4, true);
		KanonPace watch;
		KanonInstances chosen;
		IlpModel model;
		IlpPrices prices = {0};
		IlpResult greedy;
		KanonReport report = {0};
		uint32_t first;

		kanon_pace_limit(&watch, problem, "test");
		kanon_instances_grid(problem, &chosen);
		assert_int_equal(ilp_greedy(problem, &chosen, NULL, &greedy, &report), KANON_OK);
		assert_int_equal(improve_priced(problem, &greedy, 1000000, 1,
										&(PricedInto){&chosen, &first, &model, &prices, NULL}, &watch),
						 KANON_OK);
		for (uint32_t f = 0; f < first; f++)
		{
			int64_t listed = rows_listed(problem, &chosen, f, false);

			assert_true(listed >= 4 * problem->k || has_all(problem, &chosen, f));
			more += listed >= 4 * problem->k;
		}
		ilp_model_free(&model);
		ilp_prices_free(problem->env, &prices);
		kanon_instances_free(problem->env, &chosen);
		kanon_release_free(problem, &greedy.release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(more > exact_cases(50));
}

/* Memory for few pairs, so that prices choose the instances. */
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

/* ---- a search of a large table ---- */

typedef struct Asked
{
	Host host;
	KanonProblem *problem;
	KanonInstances instances;
	IlpModel model;
} Asked;

/* With so many rows more of one type. */
static void
ask(Asked *asked, uint64_t *random, int round, int64_t rows)
{
	KanonPace watch;

	memset(asked, 0, sizeof(*asked));
	asked->problem = random_problem(&asked->host, random, round);
	assert_int_equal(build(asked->problem, INFINITY, &watch, &asked->instances, &asked->model), KANON_OK);
	asked->model.n[0] += rows;
	assert_int_equal(ilp_model_transpose(&asked->model, &watch), KANON_OK);
}

static void
asked_free(Asked *asked)
{
	ilp_model_free(&asked->model);
	kanon_instances_free(asked->problem->env, &asked->instances);
	assert_int_equal(asked->host.blocks, 0);
	problem_free(asked->problem);
}

/* What guides a search: reduced costs in two rounds of three (to be freed), prices in one. */
static double *
guide(Asked *asked, uint64_t *random, int round)
{
	IlpModel *model = &asked->model;
	double *g = NULL;

	if (round % 3 > 0)
	{
		g = calloc(model->nf, sizeof(*g));
		for (uint32_t f = 0; f < model->nf; f++)
			g[f] = 2 * random_double(random) - 1;
	}
	if (round % 3 > 1)
	{
		model->price = calloc(model->m, sizeof(*model->price));
		for (uint32_t i = 0; i < model->m; i++)
			model->price[i] = model->c[i] * random_double(random);
	}
	return g;
}

static KanonStatus
search_large(const IlpModel *model, const double *g, double work, double *cost, IlpList *open)
{
	KanonPace pace = {.env = model->env, .phase = "test", .rows_left = -1};

	open->n = 0;
	return ilp_search(model, &(SearchPlan){5, work, -INFINITY, g}, cost, open, &pace);
}

/*
 * Of a large table rows rest, and the best state is looked at from time to time: what a search says of its classes is
 * so, it is the same each time, no bound is above it, and more work is hardly ever worse; each failure is told.
 */
static void
large_tables_are_searched(void **state)
{
	uint64_t random = 81;
	int cases = exact_cases(40);
	double little = 0, much = 0, bounds = 0;

	(void) state;
	for (int round = 0; round < cases; round++)
	{
		Asked asked;
		IlpModel *model = &asked.model;
		KanonPace pace = {.env = &asked.host.env, .phase = "test", .rows_left = -1};
		IlpPrices prices = {0};
		IlpList open = {0}, again = {0};
		double cost, same, first, assigned;
		KanonFlow *flows;
		size_t nflows;
		double *g;

		/* many rows alike make a table a large one */
		ask(&asked, &random, round, ILP_ONE_SEARCH_ROWS);
		g = guide(&asked, &random, round);
		assert_int_equal(ilp_bound(model, ilp_model_ceiling(model), 200, &prices, &pace), KANON_OK);
		assert_int_equal(search_large(model, g, 2e4, &first, &open), KANON_OK);
		assert_int_equal(search_large(model, g, 4e5, &cost, &open), KANON_OK);
		assert_int_equal(search_large(model, g, 4e5, &same, &again), KANON_OK);
		assert_true(same == cost && open.n == again.n);
		assert_memory_equal(open.v, again.v, open.n * sizeof(*open.v));
		assert_int_equal(ilp_assign(model, &open, &assigned, &flows, &nflows, &pace), KANON_OK);
		assert_true(fabs(assigned - cost) <= 1e-9 * (1 + cost));
		assert_true(prices.bound <= cost * (1 + 1e-9) + 1e-9 &&
					cost <= ilp_model_ceiling(model) * (1 + 1e-9));
		kanon_free(&asked.host.env, flows);
		little += first;
		much += cost;
		bounds += prices.bound;
		for (int how = 0; how < 2 && round < 2; how++)
		{
			Failure failure = {.how = how == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

			while (fails_again(&failure))
			{
				asked.host.refuse_at = asked.host.cancel_at = 0;
				fail_at(&asked.host, &failure);
				failure.status = search_large(model, g, 2e4, &same, &again);
			}
			asked.host.refuse_at = asked.host.cancel_at = 0;
		}
		free(g);
		free(model->price);
		ilp_prices_free(&asked.host.env, &prices);
		kanon_free(&asked.host.env, open.v);
		kanon_free(&asked.host.env, again.v);
		asked_free(&asked);
	}
	print_message("large tables: %g, with more work %g, bound %g\n", little, much, bounds);
	assert_true(much <= little);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(box_is_exact),
		cmocka_unit_test(box_lists_the_dearest),
		cmocka_unit_test(steps_go_on),
		cmocka_unit_test(prices_choose),
		cmocka_unit_test(rows_to_spare),
		cmocka_unit_test(ends_early),
		cmocka_unit_test(large_tables_are_searched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
