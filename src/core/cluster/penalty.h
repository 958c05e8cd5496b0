/*
 * penalty.h: the normalized certainty penalty of groups of rows, for the methods
 * that go by it.
 */
#ifndef KANON_PENALTY_H
#define KANON_PENALTY_H

#include "cluster/clustering.h"
#include "util/pace.h"

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

/* What a group of rows has in each column; its bits, if any, follow the hulls. */
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

/* a becomes the union. */
extern void penalty_merge(const Penalty *penalty, PenaltyGroup *a, const PenaltyGroup *b);

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

#endif
