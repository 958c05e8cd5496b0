/*
 * row_split.c: which rows of a row type go to which of its classes or records.
 *
 * The rows are sorted by hashes of their values, so the source's order does not matter.  Random numbers deal them
 * out. Where their stream begins follows from the seed and from all rows at once (SHA-256).  So nobody can tell a
 * value from the place where its row went.
 */
#include "compat.h"
#include "core/util/number.h"
#include "rows/row_types.h"
#include "rows/target.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

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

/*
 * ---- A row type that goes to several classes, in a publication: each of its rows goes to the
 * class that it had in the release before.
 */

enum
{
	SEED_ROW,
	SEED_KEY,
	SEED_DRAW
};

Company *
company_create(const bytea *secret, bool keyed, int person, Border *border)
{
	Company *company = palloc0(sizeof(Company));

	company->border = border;
	company->keyed = keyed;
	company->person = person;
	company->scratch = AllocSetContextCreate(border->context, "kanon company", ALLOCSET_SMALL_SIZES);
	secret_seeds(secret, "company", company->seeds, lengthof(company->seeds));
	return company;
}

RowMark
company_mark(const Company *company, TupleDesc desc, int first, int nkept, const Datum *values,
			 const bool *nulls)
{
	RowMark mark = {company->seeds[SEED_ROW], 0};
	MemoryContext old = MemoryContextSwitchTo(company->scratch);

	for (int i = 0; i < nkept; i++)
		if (company->person < 0 || company->person == i)
			mark.row = value_hash(TupleDescAttr(desc, first + i), values[i], nulls[i], mark.row);
	if (company->keyed)
		mark.key = value_hash(TupleDescAttr(desc, first + nkept - 1), values[nkept - 1], nulls[nkept - 1],
							  company->seeds[SEED_KEY]);
	MemoryContextSwitchTo(old);
	MemoryContextReset(company->scratch);
	return mark;
}

void
company_add(Company *company, const RowMark *mark, uint32 type, uint32 class_)
{
	company->rows =
		border_grow(company->border, company->rows, &company->room, company->n + 1, sizeof(RowBefore));
	company->rows[company->n++] = (RowBefore){.mark = *mark, .type = type, .class_ = class_};
}

static int
compare_marks(uint32 left_type, uint64 left, uint32 right_type, uint64 right)
{
	if (left_type != right_type)
		return left_type < right_type ? -1 : 1;
	return left < right ? -1 : left > right;
}

static int
compare_rows(const void *a, const void *b)
{
	const RowBefore *left = a, *right = b;
	int order = compare_marks(left->type, left->mark.row, right->type, right->mark.row);

	return order != 0 ? order : left->class_ < right->class_ ? -1 : left->class_ > right->class_;
}

static int
compare_keys(const void *a, const void *b, void *arg)
{
	const Company *company = arg;
	const RowBefore *left = &company->rows[*(const uint32 *) a];
	const RowBefore *right = &company->rows[*(const uint32 *) b];
	int order = compare_marks(left->type, left->mark.key, right->type, right->mark.key);

	return order != 0 ? order : left < right ? -1 : left > right;
}

void
company_begin(Company *company)
{
	if (company->n > PG_UINT32_MAX - 1)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("too many rows of the release before are known one by one")));
	if (company->n > 0)
		qsort(company->rows, company->n, sizeof(RowBefore), compare_rows);
	for (Size i = 0; i < company->n; i++)
	{
		company->rows[i].met = false;
		company->rows[i].skip[0] = company->rows[i].skip[1] = 0;
	}
	if (!company->keyed || company->n == 0 || company->by_key != NULL)
		return;
	company->by_key = border_palloc(company->border, sizeof(uint32) * company->n);
	for (uint32 i = 0; i < company->n; i++)
		company->by_key[i] = i;
	qsort_arg(company->by_key, company->n, sizeof(uint32), compare_keys, company);
}

/* The first place of that type and mark, or where it would be; of rows themselves, or by their keys. */
static Size
find_first(const Company *company, bool by_key, uint32 type, uint64 mark)
{
	Size low = 0, high = company->n;

	while (low < high)
	{
		Size middle = low + (high - low) / 2;
		const RowBefore *row = &company->rows[by_key ? company->by_key[middle] : middle];

		if (compare_marks(row->type, by_key ? row->mark.key : row->mark.row, type, mark) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first of them that nobody has met. */
static RowBefore *
meet(Company *company, bool by_key, uint32 type, uint64 mark)
{
	Size first;
	uint32 *skip;

	type = company->was != NULL ? company->was[type] : type;
	first = find_first(company, by_key, type, mark);
	if (first == company->n)
		return NULL;
	skip = &company->rows[by_key ? company->by_key[first] : first].skip[by_key];
	for (Size i = first + *skip; i < company->n; i++)
	{
		RowBefore *row = &company->rows[by_key ? company->by_key[i] : i];

		if (row->type != type || (by_key ? row->mark.key : row->mark.row) != mark)
			break;
		(*skip)++;
		if (row->met)
			continue;
		row->met = true;
		return row;
	}
	return NULL;
}

RowBefore *
company_meet_row(Company *company, uint32 type, const RowMark *mark)
{
	return meet(company, false, type, mark->row);
}

RowBefore *
company_meet_key(Company *company, uint32 type, const RowMark *mark)
{
	return company->by_key != NULL ? meet(company, true, type, mark->key) : NULL;
}

uint64
company_draw(const Company *company, const RowMark *mark)
{
	uint64 words[] = {mark->row, mark->key};

	return hash_bytes_extended((const unsigned char *) words, sizeof(words), company->seeds[SEED_DRAW]);
}

/* ---- flows ---- */

/* The flow to the class that the row was in before, which may be another by now; or SIZE_MAX. */
static size_t
find_flow(const KanonRelease *release, const int64 *left, size_t first, size_t end, const Company *company,
		  uint32 before)
{
	if (company == NULL || before >= company->nclasses)
		return SIZE_MAX;
	for (size_t f = first; f < end; f++)
		if (release->flows[f].class_ == company->became[before] && left[f] > 0)
			return f;
	return SIZE_MAX;
}

size_t
deal_flow(const KanonRelease *release, const int64 *left, size_t first, size_t end, const Company *company,
		  const Deal *deal)
{
	int64 total = 0;
	uint64 pick;
	size_t found;

	for (size_t f = first; f < end; f++)
		total += left[f];
	if (total <= 0)
		raise_source_changed();
	if (end - first == 1)
		return first;
	found = find_flow(release, left, first, end, company, deal->before);
	if (found != SIZE_MAX)
		return found;
	pick = deal->random % (uint64) total;
	while (pick >= (uint64) left[first])
		pick -= left[first++];
	return first;
}
