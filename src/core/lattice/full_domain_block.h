/*
 * full_domain_block.h: the memory that the members of a team share, and what
 * each has of its own; for full_domain_set_up.c, _check.c and _member.c.
 *
 * A group is an entry of a few 64-bit words: its codes, each in bits of its own,
 * and its rows.  Everything that a check reads lies in one block without
 * pointers, so that it may be shared.
 */
#ifndef KANON_FULL_DOMAIN_BLOCK_H
#define KANON_FULL_DOMAIN_BLOCK_H

#include "lattice/lattice.h"
#include "privacy/population.h"

/* Groups that a check begins with: from so many on a team takes part. */
#ifndef FULL_DOMAIN_SHARED
#define FULL_DOMAIN_SHARED 50000
#endif

/* From so many on first the groups of a lower node are made, if there are at most 1 / FULL_DOMAIN_FEWER as many. */
#ifndef FULL_DOMAIN_LOWERED
#define FULL_DOMAIN_LOWERED 4096
#endif
#define FULL_DOMAIN_FEWER 8

/* Lower nodes whose groups are remembered. */
#define MAX_SNAPSHOTS 256

/* Quasi-identifiers, and what rules look at. */
#define MAX_PLACES (KANON_MAX_COLUMNS + 1)

/* Entries that are translated at a time. */
#define BATCH 128

/* Some groups: of all entries, or of a lower node, in a part for each member who made them. */
typedef struct Groups
{
	uint16_t level[MAX_PLACES]; /* by quasi-identifier */
	int nparts;
	size_t at[KANON_MAX_MEMBERS];    /* words from the block's beginning */
	size_t count[KANON_MAX_MEMBERS]; /* entries */
	size_t total;
	uint64_t age; /* when it was used last; 0: nothing is here */
} Groups;

typedef enum Task
{
	TASK_COUNT, /* make the groups of `level` from `from` */
	TASK_KEEP   /* copy them to keep[member] */
} Task;

typedef struct Result
{
	KanonStatus status;
	size_t refused; /* with KANON_NO_MEMORY */
	Count count;
} Result;

typedef struct Block
{
	KanonProblem rules; /* what kanon_class_allowed needs; its pointers mean nothing */
	int nqis;
	int values; /* the last of them is what rules look at, as one with one level; -1: there is none */
	int words;  /* of codes in an entry */
	int height[MAX_PLACES];
	int first[MAX_PLACES];
	int word[MAX_PLACES]; /* where the code of a quasi-identifier is */
	int shift[MAX_PLACES];
	uint64_t mask[MAX_PLACES];
	uint32_t distinct[MAX_PLACES]; /* by column, as the next two */
	size_t up_at[MAX_PLACES];      /* tables of codes at the next level, the one after it, ... */
	size_t kept_at[MAX_PLACES];    /* the metric's */
	bool of_cells;
	int64_t limit; /* rows that may be suppressed */
	int64_t fill;  /* the metric's */

	/* what is to be done, and what came out */
	Task task;
	int members;  /* who take part; 1: the caller alone */
	bool by_part; /* each reads his part of the entries, not all to keep those of his hashes */
	uint16_t level[MAX_PLACES];
	Groups from;
	size_t keep[KANON_MAX_MEMBERS];
	Result result[KANON_MAX_MEMBERS];
} Block;

struct KanonMember
{
	KanonEnv *env;
	Block *block;
	int number;
	KanonPace pace;
	uint64_t *key; /* [BATCH * words] codes of a batch */
	uint64_t hash[BATCH];
	uint64_t *slots; /* [nslots] tag << 32 | position in entries + 1 */
	size_t nslots;   /* in use, a power of two */
	size_t slots_room;
	int slot_shift;    /* of a hash, for its slot */
	uint64_t *entries; /* [count * (words + 1)] */
	size_t entries_room;
	uint32_t count;
	uint32_t *position; /* [entries read] or NULL: where each went */
};

/* full_domain_set_up.c makes it, full_domain_check.c works with it. */
struct Checker
{
	const KanonProblem *problem;
	const Lattice *lattice;
	const Metric *metric;
	const KanonTeam *team; /* NULL: alone */
	int members;
	KanonPace *pace;
	Block *block;
	bool own_block;
	KanonMember *self;
	Groups base;     /* the row types */
	int divider;     /* quasi-identifier by which a team divides them */
	uint32_t *order; /* [ntypes] of each entry its type; NULL: the same */
	size_t arena_at; /* words from the block's beginning */
	size_t arena_words;
	uint64_t age;
	Groups *history;               /* [MAX_SNAPSHOTS] */
	int nplaces;                   /* of them in use */
	uint16_t place[MAX_SNAPSHOTS]; /* [nplaces] which, in the order of where their entries lie */
	int64_t rolled_up;
	/* for rules that look at values of other columns: each combination of these, and a type with it */
	uint32_t *values;      /* [ntypes] */
	uint32_t *typical;     /* [combinations] */
	uint32_t *class_types; /* [ntypes] of the class at hand, */
	int64_t *class_counts; /* [ntypes] and their rows */
	int64_t *rest_counts;  /* [ntypes] of the types in rest */
	/* a class has so many different values in a column at least */
	uint32_t needed;
	const uint32_t *code; /* NULL: any will do */
	uint64_t *seen;       /* [values] stamp: it was met */
	uint64_t stamp;
	/* for rules that look at types, and for the release */
	uint32_t *group;         /* [ntypes] */
	uint32_t *member;        /* [ntypes] types by group */
	uint32_t *start;         /* [ntypes + 2] */
	uint32_t *rest;          /* [ntypes] types whose rows are suppressed */
	KanonPresence *presence; /* or NULL */
};

static inline uint64_t *
words_at(const Block *block, size_t at)
{
	return (uint64_t *) (void *) ((char *) (uintptr_t) block + at * sizeof(uint64_t));
}

/* The smallest groups of which those of the level can be made: from now on those used last. */
extern Groups *history_find(Checker *checker, const uint16_t *level);

/*
 * A place in the history, and where its entries may lie: those used longest ago give way.
 * There is room for so many words in an empty history.
 */
extern Groups *history_reserve(Checker *checker, size_t words, size_t *at);

/* Memory for lists of the row types of each group, if it is not there yet. */
extern KanonStatus checker_take_lists(Checker *checker);

/* Makes the groups of block->level from block->from; where entries go: member->position. */
extern KanonStatus member_make_groups(KanonMember *member);

/* Adds one group to a count. */
extern void member_count_group(const Block *block, const uint64_t *entry, bool allowed, Count *count);

/* Looks whether a class, the one that was counted last, would lose least when suppressed rows are filled up. */
extern void member_offer_class(const Block *block, const uint64_t *entry, Count *count);

#endif
