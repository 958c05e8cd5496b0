/*
 * row.h: values of any number and types, which SQL hands to a function as ROW(…).
 *
 * VARIADIC "any" would take them as well, but no call matches that exactly: a role that may create
 * functions in kanon's schema could put one beside it that matches better, and is called instead.
 */
#ifndef KANON_ROW_H
#define KANON_ROW_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"
#include "fmgr.h"

typedef struct Row
{
	MemoryContext context; /* of all this, as long as the call has such rows */
	int32 typmod;          /* by which rows without a type of their own are told apart */
	TupleDesc desc;        /* of at least one column */
	Datum *values;         /* of the row at hand, into which they point */
	bool *nulls;
	void *prepared; /* what is needed for all such rows */
} Row;

/*
 * A row of such columns; `prepare` runs when the call meets the first of them.  Rows of a type with
 * a name are refused: it may be altered between two of them.
 */
extern Row *row_argument(FmgrInfo *call, HeapTupleHeader header, void *(*prepare)(const Row *row));

/* Its values, one by one. */
extern void row_deform(Row *row, HeapTupleHeader header);

/* Its bytes, of which those that are alike have the same values, with nothing of where they come from. */
extern const char *row_image(HeapTupleHeader header, Size *size);

#endif
