/*
 * pace.c: polls of the host.
 */
#include <math.h>

#include "util/pace.h"

void
kanon_pace_limit(KanonPace *pace, const KanonProblem *problem, const char *phase)
{
	KanonEnv *env = problem->env;

	*pace = (KanonPace){.env = env, .phase = phase, .rows_left = -1};
	if (problem->time_limit < INFINITY)
		pace->deadline = env->now(env->arg) + problem->time_limit;
}

bool
kanon_poll(KanonPace *pace)
{
	KanonEnv *env = pace->env;

	pace->total += pace->work;
	pace->work = 0;
	if (!pace->cancelled)
		pace->cancelled = env->poll(env->arg, &(KanonProgress){.phase = pace->phase,
															   .share = pace->share,
															   .rows_left = pace->rows_left,
															   .bounded = pace->bounded,
															   .cost = pace->cost,
															   .lower_bound = pace->bound});
	if (!pace->late && pace->deadline > 0 && env->now(env->arg) >= pace->deadline)
		pace->late = true;
	return pace->cancelled;
}
