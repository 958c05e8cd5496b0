/*
 * row_spool.h: rows that are read once: they wait, with the number of their row type, until it is known
 * what becomes of them.
 */
#ifndef KANON_ROW_SPOOL_H
#define KANON_ROW_SPOOL_H

#include "access/tupdesc.h"

typedef struct Waiting Waiting;

/* A row's columns are those of desc from `first` (0: the first) on. */
extern Waiting *waiting_begin(TupleDesc desc, int first);
extern void waiting_put(Waiting *waiting, uint32 type, const Datum *values, const bool *nulls);

/* What became of the numbers; it stays the caller's. */
extern void waiting_renumber(Waiting *waiting, const uint32 *number);

/* The next row, until the one after it, as they came; false: there is none. */
extern bool waiting_next(Waiting *waiting, uint32 *type, const Datum **values, const bool **nulls);
extern void waiting_end(Waiting *waiting);

#endif
