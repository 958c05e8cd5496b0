/*
 * histories_match.c: which rows of the source are as they were published last.
 *
 * The rows published last are noted by hashes of their key and of all their values, and each row of the source is
 * looked up as it comes.  If there are too many for the budget, persons are taken by shares, in several readings.  A row
 * that is met goes to the private copy at once, with its number and history; others go to a table of their own, where queries pair
 * them.  Rows published last that were not met go to a third table, as they were published.
 *
 * Hashes are of 128 bits for keys and of 64 bits among the rows of one person, with a secret that is drawn each time.
 */
#include "compat.h"
#include "core/util/number.h"
#include "host/border.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/settings.h"
#include "rows/target.h"
#include "rows/verify.h"
#include "series/histories_rows.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* ---- what was published last ---- */

/* Two hashes of a key. */
typedef struct Key
{
	uint64 one, two;
} Key;

typedef struct Before
{
	Key key;
	uint64 look;
	int64 row, person, history, whole, since;
	int32 changes;
	uint32 met;  /* of the first of rows that look the same: so many of these are */
	bool usable; /* it may be met: not gone, and no older state of a row */
	bool shown;
} Before;

typedef struct Person
{
	Key key;
	int64 number;
	Size first, n; /* usable rows of before */
	bool several;  /* in the source */
	bool there;
	char status;
} Person;

#define SH_PREFIX persons
#define SH_ELEMENT_TYPE Person
#define SH_KEY_TYPE Key
#define SH_KEY key
#define SH_HASH_KEY(table, key) ((uint32) (key).one)
#define SH_EQUAL(table, a, b) ((a).one == (b).one && (a).two == (b).two)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Flags of numbers, as bits; numbers beyond have none. */
typedef struct Bits
{
	uint8 *bytes;
	int64 n;
} Bits;

typedef struct Match
{
	Run *run;
	Histories *histories;
	const SourceColumn *columns; /* [n] */
	int n, key;
	ValueHash *looks;
	FmgrInfo *hash; /* of keys; NULL: they are numbered, */
	char *numbers;  /* in a table (key, number) */
	Oid collation;
	uint64 secret[2];
	MemoryContext row; /* reset after each */

	uint64 share, shares;
	Before *before; /* of this share */
	Size nbefore, room;
	int64 read;    /* rows of before */
	bool too_many; /* for the budget */
	persons_hash *persons;
	Bits used, met, there; /* rows of before, those that were met; persons of before that the source has */
	int64 next;            /* the last number that a new row has got */
	BulkWriter *copy, *fresh, *ended;
	Tuplestorestate *rows; /* of the source, where it is read again; or NULL */
	TupleDesc desc;
	int64 aside;
	int64 taken;
} Match;

static void
bits_begin(Match *match, Bits *bits, int64 n)
{
	bits->n = n;
	bits->bytes = border_palloc(match->run->border, (Size) n / 8 + 1);
	memset(bits->bytes, 0, (Size) n / 8 + 1);
}

static void
bits_set(Bits *bits, int64 i)
{
	if (i <= bits->n)
		bits->bytes[i / 8] |= 1 << i % 8;
}

static bool
bits_get(const Bits *bits, int64 i)
{
	return i <= bits->n && (bits->bytes[i / 8] >> i % 8 & 1) != 0;
}

/* The key of a row; its number, where it has one, is in that column. */
static Key
key_of(const Match *match, const TupleTableSlot *slot, int number)
{
	Key key;

	if (slot->tts_isnull[match->key])
		raise_null_keys(match->run->request->series.key);
	if (match->hash == NULL)
	{
		/* (a source that is not the same at the second reading) */
		if (slot->tts_isnull[number])
			raise_unsafe("A key was not there before.");
		key.one = key.two = kanon_mix((uint64) DatumGetInt64(slot->tts_values[number]));
		return key;
	}
	key.one = DatumGetUInt64(FunctionCall2Coll(match->hash, match->collation, slot->tts_values[match->key],
											   UInt64GetDatum(match->secret[0])));
	key.two = DatumGetUInt64(FunctionCall2Coll(match->hash, match->collation, slot->tts_values[match->key],
											   UInt64GetDatum(match->secret[1])));
	return key;
}

/* Reads a relation, `b`: its columns, some others, and the keys' numbers where keys have some. */
static void
read_rows(Match *match, Gate *gate, const char *others, bool read_only, GateReceive receive)
{
	StringInfoData sql;
	const char *key = match->columns[match->key].quoted;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT ");
	for (int i = 0; i < match->n; i++)
		appendStringInfo(&sql, "%sb.%s", i > 0 ? ", " : "", match->columns[i].quoted);
	appendStringInfoString(&sql, others);
	if (match->numbers != NULL)
	{
		gate_computed(gate, "number", INT8OID);
		appendStringInfo(&sql, ", k.number FROM %s AS b LEFT JOIN %s AS k ON k.key %s b.%s", gate->name,
						 match->numbers, key_equality(history_oid(match->numbers), "key"), key);
	}
	else
		appendStringInfo(&sql, " FROM %s AS b", gate->name);
	match->desc = gate->desc;
	gate_select(gate, sql.data, read_only, receive, match);
}

/* Keys of a type that has no hash function get numbers. */
static void
number_keys(Match *match)
{
	const Histories *histories = match->histories;
	const char *key = match->columns[match->key].quoted, *source = match->run->source->name;
	bool before = histories->before_name != NULL;

	match->numbers = history_table(match->run, "numbers");
	history_sql("CREATE UNLOGGED TABLE %s AS SELECT k.key, pg_catalog.row_number() OVER () AS number FROM"
				" (SELECT b.%s AS key FROM %s AS b UNION SELECT s.%s FROM %s AS s) AS k",
				match->numbers, key, before ? histories->before_name : source, key, source);
	keep_private(history_oid(match->numbers));
	gate_see_written();
}

static bool
is_of_share(const Match *match, Key key)
{
	return match->shares == 1 || key.two % match->shares == match->share;
}

static bool
is_latest(const TupleTableSlot *slot, int n)
{
	return slot->tts_isnull[n + BEFORE_PAST] && !slot->tts_isnull[n + BEFORE_NUMBER];
}

/* Counts all rows of before, in the first reading. */
static void
count_before(Match *match, const TupleTableSlot *slot, bool latest)
{
	Histories *histories = match->histories;
	int n = match->n;

	match->read++;
	histories->most_person = Max(histories->most_person, number_at(slot, n + BEFORE_PERSON));
	histories->most_history = Max(histories->most_history, number_or_none(slot, n + BEFORE_NUMBER));
	histories->most_row = Max(histories->most_row, number_or_none(slot, n + BEFORE_ROW));
	histories->knew_persons = histories->knew_persons || !slot->tts_isnull[n + BEFORE_WHOLE];
	histories->shown_before += latest && !slot->tts_isnull[n + BEFORE_CLASS];
}

static bool
receive_before(void *arg, TupleTableSlot *slot)
{
	Match *match = arg;
	int n = match->n;
	bool latest = is_latest(slot, n);
	MemoryContext old;
	Before *before;
	Key key;

	if (match->copy == NULL)
		count_before(match, slot, latest);
	if (match->too_many)
		return true;
	old = MemoryContextSwitchTo(match->row);
	key = key_of(match, slot, n + BEFORE_COLUMNS);
	if (is_of_share(match, key))
	{
		if (match->copy == NULL && (match->nbefore + 1) * sizeof(Before) > kanon_memory_limit() / 4)
			match->too_many = true;
		match->before =
			border_grow(match->run->border, match->before, &match->room, match->nbefore + 1, sizeof(Before));
		before = &match->before[match->nbefore++];
		memset(before, 0, sizeof(*before));
		before->key = key;
		before->person = number_at(slot, n + BEFORE_PERSON);
		before->usable = latest && !flag_at(slot, n + BEFORE_GONE);
		if (latest)
			before->row = number_at(slot, n + BEFORE_ROW);
		if (before->usable)
		{
			before->look = hash_values(match->looks, slot->tts_values, slot->tts_isnull, n, match->secret[0]);
			before->history = number_at(slot, n + BEFORE_NUMBER);
			before->whole = number_or_none(slot, n + BEFORE_WHOLE);
			before->since = number_or_none(slot, n + BEFORE_SINCE);
			before->changes = slot->tts_isnull[n + BEFORE_CHANGES]
								  ? 0
								  : DatumGetInt32(slot->tts_values[n + BEFORE_CHANGES]);
			before->shown = !slot->tts_isnull[n + BEFORE_CLASS];
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(match->row);
	return true;
}

/* The rows published last, with what is kept of them. */
static void
read_before(Match *match, GateReceive receive)
{
	const Histories *histories = match->histories;
	Gate *gate = gate_create(histories->before_name, histories->before,
							 match->n + BEFORE_COLUMNS + (match->numbers != NULL));

	gate_columns(gate, match->columns, match->n);
	for (int i = BEFORE_ROW; i <= BEFORE_SINCE; i++)
		gate_computed(gate, "number", INT8OID);
	gate_computed(gate, "changes", INT4OID);
	gate_computed(gate, "past", INT4OID);
	gate_computed(gate, "gone", BOOLOID);
	gate_computed(gate, "kept", TEXTOID);
	read_rows(match, gate, ", " HISTORY_COLUMNS, false, receive);
}

/* Rows that look the same follow each other, those that are shown first, in the order of their numbers. */
static int
compare_before(const void *x, const void *y)
{
	const Before *a = x, *b = y;

	if (a->key.one != b->key.one)
		return a->key.one < b->key.one ? -1 : 1;
	if (a->key.two != b->key.two)
		return a->key.two < b->key.two ? -1 : 1;
	if (a->usable != b->usable)
		return a->usable ? -1 : 1;
	if (a->person != b->person)
		return a->person < b->person ? -1 : 1;
	if (a->look != b->look)
		return a->look < b->look ? -1 : 1;
	if (a->shown != b->shown)
		return a->shown ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void
find_persons(Match *match)
{
	qsort(match->before, match->nbefore, sizeof(Before), compare_before);
	for (Size i = 0; i < match->nbefore; i++)
	{
		const Before *before = &match->before[i];
		bool found;
		Person *person = persons_insert(match->persons, before->key, &found);

		if (before->row != 0)
			bits_set(&match->used, before->row);
		if (!found)
		{
			person->number = before->person;
			person->first = i;
			person->n = 0;
			person->there = person->several = false;
		}
		person->number = Min(person->number, before->person);
		person->n += before->usable;
	}
}

/* The row of before that this row of the person is; NULL: none. */
static const Before *
find_row(const Match *match, const Person *person, uint64 look)
{
	Size from = person->first, to = person->first + person->n, end = to;
	Before *first;

	while (from < to)
	{
		Size middle = from + (to - from) / 2;
		const Before *before = &match->before[middle];

		if (before->person < person->number || (before->person == person->number && before->look < look))
			from = middle + 1;
		else
			to = middle;
	}
	if (from == end)
		return NULL;
	first = &match->before[from];
	if (from + first->met >= end || first[first->met].look != look ||
		first[first->met].person != person->number || first->look != look)
		return NULL;
	return &first[first->met++];
}

/* ---- the rows of the source ---- */

static int64
next_row(Match *match)
{
	do
		match->next++;
	while (bits_get(&match->used, match->next));
	return match->next;
}

static void
put_row(const Match *match, BulkWriter *bulk, const TupleTableSlot *slot, int64 person, const Before *before,
		int64 number)
{
	TupleTableSlot *row = bulk_slot(bulk);
	Datum *own = row->tts_values + match->n;
	bool *nulls = row->tts_isnull + match->n;

	memcpy(row->tts_values, slot->tts_values, sizeof(Datum) * match->n);
	memcpy(row->tts_isnull, slot->tts_isnull, sizeof(bool) * match->n);
	memset(nulls, false, sizeof(bool) * COPY_COLUMNS);
	own[AT_ROW] = Int64GetDatum(number);
	own[AT_PERSON] = Int64GetDatum(person);
	own[AT_KNOWN] = BoolGetDatum(before != NULL);
	own[AT_CHANGED] = own[AT_HELD] = BoolGetDatum(false);
	own[AT_UNIT] = own[AT_ROW];
	nulls[AT_UNIT] = before != NULL && before->shown;
	own[AT_HISTORY] = Int64GetDatum(before != NULL ? before->history : 0);
	nulls[AT_HISTORY] = before == NULL;
	own[AT_WHOLE] = Int64GetDatum(before != NULL ? before->whole : 0);
	nulls[AT_WHOLE] = before == NULL || before->whole == 0;
	own[AT_SHOWN] = BoolGetDatum(before != NULL && before->shown);
	own[AT_SINCE] = Int64GetDatum(before != NULL ? before->since : 0);
	nulls[AT_SINCE] = before == NULL || before->since == 0;
	own[AT_CHANGES] = Int32GetDatum(before != NULL ? before->changes : 0);
	bulk_put(bulk);
}

static bool
receive_source(void *arg, TupleTableSlot *slot)
{
	Match *match = arg;
	Histories *histories = match->histories;
	MemoryContext old = MemoryContextSwitchTo(match->row);
	Key key = key_of(match, slot, match->n);
	const Before *before = NULL;
	Person *person;
	bool found;

	if (is_of_share(match, key))
	{
		uint64 look =
			histories->before_name == NULL
				? 0
				: hash_values(match->looks, slot->tts_values, slot->tts_isnull, match->n, match->secret[0]);

		MemoryContextSwitchTo(old);
		person = persons_insert(match->persons, key, &found);
		if (!found)
		{
			person->number = ++histories->most_person;
			person->first = person->n = 0;
			person->there = person->several = false;
		}
		histories->several = histories->several || person->there;
		histories->persons += !person->there;
		person->there = true;
		bits_set(&match->there, person->number);
		before = find_row(match, person, look);
		if (before != NULL)
		{
			bits_set(&match->met, before->row);
			histories->same++;
		}
		put_row(match, before != NULL || histories->before_name == NULL ? match->copy : match->fresh, slot,
				person->number, before, before != NULL ? before->row : next_row(match));
		match->taken++;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(match->row);
	return true;
}

static bool
set_aside(void *arg, TupleTableSlot *slot)
{
	Match *match = arg;

	tuplestore_puttupleslot(match->rows, slot);
	match->aside++;
	return true;
}

static void
select_source(Match *match, GateReceive receive)
{
	const Source *source = match->run->source;
	Gate *gate = gate_create(source->name, source->relid, match->n + (match->numbers != NULL));

	gate_columns(gate, match->columns, match->n);
	read_rows(match, gate, "", true, receive);
}

/* The rows of the source: as they come, or as they were set aside for several readings. */
static void
read_source(Match *match)
{
	TupleTableSlot *slot;

	if (match->rows == NULL)
	{
		select_source(match, receive_source);
		return;
	}
	slot = MakeSingleTupleTableSlot(match->desc, &TTSOpsMinimalTuple);
	tuplestore_rescan(match->rows);
	while (tuplestore_gettupleslot(match->rows, true, false, slot))
	{
		slot_getallattrs(slot);
		(void) receive_source(match, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/* ---- what was not met ---- */

static bool
receive_ended(void *arg, TupleTableSlot *slot)
{
	Match *match = arg;
	int n = match->n;
	TupleTableSlot *row;
	bool met;

	if (!is_latest(slot, n))
		return true;
	met = bits_get(&match->met, number_at(slot, n + BEFORE_ROW));
	/* (of a row that is not shown nobody sees that it is there again) */
	if (met && !slot->tts_isnull[n + BEFORE_CLASS])
		return true;
	row = bulk_slot(match->ended);
	memcpy(row->tts_values, slot->tts_values, sizeof(Datum) * (n + BEFORE_COLUMNS));
	memcpy(row->tts_isnull, slot->tts_isnull, sizeof(bool) * (n + BEFORE_COLUMNS));
	memset(row->tts_isnull + n + BEFORE_COLUMNS, false, sizeof(bool) * ENDED_COLUMNS);
	row->tts_isnull[n + BEFORE_COLUMNS + ENDED_UNIT] = true;
	row->tts_values[n + BEFORE_COLUMNS + ENDED_STATE] = Int32GetDatum(met ? ENDED_BECAME : ENDED_LEFT);
	row->tts_values[n + BEFORE_COLUMNS + ENDED_THERE] =
		BoolGetDatum(bits_get(&match->there, number_at(slot, n + BEFORE_PERSON)));
	bulk_put(match->ended);
	return true;
}

/* ---- all of it ---- */

static void
find_hashes(Match *match)
{
	const SourceColumn *key;
	TypeCacheEntry *entry;

	for (match->key = 0; strcmp(match->columns[match->key].name, match->run->request->series.key) != 0;)
		match->key++;
	key = &match->columns[match->key];
	match->looks = value_hashes(match->columns, match->n);
	entry = lookup_type_cache(key->type, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
	match->collation = OidIsValid(key->collation) ? key->collation : entry->typcollation;
	if (OidIsValid(entry->hash_extended_proc_finfo.fn_oid))
		match->hash = &entry->hash_extended_proc_finfo;
	else
		number_keys(match);
	random_fill(match->secret, sizeof(match->secret));
}

static BulkWriter *
open_bulk(const char *name)
{
	return bulk_begin(table_open(history_oid(name), RowExclusiveLock));
}

/* How many shares, so that the rows of before and the persons of one are in the budget. */
static void
find_shares(Match *match)
{
	Size budget = kanon_memory_limit() / 4;

	if (!match->too_many && !run_has_more_rows(match->run, (int64) (budget / (2 * sizeof(Person)))))
		return;
	match->too_many = false;
	match->rows = tuplestore_begin_heap(false, false, work_mem);
	select_source(match, set_aside);
	match->shares =
		2 + ((uint64) match->read * sizeof(Before) + 2 * (uint64) match->aside * sizeof(Person)) / budget;
}

static void
match_share(Match *match)
{
	if (match->shares > 1 && match->histories->before_name != NULL)
	{
		match->nbefore = 0;
		read_before(match, receive_before);
	}
	match->persons =
		persons_create(CurrentMemoryContext, Min(Max(match->nbefore, 1024), PG_UINT32_MAX / 2), NULL);
	find_persons(match);
	read_source(match);
	persons_destroy(match->persons);
}

static void
end_bulk(BulkWriter *bulk, const char *name)
{
	Relation rel;

	(void) bulk_end(bulk);
	rel = table_open(history_oid(name), NoLock);
	table_close(rel, NoLock);
	table_close(rel, NoLock);
}

int64
histories_match(Run *run, const SourceColumn *columns, int n)
{
	Histories *histories = run->request->series.histories;
	Match match = {.run = run, .histories = histories, .columns = columns, .n = n, .shares = 1};

	find_hashes(&match);
	match.row = AllocSetContextCreate(CurrentMemoryContext, "kanon row of before", ALLOCSET_SMALL_SIZES);
	if (histories->before_name != NULL)
		read_before(&match, receive_before);
	find_shares(&match);
	bits_begin(&match, &match.used, histories->most_row);
	bits_begin(&match, &match.met, histories->most_row);
	bits_begin(&match, &match.there, histories->most_person);
	match.copy = open_bulk(histories->source);
	match.fresh = open_bulk(histories->fresh);
	for (match.share = 0; match.share < match.shares; match.share++)
		match_share(&match);
	histories->most_row = Max(histories->most_row, match.next);
	end_bulk(match.copy, histories->source);
	end_bulk(match.fresh, histories->fresh);
	if (histories->before_name != NULL)
	{
		match.ended = open_bulk(histories->ended);
		read_before(&match, receive_ended);
		end_bulk(match.ended, histories->ended);
	}
	if (match.rows != NULL)
		tuplestore_end(match.rows);
	if (match.numbers != NULL)
		history_sql("DROP TABLE %s", match.numbers);
	border_pfree(run->border, match.before);
	border_pfree(run->border, match.used.bytes);
	border_pfree(run->border, match.met.bytes);
	border_pfree(run->border, match.there.bytes);
	MemoryContextDelete(match.row);
	CommandCounterIncrement();
	return match.taken;
}
