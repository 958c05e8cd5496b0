/*
 * reduce.c: reductions of the model that keep an optimal solution, repeated
 * until none applies.  None of them needs a bound; fixing by a bound is in
 * lagrange.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pattern/program/program_model.h"
#include "util/sort.h"

/* A type of an instance: what a row of it gains there, and how many there are. */
typedef struct Gain
{
	double gain;
	int64_t rows;
} Gain;

static int
compare_gain(const void *a, const void *b, void *arg)
{
	const Gain *x = a;
	const Gain *y = b;

	(void) arg;
	return x->gain > y->gain ? -1 : x->gain < y->gain;
}

/*
 * The most that opening f can save: all rows with a gain, or, when they are
 * fewer than k, the k rows of largest gain.  If that is nothing, a solution
 * without f (its rows at their fallback) costs no more.  -INFINITY: f has
 * fewer than k rows.
 */
static double
best_saving(const IlpModel *model, uint32_t f, Gain *gains)
{
	size_t n = 0;
	int64_t rows = 0;
	int64_t total = 0;
	double sum = 0;

	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];
		double gain = model->c[i] - model->w[f];

		total += model->n[i];
		if (gain > 0)
		{
			sum += gain * (double) model->n[i];
			rows += model->n[i];
		}
		else
			gains[n++] = (Gain){gain, model->n[i]};
	}
	if (total < model->k)
		return -INFINITY;
	if (rows >= model->k)
		return sum;
	kanon_sort(gains, gains + model->m, n, sizeof(*gains), compare_gain, NULL);
	for (size_t j = 0; j < n && rows < model->k; j++)
	{
		int64_t take = gains[j].rows < model->k - rows ? gains[j].rows : model->k - rows;

		sum += gains[j].gain * (double) take;
		rows += take;
	}
	return sum;
}

static bool
has_type(const IlpModel *model, uint32_t f, uint32_t i)
{
	size_t lo = model->start[f];
	size_t hi = model->start[f + 1];

	while (lo < hi)
	{
		size_t mid = lo + (hi - lo) / 2;

		if (model->type[mid] < i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < model->start[f + 1] && model->type[lo] == i;
}

/*
 * f lies within g, which costs no more: a class of f can be shown as g (or join the
 * class of g).  If both are equal, the first stays.  Only the options of f's type with
 * the fewest need to be looked at.
 */
static bool
is_dominated(const IlpModel *model, uint32_t f, const bool *dead, KanonPace *pace)
{
	size_t size = model->start[f + 1] - model->start[f];
	uint32_t rare = model->type[model->start[f]];

	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];

		if (model->opt_start[i + 1] - model->opt_start[i] <
			model->opt_start[rare + 1] - model->opt_start[rare])
			rare = i;
	}
	pace->work += (int64_t) size;
	for (size_t p = model->opt_start[rare]; p < model->opt_start[rare + 1]; p++)
	{
		uint32_t g = model->opt[p];
		size_t gsize = model->start[g + 1] - model->start[g];
		bool within = true;

		if (model->w[g] > model->w[f])
			break; /* options ascend by cost */
		if (g == f || dead[g] || gsize < size || (gsize == size && model->w[g] == model->w[f] && g > f))
			continue;
		for (size_t q = model->start[f]; q < model->start[f + 1] && within; q++)
		{
			within = has_type(model, g, model->type[q]);
			pace->work += 4;
		}
		if (within)
			return true;
	}
	return false;
}

/*
 * The rows whose only option is f and that gain there will be in f if f is
 * open; when they are k, opening f costs nothing else: f is open, and c of all
 * its rows falls to w_f.
 */
static bool
opens_free(const IlpModel *model, uint32_t f)
{
	int64_t rows = 0;

	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];

		if (model->opt_start[i + 1] - model->opt_start[i] == 1 && model->c[i] >= model->w[f])
			rows += model->n[i];
	}
	return rows >= model->k;
}

/* One round; *changed when something was taken out or opened. */
static KanonStatus
reduce_round(IlpModel *model, bool *dead, Gain *gains, IlpList *open, bool *changed, KanonPace *pace)
{
	*changed = false;
	for (uint32_t f = 0; f < model->nf && !pace->late; f++)
	{
		if (dead[f])
			continue;
		if (kanon_step(pace, (int64_t) (model->start[f + 1] - model->start[f]) * 4 + 8))
			return KANON_CANCELLED;
		if (model->start[f] == model->start[f + 1] || best_saving(model, f, gains) <= 0)
			dead[f] = true;
		else if (opens_free(model, f))
		{
			if (!ilp_list_add(model->env, open, model->id[f]))
				return KANON_NO_MEMORY;
			for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
				model->c[model->type[p]] = fmin(model->c[model->type[p]], model->w[f]);
			dead[f] = true;
		}
		else if (is_dominated(model, f, dead, pace))
			dead[f] = true;
		*changed |= dead[f];
	}
	return KANON_OK;
}

KanonStatus
ilp_reduce(IlpModel *model, IlpList *open, KanonPace *pace)
{
	KanonEnv *env = model->env;
	bool changed = true;
	KanonStatus status = KANON_OK;

	/* stopping early leaves a larger model, not a wrong one */
	while (status == KANON_OK && changed && !pace->late)
	{
		uint32_t m;
		bool *dead;
		Gain *gains;

		if ((status = ilp_model_compact(model, NULL, pace)) != KANON_OK)
			break;
		if ((status = ilp_model_transpose(model, pace)) != KANON_OK)
			break;
		m = model->m;
		dead = kanon_alloc0(env, model->nf, sizeof(*dead));
		gains = kanon_alloc(env, m, 2 * sizeof(*gains));
		status = dead == NULL || gains == NULL ? KANON_NO_MEMORY
											   : reduce_round(model, dead, gains, open, &changed, pace);
		if (status == KANON_OK && changed)
			status = ilp_model_compact(model, dead, pace);
		kanon_free(env, dead);
		kanon_free(env, gains);
	}
	return status;
}
