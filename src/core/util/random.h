/*
 * random.h: random numbers: those of the host, and such as follow from a seed.  There are
 * two sequences from a seed, and the release of a seed must stay as it is: splitmix64
 * begins well at any state, so that parts may be numbered; xorshift64* is the faster one,
 * for searches that draw all the time.
 */
#ifndef KANON_RANDOM_H
#define KANON_RANDOM_H

#include "util/hash.h"

/* The next random number of the host's. */
typedef uint64_t (*KanonDraw)(void *arg);

/* splitmix64: any state, also 0. */
static inline uint64_t
kanon_random_split(uint64_t *state)
{
	uint64_t number = kanon_mix(*state);

	*state += UINT64_C(0x9e3779b97f4a7c15);
	return number;
}

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", TOMS 42, 2016): not 0. */
static inline uint64_t
kanon_random_shift(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
