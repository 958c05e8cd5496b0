/*
 * groups_lp.c: the linear program over groups, by GLPK: columns are added where
 * their price is good (groups_price.c), odd sets where they are violated
 * (groups.c), until there are none of either.
 *
 * In all that was tried the solution is then one of whole numbers, but for a few small
 * tables: there all groups that could be part of a better one are listed, and GLPK
 * branches.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/exact/exact.h"
#include "util/linear_program.h"
#include "util/sort.h"

#ifdef HAVE_GLPK

/* The memory that GLPK takes for a column or row: measured, on the safe side. */
#define COLUMN_BYTES ((size_t) 1000)

/* Rounds of odd sets that may raise nothing. */
#define IDLE 20

typedef struct Run
{
	LinearProgram lp;
	Groups *g;
	size_t ncols; /* groups that are there */
	size_t nsets; /* odd sets that are there */
	int *ind;
	double *val;
	size_t row_room;
} Run;

/* Room for a row of all columns. */
static bool
row_room(Run *run)
{
	Groups *g = run->g;

	return KANON_GROW(&g->scratch, &run->row_room, g->ngroups + g->odd.n + g->ntypes + 4,
					  KANON_ARRAY(run->ind), KANON_ARRAY(run->val)) &&
		   KANON_GROW(&g->scratch, &g->used_room, g->ngroups, KANON_ARRAY(g->used)) &&
		   KANON_GROW(&g->scratch, &g->weight_room, g->odd.n, KANON_ARRAY(g->weight));
}

static KanonStatus
memory_left(const Run *run)
{
	const Groups *g = run->g;

	return lp_room(g->env, g->ngroups + g->odd.n + g->ntypes, COLUMN_BYTES);
}

/* The groups that are not there. */
static KanonStatus
add_columns(Run *run)
{
	Groups *g = run->g;
	int at;

	if (!row_room(run) || memory_left(run) != KANON_OK || g->ngroups > INT_MAX / 8)
		return KANON_NO_MEMORY;
	if (run->ncols == g->ngroups)
		return KANON_OK;
	at = lp_add_columns(&run->lp, (int) (g->ngroups - run->ncols));
	for (; run->ncols < g->ngroups; run->ncols++, at++)
	{
		const Group *group = &g->group[run->ncols];
		int n = 0;
		int nodd;
		int *odd;

		for (uint32_t i = 0; i < group->n; i++)
		{
			if (i > 0 && group->type[i] == group->type[i - 1])
				run->val[n] += 1;
			else
			{
				run->ind[++n] = (int) group->type[i] + 1;
				run->val[n] = 1;
			}
		}
		/* of the odd sets that have a row: the others get one with all columns */
		odd = run->ind + n + 1;
		nodd = groups_odd_of(g, group, odd);
		for (int i = 0; i < nodd; i++)
			if ((size_t) odd[i] < run->nsets)
			{
				run->ind[++n] = odd[i] + (int) g->ntypes + 1;
				run->val[n] = 1;
			}
		lp_set_column(&run->lp, at, n, run->ind, run->val);
		lp_set_cost(&run->lp, at, group->cost + groups_nudge(g, group));
		lp_bound_column(&run->lp, at, 0, INFINITY);
		if (kanon_step(&g->pace, 100))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* The odd sets that are not there. */
static KanonStatus
add_sets(Run *run)
{
	Groups *g = run->g;
	int at;

	if (run->nsets == g->odd.n)
		return KANON_OK;
	if (!row_room(run) || memory_left(run) != KANON_OK)
		return KANON_NO_MEMORY;
	at = lp_add_rows(&run->lp, (int) (g->odd.n - run->nsets));
	for (; run->nsets < g->odd.n; run->nsets++, at++)
	{
		size_t from = run->nsets == 0 ? 0 : g->odd.end.v[run->nsets - 1];
		int n = 0;

		memset(g->mark, 0, g->ntypes * sizeof(*g->mark));
		for (size_t i = from; i < g->odd.end.v[run->nsets]; i++)
			g->mark[g->odd.type.v[i]] = 1;
		for (size_t e = 0; e < run->ncols; e++)
		{
			uint32_t within = 0;

			for (uint32_t i = 0; i < g->group[e].n; i++)
				within += g->mark[g->group[e].type[i]];
			if (within % 2 != 0)
			{
				run->ind[++n] = (int) e + 1;
				run->val[n] = 1;
			}
		}
		lp_set_row(&run->lp, at, n, run->ind, run->val);
		lp_bound_row(&run->lp, at, 1, INFINITY);
		if (kanon_step(&g->pace, 4 * (uint64_t) run->ncols))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* Each type has a row. */
static KanonStatus
load(Run *run)
{
	Groups *g = run->g;

	run->ncols = 0;
	run->nsets = 0;
	lp_clear(&run->lp);
	lp_add_rows(&run->lp, (int) g->ntypes);
	for (uint32_t i = 0; i < g->ntypes; i++)
		lp_bound_row(&run->lp, (int) i + 1, (double) g->rows[i], (double) g->rows[i]);
	return add_columns(run);
}

/*
 * The basis of a partition: rows of a type are with one another, others in the
 * cheapest pair that is left for them, or alone.
 */
static KanonStatus
start(Run *run)
{
	Groups *g = run->g;
	KanonKeyed *order = kanon_take(&g->scratch, g->ngroups, 2 * sizeof(*order));
	int64_t *left = kanon_take(&g->scratch, g->ntypes, sizeof(*left));
	size_t n = 0;

	if (order == NULL || left == NULL)
		return KANON_NO_MEMORY;
	memcpy(left, g->rows, g->ntypes * sizeof(*left));
	for (size_t e = 0; e < g->ngroups; e++)
	{
		const Group *group = &g->group[e];

		lp_start_column(&run->lp, (int) e + 1, LP_LOW);
		if (group->n == 2 && group->type[0] == group->type[1])
			lp_start_column(&run->lp, (int) e + 1, LP_BASIC);
		else if (group->n == 1 && g->rows[group->type[0]] == 1)
			lp_start_column(&run->lp, (int) e + 1, LP_BASIC);
		else if (group->n == 2)
			order[n++] = (KanonKeyed){group->cost, (uint32_t) e};
	}
	kanon_sort(order, order + n, n, sizeof(*order), kanon_compare_keyed, NULL);
	for (size_t i = 0; i < n; i++)
	{
		const Group *group = &g->group[order[i].item];
		uint32_t a = group->type[0];
		uint32_t b = group->type[1];

		if (left[a] == 0 || left[b] == 0 || (g->rows[a] > 1 && g->rows[b] > 1))
			continue;
		left[a]--;
		left[b]--;
		/* of two rows of their own one stays where it is, for nothing, that there is a basis */
		lp_start_column(&run->lp, (int) order[i].item + 1, LP_BASIC);
		lp_start_column(&run->lp, (int) (g->rows[a] > 1 ? b : a) + 1, LP_LOW);
	}
	for (uint32_t i = 0; i < g->ntypes; i++)
		lp_start_row(&run->lp, (int) i + 1, LP_FIXED);
	kanon_drop(&g->scratch, order);
	kanon_drop(&g->scratch, left);
	return KANON_OK;
}

/* The solution at hand and its prices. */
static void
read_solution(Run *run)
{
	Groups *g = run->g;

	for (size_t e = 0; e < g->ngroups; e++)
		g->used[e] = lp_value(&run->lp, (int) e + 1);
	for (uint32_t i = 0; i < g->ntypes; i++)
		g->price[i] = lp_price(&run->lp, (int) i + 1);
	for (size_t s = 0; s < g->odd.n; s++)
		g->weight[s] = fmax(0, lp_price(&run->lp, (int) (g->ntypes + s) + 1));
}

/*
 * The bound that the prices prove: no reduced cost is below 0 but by rounding, GLPK's of
 * the groups that are there or that of a sum of those that are not; it may count for
 * every row.
 */
static double
proven(Run *run)
{
	const Groups *g = run->g;
	double sum = 0;
	double rows = 0;
	double below = g->fine;

	for (uint32_t i = 0; i < g->ntypes; i++)
	{
		sum += g->price[i] * (double) g->rows[i];
		rows += (double) g->rows[i];
	}
	for (size_t s = 0; s < g->odd.n; s++)
		sum += g->weight[s];
	for (size_t e = 0; e < g->ngroups; e++)
	{
		const Group *group = &g->group[e];
		double reduced = group->cost + groups_nudge(g, group);
		int nodd = groups_odd_of(g, group, run->ind);

		for (uint32_t i = 0; i < group->n; i++)
			reduced -= g->price[group->type[i]];
		for (int i = 0; i < nodd; i++)
			reduced -= g->weight[run->ind[i]];
		below = fmax(below, -reduced / group->n);
	}
	return sum - g->nudged - below * rows;
}

static bool
is_whole(const Groups *g)
{
	for (size_t e = 0; e < g->ngroups; e++)
		if (fabs(g->used[e] - rint(g->used[e])) > 1e-6)
			return false;
	return true;
}

static void
on_tree(void *arg, LpEvent event)
{
	Run *run = arg;
	Groups *g = run->g;

	(void) event;
	g->nodes = run->lp.nodes;
	if (kanon_step(&g->pace, KANON_STEPS / 8))
		run->lp.cancelled = true;
	if (lp_is_spent(&run->lp) || run->lp.cancelled || g->pace.late)
		lp_stop(&run->lp);
}

/* The best partition of the groups that are there; *complete: there is no better one. */
static KanonStatus
branch(Run *run, bool *complete)
{
	Groups *g = run->g;
	KanonStatus status;

	for (size_t e = 0; e < g->ngroups; e++)
		lp_set_whole(&run->lp, (int) e + 1);
	status = lp_branch(&run->lp, &(LpSearch){.same = LP_SAME, .at = on_tree, .arg = run}, complete);
	if (status != KANON_OK)
		return status;
	if (lp_found(&run->lp))
	{
		for (size_t e = 0; e < g->ngroups; e++)
			g->used[e] = lp_whole_value(&run->lp, (int) e + 1);
		status = groups_take(g);
	}
	return status;
}

/*
 * Odd sets do not do: a partition into what is there, then one into all that could be
 * in a better one.
 */
static KanonStatus
finish(Run *run)
{
	Groups *g = run->g;
	double gap;
	size_t added;
	bool complete;
	KanonStatus status = branch(run, &complete);

	gap = g->cutoff - g->bound + GROUPS_EPS;
	if (status != KANON_OK || g->pace.late || gap <= 0)
		return status;
	lp_clear(&run->lp);
	status = groups_begin(g);
	if (status == KANON_OK)
		status = groups_price(g, gap, &added);
	if (status == KANON_TOO_LARGE || (status == KANON_OK && g->pace.late))
		return KANON_OK;
	if (status == KANON_OK)
		status = load(run);
	if (status == KANON_OK)
		status = add_sets(run);
	if (status == KANON_OK)
		status = start(run);
	if (status == KANON_OK)
		status = lp_relax(&run->lp, LP_PRIMAL);
	if (status != KANON_OK || g->pace.late)
		return status;
	status = branch(run, &complete);
	if (status == KANON_OK && complete && !g->grid.wide)
		g->bound = fmax(g->bound, groups_beyond(g, g->cutoff));
	return status;
}

/* The costs as they are. */
static void
stop_nudging(Run *run)
{
	Groups *g = run->g;

	g->nudge = 0;
	g->nudged = 0;
	for (size_t e = 0; e < g->ngroups; e++)
		lp_set_cost(&run->lp, (int) e + 1, g->group[e].cost);
}

/* The linear program over all groups, within the odd sets that are there. */
static KanonStatus
relax(Run *run, LpMethod method)
{
	Groups *g = run->g;
	size_t added = 1;
	KanonStatus status = KANON_OK;

	while (status == KANON_OK && added > 0)
	{
		status = lp_relax(&run->lp, method);
		if (status != KANON_OK || g->pace.late)
			return status;
		read_solution(run);
		status = groups_price(g, 0, &added);
		/* not all were looked at, so that nothing is proven by their prices */
		if (status == KANON_OK && g->pace.late)
			return status;
		if (status == KANON_OK)
			status = add_columns(run);
		method = LP_PRIMAL;
	}
	if (status == KANON_OK)
		g->bound = fmax(g->bound, proven(run));
	g->pace.bound = (groups_round_up(g, g->bound) + g->base) * g->grid.unit;
	if (g->first == -INFINITY)
		g->first = g->bound;
	kanon_pace_gap(&g->pace, g->first, g->bound, g->best.found ? fmin(g->cutoff, g->best.cost) : g->cutoff);
	return status;
}

/* Odd sets are added until the solution is one of whole numbers; *done: nothing is left to find. */
static KanonStatus
tighten(Run *run, bool *done)
{
	Groups *g = run->g;
	LpMethod method = LP_PRIMAL;
	int idle = 0;
	double raised = -INFINITY;
	size_t added = 1;
	KanonStatus status = KANON_OK;

	*done = false;
	while (added > 0 && idle < IDLE)
	{
		status = relax(run, method);
		*done = status != KANON_OK || g->pace.late || groups_round_up(g, g->bound) > g->cutoff;
		if (*done)
			return status;
		if (is_whole(g))
		{
			*done = g->grid.integral || g->nudge == 0;
			status = groups_take(g);
			/* of no more than rounding the cost is above what is proven */
			if (*done && g->best.found &&
				g->best.cost - g->bound < g->nudged + kanon_instances_slack(&g->grid, g->best.cost))
				g->bound = g->best.cost;
			return status;
		}
		idle = lp_cost(&run->lp) > raised + GROUPS_EPS ? 0 : idle + 1;
		raised = fmax(raised, lp_cost(&run->lp));
		status = groups_odd_find(g, &added);
		if (status == KANON_OK)
			status = add_sets(run);
		if (status != KANON_OK)
			return status;
		method = LP_DUAL;
	}
	return KANON_OK;
}

/* The code inside the frame of the jump: calls to GLPK, and memory of the scratch. */
static KanonStatus
solve(void *arg)
{
	Run *run = arg;
	Groups *g = run->g;
	size_t added;
	bool done;
	KanonStatus status;

	/* the nearest pairs: they are worth most where all rows are alone, or with those of their type */
	for (uint32_t i = 0; i < g->ntypes; i++)
		g->price[i] = g->rows[i] == 1 ? g->group[i].cost : g->group[g->ntypes].cost / 2;
	status = groups_price(g, 0, &added);
	if (status == KANON_OK)
		status = load(run);
	if (status == KANON_OK)
		status = start(run);
	if (status == KANON_OK)
		status = tighten(run, &done);
	if (status != KANON_OK || done)
		return status;
	stop_nudging(run);
	status = tighten(run, &done);
	return status != KANON_OK || done ? status : finish(run);
}

KanonStatus
groups_program(Groups *g)
{
	Run run = {.g = g, .lp = {.fine = GROUPS_GLPK}};
	KanonStatus status = lp_run(&run.lp, &g->pace, solve, &run);

	snprintf(g->text, sizeof(g->text), "GLPK: %.100s", run.lp.text);
	return status;
}

#else /* HAVE_GLPK */

KanonStatus
groups_program(Groups *g)
{
	snprintf(g->text, sizeof(g->text), "built without GLPK");
	return KANON_UNAVAILABLE;
}

#endif /* HAVE_GLPK */
