/*
 * cluster_near.c: a clustering that stays near the one before.
 *
 * A reader who compares two releases knows for each person those who were in a class with them in
 * both (Fung, Wang, Fu, Pei, "Anonymity for continuous data publishing", EDBT 2008).  So classes
 * are kept as they were, with the rows that are still there, and each row type that is new begins
 * as a cluster of its own; those that may be no class are merged, each with what loses the least by
 * it (release/repair.c).
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"

static bool
add(const KanonProblem *problem, ClusterParts *parts, uint32_t type, uint32_t cluster, int64_t rows)
{
	return cluster < KANON_MAX_TYPES && kanon_parts_add(problem->env, parts, type, cluster, rows);
}

/*
 * Each flow has as many rows as it had; rows more than there were begin as a cluster of their own or, where
 * they could not be told from the others, go along to the first of the type's classes, which is the cheapest.
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

		if (kanon_stop(pace, 4))
			return KANON_CANCELLED;
		for (; f < previous->nflows && previous->flows[f].type == type; f++)
		{
			int64_t rows = previous->flows[f].rows < left ? previous->flows[f].rows : left;

			left -= rows;
			if (rows > 0 && !add(problem, parts, type, previous->flows[f].class_, rows))
				return KANON_NO_MEMORY;
		}
		if (left > 0 && !add(problem, parts, type,
							 f > first && !kanon_known_by_row(previous, type) ? previous->flows[first].class_
																			  : parts->nclusters++,
							 left))
			return KANON_NO_MEMORY;
	}
	parts->nbecame = previous->became != NULL ? previous->nclasses : 0;
	for (uint32_t c = 0; c < parts->nbecame; c++)
		previous->became[c] = c;
	parts->became = previous->became;
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

	if (previous->nflows == 0)
		return solve(problem, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	/* who of a population belongs to a class depends on all other classes */
	status = problem->npopulations == 0 ? start(problem, previous, &pace, &parts) : KANON_NOT_FOUND;
	if (status == KANON_OK)
		status = cluster_mend(problem, &parts, begun + problem->time_limit, release, report);
	kanon_parts_free(env, &parts);
	if (status == KANON_OK)
		status = cluster_own_cost(problem, solve, release, &report->cost);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	/* nothing is known of other releases */
	report->lower_bound = -INFINITY;
	report->guarantee = 0;
	report->proven = false;
	report->seconds = env->now(env->arg) - begun;
	return status;
}
