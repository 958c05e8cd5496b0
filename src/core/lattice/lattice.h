/*
 * lattice.h: what the files of the full-domain solver share.
 *
 *	lattice.c				nodes, their numbers and neighbours
 *	full_domain_metric.c	what a node loses
 *	full_domain_check.c		the classes of a node (and _set_up.c, _member.c)
 *	full_domain_search.c	which nodes to check
 *	full_domain_order.c		in which order
 *	full_domain_wide.c		the same where there are too many to have something for each
 *	full_domain.c			the chosen node as a release
 */
#ifndef KANON_LATTICE_H
#define KANON_LATTICE_H

#include "lattice/full_domain.h"
#include "util/heap.h"
#include "util/pace.h"

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
	int64_t fill; /* so many rows are suppressed, or none; 0: any number */
	bool of_cells;
	uint64_t *kept[KANON_MAX_COLUMNS];     /* [distinct] by column, or NULL */
	KanonWide kept_sum[KANON_MAX_COLUMNS]; /* over all rows */
	KanonWide everything;                  /* what the table itself says */
	KanonWide tie;                         /* values so near are equal, but for rounding */
} Metric;

/* What a check has counted. */
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

	/*
	 * Where fewer than k suppressed rows are filled up: the classes that lose least by it, one that stays one and one
	 * that is suppressed whole.  Of each how many rows it has (0: there is none), and what a row would have said.
	 */
	int64_t giver_rows;
	KanonWide giver;
	uint32_t giver_class; /* (in the release alone) */
	int64_t whole_rows;
	KanonWide whole;
	uint32_t whole_class;
	int64_t more;   /* rows that are suppressed beside the others, */
	KanonWide loss; /* and what that adds to the metric */
	bool all;       /* they are a whole class */
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

/* What is to be least. */
extern KanonWide metric_of(const Metric *metric, const Lattice *lattice, const uint16_t *level,
						   const Count *count);

/* Its part that only rises from a node to those above, or less than that... */
extern KanonWide metric_rising(const Metric *metric, const Lattice *lattice, const uint16_t *level,
							   const Count *count);

/* ... as far as it is known without a check. */
extern KanonWide metric_floor(const Metric *metric, const Lattice *lattice, const uint16_t *level);

/* Its part that only falls. */
extern KanonWide metric_falling(const Metric *metric, const Count *count);

/* What fills fewer than k suppressed rows up, given the classes that could; false: there is none. */
extern bool metric_fill(const Metric *metric, Count *count);

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

/* The class of each row type at a node, [ntypes] numbered from 0; UINT32_MAX: it is suppressed. */
extern KanonStatus checker_classes(Checker *checker, KanonPattern node, uint32_t *class_of, Count *count);

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

extern KanonStatus search_run(NodeSearch *search, KanonSearch algorithm);

/* ---- full_domain_order.c ---- */

/* Fills search->order, search->norder: the order of paths; those that are left, by what they lose at least. */
extern KanonStatus search_order(NodeSearch *search);
extern KanonStatus search_order_left(NodeSearch *search,
									 bool (*left)(const NodeSearch *search, uint32_t node));

/* ---- full_domain_wide.c ---- */

/* What a search has found that has no array of nodes. */
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

/* Of search only what does not go by node is there.  Until memory or pace's time is up. */
extern KanonStatus search_wide(NodeSearch *search, WideFound *found);

#endif
