/*
 * test_partition.c: a problem solved by parts keeps every rule of the whole.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"

#define TABLES 4000

static int64_t
rows_of_value(const KanonProblem *problem, int column, uint32_t code)
{
	int64_t rows = 0;

	for (uint32_t type = 0; type < problem->ntypes; type++)
		if (problem->columns[column].code[type] == code)
			rows += problem->rows[type];
	return rows;
}

/* A column of level 0, by chance. */
static int
some_column(const KanonProblem *problem, uint64_t *random)
{
	return kanon_first_column(problem, (int) random_below(random, (uint32_t) kanon_count_qis(problem)));
}

/* Each value that has k rows is a part; what no part places is not more than the rest had. */
static void
check_facts(const KanonProblem *problem, int column, const KanonRelease *release,
			const KanonPartitionFacts *facts)
{
	uint32_t parts = 0;
	int64_t small = 0;

	for (uint32_t code = 0; code < problem->columns[column].distinct; code++)
	{
		int64_t rows = rows_of_value(problem, column, code);

		if (rows >= problem->k)
			parts++;
		else
			small += rows;
	}
	assert_int_equal(facts->parts, parts);
	assert_true(facts->left_over >= small);
	for (uint32_t c = 0; c < release->nclasses; c++)
		if (kanon_same(release->classes[c].pattern, kanon_pattern_all(problem->ncolumns)))
			assert_true(facts->left_over >= release->classes[c].rows);
	assert_true(facts->left_over >= release->dropped);
}

/* Solves a value's rows alone; how many of them are in no class that shows something, and what the others cost. */
static int64_t
left_of_value(const KanonProblem *problem, int column, uint32_t code, double *cost)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	uint32_t type[256], n = 0;
	int64_t left = rows_of_value(problem, column, code);
	KanonRelease alone;
	KanonReport report;

	*cost = 0;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (problem->columns[column].code[i] == code)
			type[n++] = i;
	if (left < problem->k ||
		kanon_solve_value(problem, type, n, INFINITY, kanon_solve_greedy, &alone, &report) != KANON_OK)
		return left;
	for (size_t f = 0; f < alone.nflows; f++)
	{
		uint32_t class_ = alone.flows[f].class_;

		if (class_ == KANON_DROPPED || kanon_same(alone.classes[class_].pattern, all))
			continue;
		left -= alone.flows[f].rows;
		*cost += kanon_pattern_cost(problem, alone.classes[class_].pattern) * (double) alone.flows[f].rows;
	}
	kanon_release_free(problem, &alone);
	return left;
}

/* Left over is what each value leaves over, and all of the last one if that cannot be filled up; it costs the rest. */
static bool
check_left_over(const KanonProblem *problem, int column, const KanonRelease *release,
				const KanonPartitionFacts *facts)
{
	int64_t left = 0, last_rows = 0, last_left = 0;
	double placed = 0, last_placed = 0, cost = 0;
	bool lacks;

	for (uint32_t code = 0; code < problem->columns[column].distinct; code++)
	{
		double shown;
		int64_t rows = rows_of_value(problem, column, code);
		int64_t over = left_of_value(problem, column, code, &shown);

		left += over;
		placed += shown;
		if (rows < problem->k)
			continue;
		last_rows = rows;
		last_left = over;
		last_placed = shown;
	}
	lacks = problem->residual == KANON_RESIDUAL_FILL && left > 0 &&
			(left < problem->k || problem->privacy != NULL);
	if (lacks)
	{
		left += last_rows - last_left;
		placed -= last_placed;
	}
	assert_int_equal(facts->left_over, left);
	for (uint32_t c = 0; c < release->nclasses; c++)
		cost += kanon_pattern_cost(problem, release->classes[c].pattern) * (double) release->classes[c].rows;
	assert_float_equal(facts->left_over_cost, cost - placed, 1e-6 * (1 + cost));
	return lacks && last_rows > last_left;
}

/* Any mask, levels, weights, residual and k, with and without rules beyond k. */
static void
keeps_rules(void **state)
{
	uint64_t random = 1;
	int partitioned = 0, over = 0, lacking = 0;

	(void) state;
	for (int i = 0; i < cases(TABLES); i++)
	{
		Host host;
		KanonProblem *problem;
		KanonRelease release, plain;
		KanonReport report, plain_report;
		KanonPartitionFacts facts;
		KanonStatus status, whole;
		bool diverse = i % 3 == 0;
		int column;

		host_init(&host);
		problem = problem_random(&host, &random, 60, diverse ? 6 : 4);
		if (diverse && problem->ncolumns < 4)
			diverse = false;
		if (diverse)
			diverse_make(problem, &random, DIVERSE_ALL);
		column = some_column(problem, &random);
		if (i % 4 == 1)
			problem->residual = KANON_RESIDUAL_FILL;
		status =
			kanon_solve_partitioned(problem, column, kanon_solve_greedy, NULL, &release, &report, &facts);
		whole = kanon_solve_greedy(problem, &plain, &plain_report);
		if (status != KANON_OK)
			assert_int_equal(status, whole);
		else if (facts.parts > 0)
		{
			check_facts(problem, column, &release, &facts);
			lacking += check_left_over(problem, column, &release, &facts);
			partitioned++;
			over += facts.left_over > 0;
		}
		if (status == KANON_OK)
		{
			double cost = report.cost;

			assert_false(report.proven);
			assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
			assert_true(report.cost == cost);
			kanon_release_free(problem, &release);
		}
		if (whole == KANON_OK)
			kanon_release_free(problem, &plain);
		if (diverse)
			diverse_free(problem);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(partitioned > cases(TABLES) / 2 && over > cases(TABLES) / 4 && lacking > 0);
}

/* One value: the whole.  Two that agree in nothing else: as each alone, however much dearer together. */
static void
is_what_parts_are(void **state)
{
	static const uint32_t code[][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 2, 2}, {1, 2, 3},
									   {1, 3, 2}, {1, 3, 3}, {2, 0, 1}, {2, 2, 3}, {3, 0, 0}};
	Host host;
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;
	KanonPartitionFacts facts;
	int64_t published = 0;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, code[0], sizeof(code) / sizeof(code[0]), 3, 2);
	assert_int_equal(kanon_solve_partitioned(problem, 0, kanon_solve_greedy, NULL, &release, &report, &facts),
					 KANON_OK);
	/* value 3 has one row; of value 2 the rows agree in nothing but that, which a part may show */
	assert_int_equal(facts.parts, 3);
	for (uint32_t c = 0; c < release.nclasses; c++)
	{
		published += release.classes[c].rows;
	}
	assert_int_equal(published, 10);
	assert_true(facts.left_over >= 1 && facts.left_over < 4);
	kanon_release_free(problem, &release);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* Solves every second value that it is asked for, and every third of these without telling. */
typedef struct Helper
{
	const KanonProblem *problem;
	KanonRelease last;
	int asked;
	uint32_t code;
} Helper;

static bool
helper_solved(void *arg, const KanonValueTypes *values, uint32_t code, KanonStatus *status,
			  KanonRelease *release, KanonReport *report)
{
	Helper *helper = arg;
	size_t first = values->start[code];
	uint32_t n = (uint32_t) (values->start[code + 1] - first);

	assert_true(code < values->distinct && (helper->asked == 0 || code > helper->code));
	helper->code = code;
	kanon_release_free(helper->problem, &helper->last);
	memset(&helper->last, 0, sizeof(helper->last));
	if (helper->asked++ % 2 == 0)
		return false;
	*status = kanon_solve_value(helper->problem, values->type + first, n, INFINITY, kanon_solve_greedy,
								&helper->last, report);
	*release = helper->last;
	return helper->asked % 3 != 0;
}

/* Whoever solves a value, the release is the same. */
static void
helped(void **state)
{
	uint64_t random = 3;
	int asked = 0;

	(void) state;
	for (int i = 0; i < cases(TABLES) / 4; i++)
	{
		Host host;
		KanonProblem *problem;
		KanonRelease release, alone;
		KanonReport report, alone_report;
		KanonPartitionFacts facts, alone_facts;
		Helper helper = {0};
		KanonPartitionHelp help = {&helper, helper_solved};
		KanonStatus status;
		int column;

		host_init(&host);
		problem = problem_random(&host, &random, 60, 4);
		column = some_column(problem, &random);
		helper.problem = problem;
		status =
			kanon_solve_partitioned(problem, column, kanon_solve_greedy, &help, &release, &report, &facts);
		kanon_release_free(problem, &helper.last);
		assert_int_equal(kanon_solve_partitioned(problem, column, kanon_solve_greedy, NULL, &alone,
												 &alone_report, &alone_facts),
						 status);
		if (status == KANON_OK)
		{
			assert_memory_equal(&facts, &alone_facts, sizeof(facts));
			assert_true(report.cost == alone_report.cost);
			assert_int_equal(release.nclasses, alone.nclasses);
			assert_int_equal(release.nflows, alone.nflows);
			for (size_t f = 0; f < release.nflows; f++)
				assert_true(release.flows[f].type == alone.flows[f].type &&
							release.flows[f].class_ == alone.flows[f].class_ &&
							release.flows[f].rows == alone.flows[f].rows);
			kanon_release_free(problem, &release);
			kanon_release_free(problem, &alone);
		}
		asked += helper.asked > 1;
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(asked > cases(TABLES) / 16);
}

/* Every allocation refused once, every poll answered with yes once; with and without rules, which stay the whole's. */
static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int what = 0; what < 4; what++)
	{
		Failure failure = {.how = what % 2 == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};
		bool diverse = what >= 2;

		while (fails_again(&failure))
		{
			uint64_t random = 7;
			Host host;
			KanonProblem *problem;
			KanonRelease release;
			KanonReport report;
			KanonPartitionFacts facts;

			host_init(&host);
			do
				problem = problem_random(&host, &random, 60, diverse ? 6 : 4);
			while ((problem->ntypes < 20 || problem->ncolumns < 4) && (problem_random_free(problem), true));
			problem->residual = KANON_RESIDUAL_SUPPRESS;
			if (diverse)
				diverse_make(problem, &random, 1u << KANON_DISTINCT_L);
			fail_at(&host, &failure);
			failure.status =
				kanon_solve_partitioned(problem, 0, kanon_solve_greedy, NULL, &release, &report, &facts);
			host.refuse_at = host.cancel_at = 0;
			if (failure.status == KANON_OK)
				kanon_release_free(problem, &release);
			if (diverse)
				diverse_free(problem);
			problem_random_free(problem);
			assert_int_equal(host.blocks, 0);
		}
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_rules),
		cmocka_unit_test(is_what_parts_are),
		cmocka_unit_test(helped),
		cmocka_unit_test(memory_and_cancel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
