/*
 * cross_training.c: each half of the rows says how much noise the other half gets.
 */
#include "noise/noise.h"
#include "util/pace.h"
#include "util/scratch.h"
#include "util/sort.h"

/* Those who are still to be chosen, among those who are still to be asked: each half is as likely as any other. */
void
kanon_halve(const KanonChance *chance, uint32_t n, bool *half)
{
	uint32_t left = n - n / 2;

	for (uint32_t i = 0; i < n; i++)
	{
		half[i] = kanon_chance_below(chance, n - i) < left;
		left -= half[i];
	}
}

/* ---- the recursive histogram ---- */

typedef struct Cell
{
	uint32_t from, to; /* of the points in their order */
	uint8_t divisions;
} Cell;

typedef struct Histogram
{
	KanonPace pace;
	KanonScratch scratch;
	const KanonPoints *points;
	uint32_t *order;    /* [n] cell by cell, whatever their size */
	uint8_t *together;  /* [n] divisions that leave a point in one cell with the one before it */
	Cell *cells;        /* [n] still to be looked at */
	const bool *half;   /* whose histogram it is, */
	bool which;         /* by its value there */
	uint8_t *divisions; /* [n] outcome */
} Histogram;

/* 0, or something with the highest bit in which two points differ in any column; *first: does the one with 0 there come first? */
static uint32_t
difference(const KanonPoints *points, uint32_t a, uint32_t b, bool *first)
{
	const uint32_t *x = points->place + (size_t) a * points->ncolumns;
	const uint32_t *y = points->place + (size_t) b * points->ncolumns;
	uint32_t most = 0;

	for (int c = 0; c < points->ncolumns; c++)
	{
		uint32_t differ = x[c] ^ y[c];

		if (most < differ && most < (most ^ differ))
		{
			most = differ;
			*first = x[c] < y[c];
		}
	}
	return most;
}

static int
compare_points(const void *a, const void *b, void *arg)
{
	Histogram *h = arg;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	bool first = false;

	/* whoever cancels need not wait for the order */
	if (h->pace.cancelled || kanon_stop(&h->pace, (uint64_t) h->points->ncolumns))
		return 0;
	if (difference(h->points, x, y, &first) == 0)
		return (x > y) - (x < y);
	return first ? -1 : 1;
}

/* Divisions that leave two points in one cell. */
static uint8_t
together(const KanonPoints *points, uint32_t a, uint32_t b)
{
	bool first;
	uint32_t most = difference(points, a, b, &first);
	uint8_t divisions = KANON_PLACE_BITS;

	for (; most > 0; most >>= 1)
		divisions--;
	return divisions;
}

/* In an order in which the points of every cell follow one another. */
static KanonStatus
put_in_order(Histogram *h)
{
	uint32_t n = h->points->n;
	uint32_t *spare = kanon_take(&h->scratch, n, sizeof(uint32_t));

	h->order = kanon_take(&h->scratch, n, sizeof(uint32_t));
	h->together = kanon_take(&h->scratch, n, sizeof(uint8_t));
	h->cells = kanon_take(&h->scratch, n, sizeof(Cell));
	if (kanon_taken(&h->scratch) != KANON_OK)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		h->order[i] = i;
	kanon_sort(h->order, spare, n, sizeof(uint32_t), compare_points, h);
	if (h->pace.cancelled)
		return KANON_CANCELLED;
	h->together[0] = 0;
	for (uint32_t i = 1; i < n; i++)
	{
		h->together[i] = together(h->points, h->order[i - 1], h->order[i]);
		if (kanon_stop(&h->pace, (uint64_t) h->points->ncolumns))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* More than 2t points of the half, and not all in one place. */
static bool
to_divide(const Histogram *h, Cell cell, uint64_t t)
{
	uint64_t count = 0;
	uint32_t last = 0;
	bool apart = false;

	if (cell.divisions == KANON_MOST_DIVISIONS)
		return false;
	for (uint32_t i = cell.from; i < cell.to; i++)
	{
		bool first;

		if (h->half[h->order[i]] != h->which)
			continue;
		apart = apart || (count > 0 && difference(h->points, last, h->order[i], &first) > 0);
		last = h->order[i];
		count++;
	}
	/* (t may be as large as its type has it) */
	return apart && count > t && count - t > t;
}

static KanonStatus
divide(Histogram *h, uint64_t t)
{
	uint32_t left = 1;

	h->cells[0] = (Cell){0, h->points->n, 0};
	while (left > 0)
	{
		Cell cell = h->cells[--left];
		uint32_t from = cell.from;

		if (kanon_stop(&h->pace, (uint64_t) (cell.to - cell.from) * (uint64_t) h->points->ncolumns))
			return KANON_CANCELLED;
		if (to_divide(h, cell, t))
		{
			/* (its parts have no more points together than it had, so that there is room) */
			for (uint32_t i = from + 1; i <= cell.to; i++)
				if (i == cell.to || h->together[i] == cell.divisions)
				{
					h->cells[left++] = (Cell){from, i, (uint8_t) (cell.divisions + 1)};
					from = i;
				}
			continue;
		}
		for (uint32_t i = cell.from; i < cell.to; i++)
			if (h->half[h->order[i]] != h->which)
				h->divisions[h->order[i]] = cell.divisions;
	}
	return KANON_OK;
}

KanonStatus
kanon_histogram_cells(KanonEnv *env, const KanonPoints *points, const bool *half, uint64_t t,
					  uint8_t *divisions)
{
	Histogram h = {.pace = kanon_pace(env, "solve"),
				   .scratch = {.env = env},
				   .points = points,
				   .half = half,
				   .divisions = divisions};
	KanonStatus status = KANON_OK;

	if (points->n == 0)
		return KANON_OK;
	status = kanon_poll(&h.pace) ? KANON_CANCELLED : put_in_order(&h);
	for (int which = 0; which < 2 && status == KANON_OK; which++)
	{
		h.which = which == 1;
		status = divide(&h, t);
	}
	kanon_scratch_free(&h.scratch);
	return status;
}

/* ---- noise ---- */

/*
 * From a discrete Laplace distribution of the same scale s: |x| is kept with probability
 * exp(-(|x| - s)^2 / 2s^2), and the product of both is what is wanted but for a constant.
 */
int64_t
kanon_gaussian(const KanonChance *chance, int bits)
{
	const uint64_t scale = UINT64_C(1) << bits, whole = UINT64_C(1) << (2 * bits + 1);

	for (;;)
	{
		KanonWide x = kanon_noise(chance, scale, 1);
		KanonWide beyond = (x < 0 ? -x : x) - (KanonWide) scale;
		KanonWide square = beyond * beyond;
		bool kept = true;

		for (KanonWide ones = square >> (2 * bits + 1); ones > 0 && kept; ones--)
			kept = kanon_chance_exp(chance, 1, 1);
		if (kept && kanon_chance_exp(chance, (uint64_t) (square & (whole - 1)), whole))
			return (int64_t) x;
	}
}

KanonStatus
kanon_cross_train(KanonEnv *env, const KanonChance *chance, const KanonPoints *points, uint64_t t,
				  int64_t *moved, uint8_t *divisions)
{
	KanonPace pace = kanon_pace(env, "solve");
	bool *half = kanon_alloc(env, points->n + (size_t) 1, sizeof(bool));
	KanonStatus status = KANON_NO_MEMORY;

	if (half != NULL)
	{
		kanon_halve(chance, points->n, half);
		status = kanon_histogram_cells(env, points, half, t, divisions);
	}
	for (uint32_t i = 0; i < points->n && status == KANON_OK; i++)
	{
		int bits = kanon_noise_bits(divisions[i], points->ncolumns);

		for (int c = 0; c < points->ncolumns; c++)
		{
			size_t at = (size_t) i * points->ncolumns + c;

			moved[at] = points->place[at] + kanon_gaussian(chance, bits);
		}
		if (kanon_stop(&pace, 64 * (uint64_t) points->ncolumns))
			status = KANON_CANCELLED;
	}
	kanon_free(env, half);
	return status;
}
