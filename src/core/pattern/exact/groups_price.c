/*
 * groups_price.c: what groups cost, and which of them could be of use.
 *
 * There are t^2 / 2 pairs and t^3 / 6 triples of t row types; the linear program is
 * given those that its dual prices say could lower its cost.  Triples need not be
 * looked for among all: with price y of a row and weight z of an odd set S, the
 * reduced cost of a group e is c(e) - sum y - sum (z_S: |e & S| odd).  For three
 * rows t, the three pairs of which cost no more than 2 c(t) together, it is at least
 * half of what those of the pairs are, less the weight of the sets that hold all
 * three.  So where no pair is below 0, in a triple that is each pair has a
 * reduced cost of less than twice the weight of the sets that hold both.
 */
#include <math.h>
#include <string.h>

#include "pattern/exact/exact.h"
#include "model/model.h"
#include "util/number.h"

/* Groups that a type is given in a round, of two and of three rows. */
#define MORE 8

/* Groups that are listed for branch and bound. */
#define MAX_LISTED 400000

/* Columns up to which there is a table of all sets of them. */
#define PLACED_COLUMNS 12

/* ---- costs ---- */

/* The cheapest pattern that suppresses at least these columns. */
static KanonStatus
find_pattern(Groups *g, KanonPattern differ, KanonPattern *pattern)
{
	KanonStatus status;

	*pattern = g->problem->mask.list == NULL ? kanon_mask_cover(g->index, differ) : differ;
	if (g->problem->mask.list == NULL || kanon_mask_contains(g->index, differ))
		return KANON_OK;
	if (g->patterns == NULL)
	{
		status = kanon_instances_patterns(g->problem, SIZE_MAX, &g->patterns, &g->npatterns);
		if (status != KANON_OK)
			return status;
	}
	for (size_t p = 0; p < g->npatterns; p++)
	{
		*pattern = g->patterns[p];
		if (kanon_within(differ, *pattern))
			break;
	}
	return kanon_step(&g->pace, g->npatterns) ? KANON_CANCELLED : KANON_OK;
}

/* With few columns each set has a place of its own, because millions of pairs are priced. */
static bool
has_places(const Groups *g)
{
	return g->problem->ncolumns <= PLACED_COLUMNS;
}

static GroupCost *
slot_of(const Groups *g, KanonPattern differ)
{
	size_t at = (has_places(g) ? differ.word[0] : kanon_pattern_hash(differ)) & (g->nslots - 1);

	while (g->known[at].cost >= 0 && !kanon_same(g->known[at].differ, differ))
		at = (at + 1) & (g->nslots - 1);
	return &g->known[at];
}

static KanonStatus
grow_known(Groups *g)
{
	GroupCost *old = g->known;
	size_t n = g->nslots;

	g->nslots = n != 0 ? n * 2 : has_places(g) ? (size_t) 1 << g->problem->ncolumns : 1024;
	g->known = kanon_take(&g->scratch, g->nslots, sizeof(GroupCost));
	if (g->known == NULL)
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < g->nslots; i++)
		g->known[i].cost = -1;
	for (size_t i = 0; i < n; i++)
		if (old[i].cost >= 0)
			*slot_of(g, old[i].differ) = old[i];
	kanon_drop(&g->scratch, old);
	return KANON_OK;
}

KanonStatus
groups_cost(Groups *g, KanonPattern differ, GroupCost *cost)
{
	KanonPattern pattern;
	KanonStatus status;

	*cost = (GroupCost){.cost = -1};
	if (g->nslots > 0)
		*cost = *slot_of(g, differ);
	if (cost->cost >= 0)
		return KANON_OK;
	if ((g->nslots == 0 || (!has_places(g) && g->nknown * 2 >= g->nslots)) && grow_known(g) != KANON_OK)
		return KANON_NO_MEMORY;
	status = find_pattern(g, differ, &pattern);
	if (status != KANON_OK)
		return status;
	*cost = (GroupCost){differ, pattern, kanon_instances_cost(g->problem, &g->grid, pattern)};
	*slot_of(g, differ) = *cost;
	g->nknown++;
	return KANON_OK;
}

static KanonPattern
differ_in(const Groups *g, uint32_t a, uint32_t b)
{
	int n = g->problem->ncolumns;
	const uint32_t *x = g->code + (size_t) a * (size_t) n;
	const uint32_t *y = g->code + (size_t) b * (size_t) n;
	KanonPattern differ = KANON_NONE;

	for (int c = 0; c < n; c++)
		differ.word[c / 64] |= (uint64_t) (x[c] != y[c]) << c % 64;
	return differ;
}

KanonPattern
groups_differ(const Groups *g, const Group *group)
{
	KanonPattern differ = KANON_NONE;

	for (uint32_t i = 1; i < group->n; i++)
		differ = kanon_union(differ, differ_in(g, group->type[0], group->type[i]));
	return differ;
}

static double
pair_nudge(const Groups *g, uint32_t a, uint32_t b)
{
	return a == b ? 0 : g->nudge * (double) (kanon_mix((uint64_t) a << 32 | b) >> 11) * 0x1p-53;
}

double
groups_nudge(const Groups *g, const Group *group)
{
	const uint32_t *type = group->type;

	if (g->nudge == 0 || group->n == 1)
		return 0;
	if (group->n == 2)
		return pair_nudge(g, type[0], type[1]);
	return (pair_nudge(g, type[0], type[1]) + pair_nudge(g, type[0], type[2]) +
			pair_nudge(g, type[1], type[2])) /
		   2;
}

/* ---- odd sets ---- */

int
groups_odd_of(const Groups *g, const Group *group, int *ids)
{
	int n = 0;

	for (uint32_t i = 0; i < group->n; i++)
		for (size_t j = g->odd.in_start[group->type[i]]; j < g->odd.in_start[group->type[i] + 1]; j++)
		{
			int at = 0;

			while (at < n && ids[at] != (int) g->odd.in[j])
				at++;
			if (at == n)
				ids[n++] = (int) g->odd.in[j];
			else
				ids[at] = ids[--n];
		}
	return n;
}

/* The weight of the odd sets that hold both types. */
static double
common(const Groups *g, uint32_t a, uint32_t b)
{
	size_t i = g->odd.in_start[a];
	size_t j = g->odd.in_start[b];
	double sum = 0;

	while (i < g->odd.in_start[a + 1] && j < g->odd.in_start[b + 1])
	{
		if (g->odd.in[i] == g->odd.in[j])
		{
			sum += g->weight[g->odd.in[i]];
			i++;
			j++;
		}
		else if (g->odd.in[i] < g->odd.in[j])
			i++;
		else
			j++;
	}
	return sum;
}

/* ... and that hold all three. */
static double
common_three(const Groups *g, uint32_t a, uint32_t b, uint32_t c)
{
	size_t j = g->odd.in_start[b];
	size_t k = g->odd.in_start[c];
	double sum = 0;

	for (size_t i = g->odd.in_start[a]; i < g->odd.in_start[a + 1]; i++)
	{
		while (j < g->odd.in_start[b + 1] && g->odd.in[j] < g->odd.in[i])
			j++;
		while (k < g->odd.in_start[c + 1] && g->odd.in[k] < g->odd.in[i])
			k++;
		if (j < g->odd.in_start[b + 1] && k < g->odd.in_start[c + 1] && g->odd.in[j] == g->odd.in[i] &&
			g->odd.in[k] == g->odd.in[i])
			sum += g->weight[g->odd.in[i]];
	}
	return sum;
}

/* ---- pricing ---- */

/* The groups of one type that are worth most, or all of them. */
typedef struct Offers
{
	Groups *g;
	double gap;
	size_t added;
	Group best[MORE];
	double reduced[MORE];
	int n;
} Offers;

static KanonStatus
offer(Offers *o, Group group, double reduced)
{
	int at;

	if (o->gap > 0)
	{
		/* those below 0 and at 0 are there, or are as good as others that are */
		if (o->g->ngroups >= MAX_LISTED)
			return KANON_TOO_LARGE;
		return groups_add(o->g, &group, &o->added);
	}
	if (o->n == MORE && reduced >= o->reduced[MORE - 1])
		return KANON_OK;
	if (o->n < MORE)
		o->n++;
	for (at = o->n - 1; at > 0 && o->reduced[at - 1] > reduced; at--)
	{
		o->reduced[at] = o->reduced[at - 1];
		o->best[at] = o->best[at - 1];
	}
	o->reduced[at] = reduced;
	o->best[at] = group;
	return KANON_OK;
}

static KanonStatus
take_best(Offers *o)
{
	KanonStatus status = KANON_OK;

	for (int i = 0; i < o->n && status == KANON_OK; i++)
		status = groups_add(o->g, &o->best[i], &o->added);
	o->n = 0;
	return status;
}

/* Below what a group is offered: what is above it could not be in a solution that counts. */
static double
limit_of(const Offers *o)
{
	return o->gap > 0 ? o->gap : -o->g->fine;
}

/* All pairs of a type with those after it; the ones that may be in triples are kept as near. */
static KanonStatus
price_pairs(Offers *o, uint32_t a)
{
	Groups *g = o->g;
	double most = o->gap > 0 ? 2 * o->gap : -o->g->fine;
	bool placed = has_places(g) && g->nslots > 0;
	KanonStatus status = KANON_OK;

	for (uint32_t b = a + 1; b < g->ntypes && status == KANON_OK; b++)
	{
		KanonPattern differ = differ_in(g, a, b);
		GroupCost cost = {.cost = -1};
		double least;
		double both;

		if (placed)
			cost.cost = g->known[differ.word[0]].cost;
		if (cost.cost < 0)
			status = groups_cost(g, differ, &cost);
		least = 2 * cost.cost - g->reach[a] - g->reach[b];
		if (status == KANON_OK && least < most)
			least += pair_nudge(g, a, b);
		if (status != KANON_OK || least >= most)
			continue;
		both = common(g, a, b);
		if (least + 2 * both < limit_of(o))
			status = offer(o, (Group){{a, b}, 2, 2 * cost.cost}, least + 2 * both);
		if ((both > 0 || o->gap > 0) && status == KANON_OK && !ilp_list_add(g->env, &g->near, b))
			status = KANON_NO_MEMORY;
	}
	return status == KANON_OK && kanon_step(&g->pace, 4 * (uint64_t) g->ntypes) ? KANON_CANCELLED : status;
}

static KanonStatus
price_triple(Offers *o, uint32_t a, uint32_t b, uint32_t c)
{
	Groups *g = o->g;
	Group group = {{a, b, c}, 3, 0};
	GroupCost cost;
	double reduced;
	KanonStatus status = groups_cost(g, groups_differ(g, &group), &cost);

	if (status != KANON_OK)
		return status;
	group.cost = 3 * cost.cost;
	reduced = group.cost + groups_nudge(g, &group) - g->reach[a] - g->reach[b] - g->reach[c] +
			  2 * (common(g, a, b) + common(g, a, c) + common(g, b, c)) - 4 * common_three(g, a, b, c);
	if (kanon_step(&g->pace, 40))
		return KANON_CANCELLED;
	return reduced < limit_of(o) ? offer(o, group, reduced) : KANON_OK;
}

/* The triples of a type with near ones after it. */
static KanonStatus
price_triples(Offers *o, uint32_t a)
{
	Groups *g = o->g;
	const uint32_t *near = g->near.v;
	size_t from = g->near_start[a];
	size_t to = g->near_start[a + 1];
	KanonStatus status = KANON_OK;

	for (size_t i = from; i < to; i++)
		g->mark[near[i]] = a + 1;
	for (size_t i = from; i < to && status == KANON_OK; i++)
	{
		uint32_t b = near[i];

		if (g->rows[a] >= 2)
			status = price_triple(o, a, a, b);
		if (g->rows[b] >= 2 && status == KANON_OK)
			status = price_triple(o, a, b, b);
		if (kanon_step(&g->pace, g->near_start[b + 1] - g->near_start[b]))
			status = KANON_CANCELLED;
		for (size_t j = g->near_start[b]; j < g->near_start[b + 1] && status == KANON_OK; j++)
			if (g->mark[near[j]] == a + 1)
				status = price_triple(o, a, b, near[j]);
	}
	return status;
}

KanonStatus
groups_price(Groups *g, double gap, size_t *added)
{
	Offers o = {.g = g, .gap = gap};
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < g->ntypes; i++)
	{
		g->reach[i] = g->price[i];
		for (size_t j = g->odd.in_start[i]; j < g->odd.in_start[i + 1]; j++)
			g->reach[i] += g->weight[g->odd.in[j]];
	}
	g->near.n = 0;
	for (uint32_t i = 0; i < g->ntypes && status == KANON_OK && !g->pace.late; i++)
	{
		g->near_start[i] = g->near.n;
		status = price_pairs(&o, i);
		if (status == KANON_OK)
			status = take_best(&o);
	}
	g->near_start[g->ntypes] = g->near.n;
	memset(g->mark, 0, g->ntypes * sizeof(*g->mark));
	for (uint32_t i = 0; i < g->ntypes && status == KANON_OK && !g->pace.late && (o.added == 0 || gap > 0);
		 i++)
	{
		status = price_triples(&o, i);
		if (status == KANON_OK)
			status = take_best(&o);
	}
	*added = o.added;
	return status;
}
