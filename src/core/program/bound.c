/*
 * bound.c: the lower bound of a large model.
 *
 * Steps on the whole model lead near the best prices; the rest is done on what
 * matters around these (box.c), which is so small that many more steps can be
 * taken.  When memory was too short for the costliest instances, a row's fallback
 * is first as cheap as they are; then those that prices near the best can open
 * are enumerated, and the bound is that of the whole model again.
 */
#include <math.h>
#include <string.h>

#include "program/bound.h"

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

/* What sifts the missing instances. */
typedef struct Sieve
{
	const IlpModel *model;
	const IlpBox *box;
	const uint32_t *map; /* types of the problem to those of the model */
	uint32_t *stamp;     /* [m] seen in this instance */
	uint32_t now;
	uint32_t *types;    /* [m] of this instance */
	IlpCandidate *cand; /* [m] */
} Sieve;

static uint32_t
sift(void *arg, double cost, const uint32_t *types, uint32_t ntypes, uint32_t *kept)
{
	Sieve *sieve = arg;
	uint32_t n = 0;

	sieve->now++;
	for (uint32_t j = 0; j < ntypes; j++)
	{
		uint32_t i = sieve->map[types[j]];

		if (sieve->stamp[i] != sieve->now)
			sieve->types[n++] = i;
		sieve->stamp[i] = sieve->now;
	}
	return ilp_box_sift(sieve->model, sieve->box, cost, sieve->types, n, sieve->cand, kept);
}

/* Adds the missing instances that open in the box to a model made for it. */
static KanonStatus
add_missing(const IlpModel *model, const IlpBox *box, const IlpMissing *missing, const uint32_t *map,
			IlpModel *out, KanonPace *pace)
{
	KanonEnv *env = model->env;
	const KanonProblem *problem = missing->problem;
	Sieve sieve = {.model = model, .box = box, .map = map};
	KanonInstances found = {0};
	double *most = kanon_alloc(env, problem->ntypes, sizeof(*most));
	KanonStatus status = KANON_NO_MEMORY;

	sieve.stamp = kanon_alloc0(env, model->m, sizeof(*sieve.stamp));
	sieve.types = kanon_alloc(env, model->m, sizeof(*sieve.types));
	sieve.cand = kanon_alloc(env, model->m, sizeof(*sieve.cand));
	if (most != NULL && sieve.stamp != NULL && sieve.types != NULL && sieve.cand != NULL)
	{
		for (uint32_t i = 0; i < problem->ntypes; i++)
			most[i] = box->high[map[i]];
		status = kanon_instances_above(problem, missing->instances->max_cost, most, sift, &sieve,
									   model->start[model->nf] / 2, pace, &found);
	}
	if (status == KANON_OK)
		status = ilp_box_append(out, &found);
	kanon_instances_free(env, &found);
	kanon_free(env, most);
	kanon_free(env, sieve.stamp);
	kanon_free(env, sieve.types);
	kanon_free(env, sieve.cand);
	return status;
}

/* Some steps in a box around the prices, which follow when that is better. */
static KanonStatus
refine(const IlpModel *model, const IlpMissing *missing, const uint32_t *map, double reach, double cap,
	   double upper, int64_t steps, IlpPrices *prices, KanonPace *pace)
{
	KanonEnv *env = model->env;
	IlpBox box = {0};
	IlpModel part = {0};
	IlpPrices own = {0};
	KanonStatus status = ilp_box_around(model, prices->y, reach, cap, &box);

	if (status == KANON_OK)
		status = ilp_box_model(model, &box, &part, pace);
	if (status == KANON_OK && missing != NULL)
		status = add_missing(model, &box, missing, map, &part, pace);
	if (status == KANON_OK && !pace->late)
	{
		own.y = kanon_alloc(env, model->m, sizeof(*own.y));
		status = KANON_NO_MEMORY;
		if (own.y != NULL)
		{
			memcpy(own.y, prices->y, model->m * sizeof(*own.y));
			status = ilp_lagrange_within(&part, &box, upper, steps, &own, pace);
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
cost_range(const IlpModel *model)
{
	double least = INFINITY;
	double most = 0;

	for (uint32_t f = 0; f < model->nf; f++)
		least = fmin(least, model->w[f]);
	for (uint32_t i = 0; i < model->m; i++)
		most = fmax(most, model->c[i]);
	return most - fmin(least, most);
}

/*
 * The model with the types that none of its instances takes, which are in `base`.
 * Shares all but n and c with it; *map as missing->map with them.
 */
static KanonStatus
widen(const IlpModel *model, const IlpMissing *missing, IlpModel *wide, uint32_t *map)
{
	const KanonProblem *problem = missing->problem;
	KanonEnv *env = model->env;

	*wide = *model;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		map[i] = missing->map[i] != UINT32_MAX ? missing->map[i] : wide->m++;
	wide->n = kanon_alloc(env, wide->m, sizeof(*wide->n));
	wide->c = kanon_alloc(env, wide->m, sizeof(*wide->c));
	if (wide->n == NULL || wide->c == NULL)
	{
		kanon_free(env, wide->n);
		kanon_free(env, wide->c);
		return KANON_NO_MEMORY;
	}
	memcpy(wide->n, model->n, model->m * sizeof(*wide->n));
	for (uint32_t i = 0; i < wide->m; i++)
		wide->c[i] = missing->instances->all_cost;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (map[i] >= model->m)
		{
			wide->n[map[i]] = problem->rows[i];
			wide->base -= (double) problem->rows[i] * missing->instances->all_cost;
		}
	return KANON_OK;
}

/* The rounds from `first` on. */
static KanonStatus
refine_rounds(const IlpModel *model, const IlpMissing *missing, const uint32_t *map, int first, double cap,
			  double upper, int64_t steps, IlpPrices *prices, KanonPace *pace)
{
	double range = cost_range(model);
	int repeats = 0;
	KanonStatus status = KANON_OK;

	for (int r = first; r < ROUNDS && status == KANON_OK && !pace->late; r++)
	{
		double before = prices->bound;

		status = refine(model, missing, map, rounds[r].reach * range, cap, upper,
						(int64_t) (rounds[r].share * (double) steps), prices, pace);
		if (prices->bound - before > GAINING * fabs(before) && repeats++ < REPEATS)
			r--;
	}
	return status;
}

/* The same, with the missing instances. */
static KanonStatus
refine_missing(const IlpModel *model, const IlpMissing *missing, int first, double cap, double upper,
			   int64_t steps, IlpPrices *prices, KanonPace *pace)
{
	KanonEnv *env = model->env;
	uint32_t *map = kanon_alloc(env, missing->problem->ntypes, sizeof(*map));
	IlpModel wide;
	IlpPrices own = {.bound = prices->bound};
	KanonStatus status;

	if (map == NULL)
		return KANON_NO_MEMORY;
	status = widen(model, missing, &wide, map);
	if (status == KANON_OK)
	{
		own.y = kanon_alloc(env, wide.m, sizeof(*own.y));
		if (own.y == NULL)
			status = KANON_NO_MEMORY;
		else
		{
			for (uint32_t i = 0; i < wide.m; i++)
				own.y[i] = i < model->m ? prices->y[i] : cap;
			status = refine_rounds(&wide, missing, map, first, cap, upper, steps, &own, pace);
			memcpy(prices->y, own.y, model->m * sizeof(*own.y));
			prices->bound = own.bound;
		}
		kanon_free(env, wide.n);
		kanon_free(env, wide.c);
	}
	kanon_free(env, own.y);
	kanon_free(env, map);
	return status;
}

/* A row's fallback, where what is in base is a fallback, too. */
static void
set_fallback(IlpModel *model, double from, double to)
{
	model->base *= to / from;
	for (uint32_t i = 0; i < model->m; i++)
		model->c[i] = to;
}

KanonStatus
ilp_bound(IlpModel *model, const IlpMissing *missing, double upper, int64_t steps, IlpPrices *prices,
		  KanonPace *pace)
{
	bool large = missing != NULL || model->start[model->nf] > ILP_BOUND_LARGE;
	int first = prices->y == NULL ? 0 : ROUNDS - 1;
	double all = missing != NULL ? missing->instances->all_cost : 0;
	double cap = INFINITY;
	KanonStatus status = KANON_OK;

	if (!large)
		return ilp_lagrange(model, upper, steps, prices, pace);
	if (missing != NULL)
	{
		/* what is missing costs more: at least the next number */
		cap = missing->instances->max_cost;
		if (model->integral)
			cap = floor(cap + ILP_EPS) + 1;
		cap = fmin(cap, all);
	}
	if (prices->y == NULL)
	{
		if (missing != NULL)
			set_fallback(model, all, cap);
		status = ilp_lagrange(model, upper, (int64_t) (WHOLE_SHARE * (double) steps), prices, pace);
		if (missing != NULL)
			set_fallback(model, cap, all);
	}
	if (status == KANON_OK)
	{
		KanonStatus refined = missing == NULL
								  ? refine_rounds(model, NULL, NULL, first, cap, upper, steps, prices, pace)
								  : refine_missing(model, missing, first, cap, upper, steps, prices, pace);
		double bound = prices->bound;

		/* for want of memory or time it is as good as it is */
		if (refined == KANON_CANCELLED)
			return refined;
		/* g belongs to the best prices */
		status = ilp_price(model, prices, pace);
		if (missing != NULL)
			prices->bound = bound;
	}
	return status;
}
