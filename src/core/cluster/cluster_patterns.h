/*
 * cluster_patterns.h: pattern clustering at work, shared by its methods.
 */
#ifndef KANON_CLUSTER_PATTERNS_H
#define KANON_CLUSTER_PATTERNS_H

#include "pattern/program/flow.h"

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

/* What a set of classes makes, if all rows find a place. */
extern KanonStatus clusters_offer(Clusters *c, const IlpList *classes);

/* The largest cost that is better than what was found. */
extern double clusters_cutoff(const Clusters *c);

/* There is no release. */
extern KanonStatus clusters_none(Clusters *c);

/* Patterns that rules allow, all of which are listed, at most. */
#define CLUSTERS_LISTED ((size_t) 1 << 16)

/*
 * cluster_predicate.c: of more than those the ones that suffice, or KANON_TOO_LARGE; with a solver of
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

/*
 * cluster_losses.c: the same as clusters_choose by the row types that lose something.  KANON_TOO_LARGE: that is not fewer
 * choices than `most` at the least, or more than CLUSTERS_CHOICES were tried.
 */
extern KanonStatus clusters_lose(Clusters *c, double most, double *bound);

#endif
