/*
 * test_improve.c: the anytime solver between optimum and greedy, the same for
 * the same seed; pattern clustering against brute force.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

static double
priced(const KanonProblem *problem, const KanonRelease *release, const KanonReport *report)
{
	return report->cost + (double) release->dropped *
		kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));
}

/* levels: some columns are levels, at times. */
static KanonProblem *
random_problem(Host *host, uint64_t *random, size_t rows, int columns, uint32_t domain, int64_t k,
			   bool levels)
{
	uint32_t   *code = malloc(rows * (size_t) columns * sizeof(*code));
	int			level[KANON_MAX_COLUMNS] = {0};
	KanonProblem *problem;

	host_init(host);
	for (size_t j = 0; j < rows * (size_t) columns; j++)
		code[j] = random_below(random, domain);
	if (levels && random_below(random, 3) == 0)
		codes_nest(random, code, rows, columns, level);
	problem = problem_from_codes(host, code, rows, columns, k);
	problem_set_levels(problem, level);
	problem->seed = 1;
	problem->effort = 0.0003;
	free(code);
	return problem;
}

/* greedy >= improve >= ilp >= the bound of improve, for each residual rule */
static void
between(void **state)
{
	uint64_t	random = 99;

	(void) state;
	for (int round = 0; round < 150; round++)
	{
		Host		host;
		KanonProblem *problem = random_problem(&host, &random, 5 + random_below(&random, 30),
											   2 + (int) random_below(&random, 3), 3,
											   2 + random_below(&random, 3), true);
		KanonRelease greedy;
		KanonRelease improve;
		KanonRelease ilp;
		KanonReport greedy_report = {0};
		KanonReport improve_report;
		KanonReport ilp_report;
		KanonStatus status;
		double		bound;

		problem->residual = (KanonResidual) (round % 3);
		if (round % 2)
			((KanonColumn *) problem->columns)[0].weight = 0.37;
		status = kanon_solve_ilp(problem, &ilp, &ilp_report);
		if (status == KANON_INFEASIBLE)
		{
			assert_int_equal(kanon_solve_improve(problem, &improve, &improve_report), KANON_RESIDUAL);
			assert_int_equal(host.blocks, 0);
			problem_free(problem);
			continue;
		}
		assert_int_equal(status, KANON_OK);
		assert_true(ilp_report.proven);
		status = kanon_solve_improve(problem, &improve, &improve_report);
		if (status == KANON_OK)
		{
			bound = improve_report.lower_bound + priced(problem, &improve, &improve_report) -
				improve_report.cost;
			assert_true(priced(problem, &improve, &improve_report) >=
						priced(problem, &ilp, &ilp_report) - 1e-6);
			assert_true(bound <= priced(problem, &ilp, &ilp_report) + 1e-6);
			status = kanon_solve_greedy(problem, &greedy, &greedy_report);
			if (status == KANON_OK)
			{
				assert_true(priced(problem, &improve, &improve_report) <=
							priced(problem, &greedy, &greedy_report) + 1e-6);
				kanon_release_free(problem, &greedy);
			}
			else
				assert_int_equal(status, KANON_RESIDUAL);
			kanon_release_free(problem, &improve);
		}
		else
			assert_int_equal(status, KANON_RESIDUAL);
		if (round % 10 == 0 && problem->residual == KANON_RESIDUAL_SUPPRESS)
		{
			assert_int_equal(kanon_solve_best(problem, &improve, &improve_report), KANON_OK);
			assert_true(improve_report.proven);
			assert_true(fabs(improve_report.cost - ilp_report.cost) < 1e-6);
			kanon_release_free(problem, &improve);
		}
		kanon_release_free(problem, &ilp);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* The same release for the same seed. */
static void
repeats(void **state)
{
	uint64_t	random = 5;
	Host		host;
	KanonProblem *problem = random_problem(&host, &random, 400, 5, 5, 4, false);
	KanonRelease one;
	KanonRelease two;
	KanonReport report;
	double		cost;

	(void) state;
	problem->effort = 0.02;
	assert_int_equal(kanon_solve_improve(problem, &one, &report), KANON_OK);
	cost = report.cost;
	assert_int_equal(kanon_solve_improve(problem, &two, &report), KANON_OK);
	assert_true(report.cost == cost);
	assert_true(report.lower_bound <= cost);
	assert_int_equal(one.nclasses, two.nclasses);
	assert_int_equal(one.nflows, two.nflows);
	assert_memory_equal(one.flows, two.flows, one.nflows * sizeof(*one.flows));
	kanon_release_free(problem, &one);
	kanon_release_free(problem, &two);
	problem_free(problem);
}

static void
memory_and_cancel(void **state)
{
	KanonSolve	solves[] = {kanon_solve_improve, kanon_solve_pattern_clustering, kanon_solve_best,
	kanon_solve_fpt};
	static const KanonPattern list[] = {0, 3, 5, 6, 7, 7};

	(void) state;
	for (size_t s = 0; s < sizeof(solves) / sizeof(solves[0]); s++)
		for (int what = 0; what < 2; what++)
		{
			KanonStatus expected = what == 0 ? KANON_NO_MEMORY : KANON_CANCELLED;
			KanonStatus status = expected;

			for (uint64_t at = 1; status == expected; at += at < 200 ? 1 : at / 20)
			{
				uint64_t	random = 11;
				Host		host;
				KanonProblem *problem = random_problem(&host, &random, s == 3 ? 5 : 40,
													   s == 0 ? 4 : 3, s == 3 ? 2 : 3, 2, false);
				KanonRelease release;
				KanonReport report;

				problem->effort = 0.003;
				if (s == 1)
				{
					problem->mask.list = list;
					problem->mask.nlist = 6;
				}
				if (what == 0)
					host.refuse_at = at;
				else
					host.cancel_at = at;
				status = solves[s](problem, &release, &report);
				if (status == KANON_OK)
					kanon_release_free(problem, &release);
				else if (status != expected)
					print_error("solver %zu at %llu: status %d %s\n", s, (unsigned long long) at,
								(int) status, report.detail);
				assert_true(status == KANON_OK || status == expected);
				assert_int_equal(host.blocks, 0);
				problem_free(problem);
			}
		}
}

/* Least cost of putting each row under one of the listed places, one class each. */
static double
brute_clustering(const KanonProblem *problem)
{
	const KanonMask *mask = &problem->mask;
	uint32_t	row[8];
	size_t		choice[8] = {0};
	size_t		n = 0;
	double		best = INFINITY;

	for (uint32_t i = 0; i < problem->ntypes; i++)
		for (int64_t r = 0; r < problem->rows[i]; r++)
			row[n++] = i;
	for (;;)
	{
		double		cost = 0;
		bool		fine = true;
		size_t		at;

		for (size_t j = 0; j < mask->nlist && fine; j++)
		{
			int64_t		rows = 0;
			uint32_t	first = 0;

			for (size_t a = 0; a < n; a++)
			{
				if (choice[a] != j)
					continue;
				if (rows++ == 0)
					first = row[a];
				for (int c = 0; c < problem->ncolumns; c++)
					if ((mask->list[j] >> c & 1) == 0 &&
						problem->columns[c].code[row[a]] != problem->columns[c].code[first])
						fine = false;
			}
			fine = fine && (rows == 0 || rows >= problem->k);
			fine = fine && (rows == 0 || kanon_mask_allows(problem, mask->list[j]));
			cost += (double) rows * kanon_pattern_cost(problem, mask->list[j]);
		}
		if (fine && cost < best)
			best = cost;
		for (at = 0; at < n && ++choice[at] == mask->nlist; at++)
			choice[at] = 0;
		if (at == n)
			break;
	}
	return best;
}

static void
clustering(void **state)
{
	uint64_t	random = 17;
	int			feasible = 0;
	int			infeasible = 0;

	(void) state;
	for (int round = 0; round < 1500; round++)
	{
		Host		host;
		KanonPattern list[4];
		KanonProblem *problem = random_problem(&host, &random, 2 + random_below(&random, 5),
											   2 + (int) random_below(&random, 2), 2,
											   1 + random_below(&random, 2), true);
		KanonRelease release;
		KanonReport report;
		KanonStatus status;
		double		optimum;

		problem->mask.order = KANON_ORDER_GIVEN;
		problem->mask.nlist = 1 + random_below(&random, 4);
		problem->mask.list = list;
		for (size_t j = 0; j < problem->mask.nlist; j++)
			list[j] = random_next(&random) & kanon_pattern_all(problem->ncolumns);
		problem->residual = (KanonResidual) (round % 3);
		optimum = brute_clustering(problem);
		status = kanon_solve_pattern_clustering(problem, &release, &report);
		if (optimum == INFINITY)
		{
			assert_int_equal(status, KANON_INFEASIBLE);
			assert_int_equal(kanon_solve_pattern_clustering_greedy(problem, &release, &report),
							 KANON_NOT_FOUND);
			infeasible++;
		}
		else
		{
			if (status != KANON_OK)
				print_error("status %d %s\n", (int) status, report.detail);
			assert_int_equal(status, KANON_OK);
			assert_true(report.proven);
			assert_true(fabs(report.cost - optimum) < 1e-6);
			kanon_release_free(problem, &release);
			status = kanon_solve_pattern_clustering_greedy(problem, &release, &report);
			if (status == KANON_OK)
			{
				assert_true(report.cost >= optimum - 1e-6);
				kanon_release_free(problem, &release);
			}
			else
				assert_int_equal(status, KANON_NOT_FOUND);
			feasible++;
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(feasible > 200 && infeasible > 200);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between),
		cmocka_unit_test(repeats),
		cmocka_unit_test(memory_and_cancel),
		cmocka_unit_test(clustering),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
