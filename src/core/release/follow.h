/*
 * follow.h: which class the rows of each class before are in, where row types are not divided but for
 * rows that were suppressed.
 */
#ifndef KANON_FOLLOW_H
#define KANON_FOLLOW_H

#include "kanon.h"

/* Fills previous->became. */
extern void kanon_follow(const KanonProblem *problem, const KanonPrevious *previous,
						 const KanonRelease *release);

#endif
