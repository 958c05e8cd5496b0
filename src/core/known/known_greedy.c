/*
 * known_greedy.c: blanks cells until no combination of the columns that somebody may know is rare.
 *
 * k^m-anonymity of tables: M. Terrovitis, N. Mamoulis, P. Kalnis, PVLDB 1, 2008; local suppression for attackers who
 * know few columns: P.-P. de Wolf, "HiTaS"; A. Hundepool, L. Willenborg, "mu- and tau-Argus", 1996.
 *
 * A blank cell agrees with nothing.  So each row has to lose a cell of each of its rare combinations.  That is a
 * hitting set; the heuristic takes the cell that hits most for its weight (V. Chvatal, "A greedy heuristic for the
 * set-covering problem", 1979).  A blanked cell makes other combinations of its row rarer.  The method counts these
 * again, blanks a cell of the rows that still have a rare one, and repeats that until none is rare.  At the end it
 * shows each blank cell again that makes no combination rare.
 */
#include <math.h>
#include <string.h>

#include "known/known.h"
#include "util/fault.h"
#include "util/number.h"
#include "util/sort.h"

#ifndef SET_WORK
#define SET_WORK 160
#define WALK_WORK 1
#define WALK_SHARE 20
#endif
#ifndef COUNTS_WORK
#define COUNTS_WORK 1024
#endif

/* ---- a row type's hitting set ---- */

static void
lose(KnownGreedy *g, uint32_t type, int column)
{
	if (!KANON_GROW(&g->scratch, &g->lost_room, g->nlost + 1, KANON_ARRAY(g->lost)))
	{
		known_fail(g, KANON_NO_MEMORY);
		return;
	}
	kanon_cells_blank(&g->cells, type, column);
	g->lost[g->nlost++] = (KnownLost){type, column};
}

/* The weight of a cell in this turn: more by a hundredth at most, or by up to a half. */
double
known_weight(const KnownGreedy *g, uint32_t type, int column)
{
	static const double most[] = {0.01, 0.05, 0.2, 0.5};
	uint64_t drawn;

	if (g->turn == 0)
		return g->problem->columns[column].weight;
	drawn = kanon_hash_add(kanon_hash_add(g->turn, type), (uint64_t) column);
	return g->problem->columns[column].weight *
		   (1 + most[g->turn >> 1 & 3] * (double) (drawn >> 11) * 0x1p-53);
}

/* The column that is in most of the sets for its weight; of equal ones the value that most row types have. */
static int
best_column(const KnownGreedy *g, uint32_t type, const uint32_t *hits)
{
	const KanonProblem *problem = g->problem;
	double most = -1;
	uint32_t frequent = 0;
	int best = -1;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		double weight = hits[c] > 0 ? known_cost_of(g, type, c) : 0;
		double worth = weight > 0 ? hits[c] / weight : hits[c] > 0 ? INFINITY : 0;
		uint32_t n = g->cells.value[c][problem->columns[c].code[type]].n;

		if (hits[c] > 0 && (worth > most || (worth == most && n > frequent)))
		{
			best = c;
			most = worth;
			frequent = n;
		}
	}
	return best;
}

/* Takes the sets away that have no cell left to lose, one of which is that column's; counts the others. */
static size_t
sets_left(const KnownGreedy *g, uint32_t type, uint32_t *sets, size_t n, uint32_t *hits)
{
	size_t left = 0;

	memset(hits, 0, (size_t) g->problem->ncolumns * sizeof(uint32_t));
	for (size_t i = 0; i < n; i++)
	{
		const KanonListedSet *set = &g->list.set[sets[i]];
		int at = 0;

		while (at < set->ncolumns && !kanon_cells_is_blank(&g->cells, type, set->column[at]))
			at++;
		if (at < set->ncolumns)
			continue;
		for (at = 0; at < set->ncolumns; at++)
			if (g->kept == NULL || (g->kept[set->column[at]][type / 64] >> type % 64 & 1) == 0)
				hits[set->column[at]]++;
		sets[left++] = sets[i];
	}
	return left;
}

/* Cells that have to go with blank ones go, too. */
static void
blank_along(KnownGreedy *g, uint32_t type)
{
	KanonPattern along;

	if (g->index == NULL)
		return;
	along = known_cover(&g->cells, g->index, type, known_hidden(g, type));
	KANON_EACH (c, along)
		if (!kanon_cells_is_blank(&g->cells, type, c))
			lose(g, type, c);
}

/* The sets of a row type into g->sets; how many there are. */
static size_t
read_sets(KnownGreedy *g, uint32_t type)
{
	size_t n;

	while ((n = kanon_list_read(&g->list, type, g->sets, g->sets_room)) == g->sets_room)
		if (!KANON_GROW(&g->scratch, &g->sets_room, g->sets_room + 1, KANON_ARRAY(g->sets)))
		{
			known_fail(g, KANON_NO_MEMORY);
			return 0;
		}
	return n;
}

static void
hit_sets(KnownGreedy *g, uint32_t type)
{
	uint32_t hits[KANON_MAX_COLUMNS];
	size_t n = read_sets(g, type);
	int best;

	if (g->agree)
		n = known_still_rare(g, type, g->sets, n);
	while (g->status == KANON_OK && (n = sets_left(g, type, g->sets, n, hits)) > 0)
	{
		if (kanon_stop(&g->pace, n * 4 + (uint64_t) g->problem->ncolumns))
			known_fail(g, KANON_CANCELLED);
		best = best_column(g, type, hits);
		if (best < 0) /* it stays, and is rare: never so */
			known_fail(g, KANON_BROKEN);
		else
			lose(g, type, best);
	}
	blank_along(g, type);
}

/* Row types with most sets first: their blank cells spare the others theirs. */
static void
hit_most_first(KnownGreedy *g)
{
	KanonKeyed *turn = kanon_take(&g->scratch, 2 * (size_t) g->problem->ntypes, sizeof(KanonKeyed));
	uint32_t n = 0;

	if (turn == NULL)
	{
		known_fail(g, KANON_NO_MEMORY);
		return;
	}
	for (uint32_t type = 0; type < g->problem->ntypes && g->status == KANON_OK; type++)
		if (g->list.first[type] != 0)
			turn[n++] = (KanonKeyed){.key = -(double) read_sets(g, type), .item = type};
	kanon_sort(turn, turn + g->problem->ntypes, n, sizeof(KanonKeyed), kanon_compare_keyed, NULL);
	for (uint32_t i = 0; i < n && g->status == KANON_OK; i++)
		hit_sets(g, turn[i].item);
	kanon_drop(&g->scratch, turn);
}

/* Each row type loses a cell of each rare combination that is listed; the list is empty then. */
static void
hit_all(KnownGreedy *g)
{
	if (g->agree)
		hit_most_first(g);
	for (uint32_t type = 0; !g->agree && type < g->problem->ntypes && g->status == KANON_OK; type++)
		if (g->list.first[type] != 0)
			hit_sets(g, type);
	kanon_list_clear(&g->list, g->problem);
}

/* ---- what is rare ---- */

static void
list_rare(KnownGreedy *g, const int *column, int ncolumns, const uint32_t *types, uint32_t ntypes)
{
	for (uint32_t i = 0; i < ntypes && g->status == KANON_OK; i++)
	{
		bool broken = false;

		for (int c = 0; c < ncolumns && !broken; c++)
			broken = kanon_cells_is_blank(&g->cells, types[i], column[c]);
		if (broken || (kanon_list_set(&g->list, column, ncolumns) && kanon_list_add(&g->list, types[i])))
			continue;
		/* there is no more room: what is listed goes first */
		if (kanon_list_is_empty(&g->list))
			known_fail(g, KANON_NO_MEMORY);
		hit_all(g);
		i--;
	}
}

static void
visit_rare(void *arg, const KanonRare *rare)
{
	list_rare(arg, rare->column, rare->ncolumns, rare->type, rare->ntypes);
}

/* ---- what rows that lost a cell leave behind ---- */

/* The rows that show what the row type has in the set; of each with two columns a sample is taken first. */
int64_t
known_count_shown(KnownGreedy *g, uint32_t type, int ncolumns, int64_t enough, uint32_t *types,
				  uint32_t *ntypes)
{
	int64_t rows;

	if (ncolumns < 2)
		return kanon_cells_count(&g->cells, type, g->column, ncolumns, enough, types, ntypes);
	if (ncolumns == 2)
	{
		rows = kanon_cells_sample(&g->cells, type, g->column, enough, &g->sample);
		if (rows >= enough)
			return rows;
	}
	return kanon_cells_count_more(&g->cells, &g->sample, type, g->column, ncolumns, enough, types, ntypes);
}

/* The rows that are left of a combination that the row type no longer shows; is there more to be looked at in larger sets? */
static bool
look_at_rest(KnownGreedy *g, uint32_t type, int ncolumns, int64_t k)
{
	uint32_t n;
	int64_t rows;

	if (!KANON_GROW(&g->scratch, &g->rest_room,
					(size_t) (k < g->problem->ntypes && g->cells.person == NULL ? k : g->problem->ntypes),
					KANON_ARRAY(g->rest)))
	{
		known_fail(g, KANON_NO_MEMORY);
		return false;
	}
	rows = g->counts != NULL ? kanon_cells_count(&g->cells, type, g->column, ncolumns, k, g->rest, &n)
							 : known_count_shown(g, type, ncolumns, k, g->rest, &n);
	if (kanon_stop(&g->pace, 16))
		known_fail(g, KANON_CANCELLED);
	if (rows >= k)
		return true;
	if (rows > 0)
		list_rare(g, g->column, ncolumns, g->rest, n);
	return false;
}

/* The same of all sets with the columns so far and further ones from `from` on. */
static void
look_at_larger(KnownGreedy *g, uint32_t type, KanonPattern columns, int ncolumns, int from)
{
	if (ncolumns == KANON_LISTED_MOST || !kanon_known_beyond(g->known, columns, g->problem->ncolumns))
		return;
	for (int c = from; c < g->problem->ncolumns && g->status == KANON_OK; c++)
	{
		KanonPattern larger = columns;
		int64_t k;

		if (kanon_has(columns, c) || kanon_has(g->over, c))
			continue;
		kanon_add(&larger, c);
		if ((k = kanon_known_k(g->known, larger)) == 0)
			continue;
		g->column[ncolumns] = c;
		if (look_at_rest(g, type, ncolumns + 1, k))
			look_at_larger(g, type, larger, ncolumns + 1, c + 1);
	}
}

static void
visit_rest(void *arg, uint32_t type, const int *column, int ncolumns, int64_t k)
{
	KnownGreedy *g = arg;

	memcpy(g->column, column, (size_t) ncolumns * sizeof(int));
	if (g->status == KANON_OK)
		look_at_rest(g, type, ncolumns, k);
}

/* A set of which a row type lost several cells is looked at with the first. */
static void
look_at_lost(KnownGreedy *g, KnownLost lost)
{
	int64_t k = kanon_known_k(g->known, kanon_only(lost.column));

	g->over = KANON_NONE;
	for (int c = 0; c < g->problem->ncolumns; c++)
		if ((g->followed[c][lost.type / 64] >> lost.type % 64 & 1) != 0)
			kanon_add(&g->over, c);
	g->column[0] = lost.column;
	if (g->counts != NULL)
	{
		kanon_counts_take(g->counts, lost.type, kanon_minus(kanon_pattern_all(g->problem->ncolumns), g->over),
						  lost.column, visit_rest, g);
		if (kanon_stop(&g->pace, COUNTS_WORK))
			known_fail(g, KANON_CANCELLED);
	}
	else if (k > 0 && look_at_rest(g, lost.type, 1, k))
		look_at_larger(g, lost.type, kanon_only(lost.column), 1, 0);
	g->followed[lost.column][lost.type / 64] |= UINT64_C(1) << lost.type % 64;
}

/* Every rare combination of the table as it is shown now: no lost cell has to be followed then. */
static void
find_rare(KnownGreedy *g)
{
	KanonProblem problem = *g->problem;
	KanonKnown known = *g->known;

	problem.time_limit = INFINITY;
	if (!g->agree)
		known.missing = KANON_MISSING_VALUE; /* cells without one are blank */
	known.blank = (const uint64_t *const *) g->cells.blank;
	g->nlost = 0;
	for (int c = 0; c < g->problem->ncolumns; c++)
		memcpy(g->followed[c], g->cells.blank[c], g->cells.words * sizeof(uint64_t));
	known_fail(g, kanon_rare_find(&problem, &known, visit_rare, g));
	hit_all(g);
}

/*
 * Is it less work to look at all combinations again?  A lost cell is in as many sets as the others are, by its column;
 * a set costs some words, and in the walk some steps for each row type.
 */
static bool
many_lost(const KnownGreedy *g)
{
	double most = kanon_known_most(g->known, g->problem->ncolumns);

	return (double) g->nlost * most * SET_WORK >
		   (double) g->problem->ntypes * (double) g->problem->ncolumns * WALK_WORK;
}

/* True when counting on takes more work than counting anew. */
static bool
most_lost(const KnownGreedy *g)
{
	return (double) g->nlost * WALK_SHARE > (double) g->problem->ntypes * (double) g->problem->ncolumns;
}

/* Until nothing that lost a row is rare. */
static void
follow_losses(KnownGreedy *g)
{
	while (g->status == KANON_OK && (g->nlost > 0 || (g->counts != NULL && kanon_counts_unsure(g->counts))) &&
		   !FAULT(known_forgotten))
	{
		if (g->nlost == 0 || (g->counts == NULL && many_lost(g)))
		{
			if (g->counts == NULL && g->cells.person == NULL && !most_lost(g))
				known_fail(g, kanon_counts_open(&g->cells, g->known, &g->counts));
			if (g->status == KANON_OK)
				find_rare(g);
			continue;
		}
		kanon_pace_phase(&g->pace, "blank cells");
		for (size_t i = 0; i < g->nlost && g->status == KANON_OK; i++)
			look_at_lost(g, g->lost[i]);
		g->nlost = 0;
		hit_all(g);
	}
}

/* ---- all of it ---- */

static KanonStatus
take_memory(KnownGreedy *g)
{
	KanonStatus status;
	size_t columns = (size_t) g->problem->ncolumns;

	g->scratch.env = g->problem->env;
	g->cells = (KanonShownCells){.problem = g->problem, .scratch = &g->scratch, .pace = &g->pace};
	/* (whoever asks has said so in words of the user) */
	if (kanon_known_most(g->known, g->problem->ncolumns) > KANON_LISTED_MOST)
		return KANON_TOO_LARGE;
	status = kanon_cells_open(&g->cells);
	if (status == KANON_OK)
		status = kanon_list_open(&g->list, g->problem, &g->scratch);
	g->followed = kanon_take0(&g->scratch, columns, sizeof(uint64_t *));
	for (size_t c = 0; c < columns && !g->scratch.failed; c++)
	{
		g->followed[c] = kanon_take(&g->scratch, g->cells.words, sizeof(uint64_t));
		if (!g->scratch.failed && status == KANON_OK)
			memcpy(g->followed[c], g->cells.blank[c], g->cells.words * sizeof(uint64_t));
	}
	g->agree = g->problem->known->missing == KANON_MISSING_ANY;
	return status == KANON_OK ? kanon_taken(&g->scratch) : status;
}

/* Until no combination is rare that the rows of the problem show, and no cell could be shown again. */
static void
blank_rare(KnownGreedy *g)
{
	for (uint32_t type = 0; g->index != NULL && type < g->problem->ntypes && g->status == KANON_OK; type++)
		blank_along(g, type);
	if (g->status == KANON_OK)
		find_rare(g);
	if (g->agree)
	{
		/* a set that is not rare any more may be part of one that is */
		while (g->status == KANON_OK && g->nlost > 0)
			find_rare(g);
		kanon_list_clear(&g->list, g->problem);
		if (g->status == KANON_OK)
			known_give_back_any(g);
		return;
	}
	if (g->status == KANON_OK)
		follow_losses(g);
	kanon_list_clear(&g->list, g->problem);
	if (g->status == KANON_OK)
		known_give_back(g);
	kanon_counts_close(g->counts);
	g->counts = NULL;
}

/* ---- near another release ---- */

static void
hold(KnownGreedy *g, uint32_t type, int column)
{
	kanon_cells_blank(&g->cells, type, column);
	g->fixed[column][type / 64] |= UINT64_C(1) << type % 64;
}

/* The rows that were there before, and what they did not show; others show nothing yet. */
static int64_t *
hold_before(KnownGreedy *g, const KanonPrevious *previous)
{
	const KanonProblem *problem = g->problem;
	size_t columns = (size_t) problem->ncolumns;
	int64_t *before = kanon_take0(&g->scratch, problem->ntypes, sizeof(int64_t));

	g->fixed = kanon_take0(&g->scratch, columns, sizeof(uint64_t *));
	for (size_t c = 0; c < columns && !g->scratch.failed; c++)
		g->fixed[c] = kanon_take0(&g->scratch, g->cells.words, sizeof(uint64_t));
	if (kanon_taken(&g->scratch) != KANON_OK)
	{
		known_fail(g, KANON_NO_MEMORY);
		return NULL;
	}
	for (size_t f = 0; f < previous->nflows; f++)
	{
		const KanonFlow *flow = &previous->flows[f];

		before[flow->type] += flow->rows;
		KANON_EACH (c, previous->pattern[flow->class_])
			hold(g, flow->type, c);
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		before[i] = before[i] < problem->rows[i] ? before[i] : problem->rows[i];
		for (int c = 0; c < problem->ncolumns && before[i] == 0; c++)
			hold(g, i, c);
	}
	return before;
}

/*
 * Rows that were there before stay as they are now, and new rows can only make them more frequent;
 * these show what they have.
 */
static void
let_others_in(KnownGreedy *g, const int64_t *before)
{
	for (int c = 0; c < g->problem->ncolumns; c++)
	{
		memcpy(g->fixed[c], g->cells.blank[c], g->cells.words * sizeof(uint64_t));
		for (uint32_t i = 0; i < g->problem->ntypes; i++)
			if (before[i] == 0)
			{
				g->fixed[c][i / 64] &= ~(UINT64_C(1) << i % 64);
				if (kanon_cells_hides(&g->cells, i, c))
					kanon_cells_show(&g->cells, i, c);
			}
	}
	if (kanon_stop(&g->pace, g->problem->ntypes))
		known_fail(g, KANON_CANCELLED);
}

static void
blank_before(KnownGreedy *g, const KanonPrevious *previous)
{
	const int64_t *rows = g->here.rows;
	int64_t *before = hold_before(g, previous);

	if (before == NULL)
		return;
	g->here.rows = before;
	blank_rare(g);
	g->here.rows = rows;
	let_others_in(g, before);
	/* class by class nothing is told: all rows of a type are in one */
	for (uint32_t c = 0; previous->became != NULL && c < previous->nclasses; c++)
		previous->became[c] = KANON_DROPPED;
}

KanonStatus
known_blank(KnownGreedy *g)
{
	const KanonProblem *problem = g->problem;
	KanonKnown known = *problem->known;

	g->here = *problem;
	g->problem = &g->here;
	known.k = problem->k;
	g->known = &known;
	kanon_pace_limit(&g->pace, problem, "blank cells");
	known_fail(g, take_memory(g));
	if (g->status == KANON_OK)
		blank_rare(g);
	return g->status;
}

static KanonStatus
solve(KnownGreedy *g, const KanonPrevious *previous, KanonRelease *release, KanonReport *report)
{
	const KanonProblem *problem = g->problem;
	KanonKnown known;

	memset(release, 0, sizeof(*release));
	*report = (KanonReport){.lower_bound = -INFINITY};
	if (problem->ntypes == 0)
		return KANON_OK;
	if (kanon_count_qis(problem) < problem->ncolumns)
		return known_solve_levels(problem, previous, g->turn, release, report);
	g->here = *problem;
	g->problem = &g->here;
	known = *problem->known;
	known.k = problem->k;
	g->known = &known;
	kanon_pace_limit(&g->pace, problem, "blank cells");
	known_fail(g, take_memory(g));
	known_fail(g, known_mask_open(problem, &g->index));
	if (g->status == KANON_OK && previous != NULL)
		blank_before(g, previous);
	blank_rare(g);
	report->stopped = g->pace.late;
	if (g->status == KANON_OK)
		known_fail(g, kanon_known_release(&g->cells, g->index, release, report));
	if (g->status != KANON_OK)
		kanon_release_free(problem, release);
	kanon_mask_close(g->index);
	kanon_scratch_free(&g->scratch);
	return g->status;
}

KanonStatus
kanon_solve_known_near(const KanonProblem *problem, const KanonPrevious *previous, KanonRelease *release,
					   KanonReport *report)
{
	KnownGreedy g = {.problem = problem};

	return solve(&g, previous, release, report);
}

KanonStatus
kanon_solve_known_turn(const KanonProblem *problem, uint64_t turn, KanonRelease *release, KanonReport *report)
{
	KnownGreedy g = {.problem = problem, .turn = turn};

	return solve(&g, NULL, release, report);
}
