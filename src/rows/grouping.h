/*
 * grouping.h: the query that makes groups of a source's rows.
 */
#ifndef KANON_GROUPING_H
#define KANON_GROUPING_H

#include "host/gate.h"
#include "rows/source.h"

/* Are the rows those of tables of this server?  A view may read anything. */
extern bool source_is_stored(const Source *source);

/* Are they, and does one process group them as fast as the server's workers? */
extern bool source_is_here(const Source *source);

/* A function of the system's that gives the binary form of such values and depends on nothing else; or NULL. */
extern char *binary_form(Oid type);

/*
 * What comes in: the columns that tell row types apart, their spellings, and the
 * count.  The columns have their dictionaries.
 */
extern Gate *grouping_gate(const Source *source);

/* The query for that gate, to which it adds whatever else must keep its name. */
extern char *grouping_query(const Source *source, Gate *gate);

/* The count, attribute `last` of a group; the groups before have so many rows. */
extern int64 grouping_count(const Source *source, const TupleTableSlot *slot, int last, int64 before);

/* Is it no group, but a value of a kept column, which source->sample takes? */
extern bool grouping_sampled(const Source *source, const TupleTableSlot *slot, int last);

/*
 * For queries that group by the quasi-identifiers and ask of the groups nothing but how
 * many rows they have: what to select from, and what is called what there.
 */
typedef struct CountedRows
{
	char *columns;     /* the quasi-identifiers, "a, b, c" */
	char *from;        /* with an alias where it is no relation */
	const char *count; /* the rows of a group */
	char *blank;       /* a group has NULL in all columns */
} CountedRows;

extern CountedRows grouping_counted(const Source *source, Gate *gate);

#endif
