/*
 * freeform_release.c: graphs become a release: each is checked, and what the rows
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
