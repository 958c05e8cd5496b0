/*
 * kanon_pg.h: what the rooms of the PostgreSQL side have in common.
 *
 * The way of the data:
 *
 *   source_open -> rowtypes_read -> solve (core) -> target_write -> target_verify
 *
 * Errors are raised with ereport; memory is palloc'd in the caller's context
 * unless a comment says otherwise.
 */
#ifndef KANON_PG_H
#define KANON_PG_H

#include "postgres.h"

#include "fmgr.h"
#include "portability/instr_time.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"

#include "core/kanon.h"

/* ---- settings (kanon.c) ---- */
extern bool kanon_progress;  /* kanon.progress */
extern int kanon_max_memory; /* kanon.max_memory, kB; -1: from maintenance_work_mem */

/* Bytes that kanon's own state may take in this session. */
extern Size kanon_memory_limit(void);

/* ---- a column of the source ---- */
typedef struct Dictionary Dictionary;

/* How the cells of a published quasi-identifier look. */
typedef enum ShowAs
{
	SHOW_AS_VALUE, /* as in the source */
	SHOW_AS_TEXT,  /* values and labels of a hierarchy, as text */
	SHOW_AS_RANGE, /* a value is the range that holds only it */
	SHOW_AS_SET    /* an array; a value is the array of it alone */
} ShowAs;

typedef struct SourceColumn
{
	char *name;
	const char *quoted; /* as an identifier in SQL */
	Oid type;           /* as declared, domains included */
	int32 typmod;
	Oid collation;
	uint32 shape;      /* of composite types: host/gate.h */
	bool may_identify; /* a kept column whose values may be a row's own */
	bool numerical;    /* a quasi-identifier measured as a number */
	ShowAs show_as;
	Dictionary *dictionary;      /* quasi-identifiers: filled by rowtypes_read */
	struct Hierarchy *hierarchy; /* how its values generalize, or NULL */
} SourceColumn;

/*
 * Which columns of the problem the quasi-identifiers are: its own values, and
 * one more for each level of its hierarchy (KanonColumn says how).
 */
typedef struct Levels
{
	int nqis;
	int first[KANON_MAX_COLUMNS + 1]; /* its values; [nqis]: number of columns */
	int named[KANON_MAX_COLUMNS];     /* levels of its hierarchy; those without a column are suppression */
} Levels;

typedef struct Source
{
	Oid relid;  /* locked in ACCESS SHARE mode until the transaction ends */
	char *name; /* qualified and quoted */
	int nqis;
	int ngrouped;      /* >= nqis */
	SourceColumn *qis; /* [ngrouped] in the order in which they were named; from nqis on:
								 * columns that tell row types apart beside them */
	Levels levels;
	int nkept;
	SourceColumn *kept; /* [nkept] */
} Source;

/* read/source.c */

/*
 * Looks the columns up and locks the relation.  Errors: wrong_object_type,
 * undefined_column, invalid_column_reference (system columns), duplicate_column,
 * undefined_function (a quasi-identifier without equality), too_many_columns,
 * null_value_not_allowed.
 */
extern Source *source_open(Oid relid, ArrayType *qis, ArrayType *kept, ArrayType *categorical);

/* Only quasi-identifiers, from an argument of that name. */
extern Source *source_open_columns(Oid relid, ArrayType *columns, const char *argument);

/*
 * Other columns of a source that is open, which must have equality and be no
 * quasi-identifiers; `what` is what one is called: "a sensitive column".
 */
extern SourceColumn *source_columns(const Source *source, ArrayType *names, const char *argument,
									const char *what, int *n);

/* Raises if one GROUP BY cannot take all of these. */
extern void source_check_groupable(const SourceColumn *columns, int n);

/* host/catalog.c: questions to the system catalogs, with a search_path of their own */
extern int catalog_path_begin(void);
extern void catalog_path_end(int nest);

/* Around a query that groups by many columns. */
extern int grouping_begin(void);
extern void grouping_end(int nest);

/* Around output functions: dates in ISO form, in UTC, every digit of a float. */
extern int plain_text_begin(void);
extern void plain_text_end(int nest);

/* "schema.name" of a relation, quoted; NULL: it is gone. */
extern char *relation_name(Oid relid);

/* True if reading the one means reading the other (itself, views, partitions). */
extern bool relation_reads(Oid reader, Oid relid);

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

/* Names of a name[]; errors on NULL elements and on more than one dimension. */
extern char **name_array(ArrayType *array, const char *argument, int *n);

/* The other way: n names, shorter than NAMEDATALEN, as a name[]. */
extern ArrayType *name_list(const char *const *names, int n);

/* ---- the host's side of the core (host/border.c) ---- */
typedef struct Border
{
	KanonEnv env;
	MemoryContext context; /* everything of one run; deleted with the caller's */
	Size limit;            /* kanon_memory_limit() when the run began */
	Size used;             /* bytes the core holds */
	Size peak;             /* most it held */
	instr_time started;
	instr_time said; /* last progress notice */
} Border;

extern Border *border_create(const char *name);

/* Raises the error for a status that is not KANON_OK. */
extern void border_check(Border *border, KanonStatus status, const char *detail);

/* Says how far a phase is, at most every five seconds.  left: rows, or -1. */
extern void border_progress(Border *border, const char *phase, double share, int64 left);

/* Memory under the run's budget for the PostgreSQL side; raises when it is spent. */
extern void *border_palloc(Border *border, Size size);
extern void border_pfree(Border *border, void *ptr);

/* Counts memory that was taken elsewhere (a dictionary grew from..to bytes). */
extern void border_charge(Border *border, Size from, Size to);

/* ---- dictionaries (read/dictionary.c) ---- */
#define DICTIONARY_NONE PG_UINT32_MAX

/* The values of one column that are different under its equality, numbered. */
extern Dictionary *dictionary_create(MemoryContext parent, const SourceColumn *column);

/* The value's code; a value not seen yet gets the next one. */
extern uint32 dictionary_add(Dictionary *dictionary, Datum value, bool isnull);

/* The value's code, or DICTIONARY_NONE. */
extern uint32 dictionary_find(Dictionary *dictionary, Datum value, bool isnull);
extern uint32 dictionary_size(const Dictionary *dictionary);

/* The one spelling under which a code is published. */
extern Datum dictionary_value(const Dictionary *dictionary, uint32 code, bool *isnull);

/* NULL has a code: after dictionary_sort, the last. */
extern bool dictionary_has_null(const Dictionary *dictionary);

/* Equal values can be spelled differently (numeric 1.0 and 1.00). */
extern bool dictionary_has_spellings(const Dictionary *dictionary);

/*
 * Renumbers so that codes ascend in the type's order, NULL last; returns the
 * new code of each old one.
 */
extern uint32 *dictionary_sort(Dictionary *dictionary);

/* Per code the value as a double (NaN: NULL), for measures. */
extern double *dictionary_numbers(const Dictionary *dictionary);
extern Size dictionary_memory(const Dictionary *dictionary);
extern void dictionary_free(Dictionary *dictionary);

/* ---- row types (read/rowtypes.c) ---- */
typedef struct RowTypes
{
	Source *source;
	uint32 ntypes;
	int64 nrows;
	KanonColumn *grouped; /* [ngrouped] what was read; weights are 1 */
	KanonColumn *columns; /* the problem's (Levels): grouped itself when there are no hierarchies */
	int64 *rows;          /* [ntypes] */
} RowTypes;

/* Groups the source under the active snapshot. */
extern RowTypes *rowtypes_read(Source *source, Border *border);

/*
 * The same of a table that this transaction has written class by class, as it
 * stands now: faster than grouping, and right in any order of rows.  By further
 * columns than the quasi-identifiers it is grouped all the same: within a class
 * rows are in random order.
 */
extern RowTypes *rowtypes_read_written(Source *source, Border *border);

/* Finds the row type of a tuple of codes again. */
typedef struct TypeIndex TypeIndex;
extern TypeIndex *type_index_create(const RowTypes *types, Border *border);
extern uint32 type_index_find(const TypeIndex *index, const uint32 *codes); /* DICTIONARY_NONE: not there */

/*
 * read/taxonomy.c: a hierarchy relation as a tree above the values of a column
 * that has been read.  Errors: those of hierarchy_open and hierarchy_read.
 */
struct KanonTaxonomy;
extern struct KanonTaxonomy *taxonomy_read(Oid relid, const Source *source, int column, Border *border);

/* ---- target (write/) ---- */
typedef struct Target
{
	char *schema;
	char *name;
	char *qualified; /* both, quoted */
	Oid namespace;
	Oid relid;      /* of the table that is being filled */
	Oid replaced;   /* of the old table, or InvalidOid */
	char *building; /* qualified name while being filled */
	bool mark;      /* with KANON_MARK_COLUMN */
	bool numbered;  /* with KANON_TYPE_COLUMN and KANON_CLASS_COLUMN; never published */
} Target;

/* The column that says which pattern a row was published under. */
#define KANON_MARK_COLUMN "kanon_pattern"

/* The row's type and its class in the release, by number. */
#define KANON_TYPE_COLUMN "kanon_type"
#define KANON_CLASS_COLUMN "kanon_class"

/*
 * write/target.c: where a table or view of that name would be made: its name in
 * *namespace.  `what` it is called in errors: "target".
 */
extern char *relation_to_create(const char *name, const char *what, Oid *namespace);

/* Whoever would make it waits until this transaction is over. */
extern void lock_name(Oid namespace, const char *name);

/* Runs a statement that defines something, under the caller's search_path. */
extern void run_utility(const char *sql);

/* Takes away what default privileges gave others on a new relation. */
extern void keep_private(Oid relid);

/* Checks the name (nothing is made yet). */
extern Target *target_resolve(const char *name, const Source *source, bool replace, bool mark);
extern void target_create(Target *target, const Source *source);

/* A quasi-identifier's type, typmod and collation become those that the target has. */
extern void target_column(SourceColumn *column);

/* Raises if replacing a table (InvalidOid: none) would drop what a relation beside the source reads. */
extern void target_spare(Oid replaced, const char *name, Oid read, const char *read_name);

/* Exactly the columns that were listed, as they were made, and nothing beside. */
extern bool target_is_plain(Relation rel, const Target *target, const Source *source);

/* Puts the new table in the old one's place, with its owner and grants. */
extern void target_install(Target *target, const Source *source);

/* write/write.c: the release's rows; returns how many were written. */
extern int64 target_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
						  const KanonRelease *release, Border *border);

/* write/verify.c */

/* Raises that the written table is not as promised; nothing is published then. */
pg_noreturn extern void raise_unsafe(const char *detail);

/* The release as it stands in the target; raises if a rule is broken. */
extern void target_verify(const Target *target, const Source *source, const KanonProblem *problem,
						  int64 expected_rows, Border *border);

/* The same of a freeform release: the target has the records whose graph was checked. */
extern void target_verify_freeform(const Target *target, const Source *source, const KanonProblem *problem,
								   const KanonRelease *release, int64 expected_rows, Border *border);

/*
 * write/classify.c: Iyengar's classification metric of the target as it stands:
 * the share of the source's rows that are not of their class's most frequent
 * value in the (kept) column, or are fully suppressed or left out.
 */
extern double target_classification(const Target *target, const Source *source, const SourceColumn *column,
									int64 dropped);

/* ---- the record of runs (run/record.c) ---- */
typedef struct RunRecord
{
	TimestampTz started_at;
	const char *source;
	const char *target;
	const char *method;
	int64 row_count;
	int64 patterns;                     /* -1: not counted */
	Size peak_memory;                   /* bytes of kanon's own state, at most */
	double classification;              /* Iyengar's metric; NaN: no class column was named */
	Datum options;                      /* jsonb of recorded_options */
	const KanonColumnMeasures *columns; /* [nqis] */
	double read_ms;
	double solve_ms;
	double write_ms;
	double verify_ms;
} RunRecord;

/*
 * What each class shows, before anything is written: it may be more than a record
 * can hold.  Returns the number of the run, whose other rows follow when all is done.
 */
extern int64 run_record_classes(Oid schema, const RowTypes *types, const KanonProblem *problem,
								const KanonRelease *release, const double *tuple_diversity);
extern void run_record(Oid schema, int64 run, const RunRecord *record, const RowTypes *types,
					   const KanonProblem *problem, const KanonRelease *release, const KanonReport *report,
					   const KanonMeasures *measures);

/*
 * The same of a run over sets of items, whose measures are a JSON object; source: the
 * columns that were kept.
 */
extern int64 run_record_sets(Oid schema, const RunRecord *record, const Source *source, int64 k,
							 const KanonReport *report, double ncp, int64 suppressed, Datum transactions);

/* {"name": value, ...} for the record.  Only what never holds data values may be given (names are none). */
typedef struct RecordedOption
{
	const char *name;
	Oid type;
	Datum value;
} RecordedOption;

extern Datum recorded_options(const RecordedOption *options, int n);

/*
 * {"column": what it shows, ...} of a class, without the columns that show
 * nothing; made as the caller.  pool: the release's.
 */
typedef struct ShownJson ShownJson;
extern ShownJson *shown_json_open(const Source *source);
extern Datum shown_json(ShownJson *json, const KanonCell *cells, const uint32 *pool);

/* How far the cost may be above the optimum, as a share of the bound. */
extern double report_gap(const KanonReport *report);

/* host/excerpt.c: the text as a message can repeat it: its beginning, when it is long. */
extern const char *excerpt(const char *text);

/* ---- patterns as text (read/patterns.c) ---- */

/* Without hierarchies: each quasi-identifier is one column. */
extern Levels no_levels(int nqis);

/*
 * Symbols of a pattern, one per quasi-identifier ("-2*": kept, at level 2,
 * suppressed), palloc'd.
 */
extern char *pattern_text(KanonPattern pattern, const Levels *levels);

/* The same of a class; '~' where it shows a range or a set. */
extern char *class_text(const KanonRelease *release, uint32 class_, const Levels *levels);

/* How many quasi-identifiers a pattern suppresses whole; and a class, which may show ranges and sets. */
extern int pattern_suppressed(KanonPattern pattern, const Levels *levels);
extern int class_suppressed(const KanonRelease *release, uint32 class_, const Levels *levels);

/* Does a class (its cells, all columns of the problem) show nothing in a quasi-identifier? */
extern bool shows_nothing(const Levels *levels, int qi, const KanonCell *cells);

#endif
