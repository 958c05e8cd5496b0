/*
 * uniques.h: how many of a population are alone in their class, from a sample of it.
 */
#ifndef KANON_UNIQUES_H
#define KANON_UNIQUES_H

#include "kanon.h"

/* Classes of a size, in the sample; each size once, all > 0. */
typedef struct KanonSizeCount
{
	int64_t size;
	int64_t classes;
} KanonSizeCount;

/* Pitman's sampling formula, fitted to a sample. */
typedef struct KanonPitman
{
	double alpha; /* 0 < alpha < 1 */
	double theta; /* > -alpha */
	bool fits;    /* false: every row is alone, which any alpha near 1 explains */
} KanonPitman;

extern KanonPitman kanon_pitman_fit(const KanonSizeCount *sizes, size_t n);

/* The logarithm of the likelihood, up to a term without alpha and theta. */
extern double kanon_pitman_likelihood(const KanonSizeCount *sizes, size_t n, double alpha, double theta);

/* Classes of one, expected in a population of so many. */
extern double kanon_pitman_uniques(const KanonPitman *pitman, double population);

/* The same by Zayatz; fraction: that of the population which is in the sample, 0 < fraction <= 1. */
extern double kanon_zayatz_uniques(const KanonSizeCount *sizes, size_t n, double fraction);

#endif
