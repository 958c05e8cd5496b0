/*
 * freeform.c: k-anonymity without classes: the table is cut into parts, their
 * graphs become one release.
 *
 * Doka, Xue, Tsoumakos, Karras, "k-Anonymization by Freeform Generalization",
 * ASIACCS 2015.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "freeform/freeform_work.h"
#include "model/model.h"
#include "util/fault.h"
#include "util/sort.h"

/* Rows: their records are classes, before equal ones are put together. */
#define MOST_ROWS KANON_MAX_TYPES

/* Places on a number's scale for what is no finite number: apart from all and each other. */
#define BELOW_ALL (-2) /* times the full range: -infinity */
#define ABOVE_ALL 3    /* infinity and what comes after it */

/* ---- the plan ---- */

/* Where each value of a number lies on its scale. */
static KanonStatus
make_scale(KanonFreeformPlan *plan, int c)
{
	const KanonColumn *column = &plan->problem->columns[plan->column[c]];
	KanonFreeformColumn *priced = &plan->space.columns[c];
	double low = INFINITY;
	double times; /* less than 1 where the range itself is no double */
	int32_t above = ABOVE_ALL;
	int32_t *scale = kanon_alloc(plan->problem->env, column->distinct, sizeof(int32_t));

	plan->scale[c] = scale;
	if (scale == NULL)
		return KANON_NO_MEMORY;
	plan->range[c] = kanon_number_range(column, &plan->range_scale[c]);
	times = plan->range_scale[c];
	for (uint32_t v = 0; v < column->distinct; v++)
		if (isfinite(column->number[v]))
			low = fmin(low, column->number[v]);
	for (uint32_t v = 0; v < column->distinct; v++)
	{
		double number = column->number[v];

		if (isfinite(number))
			scale[v] = plan->range[c] > 0
						   ? (int32_t) rint((number * times - low * times) / plan->range[c] * priced->full)
						   : 0;
		else
		{
			scale[v] = (number == -INFINITY ? BELOW_ALL : above) * priced->full;
			above += number != -INFINITY ? 2 : 0;
			priced->capped = true;
		}
	}
	return KANON_OK;
}

/* The quasi-identifiers of few values first, and what their cells cost. */
static KanonStatus
price_columns(KanonFreeformPlan *plan)
{
	const KanonProblem *problem = plan->problem;
	double weights = 0;
	KanonStatus status = KANON_OK;

	for (int q = 0; q < plan->space.ncolumns; q++)
	{
		int first = kanon_first_column(problem, q);
		int at = q;

		while (at > 0 && problem->columns[plan->column[at - 1]].distinct > problem->columns[first].distinct)
		{
			plan->column[at] = plan->column[at - 1];
			at--;
		}
		plan->column[at] = first;
	}
	for (int c = 0; c < plan->space.ncolumns; c++)
	{
		int end = plan->column[c];

		do
			plan->weight[c] += problem->columns[end++].weight;
		while (end < problem->ncolumns && problem->columns[end].level > 0);
		plan->space.columns[c].levels = end - plan->column[c] - 1;
		weights += plan->weight[c];
	}
	for (int c = 0; c < plan->space.ncolumns && status == KANON_OK; c++)
	{
		const KanonColumn *column = &problem->columns[plan->column[c]];
		KanonFreeformColumn *priced = &plan->space.columns[c];

		priced->number = column->number != NULL && priced->levels == 0;
		if (column->distinct > 1 && weights > 0)
			priced->full = (int32_t) rint(plan->weight[c] / weights * KANON_FREEFORM_UNITS);
		if (priced->number)
			status = make_scale(plan, c);
		else if (priced->levels > 0)
			status = freeform_tree_price(plan, c);
		else if (priced->full > 0)
			priced->step = (int32_t) fmax(1, rint((double) priced->full / (column->distinct - 1)));
	}
	return status;
}

static int
compare_types(const void *a, const void *b, void *arg)
{
	const KanonFreeformPlan *plan = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	/* rows of one node of a hierarchy follow one another */
	for (int c = 0; c < plan->space.ncolumns; c++)
		for (int level = plan->space.columns[c].levels; level >= 0; level--)
		{
			const uint32_t *code = plan->problem->columns[plan->column[c] + level].code;

			if (code[left] != code[right])
				return code[left] < code[right] ? -1 : 1;
		}
	return 0;
}

/* Row types in lexicographic order, each as often as it has rows. */
static KanonStatus
order_rows(KanonFreeformPlan *plan)
{
	const KanonProblem *problem = plan->problem;
	KanonEnv *env = problem->env;
	uint32_t *order = kanon_alloc(env, problem->ntypes, sizeof(uint32_t));
	uint32_t *scratch = kanon_alloc(env, problem->ntypes, sizeof(uint32_t));
	uint32_t row = 0;

	plan->type = kanon_alloc(env, plan->nrows, sizeof(uint32_t));
	if (order != NULL && scratch != NULL && plan->type != NULL)
	{
		for (uint32_t i = 0; i < problem->ntypes; i++)
			order[i] = i;
		kanon_sort(order, scratch, problem->ntypes, sizeof(uint32_t), compare_types, plan);
		for (uint32_t i = 0; i < problem->ntypes; i++)
			for (int64_t r = 0; r < problem->rows[order[i]]; r++)
				plan->type[row++] = order[i];
	}
	kanon_free(env, order);
	kanon_free(env, scratch);
	return row == plan->nrows ? KANON_OK : KANON_NO_MEMORY;
}

/* k and the rows are within what the method takes. */
static KanonStatus
check_size(const KanonProblem *problem, int64_t rows, KanonReport *report)
{
	bool relaxed = kanon_freeform_relaxed(problem->freeform->method);
	int64_t k = kanon_freeform_most_k(problem);
	int64_t part = rows; /* rows of one, at most */

	if (problem->freeform->partition_size > 0 && 2 * (int64_t) problem->freeform->partition_size < rows)
		part = 2 * (int64_t) problem->freeform->partition_size;
	if (problem->freeform->own_k != NULL && problem->freeform->method >= KANON_FREEFORM_CONCEALMENT)
		snprintf(report->detail, sizeof(report->detail), "the method knows one k");
	else if (relaxed && part > KANON_RELAXED_ROWS)
		snprintf(report->detail, sizeof(report->detail), "there are more than %d rows in a part",
				 KANON_RELAXED_ROWS);
	else if (relaxed && (problem->k < 2 || problem->k > rows))
		snprintf(report->detail, sizeof(report->detail), "k is larger than the table");
	else if (!relaxed && (problem->k < 2 || k > rows || 2 * k >= rows + 3))
		snprintf(report->detail, sizeof(report->detail), "k is not below (n + 3) / 2");
	else
		return KANON_OK;
	return KANON_TOO_LARGE;
}

KanonStatus
kanon_freeform_begin(const KanonProblem *problem, KanonFreeformPlan *plan, KanonReport *report)
{
	const KanonFreeformOptions *options = problem->freeform;
	int64_t rows = 0;
	KanonStatus status;

	memset(plan, 0, sizeof(*plan));
	plan->problem = problem;
	if (problem->privacy != NULL || problem->npopulations > 0)
	{
		snprintf(report->detail, sizeof(report->detail), "it makes no classes that could keep a rule");
		return KANON_UNSUPPORTED;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (__builtin_add_overflow(rows, problem->rows[i], &rows) || rows > MOST_ROWS)
		{
			snprintf(report->detail, sizeof(report->detail), "there are more than %u rows",
					 (unsigned) MOST_ROWS);
			return KANON_TOO_LARGE;
		}
	plan->nrows = (uint32_t) rows;
	status = problem->ntypes > 0 ? check_size(problem, rows, report) : KANON_OK;
	if (status != KANON_OK)
		return status;
	plan->space.method = options->method;
	plan->space.symmetric = options->symmetric;
	plan->space.ncolumns = kanon_count_qis(problem);
	plan->space.seed = problem->seed;
	plan->space.deadline =
		isfinite(problem->time_limit) ? problem->env->now(problem->env->arg) + problem->time_limit : INFINITY;
	plan->space.gap = problem->gap;
	plan->proven = true;
	status = price_columns(plan);
	if (status == KANON_OK)
		status = order_rows(plan);
	return status == KANON_OK ? kanon_freeform_divide(plan) : status;
}

void
kanon_freeform_free(KanonFreeformPlan *plan)
{
	KanonEnv *env = plan->problem->env;

	for (int c = 0; c < KANON_MAX_QIS; c++)
		kanon_free(env, plan->scale[c]);
	for (int c = 0; c < KANON_MAX_COLUMNS; c++)
		kanon_free(env, plan->share[c]);
	kanon_free(env, plan->type);
	kanon_free(env, plan->first);
	kanon_free(env, plan->part_k);
	kanon_free(env, plan->scratch);
	kanon_release_free(plan->problem, &plan->release);
	memset(plan->scale, 0, sizeof(plan->scale));
	memset(plan->share, 0, sizeof(plan->share));
	plan->type = plan->first = plan->part_k = plan->scratch = NULL;
}

void
kanon_freeform_bounds(const KanonFreeformPlan *plan, uint32_t p, uint32_t *first, uint32_t *n)
{
	*first = plan->first[p];
	*n = plan->first[p + 1] - *first;
}

void
kanon_freeform_values(const KanonFreeformPlan *plan, uint32_t p, int32_t *value)
{
	uint32_t first;
	uint32_t n;

	kanon_freeform_bounds(plan, p, &first, &n);
	for (int c = 0; c < plan->space.ncolumns; c++)
	{
		const uint32_t *code = plan->problem->columns[plan->column[c]].code;

		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t v = code[plan->type[first + i]];

			*value++ = plan->scale[c] != NULL ? plan->scale[c][v] : (int32_t) v;
		}
		for (int level = 1; level <= plan->space.columns[c].levels; level++, value += 2 * (size_t) n)
			for (uint32_t i = 0; i < n; i++)
			{
				uint32_t type = plan->type[first + i];

				value[i] = (int32_t) plan->problem->columns[plan->column[c] + level].code[type];
				value[n + i] = freeform_tree_cost(plan, c, level, type);
			}
	}
}

/* ---- one part ---- */

static KanonStatus
solve_mutual_again(FreeformWork *work)
{
	uint32_t *row = kanon_alloc(work->env, work->n, sizeof(uint32_t));
	uint32_t degree = work->degree;
	KanonStatus status;

	if (row == NULL)
		return KANON_NO_MEMORY;
	kanon_scratch_free(&work->scratch);
	status = freeform_work_open(work, degree, degree);
	if (status == KANON_OK)
	{
		for (uint32_t i = 0; i < work->n; i++)
			row[i] = i;
		freeform_circle(work, row, work->n, degree);
	}
	kanon_free(work->env, row);
	return status;
}

static KanonStatus
solve_graph(FreeformWork *work, KanonFreeformGraph *graph)
{
	switch (work->space->method)
	{
		case KANON_FREEFORM_GREEDY:
			return freeform_greedy(work);
		case KANON_FREEFORM_SORT_GREEDY:
		case KANON_FREEFORM_PLAIN_SORT_GREEDY:
			return freeform_sort_greedy(work);
		case KANON_FREEFORM_HUNGARIAN:
		case KANON_FREEFORM_PLAIN_HUNGARIAN:
			return freeform_hungarian(work);
		case KANON_FREEFORM_MIN_COST_FLOW:
			return freeform_min_cost_flow(work);
		case KANON_FREEFORM_RING:
			return freeform_ring(work);
		case KANON_FREEFORM_CONCEALMENT:
			return freeform_concealment(work, graph);
		case KANON_FREEFORM_ONE_K:
		case KANON_FREEFORM_K_ONE:
		case KANON_FREEFORM_K_K:
			return freeform_relaxed(work, graph);
		case KANON_FREEFORM_MIP:
			return freeform_mip(work, graph);
	}
	return KANON_BROKEN;
}

/* The graph as the methods have left it in the work. */
static KanonStatus
copy_graph(const FreeformWork *work, KanonFreeformGraph *graph)
{
	size_t edges = 0;

	for (uint32_t j = 0; j < work->n; j++)
		edges += work->nmatch[j];
	graph->start = kanon_alloc(work->env, (size_t) work->n + 1, sizeof(uint32_t));
	graph->match = edges < UINT32_MAX ? kanon_alloc(work->env, edges, sizeof(uint32_t)) : NULL;
	if (graph->start == NULL || graph->match == NULL)
		return KANON_NO_MEMORY;
	graph->start[0] = 0;
	for (uint32_t j = 0; j < work->n; j++)
	{
		memcpy(graph->match + graph->start[j], work->match + (size_t) j * work->degree,
			   work->nmatch[j] * sizeof(uint32_t));
		graph->start[j + 1] = graph->start[j] + work->nmatch[j];
	}
	return KANON_OK;
}

/* Rows that a record of one of n is made to show, at most, where the graph is not regular. */
static uint32_t
most_shown(KanonFreeformMethod method, uint32_t k, uint32_t n)
{
	return method == KANON_FREEFORM_K_ONE ? k : n;
}

KanonStatus
kanon_freeform_solve(KanonEnv *env, const KanonFreeformSpace *space, KanonStrongRandom strong,
					 const KanonFreeformPart *part, KanonFreeformGraph *graph, char *detail, size_t size)
{
	FreeformWork work = {
		.env = env,
		.scratch = {.env = env},
		.space = space,
		.part = part,
		.pace = kanon_pace(env, "match"),
		.random = {.strong = strong,
				   .state = space->seed + (part->number + UINT64_C(1)) * UINT64_C(0xd1b54a32d192ed03)},
		.detail = detail,
		.detail_size = size,
		.n = part->n,
		.k = part->k,
		.ncolumns = space->ncolumns};
	bool regular = space->method < KANON_FREEFORM_CONCEALMENT;
	bool mutual = space->symmetric;
	uint32_t degree = part->k;
	KanonStatus status;

	memset(graph, 0, sizeof(*graph));
	graph->n = part->n;
	graph->bound = -INFINITY;
	/* an odd number of rows cannot have an odd number of mutual partners each */
	if (mutual && degree % 2 == 0 && (part->n % 2 == 1 || space->method == KANON_FREEFORM_RING))
		degree++;
	status = freeform_work_open(&work, regular ? degree : 1,
								regular ? degree : most_shown(space->method, part->k, part->n));
	if (status == KANON_OK)
		status = solve_graph(&work, graph);
	/* too few rows for an exchange: the ring always works */
	if (status == KANON_NOT_FOUND && mutual)
		status = solve_mutual_again(&work);
	if (status == KANON_OK && graph->start == NULL)
		status = copy_graph(&work, graph);
	if (status == KANON_OK && graph->given == NULL)
		status = freeform_draw(&work, graph);
	kanon_scratch_free(&work.scratch);
	if (status == KANON_OK && FAULT(graph_broken))
		graph->match[0] = graph->match[1];
	if (status != KANON_OK)
		kanon_freeform_graph_free(env, graph);
	return status;
}

void
kanon_freeform_graph_free(KanonEnv *env, KanonFreeformGraph *graph)
{
	kanon_free(env, graph->start);
	kanon_free(env, graph->match);
	kanon_free(env, graph->given);
	memset(graph, 0, sizeof(*graph));
}

double
kanon_freeform_memory(const KanonProblem *problem, uint32_t n)
{
	const KanonFreeformOptions *options = problem->freeform;
	double rows = (double) n + FREEFORM_BLOCK;
	double k = (double) kanon_freeform_most_k(problem) + 1;
	double row = 2 * 4 * k + 64; /* the graph from both sides, marks */
	bool regular = options->method < KANON_FREEFORM_CONCEALMENT;

	/* the graph handed out, and from the other side while drawing */
	row += 2 * 4 * k + 40;
	for (int c = 0; c < problem->ncolumns; c++)
	{
		double distinct = fmin(problem->columns[c].distinct, n);
		double shown = fmin(regular ? k : most_shown(options->method, (uint32_t) problem->k, n), distinct);

		row += 8; /* value, sum */
		/* of a level its node's number and price, there and in the part */
		row += problem->columns[c].level > 0 ? 32 : problem->columns[c].number != NULL ? 8 : 8 * shown + 8;
	}
	if (options->method == KANON_FREEFORM_SORT_GREEDY || options->method == KANON_FREEFORM_PLAIN_SORT_GREEDY)
		row += 24 * 8 + 16;
	if (options->method == KANON_FREEFORM_HUNGARIAN || options->method == KANON_FREEFORM_PLAIN_HUNGARIAN ||
		options->method == KANON_FREEFORM_MIN_COST_FLOW)
		row += fmin(4 * rows, 64.0 * 1024 * 1024 / rows) + 8 * k + 84;
	if (!regular)
		row += rows / 8 + 64;
	if (options->method == KANON_FREEFORM_SORT_GREEDY || options->method == KANON_FREEFORM_HUNGARIAN)
		return rows * row + freeform_exchange_memory(n, (uint32_t) fmax(k - 1, 1));
	return rows * row;
}

/* ---- all at once ---- */

static KanonStatus
solve_part(KanonFreeformPlan *plan, uint32_t p, KanonReport *report)
{
	KanonEnv *env = plan->problem->env;
	KanonFreeformGraph graph;
	KanonFreeformPart part = {.number = p, .k = plan->part_k[p]};
	uint32_t first;
	int32_t *value;
	KanonStatus status = KANON_NO_MEMORY;

	kanon_freeform_bounds(plan, p, &first, &part.n);
	value = kanon_alloc(env, part.n, kanon_freeform_width(&plan->space) * sizeof(int32_t));
	part.value = value;
	if (value != NULL)
	{
		kanon_freeform_values(plan, p, value);
		status = kanon_freeform_solve(env, &plan->space, plan->problem->freeform->strong, &part, &graph,
									  report->detail, sizeof(report->detail));
	}
	kanon_free(env, value);
	if (status != KANON_OK)
		return status;
	status = kanon_freeform_put(plan, p, &graph, report);
	kanon_freeform_graph_free(env, &graph);
	return status;
}

KanonStatus
kanon_solve_freeform(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonFreeformPlan plan;
	double start = problem->env->now(problem->env->arg);
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	report->lower_bound = -INFINITY;
	status = kanon_freeform_begin(problem, &plan, report);
	for (uint32_t p = 0; p < plan.nparts && status == KANON_OK && plan.nrows > 0; p++)
	{
		KanonProgress progress = {.phase = "match", .share = (double) p / plan.nparts, .rows_left = -1};

		if (problem->env->poll(problem->env->arg, &progress))
			status = KANON_CANCELLED;
		else
			status = solve_part(&plan, p, report);
	}
	if (status == KANON_OK)
		status = kanon_freeform_end(&plan, release, report);
	kanon_freeform_free(&plan);
	report->seconds = problem->env->now(problem->env->arg) - start;
	return status;
}
