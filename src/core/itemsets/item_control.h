/*
 * item_control.h: what the two methods for rho-uncertainty have in common.
 */
#ifndef KANON_ITEM_CONTROL_H
#define KANON_ITEM_CONTROL_H

#include "itemsets/item_cut.h"
#include "itemsets/hit.h"

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

/* The cut of the items, nothing suppressed.  Whatever the status, close it. */
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

/* What it chose becomes so; what that costs. */
extern int64_t kanon_control_cost(const KanonControl *control);
extern void kanon_control_apply(KanonControl *control);

/* Shows public nodes again that need not be suppressed: the most costly first. */
extern KanonStatus kanon_control_restore(KanonControl *control);

extern KanonStatus kanon_control_recoding(const KanonControl *control, KanonRecoding *recoding);

#endif
