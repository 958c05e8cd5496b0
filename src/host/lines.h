/*
 * lines.h: the lines that a set-returning function gives back; values that SQL hands to a function as a ROW.
 */
#ifndef KANON_LINES_H
#define KANON_LINES_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define LINE_COLUMNS 32 /* at most */

typedef struct Lines
{
	Tuplestorestate *store;
	TupleDesc desc;
	int n; /* columns of the line at hand so far */
	Datum values[LINE_COLUMNS];
	bool nulls[LINE_COLUMNS];
} Lines;

/* The lines of the call; its arguments have been looked at. */
extern Lines *lines_begin(FunctionCallInfo fcinfo);

/* The next column of the line at hand; an unknown value is NULL. */
extern void line_value(Lines *lines, Datum value, bool known);

static inline void
line_int4(Lines *lines, int32 value, bool known)
{
	line_value(lines, Int32GetDatum(value), known);
}

static inline void
line_int8(Lines *lines, int64 value, bool known)
{
	line_value(lines, Int64GetDatum(value), known);
}

static inline void
line_float8(Lines *lines, double value, bool known)
{
	line_value(lines, Float8GetDatum(value), known);
}

static inline void
line_bool(Lines *lines, bool value, bool known)
{
	line_value(lines, BoolGetDatum(value), known);
}

static inline void
line_time(Lines *lines, TimestampTz value, bool known)
{
	line_value(lines, TimestampTzGetDatum(value), known);
}

/* NULL for none. */
static inline void
line_oid(Lines *lines, Oid oid)
{
	line_value(lines, ObjectIdGetDatum(oid), OidIsValid(oid));
}

extern void line_text(Lines *lines, const char *text);
extern void line_name(Lines *lines, const char *name);

/* The line is whole. */
extern void line_end(Lines *lines);

/* A whole line: what is measured, the figure (NULL unless known), what it means. */
extern void line_measure(Lines *lines, const char *measure, double value, bool known, const char *meaning);

/*
 * ---- Values of any number and types, which SQL hands to a function as ROW(…).
 *
 * VARIADIC "any" would take them as well, but no call matches that exactly: a role that may create
 * functions in kanon's schema could put one beside it that matches better, and is called instead.
 */

typedef struct RowArgument
{
	MemoryContext context; /* of all this, as long as the call has such rows */
	int32 typmod;          /* by which rows without a type of their own are told apart */
	TupleDesc desc;        /* of at least one column */
	Datum *values;         /* of the row at hand, into which they point */
	bool *nulls;
	void *prepared; /* what is needed for all such rows */
} RowArgument;

/*
 * A row of such columns; `prepare` runs when the call meets the first of them.  Rows of a type with
 * a name are refused: it may be altered between two of them.
 */
extern RowArgument *row_argument(FmgrInfo *call, HeapTupleHeader header,
								 void *(*prepare)(const RowArgument *row));

/* Its values, one by one. */
extern void row_deform(RowArgument *row, HeapTupleHeader header);

/* Its bytes, of which those that are alike have the same values, with nothing of where they come from. */
extern const char *row_image(HeapTupleHeader header, Size *size);

#endif
