/*
 * test_matching.c: the method for k = 2 against brute force over all partitions and
 * against ilp, on random tables with any mask, weights, levels and residual; what
 * it prices against all that there is; and what it does when memory ends, when it
 * is cancelled and when time is short.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"
#include "pattern/exact/exact.h"
#include "util/pace.h"

#define MAX_ROWS 11

/* Of so many columns each set has a place of its own (groups_price.c). */
#define PLACED_COLUMNS 12

/* Cost of each row of a class of these rows, by the cheapest pattern that fits. */
static double
class_cost(const KanonProblem *problem, const KanonPattern *patterns, size_t np, const uint32_t *row,
		   uint32_t set)
{
	KanonPattern differ = KANON_NONE;
	int first = __builtin_ctz(set);
	double least = INFINITY;

	for (uint32_t rest = set; rest != 0; rest &= rest - 1)
		for (int c = 0; c < problem->ncolumns; c++)
		{
			const uint32_t *code = problem->columns[c].code;

			if (code[row[first]] != code[row[__builtin_ctz(rest)]])
				kanon_add(&differ, c);
		}
	for (size_t p = 0; p < np; p++)
		if (kanon_within(differ, patterns[p]))
			least = fmin(least, kanon_pattern_cost(problem, patterns[p]));
	return least;
}

/* The least cost of a partition into classes of any size of two or more; INFINITY: there is none. */
static double
brute_force(const KanonProblem *problem)
{
	static double cost[1 << MAX_ROWS];
	static double best[1 << MAX_ROWS];
	KanonPattern *patterns;
	size_t np;
	uint32_t row[MAX_ROWS];
	int n = 0;

	assert_int_equal(kanon_mask_enumerate(problem, 100000, &patterns, &np), KANON_OK);
	for (uint32_t i = 0; i < problem->ntypes; i++)
		for (int64_t r = 0; r < problem->rows[i]; r++)
			row[n++] = i;
	best[0] = 0;
	for (uint32_t set = 1; set < (uint32_t) 1 << n; set++)
	{
		uint32_t first = set & -set;
		int size = __builtin_popcount(set);

		cost[set] = class_cost(problem, patterns, np, row, set) * size;
		if (size == 1)
			cost[set] = exact_strict(problem)
							? INFINITY
							: kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));
		best[set] = cost[set];
		for (uint32_t part = (set - 1) & set; part != 0; part = (part - 1) & set)
			if ((part & first) != 0)
				best[set] = fmin(best[set], cost[part] + best[set ^ part]);
	}
	kanon_free(problem->env, patterns);
	return best[((uint32_t) 1 << n) - 1];
}

/* Costs are sums of weights: of large ones the last digits differ. */
static bool
same(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(1, fabs(b));
}

static void
check(const KanonProblem *problem, double optimum, uint64_t seed)
{
	KanonRelease release;
	KanonReport report;
	KanonStatus status = kanon_solve_matching(problem, &release, &report);

	if (optimum == INFINITY)
	{
		assert_int_equal(status, KANON_INFEASIBLE);
		return;
	}
	if (status != KANON_OK)
		print_error("seed %llu: status %d, %s\n", (unsigned long long) seed, (int) status, report.detail);
	assert_int_equal(status, KANON_OK);
	if (!same(exact_cost(problem, &release, &report), optimum))
		print_error("seed %llu: cost %.12g, bound %.12g, optimum %.12g\n", (unsigned long long) seed,
					report.cost, report.lower_bound, optimum);
	assert_true(same(exact_cost(problem, &release, &report), optimum));
	if (exact_provable(problem, optimum))
	{
		assert_true(report.proven);
		assert_true(same(report.lower_bound, report.cost));
	}
	kanon_release_free(problem, &release);
}

static int64_t
rows_of(const KanonProblem *problem)
{
	int64_t rows = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows += problem->rows[i];
	return rows;
}

static void
equals_brute_force(void **state)
{
	uint64_t random = 7;
	int tried = 0;

	(void) state;
	for (int round = 0; round < exact_cases(6000); round++)
	{
		Host host;
		uint64_t seed = random;
		KanonProblem *problem;

		host_init(&host);
		problem = problem_random(&host, &random, MAX_ROWS, 5);
		problem->k = 2;
		if (rows_of(problem) <= (round % 10 == 0 ? MAX_ROWS : 8))
		{
			check(problem, brute_force(problem), seed);
			tried++;
		}
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(tried > exact_cases(6000) / 3);
}

/* Larger tables, many rows of a type among them. */
static void
equals_ilp(void **state)
{
	uint64_t random = 11;
	int odd = 0;

	(void) state;
	for (int round = 0; round < exact_cases(500); round++)
	{
		Host host;
		uint64_t seed = random;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		host_init(&host);
		problem = problem_random(&host, &random, 50, 6);
		problem->k = 2;
		status = kanon_solve_ilp(problem, &release, &report);
		if (status == KANON_OK && report.proven)
			check(problem, exact_cost(problem, &release, &report), seed);
		if (status == KANON_OK)
			kanon_release_free(problem, &release);
		odd += rows_of(problem) % 2 != 0;
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(odd > 0);
}

/* Rows that differ in one of few values of a column each: many odd components, whose rows are in triples. */
static void
triples(void **state)
{
	uint64_t random = 13;
	int used = 0;

	(void) state;
	for (int round = 0; round < exact_cases(300); round++)
	{
		Host host;
		uint64_t seed = random;
		uint32_t code[MAX_ROWS * 4];
		size_t n = 3 + random_below(&random, MAX_ROWS - 2);
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;

		host_init(&host);
		for (size_t i = 0; i < n; i++)
		{
			for (size_t c = 0; c < 3; c++)
				code[i * 4 + c] = (uint32_t) i / 3;
			code[i * 4 + 3] = (uint32_t) i;
		}
		problem = problem_from_codes(&host, code, n, 4, 2);
		problem->residual = (KanonResidual) random_below(&random, 4);
		check(problem, brute_force(problem), seed);
		assert_int_equal(kanon_solve_matching(problem, &release, &report), KANON_OK);
		for (uint32_t i = 0; i < release.nclasses; i++)
			used += release.classes[i].rows == 3;
		kanon_release_free(problem, &release);
		problem_free(problem);
	}
	assert_true(used > 0);
}

/* So many sets of columns in which rows differ that what they cost is looked up by a hash, which grows. */
static void
many_columns(void **state)
{
	double cost[2];

	(void) state;
	/* the last column, which makes the table one of many columns, is the same in all rows */
	for (int wide = 0; wide < 2; wide++)
	{
		uint64_t random = 29;
		size_t n = PLACED_COLUMNS + (size_t) wide;
		uint32_t code[48 * (PLACED_COLUMNS + 1)] = {0};
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;

		host_init(&host);
		for (size_t i = 0; i < 48; i++)
			for (size_t c = 0; c < PLACED_COLUMNS; c++)
				code[i * n + c] = random_below(&random, 2);
		problem = problem_from_codes(&host, code, 48, (int) n, 2);
		assert_int_equal(kanon_solve_matching(problem, &release, &report), KANON_OK);
		cost[wide] = exact_cost(problem, &release, &report);
		assert_true(report.proven);
		kanon_release_free(problem, &release);
		problem_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(same(cost[0], cost[1]));
}

/* Seven columns of few values: many partitions cost the same, and odd cycles abound. */
static KanonProblem *
middle_problem(Host *host, int variant)
{
	uint64_t random = 5;
	KanonProblem *problem = exact_problem(host, &random, 40, 4, 4, 2, false);

	problem->residual = (KanonResidual) (variant % 4);
	for (int c = 0; c < problem->ncolumns && variant >= 3; c++)
		((KanonColumn *) problem->columns)[c].weight = 1 + (double) c * 3.14159265;
	return problem;
}

static void
memory_refused(void **state)
{
	(void) state;
	for (int variant = 0; variant < 6; variant += 2)
		exact_refuse_each(middle_problem, variant, kanon_solve_matching, true);
}

static void
cancelled(void **state)
{
	(void) state;
	exact_cancel_each(middle_problem, 0, kanon_solve_matching);
	exact_cancel_each(middle_problem, 4, kanon_solve_matching);
}

static void
other_k(void **state)
{
	Host host;
	KanonProblem *problem = middle_problem(&host, 0);
	KanonRelease release;
	KanonReport report;

	(void) state;
	problem->k = 3;
	assert_int_equal(kanon_solve_matching(problem, &release, &report), KANON_TOO_LARGE);
	assert_string_equal(report.detail, "matching is for k = 2 only");
	problem_free(problem);
}

/* No time: a release, if not as cheap as greedy's, which has time to fill its rest; and no proof. */
static void
late(void **state)
{
	Host host;
	KanonProblem *problem = middle_problem(&host, 0);
	KanonRelease release;
	KanonReport report;

	(void) state;
	problem->time_limit = 0;
	assert_int_equal(kanon_solve_matching(problem, &release, &report), KANON_OK);
	assert_true(report.lower_bound <= report.cost);
	assert_false(report.proven);
	kanon_release_free(problem, &release);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* When time is up, the pairs of many rows are not priced to the end. */
static void
late_at_once(void **state)
{
	uint64_t random = 3;
	uint64_t polls[2];
	Host host;
	KanonProblem *problem = exact_problem(&host, &random, 6000, 4, 14, 2, false);

	(void) state;
	/* with tiny limits all else polls more often than pricing does */
	if (KANON_POLL_WORK <= 64)
	{
		problem_free(problem);
		skip();
	}
	problem->time_limit = 0;
	for (int m = 0; m < 2; m++)
	{
		KanonRelease release;
		KanonReport report;

		polls[m] = host.polls;
		assert_int_equal((m == 0 ? kanon_solve_greedy : kanon_solve_matching)(problem, &release, &report),
						 KANON_OK);
		polls[m] = host.polls - polls[m];
		kanon_release_free(problem, &release);
	}
	print_message("%u types: %d polls of greedy, %d of matching\n", problem->ntypes, (int) polls[0],
				  (int) polls[1]);
	assert_true(polls[1] < polls[0] + 20);
	problem_free(problem);
}

/* GLPK's memory is bounded, and its refusal is one. */
static void
little_memory(void **state)
{
	Host host;
	KanonProblem *problem = middle_problem(&host, 0);
	KanonRelease release;
	KanonReport report;

	(void) state;
	host.env.foreign = 1 << 20;
	assert_int_equal(kanon_solve_matching(problem, &release, &report), KANON_NO_MEMORY);
	assert_true(host.env.refused > (size_t) 1 << 20);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* So much work and no more: what is said of the optimum holds, and with enough of it all is. */
static void
work_ends(void **state)
{
	Host host;
	KanonProblem *problem = middle_problem(&host, 0);
	KanonRelease release;
	KanonReport report;
	double optimum;
	int unproven = 0;
	bool proven = false;

	(void) state;
	assert_int_equal(kanon_solve_matching(problem, &release, &report), KANON_OK);
	assert_true(report.proven);
	optimum = report.cost;
	kanon_release_free(problem, &release);
	for (uint64_t most = 1; !proven; most *= 4)
	{
		assert_int_equal(groups_solve_limited(problem, NULL, most, &release, &report), KANON_OK);
		assert_true(exact_cost(problem, &release, &report) >= optimum - 1e-6);
		assert_true(report.lower_bound <= optimum + 1e-6);
		proven = report.proven;
		unproven += !proven;
		kanon_release_free(problem, &release);
	}
	assert_true(unproven > 0);
	assert_true(same(report.cost, optimum));
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* A host that sees which methods are at work. */
static bool told_matching, told_others;
static bool (*host_poll)(void *arg, const KanonProgress *progress);

static bool
watch(void *arg, const KanonProgress *progress)
{
	told_matching |= strcmp(progress->phase, "matching") == 0;
	told_others |= strcmp(progress->phase, "reduce") == 0 || strcmp(progress->phase, "solve") == 0 ||
				   (told_matching && strcmp(progress->phase, "instances") == 0);
	return host_poll(arg, progress);
}

/*
 * `best` proves what it could only search: k = 2, and rows in so many classes that the
 * model would be large.  What time ends is searched on; other k and small models are not matched.
 */
static void
within_best(void **state)
{
	static const struct
	{
		int columns;
		int64_t k;
		double time_limit;
		bool matching, others;
	} cases[] = {{10, 2, INFINITY, true, false},
				 {10, 2, 0, true, true},
				 {10, 3, INFINITY, false, true},
				 {5, 2, INFINITY, false, true}};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		uint64_t random = 5;
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 60, cases[i].columns, 3, cases[i].k, false);
		KanonRelease release;
		KanonReport report, alone;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		problem->effort = 0.001;
		problem->time_limit = cases[i].time_limit;
		host_poll = host.env.poll;
		host.env.poll = watch;
		told_matching = told_others = false;
		assert_int_equal(kanon_solve_best(problem, &release, &report), KANON_OK);
		assert_int_equal(told_matching, cases[i].matching);
		assert_int_equal(told_others, cases[i].others);
		kanon_release_free(problem, &release);
		if (i == 0)
		{
			assert_true(report.proven);
			assert_int_equal(kanon_solve_matching(problem, &release, &alone), KANON_OK);
			assert_true(same(alone.cost, report.cost));
			kanon_release_free(problem, &release);
		}
		problem_free(problem);
		assert_int_equal(host.blocks, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_brute_force),
		cmocka_unit_test(equals_ilp),
		cmocka_unit_test(triples),
		cmocka_unit_test(many_columns),
		cmocka_unit_test(memory_refused),
		cmocka_unit_test(cancelled),
		cmocka_unit_test(other_k),
		cmocka_unit_test(late),
		cmocka_unit_test(late_at_once),
		cmocka_unit_test(little_memory),
		cmocka_unit_test(work_ends),
		cmocka_unit_test(within_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
