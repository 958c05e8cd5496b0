/*
 * dictionary.c: the different values of one column, numbered.
 *
 * Where equality is equality of bits (most types: btree's "equalimage"), values
 * are hashed and compared by their bytes; else by the type's own hash function,
 * or, for types that only sort, in a red-black tree.  Among spellings that are
 * equal but not identical the least one represents the value, whatever the order
 * of arrival.  Times with zones are equal as soon as they are one moment, whatever PostgreSQL says.
 */
#include "compat.h"
#include "rows/dictionary.h"
#include "host/border.h"
#include "core/kanon.h"
#include "core/util/number.h"
#include "host/catalog.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/rbtree.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#define FIRST_ROOM 32
#define ARENA_BLOCK (64 * 1024)

typedef struct TreeNode
{
	RBTNode node;
	Datum value;
	uint32 code;
} TreeNode;

/* A value's slot, found by its hash; the key SAMPLE is the value at hand. */
typedef struct Slot
{
	uint32 code;
	uint32 hash;
	char status;
} Slot;

#define SAMPLE PG_UINT32_MAX

/* Values by value that were added last, by the low bits of their hash: most columns have few. */
#define RECENT 256

struct Dictionary
{
	MemoryContext context;
	Oid type;
	Oid collation;
	int16 typlen;
	bool typbyval;
	bool image;     /* equal values have equal bytes */
	bool zoned;     /* timetz */
	FmgrInfo *hash; /* these three from the type cache; NULL: none */
	FmgrInfo *equal;
	FmgrInfo *compare;
	uint32 count;     /* codes in use, NULL's included */
	uint32 room;      /* of values */
	uint32 null_code; /* DICTIONARY_NONE: no NULL seen */
	Datum *values;    /* [room]; undefined for null_code */
	struct values_hash *slots;
	Datum sample; /* what is looked for there */
	RBTree *tree; /* instead, for types without a hash */
	Datum recent[RECENT];
	uint32 recent_code[RECENT]; /* DICTIONARY_NONE: none */
	uint32 last;                /* of the value before, for is_last: rows of a class lie together */
	char *arena;                /* values by reference are stored one after the other */
	Size arena_left;
};

static int
tree_compare(const RBTNode *a, const RBTNode *b, void *arg)
{
	Dictionary *dict = arg;

	return DatumGetInt32(FunctionCall2Coll(dict->compare, dict->collation, ((const TreeNode *) a)->value,
										   ((const TreeNode *) b)->value));
}

static void
tree_combine(RBTNode *existing, const RBTNode *newdata, void *arg)
{
}

static RBTNode *
tree_alloc(void *arg)
{
	return MemoryContextAlloc(((Dictionary *) arg)->context, sizeof(TreeNode));
}

/* The bytes that make up a value (of a type by reference, detoasted). */
static inline const char *
value_bytes(const Dictionary *dict, Datum value, Size *length)
{
	const char *ptr = DatumGetPointer(value);

	if (dict->typlen == -1)
	{
		*length = VARSIZE_ANY_EXHDR(ptr);
		return VARDATA_ANY(ptr);
	}
	*length = dict->typlen == -2 ? strlen(ptr) + 1 : (Size) dict->typlen;
	return ptr;
}

/* Some total order on the bytes of two values: shorter first. */
static inline int
image_compare(const Dictionary *dict, Datum a, Datum b)
{
	Size la, lb;
	const char *pa, *pb;

	if (dict->typbyval)
		return a < b ? -1 : a > b;
	pa = value_bytes(dict, a, &la);
	pb = value_bytes(dict, b, &lb);
	if (la != lb)
		return la < lb ? -1 : 1;
	return memcmp(pa, pb, la);
}

static inline int64
moment(Datum value)
{
	const TimeTzADT *time = DatumGetTimeTzADTP(value);

	return time->time + time->zone * USECS_PER_SEC;
}

static inline uint32
sample_hash(Dictionary *dict, Datum value)
{
	Size length;
	const char *bytes;

	if (dict->zoned)
		return hash_bytes_uint32((uint32) moment(value) ^ (uint32) (moment(value) >> 32));
	if (!dict->image)
		return murmurhash32(DatumGetUInt32(FunctionCall1Coll(dict->hash, dict->collation, value)));
	if (dict->typbyval)
		return murmurhash32((uint32) value ^ (uint32) ((uint64) value >> 32));
	bytes = value_bytes(dict, value, &length);
	return hash_bytes((const unsigned char *) bytes, (int) length);
}

/* Is the value at hand the one with this code? */
static inline bool
is_sample(Dictionary *dict, uint32 code)
{
	Datum value = dict->values[code];

	if (dict->image)
		return image_compare(dict, value, dict->sample) == 0;
	if (dict->zoned)
		return moment(value) == moment(dict->sample);
	return DatumGetBool(FunctionCall2Coll(dict->equal, dict->collation, value, dict->sample));
}

#define SH_PREFIX values
#define SH_ELEMENT_TYPE Slot
#define SH_KEY_TYPE uint32
#define SH_KEY code
#define SH_HASH_KEY(tb, key) sample_hash((tb)->private_data, ((Dictionary *) (tb)->private_data)->sample)
#define SH_EQUAL(tb, a, b) is_sample((tb)->private_data, a)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, slot) (slot)->hash
#define SH_USE_NONDEFAULT_ALLOCATOR
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static inline void *
values_allocate(values_hash *table, Size size)
{
	return zeroed_in_large_pages(table->ctx, size);
}

static inline void
values_free(values_hash *table, void *slots)
{
	pfree(slots);
}

Dictionary *
dictionary_create(MemoryContext parent, const SourceColumn *column)
{
	MemoryContext context = AllocSetContextCreate(parent, "kanon dictionary", ALLOCSET_DEFAULT_SIZES);
	Dictionary *dict = MemoryContextAllocZero(context, sizeof(Dictionary));
	TypeCacheEntry *entry = lookup_type_cache(
		column->type, TYPECACHE_HASH_PROC_FINFO | TYPECACHE_EQ_OPR_FINFO | TYPECACHE_CMP_PROC_FINFO);
	MemoryContext old;

	dict->context = context;
	dict->type = column->type;
	dict->collation = column->collation;
	get_typlenbyval(column->type, &dict->typlen, &dict->typbyval);
	dict->image = equal_is_identical(column->type, column->collation);
	dict->zoned = getBaseType(column->type) == TIMETZOID;
	if (OidIsValid(entry->hash_proc))
		dict->hash = &entry->hash_proc_finfo;
	if (OidIsValid(entry->cmp_proc))
		dict->compare = &entry->cmp_proc_finfo;
	if (OidIsValid(entry->eq_opr))
		dict->equal = &entry->eq_opr_finfo;
	dict->null_code = dict->last = DICTIONARY_NONE;
	dict->room = FIRST_ROOM;
	dict->values = MemoryContextAlloc(context, sizeof(Datum) * dict->room);
	if (dict->image || dict->hash != NULL)
		dict->slots = values_create(context, FIRST_ROOM, dict);
	else
	{
		old = MemoryContextSwitchTo(context);
		dict->tree = rbt_create(sizeof(TreeNode), tree_compare, tree_combine, tree_alloc, NULL, dict);
		MemoryContextSwitchTo(old);
	}
	memset(dict->recent_code, 0xff, sizeof(dict->recent_code));
	return dict;
}

/* A copy that lives as long as the dictionary. */
static Datum
store_value(Dictionary *dict, Datum value)
{
	Size size;
	char *copy;

	if (dict->typbyval)
		return value;
	size = MAXALIGN(datumGetSize(value, false, dict->typlen));
	if (size > ARENA_BLOCK / 8)
		copy = MemoryContextAllocHuge(dict->context, size);
	else
	{
		if (size > dict->arena_left)
		{
			dict->arena = MemoryContextAlloc(dict->context, ARENA_BLOCK);
			dict->arena_left = ARENA_BLOCK;
		}
		copy = dict->arena;
		dict->arena += size;
		dict->arena_left -= size;
	}
	memcpy(copy, DatumGetPointer(value), datumGetSize(value, false, dict->typlen));
	return PointerGetDatum(copy);
}

static uint32
next_code(Dictionary *dict)
{
	if (dict->count == dict->room)
	{
		if (dict->room > KANON_MAX_TYPES / 2)
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
							errmsg("a quasi-identifier has more than %u distinct values", dict->count),
							errhint("Publish it through a view that coarsens it.")));
		dict->room *= 2;
		dict->values = repalloc_huge(dict->values, sizeof(Datum) * (Size) dict->room);
	}
	return dict->count++;
}

static inline Datum
detoasted(const Dictionary *dict, Datum value)
{
	if (dict->typlen != -1)
		return value;
	return PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
}

static void
release_detoasted(const Dictionary *dict, Datum original, Datum value)
{
	if (value != original && dict->typlen == -1)
		pfree(DatumGetPointer(value));
}

static uint32
add_value(Dictionary *dict, Datum value)
{
	TreeNode fresh = {.value = value};
	TreeNode *node = NULL;
	Slot *slot = NULL;
	bool found;
	uint32 code;

	dict->sample = value;
	if (dict->tree == NULL)
		slot = values_insert(dict->slots, SAMPLE, &found);
	else
	{
		bool is_new;

		node = (TreeNode *) rbt_insert(dict->tree, &fresh.node, &is_new);
		found = !is_new;
	}
	if (found)
	{
		code = slot != NULL ? slot->code : node->code;
		if (dict->image || image_compare(dict, value, dict->values[code]) >= 0)
			return code;
	}
	else
		code = next_code(dict);
	dict->values[code] = store_value(dict, value);
	*(slot != NULL ? &slot->code : &node->code) = code;
	if (node != NULL)
		node->value = dict->values[code];
	return code;
}

/* Only where equality is that of the bytes: a type's own may change its mind, and is asked for each row. */
static inline bool
is_last(const Dictionary *dict, Datum value)
{
	return dict->image && dict->last != DICTIONARY_NONE && (dict->typlen != -1 || !kanon_is_toasted(value)) &&
		   image_compare(dict, value, dict->values[dict->last]) == 0;
}

uint32
dictionary_add(Dictionary *dict, Datum value, bool isnull)
{
	Datum flat;

	if (isnull)
	{
		if (dict->null_code == DICTIONARY_NONE)
			dict->null_code = next_code(dict);
		return dict->null_code;
	}
	if (dict->image && dict->typbyval)
	{
		uint32 at = sample_hash(dict, value) % RECENT;

		if (dict->recent_code[at] == DICTIONARY_NONE || dict->recent[at] != value)
		{
			dict->recent_code[at] = add_value(dict, value);
			dict->recent[at] = value;
		}
		return dict->recent_code[at];
	}
	if (is_last(dict, value))
		return dict->last;
	flat = detoasted(dict, value);
	dict->last = add_value(dict, flat);
	release_detoasted(dict, value, flat);
	return dict->last;
}

uint32
dictionary_find(Dictionary *dict, Datum value, bool isnull)
{
	Datum flat;
	uint32 code;

	if (isnull)
		return dict->null_code;
	flat = detoasted(dict, value);
	dict->sample = flat;
	if (dict->tree != NULL)
	{
		TreeNode key = {.value = flat};
		TreeNode *node = (TreeNode *) rbt_find(dict->tree, &key.node);

		code = node != NULL ? node->code : DICTIONARY_NONE;
	}
	else
	{
		Slot *slot = values_lookup(dict->slots, SAMPLE);

		code = slot != NULL ? slot->code : DICTIONARY_NONE;
	}
	release_detoasted(dict, value, flat);
	return code;
}

uint32
dictionary_below(const Dictionary *dict, Datum value)
{
	uint32 low = 0, high = dict->count - (dict->null_code != DICTIONARY_NONE);

	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;
		int order = dict->compare != NULL ? DatumGetInt32(FunctionCall2Coll(dict->compare, dict->collation,
																			dict->values[middle], value))
										  : image_compare(dict, dict->values[middle], value);

		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32
dictionary_size(const Dictionary *dict)
{
	return dict->count;
}

Datum
dictionary_value(const Dictionary *dict, uint32 code, bool *isnull)
{
	*isnull = code == dict->null_code;
	return *isnull ? (Datum) 0 : dict->values[code];
}

bool
dictionary_has_null(const Dictionary *dict)
{
	return dict->null_code != DICTIONARY_NONE;
}

bool
dictionary_has_spellings(const Dictionary *dict)
{
	return !dict->image;
}

/* NULL last; types without an order by their bytes. */
static int
sort_compare(const void *a, const void *b, void *arg)
{
	Dictionary *dict = arg;
	uint32 ca = *(const uint32 *) a;
	uint32 cb = *(const uint32 *) b;

	if (ca == dict->null_code || cb == dict->null_code)
		return (ca == dict->null_code) - (cb == dict->null_code);
	if (dict->compare != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		return DatumGetInt32(
			FunctionCall2Coll(dict->compare, dict->collation, dict->values[ca], dict->values[cb]));
	}
	return image_compare(dict, dict->values[ca], dict->values[cb]);
}

uint32 *
dictionary_sort(Dictionary *dict)
{
	Size room = Max(dict->count, 1);
	uint32 *order = MemoryContextAllocHuge(dict->context, sizeof(uint32) * room);
	uint32 *renumber = MemoryContextAllocHuge(dict->context, sizeof(uint32) * room);
	Datum *values = MemoryContextAllocHuge(dict->context, sizeof(Datum) * room);

	for (uint32 code = 0; code < dict->count; code++)
		order[code] = code;
	qsort_arg(order, dict->count, sizeof(uint32), sort_compare, dict);
	for (uint32 code = 0; code < dict->count; code++)
	{
		values[code] = dict->values[order[code]];
		renumber[order[code]] = code;
	}
	if (dict->null_code != DICTIONARY_NONE)
		dict->null_code = renumber[dict->null_code];
	pfree(dict->values);
	pfree(order);
	dict->values = values;
	dict->room = room;
	memset(dict->recent_code, 0xff, sizeof(dict->recent_code));
	dict->last = DICTIONARY_NONE;
	if (dict->tree != NULL)
	{
		RBTreeIterator iterator;
		TreeNode *node;

		rbt_begin_iterate(dict->tree, LeftRightWalk, &iterator);
		while ((node = (TreeNode *) rbt_iterate(&iterator)) != NULL)
			node->code = renumber[node->code];
	}
	else
	{
		values_iterator iterator;
		Slot *slot;

		values_start_iterate(dict->slots, &iterator);
		while ((slot = values_iterate(dict->slots, &iterator)) != NULL)
			slot->code = renumber[slot->code];
	}
	return renumber;
}

double *
dictionary_numbers(const Dictionary *dict)
{
	double *numbers = MemoryContextAllocHuge(dict->context, sizeof(double) * (Size) Max(dict->count, 1));

	for (uint32 code = 0; code < dict->count; code++)
		numbers[code] = code == dict->null_code ? NAN : value_as_number(dict->type, dict->values[code]);
	return numbers;
}

/* ---- rows of several columns ---- */

RowAtHand *
row_at_hand(const SourceColumn *columns, int n)
{
	RowAtHand *row = palloc0(sizeof(RowAtHand));

	row->n = n;
	row->dictionaries = palloc(sizeof(Dictionary *) * n);
	row->values = palloc(sizeof(Datum) * n);
	row->codes = palloc(sizeof(uint32) * n);
	for (int c = 0; c < n; c++)
		row->dictionaries[c] = columns[c].dictionary;
	return row;
}

/* Bytes, eight at a time. */
static inline uint64
add_bytes(uint64 hash, const char *bytes, Size length)
{
	uint64 word = 0;
	uint32 half[2];

	hash = kanon_hash_add(hash, length);
	for (; length >= sizeof(word); bytes += sizeof(word), length -= sizeof(word))
	{
		memcpy(&word, bytes, sizeof(word));
		hash = kanon_hash_add(hash, word);
	}
	if (length >= sizeof(half[0]))
	{
		memcpy(&half[0], bytes, sizeof(half[0]));
		memcpy(&half[1], bytes + length - sizeof(half[1]), sizeof(half[1]));
		hash = kanon_hash_add(hash, (uint64) half[1] << 32 | half[0]);
	}
	else if (length > 0)
		hash = kanon_hash_add(hash, (uint64) (uint8) bytes[0] | (uint64) (uint8) bytes[length / 2] << 8 |
										(uint64) (uint8) bytes[length - 1] << 16);
	return hash;
}

bool
row_take(RowAtHand *row, const Datum *values, const bool *nulls, bool add)
{
	row->given = values;
	row->nulls = nulls;
	for (row->taken = 0; row->taken < row->n; row->taken++)
	{
		Dictionary *dict = row->dictionaries[row->taken];
		Datum value = values[row->taken];

		if (nulls[row->taken])
			continue;
		if (!dict->image)
		{
			row->codes[row->taken] =
				add ? dictionary_add(dict, value, false) : dictionary_find(dict, value, false);
			if (row->codes[row->taken] == DICTIONARY_NONE)
				return false;
		}
		else if (dict->typlen == -1 && kanon_is_toasted(value))
		{
			value = detoasted(dict, value);
			row->detoasted = true;
		}
		row->values[row->taken] = value;
	}
	return true;
}

void
row_leave(RowAtHand *row)
{
	if (!row->detoasted)
		return;
	for (int c = 0; c < row->taken; c++)
		if (!row->nulls[c] && row->dictionaries[c]->image)
			release_detoasted(row->dictionaries[c], row->given[c], row->values[c]);
	row->detoasted = false;
}

uint32
row_hash(const RowAtHand *row)
{
	uint64 hash = 0;

	for (int c = 0; c < row->n; c++)
	{
		const Dictionary *dict = row->dictionaries[c];
		Size length;
		const char *bytes;

		if (row->nulls[c])
			hash = kanon_hash_add(hash, DICTIONARY_NONE);
		else if (!dict->image)
			hash = kanon_hash_add(hash, row->codes[c]);
		else if (dict->typbyval)
			hash = kanon_hash_add(hash, (uint64) row->values[c]);
		else
		{
			bytes = value_bytes(dict, row->values[c], &length);
			hash = add_bytes(hash, bytes, length);
		}
	}
	return (uint32) hash;
}

static inline bool
value_is(const RowAtHand *row, int c, uint32 code)
{
	const Dictionary *dict = row->dictionaries[c];

	if (row->nulls[c] || code == dict->null_code)
		return row->nulls[c] && code == dict->null_code;
	if (!dict->image)
		return row->codes[c] == code;
	return image_compare(dict, dict->values[code], row->values[c]) == 0;
}

bool
row_is(const RowAtHand *row, uint32 *const *codes, uint32 i)
{
	for (int c = 0; c < row->n; c++)
		if (!value_is(row, c, codes[c][i]))
			return false;
	return true;
}

bool
row_has(const RowAtHand *row, const uint32 *codes)
{
	for (int c = 0; c < row->n; c++)
		if (!value_is(row, c, codes[c]))
			return false;
	return true;
}

void
dictionary_free(Dictionary *dict)
{
	MemoryContextDelete(dict->context);
}

Size
dictionary_memory(const Dictionary *dict)
{
	return MemoryContextMemAllocated(dict->context, true);
}
