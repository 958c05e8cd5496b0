/*
 * freeform_groups.c: under rules, rounds in which each group takes one more row.
 *
 * Where every row is to see one row of each colour in its records, and each row is to be
 * in one record of each colour (freeform_colours.c), the graph is as many divisions of the
 * rows into groups, one for the records of each colour, and none is cheaper than the
 * cheapest of these divisions for all.  So that is what is made: the records of a group are
 * alike, and each is as likely as the others to be any of its rows'.
 *
 * A method's rounds are its own, but that in each only the rows of one slot take a record,
 * of those whose rows are in slot 0.
 */
#include <string.h>

#include "freeform/freeform_colours.h"

/* Times that rows of one colour change their slots and rounds are made anew in vain. */
#define PATIENCE 8

/* Rows of the slot at hand leave their records. */
static void
take_out(FreeformWork *work, uint32_t *record)
{
	for (uint32_t i = 0; i < work->n; i++)
		if (freeform_is_due(work, i))
		{
			record[i] = work->target[(size_t) i * work->degree + 1];
			freeform_remove(work, i, record[i]);
		}
}

static int64_t
cost_of(const FreeformWork *work, const uint32_t *record)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < work->n; i++)
		if (freeform_is_due(work, i))
			sum += freeform_weight(work, i, record[i]);
	return sum;
}

static void
add_round(FreeformWork *work, const uint32_t *record)
{
	for (uint32_t i = 0; i < work->n; i++)
		if (freeform_is_due(work, i))
			freeform_add(work, i, record[i]);
}

/* Rows of a colour change their slots within their group: the next rounds are others. */
static void
mix_slots(FreeformWork *work, FreeformRandom *random)
{
	for (uint32_t j = 0; j < work->n; j++)
	{
		const uint32_t *match = work->match + (size_t) j * work->degree;

		/* the first is its own, in slot 0 */
		for (uint32_t x = work->nmatch[j]; x > 2 && work->slot[j] == 0; x--)
		{
			uint32_t a = match[x - 1];
			uint32_t b = match[1 + freeform_below(random, x - 1)];
			uint32_t slot = work->slot[a];

			if (slot % work->ncolours == work->slot[b] % work->ncolours)
			{
				work->slot[a] = work->slot[b];
				work->slot[b] = slot;
			}
		}
	}
}

/* Rounds are made anew among the others, as long as that pays. */
static KanonStatus
revisit(FreeformWork *work, FreeformRound make, void *arg, uint32_t *old, uint32_t *new)
{
	/* the same whatever is drawn */
	FreeformRandom random = {.state = work->part->number};
	uint32_t tries = work->ncolours < work->degree ? PATIENCE : 1;
	KanonStatus status = KANON_OK;

	work->due = 1;
	for (uint32_t stale = 0; stale < tries * (work->degree - 1) && status == KANON_OK; stale++)
	{
		const uint32_t *better = old;

		if (kanon_stop(&work->pace, (uint64_t) work->n * (uint64_t) work->ncolumns * 2))
			return KANON_CANCELLED;
		take_out(work, old);
		status = make(arg, new);
		if (status != KANON_OK)
			return status;
		if (cost_of(work, new) < cost_of(work, old))
		{
			better = new;
			stale = 0;
		}
		add_round(work, better);
		if (++work->due == work->degree)
		{
			work->due = 1;
			if (tries > 1)
				mix_slots(work, &random);
		}
	}
	return status;
}

KanonStatus
freeform_fill_groups(FreeformWork *work, FreeformRound make, void *arg, bool improve)
{
	size_t mark = kanon_mark(&work->scratch);
	uint32_t *record = kanon_take(&work->scratch, work->n, sizeof(uint32_t));
	uint32_t *spare = kanon_take(&work->scratch, work->n, sizeof(uint32_t));
	KanonStatus status = kanon_taken(&work->scratch);

	for (work->due = 1; work->due < work->degree && status == KANON_OK; work->due++)
	{
		work->pace.share = (double) (work->due - 1) / work->degree;
		status = make(arg, record);
		if (status == KANON_OK)
			add_round(work, record);
	}
	if (status == KANON_OK && improve)
		status = revisit(work, make, arg, record, spare);
	kanon_release(&work->scratch, mark);
	return status;
}

KanonStatus
freeform_groups_graph(FreeformColours *f, KanonFreeformGraph *graph)
{
	FreeformWork *work = f->rules.work;
	uint32_t at = 0;
	KanonStatus status = KANON_OK;

	f->rules.rows = f->row;
	for (uint32_t j = 0; j < work->n; j++)
		if (f->slot[j] == 0)
		{
			memcpy(f->row + at, work->match + (size_t) j * work->degree, f->width * sizeof(uint32_t));
			freeform_rules_group(&f->rules, f->row + at, f->width);
			at += f->width;
		}
	for (uint32_t j = 0, tail = at; j < work->n; j++)
		if (f->slot[j] == FREEFORM_NONE)
			f->row[tail++] = j;
	if (at < work->n)
		status = freeform_rules_ring(&f->rules, f->row + at, work->n - at);
	return status == KANON_OK ? freeform_rules_graph(&f->rules, graph) : status;
}
