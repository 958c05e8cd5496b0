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

/* The share, by the quasi-identifiers from q on, that is left of a class by some before it. */
typedef struct KnownShare
{
	int q;
	uint32_t slot;
	size_t n;
	size_t from; /* in known_classes[] */
	double share;
} KnownShare;

/* The classes that were taken so far, where shares are to be known. */
struct Turns
{
	KanonCell *cells; /* [n * ncolumns] */
	size_t n;
	size_t room;            /* of cells */
	KanonPattern pattern;   /* counted last, */
	const KanonCell *shown; /* or what the class shows */
	const KanonCell **some; /* [nqis][some_room] classes, while they are gone through */
	size_t some_room;
	KnownShare *known; /* [nknown] of the class counted last */
	size_t nknown;
	size_t known_room;
	const KanonCell **known_classes; /* [nclasses] */
	size_t nclasses;
	size_t classes_room;
	uint32_t *slots; /* of known: this one, if it says that it is there; NULL: not needed yet */
};

/*
 * shares.c: the share of a population that belongs to a class, of which n come before: NAN where that takes too
 * long.  KANON_NO_MEMORY, KANON_CANCELLED.
 */
extern KanonStatus turns_share(KanonPresence *presence, const KanonPopulation *population,
							   const KanonCell *box, const KanonCell *before, size_t n, const uint32_t *pool,
							   double *share);

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
