/*
 * stored_runs.h: rows of a table as heap stores them, one after the other: is the next one like the one before?
 */
#ifndef KANON_STORED_RUNS_H
#define KANON_STORED_RUNS_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "executor/tuptable.h"

typedef struct Stored Stored;

/* Whole rows of a table: the first n columns are compared, and those from `first` (of these or behind them) to `end` taken out. */
extern Stored *stored_create(TupleDesc desc, int n, int first, int end);

/*
 * Has the row in the first columns the very bytes of the one that was remembered?  Then those to take out are in
 * values and nulls, by their places in the row, pointing into it.  No: it has others, or nobody can tell.
 */
extern bool stored_repeats(const Stored *stored, TupleTableSlot *slot, Datum *values, bool *nulls);

/* The row with which the next ones are compared. */
extern void stored_remember(Stored *stored, TupleTableSlot *slot);

#endif
