/*
 * frontier.h: what each of several ks would cost: the source is read once, and its row
 * types are solved for every k.
 */
#ifndef KANON_FRONTIER_H
#define KANON_FRONTIER_H

#include "run/run.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"
#include "utils/array.h"

/* What is left of a release when it is not to be written. */
typedef struct Solution
{
	int64 k;
	bool found; /* there is a release */
	Figures figures;
	double ms;
} Solution;

typedef struct Frontier
{
	int n;
	Solution *solutions; /* [n] in ascending order of k */
} Frontier;

/* Raises what is wrong with ks, which SQL calls `name`. */
extern void frontier_check(ArrayType *ks, const char *name);

/* The ks of an array, ascending and each once, without solutions. */
extern Frontier *frontier_of(ArrayType *ks);

/*
 * Solves the request for each k, of which it has the first; it writes nothing.  A k for which there is no release
 * (more than the rows, or residual is 'error' and rows are left) has none: the others are
 * still worth knowing.  Parallel workers take part when the planner's settings allow some
 * and it pays; the solutions are the same.  Errors other than that there is no release
 * are raised.
 */
extern void frontier_solve(Frontier *frontier, Request *request);

/* The columns of kanon_frontier; one of its lines. */
#define FRONTIER_COLUMNS 13
extern void frontier_line(const Frontier *frontier, int i, Datum *values, bool *nulls);

/* Where the workers begin. */
extern PGDLLEXPORT void kanon_frontier_worker(dsm_segment *segment, shm_toc *toc);

#endif
