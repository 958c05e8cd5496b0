/*
 * glpk.h: the one way to GLPK
 */
#ifndef KANON_GLPK_H
#define KANON_GLPK_H

#include "pattern/program/program_model.h"
#include "pattern/program/bound.h"

/* ---- glpk.c: the integer program by GLPK, or KANON_UNAVAILABLE without it ---- */

typedef struct IlpSettings
{
	bool cuts;          /* those of cutting_planes.c, and Gomory's */
	bool rounding_cuts; /* GLPK's, too */
	int branching;      /* 0: pseudo-costs, 1: most fractional, 2: Driebeck-Tomlin */
	int64_t max_nodes;  /* 0: no limit */
	double gap;
	bool free_fallback;   /* false: every row must be in a class */
	const IlpList *start; /* instances that a good solution uses; NULL: none known */
	/* of the instances f with group[f] == j at most limit[j] are open; may be NULL */
	const uint32_t *group;
	const uint32_t *limit;
	size_t ngroups;
} IlpSettings;

typedef struct IlpOutcome
{
	bool found;    /* a solution of at most cutoff */
	bool complete; /* searched through: `found` is optimal, or none exists */
	double cost;
	double bound;
	int64_t nodes;
} IlpOutcome;

/*
 * Least-cost solution of the model of cost at most `cutoff`; its instances
 * (positions in the model) in *open.
 */
extern KanonStatus ilp_glpk(const IlpModel *model, double cutoff, const IlpSettings *settings,
							IlpOutcome *outcome, IlpList *open, KanonPace *pace, KanonReport *report);

/* ---- glpk_guard.c: a frame around calls to GLPK, for every solver that uses it ---- */

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

/* ---- glpk_run: one run of branch and cut by GLPK ---- */

#ifdef HAVE_GLPK

typedef struct IlpRun
{
	GlpkGuard guard;
	const IlpModel *model;
	const IlpSettings *settings;
	IlpOutcome *outcome;
	KanonPace *pace;
	bool full;          /* node limit */
	bool large;         /* many rows: nodes are solved where they can be cancelled */
	KanonStatus status; /* of the searches within */
	glp_prob *lp;
	double most_rows; /* of a type */
	int nz;           /* the column that feigns objectives */
	int *u_col;       /* [nf] */
	int *x_col;       /* [pairs]; 0: its instance has one column only */
	double *x;        /* [columns + 1] */
	bool *best;       /* [nf] used in the best solution */
	double target;    /* solutions above this do not count */
	double root;      /* the bound before branching */
	double feigned;   /* objective that GLPK believes to have; INFINITY: none */
	int iterations;   /* of the simplex method, counted as work */
	int ncols;
	int *ind; /* [columns + 1] a row or column of the matrix */
	double *val;
	IlpCuts cuts;
	double *u;     /* [nf] the relaxation's solution */
	double *share; /* [pairs] */
	bool *within;  /* [m] in the set of a cut */
	int node;      /* where cuts were added last, */
	double raised; /* bound that they raised noticeably, */
	int idle;      /* and rounds from then on */
} IlpRun;

/* The model's rows and columns, without those that are added where they are violated. */
extern KanonStatus ilp_glpk_load(IlpRun *run);

/* Adds the rows that limit how many instances of a group are open. */
extern void ilp_glpk_load_groups(IlpRun *run);

/*
 * A basis near the one sought: what a good solution uses is at its upper bound,
 * each row of the table in its cheapest class.
 */
extern void ilp_glpk_load_start(IlpRun *run, const IlpList *start);

/*
 * Adds rows that the solution at hand, of the given bound, violates: links, then
 * cuts, until these no longer raise the bound.
 */
extern bool ilp_glpk_tighten(IlpRun *run, double bound);

#endif /* HAVE_GLPK */

#endif
