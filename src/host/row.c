/*
 * row.c: values of any number and types, which SQL hands to a function as ROW(…).
 */
#include "compat.h"
#include "host/row.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

static Row *
row_create(MemoryContext parent, int32 typmod, void *(*prepare)(const Row *row))
{
	MemoryContext context = AllocSetContextCreate(parent, "kanon rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Row *row = palloc0(sizeof(Row));

	row->context = context;
	row->typmod = typmod;
	row->desc = lookup_rowtype_tupdesc_copy(RECORDOID, typmod);
	if (row->desc->natts < 1)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("a row has no values")));
	row->values = palloc(sizeof(Datum) * row->desc->natts);
	row->nulls = palloc(sizeof(bool) * row->desc->natts);
	row->prepared = prepare(row);
	MemoryContextSwitchTo(old);
	return row;
}

Row *
row_argument(FmgrInfo *call, HeapTupleHeader header, void *(*prepare)(const Row *row))
{
	Row *row = call->fn_extra;
	Oid type = HeapTupleHeaderGetTypeId(header);
	int32 typmod = HeapTupleHeaderGetTypMod(header);

	if (type != RECORDOID)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("values are needed as ROW(...), not as a row of type %s", format_type_be(type))));
	if (row != NULL && row->typmod != typmod)
	{
		call->fn_extra = NULL;
		MemoryContextDelete(row->context);
		row = NULL;
	}
	if (row == NULL)
		call->fn_extra = row = row_create(call->fn_mcxt, typmod, prepare);
	return row;
}

void
row_deform(Row *row, HeapTupleHeader header)
{
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};

	heap_deform_tuple(&tuple, row->desc, row->values, row->nulls);
}

/* (From whether it has NULLs on; whoever makes a row sets what lies between values to zero.) */
const char *
row_image(HeapTupleHeader header, Size *size)
{
	*size = HeapTupleHeaderGetDatumLength(header) - offsetof(HeapTupleHeaderData, t_infomask);
	return (const char *) header + offsetof(HeapTupleHeaderData, t_infomask);
}
