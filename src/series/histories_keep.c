/*
 * histories_keep.c: stores the rows and histories of a protected release.
 *
 * A history that goes on as a whole keeps its number.  Those that begin have the numbers that are free.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "core/util/number.h"
#include "host/border.h"
#include "rows/target.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "series/histories_rows.h"
#include "rows/verify.h"
#include "core/privacy/rules.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* A person of whom not all is shown as the source has it. */
typedef struct Concerned
{
	uint64 person;
	int64 rows; /* that are shown */
	bool gone;
	char status;
} Concerned;

#define SH_PREFIX concerned
#define SH_ELEMENT_TYPE Concerned
#define SH_KEY_TYPE uint64
#define SH_KEY person
#define SH_HASH_KEY(table, key) ((uint32) kanon_mix(key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * The columns of the source, of `b`; where the condition is false (NULL: it never is) only the key, and what a
 * domain may refuse to be without.
 */
static char *
row_columns(const Run *run, const char *condition)
{
	const char *key = quote_identifier(run->request->series.key);
	StringInfoData list;
	int n;
	const SourceColumn *columns = history_columns(run->source, &n);

	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		if (condition == NULL || strcmp(columns[i].quoted, key) == 0 ||
			get_typtype(columns[i].type) == TYPTYPE_DOMAIN)
			appendStringInfo(&list, "%sb.%s", i > 0 ? ", " : "", columns[i].quoted);
		else
			appendStringInfo(&list, "%sCASE WHEN %s THEN b.%s END", i > 0 ? ", " : "", condition,
							 columns[i].quoted);
	return list.data;
}

/* ---- numbers of histories ---- */

typedef struct Keep
{
	Run *run;
	Histories *histories;
	int n; /* columns of the source */
	BulkWriter *bulk;
	uint32 *now;    /* [most_row + 1] histories of rows, where they change; 0: as before */
	uint32 *whole;  /* [most_row + 1] those of all rows of the person; NULL: nobody asks */
	uint32 *class_; /* [nclasses + 1] of the new rows of a first release */
	int64 rank;     /* the label at hand, in its order; */
	int64 free;     /* its number */
	concerned_hash *concerned;
} Keep;

/* The next number that no history has which goes on as a whole. */
static int64
next_free(Keep *keep)
{
	const Histories *histories = keep->histories;

	do
		keep->free++;
	while (keep->free <= histories->most_history && histories->history_of[keep->free] != 0 &&
		   histories->history_of[keep->free] != HISTORY_PARTS);
	if (keep->free >= PG_UINT32_MAX)
		raise_altered();
	return keep->free;
}

static bool
receive_label(void *arg, TupleTableSlot *slot)
{
	Keep *keep = arg;
	int64 row = number_at(slot, 0), rank = number_at(slot, 2);
	bool whole = flag_at(slot, 1);
	TupleTableSlot *out;

	if (row > keep->histories->most_row)
		raise_altered();
	if (!whole && rank != keep->rank)
		(void) next_free(keep);
	keep->rank = rank;
	(whole ? keep->whole : keep->now)[row] = (uint32) (whole ? rank : keep->free);
	out = bulk_slot(keep->bulk);
	memcpy(out->tts_values, slot->tts_values, sizeof(Datum) * 4);
	memcpy(out->tts_isnull, slot->tts_isnull, sizeof(bool) * 4);
	if (!whole)
		out->tts_values[2] = Int64GetDatum(keep->free);
	bulk_put(keep->bulk);
	return true;
}

static uint32 *
zeros(const Keep *keep, Size n)
{
	Size size = sizeof(uint32) * n;

	return memset(border_palloc(keep->run->border, size), 0, size);
}

/* The histories that change get numbers: (nr, whole, now, label) in a table. */
static char *
number_histories(Keep *keep)
{
	const Histories *histories = keep->histories;
	char *numbered = history_table(keep->run, "numbered");
	Gate *gate = gate_create(histories->outcome, history_oid(histories->outcome), 4);
	Relation rel;

	keep->now = zeros(keep, (Size) histories->most_row + 1);
	keep->whole = histories->by_person ? zeros(keep, (Size) histories->most_row + 1) : NULL;
	keep->class_ = zeros(keep, (Size) keep->run->release.nclasses + 1);
	history_sql("CREATE UNLOGGED TABLE %s (nr pg_catalog.int8, whole pg_catalog.bool, now pg_catalog.int8,"
				" label pg_catalog.text COLLATE pg_catalog.\"default\")",
				numbered);
	rel = table_open(history_oid(numbered), RowExclusiveLock);
	keep->bulk = bulk_begin(rel);
	gate_computed(gate, "nr", INT8OID);
	gate_computed(gate, "whole", BOOLOID);
	gate_computed(gate, "rank", INT8OID);
	gate_computed(gate, "label", TEXTOID);
	gate_select(
		gate,
		psprintf(
			"SELECT o.nr, o.whole, pg_catalog.dense_rank() OVER (PARTITION BY o.whole ORDER BY o.label"
			" COLLATE pg_catalog.\"C\") AS now, o.label COLLATE pg_catalog.\"default\" FROM %s AS o ORDER BY o.whole,"
			" o.label COLLATE pg_catalog.\"C\"",
			histories->outcome),
		false, receive_label, keep);
	(void) bulk_end(keep->bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	return numbered;
}

/* ---- persons of whom what is shown is not what the source has ---- */

static Concerned *
concern(Keep *keep, int64 person)
{
	bool found;
	Concerned *concerned = concerned_insert(keep->concerned, (uint64) person, &found);

	if (!found)
	{
		concerned->gone = false;
		concerned->rows = 0;
	}
	return concerned;
}

static bool
receive_concerned(void *arg, TupleTableSlot *slot)
{
	Concerned *concerned = concern(arg, number_at(slot, 0));

	concerned->gone = concerned->gone || flag_at(slot, 1);
	return true;
}

static void
read_concerned(Keep *keep)
{
	const Histories *histories = keep->histories;
	Gate *gate = gate_create(histories->ended, history_oid(histories->ended), 2);

	gate_also(gate, history_oid(histories->waiting));
	gate_computed(gate, "person", INT8OID);
	gate_computed(gate, "gone", BOOLOID);
	gate_select(gate,
				psprintf("SELECT e." HISTORY_PERSON ", NOT e." ENDED_THERE_COLUMN
						 " AS gone FROM %s AS e WHERE NOT e." ENDED_THERE_COLUMN " OR NOT e." HISTORY_GONE
						 " AND e." ENDED_STATE_COLUMN EQ "%d UNION ALL SELECT w." HISTORY_PERSON
						 ", false FROM %s AS w",
						 histories->ended, ENDED_RESTS, histories->waiting),
				false, receive_concerned, keep);
}

/* Counts persons who are shown though gone, and those who are there and not shown. */
static void
count_otherwise(Keep *keep)
{
	HeldBack *told = &keep->histories->told;
	concerned_iterator iterator;
	const Concerned *concerned;

	told->gone = told->gone_rows = told->waiting = 0;
	concerned_start_iterate(keep->concerned, &iterator);
	while ((concerned = concerned_iterate(keep->concerned, &iterator)) != NULL)
		if (concerned->gone && concerned->rows > 0)
		{
			told->gone++;
			told->gone_rows += concerned->rows;
		}
		else if (!concerned->gone && concerned->rows == 0)
			told->waiting++;
}

/* ---- rows ---- */

/* The number of the history of a row in a class, or 0. */
static int64
history_now(Keep *keep, int64 row, uint32 class_, int64 before)
{
	const Histories *histories = keep->histories;

	if (keep->now[row] != 0)
		return keep->now[row];
	if (before != 0)
		return before <= histories->most_history && histories->history_of[before] == class_ + 1 ? before : 0;
	if (!history_joins_whole(keep->run, class_))
		return 0;
	if (keep->class_[class_] == 0)
		keep->class_[class_] = (uint32) next_free(keep);
	return keep->class_[class_];
}

/* A row of the copy, which is shown if it is in a class. */
static bool
receive_shown(void *arg, TupleTableSlot *slot)
{
	Keep *keep = arg;
	Histories *histories = keep->histories;
	int n = keep->n;
	int64 row = number_at(slot, n + AT_ROW), person = number_at(slot, n + AT_PERSON), history;
	int64 since = number_or_none(slot, n + AT_SINCE);
	bool held = flag_at(slot, n + AT_HELD);
	uint32 class_ = row <= histories->most_row ? histories->class_of[row] : 0;
	Concerned *concerned;
	TupleTableSlot *out;

	if (class_ == 0)
	{
		(void) concern(keep, person);
		return true;
	}
	history = history_now(keep, row, class_, number_or_none(slot, n + AT_HISTORY));
	if (history == 0)
		raise_unsafe("A row that is shown has no history.");
	concerned = concerned_lookup(keep->concerned, (uint64) person);
	if (concerned != NULL)
		concerned->rows++;
	out = bulk_slot(keep->bulk);
	memcpy(out->tts_values, slot->tts_values, sizeof(Datum) * n);
	memcpy(out->tts_isnull, slot->tts_isnull, sizeof(bool) * n);
	memset(out->tts_isnull + n, false, sizeof(bool) * BEFORE_COLUMNS);
	out->tts_values[n + BEFORE_ROW] = Int64GetDatum(row);
	out->tts_values[n + BEFORE_PERSON] = Int64GetDatum(person);
	out->tts_values[n + BEFORE_CLASS] = Int64GetDatum((int64) class_ - 1);
	out->tts_values[n + BEFORE_NUMBER] = Int64GetDatum(history);
	out->tts_values[n + BEFORE_WHOLE] = Int64GetDatum(keep->whole != NULL ? keep->whole[row] : 0);
	out->tts_isnull[n + BEFORE_WHOLE] = keep->whole == NULL || keep->whole[row] == 0;
	out->tts_values[n + BEFORE_SINCE] = Int64GetDatum(since != 0 ? since : histories->release);
	out->tts_isnull[n + BEFORE_SINCE] = !held;
	out->tts_values[n + BEFORE_CHANGES] =
		Int32GetDatum(DatumGetInt32(slot->tts_values[n + AT_CHANGES]) + flag_at(slot, n + AT_CHANGED));
	out->tts_isnull[n + BEFORE_PAST] = out->tts_isnull[n + BEFORE_KEPT] = true;
	out->tts_values[n + BEFORE_GONE] = BoolGetDatum(false);
	bulk_put(keep->bulk);
	return true;
}

/* Rows that are shown. */
static void
keep_shown(Keep *keep)
{
	const Run *run = keep->run;
	const Histories *histories = keep->histories;
	const SourceColumn *columns = history_columns(run->source, &keep->n);
	Gate *gate = gate_create(histories->source, histories->relid, keep->n + COPY_COLUMNS);
	Relation rel = table_open(history_oid(histories->after), RowExclusiveLock);

	read_concerned(keep);
	gate_columns(gate, columns, keep->n);
	for (int i = 0; i < COPY_COLUMNS; i++)
		gate_computed(gate, "own",
					  i == AT_CHANGES                                                     ? INT4OID
					  : i == AT_KNOWN || i == AT_CHANGED || i == AT_HELD || i == AT_SHOWN ? BOOLOID
																						  : INT8OID);
	keep->bulk = bulk_begin(rel);
	gate_select(gate, psprintf("SELECT * FROM %s", histories->source), false, receive_shown, keep);
	(void) bulk_end(keep->bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	count_otherwise(keep);
}

/* The number of the history of all rows of the person of `o`: a join, and the column. */
static char *
join_whole(const Histories *histories, const char *numbered)
{
	return histories->by_person
			   ? psprintf(" LEFT JOIN %s AS w ON w.nr" EQ "b." HISTORY_ROW " AND w.whole", numbered)
			   : " CROSS JOIN (SELECT NULL::pg_catalog.int8 AS now) AS w";
}

/* HISTORY_KEPT of a row that is gone, `b`, which becomes of it what the label says, `o`. */
static char *
kept_of_gone(const Source *source)
{
	const char *alone = "coalesce(pg_catalog.right(o.label, 2)" EQ "'{}'::pg_catalog.text, true)";
	char *kept = history_kept(source), *marks = history_marks(source, "b");

	if (marks == NULL)
		return psprintf("CASE WHEN %s THEN %s END", alone, kept);
	return psprintf("pg_catalog.concat(CASE WHEN NOT %s OR b." HISTORY_GONE
					" AND coalesce(pg_catalog.left(b." HISTORY_KEPT ", 1), '>')" EQ
					"'>' THEN '>' END, CASE WHEN b." HISTORY_GONE " THEN pg_catalog.ltrim(b." HISTORY_KEPT
					", '>') ELSE pg_catalog.concat(%s, %s) END)",
					alone, kept, marks);
}

/* The method has left rows of the copy out: they are absent as those that are gone. */
void
histories_leave_out(Run *run)
{
	const Histories *histories = run->request->series.histories;

	if (histories->left_out == 0)
		return;
	history_sql("UPDATE %s AS e SET " ENDED_STATE_COLUMN " = %d WHERE e." ENDED_STATE_COLUMN EQ
				"%d AND e." HISTORY_ROW
				" IN (SELECT o.nr FROM %s AS o WHERE o.class IS NULL AND NOT o.whole)",
				histories->ended, ENDED_RESTS, ENDED_BECAME, histories->outcome);
	history_sql("INSERT INTO %s SELECT %s, s." HISTORY_ROW ", s." HISTORY_PERSON ", CASE WHEN s." COPY_SHOWN
				" THEN 1 END, s." HISTORY_NUMBER ", s." HISTORY_WHOLE ", s." HISTORY_SINCE
				", s." HISTORY_CHANGES ", NULL, false, NULL, NULL, %d, true FROM %s AS s WHERE s." COPY_KNOWN
				" AND s." HISTORY_ROW
				" IN (SELECT o.nr FROM %s AS o WHERE o.class IS NULL AND NOT o.whole) AND s." HISTORY_ROW
				" NOT IN (SELECT e." HISTORY_ROW " FROM %s AS e)",
				histories->ended, histories->columns, ENDED_RESTS, histories->source, histories->outcome,
				histories->ended);
}

/* Rows that were, and are not in the copy: gone for good, or rows of the source that are not shown again yet. */
static void
keep_absent(const Run *run, const char *numbered)
{
	const Histories *histories = run->request->series.histories;

	history_sql("INSERT INTO %s SELECT %s, b." HISTORY_ROW ", b." HISTORY_PERSON
				", NULL, coalesce(o.now, b." HISTORY_NUMBER
				"), w.now, CASE WHEN NOT e.gone THEN coalesce(b." HISTORY_SINCE ", " INT64_FORMAT
				") END, b." HISTORY_CHANGES
				", NULL, e.gone, CASE WHEN e.gone THEN %s END FROM %s AS b LEFT JOIN %s AS o ON o.nr" EQ
				"b." HISTORY_ROW " AND NOT o.whole%s CROSS JOIN LATERAL (SELECT b." HISTORY_GONE
				" OR b." ENDED_STATE_COLUMN EQ "%d AS gone) AS e WHERE NOT b." ENDED_STATE_COLUMN EQ "%d",
				histories->after, row_columns(run, history_has_rules(run) ? NULL : "NOT e.gone"),
				histories->release, kept_of_gone(run->source), histories->ended, numbered,
				join_whole(histories, numbered), ENDED_LEFT, ENDED_BECAME);
}

/* As rows were before what is kept of them changed. */
static void
keep_past(const Run *run)
{
	const Histories *histories = run->request->series.histories;

	history_sql("INSERT INTO %s SELECT %s, b." HISTORY_ROW ", b." HISTORY_PERSON ", NULL, NULL, NULL, NULL,"
				" b." HISTORY_CHANGES ", coalesce(b." HISTORY_PAST ", b." HISTORY_CHANGES "), b." HISTORY_GONE
				", NULL"
				" FROM %s AS b WHERE b." HISTORY_PAST " IS NOT NULL OR " HISTORY_LATEST
				" AND EXISTS (SELECT 1 FROM %s AS s WHERE s." HISTORY_ROW EQ "b." HISTORY_ROW
				" AND s." COPY_CHANGED ")",
				histories->after, row_columns(run, NULL), histories->before_name, histories->source);
}

static void
keep_waiting(const Run *run)
{
	const Histories *histories = run->request->series.histories;

	history_sql("INSERT INTO %s SELECT %s, NULL, b." HISTORY_PERSON
				", NULL, NULL, NULL, coalesce(p.since, " INT64_FORMAT
				"), 0, NULL, false, NULL FROM %s AS b LEFT JOIN (SELECT p." HISTORY_PERSON
				" AS person, pg_catalog.min(p." HISTORY_SINCE ") AS since FROM %s AS p WHERE p." HISTORY_SINCE
				" IS NOT NULL GROUP BY p." HISTORY_PERSON ") AS p ON p.person" EQ "b." HISTORY_PERSON,
				histories->after, row_columns(run, NULL), histories->release, histories->waiting,
				history_before(histories));
}

static void
count_held(Histories *histories)
{
	bool isnull;

	history_sql("SELECT pg_catalog.count(DISTINCT " HISTORY_PERSON "), coalesce(" INT64_FORMAT
				" OPERATOR(pg_catalog.-) pg_catalog.min(" HISTORY_SINCE
				"), -1)::pg_catalog.int8 FROM %s WHERE " HISTORY_SINCE " IS NOT NULL",
				histories->release, histories->after);
	histories->told.persons = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	histories->told.oldest = DatumGetInt64(gate_value(0, 2, INT8OID, &isnull)) + 1;
	histories->told.source_rows = histories->rows;
}

/* Those who were shown and are not, or the other way round, and those of whom something else is shown. */
static void
count_fewest(Histories *histories)
{
	bool isnull;

	history_sql(
		"SELECT coalesce(pg_catalog.min(x.n), 0)::pg_catalog.int8 FROM (SELECT pg_catalog.count(DISTINCT o.person) AS n"
		" FROM %s AS o WHERE (o.class IS NOT NULL OR o.shown) AND ((o.class IS NULL)" EQ
		"o.shown OR o.unit IS NOT NULL AND NOT o.held) GROUP BY o.label) AS x",
		histories->outcome);
	histories->fewest = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

void
histories_keep(Run *run)
{
	Histories *histories = run->request->series.histories;
	Keep keep = {.run = run, .histories = histories};
	char *numbered;

	histories_tell_persons(run);
	history_sql("CREATE TABLE %s AS SELECT %s, 0::pg_catalog.int8 AS " HISTORY_ROW
				", 0::pg_catalog.int8 AS " HISTORY_PERSON ", 0::pg_catalog.int8 AS " HISTORY_CLASS
				", 0::pg_catalog.int8 AS " HISTORY_NUMBER ", 0::pg_catalog.int8 AS " HISTORY_WHOLE
				", 0::pg_catalog.int8 AS " HISTORY_SINCE ", 0 AS " HISTORY_CHANGES ", 0 AS " HISTORY_PAST
				", false AS " HISTORY_GONE ", ''::pg_catalog.text AS " HISTORY_KEPT
				" FROM %s AS b WITH NO DATA",
				histories->after, row_columns(run, NULL), histories->source);
	keep_uncounted(history_oid(histories->after));
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'rows of a kanon release with their key and history; never to be published'",
		histories->after));
	if (histories->before_name != NULL)
		count_fewest(histories);
	histories_leave_out(run);
	keep.concerned = concerned_create(CurrentMemoryContext, 1024, NULL);
	numbered = number_histories(&keep);
	keep_shown(&keep);
	concerned_destroy(keep.concerned);
	if (histories->before_name != NULL)
		keep_absent(run, numbered);
	if (histories->before_name != NULL && history_has_rules(run))
		keep_past(run);
	keep_waiting(run);
	if (FAULT(history_moved))
		history_sql("UPDATE %s SET " HISTORY_NUMBER " = (SELECT pg_catalog.max(" HISTORY_NUMBER
					") FROM %s) WHERE " HISTORY_ROW EQ "(SELECT pg_catalog.min(" HISTORY_ROW ") FROM %s)",
					histories->after, histories->after, histories->after);
	count_held(histories);
	history_sql("DROP TABLE %s, %s, %s, %s", histories->ended, histories->waiting, histories->outcome,
				numbered);
}
