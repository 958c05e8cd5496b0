/*
 * question.c: rows are tallied, and figures come out with noise.
 */
#include "noise/noise.h"
#include "util/pace.h"

#include <math.h>

/* A row that may be taken. */
typedef struct Row
{
	uint32_t group;
	int64_t value;
} Row;

struct KanonTally
{
	const KanonQuestion *question;
	KanonPace pace;
	int64_t centre; /* of a mean: what its sum is counted from */
	uint32_t ngroups;
	size_t room;
	int64_t *rows;   /* [ngroups] */
	size_t cells;    /* room */
	KanonWide *sums; /* [ngroups * bins] counts of a histogram */

	/* the subject at hand */
	uint64_t subject;
	uint64_t seen; /* rows of it so far; 0: there is none */
	Row *taken;    /* [contributions] of which these are taken */
	size_t taken_room;
};

/* Between lower and upper; the sums of a mean then move as little as they can. */
static int64_t
centre_of(const KanonQuestion *question)
{
	return question->aggregate == KANON_AGGREGATE_MEAN
			   ? question->lower + (question->upper - question->lower) / 2
			   : 0;
}

static bool
has_sums(const KanonQuestion *question)
{
	return question->aggregate == KANON_AGGREGATE_SUM || question->aggregate == KANON_AGGREGATE_MEAN;
}

/* How far a row moves a sum. */
static uint64_t
reach(const KanonQuestion *question)
{
	int64_t centre = centre_of(question);
	uint64_t below = question->lower < centre ? (uint64_t) centre - (uint64_t) question->lower : 0;
	uint64_t above = question->upper > centre ? (uint64_t) question->upper - (uint64_t) centre : 0;

	if (!has_sums(question))
		return 1;
	return below > above ? below : above;
}

uint64_t
kanon_sensitivity(const KanonQuestion *question)
{
	uint64_t each = reach(question);

	return each > KANON_MOST_SENSITIVITY / question->contributions ? 0 : each * question->contributions;
}

int
kanon_question_parts(const KanonQuestion *question)
{
	if (question->aggregate == KANON_AGGREGATE_MEAN)
		return 2;
	/* whether a group is told is asked of its count, which a count has anyway */
	return question->delta > 0 && question->aggregate != KANON_AGGREGATE_COUNT ? 2 : 1;
}

/*
 * With a = exp(-rate), noise is m or more with probability a^m / (1 + a) for m >= 1.  The
 * c rows of a subject are in one group, or in several that have nobody else; the chance
 * that one of these is told is greatest when all c are in one, or each in its own.
 */
double
kanon_threshold(const KanonQuestion *question)
{
	double c = question->contributions;
	double epsilon = (double) question->epsilon / (double) KANON_EPSILON_ONE / kanon_question_parts(question);
	double rate = epsilon / c;
	double together = c, apart = 1 + log(c) / rate;
	double most = together > apart ? together : apart;
	double tail = -log(question->delta * (1 + exp(-rate))) / rate;

	/* m is at least 1; and one more than it takes, for these are floating point */
	return ceil(most + (tail > 1 ? tail : 1)) + 1;
}

KanonTally *
kanon_tally_begin(const KanonQuestion *question)
{
	KanonTally *tally = kanon_alloc0(question->env, 1, sizeof(KanonTally));

	if (tally == NULL)
		return NULL;
	tally->question = question;
	tally->pace = kanon_pace(question->env, "read");
	tally->centre = centre_of(question);
	return tally;
}

/* Groups up to this one, those that are new without rows. */
static KanonStatus
make_groups(KanonTally *tally, uint32_t ngroups)
{
	KanonEnv *env = tally->question->env;
	size_t bins = tally->question->bins;

	if (ngroups <= tally->ngroups)
		return KANON_OK;
	if (!kanon_enlarge(env, &tally->rows, &tally->room, ngroups, sizeof(int64_t)) ||
		!kanon_enlarge(env, &tally->sums, &tally->cells, ngroups * bins, sizeof(KanonWide)))
		return KANON_NO_MEMORY;
	for (size_t g = tally->ngroups; g < ngroups; g++)
		tally->rows[g] = 0;
	for (size_t i = tally->ngroups * bins; i < ngroups * bins; i++)
		tally->sums[i] = 0;
	tally->ngroups = ngroups;
	return KANON_OK;
}

/* The rows of a subject that are taken. */
static KanonStatus
settle(KanonTally *tally)
{
	const KanonQuestion *question = tally->question;
	uint64_t n = tally->seen < question->contributions ? tally->seen : question->contributions;

	for (uint64_t i = 0; i < n; i++)
	{
		const Row *row = &tally->taken[i];
		KanonStatus status = make_groups(tally, row->group + 1);

		if (status != KANON_OK)
			return status;
		tally->rows[row->group]++;
		if (question->aggregate == KANON_AGGREGATE_HISTOGRAM)
			tally->sums[(size_t) row->group * question->bins + (size_t) row->value]++;
		else if (has_sums(question))
			tally->sums[row->group] += row->value - tally->centre;
	}
	tally->seen = 0;
	return kanon_stop(&tally->pace, 4 * n + 1) ? KANON_CANCELLED : KANON_OK;
}

/* When a person has more rows than count, a reservoir takes each with the same chance. */
KanonStatus
kanon_tally_row(KanonTally *tally, uint64_t subject, uint32_t group, int64_t value)
{
	const KanonQuestion *question = tally->question;
	uint64_t place;

	if (tally->seen > 0 && tally->subject != subject)
	{
		KanonStatus status = settle(tally);

		if (status != KANON_OK)
			return status;
	}
	tally->subject = subject;
	place = tally->seen++;
	if (place >= question->contributions)
		place = kanon_chance_below(&question->chance, tally->seen);
	if (place >= question->contributions)
		return KANON_OK;
	if (!kanon_enlarge(question->env, &tally->taken, &tally->taken_room, place + 1, sizeof(Row)))
		return KANON_NO_MEMORY;
	tally->taken[place] = (Row){group, value};
	return KANON_OK;
}

KanonStatus
kanon_tally_end(KanonTally *tally, uint32_t ngroups)
{
	KanonStatus status = settle(tally);

	return status == KANON_OK ? make_groups(tally, ngroups) : status;
}

static KanonWide
noise(const KanonQuestion *question, uint64_t sensitivity)
{
	return kanon_noise(&question->chance,
					   sensitivity * KANON_EPSILON_ONE * (uint64_t) kanon_question_parts(question),
					   question->epsilon);
}

/* The mean of rows of which sum and count are noisy. */
static double
mean(const KanonQuestion *question, KanonWide sum, KanonWide count)
{
	double value = (double) centre_of(question) + (double) sum / (count > 1 ? (double) count : 1);

	return fmin(fmax(value, (double) question->lower), (double) question->upper);
}

bool
kanon_tally_answer(KanonTally *tally, uint32_t group, KanonFigure *figures)
{
	const KanonQuestion *question = tally->question;
	const KanonWide *sums = &tally->sums[(size_t) group * question->bins];
	KanonWide count = 0;

	if (question->delta > 0 || question->aggregate == KANON_AGGREGATE_COUNT ||
		question->aggregate == KANON_AGGREGATE_MEAN)
		count = tally->rows[group] + noise(question, question->contributions);
	/* none of a group's rows was taken: a subject can be the only one in any number of these */
	if (question->delta > 0 && (tally->rows[group] == 0 || (double) count < kanon_threshold(question)))
		return false;
	if (question->aggregate == KANON_AGGREGATE_COUNT)
	{
		figures[0] = (KanonFigure){.value = count};
		return true;
	}
	for (uint32_t bin = 0; bin < question->bins; bin++)
	{
		figures[bin].value = sums[bin] + noise(question, kanon_sensitivity(question));
		if (question->aggregate == KANON_AGGREGATE_MEAN)
			figures[bin].mean = mean(question, figures[bin].value, count);
	}
	return true;
}

void
kanon_tally_free(KanonTally *tally)
{
	KanonEnv *env;

	if (tally == NULL)
		return;
	env = tally->question->env;
	kanon_free(env, tally->rows);
	kanon_free(env, tally->sums);
	kanon_free(env, tally->taken);
	kanon_free(env, tally);
}

int64_t
kanon_grid_step(double number, double step, int64_t lower, int64_t upper)
{
	double steps = round(number / step);

	if (steps <= (double) lower)
		return lower;
	return steps >= (double) upper ? upper : (int64_t) steps;
}

uint32_t
kanon_grid_bin(double number, double lower, double upper, uint32_t bins)
{
	double bin = floor((number - lower) / (upper - lower) * bins);

	if (!(bin > 0))
		return 0;
	return bin >= bins ? bins - 1 : (uint32_t) bin;
}

/* ---- Draws of an exact probability, and noise made of them ---- */

uint64_t
kanon_chance_below(const KanonChance *chance, uint64_t n)
{
	/* numbers below this one are left over when all are dealt to n */
	uint64_t over = (0 - n) % n;
	uint64_t number;

	do
		number = chance->draw(chance->arg);
	while (number < over);
	return number % n;
}

/*
 * The first k at which a draw of part / (whole * k) fails is odd with this probability:
 * the series of exp(-x), whose terms alternate.
 */
bool
kanon_chance_exp(const KanonChance *chance, uint64_t part, uint64_t whole)
{
	uint64_t k = 1;

	while (kanon_chance_below(chance, whole) < part && kanon_chance_below(chance, k) == 0)
		k++;
	return k % 2 == 1;
}

/* A geometric number of whole sensitivities and a share of one, in steps of epsilon; with a sign. */
KanonWide
kanon_noise(const KanonChance *chance, uint64_t sensitivity, uint64_t epsilon)
{
	for (;;)
	{
		uint64_t share = kanon_chance_below(chance, sensitivity);
		KanonWide whole = 0, size;
		bool negative;

		if (!kanon_chance_exp(chance, share, sensitivity))
			continue;
		while (kanon_chance_exp(chance, 1, 1))
			whole++;
		size = (whole * sensitivity + share) / epsilon;
		negative = kanon_chance_below(chance, 2) == 1;
		/* or 0 would come twice as often */
		if (!negative || size > 0)
			return negative ? -size : size;
	}
}

/* P(|x| > m) = 2 a^(m + 1) / (1 + a) with a = exp(-epsilon / sensitivity). */
double
kanon_noise_margin(double sensitivity, double epsilon, double beyond)
{
	double rate = epsilon / sensitivity;
	double margin = ceil(-log(beyond * (1 + exp(-rate)) / 2) / rate) - 1;

	return margin > 0 ? margin : 0;
}
