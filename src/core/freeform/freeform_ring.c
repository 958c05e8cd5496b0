/*
 * freeform_ring.c: groups of k to 2k - 1 rows, in each of which record i shows
 * the values of row i and the k - 1 that follow in a ring.
 *
 * Wong, Mamoulis, Cheung, "Non-homogeneous generalization in privacy preserving
 * data publishing", SIGMOD 2010.  The groups are made as Mondrian does (LeFevre,
 * DeWitt, Ramakrishnan, ICDE 2006): halved, in the order of the column that would
 * cost most, as long as both halves have k rows.
 */
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/sort.h"

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
