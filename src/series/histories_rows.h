/*
 * histories_rows.h: the private tables of a protected night, as they are written and read row by row
 */
#ifndef KANON_HISTORIES_ROWS_H
#define KANON_HISTORIES_ROWS_H

#include "series/successive.h"

#include "executor/tuptable.h"
#include "fmgr.h"

/* ---- columns ---- */

/* Columns of the rows published last, behind those of the source. */
#define HISTORY_COLUMNS                                                                                    \
	"b." HISTORY_ROW ", b." HISTORY_PERSON ", b." HISTORY_CLASS ", b." HISTORY_NUMBER ", b." HISTORY_WHOLE \
	", b." HISTORY_SINCE ", b." HISTORY_CHANGES ", b." HISTORY_PAST ", b." HISTORY_GONE ", b." HISTORY_KEPT

enum
{
	BEFORE_ROW,
	BEFORE_PERSON,
	BEFORE_CLASS,
	BEFORE_NUMBER,
	BEFORE_WHOLE,
	BEFORE_SINCE,
	BEFORE_CHANGES,
	BEFORE_PAST,
	BEFORE_GONE,
	BEFORE_KEPT,
	BEFORE_COLUMNS
};

/* Columns of the copy, behind those of the source. */
enum
{
	AT_ROW,
	AT_PERSON,
	AT_KNOWN,
	AT_CHANGED,
	AT_HELD,
	AT_UNIT,
	AT_HISTORY,
	AT_WHOLE,
	AT_SHOWN,
	AT_SINCE,
	AT_CHANGES,
	COPY_COLUMNS
};

/* Behind those of the rows published last, of those that were not met. */
enum
{
	ENDED_UNIT,
	ENDED_STATE,
	ENDED_THERE,
	ENDED_COLUMNS
};

/* ---- histories_match.c ---- */

/*
 * The rows of the source go to the copy, or where nothing was published as they are now, to the table of fresh ones;
 * those published last that are not among them, to the table of those that have ended.  How many rows there are.
 */
extern int64 histories_match(Run *run, const SourceColumn *columns, int n);

/* ---- histories_changes.c ---- */

/* A history, or the new rows in a class, do not go on as a whole. */
#define HISTORY_PARTS PG_UINT32_MAX

/*
 * Finds what becomes of each row and history.  A table of the rows of those that do not go on as a whole: (nr, person,
 * history, unit, shown, class, changed, held, kind: known, new, ended, or rests).
 */
extern char *histories_find_changes(Run *run);

/* Do the new rows of this class (from 1 on), of a first release, begin one history of enough persons? */
extern bool history_joins_whole(const Run *run, uint32 class_);

/* ---- values and numbers ---- */

/* A hash of what is seen of values. */
typedef struct ValueHash
{
	FmgrInfo *output; /* NULL: the value itself tells */
	bool text;        /* its bytes are what is seen */
} ValueHash;

extern ValueHash *value_hashes(const SourceColumn *columns, int n);
extern uint64 hash_values(const ValueHash *hashes, const Datum *values, const bool *nulls, int n,
						  uint64 secret);

/* Numbers from 1 on in private tables, whose owner may have altered them: then it is an error. */
pg_noreturn extern void raise_altered(void);
extern int64 number_at(const TupleTableSlot *slot, int column);
extern int64 number_or_none(const TupleTableSlot *slot, int column); /* 0: NULL */
extern bool flag_at(const TupleTableSlot *slot, int column);

#endif
