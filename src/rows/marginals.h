/*
 * marginals.h: how many rows have each value of each column that tells row types apart, whatever goes
 * together.
 *
 * That is known of a source whose row types do not fit into memory, and says all that
 * hierarchies, prices of levels and measures of columns ask for.
 */
#ifndef KANON_MARGINALS_H
#define KANON_MARGINALS_H

#include "rows/keyed.h"
#include "rows/row_types.h"

/* Rows in which a value is hidden up to some level; the last kind: rows that are left out. */
typedef struct Marginals
{
	const Source *source;
	int kinds[KANON_MAX_COLUMNS];   /* of each column; more than one of quasi-identifiers alone */
	int64 *rows[KANON_MAX_COLUMNS]; /* [distinct * kinds] */
} Marginals;

/*
 * Reads the values of a source alone, under the active snapshot: its dictionaries, and how many rows
 * have each value (one kind).  The row types have those, and are otherwise made up: at most as many as there
 * are values in all quasi-identifiers; of the columns beside these they have the totals alone.
 */
extern RowTypes *marginals_read(Source *source, Border *border, Marginals *marginals);

/* A look at what a row keeps. */
typedef void (*LookAtKept)(void *arg, const Datum *kept, const bool *nulls);

/*
 * Once more, row by row, or group by group where no kept columns are asked for: sorted by the code of
 * a column, then those of all.  False: there are values now that there were not.
 */
extern bool marginals_rows(const Source *source, int column, int nkept, Border *border, Keyed *keyed,
						   LookAtKept look, void *arg);

/*
 * Row types that have these.  kind[type * nqis + quasi-identifier], unless NULL: the kind of each.
 * As many rows have a value of each quasi-identifier.
 */
extern RowTypes *marginals_types(const Marginals *marginals, const RowTypes *like, Border *border,
								 uint8 **kind);

#endif
