/*
 * spelling.h: kept columns come out in one spelling per value.
 *
 * Equal values can look different: numeric 1.0 and 1.00, citext 'a' and 'A', interval '30 days' and
 * '1 mon', float -0.  A row that spells its value as no other row does would be known by that.
 */
#ifndef KANON_SPELLING_H
#define KANON_SPELLING_H

#include "host/border.h"
#include "host/column.h"

typedef struct Spelling Spelling;

/* Can two equal values of the column look different? */
extern bool spelling_varies(const SourceColumn *column);

/* Has the column's type no equality, so that nobody can say which of its values are one? */
extern bool spelling_unknown(const SourceColumn *column);

/* Memory that it takes is counted by the border, until spelling_end. */
extern Spelling *spelling_begin(const SourceColumn *column, Border *border);

/* A value of a row; all of them, before the first is asked for. */
extern void spelling_note(Spelling *spelling, Datum value);

/* The most frequent spelling of a value that was noted, of equally frequent ones the least. */
extern Datum spelling_of(Spelling *spelling, Datum value);

/* A float as it is shown whatever was computed: zero without a sign, one NaN.  Other values as they are. */
extern Datum spelling_plain(Oid base, Datum value);
extern void spelling_end(Spelling *spelling);

#endif
