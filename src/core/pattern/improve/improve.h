/*
 * improve.h: the anytime method by itself.
 */
#ifndef KANON_IMPROVE_H
#define KANON_IMPROVE_H

#include "pattern/exact/exact.h"
#include "pattern/program/program_model.h"

/* kanon_solve_improve without the exact method before it, with a start (or NULL). */
extern KanonStatus improve_from(const KanonProblem *problem, const IlpStart *start, KanonRelease *release,
								KanonReport *report);

/* The results of improve_priced. */
typedef struct PricedInto
{
	KanonInstances *instances; /* has the grid before, and still after a failure */
	uint32_t *first;           /* of the classes of the release, which are the last instances */
	IlpModel *model;           /* of the instances, transposed */
	IlpPrices *prices;         /* that bound all releases, with g */
	IlpBox *box;               /* or NULL */
} PricedInto;

/*
 * priced.c: the instances, at most so many pairs of them, that prices near the best ask
 * for, then the classes of a release.  With a box the instances have all their rows, and at all prices
 * in the box the others do not open; empty where those are too many.
 */
extern KanonStatus improve_priced(const KanonProblem *problem, const IlpResult *from, size_t most_pairs,
								  double effort, const PricedInto *into, KanonPace *pace);

#endif
