/*
 * target.h: from a release to its table
 */
#ifndef KANON_TARGET_H
#define KANON_TARGET_H

#include "distributed/citus.h"
#include "rows/source.h"
#include "host/border.h"
#include "compat.h"
#include "rows/row_types.h"

#include "utils/relcache.h"
#include "postgres.h"
#include "executor/tuptable.h"
#include "utils/tuplesort.h"
#include "access/tupdesc.h"

/* ---- target.c: the target's name and columns, and how it takes an older table's place ---- */

typedef struct Target
{
	char *schema;
	char *name;
	char *qualified; /* both, quoted */
	Oid namespace;
	Oid relid;      /* of the table that is being filled */
	Oid replaced;   /* of the old table, or InvalidOid */
	char *building; /* qualified name while being filled */
	TableKind kind; /* what it will be when it is written */
	bool mark;      /* with KANON_MARK_COLUMN */
	bool numbered;  /* with KANON_TYPE_COLUMN and KANON_CLASS_COLUMN; never published */
	int beside;     /* the last so many of the kept columns are not published either */

	struct Company *company; /* of a publication that knows which row was where; or NULL */

	/* Gets each row that is written, with its class and the last kept column, which is not written then; NULL: nobody does. */
	void (*taker)(void *arg, uint32 class_, const struct TupleTableSlot *row, Datum last, bool isnull);
	void *taker_arg;

	/* A kept column that rows of some types do not show. */
	const bool *hides; /* [types]; NULL: there is none */
	int hidden;        /* its place */
} Target;

/* The column that says which pattern a row was published under. */
#define KANON_MARK_COLUMN "kanon_pattern"

/* kanon's own columns in private tables begin so, and none of a publication's source that is used does. */
#define KANON_OWN_NAMES "kanon__"

/* Raises for columns that a publication uses, named by that argument, and that are called so. */
extern void refuse_own_names(ArrayType *columns, const char *argument);

/* The row's type and its class in the release, by number. */
#define KANON_TYPE_COLUMN "kanon__type"
#define KANON_CLASS_COLUMN "kanon__class"

/*
 * The last column of a distributed target, after which rows go to workers: a random
 * number, as nothing of a person may say where a row is.
 */
#define KANON_SHARD_COLUMN "kanon_shard"

/*
 * Where a table or view of that name would be made: its name in
 * *namespace.  `what` it is called in errors: "target".
 */
extern char *relation_to_create(const char *name, const char *what, Oid *namespace);

/* Locks a name: a session that would make a relation of it waits until this transaction is over. */
extern void lock_name(Oid namespace, const char *name);

/* Runs a statement that defines something, under the caller's search_path. */
extern void run_utility(const char *sql);

/* Runs what a query of the catalogs writes, $1 and $2: statements, one a row, with all names qualified. */
extern void run_statements(const char *query, Oid old, Oid new);

/* Takes away what default privileges gave others on a relation. */
extern void keep_private(Oid relid);

/*
 * The same of a table of persons, or of what says how many there are: no autovacuum writes the number of
 * its rows into pg_class, which everybody may read.
 */
extern void keep_uncounted(Oid relid);

/* Takes away counts of rows that came all the same: of a restored dump, say. */
extern void forget_counts(Oid relid);

/* The same for relations that readers may read. */
extern void keep_readable(Oid relid);

/* Checks the name (nothing is made yet). */
extern Target *target_resolve(const char *name, const Source *source, bool replace, bool mark);
extern void target_create(Target *target, const Source *source);

/* Rows of these types show NULL in the kept column. */
extern void target_hide(Target *target, const Source *source, const char *column, const bool *types);

/* The target becomes a table of its kind, or a NOTICE says why it stays one of this server. */
extern void target_distribute(Target *target);

/* Readers of a view may read the table below it: on workers a view gives nobody its owner's rights. */
extern void target_share(Oid view, Oid relid);

/* A quasi-identifier's type, typmod and collation become those that the target has. */
extern void target_column(SourceColumn *column);

/* Raises if replacing a table (InvalidOid: none) would drop what a relation beside the source reads. */
extern void target_spare(Oid replaced, const char *name, Oid read);

/*
 * To be written into; raises T_R_SERIALIZATION_FAILURE if it has been dropped, renamed or
 * moved since it was created, as functions of a source can do.
 */
extern Relation target_open(const Target *target);

/* Exactly the columns that were listed, as they were made, and nothing beside. */
extern bool target_is_plain(Relation rel, const Target *target, const Source *source);

/* Puts the new table in the old one's place, with its owner and grants. */
extern void target_install(Target *target, const Source *source);

/* ---- bulk.c: rows into a new table, many at a time ---- */

typedef struct BulkWriter BulkWriter;

extern BulkWriter *bulk_begin(Relation rel); /* stays the caller's to close */

/* Tells how far the writing is, after each batch: of ALL rows so many were written BEFORE. */
extern void bulk_tell(BulkWriter *writer, Border *border, int64 before, int64 all);

/* No row was put yet. */
extern bool bulk_empty(const BulkWriter *writer);

/* The slot to fill next: set tts_values and tts_isnull of every column, then put. */
extern TupleTableSlot *bulk_slot(BulkWriter *writer);

/* Takes the slot filled last; its values are copied. */
extern void bulk_put(BulkWriter *writer);

/* A GateReceive: puts a row that has the table's columns; arg is the writer. */
extern bool bulk_receive(void *arg, TupleTableSlot *slot);

/* The row before once more, which costs less; false: it has gone to the table. */
extern bool bulk_repeat(BulkWriter *writer);

/* Rows written in all. */
extern int64 bulk_end(BulkWriter *writer);

/*
 * ---- bulk.c: what would be told of kept columns of rows that wait, and nothing is written ----
 *
 * keyed: the last kept column says whom rows are about.
 */
extern void target_rehearse(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release,
							bool keyed, Border *border);

/* ---- write.c: the release becomes rows ---- */

/* The release's rows; returns how many were written. */
extern int64 target_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
						  const KanonRelease *release, Border *border);

/*
 * The same of a release of which some classes are at hand at a time.  problem and release stay where they
 * are, and are those of the classes at hand when these are written; `total` rows will be.
 */
typedef struct Writer Writer;

/* The next row of a class, with what it keeps; false: there is none. */
typedef bool (*NextRow)(void *arg, uint32 class_, const Datum **kept, const bool **nulls);

extern Writer *target_write_begin(const Target *target, const RowTypes *types, const KanonProblem *problem,
								  const KanonRelease *release, int64 total, Border *border);

/* next: NULL without kept columns. */
extern void target_write_classes(Writer *writer, NextRow next, void *arg);
extern int64 target_write_end(Writer *writer);

/* The source is another when it is read again. */
pg_noreturn extern void raise_source_changed(void);

/* ---- column_labels.c: what a published table says of itself and its columns ---- */

/* A table's comment that begins so is kanon's, and may be renewed; any other stays. */
#define COMMENT_PREFIX "kanon: "

/* A relation's comment (attnum 0), or a column's; NULL: none. */
extern char *comment_of(Oid relid, AttrNumber attnum);

/* Sets it; the caller has made or owns the relation. */
extern void comment_set(Oid relid, AttrNumber attnum, const char *text);

/* The comment of a relation, unless somebody has written another. */
extern void comment_renew(Oid relid, const char *text);

/* Comments of a table that is replaced stay: somebody may have written them. */
extern void comments_take_over(Oid old, Oid new);

/*
 * The column comments on quasi-identifiers in the target, by the names of their levels, after
 * those of the source.
 */
extern void comments_columns(const Target *target, const Source *source);

/*
 * The target's comment, and the comments of the source's columns, below views, too,
 * where it has none of its own.
 */
extern void comments_write(const Target *target, const Source *source, const char *text);

/*
 * ---- published_rows.c: a published table as a release: what its cells show, in the codes of
 * the source's values.
 */

/* No value of the source: what a cell shows that shows none of them. */
#define WRITTEN_NOTHING_OF_IT 0x1fffffff

/*
 * How the target shows a column: as a range or a set of the source's values, as they are, or,
 * where the source has been opened with hierarchies, as their levels.  Raises datatype_mismatch.
 */
extern void written_match(SourceColumn *column, const SourceColumn *shown);

/*
 * The row types of a published table (its first nqis columns, and then the mark if
 * `mark`) as classes with cells and rows.  The source has been read.  Without the
 * mark, NULL shows nothing, whether it was NULL in the source or not; with it a
 * NULL that is not suppressed is the source's.
 */
extern KanonRelease *written_release(const Source *source, const RowTypes *types, bool mark, Border *border);

/* A release as that sees it: its cells, one for each quasi-identifier, and its pool. */
extern KanonRelease written_promise(const KanonRelease *release, const Source *source,
									const KanonProblem *problem, bool mark, Border *border);

/* ---- class_sizes.c: how well the target predicts a kept column ---- */

/*
 * Iyengar's classification metric of the target as it stands:
 * the share of the source's rows that are not of their class's most frequent
 * value in the (kept) column, or are fully suppressed or left out.
 */
extern double target_classification(const Target *target, const Source *source, const SourceColumn *column,
									int64 dropped);

/* ---- row_spool.c: rows set aside as they are read, to come out in random order ---- */

typedef struct Shuffle
{
	Tuplesortstate *sort; /* of (random bigint, number, columns) */
	TupleDesc desc;
	TupleTableSlot *put;
	TupleTableSlot *got;
	RandomPool random;
} Shuffle;

/* The columns of a row are those of desc from `first` (0: the first) on. */
extern Shuffle *shuffle_begin(TupleDesc desc, int first);

/* The numbers below n, alone and sorted. */
extern Shuffle *shuffle_numbers(int64 n);

/* A row, with a number that its owner knows it by. */
extern void shuffle_put(Shuffle *shuffle, int64 number, const Datum *values, const bool *nulls);

/* No more rows are put. */
extern void shuffle_sort(Shuffle *shuffle);

/* The next row, until the one after it; false: there is none. */
extern bool shuffle_next(Shuffle *shuffle, int64 *number, const Datum **values, const bool **nulls);
extern void shuffle_end(Shuffle *shuffle);

/*
 * ---- row_spool.c: rows that are read once: they wait, with the number of their row type, until it is known
 * what becomes of them.
 */

typedef struct Waiting Waiting;

/* A row's columns are those of desc from `first` (0: the first) on. */
extern Waiting *waiting_begin(TupleDesc desc, int first);
extern void waiting_put(Waiting *waiting, uint32 type, const Datum *values, const bool *nulls);

/* The new numbers of the rows; it stays the caller's. */
extern void waiting_renumber(Waiting *waiting, const uint32 *number);

/* The next row, until the one after it, as they came; false: there is none. */
extern bool waiting_next(Waiting *waiting, uint32 *type, const Datum **values, const bool **nulls);
extern void waiting_end(Waiting *waiting);

/*
 * ---- row_split.c: which rows of a row type are in which of its classes, from one release of a publication to the next.
 *
 * Rows of a type differ in their kept values alone.  Under the publication's secret each has a hash
 * of that and, with a key, one of whose it is.  Rows that could go elsewhere than others of their
 * type leave these with their class, so that in the next release each finds the class that it was
 * in.
 */

/* No class of the release before. */
#define NO_CLASS_BEFORE PG_UINT32_MAX

/* A row as it is known again: whose it is does not count without a key. */
typedef struct RowMark
{
	uint64 row;
	uint64 key;
} RowMark;

/* A row that was there: of a row type of this release, in a class of the one before. */
typedef struct RowBefore
{
	RowMark mark;
	uint32 type;
	uint32 class_;
	bool met;       /* it is there still */
	uint32 skip[2]; /* of the first of those that are alike: so many of these have been met; by row, by key */
} RowBefore;

typedef struct Company Company;

struct Company
{
	Border *border;
	MemoryContext scratch; /* values while they are hashed */
	uint64 seeds[3];       /* of rows, of keys, of who is drawn where */
	bool keyed;
	int person; /* place of the kept column that alone tells rows apart; -1: all of them do */

	/* of the release before */
	RowBefore *rows; /* [n] by type and row */
	uint32 *by_key;  /* [n] places among them by type and key; NULL without a key */
	Size n, room;
	const uint32 *was;    /* [types of this one] a type's number among rows; NULL: its own */
	const uint32 *became; /* [its classes] the class in this one, or KANON_DROPPED */
	uint32 nclasses;
	const KanonPattern *pattern; /* [nclasses] of the release before */
	KanonFlow
		*dropped; /* [ndropped] rows that were in its classes and are in none now: they come back together */
	Size ndropped;

	/* what the next release finds, or NULL */
	void (*note)(void *arg, uint32 type, uint32 class_, const RowMark *mark);
	void *arg;
};

/*
 * Nobody is known yet.  keyed: the last of the columns behind those that are kept says whose a row is.  person: the kept column
 * that alone says which row it is, or -1.
 */
extern Company *company_create(const bytea *secret, bool keyed, int person, Border *border);

/* The marks of a row: of so many columns that it keeps, and of the key behind them. */
extern RowMark company_mark(const Company *company, TupleDesc desc, int first, int nkept, const Datum *values,
							const bool *nulls);

extern void company_add(Company *company, const RowMark *mark, uint32 type, uint32 class_);

/* After the last of them; and before they are met again. */
extern void company_begin(Company *company);

/* Finds a row that was there; what changed is found by its key, when all others of its type were met. */
extern RowBefore *company_meet_row(Company *company, uint32 type, const RowMark *mark);
extern RowBefore *company_meet_key(Company *company, uint32 type, const RowMark *mark);

/* By which a row that was not there is drawn: of nobody else's row it says anything. */
extern uint64 company_draw(const Company *company, const RowMark *mark);

/*
 * ---- row_split.c: rows of a row type that goes to several classes or records: which row
 * goes where.
 *
 * A release says how many rows of a type go to each class; which ones, rows that
 * differ in kept values alone, is drawn here.  To who knows not both the seed and
 * all these rows, every way of dealing them out is as likely as any other; and the
 * same rows with the same seed are dealt out alike, in whatever order they come.
 *
 * In a publication each row is drawn by itself, under its secret, and finds the class
 * that it was in before (target.h): another row's change is no reason to go elsewhere.
 */

typedef struct Split Split;

/* How one row is dealt out. */
typedef struct Deal
{
	uint64 random;
	uint32 before; /* the class of the release before that it was in, or NO_CLASS_BEFORE */
	RowMark mark;  /* with a company */
} Deal;

typedef void (*SplitDeal)(void *arg, uint32 type, const Deal *deal, const Datum *kept, const bool *nulls);

/* The kept columns are attributes first + 1 .. first + nkept of desc.  company: NULL, or that of a publication. */
extern Split *split_begin(TupleDesc desc, int first, int nkept, uint64 seed, Company *company);

extern void split_put(Split *split, uint32 type, const Datum *kept, const bool *nulls);

/* Deals out all the rows, and ends. */
extern void split_end(Split *split, SplitDeal deal, void *arg);

/*
 * The flow that takes a row, among those of its type, `first` to before `end`: the one to the class that it was in before, or else
 * each row that is left is as likely as any other.
 */
extern size_t deal_flow(const KanonRelease *release, const int64 *left, size_t first, size_t end,
						const Company *company, const Deal *deal);

#endif
