/*
 * glpk_run.h: one run of branch and cut by GLPK.
 */
#ifndef KANON_GLPK_RUN_H
#define KANON_GLPK_RUN_H

#include "pattern/program/cutting_planes.h"
#include "pattern/program/glpk.h"
#include "pattern/program/glpk_guard.h"

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
