/*
 * test_search.c: the search keeps the best that it has seen, and what its parts find; how a class
 * gets a value that it lacks; the grid of costs; the best of exact and anytime method is the exact
 * one where it can be.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pattern/improve/improve.h"
#include "pattern/program/program_model.h"
#include "pattern/search/search.h"
#include "diverse.h"
#include "exact.h"

#define TABLES 40

/* What a search with so much work finds: the cost itself, which must be that of its classes. */
static double
search(const IlpModel *model, uint64_t seed, double work, KanonPace *watch, IlpList *open)
{
	double cost = INFINITY;
	double assigned;
	size_t nflows;

	open->n = 0;
	assert_int_equal(ilp_search(model, &(SearchPlan){seed, work, -INFINITY, NULL}, &cost, open, watch),
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
	double sum[3] = {0};

	(void) state;
	for (int table = 0; table < tables; table++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 35, 3, 4, 2 + table % 3, false);
		KanonReport report = {0};
		KanonRelease release;
		KanonPace watch;
		KanonInstances instances;
		IlpModel model;
		IlpList open = {0};
		double optimum, cost;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_OK);
		assert_true(report.proven);
		optimum = report.cost;
		kanon_release_free(problem, &release);
		kanon_pace_limit(&watch, problem, "test");
		assert_int_equal(
			kanon_instances_build(problem, KANON_INSTANCES_CLOSED, INFINITY, 1 << 20, &watch, &instances),
			KANON_OK);
		assert_int_equal(ilp_model_build(problem, &instances, false, &watch, &model), KANON_OK);
		assert_int_equal(ilp_model_transpose(&model, &watch), KANON_OK);
		cost = search(&model, 1 + (uint64_t) table, 4e5, &watch, &open);
		assert_true(cost >= optimum - 1e-6);
		found += cost < optimum + 1e-6;
		/* as soon as it is there it ends, and that is what it returns */
		if (cost < optimum + 1e-6)
		{
			double early = INFINITY;

			open.n = 0;
			assert_int_equal(ilp_search(&model, &(SearchPlan){1 + (uint64_t) table, 4e5, optimum, NULL},
										&early, &open, &watch),
							 KANON_OK);
			assert_true(early <= optimum + 1e-6);
		}
		for (int w = 0; w < 3; w++)
			sum[w] += search(&model, 3, 1000 << 2 * w, &watch, &open) / optimum;
		kanon_free(&host.env, open.v);
		ilp_model_free(&model);
		kanon_instances_free(&host.env, &instances);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_int_equal(found, tables);
	/* as measured: a search that loses its best on the way is worse */
	if (tables == TABLES)
		assert_true(sum[0] < 43.2 && sum[1] < 42.73 && sum[2] < 41.02);
}

/*
 * Of a large table rows rest: those of such a type that do not may still help others, and nearly always what
 * is found is the optimum, which ends the search.
 */
static void
many_rows_rest(void **state)
{
	uint64_t random = 41;
	int tables = exact_cases(TABLES);
	int found = 0;
	int helped = 0;

	(void) state;
	for (int table = 0; table < tables; table++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 30, 3, 4, 2 + table % 3, false);
		int64_t *rows = (int64_t *) problem->rows;
		KanonReport report = {0};
		KanonRelease release;
		KanonPace watch;
		KanonInstances instances;
		IlpModel model;
		IlpList open = {0};
		double cost;
		double early = INFINITY;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		for (uint32_t i = 0; i < problem->ntypes; i++)
			if (i == 0 || random_below(&random, 3) == 0)
				rows[i] =
					i == 0 ? ILP_ONE_SEARCH_ROWS : 2 * problem->k - 1 + (int64_t) random_below(&random, 40);
		assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_OK);
		assert_true(report.proven);
		for (size_t j = 0; j < release.nflows; j++)
			helped += rows[release.flows[j].type] >= 2 * problem->k &&
					  release.flows[j].rows < rows[release.flows[j].type];
		kanon_release_free(problem, &release);
		kanon_pace_limit(&watch, problem, "test");
		assert_int_equal(
			kanon_instances_build(problem, KANON_INSTANCES_CLOSED, INFINITY, 1 << 20, &watch, &instances),
			KANON_OK);
		assert_int_equal(ilp_model_build(problem, &instances, false, &watch, &model), KANON_OK);
		assert_int_equal(ilp_model_transpose(&model, &watch), KANON_OK);
		cost = search(&model, 1 + (uint64_t) table, 1e6, &watch, &open);
		assert_true(cost >= report.cost - 1e-6);
		if (cost < report.cost + 1e-6)
		{
			found++;
			open.n = 0;
			assert_int_equal(ilp_search(&model, &(SearchPlan){1 + (uint64_t) table, 1e6, report.cost, NULL},
										&early, &open, &watch),
							 KANON_OK);
			assert_true(early <= report.cost + 1e-6);
		}
		kanon_free(&host.env, open.v);
		ilp_model_free(&model);
		kanon_instances_free(&host.env, &instances);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	/* (some take more than k rows from a type) */
	assert_true(found * 10 >= tables * 9 && helped > 0);
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

/* Where the model is small the exact method has the word, and its proof. */
static void
best_is_exact(void **state)
{
	uint64_t random = 8;
	int unproven = 0;

	(void) state;
	/* (all of them: few are unproven) */
	for (int table = 0; table < 20; table++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 50, 4, 4, 2 + table % 3, false);
		KanonReport best, alone;
		KanonRelease release;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		/* too little for the search to prove it, but enough nodes for the exact method */
		problem->effort = 0.01;
		assert_int_equal(kanon_solve_best(problem, &release, &best), KANON_OK);
		kanon_release_free(problem, &release);
		assert_true(best.proven);
		assert_int_equal(improve_from(problem, NULL, &release, &alone), KANON_OK);
		kanon_release_free(problem, &release);
		unproven += !alone.proven;
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(unproven > 0);
}

static void
same_result(const KanonRelease *one, const KanonReport *report, const KanonRelease *other,
			const KanonReport *again)
{
	assert_true(report->cost == again->cost);
	assert_true(report->lower_bound == again->lower_bound);
	assert_int_equal(report->nodes, again->nodes);
	assert_int_equal(one->nflows, other->nflows);
	for (size_t f = 0; f < one->nflows; f++)
	{
		assert_int_equal(one->flows[f].type, other->flows[f].type);
		assert_int_equal(one->flows[f].class_, other->flows[f].class_);
		assert_int_equal(one->flows[f].rows, other->flows[f].rows);
	}
}

/* With what was prepared for both, each does what it does alone. */
static void
starts_prepared(void **state)
{
	uint64_t random = 5;

	(void) state;
	for (int table = 0; table < exact_cases(20); table++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 60, 4, 4, 2 + table % 3, false);
		IlpStart start = {0};
		KanonPace pace;
		KanonRelease alone, prepared;
		KanonReport report, again;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		problem->effort = 0.02;
		kanon_pace_limit(&pace, problem, "test");
		assert_int_equal(kanon_instances_build(problem, KANON_INSTANCES_CLOSED, INFINITY, 1000000, &pace,
											   &start.instances),
						 KANON_OK);
		assert_true(start.instances.steps > 0);
		assert_int_equal(ilp_greedy(problem, &start.instances, NULL, &start.greedy, &report), KANON_OK);
		assert_int_equal(improve_from(problem, NULL, &alone, &report), KANON_OK);
		assert_int_equal(improve_from(problem, &start, &prepared, &again), KANON_OK);
		same_result(&alone, &report, &prepared, &again);
		kanon_release_free(problem, &alone);
		kanon_release_free(problem, &prepared);
		assert_int_equal(ilp_solve_limited(problem, NULL, &alone, &report, 0), KANON_OK);
		assert_int_equal(ilp_solve_limited(problem, &start, &prepared, &again, 0), KANON_OK);
		same_result(&alone, &report, &prepared, &again);
		kanon_release_free(problem, &alone);
		kanon_release_free(problem, &prepared);
		kanon_release_free(problem, &start.greedy.release);
		kanon_instances_free(&host.env, &start.instances);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* A host that counts how often it is told that instances are being found. */
static int instances_told;
static bool (*host_poll)(void *arg, const KanonProgress *progress);

static bool
count_instances(void *arg, const KanonProgress *progress)
{
	instances_told += strcmp(progress->phase, "instances") == 0;
	return host_poll(arg, progress);
}

/* `best` goes from one method to the other without finding the instances again. */
static void
best_prepares_once(void **state)
{
	uint64_t random = 8;
	Host host;
	KanonProblem *problem = exact_problem(&host, &random, 50, 4, 4, 3, false);
	KanonReport report;
	KanonRelease release;

	(void) state;
	host_poll = host.env.poll;
	host.env.poll = count_instances;
	instances_told = 0;
	problem->effort = 0.01;
	problem->time_limit = 1e-9; /* the exact method ends at once, and leaves it to the other */
	assert_int_equal(kanon_solve_best(problem, &release, &report), KANON_OK);
	kanon_release_free(problem, &release);
	assert_int_equal(instances_told, 2); /* once when they are there, and once by the other, late */
	problem_free(problem);
}

/* ---- values that a class lacks ---- */

/* Every row in one of its instances, or at its fallback, by chance. */
static void
place_rows(Search *s, uint64_t *random)
{
	const IlpModel *model = s->model;

	for (uint32_t u = 0; u < s->n; u++)
	{
		size_t first = model->opt_start[s->unit[u].type];
		uint32_t options = (uint32_t) (model->opt_start[s->unit[u].type + 1] - first);
		uint32_t option = random_below(random, options + 1);

		s->best[u] = option == options ? NONE : model->opt[first + option];
		search_put(s, u, s->best[u]);
	}
}

/* What a scan of f leaves (moves.c): who fits it, sorted by class. */
static void
meet(Search *s, uint32_t f)
{
	const IlpModel *model = s->model;

	s->stamp++;
	s->ntouched = s->nloose = s->nlog = s->nfreed = 0;
	for (size_t j = model->start[f]; j < model->start[f + 1]; j++)
	{
		s->type[model->type[j]].within = s->stamp;
		for (size_t u = s->type[model->type[j]].first; u < s->type[model->type[j] + 1].first; u++)
		{
			uint32_t b = s->unit[u].in;

			if (b == NONE)
				s->loose[s->nloose++] = (uint32_t) u;
			if (b == NONE || b == f)
				continue;
			if (s->instance[b].stamp != s->stamp)
			{
				s->instance[b].stamp = s->stamp;
				s->instance[b].chain = NONE;
				s->touched[s->ntouched++] = b;
			}
			s->unit[u].along = s->instance[b].chain;
			s->instance[b].chain = (uint32_t) u;
		}
	}
}

/* Rows of f that have a value. */
static int
rows_of(const Search *s, uint32_t f, uint32_t value)
{
	int rows = 0;

	for (uint32_t u = 0; u < s->n; u++)
		rows += s->unit[u].in == f && s->rules.value[s->unit[u].type] == value;
	return rows;
}

static int
values_of(const Search *s, uint32_t f, uint32_t values)
{
	int n = 0;

	for (uint32_t v = 0; v < values; v++)
		n += rows_of(s, f, v) > 0;
	return n;
}

static bool
fits_in(const Search *s, uint32_t u, uint32_t f)
{
	const IlpModel *model = s->model;

	for (size_t p = model->opt_start[s->unit[u].type]; p < model->opt_start[s->unit[u].type + 1]; p++)
		if (model->opt[p] == f)
			return true;
	return false;
}

/* Can two rows change places, so that f has a value more, by the definition? */
static bool
can_exchange(const Search *s, uint32_t f)
{
	for (uint32_t u = 0; u < s->n; u++)
		for (uint32_t v = 0; v < s->n; v++)
			if (s->unit[v].in == f && s->unit[u].in != f && s->unit[u].in != NONE && fits_in(s, u, f) &&
				fits_in(s, v, s->unit[u].in) && rows_of(s, f, s->rules.value[s->unit[u].type]) == 0 &&
				rows_of(s, f, s->rules.value[s->unit[v].type]) > 1)
				return true;
	return false;
}

/*
 * A class that has one value too few gets one where an exchange could give it one, and stays as
 * large; all of it is undone.  (A row that goes in exchange is not the class's only one of its value.)
 */
static void
gets_the_value_it_lacks(void **state)
{
	uint64_t random = 5;
	int asked = 0;

	(void) state;
	for (int table = 0; table < 25; table++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 24, 4, 3 + (uint32_t) table % 2, 3, false);
		Search s = {.env = problem->env, .scratch = {.env = problem->env}};
		uint32_t values;
		KanonInstances instances;
		KanonPace pace;
		IlpModel model;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		diverse_ask(problem, 3);
		values = problem->extra[diverse_rules[0].column].distinct;
		kanon_pace_limit(&pace, problem, "test");
		assert_int_equal(
			kanon_instances_build(problem, KANON_INSTANCES_ALL, INFINITY, 1 << 20, &pace, &instances),
			KANON_OK);
		assert_int_equal(ilp_model_build(problem, &instances, false, &pace, &model), KANON_OK);
		assert_int_equal(ilp_model_transpose(&model, &pace), KANON_OK);
		s.problem = problem;
		s.model = &model;
		s.pace = &pace;
		s.random = 1;
		s.rules.values_needed = 3;
		s.rules.values_alone = true;
		s.rules.value = problem->extra[diverse_rules[0].column].code;
		assert_true(search_alloc(&s));
		for (uint32_t u = 0; u < s.n; u++)
			s.unit[u].in = NONE;
		s.rules.types = kanon_take(&s.scratch, s.n, sizeof(uint32_t));
		s.rules.counts = kanon_take(&s.scratch, s.n, sizeof(int64_t));
		s.rules.seen = kanon_take0(&s.scratch, values, sizeof(uint32_t));
		s.rules.met = kanon_take0(&s.scratch, values, sizeof(uint32_t));
		for (int round = 0; round < 10; round++)
		{
			place_rows(&s, &random);
			for (uint32_t f = 0; f < model.nf; f++)
			{
				bool ok = true;
				bool done;

				if (s.instance[f].load < model.k || values_of(&s, f, values) != 2)
					continue;
				meet(&s, f);
				if (!can_exchange(&s, f))
					continue;
				done = search_complete(&s, f, &ok);
				asked++;
				assert_true(ok && done);
				assert_int_equal(values_of(&s, f, values), 3);
				assert_true(s.instance[f].load >= model.k);
				search_undo(&s);
				for (uint32_t u = 0; u < s.n; u++)
					assert_int_equal(s.unit[u].in, s.best[u]);
			}
		}
		kanon_scratch_free(&s.scratch);
		ilp_model_free(&model);
		kanon_instances_free(&host.env, &instances);
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(asked > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_best),
		cmocka_unit_test(many_rows_rest),
		cmocka_unit_test(grid),
		cmocka_unit_test(best_is_exact),
		cmocka_unit_test(starts_prepared),
		cmocka_unit_test(best_prepares_once),
		cmocka_unit_test(gets_the_value_it_lacks),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
