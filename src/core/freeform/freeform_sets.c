/*
 * freeform_sets.c: of all sets of k rows those whose record costs less than its rows are worth,
 * or little more: the pricing of column generation (Dantzig, Wolfe, "Decomposition principle
 * for linear programs", Operations Research 8, 1960).
 *
 * Rows are added to a set by descending price.  A record costs no less with one more row,
 * and no row that follows is worth more, so that most sets are passed over together.
 */
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/sort.h"

/* Sets for which there is room at first. */
#define FIRST_ROOM 64

static int
compare_prices(const void *a, const void *b, void *arg)
{
	const double *price = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	if (price[left] != price[right])
		return price[left] > price[right] ? -1 : 1;
	return left < right ? -1 : left > right;
}

static int
compare_found(const void *a, const void *b, void *arg)
{
	const FreeformSet *left = a;
	const FreeformSet *right = b;

	(void) arg;
	if (left->reduced != right->reduced)
		return left->reduced < right->reduced ? -1 : 1;
	return left->slot < right->slot ? -1 : left->slot > right->slot;
}

KanonStatus
freeform_sets_open(FreeformSets *sets)
{
	size_t cells = ((size_t) sets->work->k + 1) * (size_t) sets->work->ncolumns;

	sets->price = kanon_take0(sets->scratch, sets->ntypes, sizeof(double));
	sets->order = kanon_take(sets->scratch, sets->ntypes, 2 * sizeof(uint32_t));
	sets->chosen = kanon_take(sets->scratch, sets->work->k, sizeof(uint32_t));
	sets->low = kanon_take(sets->scratch, cells, sizeof(int32_t));
	sets->high = kanon_take(sets->scratch, cells, sizeof(int32_t));
	return kanon_taken(sets->scratch);
}

/* The least half is kept, and nothing above it is looked for any more. */
static KanonStatus
keep_half(FreeformSets *sets)
{
	size_t mark = kanon_mark(sets->scratch);
	FreeformSet *spare = kanon_take(sets->scratch, sets->n, sizeof(FreeformSet));

	if (spare == NULL)
		return KANON_NO_MEMORY;
	kanon_sort(sets->found, spare, (uint32_t) sets->n, sizeof(FreeformSet), compare_found, NULL);
	kanon_release(sets->scratch, mark);
	sets->n /= 2;
	sets->limit = sets->found[sets->n - 1].reduced;
	sets->cut = true;
	return KANON_OK;
}

static KanonStatus
add_set(FreeformSets *sets, double cost, double reduced)
{
	uint32_t k = sets->work->k;
	uint32_t *set;

	if (sets->n == sets->most)
	{
		KanonStatus status = keep_half(sets);

		if (status != KANON_OK || reduced > sets->limit)
			return status;
	}
	if (sets->n == sets->room)
	{
		size_t room = sets->room == 0 ? FIRST_ROOM : 2 * sets->room;
		FreeformSet *found;

		room = room < sets->most ? room : sets->most;
		found = kanon_take(sets->scratch, room, sizeof(FreeformSet));
		set = kanon_take(sets->scratch, room, k * sizeof(uint32_t));
		if (found == NULL || set == NULL)
			return KANON_NO_MEMORY;
		if (sets->room > 0)
		{
			memcpy(found, sets->found, sets->room * sizeof(FreeformSet));
			memcpy(set, sets->set, sets->room * k * sizeof(uint32_t));
		}
		for (size_t x = sets->room; x < room; x++)
			found[x].slot = (uint32_t) x;
		sets->found = found;
		sets->set = set;
		sets->room = room;
	}
	sets->found[sets->n].cost = cost;
	sets->found[sets->n].reduced = reduced;
	set = sets->set + (size_t) sets->found[sets->n++].slot * k;
	for (uint32_t x = 0; x < k; x++)
	{
		uint32_t at = x;

		for (; at > 0 && set[at - 1] > sets->chosen[x]; at--)
			set[at] = set[at - 1];
		set[at] = sets->chosen[x];
	}
	return KANON_OK;
}

/*
 * The cost that type t adds to a record of the first n chosen types; the values that it then shows
 * are kept for n + 1.
 */
static int64_t
grow(FreeformSets *sets, uint32_t n, uint32_t t)
{
	const FreeformWork *work = sets->work;
	const int32_t *low = sets->low + (size_t) n * (size_t) work->ncolumns;
	const int32_t *high = sets->high + (size_t) n * (size_t) work->ncolumns;
	int32_t *next_low = sets->low + ((size_t) n + 1) * (size_t) work->ncolumns;
	int32_t *next_high = sets->high + ((size_t) n + 1) * (size_t) work->ncolumns;
	int64_t more = 0;

	for (int c = 0; c < work->ncolumns; c++)
	{
		const KanonFreeformColumn *column = &work->space->columns[c];
		const int32_t *value = work->value[c];
		int32_t v = value[sets->first[t]];

		if (n == 0)
			next_low[c] = next_high[c] = v;
		else if (column->number)
		{
			int32_t was = high[c] - low[c];
			int32_t wide;

			next_low[c] = v < low[c] ? v : low[c];
			next_high[c] = v > high[c] ? v : high[c];
			wide = next_high[c] - next_low[c];
			more += (wide < column->full ? wide : column->full) - (was < column->full ? was : column->full);
		}
		else if (column->levels > 0)
		{
			next_low[c] = (int32_t) freeform_join(work, c, (uint32_t) low[c], (uint32_t) v);
			more += work->price[c][next_low[c]] - work->price[c][low[c]];
		}
		else
		{
			uint32_t x = 0;

			while (x < n && value[sets->first[sets->chosen[x]]] != v)
				x++;
			more += x == n ? work->step[c] : 0;
		}
	}
	return more;
}

/* All ways to go on with types order[from..), of which `used` of the first are chosen already. */
static KanonStatus
search(FreeformSets *sets, uint32_t n, uint32_t from, uint32_t used, int64_t units, double worth)
{
	uint32_t k = sets->work->k;
	double cost = (double) units / KANON_FREEFORM_UNITS;

	for (uint32_t at = from; at < sets->ntypes; at++, used = 0)
	{
		uint32_t t = sets->order[at];
		int64_t with;
		double reduced;
		KanonStatus status;

		if (cost - worth - (k - n) * sets->price[t] > sets->limit)
			return KANON_OK;
		if (used == sets->rows[t])
			continue;
		if (kanon_step(sets->pace, (int64_t) sets->work->ncolumns * 4))
			return KANON_CANCELLED;
		if (sets->pace->late)
		{
			sets->late = true;
			return KANON_OK;
		}
		with = units + grow(sets, n, t);
		reduced = (double) with / KANON_FREEFORM_UNITS - worth - (k - n) * sets->price[t];
		if (reduced > sets->limit)
			continue;
		sets->chosen[n] = t;
		status = n + 1 == k ? add_set(sets, (double) with / KANON_FREEFORM_UNITS, reduced)
							: search(sets, n + 1, at, used + 1, with, worth + sets->price[t]);
		if (status != KANON_OK || sets->late)
			return status;
	}
	return KANON_OK;
}

KanonStatus
freeform_sets_find(FreeformSets *sets)
{
	KanonStatus status;
	FreeformSet *spare;
	size_t mark;

	sets->n = 0;
	sets->cut = sets->late = false;
	for (uint32_t t = 0; t < sets->ntypes; t++)
		sets->order[t] = t;
	kanon_sort(sets->order, sets->order + sets->ntypes, sets->ntypes, sizeof(uint32_t), compare_prices,
			   sets->price);
	status = search(sets, 0, 0, 0, 0, 0);
	if (status != KANON_OK || sets->n == 0)
		return status;
	mark = kanon_mark(sets->scratch);
	spare = kanon_take(sets->scratch, sets->n, sizeof(FreeformSet));
	if (spare == NULL)
		return KANON_NO_MEMORY;
	kanon_sort(sets->found, spare, (uint32_t) sets->n, sizeof(FreeformSet), compare_found, NULL);
	kanon_release(sets->scratch, mark);
	return KANON_OK;
}
