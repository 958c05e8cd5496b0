/*
 * transactions.h: sets of items instead of quasi-identifiers (diagnoses, baskets,
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
#ifndef KANON_TRANSACTIONS_H
#define KANON_TRANSACTIONS_H

#include "kanon.h"

/* Sizes of sets that are counted: m and p, at most. */
#define KANON_MAX_SET 8

/* What an item that is suppressed becomes. */
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

/* What each item became: a node of the hierarchy (an item: itself) or KANON_NOTHING. */
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

/* direct.c: DA, sets of m items and of what they generalize to, in the order of a complete count tree. */
extern KanonStatus kanon_recode_direct(const KanonTransactions *problem, KanonRecoding *recoding,
									   KanonReport *report);

/*
 * items_optimal.c: the cheapest cut of the hierarchy, by branch and bound.
 * KANON_TOO_LARGE beyond a bounded search; proven is false when time_limit ended it.
 */
extern KanonStatus kanon_recode_optimal(const KanonTransactions *problem, KanonRecoding *recoding,
										KanonReport *report);

/* suppress.c: (h,k,p)-coherence; suppresses public items until no minimal mole is left. */
extern KanonStatus kanon_recode_suppress(const KanonTransactions *problem, KanonRecoding *recoding,
										 KanonReport *report);

/* suppress_control.c: rho-uncertainty by suppressing items, public and private ones. */
extern KanonStatus kanon_recode_suppress_control(const KanonTransactions *problem, KanonRecoding *recoding,
												 KanonReport *report);

/* td_control.c: rho-uncertainty by specializing public items from the top, with suppression. */
extern KanonStatus kanon_recode_td_control(const KanonTransactions *problem, KanonRecoding *recoding,
										   KanonReport *report);

extern void kanon_recoding_free(const KanonTransactions *problem, KanonRecoding *recoding);

/* What was lost. */
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

#endif
