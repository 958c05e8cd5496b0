/*
 * test_freeform_broken.c: graphs and releases that are not what they have to be, each in
 * one way, are found out, and by the check that is there for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "freeform/freeform_work.h"
#include "unclassed.h"
#include "privacy/rules.h"
#include "model/model.h"
#include "util/sort.h"

/* What is done to a good graph, and what is said of it then. */
typedef struct Fault
{
	bool symmetric;
	void (*make)(KanonFreeformPlan *plan, KanonFreeformGraph *graph);
	const char *says; /* NULL: nothing, it is a good graph */
} Fault;

static uint32_t *
matches_of(const KanonFreeformGraph *graph, uint32_t j)
{
	return graph->match + graph->start[j];
}

static bool
has_match(const KanonFreeformGraph *graph, uint32_t j, uint32_t i)
{
	for (uint32_t m = graph->start[j]; m < graph->start[j + 1]; m++)
		if (graph->match[m] == i)
			return true;
	return false;
}

static void
leave_alone(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	(void) plan, (void) graph;
}

/* After the rows were divided: the part's k is 3. */
static void
want_more(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	static const int64_t k[12] = {0, 0, 0, 4};

	(void) graph;
	((KanonFreeformOptions *) (uintptr_t) plan->problem->freeform)->own_k = k;
}

static void
lose_a_row(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	(void) plan;
	graph->n--;
}

static void
match_no_row(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	(void) plan;
	*matches_of(graph, 4) = graph->n;
}

static void
move_a_match(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	(void) plan;
	graph->start[5]--;
}

/* The first row has too few records, every record its k rows. */
static void
match_another_row(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	uint32_t j = graph->n - 1;
	uint32_t i = 1;

	(void) plan;
	while (!has_match(graph, j, 0))
		j--;
	while (has_match(graph, j, i))
		i++;
	for (uint32_t m = graph->start[j]; m < graph->start[j + 1]; m++)
		if (graph->match[m] == 0)
			graph->match[m] = i;
}

/* All have k, and one of them one more: a row that no record lost. */
static void
match_one_more(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	uint32_t end = graph->start[graph->n];
	uint32_t i = 0;

	while (has_match(graph, graph->n - 1, i))
		i++;
	graph->match = kanon_realloc(plan->problem->env, graph->match, end + 1, sizeof(uint32_t));
	graph->match[end] = i;
	graph->start[graph->n]++;
}

/* Two records that share two rows, each of which is there twice now: the counts are as before. */
static void
match_twice(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	(void) plan;
	for (uint32_t j = 1; j < graph->n; j++)
		for (uint32_t x = graph->start[0]; x < graph->start[1]; x++)
			for (uint32_t y = x + 1; y < graph->start[1]; y++)
				if (has_match(graph, j, graph->match[x]) && has_match(graph, j, graph->match[y]))
				{
					uint32_t a = graph->match[x];
					uint32_t b = graph->match[y];

					graph->match[y] = a;
					for (uint32_t m = graph->start[j]; m < graph->start[j + 1]; m++)
						if (graph->match[m] == a)
							graph->match[m] = b;
					return;
				}
	fail();
}

static void
give_twice(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	(void) plan;
	for (uint32_t j = 0; j < graph->n; j++)
		if (j != 4 && has_match(graph, 4, graph->given[j]))
		{
			graph->given[4] = graph->given[j];
			return;
		}
	fail();
}

static void
give_a_stranger(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	(void) plan;
	graph->given[4] = 0;
	while (has_match(graph, 4, graph->given[4]))
		graph->given[4]++;
}

/* A graph whose matches are not mutual, and the promise that they are. */
static void
promise_mutual(KanonFreeformPlan *plan, KanonFreeformGraph *graph)
{
	(void) graph;
	plan->space.symmetric = true;
}

static const Fault faults[] = {
	{false, leave_alone, NULL},
	{true, leave_alone, NULL},
	{false, lose_a_row, "it has another number of rows"},
	{false, match_no_row, "a match is no row"},
	{false, move_a_match, "a row or record has fewer matches than it must"},
	{false, match_another_row, "a row or record has fewer matches than it must"},
	{false, match_one_more, "the graph is not regular"},
	{false, match_twice, "a match is there twice"},
	{false, want_more, "a row wants more matches"},
	{false, give_twice, "a row goes with two records"},
	{false, give_a_stranger, "a record goes to a row that it does not match"},
	{false, promise_mutual, "a match is not mutual"},
};

static void
broken_graphs(void **state)
{
	uint64_t random = 21;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 12, 3, 4, 3);
	KanonFreeformOptions options = {.method = KANON_FREEFORM_SORT_GREEDY};

	(void) state;
	problem->freeform = &options;
	for (size_t f = 0; f < sizeof(faults) / sizeof(faults[0]); f++)
	{
		KanonFreeformPlan plan;
		KanonReport report = {0};
		KanonFreeformPart part = {.number = 0};
		KanonFreeformGraph graph;
		uint32_t first;
		int32_t *value;
		KanonStatus status;

		options.symmetric = faults[f].symmetric;
		options.own_k = NULL;
		assert_int_equal(kanon_freeform_begin(problem, &plan, &report), KANON_OK);
		kanon_freeform_bounds(&plan, 0, &first, &part.n);
		value = malloc(part.n * 3 * sizeof(int32_t));
		kanon_freeform_values(&plan, 0, value);
		part.value = value;
		part.k = plan.part_k[0];
		assert_int_equal(kanon_freeform_solve(&host.env, &plan.space, NULL, &part, &graph, report.detail,
											  sizeof(report.detail)),
						 KANON_OK);
		faults[f].make(&plan, &graph);
		status = kanon_freeform_put(&plan, 0, &graph, &report);
		assert_int_equal(status, faults[f].says == NULL ? KANON_OK : KANON_BROKEN);
		if (faults[f].says != NULL)
			assert_non_null(strstr(report.detail, faults[f].says));
		kanon_freeform_graph_free(&host.env, &graph);
		kanon_freeform_free(&plan);
		free(value);
	}
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* The release's own check does not take a method's word for the graph. */
static void
broken_releases(void **state)
{
	static const char *const says[] = {
		"",
		"shows a row type that is none",
		"show fewer than k rows",
		"does not show row type",
		"the release is no graph of all rows",
		"are shown fewer than k times",
	};
	uint64_t random = 77;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 30, 3, 6, 3);
	KanonFreeformOptions options = {.method = KANON_FREEFORM_SORT_GREEDY};

	(void) state;
	problem->freeform = &options;
	for (int fault = 0; fault < 6; fault++)
	{
		KanonRelease release;
		KanonReport report = {0};
		KanonStatus status;

		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		switch (fault)
		{
			case 0:
				break;
			case 1:
				release.graph[3] = problem->ntypes;
				break;
			case 2:
				release.graph_start[release.nclasses]--;
				break;
			case 3: /* a row type that the class does not show */
				for (uint32_t t = 0; t < problem->ntypes; t++)
					if (t != release.graph[0] && t != release.graph[1] && t != release.graph[2])
						release.graph[0] = t;
				break;
			case 4:
				release.flows[0].class_ = KANON_DROPPED;
				problem->residual = KANON_RESIDUAL_DROP;
				break;
			case 5: /* one that it shows already */
				release.graph[0] = release.graph[1];
				break;
		}
		status = kanon_release_finish(problem, &release, &report);
		problem->residual = KANON_RESIDUAL_SUPPRESS;
		assert_int_equal(status, fault == 0 ? KANON_OK : KANON_BROKEN);
		assert_non_null(strstr(report.detail, says[fault]));
		kanon_release_free(problem, &release);
	}
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* What a record shows is compared in each column, the first and the last. */
static void
graph_in_each_column(void **state)
{
	(void) state;
	for (int differs = 0; differs < 2; differs++)
	{
		Host host;
		KanonFreeformOptions options = {.method = KANON_FREEFORM_SORT_GREEDY};
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report = {0};
		uint32_t code[24] = {0};
		uint32_t other = 0;

		host_init(&host);
		for (uint32_t i = 0; i < 12; i++)
			code[2 * i + (uint32_t) differs] = i;
		problem = problem_from_codes(&host, code, 12, 2, 3);
		problem->freeform = &options;
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		while (kanon_cell_matches(&release, release.cells[differs], problem->columns[differs].code[other]))
			other++;
		release.graph[0] = other;
		assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_BROKEN);
		assert_non_null(strstr(report.detail, "does not show row type"));
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* What was written is compared with what was checked, as often as it is there. */
static void
written_as_checked(void **state)
{
	uint64_t random = 78;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 30, 3, 6, 3);
	KanonFreeformOptions options = {.method = KANON_FREEFORM_SORT_GREEDY};
	KanonRelease release;
	KanonReport report;

	(void) state;
	problem->freeform = &options;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	for (int fault = 0; fault < 5; fault++)
	{
		KanonRelease written = release;
		KanonClass *classes = malloc(release.nclasses * sizeof(KanonClass));
		KanonCell *cells = malloc(release.nclasses * 3 * sizeof(KanonCell));
		char detail[160] = "";
		KanonStatus status;

		memcpy(classes, release.classes, release.nclasses * sizeof(KanonClass));
		memcpy(cells, release.cells, release.nclasses * 3 * sizeof(KanonCell));
		written.classes = classes;
		written.cells = cells;
		if (fault == 1) /* one row more of a record */
			classes[0].rows++;
		else if (fault == 2) /* none of the last */
			written.nclasses--;
		else if (fault == 3) /* another cell, in the last column */
			cells[2] = (KanonCell){KANON_SHOW_NOTHING, 0};
		else if (fault == 4) /* another one in the first */
			cells[0] = (KanonCell){KANON_SHOW_VALUE, 1 + cells[0].code};
		status = kanon_freeform_confirm(problem, &release, &written, detail, sizeof(detail));
		assert_int_equal(status, fault == 0 ? KANON_OK : KANON_BROKEN);
		assert_int_equal(detail[0] == '\0', fault == 0);
		free(classes);
		free(cells);
	}
	for (uint64_t at = 1; at <= 2; at++)
	{
		char detail[160] = "";

		host.allocations = 0;
		host.refuse_at = at;
		assert_int_equal(kanon_freeform_confirm(problem, &release, &release, detail, sizeof(detail)),
						 KANON_NO_MEMORY);
	}
	host.refuse_at = 0;
	kanon_release_free(problem, &release);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_graphs),
		cmocka_unit_test(broken_releases),
		cmocka_unit_test(graph_in_each_column),
		cmocka_unit_test(written_as_checked),
	};

	return cmocka_run_group_tests_name("freeform_broken", tests, NULL, NULL);
}
