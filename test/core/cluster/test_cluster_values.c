/*
 * test_cluster_values.c: forest and gather with distinct values in each class, and every
 * clustering under a rule that it does not know: factors and bounds against all partitions
 * of tiny tables.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "diverse.h"
#include "exact.h"

#define MOST 9
#define QIS 3

typedef struct Tiny
{
	Host host;
	KanonProblem *problem;
	KanonPrivacyRule rule;
	size_t n;
	uint32_t code[MOST * 30][QIS + 1];
	uint32_t l;
} Tiny;

/* The last column is what the rule counts. */
static void
tiny_open(Tiny *t, uint64_t *random, size_t n, uint32_t domain, uint32_t values, int64_t k, uint32_t l)
{
	static const KanonClusterShow shows[QIS] = {KANON_CLUSTER_SUPPRESS, KANON_CLUSTER_SUPPRESS,
												KANON_CLUSTER_SUPPRESS};
	static const struct KanonClusterOptions options = {shows};

	t->n = n;
	t->l = l;
	host_init(&t->host);
	for (size_t i = 0; i < n; i++)
	{
		for (int c = 0; c < QIS; c++)
			t->code[i][c] = random_below(random, domain);
		/* some values are rare */
		t->code[i][QIS] = random_below(random, 1 + random_below(random, values));
	}
	t->problem = problem_from_codes(&t->host, &t->code[0][0], n, QIS + 1, k);
	t->problem->ncolumns = QIS;
	t->problem->extra = t->problem->columns + QIS;
	t->problem->nextra = 1;
	diverse_dense((KanonColumn *) &t->problem->columns[QIS], t->problem->ntypes);
	t->problem->cluster = &options;
	t->rule = (KanonPrivacyRule){.kind = KANON_DISTINCT_L, .l = l};
	assert_int_equal(kanon_privacy_open(t->problem, &t->rule, 1, &t->problem->privacy), KANON_OK);
}

static void
tiny_close(Tiny *t)
{
	kanon_privacy_close(t->problem->privacy);
	assert_int_equal(t->host.blocks, 0);
	t->problem->privacy = NULL;
	t->problem->ncolumns = QIS + 1;
	problem_free(t->problem);
}

static unsigned
apart(const Tiny *t, size_t a, size_t b)
{
	unsigned sum = 0;

	for (int c = 0; c < QIS; c++)
		sum += t->code[a][c] != t->code[b][c];
	return sum;
}

/* What a class hides of all its rows, and its radius; false: it may not be one. */
static bool
class_facts(const Tiny *t, const unsigned *class_, unsigned which, double *cost, double *radius)
{
	unsigned values = 0;
	unsigned of[MOST] = {0};
	unsigned most = 0;
	int64_t rows = 0;
	unsigned differ = 0;
	unsigned least = QIS + 1;

	for (size_t i = 0; i < t->n; i++)
	{
		unsigned farthest = 0;

		if (class_[i] != which)
			continue;
		rows++;
		values |= 1u << t->code[i][QIS];
		of[t->code[i][QIS]]++;
		most = of[t->code[i][QIS]] > most ? of[t->code[i][QIS]] : most;
		for (size_t j = 0; j < t->n; j++)
			if (class_[j] == which)
			{
				for (int c = 0; c < QIS; c++)
					differ |= (unsigned) (t->code[i][c] != t->code[j][c]) << c;
				farthest = apart(t, i, j) > farthest ? apart(t, i, j) : farthest;
			}
		least = farthest < least ? farthest : least;
	}
	*cost = (double) rows * __builtin_popcount(differ);
	*radius = least;
	if (rows < t->problem->k)
		return false;
	return t->rule.kind == KANON_ALPHA ? most <= t->rule.share * (double) rows
									   : __builtin_popcount(values) >= (int) t->l;
}

/* All partitions of rows from `row` on. */
static void
all_partitions(const Tiny *t, unsigned *class_, size_t row, unsigned nclasses, double *least_cost,
			   double *least_radius)
{
	double cost = 0;
	double radius = 0;

	if (row < t->n)
	{
		for (unsigned c = 0; c <= nclasses; c++)
		{
			class_[row] = c;
			all_partitions(t, class_, row + 1, c == nclasses ? nclasses + 1 : nclasses, least_cost,
						   least_radius);
		}
		return;
	}
	for (unsigned c = 0; c < nclasses; c++)
	{
		double each, wide;

		if (!class_facts(t, class_, c, &each, &wide))
			return;
		cost += each;
		radius = wide > radius ? wide : radius;
	}
	*least_cost = cost < *least_cost ? cost : *least_cost;
	*least_radius = radius < *least_radius ? radius : *least_radius;
}

/* k rows and l values in each class, by hand. */
static void
check_classes(const Tiny *t, const KanonRelease *release)
{
	for (uint32_t c = 0; c < release->nclasses; c++)
	{
		bool seen[64] = {false};
		uint32_t values = 0;
		int64_t rows = 0;

		for (size_t f = 0; f < release->nflows; f++)
			if (release->flows[f].class_ == c)
			{
				uint32_t value = t->problem->extra[0].code[release->flows[f].type];

				rows += release->flows[f].rows;
				values += !seen[value];
				seen[value] = true;
			}
		assert_true(rows >= t->problem->k);
		assert_true(values >= t->l);
	}
}

/* What the classes hide, and the largest radius, of row types all of whose rows go to one class. */
static void
class_costs(const Tiny *t, const KanonRelease *release, double *cost, double *radius)
{
	const KanonProblem *problem = t->problem;

	for (uint32_t c = 0; c < release->nclasses; c++)
	{
		unsigned differ = 0;
		unsigned least = QIS + 1;
		int64_t rows = 0;

		for (size_t f = 0; f < release->nflows; f++)
		{
			unsigned farthest = 0;

			if (release->flows[f].class_ != c)
				continue;
			rows += release->flows[f].rows;
			for (size_t g = 0; g < release->nflows; g++)
				if (release->flows[g].class_ == c)
				{
					unsigned sum = 0;

					for (int q = 0; q < QIS; q++)
					{
						const uint32_t *code = problem->columns[q].code;
						unsigned other = code[release->flows[f].type] != code[release->flows[g].type];

						differ |= other << q;
						sum += other;
					}
					farthest = sum > farthest ? sum : farthest;
				}
			least = farthest < least ? farthest : least;
		}
		*cost += (double) rows * __builtin_popcount(differ);
		*radius = least > *radius ? least : *radius;
	}
}

static void
factors(void **state)
{
	uint64_t random = 2006;
	int refused = 0;
	int above = 0;

	(void) state;
	for (int round = 0; round < cases(1500); round++)
	{
		Tiny t;
		unsigned class_[MOST];
		double least_cost = INFINITY;
		double least_radius = INFINITY;

		tiny_open(&t, &random, 3 + random_below(&random, MOST - 3), 2 + random_below(&random, 3), 5,
				  1 + random_below(&random, 3), 1 + random_below(&random, 4));
		all_partitions(&t, class_, 0, 0, &least_cost, &least_radius);
		for (int m = 0; m < 2; m++)
		{
			KanonRelease release;
			KanonReport report;
			KanonStatus status = m == 0 ? kanon_solve_forest(t.problem, &release, &report)
										: kanon_solve_gather(t.problem, &release, &report);
			double least = m == 0 ? least_cost : least_radius;

			if (isinf(least_cost))
			{
				assert_int_equal(status, KANON_INFEASIBLE);
				refused++;
				continue;
			}
			assert_int_equal(status, KANON_OK);
			check_classes(&t, &release);
			if (m == 1)
				assert_true(report.guarantee == 2);
			if (report.cost > report.guarantee * least + 1e-6 || report.lower_bound > least + 1e-6)
				print_error("round %d, %s: %g, bound %g, guarantee %g, least %g\n", round,
							m == 0 ? "forest" : "gather", report.cost, report.lower_bound, report.guarantee,
							least);
			assert_true(report.cost <= report.guarantee * least + 1e-6);
			assert_true(report.cost >= least - 1e-6);
			assert_true(report.lower_bound <= least + 1e-6);
			above += report.cost > least + 0.5;
			kanon_release_free(t.problem, &release);
		}
		tiny_close(&t);
	}
	assert_true(refused > 0 && above > 0);
}

/*
 * What knows k alone is mended: its bound holds, and a factor only where it is still said; what gather
 * costs is the radius of the classes as they are.
 */
static void
mended(void **state)
{
	static const struct
	{
		KanonSolve solve;
		int64_t k; /* 0: any */
	} methods[] = {{kanon_solve_gather, 0},   {kanon_solve_forest, 0}, {kanon_solve_bottom_up, 0},
				   {kanon_solve_top_down, 0}, {kanon_solve_pairs, 2},  {kanon_solve_triples, 3}};
	uint64_t random = 2007;
	int kept = 0;
	int lost = 0;

	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		Tiny t;
		unsigned class_[MOST];
		double least_cost = INFINITY;
		double least_radius = INFINITY;

		tiny_open(&t, &random, 4 + random_below(&random, MOST - 4), 2 + random_below(&random, 3), 4,
				  2 + random_below(&random, 2), 1);
		kanon_privacy_close(t.problem->privacy);
		t.rule = (KanonPrivacyRule){.kind = KANON_ALPHA, .share = random_below(&random, 2) == 0 ? 0.5 : 0.7};
		assert_int_equal(kanon_privacy_open(t.problem, &t.rule, 1, &t.problem->privacy), KANON_OK);
		all_partitions(&t, class_, 0, 0, &least_cost, &least_radius);
		for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
		{
			double least = m == 0 ? least_radius : least_cost;
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			if (methods[m].k != 0 && methods[m].k != t.problem->k)
				continue;
			status = methods[m].solve(t.problem, &release, &report);
			if (status == KANON_UNAVAILABLE)
				continue;
			assert_int_equal(status, isinf(least_cost) ? KANON_INFEASIBLE : KANON_OK);
			if (status == KANON_OK)
			{
				double cost = 0;
				double radius = 0;

				check_classes(&t, &release);
				class_costs(&t, &release, &cost, &radius);
				assert_true(fabs(report.cost - (m == 0 ? radius : cost)) < 1e-6);
				assert_true(report.cost >= least - 1e-6 && report.lower_bound <= least + 1e-6);
				assert_true(report.guarantee == 0 || report.cost <= report.guarantee * least + 1e-6);
				kept += report.guarantee > 0;
				lost += report.guarantee == 0 && m < 2;
			}
			kanon_release_free(t.problem, &release);
		}
		tiny_close(&t);
	}
	assert_true(kept > 0 && lost > 0);
}

/*
 * The radius of what is left when rows are left out may be less than any of all rows: a bound of
 * that, and a factor, say nothing of it.
 */
static void
radius_without(void **state)
{
	uint64_t random = 2011;
	int dropped = 0;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		Tiny t;
		KanonRelease release;
		KanonReport report;

		tiny_open(&t, &random, 6 + random_below(&random, MOST - 6), 3, 4, 2, 1);
		kanon_privacy_close(t.problem->privacy);
		t.rule = (KanonPrivacyRule){.kind = KANON_ALPHA, .share = 0.5};
		t.problem->residual = KANON_RESIDUAL_DROP;
		assert_int_equal(kanon_privacy_open(t.problem, &t.rule, 1, &t.problem->privacy), KANON_OK);
		assert_int_equal(kanon_solve_gather(t.problem, &release, &report), KANON_OK);
		assert_true(release.dropped == 0 ||
					(report.guarantee == 0 && isinf(report.lower_bound) && !report.proven));
		dropped += release.dropped > 0;
		kanon_release_free(t.problem, &release);
		tiny_close(&t);
	}
	assert_true(dropped > 0);
}

/* Larger ones: everything but the optimum; and rows in larger clusters than they must be are few. */
static void
larger(void **state)
{
	uint64_t random = 7;

	(void) state;
	for (int round = 0; round < cases(200); round++)
	{
		static Tiny t;
		size_t n = 40 + random_below(&random, 200);
		uint32_t l = 1 + random_below(&random, 5);
		int64_t k = 1 + random_below(&random, 8);

		tiny_open(&t, &random, n, 2 + random_below(&random, 12), 8, k, l);
		for (int m = 0; m < 2; m++)
		{
			KanonRelease release;
			KanonReport report;
			KanonStatus status = m == 0 ? kanon_solve_forest(t.problem, &release, &report)
										: kanon_solve_gather(t.problem, &release, &report);

			if (t.problem->extra[0].distinct < l)
				assert_int_equal(status, KANON_INFEASIBLE);
			if (status == KANON_INFEASIBLE)
				continue;
			assert_int_equal(status, KANON_OK);
			check_classes(&t, &release);
			assert_true(report.lower_bound <= report.cost + 1e-6);
			if (m == 0)
				assert_true(report.cost <= report.guarantee * fmax(report.lower_bound, 1e-9) + 1e-6);
			else
				assert_true(report.cost <= 2 * report.lower_bound + 1e-6);
			kanon_release_free(t.problem, &release);
		}
		tiny_close(&t);
	}
}

/* ---- memory and cancel ---- */

static Tiny shared;

static void
run_each(KanonSolve solve)
{
	uint64_t random = 5;
	bool done = false;

	for (uint64_t at = 1; !done; at = next_failure(at))
	{
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		random = 5;
		tiny_open(&shared, &random, 60, 4, 4, 3, 3);
		shared.host.refuse_at = shared.host.allocations + at;
		status = solve(shared.problem, &release, &report);
		done = status == KANON_OK;
		if (done)
			kanon_release_free(shared.problem, &release);
		else
			assert_int_equal(status, KANON_NO_MEMORY);
		tiny_close(&shared);
	}
	done = false;
	for (uint64_t at = 1; !done; at = next_failure(at))
	{
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		random = 5;
		tiny_open(&shared, &random, 60, 4, 4, 3, 3);
		shared.host.cancel_at = shared.host.polls + at;
		status = solve(shared.problem, &release, &report);
		done = status == KANON_OK;
		if (done)
			kanon_release_free(shared.problem, &release);
		else
			assert_int_equal(status, KANON_CANCELLED);
		tiny_close(&shared);
	}
}

static void
memory_and_cancel(void **state)
{
	(void) state;
	run_each(kanon_solve_forest);
	run_each(kanon_solve_gather);
}

/* Places that are no numbers, as deviations of numbers that overflow: every point has a group all the same. */
static void
points_without_a_place(void **state)
{
	static const double at[] = {0, NAN, 1, INFINITY, 2, -INFINITY, 3, NAN, 4};
	static const int64_t weight[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
	KanonPoints points = {9, 1, at, weight};
	uint32_t group[9], rows[9] = {0}, ngroups = 0;
	Host host;

	(void) state;
	host_init(&host);
	memset(group, 0xff, sizeof(group));
	assert_int_equal(kanon_mdav(&host.env, &points, 2, group, &ngroups), KANON_OK);
	for (int i = 0; i < 9; i++)
	{
		assert_true(group[i] < ngroups);
		rows[group[i]]++;
	}
	for (uint32_t g = 0; g < ngroups; g++)
		assert_true(rows[g] >= 2);
	assert_int_equal(host.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_without_a_place),
		cmocka_unit_test(factors),
		cmocka_unit_test(mended),
		cmocka_unit_test(radius_without),
		cmocka_unit_test(larger),
		cmocka_unit_test(memory_and_cancel),
	};

	return cmocka_run_group_tests_name("cluster_values", tests, NULL, NULL);
}
