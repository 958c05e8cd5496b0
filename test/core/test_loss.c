/*
 * test_loss.c: the measures of what a release has lost: by hand, and against the
 * formulas written out cell by cell on random releases.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

/* A number of random cases; KANON_TEST_SHARE per cent of them. */
static int
cases(int number)
{
	const char *share = getenv("KANON_TEST_SHARE");

	return share == NULL ? number : (int) ((long) number * strtol(share, NULL, 10) / 100) + 1;
}

static bool
close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/*
 * Seven rows of (age, zip), k = 2:
 *
 *   30 A, 30 A, 30 B | 30 C, 40 C, 50 D, 50 E
 *
 * With every pattern allowed greedy keeps the two "30 A", then tries the patterns
 * of cost 1, those that suppress the wider domain (zip: 5 values, age: 3) first:
 * "30 *" takes 30 B and 30 C, "50 *" takes 50 D and 50 E, and 40 C is left alone
 * and fully suppressed.
 *
 *   suppressed cells     zip 5, age 1: 6 of 14
 *   discernibility       2^2 + 2^2 + 2^2 + 1 * 7 = 19
 *   c_avg                7 rows / 4 classes / 2 = 0.875
 *   iloss                age 1 * 2/3 + zip 5 * 4/5 = 4.666…
 *   ncp                  age 1 * 1 + zip 5 * 1 = 6, by 7 * 2 gives gcp 6/14
 *   precision            1 - 6/14
 *   entropy              of the hidden values: age 40 (1 of 7); zip B, D, E (1 of
 *                        7 each), C and C (2 of 7):
 *                        4 log2 7 + 2 log2 3.5
 */
static void
test_by_hand(void **state)
{
	static const uint32_t code[] = {0, 0, 0, 0, 0, 1, 0, 2, 1, 2, 2, 3, 2, 4};
	Host		host;
	KanonRelease release;
	KanonReport report;
	KanonMeasures measures;
	KanonColumnMeasures columns[2];
	KanonProblem *problem;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, code, 7, 2, 2);
	problem->mask.order = KANON_ORDER_DOMAIN;
	assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
	assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
	assert_int_equal(measures.suppressed_cells, 6);
	assert_true(measures.discernibility == 19);
	assert_true(measures.c_avg == 0.875);
	assert_true(close_to(measures.iloss, 2.0 / 3 + 4));
	assert_true(close_to(measures.ncp, 6));
	assert_true(close_to(measures.gcp, 6.0 / 14));
	assert_true(close_to(measures.precision, 8.0 / 14));
	assert_true(close_to(measures.entropy, 4 * log2(7) + 2 * log2(3.5)));
	/* everything hidden: 30 four times, 50 twice, 40; A and C twice, the others */
	assert_true(close_to(measures.entropy_share, measures.entropy /
						 (4 * log2(7.0 / 4) + 2 * log2(3.5) + log2(7) + 4 * log2(3.5) + 3 * log2(7))));
	assert_int_equal(kanon_measure_columns(problem, &release, columns), KANON_OK);
	assert_int_equal(columns[0].suppressed, 1);
	assert_int_equal(columns[0].shown, 2);	/* 30, 50 */
	assert_true(close_to(columns[0].ncp, 1.0 / 7));
	assert_int_equal(columns[1].suppressed, 5);
	assert_int_equal(columns[1].shown, 1);	/* A */
	assert_true(close_to(columns[1].ncp, 5.0 / 7));
	kanon_release_free(problem, &release);

	/* left out instead of suppressed: no measure but the cells gets better */
	problem->residual = KANON_RESIDUAL_DROP;
	assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
	assert_int_equal(release.dropped, 1);
	assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
	assert_int_equal(measures.suppressed_cells, 4);
	assert_true(measures.discernibility == 19);
	assert_true(close_to(measures.gcp, 6.0 / 14));
	assert_true(close_to(measures.precision, 8.0 / 14));
	assert_true(close_to(measures.iloss, 2.0 / 3 + 4));
	kanon_release_free(problem, &release);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* The formulas, row by row and cell by cell. */
static void
naive(const KanonProblem *problem, const KanonRelease *release, KanonMeasures *measures)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	double		rows = 0,
				weights = 0,
				entropy_all = 0;

	memset(measures, 0, sizeof(*measures));
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows += (double) problem->rows[i];
	for (int c = 0; c < problem->ncolumns; c++)
		weights += problem->columns[c].weight;
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];
		KanonPattern pattern = flow->class_ == KANON_DROPPED ? all : release->classes[flow->class_].pattern;

		measures->discernibility += (double) flow->rows *
			(pattern == all ? rows : (double) release->classes[flow->class_].rows);
		for (int c = 0; c < problem->ncolumns; c++)
		{
			const KanonColumn *column = &problem->columns[c];
			double		same = 0,
						hides;

			for (uint32_t i = 0; i < problem->ntypes; i++)
				if (column->code[i] == column->code[flow->type])
					same += (double) problem->rows[i];
			hides = -log1p(-(rows - same) / rows) / log(2);
			entropy_all += (double) flow->rows * hides;
			if ((pattern >> c & 1) == 0)
				continue;
			measures->precision += (double) flow->rows;
			measures->iloss += (double) flow->rows * column->weight * (column->distinct - 1) / column->distinct;
			if (column->distinct > 1)
				measures->ncp += (double) flow->rows * column->weight;
			measures->entropy += (double) flow->rows * hides;
		}
	}
	measures->gcp = rows > 0 && weights > 0 ? measures->ncp / rows / weights : 0;
	measures->precision = rows > 0 ? 1 - measures->precision / rows / problem->ncolumns : 1;
	measures->entropy_share = entropy_all > 0 ? measures->entropy / entropy_all : 0;
}

static void
test_random(void **state)
{
	(void) state;
	for (int i = 0; i < cases(400); i++)
	{
		uint64_t	random = 77000 + (uint64_t) i;
		Host		host;
		KanonRelease release;
		KanonReport report;
		KanonMeasures measures,
					expected;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 120, 6);
		KanonStatus status = kanon_solve_greedy(problem, &release, &report);

		if (status == KANON_OK)
		{
			int64_t		suppressed = 0;
			KanonColumnMeasures columns[6];

			assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
			naive(problem, &release, &expected);
			assert_true(close_to(measures.discernibility, expected.discernibility));
			assert_true(close_to(measures.iloss, expected.iloss));
			assert_true(close_to(measures.ncp, expected.ncp));
			assert_true(close_to(measures.gcp, expected.gcp));
			assert_true(close_to(measures.precision, expected.precision));
			assert_true(close_to(measures.entropy, expected.entropy));
			assert_true(close_to(measures.entropy_share, expected.entropy_share));
			assert_true(measures.gcp >= 0 && measures.gcp <= 1 + 1e-12);
			assert_int_equal(kanon_measure_columns(problem, &release, columns), KANON_OK);
			for (int c = 0; c < problem->ncolumns; c++)
				suppressed += columns[c].suppressed;
			assert_int_equal(suppressed, measures.suppressed_cells);
		}
		kanon_release_free(problem, &release);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
