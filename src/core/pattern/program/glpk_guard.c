/*
 * glpk_guard.c: a frame around calls to GLPK.
 *
 * GLPK reports fatal errors (its memory limit among them) to a hook that must
 * not return.  The hook jumps back to glpk_guarded, over frames of GLPK and of a
 * solver that owns nothing; GLPK's environment, where all of its memory is, is
 * freed there on every way out.
 */
#include "pattern/program/glpk.h"

#ifdef HAVE_GLPK
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Work of the simplex method between two polls, in rows times iterations. */
#define SLICE_WORK 4000000
#define SLICE_LEAST 200

/* Between two messages of the simplex method, each a poll. */
#define POLL_MS 100

/* All that GLPK says comes here: nothing is printed, and cancel is looked for. */
static int
on_text(void *info, const char *text)
{
	GlpkGuard *guard = info;

	if (strstr(text, "memory") != NULL)
		guard->spent = true;
	if (text[0] != '\n' && text[0] != '\0')
		snprintf(guard->text, sizeof(guard->text), "%.*s", (int) strcspn(text, "\n"), text);
	if (kanon_poll(guard->pace))
	{
		guard->cancelled = true;
		longjmp(guard->escape, 1);
	}
	return 1;
}

static void
on_error(void *info)
{
	GlpkGuard *guard = info;

	longjmp(guard->escape, 1);
}

/*
 * All of what is left is GLPK's own limit, for what it takes between two looks;
 * that one leaks a block when it strikes while a block grows (GLPK 5.0 has it out
 * of its list then).
 */
bool
glpk_is_spent(GlpkGuard *guard)
{
	size_t total;

	glp_mem_usage(NULL, NULL, &total, NULL);
	guard->spent = guard->limit > 0 && total > guard->limit / 2;
	return guard->spent;
}

/*
 * In slices of so many iterations, not of so much time: each begins with weights
 * of its own, so the way to the optimum depends on where they end, and the same
 * call must end at the same one.  GLPK's words between are for cancelling only.
 */
static KanonStatus
relax(GlpkGuard *guard, glp_prob *lp, int method, double limit, int *rc)
{
	glp_smcp parm;

	glp_init_smcp(&parm);
	parm.msg_lev = GLP_MSG_ALL;
	parm.meth = method;
	parm.obj_ul = limit;
	if (guard->fine > 0)
		parm.tol_dj = guard->fine;
	parm.out_frq = POLL_MS;
	parm.it_lim = SLICE_WORK / (glp_get_num_rows(lp) + 1) + SLICE_LEAST;
	do
	{
		int before = glp_get_it_cnt(lp);

		*rc = glp_simplex(lp, &parm);
		/* (elsewhere what others may do depends on the work counted, which this is not part of) */
		if (guard->pace->most > 0)
			guard->pace->work += (uint64_t) (glp_get_it_cnt(lp) - before) *
								 (uint64_t) (glp_get_num_rows(lp) + glp_get_num_cols(lp));
		if (kanon_poll(guard->pace))
			return KANON_CANCELLED;
		if (glpk_is_spent(guard))
			return KANON_NO_MEMORY;
	} while (*rc == GLP_EITLIM && !guard->pace->late);
	return KANON_OK;
}

KanonStatus
glpk_relax(GlpkGuard *guard, glp_prob *lp, int method)
{
	int rc;
	int status;
	KanonStatus result = relax(guard, lp, method, DBL_MAX, &rc);

	/* rounding, or a row that was added, can leave a basis that has no inverse: from the first one again */
	if (result == KANON_OK && (rc == GLP_ESING || rc == GLP_ECOND || rc == GLP_EFAIL))
	{
		glp_std_basis(lp);
		result = relax(guard, lp, GLP_PRIMAL, DBL_MAX, &rc);
	}
	if (result != KANON_OK || guard->pace->late)
		return result;
	status = glp_get_status(lp);
	if (rc == 0 && (status == GLP_OPT || status == GLP_NOFEAS))
		return KANON_OK;
	snprintf(guard->text, sizeof(guard->text), "simplex ended with code %d, status %d", rc, status);
	return KANON_BROKEN;
}

/*
 * A callback may set a basis, but not call the simplex method for the problem at
 * hand: so a copy is solved.
 */
KanonStatus
glpk_relax_node(GlpkGuard *guard, glp_prob *lp, double limit)
{
	glp_prob *copy = glp_create_prob();
	KanonStatus status;
	int rc;

	glp_copy_prob(copy, lp, GLP_OFF);
	status = relax(guard, copy, GLP_DUALP, limit, &rc);
	for (int i = 1; i <= glp_get_num_rows(lp); i++)
		glp_set_row_stat(lp, i, glp_get_row_stat(copy, i));
	for (int j = 1; j <= glp_get_num_cols(lp); j++)
		glp_set_col_stat(lp, j, glp_get_col_stat(copy, j));
	glp_delete_prob(copy);
	return status;
}

KanonStatus
glpk_branch(GlpkGuard *guard, glp_prob *lp, glp_iocp *parm, bool *complete)
{
	KanonPace *pace = guard->pace;
	int rc;

	parm->msg_lev = GLP_MSG_ALL;
	parm->out_frq = 500;
	parm->out_dly = 0;
	if (pace->deadline > 0)
		parm->tm_lim = (int) fmax(1, fmin(INT_MAX, (pace->deadline - pace->env->now(pace->env->arg)) * 1000));
	rc = glp_intopt(lp, parm);
	*complete = rc == 0;
	if (guard->cancelled || guard->spent)
		return guard->cancelled ? KANON_CANCELLED : KANON_NO_MEMORY;
	if (rc == 0 || rc == GLP_ESTOP || rc == GLP_ETMLIM || rc == GLP_EMIPGAP)
		return KANON_OK;
	snprintf(guard->text, sizeof(guard->text), "branch and cut ended with code %d", rc);
	return KANON_BROKEN;
}

/* The frame that fatal errors return to; nothing in it changes after setjmp. */
KanonStatus
glpk_guarded(GlpkGuard *guard, KanonPace *pace, KanonStatus (*solve)(void *arg), void *arg)
{
	KanonStatus status;

	guard->pace = pace;
	guard->limit = pace->env->foreign;
	if (setjmp(guard->escape) == 0)
	{
		if (glp_init_env() == 2)
			return KANON_NO_MEMORY;
		glp_term_out(GLP_ON);
		glp_term_hook(on_text, guard);
		glp_error_hook(on_error, guard);
		if (guard->limit > 0)
		{
			size_t megabytes = guard->limit >> 20;

			glp_mem_limit(megabytes < 1 ? 1 : megabytes < INT_MAX ? (int) megabytes : INT_MAX);
		}
		status = solve(arg);
	}
	else if (guard->cancelled)
		status = KANON_CANCELLED;
	else
		status = guard->spent ? KANON_NO_MEMORY : KANON_BROKEN;
	if (guard->spent)
		pace->env->refused = guard->limit;
	glp_free_env();
	return status;
}

#endif /* HAVE_GLPK */
