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
#include "anytime/improve.h"
#include "program/lagrange.h"
#include "search/search.h"

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

/*
 * Cuts that are priced: the bound is at most the optimum, and what it rules out no optimum
 * needs; at times it is above that of the linear relaxation.
 */
static void
cuts_tighten(void **state)
{
	uint64_t random = 79;
	int raised = 0;
	int fixed = 0;

	(void) state;
	for (int round = 0; round < exact_cases(60); round++)
	{
		Host host;
		KanonProblem *problem = random_problem(&host, &random, round);
		KanonEnv *env = problem->env;
		KanonPace watch;
		KanonInstances instances;
		IlpModel model;
		IlpModel copy;
		IlpPrices prices = {0};
		IlpList none = {0};
		IlpAnswer answer = {0};
		KanonRelease release;
		KanonReport report = {0};
		IlpPlan plan = {.pace = &watch, .report = &report, .seed = 1, .effort = 1};
		double optimum;
		double relaxed;

		assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_OK);
		assert_true(report.proven);
		assert_int_equal(build(problem, INFINITY, &watch, &instances, &model), KANON_OK);
		optimum = report.cost / instances.unit + (double) release.dropped * instances.all_cost;
		optimum = instances.integral ? rint(optimum) : optimum;
		kanon_release_free(problem, &release);
		assert_int_equal(ilp_model_transpose(&model, &watch), KANON_OK);
		assert_int_equal(ilp_lagrange(&model, optimum, 2000, &prices, &watch), KANON_OK);
		relaxed = prices.bound;
		/* (the cost known may be any, that of the optimum or another) */
		assert_int_equal(
			ilp_tighten(&model, NULL, optimum + random_below(&random, 3), 300000, &prices, &watch), KANON_OK);
		assert_true(prices.bound >= relaxed && prices.bound <= optimum + 1e-6);
		raised += prices.bound > relaxed + 0.01 * optimum;
		for (uint32_t f = 0; f < model.nf; f++)
			fixed += prices.g[f] > 0 && prices.bound + prices.g[f] > optimum + 1e-3;
		assert_int_equal(ilp_fixed_copy(&model, &prices, optimum, &copy, &none, &watch), KANON_OK);
		assert_int_equal(ilp_solve(&copy, optimum, &plan, &answer), KANON_OK);
		assert_true(fabs(answer.cost - optimum) < 1e-3);
		kanon_free(env, answer.open.v);
		kanon_free(env, none.v);
		ilp_model_free(&copy);
		ilp_prices_free(env, &prices);
		ilp_model_free(&model);
		kanon_instances_free(env, &instances);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(raised > exact_cases(60) / 10 && fixed > 0);
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
		status = improve_priced(problem, &greedy, most, 1, &chosen, &first, &model, &prices, NULL, &watch);
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
		assert_int_equal(
			improve_priced(problem, &greedy, 1000000, 1, &chosen, &first, &model, &prices, NULL, &watch),
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

/*
 * Cuts priced where prices have chosen the instances: these have all their rows, the prices
 * stay where no other opens, and the bound is at most the optimum, at times above what
 * prices without cuts lead to.
 */
static void
cuts_in_a_box(void **state)
{
	uint64_t random = 80;
	int raised = 0;
	size_t left_out = 0;

	(void) state;
	for (int round = 0; round < exact_cases(150); round++)
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
		IlpBox box = {0};
		IlpResult greedy;
		KanonRelease release;
		KanonReport report = {0};
		double optimum;
		double relaxed;
		uint32_t first;

		assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_OK);
		assert_true(report.proven);
		kanon_release_free(problem, &release);
		assert_int_equal(build(problem, INFINITY, &watch, &all, &whole), KANON_OK);
		optimum = report.cost / all.unit;
		kanon_instances_grid(problem, &chosen);
		assert_int_equal(ilp_greedy(problem, &chosen, NULL, &greedy, &report), KANON_OK);
		assert_int_equal(
			improve_priced(problem, &greedy, 1000000, 1, &chosen, &first, &model, &prices, &box, &watch),
			KANON_OK);
		relaxed = prices.bound;
		assert_non_null(box.low);
		left_out += all.n - first;
		for (uint32_t f = 0; f < first; f++)
			assert_true(has_all(problem, &chosen, f));
		assert_int_equal(
			ilp_tighten(&model, &box, optimum + random_below(&random, 3), 300000, &prices, &watch), KANON_OK);
		assert_true(prices.bound >= relaxed && prices.bound <= optimum + 1e-6);
		raised += prices.bound > relaxed + 0.001 * optimum;
		for (uint32_t i = 0; i < model.m; i++)
			assert_true(prices.y[i] >= box.low[i] && prices.y[i] <= box.high[i]);
		ilp_box_free(env, &box);
		ilp_model_free(&model);
		ilp_prices_free(env, &prices);
		kanon_instances_free(env, &chosen);
		kanon_release_free(problem, &greedy.release);
		ilp_model_free(&whole);
		kanon_instances_free(env, &all);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(raised > 0);
	assert_true(left_out > 0);
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

/* ---- a team of members who take turns ---- */

typedef struct Turns
{
	Host *host;
	int members;
	void *block;
	SearchMember *member[KANON_MAX_MEMBERS];
	int rounds;
	int closed;
	bool leaves; /* wait says that somebody is gone */
} Turns;

static void *
turns_open(void *arg, size_t size, int *members)
{
	Turns *turns = arg;

	turns->block = malloc(size);
	/* (nothing there is counted on) */
	memset(turns->block, 0xa7, size);
	*members = turns->members;
	return turns->block;
}

static void
turns_start(void *arg)
{
	((Turns *) arg)->rounds++;
}

static bool
turns_wait(void *arg)
{
	Turns *turns = arg;

	for (int m = 1; m < turns->members; m++)
	{
		uint64_t before = turns->host->allocations;

		if (turns->member[m] == NULL)
			turns->member[m] = search_member_open(&turns->host->env, turns->block, m);
		if (turns->member[m] == NULL)
			return false;
		/* (it has next to no memory of its own for prices: what is refused is refused before the team is there) */
		assert_true(turns->host->allocations <= before + 2);
		search_member_work(turns->member[m]);
	}
	return !turns->leaves;
}

static void
turns_end(Turns *turns)
{
	for (int m = 1; m < turns->members; m++)
	{
		search_member_close(turns->member[m]);
		turns->member[m] = NULL;
	}
	free(turns->block);
	turns->block = NULL;
}

static void
turns_close(void *arg)
{
	((Turns *) arg)->closed++;
	turns_end(arg);
}

/* What a team is asked about, and the team. */
typedef struct Asked
{
	Host host;
	KanonProblem *problem;
	KanonInstances instances;
	IlpModel model;
	int most; /* members that are offered, of whom some are missing */
	Turns turns;
} Asked;

/* With so many rows more of one type. */
static void
ask(Asked *asked, uint64_t *random, int round, int64_t rows)
{
	KanonPace watch;

	memset(asked, 0, sizeof(*asked));
	asked->problem = random_problem(&asked->host, random, round);
	asked->most = 2 + (int) random_below(random, 4);
	asked->turns =
		(Turns){.host = &asked->host, .members = 1 + (int) random_below(random, (uint32_t) asked->most)};
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

/*
 * What a failure comes to.  A member who could not begin is gone for the others, and who has no memory, or a box
 * that finds none, is done without.
 */
static KanonStatus
came_to(const Host *host, const Failure *failure, KanonStatus status)
{
	if (failure->how == KANON_NO_MEMORY && host->allocations >= host->refuse_at)
		return KANON_NO_MEMORY;
	return status;
}

/* The bound by so many members. */
static KanonStatus
bound_together(IlpModel *model, Turns *turns, int most, int64_t *work, IlpPrices *prices)
{
	KanonTeam team = {turns, most, turns_open, turns_start, turns_wait, turns_close};
	KanonPace pace = {.env = model->env, .phase = "test", .rows_left = -1};
	KanonStatus status;

	memset(prices, 0, sizeof(*prices));
	model->env->pricing = most > 0 ? &team : NULL;
	status = ilp_bound(model, ilp_model_ceiling(model), 200, prices, &pace);
	model->env->pricing = NULL;
	*work = kanon_worked(&pace);
	return status;
}

/* Whoever takes part, bound and prices are the same to the last bit, by as much work; what ends it is told. */
static void
shared_by_a_team(void **state)
{
	uint64_t random = 80;
	int rounds = 0;

	(void) state;
	for (int round = 0; round < exact_cases(60); round++)
	{
		Asked asked;
		Turns *turns = &asked.turns;
		IlpModel *model = &asked.model;
		IlpPrices alone, together;
		int64_t work_alone, work;

		ask(&asked, &random, round, 0);
		assert_int_equal(bound_together(model, turns, 0, &work_alone, &alone), KANON_OK);
		assert_int_equal(turns->rounds, 0);
		assert_int_equal(bound_together(model, turns, asked.most, &work, &together), KANON_OK);
		assert_true(turns->block == NULL && (turns->closed > 0) == (turns->rounds > 0));
		rounds += turns->members > 1 ? turns->rounds : 0;
		assert_true(alone.bound == together.bound && alone.steps == together.steps && work == work_alone);
		assert_memory_equal(alone.y, together.y, model->m * sizeof(*alone.y));
		assert_memory_equal(alone.g, together.g, model->nf * sizeof(*alone.g));
		ilp_prices_free(asked.problem->env, &together);
		for (int how = 0; how < 2 && round < 3; how++)
		{
			Failure failure = {.how = how == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

			asked.host.refuse_at = 0;
			while (fails_again(&failure))
			{
				fail_at(&asked.host, &failure);
				failure.status = came_to(&asked.host, &failure,
										 bound_together(model, turns, asked.most, &work, &together));
				ilp_prices_free(asked.problem->env, &together);
				turns_end(turns);
			}
		}
		asked.host.refuse_at = asked.host.cancel_at = 0;
		if (turns->rounds > 0)
		{
			int closed = turns->closed;

			turns->leaves = true;
			assert_int_equal(bound_together(model, turns, asked.most, &work, &together), KANON_CANCELLED);
			ilp_prices_free(asked.problem->env, &together);
			assert_int_equal(turns->closed, closed);
			turns_end(turns);
		}
		ilp_prices_free(asked.problem->env, &alone);
		asked_free(&asked);
	}
	assert_true(rounds > 0 || ILP_TEAM_PAIRS > 1000);
}

/* What guides a search is everybody's: reduced costs in two rounds of three (to be freed), prices in one. */
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

/* A search by so many members. */
static KanonStatus
search_together(const IlpModel *model, const double *g, Turns *turns, int most, int64_t *work, double *cost,
				IlpList *open)
{
	KanonTeam team = {turns, most, turns_open, turns_start, turns_wait, turns_close};
	KanonPace pace = {.env = model->env, .phase = "test", .rows_left = -1};
	KanonStatus status;

	open->n = 0;
	model->env->pricing = most > 0 ? &team : NULL;
	status = ilp_search(model, 5, 4e5, 0, -INFINITY, g, cost, open, &pace);
	model->env->pricing = NULL;
	*work = kanon_worked(&pace);
	return status;
}

/*
 * Whoever takes part, a large search takes the same moves: the same classes by as much work.  A member
 * without memory is done without; whoever cancels or leaves ends it.
 */
static void
searched_by_a_team(void **state)
{
	uint64_t random = 81;
	int rounds = 0;
	int cases = exact_cases(40);

	(void) state;
	for (int round = 0; round < cases; round++)
	{
		Asked asked;
		Turns *turns = &asked.turns;
		const IlpModel *model = &asked.model;
		IlpList alone = {0};
		IlpList open = {0};
		double cost, same;
		int64_t work_alone, work;
		double *g;

		/* many rows alike make a table a large one */
		ask(&asked, &random, round, ILP_ONE_SEARCH_ROWS);
		g = guide(&asked, &random, round);
		assert_int_equal(search_together(model, g, turns, 0, &work_alone, &cost, &alone), KANON_OK);
		assert_int_equal(turns->rounds, 0);
		assert_int_equal(search_together(model, g, turns, asked.most, &work, &same, &open), KANON_OK);
		assert_int_equal(turns->closed, 1);
		rounds += turns->members > 1 ? turns->rounds : 0;
		assert_true(same == cost && work == work_alone && open.n == alone.n);
		assert_memory_equal(open.v, alone.v, open.n * sizeof(*open.v));
		for (int how = 0; how < 2 && round < 2; how++)
		{
			Failure failure = {.how = how == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

			asked.host.refuse_at = 0;
			while (fails_again(&failure))
			{
				fail_at(&asked.host, &failure);
				failure.status = search_together(model, g, turns, asked.most, &work, &same, &open);
				if (failure.status == KANON_OK)
					assert_true(same == cost && open.n == alone.n);
				failure.status = came_to(&asked.host, &failure, failure.status);
				turns_end(turns);
			}
		}
		asked.host.refuse_at = asked.host.cancel_at = 0;
		/* k that is large for the table: the moves of a round would be a large part of it */
		asked.model.k = 1;
		for (uint32_t i = 0; i < model->m; i++)
			asked.model.k += model->n[i] / ILP_SHARED_ROWS + 1;
		turns->closed = 0;
		assert_int_equal(search_together(model, g, turns, asked.most, &work, &same, &open), KANON_OK);
		assert_int_equal(turns->closed, 0);
		asked.model.k = asked.problem->k;
		if (turns->members > 1)
		{
			int closed = turns->closed;

			turns->leaves = true;
			assert_int_equal(search_together(model, g, turns, asked.most, &work, &same, &open),
							 KANON_CANCELLED);
			assert_int_equal(turns->closed, closed);
			turns_end(turns);
		}
		free(g);
		free(asked.model.price);
		kanon_free(asked.problem->env, alone.v);
		kanon_free(asked.problem->env, open.v);
		asked_free(&asked);
	}
	assert_true(rounds > 3 * cases);
}

/* Rounds of a search that is looked at after every third of them, and begun anew once. */
#define LOOKED_AT 3
#define ROUNDS 24

/* A search of so many rounds, settled after every `often`; where its units (their number) are at every third, and what that costs. */
static uint32_t
search_rounds(const Asked *asked, const double *g, const KanonTeam *team, int often, uint32_t **in,
			  double *cost)
{
	KanonEnv *env = asked->model.env;
	KanonPace pace = {.env = env, .phase = "test", .rows_left = -1};
	Search s = {.model = &asked->model,
				.env = env,
				.scratch = {.env = env},
				.pace = &pace,
				.g = g,
				.random = 5,
				.cost = asked->model.base};
	SearchShared shared;
	uint32_t *begin;

	assert_true(search_alloc(&s));
	assert_int_equal(search_start(&s), KANON_OK);
	begin = malloc(s.n * sizeof(*begin));
	search_where(&s, begin);
	env->pricing = team;
	assert_int_equal(search_shared_open(&shared, &s), KANON_OK);
	for (int round = 0; round < ROUNDS; round++)
	{
		/* hot, so that much moves */
		s.temperature = s.reach = 2 * s.scale;
		assert_int_equal(search_shared_round(&shared, &s), KANON_OK);
		if (round % often == 0 || round % LOOKED_AT == 0)
			assert_int_equal(search_shared_settle(&shared), KANON_OK);
		if (round % LOOKED_AT > 0)
			continue;
		in[round / LOOKED_AT] = malloc(s.n * sizeof(**in));
		search_where(&s, in[round / LOOKED_AT]);
		cost[round / LOOKED_AT] = s.cost;
		if (round / LOOKED_AT != ROUNDS / LOOKED_AT / 2)
			continue;
		for (uint32_t u = 0; u < s.n; u++)
			search_put(&s, u, begin[u]);
		shared.changed = true;
	}
	search_shared_close(&shared);
	env->pricing = NULL;
	kanon_scratch_free(&s.scratch);
	free(begin);
	return s.n;
}

/* How often a shared search is looked at changes nothing, neither alone nor in a team. */
static void
looked_at_between_rounds(void **state)
{
	uint64_t random = 83;
	int moved = 0;

	(void) state;
	for (int round = 0; round < exact_cases(40); round++)
	{
		Asked asked;
		KanonTeam team;
		uint32_t *in[3][ROUNDS / LOOKED_AT];
		uint32_t n;
		double *g;
		double cost[3][ROUNDS / LOOKED_AT];

		ask(&asked, &random, round, ILP_ONE_SEARCH_ROWS);
		g = guide(&asked, &random, round);
		team = (KanonTeam){&asked.turns, asked.most, turns_open, turns_start, turns_wait, turns_close};
		n = search_rounds(&asked, g, NULL, LOOKED_AT, in[0], cost[0]);
		search_rounds(&asked, g, NULL, 1, in[1], cost[1]);
		search_rounds(&asked, g, &team, 2, in[2], cost[2]);
		for (int at = 0; at < ROUNDS / LOOKED_AT; at++)
			for (int other = 1; other < 3; other++)
			{
				assert_true(cost[other][at] == cost[0][at]);
				assert_memory_equal(in[other][at], in[0][at], n * sizeof(uint32_t));
				moved += at > 0 && cost[0][at] != cost[0][at - 1];
			}
		for (int run = 0; run < 3; run++)
			for (int at = 0; at < ROUNDS / LOOKED_AT; at++)
				free(in[run][at]);
		free(g);
		free(asked.model.price);
		asked_free(&asked);
	}
	assert_true(moved > exact_cases(40));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(box_is_exact),
		cmocka_unit_test(box_lists_the_dearest),
		cmocka_unit_test(steps_go_on),
		cmocka_unit_test(cuts_tighten),
		cmocka_unit_test(prices_choose),
		cmocka_unit_test(rows_to_spare),
		cmocka_unit_test(cuts_in_a_box),
		cmocka_unit_test(ends_early),
		cmocka_unit_test(shared_by_a_team),
		cmocka_unit_test(searched_by_a_team),
		cmocka_unit_test(looked_at_between_rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
