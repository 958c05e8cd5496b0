/*
 * write.h: the release becomes rows.
 */
#ifndef KANON_WRITE_WRITE_H
#define KANON_WRITE_WRITE_H

#include "read/rowtypes.h"
#include "write/target.h"

/* The release's rows; returns how many were written. */
extern int64 target_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
						  const KanonRelease *release, Border *border);

#endif
