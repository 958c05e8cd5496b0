/*
 * hierarchy.h: hierarchies: reading and building them
 */
#ifndef KANON_HIERARCHY_H
#define KANON_HIERARCHY_H

#include "host/gate.h"
#include "rows/dictionary.h"
#include "host/border.h"
#include "rows/source.h"
#include "rows/row_types.h"

#include "utils/jsonb.h"
#include "utils/numeric.h"

/*
 * ---- builder.c: hierarchies that are worked out from the values that are there,
 * instead of being read from a relation: {"prefix": [3, 1]} and the like.
 */

/* Levels above the values and below suppression: symbols of a pattern, 1 to 9 and A to W. */
#define HIERARCHY_MAX_LEVELS 32

/* A builder's answer for a value that it does not know. */
#define BUILDER_UNKNOWN (-1)

struct TypeCacheEntry;

/* The rows or persons that have each value of a column; `least` of them make it one in which a range may end. */
typedef struct Holders
{
	int64 least;
	const int64 *rows;    /* [values] */
	const Size *first;    /* [values + 1] and of each from..to among these: */
	const uint32 *person; /* the persons who have it, each once; NULL: rows count */
	uint32 persons;       /* they are below this */
} Holders;

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
	const Holders *holders; /* of these values; NULL: no label is published, and any value may be in one */
	int64 least;            /* k as the builder's own arguments have it, or 0: the call's */

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

	/*
	 * The area of a value's node on each level, where a level's loss is its area and no number of values; returns as
	 * levels does.  NULL: it is not.
	 */
	int (*areas)(LevelBuilder *builder, Datum value, double *area);

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

/* sizes: "500 m", the finest first; show: "centre", "polygon", "code", "geohash", or NULL: the centre. */
extern LevelBuilder *builder_grid(const char *name, const SourceColumn *column, char **sizes, int n,
								  const char *show);

/* population: a relation of codes and people, or InvalidOid: the list of a census. */
extern LevelBuilder *builder_zip3(const char *name, const SourceColumn *column, Oid population);

/* ---- builder_cut.c: where ranges may end ---- */

typedef struct Cutter Cutter;

/* For sorted values, with the builder's holders. */
extern Cutter *cutter_create(const LevelBuilder *builder, const Dictionary *values);

/* An end above the value code - 1 and not above the value code, that may be shown; false: there is none. */
extern bool cutter_cut(Cutter *cutter, uint32 code, Datum *cut);

/* Does the column's type have values between others that can be named? */
extern bool cutter_may_cut_between(const Cutter *cutter);

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

/*
 * ---- hierarchy.c: how the values of a column generalize.  A relation says it, with the
 * value in the first column and levels 1, 2, … after it, one line per value; or a
 * builder works it out (hierarchy.h).
 */

/* A column's hierarchy as the caller names it. */
typedef struct HierarchyChoice
{
	Oid relation;          /* that is read: the hierarchy, or what a builder reads; or InvalidOid */
	LevelBuilder *builder; /* NULL: the relation has the lines */
	bool suppress;         /* values without a line are suppressed at every level */
} HierarchyChoice;

typedef struct Hierarchy
{
	HierarchyChoice from;
	char *name;           /* of a relation qualified, quoted; of a builder what it is called */
	int column;           /* index into source->qis */
	SourceColumn value;   /* the relation's first column */
	int nlevels;          /* until hierarchy_read: all of its other columns, one more than below at most */
	SourceColumn *levels; /* [nlevels] name, type, collation */
	Oid range;            /* the range type that all levels have, or InvalidOid: they are labels */

	/*
	 * After hierarchy_read nlevels is 0 .. HIERARCHY_MAX_LEVELS: a last level in
	 * which all lines of a relation agree is suppression itself and left out; a
	 * builder's levels stay.  Where none is left, range is InvalidOid.
	 */
	Dictionary **dictionary; /* [nlevels] the nodes above the column's values, sorted by dictionary_sort */
	uint32 **node;           /* [nlevels][distinct values of the column] what each code generalizes to */
} Hierarchy;

/* Only the relations that they name, for each of the columns, which are called `what`. */
extern HierarchyChoice *hierarchies_named(Jsonb *hierarchies, const SourceColumn *columns, int n,
										  const char *what);

/* Is anything named? */
extern bool hierarchy_chosen(const HierarchyChoice *choice);

/* One builder, {"prefix": [3, 1]}, by itself, of a column. */
extern HierarchyChoice hierarchy_choose(JsonbContainer *object, const SourceColumn *column);

/* The columns of a relation that has at least two, locked, with the caller's privileges checked. */
extern Source *hierarchy_columns(Oid relid);

/* The relation of that name, locked; raises when there is none, by WHAT it is to be. */
extern Oid relation_to_read(const char *what, const char *name);

/* The same of one choice. */
extern void hierarchy_open(Hierarchy *hierarchy, const HierarchyChoice *choice, const Source *source,
						   int column);

/* Its locks alone: for who opens it later, under a snapshot that has to be younger than they. */
extern void hierarchy_lock(const HierarchyChoice *choice);

/*
 * Reads or works out the lines for the values of the column, whose dictionary has
 * been filled and sorted (rowtypes_read), under the active snapshot.  A NULL without a line
 * is NULL at every level.  One error names the hierarchy, the kind of fault and
 * how often it occurs: invalid_parameter_value.  dictionary and node live in the
 * border's context.
 */
extern void hierarchy_read(Hierarchy *hierarchy, const RowTypes *types, Border *border);

/* Counts the holders of a column's codes, and says whether one has so few that no range may end in it unless the page says so. */
extern Holders *holders_find(const RowTypes *types, int column, int64 least, Border *border);
extern bool holders_are_few(const Holders *holders, uint32 code);

/* True if values of the column are found by their text, as plain_text_begin has it. */
extern bool hierarchy_matches_text(const Hierarchy *hierarchy, const SourceColumn *column);

/* How many rows have each code of a column. */
extern int64 *rows_of_codes(const RowTypes *types, int column, Border *border);

/* So many rows have k persons among them, whichever rows: one more than the k - 1 have who have the most.  Rows count: k. */
extern int64 rows_of_persons(const RowTypes *types, int64 k, Border *border);

/* Faults of the lines, the worst first. */
typedef enum HierarchyFaultKind
{
	HIERARCHY_MISSING,  /* values of the column without a line */
	HIERARCHY_PARENTS,  /* values whose lines differ in level 1 */
	HIERARCHY_UNNESTED, /* nodes of a level whose lines differ in the next one */
	HIERARCHY_UNEQUAL,  /* lines without a node at a level */
	HIERARCHY_OUTSIDE,  /* lines whose range does not hold the value */
	HIERARCHY_REPEATED, /* lines that are there twice: no error */
	HIERARCHY_UNUSED    /* lines of values that the column does not have: no error */
} HierarchyFaultKind;

#define HIERARCHY_HARMLESS HIERARCHY_REPEATED

/* Examples of a fault that are kept. */
#define HIERARCHY_EXAMPLES 10

typedef struct HierarchyFault
{
	HierarchyFaultKind kind;
	int level;   /* 1 .., or 0: of no level */
	int64 count; /* values, nodes or lines, as above */
	int64 rows;  /* rows of the source that it concerns */
	int nexamples;
	const char *examples[HIERARCHY_EXAMPLES]; /* their values or nodes, as text: nothing for a message */
} HierarchyFault;

/*
 * Reads the lines and lists every fault there is, by kind, then level.  rows: of
 * each code of the column (to count what a fault concerns).
 */
extern HierarchyFault *hierarchy_faults(const Hierarchy *hierarchy, const Source *source, const int64 *rows,
										Border *border, int *n);

/* SQL's name of a kind. */
extern const char *hierarchy_fault_name(HierarchyFaultKind kind);

/* The name of a count: "values of the column without a line". */
extern char *hierarchy_fault_text(const HierarchyFault *fault);

/*
 * ---- hierarchy_lines: all lines of a hierarchy in memory, for those who read and check
 * them: those of a relation, or what a builder makes of the column's values.
 */

typedef struct HierarchyLines
{
	const Hierarchy *hierarchy;
	const SourceColumn *column; /* whose values they are for */
	Border *border;
	Size charged;       /* bytes of the dictionaries, as counted so far */
	bool by_text;       /* values of the column are looked up by their text */
	int nlevels;        /* all level columns */
	Dictionary *values; /* all there are in the lines, sorted; the column's own of a builder */
	Dictionary *level[HIERARCHY_MAX_LEVELS + 1]; /* [nlevels] all nodes, sorted */
	bool topped;                                 /* the last level is suppression: all lines agree in it */
	uint32 n;
	Size room;
	uint32 *value;                          /* [n] */
	uint32 *node[HIERARCHY_MAX_LEVELS + 1]; /* [nlevels][n] */
	uint32 ncodes;
	uint32 *value_of; /* [ncodes] the value of a code of the column, or DICTIONARY_NONE */
	uint32 nvalues;
	uint32 *code_of; /* [nvalues] a code of the value, or DICTIONARY_NONE */
} HierarchyLines;

/*
 * hierarchy_read.c; rows: of each code of the column, or NULL.  fill: a line that ends
 * below the last level has its last node in the levels above, too.
 */
extern HierarchyLines *hierarchy_lines_read(const Hierarchy *hierarchy, const SourceColumn *column,
											const int64 *rows, bool fill, Border *border);
extern void hierarchy_lines_free(HierarchyLines *lines);

/* hierarchy_faults.c: raises if there is a fault that is an error. */
extern void hierarchy_lines_check(const HierarchyLines *lines);

extern void type_output(Oid type, FmgrInfo *function);

/* ---- hierarchy_read.c: a hierarchy as one tree, for t-closeness ---- */

/*
 * A hierarchy as a tree above the values of a column that has been read.
 * Errors: those of hierarchy_open and hierarchy_read.
 */
struct KanonTaxonomy;
extern struct KanonTaxonomy *taxonomy_read(const HierarchyChoice *choice, const RowTypes *types, int column,
										   Border *border);

#endif
