/*
 * tables.h: rows of kanon's own tables, put there without a query.
 *
 * A query's parameters, and plans that hold them, can be logged, and a query would need
 * to run as the tables' owner.
 */
#ifndef KANON_TABLES_H
#define KANON_TABLES_H

#include "postgres.h"

#include "catalog/indexing.h"
#include "utils/rel.h"

/* One of kanon's tables, and the row that is being put together for it. */
typedef struct RecordTable
{
	Relation rel;
	CatalogIndexState indexes;
	MemoryContext row; /* what a row leaves behind */
	Datum *values;
	bool *nulls;
} RecordTable;

/* Opens a table in the extension's schema; raises when the table no longer belongs to the extension. */
extern void record_open(RecordTable *table, Oid schema, const char *name);

/* A column of the row; those that were not set since the last row are NULL. */
extern void record_set(RecordTable *table, const char *name, Datum value, bool isnull);
extern void record_set_text(RecordTable *table, const char *name, const char *value);
extern void record_set_int8(RecordTable *table, const char *name, int64 value, bool isnull);
extern void record_set_float8(RecordTable *table, const char *name, double value, bool isnull);

/* The row is whole: a new one, or in place of one that is there. */
extern void record_insert(RecordTable *table);
extern void record_put(RecordTable *table, ItemPointer instead);
extern void record_close(RecordTable *table);

/* Others than a superuser who owns it may write into it, by a GRANT on it or on a column. */
extern bool record_is_open(const RecordTable *table);

#endif
