/*
 * shuffle.c: rows set aside as they are read, to come out in random order: a tuplesort
 * under random keys, which spills.
 */
#include "compat.h"
#include "rows/target.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"

/* Columns of a row in the tuplesort before its own. */
#define BEFORE 2

Shuffle *
shuffle_begin(TupleDesc desc, int first)
{
	static const char *const names[BEFORE] = {"key", "number"};
	Shuffle *shuffle = palloc0(sizeof(Shuffle));
	int n = desc->natts - first;
	AttrNumber key = 1;
	Oid less = Int8LessOperator;
	Oid collation = InvalidOid;
	bool nulls_first = false;

	shuffle->desc = CreateTemplateTupleDesc(BEFORE + n);
	for (int i = 0; i < BEFORE; i++)
		TupleDescInitEntry(shuffle->desc, i + 1, names[i], INT8OID, -1, 0);
	for (int i = 0; i < n; i++)
		TupleDescCopyEntry(shuffle->desc, BEFORE + 1 + i, desc, first + 1 + i);
	TupleDescFinalize(shuffle->desc);
	shuffle->sort =
		tuplesort_begin_heap(shuffle->desc, 1, &key, &less, &collation, &nulls_first, work_mem, NULL, 0);
	shuffle->put = MakeSingleTupleTableSlot(shuffle->desc, &TTSOpsVirtual);
	return shuffle;
}

void
shuffle_put(Shuffle *shuffle, int64 number, const Datum *values, const bool *nulls)
{
	TupleTableSlot *slot = shuffle->put;
	int n = shuffle->desc->natts - BEFORE;

	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum((int64) random_draw(&shuffle->random));
	slot->tts_values[1] = Int64GetDatum(number);
	slot->tts_isnull[0] = slot->tts_isnull[1] = false;
	if (n > 0)
	{
		memcpy(slot->tts_values + BEFORE, values, sizeof(Datum) * n);
		memcpy(slot->tts_isnull + BEFORE, nulls, sizeof(bool) * n);
	}
	tuplesort_puttupleslot(shuffle->sort, ExecStoreVirtualTuple(slot));
}

void
shuffle_sort(Shuffle *shuffle)
{
	tuplesort_performsort(shuffle->sort);
	shuffle->got = MakeSingleTupleTableSlot(shuffle->desc, &TTSOpsMinimalTuple);
}

Shuffle *
shuffle_numbers(int64 n)
{
	TupleDesc nothing = CreateTemplateTupleDesc(0);
	Shuffle *shuffle;

	TupleDescFinalize(nothing);
	shuffle = shuffle_begin(nothing, 0);
	for (int64 i = 0; i < n; i++)
		shuffle_put(shuffle, i, NULL, NULL);
	shuffle_sort(shuffle);
	return shuffle;
}

bool
shuffle_next(Shuffle *shuffle, int64 *number, const Datum **values, const bool **nulls)
{
	TupleTableSlot *slot = shuffle->got;

	if (!tuplesort_gettupleslot(shuffle->sort, true, false, slot, NULL))
		return false;
	slot_getallattrs(slot);
	*number = DatumGetInt64(slot->tts_values[1]);
	*values = slot->tts_values + BEFORE;
	*nulls = slot->tts_isnull + BEFORE;
	return true;
}

void
shuffle_end(Shuffle *shuffle)
{
	ExecDropSingleTupleTableSlot(shuffle->put);
	if (shuffle->got != NULL)
		ExecDropSingleTupleTableSlot(shuffle->got);
	tuplesort_end(shuffle->sort);
	pfree(shuffle);
}
