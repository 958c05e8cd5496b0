/*
 * search_merged.c: several searches, and one among the instances that they have used.
 *
 * W. Cook, P. Seymour, "Tour merging via branch-decomposition", INFORMS J. Comput. 15,
 * 2003: good solutions that were found one without the other have most in common.  The
 * part that all of them use needs no search any more.  Where they differ there are few
 * good ways, from which the last search chooses with all its work.  A solution by itself
 * depends on its seed much more than on how long it took.
 */
#include <math.h>
#include <string.h>

#include "pattern/search/search.h"

/* Searches before the last one, and their share of the work. */
#define RUNS 12
#define RUNS_SHARE 0.5

/* The instances that are used, as a model of their own; id = position in `model`. */
static KanonStatus
restrict_to(const IlpModel *model, const bool *used, IlpModel *out, KanonPace *pace)
{
	KanonEnv *env = model->env;
	uint32_t *types = kanon_alloc(env, model->m, 2 * sizeof(*types));
	IlpList instances = {0};
	KanonStatus status = types == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (uint32_t f = 0; f < model->nf && status == KANON_OK; f++)
		if (used[f] && !ilp_list_add(env, &instances, f))
			status = KANON_NO_MEMORY;
	for (uint32_t i = 0; i < model->m && status == KANON_OK; i++)
		types[i] = i;
	if (status == KANON_OK)
		status =
			ilp_model_within(model, types, model->m, model->n, model->c, &instances, out, types + model->m);
	if (status == KANON_OK)
	{
		out->base = model->base;
		status = ilp_model_transpose(out, pace);
	}
	kanon_free(env, instances.v);
	kanon_free(env, types);
	return status;
}

/* The last search; what it finds takes the place of what is there if it is better. */
static KanonStatus
search_used(const IlpModel *model, const bool *used, SearchPlan plan, double *best, IlpList *best_open,
			KanonPace *pace)
{
	KanonEnv *env = model->env;
	IlpModel part = {0};
	IlpList open = {0};
	double *part_g = kanon_alloc(env, model->nf, sizeof(*part_g));
	double cost;
	KanonStatus status = part_g == NULL ? KANON_NO_MEMORY : restrict_to(model, used, &part, pace);

	for (uint32_t f = 0; f < part.nf && status == KANON_OK; f++)
		part_g[f] = plan.g[part.id[f]];
	plan.g = part_g;
	if (status == KANON_OK)
		status = ilp_search(&part, &plan, &cost, &open, pace);
	if (status == KANON_OK && cost < *best)
	{
		*best = cost;
		best_open->n = 0;
		for (size_t j = 0; j < open.n && status == KANON_OK; j++)
			if (!ilp_list_add(env, best_open, part.id[open.v[j]]))
				status = KANON_NO_MEMORY;
	}
	ilp_model_free(&part);
	kanon_free(env, open.v);
	kanon_free(env, part_g);
	return status;
}

KanonStatus
ilp_search_merged(const IlpModel *model, const SearchPlan *plan, double *best, IlpList *best_open,
				  KanonPace *pace)
{
	KanonEnv *env = model->env;
	uint64_t random = plan->seed;
	double deadline = pace->deadline;
	double run_work = RUNS_SHARE * plan->work / RUNS;
	double left = plan->work + plan->parts;
	SearchPlan one = *plan;
	bool *used = kanon_alloc0(env, model->nf, sizeof(*used));
	IlpList open = {0};
	KanonStatus status = used == NULL ? KANON_NO_MEMORY : KANON_OK;

	*best = INFINITY;
	for (int run = 0; run < RUNS && status == KANON_OK && *best > plan->target && !pace->late; run++)
	{
		double cost;

		kanon_pace_share(pace, deadline, run_work / left);
		left -= run_work;
		one.seed = kanon_random_split(&random);
		one.work = run_work;
		one.parts = 0;
		status = ilp_search(model, &one, &cost, &open, pace);
		kanon_pace_share(pace, deadline, 1);
		for (size_t j = 0; j < open.n && status == KANON_OK; j++)
			used[open.v[j]] = true;
		if (status == KANON_OK && cost < *best)
		{
			IlpList worse = *best_open;

			*best = cost;
			*best_open = open;
			open = worse;
		}
	}
	if (status == KANON_OK && *best > plan->target && !pace->late)
	{
		one.seed = kanon_random_split(&random);
		one.work = plan->work - RUNS * run_work;
		one.parts = plan->parts;
		status = search_used(model, used, one, best, best_open, pace);
	}
	/* what was found before memory was short is a solution, too */
	if (status == KANON_NO_MEMORY && *best < INFINITY)
		status = KANON_OK;
	pace->deadline = deadline;
	kanon_free(env, open.v);
	kanon_free(env, used);
	return status;
}
