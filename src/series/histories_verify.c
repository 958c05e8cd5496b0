/*
 * histories_verify.c: checks a protected release once more, from the rows stored before, the rows stored now and the target
 * alone; and asks privacy rules of the persons of each history.
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "core/util/number.h"
#include "host/border.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/cell_values.h"
#include "rows/dictionary.h"
#include "rows/verify.h"
#include "series/histories_rows.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

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

/* ---- rows, one by one ---- */

/* A history as it is stored now. */
typedef struct Now
{
	int64 rows;
	uint32 before; /* + 1; 0: it begins */
	uint32 class_; /* + 1; 0: absent */
	bool few, same, changed, otherwise;
} Now;

typedef struct Look
{
	Run *run;
	Histories *histories;
	int n; /* columns that are kept */
	ValueHash *hashes;
	uint64 secret;
	MemoryContext row;
	uint32 *history; /* [most_row + 1] of rows that were published before; 0: none */
	uint64 *kept;    /* [most_row + 1] hashes */
	uint8 *is;       /* [most_row + 1] flags */
	uint8 *known;    /* [most_person + 1] */
	Now *now;        /* [room] */
	Size room;
	int64 *sizes; /* [nclasses] of classes */
	bool several; /* rows of one person */
	bool back;    /* some were gone */
	int64 rows;   /* that were published before, and are not found again */
} Look;

#define IS_FOUND 1
#define IS_GONE 2

enum
{
	LOOK_ROW,
	LOOK_PERSON,
	LOOK_CLASS,
	LOOK_NUMBER,
	LOOK_GONE,
	LOOK_COLUMNS
};

static int64
number_below(const TupleTableSlot *slot, int column, int64 most)
{
	int64 number = number_at(slot, column);

	if (number > most)
		raise_altered();
	return number;
}

static uint64
hash_kept(Look *look, const TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(look->row);
	uint64 hash = hash_values(look->hashes, slot->tts_values + LOOK_COLUMNS, slot->tts_isnull + LOOK_COLUMNS,
							  look->n, look->secret);

	MemoryContextSwitchTo(old);
	MemoryContextReset(look->row);
	return hash;
}

static bool
look_before(void *arg, TupleTableSlot *slot)
{
	Look *look = arg;
	int64 row = number_below(slot, LOOK_ROW, look->histories->most_row);

	look->history[row] = (uint32) number_below(slot, LOOK_NUMBER, PG_UINT32_MAX - 1);
	if (flag_at(slot, LOOK_GONE))
		look->is[row] = IS_GONE;
	else
		look->kept[row] = hash_kept(look, slot);
	look->rows++;
	return true;
}

static bool
look_now(void *arg, TupleTableSlot *slot)
{
	Look *look = arg;
	int64 row = number_below(slot, LOOK_ROW, look->histories->most_row);
	int64 person = number_below(slot, LOOK_PERSON, look->histories->most_person);
	int64 history = number_below(slot, LOOK_NUMBER, PG_UINT32_MAX - 1);
	uint32 before = look->history[row];
	bool shown = !slot->tts_isnull[LOOK_CLASS];
	int64 number = shown ? DatumGetInt64(slot->tts_values[LOOK_CLASS]) : -1;
	uint32 class_ = (uint32) (number + 1);
	Size room = look->room;
	bool changed, back;
	Now *now;

	if ((look->is[row] & IS_FOUND) != 0)
		raise_unsafe("A row that was published has no history.");
	if (shown && (number < 0 || number >= look->run->release.nclasses))
		raise_altered();
	if (shown)
		look->sizes[number]++;
	look->rows -= before != 0;
	look->several = look->several || (look->known[person / 8] >> person % 8 & 1) != 0;
	look->known[person / 8] |= 1 << person % 8;
	look->now = border_grow(look->run->border, look->now, &look->room, (Size) history + 1, sizeof(Now));
	memset(look->now + room, 0, sizeof(Now) * (look->room - room));
	now = &look->now[history];
	if (now->rows++ == 0)
	{
		now->before = before;
		now->class_ = class_;
	}
	/* (of what was gone only a hash is left, which is compared later) */
	back = before != 0 && shown && look->is[row] == IS_GONE;
	changed = before != 0 && shown && !back && hash_kept(look, slot) != look->kept[row];
	now->changed = now->changed || changed;
	now->same = now->same || !(changed || back);
	now->otherwise = now->otherwise || now->before != before || now->class_ != class_;
	look->back = look->back || back;
	look->is[row] |= IS_FOUND;
	return true;
}

static void
look_through(Look *look, const char *table, GateReceive receive)
{
	const Source *source = look->run->source;
	Gate *gate = gate_create(table, history_oid(table), LOOK_COLUMNS + look->n);

	for (int i = LOOK_ROW; i <= LOOK_NUMBER; i++)
		gate_computed(gate, "number", INT8OID);
	gate_computed(gate, "gone", BOOLOID);
	gate_columns(gate, source->kept, look->n);
	gate_select(gate,
				psprintf("SELECT b." HISTORY_ROW ", b." HISTORY_PERSON ", b." HISTORY_CLASS
						 ", b." HISTORY_NUMBER ", b." HISTORY_GONE "%s%s FROM %s AS b WHERE " HISTORY_LATEST,
						 look->n > 0 ? ", " : "", column_list(source->kept, look->n), table),
				false, receive, look);
}

static bool
note_few(void *arg, TupleTableSlot *slot)
{
	Look *look = arg;

	look->now[number_below(slot, 0, (int64) look->room - 1)].few = true;
	return true;
}

/* Histories of fewer than k persons. */
static void
find_few(Look *look)
{
	const Histories *histories = look->histories;
	Gate *gate;

	for (Size h = 0; h < look->room; h++)
		look->now[h].few = look->now[h].rows > 0 && look->now[h].rows < look->run->problem.k;
	if (!look->several)
		return;
	gate = gate_create(histories->after, history_oid(histories->after), 1);
	gate_computed(gate, "history", INT8OID);
	gate_select(gate,
				psprintf("SELECT n." HISTORY_NUMBER " FROM %s AS n WHERE " NEW " GROUP BY n." HISTORY_NUMBER
						 " HAVING pg_catalog.count(DISTINCT n." HISTORY_PERSON
						 ") OPERATOR(pg_catalog.<) " INT64_FORMAT,
						 histories->after, look->run->problem.k),
				false, note_few, look);
}

/* Rows that were gone are compared by what is stored of them, with the others of their histories. */
static void
compare_back(const Look *look)
{
	const Source *source = look->run->source;
	const char *before = look->histories->before_name, *after = look->histories->after;

	refuse("Rows of one history have not gone the same way.",
		   "SELECT 1 FROM (SELECT n." HISTORY_NUMBER
		   " AS history, pg_catalog.md5(%s) IS DISTINCT FROM %s AS changed"
		   " FROM %s AS n JOIN %s AS b ON b." HISTORY_ROW EQ "n." HISTORY_ROW " WHERE " OLD " AND " NEW
		   " AND n." HISTORY_CLASS " IS NOT NULL AND n." HISTORY_NUMBER " IN (SELECT n." HISTORY_NUMBER
		   " FROM %s AS n JOIN %s AS b ON b." HISTORY_ROW EQ "n." HISTORY_ROW " WHERE " OLD " AND " NEW
		   " AND b." HISTORY_GONE " AND n." HISTORY_CLASS " IS NOT NULL)) AS h GROUP BY h.history"
		   " HAVING pg_catalog.bool_or(h.changed) AND NOT pg_catalog.bool_and(h.changed)",
		   history_text(source->kept, source->nkept, "n"), history_kept(source), after, before, after,
		   before);
}

/*
 * The rows of one history have gone the same way, and are not those of too few persons, unless they are all that it was before.
 */
static void
verify_rows(Run *run)
{
	Histories *histories = run->request->series.histories;
	Look look = {.run = run, .histories = histories, .n = run->source->nkept};
	Size rows = (Size) histories->most_row + 1, persons = (Size) histories->most_person / 8 + 1;
	uint32 *first;
	uint64 digest = 0;

	look.hashes = value_hashes(run->source->kept, look.n);
	random_fill(&look.secret, sizeof(look.secret));
	look.row = AllocSetContextCreate(CurrentMemoryContext, "kanon row of a history", ALLOCSET_SMALL_SIZES);
	look.history = border_palloc(run->border, sizeof(uint32) * rows);
	look.kept = border_palloc(run->border, sizeof(uint64) * rows);
	look.is = border_palloc(run->border, rows);
	look.known = border_palloc(run->border, persons);
	look.sizes = border_palloc(run->border, sizeof(int64) * Max(run->release.nclasses, 1));
	memset(look.sizes, 0, sizeof(int64) * run->release.nclasses);
	memset(look.history, 0, sizeof(uint32) * rows);
	memset(look.is, 0, rows);
	memset(look.known, 0, persons);
	if (histories->before_name != NULL)
		look_through(&look, histories->before_name, look_before);
	look_through(&look, histories->after, look_now);
	if (look.rows != 0)
		raise_unsafe("A row that was published has no history.");
	for (uint32 c = 0; c < run->release.nclasses; c++)
		digest += look.sizes[c] > 0 ? kanon_mix((uint64) look.sizes[c]) : 0;
	if (digest != run->found.digest)
		raise_unsafe("Its classes are not those whose histories were counted.");
	find_few(&look);
	/* of each history before: what all of it has become; PG_UINT32_MAX: several */
	first = border_palloc(run->border, sizeof(uint32) * ((Size) histories->most_history + 1));
	memset(first, 0, sizeof(uint32) * ((Size) histories->most_history + 1));
	for (Size h = 0; h < look.room; h++)
		if (look.now[h].rows > 0 && look.now[h].before != 0)
		{
			if (look.now[h].before > histories->most_history)
				raise_altered();
			first[look.now[h].before] = first[look.now[h].before] == 0 ? (uint32) h : PG_UINT32_MAX;
		}
	for (Size h = 0; h < look.room; h++)
	{
		const Now *now = &look.now[h];

		if (now->rows == 0)
			continue;
		if (now->otherwise || (now->changed && now->same))
			raise_unsafe("Rows of one history have not gone the same way.");
		/* (of the first release the classes were counted) */
		if (now->few && histories->before_name != NULL && (now->before == 0 || first[now->before] != h))
			raise_unsafe("A history is that of too few persons.");
	}
	if (look.back)
		compare_back(&look);
	border_pfree(run->border, first);
	border_pfree(run->border, look.now);
	border_pfree(run->border, look.sizes);
	border_pfree(run->border, look.known);
	border_pfree(run->border, look.is);
	border_pfree(run->border, look.kept);
	border_pfree(run->border, look.history);
	MemoryContextDelete(look.row);
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
	const char *before = histories->before_name;
	int nest = plain_text_begin();

	verify_rows(run);
	if (before != NULL && histories->by_person)
		verify_persons(run);
	if (history_has_rules(run))
		verify_values(run);
	plain_text_end(nest);
}

/* ---- Do the values of the persons of one history keep the privacy rules? ---- */

static bool
is_of_values(const PrivacyWords *words)
{
	return privacy_about(words->kind) != PRIVACY_OF_POPULATION;
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
