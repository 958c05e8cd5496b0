/*
 * ilp_privacy.c: the exact method under privacy rules that are linear: greedy's
 * release, the model of ilp_privacy_model.c for what is better, GLPK.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/exact/exact.h"
#include "pattern/program/program_model.h"
#include "privacy/rules.h"
#include "model/model.h"

#ifdef HAVE_GLPK
#include <limits.h>

/* Kinds of rules that are linear. */
#define TAKEN (1u << KANON_DISTINCT_L | 1u << KANON_ALPHA | 1u << KANON_SUBJECT)

/* ---- GLPK ---- */

static void
load(const IlpPrivacy *model, LinearProgram *lp)
{
	lp_add_rows(lp, (int) model->rows.n);
	lp_add_columns(lp, (int) model->columns.n);
	for (int i = 1; i <= (int) model->rows.n; i++)
		lp_bound_row(lp, i, model->rows.v[i].low, model->rows.v[i].high);
	for (int j = 1; j <= (int) model->columns.n; j++)
	{
		const IlpLine *column = &model->columns.v[j];

		lp_bound_column(lp, j, 0, column->high);
		lp_set_cost(lp, j, column->cost);
		if (column->whole)
			lp_set_whole(lp, j);
	}
	lp_load(lp, model->nentries, model->entry_row, model->entry_column, model->entry);
}

static void
on_tree(void *arg, LpEvent event)
{
	IlpPrivacy *model = arg;
	LinearProgram *lp = &model->lp;
	double best = model->cutoff;

	(void) event;
	model->nodes = lp->nodes;
	model->bound = fmax(model->bound, lp->bound);
	if (lp_found(lp))
		best = fmin(best, lp_whole_cost(lp));
	kanon_pace_gap(model->pace, model->root, model->bound, best);
	if (kanon_step(model->pace, KANON_STEPS / 8))
		lp->cancelled = true;
	if (lp_is_spent(lp) || lp->cancelled || model->pace->late ||
		(model->max_nodes > 0 && lp->nodes >= model->max_nodes))
		lp_stop(lp);
}

/* The code inside the frame of the jump: calls to GLPK only. */
static KanonStatus
run_glpk(void *arg)
{
	IlpPrivacy *model = arg;
	size_t npairs = model->instances->start[model->instances->n] + model->problem->ntypes;
	LinearProgram *lp = &model->lp;
	KanonStatus status;

	load(model, lp);
	status = lp_relax(lp, LP_DUAL);
	if (status != KANON_OK || model->pace->late)
		return status;
	if (!lp_is_feasible(lp))
	{
		model->complete = true;
		return KANON_OK;
	}
	model->root = model->bound = lp_cost(lp);
	status = lp_branch(lp,
					   &(LpSearch){.branching = LP_BY_PSEUDO_COSTS,
								   .gomory = true,
								   .rounding_cuts = true,
								   .same = LP_SAME,
								   .gap = model->problem->gap,
								   .at = on_tree,
								   .arg = model},
					   &model->complete);
	if (status != KANON_OK)
		return status;
	model->found = lp_found(lp);
	for (size_t p = 0; p < npairs && model->found; p++)
		model->solution[p] = (int64_t) rint(lp_whole_value(lp, model->first_x + (int) p));
	return KANON_OK;
}

/* ---- the release ---- */

/* The fully suppressed rows: a class if they may be one, or left out. */
static bool
rest_is_class(IlpPrivacy *model, const int64_t *counts, int64_t rows)
{
	const KanonProblem *problem = model->problem;

	return problem->residual != KANON_RESIDUAL_DROP ||
		   kanon_class_allowed(problem, model->all, counts, problem->ntypes, rows);
}

static KanonStatus
make_release(IlpPrivacy *model, KanonRelease *release)
{
	const KanonProblem *problem = model->problem;
	const int64_t *counts = model->solution + model->instances->start[model->instances->n];
	int64_t rest = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
		rest += counts[i];
	return kanon_pairs_release(problem, model->instances, model->solution, rest_is_class(model, counts, rest),
							   release);
}

/* Arrays by row type and by pair. */
static bool
take_memory(IlpPrivacy *model, size_t npairs)
{
	const KanonProblem *problem = model->problem;

	model->order = kanon_take(&model->memory, problem->ntypes, sizeof(uint32_t));
	model->scratch = kanon_take(&model->memory, problem->ntypes, sizeof(uint32_t));
	model->all = kanon_take(&model->memory, problem->ntypes, sizeof(uint32_t));
	model->solution = kanon_take(&model->memory, npairs, sizeof(int64_t));
	for (uint32_t i = 0; i < problem->ntypes && !model->memory.failed; i++)
		model->all[i] = i;
	return !model->memory.failed;
}

/* The model's solution takes the place of what is worse. */
static KanonStatus
take_solution(IlpPrivacy *model, size_t npairs, IlpResult *best)
{
	KanonStatus status;

	kanon_release_free(model->problem, &best->release);
	status = make_release(model, &best->release);
	best->cost = 0;
	for (size_t p = 0; p < npairs; p++)
		best->cost += (double) model->solution[p] * model->columns.v[model->first_x + (int) p].cost;
	return status;
}

bool
ilp_privacy_takes(const KanonProblem *problem)
{
	return (kanon_privacy_kinds(problem->privacy) & ~TAKEN) == 0;
}

KanonStatus
ilp_solve_privacy(const KanonProblem *problem, const KanonInstances *instances, bool once, int64_t max_nodes,
				  IlpResult *best, double *bound, int64_t *nodes, KanonReport *report)
{
	size_t npairs = instances->start[instances->n] + problem->ntypes;
	KanonPace pace;
	IlpPrivacy model = {.memory = {.env = problem->env},
						.problem = problem,
						.instances = instances,
						.pace = &pace,
						.once = once,
						.max_nodes = max_nodes,
						.bound = -INFINITY,
						.cutoff = instances->integral
									  ? best->cost - 1
									  : best->cost - 1e-9 * fmax(instances->least, fabs(best->cost))};
	KanonStatus status = KANON_OK;

	if (!ilp_privacy_takes(problem))
		return KANON_UNSUPPORTED;
	kanon_pace_limit(&pace, problem, "solve");
	if (best->cost == INFINITY)
		model.cutoff = INFINITY;
	if (!take_memory(&model, npairs))
		status = KANON_NO_MEMORY;
	else
	{
		ilp_privacy_build(&model);
		status = model.memory.failed ? KANON_NO_MEMORY : model.cancelled ? KANON_CANCELLED : KANON_OK;
	}
	if (status == KANON_OK && (model.coarse || model.nentries > ILP_PRIVACY_ENTRIES))
		status = KANON_TOO_LARGE;
	if (status == KANON_OK && !pace.late)
	{
		status = lp_run(&model.lp, &pace, run_glpk, &model);
		if (status == KANON_BROKEN)
			snprintf(report->detail, sizeof(report->detail), "GLPK: %s", model.lp.text);
	}
	*nodes += model.nodes;
	if (status == KANON_OK)
	{
		/* (that there is nothing at all has nothing to do with costs) */
		bool proves = !instances->wide || (!model.found && model.cutoff == INFINITY);

		if (proves)
			*bound = fmax(*bound, instances->integral ? ceil(model.bound - 1e-4) : model.bound);
		if (model.found)
			status = take_solution(&model, npairs, best);
		if (model.complete && proves)
			*bound = best->cost;
		*bound = fmin(*bound, best->cost);
	}
	kanon_scratch_free(&model.memory);
	return status;
}

#else /* HAVE_GLPK */

bool
ilp_privacy_takes(const KanonProblem *problem)
{
	(void) problem;
	return false;
}

KanonStatus
ilp_solve_privacy(const KanonProblem *problem, const KanonInstances *instances, bool once, int64_t max_nodes,
				  IlpResult *best, double *bound, int64_t *nodes, KanonReport *report)
{
	(void) problem;
	(void) instances;
	(void) once;
	(void) max_nodes;
	(void) best;
	(void) bound;
	(void) nodes;
	(void) report;
	return KANON_UNAVAILABLE;
}

#endif /* HAVE_GLPK */
