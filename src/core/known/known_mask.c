/*
 * known_mask.c: which cells of a row may be blank together, where patterns are listed or have rules.
 */
#include <math.h>

#include "known/known.h"
#include "model/model.h"

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
