/*
 * near.c: a clustering that stays near the one before.
 *
 * Who compares two releases has for each person those who were in a class with them in both
 * (Fung, Wang, Fu, Pei, "Anonymity for continuous data publishing", EDBT 2008).  So classes
 * are kept as they were, with whoever of them is still there, and each row type that is new
 * begins as a cluster of its own; those that may be no class are merged, each with what loses
 * the least by it (release/repair.c).
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"

/*
 * Each flow has as many rows as it had; rows more than there were go along to the first of the
 * type's classes, which is the cheapest.
 */
static KanonStatus
start(const KanonProblem *problem, const KanonPrevious *previous, KanonPace *pace, ClusterParts *parts)
{
	size_t f = 0;

	parts->nclusters = previous->nclasses;
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		size_t first = f;
		int64_t left = problem->rows[type];
		int64_t more = left;
		uint32_t cluster;

		if (kanon_stop(pace, 4))
			return KANON_CANCELLED;
		for (size_t g = f; g < previous->nflows && previous->flows[g].type == type; g++)
			more -= previous->flows[g].rows < more ? previous->flows[g].rows : more;
		for (; f < previous->nflows && previous->flows[f].type == type && left > 0; f++)
		{
			int64_t rows = previous->flows[f].rows < left ? previous->flows[f].rows : left;

			rows += f == first ? more : 0;
			left -= rows;
			if (!kanon_parts_add(problem->env, parts, type, previous->flows[f].class_, rows))
				return KANON_NO_MEMORY;
		}
		while (f < previous->nflows && previous->flows[f].type == type)
			f++;
		if (left == 0)
			continue;
		cluster = parts->nclusters++;
		if (cluster >= KANON_MAX_TYPES || !kanon_parts_add(problem->env, parts, type, cluster, left))
			return KANON_NO_MEMORY;
	}
	return KANON_OK;
}

KanonStatus
kanon_cluster_near(const KanonProblem *problem, const KanonPrevious *previous, KanonSolve solve,
				   KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double begun = env->now(env->arg);
	KanonPace pace = kanon_pace(env, "staying near the release before");
	ClusterParts parts = {0};
	KanonStatus status;

	/* who of a population belongs to a class depends on all other classes */
	if (previous->nflows == 0 || problem->npopulations > 0)
		return solve(problem, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	status = start(problem, previous, &pace, &parts);
	if (status == KANON_OK)
		status = cluster_mend(problem, &parts, begun + problem->time_limit, release, report);
	kanon_parts_free(env, &parts);
	if (status == KANON_OK && solve == kanon_solve_gather)
		status = gather_radius(problem, release, &report->cost);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	if (status != KANON_OK && status != KANON_CANCELLED && status != KANON_NO_MEMORY)
		return solve(problem, release, report);
	/* nothing is known of other releases */
	report->lower_bound = -INFINITY;
	report->guarantee = 0;
	report->proven = false;
	report->seconds = env->now(env->arg) - begun;
	return status;
}
