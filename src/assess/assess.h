/*
 * assess.h: what the functions that assess share
 */
#ifndef KANON_ASSESS_H
#define KANON_ASSESS_H

#include "host/lines.h"
#include "run/run.h"
#include "rows/target.h"
#include "rows/row_types.h"
#include "hierarchies/hierarchy.h"
#include "options/privacy.h"

#include "fmgr.h"
#include "nodes/execnodes.h"
#include "storage/dsm.h"
#include "storage/shm_toc.h"
#include "utils/array.h"

/* ---- attack.c: what somebody concludes who knows by which method a table was published ---- */

/* An attacker draws these conclusions: of all sources that fit, or only of those from which the method makes this release. */
typedef struct Concluded
{
	int64 sources;
	int64 certain;  /* rows of which it is known for certain */
	double highest; /* the best chance of a value of a person */
} Concluded;

/*
 * Tries every source that agrees with the release.  values: quasi-identifiers of all rows are known, and
 * the values of the columns that privacy rules are about are not; else nothing is known but which
 * values columns have.  run: read, solved, and of few rows.
 */
extern void sources_try(Run *run, bool values, Concluded *fit, Concluded *left);

/* kanon_attack with knowledge => 'distance': under the snapshot that it takes, which the caller pops. */
extern void attack_distance(Lines *lines, Oid source, Oid target, ArrayType *key, ArrayType *known,
							int64 trials);

/* kanon_attack with knowledge => 'method'. */
extern void attack_method(Lines *lines, FunctionCallInfo fcinfo, Oid source, Oid target, ArrayType *known);

/*
 * ---- compare.c: a source and what was published of it, side by side: what kanon_compare and
 * kanon_distributions have in common.
 *
 * A cell of the target stands for values of the source: itself, those of its range, its set
 * or its label, or, where a quasi-identifier is NULL, all there are.  An analyst of the table
 * must take all of them to be equally likely (Xiao, Tao, "Anatomy: simple and effective
 * privacy preservation", VLDB 2006).
 */

typedef struct Compared
{
	Border *border;
	Source *source;
	Source *target;
	RowTypes *rows;        /* of the source */
	RowTypes *records;     /* of the target */
	KanonRelease *release; /* the records in codes of the source */
	int nqis;              /* columns of which NULL shows nothing; those that were kept come after them */
	int n;                 /* columns in all */
	double *weight; /* [records' types] of a row, where the target has several copies of rows; NULL: 1 */
} Compared;

/* The values of the source that a cell stands for: n codes, or (codes is NULL) those from first on. */
typedef struct Spread
{
	uint32 n;
	uint32 first;
	const uint32 *codes;
} Spread;

/*
 * The argument, or NULL: with SPI connected, those of these columns that the run recorded which wrote the target.
 * And a NOTICE of columns without, of which the target shows what the source does not have.
 */
extern Jsonb *hierarchies_asked(FunctionCallInfo fcinfo, int arg, Oid target, ArrayType *names);
extern void hierarchies_lacking(const Source *source, int nqis, const KanonRelease *release);

/*
 * With SPI connected; takes a snapshot, which is the active one then.  copies: a column "copies" of the target, which the source
 * does not have, says of how many rows there each is one.
 */
extern Compared *compare_read(Oid source, Oid target, ArrayType *qis, ArrayType *keep, Jsonb *hierarchies,
							  bool copies, const char *who);

/* How many rows those of a type are: each of the copies of a row is a part of it.  And all of the target. */
extern double compare_weight(const Compared *compared, uint32 record);
extern double compare_records(const Compared *compared);

extern Spread compare_spread(const Compared *compared, uint32 record, int column);

/*
 * Rows of the source with each value of a column, and those that the target stands for; the
 * rest of its rows shows values that the source does not have.
 */
extern void compare_shares(const Compared *compared, int column, double *before, double *after);

/*
 * How much worse the target answers counts than the source: for each of so many random
 * queries of which the source has rows, the relative error.  How many there are.
 */
extern int compare_queries(const Compared *compared, int queries, double selectivity, uint64 seed,
						   double *errors);

/* ---- explain.c: the lines of kanon_explain ---- */

#define EXPLAIN_COLUMNS 8

/* A line of the result; values that are not set are NULL. */
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

/* The loss of a release, by quasi-identifier. */
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

/* Does the release lose whole cells and nothing else? */
extern bool explain_by_cells(const Explain *explain);

/* explain_changed.c: what would be lost without a quasi-identifier, or at another weight of it. */
extern void explain_changed(const Explain *explain);

/* explain_sets.c: the columns that would be known together whose rare combinations cost most. */
extern void explain_known(const Explain *explain);

/* explain_sets.c: a run over sets of items, or of two tables, that has been solved. */
extern void explain_sets(Run *run, ReturnSetInfo *rsinfo);
extern void explain_groups(Run *run, ReturnSetInfo *rsinfo);

/*
 * ---- frontier.c: what each of several ks would cost: the source is read once, and its row
 * types are solved for every k.
 */

/* The figures of a release that is not written. */
typedef struct Solution
{
	int64 k;
	bool found; /* there is a release */
	Figures figures;
	double ms;
} Solution;

typedef struct Frontier
{
	int n;
	Solution *solutions; /* [n] in ascending order of k */
} Frontier;

/* Raises what is wrong with ks, which SQL calls `name`. */
extern void frontier_check(ArrayType *ks, const char *name);

/* The ks of an array, ascending and each once, without solutions. */
extern Frontier *frontier_of(ArrayType *ks);

/*
 * Solves the request for each k, of which it has the first; it writes nothing.  A k for which there is no release
 * (more than the rows, or residual is 'error' and rows are left) has none: the others are
 * still worth knowing.  Parallel workers take part when the planner's settings allow some
 * and it pays; the solutions are the same.  Errors other than that there is no release
 * are raised.
 */
extern void frontier_solve(Frontier *frontier, Request *request);

/* The columns of kanon_frontier; one of its lines. */
#define FRONTIER_COLUMNS 13
extern void frontier_line(const Frontier *frontier, int i, Datum *values, bool *nulls);

/* The entry of a parallel worker. */
extern PGDLLEXPORT void kanon_frontier_worker(dsm_segment *segment, shm_toc *toc);

/* ---- risk.c: what the parts of kanon_risk have in common ---- */

typedef struct Risk
{
	Lines *lines;
	Source *source;
	const SourceColumn *subject; /* or NULL: rows are counted */
	const char *unit;            /* what is counted: "rows" or "persons" */
	const char *one;             /* "row" or "person" */
	int64 units;                 /* in all classes, blank ones included */
	double threshold;
	double sampling_fraction;      /* of the population that is here; NaN: not said */
	const SourceColumn *weights;   /* how many of the population a row stands for, or NULL */
	const SourceColumn *household; /* or NULL */
	int special;                   /* columns of special uniques, at most; 0: not asked */
	PrivacyWords *presence;        /* a rule of kanon_presence to be looked at, or NULL */
	Source *distributions;         /* of it */
} Risk;

/* A line of the result.  sensitive: a column's name or NULL; known: false for NULL. */
extern void risk_put(const Risk *risk, const char *measure, const char *sensitive, double value, bool known,
					 const char *meaning, ...) pg_attribute_printf(6, 7);

/*
 * Row types over the quasi-identifiers, then `column` unless NULL, then the
 * subject if there is one; with them, where the classes begin.
 */
typedef struct RiskClasses
{
	Border *border; /* holds all of it; see risk_classes_free */
	RowTypes *types;
	uint32 n;
	uint32 *first; /* [n + 1] the first type of each class */
	int64 *size;   /* [n] rows, or different persons */
} RiskClasses;

extern RiskClasses *risk_classes_read(const Risk *risk, const SourceColumn *column);
extern void risk_classes_free(RiskClasses *classes);

/*
 * risk_population.c: how many of a population a class could be; the population is
 * opened and locked before.
 */
extern Source *risk_open_population(const Risk *risk, Oid population, ArrayType *qis);
extern void risk_population(Risk *risk, Source *population);

/* risk_population.c: how probable bounds on presence are; the distributions are opened and locked before. */
extern void risk_open_presence(Risk *risk, Jsonb *rule);
extern void risk_presence(Risk *risk);

/* risk.c: what the classes give away of a sensitive column. */
extern void risk_sensitive(Risk *risk, const SourceColumn *column, const HierarchyChoice *hierarchy);

/* risk_survey.c: individual risk by weights, and of households. */
extern void risk_check_weights(const SourceColumn *weights);
extern void risk_survey(const Risk *risk);

/* risk_survey.c: rows that few columns tell from all others. */
extern void risk_special(const Risk *risk);

#endif
