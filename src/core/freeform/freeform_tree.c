/*
 * freeform_tree.c: hierarchies in records without classes: a record shows the lowest node
 * that has the values of all its rows below it.
 *
 * A node loses its normalized certainty penalty (Xu, Wang, Pei, Wang, Shi, Fu, "Utility-based
 * anonymization using local recoding", KDD 2006), as measures have it: the share of
 * the column's values that it has, or of its numbers' range; nothing with one value.
 */
#include <math.h>

#include "freeform/freeform_work.h"
#include "model/model.h"
#include "util/sort.h"

/* ---- of the table ---- */

typedef struct Below
{
	uint32_t values;
	double low;
	double high;
} Below;

/* The node of each value in a level; UINT32_MAX: no row has the value. */
static void
find_nodes(const KanonProblem *problem, const KanonColumn *values, const KanonColumn *level, uint32_t *node)
{
	for (uint32_t v = 0; v < values->distinct; v++)
		node[v] = UINT32_MAX;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		node[values->code[type]] = level->code[type];
}

KanonStatus
freeform_tree_price(KanonFreeformPlan *plan, int c)
{
	const KanonProblem *problem = plan->problem;
	int first = plan->column[c];
	const KanonColumn *values = &problem->columns[first];
	KanonScratch scratch = {.env = problem->env};
	uint32_t *node = kanon_take(&scratch, values->distinct, sizeof(uint32_t));
	double scale = 1;
	double range = values->number != NULL ? kanon_number_range(values, &scale) : 0;
	KanonStatus status = kanon_taken(&scratch);

	for (int l = first + 1; l <= first + plan->space.columns[c].levels && status == KANON_OK; l++)
	{
		const KanonColumn *level = &problem->columns[l];
		Below *below = kanon_take0(&scratch, level->distinct, sizeof(Below));

		plan->share[l] = kanon_alloc(problem->env, level->distinct, sizeof(double));
		status = kanon_taken(&scratch);
		if (plan->share[l] == NULL)
			status = KANON_NO_MEMORY;
		if (status != KANON_OK)
			break;
		find_nodes(problem, values, level, node);
		for (uint32_t v = 0; v < values->distinct; v++)
		{
			Below *of = node[v] != UINT32_MAX ? &below[node[v]] : NULL;
			double number = values->number != NULL ? values->number[v] : 0;

			if (of == NULL)
				continue;
			/* beside what is no finite number there is no range */
			if (!isfinite(number))
				number = NAN;
			if (of->values++ == 0)
				of->low = of->high = number;
			of->low = isnan(number) || number < of->low ? number : of->low;
			of->high = isnan(number) || number > of->high ? number : of->high;
		}
		for (uint32_t p = 0; p < level->distinct; p++)
			plan->share[l][p] = below[p].values < 2 ? 0
								: values->number != NULL
									? kanon_range_share(range, scale, below[p].low, below[p].high)
									: (double) below[p].values / values->distinct;
	}
	kanon_scratch_free(&scratch);
	return status;
}

int32_t
freeform_tree_cost(const KanonFreeformPlan *plan, int c, int level, uint32_t type)
{
	const KanonFreeformColumn *priced = &plan->space.columns[c];
	int column = plan->column[c] + level;

	if (level == 0)
		return 0;
	if (level > priced->levels)
		return priced->full;
	return (int32_t) rint(plan->share[column][plan->problem->columns[column].code[type]] * priced->full);
}

int
freeform_tree_meet(const KanonFreeformPlan *plan, int c, uint32_t a, uint32_t b)
{
	int level = 0;

	while (level <= plan->space.columns[c].levels)
	{
		const uint32_t *code = plan->problem->columns[plan->column[c] + level].code;

		if (code[a] == code[b])
			break;
		level++;
	}
	return level;
}

/* ---- of a part ---- */

typedef struct Paths
{
	const int32_t *code[KANON_MAX_COLUMNS]; /* by level: the values first */
	int levels;
} Paths;

/* The highest level in which two rows have different nodes; -1: they have the same value. */
static int
parting(const Paths *paths, uint32_t a, uint32_t b)
{
	int level = paths->levels;

	while (level >= 0 && paths->code[level][a] == paths->code[level][b])
		level--;
	return level;
}

static int
compare_paths(const void *a, const void *b, void *arg)
{
	const Paths *paths = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;
	int level = parting(paths, left, right);

	if (level < 0)
		return left < right ? -1 : left > right;
	return paths->code[level][left] < paths->code[level][right] ? -1 : 1;
}

/* The nodes of rows that are in the order of their paths. */
static void
plant(FreeformWork *work, int c, const Paths *paths, const uint32_t *order, uint32_t *next)
{
	uint32_t root = work->nnodes[c] - 1;
	uint32_t at[KANON_MAX_COLUMNS + 1];

	at[paths->levels + 1] = root;
	for (uint32_t x = 0; x < work->n; x++)
	{
		uint32_t row = order[x];

		for (int level = x == 0 ? paths->levels : parting(paths, order[x - 1], row); level >= 0; level--)
		{
			at[level] = next[level]++;
			work->parent[c][at[level]] = at[level + 1];
			/* what a node costs comes after the nodes */
			work->price[c][at[level]] = level == 0 ? 0 : paths->code[level][work->n + row];
		}
		work->value[c][row] = (int32_t) at[0];
	}
	work->parent[c][root] = root;
	work->price[c][root] = work->space->columns[c].full;
}

KanonStatus
freeform_tree_open(FreeformWork *work, int c)
{
	uint32_t n = work->n;
	Paths paths = {.levels = work->space->columns[c].levels};
	uint32_t *order = kanon_alloc(work->env, n, 2 * sizeof(uint32_t));
	uint32_t next[KANON_MAX_COLUMNS + 1] = {0}; /* nodes of each level, then where they begin */
	uint32_t all = 0;

	if (order == NULL)
		return KANON_NO_MEMORY;
	paths.code[0] = work->part->value + kanon_freeform_words(work->space, c) * n;
	for (int level = 1; level <= paths.levels; level++)
		paths.code[level] = paths.code[0] + (2 * (size_t) level - 1) * n;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	kanon_sort(order, order + n, n, sizeof(uint32_t), compare_paths, &paths);
	for (uint32_t x = 0; x < n; x++)
		for (int level = x == 0 ? paths.levels : parting(&paths, order[x - 1], order[x]); level >= 0; level--)
			next[level]++;
	for (int level = 0; level <= paths.levels; level++)
	{
		uint32_t nodes = next[level];

		next[level] = all;
		all += nodes;
	}
	work->nnodes[c] = all + 1;
	work->parent[c] = kanon_take(&work->scratch, work->nnodes[c], sizeof(uint32_t));
	work->price[c] = kanon_take(&work->scratch, work->nnodes[c], sizeof(int32_t));
	work->miss[c] = kanon_take(&work->scratch, work->nnodes[c], sizeof(int32_t));
	work->node[c] = kanon_take0(&work->scratch, work->padded, sizeof(uint32_t));
	if (!work->scratch.failed)
	{
		plant(work, c, &paths, order, next);
		for (uint32_t j = 0; j < n; j++)
			work->node[c][j] = (uint32_t) work->value[c][j];
	}
	kanon_free(work->env, order);
	return kanon_taken(&work->scratch);
}

void
freeform_joins(const FreeformWork *work, int c, uint32_t from, int32_t *price)
{
	const uint32_t *parent = work->parent[c];
	uint32_t path[KANON_MAX_COLUMNS + 1];
	int at = 0;

	path[0] = from;
	while (parent[path[at]] != path[at])
	{
		path[at + 1] = parent[path[at]];
		at++;
	}
	/* from everything down; what is not above `from` is joined where its parent is */
	for (uint32_t x = work->nnodes[c]; x-- > 0;)
	{
		bool above = at >= 0 && path[at] == x;

		price[x] = above ? work->price[c][x] : price[parent[x]];
		at -= above;
	}
}
