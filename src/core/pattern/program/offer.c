/*
 * offer.c: how the exact and the anytime method start and end: with the
 * greedy release, and with the better of it and their own.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "privacy/rules.h"
#include "pattern/program/program_model.h"
#include "util/scratch.h"

/* Classes of which one is closed when too few rows are left over. */
#define CLOSED 16

/* An array that a release does not need, such as classes where all rows are dropped, need not be there. */
static void *
copy(KanonScratch *scratch, const void *from, size_t n, size_t size)
{
	void *to = kanon_take(scratch, n, size);

	if (to != NULL && n > 0)
		memcpy(to, from, n * size);
	return to;
}

/* Greedy's result: classes and flows. */
static KanonStatus
copy_result(const KanonProblem *problem, const IlpResult *from, IlpResult *result)
{
	const KanonRelease *release = &from->release;
	size_t width = (size_t) problem->ncolumns * sizeof(*release->cells);
	KanonScratch scratch = {.env = problem->env};

	*result = *from;
	if (from->cost == INFINITY)
		return KANON_OK;
	result->release.classes = copy(&scratch, release->classes, release->nclasses, sizeof(*release->classes));
	result->release.cells = copy(&scratch, release->cells, release->nclasses, width);
	result->release.flows = copy(&scratch, release->flows, release->nflows, sizeof(*release->flows));
	if (scratch.failed)
	{
		kanon_scratch_free(&scratch);
		memset(result, 0, sizeof(*result));
		return KANON_NO_MEMORY;
	}
	scratch.n = 0; /* they are the release's */
	kanon_scratch_free(&scratch);
	return KANON_OK;
}

KanonStatus
ilp_greedy(const KanonProblem *problem, const KanonInstances *grid, const IlpStart *start, IlpResult *result,
		   KanonReport *report)
{
	KanonStatus status;

	if (start != NULL)
		return copy_result(problem, &start->greedy, result);
	memset(result, 0, sizeof(*result));
	status = kanon_solve_greedy(problem, &result->release, report);
	report->detail[0] = '\0';
	report->guarantee = 0; /* of greedy's, which is not what is handed on */
	report->nodes = 0;     /* of the greedy search: no branch and bound */
	result->cost = INFINITY;
	if (status == KANON_RESIDUAL || status == KANON_REST_FORBIDDEN)
		return KANON_OK;
	if (status == KANON_OK)
		result->cost = report->cost / grid->unit + (double) result->release.dropped * grid->all_cost;
	return status;
}

/* Fully suppressed rows of a result, those left out included. */
static int64_t
rest_rows(const KanonProblem *problem, const IlpResult *result)
{
	int64_t rows = result->release.dropped;
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	for (uint32_t f = 0; f < result->release.nclasses; f++)
		if (kanon_same(result->release.classes[f].pattern, all))
			rows += result->release.classes[f].rows;
	return rows;
}

/* *more: mine is more useful than kept, which costs as much. */
static KanonStatus
more_useful(const KanonProblem *problem, KanonRelease *mine, KanonRelease *kept, bool *more)
{
	KanonReport report[2];
	double usefulness[2];
	KanonStatus status = kanon_release_finish(problem, kept, &report[0]);

	if (status == KANON_OK)
		status = kanon_usefulness(problem, kept, &usefulness[0]);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, mine, &report[1]);
	if (status == KANON_OK)
		status = kanon_usefulness(problem, mine, &usefulness[1]);
	*more = status == KANON_OK && mine->dropped == kept->dropped && report[1].cost <= report[0].cost &&
			kanon_more_useful(usefulness[1], usefulness[0]);
	/* (a release that is none stays where it is) */
	return status == KANON_CANCELLED || status == KANON_NO_MEMORY ? status : KANON_OK;
}

KanonStatus
ilp_keep(const KanonProblem *problem, IlpResult *mine, IlpResult *result)
{
	bool better = mine->cost < result->cost;
	KanonStatus status = KANON_OK;

	if (mine->cost == result->cost && mine->cost < INFINITY)
		status = more_useful(problem, &mine->release, &result->release, &better);
	if (better)
	{
		KanonRelease worse = result->release;

		*result = *mine;
		mine->release = worse;
	}
	kanon_release_free(problem, &mine->release);
	return status;
}

KanonStatus
ilp_offer(const KanonProblem *problem, const KanonInstances *instances, const IlpList *used, IlpRest rest,
		  IlpResult *result, KanonPace *pace)
{
	IlpResult mine;
	KanonStatus status =
		kanon_flow_release(problem, instances, used->v, used->n, rest, &mine.release, &mine.cost, pace);

	if (status == KANON_INFEASIBLE)
		return KANON_OK;
	if (status != KANON_OK)
		return status;
	if (kanon_rest_strict(problem) && rest == ILP_REST_ANY)
	{
		int64_t left = rest_rows(problem, &mine);

		if (left > 0 && left < problem->k)
			mine.cost = INFINITY;
	}
	return ilp_keep(problem, &mine, result);
}

/*
 * Rows are left over, too few for a class of their own: one of the instances used is
 * closed, and its rows are.  The costliest lose least by that.
 */
static KanonStatus
close_one(const KanonProblem *problem, const KanonInstances *instances, const IlpList *used,
		  IlpResult *result, KanonPace *pace)
{
	IlpList fewer = {0};
	bool *tried = kanon_alloc0(problem->env, used->n, sizeof(bool));
	KanonStatus status = tried == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (int round = 0; round < CLOSED && (size_t) round < used->n && status == KANON_OK; round++)
	{
		size_t closed = used->n;

		for (size_t j = 0; j < used->n; j++)
			if (!tried[j] &&
				(closed == used->n || instances->cost[used->v[j]] > instances->cost[used->v[closed]]))
				closed = j;
		tried[closed] = true;
		fewer.n = 0;
		for (size_t j = 0; j < used->n && status == KANON_OK; j++)
			if (j != closed && !ilp_list_add(problem->env, &fewer, used->v[j]))
				status = KANON_NO_MEMORY;
		if (status == KANON_OK)
			status = ilp_offer(problem, instances, &fewer, ILP_REST_CLASS, result, pace);
	}
	kanon_free(problem->env, fewer.v);
	kanon_free(problem->env, tried);
	return status;
}

/* From the instances used to the best release that the residual rule allows. */
KanonStatus
ilp_offer_all(const KanonProblem *problem, const KanonInstances *instances, const IlpList *used,
			  IlpResult *result, KanonPace *pace)
{
	KanonStatus status = ilp_offer(problem, instances, used, ILP_REST_ANY, result, pace);

	if (status == KANON_OK && kanon_rest_strict(problem))
	{
		status = ilp_offer(problem, instances, used, ILP_REST_NONE, result, pace);
		if (status == KANON_OK)
			status = ilp_offer(problem, instances, used, ILP_REST_CLASS, result, pace);
		if (status == KANON_OK && result->cost == INFINITY)
			status = close_one(problem, instances, used, result, pace);
	}
	return status;
}

KanonStatus
ilp_conclude(const KanonProblem *problem, const KanonInstances *grid, IlpResult *result, double bound,
			 KanonRelease *release, KanonReport *report)
{
	double slack = kanon_instances_slack(grid, result->cost);
	double dropped;
	KanonStatus status;

	*release = result->release;
	memset(&result->release, 0, sizeof(result->release));
	status = kanon_release_finish(problem, release, report);
	/* (costs are not negative) */
	bound = fmax(bound - grid->rounding, fmin(bound, 0));
	if (status == KANON_OK && bound > result->cost + slack)
	{
		snprintf(report->detail, sizeof(report->detail), "the bound is above the cost");
		status = KANON_BROKEN;
	}
	if (status != KANON_OK)
	{
		kanon_release_free(problem, release);
		return status;
	}
	/* rows left out are priced as if fully suppressed, in the bound as in the cost */
	dropped = (double) release->dropped * grid->all_cost * grid->unit;
	report->proven = result->cost - bound <= slack + problem->gap * result->cost;
	report->lower_bound = result->cost - bound <= slack ? report->cost : bound * grid->unit - dropped;
	return KANON_OK;
}
