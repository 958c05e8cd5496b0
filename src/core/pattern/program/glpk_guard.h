/*
 * glpk_guard.h: a frame around calls to GLPK, for every solver that uses it.
 */
#ifndef KANON_GLPK_GUARD_H
#define KANON_GLPK_GUARD_H

#include "pattern/program/instances.h"

#ifdef HAVE_GLPK
#include <glpk.h>
#include <setjmp.h>

/*
 * tol_obj for branch and cut: GLPK leaves out what is better by less than this part of
 * the objective.  What costs the same is told apart from what does not by the solvers.
 */
#define GLPK_SAME 1e-12

typedef struct GlpkGuard
{
	jmp_buf escape;
	KanonPace *pace;
	char text[120]; /* GLPK's last words */
	size_t limit;   /* bytes that GLPK may take; 0: any */
	bool spent;     /* it has, or its last words were about memory */
	bool cancelled; /* the host wants it to stop; callbacks may set it, too */
	double fine;    /* relative tolerance of reduced costs; 0: GLPK's own */
} GlpkGuard;

/*
 * Runs solve(arg), which does nothing but call GLPK: silent, within env->foreign
 * bytes, cancelled whenever GLPK says something and the host wants it (every
 * message must be asked for: msg_lev GLP_MSG_ALL).  All of GLPK's memory is freed
 * on every way out.
 */
extern KanonStatus glpk_guarded(GlpkGuard *guard, KanonPace *pace, KanonStatus (*solve)(void *arg),
								void *arg);

/*
 * GLPK has taken half of what is left: solve, and its callbacks, look now and
 * then and stop in order, with KANON_NO_MEMORY.
 */
extern bool glpk_is_spent(GlpkGuard *guard);

/*
 * The linear relaxation under the guard, method GLP_PRIMAL or GLP_DUALP: KANON_OK
 * means optimal or infeasible, or that time has ended (pace->late).
 */
extern KanonStatus glpk_relax(GlpkGuard *guard, glp_prob *lp, int method);

/*
 * For callbacks at GLP_IPREPRO: brings lp's basis to the optimum, or until the
 * objective passes `limit`, so that branch and cut, which cannot be stopped in the
 * simplex method, has nothing left to do there.
 */
extern KanonStatus glpk_relax_node(GlpkGuard *guard, glp_prob *lp, double limit);

/*
 * Branch and cut with these parameters, in the time that is left; *complete: it was
 * searched through, rather than ended by a callback, the time or the gap.
 */
extern KanonStatus glpk_branch(GlpkGuard *guard, glp_prob *lp, glp_iocp *parm, bool *complete);

#endif /* HAVE_GLPK */
#endif
