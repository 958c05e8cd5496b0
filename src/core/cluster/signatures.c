/*
 * signatures.c: persons stay among the same values in every release.
 *
 * m-invariance (Xiao and Tao, "m-Invariance: Towards Privacy Preserving Re-publication of Dynamic Datasets", SIGMOD 2007):
 * a class has as many rows with each value of a signature, and a person has the same signature in every release.
 * Permuting the values of a signature among its persons, in all releases at once, gives what readers see again.  So
 * nobody can say more of a value than that it is one of them.
 *
 * There are no made-up rows.  A person who leaves is replaced by a joiner with the same value.  Where nobody joins, others of
 * the signature wait.  A person with another value than those of the signature takes one that has no value in common with it
 * (after Li and Zhou, "Against Attacks on Republished Data with Permanent and Transient Attributes", m-distinct, 2008): that the
 * value is not in the old signature then excludes nothing of the new one.
 */
#include <string.h>

#include "cluster/signatures.h"
#include "util/pace.h"
#include "util/scratch.h"
#include "util/sort.h"

/* ---- those who may take any place, and those who stay ---- */

/* Persons with one value who need a signature, by the one that they had: the next to take is at `head`. */
typedef struct Supply
{
	uint32_t value;
	uint32_t before;
	size_t from, head, to; /* in the order */
} Supply;

typedef struct Assignment
{
	const KanonNight *night;
	KanonSignatures *signatures;
	uint32_t *now;
	KanonScratch scratch;
	KanonPace pace;
	uint32_t nbefore; /* signatures that were there */
	uint32_t *order;  /* [persons] by what they are, since when they wait, and number */
	size_t *
		stay; /* [places of signatures + 1] where those begin who stay, by signature and value; [room_stay] */
	Supply *supply; /* [nsupplies] by value; of those who had no signature the last */
	size_t nsupplies;
	size_t *first;    /* [values + 1] the supplies of each value */
	uint32_t *served; /* [nbefore] signatures, those first of whom somebody waits for the longest time */
	int64_t *rows;    /* [room] rows that are shown with each value of a signature */
	bool *closed;     /* [room] it cannot be classes tonight */
	size_t room, room_stay;
} Assignment;

/* A person among those who are served in turn. */
typedef struct Turn
{
	size_t group; /* a place of a signature, or behind all of them the value */
	uint32_t before;
	int64_t since;
	uint32_t person;
} Turn;

static int
compare_turns(const void *a, const void *b, void *arg)
{
	const Turn *left = a, *right = b;

	(void) arg;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	if (left->before != right->before)
		return left->before < right->before ? -1 : 1;
	if (left->since != right->since)
		return left->since < right->since ? -1 : 1;
	return left->person < right->person ? -1 : left->person > right->person;
}

/* The beginnings of all groups, from the turns in their order. */
static void
find_groups(Assignment *a, const Turn *turn)
{
	const KanonNight *night = a->night;
	size_t places = kanon_signature_places(a->signatures), at = 0;

	for (size_t i = 0; i < night->persons; i++)
		a->order[i] = turn[i].person;
	for (size_t place = 0; place < places; place++)
	{
		a->stay[place] = at;
		while (at < night->persons && turn[at].group == place)
			at++;
	}
	a->stay[places] = at;
	for (uint32_t value = 0; value < night->values; value++)
	{
		a->first[value] = a->nsupplies;
		while (at < night->persons && turn[at].group == places + value)
		{
			Supply *supply = &a->supply[a->nsupplies++];

			*supply = (Supply){value, turn[at].before, at, at, at};
			while (supply->to < night->persons && turn[supply->to].group == places + value &&
				   turn[supply->to].before == supply->before)
				supply->to++;
			at = supply->to;
		}
	}
	a->first[night->values] = a->nsupplies;
}

/* Division: who stays, and who needs a signature. */
static KanonStatus
divide(Assignment *a)
{
	const KanonNight *night = a->night;
	size_t places = kanon_signature_places(a->signatures);
	Turn *turn = kanon_take(&a->scratch, night->persons, sizeof(Turn));
	Turn *room = kanon_take(&a->scratch, night->persons, sizeof(Turn));

	a->order = kanon_take(&a->scratch, night->persons, sizeof(uint32_t));
	a->supply = kanon_take(&a->scratch, night->persons, sizeof(Supply));
	a->first = kanon_take(&a->scratch, (size_t) night->values + 1, sizeof(size_t));
	if (a->scratch.failed || !KANON_GROW(&a->scratch, &a->room_stay, places + 1, KANON_ARRAY(a->stay)))
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < night->persons; i++)
	{
		uint32_t before = night->before[i];
		size_t place = before != KANON_NO_SIGNATURE
						   ? kanon_signature_place(a->signatures, before, night->value[i])
						   : SIZE_MAX;

		turn[i] = (Turn){place != SIZE_MAX ? place : places + night->value[i], place != SIZE_MAX ? 0 : before,
						 night->since[i], i};
	}
	if (kanon_stop(&a->pace, (uint64_t) night->persons * 16))
		return KANON_CANCELLED;
	kanon_sort(turn, room, night->persons, sizeof(Turn), compare_turns, NULL);
	find_groups(a, turn);
	kanon_drop(&a->scratch, turn);
	kanon_drop(&a->scratch, room);
	return kanon_stop(&a->pace, (uint64_t) night->persons * 16) ? KANON_CANCELLED : KANON_OK;
}

static int64_t
count_stay(const Assignment *a, size_t place)
{
	return (int64_t) (a->stay[place + 1] - a->stay[place]);
}

/* ---- supplies ---- */

/* May those who had that signature take this set of values? */
static bool
fits(const Assignment *a, uint32_t before, const uint32_t *value, uint32_t n)
{
	for (uint32_t i = 0; i < n && before != KANON_NO_SIGNATURE; i++)
		if (kanon_signature_has(a->signatures, before, value[i]))
			return false;
	return true;
}

/* How many with the i-th of these values are left who may take them. */
static int64_t
count_supply(const Assignment *a, const uint32_t *value, uint32_t n, uint32_t i)
{
	int64_t left = 0;

	if (value[i] >= a->night->values)
		return 0;
	for (size_t s = a->first[value[i]]; s < a->first[value[i] + 1]; s++)
		if (a->supply[s].head < a->supply[s].to && fits(a, a->supply[s].before, value, n))
			left += (int64_t) (a->supply[s].to - a->supply[s].head);
	return left;
}

/* So many of them take the signature; whose value has changed first, who fits fewer. */
static void
draw(Assignment *a, uint32_t signature, const uint32_t *value, uint32_t n, uint32_t i, int64_t rows)
{
	for (size_t s = a->first[value[i]]; rows > 0 && s < a->first[value[i] + 1]; s++)
	{
		Supply *supply = &a->supply[s];

		if (supply->head == supply->to || !fits(a, supply->before, value, n))
			continue;
		for (; rows > 0 && supply->head < supply->to; rows--)
			a->now[a->order[supply->head++]] = signature;
	}
}

/* Those who took a signature that is closed wait for another one. */
static void
give_back(Assignment *a)
{
	for (size_t s = 0; s < a->nsupplies; s++)
	{
		Supply *supply = &a->supply[s];
		size_t at = supply->from;

		for (size_t i = supply->from; i < supply->head; i++)
		{
			uint32_t person = a->order[i], signature = a->now[person];

			if (signature != KANON_NO_SIGNATURE && a->closed[signature])
			{
				a->now[person] = KANON_NO_SIGNATURE;
				continue;
			}
			a->order[i] = a->order[at];
			a->order[at++] = person;
		}
		supply->head = at;
	}
}

/* ---- balancing: the places of those who left ---- */

static uint32_t
count_values(const Assignment *a, uint32_t signature)
{
	return (uint32_t) (a->signatures->first[signature + 1] - a->signatures->first[signature]);
}

/*
 * Shows more rows of a signature with each value, as long as at most `most` of the values need a joiner for it, or
 * (most: all of them) until there are `wanted`.
 */
static void
advance(Assignment *a, uint32_t signature, uint32_t most, int64_t wanted)
{
	size_t first = a->signatures->first[signature];
	uint32_t n = count_values(a, signature);
	const uint32_t *value = &a->signatures->value[first];
	int64_t *rows = &a->rows[signature];

	while (*rows < wanted)
	{
		int64_t more = wanted - *rows;
		uint32_t needed = 0;

		for (uint32_t i = 0; i < n; i++)
			if (count_stay(a, first + i) <= *rows)
			{
				int64_t left = count_supply(a, value, n, i);

				needed++;
				more = left < more ? left : more;
			}
			else if (count_stay(a, first + i) - *rows < more)
				more = count_stay(a, first + i) - *rows;
		if (needed > most || more <= 0)
			return;
		for (uint32_t i = 0; i < n; i++)
			if (count_stay(a, first + i) <= *rows)
				draw(a, signature, value, n, i, more);
		*rows += more;
	}
}

static int64_t
count_most_stay(const Assignment *a, uint32_t signature)
{
	int64_t most = 0;

	for (size_t place = a->signatures->first[signature]; place < a->signatures->first[signature + 1]; place++)
		most = count_stay(a, place) > most ? count_stay(a, place) : most;
	return most;
}

static bool
has_too_few(const Assignment *a, uint32_t signature)
{
	return a->rows[signature] < kanon_signature_least(a->night->k, count_values(a, signature));
}

/* First the joiners who let most others be shown. */
static KanonStatus
balance(Assignment *a)
{
	uint32_t largest = 0;

	for (uint32_t s = 0; s < a->nbefore; s++)
		largest = count_values(a, s) > largest ? count_values(a, s) : largest;
	for (uint32_t most = 0; most <= largest; most++)
		for (uint32_t i = 0; i < a->nbefore; i++)
		{
			uint32_t s = a->served[i];

			if (kanon_stop(&a->pace, (uint64_t) count_values(a, s) * 16))
				return KANON_CANCELLED;
			if (!a->closed[s] && most < count_values(a, s))
				advance(a, s, most, count_most_stay(a, s));
			/* (so few that they would be no class) */
			else if (!a->closed[s] && most == count_values(a, s) && a->rows[s] > 0 && has_too_few(a, s))
				advance(a, s, most, kanon_signature_least(a->night->k, count_values(a, s)));
		}
	return KANON_OK;
}

/* ---- assignment: the joiners that are left ---- */

typedef struct Joiners
{
	int64_t *left;  /* [values] those who are still to be placed */
	int64_t groups; /* of l persons with different values: as many as `left` can be divided into */
	KanonKeyed *by; /* [values] values, the most frequent first */
	KanonKeyed *room;
	uint32_t *chosen; /* [l] */
} Joiners;

/* Persons of whom at most one of each value is in each of so many groups. */
static int64_t
count_among(const Assignment *a, const Joiners *j, int64_t groups)
{
	int64_t sum = 0;

	for (uint32_t v = 0; v < a->night->values; v++)
		sum += j->left[v] < groups ? j->left[v] : groups;
	return sum;
}

/* The most groups there can be: so many that each of them has l of those. */
static void
count_groups(const Assignment *a, Joiners *j, bool changed)
{
	const KanonNight *night = a->night;
	int64_t low = 0, high, sum = 0;

	for (uint32_t v = 0; v < night->values; v++)
	{
		j->left[v] = 0;
		for (size_t s = a->first[v]; s < a->first[v + 1]; s++)
			if (changed || a->supply[s].before == KANON_NO_SIGNATURE)
				j->left[v] += (int64_t) (a->supply[s].to - a->supply[s].head);
		sum += j->left[v];
	}
	for (high = sum / night->l; low < high;)
	{
		int64_t middle = low + (high - low + 1) / 2;

		if (count_among(a, j, middle) >= middle * night->l)
			low = middle;
		else
			high = middle - 1;
	}
	j->groups = low;
}

/*
 * How many groups can have these values, while the others can be divided into the rest; or `least`, even if they
 * cannot.
 */
static int64_t
count_rows(const Assignment *a, Joiners *j, const uint32_t *value, uint32_t n, int64_t least)
{
	int64_t most = j->groups, wanted = j->groups * n, low = 0, high, all;

	for (uint32_t i = 0; i < n; i++)
	{
		int64_t left = count_supply(a, value, n, i);

		left = left > 0 && j->left[value[i]] < left ? j->left[value[i]] : left;
		most = left < most ? left : most;
	}
	if (most <= 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		wanted -= j->left[value[i]] < j->groups ? j->left[value[i]] : j->groups;
	for (high = most; low < high;)
	{
		int64_t middle = low + (high - low + 1) / 2;

		all = count_among(a, j, j->groups - middle);
		for (uint32_t i = 0; i < n; i++)
			all -= j->left[value[i]] < j->groups - middle ? j->left[value[i]] : j->groups - middle;
		if (all >= wanted)
			low = middle;
		else
			high = middle - 1;
	}
	return low < least && most >= least ? least : low;
}

/* True: so many more rows are shown of the signature, with each value. */
static bool
place_rows(Assignment *a, Joiners *j, uint32_t signature, int64_t rows)
{
	uint32_t n = count_values(a, signature);
	const uint32_t *value = &a->signatures->value[a->signatures->first[signature]];
	int64_t wanted = a->rows[signature] + rows;

	advance(a, signature, n, wanted);
	for (uint32_t i = 0; i < n; i++)
		j->left[value[i]] -= j->left[value[i]] < rows ? j->left[value[i]] : rows;
	j->groups -= rows;
	return a->rows[signature] == wanted;
}

/* Signatures that are there: fewer and larger ones need fewer joiners every night. */
static KanonStatus
join(Assignment *a, Joiners *j)
{
	for (uint32_t s = 0; s < a->nbefore && j->groups > 0; s++)
	{
		uint32_t n = count_values(a, s);
		int64_t least = kanon_signature_least(a->night->k, n) - a->rows[s], rows;

		if (kanon_stop(&a->pace, (uint64_t) a->night->values * n))
			return KANON_CANCELLED;
		if (a->closed[s] || n != a->night->l || count_most_stay(a, s) > a->rows[s])
			continue;
		rows = count_rows(a, j, &a->signatures->value[a->signatures->first[s]], n, least);
		if (rows > 0 && rows >= least)
			(void) place_rows(a, j, s, rows);
	}
	return KANON_OK;
}

/* The most frequent values, in their order. */
static void
choose(const Assignment *a, Joiners *j)
{
	uint32_t l = a->night->l;

	for (uint32_t v = 0; v < a->night->values; v++)
		j->by[v] = (KanonKeyed){(double) -j->left[v], v};
	kanon_sort(j->by, j->room, a->night->values, sizeof(KanonKeyed), kanon_compare_keyed, NULL);
	for (uint32_t i = 0; i < l; i++)
		j->chosen[i] = j->by[i].item;
	kanon_sort(j->chosen, j->room, l, sizeof(uint32_t), kanon_compare_numbers, NULL);
}

/* The signature of the chosen values, which is new unless there is one. */
static KanonStatus
find_signature(Assignment *a, const Joiners *j, uint32_t *signature)
{
	uint32_t l = a->night->l;

	for (uint32_t s = 0; s < a->signatures->n; s++)
		if (count_values(a, s) == l &&
			memcmp(&a->signatures->value[a->signatures->first[s]], j->chosen, sizeof(uint32_t) * l) == 0)
		{
			*signature = s;
			a->closed[s] = false;
			return KANON_OK;
		}
	*signature = a->signatures->n;
	if (!KANON_GROW(&a->scratch, &a->room, (size_t) *signature + 1, KANON_ARRAY(a->rows),
					KANON_ARRAY(a->closed)) ||
		!KANON_GROW(&a->scratch, &a->room_stay, kanon_signature_places(a->signatures) + l + 1,
					KANON_ARRAY(a->stay)) ||
		!kanon_signatures_add(a->night->env, a->signatures, j->chosen, l))
		return KANON_NO_MEMORY;
	a->rows[*signature] = 0;
	a->closed[*signature] = false;
	/* nobody stays in it */
	for (size_t place = a->signatures->first[*signature]; place < a->signatures->first[*signature + 1];
		 place++)
		a->stay[place + 1] = a->stay[place];
	return KANON_OK;
}

/* Signatures of the most frequent values; *stuck: those whose value has changed do not fit, or too few are left. */
static KanonStatus
found(Assignment *a, Joiners *j, bool *stuck)
{
	const KanonNight *night = a->night;
	int64_t least = kanon_signature_least(night->k, night->l);

	*stuck = false;
	while (j->groups > 0 && night->values >= night->l && !*stuck)
	{
		uint32_t s;
		int64_t rows;
		KanonStatus status;

		if (kanon_stop(&a->pace, (uint64_t) night->values * (night->l + 8)))
			return KANON_CANCELLED;
		choose(a, j);
		rows = count_rows(a, j, j->chosen, night->l, least);
		*stuck = rows < least;
		if (*stuck)
			return KANON_OK;
		status = find_signature(a, j, &s);
		if (status != KANON_OK)
			return status;
		*stuck = !place_rows(a, j, s, rows);
	}
	return KANON_OK;
}

static KanonStatus
assign(Assignment *a, Joiners *j)
{
	KanonStatus status = KANON_OK;
	bool stuck = true;

	for (int turn = 0; turn < 2 && stuck && status == KANON_OK; turn++)
	{
		count_groups(a, j, turn == 0);
		status = join(a, j);
		if (status == KANON_OK)
			status = found(a, j, &stuck);
	}
	return status;
}

/* ---- all of it ---- */

/* Signatures in the order in which they are served: by the person who waits for the longest time. */
static KanonStatus
find_turns(Assignment *a)
{
	KanonKeyed *turn = kanon_take(&a->scratch, a->nbefore, sizeof(KanonKeyed));
	KanonKeyed *room = kanon_take(&a->scratch, a->nbefore, sizeof(KanonKeyed));

	a->served = kanon_take(&a->scratch, a->nbefore, sizeof(uint32_t));
	if (a->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t s = 0; s < a->nbefore; s++)
	{
		int64_t since = INT64_MAX;

		/* (in each group the first waits for the longest time) */
		for (size_t place = a->signatures->first[s]; place < a->signatures->first[s + 1]; place++)
			if (count_stay(a, place) > 0 && a->night->since[a->order[a->stay[place]]] < since)
				since = a->night->since[a->order[a->stay[place]]];
		turn[s] = (KanonKeyed){(double) since, s};
	}
	kanon_sort(turn, room, a->nbefore, sizeof(KanonKeyed), kanon_compare_keyed, NULL);
	for (uint32_t s = 0; s < a->nbefore; s++)
		a->served[s] = turn[s].item;
	kanon_drop(&a->scratch, turn);
	kanon_drop(&a->scratch, room);
	return KANON_OK;
}

/* Too few for a class: all of them wait, and joiners are placed elsewhere. */
static bool
close_small(Assignment *a)
{
	bool some = false;

	for (uint32_t s = 0; s < a->signatures->n; s++)
		if (!a->closed[s] && has_too_few(a, s))
		{
			some = some || a->rows[s] > 0;
			a->closed[s] = true;
			a->rows[s] = 0;
		}
	if (some)
		give_back(a);
	return some;
}

/* Those who stay come first; joiners have the places that are left. */
static void
show_stayers(Assignment *a)
{
	for (uint32_t s = 0; s < a->nbefore; s++)
		for (size_t place = a->signatures->first[s]; place < a->signatures->first[s + 1]; place++)
			for (int64_t i = 0; i < count_stay(a, place) && i < a->rows[s]; i++)
				a->now[a->order[a->stay[place] + (size_t) i]] = s;
}

static KanonStatus
assign_all(Assignment *a)
{
	size_t values = a->night->values;
	Joiners j = {.left = kanon_take(&a->scratch, values, sizeof(int64_t)),
				 .by = kanon_take(&a->scratch, values, sizeof(KanonKeyed)),
				 .room = kanon_take(&a->scratch, values, sizeof(KanonKeyed)),
				 .chosen = kanon_take(&a->scratch, (size_t) a->night->l, sizeof(uint32_t))};
	KanonStatus status = kanon_taken(&a->scratch);

	if (status == KANON_OK)
		status = assign(a, &j);
	if (status == KANON_OK && close_small(a))
		status = assign(a, &j);
	if (status != KANON_OK)
		return status;
	(void) close_small(a);
	show_stayers(a);
	return KANON_OK;
}

KanonStatus
kanon_signatures_assign(const KanonNight *night, KanonSignatures *signatures, uint32_t *now)
{
	Assignment a = {.night = night,
					.signatures = signatures,
					.now = now,
					.scratch = {.env = night->env},
					.pace = kanon_pace(night->env, "signatures"),
					.nbefore = signatures->n};
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < night->persons; i++)
		now[i] = KANON_NO_SIGNATURE;
	if (!KANON_GROW(&a.scratch, &a.room, (size_t) a.nbefore + 1, KANON_ARRAY(a.rows), KANON_ARRAY(a.closed)))
		status = KANON_NO_MEMORY;
	for (uint32_t s = 0; s < a.nbefore && status == KANON_OK; s++)
	{
		a.rows[s] = 0;
		a.closed[s] = false;
	}
	if (status == KANON_OK)
		status = divide(&a);
	if (status == KANON_OK)
		status = find_turns(&a);
	if (status == KANON_OK)
		status = balance(&a);
	if (status == KANON_OK)
		status = assign_all(&a);
	kanon_scratch_free(&a.scratch);
	return status;
}
