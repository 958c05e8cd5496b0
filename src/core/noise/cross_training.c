/*
 * cross_training.c: each half of the rows says how much noise the other half gets.
 */
#include <math.h>

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

/*
 * ---- How many points somebody isolates who takes a released one for a guess.
 *
 * A released point isolates the points that are nearer than 1 / c of the distance to the t-th
 * nearest: within c times their distance there are fewer than t then.  With c >= 1 they are among
 * the t nearest, which a tree finds that divides the points at the median of the column in which
 * they are farthest apart (J. H. Friedman, J. L. Bentley, R. A. Finkel, "An algorithm for finding
 * best matches in logarithmic expected time", TOMS 1977).
 */

typedef struct Tree
{
	KanonPace pace;
	KanonScratch scratch;
	const KanonSpace *source;
	int ncolumns;
	uint32_t *order; /* [n] of a part: those before the one in the middle, it, those after it */
	int *column;     /* [n] by which the part is divided in whose middle it is */
	KanonKeyed *keyed, *spare;

	const double *from; /* the released point */
	uint64_t t;
	KanonHeap nearest; /* the farthest on top: keys are squares of distances, negative */
} Tree;

static const double *
point(const Tree *tree, uint32_t i)
{
	return tree->source->at + (size_t) i * tree->ncolumns;
}

/* ---- the tree ---- */

static int
widest(const Tree *tree, uint32_t from, uint32_t to)
{
	double most = -1;
	int column = 0;

	for (int c = 0; c < tree->ncolumns; c++)
	{
		double least = INFINITY, greatest = -INFINITY;

		for (uint32_t i = from; i < to; i++)
		{
			least = fmin(least, point(tree, tree->order[i])[c]);
			greatest = fmax(greatest, point(tree, tree->order[i])[c]);
		}
		if (greatest - least > most)
		{
			most = greatest - least;
			column = c;
		}
	}
	return column;
}

/* As kanon_compare_keyed; whoever cancels need not wait for the order. */
static int
compare_keyed(const void *a, const void *b, void *arg)
{
	Tree *tree = arg;

	if (tree->pace.cancelled || kanon_stop(&tree->pace, 1))
		return 0;
	return kanon_compare_keyed(a, b, NULL);
}

static bool
build(Tree *tree, uint32_t from, uint32_t to)
{
	uint32_t middle = from + (to - from) / 2, n = to - from;
	int column;

	if (n == 0)
		return true;
	column = widest(tree, from, to);
	for (uint32_t i = 0; i < n; i++)
		tree->keyed[i] = (KanonKeyed){point(tree, tree->order[from + i])[column], tree->order[from + i]};
	kanon_sort(tree->keyed, tree->spare, n, sizeof(KanonKeyed), compare_keyed, tree);
	for (uint32_t i = 0; i < n; i++)
		tree->order[from + i] = tree->keyed[i].item;
	tree->column[middle] = column;
	return !tree->pace.cancelled && !kanon_stop(&tree->pace, (uint64_t) n * (uint64_t) tree->ncolumns) &&
		   build(tree, from, middle) && build(tree, middle + 1, to);
}

/* ---- the nearest ---- */

static double
square_of_distance(const Tree *tree, const double *a)
{
	double sum = 0;

	for (int c = 0; c < tree->ncolumns; c++)
		sum += (a[c] - tree->from[c]) * (a[c] - tree->from[c]);
	return sum;
}

static bool
full(const Tree *tree)
{
	return tree->nearest.n == tree->t;
}

static KanonStatus
search(Tree *tree, uint32_t from, uint32_t to)
{
	uint32_t middle = from + (to - from) / 2;
	const double *here;
	double square, beyond;
	bool before;
	KanonStatus status;

	if (from == to)
		return KANON_OK;
	if (kanon_stop(&tree->pace, (uint64_t) tree->ncolumns))
		return KANON_CANCELLED;
	here = point(tree, tree->order[middle]);
	square = square_of_distance(tree, here);
	if (!full(tree) || square < -tree->nearest.items[0].key)
	{
		if (full(tree))
			(void) kanon_heap_take(&tree->nearest);
		if (!kanon_heap_add(&tree->scratch, &tree->nearest, -square, tree->order[middle]))
			return KANON_NO_MEMORY;
	}
	beyond = tree->from[tree->column[middle]] - here[tree->column[middle]];
	before = beyond < 0;
	status = before ? search(tree, from, middle) : search(tree, middle + 1, to);
	/* none that is as far away as the farthest comes in its place: of many equal rows t are looked at */
	if (status == KANON_OK && (!full(tree) || beyond * beyond < -tree->nearest.items[0].key))
		status = before ? search(tree, middle + 1, to) : search(tree, from, middle);
	return status;
}

/* ---- counting ---- */

static void
count(const Tree *tree, double c, bool *isolated, KanonIsolation *found)
{
	/* with fewer than t points at all, no ball has t of them */
	double limit = full(tree) ? -tree->nearest.items[0].key : INFINITY;
	bool any = false;

	for (size_t i = 0; i < tree->nearest.n; i++)
		if (c * c * -tree->nearest.items[i].key < limit)
		{
			found->isolated += !isolated[tree->nearest.items[i].item];
			isolated[tree->nearest.items[i].item] = true;
			any = true;
		}
	found->isolating += any;
}

KanonStatus
kanon_isolation_count(KanonEnv *env, const KanonSpace *source, const KanonSpace *released, int ncolumns,
					  double c, uint64_t t, KanonIsolation *found)
{
	Tree tree = {.pace = kanon_pace(env, "solve"),
				 .scratch = {.env = env},
				 .source = source,
				 .ncolumns = ncolumns,
				 .t = t};
	bool *isolated = kanon_take0(&tree.scratch, source->n + (size_t) 1, sizeof(bool));
	KanonStatus status;

	*found = (KanonIsolation){0};
	tree.order = kanon_take(&tree.scratch, source->n + (size_t) 1, sizeof(uint32_t));
	tree.column = kanon_take(&tree.scratch, source->n + (size_t) 1, sizeof(int));
	tree.keyed = kanon_take(&tree.scratch, source->n + (size_t) 1, sizeof(KanonKeyed));
	tree.spare = kanon_take(&tree.scratch, source->n + (size_t) 1, sizeof(KanonKeyed));
	status = kanon_taken(&tree.scratch);
	for (uint32_t i = 0; i < source->n && status == KANON_OK; i++)
		tree.order[i] = i;
	if (status == KANON_OK && (kanon_poll(&tree.pace) || !build(&tree, 0, source->n)))
		status = KANON_CANCELLED;
	for (uint32_t q = 0; q < released->n && status == KANON_OK; q++)
	{
		tree.from = released->at + (size_t) q * ncolumns;
		tree.nearest.n = 0;
		status = search(&tree, 0, source->n);
		if (status == KANON_OK)
			count(&tree, c, isolated, found);
	}
	kanon_scratch_free(&tree.scratch);
	return status;
}
