/*
 * marginals.c: for row types that do not fit into memory.  It counts the rows of each value of each column, and
 * sorts rows by a key on disk.
 */
#include "compat.h"
#include "rows/row_types.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

typedef struct ValueReader
{
	Source *source;
	Border *border;
	Marginals *marginals;
	Size room[KANON_MAX_COLUMNS];
	Size dictionaries; /* bytes, as charged so far */
	int64 nrows;
	bool grouped;
	int last; /* attribute with the count */
} ValueReader;

/* Looked at every so many rows. */
#define ROWS_BETWEEN 4096

static void
charge_dictionaries(ValueReader *reader)
{
	Size now = 0;

	for (int c = 0; c < reader->source->ngrouped; c++)
		now += dictionary_memory(reader->source->qis[c].dictionary);
	border_charge(reader->border, reader->dictionaries, now);
	reader->dictionaries = now;
}

static bool
receive_values(void *arg, TupleTableSlot *slot)
{
	ValueReader *reader = arg;
	Marginals *marginals = reader->marginals;
	int64 rows = reader->grouped ? grouping_count(reader->source, slot, reader->last, reader->nrows) : 1;

	if (reader->nrows / ROWS_BETWEEN != (reader->nrows + rows) / ROWS_BETWEEN)
		charge_dictionaries(reader);
	reader->nrows += rows;
	for (int c = 0; c < reader->source->ngrouped; c++)
	{
		uint32 code =
			dictionary_add(reader->source->qis[c].dictionary, slot->tts_values[c], slot->tts_isnull[c]);
		Size before = reader->room[c];

		if (code >= before)
		{
			marginals->rows[c] = border_grow(reader->border, marginals->rows[c], &reader->room[c],
											 (Size) code + 1, sizeof(int64));
			memset(marginals->rows[c] + before, 0, sizeof(int64) * (reader->room[c] - before));
		}
		marginals->rows[c][code] += rows;
	}
	return true;
}

/* In the numbers of dictionaries that are sorted. */
static void
renumber(const ValueReader *reader, int column)
{
	Dictionary *dictionary = reader->source->qis[column].dictionary;
	uint32 *number = dictionary_sort(dictionary);
	uint32 n = dictionary_size(dictionary);
	int64 *before = reader->marginals->rows[column];
	int64 *rows = border_palloc(reader->border, sizeof(int64) * Max((Size) n, 1));

	for (uint32 code = 0; code < n; code++)
		rows[number[code]] = before[code];
	pfree(number);
	if (before != NULL)
		border_pfree(reader->border, before);
	reader->marginals->rows[column] = rows;
}

RowTypes *
marginals_read(Source *source, Border *border, Marginals *marginals)
{
	ValueReader reader = {
		.source = source, .border = border, .marginals = marginals, .grouped = !source_is_here(source)};
	RowTypes like = {.source = source};
	Gate *gate;

	memset(marginals, 0, sizeof(Marginals));
	marginals->source = source;
	like.grouped = MemoryContextAllocZero(border->context, sizeof(KanonColumn) * source->ngrouped);
	for (int c = 0; c < source->ngrouped; c++)
	{
		marginals->kinds[c] = 1;
		source->qis[c].dictionary = dictionary_create(border->context, &source->qis[c]);
	}
	if (reader.grouped)
	{
		int nest = grouping_begin();

		gate = grouping_gate(source);
		reader.last = gate->desc->natts - 1;
		gate_watch(gate, border, "reading");
		gate_select(gate, grouping_query(source, gate), true, receive_values, &reader);
		grouping_end(nest);
	}
	else
	{
		gate = gate_create(source->name, source->relid, source->ngrouped);
		gate_columns(gate, source->qis, source->ngrouped);
		gate_watch(gate, border, "reading");
		gate_select(gate,
					psprintf("SELECT %s FROM %s", column_list(source->qis, source->ngrouped), source->name),
					true, receive_values, &reader);
	}
	for (int c = 0; c < source->ngrouped; c++)
	{
		const SourceColumn *qi = &source->qis[c];

		renumber(&reader, c);
		like.grouped[c] = (KanonColumn){.distinct = dictionary_size(qi->dictionary),
										.weight = 1,
										.number = qi->numerical ? dictionary_numbers(qi->dictionary) : NULL,
										.has_null = dictionary_has_null(qi->dictionary)};
	}
	charge_dictionaries(&reader);
	like.nrows = reader.nrows;
	rowtypes_check_staged(source, like.nrows);
	if (source->ngrouped > source->nqis)
		like.totals = (const int64 **) &marginals->rows[source->nqis];
	return marginals_types(marginals, &like, border, NULL);
}

/* ---- the rows ---- */

typedef struct CodeReader
{
	const Source *source;
	Border *border;
	Keyed *keyed;
	LookAtKept look;
	void *arg;
	int column;
	int nkept;
	bool grouped;
	int last; /* attribute with the count */
	int64 nrows;
	bool known; /* all values so far */
	unsigned char *key;
} CodeReader;

static bool
receive_codes(void *arg, TupleTableSlot *slot)
{
	CodeReader *reader = arg;
	const Source *source = reader->source;
	int64 rows = reader->grouped ? grouping_count(source, slot, reader->last, reader->nrows) : 1;
	unsigned char *next = key_put(reader->key, 0);

	reader->nrows += rows;
	for (int c = 0; c < source->ngrouped && reader->known; c++)
	{
		uint32 code = dictionary_find(source->qis[c].dictionary, slot->tts_values[c], slot->tts_isnull[c]);

		reader->known = code != DICTIONARY_NONE;
		next = key_put(next, code);
		if (c == reader->column)
			key_put(reader->key, code);
	}
	if (!reader->known)
		return false;
	if (reader->look != NULL)
		reader->look(reader->arg, slot->tts_values + source->ngrouped, slot->tts_isnull + source->ngrouped);
	keyed_put(reader->keyed, reader->key, (int) (next - reader->key), rows,
			  slot->tts_values + source->ngrouped, slot->tts_isnull + source->ngrouped);
	return true;
}

bool
marginals_rows(const Source *source, int column, int nkept, Border *border, Keyed *keyed, LookAtKept look,
			   void *arg)
{
	CodeReader reader = {.source = source,
						 .border = border,
						 .keyed = keyed,
						 .look = look,
						 .arg = arg,
						 .column = column,
						 .nkept = nkept,
						 .grouped = nkept == 0 && !source_is_here(source),
						 .known = true,
						 .key = palloc(4 * (Size) (source->ngrouped + 1))};
	Gate *gate;
	int nest;

	if (reader.grouped)
	{
		gate = grouping_gate(source);
		reader.last = gate->desc->natts - 1;
		gate_watch(gate, border, "reading by parts");
		nest = grouping_begin();
		gate_select(gate, grouping_query(source, gate), true, receive_codes, &reader);
		grouping_end(nest);
	}
	else
	{
		gate = gate_create(source->name, source->relid, source->ngrouped + nkept);
		gate_columns(gate, source->qis, source->ngrouped);
		gate_columns(gate, source->kept, nkept);
		gate_watch(gate, border, "reading by parts");
		gate_select(gate,
					psprintf("SELECT %s%s%s FROM %s", column_list(source->qis, source->ngrouped),
							 nkept > 0 ? ", " : "", column_list(source->kept, nkept), source->name),
					true, receive_codes, &reader);
	}
	keyed_sort(keyed);
	return reader.known;
}

/* ---- row types that are made up ---- */

/* Where the next rows of a column begin: kind by kind, value by value. */
typedef struct Step
{
	int kind;
	uint32 code;
	int64 left;
} Step;

static void
step_on(const Marginals *marginals, int c, uint32 distinct, Step *step)
{
	while (step->left == 0 && step->kind < marginals->kinds[c])
	{
		if (++step->code >= distinct)
		{
			step->code = 0;
			step->kind++;
		}
		if (step->kind < marginals->kinds[c])
			step->left = marginals->rows[c][(Size) step->code * marginals->kinds[c] + step->kind];
	}
}

RowTypes *
marginals_types(const Marginals *marginals, const RowTypes *like, Border *border, uint8 **kind)
{
	int n = like->source->nqis;
	RowTypes *types = MemoryContextAllocZero(border->context, sizeof(RowTypes));
	Step step[KANON_MAX_COLUMNS];
	Size most = 1;

	*types = *like;
	types->grouped = MemoryContextAlloc(border->context, sizeof(KanonColumn) * like->source->ngrouped);
	memcpy(types->grouped, like->grouped, sizeof(KanonColumn) * like->source->ngrouped);
	types->columns = types->grouped;
	types->ntypes = 0;
	for (int c = 0; c < n; c++)
	{
		for (Size i = 0; i < (Size) like->grouped[c].distinct * marginals->kinds[c]; i++)
			most += marginals->rows[c][i] > 0;
		step[c] = (Step){.code = PG_UINT32_MAX};
		step_on(marginals, c, like->grouped[c].distinct, &step[c]);
	}
	for (int c = 0; c < n; c++)
		types->grouped[c].code = border_palloc(border, sizeof(uint32) * most);
	types->rows = border_palloc(border, sizeof(int64) * most);
	if (kind != NULL)
		*kind = border_palloc(border, most * n);
	for (int64 placed = 0; placed < types->nrows; types->ntypes++)
	{
		int64 rows = step[0].left;

		CHECK_FOR_INTERRUPTS();
		for (int c = 1; c < n; c++)
			rows = Min(rows, step[c].left);
		if (rows <= 0 || types->ntypes == most)
			elog(ERROR, "columns have values of other rows");
		for (int c = 0; c < n; c++)
		{
			((uint32 *) types->grouped[c].code)[types->ntypes] = step[c].code;
			if (kind != NULL)
				(*kind)[(Size) types->ntypes * n + c] = (uint8) step[c].kind;
			step[c].left -= rows;
			step_on(marginals, c, like->grouped[c].distinct, &step[c]);
		}
		types->rows[types->ntypes] = rows;
		placed += rows;
	}
	return types;
}

/* ---- Rows in the order of a key: what PostgreSQL sorts, by a column of bytes ---- */

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
