/*
 * dictionary.c: the different values of one column, numbered.
 *
 * Where equality is equality of bits (most types: btree's "equalimage"), values
 * are hashed and compared by their bytes; else by the type's own hash function,
 * or, for types that only sort, in a red-black tree.  Among spellings that are
 * equal but not identical the least one represents the value, whatever the order
 * of arrival.
 */
#include "compat.h"
#include "read/dictionary.h"
#include "core/kanon.h"
#include "read/number.h"

#include <math.h>

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/qunique.h"
#include "lib/rbtree.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#define FIRST_SLOTS 64
#define ARENA_BLOCK (64 * 1024)

typedef struct TreeNode
{
	RBTNode node;
	Datum value;
	uint32 code;
} TreeNode;

struct Dictionary
{
	MemoryContext context;
	Oid type;
	Oid collation;
	int16 typlen;
	bool typbyval;
	bool image;     /* equal values have equal bytes */
	FmgrInfo *hash; /* these three from the type cache; NULL: none */
	FmgrInfo *equal;
	FmgrInfo *compare;
	uint32 count;     /* codes in use, NULL's included */
	uint32 room;      /* of values and hashes */
	uint32 null_code; /* DICTIONARY_NONE: no NULL seen */
	Datum *values;    /* [room]; undefined for null_code */
	uint32 *hashes;   /* [room] */
	uint32 *slots;    /* [nslots] code or DICTIONARY_NONE; nslots a power of 2 */
	uint32 nslots;
	RBTree *tree; /* instead of slots for types without a hash */
	char *arena;  /* values by reference are stored one after the other */
	Size arena_left;
};

/* As btree's deduplication asks: can equal values differ in their bytes? */
static bool
equal_is_identical(const TypeCacheEntry *entry, Oid collation)
{
	Oid function;

	/* without typmod its padding varies, which btree never meets in one index */
	if (getBaseType(entry->type_id) == BPCHAROID || !OidIsValid(entry->btree_opf))
		return false;
	function =
		get_opfamily_proc(entry->btree_opf, entry->btree_opintype, entry->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(function) &&
		   DatumGetBool(OidFunctionCall1Coll(function, collation, ObjectIdGetDatum(entry->btree_opintype)));
}

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

static void
allocate_slots(Dictionary *dict, uint32 nslots)
{
	dict->slots = MemoryContextAllocHuge(dict->context, sizeof(uint32) * (Size) nslots);
	memset(dict->slots, 0xff, sizeof(uint32) * (Size) nslots);
	dict->nslots = nslots;
}

Dictionary *
dictionary_create(MemoryContext parent, const SourceColumn *column)
{
	MemoryContext context = AllocSetContextCreate(parent, "kanon dictionary", ALLOCSET_DEFAULT_SIZES);
	Dictionary *dict = MemoryContextAllocZero(context, sizeof(Dictionary));
	TypeCacheEntry *entry =
		lookup_type_cache(column->type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_HASH_PROC_FINFO |
											TYPECACHE_EQ_OPR_FINFO | TYPECACHE_CMP_PROC_FINFO);
	MemoryContext old;

	dict->context = context;
	dict->type = column->type;
	dict->collation = column->collation;
	get_typlenbyval(column->type, &dict->typlen, &dict->typbyval);
	dict->image = equal_is_identical(entry, column->collation);
	if (OidIsValid(entry->hash_proc))
		dict->hash = &entry->hash_proc_finfo;
	if (OidIsValid(entry->cmp_proc))
		dict->compare = &entry->cmp_proc_finfo;
	if (OidIsValid(entry->eq_opr))
		dict->equal = &entry->eq_opr_finfo;
	dict->null_code = DICTIONARY_NONE;
	dict->room = FIRST_SLOTS / 2;
	dict->values = MemoryContextAlloc(context, sizeof(Datum) * dict->room);
	dict->hashes = MemoryContextAlloc(context, sizeof(uint32) * dict->room);
	if (dict->image || dict->hash != NULL)
		allocate_slots(dict, FIRST_SLOTS);
	else
	{
		old = MemoryContextSwitchTo(context);
		dict->tree = rbt_create(sizeof(TreeNode), tree_compare, tree_combine, tree_alloc, NULL, dict);
		MemoryContextSwitchTo(old);
	}
	return dict;
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
static int
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

static inline uint32
value_hash(Dictionary *dict, Datum value)
{
	Size length;
	const char *bytes;

	if (!dict->image)
		return murmurhash32(DatumGetUInt32(FunctionCall1Coll(dict->hash, dict->collation, value)));
	if (dict->typbyval)
		return murmurhash32((uint32) value ^ (uint32) ((uint64) value >> 32));
	bytes = value_bytes(dict, value, &length);
	return hash_bytes((const unsigned char *) bytes, (int) length);
}

static inline bool
value_equal(Dictionary *dict, Datum a, Datum b)
{
	if (dict->image)
		return image_compare(dict, a, b) == 0;
	return DatumGetBool(FunctionCall2Coll(dict->equal, dict->collation, a, b));
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
		dict->hashes = repalloc_huge(dict->hashes, sizeof(uint32) * (Size) dict->room);
	}
	return dict->count++;
}

static void
insert_slot(Dictionary *dict, uint32 code)
{
	uint32 slot = dict->hashes[code] & (dict->nslots - 1);

	while (dict->slots[slot] != DICTIONARY_NONE)
		slot = (slot + 1) & (dict->nslots - 1);
	dict->slots[slot] = code;
}

static void
fill_slots(Dictionary *dict)
{
	for (uint32 code = 0; code < dict->count; code++)
		if (code != dict->null_code)
			insert_slot(dict, code);
}

static inline uint32
find_slot(Dictionary *dict, Datum value, uint32 hash)
{
	uint32 slot = hash & (dict->nslots - 1);
	uint32 code;

	while ((code = dict->slots[slot]) != DICTIONARY_NONE)
	{
		if (dict->hashes[code] == hash && value_equal(dict, dict->values[code], value))
			return code;
		slot = (slot + 1) & (dict->nslots - 1);
	}
	return DICTIONARY_NONE;
}

static TreeNode *
find_node(Dictionary *dict, Datum value)
{
	TreeNode key;

	key.value = value;
	return (TreeNode *) rbt_find(dict->tree, &key.node);
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
	uint32 hash = 0;
	uint32 code;
	TreeNode *node = NULL;

	if (dict->tree == NULL)
	{
		hash = value_hash(dict, value);
		code = find_slot(dict, value, hash);
	}
	else
	{
		node = find_node(dict, value);
		code = node != NULL ? node->code : DICTIONARY_NONE;
	}
	if (code != DICTIONARY_NONE)
	{
		if (!dict->image && image_compare(dict, value, dict->values[code]) < 0)
		{
			dict->values[code] = store_value(dict, value);
			if (node != NULL)
				node->value = dict->values[code];
		}
		return code;
	}

	code = next_code(dict);
	dict->values[code] = store_value(dict, value);
	dict->hashes[code] = hash;
	if (dict->tree != NULL)
	{
		TreeNode fresh;
		bool is_new;

		fresh.value = dict->values[code];
		fresh.code = code;
		rbt_insert(dict->tree, &fresh.node, &is_new);
	}
	else if (dict->count > dict->nslots / 2)
	{
		pfree(dict->slots);
		allocate_slots(dict, dict->nslots * 2);
		fill_slots(dict);
	}
	else
		insert_slot(dict, code);
	return code;
}

uint32
dictionary_add(Dictionary *dict, Datum value, bool isnull)
{
	Datum flat;
	uint32 code;

	if (isnull)
	{
		if (dict->null_code == DICTIONARY_NONE)
			dict->null_code = next_code(dict);
		return dict->null_code;
	}
	flat = detoasted(dict, value);
	code = add_value(dict, flat);
	release_detoasted(dict, value, flat);
	return code;
}

uint32
dictionary_find(Dictionary *dict, Datum value, bool isnull)
{
	Datum flat;
	uint32 code;

	if (isnull)
		return dict->null_code;
	flat = detoasted(dict, value);
	if (dict->tree != NULL)
	{
		TreeNode *node = find_node(dict, flat);

		code = node != NULL ? node->code : DICTIONARY_NONE;
	}
	else
		code = find_slot(dict, flat, value_hash(dict, flat));
	release_detoasted(dict, value, flat);
	return code;
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
	uint32 *hashes = MemoryContextAllocHuge(dict->context, sizeof(uint32) * room);

	for (uint32 code = 0; code < dict->count; code++)
		order[code] = code;
	qsort_arg(order, dict->count, sizeof(uint32), sort_compare, dict);
	for (uint32 code = 0; code < dict->count; code++)
	{
		values[code] = dict->values[order[code]];
		hashes[code] = dict->hashes[order[code]];
		renumber[order[code]] = code;
	}
	if (dict->null_code != DICTIONARY_NONE)
		dict->null_code = renumber[dict->null_code];
	pfree(dict->values);
	pfree(dict->hashes);
	pfree(order);
	dict->values = values;
	dict->hashes = hashes;
	dict->room = room;
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
		memset(dict->slots, 0xff, sizeof(uint32) * (Size) dict->nslots);
		fill_slots(dict);
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

static int
compare_codes(const void *a, const void *b)
{
	uint32 left = *(const uint32 *) a;
	uint32 right = *(const uint32 *) b;

	return left < right ? -1 : left > right;
}

size_t
unique_codes(uint32 *codes, size_t n)
{
	qsort(codes, n, sizeof(uint32), compare_codes);
	return qunique(codes, n, sizeof(uint32), compare_codes);
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
