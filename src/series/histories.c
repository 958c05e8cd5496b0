/*
 * histories.c: the private copy of the source that the method solves for a protected publication.
 *
 * Persons are numbered, so that later queries do not depend on the type of the key.  A row of the
 * source that is as it was published last keeps its number.  So does the only row of a person, if it
 * has changed.  All other rows of the source are new, and published rows without such a row have ended.
 *
 * A *unit* is held back as one: a row, or, under a number below 0, all rows of a person that have
 * changed, as nobody can say which row became which.
 */
#include "compat.h"
#include "series/histories_rows.h"
#include "host/catalog.h"
#include "distributed/citus.h"
#include "host/gate.h"
#include "host/border.h"
#include "host/settings.h"
#include "rows/target.h"
#include "masks/mask_apply.h"
#include "rows/verify.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

char *
history_query(const char *format, va_list args)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (;;)
	{
		va_list again;
		int more;

		va_copy(again, args);
		more = appendStringInfoVA(&sql, format, again);
		va_end(again);
		if (more == 0)
			return sql.data;
		enlargeStringInfo(&sql, more);
	}
}

uint64
history_sql(const char *format, ...)
{
	uint64 done;
	int nest;
	char *sql;
	va_list args;

	va_start(args, format);
	sql = history_query(format, args);
	va_end(args);
	nest = blind_plans_begin();
	done = gate_execute_plain(sql, false, 0);
	plain_text_end(nest);
	return done;
}

char *
history_text(const SourceColumn *columns, int n, const char *of)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		appendStringInfo(&list, "%s%s.%s", i > 0 ? ", " : "", of, columns[i].quoted);
	return n == 0 ? "''::pg_catalog.text" : psprintf("CAST(ROW(%s) AS pg_catalog.text)", list.data);
}

char *
history_kept(const Source *source)
{
	return psprintf("CASE WHEN b." HISTORY_GONE " THEN pg_catalog.ltrim(pg_catalog.split_part(b." HISTORY_KEPT
					", '/', 1), '>') ELSE pg_catalog.md5(%s) END",
					history_text(source->kept, source->nkept, "b"));
}

/* Readers know a row again by it: as it is, or by a pseudonym that lasts. */
static bool
is_mark(const SourceColumn *column)
{
	const Mask *mask = column->mask;

	return mask == NULL ? column->may_identify : mask_shows(mask) == MASK_SHOWS_NAME && mask->lasting;
}

char *
history_marks(const Source *source, const char *of)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < source->nkept; i++)
		if (is_mark(&source->kept[i]))
			appendStringInfo(&list, "%s'/', pg_catalog.md5(%s)", list.len > 0 ? ", " : "",
							 history_text(&source->kept[i], 1, of));
	return list.len > 0 ? psprintf("pg_catalog.concat(%s)", list.data) : NULL;
}

/* The same of rows published last, `b`: of those that are there, or of those that are gone. */
static char *
history_marks_before(const Source *source, bool gone)
{
	return gone ? "CASE WHEN b." HISTORY_GONE " THEN pg_catalog.substr(pg_catalog.ltrim(b." HISTORY_KEPT
				  ", '>'), 33) END"
				: psprintf("CASE WHEN NOT b." HISTORY_GONE " THEN %s END", history_marks(source, "b"));
}

int
history_nmarks(const Source *source)
{
	int n = 0;

	for (int i = 0; i < source->nkept; i++)
		n += is_mark(&source->kept[i]);
	return n;
}

/* ---- one snapshot ---- */

void
histories_snapshot(Request *request)
{
	Histories *histories = request->series.histories;

	if (histories != NULL && histories->snapshot != NULL)
	{
		PushCopiedSnapshot(histories->snapshot);
		gate_see_written();
		return;
	}
	PushActiveSnapshot(GetTransactionSnapshot());
	if (histories != NULL)
		histories->snapshot = RegisterSnapshot(GetActiveSnapshot());
}

/* ---- the copy ---- */

char *
history_table(const Run *run, const char *what)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(run->request->series.histories));
	char *name = quote_qualified_identifier(run->target->schema,
											psprintf("kanon_%s_" UINT64_FORMAT, what, random_number()));

	MemoryContextSwitchTo(old);
	return name;
}

Oid
history_oid(const char *name)
{
	return RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))), NoLock,
							false);
}

SourceColumn *
history_columns(const Source *source, int *n)
{
	int all = source->ngrouped + source->nkept;
	SourceColumn *columns = palloc(sizeof(SourceColumn) * (all + 1));

	*n = 0;
	for (int i = 0; i <= all; i++)
	{
		const SourceColumn *column =
			i < source->ngrouped ? &source->qis[i] : &source->kept[i - source->ngrouped];
		bool again = false;

		/* staged, it has its number before the key */
		if (i == all && strcmp(column->name, HISTORY_ROW) == 0)
			column++;
		for (int j = 0; j < *n && !again; j++)
			again = strcmp(columns[j].name, column->name) == 0;
		if (!again)
			columns[(*n)++] = *column;
	}
	return columns;
}

static int64
count_rows(const char *table)
{
	bool isnull;

	history_sql("SELECT pg_catalog.count(*) FROM %s", table);
	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

/* The private tables, empty; the source's columns come first in each. */
static void
make_tables(Run *run)
{
	Histories *histories = run->request->series.histories;

	histories->source = history_table(run, "copy");
	histories->fresh = history_table(run, "fresh");
	histories->ended = history_table(run, "ended");
	histories->waiting = history_table(run, "waiting");
	history_sql("CREATE UNLOGGED TABLE %s AS SELECT %s, 0::pg_catalog.int8 AS " HISTORY_ROW
				", 0::pg_catalog.int8 AS " HISTORY_PERSON ", false AS " COPY_KNOWN ", false AS " COPY_CHANGED
				", false AS " COPY_HELD ", 0::pg_catalog.int8 AS " COPY_UNIT
				", 0::pg_catalog.int8 AS " HISTORY_NUMBER ", 0::pg_catalog.int8 AS " HISTORY_WHOLE
				", false AS " COPY_SHOWN ", 0::pg_catalog.int8 AS " HISTORY_SINCE ", 0 AS " HISTORY_CHANGES
				" FROM %s WITH NO DATA",
				histories->source, histories->columns, run->source->name);
	history_sql("CREATE UNLOGGED TABLE %s AS SELECT * FROM %s WITH NO DATA", histories->fresh,
				histories->source);
	history_sql("CREATE UNLOGGED TABLE %s AS SELECT * FROM %s WITH NO DATA", histories->waiting,
				histories->source);
	history_sql("CREATE UNLOGGED TABLE %s AS SELECT %s, " HISTORY_ROW ", " HISTORY_PERSON
				", 0::pg_catalog.int8 AS " HISTORY_CLASS ", " HISTORY_NUMBER ", " HISTORY_WHOLE
				", " HISTORY_SINCE ", " HISTORY_CHANGES ", 0 AS " HISTORY_PAST ", false AS " HISTORY_GONE
				", ''::pg_catalog.text AS " HISTORY_KEPT ", 0::pg_catalog.int8 AS " COPY_UNIT
				", 0 AS " ENDED_STATE_COLUMN ", false AS " ENDED_THERE_COLUMN " FROM %s WITH NO DATA",
				histories->ended, histories->columns, histories->source);
	histories->relid = history_oid(histories->source);
	keep_private(histories->relid);
	keep_private(history_oid(histories->fresh));
	keep_private(history_oid(histories->ended));
	keep_private(history_oid(histories->waiting));
	gate_see_written();
}

/* The rows of the source under the run's snapshot, and those published last that are not among them. */
static void
copy_source(Run *run, const SourceColumn *columns, int n)
{
	Histories *histories = run->request->series.histories;
	int64 written;

	make_tables(run);
	histories->rows = histories_match(run, columns, n);
	written = count_rows(histories->source) + count_rows(histories->fresh);
	if (written != histories->rows)
		raise_unsafe(psprintf("It was made from " INT64_FORMAT " rows instead of " INT64_FORMAT ".", written,
							  histories->rows));
}

void
histories_raise_columns(void)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("the rows that were published last have other columns than the publication now"),
		 errdetail(
			 "Persons who are held back are published as last time, so with protect_successive the columns must stay."),
		 errhint("Create the publication anew; or begin new histories: kanon_alter_publication with "
				 "protect_successive => false, a refresh, and true again.")));
}

void
histories_check_columns(const Run *run, Oid before)
{
	int n;
	const SourceColumn *columns = history_columns(run->source, &n);
	Relation rel = table_open(before, AccessShareLock);
	int there = 0;
	bool same = true;

	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
		there += !TupleDescAttr(RelationGetDescr(rel), i)->attisdropped;
	for (int i = 0; i < n && same; i++)
	{
		AttrNumber attnum = get_attnum(before, columns[i].name);
		Form_pg_attribute attribute = attnum > 0 ? TupleDescAttr(RelationGetDescr(rel), attnum - 1) : NULL;

		same = attribute != NULL && attribute->atttypid == columns[i].type &&
			   attribute->atttypmod == columns[i].typmod && attribute->attcollation == columns[i].collation;
	}
	table_close(rel, NoLock);
	if (!same || there != n + 10)
		histories_raise_columns();
}

/* A history that is gone and has been followed by other rows of the person is over. */
static void
forget_followed(const Histories *histories)
{
	history_sql("UPDATE %s AS e SET " ENDED_STATE_COLUMN " = 2 WHERE " LEFT_E " AND e." HISTORY_GONE
				" AND (e." HISTORY_KEPT " IS NULL OR pg_catalog.left(e." HISTORY_KEPT ", 1)" EQ "'>')",
				histories->ended);
}

/* Which ended row of a person, `e`, became which new one, `n`. */
#define SAME_KEPT "n.kept" EQ "e.kept AND n.nth" EQ "e.nth"
#define SAME_MARK "n.mark" EQ "e.mark AND n.marks" EQ "1 AND e.marks" EQ "1"
#define ONLY_ONE "n.n" EQ "1 AND e.n" EQ "1"

/* Rows of a person, told apart by all marks (or none): of those that are published, or that are gone. */
static void
pair_rows(const Run *run, bool marked, bool gone, const char *became)
{
	const Histories *histories = run->request->series.histories;
	const Source *source = run->source;
	char *ended = !marked ? "NULL::pg_catalog.text" : history_marks_before(source, gone);
	char *new = !marked ? "NULL::pg_catalog.text" : history_marks(source, "s");

	history_sql(
		"WITH e AS (SELECT e.*, pg_catalog.row_number() OVER (PARTITION BY e.person, e.kept ORDER BY e.gone, e.nr) AS nth,"
		" pg_catalog.count(*) OVER (PARTITION BY e.person, e.mark) AS marks,"
		" pg_catalog.count(*) OVER (PARTITION BY e.person) AS n FROM (SELECT b." HISTORY_PERSON
		" AS person, b." HISTORY_ROW " AS nr, b." HISTORY_GONE " AS gone, b." HISTORY_NUMBER
		" AS history, b." HISTORY_WHOLE " AS whole, b." HISTORY_CLASS
		" IS NOT NULL AS shown, b." HISTORY_SINCE " AS since, b." HISTORY_CHANGES
		" AS changes, %s AS kept, %s AS mark FROM %s AS b"
		" WHERE b." ENDED_STATE_COLUMN EQ "0) AS e),"
		" n AS (SELECT n.*, pg_catalog.row_number() OVER (PARTITION BY n.person, n.kept ORDER BY n.nr) AS nth,"
		" pg_catalog.count(*) OVER (PARTITION BY n.person, n.mark) AS marks,"
		" pg_catalog.count(*) OVER (PARTITION BY n.person) AS n FROM (SELECT s." HISTORY_PERSON
		" AS person, s." HISTORY_ROW
		" AS nr, pg_catalog.md5(%s) AS kept, %s AS mark FROM %s AS s WHERE NOT s." COPY_KNOWN ") AS n)"
		" UPDATE %s AS s SET " HISTORY_ROW " = e.nr, " COPY_KNOWN " = true, " COPY_UNIT
		" = e.nr, " COPY_CHANGED " = e.kept IS DISTINCT FROM n.kept, " HISTORY_NUMBER
		" = e.history, " HISTORY_WHOLE " = e.whole, " COPY_SHOWN " = e.shown, " HISTORY_SINCE
		" = e.since, " HISTORY_CHANGES " = e.changes FROM e JOIN n ON n.person" EQ "e.person AND %s"
		" WHERE s." HISTORY_ROW EQ "n.nr AND NOT s." COPY_KNOWN,
		history_kept(source), ended, histories->ended, history_text(source->kept, source->nkept, "s"), new,
		histories->fresh, histories->fresh, became);
	history_sql("UPDATE %s AS e SET " ENDED_STATE_COLUMN " = 1 FROM %s AS s WHERE s." HISTORY_ROW EQ
				"e." HISTORY_ROW " AND s." COPY_KNOWN " AND " LEFT_E,
				histories->ended, histories->fresh);
}

/*
 * Rows of a person that have moved, changed or come back: those that are the same under all published columns that tell rows
 * apart, those of which the same is kept, and where no such column says otherwise the one that ended and the one
 * that is in its place.  Nobody can say more of several.
 */
static void
pair_all(const Run *run)
{
	bool marked = history_nmarks(run->source) > 0;

	if (marked)
	{
		pair_rows(run, true, false, SAME_MARK);
		pair_rows(run, true, true, SAME_MARK);
	}
	forget_followed(run->request->series.histories);
	pair_rows(run, false, false, SAME_KEPT);
	if (!marked)
		pair_rows(run, false, false, ONLY_ONE);
}

static void
find_units(const Histories *histories)
{
	history_sql("UPDATE %s AS e SET " COPY_UNIT " = CASE WHEN e." HISTORY_PERSON
				" IN (SELECT s." HISTORY_PERSON " FROM %s AS s WHERE NOT s." COPY_KNOWN
				") THEN OPERATOR(pg_catalog.-) e." HISTORY_PERSON " WHEN NOT e." HISTORY_GONE
				" THEN e." HISTORY_ROW " END WHERE " LEFT_E,
				histories->ended, histories->fresh);
	history_sql("UPDATE %s AS s SET " COPY_UNIT " = CASE WHEN s." HISTORY_PERSON
				" IN (SELECT e." HISTORY_PERSON " FROM %s AS e WHERE " LEFT_E
				") THEN OPERATOR(pg_catalog.-) s." HISTORY_PERSON " ELSE s." HISTORY_ROW
				" END WHERE NOT s." COPY_KNOWN,
				histories->fresh, histories->ended);
}

/* ---- who was held back for long enough ---- */

/* The rows published last that the source has otherwise, or not at all: of `b`. */
#define OTHERWISE                                                                            \
	"(EXISTS (SELECT 1 FROM %s AS e WHERE " LEFT_E " AND e." HISTORY_ROW EQ "b." HISTORY_ROW \
	") OR EXISTS (SELECT 1 FROM %s AS s"                                                     \
	" WHERE s." HISTORY_ROW EQ "b." HISTORY_ROW " AND s." COPY_UNIT " IS NOT NULL))"

/*
 * (history, whole): of persons who were held back for max_held releases.  Others go with them, that they are k
 * together; all of the history, where fewer than k would stay or rules are to be kept.
 */
static void
find_late(const Run *run, const char *before, const char *late, const char *overdue)
{
	const Histories *histories = run->request->series.histories;

	history_sql("CREATE UNLOGGED TABLE %s AS SELECT b." HISTORY_ROW " AS nr, b." HISTORY_PERSON
				" AS person, b." HISTORY_NUMBER " AS history FROM %s AS b WHERE " HISTORY_LATEST
				" AND b." HISTORY_CLASS " IS NOT NULL AND b." HISTORY_SINCE
				" OPERATOR(pg_catalog.<=) (" INT64_FORMAT ")::pg_catalog.int8 AND " OTHERWISE,
				overdue, before, histories->release - run->request->limits.max_held, histories->ended,
				histories->source);
	history_sql(
		"CREATE UNLOGGED TABLE %s AS SELECT l.history, l.n, %s l.history OPERATOR(pg_catalog.<) 0 OR greatest(" INT64_FORMAT
		", l.n) OPERATOR(pg_catalog.+) " INT64_FORMAT
		" OPERATOR(pg_catalog.>) (l.n OPERATOR(pg_catalog.+) (SELECT pg_catalog.count(DISTINCT s." HISTORY_PERSON
		") FROM %s AS s JOIN %s AS b ON b." HISTORY_ROW EQ "s." HISTORY_ROW " WHERE " HISTORY_LATEST
		" AND b." HISTORY_NUMBER EQ "l.history AND s." COPY_UNIT
		" IS NULL)) AS whole FROM (SELECT o.history, pg_catalog.count(DISTINCT o.person) AS n"
		" FROM %s AS o GROUP BY o.history) AS l",
		late, history_has_rules(run) ? "true OR" : "", run->request->k, run->request->k, histories->source,
		before, overdue);
	history_sql("INSERT INTO %s SELECT b." HISTORY_ROW ", b." HISTORY_PERSON ", b." HISTORY_NUMBER
				" FROM %s AS b JOIN %s AS l"
				" ON l.history" EQ "b." HISTORY_NUMBER " AND l.whole WHERE " HISTORY_LATEST
				" AND b." HISTORY_CLASS " IS NOT NULL AND " OTHERWISE
				" AND NOT EXISTS (SELECT 1 FROM %s AS o WHERE o.nr" EQ "b." HISTORY_ROW ")",
				overdue, before, late, histories->ended, histories->source, overdue);
}

/*
 * The published rows end, and so do the others' rows; the new rows wait, as if they had joined.
 * The order of those who go along tells nothing.
 */
static void
end_overdue(Run *run)
{
	const Histories *histories = run->request->series.histories;
	const char *source = histories->source, *ended = histories->ended;
	const char *before = histories->by_person ? histories_of_persons(run) : histories->before_name;
	char *overdue = history_table(run, "overdue");
	char *late = history_table(run, "late");
	char *now =
		psprintf("s." COPY_UNIT " IS NOT NULL AND (s." HISTORY_ROW " IN (SELECT o.nr FROM %s AS o)"
				 " OR NOT s." COPY_KNOWN " AND s." HISTORY_PERSON " IN (SELECT o.person FROM %s AS o))",
				 overdue, overdue);

	find_late(run, before, late, overdue);
	history_sql("INSERT INTO %s SELECT s.* FROM %s AS s WHERE %s", histories->waiting, source, now);
	history_sql("DELETE FROM %s AS s WHERE %s", source, now);
	history_sql("UPDATE %s AS e SET " COPY_UNIT " = NULL, " ENDED_STATE_COLUMN " = 0 WHERE e." HISTORY_ROW
				" IN (SELECT o.nr FROM %s AS o)",
				ended, overdue);
	history_sql("INSERT INTO %s SELECT %s, " HISTORY_COLUMNS
				", NULL, 0, true FROM %s AS b WHERE " HISTORY_LATEST " AND b." HISTORY_ROW
				" IN (SELECT o.nr FROM %s AS o) AND b." HISTORY_ROW " NOT IN (SELECT e." HISTORY_ROW
				" FROM %s AS e)",
				ended, histories->columns, histories->before_name, overdue, ended);
	history_sql(
		"WITH stayer AS (SELECT o.*, pg_catalog.row_number() OVER (PARTITION BY o.history ORDER BY"
		" pg_catalog.hashint8extended(o.person, (" INT64_FORMAT
		")::pg_catalog.int8), o.person) AS nth FROM (SELECT DISTINCT"
		" l.history, l.n, l.whole, s." HISTORY_PERSON
		" AS person FROM %s AS s JOIN %s AS b ON b." HISTORY_ROW EQ "s." HISTORY_ROW " AND " HISTORY_LATEST
		" JOIN %s AS l ON l.history" EQ "b." HISTORY_NUMBER " WHERE s." COPY_UNIT
		" IS NULL) AS o), went AS (DELETE FROM %s AS s USING %s AS b, stayer AS c WHERE b." HISTORY_ROW EQ
		"s." HISTORY_ROW " AND " HISTORY_LATEST " AND c.history" EQ "b." HISTORY_NUMBER " AND c.person" EQ
		"s." HISTORY_PERSON " AND s." COPY_UNIT
		" IS NULL AND (c.whole OR c.nth OPERATOR(pg_catalog.<=) (" INT64_FORMAT
		" OPERATOR(pg_catalog.-) c.n)) RETURNING s." HISTORY_ROW
		" AS nr) INSERT INTO %s SELECT %s, " HISTORY_COLUMNS
		", NULL, 2, true FROM %s AS b WHERE " HISTORY_LATEST " AND b." HISTORY_ROW
		" IN (SELECT w.nr FROM went AS w)",
		(int64) run->request->seed, source, before, late, source, before, run->request->k, ended,
		histories->columns, histories->before_name);
	history_sql("DROP TABLE %s, %s", overdue, late);
	if (histories->by_person)
		history_sql("DROP TABLE %s", before);
}

/* The source is otherwise than what is shown: so it stays for these persons, if there is no release tonight. */
static void
count_standing(const Histories *histories)
{
	bool isnull;

	if (histories->standing_persons == NULL)
		return;
	history_sql("SELECT pg_catalog.count(DISTINCT x.person), coalesce(" INT64_FORMAT
				" OPERATOR(pg_catalog.-) pg_catalog.min(coalesce(x.since, " INT64_FORMAT
				")), -1)::pg_catalog.int8 FROM (SELECT f." HISTORY_PERSON " AS person, f." HISTORY_SINCE
				" AS since FROM %s AS f UNION ALL SELECT e." HISTORY_PERSON ", e." HISTORY_SINCE
				" FROM %s AS e WHERE e." COPY_UNIT " IS NOT NULL OR e." ENDED_STATE_COLUMN EQ "%d) AS x",
				histories->release, histories->release, histories->fresh, histories->ended, ENDED_BECAME);
	*histories->standing_persons = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	*histories->standing_oldest = DatumGetInt64(gate_value(0, 2, INT8OID, &isnull)) + 1;
}

static void
make_copy(Run *run)
{
	Histories *histories = run->request->series.histories;
	int n;
	SourceColumn *columns = history_columns(run->source, &n);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(histories));
	char *rows;

	histories->columns = pstrdup(column_list(columns, n));
	histories->before_name = OidIsValid(histories->before) ? pstrdup(name_relation(histories->before)) : NULL;
	MemoryContextSwitchTo(old);
	if (histories->before_name != NULL)
		histories_check_columns(run, histories->before);
	copy_source(run, columns, n);
	rows = psprintf("(SELECT c.* FROM %s AS c UNION ALL SELECT f.* FROM %s AS f)", histories->source,
					histories->fresh);
	histories->by_person = histories_know_persons(run, rows);
	histories->together =
		histories->by_person && (histories->before_name != NULL || run->request->limits.max_held > 0);
	if (histories->before_name != NULL)
	{
		histories_check_keys(run, rows);
		pair_all(run);
		find_units(histories);
		count_standing(histories);
	}
	history_sql("INSERT INTO %s SELECT f.* FROM %s AS f", histories->source, histories->fresh);
	history_sql("DROP TABLE %s", histories->fresh);
	if (histories->by_person)
		histories_join_units(histories);
	if (histories->before_name != NULL && run->request->limits.max_held > 0)
		end_overdue(run);
	if (histories->before_name != NULL)
		histories_hold_few(run);
}

/* The row's number, then the key, behind the columns that are kept. */
static void
add_number(Source *source)
{
	SourceColumn *kept = palloc0(sizeof(SourceColumn) * (source->nkept + 2));

	memcpy(kept, source->kept, sizeof(SourceColumn) * source->nkept);
	kept[source->nkept].name = HISTORY_ROW;
	kept[source->nkept].quoted = HISTORY_ROW;
	kept[source->nkept].type = INT8OID;
	kept[source->nkept].typmod = -1;
	kept[source->nkept].may_identify = kept[source->nkept].answered = true;
	kept[source->nkept + 1] = source->kept[source->nkept];
	source->kept = kept;
}

void
histories_stage(Run *run)
{
	Histories *histories = run->request->series.histories;
	int nest = plain_text_begin();

	if (histories->source == NULL)
		make_copy(run);
	plain_text_end(nest);
	histories->original = run->source->relid;
	histories->original_name = run->source->name;
	add_number(run->source);
	run->source->relid = histories->relid;
	run->source->name = histories->source;
	/* rows that Citus has distributed are set aside here */
	if (kanon_distribute != DISTRIBUTE_OFF && citus_reads(histories->original))
	{
		run->source->staged_from = histories->original;
		run->source->staged_name = histories->original_name;
		run->source->staged_rows = count_rows(histories->source);
	}
	histories->round++;
	CommandCounterIncrement();
	gate_see_written();
}

void
histories_unstage(Run *run)
{
	Histories *histories = run->request->series.histories;

	if (run->source->relid != histories->relid)
		return;
	run->source->relid = histories->original;
	run->source->name = histories->original_name;
	history_sql("DROP TABLE %s", histories->source);
}

bool *
history_held(const Run *run)
{
	const Histories *histories = run->request->series.histories;

	return histories != NULL && run->request->k <= Max(histories->rows, run->request->series.rows_before)
			   ? histories->none
			   : NULL;
}
