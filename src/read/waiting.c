/*
 * waiting.c: rows that are read once: a tuplestore, which spills.
 */
#include "compat.h"
#include "read/waiting.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

/* Of a stored row, before its columns: its type. */
#define BEFORE 1

struct Waiting
{
	Tuplestorestate *store;
	TupleTableSlot *put;
	TupleTableSlot *got;
	const uint32 *number;
};

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
	if (n > 0)
	{
		memcpy(slot->tts_values + BEFORE, values, sizeof(Datum) * n);
		memcpy(slot->tts_isnull + BEFORE, nulls, sizeof(bool) * n);
	}
	tuplestore_puttupleslot(waiting->store, ExecStoreVirtualTuple(slot));
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
	pfree(waiting);
}
