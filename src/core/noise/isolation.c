/*
 * isolation.c: how many points somebody isolates who takes a released one for a guess.
 *
 * A released point isolates the points that are nearer than 1 / c of the distance to the t-th
 * nearest: within c times their distance there are fewer than t then.  With c >= 1 they are among
 * the t nearest, which a tree finds that divides the points at the median of the column in which
 * they are farthest apart (J. H. Friedman, J. L. Bentley, R. A. Finkel, "An algorithm for finding
 * best matches in logarithmic expected time", TOMS 1977).
 */
#include "noise/noise.h"
#include "util/heap.h"
#include "util/pace.h"

#include <math.h>

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
