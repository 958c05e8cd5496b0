/*
 * cover.h: the cheapest pattern of a mask that suppresses given columns.
 */
#ifndef KANON_COVER_H
#define KANON_COVER_H

#include "model/mask.h"
#include "util/scratch.h"

typedef struct KanonCover
{
	const KanonProblem *problem;
	KanonMaskIndex *index;
	KanonPattern *patterns; /* of a list, cheapest first */
	size_t npatterns;
	KanonScratch scratch;
	struct KanonCovered *known; /* those that were asked for */
	double weight[KANON_MAX_COLUMNS];
} KanonCover;

/* Opens a cover.  A cover of zeros has nothing to close. */
extern KanonStatus kanon_cover_open(KanonCover *cover, const KanonProblem *problem);
extern void kanon_cover_close(KanonCover *cover);

/* The all-suppressed one where no other does.  *cost: kanon_pattern_cost of it. */
extern KanonPattern kanon_cover(const KanonCover *cover, KanonPattern columns, double *cost);

#endif
