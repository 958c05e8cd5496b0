/*
 * pattern.h: a pattern, which is a set of columns.
 *
 * Four words in a struct, so that what only looks at one of them does not compile.
 */
#ifndef KANON_PATTERN_H
#define KANON_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/* Columns of a problem: quasi-identifiers and the levels of their hierarchies together. */
#define KANON_MAX_COLUMNS 256

/* Quasi-identifiers among them. */
#define KANON_MAX_QIS 64

#define KANON_PATTERN_WORDS (KANON_MAX_COLUMNS / 64)

/* Column c is suppressed: bit c % 64 of word c / 64 is set. */
typedef struct KanonPattern
{
	uint64_t word[KANON_PATTERN_WORDS];
} KanonPattern;

/* The set of no column, and one of the first 64 columns by their bits. */
#define KANON_NONE ((KanonPattern){{0}})
#define KANON_BITS(bits) ((KanonPattern){{(bits)}})

static inline bool
kanon_has(KanonPattern set, int c)
{
	return (set.word[(unsigned) c / 64] >> (unsigned) c % 64 & 1) != 0;
}

static inline void
kanon_add(KanonPattern *set, int c)
{
	set->word[(unsigned) c / 64] |= UINT64_C(1) << (unsigned) c % 64;
}

static inline void
kanon_remove(KanonPattern *set, int c)
{
	set->word[(unsigned) c / 64] &= ~(UINT64_C(1) << (unsigned) c % 64);
}

/* The set of this column alone. */
static inline KanonPattern
kanon_only(int c)
{
	KanonPattern set = KANON_NONE;

	kanon_add(&set, c);
	return set;
}

static inline KanonPattern
kanon_union(KanonPattern a, KanonPattern b)
{
	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
		a.word[w] |= b.word[w];
	return a;
}

/* The common part. */
static inline KanonPattern
kanon_both(KanonPattern a, KanonPattern b)
{
	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
		a.word[w] &= b.word[w];
	return a;
}

/* a without b. */
static inline KanonPattern
kanon_minus(KanonPattern a, KanonPattern b)
{
	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
		a.word[w] &= ~b.word[w];
	return a;
}

static inline bool
kanon_is_none(KanonPattern set)
{
	uint64_t any = 0;

	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
		any |= set.word[w];
	return any == 0;
}

static inline bool
kanon_same(KanonPattern a, KanonPattern b)
{
	uint64_t differ = 0;

	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
		differ |= a.word[w] ^ b.word[w];
	return differ == 0;
}

/* Is there a column in both? */
static inline bool
kanon_meet(KanonPattern a, KanonPattern b)
{
	return !kanon_is_none(kanon_both(a, b));
}

/* Has b all of a? */
static inline bool
kanon_within(KanonPattern a, KanonPattern b)
{
	return kanon_is_none(kanon_minus(a, b));
}

static inline int
kanon_count(KanonPattern set)
{
	int n = 0;

	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
		n += __builtin_popcountll(set.word[w]);
	return n;
}

/* Its first column from c on; -1: there is none. */
static inline int
kanon_next(KanonPattern set, int c)
{
	unsigned w = (unsigned) c / 64;
	uint64_t rest;

	if (w >= KANON_PATTERN_WORDS)
		return -1;
	rest = set.word[w] & ~UINT64_C(0) << (unsigned) c % 64;
	while (rest == 0)
	{
		if (++w == KANON_PATTERN_WORDS)
			return -1;
		rest = set.word[w];
	}
	return (int) (w * 64) + __builtin_ctzll(rest);
}

/* Every column c of a set in turn, as it is then: what the loop takes out before it is there is left out. */
#define KANON_EACH(c, set) for (int c = kanon_next(set, 0); c >= 0; c = kanon_next(set, c + 1))

/* The columns from .. to - 1. */
static inline KanonPattern
kanon_span(int from, int to)
{
	KanonPattern set = KANON_NONE;

	for (int c = from; c < to; c++)
		kanon_add(&set, c);
	return set;
}

/* An order of sets, as that of numbers: by the last column that one of two has alone. */
static inline int
kanon_order(KanonPattern a, KanonPattern b)
{
	for (int w = KANON_PATTERN_WORDS - 1; w >= 0; w--)
		if (a.word[w] != b.word[w])
			return a.word[w] < b.word[w] ? -1 : 1;
	return 0;
}

#endif
