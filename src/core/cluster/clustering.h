/*
 * clustering.h: what clusterings share
 */
#ifndef KANON_CLUSTERING_H
#define KANON_CLUSTERING_H

#include "kanon.h"
#include "privacy/population.h"
#include "util/pace.h"
#include "privacy/rules.h"
#include "release/release.h"
#include "util/scratch.h"
#include "cluster/matching.h"

/*
 * ---- cluster.c: classes of any shape: the rows are partitioned or clustered, and a
 * class shows what its members have in common.
 *
 * These methods take the problem's row types, k, weights and residual (what to
 * leave out is a choice of `forest` alone); its mask is every combination.
 */

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
 * The promise (report): `lower_bound` is proven for the cost of every release with
 * classes of at least k rows, and `cost` is at most `guarantee` times the least. cost
 * is the sum over the rows of what their class hides: of each quasi-identifier its
 * weight, or the part of it that is up the hierarchy or within a range; rows left out
 * count as hidden altogether.  Under `gather` cost is the largest distance, in what a
 * class of the two would hide, of a row from its class's centre.
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

/* microaggregate.c: cost is the sum of squares within classes; of one column it is the least. */
extern KanonStatus kanon_solve_microaggregate(const KanonProblem *problem, KanonRelease *release,
											  KanonReport *report);

/* k = 2 and k = 3 only (else KANON_TOO_LARGE); KANON_UNAVAILABLE without LEMON. */
extern KanonStatus kanon_solve_pairs(const KanonProblem *problem, KanonRelease *release, KanonReport *report);
extern KanonStatus kanon_solve_triples(const KanonProblem *problem, KanonRelease *release,
									   KanonReport *report);

/*
 * cluster_ruled.c: a release near the one before.  Its classes stay together, and row types that are new
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

/*
 * Does exact pattern clustering go for a proof?  Under privacy rules it does for so many rows and patterns
 * allowed, at most; and under linear rules (distinct l, alpha, persons), with GLPK, for so many pairs of row type and
 * pattern.  Else it is a heuristic.
 */
#define KANON_CLUSTERING_ROWS 64
#define KANON_CLUSTERING_NODES (1 << 20) /* steps of the search; after them nothing is proven */
#define KANON_CLUSTERING_PATTERNS 256
#define KANON_CLUSTERING_PAIRS 40000
extern bool kanon_clustering_proves(const KanonProblem *problem);

/* ---- clustering: what the clusterings share among themselves ---- */

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
 * The partition becomes the release: each class shows what its members have in common.
 * parts is empty afterwards, whatever the status. report->cost is the cost of all
 * cells that the classes hide (clustering.h), rows left out counting as hidden
 * altogether.
 */
extern KanonStatus cluster_conclude(const ClusterLayout *layout, ClusterParts *parts, KanonRelease *release,
									KanonReport *report);

/*
 * by_parts.c: leaves out, cluster by cluster, what costs less so.  When that is enough rows
 * they are a class.  Knows of k alone.
 */
extern KanonStatus cluster_drop_outliers(const ClusterLayout *layout, ClusterParts *parts, KanonPace *pace);

/* The loss of a row in a class of these types, in report->cost's measure. */
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
 * joined)?  A class that has all that it needs then keeps it when rows join.
 */
extern bool cluster_asks_values(const KanonProblem *problem);

/*
 * The loss of a row in a class that has these hulls, in all columns; *pattern: those in
 * which its rows differ.
 */
extern double cluster_hidden(const ClusterLayout *layout, const KanonHull *hull, KanonPattern *pattern);

/*
 * cluster_ruled.c: what a method that knows k alone makes of the rows without what problem->privacy
 * (not NULL) looks at, mended (release/repair.c).  Where rows may be left out (residual
 * DROP), these are any number.  KANON_UNSUPPORTED: rules about populations.
 */
extern KanonStatus cluster_solve_ruled(const KanonProblem *problem, KanonSolve solve, KanonRelease *release,
									   KanonReport *report);

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

/*
 * microaggregate.c: the sum of squares within classes, each quasi-identifier in its standard deviations, times its weight.
 * A value that is no finite number lies at the mean.
 */
extern KanonStatus microaggregate_squares(const KanonProblem *problem, const KanonRelease *release,
										  double *squares);

/* The cost of a release that another method has changed, where that is no sum over rows. */
extern KanonStatus cluster_own_cost(const KanonProblem *problem, KanonSolve solve,
									const KanonRelease *release, double *cost);

/* All rows together may not be a class: says so. */
extern KanonStatus cluster_too_few(KanonReport *report);

/* ---- microaggregate.c: groups of at least so many rows, for masks, too ---- */

/* Different points, each of so many rows. */
typedef struct KanonPoints
{
	uint32_t n;
	int columns;
	const double *at;      /* [n * columns] */
	const int64_t *weight; /* [n] rows */
} KanonPoints;

/*
 * The groups of ascending numbers with the least sum of squares: the last group of the first `to` of them begins at
 * from[to], [n + 1].  weight NULL: each is one row.
 */
extern KanonStatus kanon_group_sorted(KanonEnv *env, const double *number, const int64_t *weight, uint32_t n,
									  int64_t least, uint32_t *from);

/* MDAV: the group of each point, [n]. */
extern KanonStatus kanon_mdav(KanonEnv *env, const KanonPoints *points, int64_t least, uint32_t *group,
							  uint32_t *ngroups);

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

/*
 * ---- penalty.c: the normalized certainty penalty of groups of rows, for the methods
 * that go by it.
 */

/* Sets of columns with more values than this are taken for ranges of codes. */
#define PENALTY_SET_WORDS 4

typedef struct PenaltyAxis
{
	/* what each comparison of groups looks at comes first */
	int hull;      /* its place in theirs */
	bool plain;    /* any difference costs the weight */
	double weight; /* of the quasi-identifier */
	const ClusterQi *qi;
	const KanonColumn *column; /* and its levels after it */
	double *place;             /* a range: [distinct] of each code, NaN: no number */
	double *share;             /* a hierarchy: penalty of each node, level by level */
	size_t share_from[KANON_MAX_COLUMNS];
	int words;     /* a set: of its bits; 0: by its range of codes */
	int bits_from; /* in a group's bits */
} PenaltyAxis;

typedef struct Penalty
{
	const ClusterLayout *layout;
	int naxes;
	PenaltyAxis axis[KANON_MAX_QIS];
	int ncolumns;
	int nwords;  /* bits of a group, in words */
	size_t size; /* bytes of a group */
} Penalty;

/* A group's hull in each column; its bits, if any, follow the hulls. */
typedef struct PenaltyGroup
{
	int64_t rows;
	double each;     /* penalty of a row */
	uint32_t hull[]; /* [2 * ncolumns] least and largest code, then [nwords * 2] */
} PenaltyGroup;

/* In memory of the scratch, which must outlive it. */
extern KanonStatus penalty_open(const ClusterLayout *layout, KanonScratch *scratch, KanonPace *pace,
								Penalty *penalty);

/* A group of some rows of one type. */
extern void penalty_single(const Penalty *penalty, uint32_t type, int64_t rows, PenaltyGroup *group);

/* Penalty of a row in the union, or any number above `limit` when it is above. */
extern double penalty_union(const Penalty *penalty, const PenaltyGroup *a, const PenaltyGroup *b,
							double limit);

/* A group's bits, behind its hulls. */
static inline uint64_t *
penalty_bits(const Penalty *penalty, const PenaltyGroup *group)
{
	return (uint64_t *) (group->hull + 2 * penalty->ncolumns);
}

/* a becomes the union. */
extern void penalty_merge(const Penalty *penalty, PenaltyGroup *a, const PenaltyGroup *b);

/* ---- penalty_many.c: of a group with many others, from below ---- */

/* The weight of all quasi-identifiers; groups that are looked at together: a constant for compilers. */
#define PENALTY_ONE (1 << 30)
#define PENALTY_BLOCK 128

typedef enum PenaltyBy
{
	PENALTY_BY_CODE,  /* whether it is the same */
	PENALTY_BY_PLACE, /* how far apart the ends are */
	PENALTY_BY_BITS   /* how many there are */
} PenaltyBy;

/* A thing that is compared: a level of a quasi-identifier, its range, or 32 of its values. */
typedef struct PenaltyLine
{
	const PenaltyAxis *axis;
	PenaltyBy by;
	int number; /* among the axis's lines */
	uint32_t weight;
	uint32_t *place; /* [distinct] by place: of each code */
	uint32_t *value; /* [room] of each group; by place the lower end */
	uint32_t *high;  /* [room] by place the upper end */

	/* of the group that is compared with all others */
	uint32_t own;
	uint32_t own_high;
	uint32_t add; /* where one differs; by bits for each value */
} PenaltyLine;

typedef struct PenaltyMany
{
	const Penalty *penalty;
	KanonScratch *scratch;
	double scale; /* makes PENALTY_ONE of the weight of all */
	size_t room;
	int nlines;
	PenaltyLine *line;
	int32_t *least; /* [room] out: the penalty of each union is not below */
} PenaltyMany;

/* For n groups, in memory of the scratch, which must outlive it. */
extern KanonStatus penalty_many_open(const Penalty *penalty, size_t n, KanonScratch *scratch,
									 PenaltyMany *many);

/* One of them is this. */
extern void penalty_many_put(PenaltyMany *many, uint32_t at, const PenaltyGroup *group);

/* Fills many->least for the first n; its work is returned for kanon_stop. */
extern uint64_t penalty_many(PenaltyMany *many, uint32_t n, const PenaltyGroup *group);

/* Rows of one type, as a member of a group. */
typedef struct PenaltyMember
{
	uint32_t type;
	int64_t rows;
	double nearer; /* to one end of the group than to the other */
} PenaltyMember;

/*
 * Divides as long as it helps, and adds the parts as clusters.  members and
 * scratch have room for 2n: each member that becomes two fills a part up to k
 * rows, which is not divided any more, and where there is one that did not.
 */
extern KanonStatus penalty_divide_all(const Penalty *penalty, KanonPace *pace, PenaltyMember *members,
									  size_t n, PenaltyMember *scratch, ClusterParts *parts);

/*
 * ---- factor.c: what `pairs` and `triples` have in common: a factor of least weight
 * of the complete graph over the rows, found without the complete graph.
 */

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
	 * The worth of the blossoms that hold all nodes of two types (matching.h): the types'
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

/* ---- mpalm.c and mpalm_class.c: Mondrian under rules about a population ---- */

typedef struct Mpalm
{
	const KanonProblem *problem;
	ClusterLayout layout;
	KanonScratch scratch;
	KanonPace pace;
	size_t width;      /* columns */
	uint32_t *type;    /* [ntypes] the table's row types, part by part */
	uint32_t n;        /* of them in parts that wait */
	uint32_t **people; /* [npopulations] row types of each population, part by part; NULL: of shares */
	uint32_t *npeople; /* [npopulations] those in parts that wait */
	uint32_t *from;    /* where each part begins: of the table, then of each population */
	KanonHull *hull;   /* [width] of each part */
	size_t nparts;
	size_t from_room;
	size_t hull_room;
	ClusterParts parts;
	KanonHull *shown; /* [width] of each cluster */
	size_t shown_room;

	/* a division that is tried */
	uint32_t nchildren;
	uint32_t *child;       /* [most distinct, or 2] of a code */
	uint32_t *sorted;      /* [ntypes] by child */
	uint32_t *spare;       /* [ntypes] */
	uint32_t *start;       /* [ntypes + 2] */
	int64_t *rows;         /* [ntypes + 1] by child */
	KanonHull *child_hull; /* [ntypes + 1] of the column that tells children apart: */
	int column;
	int64_t *found;          /* [ntypes + 1] of a population, by child; the last: nobody's */
	uint32_t *people_sorted; /* [most row types of a population] */
	uint64_t *pairs;         /* [twice that] a child and a person; NULL: no population has persons */
} Mpalm;

/* The part that is divided: the last. */
typedef struct MpalmPart
{
	const uint32_t *from; /* of the table, and of each population */
	KanonHull *hull;
	uint32_t low[KANON_MAX_COLUMNS]; /* of its rows, by column */
	uint32_t high[KANON_MAX_COLUMNS];
	int64_t rows;
} MpalmPart;

/* Counts the persons of n pairs: each once in a child. */
extern KanonStatus mpalm_count_persons(Mpalm *m, size_t n, int64_t *found);

static inline bool
mpalm_is_ordered(const ClusterQi *qi)
{
	return qi->show == KANON_CLUSTER_RANGE || qi->show == KANON_CLUSTER_SET;
}

/* The code of NULL in a column of ranges, beside which it shows none. */
extern uint32_t mpalm_null_code(const Mpalm *m, const ClusterQi *qi);

/* Does a value of a population show what a region shows of a quasi-identifier? */
extern bool mpalm_matches(const Mpalm *m, const KanonPopulation *population, const ClusterQi *qi, uint32_t i,
						  const KanonHull *hull);

/* The share of a population that a region matches. */
extern double mpalm_share(const Mpalm *m, const KanonPopulation *population, const KanonHull *hull);

/* May a part of so many rows be, of which a population has found so many, or that share matches it? */
extern bool mpalm_keeps(const Mpalm *m, int p, int64_t rows, int64_t found, double match);

/* The last part is a class, if it may be: *allowed. */
extern KanonStatus mpalm_take_class(Mpalm *m, const MpalmPart *part, bool *allowed);

#endif
