/*
 * cluster_losses.c: pattern clustering where the least cost s is small: a search over the row
 * types that lose something, bounded by s.
 *
 * R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip, "Pattern-Guided Data Anonymization
 * and Clustering", MFCS 2011, name s, the number of suppressed entries, as a parameter; the
 * search tree is our own.  A type is spared that may have the class that costs it least for
 * itself: that class takes no other type, and its pattern is listed as often as there are such
 * classes.  All others are active.  With at most s suppressed entries no more than s rows lose
 * any.  So there are at most s active types, and no more may give their own class up.
 *
 * A release is told apart by the cheapest class open to each active type:
 * - A class that is the cheapest one open to no active type is of no use: its rows have a
 *   place that costs no more, and classes may be of any size above k.
 * - A spared type gives up its class to fill others, with rows of active types: of those that
 *   share classes with none, directly or by others of them, each can have its own class back.
 * So the classes of active types are chosen, type by type; then a flow assigns the rows, of
 * which spared types give what they have beyond k; then a type that could share a class with an
 * active one becomes active, too.  A branch that costs more than s at least is cut off. s grows
 * from its lower bound until it is the least cost.
 */
#include <math.h>
#include <string.h>

#include "cluster/cluster_patterns.h"

/* Active types at most: the search goes that deep. */
#define MAX_ACTIVE 1000

typedef struct Losses
{
	Clusters *c;
	KanonScratch scratch;
	uint32_t *own;    /* [m] class of a spared type, nf: it has none */
	uint32_t *left;   /* [npatterns] classes that a pattern may still have */
	uint32_t *closed; /* [nf] by the active type at this place of the order, from 1; 0: not */
	bool *open;       /* [nf] */
	uint32_t *takes;  /* [nf] active types that it could take */
	bool *active;     /* [m] */
	bool *stays;      /* [m] spared below this node */
	IlpList order;    /* active types */
	IlpList classes;  /* that are open to them */
	IlpList kept;     /* types that stay */
	IlpList offered;
	double spared;   /* what the spared types cost in their own classes, and */
	double highest;  /* the most that a row of them does */
	double cheapest; /* what a row in another class costs beyond that, at least */
	double giving;   /* what the next type costs that gives up its own, at least */
	int64_t rows;    /* of active types */
	double budget;   /* s */
	double beyond;   /* the least bound of what was cut off */
	double root;     /* all types in their cheapest classes */
	int64_t end;     /* nodes */
} Losses;

static bool
over(const Losses *s)
{
	return s->c->pace.late || s->c->nodes > s->end;
}

/*
 * Whether there may be something of at most s: by what the active types cost in the cheapest
 * classes open to them, and by what k rows cost in each class.
 */
static bool
fits(Losses *s, double cost)
{
	const IlpModel *model = &s->c->model;
	double filled = model->base + s->spared;
	int64_t more = s->rows - (int64_t) s->classes.n * model->k;

	for (size_t j = 0; j < s->classes.n; j++)
		filled += (double) model->k * fmax(0, model->w[s->classes.v[j]] - s->highest);
	filled += more > 0 ? (double) more * s->cheapest : 0;
	cost = fmax(cost, filled);
	if (cost <= s->budget)
		return true;
	s->beyond = fmin(s->beyond, cost);
	return false;
}

/* The cost of a type's rows in a class beyond their cheapest one. */
static double
loss(const IlpModel *model, uint32_t i, uint32_t f)
{
	return (double) model->n[i] * (model->w[f] - model->w[model->opt[model->opt_start[i]]]);
}

static bool
usable(const Losses *s, uint32_t i, uint32_t f)
{
	return f != s->own[i] && s->closed[f] == 0 && (s->open[f] || s->left[s->c->group[f]] > 0);
}

/* The cheapest class but its own that a type may have; nf: none. */
static uint32_t
second(const Losses *s, uint32_t i)
{
	const IlpModel *model = &s->c->model;

	for (size_t o = model->opt_start[i]; o < model->opt_start[i + 1]; o++)
		if (usable(s, i, model->opt[o]))
			return model->opt[o];
	return model->nf;
}

/* The cheapest of those that an active type may have, too; nf: none. */
static uint32_t
shared(const Losses *s, uint32_t i)
{
	const IlpModel *model = &s->c->model;

	for (size_t o = model->opt_start[i]; o < model->opt_start[i + 1]; o++)
		if (s->takes[model->opt[o]] > 0 && usable(s, i, model->opt[o]))
			return model->opt[o];
	return model->nf;
}

static void
set_active(Losses *s, uint32_t i, bool active)
{
	const IlpModel *model = &s->c->model;

	s->active[i] = active;
	s->rows += active ? model->n[i] : -model->n[i];
	for (size_t o = model->opt_start[i]; o < model->opt_start[i + 1]; o++)
		s->takes[model->opt[o]] += active ? 1 : -1;
}

static KanonStatus decide(Losses *s, size_t at, double cost);

/*
 * The types that this one could share a class with, each active in turn and spared in what comes
 * after.  A row of it at least shares one; where that costs too much, it may yet cost less
 * together with a type that becomes active after it.
 */
static KanonStatus
give_up(Losses *s, uint32_t with, double cost)
{
	const IlpModel *model = &s->c->model;
	KanonStatus status = KANON_OK;

	for (size_t o = model->opt_start[with]; o < model->opt_start[with + 1]; o++)
	{
		uint32_t f = model->opt[o];

		if (!usable(s, with, f))
			continue;
		for (size_t p = model->start[f]; p < model->start[f + 1] && !over(s); p++)
		{
			uint32_t i = model->type[p];
			uint32_t to, near;

			if (kanon_step(&s->c->pace, 4))
				return KANON_CANCELLED;
			if (s->own[i] == model->nf || s->active[i] || s->stays[i])
				continue;
			to = second(s, i);
			near = shared(s, i);
			if (to < model->nf && near < model->nf && fits(s, cost + loss(model, i, to)))
			{
				if (!fits(s, cost + loss(model, i, to) + model->w[near] - model->w[to]))
					continue;
				if (s->order.n == MAX_ACTIVE)
				{
					s->end = -1;
					return KANON_OK;
				}
				if (!ilp_list_add(model->env, &s->order, i))
					return KANON_NO_MEMORY;
				set_active(s, i, true);
				status = decide(s, s->order.n - 1, cost);
				set_active(s, i, false);
				s->order.n--;
			}
			if (status == KANON_OK && !ilp_list_add(model->env, &s->kept, i))
				status = KANON_NO_MEMORY;
			if (status != KANON_OK)
				return status;
			s->stays[i] = true;
		}
	}
	return status;
}

/* All active types have their classes. */
static KanonStatus
settle(Losses *s, double cost)
{
	const IlpModel *model = &s->c->model;
	size_t kept = s->kept.n;
	KanonStatus status = KANON_OK;

	s->offered.n = 0;
	for (size_t j = 0; j < s->classes.n && status == KANON_OK; j++)
		if (!ilp_list_add(model->env, &s->offered, s->classes.v[j]))
			status = KANON_NO_MEMORY;
	for (uint32_t i = 0; i < model->m && status == KANON_OK; i++)
		if (s->own[i] < model->nf && !s->active[i] && !ilp_list_add(model->env, &s->offered, s->own[i]))
			status = KANON_NO_MEMORY;
	if (status == KANON_OK)
		status = clusters_offer(s->c, &s->offered);
	s->budget = fmin(s->budget, clusters_cutoff(s->c));
	if (status == KANON_OK && fits(s, cost + s->giving))
		for (size_t j = 0; j < s->order.n && status == KANON_OK && !over(s); j++)
			status = give_up(s, s->order.v[j], cost);
	while (s->kept.n > kept)
		s->stays[s->kept.v[--s->kept.n]] = false;
	return status;
}

/* Each class that may be the cheapest one open to the active type at this place, those that cost it less closed. */
static KanonStatus
decide(Losses *s, size_t at, double cost)
{
	const IlpModel *model = &s->c->model;
	KanonStatus status = KANON_OK;
	uint32_t i;

	s->c->nodes++;
	if (at == s->order.n)
		return settle(s, cost);
	i = s->order.v[at];
	for (size_t o = model->opt_start[i]; o < model->opt_start[i + 1] && status == KANON_OK && !over(s); o++)
	{
		uint32_t f = model->opt[o];
		bool new = !s->open[f];
		double then = cost + loss(model, i, f);

		if (kanon_step(&s->c->pace, 16 + (int64_t) s->classes.n))
			return KANON_CANCELLED;
		if (!usable(s, i, f))
			continue;
		if (new && !ilp_list_add(model->env, &s->classes, f))
			return KANON_NO_MEMORY;
		s->open[f] = true;
		s->left[s->c->group[f]] -= new;
		if (fits(s, then))
			status = decide(s, at + 1, then);
		s->left[s->c->group[f]] += new;
		s->open[f] = !new;
		s->classes.n -= new;
		/* one that others have open is the cheapest open to this type: there are no more ways */
		if (!new)
			break;
		s->closed[f] = (uint32_t) at + 1;
	}
	for (size_t o = model->opt_start[i]; o < model->opt_start[i + 1]; o++)
		if (s->closed[model->opt[o]] == at + 1)
			s->closed[model->opt[o]] = 0;
	return status;
}

/* Marks the types that are spared; *choices: the patterns that the others can choose. */
static KanonStatus
divide_types(Losses *s, double *choices)
{
	const IlpModel *model = &s->c->model;
	uint32_t *all = kanon_take0(&s->scratch, s->c->npatterns, sizeof(*all));

	if (all == NULL)
		return KANON_NO_MEMORY;
	*choices = 1;
	s->root = model->base;
	s->cheapest = s->giving = INFINITY;
	for (uint32_t f = 0; f < model->nf; f++)
		all[s->c->group[f]]++;
	for (uint32_t i = 0; i < model->m; i++)
	{
		size_t first = model->opt_start[i], ways = model->opt_start[i + 1] - first;
		uint32_t f = ways > 0 ? model->opt[first] : model->nf;

		s->own[i] = model->nf;
		if (ways > 0)
			s->root += (double) model->n[i] * model->w[f];
		if (ways > 0 && model->start[f + 1] - model->start[f] == 1 &&
			s->c->limit[s->c->group[f]] >= all[s->c->group[f]])
		{
			s->own[i] = f;
			s->spared += (double) model->n[i] * model->w[f];
			s->highest = fmax(s->highest, model->w[f]);
			if (ways > 1)
				s->giving = fmin(s->giving, loss(model, i, model->opt[first + 1]));
			continue;
		}
		*choices *= (double) ways;
		if (!ilp_list_add(model->env, &s->order, i))
			return KANON_NO_MEMORY;
	}
	for (uint32_t f = 0; f < model->nf; f++)
		if (model->start[f + 1] - model->start[f] > 1 || s->own[model->type[model->start[f]]] != f)
			s->cheapest = fmin(s->cheapest, fmax(0, model->w[f] - s->highest));
	return KANON_OK;
}

/* The same search with more and more to lose. */
static KanonStatus
deepen(Losses *s, double *bound)
{
	const IlpModel *model = &s->c->model;
	double most = s->root;
	KanonStatus status = KANON_OK;

	while (status == KANON_OK)
	{
		s->budget = fmin(most, clusters_cutoff(s->c));
		s->beyond = INFINITY;
		if (fits(s, s->root))
			status = decide(s, 0, s->root);
		if (status != KANON_OK || over(s))
			return status;
		*bound = fmin(s->c->result.cost, fmax(*bound, ilp_round_up(model, s->beyond)));
		kanon_pace_gap(&s->c->pace, s->root, *bound, s->c->result.cost);
		if (s->beyond == INFINITY || s->beyond > clusters_cutoff(s->c))
			break;
		most = fmax(s->beyond, s->root + fmax(2 * (most - s->root), (double) model->k * model->least));
	}
	if (status == KANON_OK && s->c->result.cost == INFINITY)
		return clusters_none(s->c);
	*bound = s->c->result.cost;
	return status;
}

KanonStatus
clusters_lose(Clusters *c, double most, double *bound)
{
	Losses s = {.c = c, .scratch = {.env = c->problem->env}, .end = c->nodes + (int64_t) CLUSTERS_CHOICES};
	IlpModel *model = &c->model;
	double choices = 0;
	KanonStatus status = ilp_model_transpose(model, &c->pace);

	s.own = kanon_take(&s.scratch, model->m, sizeof(*s.own));
	s.left = kanon_take(&s.scratch, c->npatterns, sizeof(*s.left));
	s.closed = kanon_take0(&s.scratch, model->nf, sizeof(*s.closed));
	s.takes = kanon_take0(&s.scratch, model->nf, sizeof(*s.takes));
	s.open = kanon_take0(&s.scratch, model->nf, sizeof(*s.open));
	s.active = kanon_take0(&s.scratch, model->m, sizeof(*s.active));
	s.stays = kanon_take0(&s.scratch, model->m, sizeof(*s.stays));
	if (status == KANON_OK)
		status = kanon_taken(&s.scratch);
	if (status == KANON_OK)
		status = divide_types(&s, &choices);
	if (status == KANON_OK && choices == 0)
		status = clusters_none(c);
	if (status == KANON_OK && (choices >= most || s.order.n > MAX_ACTIVE))
		status = KANON_TOO_LARGE;
	if (status == KANON_OK)
	{
		memcpy(s.left, c->limit, c->npatterns * sizeof(*s.left));
		for (size_t j = 0; j < s.order.n; j++)
			set_active(&s, s.order.v[j], true);
		status = deepen(&s, bound);
	}
	if (status == KANON_OK && c->nodes > s.end)
		status = KANON_TOO_LARGE;
	kanon_scratch_free(&s.scratch);
	kanon_free(model->env, s.order.v);
	kanon_free(model->env, s.classes.v);
	kanon_free(model->env, s.kept.v);
	kanon_free(model->env, s.offered.v);
	return status;
}
