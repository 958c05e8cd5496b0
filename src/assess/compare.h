/*
 * compare.h: a source and what was published of it, side by side: what kanon_compare and
 * kanon_distributions have in common.
 *
 * A cell of the target stands for values of the source: itself, those of its range, its
 * set or its label, or, where a quasi-identifier is NULL, all there are.  As whoever
 * analyses the table must, all of them are taken to be equally likely (Xiao, Tao,
 * "Anatomy: simple and effective privacy preservation", VLDB 2006).
 */
#ifndef KANON_COMPARE_H
#define KANON_COMPARE_H

#include "rows/published_rows.h"

#include "fmgr.h"

typedef struct Compared
{
	Border *border;
	Source *source;
	Source *target;
	RowTypes *rows;        /* of the source */
	RowTypes *records;     /* of the target */
	KanonRelease *release; /* the records in codes of the source */
	int nqis;              /* columns of which NULL shows nothing; those that were kept come after them */
	int n;                 /* columns in all */
} Compared;

/* The values of the source that a cell stands for: n codes, or (codes is NULL) those from first on. */
typedef struct Spread
{
	uint32 n;
	uint32 first;
	const uint32 *codes;
} Spread;

/* With SPI connected; takes a snapshot, which is the active one then. */
extern Compared *compare_read(Oid source, Oid target, ArrayType *qis, ArrayType *keep, Jsonb *hierarchies,
							  const char *who);

extern Spread compare_spread(const Compared *compared, uint32 record, int column);

/*
 * Rows of the source with each value of a column, and those that the target stands for; the
 * rest of its rows shows values that the source does not have.
 */
extern void compare_shares(const Compared *compared, int column, double *before, double *after);

/*
 * How much worse the target answers counts than the source: for each of so many random
 * queries of which the source has rows, the relative error.  How many there are.
 */
extern int compare_queries(const Compared *compared, int queries, double selectivity, uint64 seed,
						   double *errors);

#endif
