/*
 * anatomy_model.h: the outcome of a run that publishes two tables.
 */
#ifndef KANON_ANATOMY_MODEL_H
#define KANON_ANATOMY_MODEL_H

#include "run/run.h"
#include "anatomy/anatomy_target.h"

/* request->own of such a run. */
typedef struct AnatomyRun
{
	AnatomyTargets targets; /* `quasi` is the run's */
	AnatomyRows *rows;
	KanonAnatomy anatomy;
	RandomPool random;
} AnatomyRun;

#endif
