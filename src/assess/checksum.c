/*
 * checksum.c: kanon_checksum: the SHA-256 of a relation's rows, whatever their order.
 *
 * The rows are taken as COPY writes them, as text in UTF-8, and sorted by their bytes.  A reader who has the rows
 * gets the same sum by COPY (SELECT * FROM relation) TO STDOUT, LC_ALL=C sort and sha256sum.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/source.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_checksum);

typedef struct Lines
{
	int ncolumns;
	FmgrInfo *output; /* [ncolumns] */
	Tuplesortstate *sort;
	StringInfoData line; /* a bytea that is being put together */
	MemoryContext row;
} Lines;

/* As COPY does. */
static void
append_value(StringInfo line, const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
	{
		static const char special[] = "\b\f\n\r\t\v\\";
		static const char names[] = "bfnrtv\\";
		const char *found = strchr(special, *p);

		if (found != NULL)
			appendStringInfoChar(line, '\\');
		appendStringInfoChar(line, found != NULL ? names[found - special] : *p);
	}
}

static bool
take_row(void *arg, TupleTableSlot *slot)
{
	Lines *lines = arg;
	MemoryContext old = MemoryContextSwitchTo(lines->row);

	resetStringInfo(&lines->line);
	appendStringInfoSpaces(&lines->line, VARHDRSZ);
	slot_getallattrs(slot);
	for (int i = 0; i < lines->ncolumns; i++)
	{
		if (i > 0)
			appendStringInfoChar(&lines->line, '\t');
		if (slot->tts_isnull[i])
			appendStringInfoString(&lines->line, "\\N");
		else
		{
			char *text = OutputFunctionCall(&lines->output[i], slot->tts_values[i]);

			/* bytes of a database without an encoding are what they are */
			append_value(&lines->line, GetDatabaseEncoding() == PG_SQL_ASCII
										   ? text
										   : pg_server_to_any(text, strlen(text), PG_UTF8));
		}
	}
	SET_VARSIZE(lines->line.data, lines->line.len);
	MemoryContextSwitchTo(old);
	tuplesort_putdatum(lines->sort, PointerGetDatum(lines->line.data), false);
	MemoryContextReset(lines->row);
	return true;
}

static void
digest(Lines *lines, uint8 *result)
{
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);
	Datum line;
	bool isnull;
	bool done = hash != NULL && pg_cryptohash_init(hash) >= 0;

	tuplesort_performsort(lines->sort);
	while (done && kanon_getdatum(lines->sort, &line, &isnull))
	{
		CHECK_FOR_INTERRUPTS();
		done = pg_cryptohash_update(hash, (const uint8 *) VARDATA_ANY(DatumGetPointer(line)),
									VARSIZE_ANY_EXHDR(DatumGetPointer(line))) >= 0 &&
			   pg_cryptohash_update(hash, (const uint8 *) "\n", 1) >= 0;
	}
	if (!done || pg_cryptohash_final(hash, result, PG_SHA256_DIGEST_LENGTH) < 0)
		elog(ERROR, "could not compute SHA-256");
	pg_cryptohash_free(hash);
}

/* kanon_checksum(relation regclass) */
Datum
kanon_checksum(PG_FUNCTION_ARGS)
{
	Lines lines = {0};
	MemoryContext caller = CurrentMemoryContext;
	Source *source;
	Gate *gate;
	uint8 result[PG_SHA256_DIGEST_LENGTH];
	char *text;
	int nest;

	SPI_connect();
	source = source_open_all(PG_GETARG_OID(0));
	source_snapshot(source);
	lines.ncolumns = source->nkept;
	lines.output = palloc0(sizeof(FmgrInfo) * Max(source->nkept, 1));
	for (int i = 0; i < source->nkept; i++)
	{
		Oid function;
		bool isvarlena;

		getTypeOutputInfo(source->kept[i].type, &function, &isvarlena);
		fmgr_info(function, &lines.output[i]);
	}
	initStringInfo(&lines.line);
	lines.row = AllocSetContextCreate(CurrentMemoryContext, "kanon checksum", ALLOCSET_DEFAULT_SIZES);
	lines.sort = tuplesort_begin_datum(BYTEAOID, ByteaLessOperator, InvalidOid, false, work_mem, NULL, 0);
	gate = gate_create(source->name, source->relid, source->nkept);
	gate_columns(gate, source->kept, source->nkept);
	nest = plain_text_begin();
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), source->name),
				true, take_row, &lines);
	plain_text_end(nest);
	digest(&lines, result);
	tuplesort_end(lines.sort);
	PopActiveSnapshot();
	MemoryContextSwitchTo(caller);
	text = palloc0(2 * PG_SHA256_DIGEST_LENGTH + 1);
	hex_encode((const char *) result, PG_SHA256_DIGEST_LENGTH, text);
	SPI_finish();
	PG_RETURN_TEXT_P(cstring_to_text(text));
}
