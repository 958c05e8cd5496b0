/*
 * row_split.c: which rows of a row type go to which of its classes or records.
 *
 * The rows are sorted by their values, in hashes, so that the source's order does not
 * matter, and dealt out by a stream of random numbers.  Where the stream begins
 * follows from the seed and from all the rows at once (SHA-256): of a value by itself
 * nothing can be told from where it went.
 */
#include "compat.h"
#include "core/util/number.h"
#include "rows/row_types.h"
#include "rows/target.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "utils/fmgrprotos.h"

/* Columns before the kept ones: the last two with a company alone. */
#define TYPE 1
#define HASH 2
#define CLASS 3
#define ROW_MARK 4
#define KEY_MARK 5
#define COLUMNS_BEFORE 5

/* Rows whose hashes are digested at a time. */
#define DIGEST_ROWS 512

struct Split
{
	int nkept;
	uint64 seed;
	Company *company; /* or NULL */
	TupleDesc desc;   /* of the kept columns: */
	int first;
	Tuplesortstate *sort; /* of (row type, hash, kept values) */
	TupleTableSlot *slot;
	MemoryContext scratch; /* values while they are hashed */
};

Split *
split_begin(TupleDesc desc, int first, int nkept, uint64 seed, Company *company)
{
	Split *split = palloc(sizeof(Split));
	TupleDesc sorted = CreateTemplateTupleDesc(COLUMNS_BEFORE + nkept);
	AttrNumber keys[] = {TYPE, HASH};
	Oid less[] = {Int8LessOperator, Int8LessOperator};
	Oid collations[] = {InvalidOid, InvalidOid};
	bool nulls_first[] = {false, false};

	TupleDescInitEntry(sorted, TYPE, "type", INT8OID, -1, 0);
	TupleDescInitEntry(sorted, HASH, "hash", INT8OID, -1, 0);
	TupleDescInitEntry(sorted, CLASS, "class", INT8OID, -1, 0);
	TupleDescInitEntry(sorted, ROW_MARK, "row", INT8OID, -1, 0);
	TupleDescInitEntry(sorted, KEY_MARK, "key", INT8OID, -1, 0);
	for (int i = 0; i < nkept; i++)
		TupleDescCopyEntry(sorted, COLUMNS_BEFORE + 1 + i, desc, first + 1 + i);
	TupleDescFinalize(sorted);
	split->nkept = nkept;
	split->seed = seed;
	split->company = company;
	split->desc = desc;
	split->first = first;
	split->sort = tuplesort_begin_heap(sorted, 2, keys, less, collations, nulls_first, work_mem, NULL,
									   TUPLESORT_RANDOMACCESS);
	split->slot = MakeSingleTupleTableSlot(sorted, &TTSOpsVirtual);
	split->scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon split", ALLOCSET_SMALL_SIZES);
	return split;
}

/* Rows that are met come first: then it is known whom changed ones can be. */
static uint64
mark_row(Split *split, uint32 type, const Datum *kept, const bool *nulls)
{
	TupleTableSlot *slot = split->slot;
	RowMark mark = company_mark(split->company, split->desc, split->first, split->nkept, kept, nulls);
	const RowBefore *before = company_meet_row(split->company, type, &mark);

	slot->tts_values[CLASS - 1] = Int64GetDatum(before != NULL ? (int64) before->class_ : -1);
	slot->tts_values[ROW_MARK - 1] = Int64GetDatum((int64) mark.row);
	slot->tts_values[KEY_MARK - 1] = Int64GetDatum((int64) mark.key);
	return before != NULL ? UINT64CONST(1) << 63 : company_draw(split->company, &mark) >> 1;
}

void
split_put(Split *split, uint32 type, const Datum *kept, const bool *nulls)
{
	TupleTableSlot *slot = split->slot;
	MemoryContext old = MemoryContextSwitchTo(split->scratch);
	uint64 hash = 0;

	ExecClearTuple(slot);
	memset(slot->tts_values, 0, sizeof(Datum) * COLUMNS_BEFORE);
	memset(slot->tts_isnull, false, sizeof(bool) * COLUMNS_BEFORE);
	if (split->company != NULL)
		hash = mark_row(split, type, kept, nulls);
	else
		for (int i = 0; i < split->nkept; i++)
			hash = value_hash(TupleDescAttr(split->desc, split->first + i), kept[i], nulls[i], hash);
	MemoryContextSwitchTo(old);
	MemoryContextReset(split->scratch);
	slot->tts_values[TYPE - 1] = Int64GetDatum(type);
	slot->tts_values[HASH - 1] = Int64GetDatum((int64) hash);
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

/* A row that has not been met as it is may be somebody who has changed. */
static Deal
deal_of(Split *split, uint32 type, const Datum *values, uint64_t *random)
{
	Deal deal = {.before = NO_CLASS_BEFORE};
	const RowBefore *before;

	if (split->company == NULL)
	{
		deal.random = kanon_random_split(random);
		return deal;
	}
	deal.mark =
		(RowMark){(uint64) DatumGetInt64(values[ROW_MARK - 1]), (uint64) DatumGetInt64(values[KEY_MARK - 1])};
	deal.random = company_draw(split->company, &deal.mark);
	if (DatumGetInt64(values[CLASS - 1]) >= 0)
		deal.before = (uint32) DatumGetInt64(values[CLASS - 1]);
	else if ((before = company_meet_key(split->company, type, &deal.mark)) != NULL)
		deal.before = before->class_;
	return deal;
}

void
split_end(Split *split, SplitDeal deal_row, void *arg)
{
	TupleTableSlot *slot;
	uint64_t random = 0;

	tuplesort_performsort(split->sort);
	slot = MakeSingleTupleTableSlot(split->slot->tts_tupleDescriptor, &TTSOpsMinimalTuple);
	if (split->company == NULL)
		random = digest_rows(split, slot);
	tuplesort_rescan(split->sort);
	while (tuplesort_gettupleslot(split->sort, true, false, slot, NULL))
	{
		uint32 type;
		Deal deal;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		type = (uint32) DatumGetInt64(slot->tts_values[TYPE - 1]);
		deal = deal_of(split, type, slot->tts_values, &random);
		deal_row(arg, type, &deal, slot->tts_values + COLUMNS_BEFORE, slot->tts_isnull + COLUMNS_BEFORE);
	}
	ExecDropSingleTupleTableSlot(slot);
	ExecDropSingleTupleTableSlot(split->slot);
	tuplesort_end(split->sort);
	MemoryContextDelete(split->scratch);
	pfree(split);
}
