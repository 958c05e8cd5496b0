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

/*
 * The cheapest assignment to the classes that `in` uses, which are listed in
 * open; flows count classes in that order, then a type's fallback each.
 */
static KanonStatus
assign(Search *s, const uint32_t *in, double *best, IlpList *open, KanonFlow **flows,
	   size_t *nflows)
{
	const IlpModel *model = s->model;
	KanonEnv   *env = s->env;
	IlpClasses	cl = {.ntypes = model->m,.rows = model->n};
	bool	   *used = kanon_alloc0(env, model->nf, sizeof(*used));
	size_t		pairs = model->m;
	uint32_t	n = 0;
	KanonStatus status = KANON_NO_MEMORY;

	if (used == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t u = 0; u < s->n; u++)
	{
		uint32_t	f = in[u];

		if (f != NONE && !used[f])
		{
			used[f] = true;
			n++;
			pairs += model->start[f + 1] - model->start[f];
		}
	}
	open->n = 0;
	cl.start = kanon_alloc(env, (size_t) n + model->m + 1, sizeof(*cl.start));
	cl.type = kanon_alloc(env, pairs, sizeof(*cl.type));
	cl.cost = kanon_alloc(env, (size_t) n + model->m, sizeof(*cl.cost));
	cl.need = kanon_alloc0(env, (size_t) n + model->m, sizeof(*cl.need));
	if (cl.start == NULL || cl.type == NULL || cl.cost == NULL || cl.need == NULL)
		goto done;
	pairs = 0;
	for (uint32_t f = 0; f < model->nf; f++)
	{
		if (!used[f])
			continue;
		if (!ilp_list_add(env, open, f))
			goto done;
		cl.start[cl.n] = pairs;
		cl.cost[cl.n] = model->w[f];
		cl.need[cl.n++] = model->k;
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			cl.type[pairs++] = model->type[p];
	}
	for (uint32_t i = 0; i < model->m; i++)
	{
		cl.start[cl.n] = pairs;
		cl.cost[cl.n++] = model->c[i];
		cl.type[pairs++] = i;
	}
	cl.start[cl.n] = pairs;
	status = kanon_flow_assign(env, &cl, best, flows, nflows, s->watch);
	*best += model->base;
done:
	kanon_free(env, used);
	kanon_free(env, cl.start);
	kanon_free(env, cl.type);
	kanon_free(env, cl.cost);
	kanon_free(env, cl.need);
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
	KanonStatus status = assign(s, s->in, &cost, &open, &flows, &nflows);

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
	double		hot = scale * 0.3 * pow(fmin(1000, (double) s->model->k), 0.6);

	s->temperature = share < QUENCH ? hot * pow(COLD, share / QUENCH) :
		hot * COLD * 0.5 * pow(0.2, (share - QUENCH) / (1 - QUENCH));
	s->reach = s->temperature + 0.5 * scale;
}

/* Annealing from hot to cold; stops at the target. */
static KanonStatus
anneal(Search *s, double work, double target)
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
							 (0.95 * (s->watch->deadline - clock)));
			if (share >= 1)
				break;
			s->watch->share = share;
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

	return assign(s, s->best, best, open, NULL, &nflows);
}

KanonStatus
ilp_search(const IlpModel *model, uint64_t seed, double work, double target,
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
			status = anneal(&s, work, target);
	}
	if (status == KANON_OK)
		status = polish(&s, best, best_open);
	search_free(&s);
	return status;
}
