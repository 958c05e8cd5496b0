/*
 * freeform_state.c: what records show while the graph grows, and what it would
 * cost them to show more.
 *
 * Nothing changes a record between the beginning of a round and its end but the
 * one row that it takes, so all weights of a round are those of its beginning.
 * They are found row by row: one vector over all records, column by column, each
 * column's sum beside the one before.  Rows are in lexicographic order, columns
 * of few values first, so the next row mostly has the same values in the first
 * columns, and their sums are there already.
 */
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/sort.h"

typedef struct Item
{
	int32_t value;
	uint32_t row;
} Item;

static int
compare_items(const void *a, const void *b, void *arg)
{
	const Item *left = a;
	const Item *right = b;

	(void) arg;
	return left->value < right->value ? -1 : left->value > right->value;
}

/* Numbers the values that occur in the part. */
static KanonStatus
number_values(FreeformWork *work, int c)
{
	const int32_t *value = work->part->value + kanon_freeform_words(work->space, c) * work->n;
	Item *items = kanon_alloc(work->env, work->n, 2 * sizeof(*items));
	uint32_t next = 0;

	if (items == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < work->n; i++)
		items[i] = (Item){value[i], i};
	kanon_sort(items, items + work->n, work->n, sizeof(*items), compare_items, NULL);
	for (uint32_t i = 0; i < work->n; i++)
	{
		next += i > 0 && items[i - 1].value != items[i].value;
		work->value[c][items[i].row] = (int32_t) next;
	}
	work->nvalues[c] = next + 1;
	kanon_free(work->env, items);
	return KANON_OK;
}

static KanonStatus
open_column(FreeformWork *work, int c, uint32_t shown)
{
	KanonScratch *scratch = &work->scratch;
	const KanonFreeformColumn *column = &work->space->columns[c];
	KanonStatus status = KANON_OK;

	work->value[c] = kanon_take0(scratch, work->padded, sizeof(int32_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	if (column->number)
	{
		memcpy(work->value[c], work->part->value + kanon_freeform_words(work->space, c) * work->n,
			   work->n * sizeof(int32_t));
		work->low[c] = kanon_take0(scratch, work->padded, sizeof(int32_t));
		work->high[c] = kanon_take0(scratch, work->padded, sizeof(int32_t));
		if (scratch->failed)
			return KANON_NO_MEMORY;
		memcpy(work->low[c], work->value[c], work->n * sizeof(int32_t));
		memcpy(work->high[c], work->value[c], work->n * sizeof(int32_t));
		return KANON_OK;
	}
	if (column->levels > 0)
		return freeform_tree_open(work, c);
	status = number_values(work, c);
	if (status != KANON_OK)
		return status;
	work->step[c] = column->step;
	work->miss[c] = kanon_take(scratch, work->nvalues[c], sizeof(int32_t));
	work->room[c] = shown < work->nvalues[c] ? shown : work->nvalues[c];
	work->set[c] = kanon_take(scratch, work->n, work->room[c] * sizeof(uint32_t));
	work->count[c] = kanon_take(scratch, work->n, sizeof(uint32_t));
	work->has[c] = kanon_take(scratch, work->n, work->room[c] * sizeof(uint32_t));
	work->has_start[c] = kanon_take(scratch, (size_t) work->nvalues[c] + 2, sizeof(uint32_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t j = 0; j < work->n; j++)
	{
		work->set[c][(size_t) j * work->room[c]] = (uint32_t) work->value[c][j];
		work->count[c][j] = 1;
	}
	return KANON_OK;
}

KanonStatus
freeform_work_open(FreeformWork *work, uint32_t degree, uint32_t shown)
{
	KanonScratch *scratch = &work->scratch;
	KanonStatus status = KANON_OK;

	work->n = work->part->n;
	work->k = work->part->k;
	work->padded = (work->n + FREEFORM_BLOCK - 1) / FREEFORM_BLOCK * FREEFORM_BLOCK;
	work->degree = degree;
	work->ncolumns = work->space->ncolumns;
	work->scanned = FREEFORM_NONE;
	work->match = kanon_take(scratch, work->n, degree * sizeof(uint32_t));
	work->target = kanon_take(scratch, work->n, degree * sizeof(uint32_t));
	work->nmatch = kanon_take(scratch, work->n, sizeof(uint32_t));
	work->ntarget = kanon_take(scratch, work->n, sizeof(uint32_t));
	work->sum = kanon_take(scratch, work->padded, ((size_t) work->ncolumns + 2) * sizeof(int32_t));
	work->closed = kanon_take0(scratch, work->padded, sizeof(int32_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = work->n; i < work->padded; i++)
		work->closed[i] = FREEFORM_NEVER;
	for (uint32_t i = 0; i < work->n; i++)
	{
		work->match[(size_t) i * degree] = i;
		work->target[(size_t) i * degree] = i;
		work->nmatch[i] = work->ntarget[i] = 1;
	}
	for (int c = 0; c < work->ncolumns && status == KANON_OK; c++)
		status = open_column(work, c, shown);
	return status;
}

static bool
shows(const FreeformWork *work, int c, uint32_t j, uint32_t value)
{
	const uint32_t *set = work->set[c] + (size_t) j * work->room[c];
	uint32_t n = work->count[c][j];

	for (uint32_t s = 0; s < n; s++)
		if (set[s] == value)
			return true;
	return false;
}

void
freeform_show(FreeformWork *work, uint32_t i, uint32_t j)
{
	for (int c = 0; c < work->ncolumns; c++)
	{
		int32_t value = work->value[c][i];

		if (work->space->columns[c].number)
		{
			if (value < work->low[c][j])
				work->low[c][j] = value;
			if (value > work->high[c][j])
				work->high[c][j] = value;
		}
		else if (work->space->columns[c].levels > 0)
			work->node[c][j] = freeform_join(work, c, work->node[c][j], (uint32_t) value);
		else if (!shows(work, c, j, (uint32_t) value))
			work->set[c][(size_t) j * work->room[c] + work->count[c][j]++] = (uint32_t) value;
	}
}

void
freeform_add(FreeformWork *work, uint32_t i, uint32_t j)
{
	work->match[(size_t) j * work->degree + work->nmatch[j]++] = i;
	work->target[(size_t) i * work->degree + work->ntarget[i]++] = j;
	freeform_show(work, i, j);
}

void
freeform_show_matches(FreeformWork *work, uint32_t j)
{
	const uint32_t *match = work->match + (size_t) j * work->degree;

	for (int c = 0; c < work->ncolumns; c++)
	{
		int32_t value = work->value[c][match[0]];

		if (work->space->columns[c].number)
			work->low[c][j] = work->high[c][j] = value;
		else if (work->space->columns[c].levels > 0)
			work->node[c][j] = (uint32_t) value;
		else
		{
			work->set[c][(size_t) j * work->room[c]] = (uint32_t) value;
			work->count[c][j] = 1;
		}
	}
	for (uint32_t m = 1; m < work->nmatch[j]; m++)
		freeform_show(work, match[m], j);
}

static void
take_out(uint32_t *list, uint32_t *n, uint32_t what)
{
	uint32_t at = 0;

	while (list[at] != what)
		at++;
	list[at] = list[--*n];
}

void
freeform_remove(FreeformWork *work, uint32_t i, uint32_t j)
{
	take_out(work->match + (size_t) j * work->degree, &work->nmatch[j], i);
	take_out(work->target + (size_t) i * work->degree, &work->ntarget[i], j);
	freeform_show_matches(work, j);
}

bool
freeform_matches(const FreeformWork *work, uint32_t i, uint32_t j)
{
	const uint32_t *target = work->target + (size_t) i * work->degree;

	for (uint32_t t = 0; t < work->ntarget[i]; t++)
		if (target[t] == j)
			return true;
	return false;
}

/* A range's cost; what is further away than the domain costs as much as that. */
static inline int32_t
range_cost(int32_t width, int32_t full)
{
	return width < full ? width : full;
}

int32_t
freeform_weight(const FreeformWork *work, uint32_t i, uint32_t j)
{
	int32_t weight = 0;

	for (int c = 0; c < work->ncolumns; c++)
	{
		const KanonFreeformColumn *column = &work->space->columns[c];
		int32_t value = work->value[c][i];

		if (column->number)
		{
			int32_t low = work->low[c][j];
			int32_t high = work->high[c][j];

			weight += range_cost((high > value ? high : value) - (low < value ? low : value), column->full) -
					  range_cost(high - low, column->full);
		}
		else if (column->levels > 0)
			weight += work->price[c][freeform_join(work, c, work->node[c][j], (uint32_t) value)] -
					  work->price[c][work->node[c][j]];
		else if (!shows(work, c, j, (uint32_t) value))
			weight += work->step[c];
	}
	return weight;
}

int32_t
freeform_pair_weight(const FreeformWork *work, uint32_t i, uint32_t j)
{
	return freeform_weight(work, i, j) + (work->space->symmetric ? freeform_weight(work, j, i) : 0);
}

KanonStatus
freeform_scan_begin(FreeformWork *work)
{
	for (int c = 0; c < work->ncolumns; c++)
	{
		uint32_t *start = work->has_start[c];
		uint32_t room = work->room[c];

		if (work->space->columns[c].number || work->space->columns[c].levels > 0)
			continue;
		if (kanon_stop(&work->pace, (uint64_t) work->n * 4))
			return KANON_CANCELLED;
		memset(start, 0, ((size_t) work->nvalues[c] + 2) * sizeof(*start));
		for (uint32_t j = 0; j < work->n; j++)
			for (uint32_t s = 0; s < work->count[c][j]; s++)
				start[work->set[c][(size_t) j * room + s] + 2]++;
		for (uint32_t v = 2; v <= work->nvalues[c] + 1; v++)
			start[v] += start[v - 1];
		for (uint32_t j = 0; j < work->n; j++)
			for (uint32_t s = 0; s < work->count[c][j]; s++)
				work->has[c][start[work->set[c][(size_t) j * room + s] + 1]++] = j;
	}
	work->scanned = FREEFORM_NONE;
	return KANON_OK;
}

/* to = from + the growth of a range by `value`, over one block. */
static void
add_range(int32_t *restrict to, const int32_t *restrict from, const int32_t *restrict low,
		  const int32_t *restrict high, int32_t value)
{
	for (int x = 0; x < FREEFORM_BLOCK; x++)
	{
		int32_t below = low[x] - value;
		int32_t above = value - high[x];

		to[x] = from[x] + (below > 0 ? below : 0) + (above > 0 ? above : 0);
	}
}

static void
add_capped(int32_t *restrict to, const int32_t *restrict from, const int32_t *restrict low,
		   const int32_t *restrict high, int32_t value, int32_t full)
{
	for (int x = 0; x < FREEFORM_BLOCK; x++)
	{
		int32_t width = high[x] - low[x];
		int32_t wide = (high[x] > value ? high[x] : value) - (low[x] < value ? low[x] : value);

		to[x] = from[x] + (wide < full ? wide : full) - (width < full ? width : full);
	}
}

static void
add_step(int32_t *restrict to, const int32_t *restrict from, int32_t step)
{
	for (int x = 0; x < FREEFORM_BLOCK; x++)
		to[x] = from[x] + step;
}

/* The growth of one range by each of a block of values. */
static void
grow_range(int32_t *restrict growth, const int32_t *restrict value, int32_t low, int32_t high, int32_t full)
{
	int32_t width = high - low;
	int32_t was = width < full ? width : full;

	for (int x = 0; x < FREEFORM_BLOCK; x++)
	{
		int32_t wide = (high > value[x] ? high : value[x]) - (low < value[x] ? low : value[x]);

		growth[x] += (wide < full ? wide : full) - was;
	}
}

/* The growth of each record's node by one value. */
static void
scan_tree(FreeformWork *work, int c, uint32_t value, const int32_t *restrict from, int32_t *restrict to)
{
	const uint32_t *node = work->node[c];
	int32_t *growth = work->miss[c];

	freeform_joins(work, c, value, growth);
	for (uint32_t x = 0; x < work->nnodes[c]; x++)
		growth[x] -= work->price[c][x];
	for (uint32_t j = 0; j < work->padded; j++)
		to[j] = from[j] + growth[node[j]];
}

/* The sums up to column c, from those before. */
static void
scan_column(FreeformWork *work, int c, uint32_t i)
{
	const KanonFreeformColumn *column = &work->space->columns[c];
	const int32_t *from = work->sum + (size_t) c * work->padded;
	int32_t *to = work->sum + ((size_t) c + 1) * work->padded;
	int32_t value = work->value[c][i];
	int32_t step = work->step[c];

	if (column->levels > 0)
	{
		scan_tree(work, c, (uint32_t) value, from, to);
		return;
	}
	for (uint32_t j = 0; j < work->padded; j += FREEFORM_BLOCK)
	{
		if (!column->number)
			add_step(to + j, from + j, step);
		else if (column->capped)
			add_capped(to + j, from + j, work->low[c] + j, work->high[c] + j, value, column->full);
		else
			add_range(to + j, from + j, work->low[c] + j, work->high[c] + j, value);
	}
	if (!column->number)
	{
		const uint32_t *has = work->has[c];
		uint32_t end = work->has_start[c][value + 1];

		for (uint32_t h = work->has_start[c][value]; h < end; h++)
			to[has[h]] -= step;
	}
}

void
freeform_growth(FreeformWork *work, uint32_t j, int32_t *growth)
{
	for (int c = 0; c < work->ncolumns; c++)
	{
		const KanonFreeformColumn *column = &work->space->columns[c];
		const int32_t *value = work->value[c];
		int32_t *miss = work->miss[c];

		if (column->number)
		{
			int32_t low = work->low[c][j];
			int32_t high = work->high[c][j];

			for (uint32_t x = 0; x < work->padded; x += FREEFORM_BLOCK)
				grow_range(growth + x, value + x, low, high, column->full);
			continue;
		}
		if (column->levels > 0)
		{
			freeform_joins(work, c, work->node[c][j], miss);
			for (uint32_t x = 0; x < work->padded; x++)
				growth[x] += miss[value[x]] - work->price[c][work->node[c][j]];
			continue;
		}
		for (uint32_t v = 0; v < work->nvalues[c]; v++)
			miss[v] = work->step[c];
		for (uint32_t s = 0; s < work->count[c][j]; s++)
			miss[work->set[c][(size_t) j * work->room[c] + s]] = 0;
		for (uint32_t x = 0; x < work->padded; x++)
			growth[x] += miss[value[x]];
	}
}

const int32_t *
freeform_scan(FreeformWork *work, uint32_t i)
{
	int c = 0;

	if (work->scanned == FREEFORM_NONE)
		memset(work->sum, 0, work->padded * sizeof(*work->sum));
	else
		while (c < work->ncolumns && work->value[c][i] == work->value[c][work->scanned])
			c++;
	for (; c < work->ncolumns; c++)
		scan_column(work, c, i);
	work->scanned = i;
	if (work->space->symmetric)
	{
		int32_t *both = work->sum + ((size_t) work->ncolumns + 1) * work->padded;

		memcpy(both, both - work->padded, work->padded * sizeof(*both));
		freeform_growth(work, i, both);
		return both;
	}
	return work->sum + (size_t) work->ncolumns * work->padded;
}

void
freeform_hide(FreeformWork *work, uint32_t i)
{
	const uint32_t *target = work->target + (size_t) i * work->degree;

	for (uint32_t t = 0; t < work->ntarget[i]; t++)
		work->closed[target[t]] += FREEFORM_HIDDEN;
}

void
freeform_unhide(FreeformWork *work, uint32_t i)
{
	const uint32_t *target = work->target + (size_t) i * work->degree;

	for (uint32_t t = 0; t < work->ntarget[i]; t++)
		work->closed[target[t]] -= FREEFORM_HIDDEN;
}

/* The least of a block of weights and what closes them. */
static int32_t
block_least(const int32_t *restrict weight, const int32_t *restrict closed)
{
	int32_t least = INT32_MAX;

	for (int x = 0; x < FREEFORM_BLOCK; x++)
	{
		int32_t sum = weight[x] + closed[x];

		least = sum < least ? sum : least;
	}
	return least;
}

uint32_t
freeform_best(FreeformWork *work, uint32_t i)
{
	const int32_t *weight = freeform_scan(work, i);
	int32_t best = FREEFORM_HIDDEN;
	uint32_t from = FREEFORM_NONE;

	freeform_hide(work, i);
	for (uint32_t j = 0; j < work->padded; j += FREEFORM_BLOCK)
	{
		int32_t least = block_least(weight + j, work->closed + j);

		if (least < best)
		{
			best = least;
			from = j;
		}
	}
	if (from != FREEFORM_NONE)
		while (weight[from] + work->closed[from] != best)
			from++;
	freeform_unhide(work, i);
	return from;
}

uint32_t
freeform_choose(FreeformChoice *choice, uint32_t n, uint32_t room, FreeformChoice new)
{
	uint32_t at = n < room ? n : room - 1;

	if (n == room && choice[at].weight <= new.weight)
		return n;
	while (at > 0 && choice[at - 1].weight > new.weight)
	{
		choice[at] = choice[at - 1];
		at--;
	}
	choice[at] = new;
	return n < room ? n + 1 : n;
}

uint32_t
freeform_choices(FreeformWork *work, uint32_t i, FreeformChoice *choice, uint32_t room)
{
	const int32_t *weight = freeform_scan(work, i);
	int32_t worst = FREEFORM_HIDDEN;
	uint32_t n = 0;

	freeform_hide(work, i);
	for (uint32_t j = 0; j < work->padded; j += FREEFORM_BLOCK)
	{
		if (block_least(weight + j, work->closed + j) >= worst)
			continue;
		for (uint32_t x = j; x < j + FREEFORM_BLOCK; x++)
			if (weight[x] + work->closed[x] < worst)
			{
				n = freeform_choose(choice, n, room, (FreeformChoice){weight[x], x});
				if (n == room)
					worst = choice[room - 1].weight;
			}
	}
	freeform_unhide(work, i);
	return n;
}
