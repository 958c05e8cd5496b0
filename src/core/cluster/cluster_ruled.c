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

KanonStatus
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
