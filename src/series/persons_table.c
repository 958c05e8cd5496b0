/*
 * persons_table.c: the private table of the persons of each class of a release, written beside it: a line for each row, with its
 * key, its class, and hashes of what the class shows and of what is kept beside.
 */
#include "compat.h"
#include "series/successive.h"
#include "core/util/number.h"
#include "rows/cell_values.h"
#include "rows/target.h"
#include "host/border.h"

#include "access/table.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

enum
{
	PERSON_KEY,
	PERSON_CLASS,
	PERSON_LOOK,
	PERSON_KEPT
};

struct PersonsTable
{
	Run *run;
	Relation rel;
	BulkWriter *bulk;
	FmgrInfo *output; /* [columns of the target] */
	uint32 *alike;    /* [nclasses] NULL: all classes look different */
	MemoryContext context;
	uint32 class_; /* the class at hand: */
	int64 number;  /* below 0 where it shows nothing */
	int64 look;
	bool some;
};

PersonsTable *
persons_table_begin(Run *run)
{
	PersonsTable *table = palloc0(sizeof(PersonsTable));
	const char *name = run->request->series.persons;
	Relation target = table_open(run->target->relid, AccessShareLock);
	TupleDesc desc = RelationGetDescr(target);
	Oid relid;

	run_utility(psprintf("CREATE TABLE %s AS SELECT s.%s AS key, 0::pg_catalog.int8 AS class,"
						 " 0::pg_catalog.int8 AS look, 0::pg_catalog.int8 AS kept FROM %s AS s WITH NO DATA",
						 name, quote_identifier(run->request->series.key), run->source->name));
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'persons of each class of a kanon release; never publish this table'", name));
	relid = history_oid(name);
	keep_uncounted(relid);
	(void) key_equality(relid, "key"); /* before anybody asks who is who */
	table->run = run;
	table->output = palloc0(sizeof(FmgrInfo) * desc->natts);
	for (int i = 0; i < desc->natts; i++)
	{
		Oid output;
		bool varlena;

		getTypeOutputInfo(TupleDescAttr(desc, i)->atttypid, &output, &varlena);
		fmgr_info(output, &table->output[i]);
	}
	table_close(target, NoLock);
	table->alike = shown_class_alike(
		shown_class_create(run->target, run->source, &run->problem, &run->release), run->border);
	table->rel = table_open(relid, RowExclusiveLock);
	table->bulk = bulk_begin(table->rel);
	table->context = AllocSetContextCreate(CurrentMemoryContext, "kanon persons table", ALLOCSET_SMALL_SIZES);
	return table;
}

/* A hash of some columns of a row of the target, by what readers see. */
static int64
hash_shown(PersonsTable *table, const TupleTableSlot *row, int from, int n, uint64 hash)
{
	MemoryContext old = MemoryContextSwitchTo(table->context);

	for (int i = from; i < from + n; i++)
		if (row->tts_isnull[i])
			hash = kanon_mix(hash + 1);
		else
		{
			char *text = OutputFunctionCall(&table->output[i], row->tts_values[i]);

			hash = kanon_mix(
				hash + DatumGetUInt64(hash_any_extended((unsigned char *) text, (int) strlen(text), 1)));
		}
	MemoryContextSwitchTo(old);
	return (int64) hash;
}

static void
enter(PersonsTable *table, uint32 class_, const TupleTableSlot *row)
{
	const Source *source = table->run->source;
	bool blank = true;

	for (int i = 0; i < source->nqis; i++)
		blank = blank && row->tts_isnull[i];
	table->some = true;
	table->class_ = class_;
	table->number = (int64) (table->alike != NULL ? table->alike[class_] : class_) + 1;
	if (blank)
		table->number = -table->number;
	table->look = hash_shown(table, row, 0, source->nqis, 0);
	if (table->run->target->mark)
		table->look = hash_shown(table, row, source->nqis + source->nkept, 1, (uint64) table->look);
}

void
persons_table_put(void *arg, uint32 class_, const TupleTableSlot *row, Datum key, bool isnull)
{
	PersonsTable *table = arg;
	const Source *source = table->run->source;
	TupleTableSlot *slot = bulk_slot(table->bulk);

	if (isnull)
		raise_null_keys(table->run->request->series.key);
	if (!table->some || class_ != table->class_)
		enter(table, class_, row);
	slot->tts_values[PERSON_KEY] = key;
	slot->tts_values[PERSON_CLASS] = Int64GetDatum(table->number);
	slot->tts_values[PERSON_LOOK] = Int64GetDatum(table->look);
	slot->tts_values[PERSON_KEPT] = Int64GetDatum(hash_shown(table, row, source->nqis, source->nkept, 0));
	memset(slot->tts_isnull, false, sizeof(bool) * (PERSON_KEPT + 1));
	slot->tts_isnull[PERSON_KEPT] = source->nkept == 0;
	bulk_put(table->bulk);
	MemoryContextReset(table->context);
}

void
persons_table_end(PersonsTable *table)
{
	(void) bulk_end(table->bulk);
	table_close(table->rel, NoLock);
	if (table->alike != NULL)
		border_pfree(table->run->border, table->alike);
	MemoryContextDelete(table->context);
	CommandCounterIncrement();
}
