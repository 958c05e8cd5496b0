/*
 * matching.h: matchings of least cost in general graphs.
 *
 * matching.cc solves them with LEMON (https://lemon.cs.elte.hu), in C++: this is
 * all that C sees of it.
 */
#ifndef KANON_MATCHING_H
#define KANON_MATCHING_H

#include "kanon.h"

#ifdef __cplusplus
extern "C"
{
#endif

	typedef struct MatchEdge
	{
		uint32_t a;
		uint32_t b;
		uint32_t cost;
	} MatchEdge;

	/*
 * A matching that covers as many as it can of the nodes that must be, and of
 * those one of least cost.
 */
	typedef struct MatchGraph
	{
		uint32_t nnodes;
		const bool *must; /* [nnodes] */
		size_t nedges;
		const MatchEdge *edge; /* [nedges] */
		size_t *used;          /* out: [nnodes] the edge that covers a node, or SIZE_MAX */

		/*
	 * out: [nnodes] dual prices, in quarters of a cost.  They prove the matching:
	 * an edge that is not there would be no use if its cost is at least the sum of
	 * the prices of its ends.  A node of a must that is not covered has a price
	 * above any cost; a node that need not be covered has none above 0.
	 */
		int64_t *price;

		/*
	 * out: odd sets of nodes (blossoms), one within another or apart, are worth something,
	 * too, by which the prices of the ends of an edge within such a set may be more than it
	 * costs.  The nodes stand in a row, in which each set's are next to one another:
	 * place[i] is a node's, and shared[x] what the sets are worth that hold both the nodes at
	 * x and at x + 1.  Two nodes share the least of what is between them.
	 */
		uint32_t *place; /* [nnodes] */
		int64_t *shared; /* [nnodes], the last is 0 */
	} MatchGraph;

	/* KANON_UNAVAILABLE without LEMON; KANON_TOO_LARGE after `deadline` (env->now). */
	extern KanonStatus matching_solve(KanonEnv *env, const char *phase, double deadline,
									  const MatchGraph *graph);

	/* Bytes that LEMON takes for it, beside env's memory, at most. */
	extern double matching_memory(double nnodes, double nedges);

#ifdef __cplusplus
}
#endif

#endif
