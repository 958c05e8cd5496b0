/*
 * histories_outcome.c: works out which histories the solved release would give, and which rows must be held back.
 *
 * Each row that was ever published has an outcome: absence, or a class with its kept values changed or unchanged.
 * Rows of one history with the same outcome share a history from now on, and so do new rows of one class.  Such a
 * history needs k persons, or all persons that the old one had.  In each known state of their values these must keep
 * the privacy rules.
 *
 * If a history has too few, its rows are held back: their outcome is then that of rows for which nothing changes.
 * These may be too few as well, so the question is asked again.
 */
#include "compat.h"
#include "series/histories_rows.h"
#include "host/gate.h"
#include "core/util/fault.h"
#include "rows/verify.h"
#include "host/border.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

const char *
history_before(const Histories *histories)
{
	return histories->before_name != NULL
			   ? histories->before_name
			   : "(SELECT NULL::pg_catalog.int8 AS " HISTORY_ROW ", NULL::pg_catalog.int8 AS " HISTORY_PERSON
				 ", NULL::pg_catalog.int8 AS " HISTORY_CLASS ", NULL::pg_catalog.int8 AS " HISTORY_NUMBER
				 ", NULL::pg_catalog.int8 AS " HISTORY_WHOLE ", NULL::pg_catalog.int8 AS " HISTORY_SINCE
				 ", 0 AS " HISTORY_CHANGES ", NULL::pg_catalog.int4 AS " HISTORY_PAST
				 ", false AS " HISTORY_GONE ", NULL::pg_catalog.text AS " HISTORY_KEPT " WHERE false)";
}

/*
 * (nr, person, history, label, unit, class, held, whole, shown) of the rows of histories that change.  Labels are equal where
 * nobody can tell two rows apart over all releases; that of absence has the classes that a person's new rows are in.
 */
static void
find_outcome(Run *run)
{
	Histories *histories = run->request->series.histories;
	char *changes;

	if (histories->outcome != NULL)
		history_sql("DROP TABLE %s", histories->outcome);
	else
		histories->outcome = history_table(run, "outcome");
	changes = histories_find_changes(run);
	history_sql(
		"CREATE UNLOGGED TABLE %s AS WITH"
		" went AS (SELECT n.person, pg_catalog.array_agg(DISTINCT n.class ORDER BY n.class)::pg_catalog.text AS classes"
		" FROM %s AS n WHERE n.kind" EQ "1 GROUP BY n.person),"
		" came AS (SELECT e." HISTORY_PERSON " AS person, pg_catalog.array_agg(DISTINCT e." HISTORY_NUMBER
		" ORDER BY e." HISTORY_NUMBER ")::pg_catalog.text AS histories FROM %s AS e WHERE " LEFT_E
		" GROUP BY e." HISTORY_PERSON ")"
		" SELECT c.nr, c.person, c.history, CASE c.kind WHEN 1 THEN pg_catalog.concat('+', o.histories, ':', c.class)"
		" WHEN 2 THEN pg_catalog.concat(c.history, ':-', coalesce(w.classes, '{}'))"
		" ELSE CASE WHEN c.class IS NULL THEN pg_catalog.concat(c.history, ':-{}')"
		" ELSE pg_catalog.concat(c.history, ':', c.class, c.changed) END END AS label, c.unit, c.class, c.held,"
		" false AS whole, c.shown FROM %s AS c LEFT JOIN went AS w ON w.person" EQ "c.person AND c.kind" EQ
		"2 LEFT JOIN came AS o ON o.person" EQ "c.person AND c.kind" EQ "1",
		histories->outcome, changes, histories->ended, changes);
	history_sql("DROP TABLE %s", changes);
	if (histories->together)
		histories_add_persons(run);
}

/* ---- too few ---- */

/*
 * For each label: its history, persons, and whether it is that of rows for which nothing changes;
 * `alone`: all that its history has.  A new row that is held back has none.  Persons whose rows readers know may have been too
 * few before: then nothing may change of them.
 */
#define LABELS                                                                                                                                                               \
	"labels AS MATERIALIZED (SELECT o.label, o.history, pg_catalog.count(DISTINCT o.person) AS n,"                                                                           \
	" pg_catalog.bool_or(o.unit IS NULL OR o.held) AS stays, pg_catalog.count(*) OVER (PARTITION BY o.history)" EQ                                                           \
	"1 AND (NOT pg_catalog.bool_or(o.whole) OR pg_catalog.bool_and(o.unit IS NULL OR o.held)) AS alone FROM %s AS o WHERE o.label IS NOT NULL GROUP BY o.label, o.history)," \
	" few AS MATERIALIZED (SELECT l.* FROM labels AS l WHERE l.n OPERATOR(pg_catalog.<) " INT64_FORMAT                                                                       \
	" AND NOT (l.alone AND l.history IS NOT NULL))"

/* Where those go who are held back: the label of most for whom nothing changes. */
static void
find_defaults(Run *run, const char *defaults)
{
	const Histories *histories = run->request->series.histories;

	history_sql(
		"CREATE UNLOGGED TABLE %s AS SELECT DISTINCT ON (o.history) o.history, CASE WHEN o.unit IS NULL THEN o.label"
		" WHEN NOT o.shown THEN pg_catalog.concat(o.history, ':-{}') ELSE pg_catalog.concat(o.history, ':=') END AS label"
		" FROM (SELECT o.history, o.label, o.unit, pg_catalog.bool_or(o.shown) AS shown, pg_catalog.count(*) AS n"
		" FROM %s AS o WHERE o.history IS NOT NULL GROUP BY o.history, o.label, o.unit) AS o"
		" ORDER BY o.history, o.unit IS NOT NULL, o.n DESC, o.label COLLATE pg_catalog.\"C\"",
		defaults, histories->outcome);
}

/* Holds back the units that the condition is true of; how many rows. */
static int64
hold(const Histories *histories, const char *defaults, const char *with, const char *units)
{
	return (int64) history_sql(
		"WITH %s UPDATE %s AS o SET held = true, label = (SELECT d.label FROM %s AS d WHERE d.history" EQ
		"o.history) WHERE NOT o.held AND o.unit IN (%s)",
		with, histories->outcome, defaults, units);
}

/* Somebody is alone: a history with fewer than k persons. */
static bool
any_alone(const Run *run)
{
	return history_sql("WITH " LABELS " SELECT 1 FROM few LIMIT 1", run->request->series.histories->outcome,
					   run->problem.k) > 0 &&
		   !FAULT(nobody_held);
}

/*
 * Until nobody is alone: a history with too few persons is held back.  Where those for whom nothing
 * changes are too few, the fewest others of their history keep them company; where that has no
 * others, whoever comes to them or leaves the place at which they are now.  `alone`: somebody is still.
 */
static int64
hold_few(Run *run, const char *defaults, bool *alone)
{
	const Histories *histories = run->request->series.histories;
	const char *o = histories->outcome;
	char *with = psprintf(LABELS, o, run->problem.k);
	int64 all = 0, rows;

	/* (each question reads all rows: most nights one is enough) */
	while ((*alone = any_alone(run)))
	{
		rows =
			hold(histories, defaults, with,
				 psprintf("SELECT x.unit FROM %s AS x JOIN few AS f ON f.label" EQ "x.label WHERE NOT x.held"
						  " AND x.unit IS NOT NULL",
						  o));
		if (rows == 0)
			rows = hold(
				histories, defaults, with,
				psprintf("SELECT x.unit FROM (SELECT DISTINCT ON (l.history) l.label FROM labels AS l"
						 " JOIN few AS f ON f.history" EQ "l.history WHERE EXISTS (SELECT 1 FROM %s AS u"
						 " WHERE u.label" EQ "l.label AND u.unit IS NOT NULL AND NOT u.held)"
						 " ORDER BY l.history, l.n, l.label COLLATE pg_catalog.\"C\") AS least"
						 " JOIN %s AS x ON x.label" EQ "least.label WHERE NOT x.held AND x.unit IS NOT NULL",
						 o, o));
		if (rows == 0)
			rows = hold(
				histories, defaults, with,
				psprintf("SELECT x.unit FROM %s AS x WHERE x.unit IS NOT NULL AND NOT x.held AND x.class IN"
						 " (SELECT y.class FROM %s AS y JOIN few AS f ON f.label" EQ "y.label)",
						 o, o));
		if (rows == 0 && all == 0)
			rows = hold(histories, defaults, with,
						psprintf("SELECT x.unit FROM %s AS x WHERE x.unit IS NOT NULL AND NOT x.held"
								 " AND EXISTS (SELECT 1 FROM few)",
								 o));
		if (rows == 0)
			break;
		all += rows;
	}
	return all;
}

/* ---- values ---- */

/*
 * The rows of each label, in each state: as it will be, and as it was before each change: (number,
 * label, and the columns that rules look at).
 */
static char *
label_values(Run *run)
{
	const Histories *histories = run->request->series.histories;
	char *labelled = history_table(run, "values");
	const char *of_b = histories->before_name != NULL ? history_ruled(run->source, "b") : NULL;
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "SELECT o.label, s." HISTORY_CHANGES " OPERATOR(pg_catalog.+) s." COPY_CHANGED
					 "::pg_catalog.int4 AS state%s FROM %s AS s JOIN %s AS o ON o.nr" EQ "s." HISTORY_ROW
					 " WHERE o.label IS NOT NULL AND o.class IS NOT NULL AND (NOT o.held OR s." COPY_HELD ")",
					 history_ruled(run->source, "s"), histories->source, histories->outcome);
	if (histories->before_name != NULL)
		appendStringInfo(
			&sql,
			" UNION ALL SELECT o.label, b." HISTORY_CHANGES "%s FROM %s AS b JOIN %s AS o ON o.nr" EQ
			"b." HISTORY_ROW " LEFT JOIN %s AS s ON s." HISTORY_ROW EQ "b." HISTORY_ROW
			" WHERE " HISTORY_LATEST " AND (s." HISTORY_ROW " IS NULL OR o.class IS NULL OR s." COPY_CHANGED
			" OR o.held AND NOT s." COPY_HELD ")"
			" UNION ALL SELECT o.label, b." HISTORY_PAST "%s FROM %s AS b JOIN %s AS o ON o.nr" EQ
			"b." HISTORY_ROW " WHERE b." HISTORY_PAST " IS NOT NULL AND o.label IS NOT NULL",
			of_b, histories->before_name, histories->outcome, histories->source, of_b, histories->before_name,
			histories->outcome);
	history_sql(
		"CREATE UNLOGGED TABLE %s AS SELECT pg_catalog.dense_rank() OVER (ORDER BY x.label COLLATE pg_catalog.\"C\", x.state)"
		" AS " HISTORY_NUMBER ", x.* FROM (%s) AS x",
		labelled, sql.data);
	return labelled;
}

/*
 * Holds back whose values would break the rules among those of their history; how many rows, and
 * whether any break them.  A history that goes on as a whole, with what is kept as it was, tells
 * nothing new.
 */
static int64
hold_broken(Run *run, const char *defaults, bool *some)
{
	const Histories *histories = run->request->series.histories;
	const char *o = histories->outcome;
	char *labelled, *broken;
	int64 rows = 0;

	*some = false;
	if (!history_has_rules(run) || FAULT(nobody_held))
		return 0;
	labelled = label_values(run);
	broken = histories_break_rules(run, labelled);
	if (broken != NULL)
	{
		const char *with = psprintf(
			LABELS
			", broken AS MATERIALIZED (SELECT DISTINCT l.label, l.history, l.stays FROM %s AS v JOIN labels AS l"
			" ON l.label" EQ "v.label WHERE v." HISTORY_NUMBER " IN (%s) AND NOT (l.alone AND l.stays"
			" AND l.history IS NOT NULL))",
			o, run->problem.k, labelled, broken);

		rows = hold(histories, defaults, with,
					psprintf("SELECT x.unit FROM %s AS x JOIN broken AS b ON b.label" EQ
							 "x.label WHERE x.unit IS NOT NULL AND NOT x.held"
							 " UNION ALL SELECT x.unit FROM %s AS x JOIN broken AS b ON b.history" EQ
							 "x.history WHERE b.stays AND x.unit IS NOT NULL AND NOT x.held",
							 o, o));
		if (rows == 0)
			rows = hold(
				histories, defaults, with,
				psprintf("SELECT x.unit FROM %s AS x WHERE x.unit IS NOT NULL AND NOT x.held AND x.class IN"
						 " (SELECT y.class FROM %s AS y JOIN broken AS b ON b.label" EQ "y.label)",
						 o, o));
		*some = rows > 0 || history_sql("WITH %s SELECT 1 FROM broken LIMIT 1", with) > 0;
	}
	history_sql("DROP TABLE %s", labelled);
	return rows;
}

/* ---- the copy follows ---- */

/* Rows of the copy that are among those, `w`, of a table, of which something is true. */
#define AT_ONE_OF \
	"s.ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT w.at FROM %s AS w WHERE w.at IS NOT NULL AND "

/* The units that are so (of a condition) are as published last; new rows wait.  How many rows. */
static int64
hold_back(Run *run, const char *so)
{
	const Histories *histories = run->request->series.histories;
	char *back = history_table(run, "back");
	int64 rows;

	history_sql("CREATE UNLOGGED TABLE %s AS SELECT s.ctid AS at, s." HISTORY_ROW " AS nr, s." COPY_KNOWN
				" AS known, s." COPY_KNOWN " AND s." HISTORY_ROW " NOT IN (SELECT e." HISTORY_ROW
				" FROM %s AS e) AS stays FROM %s AS s WHERE s." COPY_UNIT
				" %s UNION ALL SELECT NULL, e." HISTORY_ROW ", true, false FROM %s AS e WHERE e." COPY_UNIT
				" %s",
				back, histories->ended, histories->source, so, histories->ended, so);
	history_sql("INSERT INTO %s SELECT s.* FROM %s AS s WHERE " AT_ONE_OF
				"(NOT w.known OR w.nr IN (SELECT e." HISTORY_ROW " FROM %s AS e WHERE e." HISTORY_GONE "))))",
				histories->waiting, histories->source, back, histories->ended);
	/* (as it is, it was published last) */
	rows = (int64) history_sql("UPDATE %s AS s SET " COPY_HELD " = true, " COPY_UNIT
							   " = NULL WHERE " AT_ONE_OF "w.stays))",
							   histories->source, back);
	rows +=
		(int64) history_sql("DELETE FROM %s AS s WHERE " AT_ONE_OF "NOT w.stays))", histories->source, back);
	history_sql("INSERT INTO %s SELECT %s, b." HISTORY_ROW ", b." HISTORY_PERSON
				", true, false, true, NULL, b." HISTORY_NUMBER ", b." HISTORY_WHOLE ", true, b." HISTORY_SINCE
				", b." HISTORY_CHANGES " FROM %s AS b WHERE b." HISTORY_CLASS
				" IS NOT NULL AND b." HISTORY_ROW " IN (SELECT x.nr FROM %s AS x)",
				histories->source, histories->columns, histories->ended, back);
	rows += (int64) history_sql(
		"UPDATE %s AS e SET " COPY_UNIT " = NULL, " ENDED_STATE_COLUMN " = CASE WHEN e." HISTORY_CLASS
		" IS NULL THEN %d ELSE %d END WHERE e." HISTORY_ROW " IN (SELECT x.nr FROM %s AS x)",
		histories->ended, ENDED_RESTS, ENDED_BECAME, back);
	history_sql("DROP TABLE %s", back);
	return rows;
}

static bool
count_persons(const Run *run, const char *persons)
{
	bool isnull;

	history_sql("SELECT pg_catalog.count(*) FROM (SELECT DISTINCT p.person FROM (%s) AS p LIMIT " INT64_FORMAT
				") AS p",
				persons, run->request->k);
	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull)) >= run->request->k;
}

/* Has the query k persons?  Mostly its first rows have. */
static bool
are_enough(const Run *run, const char *persons)
{
	int64 first = 100 * Min(run->request->k, 1000);

	return count_persons(run,
						 psprintf("SELECT f.person FROM (%s) AS f LIMIT " INT64_FORMAT, persons, first)) ||
		   count_persons(run, persons);
}

void
histories_hold_few(Run *run)
{
	const Histories *histories = run->request->series.histories;

	/* (an empty source is no release) */
	if (histories->rows > 0 &&
		!are_enough(run, psprintf("SELECT s." HISTORY_PERSON " AS person FROM %s AS s", histories->source)) &&
		are_enough(run,
				   psprintf("SELECT b." HISTORY_PERSON " AS person FROM %s AS b WHERE " HISTORY_LATEST
							" AND b." HISTORY_CLASS
							" IS NOT NULL AND (EXISTS (SELECT 1 FROM %s AS s WHERE s." HISTORY_ROW EQ
							"b." HISTORY_ROW ") OR EXISTS (SELECT 1 FROM %s AS e WHERE " LEFT_E
							" AND e." HISTORY_ROW EQ "b." HISTORY_ROW " AND e." COPY_UNIT " IS NOT NULL))",
							histories->before_name, histories->source, histories->ended)))
		(void) histories_hold_all(run);
}

bool
histories_hold_all(Run *run)
{
	return hold_back(run, "IS NOT NULL") > 0;
}

/* From then on all are held back who can be; then nothing is left to ask. */
#define MOST_ROUNDS 5

bool
histories_settle(Run *run)
{
	Histories *histories = run->request->series.histories;
	char *defaults = history_table(run, "defaults");
	int64 held = 0, rows;
	bool alone, broken;

	if (histories->round > 2 * MOST_ROUNDS)
		raise_unsafe("Rows were changed before they were published.");
	CommandCounterIncrement();
	find_outcome(run);
	find_defaults(run, defaults);
	do
	{
		rows = hold_few(run, defaults, &alone);
		rows += hold_broken(run, defaults, &broken);
		held += rows;
	} while (rows > 0);
	if (held > 0 && histories->round >= MOST_ROUNDS)
		held += hold(histories, defaults, "nobody AS (SELECT 1)",
					 psprintf("SELECT x.unit FROM %s AS x WHERE x.unit IS NOT NULL", histories->outcome));
	history_sql("DROP TABLE %s", defaults);
	if (held > 0)
		(void) hold_back(run, psprintf("IN (SELECT o.unit FROM %s AS o WHERE o.held AND o.unit IS NOT NULL)",
									   histories->outcome));
	else if (alone || broken)
	{
		*histories->none = true;
		ereport(
			ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg(
				 "no release was found that leaves nobody alone when compared with the releases before it"),
			 alone
				 ? errdetail(
					   "The method does not find the published classes again, not even for the rows as last published.")
				 : errdetail("Persons of one history would have values that break a privacy rule."),
			 errhint("The definition may have changed: undo that, or create the publication anew.")));
	}
	return held == 0;
}
