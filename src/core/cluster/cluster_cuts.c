/*
 * cluster_cuts.c: where a table is cut into parts.
 *
 * A cut is where it parts the fewest of some items from those that are nearest to them: between
 * categories that clusters do not mix, or along the column in which these are narrow.
 */
#include <math.h>
#include <string.h>

#include "cluster/cluster_patterns.h"
#include "util/number.h"
#include "util/sort.h"

static int
compare_levels(const void *a, const void *b, void *arg)
{
	const ClusterQi *qi = ((void **) arg)[0];
	const KanonColumn *column = ((void **) arg)[1];
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	for (int l = qi->levels; l-- > 0;)
		if (column[l].code[left] != column[l].code[right])
			return column[l].code[left] < column[l].code[right] ? -1 : 1;
	return 0;
}

/* Values that a hierarchy has under one node are neighbours. */
static KanonStatus
order_levels(Cuts *c, const ClusterQi *qi, const uint32_t **order)
{
	const KanonColumn *column = cluster_column(c->layout, qi);
	const void *compared[] = {qi, column};
	uint32_t ntypes = c->layout->problem->ntypes;
	uint32_t *by_type = kanon_take(c->scratch, ntypes, sizeof(uint32_t));
	size_t mark = kanon_mark(c->scratch);
	uint32_t *type = kanon_take(c->scratch, column->distinct, 2 * sizeof(uint32_t));
	uint32_t *place = kanon_take(c->scratch, column->distinct, sizeof(uint32_t));
	uint32_t n = 0;

	if (c->scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t v = 0; v < column->distinct; v++)
		place[v] = UINT32_MAX;
	for (uint32_t i = 0; i < ntypes; i++)
		if (place[column->code[i]] == UINT32_MAX)
		{
			place[column->code[i]] = 0;
			type[n++] = i;
		}
	kanon_sort(type, type + n, n, sizeof(uint32_t), compare_levels, compared);
	for (uint32_t i = 0; i < n; i++)
		place[column->code[type[i]]] = i;
	for (uint32_t i = 0; i < ntypes; i++)
		by_type[i] = place[column->code[i]];
	*order = by_type;
	kanon_release(c->scratch, mark);
	return kanon_stop(c->pace, (uint64_t) ntypes * 4) ? KANON_CANCELLED : KANON_OK;
}

static uint32_t
order_of(const Cuts *c, int after, uint32_t item)
{
	int q = c->by + after;

	return c->order[q < c->layout->nqis ? q : q - c->layout->nqis][c->type[item]];
}

static int
compare_items(const void *a, const void *b, void *arg)
{
	const Cuts *c = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	for (int q = 0; q < c->layout->nqis; q++)
		if (order_of(c, q, left) != order_of(c, q, right))
			return order_of(c, q, left) < order_of(c, q, right) ? -1 : 1;
	return 0;
}

static bool
is_before(const Cuts *c, uint32_t item, const ClusterCut *cut)
{
	return cut->within ? compare_items(&item, &cut->item, (void *) c) < 0
					   : order_of(c, 0, item) < order_of(c, 0, cut->item);
}

/* Items drawn by chance, each with those of the part that are nearest to it. */
static KanonStatus
find_pairs(Cuts *c, const uint32_t *item, uint32_t n)
{
	size_t mark = kanon_mark(c->scratch);
	uint32_t asked = CUTS_COMPARED / n < CUTS_ASKED ? CUTS_COMPARED / n : CUTS_ASKED;
	uint32_t *type = kanon_take(c->scratch, n, sizeof(uint32_t));
	KanonStatus status = kanon_taken(c->scratch);

	for (uint32_t x = 0; x < n && status == KANON_OK; x++)
		type[x] = c->type[item[x]];
	if (status == KANON_OK)
		status = space_some(&c->space, type, n, &c->some);
	asked = asked > CUTS_LEAST_ASKED ? asked : CUTS_LEAST_ASKED;
	c->npairs = 0;
	for (uint32_t i = 0; i < asked && status == KANON_OK; i++)
	{
		uint32_t own = (uint32_t) (kanon_random_split(&c->random) % n);
		SpaceNear near[CUTS_NEIGHBOURS];
		uint64_t work = space_measure(&c->some, own);
		uint32_t nnear = space_nearest(&c->some, NULL, own, CUTS_NEIGHBOURS, INT64_MAX, near);

		for (uint32_t j = 0; j < nnear; j++)
		{
			c->pair[c->npairs][0] = item[own];
			c->pair[c->npairs++][1] = item[near[j].type];
		}
		if (kanon_stop(c->pace, work))
			status = KANON_CANCELLED;
	}
	kanon_release(c->scratch, mark);
	return status;
}

/* The first cut, in the order of cuts, that an item is before. */
static uint32_t
first_after(const Cuts *c, uint32_t item, const ClusterCut *cut)
{
	uint32_t low = 0;
	uint32_t high = CUTS_PLACES + 1;

	while (low < high)
	{
		uint32_t middle = (low + high) / 2;

		if (is_before(c, item, &cut[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Counts the pairs that each cut parts: one of the two is before it and the other is not. */
static void
count_parted(const Cuts *c, const ClusterCut *cut, int32_t *parted)
{
	int32_t change[CUTS_PLACES + 2] = {0};
	uint32_t own = 0;

	for (uint32_t i = 0; i < c->npairs; i++)
	{
		uint32_t other = first_after(c, c->pair[i][1], cut);

		if (i == 0 || c->pair[i][0] != c->pair[i - 1][0])
			own = first_after(c, c->pair[i][0], cut);
		change[own < other ? own : other]++;
		change[own < other ? other : own]--;
	}
	for (int i = 0, n = 0; i <= CUTS_PLACES; i++)
		parted[i] = n += change[i];
}

/* The best cut by the quasi-identifier c->by: between two values, if there is such a place near. */
static KanonStatus
best_cut(Cuts *c, uint32_t nsample, ClusterCut *best)
{
	ClusterCut cut[CUTS_PLACES + 1];
	int32_t parted[CUTS_PLACES + 1];

	kanon_sort(c->sample, c->sorted, nsample, sizeof(uint32_t), compare_items, c);
	for (uint32_t place = 0; place <= CUTS_PLACES; place++)
	{
		uint32_t middle = (CUTS_PLACES + place) * nsample / (3 * CUTS_PLACES);
		uint32_t first = middle;

		while (first > nsample / 4 &&
			   order_of(c, 0, c->sample[first - 1]) == order_of(c, 0, c->sample[middle]))
			first--;
		cut[place] = (ClusterCut){.item = c->sample[middle], .within = first <= nsample / 4};
	}
	count_parted(c, cut, parted);
	best->loss = INFINITY;
	for (int place = 0; place <= CUTS_PLACES; place++)
	{
		/* of those that are as good the one in the middle */
		cut[place].loss = parted[place] + fabs(2.0 * place / CUTS_PLACES - 1) / 2;
		if (cut[place].loss < best->loss)
			*best = cut[place];
	}
	return kanon_stop(c->pace, (uint64_t) c->npairs * 16) ? KANON_CANCELLED : KANON_OK;
}

/* An item with its first two places in the order. */
typedef struct Placed
{
	uint64_t place;
	uint32_t item;
} Placed;

static int
compare_placed(const void *a, const void *b, void *arg)
{
	const Placed *left = a;
	const Placed *right = b;

	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	return compare_items(&left->item, &right->item, arg);
}

/* Items in the order of a cut; how many are before it. */
static KanonStatus
sort_by(Cuts *c, uint32_t *item, uint32_t n, const ClusterCut *cut, uint32_t *before)
{
	size_t mark = kanon_mark(c->scratch);
	Placed *placed = kanon_take(c->scratch, n, 2 * sizeof(Placed));
	uint32_t low = 0;
	uint32_t high = n;

	if (placed == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t x = 0; x < n; x++)
		placed[x] = (Placed){(uint64_t) order_of(c, 0, item[x]) << 32 |
								 (c->layout->nqis > 1 ? order_of(c, 1, item[x]) : 0),
							 item[x]};
	kanon_sort(placed, placed + n, n, sizeof(Placed), compare_placed, c);
	for (uint32_t x = 0; x < n; x++)
		item[x] = placed[x].item;
	kanon_release(c->scratch, mark);
	if (kanon_stop(c->pace, (uint64_t) n * 16))
		return KANON_CANCELLED;
	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (is_before(c, item[middle], cut))
			low = middle + 1;
		else
			high = middle;
	}
	*before = low;
	return KANON_OK;
}

KanonStatus
cuts_open(Cuts *c)
{
	KanonStatus status = space_open(c->layout, c->scratch, &c->space);

	for (int q = 0; q < c->layout->nqis && status == KANON_OK; q++)
	{
		const ClusterQi *qi = &c->layout->qi[q];

		c->order[q] = cluster_column(c->layout, qi)->code;
		if (qi->levels > 1)
			status = order_levels(c, qi, &c->order[q]);
	}
	return status;
}

KanonStatus
cuts_find(Cuts *c, const uint32_t *item, uint32_t n)
{
	uint32_t nsample = n < CUTS_SAMPLED ? n : CUTS_SAMPLED;
	KanonStatus status = find_pairs(c, item, n);

	for (uint32_t i = 0; i < nsample; i++)
		c->sample[i] = item[(uint64_t) i * n / nsample];
	for (c->by = 0; c->by < c->layout->nqis && status == KANON_OK; c->by++)
		status = best_cut(c, nsample, &c->cut[c->by]);
	return status;
}

KanonStatus
cuts_next(Cuts *c, uint32_t *item, uint32_t n, uint32_t *before)
{
	uint32_t least = n / 8 + 1;
	KanonStatus status;

	c->by = 0;
	for (int q = 1; q < c->layout->nqis; q++)
		if (c->cut[q].loss < c->cut[c->by].loss)
			c->by = q;
	status = sort_by(c, item, n, &c->cut[c->by], before);
	c->cut[c->by].loss = INFINITY;
	/* (a cut has about a quarter of those asked on either side, but others may be unlike these) */
	if (status == KANON_OK && (*before < least || n - *before < least))
		*before = n / 2;
	return status;
}
