/*
 * glpk.c: the model solved by branch and cut.
 *
 * The linear relaxation by the simplex method in slices, tightened by the cuts
 * of cutting_planes.c, then branch and cut with those and Gomory's.  GLPK cannot know
 * that the objective is whole, so it is told: see feign().
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/program/program_model.h"
#include "util/scratch.h"

#ifdef HAVE_GLPK

/* The memory that GLPK takes for a pair: measured, on the safe side. */
#define PAIR_BYTES ((size_t) 1000)

/* Rows of a type that classes in groups bear without scaling. */
#define UNSCALED_ROWS 1e6

/* Rows from which a node's relaxation may take longer than a cancel should. */
#ifndef ILP_LARGE_ROWS
#define ILP_LARGE_ROWS 20000
#endif

/* Part of the objective by which a node must be better, as GLPK sees it, and then some. */
#define TOLERANCE 1e-6

/* And from which a row of the tableau for each fraction, for cuts and penalties, does. */
#define TABLEAU_ROWS 20000

/*
 * GLPK prunes nodes that are no better than its best solution.  Only solutions
 * of at most `target` count here, and costs are whole: so it is given a "best
 * solution" that costs more than target by little, but by more than its tolerance.
 * (It does not check the rows of what a callback provides; the extra column carries
 * the objective.)
 */
static void
feign(IlpRun *run)
{
	double step = run->model->integral ? fmin(0.99, 0.01 + TOLERANCE * fabs(run->target)) : 0;
	double objective = run->target + step;

	if (!(objective < run->feigned - 1e-9))
		return;
	run->feigned = objective;
	memset(run->x, 0, (size_t) (run->ncols + 1) * sizeof(*run->x));
	run->x[run->nz] = objective - ilp_model_ceiling(run->model);
	lp_offer(&run->lp, run->x);
}

/* Simplex iterations as work: each costs about as much as it has rows. */
static void
count_work(IlpRun *run)
{
	int iterations = lp_iterations(&run->lp);

	run->pace->work += (int64_t) (iterations - run->iterations) * lp_rows(&run->lp) * 10;
	run->iterations = iterations;
}

/* A solution that counts: what is left to find is better. */
static void
take_solution(IlpRun *run, double cost)
{
	run->outcome->found = true;
	run->outcome->cost = cost;
	run->target = fmin(run->target, ilp_cutoff(run->model, cost) - run->settings->gap * fabs(cost));
}

static void
on_tree(IlpRun *run, LpEvent event)
{
	IlpOutcome *outcome = run->outcome;

	outcome->nodes = run->lp.nodes;
	count_work(run);
	/* cuts transform a row of the tableau for each fraction */
	if (event == LP_CUTS)
		run->pace->work += (int64_t) lp_rows(&run->lp) * 500;
	if (kanon_step(run->pace, KANON_STEPS / 8))
		run->lp.cancelled = true;
	if (run->settings->max_nodes > 0 && outcome->nodes > run->settings->max_nodes)
		run->full = true;
	if (lp_is_spent(&run->lp) || run->status != KANON_OK || run->lp.cancelled || run->full || run->pace->late)
	{
		lp_stop(&run->lp);
		return;
	}
	if (event == LP_NODE && run->large)
	{
		run->status = lp_relax_node(&run->lp, fmin(run->feigned, DBL_MAX));
		if (run->status == KANON_CANCELLED)
			run->lp.cancelled = true;
		if (run->status != KANON_OK || run->pace->late)
			lp_stop(&run->lp);
	}
	if (event == LP_ROWS)
	{
		int node = lp_node(&run->lp);

		if (node != run->node)
			run->idle = 0;
		run->node = node;
		ilp_glpk_tighten(run, lp_cost(&run->lp));
	}
	if (event == LP_ROUND)
		feign(run);
	if (event == LP_SOLUTION && fabs(lp_whole_value(&run->lp, run->nz)) < 1e-9)
	{
		double cost = lp_whole_cost(&run->lp);

		if (run->model->integral)
			cost = rint(cost);
		if (outcome->found && cost >= outcome->cost)
			return;
		for (uint32_t f = 0; f < run->model->nf; f++)
			run->best[f] = lp_whole_value(&run->lp, run->u_col[f]) > 0.5;
		take_solution(run, cost);
	}
}

static void
tree_callback(void *arg, LpEvent event)
{
	IlpRun *run = arg;

	on_tree(run, event);
	/* of what is left when the search has stopped early */
	run->outcome->bound = fmax(run->outcome->bound, run->lp.bound);
	kanon_pace_gap(run->pace, run->root, run->outcome->bound, run->target);
}

/*
 * The linear relaxation with links and cuts; outcome->complete: it shows that
 * nothing of at most the target is left.
 */
static KanonStatus
solve_root(IlpRun *run)
{
	KanonStatus status;

	if (run->settings->start != NULL)
	{
		ilp_glpk_load_start(run, run->settings->start);
		status = lp_relax(&run->lp, LP_PRIMAL);
		count_work(run);
		if (status != KANON_OK || run->pace->late)
			return status;
	}
	do
	{
		/* classes that have to take millions of rows beside a few: unscaled, what can be done is taken for what cannot */
		if (run->settings->group != NULL && run->most_rows > UNSCALED_ROWS)
			lp_scale(&run->lp);
		status = lp_relax(&run->lp, LP_DUAL);
		count_work(run);
		if (status != KANON_OK || run->pace->late)
			return status;
		/* fewer rows: a relaxation, so that what it excludes is excluded */
		if (!lp_is_feasible(&run->lp))
		{
			run->outcome->complete = true;
			run->outcome->bound = INFINITY;
			return KANON_OK;
		}
		run->outcome->bound = lp_cost(&run->lp);
		if (ilp_round_up(run->model, run->outcome->bound) > run->target)
		{
			run->outcome->complete = true;
			return KANON_OK;
		}
	} while (ilp_glpk_tighten(run, run->outcome->bound));
	return run->status;
}

/* The code inside the frame of the jump: calls to GLPK only. */
static KanonStatus
solve(void *arg)
{
	IlpRun *run = arg;
	bool tableau;
	bool complete;
	KanonStatus status;

	for (uint32_t i = 0; i < run->model->m; i++)
		run->most_rows = fmax(run->most_rows, (double) run->model->n[i]);
	status = ilp_glpk_load(run);
	if (status == KANON_OK && run->settings->group != NULL)
		ilp_glpk_load_groups(run);
	if (status == KANON_OK)
		status = solve_root(run);
	if (status != KANON_OK || run->outcome->complete || run->pace->late)
		return status;
	run->large = lp_rows(&run->lp) >= ILP_LARGE_ROWS;
	tableau = lp_rows(&run->lp) < TABLEAU_ROWS;
	run->root = run->outcome->bound;
	status = lp_branch(&run->lp,
					   &(LpSearch){.branching = run->settings->branching == 1 || !tableau ? LP_BY_FRACTION
												: run->settings->branching == 0           ? LP_BY_PSEUDO_COSTS
																						  : LP_BY_DRIEBECK,
								   .gomory = run->settings->cuts && tableau,
								   .rounding_cuts = run->settings->rounding_cuts && tableau,
								   .same = LP_SAME,
								   .at = tree_callback,
								   .arg = run},
					   &complete);
	run->outcome->complete |= complete && status == KANON_OK && run->status == KANON_OK;
	return status == KANON_OK ? run->status : status;
}

KanonStatus
ilp_glpk(const IlpModel *model, double cutoff, const IlpSettings *settings, IlpOutcome *outcome,
		 IlpList *open, KanonPace *pace, KanonReport *report)
{
	KanonEnv *env = model->env;
	IlpRun run = {.model = model,
				  .settings = settings,
				  .outcome = outcome,
				  .pace = pace,
				  .target = cutoff,
				  .feigned = INFINITY};
	size_t pairs = model->start[model->nf];
	size_t columns = pairs + model->nf + 1;
	KanonScratch scratch = {.env = env};
	KanonStatus status;

	memset(outcome, 0, sizeof(*outcome));
	outcome->bound = -INFINITY;
	if (columns > INT_MAX / 8)
	{
		snprintf(report->detail, sizeof(report->detail), "the model has %zu variables", columns);
		return KANON_TOO_LARGE;
	}
	if (lp_room(env, columns + model->m, PAIR_BYTES) != KANON_OK)
		return KANON_NO_MEMORY;
	run.u_col = kanon_take(&scratch, model->nf, sizeof(*run.u_col));
	run.x_col = kanon_take0(&scratch, pairs, sizeof(*run.x_col));
	run.x = kanon_take(&scratch, columns + 1, sizeof(*run.x));
	run.best = kanon_take0(&scratch, model->nf, sizeof(*run.best));
	run.ind = kanon_take(&scratch, columns + model->m + 3, sizeof(*run.ind));
	run.val = kanon_take(&scratch, columns + model->m + 3, sizeof(*run.val));
	run.u = kanon_take(&scratch, model->nf, sizeof(*run.u));
	run.share = kanon_take(&scratch, pairs, sizeof(*run.share));
	run.within = kanon_take0(&scratch, model->m, sizeof(*run.within));
	status = kanon_taken(&scratch);
	if (status == KANON_OK)
		status = lp_run(&run.lp, pace, solve, &run);
	if (status == KANON_BROKEN)
		snprintf(report->detail, sizeof(report->detail), "GLPK: %s", run.lp.text);
	/* (that there is nothing at all has nothing to do with costs) */
	if (model->wide && (outcome->found || cutoff < INFINITY))
	{
		outcome->complete = false;
		outcome->bound = -INFINITY;
	}
	/* nothing of at most the target is left, which with a gap is well below the cost */
	if (status == KANON_OK && outcome->complete)
		outcome->bound = fmax(outcome->bound, ilp_beyond(model, run.target));
	for (uint32_t f = 0; f < model->nf && status == KANON_OK && outcome->found; f++)
		if (run.best[f] && !ilp_list_add(env, open, f))
			status = KANON_NO_MEMORY;
	kanon_scratch_free(&scratch);
	ilp_cuts_free(env, &run.cuts);
	return status;
}

#else /* HAVE_GLPK */

KanonStatus
ilp_glpk(const IlpModel *model, double cutoff, const IlpSettings *settings, IlpOutcome *outcome,
		 IlpList *open, KanonPace *pace, KanonReport *report)
{
	(void) model;
	(void) cutoff;
	(void) settings;
	(void) outcome;
	(void) open;
	(void) pace;
	snprintf(report->detail, sizeof(report->detail), "built without GLPK");
	return KANON_UNAVAILABLE;
}

#endif /* HAVE_GLPK */

/*
 * ---- The model of program_model.h as rows and columns.
 *
 * Most rows x_if <= n_i u_f never bind, and of the cuts of cutting_planes.c there are
 * too many to list: both are added where a solution violates them.
 */

#ifdef HAVE_GLPK

/* Rounds of cuts that may raise the bound by less than this part of what is missing. */
#define IDLE 3
#define PROGRESS 0.01

static void
set_binary(LinearProgram *lp, int column)
{
	lp_bound_column(lp, column, 0, 1);
	lp_set_whole(lp, column);
}

/*
 * The model, without the rows x_if <= n_i u_f: most of them never bind, and
 * without them the simplex has a small basis; add_links() adds those violated.
 */
KanonStatus
ilp_glpk_load(IlpRun *run)
{
	const IlpModel *model = run->model;
	LinearProgram *lp = &run->lp;
	bool rest = run->settings->free_fallback;
	double shift = ilp_model_ceiling(model);
	int row = (int) model->m;
	int col = 0;
	int *ind = run->ind;
	double *val = run->val;

	lp_set_cost(lp, 0, shift);
	lp_add_rows(lp, (int) model->m);
	for (uint32_t i = 0; i < model->m; i++)
		lp_bound_row(lp, (int) i + 1, rest ? -INFINITY : (double) model->n[i], (double) model->n[i]);
	for (uint32_t f = 0; f < model->nf; f++)
	{
		size_t lo = model->start[f];
		int n = (int) (model->start[f + 1] - lo);
		int64_t total = 0;

		if (kanon_step(run->pace, 50 * (int64_t) n))
			return KANON_CANCELLED;
		for (int p = 0; p < n; p++)
			total += model->n[model->type[lo + (size_t) p]];
		/* exactly k rows: all or none, x_if = n_i u_f; one column does */
		if (total == model->k)
		{
			double gain = 0;

			lp_add_columns(lp, 1);
			run->u_col[f] = ++col;
			for (int p = 0; p < n; p++)
			{
				uint32_t i = model->type[lo + (size_t) p];

				ind[p + 1] = (int) i + 1;
				val[p + 1] = (double) model->n[i];
				gain += (model->w[f] - model->c[i]) * (double) model->n[i];
			}
			lp_set_column(lp, col, n, ind, val);
			lp_set_cost(lp, col, gain);
			set_binary(lp, col);
			continue;
		}
		lp_add_columns(lp, n + 1);
		lp_add_rows(lp, 1);
		row++;
		for (int p = 0; p < n; p++)
		{
			uint32_t i = model->type[lo + (size_t) p];
			int xind[3] = {0, (int) i + 1, row};
			double xval[3] = {0, 1, 1};

			run->x_col[lo + (size_t) p] = ++col;
			lp_set_column(lp, col, 2, xind, xval);
			lp_set_cost(lp, col, model->w[f] - model->c[i]);
			lp_bound_column(lp, col, 0, (double) model->n[i]);
		}
		lp_bound_row(lp, row, 0, INFINITY);
		ind[1] = row;
		val[1] = -(double) model->k;
		run->u_col[f] = ++col;
		lp_set_column(lp, col, 1, ind, val);
		set_binary(lp, col);
	}
	run->nz = lp_add_columns(lp, 1);
	lp_set_cost(lp, run->nz, 1);
	lp_bound_column(lp, run->nz, 0, 0);
	run->ncols = run->nz;
	return KANON_OK;
}

void
ilp_glpk_load_start(IlpRun *run, const IlpList *start)
{
	const IlpModel *model = run->model;
	double *least = run->x;

	for (uint32_t i = 0; i < model->m; i++)
		least[i] = INFINITY;
	for (size_t j = 0; j < start->n; j++)
		for (size_t p = model->start[start->v[j]]; p < model->start[start->v[j] + 1]; p++)
			least[model->type[p]] = fmin(least[model->type[p]], model->w[start->v[j]]);
	for (size_t j = 0; j < start->n; j++)
	{
		uint32_t f = start->v[j];

		lp_start_column(&run->lp, run->u_col[f], LP_HIGH);
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			if (run->x_col[p] > 0 && model->w[f] == least[model->type[p]])
			{
				lp_start_column(&run->lp, run->x_col[p], LP_HIGH);
				least[model->type[p]] = -1;
			}
	}
}

void
ilp_glpk_load_groups(IlpRun *run)
{
	const IlpSettings *settings = run->settings;
	int first = lp_add_rows(&run->lp, (int) settings->ngroups);

	for (size_t j = 0; j < settings->ngroups; j++)
		lp_bound_row(&run->lp, first + (int) j, -INFINITY, (double) settings->limit[j]);
	for (uint32_t f = 0; f < run->model->nf; f++)
	{
		int n = lp_get_column(&run->lp, run->u_col[f], run->ind, run->val);

		run->ind[n + 1] = first + (int) settings->group[f];
		run->val[n + 1] = 1;
		lp_set_column(&run->lp, run->u_col[f], n + 1, run->ind, run->val);
	}
}

/* Adds the rows x_if <= n_i u_f that the solution at hand violates; how many. */
static int
add_links(IlpRun *run)
{
	const IlpModel *model = run->model;
	LinearProgram *lp = &run->lp;
	int row = 0;
	int added = 0;

	for (int pass = 0; pass < 2; pass++)
	{
		for (uint32_t f = 0; f < model->nf; f++)
		{
			double u = lp_value(lp, run->u_col[f]);

			for (size_t p = model->start[f]; p < model->start[f + 1] && run->x_col[p] > 0; p++)
			{
				double n = (double) model->n[model->type[p]];
				int ind[3] = {0, run->x_col[p], run->u_col[f]};
				double val[3] = {0, 1, -n};

				if (lp_value(lp, run->x_col[p]) <= n * u + 1e-7 * n)
					continue;
				if (pass == 0)
				{
					added++;
					continue;
				}
				lp_bound_row(lp, row, -INFINITY, 0);
				lp_set_row(lp, row++, 2, ind, val);
			}
		}
		if (added == 0)
			return 0;
		if (pass == 0)
			row = lp_add_rows(lp, added);
	}
	return added;
}

/* One cut as a row of the table. */
static void
load_cut(IlpRun *run, const IlpCut *cut, int row)
{
	const IlpModel *model = run->model;
	const uint32_t *types = run->cuts.number.v + cut->start;
	const uint32_t *instances = types + cut->ntypes;
	int n = 0;

	for (uint32_t j = 0; j < cut->ntypes; j++)
		run->within[types[j]] = true;
	for (uint32_t j = 0; j < cut->ninstances; j++)
	{
		uint32_t f = instances[j];
		double coef = (double) cut->missing;

		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
		{
			if (run->within[model->type[p]])
				continue;
			if (run->x_col[p] == 0)
				coef -= (double) model->n[model->type[p]];
			else
			{
				run->ind[++n] = run->x_col[p];
				run->val[n] = -1;
			}
		}
		run->ind[++n] = run->u_col[f];
		run->val[n] = coef;
	}
	for (uint32_t j = 0; j < cut->ntypes; j++)
		run->within[types[j]] = false;
	lp_set_row(&run->lp, row, n, run->ind, run->val);
	lp_bound_row(&run->lp, row, -INFINITY, (double) cut->missing * (double) cut->classes);
}

/* Adds the cuts of cutting_planes.c that the solution at hand violates; how many. */
static int
add_cuts(IlpRun *run)
{
	const IlpModel *model = run->model;
	LinearProgram *lp = &run->lp;
	int row;

	for (uint32_t f = 0; f < model->nf; f++)
	{
		run->u[f] = lp_value(lp, run->u_col[f]);
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			run->share[p] = run->x_col[p] > 0 ? lp_value(lp, run->x_col[p])
											  : run->u[f] * (double) model->n[model->type[p]];
	}
	run->status = ilp_cuts_find(model, run->u, run->share, &run->cuts, run->pace);
	if (run->status != KANON_OK || run->cuts.n == 0)
		return 0;
	row = lp_add_rows(lp, (int) run->cuts.n);
	for (size_t c = 0; c < run->cuts.n; c++)
		load_cut(run, &run->cuts.cut[c], row + (int) c);
	return (int) run->cuts.n;
}

bool
ilp_glpk_tighten(IlpRun *run, double bound)
{
	if (add_links(run) > 0)
		return true;
	if (!run->settings->cuts)
		return false;
	if (run->idle == 0 || bound > run->raised + PROGRESS * fmin(run->target - bound, fabs(bound)))
	{
		run->idle = 0;
		run->raised = bound;
	}
	return ++run->idle <= IDLE && add_cuts(run) > 0;
}

#endif /* HAVE_GLPK */
