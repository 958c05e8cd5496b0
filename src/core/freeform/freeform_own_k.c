/*
 * freeform_own_k.c: rows that want different ks: which of them are a graph together.
 *
 * That a row's matches are equally likely takes a graph in which all rows have as
 * many (freeform_draw.c).  So the rows of each k are one, the largest k first; where
 * they are fewer than that takes (k < (n + 3) / 2), the nearest of the rows that want
 * less go with them, and what is left over at the end goes with the k before.  Everybody
 * has as many matches as wanted, and some have more.
 */

#include <stdio.h>
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/sort.h"

typedef struct Near
{
	int64_t distance;
	uint32_t type;
} Near;

typedef struct Groups
{
	KanonScratch scratch;
	KanonFreeformPlan *plan;
	KanonPace pace;
	uint32_t ntypes;
	uint32_t *order; /* [ntypes] by k, the largest first */
	uint32_t *start; /* [ntypes] where the rows of a type begin */
	uint32_t *used;  /* [ntypes] rows in a group; the first ones */
	uint32_t *group; /* [nrows] */
	uint32_t *size;  /* [ngroups] */
	uint32_t *k;     /* [ngroups] */
	uint32_t ngroups;
	Near *near; /* [2 * ntypes] */
} Groups;

static int
compare_ks(const void *a, const void *b, void *arg)
{
	const KanonProblem *problem = arg;
	int64_t left = kanon_freeform_own_k(problem, *(const uint32_t *) a);
	int64_t right = kanon_freeform_own_k(problem, *(const uint32_t *) b);

	return left > right ? -1 : left < right;
}

static int
compare_near(const void *a, const void *b, void *arg)
{
	const Near *left = a;
	const Near *right = b;

	(void) arg;
	if (left->distance != right->distance)
		return left->distance < right->distance ? -1 : 1;
	return left->type < right->type ? -1 : left->type > right->type;
}

/* The cost of a record that shows two row types. */
static int64_t
distance(const KanonFreeformPlan *plan, uint32_t a, uint32_t b)
{
	int64_t sum = 0;

	for (int c = 0; c < plan->space.ncolumns; c++)
	{
		const KanonFreeformColumn *column = &plan->space.columns[c];
		const uint32_t *code = plan->problem->columns[plan->column[c]].code;

		if (code[a] == code[b])
			continue;
		if (column->number)
		{
			int64_t apart = (int64_t) plan->scale[c][code[a]] - plan->scale[c][code[b]];

			apart = apart < 0 ? -apart : apart;
			sum += apart < column->full ? apart : column->full;
		}
		else if (column->levels > 0)
			sum += freeform_tree_cost(plan, c, freeform_tree_meet(plan, c, a, b), a);
		else
			sum += column->step;
	}
	return sum;
}

/* So many rows of a type are in the last group. */
static void
put(Groups *g, uint32_t type, uint32_t rows)
{
	for (uint32_t r = 0; r < rows; r++)
		g->group[g->start[type] + g->used[type]++] = g->ngroups - 1;
	g->size[g->ngroups - 1] += rows;
}

static uint32_t
left_of(const Groups *g, uint32_t type)
{
	return (uint32_t) g->plan->problem->rows[type] - g->used[type];
}

/* Rows of later types, the nearest first, until the group is as large as it must be. */
static KanonStatus
fill_up(Groups *g, const uint32_t *members, uint32_t nmembers, uint32_t next, uint32_t least)
{
	uint32_t n = 0;

	for (uint32_t x = next; x < g->ntypes; x++)
	{
		uint32_t type = g->order[x];
		int64_t best = INT64_MAX;

		if (left_of(g, type) == 0)
			continue;
		if (kanon_stop(&g->pace, (uint64_t) nmembers * (uint64_t) g->plan->space.ncolumns * 4))
			return KANON_CANCELLED;
		for (uint32_t m = 0; m < nmembers; m++)
		{
			int64_t apart = distance(g->plan, members[m], type);

			best = apart < best ? apart : best;
		}
		g->near[n++] = (Near){best, type};
	}
	kanon_sort(g->near, g->near + n, n, sizeof(*g->near), compare_near, NULL);
	for (uint32_t x = 0; x < n && g->size[g->ngroups - 1] < least; x++)
	{
		uint32_t wanted = least - g->size[g->ngroups - 1];
		uint32_t has = left_of(g, g->near[x].type);

		put(g, g->near[x].type, has < wanted ? has : wanted);
	}
	return KANON_OK;
}

/* The rows that want the k of order[from..end), of which some may be in a group already. */
static KanonStatus
make_group(Groups *g, uint32_t from, uint32_t end, uint32_t *members, int64_t *left)
{
	int64_t k = kanon_freeform_own_k(g->plan->problem, g->order[from]);
	/* k < (n + 3) / 2 */
	int64_t least = 2 * k - 2;
	uint32_t n = 0;
	KanonStatus status = KANON_OK;

	for (uint32_t x = from; x < end; x++)
		if (left_of(g, g->order[x]) > 0)
			members[n++] = g->order[x];
	if (n == 0)
		return KANON_OK;
	/* those that are left do not do: they all go with the group before */
	if (*left >= least || g->ngroups == 0)
	{
		g->k[g->ngroups] = (uint32_t) k;
		g->size[g->ngroups++] = 0;
	}
	*left += g->size[g->ngroups - 1];
	for (uint32_t m = 0; m < n; m++)
		put(g, members[m], left_of(g, members[m]));
	if (g->size[g->ngroups - 1] < least)
		status = fill_up(g, members, n, end, (uint32_t) least);
	*left -= g->size[g->ngroups - 1];
	return status;
}

static KanonStatus
make_groups(Groups *g)
{
	const KanonProblem *problem = g->plan->problem;
	uint32_t *members = kanon_take(&g->scratch, g->ntypes, 2 * sizeof(uint32_t));
	int64_t left = g->plan->nrows;
	KanonStatus status = kanon_taken(&g->scratch);

	for (uint32_t i = 0; i < g->ntypes && status == KANON_OK; i++)
		g->order[i] = i;
	if (status == KANON_OK)
		kanon_sort(g->order, members, g->ntypes, sizeof(uint32_t), compare_ks, (void *) (uintptr_t) problem);
	for (uint32_t from = 0, end; from < g->ntypes && status == KANON_OK; from = end)
	{
		for (end = from + 1; end < g->ntypes &&
							 compare_ks(&g->order[from], &g->order[end], (void *) (uintptr_t) problem) == 0;
			 end++)
			;
		if (kanon_stop(&g->pace, (uint64_t) (end - from) * 4))
			status = KANON_CANCELLED;
		else
			status = make_group(g, from, end, members, &left);
	}
	return status;
}

/* The rows group by group; within each in the order in which they were. */
static KanonStatus
sort_rows(Groups *g)
{
	KanonFreeformPlan *plan = g->plan;
	uint32_t *to = kanon_take0(&g->scratch, (size_t) g->ngroups + 1, sizeof(uint32_t));
	uint32_t *type = kanon_alloc(plan->problem->env, plan->nrows, sizeof(uint32_t));

	if (to == NULL || type == NULL)
	{
		kanon_free(plan->problem->env, type);
		return KANON_NO_MEMORY;
	}
	for (uint32_t i = 0; i < g->ngroups; i++)
		to[i + 1] = to[i] + g->size[i];
	for (uint32_t row = 0; row < plan->nrows; row++)
		type[to[g->group[row]]++] = plan->type[row];
	kanon_free(plan->problem->env, plan->type);
	plan->type = type;
	return KANON_OK;
}

static KanonStatus
find_groups(Groups *g)
{
	const KanonFreeformPlan *plan = g->plan;
	/* each has two rows at least */
	size_t most = plan->nrows / 2 + 1;
	KanonStatus status;

	g->order = kanon_take(&g->scratch, g->ntypes, sizeof(uint32_t));
	g->start = kanon_take(&g->scratch, g->ntypes, sizeof(uint32_t));
	g->used = kanon_take0(&g->scratch, g->ntypes, sizeof(uint32_t));
	g->group = kanon_take0(&g->scratch, plan->nrows, sizeof(uint32_t));
	g->size = kanon_take(&g->scratch, most, sizeof(uint32_t));
	g->k = kanon_take(&g->scratch, most, sizeof(uint32_t));
	g->near = kanon_take(&g->scratch, g->ntypes, 2 * sizeof(Near));
	if (g->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t row = plan->nrows; row > 0; row--)
		g->start[plan->type[row - 1]] = row - 1;
	if (plan->problem->freeform->own_k == NULL || plan->nrows == 0)
	{
		g->ngroups = 1;
		g->size[0] = plan->nrows;
		g->k[0] = (uint32_t) plan->problem->k;
		return KANON_OK;
	}
	status = make_groups(g);
	return status == KANON_OK ? sort_rows(g) : status;
}

/* Rows of a part, about. */
static uint32_t
part_size(const Groups *g, uint32_t group)
{
	uint32_t size = g->plan->problem->freeform->partition_size;

	if (size == 0 || size > g->size[group])
		return g->size[group];
	return size < 2 * g->k[group] ? 2 * g->k[group] : size;
}

static uint32_t
parts_of(const Groups *g, uint32_t group)
{
	uint32_t size = part_size(g, group);

	return size == 0 || size > g->size[group] ? 1 : g->size[group] / size;
}

/*
 * Parts of a group are as equal as can be.  Where k is even and matches are mutual
 * their sizes are even, too, but for the last one: an odd number of rows cannot have
 * an odd number of partners each.
 */
static void
cut(Groups *g, uint32_t group, uint32_t *part, uint32_t *row)
{
	KanonFreeformPlan *plan = g->plan;
	uint32_t step = plan->space.symmetric && g->k[group] % 2 == 0 ? 2 : 1;
	uint64_t rows = g->size[group];
	uint32_t nparts = parts_of(g, group);

	for (uint32_t p = 0; p < nparts; p++)
	{
		plan->first[*part] = *row + (uint32_t) (rows * p / nparts) / step * step;
		plan->part_k[(*part)++] = g->k[group];
	}
	*row += g->size[group];
}

KanonStatus
kanon_freeform_divide(KanonFreeformPlan *plan)
{
	KanonEnv *env = plan->problem->env;
	Groups g = {.scratch = {.env = env},
				.plan = plan,
				.pace = kanon_pace(env, "match"),
				.ntypes = plan->problem->ntypes};
	uint32_t part = 0;
	uint32_t row = 0;
	KanonStatus status = find_groups(&g);

	for (uint32_t i = 0; i < g.ngroups && status == KANON_OK; i++)
		plan->nparts += parts_of(&g, i);
	if (status == KANON_OK)
	{
		plan->first = kanon_alloc(env, (size_t) plan->nparts + 1, sizeof(uint32_t));
		plan->part_k = kanon_alloc(env, plan->nparts, sizeof(uint32_t));
		if (plan->first == NULL || plan->part_k == NULL)
			status = KANON_NO_MEMORY;
	}
	for (uint32_t i = 0; i < g.ngroups && status == KANON_OK; i++)
		cut(&g, i, &part, &row);
	if (status == KANON_OK)
		plan->first[plan->nparts] = row;
	kanon_scratch_free(&g.scratch);
	return status;
}
