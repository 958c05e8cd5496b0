/*
 * row_spool.c: rows that are read once: a tuplestore, which spills.
 */
#include "compat.h"
#include "rows/target.h"

#include "access/detoast.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

/* Columns of a stored row before its own: its type. */
#define BEFORE 1

struct Waiting
{
	Tuplestorestate *store;
	TupleTableSlot *put;
	TupleTableSlot *got;
	const uint32 *number;
	MemoryContext row; /* of what was fetched for the one at hand */
};

/*
 * Values that are stored elsewhere may be gone when the row's turn comes, by what others'
 * functions do until then.
 */
static Datum
at_hand(Waiting *waiting, int column, Datum value)
{
	MemoryContext old;

	if (TupleDescAttr(waiting->put->tts_tupleDescriptor, column)->attlen != -1 ||
		!VARATT_IS_EXTERNAL(DatumGetPointer(value)))
		return value;
	old = MemoryContextSwitchTo(waiting->row);
	value = PointerGetDatum(detoast_external_attr((struct varlena *) DatumGetPointer(value)));
	MemoryContextSwitchTo(old);
	return value;
}

Waiting *
waiting_begin(TupleDesc desc, int first)
{
	Waiting *waiting = palloc0(sizeof(Waiting));
	int n = desc->natts - first;
	TupleDesc stored = CreateTemplateTupleDesc(BEFORE + n);

	TupleDescInitEntry(stored, 1, "type", INT4OID, -1, 0);
	for (int i = 0; i < n; i++)
		TupleDescCopyEntry(stored, BEFORE + 1 + i, desc, first + 1 + i);
	TupleDescFinalize(stored);
	waiting->store = tuplestore_begin_heap(false, false, work_mem);
	waiting->put = MakeSingleTupleTableSlot(stored, &TTSOpsVirtual);
	waiting->got = MakeSingleTupleTableSlot(stored, &TTSOpsMinimalTuple);
	waiting->row = AllocSetContextCreate(CurrentMemoryContext, "kanon waiting row", ALLOCSET_DEFAULT_SIZES);
	return waiting;
}

void
waiting_put(Waiting *waiting, uint32 type, const Datum *values, const bool *nulls)
{
	TupleTableSlot *slot = waiting->put;
	int n = slot->tts_tupleDescriptor->natts - BEFORE;

	ExecClearTuple(slot);
	slot->tts_values[0] = Int32GetDatum((int32) type);
	slot->tts_isnull[0] = false;
	for (int i = 0; i < n; i++)
	{
		slot->tts_values[BEFORE + i] = nulls[i] ? (Datum) 0 : at_hand(waiting, BEFORE + i, values[i]);
		slot->tts_isnull[BEFORE + i] = nulls[i];
	}
	tuplestore_puttupleslot(waiting->store, ExecStoreVirtualTuple(slot));
	MemoryContextReset(waiting->row);
}

void
waiting_renumber(Waiting *waiting, const uint32 *number)
{
	waiting->number = number;
}

bool
waiting_next(Waiting *waiting, uint32 *type, const Datum **values, const bool **nulls)
{
	TupleTableSlot *slot = waiting->got;

	if (!tuplestore_gettupleslot(waiting->store, true, false, slot))
		return false;
	slot_getallattrs(slot);
	*type = waiting->number[(uint32) DatumGetInt32(slot->tts_values[0])];
	*values = slot->tts_values + BEFORE;
	*nulls = slot->tts_isnull + BEFORE;
	return true;
}

void
waiting_end(Waiting *waiting)
{
	ExecDropSingleTupleTableSlot(waiting->put);
	ExecDropSingleTupleTableSlot(waiting->got);
	tuplestore_end(waiting->store);
	MemoryContextDelete(waiting->row);
	pfree(waiting);
}

/*
 * ---- Rows set aside as they are read, to come out in random order: a tuplesort
 * under random keys, which spills.
 */

/* Columns of a row in the tuplesort before its own. */
#define KEYED 2

Shuffle *
shuffle_begin(TupleDesc desc, int first)
{
	static const char *const names[KEYED] = {"key", "number"};
	Shuffle *shuffle = palloc0(sizeof(Shuffle));
	int n = desc->natts - first;
	AttrNumber key = 1;
	Oid less = Int8LessOperator;
	Oid collation = InvalidOid;
	bool nulls_first = false;

	shuffle->desc = CreateTemplateTupleDesc(KEYED + n);
	for (int i = 0; i < KEYED; i++)
		TupleDescInitEntry(shuffle->desc, i + 1, names[i], INT8OID, -1, 0);
	for (int i = 0; i < n; i++)
		TupleDescCopyEntry(shuffle->desc, KEYED + 1 + i, desc, first + 1 + i);
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
	int n = shuffle->desc->natts - KEYED;

	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum((int64) random_draw(&shuffle->random));
	slot->tts_values[1] = Int64GetDatum(number);
	slot->tts_isnull[0] = slot->tts_isnull[1] = false;
	if (n > 0)
	{
		memcpy(slot->tts_values + KEYED, values, sizeof(Datum) * n);
		memcpy(slot->tts_isnull + KEYED, nulls, sizeof(bool) * n);
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
	*values = slot->tts_values + KEYED;
	*nulls = slot->tts_isnull + KEYED;
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

/* ---- read again ---- */

void
raise_source_changed(void)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
		 errmsg("the source gave other rows when it was read a second time"),
		 errdetail("It probably calls volatile functions, in a view or in a policy of row-level security."),
		 errhint("Publish from a copy, such as a materialized view, or without kept columns.")));
}
