/*
 * synthesis.c: rows drawn from a noisy model of a table (Dirichlet-multinomial).
 */
#include "noise/noise.h"
#include "util/pace.h"

#include <math.h>

/* Terms of a sum below this share of it are left to the last one's geometric series. */
#define NEGLIGIBLE 1e-12

static double
log_beta(double a, double b)
{
	return lgamma(a) + lgamma(b) - lgamma(a + b);
}

/*
 * P(X > least) of the beta-binomial distribution: n draws from an urn with a of one kind and b
 * of the other.  The ratio of a term to the one before falls as x grows past the mode, so what
 * follows a term is no more than its geometric series.
 */
static double
tail(double least, double n, double a, double b)
{
	double x = floor(least) + 1, term, sum = 0;

	if (x > n)
		return 0;
	if (x <= 0)
		return 1;
	term = exp(-log(n + 1) - log_beta(n - x + 1, x + 1) + log_beta(x + a, n - x + b) - log_beta(a, b));
	for (; x <= n; x++)
	{
		double ratio = (n - x) * (x + a) / ((x + 1) * (n - x - 1 + b));

		sum += term;
		if (ratio < 1 && term * ratio / (1 - ratio) < NEGLIGIBLE * sum)
			return fmin(sum + term * ratio / (1 - ratio), 1);
		term *= ratio;
	}
	return fmin(sum, 1);
}

/*
 * A tuple of c rows tells too much with some probability f(c); all of them with no more than
 * the sum.  The rows of all are nrows, so the sum is at most nrows times the greatest f(c) / c,
 * and the tuples without a row come to it.
 */
double
kanon_synthesis_delta(const KanonSynthesis *synthesis, uint64_t noise, double limit)
{
	double each = (double) noise / KANON_NOISE_ONE, factor = expm1(synthesis->epsilon);
	double n = (double) synthesis->nrows, m = (double) synthesis->wanted;
	double all = n + each * (double) synthesis->domain;
	double empty = (double) synthesis->domain * tail(factor * each, m, each, all - each);
	double most = 0;

	for (double c = 1; c <= n && factor * (c - 1 + each) < m && n * most + empty <= limit; c++)
	{
		double least = factor * (c - 1 + each), chance = tail(least, m, c + each, all - c - each);

		most = fmax(most, chance / c);
		/* far above the mean, and ever farther: it only falls from here on */
		if (least > m * (c + each) / all && chance / c <= NEGLIGIBLE * fmax(most, limit / n))
			break;
	}
	return fmin(n * most + empty, 1);
}

KanonStatus
kanon_synthesis_noise(KanonEnv *env, const KanonSynthesis *synthesis, uint64_t *noise)
{
	KanonPace pace = kanon_pace(env, "solve");
	/* with so much no outcome tells more than epsilon */
	double enough = ceil((double) synthesis->wanted / expm1(synthesis->epsilon) * KANON_NOISE_ONE);
	uint64_t low = 0, high;

	if (!(enough * (double) synthesis->domain < 0x1p62))
		return KANON_TOO_LARGE;
	high = enough < 1 ? 1 : (uint64_t) enough;
	while (high - low > 1)
	{
		uint64_t middle = low + (high - low) / 2;

		if (kanon_poll(&pace))
			return KANON_CANCELLED;
		if (kanon_synthesis_delta(synthesis, middle, synthesis->delta) <= synthesis->delta)
			high = middle;
		else
			low = middle;
	}
	*noise = high;
	return KANON_OK;
}

/* The tuple of row number `row`, as they are sorted; sums[i]: rows before tuple i. */
static uint64_t
tuple_of_row(const KanonTuples *tuples, const int64_t *sums, int64_t row)
{
	size_t low = 0, high = tuples->n;

	while (high - low > 1)
	{
		size_t middle = low + (high - low) / 2;

		if (sums[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return tuples->tuple[low];
}

/*
 * Polya's urn: a ball is drawn, put back, and another one of its tuple with it.  Noise is
 * `noise` thousandths of a ball of each tuple of the domain, a row a whole one.
 */
KanonStatus
kanon_synthesize(KanonEnv *env, const KanonChance *chance, const KanonTuples *tuples, int64_t wanted,
				 uint64_t noise, KanonDrawn *drawn)
{
	KanonPace pace = kanon_pace(env, "solve");
	uint64_t of_noise = noise * tuples->domain;
	int64_t *sums = kanon_alloc(env, tuples->n + 1, sizeof(int64_t));
	KanonStatus status = kanon_poll(&pace) ? KANON_CANCELLED : KANON_OK;

	if (sums == NULL || !kanon_enlarge(env, &drawn->tuple, &drawn->room, (size_t) wanted, sizeof(uint64_t)))
		status = KANON_NO_MEMORY;
	for (size_t i = 0, before = 0; i < tuples->n && status == KANON_OK; i++)
	{
		sums[i] = (int64_t) before;
		before += (size_t) tuples->rows[i];
	}
	while (status == KANON_OK && drawn->n < (size_t) wanted)
	{
		uint64_t rows = (uint64_t) tuples->nrows + drawn->n;
		uint64_t ball = kanon_chance_below(chance, of_noise + rows * KANON_NOISE_ONE);

		if (ball < of_noise)
			drawn->tuple[drawn->n] = ball / noise;
		else
		{
			uint64_t row = (ball - of_noise) / KANON_NOISE_ONE;

			drawn->tuple[drawn->n] = row < (uint64_t) tuples->nrows
										 ? tuple_of_row(tuples, sums, (int64_t) row)
										 : drawn->tuple[row - (uint64_t) tuples->nrows];
		}
		drawn->n++;
		if (kanon_stop(&pace, 64))
			status = KANON_CANCELLED;
	}
	kanon_free(env, sums);
	return status;
}

/* ---- Tuples kept, and others added, by chance ---- */

/*
 * With r the ratio that (alpha + beta) / beta may have, and q = d / gamma, the two
 * inequalities are a <= r beta and 1 - a >= q (1 - beta).  Less beta means fewer tuples that
 * can be kept, more means more noise: they meet at beta = (1 - q) / (r - q).
 */
bool
kanon_alpha_beta_find(double d, double gamma, KanonAlphaBeta *found)
{
	double r = gamma * (1 - d) / (d * (1 - gamma)), q = d / gamma;

	if (!(d > 0 && d < gamma && gamma < 1))
		return false;
	found->beta = (1 - q) / (r - q);
	found->alpha = (r - 1) * found->beta;
	return found->beta > 0 && found->alpha > 0;
}

/* In ]0, 1[. */
static double
uniform(const KanonChance *chance)
{
	return ((double) (chance->draw(chance->arg) >> 11) + 0.5) / 9007199254740992.0;
}

static bool
put(KanonEnv *env, KanonDrawn *drawn, uint64_t tuple)
{
	if (!kanon_enlarge(env, &drawn->tuple, &drawn->room, drawn->n + 1, sizeof(uint64_t)))
		return false;
	drawn->tuple[drawn->n++] = tuple;
	return true;
}

/* The tuple that is number `absent` of those that the table does not have; *before: of its tuples, those before. */
static uint64_t
absent_tuple(const KanonTuples *tuples, uint64_t absent, size_t *before)
{
	while (*before < tuples->n && tuples->tuple[*before] <= absent + *before)
		(*before)++;
	return absent + *before;
}

/*
 * From one tuple that is added to the next there is a geometric number of those that are
 * not: only what is added is ever looked at, and how many there are is binomial.
 */
static KanonStatus
add_absent(KanonEnv *env, const KanonChance *chance, KanonPace *pace, const KanonTuples *tuples, double beta,
		   KanonDrawn *drawn)
{
	uint64_t absent = tuples->domain - tuples->n, next = 0;
	double rate = log1p(-beta);
	size_t before = 0;

	for (;;)
	{
		double gap = floor(log(uniform(chance)) / rate);

		if (!(gap < (double) (absent - next)))
			return KANON_OK;
		next += (uint64_t) gap;
		if (!put(env, drawn, absent_tuple(tuples, next, &before)))
			return KANON_NO_MEMORY;
		if (kanon_stop(pace, 16))
			return KANON_CANCELLED;
		next++;
	}
}

KanonStatus
kanon_alpha_beta_draw(KanonEnv *env, const KanonChance *chance, const KanonTuples *tuples,
					  const KanonAlphaBeta *with, KanonDrawn *drawn)
{
	KanonPace pace = kanon_pace(env, "solve");

	if (kanon_poll(&pace))
		return KANON_CANCELLED;
	for (size_t i = 0; i < tuples->n; i++)
	{
		if (uniform(chance) < with->alpha + with->beta && !put(env, drawn, tuples->tuple[i]))
			return KANON_NO_MEMORY;
		if (kanon_stop(&pace, 8))
			return KANON_CANCELLED;
	}
	drawn->kept = drawn->n;
	return add_absent(env, chance, &pace, tuples, with->beta, drawn);
}
