/*
 * test_risk.c: diversity of sensitive values and identifying columns: examples
 * from the papers, and the definitions written out on random tables.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "privacy/rules.h"

#define MOST_VALUES 40
#define HEIGHT 4

static bool
close_to(double a, double b)
{
	return a == b || fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/*
 * Li, Li, Venkatasubramanian, section 4: salaries 3k .. 11k, one each.  The class
 * {3k,4k,5k} is at 0.375 from the table by the ordered distance, {6k,8k,11k} at
 * 0.167.
 */
static void
test_ordered_by_hand(void **state)
{
	static const int64_t table[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
	static const uint32_t low[] = {0, 1, 2};
	static const uint32_t wide[] = {3, 5, 8};
	static const int64_t one[] = {1, 1, 1};
	Host host;
	KanonDiversityMeter *meter;
	KanonDiversity diversity;

	(void) state;
	host_init(&host);
	assert_int_equal(kanon_diversity_open(&host.env, table, 9, NULL, &meter), KANON_OK);
	kanon_diversity_class(meter, low, one, 3, 3, &diversity);
	assert_true(close_to(diversity.t_ordered, 0.375));
	assert_true(close_to(diversity.t_equal, 2.0 / 3)); /* 3 (1/3 - 1/9) */
	assert_int_equal(diversity.distinct, 3);
	assert_true(diversity.entropy == 3);
	assert_true(close_to(diversity.alpha, 1.0 / 3));
	assert_true(diversity.recursive[2] == 0.5); /* 1 < c (1 + 1) */
	assert_true(diversity.recursive[3] == 1);
	assert_true(isinf(diversity.recursive[4]));
	kanon_diversity_class(meter, wide, one, 3, 3, &diversity);
	assert_true(close_to(diversity.t_ordered, 1.0 / 6));
	kanon_diversity_close(meter);
	assert_int_equal(host.blocks, 0);
}

/*
 * Four values a b | c d under two branches under a top, once each in the table.
 * A class of a alone: from b 1/4 at cost 1/2, from c and d 1/2 at cost 1: 0.625.
 * A class of a and c: each branch moves 1/4 within: 2 * 1/4 * 1/2 = 0.25.
 */
static void
test_hierarchical_by_hand(void **state)
{
	static const int64_t table[4] = {1, 1, 1, 1};
	static const uint32_t branch[4] = {0, 0, 1, 1};
	static const uint32_t top[2] = {0, 0};
	static const uint32_t *const parent[2] = {branch, top};
	static const uint32_t nodes[2] = {2, 1};
	static const KanonTaxonomy taxonomy = {2, nodes, parent};
	static const uint32_t a_c[] = {0, 2};
	static const int64_t one[] = {1, 1};
	Host host;
	KanonDiversityMeter *meter;
	KanonDiversity diversity;

	(void) state;
	host_init(&host);
	assert_int_equal(kanon_diversity_open(&host.env, table, 4, &taxonomy, &meter), KANON_OK);
	kanon_diversity_class(meter, a_c, one, 1, 1, &diversity);
	assert_true(close_to(diversity.t_hierarchical, 0.625));
	assert_true(close_to(diversity.t_equal, 0.75));
	kanon_diversity_class(meter, a_c, one, 2, 2, &diversity);
	assert_true(close_to(diversity.t_hierarchical, 0.25));
	kanon_diversity_close(meter);
	assert_int_equal(host.blocks, 0);
}

/*
 * Counts 5, 3, 1, 1 of four values: entropy of (.5, .3, .1, .1); recursive: 5 / 5,
 * 5 / 2, 5 / 1, none; alpha 5 of 10, or of 8 persons 5/8.
 */
static void
test_counts_by_hand(void **state)
{
	static const int64_t table[4] = {1, 5, 1, 3};
	static const uint32_t code[] = {0, 1, 2, 3};
	Host host;
	KanonDiversityMeter *meter;
	KanonDiversity diversity, worst;

	(void) state;
	host_init(&host);
	assert_int_equal(kanon_diversity_open(&host.env, table, 4, NULL, &meter), KANON_OK);
	kanon_diversity_class(meter, code, table, 4, 8, &diversity);
	assert_true(close_to(diversity.entropy, exp(-.5 * log(.5) - .3 * log(.3) - .2 * log(.1))));
	assert_true(diversity.recursive[2] == 1);
	assert_true(diversity.recursive[3] == 2.5);
	assert_true(diversity.recursive[4] == 5);
	assert_true(isinf(diversity.recursive[5]));
	assert_true(diversity.alpha == 0.625);
	/* the whole table is at no distance from itself, exactly */
	assert_true(diversity.t_equal == 0 && diversity.t_ordered == 0);
	worst = diversity;
	kanon_diversity_class(meter, code + 1, table + 1, 1, 5, &diversity);
	kanon_diversity_worse(&worst, &diversity);
	assert_int_equal(worst.distinct, 1);
	assert_true(worst.entropy == 1 && worst.alpha == 1 && isinf(worst.recursive[2]));
	assert_true(close_to(worst.t_equal, 0.5));
	kanon_diversity_close(meter);
	assert_int_equal(host.blocks, 0);
}

/* Distances as the paper defines them, over every value and node. */
static double
naive_hierarchical(const double *difference, uint32_t n, const KanonTaxonomy *taxonomy)
{
	double extra[MOST_VALUES];
	double distance = 0;

	memcpy(extra, difference, n * sizeof(double));
	for (int h = 0; h < taxonomy->height; h++)
	{
		double plus[MOST_VALUES] = {0};
		double minus[MOST_VALUES] = {0};

		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t parent = taxonomy->parent[h][i];

			if (extra[i] > 0)
				plus[parent] += extra[i];
			else
				minus[parent] -= extra[i];
		}
		n = taxonomy->nodes[h];
		for (uint32_t i = 0; i < n; i++)
		{
			distance += fmin(plus[i], minus[i]) * (h + 1) / taxonomy->height;
			extra[i] = plus[i] - minus[i];
		}
	}
	return distance;
}

static void
random_class(uint64_t *random, KanonDiversityMeter *meter, const int64_t *table, uint32_t distinct,
			 const KanonTaxonomy *taxonomy)
{
	uint32_t code[MOST_VALUES];
	int64_t count[MOST_VALUES];
	double difference[MOST_VALUES];
	double total = 0, all = 0, sum = 0, equal = 0, ordered = 0;
	uint32_t n = 0;
	KanonDiversity diversity;

	for (uint32_t v = 0; v < distinct; v++)
		all += (double) table[v];
	while (n == 0)
		for (uint32_t v = 0; v < distinct; v++)
			if (random_below(random, 3) == 0)
			{
				code[n] = v;
				count[n] = 1 + random_below(random, (uint32_t) table[v]);
				total += (double) count[n++];
			}
	for (uint32_t v = 0, i = 0; v < distinct; v++)
	{
		difference[v] = -(double) table[v] / all;
		if (i < n && code[i] == v)
			difference[v] += (double) count[i++] / total;
		equal += fabs(difference[v]) / 2;
		sum += difference[v];
		if (v + 1 < distinct)
			ordered += fabs(sum) / (distinct - 1);
	}
	kanon_diversity_class(meter, code, count, n, (int64_t) total, &diversity);
	assert_true(close_to(diversity.t_equal, equal));
	assert_true(close_to(diversity.t_ordered, ordered));
	assert_true(close_to(diversity.t_hierarchical, naive_hierarchical(difference, distinct, taxonomy)));
	assert_true(diversity.t_hierarchical <= equal + 1e-12);
	assert_true(diversity.entropy <= n + 1e-12 && diversity.entropy >= 1);
}

static void
test_random_classes(void **state)
{
	(void) state;
	for (int i = 0; i < cases(300); i++)
	{
		uint64_t random = 5100 + (uint64_t) i;
		uint32_t distinct = 1 + random_below(&random, MOST_VALUES);
		int64_t table[MOST_VALUES];
		uint32_t parent[HEIGHT][MOST_VALUES];
		const uint32_t *const parents[HEIGHT] = {parent[0], parent[1], parent[2], parent[3]};
		uint32_t nodes[HEIGHT];
		KanonTaxonomy taxonomy = {1 + (int) random_below(&random, HEIGHT), nodes, parents};
		Host host;
		KanonDiversityMeter *meter;
		KanonStatus status = KANON_NO_MEMORY;

		host_init(&host);
		for (uint32_t v = 0; v < distinct; v++)
			table[v] = 1 + random_below(&random, 20);
		for (int h = 0; h < taxonomy.height; h++)
		{
			uint32_t below = h == 0 ? distinct : nodes[h - 1];

			nodes[h] = 0;
			for (uint32_t v = 0; v < below; v++)
			{
				bool last = h == taxonomy.height - 1;

				parent[h][v] = last || nodes[h] == 0 ? 0 : random_below(&random, nodes[h] + 1);
				if (parent[h][v] == nodes[h])
					nodes[h]++;
			}
		}
		for (uint64_t n = 1; status == KANON_NO_MEMORY; n++)
		{
			host.allocations = 0;
			host.refuse_at = n;
			status = kanon_diversity_open(&host.env, table, distinct, &taxonomy, &meter);
			assert_true(status == KANON_OK || (meter == NULL && host.blocks == 0));
		}
		for (int j = 0; j < 10; j++)
			random_class(&random, meter, table, distinct, &taxonomy);
		kanon_diversity_close(meter);
		assert_int_equal(host.blocks, 0);
	}
}

/* Classes, unique rows and agreeing pairs by comparing all rows with all. */
static void
compare_subset(const KanonProblem *problem, const KanonSubset *subset)
{
	double rows = 0, together = 0;
	int64_t classes = 0, unique = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		int64_t same = 0;
		bool first = true;

		rows += (double) problem->rows[i];
		for (uint32_t j = 0; j < problem->ntypes; j++)
		{
			int at = 0;

			while (at < subset->ncolumns && problem->columns[subset->column[at]].code[i] ==
												problem->columns[subset->column[at]].code[j])
				at++;
			if (at < subset->ncolumns)
				continue;
			same += problem->rows[j];
			first = first && j >= i;
		}
		together += (double) problem->rows[i] * (double) (same - 1) / 2;
		classes += first;
		unique += same == 1;
	}
	assert_int_equal(subset->classes, classes);
	assert_int_equal(subset->unique, unique);
	assert_true(close_to(subset->distinction, (double) classes / rows));
	assert_true(close_to(subset->separation, rows > 1 ? 1 - together / (rows * (rows - 1) / 2) : 0));
}

static bool
is_part(const KanonSubset *part, const KanonSubset *whole)
{
	for (int i = 0; i < part->ncolumns; i++)
	{
		int at = 0;

		while (at < whole->ncolumns && whole->column[at] != part->column[i])
			at++;
		if (at == whole->ncolumns)
			return false;
	}
	return part->ncolumns < whole->ncolumns;
}

/* Against every part of it; returns whether it is minimal. */
static bool
compare_minimal(const KanonSubset *subsets, size_t n, size_t which, double rows)
{
	bool minimal = true;

	for (size_t s = 0; s < n; s++)
		if (is_part(&subsets[s], &subsets[which]) &&
			(subsets[s].classes == subsets[which].classes || (double) subsets[s].unique >= 0.9 * rows))
			minimal = false;
	assert_int_equal(subsets[which].minimal, minimal);
	return minimal;
}

static void
test_random_subsets(void **state)
{
	size_t left_out = 0, told = 0;

	(void) state;
	for (int i = 0; i < cases(150); i++)
	{
		uint64_t random = 9900 + (uint64_t) i;
		Host host;
		KanonSubset *subsets;
		KanonStatus status = KANON_NO_MEMORY;
		size_t n;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 60, 6);
		size_t d = (size_t) problem->ncolumns;

		for (uint64_t at = 1; status == KANON_NO_MEMORY; at = next_failure(at))
		{
			host.allocations = 0;
			host.refuse_at = at;
			status = kanon_rank_subsets(problem, &subsets, &n);
			assert_true(status == KANON_OK || host.blocks == 0);
		}
		assert_int_equal(status, KANON_OK);
		assert_int_equal(
			n, problem->ntypes == 0 ? 0 : d + d * (d - 1) / 2 + d * (d - 1) * (d > 2 ? d - 2 : 0) / 6);
		for (size_t s = 0; s < n; s++)
		{
			compare_subset(problem, &subsets[s]);
			assert_true(s == 0 || subsets[s - 1].distinction >= subsets[s].distinction);
			if (compare_minimal(subsets, n, s, (double) subsets[s].classes / subsets[s].distinction))
				told++;
			else
				left_out++;
		}
		kanon_free(&host.env, subsets);
		if (problem->ntypes > 0)
		{
			host.refuse_at = 0;
			host.cancel_at = host.polls + 1;
			status = kanon_rank_subsets(problem, &subsets, &n);
			assert_true(status == KANON_OK || (status == KANON_CANCELLED && subsets == NULL && n == 0));
			kanon_free(&host.env, subsets);
		}
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(told > 100 && left_out > 100);
}

/* What is taken is of the size of the table, however many combinations of values there could be. */
static void
test_memory_of_subsets(void **state)
{
	static uint32_t code[3 * 3000];
	Host host;
	KanonProblem *problem;
	KanonSubset *subsets;
	size_t n, before;

	(void) state;
	host_init(&host);
	for (uint32_t i = 0; i < 3000; i++)
		for (uint32_t c = 0; c < 3; c++)
			code[3 * i + c] = (i + 1) * (c + 7) % 3001 / 2;
	problem = problem_from_codes(&host, code, 3000, 3, 2);
	before = host.peak = host.live;
	assert_int_equal(kanon_rank_subsets(problem, &subsets, &n), KANON_OK);
	assert_int_equal(n, 7);
	assert_true(host.peak - before < (size_t) 100 * problem->ntypes);
	kanon_free(&host.env, subsets);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* A number of its own in each row; nine of ten with an address; the rest in two halves. */
static void
test_minimal_by_hand(void **state)
{
	enum
	{
		ROWS = 20,
		COLUMNS = 4
	};
	uint32_t number[ROWS], address[ROWS], half[ROWS], parity[ROWS];
	int64_t rows[ROWS];
	KanonColumn columns[COLUMNS] = {{.code = number, .distinct = ROWS},
									{.code = address, .distinct = 19},
									{.code = half, .distinct = 2},
									{.code = parity, .distinct = 2}};
	Host host;
	KanonProblem problem = {.ncolumns = COLUMNS, .columns = columns, .ntypes = ROWS, .rows = rows};
	KanonSubset *subsets;
	size_t n, minimal = 0;

	(void) state;
	host_init(&host);
	problem.env = &host.env;
	for (uint32_t i = 0; i < ROWS; i++)
	{
		number[i] = i;
		address[i] = i < 18 ? i : 18;
		half[i] = i / 10;
		parity[i] = i % 2;
		rows[i] = 1;
	}
	assert_int_equal(kanon_rank_subsets(&problem, &subsets, &n), KANON_OK);
	for (size_t s = 0; s < n; s++)
		if (subsets[s].minimal)
		{
			minimal++;
			/* the number; the address; each of the others, and both */
			assert_true(subsets[s].ncolumns == 1 || (subsets[s].column[0] == 2 && subsets[s].column[1] == 3));
		}
	assert_int_equal(minimal, 5);
	kanon_free(&host.env, subsets);
	assert_int_equal(host.blocks, 0);
}

/* What is drawn whole is known; and the formula by hand: N = 4, n = 2, classes of 1 and 1. */
static void
test_zayatz(void **state)
{
	static const KanonSizeCount whole[] = {{1, 7}, {2, 3}, {5, 1}};
	static const KanonSizeCount pair[] = {{1, 2}, {2, 1}};

	(void) state;
	assert_true(close_to(kanon_zayatz_uniques(whole, 3, 1), 7));
	assert_true(kanon_zayatz_uniques(whole + 1, 2, 0.1) == 0);
	/* N = 8, n = 4: H(1) = C(7,3)/C(8,4) = 1/2, H(2) = 2 C(6,3)/C(8,4) = 4/7; (2/3 1/2) / (2/3 1/2 + 1/3 4/7) = 7/11 */
	assert_true(close_to(kanon_zayatz_uniques(pair, 2, 0.5), 2 * 7.0 / 11 / 0.5));
}

/* Classes of size j that Pitman's formula expects in n rows. */
static double
expected_classes(double alpha, double theta, double n, double j)
{
	/* C(n,j) (1-alpha)_{j-1} (theta+alpha)_{n-j} / (theta+1)_{n-1}, (x)_m rising */
	return exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) + lgamma(j - alpha) - lgamma(1 - alpha) +
			   lgamma(theta + alpha + n - j) - lgamma(theta + alpha) - lgamma(theta + n) + lgamma(theta + 1));
}

/* Fitted to what it expects, it is found again; and no neighbour is more likely. */
static void
test_pitman(void **state)
{
	static const double cases[][2] = {{0.3, 50}, {0.6, 20}, {0.8, 5}, {0.2, 100}};
	enum
	{
		MOST = 400,
		ROWS = 200000
	};
	KanonSizeCount sizes[MOST];

	(void) state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
	{
		double alpha = cases[c][0], theta = cases[c][1];
		double least;
		size_t n = 0;
		KanonPitman fit;

		for (int64_t j = 1; j <= MOST; j++)
		{
			int64_t classes = (int64_t) round(expected_classes(alpha, theta, ROWS, (double) j));

			if (classes > 0)
				sizes[n++] = (KanonSizeCount){j, classes};
		}
		fit = kanon_pitman_fit(sizes, n);
		assert_true(fit.fits);
		least = kanon_pitman_likelihood(sizes, n, fit.alpha, fit.theta) + 1e-7;
		for (int d = 0; d < 4; d++)
			assert_true(kanon_pitman_likelihood(sizes, n,
												fit.alpha + (d == 0   ? 1e-3
															 : d == 1 ? -1e-3
																	  : 0),
												fit.theta + (d == 2   ? 0.1
															 : d == 3 ? -0.1
																	  : 0)) <= least);
		/* large classes are cut off, which costs a little */
		assert_true(fabs(fit.alpha - alpha) < 0.2);
		/* of a sample of all, what is expected are its own: the formula for j = 1 */
		fit.alpha = alpha;
		fit.theta = theta;
		assert_true(close_to(kanon_pitman_uniques(&fit, ROWS), expected_classes(alpha, theta, ROWS, 1)));
	}
	/* Ewens, 1972: alpha = 0 expects theta N / (theta + N - 1) */
	assert_true(fabs(kanon_pitman_uniques(&(KanonPitman){1e-9, 12, true}, 1000) - 12 * 1000 / 1011.0) < 1e-4);
	assert_false(kanon_pitman_fit(&(KanonSizeCount){1, 9}, 1).fits);
	assert_false(kanon_pitman_fit(sizes, 0).fits);
}

/*
 * Fisher, Corbet, Williams, "The relation between the number of species and the number of
 * individuals", 1943: Williams's moths at Rothamsted, 15,609 in 240 species, of a
 * logarithmic series of alpha = 40.25.  Pitman's formula without its alpha is Ewens's,
 * whose most likely theta is about that.
 */
static void
test_ewens_fisher(void **state)
{
	/* of theta alone, the sizes do not matter */
	static const KanonSizeCount sizes[] = {{65, 239}, {74, 1}};
	double best = -INFINITY, at = 0;

	(void) state;
	for (double theta = 30; theta < 50; theta += 0.01)
	{
		double is = kanon_pitman_likelihood(sizes, 2, 1e-4, theta);

		if (is > best)
		{
			best = is;
			at = theta;
		}
	}
	assert_true(fabs(at - 40.25) < 0.5);
}

/* The mean of 1 / F by its definition, a sum over the population's rows of the class. */
static double
mean_inverse(double rows, double population)
{
	double p = rows / population, chance = exp(rows * log(p)), sum = 0;

	for (double f = rows; f < rows + 4000 / p; f++)
	{
		sum += chance / f;
		chance *= (1 - p) * f / (f - rows + 1);
	}
	return sum;
}

static void
test_individual(void **state)
{
	static const double rows[] = {1, 2, 3, 7, 40, 150, 400};
	static const double share[] = {.001, .02, .3, .5, .7, .99, .99999};

	(void) state;
	assert_true(close_to(kanon_individual_risk(1, 215), log(215) / 214));
	assert_true(close_to(kanon_individual_risk(2, 360), (1 - log(180) / 179) / 179));
	assert_true(kanon_individual_risk(4, 4) == .25);
	assert_true(kanon_individual_risk(4, 2) == .25);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t j = 0; j < sizeof(share) / sizeof(*share); j++)
			if (rows[i] * log(share[j]) > -700)
			{
				double risk = kanon_individual_risk(rows[i], rows[i] / share[j]);

				assert_true(fabs(risk / mean_inverse(rows[i], rows[i] / share[j]) - 1) < 1e-7);
			}
	/* both ways meet, and the expansion goes on where the recursion ends */
	for (double p = .1; p < 1; p += .2)
	{
		double before = kanon_individual_risk(999, 999 / p), after = kanon_individual_risk(1000, 1000 / p);

		assert_true(fabs(before / after - 1000.0 / 999) < 1e-5);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zayatz),
		cmocka_unit_test(test_pitman),
		cmocka_unit_test(test_ewens_fisher),
		cmocka_unit_test(test_ordered_by_hand),
		cmocka_unit_test(test_hierarchical_by_hand),
		cmocka_unit_test(test_counts_by_hand),
		cmocka_unit_test(test_random_classes),
		cmocka_unit_test(test_random_subsets),
		cmocka_unit_test(test_memory_of_subsets),
		cmocka_unit_test(test_minimal_by_hand),
		cmocka_unit_test(test_individual),
	};

	return cmocka_run_group_tests_name("risk", tests, NULL, NULL);
}
