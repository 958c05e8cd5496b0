/*
 * item_walk.c: every set of items that occurs, without storing them.
 *
 * Occurrence deliver: the places of a set's last item are handed on to the items
 * that follow them in their transactions, depth first (Uno, Kiyomi, Arimura, "LCM
 * ver. 2", FIMI 2004).  Time grows with the occurrences of the sets, memory with
 * the table and the depth.
 */
#include <stdio.h>
#include <string.h>

#include "itemsets/transactions.h"
#include "util/sort.h"
#include "util/scratch.h"

/* The memory for sets of one size while those that extend them are visited. */
typedef struct Level
{
	uint32_t *touched; /* [nitems] items that extend the set */
	size_t *end;       /* [nitems] of their places in the arena */
} Level;

typedef struct Work
{
	KanonWalk *walk;
	KanonScratch memory;
	uint32_t *count;   /* [nitems], zero between uses */
	uint32_t *scratch; /* [nitems] for sorting */
	KanonPlace *arena;
	size_t used;
	size_t capacity;
	uint64_t visited;
	Level *levels; /* [depth], made when a size is reached */
	uint32_t *set; /* [depth] */
} Work;

/* How many times a set of `size` items occurs in rows of these lengths, as a double. */
static double
kanon_count_subsets(const size_t *start, uint32_t nrows, int size)
{
	double sum = 0;

	for (uint32_t row = 0; row < nrows; row++)
	{
		double length = (double) (start[row + 1] - start[row]);
		double ways = 1;

		for (int i = 0; i < size; i++)
			ways *= (length - i) / (i + 1);
		if (length >= size)
			sum += ways;
	}
	return sum;
}

static KanonStatus
open_level(Work *work, int size)
{
	Level *level = &work->levels[size];
	uint32_t nitems = work->walk->nitems;

	if (level->touched == NULL)
	{
		level->touched = kanon_take(&work->memory, nitems, sizeof(uint32_t));
		level->end = kanon_take(&work->memory, nitems, sizeof(size_t));
	}
	return kanon_taken(&work->memory);
}

/* Items that follow a place in its row. */
static inline size_t
follow(const KanonWalk *walk, KanonPlace place, const uint32_t **items)
{
	size_t from = walk->start[place.row] + place.at + 1;

	*items = walk->item + from;
	return walk->start[place.row + 1] - from;
}

/*
 * Counts the items that follow the places from..to of the arena (or all rows' for
 * the empty set); those that there are, ascending.
 */
static KanonStatus
count_following(Work *work, int size, size_t from, size_t to, uint32_t *ntouched)
{
	const KanonWalk *walk = work->walk;
	uint32_t *touched = work->levels[size].touched;
	bool leaf = size + 1 == walk->depth && !walk->places;
	uint32_t n = 0;
	uint32_t kept = 0;

	for (size_t i = from; i < to; i++)
	{
		const uint32_t *items;
		size_t nitems;

		if (size == 0)
		{
			items = walk->item + walk->start[i];
			nitems = walk->start[i + 1] - walk->start[i];
		}
		else
			nitems = follow(walk, work->arena[i], &items);
		for (size_t j = 0; j < nitems && (size > 0 || items[j] < walk->first); j++)
			if (work->count[items[j]]++ == 0)
				touched[n++] = items[j];
		if (kanon_stop(walk->pace, nitems + 1))
			return KANON_CANCELLED;
	}
	work->visited += n;
	for (uint32_t i = 0; i < n; i++)
	{
		if (leaf && work->count[touched[i]] >= walk->below)
			work->count[touched[i]] = 0;
		else
			touched[kept++] = touched[i];
	}
	kanon_sort(touched, work->scratch, kept, sizeof(uint32_t), kanon_compare_numbers, NULL);
	*ntouched = kept;
	return work->visited > walk->limit ? KANON_TOO_LARGE : KANON_OK;
}

/* Hands the places on; afterwards item touched[i]'s end at end[i] of the arena. */
static KanonStatus
deliver(Work *work, int size, size_t from, size_t to, uint32_t ntouched)
{
	const KanonWalk *walk = work->walk;
	Level *level = &work->levels[size];
	size_t sum = 0;

	for (uint32_t i = 0; i < ntouched; i++)
		sum += work->count[level->touched[i]];
	if (!KANON_GROW(&work->memory, &work->capacity, work->used + sum, KANON_ARRAY(work->arena)))
		return KANON_NO_MEMORY;
	sum = work->used;
	for (uint32_t i = 0; i < ntouched; i++)
	{
		level->end[i] = sum;
		sum += work->count[level->touched[i]];
		work->count[level->touched[i]] = i; /* from now on: which one */
	}
	for (size_t i = from; i < to; i++)
	{
		KanonPlace place = size == 0 ? (KanonPlace){(uint32_t) i, 0} : work->arena[i];
		size_t length = walk->start[place.row + 1] - walk->start[place.row];
		const uint32_t *items = walk->item + walk->start[place.row];

		for (size_t at = size == 0 ? 0 : place.at + 1; at < length; at++)
		{
			if (size == 0 && items[at] >= walk->first)
				break;
			work->arena[level->end[work->count[items[at]]]++] = (KanonPlace){place.row, (uint32_t) at};
		}
		if (kanon_stop(walk->pace, length + 1))
			return KANON_CANCELLED;
	}
	for (uint32_t i = 0; i < ntouched; i++)
		work->count[level->touched[i]] = 0;
	work->used = sum;
	return KANON_OK;
}

static KanonStatus extend(Work *work, int size, size_t from, size_t to);

/* Visits a set of size + 1 items with the places from..to, and what extends it. */
static KanonStatus
visit(Work *work, int size, size_t from, size_t to, bool implied)
{
	KanonWalk *walk = work->walk;
	KanonVisit verdict =
		walk->visit(walk->arg, work->set, size + 1, work->arena + from, (uint32_t) (to - from));

	if (verdict == KANON_VISIT_STOP)
		walk->stopped = true;
	if (verdict == KANON_VISIT_GO && size + 1 < walk->depth && !implied)
		return extend(work, size + 1, from, to);
	return KANON_OK;
}

/* The sets that extend the one of this size whose places are from..to of the arena. */
static KanonStatus
extend(Work *work, int size, size_t from, size_t to)
{
	KanonWalk *walk = work->walk;
	Level *level = &work->levels[size];
	size_t mark = work->used;
	uint32_t ntouched = 0;
	KanonStatus status = open_level(work, size);

	if (status == KANON_OK)
		status = count_following(work, size, from, to, &ntouched);
	if (status != KANON_OK)
		return status;
	if (size + 1 == walk->depth && !walk->places)
	{
		for (uint32_t i = ntouched; i-- > 0;)
		{
			uint32_t count = work->count[level->touched[i]];

			work->count[level->touched[i]] = 0;
			work->set[size] = level->touched[i];
			if (!walk->stopped &&
				walk->visit(walk->arg, work->set, size + 1, NULL, count) == KANON_VISIT_STOP)
				walk->stopped = true;
		}
		return KANON_OK;
	}
	status = deliver(work, size, from, to, ntouched);
	for (uint32_t i = ntouched; i-- > 0 && status == KANON_OK && !walk->stopped;)
	{
		size_t begin = i == 0 ? mark : level->end[i - 1];

		if (size == 0)
			kanon_pace_done(walk->pace, (double) (ntouched - 1 - i) / ntouched);
		work->set[size] = level->touched[i];
		status = visit(work, size, begin, level->end[i],
					   walk->skip_implied && size > 0 && level->end[i] - begin == to - from);
	}
	work->used = mark;
	return status;
}

KanonStatus
kanon_walk_sets(KanonWalk *walk)
{
	Work work = {.walk = walk, .memory = {.env = walk->pace->env}};
	KanonStatus status;

	walk->stopped = false;
	work.count = kanon_take0(&work.memory, walk->nitems, sizeof(uint32_t));
	work.scratch = kanon_take(&work.memory, walk->nitems, sizeof(uint32_t));
	work.levels = kanon_take0(&work.memory, (size_t) walk->depth, sizeof(Level));
	work.set = kanon_take(&work.memory, (size_t) walk->depth, sizeof(uint32_t));
	status = kanon_taken(&work.memory);
	if (status == KANON_OK)
		status = extend(&work, 0, 0, walk->nrows);
	kanon_scratch_free(&work.memory);
	return status;
}

KanonVisit
kanon_stop_at_rare(void *arg, const uint32_t *set, int size, const KanonPlace *places, uint32_t count)
{
	(void) set;
	(void) size;
	(void) places;
	return count < *(const int64_t *) arg ? KANON_VISIT_STOP : KANON_VISIT_GO;
}

/* ---- Transactions as ranks of the items that they show ---- */

/* Sorts a row and takes doubles out; what is left. */
static size_t
tidy(uint32_t *items, uint32_t *scratch, size_t n)
{
	size_t kept = 0;

	kanon_sort(items, scratch, n, sizeof(uint32_t), kanon_compare_numbers, NULL);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || items[kept - 1] != items[i])
			items[kept++] = items[i];
	return kept;
}

/* The room that the transactions take, and the longest. */
static size_t
room(const KanonSets *sets, const uint32_t *tids, uint32_t ntids, size_t *longest)
{
	size_t sum = 0;

	*longest = 0;
	for (uint32_t i = 0; i < ntids; i++)
	{
		uint32_t t = tids == NULL ? i : tids[i];
		size_t length = sets->start[t + 1] - sets->start[t];

		sum += length;
		if (length > *longest)
			*longest = length;
	}
	return sum;
}

static KanonStatus
fill(KanonPace *pace, const KanonSets *sets, const uint32_t *shown, const uint32_t *rank,
	 const uint32_t *tids, uint32_t *scratch, KanonRows *rows)
{
	size_t n = 0;

	rows->start[0] = 0;
	for (uint32_t i = 0; i < rows->nrows; i++)
	{
		uint32_t t = tids == NULL ? i : tids[i];
		size_t from = n;

		for (size_t j = sets->start[t]; j < sets->start[t + 1]; j++)
		{
			uint32_t r = rank[shown == NULL ? sets->item[j] : shown[sets->item[j]]];

			if (r != KANON_NOTHING)
				rows->item[n++] = r;
		}
		n = from + tidy(rows->item + from, scratch, n - from);
		rows->start[i + 1] = n;
		if (kanon_stop(pace, 4 * (sets->start[t + 1] - sets->start[t]) + 1))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

KanonStatus
kanon_rows_make(KanonPace *pace, const KanonSets *sets, const uint32_t *shown, const uint32_t *rank,
				const uint32_t *tids, uint32_t ntids, KanonRows *rows)
{
	KanonEnv *env = pace->env;
	uint32_t *scratch = NULL;
	KanonStatus status = KANON_NO_MEMORY;
	size_t longest;
	size_t sum;

	if (tids == NULL)
		ntids = sets->ntransactions;
	sum = room(sets, tids, ntids, &longest);
	*rows = (KanonRows){.nrows = ntids};
	if ((scratch = kanon_alloc(env, longest, sizeof(uint32_t))) != NULL &&
		(rows->start = kanon_alloc(env, (size_t) ntids + 1, sizeof(size_t))) != NULL &&
		(rows->item = kanon_alloc(env, sum, sizeof(uint32_t))) != NULL)
		status = fill(pace, sets, shown, rank, tids, scratch, rows);
	kanon_free(env, scratch);
	return status;
}

void
kanon_rows_free(KanonEnv *env, KanonRows *rows)
{
	kanon_free(env, rows->start);
	kanon_free(env, rows->item);
	*rows = (KanonRows){0};
}

static int
compare_support(const void *a, const void *b, void *arg)
{
	const KanonForest *forest = arg;
	uint32_t v = *(const uint32_t *) a;
	uint32_t w = *(const uint32_t *) b;
	uint32_t left = kanon_support(forest, v);
	uint32_t right = kanon_support(forest, w);

	if (left != right)
		return left < right ? -1 : 1;
	return v < w ? -1 : v > w;
}

KanonStatus
kanon_by_support(KanonEnv *env, const KanonForest *forest, uint32_t *nodes, uint32_t n)
{
	uint32_t *scratch = kanon_alloc(env, n, sizeof(uint32_t));

	if (scratch == NULL)
		return KANON_NO_MEMORY;
	kanon_sort(nodes, scratch, n, sizeof(uint32_t), compare_support, (void *) forest);
	kanon_free(env, scratch);
	return KANON_OK;
}

KanonStatus
kanon_check_subsets(const KanonRows *rows, int size, KanonReport *report)
{
	double subsets = kanon_count_subsets(rows->start, rows->nrows, size);

	if (subsets <= KANON_MAX_SUBSETS)
		return KANON_OK;
	snprintf(report->detail, sizeof(report->detail), "Sets of %d items occur %.3g times, more than %.0g.",
			 size, subsets, KANON_MAX_SUBSETS);
	return KANON_TOO_LARGE;
}
