/*
 * groups.c: least cost for k = 2, which is a problem of polynomial time.
 *
 * Bredereck, Nichterlein, Niedermeier, "Pattern-Guided k-Anonymity", Algorithms
 * 6(4), 2013, Theorem 2: classes of two and three rows do, as larger ones fall
 * into those, and three rows cost no less than half of what their three pairs cost
 * together: a partition of least cost is a Simplex Matching.  E. Anshelevich and
 * A. Karagiozova, "Terminal backup, 3D matching, and covering cubic graphs", SIAM
 * Journal on Computing 40(3), 2011, solve that.  Here it is solved as a linear program
 * whose columns are priced (groups_price.c), as factors are in cluster/factor.c, and whose
 * rows are, beside those of the row types, the odd sets of matchings
 * (groups.c); where that does not end in whole numbers, GLPK branches.
 *
 * Any number of rows may be fully suppressed where residual lets one be: such a row
 * is a group of its own.  Else one row alone is dearer than to join any group, so that
 * there is none in the end.
 *
 * A type's own rows are groups of least cost.  So two groups {i, j} become {i, i}
 * and {j, j} for no more, two of {i, a, b} and {i, c, d} become {i, i}, {a, b} and
 * {c, d}, and two of {i, i, a} and {i, i, b} become {i, i}, {i, a} and {i, b}: some best
 * partition joins at most t + 2 rows of a type to others, and of two rows more it need
 * not know.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/exact/exact.h"
#include "privacy/rules.h"
#include "util/number.h"

/* Less than a unit: on a grid the best partition of nudged costs is the best. */
#define NUDGED 0.95

static size_t
place_of(const Groups *g, const Group *group)
{
	uint64_t hash = kanon_hash_add(0, group->n);
	size_t at;

	for (uint32_t i = 0; i < group->n; i++)
		hash = kanon_hash_add(hash, group->type[i]);
	for (at = hash & (g->nplaces - 1); g->place[at] != SIZE_MAX; at = (at + 1) & (g->nplaces - 1))
	{
		const Group *other = &g->group[g->place[at]];

		if (other->n == group->n && memcmp(other->type, group->type, group->n * sizeof(*group->type)) == 0)
			break;
	}
	return at;
}

static KanonStatus
grow_places(Groups *g)
{
	kanon_drop(&g->scratch, g->place);
	g->nplaces = g->nplaces == 0 ? 1024 : g->nplaces * 2;
	g->place = kanon_take(&g->scratch, g->nplaces, sizeof(*g->place));
	if (g->place == NULL)
		return KANON_NO_MEMORY;
	memset(g->place, 0xff, g->nplaces * sizeof(*g->place));
	for (size_t e = 0; e < g->ngroups; e++)
		g->place[place_of(g, &g->group[e])] = e;
	return KANON_OK;
}

KanonStatus
groups_add(Groups *g, const Group *group, size_t *added)
{
	size_t at;

	if (g->ngroups * 2 >= g->nplaces && grow_places(g) != KANON_OK)
		return KANON_NO_MEMORY;
	at = place_of(g, group);
	if (g->place[at] != SIZE_MAX)
		return KANON_OK;
	if (!KANON_GROW(&g->scratch, &g->room, g->ngroups + 1, KANON_ARRAY(g->group)))
		return KANON_NO_MEMORY;
	g->place[at] = g->ngroups;
	g->group[g->ngroups++] = *group;
	++*added;
	return KANON_OK;
}

KanonStatus
groups_begin(Groups *g)
{
	double alone = g->strict ? fmax(5 * g->grid.all_cost, 1) : g->grid.all_cost;
	GroupCost own;
	size_t added = 0;
	KanonStatus status = groups_cost(g, KANON_NONE, &own);

	g->ngroups = 0;
	if (g->place != NULL)
		memset(g->place, 0xff, g->nplaces * sizeof(*g->place));
	for (uint32_t n = 1; n <= 3; n++)
		for (uint32_t i = 0; i < g->ntypes && status == KANON_OK; i++)
			if (g->rows[i] >= n)
				status = groups_add(g, &(Group){{i, i, i}, n, n == 1 ? alone : n * own.cost}, &added);
	return status;
}

KanonStatus
groups_take(Groups *g)
{
	double cost = 0;
	size_t n = 0;

	for (size_t e = 0; e < g->ngroups; e++)
	{
		cost += rint(g->used[e]) * g->group[e].cost;
		n += rint(g->used[e]) > 0;
		if (g->strict && g->group[e].n == 1 && rint(g->used[e]) > 0)
			return KANON_OK;
	}
	if (g->best.found && cost >= g->best.cost)
		return KANON_OK;
	kanon_drop(&g->scratch, g->best.chosen);
	kanon_drop(&g->scratch, g->best.times);
	g->best.chosen = kanon_take(&g->scratch, n, sizeof(*g->best.chosen));
	g->best.times = kanon_take(&g->scratch, n, sizeof(*g->best.times));
	if (g->scratch.failed)
		return KANON_NO_MEMORY;
	g->best.n = 0;
	for (size_t e = 0; e < g->ngroups; e++)
		if (rint(g->used[e]) > 0)
		{
			g->best.times[g->best.n] = (int64_t) rint(g->used[e]);
			g->best.chosen[g->best.n++] = g->group[e];
		}
	g->best.found = true;
	g->best.cost = cost;
	g->cutoff = fmin(g->cutoff, groups_below(g, cost));
	g->pace.cost = fmin(g->pace.cost, (cost + g->base) * g->grid.unit);
	return KANON_OK;
}

static KanonStatus
prepare(Groups *g)
{
	const KanonProblem *problem = g->problem;
	size_t width = (size_t) problem->ncolumns;
	double sum = 0;
	double apart = 0;
	GroupCost own;
	KanonStatus status = kanon_mask_open(problem, &g->index);

	g->ntypes = problem->ntypes;
	g->rows = kanon_take(&g->scratch, g->ntypes, sizeof(*g->rows));
	g->code = kanon_take(&g->scratch, g->ntypes, width * sizeof(*g->code));
	g->odd.in_start = kanon_take0(&g->scratch, (size_t) g->ntypes + 1, sizeof(*g->odd.in_start));
	g->near_start = kanon_take(&g->scratch, (size_t) g->ntypes + 1, sizeof(*g->near_start));
	g->price = kanon_take(&g->scratch, g->ntypes, sizeof(*g->price));
	g->reach = kanon_take(&g->scratch, g->ntypes, sizeof(*g->reach));
	g->mark = kanon_take(&g->scratch, g->ntypes, sizeof(*g->mark));
	if (status != KANON_OK || g->scratch.failed)
		return status != KANON_OK ? status : KANON_NO_MEMORY;
	for (uint32_t i = 0; i < g->ntypes; i++)
	{
		int64_t most = (int64_t) g->ntypes + 4;
		int64_t rows = problem->rows[i];

		g->rows[i] = rows <= most ? rows : most + (rows - most) % 2;
		for (size_t c = 0; c < width; c++)
			g->code[i * width + c] = problem->columns[c].code[i];
		sum += (double) g->rows[i];
		apart += (double) (rows - g->rows[i]);
		if (kanon_step(&g->pace, width))
			return KANON_CANCELLED;
	}
	g->fine = GROUPS_FINE * (1 + 3 * g->grid.all_cost);
	g->nudged = NUDGED;
	g->nudge = 2 * NUDGED / sum;
	status = groups_cost(g, KANON_NONE, &own);
	if (status != KANON_OK)
		return status;
	g->base = apart * own.cost;
	g->cutoff -= g->base;
	return groups_begin(g);
}

/* ---- the release ---- */

/* A class that shows what a pattern leaves of a type's values; its number. */
static uint32_t
add_class(const Groups *g, KanonPattern pattern, uint32_t type, KanonRelease *release)
{
	int n = g->problem->ncolumns;
	KanonCell *cell = release->cells + (size_t) release->nclasses * (size_t) n;

	for (int c = 0; c < n; c++)
	{
		bool shown = !kanon_has(pattern, c);
		uint32_t code = shown ? g->problem->columns[c].code[type] : 0;

		cell[c] = (KanonCell){shown ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING, code & KANON_MAX_TYPES};
	}
	release->classes[release->nclasses].pattern = pattern;
	return release->nclasses++;
}

static void
add_flow(KanonRelease *release, uint32_t type, uint32_t class, int64_t rows)
{
	release->flows[release->nflows++] = (KanonFlow){type, class, rows};
}

/* Classes of the groups chosen; what they leave of each type (left) is a class of its own, or fully suppressed. */
static KanonStatus
fill(Groups *g, int64_t *left, KanonRelease *release)
{
	KanonPattern all = kanon_pattern_all(g->problem->ncolumns);
	uint32_t blank = add_class(g, all, 0, release);
	GroupCost cost;
	KanonStatus status = KANON_OK;

	for (size_t e = 0; e < g->best.n; e++)
	{
		const Group *group = &g->best.chosen[e];
		KanonPattern differ = groups_differ(g, group);
		uint32_t class;

		if (group->n > 1 && kanon_is_none(differ))
			continue;
		cost.pattern = all;
		if (group->n > 1)
			status = groups_cost(g, differ, &cost);
		if (status != KANON_OK)
			return status;
		class = kanon_same(cost.pattern, all) ? blank : add_class(g, cost.pattern, group->type[0], release);
		for (uint32_t i = 0; i < group->n; i++)
		{
			add_flow(release, group->type[i], class, g->best.times[e]);
			left[group->type[i]] -= g->best.times[e];
		}
	}
	status = groups_cost(g, KANON_NONE, &cost);
	for (uint32_t i = 0; i < g->ntypes && status == KANON_OK; i++)
		if (left[i] != 0)
			add_flow(release, i,
					 kanon_same(cost.pattern, all) ? blank : add_class(g, cost.pattern, i, release), left[i]);
	return status;
}

/* Fewer than two rows that are fully suppressed are dropped if they are to be. */
static void
drop_one(const Groups *g, KanonRelease *release)
{
	int64_t rows = 0;

	for (size_t i = 0; i < release->nflows; i++)
		rows += release->flows[i].class_ == 0 ? release->flows[i].rows : 0;
	for (size_t i = 0; i < release->nflows && rows == 1 && g->problem->residual == KANON_RESIDUAL_DROP; i++)
		if (release->flows[i].class_ == 0)
			release->flows[i].class_ = KANON_DROPPED;
}

static KanonStatus
make_release(Groups *g, KanonRelease *release)
{
	KanonEnv *env = g->env;
	size_t nclasses = g->best.n + g->ntypes + 1;
	int64_t *left = kanon_take(&g->scratch, g->ntypes, sizeof(*left));
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	release->classes = kanon_alloc0(env, nclasses, sizeof(*release->classes));
	release->cells = kanon_alloc0(env, nclasses, (size_t) g->problem->ncolumns * sizeof(*release->cells));
	release->flows = kanon_alloc0(env, 3 * g->best.n + g->ntypes, sizeof(*release->flows));
	if (left == NULL || release->classes == NULL || release->cells == NULL || release->flows == NULL)
		return KANON_NO_MEMORY;
	memcpy(left, g->problem->rows, g->ntypes * sizeof(*left));
	status = fill(g, left, release);
	drop_one(g, release);
	return status;
}

/* Greedy's release, and a better one if there is one. */
static KanonStatus
solve(Groups *g, const IlpStart *start, IlpResult *result, KanonReport *report)
{
	KanonStatus status = ilp_greedy(g->problem, &g->grid, start, result, report);

	if (status != KANON_OK || g->problem->ntypes == 0)
		return status;
	g->pace.cost = result->cost * g->grid.unit;
	g->pace.bounded = result->cost < INFINITY;
	g->cutoff = INFINITY;
	if (result->cost < INFINITY)
		g->cutoff = groups_below(g, result->cost - g->problem->gap * result->cost);
	kanon_pace_open(&g->pace, "matching");
	status = prepare(g);
	if (status == KANON_OK)
		status = groups_program(g);
	if (status == KANON_TOO_LARGE)
		snprintf(report->detail, sizeof(report->detail), "the mask has too many patterns");
	else if (status != KANON_OK)
		snprintf(report->detail, sizeof(report->detail), "%s", g->text);
	if (status == KANON_OK && g->best.found && g->best.cost + g->base < result->cost)
	{
		IlpResult mine = {.cost = g->best.cost + g->base};

		status = make_release(g, &mine.release);
		if (status != KANON_OK)
		{
			kanon_release_free(g->problem, &mine.release);
			return status;
		}
		kanon_release_free(g->problem, &result->release);
		*result = mine;
	}
	return status;
}

KanonStatus
groups_solve_limited(const KanonProblem *problem, const IlpStart *start, uint64_t most, KanonRelease *release,
					 KanonReport *report)
{
	KanonEnv *env = problem->env;
	Groups g = {.problem = problem,
				.env = env,
				.scratch = {.env = env},
				.strict = kanon_rest_strict(problem),
				.first = -INFINITY};
	IlpResult result = {.cost = INFINITY};
	double begin = env->now(env->arg);
	int64_t rows = 0;
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows += problem->rows[i];
	if (problem->k != 2)
	{
		snprintf(report->detail, sizeof(report->detail), "matching is for k = 2 only");
		return KANON_TOO_LARGE;
	}
	if (g.strict && rows == 1)
	{
		snprintf(report->detail, sizeof(report->detail),
				 "no release leaves none or at least k rows fully suppressed");
		return KANON_INFEASIBLE;
	}
	kanon_pace_limit(&g.pace, problem, "matching");
	g.pace.most = most;
	kanon_instances_grid(problem, &g.grid);
	status = solve(&g, start, &result, report);
	if (status == KANON_OK && result.cost == INFINITY)
	{
		snprintf(report->detail, sizeof(report->detail), "time was up before a release was found");
		status = KANON_NOT_FOUND;
	}
	if (status == KANON_OK)
		status = ilp_conclude(problem, &g.grid, &result,
							  fmin(groups_round_up(&g, g.bound) + g.base, result.cost), release, report);
	report->nodes = g.nodes;
	report->seconds = env->now(env->arg) - begin;
	kanon_release_free(problem, &result.release);
	kanon_mask_close(g.index);
	kanon_free(env, g.patterns);
	kanon_free(env, g.odd.end.v);
	kanon_free(env, g.odd.type.v);
	kanon_free(env, g.near.v);
	kanon_scratch_free(&g.scratch);
	return status;
}

KanonStatus
kanon_solve_matching(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (kanon_by_types(problem))
		return ruled_solve(problem, kanon_solve_matching, 0, release, report);
	return groups_solve_limited(problem, NULL, 0, release, report);
}

/*
 * ---- Odd sets that a fractional solution violates.
 *
 * If a set of types has an odd number of rows, some group has an odd number of rows:
 * one or three of them.  A solution of the linear program that uses half of each edge
 * of an odd cycle has none.  Such a set is a component, or a part of one that is
 * joined to the rest by little: the components of what is used to more than a
 * threshold, at several of them (Groetschel and Holland, "Solving matching problems
 * with linear programming", Mathematical Programming, 1985); and what is left of a
 * component when another one is taken out of it.
 */

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

/* The set of these types (ascending) was found before. */
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
