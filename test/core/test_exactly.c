/*
 * test_exactly.c: which releases the solvers find, on tables that are the same everywhere (exactly.h).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/cluster.h"
#include "freeform/graph.h"
#include "full_domain/full_domain.h"
#include "subtree/subtree.h"
#include "diverse.h"
#include "exact.h"
#include "exactly.h"
#include "unclassed.h"
#include "util/pace.h"

/* What others are solved with; without it they find something else, or nothing. */
#ifdef HAVE_GLPK
static const bool has_glpk = true;
#else
static const bool has_glpk = false;
#endif

static void
see_measures(Seen *seen, const KanonProblem *problem, const KanonRelease *release)
{
	KanonMeasures m;
	KanonColumnMeasures columns[KANON_MAX_COLUMNS];
	double *diversity = calloc(release->nclasses + 1, sizeof(double));
	double loss[10];

	assert_int_equal(kanon_measure(problem, release, &m, diversity), KANON_OK);
	assert_int_equal(kanon_measure_columns(problem, release, columns), KANON_OK);
	loss[0] = m.usefulness;
	loss[1] = m.c_avg;
	loss[2] = m.iloss;
	loss[3] = m.ncp;
	loss[4] = m.gcp;
	loss[5] = m.precision;
	loss[6] = m.entropy_share;
	loss[7] = m.discernibility;
	loss[8] = m.entropy;
	loss[9] = m.class_avg;
	/* figures of their own weight, so that two that are exchanged do not go unseen */
	for (int i = 0; i < 10; i++)
		seen_figure(seen, 6, (i + 1) * loss[i]);
	for (uint32_t i = 0; i < release->nclasses; i++)
		seen_figure(seen, 7, diversity[i]);
	seen_value(seen, m.rows);
	seen_value(seen, m.suppressed_cells);
	seen_value(seen, m.class_min);
	seen_value(seen, m.class_max);
	for (int q = 0; q < kanon_count_qis(problem); q++)
	{
		seen_value(seen, columns[q].suppressed);
		seen_value(seen, columns[q].kept);
		seen_value(seen, columns[q].lost);
		seen_value(seen, columns[q].shown);
		seen_figure(seen, 8, columns[q].ncp);
		seen_figure(seen, 9, columns[q].entropy + 2 * columns[q].entropy_all);
	}
	free(diversity);
}

/* One problem solved; ours: nothing of it depends on the version of a library. */
static bool
solve_one(Seen *seen, KanonProblem *problem, KanonSolve solve, bool ours)
{
	Host *host = problem->env->arg;
	KanonRelease release;
	KanonReport report = seen_garbage;
	KanonStatus status;
	bool known;

	host->said = 0;
	status = solve(problem, &release, &report);
	known = status != KANON_UNAVAILABLE;
	seen_value(seen, status);
	/* what improve tells goes by the clock */
	if (ours && solve != kanon_solve_improve)
		seen_value(seen, host->said);
	if (status == KANON_OK)
	{
		seen_figure(seen, 0, report.cost);
		seen_figure(seen, 1, report.lower_bound);
		seen_figure(seen, 2, report.guarantee);
		seen_figure(seen, 3, report.proven);
		if (ours)
		{
			seen_figure(seen, 4, (double) report.nodes);
			seen_figure(seen, 5, release.nclasses);
			seen_release(seen, problem, &release);
			see_measures(seen, problem, &release);
		}
	}
	seen_text(seen, report.detail);
	kanon_release_free(problem, &release);
	return known;
}

/* Each allocation refused once: an orderly end, nothing left. */
static void
refuse_each(KanonProblem *problem, KanonSolve solve, bool may_do_without)
{
	Host *host = problem->env->arg;
	bool reached = true;

	for (uint64_t at = 1; reached && at < 600; at++)
	{
		KanonRelease release;
		KanonReport report = seen_garbage;
		KanonStatus status;

		host->allocations = 0;
		host->refuse_at = at;
		status = solve(problem, &release, &report);
		reached = host->allocations >= at;
		assert_true(reached || status != KANON_NO_MEMORY);
		assert_true(!reached || may_do_without || status == KANON_NO_MEMORY);
		seen_written(&report);
		kanon_release_free(problem, &release);
		assert_int_equal(host->blocks, 0);
	}
	host->refuse_at = 0;
}

/* ---- patterns ---- */

/* Any mask, weights, levels, order, residual. */
static void
patterns(void **state)
{
	static const char *const methods[] = {"greedy", "improve", "ilp", "best", "fpt"};

	(void) state;
	for (int m = 0; m < 5; m++)
		for (int rules = 0; rules < 2; rules++)
		{
			char what[40];
			Seen seen = {what};
			const KanonSolver *solver = kanon_solver_find(methods[m]);
			uint64_t random = 3;
			bool known = has_glpk || m == 0 || m == 4;

			snprintf(what, sizeof(what), "%s%s", methods[m], rules ? " with rules" : "");
			for (int i = 0; i < (m == 0 ? 10 * SEEN_TABLES : SEEN_TABLES); i++)
			{
				Host host;
				KanonProblem *problem;

				host_init(&host);
				do
				{
					problem = problem_random(&host, &random, m == 0 ? 90 : m == 4 ? 7 : 30, m == 4 ? 3 : 5);
					if (problem->ntypes > 0 && problem->ncolumns > rules)
						break;
					problem_random_free(problem);
				} while (true);
				problem->seed = (uint64_t) i;
				/* what the models can tell apart */
				for (int c = 0; c < problem->ncolumns && m > 0; c++)
					((KanonColumn *) problem->columns)[c].weight = 1 + (c + i) % 3;
				for (uint32_t t = 0; t < problem->ntypes && m > 0; t++)
					((int64_t *) problem->rows)[t] = 1 + (t + i) % 3;
				if (rules)
					diverse_make(problem, &random, DIVERSE_ALL);
				known = solve_one(&seen, problem, solver->solve, m == 0 || m == 4) && known;
				if (rules)
					diverse_free(problem);
				problem_random_free(problem);
				assert_int_equal(host.blocks, 0);
			}
			if (known)
				seen_compare(&seen);
		}
}

/* What is searched: too large for an exact model. */
static void
searched(void **state)
{
	Seen seen = {"improve, searched"};
	bool known = has_glpk;

	(void) state;
	/* with tiny limits other searches are begun */
	for (int i = 0; i < 3 && KANON_POLL_WORK == 1 << 18; i++)
	{
		uint64_t random = 600 + (uint64_t) i;
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 70, 4, 4, 3 + i % 3, false);

		problem->effort = 0.01;
		problem->seed = (uint64_t) i;
		problem->residual = (KanonResidual) (i % 3);
		for (int c = 0; c < problem->ncolumns; c++)
			((KanonColumn *) problem->columns)[c].weight = 1 + 0.37 * ((c + i) % 3);
		known = solve_one(&seen, problem, kanon_solve_improve, true) && known;
		problem_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	if (known && KANON_POLL_WORK == 1 << 18)
		seen_compare(&seen);
}

/* One class for each pattern; and a release near the one before. */
static KanonPrevious previous;

static KanonStatus
solve_stable(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	return kanon_solve_stable(problem, &previous, kanon_solve_greedy, release, report);
}

static void
stable(void **state)
{
	Seen seen = {"stable"};
	uint64_t random = 4;

	(void) state;
	for (int i = 0; i < 10 * SEEN_TABLES; i++)
	{
		Host host;
		KanonProblem *problem;
		KanonPattern pattern[12];
		KanonFlow flows[12];

		host_init(&host);
		problem = problem_random(&host, &random, 60, 4);
		previous = (KanonPrevious){.nclasses = 12, .pattern = pattern, .flows = flows};
		for (int c = 0; c < 12; c++)
			pattern[c] = random_columns(&random, problem->ncolumns);
		for (uint32_t t = 0; t < problem->ntypes && t < 12; t++)
			flows[previous.nflows++] = (KanonFlow){t, random_below(&random, 3), 1 + random_below(&random, 3)};
		solve_one(&seen, problem, solve_stable, true);
		if (i < 8)
			refuse_each(problem, solve_stable, false);
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	seen_compare(&seen);
}

static void
one_class_each(void **state)
{
	Seen seen = {"one class each"};
	Seen chosen = {"one class each, by choices"};
	uint64_t random = 5;

	(void) state;
	for (int i = 0; i < 4 * SEEN_TABLES; i++)
	{
		Host host;
		KanonProblem *problem = exact_problem(&host, &random, 20, 3, 3, 1 + i % 4, i % 2 == 0);
		KanonPattern list[4];

		for (int p = 0; p < 4; p++)
			list[p] = KANON_BITS(random_next(&random) & 7);
		problem->mask.list = list;
		problem->mask.nlist = 2 + (size_t) i % 3;
		solve_one(&seen, problem, kanon_solve_pattern_clustering_greedy, true);
		if (i % 4 == 3)
			solve_one(&chosen, problem, kanon_solve_pattern_clustering_fpt, true);
		if (i < 4)
		{
			refuse_each(problem, kanon_solve_pattern_clustering_greedy, false);
			refuse_each(problem, kanon_solve_pattern_clustering_fpt, false);
		}
		problem_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	seen_compare(&seen);
	seen_compare(&chosen);
}

/* ---- nodes ---- */

static void
nodes(void **state)
{
	(void) state;
	for (int s = 0; kanon_search_names[s] != NULL; s++)
		for (int m = 0; kanon_metric_names[m] != NULL; m++)
		{
			char what[40];
			Seen seen = {what};

			snprintf(what, sizeof(what), "%s, %s", kanon_search_names[s], kanon_metric_names[m]);
			for (int i = 0; i < SEEN_TABLES; i++)
			{
				uint64_t random = 70 + (uint64_t) i;
				Host host;
				KanonProblem *problem;
				KanonRelease release;
				KanonReport report;
				KanonOutcome outcome;
				KanonFullDomainOptions options = {.metric = (KanonMetric) m,
												  .search = (KanonSearch) s,
												  .explore = i % 4 == 0,
												  .suppression_limit = i % 3 * 0.07};
				KanonStatus status;

				host_init(&host);
				problem = problem_random_levels(&host, &random, 60, 2 + i % 3, 3, 2 + i % 4);
				problem->residual = (KanonResidual) (i % 3);
				for (int c = 0; c < problem->ncolumns; c++)
					((KanonColumn *) problem->columns)[c].weight = 1 + (c + i) % 3;
				if (i % 5 == 4)
					diverse_make(problem, &random, DIVERSE_ALL);
				problem->full_domain = &options;
				host.said = 0;
				status = kanon_solve_full_domain(problem, &outcome, &release, &report);
				seen_value(&seen, host.said);
				seen_value(&seen, status);
				seen_figure(&seen, 0, (double) outcome.nodes);
				seen_figure(&seen, 1, (double) outcome.checked);
				seen_figure(&seen, 2, (double) outcome.tagged);
				seen_figure(&seen, 3, (double) outcome.rolled_up);
				if (status == KANON_OK)
				{
					seen_figure(&seen, 4, report.cost);
					seen_figure(&seen, 5, outcome.best.metric);
					seen_pattern(&seen, outcome.best.pattern);
					seen_value(&seen, outcome.best.suppressed);
					seen_value(&seen, outcome.best.classes);
					seen_release(&seen, problem, &release);
					see_measures(&seen, problem, &release);
				}
				else
					seen_text(&seen, report.detail);
				for (int64_t n = 0; n < outcome.nodes && outcome.all != NULL; n++)
				{
					const KanonNode *node = &outcome.all[n];

					seen_pattern(&seen, node->pattern);
					seen_value(&seen, node->fulfils);
					seen_value(&seen, node->checked);
					if (node->checked)
					{
						seen_value(&seen, node->suppressed);
						seen_value(&seen, node->classes);
						seen_figure(&seen, 5, node->fulfils ? node->metric : 0);
					}
				}
				kanon_free(&host.env, outcome.all);
				kanon_release_free(problem, &release);
				if (i % 5 == 4)
					diverse_free(problem);
				problem_free(problem);
				assert_int_equal(host.blocks, 0);
			}
			seen_compare(&seen);
		}
}

/* ---- classes of any shape, and none ---- */

static void
shapes(void **state)
{
	static KanonClusterShow show[KANON_MAX_COLUMNS];
	static const struct KanonClusterOptions options = {.show = show};

	(void) state;
	for (const KanonSolver *method = kanon_cluster_methods; method->name != NULL; method++)
	{
		Seen seen = {method->name};
		bool matched = strcmp(method->name, "pairs") == 0 || strcmp(method->name, "triples") == 0;
		bool known = true;

		for (int i = 0; i < 2 * SEEN_TABLES; i++)
		{
			uint64_t random = 170 + (uint64_t) i;
			int64_t k = strcmp(method->name, "pairs") == 0 ? 2 : matched ? 3 : 1 + i % 4;
			size_t rows = (size_t) (i % 7 == 0 ? 3 + i % 11 : 15 + i);
			Host host;
			KanonProblem *problem = i % 3 == 0
										? exact_problem(&host, &random, rows, 3, 4, k, true)
										: random_table(&host, &random, rows, 3, 2 + (uint32_t) i % 8, k);

			for (int c = 0; c < problem->ncolumns; c++)
			{
				((KanonColumn *) problem->columns)[c].weight = (c + i) % 4;
				show[c] = i % 3 == 0                   ? KANON_CLUSTER_HIERARCHY
						  : i % 3 == 1                 ? KANON_CLUSTER_SET
						  : problem->columns[c].number ? KANON_CLUSTER_RANGE
													   : KANON_CLUSTER_SUPPRESS;
			}
			problem->cluster = &options;
			problem->seed = (uint64_t) i;
			problem->residual = (KanonResidual) (i % 3);
			known = solve_one(&seen, problem, method->solve, !matched) && known;
			if (i % 14 == 0)
				refuse_each(problem, method->solve, matched);
			problem_free(problem);
			assert_int_equal(host.blocks, 0);
		}
		if (known)
			seen_compare(&seen);
	}
}

/* More row types and values than what is done by blocks, or by bits, takes at a time. */
static void
many_values(void **state)
{
	static KanonClusterShow show[KANON_MAX_COLUMNS];
	static const struct KanonClusterOptions options = {.show = show};

	(void) state;
	for (const KanonSolver *method = kanon_cluster_methods; method->name != NULL; method++)
	{
		char what[40];
		Seen seen = {what};
		bool ours = method->only_k == 0, known = true;

		snprintf(what, sizeof(what), "%s, many values", method->name);
		for (int i = 0; i < 3; i++)
		{
			static const uint32_t domain[] = {100, 300, 40};
			uint32_t code[3 * 600];
			double number[300];
			uint64_t random = 570 + (uint64_t) i;
			Host host;
			KanonProblem *problem;

			for (size_t j = 0; j < 3 * 600; j++)
				code[j] = random_below(&random, domain[j % 3]);
			for (int v = 0; v < 300; v++)
				number[v] = v * v / 7.0;
			host_init(&host);
			problem =
				problem_from_codes(&host, code, 600 - 100 * (size_t) i, 3, ours ? 3 + i : method->only_k);
			for (int c = 0; c < problem->ncolumns; c++)
			{
				((KanonColumn *) problem->columns)[c].weight = 1 + (c + i) % 3;
				if ((c + i) % 3 != 0)
					((KanonColumn *) problem->columns)[c].number = number;
				show[c] = (c + i) % 3 != 0 ? KANON_CLUSTER_RANGE : KANON_CLUSTER_SET;
			}
			problem->cluster = &options;
			problem->residual = KANON_RESIDUAL_SUPPRESS;
			known = solve_one(&seen, problem, method->solve, ours) && known;
			for (int c = 0; c < problem->ncolumns; c++)
				((KanonColumn *) problem->columns)[c].number = NULL;
			problem_free(problem);
			assert_int_equal(host.blocks, 0);
		}
		if (known)
			seen_compare(&seen);
	}
}

static void
cuts(void **state)
{
	(void) state;
	for (int m = 0; kanon_subtree_names[m] != NULL; m++)
		for (int s = 0; kanon_scheme_names[s] != NULL; s++)
		{
			char what[40];
			Seen seen = {what};

			snprintf(what, sizeof(what), "%s, %s", kanon_subtree_names[m], kanon_scheme_names[s]);
			for (int i = 0; i < SEEN_TABLES; i++)
			{
				uint64_t random = 470 + (uint64_t) i;
				KanonSubtreeOptions options = {(KanonSubtreeMethod) m, (KanonScheme) s, -1};
				Host host;
				KanonProblem *problem;

				host_init(&host);
				problem = problem_random_levels(&host, &random, 30 + (size_t) i, 2 + i % 2, 3, 2 + i % 4);
				for (int c = 0; c < problem->ncolumns; c++)
					((KanonColumn *) problem->columns)[c].weight = 1 + (c + i) % 3;
				if (i % 3 == 2)
					diverse_make(problem, &random, DIVERSE_ALL);
				if (problem->nextra > 0 && m == KANON_SUBTREE_TOP_DOWN)
					options.class_column = 0;
				problem->subtree = &options;
				solve_one(&seen, problem, kanon_solve_subtree, true);
				if (i < 2)
					refuse_each(problem, kanon_solve_subtree, false);
				if (i % 3 == 2)
					diverse_free(problem);
				problem_free(problem);
				assert_int_equal(host.blocks, 0);
			}
			seen_compare(&seen);
		}
}

static void
graphs(void **state)
{
	static const char *const methods[] = {"greedy",        "sort_greedy", "hungarian",
										  "min_cost_flow", "ring",        "concealment",
										  "one_k",         "k_one",       "k_k"};

	(void) state;
	for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
	{
		char what[40];
		Seen seen = {what};

		snprintf(what, sizeof(what), "graph %s", methods[m]);
		for (int i = 0; i < SEEN_TABLES; i++)
		{
			KanonFreeformOptions options = {.symmetric = m < 5 && i % 5 == 1,
											.partition_size = i % 5 == 2 ? 11 : 0};
			uint64_t random = 270 + (uint64_t) i;
			Host host;
			KanonProblem *problem = random_table(&host, &random, (size_t) (i % 7 == 0 ? 3 + i % 11 : 15 + i),
												 2 + i % 2, 2 + (uint32_t) i % 9, 1 + i % 4);

			assert_true(kanon_freeform_method(methods[m], &options.method) ||
						kanon_relaxed_method(methods[m], &options.method));
			for (int c = 0; c < problem->ncolumns; c++)
				((KanonColumn *) problem->columns)[c].weight = 1 + (c + i) % 3;
			problem->freeform = &options;
			problem->seed = (uint64_t) i;
			solve_one(&seen, problem, kanon_solve_freeform, true);
			if (i % 7 == 0)
				refuse_each(problem, kanon_solve_freeform, false);
			problem_free(problem);
			assert_int_equal(host.blocks, 0);
		}
		seen_compare(&seen);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),       cmocka_unit_test(searched),    cmocka_unit_test(stable),
		cmocka_unit_test(one_class_each), cmocka_unit_test(nodes),       cmocka_unit_test(shapes),
		cmocka_unit_test(graphs),         cmocka_unit_test(many_values), cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
