/*
 * exact.c: what the tests of methods share.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"
#include "pattern/program/program_model.h"

int
exact_cases(int number)
{
	return cases(number);
}

double
exact_cost(const KanonProblem *problem, const KanonRelease *release, const KanonReport *report)
{
	return report->cost +
		   (double) release->dropped * kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));
}

bool
exact_strict(const KanonProblem *problem)
{
	return problem->residual == KANON_RESIDUAL_ERROR || problem->residual == KANON_RESIDUAL_FILL;
}

bool
exact_provable(const KanonProblem *problem, double cost)
{
	KanonInstances grid;

	kanon_instances_grid(problem, &grid);
	return !grid.wide && grid.rounding <= kanon_instances_slack(&grid, cost / grid.unit);
}

KanonProblem *
exact_problem(Host *host, uint64_t *random, size_t rows, int columns, uint32_t domain, int64_t k, bool levels)
{
	uint32_t *code = malloc(rows * (size_t) columns * sizeof(*code));
	int level[KANON_MAX_COLUMNS] = {0};
	KanonProblem *problem;

	host_init(host);
	for (size_t j = 0; j < rows * (size_t) columns; j++)
		code[j] = random_below(random, domain);
	if (levels && random_below(random, 3) == 0)
		codes_nest(random, code, rows, columns, level);
	problem = problem_from_codes(host, code, rows, columns, k);
	problem_set_levels(problem, level);
	free(code);
	return problem;
}

/* What a report says before its method has: that writes all of it anew, however it ends. */
static void
fill_report(KanonReport *report)
{
	memset(report, 0xa5, sizeof(*report));
}

/* A reason or none, but a text, and no memory beyond its end. */
static void
assert_text(const KanonReport *report)
{
	size_t at = 0;

	while (at < sizeof(report->detail) && isprint((unsigned char) report->detail[at]))
		at++;
	assert_true(at < sizeof(report->detail) && report->detail[at] == '\0');
}

/* The number of the next one to fail: each of the first, then fewer and fewer. */
static uint64_t
next_number(uint64_t at)
{
	return at + 1 + (at < (uint64_t) exact_cases(300) ? 0 : at / (uint64_t) exact_cases(40));
}

void
exact_refuse_each(ExactMake make, int variant, KanonSolve solve, bool may_do_without)
{
	bool reached = true;

	for (uint64_t at = 1; reached; at = next_number(at))
	{
		Host host;
		KanonProblem *problem = make(&host, variant);
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		fill_report(&report);
		host.refuse_at = host.allocations + at;
		status = solve(problem, &release, &report);
		reached = host.allocations >= host.refuse_at;
		if (!reached || (may_do_without && status != KANON_NO_MEMORY))
			assert_int_equal(status, KANON_OK);
		else
			assert_int_equal(status, KANON_NO_MEMORY);
		assert_text(&report);
		if (status == KANON_OK)
			kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

void
exact_cancel_each(ExactMake make, int variant, KanonSolve solve)
{
	bool reached = true;

	for (uint64_t at = 1; reached; at = next_number(at))
	{
		Host host;
		KanonProblem *problem = make(&host, variant);
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		fill_report(&report);
		host.cancel_at = at;
		status = solve(problem, &release, &report);
		reached = host.polls >= at;
		assert_int_equal(status, reached ? KANON_CANCELLED : KANON_OK);
		assert_true(host.polls <= at + 20);
		/* and does nothing more that takes memory */
		assert_true(!reached || host.allocations == host.since);
		assert_text(&report);
		if (status == KANON_OK)
			kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}
