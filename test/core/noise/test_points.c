/*
 * test_points.c: is noise as wide as the cells of the other half are, and Gaussian (chi-square
 * under fixed seeds)?  Are those isolated whom the definition has?
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "noise/noise.h"
#include "fixture.h"

static uint64_t
draw(void *arg)
{
	return random_next(arg);
}

#define DRAWS 100000
#define MOST 60
#define MOST_COLUMNS 4

/* ---- halves ---- */

/* Every half of six is as likely; of an odd number the greater part is the half. */
static void
halves(void **state)
{
	uint64_t random = 5;
	KanonChance chance = {draw, &random};
	double expected[20], found[64] = {0}, seen[20];
	int kinds = 0;

	(void) state;
	for (int i = 0; i < DRAWS; i++)
	{
		bool half[6];
		int set = 0;

		kanon_halve(&chance, 6, half);
		for (int x = 0; x < 6; x++)
			set |= half[x] << x;
		found[set]++;
	}
	for (int set = 0; set < 64; set++)
		if (__builtin_popcount((unsigned) set) == 3)
		{
			expected[kinds] = DRAWS / 20.0;
			seen[kinds++] = found[set];
		}
		else
			assert_true(found[set] == 0);
	assert_true(deviation(expected, seen, kinds) < 5);
	for (uint32_t n = 0; n < 10; n++)
	{
		bool half[10];
		uint32_t count = 0;

		kanon_halve(&chance, n, half);
		for (uint32_t i = 0; i < n; i++)
			count += half[i];
		assert_int_equal(count, n - n / 2);
	}
}

/* ---- cells ---- */

/* Points by chance: some of them close together, some in one place. */
static void
random_points(uint64_t *random, KanonPoints *points, uint32_t *place, uint32_t most)
{
	points->n = random_below(random, most + 1);
	points->ncolumns = 1 + (int) random_below(random, MOST_COLUMNS);
	points->place = place;
	for (uint32_t i = 0; i < points->n; i++)
		for (int c = 0; c < points->ncolumns; c++)
		{
			uint32_t *at = &place[i * points->ncolumns + c];
			uint32_t kind = random_below(random, 6);

			*at = (uint32_t) (random_next(random) >> (64 - KANON_PLACE_BITS));
			if (i > 0 && kind > 0)
			{
				*at = place[random_below(random, i) * points->ncolumns + c];
				if (kind > 1)
					*at = place[(i - 1) * points->ncolumns + c];
				if (kind == 5)
					*at ^= 1U << random_below(random, KANON_PLACE_BITS);
			}
		}
}

static bool
in_one_cell(const KanonPoints *points, uint32_t a, uint32_t b, int divisions)
{
	for (int c = 0; c < points->ncolumns; c++)
		if (points->place[a * points->ncolumns + c] >> (KANON_PLACE_BITS - divisions) !=
			points->place[b * points->ncolumns + c] >> (KANON_PLACE_BITS - divisions))
			return false;
	return true;
}

/* The definition: the first cell around the point that is not divided. */
static int
plain_divisions(const KanonPoints *points, const bool *half, uint32_t of, uint64_t t)
{
	for (int divisions = 0;; divisions++)
	{
		uint64_t count = 0;
		uint32_t first = 0;
		bool apart = false;

		for (uint32_t i = 0; i < points->n; i++)
			if (half[i] != half[of] && in_one_cell(points, of, i, divisions))
			{
				first = count == 0 ? i : first;
				apart |= !in_one_cell(points, first, i, KANON_PLACE_BITS);
				count++;
			}
		if (divisions == KANON_MOST_DIVISIONS || !apart || count / 2.0 <= (double) t)
			return divisions;
	}
}

static void
cells(void **state)
{
	uint64_t random = 21;
	int deepest = 0;

	(void) state;
	for (int round = 0; round < 4000; round++)
	{
		uint32_t place[MOST * MOST_COLUMNS];
		uint8_t divisions[MOST];
		bool half[MOST];
		KanonPoints points;
		uint64_t t = 1 + random_below(&random, 5);
		Host host;

		host_init(&host);
		random_points(&random, &points, place, MOST);
		for (uint32_t i = 0; i < points.n; i++)
			half[i] = random_below(&random, 2) == 0;
		if (round % 50 == 0)
			t = UINT64_MAX - random_below(&random, 3);
		assert_int_equal(kanon_histogram_cells(&host.env, &points, half, t, divisions), KANON_OK);
		for (uint32_t i = 0; i < points.n; i++)
		{
			assert_int_equal(divisions[i], plain_divisions(&points, half, i, t));
			deepest = divisions[i] > deepest ? divisions[i] : deepest;
		}
		assert_int_equal(host.blocks, 0);
	}
	assert_int_equal(deepest, KANON_MOST_DIVISIONS);
}

/* ---- noise ---- */

/* Of small scales each number by itself. */
static double
small_deviation(uint64_t seed, int bits, double scale)
{
	static double expected[2001], found[2001];
	KanonChance chance = {draw, &seed};
	double all = 0;

	memset(found, 0, sizeof(found));
	for (int x = -1000; x <= 1000; x++)
		all += exp(-x * x / (2 * scale * scale));
	for (int x = -1000; x <= 1000; x++)
		expected[x + 1000] = DRAWS * exp(-x * x / (2 * scale * scale)) / all;
	for (int i = 0; i < DRAWS; i++)
		found[kanon_gaussian(&chance, bits) + 1000]++;
	return deviation(expected, found, 2001);
}

/* Shares of the normal distribution between -4.1 and 4.1, and beyond. */
#define BINS 84

static int
bin_of(double deviations)
{
	double bin = floor(deviations * 10) + BINS / 2;

	return bin < 0 ? 0 : bin > BINS - 1 ? BINS - 1 : (int) bin;
}

static double
normal_deviation(const double *found, double draws, double scale)
{
	double expected[BINS];

	for (int b = 0; b < BINS; b++)
	{
		double from = b == 0 ? -INFINITY : (b - BINS / 2) / 10.0;
		double to = b == BINS - 1 ? INFINITY : (b + 1 - BINS / 2) / 10.0;

		expected[b] = draws * (erf(to / scale / sqrt(2)) - erf(from / scale / sqrt(2))) / 2;
	}
	return deviation(expected, found, BINS);
}

static void
gaussian(void **state)
{
	(void) state;
	for (int bits = 0; bits <= 6; bits++)
	{
		assert_true(small_deviation((uint64_t) bits + 1, bits, 1 << bits) < 5);
		/* the test sees a scale that is wrong by a twentieth */
		assert_true(small_deviation((uint64_t) bits + 1, bits, 1.05 * (1 << bits)) > 5);
	}
	for (int bits = 11; bits <= KANON_MOST_NOISE_BITS; bits += 5)
	{
		uint64_t random = (uint64_t) bits;
		KanonChance chance = {draw, &random};
		double found[BINS] = {0};

		for (int i = 0; i < DRAWS; i++)
			found[bin_of((double) kanon_gaussian(&chance, bits) / (double) (UINT64_C(1) << bits))]++;
		assert_true(normal_deviation(found, DRAWS, 1) < 5);
		assert_true(normal_deviation(found, DRAWS, 1.05) > 5);
	}
}

/* How wide noise is by the number of columns: at least its cube root. */
static void
widths(void **state)
{
	(void) state;
	for (int n = 1; n <= KANON_MAX_QIS; n++)
		for (int divisions = 0; divisions <= KANON_MOST_DIVISIONS; divisions++)
		{
			int bits = kanon_noise_bits((uint8_t) divisions, n);
			double sides = ldexp(1, bits - (KANON_PLACE_BITS - divisions));

			assert_true(bits <= KANON_MOST_NOISE_BITS);
			assert_true(sides < 2 * cbrt(n) || n == 1);
			if (divisions > 0 || n <= 8)
				assert_true(sides >= cbrt(n) * (1 - 1e-9));
			assert_true(n > 1 || sides == 1);
		}
}

/*
 * Points close together and one far from them, which may be in either half: its noise is as wide
 * as the cells around it, theirs is narrow; in every direction alike, and each column by itself.
 */
static void
noise_by_cells(void **state)
{
	enum
	{
		CLOSE = 40
	};
	static uint32_t place[(CLOSE + 1) * 2];
	KanonPoints points = {CLOSE + 1, 2, place};
	double narrow[BINS] = {0}, wide[BINS] = {0}, both[4] = {0}, quarter[4];
	uint64_t random = 77;
	KanonChance chance = {draw, &random};
	int rounds = 2500;

	(void) state;
	for (uint32_t i = 0; i < CLOSE; i++)
	{
		/* in the first of the cells of two divisions, in all four of its own */
		place[2 * i] = (i % 2) << (KANON_PLACE_BITS - 3);
		place[2 * i + 1] = (i / 2 % 2) << (KANON_PLACE_BITS - 3);
	}
	place[2 * CLOSE] = place[2 * CLOSE + 1] = (1U << KANON_PLACE_BITS) - 1;
	for (int round = 0; round < rounds; round++)
	{
		int64_t moved[(CLOSE + 1) * 2];
		uint8_t divisions[CLOSE + 1];
		Host host;

		host_init(&host);
		/* 8 points are left in a cell that has about 20 of them, and not in one that has about 5 */
		assert_int_equal(kanon_cross_train(&host.env, &chance, &points, 8, moved, divisions), KANON_OK);
		assert_int_equal(divisions[CLOSE], 1);
		for (uint32_t i = 0; i <= CLOSE; i++)
		{
			double by[2];

			if (i < CLOSE)
				assert_int_equal(divisions[i], 3);
			for (int c = 0; c < 2; c++)
			{
				by[c] = (double) (moved[2 * i + c] - place[2 * i + c]) /
						(double) (2 << (KANON_PLACE_BITS - divisions[i])); /* two columns: twice the side */
				(i < CLOSE ? narrow : wide)[bin_of(by[c])]++;
			}
			both[(by[0] < 0) + 2 * (by[1] < 0)]++;
		}
		assert_int_equal(host.blocks, 0);
	}
	assert_true(normal_deviation(narrow, 2.0 * CLOSE * rounds, 1) < 5);
	assert_true(normal_deviation(narrow, 2.0 * CLOSE * rounds, 1.05) > 5);
	assert_true(normal_deviation(wide, 2.0 * rounds, 1) < 5);
	assert_true(normal_deviation(wide, 2.0 * rounds, 1.2) > 5);
	for (int q = 0; q < 4; q++)
		quarter[q] = (CLOSE + 1) * rounds / 4.0;
	assert_true(deviation(quarter, both, 4) < 5);
}

/* ---- isolation ---- */

static double
square(const double *a, const double *b, int ncolumns)
{
	double sum = 0;

	for (int c = 0; c < ncolumns; c++)
		sum += (a[c] - b[c]) * (a[c] - b[c]);
	return sum;
}

/* The definition, each with each. */
static KanonIsolation
plain_isolation(const KanonSpace *source, const KanonSpace *released, int ncolumns, double c, uint64_t t)
{
	KanonIsolation found = {0};
	bool isolated[MOST] = {false};

	for (uint32_t q = 0; q < released->n; q++)
	{
		const double *from = released->at + q * ncolumns;
		bool any = false;

		for (uint32_t x = 0; x < source->n; x++)
		{
			double radius = c * c * square(source->at + x * ncolumns, from, ncolumns);
			uint64_t within = 0;

			for (uint32_t i = 0; i < source->n; i++)
				within += square(source->at + i * ncolumns, from, ncolumns) <= radius;
			if (within < t)
				any = isolated[x] = true;
		}
		found.isolating += any;
	}
	for (uint32_t x = 0; x < source->n; x++)
		found.isolated += isolated[x];
	return found;
}

static void
random_space(uint64_t *random, KanonSpace *space, double *at, uint32_t most, int ncolumns, bool coarse)
{
	space->n = random_below(random, most + 1);
	space->at = at;
	for (uint32_t i = 0; i < space->n * (uint32_t) ncolumns; i++)
		at[i] = coarse ? random_below(random, 5) : (double) (random_next(random) >> 11) / 9007199254740992.0;
}

static void
isolation(void **state)
{
	uint64_t random = 3;
	int some = 0, none = 0;

	(void) state;
	for (int round = 0; round < 20000; round++)
	{
		double at[2][MOST * MOST_COLUMNS];
		int ncolumns = 1 + (int) random_below(&random, MOST_COLUMNS);
		bool coarse = random_below(&random, 2) == 0;
		double c = 1 + random_below(&random, 9) / 4.0;
		uint64_t t = 1 + random_below(&random, round % 40 == 0 ? 100 : 7);
		KanonSpace source, released;
		KanonIsolation found, plain;
		Host host;

		host_init(&host);
		random_space(&random, &source, at[0], MOST, ncolumns, coarse);
		random_space(&random, &released, at[1], 12, ncolumns, coarse);
		assert_int_equal(kanon_isolation_count(&host.env, &source, &released, ncolumns, c, t, &found),
						 KANON_OK);
		plain = plain_isolation(&source, &released, ncolumns, c, t);
		assert_int_equal(found.isolated, plain.isolated);
		assert_int_equal(found.isolating, plain.isolating);
		some += found.isolated > 0;
		none += found.isolated == 0;
		assert_int_equal(host.blocks, 0);
	}
	assert_true(some > 2000 && none > 2000);
}

/* Equal rows cost no more than others: whoever is as far away as the farthest of t is not looked for. */
static void
isolation_of_equals(void **state)
{
	enum
	{
		ROWS = 20000
	};
	static double at[2][ROWS];
	uint64_t random = 4;
	uint64_t polls[2];

	(void) state;
	for (uint32_t i = 0; i < ROWS; i++)
	{
		at[0][i] = i % 2;
		at[1][i] = random_below(&random, UINT32_MAX);
	}
	for (int distinct = 0; distinct < 2; distinct++)
	{
		KanonSpace space = {ROWS, at[distinct]};
		KanonIsolation found;
		Host host;

		host_init(&host);
		assert_int_equal(kanon_isolation_count(&host.env, &space, &space, 1, 2, 10, &found), KANON_OK);
		assert_int_equal(found.isolated, distinct ? ROWS : 0);
		polls[distinct] = host.polls;
	}
	assert_true(polls[0] < 2 * polls[1]);
}

/* ---- the rest ---- */

static void
memory_and_cancel(void **state)
{
	static uint32_t place[3000];
	static double at[3000];
	static int64_t moved[3000];
	static uint8_t divisions[1500];
	KanonPoints points = {1500, 2, place};
	KanonSpace space = {1500, at};
	uint64_t random = 6;

	(void) state;
	for (int i = 0; i < 3000; i++)
	{
		place[i] = (uint32_t) (random_next(&random) >> (64 - KANON_PLACE_BITS));
		at[i] = place[i];
	}
	for (int what = 0; what < 4; what++)
	{
		Failure failure = {.how = what % 2 == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

		while (fails_again(&failure))
		{
			KanonChance chance = {draw, &random};
			KanonIsolation found;
			Host host;

			host_init(&host);
			fail_at(&host, &failure);
			failure.status = what < 2 ? kanon_cross_train(&host.env, &chance, &points, 3, moved, divisions)
									  : kanon_isolation_count(&host.env, &space, &space, 2, 1.5, 4, &found);
			assert_int_equal(host.blocks, 0);
		}
		assert_true(failure.at > 1);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halves),
		cmocka_unit_test(cells),
		cmocka_unit_test(gaussian),
		cmocka_unit_test(widths),
		cmocka_unit_test(noise_by_cells),
		cmocka_unit_test(isolation),
		cmocka_unit_test(isolation_of_equals),
		cmocka_unit_test(memory_and_cancel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
