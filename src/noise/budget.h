/*
 * budget.h: what may be told of a table with noise, all in all.
 *
 * An answer of kanon_dp has been seen before the transaction that it was given in is
 * over, and that may be rolled back.  So what an answer takes is spent before anything is
 * read, by a background worker, in a transaction of its own that has reached the disk
 * when the call goes on.  Nothing takes it back, neither an error nor a cancel.
 */
#ifndef KANON_BUDGET_H
#define KANON_BUDGET_H

#include "fmgr.h"

/* Decimals of epsilon and delta: they are added up as whole numbers. */
#define EPSILON_DIGITS 6
#define DELTA_DIGITS 15

/* The roles that may be asking: the session's user, SET ROLE's, and that of the function around the call. */
#define ASKERS 3

typedef struct Spending
{
	Oid schema; /* the extension's */
	Oid relation;
	Oid asker[ASKERS]; /* the first is the session's */
	int64 epsilon;     /* in 10^-EPSILON_DIGITS */
	int64 delta;       /* in 10^-DELTA_DIGITS */
	int64 queries;     /* sums and counts over rows */
	NameData aggregate;
} Spending;

typedef enum SpendOutcome
{
	SPEND_UNKNOWN, /* nobody came back to say */
	SPEND_DONE,
	SPEND_NO_BUDGET,
	SPEND_TOO_LITTLE,
	SPEND_OPEN /* others may write into the tables */
} SpendOutcome;

/* Why not. */
typedef struct SpendRefusal
{
	Oid role; /* whose budget it is, or InvalidOid: everybody's */
	int64 epsilon, delta;
	int64 queries; /* left; negative: not limited */
} SpendRefusal;

/*
 * Takes it from every budget of the table that is everybody's, or that of a role which one
 * of the askers is or belongs to; or from none.  For a transaction that commits at once.
 */
extern SpendOutcome budget_take(const Spending *spending, SpendRefusal *refusal);

/*
 * The same by a background worker, of the library of the SQL function `caller`; raises
 * when there is no budget, too little left, or no worker.
 */
extern void budget_spend(Oid caller, const Spending *spending);

/* Sets the budget of a role (InvalidOid: everybody together); queries are not limited when negative. */
extern void budget_set(Oid schema, Oid relation, Oid role, int64 epsilon, int64 delta, int64 queries);

#endif
