/*
 * row_spool.c: rows that are read once: a tuplestore, which spills.
 */
#include "compat.h"
#include "rows/target.h"

#include "access/detoast.h"
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
