/*
 * freeform_exchange.c: rows change places between records: row a of record j and
 * row b of record l become row b of record j and row a of record l, wherever the
 * two records then cost less.  The graph stays as regular as it was.
 *
 * Which exchanges are worth a closer look is told by what never falls short: a
 * record without a row grows by another one at least as much as with it.  Records
 * are taken in blocks that overlap, in lexicographic order, so that work and
 * memory grow with their number only.
 */
#include <string.h>

#include "freeform/freeform_work.h"

/* Matches of the records of a block, about, and records; the last exchange has larger blocks, which takes longer. */
#define BLOCK_SLOTS 4096
#define BLOCK_MOST 256
#define LAST_SLOTS 25600
#define LAST_MOST 512
#define BLOCK_LEAST 32

static uint32_t
block_records(uint32_t n, uint32_t degree, bool last)
{
	uint32_t fit = (last ? LAST_SLOTS : BLOCK_SLOTS) / degree;
	uint32_t most = last ? LAST_MOST : BLOCK_MOST;

	most = fit < BLOCK_LEAST ? BLOCK_LEAST : fit > most ? most : fit;
	return n < most ? n : most;
}

double
freeform_exchange_memory(uint32_t n, uint32_t degree)
{
	double records = block_records(n, degree, true);

	return (records + 2) * records * degree * sizeof(int32_t);
}

typedef struct Exchange
{
	FreeformWork *work;
	uint32_t first;  /* record of the block */
	uint32_t n;      /* records in it */
	int32_t *growth; /* [slots * n] of each record by the row of each slot */
	int32_t *save;   /* [slots] what its record would cost less without it */
	int32_t *by_row; /* [padded] growth of one record by every row */
	int32_t *net;    /* [slots] save, less what the record at hand would grow */
} Exchange;

/* A slot is a match of a record. */
static uint32_t
row_of(const Exchange *x, uint32_t slot)
{
	return x->work->match[(size_t) x->first * x->work->degree + slot];
}

/* The change of record j's cost when row b (or none) takes the place of its match m. */
static int32_t
change(const FreeformWork *work, uint32_t j, uint32_t m, uint32_t b)
{
	const uint32_t *match = work->match + (size_t) j * work->degree;
	uint32_t n = work->nmatch[j];
	int32_t sum = 0;

	for (int c = 0; c < work->ncolumns; c++)
	{
		const KanonFreeformColumn *column = &work->space->columns[c];
		const int32_t *value = work->value[c];
		int32_t gone = value[match[m]];
		int32_t new = value[b != FREEFORM_NONE ? b : match[m == 0]];

		if (gone == new)
			continue;
		if (column->number)
		{
			int32_t was = work->high[c][j] - work->low[c][j];
			int32_t low = new;
			int32_t high = new;

			/* inside, and nothing at the border goes: no change */
			if (gone > work->low[c][j] && gone < work->high[c][j] && new >= work->low[c][j] &&
				new <= work->high[c][j])
				continue;
			for (uint32_t x = 0; x < n; x++)
			{
				int32_t v = value[match[x]];

				if (x == m)
					continue;
				low = v < low ? v : low;
				high = v > high ? v : high;
			}
			sum += (high - low < column->full ? high - low : column->full) -
				   (was < column->full ? was : column->full);
		}
		else if (column->levels > 0)
		{
			uint32_t node = (uint32_t) new;

			for (uint32_t x = 0; x < n; x++)
				if (x != m)
					node = freeform_join(work, c, node, (uint32_t) value[match[x]]);
			sum += work->price[c][node] - work->price[c][work->node[c][j]];
		}
		else
		{
			bool stays = false;
			bool there = false;

			for (uint32_t x = 0; x < n; x++)
			{
				int32_t v = value[match[x]];

				stays = stays || (v == gone && x != m);
				there = there || v == new;
			}
			sum += (there ? 0 : work->step[c]) - (stays ? 0 : work->step[c]);
		}
	}
	return sum;
}

/* The growth and the saving of record l of the block, as it is now. */
static void
look_at(Exchange *x, uint32_t l)
{
	FreeformWork *work = x->work;
	uint32_t slots = x->n * work->degree;

	memset(x->by_row, 0, work->padded * sizeof(*x->by_row));
	freeform_growth(work, x->first + l, x->by_row);
	for (uint32_t slot = 0; slot < slots; slot++)
		x->growth[(size_t) slot * x->n + l] = x->by_row[row_of(x, slot)];
	for (uint32_t m = 0; m < work->degree; m++)
		x->save[l * work->degree + m] = -change(work, x->first + l, m, FREEFORM_NONE);
}

/* There is another row in a slot. */
static void
look_for(Exchange *x, uint32_t slot)
{
	for (uint32_t r = 0; r < x->n; r++)
		x->growth[(size_t) slot * x->n + r] = freeform_weight(x->work, row_of(x, slot), x->first + r);
}

static void
weigh(Exchange *x, uint32_t j)
{
	uint32_t slots = x->n * x->work->degree;

	for (uint32_t slot = 0; slot < slots; slot++)
		x->net[slot] = x->save[slot] - x->growth[(size_t) slot * x->n + j];
}

static void
replace(uint32_t *list, uint32_t what, uint32_t by)
{
	while (*list != what)
		list++;
	*list = by;
}

/* Slots of records j and l change rows, if they may and it pays. */
static bool
try_pair(Exchange *x, uint32_t j, uint32_t one, uint32_t l, uint32_t other)
{
	FreeformWork *work = x->work;
	uint32_t degree = work->degree;
	uint32_t a = row_of(x, one);
	uint32_t b = row_of(x, other);
	uint32_t here = x->first + j;
	uint32_t there = x->first + l;

	if (freeform_matches(work, a, there) || freeform_matches(work, b, here))
		return false;
	if (change(work, here, one % degree, b) + change(work, there, other % degree, a) >= 0)
		return false;
	work->match[(size_t) here * degree + one % degree] = b;
	work->match[(size_t) there * degree + other % degree] = a;
	replace(work->target + (size_t) a * degree, here, there);
	replace(work->target + (size_t) b * degree, there, here);
	freeform_show_matches(work, here);
	freeform_show_matches(work, there);
	look_at(x, j);
	look_at(x, l);
	look_for(x, one);
	look_for(x, other);
	weigh(x, j);
	return true;
}

/* The first exchange that pays for this slot of record j. */
static bool
try_slot(Exchange *x, uint32_t j, uint32_t slot)
{
	uint32_t degree = x->work->degree;

	for (uint32_t l = 0; l < x->n; l++)
	{
		int32_t most = x->save[slot] - x->growth[(size_t) slot * x->n + l];
		const int32_t *net = x->net + (size_t) l * degree;

		for (uint32_t m = 0; m < degree && l != j; m++)
			if (net[m] + most > 0 && try_pair(x, j, slot, l, l * degree + m))
				return true;
	}
	return false;
}

static KanonStatus
exchange_block(Exchange *x)
{
	FreeformWork *work = x->work;
	uint32_t degree = work->degree;
	bool better = true;

	for (uint32_t l = 0; l < x->n; l++)
	{
		if (kanon_stop(&work->pace,
					   (uint64_t) x->n * degree + (uint64_t) work->padded * (uint64_t) work->ncolumns / 4))
			return KANON_CANCELLED;
		look_at(x, l);
	}
	while (better)
	{
		better = false;
		for (uint32_t j = 0; j < x->n; j++)
		{
			weigh(x, j);
			for (uint32_t m = 0; m < degree; m++)
			{
				if (kanon_stop(&work->pace, (uint64_t) x->n * degree))
					return KANON_CANCELLED;
				if (x->save[j * degree + m] > 0 && try_slot(x, j, j * degree + m))
					better = true;
			}
		}
	}
	return KANON_OK;
}

/* Exchanges rows in graphs whose records all have `degree` matches. */
static KanonStatus
exchange(FreeformWork *work, bool last)
{
	Exchange x = {.work = work};
	size_t slots;
	KanonStatus status = KANON_NO_MEMORY;

	x.n = block_records(work->n, work->degree, last);
	slots = (size_t) x.n * work->degree;
	x.growth = kanon_alloc(work->env, slots, x.n * sizeof(int32_t));
	x.save = kanon_alloc(work->env, slots, sizeof(int32_t));
	x.net = kanon_alloc(work->env, slots, sizeof(int32_t));
	x.by_row = kanon_alloc(work->env, work->padded, sizeof(int32_t));
	if (x.by_row != NULL && x.growth != NULL && x.save != NULL && x.net != NULL)
		status = KANON_OK;
	while (status == KANON_OK)
	{
		status = exchange_block(&x);
		if (x.first + x.n == work->n)
			break;
		x.first = x.first + x.n / 2 < work->n - x.n ? x.first + x.n / 2 : work->n - x.n;
	}
	kanon_free(work->env, x.growth);
	kanon_free(work->env, x.save);
	kanon_free(work->env, x.net);
	kanon_free(work->env, x.by_row);
	return status;
}

/*
 * ---- Rounds are made anew while that pays.
 *
 * When a round was made, those after it were not known.  So the oldest round is
 * taken out and made once more, among all the others; it stays as it was unless
 * the new one costs less.  Cost falls with every change, and no release of the
 * method without this is better.
 */

/* Assignments drawn and made anew in vain, before that is given up; more of few rows. */
#define PATIENCE 8
#define PATIENCE_ROWS 1000

/* Takes out the oldest round; record[i] is what row i had in it. */
static void
take_out(FreeformWork *work, uint32_t *record)
{
	uint32_t left = work->degree - 1;

	for (uint32_t i = 0; i < work->n; i++)
	{
		uint32_t *target = work->target + (size_t) i * work->degree;

		record[i] = target[0];
		memmove(target, target + 1, left * sizeof(*target));
		work->ntarget[i] = left;
	}
	for (uint32_t j = 0; j < work->n; j++)
	{
		uint32_t *match = work->match + (size_t) j * work->degree;

		memmove(match, match + 1, left * sizeof(*match));
		work->nmatch[j] = left;
		freeform_show_matches(work, j);
	}
}

static int64_t
cost_of(const FreeformWork *work, const uint32_t *record)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < work->n; i++)
		sum += freeform_weight(work, i, record[i]);
	return sum;
}

/* Puts an assignment, as it falls to chance, where the oldest round is. */
static KanonStatus
bring_forward(FreeformWork *work, FreeformRandom *random, uint32_t *record)
{
	KanonStatus status = freeform_matching(work, random, record);

	for (uint32_t i = 0; i < work->n && status == KANON_OK; i++)
	{
		uint32_t *target = work->target + (size_t) i * work->degree;
		uint32_t *match = work->match + (size_t) record[i] * work->degree;
		uint32_t at = 0;

		while (target[at] != record[i])
			at++;
		target[at] = target[0];
		target[0] = record[i];
		for (at = 0; match[at] != i;)
			at++;
		match[at] = match[0];
		match[0] = i;
	}
	return status;
}

static KanonStatus
revisit(FreeformWork *work, FreeformRound make, void *arg, FreeformRandom *random, uint32_t patience)
{
	uint32_t *old = kanon_alloc(work->env, work->n, sizeof(uint32_t));
	uint32_t *new = kanon_alloc(work->env, work->n, sizeof(uint32_t));
	uint32_t stale = 0;
	KanonStatus status = old != NULL && new != NULL ? KANON_OK : KANON_NO_MEMORY;

	while (status == KANON_OK && stale < patience)
	{
		const uint32_t *better = old;

		if (random != NULL)
		{
			status = bring_forward(work, random, old);
			if (status != KANON_OK)
				break;
		}
		if (kanon_stop(&work->pace, (uint64_t) work->n * work->degree * (uint64_t) work->ncolumns))
			status = KANON_CANCELLED;
		else
		{
			take_out(work, old);
			status = make(arg, new);
		}
		if (status != KANON_OK)
			break;
		stale++;
		if (cost_of(work, new) < cost_of(work, old))
		{
			better = new;
			stale = 0;
		}
		for (uint32_t i = 0; i < work->n; i++)
			freeform_add(work, i, better[i]);
	}
	kanon_free(work->env, old);
	kanon_free(work->env, new);
	return status;
}

KanonStatus
freeform_improve(FreeformWork *work, FreeformRound make, void *arg)
{
	/* the same whatever the assignment will be drawn by */
	FreeformRandom random = {.state = work->part->number};
	KanonStatus status = revisit(work, make, arg, NULL, work->degree);

	if (status == KANON_OK)
		status = exchange(work, false);
	if (status == KANON_OK)
		status = revisit(work, make, arg, &random, PATIENCE + PATIENCE_ROWS / work->n);
	return status == KANON_OK ? exchange(work, true) : status;
}
