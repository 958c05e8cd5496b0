/*
 * test_people.c: what a population lacks of a table, counted again by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "diverse.h"
#include "exact.h"

/* ---- a population has the table's rows, or not ---- */

static bool
alike(const KanonProblem *problem, const KanonPopulation *population, uint32_t tuple, uint32_t type)
{
	for (int c = 0; c < problem->ncolumns; c++)
		if (population->code[c][tuple] != problem->columns[c].code[type])
			return false;
	return true;
}

static int64_t
missing_by_hand(const KanonProblem *problem, const KanonPopulation *population)
{
	KanonPopulation table = {0};
	int64_t missing = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		table.code[c] = problem->columns[c].code;
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		bool *matches = calloc(population->ntypes, sizeof(bool));
		int64_t rows = 0, found;
		uint32_t first = 0;

		while (!alike(problem, &table, first, type))
			first++;
		for (uint32_t other = 0; other < problem->ntypes; other++)
			rows += alike(problem, &table, other, type) ? problem->rows[other] : 0;
		for (uint32_t tuple = 0; tuple < population->ntypes; tuple++)
			matches[tuple] = alike(problem, population, tuple, type);
		found = diverse_found(population, matches);
		missing += first == type && (population->person != NULL ? found == 0 : found < rows);
		free(matches);
	}
	return missing;
}

static void
missing(void **state)
{
	uint64_t random = 21;
	int lacks = 0, persons = 0, ruled = 0;

	(void) state;
	for (int i = 0; i < 400; i++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 4 + (size_t) i % 30, 1 + i % 4,
											  2 + (uint32_t) i % 3, 2, i % 5 == 4);
		uint64_t refuse = (uint64_t) (i % 8 == 7);

		/* row types that differ in what rules look at alone are alike here */
		if (i % 3 == 1 && problem->ncolumns > 1)
		{
			diverse_ask(problem, 2);
			ruled++;
		}
		diverse_populations(problem, &random);
		for (int p = 0; p < problem->npopulations; p++)
		{
			const KanonPopulation *population = &problem->populations[p];
			int64_t found = -1;
			size_t blocks = host.blocks;

			/* it may lose rows, or all of a row type */
			for (uint32_t t = 0; t < population->ntypes && t < problem->ntypes; t++)
				if (random_below(&random, 6) == 0)
					((int64_t *) population->rows)[t] = problem->rows[t] - 1;
			if (random_below(&random, 2) == 0)
				((uint32_t *) population->code[0])[random_below(&random, problem->ntypes)] = KANON_FOREIGN;
			host.refuse_at = refuse > 0 ? host.allocations + 1 + random_below(&random, 4) : 0;
			if (kanon_population_missing(problem, p, &found) == KANON_OK)
			{
				assert_int_equal(found, missing_by_hand(problem, population));
				lacks += found > 0;
				persons += population->person != NULL;
			}
			else
				assert_int_equal(refuse, 1);
			assert_int_equal(host.blocks, blocks);
		}
		diverse_free_populations(problem);
		if (problem->privacy != NULL)
			diverse_free(problem);
		problem_free(problem);
	}
	assert_true(lacks > 20 && persons > 20 && ruled > 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
