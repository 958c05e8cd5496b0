/*
 * cluster_branch.c: pattern clustering of any size: branch and bound by prices.
 *
 * R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip, "Pattern-Guided Data
 * Anonymization and Clustering", MFCS 2011: for few patterns p there are no more than
 * (t + 1)^p choices of classes.  Most need not be looked at.  Once rows have prices y,
 * each class decides alone what it saves (lagrange.c), and a pattern has only as many
 * classes as it is listed, so that
 *
 *     L(y) = sum_i n_i y_i + sum_f open g_f(y) + sum_p (the least g_f < 0 of p, as many as it is listed)
 *
 * is a lower bound at any y.  At the root y is sought by subgradient steps.  Below,
 * a row never pays more than the cheapest class that is open to it: lower prices there
 * leave L as it is for the classes that are open, and what a further one saves is what it
 * saves beside these (as in G. Nemhauser, L. Wolsey, M. Fisher, "An analysis of
 * approximations for maximizing submodular set functions", 1978).  A node opens the class
 * that saves most, then closes it for good; a flow says what the classes open really cost.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cluster/cluster_patterns.h"
#include "pattern/program/program_model.h"
#include "util/sort.h"

/* Subgradient steps. */
#define STEPS 600

/* The share of the time left for prices and the local search. */
#define PRICES_TIME 0.5

/* Row types looked at by local search, at most. */
#define SEARCHED ((int64_t) 1 << 31)

/* Classes opened one within the other, at most: the search goes that deep. */
#define DEEPEST 1000

/* Nodes after the first dive where not all patterns are listed. */
#define DIVES 100

typedef struct Price
{
	uint32_t i;
	double y;
} Price;

typedef struct Branch
{
	Clusters *c;
	KanonScratch scratch;
	IlpModel model;   /* the clustering's, with groups; owns nothing */
	double *y;        /* [m] prices here */
	double *highest;  /* [m] of a row that no class takes */
	double *least;    /* [m] scratch */
	double *g;        /* [nf] what it costs to open a class, at the least */
	bool *open;       /* [nf] */
	bool *closed;     /* [nf] */
	uint32_t *takers; /* [m] classes open to a type */
	uint32_t nowhere; /* types that have none */
	uint32_t *left;   /* [npatterns] classes that a pattern may still have */
	uint32_t *spare;  /* [npatterns] scratch, */
	double *last;     /* and more of it */
	uint32_t *live;   /* classes that some better release may use */
	uint32_t nlive;
	KanonKeyed *gains;  /* [2 * nf] scratch */
	IlpCandidate *cand; /* [m] scratch */
	IlpList opened;
	IlpList shut; /* closed at this node and above */
	Price *before;
	size_t nbefore, room;
	double ceiling; /* no release costs more */
	size_t deepest; /* classes open together so far */
	double beyond;  /* the least bound of what was not looked at */
} Branch;

/* Releases above this do not count. */
static double
cutoff_of(const Branch *b)
{
	return b->c->result.cost < INFINITY ? clusters_cutoff(b->c) : b->ceiling * (1 + 1e-9);
}

static bool
is_beyond(const Branch *b, double bound)
{
	return ilp_round_up(&b->model, bound) > cutoff_of(b);
}

/* g_f at the prices here; where it is not below 0, a lower estimate. */
static double
price_of(Branch *b, uint32_t f)
{
	const IlpModel *model = &b->model;
	double w = model->w[f], g = 0, top = -INFINITY;
	int64_t rows = 0;
	size_t n = 0;

	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];

		if (b->y[i] > w)
		{
			g += (w - b->y[i]) * (double) model->n[i];
			rows += model->n[i];
		}
		else if (rows < model->k)
		{
			b->cand[n++] = (IlpCandidate){b->y[i], i};
			top = kanon_max(top, b->y[i]);
		}
	}
	if (rows >= model->k)
		return g;
	if (!b->open[f] && g + (double) (model->k - rows) * (w - top) >= 0)
		return g + (double) (model->k - rows) * (w - top);
	return g + ilp_take_dearest(model, b->cand, n, model->k - rows, w, NULL);
}

static bool
is_free(const Branch *b, uint32_t f)
{
	return !b->open[f] && !b->closed[f] && b->left[b->model.group[f]] > 0;
}

/* L here, and g of what is open or may be. */
static KanonStatus
bound_here(Branch *b, double *bound)
{
	const IlpModel *model = &b->model;
	double sum = model->base, size = fabs(model->base);
	uint32_t n = 0;

	for (uint32_t i = 0; i < model->m; i++)
	{
		double cost = (double) model->n[i] * b->y[i];

		sum += cost;
		size += fabs(cost);
	}
	for (uint32_t j = 0; j < b->nlive; j++)
	{
		uint32_t f = b->live[j];

		if (!b->open[f] && !is_free(b, f))
			continue;
		b->g[f] = price_of(b, f);
		if (b->open[f])
			sum += b->g[f];
		else if (b->g[f] < 0)
			b->gains[n++] = (KanonKeyed){b->g[f], f};
		if (kanon_step(&b->c->pace, (int64_t) (model->start[f + 1] - model->start[f]) * 8))
			return KANON_CANCELLED;
	}
	kanon_sort(b->gains, b->gains + model->nf, n, sizeof(*b->gains), kanon_compare_keyed, NULL);
	memcpy(b->spare, b->left, model->ngroups * sizeof(*b->spare));
	for (uint32_t j = 0; j < n; j++)
	{
		uint32_t *left = &b->spare[model->group[b->gains[j].item]];

		if (*left > 0)
		{
			--*left;
			sum += b->gains[j].key;
		}
	}
	/* by which adding up may be wrong */
	*bound = sum - DBL_EPSILON * (double) model->m * size;
	return kanon_step(&b->c->pace, (int64_t) model->m * 4) ? KANON_CANCELLED : KANON_OK;
}

static bool
open_class(Branch *b, uint32_t f)
{
	const IlpModel *model = &b->model;
	size_t most = b->nbefore + (model->start[f + 1] - model->start[f]);

	if (!kanon_enlarge(model->env, &b->before, &b->room, most, sizeof(*b->before)) ||
		!ilp_list_add(model->env, &b->opened, f))
		return false;
	b->open[f] = true;
	b->left[model->group[f]]--;
	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];

		b->nowhere -= b->takers[i]++ == 0;
		if (b->y[i] <= model->w[f])
			continue;
		b->before[b->nbefore++] = (Price){i, b->y[i]};
		b->y[i] = model->w[f];
	}
	return true;
}

/* The last one that was opened, when there were so many prices before. */
static void
take_back(Branch *b, size_t before)
{
	const IlpModel *model = &b->model;
	uint32_t f = b->opened.v[--b->opened.n];

	b->open[f] = false;
	b->left[model->group[f]]++;
	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
		b->nowhere += --b->takers[model->type[p]] == 0;
	while (b->nbefore > before)
	{
		b->nbefore--;
		b->y[b->before[b->nbefore].i] = b->before[b->nbefore].y;
	}
}

/*
 * Makes a release of the open classes, if they take all rows and rows without regard to k do not
 * cost too much in them.
 */
static KanonStatus
offer_open(Branch *b)
{
	const IlpModel *model = &b->model;
	double *least = b->least;
	double sum = model->base;

	if (b->nowhere > 0)
		return KANON_OK;
	for (uint32_t i = 0; i < model->m; i++)
		least[i] = INFINITY;
	for (size_t j = 0; j < b->opened.n; j++)
		for (size_t p = model->start[b->opened.v[j]]; p < model->start[b->opened.v[j] + 1]; p++)
			least[model->type[p]] = kanon_min(least[model->type[p]], model->w[b->opened.v[j]]);
	for (uint32_t i = 0; i < model->m; i++)
		sum += (double) model->n[i] * least[i];
	if (is_beyond(b, sum * (1 - 1e-9)))
		return KANON_OK;
	return clusters_offer(b->c, &b->opened);
}

/* With only some of the patterns nothing can be proven, and a few dives find most of the gain. */
static bool
is_over(const Branch *b)
{
	return b->c->pace.late || (!b->c->enough && b->c->nodes > DIVES + (int64_t) b->deepest);
}

/* The free class that costs least to open; nf: there is none. */
static uint32_t
cheapest(const Branch *b)
{
	uint32_t best = b->model.nf;

	for (uint32_t j = 0; j < b->nlive; j++)
	{
		uint32_t f = b->live[j];

		if (is_free(b, f) && (best == b->model.nf || b->g[f] < b->g[best]))
			best = f;
	}
	return best;
}

/* All releases that use the classes open and none of those closed. */
static KanonStatus
visit(Branch *b)
{
	size_t shut = b->shut.n;
	KanonStatus status = offer_open(b);

	b->c->nodes++;
	if (b->opened.n > b->deepest)
		b->deepest = b->opened.n;
	while (status == KANON_OK)
	{
		size_t before = b->nbefore;
		double bound;
		uint32_t f;

		status = bound_here(b, &bound);
		if (status != KANON_OK || is_beyond(b, bound))
			break;
		if (b->c->result.cost < INFINITY && bound >= (1 - b->c->problem->gap) * b->c->result.cost)
		{
			b->beyond = kanon_min(b->beyond, bound);
			break;
		}
		f = cheapest(b);
		/* all is decided, and was offered */
		if (f == b->model.nf)
			break;
		if (b->opened.n < DEEPEST && !is_over(b))
		{
			if (!open_class(b, f))
				return KANON_NO_MEMORY;
			status = visit(b);
			take_back(b, before);
		}
		if (b->opened.n == DEEPEST || is_over(b))
		{
			b->beyond = kanon_min(b->beyond, bound);
			break;
		}
		b->closed[f] = true;
		if (status == KANON_OK && !ilp_list_add(b->model.env, &b->shut, f))
			status = KANON_NO_MEMORY;
	}
	while (b->shut.n > shut)
		b->closed[b->shut.v[--b->shut.n]] = false;
	return status;
}

/* From here on the prices are these, and nothing is open. */
static void
start_from(Branch *b, const double *y)
{
	while (b->opened.n > 0)
		take_back(b, 0);
	memcpy(b->y, y, b->model.m * sizeof(*b->y));
}

/*
 * Local search: classes that save most beside those that are open, then each in turn exchanged
 * for the one that saves most in its place.
 */
static KanonStatus
search(Branch *b)
{
	const IlpModel *model = &b->model;
	int64_t end = kanon_worked(&b->c->pace) + SEARCHED;
	KanonStatus status = KANON_OK;
	size_t same = 0;
	double bound;

	start_from(b, b->highest);
	while (status == KANON_OK && (status = bound_here(b, &bound)) == KANON_OK && !b->c->pace.late)
	{
		uint32_t f = cheapest(b);

		if (f == model->nf || b->g[f] >= 0 || kanon_worked(&b->c->pace) > end)
			break;
		if (!open_class(b, f))
			status = KANON_NO_MEMORY;
	}
	while (status == KANON_OK && same < b->opened.n && !b->c->pace.late && kanon_worked(&b->c->pace) <= end)
	{
		uint32_t old = b->opened.v[0], f;

		/* the first goes, the others are opened again in their order; what comes in its place is last */
		memcpy(b->y, b->highest, model->m * sizeof(*b->y));
		b->nbefore = 0;
		memmove(b->opened.v, b->opened.v + 1, (b->opened.n - 1) * sizeof(*b->opened.v));
		b->opened.v[b->opened.n - 1] = old;
		take_back(b, 0);
		for (size_t j = 0; j < b->opened.n; j++)
			for (size_t p = model->start[b->opened.v[j]]; p < model->start[b->opened.v[j] + 1]; p++)
				b->y[model->type[p]] = kanon_min(b->y[model->type[p]], model->w[b->opened.v[j]]);
		status = bound_here(b, &bound);
		if (status != KANON_OK)
			break;
		f = cheapest(b);
		if (b->g[f] >= b->g[old] - 1e-9 * fabs(b->g[old]))
			f = old;
		same = f == old ? same + 1 : 0;
		if (!open_class(b, f))
			status = KANON_NO_MEMORY;
	}
	if (status == KANON_OK)
		status = offer_open(b);
	return status;
}

/*
 * Without the classes that no better release opens: one that its pattern does not open at these
 * prices adds its g, and takes the place of the one that saves least if they are as many as it is listed.
 */
static void
drop_hopeless(Branch *b, double bound)
{
	const IlpModel *model = &b->model;
	uint32_t n = 0, kept = 0;

	memset(b->last, 0, model->ngroups * sizeof(*b->last));
	for (uint32_t j = 0; j < b->nlive; j++)
		if (b->g[b->live[j]] < 0)
			b->gains[n++] = (KanonKeyed){b->g[b->live[j]], b->live[j]};
	kanon_sort(b->gains, b->gains + model->nf, n, sizeof(*b->gains), kanon_compare_keyed, NULL);
	memcpy(b->spare, b->left, model->ngroups * sizeof(*b->spare));
	for (uint32_t j = 0; j < n; j++)
	{
		uint32_t group = model->group[b->gains[j].item];

		if (b->spare[group] > 0 && --b->spare[group] == 0)
			b->last[group] = b->gains[j].key;
	}
	for (uint32_t j = 0; j < b->nlive; j++)
	{
		uint32_t f = b->live[j];

		if (is_beyond(b, bound + kanon_max(0, b->g[f] - b->last[model->group[f]])))
			b->closed[f] = true;
		else
			b->live[kept++] = f;
	}
	b->nlive = kept;
}

/* Good releases by local search, good prices by subgradient steps, then the branches. */
static KanonStatus
search_all(Branch *b, double *bound)
{
	Clusters *c = b->c;
	KanonPace *pace = &c->pace;
	KanonEnv *env = b->model.env;
	double end = pace->deadline, now = end > 0 ? env->now(env->arg) : 0;
	IlpBox box = {0};
	IlpPrices prices = {.bound = -INFINITY};
	KanonStatus status;

	if (end > 0)
		pace->deadline = now + PRICES_TIME * (end - now);
	prices.y = kanon_alloc(env, b->model.m, sizeof(*prices.y));
	box.low = kanon_take(&b->scratch, b->model.m, sizeof(*box.low));
	box.high = kanon_take(&b->scratch, b->model.m, sizeof(*box.high));
	status = prices.y == NULL || b->scratch.failed ? KANON_NO_MEMORY : search(b);
	for (uint32_t i = 0; i < b->model.m && status == KANON_OK; i++)
	{
		prices.y[i] = b->highest[i];
		box.low[i] = -INFINITY;
		box.high[i] = INFINITY;
	}
	if (status == KANON_OK)
		status =
			ilp_lagrange_within(&b->model, &box, kanon_min(c->result.cost, b->ceiling), STEPS, &prices, pace);
	if (status == KANON_OK)
	{
		pace->deadline = end;
		pace->late = false;
		start_from(b, prices.y);
		status = bound_here(b, bound);
	}
	if (status == KANON_OK)
	{
		kanon_pace_gap(pace, 0, *bound, c->result.cost);
		drop_hopeless(b, *bound);
		status = visit(b);
	}
	ilp_prices_free(env, &prices);
	return status;
}

KanonStatus
clusters_branch(Clusters *c, double *bound)
{
	Branch b = {.c = c, .scratch = {.env = c->problem->env}, .model = c->model, .beyond = INFINITY};
	IlpModel *model = &b.model;
	KanonScratch *scratch = &b.scratch;
	KanonStatus status;

	model->group = c->group;
	model->limit = c->limit;
	model->ngroups = c->npatterns;
	b.nowhere = model->m;
	b.nlive = model->nf;
	b.y = kanon_take(scratch, model->m, sizeof(*b.y));
	b.highest = kanon_take0(scratch, model->m, sizeof(*b.highest));
	b.least = kanon_take(scratch, model->m, sizeof(*b.least));
	b.takers = kanon_take0(scratch, model->m, sizeof(*b.takers));
	b.cand = kanon_take(scratch, model->m, sizeof(*b.cand));
	b.g = kanon_take(scratch, model->nf, sizeof(*b.g));
	b.open = kanon_take0(scratch, model->nf, sizeof(*b.open));
	b.closed = kanon_take0(scratch, model->nf, sizeof(*b.closed));
	b.live = kanon_take(scratch, model->nf, sizeof(*b.live));
	b.gains = kanon_take(scratch, model->nf, 2 * sizeof(*b.gains));
	b.left = kanon_take(scratch, model->ngroups, sizeof(*b.left));
	b.spare = kanon_take(scratch, model->ngroups, sizeof(*b.spare));
	b.last = kanon_take(scratch, model->ngroups, sizeof(*b.last));
	status = kanon_taken(scratch);
	if (status == KANON_OK)
	{
		memcpy(b.left, c->limit, model->ngroups * sizeof(*b.left));
		b.ceiling = model->base;
		for (uint32_t f = 0; f < model->nf; f++)
		{
			b.live[f] = f;
			for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			{
				b.takers[model->type[p]] = 1;
				b.highest[model->type[p]] = kanon_max(b.highest[model->type[p]], model->w[f]);
			}
		}
		for (uint32_t i = 0; i < model->m; i++)
		{
			if (b.takers[i] == 0)
				status = clusters_none(c);
			b.ceiling += (double) model->n[i] * b.highest[i];
			/* to be in no class is worse than any */
			b.highest[i] += c->instances.all_cost;
			b.takers[i] = 0;
		}
	}
	if (status == KANON_OK)
		status = search_all(&b, bound);
	if (status == KANON_OK && c->enough && b.beyond == INFINITY && c->result.cost == INFINITY)
		status = clusters_none(c);
	if (status == KANON_OK)
		*bound = fmin(c->result.cost, fmax(*bound, ilp_round_up(model, b.beyond)));
	kanon_free(model->env, b.opened.v);
	kanon_free(model->env, b.shut.v);
	kanon_free(model->env, b.before);
	kanon_scratch_free(scratch);
	return status;
}
