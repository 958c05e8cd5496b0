/*
 * known_levels.c: shows cells coarser, instead of blank, where that is enough against somebody who knows few
 * columns.
 *
 * The method first blanks values until no combination is rare.  Then every blank cell shows its next level, beside
 * what is shown already.  Where a combination is rare now, it contains such a cell; that cell is blanked again, so
 * nothing shown before has to go.  This goes on level by level up the hierarchies.  A cell of one level and a cell
 * of another count as two values, even if one lies within the other: k rows show whatever somebody looks up.
 *
 * Patterns may forbid the outcome.  Then each row type takes the cheapest allowed pattern that shows no more.  This
 * makes other combinations rare, whose cells are blanked, until nothing changes.
 */
#include <math.h>
#include <string.h>

#include "known/known.h"
#include "model/model.h"

/* So many cells go rather than one that must not be blank. */
#define NEVER 1000

typedef struct KnownLevels
{
	const KanonProblem *problem;
	KanonScratch scratch;
	KanonPace pace;
	double start;
	int nqis;
	int first[KANON_MAX_QIS + 1]; /* column of level 0 */
	uint8_t *level;               /* [nqis * ntypes] that is shown; as many as there are: none */
	const uint8_t *floor;         /* [nqis * ntypes] no level below may be shown; NULL: any may */
	const int64_t *before;        /* [ntypes] rows of another release that this one stays near, or NULL */
	KanonColumn columns[KANON_MAX_QIS];
	uint32_t *code[KANON_MAX_QIS]; /* [ntypes] */
	uint64_t *kept[KANON_MAX_QIS]; /* bits of cells that stay */
	KanonProblem shown;            /* the table as it is shown, with what is added */
	KanonKnown known;              /* of that: blank cells are cells without a value */
	bool any;                      /* cells are added, or lost */
	KanonMaskIndex *index;         /* where not every pattern is allowed; or NULL */
} KnownLevels;

static int
height(const KnownLevels *levels, int q)
{
	return levels->first[q + 1] - levels->first[q];
}

static bool
is_null(const KanonColumn *column, uint32_t type)
{
	return column->has_null && column->code[type] == column->distinct - 1;
}

/* Has the cell nothing to show at that level?  NULL has, where it is a value. */
static bool
has_none(const KnownLevels *levels, int q, int level, uint32_t type)
{
	return kanon_known_no_value(levels->problem, type, levels->first[q]) ||
		   (level > 0 && is_null(&levels->problem->columns[levels->first[q] + level], type));
}

/* The column as it is shown, with blank cells at that level added for the rows that were there before, or for the others. */
static void
fill_column(KnownLevels *levels, int q, int add, bool old)
{
	const KanonColumn *column = &levels->problem->columns[levels->first[q]];
	uint32_t ntypes = levels->problem->ntypes, start[KANON_MAX_COLUMNS + 1];
	KanonColumn *to = &levels->columns[q];
	int most = height(levels, q);

	start[0] = 0;
	to->weight = 0;
	for (int l = 0; l < most; l++)
	{
		start[l + 1] = start[l] + column[l].distinct;
		to->weight += l < add && add < most ? 0 : column[l].weight;
	}
	/* a row that has to lose such a cell loses all */
	if (kanon_has(levels->problem->mask.never, levels->first[q + 1] - 1))
		to->weight *= NEVER;
	to->code = levels->code[q];
	to->distinct = start[most] + 1;
	to->has_null = true;
	memset(levels->kept[q], 0, ((size_t) ntypes + 63) / 64 * sizeof(uint64_t));
	for (uint32_t i = 0; i < ntypes; i++)
	{
		size_t cell = (size_t) q * ntypes + i;
		int at = levels->level[cell];
		bool adds = at == most && add < most && (levels->before == NULL || old == (levels->before[i] > 0)) &&
					(levels->floor == NULL || levels->floor[cell] <= add) && !has_none(levels, q, add, i);

		if (at < most && !adds)
			levels->kept[q][i / 64] |= UINT64_C(1) << i % 64;
		at = adds ? add : at;
		levels->any = levels->any || adds;
		levels->code[q][i] = at < most ? start[at] + column[at].code[i] : start[most];
	}
}

/* Cells that are added and not blanked again have the level. */
static void
take_levels(KnownLevels *levels, const KanonShownCells *cells, int add)
{
	uint32_t ntypes = levels->problem->ntypes;

	for (int q = 0; q < levels->nqis; q++)
		for (uint32_t i = 0; i < ntypes; i++)
			if (levels->level[(size_t) q * ntypes + i] == height(levels, q) &&
				!kanon_cells_is_blank(cells, i, q))
				levels->level[(size_t) q * ntypes + i] = (uint8_t) add;
}

/* Shows what it can of what is blank at that level. */
static KanonStatus
add_level(KnownLevels *levels, uint64_t turn, int add, bool old, KanonReport *report)
{
	KanonEnv *env = levels->problem->env;
	KnownGreedy g = {.problem = &levels->shown, .turn = turn, .kept = levels->kept};
	KanonStatus status;

	levels->any = false;
	for (int q = 0; q < levels->nqis; q++)
		fill_column(levels, q, add, old);
	if (!levels->any)
		return KANON_OK;
	levels->shown.rows = old && levels->before != NULL ? levels->before : levels->problem->rows;
	levels->shown.time_limit = fmax(levels->problem->time_limit - (env->now(env->arg) - levels->start), 0);
	status = known_blank(&g);
	report->stopped = report->stopped || g.pace.late;
	if (status == KANON_OK)
		take_levels(levels, &g.cells, add);
	kanon_scratch_free(&g.scratch);
	return kanon_stop(&levels->pace, levels->problem->ntypes) ? KANON_CANCELLED : status;
}

/* ---- where not every pattern is allowed ---- */

/* Each cell at its level, or blank; of the rows that were there before alone, or of all. */
static void
show_levels(KnownLevels *levels, bool old)
{
	for (int q = 0; q < levels->nqis; q++)
	{
		fill_column(levels, q, height(levels, q), false);
		for (uint32_t i = 0; i < levels->problem->ntypes; i++)
			if ((old && levels->before[i] == 0) || has_none(levels, q, 0, i))
				levels->code[q][i] = levels->columns[q].distinct - 1;
	}
}

/* Blanks what is rare. */
static KanonStatus
blank_rare(KnownLevels *levels, bool old, KanonReport *report)
{
	KnownGreedy g = {.problem = &levels->shown};
	KanonStatus status;

	show_levels(levels, old);
	levels->shown.rows = old ? levels->before : levels->problem->rows;
	status = known_blank(&g);
	report->stopped = report->stopped || g.pace.late;
	for (int q = 0; q < levels->nqis && status == KANON_OK; q++)
		for (uint32_t i = 0; i < levels->problem->ntypes; i++)
			if (kanon_cells_hides(&g.cells, i, q))
			{
				levels->level[(size_t) q * levels->problem->ntypes + i] = (uint8_t) height(levels, q);
				levels->any = true;
			}
	kanon_scratch_free(&g.scratch);
	return status;
}

static KanonPattern
pattern_of(const KnownLevels *levels, uint32_t type)
{
	KanonPattern pattern = KANON_NONE;

	for (int q = 0; q < levels->nqis; q++)
		for (int l = 0; l < levels->level[(size_t) q * levels->problem->ntypes + type]; l++)
			kanon_add(&pattern, levels->first[q] + l);
	return pattern;
}

/* The allowed pattern that shows no more than this one, and costs least; of rules the one that they lead to. */
static KanonPattern
cover(const KnownLevels *levels, KanonPattern pattern)
{
	const KanonMask *mask = &levels->problem->mask;
	KanonPattern best = levels->index->all;

	if (mask->list == NULL)
		return kanon_mask_cover(levels->index, pattern);
	for (size_t i = 0; i < mask->nlist; i++)
		if (kanon_within(pattern, mask->list[i]) &&
			kanon_pattern_cost(levels->problem, mask->list[i]) < kanon_pattern_cost(levels->problem, best))
			best = mask->list[i];
	return best;
}

static void
cover_all(KnownLevels *levels)
{
	for (uint32_t i = 0; i < levels->problem->ntypes; i++)
	{
		KanonPattern pattern = pattern_of(levels, i), allowed = cover(levels, pattern);

		if (kanon_same(pattern, allowed))
			continue;
		for (int q = 0; q < levels->nqis; q++)
		{
			uint8_t *level = &levels->level[(size_t) q * levels->problem->ntypes + i];

			for (; *level < height(levels, q) && kanon_has(allowed, levels->first[q] + *level); (*level)++)
				levels->any = true;
		}
	}
}

/* Levels only rise, and blank rows are allowed: it ends. */
static KanonStatus
keep_mask(KnownLevels *levels, KanonReport *report)
{
	KanonStatus status = KANON_OK;

	/* cells without a value are at level 0, as their pattern says */
	for (int q = 0; q < levels->nqis; q++)
		for (uint32_t i = 0; i < levels->problem->ntypes; i++)
			if (kanon_known_no_value(levels->problem, i, levels->first[q]))
				levels->level[(size_t) q * levels->problem->ntypes + i] = 0;
	levels->any = true;
	while (levels->any && status == KANON_OK)
	{
		levels->any = false;
		cover_all(levels);
		if (levels->before != NULL)
			status = blank_rare(levels, true, report);
		if (status == KANON_OK)
			status = blank_rare(levels, false, report);
		if (kanon_stop(&levels->pace, levels->problem->ntypes))
			status = KANON_CANCELLED;
	}
	return status;
}

/* The levels that the release before showed of each row type, and its rows that are there still. */
static KanonStatus
read_before(KnownLevels *levels, const KanonPrevious *previous)
{
	const KanonProblem *problem = levels->problem;
	uint8_t *floor = kanon_take0(&levels->scratch, (size_t) levels->nqis * problem->ntypes, sizeof(uint8_t));
	int64_t *before = kanon_take0(&levels->scratch, problem->ntypes, sizeof(int64_t));

	if (levels->scratch.failed)
		return KANON_NO_MEMORY;
	for (size_t f = 0; f < previous->nflows; f++)
	{
		uint32_t type = previous->flows[f].type;

		before[type] += previous->flows[f].rows;
		before[type] = before[type] < problem->rows[type] ? before[type] : problem->rows[type];
		for (int q = 0; q < levels->nqis; q++)
		{
			uint8_t *least = &floor[(size_t) q * problem->ntypes + type];
			uint8_t level = 0;

			while (level < height(levels, q) &&
				   kanon_has(previous->pattern[previous->flows[f].class_], levels->first[q] + level))
				level++;
			*least = *least > level ? *least : level;
		}
	}
	levels->floor = floor;
	levels->before = before;
	/* class by class nothing is told: all rows of a type are in one */
	for (uint32_t c = 0; previous->became != NULL && c < previous->nclasses; c++)
		previous->became[c] = KANON_DROPPED;
	return KANON_OK;
}

static KanonStatus
open_levels(KnownLevels *levels)
{
	const KanonProblem *problem = levels->problem;
	size_t words = ((size_t) problem->ntypes + 63) / 64;

	levels->scratch.env = problem->env;
	levels->pace = kanon_pace(problem->env, "levels");
	levels->start = problem->env->now(problem->env->arg);
	levels->nqis = kanon_count_qis(problem);
	for (int q = 0; q <= levels->nqis; q++)
		levels->first[q] = kanon_first_column(problem, q);
	levels->shown = *problem;
	levels->shown.ncolumns = levels->nqis;
	levels->shown.columns = levels->columns;
	levels->known = *problem->known;
	levels->known.missing = KANON_MISSING_ASIDE;
	levels->shown.known = &levels->known;
	levels->level = kanon_take(&levels->scratch, (size_t) levels->nqis * problem->ntypes, sizeof(uint8_t));
	for (int q = 0; q < levels->nqis && !levels->scratch.failed; q++)
	{
		levels->code[q] = kanon_take(&levels->scratch, problem->ntypes, sizeof(uint32_t));
		levels->kept[q] = kanon_take(&levels->scratch, words, sizeof(uint64_t));
		if (!levels->scratch.failed)
			memset(levels->level + (size_t) q * problem->ntypes, height(levels, q), problem->ntypes);
	}
	return kanon_taken(&levels->scratch);
}

/* A class for each row type; cells without a value lose nothing. */
static KanonStatus
make_release(KnownLevels *levels, KanonRelease *release, KanonReport *report)
{
	const KanonProblem *problem = levels->problem;
	KanonStatus status = known_release_open(problem, release);

	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
	{
		for (int q = 0; q < levels->nqis; q++)
		{
			bool none = levels->index == NULL && kanon_known_no_value(problem, i, levels->first[q]);
			int level = none ? 0 : levels->level[(size_t) q * problem->ntypes + i];

			for (int c = levels->first[q]; c < levels->first[q] + level; c++)
				kanon_add(&release->classes[i].pattern, c);
		}
		known_release_show(problem, release, i);
		if (kanon_stop(&levels->pace, (size_t) problem->ncolumns))
			status = KANON_CANCELLED;
	}
	return status == KANON_OK ? kanon_release_finish(problem, release, report) : status;
}

KanonStatus
known_solve_levels(const KanonProblem *problem, const KanonPrevious *previous, uint64_t turn,
				   KanonRelease *release, KanonReport *report)
{
	KnownLevels levels = {.problem = problem};
	KanonStatus status = open_levels(&levels);
	int most = 0;

	for (int q = 0; q < levels.nqis; q++)
		most = height(&levels, q) > most ? height(&levels, q) : most;
	if (status == KANON_OK && previous != NULL)
		status = read_before(&levels, previous);
	/* rows that were there before are enough for each other; the others join them */
	for (int l = 0; previous != NULL && l < most && status == KANON_OK; l++)
		status = add_level(&levels, turn, l, true, report);
	for (int l = 0; l < most && status == KANON_OK; l++)
		status = add_level(&levels, turn, l, false, report);
	if (status == KANON_OK)
		status = known_mask_open(problem, &levels.index);
	if (status == KANON_OK && levels.index != NULL)
		status = keep_mask(&levels, report);
	if (status == KANON_OK)
		status = make_release(&levels, release, report);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	kanon_mask_close(levels.index);
	kanon_scratch_free(&levels.scratch);
	return status;
}

/* ---- Which cells of a row may be blank together, where patterns are listed or have rules ---- */

KanonStatus
known_mask_open(const KanonProblem *problem, KanonMaskIndex **index)
{
	const KanonMask *mask = &problem->mask;

	if (mask->list == NULL && mask->nrules == 0 && kanon_is_none(mask->never) &&
		kanon_is_none(mask->always) && mask->max_suppressed < 0 && mask->max_cost == INFINITY)
		return KANON_OK;
	return kanon_mask_open(problem, index);
}

KanonPattern
known_cover(const KanonShownCells *cells, const KanonMaskIndex *index, uint32_t type, KanonPattern gone)
{
	const KanonProblem *problem = cells->problem;
	const KanonMask *mask = &problem->mask;
	KanonPattern best = index->all;
	double least = INFINITY;
	int fewest = 0;

	if (mask->list == NULL)
		return kanon_mask_cover(index, gone);
	for (size_t i = 0; i < mask->nlist; i++)
	{
		double cost = 0;
		int n = 0;

		if (!kanon_within(gone, mask->list[i]))
			continue;
		/* a cell without a value costs nothing */
		KANON_EACH (c, kanon_minus(mask->list[i], gone))
			if (!kanon_cells_is_blank(cells, type, c) || kanon_cells_hides(cells, type, c))
			{
				cost += problem->columns[c].weight;
				n++;
			}
		if (cost > least || (cost == least && n >= fewest))
			continue;
		best = mask->list[i];
		least = cost;
		fewest = n;
	}
	return best;
}

KanonPattern
known_hidden(const KnownGreedy *g, uint32_t type)
{
	KanonPattern hidden = KANON_NONE;

	for (int c = 0; c < g->problem->ncolumns; c++)
		if (kanon_cells_hides(&g->cells, type, c))
			kanon_add(&hidden, c);
	return hidden;
}

double
known_cost_of(const KnownGreedy *g, uint32_t type, int column)
{
	double alone = known_weight(g, type, column), weight = g->problem->columns[column].weight;
	KanonPattern gone, more;
	double cost = 0;

	if (g->index == NULL)
		return alone;
	gone = known_hidden(g, type);
	more = gone;
	kanon_add(&more, column);
	more = known_cover(&g->cells, g->index, type, more);
	KANON_EACH (c, kanon_minus(more, gone))
		if (!kanon_cells_is_blank(&g->cells, type, c))
			cost += g->problem->columns[c].weight;
	return weight > 0 ? cost * alone / weight : cost;
}

/* The hidden columns beside the listed pattern that has most of them without the column. */
static KanonPattern
beside_listed(const KnownGreedy *g, uint32_t type, KanonPattern hidden, int column)
{
	const KanonMask *mask = &g->problem->mask;
	KanonPattern best = KANON_NONE;
	double most = -1;

	for (size_t i = 0; i < mask->nlist; i++)
	{
		bool fits = !kanon_has(mask->list[i], column);
		double cost = kanon_pattern_cost(g->problem, kanon_both(mask->list[i], hidden));

		KANON_EACH (c, mask->list[i])
			fits = fits && kanon_cells_is_blank(&g->cells, type, c);
		if (!fits || cost <= most)
			continue;
		best = kanon_minus(hidden, mask->list[i]);
		most = cost;
	}
	return best;
}

KanonPattern
known_back_together(const KnownGreedy *g, uint32_t type, int column)
{
	KanonPattern hidden = known_hidden(g, type);
	KanonPattern back, along;

	if (g->problem->mask.list != NULL)
		return beside_listed(g, type, hidden, column);
	back = kanon_both(kanon_union(g->index->stay_stay[column], g->index->stay), hidden);
	kanon_add(&back, column);
	along = known_cover(&g->cells, g->index, type, kanon_minus(hidden, back));
	/* columns that go all the same must have no value */
	KANON_EACH (c, along)
		if (kanon_has(back, c) || !kanon_cells_is_blank(&g->cells, type, c))
			return KANON_NONE;
	return back;
}
