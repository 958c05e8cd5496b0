/*
 * item_walk.h: every set of items that occurs, without storing them.
 */
#ifndef KANON_ITEM_WALK_H
#define KANON_ITEM_WALK_H

#include "util/pace.h"

/* Where an item stands: in which transaction, as which of its items. */
typedef struct KanonPlace
{
	uint32_t row;
	uint32_t at;
} KanonPlace;

typedef enum KanonVisit
{
	KANON_VISIT_GO,    /* on to the sets that extend this one */
	KANON_VISIT_PRUNE, /* not to those */
	KANON_VISIT_STOP   /* nowhere any more */
} KanonVisit;

/*
 * A set of items (ascending), how many transactions have it, and the places of its
 * last item in them (in the order of rows).
 */
typedef KanonVisit (*KanonVisitSet)(void *arg, const uint32_t *set, int size, const KanonPlace *places,
									uint32_t count);

typedef struct KanonWalk
{
	KanonPace *pace;
	uint32_t nitems;
	uint32_t nrows;
	const size_t *start;  /* [nrows + 1] */
	const uint32_t *item; /* ascending in each row, without doubles */
	uint32_t first;       /* sets whose least item is below this */
	int depth;            /* sets of at most so many items */
	bool places;          /* at the last size, too; else they are NULL there … */
	uint32_t below;       /* … and only sets with less support are visited there */
	bool skip_implied;    /* not through items that every transaction of a set has */
	uint64_t limit;       /* sets to go through, at most */
	KanonVisitSet visit;
	void *arg;
	bool stopped; /* out: a visit said so */
} KanonWalk;

/*
 * Visits sets of 1 .. depth items, in an order in which every subset comes before
 * the set: the least items descend, then the second ones, and so on.
 * KANON_TOO_LARGE when there are more than the limit.
 */
extern KanonStatus kanon_walk_sets(KanonWalk *walk);

/* A visit that ends the walk at the first set with less support than arg, an int64_t. */
extern KanonVisit kanon_stop_at_rare(void *arg, const uint32_t *set, int size, const KanonPlace *places,
									 uint32_t count);

/* How many times a set of `size` items occurs in rows of these lengths, as a double. */
extern double kanon_count_subsets(const size_t *start, uint32_t nrows, int size);

#endif
