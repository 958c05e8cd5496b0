/*
 * linear_program.c: all calls to GLPK.
 *
 * GLPK reports fatal errors (its memory limit among them) to a hook that must
 * not return.  The hook jumps back to lp_run, over frames of GLPK and of a
 * method that owns nothing; GLPK's environment, where all of its memory is, is
 * freed there on every way out.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/linear_program.h"

/* The least memory that GLPK takes: measured, on the safe side. */
#define GLPK_BYTES ((size_t) 2 << 20)

KanonStatus
lp_room(KanonEnv *env, size_t lines, size_t each)
{
	size_t bytes = GLPK_BYTES + each * lines;

	if (env->foreign == 0 || bytes <= env->foreign / 2)
		return KANON_OK;
	env->refused = bytes;
	return KANON_NO_MEMORY;
}

#ifdef HAVE_GLPK
#include <glpk.h>

/* Work of the simplex method between two polls, in rows times iterations. */
#define SLICE_WORK 4000000
#define SLICE_LEAST 200

/* Between two messages of the simplex method, each a poll. */
#define POLL_MS 100

/* All that GLPK says comes here: nothing is printed, and cancel is looked for. */
static int
on_text(void *info, const char *text)
{
	LinearProgram *p = info;

	if (strstr(text, "memory") != NULL)
		p->spent = true;
	if (text[0] != '\n' && text[0] != '\0')
		snprintf(p->text, sizeof(p->text), "%.*s", (int) strcspn(text, "\n"), text);
	if (kanon_poll(p->pace))
	{
		p->cancelled = true;
		longjmp(p->escape, 1);
	}
	return 1;
}

static void
on_error(void *info)
{
	LinearProgram *p = info;

	longjmp(p->escape, 1);
}

/* The frame that fatal errors return to; nothing in it changes after setjmp. */
KanonStatus
lp_run(LinearProgram *p, KanonPace *pace, KanonStatus (*solve)(void *arg), void *arg)
{
	KanonStatus status;

	p->pace = pace;
	p->limit = pace->env->foreign;
	if (setjmp(p->escape) == 0)
	{
		if (glp_init_env() == 2)
			return KANON_NO_MEMORY;
		glp_term_out(GLP_ON);
		glp_term_hook(on_text, p);
		glp_error_hook(on_error, p);
		if (p->limit > 0)
		{
			size_t megabytes = p->limit >> 20;

			glp_mem_limit(megabytes < 1 ? 1 : megabytes < INT_MAX ? (int) megabytes : INT_MAX);
		}
		p->lp = glp_create_prob();
		glp_set_obj_dir(p->lp, GLP_MIN);
		status = solve(arg);
	}
	else if (p->cancelled)
		status = KANON_CANCELLED;
	else
		status = p->spent ? KANON_NO_MEMORY : KANON_BROKEN;
	if (p->spent)
		pace->env->refused = p->limit;
	glp_free_env();
	return status;
}

/*
 * All of what is left is GLPK's own limit, for what it takes between two looks;
 * that one leaks a block when it strikes while a block grows (GLPK 5.0 has it out
 * of its list then).
 */
bool
lp_is_spent(LinearProgram *p)
{
	size_t total;

	glp_mem_usage(NULL, NULL, &total, NULL);
	p->spent = p->limit > 0 && total > p->limit / 2;
	return p->spent;
}

/* ---- the program ---- */

void
lp_clear(LinearProgram *p)
{
	glp_erase_prob(p->lp);
	glp_set_obj_dir(p->lp, GLP_MIN);
}

int
lp_add_rows(LinearProgram *p, int n)
{
	return glp_add_rows(p->lp, n);
}

int
lp_add_columns(LinearProgram *p, int n)
{
	return glp_add_cols(p->lp, n);
}

static int
bounds_of(double low, double high)
{
	if (low == -INFINITY)
		return high == INFINITY ? GLP_FR : GLP_UP;
	return high == INFINITY ? GLP_LO : low == high ? GLP_FX : GLP_DB;
}

void
lp_bound_row(LinearProgram *p, int row, double low, double high)
{
	glp_set_row_bnds(p->lp, row, bounds_of(low, high), low, high);
}

void
lp_bound_column(LinearProgram *p, int column, double low, double high)
{
	glp_set_col_bnds(p->lp, column, bounds_of(low, high), low, high);
}

void
lp_set_cost(LinearProgram *p, int column, double cost)
{
	glp_set_obj_coef(p->lp, column, cost);
}

void
lp_set_whole(LinearProgram *p, int column)
{
	glp_set_col_kind(p->lp, column, GLP_IV);
}

void
lp_set_row(LinearProgram *p, int row, int n, const int *ind, const double *val)
{
	glp_set_mat_row(p->lp, row, n, ind, val);
}

void
lp_set_column(LinearProgram *p, int column, int n, const int *ind, const double *val)
{
	glp_set_mat_col(p->lp, column, n, ind, val);
}

int
lp_get_column(LinearProgram *p, int column, int *ind, double *val)
{
	return glp_get_mat_col(p->lp, column, ind, val);
}

void
lp_load(LinearProgram *p, size_t n, const int *row, const int *column, const double *val)
{
	glp_load_matrix(p->lp, (int) n, row, column, val);
}

static const int basis[] = {[LP_BASIC] = GLP_BS, [LP_LOW] = GLP_NL, [LP_HIGH] = GLP_NU, [LP_FIXED] = GLP_NS};

void
lp_start_row(LinearProgram *p, int row, LpAt at)
{
	glp_set_row_stat(p->lp, row, basis[at]);
}

void
lp_start_column(LinearProgram *p, int column, LpAt at)
{
	glp_set_col_stat(p->lp, column, basis[at]);
}

void
lp_scale(LinearProgram *p)
{
	glp_scale_prob(p->lp, GLP_SF_GM | GLP_SF_EQ | GLP_SF_2N);
}

int
lp_rows(const LinearProgram *p)
{
	return glp_get_num_rows(p->lp);
}

int
lp_iterations(const LinearProgram *p)
{
	return glp_get_it_cnt(p->lp);
}

/* ---- the linear relaxation ---- */

/*
 * In slices of so many iterations, not of so much time: each begins with weights
 * of its own, so the way to the optimum depends on where they end, and the same
 * call must end at the same one.  GLPK's words between are for cancelling only.
 */
static KanonStatus
simplex(LinearProgram *p, glp_prob *lp, int method, double limit, int *rc)
{
	glp_smcp parm;

	glp_init_smcp(&parm);
	parm.msg_lev = GLP_MSG_ALL;
	parm.meth = method;
	parm.obj_ul = limit;
	if (p->fine > 0)
		parm.tol_dj = p->fine;
	parm.out_frq = POLL_MS;
	parm.it_lim = SLICE_WORK / (glp_get_num_rows(lp) + 1) + SLICE_LEAST;
	do
	{
		int before = glp_get_it_cnt(lp);

		*rc = glp_simplex(lp, &parm);
		/* (elsewhere what others may do depends on the work counted, which this is not part of) */
		if (p->pace->most > 0)
			p->pace->work += (uint64_t) (glp_get_it_cnt(lp) - before) *
							 (uint64_t) (glp_get_num_rows(lp) + glp_get_num_cols(lp));
		if (kanon_poll(p->pace))
			return KANON_CANCELLED;
		if (lp_is_spent(p))
			return KANON_NO_MEMORY;
	} while (*rc == GLP_EITLIM && !p->pace->late);
	return KANON_OK;
}

KanonStatus
lp_relax(LinearProgram *p, LpMethod method)
{
	int rc;
	int status;
	KanonStatus result = simplex(p, p->lp, method == LP_PRIMAL ? GLP_PRIMAL : GLP_DUALP, DBL_MAX, &rc);

	/* rounding, or a row that was added, can leave a basis that has no inverse: from the first one again */
	if (result == KANON_OK && (rc == GLP_ESING || rc == GLP_ECOND || rc == GLP_EFAIL))
	{
		glp_std_basis(p->lp);
		result = simplex(p, p->lp, GLP_PRIMAL, DBL_MAX, &rc);
	}
	if (result != KANON_OK || p->pace->late)
		return result;
	status = glp_get_status(p->lp);
	if (rc == 0 && (status == GLP_OPT || status == GLP_NOFEAS))
		return KANON_OK;
	snprintf(p->text, sizeof(p->text), "simplex ended with code %d, status %d", rc, status);
	return KANON_BROKEN;
}

bool
lp_is_feasible(const LinearProgram *p)
{
	return glp_get_status(p->lp) != GLP_NOFEAS;
}

double
lp_cost(const LinearProgram *p)
{
	return glp_get_obj_val(p->lp);
}

double
lp_value(const LinearProgram *p, int column)
{
	return glp_get_col_prim(p->lp, column);
}

double
lp_price(const LinearProgram *p, int row)
{
	return glp_get_row_dual(p->lp, row);
}

/* ---- branch and cut ---- */

typedef struct Search
{
	LinearProgram *program;
	const LpSearch *asked;
} Search;

static void
on_tree(glp_tree *tree, void *info)
{
	static const LpEvent events[] = {
		[GLP_IPREPRO] = LP_NODE,  [GLP_IROWGEN] = LP_ROWS,    [GLP_ICUTGEN] = LP_CUTS,
		[GLP_IHEUR] = LP_ROUND,   [GLP_IBINGO] = LP_SOLUTION, [GLP_IBRANCH] = LP_OTHER,
		[GLP_ISELECT] = LP_SELECT};
	Search *search = info;
	LinearProgram *p = search->program;
	int best = glp_ios_best_node(tree);
	int total;

	glp_ios_tree_size(tree, NULL, NULL, &total);
	p->tree = tree;
	p->nodes = total;
	p->bound = best != 0 ? glp_ios_node_bound(tree, best) : -INFINITY;
	search->asked->at(search->asked->arg, events[glp_ios_reason(tree)]);
}

KanonStatus
lp_branch(LinearProgram *p, const LpSearch *asked, bool *complete)
{
	static const int branching[] = {
		[LP_BY_DRIEBECK] = GLP_BR_DTH, [LP_BY_PSEUDO_COSTS] = GLP_BR_PCH, [LP_BY_FRACTION] = GLP_BR_MFV};
	KanonPace *pace = p->pace;
	Search search = {p, asked};
	glp_iocp parm;
	int rc;

	glp_init_iocp(&parm);
	parm.br_tech = branching[asked->branching];
	if (asked->same > 0)
		parm.tol_obj = asked->same;
	parm.gmi_cuts = asked->gomory ? GLP_ON : GLP_OFF;
	parm.mir_cuts = asked->rounding_cuts ? GLP_ON : GLP_OFF;
	parm.cov_cuts = asked->cover_cuts ? GLP_ON : GLP_OFF;
	parm.mip_gap = asked->gap;
	parm.cb_func = on_tree;
	parm.cb_info = &search;
	parm.msg_lev = GLP_MSG_ALL;
	parm.out_frq = 500;
	parm.out_dly = 0;
	if (pace->deadline > 0)
		parm.tm_lim = (int) fmax(1, fmin(INT_MAX, (pace->deadline - pace->env->now(pace->env->arg)) * 1000));
	rc = glp_intopt(p->lp, &parm);
	*complete = rc == 0;
	if (p->cancelled || p->spent)
		return p->cancelled ? KANON_CANCELLED : KANON_NO_MEMORY;
	if (rc == 0 || rc == GLP_ESTOP || rc == GLP_ETMLIM || rc == GLP_EMIPGAP)
		return KANON_OK;
	snprintf(p->text, sizeof(p->text), "branch and cut ended with code %d", rc);
	return KANON_BROKEN;
}

bool
lp_found(const LinearProgram *p)
{
	return glp_mip_status(p->lp) == GLP_OPT || glp_mip_status(p->lp) == GLP_FEAS;
}

double
lp_whole_cost(const LinearProgram *p)
{
	return glp_mip_obj_val(p->lp);
}

double
lp_whole_value(const LinearProgram *p, int column)
{
	return glp_mip_col_val(p->lp, column);
}

void
lp_stop(LinearProgram *p)
{
	glp_ios_terminate(p->tree);
}

void
lp_offer(LinearProgram *p, const double *values)
{
	glp_ios_heur_sol(p->tree, values);
}

int
lp_node(LinearProgram *p)
{
	return glp_ios_curr_node(p->tree);
}

/*
 * A callback may set a basis, but not call the simplex method for the problem at
 * hand: so a copy is solved.
 */
KanonStatus
lp_relax_node(LinearProgram *p, double limit)
{
	glp_prob *copy = glp_create_prob();
	KanonStatus status;
	int rc;

	glp_copy_prob(copy, p->lp, GLP_OFF);
	status = simplex(p, copy, GLP_DUALP, limit, &rc);
	for (int i = 1; i <= glp_get_num_rows(p->lp); i++)
		glp_set_row_stat(p->lp, i, glp_get_row_stat(copy, i));
	for (int j = 1; j <= glp_get_num_cols(p->lp); j++)
		glp_set_col_stat(p->lp, j, glp_get_col_stat(copy, j));
	glp_delete_prob(copy);
	return status;
}
#endif
