/*
 * known_give_back.c: cells that were blanked are shown again where no combination is rare with them.
 */
#include <string.h>

#include "known/known.h"

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
