/*
 * explain.h: the lines of kanon_explain.
 */
#ifndef KANON_EXPLAIN_H
#define KANON_EXPLAIN_H

#include "run/run.h"

#include "nodes/execnodes.h"

#define EXPLAIN_COLUMNS 8

/* A line of the result; what is not set is NULL. */
typedef struct Line
{
	Datum values[EXPLAIN_COLUMNS];
	uint32 known; /* a bit of each */
} Line;

/* Its columns. */
enum
{
	ASPECT,
	SUBJECT,
	ROW_COUNT,
	SUPPRESSED_CELLS,
	COST,
	SAVED_CELLS,
	DETAIL,
	SHOWN
};

extern Line line_about(const char *aspect, const char *subject);
extern void line_set(Line *line, int column, Datum value);
extern void line_put(const Line *line, ReturnSetInfo *rsinfo);

/* What a release takes from each quasi-identifier. */
typedef struct Losses
{
	int64 cells[KANON_MAX_QIS]; /* suppressed */
	double cost[KANON_MAX_QIS]; /* of these and of generalized ones */
	int64 total;                /* of the cells */
	double all;                 /* of the cost */
} Losses;

typedef struct Explain
{
	Run *run;
	const KanonProblem *problem;
	const Source *source;
	ReturnSetInfo *rsinfo;
	bool with_values;
	const Levels *levels;
	Losses losses;
} Explain;

/* At the weights of the columns that are given. */
extern void explain_losses(const KanonProblem *problem, const KanonRelease *release, const Levels *levels,
						   const KanonColumn *columns, Border *border, Losses *losses);

/* Whether its cells are kept or suppressed, and nothing else is lost. */
extern bool explain_by_cells(const Explain *explain);

/* explain_changed.c: what would be lost without a quasi-identifier, or at another weight of it. */
extern void explain_changed(const Explain *explain);

/* explain_sets.c: a run over sets of items, or of two tables, that has been solved. */
extern void explain_sets(Run *run, ReturnSetInfo *rsinfo);
extern void explain_groups(Run *run, ReturnSetInfo *rsinfo);

#endif
