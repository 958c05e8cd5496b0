/*
 * histories_keep.c: stores the rows and histories of a protected release, and checks the release once
 * more: from the rows stored before, the rows stored now and the target alone.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "series/successive.h"
#include "rows/verify.h"
#include "core/privacy/rules.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

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

/* The outcome with `now`, the numbers of histories: of each row, and of all rows of its person. */
static char *
number_histories(const Run *run)
{
	const Histories *histories = run->request->series.histories;
	char *numbered = history_table(run, "numbered");

	history_sql(
		"CREATE UNLOGGED TABLE %s AS SELECT o.nr, o.class, o.label, o.whole, pg_catalog.dense_rank() OVER (PARTITION BY"
		" o.whole ORDER BY o.label COLLATE pg_catalog.\"C\") AS now FROM %s AS o",
		numbered, histories->outcome);
	return numbered;
}

/* The number of the history of all rows of the person of `o`: a join, and the column. */
static char *
join_whole(const Histories *histories, const char *numbered)
{
	return histories->by_person ? psprintf(" LEFT JOIN %s AS w ON w.nr" EQ "o.nr AND w.whole", numbered)
								: " CROSS JOIN (SELECT NULL::pg_catalog.int8 AS now) AS w";
}

/* Rows that are shown. */
static void
keep_shown(const Run *run, const char *numbered)
{
	const Histories *histories = run->request->series.histories;

	history_sql("INSERT INTO %s SELECT %s, b." HISTORY_ROW ", b." HISTORY_PERSON ", o.class, o.now, w.now,"
				" CASE WHEN b." COPY_HELD " THEN coalesce(p." HISTORY_SINCE ", " INT64_FORMAT ") END,"
				" coalesce(p." HISTORY_CHANGES ", 0) OPERATOR(pg_catalog.+) b." COPY_CHANGED
				"::pg_catalog.int4, NULL, false, NULL"
				" FROM %s AS b JOIN %s AS o ON o.nr" EQ "b." HISTORY_ROW
				" AND NOT o.whole%s LEFT JOIN %s AS p ON p." HISTORY_ROW EQ "b." HISTORY_ROW
				" AND p." HISTORY_PAST " IS NULL AND p." HISTORY_NUMBER " IS NOT NULL"
				/* (of the others it says nothing) */
				" AND (p." HISTORY_SINCE " IS NOT NULL OR p." HISTORY_CHANGES " OPERATOR(pg_catalog.<>) 0)",
				histories->after, row_columns(run, NULL), histories->release, histories->source, numbered,
				join_whole(histories, numbered), history_before(histories));
}

/* HISTORY_KEPT of a row that is gone, `b`, which becomes of it what the label says, `o`. */
static char *
kept_of_gone(const Source *source)
{
	const char *alone = "pg_catalog.right(o.label, 2)" EQ "'{}'::pg_catalog.text";
	char *kept = history_kept(source), *marks = history_marks(source, "b");

	if (marks == NULL)
		return psprintf("CASE WHEN %s THEN %s END", alone, kept);
	return psprintf("pg_catalog.concat(CASE WHEN NOT %s OR b." HISTORY_GONE
					" AND coalesce(pg_catalog.left(b." HISTORY_KEPT ", 1), '>')" EQ
					"'>' THEN '>' END, CASE WHEN b." HISTORY_GONE " THEN pg_catalog.ltrim(b." HISTORY_KEPT
					", '>') ELSE pg_catalog.concat(%s, %s) END)",
					alone, kept, marks);
}

/* Rows that were, and are not in the copy: gone for good, or rows of the source that are not shown again yet. */
static void
keep_absent(const Run *run, const char *numbered)
{
	const Histories *histories = run->request->series.histories;

	history_sql(
		"INSERT INTO %s SELECT %s, b." HISTORY_ROW ", b." HISTORY_PERSON ", NULL, o.now, w.now,"
		" CASE WHEN NOT e.gone THEN coalesce(b." HISTORY_SINCE ", " INT64_FORMAT ") END, b." HISTORY_CHANGES
		", NULL, e.gone, CASE WHEN e.gone THEN %s END FROM %s AS b JOIN %s AS o ON o.nr" EQ "b." HISTORY_ROW
		" AND NOT o.whole AND o.class IS NULL%s CROSS JOIN LATERAL (SELECT b." HISTORY_GONE
		" OR EXISTS (SELECT 1 FROM %s AS e WHERE e." HISTORY_ROW EQ "b." HISTORY_ROW
		") AS gone) AS e WHERE " HISTORY_LATEST
		" AND NOT EXISTS (SELECT 1 FROM %s AS s WHERE s." HISTORY_ROW EQ "b." HISTORY_ROW ")",
		histories->after, row_columns(run, history_has_rules(run) ? NULL : "NOT e.gone"), histories->release,
		kept_of_gone(run->source), histories->before_name, numbered, join_whole(histories, numbered),
		histories->ended, histories->source);
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

/* Counts persons who are shown though gone, and those who are there and not shown. */
static void
count_otherwise(Histories *histories)
{
	bool isnull;

	history_sql("SELECT pg_catalog.count(*), coalesce(pg_catalog.sum(w.n), 0)::pg_catalog.int8 FROM (SELECT"
				" pg_catalog.count(*) AS n FROM %s AS a WHERE a." HISTORY_CLASS
				" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s AS p WHERE p." HISTORY_PERSON EQ
				"a." HISTORY_PERSON ") GROUP BY a." HISTORY_PERSON ") AS w",
				histories->after, histories->present);
	histories->told.gone = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	histories->told.gone_rows = DatumGetInt64(gate_value(0, 2, INT8OID, &isnull));
	history_sql("SELECT pg_catalog.count(*) FROM %s AS p WHERE NOT EXISTS (SELECT 1 FROM %s AS a WHERE"
				" a." HISTORY_PERSON EQ "p." HISTORY_PERSON " AND a." HISTORY_CLASS " IS NOT NULL)",
				histories->present, histories->after);
	histories->told.waiting = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

/* Those who were shown and are not, or the other way round, and those of whom something else is shown. */
static void
count_fewest(Histories *histories)
{
	bool isnull;

	history_sql(
		"SELECT coalesce(pg_catalog.min(x.n), 0)::pg_catalog.int8 FROM (SELECT pg_catalog.count(DISTINCT o.person) AS n"
		" FROM %s AS o LEFT JOIN (SELECT * FROM %s AS b WHERE " HISTORY_LATEST ") AS b ON b." HISTORY_ROW EQ
		"o.nr WHERE (o.class IS NOT NULL OR b." HISTORY_CLASS " IS NOT NULL) AND ((o.class IS NULL)"
		" OPERATOR(pg_catalog.<>) (b." HISTORY_CLASS " IS NULL) OR o.unit IS NOT NULL AND NOT o.held)"
		" GROUP BY o.label) AS x",
		histories->outcome, history_before(histories));
	histories->fewest = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

void
histories_keep(Run *run)
{
	Histories *histories = run->request->series.histories;
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
	/* what the method has left out is not shown */
	history_sql("DELETE FROM %s AS s USING %s AS o WHERE o.nr" EQ "s." HISTORY_ROW " AND o.class IS NULL",
				histories->source, histories->outcome);
	numbered = number_histories(run);
	keep_shown(run, numbered);
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
	count_otherwise(histories);
	history_sql("DROP TABLE %s, %s, %s, %s, %s", histories->present, histories->ended, histories->waiting,
				histories->outcome, numbered);
}

/* ---- the last look ---- */

static void refuse(const char *what, const char *format, ...) pg_attribute_printf(2, 3);

/* Raises when the query finds a row. */
static void
refuse(const char *what, const char *format, ...)
{
	bool found;
	int nest;
	char *sql;
	va_list args;

	va_start(args, format);
	sql = psprintf("%s LIMIT 1", history_query(format, args));
	va_end(args);
	nest = blind_plans_begin();
	found = gate_execute_plain(sql, false, SPI_OK_SELECT) > 0;
	plain_text_end(nest);
	if (found)
		raise_unsafe(what);
}

#define OLD "b." HISTORY_PAST " IS NULL AND b." HISTORY_NUMBER " IS NOT NULL"
#define NEW "n." HISTORY_PAST " IS NULL AND n." HISTORY_NUMBER " IS NOT NULL"

/*
 * The values of each history, in each state that is known of it; but of what goes on as a whole, with what is
 * kept as it was, nothing new is told.
 */
static void
verify_values(Run *run)
{
	const Histories *histories = run->request->series.histories;
	const Source *source = run->source;
	const char *after = histories->after, *before = history_before(histories);
	char *labelled = history_table(run, "values");
	char *broken;

	history_sql(
		"CREATE UNLOGGED TABLE %s AS SELECT pg_catalog.dense_rank() OVER (ORDER BY x.history, x.state) AS " HISTORY_NUMBER
		", x.*"
		" FROM (SELECT n." HISTORY_NUMBER " AS history, n." HISTORY_CHANGES
		" AS state%s FROM %s AS n WHERE " NEW " UNION ALL SELECT n." HISTORY_NUMBER ", p." HISTORY_PAST
		"%s FROM %s AS p JOIN %s AS n ON n." HISTORY_ROW EQ "p." HISTORY_ROW " WHERE p." HISTORY_PAST
		" IS NOT NULL AND " NEW ") AS x",
		labelled, history_ruled(source, "n"), after, history_ruled(source, "p"), after, after);
	broken = histories_break_rules(run, labelled);
	if (broken != NULL)
		refuse("The values of a history break a privacy rule.",
			   "SELECT 1 FROM %s AS v JOIN %s AS n ON n." HISTORY_NUMBER EQ
			   "v.history LEFT JOIN (SELECT * FROM %s AS b WHERE " OLD ") AS b ON b." HISTORY_ROW EQ
			   "n." HISTORY_ROW " WHERE v." HISTORY_NUMBER " IN (%s) AND " NEW " AND (b." HISTORY_ROW
			   " IS NULL OR n." HISTORY_CHANGES " OPERATOR(pg_catalog.<>) b." HISTORY_CHANGES
			   " OR EXISTS (SELECT 1 FROM %s AS o JOIN %s AS m ON m." HISTORY_ROW EQ "o." HISTORY_ROW
			   " AND m." HISTORY_PAST " IS NULL WHERE o." HISTORY_PAST " IS NULL AND o." HISTORY_NUMBER EQ
			   "b." HISTORY_NUMBER " AND m." HISTORY_NUMBER " OPERATOR(pg_catalog.<>) n." HISTORY_NUMBER "))",
			   labelled, after, before, broken, before, after);
	history_sql("DROP TABLE %s", labelled);
}

/*
 * The rows of one history have gone the same way, and are not those of too few persons, unless they are all that it was before:
 * 1 or 2 says which of these a history breaks.
 */
static void
verify_rows(const Run *run)
{
	const char *before = run->request->series.histories->before_name;
	const char *after = run->request->series.histories->after;
	const Source *source = run->source;
	bool isnull;
	int32 broken;

	history_sql(
		"SELECT coalesce(pg_catalog.min(CASE WHEN h.otherwise THEN 1 WHEN h.persons OPERATOR(pg_catalog.<) " INT64_FORMAT
		" AND (h.history IS NULL OR h.parts OPERATOR(pg_catalog.>) 1) THEN 2 END), 0) FROM"
		" (SELECT g.*, pg_catalog.count(*) OVER (PARTITION BY g.history) AS parts FROM"
		" (SELECT pg_catalog.count(DISTINCT n." HISTORY_PERSON
		") AS persons, pg_catalog.min(b." HISTORY_NUMBER
		") AS history, pg_catalog.min(coalesce(n." HISTORY_CLASS ", -1))"
		" OPERATOR(pg_catalog.<>) pg_catalog.max(coalesce(n." HISTORY_CLASS
		", -1)) OR pg_catalog.min(coalesce(b." HISTORY_NUMBER
		", -1)) OPERATOR(pg_catalog.<>) pg_catalog.max(coalesce(b." HISTORY_NUMBER
		", -1)) OR pg_catalog.bool_or(k.changed) AND NOT pg_catalog.bool_and(k.changed) AS otherwise"
		" FROM %s AS n LEFT JOIN (SELECT * FROM %s AS b WHERE " OLD ") AS b ON b." HISTORY_ROW EQ
		"n." HISTORY_ROW " CROSS JOIN LATERAL (SELECT CASE WHEN b." HISTORY_ROW
		" IS NOT NULL AND n." HISTORY_CLASS
		" IS NOT NULL THEN pg_catalog.md5(%s) IS DISTINCT FROM %s ELSE false END AS changed) AS k WHERE " NEW
		" GROUP BY n." HISTORY_NUMBER ") AS g) AS h",
		run->problem.k, after, before, history_text(source->kept, source->nkept, "n"), history_kept(source));
	broken = DatumGetInt32(gate_value(0, 1, INT4OID, &isnull));
	if (broken == 1)
		raise_unsafe("Rows of one history have not gone the same way.");
	if (broken == 2)
		raise_unsafe("A history is that of too few persons.");
}

/* The persons whose rows had and have the same histories: too few, unless they are all that were together before. */
static void
verify_persons(const Run *run)
{
	const Histories *histories = run->request->series.histories;
	char *persons = psprintf(
		"p AS MATERIALIZED (SELECT n." HISTORY_PERSON " AS person, pg_catalog.array_agg(n." HISTORY_WHOLE
		" ORDER BY n." HISTORY_WHOLE ") AS now, w.were FROM %s AS n LEFT JOIN (SELECT b." HISTORY_PERSON
		" AS person, pg_catalog.array_agg(coalesce(b." HISTORY_WHOLE ", b." HISTORY_NUMBER
		") ORDER BY coalesce(b." HISTORY_WHOLE ", b." HISTORY_NUMBER ")) AS were FROM %s AS b WHERE " OLD
		" GROUP BY b." HISTORY_PERSON ") AS w ON w.person" EQ "n." HISTORY_PERSON " WHERE " NEW
		" GROUP BY n." HISTORY_PERSON ", w.were)",
		histories->after, history_before(histories));

	refuse("Persons of one history have not gone the same way.",
		   "WITH %s SELECT 1 FROM p GROUP BY p.now HAVING pg_catalog.count(DISTINCT coalesce(p.were, '{}'))"
		   " OPERATOR(pg_catalog.>) 1",
		   persons);
	refuse(
		"The history of all rows of a person is that of too few persons.",
		"WITH %s, n AS (SELECT p.now, pg_catalog.min(p.were) AS were, pg_catalog.count(*) AS n FROM p GROUP BY p.now)"
		" SELECT 1 FROM n WHERE n.n OPERATOR(pg_catalog.<) " INT64_FORMAT " AND (n.were IS NULL OR EXISTS"
		" (SELECT 1 FROM p WHERE p.were" EQ "n.were AND p.now OPERATOR(pg_catalog.<>) n.now))",
		persons, run->problem.k);
}

void
histories_verify(Run *run)
{
	const Histories *histories = run->request->series.histories;
	const char *before = histories->before_name, *after = histories->after;
	int nest = plain_text_begin();

	refuse(
		"Its classes are not those whose histories were counted.",
		"SELECT 1 FROM (SELECT pg_catalog.array_agg(x.n ORDER BY x.n) AS n FROM (SELECT pg_catalog.count(*) AS n FROM %s AS t"
		" GROUP BY %s) AS x) AS t CROSS JOIN (SELECT pg_catalog.array_agg(x.n ORDER BY x.n) AS n FROM (SELECT"
		" pg_catalog.count(*) AS n FROM %s AS n WHERE n." HISTORY_CLASS
		" IS NOT NULL GROUP BY n." HISTORY_CLASS ") AS x) AS n"
		" WHERE t.n::pg_catalog.text IS DISTINCT FROM n.n::pg_catalog.text",
		run->target->building, class_columns(run), after);
	if (before == NULL)
	{
		refuse("Rows of one history are in different classes.",
			   "SELECT 1 FROM %s AS n WHERE " NEW " GROUP BY n." HISTORY_NUMBER
			   " HAVING pg_catalog.min(n." HISTORY_CLASS
			   ") OPERATOR(pg_catalog.<>) pg_catalog.max(n." HISTORY_CLASS ")",
			   after);
		if (history_has_rules(run))
			verify_values(run);
		plain_text_end(nest);
		return;
	}
	refuse("A row that was published has no history.",
		   "SELECT 1 FROM (SELECT b." HISTORY_ROW " AS nr FROM %s AS b WHERE " OLD
		   ") AS b FULL JOIN (SELECT n." HISTORY_ROW
		   " AS nr, pg_catalog.count(*) AS n FROM %s AS n WHERE " NEW " GROUP BY n." HISTORY_ROW
		   ") AS n ON n.nr" EQ "b.nr WHERE n.nr IS NULL OR n.n OPERATOR(pg_catalog.>) 1",
		   before, after);
	verify_rows(run);
	if (histories->by_person)
		verify_persons(run);
	if (history_has_rules(run))
		verify_values(run);
	plain_text_end(nest);
}

/* ---- Do the values of the persons of one history keep the privacy rules? ---- */

static bool
is_of_values(const PrivacyWords *words)
{
	return words->kind <= PRIVACY_SUBJECT;
}

/* The rules that are not about a population; NULL: there are none. */
static Privacy *
rules_of_values(const Privacy *privacy)
{
	Privacy *copy = palloc0(sizeof(Privacy));

	if (privacy == NULL)
		return NULL;
	copy->words = palloc(sizeof(PrivacyWords) * privacy->n);
	copy->population = palloc0(sizeof(Source *) * privacy->n);
	copy->hierarchy = palloc(sizeof(HierarchyChoice) * privacy->n);
	copy->column = palloc(sizeof(privacy->column[0]) * privacy->n);
	for (int r = 0; r < privacy->n; r++)
		if (is_of_values(&privacy->words[r]))
		{
			copy->words[copy->n] = privacy->words[r];
			copy->hierarchy[copy->n] = privacy->hierarchy[r];
			memcpy(copy->column[copy->n++], privacy->column[r], sizeof(privacy->column[0]));
		}
	return copy->n > 0 ? copy : NULL;
}

bool
history_has_rules(const Run *run)
{
	for (int r = 0; run->request->privacy != NULL && r < run->request->privacy->n; r++)
		if (is_of_values(&run->request->privacy->words[r]))
			return true;
	return false;
}

char *
history_ruled(const Source *source, const char *of)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int c = source->nqis; c < source->ngrouped; c++)
		appendStringInfo(&list, ", %s.%s", of, source->qis[c].quoted);
	return list.data;
}

/* As a source whose one quasi-identifier is the label. */
static Source *
labelled_source(const Source *source, const char *name)
{
	Source *copy = palloc0(sizeof(Source));

	copy->relid = history_oid(name);
	copy->name = pstrdup(name);
	copy->nqis = 1;
	copy->ngrouped = 1 + source->ngrouped - source->nqis;
	copy->qis = palloc0(sizeof(SourceColumn) * copy->ngrouped);
	copy->qis[0].name = HISTORY_NUMBER;
	copy->qis[0].quoted = HISTORY_NUMBER;
	copy->qis[0].type = INT8OID;
	copy->qis[0].typmod = -1;
	memcpy(copy->qis + 1, source->qis + source->nqis, sizeof(SourceColumn) * (copy->ngrouped - 1));
	for (int c = 1; c < copy->ngrouped; c++)
		copy->qis[c].dictionary = NULL;
	copy->levels = no_levels(1);
	return copy;
}

char *
histories_break_rules(Run *run, const char *labelled)
{
	Source *source = labelled_source(run->source, labelled);
	KanonProblem problem = {.env = &run->border->env, .k = run->problem.k, .residual = KANON_RESIDUAL_DROP};
	RowTypes *types;
	StringInfoData broken;
	uint32 *order, *first;
	uint32 nlabels;

	initStringInfo(&broken);
	types = rowtypes_read_written(source, NULL, run->border);
	if (types->ntypes == 0)
		return NULL;
	problem.ncolumns = 1;
	problem.columns = types->columns;
	problem.ntypes = types->ntypes;
	problem.rows = types->rows;
	privacy_rules(rules_of_values(run->request->privacy), types, NULL, &problem, true,
				  run->request->series.histories->none, run->border);
	nlabels = dictionary_size(source->qis[0].dictionary);
	first = border_palloc(run->border, sizeof(uint32) * ((Size) nlabels + 1));
	order = border_palloc(run->border, sizeof(uint32) * (Size) types->ntypes);
	memset(first, 0, sizeof(uint32) * ((Size) nlabels + 1));
	for (uint32 i = 0; i < types->ntypes; i++)
		first[types->grouped[0].code[i] + 1]++;
	for (uint32 i = 0; i < nlabels; i++)
		first[i + 1] += first[i];
	for (uint32 i = 0; i < types->ntypes; i++)
		order[first[types->grouped[0].code[i]]++] = i;
	for (uint32 label = 0; label < nlabels; label++)
	{
		uint32 from = label == 0 ? 0 : first[label - 1];
		bool isnull;

		CHECK_FOR_INTERRUPTS();
		if (first[label] > from &&
			!kanon_privacy_allows(&problem, order + from, NULL, first[label] - from, false, NULL))
			appendStringInfo(&broken, "%s" INT64_FORMAT, broken.len > 0 ? ", " : "",
							 DatumGetInt64(dictionary_value(source->qis[0].dictionary, label, &isnull)));
		if (kanon_privacy_failed(problem.privacy))
			border_check(run->border, KANON_NO_MEMORY, "");
	}
	kanon_privacy_close(problem.privacy);
	border_pfree(run->border, first);
	border_pfree(run->border, order);
	return broken.len > 0 ? broken.data : NULL;
}
