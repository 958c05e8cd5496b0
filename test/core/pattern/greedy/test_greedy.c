/*
 * test_greedy.c: the greedy method is the plain loop, only faster.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "model/model.h"
#include "pattern/greedy/found.h"
#include "plain.h"
#include "util/pace.h"

static bool
same_release(const KanonProblem *problem, const KanonRelease *a, const KanonRelease *b)
{
	if (a->nclasses != b->nclasses || a->nflows != b->nflows || a->dropped != b->dropped)
		return false;
	for (uint32_t i = 0; i < a->nclasses; i++)
		if (!kanon_same(a->classes[i].pattern, b->classes[i].pattern) ||
			a->classes[i].rows != b->classes[i].rows)
			return false;
	for (size_t i = 0; i < a->nclasses * (size_t) problem->ncolumns; i++)
		if (a->cells[i].show != b->cells[i].show || a->cells[i].code != b->cells[i].code)
			return false;
	for (size_t i = 0; i < a->nflows; i++)
		if (a->flows[i].type != b->flows[i].type || a->flows[i].class_ != b->flows[i].class_ ||
			a->flows[i].rows != b->flows[i].rows)
			return false;
	return true;
}

/* Solves with both and compares; the status of both. */
static KanonStatus
compare(Host *host, KanonProblem *problem)
{
	KanonRelease release;
	KanonRelease expected;
	KanonReport report;
	KanonReport report_expected = {0};
	KanonStatus status;

	problem->effort = 0; /* the one order */
	status = kanon_solve_greedy(problem, &release, &report);

	assert_int_equal(status, plain_greedy(problem, &expected, &report_expected));
	assert_true(same_release(problem, &release, &expected));
	assert_true(report.cost == report_expected.cost || status != KANON_OK);
	assert_true(report.lower_bound == -INFINITY);
	assert_false(report.proven);
	if (status != KANON_OK)
	{
		assert_true(report.detail[0] != '\0');
		assert_null(release.classes);
		assert_null(release.flows);
	}
	kanon_release_free(problem, &release);
	kanon_release_free(problem, &expected);
	assert_int_equal(host->blocks, 0);
	return status;
}

static void
random_tables(size_t max_rows, int max_columns, int number, uint64_t seed)
{
	int seen[KANON_BROKEN + 1] = {0};

	for (int i = 0; i < cases(number); i++)
	{
		uint64_t random = seed + (uint64_t) i;
		Host host;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, max_rows, max_columns);

		seen[compare(&host, problem)]++;
		problem_random_free(problem);
	}
	assert_true(seen[KANON_OK] > 0);
	assert_int_equal(seen[KANON_OK] + seen[KANON_RESIDUAL], cases(number));
}

static void
test_small_tables(void **state)
{
	(void) state;
	random_tables(12, 4, 6000, 1);
}

static void
test_medium_tables(void **state)
{
	(void) state;
	random_tables(120, 7, 3000, 1000000);
}

static void
test_large_tables(void **state)
{
	(void) state;
	random_tables(2500, 9, 60, 2000000);
}

/* More columns than rare bits; few enough patterns for the plain loop. */
static void
test_many_columns(void **state)
{
	(void) state;
	for (int i = 0; i < cases(60); i++)
	{
		uint64_t random = 3000000 + (uint64_t) i;
		int ncolumns = i % 3 == 0 ? 64 : 20 + (int) random_below(&random, 45);
		size_t nrows = 20 + random_below(&random, 60);
		uint32_t *code = calloc(nrows * (size_t) ncolumns, sizeof(uint32_t));
		Host host;
		KanonProblem *problem;

		host_init(&host);
		for (size_t j = 0; j < nrows * (size_t) ncolumns; j++)
			code[j] = random_below(&random, 8) == 0;
		problem = problem_from_codes(&host, code, nrows, ncolumns, 2 + (int64_t) random_below(&random, 3));
		problem->mask.max_suppressed = 2;
		problem->mask.order = (KanonOrder) random_below(&random, 2);
		assert_int_equal(compare(&host, problem), KANON_OK);

		/* the same as a list, in another order of equal costs */
		KanonPattern *patterns;
		size_t npatterns;

		problem->mask.order = KANON_ORDER_GIVEN;
		assert_int_equal(kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &npatterns), KANON_OK);
		assert_int_equal(npatterns, 2 + ncolumns + ncolumns * (ncolumns - 1) / 2);
		problem->mask.list = patterns;
		problem->mask.nlist = npatterns;
		problem->mask.order = KANON_ORDER_GIVEN;

		KanonRelease release;
		KanonReport report;

		assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
		kanon_release_free(problem, &release);
		kanon_free(&host.env, patterns);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
		free(code);
	}
}

/* Eight columns of a few values and flags that are rare; the first ones of many values, where that is asked for. */
static KanonProblem *
wide_problem(Host *host, uint64_t random, size_t nrows, int ncolumns, int many, int64_t k)
{
	uint32_t *code = malloc(nrows * (size_t) ncolumns * sizeof(uint32_t));
	KanonProblem *problem;

	for (size_t i = 0; i < nrows * (size_t) ncolumns; i++)
	{
		int c = (int) (i % (size_t) ncolumns);

		code[i] = c < many ? random_below(&random, 400)
				  : c < 8  ? random_below(&random, 2 + (uint32_t) c % 4)
						   : random_below(&random, 40) == 0;
	}
	problem = problem_from_codes(host, code, nrows, ncolumns, k);
	free(code);
	return problem;
}

/* Work of a run, by its polls. */
static uint64_t
work_of(const Host *host)
{
	return host->polls * (uint64_t) KANON_POLL_WORK;
}

/*
 * More patterns than can be looked at: the work is bounded, however many columns there are,
 * and what it finds is better than what comes out at once.
 */
static void
test_wide_tables(void **state)
{
	static const int many[] = {0, 0, 3, 0};
	static const int64_t k[] = {3, 20, 3, 3};

	(void) state;
	for (int i = 0; i < 4 && (i == 0 || real_tables()); i++)
	{
		double cost[2];
		uint64_t work;
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;

		host_init(&host);
		problem = wide_problem(&host, 77 + (uint64_t) i, 1200, 64, many[i], k[i]);
		for (int c = 0; i == 3 && c < 64; c++)
			((KanonColumn *) problem->columns)[c].weight = 1 + c % 3;
		problem->mask.order = KANON_ORDER_DOMAIN;
		assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
		cost[0] = report.cost;
		work = work_of(&host);
		assert_false(report.stopped);
		/* 2^27 and 2^13 for each row type before, 2^15 for each that was taken then, and what near rows take */
		assert_true(work < UINT64_C(2000000000));
		assert_true(work > UINT64_C(100000000) || KANON_POLL_WORK < 1 << 18);
		kanon_release_free(problem, &release);

		/* the same with hardly any time */
		host_tick(&host);
		host.polls = 0;
		problem->time_limit = 3;
		assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
		cost[1] = report.cost;
		assert_true(report.stopped);
		assert_true(work_of(&host) < work / 8);
		kanon_release_free(problem, &release);
		assert_true(cost[0] < cost[1]);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* When time is up, what is left is put into classes at once, or left over: any mask, weights, levels. */
static void
test_time(void **state)
{
	int stopped = 0;

	(void) state;
	for (int i = 0; i < cases(1500); i++)
	{
		uint64_t random = 9000000 + (uint64_t) i;
		Host host;
		KanonProblem *problem;
		KanonStatus without;

		host_init(&host);
		problem = problem_random(&host, &random, i % 3 == 0 ? 400 : 60, 3 + i % 7);
		problem->residual = KANON_RESIDUAL_SUPPRESS;
		for (double limit = INFINITY; limit > 0; limit = limit == INFINITY ? 40 : limit > 1 ? limit / 3 : 0)
		{
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			host_tick(&host);
			problem->time_limit = limit;
			status = kanon_solve_greedy(problem, &release, &report);
			if (limit == INFINITY)
				without = status;
			assert_int_equal(status, without);
			assert_true(limit < INFINITY || !report.stopped);
			stopped += report.stopped;
			kanon_release_free(problem, &release);
			assert_int_equal(host.blocks, 0);
		}
		problem_random_free(problem);
	}
	/* (with the core's own limits small tables are never looked at so often) */
	assert_true(stopped > 0 || KANON_POLL_WORK > 64);
}

/* Every combination as rules, as a list, and as a list in the same order. */
static void
test_list_and_rules_agree(void **state)
{
	(void) state;
	for (int i = 0; i < cases(200); i++)
	{
		uint64_t random = 4000000 + (uint64_t) i;
		Host host;
		KanonRelease release;
		KanonRelease listed;
		KanonReport report;
		KanonPattern *patterns;
		size_t npatterns;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 200, 6);

		free((void *) problem->mask.list);
		problem->mask.list = NULL;
		problem->residual = KANON_RESIDUAL_SUPPRESS;
		problem->effort = 0;
		assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
		assert_int_equal(kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &npatterns), KANON_OK);
		problem->mask.list = patterns;
		problem->mask.nlist = npatterns;
		problem->mask.order = KANON_ORDER_GIVEN;
		assert_int_equal(kanon_solve_greedy(problem, &listed, &report), KANON_OK);
		assert_true(same_release(problem, &release, &listed));
		kanon_release_free(problem, &release);
		kanon_release_free(problem, &listed);
		kanon_free(&host.env, patterns);
		problem->mask.list = NULL;
		problem_random_free(problem);
	}
}

/* Numbers at the edges. */
static void
test_extremes(void **state)
{
	static const int64_t some_k[] = {1, 2, 65535, 65536, INT64_C(1) << 32, INT64_MAX};
	uint32_t code[40 * 3];
	Host host;
	uint64_t random = 5;

	(void) state;
	host_init(&host);
	for (int i = 0; i < 40 * 3; i++)
		code[i] = random_below(&random, 3);
	for (size_t i = 0; i < sizeof(some_k) / sizeof(some_k[0]); i++)
	{
		KanonProblem *problem = problem_from_codes(&host, code, 40, 3, some_k[i]);

		compare(&host, problem);
		for (uint32_t t = 0; t < problem->ntypes; t += 2)
			((int64_t *) problem->rows)[t] = some_k[i] / (t == 0 ? 2 : 256);
		for (uint32_t t = 0; t < problem->ntypes; t++)
			((int64_t *) problem->rows)[t] += (problem->rows[t] == 0);
		compare(&host, problem);
		problem_free(problem);
	}

	/* no row at all */
	KanonProblem *problem = problem_from_codes(&host, code, 0, 3, 2);
	KanonRelease release;
	KanonReport report;
	KanonMeasures measures;

	for (int residual = 0; residual < 3; residual++)
	{
		problem->residual = (KanonResidual) residual;
		assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
		assert_int_equal(release.nclasses, 0);
		assert_int_equal(release.nflows, 0);
		assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
		assert_int_equal(measures.classes, 0);
		assert_true(measures.usefulness == 0);
		kanon_release_free(problem, &release);
	}
	problem_free(problem);
}

/* Whatever allocation fails: an orderly end, nothing lost. */
static void
test_no_memory(void **state)
{
	(void) state;
	for (int i = 0; i < cases(25); i++)
	{
		uint64_t random = 6000000 + (uint64_t) i;
		Host host;
		KanonStatus status = KANON_NO_MEMORY;
		bool refused = true;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 150, 6);

		problem->effort = 0.0003; /* a few orders */

		for (uint64_t n = 1; refused; n++)
		{
			KanonRelease release;
			KanonReport report;
			KanonMeasures measures;

			host.allocations = 0;
			host.refuse_at = n;
			host.env.refused = 0;
			status = kanon_solve_greedy(problem, &release, &report);
			if (status == KANON_OK)
				status = kanon_measure(problem, &release, &measures, NULL);
			refused = host.env.refused > 0;
			/* (in a further order: what was found before is kept) */
			assert_true(status == KANON_NO_MEMORY ? refused : refused == (host.allocations >= n));
			kanon_release_free(problem, &release);
			assert_int_equal(host.blocks, 0);
			assert_int_equal(host.live, 0);
		}
		assert_true(status == KANON_OK || status == KANON_RESIDUAL);
		problem_random_free(problem);
	}
}

/* Solves for the ks one after the other, what they have in common shared; the n-th allocation is refused, if any. */
static void
shared_ks(Host *host, KanonProblem *problem, const int64_t ks[3], size_t room, uint64_t refused)
{
	KanonFound found = {.problem = problem, .room = room};

	problem->effort = 0;
	problem->found = &found;
	host->allocations = 0;
	host->refuse_at = refused;
	for (int i = 0; i < 3; i++)
	{
		KanonRelease release;
		KanonRelease alone;
		KanonReport report;
		KanonReport alone_report;
		KanonStatus status;

		problem->k = ks[i];
		found.more = i < 2 && found.problem != NULL;
		status = kanon_solve_greedy(problem, &release, &report);
		if (status == KANON_NO_MEMORY)
			break;
		problem->found = NULL;
		host->refuse_at = 0;
		assert_int_equal(status, kanon_solve_greedy(problem, &alone, &alone_report));
		host->refuse_at = refused > host->allocations ? refused : 0;
		problem->found = &found;
		assert_true(same_release(problem, &release, &alone));
		assert_true(report.cost == alone_report.cost || status != KANON_OK);
		kanon_release_free(problem, &release);
		kanon_release_free(problem, &alone);
	}
	host->refuse_at = 0;
	kanon_found_free(&host->env, &found);
	assert_int_equal(host->blocks, 0);
	problem->found = NULL;
}

/* Groups that are shared by several ks change no release, also where they do not fit or a k is smaller than before. */
static void
test_shared_ks(void **state)
{
	(void) state;
	for (int i = 0; i < cases(120); i++)
	{
		static const int64_t ks[3][3] = {{2, 3, 5}, {2, 2, 7}, {4, 2, 3}};
		uint64_t random = 4400000 + (uint64_t) i;
		Host host;
		KanonProblem *problem;

		host_init(&host);
		problem = problem_random(&host, &random, 200, 6);
		for (int j = 0; j < 3; j++)
			shared_ks(&host, problem, ks[j], SIZE_MAX, 0);
		shared_ks(&host, problem, ks[0], 3000, 0);
		for (uint64_t n = 1; n < 60; n += 7)
			shared_ks(&host, problem, ks[0], SIZE_MAX, n);
		problem_random_free(problem);
	}
	if (real_tables())
	{
		static const int64_t ks[3] = {3, 20, 21};
		Host host;
		KanonProblem *problem;

		host_init(&host);
		problem = wide_problem(&host, 77, 400, 64, 0, 3);
		shared_ks(&host, problem, ks, SIZE_MAX, 0);
		problem_free(problem);
	}
}

/* A budget: it works within, or ends in order. */
static void
test_budget(void **state)
{
	Host host;
	uint64_t random = 9;
	size_t peak = 0;

	(void) state;
	host_init(&host);

	KanonProblem *problem = problem_random(&host, &random, 2000, 6);

	for (size_t budget = (size_t) 1 << 24; budget > 16; budget = budget * 3 / 4)
	{
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		host.budget = budget;
		host.peak = 0;
		status = kanon_solve_greedy(problem, &release, &report);
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		assert_true(host.peak <= budget);
		if (status == KANON_OK)
			peak = host.peak;
		else
			assert_true(status == KANON_NO_MEMORY || status == KANON_RESIDUAL);
	}
	assert_true(peak > 0);
	problem_random_free(problem);
}

/* Whatever poll says stop: an orderly end at once. */
static void
test_cancel(void **state)
{
	(void) state;
	for (int i = 0; i < cases(25); i++)
	{
		uint64_t random = 7000000 + (uint64_t) i;
		Host host;
		KanonStatus status = KANON_CANCELLED;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 150, 6);

		problem->effort = 0.0003; /* a few orders */

		for (uint64_t n = 1; status == KANON_CANCELLED; n += 1 + n / 8)
		{
			KanonRelease release;
			KanonReport report;
			KanonMeasures measures;

			host.polls = 0;
			host.cancel_at = n;
			status = kanon_solve_greedy(problem, &release, &report);
			if (status == KANON_OK)
				status = kanon_measure(problem, &release, &measures, NULL);
			assert_true(status == KANON_CANCELLED ? host.polls == n : host.polls < n);
			kanon_release_free(problem, &release);
			assert_int_equal(host.blocks, 0);
		}
		assert_true(status == KANON_OK || status == KANON_RESIDUAL);
		problem_random_free(problem);
	}
}

static double
usefulness(const KanonProblem *problem, const KanonRelease *release)
{
	double mean;

	assert_int_equal(kanon_usefulness(problem, release, &mean), KANON_OK);
	return mean;
}

/* True if a release is as good as another: rows left out, then cost, then usefulness. */
static bool
as_good(const KanonProblem *problem, const KanonRelease *a, double cost_a, const KanonRelease *b,
		double cost_b)
{
	if (a->dropped != b->dropped)
		return a->dropped < b->dropped;
	return cost_a < cost_b ||
		   (cost_a == cost_b && usefulness(problem, a) <= usefulness(problem, b) * (1 + 1e-12));
}

/* No order that has a name gives a better release, and where the optimum costs as much, it is as useful. */
static void
compare_orders(const KanonProblem *problem, const KanonRelease *several, double cost)
{
	static const KanonOrder orders[] = {KANON_ORDER_SMALL, KANON_ORDER_DOMAIN, KANON_ORDER_FINE,
										KANON_ORDER_GIVEN};
	KanonProblem other = *problem;
	KanonRelease release;
	KanonReport report;

	other.effort = 0;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
	{
		other.mask.order = orders[i];
		if (kanon_solve_greedy(&other, &release, &report) == KANON_OK)
			assert_true(as_good(problem, several, cost, &release, report.cost));
		kanon_release_free(problem, &release);
	}
	if (kanon_solve_ilp(problem, &release, &report) == KANON_OK && report.cost == cost)
		assert_true(as_good(problem, &release, cost, several, cost));
	kanon_release_free(problem, &release);
}

/* Several orders: never worse than the first alone, the same each time, whatever the seed. */
static void
test_orders(void **state)
{
	int less = 0;
	int finer = 0;

	(void) state;
	for (int i = 0; i < 100 + cases(200); i++)
	{
		uint64_t random = 8000000 + (uint64_t) i;
		Host host;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 60, 5);
		KanonRelease alone;
		KanonRelease several;
		KanonRelease again;
		KanonReport report_alone;
		KanonReport report;
		KanonReport report_again;

		/* (columns that weigh alike make patterns that cost alike) */
		for (int c = 0; c < problem->ncolumns && i % 4 > 0; c++)
			((KanonColumn *) problem->columns)[c].weight = 1;
		problem->effort = 0;

		KanonStatus status = kanon_solve_greedy(problem, &alone, &report_alone);

		problem->effort = 1;
		problem->seed = random_below(&random, 5);
		assert_int_equal(kanon_solve_greedy(problem, &several, &report), status);
		assert_int_equal(kanon_solve_greedy(problem, &again, &report_again), status);
		if (status == KANON_OK)
		{
			assert_true(as_good(problem, &several, report.cost, &alone, report_alone.cost));
			compare_orders(problem, &several, report.cost);
			less += report.cost < report_alone.cost;
			finer += report.cost == report_alone.cost &&
					 usefulness(problem, &several) < usefulness(problem, &alone);
			assert_true(same_release(problem, &several, &again));
			assert_true(report.cost == report_again.cost && report.nodes == report_again.nodes);
		}
		kanon_release_free(problem, &alone);
		kanon_release_free(problem, &several);
		kanon_release_free(problem, &again);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	assert_true(less > 0);
	assert_true(finer > 0);
}

/* ---- results computed elsewhere ---- */

typedef struct Case
{
	const char *name;
	const char *file;
	int ncolumns;
	int column[14];
	uint64_t numerical;
	int mask; /* 0: all; 2: at most two; 15: the paper's user */
} Case;

static const Case reference_cases[] = {
	{"adult-all",
	 "adult.csv",
	 14,
	 {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
	 1 << 0 | 1 << 3 | 1 << 9 | 1 << 10 | 1 << 11,
	 0},
	{"adult2-all", "adult.csv", 9, {0, 1, 3, 5, 6, 8, 9, 13, 14}, 1 << 0, 0},
	{"adult2-mask15", "adult.csv", 9, {0, 1, 3, 5, 6, 8, 9, 13, 14}, 1 << 0, 15},
	{"cmc-all", "cmc.csv", 10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1 << 0 | 1 << 3, 0},
	{"cmc-mask2", "cmc.csv", 10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1 << 0 | 1 << 3, 2},
	{"nursery-all", "nursery.csv", 8, {0, 1, 2, 3, 4, 5, 6, 7}, 0, 0},
};

/* One row of reference.csv. */
static void
check_reference(const char *directory, const Case *what, char **row)
{
	static const KanonRule user[] = {{KANON_TOGETHER, KANON_BITS(1 << 1 | 1 << 4), KANON_NONE},
									 {KANON_AT_MOST_ONE, KANON_BITS(1 << 0 | 1 << 5 | 1 << 6), KANON_NONE}};
	char path[1024];
	char text[32];
	Host host;
	Table *table;
	KanonProblem *problem;
	KanonPattern *patterns = NULL;
	KanonRelease release;
	KanonReport report;
	KanonMeasures measures;

	if (row[2][0] == '\0')
		return;
	host_init(&host);
	snprintf(path, sizeof(path), "%s/%s", directory, what->file);
	table = table_read(path);
	assert_non_null(table);
	problem =
		problem_make(&host, table, what->column, what->ncolumns, what->numerical, strtol(row[1], NULL, 10));
	problem->effort = 0; /* the paper's one order */
	if (what->mask != 0)
	{
		size_t npatterns;

		problem->mask.order = KANON_ORDER_GIVEN;
		problem->mask.max_suppressed = 2;
		if (what->mask == 15)
		{
			problem->mask.never = KANON_BITS(1 << 2 | 1 << 8);
			problem->mask.rules = user;
			problem->mask.nrules = 2;
		}
		assert_int_equal(kanon_mask_enumerate(problem, 1000, &patterns, &npatterns), KANON_OK);
		assert_int_equal(npatterns, what->mask == 15 ? 15 : 57);
		problem->mask.list = patterns;
		problem->mask.nlist = npatterns;
		problem->mask.order = KANON_ORDER_GIVEN;
	}
	assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
	assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
	assert_int_equal(measures.suppressed_cells, strtol(row[2], NULL, 10));
	assert_true(report.cost == (double) measures.suppressed_cells);
	assert_int_equal(measures.classes, strtol(row[3], NULL, 10));
	assert_int_equal(measures.class_max, strtol(row[4], NULL, 10));
	snprintf(text, sizeof(text), "%.4f", measures.usefulness);
	assert_string_equal(text, row[5]);
	kanon_release_free(problem, &release);
	kanon_free(&host.env, patterns);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
	table_free(table);
}

static void
test_reference(void **state)
{
	const char *directory = getenv("KANON_DATA");
	char path[1024];
	Table *reference;

	(void) state;
	snprintf(path, sizeof(path), "%s/reference.csv", directory != NULL ? directory : "");
	reference = directory != NULL ? table_read(path) : NULL;
	if (reference == NULL || !real_tables())
	{
		table_free(reference);
		skip();
		return;
	}
	for (size_t i = 1; i < reference->nrows; i++)
	{
		char **row = reference->cell + i * (size_t) reference->ncolumns;
		size_t c = 0;

		while (strcmp(reference_cases[c].name, row[0]) != 0)
			assert_true(++c < sizeof(reference_cases) / sizeof(reference_cases[0]));
		check_reference(directory, &reference_cases[c], row);
	}
	table_free(reference);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_tables),
		cmocka_unit_test(test_medium_tables),
		cmocka_unit_test(test_large_tables),
		cmocka_unit_test(test_many_columns),
		cmocka_unit_test(test_wide_tables),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_list_and_rules_agree),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_shared_ks),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_reference),
	};

	return cmocka_run_group_tests_name("greedy", tests, NULL, NULL);
}
