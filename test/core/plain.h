/*
 * plain.h: Algorithm 1 as the paper has it, one pattern after the other: the
 * oracle of the greedy method's tests, and what its speed is compared with.
 */
#ifndef PLAIN_H
#define PLAIN_H

#include "kanon.h"

extern KanonStatus plain_greedy(const KanonProblem *problem, KanonRelease *release, KanonReport *report);

#endif
