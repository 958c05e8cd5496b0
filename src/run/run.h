/*
 * run.h: the five steps from a source to a published target, for every function
 * that publishes: run_begin, run_target, run_read, run_solve, run_publish, run_end.
 */
#ifndef KANON_RUN_H
#define KANON_RUN_H

#include "run/privacy.h"
#include "kanon_pg.h"
#include "read/levels.h"

typedef struct Run
{
	Oid schema; /* the extension's */
	Border *border;
	Source *source;
	Target *target;       /* NULL: nothing is written */
	RowTypes *types;      /* after run_read */
	KanonProblem problem; /* the caller sets mask, limits and rules before run_solve */
	KanonRelease release; /* after run_solve */
	KanonReport report;
	KanonMeasures measures;
	double *diversity;                /* [release.nclasses] tuple diversity */
	Privacy *privacy;                 /* rules beyond k, or NULL */
	const SourceColumn *class_column; /* kept, for the classification metric, or NULL */
	RunRecord record;
	instr_time clock;
} Run;

/* Opens the source; between this and run_end SPI is connected. */
extern Run *run_begin(FunctionCallInfo fcinfo, const char *function, Oid source, ArrayType *qis,
					  ArrayType *keep, ArrayType *categorical);

/* Finds the hierarchies of its quasi-identifiers; before run_target. */
extern void run_hierarchies(Run *run, Jsonb *hierarchies);

/*
 * Finds the columns of privacy rules (NULL: none), which privacy_supported has
 * found to be taken; before run_target.
 */
extern void run_privacy(Run *run, Privacy *privacy);

/* Finds the kept column that says what a row is to be classified as. */
extern void run_class_column(Run *run, const char *name);

/* Checks the target's name and creates the table that will be filled. */
extern void run_target(Run *run, const char *name, bool replace, bool mark);

/* Reads the row types and fills the problem; k must fit them (0: the caller sees to that). */
extern void run_read(Run *run, int64 k, const double *weights, LevelCost cost);

/* Raises when no class could have k of the rows that were read. */
extern void run_check_k(const Run *run, int64 k);

/* Solves and measures; raises what the solver refuses.  May be called again. */
extern void run_solve(Run *run, const char *method, KanonSolve solve);

/* Writes, verifies, installs and records; returns the run's number. */
extern int64 run_publish(Run *run);

/* A NOTICE when rows are left out under privacy rules: there may be any number of them. */
extern void run_notice_dropped(const Run *run);

/* A NOTICE when an exact method stopped before its proof; does the function take a gap? */
extern void run_notice_unproven(const Run *run, bool takes_gap);

/* One row per pattern that was used, cheapest first. */
extern void run_return_patterns(const Run *run, ReturnSetInfo *rsinfo);
extern void run_end(Run *run);

#endif
