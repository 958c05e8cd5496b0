/*
 * bulk.h: rows into a new table, many at a time.
 */
#ifndef KANON_BULK_H
#define KANON_BULK_H

#include "postgres.h"

#include "host/border.h"

#include "executor/tuptable.h"
#include "utils/relcache.h"

typedef struct BulkWriter BulkWriter;

extern BulkWriter *bulk_begin(Relation rel); /* stays the caller's to close */

/* Tells how far the writing is, after each batch: of ALL rows so many were written BEFORE. */
extern void bulk_tell(BulkWriter *writer, Border *border, int64 before, int64 all);

/* No row was put yet. */
extern bool bulk_empty(const BulkWriter *writer);

/* The slot to fill next: set tts_values and tts_isnull of every column, then put. */
extern TupleTableSlot *bulk_slot(BulkWriter *writer);

/* Takes the slot filled last; its values are copied. */
extern void bulk_put(BulkWriter *writer);

/* The row before once more, which costs less; false: it has gone to the table. */
extern bool bulk_repeat(BulkWriter *writer);

/* Rows written in all. */
extern int64 bulk_end(BulkWriter *writer);

#endif
