/*
 * item_model.h: the outcome of a run over sets of items.
 */
#ifndef KANON_ITEM_MODEL_H
#define KANON_ITEM_MODEL_H

#include "itemsets/item_sets.h"
#include "run/run.h"
#include "itemsets/item_target.h"

/* request->own of such a run. */
typedef struct SetRun
{
	const KanonMethod *method;
	ItemSource *from;
	struct Hierarchy *hierarchy; /* of the items, or NULL */
	Source *private_items;       /* that are in a relation, or NULL */
	Transactions *transactions;
	ItemForest *forest;
	KanonTransactions problem; /* with defaults filled in; p of coherence is its m */
	KanonRecoding recoding;
	KanonSetMeasures measures;
	SetsWritten written;
} SetRun;

/* Raises for a status of the core's: sets that are too many have a remedy of their own. */
extern void set_check(Border *border, KanonStatus status, const KanonReport *report);

#endif
