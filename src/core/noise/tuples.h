/*
 * tuples.h: tables that are drawn anew from a domain: all combinations of some values of
 * each column, numbered, of which no list is ever made.
 */
#ifndef KANON_TUPLES_H
#define KANON_TUPLES_H

#include "noise/chance.h"

/* Combinations of a domain, at most. */
#define KANON_MOST_TUPLES (UINT64_C(1) << 40)

/* Tuples that a table has, in ascending order, and how many rows each. */
typedef struct KanonTuples
{
	size_t n;
	const uint64_t *tuple; /* [n] */
	const int64_t *rows;   /* [n] >= 1 */
	int64_t nrows;
	uint64_t domain; /* 1 .. KANON_MOST_TUPLES */
} KanonTuples;

/* What was drawn, in no particular order. */
typedef struct KanonDrawn
{
	size_t n;
	size_t room;
	uint64_t *tuple; /* [n] */
	size_t kept;     /* of alpha-beta: those that the table has, which come first */
} KanonDrawn;

/*
 * V. Rastogi, D. Suciu, S. Hong, "The boundary between privacy and utility in data
 * publishing", VLDB 2007: each tuple of the table is kept with probability alpha + beta,
 * each other one of the domain added with probability beta.
 *
 * Somebody believes of a tuple, and of each independently of the others, that it is there with
 * a probability of at most d (or knows that it is).  After the release that is at most gamma,
 * and it has not become less than d / gamma times what it was.  With a = alpha + beta:
 *
 *   d a / (d a + (1 - d) beta) <= gamma      (of a tuple that is published)
 *   (1 - a) / (1 - beta) >= d / gamma        (of one that is not)
 *
 * Both are equations where the error of estimates is least.
 */
typedef struct KanonAlphaBeta
{
	double alpha;
	double beta;
} KanonAlphaBeta;

/* False: gamma is not above d, or one of them not between 0 and 1. */
extern bool kanon_alpha_beta_find(double d, double gamma, KanonAlphaBeta *found);

extern KanonStatus kanon_alpha_beta_draw(KanonEnv *env, const KanonChance *chance, const KanonTuples *tuples,
										 const KanonAlphaBeta *with, KanonDrawn *drawn);

/*
 * A. Machanavajjhala, D. Kifer, J. Abowd, J. Gehrke, L. Vilhuber, "Privacy: theory meets
 * practice on the map", ICDE 2008: rows are drawn from the distribution that one believes in
 * after seeing the table, when one began with `noise` rows of each tuple: a
 * Dirichlet-multinomial distribution, drawn by Polya's urn.
 *
 * (epsilon, delta)-probabilistic differential privacy: with a probability of at least 1 - delta
 * what comes out is no more than exp(epsilon) times as likely, or less, than from any table in
 * which one row is another.  Of x rows of a tuple that has c rows and loses one, the ratio is
 * at most 1 + x / (c - 1 + noise); of one that gets another, 1 + x / (c + noise).
 */
typedef struct KanonSynthesis
{
	int64_t nrows; /* of the table */
	uint64_t domain;
	int64_t wanted; /* rows to draw, >= 1 */
	double epsilon; /* > 0 */
	double delta;   /* in ]0, 1[ */
} KanonSynthesis;

/* The noise is counted in these. */
#define KANON_NOISE_ONE 1000

/* The probability of such an outcome is at most this, of whatever table of so many rows. */
extern double kanon_synthesis_delta(const KanonSynthesis *synthesis, uint64_t noise);

/* The least noise, in thousandths, that keeps delta. */
extern KanonStatus kanon_synthesis_noise(KanonEnv *env, const KanonSynthesis *synthesis, uint64_t *noise);

extern KanonStatus kanon_synthesize(KanonEnv *env, const KanonChance *chance, const KanonTuples *tuples,
									int64_t wanted, uint64_t noise, KanonDrawn *drawn);

#endif
