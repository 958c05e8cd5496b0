/*
 * successive.h: publications with a key: what successive releases have in common
 */
#ifndef KANON_SUCCESSIVE_H
#define KANON_SUCCESSIVE_H

#include "run/run.h"

#include "utils/snapshot.h"

/*
 * ---- successive.c: what a run does about the persons that its key tells apart, and the
 * releases before.
 */

/*
 * Where persons have several rows by the key, k and the rules count persons from here on: one person with ten
 * rows is no class of ten.  Unless the caller says count_rows, or has said whom to count.
 */
extern void successive_count_persons(Run *run);

/* The same, and nobody's history is that of too few; false: others are held back now, and what was made is gone. */
extern bool successive_protect(Run *run);

/* Tells of the rows and their key what is told while they are written. */
extern void successive_rehearse(const Run *run);

/* Before the target is written: notes who is in which class. */
extern void successive_settle(Run *run);

/*
 * Rows with a key are staged before they are written: where histories are counted first, or the target is distributed.  Else
 * they go to the target at once, and the persons of each class to a table beside it.
 */
extern bool successive_is_staged(const Run *run);

/* ---- persons_table.c ---- */

typedef struct PersonsTable PersonsTable;

extern PersonsTable *persons_table_begin(Run *run);

/* A row of the target, as it is written; its class in the release, and whose it is. */
extern void persons_table_put(void *table, uint32 class_, const struct TupleTableSlot *row, Datum key,
							  bool isnull);
extern void persons_table_end(PersonsTable *table);

/* "a, b": what tells classes apart, as readers see them. */
extern char *class_columns(const Run *run);

pg_noreturn extern void raise_null_keys(const char *key);

/* Writes the target; returns how many rows. */
extern int64 successive_write(Run *run);

/*
 * Keys of different types are of different persons, if there is an equality between
 * them at all: asked of the columns, which their owner may have changed.
 */
extern void check_keys(Oid relid, const char *key, Oid persons);

/* The equality that makes two keys one person, as an operator in SQL. */
extern char *key_equality(Oid relid, const char *key);

/* Columns of the source behind those that are kept: of protected persons the row's number, and the key. */
static inline int
successive_columns(const Request *request)
{
	return request->series.key == NULL ? 0 : request->series.histories != NULL ? 2 : 1;
}

/* ---- stable_rows.c: rows that have not changed stay with those whose class they shared in the release before ---- */

/* Raises, for a publication, under rules about populations: where classes depend on one another none can stay. */
extern void stable_refuse_populations(const Request *request);

/* Solves: near the release before, when the request has one of which rows are still there. */
extern KanonStatus stable_solve(Run *run);

/* ---- stable_keep.c: what the next release starts from ---- */

/*
 * Beside the columns that tell row types apart.  A line of a flow has no marks; one of a row has neither values
 * nor a pattern and number of rows.
 */
#define STABLE_CLASS_COLUMN "kanon__class"
#define STABLE_PATTERN_COLUMN "kanon__pattern"
#define STABLE_ROWS_COLUMN "kanon__rows"
#define STABLE_NUMBER_COLUMN "kanon__number"
#define STABLE_ROW_COLUMN "kanon__row"
#define STABLE_KEY_COLUMN "kanon__key"

enum
{
	STABLE_CLASS,
	STABLE_PATTERN,
	STABLE_ROWS,
	STABLE_NUMBER,
	STABLE_ROW,
	STABLE_KEY,
	STABLE_COLUMNS
};

/* Makes the table that the next release starts from, which is whole when the target is written. */
extern void stable_begin(Run *run);
extern void stable_end(Run *run);

/*
 * ---- histories.c: what a publication that is protected shows of a person over all of its releases is what it
 * shows of at least k persons.
 *
 * Each row that was ever published has a history: in which class it was in which release, when it was absent,
 * and when what is kept of it changed.  A private table has the rows as they were published last, each with the
 * number of its history.  A refresh solves a private copy of the source, in which whoever would be alone is as
 * published last: a person who left, moved or changed is held back, one who joined waits, until at least k of
 * one history can be shown together.
 */

/* Columns of the private tables beside those of the source. */
#define HISTORY_ROW "kanon__row"         /* a row, from release to release */
#define HISTORY_PERSON "kanon__person"   /* whose it is, by number */
#define HISTORY_CLASS "kanon__class"     /* NULL: it is not shown */
#define HISTORY_NUMBER "kanon__history"  /* NULL: the person waits */
#define HISTORY_WHOLE "kanon__whole"     /* the same of all rows of the person; NULL: of each row alone */
#define HISTORY_SINCE "kanon__since"     /* the release that should have shown something else; NULL: none */
#define HISTORY_CHANGES "kanon__changes" /* how often what is kept of it has changed */
#define HISTORY_PAST "kanon__past"       /* of an older row, for rules: this number then; NULL: the latest */
#define HISTORY_GONE "kanon__gone"       /* nothing is left of it but its history, */
/*
 * and hashes of what was kept of it, and of each mark, a column that readers know rows by: "kept/mark/mark".  '>' is
 * before them, or without a mark it is NULL, where other rows of the person have followed.  NULL: it is not gone.
 */
#define HISTORY_KEPT "kanon__kept"

/* How a protected release differs from the source: what its page and its record say. */
typedef struct HeldBack
{
	int64 persons;     /* held back, or waiting */
	int64 oldest;      /* releases for which somebody has been, this one among them; 0: nobody is */
	int64 waiting;     /* of them: in the source, and not shown */
	int64 gone;        /* shown, and not in the source any more */
	int64 gone_rows;   /* so many rows; -1: not counted */
	int64 source_rows; /* of the source, which the method did not solve as it is; -1: not counted */
	int among;         /* values are protected: among so many each person stays; else 0 */
} HeldBack;

typedef struct Histories
{
	/* from the publication, in memory that outlives the rounds */
	Oid before;        /* rows and their histories so far, or InvalidOid */
	const char *after; /* the table to make; qualified, quoted */
	int64 release;     /* its number */
	bool *none;        /* becomes true: nobody else can be held back, and there is no release */
	/* if there is none, persons of whom something else is shown than the source has, and for how many releases; or NULL */
	int64 *standing_persons, *standing_oldest;

	/* what comes of it */
	HeldBack told;
	int64 fewest; /* persons of one history who joined, left, moved or changed alike tonight; 0: nobody did */

	/* of all rounds */
	Snapshot snapshot;
	int round;
	int64 rows;        /* of the source */
	char *columns;     /* of the source, quoted: "a, b, c" */
	char *before_name; /* NULL: there is none */
	Oid original;      /* the source, */
	char *original_name;
	char *source; /* its private copy, */
	Oid relid;
	char *fresh;   /* rows of it that were not published as they are, until they are paired, */
	char *ended;   /* rows published last that it has not, or otherwise, as they were, */
	char *waiting; /* and new rows that are not shown yet */
	char *outcome; /* what becomes of rows, where histories change; NULL: not asked yet */

	/* of the rows published last, and of the source */
	int64 most_row, most_person, most_history; /* no number is greater */
	int64 persons;                             /* of the source; */
	bool several;                              /* one of them has several rows */
	int64 shown_before;                        /* rows */
	int64 same;                                /* rows as they were published last */
	bool knew_persons;                         /* histories of persons were counted before */

	/* of this round, in the run's memory */
	uint32 *class_of;   /* [most_row + 1] of each row, from 1 on; 0: it is not shown */
	uint32 *history_of; /* [most_history + 1] what becomes of all of its rows; or HISTORY_PARTS */
	uint32 *joined;     /* [nclasses + 1] new rows of a first release in each class, or HISTORY_PARTS */
	int64 left_out;     /* rows of the copy that are in no class */
	/*
	 * Readers know which rows are one person's, or a row by more than one column: histories are of persons with all of their
	 * rows, and these are held back as one.
	 */
	bool by_person;
	/* at least k persons, too, must have the same of all rows: in the first release where whoever is held has to leave one day */
	bool together;
} Histories;

/* Columns of the private copy beside those of the source, HISTORY_ROW and HISTORY_PERSON. */
#define COPY_KNOWN "kanon__known"    /* the row is one that was published */
#define COPY_CHANGED "kanon_changed" /* but for what is kept of it */
#define COPY_HELD "kanon__held"      /* it is as published last, not as in the source */
#define COPY_UNIT "kanon__unit"      /* what is held back as one; NULL: nothing to hold */
#define COPY_SHOWN \
	"kanon__shown" /* it was shown last; with HISTORY_NUMBER, _WHOLE, _SINCE and _CHANGES from there */

/* The same of a row published last that the copy has not, or otherwise. */
#define ENDED_STATE_COLUMN "kanon__state"
#define ENDED_THERE_COLUMN "kanon__there" /* its person is in the source */

enum
{
	ENDED_LEFT,   /* nothing has taken its place */
	ENDED_BECAME, /* a row of the copy has */
	ENDED_RESTS   /* it is not shown, and nothing is to be said of it */
};

#define LEFT_E "e." ENDED_STATE_COLUMN EQ "0"

/* Rows that were published, as they were last: of `b`. */
#define HISTORY_LATEST "b." HISTORY_PAST " IS NULL AND b." HISTORY_NUMBER " IS NOT NULL"

#define EQ " OPERATOR(pg_catalog.=) "

static inline void
histories_tell(Histories *histories, bool *none, int64 *standing_persons, int64 *standing_oldest)
{
	histories->none = none;
	histories->standing_persons = standing_persons;
	histories->standing_oldest = standing_oldest;
}

/* The active snapshot of a run's round: all rounds have that of the first. */
extern void histories_snapshot(Request *request);

/* The source becomes the private copy, with the row's number and the key behind what is kept. */
extern void histories_stage(Run *run);

/* The source is itself again, and the copy goes. */
extern void histories_unstage(Run *run);

/*
 * The release that was solved, and staged, may be published: true.  Else some more are held back,
 * and the copy is to be solved again.
 */
extern bool histories_settle(Run *run);

/* With fewer than k persons in the source there is no release of it: all who can be are held back. */
extern void histories_hold_few(Run *run);

/* There is no release of the copy as it is: all who can be are held back.  False: nobody can. */
extern bool histories_hold_all(Run *run);

/* The private table of what is published now. */
extern void histories_keep(Run *run);

/* Counts all of it again, from both private tables and the target. */
extern void histories_verify(Run *run);

/* The rows of the copy that the method has left out are absent now. */
extern void histories_leave_out(Run *run);

/* ---- inside ---- */

/* Runs a statement of these names and columns. */
extern uint64 history_sql(const char *format, ...) pg_attribute_printf(1, 2);
extern char *history_query(const char *format, va_list args) pg_attribute_printf(1, 0);

/* A hash of what is kept of a row of the table of before, `b`. */
extern char *history_kept(const Source *source);

/* "/mark/mark": hashes of the marks of a row that is not gone; NULL: no published column is one. */
extern char *history_marks(const Source *source, const char *of);

/* How many kept columns are marks: readers know a row again by them. */
extern int history_nmarks(const Source *source);

/* All columns of a row, or those that are kept, as one text. */
extern char *history_text(const SourceColumn *columns, int n, const char *of);

/*
 * Among labelled rows, (label bigint, and the columns that rules look at): the labels whose rows
 * break the rules, as text for a query: "1, 2"; NULL: none does.
 */
extern char *histories_break_rules(Run *run, const char *labelled);

/* The columns of the source that are copied, each once: one may be kept and looked at by rules. */
extern SourceColumn *history_columns(const Source *source, int *n);

/* ---- histories_persons.c ---- */

/* Do readers know by the only mark which rows are one person's, or by several which row is which? */
extern bool histories_know_persons(const Run *run, const char *rows);

/* All rows of a person of whom something has changed are held back as one. */
extern void histories_join_units(const Histories *histories);

/*
 * The rows published before, each with one number for the history of its person.  Persons who have been too few
 * since the first release have one below 0, with others of a row's history: all of them go together.
 */
extern char *histories_of_persons(Run *run);

/* Adds to the outcome of rows that of persons. */
extern void histories_add_persons(const Run *run);

/* The same after the first release, in which each row is judged by itself. */
extern void histories_tell_persons(Run *run);

/* Raises, and the release is held, where the keys are others than before: by them rows are known again. */
extern void histories_check_keys(Run *run, const char *rows);

/* ---- all of these ---- */

/* The rows as they were published, or what has none. */
extern const char *history_before(const Histories *histories);

/* Raises where the rows of before have other columns: nobody's could be published again. */
extern void histories_check_columns(const Run *run, Oid before);

/* Rows that were published last have other columns than the publication now, so that they cannot be published again. */
pg_noreturn extern void histories_raise_columns(void);

/* The columns that rules look at, of `of`: ", x.a, x.b". */
extern char *history_ruled(const Source *source, const char *of);
extern bool history_has_rules(const Run *run);

/*
 * The flag that a night with fewer than k rows or persons sets: its release is held, as persons wait or have left and
 * may come back.  NULL: such a night fails.
 */
extern bool *history_held(const Run *run);

/* A table with a name of its own; its name, in memory that outlives the rounds. */
extern char *history_table(const Run *run, const char *what);
extern Oid history_oid(const char *name);

#endif
