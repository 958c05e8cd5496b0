/*
 * test_measured.c: how good the heuristics were when this was measured, on tables that are the
 * same everywhere.  What they promise is tested elsewhere; here a search that loses its way is
 * noticed, though its releases still keep every promise.  A change that is meant to find other
 * releases changes the figures: KANON_MEASURE=yes prints them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "freeform/freeform_work.h"
#include "exact.h"
#include "unclassed.h"

#define TABLES 24

/* Of the releases of all tables of a kind; no table depends on how many are asked for. */
typedef struct Measured
{
	const char *method;
	const char *kind;
	double cost;
	double bound;
	double classes;
} Measured;

static KanonClusterShow show[KANON_MAX_COLUMNS];
static struct KanonClusterOptions options = {.show = show};

static KanonProblem *
make(const char *kind, Host *host, uint64_t *random, int table, int64_t k)
{
	size_t rows = 20 + 2 * (size_t) table;

	if (strcmp(kind, "suppress") == 0 || strcmp(kind, "hierarchies") == 0)
		return exact_problem(host, random, rows, 3 + table % 3, 2 + (uint32_t) table % 4, k,
							 strcmp(kind, "hierarchies") == 0);
	return random_table(host, random, rows, 2 + table % 3, 3 + (uint32_t) table % 9, k);
}

static void
measure(const Measured *expected, KanonSolve solve, const KanonFreeformOptions *freeform)
{
	const char *kind = expected->kind;
	Measured found = {0};

	for (int table = 0; table < TABLES; table++)
	{
		uint64_t random = 77 + (uint64_t) table;
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;
		KanonStatus status;
		int64_t k = strcmp(expected->method, "pairs") == 0     ? 2
					: strcmp(expected->method, "triples") == 0 ? 3
															   : 2 + table % 3;

		problem = make(kind, &host, &random, table, k);
		for (int c = 0; c < problem->ncolumns; c++)
			show[c] = strcmp(kind, "hierarchies") == 0 ? KANON_CLUSTER_HIERARCHY
					  : strcmp(kind, "sets") == 0      ? KANON_CLUSTER_SET
					  : problem->columns[c].number     ? KANON_CLUSTER_RANGE
													   : KANON_CLUSTER_SUPPRESS;
		/* some columns count for more */
		((KanonColumn *) problem->columns)[0].weight = 1 + table % 3;
		problem->cluster = &options;
		problem->freeform = freeform;
		problem->seed = (uint64_t) table;
		if (strcmp(kind, "stopped") == 0)
			problem->time_limit = 1e-9;
		status = solve(problem, &release, &report);
		if (status == KANON_UNAVAILABLE)
		{
			problem_free(problem);
			return;
		}
		assert_int_equal(status, KANON_OK);
		found.cost += report.cost;
		found.bound += isfinite(report.lower_bound) ? report.lower_bound : 0;
		found.classes += release.nclasses;
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	if (getenv("KANON_MEASURE") != NULL)
		printf("\t{\"%s\", \"%s\", %.15g, %.15g, %g},\n", expected->method, kind, found.cost, found.bound,
			   found.classes);
	else if (fabs(found.cost - expected->cost) > 1e-9 * expected->cost ||
			 fabs(found.bound - expected->bound) > 1e-9 * expected->bound ||
			 found.classes != expected->classes)
		fail_msg("%s, %s: cost %.15g, bound %.15g, %g classes", expected->method, kind, found.cost,
				 found.bound, found.classes);
}

static const Measured clusterings[] = {
	{"mondrian", "suppress", 2611, 0, 227},
	{"mondrian", "hierarchies", 2139, 0, 181},
	{"mondrian", "ranges", 1773.39863362938, 0, 244},
	{"mondrian", "sets", 3104, 0, 254},
	{"mondrian_relaxed", "suppress", 3150, 0, 220},
	{"mondrian_relaxed", "hierarchies", 2448, 0, 193},
	{"mondrian_relaxed", "ranges", 1968.77431642101, 0, 259},
	{"mondrian_relaxed", "sets", 3383, 0, 281},
	{"forest", "suppress", 1974, 1246.99999960791, 266},
	{"forest", "hierarchies", 1590, 1020.99999949615, 215},
	{"forest", "ranges", 1623.631492032, 923.538906484842, 279},
	{"forest", "sets", 2063, 1505.00000156835, 284},
	{"pairs", "suppress", 983, 846.999999749474, 445},
	{"pairs", "hierarchies", 721, 626.499999684747, 377},
	{"pairs", "ranges", 694.236139298312, 592.2022105176, 454},
	{"pairs", "sets", 1182, 1049.00000114739, 456},
	{"triples", "suppress", 1684, 1229.99999963306, 289},
	{"triples", "hierarchies", 1280, 935.999999571592, 253},
	{"triples", "ranges", 1235.4469356261, 871.05178719759, 296},
	{"triples", "sets", 1790, 1442.00000141189, 284},
	{"bottom_up", "suppress", 1847, 0, 283},
	{"bottom_up", "hierarchies", 1480, 0, 243},
	{"bottom_up", "ranges", 1512.11711797682, 0, 279},
	{"bottom_up", "sets", 2213, 0, 303},
	{"bottom_up", "stopped", 1738.38530029604, 0, 259},
	{"top_down", "suppress", 2355, 0, 253},
	{"top_down", "hierarchies", 1849, 0, 210},
	{"top_down", "ranges", 1726.70941468254, 0, 287},
	{"top_down", "sets", 2097, 0, 292},
	{"gather", "suppress", 50.9999999823049, 26.0000000102445, 141},
	{"gather", "hierarchies", 39.9999999776483, 20.0000000055879, 125},
	{"gather", "ranges", 38.1705360468477, 19.3758853245527, 198},
	{"gather", "sets", 57.0000000353903, 28.500000031665, 154},
};

static const Measured freeform[] = {
	{"greedy", "whole", 867.796369992442, 0, 764},
	{"sort_greedy", "whole", 631.532361740993, 0, 620},
	{"hungarian", "whole", 599.000113536155, 0, 532},
	{"min_cost_flow", "whole", 650.297840136054, 0, 677},
	{"ring", "whole", 967.668932823129, 0, 648},
	{"concealment", "whole", 735.538666855631, 0, 588},
	{"one_k", "whole", 436.403371441169, 0, 720},
	{"k_one", "whole", 517.956762723608, 0, 467},
	{"k_k", "whole", 670.167788328294, 0, 580},
	{"greedy", "symmetric", 778.587043650794, 0, 679},
	{"hungarian", "symmetric", 793.145832703452, 0, 690},
	{"ring", "symmetric", 1026.64282029478, 0, 559},
	{"greedy", "parts", 893.748080908289, 0, 772},
	{"ring", "parts", 1011.51493653943, 0, 703},
};

static void
clusterings_are_as_good(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(clusterings) / sizeof(clusterings[0]); i++)
		measure(&clusterings[i], kanon_method_find(KANON_CLUSTER, clusterings[i].method)->solve, NULL);
}

static const KanonMethod *
graph_method(const char *name)
{
	const KanonMethod *method = kanon_method_find(KANON_FREEFORM, name);

	return method != NULL ? method : kanon_method_find(KANON_RELAXED, name);
}

static void
graphs_are_as_good(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(freeform) / sizeof(freeform[0]); i++)
	{
		KanonFreeformOptions what = {.symmetric = strcmp(freeform[i].kind, "symmetric") == 0,
									 .partition_size = strcmp(freeform[i].kind, "parts") == 0 ? 12 : 0};

		what.method = graph_method(freeform[i].method)->number;
		measure(&freeform[i], kanon_solve_freeform, &what);
	}
}

/* What the record tells of the work: sets of instances that were tried. */
static void
work_is_told(void **state)
{
	uint64_t random = 5;
	Host host;
	KanonProblem *problem = exact_problem(&host, &random, 9, 2, 3, 3, false);
	KanonRelease release;
	KanonReport report;

	(void) state;
	problem->residual = KANON_RESIDUAL_SUPPRESS;
	assert_int_equal(kanon_solve_fpt(problem, &release, &report), KANON_OK);
	assert_int_equal(report.nodes, 15);
	kanon_release_free(problem, &release);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clusterings_are_as_good),
		cmocka_unit_test(graphs_are_as_good),
		cmocka_unit_test(work_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
