/*
 * cluster_cuts.h: where a table is cut into parts (by_parts.c).
 */
#ifndef KANON_CLUSTER_CUTS_H
#define KANON_CLUSTER_CUTS_H

#include "cluster/clustering.h"

/* How many cut items look for neighbours, unless that compares more; and how many neighbours each. */
#define CUTS_ASKED 128
#define CUTS_LEAST_ASKED 32
#define CUTS_COMPARED ((uint32_t) 1 << 22)
#define CUTS_NEIGHBOURS 16

/* Those that say where it may be cut. */
#define CUTS_SAMPLED 256

/* Places where a cut is tried, between a third and two thirds of these. */
#define CUTS_PLACES 16

/* A cut before an item, or before the first that has its value. */
typedef struct ClusterCut
{
	uint32_t item;
	bool within; /* others with its value come before it */
	double loss; /* pairs that it parts; INFINITY: it was tried */
} ClusterCut;

/* Items are clusters, or row types; each is where one of its row types is. */
typedef struct Cuts
{
	const ClusterLayout *layout;
	KanonScratch *scratch;
	KanonPace *pace;
	uint64_t random;
	const uint32_t *type;                 /* [nitems] the caller's */
	const uint32_t *order[KANON_MAX_QIS]; /* [ntypes] of the types by each quasi-identifier */
	ClusterSpace space;
	ClusterSpace some;
	uint32_t npairs; /* of neighbours: items that had better be in one part */
	uint32_t pair[CUTS_ASKED * CUTS_NEIGHBOURS][2];
	uint32_t sample[CUTS_SAMPLED];
	uint32_t sorted[CUTS_SAMPLED];
	int by; /* the quasi-identifier to sort by; where it is the same, by those after it */
	ClusterCut cut[KANON_MAX_QIS]; /* the best by each */
} Cuts;

/* layout, scratch, pace and random are set; memory is the scratch's. */
extern KanonStatus cuts_open(Cuts *cuts);

/* Looks for cuts of these items. */
extern KanonStatus cuts_find(Cuts *cuts, const uint32_t *item, uint32_t n);

/*
 * The best of them that was not tried yet: items are in its order, *before are on one side, an eighth of them at
 * least on each.  There are as many as quasi-identifiers.
 */
extern KanonStatus cuts_next(Cuts *cuts, uint32_t *item, uint32_t n, uint32_t *before);

#endif
