/*
 * linked_histories.c: a publication of several tables whose persons are protected over all releases.
 *
 * Persons who were in the same classes, came, left and changed in the same releases share a history.  All releases together
 * keep the promise for the rows of those who share one.  For that a release is made of private copies: they have the rows
 * that were published last of persons who may not change yet (linked_held.c: as they looked), and the source's rows of all
 * others.  A further private table for each table of rows has all that was ever shown: a look for each row and release in
 * which it could have changed.  Those who share a history are counted there, by the code that counts releases.
 *
 * A person who would break the promise is held back, and the release is made once more.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked_histories.h"
#include "masks/mask_apply.h"
#include "rows/target.h"
#include "series/successive.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

void
linked_hold(Linked *linked)
{
	LinkedHistories *histories = linked->histories;
	int nest = plain_text_begin();

	border_progress(linked->border, "comparing with releases before", 0, -1);
	PushCopiedSnapshot(linked->snapshot);
	gate_see_written();
	histories->plan = held_name(linked, "plan");
	histories->waiting = held_name(linked, "waiting");
	histories->members = held_name(linked, "members");
	linked_copy_now(linked);
	linked_plan(linked);
	linked_copy_held(linked);
	PopActiveSnapshot();
	plain_text_end(nest);
}

/* ---- who is together ---- */

/* Persons who change together and come into one class. */
typedef struct Sharing
{
	int64 part;
	int64 class_; /* with `part` the key; of those who stay as they were -1 */
	uint32 number;
	int64 persons;
	int64 was; /* the class of those who stay as they were */
} Sharing;

typedef struct Grouper
{
	Linked *linked;
	Pseudonyms *pseudonyms;
	HTAB *groups;
	BulkWriter *bulk;
	int64 first;          /* the greatest number of a history so far */
	StringInfoData alone; /* persons: "1, 2" */
	bool divided;
} Grouper;

static void
note_alone(Grouper *grouper, int64 person)
{
	appendStringInfo(&grouper->alone, "%s" INT64_FORMAT, grouper->alone.len > 0 ? ", " : "", person);
}

static bool
receive_person(void *arg, TupleTableSlot *slot)
{
	Grouper *grouper = arg;
	bool whole = !slot->tts_isnull[0] && !slot->tts_isnull[1] && !slot->tts_isnull[2];
	uint32 *class_ =
		!whole ? NULL : linked_class_of(grouper->linked, grouper->pseudonyms, slot->tts_values[0]);
	int64 person = DatumGetInt64(slot->tts_values[1]), part = DatumGetInt64(slot->tts_values[2]);
	int64 key[2] = {part, part < 0 || class_ == NULL ? -1 : *class_};
	TupleTableSlot *row;
	bool found;
	Sharing *group;

	if (!whole)
		linked_raise_altered();
	if (class_ == NULL)
	{
		grouper->divided = grouper->divided || part < 0;
		note_alone(grouper, person);
		return true;
	}
	group = hash_search(grouper->groups, key, HASH_ENTER, &found);
	if (!found)
	{
		group->persons = 0;
		group->was = *class_;
		group->number = part < 0 ? 0 : (uint32) grouper->linked->nclasses++;
	}
	grouper->divided = grouper->divided || group->was != *class_;
	group->persons++;
	*class_ = group->number;
	if (part < 0)
		return true;
	row = bulk_slot(grouper->bulk);
	row->tts_values[0] = Int64GetDatum(person);
	row->tts_values[1] = Int64GetDatum(grouper->first + group->number);
	memset(row->tts_isnull, 0, sizeof(bool) * 2);
	bulk_put(grouper->bulk);
	return true;
}

/* All who stay as they were stay together. */
static void
refuse_divided(const Linked *linked)
{
	*linked->histories->none = true;
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("no release was found in which persons who share a history stay together"),
			 errhint("Lower k or the other rules. Or begin new histories: kanon_alter_publication with "
					 "protect_successive => false, a refresh, and true again.")));
}

static void
read_persons(Grouper *grouper)
{
	const LinkedTable *subject = &grouper->linked->tables[0];
	Oid relid = subject->request.linked.held;
	SourceColumn *key = source_open_kept(relid, name_list((const char *const *) &subject->key, 1))->kept;
	Gate *gate = gate_create(name_relation(relid), relid, 3);

	grouper->pseudonyms =
		pseudonyms_begin(grouper->linked->secret, key->type, linked_group(grouper->linked, subject));
	gate_columns(gate, key, 1);
	gate_computed(gate, "kanon__person", INT8OID);
	gate_computed(gate, "kanon__part", INT8OID);
	gate_select(gate,
				psprintf("SELECT %s, kanon__person, kanon__part FROM %s ORDER BY kanon__person", key->quoted,
						 gate->name),
				false, receive_person, grouper);
	pseudonyms_end(grouper->pseudonyms);
}

static int64
last_history(const LinkedHistories *histories)
{
	bool isnull;

	history_sql("SELECT coalesce(pg_catalog.max(history), 0::pg_catalog.int8) FROM %s", histories->plan);
	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

void
linked_group_persons(Linked *linked)
{
	LinkedHistories *histories = linked->histories;
	HASHCTL control = {
		.keysize = 2 * sizeof(int64), .entrysize = sizeof(Sharing), .hcxt = linked->border->context};
	Grouper grouper = {.linked = linked};
	HASH_SEQ_STATUS scan;
	Relation rel;
	Sharing *group;
	int nest = plain_text_begin();

	PushCopiedSnapshot(linked->snapshot);
	initStringInfo(&grouper.alone);
	grouper.first = last_history(histories);
	grouper.groups = hash_create("kanon histories", 1024, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	rel = table_open(
		held_empty(histories->members, "kanon__person pg_catalog.int8, kanon__history pg_catalog.int8"),
		RowExclusiveLock);
	grouper.bulk = bulk_begin(rel);
	linked->nclasses = 1;
	read_persons(&grouper);
	(void) bulk_end(grouper.bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	if (grouper.divided)
		refuse_divided(linked);
	if (grouper.alone.len > 0)
		linked_hold_back(histories,
						 psprintf("SELECT pg_catalog.unnest('{%s}'::pg_catalog._int8)", grouper.alone.data));
	hash_seq_init(&scan, grouper.groups);
	while ((group = hash_seq_search(&scan)) != NULL)
		if (group->number > 0 && group->persons < linked->k)
		{
			linked_hold_back(
				histories,
				psprintf("SELECT m.kanon__person FROM %s AS m WHERE m.kanon__history" EQ INT64_FORMAT,
						 histories->members, grouper.first + group->number));
			initStringInfo(&grouper.alone);
			appendStringInfoChar(&grouper.alone, '-');
		}
	if (grouper.alone.len > 0)
		linked_raise_again(histories);
	hash_destroy(grouper.groups);
	PopActiveSnapshot();
	plain_text_end(nest);
}

/* ---- the next release goes on from here ---- */

static void
keep_shown(Linked *linked, int t)
{
	const HeldTable *held = &linked->histories->tables[t];
	char *looks = held_name(linked, "looks");

	linked_write_looks(linked, &linked->tables[t],
					   held_empty(looks, HELD_ROW " pg_catalog.int8, " HELD_LEVELS
												  " pg_catalog.bytea, kanon__look pg_catalog.text"));
	history_sql(
		"CREATE TABLE %s AS SELECT coalesce(h." HELD_ROW ", e." HELD_ROW ") AS " HELD_ROW
		", coalesce(h.kanon__above, e.kanon__above) AS kanon__above, coalesce(h.kanon__person, e.kanon__person) AS kanon__person,"
		" coalesce(h.kanon__hash, e.kanon__hash) AS kanon__hash, coalesce(h.kanon__nth, e.kanon__nth) AS kanon__nth,"
		" pg_catalog.concat_ws(' '::pg_catalog.text, h.kanon__look, e.kanon__look) AS kanon__look, coalesce(e." HELD_LEVELS
		", h." HELD_LEVELS ") AS " HELD_LEVELS ", e." HELD_ROW
		" IS NOT NULL AS kanon__shown FROM %s AS h FULL JOIN (SELECT e." HELD_ROW
		", e.kanon__above, e.kanon__person, e.kanon__hash, e.kanon__nth, l.kanon__look, l." HELD_LEVELS
		" FROM %s AS e JOIN %s AS l ON l." HELD_ROW EQ "e." HELD_ROW ") AS e ON e." HELD_ROW EQ "h." HELD_ROW,
		held->shown_after,
		OidIsValid(held->shown_before)
			? name_relation(held->shown_before)
			: "(SELECT " INT8_NULL " AS " HELD_ROW ", " INT8_NULL " AS kanon__above, " INT8_NULL
			  " AS kanon__person, " TEXT_NULL " AS kanon__hash, " INT8_NULL " AS kanon__nth, " TEXT_NULL
			  " AS kanon__look, NULL::pg_catalog.bytea AS " HELD_LEVELS " WHERE false)",
		held->after, looks);
	held_lasting(held->shown_after);
	history_sql("DROP TABLE %s", looks);
}

static void
keep_persons(Linked *linked)
{
	LinkedHistories *histories = linked->histories;
	bool isnull;

	history_sql(
		"CREATE TABLE %1$s AS SELECT p.id, p.key, CASE WHEN p.part IS NULL THEN p.history WHEN p.part %% 2 = 1 THEN"
		" l.last + dense_rank() OVER (ORDER BY CASE WHEN p.part %% 2 = 1 THEN p.part END) ELSE m.kanon__history END AS history,"
		" CASE WHEN p.part IS NULL THEN p.hash WHEN p.part %% 2 = 0 THEN p.now END AS hash,"
		" CASE WHEN p.part IS NULL THEN coalesce(p.here, false) ELSE p.part %% 2 = 0 END AS here,"
		" CASE WHEN p.part IS NULL AND p.state <> 'u' THEN coalesce(p.since, %4$s) END AS since"
		" FROM %2$s AS p LEFT JOIN %3$s AS m ON m.kanon__person = p.id, (SELECT greatest((SELECT max(x.history) FROM %2$s AS x),"
		" (SELECT max(x.kanon__history) FROM %3$s AS x), 0) AS last) AS l",
		histories->after, histories->plan, histories->members,
		psprintf(INT64_FORMAT "::int8", histories->release));
	held_lasting(histories->after);
	history_sql("SELECT pg_catalog.count(since), coalesce(" INT64_FORMAT
				" OPERATOR(pg_catalog.-) pg_catalog.min(since), -1)"
				"::pg_catalog.int8 FROM %s",
				histories->release, histories->after);
	histories->told.persons = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	histories->told.oldest = DatumGetInt64(gate_value(0, 2, INT8OID, &isnull)) + 1;
	history_sql(
		"SELECT count(*) FILTER (WHERE p.state IN ('n', 'c') AND NOT coalesce(p.here, false)), count(*) FILTER"
		" (WHERE p.state = 'd' AND p.here) FROM %s AS p WHERE p.part IS NULL",
		histories->plan);
	histories->told.waiting = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	histories->told.gone = DatumGetInt64(gate_value(0, 2, INT8OID, &isnull));
	histories->told.gone_rows = histories->told.source_rows = -1;
}

void
linked_keep_histories(Linked *linked)
{
	LinkedHistories *histories = linked->histories;
	int nest = plain_text_begin();
	char *shown[KANON_MAX_LINKED + 1] = {0}, *alone;

	PushCopiedSnapshot(linked->snapshot);
	for (int t = 1; t < linked->n && linked->tables[t].role == LINKED_ROWS; t++)
	{
		keep_shown(linked, t);
		shown[t] = histories->tables[t].shown_after;
	}
	CommandCounterIncrement();
	alone = linked_find_alone(linked, histories->members, shown);
	if (alone != NULL)
	{
		linked_hold_back(histories, psprintf("SELECT o.kanon__person FROM %1$s AS o WHERE o.kanon__history" EQ
											 "ANY (SELECT a.kanon__history FROM %1$s AS a"
											 " WHERE a.kanon__person" EQ "ANY ('{%2$s}'))",
											 histories->members, alone));
		linked_raise_again(histories);
	}
	keep_persons(linked);
	history_sql("DROP TABLE %s, %s, %s", histories->plan, histories->waiting, histories->members);
	PopActiveSnapshot();
	plain_text_end(nest);
}
