/*
 * test_time.c: what comes out when time is up, wherever that is.
 *
 * Here time passes by one second each time that somebody looks at the clock, so that what runs
 * out of time does so at the same place everywhere.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "exact.h"
#include "freeform/freeform_work.h"
#include "subtree/subtree.h"
#include "itemsets/transactions.h"
#include "unclassed.h"

#define TABLES 4

static const double limits[] = {0,    0.5,  1.5,  2.5,   3.5,   4.5,   6.5,   8.5,    11.5,    15.5,
								21.5, 34.5, 55.5, 100.5, 200.5, 400.5, 800.5, 1600.5, INFINITY};

#define LIMITS (int) (sizeof(limits) / sizeof(limits[0]))

/*
 * Solved within each limit: a release or a reason why there is none, and what is proven holds of
 * what is found with more time.
 */
static void
solve_each(ExactMake make, int i, KanonSolve solve)
{
	double most = 0, least = INFINITY;
	bool known = true;

	for (int l = 0; l < LIMITS && known; l++)
	{
		Host host;
		KanonProblem *problem = make(&host, i);
		KanonRelease release;
		KanonReport report = {.lower_bound = 1e9, .proven = true};
		KanonStatus status;

		host_tick(&host);
		problem->time_limit = limits[l];
		status = solve(problem, &release, &report);
		known = status != KANON_UNAVAILABLE;
		if (status == KANON_CANCELLED || status == KANON_NO_MEMORY || status == KANON_BROKEN ||
			status == KANON_TOO_LARGE)
			fail_msg("status %d: %s, limit %g", status, report.detail, limits[l]);
		if (status == KANON_OK)
		{
			double cost = exact_cost(problem, &release, &report);

			assert_true(report.lower_bound <= cost * (1 + 1e-9) + 1e-9);
			most = fmax(most, report.lower_bound);
			least = fmin(least, cost);
		}
		kanon_release_free(problem, &release);
		problem_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	/* a bound holds for every release, wherever it was found */
	assert_true(most <= least * (1 + 1e-9) + 1e-6);
}

/* ---- patterns ---- */

static KanonProblem *
small(Host *host, int i)
{
	uint64_t random = 1000 + (uint64_t) i;
	KanonProblem *problem = exact_problem(host, &random, 9 + (size_t) i, 3, 2, 2, false);

	problem->residual = KANON_RESIDUAL_SUPPRESS;
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight = 1 + (c + i) % 2;
	return problem;
}

static KanonProblem *
large(Host *host, int i)
{
	uint64_t random = 1100 + (uint64_t) i;
	KanonProblem *problem =
		exact_problem(host, &random, 40 + 10 * (size_t) i, 4, 3 + i % 2, 2 + i % 3, false);

	problem->seed = (uint64_t) i;
	problem->effort = 0.05;
	problem->residual = KANON_RESIDUAL_SUPPRESS;
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight = 1 + (c + i) % 3;
	return problem;
}

static void
patterns(void **state)
{
	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		solve_each(small, i, kanon_solve_fpt);
		for (const KanonMethod *method = kanon_methods(KANON_PATTERN_GUIDED); method->name != NULL; method++)
			if (method->solve != kanon_solve_fpt && (method->only_k == 0 || i % 3 == 0) &&
				(i == 0 || real_tables()))
				solve_each(large, i, method->solve);
	}
}

static KanonPattern listed[4];

static KanonProblem *
with_list(Host *host, int i)
{
	uint64_t random = 1200 + (uint64_t) i;
	KanonProblem *problem = exact_problem(host, &random, 14 + (size_t) i, 3, 3, 2, false);

	for (int p = 0; p < 4; p++)
		listed[p] = KANON_BITS(random_next(&random) & 7);
	listed[i % 4] = KANON_BITS(7);
	problem->mask.list = listed;
	problem->mask.nlist = 4;
	return problem;
}

/* So many rows that branches by prices prove it. */
static KanonProblem *
with_many(Host *host, int i)
{
	KanonProblem *problem = with_list(host, i);

	problem->k *= 20 * 1000 * 1000;
	for (uint32_t j = 0; j < problem->ntypes; j++)
		((int64_t *) problem->rows)[j] *= 20 * 1000 * 1000;
	return problem;
}

static void
one_class_each(void **state)
{
	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		solve_each(with_list, i, kanon_solve_pattern_clustering);
		solve_each(with_many, i, kanon_solve_pattern_clustering);
	}
}

/* ---- classes of any shape, cuts, graphs ---- */

static KanonClusterShow show[KANON_MAX_COLUMNS];
static const struct KanonClusterOptions shown = {.show = show};

static KanonProblem *
any_shape(Host *host, int i)
{
	uint64_t random = 1300 + (uint64_t) i;
	KanonProblem *problem = i % 2 == 0 ? exact_problem(host, &random, 40, 3, 4, 2 + i % 2, true)
									   : random_table(host, &random, 60, 3, 7, 2 + i % 3);

	for (int c = 0; c < problem->ncolumns; c++)
		show[c] = i % 2 == 0                   ? KANON_CLUSTER_HIERARCHY
				  : c == 0                     ? KANON_CLUSTER_SET
				  : problem->columns[c].number ? KANON_CLUSTER_RANGE
											   : KANON_CLUSTER_SUPPRESS;
	problem->cluster = &shown;
	problem->seed = (uint64_t) i;
	return problem;
}

static void
shapes(void **state)
{
	(void) state;
	for (const KanonMethod *method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
	{
		for (int i = 0; i < TABLES; i++)
			if (method->only_k == 0 || method->only_k == 2 + i)
				solve_each(any_shape, i, method->solve);
	}
}

static KanonSubtreeOptions cut;

static KanonProblem *
with_levels(Host *host, int i)
{
	uint64_t random = 1400 + (uint64_t) i;
	KanonProblem *problem;

	host_init(host);
	problem = problem_random_levels(host, &random, 50, 2 + i % 2, 3, 2 + i % 3);
	problem->subtree = &cut;
	return problem;
}

static void
cuts(void **state)
{
	(void) state;
	for (int m = 0; kanon_methods(KANON_SUBTREE)[m].name != NULL; m++)
		for (int s = 0; kanon_scheme_names[s] != NULL; s++)
		{
			cut = (KanonSubtreeOptions){(KanonSubtreeMethod) m, (KanonScheme) s, -1};
			for (int i = 0; i < TABLES; i++)
				solve_each(with_levels, i, kanon_solve_subtree);
		}
}

static KanonFreeformOptions graph;

static KanonProblem *
unclassed(Host *host, int i)
{
	uint64_t random = 1500 + (uint64_t) i;
	KanonProblem *problem = random_table(host, &random, 30 + 10 * (size_t) i, 3, 6, 2 + i % 3);

	problem->freeform = &graph;
	problem->seed = (uint64_t) i;
	return problem;
}

static const KanonMethod *
graph_method(const char *name)
{
	const KanonMethod *method = kanon_method_find(KANON_FREEFORM, name);

	return method != NULL ? method : kanon_method_find(KANON_RELAXED, name);
}

static void
graphs(void **state)
{
	static const char *const methods[] = {"greedy",      "sort_greedy", "hungarian", "min_cost_flow", "ring",
										  "concealment", "one_k",       "k_one",     "k_k",           "mip"};

	(void) state;
	for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
	{
		int tables = strcmp(methods[m], "mip") == 0 ? 1 : TABLES;

		for (int i = 0; i < tables; i++)
		{
			graph =
				(KanonFreeformOptions){.symmetric = m < 3 && i % 2 == 1, .partition_size = i == 2 ? 13 : 0};
			graph.method = graph_method(methods[m])->number;
			solve_each(unclassed, i, kanon_solve_freeform);
		}
	}
}

/* ---- sets ---- */

#define ITEMS 8
#define BASKETS 40

static void
sets(void **state)
{
	(void) state;
	for (const KanonMethod *method = kanon_methods(KANON_ITEM_SETS); method->name != NULL; method++)
	{
		double most = 0, least = INFINITY;

		for (int i = 0; i < TABLES * LIMITS; i++)
		{
			uint64_t random = 1600 + (uint64_t) (i / LIMITS);
			size_t start[BASKETS + 1];
			uint32_t item[BASKETS * ITEMS];
			uint32_t parent[2 * ITEMS];
			bool sensitive[ITEMS] = {[ITEMS - 1] = true};
			size_t n = 0;
			Host host;
			KanonTransactions problem = {
				.k = 3 + i / LIMITS, .m = 2, .h = 60, .rho = 0.5, .time_limit = limits[i % LIMITS]};
			KanonRecoding recoding;
			KanonReport report = {0};
			KanonStatus status;

			for (uint32_t t = 0; t < BASKETS; t++)
			{
				start[t] = n;
				/* all as frequent as each other, or nearly */
				for (uint32_t v = 0; v < ITEMS; v++)
					if (t == 0 || random_below(&random, 4) == 0)
						item[n++] = v;
			}
			start[BASKETS] = n;
			memset(parent, 0xff, sizeof(parent));
			for (uint32_t v = 0; v < ITEMS && (method->takes & KANON_TAKES_HIERARCHY) != 0; v++)
				if (method->number == KANON_MODEL_KM || !sensitive[v])
					parent[v] = ITEMS + v / 3;
			for (uint32_t v = ITEMS; v < ITEMS + 3 && (method->takes & KANON_TAKES_HIERARCHY) != 0; v++)
				parent[v] = ITEMS + 3;
			host_init(&host);
			host_tick(&host);
			problem.env = &host.env;
			problem.sets = (KanonSets){ITEMS, BASKETS, start, item};
			problem.sensitive = method->number != KANON_MODEL_KM ? sensitive : NULL;
			problem.nnodes = (method->takes & KANON_TAKES_HIERARCHY) != 0 ? ITEMS + 4 : ITEMS;
			problem.parent = parent;
			status = method->recode(&problem, &recoding, &report);
			assert_true(status == KANON_OK || status == KANON_NOT_FOUND || status == KANON_INFEASIBLE);
			if (i % LIMITS == 0)
				most = 0, least = INFINITY;
			if (status == KANON_OK)
			{
				assert_true(report.lower_bound <= report.cost * (1 + 1e-9));
				most = fmax(most, report.lower_bound);
				least = fmin(least, report.cost);
				assert_true(most <= least * (1 + 1e-9) + 1e-9);
			}
			kanon_recoding_free(&problem, &recoding);
			assert_int_equal(host.blocks, 0);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns), cmocka_unit_test(one_class_each), cmocka_unit_test(shapes),
		cmocka_unit_test(cuts),     cmocka_unit_test(graphs),         cmocka_unit_test(sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
