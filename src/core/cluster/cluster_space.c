/*
 * cluster_space.c: how far row types are from one another.
 *
 * The distance of two types is what a class of both would hide: of each
 * quasi-identifier with a hierarchy the levels up to their common one, of a range
 * its share of the whole range, else, where they differ, all of it.  It is a
 * metric, and what a class hides is at most the sum of the edges of any tree over
 * its members: on each axis a tree that joins them passes through all that the
 * class hides.
 */
#include <math.h>

#include "cluster/clustering.h"
#include "util/number.h"

/* Points that are measured together: a constant, so that compilers use vectors. */
#define BLOCK 256

/* A weight as a share of KANON_SPACE_ONE. */
static uint32_t
fixed(const ClusterLayout *layout, double weight)
{
	return layout->weight > 0 ? (uint32_t) llround(weight / layout->weight * (double) KANON_SPACE_ONE) : 0;
}

static uint32_t *
axis_memory(ClusterSpace *space)
{
	return kanon_take0(space->scratch, space->room, sizeof(uint32_t));
}

static bool
distances_memory(ClusterSpace *space)
{
	space->distance = axis_memory(space);
	space->least = kanon_take0(space->scratch, space->room / BLOCK, sizeof(uint32_t));
	return space->distance != NULL && space->least != NULL;
}

/* Types with different codes in a column are a weight apart. */
static KanonStatus
add_equal(ClusterSpace *space, const KanonColumn *column, uint32_t weight)
{
	SpaceAxis *axis = &space->axis[space->naxes++];

	axis->weight = weight;
	axis->kind = axis_memory(space);
	if (axis->kind == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < space->n; i++)
		axis->kind[i] = column->code[i];
	space->halves = space->halves && column->distinct <= 2;
	return KANON_OK;
}

/* Numbers are as far apart as they are on the column's range. */
static KanonStatus
add_range(ClusterSpace *space, const ClusterQi *qi, const KanonColumn *column, uint32_t weight)
{
	SpaceAxis *axis = &space->axis[space->naxes++];

	axis->weight = weight;
	axis->kind = axis_memory(space);
	axis->place = axis_memory(space);
	if (axis->kind == NULL || axis->place == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < space->n; i++)
	{
		double number = cluster_number(qi, column->code[i]);

		if (!isfinite(number))
		{
			axis->kind[i] = column->code[i] + 1;
			space->halves = space->halves && column->distinct <= 2;
		}
		else if (qi->span > 0)
			axis->place[i] = (uint32_t) llround((number * qi->scale - qi->low) / qi->span * weight);
	}
	return KANON_OK;
}

KanonStatus
space_open(const ClusterLayout *layout, KanonScratch *scratch, ClusterSpace *space)
{
	const KanonProblem *problem = layout->problem;
	KanonStatus status = KANON_OK;

	*space = (ClusterSpace){.scratch = scratch,
							.n = problem->ntypes,
							.room = ((size_t) problem->ntypes + BLOCK - 1) / BLOCK * BLOCK,
							.unit = layout->weight / (double) KANON_SPACE_ONE,
							.halves = true};
	for (int q = 0; q < layout->nqis && status == KANON_OK; q++)
	{
		const ClusterQi *qi = &layout->qi[q];
		const KanonColumn *column = cluster_column(layout, qi);

		if (qi->show == KANON_CLUSTER_RANGE)
			status = add_range(space, qi, column, fixed(layout, qi->weight));
		else if (qi->show == KANON_CLUSTER_HIERARCHY)
			for (int l = 0; l < qi->levels && status == KANON_OK; l++)
				status = add_equal(space, &column[l], fixed(layout, column[l].weight));
		else
			status = add_equal(space, column, fixed(layout, qi->weight));
	}
	return status == KANON_OK && !distances_memory(space) ? KANON_NO_MEMORY : status;
}

KanonStatus
space_some(const ClusterSpace *whole, const uint32_t *point, uint32_t n, ClusterSpace *some)
{
	*some = (ClusterSpace){.scratch = whole->scratch,
						   .n = n,
						   .room = ((size_t) n + BLOCK - 1) / BLOCK * BLOCK,
						   .naxes = whole->naxes,
						   .unit = whole->unit,
						   .halves = whole->halves};
	if (!distances_memory(some))
		return KANON_NO_MEMORY;
	for (int a = 0; a < some->naxes; a++)
	{
		SpaceAxis *axis = &some->axis[a];
		bool places = whole->axis[a].place != NULL;

		axis->weight = whole->axis[a].weight;
		axis->kind = axis_memory(some);
		axis->place = places ? axis_memory(some) : NULL;
		if (some->scratch->failed)
			return KANON_NO_MEMORY;
		for (uint32_t i = 0; i < n; i++)
			axis->kind[i] = whole->axis[a].kind[point[i]];
		for (uint32_t i = 0; i < n && places; i++)
			axis->place[i] = whole->axis[a].place[point[i]];
	}
	return KANON_OK;
}

/* Adds an axis without places to a block of distances. */
INTO_THEM void
add_kinds(uint32_t *restrict distance, const uint32_t *restrict kind, uint32_t own, uint32_t weight)
{
	for (int i = 0; i < BLOCK; i++)
		distance[i] += kind[i] != own ? weight : 0;
}

/* The same of two: distances are fetched and stored once for both. */
INTO_THEM void
add_two_kinds(uint32_t *restrict distance, const SpaceAxis *one, const SpaceAxis *other, size_t block,
			  uint32_t from)
{
	const uint32_t *restrict first = one->kind + block;
	const uint32_t *restrict second = other->kind + block;
	uint32_t own[2] = {one->kind[from], other->kind[from]};
	uint32_t weight[2] = {one->weight, other->weight};

	for (int i = 0; i < BLOCK; i++)
		distance[i] += (first[i] != own[0] ? weight[0] : 0) + (second[i] != own[1] ? weight[1] : 0);
}

INTO_THEM uint32_t
least_of(const uint32_t *distance)
{
	int32_t least = INT32_MAX; /* (they are far below that, and this is quicker to compare) */

	for (int i = 0; i < BLOCK; i++)
		least = (int32_t) distance[i] < least ? (int32_t) distance[i] : least;
	return (uint32_t) least;
}

INTO_THEM void
add_places(uint32_t *restrict distance, const uint32_t *restrict kind, const uint32_t *restrict place,
		   uint32_t own, uint32_t at, uint32_t weight)
{
	for (int i = 0; i < BLOCK; i++)
	{
		int32_t apart = (int32_t) place[i] - (int32_t) at;

		distance[i] += kind[i] != own ? weight : (uint32_t) (apart < 0 ? -apart : apart);
	}
}

LONG_VECTORS uint64_t
space_measure(ClusterSpace *space, uint32_t from)
{
	for (size_t block = 0; block < space->room; block += BLOCK)
	{
		uint32_t *distance = space->distance + block;

		for (int i = 0; i < BLOCK; i++)
			distance[i] = 0;
		for (int a = 0; a < space->naxes; a++)
		{
			const SpaceAxis *axis = &space->axis[a];

			if (axis->place == NULL && a + 1 < space->naxes && axis[1].place == NULL)
			{
				add_two_kinds(distance, axis, axis + 1, block, from);
				a++;
			}
			else if (axis->place == NULL)
				add_kinds(distance, axis->kind + block, axis->kind[from], axis->weight);
			else
				add_places(distance, axis->kind + block, axis->place + block, axis->kind[from],
						   axis->place[from], axis->weight);
		}
		space->least[block / BLOCK] = least_of(distance);
	}
	return space->room / 4 * (uint64_t) (space->naxes + 1);
}

uint32_t
space_distance(const ClusterSpace *space, uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (int i = 0; i < space->naxes; i++)
	{
		const SpaceAxis *axis = &space->axis[i];

		if (axis->kind[a] != axis->kind[b])
			sum += axis->weight;
		else if (axis->place != NULL)
			sum += axis->place[a] > axis->place[b] ? axis->place[a] - axis->place[b]
												   : axis->place[b] - axis->place[a];
	}
	return sum;
}

static bool
nearer(SpaceNear a, SpaceNear b)
{
	return a.distance != b.distance ? a.distance < b.distance : a.type < b.type;
}

/* Sinks the farthest of a heap, whose top it is, to its place. */
static void
sink(SpaceNear *heap, uint32_t n, uint32_t at, SpaceNear item)
{
	for (;;)
	{
		uint32_t child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && nearer(heap[child], heap[child + 1]))
			child++;
		if (!nearer(item, heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = item;
}

uint32_t
space_nearest(const ClusterSpace *space, const int64_t *rows, uint32_t from, uint32_t most, int64_t wanted,
			  SpaceNear *nearest)
{
	uint32_t n = 0;
	int64_t held = 0;

	if (most > wanted)
		most = wanted > 0 ? (uint32_t) wanted : 0;
	for (uint32_t i = 0; i < space->n && most > 0; i++)
	{
		SpaceNear item = {space->distance[i], i};

		/* nothing in the whole block is near enough */
		if (i % BLOCK == 0 && n == most && space->least[i / BLOCK] >= nearest[0].distance)
		{
			i += BLOCK - 1;
			continue;
		}
		if (i == from)
			continue;
		if (n < most)
		{
			nearest[n++] = item;
			if (n == most)
				for (uint32_t at = n / 2; at-- > 0;)
					sink(nearest, n, at, nearest[at]);
		}
		else if (item.distance < nearest[0].distance)
			sink(nearest, n, 0, item);
	}
	if (n < most)
		for (uint32_t at = n / 2; at-- > 0;)
			sink(nearest, n, at, nearest[at]);
	for (uint32_t left = n; left > 1; left--)
	{
		SpaceNear last = nearest[left - 1];

		nearest[left - 1] = nearest[0];
		sink(nearest, left - 1, 0, last);
	}
	for (uint32_t i = 0; i < n; i++)
	{
		held += rows != NULL ? rows[nearest[i].type] : 0;
		if (held >= wanted)
			return i + 1;
	}
	return n;
}
