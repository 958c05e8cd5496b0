/*
 * verify.h: the checks of a target before it is published
 */
#ifndef KANON_VERIFY_H
#define KANON_VERIFY_H

#include "compat.h"
#include "rows/row_types.h"
#include "rows/target.h"
#include "host/border.h"
#include "rows/source.h"

/* ---- verify.c: the target is read back and checked before it is published ---- */

/* Raises that the written table is not as promised; nothing is published then. */
pg_noreturn extern void raise_unsafe(const char *detail);

/* A class of the table as readers see it: its rows; blank: it shows nothing. */
typedef void (*NoteClass)(void *arg, int64 rows, bool blank);

/* The release as it stands in the target, class by class; raises if a rule is broken. */
extern void target_verify(const Target *target, const Source *source, const KanonProblem *problem,
						  const KanonRelease *release, int64 expected_rows, NoteClass note, void *arg,
						  Border *border);

/*
 * The same for a release of more classes than memory need hold: the server groups the target, and each group is
 * looked at as it comes.  Rules about persons and populations it does not take.
 */
extern void target_verify_groups(const Target *target, const Source *source, const KanonProblem *problem,
								 int64 expected_rows, NoteClass note, void *arg, Border *border);

/* The same of a freeform release: the target has the records whose graph was checked. */
extern void target_verify_freeform(const Target *target, const Source *source, const KanonProblem *problem,
								   const KanonRelease *release, int64 expected_rows, Border *border);

/* ---- what the files that check share ---- */

/* Do two of the target's row types look the same but for what privacy rules look at? */
extern bool verify_same_class(const RowTypes *types, uint32 a, uint32 b);

/* No value is shown: NULL in every quasi-identifier. */
extern bool verify_is_blank(const RowTypes *types, int nqis, uint32 type);

/* Raises if these row types, which are a class, break a privacy rule. */
extern void verify_class(const KanonProblem *shown, const Source *source, const uint32 *members, uint32 n,
						 bool few, Border *border);

/* The target's codes of a column as the source's; raises if it has other values. */
extern uint32 *verify_translate(const struct Dictionary *from, const SourceColumn *original, Border *border);

/*
 * verify_parts.c: raises if a class of the target breaks a privacy rule that is not about persons.  written:
 * the target's columns that look the same, then those that rules look at.
 */
extern void verify_privacy_sorted(Source *written, const Source *source, const KanonProblem *problem,
								  Border *border);

/* verify_known.c: raises if fewer than k rows of the target show a combination that somebody may know. */
extern void verify_known(const RowTypes *types, const Source *source, const KanonProblem *problem,
						 Border *border);

/* The same of persons: rows of a row type that were written to a class.  Puts them into another order. */
extern void verify_known_persons(KanonFlow *written, Size n, const KanonProblem *problem,
								 const KanonRelease *release, Border *border);

/* ---- identifying_columns.c: does a kept column identify?  Looked at while the rows are written ---- */

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
	double rows;     /* with a value */
	double own;      /* share of the rows with a value that no other row (or person) has */
	bool identifies; /* that are nearly all of them, and enough to say so */
} KeptFigures;

extern KeptFigures kept_figures(const KeptLook *look, int column);

struct TellsLook;

/*
 * A hint: the sentence, then a mask for each of the columns that fits its type, and allow_identifying.  rows: a sample
 * in which roundings are tried, or NULL.
 */
extern char *kept_way_out(struct TellsLook *rows, const SourceColumn *const *columns, int n,
						  const char *sentence);

/*
 * Raises check_violation with the columns in which nearly every row, or person, has a value of its own.  Texts that few
 * rows share are told.
 */
extern void kept_end(KeptLook *look);

/* ---- class_values.c: what classes give away of kept columns, counted while the rows are written ---- */

/* The figures of a kept column, as it is published. */
typedef struct ColumnTold
{
	const char *name;
	int64 one_classes;  /* in which all rows have one value, */
	int64 one_rows;     /* with so many rows */
	int64 most_classes; /* in which nine rows of ten have, */
	int64 most_rows;
	bool repeats;         /* in classes, as a person with several rows would: */
	int64 least;          /* different values of a class, at least; counted up to k */
	int64 single_classes; /* with one at most */
	int64 few_classes;    /* with fewer than k, */
	int64 few_rows;
} ColumnTold;

typedef struct ClassesTold
{
	int64 classes; /* that readers can tell apart */
	int ncolumns;
	ColumnTold *columns;
} ClassesTold;

typedef struct ClassLook ClassLook;

/* NULL: nothing is published that is kept, or nobody will ask.  persons: they are known, and counted elsewhere. */
extern ClassLook *class_look_begin(const Source *source, const Target *target, const KanonProblem *problem,
								   bool persons, Border *border);

/* The classes that will be entered next; those that look the same as `shown` become one.  NULL: all differ. */

struct ShownClass;
extern void class_look_release(ClassLook *look, const KanonRelease *release, struct ShownClass *shown);
extern void class_look_enter(ClassLook *look, uint32 class_);

/* A row of it: what is published of it beside the quasi-identifiers. */
extern void class_look_note(ClassLook *look, const Datum *values, const bool *nulls);

/* Says in a NOTICE where k rows are fewer than k persons. */
extern ClassesTold *class_look_end(ClassLook *look);

/* ---- determining.c: does one column of a sample determine another? ---- */

/* The number of a row without a value. */
#define NO_VALUE PG_UINT32_MAX

/* From so many rows with a value on a column is judged, as in identifying_columns.c. */
#define LEAST_JUDGED 10

/* By chance once in e^14, a million, something is found that is not there. */
#define BY_CHANCE 14.0

/* A column of the sample: each row's value as a number below `distinct`, and the rows in the order of it. */
typedef struct Attribute
{
	uint32 *id; /* [n]; NO_VALUE: left out */
	uint32 distinct;
	uint32 *order; /* [start[distinct]] */
	uint32 *start; /* [distinct + 1] */
} Attribute;

typedef struct Determined
{
	bool all;         /* in nearly all rows */
	bool hidden;      /* in nearly all of those in which the other is not shown */
	double of_hidden; /* in this share of them, chance aside; 0 if that cannot be told */
} Determined;

/* From numbers that stand for values, one in each `width`. */
extern Attribute attribute_of(const uint32 *numbers, int width, int64 n);

/* Columns as one: rows that agree in all of them, no value like any other, have one number. */
extern Attribute attributes_together(const Attribute *const *columns, int ncolumns, int64 n);

extern void attribute_forget(Attribute *a);

/* Does a determine b?  hidden (or NULL): rows in which b is not shown; by chance once in e^by_chance_once. */
extern Determined determines(const Attribute *a, const Attribute *b, const bool *hidden,
							 double by_chance_once);

/* ---- telling_columns.c: what do kept columns tell of what a release hides? ---- */

/* The findings, for the record of the run: lists of char *, in the order in which it was told. */
typedef struct KeptTold
{
	List *together; /* "a, b": kept columns that identify together */
	List *tells;    /* "a: b": a kept column, and the quasi-identifier or masked column that it tells of */
	List *alone;    /* kept columns that were compared with no other one, which is told */
	bool ended; /* groups of columns were not all asked what they tell of quasi-identifiers, which is told */
	ClassesTold *classes;   /* NULL: not counted */
	List *names;            /* kept columns whose values may be names of persons */
	struct TellsLook *rows; /* while they are written: a sample, in which roundings are tried; or NULL */
} KeptTold;

typedef struct TellsLook TellsLook;

/* A kept column that may name persons, for the record. */
extern void kept_tell_name(const Source *source, const char *name);

/* Stands for a value as it is stored. */
extern uint32 tells_number(Oid type, Datum value, bool isnull);

/*
 * A kept column of this source, as messages call it, and a quasi-identifier, in rows of a sample; true: it was told.
 * hidden: rows that do not show the quasi-identifier, NULL: nobody knows which, only how many.
 * Raises as tells_end does.
 */
extern bool tells_compare(const Source *source, const SourceColumn *column, const char *name,
						  const Attribute *kept, const char *qi, const Attribute *of, const bool *hidden,
						  int64 nhidden);

/*
 * NULL: no kept column needs to be looked at.  types: those of the rows that will be noted, or NULL:
 * their values are known where their class shows them.
 */
extern TellsLook *tells_begin(const Source *source, const RowTypes *types, Border *border);

/* The class that the next rows go to: the cells that it shows. */
extern void tells_class(TellsLook *look, const KanonCell *cells);

/* A row of that class: its type, its kept values as the source has them and as they are published, whom it is about. */
extern void tells_note(TellsLook *look, uint32 type, const Datum *given, const Datum *shown,
					   const bool *given_nulls, const bool *shown_nulls, uint32 person);

/*
 * Raises check_violation when a kept column that is neither masked nor allowed to identify tells a
 * quasi-identifier.  Says in a NOTICE, and in source->told, what else there is to be told.
 */
extern void tells_end(TellsLook *look);

/*
 * The least rounding of a kept number after which a sample of the rows has hardly any value of one row alone, and tells
 * hardly any hidden value of a quasi-identifier; 0: there is none, or it cannot be tried.
 */
extern double tells_rounding(TellsLook *look, const SourceColumn *column);

#endif
