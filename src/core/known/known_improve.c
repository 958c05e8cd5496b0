/*
 * known_improve.c: greedy again and again, with weights bent at random; the least stands.  greedy itself does so a few
 * times where that is short.
 *
 * The bound: combinations of a row type that are rare in the table and share no column each cost it a cell.
 * Such of few columns are taken first.
 */
#include <math.h>
#include <string.h>

#include "known/known.h"
#include "util/hash.h"

/* So many times at effort 1; and where a turn is short, by the cells, for greedy itself. */
#define TURNS 20
#define GREEDY_TURNS 8
#define SHORT_TURN 20000

typedef struct Bound
{
	const KanonProblem *problem;
	KanonPattern *used; /* [ntypes] columns of the combinations that were taken */
	int size;           /* of those that are looked at */
	double sum;
} Bound;

static void
take_apart(void *arg, const KanonRare *rare)
{
	Bound *bound = arg;
	double least = INFINITY;

	if (rare->ncolumns != bound->size)
		return;
	for (int c = 0; c < rare->ncolumns; c++)
		least = fmin(least, bound->problem->columns[rare->column[c]].weight);
	for (uint32_t i = 0; i < rare->ntypes; i++)
	{
		KanonPattern *used = &bound->used[rare->type[i]];
		bool free = true;

		for (int c = 0; c < rare->ncolumns; c++)
			free = free && !kanon_has(*used, rare->column[c]);
		if (!free)
			continue;
		for (int c = 0; c < rare->ncolumns; c++)
			kanon_add(used, rare->column[c]);
		bound->sum += least * (double) bound->problem->rows[rare->type[i]];
	}
}

static KanonStatus
find_bound(const KanonProblem *problem, double *sum)
{
	KanonScratch scratch = {.env = problem->env};
	KanonProblem whole = *problem;
	KanonColumn columns[KANON_MAX_QIS];
	KanonKnown known = *problem->known;
	Bound bound = {.problem = &whole};
	int most = kanon_known_most(&known, kanon_count_qis(problem));
	KanonStatus status;

	/* a rare combination of values costs a cell its first level at least */
	whole.ncolumns = kanon_count_qis(problem);
	for (int q = 0; q < whole.ncolumns; q++)
		columns[q] = problem->columns[kanon_first_column(problem, q)];
	whole.columns = columns;
	whole.time_limit = INFINITY;
	known.k = problem->k;
	bound.used = kanon_take0(&scratch, problem->ntypes, sizeof(KanonPattern));
	status = kanon_taken(&scratch);
	for (bound.size = 1; bound.size <= most && status == KANON_OK; bound.size++)
		status = kanon_rare_find(&whole, &known, take_apart, &bound);
	kanon_scratch_free(&scratch);
	*sum = bound.sum;
	return status;
}

/* One more turn; the better release stays. */
static KanonStatus
try_turn(const KanonProblem *problem, uint64_t turn, KanonRelease *release, KanonReport *report)
{
	KanonRelease other;
	KanonReport told;
	KanonStatus status = kanon_solve_known_turn(problem, turn, &other, &told);

	if (status != KANON_OK)
		return status;
	if (told.cost >= report->cost)
	{
		kanon_release_free(problem, &other);
		return KANON_OK;
	}
	kanon_release_free(problem, release);
	*release = other;
	*report = told;
	return KANON_OK;
}

static bool
is_least(const KanonReport *report, double bound)
{
	return report->cost <= bound * (1 + 1e-12);
}

/* So many further turns, unless time ends them, or nothing can cost less. */
static KanonStatus
take_turns(const KanonProblem *problem, double turns, double bound, KanonPace *pace, KanonRelease *release,
		   KanonReport *report)
{
	KanonStatus status = KANON_OK;

	for (int i = 1; i <= turns && status == KANON_OK && !is_least(report, bound); i++)
	{
		if (kanon_poll(pace))
			status = KANON_CANCELLED;
		if (status != KANON_OK || pace->late)
			break;
		pace->share = i / turns;
		status = try_turn(problem, kanon_hash_add(problem->seed, (uint64_t) i) | 1, release, report);
	}
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	return status;
}

KanonStatus
kanon_solve_known_greedy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	bool is_short = (double) problem->ntypes * problem->ncolumns <= SHORT_TURN;
	KanonPace pace;
	KanonStatus status;

	kanon_pace_limit(&pace, problem, "turns");
	status = kanon_solve_known_turn(problem, 0, release, report);
	if (status != KANON_OK || problem->ntypes == 0 || !is_short)
		return status;
	return take_turns(problem, GREEDY_TURNS * fmin(problem->effort, 1), 0, &pace, release, report);
}

KanonStatus
kanon_solve_known_improve(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonPace pace;
	double bound = 0;
	KanonStatus status;

	kanon_pace_limit(&pace, problem, "turns");
	status = kanon_solve_known_turn(problem, 0, release, report);
	if (status != KANON_OK || problem->ntypes == 0)
		return status;
	if (problem->known->missing !=
		KANON_MISSING_ANY) /* there others' blank cells make combinations frequent */
		status = find_bound(problem, &bound);
	if (status == KANON_OK)
		status = take_turns(problem, fmin(TURNS * problem->effort, 1e6), bound, &pace, release, report);
	else
		kanon_release_free(problem, release);
	report->lower_bound = bound;
	report->proven = status == KANON_OK && is_least(report, bound);
	report->nodes = 0;
	report->stopped = false;
	return status;
}
