/*
 * anatomy_target.h: groups of rows become two tables, and a view that answers counting queries.
 */
#ifndef KANON_ANATOMY_TARGET_H
#define KANON_ANATOMY_TARGET_H

#include "core/anatomy/anatomy.h"
#include "anatomy/anatomy_source.h"
#include "rows/target.h"

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

/* Where the view of what is published of a source is to be made; raises if that cannot be. */
extern AnatomyView *anatomy_view_resolve(const char *name, const Source *source, bool replace);

/* Writes both tables, in random order.  l: rows that have the bound where a mask cuts at a quantile. */
extern void anatomy_write(const AnatomyTargets *targets, AnatomyRows *rows, const KanonAnatomy *anatomy,
						  int64 l, Border *border);

/* Reads both tables again; raises if they do not keep l, or are not of these rows. */
extern void anatomy_verify(const AnatomyTargets *targets, const AnatomyRows *rows, uint32 ngroups, int64 l,
						   Border *border);

/* Makes or redefines the view, on the tables as they are called now. */
extern void anatomy_view_make(const AnatomyTargets *targets, const Source *source);

#endif
