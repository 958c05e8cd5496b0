/*
 * lagrange.c: lower bound by Lagrangian relaxation.
 *
 * Each row of type i gets a price y_i <= c_i in place of the constraint that it
 * is in one class.  An instance then decides alone whether to open,
 *     g_f(y) = min sum_i (w_f - y_i) x_i,  k <= sum_i x_i,  0 <= x_i <= n_i,
 *     L(y) = sum_i n_i y_i + sum_f min(0, g_f(y))
 * and L is a lower bound on the cost for every y.  (Where a class needs l different values,
 * too, the dearest row of each of the dearest values that are still missing comes first:
 * the constraint has k rows, and what each value can give is a capacity.  Where instances are
 * in groups of which only some open, those of least g_f do.)  The subproblems have integral
 * optima, so max L is the bound of the linear relaxation with x_if <= n_i u_f.
 * Subgradient steps as in M. Held, P. Wolfe, H. Crowder, "Validation of
 * subgradient optimization", 1974, deflected as in P. Camerini, L. Fratta,
 * F. Maffioli, "On improving relaxation methods by modified gradient
 * techniques", 1975; on the instances with small g_f only, with a full pass
 * from time to time: L counts only from those.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/program_model.h"
#include "util/scratch.h"
#include "util/sort.h"

/* Steps between two full passes. */
#define PASS_STEPS 30

/*
 * Steps that go on from good prices begin longer than those before have ended, as they got shorter for want of
 * a better bound, and no shorter than this: at full length they would only lead away.
 */
#define LONGER 1.5
#define SHORT 0.05

/* Pairs above which steps on a sixth of them take too long. */
#define VERY_MANY (10 * 1000 * 1000)

typedef struct Lagrange
{
	KanonScratch scratch;
	const IlpModel *model;
	const IlpBox *box; /* prices stay within; NULL: anywhere below c */
	KanonPace *pace;
	double *y;
	double *slack;      /* [m] the subgradient */
	double *dir;        /* [m] deflected */
	double *trial;      /* [m] best y on the active set since the last pass */
	IlpCandidate *cand; /* [m] scratch */
	uint32_t *active;   /* [nf] */
	uint32_t nactive;
	double *g; /* [nf] the prices' own; between passes over all g_f of the active ones, in their order */
	KanonKeyed *gains; /* with groups: [nf] those that would open, by g_f, and as much scratch */
	uint32_t *left;    /* [ngroups] of each that may yet open */

	/* with values_needed, by value: the instance at hand is number `asked` */
	uint32_t asked;
	uint32_t *has;    /* [nvalues] asked: it has it; */
	uint32_t *offers; /* [nvalues] asked: it could, by the candidate dearest[] */
	size_t *dearest;
	uint32_t *offered; /* [nvalues] those values */
} Lagrange;

double
ilp_take_dearest(const IlpModel *model, IlpCandidate *c, size_t n, int64_t need, double w, double *slack)
{
	size_t lo = 0;
	double sum = 0;

	/* invariant: all before lo are taken, and are no cheaper than the rest */
	while (need > 0 && n > lo)
	{
		double pivot = c[lo + (n - lo) / 2].y;
		size_t gt = lo;
		size_t eq;
		int64_t rows = 0;

		for (size_t j = lo; j < n; j++)
			if (c[j].y > pivot)
			{
				IlpCandidate swap = c[gt];

				c[gt] = c[j];
				c[j] = swap;
				rows += model->n[c[gt++].i];
			}
		if (rows >= need && gt > lo)
		{
			if (rows == need || gt - lo == 1)
			{
				n = gt;
				/* all of them, the last only in part */
				for (; lo < n; lo++)
				{
					int64_t take = model->n[c[lo].i] < need ? model->n[c[lo].i] : need;

					sum += (w - c[lo].y) * (double) take;
					need -= take;
					if (slack != NULL)
						slack[c[lo].i] -= (double) take;
				}
				break;
			}
			n = gt;
			continue;
		}
		for (; lo < gt; lo++)
		{
			sum += (w - c[lo].y) * (double) model->n[c[lo].i];
			need -= model->n[c[lo].i];
			if (slack != NULL)
				slack[c[lo].i] -= (double) model->n[c[lo].i];
		}
		eq = lo;
		for (size_t j = lo; j < n; j++)
			if (c[j].y == pivot)
			{
				IlpCandidate swap = c[eq];

				c[eq] = c[j];
				c[j] = swap;
				eq++;
			}
		for (; lo < eq && need > 0; lo++)
		{
			int64_t take = model->n[c[lo].i] < need ? model->n[c[lo].i] : need;

			sum += (w - c[lo].y) * (double) take;
			need -= take;
			if (slack != NULL)
				slack[c[lo].i] -= (double) take;
		}
		lo = eq;
	}
	return sum;
}

/*
 * The rows by which an instance gets the values that it lacks beside the rows that gain in it
 * (of which it has *rows): their sum of w - y, INFINITY when there are too few values.  A type
 * with no other row is no candidate any more.
 */
static double
take_values(Lagrange *l, uint32_t f, size_t ncand, int64_t *rows, double *slack)
{
	const IlpModel *model = l->model;
	double w = model->w[f];
	uint32_t asked = ++l->asked;
	uint32_t have = 0;
	uint32_t noffered = 0;
	double sum = 0;

	for (size_t p = model->start[f]; p < model->start[f + 1] && have < model->values_needed; p++)
	{
		uint32_t i = model->type[p];

		if (l->y[i] > w && l->has[model->value[i]] != asked)
		{
			l->has[model->value[i]] = asked;
			have++;
		}
	}
	if (have >= model->values_needed)
		return 0;
	for (size_t j = 0; j < ncand; j++)
	{
		uint32_t value = model->value[l->cand[j].i];

		if (l->has[value] == asked)
			continue;
		if (l->offers[value] != asked)
		{
			l->offers[value] = asked;
			l->dearest[value] = j;
			l->offered[noffered++] = value;
		}
		else if (l->cand[j].y > l->cand[l->dearest[value]].y)
			l->dearest[value] = j;
	}
	for (; have < model->values_needed; have++)
	{
		uint32_t best = 0;
		IlpCandidate *taken;

		if (noffered == 0)
			return INFINITY;
		for (uint32_t o = 1; o < noffered; o++)
			if (l->cand[l->dearest[l->offered[o]]].y > l->cand[l->dearest[l->offered[best]]].y)
				best = o;
		taken = &l->cand[l->dearest[l->offered[best]]];
		l->offered[best] = l->offered[--noffered];
		sum += w - taken->y;
		++*rows;
		if (slack != NULL)
			slack[taken->i] -= 1;
		if (model->n[taken->i] == 1)
			taken->y = -INFINITY;
	}
	return sum;
}

/* g_f(y); takes the rows chosen off slack when that is given and g_f is negative. */
static double
lagrange_cost(Lagrange *l, uint32_t f, double *slack)
{
	const IlpModel *model = l->model;
	const double *y = l->y;
	double w = model->w[f];
	double g = 0;
	double top = -INFINITY;
	int64_t rows = 0;
	int64_t gaining;
	size_t n = 0;

	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];

		if (y[i] > w)
		{
			g += (w - y[i]) * (double) model->n[i];
			rows += model->n[i];
		}
		else
		{
			l->cand[n++] = (IlpCandidate){y[i], i};
			top = kanon_max(top, y[i]);
		}
	}
	gaining = rows;
	if (model->values_needed > 0)
		g += take_values(l, f, n, &rows, NULL);
	if (g == INFINITY)
		return slack != NULL ? 0 : INFINITY;
	if (rows < model->k)
	{
		double need = (double) (model->k - rows);

		if (slack != NULL && g + need * (w - top) >= 0)
			return 0; /* not open, however cheap the rest were */
		g += ilp_take_dearest(model, l->cand, n, model->k - rows, w, NULL);
	}
	if (slack != NULL && g < 0)
	{
		n = 0;
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
		{
			uint32_t i = model->type[p];

			if (y[i] > w)
				slack[i] -= (double) model->n[i];
			else if (rows < model->k || rows > gaining)
				l->cand[n++] = (IlpCandidate){y[i], i};
		}
		rows = gaining;
		if (model->values_needed > 0)
			take_values(l, f, n, &rows, slack);
		if (rows < model->k)
			ilp_take_dearest(model, l->cand, n, model->k - rows, w, slack);
	}
	return g;
}

/* Moves the gains that open to the front of the first n; returns their sum. */
static double
open_of_groups(Lagrange *l, uint32_t *n)
{
	const IlpModel *model = l->model;
	uint32_t opened = 0;
	double sum = 0;

	kanon_sort(l->gains, l->gains + model->nf, *n, sizeof(*l->gains), kanon_compare_keyed, NULL);
	memcpy(l->left, model->limit, model->ngroups * sizeof(*l->left));
	for (uint32_t j = 0; j < *n; j++)
	{
		uint32_t *left = &l->left[model->group[l->gains[j].item]];

		if (*left == 0)
			continue;
		--*left;
		sum += l->gains[j].key;
		l->gains[opened++] = l->gains[j];
	}
	*n = opened;
	return sum;
}

/* g_f(y) of the active instances, whose rows go off slack unless that is NULL, or of all. */
static KanonStatus
find_costs(Lagrange *l, bool active, double *slack, double *g)
{
	const IlpModel *model = l->model;
	uint32_t n = active ? l->nactive : model->nf;

	for (uint32_t a = 0; a < n; a++)
	{
		uint32_t f = active ? l->active[a] : a;

		g[a] = lagrange_cost(l, f, slack);
		if (kanon_step(l->pace, (int64_t) (model->start[f + 1] - model->start[f]) * 8))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* Their share of L, in their order; with groups *n is how many open, which come first in l->gains. */
static double
sum_costs(Lagrange *l, bool active, const double *g, double sum, uint32_t *n)
{
	const IlpModel *model = l->model;
	uint32_t count = active ? l->nactive : model->nf;

	*n = 0;
	for (uint32_t a = 0; a < count; a++)
		if (model->group == NULL)
			sum += kanon_min(0, g[a]);
		else if (g[a] < 0)
			l->gains[(*n)++] = (KanonKeyed){g[a], active ? l->active[a] : a};
	return model->group == NULL ? sum : sum + open_of_groups(l, n);
}

/* All g_f(y) and L(y). */
static KanonStatus
full_pass(Lagrange *l, double *g, double *bound)
{
	const IlpModel *model = l->model;
	double sum = model->base;
	uint32_t opened;
	KanonStatus status = find_costs(l, false, NULL, g);

	for (uint32_t i = 0; i < model->m; i++)
		sum += (double) model->n[i] * l->y[i];
	if (status == KANON_OK)
		*bound = sum_costs(l, false, g, sum, &opened);
	return status;
}

/*
 * The instances to step on: those with g_f below a threshold that leaves about
 * a sixth of the pairs (of very many, fewer), and at least all that nearly open.
 */
static void
choose_active(Lagrange *l, const double *g, double spread)
{
	const IlpModel *model = l->model;
	size_t pairs = model->start[model->nf];
	size_t share = pairs > VERY_MANY ? pairs / 24 : pairs / 6;
	size_t want = share > 200000 ? share : 200000;
	double threshold = INFINITY;

	if (pairs > want)
	{
		size_t count[64] = {0};
		size_t sum = 0;
		int b;

		for (uint32_t f = 0; f < model->nf; f++)
		{
			double at = g[f] <= 0 ? 0 : g[f] / spread * 16;

			count[at < 63 ? (int) at : 63] += model->start[f + 1] - model->start[f];
		}
		for (b = 0; b < 63 && (sum += count[b]) < want; b++)
			;
		threshold = (b + 1) * spread / 16;
	}
	l->nactive = 0;
	for (uint32_t f = 0; f < model->nf; f++)
		if (g[f] < threshold)
			l->active[l->nactive++] = f;
}

/* L on the active set, and its subgradient. */
static KanonStatus
active_pass(Lagrange *l, double *value)
{
	const IlpModel *model = l->model;
	double sum = model->base;
	uint32_t opened;
	KanonStatus status;

	for (uint32_t i = 0; i < model->m; i++)
	{
		sum += (double) model->n[i] * l->y[i];
		l->slack[i] = (double) model->n[i];
	}
	status = find_costs(l, true, model->group == NULL ? l->slack : NULL, l->g);
	if (status != KANON_OK)
		return status;
	*value = sum_costs(l, true, l->g, sum, &opened);
	for (uint32_t j = 0; j < opened; j++)
		lagrange_cost(l, l->gains[j].item, l->slack);
	return KANON_OK;
}

/* Between what a price may move. */
static double
highest(const Lagrange *l, uint32_t i)
{
	return l->box == NULL ? l->model->c[i] : l->box->high[i];
}

static double
lowest(const Lagrange *l, uint32_t i)
{
	return l->box == NULL ? -INFINITY : l->box->low[i];
}

/* One step; lambda scales Polyak's step length. */
static void
step(Lagrange *l, double gap, double lambda, bool first)
{
	const IlpModel *model = l->model;
	double dot = 0;
	double old = 0;
	double norm = 0;
	double beta;
	double length;

	for (uint32_t i = 0; i < model->m; i++)
	{
		double n = (double) model->n[i];

		/* at its limit a price cannot rise: the fallback takes the rows left */
		if ((l->slack[i] > 0 && l->y[i] >= highest(l, i)) || (l->slack[i] < 0 && l->y[i] <= lowest(l, i)))
			l->slack[i] = 0;
		if (first)
			l->dir[i] = 0;
		dot += l->slack[i] * l->dir[i] / n;
		old += l->dir[i] * l->dir[i] / n;
	}
	beta = dot < 0 && old > 0 ? -1.5 * dot / old : 0;
	for (uint32_t i = 0; i < model->m; i++)
	{
		l->dir[i] = l->slack[i] + beta * l->dir[i];
		norm += l->dir[i] * l->dir[i] / (double) model->n[i];
	}
	if (norm <= 0)
		return;
	length = lambda * gap / norm;
	for (uint32_t i = 0; i < model->m; i++)
		l->y[i] = kanon_max(lowest(l, i),
							kanon_min(highest(l, i), l->y[i] + length * l->dir[i] / (double) model->n[i]));
	l->pace->work += (int64_t) model->m * 4;
}

static bool
lagrange_alloc(Lagrange *l, IlpPrices *prices)
{
	const IlpModel *model = l->model;
	KanonScratch *scratch = &l->scratch;
	KanonEnv *env = model->env;

	l->y = kanon_take(scratch, model->m, sizeof(*l->y));
	l->slack = kanon_take(scratch, model->m, sizeof(*l->slack));
	l->dir = kanon_take(scratch, model->m, sizeof(*l->dir));
	l->trial = kanon_take(scratch, model->m, sizeof(*l->trial));
	l->cand = kanon_take(scratch, model->m, sizeof(*l->cand));
	l->active = kanon_take(scratch, model->nf, sizeof(*l->active));
	if (model->values_needed > 0)
	{
		l->has = kanon_take0(scratch, model->nvalues, sizeof(*l->has));
		l->offers = kanon_take0(scratch, model->nvalues, sizeof(*l->offers));
		l->dearest = kanon_take(scratch, model->nvalues, sizeof(*l->dearest));
		l->offered = kanon_take(scratch, model->nvalues, sizeof(*l->offered));
	}
	if (model->group != NULL)
	{
		l->gains = kanon_take(scratch, model->nf, 2 * sizeof(*l->gains));
		l->left = kanon_take(scratch, model->ngroups, sizeof(*l->left));
	}
	if (prices->g == NULL)
		prices->g = kanon_alloc(env, model->nf, sizeof(*prices->g));
	l->g = prices->g;
	if (scratch->failed || prices->g == NULL)
		return false;
	if (prices->y == NULL)
	{
		prices->y = kanon_alloc(env, model->m, sizeof(*prices->y));
		if (prices->y == NULL)
			return false;
		for (uint32_t i = 0; i < model->m; i++)
		{
			prices->y[i] = model->c[i];
			if (model->opt_start[i] < model->opt_start[i + 1])
				prices->y[i] = kanon_min(model->c[i], model->w[model->opt[model->opt_start[i]]]);
		}
	}
	return true;
}

double
ilp_steps_on(const IlpPrices *prices)
{
	return prices->lambda > 0 ? kanon_min(1, kanon_max(SHORT, LONGER * prices->lambda)) : 0;
}

void
ilp_prices_free(KanonEnv *env, IlpPrices *prices)
{
	kanon_free(env, prices->y);
	kanon_free(env, prices->g);
	memset(prices, 0, sizeof(*prices));
}

/* Steps on one active set, from l->y; the best y on it goes to l->trial. */
static KanonStatus
run_steps(Lagrange *l, double upper, double *lambda, int *stalled, double *reached)
{
	double best = -INFINITY;

	for (int s = 0; s < PASS_STEPS && !l->pace->late; s++)
	{
		double value;
		KanonStatus status = active_pass(l, &value);

		if (status != KANON_OK)
			return status;
		if (value > best)
		{
			best = value;
			memcpy(l->trial, l->y, l->model->m * sizeof(*l->y));
		}
		if (value > *reached + 1e-5 * fabs(upper))
		{
			*reached = value;
			*stalled = 0;
		}
		else if (++*stalled > 12)
		{
			*lambda *= 0.7;
			*stalled = 0;
		}
		if (value >= upper)
			break;
		step(l, kanon_max(upper - value, 1e-4 * fabs(upper)), *lambda, s == 0);
	}
	return KANON_OK;
}

KanonStatus
ilp_price(const IlpModel *model, IlpPrices *prices, KanonPace *pace)
{
	Lagrange l = {.scratch = {.env = model->env}, .model = model, .pace = pace};
	KanonStatus status = KANON_NO_MEMORY;

	if (lagrange_alloc(&l, prices))
	{
		memcpy(l.y, prices->y, model->m * sizeof(*l.y));
		status = full_pass(&l, prices->g, &prices->bound);
	}
	kanon_scratch_free(&l.scratch);
	return status;
}

KanonStatus
ilp_lagrange(const IlpModel *model, double upper, int64_t steps, IlpPrices *prices, KanonPace *pace)
{
	prices->lambda = 0;
	return ilp_lagrange_within(model, NULL, upper, steps, prices, pace);
}

KanonStatus
ilp_lagrange_within(const IlpModel *model, const IlpBox *box, double upper, int64_t steps, IlpPrices *prices,
					KanonPace *pace)
{
	Lagrange l = {.scratch = {.env = model->env}, .model = model, .box = box, .pace = pace};
	KanonStatus status = KANON_NO_MEMORY;
	double lambda = prices->lambda > 0 ? prices->lambda : 1;
	double reached = -INFINITY;
	int stalled = 0;
	double spread = 0;

	if (lagrange_alloc(&l, prices))
	{
		memcpy(l.y, prices->y, model->m * sizeof(*l.y));
		status = full_pass(&l, prices->g, &prices->bound);
	}
	for (uint32_t i = 0; i < model->m; i++)
		spread = kanon_max(spread, model->c[i]);
	spread = kanon_max(spread * (double) (model->k < 10 ? model->k : 10), 1e-9);
	if (status == KANON_OK)
		choose_active(&l, prices->g, spread);
	while (status == KANON_OK && prices->steps < steps && lambda > 0.004 && !pace->late &&
		   ilp_round_up(model, prices->bound) < upper - 1e-9 * fabs(upper))
	{
		double bound;
		double *swap;

		kanon_pace_done(pace, (double) prices->steps / (double) steps);
		status = run_steps(&l, upper, &lambda, &stalled, &reached);
		prices->steps += PASS_STEPS;
		if (status != KANON_OK)
			break;
		/* the true bound there; the next steps start there, too */
		swap = l.y;
		l.y = l.trial;
		l.trial = swap;
		status = full_pass(&l, prices->g, &bound);
		if (status != KANON_OK)
			break;
		reached = kanon_min(reached, bound + 1e-3 * fabs(upper));
		if (bound > prices->bound)
		{
			prices->bound = bound;
			memcpy(prices->y, l.y, model->m * sizeof(*l.y));
		}
		choose_active(&l, prices->g, spread);
	}
	prices->lambda = lambda;
	/* g belongs to the best y */
	if (status == KANON_OK)
	{
		memcpy(l.y, prices->y, model->m * sizeof(*l.y));
		status = full_pass(&l, prices->g, &prices->bound);
	}
	kanon_scratch_free(&l.scratch);
	return status;
}
