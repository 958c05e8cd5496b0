/*
 * freeform_known.c: what somebody can tell of a row who knows which records some
 * other rows have.
 *
 * Gionis, Mazza, Tassa, "k-Anonymization revisited", ICDE 2008: of the records that a
 * row matches those alone can be its own that are in an assignment of all rows (a
 * perfect matching).  Cycles of one known assignment tell these: a row
 * points to the rows whose records it matches, and a record can be its own if and
 * only if it is, or its owner is in the same strong component (Tarjan, "Depth-first
 * search and linear graph algorithms", SIAM J. Comput. 1, 1972).
 *
 * A row whose record is known is taken out with it, after an assignment was found that
 * has the pair.  Every set of pairs that can be is tried.  Equal rows, and equal
 * records, are as good as each other, so that one pair stands for all that are left of a
 * match of them; a component does not matter to the others.
 */
#include <string.h>

#include "freeform/freeform_work.h"

#define GONE (UINT32_MAX - 1)

/* Looks at a match, all in all: some minutes. */
#define MOST_WORK 2e11

typedef struct Known
{
	KanonScratch scratch;
	const KanonProblem *problem;
	const KanonRelease *release;
	KanonPace *pace;
	const size_t *start;   /* [nclasses + 1] */
	const uint32_t *type;  /* [narcs] */
	uint32_t *class_;      /* [narcs] */
	uint32_t n;            /* rows, and records */
	uint32_t *type_of;     /* [n] of each row */
	uint32_t *row_from;    /* [ntypes + 1] */
	uint32_t *record_from; /* [nclasses + 1] */
	size_t *match_from;    /* [ntypes + 2] */
	uint32_t *match;       /* records that a row of each type matches */
	uint32_t *record;      /* [n] of each row, in the assignment at hand */
	uint32_t *owner;       /* [n] of each record */
	uint32_t *component;   /* [n] a row's; GONE: its record is known */
	uint32_t *low;         /* [n] */
	uint32_t *index;       /* [n] */
	uint32_t *stack;       /* [n] */
	uint32_t *path;        /* [n] */
	size_t *cursor;        /* [n] */
	uint32_t fewest;
} Known;

/* Rows that hang together, and the matches between them. */
typedef struct Group
{
	const uint32_t *row;
	uint32_t nrows;
	const size_t *arc;
	size_t narcs;
} Group;

static KanonStatus
known_open(Known *w)
{
	KanonScratch *scratch = &w->scratch;
	uint32_t nclasses = w->release->nclasses;
	uint32_t ntypes = w->problem->ntypes;
	size_t narcs = w->start[nclasses];
	uint64_t rows = 0;
	uint64_t nmatches = 0;

	w->row_from = kanon_take0(scratch, (size_t) ntypes + 1, sizeof(uint32_t));
	w->record_from = kanon_take0(scratch, (size_t) nclasses + 1, sizeof(uint32_t));
	w->class_ = kanon_take(scratch, narcs, sizeof(uint32_t));
	w->match_from = kanon_take0(scratch, (size_t) ntypes + 2, sizeof(size_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t t = 0; t < ntypes; t++)
	{
		rows += (uint64_t) w->problem->rows[t];
		if (rows >= GONE)
			return KANON_NO_MEMORY;
		w->row_from[t + 1] = (uint32_t) rows;
	}
	w->n = (uint32_t) rows;
	for (uint32_t i = 0; i < nclasses; i++)
	{
		w->record_from[i + 1] = w->record_from[i] + (uint32_t) w->release->classes[i].rows;
		for (size_t a = w->start[i]; a < w->start[i + 1]; a++)
		{
			w->class_[a] = i;
			w->match_from[w->type[a] + 2] += (size_t) w->release->classes[i].rows;
			nmatches += (uint64_t) w->release->classes[i].rows;
		}
	}
	for (size_t t = 2; t <= (size_t) ntypes + 1; t++)
		w->match_from[t] += w->match_from[t - 1];
	w->match = kanon_take(scratch, nmatches, sizeof(uint32_t));
	w->type_of = kanon_take(scratch, rows, sizeof(uint32_t));
	w->record = kanon_take(scratch, rows, sizeof(uint32_t));
	w->owner = kanon_take(scratch, rows, sizeof(uint32_t));
	w->component = kanon_take(scratch, rows, sizeof(uint32_t));
	w->low = kanon_take(scratch, rows, sizeof(uint32_t));
	w->index = kanon_take(scratch, rows, sizeof(uint32_t));
	w->stack = kanon_take(scratch, rows, sizeof(uint32_t));
	w->path = kanon_take(scratch, rows, sizeof(uint32_t));
	w->cursor = kanon_take(scratch, rows, sizeof(size_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t t = 0; t < ntypes; t++)
		for (uint32_t r = w->row_from[t]; r < w->row_from[t + 1]; r++)
			w->type_of[r] = t;
	for (size_t a = 0; a < narcs; a++)
		for (uint32_t j = w->record_from[w->class_[a]]; j < w->record_from[w->class_[a] + 1]; j++)
			w->match[w->match_from[w->type[a] + 1]++] = j;
	return kanon_stop(w->pace, nmatches + narcs + rows) ? KANON_CANCELLED : KANON_OK;
}

/* Some assignment of all rows; *found: there is one. */
static KanonStatus
assign(Known *w, bool *found)
{
	size_t narcs = w->start[w->release->nclasses];
	int64_t *flow = kanon_alloc(w->problem->env, narcs, sizeof(int64_t));
	uint32_t *next_row = kanon_alloc(w->problem->env, w->problem->ntypes, sizeof(uint32_t));
	KanonStatus status = flow != NULL && next_row != NULL ? KANON_OK : KANON_NO_MEMORY;

	if (status == KANON_OK)
		status = kanon_freeform_regular(w->problem, w->release, 1, false,
										(FreeformMatches){w->start, w->type}, w->pace, flow, found);
	if (status == KANON_OK && *found)
	{
		memcpy(next_row, w->row_from, w->problem->ntypes * sizeof(uint32_t));
		for (size_t a = 0, j = 0; a < narcs; a++)
			for (int64_t x = 0; x < flow[a]; x++, j++)
			{
				uint32_t row = next_row[w->type[a]]++;

				w->record[row] = (uint32_t) j;
				w->owner[j] = row;
			}
	}
	kanon_free(w->problem->env, flow);
	kanon_free(w->problem->env, next_row);
	return status;
}

/* The next row that a row points to, whose record is not known; GONE: none. */
static uint32_t
next_row(const Known *w, uint32_t row, size_t *cursor)
{
	size_t end = w->match_from[w->type_of[row] + 1];

	while (*cursor < end)
	{
		uint32_t other = w->owner[w->match[(*cursor)++]];

		if (w->component[other] != GONE)
			return other;
	}
	return GONE;
}

static size_t
first_match(const Known *w, uint32_t row)
{
	return w->match_from[w->type_of[row]];
}

/* The strong components of some rows; one is named by a row of it. */
static KanonStatus
find_components(Known *w, const uint32_t *row, uint32_t nrows)
{
	uint32_t found = 0;
	uint32_t nstack = 0;

	for (uint32_t x = 0; x < nrows; x++)
	{
		w->index[row[x]] = FREEFORM_NONE;
		if (w->component[row[x]] != GONE)
			w->component[row[x]] = FREEFORM_NONE;
	}
	for (uint32_t x = 0; x < nrows; x++)
	{
		uint32_t depth = 0;

		if (w->component[row[x]] == GONE || w->index[row[x]] != FREEFORM_NONE)
			continue;
		w->path[depth++] = row[x];
		while (depth > 0)
		{
			uint32_t at = w->path[depth - 1];
			uint32_t to;

			if (w->index[at] == FREEFORM_NONE)
			{
				w->index[at] = w->low[at] = found++;
				w->cursor[at] = first_match(w, at);
				w->stack[nstack++] = at;
			}
			to = next_row(w, at, &w->cursor[at]);
			if (kanon_stop(w->pace, 4))
				return KANON_CANCELLED;
			if (to == GONE)
			{
				depth--;
				if (depth > 0 && w->low[at] < w->low[w->path[depth - 1]])
					w->low[w->path[depth - 1]] = w->low[at];
				if (w->low[at] == w->index[at])
					do
						w->component[w->stack[--nstack]] = at;
					while (w->stack[nstack] != at);
			}
			else if (w->index[to] == FREEFORM_NONE)
				w->path[depth++] = to;
			else if (w->component[to] == FREEFORM_NONE && w->index[to] < w->low[at])
				w->low[at] = w->index[to];
		}
	}
	return KANON_OK;
}

/* Candidates of the rows of a group, equal ones of which have as many. */
static void
count_candidates(Known *w, const Group *group)
{
	uint32_t last = FREEFORM_NONE;

	for (uint32_t x = 0; x < group->nrows; x++)
	{
		uint32_t row = group->row[x];
		uint32_t n = 0;
		size_t cursor = first_match(w, row);
		uint32_t other;

		if (w->component[row] == GONE || w->type_of[row] == last)
			continue;
		last = w->type_of[row];
		while ((other = next_row(w, row, &cursor)) != GONE)
			n += w->component[other] == w->component[row];
		w->fewest = n < w->fewest ? n : w->fewest;
	}
}

/* The assignment is changed along a cycle so that the row has this record. */
static KanonStatus
give(Known *w, const Group *group, uint32_t row, uint32_t record)
{
	uint32_t from = w->owner[record];
	uint32_t moved = w->record[row];
	uint32_t n = 0;

	if (from == row)
		return KANON_OK;
	for (uint32_t x = 0; x < group->nrows; x++)
		w->path[group->row[x]] = FREEFORM_NONE;
	w->stack[n++] = from;
	w->path[from] = from;
	for (uint32_t at = 0; at < n && w->path[row] == FREEFORM_NONE; at++)
	{
		size_t cursor = first_match(w, w->stack[at]);
		uint32_t to;

		while ((to = next_row(w, w->stack[at], &cursor)) != GONE)
			if (w->component[to] == w->component[from] && w->path[to] == FREEFORM_NONE)
			{
				w->path[to] = w->stack[at];
				w->stack[n++] = to;
			}
		if (kanon_stop(w->pace, cursor - first_match(w, w->stack[at])))
			return KANON_CANCELLED;
	}
	/* each takes the record of the one that it points to */
	for (uint32_t at = row; at != from;)
	{
		uint32_t before = w->path[at];
		uint32_t had = w->record[before];

		w->record[before] = moved;
		w->owner[moved] = before;
		moved = had;
		at = before;
	}
	w->record[row] = record;
	w->owner[record] = row;
	return KANON_OK;
}

/* A row and a record of a match of equal ones whose partners are not known; false: there are none, or no assignment has them. */
static bool
pair_of(const Known *w, size_t arc, uint32_t *row, uint32_t *record)
{
	uint32_t type = w->type[arc];
	uint32_t class_ = w->class_[arc];
	uint32_t r = w->row_from[type];
	uint32_t j = w->record_from[class_];

	while (r < w->row_from[type + 1] && w->component[r] == GONE)
		r++;
	while (j < w->record_from[class_ + 1] && w->component[w->owner[j]] == GONE)
		j++;
	*row = r;
	*record = j;
	return r < w->row_from[type + 1] && j < w->record_from[class_ + 1] &&
		   w->component[r] == w->component[w->owner[j]];
}

/* All sets of `left` pairs more, from a match on. */
static KanonStatus
try_pairs(Known *w, const Group *group, size_t from, uint32_t left)
{
	uint32_t *kept;
	KanonStatus status = find_components(w, group->row, group->nrows);

	if (status != KANON_OK)
		return status;
	count_candidates(w, group);
	if (left == 0 || w->fewest <= 1)
		return KANON_OK;
	kept = kanon_alloc(w->problem->env, group->nrows, 2 * sizeof(uint32_t));
	if (kept == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t x = 0; x < group->nrows; x++)
	{
		kept[2 * x] = w->component[group->row[x]];
		kept[2 * x + 1] = w->record[group->row[x]];
	}
	for (size_t a = from; a < group->narcs && status == KANON_OK; a++)
	{
		uint32_t row;
		uint32_t record;

		if (kanon_stop(w->pace, 8))
			status = KANON_CANCELLED;
		if (status != KANON_OK || !pair_of(w, group->arc[a], &row, &record))
			continue;
		status = give(w, group, row, record);
		if (status != KANON_OK)
			break;
		w->component[row] = GONE;
		status = try_pairs(w, group, a, left - 1);
		for (uint32_t x = 0; x < group->nrows; x++)
		{
			w->component[group->row[x]] = kept[2 * x];
			w->record[group->row[x]] = kept[2 * x + 1];
			w->owner[kept[2 * x + 1]] = group->row[x];
		}
	}
	kanon_free(w->problem->env, kept);
	return status;
}

/* Looks at matches that a group may take. */
static double
work_of(const Known *w, const Group *group, uint32_t known)
{
	double work = 0;
	double sets = 1;

	for (uint32_t x = 0; x < group->nrows; x++)
		work += (double) (w->match_from[w->type_of[group->row[x]] + 1] - first_match(w, group->row[x])) + 8;
	for (uint32_t c = 0; c < known && c < group->nrows && sets < MOST_WORK; c++)
		sets *= ((double) group->narcs + c) / (c + 1);
	return work * sets;
}

/* Do all rows match all records?  Then an attacker finds nothing out. */
static bool
is_class(Known *w, const Group *group, uint32_t known)
{
	uint32_t left = group->nrows > known ? group->nrows - known : 1;

	for (uint32_t x = 0; x < group->nrows; x++)
	{
		uint32_t row = group->row[x];
		size_t cursor = first_match(w, row);
		uint32_t n = 0;
		uint32_t other;

		while ((other = next_row(w, row, &cursor)) != GONE)
			n += w->component[other] == w->component[row];
		if (n < group->nrows)
			return false;
	}
	w->fewest = left < w->fewest ? left : w->fewest;
	return true;
}

/* The rows component by component, in their order; order[n], first[n + 1] of the components. */
static uint32_t
sort_components(const Known *w, uint32_t *order, uint32_t *first, uint32_t *number)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < w->n; r++)
		if (w->component[r] == r)
		{
			number[r] = n;
			first[++n] = 0;
		}
	for (uint32_t r = 0; r < w->n; r++)
		first[number[w->component[r]] + 1]++;
	first[0] = 0;
	for (uint32_t c = 0; c < n; c++)
		first[c + 1] += first[c];
	for (uint32_t r = 0; r < w->n; r++)
		order[first[number[w->component[r]]]++] = r;
	for (uint32_t c = n; c > 0; c--)
		first[c] = first[c - 1];
	first[0] = 0;
	return n;
}

/* The matches within a group: of its types, to records that can be theirs. */
static size_t
list_arcs(const Known *w, const Group *group, const size_t *by_from, const size_t *by_arc, size_t *arc)
{
	uint32_t last = FREEFORM_NONE;
	size_t n = 0;

	for (uint32_t x = 0; x < group->nrows; x++)
	{
		uint32_t type = w->type_of[group->row[x]];
		uint32_t row;
		uint32_t record;

		if (type == last)
			continue;
		last = type;
		for (size_t b = by_from[type]; b < by_from[type + 1]; b++)
			if (pair_of(w, by_arc[b], &row, &record))
				arc[n++] = by_arc[b];
	}
	return n;
}

static KanonStatus
solve_groups(Known *w, uint32_t known)
{
	KanonScratch *scratch = &w->scratch;
	uint32_t ntypes = w->problem->ntypes;
	size_t narcs = w->start[w->release->nclasses];
	uint32_t *order = kanon_take(scratch, w->n, sizeof(uint32_t));
	uint32_t *number = kanon_take(scratch, w->n, sizeof(uint32_t));
	uint32_t *first = kanon_take(scratch, (size_t) w->n + 1, sizeof(uint32_t));
	size_t *by_from = kanon_take0(scratch, (size_t) ntypes + 2, sizeof(size_t));
	size_t *by_arc = kanon_take(scratch, narcs, sizeof(size_t));
	size_t *arc = kanon_take(scratch, narcs, sizeof(size_t));
	uint32_t ngroups;
	KanonStatus status = kanon_taken(scratch);

	if (status != KANON_OK)
		return status;
	for (uint32_t r = 0; r < w->n; r++)
		order[r] = r;
	memset(w->component, 0xff, w->n * sizeof(uint32_t));
	status = find_components(w, order, w->n);
	if (status != KANON_OK)
		return status;
	for (size_t a = 0; a < narcs; a++)
		by_from[w->type[a] + 2]++;
	for (size_t t = 2; t <= (size_t) ntypes + 1; t++)
		by_from[t] += by_from[t - 1];
	for (size_t a = 0; a < narcs; a++)
		by_arc[by_from[w->type[a] + 1]++] = a;
	ngroups = sort_components(w, order, first, number);
	for (uint32_t c = 0; c < ngroups && status == KANON_OK && w->fewest > 1; c++)
	{
		Group group = {order + first[c], first[c + 1] - first[c], arc, 0};

		if (kanon_stop(w->pace, group.nrows * (uint64_t) 8))
			return KANON_CANCELLED;
		if (is_class(w, &group, known))
			continue;
		group.narcs = list_arcs(w, &group, by_from, by_arc, arc);
		status = work_of(w, &group, known) > MOST_WORK ? KANON_TOO_LARGE : try_pairs(w, &group, 0, known);
	}
	return status;
}

KanonStatus
kanon_freeform_known(const KanonProblem *problem, const KanonRelease *release, uint32_t known,
					 const size_t *start, const uint32_t *type, KanonPace *pace, int64_t *candidates)
{
	Known w = {.scratch = {.env = problem->env},
			   .problem = problem,
			   .release = release,
			   .pace = pace,
			   .start = start,
			   .type = type,
			   .fewest = UINT32_MAX};
	bool found = false;
	KanonStatus status = known_open(&w);

	if (status == KANON_OK)
		status = assign(&w, &found);
	if (status == KANON_OK && found)
		status = solve_groups(&w, known);
	*candidates = status == KANON_OK && found ? w.fewest : 0;
	kanon_scratch_free(&w.scratch);
	return status;
}
