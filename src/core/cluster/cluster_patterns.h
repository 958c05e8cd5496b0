/*
 * cluster_patterns.h: clusterings by patterns
 */
#ifndef KANON_CLUSTER_PATTERNS_H
#define KANON_CLUSTER_PATTERNS_H

#include "cluster/clustering.h"
#include "pattern/program/program_model.h"

/* ---- cluster_cuts.c: where a table is cut into parts (by_parts.c) ---- */

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

/* ---- cluster_patterns.c: pattern clustering at work, shared by its methods ---- */

typedef struct Clusters
{
	const KanonProblem *problem;
	KanonReport *report;
	KanonPace pace;
	KanonInstances instances;
	IlpModel model;         /* instances->n is the fully suppressed one */
	KanonPattern *patterns; /* the different ones */
	size_t npatterns;
	uint32_t *limit; /* [npatterns] times listed */
	uint32_t *group; /* [nf of the model] position in patterns */
	IlpResult result;
	IlpList used; /* ids */
	int64_t nodes;
	KanonPattern *listed; /* of a mask of too many patterns to list: those that count here */
	size_t nlisted;
	double often; /* no release costs less in which patterns may be used again */
	bool enough;  /* and no release is better with others; without such a mask, too */
} Clusters;

/* Makes a release of a set of classes, if all rows find a place. */
extern KanonStatus clusters_offer(Clusters *c, const IlpList *classes);

/* The largest cost that is better than what was found. */
extern double clusters_cutoff(const Clusters *c);

/* There is no release. */
extern KanonStatus clusters_none(Clusters *c);

/* Patterns that rules allow, all of which are listed, at most. */
#define CLUSTERS_LISTED ((size_t) 1 << 16)

/*
 * cluster_predicate.c: of more than those the ones that suffice, or KANON_TOO_LARGE; with a method of
 * the problem in which patterns may be used again, instead of that those that it uses.  Sets listed,
 * enough, often.
 */
extern KanonStatus clusters_list(Clusters *c, KanonSolve relaxed);

/* Choices of classes to try, at most. */
#define CLUSTERS_CHOICES ((double) (1 << 20))

/*
 * cluster_choices.c, method fpt: the least cost or that there is none, by choices of classes; *bound is raised.
 * KANON_TOO_LARGE: there are too many.
 */
extern KanonStatus clusters_choose(Clusters *c, double *bound);

/*
 * cluster_branch.c, method exact of any size: as good a release as is found in time, and a bound; *bound is raised.
 */
extern KanonStatus clusters_branch(Clusters *c, double *bound);

/* Are the rows so few (clustering.h) that every way to divide them is tried, where there are privacy rules? */
extern bool clusters_few(const KanonProblem *problem);

/*
 * cluster_choices.c: the least cost under privacy rules, or that there is none, of few rows; *bound is c->result.cost then.
 * It stays where time is up.
 */
extern KanonStatus clusters_place(Clusters *c, double *bound);

#endif
