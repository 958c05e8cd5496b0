/*
 * lattice.c: the nodes of a lattice of levels, numbered in mixed radix.
 */
#include "full_domain/lattice.h"

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
	uint64_t stride = 1;

	lattice->nqis = 0;
	lattice->last = 0;
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
	for (int q = lattice->nqis - 1; q >= 0; q--)
	{
		lattice->stride[q] = stride;
		lattice->last += stride * (uint64_t) lattice->height[q];
		stride *= (uint64_t) lattice->height[q] + 1;
	}
	lattice->nnodes = lattice->wide ? 0 : (uint32_t) stride;
}

int
lattice_height(const Lattice *lattice, uint64_t node)
{
	int height = 0;

	for (int q = 0; q < lattice->nqis; q++)
		height += lattice_level(lattice, node, q);
	return height;
}

KanonPattern
lattice_pattern(const Lattice *lattice, uint64_t node)
{
	KanonPattern pattern = KANON_NONE;

	for (int q = 0; q < lattice->nqis; q++)
		for (int r = lattice_level(lattice, node, q) - 1; r >= 0; r--)
			kanon_add(&pattern, lattice->first[q] + r);
	return pattern;
}

uint64_t
lattice_node(const Lattice *lattice, KanonPattern pattern)
{
	uint64_t node = 0;

	for (int q = 0; q < lattice->nqis; q++)
		for (int r = 0; r < lattice->height[q]; r++)
			if (kanon_has(pattern, lattice->first[q] + r))
				node += lattice->stride[q];
	return node;
}

uint64_t
lattice_beside(const Lattice *lattice, uint64_t node, int q)
{
	return lattice->last -
		   lattice->stride[q] * (uint64_t) (lattice->height[q] - lattice_level(lattice, node, q) + 1);
}
