/*
 * packed.c: the values of a row type as workers of Citus send them: a hash, and where
 * they had not met the values before, the binary form of each.
 */
#include "compat.h"
#include "read/packed.h"
#include "host/random.h"
#include "read/grouping.h"

#include "access/htup_details.h"
#include "common/hashfn.h"
#include "executor/nodeHash.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* Its binary form is text in a client's encoding: here it is packed in UTF-8. */
static bool
is_text(Oid send)
{
	return send == F_TEXTSEND || send == F_VARCHARSEND || send == F_BPCHARSEND;
}

static Oid
send_function(Oid type)
{
	Oid send;
	bool varlena;

	getTypeBinaryOutputInfo(type, &send, &varlena);
	return send;
}

bool
packable(const SourceColumn *columns, int n)
{
	for (int c = 0; c < n; c++)
	{
		Oid type = getBaseType(columns[c].type);

		if ((binary_form(type) == NULL && !is_text(send_function(type))) ||
			!OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
			return false;
	}
	return true;
}

/* ---- on workers ---- */

PG_FUNCTION_INFO_V1(kanon_place);
PG_FUNCTION_INFO_V1(kanon_row_type);
PG_FUNCTION_INFO_V1(kanon_row_type_hash);

Datum
kanon_place(PG_FUNCTION_ARGS)
{
	static RandomPool pool;

	PG_RETURN_INT64((int64) random_draw(&pool));
}

/* Row types that a query has met: by their bytes, since what is spelled otherwise is told as well. */
typedef struct Met
{
	uint64 image_hash;
	char *image;
	uint32 size;
	bytea *hash; /* what is said of it from now on */
	char status;
} Met;

#define SH_PREFIX met
#define SH_ELEMENT_TYPE Met
#define SH_KEY_TYPE uint64
#define SH_KEY image_hash
#define SH_HASH_KEY(table, key) ((uint32) (key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct Packer
{
	int32 typmod; /* of records, as their header says: what was told of it never changes */
	uint64 seed;
	MemoryContext own;
	TupleDesc desc;
	FmgrInfo *send; /* [desc->natts] */
	FmgrInfo *hash;
	Datum *values;
	bool *nulls;
	MemoryContext
		context; /* of what was met; it is forgotten when it takes more than a query's hash table may */
	met_hash *met;
} Packer;

static Packer *
packer_create(MemoryContext parent, HeapTupleHeader record, uint64 seed)
{
	MemoryContext context = AllocSetContextCreate(parent, "kanon row types", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Packer *packer = palloc0(sizeof(Packer));
	int n;

	/* a type with a name may be another one at the next row */
	if (HeapTupleHeaderGetTypeId(record) != RECORDOID)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("a row type is told of ROW(...) alone")));
	packer->typmod = HeapTupleHeaderGetTypMod(record);
	packer->seed = seed;
	packer->own = context;
	packer->desc = lookup_rowtype_tupdesc_copy(RECORDOID, packer->typmod);
	n = packer->desc->natts;
	packer->send = palloc(sizeof(FmgrInfo) * n);
	packer->hash = palloc(sizeof(FmgrInfo) * n);
	packer->values = palloc(sizeof(Datum) * n);
	packer->nulls = palloc(sizeof(bool) * n);
	for (int c = 0; c < n; c++)
	{
		Oid type = getBaseType(TupleDescAttr(packer->desc, c)->atttypid);
		Oid hash = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc;

		if (!OidIsValid(hash))
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
							errmsg("type %s has no hash function", format_type_be(type))));
		fmgr_info(send_function(type), &packer->send[c]);
		fmgr_info(hash, &packer->hash[c]);
	}
	packer->context = AllocSetContextCreate(context, "kanon row types met", ALLOCSET_DEFAULT_SIZES);
	packer->met = met_create(packer->context, 1024, NULL);
	MemoryContextSwitchTo(old);
	return packer;
}

/* As hash_record_extended has it, which the server that asked computes again. */
static uint64
hash_values(const Packer *packer)
{
	uint64 result = 0;

	for (int c = 0; c < packer->desc->natts; c++)
		result = (result << 5) - result +
				 (packer->nulls[c] ? 0
								   : DatumGetUInt64(FunctionCall2Coll(
										 &packer->hash[c], TupleDescAttr(packer->desc, c)->attcollation,
										 packer->values[c], UInt64GetDatum(packer->seed))));
	return result;
}

static bytea *
pack(Packer *packer, HeapTupleHeader record)
{
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(record), .t_data = record};
	StringInfoData out;

	heap_deform_tuple(&tuple, packer->desc, packer->values, packer->nulls);
	pq_begintypsend(&out);
	pq_sendint64(&out, hash_values(packer));
	for (int c = 0; c < packer->desc->natts; c++)
		if (packer->nulls[c])
			pq_sendint32(&out, (uint32) -1);
		else if (is_text(packer->send[c].fn_oid))
		{
			text *value = DatumGetTextPP(packer->values[c]);
			int size = VARSIZE_ANY_EXHDR(value);
			char *converted = pg_server_to_any(VARDATA_ANY(value), size, PG_UTF8);

			if (converted != VARDATA_ANY(value))
				size = (int) strlen(converted);
			pq_sendint32(&out, size);
			pq_sendbytes(&out, converted, size);
		}
		else
		{
			bytea *value = SendFunctionCall(&packer->send[c], packer->values[c]);

			pq_sendint32(&out, VARSIZE(value) - VARHDRSZ);
			pq_sendbytes(&out, VARDATA(value), VARSIZE(value) - VARHDRSZ);
		}
	return pq_endtypsend(&out);
}

static void
remember(Packer *packer, uint64 image_hash, const char *image, uint32 size, const bytea *packed)
{
	Met *met;
	bool found;

	if (MemoryContextMemAllocated(packer->context, false) > get_hash_memory_limit())
	{
		MemoryContextReset(packer->context);
		packer->met = met_create(packer->context, 1024, NULL);
	}
	met = met_insert(packer->met, image_hash, &found);
	if (found)
		return; /* another with the same hash: this one is told each time */
	met->size = size;
	met->image = MemoryContextAlloc(packer->context, size);
	memcpy(met->image, image, size);
	met->hash = MemoryContextAlloc(packer->context, VARHDRSZ + PACKED_HASH);
	SET_VARSIZE(met->hash, VARHDRSZ + PACKED_HASH);
	memcpy(VARDATA(met->hash), VARDATA(packed), PACKED_HASH);
}

/* A record that was met costs a look at its bytes; its columns' functions are called for the others alone. */
Datum
kanon_row_type(PG_FUNCTION_ARGS)
{
	uint64 seed = (uint64) PG_GETARG_INT64(0);
	HeapTupleHeader record = PG_GETARG_HEAPTUPLEHEADER(1);
	Packer *packer = fcinfo->flinfo->fn_extra;
	const char *image = (const char *) record + offsetof(HeapTupleHeaderData, t_infomask2);
	uint32 size = HeapTupleHeaderGetDatumLength(record) - offsetof(HeapTupleHeaderData, t_infomask2);
	uint64 image_hash = hash_bytes_extended((const unsigned char *) image, (int) size, 0);
	bytea *packed;
	Met *met;

	if (packer == NULL || HeapTupleHeaderGetTypeId(record) != RECORDOID ||
		packer->typmod != HeapTupleHeaderGetTypMod(record) || packer->seed != seed)
	{
		if (packer != NULL)
			MemoryContextDelete(packer->own);
		fcinfo->flinfo->fn_extra = NULL;
		packer = fcinfo->flinfo->fn_extra = packer_create(fcinfo->flinfo->fn_mcxt, record, seed);
	}
	met = met_lookup(packer->met, image_hash);
	if (met != NULL && met->size == size && memcmp(met->image, image, size) == 0)
		PG_RETURN_BYTEA_P(met->hash);
	packed = pack(packer, record);
	remember(packer, image_hash, image, size, packed);
	PG_RETURN_BYTEA_P(packed);
}

Datum
kanon_row_type_hash(PG_FUNCTION_ARGS)
{
	bytea *packed = PG_GETARG_BYTEA_PP(0);
	uint64 hash;

	if (VARSIZE_ANY_EXHDR(packed) < PACKED_HASH)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("this is no packed row type")));
	memcpy(&hash, VARDATA_ANY(packed), PACKED_HASH);
	PG_RETURN_INT64((int64) pg_ntoh64(hash));
}

/* ---- here ---- */

Unpacker *
unpacker_create(const SourceColumn *columns, int n)
{
	Unpacker *unpacker = palloc(sizeof(Unpacker));

	unpacker->n = n;
	unpacker->receive = palloc(sizeof(FmgrInfo) * n);
	unpacker->parameter = palloc(sizeof(Oid) * n);
	unpacker->text = palloc(sizeof(bool) * n);
	unpacker->values = palloc(sizeof(Datum) * n);
	unpacker->nulls = palloc(sizeof(bool) * n);
	for (int c = 0; c < n; c++)
	{
		Oid function;

		getTypeBinaryInputInfo(getBaseType(columns[c].type), &function, &unpacker->parameter[c]);
		fmgr_info(function, &unpacker->receive[c]);
		unpacker->text[c] = is_text(send_function(getBaseType(columns[c].type)));
	}
	return unpacker;
}

static void
raise_corrupted(void)
{
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("what workers say of row types cannot be read")));
}

void
unpack(Unpacker *unpacker, bytea *packed)
{
	StringInfoData in;

	initStringInfo(&in);
	appendBinaryStringInfo(&in, VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));
	if (in.len < PACKED_HASH)
		raise_corrupted();
	in.cursor = PACKED_HASH;
	for (int c = 0; c < unpacker->n; c++)
	{
		int32 size = (int32) pq_getmsgint(&in, 4);
		StringInfoData value;

		unpacker->nulls[c] = size == -1;
		unpacker->values[c] = (Datum) 0;
		if (size == -1)
			continue;
		if (size < 0 || size > in.len - in.cursor)
			raise_corrupted();
		if (unpacker->text[c])
		{
			const char *bytes = pq_getmsgbytes(&in, size);
			char *converted = pg_any_to_server(bytes, size, PG_UTF8);

			unpacker->values[c] = PointerGetDatum(
				cstring_to_text_with_len(converted, converted == bytes ? size : (int) strlen(converted)));
			continue;
		}
		initStringInfo(&value);
		appendBinaryStringInfo(&value, pq_getmsgbytes(&in, size), size);
		unpacker->values[c] = ReceiveFunctionCall(&unpacker->receive[c], &value, unpacker->parameter[c], -1);
		if (value.cursor != value.len)
			raise_corrupted();
	}
	if (in.cursor != in.len)
		raise_corrupted();
}
