/*
 * freeform_revisit.c: rounds are made anew while that pays.
 *
 * When a round was made, those after it were not known.  So the oldest round is
 * taken out and made once more, among all the others; it stays as it was unless
 * the new one costs less.  Cost falls with every change, and no release of the
 * method without this is better.
 */
#include <string.h>

#include "freeform/freeform_work.h"

/* Assignments drawn and made anew in vain, before that is given up; more of few rows. */
#define PATIENCE 8
#define PATIENCE_ROWS 1000

/* Takes out the oldest round; record[i] is what row i had in it. */
static void
take_out(FreeformWork *work, uint32_t *record)
{
	uint32_t left = work->degree - 1;

	for (uint32_t i = 0; i < work->n; i++)
	{
		uint32_t *target = work->target + (size_t) i * work->degree;

		record[i] = target[0];
		memmove(target, target + 1, left * sizeof(*target));
		work->ntarget[i] = left;
	}
	for (uint32_t j = 0; j < work->n; j++)
	{
		uint32_t *match = work->match + (size_t) j * work->degree;

		memmove(match, match + 1, left * sizeof(*match));
		work->nmatch[j] = left;
		freeform_show_matches(work, j);
	}
}

static int64_t
cost_of(const FreeformWork *work, const uint32_t *record)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < work->n; i++)
		sum += freeform_weight(work, i, record[i]);
	return sum;
}

/* Puts an assignment, as it falls to chance, where the oldest round is. */
static KanonStatus
bring_forward(FreeformWork *work, FreeformRandom *random, uint32_t *record)
{
	KanonStatus status = freeform_matching(work, random, record);

	for (uint32_t i = 0; i < work->n && status == KANON_OK; i++)
	{
		uint32_t *target = work->target + (size_t) i * work->degree;
		uint32_t *match = work->match + (size_t) record[i] * work->degree;
		uint32_t at = 0;

		while (target[at] != record[i])
			at++;
		target[at] = target[0];
		target[0] = record[i];
		for (at = 0; match[at] != i;)
			at++;
		match[at] = match[0];
		match[0] = i;
	}
	return status;
}

static KanonStatus
revisit(FreeformWork *work, FreeformRound make, void *arg, FreeformRandom *random, uint32_t patience)
{
	uint32_t *old = kanon_alloc(work->env, work->n, sizeof(uint32_t));
	uint32_t *new = kanon_alloc(work->env, work->n, sizeof(uint32_t));
	uint32_t stale = 0;
	KanonStatus status = old != NULL && new != NULL ? KANON_OK : KANON_NO_MEMORY;

	while (status == KANON_OK && stale < patience)
	{
		const uint32_t *better = old;

		if (random != NULL)
		{
			status = bring_forward(work, random, old);
			if (status != KANON_OK)
				break;
		}
		if (kanon_stop(&work->pace, (uint64_t) work->n * work->degree * (uint64_t) work->ncolumns))
			status = KANON_CANCELLED;
		else
		{
			take_out(work, old);
			status = make(arg, new);
		}
		if (status != KANON_OK)
			break;
		stale++;
		if (cost_of(work, new) < cost_of(work, old))
		{
			better = new;
			stale = 0;
		}
		for (uint32_t i = 0; i < work->n; i++)
			freeform_add(work, i, better[i]);
	}
	kanon_free(work->env, old);
	kanon_free(work->env, new);
	return status;
}

KanonStatus
freeform_improve(FreeformWork *work, FreeformRound make, void *arg)
{
	/* the same whatever the assignment will be drawn by */
	FreeformRandom random = {.state = work->part->number};
	KanonStatus status = revisit(work, make, arg, NULL, work->degree);

	if (status == KANON_OK)
		status = freeform_exchange(work);
	if (status == KANON_OK)
		status = revisit(work, make, arg, &random, PATIENCE + PATIENCE_ROWS / work->n);
	return status == KANON_OK ? freeform_exchange(work) : status;
}
