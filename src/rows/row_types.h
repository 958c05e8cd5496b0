/*
 * row_types.h: a relation as row types.
 */
#ifndef KANON_ROW_TYPES_H
#define KANON_ROW_TYPES_H

#include "host/border.h"
#include "rows/source.h"

typedef struct RowTypes
{
	Source *source;
	uint32 ntypes;
	int64 nrows;
	KanonColumn *grouped; /* [ngrouped] what was read; weights are 1 */
	KanonColumn *columns; /* the problem's (Levels): grouped itself when there are no hierarchies */
	int64 *rows;          /* [ntypes] */
	uint32 *sequence; /* [nsequence] types of rows as they came, and probably come again; NULL: not noted */
	Size nsequence;
	const int64 **totals;    /* [ngrouped - nqis] of types that are made up: rows with each value; or NULL */
	struct Waiting *waiting; /* the rows themselves, which are not read again; or NULL */
} RowTypes;

/* Further columns of a table that is read, shown row by row. */
typedef struct RowsBeside
{
	const SourceColumn *columns;
	int n;
	void (*receive)(void *arg, const Datum *values, const bool *nulls);
	void *arg;
} RowsBeside;

/* Groups the source under the active snapshot. */
extern RowTypes *rowtypes_read(Source *source, Border *border);

/*
 * The same; NULL: of rows that were set aside two row types have the same hash (set aside under another
 * seed they hardly have); of others, kanon would have more than so many bytes in memory (0: the budget
 * alone says how many).
 */
extern RowTypes *rowtypes_read_within(Source *source, Size limit, Border *border);

/*
 * The same for who asks for no order, neither of row types nor of codes: those in which they came.
 */
extern RowTypes *rowtypes_read_unsorted(Source *source, Size limit, Border *border);

/*
 * The same of a table that this transaction has written, as it stands now.  What is beside
 * (or NULL) is shown on the way; of a table that is scattered by a reading of its own.
 */
extern RowTypes *rowtypes_read_written(Source *source, const RowsBeside *beside, Border *border);

/* A table that this transaction has written: those columns alone. */
extern void rows_read_written(const char *name, Oid relid, const RowsBeside *beside);

/* Raises if rows that were set aside are more or fewer by now. */
extern void rowtypes_check_staged(const Source *source, int64 nrows);

/* Finds a row's type again; DICTIONARY_NONE: it has none. */
typedef struct TypeIndex TypeIndex;
extern TypeIndex *type_index_create(const RowTypes *types, Border *border);
extern uint32 type_index_find(TypeIndex *index, const Datum *values, const bool *nulls);

#endif
