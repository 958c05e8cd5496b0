/*
 * tighten_price.c: the relaxation whose cuts have prices: what its instances decide.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/bound.h"

/* Steps are taken on a share of the pairs (one in ACTIVE); reduced costs are sorted into BINS. */
#define ACTIVE 3
#define BINS 256

/* The price that cuts ask of an instance to open; its candidates get what its rows are worth in it. */
static double
charge(Tight *t, const IlpModel *model, uint32_t f, const double *y, const uint32_t *cuts, size_t ncuts)
{
	size_t n = 0;
	double nu = 0;
	double back = 0;

	t->asked++;
	for (size_t c = 0; c < ncuts; c++)
	{
		nu += t->cuts.cut[cuts[c]].trial;
		back += t->cuts.cut[cuts[c]].trial / t->cuts.cut[cuts[c]].missing;
	}
	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];

		t->stamp[i] = t->asked;
		t->at[i] = n;
		t->cand[n++] = (IlpCandidate){y[i] + back, i};
	}
	for (size_t c = 0; c < ncuts; c++)
	{
		const Cut *cut = &t->cuts.cut[cuts[c]];

		for (uint32_t j = 0; j < cut->ntypes; j++)
		{
			uint32_t i = t->cuts.types[cut->start + j];

			if (t->stamp[i] == t->asked)
				t->cand[t->at[i]].y -= cut->trial / cut->missing;
		}
		t->pace->work += cut->ntypes;
	}
	return nu;
}

/*
 * g_f with these cuts.  rows, if not NULL: those of each of its types that it takes, and no
 * more than a value that is not negative where it would not open.
 */
static double
reduced_cost(Tight *t, const IlpModel *model, uint32_t f, const double *y, const uint32_t *cuts, size_t ncuts,
			 double *rows)
{
	double w = model->w[f];
	uint32_t size = (uint32_t) (model->start[f + 1] - model->start[f]);
	const uint32_t *types = model->type + model->start[f];
	double g = ncuts > 0 ? charge(t, model, f, y, cuts, ncuts) : 0;
	double top = -INFINITY;
	int64_t taken = 0;
	size_t n = 0;

	for (uint32_t j = 0; j < size; j++)
	{
		uint32_t i = types[j];
		double worth = ncuts > 0 ? t->cand[j].y : y[i];

		if (rows != NULL)
			rows[j] = 0;
		if (worth > w)
		{
			g += (w - worth) * (double) model->n[i];
			taken += model->n[i];
			if (rows != NULL)
				rows[j] = (double) model->n[i];
		}
		else
		{
			t->cand[n++] = (IlpCandidate){worth, i};
			top = fmax(top, worth);
		}
	}
	if (taken >= model->k)
		return g;
	if (rows != NULL && g + (double) (model->k - taken) * (w - top) >= 0)
		return 0;
	g += ilp_take_dearest(model, t->cand, n, model->k - taken, w, NULL);
	if (rows == NULL || g >= 0)
		return g;
	for (uint32_t j = 0; j < size; j++)
		t->at[types[j]] = j;
	for (size_t j = 0; taken < model->k; j++)
	{
		uint32_t i = t->cand[j].i;
		int64_t some = model->n[i] < model->k - taken ? model->n[i] : model->k - taken;

		rows[t->at[i]] = (double) some;
		taken += some;
	}
	return g;
}

/* An instance opens in the solution at hand. */
static void
note_open(Tight *t, uint32_t f, const uint32_t *cuts, size_t ncuts)
{
	const IlpModel *model = t->model;
	double all = 0;

	t->asked++;
	t->open[t->nopen++] = f;
	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
		if (t->rows[p] > 0)
		{
			uint32_t i = model->type[p];

			t->stamp[i] = t->asked;
			t->at[i] = p;
			t->now[i] -= t->rows[p];
			all += t->rows[p];
			t->taken[t->ntaken++] = p;
		}
	for (size_t c = 0; c < ncuts; c++)
	{
		Cut *cut = &t->cuts.cut[cuts[c]];
		double outside = all;

		for (uint32_t j = 0; j < cut->ntypes; j++)
		{
			uint32_t i = t->cuts.types[cut->start + j];

			if (t->stamp[i] == t->asked)
				outside -= t->rows[t->at[i]];
		}
		cut->now += 1 - outside / cut->missing;
	}
}

/* The part of L beside the instances, at the prices at hand. */
static double
fixed_part(const Tight *t, const double *y)
{
	double sum = t->whole->base;

	for (uint32_t i = 0; i < t->whole->m; i++)
		sum += (double) t->whole->n[i] * y[i];
	for (size_t c = 0; c < t->cuts.n; c++)
		sum -= t->cuts.cut[c].trial * t->cuts.cut[c].classes;
	return sum;
}

KanonStatus
tight_try(Tight *t, double *value)
{
	const IlpModel *model = t->model;

	*value = fixed_part(t, t->trial);
	t->nopen = 0;
	t->ntaken = 0;
	for (uint32_t i = 0; i < model->m; i++)
		t->now[i] = (double) model->n[i];
	for (size_t c = 0; c < t->cuts.n; c++)
		t->cuts.cut[c].now = -t->cuts.cut[c].classes;
	for (uint32_t a = 0; a < t->nactive; a++)
	{
		uint32_t f = t->active[a];
		const uint32_t *cuts = t->cuts.of + t->cuts.first[f];
		size_t ncuts = t->cuts.first[f + 1] - t->cuts.first[f];
		double g = reduced_cost(t, model, f, t->trial, cuts, ncuts, t->rows + model->start[f]);

		if (g < 0)
			note_open(t, f, cuts, ncuts);
		*value += fmin(0, g);
		if (kanon_step(t->pace, (int64_t) (model->start[f + 1] - model->start[f]) * 8))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

KanonStatus
tight_activate(Tight *t)
{
	const IlpModel *model = t->model;
	size_t count[BINS] = {0};
	size_t have = 0;
	double bin = 0;
	int last = 0;

	for (size_t c = 0; c < t->cuts.n; c++)
		t->cuts.cut[c].trial = t->cuts.cut[c].nu;
	t->best = fixed_part(t, t->y);
	for (uint32_t i = 0; i < model->m; i++)
		bin = fmax(bin, model->c[i]);
	bin = fmax(1e-9, bin * (double) (model->k < 10 ? model->k : 10) / BINS);
	for (uint32_t f = 0; f < model->nf; f++)
	{
		size_t size = model->start[f + 1] - model->start[f];

		t->g[f] = reduced_cost(t, model, f, t->y, t->cuts.of + t->cuts.first[f],
							   t->cuts.first[f + 1] - t->cuts.first[f], NULL);
		t->best += fmin(0, t->g[f]);
		count[t->g[f] <= 0 ? 0 : (int) fmin(BINS - 1, t->g[f] / bin)] += size;
		if (kanon_step(t->pace, (int64_t) size * 8))
			return KANON_CANCELLED;
	}
	while (last < BINS - 1 && (have += count[last]) < model->start[model->nf] / ACTIVE)
		last++;
	t->nactive = 0;
	for (uint32_t f = 0; f < model->nf; f++)
		if (last == BINS - 1 || t->g[f] < (last + 1) * bin)
			t->active[t->nactive++] = f;
	return KANON_OK;
}

KanonStatus
tight_prove(Tight *t, IlpPrices *prices)
{
	const IlpModel *model = t->whole;
	double bound;

	for (size_t c = 0; c < t->cuts.n; c++)
		t->cuts.cut[c].trial = t->cuts.cut[c].nu;
	bound = fixed_part(t, t->y);
	for (uint32_t f = 0; f < model->nf; f++)
	{
		uint32_t part = t->part_of[f];
		size_t ncuts = part == UINT32_MAX ? 0 : t->cuts.first[part + 1] - t->cuts.first[part];
		double g = reduced_cost(t, model, f, t->y, NULL, 0, NULL);

		/* it is in all of them or in none */
		if (ncuts > 0)
			g = fmax(g, reduced_cost(t, model, f, t->y, t->cuts.of + t->cuts.first[part], ncuts, NULL));
		t->whole_g[f] = g;
		bound += fmin(0, g);
		if (kanon_step(t->pace, (int64_t) (model->start[f + 1] - model->start[f]) * 8))
			return KANON_CANCELLED;
	}
	if (bound > prices->bound)
	{
		prices->bound = bound;
		memcpy(prices->g, t->whole_g, model->nf * sizeof(*prices->g));
		memcpy(prices->y, t->y, model->m * sizeof(*prices->y));
	}
	return KANON_OK;
}
