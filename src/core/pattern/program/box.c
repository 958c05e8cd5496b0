/*
 * box.c: what of a model matters while prices stay within a box.
 *
 * Near the best prices few instances open at all, and of these only the dearest
 * rows count.  With low_i <= y_i <= high_i
 *   - g_f(y) >= g_f(high), so that f adds nothing to L where that is not negative;
 *   - a row of type i that is not above w_f is in f only among its k dearest
 *     rows, which it is not when k rows of f have low_j > high_i.
 * The rest has exactly the L of the whole at all prices in the box, and is a small
 * part of it.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/bound.h"

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
