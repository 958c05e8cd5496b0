/*
 * keyed.c: rows in the order of a key: what PostgreSQL sorts, by a column of bytes.
 */
#include "compat.h"
#include "rows/row_types.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#define FIRST_ROOM 256

struct Keyed
{
	Tuplesortstate *sort;
	TupleTableSlot *in;
	TupleTableSlot *out;
	bytea *key; /* of the row that is put */
	int room;   /* bytes of it */
	KeyedRow row;
};

Keyed *
keyed_begin(const SourceColumn *kept, int nkept, bool again)
{
	Keyed *keyed = palloc0(sizeof(Keyed));
	TupleDesc desc = CreateTemplateTupleDesc(KEYED_BEFORE + nkept);
	AttrNumber key = 1;
	Oid less = lookup_type_cache(BYTEAOID, TYPECACHE_LT_OPR)->lt_opr;
	Oid collation = InvalidOid;
	bool nulls_first = false;

	TupleDescInitEntry(desc, 1, "key", BYTEAOID, -1, 0);
	TupleDescInitEntry(desc, 2, "rows", INT8OID, -1, 0);
	for (int i = 0; i < nkept; i++)
	{
		TupleDescInitEntry(desc, KEYED_BEFORE + 1 + i, kept[i].name, kept[i].type, kept[i].typmod, 0);
		TupleDescInitEntryCollation(desc, KEYED_BEFORE + 1 + i, kept[i].collation);
	}
	TupleDescFinalize(desc);
	keyed->sort = tuplesort_begin_heap(desc, 1, &key, &less, &collation, &nulls_first, work_mem, NULL,
									   again ? TUPLESORT_RANDOMACCESS : 0);
	keyed->room = FIRST_ROOM;
	keyed->key = palloc(VARHDRSZ + FIRST_ROOM);
	keyed->in = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	keyed->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	return keyed;
}

void
keyed_put(Keyed *keyed, const unsigned char *key, int length, int64 rows, const Datum *kept,
		  const bool *nulls)
{
	TupleTableSlot *slot = keyed->in;
	int nkept = slot->tts_tupleDescriptor->natts - KEYED_BEFORE;

	if (length > keyed->room)
	{
		keyed->room = 2 * length;
		keyed->key = repalloc(keyed->key, VARHDRSZ + keyed->room);
	}
	SET_VARSIZE(keyed->key, VARHDRSZ + length);
	memcpy(VARDATA(keyed->key), key, length);
	ExecClearTuple(slot);
	slot->tts_values[0] = PointerGetDatum(keyed->key);
	slot->tts_values[1] = Int64GetDatum(rows);
	slot->tts_isnull[0] = slot->tts_isnull[1] = false;
	if (nkept > 0)
	{
		memcpy(slot->tts_values + KEYED_BEFORE, kept, sizeof(Datum) * nkept);
		memcpy(slot->tts_isnull + KEYED_BEFORE, nulls, sizeof(bool) * nkept);
	}
	tuplesort_puttupleslot(keyed->sort, ExecStoreVirtualTuple(slot));
}

void
keyed_sort(Keyed *keyed)
{
	tuplesort_performsort(keyed->sort);
}

const KeyedRow *
keyed_next(Keyed *keyed)
{
	TupleTableSlot *slot = keyed->out;
	bytea *key;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(keyed->sort, true, false, slot, NULL))
		return NULL;
	slot_getallattrs(slot);
	key = (bytea *) DatumGetPointer(slot->tts_values[0]);
	keyed->row = (KeyedRow){(const unsigned char *) VARDATA_ANY(key), (int) VARSIZE_ANY_EXHDR(key),
							DatumGetInt64(slot->tts_values[1]), slot->tts_values + KEYED_BEFORE,
							slot->tts_isnull + KEYED_BEFORE};
	return &keyed->row;
}

TupleDesc
keyed_columns(const Keyed *keyed)
{
	return keyed->in->tts_tupleDescriptor;
}

void
keyed_mark(Keyed *keyed)
{
	tuplesort_markpos(keyed->sort);
}

void
keyed_return(Keyed *keyed)
{
	tuplesort_restorepos(keyed->sort);
}

void
keyed_rewind(Keyed *keyed)
{
	tuplesort_rescan(keyed->sort);
}

void
keyed_end(Keyed *keyed)
{
	if (keyed == NULL)
		return;
	ExecDropSingleTupleTableSlot(keyed->in);
	ExecDropSingleTupleTableSlot(keyed->out);
	tuplesort_end(keyed->sort);
	pfree(keyed->key);
	pfree(keyed);
}
