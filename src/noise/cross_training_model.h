/*
 * cross_training_model.h: the outcome of a run that publishes points with noise.
 */
#ifndef KANON_CROSS_TRAINING_MODEL_H
#define KANON_CROSS_TRAINING_MODEL_H

#include "host/secure_random.h"
#include "noise/point_source.h"
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
