/*
 * synthetic_model.h: the outcome of a run that publishes rows drawn from a domain.
 */
#ifndef KANON_SYNTHETIC_MODEL_H
#define KANON_SYNTHETIC_MODEL_H

#include "core/noise/tuples.h"
#include "host/secure_random.h"
#include "noise/domains.h"
#include "run/run.h"

/* request->own of such a run. */
typedef struct MadeRun
{
	Jsonb *json; /* domains */

	/* alpha-beta */
	double d, gamma;
	KanonAlphaBeta with;

	/* synthesis */
	double epsilon, delta;
	int64 wanted; /* negative: as many rows as the source has */
	uint64 noise;

	Domains *domains;
	KanonDrawn drawn;
	RandomPool random;
} MadeRun;

#endif
