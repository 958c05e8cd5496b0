/*
 * known_improve.c: runs greedy many times, with weights bent at random, and keeps the cheapest release.  Greedy
 * itself does so a few times where a run is short.
 *
 * The bound: rare combinations of a row type that share no column cost it a cell each.  Combinations of few columns
 * are taken first.
 */
#include <math.h>
#include <string.h>

#include "known/known.h"
#include "util/number.h"

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

/* ---- Cells that were blanked are shown again where no combination is rare with them ---- */

#ifndef COUNTS_WORK
#define COUNTS_WORK 1024
#endif

/* Has every combination with these columns, and further ones of the order from `from` on, k rows with it? */
static bool
fits(KnownGreedy *g, uint32_t type, KanonPattern columns, int ncolumns, int from)
{
	int64_t own = g->cells.person != NULL ? 1 : g->problem->rows[type];
	int64_t enough = kanon_known_k(g->known, columns) - own;

	if (enough <= 0)
		g->sample.n = 0, g->sample.all = false;
	else if (known_count_shown(g, type, ncolumns, enough, NULL, NULL) < enough)
		return false;
	if (kanon_stop(&g->pace, 16))
		known_fail(g, KANON_CANCELLED);
	if (ncolumns == KANON_LISTED_MOST || !kanon_known_beyond(g->known, columns, g->problem->ncolumns))
		return true;
	for (int i = from; i < g->norder && g->status == KANON_OK; i++)
	{
		KanonPattern larger = columns;

		kanon_add(&larger, g->order[i]);
		g->column[ncolumns] = g->order[i];
		if (kanon_known_k(g->known, larger) > 0 && !fits(g, type, larger, ncolumns + 1, i + 1))
			return false;
	}
	return g->status == KANON_OK;
}

/* The columns that the row type shows. */
static KanonPattern
shown(const KnownGreedy *g)
{
	KanonPattern columns = KANON_NONE;

	for (int i = 0; i < g->norder; i++)
		kanon_add(&columns, g->order[i]);
	return columns;
}

/* The same by the numbers of rows that are counted on. */
static bool
counts_fit(KnownGreedy *g, uint32_t type, int column)
{
	if (kanon_stop(&g->pace, COUNTS_WORK))
		known_fail(g, KANON_CANCELLED);
	return g->status == KANON_OK && kanon_counts_fit(g->counts, type, shown(g), column);
}

/* A column that the row type shows takes its place: a misfit is mostly seen with rare values. */
static void
add_to_order(KnownGreedy *g, uint32_t type, int column)
{
	const KanonColumn *columns = g->problem->columns;
	uint32_t n = g->cells.value[column][columns[column].code[type]].n;
	int at = g->norder++;

	for (; at > 0; at--)
	{
		int before = g->order[at - 1];

		if (g->cells.value[before][columns[before].code[type]].n <= n)
			break;
		g->order[at] = before;
	}
	g->order[at] = column;
}

static bool
is_fixed(const KnownGreedy *g, uint32_t type, int column)
{
	return g->fixed != NULL && (g->fixed[column][type / 64] >> type % 64 & 1) != 0;
}

/* Shows a cell again if that makes no combination rare. */
static bool
show_cell(KnownGreedy *g, uint32_t type, int column)
{
	g->column[0] = column;
	if (is_fixed(g, type, column) ||
		!(g->counts != NULL ? counts_fit(g, type, column) : fits(g, type, kanon_only(column), 1, 0)))
		return false;
	if (g->counts != NULL)
		kanon_counts_add(g->counts, type, shown(g), column);
	kanon_cells_show(&g->cells, type, column);
	add_to_order(g, type, column);
	return true;
}

static void
ignore_rare(void *arg, uint32_t type, const int *column, int ncolumns, int64_t k)
{
	(void) arg;
	(void) type;
	(void) column;
	(void) ncolumns;
	(void) k;
}

static void
hide_cell(KnownGreedy *g, uint32_t type, int column)
{
	int at = 0;

	while (g->order[at] != column)
		at++;
	memmove(&g->order[at], &g->order[at + 1], (size_t) (--g->norder - at) * sizeof(int));
	kanon_cells_blank(&g->cells, type, column);
	if (g->counts != NULL)
		kanon_counts_take(g->counts, type, shown(g), column, ignore_rare, NULL);
}

/* The cells of these columns, all or none. */
static bool
show_together(KnownGreedy *g, uint32_t type, KanonPattern columns)
{
	KanonPattern back = KANON_NONE;

	KANON_EACH (c, columns)
	{
		if (!show_cell(g, type, c))
		{
			KANON_EACH (b, back)
				hide_cell(g, type, b);
			return false;
		}
		kanon_add(&back, c);
	}
	return !kanon_is_none(back);
}

/* Shows what cells of the row type it can, those of most weight first. */
static bool
give_back(KnownGreedy *g, uint32_t type)
{
	KanonPattern hidden = KANON_NONE;
	bool any = false;

	g->norder = 0;
	/* each row type comes with its person */
	g->cells.nobody = g->cells.person != NULL ? g->cells.person[type] : UINT32_MAX;
	for (int c = 0; c < g->problem->ncolumns; c++)
		if (!kanon_cells_is_blank(&g->cells, type, c))
			add_to_order(g, type, c);
		else if (kanon_cells_hides(&g->cells, type, c) && !is_fixed(g, type, c))
			kanon_add(&hidden, c);
	while (!kanon_is_none(hidden) && g->status == KANON_OK)
	{
		int heaviest = -1;
		KanonPattern together;

		KANON_EACH (c, hidden)
			if (heaviest < 0 || known_weight(g, type, c) > known_weight(g, type, heaviest))
				heaviest = c;
		kanon_remove(&hidden, heaviest);
		together = g->index == NULL ? kanon_only(heaviest) : known_back_together(g, type, heaviest);
		if (!show_together(g, type, together))
			continue;
		hidden = kanon_minus(hidden, together);
		any = true;
	}
	return any;
}

/* Cells that are shown again make combinations more frequent: others may follow. */
void
known_give_back(KnownGreedy *g)
{
	bool any = true;

	kanon_pace_phase(&g->pace, "cells shown again");
	while (any && g->status == KANON_OK)
	{
		any = false;
		for (uint32_t type = 0; type < g->problem->ntypes && g->status == KANON_OK && !g->pace.late; type++)
			any = give_back(g, type) || any;
	}
}
