/*
 * partition.h: partition_by, whose values parallel workers share.
 */
#ifndef KANON_RUN_PARTITION_H
#define KANON_RUN_PARTITION_H

#include "run/run.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"

/* Solves the run's problem by the values of a column of it. */
extern KanonStatus partition_solve(Run *run, int column, KanonPartitionFacts *facts);

/* Where parallel workers begin. */
extern PGDLLEXPORT void kanon_partition_worker(dsm_segment *segment, shm_toc *toc);

#endif
