/*
 * item_cut.h: a cut through the hierarchy of items: what every item is shown as.
 */
#ifndef KANON_ITEM_CUT_H
#define KANON_ITEM_CUT_H

#include "itemsets/transactions.h"
#include "util/pace.h"
#include "util/scratch.h"

/*
 * The hierarchy with one node more above each of its tops, which stands for
 * suppression; nodes nnodes .. nall - 1.
 */
typedef struct KanonForest
{
	uint32_t nitems;
	uint32_t nnodes;
	uint32_t nall;
	uint32_t *parent;  /* [nall]; KANON_NOTHING above suppression */
	uint32_t *child;   /* [nall] the least child, or KANON_NOTHING */
	uint32_t *sibling; /* [nall] the next one */
	uint32_t *low;     /* [nall] its items are leaf[low] .. leaf[high - 1] */
	uint32_t *high;    /* [nall] */
	uint32_t *depth;   /* [nall] 0: suppression */
	uint32_t *leaf;    /* [nitems] items, those of a node side by side */
	int64_t *occurs;   /* [nall] of its items, in all transactions */
	int64_t *cost; /* [nall] of showing it: occurrences of its items times what each may be; / scale: NCP */
	size_t *tid_start; /* [nnodes + 1] */
	uint32_t *tid;     /* transactions that have one of its items, ascending */
	int64_t occurrences;
} KanonForest;

typedef struct KanonCut
{
	KanonScratch scratch; /* of all arrays here */
	const KanonTransactions *problem;
	KanonPace pace;
	KanonForest forest;
	uint32_t *shown; /* [nitems] a node, those of suppression among them */
	bool *in;        /* [nall] in the cut */
	int64_t *now;    /* [nall] cost of the items below as they are shown */
	uint32_t *rank;  /* [nall] for rows */
} KanonCut;

/* Is node v the same as w or below it? */
static inline bool
kanon_below(const KanonForest *forest, uint32_t v, uint32_t w)
{
	return forest->low[w] <= forest->low[v] && forest->high[v] <= forest->high[w] &&
		   forest->depth[w] <= forest->depth[v];
}

static inline bool
kanon_is_suppression(const KanonForest *forest, uint32_t v)
{
	return v >= forest->nnodes;
}

static inline uint32_t
kanon_support(const KanonForest *forest, uint32_t v)
{
	return (uint32_t) (forest->tid_start[v + 1] - forest->tid_start[v]);
}

/* The cut of the items themselves.  Whatever the status, close it. */
extern KanonStatus kanon_cut_open(KanonCut *cut, const KanonTransactions *problem);
extern void kanon_cut_close(KanonCut *cut);

/* Everything below v becomes v; what of the cut was above v must not be. */
extern void kanon_cut_raise(KanonCut *cut, uint32_t v);

/* v of the cut becomes its children. */
extern void kanon_cut_split(KanonCut *cut, uint32_t v);

/* Have at least k transactions all of these nodes (none of them suppression)? */
extern bool kanon_cut_supported(const KanonCut *cut, const uint32_t *nodes, int n);

/*
 * Raises the cut, as cheaply as can be, so that this set of nodes (in the cut or
 * above it) becomes one of nodes that k transactions have, or is gone.
 */
extern void kanon_cut_fix(KanonCut *cut, const uint32_t *set, int size);

/* Splits nodes of the cut, the largest gain first, where all sets of at most m stay frequent. */
extern KanonStatus kanon_cut_refine(KanonCut *cut);

/* The cut as a recoding, and its cost. */
extern KanonStatus kanon_cut_recoding(const KanonCut *cut, KanonRecoding *recoding, KanonReport *report);

/* Transactions as ranks of what is shown. */
typedef struct KanonRows
{
	uint32_t nrows;
	size_t *start;  /* [nrows + 1] */
	uint32_t *item; /* ascending, without doubles */
} KanonRows;

/*
 * The transactions listed (NULL: all), each item as rank[shown of it], where that
 * is not KANON_NOTHING.  Whatever the status, free it.
 */
extern KanonStatus kanon_rows_make(KanonPace *pace, const KanonSets *sets, const uint32_t *shown,
								   const uint32_t *rank, const uint32_t *tids, uint32_t ntids,
								   KanonRows *rows);
extern void kanon_rows_free(KanonEnv *env, KanonRows *rows);

/* Nodes in ascending order of support, then of number. */
extern KanonStatus kanon_by_support(KanonEnv *env, const KanonForest *forest, uint32_t *nodes, uint32_t n);

/* KANON_TOO_LARGE, and why, when sets of this size occur too often in the rows to be counted. */
extern KanonStatus kanon_check_subsets(const KanonRows *rows, int size, KanonReport *report);

/* Most occurrences of sets that a method counts at once. */
#define KANON_MAX_SUBSETS 1e11

#endif
