/*
 * ilp_glpk.c: the model in GLPK (https://www.gnu.org/software/glpk/, 5.0).
 *
 * The linear relaxation by the simplex method in slices, then branch and cut
 * with Gomory's and mixed-integer-rounding cuts.  GLPK cannot know that the
 * objective is whole, so it is told: see feign().
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "glpk_guard.h"
#include "ilp.h"

#ifdef HAVE_GLPK
#include <glpk.h>
#include <limits.h>

/* What GLPK takes at least, and for a pair: measured, on the safe side. */
#define GLPK_BYTES ((size_t) 2 << 20)
#define PAIR_BYTES ((size_t) 1000)

/* Work of the search from a relaxation's solution, per pair of the model. */
#define ROUNDING 3000.0

typedef struct Run
{
	GlpkGuard	guard;
	const IlpModel *model;
	const IlpSettings *settings;
	IlpOutcome *outcome;
	KanonWatch *watch;
	bool		full;			/* node limit */
	KanonStatus status;			/* of the searches within */
	int			next_rounding;	/* at so many nodes */
	glp_prob   *lp;
	int			nz;				/* the column that feigns objectives */
	int		   *u_col;			/* [nf] */
	int		   *x_col;			/* [pairs]; 0: its instance has one column only */
	double	   *x;				/* [columns + 1] */
	bool	   *best;			/* [nf] used in the best solution */
	double		target;			/* solutions above this do not count */
	double		feigned;		/* objective that GLPK believes to have; INFINITY: none */
	int			iterations;		/* of the simplex method, counted as work */
	int			ncols;
	int		   *ind;			/* [room + 1] */
	double	   *val;
} Run;

/*
 * The model, without the rows x_if <= n_i u_f: most of them never bind, and
 * without them the simplex has a small basis; add_links() adds those violated.
 */
static void
load(Run *run)
{
	const IlpModel *model = run->model;
	glp_prob   *lp = run->lp;
	bool		rest = run->settings->free_fallback;
	double		shift = ilp_model_ceiling(model);
	int			row = (int) model->m;
	int			col = 0;
	int		   *ind = run->ind;
	double	   *val = run->val;

	glp_set_obj_dir(lp, GLP_MIN);
	glp_set_obj_coef(lp, 0, shift);
	glp_add_rows(lp, (int) model->m);
	for (uint32_t i = 0; i < model->m; i++)
		glp_set_row_bnds(lp, (int) i + 1, rest ? GLP_UP : GLP_FX, (double) model->n[i],
						 (double) model->n[i]);
	for (uint32_t f = 0; f < model->nf; f++)
	{
		size_t		lo = model->start[f];
		int			n = (int) (model->start[f + 1] - lo);
		int64_t		total = 0;

		for (int p = 0; p < n; p++)
			total += model->n[model->type[lo + (size_t) p]];
		/* exactly k rows: all or none, x_if = n_i u_f; one column does */
		if (total == model->k)
		{
			double		gain = 0;

			glp_add_cols(lp, 1);
			run->u_col[f] = ++col;
			for (int p = 0; p < n; p++)
			{
				uint32_t	i = model->type[lo + (size_t) p];

				ind[p + 1] = (int) i + 1;
				val[p + 1] = (double) model->n[i];
				gain += (model->w[f] - model->c[i]) * (double) model->n[i];
			}
			glp_set_mat_col(lp, col, n, ind, val);
			glp_set_obj_coef(lp, col, gain);
			glp_set_col_kind(lp, col, GLP_BV);
			continue;
		}
		glp_add_cols(lp, n + 1);
		glp_add_rows(lp, 1);
		row++;
		for (int p = 0; p < n; p++)
		{
			uint32_t	i = model->type[lo + (size_t) p];
			int			xind[3] = {0, (int) i + 1, row};
			double		xval[3] = {0, 1, 1};

			run->x_col[lo + (size_t) p] = ++col;
			glp_set_mat_col(lp, col, 2, xind, xval);
			glp_set_obj_coef(lp, col, model->w[f] - model->c[i]);
			glp_set_col_bnds(lp, col, GLP_DB, 0, (double) model->n[i]);
		}
		glp_set_row_bnds(lp, row, GLP_LO, 0, 0);
		ind[1] = row;
		val[1] = -(double) model->k;
		run->u_col[f] = ++col;
		glp_set_mat_col(lp, col, 1, ind, val);
		glp_set_col_kind(lp, col, GLP_BV);
	}
	run->nz = glp_add_cols(lp, 1);
	glp_set_obj_coef(lp, run->nz, 1);
	glp_set_col_bnds(lp, run->nz, GLP_FX, 0, 0);
	run->ncols = run->nz;
}

/*
 * A basis near the one sought: what a good solution uses is at its upper bound,
 * each row of the table in its cheapest class.
 */
static void
load_start(Run *run, const IlpList *start)
{
	const IlpModel *model = run->model;
	double	   *least = run->x;

	for (uint32_t i = 0; i < model->m; i++)
		least[i] = INFINITY;
	for (size_t j = 0; j < start->n; j++)
		for (size_t p = model->start[start->v[j]]; p < model->start[start->v[j] + 1]; p++)
			least[model->type[p]] = fmin(least[model->type[p]], model->w[start->v[j]]);
	for (size_t j = 0; j < start->n; j++)
	{
		uint32_t	f = start->v[j];

		glp_set_col_stat(run->lp, run->u_col[f], GLP_NU);
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			if (run->x_col[p] > 0 && model->w[f] == least[model->type[p]])
			{
				glp_set_col_stat(run->lp, run->x_col[p], GLP_NU);
				least[model->type[p]] = -1;
			}
	}
}

/* Adds the rows x_if <= n_i u_f that the solution at hand violates; how many. */
static int
add_links(Run *run)
{
	const IlpModel *model = run->model;
	glp_prob   *lp = run->lp;
	int			row = 0;
	int			added = 0;

	for (int pass = 0; pass < 2; pass++)
	{
		for (uint32_t f = 0; f < model->nf; f++)
		{
			double		u = glp_get_col_prim(lp, run->u_col[f]);

			for (size_t p = model->start[f]; p < model->start[f + 1] && run->x_col[p] > 0; p++)
			{
				double		n = (double) model->n[model->type[p]];
				int			ind[3] = {0, run->x_col[p], run->u_col[f]};
				double		val[3] = {0, 1, -n};

				if (glp_get_col_prim(lp, run->x_col[p]) <= n * u + 1e-7 * n)
					continue;
				if (pass == 0)
				{
					added++;
					continue;
				}
				glp_set_row_bnds(lp, row, GLP_UP, 0, 0);
				glp_set_mat_row(lp, row++, 2, ind, val);
			}
		}
		if (added == 0)
			return 0;
		if (pass == 0)
			row = glp_add_rows(lp, added);
	}
	return added;
}

/* Of each group of instances, at most so many are open. */
static void
load_groups(Run *run)
{
	const IlpSettings *settings = run->settings;
	int			first = glp_add_rows(run->lp, (int) settings->ngroups);

	for (size_t j = 0; j < settings->ngroups; j++)
		glp_set_row_bnds(run->lp, first + (int) j, GLP_UP, 0, (double) settings->limit[j]);
	for (uint32_t f = 0; f < run->model->nf; f++)
	{
		int			n = glp_get_mat_col(run->lp, run->u_col[f], run->ind, run->val);

		run->ind[n + 1] = first + (int) settings->group[f];
		run->val[n + 1] = 1;
		glp_set_mat_col(run->lp, run->u_col[f], n + 1, run->ind, run->val);
	}
}

/*
 * GLPK prunes nodes that are no better than its best solution.  Only solutions
 * of at most `target` count here, and costs are whole: so it is given a "best
 * solution" of cost just under target + 1.  (It does not check the rows of what
 * a callback provides; the extra column carries the objective.)
 */
static void
feign(Run *run, glp_tree *tree)
{
	double		step = run->model->integral ? 0.99 : 0;
	double		objective = run->target + step;

	if (!(objective < run->feigned - 1e-9))
		return;
	run->feigned = objective;
	memset(run->x, 0, (size_t) (run->ncols + 1) * sizeof(*run->x));
	run->x[run->nz] = objective - ilp_model_ceiling(run->model);
	glp_ios_heur_sol(tree, run->x);
}

/* Simplex iterations as work: each costs about as much as it has rows. */
static void
count_work(Run *run)
{
	int			iterations = glp_get_it_cnt(run->lp);

	run->watch->work += (int64_t) (iterations - run->iterations) * glp_get_num_rows(run->lp) * 10;
	run->iterations = iterations;
}

/* A solution that counts: what is left to find is better. */
static void
take_solution(Run *run, double cost)
{
	run->outcome->found = true;
	run->outcome->cost = cost;
	run->target = fmin(run->target, ilp_cutoff(run->model, cost) -
					   run->settings->gap * fabs(cost));
}

/*
 * GLPK's own heuristics do not know what the model is about: a search from the
 * instances that the relaxation opens at least by half finds good solutions
 * early.
 */
static void
round_up(Run *run)
{
	const IlpModel *model = run->model;
	IlpList		start = {0};
	IlpList		open = {0};
	double		cost = INFINITY;

	run->status = KANON_OK;
	for (uint32_t f = 0; f < model->nf && run->status == KANON_OK; f++)
		if (glp_get_col_prim(run->lp, run->u_col[f]) >= 0.5 &&
			!ilp_list_add(model->env, &start, f))
			run->status = KANON_NO_MEMORY;
	if (run->status == KANON_OK)
		run->status = ilp_search(model, (uint64_t) run->outcome->nodes + 1,
								 ROUNDING * (double) model->start[model->nf], 0, -INFINITY, NULL,
								 &start, &cost, &open, run->watch);
	if (run->status == KANON_OK && cost <= run->target + ILP_EPS)
	{
		memset(run->best, 0, model->nf * sizeof(*run->best));
		for (size_t j = 0; j < open.n; j++)
			run->best[open.v[j]] = true;
		take_solution(run, run->model->integral ? rint(cost) : cost);
	}
	kanon_free(model->env, start.v);
	kanon_free(model->env, open.v);
}

static void
on_tree(glp_tree *tree, void *info)
{
	Run		   *run = info;
	IlpOutcome *outcome = run->outcome;
	int			total;

	glp_ios_tree_size(tree, NULL, NULL, &total);
	outcome->nodes = total;
	count_work(run);
	/* cuts transform a row of the tableau for each fraction */
	if (glp_ios_reason(tree) == GLP_ICUTGEN)
		run->watch->work += (int64_t) glp_get_num_rows(run->lp) * 500;
	if (kanon_watch(run->watch, KANON_WATCH_STEPS / 8))
		run->guard.cancelled = true;
	if (run->settings->max_nodes > 0 && total > run->settings->max_nodes)
		run->full = true;
	if (glpk_is_spent(&run->guard) || run->status != KANON_OK || run->guard.cancelled || run->full ||
		run->watch->late)
	{
		glp_ios_terminate(tree);
		return;
	}
	if (glp_ios_reason(tree) == GLP_IROWGEN)
		add_links(run);
	if (glp_ios_reason(tree) == GLP_IHEUR)
	{
		if (run->settings->rounding && total >= run->next_rounding && run->status == KANON_OK)
		{
			round_up(run);
			run->next_rounding = total * 2 + 1;
		}
		feign(run, tree);
	}
	if (glp_ios_reason(tree) == GLP_IBINGO && fabs(glp_mip_col_val(run->lp, run->nz)) < 1e-9)
	{
		double		cost = glp_mip_obj_val(run->lp);

		if (run->model->integral)
			cost = rint(cost);
		if (outcome->found && cost >= outcome->cost)
			return;
		for (uint32_t f = 0; f < run->model->nf; f++)
			run->best[f] = glp_mip_col_val(run->lp, run->u_col[f]) > 0.5;
		take_solution(run, cost);
	}
}

/* Bound of what is left when the search has stopped early. */
static void
on_tree_end(Run *run, glp_tree *tree)
{
	int			node = glp_ios_best_node(tree);

	if (node != 0)
		run->outcome->bound = fmax(run->outcome->bound, glp_ios_node_bound(tree, node));
}

static void
tree_callback(glp_tree *tree, void *info)
{
	on_tree(tree, info);
	on_tree_end(info, tree);
}

/* What runs inside the frame of the jump: calls to GLPK only. */
static KanonStatus
solve(void *arg)
{
	Run		   *run = arg;
	glp_iocp	parm;
	int			rc;
	KanonStatus status;

	run->lp = glp_create_prob();
	load(run);
	if (run->settings->group != NULL)
		load_groups(run);
	if (run->settings->start != NULL)
	{
		load_start(run, run->settings->start);
		status = glpk_relax(&run->guard, run->lp, GLP_PRIMAL);
		count_work(run);
		if (status != KANON_OK || run->watch->late)
			return status;
	}
	do
	{
		status = glpk_relax(&run->guard, run->lp, GLP_DUALP);
		count_work(run);
		if (status != KANON_OK || run->watch->late)
			return status;
		/* fewer rows: a relaxation, so that what it excludes is excluded */
		if (glp_get_status(run->lp) == GLP_NOFEAS)
		{
			run->outcome->complete = true;
			run->outcome->bound = INFINITY;
			return KANON_OK;
		}
		run->outcome->bound = glp_get_obj_val(run->lp);
		if (ilp_round_up(run->model, run->outcome->bound) > run->target)
		{
			run->outcome->complete = true;
			return KANON_OK;
		}
	} while (add_links(run) > 0);
	glp_init_iocp(&parm);
	parm.msg_lev = GLP_MSG_ALL;
	parm.out_frq = 500;
	parm.out_dly = 0;
	parm.br_tech = run->settings->branching == 0 ? GLP_BR_PCH :
		run->settings->branching == 1 ? GLP_BR_MFV : GLP_BR_DTH;
	parm.bt_tech = GLP_BT_BLB;
	parm.gmi_cuts = run->settings->cuts ? GLP_ON : GLP_OFF;
	parm.mir_cuts = run->settings->cuts ? GLP_ON : GLP_OFF;
	parm.cb_func = tree_callback;
	parm.cb_info = run;
	if (run->watch->deadline < INFINITY)
	{
		double		left = run->watch->deadline - run->watch->env->now(run->watch->env->arg);

		parm.tm_lim = left * 1000 < 1 ? 1 : left * 1000 < INT_MAX ? (int) (left * 1000) : INT_MAX;
	}
	rc = glp_intopt(run->lp, &parm);
	if (run->guard.cancelled || run->guard.spent || run->status != KANON_OK)
		return run->guard.cancelled ? KANON_CANCELLED : run->guard.spent ? KANON_NO_MEMORY : run->status;
	if (rc == 0)
		run->outcome->complete = true;
	else if (rc != GLP_ESTOP && rc != GLP_ETMLIM && rc != GLP_EMIPGAP)
	{
		snprintf(run->guard.text, sizeof(run->guard.text), "branch and cut ended with code %d", rc);
		return KANON_BROKEN;
	}
	return KANON_OK;
}

KanonStatus
ilp_glpk(const IlpModel *model, double cutoff, const IlpSettings *settings, IlpOutcome *outcome,
		 IlpList *open, KanonWatch *watch, KanonReport *report)
{
	KanonEnv   *env = model->env;
	Run			run = {.model = model,.settings = settings,.outcome = outcome,.watch = watch,
		.target = cutoff,.feigned = INFINITY};
	size_t		pairs = model->start[model->nf];
	size_t		columns = pairs + model->nf + 1;
	KanonStatus status = KANON_NO_MEMORY;

	memset(outcome, 0, sizeof(*outcome));
	outcome->bound = -INFINITY;
	if (columns > INT_MAX / 8)
	{
		snprintf(report->detail, sizeof(report->detail), "the model has %zu variables", columns);
		return KANON_TOO_LARGE;
	}
	if (env->foreign > 0 && GLPK_BYTES + PAIR_BYTES * (columns + model->m) > env->foreign / 2)
	{
		env->refused = GLPK_BYTES + PAIR_BYTES * (columns + model->m);
		return KANON_NO_MEMORY;
	}
	run.u_col = kanon_alloc(env, model->nf, sizeof(*run.u_col));
	run.x_col = kanon_alloc0(env, pairs, sizeof(*run.x_col));
	run.x = kanon_alloc(env, columns + 1, sizeof(*run.x));
	run.best = kanon_alloc0(env, model->nf, sizeof(*run.best));
	run.ind = kanon_alloc(env, (size_t) model->m + 3, sizeof(*run.ind));
	run.val = kanon_alloc(env, (size_t) model->m + 3, sizeof(*run.val));
	if (run.u_col != NULL && run.x_col != NULL && run.x != NULL && run.best != NULL && run.ind != NULL &&
		run.val != NULL)
		status = glpk_guarded(&run.guard, watch, solve, &run);
	if (status == KANON_BROKEN)
		snprintf(report->detail, sizeof(report->detail), "GLPK: %s", run.guard.text);
	if (status == KANON_OK && outcome->complete)
		outcome->bound = fmax(outcome->bound, outcome->found ? outcome->cost : cutoff);
	for (uint32_t f = 0; f < model->nf && status == KANON_OK && outcome->found; f++)
		if (run.best[f] && !ilp_list_add(env, open, f))
			status = KANON_NO_MEMORY;
	kanon_free(env, run.u_col);
	kanon_free(env, run.x);
	kanon_free(env, run.x_col);
	kanon_free(env, run.best);
	kanon_free(env, run.ind);
	kanon_free(env, run.val);
	return status;
}

#else							/* HAVE_GLPK */

KanonStatus
ilp_glpk(const IlpModel *model, double cutoff, const IlpSettings *settings, IlpOutcome *outcome,
		 IlpList *open, KanonWatch *watch, KanonReport *report)
{
	(void) model;
	(void) cutoff;
	(void) settings;
	(void) outcome;
	(void) open;
	(void) watch;
	snprintf(report->detail, sizeof(report->detail), "built without GLPK");
	return KANON_UNAVAILABLE;
}

#endif							/* HAVE_GLPK */
