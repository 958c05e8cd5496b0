/*
 * row_hashes.c: rows of releases as hashes, with a secret that is drawn each time; and the least class of a release.
 *
 * The rows of a class follow each other in a release, so that what they show is hashed once for all of them.
 */
#include "compat.h"
#include "core/util/number.h"
#include "host/border.h"
#include "series/row_hashes.h"

#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

static void
add_column(HashedTables *tables, HashedColumns *columns, const char *name)
{
	HashedColumn *column = &columns->column[columns->n];
	Oid type[2];
	bool two = OidIsValid(tables->relid[1]);
	TypeCacheEntry *entry;

	memset(column, 0, sizeof(*column));
	for (int t = 0; t <= two; t++)
	{
		Oid output;
		bool varlena;

		column->attnum[t] = get_attnum(tables->relid[t], name);
		if (column->attnum[t] <= 0)
			return;
		type[t] = get_atttype(tables->relid[t], column->attnum[t]);
		getTypeOutputInfo(type[t], &output, &varlena);
		fmgr_info(output, &column->output[t]);
	}
	get_typlenbyval(type[0], &column->length, &column->byval);
	entry = lookup_type_cache(type[0], TYPECACHE_HASH_EXTENDED_PROC_FINFO);
	if ((!two || type[0] == type[1]) && OidIsValid(entry->hash_extended_proc_finfo.fn_oid))
	{
		column->hash = &entry->hash_extended_proc_finfo;
		column->collation = entry->typcollation;
	}
	columns->n++;
}

void
row_hashes_columns(HashedTables *tables, HashedColumns *columns, List *names)
{
	ListCell *lc;

	columns->column = palloc(sizeof(HashedColumn) * Max(list_length(names), 1));
	/* (nothing changes a type from here on) */
	for (int t = 0; t < 2; t++)
		if (OidIsValid(tables->relid[t]))
			LockRelationOid(tables->relid[t], AccessShareLock);
	foreach (lc, names)
		add_column(tables, columns, lfirst(lc));
}

static uint64
hash_columns(const HashedTables *tables, const HashedColumns *columns, int table, TupleTableSlot *slot)
{
	uint64 all = 0;
	bool some = false;

	for (int i = 0; i < columns->n; i++)
	{
		const HashedColumn *column = &columns->column[i];
		bool isnull = slot->tts_isnull[column->attnum[table] - 1];
		Datum value = slot->tts_values[column->attnum[table] - 1];
		uint64 hash = PG_UINT64_MAX;

		some = some || !isnull;
		if (!isnull && column->hash != NULL)
			hash = DatumGetUInt64(
				FunctionCall2Coll(column->hash, column->collation, value, UInt64GetDatum(tables->secret)));
		else if (!isnull)
		{
			char *text = OutputFunctionCall(unconstify(FmgrInfo *, &column->output[table]), value);

			hash = DatumGetUInt64(hash_any_extended((unsigned char *) text, strlen(text), tables->secret));
			pfree(text);
		}
		all = kanon_mix(hash_combine64(all, hash) + i + 1);
	}
	/* (no column, or nothing in any, is 0: several rows of that are no more) */
	return some ? all : 0;
}

/* ---- what the row before showed ---- */

typedef struct Shown
{
	const HashedColumns *columns;
	int table;
	MemoryContext context;
	Datum *value;
	bool *isnull;
	bool some;
	uint64 hash;
} Shown;

static bool
shows_same(const Shown *shown, const TupleTableSlot *slot)
{
	if (!shown->some)
		return false;
	for (int i = 0; i < shown->columns->n; i++)
	{
		const HashedColumn *column = &shown->columns->column[i];
		int at = column->attnum[shown->table] - 1;

		if (slot->tts_isnull[at] != shown->isnull[i] ||
			(!shown->isnull[i] &&
			 !datumIsEqual(slot->tts_values[at], shown->value[i], column->byval, column->length)))
			return false;
	}
	return true;
}

static void
show(Shown *shown, const TupleTableSlot *slot)
{
	MemoryContext old;

	MemoryContextReset(shown->context);
	old = MemoryContextSwitchTo(shown->context);
	for (int i = 0; i < shown->columns->n; i++)
	{
		const HashedColumn *column = &shown->columns->column[i];
		int at = column->attnum[shown->table] - 1;

		shown->isnull[i] = slot->tts_isnull[at];
		shown->value[i] =
			shown->isnull[i] ? (Datum) 0 : datumCopy(slot->tts_values[at], column->byval, column->length);
	}
	shown->some = true;
	MemoryContextSwitchTo(old);
}

void
row_hashes_read(const HashedTables *tables, int table, TakeRow take, void *arg)
{
	Relation rel = table_open(tables->relid[table], AccessShareLock);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc scan = kanon_beginscan(rel, GetActiveSnapshot());
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_SMALL_SIZES);
	Shown shown = {.columns = &tables->look, .table = table};

	shown.context = AllocSetContextCreate(CurrentMemoryContext, "kanon row before", ALLOCSET_SMALL_SIZES);
	shown.value = palloc(sizeof(Datum) * Max(tables->look.n, 1));
	shown.isnull = palloc(sizeof(bool) * Max(tables->look.n, 1));
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		MemoryContext old = MemoryContextSwitchTo(context);
		RowHash item;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		if (!shows_same(&shown, slot))
		{
			shown.hash = hash_columns(tables, &tables->look, table, slot);
			show(&shown, slot);
		}
		item.look = shown.hash;
		item.key = hash_columns(tables, &tables->key, table, slot);
		item.kept = hash_columns(tables, &tables->kept, table, slot);
		MemoryContextSwitchTo(old);
		take(arg, table, &item);
		MemoryContextReset(context);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	MemoryContextDelete(context);
	MemoryContextDelete(shown.context);
	table_close(rel, NoLock);
}

/* ---- the least class ---- */

typedef struct ClassRows
{
	uint64 look;
	int64 rows;
	bool blank;
	char status;
} ClassRows;

#define SH_PREFIX class_rows
#define SH_ELEMENT_TYPE ClassRows
#define SH_KEY_TYPE uint64
#define SH_KEY look
#define SH_HASH_KEY(table, key) ((uint32) kanon_mix(key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct Counted
{
	class_rows_hash *classes;
	int64 rows;
} Counted;

/* The quasi-identifiers alone are the key: 0 says that none of them shows anything. */
static void
count_row(void *arg, int table, const RowHash *item)
{
	Counted *counted = arg;
	bool found;
	ClassRows *class_ = class_rows_insert(counted->classes, item->look, &found);

	class_->rows = found ? class_->rows + 1 : 1;
	class_->blank = item->key == 0;
	counted->rows++;
}

int64
row_hashes_least(Oid relid, List *classes, int nqis, int64 *least)
{
	HashedTables tables = {.relid = {relid, InvalidOid}, .secret = random_number()};
	Counted counted = {0};
	class_rows_iterator iterator;
	const ClassRows *class_;

	row_hashes_columns(&tables, &tables.look, classes);
	row_hashes_columns(&tables, &tables.key, list_truncate(list_copy(classes), nqis));
	counted.classes = class_rows_create(CurrentMemoryContext, 1024, NULL);
	row_hashes_read(&tables, 0, count_row, &counted);
	*least = 0;
	class_rows_start_iterate(counted.classes, &iterator);
	while ((class_ = class_rows_iterate(counted.classes, &iterator)) != NULL)
		if (!class_->blank && (*least == 0 || class_->rows < *least))
			*least = class_->rows;
	class_rows_destroy(counted.classes);
	return counted.rows;
}
