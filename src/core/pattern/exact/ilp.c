/*
 * ilp.c: the exact method: proven least cost for the mask.
 *
 * Bredereck, Nichterlein, Niedermeier, "Pattern-Guided k-Anonymity", Algorithms
 * 6(4), 2013, section 3.4, in the savings form of program_model.h, whose linear relaxation
 * is much tighter than the paper's and which needs far fewer integer variables.
 *
 * Fully suppressed rows may be fewer than k (residual SUPPRESS), or are left out (DROP),
 * priced as if they were suppressed; with ERROR they are none or at least k, which is a
 * constraint of the model.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/exact/exact.h"
#include "privacy/rules.h"
#include "pattern/program/program_model.h"

/* Row types of all instances together, at most. */
#define MAX_PAIRS ((size_t) 60 * 1000 * 1000)

/* Part of a cost by which sums of the same weights may differ. */
#define SUMMED 1e-12

typedef struct Exact
{
	const KanonProblem *problem;
	const IlpStart *start; /* or NULL */
	KanonReport *report;
	KanonPace pace;
	KanonInstances instances;
	IlpPlan plan;
	IlpResult result;
	IlpList used;
	double bound; /* in units */
} Exact;

static KanonStatus
solve_relaxed(Exact *e)
{
	IlpModel model;
	IlpAnswer answer = {0};
	IlpList fixed = {0};
	KanonEnv *env = e->problem->env;
	KanonStatus status;

	kanon_pace_phase(&e->pace, "reduce");
	status = ilp_model_build(e->problem, &e->instances, false, &e->pace, &model);
	if (status == KANON_OK)
		status = ilp_reduce(&model, &fixed, &e->pace);
	kanon_pace_open(&e->pace, "solve");
	e->pace.within = true;
	if (status == KANON_OK)
		status = ilp_solve(&model, INFINITY, &e->plan, &answer);
	ilp_model_free(&model);
	for (size_t j = 0; j < fixed.n && status == KANON_OK; j++)
		if (!ilp_list_add(env, &answer.open, fixed.v[j]))
			status = KANON_NO_MEMORY;
	if (status == KANON_OK)
		e->bound = answer.bound;
	e->used = answer.open;
	kanon_free(env, fixed.v);
	return status;
}

/*
 * residual ERROR where the relaxed optimum leaves 1 .. k-1 rows: the model with
 * the fully suppressed rows as one more instance and every row in an instance.
 * The relaxed prices are still a bound, so fixing by them is, too.
 */
static KanonStatus
solve_strict(Exact *e)
{
	KanonEnv *env = e->problem->env;
	IlpModel model;
	IlpPrices prices = {0};
	IlpSettings settings = {.cuts = true, .gap = e->problem->gap};
	IlpOutcome outcome = {0};
	IlpList open = {0};
	uint32_t dropped;
	bool rest = false;
	double cutoff;
	KanonStatus status = ilp_model_build(e->problem, &e->instances, true, &e->pace, &model);

	if (status == KANON_OK)
		status = ilp_model_compact(&model, NULL, &e->pace);
	if (status == KANON_OK)
		status = ilp_model_transpose(&model, &e->pace);
	cutoff = e->result.cost < INFINITY ? ilp_cutoff(&model, e->result.cost) : INFINITY;
	if (status == KANON_OK && cutoff < INFINITY)
	{
		status = ilp_lagrange(&model, e->result.cost, 400, &prices, &e->pace);
		if (status == KANON_OK)
		{
			prices.g[model.nf - 1] = 0; /* rows need a place to go */
			status = ilp_fix(&model, &prices, cutoff, &dropped, &e->pace);
		}
		ilp_prices_free(env, &prices);
	}
	if (status == KANON_OK && !e->pace.late)
		status = ilp_glpk(&model, cutoff, &settings, &outcome, &open, &e->pace, e->report);
	e->plan.nodes += outcome.nodes;
	if (status == KANON_OK && outcome.found)
	{
		e->used.n = 0;
		for (size_t j = 0; j < open.n && status == KANON_OK; j++)
		{
			if (model.id[open.v[j]] == e->instances.n)
				rest = true;
			else if (!ilp_list_add(env, &e->used, model.id[open.v[j]]))
				status = KANON_NO_MEMORY;
		}
		if (status == KANON_OK)
			status = ilp_offer(e->problem, &e->instances, &e->used, rest ? ILP_REST_CLASS : ILP_REST_NONE,
							   &e->result, &e->pace);
	}
	if (status == KANON_OK && outcome.complete && e->result.cost == INFINITY)
	{
		snprintf(e->report->detail, sizeof(e->report->detail),
				 "no release leaves none or at least k rows fully suppressed");
		status = KANON_INFEASIBLE;
	}
	else if (status == KANON_OK)
		e->bound = fmax(e->bound, fmin(e->result.cost, ilp_round_up(&model, outcome.bound)));
	ilp_model_free(&model);
	kanon_free(env, open.v);
	return status;
}

/* From the instances used to the release. */
static KanonStatus
assign(Exact *e)
{
	const KanonProblem *problem = e->problem;
	KanonStatus status = ilp_offer(problem, &e->instances, &e->used, ILP_REST_ANY, &e->result, &e->pace);

	if (status != KANON_OK || !kanon_rest_strict(problem) ||
		e->result.cost <= e->bound + (e->instances.integral ? 0.5 : KANON_SAME * fabs(e->bound)))
		return status;
	status = ilp_offer(problem, &e->instances, &e->used, ILP_REST_NONE, &e->result, &e->pace);
	if (status == KANON_OK)
		status = ilp_offer(problem, &e->instances, &e->used, ILP_REST_CLASS, &e->result, &e->pace);
	if (status == KANON_OK && !e->pace.late &&
		e->result.cost > e->bound + (e->instances.integral ? 0.5 : KANON_SAME * fabs(e->bound)))
		status = solve_strict(e);
	if (status == KANON_OK && e->result.cost == INFINITY)
	{
		snprintf(e->report->detail, sizeof(e->report->detail), "rows are left over");
		status = KANON_RESIDUAL;
	}
	return status;
}

/*
 * Greedy is optimal when it gives every row its cheapest live instance.  That is
 * seen without the model: pattern by pattern, cheapest first, until all types
 * are placed or one could have done better.
 */
static KanonStatus
greedy_is_optimal(Exact *e, bool *optimal)
{
	const KanonProblem *problem = e->problem;
	const KanonRelease *release = &e->result.release;
	KanonEnv *env = problem->env;
	KanonInstances probe = {0};
	const KanonInstances *few = &probe;
	double *cost = kanon_alloc0(env, problem->ntypes, sizeof(*cost));
	double highest = 0;
	size_t most = (size_t) problem->ntypes * 16 + 1000;
	size_t pairs = 0;
	KanonStatus status = KANON_OK;

	*optimal = false;
	if (cost == NULL)
		return KANON_NO_MEMORY;
	for (size_t j = 0; j < release->nflows; j++)
	{
		double price = release->flows[j].class_ == KANON_DROPPED
						   ? e->instances.all_cost
						   : kanon_instances_cost(problem, &e->instances,
												  release->classes[release->flows[j].class_].pattern);

		cost[release->flows[j].type] = fmax(cost[release->flows[j].type], price);
		highest = fmax(highest, price);
	}
	/* instances that cost less than greedy's costliest class, if they are few */
	highest = e->instances.integral ? highest - 0.5 : highest * (1 - SUMMED);
	if (e->start != NULL)
		few = &e->start->instances;
	else
		status = kanon_instances_build(problem, KANON_INSTANCES_CLOSED, highest, most, &e->pace, &probe);
	*optimal = status == KANON_OK;
	for (uint32_t f = 0; f < few->n && *optimal; f++)
	{
		if (few->cost[f] > highest)
			continue;
		pairs += few->start[f + 1] - few->start[f];
		*optimal = pairs <= most;
		for (size_t p = few->start[f]; p < few->start[f + 1] && *optimal; p++)
			*optimal = few->cost[f] >= cost[few->type[p]] * (1 - SUMMED);
	}
	kanon_instances_free(env, &probe);
	kanon_free(env, cost);
	return status == KANON_TOO_LARGE ? KANON_OK : status;
}

static KanonStatus
solve_exact(Exact *e)
{
	bool optimal = false;
	KanonStatus status;

	kanon_instances_grid(e->problem, &e->instances);
	kanon_pace_phase(&e->pace, "greedy");
	status = ilp_greedy(e->problem, &e->instances, e->start, &e->result, e->report);
	if (status != KANON_OK)
		return status;
	kanon_pace_open(&e->pace, "instances");
	if (e->result.cost < INFINITY)
		status = greedy_is_optimal(e, &optimal);
	if (status != KANON_OK)
		return status;
	if (optimal)
	{
		e->bound = e->result.cost;
		return KANON_OK;
	}
	if (e->start != NULL)
		e->instances = e->start->instances;
	else
		status = kanon_instances_build(e->problem, KANON_INSTANCES_CLOSED, INFINITY, MAX_PAIRS, &e->pace,
									   &e->instances);
	if (status == KANON_TOO_LARGE && e->pace.late)
	{
		/* greedy's release, if it has one, and no bound */
		if (e->result.cost < INFINITY)
			return KANON_OK;
		snprintf(e->report->detail, sizeof(e->report->detail), "rows are left over");
		return KANON_RESIDUAL;
	}
	if (status == KANON_TOO_LARGE)
		snprintf(e->report->detail, sizeof(e->report->detail), "the model has more than %zu variables",
				 MAX_PAIRS);
	if (status == KANON_OK)
		status = solve_relaxed(e);
	if (status == KANON_OK)
		status = assign(e);
	return status;
}

KanonStatus
ilp_solve_limited(const KanonProblem *problem, const IlpStart *start, KanonRelease *release,
				  KanonReport *report, int64_t max_nodes)
{
	Exact e = {.problem = problem, .start = start, .report = report, .bound = -INFINITY};
	double begin = problem->env->now(problem->env->arg);
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
#ifndef HAVE_GLPK
	snprintf(report->detail, sizeof(report->detail), "built without GLPK");
	return KANON_UNAVAILABLE;
#endif
	kanon_pace_limit(&e.pace, problem, "greedy");
	e.plan = (IlpPlan){.pace = &e.pace,
					   .report = report,
					   .seed = problem->seed,
					   .effort = 1,
					   .gap = problem->gap,
					   .max_nodes = max_nodes};
	status = solve_exact(&e);
	if (status == KANON_OK)
		status = ilp_conclude(problem, &e.instances, &e.result, e.bound, release, report);
	report->nodes = e.plan.nodes;
	report->seconds = problem->env->now(problem->env->arg) - begin;
	kanon_release_free(problem, &e.result.release);
	if (start == NULL)
		kanon_instances_free(problem->env, &e.instances);
	kanon_free(problem->env, e.used.v);
	return status;
}

KanonStatus
kanon_solve_ilp(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (kanon_by_types(problem))
		return ruled_solve(problem, kanon_solve_ilp, RULED_STRICT | RULED_SEARCH | RULED_EXACT, release,
						   report);
	return ilp_solve_limited(problem, NULL, release, report, 0);
}
