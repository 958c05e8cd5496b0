/*
 * known.h: releases against somebody who knows few columns of a person.
 */
#ifndef KANON_KNOWN_H
#define KANON_KNOWN_H

#include "rare/rare.h"

/*
 * Blanks cells until no combination that problem->known asks for is rare: greedily, then gives back what need not be
 * blank.  The mask is every combination, without levels, rules and other limits.  NULL of the
 * source counts as a blank cell (known->missing is KANON_MISSING_ASIDE, and known->blank NULL).  time_limit ends
 * the giving back alone.
 */
extern KanonStatus kanon_solve_known_greedy(const KanonProblem *problem, KanonRelease *release,
											KanonReport *report);

#endif
