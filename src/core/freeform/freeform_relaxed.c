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

/* The rows that each record shows: those that it was meant to show, and those that it shows besides. */
typedef struct FreeformShown
{
	FreeformWork *work;
	uint32_t n;
	size_t words;
	uint64_t *bit;          /* [n * words] record by record */
	int32_t *growth;        /* [padded] of the record that was noted last, by each row */
	uint32_t *count;        /* [n] records that show each row */
	FreeformChoice *choice; /* [k] */
} FreeformShown;

static bool
freeform_is_shown(const FreeformShown *s, uint32_t j, uint32_t i)
{
	return (s->bit[j * s->words + i / 64] >> (i % 64) & 1) != 0;
}

/* The next row from `from` on that record j shows; n if there is none. */
static uint32_t
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

/* Notes what record j shows now. */
static KanonStatus
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

/* Nothing is noted yet; in memory of work->scratch.  false: no memory. */
static bool
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

/* Each record shows k rows; after notes of all records, each row is shown by k of them. */
static KanonStatus
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

static KanonStatus
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

/* All that is shown becomes the graph. */
static KanonStatus
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

/*
 * ---- K-concealment: every row has k records that could be its own
 * in some assignment of all rows to records.  Weaker than a k-regular graph: the
 * k are not equally likely.
 *
 * Gionis, Mazza, Tassa, "k-Anonymization revisited", ICDE 2008; Tassa, Mazza,
 * Gionis, "k-Concealment: an alternative model of k-type anonymity", Transactions
 * on Data Privacy 5, 2012.  The two steps to (k,k)-anonymity (freeform_relaxed.c),
 * and a third: where a record that shows a row could not be its own, because no
 * cycle leads back, the cheapest cycles are closed.
 */

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
