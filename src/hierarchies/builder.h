/*
 * builder.h: hierarchies that are worked out from the values that are there,
 * instead of being read from a relation: {"prefix": [3, 1]} and the like.
 */
#ifndef KANON_BUILDER_H
#define KANON_BUILDER_H

#include "host/column.h"
#include "rows/dictionary.h"

#include "utils/jsonb.h"
#include "utils/numeric.h"

/* Levels above the values and below suppression: symbols of a pattern, 1 to 9 and A to W. */
#define HIERARCHY_MAX_LEVELS 32

/* What a builder's levels says of a value that it does not know. */
#define BUILDER_UNKNOWN (-1)

struct TypeCacheEntry;

typedef struct LevelBuilder LevelBuilder;

struct LevelBuilder
{
	const char *name; /* what messages call its argument: "prefix", or "keep" of the SQL function */
	const SourceColumn *column;
	Oid type; /* the column's base type */
	int nlevels;
	const char *words[HIERARCHY_MAX_LEVELS]; /* what each level shows, as pages say it: "ranges of 5" */
	struct TypeCacheEntry *range;            /* the range type of its levels; NULL: they are text */
	Oid relation;                            /* that it reads, too, or InvalidOid */

	/*
	 * Before levels: the column's values in order, with the rows that have each (NULL: one
	 * each).  NULL: it needs to know nothing of them.
	 */
	void (*prepare)(LevelBuilder *builder, const Dictionary *values, const int64 *rows);
	bool prepared;

	/*
	 * Bounds that follow from those values: after prepare, as texts (NULL: none), and before it, to be taken instead
	 * of them; what makes no sense is not taken.  NULL: there are no such bounds.
	 */
	char **(*bounds)(const LevelBuilder *builder, int *n);
	void (*keep)(LevelBuilder *builder, char **texts, int n);

	/*
	 * The nodes of a value, which is not NULL, in the current memory context.  Values come
	 * in order.  Returns how many of the lowest levels differ from those of the value before
	 * (all of them at first), and sets only those; or BUILDER_UNKNOWN.
	 */
	int (*levels)(LevelBuilder *builder, Datum value, Datum *nodes);
	bool begun; /* levels has been called before */

	void *own;
};

/*
 * {"NAME": …, …}: raises what is wrong with it, and with it for this column.  *table: the
 * relation where it names one instead (and NULL comes back); *suppress: values that have no
 * line, or that the builder does not know, are no error.
 */
extern LevelBuilder *builder_read(JsonbContainer *object, const SourceColumn *column, char **table,
								  bool *suppress);

/* How JSON names a builder of that name, for hints; NULL: there is none. */
extern const char *builder_example(const char *name);

/* Each builder from its own arguments, called `name` in messages; they check all but what JSON has. */
extern LevelBuilder *builder_prefix(const char *name, const SourceColumn *column, const int *keep, int n);
extern LevelBuilder *builder_interval(const char *name, const SourceColumn *column, const Numeric *widths,
									  int n, Numeric origin, Numeric lower, Numeric upper);
extern LevelBuilder *builder_date(const char *name, const SourceColumn *column, char **levels, int n);
extern LevelBuilder *builder_quantile(const char *name, const SourceColumn *column, const int *groups, int n);

extern LevelBuilder *builder_age(const char *name, const SourceColumn *column);
extern LevelBuilder *builder_country(const char *name, const SourceColumn *column, char **words, int n);
extern LevelBuilder *builder_icd10(const char *name, const SourceColumn *column, char **words, int n);

/* population: a relation of codes and people, or InvalidOid: the list of a census. */
extern LevelBuilder *builder_zip3(const char *name, const SourceColumn *column, Oid population);

/* ---- for those ---- */

extern LevelBuilder *builder_create(const char *name, const SourceColumn *column, int n);

/* One whose levels are some of these words, the finest first; own is int[n], which ones. */
extern LevelBuilder *builder_of_words(const char *name, const SourceColumn *column, const char *const *known,
									  char **words, int n);

/* Raises unless the column holds texts. */
extern void builder_of_texts(const LevelBuilder *builder, const char *what);

/* Its levels are ranges of the column's values, unless there is no such type or it is a float. */
extern void builder_of_ranges(LevelBuilder *builder);

/* A range between two values of its subtype, NULL: without an end; up to the upper one, or with it. */
extern Datum builder_range(const LevelBuilder *builder, const Datum *low, const Datum *high, bool closed);

/* Raises that there is no such hierarchy for the column's type. */
pg_noreturn extern void builder_refuse(const char *what, const SourceColumn *column, const char *hint);

/* The text of a value, without the padding of a char.  Between plain_text_begin and _end. */
extern char *builder_text(const LevelBuilder *builder, Datum value);

#endif
