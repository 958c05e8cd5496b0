/*
 * freeform_relaxed.c: (1,k)-, (k,1)- and (k,k)-anonymity: every row matches k
 * records, every record k rows, or both.  No more is asked of the matches: whether
 * a record could be a row's own in an assignment of all of them does not count.
 *
 * Gionis, Mazza, Tassa, "k-Anonymization revisited", ICDE 2008.  (k,1): each record
 * grows, row by row, until it shows k rows (their Algorithm 4).  (1,k): each row
 * that fewer than k records show is shown by those that grow least (Algorithm 5).
 * (k,k): the second after the first, which it only adds to.
 */
#include <string.h>

#include "freeform/freeform_work.h"

bool
freeform_is_shown(const FreeformShown *s, uint32_t j, uint32_t i)
{
	return (s->bit[j * s->words + i / 64] >> (i % 64) & 1) != 0;
}

uint32_t
freeform_next_shown(const FreeformShown *s, uint32_t j, uint32_t from)
{
	while (from < s->n)
	{
		uint64_t word = s->bit[j * s->words + from / 64] >> (from % 64);

		if (word != 0)
			return from + (uint32_t) __builtin_ctzll(word);
		from = (from / 64 + 1) * 64;
	}
	return s->n;
}

static KanonStatus
pause_for(FreeformShown *s)
{
	return kanon_stop(&s->work->pace, s->n * ((uint64_t) s->work->ncolumns + 1) / 2) ? KANON_CANCELLED
																					 : KANON_OK;
}

KanonStatus
freeform_note(FreeformShown *s, uint32_t j)
{
	uint64_t *bit = s->bit + j * s->words;

	memset(s->growth, 0, s->work->padded * sizeof(int32_t));
	freeform_growth(s->work, j, s->growth);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->growth[i] == 0 && !freeform_is_shown(s, j, i))
		{
			bit[i / 64] |= UINT64_C(1) << (i % 64);
			s->count[i]++;
		}
	return pause_for(s);
}

bool
freeform_shown_open(FreeformShown *s, FreeformWork *work)
{
	KanonScratch *scratch = &work->scratch;

	*s = (FreeformShown){.work = work, .n = work->n, .words = ((size_t) work->n + 63) / 64};
	s->bit = kanon_take0(scratch, s->n, s->words * sizeof(uint64_t));
	s->growth = kanon_take(scratch, work->padded, sizeof(int32_t));
	s->count = kanon_take0(scratch, s->n, sizeof(uint32_t));
	s->choice = kanon_take(scratch, work->k, sizeof(FreeformChoice));
	return !scratch->failed;
}

static uint32_t
count_shown(const FreeformShown *s, uint32_t j)
{
	uint32_t shown = 0;

	for (size_t w = 0; w < s->words; w++)
		shown += (uint32_t) __builtin_popcountll(s->bit[j * s->words + w]);
	return shown;
}

KanonStatus
freeform_show_rows(FreeformShown *s)
{
	for (uint32_t j = 0; j < s->n; j++)
	{
		KanonStatus status = freeform_note(s, j);

		while (status == KANON_OK && count_shown(s, j) < s->work->k)
		{
			uint32_t best = FREEFORM_NONE;

			for (uint32_t i = 0; i < s->n; i++)
				if (s->growth[i] > 0 && (best == FREEFORM_NONE || s->growth[i] < s->growth[best]))
					best = i;
			freeform_show(s->work, best, j);
			status = freeform_note(s, j);
		}
		if (status != KANON_OK)
			return status;
	}
	return KANON_OK;
}

KanonStatus
freeform_be_shown(FreeformShown *s)
{
	for (uint32_t i = 0; i < s->n; i++)
	{
		uint32_t k = s->work->k;
		uint32_t n = 0;
		uint32_t lacks = s->count[i] < k ? k - s->count[i] : 0;
		KanonStatus status = pause_for(s);

		for (uint32_t j = 0; j < s->n && lacks > 0; j++)
			if (!freeform_is_shown(s, j, i))
				n = freeform_choose(s->choice, n, lacks, (FreeformChoice){freeform_weight(s->work, i, j), j});
		for (uint32_t x = 0; x < n && status == KANON_OK; x++)
		{
			freeform_show(s->work, i, s->choice[x].record);
			status = freeform_note(s, s->choice[x].record);
		}
		if (status != KANON_OK)
			return status;
	}
	return KANON_OK;
}

KanonStatus
freeform_shown_graph(const FreeformShown *s, KanonFreeformGraph *graph)
{
	KanonEnv *env = s->work->env;
	uint64_t sum = 0;
	uint32_t edges = 0;

	for (uint32_t j = 0; j < s->n; j++)
		sum += count_shown(s, j);
	graph->start = kanon_alloc(env, (size_t) s->n + 1, sizeof(uint32_t));
	graph->match = sum < UINT32_MAX ? kanon_alloc(env, sum, sizeof(uint32_t)) : NULL;
	if (graph->start == NULL || graph->match == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t j = 0; j < s->n; j++)
	{
		graph->start[j] = edges;
		for (uint32_t i = freeform_next_shown(s, j, 0); i < s->n; i = freeform_next_shown(s, j, i + 1))
			graph->match[edges++] = i;
		graph->start[j + 1] = edges;
		if (kanon_stop(&s->work->pace, graph->start[j + 1] - graph->start[j] + s->words))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

KanonStatus
freeform_relaxed(FreeformWork *work, KanonFreeformGraph *graph)
{
	FreeformShown s;
	size_t mark = kanon_mark(&work->scratch);
	bool grows = kanon_freeform_promises_records(work->space->method);
	KanonStatus status = freeform_shown_open(&s, work) ? KANON_OK : KANON_NO_MEMORY;

	if (status == KANON_OK && grows)
		status = freeform_show_rows(&s);
	/* else they show their own rows, and what equals these */
	for (uint32_t j = 0; j < work->n && status == KANON_OK && !grows; j++)
		status = freeform_note(&s, j);
	if (status == KANON_OK && kanon_freeform_promises_rows(work->space->method))
		status = freeform_be_shown(&s);
	if (status == KANON_OK)
		status = freeform_shown_graph(&s, graph);
	/* as the paper has it, each record is its own row's */
	graph->given = status == KANON_OK ? kanon_alloc(work->env, work->n, sizeof(uint32_t)) : NULL;
	if (status == KANON_OK && graph->given == NULL)
		status = KANON_NO_MEMORY;
	for (uint32_t j = 0; j < work->n && status == KANON_OK; j++)
		graph->given[j] = j;
	kanon_release(&work->scratch, mark);
	return status;
}
