/*
 * freeform_rounds.c: greedy and sort_greedy: rounds in each of which every row
 * takes one more record and every record one more row.
 *
 * Doka, Xue, Tsoumakos, Karras, "k-Anonymization by Freeform Generalization",
 * ASIACCS 2015, section 5: greedy takes the rows in lexicographic order, each the
 * record whose cost grows least; sort_greedy takes all pairs by ascending growth.
 * A row for which only records are left that it matches already changes places
 * with another one; that is always possible while k < (n + 3) / 2.
 *
 * When matches are to be mutual, a round pairs the rows up instead.
 */
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/sort.h"

/* Pairs of each row that sort_greedy keeps at hand. */
#define CHOICES 24

typedef struct Round
{
	FreeformWork *work;
	bool mutual;
	bool sorted;
	uint32_t *record; /* [n] that the row has taken in this round, or none */
	uint32_t *stamp;  /* [n] marks of swap() */
	uint32_t stamps;
	uint32_t open; /* records (rows, when mutual) not taken */
	/* sort_greedy */
	FreeformChoice *choice; /* [n * CHOICES] */
	uint8_t *nchoices;      /* [n] */
	uint8_t *next;          /* [n] of them */
	KanonHeap heap;         /* rows by their next choice: by weight, then row, the order of all pairs */
} Round;

static bool
round_open(Round *round, bool sorted)
{
	uint32_t n = round->work->n;

	round->mutual = round->work->space->symmetric;
	round->sorted = sorted;
	round->record = kanon_take(&round->work->scratch, n, sizeof(uint32_t));
	round->stamp = kanon_take0(&round->work->scratch, n, sizeof(uint32_t));
	if (sorted)
	{
		round->choice = kanon_take(&round->work->scratch, n, CHOICES * sizeof(FreeformChoice));
		round->nchoices = kanon_take(&round->work->scratch, n, sizeof(uint8_t));
		round->next = kanon_take(&round->work->scratch, n, sizeof(uint8_t));
	}
	return !round->work->scratch.failed;
}

/* Row i takes record j. */
static void
take(Round *round, uint32_t i, uint32_t j)
{
	round->record[i] = j;
	round->work->closed[j] = FREEFORM_NEVER;
	round->open--;
	if (round->mutual && i != j)
	{
		round->record[j] = i;
		round->work->closed[i] = FREEFORM_NEVER;
		round->open--;
	}
}

/*
 * Row i matches all records that are left: another row takes one of these and
 * leaves it its own, at the least cost.
 */
static KanonStatus
swap(Round *round, uint32_t i)
{
	FreeformWork *work = round->work;
	const uint32_t *target = work->target + (size_t) i * work->degree;
	const int32_t *weight = freeform_scan(work, i);
	int64_t best = INT64_MAX;
	uint32_t from = 0;
	uint32_t to = 0;
	uint32_t mine = ++round->stamps;

	for (uint32_t t = 0; t < work->ntarget[i]; t++)
		round->stamp[target[t]] = mine;
	/* bit by bit: stamps of records that row i matches are `mine` from here on */
	for (uint32_t t = 0; t < work->ntarget[i]; t++)
	{
		uint32_t left = target[t];

		if (work->closed[left] != 0)
			continue;
		if (kanon_stop(&work->pace, (uint64_t) work->n * (uint64_t) work->ncolumns * 2))
			return KANON_CANCELLED;
		for (uint32_t x = 0; x < work->n; x++)
		{
			uint32_t record = round->record[x];
			int64_t cost;

			if (record == FREEFORM_NONE || round->stamp[record] == mine || freeform_matches(work, x, left))
				continue;
			cost =
				(int64_t) weight[record] + freeform_weight(work, x, left) - freeform_weight(work, x, record);
			if (cost < best)
			{
				best = cost;
				from = x;
				to = left;
			}
		}
	}
	if (best == INT64_MAX)
		return KANON_BROKEN;
	round->record[i] = round->record[from];
	round->record[from] = to;
	work->closed[to] = FREEFORM_NEVER;
	round->open--;
	return KANON_OK;
}

static KanonStatus
greedy_round(Round *round)
{
	FreeformWork *work = round->work;
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < work->n && status == KANON_OK; i++)
	{
		uint32_t best;

		if (round->record[i] != FREEFORM_NONE)
			continue;
		if (kanon_stop(&work->pace, (uint64_t) work->padded * (uint64_t) work->ncolumns / 4))
			return KANON_CANCELLED;
		best = freeform_best(work, i);
		if (best != FREEFORM_NONE)
			take(round, i, best);
		else if (!round->mutual)
			status = swap(round, i);
	}
	return status;
}

/* The row is in the heap by its next choice; false: no memory. */
static bool
queue(Round *round, uint32_t row)
{
	return kanon_heap_add(&round->work->scratch, &round->heap,
						  round->choice[(size_t) row * CHOICES + round->next[row]].weight, row);
}

/* When few records are left these are looked at one by one. */
static uint32_t
choices_of_few(Round *round, uint32_t i, const uint32_t *left, uint32_t nleft)
{
	FreeformWork *work = round->work;
	FreeformChoice *choice = round->choice + (size_t) i * CHOICES;
	uint32_t n = 0;

	freeform_hide(work, i);
	for (uint32_t x = 0; x < nleft; x++)
		if (work->closed[left[x]] == 0)
			n = freeform_choose(choice, n, CHOICES,
								(FreeformChoice){freeform_pair_weight(work, i, left[x]), left[x]});
	freeform_unhide(work, i);
	return n;
}

/*
 * All pairs in ascending order, of which only the best few of each row are ever
 * at hand: a row whose few are all taken looks for more.
 */
static KanonStatus
sorted_round(Round *round)
{
	FreeformWork *work = round->work;
	uint32_t *left = round->stamp; /* open records, once these are few */
	uint32_t nleft = 0;
	KanonStatus status = KANON_OK;

	round->heap.n = 0;
	for (uint32_t i = 0; i < work->n; i++)
	{
		if (round->record[i] != FREEFORM_NONE)
			continue;
		if (kanon_stop(&work->pace, (uint64_t) work->padded * (uint64_t) work->ncolumns / 4))
			return KANON_CANCELLED;
		round->next[i] = 0;
		round->nchoices[i] =
			(uint8_t) freeform_choices(work, i, round->choice + (size_t) i * CHOICES, CHOICES);
		if (round->nchoices[i] > 0 && !queue(round, i))
			return KANON_NO_MEMORY;
	}
	while (round->heap.n > 0)
	{
		uint32_t row = kanon_heap_take(&round->heap).item;
		const FreeformChoice *choice = &round->choice[(size_t) row * CHOICES + round->next[row]];

		if (kanon_stop(&work->pace, 16))
			return KANON_CANCELLED;
		if (round->record[row] != FREEFORM_NONE)
			continue;
		if (work->closed[choice->record] == 0)
		{
			take(round, row, choice->record);
			continue;
		}
		if (++round->next[row] == round->nchoices[row])
		{
			bool few = round->open < work->n / 16;

			if (few && (nleft == 0 || round->open < nleft / 2))
			{
				nleft = 0;
				for (uint32_t j = 0; j < work->n; j++)
					if (work->closed[j] == 0)
						left[nleft++] = j;
			}
			if (kanon_stop(&work->pace, few ? (uint64_t) nleft * (uint64_t) work->ncolumns * 4
											: (uint64_t) work->padded * (uint64_t) work->ncolumns / 2))
				return KANON_CANCELLED;
			round->next[row] = 0;
			round->nchoices[row] =
				(uint8_t) (few ? choices_of_few(round, row, left, nleft)
							   : freeform_choices(work, row, round->choice + (size_t) row * CHOICES,
												  CHOICES));
		}
		if (round->nchoices[row] > 0 && !queue(round, row))
			return KANON_NO_MEMORY;
	}
	memset(round->stamp, 0, work->n * sizeof(*round->stamp));
	round->stamps = 0;
	for (uint32_t i = 0; i < work->n && !round->mutual && status == KANON_OK; i++)
		if (round->record[i] == FREEFORM_NONE)
			status = swap(round, i);
	return status;
}

/* Matches are added when the round is over. */
static void
round_end(Round *round)
{
	FreeformWork *work = round->work;

	for (uint32_t i = 0; i < work->n; i++)
		if (round->record[i] != FREEFORM_NONE)
			freeform_add(work, i, round->record[i]);
}

/* One round: record[i] of each row, where it got one. */
static KanonStatus
make_round(Round *round)
{
	FreeformWork *work = round->work;
	KanonStatus status = freeform_scan_begin(work);

	round->open = work->n;
	for (uint32_t i = 0; i < work->n; i++)
	{
		round->record[i] = FREEFORM_NONE;
		work->closed[i] = 0;
	}
	if (status != KANON_OK)
		return status;
	return round->sorted ? sorted_round(round) : greedy_round(round);
}

static KanonStatus
round_again(void *arg, uint32_t *record)
{
	Round *round = arg;
	KanonStatus status = make_round(round);

	memcpy(record, round->record, round->work->n * sizeof(*record));
	return status;
}

static KanonStatus
rounds(FreeformWork *work, bool sorted)
{
	Round round = {.work = work};
	size_t mark = kanon_mark(&work->scratch);
	KanonStatus status = round_open(&round, sorted) ? KANON_OK : KANON_NO_MEMORY;
	bool improve = sorted && !round.mutual && work->space->method != KANON_FREEFORM_PLAIN_SORT_GREEDY;

	for (uint32_t r = 1; r < work->degree && status == KANON_OK; r++)
	{
		work->pace.share = (double) (r - 1) / work->degree;
		status = make_round(&round);
		if (status == KANON_OK)
			round_end(&round);
		if (status == KANON_OK && round.mutual)
			status = freeform_mend(work, r + 1);
	}
	if (status == KANON_OK && improve)
		status = freeform_improve(work, round_again, &round);
	kanon_release(&work->scratch, mark);
	return status;
}

KanonStatus
freeform_greedy(FreeformWork *work)
{
	return rounds(work, false);
}

KanonStatus
freeform_sort_greedy(FreeformWork *work)
{
	return rounds(work, true);
}

/*
 * ---- What it takes when matches are to be mutual: row i matches
 * record j if and only if row j matches record i.
 *
 * The graph is then undirected, and a round is a perfect matching among the rows.
 * Rows that a round leaves over (one, when they are odd in number) get their
 * match by an exchange: pair (x, y) makes way for (u, x) and (v, y).
 */

static void
pair(FreeformWork *work, uint32_t i, uint32_t j)
{
	freeform_add(work, i, j);
	freeform_add(work, j, i);
}

/* The first row, from `from` on, that lacks a match; n if there is none. */
static uint32_t
lacking(const FreeformWork *work, uint32_t from, uint32_t degree)
{
	while (from < work->n && work->ntarget[from] >= degree)
		from++;
	return from;
}

/* u and v, which may be the same row, get a match each. */
static KanonStatus
exchange(FreeformWork *work, uint32_t u, uint32_t v)
{
	int64_t best = INT64_MAX;
	uint32_t from = 0;
	uint32_t to = 0;

	for (uint32_t x = 0; x < work->n; x++)
	{
		const uint32_t *target = work->target + (size_t) x * work->degree;
		int32_t weight;

		if (kanon_stop(&work->pace, (uint64_t) work->degree * (uint64_t) work->ncolumns * 4))
			return KANON_CANCELLED;
		if (freeform_matches(work, u, x))
			continue;
		weight = freeform_pair_weight(work, u, x);
		for (uint32_t t = 1; t < work->ntarget[x]; t++)
		{
			uint32_t y = target[t];
			int64_t cost;

			if (y == x || freeform_matches(work, v, y))
				continue;
			cost = (int64_t) weight + freeform_pair_weight(work, v, y);
			if (cost < best)
			{
				best = cost;
				from = x;
				to = y;
			}
		}
	}
	if (best == INT64_MAX)
		return KANON_NOT_FOUND;
	freeform_remove(work, from, to);
	freeform_remove(work, to, from);
	pair(work, u, from);
	pair(work, v, to);
	return KANON_OK;
}

KanonStatus
freeform_mend(FreeformWork *work, uint32_t degree)
{
	uint32_t lacks = 0;

	for (uint32_t i = 0; i < work->n; i++)
		if (work->ntarget[i] < degree)
			lacks += degree - work->ntarget[i];
	for (; lacks >= 2; lacks -= 2)
	{
		uint32_t u = lacking(work, 0, degree);
		uint32_t v = lacking(work, u + 1, degree);
		uint32_t other = v;
		KanonStatus status;

		while (other < work->n && freeform_matches(work, u, other))
			other = lacking(work, other + 1, degree);
		if (other < work->n)
		{
			pair(work, u, other);
			continue;
		}
		status = exchange(work, u, v < work->n ? v : u);
		if (status != KANON_OK)
			return status;
	}
	return KANON_OK;
}

void
freeform_circle(FreeformWork *work, const uint32_t *rows, uint32_t n, uint32_t degree)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t away = 1; away <= (degree - 1) / 2; away++)
			pair(work, rows[i], rows[(i + away) % n]);
	if (degree % 2 == 0)
		for (uint32_t i = 0; i < n / 2; i++)
			pair(work, rows[i], rows[i + n / 2]);
}

/*
 * ---- Groups of k to 2k - 1 rows, in each of which record i shows
 * the values of row i and the k - 1 that follow in a ring.
 *
 * Wong, Mamoulis, Cheung, "Non-homogeneous generalization in privacy preserving
 * data publishing", SIGMOD 2010.  The groups are made as Mondrian does (LeFevre,
 * DeWitt, Ramakrishnan, ICDE 2006): halved, in the order of the column that would
 * cost most, as long as both halves have k rows.
 */

typedef struct Ring
{
	FreeformWork *work;
	uint32_t *row;     /* [n] group by group */
	uint32_t *scratch; /* [n] */
	uint32_t *seen;    /* [n] a stamp per value */
	uint32_t stamp;
	const int32_t *value; /* of the column to sort by */
} Ring;

static int
compare_rows(const void *a, const void *b, void *arg)
{
	const int32_t *value = ((Ring *) arg)->value;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	if (value[left] != value[right])
		return value[left] < value[right] ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* The cost of one cell that shows all of a group's values in this column. */
static int64_t
width(Ring *ring, int c, const uint32_t *row, uint32_t n)
{
	const FreeformWork *work = ring->work;
	const int32_t *value = work->value[c];
	int32_t low = value[row[0]];
	int32_t high = low;
	int64_t distinct = 0;

	if (work->space->columns[c].levels > 0)
	{
		uint32_t node = (uint32_t) low;

		for (uint32_t x = 1; x < n; x++)
			node = freeform_join(work, c, node, (uint32_t) value[row[x]]);
		return work->price[c][node];
	}
	ring->stamp++;
	for (uint32_t x = 0; x < n; x++)
	{
		int32_t v = value[row[x]];

		low = v < low ? v : low;
		high = v > high ? v : high;
		if (!work->space->columns[c].number && ring->seen[v] != ring->stamp)
		{
			ring->seen[v] = ring->stamp;
			distinct++;
		}
	}
	if (work->space->columns[c].number)
		return high - low < work->space->columns[c].full ? high - low : work->space->columns[c].full;
	return (distinct - 1) * work->step[c];
}

static void
close_ring(FreeformWork *work, const uint32_t *row, uint32_t n, uint32_t k)
{
	if (work->space->symmetric)
	{
		/* an even number of matches among an odd number of rows cannot be mutual */
		freeform_circle(work, row, n, k + (k % 2 == 0 && n % 2 == 1));
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t away = 1; away < k; away++)
			freeform_add(work, row[(i + away) % n], row[i]);
}

/* Closes a group of rows that is not halved any more. */
static void
close_group(Ring *ring, uint32_t *row, uint32_t n)
{
	kanon_sort(row, ring->scratch, n, sizeof(*row), kanon_compare_numbers, NULL);
	close_ring(ring->work, row, n, ring->work->k);
}

/* Sorts a group by the widest column. */
static void
sort_group(Ring *ring, uint32_t *row, uint32_t n)
{
	const FreeformWork *work = ring->work;
	int64_t wide[KANON_MAX_COLUMNS];
	int widest = 0;

	for (int c = 0; c < work->ncolumns; c++)
		wide[c] = width(ring, c, row, n);
	for (int c = 1; c < work->ncolumns; c++)
		if (wide[c] > wide[widest])
			widest = c;
	ring->value = work->value[widest];
	kanon_sort(row, ring->scratch, n, sizeof(*row), compare_rows, ring);
}

/* Halves a group, again and again: the depth is the logarithm of its size. */
static KanonStatus
divide(Ring *ring, uint32_t *row, uint32_t n)
{
	FreeformWork *work = ring->work;
	KanonStatus status;

	if (kanon_stop(&work->pace, (uint64_t) n * ((uint64_t) work->ncolumns + 20)))
		return KANON_CANCELLED;
	if (n < 2 * work->k)
	{
		close_group(ring, row, n);
		return KANON_OK;
	}
	sort_group(ring, row, n);
	status = divide(ring, row, n / 2);
	return status == KANON_OK ? divide(ring, row + n / 2, n - n / 2) : status;
}

KanonStatus
freeform_ring(FreeformWork *work)
{
	Ring ring = {.work = work};
	KanonStatus status;

	ring.row = kanon_take(&work->scratch, work->n, sizeof(uint32_t));
	ring.scratch = kanon_take(&work->scratch, work->n, sizeof(uint32_t));
	ring.seen = kanon_take0(&work->scratch, work->n, sizeof(uint32_t));
	status = kanon_taken(&work->scratch);
	for (uint32_t i = 0; i < work->n && status == KANON_OK; i++)
		ring.row[i] = i;
	if (status == KANON_OK)
		status = divide(&ring, ring.row, work->n);
	return status;
}
