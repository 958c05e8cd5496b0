/*
 * values.c: publications that protect values: each night's signatures, between the private table of the release before and the
 * core (core/cluster/signatures.h), which decides who is shown with which.
 *
 * Row types are persons: the key tells them apart.  A private table keeps the signature of everybody who was ever shown, of
 * persons who left, too: they may come back.
 */
#include "compat.h"
#include "core/cluster/signatures.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "options/together.h"
#include "rows/dictionary.h"
#include "rows/verify.h"
#include "series/values.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* A night with more different values would take too long. */
#define MOST_VALUES 1000

/* A person who was shown, and is not in the source. */
typedef struct Gone
{
	Datum key;
	uint32 signature;
} Gone;

typedef struct SignedPersons
{
	Run *run;
	MemoryContext context;
	const SourceColumn *key, *column;
	int at_key, at_column; /* their places among those that tell row types apart */
	Dictionary *absent;    /* values of signatures that nobody has tonight: their codes follow the others */
	KanonSignatures signatures;
	int32 *number; /* [signatures that were read] what they are called in the private table */
	Size room_number;
	uint32 *person; /* [distinct keys] the row type of each */
	uint32 *before; /* [ntypes] */
	int64 *since;   /* [ntypes] */
	uint32 *now;    /* [ntypes] */
	Gone *gone;
	Size ngone, room_gone;
	/* a signature while it is read */
	uint32 *value;
	Size nvalues, room_values;
	int32 at;
} SignedPersons;

const PrivacyWords *
values_rule(const Request *request)
{
	int r = privacy_find(request->privacy, PRIVACY_DISTINCT_L);

	return r >= 0 ? &request->privacy->words[r] : NULL;
}

void
values_refuse_several(const char *key)
{
	together_refuse(TOGETHER_VALUES_SEVERAL, key, NULL);
}

bool
values_are_kept(Oid relid)
{
	return OidIsValid(relid) && get_attnum(relid, VALUES_SIGNATURE) != InvalidAttrNumber;
}

void
values_open(Run *run)
{
	const char *key = run->request->series.key;
	int n;
	SourceColumn *columns = source_columns(run->source, name_list(&key, 1), "key", "a key", &n);

	(void) source_group_by(run->source, &columns[0]);
	source_check_groupable(run->source->qis, run->source->ngrouped);
}

/* ---- the private table of the release before ---- */

static int
find_grouped(const Source *source, const char *name)
{
	for (int c = source->nqis; c < source->ngrouped; c++)
		if (strcmp(source->qis[c].name, name) == 0)
			return c;
	elog(ERROR, "column \"%s\" does not tell row types apart", name);
}

pg_noreturn static void
raise_anew(const char *detail)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("the next release cannot go on from the one before, whose values are protected"),
		 errdetail("%s", detail),
		 errhint("Undo what was altered. Or begin anew: kanon_alter_publication with protect_successive => "
				 "false, a refresh, and then 'values' again. Readers who keep releases can compare those "
				 "before.")));
}

static void
check_column(Oid before, const SourceColumn *column, const char *detail)
{
	Relation rel = table_open(before, AccessShareLock);
	AttrNumber attnum = get_attnum(before, column->name);
	Form_pg_attribute attribute = attnum > 0 ? TupleDescAttr(RelationGetDescr(rel), attnum - 1) : NULL;
	bool same = attribute != NULL && attribute->atttypid == column->type &&
				attribute->atttypmod == column->typmod && attribute->attcollation == column->collation;

	table_close(rel, NoLock);
	if (!same)
		raise_anew(detail);
}

static uint32
value_code(SignedPersons *s, Datum value, bool isnull)
{
	uint32 code = dictionary_find(s->column->dictionary, value, isnull);

	return code != DICTIONARY_NONE
			   ? code
			   : dictionary_size(s->column->dictionary) + dictionary_add(s->absent, value, isnull);
}

static Datum
code_value(const SignedPersons *s, uint32 code, bool *isnull)
{
	uint32 distinct = dictionary_size(s->column->dictionary);

	return code < distinct ? dictionary_value(s->column->dictionary, code, isnull)
						   : dictionary_value(s->absent, code - distinct, isnull);
}

/* The values that were read are a signature. */
static void
end_signature(SignedPersons *s)
{
	size_t n;

	if (s->nvalues == 0)
		return;
	n = unique_codes(s->value, s->nvalues);
	if (!kanon_signatures_add(&s->run->border->env, &s->signatures, s->value, (uint32) n))
		border_check(s->run->border, KANON_NO_MEMORY, "");
	s->number[s->signatures.n - 1] = s->at;
	s->nvalues = 0;
}

enum
{
	SIGNED_KEY,
	SIGNED_VALUE,
	SIGNED_SIGNATURE,
	SIGNED_SINCE,
	SIGNED_PERSON,
	SIGNED_COLUMNS
};

static bool
receive_value(void *arg, TupleTableSlot *slot)
{
	SignedPersons *s = arg;
	int32 number;

	gate_refuse_null("a private table of kanon's", slot, SIGNED_SIGNATURE);
	number = DatumGetInt32(slot->tts_values[SIGNED_SIGNATURE]);
	if (s->nvalues > 0 && number != s->at)
		end_signature(s);
	s->at = number;
	s->number =
		border_grow(s->run->border, s->number, &s->room_number, (Size) s->signatures.n + 1, sizeof(int32));
	s->value = border_grow(s->run->border, s->value, &s->room_values, s->nvalues + 1, sizeof(uint32));
	s->value[s->nvalues++] = value_code(s, slot->tts_values[SIGNED_VALUE], slot->tts_isnull[SIGNED_VALUE]);
	return true;
}

/* The place of a signature that is called so. */
static uint32
find_signature(const SignedPersons *s, int32 number)
{
	uint32 low = 0, high = s->signatures.n;

	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;

		if (s->number[middle] == number)
			return middle;
		if (s->number[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	raise_anew("Its private table names a signature that it does not have.");
}

static bool
receive_person(void *arg, TupleTableSlot *slot)
{
	SignedPersons *s = arg;
	uint32 signature = KANON_NO_SIGNATURE, code;

	if (!slot->tts_isnull[SIGNED_SIGNATURE])
		signature = find_signature(s, DatumGetInt32(slot->tts_values[SIGNED_SIGNATURE]));
	code = dictionary_find(s->key->dictionary, slot->tts_values[SIGNED_KEY], slot->tts_isnull[SIGNED_KEY]);
	if (code != DICTIONARY_NONE)
	{
		uint32 type = s->person[code];

		s->before[type] = signature;
		if (!slot->tts_isnull[SIGNED_SINCE])
			s->since[type] = DatumGetInt64(slot->tts_values[SIGNED_SINCE]);
	}
	else if (signature != KANON_NO_SIGNATURE && !slot->tts_isnull[SIGNED_KEY])
	{
		MemoryContext old = MemoryContextSwitchTo(s->context);
		int16 length;
		bool by_value;

		get_typlenbyval(s->key->type, &length, &by_value);
		s->gone = border_grow(s->run->border, s->gone, &s->room_gone, s->ngone + 1, sizeof(Gone));
		s->gone[s->ngone++] = (Gone){datumCopy(slot->tts_values[SIGNED_KEY], by_value, length), signature};
		MemoryContextSwitchTo(old);
	}
	return true;
}

static void
read_lines(SignedPersons *s, const char *which, GateReceive receive)
{
	Oid before = s->run->request->series.values->before;
	const char *name = name_relation(before);
	Gate *gate = gate_create(name, before, SIGNED_COLUMNS);

	gate_columns(gate, s->key, 1);
	gate_columns(gate, s->column, 1);
	gate_computed(gate, VALUES_SIGNATURE, INT4OID);
	gate_computed(gate, VALUES_SINCE, INT8OID);
	gate_computed(gate, VALUES_PERSON, BOOLOID);
	gate_select(gate,
				psprintf("SELECT v.%s, v.%s, v." VALUES_SIGNATURE ", v." VALUES_SINCE ", v." VALUES_PERSON
						 " FROM %s AS v WHERE %s",
						 s->key->quoted, s->column->quoted, name, which),
				true, receive, s);
}

/* A larger l than that of signatures that were shown cannot be kept. */
static void
check_l(const SignedPersons *s)
{
	uint32 l = (uint32) values_rule(s->run->request)->l;

	for (uint32 i = 0; i < s->signatures.n; i++)
		if (s->signatures.first[i + 1] - s->signatures.first[i] < l)
			raise_anew(psprintf("Persons were shown among %zu values, and the rule asks for %u now.",
								s->signatures.first[i + 1] - s->signatures.first[i], l));
}

static void
read_before(SignedPersons *s)
{
	const Values *values = s->run->request->series.values;

	if (!OidIsValid(values->before))
		return;
	check_column(values->before, s->key, "The key has another type than before.");
	check_column(values->before, s->column, "The rule is about another column than before.");
	read_lines(s, "NOT v." VALUES_PERSON " ORDER BY v." VALUES_SIGNATURE, receive_value);
	end_signature(s);
	read_lines(s, "v." VALUES_PERSON, receive_person);
	check_l(s);
}

/* ---- the persons of the night ---- */

static SignedPersons *
persons_of(Run *run)
{
	const Source *source = run->source;
	const RowTypes *types = run->types;
	SignedPersons *s = palloc0(sizeof(SignedPersons));
	uint32 n = types->ntypes, keys;

	s->run = run;
	s->context = CurrentMemoryContext;
	s->at_key = find_grouped(source, run->request->series.key);
	s->at_column = find_grouped(source, values_rule(run->request)->columns[0]);
	s->key = &source->qis[s->at_key];
	s->column = &source->qis[s->at_column];
	s->absent = dictionary_create(CurrentMemoryContext, s->column);
	keys = dictionary_size(s->key->dictionary);
	if (types->grouped[s->at_key].has_null)
		raise_null_keys(s->key->name);
	if (types->nrows != (int64) keys || n != keys)
		values_refuse_several(s->key->name);
	if (dictionary_size(s->column->dictionary) > MOST_VALUES)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("column \"%s\" has too many values to be protected", s->column->name),
						errdetail("There are more than %d different ones.", MOST_VALUES),
						errhint("Publish a view that coarsens them.")));
	s->person = border_palloc(run->border, sizeof(uint32) * Max(n, 1));
	s->before = border_palloc(run->border, sizeof(uint32) * Max(n, 1));
	s->since = border_palloc(run->border, sizeof(int64) * Max(n, 1));
	s->now = border_palloc(run->border, sizeof(uint32) * Max(n, 1));
	for (uint32 i = 0; i < n; i++)
	{
		s->person[types->grouped[s->at_key].code[i]] = i;
		s->before[i] = s->now[i] = KANON_NO_SIGNATURE;
		s->since[i] = PG_INT64_MAX;
	}
	read_before(s);
	return s;
}

static void
tell(const SignedPersons *s)
{
	Values *values = s->run->request->series.values;
	int64 first = PG_INT64_MAX;

	memset(&values->told, 0, sizeof(values->told));
	values->told.gone_rows = values->told.source_rows = -1;
	values->told.among = values_rule(s->run->request)->l;
	for (uint32 i = 0; i < s->run->types->ntypes; i++)
		if (s->now[i] == KANON_NO_SIGNATURE)
		{
			s->since[i] = Min(s->since[i], values->release);
			first = Min(first, s->since[i]);
			values->told.persons++;
		}
		else
			s->since[i] = PG_INT64_MAX;
	values->told.waiting = values->told.persons;
	values->told.oldest = values->told.persons > 0 ? values->release - first + 1 : 0;
}

KanonStatus
values_solve(Run *run)
{
	SignedPersons *s = persons_of(run);
	const RowTypes *types = run->types;
	KanonNight night = {.env = &run->border->env,
						.persons = types->ntypes,
						.values = dictionary_size(s->column->dictionary),
						.l = (uint32) values_rule(run->request)->l,
						.k = run->problem.k,
						.value = types->grouped[s->at_column].code,
						.before = s->before,
						.since = s->since};
	KanonStatus status;

	run->request->series.values->persons = s;
	run->problem.residual = KANON_RESIDUAL_DROP;
	run->problem.leaves_out = true;
	if (FAULT(signature_anew))
		memset(s->before, 0xff, sizeof(uint32) * types->ntypes);
	status = kanon_signatures_assign(&night, &s->signatures, s->now);
	if (status == KANON_OK)
		status = kanon_signatures_solve(&run->problem, &night, &s->signatures, s->now, &run->release,
										&run->report);
	if (status == KANON_OK)
		tell(s);
	return status;
}

/* ---- the private table of the release ---- */

static void
put_line(BulkWriter *bulk, const SignedPersons *s, Datum key, uint32 code, uint32 signature, int64 since,
		 bool person)
{
	TupleTableSlot *slot = bulk_slot(bulk);

	memset(slot->tts_isnull, false, sizeof(bool) * SIGNED_COLUMNS);
	slot->tts_values[SIGNED_KEY] = key;
	slot->tts_values[SIGNED_VALUE] = code_value(s, code, &slot->tts_isnull[SIGNED_VALUE]);
	slot->tts_values[SIGNED_SIGNATURE] = Int32GetDatum((int32) signature + 1);
	slot->tts_isnull[SIGNED_SIGNATURE] = signature == KANON_NO_SIGNATURE;
	slot->tts_values[SIGNED_SINCE] = Int64GetDatum(since);
	slot->tts_isnull[SIGNED_SINCE] = since == PG_INT64_MAX;
	slot->tts_values[SIGNED_PERSON] = BoolGetDatum(person);
	bulk_put(bulk);
}

/* A person with a signature; with the first one its values.  The value in the line is the first of them, not the person's. */
static void
put_signed(BulkWriter *bulk, const SignedPersons *s, Datum key, uint32 signature, int64 since, bool *defined)
{
	size_t first = s->signatures.first[signature];

	put_line(bulk, s, key, s->signatures.value[first], signature, since, true);
	for (size_t i = first; i < s->signatures.first[signature + 1] && !defined[signature]; i++)
		put_line(bulk, s, key, s->signatures.value[i], signature, PG_INT64_MAX, false);
	defined[signature] = true;
}

static Relation
make_table(const SignedPersons *s)
{
	const char *name = s->run->request->series.values->after;
	Oid relid;

	run_utility(psprintf("CREATE TABLE %s AS SELECT s.%s, s.%s, 0 AS " VALUES_SIGNATURE
						 ", 0::pg_catalog.int8 AS " VALUES_SINCE ", false AS " VALUES_PERSON
						 " FROM %s AS s WITH NO DATA",
						 name, s->key->quoted, s->column->quoted, s->run->source->name));
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'values among which each person of a kanon release stays; never publish this table'",
		name));
	relid = history_oid(name);
	keep_uncounted(relid);
	return table_open(relid, RowExclusiveLock);
}

void
values_keep(Run *run)
{
	SignedPersons *s = run->request->series.values->persons;
	const RowTypes *types = run->types;
	bool *defined;
	Relation rel;
	BulkWriter *bulk;

	/* (of no rows nothing was solved) */
	if (s == NULL)
	{
		s = run->request->series.values->persons = persons_of(run);
		tell(s);
	}
	defined = border_palloc(run->border, sizeof(bool) * Max(s->signatures.n, 1));
	memset(defined, false, sizeof(bool) * Max(s->signatures.n, 1));
	if (FAULT(signature_moved))
		for (uint32 i = 0; i < types->ntypes && s->signatures.n > 1; i++)
			s->now[i] = s->now[i] == 0 ? 1 : s->now[i];
	rel = make_table(s);
	bulk = bulk_begin(rel);
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		bool isnull;
		Datum key = dictionary_value(s->key->dictionary, types->grouped[s->at_key].code[i], &isnull);
		uint32 signature = s->now[i] != KANON_NO_SIGNATURE ? s->now[i] : s->before[i];

		if (signature != KANON_NO_SIGNATURE)
			put_signed(bulk, s, key, signature, s->since[i], defined);
		else
			put_line(bulk, s, key, types->grouped[s->at_column].code[i], signature, s->since[i], true);
	}
	for (Size i = 0; i < s->ngone; i++)
		put_signed(bulk, s, s->gone[i].key, s->gone[i].signature, PG_INT64_MAX, defined);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/* ---- the last look ---- */

/* Raises when the query finds a row. */
static void
refuse_rows(const char *what, const char *sql)
{
	bool found;
	int nest = blind_plans_begin();

	found = gate_execute_plain(psprintf("%s LIMIT 1", sql), false, SPI_OK_SELECT) > 0;
	plain_text_end(nest);
	if (found)
		raise_unsafe(what);
}

/* A reader of the release alone: no value is more frequent in a class than one in l. */
static void
verify_release(const Run *run, const char *value)
{
	char *class = class_columns(run);

	refuse_rows(
		"A value is too frequent in a class.",
		psprintf(
			"SELECT 1 FROM (SELECT pg_catalog.count(*) AS n, pg_catalog.sum(pg_catalog.count(*)) OVER (PARTITION BY %s)"
			" AS n_all FROM %s GROUP BY %s, %s) AS g WHERE g.n OPERATOR(pg_catalog.*) %d"
			" OPERATOR(pg_catalog.>) g.n_all",
			class, run->target->building, class, value, values_rule(run->request)->l));
}

/*
 * Those who are shown in a class with one signature have its values, all of them and in equal numbers: by the source, and by
 * the private tables of classes and of signatures.
 */
static void
verify_classes(const Run *run, const char *key, const char *value, const char *equal, const char *same)
{
	const Request *request = run->request;
	const char *after = request->series.values->after;

	refuse_rows(
		"The values of a class are not those of its signatures in equal numbers.",
		psprintf(
			"WITH d AS MATERIALIZED (SELECT d." VALUES_SIGNATURE
			" AS signature, d.%s AS value, pg_catalog.count(*) OVER (PARTITION BY d." VALUES_SIGNATURE
			") AS n FROM %s AS d WHERE NOT d." VALUES_PERSON "),"
			" c AS MATERIALIZED (SELECT p.class, a." VALUES_SIGNATURE
			" AS signature, s.%s AS value, pg_catalog.count(*) AS n"
			" FROM %s AS p JOIN %s AS s ON s.%s %s p.key LEFT JOIN %s AS a ON a.%s %s p.key AND a." VALUES_PERSON
			" GROUP BY p.class, a." VALUES_SIGNATURE ", s.%s)"
			" SELECT 1 FROM c LEFT JOIN d ON d.signature" EQ
			"c.signature AND (d.value %s c.value OR d.value IS NULL AND c.value IS NULL)"
			" GROUP BY c.class, c.signature HAVING pg_catalog.min(c.n) OPERATOR(pg_catalog.<>) pg_catalog.max(c.n)"
			" OR pg_catalog.count(d.n) OPERATOR(pg_catalog.<>) pg_catalog.count(*)"
			" OR pg_catalog.max(d.n) OPERATOR(pg_catalog.<>) pg_catalog.count(*)",
			value, after, value, request->series.persons, run->source->name, key, equal, after, key, equal,
			value, same));
}

/* A person with another signature than before shares no value with the old one. */
static void
verify_persons(const Run *run, const char *key, const char *value, const char *equal, const char *same)
{
	const Values *values = run->request->series.values;
	const char *before;

	if (!OidIsValid(values->before))
		return;
	before = name_relation(values->before);
	refuse_rows(
		"A person is among other values than before, of which some are the same.",
		psprintf(
			"WITH moved AS MATERIALIZED (SELECT DISTINCT b." VALUES_SIGNATURE " AS was, a." VALUES_SIGNATURE
			" AS is_now FROM %s AS b LEFT JOIN %s AS a ON a.%s %s b.%s AND a." VALUES_PERSON
			" WHERE b." VALUES_PERSON " AND b." VALUES_SIGNATURE " IS NOT NULL),"
			" kept AS (SELECT m.was, m.is_now, pg_catalog.count(*) AS n, pg_catalog.count(y." VALUES_SIGNATURE
			") AS n_same FROM moved AS m JOIN %s AS x ON x." VALUES_SIGNATURE EQ
			"m.was AND NOT x." VALUES_PERSON " LEFT JOIN %s AS y ON y." VALUES_SIGNATURE EQ
			"m.is_now AND NOT y." VALUES_PERSON
			" AND (y.%s %s x.%s OR y.%s IS NULL AND x.%s IS NULL) GROUP BY m.was, m.is_now)"
			" SELECT 1 FROM kept AS k WHERE k.is_now IS NULL OR k.n_same NOT IN (0, k.n)",
			before, values->after, key, equal, key, before, values->after, value, same, value, value, value));
}

void
values_verify(const Run *run)
{
	const SignedPersons *s = run->request->series.values->persons;
	const char *equal = key_equality(run->source->relid, s->key->name);
	const char *same = key_equality(run->source->relid, s->column->name);

	verify_release(run, s->column->quoted);
	verify_classes(run, s->key->quoted, s->column->quoted, equal, same);
	verify_persons(run, s->key->quoted, s->column->quoted, equal, same);
}
