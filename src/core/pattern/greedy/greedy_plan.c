/*
 * greedy_plan.c: how the order of patterns is divided into batches, which are tried together.
 */
#include <string.h>

#include "pattern/greedy/greedy.h"

/* The plan of batches counts patterns by cost in this many steps. */
#ifndef PLAN_STEPS
#define PLAN_STEPS 16384
#endif

/*
 * With unit weights a batch is a cost level: the L-th has all patterns with L
 * suppressed columns.  With any weights, the batches get about as many patterns
 * as these would: from the numbers of patterns by cost, with costs rounded.
 */
KanonStatus
greedy_plan(const KanonMaskIndex *index, int64_t *bound, int *nbounds)
{
	const KanonProblem *problem = index->problem;
	int64_t step = KANON_LEVEL_MAX / PLAN_STEPS;
	double *count = kanon_alloc0(problem->env, PLAN_STEPS + 1, sizeof(double));
	double *before = kanon_alloc(problem->env, PLAN_STEPS + 1, sizeof(double));
	KanonPattern rest = kanon_minus(kanon_minus(index->all, index->go), index->stay);
	double suppress[KANON_MAX_COLUMNS + 1] = {1}; /* patterns by how many columns they suppress */
	int n = 0;
	int64_t least = KANON_LEVEL_MAX;
	double sum = 0;
	double wanted = 1;
	int level = 0;

	if (count == NULL || before == NULL)
	{
		kanon_free(problem->env, count);
		kanon_free(problem->env, before);
		return KANON_NO_MEMORY;
	}
	count[kanon_fixed_level(kanon_fixed_cost(index, index->go)) / step] = 1;
	for (int c = kanon_next(rest, 0); c >= 0; c = kanon_next(rest, c))
	{
		/* a quasi-identifier's levels go one after the other: its costs add up */
		int64_t weight = 0;
		int levels = 0;

		memcpy(before, count, (PLAN_STEPS + 1) * sizeof(double));
		do
		{
			int64_t more = kanon_fixed_level(index->weight[c]);
			int64_t shift;

			weight += more;
			shift = (weight + step / 2) / step;
			if (shift > 0 && more > 0 && more < least)
				least = more;
			for (int64_t i = PLAN_STEPS; i >= shift; i--)
				count[i] += before[i - shift];
			levels++;
			c++;
		} while (c < problem->ncolumns && problem->columns[c].level > 0 && kanon_has(rest, c));
		n += levels;
		for (int i = n; i > 0; i--)
			for (int less = 1; less <= levels && less <= i; less++)
				suppress[i] += suppress[i - less];
	}
	for (int64_t i = 0; i <= PLAN_STEPS && level < n; i++)
	{
		sum += count[i];
		if (sum < wanted * (1 - 1e-9))
			continue;
		bound[(*nbounds)++] = i * step + least / 2;
		while (level < n && sum >= wanted * (1 - 1e-9))
		{
			wanted += suppress[++level];
		}
	}
	bound[(*nbounds)++] = INT64_MAX;
	kanon_free(problem->env, count);
	kanon_free(problem->env, before);
	return KANON_OK;
}
