/*
 * freeform_colours.c: which rows may be in a group together, so that it keeps rules beyond
 * k whichever of them these are.
 *
 * A group is `width` rows, and each of its records shows them all.  The rows of a part have
 * colours, as many of each, and a group takes as many of each.  Colours are made so that any
 * such choice keeps the rules: among the colours enough have no value in common with each
 * other, and no value is in too many.  How a group is chosen (freeform_groups.c) is decided
 * by quasi-identifiers and colours alone.
 *
 * That each of its group's values is as likely a row's own must hold for those, too, who
 * know how this is done, and even the colours.  So how many rows of a kind (of rows that are
 * the same for all rules) have which colour depends on how many there are of each kind and on
 * nothing else, which of them they are is drawn, and colours are numbered from one that is
 * drawn: then colours are as likely when each row had the value of the row that is some
 * colours on in its group.  With rows of one colour changing their values in each group, that
 * takes every value of a group to every row of it.
 *
 * Colours are packed like bins, the most frequent value first, where it fits best.  What is
 * left over when groups of the same size are made is a ring (freeform_ruled.c), of rows that are
 * chosen in the same way.
 */
#include <math.h>
#include <string.h>

#include "freeform/freeform_colours.h"
#include "util/fault.h"

static KanonStatus
take_memory(FreeformColours *f, uint32_t n)
{
	KanonScratch *scratch = &f->rules.work->scratch;

	f->slot = kanon_take(scratch, n, sizeof(uint32_t));
	f->row = kanon_take(scratch, n, sizeof(uint32_t));
	f->start = kanon_take(scratch, (size_t) n + 1, sizeof(uint32_t));
	f->head = kanon_take(scratch, n, sizeof(uint32_t));
	f->total = kanon_take0(scratch, n, sizeof(uint32_t));
	f->worst = kanon_take0(scratch, n, sizeof(uint32_t));
	f->used = kanon_take0(scratch, n, sizeof(bool));
	f->kind = kanon_take(scratch, n, 2 * sizeof(uint32_t));
	f->room = kanon_take(scratch, n, sizeof(uint32_t));
	f->tally = kanon_take(scratch, n, 2 * sizeof(FreeformTally));
	f->order = kanon_take(scratch, n, 2 * sizeof(FreeformTally));
	f->piece = kanon_take(scratch, n, 6 * sizeof(FreeformPiece));
	return kanon_taken(scratch);
}

/* The code of a kind for a rule. */
static int32_t
code_of(const FreeformColours *f, int r, uint32_t kind)
{
	return f->rules.code[r][f->row[f->start[kind]]];
}

/* Is the row at this place of `row` in the tail?  Every so many places one is. */
static bool
in_tail(const FreeformColours *f, uint32_t at)
{
	uint64_t n = f->rules.work->n;

	return (at + 1) * (uint64_t) f->ntail / n > at * (uint64_t) f->ntail / n;
}

/* As many rows of each kind as it has among all go to the tail; false: they break a rule. */
static bool
cut_tail(FreeformColours *f, uint32_t *tail)
{
	uint32_t n = 0;

	for (uint32_t kind = 0; kind < f->nkinds; kind++)
	{
		f->head[kind] = 0;
		for (uint32_t at = f->start[kind]; at < f->start[kind + 1]; at++)
			if (in_tail(f, at))
				tail[n++] = f->row[at];
			else
				f->head[kind]++;
	}
	return n == 0 || freeform_rules_allow(&f->rules, tail, n);
}

typedef struct Packing
{
	const FreeformColours *colours;
	int rule;
} Packing;

static uint32_t
total_of(const FreeformColours *f, int32_t code)
{
	return code < 0 ? 0 : f->total[code];
}

/* Kinds by how often the rule's value occurs: the most frequent first, rows that it is not about last. */
static int
compare_totals(const void *a, const void *b, void *arg)
{
	const Packing *packing = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;
	int32_t left_code = code_of(packing->colours, packing->rule, left);
	int32_t right_code = code_of(packing->colours, packing->rule, right);
	uint32_t left_total = total_of(packing->colours, left_code);
	uint32_t right_total = total_of(packing->colours, right_code);

	if (left_total != right_total)
		return left_total > right_total ? -1 : 1;
	if (left_code != right_code)
		return left_code > right_code ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* Where so many rows fit best: the least room that is enough, else the most. */
static uint32_t
best_colour(const FreeformColours *f, uint32_t rows)
{
	uint32_t best = 0;

	for (uint32_t c = 1; c < f->ncolours; c++)
	{
		bool fits = f->room[c] >= rows;

		if (fits != (f->room[best] >= rows) ? fits
			: fits                          ? f->room[c] < f->room[best]
											: f->room[c] > f->room[best])
			best = c;
	}
	return best;
}

/* All rows of groups get colours, values of one rule in as few as can be. */
static void
pack(FreeformColours *f, int r)
{
	Packing packing = {f, r};
	uint32_t n = 0;

	memset(f->total, 0, f->rules.work->n * sizeof(uint32_t));
	for (uint32_t kind = 0; kind < f->nkinds; kind++)
	{
		int32_t code = code_of(f, r, kind);

		if (code >= 0)
			f->total[code] += f->head[kind];
		if (f->head[kind] > 0)
			f->kind[n++] = kind;
	}
	kanon_sort(f->kind, f->kind + f->rules.work->n, n, sizeof(uint32_t), compare_totals, &packing);
	for (uint32_t c = 0; c < f->ncolours; c++)
		f->room[c] = f->width / f->ncolours * f->ngroups;
	f->npieces = 0;
	for (uint32_t from = 0, end; from < n; from = end)
	{
		uint32_t all = 0;
		uint32_t left;

		for (end = from; end < n && code_of(f, r, f->kind[end]) == code_of(f, r, f->kind[from]); end++)
			all += f->head[f->kind[end]];
		left = f->head[f->kind[from]];
		while (all > 0)
		{
			uint32_t c = best_colour(f, all);
			uint32_t put = all < f->room[c] ? all : f->room[c];

			all -= put;
			f->room[c] -= put;
			while (put > 0)
			{
				uint32_t rows = put < left ? put : left;

				f->piece[f->npieces++] = (FreeformPiece){f->kind[from], c, rows};
				put -= rows;
				left -= rows;
				if (left == 0 && ++from < end)
					left = f->head[f->kind[from]];
			}
		}
	}
}

static int
compare_pieces(const void *a, const void *b, void *arg)
{
	uint32_t left = ((const FreeformPiece *) a)->colour;
	uint32_t right = ((const FreeformPiece *) b)->colour;

	(void) arg;
	return left < right ? -1 : left > right;
}

static int
compare_tallies(const void *a, const void *b, void *arg)
{
	const FreeformTally *left = a;
	const FreeformTally *right = b;

	(void) arg;
	return left->n > right->n ? -1 : left->n < right->n;
}

/* How often each code of a rule is among pieces from .. end; how many codes. */
static uint32_t
tally(FreeformColours *f, int r, uint32_t from, uint32_t end)
{
	uint32_t *count = f->rules.count;
	uint32_t n = 0;

	for (uint32_t p = from; p < end; p++)
	{
		int32_t code = code_of(f, r, f->piece[p].kind);

		if (code >= 0 && count[code] == 0)
			f->tally[n++].code = code;
		if (code >= 0)
			count[code] += f->piece[p].rows;
	}
	for (uint32_t x = 0; x < n; x++)
	{
		f->tally[x].n = count[f->tally[x].code];
		count[f->tally[x].code] = 0;
	}
	return n;
}

/* The most rows that a value can have in a group are those that it may have. */
static bool
shares_keep(FreeformColours *f, int r)
{
	uint32_t each = f->width / f->ncolours;
	uint32_t most = freeform_rules_most(&f->rules, r, f->width);
	bool keep = true;

	memset(f->worst, 0, f->rules.work->n * sizeof(uint32_t));
	for (uint32_t from = 0, end; from < f->npieces; from = end)
	{
		uint32_t n;

		for (end = from; end < f->npieces && f->piece[end].colour == f->piece[from].colour; end++)
			;
		n = tally(f, r, from, end);
		for (uint32_t x = 0; x < n; x++)
		{
			f->worst[f->tally[x].code] += f->tally[x].n < each ? f->tally[x].n : each;
			keep = keep && f->worst[f->tally[x].code] <= most;
		}
	}
	return keep;
}

/* Of colours that have no value in common, those of few values first: the fewest values that rows of them can have. */
static bool
values_are_enough(FreeformColours *f, int r)
{
	uint32_t each = f->width / f->ncolours;
	uint32_t least = 0;
	uint32_t ncolours = 0;

	for (uint32_t p = 0; p < f->npieces; p++)
		if (p == 0 || f->piece[p].colour != f->piece[p - 1].colour)
			f->room[ncolours++] = p;
	for (uint32_t c = 0; c < ncolours; c++)
		f->order[c] = (FreeformTally){
			(int32_t) c, tally(f, r, f->room[c], c + 1 < ncolours ? f->room[c + 1] : f->npieces)};
	kanon_sort(f->order, f->order + ncolours, ncolours, sizeof(FreeformTally), compare_tallies, NULL);
	memset(f->used, 0, f->rules.work->n * sizeof(bool));
	for (uint32_t c = ncolours; c > 0; c--)
	{
		uint32_t colour = (uint32_t) f->order[c - 1].code;
		uint32_t n = tally(f, r, f->room[colour], colour + 1 < ncolours ? f->room[colour + 1] : f->npieces);
		uint32_t rows = f->width / f->ncolours * f->ngroups;
		bool apart = true;

		/* first those that the rule is not about */
		for (uint32_t x = 0; x < n; x++)
		{
			rows -= f->tally[x].n;
			apart = apart && !f->used[f->tally[x].code];
		}
		if (!apart)
			continue;
		kanon_sort(f->tally, f->tally + n, n, sizeof(FreeformTally), compare_tallies, NULL);
		for (uint32_t x = 0; x < n; x++)
		{
			f->used[f->tally[x].code] = true;
			least += rows < each;
			rows += f->tally[x].n;
		}
	}
	return least >= f->rules.work->space->rules[r].distinct;
}

/* Do all groups keep all rules, whichever rows of each colour they take? */
static bool
colours_keep(FreeformColours *f)
{
	bool keep = true;

	kanon_sort(f->piece, f->piece + f->npieces, f->npieces, sizeof(FreeformPiece), compare_pieces, NULL);
	for (int r = 0; r < f->rules.n && keep; r++)
		keep = shares_keep(f, r) && values_are_enough(f, r);
	return keep || FAULT(rule_forgotten);
}

/* What is left over by groups of this width. */
static uint32_t
tail_of(uint32_t n, uint32_t width)
{
	return n % width > 0 ? n % width + width : 0;
}

/* Is there a value that has more rows than all groups together may have of it, however they are made? */
static bool
is_too_frequent(FreeformColours *f)
{
	for (int r = 0; r < f->rules.n; r++)
	{
		uint64_t most = (uint64_t) freeform_rules_most(&f->rules, r, f->width) * f->ngroups;

		memset(f->total, 0, f->rules.work->n * sizeof(uint32_t));
		for (uint32_t kind = 0; kind < f->nkinds; kind++)
		{
			int32_t code = code_of(f, r, kind);

			if (code >= 0 && (f->total[code] += f->head[kind]) > most)
				return !FAULT(rule_forgotten);
		}
	}
	return false;
}

/* Rows of each kind for groups of this width and so many colours, packed by rule r; false: they may break a rule. */
static bool
try_colours(FreeformColours *f, uint32_t width, uint32_t ncolours, int r)
{
	uint32_t n = f->rules.work->n;

	f->width = width;
	f->ncolours = ncolours;
	f->ntail = tail_of(n, width);
	f->ngroups = (n - f->ntail) / width;
	if (f->ngroups == 0 || !cut_tail(f, f->kind) || is_too_frequent(f))
		return false;
	pack(f, r);
	return colours_keep(f);
}

/*
 * What groups lose, about: more with each row, and the fewer rows of a colour there are to choose from;
 * the tail's rows are from all over the part.
 */
static double
loss_of(uint32_t n, uint32_t width, uint32_t ncolours)
{
	double tail = tail_of(n, width);

	return (n - tail) * width * (ncolours + 1.0) + tail * n;
}

/* The width and colours that are likely to lose least; width 0: none do. */
static KanonStatus
find_colours(FreeformColours *f)
{
	FreeformWork *work = f->rules.work;
	uint32_t width = 0, ncolours = 0;
	double least = INFINITY;
	int rule = 0;

	for (uint32_t w = work->k; w <= FREEFORM_MOST_WIDTH * work->k && 2 * w <= work->n; w++)
		for (uint32_t c = 1; c <= w; c++)
			for (int r = 0; r < f->rules.n && w % c == 0 && loss_of(work->n, w, c) < least; r++)
			{
				if (kanon_stop(&work->pace, (uint64_t) work->n * 16 + (uint64_t) f->nkinds * c))
					return KANON_CANCELLED;
				if (!try_colours(f, w, c, r))
					continue;
				least = loss_of(work->n, w, c);
				width = w;
				ncolours = c;
				rule = r;
			}
	if (width > 0)
		(void) try_colours(f, width, ncolours, rule);
	f->width = width;
	return KANON_OK;
}

/* Rows of each kind, in the order in which they were drawn, have its colours; rows of a colour take slots in turn. */
static void
give_colours(FreeformColours *f, uint32_t *next)
{
	uint32_t n = f->rules.work->n;
	uint32_t first = freeform_below(&f->rules.work->random, f->ncolours);

	memcpy(next, f->start, f->nkinds * sizeof(uint32_t));
	memset(f->slot, 0xff, n * sizeof(uint32_t));
	for (uint32_t p = 0; p < f->npieces; p++)
		for (uint32_t x = 0; x < f->piece[p].rows; x++)
		{
			uint32_t *at = &next[f->piece[p].kind];

			while (in_tail(f, *at))
				++*at;
			f->slot[f->row[(*at)++]] = (f->piece[p].colour + first) % f->ncolours;
		}
	memset(f->room, 0, f->ncolours * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		if (f->slot[i] != FREEFORM_NONE)
			f->slot[i] += f->room[f->slot[i]]++ % (f->width / f->ncolours) * f->ncolours;
}

KanonStatus
freeform_colours_open(FreeformColours *f, FreeformWork *work)
{
	uint32_t n = work->n;
	KanonStatus status;

	memset(f, 0, sizeof(*f));
	status = freeform_rules_open(&f->rules, work);
	if (status == KANON_OK)
		status = take_memory(f, n);
	if (status != KANON_OK)
		return status;
	for (uint32_t i = 0; i < n; i++)
		f->row[i] = i;
	freeform_rules_sort(&f->rules, f->row, n);
	for (uint32_t x = 0; x < n; x++)
		if (x == 0 || freeform_compare_kinds(&f->row[x - 1], &f->row[x], &f->rules) != 0)
			f->start[f->nkinds++] = x;
	f->start[f->nkinds] = n;
	status = find_colours(f);
	if (status == KANON_OK && f->width > 0)
		give_colours(f, f->kind);
	return status;
}
