/*
 * row_hashes.h: rows of releases as hashes
 */
#ifndef KANON_ROW_HASHES_H
#define KANON_ROW_HASHES_H

#include "fmgr.h"
#include "nodes/pg_list.h"

typedef struct RowHash
{
	uint64 look, key, kept;
} RowHash;

typedef struct HashedColumn
{
	AttrNumber attnum[2]; /* in each of the tables */
	FmgrInfo *hash;       /* NULL: what the values look like, by */
	FmgrInfo output[2];
	Oid collation;
	bool byval;
	int16 length;
} HashedColumn;

typedef struct HashedColumns
{
	int n;
	HashedColumn *column;
} HashedColumns;

/* One or two tables; a column that one of them has not tells nothing. */
typedef struct HashedTables
{
	Oid relid[2]; /* the second may be InvalidOid */
	uint64 secret;
	HashedColumns look, key, kept;
} HashedTables;

extern void row_hashes_columns(HashedTables *tables, HashedColumns *columns, List *names);

typedef void (*TakeRow)(void *arg, int table, const RowHash *item);

/* All rows of one of the tables. */
extern void row_hashes_read(const HashedTables *tables, int table, TakeRow take, void *arg);

/*
 * The rows of a table, and the least of its classes, told by the columns `classes` (names); but for one in which the first
 * nqis of these are NULL.
 */
extern int64 row_hashes_least(Oid relid, List *classes, int nqis, int64 *least);

#endif
