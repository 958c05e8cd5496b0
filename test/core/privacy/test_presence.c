/*
 * test_presence.c: how probable bounds on presence are, against the binomial distribution term by
 * term, and against populations drawn at random (the seed is fixed).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fixture.h"
#include "privacy/population.h"

/* Within the bounds, as the definition has it? */
static bool
is_within(int64_t rows, int64_t x, double least, double most)
{
	double chance = (double) rows / (double) (rows + x);

	return chance >= least - 1e-9 && chance <= most + 1e-9;
}

static double
term_by_term(int64_t rows, int64_t n, double p, double least, double most)
{
	double sum = 0;

	for (int64_t x = 0; x <= n; x++)
		if (is_within(rows, x, least, most))
			sum += exp(lgamma((double) n + 1) - lgamma((double) x + 1) - lgamma((double) (n - x) + 1) +
					   (double) x * log(p) + (double) (n - x) * log1p(-p));
	return sum;
}

static void
exact(void **state)
{
	uint64_t random = 2010;
	int between = 0;

	(void) state;
	for (int round = 0; round < cases(20000); round++)
	{
		int64_t n = random_below(&random, round % 10 == 0 ? 5000 : 60);
		int64_t rows = 1 + random_below(&random, 30);
		double p = (1 + random_below(&random, 998)) / 1000.0;
		double least = random_below(&random, 2) * 0.01 * random_below(&random, 60);
		double most = least + (1 - least) * 0.1 * random_below(&random, 11);
		double is = kanon_presence_likelihood(rows, n, p, least, most);
		double should = term_by_term(rows, n, p, least, most);

		assert_true(fabs(is - should) < 1e-9);
		between += should > 0.01 && should < 0.99;
	}
	assert_true(between > cases(20000) / 10);
}

/* Nobody, everybody; more than a sum could take. */
static void
edges(void **state)
{
	(void) state;
	assert_true(kanon_presence_likelihood(5, 100, 0, 0, 1) == 1);
	assert_true(kanon_presence_likelihood(5, 100, 0, 0, 0.9) == 0);
	assert_true(kanon_presence_likelihood(5, 100, 1, 0, 0.05) == 1);
	assert_true(kanon_presence_likelihood(5, 100, 1, 0.05, 1) == 0);
	assert_true(kanon_presence_likelihood(5, 0, 0.5, 0, 1) == 1);
	assert_true(kanon_presence_likelihood(5, 0, 0.5, 0, 0.5) == 0);
	assert_true(kanon_presence_likelihood(5, 100, 0.5, 0, 0) == 0);
	/* shares that were added up */
	assert_true(kanon_presence_likelihood(5, 100, 1 + 1e-12, 0, 0.05) == 1);
	assert_true(kanon_presence_likelihood(5, 100, -1e-12, 0, 1) == 1);
	/* a quarter of 4 * 10^9 people: the mean is passed with a probability of one half */
	assert_true(fabs(kanon_presence_likelihood(1000000, INT64_C(4000000000), 0.25, 0, 1.0 / 1001) - 0.5) <
				1e-4);
	assert_true(kanon_presence_likelihood(1000000, INT64_C(4000000000), 0.25, 0, 0.5) > 1 - 1e-12);
}

/* A population of people with three independent values, drawn anew each time. */
static void
simulated(void **state)
{
	static const double shares[3] = {0.6, 0.35, 0.5};
	static const struct
	{
		int64_t rows;
		double least;
		double most;
	} bounds[] = {{3, 0, 0.2}, {5, 0.2, 0.35}, {8, 0.4, 0.5}, {2, 0.1, 1}};
	enum
	{
		DRAWS = 4000,
		OTHERS = 150
	};
	uint64_t random = 99;
	int within[4] = {0};

	(void) state;
	for (int draw = 0; draw < DRAWS; draw++)
	{
		int64_t x = 0;

		for (int i = 0; i < OTHERS; i++)
		{
			bool alike = true;

			for (int c = 0; c < 3; c++)
				alike = (double) (random_next(&random) >> 11) * 0x1p-53 < shares[c] && alike;
			x += alike;
		}
		for (int b = 0; b < 4; b++)
			within[b] += is_within(bounds[b].rows, x, bounds[b].least, bounds[b].most);
	}
	for (int b = 0; b < 4; b++)
	{
		double p = kanon_presence_likelihood(bounds[b].rows, OTHERS, shares[0] * shares[1] * shares[2],
											 bounds[b].least, bounds[b].most);

		assert_true(p > 0.01 && p < 0.999);
		assert_true(fabs(within[b] - DRAWS * p) < 5 * sqrt(DRAWS * p * (1 - p)));
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(edges),
		cmocka_unit_test(simulated),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
