/*
 * mask.h: what a mask's index knows of its patterns; patterns of levels.
 */
#ifndef KANON_MASK_H
#define KANON_MASK_H

#include "kanon.h"

/*
 * Costs are compared as integers, so that sums do not depend on the order of
 * adding: a weight is its share of the total weight in units of 2^-60
 * (FIXED), and a cost's level is its sum rounded to units of 2^-30 (about one
 * billionth of the total weight).  Equal levels are equal costs.
 */
#define KANON_FIXED_BITS 60
#define KANON_LEVEL_SHIFT 30
#define KANON_LEVEL_MAX ((int64_t) 1 << (KANON_FIXED_BITS - KANON_LEVEL_SHIFT))

/* A listed pattern and its first place in the list. */
typedef struct KanonListed
{
	KanonPattern pattern;
	size_t place;
} KanonListed;

struct KanonMaskIndex
{
	const KanonProblem *problem;
	KanonPattern all;                  /* the all-suppressed pattern */
	KanonPattern last;                 /* columns that are their quasi-identifier's last level */
	int64_t weight[KANON_MAX_COLUMNS]; /* fixed point */
	double log_distinct[KANON_MAX_COLUMNS];
	int64_t max_level; /* of max_cost */

	/* a list: without doubles and the all-suppressed pattern, by pattern */
	KanonListed *listed;
	size_t nlisted;

	/*
	 * Rules.  Each says that one decision forces another, so a partial
	 * decision (columns that go, columns that stay) is closed under them by
	 * or-ing masks, and is then contradictory at once or can be completed by
	 * keeping every undecided column.
	 */
	bool none;                                 /* only the all-suppressed pattern fulfils the rules */
	KanonPattern go;                           /* goes in every pattern */
	KanonPattern stay;                         /* stays in every pattern but the all-suppressed one */
	KanonPattern go_go[KANON_MAX_COLUMNS];     /* c goes: these go, c among them */
	KanonPattern go_stay[KANON_MAX_COLUMNS];   /* c goes: these stay */
	KanonPattern stay_stay[KANON_MAX_COLUMNS]; /* c stays: these stay, c among them */
};

/* Sum of fixed-point weights over a pattern. */
static inline int64_t
kanon_fixed_cost(const KanonMaskIndex *index, KanonPattern pattern)
{
	int64_t sum = 0;

	KANON_EACH (c, pattern)
		sum += index->weight[c];
	return sum;
}

static inline int64_t
kanon_fixed_level(int64_t fixed)
{
	return (fixed + ((int64_t) 1 << (KANON_LEVEL_SHIFT - 1))) >> KANON_LEVEL_SHIFT;
}

/*
 * mask.c, by rules: all that goes when these columns do, and the least allowed pattern that
 * suppresses them (the all-suppressed one if no other does): it costs no more than any other.
 */
extern KanonPattern kanon_mask_forced(const KanonMaskIndex *index, KanonPattern pattern);
extern KanonPattern kanon_mask_cover(const KanonMaskIndex *index, KanonPattern pattern);

/* mask_walk.c: as kanon_mask_count. */
extern int64_t kanon_mask_count_indexed(const KanonMaskIndex *index, int64_t limit);

/* mask.c: the columns that are the last level of their quasi-identifier. */
extern KanonPattern kanon_last_levels(const KanonProblem *problem);

/* mask.c: orders different patterns of equal cost, neither of them the all-suppressed one. */
extern int kanon_mask_compare_equal(const KanonMaskIndex *index, KanonPattern a, KanonPattern b);

/* Quasi-identifiers that a pattern suppresses whole; last as above. */
static inline int
kanon_suppressed_whole(KanonPattern last, KanonPattern pattern)
{
	return kanon_count(kanon_both(pattern, last));
}

/* Does a pattern suppress levels from below, as all must?  last as above. */
static inline bool
kanon_levels_allow(KanonPattern last, KanonPattern pattern)
{
	uint64_t carry = 0; /* column c stays and is not the last: c + 1 is to stay, too */

	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
	{
		uint64_t stays = ~(pattern.word[w] | last.word[w]);

		if ((pattern.word[w] & (stays << 1 | carry)) != 0)
			return false;
		carry = stays >> 63;
	}
	return true;
}

#endif
