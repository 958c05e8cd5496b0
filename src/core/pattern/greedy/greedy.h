/*
 * greedy.h: what the greedy method's files share: greedy.c (batches, classes),
 * greedy_search.c (the groups of a batch, as lists), greedy_block.c
 * and greedy_refine.c (the same as blocks or partitions), greedy_wide.c (near rows, where groups are too
 * many), greedy_store.c (what was found), greedy_release.c (what was taken), greedy_orders.c
 * (orders of equally costly patterns).
 */
#ifndef KANON_GREEDY_H
#define KANON_GREEDY_H

#include "model/model.h"
#include "pattern/greedy/found.h"
#include "privacy/population.h"
#include "util/pace.h"

#define GREEDY_NOBODY UINT32_MAX

/* In which order equally costly patterns are tried. */
typedef struct GreedyTies
{
	KanonOrder order;
	uint64_t seed; /* KANON_ORDER_DRAWN */
} GreedyTies;

/* Row types that a pattern of the batch may take. */
typedef struct GreedyGroup
{
	uint32_t pattern; /* number in the store */
	uint32_t next;    /* group of the same pattern, or GREEDY_NOBODY */
	uint32_t start;   /* in the store's types */
	uint32_t count;
} GreedyGroup;

/* A group's place in the store, in words of four bytes. */
#define GREEDY_GROUP_WORDS(count) ((count) + sizeof(GreedyGroup) / sizeof(uint32_t))

typedef struct GreedyPattern
{
	KanonPattern pattern;
	uint32_t first; /* group */
	size_t words;   /* of its groups */
} GreedyPattern;

/* The candidates of a batch. */
typedef struct GreedyStore
{
	const KanonMaskIndex *index;
	KanonEnv *env;
	KanonPace *pace;
	bool stopped; /* by the host, in a sort */
	size_t most;  /* words of groups and their types; one pattern may take more */
	size_t words;
	uint32_t *types;
	size_t ntypes;
	size_t types_room;
	GreedyGroup *groups;
	uint32_t ngroups;
	uint32_t groups_room;
	GreedyPattern *patterns;
	uint32_t npatterns;
	uint32_t patterns_room;
	uint32_t *hash; /* pattern numbers by pattern; twice patterns_room */
} GreedyStore;

/* A consecutive part of the order of patterns. */
typedef struct GreedyRange
{
	int64_t low; /* levels */
	int64_t high;
	bool has_after; /* only patterns after this one */
	KanonPattern after;
	bool has_upto; /* only patterns up to this one */
	KanonPattern upto;
	const KanonPattern *list; /* the patterns of a listed mask's range */
	size_t nlist;
} GreedyRange;

/* All groups of a range in the whole problem, in order, of at least the k of the run that found them. */
typedef struct GreedyKept
{
	struct GreedyKept *next;
	GreedyRange asked;
	GreedyRange range; /* the part of it that the store has */
	GreedyStore store;
	uint64_t work; /* that they took */
} GreedyKept;

/* A partial decision about all columns. */
typedef struct GreedyState
{
	KanonPattern go;
	KanonPattern stay;
	KanonPattern refined; /* of stay: the group has one value there */
	int64_t cost;         /* fixed point, of go */
	int64_t kept;         /* of stay */
	size_t npool;         /* the listed patterns that fit are pool[0 .. npool) */
} GreedyState;

/* A row type in a block; its bytes, one per column of the block, follow. */
typedef struct GreedyRow
{
	uint32_t type;
	uint32_t rows; /* at most k */
	uint32_t cost; /* lower bound for it, as GREEDY_SHORT_COST */
	uint32_t rare; /* bit j: its value of byte j (below 32) has too few rows */
} GreedyRow;

/* A row's byte where its value has too few rows in the block. */
#define GREEDY_DEAD 0

/* Fixed-point costs in 23 bits, rounded down: for lower bounds. */
#define GREEDY_SHORT_COST(fixed) ((uint32_t) ((fixed) >> (KANON_FIXED_BITS - 23)))

/*
 * Row types of a block at most (tests make it small), and k for which their
 * sums of rows fit 32 bits.
 */
#ifndef GREEDY_BLOCK_ROWS
#define GREEDY_BLOCK_ROWS 65536
#endif
#define GREEDY_BLOCK_K 65535

/* The columns still to be seen to, as the loops over a block's rows need them. */
typedef struct GreedyOpen
{
	int n;
	uint8_t byte[KANON_MAX_COLUMNS];
	uint32_t *count[KANON_MAX_COLUMNS];  /* rows by value */
	uint64_t *effect[KANON_MAX_COLUMNS]; /* see bound_rows */
	uint64_t rare[KANON_MAX_COLUMNS];
} GreedyOpen;

/* The memory of one depth of greedy_search_block. */
typedef struct GreedyLevel
{
	char *rows;
	size_t room;     /* bytes */
	uint32_t *count; /* rows by value, of all columns */
	size_t count_room;
} GreedyLevel;

/*
 * From so many row types on, and up to so many quasi-identifiers, refinement beats blocks.
 * So many slots per row type it has at least; beyond, they are hashed.  (Tests
 * make the first and the last small.)
 */
#ifndef GREEDY_REFINE_LEAST
#define GREEDY_REFINE_LEAST 256
#endif
#define GREEDY_REFINE_QIS 20
#ifndef GREEDY_REFINE_SLOTS
#define GREEDY_REFINE_SLOTS 8
#endif

/* Row types, by their places in the search, and, of each, the number of its group. */
typedef struct GreedyPart
{
	uint32_t n;
	uint32_t ngroups;
	uint32_t *type;
	uint32_t *group;
} GreedyPart;

/* The rows of a group with one value, and their number when they become a group. */
typedef struct GreedySlot
{
	uint32_t rows;
	uint32_t number;
} GreedySlot;

/* The memory of greedy_refine_search. */
typedef struct GreedyRefine
{
	uint32_t room;                          /* row types */
	GreedyPart part[KANON_MAX_COLUMNS + 1]; /* by depth */
	uint32_t nslots;
	GreedySlot *slot; /* all zero between two steps */
	uint64_t *key;    /* of a slot that was found by hashing; NULL until one is */
	uint32_t *place;  /* [room] */

	/* the row types of the search: what is looked at again and again lies together */
	uint32_t n;
	uint32_t *type;                    /* [room] */
	uint32_t *rows;                    /* [room] at most k */
	uint32_t *value;                   /* [room] of the search's value; NULL: there is none */
	uint32_t *code[KANON_MAX_COLUMNS]; /* [room] */
	KanonPattern gathered;             /* columns whose codes are there */
} GreedyRefine;

/* A search for groups; greedy_search.c says how. */
typedef struct GreedySearch
{
	const KanonMaskIndex *index;
	const KanonProblem *problem;
	KanonEnv *env;
	KanonPace *pace;
	GreedyStore *store;
	KanonStatus status;
	int64_t nodes;                /* groups looked at */
	int64_t total;                /* fixed-point cost of all columns */
	int order[KANON_MAX_COLUMNS]; /* in which columns are decided */
	KanonPattern closed;          /* see set_closed */
	GreedyRange *range;
	KanonPattern *pool;
	size_t pool_room;
	uint32_t *spare; /* [ntypes] */

	/* a search of all groups that has done so much work (kanon_worked) ends as KANON_TOO_LARGE */
	uint64_t most;

	/* the block */
	int ncolumns;
	int column[KANON_MAX_COLUMNS];        /* byte -> column */
	int byte[KANON_MAX_COLUMNS];          /* column -> byte */
	uint32_t base[KANON_MAX_COLUMNS + 1]; /* of a byte's values in GreedyLevel.count */
	size_t stride;                        /* bytes per row, a multiple of sizeof(GreedyRow) */
	GreedyLevel level[KANON_MAX_COLUMNS + 1];

	/* the block of all remaining row types, kept from batch to batch */
	char *root;

	const uint32_t
		*value; /* [ntypes] of a column of which each class has several values; NULL: there is none */
	GreedyRefine refine;

	/* scratch */
	GreedyOpen open;
	uint64_t *effect; /* as GreedyLevel.count, see bound_rows */
	size_t effect_room;
	size_t slots_room;
	uint32_t nslots;
	uint32_t *slot_code; /* hash table of a column's values */
	uint32_t *slot_rows;
	uint8_t *slot_byte;
	uint32_t split[256];
	int64_t digit_rows[256];
	uint32_t digit_types[256];
} GreedySearch;

/* The rows that have been taken, and those that are left. */
typedef struct Greedy
{
	const KanonProblem *problem;
	KanonProblem searched; /* the same with as many rows for k as a class has at least */
	KanonEnv *env;
	KanonMaskIndex *index;
	KanonPace pace;
	KanonRelease *release;
	KanonReport *report;
	uint32_t *left; /* row types not taken yet, ascending */
	uint32_t nleft;
	int64_t rows; /* of all types */
	int64_t rows_left;
	uint32_t *class_; /* [ntypes] GREEDY_NOBODY: not taken */
	uint32_t *member; /* [nclasses] one row type of each class */
	uint32_t classes_room;
	GreedyStore store;
	GreedySearch search;
	KanonFound *found;       /* shared with other ks; NULL: nothing is */
	KanonPresence *presence; /* NULL: no rules about populations */
	KanonPattern *patterns;  /* of a list, in order */
	size_t npatterns;
	int64_t bound[KANON_MAX_COLUMNS + 2]; /* highest levels of the batches */
	int nbounds;
	double end;  /* env->now when time is up; 0: never */
	bool unsure; /* rows that a pattern that costs nothing takes may be in others */
} Greedy;

/* The i-th row of a block, and its bytes. */
static inline GreedyRow *
greedy_row(const GreedySearch *search, char *rows, size_t i)
{
	return (GreedyRow *) (rows + i * search->stride);
}

static inline const uint8_t *
greedy_bytes(const GreedyRow *row)
{
	return (const uint8_t *) (row + 1);
}

/* greedy_store.c */
extern void greedy_store_init(GreedyStore *store, const KanonMaskIndex *index, KanonPace *pace, size_t most);
extern void greedy_store_clear(GreedyStore *store);
extern void greedy_store_free(GreedyStore *store);

/* Room for count types of a group of the pattern; NULL: no memory. */
extern uint32_t *greedy_store_add(GreedyStore *store, KanonPattern pattern, uint32_t count);

/* Sorts the patterns into the order in which they are tried. */
extern KanonStatus greedy_store_sort(GreedyStore *store);

/* Forgets groups without types; and gives back what memory is not used. */
extern void greedy_store_pack(GreedyStore *store);
extern void greedy_store_trim(GreedyStore *store);

/* Forgets all but the first patterns, in half of the room if they are several; the last one. */
extern KanonStatus greedy_store_shrink(GreedyStore *store, KanonPattern *last);

/* greedy_found.c: what this run has in common with those of other ks; NULL: nothing. */
extern KanonFound *greedy_shared(const KanonProblem *problem);

/*
 * The groups of the range that this run or another found in the whole problem, if that pays; else NULL.  Each has at
 * least k rows there, and maybe fewer that are left.  range->upto as for greedy_search_range.
 */
extern KanonStatus greedy_find(Greedy *greedy, GreedyRange *range, GreedyStore **into);

/* greedy_release.c: classes in order, with cells and flows; member and class_ are used up. */
extern KanonStatus greedy_make_release(Greedy *greedy);

/* greedy_plan.c: the highest cost levels of the batches in which all patterns are tried; there is room for KANON_MAX_COLUMNS + 2. */
extern KanonStatus greedy_plan(const KanonMaskIndex *index, int64_t *bound, int *nbounds);

/* greedy_search.c */
extern KanonStatus greedy_search_open(const KanonMaskIndex *index, KanonPace *pace, GreedyStore *store,
									  GreedySearch *search);
extern void greedy_search_close(GreedySearch *search);

/*
 * Puts into the store every group of at least k rows, among the given row types
 * (ascending), of every pattern in the range that could take it.  When that is
 * too much for the store, range->upto is set, and the store holds the groups of
 * the patterns up to it.  Reorders the types.
 */
extern KanonStatus greedy_search_range(GreedySearch *search, uint32_t *types, uint32_t ntypes,
									   GreedyRange *range);

/* Adds columns to go and to stay, and what follows; false if no pattern is left. */
extern bool greedy_decide(GreedySearch *search, GreedyState *state, KanonPattern go, KanonPattern stay);

/* Given the columns with one value in the group: decides what follows from them. */
extern bool greedy_use_constant(GreedySearch *search, GreedyState *state, KanonPattern constant);

/* All groups have one value in column c, which stays: and so in its levels. */
extern void greedy_refined(const GreedySearch *search, GreedyState *state, int c);

/* The column to decide next: first those that must stay; -1: none. */
extern int greedy_next_column(const GreedySearch *search, const GreedyState *state);

/* Room in the store for a group of count types; NULL: not wanted, or status says why. */
extern uint32_t *greedy_found(GreedySearch *search, const GreedyState *state, uint32_t count);

/* Some work was done: true if the search is to end, and status says why. */
extern bool greedy_enough(GreedySearch *search, uint64_t work);

/* greedy_refine.c */

/* Is refinement the better way for this group? */
extern bool greedy_refine_fits(const GreedySearch *search, uint32_t n, const GreedyState *state);

/* Searches a group of at least k rows. */
extern void greedy_refine_search(GreedySearch *search, const uint32_t *types, uint32_t n,
								 const GreedyState *state);
extern void greedy_refine_free(GreedySearch *search);

/* greedy_block.c */

/* Makes a block of a group; false if it does not fit one, or status says why. */
extern bool greedy_block_make(GreedySearch *search, const uint32_t *types, uint32_t n,
							  const GreedyState *state);

/* The same of all remaining row types, the columns undecided. */
extern bool greedy_block_root(GreedySearch *search, const uint32_t *types, uint32_t n,
							  const GreedyState *state);

/* Searches the block's n row types, which have at least k rows. */
extern void greedy_block_search(GreedySearch *search, uint32_t n, const GreedyState *state);

/* greedy_wide.c: classes of near rows, of what is left, until no more are found or time is up. */
extern KanonStatus greedy_wide(Greedy *greedy);

/* greedy.c: a group becomes a class, if it may. */
extern KanonStatus greedy_take(Greedy *greedy, KanonPattern pattern, uint32_t *types, uint32_t ntypes);

/* Lists the row types still left, ascending. */
extern KanonStatus greedy_list_left(Greedy *greedy);

/* True when neither the rows that are left nor some of them can be a class. */
extern bool greedy_is_over(const Greedy *greedy);

/*
 * Algorithm 1 alone.  KANON_REST_FORBIDDEN where rules beyond k do not let what is left be published as
 * residual says (FILL: or be filled).  Its work is added to `work`.
 */
extern KanonStatus greedy_run(const KanonProblem *problem, GreedyTies ties, uint64_t *work,
							  KanonRelease *release, KanonReport *report);

/* greedy_orders.c: the same, with the best of several orders of equally costly patterns. */
extern KanonStatus greedy_orders(const KanonProblem *problem, KanonRelease *release, KanonReport *report);

#endif
