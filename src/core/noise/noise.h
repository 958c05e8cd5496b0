/*
 * noise.h: noise
 */
#ifndef KANON_NOISE_H
#define KANON_NOISE_H

#include "kanon.h"
#include "util/number.h"

/*
 * ---- question.c: draws of an exact probability, made of random bits by integers alone.
 *
 * C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
 * NeurIPS 2020, algorithms 1 and 2.  Noise that is computed in floating point tells by
 * its last digits what it was added to (I. Mironov, "On significance of the least
 * significant bits for differential privacy", CCS 2012).
 */

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

/*
 * ---- points: rows of numbers as points: published with noise, and looked for by who knows
 * something like it.
 *
 * S. Chawla, C. Dwork, F. McSherry, A. Smith, H. Wee, "Toward privacy in public databases",
 * TCC 2005.
 */

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
 * Gaussian of standard deviation 2^bits (algorithm 3 of noise.h's paper), bits <= KANON_MOST_NOISE_BITS.
 */
extern int64_t kanon_gaussian(const KanonChance *chance, int bits);

/*
 * The logarithm of the noise's standard deviation, in places: the side of the cell for one
 * column, twice that up to 8, four times beyond (but no more than twice all of the range): the
 * cube root of the columns' number or more.  The side alone would leave about half of the
 * noise's length, which grows with its square root, below the cell's diagonal.
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

/*
 * ---- question.c: counts, sums, means and histograms of rows by groups, with noise.
 *
 * Two tables are neighbours when one has all rows of one subject more than the other.  At
 * most `contributions` rows of each subject are taken, by chance.  The sum that a row
 * adds is bounded.  So a subject moves all true figures together by no more than a known
 * amount, which the noise hides: (epsilon, delta)-differential privacy (C. Dwork, F.
 * McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data
 * analysis", TCC 2006; the geometric noise: A. Ghosh, T. Roughgarden, M. Sundararajan,
 * "Universally utility-maximizing privacy mechanisms", STOC 2009).
 *
 * Groups are declared, and all of them answered; or they are found in the rows, and only
 * those answered whose noisy count reaches a threshold, which a group of a single subject
 * does with a probability of at most delta (A. Korolova, K. Kenthapadi, N. Mishra,
 * A. Ntoulas, "Releasing search queries and clicks privately", WWW 2009).
 */

/* epsilon is counted in these: decimal fractions are exact. */
#define KANON_EPSILON_ONE UINT64_C(1000000)
#define KANON_MOST_EPSILON (1000 * KANON_EPSILON_ONE)

/* So that a sensitivity in millionths is below 2^62. */
#define KANON_MOST_SENSITIVITY (UINT64_C(1) << 40)

typedef enum KanonAggregate
{
	KANON_AGGREGATE_COUNT,
	KANON_AGGREGATE_SUM,
	KANON_AGGREGATE_MEAN,
	KANON_AGGREGATE_HISTOGRAM
} KanonAggregate;

typedef struct KanonQuestion
{
	KanonEnv *env;
	KanonChance chance;
	KanonAggregate aggregate;
	uint64_t epsilon;       /* of the whole answer, in millionths: 1 .. KANON_MOST_EPSILON */
	double delta;           /* groups are found, and this is the chance; 0: they are declared */
	uint32_t contributions; /* rows of a subject, at most: >= 1 */
	int64_t lower, upper;   /* sum and mean: of a row's value; lower < upper */
	uint32_t bins;          /* histogram: >= 1; the others: 1 */
} KanonQuestion;

/* The result: a group has as many figures as there are bins. */
typedef struct KanonTally KanonTally;

/* How far a subject moves the figures; 0: further than KANON_MOST_SENSITIVITY. */
extern uint64_t kanon_sensitivity(const KanonQuestion *question);

/* Into how many equal parts epsilon is divided: a mean asks for a sum and a count. */
extern int kanon_question_parts(const KanonQuestion *question);

/* The noisy count from which on a group that was found is told. */
extern double kanon_threshold(const KanonQuestion *question);

/* NULL: no memory.  The question stays the caller's, as it is. */
extern KanonTally *kanon_tally_begin(const KanonQuestion *question);

/*
 * A row of a group.  The rows of a subject come one after the other; `value` is in
 * lower .. upper, of a histogram the number of the bin, of a count nothing.
 */
extern KanonStatus kanon_tally_row(KanonTally *tally, uint64_t subject, uint32_t group, int64_t value);

/* No more rows; there are so many groups, with rows or without. */
extern KanonStatus kanon_tally_end(KanonTally *tally, uint32_t ngroups);

typedef struct KanonFigure
{
	KanonWide value; /* with noise: a count or a sum */
	double mean;     /* within lower .. upper */
} KanonFigure;

/*
 * Each group once, after the end: false when it is not told, and then nothing of it
 * may be; else its figures [bins].
 */
extern bool kanon_tally_answer(KanonTally *tally, uint32_t group, KanonFigure *figures);
extern void kanon_tally_free(KanonTally *tally);

/* A number as a whole number of steps, within lower .. upper; not a NaN. */
extern int64_t kanon_grid_step(double number, double step, int64_t lower, int64_t upper);

/* The bin of a number, of as many equal ones from lower to upper; what is outside is in the outermost. */
extern uint32_t kanon_grid_bin(double number, double lower, double upper, uint32_t bins);

/*
 * ---- tuples: tables that are drawn anew from a domain: all combinations of some values of
 * each column, numbered, of which no list is ever made.
 */

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

/* The drawn rows, in no particular order. */
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
 * which one row is another.  If x rows of a tuple are drawn that has c rows and loses one, the
 * ratio is at most 1 + x / (c - 1 + noise); if it gets another, 1 + x / (c + noise).
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

/* The probability of such an outcome is at most this, of whatever table of so many rows; above the limit any number. */
extern double kanon_synthesis_delta(const KanonSynthesis *synthesis, uint64_t noise, double limit);

/* The least noise, in thousandths, that keeps delta. */
extern KanonStatus kanon_synthesis_noise(KanonEnv *env, const KanonSynthesis *synthesis, uint64_t *noise);

extern KanonStatus kanon_synthesize(KanonEnv *env, const KanonChance *chance, const KanonTuples *tuples,
									int64_t wanted, uint64_t noise, KanonDrawn *drawn);

#endif
