/*
 * turns.h: between population.c and turns.c, which counts populations for classes that may overlap.
 */
#ifndef KANON_TURNS_H
#define KANON_TURNS_H

#include "privacy/population.h"
#include "util/pace.h"
#include "util/scratch.h"

/* Classes that rows are compared with at a time: bits. */
#define WORDS 8
#define BLOCK (WORDS * 64)

/* Which of a release's classes a row type matches, a block of classes at a time. */
typedef struct Finder
{
	const KanonProblem *problem;
	const KanonRelease *release;
	KanonPace *pace;
	uint64_t *bits[KANON_MAX_COLUMNS]; /* by code, by how many codes are below, and for what has no place */
	uint64_t every[KANON_MAX_COLUMNS][WORDS]; /* what shows nothing */
} Finder;

/* The first three are set; in memory of the scratch. */
extern KanonStatus finder_open(Finder *finder, KanonScratch *scratch);

/* The classes from this one on are at hand. */
extern KanonStatus finder_take_block(Finder *finder, uint32_t from);

/* Of the bits left[WORDS] those stay whose class a row type matches; are there any? */
extern bool finder_match(const Finder *finder, const KanonPopulation *rows, uint32_t i, uint64_t *left);

/* Does a row type of a population belong to a class that was taken when an earlier pattern was counted? */
extern bool presence_is_taken(KanonPresence *presence, int p, uint32_t type);

/* The share of a population that belongs to each of n groups of a pattern, and to no class taken before. */
extern KanonStatus presence_match_turns(KanonPresence *presence, int p, KanonPattern pattern, uint32_t n);

/* A group of the pattern counted last is a class. */
extern void presence_take_turn(KanonPresence *presence, uint32_t group);

/* As kanon_presence_check. */
extern KanonStatus presence_check_turns(KanonPresence *presence, const KanonRelease *release,
										uint32_t *class_);

/* claims.c: k_map, of classes that may overlap. */
extern KanonStatus presence_check_map(KanonPresence *presence, int p, const KanonRelease *release,
									  uint32_t *class_);

#endif
