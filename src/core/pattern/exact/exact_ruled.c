/*
 * exact_ruled.c: methods that know k alone, under rules beyond k.
 *
 * The method's release of the plain problem (row types without sensitive values and
 * persons, instances without hope left out: release/plain.c) bounds what any release under
 * the rules costs.  It is mended (release/repair.c), compared with what greedy finds under
 * the rules, and improved by ruin and recreate (search/search_ruled.c).  Sensitive values need no
 * row types in the model that is solved for the bound, so that it is as large as without
 * rules.
 *
 * Linear rules and small tables have an exact model, too (ilp_privacy.c).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/exact/exact.h"
#include "pattern/program/program_model.h"
#include "release/release.h"
#include "pattern/search/search.h"

/* Row types of all instances together, at most, for ruin and recreate. */
#define SEARCH_PAIRS ((size_t) 8 * 1000 * 1000)

/* Up to which the exact model is tried at once (by who does not prove: tiny ones), and after the search. */
#define TINY_PAIRS ((size_t) 300)
#define SMALL_PAIRS ((size_t) 1500)
#define EXACT_PAIRS RULED_PAIRS

/* Rows of a type: with more, GLPK's floating point takes what can be done for what cannot. */
#define EXACT_ROWS ((int64_t) 10 * 1000 * 1000)

/* Shares of the time allowed that the plain problem and the search take. */
#define PLAIN_TIME 0.5
#define SEARCH_TIME 0.8
#define BOUND_TIME 0.3

/* Subgradient steps, and how many times longer the search is when a proof is asked for. */
#define BOUND_STEPS 400
#define EXACT_EFFORT 4

typedef struct Ruled
{
	const KanonProblem *problem;
	unsigned how;
	KanonReport *report;
	KanonInstances grid;
	KanonInstances instances; /* of the row types with all that rules look at */
	bool listed;              /* they are there */
	double max_cost;          /* but for those above this cost, in units */
	IlpResult best;
	KanonStatus failed; /* why there is none */
	double bound;       /* in units; rows left out are priced as fully suppressed */
	IlpPrices prices;   /* of the instances; g NULL: none */
	int64_t nodes;
	double start;
	double end;
} Ruled;

static double
now(const Ruled *r)
{
	return r->problem->env->now(r->problem->env->arg);
}

/* Is what is there as good as any release? */
static bool
proven(const Ruled *r)
{
	double slack = kanon_instances_slack(&r->grid, r->best.cost);

	return r->best.cost < INFINITY && r->best.cost - r->bound <= slack + r->problem->gap * r->best.cost;
}

static KanonStatus
keep(Ruled *r, KanonRelease *release, double cost)
{
	IlpResult mine = {.release = *release, .cost = cost};

	memset(release, 0, sizeof(*release));
	return ilp_keep(r->problem, &mine, &r->best);
}

/* Failures of one way to a release, which another may not share. */
static bool
is_no_release(KanonStatus status)
{
	return status == KANON_REST_FORBIDDEN || status == KANON_RESIDUAL || status == KANON_NOT_FOUND ||
		   status == KANON_INFEASIBLE;
}

/* The method's release of the plain problem, mended; its bound. */
static KanonStatus
solve_plain(Ruled *r, KanonSolve solve)
{
	KanonPlain plain;
	KanonRelease solved = {0};
	KanonRelease mended = {0};
	KanonReport report = {0};
	bool once = (r->how & RULED_ONCE) != 0;
	KanonStatus status = kanon_plain_open(r->problem, (r->how & RULED_STRICT) != 0, &plain);

	if (!once)
		plain.problem.residual = KANON_RESIDUAL_SUPPRESS;
	plain.problem.time_limit *= PLAIN_TIME;
	if (status == KANON_OK)
		status = solve(&plain.problem, &solved, &report);
	if (status == KANON_OK)
	{
		r->bound = report.lower_bound / r->grid.unit;
		r->nodes += report.nodes;
		status = kanon_mend(&plain, &solved, once, r->end < INFINITY ? r->end : 0, &mended, &report);
	}
	memcpy(r->report->detail, report.detail, sizeof(report.detail));
	if (status == KANON_OK)
		status = keep(r, &mended, report.cost / r->grid.unit + (double) mended.dropped * r->grid.all_cost);
	else if (is_no_release(status) && (!once || ((r->how & RULED_EXACT) != 0 && status != KANON_INFEASIBLE)))
	{
		r->failed = status;
		status = KANON_OK;
	}
	kanon_release_free(&plain.problem, &solved);
	kanon_plain_close(&plain);
	return status;
}

static KanonStatus
solve_greedily(Ruled *r)
{
	KanonReport report = {0};
	KanonRelease release = {0};
	KanonStatus status = kanon_solve_greedy(r->problem, &release, &report);

	if (status == KANON_OK)
		status = keep(r, &release, report.cost / r->grid.unit + (double) release.dropped * r->grid.all_cost);
	return is_no_release(status) ? KANON_OK : status;
}

/* The instances, if they are not too many: without the costliest then, which few rows are in. */
static KanonStatus
list_instances(Ruled *r)
{
	const KanonProblem *problem = r->problem;
	KanonInstanceMode mode = kanon_privacy_monotone(problem->privacy) && (r->how & RULED_ONCE) == 0
								 ? KANON_INSTANCES_CLOSED
								 : KANON_INSTANCES_ALL;
	double highest = r->grid.all_cost;
	KanonPace pace;
	KanonStatus status;

	kanon_pace_limit(&pace, problem, "instances");
	if (pace.deadline > 0)
		pace.deadline = r->end;
	for (r->max_cost = INFINITY;; r->max_cost = highest)
	{
		status = kanon_instances_build(problem, mode, r->max_cost, SEARCH_PAIRS, &pace, &r->instances);
		highest *= 0.8;
		if (status != KANON_TOO_LARGE || highest <= 1e-9 || pace.late)
			break;
	}
	r->listed = status == KANON_OK;
	return status == KANON_TOO_LARGE ? KANON_OK : status;
}

/*
 * The Lagrangian bound of the model in which each class has k rows and as many different
 * values as a rule asks for: rows of rare values are not enough for every class that could
 * be.
 */
static KanonStatus
find_bound(Ruled *r)
{
	const KanonProblem *problem = r->problem;
	uint32_t needed;
	const KanonPrivacyRule *rule = kanon_most_values(problem, &needed);
	IlpModel model;
	KanonPace pace;
	KanonStatus status;

	if (!r->listed || r->max_cost < INFINITY || rule == NULL || r->best.cost == INFINITY)
		return KANON_OK;
	kanon_pace_limit(&pace, problem, "bound");
	if (pace.deadline > 0)
		pace.deadline = fmin(r->end, now(r) + BOUND_TIME * (r->end - now(r)));
	status = ilp_model_build(problem, &r->instances, false, &pace, &model);
	if (status == KANON_OK)
		status = ilp_model_transpose(&model, &pace);
	r->prices.steps = 0;
	model.values_needed = needed;
	model.value = problem->extra[rule->column].code;
	model.nvalues = problem->extra[rule->column].distinct;
	if (status == KANON_OK)
		status = ilp_lagrange(&model, r->best.cost,
							  (int64_t) (BOUND_STEPS * fmax(0.1, sqrt(problem->effort))), &r->prices, &pace);
	if (status == KANON_OK)
		r->bound = fmax(r->bound, fmin(r->best.cost, ilp_round_up(&model, r->prices.bound)));
	ilp_model_free(&model);
	return status;
}

/* Ruin and recreate from the best release so far. */
static KanonStatus
improve(Ruled *r)
{
	const KanonProblem *problem = r->problem;
	double rows = 0;
	double work;
	double cost;
	KanonRelease found;
	KanonPace pace;
	KanonStatus status;

	if (!r->listed || r->best.cost == INFINITY)
		return KANON_OK;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows += (double) (problem->rows[i] < 64 ? problem->rows[i] : 64);
	work = problem->effort * fmax(fmin(3e9 / (1 + rows / 3e4), 1e6 * rows), 2e4 * rows);
	/* who proves has the time for it */
	if ((r->how & RULED_EXACT) != 0)
		work *= EXACT_EFFORT;
	kanon_pace_limit(&pace, problem, "search");
	if (pace.deadline > 0)
		pace.deadline = fmin(r->end, r->start + SEARCH_TIME * problem->time_limit);
	pace.cost = r->grid.unit * r->best.cost;
	pace.bound = r->grid.unit * r->bound;
	pace.bounded = r->bound > -INFINITY;
	/* GLPK's is not in order yet */
	status = kanon_release_finish(problem, &r->best.release, r->report);
	if (status != KANON_OK)
		return status;
	status = kanon_search_ruled(problem, &r->instances, &r->best.release,
								&(SearchPlan){.g = r->prices.g, .work = work, .target = r->bound + ILP_EPS},
								&cost, &found, &pace);
	if (status == KANON_OK && cost < INFINITY)
		status = keep(r, &found, cost);
	return status;
}

/* Linear rules, exactly: `pairs` row types of all instances together at most. */
static KanonStatus
solve_exactly(Ruled *r, size_t pairs, int64_t most_nodes)
{
	const KanonInstances *instances = &r->instances;
	KanonProblem part = *r->problem;
	bool once = (r->how & RULED_ONCE) != 0;
	KanonStatus status;

	if (!r->listed || r->max_cost < INFINITY || instances->start[instances->n] > pairs || proven(r))
		return KANON_OK;
	/* a rule that rows lose by being one class may need one within another, and so may patterns that are used up */
	if (instances->closed && (once || !kanon_privacy_monotone(r->problem->privacy)))
		return KANON_OK;
	if (once)
		part.residual = KANON_RESIDUAL_ERROR;
	for (uint32_t i = 0; i < part.ntypes; i++)
		if (part.rows[i] > EXACT_ROWS)
			return KANON_OK;
	/* a search that is to follow has its time, too */
	part.time_limit = fmax(1e-6, (pairs > SMALL_PAIRS ? 1 : PLAIN_TIME) * (r->end - now(r)));
	status = ilp_solve_privacy(&part, instances, once, most_nodes, &r->best, &r->bound, &r->nodes, r->report);
	/* greedy's and the search's releases are there all the same */
	return status == KANON_UNSUPPORTED || status == KANON_UNAVAILABLE || status == KANON_TOO_LARGE ? KANON_OK
																								   : status;
}

static KanonStatus
better_ones(Ruled *r)
{
	bool exact = (r->how & RULED_EXACT) != 0;
	KanonStatus status = KANON_OK;

	if (proven(r) || (r->how & (RULED_SEARCH | RULED_EXACT)) == 0)
		return KANON_OK;
	status = list_instances(r);
	if (status == KANON_OK)
		status = solve_exactly(r, exact ? SMALL_PAIRS : TINY_PAIRS,
							   exact ? 0 : (int64_t) fmax(1, 1000 * r->problem->effort));
	if (status == KANON_OK && !proven(r) && (r->how & RULED_SEARCH) != 0 && now(r) < r->end)
		status = find_bound(r);
	if (status == KANON_OK && !proven(r) && (r->how & RULED_SEARCH) != 0 && now(r) < r->end)
		status = improve(r);
	/* steps are as long as the gap: the better release leads closer */
	if (status == KANON_OK && !proven(r) && (r->how & RULED_SEARCH) != 0 && now(r) < r->end)
		status = find_bound(r);
	if (status == KANON_OK && exact && now(r) < r->end)
		status = solve_exactly(r, EXACT_PAIRS, 0);
	return status;
}

static KanonStatus
conclude(Ruled *r, KanonRelease *release)
{
	bool once = (r->how & RULED_ONCE) != 0;
	KanonStatus status;

	if (r->best.cost < INFINITY)
	{
		r->report->detail[0] = '\0';
		return ilp_conclude(r->problem, &r->grid, &r->best, r->bound, release, r->report);
	}
	status = r->failed;
	if (r->bound == INFINITY)
	{
		snprintf(
			r->report->detail, sizeof(r->report->detail),
			once ? "the rows cannot be divided into classes of at least k rows that keep the privacy rules, "
				   "one for each listed pattern"
				 : "the privacy rules cannot be kept by all rows");
		status = KANON_INFEASIBLE;
	}
	return status;
}

KanonStatus
ruled_solve(const KanonProblem *problem, KanonSolve solve, unsigned how, KanonRelease *release,
			KanonReport *report)
{
	Ruled r = {.problem = problem,
			   .how = how,
			   .report = report,
			   .best = {.cost = INFINITY},
			   .failed = KANON_NOT_FOUND,
			   .bound = -INFINITY};
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	if (problem->npopulations > 0)
		return KANON_UNSUPPORTED;
	r.start = now(&r);
	r.end = r.start + problem->time_limit;
	kanon_instances_grid(problem, &r.grid);
	status = solve_plain(&r, solve);
	if (status == KANON_OK && (how & RULED_ONCE) == 0 && !proven(&r))
		status = solve_greedily(&r);
	if (status == KANON_OK)
		status = better_ones(&r);
	if (status == KANON_OK)
		status = conclude(&r, release);
	report->nodes = r.nodes;
	report->guarantee = 0;
	report->seconds = now(&r) - r.start;
	kanon_release_free(problem, &r.best.release);
	ilp_prices_free(problem->env, &r.prices);
	kanon_instances_free(problem->env, &r.instances);
	return status;
}
