/*
 * lattice.c: the nodes of a lattice of levels, numbered in mixed radix.
 */
#include <stdio.h>

#include "full_domain/lattice.h"

KanonStatus
lattice_open(const KanonProblem *problem, Lattice *lattice, KanonReport *report)
{
	double nodes = 1;
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
	for (int q = 0; q < lattice->nqis; q++)
		nodes *= lattice->height[q] + 1;
	if (nodes > KANON_MAX_NODES)
	{
		snprintf(report->detail, sizeof(report->detail),
				 "the lattice has %.10g nodes, more than the %d that can be enumerated", nodes,
				 KANON_MAX_NODES);
		return KANON_TOO_LARGE;
	}
	for (int q = lattice->nqis - 1; q >= 0; q--)
	{
		lattice->stride[q] = stride;
		stride *= (uint32_t) lattice->height[q] + 1;
	}
	lattice->nnodes = stride;
	return KANON_OK;
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
	KanonPattern pattern = 0;

	for (int q = 0; q < lattice->nqis; q++)
		pattern |= kanon_pattern_all(lattice_level(lattice, node, q)) << lattice->first[q];
	return pattern;
}
