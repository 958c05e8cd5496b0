/*
 * cross.c: the better of two solutions, in each place where they differ.
 *
 * D. Whitley, D. Hains, A. Howe, "Tunneling between optima: partition crossover
 * for the traveling salesman problem", GECCO 2009.  Classes are in one component
 * when a unit is in the one in the first solution and in the other in the
 * second.  Whole components can be taken from either solution, each by itself,
 * as every class then has the rows it has in one of them.
 */
#include "pattern/search/search.h"

/*
 * Units of a type are alike: those of `best` change places so that as many as
 * can be are where they are now.
 */
static void
align(Search *s)
{
	uint32_t *best = s->best;

	for (uint32_t f = 0; f < s->model->nf; f++)
		s->instance[f].chain = NONE;
	for (uint32_t i = 0; i < s->model->m; i++)
	{
		uint32_t closed = NONE; /* the chain of those at their fallback */

		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
			if (best[u] != s->unit[u].in)
			{
				uint32_t *head = best[u] == NONE ? &closed : &s->instance[best[u]].chain;

				s->unit[u].along = *head;
				*head = (uint32_t) u;
			}
		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
		{
			uint32_t *head = s->unit[u].in == NONE ? &closed : &s->instance[s->unit[u].in].chain;

			/* those that have changed since are no longer of the chain */
			while (best[u] != s->unit[u].in && *head != NONE)
			{
				uint32_t v = *head;

				*head = s->unit[v].along;
				if (best[v] != s->unit[u].in || s->unit[v].in == best[v] ||
					s->unit[u].rows != s->unit[v].rows)
					continue;
				best[v] = best[u];
				best[u] = s->unit[u].in;
				head = best[v] == NONE ? &closed : &s->instance[best[v]].chain;
				s->unit[v].along = *head;
				*head = v;
			}
		}
		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
			if (s->unit[u].in != NONE)
				s->instance[s->unit[u].in].chain = NONE;
		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
			if (best[u] != NONE)
				s->instance[best[u]].chain = NONE;
	}
}

/* The component of f; s->touched has the parents. */
static uint32_t
component(Search *s, uint32_t f)
{
	uint32_t *parent = s->touched;

	while (parent[f] != f)
		f = parent[f] = parent[parent[f]];
	return f;
}

/*
 * Whether what happens to f matters to others: not when the rows that are in it
 * in both solutions fill it.  SearchInstance.count has these.  (Under rules a class is one solution's
 * or the other's: rows that fill it need not keep them.)
 */
static bool
binds(const Search *s, uint32_t f)
{
	return f != NONE && (s->problem != NULL || s->instance[f].count < s->model->k);
}

/* The class that stands for the component of a unit that moves, or NONE. */
static uint32_t
component_of(Search *s, uint32_t u)
{
	if (binds(s, s->best[u]))
		return component(s, s->best[u]);
	return binds(s, s->unit[u].in) ? component(s, s->unit[u].in) : NONE;
}

/* The gain of a unit by its present place. */
static double
unit_gain(const Search *s, uint32_t u)
{
	return (search_cost(s, u, s->best[u]) - search_cost(s, u, s->unit[u].in)) * (double) s->unit[u].rows;
}

void
search_cross(Search *s)
{
	align(s);
	for (uint32_t f = 0; f < s->model->nf; f++)
	{
		s->touched[f] = f;
		s->instance[f].count = search_resting(s, f);
		s->instance[f].score = 0;
	}
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] == s->unit[u].in && s->unit[u].in != NONE)
			s->instance[s->unit[u].in].count += s->unit[u].rows;
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] != s->unit[u].in && binds(s, s->best[u]) && binds(s, s->unit[u].in))
			s->touched[component(s, s->unit[u].in)] = component(s, s->best[u]);
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] != s->unit[u].in)
		{
			uint32_t f = component_of(s, u);

			if (f != NONE)
				s->instance[f].score += unit_gain(s, u);
		}
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] != s->unit[u].in)
		{
			uint32_t f = component_of(s, u);
			double gain = unit_gain(s, u);

			if ((f != NONE ? s->instance[f].score : gain) > 1e-9)
			{
				s->best_cost -= gain;
				s->best[u] = s->unit[u].in;
			}
		}
	s->pace->work += (int64_t) s->n * 2 + s->model->nf;
}
