/*
 * many.h: one problem solved for many ks.
 */
#ifndef KANON_MANY_H
#define KANON_MANY_H

#include "run/run.h"
#include "storage/dsm.h"
#include "storage/shm_toc.h"

/* What is left of a release when it is not to be written. */
typedef struct Solution
{
	bool found; /* there is a release; else the rest but ms is 0 */
	uint32 nclasses;
	KanonMeasures measures;
	int64 residual; /* rows that fit no class: dropped, or blank and fewer than k */
	double cost;
	bool proven;
	double ms;
} Solution;

/*
 * Solves for each k of at most the table's rows, if it has any.  Parallel
 * workers take part when the planner's settings allow some and it pays; the
 * solutions are the same.  Errors other than that there is no release are raised.
 */
extern void solve_many(Run *run, const int64 *ks, int nks, Solution *solutions);

/* Where the workers begin. */
extern PGDLLEXPORT void kanon_many_worker(dsm_segment *segment, shm_toc *toc);

#endif
