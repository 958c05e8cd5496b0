/*
 * item_model.h: item sets, from their source to their target
 */
#ifndef KANON_ITEM_MODEL_H
#define KANON_ITEM_MODEL_H

#include "core/itemsets/transactions.h"
#include "host/border.h"
#include "rows/target.h"
#include "rows/source.h"
#include "run/run.h"

/* ---- item_sets.c: a relation whose rows are transactions, or items of transactions ---- */

/* Where transactions come from. */
typedef struct ItemSource
{
	Source *source;       /* qis: the items' column, then `transaction` if there is one; kept columns */
	SourceColumn element; /* an item, under the name of its column; has the dictionary */
	bool by_row;          /* one row per item, grouped by `transaction`; else an array column */
} ItemSource;

/*
 * Finds the columns and locks the relation.  transaction: NULL for an array column.
 * Errors: those of source_open, datatype_mismatch, undefined_function (no order).
 */
extern ItemSource *items_open(Oid relid, const char *items, const char *transaction, ArrayType *keep);

/* The source as it was read: each transaction as ascending codes of element.dictionary. */
typedef struct Transactions
{
	ItemSource *from;
	KanonSets sets;
	int64 nulls;  /* items that are NULL, which are none */
	Size charged; /* bytes of the dictionary, as the border counts them */

	Shuffle *shuffled; /* numbers of transactions, kept columns; NULL: not asked for */
} Transactions;

/*
 * Reads it under the active snapshot (read_only), or as this transaction has
 * written it.  Memory is the border's.
 */
extern Transactions *items_read(ItemSource *from, bool read_only, bool shuffled, Border *border);
extern void items_free(Transactions *transactions, Border *border);

/* The hierarchy of items as the core has it, and what each node is called. */
typedef struct ItemForest
{
	uint32 nnodes;
	uint32 *parent;
	char **label; /* [nnodes] text of items and labels; NULL: there is no hierarchy */
} ItemForest;

/*
 * Reads the hierarchy's lines above the items (no lines: every item by itself).
 * Private items are above and below nothing.  Errors: invalid_parameter_value.
 */
struct Hierarchy;
extern ItemForest *items_forest(const Transactions *transactions, const struct Hierarchy *hierarchy,
								const bool *sensitive, Border *border);

/*
 * Which items are private: those of a list of texts (each must occur when strict), and
 * those in the first column of a relation, by their text.  NULL: neither was given.
 */
extern bool *items_sensitive(const Transactions *transactions, ArrayType *texts, bool strict,
							 Source *relation, Border *border);

/* That relation, its lock taken. */
extern Source *items_sensitive_open(Oid relid);

/* ---- item_target.c: a recoding of items becomes the rows of the target ---- */

/*
 * The columns of the target: `transaction` (a number that says nothing, when there
 * is one row per item), the items, then kept columns.  labels: items become texts.
 */
extern Source *sets_target_columns(const ItemSource *from, bool labels);

/* The target as it was written: transactions, and items in them. */
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

/* ---- item_model.c: the outcome of a run over sets of items ---- */

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
