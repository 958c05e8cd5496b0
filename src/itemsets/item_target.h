/*
 * item_target.h: a recoding of items becomes the rows of the target.
 */
#ifndef KANON_ITEM_TARGET_H
#define KANON_ITEM_TARGET_H

#include "itemsets/item_sets.h"
#include "rows/target.h"

/*
 * The columns of the target: `transaction` (a number that says nothing, when there
 * is one row per item), the items, then kept columns.  labels: items become texts.
 */
extern Source *sets_target_columns(const ItemSource *from, bool labels);

/* What has been written: transactions, and items in them. */
typedef struct SetsWritten
{
	int64 transactions;
	int64 occurrences;
	int64 rows;
} SetsWritten;

/* In random order; forest->label NULL: items are shown as they are, or not at all. */
extern SetsWritten sets_write(const Target *target, const Source *columns, Transactions *transactions,
							  const ItemForest *forest, const KanonRecoding *recoding, int64 k,
							  Border *border);

/*
 * Reads the target and counts again what was promised; raises if it does not hold.
 * promise: m, k, h, rho, and which of the source's items are private.
 */
extern void sets_verify(const Target *target, const Transactions *transactions, const ItemForest *forest,
						const KanonRecoding *recoding, const KanonTransactions *promise, KanonSetModel model,
						const SetsWritten *written, Border *border);

#endif
