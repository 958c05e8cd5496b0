/*
 * stored_runs.c: rows of a table as heap stores them, one after the other: is the next one like the one before?
 *
 * Rows of a target lie class by class.  To see that one shows what the one before shows takes a look at its bytes
 * where they are, and no column of it need be taken out first.
 */
#include "compat.h"
#include "distributed/distributed.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

struct Stored
{
	TupleDesc desc;
	int n; /* columns that are compared */
	int first;
	int end;
	bool known;  /* a row was remembered: */
	bool nulls;  /* it has some */
	uint32 off;  /* where the first column to take out begins */
	Size size;   /* bytes from where its header says which are NULL to the end of the n-th column */
	char *bytes; /* [size] */
	Size room;
};

/* From here on nothing of a row's header is about who wrote it, and when. */
#define HEADER_END offsetof(HeapTupleHeaderData, t_hoff)

Stored *
stored_create(TupleDesc desc, int n, int first, int end)
{
	Stored *stored = palloc0(sizeof(Stored));

	stored->desc = desc;
	stored->n = n;
	stored->first = Min(first, n);
	stored->end = end;
	stored->room = 1024;
	stored->bytes = palloc(stored->room);
	return stored;
}

/* As it is in its page, or NULL: it is no such row. */
static HeapTuple
stored_tuple(TupleTableSlot *slot)
{
	bool copied;

	return TTS_IS_BUFFERTUPLE(slot) ? ExecFetchSlotHeapTuple(slot, false, &copied) : NULL;
}

/* Walks over columns from one on, up to another, and takes them out; where the last one ends. */
static uint32
walk(TupleDesc desc, HeapTupleHeader row, int from, int to, uint32 off, Datum *values, bool *nulls)
{
	const char *data = (char *) row + row->t_hoff;
	bool has_nulls = (row->t_infomask & HEAP_HASNULL) != 0;

	for (int c = from; c < to; c++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, c);
		bool null = has_nulls && att_isnull(c, row->t_bits);

		if (!null)
			off = (uint32) att_align_pointer(off, att->attalign, att->attlen, data + off);
		if (values != NULL)
		{
			nulls[c] = null;
			values[c] = null ? (Datum) 0 : fetchatt(att, data + off);
		}
		if (!null)
			off = (uint32) att_addlength_pointer(off, att->attlen, data + off);
	}
	return off;
}

bool
stored_repeats(const Stored *stored, TupleTableSlot *slot, Datum *values, bool *nulls)
{
	HeapTuple tuple = stored->known ? stored_tuple(slot) : NULL;
	HeapTupleHeader row;

	if (tuple == NULL || tuple->t_len < HEADER_END + stored->size)
		return false;
	row = tuple->t_data;
	if (HeapTupleHeaderGetNatts(row) != stored->desc->natts ||
		((row->t_infomask & HEAP_HASNULL) != 0) != stored->nulls ||
		memcmp((char *) row + HEADER_END, stored->bytes, stored->size) != 0)
		return false;
	(void) walk(stored->desc, row, stored->first, stored->end, stored->off, values, nulls);
	return true;
}

void
stored_remember(Stored *stored, TupleTableSlot *slot)
{
	HeapTuple tuple = stored_tuple(slot);
	HeapTupleHeader row;
	uint32 end;

	stored->known = false;
	if (tuple == NULL || HeapTupleHeaderGetNatts(tuple->t_data) != stored->desc->natts)
		return;
	row = tuple->t_data;
	stored->nulls = (row->t_infomask & HEAP_HASNULL) != 0;
	stored->off = walk(stored->desc, row, 0, stored->first, 0, NULL, NULL);
	end = walk(stored->desc, row, stored->first, stored->n, stored->off, NULL, NULL);
	stored->size = row->t_hoff - HEADER_END + end;
	if (stored->size > stored->room)
	{
		pfree(stored->bytes);
		stored->room = stored->size;
		stored->bytes = palloc(stored->room);
	}
	memcpy(stored->bytes, (char *) row + HEADER_END, stored->size);
	stored->known = true;
}
