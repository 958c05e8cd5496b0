/*
 * anatomy_model.h: anatomy, from its source to its two tables
 */
#ifndef KANON_ANATOMY_MODEL_H
#define KANON_ANATOMY_MODEL_H

#include "host/border.h"
#include "rows/target.h"
#include "rows/source.h"
#include "core/anatomy/anatomy.h"
#include "run/run.h"

/* ---- anatomy_target.c: a relation whose rows are told apart by a sensitive column alone ---- */

/*
 * Finds the columns and locks the relation.  In what comes back the sensitive column is
 * the only one that is grouped; the quasi-identifiers are kept.
 */
extern Source *anatomy_open(Oid relid, ArrayType *qis, const char *sensitive);

/* The rows of the source, and how often each sensitive value is among them. */
typedef struct AnatomyRows
{
	Source *source;
	uint32 nrows;
	uint32 nvalues;    /* of the sensitive column: codes of its dictionary, NULL among them */
	int64 *rows;       /* [nvalues] with each */
	Shuffle *shuffled; /* quasi-identifiers, numbered by `code`; NULL: not asked for */
	uint32 *code;      /* [nvalues] from that number */
} AnatomyRows;

/* Under the active snapshot. */
extern AnatomyRows *anatomy_read(Source *source, bool shuffled, Border *border);

/* ---- anatomy_target.c: groups of rows become two tables, and a view that answers counting queries ---- */

/* The number of a row's group in both tables, and rows of it that have a value. */
#define KANON_GROUP_COLUMN "kanon_group"
#define KANON_COUNT_COLUMN "kanon_count"

/* In the view: rows of the source that a line stands for, as far as can be known. */
#define KANON_EXPECTED_COLUMN "kanon_expected"

/* The view, which need not be asked for. */
typedef struct AnatomyView
{
	char *qualified;
	Oid existing; /* the one that is redefined, or InvalidOid */
} AnatomyView;

/* Both tables, and the columns of each. */
typedef struct AnatomyTargets
{
	Target *quasi;
	Source *quasi_columns; /* quasi-identifiers, the group */
	Target *sensitive;
	Source *sensitive_columns; /* the group, the value, the count */
	AnatomyView *view;         /* or NULL */
} AnatomyTargets;

extern Source *anatomy_quasi_columns(const Source *source);
extern Source *anatomy_sensitive_columns(const Source *source);

/* The view over both tables: its schema and name; raises if it cannot be made there. */
extern AnatomyView *anatomy_view_resolve(const char *name, const Source *source, bool replace);

/* Writes both tables, in random order.  l: rows that have the bound where a mask cuts at a quantile. */
extern void anatomy_write(const AnatomyTargets *targets, AnatomyRows *rows, const KanonAnatomy *anatomy,
						  int64 l, Border *border);

/* Reads both tables again; raises if they do not keep l, or are not of these rows. */
extern void anatomy_verify(const AnatomyTargets *targets, const AnatomyRows *rows, uint32 ngroups, int64 l,
						   Border *border);

/* Makes or redefines the view, on the tables as they are called now. */
extern void anatomy_view_make(const AnatomyTargets *targets, const Source *source);

/* ---- anatomy_model.c: the outcome of a run that publishes two tables ---- */

/* request->own of such a run. */
typedef struct AnatomyRun
{
	AnatomyTargets targets; /* `quasi` is the run's */
	AnatomyRows *rows;
	KanonAnatomy anatomy;
	RandomPool random;
} AnatomyRun;

#endif
