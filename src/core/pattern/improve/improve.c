/*
 * improve.c: anytime improvement, where the exact model is too large to prove.
 *
 * Prices from the Lagrangian relaxation (lagrange.c) give the lower bound
 * and say which instances can matter; ruin and recreate (search/anneal.c)
 * works on those.  All work is counted, not timed, so that the same seed and
 * effort give the same release unless time_limit stops it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/improve/improve.h"
#include "pattern/search/search.h"
#include "pattern/program/program_model.h"

/*
 * Row types of all instances together (ALL_PAIRS), at most; beyond, those that prices ask
 * for are chosen first (priced.c), MAX_PAIRS at most.  A pair is in the instances, in the model by instance
 * and by type, and twice more while the model is filtered; growing takes the rest.
 */
#define MAX_PAIRS ((size_t) 40 * 1000 * 1000)
#define ALL_PAIRS ((size_t) 20 * 1000 * 1000)
#define PAIR_BYTES 32

/*
 * Pairs up to which what is left is solved exactly, and the nodes that this may take,
 * times the pairs: some seconds.
 */
#ifndef ILP_EXACT_PAIRS
#define ILP_EXACT_PAIRS (60 * 1000)
#endif
#define EXACT_NODES 1.2e7

/* Rows from which a table is searched as a large one: measured. */
#define LARGE 10000

/*
 * Steps of the search for each step that instances and bound took, at least: it
 * takes about as long as they, since its steps are slower.
 */
#define SEARCH_SHARE 0.2

/* The share of the remaining time for the bound; the search has the rest. */
#define BOUND_TIME 0.4

/*
 * Above ILP_ONE_SEARCH_ROWS one search needs all the time that the first bound leaves: how far below
 * greedy's cost that aims, as steps to the cost itself are too long; and instances for each of greedy's classes.
 */
#define GREEDY_AIM 0.95
#define GREEDY_CLASSES 3

/* Rows of a table that is too small for all the steps of a large one, by so many for a row. */
#define ROW_STEPS 3e6

typedef struct Improve
{
	const KanonProblem *problem;
	const IlpStart *start; /* or NULL */
	bool shared;           /* instances are the start's */
	KanonReport *report;
	KanonPace pace;
	KanonInstances instances;
	IlpModel model;
	IlpPrices prices;
	IlpResult result;
	IlpList fixed; /* instances that are open, by id */
	IlpList used;  /* best solution, by id */
	double cost;   /* of the model's best solution */
	double bound;
	IlpBox box; /* prices stay in it; empty: anywhere */
} Improve;

/*
 * A model of the instances worth a search: those of smallest reduced cost, and
 * those in use.  The whole model stays as it is.
 */
static KanonStatus
filter(Improve *v, const IlpList *in_use, size_t keep, IlpModel *out)
{
	const IlpModel *model = &v->model;
	KanonEnv *env = model->env;
	bool *dead = kanon_alloc0(env, model->nf, sizeof(*dead));
	uint32_t *types = kanon_alloc(env, model->m, 2 * sizeof(*types));
	KanonStatus status = KANON_NO_MEMORY;
	double lo = 0;
	double hi = 0;

	memset(out, 0, sizeof(*out));
	if (dead != NULL && types != NULL)
	{
		/* the threshold, by bisection */
		for (uint32_t f = 0; f < model->nf; f++)
			hi = fmax(hi, v->prices.g[f]);
		for (int round = 0; round < 40; round++)
		{
			double mid = (lo + hi) / 2;
			size_t n = 0;

			for (uint32_t f = 0; f < model->nf; f++)
				n += v->prices.g[f] <= mid;
			if (n > keep)
				hi = mid;
			else
				lo = mid;
		}
		for (uint32_t f = 0; f < model->nf; f++)
			dead[f] = v->prices.g[f] > hi;
		for (size_t j = 0; j < in_use->n; j++)
			dead[in_use->v[j]] = false;
		for (uint32_t i = 0; i < model->m; i++)
			types[i] = i;
		status = ilp_model_part(model, types, model->m, out, types + model->m);
		/* part lists instances by their first type: put them right */
		if (status == KANON_OK)
		{
			bool *part_dead = kanon_alloc0(env, out->nf, sizeof(*part_dead));

			if (part_dead == NULL)
				status = KANON_NO_MEMORY;
			for (uint32_t f = 0; f < out->nf && status == KANON_OK; f++)
				part_dead[f] = dead[out->id[f]];
			out->base = model->base;
			out->price = kanon_take(&out->scratch, model->m, sizeof(*out->price));
			if (out->price == NULL)
				status = KANON_NO_MEMORY;
			else
				memcpy(out->price, v->prices.y, model->m * sizeof(*out->price));
			if (status == KANON_OK)
				status = ilp_model_compact(out, part_dead, &v->pace);
			kanon_free(env, part_dead);
		}
		if (status == KANON_OK)
			status = ilp_model_transpose(out, &v->pace);
		if (status != KANON_OK)
			ilp_model_free(out);
	}
	kanon_free(env, dead);
	kanon_free(env, types);
	return status;
}

/* Takes over a solution of a model whose ids count in `outer` (or are final). */
static KanonStatus
keep_solution(Improve *v, double cost, const IlpList *open, const IlpModel *model, const IlpModel *outer)
{
	KanonEnv *env = v->problem->env;

	if (cost >= v->cost)
		return KANON_OK;
	v->cost = cost;
	v->used.n = 0;
	for (size_t j = 0; j < v->fixed.n; j++)
		if (!ilp_list_add(env, &v->used, v->fixed.v[j]))
			return KANON_NO_MEMORY;
	for (size_t j = 0; j < open->n; j++)
	{
		uint32_t id = model->id[open->v[j]];

		if (!ilp_list_add(env, &v->used, outer != NULL ? outer->id[id] : id))
			return KANON_NO_MEMORY;
	}
	return KANON_OK;
}

/* Rows, of a type no more than a search takes one by one. */
static double
row_units(const int64_t *rows, uint32_t ntypes)
{
	double units = 0;

	for (uint32_t i = 0; i < ntypes; i++)
		units += (double) (rows[i] < 64 ? rows[i] : 64);
	return units;
}

/* Is there anything left to do, and time? */
static bool
goes_on(const Improve *v, KanonStatus status)
{
	return status == KANON_OK && v->bound < v->cost - ILP_EPS && !v->pace.late;
}

/* The memory of a search, before its way is known. */
static double
search_work(const Improve *v, double effort)
{
	double rows = row_units(v->model.n, v->model.m);

	return effort * fmax(fmin(3e9 / (1 + rows / 3e4), ROW_STEPS * rows), 2e4 * rows);
}

/* A search on the instances of small reduced cost and those in use, by so much effort. */
static KanonStatus
search(Improve *v, const IlpList *in_use, int round, double effort)
{
	const KanonProblem *problem = v->problem;
	KanonEnv *env = problem->env;
	IlpModel part;
	IlpList open = {0};
	double cost = INFINITY;
	SearchPlan plan;
	double *g;
	double rows = row_units(v->model.n, v->model.m);
	double spent = (double) kanon_worked(&v->pace);
	double work = search_work(v, effort);
	double per_class = in_use->n > 0 ? 2 : GREEDY_CLASSES;
	double classes = in_use->n > 0 ? (double) in_use->n : (double) v->result.release.nclasses;
	KanonStatus status;

	work *= problem->k < 8 && rows < LARGE ? 1.2 : problem->k < 50 ? 1.1 + 1 / (1 + rows / 1e4) : 2;
	work = fmax(work, effort * SEARCH_SHARE * spent);
	/*
	 * The wider the gap, the less reduced costs say which instances matter: as many
	 * for each class as it has per cent.  A short search has no time for more than two,
	 * unless prices have chosen them already.
	 */
	if ((round > 0 || v->box.low != NULL) && v->cost > 0 && v->cost < INFINITY)
		per_class = fmax(per_class, 100 * (v->cost - v->bound) / v->cost);
	status = filter(v, in_use,
					(size_t) (per_class * classes) + (problem->k < 50 && rows < LARGE ? 600 : 1000), &part);
	if (status != KANON_OK)
		return status;
	kanon_pace_phase(&v->pace, "search");
	g = kanon_alloc(env, part.nf, sizeof(*g));
	status = g == NULL ? KANON_NO_MEMORY : KANON_OK;
	if (status == KANON_OK)
	{
		for (uint32_t f = 0; f < part.nf; f++)
			g[f] = v->prices.g[part.id[f]];
		plan = (SearchPlan){problem->seed + (round < 2 ? 1 : 2), work, v->bound, g};
		status = ilp_search(&part, &plan, &cost, &open, &v->pace);
	}
	kanon_free(env, g);
	/* memory may have ended after something was found */
	if ((status == KANON_OK || status == KANON_NO_MEMORY) && cost < INFINITY &&
		keep_solution(v, cost, &open, &part, &v->model) != KANON_OK)
		status = KANON_NO_MEMORY;
	ilp_model_free(&part);
	kanon_free(env, open.v);
	return status;
}

/* Row types of the instances that fixing by a guess of the cost leaves. */
static size_t
left_by(Improve *v, double guess)
{
	const IlpModel *model = &v->model;
	size_t pairs = 0;

	v->pace.work += model->nf;
	for (uint32_t f = 0; f < model->nf; f++)
		if (v->prices.bound + fmax(0, v->prices.g[f]) <= guess)
			pairs += model->start[f + 1] - model->start[f];
	return pairs;
}

/*
 * The largest cost up to `target`, in a hundred steps from the bound, by which
 * fixing leaves few enough pairs; -INFINITY: there is none.
 */
static double
choose_guess(Improve *v, double target, size_t *pairs)
{
	double first = fmin(target, v->bound);
	double step = fmax(0.01 * (target - first), 1e-9 * fmax(1, fabs(target)));
	double guess = -INFINITY;

	if ((*pairs = left_by(v, target)) <= ILP_EXACT_PAIRS)
		return target;
	if (v->model.integral)
		step = fmax(1, floor(step));
	for (double next = first; next < target; next += step)
	{
		size_t left = left_by(v, next);

		if (left > ILP_EXACT_PAIRS)
			break;
		guess = next;
		*pairs = left;
	}
	return guess;
}

/* The solution of a copy of the model (ids are positions in it) that is the best. */
static KanonStatus
keep_answer(Improve *v, const IlpAnswer *answer, const IlpList *fixed)
{
	IlpList all = {0};
	KanonEnv *env = v->problem->env;
	KanonStatus status = KANON_OK;

	for (size_t j = 0; j < fixed->n + answer->open.n && status == KANON_OK; j++)
		if (!ilp_list_add(env, &all, j < fixed->n ? fixed->v[j] : answer->open.v[j - fixed->n]))
			status = KANON_NO_MEMORY;
	if (status == KANON_OK)
		status = keep_solution(v, answer->cost, &all, &v->model, NULL);
	kanon_free(env, all.v);
	return status;
}

/*
 * Solves the part that fixing leaves exactly, when it is small: a proof, or a better
 * solution than the search has found.  Where the gap is too wide for that, the
 * solutions of at most some guess are searched: the best of them, or a bound above it.
 */
static KanonStatus
finish_exactly(Improve *v)
{
	KanonEnv *env = v->problem->env;
	IlpAnswer answer = {0};
	IlpModel copy;
	IlpList fixed = {0};
	IlpPlan plan = {
		.pace = &v->pace, .report = v->report, .seed = v->problem->seed, .effort = 1, .gap = v->problem->gap};
	double target = ilp_cutoff(&v->model, v->cost);
	size_t pairs;
	double guess = choose_guess(v, target, &pairs);
	KanonStatus status;

	/* a gap that stays wide is not worth the time */
	if (guess < v->bound - ILP_EPS || ilp_beyond(&v->model, guess) - v->bound < 0.5 * (v->cost - v->bound))
		return KANON_OK;
	plan.max_nodes = (int64_t) fmax(1, v->problem->effort * fmin(3000, EXACT_NODES / (double) (pairs + 1)));
	status = ilp_fixed_copy(&v->model, &v->prices, guess, &copy, &fixed, &v->pace);
	if (status == KANON_OK)
	{
		kanon_pace_open(&v->pace, "solve");
		v->pace.within = true;
		status = ilp_solve(&copy, guess, &plan, &answer);
		v->report->nodes = plan.nodes;
		if (status == KANON_UNAVAILABLE)
			v->report->detail[0] = '\0'; /* without GLPK: no proof, no harm */
		else if (status == KANON_OK && answer.cost <= guess + ILP_EPS)
			status = keep_answer(v, &answer, &fixed);
		if (status == KANON_OK)
			v->bound = fmax(v->bound, fmin(v->cost, fmin(answer.bound, ilp_beyond(&v->model, guess))));
		if (status == KANON_UNAVAILABLE)
			status = KANON_OK;
		ilp_model_free(&copy);
	}
	kanon_free(env, answer.open.v);
	kanon_free(env, fixed.v);
	return status;
}

/* The lower bound, and the prices that go with it. */
static KanonStatus
find_bound(Improve *v, double upper, double effort)
{
	/* a pass over a large model costs much, and its last steps gain little */
	double steps = v->model.start[v->model.nf] > 1000000 ? 240 : 400;
	double deadline = v->pace.deadline;
	KanonStatus status;

	kanon_pace_share(&v->pace, deadline, BOUND_TIME);
	kanon_pace_open(&v->pace, "bound");
	v->prices.steps = 0;
	status = ilp_bound(&v->model, upper, (int64_t) (steps * fmax(0.1, sqrt(effort))), &v->prices, &v->pace);
	kanon_pace_share(&v->pace, deadline, 1);
	if (status == KANON_OK)
		v->bound = fmin(v->cost, fmax(v->bound, ilp_round_up(&v->model, v->prices.bound)));
	return status;
}

/* To whom it may concern: what is known now. */
static void
tell(Improve *v)
{
	double unit = v->instances.unit;

	v->pace.cost = unit * fmin(v->cost, v->result.cost);
	v->pace.bound = unit * v->bound;
	v->pace.bounded = v->bound > -INFINITY && v->pace.cost < INFINITY;
	kanon_pace_phase(&v->pace, v->pace.phase);
}

/*
 * Subgradient steps are as long as the gap: with the cost of a short search
 * they lead closer to the best prices, and these to a better choice of
 * instances for the long one.  More than the usual effort goes on after that.
 */
static KanonStatus
search_in_rounds(Improve *v, const IlpList *start)
{
	double effort = v->problem->effort;
	double usual = fmin(1, effort);
	double efforts[] = {0.1 * usual, usual, effort - 1};
	KanonStatus status = KANON_OK;

	for (int round = 0; round < (effort > 1 ? 3 : 2); round++)
	{
		/* (prices of a box are as good as they get in it) */
		if (v->box.low == NULL && round < 2 && goes_on(v, status))
			status = find_bound(v, v->cost, usual);
		tell(v);
		if (goes_on(v, status))
			status = search(v, start, round, efforts[round]);
		tell(v);
	}
	return status;
}

/* A large table has time for one search alone, and greedy's release is start enough for the bound that it goes by. */
static KanonStatus
search_once(Improve *v)
{
	IlpList none = {0};
	KanonStatus status;

	v->cost = v->result.cost;
	status = find_bound(v, GREEDY_AIM * v->cost, fmin(1, v->problem->effort));
	tell(v);
	if (goes_on(v, status))
		status = search(v, &none, 0, v->problem->effort);
	tell(v);
	return status;
}

/* A short search on all instances first. */
static KanonStatus
search_small(Improve *v)
{
	const KanonProblem *problem = v->problem;
	IlpList start = {0};
	double cost;
	KanonStatus status;

	kanon_pace_phase(&v->pace, "start");
	status =
		ilp_search(&v->model,
				   &(SearchPlan){.seed = problem->seed,
								 .work = fmin(1, problem->effort) * 1000 * row_units(v->model.n, v->model.m),
								 .target = v->bound},
				   &cost, &start, &v->pace);
	if (status == KANON_OK)
		status = keep_solution(v, cost, &start, &v->model, NULL);
	tell(v);
	if (status == KANON_OK)
		status = search_in_rounds(v, &start);
	kanon_free(problem->env, start.v);
	return status;
}

static KanonStatus
run(Improve *v)
{
	const KanonProblem *problem = v->problem;
	KanonStatus status;

	kanon_pace_phase(&v->pace, "reduce");
	status = ilp_model_build(problem, &v->instances, false, &v->pace, &v->model);
	if (status == KANON_OK)
		status = ilp_reduce(&v->model, &v->fixed, &v->pace);
	if (status == KANON_OK)
		status = ilp_model_transpose(&v->model, &v->pace);
	if (status != KANON_OK)
		return status;
	v->bound = fmax(v->bound, ilp_round_up(&v->model, ilp_model_floor(&v->model)));
	if (v->pace.late)
		return status;
	if (row_units(v->model.n, v->model.m) > ILP_ONE_SEARCH_ROWS && v->result.cost < INFINITY)
		status = search_once(v);
	else
		status = search_small(v);
	if (goes_on(v, status))
		status = finish_exactly(v);
	return status;
}

/* All instances; KANON_TOO_LARGE and KANON_NO_MEMORY: those are too many. */
static KanonStatus
build(Improve *v, size_t most_pairs)
{
	if (v->start != NULL && v->start->instances.start != NULL &&
		v->start->instances.start[v->start->instances.n] <= most_pairs)
	{
		v->instances = v->start->instances;
		v->shared = true;
		/* as if it had been done here: the search's share depends on it */
		v->pace.work += (uint64_t) v->instances.steps;
		return KANON_OK;
	}
	return kanon_instances_build(v->problem, KANON_INSTANCES_CLOSED, INFINITY, most_pairs, &v->pace,
								 &v->instances);
}

/* Where they are too many: those that prices ask for, and greedy's. */
static KanonStatus
run_priced(Improve *v, size_t most_pairs)
{
	const KanonProblem *problem = v->problem;
	IlpList start = {0};
	uint32_t first;
	PricedInto into;
	KanonStatus status;

	kanon_pace_open(&v->pace, "bound");
	into = (PricedInto){&v->instances, &first, &v->model, &v->prices,
						row_units(problem->rows, problem->ntypes) > ILP_ONE_SEARCH_ROWS ? NULL : &v->box};
	status = improve_priced(problem, &v->result, most_pairs, fmin(1, problem->effort), &into, &v->pace);
	if (status != KANON_OK)
		return status;
	v->cost = v->result.cost;
	v->bound = fmin(v->cost, fmax(v->bound, ilp_round_up(&v->model, v->prices.bound)));
	for (uint32_t f = first; f < v->model.nf && status == KANON_OK; f++)
		if (!ilp_list_add(problem->env, &start, f))
			status = KANON_NO_MEMORY;
	tell(v);
	if (status == KANON_OK && v->box.low != NULL)
		status = search_in_rounds(v, &start);
	else if (goes_on(v, status))
		status = search(v, &start, 1, problem->effort);
	tell(v);
	kanon_free(problem->env, start.v);
	return status;
}

/*
 * A bound on the cost before there are instances: rows that are too few lose a cell at
 * least.  (Types that differ in extra columns alone may be enough together.)
 */
static double
first_bound(const KanonProblem *problem, const KanonInstances *grid)
{
	double rows = 0;

	if (problem->nextra > 0)
		return 0;
	for (int c = 0; c < problem->ncolumns; c++)
		if (!(problem->columns[c].weight > 0))
			return 0;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (problem->rows[i] < problem->k)
			rows += (double) problem->rows[i];
	return rows * grid->least;
}

KanonStatus
improve_from(const KanonProblem *problem, const IlpStart *start, KanonRelease *release, KanonReport *report)
{
	Improve v = {.problem = problem, .start = start, .report = report, .cost = INFINITY};
	KanonEnv *env = problem->env;
	double begin = env->now(env->arg);
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	kanon_pace_limit(&v.pace, problem, "greedy");
	kanon_instances_grid(problem, &v.instances);
	v.bound = first_bound(problem, &v.instances);
	status = ilp_greedy(problem, &v.instances, start, &v.result, report);
	kanon_pace_open(&v.pace, "instances");
	if (status == KANON_OK && !kanon_poll(&v.pace) && !v.pace.late)
	{
		size_t most_pairs =
			env->foreign > 0 && env->foreign / PAIR_BYTES < MAX_PAIRS ? env->foreign / PAIR_BYTES : MAX_PAIRS;

		status = build(&v, most_pairs < ALL_PAIRS ? most_pairs : ALL_PAIRS);
		if (status == KANON_OK)
			status = run(&v);
		else if ((status == KANON_TOO_LARGE || status == KANON_NO_MEMORY) && !v.pace.late)
			status = run_priced(&v, most_pairs);
		ilp_model_free(&v.model);
		ilp_prices_free(env, &v.prices);
		/* what was found before memory or time ended is a solution, too */
		if ((status == KANON_OK || status == KANON_NO_MEMORY) && v.cost < INFINITY)
			status = ilp_offer_all(problem, &v.instances, &v.used, &v.result, &v.pace);
		if (status == KANON_TOO_LARGE || status == KANON_NO_MEMORY)
			status = KANON_OK; /* the release so far stands */
	}
	if (v.pace.cancelled)
		status = KANON_CANCELLED;
	if (status == KANON_OK && v.result.cost == INFINITY)
	{
		snprintf(report->detail, sizeof(report->detail), "rows are left over");
		status = KANON_RESIDUAL;
	}
	if (status == KANON_OK)
		status = ilp_conclude(problem, &v.instances, &v.result, v.bound, release, report);
	report->seconds = env->now(env->arg) - begin;
	kanon_release_free(problem, &v.result.release);
	if (!v.shared)
		kanon_instances_free(env, &v.instances);
	kanon_free(env, v.fixed.v);
	kanon_free(env, v.used.v);
	ilp_box_free(env, &v.box);
	return status;
}
