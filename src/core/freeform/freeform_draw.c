/*
 * freeform_draw.c: which row's kept values go with which record.
 *
 * A k-regular graph falls apart into k disjoint assignments (perfect matchings).
 * They are drawn one after the other by random walks along cycles (Wong, Mamoulis,
 * Cheung, SIGMOD 2010; Xue, Karras, Raissi, Vaidya, Tan, "Anonymizing set-valued
 * data by nonreciprocal recoding", KDD 2012), here the walks of Goel, Kapralov,
 * Khanna, "Perfect matchings in O(n log n) time in regular bipartite graphs", STOC
 * 2010: what is left after taking an assignment out is regular again, so that a
 * walk ends after a few steps.  One of the k is chosen, each as likely as the
 * others: a match is the true one with a chance of exactly 1/k, however the
 * assignments were drawn.
 */
#include <stdio.h>
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/number.h"

/* Steps of a walk in a graph that is not regular, before it is given up. */
#define MOST_STEPS 1000

static uint64_t
next(FreeformRandom *random)
{
	if (random->strong != NULL && random->left == 0 && !random->failed)
	{
		random->failed = !random->strong(random->pool, sizeof(random->pool));
		random->left = sizeof(random->pool) / sizeof(random->pool[0]);
	}
	/* what is drawn after a failure only brings the walk to its end */
	if (random->strong != NULL && !random->failed)
		return random->pool[--random->left];
	return kanon_random_split(&random->state);
}

static uint32_t
freeform_below(FreeformRandom *random, uint32_t bound)
{
	/* the rest of 2^32 that would favour small numbers is thrown away */
	uint32_t least = -bound % bound;

	for (;;)
	{
		uint64_t wide = (next(random) >> 32) * bound;

		if ((uint32_t) wide >= least)
			return (uint32_t) (wide >> 32);
	}
}

typedef struct Draw
{
	KanonScratch scratch;
	FreeformWork *work;
	FreeformRandom *random;
	uint32_t n;
	size_t *start;    /* [n + 1] */
	uint32_t *target; /* records of each row; that of its assignment is last */
	uint32_t *left;   /* [n] of them not used up */
	uint32_t *record; /* [n] that the row is assigned, or none */
	uint32_t *row;    /* [n] that the record is assigned, or none */
	uint32_t *step;   /* [n] where the walk left a row for */
	uint32_t *order;  /* [n] */
} Draw;

static bool
draw_alloc(Draw *draw, size_t edges)
{
	KanonScratch *scratch = &draw->scratch;
	size_t n = draw->n;

	draw->start = kanon_take0(scratch, n + 2, sizeof(size_t));
	draw->target = kanon_take(scratch, edges, sizeof(uint32_t));
	draw->left = kanon_take(scratch, n, sizeof(uint32_t));
	draw->record = kanon_take(scratch, n, sizeof(uint32_t));
	draw->row = kanon_take(scratch, n, sizeof(uint32_t));
	draw->step = kanon_take(scratch, n, sizeof(uint32_t));
	draw->order = kanon_take(scratch, n, sizeof(uint32_t));
	if (scratch->failed)
		return false;
	memset(draw->record, 0xff, n * sizeof(uint32_t));
	memset(draw->row, 0xff, n * sizeof(uint32_t));
	return true;
}

/* The graph from the rows' side. */
static bool
draw_open(Draw *draw, const KanonFreeformGraph *graph)
{
	size_t n = graph->n;

	if (!draw_alloc(draw, graph->start[n]))
		return false;
	for (uint32_t m = 0; m < graph->start[n]; m++)
		draw->start[graph->match[m] + 2]++;
	for (size_t i = 2; i <= n; i++)
		draw->start[i] += draw->start[i - 1];
	for (uint32_t j = 0; j < n; j++)
		for (uint32_t m = graph->start[j]; m < graph->start[j + 1]; m++)
			draw->target[draw->start[graph->match[m] + 1]++] = j;
	for (uint32_t i = 0; i < n; i++)
		draw->left[i] = (uint32_t) (draw->start[i + 1] - draw->start[i]);
	return true;
}

static void
shuffle(Draw *draw, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--)
	{
		uint32_t other = freeform_below(draw->random, i);
		uint32_t swap = draw->order[i - 1];

		draw->order[i - 1] = draw->order[other];
		draw->order[other] = swap;
	}
}

/* A record that row i is not assigned, at random. */
static uint32_t
walk_on(Draw *draw, uint32_t i)
{
	uint32_t choices = draw->left[i] - (draw->record[i] != FREEFORM_NONE);

	return draw->target[draw->start[i] + freeform_below(draw->random, choices)];
}

static void
give(Draw *draw, uint32_t i, uint32_t j)
{
	uint32_t *target = draw->target + draw->start[i];
	uint32_t last = draw->left[i] - 1;
	uint32_t at = 0;

	while (target[at] != j)
		at++;
	target[at] = target[last];
	target[last] = j;
	draw->record[i] = j;
	draw->row[j] = i;
}

/*
 * Walks from row i until a record without a row; along the way without its loops
 * (each row is left for where it was left for last) rows change their records.
 */
static KanonStatus
walk(Draw *draw, uint32_t i)
{
	uint32_t at = i;

	for (;;)
	{
		uint32_t j = walk_on(draw, at);

		if (kanon_stop(&draw->work->pace, 16))
			return KANON_CANCELLED;
		draw->step[at] = j;
		if (draw->row[j] == FREEFORM_NONE)
			break;
		at = draw->row[j];
	}
	for (at = i;;)
	{
		uint32_t j = draw->step[at];
		uint32_t before = draw->row[j];

		give(draw, at, j);
		if (before == FREEFORM_NONE)
			return KANON_OK;
		at = before;
	}
}

/* Rows have `degree` matches each: draws the assignment of this number among as many. */
static KanonStatus
draw_regular(Draw *draw, uint32_t degree, uint32_t chosen)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < draw->n; i++)
		if (draw->start[i + 1] - draw->start[i] == degree)
			draw->order[n++] = i;
	/* those after the chosen one need not be drawn */
	for (uint32_t a = 0; a <= chosen; a++)
	{
		KanonStatus status;

		for (uint32_t x = 0; x < n && a > 0; x++)
		{
			uint32_t i = draw->order[x];

			draw->row[draw->record[i]] = FREEFORM_NONE;
			draw->record[i] = FREEFORM_NONE;
			draw->left[i]--;
		}
		shuffle(draw, n);
		for (uint32_t x = 0; x < n; x++)
		{
			kanon_pace_done(&draw->work->pace, ((double) a + (double) x / n) / (chosen + 1));
			status = walk(draw, draw->order[x]);
			if (status != KANON_OK)
				return status;
		}
	}
	return KANON_OK;
}

/*
 * For a graph that is not regular: every record has its own row at first, and each
 * row in turn walks to another record, which must come back to the one it left.
 */
static KanonStatus
draw_any(Draw *draw)
{
	for (uint32_t i = 0; i < draw->n; i++)
	{
		draw->order[i] = i;
		give(draw, i, i);
	}
	shuffle(draw, draw->n);
	for (uint32_t x = 0; x < draw->n; x++)
	{
		uint32_t start = draw->order[x];
		uint32_t end = draw->record[start];
		uint32_t at = start;
		uint32_t j = FREEFORM_NONE;

		kanon_pace_done(&draw->work->pace, (double) x / draw->n);

		for (uint32_t s = 0; s < MOST_STEPS && draw->left[at] > 1 && j != end; s++)
		{
			j = walk_on(draw, at);
			draw->step[at] = j;
			at = draw->row[j];
		}
		if (kanon_stop(&draw->work->pace, MOST_STEPS * 8))
			return KANON_CANCELLED;
		for (at = start; j == end;)
		{
			uint32_t to = draw->step[at];
			uint32_t before = draw->row[to];

			give(draw, at, to);
			if (to == end)
				break;
			at = before;
		}
	}
	return KANON_OK;
}

KanonStatus
freeform_matching(FreeformWork *work, FreeformRandom *random, uint32_t *record)
{
	Draw draw = {.scratch = {.env = work->env}, .work = work, .random = random, .n = work->n};
	uint32_t degree = work->ntarget[0];
	KanonStatus status = KANON_NO_MEMORY;

	if (draw_alloc(&draw, (size_t) work->n * degree))
	{
		for (uint32_t i = 0; i < work->n; i++)
		{
			draw.start[i + 1] = (size_t) (i + 1) * degree;
			draw.left[i] = degree;
			memcpy(draw.target + (size_t) i * degree, work->target + (size_t) i * work->degree,
				   degree * sizeof(uint32_t));
		}
		status = draw_regular(&draw, degree, 0);
		if (status == KANON_OK)
			memcpy(record, draw.record, work->n * sizeof(uint32_t));
	}
	kanon_scratch_free(&draw.scratch);
	return status;
}

KanonStatus
freeform_draw(FreeformWork *work, KanonFreeformGraph *graph)
{
	Draw draw = {.scratch = {.env = work->env}, .work = work, .random = &work->random, .n = graph->n};
	KanonStatus status = KANON_NO_MEMORY;

	work->pace.phase = "draw";
	graph->given = kanon_alloc(work->env, graph->n, sizeof(uint32_t));
	if (graph->given != NULL && draw_open(&draw, graph))
	{
		status = KANON_OK;
		kanon_pace_part(&work->pace, 0, 1, 0, 1);
		if (work->space->method == KANON_FREEFORM_CONCEALMENT)
			status = draw_any(&draw);
		else
			/* groups may have k + 1 matches where k cannot be mutual */
			for (uint32_t degree = work->k; degree <= work->k + 1 && status == KANON_OK; degree++)
			{
				kanon_pace_part(&work->pace, 0, 1, degree - work->k, 2);
				status = draw_regular(&draw, degree, freeform_below(draw.random, degree));
			}
		if (status == KANON_OK)
			memcpy(graph->given, draw.row, graph->n * sizeof(uint32_t));
		if (status == KANON_OK && work->random.failed)
		{
			snprintf(work->detail, work->detail_size, "there are no random numbers to be had");
			status = KANON_UNAVAILABLE;
		}
	}
	kanon_scratch_free(&draw.scratch);
	return status;
}
