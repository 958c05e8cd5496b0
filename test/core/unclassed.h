/*
 * unclassed.h: what the tests of methods without classes have in common.
 */
#ifndef UNCLASSED_H
#define UNCLASSED_H

#include "fixture.h"

/* A table of random codes; some columns are numbers, some of these have NULLs. */
extern KanonProblem *random_table(Host *host, uint64_t *random, size_t rows, int columns, uint32_t domain,
								  int64_t k);

/* GCP of what a class shows, by the definition, times its weight, in the sum of weights. */
extern double cost_by_hand(const KanonProblem *problem, const KanonRelease *release);

#endif
