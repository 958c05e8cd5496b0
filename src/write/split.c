/*
 * split.c: which rows of a row type go to which of its classes or records.
 *
 * The rows are sorted by what they hold, in hashes, so that the source's order
 * does not matter, and dealt out by a stream of random numbers.  Where the stream
 * begins follows from the seed and from all the rows at once (SHA-256): of a value
 * by itself nothing can be told from where it went.
 */
#include "compat.h"
#include "core/util/random.h"
#include "write/split.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/fmgrprotos.h"

/* Columns before the kept ones. */
#define TYPE 1
#define HASH 2
#define COLUMNS_BEFORE 2

/* Rows whose hashes are digested at a time. */
#define DIGEST_ROWS 512

struct Split
{
	int nkept;
	uint64 seed;
	Tuplesortstate *sort; /* of (row type, hash, kept values) */
	TupleTableSlot *slot;
	MemoryContext scratch; /* values while they are hashed */
};

Split *
split_begin(TupleDesc desc, int first, int nkept, uint64 seed)
{
	Split *split = palloc(sizeof(Split));
	TupleDesc sorted = CreateTemplateTupleDesc(COLUMNS_BEFORE + nkept);
	AttrNumber keys[] = {TYPE, HASH};
	Oid less[] = {Int8LessOperator, Int8LessOperator};
	Oid collations[] = {InvalidOid, InvalidOid};
	bool nulls_first[] = {false, false};

	TupleDescInitEntry(sorted, TYPE, "type", INT8OID, -1, 0);
	TupleDescInitEntry(sorted, HASH, "hash", INT8OID, -1, 0);
	for (int i = 0; i < nkept; i++)
		TupleDescCopyEntry(sorted, COLUMNS_BEFORE + 1 + i, desc, first + 1 + i);
	TupleDescFinalize(sorted);
	split->nkept = nkept;
	split->seed = seed;
	split->sort = tuplesort_begin_heap(sorted, 2, keys, less, collations, nulls_first, work_mem, NULL,
									   TUPLESORT_RANDOMACCESS);
	split->slot = MakeSingleTupleTableSlot(sorted, &TTSOpsVirtual);
	split->scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon split", ALLOCSET_SMALL_SIZES);
	return split;
}

/* By the bytes that it is made of: a type need not have a hash function, nor equality. */
static uint64
hash_value(Form_pg_attribute attribute, Datum value, uint64 seed)
{
	if (attribute->attbyval)
		return hash_bytes_extended((unsigned char *) &value, sizeof(Datum), seed);
	if (attribute->attlen == -1)
	{
		struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

		return hash_bytes_extended((unsigned char *) VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), seed);
	}
	/* (columns of tables have no type of attlen -2) */
	return hash_bytes_extended((unsigned char *) DatumGetPointer(value), attribute->attlen, seed);
}

void
split_put(Split *split, uint32 type, const Datum *kept, const bool *nulls)
{
	TupleTableSlot *slot = split->slot;
	MemoryContext old = MemoryContextSwitchTo(split->scratch);
	uint64 hash = 0;

	for (int i = 0; i < split->nkept; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(slot->tts_tupleDescriptor, COLUMNS_BEFORE + i);

		hash = nulls[i] ? hash_bytes_extended(NULL, 0, hash + 1) : hash_value(attribute, kept[i], hash);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(split->scratch);
	ExecClearTuple(slot);
	slot->tts_values[TYPE - 1] = Int64GetDatum(type);
	slot->tts_values[HASH - 1] = Int64GetDatum((int64) hash);
	slot->tts_isnull[TYPE - 1] = slot->tts_isnull[HASH - 1] = false;
	memcpy(slot->tts_values + COLUMNS_BEFORE, kept, sizeof(Datum) * split->nkept);
	memcpy(slot->tts_isnull + COLUMNS_BEFORE, nulls, sizeof(bool) * split->nkept);
	tuplesort_puttupleslot(split->sort, ExecStoreVirtualTuple(slot));
}

/* The digest so far and n words more become the next one, which is the first words of all. */
static void
digest_words(uint64 *words, int n)
{
	Size digest = 256 / BITS_PER_BYTE;
	bytea *input = palloc(VARHDRSZ + digest + sizeof(uint64) * n);
	Datum output;

	SET_VARSIZE(input, VARHDRSZ + digest + sizeof(uint64) * n);
	memcpy(VARDATA(input), words, digest + sizeof(uint64) * n);
	output = DirectFunctionCall1(sha256_bytea, PointerGetDatum(input));
	memcpy(words, VARDATA_ANY(DatumGetPointer(output)), digest);
	pfree(DatumGetPointer(output));
	pfree(input);
}

/* Where the stream begins: from the seed and all rows. */
static uint64
digest_rows(Split *split, TupleTableSlot *slot)
{
	uint64 words[4 + 2 * DIGEST_ROWS] = {split->seed};
	int n = 0;

	while (tuplesort_gettupleslot(split->sort, true, false, slot, NULL))
	{
		bool isnull;

		words[4 + n++] = (uint64) DatumGetInt64(slot_getattr(slot, TYPE, &isnull));
		words[4 + n++] = (uint64) DatumGetInt64(slot_getattr(slot, HASH, &isnull));
		if (n < 2 * DIGEST_ROWS)
			continue;
		CHECK_FOR_INTERRUPTS();
		digest_words(words, n);
		n = 0;
	}
	digest_words(words, n);
	return words[0];
}

void
split_end(Split *split, SplitDeal deal, void *arg)
{
	TupleTableSlot *slot;
	uint64_t random;

	tuplesort_performsort(split->sort);
	slot = MakeSingleTupleTableSlot(split->slot->tts_tupleDescriptor, &TTSOpsMinimalTuple);
	random = digest_rows(split, slot);
	tuplesort_rescan(split->sort);
	while (tuplesort_gettupleslot(split->sort, true, false, slot, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		deal(arg, (uint32) DatumGetInt64(slot->tts_values[TYPE - 1]), kanon_random_split(&random),
			 slot->tts_values + COLUMNS_BEFORE, slot->tts_isnull + COLUMNS_BEFORE);
	}
	ExecDropSingleTupleTableSlot(slot);
	ExecDropSingleTupleTableSlot(split->slot);
	tuplesort_end(split->sort);
	MemoryContextDelete(split->scratch);
	pfree(split);
}
