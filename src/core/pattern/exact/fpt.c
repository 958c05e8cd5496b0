/*
 * fpt.c: exact by trying all sets of used instances, for tiny tables.
 *
 * Bredereck, Nichterlein, Niedermeier, "Pattern-Guided k-Anonymity", Algorithms
 * 6(4), 2013, Theorem 3: with t row types and p patterns there are at most t p
 * instances; for each set of them the rows are assigned by a minimum cost flow
 * with lower bounds (flow.c).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/exact/exact.h"
#include "privacy/rules.h"
#include "pattern/program/program_model.h"

/* Sets of instances to try, at most. */
#define MAX_SETS ((double) (1 << 20))

typedef struct Sets
{
	const KanonProblem *problem;
	KanonPace *pace;
	KanonInstances instances;
	IlpResult result;
	IlpList used;
	int64_t rows;
	int64_t tried;
	double all; /* sets there are */
} Sets;

/* Sets that extend the one at hand by instances from `from` on, while there is time. */
static KanonStatus
try_sets(Sets *s, uint32_t from)
{
	bool strict = kanon_rest_strict(s->problem);
	KanonStatus status = ilp_offer(s->problem, &s->instances, &s->used, strict ? ILP_REST_NONE : ILP_REST_ANY,
								   &s->result, s->pace);

	s->tried++;
	s->pace->share = fmin((double) s->tried / s->all, 1);
	if (status == KANON_OK && strict)
		status = ilp_offer(s->problem, &s->instances, &s->used, ILP_REST_CLASS, &s->result, s->pace);
	if (status != KANON_OK || (int64_t) (s->used.n + 1) > s->rows / s->problem->k)
		return status;
	for (uint32_t f = from; f < s->instances.n && status == KANON_OK; f++)
	{
		if (kanon_step(s->pace, 2000))
			return KANON_CANCELLED;
		if (s->pace->late)
			return KANON_OK;
		if (!ilp_list_add(s->problem->env, &s->used, f))
			return KANON_NO_MEMORY;
		status = try_sets(s, f + 1);
		s->used.n--;
	}
	return status;
}

/* How many sets of at most `most` of n things there are. */
static double
count_sets(double n, int64_t most)
{
	double sum = 1;
	double choose = 1;

	for (int64_t j = 1; j <= most && choose > 0 && sum <= MAX_SETS; j++)
	{
		choose *= (n - (double) j + 1) / (double) j;
		sum += choose;
	}
	return sum;
}

KanonStatus
kanon_solve_fpt(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	KanonPace pace;
	Sets s = {.problem = problem, .pace = &pace};
	double start = env->now(env->arg);
	KanonStatus status;

	if (kanon_by_types(problem))
		return ruled_solve(problem, kanon_solve_fpt, RULED_STRICT, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	kanon_pace_limit(&pace, problem, "fpt");
	s.result.cost = INFINITY;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		s.rows += problem->rows[i];
	status = kanon_instances_build(problem, KANON_INSTANCES_ALL, INFINITY, 1000000, &pace, &s.instances);
	s.all = count_sets(s.instances.n, s.rows / problem->k);
	if (status == KANON_TOO_LARGE || (status == KANON_OK && s.all > MAX_SETS))
	{
		snprintf(report->detail, sizeof(report->detail), "%u row types have more than %.0f sets of instances",
				 problem->ntypes, MAX_SETS);
		status = KANON_TOO_LARGE;
	}
	if (status == KANON_OK)
		status = try_sets(&s, 0);
	if (status == KANON_OK && s.result.cost == INFINITY && pace.late)
		status = kanon_solve_greedy(problem, release, report);
	else if (status == KANON_OK && s.result.cost == INFINITY)
	{
		snprintf(report->detail, sizeof(report->detail),
				 "no release leaves none or at least k rows fully suppressed");
		status = KANON_INFEASIBLE;
	}
	else if (status == KANON_OK)
		status =
			ilp_conclude(problem, &s.instances, &s.result, pace.late ? 0 : s.result.cost, release, report);
	report->nodes = s.tried;
	report->seconds = env->now(env->arg) - start;
	kanon_release_free(problem, &s.result.release);
	kanon_instances_free(env, &s.instances);
	kanon_free(env, s.used.v);
	return status;
}
