/*
 * turns.h: between population.c and turns.c, which counts populations for classes that may overlap.
 */
#ifndef KANON_TURNS_H
#define KANON_TURNS_H

#include "privacy/population.h"

/* Does a row type of a population belong to a class that was taken when an earlier pattern was counted? */
extern bool presence_is_taken(KanonPresence *presence, int p, uint32_t type);

/* The share of a population that belongs to each of n groups of a pattern, and to no class taken before. */
extern KanonStatus presence_match_turns(KanonPresence *presence, int p, KanonPattern pattern, uint32_t n);

/* A group of the pattern counted last is a class. */
extern void presence_take_turn(KanonPresence *presence, uint32_t group);

/* As kanon_presence_check. */
extern KanonStatus presence_check_turns(KanonPresence *presence, const KanonRelease *release,
										uint32_t *class_);

#endif
