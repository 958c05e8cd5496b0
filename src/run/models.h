/*
 * models.h: what models have to tell beside a run's outcome.
 */
#ifndef KANON_MODELS_H
#define KANON_MODELS_H

#include "core/full_domain/full_domain.h"
#include "run/run.h"

/* What the search of a full-domain run has found, and what it took. */
extern const KanonOutcome *full_domain_outcome(const Run *run);

#endif
