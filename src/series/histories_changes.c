/*
 * histories_changes.c: which histories the solved release would change, and their rows.
 *
 * The rows of most histories stay in one class, and nothing of them has changed: as a whole they go on, and nobody has to be
 * asked for.  So do the classes of a first release, in each of which at least k persons begin a history.  Only the
 * others' rows are put into a table, of which queries ask who would be alone.
 */
#include "compat.h"
#include "host/border.h"
#include "host/gate.h"
#include "rows/cell_values.h"
#include "rows/target.h"
#include "series/histories_rows.h"

#include "access/table.h"
#include "catalog/pg_type.h"

typedef struct Changes
{
	Run *run;
	Histories *histories;
	uint32
		*alike; /* [nclasses] classes that readers cannot tell apart are the first of them; NULL: none are */
	BulkWriter *bulk;
	bool asks_all;
} Changes;

/* ---- where each row is ---- */

static bool
receive_staged(void *arg, TupleTableSlot *slot)
{
	const Changes *changes = arg;
	int64 row = number_at(slot, 0);
	uint32 class_ = slot->tts_isnull[1] ? PG_UINT32_MAX : (uint32) DatumGetInt32(slot->tts_values[1]);

	if (row > changes->histories->most_row || class_ >= changes->run->release.nclasses)
		raise_altered();
	changes->histories->class_of[row] = (changes->alike != NULL ? changes->alike[class_] : class_) + 1;
	return true;
}

static void *
zeros(const Changes *changes, Size n)
{
	Size size = sizeof(uint32) * n;

	return memset(border_palloc(changes->run->border, size), 0, size);
}

static void
find_classes(Changes *changes)
{
	const Target *staged = changes->run->staged;
	Gate *gate = gate_create(staged->building, staged->relid, 2);

	changes->histories->class_of = zeros(changes, (Size) changes->histories->most_row + 1);
	gate_computed(gate, HISTORY_ROW, INT8OID);
	gate_computed(gate, KANON_CLASS_COLUMN, INT4OID);
	gate_select(gate, psprintf("SELECT " HISTORY_ROW ", " KANON_CLASS_COLUMN " FROM %s", staged->building),
				false, receive_staged, changes);
}

/* ---- what becomes of each history ---- */

/* Absence, and classes after it. */
#define ABSENT 1

static void
note_history(const Changes *changes, int64 history, uint32 becomes)
{
	uint32 *all;

	if (history > changes->histories->most_history)
		raise_altered();
	all = &changes->histories->history_of[history];
	*all = *all == 0 || *all == becomes ? becomes : HISTORY_PARTS;
}

/* Columns of the copy, and of rows that have ended, as they are read here. */
enum
{
	ROW,
	PERSON,
	HISTORY,
	UNIT,
	SHOWN,
	STATE,
	KNOWN = STATE,
	CHANGED,
	HELD
};

static uint32
class_of_row(const Changes *changes, const TupleTableSlot *slot)
{
	int64 row = number_at(slot, ROW);

	if (row > changes->histories->most_row)
		raise_altered();
	return changes->histories->class_of[row];
}

static bool
note_copied(void *arg, TupleTableSlot *slot)
{
	Changes *changes = arg;
	uint32 class_ = class_of_row(changes, slot);

	changes->histories->left_out += class_ == 0;
	if (flag_at(slot, KNOWN))
		note_history(changes, number_at(slot, HISTORY),
					 class_ == 0 || !slot->tts_isnull[UNIT] || flag_at(slot, CHANGED) ? HISTORY_PARTS
																					  : class_ + ABSENT);
	else if (changes->histories->before_name != NULL || changes->histories->several)
		changes->histories->joined[class_] = HISTORY_PARTS;
	else
		changes->histories->joined[class_]++;
	return true;
}

static bool
note_ended(void *arg, TupleTableSlot *slot)
{
	note_history(arg, number_at(slot, HISTORY),
				 !slot->tts_isnull[UNIT] || flag_at(slot, SHOWN) ? HISTORY_PARTS : ABSENT);
	return true;
}

static void
read_copied(Changes *changes, GateReceive receive)
{
	const Histories *histories = changes->histories;
	Gate *gate = gate_create(histories->source, histories->relid, HELD + 1);

	for (int i = ROW; i <= UNIT; i++)
		gate_computed(gate, "number", INT8OID);
	for (int i = SHOWN; i <= HELD; i++)
		gate_computed(gate, "flag", BOOLOID);
	gate_select(gate,
				psprintf("SELECT " HISTORY_ROW ", " HISTORY_PERSON ", " HISTORY_NUMBER ", " COPY_UNIT
						 ", " COPY_SHOWN ", " COPY_KNOWN ", " COPY_CHANGED ", " COPY_HELD " FROM %s",
						 histories->source),
				false, receive, changes);
}

/* Rows published last that the copy has not. */
static void
read_ended(Changes *changes, GateReceive receive)
{
	const Histories *histories = changes->histories;
	Gate *gate = gate_create(histories->ended, history_oid(histories->ended), STATE + 1);

	for (int i = ROW; i <= UNIT; i++)
		gate_computed(gate, "number", INT8OID);
	gate_computed(gate, "shown", BOOLOID);
	gate_computed(gate, "state", INT4OID);
	gate_select(gate,
				psprintf("SELECT " HISTORY_ROW ", " HISTORY_PERSON ", " HISTORY_NUMBER ", " COPY_UNIT
						 ", " HISTORY_CLASS " IS NOT NULL, " ENDED_STATE_COLUMN
						 " FROM %s AS e WHERE NOT e." ENDED_STATE_COLUMN EQ "%d",
						 histories->ended, ENDED_BECAME),
				false, receive, changes);
}

/* ---- the rows of those that change ---- */

enum
{
	KIND_KNOWN,
	KIND_NEW,
	KIND_ENDED,
	KIND_RESTS
};

static void
put(const Changes *changes, const TupleTableSlot *slot, uint32 class_, int kind)
{
	TupleTableSlot *row = bulk_slot(changes->bulk);
	bool copied = kind == KIND_KNOWN || kind == KIND_NEW;

	memcpy(row->tts_values, slot->tts_values, sizeof(Datum) * SHOWN);
	memcpy(row->tts_isnull, slot->tts_isnull, sizeof(bool) * SHOWN);
	memset(row->tts_isnull + SHOWN, false, sizeof(bool) * 5);
	row->tts_values[SHOWN] = BoolGetDatum(flag_at(slot, SHOWN));
	row->tts_values[SHOWN + 1] = Int64GetDatum((int64) class_ - 1);
	row->tts_isnull[SHOWN + 1] = class_ == 0;
	row->tts_values[SHOWN + 2] = BoolGetDatum(copied && flag_at(slot, CHANGED));
	row->tts_values[SHOWN + 3] = BoolGetDatum(copied && flag_at(slot, HELD));
	row->tts_values[SHOWN + 4] = Int32GetDatum(kind);
	bulk_put(changes->bulk);
}

/*
 * Every row is asked for: histories are of persons with all of their rows, or a rule compares with all values, or is
 * asked of the classes of a first release.
 */
static bool
asks_all(const Run *run)
{
	const Histories *histories = run->request->series.histories;

	return histories->by_person ||
		   (history_has_rules(run) && (histories->before_name == NULL ||
									   privacy_find(run->request->privacy, PRIVACY_T_CLOSENESS) >= 0));
}

static bool
is_whole(const Changes *changes, int64 history)
{
	return !changes->asks_all && changes->histories->history_of[history] != HISTORY_PARTS;
}

/* (a new row that is in no class waits) */
static bool
put_copied(void *arg, TupleTableSlot *slot)
{
	const Changes *changes = arg;
	uint32 class_ = class_of_row(changes, slot);

	if (flag_at(slot, KNOWN))
	{
		if (!is_whole(changes, number_at(slot, HISTORY)))
			put(changes, slot, class_, KIND_KNOWN);
	}
	else if (class_ != 0 && !history_joins_whole(changes->run, class_))
		put(changes, slot, class_, KIND_NEW);
	return true;
}

static bool
put_ended(void *arg, TupleTableSlot *slot)
{
	const Changes *changes = arg;

	if (!is_whole(changes, number_at(slot, HISTORY)))
		put(changes, slot, 0, DatumGetInt32(slot->tts_values[STATE]) == ENDED_LEFT ? KIND_ENDED : KIND_RESTS);
	return true;
}

bool
history_joins_whole(const Run *run, uint32 class_)
{
	const Histories *histories = run->request->series.histories;

	return !asks_all(run) && histories->joined[class_] != HISTORY_PARTS &&
		   histories->joined[class_] >= run->problem.k;
}

char *
histories_find_changes(Run *run)
{
	Histories *histories = run->request->series.histories;
	Changes changes = {.run = run, .histories = histories, .asks_all = asks_all(run)};
	char *name = history_table(run, "changes");
	Relation rel;

	changes.alike = shown_class_alike(
		shown_class_create(run->target, run->source, &run->problem, &run->release), run->border);
	find_classes(&changes);
	if (changes.alike != NULL)
		border_pfree(run->border, changes.alike);
	histories->history_of = zeros(&changes, (Size) histories->most_history + 1);
	histories->joined = zeros(&changes, (Size) run->release.nclasses + 1);
	histories->left_out = 0;
	read_copied(&changes, note_copied);
	read_ended(&changes, note_ended);
	history_sql(
		"CREATE UNLOGGED TABLE %s (nr pg_catalog.int8, person pg_catalog.int8, history pg_catalog.int8,"
		" unit pg_catalog.int8, shown pg_catalog.bool, class pg_catalog.int8, changed pg_catalog.bool,"
		" held pg_catalog.bool, kind pg_catalog.int4)",
		name);
	rel = table_open(history_oid(name), RowExclusiveLock);
	changes.bulk = bulk_begin(rel);
	read_copied(&changes, put_copied);
	read_ended(&changes, put_ended);
	(void) bulk_end(changes.bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	return name;
}
