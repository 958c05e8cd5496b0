/*
 * glpk.c: the model in GLPK (https://www.gnu.org/software/glpk/, 5.0).
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

#include "pattern/program/bound.h"
#include "pattern/program/glpk.h"
#include "util/scratch.h"

#ifdef HAVE_GLPK

/* What GLPK takes at least, and for a pair: measured, on the safe side. */
#define GLPK_BYTES ((size_t) 2 << 20)
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
feign(IlpRun *run, glp_tree *tree)
{
	double step = run->model->integral ? fmin(0.99, 0.01 + TOLERANCE * fabs(run->target)) : 0;
	double objective = run->target + step;

	if (!(objective < run->feigned - 1e-9))
		return;
	run->feigned = objective;
	memset(run->x, 0, (size_t) (run->ncols + 1) * sizeof(*run->x));
	run->x[run->nz] = objective - ilp_model_ceiling(run->model);
	glp_ios_heur_sol(tree, run->x);
}

/* Simplex iterations as work: each costs about as much as it has rows. */
static void
count_work(IlpRun *run)
{
	int iterations = glp_get_it_cnt(run->lp);

	run->pace->work += (int64_t) (iterations - run->iterations) * glp_get_num_rows(run->lp) * 10;
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

/*
 * GLPK's own heuristics do not know what the model is about.  Where every row needs a
 * class, or classes are limited in number, there may be no solution to round to.
 */
static void
round_solution(IlpRun *run)
{
	const IlpModel *model = run->model;
	IlpList open = {0};
	double cost;

	if (!run->settings->free_fallback || run->settings->group != NULL)
		return;
	for (uint32_t f = 0; f < model->nf; f++)
		run->u[f] = glp_get_col_prim(run->lp, run->u_col[f]);
	run->status = ilp_round(model, run->u, &cost, &open, run->pace);
	if (run->status == KANON_OK && cost <= run->target + ILP_EPS)
	{
		memset(run->best, 0, model->nf * sizeof(*run->best));
		for (size_t j = 0; j < open.n; j++)
			run->best[open.v[j]] = true;
		take_solution(run, model->integral ? rint(cost) : cost);
	}
	kanon_free(model->env, open.v);
}

static void
on_tree(glp_tree *tree, void *info)
{
	IlpRun *run = info;
	IlpOutcome *outcome = run->outcome;
	int total;

	glp_ios_tree_size(tree, NULL, NULL, &total);
	outcome->nodes = total;
	count_work(run);
	/* cuts transform a row of the tableau for each fraction */
	if (glp_ios_reason(tree) == GLP_ICUTGEN)
		run->pace->work += (int64_t) glp_get_num_rows(run->lp) * 500;
	if (kanon_step(run->pace, KANON_STEPS / 8))
		run->guard.cancelled = true;
	if (run->settings->max_nodes > 0 && total > run->settings->max_nodes)
		run->full = true;
	if (glpk_is_spent(&run->guard) || run->status != KANON_OK || run->guard.cancelled || run->full ||
		run->pace->late)
	{
		glp_ios_terminate(tree);
		return;
	}
	if (glp_ios_reason(tree) == GLP_IPREPRO && run->large)
	{
		run->status = glpk_relax_node(&run->guard, run->lp, fmin(run->feigned, DBL_MAX));
		if (run->status == KANON_CANCELLED)
			run->guard.cancelled = true;
		if (run->status != KANON_OK || run->pace->late)
			glp_ios_terminate(tree);
	}
	if (glp_ios_reason(tree) == GLP_IROWGEN)
	{
		int node = glp_ios_curr_node(tree);

		if (node != run->node)
			run->idle = 0;
		run->node = node;
		ilp_glpk_tighten(run, glp_get_obj_val(run->lp));
	}
	if (glp_ios_reason(tree) == GLP_IHEUR)
	{
		if (run->status == KANON_OK)
			round_solution(run);
		feign(run, tree);
	}
	if (glp_ios_reason(tree) == GLP_IBINGO && fabs(glp_mip_col_val(run->lp, run->nz)) < 1e-9)
	{
		double cost = glp_mip_obj_val(run->lp);

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
on_tree_end(IlpRun *run, glp_tree *tree)
{
	int node = glp_ios_best_node(tree);

	if (node != 0)
		run->outcome->bound = fmax(run->outcome->bound, glp_ios_node_bound(tree, node));
}

static void
tree_callback(glp_tree *tree, void *info)
{
	IlpRun *run = info;

	on_tree(tree, run);
	on_tree_end(run, tree);
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
		status = glpk_relax(&run->guard, run->lp, GLP_PRIMAL);
		count_work(run);
		if (status != KANON_OK || run->pace->late)
			return status;
	}
	do
	{
		/* classes that have to take millions of rows beside a few: unscaled, what can be done is taken for what cannot */
		if (run->settings->group != NULL && run->most_rows > UNSCALED_ROWS)
			glp_scale_prob(run->lp, GLP_SF_GM | GLP_SF_EQ | GLP_SF_2N);
		status = glpk_relax(&run->guard, run->lp, GLP_DUALP);
		count_work(run);
		if (status != KANON_OK || run->pace->late)
			return status;
		/* fewer rows: a relaxation, so that what it excludes is excluded */
		if (glp_get_status(run->lp) == GLP_NOFEAS)
		{
			run->outcome->complete = true;
			run->outcome->bound = INFINITY;
			return KANON_OK;
		}
		run->outcome->bound = glp_get_obj_val(run->lp);
		round_solution(run);
		if (run->status != KANON_OK)
			return run->status;
		if (ilp_round_up(run->model, run->outcome->bound) > run->target)
		{
			run->outcome->complete = true;
			return KANON_OK;
		}
	} while (ilp_glpk_tighten(run, run->outcome->bound));
	return run->status;
}

/* What runs inside the frame of the jump: calls to GLPK only. */
static KanonStatus
solve(void *arg)
{
	IlpRun *run = arg;
	glp_iocp parm;
	bool tableau;
	bool complete;
	KanonStatus status;

	run->lp = glp_create_prob();
	for (uint32_t i = 0; i < run->model->m; i++)
		run->most_rows = fmax(run->most_rows, (double) run->model->n[i]);
	status = ilp_glpk_load(run);
	if (status == KANON_OK && run->settings->group != NULL)
		ilp_glpk_load_groups(run);
	if (status == KANON_OK)
		status = solve_root(run);
	if (status != KANON_OK || run->outcome->complete || run->pace->late)
		return status;
	glp_init_iocp(&parm);
	run->large = glp_get_num_rows(run->lp) >= ILP_LARGE_ROWS;
	tableau = glp_get_num_rows(run->lp) < TABLEAU_ROWS;
	parm.br_tech = run->settings->branching == 1 || !tableau ? GLP_BR_MFV
				   : run->settings->branching == 0           ? GLP_BR_PCH
															 : GLP_BR_DTH;
	parm.bt_tech = GLP_BT_BLB;
	parm.tol_obj = GLPK_SAME;
	parm.gmi_cuts = run->settings->cuts && tableau ? GLP_ON : GLP_OFF;
	parm.mir_cuts = run->settings->rounding_cuts && tableau ? GLP_ON : GLP_OFF;
	parm.cb_func = tree_callback;
	parm.cb_info = run;
	run->root = run->outcome->bound;
	status = glpk_branch(&run->guard, run->lp, &parm, &complete);
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
	if (env->foreign > 0 && GLPK_BYTES + PAIR_BYTES * (columns + model->m) > env->foreign / 2)
	{
		env->refused = GLPK_BYTES + PAIR_BYTES * (columns + model->m);
		return KANON_NO_MEMORY;
	}
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
		status = glpk_guarded(&run.guard, pace, solve, &run);
	if (status == KANON_BROKEN)
		snprintf(report->detail, sizeof(report->detail), "GLPK: %s", run.guard.text);
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
