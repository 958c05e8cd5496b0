/*
 * lattice.h: a lattice of levels, and how it is searched
 */
#ifndef KANON_LATTICE_H
#define KANON_LATTICE_H

#include "lattice/full_domain.h"
#include "util/sort.h"
#include "util/pace.h"
#include "privacy/population.h"
#include "rare/rare.h"

/*
 * ---- lattice.c: what the files of the full-domain method share.
 *
 * 	lattice.c				nodes, their numbers and neighbours
 * 	full_domain_metric.c	what a node loses
 * 	full_domain_check.c		the classes of a node (and _set_up.c, _member.c)
 * 	full_domain_search.c	which nodes to check
 * 	lattice.c		in which order
 * 	full_domain_wide.c		the same where there are too many to have something for each
 * 	full_domain.c			the chosen node as a release
 */

/*
 * Sums that no number of rows overflows; integers, so that no order of adding
 * matters.  In memory of the host, which aligns to 8 bytes.
 */
__extension__ typedef __int128 KanonWide __attribute__((aligned(8)));

/*
 * Level r of quasi-identifier q shows column first[q] + r; level height[q] shows nothing.
 * A node is its pattern, or the levels by quasi-identifier; unless the lattice is wide it also
 * has a number, with the levels as digits in mixed radix.
 */
typedef struct Lattice
{
	int nqis;
	int first[KANON_MAX_QIS];
	int height[KANON_MAX_QIS];
	uint32_t stride[KANON_MAX_QIS]; /* unless it is wide; the first has the largest */
	bool wide;                      /* they are too many to have something for each */
	uint32_t nnodes;                /* unless it is wide */
	int top;                        /* height of the last node */
} Lattice;

static inline int
lattice_level(const Lattice *lattice, uint32_t node, int q)
{
	return (int) (node / lattice->stride[q] % ((uint32_t) lattice->height[q] + 1));
}

/* Reads a node from its pattern. */
static inline int
lattice_level_of(const Lattice *lattice, KanonPattern node, int q)
{
	int level = 0;

	while (level < lattice->height[q] && kanon_has(node, lattice->first[q] + level))
		level++;
	return level;
}

/* Above so many nodes the lattice is wide. */
extern void lattice_open(const KanonProblem *problem, double most, Lattice *lattice);
extern double lattice_nodes(const Lattice *lattice);
extern int lattice_height(const Lattice *lattice, uint32_t node);
extern KanonPattern lattice_pattern(const Lattice *lattice, uint32_t node);

/* The node with a pattern that suppresses levels from below. */
extern uint32_t lattice_node(const Lattice *lattice, KanonPattern pattern);

/* Levels by quasi-identifier: of a node that has a number, of one that is its pattern. */
extern void lattice_levels(const Lattice *lattice, uint32_t node, uint16_t *level);
extern void lattice_levels_of(const Lattice *lattice, KanonPattern node, uint16_t *level);

/* From a node's levels to those of the node with the next number; from the last one's to the first's. */
extern void lattice_next(const Lattice *lattice, uint16_t *level);

/*
 * The highest node that is not at or above a node because of quasi-identifier q, of which that
 * suppresses some.  All that are not are below one of these.
 */
extern KanonPattern lattice_beside(const Lattice *lattice, KanonPattern node, int q);

/* ---- full_domain_metric.c ---- */

/* A cell that shows all of its value's information, if its weight were all there is. */
#define METRIC_UNIT ((double) (INT64_C(1) << 52))

/*
 * Units by which what a cell says may be off: what doubles lose on the way
 * (weight, share, their product) and the rounding, twice for a difference, in
 * each of two nodes that are compared.
 */
#define METRIC_OFF 16

/*
 * The metrics that are sums over cells: what a shown cell still says, in units
 * of METRIC_UNIT; a suppressed one says nothing.
 */
typedef struct Metric
{
	KanonMetric kind;
	int64_t rows; /* of the table */
	int64_t k;
	int64_t
		blank; /* so many rows (or persons) are blank where a blank cell is a value that somebody may know */
	int64_t fill;    /* so many rows are suppressed, or none; 0: any number */
	KanonWide slack; /* that much suppressed rows that are filled up may save */
	bool of_cells;
	uint64_t *kept[KANON_MAX_COLUMNS];     /* [distinct] by column, or NULL */
	KanonWide kept_sum[KANON_MAX_COLUMNS]; /* over all rows */
	KanonWide everything;                  /* what the table itself says */
	KanonWide tie;                         /* values so near are equal, but for rounding */
} Metric;

/* The counts of a check. */
typedef struct Count
{
	int64_t groups;          /* different generalized row types */
	int64_t classes;         /* of them allowed */
	int64_t suppressed;      /* rows of the others */
	int64_t hopeless;        /* of these, rows of groups no part of which could be a class either */
	KanonWide squares;       /* of all groups' sizes */
	KanonWide class_squares; /* of the classes' sizes */
	KanonWide kept;          /* by the suppressed rows' cells, had they been shown */
	bool rest_is_class;      /* there are suppressed rows, and they may be a class */
	bool left_over;          /* they may be nowhere */
	bool absent;             /* some of a population can be in no row, which a rule forbids */

	/* where fewer than k suppressed rows are filled up: full_domain_fill.c */
	int64_t more;    /* rows that are suppressed beside the others, */
	KanonWide loss;  /* and what that adds to the metric */
	int64_t emptied; /* classes of which they are all rows */
	bool unsure;     /* there may be a better way: the search for it was cut short */
} Count;

/* Rows that are suppressed in the end. */
static inline int64_t
count_blank(const Count *count)
{
	return count->suppressed + count->more;
}

extern KanonStatus metric_open(const KanonProblem *problem, const Lattice *lattice, KanonMetric kind,
							   KanonPace *pace, Metric *metric);
extern void metric_close(const KanonProblem *problem, Metric *metric);

/* The metric that is to be least. */
extern KanonWide metric_of(const Metric *metric, const Lattice *lattice, const uint16_t *level,
						   const Count *count);

/* Its part that only rises from a node to those above, or less than that... */
extern KanonWide metric_rising(const Metric *metric, const Lattice *lattice, const uint16_t *level,
							   const Count *count);

/* ... as far as it is known without a check. */
extern KanonWide metric_floor(const Metric *metric, const Lattice *lattice, const uint16_t *level);

/* Its part that only falls. */
extern KanonWide metric_falling(const Metric *metric, const Count *count);

/* Added by a class of so many rows, each of which says `kept`, when some of them are suppressed. */
extern KanonWide metric_suppressing(const Metric *metric, int64_t rows, KanonWide kept, int64_t suppressed);

/* As it is reported. */
extern double metric_shown(const Metric *metric, KanonWide value);

/* ---- full_domain_check.c ---- */
typedef struct Checker Checker;

extern KanonStatus checker_open(const KanonProblem *problem, const Lattice *lattice, const Metric *metric,
								int64_t limit, const KanonTeam *team, KanonPace *pace, Checker **checker,
								KanonReport *report);
extern void checker_close(Checker *checker);

/* Counts a node's classes. */
extern KanonStatus checker_count(Checker *checker, KanonPattern node, Count *count);
extern int64_t checker_rolled_up(const Checker *checker);
extern int checker_members(const Checker *checker);

/*
 * The class of each row type at a node, [ntypes] numbered from 0; UINT32_MAX: it is suppressed.  take: [ntypes] rows of each
 * type that are suppressed beside those, zero before.
 */
extern KanonStatus checker_classes(Checker *checker, KanonPattern node, uint32_t *class_of, int64_t *take,
								   Count *count);

/* ---- full_domain_search.c ---- */
typedef struct NodeSearch
{
	const KanonProblem *problem;
	const Lattice *lattice;
	const Metric *metric;
	const KanonMaskIndex *index;
	KanonScratch *scratch;
	Checker *checker;
	bool starts;        /* at a node: that, or else those above it */
	KanonPattern start; /* of no column: at the bottom */
	KanonPace *pace;
	int64_t limit; /* rows that may be suppressed */
	bool explore;
	bool tags;           /* a verdict says something of nodes above or below */
	uint8_t *tag;        /* [nnodes] TAG_... */
	KanonWide *rising;   /* [nnodes] least that the part of its value can be which rises */
	KanonWide *falling;  /* [nnodes] ... which falls */
	KanonWide *value;    /* [nnodes] of the checked ones that fulfil the rules */
	int64_t *suppressed; /* [nnodes] of the checked ones */
	int64_t *classes;    /* [nnodes] when explored, of the checked ones */
	uint32_t *
		order; /* [norder] nodes from the bottom to the top; for the optimum the promising ones alone, best first */
	uint32_t norder;
	uint32_t *rank;  /* [nnodes] of each node in order */
	uint32_t *stack; /* [nnodes] scratch */
	KanonHeap queue; /* flash: ranks of nodes that are to begin a path */
	int64_t checked;
	uint32_t best;    /* UINT32_MAX: none */
	KanonWide least;  /* value of any node so far that may be chosen; best's is at most a tie above */
	bool again;       /* optimum() has to look once more */
	bool doubted;     /* of some nodes not all ways to fill up the suppressed rows were tried: */
	KanonWide doubt;  /* no such node's value is less */
	uint32_t nearest; /* checked node with the fewest suppressed rows */
} NodeSearch;

enum
{
	TAG_YES = 1, /* fulfils the rules */
	TAG_NO = 2,  /* does not */
	TAG_CHECKED = 4,
	TAG_QUEUED = 8,    /* flash */
	TAG_LEFT_OVER = 16 /* its suppressed rows may be nowhere */
};

/* A node whose search for ways to fill up was cut short. */
extern void search_doubt(NodeSearch *search, const uint16_t *level, const Count *count);

extern KanonStatus search_run(NodeSearch *search, KanonSearch algorithm);

/* ---- lattice.c ---- */

/* Fills search->order, search->norder: the order of paths; those that are left, by what they lose at least. */
extern KanonStatus search_order(NodeSearch *search);
extern KanonStatus search_order_left(NodeSearch *search,
									 bool (*left)(const NodeSearch *search, uint32_t node));

/* ---- full_domain_wide.c ---- */

/* The result of a search that has no array of nodes. */
typedef struct WideFound
{
	bool any; /* node, value and suppressed are there */
	KanonPattern node;
	KanonWide value;
	int64_t suppressed;
	bool proven;     /* no node is better: all were looked at */
	KanonWide bound; /* no node's value is less */
	bool left_over;  /* a node within the limit leaves rows over that may not be */
	KanonPattern nearest;
	int64_t nearest_suppressed;
} WideFound;

/* search has only the fields that do not go by node.  Until memory or pace's time is up. */
extern KanonStatus search_wide(NodeSearch *search, WideFound *found);

/*
 * ---- full_domain_block: the memory that the members of a team share, and what
 * each has of its own; for full_domain_set_up.c, _check.c and _member.c.
 *
 * A group is an entry of a few 64-bit words: its codes, each in bits of its own,
 * and its rows.  Everything that a check reads lies in one block without
 * pointers, so that it may be shared.
 */

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

/* For suppressed rows that are filled up. */
typedef struct Filler
{
	struct Spare *spare; /* classes with more than k rows whose rows lose least: full_domain_fill.c */
	size_t spare_room;
	struct Mending *mending; /* full_domain_mend.c; NULL: nothing is to be filled up under rules */
} Filler;

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
	/* against somebody who knows few columns; NULL: nobody does */
	uint64_t *dead;     /* bits of the types that the node at hand suppresses */
	uint64_t *all_dead; /* of all types */
	int64_t *before;    /* [ntypes] rows that the release before showed; or NULL */
	uint32_t *of_group; /* [ntypes] */
	uint64_t *met;      /* [persons] stamp: somebody was met; NULL: rows are counted */
	Filler fill;
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

/* ---- full_domain_member.c: what somebody sees who knows few columns ---- */

extern KanonStatus checker_take_dead(Checker *checker);

/* Finds the types that the node suppresses, of types that are listed by group. */
extern KanonStatus checker_find_dead(Checker *checker, KanonPattern node);
extern bool checker_shows(const Checker *checker, uint32_t type);

/* Makes the groups of block->level from block->from; where entries go: member->position. */
extern KanonStatus member_make_groups(KanonMember *member);

/* Adds one group to a count. */
extern void member_count_group(const Block *block, const uint64_t *entry, bool allowed, Count *count);

/* The values that the cells of a group's row would show. */
extern uint64_t member_kept(const Block *block, const uint64_t *entry);

/*
 * ---- full_domain_fill.c: fewer than k suppressed rows are filled up to k.
 *
 * Fills up the rest of the groups that checker->self has.  class_of: by group, UINT32_MAX: it is none; NULL: those of k rows are
 * classes.  take: by class, or NULL.  Where no class can give, count->left_over stays.
 */
extern KanonStatus checker_fill(Checker *checker, const uint32_t *class_of, int64_t *take, Count *count);

/*
 * ---- full_domain_mend.c: the same under privacy rules.
 *
 * checker_mends says whether suppressed rows are filled up under rules.  The caller then begins, gives each class with its entry, and
 * mends with the suppressed rows (counts: NULL, all that types have).  take: [ntypes] rows of each type, zero before, by class_of of each type.
 */
extern bool checker_mends(const Checker *checker);
extern KanonStatus checker_mend_begin(Checker *checker);
extern KanonStatus checker_mend_class(Checker *checker, const uint64_t *entry, uint32_t class_,
									  const uint32_t *types, const int64_t *counts, size_t n);
extern KanonStatus checker_mend(Checker *checker, const uint32_t *types, const int64_t *counts, size_t n,
								Count *count);
extern void checker_mend_take(const Checker *checker, const uint32_t *class_of, int64_t *take);
extern void checker_mend_end(Checker *checker);

#endif
