/*
 * freeform_mutual.c: what it takes when matches are to be mutual: row i matches
 * record j if and only if row j matches record i.
 *
 * The graph is then undirected, and a round is a perfect matching among the rows.
 * Rows that a round leaves over (one, when they are odd in number) get their
 * match by an exchange: pair (x, y) makes way for (u, x) and (v, y).
 */
#include "freeform/freeform_work.h"

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
