/*
 * anatomy.h: the outcome of a run that publishes two tables.
 */
#ifndef KANON_RUN_ANATOMY_H
#define KANON_RUN_ANATOMY_H

#include "run/run.h"
#include "write/anatomy.h"

/* request->own of such a run. */
typedef struct AnatomyRun
{
	AnatomyTargets targets; /* `quasi` is the run's */
	AnatomyRows *rows;
	KanonAnatomy anatomy;
	RandomPool random;
} AnatomyRun;

#endif
