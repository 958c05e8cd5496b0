/*
 * freeform_conceal.c: k-concealment: every row has k records that could be its own
 * in some assignment of all rows to records.  Weaker than a k-regular graph: the
 * k are not equally likely.
 *
 * Gionis, Mazza, Tassa, "k-Anonymization revisited", ICDE 2008; Tassa, Mazza,
 * Gionis, "k-Concealment: an alternative model of k-type anonymity", Transactions
 * on Data Privacy 5, 2012.  The two steps to (k,k)-anonymity (freeform_relaxed.c),
 * and a third: where a record that shows a row could not be its own, because no
 * cycle leads back, the cheapest cycles are closed.
 */
#include <string.h>

#include "freeform/freeform_work.h"

typedef struct Conceal
{
	FreeformShown shown;
	uint32_t n;
	uint32_t *count; /* [n] records that could be each row's own */
	/* strong components of the graph from records to the rows (and their records) they show */
	uint32_t *component; /* [n] */
	uint32_t *low;       /* [n] */
	uint32_t *index;     /* [n] */
	uint32_t *stack;     /* [n] */
	uint32_t *path;      /* [n] */
	uint32_t *cursor;    /* [n] */
} Conceal;

static bool
conceal_open(Conceal *s, FreeformWork *work)
{
	if (!freeform_shown_open(&s->shown, work))
		return false;
	s->count = kanon_take(&work->scratch, s->n, sizeof(uint32_t));
	s->component = kanon_take(&work->scratch, s->n, sizeof(uint32_t));
	s->low = kanon_take(&work->scratch, s->n, sizeof(uint32_t));
	s->index = kanon_take(&work->scratch, s->n, sizeof(uint32_t));
	s->stack = kanon_take(&work->scratch, s->n, sizeof(uint32_t));
	s->path = kanon_take(&work->scratch, s->n, sizeof(uint32_t));
	s->cursor = kanon_take(&work->scratch, s->n, sizeof(uint32_t));
	return !work->scratch.failed;
}

/* Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1, 1972. */
static KanonStatus
find_components(Conceal *s)
{
	uint32_t found = 0;
	uint32_t nstack = 0;

	memset(s->index, 0xff, s->n * sizeof(uint32_t));
	memset(s->component, 0xff, s->n * sizeof(uint32_t));
	for (uint32_t root = 0; root < s->n; root++)
	{
		uint32_t depth = 0;

		if (s->index[root] != FREEFORM_NONE)
			continue;
		s->path[depth++] = root;
		s->cursor[root] = 0;
		s->index[root] = s->low[root] = found++;
		s->stack[nstack++] = root;
		while (depth > 0)
		{
			uint32_t j = s->path[depth - 1];
			uint32_t i = freeform_next_shown(&s->shown, j, s->cursor[j]);

			if (kanon_stop(&s->shown.work->pace, 8))
				return KANON_CANCELLED;
			s->cursor[j] = i + 1;
			if (i < s->n && s->index[i] == FREEFORM_NONE)
			{
				s->path[depth++] = i;
				s->cursor[i] = 0;
				s->index[i] = s->low[i] = found++;
				s->stack[nstack++] = i;
			}
			else if (i < s->n)
			{
				if (s->component[i] == FREEFORM_NONE && s->index[i] < s->low[j])
					s->low[j] = s->index[i];
			}
			else
			{
				depth--;
				if (depth > 0 && s->low[j] < s->low[s->path[depth - 1]])
					s->low[s->path[depth - 1]] = s->low[j];
				if (s->low[j] == s->index[j])
					do
						s->component[s->stack[--nstack]] = j;
					while (s->stack[nstack] != j);
			}
		}
	}
	return KANON_OK;
}

/* Closes cycles until each row has k records that could be its own. */
static KanonStatus
close_cycles(Conceal *s)
{
	FreeformShown *shown = &s->shown;
	uint32_t k = shown->work->k;
	bool lacking = true;

	while (lacking)
	{
		KanonStatus status = find_components(s);

		if (status != KANON_OK)
			return status;
		lacking = false;
		memset(s->count, 0, s->n * sizeof(uint32_t));
		for (uint32_t j = 0; j < s->n; j++)
			for (uint32_t i = freeform_next_shown(shown, j, 0); i < s->n;
				 i = freeform_next_shown(shown, j, i + 1))
				s->count[i] += s->component[i] == s->component[j];
		for (uint32_t i = 0; i < s->n; i++)
		{
			uint32_t n = 0;

			if (s->count[i] >= k)
				continue;
			lacking = true;
			/* record j shows row i; that record i shows row j closes a cycle */
			for (uint32_t j = 0; j < s->n; j++)
				if (freeform_is_shown(shown, j, i) && s->component[j] != s->component[i])
					n = freeform_choose(shown->choice, n, k - s->count[i],
										(FreeformChoice){freeform_weight(shown->work, j, i), j});
			for (uint32_t x = 0; x < n; x++)
				freeform_show(shown->work, shown->choice[x].record, i);
			status = freeform_note(shown, i);
			if (status != KANON_OK)
				return status;
		}
	}
	return KANON_OK;
}

KanonStatus
freeform_concealment(FreeformWork *work, KanonFreeformGraph *graph)
{
	Conceal s = {.n = work->n};
	size_t mark = kanon_mark(&work->scratch);
	KanonStatus status = conceal_open(&s, work) ? KANON_OK : KANON_NO_MEMORY;

	if (status == KANON_OK)
		status = freeform_show_rows(&s.shown);
	if (status == KANON_OK)
		status = freeform_be_shown(&s.shown);
	if (status == KANON_OK)
		status = close_cycles(&s);
	if (status == KANON_OK)
		status = freeform_shown_graph(&s.shown, graph);
	kanon_release(&work->scratch, mark);
	return status;
}
