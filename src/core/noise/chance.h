/*
 * chance.h: draws of an exact probability, made of random bits by integers alone.
 *
 * C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
 * NeurIPS 2020, algorithms 1 and 2.  Noise that is computed in floating point tells by
 * its last digits what it was added to (I. Mironov, "On significance of the least
 * significant bits for differential privacy", CCS 2012).
 */
#ifndef KANON_CHANCE_H
#define KANON_CHANCE_H

#include "kanon.h"
#include "util/random.h"

/* Aligned as the host's memory is. */
__extension__ typedef __int128 KanonWide __attribute__((aligned(8)));

/* Where random bits come from. */
typedef struct KanonChance
{
	KanonDraw draw;
	void *arg;
} KanonChance;

/* 0 .. n - 1, each as likely; n >= 1. */
extern uint64_t kanon_chance_below(const KanonChance *chance, uint64_t n);

/* True with probability exp(-part / whole); part <= whole, whole >= 1. */
extern bool kanon_chance_exp(const KanonChance *chance, uint64_t part, uint64_t whole);

/*
 * A whole number, x with a probability in proportion to exp(-|x| * epsilon / sensitivity):
 * the two-sided geometric (discrete Laplace) distribution.  Both are in 1 .. 2^62.
 */
extern KanonWide kanon_noise(const KanonChance *chance, uint64_t sensitivity, uint64_t epsilon);

/* The least m such that noise is beyond -m .. m with a probability of at most `beyond`. */
extern double kanon_noise_margin(double sensitivity, double epsilon, double beyond);

#endif
