/*
 * transactions.h: sets of items
 */
#ifndef KANON_TRANSACTIONS_H
#define KANON_TRANSACTIONS_H

#include "util/pace.h"
#include "util/scratch.h"
#include "kanon.h"

/* ---- suppress.c: sets that must not stay whole, and which items to suppress for that ---- */

/* Sets that are gathered at once; when there are more, these are hit first. */
#ifndef KANON_HIT_MOST
#define KANON_HIT_MOST 4000000
#endif

/* Sets of items, one after the other, and a hash of them. */
typedef struct KanonHit
{
	KanonScratch scratch;
	uint32_t *item;
	size_t nitem;
	size_t item_room;
	size_t *start; /* [n + 1] */
	size_t n;
	size_t room;
	uint32_t *slot; /* [nslots] sets by hash, UINT32_MAX: none; a power of two */
	size_t nslots;
} KanonHit;

/* Adds a set of items, ascending, unless it is there. */
extern KanonStatus kanon_hit_add(KanonHit *hit, const uint32_t *set, int size);

/* Is it there?  Or, of a set, any part of it? */
extern bool kanon_hit_has(const KanonHit *hit, const uint32_t *set, int size);
extern bool kanon_hit_has_part(const KanonHit *hit, const uint32_t *set, int size);
extern void kanon_hit_clear(KanonHit *hit);
extern void kanon_hit_free(KanonHit *hit);

/*
 * Suppresses items until every set has one: always the one that is in most sets for
 * what it loses (loss[nitems], >= 0); in the end, those that
 * turn out not to be needed come back.
 */
extern KanonStatus kanon_hit_suppress(KanonHit *hit, KanonPace *pace, uint32_t nitems, const int64_t *loss,
									  bool *suppressed);

/*
 * ---- transactions: sets of items instead of quasi-identifiers (diagnoses, baskets,
 * searches): models and methods of their own.
 *
 * k^m-anonymity: Terrovitis, Mamoulis, Kalnis, "Privacy-preserving Anonymization of
 * Set-valued Data", PVLDB 1, 2008.  (h,k,p)-coherence: Xu, Wang, Fu, Yu,
 * "Anonymizing Transaction Databases for Publication", KDD 2008.  rho-uncertainty:
 * Cao, Karras, Raïssi, Tan, "rho-uncertainty: Inference-Proof Transaction
 * Anonymization", PVLDB 3, 2010.
 *
 * All methods recode globally: an item becomes the same thing, or nothing, in every
 * transaction.
 */

/* Sizes of sets that are counted: m and p, at most. */
#define KANON_MAX_SET 8

/* A suppressed item becomes this. */
#define KANON_NOTHING UINT32_MAX

/*
 * Transactions, each a set of items: transaction t has item[start[t]] ..
 * item[start[t + 1] - 1], ascending and without doubles; it may have none.
 */
typedef struct KanonSets
{
	uint32_t nitems; /* codes 0 .. nitems - 1 */
	uint32_t ntransactions;
	const size_t *start; /* [ntransactions + 1] */
	const uint32_t *item;
} KanonSets;

typedef struct KanonTransactions
{
	KanonEnv *env;
	KanonSets sets; /* every item occurs */

	/*
	 * The hierarchy: a forest whose leaves are the items (nodes 0 .. nitems - 1),
	 * as deep as it is on each branch.  parent[v] > v, or KANON_NOTHING: above v
	 * there is suppression alone.  Without a hierarchy every item is such a node.
	 */
	uint32_t nnodes;        /* >= nitems */
	const uint32_t *parent; /* [nnodes] */

	const bool *sensitive; /* [nitems] private items; NULL: none */
	int64_t k;
	int m;      /* items that an attacker knows, 1 .. KANON_MAX_SET (p of coherence) */
	double h;   /* per cent of a cohort that may have a private item, 0 .. 100 */
	double rho; /* confidence that no rule may reach, > 0 */
	double time_limit;
} KanonTransactions;

/* The node that each item became: a node of the hierarchy (an item: itself) or KANON_NOTHING. */
typedef struct KanonRecoding
{
	uint32_t *shown; /* [nitems]; env's memory */
} KanonRecoding;

typedef enum KanonSetModel
{
	KANON_MODEL_KM,        /* every set of at most m items that occurs does so at least k times */
	KANON_MODEL_COHERENCE, /* the same of public items, and no private item in more than h of a cohort */
	KANON_MODEL_RHO        /* no rule x -> s, s private and not in x, has confidence rho or more */
} KanonSetModel;

/*
 * report->cost is the NCP of the recoding, 0 .. 1: over all occurrences of items
 * the mean of the share of all items that what is shown may stand for, 1 for a
 * suppressed one.
 */

/* apriori.c: AA, sets of one item first, then of two, up to m. */
extern KanonStatus kanon_recode_apriori(const KanonTransactions *problem, KanonRecoding *recoding,
										KanonReport *report);

/* apriori.c: DA, sets of m items and of what they generalize to, in the order of a complete count tree. */
extern KanonStatus kanon_recode_direct(const KanonTransactions *problem, KanonRecoding *recoding,
									   KanonReport *report);

/*
 * apriori.c: the cheapest cut of the hierarchy, by branch and bound.
 * KANON_TOO_LARGE beyond a bounded search; proven is false when time_limit ended it.
 */
extern KanonStatus kanon_recode_optimal(const KanonTransactions *problem, KanonRecoding *recoding,
										KanonReport *report);

/* suppress.c: (h,k,p)-coherence; suppresses public items until no minimal mole is left. */
extern KanonStatus kanon_recode_suppress(const KanonTransactions *problem, KanonRecoding *recoding,
										 KanonReport *report);

/* item_control.c: rho-uncertainty by suppressing items, public and private ones. */
extern KanonStatus kanon_recode_suppress_control(const KanonTransactions *problem, KanonRecoding *recoding,
												 KanonReport *report);

/* td_control.c: rho-uncertainty by specializing public items from the top, with suppression. */
extern KanonStatus kanon_recode_td_control(const KanonTransactions *problem, KanonRecoding *recoding,
										   KanonReport *report);

extern void kanon_recoding_free(const KanonTransactions *problem, KanonRecoding *recoding);

/* The loss. */
typedef struct KanonSetMeasures
{
	int64_t occurrences; /* of items in transactions, before */
	int64_t suppressed;  /* of them, those of suppressed items */
	uint32_t items_suppressed;
	uint32_t items_before; /* different items */
	uint32_t shown_after;  /* different things that are shown */
	int64_t empty_before;  /* transactions without items */
	int64_t empty_after;
	double ncp;
	int frequent;           /* most frequent sets of items that were compared, at most 100 */
	int frequent_preserved; /* of them, those that are among as many of the published table's */
} KanonSetMeasures;

/* set_measure.c */
extern KanonStatus kanon_measure_sets(const KanonTransactions *problem, const KanonRecoding *recoding,
									  KanonSetMeasures *measures);

/*
 * recount.c: what a table of sets keeps, from the table alone.  Shares no code
 * with the methods: it is what checks them.
 */
typedef struct KanonSupport
{
	int64_t sets;                /* different sets of this size that occur; 0: none does */
	int64_t smallest;            /* the smallest of their supports */
	int64_t transactions;        /* that have a set with that support */
	int64_t below;               /* sets with less than k */
	uint32_t set[KANON_MAX_SET]; /* one of those with the smallest */
	/* with private items: of public sets with this many items */
	int64_t worst_cohort; /* the cohort of which the largest share has one private item */
	int64_t worst_with;   /* how many of it have */
	uint32_t worst_set[KANON_MAX_SET];
	uint32_t worst_item; /* the private one; KANON_NOTHING: none has any */
} KanonSupport;

/*
 * Sets of 1 .. m items (of public ones, if some are private), one support for each
 * size.  k is for `below` alone.  KANON_TOO_LARGE (detail: how many) when there are
 * more occurrences of sets than can be counted.
 */
extern KanonStatus kanon_recount_supports(KanonEnv *env, const KanonSets *sets, const bool *sensitive, int m,
										  int64_t k, KanonSupport *supports, KanonReport *report);

/* Items on the left of a rule that are told. */
#define KANON_MAX_KNOWN 64

/* The rule x -> s of largest confidence: x's cohort and how many of it have s; cohort 0: no private item. */
typedef struct KanonRuleFound
{
	int64_t cohort;
	int64_t with;
	int known;                      /* items in x */
	uint32_t left[KANON_MAX_KNOWN]; /* the first of them */
	uint32_t item;                  /* s */
} KanonRuleFound;

extern KanonStatus kanon_recount_rules(KanonEnv *env, const KanonSets *sets, const bool *sensitive,
									   KanonRuleFound *worst, KanonReport *report);

/*
 * `with` of a cohort's transactions: is the confidence rho reached, are h per cent
 * exceeded?  A quotient of integers is rounded once, as what the user wrote was.
 */
static inline bool
kanon_reaches_rho(int64_t with, int64_t cohort, double rho)
{
	return (double) with / (double) cohort >= rho;
}

static inline bool
kanon_exceeds_h(int64_t with, int64_t cohort, double h)
{
	return (double) (100 * with) / (double) cohort > h;
}

/* ---- item_cut.c: a cut through the hierarchy of items: what every item is shown as ---- */

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

/* The cut of the items themselves.  Close it whatever the status. */
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
 * The transactions listed (NULL: all), each item as rank[shown of it], where that is
 * not KANON_NOTHING. Free it whatever the status.
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

/* ---- item_control.c: what the two methods for rho-uncertainty have in common ---- */

/* Sets of items that one walk goes through, at most. */
#ifndef KANON_RULE_SETS
#define KANON_RULE_SETS 500000000
#endif

/* A cut, and which of its nodes are suppressed. */
typedef struct KanonControl
{
	KanonCut cut;
	KanonReport *report;
	bool *gone; /* [nall] */
	KanonHit hit;

	/* what is looked at: ranks of nodes that are shown, the private ones last */
	KanonRows rows;
	uint32_t *node; /* [nnodes] of each rank */
	uint32_t nranks;
	uint32_t nfirst;   /* rules must have one of the first … (all of them: nranks) */
	uint32_t nprivate; /* … and lead to one of the last ranks */
	int64_t *loss;     /* [nnodes] by rank: what suppressing it adds to the cost */
	bool *suppress;    /* [nnodes] by rank: what kanon_control_hit chose */
} KanonControl;

/* The cut of the items, nothing suppressed.  Close it whatever the status. */
extern KanonStatus kanon_control_open(KanonControl *control, const KanonTransactions *problem,
									  KanonReport *report);
extern void kanon_control_close(KanonControl *control);

/*
 * Looks at the transactions that have node v, which the cut shows or has split, and
 * at rules that have one of the nodes first[nfirst]; v KANON_NOTHING: at all of them.
 */
extern KanonStatus kanon_control_look(KanonControl *control, uint32_t v, const uint32_t *first,
									  uint32_t nfirst);

/*
 * Chooses what to suppress so that no rule is left in what is looked at; *rules is
 * whether there was any.
 */
extern KanonStatus kanon_control_hit(KanonControl *control, bool *rules);

/* The cost of the choice, and the choice made. */
extern int64_t kanon_control_cost(const KanonControl *control);
extern void kanon_control_apply(KanonControl *control);

/* Shows public nodes again that need not be suppressed: the most costly first. */
extern KanonStatus kanon_control_restore(KanonControl *control);

extern KanonStatus kanon_control_recoding(const KanonControl *control, KanonRecoding *recoding);

/* ---- item_walk.c: every set of items that occurs, without storing them ---- */

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

/* ---- suppress.c: the minimal moles of a table ---- */

/*
 * Adds the minimal moles of at most so many items, public and not suppressed, to
 * hit.  *complete is false when there are more than are gathered at once.
 */
extern KanonStatus kanon_find_moles(const KanonTransactions *problem, KanonPace *pace, const bool *suppressed,
									int size, KanonHit *hit, bool *complete, KanonReport *report);

#endif
