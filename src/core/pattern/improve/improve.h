/*
 * improve.h: the anytime solver by itself.
 */
#ifndef KANON_IMPROVE_H
#define KANON_IMPROVE_H

#include "pattern/exact/ilp.h"
#include "pattern/program/bound.h"

/* kanon_solve_improve without the exact solver before it, with a start (or NULL) and a trace. */
extern KanonStatus improve_traced(const KanonProblem *problem, const IlpStart *start, KanonRelease *release,
								  KanonReport *report, IlpTrace trace);

/*
 * priced.c: the instances, at most so many pairs of them, that prices near the best ask
 * for, then (from the *first on) the classes of a release; their model, transposed;
 * prices that bound all releases, with g.  *instances has the grid before, and still
 * after a failure.  box, unless NULL: the instances have all their rows, and at all prices
 * in the box the others do not open; empty where those are too many.
 */
extern KanonStatus improve_priced(const KanonProblem *problem, const IlpResult *from, size_t most_pairs,
								  double effort, KanonInstances *instances, uint32_t *first, IlpModel *model,
								  IlpPrices *prices, IlpBox *box, KanonPace *pace);

#endif
