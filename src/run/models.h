/*
 * models.h: what models have to tell beside a run's outcome.
 */
#ifndef KANON_MODELS_H
#define KANON_MODELS_H

#include "core/lattice/full_domain.h"
#include "run/run.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"

/* What the search of a full-domain run has found, and what it took. */
extern const KanonOutcome *full_domain_outcome(const Run *run);

/* Where the workers of a full-domain run begin. */
extern PGDLLEXPORT void kanon_full_domain_worker(dsm_segment *segment, shm_toc *toc);

#endif
