/*
 * shares.c: what share of a population belongs to a class and to none before it.
 *
 * It is added up value by value, once for each set of classes before that the values so far match; where
 * that takes too long it is not known, and no such class is made.  What shows nothing has what the others
 * leave.
 */
#include <math.h>
#include <string.h>

#include "model/shown.h"
#include "privacy/counted.h"
#include "privacy/turns.h"
#include "util/hash.h"

/* Steps to find out a share. */
#define MAX_STEPS ((uint64_t) 1 << 26)

/* Parts of it that are remembered, and classes in these. */
#define SLOTS ((size_t) 1 << 17)
#define MAX_KNOWN (SLOTS / 2)
#define MAX_KNOWN_CLASSES ((size_t) 1 << 20)

/* ---- what a row of a population matches ---- */

static bool
matches(const KanonPopulation *population, int c, uint32_t i, KanonCell cell, const uint32_t *pool)
{
	uint32_t code = population->code[c][i];
	const uint32_t *part;
	uint32_t low = 0, high;

	if (!kanon_shows_several(cell))
		return cell.show == KANON_SHOW_NOTHING || code == cell.code;
	part = pool + cell.code;
	if (cell.show == KANON_SHOW_RANGE)
	{
		if (code == KANON_FOREIGN && population->below[c] != NULL)
			return part[0] < population->below[c][i] && population->below[c][i] <= part[1];
		return part[0] <= code && code <= part[1];
	}
	for (high = *part++; low < high;)
	{
		uint32_t middle = low + (high - low) / 2;

		if (part[middle] < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < part[-1] && part[low] == code;
}

/* What a class can show in a column lies between these codes. */
static void
span_of(KanonCell cell, const uint32_t *pool, uint32_t *low, uint32_t *high)
{
	*low = 0;
	*high = UINT32_MAX;
	if (cell.show == KANON_SHOW_VALUE)
		*low = *high = cell.code;
	else if (kanon_shows_several(cell))
	{
		const uint32_t *part = pool + cell.code;
		bool range = cell.show == KANON_SHOW_RANGE;

		*low = part[range ? 0 : 1];
		*high = part[range ? 1 : part[0]];
	}
}

/* Have two sets, in order, a code in common? */
static bool
sets_meet(const uint32_t *a, const uint32_t *b, KanonPace *pace)
{
	uint32_t i = 1, j = 1;

	while (i <= a[0] && j <= b[0] && a[i] != b[j])
	{
		if (a[i] < b[j])
			i++;
		else
			j++;
	}
	pace->work += i + j;
	return i <= a[0] && j <= b[0];
}

/* Could a row match both? */
static bool
may_overlap(const KanonCell *a, const KanonCell *b, const uint32_t *pool, int ncolumns, KanonPace *pace)
{
	for (int c = 0; c < ncolumns; c++)
	{
		uint32_t low[2], high[2];

		span_of(a[c], pool, &low[0], &high[0]);
		span_of(b[c], pool, &low[1], &high[1]);
		if (low[0] > high[1] || low[1] > high[0])
			return false;
		if (a[c].show == KANON_SHOW_SET && b[c].show == KANON_SHOW_SET &&
			!sets_meet(pool + a[c].code, pool + b[c].code, pace))
			return false;
	}
	return true;
}

/* ---- shares ---- */

typedef struct Left
{
	KanonPresence *presence;
	const KanonPopulation *population;
	const KanonCell *box; /* what the class shows */
	const uint32_t *pool;
	double
		own[KANON_MAX_COLUMNS + 1]; /* by quasi-identifier: share that matches it there and in all after it */
	uint64_t steps;
} Left;

static bool
matches_value(const Left *left, int q, uint32_t value, const KanonCell *cells)
{
	int c = left->presence->first[q];

	while (c < left->presence->first[q + 1] && matches(left->population, c, value, cells[c], left->pool))
		c++;
	return c == left->presence->first[q + 1];
}

static const KnownShare *
known_at(const struct Turns *turns, uint32_t slot)
{
	uint32_t i = turns->slots[slot];

	return i < turns->nknown && turns->known[i].slot == slot ? &turns->known[i] : NULL;
}

/* Where it is remembered what these leave, or would be. */
static uint32_t
known_slot(const struct Turns *turns, int q, const KanonCell *const *before, size_t n)
{
	uint64_t hash = kanon_mix((uint64_t) q);

	for (size_t i = 0; i < n; i++)
		hash = kanon_hash_add(hash, (uint64_t) (uintptr_t) before[i]);
	for (;; hash++)
	{
		uint32_t slot = (uint32_t) (hash & (SLOTS - 1));
		const KnownShare *known = known_at(turns, slot);

		if (known == NULL || (known->q == q && known->n == n &&
							  memcmp(turns->known_classes + known->from, before, n * sizeof(*before)) == 0))
			return slot;
	}
}

/* Remembers it, as long as there is room (the same in every run). */
static void
remember(KanonPresence *presence, int q, const KanonCell *const *before, size_t n, double share)
{
	struct Turns *turns = presence->turns;
	uint32_t slot;

	if (turns->nknown == MAX_KNOWN || turns->nclasses + n > MAX_KNOWN_CLASSES ||
		!KANON_GROW(&presence->scratch, &turns->known_room, turns->nknown + 1, KANON_ARRAY(turns->known)) ||
		!KANON_GROW(&presence->scratch, &turns->classes_room, turns->nclasses + n,
					KANON_ARRAY(turns->known_classes)))
		return;
	slot = known_slot(turns, q, before, n);
	memcpy(turns->known_classes + turns->nclasses, before, n * sizeof(*before));
	turns->known[turns->nknown] = (KnownShare){q, slot, n, turns->nclasses, share};
	turns->slots[slot] = (uint32_t) turns->nknown++;
	turns->nclasses += n;
}

/* The share, by the quasi-identifiers from q on, of what the class matches and none of the n before does. */
static double
left_share(Left *left, int q, const KanonCell *const *before, size_t n)
{
	KanonPresence *presence = left->presence;
	const KanonPopulation *population = left->population;
	const KanonCell **some;
	double sum = 0, none = 0, every = 0;
	const KnownShare *known;

	if (n == 0)
		return left->own[q];
	if (q == presence->nqis)
		return 0;
	left->steps += n;
	known = known_at(presence->turns, known_slot(presence->turns, q, before, n));
	if (known != NULL)
		return known->share;
	some = presence->turns->some + (size_t) q * presence->turns->some_room;
	for (uint32_t v = 0; v < population->nvalues[q]; v++)
	{
		size_t m = 0;

		left->steps += n + 1;
		if (kanon_stop(&presence->pace, n + 1) || left->steps > MAX_STEPS)
			return NAN;
		if (population->share[q][v] <= 0 || !matches_value(left, q, v, left->box))
			continue;
		for (size_t i = 0; i < n; i++)
			if (matches_value(left, q, v, before[i]))
				some[m++] = before[i];
		if (m == 0)
			none += population->share[q][v];
		else if (m == n)
			every += population->share[q][v];
		else
			sum += population->share[q][v] * left_share(left, q + 1, some, m);
	}
	if (none > 0)
		sum += none * left->own[q + 1];
	if (every > 0)
		sum += every * left_share(left, q + 1, before, n);
	remember(presence, q, before, n, sum);
	return sum;
}

KanonStatus
turns_share(KanonPresence *presence, const KanonPopulation *population, const KanonCell *box,
			const KanonCell *before, size_t n, const uint32_t *pool, double *share)
{
	struct Turns *turns = presence->turns;
	size_t ncolumns = (size_t) presence->problem->ncolumns;
	Left left = {.presence = presence, .population = population, .box = box, .pool = pool};
	size_t room = (size_t) presence->nqis + 1;
	size_t found = 0;
	size_t shown = 0;

	while (shown < ncolumns && box[shown].show == KANON_SHOW_NOTHING)
		shown++;
	if (shown == ncolumns)
	{
		*share = presence->others[population - presence->problem->populations];
		return KANON_OK;
	}
	turns->nknown = turns->nclasses = 0;
	if (n + 1 > turns->some_room)
	{
		kanon_drop(&presence->scratch, turns->some);
		turns->some_room = n + n / 2 + 64;
		turns->some = kanon_take(&presence->scratch, turns->some_room, room * sizeof(*turns->some));
	}
	if (presence->scratch.failed)
		return KANON_NO_MEMORY;
	left.own[presence->nqis] = 1;
	for (int q = presence->nqis - 1; q >= 0; q--)
	{
		left.own[q] = 0;
		for (uint32_t v = 0; v < population->nvalues[q]; v++)
			if (matches_value(&left, q, v, box))
				left.own[q] += population->share[q][v] * left.own[q + 1];
		if (kanon_stop(&presence->pace, population->nvalues[q]))
			return KANON_CANCELLED;
	}
	/* the last row of `some` has those that may overlap */
	for (size_t i = 0; i < n; i++)
	{
		if (kanon_stop(&presence->pace, 2))
			return KANON_CANCELLED;
		if (may_overlap(box, before + i * ncolumns, pool, (int) ncolumns, &presence->pace))
			turns->some[(room - 1) * turns->some_room + found++] = before + i * ncolumns;
	}
	if (found > 0 && turns->slots == NULL)
		turns->slots = kanon_take0(&presence->scratch, SLOTS, sizeof(uint32_t));
	if (presence->scratch.failed)
		return KANON_NO_MEMORY;
	*share = left_share(&left, 0, turns->some + (room - 1) * turns->some_room, found);
	return presence->pace.cancelled ? KANON_CANCELLED : kanon_taken(&presence->scratch);
}
