/*
 * test_exactly_figures.c: sets, groups, subsets, masks and what is measured, on tables that are the
 * same everywhere (exactly.h).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "anatomy/anatomy.h"
#include "privacy/diversity.h"
#include "privacy/subsets.h"
#include "privacy/uniques.h"
#include "transactions/transactions.h"
#include "exactly.h"

/* ---- sets ---- */

#define MOST_ITEMS 9
#define MOST_ROWS 60

typedef struct Sets
{
	size_t start[MOST_ROWS + 1];
	uint32_t item[MOST_ROWS * MOST_ITEMS];
	uint32_t parent[2 * MOST_ITEMS];
	bool sensitive[MOST_ITEMS];
} Sets;

/* Baskets in which some items are rare, or all about as frequent, below a tree of pairs and triples. */
static void
fill(KanonTransactions *problem, Sets *sets, uint64_t *random, const KanonSetMethod *method, bool alike)
{
	uint32_t nrows = 20 + random_below(random, MOST_ROWS - 20);
	uint32_t at = MOST_ITEMS;
	size_t n = 0;

	for (uint32_t t = 0; t < nrows; t++)
	{
		sets->start[t] = n;
		for (uint32_t i = 0; i < MOST_ITEMS; i++)
			if (t == 0 || (alike ? (t + i) % 5 == random_below(random, 3) : random_below(random, 4 + i) < 2))
				sets->item[n++] = i;
	}
	sets->start[nrows] = n;
	problem->sets = (KanonSets){MOST_ITEMS, nrows, sets->start, sets->item};
	for (uint32_t i = 0; i < MOST_ITEMS; i++)
		sets->sensitive[i] = method->model != KANON_MODEL_KM && random_below(random, 3) == 0;
	problem->sensitive = method->model != KANON_MODEL_KM ? sets->sensitive : NULL;
	memset(sets->parent, 0xff, sizeof(sets->parent));
	if (method->generalizes)
	{
		uint32_t under = 0, of = 2 + random_below(random, 2);

		for (uint32_t i = 0; i < MOST_ITEMS; i++)
			if (!sets->sensitive[i])
			{
				sets->parent[i] = at + under / of;
				under++;
			}
		if (under > 0)
		{
			uint32_t top = at + (under + of - 1) / of;

			for (uint32_t v = at; v < top; v++)
				sets->parent[v] = top;
			at = top + 1;
		}
	}
	problem->nnodes = at;
	problem->parent = sets->parent;
}

static void
sets(void **state)
{
	(void) state;
	for (const KanonSetMethod *method = kanon_set_methods; method->name != NULL; method++)
	{
		Seen seen = {method->name};
		uint64_t random = 8;

		for (int i = 0; i < 3 * SEEN_TABLES; i++)
		{
			Sets sets;
			Host host;
			KanonTransactions problem = {.k = 2 + i % 7,
										 .m = i % 9 == 5 ? KANON_MAX_SET : 1 + i % 3,
										 .h = 30 + i % 50,
										 .rho = 0.2 + i % 7 * 0.1,
										 .time_limit = INFINITY};
			KanonRecoding recoding;
			KanonReport report = {0};
			KanonStatus status;

			host_init(&host);
			problem.env = &host.env;
			fill(&problem, &sets, &random, method, i % 3 == 2);
			status = method->recode(&problem, &recoding, &report);
			seen_value(&seen, host.said);
			seen_value(&seen, status);
			if (status == KANON_OK)
			{
				KanonSetMeasures m;
				KanonSupport supports[KANON_MAX_SET];
				KanonRuleFound worst;

				seen_figure(&seen, 0, report.cost);
				seen_figure(&seen, 1, report.lower_bound);
				seen_figure(&seen, 2, (double) report.nodes);
				seen_figure(&seen, 3, report.proven);
				for (uint32_t v = 0; v < problem.sets.nitems; v++)
					seen_value(&seen, recoding.shown[v]);
				assert_int_equal(kanon_measure_sets(&problem, &recoding, &m), KANON_OK);
				seen_figure(&seen, 4, m.ncp);
				seen_figure(&seen, 5, (double) m.occurrences);
				seen_figure(&seen, 6, (double) m.suppressed);
				seen_figure(&seen, 7, m.frequent);
				seen_figure(&seen, 8, m.frequent_preserved);
				seen_value(&seen, m.items_suppressed);
				seen_value(&seen, m.items_before);
				seen_value(&seen, m.shown_after);
				seen_value(&seen, m.empty_before);
				seen_value(&seen, m.empty_after);
				assert_int_equal(kanon_recount_supports(&host.env, &problem.sets, problem.sensitive,
														problem.m, problem.k, supports, &report),
								 KANON_OK);
				for (int size = 0; size < problem.m; size++)
				{
					seen_value(&seen, supports[size].sets);
					seen_value(&seen, supports[size].smallest);
					seen_value(&seen, supports[size].transactions);
					seen_value(&seen, supports[size].below);
					for (int j = 0; j <= size && supports[size].sets > 0; j++)
						seen_value(&seen, supports[size].set[j]);
					if (problem.sensitive != NULL)
					{
						seen_value(&seen, supports[size].worst_cohort);
						seen_value(&seen, supports[size].worst_with);
					}
				}
				if (problem.sensitive != NULL)
				{
					assert_int_equal(
						kanon_recount_rules(&host.env, &problem.sets, problem.sensitive, &worst, &report),
						KANON_OK);
					seen_value(&seen, worst.cohort);
					seen_value(&seen, worst.with);
					for (int j = 0; j < worst.known && worst.cohort > 0; j++)
						seen_value(&seen, worst.left[j]);
				}
			}
			else
				seen_text(&seen, report.detail);
			kanon_recoding_free(&problem, &recoding);
			assert_int_equal(host.blocks, 0);
		}
		seen_compare(&seen);
	}
}

/* ---- what is measured ---- */

static void
subsets(void **state)
{
	Seen seen = {"subsets"};
	uint64_t random = 9;

	(void) state;
	for (int i = 0; i < SEEN_TABLES; i++)
	{
		Host host;
		KanonSubset *subsets;
		size_t n;
		KanonProblem *problem;

		host_init(&host);
		problem = problem_random(&host, &random, 60, 5);
		assert_int_equal(kanon_rank_subsets(problem, &subsets, &n), KANON_OK);
		for (size_t s = 0; s < n; s++)
		{
			for (int c = 0; c < subsets[s].ncolumns; c++)
				seen_value(&seen, subsets[s].column[c]);
			seen_value(&seen, subsets[s].classes);
			seen_value(&seen, subsets[s].unique);
			seen_value(&seen, subsets[s].minimal);
			seen_figure(&seen, 0, subsets[s].distinction);
			seen_figure(&seen, 1, subsets[s].separation);
		}
		kanon_free(&host.env, subsets);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	seen_compare(&seen);
}

static void
diversities(void **state)
{
	static const uint32_t nodes[] = {4, 2, 1};
	static const uint32_t parent0[] = {0, 0, 1, 1, 2, 2, 2, 3}, parent1[] = {0, 0, 1, 1}, parent2[] = {0, 0};
	static const uint32_t *const parents[] = {parent0, parent1, parent2};
	KanonTaxonomy taxonomy = {3, nodes, parents};
	Seen seen = {"diversities"};
	uint64_t random = 10;

	(void) state;
	for (int i = 0; i < SEEN_TABLES; i++)
	{
		Host host;
		KanonDiversityMeter *meter;
		KanonDiversity all = {.distinct = UINT32_MAX};
		int64_t table[8], rows = 0;
		uint32_t code[8], n = 0;
		int64_t count[8];

		host_init(&host);
		for (uint32_t v = 0; v < 8; v++)
			table[v] = 1 + random_below(&random, 20);
		assert_int_equal(kanon_diversity_open(&host.env, table, 8, i % 2 == 0 ? &taxonomy : NULL, &meter),
						 KANON_OK);
		for (int j = 0; j < 5; j++)
		{
			KanonDiversity d;

			n = 0;
			rows = 0;
			for (uint32_t v = 0; v < 8; v++)
				if (random_below(&random, 3) > 0 || v == 7)
				{
					code[n] = v;
					count[n] = 1 + random_below(&random, (uint32_t) table[v]);
					rows += count[n++];
				}
			kanon_diversity_class(meter, code, count, n, rows, &d);
			if (j == 0)
				all = d;
			else
				kanon_diversity_worse(&all, &d);
			for (int w = 0; w < 2; w++)
			{
				const KanonDiversity *of = w == 0 ? &d : &all;

				seen_figure(&seen, 0, of->distinct);
				seen_figure(&seen, 1, of->entropy);
				for (int l = 2; l <= KANON_RECURSIVE_MOST; l++)
					seen_figure(&seen, 2, l * fmin(of->recursive[l], 1e3));
				seen_figure(&seen, 3, of->alpha);
				seen_figure(&seen, 4, of->t_equal);
				seen_figure(&seen, 5, of->t_ordered);
				seen_figure(&seen, 6, of->t_hierarchical);
			}
			for (int t = 0; t < 3; t++)
				seen_figure(&seen, 7,
							(t + 1) * kanon_diversity_distance(meter, (KanonDistance) t, code, count, n));
			seen_figure(&seen, 8, kanon_diversity_entropy(count, n));
		}
		kanon_diversity_close(meter);
		assert_int_equal(host.blocks, 0);
	}
	seen_compare(&seen);
}

static void
uniques(void **state)
{
	static const KanonSizeCount sizes[] = {{1, 40}, {2, 17}, {3, 9}, {5, 4}, {8, 2}, {13, 1}};
	Seen seen = {"uniques"};

	(void) state;
	for (size_t n = 2; n <= 6; n++)
	{
		KanonPitman pitman = kanon_pitman_fit(sizes, n);

		/* at its top the likelihood is so flat that libm's last digit moves the seventh here */
		seen_figure(&seen, 0, rint(pitman.alpha * 1e4));
		seen_figure(&seen, 1, rint(pitman.theta * 10));
		seen_figure(&seen, 2, pitman.fits);
		seen_figure(&seen, 3, kanon_pitman_likelihood(sizes, n, 0.3, 20));
		for (double population = 100; population < 1e6; population *= 7)
			seen_figure(&seen, 4, rint(kanon_pitman_uniques(&pitman, population) * 10));
		for (double fraction = 0.01; fraction <= 1; fraction *= 3)
			seen_figure(&seen, 5, kanon_zayatz_uniques(sizes, n, fraction));
	}
	seen_compare(&seen);
}

static uint64_t
draw(void *arg)
{
	return random_next(arg);
}

static void
anatomies(void **state)
{
	Seen seen = {"anatomies"};
	uint64_t random = 11;

	(void) state;
	for (int i = 0; i < 3 * SEEN_TABLES; i++)
	{
		int64_t rows[12];
		Host host;
		KanonAnatomyProblem problem = {
			.nvalues = 1 + (uint32_t) i % 12, .rows = rows, .l = 1 + i % 5, .draw = draw, .arg = &random};
		KanonAnatomy anatomy;
		KanonStatus status;

		host_init(&host);
		problem.env = &host.env;
		for (uint32_t v = 0; v < problem.nvalues; v++)
			rows[v] = 1 + random_below(&random, 9);
		status = kanon_anatomize(&problem, &anatomy);
		seen_value(&seen, status);
		if (status == KANON_OK)
		{
			seen_figure(&seen, 0, anatomy.error);
			seen_figure(&seen, 1, anatomy.ngroups);
			for (uint32_t r = 0; r < anatomy.nrows; r++)
			{
				seen_value(&seen, anatomy.group[r]);
				seen_value(&seen, anatomy.value[r]);
			}
			for (uint32_t g = 0; g <= anatomy.ngroups; g++)
				seen_value(&seen, anatomy.first[g]);
		}
		kanon_anatomy_free(&host.env, &anatomy);
		assert_int_equal(host.blocks, 0);
	}
	seen_compare(&seen);
}

/* The patterns of a mask, in their order. */
static void
masks(void **state)
{
	Seen seen = {"masks"};
	uint64_t random = 12;

	(void) state;
	for (int i = 0; i < 10 * SEEN_TABLES; i++)
	{
		Host host;
		KanonProblem *problem;
		KanonPattern *patterns = NULL;
		size_t n = 0;

		host_init(&host);
		problem = problem_random(&host, &random, 6, 8);
		seen_value(&seen, kanon_mask_enumerate(problem, 200, &patterns, &n));
		for (size_t p = 0; p < n && patterns != NULL; p++)
			seen_pattern(&seen, patterns[p]);
		seen_figure(&seen, 0, (double) n);
		seen_figure(&seen, 1, (double) kanon_mask_count(problem, 200));
		kanon_free(&host.env, patterns);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	seen_compare(&seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets),    cmocka_unit_test(subsets),   cmocka_unit_test(diversities),
		cmocka_unit_test(uniques), cmocka_unit_test(anatomies), cmocka_unit_test(masks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
