/*
 * pricing.h: parallel workers who share the core's Lagrangian bound, and its search.
 */
#ifndef KANON_RUN_PRICING_H
#define KANON_RUN_PRICING_H

#include "run/run.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"

/* As many as max_parallel_workers_per_gather allows, for whatever the run solves. */
extern void pricing_offer(Run *run);

extern PGDLLEXPORT void kanon_pricing_worker(dsm_segment *segment, shm_toc *toc);

#endif
