/*
 * search_state.c: the state of ruin and recreate: which unit is in which class.
 */
#include <math.h>
#include <string.h>

#include "pattern/search/search.h"
#include "util/sort.h"

/*
 * Above MANY_ROWS in all, a type has at most MAX_UNITS units, of several rows
 * each if need be; the flow at the end makes up for it.
 */
#define MANY_ROWS (4 * 1000 * 1000)
#define MAX_UNITS 64

/* Units that are looked at for one that wants to move. */
#define LOOKS 64

/*
 * A row's cost above its price is its share of the gap to the bound.  In a large table those that
 * pay so much more (times Search.scale) are always tried, those that pay no more one time in ten: a
 * search has not the time for all, and of the moves that begin with these few gain.
 */
#define DEAR 0.8
#define CHEAP_TRIED 0.1

static bool
passes_over(Search *s, uint32_t u)
{
	double dear;

	if (!s->large || s->model->price == NULL)
		return false;
	dear = (search_cost(s, u, s->unit[u].in) - s->model->price[s->unit[u].type]) / (DEAR * s->scale);
	return dear < 1 && search_random(s) >= CHEAP_TRIED + (1 - CHEAP_TRIED) * kanon_max(0, dear);
}

bool
search_find_wanting(Search *s, uint32_t *u)
{
	for (int look = 0; look < LOOKS; look++)
	{
		*u = search_below(s, s->n);
		s->pace->work++;
		s->looks++;
		if (search_has_bit(s->wants, *u) && !passes_over(s, *u))
			return true;
	}
	return false;
}

void
search_put(Search *s, uint32_t u, uint32_t f)
{
	uint32_t old = s->unit[u].in;

	s->cost += (search_cost(s, u, f) - search_cost(s, u, old)) * (double) s->unit[u].rows;
	if (old != NONE)
	{
		if (s->unit[u].prev != NONE)
			s->unit[s->unit[u].prev].next = s->unit[u].next;
		else
			s->instance[old].head = s->unit[u].next;
		if (s->unit[u].next != NONE)
			s->unit[s->unit[u].next].prev = s->unit[u].prev;
		s->instance[old].load -= s->unit[u].rows;
		search_show(s, old);
	}
	s->unit[u].in = f;
	search_note_want(s, u);
	if (f != NONE)
	{
		uint32_t head = s->instance[f].head;

		s->unit[u].prev = NONE;
		s->unit[u].next = head;
		if (head != NONE)
			s->unit[head].prev = u;
		s->instance[f].head = u;
		s->instance[f].load += s->unit[u].rows;
		search_show(s, f);
	}
}

/* As put, to be undone if the move is not accepted. */
bool
search_move(Search *s, uint32_t u, uint32_t f)
{
	if (!KANON_GROW(&s->scratch, &s->log_room, s->nlog + 1, KANON_ARRAY(s->log_unit),
					KANON_ARRAY(s->log_from)))
		return false;
	s->log_unit[s->nlog] = u;
	s->log_from[s->nlog++] = s->unit[u].in;
	search_put(s, u, f);
	return true;
}

void
search_undo(Search *s)
{
	while (s->nlog > 0)
	{
		s->nlog--;
		search_put(s, s->log_unit[s->nlog], s->log_from[s->nlog]);
	}
}

/* The cheapest open class of a type, or NONE when its fallback is as cheap. */
uint32_t
search_cheapest(Search *s, uint32_t i)
{
	const uint32_t *opt = s->model->opt;
	const uint64_t *open = s->open;
	size_t start = s->type[i].options;
	size_t end = s->type[i].gaining;

	for (size_t p = start; p < end; p++)
		if (search_has_bit(open, opt[p]))
		{
			s->pace->work += (int64_t) (p - start);
			return opt[p];
		}
	s->pace->work += (int64_t) (s->type[i + 1].options - start);
	return NONE;
}

void
search_where(const Search *s, uint32_t *in)
{
	for (uint32_t u = 0; u < s->n; u++)
		in[u] = s->unit[u].in;
}

/* Frees all rows of a class. */
bool
search_dissolve(Search *s, uint32_t f)
{
	while (s->instance[f].head != NONE)
	{
		uint32_t u = s->instance[f].head;

		if (!search_move(s, u, NONE))
			return false;
		s->freed[s->nfreed++] = u;
	}
	return true;
}

/* Takes a unit to f; its class, if that drops below k, is dissolved. */
bool
search_take(Search *s, uint32_t u, uint32_t f)
{
	uint32_t old = s->unit[u].in;

	if (!search_move(s, u, f))
		return false;
	if (old != NONE && s->instance[old].load > 0 && !search_stands(s, old))
		return search_dissolve(s, old);
	return true;
}

/* All rows at their fallback. */
static void
start_closed(Search *s)
{
	s->cost += s->rest_cost;
	for (uint32_t u = 0; u < s->n; u++)
	{
		s->unit[u].in = NONE;
		s->cost += s->model->c[s->unit[u].type] * (double) s->unit[u].rows;
		search_note_want(s, u);
	}
}

/* Opens f with all its free rows, if they are k with those that rest there. */
static void
open_free(Search *s, uint32_t f)
{
	const IlpModel *model = s->model;
	int64_t rows = s->instance[f].load;

	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];

		if (model->c[i] > model->w[f])
			for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
				if (s->unit[u].in == NONE)
					rows += s->unit[u].rows;
	}
	s->pace->work += (int64_t) (model->start[f + 1] - model->start[f]);
	if (rows < model->k)
		return;
	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t i = model->type[p];

		if (model->c[i] > model->w[f])
			for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
				if (s->unit[u].in == NONE)
					search_put(s, (uint32_t) u, f);
	}
}

/* The start: greedily by cost. */
KanonStatus
search_start(Search *s)
{
	const IlpModel *model = s->model;
	KanonKeyed *order = kanon_alloc(s->env, model->nf, 2 * sizeof(*order));
	KanonStatus status = KANON_OK;

	if (order == NULL)
		return KANON_NO_MEMORY;
	start_closed(s);
	for (uint32_t f = 0; f < model->nf; f++)
		order[f] = (KanonKeyed){model->w[f], f};
	kanon_sort(order, order + model->nf, model->nf, sizeof(*order), kanon_compare_keyed, NULL);
	for (uint32_t j = 0; j < model->nf && status == KANON_OK; j++)
	{
		open_free(s, order[j].item);
		if (kanon_step(s->pace, 1))
			status = KANON_CANCELLED;
	}
	/* rows to spare move to cheaper classes opened since */
	for (uint32_t u = 0; u < s->n; u++)
	{
		uint32_t to = search_cheapest(s, s->unit[u].type);

		if (search_cost(s, u, to) < search_cost(s, u, s->unit[u].in) &&
			(s->unit[u].in == NONE || s->instance[s->unit[u].in].load - s->unit[u].rows >= model->k))
			search_put(s, u, to);
	}
	kanon_free(s->env, order);
	return status;
}

/*
 * How many rows of a type rest: all but k, which are more than one class borrows, where there are k more.
 * (Under rules all rows are looked at.)
 */
static int64_t
resting_rows(const Search *s, uint32_t i)
{
	const IlpModel *model = s->model;
	size_t cheapest = model->opt_start[i];

	if (!s->large || model->n[i] / 2 < model->k || cheapest == model->opt_start[i + 1] ||
		model->w[model->opt[cheapest]] >= model->c[i])
		return 0;
	return model->n[i] - model->k;
}

bool
search_alloc(Search *s)
{
	const IlpModel *model = s->model;
	KanonScratch *scratch = &s->scratch;
	size_t n = 0;
	int64_t most = INT64_MAX;
	double rows = 0;

	for (uint32_t i = 0; i < model->m; i++)
		rows += (double) model->n[i];
	if (rows > MANY_ROWS)
		most = MAX_UNITS;
	s->large =
		s->problem == NULL && rows > ILP_ONE_SEARCH_ROWS && rows > ILP_RESTING_ROWS * (double) model->k;
	for (uint32_t i = 0; i < model->m; i++)
	{
		int64_t rest = resting_rows(s, i);

		s->rests |= rest > 0;
		n += (size_t) (model->n[i] - rest < most ? model->n[i] - rest : most);
	}
	if (n > UINT32_MAX / 2)
		return false;
	for (uint32_t f = 0; f < model->nf; f++)
		s->scale = kanon_max(s->scale, model->w[f]);
	s->scale = model->integral ? 1 : s->scale / 8;
	s->n = (uint32_t) n;
	s->unit = kanon_take(scratch, n, sizeof(*s->unit));
	s->type = kanon_take0(scratch, (size_t) model->m + 1, sizeof(*s->type));
	s->instance = kanon_take0(scratch, model->nf, sizeof(*s->instance));
	s->wants = kanon_take0(scratch, n / 64 + 1, sizeof(*s->wants));
	s->resting = s->rests ? kanon_take0(scratch, model->nf, sizeof(*s->resting)) : NULL;
	s->open = kanon_take0(scratch, model->nf / 64 + 1, sizeof(*s->open));
	s->freed = kanon_take(scratch, n, sizeof(*s->freed));
	s->alternative = kanon_take(scratch, n, sizeof(*s->alternative));
	s->place = kanon_take(scratch, model->m, sizeof(*s->place));
	s->touched = kanon_take(scratch, model->nf, sizeof(*s->touched));
	s->loose = kanon_take(scratch, n, sizeof(*s->loose));
	s->best = kanon_take(scratch, n, sizeof(*s->best));
	if (scratch->failed)
		return false;
	n = 0;
	for (uint32_t i = 0; i < model->m; i++)
	{
		int64_t left = model->n[i] - resting_rows(s, i);
		int64_t units = left < most ? left : most;

		s->type[i].first = (uint32_t) n;
		for (; units > 0; units--)
		{
			s->unit[n].type = i;
			s->unit[n].rows = left / units;
			left -= s->unit[n++].rows;
		}
	}
	s->type[model->m].first = (uint32_t) n;
	s->type[model->m].options = model->opt_start[model->m];
	for (uint32_t f = 0; f < model->nf; f++)
	{
		s->instance[f].head = NONE;
		s->instance[f].w = model->w[f];
	}
	for (uint32_t i = 0; i < model->m; i++)
	{
		size_t end = model->opt_start[i + 1];

		while (end > model->opt_start[i] && model->w[model->opt[end - 1]] >= model->c[i])
			end--;
		s->type[i].options = model->opt_start[i];
		s->type[i].gaining = end;
		s->type[i].least = model->opt_start[i] < model->opt_start[i + 1]
							   ? model->w[model->opt[model->opt_start[i]]]
							   : INFINITY;
		if (resting_rows(s, i) > 0)
		{
			s->resting[model->opt[model->opt_start[i]]] += resting_rows(s, i);
			s->rest_cost += s->type[i].least * (double) resting_rows(s, i);
		}
	}
	for (uint32_t f = 0; f < model->nf; f++)
	{
		s->instance[f].load = search_resting(s, f);
		search_show(s, f);
	}
	return true;
}

/* ---- Who fits an instance, and where these rows are now ---- */

/* Types between two that a scan fetches, each farther ahead. */
#define AHEAD 4

void
search_scan(Search *s, uint32_t f)
{
	const IlpModel *model = s->model;
	const uint32_t *types = model->type + model->start[f];
	size_t size = model->start[f + 1] - model->start[f];
	size_t look = 400 + 20 * (size_t) (model->k < 1000 ? model->k : 1000);
	SearchType *type = s->type;
	SearchUnit *unit = s->unit;
	uint32_t stamp = ++s->stamp;
	size_t at = 0;
	size_t units = 0;

	if (look < size)
		at = search_below(s, size);
	else
		look = size;
	s->ntouched = 0;
	s->nloose = 0;
	for (size_t j = 0; j < look; j++)
	{
		uint32_t i = types[at];

		/* what comes next is all over the memory */
		if (at + 3 * AHEAD < size)
		{
			uint32_t b = unit[type[types[at + AHEAD]].first].in;

			__builtin_prefetch(&type[types[at + 3 * AHEAD]], 1);
			__builtin_prefetch(&unit[type[types[at + 2 * AHEAD]].first], 1);
			if (b != NONE)
				__builtin_prefetch(&s->instance[b], 1);
		}
		if (++at == size)
			at = 0;
		type[i].within = stamp;
		units += type[i + 1].first - type[i].first;
		for (uint32_t u = type[i].first; u < type[i + 1].first; u++)
		{
			uint32_t b = unit[u].in;
			SearchInstance *met;

			if (b == f)
				continue;
			if (b == NONE)
			{
				s->loose[s->nloose++] = u;
				continue;
			}
			met = &s->instance[b];
			if (met->stamp != stamp)
			{
				met->stamp = stamp;
				met->chain = NONE;
				met->count = 0;
				s->touched[s->ntouched++] = b;
			}
			unit[u].along = met->chain;
			met->chain = u;
			met->count += unit[u].rows;
		}
	}
	s->pace->work += (int64_t) (look + units);
}

bool
search_take_spare(Search *s, uint32_t b, uint32_t f, int64_t rows)
{
	for (uint32_t u = s->instance[b].chain; u != NONE && rows > 0; u = s->unit[u].along)
		if (s->unit[u].in == b && search_spares(s, u))
		{
			rows -= s->unit[u].rows;
			if (!search_move(s, u, f))
				return false;
		}
	return true;
}

double
search_dissolving(Search *s, uint32_t b, uint32_t f)
{
	double loss = 0;

	search_hide(s, b); /* no alternative to itself */
	for (uint32_t u = s->instance[b].head; u != NONE; u = s->unit[u].next)
	{
		uint32_t i = s->unit[u].type;
		double to = s->instance[f].w;

		if (s->type[i].within != s->stamp)
			to = search_cost(s, u, search_cheapest(s, i));
		loss += (to - s->instance[b].w) * (double) s->unit[u].rows;
	}
	search_show(s, b);
	return loss;
}
