/*
 * cluster_ruled.c: clusterings that know k alone, under rules beyond k.
 *
 * Their bound holds under more rules, too; a proven factor does where no cluster had to be
 * mended.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "model/model.h"

/* Share of the time allowed that the method takes, if it looks at the clock; mending has as long as the rest at least. */
#define PLAIN_TIME 0.5

static double
mending_ends(const KanonProblem *problem, double start)
{
	double now = problem->env->now(problem->env->arg);

	return fmax(start + problem->time_limit, now + (1 - PLAIN_TIME) * problem->time_limit);
}

static double
charge(const KanonShape *shape, const KanonHull *hull, uint32_t a, uint32_t b, KanonPattern *pattern)
{
	(void) a;
	(void) b;
	return cluster_hidden(shape->arg, hull, pattern);
}

/* Columns whose hull tells two classes apart that differ in it. */
static KanonPattern
ranged_columns(const ClusterLayout *layout)
{
	KanonPattern ranged = KANON_NONE;

	for (int q = 0; q < layout->nqis; q++)
		if (layout->qi[q].show == KANON_CLUSTER_RANGE || layout->qi[q].show == KANON_CLUSTER_SET)
			kanon_add(&ranged, layout->qi[q].first);
	return ranged;
}

/*
 * Clusters that break a rule are merged; the release of what comes of that.  end: of the time that there is, as of
 * KanonShape.  parts is empty afterwards.
 */
static KanonStatus
cluster_mend(const KanonProblem *problem, ClusterParts *parts, double end, KanonRelease *release,
			 KanonReport *report)
{
	ClusterLayout layout;
	KanonShape shape = {.problem = problem, .arg = &layout, .charge = charge, .end = end};
	KanonStatus status;

	cluster_layout(problem, &layout);
	shape.ranged = ranged_columns(&layout);
	shape.rest = problem->residual == KANON_RESIDUAL_DROP ? layout.weight : INFINITY;
	status = kanon_repair(&shape, parts, report);
	if (status == KANON_OK)
		status = cluster_conclude(&layout, parts, release, report);
	kanon_parts_free(problem->env, parts);
	return status;
}

static KanonStatus
mend(const KanonPlain *plain, const KanonRelease *solved, double end, KanonRelease *release,
	 KanonReport *report)
{
	ClusterParts parts = {0};
	KanonStatus status = kanon_plain_spread(plain, solved, &parts);

	if (status == KANON_OK)
		return cluster_mend(plain->whole, &parts, end, release, report);
	kanon_parts_free(plain->whole->env, &parts);
	return status;
}

KanonStatus
cluster_own_cost(const KanonProblem *problem, KanonSolve solve, const KanonRelease *release, double *cost)
{
	KanonCostKind kind = kanon_method_of(solve)->cost;

	return kind == KANON_COST_RADIUS    ? gather_radius(problem, release, cost)
		   : kind == KANON_COST_SQUARES ? microaggregate_squares(problem, release, cost)
										: KANON_OK;
}

KanonStatus
cluster_solve_ruled(const KanonProblem *problem, KanonSolve solve, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	KanonPlain plain;
	KanonRelease solved = {0};
	double cost;
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	if (problem->npopulations > 0)
		return KANON_UNSUPPORTED;
	status = kanon_plain_open(problem, false, &plain);
	plain.problem.time_limit *= PLAIN_TIME;
	if (status == KANON_OK)
		status = solve(&plain.problem, &solved, report);
	cost = report->cost;
	if (status == KANON_OK)
		status = mend(&plain, &solved, mending_ends(problem, start), release, report);
	kanon_release_free(&plain.problem, &solved);
	kanon_plain_close(&plain);
	if (status == KANON_OK)
		status = cluster_own_cost(problem, solve, release, &report->cost);
	if (status == KANON_OK && report->cost > cost * (1 + 1e-12))
		report->guarantee = 0;
	/* a radius, or squares, say nothing of rows that are left out, and are less without them */
	if (status == KANON_OK && kanon_method_of(solve)->cost != KANON_COST_SUM && release->dropped > 0)
	{
		report->guarantee = 0;
		report->lower_bound = -INFINITY;
	}
	if (status == KANON_OK)
	{
		report->lower_bound = fmin(report->lower_bound, report->cost);
		report->proven = report->lower_bound >= report->cost;
	}
	else
		kanon_release_free(problem, release);
	report->seconds = env->now(env->arg) - start;
	return status;
}

/*
 * ---- A clustering that stays near the one before.
 *
 * A reader who compares two releases knows for each person those who were in a class with them in
 * both (Fung, Wang, Fu, Pei, "Anonymity for continuous data publishing", EDBT 2008).  So classes
 * are kept as they were, with the rows that are still there, and each row type that is new begins
 * as a cluster of its own; those that may be no class are merged, each with what loses the least by
 * it (release/repair.c).
 */

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
