/*
 * known_any.c: missing => 'any', under which a blank cell agrees with every value, as in sdcMicro (M. Templ, A.
 * Kowarik, B. Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro", 2015).
 *
 * A row that loses a cell agrees with more rows than before, and never with fewer.  So the method looks at each row
 * type once.  A row type that is not rare any more when its turn comes loses nothing.
 */
#include <math.h>
#include <string.h>

#include "known/known.h"
#include "util/fault.h"

/* Counts of combinations that giving back may take, and combinations that few rows show, at most. */
#define MOST_COUNTS UINT64_C(20000000)
#ifndef KNOWN_MOST_FEW
#define KNOWN_MOST_FEW (1 << 22)
#endif

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
		if (kanon_cells_agree(&g->cells, type, column, set->ncolumns, k) < k)
			sets[left++] = sets[i];
		if (kanon_stop(&g->pace, g->cells.words))
			known_fail(g, KANON_CANCELLED);
	}
	return left;
}

/*
 * Combinations that fewer than k rows show, by their sets: others' blank cells make them frequent, and only these
 * are counted when a cell is about to be shown.  Those with more rows stay so: cells only come back.
 */
typedef struct FewSet
{
	KanonPattern columns;
	int column[KANON_LISTED_MOST];
	int ncolumns;
	bool beyond;    /* larger ones are asked: they are looked at with this one */
	uint32_t first; /* entry; 0: none */
} FewSet;

typedef struct FewEntry
{
	uint32_t type; /* shows the combination */
	uint32_t next;
} FewEntry;

typedef struct Few
{
	KnownGreedy *g;
	FewSet *set; /* [nsets] */
	size_t nsets, set_room;
	FewEntry *entry; /* [nentries] the first is nobody's */
	size_t nentries, entry_room;
	uint64_t counts; /* of combinations, so far */
	bool full;
} Few;

/* A row type whose combinations are counted: of the sets of some columns. */
typedef struct Sets
{
	Few *few;
	uint32_t type;
	KanonPattern among;
	int64_t less; /* rows that are about to agree no more */
} Sets;

/* ---- combinations that few rows show ---- */

static FewSet *
find_set(Few *few, const int *column, int ncolumns)
{
	KanonPattern columns = KANON_NONE;
	FewSet *set;

	for (int i = 0; i < ncolumns; i++)
		kanon_add(&columns, column[i]);
	for (size_t s = few->nsets; s > 0; s--)
		if (kanon_same(few->set[s - 1].columns, columns))
			return &few->set[s - 1];
	if (!KANON_GROW(&few->g->scratch, &few->set_room, few->nsets + 1, KANON_ARRAY(few->set)))
		return NULL;
	set = &few->set[few->nsets++];
	*set = (FewSet){.columns = columns,
					.ncolumns = ncolumns,
					.beyond = kanon_known_beyond(few->g->known, columns, few->g->problem->ncolumns)};
	memcpy(set->column, column, (size_t) ncolumns * sizeof(int));
	return set;
}

/* One row type stands for all of its combination in a set without larger ones. */
static void
add_few(Few *few, const int *column, int ncolumns, const uint32_t *type, uint32_t n)
{
	FewSet *set;

	if (few->full || few->g->status != KANON_OK)
		return;
	set = find_set(few, column, ncolumns);
	if (set == NULL ||
		!KANON_GROW(&few->g->scratch, &few->entry_room, few->nentries + n + 1, KANON_ARRAY(few->entry)))
	{
		known_fail(few->g, KANON_NO_MEMORY);
		return;
	}
	for (uint32_t i = 0; i < (set->beyond ? n : 1); i++)
	{
		few->entry[few->nentries] = (FewEntry){type[i], set->first};
		set->first = (uint32_t) few->nentries++;
	}
	few->full = few->nentries > KNOWN_MOST_FEW;
}

static void
visit_few(void *arg, const KanonRare *rare)
{
	add_few(arg, rare->column, rare->ncolumns, rare->type, rare->ntypes);
}

/* A row type shows one more column: the combinations with it that few rows show. */
static void
add_shown(Few *few, uint32_t type, KanonPattern columns, int ncolumns, int from)
{
	KnownGreedy *g = few->g;
	int64_t k = kanon_known_k(few->g->known, columns);

	if (k == 0 || g->status != KANON_OK)
		return;
	if (kanon_stop(&g->pace, 16))
		known_fail(g, KANON_CANCELLED);
	if (kanon_cells_count(&g->cells, type, g->column, ncolumns, k, NULL, NULL) < k)
	{
		add_few(few, g->column, ncolumns, &type, 1);
		return;
	}
	if (!kanon_known_beyond(few->g->known, columns, g->problem->ncolumns))
		return;
	for (int c = from; c < g->problem->ncolumns; c++)
	{
		KanonPattern larger = columns;

		if (kanon_has(columns, c) || kanon_cells_is_blank(&g->cells, type, c))
			continue;
		kanon_add(&larger, c);
		g->column[ncolumns] = c;
		add_shown(few, type, larger, ncolumns + 1, c + 1);
	}
}

static void
find_few(Few *few)
{
	KnownGreedy *g = few->g;
	KanonKnown known = *g->known;
	KanonProblem problem = *g->problem;

	known.missing = KANON_MISSING_VALUE; /* cells without one are blank */
	known.blank = (const uint64_t *const *) g->cells.blank;
	problem.time_limit = INFINITY;
	known_fail(g, kanon_rare_find(&problem, &known, visit_few, few));
}

/* ---- cells that are shown again ---- */

/* Do enough rows agree with the row type in these columns, and in larger sets with further ones from `from` on? */
static bool
all_agree(const Sets *sets, KanonPattern columns, int ncolumns, int from)
{
	KnownGreedy *g = sets->few->g;
	int64_t k = kanon_known_k(g->known, columns);

	if (k == 0)
		return true;
	sets->few->counts++;
	if (kanon_stop(&g->pace, g->cells.words))
		known_fail(g, KANON_CANCELLED);
	if (g->status != KANON_OK ||
		kanon_cells_agree(&g->cells, sets->type, g->column, ncolumns, k + sets->less) < k + sets->less)
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

/* Does a combination become rare that another row type shows there, once the row type shows the column and differs? */
static bool
breaks(Few *few, const FewSet *set, uint32_t other, uint32_t type, int column)
{
	KnownGreedy *g = few->g;
	const KanonColumn *columns = g->problem->columns;
	Sets sets = {.few = few, .type = other, .less = g->problem->rows[type]};
	KanonPattern with = set->columns;
	int n = set->ncolumns;

	if (columns[column].code[other] == columns[column].code[type] ||
		kanon_cells_is_blank(&g->cells, other, column))
		return false;
	for (int i = 0; i < n; i++)
		if (set->column[i] != column &&
			columns[set->column[i]].code[other] != columns[set->column[i]].code[type] &&
			!kanon_cells_is_blank(&g->cells, type, set->column[i]))
			return false;
	memcpy(g->column, set->column, (size_t) n * sizeof(int));
	if (!kanon_has(with, column))
		g->column[n++] = column;
	kanon_add(&with, column);
	for (int c = 0; c < g->problem->ncolumns; c++)
		if (!kanon_cells_is_blank(&g->cells, other, c) &&
			(kanon_cells_is_blank(&g->cells, type, c) || columns[c].code[other] == columns[c].code[type]))
			kanon_add(&sets.among, c);
	return !all_agree(&sets, with, n, 0);
}

/* Do enough rows agree with the row type, and with all others without it, once it shows the cell? */
static bool
can_show(Few *few, uint32_t type, int column)
{
	KnownGreedy *g = few->g;
	Sets sets = {.few = few, .type = type};

	for (int c = 0; c < g->problem->ncolumns; c++)
		if (!kanon_cells_is_blank(&g->cells, type, c))
			kanon_add(&sets.among, c);
	g->column[0] = column;
	if (!all_agree(&sets, kanon_only(column), 1, 0))
		return false;
	for (size_t s = 0; s < few->nsets; s++)
	{
		const FewSet *set = &few->set[s];

		if (!set->beyond && !kanon_has(set->columns, column))
			continue;
		for (uint32_t e = set->first; e != 0; e = few->entry[e].next)
			if (breaks(few, set, few->entry[e].type, type, column))
				return false;
	}
	return true;
}

void
known_give_back_any(KnownGreedy *g)
{
	Few few = {.g = g, .nentries = 1};

	kanon_pace_phase(&g->pace, "cells shown again");
	if (g->index == NULL)
		find_few(&few);
	for (uint32_t type = 0; type < g->problem->ntypes && g->index == NULL; type++)
		KANON_EACH (c, known_hidden(g, type))
		{
			if (g->status != KANON_OK || g->pace.late || few.full || few.counts > MOST_COUNTS)
				return;
			if (!can_show(&few, type, c))
				continue;
			kanon_cells_show(&g->cells, type, c);
			g->column[0] = c;
			add_shown(&few, type, kanon_only(c), 1, 0);
		}
}
