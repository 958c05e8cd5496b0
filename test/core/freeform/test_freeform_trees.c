/*
 * test_freeform_trees.c: records without classes that show nodes of hierarchies: the lowest that
 * cover their matches and no other, at their price; and the optimum among all graphs.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"
#include "freeform/freeform_work.h"
#include "model/model.h"
#include "unclassed.h"

/* Do n row types agree in a column? */
static bool
agree(const KanonColumn *column, const uint32_t *type, size_t n)
{
	for (size_t x = 1; x < n; x++)
		if (column->code[type[x]] != column->code[type[0]])
			return false;
	return true;
}

/* What a record shows is true of all its matches, and nothing less general is. */
static void
shows_the_least(const KanonProblem *problem, const KanonRelease *release, uint32_t i)
{
	const uint32_t *type = release->graph + release->graph_start[i];
	size_t n = release->graph_start[i + 1] - release->graph_start[i];
	const KanonCell *cell = release->cells + (size_t) i * (size_t) problem->ncolumns;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		const KanonColumn *column = &problem->columns[c];
		bool levels = column->level > 0 || (c + 1 < problem->ncolumns && problem->columns[c + 1].level > 0);
		bool one = agree(column, type, n);

		assert_int_equal(!kanon_has(release->classes[i].pattern, c), one);
		if (one)
		{
			assert_int_equal(cell[c].show, KANON_SHOW_VALUE);
			assert_int_equal(cell[c].code, column->code[type[0]]);
		}
		else if (levels)
			assert_int_equal(cell[c].show, KANON_SHOW_NOTHING);
		else
			assert_int_equal(cell[c].show, column->number != NULL ? KANON_SHOW_RANGE : KANON_SHOW_SET);
	}
}

static void
every_method_shows_the_least(void **state)
{
	uint64_t random = 2007;
	int raised = 0;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		Host host;
		size_t rows = 4 + random_below(&random, 60);
		int64_t k = 2 + random_below(&random, (uint32_t) (rows + 2) / 2 - 1);
		KanonProblem *problem = random_trees(&host, &random, rows, 1 + (int) random_below(&random, 4),
											 1 + random_below(&random, 9), k);
		int64_t own_k[64];

		problem->seed = (uint64_t) round;
		for (uint32_t t = 0; t < problem->ntypes; t++)
			own_k[t] =
				k + random_below(&random, 2) * random_below(&random, (uint32_t) (rows + 4 - 2 * k) / 2);
		for (int m = 0; m <= KANON_FREEFORM_K_K; m++)
			for (int symmetric = 0; symmetric < 2; symmetric++)
			{
				KanonFreeformMethod method = (KanonFreeformMethod) m;
				KanonFreeformOptions options = {.method = method, .symmetric = symmetric};
				bool own = round % 4 == 1 && !symmetric && method < KANON_FREEFORM_CONCEALMENT;
				KanonRelease release;
				KanonReport report;
				KanonFreeformFacts facts;
				KanonMeasures measures;

				if (!is_there(method) || (symmetric && !makes_mutual(method)))
					continue;
				if (round % 3 == 0 && rows >= 4 * (size_t) k)
					options.partition_size = (uint32_t) (2 * k);
				options.own_k = own ? own_k : NULL;
				problem->freeform = &options;
				if (method == KANON_FREEFORM_MIP && rows > 12)
					continue;
				assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
				for (uint32_t i = 0; i < release.nclasses; i++)
				{
					shows_the_least(problem, &release, i);
					raised += !kanon_is_none(release.classes[i].pattern);
				}
				/* two tables alone tell */
				assert_int_equal(kanon_freeform_check(problem, &release, k, -1, &facts), KANON_OK);
				assert_true(facts.same_size);
				assert_true(facts.row_matches >= k || method == KANON_FREEFORM_K_ONE);
				assert_true(facts.record_matches >= k || method == KANON_FREEFORM_ONE_K);
				assert_true(facts.regular || method >= KANON_FREEFORM_CONCEALMENT);
				assert_true(fabs(report.cost - cost_by_hand(problem, &release)) < 1e-9 * (double) rows);
				/* without sets it is what measures have; and never more: a set of all but one loses less than NCP has it */
				assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
				assert_true(report.cost <= measures.ncp + 1e-9 * (double) rows);
				kanon_release_free(problem, &release);
			}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(raised > cases(300));
}

/* Columns that all have hierarchies or are numbers: the cost is the table's NCP. */
static void
cost_is_ncp(void **state)
{
	uint64_t random = 2006;

	(void) state;
	for (int round = 0; round < cases(100); round++)
	{
		Host host;
		KanonProblem *problem = random_trees(&host, &random, 40, 3, 8, 4);
		KanonFreeformOptions options = {.method = KANON_FREEFORM_SORT_GREEDY};
		KanonRelease release;
		KanonReport report;
		KanonMeasures measures;
		bool sets = false;

		problem->freeform = &options;
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
		for (size_t x = 0; x < release.nclasses * (size_t) problem->ncolumns; x++)
			sets = sets || release.cells[x].show == KANON_SHOW_SET;
		assert_true(sets || fabs(report.cost - measures.ncp) < 1e-9 * 40);
		kanon_release_free(problem, &release);
		problem_free(problem);
	}
}

/* ---- the optimum ---- */

/* What a set of rows costs: as a release of one record that shows them. */
static double
set_price(const KanonProblem *problem, const uint32_t *row, unsigned set)
{
	KanonCell cell[KANON_MAX_COLUMNS];
	KanonClass class = {KANON_NONE, 1};
	uint32_t pool[2 * KANON_MAX_COLUMNS + 16 * KANON_MAX_COLUMNS];
	KanonRelease release = {.nclasses = 1, .classes = &class, .cells = cell, .pool = pool};
	uint32_t type[8];
	size_t n = 0;

	for (unsigned i = 0; set >> i != 0; i++)
		if (set >> i & 1)
			type[n++] = row[i];
	for (int c = 0; c < problem->ncolumns; c++)
	{
		const KanonColumn *column = &problem->columns[c];
		bool levels = column->level > 0 || (c + 1 < problem->ncolumns && problem->columns[c + 1].level > 0);
		uint32_t *at = pool + release.npool;

		cell[c] = (KanonCell){KANON_SHOW_NOTHING, 0};
		if (agree(column, type, n))
			cell[c] = (KanonCell){KANON_SHOW_VALUE, column->code[type[0]] & KANON_MAX_TYPES};
		else if (!levels && column->number != NULL)
		{
			cell[c] = (KanonCell){KANON_SHOW_RANGE, (uint32_t) release.npool & KANON_MAX_TYPES};
			at[0] = UINT32_MAX;
			at[1] = 0;
			for (size_t x = 0; x < n; x++)
			{
				at[0] = column->code[type[x]] < at[0] ? column->code[type[x]] : at[0];
				at[1] = column->code[type[x]] > at[1] ? column->code[type[x]] : at[1];
			}
			release.npool += 2;
		}
		else if (!levels)
		{
			cell[c] = (KanonCell){KANON_SHOW_SET, (uint32_t) release.npool & KANON_MAX_TYPES};
			at[0] = 0;
			for (uint32_t v = 0; v < column->distinct; v++)
				for (size_t x = 0; x < n; x++)
					if (column->code[type[x]] == v)
					{
						at[0]++;
						break;
					}
			release.npool++;
		}
	}
	return cost_by_hand(problem, &release);
}

static void
optimum_against_all_graphs(void **state)
{
	uint64_t random = 15;

	(void) state;
	for (int round = 0; round < cases(100); round++)
	{
		Host host;
		unsigned n = 4 + random_below(&random, 3);
		unsigned k = 2 + random_below(&random, 2);
		KanonProblem *problem = random_trees(&host, &random, n, 3, 5, k);
		double best = least_graph(problem, n, k, set_price);

		for (int m = 0; m < KANON_FREEFORM_CONCEALMENT; m++)
		{
			KanonFreeformOptions options = {.method = (KanonFreeformMethod) m};
			KanonRelease release;
			KanonReport report;

			if (!is_there(options.method))
				continue;
			problem->freeform = &options;
			assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
			assert_true(report.cost >= best - 1e-5);
			if (options.method == KANON_FREEFORM_MIP)
			{
				assert_true(report.proven);
				assert_true(fabs(report.cost - best) < 1e-5);
				assert_true(report.lower_bound <= best + 1e-13 * best && report.lower_bound > best - 1e-5);
			}
			kanon_release_free(problem, &release);
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* Parts are cut where nodes end, not values: rows of one node follow one another. */
static void
rows_are_in_the_order_of_nodes(void **state)
{
	uint64_t random = 8;

	(void) state;
	for (int round = 0; round < cases(100); round++)
	{
		Host host;
		KanonProblem *problem = random_trees(&host, &random, 40, 1, 9, 2);
		KanonFreeformOptions options = {.method = KANON_FREEFORM_GREEDY};
		KanonFreeformPlan plan;
		KanonReport report = {0};
		bool left[16];

		problem->freeform = &options;
		assert_int_equal(kanon_freeform_begin(problem, &plan, &report), KANON_OK);
		for (int c = 0; c < problem->ncolumns; c++)
		{
			const uint32_t *code = problem->columns[c].code;

			memset(left, 0, sizeof(left));
			for (uint32_t i = 1; i < plan.nrows; i++)
				if (code[plan.type[i]] != code[plan.type[i - 1]])
				{
					left[code[plan.type[i - 1]]] = true;
					assert_false(left[code[plan.type[i]]]);
				}
		}
		kanon_freeform_free(&plan);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* ---- memory and cancel ---- */

static KanonProblem *
make_table(Host *host, int variant)
{
	static KanonFreeformOptions options;
	uint64_t random = 11;
	KanonProblem *problem = random_trees(host, &random, variant == KANON_FREEFORM_MIP ? 14 : 40, 4, 4, 4);

	options = (KanonFreeformOptions){.method = (KanonFreeformMethod) variant};
	problem->freeform = &options;
	return problem;
}

static void
memory_and_cancel(void **state)
{
	static const KanonFreeformMethod methods[] = {KANON_FREEFORM_SORT_GREEDY, KANON_FREEFORM_RING,
												  KANON_FREEFORM_MIP, KANON_FREEFORM_K_K};

	(void) state;
	for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
		if (is_there(methods[m]))
		{
			exact_refuse_each(make_table, (int) methods[m], kanon_solve_freeform, false);
			exact_cancel_each(make_table, (int) methods[m], kanon_solve_freeform);
		}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_method_shows_the_least), cmocka_unit_test(cost_is_ncp),
		cmocka_unit_test(optimum_against_all_graphs), cmocka_unit_test(rows_are_in_the_order_of_nodes),
		cmocka_unit_test(memory_and_cancel)};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("freeform_trees", tests, NULL, NULL);
}
