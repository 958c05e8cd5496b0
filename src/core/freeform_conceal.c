/*
 * freeform_conceal.c: k-concealment: every row has k records that could be its own
 * in some assignment of all rows to records.  Weaker than a k-regular graph: the
 * k are not equally likely.
 *
 * Gionis, Mazza, Tassa, "k-Anonymization revisited", ICDE 2008; Tassa, Mazza,
 * Gionis, "k-Concealment: an alternative model of k-type anonymity", Transactions
 * on Data Privacy 5, 2012.  In three steps: each record grows, row by row, until
 * it shows k rows; each row that fewer than k records show is shown by those that
 * grow least; and where a record that shows a row could not be its own, because no
 * cycle leads back, the cheapest cycles are closed.
 */
#include <string.h>

#include "freeform_work.h"

typedef struct Conceal
{
	FreeformWork *work;
	uint32_t	n;
	size_t		words;
	uint64_t   *shows;			/* [n * words] rows that each record shows */
	int32_t    *growth;			/* [padded] */
	uint32_t   *count;			/* [n] */
	/* strong components of the graph from records to the rows (and their records) they show */
	uint32_t   *component;		/* [n] */
	uint32_t   *low;			/* [n] */
	uint32_t   *index;			/* [n] */
	uint32_t   *stack;			/* [n] */
	uint32_t   *path;			/* [n] */
	uint32_t   *cursor;			/* [n] */
	FreeformChoice *choice;		/* [k] */
} Conceal;

static void
conceal_close(Conceal *s)
{
	KanonEnv   *env = s->work->env;

	kanon_free(env, s->shows);
	kanon_free(env, s->growth);
	kanon_free(env, s->count);
	kanon_free(env, s->component);
	kanon_free(env, s->low);
	kanon_free(env, s->index);
	kanon_free(env, s->stack);
	kanon_free(env, s->path);
	kanon_free(env, s->cursor);
	kanon_free(env, s->choice);
}

static bool
conceal_open(Conceal *s)
{
	KanonEnv   *env = s->work->env;

	s->words = ((size_t) s->n + 63) / 64;
	s->shows = kanon_alloc0(env, s->n, s->words * sizeof(uint64_t));
	s->growth = kanon_alloc(env, s->work->padded, sizeof(int32_t));
	s->count = kanon_alloc(env, s->n, sizeof(uint32_t));
	s->component = kanon_alloc(env, s->n, sizeof(uint32_t));
	s->low = kanon_alloc(env, s->n, sizeof(uint32_t));
	s->index = kanon_alloc(env, s->n, sizeof(uint32_t));
	s->stack = kanon_alloc(env, s->n, sizeof(uint32_t));
	s->path = kanon_alloc(env, s->n, sizeof(uint32_t));
	s->cursor = kanon_alloc(env, s->n, sizeof(uint32_t));
	s->choice = kanon_alloc(env, s->work->space->k, sizeof(FreeformChoice));
	return s->shows != NULL && s->growth != NULL && s->count != NULL && s->component != NULL &&
		s->low != NULL && s->index != NULL && s->stack != NULL && s->path != NULL &&
		s->cursor != NULL && s->choice != NULL;
}

static bool
is_shown(const Conceal *s, uint32_t j, uint32_t i)
{
	return (s->shows[j * s->words + i / 64] >> (i % 64) & 1) != 0;
}

/* Notes what record j shows; growth has what it would cost to show each row. */
static uint32_t
note(Conceal *s, uint32_t j)
{
	uint32_t	shown = 0;

	memset(s->growth, 0, s->work->padded * sizeof(int32_t));
	freeform_growth(s->work, j, s->growth);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->growth[i] == 0)
		{
			s->shows[j * s->words + i / 64] |= UINT64_C(1) << (i % 64);
			shown++;
		}
	return shown;
}

static KanonStatus
pause_for(Conceal *s, uint64_t times)
{
	return kanon_stop(&s->work->pace, times * s->n * (uint64_t) s->work->ncolumns / 2) ? KANON_CANCELLED : KANON_OK;
}

/* Each record shows k rows. */
static KanonStatus
show_rows(Conceal *s)
{
	for (uint32_t j = 0; j < s->n; j++)
		while (note(s, j) < s->work->space->k)
		{
			uint32_t	best = FREEFORM_NONE;

			for (uint32_t i = 0; i < s->n; i++)
				if (s->growth[i] > 0 && (best == FREEFORM_NONE || s->growth[i] < s->growth[best]))
					best = i;
			freeform_show(s->work, best, j);
			if (pause_for(s, 1) != KANON_OK)
				return KANON_CANCELLED;
		}
	return KANON_OK;
}

/* Each row is shown by k records. */
static KanonStatus
be_shown(Conceal *s)
{
	for (uint32_t i = 0; i < s->n; i++)
	{
		uint32_t	n = 0;
		uint32_t	shown = 0;

		for (uint32_t j = 0; j < s->n; j++)
			shown += is_shown(s, j, i);
		if (shown >= s->work->space->k)
			continue;
		for (uint32_t j = 0; j < s->n; j++)
			if (!is_shown(s, j, i))
				n = freeform_choose(s->choice, n, s->work->space->k - shown,
									(FreeformChoice) {freeform_weight(s->work, i, j), j});
		for (uint32_t x = 0; x < n; x++)
		{
			freeform_show(s->work, i, s->choice[x].record);
			note(s, s->choice[x].record);
		}
		if (pause_for(s, n + 8) != KANON_OK)
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* The next row after `from` that record j shows; n if there is none. */
static uint32_t
next_shown(const Conceal *s, uint32_t j, uint32_t from)
{
	while (from < s->n)
	{
		uint64_t	word = s->shows[j * s->words + from / 64] >> (from % 64);

		if (word != 0)
			return from + (uint32_t) __builtin_ctzll(word);
		from = (from / 64 + 1) * 64;
	}
	return s->n;
}

/* Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1, 1972. */
static KanonStatus
find_components(Conceal *s)
{
	uint32_t	found = 0;
	uint32_t	nstack = 0;

	memset(s->index, 0xff, s->n * sizeof(uint32_t));
	memset(s->component, 0xff, s->n * sizeof(uint32_t));
	for (uint32_t root = 0; root < s->n; root++)
	{
		uint32_t	depth = 0;

		if (s->index[root] != FREEFORM_NONE)
			continue;
		s->path[depth++] = root;
		s->cursor[root] = 0;
		s->index[root] = s->low[root] = found++;
		s->stack[nstack++] = root;
		while (depth > 0)
		{
			uint32_t	j = s->path[depth - 1];
			uint32_t	i = next_shown(s, j, s->cursor[j]);

			if (kanon_stop(&s->work->pace, 8))
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
	uint32_t	k = s->work->space->k;
	bool		lacking = true;

	while (lacking)
	{
		KanonStatus status = find_components(s);

		if (status != KANON_OK)
			return status;
		lacking = false;
		memset(s->count, 0, s->n * sizeof(uint32_t));
		for (uint32_t j = 0; j < s->n; j++)
			for (uint32_t i = next_shown(s, j, 0); i < s->n; i = next_shown(s, j, i + 1))
				s->count[i] += s->component[i] == s->component[j];
		for (uint32_t i = 0; i < s->n; i++)
		{
			uint32_t	n = 0;

			if (s->count[i] >= k)
				continue;
			lacking = true;
			/* record j shows row i; that record i shows row j closes a cycle */
			for (uint32_t j = 0; j < s->n; j++)
				if (is_shown(s, j, i) && s->component[j] != s->component[i])
					n = freeform_choose(s->choice, n, k - s->count[i],
										(FreeformChoice) {freeform_weight(s->work, j, i), j});
			for (uint32_t x = 0; x < n; x++)
				freeform_show(s->work, s->choice[x].record, i);
			note(s, i);
			if (pause_for(s, 4) != KANON_OK)
				return KANON_CANCELLED;
		}
	}
	return KANON_OK;
}

KanonStatus
freeform_concealment(FreeformWork *work, KanonFreeformGraph *graph)
{
	Conceal		s = {.work = work,.n = work->n};
	KanonStatus status = conceal_open(&s) ? KANON_OK : KANON_NO_MEMORY;
	uint32_t	edges = 0;

	if (status == KANON_OK)
		status = show_rows(&s);
	if (status == KANON_OK)
		status = be_shown(&s);
	if (status == KANON_OK)
		status = close_cycles(&s);
	if (status == KANON_OK)
	{
		uint64_t	sum = 0;

		for (size_t w = 0; w < s.n * s.words; w++)
			sum += (uint64_t) __builtin_popcountll(s.shows[w]);
		graph->start = kanon_alloc(work->env, (size_t) s.n + 1, sizeof(uint32_t));
		graph->match = sum < UINT32_MAX ? kanon_alloc(work->env, sum, sizeof(uint32_t)) : NULL;
		if (graph->start == NULL || graph->match == NULL)
			status = KANON_NO_MEMORY;
	}
	for (uint32_t j = 0; j < s.n && status == KANON_OK; j++)
	{
		graph->start[j] = edges;
		for (uint32_t i = next_shown(&s, j, 0); i < s.n; i = next_shown(&s, j, i + 1))
			graph->match[edges++] = i;
		graph->start[j + 1] = edges;
	}
	conceal_close(&s);
	return status;
}
