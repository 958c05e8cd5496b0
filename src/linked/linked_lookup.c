/*
 * linked_lookup.c: a table on which no person hangs is published as named: what is kept of it, and its key.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked.h"
#include "masks/mask_apply.h"
#include "rows/target.h"
#include "rows/verify.h"
#include "run/run.h"

#include <math.h>

#include "access/table.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/rel.h"

static void
check_request(Request *request)
{
	request->recorded_method = "lookup";
}

static void
open_source(Run *run)
{
	if (run->request->columns.keep == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("table \"%s\" has nothing to keep", name_bare(run->request->source)),
						errhint("Name in \"keep\" the columns of the lookup that are published.")));
	run->source = source_open_kept(run->request->source, run->request->columns.keep);
}

static void
nothing(Run *run)
{
}

static void
set_up(Run *run)
{
	run->columns = run->source;
	run->problem.env = &run->border->env;
	run->report.lower_bound = -INFINITY;
}

static KanonStatus
solve(Run *run)
{
	return KANON_OK;
}

static bool
receive(void *arg, TupleTableSlot *slot)
{
	Run *run = arg;

	shuffle_put(((LinkedTable *) run->request->own)->shuffle, run->record.row_count++, slot->tts_values,
				slot->tts_isnull);
	return true;
}

/* A row that was changed after the call began belongs to another snapshot. */
static void
read_rows(Run *run)
{
	const Source *source = run->source;
	LinkedTable *table = run->request->own;
	Gate *gate = gate_create(source->name, source->relid, source->nkept);

	gate_columns(gate, source->kept, source->nkept);
	gate_watch(gate, run->border, "reading");
	table->shuffle = shuffle_begin(gate->desc, 0);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), source->name),
				true, receive, run);
}

/* ---- rows to which published rows refer ---- */

typedef struct Referred
{
	Dictionary *keys;
	int key; /* place of the lookup's among what is kept */
} Referred;

static bool
receive_key(void *arg, TupleTableSlot *slot)
{
	(void) dictionary_add(((Referred *) arg)->keys, slot->tts_values[0], slot->tts_isnull[0]);
	return true;
}

/* From a table of the release as it is written: what it refers to is published as the lookup's key is. */
static void
read_keys(const LinkedTable *from, const char *column, Referred *referred)
{
	const Target *target = from->run->target;
	const Source *source = source_open_kept(target->relid, name_list(&column, 1));
	Gate *gate = gate_create(target->building, target->relid, 1);

	if (referred->keys == NULL)
		referred->keys = dictionary_create(from->run->border->context, &source->kept[0]);
	gate_columns(gate, source->kept, 1);
	gate_select(gate, psprintf("SELECT %s FROM %s", quote_identifier(column), target->building), false,
				receive_key, referred);
}

static Referred
find_referred(const LinkedTable *table)
{
	const Linked *linked = table->of;
	const Source *source = table->run->source;
	Referred referred = {.key = 0};

	while (table->terms.referenced && strcmp(source->kept[referred.key].name, table->key) != 0)
		referred.key++;
	for (int i = 0; i < linked->n && table->terms.referenced; i++)
	{
		const LinkedTable *from = &linked->tables[i];
		ListCell *cell;

		foreach (cell, from->role == LINKED_LOOKUP ? NIL : from->keys)
		{
			const LinkedKey *key = lfirst(cell);

			if (&linked->tables[key->table] == table && linked_publishes(from, key->column))
				read_keys(from, key->column, &referred);
		}
	}
	return referred;
}

static bool
is_referred(const Referred *referred, Datum key)
{
	return referred->keys != NULL && dictionary_find(referred->keys, key, false) != DICTIONARY_NONE;
}

/* False: it is left out. */
static bool
put_row(const LinkedTable *table, const Referred *referred, BulkWriter *bulk, const Datum *values,
		const bool *nulls)
{
	Masks *masks = table->run->source->masks;
	int n = table->run->source->nkept;
	TupleTableSlot *slot;

	if (masks != NULL)
	{
		masks_apply(masks, values, nulls);
		values = masks->values;
		nulls = masks->nulls;
	}
	if (table->terms.referenced && !is_referred(referred, values[referred->key]))
		return false;
	if (masks != NULL)
		masks_count(masks, 1);
	slot = bulk_slot(bulk);
	memcpy(slot->tts_values, values, sizeof(Datum) * n);
	memcpy(slot->tts_isnull, nulls, sizeof(bool) * n);
	bulk_put(bulk);
	return true;
}

static void
write_rows(Run *run)
{
	const Source *source = run->source;
	LinkedTable *table = run->request->own;
	Referred referred = find_referred(table);
	Relation rel = target_open(run->target);
	const Datum *values;
	const bool *nulls;
	BulkWriter *bulk;
	int64 number;

	if (!target_is_plain(rel, run->target, source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	bulk = bulk_begin(rel);
	masks_begin(source, run->record.row_count, 1, run->border);
	masks_read_source(source, 1);
	shuffle_sort(table->shuffle);
	while (shuffle_next(table->shuffle, &number, &values, &nulls))
	{
		CHECK_FOR_INTERRUPTS();
		if (!put_row(table, &referred, bulk, values, nulls))
			run->release.dropped++;
	}
	masks_end(source->masks);
	shuffle_end(table->shuffle);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
}

static void
verify_rows(Run *run)
{
	Gate *gate = gate_create(run->target->building, run->target->relid, 1);
	bool isnull;

	gate_computed(gate, "count", INT8OID);
	gate_query(gate, psprintf("SELECT pg_catalog.count(*) FROM %s", run->target->building), false);
	if (DatumGetInt64(gate_value(0, 1, INT8OID, &isnull)) != run->record.row_count - run->release.dropped)
		raise_unsafe("A lookup has other rows than were written.");
}

/* No class of it has anybody: what there is to say stands in its comment. */
static void
record(Run *run)
{
	comments_write(
		run->target, run->source,
		psprintf(COMMENT_PREFIX "a lookup of kanon_linked, published as named; not recorded as a run"));
}

static const Steps steps = {open_source, nothing,     set_up, read_rows, nothing, solve,
							write_rows,  verify_rows, record, NULL,      NULL,    NULL};

const Model lookup_model = {.name = "lookup",
							.hint = "It has no methods.",
							.least_k = 1,
							.k_hint = "It counts persons.",
							.options = TAKES(KEEP) | TAKES(ALLOW_IDENTIFYING) | TAKES(MASK),
							.check = check_request,
							.steps = &steps};
