/*
 * source.h: which relation, which columns, in which roles
 */
#ifndef KANON_SOURCE_H
#define KANON_SOURCE_H

#include "host/gate.h"
#include "hierarchies/levels.h"

#include "nodes/pg_list.h"
#include "utils/array.h"
#include "postgres.h"
#include "access/attnum.h"

/* ---- source.c: which relation, which columns, and whether they can be grouped ---- */

typedef struct Source
{
	Oid relid;  /* locked in ACCESS SHARE mode until the transaction ends */
	char *name; /* qualified and quoted */
	int nqis;
	int ngrouped; /* >= nqis */
	/* [ngrouped] in the order in which they were named; from nqis on: columns that tell row types apart beside them */
	SourceColumn *qis;
	Levels levels;
	int64 k; /* rows, or persons, that a value needs before a label may show it; 0: no label is published */
	int persons; /* which of the grouped ones tells persons apart, whom k counts; 0: rows count */
	int nkept;
	SourceColumn *kept;  /* [nkept] */
	struct Masks *masks; /* of kept columns, or NULL */
	/* what is found of kept columns while they are written (verify.h), or NULL: not looked for */
	struct KeptTold *told;
	List *beside;    /* OIDs of what else is read: hierarchies, populations */
	Oid staged_from; /* while its rows are set aside (distributed.h): itself, or InvalidOid */
	char *staged_name;
	int64 staged_rows;
	char *functions; /* the schema, quoted, in which workers have kanon's functions, or NULL */
	/* without their row types, but for a hash of them under that seed (distributed.h) */
	bool staged_packed;
	int64 staged_seed;
	char *staged_seed_sql; /* what queries on workers say for it */
	/* rows are read once, to be grouped here; what is kept of them waits until they are written: */
	bool once;
	int nwaiting;   /* the first of the kept columns, a key behind them among them */
	bool scattered; /* a table whose equal rows do not lie together, though it was written class by class */
	const struct ShardSample *sample; /* of such a table, counted beside its rows (distributed.h); or NULL */
	bool kept_unseen; /* workers wrote what is kept: whether it identifies is to be seen in the target */
	struct TellsLook *tells; /* what it tells is to be judged with the target; or NULL */
	Oid redefined;           /* a view that will be defined anew, so that it may depend on an old target */
} Source;

/*
 * Looks the columns up and locks the relation.  Errors: wrong_object_type,
 * undefined_column, invalid_column_reference (system columns), duplicate_column,
 * undefined_function (a quasi-identifier without equality), too_many_columns,
 * null_value_not_allowed.
 */
extern Source *source_open(Oid relid, ArrayType *qis, ArrayType *kept, ArrayType *categorical);

/* The same of rows that hang on persons, which may have no quasi-identifier. */
extern Source *source_open_rows(Oid relid, ArrayType *qis, ArrayType *kept, ArrayType *categorical);

/* Only quasi-identifiers, from an argument of that name. */
extern Source *source_open_columns(Oid relid, ArrayType *columns, const char *argument);

/* The same of quasi-identifiers and what was kept beside them: of these there may be more. */
extern Source *source_open_beside(Oid relid, ArrayType *columns, const char *argument);

/* Only quasi-identifiers; who may not read them is told what is missing of these others, too, that will be read. */
extern Source *source_open_with(Oid relid, ArrayType *columns, const char *argument, ArrayType *also);

/* None; source_columns finds them one by one. */
extern Source *source_open_bare(Oid relid);

/* Those of an argument `columns`, as if they were to be kept. */
extern Source *source_open_kept(Oid relid, ArrayType *columns);

/* Rows are read from another relation that has the same columns, a private copy; of kept ones with these names it has numbers. */
extern void source_read_instead(Source *source, Oid relid, List *numbers);

/* All columns, as if they were to be kept. */
extern Source *source_open_all(Oid relid);

/*
 * Other columns of a source that is open, which must have equality and be no
 * quasi-identifiers; `what` is the word for one of them: "a sensitive column".
 */
extern SourceColumn *source_columns(const Source *source, ArrayType *names, const char *argument,
									const char *what, int *n);

/*
 * Such a column tells row types apart from now on; its place among the grouped ones.
 * Pointers into source->qis end.
 */
extern int source_group_by(Source *source, const SourceColumn *column);

/* Raises if one GROUP BY cannot take all of these. */
extern void source_check_groupable(const SourceColumn *columns, int n);

/*
 * Locks all that reading the source locks (the tables under a view, partitions)
 * and checks the caller's privileges, reading nothing.  A snapshot taken after
 * this cannot miss the rows of a load that truncated first.
 */
extern void source_lock(const Source *source);

/* Such a snapshot becomes the active one, for all reads until PopActiveSnapshot. */
extern void source_snapshot(const Source *source);

/* "a, b, c" of some columns, quoted. */
extern char *column_list(const SourceColumn *columns, int n);

/*
 * The text of a value, in a query: that of the type's own output function, for who owns a type
 * can make a function of theirs the cast to text.  Types of pg_catalog have no such owner.
 */
extern char *text_expression(const char *value, Oid type);

/* That a row has NULL in all of them; mostly the first column says no. */
extern char *blank_condition(const SourceColumn *columns, int n);

/* Names of a name[]; errors on NULL elements and on more than one dimension. */
extern char **name_array(ArrayType *array, const char *argument, int *n);

/* The other way: n names, shorter than NAMEDATALEN, as a name[]. */
extern ArrayType *name_list(const char *const *names, int n);

/* ---- column_labels.c: roles of columns, and what the name of one says of its role ---- */

typedef enum ColumnRole
{
	ROLE_NONE,
	ROLE_IDENTIFIER,
	ROLE_QUASI_IDENTIFIER,
	ROLE_SENSITIVE,
	ROLE_HARMLESS
} ColumnRole;

extern const char *role_name(ColumnRole role);

/* The meaning of kanon's label of such a column. */
extern const char *role_label(ColumnRole role);

/* The facts about a column's values, beside its name. */
typedef struct ColumnValues
{
	double distinct;
	bool few;    /* few rows share a value */
	bool coarse; /* each value is that of many rows, or the type has few */
	bool flag;   /* two values: yes and no */
	bool texts;  /* the type has texts, which can be names */
} ColumnValues;

/* So few rows a value, on the average, are a person's: in so many rows or more that is looked at. */
#define FEW_ROWS_A_VALUE 5
#define FEW_FROM 100

extern bool values_are_few(double rows, double distinct);

/* The role that a column's name suggests, or ROLE_NONE. */
extern ColumnRole role_by_name(const char *name, const ColumnValues *values, const char **why);

/* ---- origins.c: the columns that a column is made of, below views and in children ---- */

/* Which columns are origins of a column; each includes those before it. */
typedef enum OriginKind
{
	ORIGINS_WORDED, /* those whose labels and comments speak for it: of which it is a plain copy below views */
	ORIGINS_COPIED,   /* of which it is a copy: in inheriting tables and partitions, too */
	ORIGINS_COMPUTED, /* from which it is computed, but for yes or no and for counts */
	ORIGINS_ALL       /* those that a yes or no depends on, too */
} OriginKind;

/* The finding at a column; ORIGIN_SETTLED: nothing, and the columns below are not asked. */
typedef enum OriginFound
{
	ORIGIN_BELOW,
	ORIGIN_SETTLED,
	ORIGIN_HERE
} OriginFound;

typedef OriginFound (*OriginTest)(Oid relid, AttrNumber attnum, void *arg);

/*
 * Shows a column to `test` and, until that finds something, each of its origins: below views and
 * materialized views, in each branch of a union, by sub-queries, CTEs and functions in FROM, and by
 * generated columns.  Columns in conditions (WHERE, ON) and windows are no origins.  Nobody's
 * function runs.  True: found.
 */
extern bool column_origins(Oid relid, AttrNumber attnum, OriginKind kind, OriginTest test, void *arg);

/* ---- column_labels.c: the roles of columns, written next to them with SECURITY LABEL ---- */

typedef struct LabelledRole
{
	bool quasi_identifier;
	bool sensitive;
	bool keep;
	bool identifier;
	double weight; /* NaN: none */
} LabelledRole;

/* kanon as a provider of labels: only writing one needs it. */
extern void labels_register(void);

/* The role of a relation's column, by labels of kanon's and of PostgreSQL Anonymizer's k_anonymity. */
extern LabelledRole label_role(Oid relid, AttrNumber attnum);

/* Is it, or what it stands for below a view or in a child, labelled as an identifier? */
extern bool label_identifies(Oid relid, AttrNumber attnum);

/* Has somebody said what it is: a quasi-identifier, sensitive, or to keep? */
extern bool label_settles(Oid relid, AttrNumber attnum);

/* The same, here or below a view. */
extern bool label_answers(Oid relid, AttrNumber attnum);

/*
 * Raises check_violation if one of these columns, or what it stands for below a view or in a child,
 * is labelled as an identifier and may not be one; of kept columns: or is computed from one.
 */
extern void labels_refuse_identifiers(Oid relid, const SourceColumn *columns, int n, bool kept);

#endif
