/*
 * question.h: counts, sums, means and histograms of rows by groups, with noise.
 *
 * Two tables are neighbours when one has all rows of one subject more than the other.  Of
 * each subject at most `contributions` rows are taken, by chance, and what a row adds
 * is bounded, so a subject moves all true figures together by no more than a known
 * amount, which the noise hides: (epsilon, delta)-differential privacy (C. Dwork,
 * F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data
 * analysis", TCC 2006; the geometric noise: A. Ghosh, T. Roughgarden, M. Sundararajan,
 * "Universally utility-maximizing privacy mechanisms", STOC 2009).
 *
 * Groups are declared, and all of them answered; or they are found in the rows, and only
 * those answered whose noisy count reaches a threshold, which a group of a single subject
 * does with a probability of at most delta (A. Korolova, K. Kenthapadi, N. Mishra,
 * A. Ntoulas, "Releasing search queries and clicks privately", WWW 2009).
 */
#ifndef KANON_QUESTION_H
#define KANON_QUESTION_H

#include "noise/chance.h"

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

/* What comes of it: a group has as many figures as there are bins. */
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

#endif
