/*
 * ilp_solve.c: the exact search for a model: bound, fix, reduce, split, and
 * GLPK for what is left.
 */
#include <math.h>
#include <string.h>

#include "pattern/exact/exact.h"
#include "pattern/search/search.h"
#include "pattern/program/program_model.h"
#include "util/sort.h"

/* Parts with fewer instances go to GLPK without a search or prices of their own. */
#define TINY 12

/* Pairs below which GLPK needs neither a start nor searches of its own. */
#ifndef ILP_SMALL
#define ILP_SMALL 600
#endif

/* Pairs from which branching is without pseudo-costs. */
#define LARGE 5000

/*
 * Pairs above which GLPK gets nowhere: it takes seconds, deaf to cancelling, to
 * set up a single relaxation, and hours to solve it.
 */
#define MAX_GLPK ((size_t) 1000 * 1000)

/* The part of a model's time that its search and prices take. */
#define PRICED 0.3

/* Fractions of the whole after which a model is worth another round. */
#define SHRINK 0.85

static KanonStatus solve_part(IlpModel *model, double cutoff, IlpPlan *plan, int depth, IlpAnswer *answer);

/* Positions in a model become what they are called outside. */
static KanonStatus
take_open(KanonEnv *env, IlpAnswer *answer, const IlpModel *model, const IlpList *fixed, const IlpList *open)
{
	answer->open.n = 0;
	for (size_t j = 0; fixed != NULL && j < fixed->n; j++)
		if (!ilp_list_add(env, &answer->open, fixed->v[j]))
			return KANON_NO_MEMORY;
	for (size_t j = 0; j < open->n; j++)
		if (!ilp_list_add(env, &answer->open, model->id[open->v[j]]))
			return KANON_NO_MEMORY;
	return KANON_OK;
}

/* The instances of the best solution so far that the model has still. */
static KanonStatus
list_start(const IlpModel *model, const IlpAnswer *answer, IlpList *start)
{
	uint32_t last = 0;
	bool *used;
	KanonStatus status = KANON_OK;

	for (size_t j = 0; j < answer->open.n; j++)
		last = answer->open.v[j] > last ? answer->open.v[j] : last;
	for (uint32_t f = 0; f < model->nf; f++)
		last = model->id[f] > last ? model->id[f] : last;
	used = kanon_alloc0(model->env, (size_t) last + 1, sizeof(*used));
	if (used == NULL)
		return KANON_NO_MEMORY;
	for (size_t j = 0; j < answer->open.n; j++)
		used[answer->open.v[j]] = true;
	for (uint32_t f = 0; f < model->nf && status == KANON_OK; f++)
		if (used[model->id[f]] && !ilp_list_add(model->env, start, f))
			status = KANON_NO_MEMORY;
	kanon_free(model->env, used);
	return status;
}

/* One component by GLPK, with other settings after each so many nodes. */
static KanonStatus
solve_glpk(IlpModel *model, double target, IlpPlan *plan, const IlpList *fixed, IlpAnswer *answer)
{
	static const IlpSettings tries[] = {
		{.cuts = true, .max_nodes = 2000, .free_fallback = true},
		{.cuts = true, .branching = 1, .max_nodes = 1000, .free_fallback = true},
		{.cuts = true, .rounding_cuts = true, .free_fallback = true}};
	IlpList start = {0};
	KanonStatus status;

	/* what is known of such a model stays unproven */
	if (model->start[model->nf] > MAX_GLPK)
		return KANON_OK;
	status = list_start(model, answer, &start);
	for (size_t t = 0; t < sizeof(tries) / sizeof(tries[0]) && status == KANON_OK; t++)
	{
		IlpSettings settings = tries[t];
		IlpOutcome outcome;
		IlpList open = {0};

		settings.gap = plan->gap;
		/* pseudo-costs begin with trial pivots on every fraction: too long where there are many */
		if (settings.branching == 0 && model->start[model->nf] >= LARGE)
			settings.branching = 2;
		settings.start = start.n > 0 && model->start[model->nf] >= ILP_SMALL ? &start : NULL;
		if (plan->max_nodes > 0)
		{
			int64_t left = plan->max_nodes - plan->nodes;

			if (left <= 0)
				break;
			if (settings.max_nodes == 0 || settings.max_nodes > left)
				settings.max_nodes = left;
		}
		status = ilp_glpk(model, target, &settings, &outcome, &open, plan->pace, plan->report);
		plan->nodes += outcome.nodes;
		plan->solves++;
		if (status == KANON_OK && outcome.found && outcome.cost < answer->cost - 1e-9)
		{
			answer->cost = outcome.cost;
			status = take_open(model->env, answer, model, fixed, &open);
			target = fmin(target, ilp_cutoff(model, outcome.cost));
		}
		kanon_free(model->env, open.v);
		answer->bound =
			fmax(answer->bound,
				 fmin(answer->cost, fmin(ilp_round_up(model, outcome.bound), ilp_beyond(model, target))));
		if (outcome.complete || model->wide || plan->pace->late || answer->bound > target)
			break;
	}
	kanon_free(model->env, start.v);
	return status;
}

typedef struct Split
{
	KanonScratch scratch;
	uint32_t *part;     /* [m] */
	uint32_t *renumber; /* [m] */
	uint32_t *types;    /* [m] by part */
	uint32_t *first;    /* [parts + 1] */
	double *floor;      /* [parts] bound of each so far */
	KanonKeyed *order;  /* [2 * parts] */
} Split;

/* Components of a transposed model, types of each in order, small parts first. */
static KanonStatus
split_model(const IlpModel *model, Split *split, uint32_t *nparts)
{
	split->part = kanon_take(&split->scratch, model->m, sizeof(*split->part));
	split->renumber = kanon_take(&split->scratch, model->m, sizeof(*split->renumber));
	split->types = kanon_take(&split->scratch, model->m, sizeof(*split->types));
	if (split->scratch.failed)
		return KANON_NO_MEMORY;
	ilp_model_components(model, split->part, nparts);
	split->first = kanon_take0(&split->scratch, (size_t) *nparts + 2, sizeof(*split->first));
	split->floor = kanon_take0(&split->scratch, *nparts, sizeof(*split->floor));
	split->order = kanon_take0(&split->scratch, *nparts, 2 * sizeof(*split->order));
	if (split->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < model->m; i++)
	{
		uint32_t part = split->part[i];
		double least = model->c[i];

		if (part + 2 <= *nparts)
			split->first[part + 2]++;
		if (model->opt_start[i] < model->opt_start[i + 1])
			least = fmin(least, model->w[model->opt[model->opt_start[i]]]);
		split->floor[part] += least * (double) model->n[i];
		split->order[part].item = part;
		split->order[part].key += (double) (model->opt_start[i + 1] - model->opt_start[i]);
	}
	for (uint32_t p = 2; p <= *nparts; p++)
		split->first[p] += split->first[p - 1];
	for (uint32_t i = 0; i < model->m; i++)
		split->types[split->first[split->part[i] + 1]++] = i;
	kanon_sort(split->order, split->order + *nparts, *nparts, sizeof(*split->order), kanon_compare_keyed,
			   NULL);
	return KANON_OK;
}

/*
 * The components of a model, one after the other.  Each may cost at most what
 * the target leaves when all others cost no more than their bounds; when one
 * has no such solution, neither has the whole.
 */
static KanonStatus
solve_parts(IlpModel *model, double target, IlpPlan *plan, int depth, const IlpList *fixed, IlpAnswer *answer)
{
	KanonEnv *env = model->env;
	Split split = {.scratch = {.env = env}};
	uint32_t nparts = 0;
	IlpList open = {0};
	double cost = model->base;
	double bound = model->base;
	double from = plan->pace->from;
	double span = plan->pace->span;
	double all = 0, done = 0;
	KanonStatus status = ilp_model_transpose(model, plan->pace);

	if (status == KANON_OK)
		status = split_model(model, &split, &nparts);
	for (uint32_t p = 0; p < nparts && status == KANON_OK; p++)
	{
		bound += split.floor[p];
		all += 1 + split.order[p].key;
	}
	for (uint32_t o = 0; o < nparts && status == KANON_OK; o++)
	{
		uint32_t p = split.order[o].item;
		double size = 1 + split.order[o].key;
		IlpModel part;
		IlpAnswer sub = {0};

		status = ilp_model_part(model, split.types + split.first[p], split.first[p + 1] - split.first[p],
								&part, split.renumber);
		if (status != KANON_OK)
			break;
		kanon_pace_part(plan->pace, from + span * done / all, from + span * (done + size) / all, 0, 1);
		status = solve_part(&part, target - (bound - split.floor[p]), plan, depth + 1, &sub);
		kanon_pace_done(plan->pace, 1);
		done += size;
		for (size_t j = 0; j < sub.open.n && status == KANON_OK; j++)
			if (!ilp_list_add(env, &open, sub.open.v[j]))
				status = KANON_NO_MEMORY;
		if (status == KANON_OK)
		{
			cost += sub.cost;
			if (sub.bound > split.floor[p])
				bound += sub.bound - split.floor[p];
		}
		kanon_free(env, sub.open.v);
		ilp_model_free(&part);
		if (kanon_step(plan->pace, 100))
			status = KANON_CANCELLED;
		if (ilp_round_up(model, bound) > target)
		{
			cost = INFINITY; /* the rest needs no solution */
			break;
		}
	}
	if (status == KANON_OK && cost < answer->cost - 1e-9)
	{
		answer->cost = cost;
		status = take_open(env, answer, model, fixed, &open);
	}
	plan->pace->from = from;
	plan->pace->span = span;
	/* fixing has left no more than the solutions of at most target */
	bound = fmin(ilp_round_up(model, bound), ilp_beyond(model, target));
	answer->bound = fmax(answer->bound, fmin(bound, answer->cost));
	kanon_free(env, open.v);
	kanon_scratch_free(&split.scratch);
	return status;
}

/* Work that a model deserves: less than GLPK would need for the same progress. */
static double
search_work(const IlpModel *model, const IlpPlan *plan)
{
	return plan->effort * (3e5 + 3e3 * (double) model->start[model->nf]);
}

/* One search; the target falls with a better answer. */
static KanonStatus
search(const IlpModel *model, double work, const double *g, double *target, IlpPlan *plan, uint64_t seed,
	   IlpAnswer *answer)
{
	IlpList open = {0};
	double cost;
	KanonStatus status = ilp_search(
		model, &(SearchPlan){.seed = plan->seed + seed, .work = work, .target = answer->bound, .g = g}, &cost,
		&open, plan->pace);

	if (status == KANON_OK && cost < answer->cost - 1e-9)
	{
		answer->cost = cost;
		status = take_open(model->env, answer, model, NULL, &open);
		*target = fmin(*target, ilp_cutoff(model, cost));
	}
	kanon_free(model->env, open.v);
	return status;
}

/* A first solution, the prices, and with them a better one. */
static KanonStatus
search_and_price(const IlpModel *model, double cutoff, double *target, IlpPlan *plan, int depth,
				 IlpPrices *prices, IlpAnswer *answer)
{
	double work = search_work(model, plan);
	KanonStatus status = search(model, work * 0.1, NULL, target, plan, (uint64_t) depth, answer);

	if (status != KANON_OK || answer->bound > *target)
		return status;
	status = ilp_lagrange(model, fmin(answer->cost, ilp_beyond(model, cutoff)), depth == 0 ? 400 : 150,
						  prices, plan->pace);
	if (status != KANON_OK)
		return status;
	answer->bound = fmax(answer->bound, fmin(answer->cost, ilp_round_up(model, prices->bound)));
	if (answer->bound <= *target)
		status = search(model, work, prices->g, target, plan, (uint64_t) depth + 100, answer);
	return status;
}

/* Does it consist of several components? */
static KanonStatus
falls_apart(const IlpModel *model, bool *result)
{
	uint32_t *part = kanon_alloc(model->env, model->m, sizeof(*part));
	uint32_t nparts;

	*result = false;
	if (part == NULL)
		return KANON_NO_MEMORY;
	ilp_model_components(model, part, &nparts);
	*result = nparts > 1;
	kanon_free(model->env, part);
	return KANON_OK;
}

/*
 * Least cost of a model; answer->bound is a bound on every solution of cost at
 * most `cutoff`.  Takes the model apart.
 */
static KanonStatus
solve_part(IlpModel *model, double cutoff, IlpPlan *plan, int depth, IlpAnswer *answer)
{
	KanonEnv *env = model->env;
	IlpList fixed = {0};
	IlpPrices prices = {0};
	KanonStatus status = ilp_model_transpose(model, plan->pace);
	double from = plan->pace->from;
	double span = plan->pace->span;
	double target;
	size_t before = model->start[model->nf];
	uint32_t dropped;
	bool apart = false;

	if (status != KANON_OK)
		return status;
	answer->cost = ilp_model_ceiling(model);
	answer->bound = fmin(answer->cost, ilp_round_up(model, ilp_model_floor(model)));
	target = fmin(cutoff, ilp_cutoff(model, answer->cost));
	if (answer->bound > target || model->nf == 0)
		return KANON_OK;
	if (model->nf >= TINY)
	{
		kanon_pace_part(plan->pace, from, from + PRICED * span, 0, 1);
		status = search_and_price(model, cutoff, &target, plan, depth, &prices, answer);
		kanon_pace_part(plan->pace, from + PRICED * span, from + span, 0, 1);
		if (status == KANON_OK && answer->bound <= target)
			status = ilp_fix(model, &prices, target, &dropped, plan->pace);
		if (status == KANON_OK && answer->bound <= target)
			status = ilp_reduce(model, &fixed, plan->pace);
	}
	if (status == KANON_OK && answer->bound <= target)
		status = falls_apart(model, &apart);
	if (status != KANON_OK || answer->bound > target || plan->pace->late ||
		answer->cost - answer->bound <= plan->gap * answer->cost)
		/* done, or out of time */;
	else if (model->nf == 0 || apart ||
			 (prices.g != NULL && (double) model->start[model->nf] < SHRINK * (double) before))
		status = solve_parts(model, target, plan, depth, &fixed, answer);
	else
		status = solve_glpk(model, target, plan, &fixed, answer);
	plan->pace->from = from;
	plan->pace->span = span;
	ilp_prices_free(env, &prices);
	kanon_free(env, fixed.v);
	return status;
}

KanonStatus
ilp_solve(IlpModel *model, double cutoff, IlpPlan *plan, IlpAnswer *answer)
{
	KanonStatus status = ilp_model_transpose(model, plan->pace);
	IlpList none = {0};
	bool apart = false;

	if (status == KANON_OK)
		status = falls_apart(model, &apart);
	if (status != KANON_OK || !apart)
		return status == KANON_OK ? solve_part(model, cutoff, plan, 0, answer) : status;
	/* a search of the whole and its prices say nothing that those of the parts do not */
	answer->cost = ilp_model_ceiling(model);
	answer->bound = fmin(answer->cost, ilp_round_up(model, ilp_model_floor(model)));
	return solve_parts(model, fmin(cutoff, ilp_cutoff(model, answer->cost)), plan, -1, &none, answer);
}
