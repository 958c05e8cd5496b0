/*
 * models.h: what the models with noise share: domains, budgets, subjects, points and single tables
 */
#ifndef KANON_MODELS_H
#define KANON_MODELS_H

#include "core/noise/noise.h"
#include "host/border.h"
#include "rows/source.h"
#include "run/run.h"
#include "rows/target.h"

#include "fmgr.h"
#include "utils/jsonb.h"

/*
 * ---- budget.c: what may be told of a table with noise, all in all.
 *
 * An answer of kanon_dp has been seen before the transaction that it was given in is
 * over, and that may be rolled back.  So what an answer takes is spent before anything is
 * read, by a background worker, in a transaction of its own that has reached the disk
 * when the call goes on.  Nothing takes it back, neither an error nor a cancel.
 */

/* Decimals of epsilon and delta: they are added up as whole numbers. */
#define EPSILON_DIGITS 6
#define DELTA_DIGITS 15

/* The roles that may be asking: the session's user, SET ROLE's, and that of the function around the call. */
#define ASKERS 3

typedef struct Spending
{
	Oid schema; /* the extension's */
	Oid relation;
	Oid asker[ASKERS]; /* the first is the session's */
	int64 epsilon;     /* in 10^-EPSILON_DIGITS */
	int64 delta;       /* in 10^-DELTA_DIGITS */
	int64 queries;     /* sums and counts over rows */
	NameData aggregate;
} Spending;

typedef enum SpendOutcome
{
	SPEND_UNKNOWN, /* nobody came back to say */
	SPEND_DONE,
	SPEND_NO_BUDGET,
	SPEND_TOO_LITTLE,
	SPEND_OPEN /* others may write into the tables */
} SpendOutcome;

/* Why not. */
typedef struct SpendRefusal
{
	Oid role; /* whose budget it is, or InvalidOid: everybody's */
	int64 epsilon, delta;
	int64 queries; /* left; negative: not limited */
} SpendRefusal;

/*
 * Takes it from every budget of the table that is everybody's, or that of a role which one
 * of the askers is or belongs to; or from none.  For a transaction that commits at once.
 */
extern SpendOutcome budget_take(const Spending *spending, SpendRefusal *refusal);

/*
 * The same by a background worker, of the library of the SQL function `caller`; raises
 * when there is no budget, too little left, or no worker.
 */
extern void budget_spend(Oid caller, const Spending *spending);

/* Sets the budget of a role (InvalidOid: everybody together); queries are not limited when negative. */
extern void budget_set(Oid schema, Oid relation, Oid role, int64 epsilon, int64 delta, int64 queries);

/* ---- point_source.c: rows of numbers as points, and places between a column's bounds as its values ---- */

typedef struct Points
{
	Source *source;   /* its kept columns are the numbers */
	double *least;    /* [nkept] bounds: given, or of the rows themselves */
	double *greatest; /* [nkept] */
	int64 n;
	double *number; /* [n * nkept] once they are read */
	int64 outside;  /* rows that are no points: with NULL, NaN or infinity, or out of bounds */
} Points;

/* Finds columns and locks the relation; raises for columns that are no numbers. */
extern Points *points_open(Oid relid, ArrayType *columns);

/* Bounds out of {"column": {"from": 0, "to": 99}, …}; NULL: any number is within them. */
extern void points_bounds(Points *points, Jsonb *json);

/* The rows of a relation with such columns, which is called so in queries. */
extern void points_read(Points *points, const char *name, Oid relid, bool read_only, const char *phase,
						Border *border);

/* Bounds become those of the rows. */
extern void points_fit(Points *points);

/* The numbers as places; raises when a column has one value alone. */
extern uint32 *points_places(const Points *points, Border *border);

/* A place, which may be out of bounds, as the column's type has it. */
extern Datum points_value(const Points *points, int column, int64 place);

/* ---- cross_training_model.c: the outcome of a run that publishes points with noise ---- */

/* request->own of such a run. */
typedef struct CrossTrainingRun
{
	int64 t;
	Jsonb *json; /* domains, or NULL */
	Points *points;
	int64 *moved;     /* [points->n * columns] places */
	uint8 *divisions; /* [points->n] */
	RandomPool random;
} CrossTrainingRun;

/* ---- domains.c: the values that columns may have, and rows as numbers of their combinations ---- */

typedef struct Domains
{
	Source *source;   /* its kept columns are those that have domains */
	Oid *relations;   /* [nkept] that list values, or InvalidOid: the JSON does */
	uint32 *size;     /* [nkept] values */
	uint64 tuples;    /* combinations */
	KanonTuples rows; /* of the source, once they are read */
	int64 outside;    /* its rows with values that no domain has: they are not among them */
} Domains;

/* Finds columns and locks the relation. */
extern Domains *domains_open(Oid relid, ArrayType *columns);

/*
 * {"column": ["value", …] | {"from": 0, "to": 99} | "relation", …}: finds and locks relations,
 * whose first column has the values.
 */
extern void domains_resolve(Domains *domains, Jsonb *json);

/* The values; under the active snapshot. */
extern void domains_values(Domains *domains, Jsonb *json, Border *border);

/* The source's rows, by tuple. */
extern void domains_read(Domains *domains, Border *border);

/* Tuple numbers of a relation with these columns, sorted; raises no error for values outside but counts them. */
extern uint64 *domains_tuples(const Domains *domains, const char *name, Oid relid, bool read_only,
							  const char *phase, int64 *n, int64 *outside, Border *border);

/* A column's value in a tuple, and its number among the column's. */
extern Datum domains_value(const Domains *domains, uint64 tuple, int column, bool *isnull);
extern uint32 domains_code(const Domains *domains, uint64 tuple, int column);

/* ---- point_source.c: points that were moved by noise become a table, which is read again ---- */

/* In random order; moved[points->n * columns]: places. */
extern void points_write(const Target *target, const Points *points, const int64 *moved, Border *border);

/* Raises when the table does not have just those rows. */
extern void points_verify(const Target *target, const Points *points, const int64 *moved, Border *border);

/* ---- budget.c: the one table whose rows a source shows, one by one ---- */

/*
 * The table that a budget for this one is kept under: of a partition the table that is
 * partitioned.  Raises when its rows are another table's, too: views, inheritance.
 */
extern Oid single_table(Oid relid);

/*
 * The table under the source, each row of which is at most one row of the source,
 * whatever other rows there are: the source is that table, or a view that only leaves out
 * columns and rows and computes of a row's own values.  Raises when it is not so.
 */
extern Oid source_single_table(const Source *source);

/* ---- subjects.c: rows by groups, one subject after the other, for answers with noise ---- */

/* The question about each column of a source. */
typedef struct Subjects
{
	Source *source;              /* all of the columns are its kept ones */
	const SourceColumn *of;      /* numbers, or what must not be NULL; or NULL */
	const SourceColumn *by;      /* [nby] */
	int nby;                     /* 0: there is one group */
	const SourceColumn *subject; /* who a row is about; NULL: each about somebody else */

	/* how a number becomes what is tallied: steps of a grid, or bins */
	double step, lower, upper;
	const KanonQuestion *question;

	/* once they are declared or read: {"column": "value", …} as text, numbered from 0 */
	struct Dictionary *groups;
	bool declared;
	uint32 ngroups;
} Subjects;

/* Finds the columns and locks the relation; `numbers`: of must be numeric. */
extern Subjects *subjects_open(Oid relid, ArrayType *of, bool numbers, ArrayType *by, ArrayType *subject);

/* {"column": ["value", …], …}: all combinations, each a group; NULL: those that there are. */
extern void subjects_declare(Subjects *subjects, Jsonb *values, Border *border);

/* Under the active snapshot; rows without a subject, a number or a declared group are left out. */
extern void subjects_read(Subjects *subjects, KanonTally *tally, Border *border);

/* A group's values. */
extern char *subjects_group(const Subjects *subjects, uint32 group);

/* ---- synthetic_model.c: the outcome of a run that publishes rows drawn from a domain ---- */

/* request->own of such a run. */
typedef struct MadeRun
{
	Jsonb *json; /* domains */

	/* alpha-beta */
	double d, gamma;
	KanonAlphaBeta with;

	/* synthesis */
	double epsilon, delta;
	int64 wanted; /* negative: as many rows as the source has */
	uint64 noise;

	Domains *domains;
	KanonDrawn drawn;
	RandomPool random;
} MadeRun;

/* ---- synthetic_model.c: rows that were drawn from a domain become a table, which is read again ---- */

/* In random order; sorts what was drawn. */
extern void made_write(const Target *target, const Domains *domains, KanonDrawn *drawn, Border *border);

/* Raises when the table does not have just those rows. */
extern void made_verify(const Target *target, const Domains *domains, const KanonDrawn *drawn,
						Border *border);

#endif
