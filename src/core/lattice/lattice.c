/*
 * lattice.c: the nodes of a lattice of levels, numbered in mixed radix.
 */
#include "lattice/lattice.h"

double
lattice_nodes(const Lattice *lattice)
{
	double nodes = 1;

	for (int q = 0; q < lattice->nqis; q++)
		nodes *= lattice->height[q] + 1;
	return nodes;
}

void
lattice_open(const KanonProblem *problem, double most, Lattice *lattice)
{
	uint32_t stride = 1;

	lattice->nqis = 0;
	lattice->top = problem->ncolumns;
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].level > 0)
			lattice->height[lattice->nqis - 1]++;
		else
		{
			lattice->first[lattice->nqis] = c;
			lattice->height[lattice->nqis++] = 1;
		}
	lattice->wide = lattice_nodes(lattice) > most;
	for (int q = lattice->nqis - 1; q >= 0 && !lattice->wide; q--)
	{
		lattice->stride[q] = stride;
		stride *= (uint32_t) lattice->height[q] + 1;
	}
	lattice->nnodes = lattice->wide ? 0 : stride;
}

int
lattice_height(const Lattice *lattice, uint32_t node)
{
	int height = 0;

	for (int q = 0; q < lattice->nqis; q++)
		height += lattice_level(lattice, node, q);
	return height;
}

KanonPattern
lattice_pattern(const Lattice *lattice, uint32_t node)
{
	KanonPattern pattern = KANON_NONE;

	for (int q = 0; q < lattice->nqis; q++)
		for (int r = lattice_level(lattice, node, q) - 1; r >= 0; r--)
			kanon_add(&pattern, lattice->first[q] + r);
	return pattern;
}

uint32_t
lattice_node(const Lattice *lattice, KanonPattern pattern)
{
	uint32_t node = 0;

	for (int q = 0; q < lattice->nqis; q++)
		node += (uint32_t) lattice_level_of(lattice, pattern, q) * lattice->stride[q];
	return node;
}

void
lattice_levels(const Lattice *lattice, uint32_t node, uint16_t *level)
{
	/* the digits from the last: a division each */
	for (int q = lattice->nqis - 1; q >= 0; q--)
	{
		uint32_t radix = (uint32_t) lattice->height[q] + 1;

		level[q] = (uint16_t) (node % radix);
		node /= radix;
	}
}

void
lattice_next(const Lattice *lattice, uint16_t *level)
{
	int q = lattice->nqis - 1;

	while (q >= 0 && level[q] == lattice->height[q])
		level[q--] = 0;
	if (q >= 0)
		level[q]++;
}

void
lattice_levels_of(const Lattice *lattice, KanonPattern node, uint16_t *level)
{
	for (int q = 0; q < lattice->nqis; q++)
		level[q] = (uint16_t) lattice_level_of(lattice, node, q);
}

KanonPattern
lattice_beside(const Lattice *lattice, KanonPattern node, int q)
{
	int first = lattice->first[q];

	return kanon_minus(kanon_span(0, lattice->top), kanon_span(first + lattice_level_of(lattice, node, q) - 1,
															   first + lattice->height[q]));
}
