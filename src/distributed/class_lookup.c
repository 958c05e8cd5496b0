/*
 * class_lookup.c: workers look up which class a row goes to.
 *
 * All row types in the order of their hashes, and where those with the same first bits begin: hashes
 * are spread evenly, so that a look at a few of them finds one.  It is a value that a query
 * carries to every row, used as it came: nothing is made of it first, and the smaller it is, the more of it the
 * processor's caches have.  Numbers are in network order.
 */
#include "compat.h"
#include "distributed/citus.h"
#include "distributed/distributed.h"
#include "host/gate.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "executor/nodeHash.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

/* Before all: how many entries, and of how many bits of a hash it is said where entries begin. */
#define HEAD (2 * sizeof(uint32))
#define MOST_BITS 24

/* So many bits fewer than entries would have each its own beginning: four begin together, and lie beside each other. */
#define FEWER_BITS 2

/* Hash of a flow's rows, where row types are divided their least lot, and the class that they go to; or LOOKUP_NOWHERE. */
#define ENTRY_WHOLE (sizeof(uint64) + sizeof(uint32))
#define ENTRY_DIVIDED (ENTRY_WHOLE + sizeof(uint64))

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
		entries[i] =
			(Entry){(uint64) hash[release->flows[i].type], unsigned_lot(low[i]),
					release->flows[i].class_ == KANON_DROPPED ? LOOKUP_NOWHERE : release->flows[i].class_};
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

void
raise_no_lookup(void)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("these are no classes of row types")));
}

/* The class of the last entry that is not above, or LOOKUP_NOWHERE. */
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
	return found != NULL && get64(found) == hash ? get32(found + entry - sizeof(uint32)) : LOOKUP_NOWHERE;
}

uint32
lookup_class(bytea *lookup, bytea *packed, int32 shard)
{
	return find_class(lookup, packed_hash(packed), unsigned_lot(packed_lot(packed, shard)));
}

/*
 * ---- Row types whose rows go to several classes, on workers: each class takes
 * the rows between two thresholds, on lots that no other use of the place tells anything of.
 */

typedef struct Split
{
	const KanonRelease *release;
	const int64 *hash; /* of types */
	int64 *low;        /* of flows */
	int64 *high;
	int64 *hashes; /* of types that are split, ascending */
	size_t *flows; /* the first flow of each */
	size_t n;
	size_t at;   /* the type whose rows come in: n before the first */
	size_t flow; /* takes the next row, */
	int64 room;  /* and so many */
} Split;

static void
raise_other_rows(void)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("the rows that were set aside have changed"), errhint("Run the call again.")));
}

/* Rows come by type and hash of their place: where a class has its rows, the next one begins. */
static bool
receive_place(void *arg, TupleTableSlot *slot)
{
	Split *split = arg;
	const KanonRelease *release = split->release;
	int64 hash = DatumGetInt64(slot->tts_values[0]);
	int64 place = DatumGetInt64(slot->tts_values[1]);

	if (split->at == split->n || split->hashes[split->at] != hash)
	{
		split->at = split->at == split->n ? 0 : split->at + 1;
		if (split->at == split->n || split->hashes[split->at] != hash)
			raise_other_rows();
		split->flow = split->flows[split->at];
		split->room = release->flows[split->flow].rows;
		split->low[split->flow] = PG_INT64_MIN;
	}
	if (split->room == 0)
	{
		uint32 type = release->flows[split->flow].type;

		split->high[split->flow] = place - 1;
		split->flow++;
		if (split->flow == release->nflows || release->flows[split->flow].type != type)
			raise_other_rows();
		split->room = release->flows[split->flow].rows;
		split->low[split->flow] = place;
	}
	split->high[split->flow] = PG_INT64_MAX;
	split->room--;
	return true;
}

static int
compare_flows_by_hash(const void *a, const void *b, void *arg)
{
	const Split *split = arg;
	int64 left = split->hash[split->release->flows[*(const size_t *) a].type];
	int64 right = split->hash[split->release->flows[*(const size_t *) b].type];

	return left < right ? -1 : left > right;
}

/* The first flow of each type that has several. */
static void
find_split_types(Split *split, Border *border)
{
	const KanonRelease *release = split->release;

	split->flows = border_palloc(border, sizeof(size_t) * release->nflows);
	for (size_t f = 0; f + 1 < release->nflows; f++)
		if (release->flows[f].type == release->flows[f + 1].type &&
			(f == 0 || release->flows[f - 1].type != release->flows[f].type))
			split->flows[split->n++] = f;
	qsort_arg(split->flows, split->n, sizeof(size_t), compare_flows_by_hash, split);
	split->hashes = border_palloc(border, sizeof(int64) * Max(split->n, 1));
	for (size_t i = 0; i < split->n; i++)
		split->hashes[i] = split->hash[release->flows[split->flows[i]].type];
	split->at = split->n;
}

/* The places of all of these types' rows are looked at, and nothing else of them. */
static void
find_thresholds(Split *split, const Source *source, const LotWords *words, Border *border)
{
	StringInfoData sql;
	Gate *gate;

	if (split->n > CITUS_MOST_NUMBERS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("more than %d row types go to several classes each", CITUS_MOST_NUMBERS),
						errhint("SET kanon.distribute = 'off', and all rows pass through this server.")));
	border_charge(border, 0, CITUS_NUMBER * split->n);
	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "SELECT %s, %s FROM %s WHERE %s OPERATOR(pg_catalog.=) ANY (%s::pg_catalog.int8[])"
					 " ORDER BY 1, 2",
					 words->of_row, words->lot, source->name, words->of_row,
					 citus_send_numbers(words->schema, split->hashes, (int) split->n));
	border_charge(border, CITUS_NUMBER * split->n, 0);
	gate = gate_create(source->name, source->relid, 2);
	gate_computed(gate, "type", INT8OID);
	gate_computed(gate, "place", INT8OID);
	gate_select(gate, sql.data, true, receive_place, split);
	if (split->at != split->n - 1 || split->room != 0)
		raise_other_rows();
}

bool
divide_types(const Source *source, const LotWords *words, const KanonRelease *release, const int64 *hash,
			 int64 *low, int64 *high, Border *border)
{
	Split split = {.release = release, .hash = hash, .low = low, .high = high};

	for (size_t f = 0; f < release->nflows; f++)
	{
		low[f] = PG_INT64_MIN;
		high[f] = PG_INT64_MAX;
	}
	find_split_types(&split, border);
	if (split.n > 0)
		find_thresholds(&split, source, words, border);
	border_pfree(border, split.flows);
	border_pfree(border, split.hashes);
	return split.n > 0;
}

/*
 * ---- Rows of a table as heap stores them, one after the other: is the next one like the one before?
 *
 * Rows of a target lie class by class.  To see that one shows what the one before shows takes a look at its bytes
 * where they are, and no column of it need be taken out first.
 */

struct Stored
{
	TupleDesc desc;
	int n; /* columns that are compared */
	int first;
	int end;
	bool known;  /* a row was remembered: */
	bool nulls;  /* it has some */
	uint32 off;  /* where the first column to take out begins */
	Size size;   /* bytes from where its header says which are NULL to the end of the n-th column */
	char *bytes; /* [size] */
	Size room;
};

/* From here on nothing of a row's header is about who wrote it, and when. */
#define HEADER_END offsetof(HeapTupleHeaderData, t_hoff)

Stored *
stored_create(TupleDesc desc, int n, int first, int end)
{
	Stored *stored = palloc0(sizeof(Stored));

	stored->desc = desc;
	stored->n = n;
	stored->first = Min(first, n);
	stored->end = end;
	stored->room = 1024;
	stored->bytes = palloc(stored->room);
	return stored;
}

/* As it is in its page, or NULL: it is no such row. */
static HeapTuple
stored_tuple(TupleTableSlot *slot)
{
	bool copied;

	return TTS_IS_BUFFERTUPLE(slot) ? ExecFetchSlotHeapTuple(slot, false, &copied) : NULL;
}

/* Walks over columns from one on, up to another, and takes them out; where the last one ends. */
static uint32
walk(TupleDesc desc, HeapTupleHeader row, int from, int to, uint32 off, Datum *values, bool *nulls)
{
	const char *data = (char *) row + row->t_hoff;
	bool has_nulls = (row->t_infomask & HEAP_HASNULL) != 0;

	for (int c = from; c < to; c++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, c);
		bool null = has_nulls && att_isnull(c, row->t_bits);

		if (!null)
			off = (uint32) att_align_pointer(off, att->attalign, att->attlen, data + off);
		if (values != NULL)
		{
			nulls[c] = null;
			values[c] = null ? (Datum) 0 : fetchatt(att, data + off);
		}
		if (!null)
			off = (uint32) att_addlength_pointer(off, att->attlen, data + off);
	}
	return off;
}

bool
stored_repeats(const Stored *stored, TupleTableSlot *slot, Datum *values, bool *nulls)
{
	HeapTuple tuple = stored->known ? stored_tuple(slot) : NULL;
	HeapTupleHeader row;

	if (tuple == NULL || tuple->t_len < HEADER_END + stored->size)
		return false;
	row = tuple->t_data;
	if (HeapTupleHeaderGetNatts(row) != stored->desc->natts ||
		((row->t_infomask & HEAP_HASNULL) != 0) != stored->nulls ||
		memcmp((char *) row + HEADER_END, stored->bytes, stored->size) != 0)
		return false;
	(void) walk(stored->desc, row, stored->first, stored->end, stored->off, values, nulls);
	return true;
}

void
stored_remember(Stored *stored, TupleTableSlot *slot)
{
	HeapTuple tuple = stored_tuple(slot);
	HeapTupleHeader row;
	uint32 end;

	stored->known = false;
	if (tuple == NULL || HeapTupleHeaderGetNatts(tuple->t_data) != stored->desc->natts)
		return;
	row = tuple->t_data;
	stored->nulls = (row->t_infomask & HEAP_HASNULL) != 0;
	stored->off = walk(stored->desc, row, 0, stored->first, 0, NULL, NULL);
	end = walk(stored->desc, row, stored->first, stored->n, stored->off, NULL, NULL);
	stored->size = row->t_hoff - HEADER_END + end;
	if (stored->size > stored->room)
	{
		pfree(stored->bytes);
		stored->room = stored->size;
		stored->bytes = palloc(stored->room);
	}
	memcpy(stored->bytes, (char *) row + HEADER_END, stored->size);
	stored->known = true;
}
