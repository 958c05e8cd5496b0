/*
 * lookup.c: which class a row goes to, as workers look it up.
 *
 * All row types in the order of their hashes, and where those with the same first bits begin: hashes
 * are spread evenly, so that a look at a few of them finds one.  It is a value that a query
 * carries to every row, used as it came: nothing is made of it first.  Numbers are in network order.
 */
#include "compat.h"
#include "write/lookup.h"

#include "executor/nodeHash.h"
#include "fmgr.h"
#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"
#include "read/packed.h"

/* Before all: how many entries, and of how many bits of a hash it is said where entries begin. */
#define HEAD (2 * sizeof(uint32))
#define MOST_BITS 24

/* Hash and least lot of a flow's rows, and the class that they go to; or NOWHERE. */
#define ENTRY (2 * sizeof(uint64) + sizeof(uint32))
#define NOWHERE PG_UINT32_MAX

typedef struct Entry
{
	uint64 hash;
	uint64 low;
	uint32 class_;
} Entry;

static inline uint32
get32(const char *at)
{
	uint32 number;

	memcpy(&number, at, sizeof(number));
	return pg_ntoh32(number);
}

static inline uint64
get64(const char *at)
{
	uint64 number;

	memcpy(&number, at, sizeof(number));
	return pg_ntoh64(number);
}

static inline char *
put32(char *at, uint32 number)
{
	number = pg_hton32(number);
	memcpy(at, &number, sizeof(number));
	return at + sizeof(number);
}

static inline char *
put64(char *at, uint64 number)
{
	number = pg_hton64(number);
	memcpy(at, &number, sizeof(number));
	return at + sizeof(number);
}

/* (of any n: where Size has 32 bits it would come round) */
static inline uint64
lookup_size(uint32 n, uint32 bits)
{
	return HEAD + sizeof(uint32) * ((UINT64CONST(1) << bits) + 1) + ENTRY * (uint64) n;
}

static inline Size
first_bits(uint64 hash, uint32 bits)
{
	return bits == 0 ? 0 : hash >> (64 - bits);
}

/* Lots in the order of unsigned numbers. */
static inline uint64
unsigned_lot(int64 lot)
{
	return (uint64) lot ^ UINT64CONST(1) << 63;
}

/* ---- here ---- */

static int
compare_entries(const void *a, const void *b)
{
	const Entry *left = a, *right = b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->low < right->low ? -1 : left->low > right->low;
}

bytea *
lookup_create(const KanonRelease *release, const int64 *hash, const int64 *low, Border *border)
{
	uint32 bits = release->nflows > 0 ? Min(pg_leftmost_one_pos64(release->nflows), MOST_BITS) : 0;
	Entry *entries;
	bytea *lookup;
	char *at;
	Size f = 0;

	if (release->nflows > Min(get_hash_memory_limit(), MaxAllocSize / 4) / ENTRY ||
		lookup_size((uint32) release->nflows, bits) > get_hash_memory_limit())
		return NULL;
	entries = border_palloc(border, sizeof(Entry) * Max(release->nflows, 1));
	for (Size i = 0; i < release->nflows; i++)
		entries[i] = (Entry){(uint64) hash[release->flows[i].type], unsigned_lot(low[i]),
							 release->flows[i].class_ == KANON_DROPPED ? NOWHERE : release->flows[i].class_};
	qsort(entries, release->nflows, sizeof(Entry), compare_entries);
	lookup = palloc(VARHDRSZ + lookup_size((uint32) release->nflows, bits));
	SET_VARSIZE(lookup, VARHDRSZ + lookup_size((uint32) release->nflows, bits));
	at = put32(put32(VARDATA(lookup), (uint32) release->nflows), bits);
	for (Size first = 0; first <= (Size) 1 << bits; first++)
	{
		while (f < release->nflows && first_bits(entries[f].hash, bits) < first)
			f++;
		at = put32(at, (uint32) f);
	}
	for (f = 0; f < release->nflows; f++)
		at = put32(put64(put64(at, entries[f].hash), entries[f].low), entries[f].class_);
	border_pfree(border, entries);
	return lookup;
}

/* ---- on workers ---- */

PG_FUNCTION_INFO_V1(kanon_class_of);

static void
raise_no_lookup(void)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("these are no classes of row types")));
}

/* The last entry that is not above, or NULL. */
static const char *
find_entry(bytea *lookup, uint64 hash, uint64 lot)
{
	const char *data = VARDATA_ANY(lookup);
	Size size = VARSIZE_ANY_EXHDR(lookup);
	uint32 n, bits, low, high;
	const char *starts = data + HEAD, *entries, *found = NULL;

	if (size < HEAD)
		raise_no_lookup();
	n = get32(data);
	bits = get32(data + sizeof(uint32));
	if (bits > MOST_BITS || size != lookup_size(n, bits))
		raise_no_lookup();
	entries = starts + sizeof(uint32) * (((Size) 1 << bits) + 1);
	low = get32(starts + sizeof(uint32) * first_bits(hash, bits));
	high = get32(starts + sizeof(uint32) * (first_bits(hash, bits) + 1));
	if (low > high || high > n)
		raise_no_lookup();
	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;
		const char *entry = entries + ENTRY * (Size) middle;
		uint64 its = get64(entry);

		if (its < hash || (its == hash && get64(entry + sizeof(uint64)) <= lot))
		{
			found = entry;
			low = middle + 1;
		}
		else
			high = middle;
	}
	return found != NULL && get64(found) == hash ? found : NULL;
}

/* Class and shard as one number, in which order rows are written: NULL for a row that goes nowhere. */
Datum
kanon_class_of(PG_FUNCTION_ARGS)
{
	bytea *lookup = PG_GETARG_BYTEA_PP(0);
	bytea *packed = PG_GETARG_BYTEA_PP(1);
	int32 shard = PG_GETARG_INT32(2);
	const char *entry = find_entry(lookup, packed_hash(packed), unsigned_lot(packed_lot(packed, shard)));
	uint32 class_ = entry == NULL ? NOWHERE : get32(entry + 2 * sizeof(uint64));

	if (class_ > PG_INT32_MAX)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) class_ << 32 | (uint32) shard);
}
