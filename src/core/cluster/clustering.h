/*
 * clustering.h: what the clusterings share among themselves.
 */
#ifndef KANON_CLUSTERING_H
#define KANON_CLUSTERING_H

#include "cluster/cluster.h"
#include "util/pace.h"
#include "privacy/allowed.h"
#include "release/repair.h"
#include "util/scratch.h"

/* A quasi-identifier, over its columns (one per level). */
typedef struct ClusterQi
{
	int first;  /* its column of level 0 */
	int levels; /* its columns */
	KanonClusterShow show;
	double weight;        /* cost of suppressing a cell: of all its columns */
	const double *number; /* [distinct] or NULL: the codes are the numbers */
	double low;           /* of the finite numbers, by scale */
	double span;          /* largest minus low, by scale; 0: they do not differ */
	double scale;         /* keeps the span finite */
} ClusterQi;

typedef struct ClusterLayout
{
	const KanonProblem *problem;
	int nqis;
	ClusterQi qi[KANON_MAX_QIS];
	double weight; /* of all quasi-identifiers */
	int64_t rows;  /* of all row types */

	/* [nclusters * ncolumns] what each cluster shows, where that is more than its rows' values; else NULL */
	const KanonHull *region;
} ClusterLayout;

/* cluster.c */
extern void cluster_layout(const KanonProblem *problem, ClusterLayout *layout);

static inline const KanonColumn *
cluster_column(const ClusterLayout *layout, const ClusterQi *qi)
{
	return &layout->problem->columns[qi->first];
}

/* The number that a code stands for; not finite for NULL. */
static inline double
cluster_number(const ClusterQi *qi, uint32_t code)
{
	return qi->number != NULL ? qi->number[code] : (double) code;
}

/* Share of the whole range between two codes; 1 from anything to what is no number. */
extern double cluster_share(const ClusterQi *qi, uint32_t low, uint32_t high);

typedef KanonParts ClusterParts;

/*
 * The partition becomes the release: each class shows what its members have in
 * common.  parts is empty afterwards, whatever the status.  report->cost is what
 * the classes hide (cluster.h), rows left out counting as hidden altogether.
 */
extern KanonStatus cluster_conclude(const ClusterLayout *layout, ClusterParts *parts, KanonRelease *release,
									KanonReport *report);

/*
 * outliers.c: leaves out, cluster by cluster, what costs less so.  When that is enough rows
 * they are a class.  Knows of k alone.
 */
extern KanonStatus cluster_drop_outliers(const ClusterLayout *layout, ClusterParts *parts, KanonPace *pace);

/* What a row loses in a class of these types, in report->cost's measure. */
extern double cluster_charge(const ClusterLayout *layout, const uint32_t *types, size_t n);

/*
 * mondrian.c: so many rows of each type (k together, or more), divided as strict Mondrian
 * does; the parts are added as clusters.
 */
extern KanonStatus mondrian_divide(const ClusterLayout *layout, const int64_t *rows, ClusterParts *parts);

/* mpalm.c: kanon_solve_mondrian, strict, of a problem with rules about populations. */
extern KanonStatus mondrian_under_populations(const KanonProblem *problem, KanonRelease *release,
											  KanonReport *report);

/* Rows of the largest cluster; none are left out. */
extern KanonStatus cluster_largest(const ClusterLayout *layout, const ClusterParts *parts, int64_t *most);

/*
 * Are the privacy rules, if there are any, distinct values alone (of rows, nothing
 * joined)?  Whatever a class has to have it then keeps with any rows more.
 */
extern bool cluster_asks_values(const KanonProblem *problem);

/*
 * What a row loses in a class that has these hulls, in all columns; *pattern: those in which
 * its rows differ.
 */
extern double cluster_hidden(const ClusterLayout *layout, const KanonHull *hull, KanonPattern *pattern);

/*
 * cluster_ruled.c: what a method that knows k alone makes of the rows without what problem->privacy
 * (not NULL) looks at, mended (release/repair.h).  Where rows may be left out (residual
 * DROP), these are any number.  KANON_UNSUPPORTED: rules about populations.
 */
extern KanonStatus cluster_solve_ruled(const KanonProblem *problem, KanonSolve solve, KanonRelease *release,
									   KanonReport *report);

/*
 * Clusters that break a rule are merged; the release of what comes of that.  end: of the time that there is, as of
 * KanonShape.  parts is empty afterwards.
 */
extern KanonStatus cluster_mend(const KanonProblem *problem, ClusterParts *parts, double end,
								KanonRelease *release, KanonReport *report);

/*
 * by_parts.c: a table of which parts are solved, as the problem wants them (partition_size),
 * by a method that compares all rows with all others; without its bound and factor.  Rules are
 * those that the method takes by itself.
 */
extern bool cluster_wants_parts(const KanonProblem *problem);
extern KanonStatus cluster_solve_by_parts(const KanonProblem *problem, KanonSolve solve,
										  KanonRelease *release, KanonReport *report);

/* gather.c: the largest distance of a row from its class's centre, which is one of its rows; the least such, or near it. */
extern KanonStatus gather_radius(const KanonProblem *problem, const KanonRelease *release, double *radius);

/* All rows together may not be a class: says so. */
extern KanonStatus cluster_too_few(KanonReport *report);

/* ---- cluster_space.c: distances ---- */

/*
 * Row types as points: how much a class of two of them hides.  Distances are
 * whole numbers, of which KANON_SPACE_ONE hide everything.
 */
#define KANON_SPACE_ONE (UINT32_C(1) << 30)

typedef struct SpaceAxis
{
	uint32_t *kind;  /* [room] points of different kinds are `weight` apart */
	uint32_t *place; /* [room] those of one kind, so far; NULL: not at all */
	uint32_t weight;
} SpaceAxis;

typedef struct ClusterSpace
{
	KanonScratch *scratch;
	uint32_t n; /* points */
	size_t room;
	int naxes;
	SpaceAxis axis[KANON_MAX_COLUMNS];
	uint32_t *distance; /* [room] from the point that was asked for last */
	uint32_t *least;    /* of each block of distances: space_nearest passes over those that are too far */
	double unit;        /* cost of a distance of 1 */
	bool halves;        /* three points' distances add up to twice what they hide together */
} ClusterSpace;

/* In memory of the scratch, which must outlive it. */
extern KanonStatus space_open(const ClusterLayout *layout, KanonScratch *scratch, ClusterSpace *space);

/* Some of its points, numbered anew; memory of the same scratch. */
extern KanonStatus space_some(const ClusterSpace *whole, const uint32_t *point, uint32_t n,
							  ClusterSpace *some);

/* Fills space->distance; its work is returned for kanon_stop. */
extern uint64_t space_measure(ClusterSpace *space, uint32_t from);
extern uint32_t space_distance(const ClusterSpace *space, uint32_t a, uint32_t b);

/* A point and how far it is. */
typedef struct SpaceNear
{
	uint32_t distance;
	uint32_t type;
} SpaceNear;

/*
 * By the distances measured last: the nearest points but `from`, nearest first
 * (equally near: by number), at most `most` of them and no more than it takes to
 * hold that many rows (rows NULL: however many).  Returns how many.
 */
extern uint32_t space_nearest(const ClusterSpace *space, const int64_t *rows, uint32_t from, uint32_t most,
							  int64_t wanted, SpaceNear *nearest);

#endif
