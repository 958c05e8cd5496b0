/*
 * greedy_mend.c: the greedy heuristic, and what becomes of rows that rules beyond k leave over.
 */
#include <math.h>

#include "pattern/greedy/greedy.h"
#include "release/release.h"

/*
 * Under rules beyond k rows may be left that are too much alike for any class: those that they would need are taken.
 * Then k alone is asked for, and the classes that break a rule are merged with others.
 */
static KanonStatus
mend(const KanonProblem *problem, double begin, KanonRelease *release, KanonReport *report)
{
	double left = begin + problem->time_limit - problem->env->now(problem->env->arg);
	KanonPlain plain;
	KanonRelease solved = {0};
	uint64_t work = 0;
	KanonStatus status = kanon_plain_open(problem, false, &plain);

	plain.problem.residual = KANON_RESIDUAL_SUPPRESS;
	plain.problem.time_limit = fmax(left / 2, 1e-6);
	/* (an order that is better for k alone may be worse once it is mended: seen, by a tenth) */
	if (status == KANON_OK)
		status = greedy_run(&plain.problem, (GreedyTies){problem->mask.order, 0}, &work, &solved, report);
	if (status == KANON_OK)
		status = kanon_mend(&plain, &solved, false, left < INFINITY ? begin + problem->time_limit : 0,
							release, report);
	report->guarantee = 0;
	kanon_release_free(&plain.problem, &solved);
	kanon_plain_close(&plain);
	return status;
}

KanonStatus
kanon_solve_greedy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	double begin = problem->env->now(problem->env->arg);
	KanonStatus status = greedy_orders(problem, release, report);

	if (status == KANON_REST_FORBIDDEN && problem->privacy != NULL && problem->npopulations == 0)
		status = mend(problem, begin, release, report);
	report->seconds = problem->env->now(problem->env->arg) - begin;
	return status;
}
