/*
 * linear_program.h: linear and integer programs, solved by GLPK
 * (https://www.gnu.org/software/glpk/, 5.0).  linear_program.c alone speaks to it.
 *
 * Rows and columns are numbered from 1 on; ind and val of a row or column, too.  A bound
 * that there is none of is INFINITY or -INFINITY.
 */
#ifndef KANON_LINEAR_PROGRAM_H
#define KANON_LINEAR_PROGRAM_H

#include <setjmp.h>

#include "util/pace.h"

/*
 * Branch and cut may miss a solution that is better by less than this part of the
 * objective.  Solutions of equal cost are told from others by the methods.
 */
#define LP_SAME 1e-12

/* Where a row or column is in a basis. */
typedef enum LpAt
{
	LP_BASIC,
	LP_LOW,
	LP_HIGH,
	LP_FIXED
} LpAt;

typedef enum LpMethod
{
	LP_PRIMAL,
	LP_DUAL
} LpMethod;

/* Why branch and cut calls back. */
typedef enum LpEvent
{
	LP_NODE,     /* a node is about to be solved, */
	LP_ROWS,     /* or has been: rows may be added, */
	LP_CUTS,     /* and GLPK's own cuts are next */
	LP_ROUND,    /* a solution may be offered */
	LP_SOLUTION, /* there is a better one */
	LP_SELECT,   /* the next node is chosen */
	LP_OTHER
} LpEvent;

typedef enum LpBranching
{
	LP_BY_DRIEBECK, /* and Tomlin */
	LP_BY_PSEUDO_COSTS,
	LP_BY_FRACTION
} LpBranching;

typedef struct LpSearch
{
	LpBranching branching;
	bool gomory;        /* cuts */
	bool rounding_cuts; /* mixed-integer rounding */
	bool cover_cuts;
	double same; /* as LP_SAME; 0: GLPK's own */
	double gap;
	void (*at)(void *arg, LpEvent event);
	void *arg;
} LpSearch;

typedef struct LinearProgram
{
	jmp_buf escape;
	struct glp_prob *lp;
	struct glp_tree *tree; /* in a callback */
	KanonPace *pace;
	char text[120]; /* GLPK's last words */
	size_t limit;   /* bytes that GLPK may take; 0: any */
	bool spent;     /* it has, or its last words were about memory */
	bool cancelled; /* the host wants it to stop; callbacks may set it, too */
	double fine;    /* relative tolerance of reduced costs; 0: GLPK's own */
	int64_t nodes;  /* in a callback: so far, */
	double bound;   /* and of the best node left; -INFINITY: none */
} LinearProgram;

/*
 * Runs solve(arg), which owns nothing that it would have to free, on an empty program that is to be
 * minimised: silent, within env->foreign bytes, cancelled whenever the host wants it.  All of
 * GLPK's memory is freed on every way out.  Built without GLPK: KANON_UNAVAILABLE.
 */
extern KanonStatus lp_run(LinearProgram *p, KanonPace *pace, KanonStatus (*solve)(void *arg), void *arg);

/* KANON_NO_MEMORY: a program of so many rows and columns, at `each` bytes, takes more than env->foreign allows. */
extern KanonStatus lp_room(KanonEnv *env, size_t lines, size_t each);

/*
 * GLPK has taken half of what is left: solve, and its callbacks, look now and
 * then and stop in order, with KANON_NO_MEMORY.
 */
extern bool lp_is_spent(LinearProgram *p);

/* ---- the program ---- */

extern void lp_clear(LinearProgram *p);
extern int lp_add_rows(LinearProgram *p, int n); /* the first of them */
extern int lp_add_columns(LinearProgram *p, int n);
extern void lp_bound_row(LinearProgram *p, int row, double low, double high);
extern void lp_bound_column(LinearProgram *p, int column, double low, double high);
extern void lp_set_cost(LinearProgram *p, int column, double cost); /* column 0: of everything */
extern void lp_set_whole(LinearProgram *p, int column);
extern void lp_set_row(LinearProgram *p, int row, int n, const int *ind, const double *val);
extern void lp_set_column(LinearProgram *p, int column, int n, const int *ind, const double *val);
extern int lp_get_column(LinearProgram *p, int column, int *ind, double *val);
extern void lp_load(LinearProgram *p, size_t n, const int *row, const int *column, const double *val);
extern void lp_start_row(LinearProgram *p, int row, LpAt at);
extern void lp_start_column(LinearProgram *p, int column, LpAt at);
extern void lp_scale(LinearProgram *p);
extern int lp_rows(const LinearProgram *p);
extern int lp_iterations(const LinearProgram *p); /* of the simplex method, so far */

/* ---- the linear relaxation ---- */

/* KANON_OK means optimal or infeasible, or that time has ended (pace->late). */
extern KanonStatus lp_relax(LinearProgram *p, LpMethod method);
extern bool lp_is_feasible(const LinearProgram *p);
extern double lp_cost(const LinearProgram *p);
extern double lp_value(const LinearProgram *p, int column);
extern double lp_price(const LinearProgram *p, int row);

/* ---- branch and cut ---- */

/*
 * In the time that is left, after lp_relax; *complete: it was searched through, rather than ended by
 * a callback, the time or the gap.
 */
extern KanonStatus lp_branch(LinearProgram *p, const LpSearch *search, bool *complete);
extern bool lp_found(const LinearProgram *p);
extern double lp_whole_cost(const LinearProgram *p);
extern double lp_whole_value(const LinearProgram *p, int column);

/* For callbacks: ends the search. */
extern void lp_stop(LinearProgram *p);

/* At LP_ROUND: a solution, of which GLPK asks nothing but its cost. */
extern void lp_offer(LinearProgram *p, const double *values);

/* At LP_NODE, LP_ROWS and LP_ROUND: the node at hand. */
extern int lp_node(LinearProgram *p);

/*
 * At LP_NODE: brings the basis to the optimum, or until the objective passes `limit`, so
 * that branch and cut, which cannot be stopped in the simplex method, has nothing left to do there.
 */
extern KanonStatus lp_relax_node(LinearProgram *p, double limit);

#endif
