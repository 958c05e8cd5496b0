/*
 * published_rows.h: a published table as a release: what its cells show, in the codes of
 * the source's values.
 */
#ifndef KANON_PUBLISHED_ROWS_H
#define KANON_PUBLISHED_ROWS_H

#include "rows/row_types.h"

/* No value of the source: what a cell shows that shows none of them. */
#define WRITTEN_NOTHING_OF_IT 0x1fffffff

/*
 * How the target shows a column: as a range or a set of the source's values, as they are, or,
 * where the source has been opened with hierarchies, as their levels.  Raises datatype_mismatch.
 */
extern void written_match(SourceColumn *column, const SourceColumn *shown);

/*
 * The row types of a published table (its first nqis columns, and then the mark if
 * `mark`) as classes with cells and rows.  The source has been read.  Without the
 * mark, NULL shows nothing, whether it was NULL in the source or not; with it a
 * NULL that is not suppressed is the source's.
 */
extern KanonRelease *written_release(const Source *source, const RowTypes *types, bool mark, Border *border);

/* A release as that sees it: its cells, one for each quasi-identifier, and its pool. */
extern KanonRelease written_promise(const KanonRelease *release, const Source *source,
									const KanonProblem *problem, bool mark, Border *border);

#endif
