/*
 * points.h: rows of numbers as points: published with noise, and looked for by who knows
 * something like it.
 *
 * S. Chawla, C. Dwork, F. McSherry, A. Smith, H. Wee, "Toward privacy in public databases",
 * TCC 2005.
 */
#ifndef KANON_POINTS_H
#define KANON_POINTS_H

#include "noise/chance.h"

/*
 * A column's range is 2^KANON_PLACE_BITS places; a cell is the whole of it in every column, or
 * one of those that are left when all columns are divided in the middle so many times.
 */
#define KANON_PLACE_BITS 30
#define KANON_MOST_DIVISIONS 20
#define KANON_MOST_NOISE_BITS (KANON_PLACE_BITS + 1)

typedef struct KanonPoints
{
	uint32_t n;
	int ncolumns;
	const uint32_t *place; /* [n * ncolumns] below 2^KANON_PLACE_BITS */
} KanonPoints;

/* Half of n (the greater half, if they differ) is drawn at random. */
extern void kanon_halve(const KanonChance *chance, uint32_t n, bool *half);

/*
 * A recursive histogram of each half: a cell is divided while it has more than 2t points of the
 * half, which are not all in one place.  Into each point of the other half goes how often the
 * cell that it falls in was divided.
 */
extern KanonStatus kanon_histogram_cells(KanonEnv *env, const KanonPoints *points, const bool *half,
										 uint64_t t, uint8_t *divisions);

/*
 * A whole number, x with a probability in proportion to exp(-x^2 / 2^(2 bits + 1)): the discrete
 * Gaussian of standard deviation 2^bits (algorithm 3 of chance.h's paper), bits <= KANON_MOST_NOISE_BITS.
 */
extern int64_t kanon_gaussian(const KanonChance *chance, int bits);

/*
 * The logarithm of the noise's standard deviation, in places: the side of the cell for one
 * column, twice that up to 8, four times beyond (but no more than twice all of the range): the
 * cube root of the columns' number or more.  Of the noise's length, which grows with its square
 * root, the side alone would leave about half below the cell's diagonal.
 */
static inline int
kanon_noise_bits(uint8_t divisions, int ncolumns)
{
	int bits = KANON_PLACE_BITS - divisions;

	for (int n = 1; n < ncolumns && bits < KANON_MOST_NOISE_BITS; n *= 8)
		bits++;
	return bits;
}

/*
 * Cross-training: in every column each point is moved by Gaussian noise, as wide as its cell in
 * the histogram of the other half says.
 */
extern KanonStatus kanon_cross_train(KanonEnv *env, const KanonChance *chance, const KanonPoints *points,
									 uint64_t t, int64_t *moved, uint8_t *divisions);

/* Points in a space, as they are compared. */
typedef struct KanonSpace
{
	uint32_t n;
	const double *at; /* [n * ncolumns] finite */
} KanonSpace;

typedef struct KanonIsolation
{
	uint32_t isolated;  /* points of the source that some released point isolates */
	uint32_t isolating; /* released points that isolate one or more */
} KanonIsolation;

/*
 * A released point q isolates a point x of the source when fewer than t points of the source
 * (x is one of them) are no farther from q than c times as far as x; c >= 1, t >= 1.
 */
extern KanonStatus kanon_isolation_count(KanonEnv *env, const KanonSpace *source, const KanonSpace *released,
										 int ncolumns, double c, uint64_t t, KanonIsolation *found);

#endif
