/*
 * number.h: the larger of two numbers, vectors, hashes and random numbers.
 */
#ifndef KANON_NUMBER_H
#define KANON_NUMBER_H

#include <stdint.h>

#include "pattern.h"

/* fmax and fmin where nothing is a NaN: those of the C library are calls. */
static inline double
kanon_max(double a, double b)
{
	return a > b ? a : b;
}

static inline double
kanon_min(double a, double b)
{
	return a < b ? a : b;
}

/*
 * A function with LONG_VECTORS takes vectors twice as long on processors that have them, if the
 * loader can choose.  Whole numbers come out the same.  A function that it calls in a loop is
 * INTO_THEM.  (Sanitizers are not ready that early.)
 */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
	!defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LONG_VECTORS __attribute__((target_clones("avx2", "default")))
#define INTO_THEM static inline __attribute__((always_inline))
#else
#define LONG_VECTORS
#define INTO_THEM static inline
#endif

/* ---- Hashing for tables of a power of two slots ---- */

/* One number, all of whose bits count in all bits: what splitmix64 makes of its state (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t
kanon_mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* One number after the other, from 0 on: half the work, where there are many of them. */
static inline uint64_t
kanon_hash_add(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static inline uint64_t
kanon_pattern_hash(KanonPattern set)
{
	uint64_t hash = kanon_mix(set.word[0]);

	for (int w = 1; w < KANON_PATTERN_WORDS; w++)
		if (set.word[w] != 0)
			hash = kanon_mix(hash + set.word[w] + (uint64_t) w);
	return hash;
}

/*
 * ---- Random numbers: those of the host, and those that follow from a seed.
 *
 * Two sequences follow from a seed, since the release of a seed must stay as it is.  splitmix64 begins well
 * at any state, so parts may be numbered.  xorshift64* is faster, for searches that draw all the time.
 */

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
