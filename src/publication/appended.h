/*
 * appended.h: publications that append: rows that only come are published once, batch by batch.
 *
 * A batch is a release of the new rows alone: a run of its own, whose table becomes a partition of one table that
 * the view reads.  Private tables say up to where batches go (marks), which rows were shown (shown), and which ones
 * wait for a batch (waiting).  They change in the transaction that shows the batch.
 */
#ifndef KANON_APPENDED_H
#define KANON_APPENDED_H

#include "publication/publication_rows.h"
#include "rows/source.h"

/* The column of the partitioned table that has the number of a row's batch. */
#define KANON_BATCH_COLUMN "kanon_batch"

/* Columns of private tables, and of the rows of a batch that is made. */
#define BATCH_ID "kanon__id"           /* by which a row is known: its key, or a keyed hash of that */
#define BATCH_CONTENT "kanon__content" /* a keyed hash of all columns that the publication uses */
#define BATCH_SINCE "kanon__since"     /* the release for which it might have come; NULL: this one */
#define BATCH_LATE "kanon__late"       /* its range was shown before it came */
#define BATCH_RELEASE "kanon_release"
#define BATCH_ROWS "kanon__rows"   /* so many rows the batch has */
#define BATCH_MARK "kanon__mark"   /* a batch has the rows up to this one, */
#define BATCH_UNTIL "kanon__until" /* of those up to there that were there */

typedef struct Batch
{
	KanonPublication *publication;
	Release *release;
	const BatchOptions *options;
	Source *source; /* all columns of the source's view, as kept ones */
	const char *key;
	Oid type;            /* of the key, below domains */
	char *typed;         /* its name */
	char *id, *content;  /* of a row "s" of the source, in SQL */
	int64 before;        /* the last release that has a mark; 0: none */
	char *now;           /* the private table of the rows to show; NULL: not made */
	int64 rows, persons; /* in it */
	int64 taken;         /* rows that were new, or waited and were not late */
} Batch;

/* ---- appended.c ---- */

extern void appended_read(KanonPublication *publication, const Row *row);
extern void appended_store(const KanonPublication *publication, Parameters *parameters);

/* Raises what a definition that appends cannot have; and, of any other, what only such a one can. */
extern void appended_check(const KanonPublication *publication);

/* Tells what readers find out about persons whose nights they know. */
extern void appended_tell(const KanonPublication *publication, bool joined);

/* Options that were arguments of the call join the others. */
extern Jsonb *appended_options(Jsonb *options, FunctionCallInfo fcinfo, int first);

/* Finds out how rows come by the column, and makes the private tables. */
extern void appended_create(KanonPublication *publication, const char *name, Oid namespace);

/* The private tables and the partitioned one, as far as they are there: all are the owner's. */
extern List *appended_tables(const KanonPublication *publication);

/* Nobody but the owner has made them, or put triggers on them. */
extern void appended_trust(const KanonPublication *publication);

/* The batch is a partition now; the first one is shown. */
extern void appended_attach(KanonPublication *publication, Release *release);

/* Drops batches that are older than the definition wants; the newest stays. */
extern void appended_expire(const KanonPublication *publication, List *releases);

/*
 * All batches and what is known of them are forgotten: the next one has all rows.  Readers go on with what was shown
 * until that is there; then what was goes, and so do its releases: those that are left.
 */
extern Oid appended_forget(KanonPublication *publication);
extern List *appended_drop_before(const KanonPublication *publication, Oid before, List *releases);

/* Only publications that append are asked for more than the next release. */
extern void appended_ask(KanonPublication *publication, bool anew, bool publish_late, bool recount);

/* Counts of a refresh that made no batch; and those of a recount, which stand until the next. */
extern void appended_take_counts(Release *release, const Release *from);
extern void appended_take_recount(Release *release, const Release *from);

/* ---- appended_release.c ---- */

/* The next batch, or that there is none: its status is that of the release before then. */
extern void appended_make(KanonPublication *publication, Release *release, List *releases);

/* ---- appended_range.c: a range into which nobody can commit any more ---- */

/* Sets the mark of the next batch. */
extern void range_find(Batch *batch);

/* The same mark is not set after all. */
extern void range_forget(const Batch *batch);

/* Rows are left behind the mark. */
extern bool range_is_cut(const Batch *batch);

/* "s.key > ... AND s.key <= ...", between the marks of two releases; 0: without a beginning. */
extern char *range_condition(const Batch *batch, const char *column, int64 after, int64 until);

/* ---- appended_rows.c: rows that are new, wait, were shown, or have changed since ---- */

extern void rows_open(Batch *batch);

/* Fills batch->now. */
extern void rows_take(Batch *batch);

/* Those of batch->now are shown. */
extern void rows_note(const Batch *batch);

/* Looks behind the last marks, or everywhere if it is asked to; fills the release's counts. */
extern void rows_look_behind(const Batch *batch);
extern void rows_count(const Batch *batch);

#endif
