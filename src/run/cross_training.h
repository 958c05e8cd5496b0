/*
 * cross_training.h: the outcome of a run that publishes points with noise.
 */
#ifndef KANON_RUN_CROSS_TRAINING_H
#define KANON_RUN_CROSS_TRAINING_H

#include "host/random.h"
#include "read/points.h"
#include "run/run.h"

/* request->own of such a run. */
typedef struct CrossTrainingRun
{
	int64 t;
	Jsonb *json; /* domains, or NULL */
	Points *points;
	int64 *moved;     /* [points->n * columns] places */
	uint8 *divisions; /* [points->n] */
	RandomPool random;
} CrossTrainingRun;


/* t of cross-training and of isolation. */
extern int64 points_t_arg(FunctionCallInfo fcinfo, int arg);

#endif
