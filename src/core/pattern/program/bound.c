/*
 * bound.c: the lower bound of a large model, and fixing by it.
 *
 * Steps on the whole model lead near the best prices; the rest is done on what
 * matters around these (bound.c), which is so small that many more steps can be
 * taken.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/program_model.h"

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

/* The largest difference of two costs of a row: what prices are measured by. */
static double
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

/*
 * ---- What of a model matters while prices stay within a box.
 *
 * Near the best prices few instances open at all, and of these only the dearest
 * rows count.  With low_i <= y_i <= high_i
 *   - g_f(y) >= g_f(high), so that f adds nothing to L where that is not negative;
 *   - a row of type i that is not above w_f is in f only among its k dearest
 *     rows, which it is not when k rows of f have low_j > high_i.
 * The rest has exactly the L of the whole at all prices in the box, and is a small
 * part of it.
 */

void
ilp_box_free(KanonEnv *env, IlpBox *box)
{
	kanon_free(env, box->low);
	kanon_free(env, box->high);
	memset(box, 0, sizeof(*box));
}

KanonStatus
ilp_box_around(const IlpModel *model, const double *y, double reach, IlpBox *box)
{
	box->low = kanon_alloc(model->env, model->m, sizeof(*box->low));
	box->high = kanon_alloc(model->env, model->m, sizeof(*box->high));
	if (box->low == NULL || box->high == NULL)
	{
		ilp_box_free(model->env, box);
		return KANON_NO_MEMORY;
	}
	for (uint32_t i = 0; i < model->m; i++)
	{
		box->low[i] = y[i] - reach;
		box->high[i] = fmin(model->c[i], y[i] + reach);
	}
	return KANON_OK;
}

uint32_t
ilp_box_sift(const IlpModel *model, const IlpBox *box, double w, int64_t rows, const uint32_t *types,
			 uint32_t ntypes, IlpCandidate *cand, uint32_t *kept)
{
	double g = 0;
	double least = INFINITY;
	int64_t need = model->k;
	int64_t total = 0;
	size_t n = 0;
	uint32_t nkept = 0;

	for (uint32_t j = 0; j < ntypes; j++)
	{
		uint32_t i = types[j];
		double high = box->high[i];

		total += model->n[i];
		if (high > w)
		{
			g += (w - high) * (double) model->n[i];
			need -= model->n[i];
		}
		else
			cand[n++] = (IlpCandidate){high, i};
	}
	if (total < model->k || need == model->k)
		return 0;
	if (need > 0)
		g += ilp_take_dearest(model, cand, n, need, w, NULL);
	if (g >= 0)
		return 0;
	for (uint32_t j = 0; j < ntypes; j++)
		cand[j] = (IlpCandidate){box->low[types[j]], types[j]};
	need = rows < total ? rows : total;
	ilp_take_dearest(model, cand, ntypes, need, w, NULL);
	for (uint32_t j = 0; need > 0; j++)
	{
		least = fmin(least, cand[j].y);
		need -= model->n[cand[j].i];
	}
	for (uint32_t j = 0; j < ntypes; j++)
		if (box->high[types[j]] >= least || box->high[types[j]] > w)
			kept[nkept++] = types[j];
	return nkept;
}

/* Room for nf instances and that many pairs. */
static bool
make_room(IlpModel *model, size_t *room, size_t *starts, size_t *pair_room, size_t nf, size_t pairs)
{
	return KANON_GROW(&model->scratch, room, nf, KANON_ARRAY(model->w), KANON_ARRAY(model->id)) &&
		   KANON_GROW(&model->scratch, starts, nf + 1, KANON_ARRAY(model->start)) &&
		   KANON_GROW(&model->scratch, pair_room, pairs, KANON_ARRAY(model->type));
}

KanonStatus
ilp_box_model(const IlpModel *model, const IlpBox *box, IlpModel *out, KanonPace *pace)
{
	IlpCandidate *cand = kanon_alloc(model->env, model->m, sizeof(*cand));
	size_t room = 1024;
	size_t starts = room + 1;
	size_t pair_room = (size_t) 16 * room + model->m;
	KanonStatus status = KANON_NO_MEMORY;

	*out = (IlpModel){.env = model->env,
					  .k = model->k,
					  .integral = model->integral,
					  .least = model->least,
					  .wide = model->wide,
					  .base = model->base,
					  .m = model->m};
	if (ilp_model_alloc(out, model->m, (uint32_t) room, pair_room) && cand != NULL)
	{
		memcpy(out->n, model->n, model->m * sizeof(*out->n));
		memcpy(out->c, model->c, model->m * sizeof(*out->c));
		status = KANON_OK;
	}
	for (uint32_t f = 0; f < model->nf && status == KANON_OK; f++)
	{
		uint32_t size = (uint32_t) (model->start[f + 1] - model->start[f]);
		size_t pairs = out->start[out->nf];
		uint32_t kept;

		if (!make_room(out, &room, &starts, &pair_room, out->nf + (size_t) 1, pairs + size))
		{
			status = KANON_NO_MEMORY;
			break;
		}
		kept = ilp_box_sift(model, box, model->w[f], model->k, model->type + model->start[f], size, cand,
							out->type + pairs);
		if (kept > 0)
		{
			out->id[out->nf] = f;
			out->w[out->nf] = model->w[f];
			out->start[++out->nf] = pairs + kept;
		}
		if (kanon_step(pace, (int64_t) size * 8))
			status = KANON_CANCELLED;
	}
	kanon_free(model->env, cand);
	if (status != KANON_OK)
		ilp_model_free(out);
	return status;
}
