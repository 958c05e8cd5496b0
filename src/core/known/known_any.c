/*
 * known_any.c: where a blank cell agrees with every value, as in sdcMicro (M. Templ, A. Kowarik, B. Meindl, "Statistical
 * disclosure control for micro-data using the R package sdcMicro", 2015).  A row that loses a cell
 * agrees with more rows than before, and never with fewer: so each row type is looked at once, and what is
 * not rare any more when its turn comes costs nothing.
 */
#include "known/known.h"
#include "util/fault.h"

/* Counts of combinations that giving back may take, for a cell and in all. */
#define MOST_COUNTS UINT64_C(20000000)

size_t
known_still_rare(KnownGreedy *g, uint32_t type, uint32_t *sets, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n && g->status == KANON_OK && !FAULT(known_forgotten); i++)
	{
		const KanonListedSet *set = &g->list.set[sets[i]];
		KanonPattern columns = KANON_NONE;
		int column[KANON_LISTED_MOST];
		int64_t k;

		for (int c = 0; c < set->ncolumns; c++)
		{
			column[c] = set->column[c];
			kanon_add(&columns, column[c]);
		}
		k = kanon_known_k(g->known, columns);
		if (kanon_cells_agree(&g->cells, type, column, set->ncolumns, k, g->agree) < k)
			sets[left++] = sets[i];
		if (kanon_stop(&g->pace, g->cells.words))
			known_fail(g, KANON_CANCELLED);
	}
	return left;
}

/* A row type whose combinations are counted: of the sets of some columns those with `with`. */
typedef struct Sets
{
	KnownGreedy *g;
	uint32_t type;
	KanonPattern among;
	int64_t less; /* rows that are about to agree no more */
	uint64_t *counts;
} Sets;

static bool
all_agree(const Sets *sets, KanonPattern columns, int ncolumns, int from)
{
	KnownGreedy *g = sets->g;
	int64_t k = kanon_known_k(g->known, columns);

	if (k == 0)
		return true;
	++*sets->counts;
	if (kanon_stop(&g->pace, g->cells.words))
		known_fail(g, KANON_CANCELLED);
	if (g->status != KANON_OK || kanon_cells_agree(&g->cells, sets->type, g->column, ncolumns, k + sets->less,
												   g->agree) < k + sets->less)
		return false;
	if (ncolumns == KANON_LISTED_MOST || !kanon_known_beyond(g->known, columns, g->problem->ncolumns))
		return true;
	for (int c = from; c < g->problem->ncolumns; c++)
	{
		KanonPattern larger = columns;

		if (!kanon_has(sets->among, c) || kanon_has(columns, c))
			continue;
		kanon_add(&larger, c);
		g->column[ncolumns] = c;
		if (!all_agree(sets, larger, ncolumns + 1, c + 1))
			return false;
	}
	return true;
}

/* Do enough rows agree with the row type, and with all others without it, once it shows the cell? */
static bool
can_show(KnownGreedy *g, uint32_t type, int column, uint64_t *counts)
{
	const KanonColumn *columns = g->problem->columns;
	Sets sets = {.g = g, .type = type, .counts = counts};

	for (int c = 0; c < g->problem->ncolumns; c++)
		if (!kanon_cells_is_blank(&g->cells, type, c))
			kanon_add(&sets.among, c);
	g->column[0] = column;
	if (!all_agree(&sets, kanon_only(column), 1, 0))
		return false;
	sets.less = g->problem->rows[type];
	for (uint32_t other = 0; other < g->problem->ntypes; other++)
	{
		if (columns[column].code[other] == columns[column].code[type] ||
			kanon_cells_is_blank(&g->cells, other, column))
			continue;
		sets.type = other;
		sets.among = KANON_NONE;
		for (int c = 0; c < g->problem->ncolumns; c++)
			if (!kanon_cells_is_blank(&g->cells, other, c) &&
				(kanon_cells_is_blank(&g->cells, type, c) || columns[c].code[other] == columns[c].code[type]))
				kanon_add(&sets.among, c);
		g->column[0] = column;
		if (!all_agree(&sets, kanon_only(column), 1, 0))
			return false;
	}
	return true;
}

void
known_give_back_any(KnownGreedy *g)
{
	uint64_t counts = 0;

	kanon_pace_phase(&g->pace, "cells shown again");
	for (uint32_t type = 0; type < g->problem->ntypes && g->index == NULL; type++)
		KANON_EACH (c, known_hidden(g, type))
		{
			if (g->status != KANON_OK || g->pace.late || counts > MOST_COUNTS)
				return;
			if (can_show(g, type, c, &counts))
				kanon_cells_show(&g->cells, type, c);
		}
}
