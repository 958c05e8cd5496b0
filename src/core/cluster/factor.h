/*
 * factor.h: what `pairs` and `triples` have in common: a factor of least weight
 * of the complete graph over the rows, found without the complete graph.
 */
#ifndef KANON_FACTOR_H
#define KANON_FACTOR_H

#include "cluster/clustering.h"
#include "cluster/matching.h"
#include "util/pace.h"

#define FACTOR_NOBODY UINT32_MAX

/* Nodes are fewer than two to the power of this. */
#define FACTOR_DOUBLED 32

/* Two types whose rows may be joined. */
typedef struct FactorPair
{
	uint32_t a;
	uint32_t b; /* > a */
	uint32_t cost;
} FactorPair;

/* An edge of the factor between two vertices. */
typedef struct FactorLink
{
	uint32_t a;
	uint32_t b;
} FactorLink;

typedef struct Factor
{
	const KanonProblem *problem;
	KanonEnv *env;
	KanonScratch scratch;
	KanonScratch round; /* of a round */
	ClusterLayout layout;
	ClusterSpace space;
	KanonPace pace;
	double deadline;

	/*
	 * Types with method->enough rows need no others (hubs): theirs are classes as they are,
	 * and others may be joined to them, as many as there are copies.  Where these do not
	 * do, a type is a hub no more.
	 */
	uint32_t *copies; /* [ntypes] of a hub now; 0 for the other types */
	bool *grown;      /* [ntypes] in this round */
	bool capped;      /* a hub would have had use for more copies than it may have */

	FactorPair *pair; /* candidates */
	size_t npairs;
	size_t pair_room;
	size_t *slot; /* [nslots] hash table of the candidates; SIZE_MAX: empty */
	size_t nslots;
	double near_bound; /* proven by the distances to the k-1 nearest rows */

	/* the graph of a round */
	uint32_t nnodes;
	bool *must;
	MatchEdge *edge;
	size_t nedges;
	size_t edge_room;
	size_t *used;
	int64_t *price;
	uint32_t *place;
	int64_t *shared;
	uint32_t *node; /* [ntypes] first node of a type's vertices */

	/*
	 * What the blossoms are worth that hold all nodes of two types (matching.h): the types'
	 * nodes in their places, the least of what is shared from one to the next, and that over
	 * 2, 4, ... of them.
	 */
	uint32_t nown;                  /* nodes of types: they come before those of edges */
	uint32_t (*span)[2];            /* [ntypes] the first and the last of its nodes */
	int64_t *least[FACTOR_DOUBLED]; /* [nown]; NULL where so many are not there */

	/* dual prices of the types: of what must be joined, of what may be; INT64_MIN / 4: neither */
	int64_t *must_price; /* [ntypes] */
	int64_t *may_price;

	/* the best factor so far, between vertices as the method numbers them */
	FactorLink *link;
	size_t nlinks;
	double weight; /* of the factor, in distances */
	bool complete; /* every row has its edges */
	bool exact;    /* it is of least weight */

	const struct FactorMethod *method;
} Factor;

#define FACTOR_NO_PRICE (INT64_MIN / 4)

/*
 * A method: how its factor is a matching, what clusters it makes, and what is
 * proven of them.
 */
typedef struct FactorMethod
{
	const char *phase;
	int64_t k;
	int64_t enough; /* rows of a hub */
	bool spare;     /* a hub could take more than most_copies, but not here */
	uint32_t (*most_copies)(const Factor *factor, uint32_t type);
	KanonStatus (*build)(Factor *factor);
	KanonStatus (*read)(Factor *factor); /* links, weight and prices */
	KanonStatus (*cluster)(Factor *factor, ClusterParts *parts);
	double guarantee[2]; /* of the clusters; [1] where space.halves holds */
	double bound[2];     /* least cost by the weight of the factor */
} FactorMethod;

/* True if a type is a hub. */
static inline bool
factor_hub(const Factor *factor, uint32_t type)
{
	return factor->problem->rows[type] >= factor->method->enough;
}

extern KanonStatus factor_solve(const FactorMethod *method, const KanonProblem *problem,
								KanonRelease *release, KanonReport *report);

/* For build: an edge between nodes. */
extern bool factor_edge(Factor *factor, uint32_t a, uint32_t b, uint32_t cost);

/* For read: an edge of the factor. */
extern void factor_link(Factor *factor, uint32_t a, uint32_t b, uint32_t cost);

#endif
