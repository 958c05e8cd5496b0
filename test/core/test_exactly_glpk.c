/*
 * test_exactly_glpk.c: what the solvers find that need GLPK, and in how many nodes, on tables that
 * are the same everywhere (exactly.h).
 *
 * Which of several solutions of least cost GLPK comes to is a matter of its version and of the
 * processor's arithmetic, so this is asked where the figures were taken alone.  Elsewhere others
 * tell what has to be so: costs, bounds, proofs (test_exactly.c, test_claims.c).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#ifdef HAVE_GLPK
#include <glpk.h>
#endif

#include "diverse.h"
#include "exact.h"
#include "exactly.h"
#include "freeform/graph.h"
#include "unclassed.h"
#include "util/pace.h"

/* Are these GLPK, the processor and the limits those that the figures are from? */
static bool
is_known(void)
{
#if defined(HAVE_GLPK) && defined(__x86_64__) && !defined(__FMA__)
	return KANON_POLL_WORK == 1 << 18 && strcmp(glp_version(), "5.0") == 0;
#else
	return false;
#endif
}

static void
solve_one(Seen *seen, const KanonProblem *problem, KanonSolve solve)
{
	KanonRelease release;
	KanonReport report = seen_garbage;
	KanonStatus status = solve(problem, &release, &report);

	seen_value(seen, status);
	if (status == KANON_OK)
	{
		seen_figure(seen, 0, report.cost);
		seen_figure(seen, 1, report.lower_bound);
		seen_figure(seen, 2, (double) report.nodes);
		seen_figure(seen, 3, report.proven);
		seen_figure(seen, 4, release.nclasses);
		seen_release(seen, problem, &release);
	}
	seen_text(seen, report.detail);
	kanon_release_free(problem, &release);
}

/* Row types of one to three rows; weights that are whole, and some that are not. */
static KanonProblem *
make(Host *host, uint64_t *random, int i, size_t rows, int columns, int64_t k, bool rules)
{
	KanonProblem *problem = exact_problem(host, random, rows, columns, 3, k, !rules);

	if (rules)
		diverse_make(problem, random, DIVERSE_ALL);
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight =
			i % 3 == 2 ? 1 + 0.37 * ((c + i) % 3) : 1 + (c + i) % 3;
	for (uint32_t t = 0; t < problem->ntypes; t++)
		((int64_t *) problem->rows)[t] = 1 + (t + (uint32_t) i) % 3;
	problem->residual = (KanonResidual) (i % 3);
	problem->seed = (uint64_t) i;
	problem->effort = 0.01;
	problem->gap = i % 4 == 3 ? 0.1 : 0;
	return problem;
}

/* Weights of so different magnitude that GLPK's tolerances hide the small ones: it proves nothing then. */
static void
spread_out(KanonProblem *problem, int i)
{
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight = pow(10, -3.5 * ((c + i) % 3));
}

static void
drop(KanonProblem *problem, bool rules)
{
	Host *host = problem->env->arg;

	if (rules)
		diverse_free(problem);
	assert_int_equal(host->blocks, 0);
	problem_free(problem);
}

static void
patterns(void **state)
{
	(void) state;
	for (const KanonSolver *solver = kanon_solvers; solver->name != NULL; solver++)
		for (int rules = 0; rules < 2 && is_known(); rules++)
		{
			char what[40];
			Seen seen = {what};

			/* (on tables of this size `best` is `ilp`) */
			if (solver->solve == kanon_solve_greedy || solver->solve == kanon_solve_fpt ||
				solver->solve == kanon_solve_best)
				continue;
			snprintf(what, sizeof(what), "%s by GLPK%s", solver->name, rules ? ", ruled" : "");
			for (int i = 0; i < (rules ? 6 : SEEN_TABLES); i++)
			{
				uint64_t random = 2000 + (uint64_t) i;
				Host host;
				KanonProblem *problem =
					make(&host, &random, i, 14 + (size_t) i % (rules ? 4 : 16) * 2, rules ? 5 : 3 + i % 3,
						 solver->only_k ? solver->only_k : 2 + i % 3, rules);

				solve_one(&seen, problem, solver->solve);
				drop(problem, rules);
			}
			seen_compare(&seen);
		}
}

/* Tables on which branching, alone, has something to say that it must not claim. */
static void
magnitudes(void **state)
{
	const int tables[] = {4, 19, 29, 34, 94, 99, 109, 114, 149};
	Seen seen[] = {{"ilp by GLPK, magnitudes"}, {"matching by GLPK, magnitudes"}};

	(void) state;
	for (size_t t = 0; t < 2 * sizeof(tables) / sizeof(tables[0]) && is_known(); t++)
		for (int rules = 0; rules < 2; rules++)
		{
			int i = tables[t / 2];
			uint64_t random = 2000 + (uint64_t) i;
			Host host;
			KanonProblem *problem = make(&host, &random, i, 14 + (size_t) i % (rules ? 4 : 16) * 2,
										 rules ? 5 : 3 + i % 3, t % 2 ? 2 : 2 + i % 3, rules);

			spread_out(problem, i);
			solve_one(&seen[t % 2], problem, t % 2 ? kanon_solve_matching : kanon_solve_ilp);
			drop(problem, rules);
		}
	for (int s = 0; s < 2 && is_known(); s++)
		seen_compare(&seen[s]);
}

static void
one_class_each(void **state)
{
	(void) state;
	for (int rules = 0; rules < 2 && is_known(); rules++)
	{
		Seen seen = {rules ? "one class each by GLPK, ruled" : "one class each by GLPK"};

		for (int i = 0; i < SEEN_TABLES; i++)
		{
			uint64_t random = 2100 + (uint64_t) i;
			KanonPattern list[4] = {KANON_NONE};
			Host host;
			KanonProblem *problem =
				make(&host, &random, i, 12 + (size_t) i % 10, rules ? 5 : 4, 1 + i % 3, rules);

			for (int p = 0; p < 4; p++)
				list[p] = random_columns(&random, problem->ncolumns);
			list[i % 4] = kanon_pattern_all(problem->ncolumns);
			problem->mask.list = list;
			problem->mask.nlist = 4;
			solve_one(&seen, problem, kanon_solve_pattern_clustering);
			problem->mask.list = NULL;
			problem->mask.nlist = 0;
			drop(problem, rules);
		}
		seen_compare(&seen);
	}
}

static void
graphs(void **state)
{
	KanonFreeformOptions options = {.method = KANON_FREEFORM_MIP};
	Seen seen = {"graph by GLPK"};

	(void) state;
	for (int i = 0; i < 12 && is_known(); i++)
	{
		uint64_t random = 2200 + (uint64_t) i;
		Host host;
		KanonProblem *problem = random_table(&host, &random, 6 + (size_t) i % 5, 3, 4, 2 + i % 2);

		options.symmetric = i % 4 == 3;
		problem->freeform = &options;
		problem->seed = (uint64_t) i;
		solve_one(&seen, problem, kanon_solve_freeform);
		drop(problem, false);
	}
	if (is_known())
		seen_compare(&seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),
		cmocka_unit_test(magnitudes),
		cmocka_unit_test(one_class_each),
		cmocka_unit_test(graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
