/*
 * test_tuples.c: tables drawn anew from a domain: are the chances those that were
 * promised, and is the promise kept by them?
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

#define MOST 64

typedef struct Case
{
	Host host;
	uint64_t random;
	KanonChance chance;
	uint64_t tuple[MOST];
	int64_t rows[MOST];
	KanonTuples tuples;
	KanonDrawn drawn;
} Case;

static void
case_init(Case *one, uint64_t seed, uint64_t domain)
{
	memset(one, 0, sizeof(*one));
	host_init(&one->host);
	one->random = random_next(&seed);
	one->chance = (KanonChance){draw, &one->random};
	one->tuples.tuple = one->tuple;
	one->tuples.rows = one->rows;
	one->tuples.domain = domain;
}

static void
add(Case *one, uint64_t tuple, int64_t rows)
{
	one->tuple[one->tuples.n] = tuple;
	one->rows[one->tuples.n++] = rows;
	one->tuples.nrows += rows;
}

static void
reset(Case *one)
{
	kanon_free(&one->host.env, one->drawn.tuple);
	memset(&one->drawn, 0, sizeof(one->drawn));
	assert_int_equal(one->host.blocks, 0);
}

/* ---- alpha-beta ---- */

/* What is believed afterwards of a tuple that is published, or not, and was believed before. */
static double
believed(const KanonAlphaBeta *with, double before, bool published)
{
	double there = with->alpha + with->beta, not_there = with->beta;

	if (!published)
	{
		there = 1 - there;
		not_there = 1 - not_there;
	}
	return before * there / (before * there + (1 - before) * not_there);
}

static double
variance(double n, double m, double alpha, double beta)
{
	double a = alpha + beta;

	return (n * a * (1 - a) + (m - n) * beta * (1 - beta)) / (alpha * alpha);
}

/* The promise, for whatever was believed; and nothing on a grid that keeps it errs less. */
static void
parameters(void **state)
{
	KanonAlphaBeta with;

	(void) state;
	for (double d = 0.0001; d < 0.9; d *= 3)
		for (double gamma = d * 1.1; gamma < 1; gamma += 0.07)
		{
			double best, n, m = 1e6;

			assert_true(kanon_alpha_beta_find(d, gamma, &with));
			assert_true(with.beta > 0 && with.alpha > 0 && with.alpha + with.beta < 1);
			for (double p = d; p > d / 1e5; p /= 2)
			{
				assert_true(believed(&with, p, true) <= gamma * (1 + 1e-9));
				assert_true(believed(&with, p, false) >= d / gamma * p * (1 - 1e-9));
			}
			assert_true(fabs(believed(&with, d, true) - gamma) < 1e-9);
			n = m * d / 100;
			best = variance(n, m, with.alpha, with.beta);
			for (double beta = 0.0005; beta < 1; beta += 0.0083)
				for (double a = beta + 0.001; a < 1; a += 0.0097)
				{
					KanonAlphaBeta other = {a - beta, beta};

					if (believed(&other, d, true) <= gamma &&
						believed(&other, 1e-9, false) >= d / gamma * 1e-9)
						assert_true(variance(n, m, other.alpha, other.beta) >= best * (1 - 1e-6));
				}
		}
	assert_false(kanon_alpha_beta_find(0.5, 0.5, &with));
	assert_false(kanon_alpha_beta_find(0.5, 0.4, &with));
	assert_false(kanon_alpha_beta_find(0, 0.4, &with));
	assert_false(kanon_alpha_beta_find(0.5, 1, &with));
	assert_false(kanon_alpha_beta_find(NAN, 0.5, &with));
}

#define DRAWS 20000

static void
near(double times, double share)
{
	assert_true(fabs(times - DRAWS * share) < 5.5 * sqrt(DRAWS * share * (1 - share)) + 1e-9);
}

/* Each tuple by itself, and any two of them, as if independent; those in the table before the others. */
static void
kept_and_added(void **state)
{
	static int together[20][20];
	const KanonAlphaBeta with = {0.45, 0.13};
	bool there[20] = {false};

	(void) state;
	memset(together, 0, sizeof(together));
	there[0] = there[3] = there[4] = there[5] = there[11] = there[19] = true;
	for (uint64_t seed = 1; seed <= DRAWS; seed++)
	{
		Case one;

		case_init(&one, seed, 20);
		for (uint64_t t = 0; t < 20; t++)
			if (there[t])
				add(&one, t, 1);
		assert_int_equal(kanon_alpha_beta_draw(&one.host.env, &one.chance, &one.tuples, &with, &one.drawn),
						 KANON_OK);
		for (size_t i = 0; i < one.drawn.n; i++)
		{
			assert_true(one.drawn.tuple[i] < 20);
			assert_true(there[one.drawn.tuple[i]] == (i < one.drawn.kept));
			assert_true(i == 0 || i == one.drawn.kept || one.drawn.tuple[i - 1] < one.drawn.tuple[i]);
			for (size_t j = 0; j <= i; j++)
				together[one.drawn.tuple[i]][one.drawn.tuple[j]]++;
		}
		reset(&one);
	}
	for (int i = 0; i < 20; i++)
	{
		double p = there[i] ? with.alpha + with.beta : with.beta;

		near(together[i][i], p);
		for (int j = 0; j < 20; j++)
			if (j != i)
				near(together[i][j] + together[j][i], p * (there[j] ? with.alpha + with.beta : with.beta));
	}
}

/* A domain that nobody could enumerate. */
static void
large_domain(void **state)
{
	const KanonAlphaBeta with = {0.5, 1e-9};
	double n = 0, squares = 0;

	(void) state;
	for (uint64_t seed = 1; seed <= 200; seed++)
	{
		Case one;
		double added;

		case_init(&one, seed, KANON_MOST_TUPLES);
		add(&one, 7, 1);
		add(&one, KANON_MOST_TUPLES - 1, 2);
		assert_int_equal(kanon_alpha_beta_draw(&one.host.env, &one.chance, &one.tuples, &with, &one.drawn),
						 KANON_OK);
		added = (double) (one.drawn.n - one.drawn.kept);
		n += added;
		squares += added * added;
		reset(&one);
	}
	/* binomial: mean and variance are nearly the same */
	assert_true(fabs(n / 200 - 1099.5) < 5 * sqrt(1099.5 / 200));
	assert_true(fabs((squares / 200 - n / 200 * n / 200) / 1099.5 - 1) < 0.5);
}

/* ---- synthesis ---- */

/* P(x) of so many draws, by the urn: the Dirichlet-multinomial distribution. */
static double
log_chance(const double *rows, const int *x, int domain, double noise)
{
	double all = 0, drawn = 0, sum = 0;

	for (int i = 0; i < domain; i++)
	{
		all += rows[i] + noise;
		drawn += x[i];
		sum += lgamma(rows[i] + noise + x[i]) - lgamma(rows[i] + noise) - lgamma(x[i] + 1.0);
	}
	return sum + lgamma(all) - lgamma(all + drawn) + lgamma(drawn + 1);
}

/* The probability of outcomes by which some neighbour is told apart by more than epsilon. */
static double
disclosing(const double *rows, int domain, int wanted, double epsilon, double noise, int *x, int at, int left)
{
	double sum = 0, here;

	if (at < domain - 1)
	{
		for (x[at] = 0; x[at] <= left; x[at]++)
			sum += disclosing(rows, domain, wanted, epsilon, noise, x, at + 1, left - x[at]);
		return sum;
	}
	x[at] = left;
	here = log_chance(rows, x, domain, noise);
	for (int from = 0; from < domain; from++)
		for (int to = 0; to < domain && rows[from] > 0; to++)
		{
			double other[8];

			if (to == from)
				continue;
			memcpy(other, rows, sizeof(double) * (size_t) domain);
			other[from]--;
			other[to]++;
			if (fabs(here - log_chance(other, x, domain, noise)) > epsilon + 1e-9)
				return exp(here);
		}
	return 0;
}

/* Of every table of so many rows, by all outcomes there are. */
static double
worst(double *rows, int domain, int at, int left, int wanted, double epsilon, double noise)
{
	int x[8];
	double most = 0;

	if (at == domain - 1)
	{
		rows[at] = left;
		return disclosing(rows, domain, wanted, epsilon, noise, x, 0, wanted);
	}
	for (int n = 0; n <= left; n++)
	{
		rows[at] = n;
		most = fmax(most, worst(rows, domain, at + 1, left - n, wanted, epsilon, noise));
	}
	return most;
}

static void
promise(void **state)
{
	int tight = 0;

	(void) state;
	for (int domain = 2; domain <= 4; domain++)
		for (int n = 1; n <= 5; n += 2)
			for (int wanted = 1; wanted <= 7; wanted += 3)
				for (double epsilon = 0.3; epsilon < 3; epsilon *= 2)
					for (uint64_t noise = 100; noise < 20000; noise *= 4)
					{
						KanonSynthesis synthesis = {n, (uint64_t) domain, wanted, epsilon, 0.1};
						double rows[8];
						double is = worst(rows, domain, 0, n, wanted, epsilon, (double) noise / 1000);
						double says = kanon_synthesis_delta(&synthesis, noise, 1);

						assert_true(is <= says + 1e-9);
						tight += is > 0 && says < 3 * is;
					}
	assert_true(tight > 20);
}

/* P(X > least) of the beta-binomial distribution, all terms of it. */
static double
above(double least, int n, double a, double b)
{
	double sum = 0;

	for (int x = 0; x <= n; x++)
		if (x > least)
			sum += exp(lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0) + lgamma(x + a) +
					   lgamma(n - x + b) - lgamma(n + a + b) + lgamma(a + b) - lgamma(a) - lgamma(b));
	return sum;
}

/* What is promised of a tuple without a row, and of one of each number of rows, is what its definition says. */
static void
sums(void **state)
{
	static const uint64_t noises[] = {100, 333, 500, 1000, 2000, 20000};
	int between = 0;

	(void) state;
	for (int domain = 2; domain <= 5; domain++)
		for (int n = 1; n <= 6; n++)
			for (int wanted = 1; wanted <= 22; wanted += 3)
				for (double epsilon = 0.2; epsilon < 3; epsilon *= 2)
					for (size_t i = 0; i < sizeof(noises) / sizeof(noises[0]); i++)
					{
						KanonSynthesis synthesis = {n, (uint64_t) domain, wanted, epsilon, 0.1};
						double each = (double) noises[i] / KANON_NOISE_ONE, all = n + each * domain;
						double empty = domain * above(expm1(epsilon) * each, wanted, each, all - each);
						double most = 0, is;

						for (int c = 1; c <= n; c++)
							most = fmax(
								most,
								above(expm1(epsilon) * (c - 1 + each), wanted, c + each, all - c - each) / c);
						is = fmin(n * most + empty, 1);
						assert_true(fabs(kanon_synthesis_delta(&synthesis, noises[i], 1) - is) < 1e-9);
						between += most > 0 && is < 1;
					}
	assert_true(between > 200);
}

static void
least_noise(void **state)
{
	(void) state;
	for (int64_t n = 10; n <= 100000; n *= 100)
		for (uint64_t domain = 10; domain <= 100000; domain *= 100)
			for (double epsilon = 0.5; epsilon < 9; epsilon *= 4)
			{
				Host host;
				KanonSynthesis synthesis = {n, domain, n, epsilon, 1e-4};
				uint64_t noise;

				host_init(&host);
				assert_int_equal(kanon_synthesis_noise(&host.env, &synthesis, &noise), KANON_OK);
				assert_true(kanon_synthesis_delta(&synthesis, noise, 1) <= 1e-4);
				assert_true(noise == 1 || kanon_synthesis_delta(&synthesis, noise - 1, 1) > 1e-4);
				assert_true((double) noise <= ceil((double) n / expm1(epsilon) * KANON_NOISE_ONE) + 1);
			}
}

/* All outcomes of a small urn. */
static void
urn(void **state)
{
	static int found[8][8];
	const double rows[3] = {3, 0, 1};
	double sum = 0;

	(void) state;
	memset(found, 0, sizeof(found));
	for (uint64_t seed = 1; seed <= DRAWS; seed++)
	{
		Case one;
		int x[3] = {0, 0, 0};

		case_init(&one, seed, 3);
		add(&one, 0, 3);
		add(&one, 2, 1);
		assert_int_equal(kanon_synthesize(&one.host.env, &one.chance, &one.tuples, 5, 700, &one.drawn),
						 KANON_OK);
		assert_int_equal(one.drawn.n, 5);
		for (int i = 0; i < 5; i++)
			x[one.drawn.tuple[i]]++;
		found[x[0]][x[1]]++;
		reset(&one);
	}
	for (int a = 0; a <= 5; a++)
		for (int b = 0; a + b <= 5; b++)
		{
			int x[3] = {a, b, 5 - a - b};
			double p = exp(log_chance(rows, x, 3, 0.7));

			sum += p;
			near(found[a][b], p);
		}
	assert_true(fabs(sum - 1) < 1e-9);
}

/* ---- the rest ---- */

static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int what = 0; what < 4; what++)
	{
		Failure failure = {.how = what % 2 == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

		while (fails_again(&failure))
		{
			const KanonAlphaBeta with = {0.3, 0.2};
			Case one;

			case_init(&one, 3, 1000000);
			for (uint64_t t = 0; t < MOST; t++)
				add(&one, t * 17, 1 + (int64_t) t);
			fail_at(&one.host, &failure);
			failure.status =
				what < 2 ? kanon_alpha_beta_draw(&one.host.env, &one.chance, &one.tuples, &with, &one.drawn)
						 : kanon_synthesize(&one.host.env, &one.chance, &one.tuples, 50000, 20, &one.drawn);
			reset(&one);
		}
		assert_true(failure.at > 2);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters),   cmocka_unit_test(kept_and_added),
		cmocka_unit_test(large_domain), cmocka_unit_test(promise),
		cmocka_unit_test(sums),         cmocka_unit_test(least_noise),
		cmocka_unit_test(urn),          cmocka_unit_test(memory_and_cancel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
