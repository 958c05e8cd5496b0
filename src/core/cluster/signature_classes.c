/*
 * signature_classes.c: the persons of each signature become classes that have its values in equal numbers.
 *
 * They are divided as Mondrian does (LeFevre et al. 2006), but so that as many rows with each value come to each side: each
 * value has a median of its own.  They are divided by the quasi-identifier whose halves lose the least.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "cluster/signatures.h"
#include "model/model.h"
#include "util/fault.h"
#include "util/sort.h"

/* Persons with each value who say where a large part had better be divided. */
#define SAMPLE 512

/* So few persons are divided by what they lose; of more each side has one in so many. */
#define FEW 96
#define SHARE 8

typedef struct Division
{
	const KanonProblem *problem;
	ClusterLayout layout;
	ClusterParts parts;
	KanonScratch scratch;
	KanonPace pace;
	uint32_t *rank[KANON_MAX_QIS]; /* [distinct] place of each code of level 0 in the order to divide by */

	/* of the signature at hand: */
	uint32_t values;
	uint32_t least;   /* rows with each value that a class has at least */
	uint32_t n;       /* persons with each value */
	uint32_t *person; /* [values * n] those of each value together */
	uint64_t *key;    /* [n] persons in an order */
	uint64_t *room;   /* [n] */
	double *after;    /* [SAMPLE] what those from a place on lose */
	uint32_t *sample; /* [values * SAMPLE] */
	uint32_t *from;   /* [nfrom] where parts begin that wait */
	size_t nfrom, from_room;
	uint64_t random;
} Division;

/* ---- orders ---- */

typedef struct Codes
{
	const KanonColumn *column; /* and its levels after it */
	int levels;
	const int64_t *frequency; /* [distinct], or NULL */
	const uint32_t *type;     /* [distinct] a row type that has the code */
} Codes;

/* Those that are the same on a level are together; without levels the most frequent come first. */
static int
compare_codes(const void *a, const void *b, void *arg)
{
	const Codes *codes = arg;
	uint32_t left = *(const uint32_t *) a, right = *(const uint32_t *) b;

	if (codes->frequency != NULL && codes->frequency[left] != codes->frequency[right])
		return codes->frequency[left] > codes->frequency[right] ? -1 : 1;
	for (int l = codes->levels; l-- > 1;)
	{
		uint32_t above = codes->column[l].code[codes->type[left]];
		uint32_t other = codes->column[l].code[codes->type[right]];

		if (above != other)
			return above < other ? -1 : 1;
	}
	return left < right ? -1 : left > right;
}

static KanonStatus
rank_codes(Division *d, int q)
{
	const ClusterQi *qi = &d->layout.qi[q];
	const KanonColumn *column = cluster_column(&d->layout, qi);
	size_t mark;
	uint32_t *order, *room, *type;
	int64_t *frequency;

	d->rank[q] = kanon_take(&d->scratch, column->distinct, sizeof(uint32_t));
	mark = kanon_mark(&d->scratch);
	order = kanon_take(&d->scratch, column->distinct, sizeof(uint32_t));
	room = kanon_take(&d->scratch, column->distinct, sizeof(uint32_t));
	type = kanon_take0(&d->scratch, column->distinct, sizeof(uint32_t));
	frequency = kanon_take0(&d->scratch, column->distinct, sizeof(int64_t));
	if (d->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < d->problem->ntypes; i++)
	{
		type[column->code[i]] = i;
		frequency[column->code[i]]++;
	}
	for (uint32_t code = 0; code < column->distinct; code++)
		order[code] = code;
	if (qi->levels > 1 || qi->number == NULL)
	{
		Codes codes = {column, qi->levels, qi->levels > 1 ? NULL : frequency, type};

		kanon_sort(order, room, column->distinct, sizeof(uint32_t), compare_codes, &codes);
	}
	for (uint32_t i = 0; i < column->distinct; i++)
		d->rank[q][order[i]] = i;
	kanon_release(&d->scratch, mark);
	return kanon_stop(&d->pace, (uint64_t) d->problem->ntypes * 2) ? KANON_CANCELLED : KANON_OK;
}

/* In the order of a quasi-identifier, and by number where that is the same. */
static uint64_t
key_of(const Division *d, int q, uint32_t person)
{
	return (uint64_t) d->rank[q][cluster_column(&d->layout, &d->layout.qi[q])->code[person]] << 32 | person;
}

static uint64_t
next_random(Division *d)
{
	d->random = d->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return d->random >> 33;
}

/* Brings the least `half` of n different keys to the front. */
static void
select_least(Division *d, uint64_t *key, size_t n, size_t half)
{
	size_t low = 0, high = n;

	while (high - low > 1)
	{
		uint64_t pivot = key[low + next_random(d) % (high - low)], swapped;
		size_t left = low, right = high - 1;

		for (;;)
		{
			while (key[left] < pivot)
				left++;
			while (key[right] > pivot)
				right--;
			if (left >= right)
				break;
			swapped = key[left];
			key[left] = key[right];
			key[right] = swapped;
		}
		/* the pivot is at `left` */
		if (left == half)
			return;
		if (left < half)
			low = left + 1;
		else
			high = left;
	}
}

/* ---- what is lost ---- */

static void
start_hull(const Division *d, KanonHull *hull)
{
	for (int c = 0; c < d->problem->ncolumns; c++)
		hull[c] = (KanonHull){UINT32_MAX, 0};
}

static void
widen_hull(const Division *d, KanonHull *hull, uint32_t person)
{
	for (int c = 0; c < d->problem->ncolumns; c++)
	{
		uint32_t code = d->problem->columns[c].code[person];

		hull[c].low = code < hull[c].low ? code : hull[c].low;
		hull[c].high = code > hull[c].high ? code : hull[c].high;
	}
}

/*
 * How far the persons of a part are apart, in the measure of what they lose: of few what they would lose as a class, of many (from
 * whom much will be divided still) how much of its values a quasi-identifier has.
 */
static double
spread(const Division *d, const KanonHull *hull, bool few)
{
	KanonPattern pattern;
	double sum = 0;

	if (few)
		return cluster_hidden(&d->layout, hull, &pattern);
	for (int q = 0; q < d->layout.nqis; q++)
	{
		const ClusterQi *qi = &d->layout.qi[q];
		const KanonColumn *column = cluster_column(&d->layout, qi);
		const KanonHull *own = &hull[qi->first];

		if (own->low == own->high)
			continue;
		if (qi->levels == 1 && qi->number != NULL)
			sum += qi->weight * cluster_share(qi, own->low, own->high);
		else
			sum += qi->weight * (own->high - own->low) / (column->distinct - 1);
	}
	return sum;
}

/*
 * The best place to divide a sample by a quasi-identifier, in persons with each value, from `least` to n - least: *cut.
 * Gives what both sides lose there.
 */
static double
best_cut(Division *d, int q, uint32_t n, uint32_t least, uint32_t *cut)
{
	KanonHull hull[KANON_MAX_COLUMNS];
	bool few = (uint64_t) n * d->values <= FEW;
	double best = INFINITY;

	for (uint32_t v = 0; v < d->values; v++)
	{
		uint32_t *person = d->sample + (size_t) v * SAMPLE;

		for (uint32_t i = 0; i < n; i++)
			d->key[i] = key_of(d, q, person[i]);
		kanon_sort(d->key, d->room, n, sizeof(uint64_t), kanon_compare_longs, NULL);
		for (uint32_t i = 0; i < n; i++)
			person[i] = (uint32_t) d->key[i];
	}
	start_hull(d, hull);
	for (uint32_t i = n; i-- > least;)
	{
		for (uint32_t v = 0; v < d->values; v++)
			widen_hull(d, hull, d->sample[(size_t) v * SAMPLE + i]);
		d->after[i] = spread(d, hull, few) * (n - i);
	}
	start_hull(d, hull);
	for (uint32_t i = 0; i < n - least; i++)
	{
		double loss;

		for (uint32_t v = 0; v < d->values; v++)
			widen_hull(d, hull, d->sample[(size_t) v * SAMPLE + i]);
		if (i + 1 < least)
			continue;
		loss = spread(d, hull, few) * (i + 1) + d->after[i + 1];
		if (loss < best)
		{
			best = loss;
			*cut = i + 1;
		}
	}
	return best;
}

/* ---- division ---- */

/* The quasi-identifier to divide by, and *half: where; -1: all persons are the same. */
static int
choose_axis(Division *d, uint32_t from, uint32_t to, uint32_t *half)
{
	uint32_t all = to - from, n = all < SAMPLE ? all : SAMPLE;
	/* (of many some on each side, so that not one after the other is divided off) */
	uint32_t least = all == n ? d->least : 1;
	KanonHull hull[KANON_MAX_COLUMNS];
	double lowest = INFINITY;
	int best = -1;

	if (least < n / SHARE)
		least = n / SHARE;
	start_hull(d, hull);
	for (uint32_t v = 0; v < d->values; v++)
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t person = d->person[(size_t) v * d->n + from + (uint64_t) i * all / n];

			d->sample[(size_t) v * SAMPLE + i] = person;
			widen_hull(d, hull, person);
		}
	for (int q = 0; q < d->layout.nqis; q++)
	{
		const KanonHull *own = &hull[d->layout.qi[q].first];
		uint32_t cut = 0;
		double loss;

		if (own->low == own->high)
			continue;
		loss = best_cut(d, q, n, least, &cut);
		if (loss < lowest)
		{
			best = q;
			lowest = loss;
			*half = (uint32_t) ((uint64_t) cut * all / n);
		}
	}
	*half = *half < d->least ? d->least : *half > all - d->least ? all - d->least : *half;
	return best;
}

static KanonStatus
take_class(Division *d, uint32_t from, uint32_t to)
{
	for (uint32_t v = 0; v < d->values; v++)
		for (uint32_t i = from; i < to; i++)
			if (!kanon_parts_add(
					d->problem->env, &d->parts, d->person[(size_t) v * d->n + i],
					FAULT(values_unequal) && v == 0 && i == 0 ? KANON_DROPPED : d->parts.nclusters, 1))
				return KANON_NO_MEMORY;
	d->parts.nclusters++;
	return KANON_OK;
}

/* Those who are first by the quasi-identifier, of each value as many, come to the front. */
static void
divide_by(Division *d, int q, uint32_t from, uint32_t to, uint32_t half)
{
	for (uint32_t v = 0; v < d->values; v++)
	{
		uint32_t *person = d->person + (size_t) v * d->n;

		for (uint32_t i = from; i < to; i++)
			d->key[i - from] = key_of(d, q, person[i]);
		select_least(d, d->key, to - from, half);
		for (uint32_t i = from; i < to; i++)
			person[i] = (uint32_t) d->key[i - from];
	}
}

static KanonStatus
divide_persons(Division *d)
{
	uint32_t to = d->n;
	KanonStatus status = KANON_OK;

	d->nfrom = 0;
	if (!KANON_GROW(&d->scratch, &d->from_room, 1, KANON_ARRAY(d->from)))
		return KANON_NO_MEMORY;
	d->from[d->nfrom++] = 0;
	while (d->nfrom > 0 && status == KANON_OK)
	{
		uint32_t from = d->from[d->nfrom - 1];
		uint32_t classes = (to - from) / d->least, half = 0;
		int q = classes < 2 ? -1 : choose_axis(d, from, to, &half);

		if (kanon_stop(&d->pace, (uint64_t) d->values * (to - from) * 16))
			return KANON_CANCELLED;
		if (q >= 0)
			divide_by(d, q, from, to, half);
		/* (persons who are all the same would look alike in two classes, too) */
		if (classes < 2 || q < 0)
		{
			status = take_class(d, from, to);
			to = from;
			d->nfrom--;
			continue;
		}
		if (!KANON_GROW(&d->scratch, &d->from_room, d->nfrom + 1, KANON_ARRAY(d->from)))
			return KANON_NO_MEMORY;
		d->from[d->nfrom++] = from + half;
	}
	return status;
}

/* ---- the signatures one by one ---- */

/* The persons of each signature and value, in the order of both. */
typedef struct Shown
{
	size_t *first; /* [places + 1] */
	uint32_t *person;
} Shown;

static KanonStatus
list_shown(Division *d, const KanonNight *night, const KanonSignatures *signatures, const uint32_t *now,
		   Shown *shown)
{
	size_t places = signatures->n > 0 ? signatures->first[signatures->n] : 0;

	shown->first = kanon_take0(&d->scratch, places + 2, sizeof(size_t));
	shown->person = kanon_take(&d->scratch, night->persons, sizeof(uint32_t));
	if (d->scratch.failed)
		return KANON_NO_MEMORY;
	for (int pass = 0; pass < 2; pass++)
	{
		for (uint32_t i = 0; i < night->persons; i++)
		{
			size_t place;

			if (now[i] == KANON_NO_SIGNATURE)
				continue;
			place = signatures->first[now[i]];
			while (signatures->value[place] != night->value[i])
				place++;
			if (pass == 0)
				shown->first[place + 2]++;
			else
				shown->person[shown->first[place + 1]++] = i;
		}
		for (size_t place = 0; place < places && pass == 0; place++)
			shown->first[place + 2] += shown->first[place + 1];
	}
	return kanon_stop(&d->pace, (uint64_t) night->persons * 8) ? KANON_CANCELLED : KANON_OK;
}

static KanonStatus
divide_signature(Division *d, const KanonSignatures *signatures, uint32_t signature, const Shown *shown)
{
	size_t first = signatures->first[signature], mark = kanon_mark(&d->scratch);
	KanonStatus status;

	d->values = (uint32_t) (signatures->first[signature + 1] - first);
	d->n = (uint32_t) (shown->first[first + 1] - shown->first[first]);
	d->least = kanon_signature_least(d->problem->k, d->values);
	if (d->n == 0)
		return KANON_OK;
	d->from = NULL;
	d->from_room = 0;
	d->person = kanon_take(&d->scratch, (size_t) d->values * d->n, sizeof(uint32_t));
	d->key = kanon_take(&d->scratch, d->n, sizeof(uint64_t));
	d->room = kanon_take(&d->scratch, d->n, sizeof(uint64_t));
	d->after = kanon_take(&d->scratch, SAMPLE, sizeof(double));
	d->sample = kanon_take(&d->scratch, (size_t) d->values * SAMPLE, sizeof(uint32_t));
	status = kanon_taken(&d->scratch);
	if (status == KANON_OK)
	{
		memcpy(d->person, shown->person + shown->first[first], sizeof(uint32_t) * d->values * d->n);
		status = divide_persons(d);
	}
	kanon_release(&d->scratch, mark);
	return status;
}

static KanonStatus
divide_all(Division *d, const KanonNight *night, const KanonSignatures *signatures, const uint32_t *now)
{
	Shown shown = {0};
	KanonStatus status = KANON_OK;

	cluster_layout(d->problem, &d->layout);
	for (int q = 0; q < d->layout.nqis && status == KANON_OK; q++)
		status = rank_codes(d, q);
	if (status == KANON_OK)
		status = list_shown(d, night, signatures, now, &shown);
	for (uint32_t s = 0; s < signatures->n && status == KANON_OK; s++)
		status = divide_signature(d, signatures, s, &shown);
	for (uint32_t i = 0; i < night->persons && status == KANON_OK; i++)
		if (now[i] == KANON_NO_SIGNATURE && !kanon_parts_add(d->problem->env, &d->parts, i, KANON_DROPPED, 1))
			status = KANON_NO_MEMORY;
	return status;
}

KanonStatus
kanon_signatures_solve(const KanonProblem *problem, const KanonNight *night,
					   const KanonSignatures *signatures, const uint32_t *now, KanonRelease *release,
					   KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	Division d = {.problem = problem,
				  .scratch = {.env = env},
				  .pace = kanon_pace(env, "divide"),
				  .random = problem->seed};
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	report->lower_bound = -INFINITY;
	status = divide_all(&d, night, signatures, now);
	kanon_scratch_free(&d.scratch);
	if (status == KANON_OK && d.parts.nclusters == 0)
		status = kanon_release_nobody(problem, release, report);
	else if (status == KANON_OK)
		status = cluster_conclude(&d.layout, &d.parts, release, report);
	kanon_parts_free(env, &d.parts);
	report->seconds = env->now(env->arg) - start;
	return status;
}
