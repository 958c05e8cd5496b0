/*
 * top_down.c: clusters by dividing, by the normalized certainty penalty.
 *
 * J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu, "Utility-based anonymization
 * using local recoding", KDD 2006, top-down greedy search: two rows far apart are
 * the ends, each row goes to the end where it adds the smaller penalty, and so on
 * in both parts.  Where the paper lets a part be too small and mends it at the end,
 * here the rows that belong there the least come with it at once.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"

static KanonStatus
divide(const Penalty *penalty, KanonPace *pace, ClusterParts *parts)
{
	const KanonProblem *problem = penalty->layout->problem;
	KanonEnv *env = problem->env;
	size_t room = 2 * (size_t) problem->ntypes;
	PenaltyMember *members = kanon_alloc(env, room, 2 * sizeof(PenaltyMember));
	KanonStatus status = members == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
		members[i] = (PenaltyMember){i, problem->rows[i], 0};
	if (status == KANON_OK)
		status = penalty_divide_all(penalty, pace, members, problem->ntypes, members + room, parts);
	kanon_free(env, members);
	return status;
}

KanonStatus
kanon_solve_top_down(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	KanonPace pace = kanon_pace_at_once(env, "top_down");
	ClusterLayout layout;
	ClusterParts parts = {0};
	KanonScratch scratch = {.env = env};
	Penalty penalty;
	KanonStatus status;

	if (kanon_by_types(problem))
		return cluster_solve_ruled(problem, kanon_solve_top_down, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	cluster_layout(problem, &layout);
	status =
		layout.rows < problem->k ? cluster_too_few(report) : penalty_open(&layout, &scratch, &pace, &penalty);
	if (status == KANON_OK)
		status = divide(&penalty, &pace, &parts);
	kanon_scratch_free(&scratch);
	if (status == KANON_OK)
		status = cluster_conclude(&layout, &parts, release, report);
	report->lower_bound = -INFINITY;
	report->seconds = env->now(env->arg) - start;
	kanon_parts_free(env, &parts);
	return status;
}
