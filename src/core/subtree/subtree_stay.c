/*
 * subtree_stay.c: the cut of the release before, where the next one may go no lower.
 *
 * Everybody who shared a class then shares one at each cut above.  The earlier cut is read
 * from its classes: which level of each column they showed.
 */
#include <string.h>

#include "subtree/subtree.h"

/* The nodes of a row type that a class of that pattern shows. */
static uint32_t
node_shown(const Cut *cut, KanonPattern pattern, int qi, uint32_t type)
{
	const CutTrees *trees = cut->trees;
	int c = trees->first[qi];

	while (c < trees->first[qi + 1] && kanon_has(pattern, c))
		c++;
	return c == trees->first[qi + 1] ? trees->root[qi] : trees->at[c][cut->problem->columns[c].code[type]];
}

/*
 * Where the cut was: nodes that were shown, those that had one at or below them, and those of which a value was
 * shown by one above them (of another tree than that is, since hierarchies change).  A value that was not there shows
 * what the others beside it did.
 */
static KanonStatus
find_cut(Cut *cut, const KanonPrevious *previous, bool *shown, bool *known, bool *covered)
{
	const CutTrees *trees = cut->trees;

	for (size_t f = 0; f < previous->nflows; f++)
		for (int q = 0; q < trees->nqis; q++)
		{
			const KanonFlow *flow = &previous->flows[f];
			uint32_t node = node_shown(cut, previous->pattern[flow->class_], q, flow->type);

			if (kanon_stop(cut->pace, 4))
				return KANON_CANCELLED;
			shown[node] = true;
			for (uint32_t below =
					 trees->at[trees->first[q]][cut->problem->columns[trees->first[q]].code[flow->type]];
				 below != node; below = trees->node[below].parent)
				covered[below] = true;
			for (; !known[node]; node = trees->node[node].parent)
				known[node] = true;
		}
	for (uint32_t i = 0; i < trees->nnodes; i++)
	{
		uint32_t parent = trees->node[i].parent;

		cut->may[i] = parent == i ||
					  (cut->may[parent] &&
					   (!shown[parent] || (cut->scheme == KANON_SCHEME_SIBLING && known[i] && !covered[i])));
	}
	return KANON_OK;
}

KanonStatus
cut_stay(Cut *cut, const KanonPrevious *previous, bool *valid)
{
	size_t mark = kanon_mark(cut->scratch);
	bool *shown = kanon_take0(cut->scratch, cut->trees->nnodes, sizeof(bool));
	bool *known = kanon_take0(cut->scratch, cut->trees->nnodes, sizeof(bool));
	bool *covered = kanon_take0(cut->scratch, cut->trees->nnodes, sizeof(bool));
	KanonStatus status = kanon_taken(cut->scratch);

	if (status == KANON_OK)
		status = find_cut(cut, previous, shown, known, covered);
	kanon_release(cut->scratch, mark);
	memcpy(cut->lowered, cut->may, cut->trees->nnodes * sizeof(bool));
	if (status == KANON_OK)
		status = cut_build(cut);
	if (status == KANON_OK)
		status = cut_valid(cut, valid);
	if (status != KANON_OK || *valid)
		return status;
	cut_raise(cut);
	return cut_build(cut);
}
