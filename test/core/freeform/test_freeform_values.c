/*
 * test_freeform_values.c: how the values of a column spread over the records that a row matches, counted by hand; and
 * that rules beyond k are refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "exact.h"
#include "freeform/freeform_work.h"
#include "unclassed.h"

/* Values of the records that a row matches, one by one. */
static void
values_are_counted(void **state)
{
	uint64_t random = 77;

	(void) state;
	for (int round = 0; round < cases(1500); round++)
	{
		Host host;
		unsigned n = 2 + random_below(&random, 30);
		uint32_t nvalues = 1 + random_below(&random, 6);
		KanonProblem *problem = random_table(&host, &random, n, 2, 4, 1);
		static Shown s;
		uint32_t value[MOST_RECORDS];
		int64_t least = INT64_MAX;
		double most = 0;
		int64_t distinct;
		double share;

		random_records(problem, &random, n, 4, &s);
		for (unsigned j = 0; j < n; j++)
		{
			value[j] = random_below(&random, nvalues);
			s.classes[j].rows = 1 + random_below(&random, 3);
		}
		for (unsigned i = 0; i < n; i++)
		{
			int64_t count[6] = {0};
			int64_t all = 0;
			int64_t kinds = 0;

			for (unsigned j = 0; j < n; j++)
				if (s.match[j][i])
				{
					kinds += count[value[j]] == 0;
					count[value[j]] += s.classes[j].rows;
					all += s.classes[j].rows;
				}
			least = kinds < least ? kinds : least;
			for (uint32_t v = 0; v < nvalues; v++)
				most = all > 0 && (double) count[v] / (double) all > most ? (double) count[v] / (double) all
																		  : most;
		}
		assert_int_equal(kanon_freeform_check_values(problem, &s.release, value, nvalues, &distinct, &share),
						 KANON_OK);
		assert_int_equal(distinct, least);
		assert_true(fabs(share - most) < 1e-12);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* No method takes a rule about classes, or about a population. */
static void
rules_are_refused(void **state)
{
	uint64_t random = 7;

	(void) state;
	for (int m = 0; m <= KANON_FREEFORM_K_K; m++)
		for (int populations = 0; populations < 2; populations++)
		{
			KanonFreeformOptions options = {.method = (KanonFreeformMethod) m};
			Host host;
			KanonProblem *problem = exact_problem(&host, &random, 20, 4, 3, 3, false);
			KanonRelease release;
			KanonReport report;

			if (populations)
				diverse_populations(problem, &random);
			else
				diverse_ask(problem, 2);
			problem->freeform = &options;
			assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_UNSUPPORTED);
			if (populations)
				diverse_free_populations(problem);
			else
				diverse_free(problem);
			assert_int_equal(host.blocks, 0);
			problem_free(problem);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_counted),
		cmocka_unit_test(rules_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
