/*
 * freeform_release.c: which rows form a graph together; graphs become a release: each is checked, and what the rows
 * of a record have in common becomes its cells.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "freeform/freeform_work.h"
#include "model/model.h"
#include "util/fault.h"
#include "util/pace.h"
#include "util/sort.h"

/* Different codes of scratch[0..n), in order; how many. */
static uint32_t
distinct_codes(uint32_t *code, uint32_t n)
{
	uint32_t kept = 1;

	kanon_sort(code, code + n, n, sizeof(uint32_t), kanon_compare_numbers, NULL);
	for (uint32_t x = 1; x < n; x++)
		if (code[x] != code[x - 1])
			code[kept++] = code[x];
	return kept;
}

/*
 * A cell for rows with these (different, sorted) codes, and its price.  A range cannot
 * hold NULL among other values, so nothing is shown then.
 */
static KanonStatus
make_cell(KanonFreeformPlan *plan, int c, const uint32_t *code, uint32_t n, KanonCell *cell)
{
	const KanonColumn *column = &plan->problem->columns[plan->column[c]];
	const KanonFreeformColumn *priced = &plan->space.columns[c];
	KanonRelease *release = &plan->release;
	uint32_t words = priced->number ? 2 : n + 1;

	if (n == 1)
	{
		*cell = (KanonCell){KANON_SHOW_VALUE, code[0]};
		return KANON_OK;
	}
	plan->cost += plan->weight[c] *
				  (priced->number ? kanon_range_share(plan->range[c], plan->range_scale[c],
													  column->number[code[0]], column->number[code[n - 1]])
								  : (double) (n - 1) / (column->distinct - 1));
	if (priced->number && column->has_null && code[n - 1] == column->distinct - 1)
	{
		*cell = (KanonCell){KANON_SHOW_NOTHING, 0};
		return KANON_OK;
	}
	if (release->npool + words > KANON_MAX_TYPES ||
		!kanon_enlarge(plan->problem->env, &release->pool, &plan->pool_room, release->npool + words,
					   sizeof(uint32_t)))
		return KANON_NO_MEMORY;
	cell->show = priced->number ? KANON_SHOW_RANGE : KANON_SHOW_SET;
	cell->code = (uint32_t) release->npool & 0x1fffffff;
	if (priced->number)
	{
		release->pool[release->npool++] = code[0];
		release->pool[release->npool++] = code[n - 1];
		return KANON_OK;
	}
	release->pool[release->npool++] = n;
	memcpy(release->pool + release->npool, code, n * sizeof(uint32_t));
	release->npool += n;
	return KANON_OK;
}

static KanonStatus
graph_broken(KanonReport *report, uint32_t p, const char *what)
{
	snprintf(report->detail, sizeof(report->detail), "part %u: %s", p, what);
	return KANON_BROKEN;
}

/*
 * The graph is what it has to be: every record has as many matches as its rows,
 * and both have as many as were promised, no row twice; and the assignment is one, along matches.  marks[2 n].
 */
static KanonStatus
check_graph(KanonFreeformPlan *plan, uint32_t p, const KanonFreeformGraph *graph, uint32_t *marks,
			KanonReport *report)
{
	uint32_t n = graph->n;
	uint32_t *count = marks + n;
	bool regular = plan->space.method < KANON_FREEFORM_CONCEALMENT;
	uint32_t k = plan->part_k[p];
	uint32_t least_records = kanon_freeform_promises_rows(plan->space.method) ? k : 1;
	uint32_t least_rows = kanon_freeform_promises_records(plan->space.method) ? k : 1;

	memset(marks, 0, 2 * (size_t) n * sizeof(uint32_t));
	for (uint32_t m = 0; m < graph->start[n]; m++)
	{
		if (graph->match[m] >= n)
			return graph_broken(report, p, "a match is no row");
		count[graph->match[m]]++;
	}
	for (uint32_t j = 0; j < n; j++)
	{
		uint32_t degree = graph->start[j + 1] - graph->start[j];
		bool given = false;

		if (degree < least_rows || count[j] < least_records)
			return graph_broken(report, p, "a row or record has fewer matches than it must");
		if (kanon_freeform_own_k(plan->problem, plan->type[plan->first[p] + j]) > k)
			return graph_broken(report, p, "a row wants more matches");
		for (uint32_t m = graph->start[j]; m < graph->start[j + 1]; m++)
		{
			uint32_t i = graph->match[m];

			/* records of a component have the degree of its rows: it is regular */
			if (regular && (count[i] != degree || degree > k + plan->space.symmetric))
				return graph_broken(report, p, "the graph is not regular");
			if (marks[i] == j + 1)
				return graph_broken(report, p, "a match is there twice");
			marks[i] = j + 1;
			given = given || graph->given[j] == i;
		}
		if (!given)
			return graph_broken(report, p, "a record goes to a row that it does not match");
	}
	memset(marks, 0, (size_t) n * sizeof(uint32_t));
	for (uint32_t j = 0; j < n; j++)
		if (marks[graph->given[j]]++ > 0)
			return graph_broken(report, p, "a row goes with two records");
	return KANON_OK;
}

/* Mutual: each match of record j has j among its own. */
static KanonStatus
check_mutual(const KanonFreeformGraph *graph, uint32_t p, KanonReport *report)
{
	for (uint32_t j = 0; j < graph->n; j++)
		for (uint32_t m = graph->start[j]; m < graph->start[j + 1]; m++)
		{
			uint32_t i = graph->match[m];
			uint32_t back = graph->start[i];

			while (back < graph->start[i + 1] && graph->match[back] != j)
				back++;
			if (back == graph->start[i + 1])
				return graph_broken(report, p, "a match is not mutual");
		}
	return KANON_OK;
}

static bool
make_room(KanonFreeformPlan *plan, const KanonFreeformGraph *graph)
{
	KanonEnv *env = plan->problem->env;
	KanonRelease *release = &plan->release;
	size_t edges = (size_t) release->ngraph + graph->start[graph->n];
	uint32_t most = graph->n;

	for (uint32_t j = 0; j < graph->n; j++)
		if (graph->start[j + 1] - graph->start[j] > most)
			most = graph->start[j + 1] - graph->start[j];
	if (release->classes == NULL)
	{
		release->classes = kanon_alloc(env, plan->nrows, sizeof(KanonClass));
		release->cells = kanon_alloc(env, plan->nrows, (size_t) plan->problem->ncolumns * sizeof(KanonCell));
		release->flows = kanon_alloc(env, plan->nrows, sizeof(KanonFlow));
		release->graph_start = kanon_alloc0(env, (size_t) plan->nrows + 1, sizeof(size_t));
		if (release->classes == NULL || release->cells == NULL || release->flows == NULL ||
			release->graph_start == NULL)
			return false;
	}
	return kanon_enlarge(env, &plan->scratch, &plan->scratch_room, 2 * (size_t) most, sizeof(uint32_t)) &&
		   kanon_enlarge(env, &release->graph, &plan->match_room, edges, sizeof(uint32_t));
}

/* A record shows every level in which all its rows agree; the lowest of them is its node and sets the price. */
static void
make_node(KanonFreeformPlan *plan, int c, const uint32_t *match, uint32_t degree, uint32_t first,
		  KanonCell *cells, KanonPattern *pattern)
{
	uint32_t type = plan->type[first + match[0]];
	int levels = plan->space.columns[c].levels;
	int column = plan->column[c];
	int lowest = 0;

	for (uint32_t m = 1; m < degree; m++)
	{
		int level = freeform_tree_meet(plan, c, type, plan->type[first + match[m]]);

		lowest = level > lowest ? level : lowest;
	}
	for (int level = 0; level <= levels; level++)
	{
		cells[level] = level < lowest
						   ? (KanonCell){KANON_SHOW_NOTHING, 0}
						   : (KanonCell){KANON_SHOW_VALUE,
										 plan->problem->columns[column + level].code[type] & KANON_MAX_TYPES};
		if (level < lowest)
			kanon_add(pattern, column + level);
	}
	if (lowest > levels)
		plan->cost += plan->weight[c];
	else if (lowest > 0)
		plan->cost += plan->weight[c] *
					  plan->share[column + lowest][plan->problem->columns[column + lowest].code[type]];
}

/* Record j of part p, whose first row is `first`, becomes a class of one row. */
static KanonStatus
put_record(KanonFreeformPlan *plan, const KanonFreeformGraph *graph, uint32_t first, uint32_t j)
{
	KanonRelease *release = &plan->release;
	uint32_t at = release->nclasses;
	uint32_t degree = graph->start[j + 1] - graph->start[j];
	const uint32_t *match = graph->match + graph->start[j];
	KanonCell *cells = release->cells + (size_t) at * (size_t) plan->problem->ncolumns;

	release->classes[at] = (KanonClass){KANON_NONE, 1};
	for (int c = 0; c < plan->space.ncolumns; c++)
	{
		int column = plan->column[c];
		const uint32_t *code = plan->problem->columns[column].code;
		uint32_t n;
		KanonStatus status;

		if (plan->space.columns[c].levels > 0)
		{
			make_node(plan, c, match, degree, first, &cells[column], &release->classes[at].pattern);
			continue;
		}
		for (uint32_t m = 0; m < degree; m++)
			plan->scratch[m] = code[plan->type[first + match[m]]];
		n = distinct_codes(plan->scratch, degree);
		status = make_cell(plan, c, plan->scratch, n, &cells[column]);
		if (status != KANON_OK)
			return status;
		if (n > 1)
			kanon_add(&release->classes[at].pattern, column);
	}
	for (uint32_t m = 0; m < degree; m++)
		release->graph[release->ngraph++] = plan->type[first + match[m]];
	release->graph_start[at + 1] = release->ngraph;
	release->flows[at] = (KanonFlow){plan->type[first + graph->given[j]], at, 1};
	release->nflows = ++release->nclasses;
	return KANON_OK;
}

KanonStatus
kanon_freeform_put(KanonFreeformPlan *plan, uint32_t p, const KanonFreeformGraph *graph, KanonReport *report)
{
	KanonPace pace = kanon_pace(plan->problem->env, "match");
	uint32_t first;
	uint32_t n;
	KanonStatus status;

	kanon_freeform_bounds(plan, p, &first, &n);
	if (n != graph->n)
		return graph_broken(report, p, "it has another number of rows");
	if (!make_room(plan, graph))
		return KANON_NO_MEMORY;
	status = check_graph(plan, p, graph, plan->scratch, report);
	if (status == KANON_OK && plan->space.symmetric)
		status = check_mutual(graph, p, report);
	for (uint32_t j = 0; j < n && status == KANON_OK; j++)
	{
		if (kanon_stop(&pace, (uint64_t) (graph->start[j + 1] - graph->start[j]) *
								  (uint64_t) plan->space.ncolumns * 8))
			return KANON_CANCELLED;
		status = put_record(plan, graph, first, j);
	}
	plan->bound += graph->bound;
	plan->proven = plan->proven && graph->proven;
	plan->nodes += graph->nodes;
	return status;
}

/* By how much a record may be dearer in units than it is: places and steps were rounded. */
static double
record_off(const KanonFreeformPlan *plan, double weights)
{
	double off = 0;
	uint32_t k = (uint32_t) kanon_freeform_most_k(plan->problem);

	for (int c = 0; c < plan->space.ncolumns; c++)
	{
		const KanonColumn *column = &plan->problem->columns[plan->column[c]];
		const KanonFreeformColumn *priced = &plan->space.columns[c];
		uint32_t most = k < column->distinct ? k : column->distinct;

		if (priced->full == 0)
			continue;
		off += priced->number || priced->levels > 0
				   ? 1.5
				   : (most - 1) * fabs(priced->step - plan->weight[c] / weights * KANON_FREEFORM_UNITS /
														  (column->distinct - 1));
	}
	return off;
}

KanonStatus
kanon_freeform_end(KanonFreeformPlan *plan, KanonRelease *release, KanonReport *report)
{
	const KanonProblem *problem = plan->problem;
	double weights = 0;
	KanonStatus status;

	for (int c = 0; c < problem->ncolumns; c++)
		weights += problem->columns[c].weight;
	*release = plan->release;
	memset(&plan->release, 0, sizeof(plan->release));
	status = kanon_release_finish(problem, release, report);
	if (status != KANON_OK)
	{
		kanon_release_free(problem, release);
		return status;
	}
	report->cost = plan->cost;
	report->lower_bound = -INFINITY;
	if (isfinite(plan->bound))
		report->lower_bound = fmin(
			fmax((plan->bound - record_off(plan, weights) * plan->nrows) * weights / KANON_FREEFORM_UNITS, 0),
			report->cost);
	/* what is lost of little weights beside large ones may be less than the rounding of all */
	report->proven = plan->proven && plan->nparts == 1 &&
					 report->lower_bound >= report->cost * (1 - plan->space.gap - KANON_FREEFORM_SEEN);
	/* what is optimal part by part need not be so as a whole */
	if (plan->nparts > 1)
		report->lower_bound = -INFINITY;
	report->nodes = plan->nodes;
	return KANON_OK;
}

/*
 * ---- Rows that want different ks: which of them are a graph together.
 *
 * That a row's matches are equally likely takes a graph in which all rows have as
 * many (freeform_draw.c).  So the rows of each k are one, the largest k first; where
 * they are fewer than that takes (k < (n + 3) / 2), the nearest of the rows that want
 * less go with them, and what is left over at the end goes with the k before.  Everybody
 * has as many matches as wanted, and some have more.
 */

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
