/*
 * scan.c: who fits an instance, and where these rows are now.
 */
#include "pattern/search/search.h"

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
