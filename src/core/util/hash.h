/*
 * hash.h: hashing for tables of a power of two slots.
 */
#ifndef KANON_HASH_H
#define KANON_HASH_H

#include <stdint.h>

#include "pattern.h"

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

#endif
