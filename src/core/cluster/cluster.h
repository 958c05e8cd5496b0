/*
 * cluster.h: classes of any shape: the rows are partitioned or clustered, and a
 * class shows what its members have in common.
 *
 * These solvers take the problem's row types, k, weights and residual (what to
 * leave out is a choice of `forest` alone); its mask is every combination.
 */
#ifndef KANON_CLUSTER_H
#define KANON_CLUSTER_H

#include "kanon.h"

/* How a class shows a quasi-identifier in which its members differ. */
typedef enum KanonClusterShow
{
	KANON_CLUSTER_SUPPRESS,  /* not at all */
	KANON_CLUSTER_HIERARCHY, /* by the lowest level on which they agree */
	KANON_CLUSTER_RANGE,     /* by the least and the largest value; not at all beside NULL */
	KANON_CLUSTER_SET        /* by all their values */
} KanonClusterShow;

struct KanonClusterOptions
{
	const KanonClusterShow *show; /* one per quasi-identifier (column of level 0) */
	uint32_t partition_size;      /* row types of a part, at least; 0: the whole table is one */
};

/*
 * What they promise (report): `lower_bound` is proven for the cost of every release
 * with classes of at least k rows, and `cost` is at most `guarantee` times the
 * least.  cost is the sum over the rows of what their class hides: of each
 * quasi-identifier its weight, or the part of it that is up the hierarchy or within
 * a range; rows left out count as hidden altogether.  Of `gather` it is the largest
 * distance, in what a class of the two would hide, of a row from its class's centre.
 */
extern KanonStatus kanon_solve_mondrian(const KanonProblem *problem, KanonRelease *release,
										KanonReport *report);
extern KanonStatus kanon_solve_mondrian_relaxed(const KanonProblem *problem, KanonRelease *release,
												KanonReport *report);
extern KanonStatus kanon_solve_forest(const KanonProblem *problem, KanonRelease *release,
									  KanonReport *report);
extern KanonStatus kanon_solve_bottom_up(const KanonProblem *problem, KanonRelease *release,
										 KanonReport *report);
extern KanonStatus kanon_solve_top_down(const KanonProblem *problem, KanonRelease *release,
										KanonReport *report);
extern KanonStatus kanon_solve_gather(const KanonProblem *problem, KanonRelease *release,
									  KanonReport *report);

/* k = 2 and k = 3 only (else KANON_TOO_LARGE); KANON_UNAVAILABLE without LEMON. */
extern KanonStatus kanon_solve_pairs(const KanonProblem *problem, KanonRelease *release, KanonReport *report);
extern KanonStatus kanon_solve_triples(const KanonProblem *problem, KanonRelease *release,
									   KanonReport *report);

/*
 * cluster_near.c: a release near the one before.  Its classes stay together, and row types that are new
 * join them, or one another; so a class may be merged, but is never divided.  Under rules about
 * populations, and where that leads nowhere, the method's own release of the whole.
 */
extern KanonStatus kanon_cluster_near(const KanonProblem *problem, const KanonPrevious *previous,
									  KanonSolve solve, KanonRelease *release, KanonReport *report);

/*
 * cluster_patterns.c: pattern clustering (kanon.h), exact without GLPK: every choice of classes, or
 * of those that the row types have which lose something.  KANON_TOO_LARGE beyond a million.
 */
extern KanonStatus kanon_solve_pattern_clustering_fpt(const KanonProblem *problem, KanonRelease *release,
													  KanonReport *report);

#endif
