/*
 * alpha_beta.c: tuples kept, and others added, by chance.
 */
#include "noise/noise.h"
#include "util/pace.h"

#include <math.h>

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
