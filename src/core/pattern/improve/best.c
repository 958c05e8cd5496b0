/*
 * best.c: methods `best` and `improve`.  `best` tries the exact method when the model
 * is small enough for a likely proof; `improve` only when that takes no noticeable time.
 * Otherwise both run the anytime method.
 */
#include <math.h>
#include <string.h>

#include "pattern/improve/improve.h"
#include "pattern/exact/exact.h"

/* Row types of all closed instances together, up to which a proof is likely. */
#define FITS ((size_t) 400 * 1000)

/* Branch-and-bound nodes to give it: work, not time, so that runs repeat. */
#define NODES 20000

/* The same of a model that is solved before any search could begin. */
#define SMALL_FITS 4000
#define SMALL_NODES 1000

/*
 * k = 2 is the easier problem: of so many row types, where each is in so many closed instances as
 * many patterns make, pairs and triples are proven sooner than the model.  Work, lest a linear
 * program that gets nowhere takes much longer than the search that follows it.
 */
#define MATCHED_TYPES 4000
#define MATCHED_FROM ((size_t) 128)
#define MATCHED_WORK 6e9

/* Cost with the rows left out priced as if suppressed. */
static double
priced(const KanonProblem *problem, const KanonRelease *release, double cost)
{
	return cost +
		   (double) release->dropped * kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));
}

/* Improves what the exact method has left unproven; the better of both stays. */
static KanonStatus
improve_on(const KanonProblem *problem, const IlpStart *start, bool have, KanonRelease *release,
		   KanonReport *report)
{
	KanonRelease other;
	KanonReport other_report;
	KanonStatus status = improve_from(problem, start, &other, &other_report);
	const KanonInstances *grid = &start->instances;
	double mine;
	double bound;
	IlpResult kept;

	if (!have || status != KANON_OK)
	{
		kanon_release_free(problem, release);
		*release = other;
		*report = other_report;
		return status;
	}
	mine = priced(problem, release, report->cost);
	kept = (IlpResult){*release, mine};
	bound = fmax(priced(problem, release, report->lower_bound),
				 priced(problem, &other, other_report.lower_bound));
	other_report.nodes += report->nodes;
	status = ilp_keep(problem, &(IlpResult){other, priced(problem, &other, other_report.cost)}, &kept);
	*release = kept.release;
	if (status != KANON_OK)
	{
		kanon_release_free(problem, release);
		return status;
	}
	if (kept.cost < mine)
		report->cost = other_report.cost;
	mine = kept.cost;
	report->nodes = other_report.nodes;
	report->lower_bound = fmin(report->cost, bound - priced(problem, release, 0));
	report->proven =
		mine - bound <= problem->gap * mine + kanon_instances_slack(grid, mine / grid->unit) * grid->unit;
	return KANON_OK;
}

/* The instances, when the model is small enough for the exact method, and greedy's release. */
static KanonStatus
prepare(const KanonProblem *problem, size_t pairs, IlpStart *start, KanonReport *report)
{
	KanonPace pace;
	KanonStatus status;

	kanon_pace_limit(&pace, problem, "instances");
	kanon_pace_open(&pace, "instances");
	status =
		kanon_instances_build(problem, KANON_INSTANCES_CLOSED, INFINITY, pairs, &pace, &start->instances);
	if (status != KANON_OK && status != KANON_TOO_LARGE && status != KANON_NO_MEMORY)
		return status;
	return ilp_greedy(problem, &start->instances, NULL, &start->greedy, report);
}

/* Exactly, when the model has at most so many pairs; improve goes on from what that leaves unproven. */
static KanonStatus
solve(const KanonProblem *problem, size_t pairs, double nodes, bool match, KanonRelease *release,
	  KanonReport *report)
{
	KanonEnv *env = problem->env;
	KanonProblem part = *problem;
	double begin = env->now(env->arg);
	IlpStart start = {0};
	bool exact;
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	match = match && problem->k == 2 && problem->ntypes <= MATCHED_TYPES;
	if (match && pairs > MATCHED_FROM * problem->ntypes)
		pairs = MATCHED_FROM * problem->ntypes;
	status = prepare(problem, pairs, &start, report);
	exact = status == KANON_OK && (match || start.instances.start != NULL);
	if (exact)
	{
		part.time_limit = problem->time_limit / 2;
		if (start.instances.start != NULL)
			status =
				ilp_solve_limited(&part, &start, release, report, (int64_t) fmax(1, nodes * problem->effort));
		else
			status = groups_solve_limited(&part, &start, (uint64_t) MATCHED_WORK, release, report);
		exact = status == KANON_OK;
		/* what else ended it need not end the other */
		if (status != KANON_CANCELLED && status != KANON_INFEASIBLE)
			status = KANON_OK;
	}
	if (status == KANON_OK && (!exact || !report->proven))
	{
		part.time_limit = fmax(1e-6, problem->time_limit - (env->now(env->arg) - begin));
		status = improve_on(&part, &start, exact, release, report);
	}
	kanon_release_free(problem, &start.greedy.release);
	kanon_instances_free(env, &start.instances);
	report->seconds = env->now(env->arg) - begin;
	return status;
}

KanonStatus
kanon_solve_best(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (kanon_by_types(problem))
		return ruled_solve(problem, kanon_solve_best, RULED_STRICT | RULED_SEARCH | RULED_EXACT, release,
						   report);
	return solve(problem, FITS, NODES, true, release, report);
}

KanonStatus
kanon_solve_improve(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (kanon_by_types(problem))
		return ruled_solve(problem, kanon_solve_improve, RULED_STRICT | RULED_SEARCH, release, report);
	return solve(problem, SMALL_FITS, SMALL_NODES, false, release, report);
}
