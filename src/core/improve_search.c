/*
 * improve_search.c: ruin and recreate under simulated annealing.
 *
 * G. Schrimpf et al., "Record breaking optimization results using the ruin and
 * recreate principle", J. Comput. Phys. 159, 2000; S. Kirkpatrick, C. Gelatt,
 * M. Vecchi, "Optimization by simulated annealing", Science 220, 1983.
 *
 * A state assigns every row unit to an open instance or to its fallback.  A
 * move picks a unit and a cheaper instance of it, opens that with rows that
 * gain there, rows to spare elsewhere and the rows of classes dissolved for it,
 * and opens instances for the freed rows or puts them into their cheapest open
 * class.  It cools by work done, not by time, so that a run can be repeated.
 */
#include <math.h>
#include <string.h>

#include "improve_search.h"

/* How often rows are assigned anew in a search. */
#define REASSIGN 20

static void
save_best(Search *s)
{
	memcpy(s->best, s->in, s->n * sizeof(*s->in));
	s->best_cost = s->cost;
	s->watch->work += s->n / 8;
}

/* The classes that `in` uses, ascending. */
static KanonStatus
list_open(const Search *s, const uint32_t *in, IlpList *open)
{
	const IlpModel *model = s->model;
	bool	   *used = kanon_alloc0(s->env, model->nf, sizeof(*used));
	KanonStatus status = KANON_OK;

	if (used == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t u = 0; u < s->n; u++)
		if (in[u] != NONE)
			used[in[u]] = true;
	open->n = 0;
	for (uint32_t f = 0; f < model->nf && status == KANON_OK; f++)
		if (used[f] && !ilp_list_add(s->env, open, f))
			status = KANON_NO_MEMORY;
	kanon_free(s->env, used);
	return status;
}

/*
 * Moves find pairs of rows to exchange but no chains: from time to time the
 * rows are assigned anew to the classes at hand.  (Where a unit has several
 * rows the flow does not say which units go: left alone.)
 */
static KanonStatus
reassign(Search *s)
{
	const IlpModel *model = s->model;
	IlpList		open = {0};
	KanonFlow  *flows = NULL;
	size_t		nflows = 0;
	double		cost;
	KanonStatus status = list_open(s, s->in, &open);

	if (status == KANON_OK)
		status = search_assign(model, &open, &cost, &flows, &nflows, s->watch);
	if (status == KANON_OK && cost < s->cost - 1e-9)
	{
		/* units of a type are alike: hand them out in order */
		for (uint32_t i = 0; i < model->m; i++)
			s->place[i] = s->first[i];
		for (size_t j = 0; j < nflows; j++)
		{
			uint32_t	f = flows[j].class_ < open.n ? open.v[flows[j].class_] : NONE;

			for (int64_t r = 0; r < flows[j].rows; r++)
				search_put(s, (uint32_t) s->place[flows[j].type]++, f);
		}
	}
	kanon_free(s->env, flows);
	kanon_free(s->env, open.v);
	return status;
}

/* Back to the best solution saved. */
static void
restore_best(Search *s)
{
	for (uint32_t u = 0; u < s->n; u++)
		if (s->in[u] != s->best[u])
			search_put(s, u, s->best[u]);
	s->watch->work += s->n;
}

/* Share of the work after which it goes on from the best solution, colder. */
#define QUENCH 0.88

/* Where cooling begins when the start is good already. */
#define WARM 0.7

/* The temperature reached then, as a share of the first. */
#define COLD 0.33

/*
 * The temperature: what a move may reasonably lose grows with the rows it
 * moves, thus with k, but less than k, as rows in large classes have more
 * choice.  The constants are measured on unit weights.
 */
static void
set_temperature(Search *s, double scale, double share)
{
	double		k = fmin(1000, (double) s->model->k);
	double		hot = scale * (k < 50 && s->n < 10000 ? 0.38 : 0.3) * pow(k, 0.6);

	s->temperature = share < QUENCH ? hot * pow(COLD, share / QUENCH) :
		hot * COLD * 0.5 * pow(0.2, (share - QUENCH) / (1 - QUENCH));
	s->reach = s->temperature + 0.5 * scale;
}

/*
 * Annealing from hot to cold, or, from a good start, from warm; stops at the
 * target.  Of the time left it takes a share at most.
 */
static KanonStatus
anneal(Search *s, double work, double time_share, bool warm, double target)
{
	const IlpModel *model = s->model;
	double		scale = 0;
	int64_t		begin = kanon_watch_total(s->watch);
	double		clock = s->watch->deadline < INFINITY ? s->env->now(s->env->arg) : 0;
	int64_t		next = begin + (int64_t) (work / REASSIGN);
	bool		dirty = false;	/* the state at hand is the best, and not saved */
	bool		quench = false;
	int64_t		since = 0;

	for (uint32_t f = 0; f < model->nf; f++)
		scale = fmax(scale, model->w[f]);
	scale = model->integral ? 1 : scale / 8;
	for (int64_t done = 0;; done++, since++)
	{
		double		delta;

		if ((done & 63) == 0)
		{
			double		share = (double) (kanon_watch_total(s->watch) - begin) / work;

			/* a run that cannot finish in time cools with the time instead */
			if (s->watch->deadline < INFINITY)
				share = fmax(share, (s->env->now(s->env->arg) - clock) /
							 (time_share * (s->watch->deadline - clock)));
			if (share >= 1)
				break;
			s->watch->share = share;
			if (warm)
				share = WARM + (1 - WARM) * share;
			set_temperature(s, scale, share);
			if (share >= QUENCH && !quench)
			{
				quench = true;
				if (dirty)
					save_best(s);
				dirty = false;
				restore_best(s);
			}
		}
		if (kanon_watch(s->watch, 1))
			return KANON_CANCELLED;
		if (s->watch->late)
			break;
		if (s->single && kanon_watch_total(s->watch) >= next)
		{
			KanonStatus status = reassign(s);

			if (status != KANON_OK)
				return status;
			next = kanon_watch_total(s->watch) + (int64_t) (work / REASSIGN);
			dirty |= s->cost < s->best_cost - 1e-9;
		}
		if (dirty && since > s->n / 500)
		{
			save_best(s);
			dirty = false;
			since = 0;
		}
		if (!search_try(s, &delta))
			return KANON_NO_MEMORY;
		if (delta == INFINITY)
			continue;
		if (delta > 0 && search_random(s) >= exp(-delta / s->temperature))
		{
			search_undo(s);
			continue;
		}
		if (delta > 0 && dirty)
		{
			/* leaving the best one: keep it */
			search_undo(s);
			save_best(s);
			dirty = false;
			since = 0;
			continue;
		}
		if (s->cost < s->best_cost - 1e-9)
		{
			dirty = true;
			if (s->cost <= target)
				break;
		}
	}
	if (dirty)
		save_best(s);
	return KANON_OK;
}

/* The best solution's classes, filled at least cost. */
static KanonStatus
polish(Search *s, double *best, IlpList *open)
{
	size_t		nflows;
	KanonStatus status = list_open(s, s->best, open);

	if (status == KANON_OK)
		status = search_assign(s->model, open, best, NULL, &nflows, s->watch);
	return status;
}

KanonStatus
ilp_search(const IlpModel *model, uint64_t seed, double work, double parts, double target,
		   const double *g, const IlpList *start, double *best, IlpList *best_open, KanonWatch *watch)
{
	Search		s = {.model = model,.env = model->env,.watch = watch,.g = g};
	KanonStatus status = KANON_NO_MEMORY;

	s.random = seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0xbf58476d1ce4e5b9);
	if (s.random == 0)
		s.random = 1;
	s.cost = model->base;
	if (search_alloc(&s))
		status = search_start(&s, start);
	if (status == KANON_OK)
	{
		save_best(&s);
		if (s.cost > target && s.n > 0)
			status = anneal(&s, work, 0.95 * work / (work + parts), start != NULL, target);
		if (status == KANON_OK && parts > 0 && s.single && s.best_cost > target)
		{
			restore_best(&s);
			status = search_parts(&s, parts, target);
			if (s.cost < s.best_cost)
				save_best(&s);
		}
	}
	if (status == KANON_OK)
		status = polish(&s, best, best_open);
	search_free(&s);
	return status;
}
