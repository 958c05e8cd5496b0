/*
 * glpk.h: the program solved by branch and cut
 */
#ifndef KANON_GLPK_H
#define KANON_GLPK_H

#include "pattern/program/program_model.h"
#include "pattern/program/bound.h"
#include "util/linear_program.h"

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

/* ---- glpk_run: one run of branch and cut ---- */

#ifdef HAVE_GLPK

typedef struct IlpRun
{
	LinearProgram lp;
	const IlpModel *model;
	const IlpSettings *settings;
	IlpOutcome *outcome;
	KanonPace *pace;
	bool full;          /* node limit */
	bool large;         /* many rows: nodes are solved where they can be cancelled */
	KanonStatus status; /* of the searches within */
	double most_rows;   /* of a type */
	int nz;             /* the column that feigns objectives */
	int *u_col;         /* [nf] */
	int *x_col;         /* [pairs]; 0: its instance has one column only */
	double *x;          /* [columns + 1] */
	bool *best;         /* [nf] used in the best solution */
	double target;      /* solutions above this do not count */
	double root;        /* the bound before branching */
	double feigned;     /* objective that GLPK believes to have; INFINITY: none */
	int iterations;     /* of the simplex method, counted as work */
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
