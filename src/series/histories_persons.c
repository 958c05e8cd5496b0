/*
 * histories_persons.c: histories of persons with all of their rows, for protected publications of which readers
 * know whose rows are whose; and persons who cannot be known again, since their keys are new.
 */
#include "compat.h"
#include "host/gate.h"
#include "series/histories_rows.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

bool
histories_know_persons(const Run *run, const char *rows)
{
	const Histories *histories = run->request->series.histories;
	const Source *source = run->source;
	const char *twice = "SELECT 1 FROM %s AS %s WHERE %s GROUP BY %s HAVING pg_catalog.count(*)"
						" OPERATOR(pg_catalog.>) 1 LIMIT 1";

	/* (who was known stays so) */
	if (histories->knew_persons)
		return true;
	if (history_nmarks(source) != 1)
		return history_nmarks(source) > 1;
	return history_sql(twice, rows, "r", "true", history_marks(source, "r")) > 0 ||
		   (histories->before_name != NULL &&
			history_sql(twice, histories->before_name, "b", HISTORY_LATEST " AND NOT b." HISTORY_GONE,
						history_marks(source, "b")) > 0);
}

void
histories_join_units(const Histories *histories)
{
	char *some = psprintf("IN (SELECT x." HISTORY_PERSON " FROM %s AS x WHERE x." COPY_UNIT
						  " IS NOT NULL UNION ALL SELECT x." HISTORY_PERSON " FROM %s AS x WHERE x." COPY_UNIT
						  " IS NOT NULL)",
						  histories->source, histories->ended);

	history_sql("UPDATE %s AS e SET " COPY_UNIT " = OPERATOR(pg_catalog.-) e." HISTORY_PERSON
				" WHERE e." COPY_UNIT " IS NOT NULL",
				histories->ended);
	history_sql("UPDATE %s AS s SET " COPY_UNIT " = OPERATOR(pg_catalog.-) s." HISTORY_PERSON
				" WHERE s." HISTORY_PERSON " %s",
				histories->source, some);
}

char *
histories_of_persons(Run *run)
{
	const Histories *histories = run->request->series.histories;
	char *persons = history_table(run, "persons");

	history_sql(
		"CREATE UNLOGGED TABLE %s AS WITH p AS MATERIALIZED (SELECT b." HISTORY_PERSON
		" AS person, pg_catalog.array_agg(b." HISTORY_NUMBER " ORDER BY b." HISTORY_NUMBER
		") AS were FROM %s AS b WHERE " HISTORY_LATEST " GROUP BY b." HISTORY_PERSON "),"
		" f AS MATERIALIZED (SELECT p.were, pg_catalog.count(*) OPERATOR(pg_catalog.<) " INT64_FORMAT
		" AS few, pg_catalog.row_number() OVER () AS nr FROM p GROUP BY p.were)"
		" SELECT b." HISTORY_ROW ", b." HISTORY_PERSON ", b." HISTORY_CLASS
		", CASE WHEN f.few THEN OPERATOR(pg_catalog.-) pg_catalog.abs(f.were[1]) ELSE f.nr END AS " HISTORY_NUMBER
		", b." HISTORY_SINCE ", b." HISTORY_PAST " FROM %s AS b JOIN p ON p.person" EQ "b." HISTORY_PERSON
		" JOIN f ON f.were" EQ "p.were WHERE " HISTORY_LATEST,
		persons, histories->before_name, run->request->k, histories->before_name);
	return persons;
}

/* ---- what becomes of them ---- */

/*
 * (person, whole): what becomes of all rows of a person, by each mark that readers know rows by, as one label.
 * The rows are (person, label, marks).
 */
static char *
whole_persons(const Run *run, const char *rows)
{
	StringInfoData marks;

	initStringInfo(&marks);
	for (int m = 1; m <= Max(history_nmarks(run->source), 1); m++)
		appendStringInfo(&marks,
						 "%sSELECT o.person, o.label, %d AS mark, pg_catalog.split_part(o.marks, '/', %d)"
						 " AS value FROM %s AS o",
						 m > 1 ? " UNION ALL " : "", m, m + 1, rows);
	return psprintf(
		"SELECT t.person, pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat(t.mark, ':', t.labels), ';'"
		" ORDER BY t.mark, t.labels COLLATE pg_catalog.\"C\")) AS whole FROM (SELECT m.person, m.mark,"
		" pg_catalog.string_agg(m.label, ',' ORDER BY m.label COLLATE pg_catalog.\"C\") AS labels FROM (%s) AS m"
		" GROUP BY m.person, m.mark, m.value) AS t GROUP BY t.person",
		marks.data);
}

/*
 * Makes another outcome from one of rows: the label of each row also tells what becomes of all other rows of its person, and the
 * history is that of all of them.
 */
static char *
of_persons(const Run *run, const char *rows)
{
	const Histories *histories = run->request->series.histories;
	const Source *source = run->source;
	const char *marks =
		histories->before_name == NULL
			? "NULL::pg_catalog.text"
			: psprintf("CASE WHEN b." HISTORY_GONE " THEN pg_catalog.substr(pg_catalog.ltrim(b." HISTORY_KEPT
					   ", '>'), 33) ELSE %s END",
					   history_marks(source, "b"));

	return psprintf(
		"WITH o AS MATERIALIZED (SELECT r.*, coalesce(b." HISTORY_WHOLE ", b." HISTORY_NUMBER
		") AS were, CASE WHEN s." HISTORY_ROW
		" IS NOT NULL THEN %s ELSE %s END AS marks FROM (%s) AS r LEFT JOIN %s AS s ON s." HISTORY_ROW EQ
		"r.nr LEFT JOIN (SELECT * FROM %s AS b WHERE " HISTORY_LATEST ") AS b ON b." HISTORY_ROW EQ "r.nr),"
		" h AS MATERIALIZED (SELECT o.person, o.were::pg_catalog.text AS label, o.marks FROM o WHERE o.were IS NOT NULL)"
		" SELECT o.nr, o.person, CASE WHEN o.were IS NOT NULL THEN OPERATOR(pg_catalog.-) pg_catalog.dense_rank()"
		" OVER (ORDER BY h.whole COLLATE pg_catalog.\"C\", o.were) END AS history,"
		" pg_catalog.concat(p.whole, '@', o.label) AS label, o.unit, o.class, o.held, true AS whole, o.shown"
		" FROM o JOIN (%s) AS p ON p.person" EQ "o.person LEFT JOIN (%s) AS h ON h.person" EQ "o.person",
		history_marks(source, "s"), marks, rows, histories->source, history_before(histories),
		whole_persons(run, "o"), whole_persons(run, "h"));
}

void
histories_add_persons(const Run *run)
{
	const Histories *histories = run->request->series.histories;

	history_sql(
		"INSERT INTO %s %s", histories->outcome,
		of_persons(run,
				   psprintf("SELECT o.nr, o.person, o.label, o.unit, o.class, o.held, o.shown FROM %s AS o",
							histories->outcome)));
}

void
histories_tell_persons(Run *run)
{
	if (run->request->series.histories->by_person && !run->request->series.histories->together)
		histories_add_persons(run);
}

/* ---- keys that do not last ---- */

/* Rows published last, `b`, that are shown. */
#define SHOWN_BEFORE HISTORY_LATEST " AND b." HISTORY_CLASS " IS NOT NULL"

static int64
counted(void)
{
	bool isnull;

	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

#define MOST_BY_CHANCE 20

/* How many rows that are not there with their key are there with another: their columns but the key are the same. */
static int64
count_renumbered(const Run *run, const char *rows)
{
	const Histories *histories = run->request->series.histories;
	int n, others = 0;
	SourceColumn *columns = history_columns(run->source, &n);

	for (int i = 0; i < n; i++)
		if (strcmp(columns[i].name, run->request->series.key) != 0)
			columns[others++] = columns[i];
	history_sql(
		"WITH b AS (SELECT %s AS look, pg_catalog.count(*) AS n FROM %s AS b WHERE " SHOWN_BEFORE
		" AND b." HISTORY_ROW " NOT IN (SELECT s." HISTORY_ROW " FROM %s AS s WHERE s." COPY_KNOWN
		") GROUP BY 1),"
		" s AS (SELECT %s AS look, pg_catalog.count(*) AS n FROM %s AS s WHERE NOT s." COPY_KNOWN
		" GROUP BY 1) SELECT coalesce(pg_catalog.sum(least(b.n, s.n)), 0)::pg_catalog.int8 FROM b JOIN s ON s.look" EQ
		"b.look",
		history_text(columns, others, "b"), histories->before_name, rows, history_text(columns, others, "s"),
		rows);
	return counted();
}

static void
raise_keys(Run *run, const char *why)
{
	*run->request->series.histories->none = true;
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("the values of the key \"%s\" are not those of the release before", run->request->series.key),
		 errdetail("%s Nobody could be known again, and the difference of two releases would tell who left.",
				   why),
		 errhint(
			 "A key must last: load the source with the keys that persons have had. Or begin new histories: "
			 "kanon_alter_publication with protect_successive => false, a refresh, and true again.")));
}

void
histories_check_keys(Run *run, const char *rows)
{
	const Histories *histories = run->request->series.histories;
	const char *before = histories->before_name;
	int64 shown = histories->shown_before, same = histories->same, persons, there;

	/* (if only few rows are left, their keys are no others) */
	if (2 * same >= shown || 10 * histories->rows < shown)
		return;
	history_sql("SELECT pg_catalog.count(DISTINCT b." HISTORY_PERSON ") FROM %s AS b WHERE " SHOWN_BEFORE,
				before);
	persons = counted();
	history_sql("SELECT pg_catalog.count(DISTINCT b." HISTORY_PERSON ") FROM %s AS b WHERE " SHOWN_BEFORE
				" AND b." HISTORY_PERSON " IN (SELECT s." HISTORY_PERSON " FROM %s AS s)",
				before, rows);
	there = counted();
	if (10 * there < persons)
		raise_keys(run, "Hardly any of these is in the source.");
	/* (few rows may well have changed places; and so may all, of the same persons) */
	if (shown >= MOST_BY_CHANCE && (there < persons || histories->persons > persons) &&
		20 * count_renumbered(run, rows) >= 19 * (shown - same))
		raise_keys(run, "Most rows are in the source under the key of another row.");
}
