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

#endif
