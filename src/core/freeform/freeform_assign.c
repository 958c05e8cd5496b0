/*
 * freeform_assign.c: hungarian, each round a perfect matching of least weight,
 * and min_cost_flow, all rounds at once on the weights of the first.
 *
 * Doka, Xue, Tsoumakos, Karras, "k-Anonymization by Freeform Generalization",
 * ASIACCS 2015.  Both are the same transportation problem (every row takes so many
 * records, every record so many rows, a pair meets once), solved by shortest
 * augmenting paths over reduced costs: Jonker, Volgenant, "A shortest augmenting
 * path algorithm for dense and sparse linear assignment problems", Computing 38,
 * 1987; Ahuja, Magnanti, Orlin, "Network Flows", 1993, section 9.7.
 */
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/number.h"

/* A matrix of weights up to this many bytes is kept; a larger one is found row by row. */
#define MOST_MATRIX ((size_t) 64 * 1024 * 1024)

/* Farther than any path; and the price of a record that no path goes to any more: it would be farther still. */
#define FAR ((int64_t) 1 << 60)
#define CLOSED (-2 * FAR)

/* Some rows or records at once. */
#define LANES 4
typedef int64_t Lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef int32_t HalfLanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

typedef struct Assign
{
	KanonScratch scratch;
	FreeformWork *work;
	uint32_t n;
	uint32_t each;      /* records that a row takes, rows that a record takes */
	int32_t *matrix;    /* [n * padded], or NULL */
	uint32_t *taken;    /* [n * each] records of a row */
	uint32_t *ntaken;   /* [n] */
	uint32_t *owner;    /* [n * each] rows of a record */
	uint32_t *nowner;   /* [n] */
	int64_t *row_price; /* [n] */
	int64_t *price;     /* [n] of a record */
	int64_t *row_dist;  /* [n] FAR: none */
	uint32_t *reached;  /* [n] rows that have one and are not done */
	uint32_t nreached;
	int64_t *dist;      /* [padded] FAR: none, or done */
	int64_t *asked;     /* [padded] price; CLOSED: done */
	int64_t *end;       /* [n] distance of those that are done */
	uint32_t *row_via;  /* [n] record that the path comes from */
	int32_t *via;       /* [padded] row that it comes from */
	uint8_t *row_done;  /* [n] */
	uint8_t *done;      /* [n] */
	int64_t *kept_dist; /* [matches] of the records that the row at hand cannot take */
	int32_t *kept_via;
} Assign;

static bool
assign_open(Assign *a)
{
	KanonScratch *scratch = &a->scratch;
	size_t n = a->n;
	size_t padded = a->work->padded;
	size_t row = padded * sizeof(int32_t);

	if (n <= MOST_MATRIX / row)
		a->matrix = kanon_take(scratch, n, row);
	a->taken = kanon_take(scratch, n, a->each * sizeof(uint32_t));
	a->ntaken = kanon_take(scratch, n, sizeof(uint32_t));
	a->owner = kanon_take(scratch, n, a->each * sizeof(uint32_t));
	a->nowner = kanon_take(scratch, n, sizeof(uint32_t));
	a->row_price = kanon_take(scratch, n, sizeof(int64_t));
	a->price = kanon_take(scratch, n, sizeof(int64_t));
	a->row_dist = kanon_take(scratch, n, sizeof(int64_t));
	a->reached = kanon_take(scratch, n, sizeof(uint32_t));
	a->dist = kanon_take(scratch, padded, sizeof(int64_t));
	a->asked = kanon_take(scratch, padded, sizeof(int64_t));
	a->end = kanon_take(scratch, n, sizeof(int64_t));
	a->row_via = kanon_take(scratch, n, sizeof(uint32_t));
	a->via = kanon_take(scratch, padded, sizeof(int32_t));
	a->row_done = kanon_take(scratch, n, sizeof(uint8_t));
	a->done = kanon_take(scratch, n, sizeof(uint8_t));
	a->kept_dist = kanon_take(scratch, a->work->degree + a->each, sizeof(int64_t));
	a->kept_via = kanon_take(scratch, a->work->degree + a->each, sizeof(int32_t));
	return !scratch->failed;
}

static const int32_t *
weights(Assign *a, uint32_t i)
{
	return a->matrix != NULL ? a->matrix + (size_t) i * a->work->padded : freeform_scan(a->work, i);
}

/* The i-th of the records that a row cannot take: its matches, and those that it takes. */
static uint32_t
barred(const Assign *a, uint32_t i, uint32_t at)
{
	const FreeformWork *work = a->work;

	return at < work->ntarget[i] ? work->target[(size_t) i * work->degree + at]
								 : a->taken[(size_t) i * a->each + at - work->ntarget[i]];
}

/* Paths from row i, whose records would be so far without their weights and prices. */
LONG_VECTORS static void
shorten(const Assign *a, uint32_t i, const int32_t *weight, int64_t base)
{
	HalfLanes row = (HalfLanes){0} + (int32_t) i;

	for (size_t j = 0; j < a->work->padded; j += LANES)
	{
		Lanes *old = (Lanes *) (a->dist + j);
		HalfLanes *via = (HalfLanes *) (a->via + j);
		Lanes dist = base + __builtin_convertvector(*(const HalfLanes *) (weight + j), Lanes) -
					 *(const Lanes *) (a->asked + j);
		Lanes less = dist < *old;
		HalfLanes from = __builtin_convertvector(less, HalfLanes);

		*old = (less & dist) | (~less & *old);
		*via = (from & row) | (~from & *via);
	}
}

/* Paths go on from row i to the records that it could take. */
static void
reach_records(Assign *a, uint32_t i)
{
	uint32_t n = a->work->ntarget[i] + a->ntaken[i];

	for (uint32_t at = 0; at < n; at++)
	{
		a->kept_dist[at] = a->dist[barred(a, i, at)];
		a->kept_via[at] = a->via[barred(a, i, at)];
	}
	shorten(a, i, weights(a, i), a->row_dist[i] - a->row_price[i]);
	for (uint32_t at = 0; at < n; at++)
	{
		a->dist[barred(a, i, at)] = a->kept_dist[at];
		a->via[barred(a, i, at)] = a->kept_via[at];
	}
}

/* The nearest record: the first one of several. */
LONG_VECTORS static int64_t
nearest_record(const Assign *a, uint32_t *at)
{
	const int64_t *dist = a->dist;
	Lanes least = (Lanes){0} + FAR;
	Lanes other = least;
	int64_t min = FAR;

	/* (two, as neither has to wait for the other) */
	for (size_t j = 0; j < a->work->padded; j += 2 * LANES)
	{
		Lanes one = *(const Lanes *) (dist + j);
		Lanes two = *(const Lanes *) (dist + j + LANES);

		least = ((one < least) & one) | (~(one < least) & least);
		other = ((two < other) & two) | (~(two < other) & other);
	}
	least = ((other < least) & other) | (~(other < least) & least);
	for (int l = 0; l < LANES; l++)
		min = least[l] < min ? least[l] : min;
	for (*at = 0; min < FAR && dist[*at] != min;)
		++*at;
	return min;
}

/* The nearest row, by its place among those that are reached. */
static int64_t
nearest_row(const Assign *a, uint32_t *at)
{
	int64_t least = FAR;

	for (uint32_t r = 0; r < a->nreached; r++)
	{
		int64_t dist = a->row_dist[a->reached[r]];

		if (dist < least || (dist == least && a->reached[r] < a->reached[*at]))
		{
			least = dist;
			*at = r;
		}
	}
	return least;
}

/* And from a full record to the rows that could leave it. */
static void
reach_rows(Assign *a, uint32_t j)
{
	for (uint32_t o = 0; o < a->nowner[j]; o++)
	{
		uint32_t i = a->owner[(size_t) j * a->each + o];
		int64_t dist;

		if (a->row_done[i])
			continue;
		/* a pair that is taken may be better than its prices: never worse */
		dist = a->end[j] - (weights(a, i)[j] - a->row_price[i] - a->price[j]);
		if (dist < a->row_dist[i])
		{
			if (a->row_dist[i] == FAR)
				a->reached[a->nreached++] = i;
			a->row_dist[i] = dist;
			a->row_via[i] = j;
		}
	}
}

static void
put(uint32_t *list, uint32_t *n, uint32_t what)
{
	list[(*n)++] = what;
}

static void
drop(uint32_t *list, uint32_t *n, uint32_t what)
{
	uint32_t at = 0;

	while (list[at] != what)
		at++;
	list[at] = list[--*n];
}

/* One more record for row s, along the cheapest path. */
static KanonStatus
augment(Assign *a, uint32_t s)
{
	uint32_t end = FREEFORM_NONE;
	int64_t total = 0;

	for (size_t x = 0; x < a->work->padded; x++)
	{
		a->dist[x] = FAR;
		a->asked[x] = x < a->n ? a->price[x] : CLOSED;
	}
	for (uint32_t x = 0; x < a->n; x++)
		a->row_dist[x] = FAR;
	a->reached[0] = s;
	a->nreached = 1;
	memset(a->row_done, 0, a->n);
	memset(a->done, 0, a->n);
	a->row_dist[s] = 0;
	a->row_via[s] = FREEFORM_NONE;
	while (end == FREEFORM_NONE)
	{
		uint32_t at = 0;
		uint32_t record;
		int64_t of_row = nearest_row(a, &at);
		int64_t of_record = nearest_record(a, &record);

		if (kanon_stop(&a->work->pace, (uint64_t) a->n * 3))
			return KANON_CANCELLED;
		/* there always is one, but where a mutual round left a row over */
		if (of_row >= FAR && of_record >= FAR)
			return a->work->space->symmetric ? KANON_NOT_FOUND : KANON_BROKEN;
		if (of_row <= of_record)
		{
			uint32_t row = a->reached[at];

			a->reached[at] = a->reached[--a->nreached];
			a->row_done[row] = 1;
			reach_records(a, row);
		}
		else if (a->nowner[record] < a->each)
		{
			end = record;
			total = of_record;
		}
		else
		{
			a->done[record] = 1;
			a->end[record] = of_record;
			a->dist[record] = FAR;
			a->asked[record] = CLOSED;
			reach_rows(a, record);
		}
	}
	for (uint32_t x = 0; x < a->n; x++)
	{
		if (a->row_done[x])
			a->row_price[x] += total - a->row_dist[x];
		if (a->done[x])
			a->price[x] -= total - a->end[x];
	}
	for (uint32_t j = end;;)
	{
		uint32_t i = (uint32_t) a->via[j];
		uint32_t before = a->row_via[i];

		if (before != FREEFORM_NONE)
		{
			drop(a->taken + (size_t) i * a->each, &a->ntaken[i], before);
			drop(a->owner + (size_t) before * a->each, &a->nowner[before], i);
		}
		put(a->taken + (size_t) i * a->each, &a->ntaken[i], j);
		put(a->owner + (size_t) j * a->each, &a->nowner[j], i);
		if (before == FREEFORM_NONE)
			return KANON_OK;
		j = before;
	}
}

/* Every row takes `each` records, every record as many rows. */
static KanonStatus
assign(Assign *a)
{
	KanonStatus status = freeform_scan_begin(a->work);

	memset(a->ntaken, 0, a->n * sizeof(*a->ntaken));
	memset(a->nowner, 0, a->n * sizeof(*a->nowner));
	memset(a->row_price, 0, a->n * sizeof(*a->row_price));
	memset(a->price, 0, a->n * sizeof(*a->price));
	for (uint32_t i = 0; i < a->n && a->matrix != NULL && status == KANON_OK; i++)
	{
		if (kanon_stop(&a->work->pace, (uint64_t) a->work->padded * (uint64_t) a->work->ncolumns / 4))
			status = KANON_CANCELLED;
		memcpy(a->matrix + (size_t) i * a->work->padded, freeform_scan(a->work, i),
			   a->work->padded * sizeof(int32_t));
	}
	for (uint32_t r = 0; r < a->each && status == KANON_OK; r++)
		for (uint32_t i = 0; i < a->n && status == KANON_OK; i++)
			status = augment(a, i);
	return status;
}

/*
 * Pairs from a matching in which i takes j and j need not take i: every other step
 * along a cycle.  In an odd cycle the last row is left over.  Which half of an even one
 * is all the same: a pair weighs as much either way, so twice a cheaper half would be a
 * matching of less weight.
 */
static void
pair_up(Assign *a)
{
	FreeformWork *work = a->work;

	memset(a->done, 0, a->n);
	for (uint32_t start = 0; start < a->n; start++)
	{
		uint32_t length = 0;
		uint32_t i = start;

		for (; !a->done[i]; i = a->taken[i])
		{
			a->done[i] = 1;
			length++;
		}
		for (uint32_t pairs = length / 2; pairs > 0; pairs--)
		{
			uint32_t j = a->taken[i];
			uint32_t next = a->taken[j];

			freeform_add(work, i, j);
			freeform_add(work, j, i);
			i = next;
		}
	}
}

static KanonStatus
assign_again(void *arg, uint32_t *record)
{
	Assign *a = arg;
	KanonStatus status = assign(a);

	memcpy(record, a->taken, a->n * sizeof(*record));
	return status;
}

KanonStatus
freeform_hungarian(FreeformWork *work)
{
	Assign a = {.scratch = {.env = work->env}, .work = work, .n = work->n, .each = 1};
	KanonStatus status = assign_open(&a) ? KANON_OK : KANON_NO_MEMORY;

	for (uint32_t r = 1; r < work->degree && status == KANON_OK; r++)
	{
		work->pace.share = (double) (r - 1) / work->degree;
		status = assign(&a);
		if (status != KANON_OK)
			break;
		if (work->space->symmetric)
		{
			pair_up(&a);
			status = freeform_mend(work, r + 1);
		}
		else
			for (uint32_t i = 0; i < work->n; i++)
				freeform_add(work, i, a.taken[i]);
	}
	if (status == KANON_OK && work->space->method != KANON_FREEFORM_PLAIN_HUNGARIAN &&
		!work->space->symmetric)
		status = freeform_improve(work, assign_again, &a);
	kanon_scratch_free(&a.scratch);
	return status;
}

KanonStatus
freeform_min_cost_flow(FreeformWork *work)
{
	Assign a = {.scratch = {.env = work->env}, .work = work, .n = work->n, .each = work->degree - 1};
	KanonStatus status = assign_open(&a) ? KANON_OK : KANON_NO_MEMORY;

	if (status == KANON_OK)
		status = assign(&a);
	for (uint32_t i = 0; i < work->n && status == KANON_OK; i++)
		for (uint32_t t = 0; t < a.ntaken[i]; t++)
			freeform_add(work, i, a.taken[(size_t) i * a.each + t]);
	kanon_scratch_free(&a.scratch);
	return status;
}
