/*
 * bound.c: the lower bound of a large model, and fixing by it.
 *
 * Steps on the whole model lead near the best prices; the rest is done on what
 * matters around these (box.c), which is so small that many more steps can be
 * taken.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/bound.h"

/* Pairs above which steps on all instances take too long. */
#ifndef ILP_BOUND_LARGE
#define ILP_BOUND_LARGE (1000 * 1000)
#endif

/*
 * Rounds in boxes: how far prices may go, in units of the largest difference of
 * two costs, and the share of the steps.  A round after which the bound is still
 * rising by more than GAINING of itself is repeated, at most REPEATS times.
 */
typedef struct Round
{
	double reach;
	double share;
} Round;

static const Round rounds[] = {{0.05, 0.75}, {0.03, 1}, {0.02, 1}};

#define ROUNDS ((int) (sizeof(rounds) / sizeof(rounds[0])))
#define GAINING 0.005
#define REPEATS 6

/* The share of the steps on the whole model, before. */
#define WHOLE_SHARE 0.3

/* Some steps in a box around the prices, which follow when that is better. */
static KanonStatus
refine(const IlpModel *model, double reach, double upper, int64_t steps, IlpPrices *prices, KanonPace *pace)
{
	KanonEnv *env = model->env;
	IlpBox box = {0};
	IlpModel part = {0};
	IlpPrices own = {0};
	KanonStatus status = ilp_box_around(model, prices->y, reach, &box);

	if (status == KANON_OK)
		status = ilp_box_model(model, &box, &part, pace);
	if (status == KANON_OK && !pace->late)
	{
		own.y = kanon_alloc(env, model->m, sizeof(*own.y));
		status = KANON_NO_MEMORY;
		if (own.y != NULL)
		{
			memcpy(own.y, prices->y, model->m * sizeof(*own.y));
			own.lambda = ilp_steps_on(prices);
			status = ilp_lagrange_within(&part, &box, upper, steps, &own, pace);
			prices->lambda = own.lambda;
		}
		if (status == KANON_OK && own.bound > prices->bound)
		{
			memcpy(prices->y, own.y, model->m * sizeof(*own.y));
			prices->bound = own.bound;
		}
	}
	ilp_prices_free(env, &own);
	ilp_model_free(&part);
	ilp_box_free(env, &box);
	return status;
}

double
ilp_cost_range(const IlpModel *model)
{
	double least = INFINITY;
	double most = 0;

	for (uint32_t f = 0; f < model->nf; f++)
		least = fmin(least, model->w[f]);
	for (uint32_t i = 0; i < model->m; i++)
		most = fmax(most, model->c[i]);
	return most - fmin(least, most);
}

/* The rounds from `first` on. */
static KanonStatus
refine_rounds(const IlpModel *model, int first, double upper, int64_t steps, IlpPrices *prices,
			  KanonPace *pace)
{
	double range = ilp_cost_range(model);
	int repeats = 0;
	KanonStatus status = KANON_OK;

	for (int r = first; r < ROUNDS && status == KANON_OK && !pace->late; r++)
	{
		double before = prices->bound;

		status = refine(model, rounds[r].reach * range, upper, (int64_t) (rounds[r].share * (double) steps),
						prices, pace);
		if (prices->bound - before > GAINING * fabs(before) && repeats++ < REPEATS)
			r--;
	}
	return status;
}

KanonStatus
ilp_bound(IlpModel *model, double upper, int64_t steps, IlpPrices *prices, KanonPace *pace)
{
	int first = prices->y == NULL ? 0 : ROUNDS - 1;
	KanonStatus status = KANON_OK;

	prices->lambda = 0;
	if (model->start[model->nf] <= ILP_BOUND_LARGE)
		return ilp_lagrange(model, upper, steps, prices, pace);
	if (prices->y == NULL)
		status = ilp_lagrange(model, upper, (int64_t) (WHOLE_SHARE * (double) steps), prices, pace);
	/* for want of memory or time it is as good as it is */
	if (status == KANON_OK && refine_rounds(model, first, upper, steps, prices, pace) == KANON_CANCELLED)
		return KANON_CANCELLED;
	/* g belongs to the best prices */
	return status == KANON_OK ? ilp_price(model, prices, pace) : status;
}

/*
 * A solution that opens f costs at least L + g_f where g_f > 0 (f adds its own
 * minimum instead of 0): beyond the cutoff f is closed in all that count.
 */
KanonStatus
ilp_fix(IlpModel *model, IlpPrices *prices, double cutoff, uint32_t *dropped, KanonPace *pace)
{
	bool *dead = kanon_alloc0(model->env, model->nf, sizeof(*dead));
	KanonStatus status = KANON_OK;

	double slack = model->integral ? 1e-4 : 1e-9 * kanon_max(1, fabs(cutoff));

	*dropped = 0;
	if (dead == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t f = 0; f < model->nf; f++)
		if (prices->g[f] > 0 && prices->bound + prices->g[f] > cutoff + slack)
		{
			dead[f] = true;
			++*dropped;
		}
	if (*dropped > 0)
		status = ilp_model_compact(model, dead, pace);
	kanon_free(model->env, dead);
	return status;
}

KanonStatus
ilp_fixed_copy(const IlpModel *model, const IlpPrices *prices, double cutoff, IlpModel *copy, IlpList *fixed,
			   KanonPace *pace)
{
	KanonEnv *env = model->env;
	IlpPrices own = {.bound = prices->bound};
	uint32_t *types = kanon_alloc(env, model->m, 2 * sizeof(*types));
	uint32_t dropped;
	KanonStatus status = KANON_NO_MEMORY;

	memset(copy, 0, sizeof(*copy));
	if (types != NULL)
	{
		for (uint32_t i = 0; i < model->m; i++)
			types[i] = i;
		status = ilp_model_part(model, types, model->m, copy, types + model->m);
	}
	if (status == KANON_OK)
	{
		copy->base = model->base;
		own.g = kanon_alloc(env, copy->nf, sizeof(*own.g));
		if (own.g == NULL)
			status = KANON_NO_MEMORY;
		else
			for (uint32_t f = 0; f < copy->nf; f++)
				own.g[f] = prices->g[copy->id[f]];
	}
	if (status == KANON_OK)
		status = ilp_fix(copy, &own, cutoff, &dropped, pace);
	if (status == KANON_OK)
		status = ilp_reduce(copy, fixed, pace);
	if (status != KANON_OK)
		ilp_model_free(copy);
	kanon_free(env, own.g);
	kanon_free(env, types);
	return status;
}
