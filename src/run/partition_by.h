/*
 * partition_by.h: partition_by, whose values parallel workers share.
 */
#ifndef KANON_PARTITION_BY_H
#define KANON_PARTITION_BY_H

#include "run/run.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"

/* Solves the run's problem by the values of a column of it. */
extern KanonStatus partition_solve(Run *run, int column, KanonPartitionFacts *facts);

/*
 * Takes what kanon_solve_value gave of a value, or KANON_NOT_FOUND where it has fewer than k rows; the release
 * is not its own.
 */
typedef KanonStatus (*TakeValue)(void *arg, uint32 code, KanonStatus status, KanonRelease *release);

/* Solves values whose row types alone the problem has, by parallel workers where that is faster; they are taken in their order. */
extern KanonStatus partition_values(const Run *run, const KanonProblem *problem,
									const KanonValueTypes *values, TakeValue take, void *arg,
									KanonReport *report);

/* Where parallel workers begin. */
extern PGDLLEXPORT void kanon_partition_worker(dsm_segment *segment, shm_toc *toc);

#endif
