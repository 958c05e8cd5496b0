/*
 * greedy_orders.c: the greedy heuristic, tried with several orders of equally costly patterns.
 *
 * The paper leaves open which of two equally costly patterns comes first, and that decides much: of how
 * many cells are lost, and of how many classes there are.  A run on a small table takes milliseconds, so
 * other orders are tried as well, for as much work as a large table takes alone.  Rows that rules beyond k leave
 * over are mended.
 */
#include <math.h>

#include "pattern/greedy/greedy.h"
#include "privacy/rules.h"
#include "release/release.h"
#include "util/number.h"

/* Orders that have a name, and those that are drawn after them; work of all. */
#define NAMED 4
#define DRAWN 96
#define ORDERS_WORK ((uint64_t) 1 << 26)

/* Does a pattern that suppresses more always cost more?  (Not with weights of 0.) */
static bool
is_strict(const KanonProblem *problem)
{
	double all = kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));

	for (int c = 0; c < problem->ncolumns; c++)
		if (!(problem->columns[c].weight > all * 0x1p-28))
			return false;
	return true;
}

/* The best release so far. */
typedef struct Best
{
	KanonRelease *release;
	KanonReport *report;
	double usefulness; /* negative: not measured */
} Best;

/* Fewer rows left out; less cost; at equal cost the better usefulness. */
static KanonStatus
is_better(const KanonProblem *problem, const KanonRelease *release, double cost, Best *best, bool *better)
{
	double usefulness = -1;
	KanonStatus status = KANON_OK;

	*better = release->dropped != best->release->dropped ? release->dropped < best->release->dropped
														 : cost < best->report->cost;
	if (release->dropped == best->release->dropped && cost == best->report->cost)
	{
		if (best->usefulness < 0)
			status = kanon_usefulness(problem, best->release, &best->usefulness);
		if (status == KANON_OK)
			status = kanon_usefulness(problem, release, &usefulness);
		*better = kanon_more_useful(usefulness, best->usefulness);
	}
	if (*better)
		best->usefulness = usefulness;
	return status;
}

/* The i-th order beyond the problem's own. */
static GreedyTies
ties_of(const KanonProblem *problem, int i)
{
	static const KanonOrder orders[NAMED] = {KANON_ORDER_SMALL, KANON_ORDER_DOMAIN, KANON_ORDER_FINE,
											 KANON_ORDER_GIVEN};
	uint64_t state = problem->seed + (uint64_t) i;

	return (GreedyTies){i < NAMED ? orders[i] : KANON_ORDER_DRAWN, kanon_random_split(&state)};
}

/* Another order's run, which becomes the best if it is better. */
static KanonStatus
try_order(const KanonProblem *problem, GreedyTies ties, uint64_t *work, Best *best)
{
	KanonRelease release;
	KanonReport tried;
	KanonStatus status = greedy_run(problem, ties, work, &release, &tried);
	bool better = false;

	if (status == KANON_OK && !tried.stopped)
		status = is_better(problem, &release, tried.cost, best, &better);
	if (status == KANON_OK && better)
	{
		KanonRelease worse = *best->release;

		tried.nodes += best->report->nodes;
		*best->release = release;
		*best->report = tried;
		release = worse;
	}
	else
		best->report->nodes += tried.nodes;
	kanon_release_free(problem, &release);
	/* (with rules another order may leave rows that fit no class) */
	return status == KANON_CANCELLED || status == KANON_NO_MEMORY ? status : KANON_OK;
}

KanonStatus
greedy_orders(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double begin = env->now(env->arg);
	KanonProblem limited = *problem;
	uint64_t work = 0;
	Best best = {release, report, -1};
	KanonStatus status = greedy_run(problem, (GreedyTies){problem->mask.order, 0}, &work, release, report);
	double most = fmin(problem->effort, 1) * (double) ORDERS_WORK;
	double one = exp2(ceil(log2((double) work + 1)));

	if (status != KANON_OK || report->stopped || !is_strict(problem))
		return status;
	for (int i = 0; i < NAMED + DRAWN && status == KANON_OK; i++)
	{
		double spent = env->now(env->arg) - begin;

		/* (another order takes about as long as the first; rounded, as row types read in another way work a little more) */
		if (one * (i + 2) > most || spent > problem->time_limit / 2 || release->nclasses < 2)
			break;
		limited.time_limit = problem->time_limit - spent;
		status = try_order(&limited, ties_of(problem, i), &work, &best);
	}
	/* where memory is short, what was found is kept */
	if (status == KANON_NO_MEMORY && (problem->privacy == NULL || !kanon_privacy_failed(problem->privacy)))
		status = KANON_OK;
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	return status;
}

/* ---- what becomes of rows that rules beyond k leave over ---- */

/*
 * Under rules beyond k rows may be left that are too much alike for any class: those that they would need are taken.
 * Then k alone is asked for, and the classes that break a rule are merged with others.
 */
static KanonStatus
mend(const KanonProblem *problem, double begin, KanonRelease *release, KanonReport *report)
{
	double left = begin + problem->time_limit - problem->env->now(problem->env->arg);
	KanonPlain plain;
	KanonRelease solved = {0};
	uint64_t work = 0;
	KanonStatus status = kanon_plain_open(problem, false, &plain);

	plain.problem.residual = KANON_RESIDUAL_SUPPRESS;
	plain.problem.time_limit = fmax(left / 2, 1e-6);
	/* (an order that is better for k alone may be worse once it is mended: seen, by a tenth) */
	if (status == KANON_OK)
		status = greedy_run(&plain.problem, (GreedyTies){problem->mask.order, 0}, &work, &solved, report);
	if (status == KANON_OK)
		status = kanon_mend(&plain, &solved, false, left < INFINITY ? begin + problem->time_limit : 0,
							release, report);
	report->guarantee = 0;
	kanon_release_free(&plain.problem, &solved);
	kanon_plain_close(&plain);
	return status;
}

KanonStatus
kanon_solve_greedy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	double begin = problem->env->now(problem->env->arg);
	KanonStatus status = greedy_orders(problem, release, report);

	if (status == KANON_REST_FORBIDDEN && problem->privacy != NULL && problem->npopulations == 0)
		status = mend(problem, begin, release, report);
	if (kanon_by_types(problem) &&
		(status == KANON_REST_FORBIDDEN || status == KANON_NOT_FOUND || status == KANON_INFEASIBLE))
		status = kanon_release_one_class_or(problem, status, release, report);
	report->seconds = problem->env->now(problem->env->arg) - begin;
	return status;
}
