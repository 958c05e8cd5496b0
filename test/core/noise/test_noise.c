/*
 * test_noise.c: is noise of the distribution that it says (chi-square under fixed seeds),
 * and do answers about neighbouring tables differ by no more than was promised?
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

/* ---- the distribution ---- */

#define DRAWS 100000

static void
uniform(void **state)
{
	uint64_t random = 4;
	KanonChance chance = {draw, &random};

	(void) state;
	for (uint64_t n = 1; n <= 40; n += 3)
	{
		double expected[40], found[40] = {0};

		for (int i = 0; i < DRAWS / 4; i++)
			found[kanon_chance_below(&chance, n)]++;
		for (uint64_t v = 0; v < n; v++)
			expected[v] = DRAWS / 4.0 / (double) n;
		assert_true(n == 1 || deviation(expected, found, (int) n) < 5);
	}
	/* two thirds of the numbers there are: taken modulo this, the lower half would come twice as often */
	{
		uint64_t bound = UINT64_C(3) << 62;
		int low = 0;

		for (int i = 0; i < DRAWS; i++)
			low += kanon_chance_below(&chance, bound) < bound / 3;
		assert_true(fabs(low - DRAWS / 3.0) < 5 * sqrt(DRAWS * 2.0 / 9));
	}
}

static void
exponential(void **state)
{
	uint64_t random = 9;
	KanonChance chance = {draw, &random};

	(void) state;
	for (uint64_t part = 0; part <= 7; part++)
	{
		double share = exp(-(double) part / 7);
		int times = 0;

		for (int i = 0; i < DRAWS; i++)
			times += kanon_chance_exp(&chance, part, 7);
		assert_true(fabs(times - DRAWS * share) <= 5 * sqrt(DRAWS * share * (1 - share)));
	}
}

/* P(x) of the two-sided geometric distribution. */
static double
probability(double x, double rate)
{
	double a = exp(-rate);

	return (1 - a) / (1 + a) * pow(a, fabs(x));
}

#define WIDEST 4000

static double
noise_deviation(uint64_t seed, uint64_t sensitivity, uint64_t epsilon, double rate)
{
	static double expected[2 * WIDEST + 1], found[2 * WIDEST + 1];
	KanonChance chance = {draw, &seed};
	double inside = 0;

	memset(found, 0, sizeof(found));
	for (int i = 0; i < DRAWS; i++)
	{
		KanonWide x = kanon_noise(&chance, sensitivity, epsilon);

		found[x < -WIDEST ? 0 : x > WIDEST ? 2 * WIDEST : (int) x + WIDEST]++;
	}
	for (int x = -WIDEST; x <= WIDEST; x++)
		inside += expected[x + WIDEST] = DRAWS * probability(x, rate);
	expected[0] += (DRAWS - inside) / 2;
	expected[2 * WIDEST] += (DRAWS - inside) / 2;
	return deviation(expected, found, 2 * WIDEST + 1);
}

static void
geometric(void **state)
{
	static const uint64_t cases[][2] = {
		{1, 1}, {1000000, 100000}, {1000000, 1000000},      {1000000, 3141593},
		{7, 3}, {3, 20},           {500 * 1000000, 250000}, {UINT64_C(1) << 61, UINT64_C(1) << 58}};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		double rate = (double) cases[i][1] / (double) cases[i][0];

		assert_true(noise_deviation(i + 1, cases[i][0], cases[i][1], rate) < 5);
		/* the test sees a rate that is wrong by a tenth */
		assert_true(noise_deviation(i + 1, cases[i][0], cases[i][1], 1.1 * rate) > 5);
	}
}

static void
margin(void **state)
{
	(void) state;
	for (double rate = 0.01; rate < 5; rate *= 1.7)
		for (double beyond = 0.001; beyond < 0.9; beyond *= 3)
		{
			double m = kanon_noise_margin(1, rate, beyond), inside = 0, before;

			for (double x = -m; x <= m; x++)
				inside += probability(x, rate);
			before = inside - 2 * probability(m, rate);
			assert_true(1 - inside <= beyond + 1e-9);
			assert_true(m == 0 || 1 - before > beyond - 1e-9);
		}
}

/* ---- tables ---- */

typedef struct Row
{
	uint64_t subject;
	uint32_t group;
	int64_t value;
} Row;

#define MOST_ROWS 64
#define MOST_GROUPS 8
#define MOST_BINS 4

typedef struct Case
{
	Host host;
	uint64_t random;
	KanonQuestion question;
	Row rows[MOST_ROWS];
	int nrows;
	uint32_t ngroups;
	KanonFigure figures[MOST_GROUPS][MOST_BINS];
	bool told[MOST_GROUPS];
} Case;

static void
case_init(Case *one, uint64_t seed, KanonAggregate aggregate, double epsilon, uint32_t contributions)
{
	memset(one, 0, sizeof(*one));
	host_init(&one->host);
	one->random = random_next(&seed);
	one->question = (KanonQuestion){.env = &one->host.env,
									.chance = {draw, &one->random},
									.aggregate = aggregate,
									.epsilon = (uint64_t) (epsilon * (double) KANON_EPSILON_ONE),
									.contributions = contributions,
									.lower = -2,
									.upper = 3,
									.bins = aggregate == KANON_AGGREGATE_HISTOGRAM ? MOST_BINS : 1};
	one->ngroups = 2;
}

static void
add(Case *one, uint64_t subject, uint32_t group, int64_t value)
{
	assert_true(one->nrows < MOST_ROWS);
	one->rows[one->nrows++] = (Row){subject, group, value};
}

/* The rows, without those of a subject. */
static KanonStatus
answer(Case *one, uint64_t without)
{
	KanonTally *tally = kanon_tally_begin(&one->question);
	KanonStatus status = tally == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (int i = 0; i < one->nrows && status == KANON_OK; i++)
		if (one->rows[i].subject != without)
			status = kanon_tally_row(tally, one->rows[i].subject, one->rows[i].group, one->rows[i].value);
	if (status == KANON_OK)
		status = kanon_tally_end(tally, one->ngroups);
	for (uint32_t g = 0; g < one->ngroups && status == KANON_OK; g++)
		one->told[g] = kanon_tally_answer(tally, g, one->figures[g]);
	kanon_tally_free(tally);
	assert_int_equal(one->host.blocks, 0);
	return status;
}

#define NOBODY UINT64_MAX

/* With so large an epsilon there is no noise. */
static void
true_figures(void **state)
{
	Case one;

	(void) state;
	case_init(&one, 1, KANON_AGGREGATE_COUNT, 1000, 1);
	for (uint64_t s = 0; s < 10; s++)
		for (int i = 0; i < 3; i++)
			add(&one, s, s < 7 ? 0 : 1, (int64_t) s % 4);
	assert_int_equal(answer(&one, NOBODY), KANON_OK);
	assert_int_equal(one.figures[0][0].value, 7);
	assert_int_equal(one.figures[1][0].value, 3);
	one.question.contributions = 2;
	assert_int_equal(answer(&one, 0), KANON_OK);
	assert_int_equal(one.figures[0][0].value, 12);
	one.question.contributions = 5;
	assert_int_equal(answer(&one, NOBODY), KANON_OK);
	assert_int_equal(one.figures[1][0].value, 9);

	one.question.aggregate = KANON_AGGREGATE_HISTOGRAM;
	one.question.bins = MOST_BINS;
	assert_int_equal(answer(&one, NOBODY), KANON_OK);
	for (int bin = 0; bin < MOST_BINS; bin++)
	{
		assert_int_equal(one.figures[0][bin].value, bin < 3 ? 6 : 3);
		assert_int_equal(one.figures[1][bin].value, bin == 2 ? 0 : 3);
	}

	one.question.aggregate = KANON_AGGREGATE_SUM;
	one.question.bins = 1;
	assert_int_equal(answer(&one, NOBODY), KANON_OK);
	assert_int_equal(one.figures[0][0].value, 3 * (0 + 1 + 2 + 3 + 0 + 1 + 2));
	one.question.aggregate = KANON_AGGREGATE_MEAN;
	assert_int_equal(answer(&one, NOBODY), KANON_OK);
	assert_true(fabs(one.figures[0][0].mean - 9.0 / 7) < 1e-9);
	assert_true(fabs(one.figures[1][0].mean - 4.0 / 3) < 1e-9);
}

/* Of a subject's rows each is as likely to be taken. */
static void
taken(void **state)
{
	double expected[6], found[6] = {0};

	(void) state;
	for (int i = 0; i < 6; i++)
		expected[i] = 20000 * 2 / 6.0;
	for (uint64_t seed = 1; seed <= 20000; seed++)
	{
		Case one;

		case_init(&one, seed, KANON_AGGREGATE_COUNT, 1000, 2);
		one.ngroups = 6;
		for (uint32_t g = 0; g < 6; g++)
			add(&one, 1, g, 0);
		assert_int_equal(answer(&one, NOBODY), KANON_OK);
		for (uint32_t g = 0; g < 6; g++)
			found[g] += (double) one.figures[g][0].value;
	}
	assert_true(deviation(expected, found, 6) < 5);
}

static void
sensitivities(void **state)
{
	Case one;

	(void) state;
	case_init(&one, 1, KANON_AGGREGATE_SUM, 1, 4);
	assert_int_equal(kanon_sensitivity(&one.question), 12);
	one.question.lower = -7;
	assert_int_equal(kanon_sensitivity(&one.question), 28);
	one.question.lower = 2;
	assert_int_equal(kanon_sensitivity(&one.question), 12);
	one.question.aggregate = KANON_AGGREGATE_MEAN;
	assert_int_equal(kanon_sensitivity(&one.question), 4);
	assert_int_equal(kanon_question_parts(&one.question), 2);
	one.question.aggregate = KANON_AGGREGATE_COUNT;
	assert_int_equal(kanon_sensitivity(&one.question), 4);
	assert_int_equal(kanon_question_parts(&one.question), 1);
	one.question.delta = 1e-6;
	assert_int_equal(kanon_question_parts(&one.question), 1);
	one.question.aggregate = KANON_AGGREGATE_HISTOGRAM;
	assert_int_equal(kanon_question_parts(&one.question), 2);
	one.question.aggregate = KANON_AGGREGATE_SUM;
	one.question.upper = (int64_t) KANON_MOST_SENSITIVITY / 4;
	assert_int_equal(kanon_sensitivity(&one.question), KANON_MOST_SENSITIVITY);
	one.question.upper++;
	assert_int_equal(kanon_sensitivity(&one.question), 0);

	assert_int_equal(kanon_grid_step(1.26, 0.5, -10, 10), 3);
	assert_int_equal(kanon_grid_step(-1e300, 0.5, -10, 10), -10);
	assert_int_equal(kanon_grid_step(INFINITY, 0.5, -10, 10), 10);
	assert_int_equal(kanon_grid_bin(-1, 0, 10, 5), 0);
	assert_int_equal(kanon_grid_bin(1.99, 0, 10, 5), 0);
	assert_int_equal(kanon_grid_bin(2, 0, 10, 5), 1);
	assert_int_equal(kanon_grid_bin(10, 0, 10, 5), 4);
	assert_int_equal(kanon_grid_bin(INFINITY, 0, 10, 5), 4);
	assert_int_equal(kanon_grid_bin(-INFINITY, 0, 10, 5), 0);
}

/* ---- the promise ---- */

#define ASKED 60000

/* What came out, as one number: figures that are far out together. */
static int
outcome(const Case *one)
{
	int number = 0;

	for (uint32_t g = 0; g < one->ngroups; g++)
		for (uint32_t bin = 0; bin < one->question.bins; bin++)
		{
			double value = one->question.aggregate == KANON_AGGREGATE_MEAN
							   ? round(2 * one->figures[g][bin].mean)
							   : (double) one->figures[g][bin].value;
			int least = one->question.bins > 1 ? 1 : 15;
			int middle = one->question.aggregate == KANON_AGGREGATE_MEAN ? 0 : one->question.bins > 1 ? 0 : 4;

			value = fmin(fmax(value - middle, -least), least);
			number =
				one->told[g] ? number * (2 * least + 2) + (int) value + least + 1 : number * (2 * least + 2);
		}
	assert_true(number >= 0);
	return number % (1 << 20);
}

/*
 * How many standard deviations the share of the outcomes of one table that are likelier
 * than e^epsilon times that of the other is above delta: the events that tell most were
 * chosen with other draws than they are counted with.
 */
static double
excess(Case *one, uint64_t subject, double epsilon, double delta, bool reverse)
{
	static int counts[2][1 << 20], again[2][1 << 20];
	double most = -INFINITY, chosen[2] = {0, 0};

	memset(counts, 0, sizeof(counts));
	memset(again, 0, sizeof(again));
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 2 * ASKED; i++)
		{
			assert_int_equal(answer(one, (side == 0) == reverse ? subject : NOBODY), KANON_OK);
			(i < ASKED ? counts : again)[side][outcome(one)]++;
		}
	for (int o = 0; o < 1 << 20; o++)
	{
		double p = again[0][o], q = again[1][o] * exp(epsilon);

		/* single outcomes that are frequent, and all together that looked likelier */
		if (p > 200)
			most = fmax(most, (p - q - delta * ASKED) / sqrt(p + q * exp(epsilon) + 1));
		if (counts[0][o] > exp(epsilon) * counts[1][o])
		{
			chosen[0] += again[0][o];
			chosen[1] += again[1][o];
		}
	}
	return fmax(most, (chosen[0] - exp(epsilon) * chosen[1] - delta * ASKED) /
						  sqrt(chosen[0] + exp(2 * epsilon) * chosen[1] + 1));
}

static void
neighbours(void **state)
{
	static const KanonAggregate aggregates[] = {KANON_AGGREGATE_COUNT, KANON_AGGREGATE_SUM,
												KANON_AGGREGATE_MEAN, KANON_AGGREGATE_HISTOGRAM};

	(void) state;
	for (int i = 0; i < 4; i++)
		for (int reverse = 0; reverse < 2; reverse++)
		{
			Case one;

			/* under the sanitizers each in one direction */
			if (!real_tables() && reverse != i % 2)
				continue;
			case_init(&one, 77 + (uint64_t) i, aggregates[i], 0.7, 2);
			for (uint64_t s = 1; s <= 4; s++)
				add(&one, s, s % 2, (int64_t) s % 2);
			/* this one has as many rows as can be, with the most extreme value */
			for (int row = 0; row < 12; row++)
				add(&one, 9, 0, 3);
			assert_true(excess(&one, 9, 0.7, 0, reverse) < 5);
			/* the test sees it when the answer spends twice what it says */
			one.question.epsilon *= 2;
			assert_true(excess(&one, 9, 0.7, 0, reverse) > 5);
		}
}

/* Groups that only this subject has: told with a probability of at most delta. */
static void
found_groups(void **state)
{
	(void) state;
	for (uint32_t spread = 1; spread <= 3; spread++)
	{
		Case one;

		case_init(&one, 5 + spread, KANON_AGGREGATE_COUNT, 0.9, 3);
		one.question.delta = 0.02;
		one.ngroups = 1 + spread;
		for (uint64_t s = 1; s <= 12; s++)
			add(&one, s, 0, 0);
		for (uint32_t row = 0; row < 12; row++)
			add(&one, 99, 1 + row % spread, 0);
		for (int reverse = 0; reverse < 2; reverse++)
			if (real_tables() || reverse == (int) spread % 2)
				assert_true(excess(&one, 99, 0.9, 0.02, reverse) < 5);
	}
}

/* The chance is no more than delta, and not far less: else thresholds would be too high. */
static void
threshold(void **state)
{
	(void) state;
	for (uint32_t c = 1; c <= 20; c += 3)
		for (double epsilon = 0.05; epsilon < 8; epsilon *= 2)
			for (double delta = 1e-12; delta < 0.5; delta *= 10)
			{
				Case one;
				double rate, at, most = 0;

				case_init(&one, 1, KANON_AGGREGATE_COUNT, epsilon, c);
				one.question.delta = delta;
				rate = (double) one.question.epsilon / (double) KANON_EPSILON_ONE / c;
				at = kanon_threshold(&one.question);
				/* j groups of which one has what the others leave */
				for (uint32_t j = 1; j <= c; j++)
				{
					double a = exp(-rate), chance = 0;

					chance = (pow(a, at - (c - j + 1)) + (j - 1) * pow(a, at - 1)) / (1 + a);
					most = fmax(most, chance);
				}
				assert_true(at - c >= 1);
				assert_true(most <= delta);
				assert_true(at - c <= 3 || most * exp(3.1 * rate) >= delta);
			}
}

/* A subject may be alone in any number of groups from which none of its rows is taken. */
static void
untaken_groups(void **state)
{
	int told = 0;

	(void) state;
	for (uint64_t seed = 1; seed <= 2000; seed++)
	{
		Case one;

		case_init(&one, seed, KANON_AGGREGATE_COUNT, 0.5, 1);
		one.question.delta = 0.05;
		one.ngroups = MOST_GROUPS;
		for (uint32_t g = 0; g < MOST_GROUPS; g++)
			add(&one, 1, g, 0);
		assert_int_equal(answer(&one, NOBODY), KANON_OK);
		for (uint32_t g = 0; g < MOST_GROUPS; g++)
			told += one.told[g];
	}
	assert_true(told > 0 && told < 2000 * 0.05 + 5 * sqrt(2000 * 0.05));
}

/* ---- the rest ---- */

static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int what = 0; what < 2; what++)
	{
		Failure failure = {.how = what == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

		while (fails_again(&failure))
		{
			Case one;

			case_init(&one, 3, KANON_AGGREGATE_HISTOGRAM, 1, 100);
			one.ngroups = MOST_GROUPS;
			for (uint64_t s = 0; s < MOST_ROWS; s++)
				add(&one, s / 3, s % MOST_GROUPS, (int64_t) s % 4);
			fail_at(&one.host, &failure);
			failure.status = answer(&one, NOBODY);
		}
		assert_true(what == 1 || failure.at > 4);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uniform),        cmocka_unit_test(exponential),
		cmocka_unit_test(geometric),      cmocka_unit_test(margin),
		cmocka_unit_test(true_figures),   cmocka_unit_test(taken),
		cmocka_unit_test(sensitivities),  cmocka_unit_test(neighbours),
		cmocka_unit_test(found_groups),   cmocka_unit_test(threshold),
		cmocka_unit_test(untaken_groups), cmocka_unit_test(memory_and_cancel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
