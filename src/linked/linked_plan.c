/*
 * linked_plan.c: which protected persons change with a release, and who is held back.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked_histories.h"
#include "rows/target.h"
#include "series/successive.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/rel.h"

/* Rounds of a try that look for persons who must wait.  In the last one all persons of their history wait. */
#define ROUNDS 6

/* After so many tries no history changes. */
#define TRIES 8

/* ---- who changes ---- */

/* One hash of all that a person has now. */
static char *
hashes_now(const Linked *linked)
{
	StringInfoData rows;

	initStringInfo(&rows);
	for (int t = 1; t < linked->n && linked->tables[t].role == LINKED_ROWS; t++)
		appendStringInfo(
			&rows,
			"%sSELECT w.kanon__whose AS whose, pg_catalog.concat(%d, ' ', w.kanon__hash) AS hash FROM %s AS w",
			t > 1 ? " UNION ALL " : "", t, linked->histories->tables[t].now);
	if (rows.len == 0)
		appendStringInfoString(&rows, "SELECT " TEXT_NULL " AS whose, " TEXT_NULL " AS hash WHERE false");
	return psprintf(
		"SELECT w.kanon__key AS key, pg_catalog.md5(pg_catalog.concat(w.kanon__hash, r.hash)) AS now FROM %s AS w"
		" LEFT JOIN (SELECT r.whose, pg_catalog.string_agg(r.hash, ','::pg_catalog.text ORDER BY r.hash COLLATE"
		" pg_catalog.\"C\") AS hash FROM (%s) AS r GROUP BY r.whose) AS r ON r.whose" EQ "w.kanon__key",
		linked->histories->tables[0].now, rows.data);
}

static char *
held_list(const LinkedHistories *histories)
{
	StringInfoData list;
	ListCell *cell;

	initStringInfo(&list);
	appendStringInfoString(&list, "-1");
	foreach (cell, histories->held)
		appendStringInfo(&list, ", " INT64_FORMAT, *(int64 *) lfirst(cell));
	return list.data;
}

/*
 * The plan: each person with what becomes of it.  State: u(nchanged), c(hanged or come back), d(eleted), n(ew).  Part: those who
 * change together; NULL: as before.  0: new persons; 2 h: of history h those who show something new; 2 h + 1: who leave.
 */
static void
make_plan(Linked *linked)
{
	LinkedHistories *histories = linked->histories;

	history_sql(
		"CREATE UNLOGGED TABLE %s AS SELECT p.id, coalesce(p.key, n.key) AS key, p.history, p.hash, p.here, p.since, n.now,"
		" CASE WHEN p.history IS NULL THEN CASE WHEN n.now IS NULL THEN 'x' ELSE 'n' END"
		" WHEN n.now IS NULL THEN CASE WHEN p.here THEN 'd' ELSE 'u' END"
		" WHEN p.here AND p.hash" EQ "n.now THEN 'u' ELSE 'c' END AS state, " INT8_NULL " AS part"
		" FROM (%s) AS p FULL JOIN (%s) AS n ON n.key" EQ "p.key",
		histories->plan,
		OidIsValid(histories->before) ? psprintf("SELECT b.* FROM %s AS b", name_relation(histories->before))
									  : "SELECT " INT8_NULL " AS id, " TEXT_NULL " AS key, " INT8_NULL
										" AS history, " TEXT_NULL " AS hash, false AS here, " INT8_NULL
										" AS since WHERE false",
		hashes_now(linked));
	(void) held_private(histories->plan);
	history_sql("DELETE FROM %s WHERE state" EQ "'x'", histories->plan);
	history_sql(
		"UPDATE %s AS p SET id = n.id FROM (SELECT p.key, pg_catalog.row_number() OVER (ORDER BY p.key COLLATE pg_catalog.\"C\")"
		" OPERATOR(pg_catalog.+) (SELECT coalesce(pg_catalog.max(m.id), 0) FROM %s AS m) AS id"
		" FROM %s AS p WHERE p.id IS NULL) AS n WHERE n.key" EQ "p.key AND p.id IS NULL",
		histories->plan, histories->plan, histories->plan);
}

/*
 * At least k persons of a history leave, or change, together, and none or k are left.  Where fewer would be left, some
 * persons who have changed wait.  Those who have waited longest wait last.
 */
static void
plan_parts(const Linked *linked)
{
	const LinkedHistories *histories = linked->histories;

	if (histories->tries < TRIES)
		history_sql(
			"UPDATE %1$s AS p SET part = r.part FROM (SELECT id, CASE WHEN state = 'd' THEN CASE WHEN goes THEN 2 * history + 1 END"
			" WHEN state = 'c' AND c >= %2$s AND (stay = 0 OR c + stay >= 2 * %2$s OR stay >= %2$s)"
			" AND NOT (stay BETWEEN 1 AND %2$s - 1 AND nth <= %2$s - stay) THEN 2 * history END AS part"
			" FROM (SELECT *, CASE WHEN goes THEN u ELSE u + d END AS stay"
			" FROM (SELECT *, d >= %2$s AND (u + c = 0 OR u + c >= %2$s) AS goes"
			" FROM (SELECT id, state, history, count(*) FILTER (WHERE state = 'u') OVER h AS u, count(*) FILTER (WHERE state = 'c') OVER h AS c,"
			" count(*) FILTER (WHERE state = 'd') OVER h AS d,"
			" row_number() OVER (PARTITION BY history, state ORDER BY since DESC, hashint8extended(id, %4$s)) AS nth"
			" FROM %1$s WHERE history IS NOT NULL AND NOT history IN (%3$s) WINDOW h AS (PARTITION BY history)) AS a) AS b) AS g) AS r"
			" WHERE r.id = p.id AND r.part IS NOT NULL",
			histories->plan, psprintf(INT64_FORMAT, linked->k), held_list(histories),
			psprintf(INT64_FORMAT, histories->release));
	history_sql(
		"UPDATE %1$s SET part = 0 WHERE state = 'n' AND NOT key IN (SELECT w.key FROM %2$s AS w)"
		" AND (SELECT count(*) FROM %1$s WHERE state = 'n' AND NOT key IN (SELECT w.key FROM %2$s AS w)) >= %3$s",
		histories->plan, histories->waiting, psprintf(INT64_FORMAT, linked->k));
}

/* New persons who were found alone in tries before. */
static void
put_waiting(const Linked *linked)
{
	Relation rel =
		table_open(held_empty(linked->histories->waiting, "key pg_catalog.text"), RowExclusiveLock);
	BulkWriter *bulk = bulk_begin(rel);
	ListCell *cell;

	foreach (cell, linked->histories->keys)
	{
		TupleTableSlot *slot = bulk_slot(bulk);

		slot->tts_values[0] = CStringGetTextDatum(lfirst(cell));
		slot->tts_isnull[0] = false;
		bulk_put(bulk);
	}
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/* ---- who stands alone ---- */

char *
linked_find_alone(Linked *linked, const char *persons, char *const *shown)
{
	static const char *const names[] = {"kanon__history", "kanon__look"};
	Linked counted = *linked;
	StringInfoData list;
	ListCell *cell;

	counted.tables = palloc(sizeof(LinkedTable) * KANON_MAX_LINKED);
	memcpy(counted.tables, linked->tables, sizeof(LinkedTable) * KANON_MAX_LINKED);
	counted.tables[0].relid = history_oid(persons);
	counted.tables[0].key = "kanon__person";
	/* (what is kept of persons is not there) */
	counted.tables[0].run = NULL;
	memset(&counted.tables[0].request, 0, sizeof(Request));
	for (int t = 0; t < linked->n && linked->tables[t].role <= LINKED_ROWS; t++)
	{
		counted.tables[t].qis = name_list(&names[t > 0], 1);
		if (t == 0)
			continue;
		counted.tables[t].relid = history_oid(shown[t]);
		counted.tables[t].key = HELD_ROW;
		counted.tables[t].parent_column = HELD_ABOVE;
	}
	initStringInfo(&list);
	foreach (cell, linked_recount(&counted, linked->border).failed)
		appendStringInfo(&list, "%s" INT64_FORMAT, list.len > 0 ? ", " : "",
						 DatumGetInt64(*(Datum *) lfirst(cell)));
	return list.len > 0 ? list.data : NULL;
}

static bool
has_held(const LinkedHistories *histories, int64 history)
{
	ListCell *cell;

	foreach (cell, histories->held)
		if (*(int64 *) lfirst(cell) == history)
			return true;
	return false;
}

static bool
receive_held(void *arg, TupleTableSlot *slot)
{
	LinkedHistories *histories = arg;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(histories));

	if (slot->tts_isnull[0])
		histories->keys = lappend(histories->keys, TextDatumGetCString(slot->tts_values[1]));
	else if (!has_held(histories, DatumGetInt64(slot->tts_values[0])))
	{
		int64 *history = palloc(sizeof(int64));

		*history = DatumGetInt64(slot->tts_values[0]);
		histories->held = lappend(histories->held, history);
	}
	MemoryContextSwitchTo(old);
	return true;
}

/* The histories of these persons (a query) do not change in this release; new persons among them wait. */
void
linked_hold_back(LinkedHistories *histories, const char *persons)
{
	Gate *gate = gate_create(histories->plan, history_oid(histories->plan), 2);

	gate_computed(gate, "history", INT8OID);
	gate_computed(gate, "key", TEXTOID);
	gate_select(gate,
				psprintf("SELECT p.history, p.key FROM %s AS p WHERE p.part IS NOT NULL AND p.id" EQ
						 "ANY (%s)",
						 histories->plan, persons),
				false, receive_held, histories);
}

void
linked_raise_again(LinkedHistories *histories)
{
	histories->again = true;
	histories->tries++;
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION), errmsg("some persons would stand alone, and are held back"),
			 errhint("The release is made once more.")));
}

/* The persons whose history would be divided, and what was ever shown of them. */
static void
copy_divided(Linked *linked, const char *parts, char **shown)
{
	const LinkedHistories *histories = linked->histories;

	history_sql(
		"CREATE UNLOGGED TABLE %1$s AS SELECT id AS kanon__person, concat(history, ' ', part) AS kanon__history"
		" FROM %2$s WHERE history IN (SELECT x.history FROM %2$s AS x WHERE x.part IS NOT NULL)",
		parts, histories->plan);
	(void) held_private(parts);
	for (int t = 1; t < linked->n && linked->tables[t].role == LINKED_ROWS; t++)
	{
		shown[t] = held_name(linked, "shown");
		history_sql(
			"CREATE UNLOGGED TABLE %s AS SELECT h.* FROM %s AS h WHERE h.kanon__person IN (SELECT p.kanon__person FROM %s AS p)",
			shown[t], name_relation(histories->tables[t].shown_before), parts);
		(void) held_private(shown[t]);
	}
}

/*
 * Persons who were found alone wait, and so do all persons of a part that becomes too small.  If a person who stays was
 * found alone, some of the history who would change stay, too; in the last round all of them.
 */
static bool
make_wait(Linked *linked, const char *parts, const char *alone, int round)
{
	const char *plan = linked->histories->plan;
	bool last = round >= ROUNDS;
	/* (the same in each try, so that those who passed do so again) */
	char *some = psprintf("hashint8extended(id, " INT64_FORMAT ") %% 10 BETWEEN -2 AND 2",
						  linked->histories->release + round);

	if (alone == NULL)
		return false;
	history_sql(
		"UPDATE %1$s AS p SET part = NULL WHERE part IS NOT NULL AND history IN (SELECT a.history FROM %1$s AS a WHERE"
		" a.id IN (%2$s) AND a.part IS NULL) AND %3$s",
		plan, alone, last ? "true" : some);
	history_sql(
		"UPDATE %1$s SET part = NULL WHERE id IN (%2$s) OR %3$s AND history IN (SELECT a.history FROM %1$s AS a WHERE a.id IN (%2$s))",
		plan, alone, last ? "true" : "false");
	history_sql(
		"UPDATE %1$s SET part = NULL WHERE part > 0 AND part IN (SELECT a.part FROM %1$s AS a GROUP BY a.part HAVING count(*) < %2$s)",
		plan, psprintf(INT64_FORMAT, linked->k));
	history_sql("DELETE FROM %s WHERE true", parts);
	history_sql("INSERT INTO %1$s SELECT id, concat(history, ' ', part) FROM %2$s"
				" WHERE history IN (SELECT x.history FROM %2$s AS x WHERE x.part IS NOT NULL)",
				parts, plan);
	return true;
}

/* Each part of a history is counted as it was shown. */
static void
check_parts(Linked *linked)
{
	char *parts = held_name(linked, "parts");
	char *shown[KANON_MAX_LINKED + 1] = {0};
	int round = 1;

	if (!OidIsValid(linked->histories->before))
		return;
	copy_divided(linked, parts, shown);
	while (make_wait(linked, parts, linked_find_alone(linked, parts, shown), round))
		round++;
	history_sql("DROP TABLE %s", parts);
	for (int t = 1; shown[t] != NULL; t++)
		history_sql("DROP TABLE %s", shown[t]);
}

void
linked_plan(Linked *linked)
{
	make_plan(linked);
	put_waiting(linked);
	plan_parts(linked);
	check_parts(linked);
}
