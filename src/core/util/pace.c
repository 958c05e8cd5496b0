/*
 * pace.c: polls of the host.
 */
#include <math.h>

#include "util/pace.h"

void
kanon_pace_limit(KanonPace *pace, const KanonProblem *problem, const char *phase)
{
	KanonEnv *env = problem->env;

	*pace = kanon_pace(env, phase);
	if (problem->time_limit < INFINITY)
		pace->deadline = env->now(env->arg) + problem->time_limit;
}

void
kanon_pace_share(KanonPace *pace, double deadline, double share)
{
	double now;

	if (deadline <= 0)
		return;
	now = pace->env->now(pace->env->arg);
	pace->deadline = now + share * (deadline - now);
	pace->late = now >= deadline;
}

void
kanon_pace_phase(KanonPace *pace, const char *phase)
{
	pace->phase = phase;
	pace->share = pace->from = pace->span = 0;
	pace->open = false;
}

void
kanon_pace_open(KanonPace *pace, const char *phase)
{
	kanon_pace_phase(pace, phase);
	pace->span = 1;
	pace->open = true;
	pace->told = 0;
	pace->began = pace->deadline > 0 ? pace->env->now(pace->env->arg) : 0;
}

/* The share done of the phase: never less than before. */
static double
share_of(KanonPace *pace)
{
	KanonEnv *env = pace->env;

	if (!pace->open)
		return pace->share;
	pace->told = fmax(pace->told, pace->share);
	if (pace->deadline > pace->began)
		pace->told = fmax(pace->told, (env->now(env->arg) - pace->began) / (pace->deadline - pace->began));
	return pace->told = fmin(pace->told, 1);
}

bool
kanon_poll(KanonPace *pace)
{
	KanonEnv *env = pace->env;

	pace->total += pace->work;
	pace->work = 0;
	if (!pace->cancelled)
		pace->cancelled = env->poll(env->arg, &(KanonProgress){.phase = pace->phase,
															   .share = share_of(pace),
															   .rows_left = pace->rows_left,
															   .bounded = pace->bounded,
															   .cost = pace->cost,
															   .lower_bound = pace->bound});
	if (!pace->late && pace->deadline > 0 && env->now(env->arg) >= pace->deadline)
		pace->late = true;
	if (pace->most > 0 && pace->total > pace->most)
		pace->late = true;
	return pace->cancelled;
}
