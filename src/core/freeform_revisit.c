/*
 * freeform_revisit.c: rounds are made anew while that pays.
 *
 * When a round was made, those after it were not known.  So the oldest round is
 * taken out and made once more, among all the others; it stays as it was unless
 * the new one costs less.  Cost falls with every change, and no release of the
 * method without this is better.
 */
#include <string.h>

#include "freeform_work.h"

/* Takes out the oldest round; record[i] is what row i had in it. */
static void
take_out(FreeformWork *work, uint32_t *record)
{
	uint32_t	left = work->degree - 1;

	for (uint32_t i = 0; i < work->n; i++)
	{
		uint32_t   *target = work->target + (size_t) i * work->degree;

		record[i] = target[0];
		memmove(target, target + 1, left * sizeof(*target));
		work->ntarget[i] = left;
	}
	for (uint32_t j = 0; j < work->n; j++)
	{
		uint32_t   *match = work->match + (size_t) j * work->degree;

		memmove(match, match + 1, left * sizeof(*match));
		work->nmatch[j] = left;
		freeform_show_matches(work, j);
	}
}

static int64_t
cost_of(const FreeformWork *work, const uint32_t *record)
{
	int64_t		sum = 0;

	for (uint32_t i = 0; i < work->n; i++)
		sum += freeform_weight(work, i, record[i]);
	return sum;
}

KanonStatus
freeform_revisit(FreeformWork *work, FreeformRound make, void *arg)
{
	uint32_t   *old = kanon_alloc(work->env, work->n, sizeof(uint32_t));
	uint32_t   *new = kanon_alloc(work->env, work->n, sizeof(uint32_t));
	uint32_t	stale = 0;
	KanonStatus status = old != NULL && new != NULL ? KANON_OK : KANON_NO_MEMORY;

	while (status == KANON_OK && stale < work->degree)
	{
		const uint32_t *better = old;

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
