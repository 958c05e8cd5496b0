/*
 * identifying_columns.h: does a kept column identify?  Looked at while the rows are written.
 */
#ifndef KANON_IDENTIFYING_COLUMNS_H
#define KANON_IDENTIFYING_COLUMNS_H

#include "host/border.h"
#include "rows/source.h"

typedef struct KeptLook KeptLook;

/*
 * NULL when all kept columns are allowed to identify.  who: the kept column that says whom
 * rows are about, or -1.  rows: so many will be noted; a column is not looked at any more when so
 * few of them are left that it cannot identify.  0: all are looked at, for their figures.
 */
extern KeptLook *kept_begin(const Source *source, int who, int64 rows, Border *border);

#define KEPT_NOBODY PG_UINT32_MAX

/* The person that a row's kept values, as the source has them, are about; KEPT_NOBODY: nothing says. */
extern uint32 kept_person(const KeptLook *look, const Datum *values, const bool *nulls);

/* A row's kept values [nkept], as they are published, and whom it is about. */
extern void kept_note(KeptLook *look, const Datum *values, const bool *nulls, uint32 person);

/*
 * Instead of noting each of so many rows: they are counted where they are.  source: the
 * relation that has them; from: it, or more, where its columns are called `of` and their name;
 * person: a number of whom a row is about, by these, or NULL.  functions: the schema in which workers
 * have kanon's functions, or NULL.  Raises data_corrupted when what they say is no sample.
 */
extern void kept_count(KeptLook *look, const Source *source, const char *functions, const char *from,
					   const char *of, const char *person, int64 rows);

/* The same of a target, counted in the reading that verifies it: source->sample, in memory of the look. */
extern void kept_count_beside(KeptLook *look, Source *source, int64 rows);

/* How the values of a column spread over its rows; of many different ones a sample was counted. */
typedef struct KeptFigures
{
	double distinct; /* values, NULL aside */
	double own;      /* share of the rows with a value that no other row (or person) has */
	bool identifies; /* that are nearly all of them, and enough to say so */
} KeptFigures;

extern KeptFigures kept_figures(const KeptLook *look, int column);

/*
 * A hint: the sentence, then a mask for each of the columns that fits its type, and allow_identifying.
 */
extern char *kept_way_out(const SourceColumn *const *columns, int n, const char *sentence);

/* Raises check_violation with the columns in which nearly every row, or person, has a value of its own. */
extern void kept_end(KeptLook *look);

#endif
