/*
 * test_wide.c: problems of more than 64 columns, up to as many as a pattern has.
 *
 * Sets of columns do what arrays of bool do.  A small problem is made wide by levels and
 * quasi-identifiers in which all rows agree: whoever solves it, what comes out is the same.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "lattice/full_domain.h"
#include "model/model.h"

#define N KANON_MAX_COLUMNS

/* ---- sets ---- */

/* Of some columns, now and then none or all. */
static KanonPattern
some(uint64_t *random, bool *is)
{
	uint32_t of = 1 + random_below(random, 40);
	KanonPattern set = KANON_NONE;

	for (int c = 0; c < N; c++)
	{
		is[c] = of > 1 && (of == 40 || random_below(random, of) == 0);
		if (is[c])
			kanon_add(&set, c);
	}
	return set;
}

static bool
is_set(KanonPattern set, const bool *is)
{
	int last = -1;

	KANON_EACH (c, set)
	{
		for (last++; last < c; last++)
			if (is[last])
				return false;
		if (!is[c])
			return false;
	}
	for (last++; last < N; last++)
		if (is[last])
			return false;
	return true;
}

static void
sets(void **state)
{
	uint64_t random = 24;

	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		bool a[N], b[N], is[N];
		bool meet = false, within = true, levels = true;
		int count = 0, order = 0, from = (int) random_below(&random, N + 1);
		KanonPattern left = some(&random, a), right = some(&random, b);

		if (i % 7 == 0)
		{
			right = left;
			memcpy(b, a, sizeof(a));
			if (i % 2 == 0)
			{
				int c = (int) random_below(&random, N);

				kanon_remove(&right, c);
				b[c] = false;
			}
		}
		assert_true(is_set(left, a));
		for (int c = 0; c < N; c++)
		{
			assert_int_equal(kanon_has(left, c), a[c]);
			meet |= a[c] && b[c];
			within &= !a[c] || b[c];
			count += a[c];
			order = a[c] != b[c] ? a[c] - b[c] : order;
			/* right: the last levels of their quasi-identifiers */
			levels &= c == 0 || !a[c] || a[c - 1] || b[c - 1];
		}
		for (int c = 0; c < N; c++)
			is[c] = a[c] || b[c];
		assert_true(is_set(kanon_union(left, right), is));
		for (int c = 0; c < N; c++)
			is[c] = a[c] && b[c];
		assert_true(is_set(kanon_both(left, right), is));
		for (int c = 0; c < N; c++)
			is[c] = a[c] && !b[c];
		assert_true(is_set(kanon_minus(left, right), is));
		for (int c = 0; c < N; c++)
			is[c] = c >= from && c < from + 70;
		assert_true(is_set(kanon_span(from, from + 70 < N ? from + 70 : N), is));
		memset(is, 0, sizeof(is));
		assert_int_equal(kanon_is_none(left), count == 0);
		assert_int_equal(kanon_is_none(left), is_set(left, is));
		assert_int_equal(kanon_count(left), count);
		assert_int_equal(kanon_meet(left, right), meet);
		assert_int_equal(kanon_within(left, right), within);
		assert_int_equal(kanon_same(left, right), memcmp(a, b, sizeof(a)) == 0);
		assert_int_equal(kanon_order(left, right), order);
		assert_int_equal(kanon_levels_allow(right, left), levels);
		while (from < N && !a[from])
			from++;
		assert_int_equal(kanon_next(left, from), from < N ? from : -1);
	}
}

/* ---- a small problem, made wide ---- */

typedef struct Wide
{
	KanonProblem problem;
	KanonColumn columns[N];
	int place[N]; /* of the small one's columns */
	uint32_t *same;
	KanonPattern *list;
	KanonRule rules[4];
} Wide;

static KanonPattern
placed(const Wide *wide, KanonPattern small)
{
	KanonPattern set = KANON_NONE;

	KANON_EACH (c, small)
		kanon_add(&set, wide->place[c]);
	return set;
}

/* A level in which all rows agree. */
static void
add_same(Wide *wide, int level, double weight)
{
	wide->columns[wide->problem.ncolumns++] =
		(KanonColumn){.code = wide->same, .distinct = 1, .level = level, .weight = weight};
}

/* Each quasi-identifier gets levels above its own, which stay; together they are all that there may be. */
static void
widen(const KanonProblem *small, Wide *wide)
{
	int more = (N - small->ncolumns) / kanon_count_qis(small);
	KanonPattern kept = KANON_NONE;

	wide->problem = *small;
	wide->problem.ncolumns = 0;
	wide->problem.columns = wide->columns;
	wide->same = calloc(small->ntypes + 1, sizeof(uint32_t));
	for (int c = 0; c < small->ncolumns; c++)
	{
		int level = small->columns[c].level;

		wide->place[c] = wide->problem.ncolumns;
		wide->columns[wide->problem.ncolumns++] = small->columns[c];
		if (c + 1 < small->ncolumns && small->columns[c + 1].level > 0)
			continue;
		for (int r = 0; r < more; r++)
		{
			kanon_add(&kept, wide->problem.ncolumns);
			add_same(wide, level + 1 + r, 0);
		}
	}
	wide->problem.mask.never = kanon_union(placed(wide, small->mask.never), kept);
	wide->problem.mask.always = placed(wide, small->mask.always);
	wide->list = malloc((small->mask.nlist + 1) * sizeof(KanonPattern));
	for (size_t i = 0; i < small->mask.nlist; i++)
		wide->list[i] = placed(wide, small->mask.list[i]);
	if (small->mask.list != NULL)
		wide->problem.mask.list = wide->list;
	for (int r = 0; r < small->mask.nrules; r++)
		wide->rules[r] = (KanonRule){small->mask.rules[r].kind, placed(wide, small->mask.rules[r].columns),
									 placed(wide, small->mask.rules[r].implied)};
	wide->problem.mask.rules = wide->rules;
}

static void
forget(Wide *wide)
{
	free(wide->same);
	free(wide->list);
}

/* Rows of classes with these patterns are classes of rows with those; what is suppressed whole may be two. */
static void
assert_same_classes(const KanonProblem *small, const KanonRelease *a, const Wide *wide, const KanonRelease *b)
{
	KanonPattern all = kanon_pattern_all(small->ncolumns);

	assert_int_equal(a->nclasses, b->nclasses);
	assert_int_equal(a->dropped, b->dropped);
	for (uint32_t i = 0; i < a->nclasses; i++)
	{
		assert_int_equal(a->classes[i].rows, b->classes[i].rows);
		assert_true(kanon_same(placed(wide, a->classes[i].pattern), b->classes[i].pattern) ||
					(kanon_same(a->classes[i].pattern, all) &&
					 kanon_same(b->classes[i].pattern, kanon_pattern_all(wide->problem.ncolumns))));
	}
}

/* Small: so many rows at most; what comes out is the same. */
static void
solve_both(int number, size_t most, KanonSolve solve, bool greedy, int *done)
{
	for (int i = 0; i < cases(number); i++)
	{
		uint64_t random = 77000 + (uint64_t) i;
		Host host;
		static Wide wide;
		KanonProblem *small;
		KanonRelease a, b;
		KanonReport of_a = {0}, of_b = {0};
		KanonStatus status;

		host_init(&host);
		small = problem_random(&host, &random, most, 5);
		small->mask.max_suppressed = -1;
		for (int c = 0; c < small->ncolumns; c++)
			((KanonColumn *) small->columns)[c].weight = 1 + 0.37 * c;
		widen(small, &wide);
		assert_true(wide.problem.ncolumns > N - 5);
		/* to suppress all of the small one is not to suppress all */
		assert_int_equal(
			kanon_mask_count(&wide.problem, 1001),
			kanon_mask_count(small, 1000) +
				fixture_allows(&wide.problem, placed(&wide, kanon_pattern_all(small->ncolumns))));
		status = solve(small, &a, &of_a);
		assert_int_equal(solve(&wide.problem, &b, &of_b), status);
		if (status == KANON_OK)
		{
			if (greedy)
				assert_same_classes(small, &a, &wide, &b);
			if (greedy || (of_a.proven && of_b.proven))
				assert_true(fabs(of_a.cost - of_b.cost) <= 1e-7 * fmax(1, of_a.cost));
			*done += greedy || (of_a.proven && of_b.proven);
			kanon_release_free(small, &a);
			kanon_release_free(&wide.problem, &b);
		}
		assert_int_equal(host.blocks, 0);
		forget(&wide);
		problem_random_free(small);
	}
}

static void
greedy(void **state)
{
	int done = 0;

	(void) state;
	solve_both(400, 12, kanon_solve_greedy, true, &done);
	solve_both(400, 300, kanon_solve_greedy, true, &done);
	print_message("%d\n", done);
	assert_true(done > cases(400));
}

static void
proven(void **state)
{
	static const KanonSolve method[] = {kanon_solve_ilp, kanon_solve_improve, kanon_solve_best,
										kanon_solve_matching};

	(void) state;
	for (size_t s = 0; s < sizeof(method) / sizeof(method[0]); s++)
	{
		int done = 0;

		solve_both(100, 12, method[s], false, &done);
		print_message("%zu: %d\n", s, done);
		assert_true(done > 0);
	}
}

/* ---- a lattice of more nodes than 64 bits count ---- */

static void
lattice(void **state)
{
	(void) state;
	for (int i = 0; i < cases(20); i++)
	{
		uint64_t random = 88000 + (uint64_t) i;
		Host host;
		static Wide wide;
		KanonFullDomainOptions options = {.metric = KANON_METRIC_PRECISION};
		KanonOutcome of_a, of_b;
		KanonRelease a, b;
		KanonReport report = {0};
		KanonProblem *small;
		KanonStatus status;

		host_init(&host);
		small = problem_random_levels(&host, &random, 5 + random_below(&random, 40), 3, 4, 2);
		small->full_domain = &options;
		memset(&wide, 0, sizeof(wide));
		wide.problem = *small;
		wide.problem.ncolumns = 0;
		wide.problem.columns = wide.columns;
		wide.same = calloc(small->ntypes + 1, sizeof(uint32_t));
		/* twenty of four columns before each, so dear that they stay */
		for (int c = 0; c < small->ncolumns; c++)
		{
			for (int q = 0; q < 20 && small->columns[c].level == 0; q++)
				for (int r = 0; r < 4; r++)
					add_same(&wide, r, 1000);
			wide.place[c] = wide.problem.ncolumns;
			wide.columns[wide.problem.ncolumns++] = small->columns[c];
		}
		status = kanon_solve_full_domain(small, &of_a, &a, &report);
		assert_int_equal(kanon_solve_full_domain(&wide.problem, &of_b, &b, &report), status);
		if (status == KANON_OK)
		{
			assert_true(of_b.proven && of_b.nodes == INT64_MAX);
			assert_true(kanon_same(placed(&wide, of_a.best.pattern), of_b.best.pattern));
			assert_int_equal(a.nclasses, b.nclasses);
			kanon_release_free(small, &a);
			kanon_release_free(&wide.problem, &b);
		}
		assert_int_equal(host.blocks, 0);
		forget(&wide);
		problem_free(small);
	}
}

/* ---- one quasi-identifier with all levels that there may be ---- */

static void
high(void **state)
{
	static const KanonMetric metric[] = {KANON_METRIC_PRECISION, KANON_METRIC_HEIGHT};

	(void) state;
	for (size_t i = 0; i < sizeof(metric) / sizeof(metric[0]); i++)
		for (int k = 2; k <= 3; k++)
		{
			KanonFullDomainOptions options = {.metric = metric[i]};
			KanonOutcome outcome;
			KanonRelease release;
			KanonReport report = {0};
			KanonProblem *problem;
			int level[N];
			uint32_t rows[4 * N];
			Host host;

			host_init(&host);
			/* four rows of two values, in every level but the last, which suppresses */
			for (int c = 0; c < N; c++)
			{
				level[c] = c;
				for (uint32_t r = 0; r < 4; r++)
					rows[r * N + (uint32_t) c] = r / 2;
			}
			problem = problem_from_codes(&host, rows, 4, N, k);
			problem_set_levels(problem, level);
			problem->full_domain = &options;
			assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_OK);
			assert_int_equal(release.nclasses, k == 2 ? 2 : 1);
			assert_int_equal(kanon_count(outcome.best.pattern), k == 2 ? 0 : N);
			kanon_release_free(problem, &release);
			problem_free(problem);
			assert_int_equal(host.blocks, 0);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sets), cmocka_unit_test(greedy),
									   cmocka_unit_test(proven), cmocka_unit_test(lattice),
									   cmocka_unit_test(high)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
