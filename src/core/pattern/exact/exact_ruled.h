/*
 * exact_ruled.h: solvers that know k alone, under rules beyond k.
 */
#ifndef KANON_EXACT_RULED_H
#define KANON_EXACT_RULED_H

#include "privacy/allowed.h"

/* What is done beside mending what the solver finds of the plain problem (release/repair.h). */
#define RULED_STRICT 1u /* it asks kanon_class_allowed, or its instances are those of instances.h */
#define RULED_SEARCH 2u /* the release is improved by ruin and recreate */
#define RULED_EXACT 4u  /* linear rules: small models are solved exactly */
#define RULED_ONCE 8u   /* pattern clustering: patterns are used up, and there is no rest */

/*
 * A release that keeps problem->privacy (not NULL).  The bound is that of the plain problem,
 * or of an exact model; never worse than greedy, but for RULED_ONCE.
 */
extern KanonStatus ruled_solve(const KanonProblem *problem, KanonSolve solve, unsigned how,
							   KanonRelease *release, KanonReport *report);

#endif
