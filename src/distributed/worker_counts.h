/*
 * worker_counts.h: what workers count of the rows that they have written.
 */
#ifndef KANON_WORKER_COUNTS_H
#define KANON_WORKER_COUNTS_H

#include "rows/row_types.h"
#include "rows/identifying_columns.h"
#include "rows/target.h"

/* Does a rule count persons? */
extern bool counts_persons(const KanonProblem *problem);

/*
 * Raises when a class breaks such a rule.  hash: [ntypes], of row types; rows: what a query reads
 * from, where s is a row as it was set aside, and t has the hash of its type and its class.
 */
extern void counted_persons(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release,
							const int64 *hash, const char *rows, Border *border);

/* The same when a kept column identifies, to one person's rows. */
extern void counted_kept(const Source *source, const KanonProblem *problem, const char *rows, int64 written,
						 Border *border);

#endif
