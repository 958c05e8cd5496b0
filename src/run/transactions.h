/*
 * transactions.h: the outcome of a run over sets of items.
 */
#ifndef KANON_RUN_TRANSACTIONS_H
#define KANON_RUN_TRANSACTIONS_H

#include "read/sets.h"
#include "run/run.h"

typedef struct SetRun
{
	Run run; /* source: what was read; target, report, record; no row types and no release */
	const KanonSetMethod *method;
	ItemSource *from;
	Source *columns; /* of the target */
	Transactions *transactions;
	ItemForest *forest;
	KanonTransactions problem;
	KanonRecoding recoding;
	KanonSetMeasures measures;
} SetRun;

/* Raises for a status of the core's: sets that are too many have a remedy of their own. */
extern void set_check(Border *border, KanonStatus status, const KanonReport *report);

#endif
