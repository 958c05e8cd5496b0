/*
 * groups_odd.c: odd sets that a fractional solution violates.
 *
 * If a set of types has an odd number of rows, some group has an odd number of rows:
 * one or three of them.  A solution of the linear program that uses half of each edge
 * of an odd cycle has none.  Such a set is a component, or a part of one that is
 * joined to the rest by little: the components of what is used to more than a
 * threshold, at several of them (Groetschel and Holland, "Solving matching problems
 * with linear programming", Mathematical Programming, 1985); and what is left of a
 * component when another one is taken out of it.
 */
#include <math.h>
#include <string.h>

#include "pattern/exact/exact.h"

typedef struct Search
{
	Groups *g;
	KanonScratch scratch;
	uint32_t *root;  /* [ntypes] */
	uint64_t *hash;  /* [ntypes] of the sets of a root */
	double *sum;     /* [ntypes] by root: groups with an odd number of rows in the set */
	bool *odd;       /* [ntypes] by root: rows */
	uint32_t *size;  /* [ntypes] by root: types */
	uint32_t *first; /* [ntypes] by root: place of its first type in order */
	uint32_t *order; /* [ntypes] types by root */
} Search;

static uint32_t
find(uint32_t *root, uint32_t i)
{
	while (root[i] != i)
	{
		root[i] = root[root[i]];
		i = root[i];
	}
	return i;
}

/* Types that are joined by groups used to more than the threshold have one root. */
static void
join(Search *s, double threshold)
{
	const Groups *g = s->g;

	for (uint32_t i = 0; i < g->ntypes; i++)
		s->root[i] = i;
	for (size_t e = g->ntypes; e < g->ngroups; e++)
		for (uint32_t i = 1; i < g->group[e].n && g->used[e] > threshold; i++)
		{
			uint32_t a = find(s->root, g->group[e].type[0]);
			uint32_t b = find(s->root, g->group[e].type[i]);

			s->root[a < b ? b : a] = a < b ? a : b;
		}
	for (uint32_t i = 0; i < g->ntypes; i++)
		s->root[i] = find(s->root, i);
}

/* For each root: is it odd, and how much is used of groups with an odd number of rows? */
static void
measure(Search *s)
{
	const Groups *g = s->g;

	memset(s->sum, 0, g->ntypes * sizeof(*s->sum));
	memset(s->odd, 0, g->ntypes * sizeof(*s->odd));
	memset(s->size, 0, g->ntypes * sizeof(*s->size));
	for (uint32_t i = 0; i < g->ntypes; i++)
	{
		s->odd[s->root[i]] ^= g->rows[i] % 2 != 0;
		s->size[s->root[i]]++;
	}
	for (size_t e = 0; e < g->ngroups; e++)
	{
		const Group *group = &g->group[e];

		for (uint32_t i = 0; i < group->n && g->used[e] > 0; i++)
		{
			uint32_t root = s->root[group->type[i]];
			uint32_t same = 0;
			bool seen = false;

			for (uint32_t j = 0; j < group->n; j++)
			{
				same += s->root[group->type[j]] == root;
				seen = seen || (j < i && s->root[group->type[j]] == root);
			}
			if (!seen && same % 2 != 0)
				s->sum[root] += g->used[e];
		}
	}
}

/* Is the set there that consists of these types, ascending? */
static bool
is_known(const Groups *g, const uint32_t *types, uint32_t n)
{
	for (size_t i = 0; i < g->odd.n; i++)
	{
		size_t from = i == 0 ? 0 : g->odd.end.v[i - 1];

		if (g->odd.end.v[i] - from == n && memcmp(g->odd.type.v + from, types, n * sizeof(*types)) == 0)
			return true;
	}
	return false;
}

static KanonStatus
add_set(Groups *g, const uint32_t *types, uint32_t n, size_t *added)
{
	if (is_known(g, types, n))
		return KANON_OK;
	for (uint32_t i = 0; i < n; i++)
		if (!ilp_list_add(g->env, &g->odd.type, types[i]))
			return KANON_NO_MEMORY;
	if (!ilp_list_add(g->env, &g->odd.end, (uint32_t) g->odd.type.n))
		return KANON_NO_MEMORY;
	g->odd.n++;
	++*added;
	return KANON_OK;
}

static KanonStatus
search(Search *s, double threshold, size_t *added)
{
	Groups *g = s->g;
	uint32_t at = 0;
	KanonStatus status = KANON_OK;

	join(s, threshold);
	measure(s);
	if (kanon_step(&g->pace, 20 * (uint64_t) g->ngroups))
		return KANON_CANCELLED;
	for (uint32_t i = 0; i < g->ntypes; i++)
		if (s->root[i] == i)
		{
			s->first[i] = at;
			at += s->size[i];
		}
	for (uint32_t i = 0; i < g->ntypes; i++)
		s->order[s->first[s->root[i]]++] = i;
	for (uint32_t i = 0; i < g->ntypes && status == KANON_OK; i++)
		if (s->root[i] == i && s->odd[i] && s->sum[i] < 1 - 1e-4)
			status = add_set(g, s->order + s->first[i] - s->size[i], s->size[i], added);
	return status;
}

/* The sets by type. */
static KanonStatus
transpose(Groups *g)
{
	size_t at = 0;

	if (!KANON_GROW(&g->scratch, &g->odd.in_room, g->odd.type.n, KANON_ARRAY(g->odd.in)))
		return KANON_NO_MEMORY;
	memset(g->odd.in_start, 0, ((size_t) g->ntypes + 1) * sizeof(*g->odd.in_start));
	for (size_t i = 0; i < g->odd.type.n; i++)
		g->odd.in_start[g->odd.type.v[i] + 1]++;
	for (uint32_t i = 0; i < g->ntypes; i++)
		g->odd.in_start[i + 1] += g->odd.in_start[i];
	for (size_t set = 0; set < g->odd.n; set++)
		for (; at < g->odd.end.v[set]; at++)
			g->odd.in[g->odd.in_start[g->odd.type.v[at]]++] = (uint32_t) set;
	for (uint32_t i = g->ntypes; i > 0; i--)
		g->odd.in_start[i] = g->odd.in_start[i - 1];
	g->odd.in_start[0] = 0;
	return KANON_OK;
}

KanonStatus
groups_odd_find(Groups *g, size_t *added)
{
	static const double thresholds[] = {1e-6, 0.1, 0.2, 0.3, 0.4, 0.55, 0.7, 0.9};
	Search s = {.g = g, .scratch = {.env = g->env}};
	KanonStatus status;

	*added = 0;
	s.root = kanon_take(&s.scratch, g->ntypes, sizeof(*s.root));
	s.sum = kanon_take(&s.scratch, g->ntypes, sizeof(*s.sum));
	s.odd = kanon_take(&s.scratch, g->ntypes, sizeof(*s.odd));
	s.size = kanon_take(&s.scratch, g->ntypes, sizeof(*s.size));
	s.first = kanon_take(&s.scratch, g->ntypes, sizeof(*s.first));
	s.order = kanon_take(&s.scratch, g->ntypes, sizeof(*s.order));
	status = kanon_taken(&s.scratch);
	for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]) && status == KANON_OK; i++)
		status = search(&s, thresholds[i], added);
	if (status == KANON_OK && *added > 0)
		status = transpose(g);
	kanon_scratch_free(&s.scratch);
	return status;
}
