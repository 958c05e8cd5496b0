/*
 * glpk_model.c: the model of program_model.h as rows and columns.
 *
 * Most rows x_if <= n_i u_f never bind, and of the cuts of cutting_planes.c there are
 * too many to list: both are added where a solution violates them.
 */
#include <math.h>
#include <stdio.h>

#include "pattern/program/glpk.h"

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
