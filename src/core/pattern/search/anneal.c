/*
 * anneal.c: ruin and recreate under simulated annealing.
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
 *
 * Between which temperatures depends on k, the weights and above all on how far
 * apart the costs of the instances are, so a quick run finds out first, as in
 * W. Ben-Ameur, "Computing the initial temperature of simulated annealing",
 * Comput. Optim. Appl. 29, 2004, but by the cost reached instead of acceptance.
 */
#include <math.h>
#include <string.h>

#include "pattern/search/search.h"
#include "pattern/program/program_model.h"

/*
 * Looks at each unit between two crossings of the state with the best one.  The search of a large table passes
 * over most units that it looks at.
 */
#define CROSS 1
#define CROSS_LARGE 4

/* Tries between two looks at how much of the work is done: most are moves, and a small search has few. */
#define LOOK_TRIES 16

static void
save_best(Search *s)
{
	s->pace->work += s->n / 8;
	/* whoever asks again then asks about another state */
	if (s->problem != NULL)
	{
		search_where(s, s->loose);
		if (!search_rest_allowed(s, s->loose))
			return;
	}
	search_where(s, s->best);
	s->best_cost = s->cost;
}

/* The classes that `in` uses, ascending. */
static KanonStatus
list_open(const Search *s, const uint32_t *in, IlpList *open)
{
	const IlpModel *model = s->model;
	bool *used = kanon_alloc0(s->env, model->nf, sizeof(*used));
	KanonStatus status = KANON_OK;

	if (used == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t u = 0; u < s->n; u++)
		if (in[u] != NONE)
			used[in[u]] = true;
	open->n = 0;
	for (uint32_t f = 0; f < model->nf && status == KANON_OK; f++)
		if ((used[f] || search_resting(s, f) > 0) && !ilp_list_add(s->env, open, f))
			status = KANON_NO_MEMORY;
	kanon_free(s->env, used);
	return status;
}

/* Back to the best solution saved. */
static void
restore_best(Search *s)
{
	for (uint32_t u = 0; u < s->n; u++)
		if (s->unit[u].in != s->best[u])
			search_put(s, u, s->best[u]);
	s->pace->work += s->n;
}

/*
 * Parts of the work: a quick run from very hot to very cold that tells between
 * which temperatures there is something to decide; the long one between these;
 * the last goes on from the best solution, colder and colder.
 */
#define PROBE 0.1
#define QUENCH 0.88

/* Temperatures of the quick run, as multiples of a usual one. */
#define PROBE_HOT 10
#define PROBE_COLD 0.1

/* The same from a good start, when there is no other. */
#define WARM_HOT 0.4
#define WARM_COLD 0.05

/* How far above its end the quick run was where the long one begins and ends. */
#define HOT_EXCESS 0.02
#define COLD_EXCESS 0.001

/* Readings of the quick run. */
#define READINGS 64

/* Reduced cost at which opening is tried one time in e, by the temperature. */
#define REACH 0.5

typedef struct Cooling
{
	bool warm;
	double usual;
	double reading[READINGS]; /* cost of the quick run's state */
	double hot;               /* of the long run */
	double cold;
} Cooling;

/*
 * The loss that a move may reasonably make grows with the rows it moves, thus with k,
 * but less than k, as rows in large classes have more choice.
 */
static void
start_cooling(const Search *s, bool warm, Cooling *c)
{
	const IlpModel *model = s->model;

	memset(c, 0, sizeof(*c));
	c->warm = warm;
	c->usual = 0.35 * s->scale * pow(kanon_min(1000, (double) model->k), 0.6);
}

static double
probe_temperature(const Cooling *c, double share)
{
	return c->usual * PROBE_HOT * pow(PROBE_COLD / PROBE_HOT, share / PROBE);
}

/* Where the quick run was last that much above its least reading. */
static double
temperature_above(const Search *s, const Cooling *c, double excess)
{
	double least = INFINITY;
	int at = READINGS - 1;

	for (int j = 0; j < READINGS; j++)
		if (c->reading[j] > 0)
			least = kanon_min(least, c->reading[j]);
	while (at > 0 && c->reading[at] <= least + excess * (least - s->model->base))
		at--;
	return probe_temperature(c, PROBE * at / READINGS);
}

static void
set_temperature(Search *s, Cooling *c, double share)
{
	if (c->warm)
		s->temperature = c->usual * WARM_HOT * pow(WARM_COLD / WARM_HOT, share);
	else if (share < PROBE)
	{
		c->reading[(int) (share / PROBE * READINGS)] = s->cost;
		s->temperature = probe_temperature(c, share);
	}
	else
	{
		if (c->hot == 0)
		{
			c->hot = temperature_above(s, c, HOT_EXCESS);
			c->cold = temperature_above(s, c, COLD_EXCESS);
		}
		s->temperature = share < QUENCH ? c->hot * pow(c->cold / c->hot, (share - PROBE) / (QUENCH - PROBE))
										: c->cold * 0.5 * pow(0.2, (share - QUENCH) / (1 - QUENCH));
	}
	s->reach = s->temperature * REACH;
}

/* The best solution so far, in all components of the two at hand.  (That of a large table is not saved when it is left.) */
static void
keep_best(Search *s, bool *dirty)
{
	double cost = s->best_cost;

	if (*dirty || (s->large && s->cost < s->best_cost))
		save_best(s);
	else if (s->problem == NULL)
		search_cross(s);
	else
	{
		memcpy(s->rules.kept, s->best, s->n * sizeof(*s->rules.kept));
		search_cross(s);
		if (!search_rest_allowed(s, s->best))
		{
			memcpy(s->best, s->rules.kept, s->n * sizeof(*s->rules.kept));
			s->best_cost = cost;
		}
	}
	*dirty = false;
}

KanonStatus
search_anneal(Search *s, double work, double time_share, bool warm, double target)
{
	Cooling cooling;
	int64_t begin = kanon_worked(s->pace);
	double clock = s->pace->deadline > 0 ? s->env->now(s->env->arg) : 0;
	bool dirty = false; /* the state at hand is the best, and not saved */
	bool quench = false;
	int64_t since = 0;
	int64_t between = (s->large ? CROSS_LARGE : CROSS) * (int64_t) s->n;
	int64_t cross = s->looks + between;

	start_cooling(s, warm, &cooling);
	for (int64_t done = 0; s->best_cost > target; done++, since++)
	{
		double delta;

		if (done % LOOK_TRIES == 0)
		{
			double share = (double) (kanon_worked(s->pace) - begin) / work;

			/* a run that cannot finish in time cools with the time instead */
			if (s->pace->deadline > 0)
				share = kanon_max(share, (s->env->now(s->env->arg) - clock) /
											 (time_share * (s->pace->deadline - clock)));
			if (share >= 1)
				break;
			kanon_tell_share(s->pace, share);
			set_temperature(s, &cooling, share);
			if (share >= QUENCH && !quench)
			{
				quench = true;
				keep_best(s, &dirty);
				restore_best(s);
			}
		}
		if (kanon_step(s->pace, 1))
			return KANON_CANCELLED;
		if (s->pace->late)
			break;
		if (dirty && since > s->n / 500)
		{
			save_best(s);
			dirty = false;
			since = 0;
		}
		if (s->looks >= cross)
		{
			keep_best(s, &dirty);
			cross = s->looks + between;
		}
		if (!search_try(s, &delta))
			return KANON_NO_MEMORY;
		if (delta == INFINITY)
			continue;
		if ((delta > 0 && search_random(s) >= exp(-delta / s->temperature)) ||
			(s->problem != NULL && !search_keeps_rules(s)))
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
			dirty = !s->large;
			if (s->cost <= target)
				break;
		}
	}
	keep_best(s, &dirty);
	return KANON_OK;
}

/* The best solution's classes, filled at least cost. */
static KanonStatus
polish(Search *s, double *best, IlpList *open)
{
	size_t nflows;
	KanonStatus status = list_open(s, s->best, open);

	if (status != KANON_OK)
		return status;
	status = ilp_assign(s->model, open, best, NULL, &nflows, s->pace);
	/* there is more memory when the search is over */
	if (status == KANON_NO_MEMORY)
		*best = s->best_cost;
	return status;
}

KanonStatus
ilp_search(const IlpModel *model, const SearchPlan *plan, double *best, IlpList *best_open, KanonPace *pace)
{
	Search s = {
		.model = model, .env = model->env, .scratch = {.env = model->env}, .pace = pace, .g = plan->g};
	KanonStatus status = KANON_NO_MEMORY;
	bool lacking = false;

	*best = INFINITY;
	s.random = plan->seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0xbf58476d1ce4e5b9);
	if (s.random == 0)
		s.random = 1;
	s.cost = model->base;
	if (search_alloc(&s))
		status = search_start(&s);
	if (status == KANON_OK)
	{
		save_best(&s);
		if (s.cost > plan->target && s.n > 0)
			status = search_anneal(&s, plan->work, 0.95, false, plan->target);
		lacking = status == KANON_NO_MEMORY;
	}
	if (status == KANON_OK || lacking)
		status = polish(&s, best, best_open);
	kanon_scratch_free(&s.scratch);
	return status == KANON_OK && lacking ? KANON_NO_MEMORY : status;
}

/*
 * ---- The better of two solutions, in each place where they differ.
 *
 * D. Whitley, D. Hains, A. Howe, "Tunneling between optima: partition crossover
 * for the traveling salesman problem", GECCO 2009.  Classes are in one component
 * when a unit is in the one in the first solution and in the other in the
 * second.  Whole components can be taken from either solution, each by itself,
 * as every class then has the rows it has in one of them.
 */

/*
 * Units of a type are alike: those of `best` change places so that as many as
 * can be are where they are now.
 */
static void
align(Search *s)
{
	uint32_t *best = s->best;

	for (uint32_t f = 0; f < s->model->nf; f++)
		s->instance[f].chain = NONE;
	for (uint32_t i = 0; i < s->model->m; i++)
	{
		uint32_t closed = NONE; /* the chain of those at their fallback */

		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
			if (best[u] != s->unit[u].in)
			{
				uint32_t *head = best[u] == NONE ? &closed : &s->instance[best[u]].chain;

				s->unit[u].along = *head;
				*head = (uint32_t) u;
			}
		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
		{
			uint32_t *head = s->unit[u].in == NONE ? &closed : &s->instance[s->unit[u].in].chain;

			/* those that have changed since are no longer of the chain */
			while (best[u] != s->unit[u].in && *head != NONE)
			{
				uint32_t v = *head;

				*head = s->unit[v].along;
				if (best[v] != s->unit[u].in || s->unit[v].in == best[v] ||
					s->unit[u].rows != s->unit[v].rows)
					continue;
				best[v] = best[u];
				best[u] = s->unit[u].in;
				head = best[v] == NONE ? &closed : &s->instance[best[v]].chain;
				s->unit[v].along = *head;
				*head = v;
			}
		}
		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
			if (s->unit[u].in != NONE)
				s->instance[s->unit[u].in].chain = NONE;
		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
			if (best[u] != NONE)
				s->instance[best[u]].chain = NONE;
	}
}

/* The component of f; s->touched has the parents. */
static uint32_t
component(Search *s, uint32_t f)
{
	uint32_t *parent = s->touched;

	while (parent[f] != f)
		f = parent[f] = parent[parent[f]];
	return f;
}

/*
 * True: a change of f matters to others.  It does not when the rows that both solutions have in f fill it;
 * SearchInstance.count has these.  (Under rules a class is one solution's or the other's, since rows that fill it may
 * break them.)
 */
static bool
binds(const Search *s, uint32_t f)
{
	return f != NONE && (s->problem != NULL || s->instance[f].count < s->model->k);
}

/* The class that stands for the component of a unit that moves, or NONE. */
static uint32_t
component_of(Search *s, uint32_t u)
{
	if (binds(s, s->best[u]))
		return component(s, s->best[u]);
	return binds(s, s->unit[u].in) ? component(s, s->unit[u].in) : NONE;
}

/* The gain of a unit by its present place. */
static double
unit_gain(const Search *s, uint32_t u)
{
	return (search_cost(s, u, s->best[u]) - search_cost(s, u, s->unit[u].in)) * (double) s->unit[u].rows;
}

void
search_cross(Search *s)
{
	align(s);
	for (uint32_t f = 0; f < s->model->nf; f++)
	{
		s->touched[f] = f;
		s->instance[f].count = search_resting(s, f);
		s->instance[f].score = 0;
	}
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] == s->unit[u].in && s->unit[u].in != NONE)
			s->instance[s->unit[u].in].count += s->unit[u].rows;
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] != s->unit[u].in && binds(s, s->best[u]) && binds(s, s->unit[u].in))
			s->touched[component(s, s->unit[u].in)] = component(s, s->best[u]);
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] != s->unit[u].in)
		{
			uint32_t f = component_of(s, u);

			if (f != NONE)
				s->instance[f].score += unit_gain(s, u);
		}
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] != s->unit[u].in)
		{
			uint32_t f = component_of(s, u);
			double gain = unit_gain(s, u);

			if ((f != NONE ? s->instance[f].score : gain) > 1e-9)
			{
				s->best_cost -= gain;
				s->best[u] = s->unit[u].in;
			}
		}
	s->pace->work += (int64_t) s->n * 2 + s->model->nf;
}
