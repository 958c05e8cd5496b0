/*
 * lines.c: the lines that a set-returning function gives back; values that SQL hands to a function as a ROW.
 */
#include "compat.h"
#include "host/lines.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

Lines *
lines_begin(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Lines *lines = palloc(sizeof(Lines));

	InitMaterializedSRF(fcinfo, 0);
	lines->store = rsinfo->setResult;
	lines->desc = rsinfo->setDesc;
	lines->n = 0;
	return lines;
}

void
line_value(Lines *lines, Datum value, bool known)
{
	if (lines->n == Min(lines->desc->natts, LINE_COLUMNS))
		elog(ERROR, "a line has more than %d columns", lines->n);
	lines->values[lines->n] = value;
	lines->nulls[lines->n++] = !known;
}

void
line_text(Lines *lines, const char *text)
{
	line_value(lines, text != NULL ? CStringGetTextDatum(text) : (Datum) 0, text != NULL);
}

void
line_name(Lines *lines, const char *name)
{
	line_value(lines, name != NULL ? DirectFunctionCall1(namein, CStringGetDatum(name)) : (Datum) 0,
			   name != NULL);
}

void
line_end(Lines *lines)
{
	if (lines->n != lines->desc->natts)
		elog(ERROR, "a line has %d of %d columns", lines->n, lines->desc->natts);
	tuplestore_putvalues(lines->store, lines->desc, lines->values, lines->nulls);
	lines->n = 0;
}

void
line_measure(Lines *lines, const char *measure, double value, bool known, const char *meaning)
{
	line_text(lines, measure);
	line_float8(lines, value, known);
	line_text(lines, meaning);
	line_end(lines);
}

/* ---- Values of any number and types, which SQL hands to a function as ROW(…) ---- */

static RowArgument *
row_create(MemoryContext parent, int32 typmod, void *(*prepare)(const RowArgument *row))
{
	MemoryContext context = AllocSetContextCreate(parent, "kanon rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RowArgument *row = palloc0(sizeof(RowArgument));

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

RowArgument *
row_argument(FmgrInfo *call, HeapTupleHeader header, void *(*prepare)(const RowArgument *row))
{
	RowArgument *row = call->fn_extra;
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
row_deform(RowArgument *row, HeapTupleHeader header)
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
