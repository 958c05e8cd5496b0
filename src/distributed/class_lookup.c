/*
 * class_lookup.c: which class a row goes to, as workers look it up.
 *
 * All row types in the order of their hashes, and where those with the same first bits begin: hashes
 * are spread evenly, so that a look at a few of them finds one.  It is a value that a query
 * carries to every row, used as it came: nothing is made of it first, and the smaller it is, the more of it the
 * processor's caches have.  Numbers are in network order.
 */
#include "compat.h"
#include "distributed/distributed.h"

#include "executor/nodeHash.h"
#include "fmgr.h"
#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

/* Before all: how many entries, and of how many bits of a hash it is said where entries begin. */
#define HEAD (2 * sizeof(uint32))
#define MOST_BITS 24

/* So many bits fewer than entries would have each its own beginning: four begin together, and lie beside each other. */
#define FEWER_BITS 2

/* Hash of a flow's rows, where row types are divided their least lot, and the class that they go to; or NOWHERE. */
#define ENTRY_WHOLE (sizeof(uint64) + sizeof(uint32))
#define ENTRY_DIVIDED (ENTRY_WHOLE + sizeof(uint64))
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
lookup_size(uint32 n, uint32 bits, Size entry)
{
	return HEAD + sizeof(uint32) * ((UINT64CONST(1) << bits) + 1) + entry * (uint64) n;
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
	uint32 bits = release->nflows >> FEWER_BITS > 0
					  ? Min(pg_leftmost_one_pos64(release->nflows >> FEWER_BITS), MOST_BITS)
					  : 0;
	bool divided = false;
	Size entry, size, f;
	Entry *entries;
	bytea *lookup;
	char *at;

	for (f = 0; f < release->nflows && !divided; f++)
		divided = unsigned_lot(low[f]) > 0;
	entry = divided ? ENTRY_DIVIDED : ENTRY_WHOLE;
	if (release->nflows > Min(get_hash_memory_limit(), MaxAllocSize / 4) / entry ||
		lookup_size((uint32) release->nflows, bits, entry) > get_hash_memory_limit())
		return NULL;
	size = VARHDRSZ + lookup_size((uint32) release->nflows, bits, entry);
	entries = border_palloc(border, sizeof(Entry) * Max(release->nflows, 1));
	for (Size i = 0; i < release->nflows; i++)
		entries[i] = (Entry){(uint64) hash[release->flows[i].type], unsigned_lot(low[i]),
							 release->flows[i].class_ == KANON_DROPPED ? NOWHERE : release->flows[i].class_};
	qsort(entries, release->nflows, sizeof(Entry), compare_entries);
	lookup = palloc(size);
	SET_VARSIZE(lookup, size);
	f = 0;
	at = put32(put32(VARDATA(lookup), (uint32) release->nflows), bits);
	for (Size first = 0; first <= (Size) 1 << bits; first++)
	{
		while (f < release->nflows && first_bits(entries[f].hash, bits) < first)
			f++;
		at = put32(at, (uint32) f);
	}
	for (f = 0; f < release->nflows; f++)
	{
		at = put64(at, entries[f].hash);
		at = put32(divided ? put64(at, entries[f].low) : at, entries[f].class_);
	}
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

/* The class of the last entry that is not above, or NOWHERE. */
static uint32
find_class(bytea *lookup, uint64 hash, uint64 lot)
{
	const char *data = VARDATA_ANY(lookup);
	Size size = VARSIZE_ANY_EXHDR(lookup), entry;
	uint32 n, bits, low, high;
	const char *starts = data + HEAD, *entries, *found = NULL;

	if (size < HEAD)
		raise_no_lookup();
	n = get32(data);
	bits = get32(data + sizeof(uint32));
	entry = bits <= MOST_BITS && size == lookup_size(n, bits, ENTRY_WHOLE) ? ENTRY_WHOLE : ENTRY_DIVIDED;
	if (bits > MOST_BITS || size != lookup_size(n, bits, entry))
		raise_no_lookup();
	entries = starts + sizeof(uint32) * (((Size) 1 << bits) + 1);
	low = get32(starts + sizeof(uint32) * first_bits(hash, bits));
	high = get32(starts + sizeof(uint32) * (first_bits(hash, bits) + 1));
	if (low > high || high > n)
		raise_no_lookup();
	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;
		const char *at = entries + entry * (Size) middle;
		uint64 its = get64(at);

		if (its < hash || (its == hash && (entry == ENTRY_WHOLE || get64(at + sizeof(uint64)) <= lot)))
		{
			found = at;
			low = middle + 1;
		}
		else
			high = middle;
	}
	return found != NULL && get64(found) == hash ? get32(found + entry - sizeof(uint32)) : NOWHERE;
}

/* Class and shard as one number, in which order rows are written: NULL for a row that goes nowhere. */
Datum
kanon_class_of(PG_FUNCTION_ARGS)
{
	bytea *lookup = PG_GETARG_BYTEA_PP(0);
	bytea *packed = PG_GETARG_BYTEA_PP(1);
	int32 shard = PG_GETARG_INT32(2);
	uint32 class_ = find_class(lookup, packed_hash(packed), unsigned_lot(packed_lot(packed, shard)));

	if (class_ > PG_INT32_MAX)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) class_ << 32 | (uint32) shard);
}
