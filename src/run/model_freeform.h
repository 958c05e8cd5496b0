/*
 * model_freeform.h: what kanon_freeform and kanon_check_freeform have in common.
 */
#ifndef KANON_MODEL_FREEFORM_H
#define KANON_MODEL_FREEFORM_H

#include "run/run.h"
#include "core/freeform/graph.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"

/* Why releases without classes do not stay near one another. */
#define NO_CLASSES_TO_KEEP \
	"Its records are in no classes: who matches whom changes with every row that comes or goes."

/* request->own: problem->freeform, and what came of it. */
typedef struct FreeformCall
{
	KanonFreeformOptions options;
	int k_column;   /* of the grouped ones; 0: there is none */
	double matches; /* of all rows, about */
	int workers;    /* parallel workers that took part */
	uint32 parts;
} FreeformCall;

/*
 * Decides how each quasi-identifier is shown, and raises where one cannot be: by its
 * hierarchy, if it has one, ranges for numbers and dates, arrays for the rest.
 */
extern void freeform_columns(Source *source);

/* Bytes of the release, about, whatever the size of its parts. */
extern double freeform_release_memory(const Run *run, int64 rows);

/* freeform_parallel.c: kanon_solve_freeform, the parts shared out among parallel workers. */
extern KanonStatus freeform_solve(Run *run);

/* Where the workers begin. */
extern PGDLLEXPORT void kanon_freeform_worker(dsm_segment *segment, shm_toc *toc);

#endif
