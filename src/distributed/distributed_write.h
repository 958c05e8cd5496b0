/*
 * distributed_write.h: the release becomes rows on the workers that have the source's.
 */
#ifndef KANON_DISTRIBUTED_WRITE_H
#define KANON_DISTRIBUTED_WRITE_H

#include "rows/row_types.h"
#include "rows/target.h"

/* From so many rows on a target is distributed; a smaller one is on every server. */
#define SPREAD_ROWS 10000

/*
 * What becomes of a new target: the same as the table before it (InvalidOid: there is
 * none), or what its source is.
 */
extern TableKind spread_kind(const Source *source, Oid before);

/*
 * Whether workers write the target: here alone that is decided.  A NOTICE says why they
 * do not write one that is to be distributed.
 */
extern bool spread_takes(const Target *target, const Source *source, const KanonProblem *problem);

/* That NOTICE, for those who write it in ways of their own. */
extern void spread_not(const Target *target, const Source *source, const char *why);

/* As target_write; the target is distributed then. */
extern int64 spread_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
						  const KanonRelease *release, Border *border);

#endif
