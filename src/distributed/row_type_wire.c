/*
 * row_type_wire.c: the values of a row type as workers of Citus send them: a lot, a hash, and where
 * they had not met the values before, the binary form of each.
 */
#include "compat.h"
#include "core/util/number.h"
#include "distributed/distributed.h"
#include "host/border.h"
#include "host/lines.h"
#include "rows/row_types.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
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

/* Its binary form is text in a client's encoding: here it is packed in UTF-8, or as it is where it has no encoding. */
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
is_hashed_apart(Oid type)
{
	Oid of = getBaseType(type);

	/* (times of one moment in two zones are one value here, and have two hashes) */
	return of == TIMETZOID ||
		   (of != OIDOID &&
			lookup_type_cache(of, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc == F_HASHOIDEXTENDED);
}

bool
packable(const SourceColumn *columns, int n)
{
	for (int c = 0; c < n; c++)
	{
		Oid type = getBaseType(columns[c].type);

		if ((binary_form(type) == NULL && !is_text(send_function(type))) || is_hashed_apart(type) ||
			!OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
			return false;
	}
	return true;
}

char *
packing(const Source *source)
{
	return psprintf("%s.kanon_row_type(%s, ROW(%s))", source->functions, source->staged_seed_sql,
					column_list(source->qis, source->ngrouped));
}

/* ---- on workers ---- */

PG_FUNCTION_INFO_V1(kanon_place);
PG_FUNCTION_INFO_V1(kanon_row_type);
PG_FUNCTION_INFO_V1(kanon_row_type_hash);
PG_FUNCTION_INFO_V1(kanon_row_type_lot);

Datum
kanon_place(PG_FUNCTION_ARGS)
{
	static RandomPool pool;

	PG_RETURN_INT64((int64) random_draw(&pool));
}

/* Row types that a query has met: by the bytes of their rows, since what is spelled otherwise is told as well. */
typedef struct MetImage
{
	uint64 hash; /* what is said of it from now on */
	uint32 size;
	char bytes[FLEXIBLE_ARRAY_MEMBER];
} MetImage;

typedef struct Met
{
	MetImage *image;
	uint32 image_hash;
	char status;
} Met;

#define SH_PREFIX met
#define SH_ELEMENT_TYPE Met
#define SH_KEY_TYPE uint32
#define SH_KEY image_hash
#define SH_HASH_KEY(table, key) (key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct PackedColumn
{
	int16 length;
	bool by_value;
	Oid collation;
	FmgrInfo send;
	FmgrInfo hash;
} PackedColumn;

typedef struct Packer
{
	uint64 seed;
	const RowArgument *row; /* at hand */
	PackedColumn *columns;
	const char *image; /* its bytes */
	Size image_size;
	const MetImage
		*last; /* the row type of the one before: equal rows often lie together, those of a target do */
	RandomPool lots;
	MemoryContext
		context; /* of what was met; it is forgotten when it takes more than a query's hash table may */
	met_hash *met;
} Packer;

static void
packed_column(PackedColumn *column, Form_pg_attribute attribute)
{
	Oid type = getBaseType(attribute->atttypid);
	Oid hash = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc;

	/* what rows are made of may be altered between two of them */
	if (type_is_rowtype(type))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("a row type is told of its values, not of a row")));
	if (!OidIsValid(hash))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
						errmsg("type %s has no hash function", format_type_be(type))));
	get_typlenbyval(type, &column->length, &column->by_value);
	column->collation = attribute->attcollation;
	fmgr_info(send_function(type), &column->send);
	fmgr_info(hash, &column->hash);
}

static void *
packer_create(const RowArgument *row)
{
	Packer *packer = palloc0(sizeof(Packer));

	packer->row = row;
	packer->columns = palloc(sizeof(PackedColumn) * row->desc->natts);
	for (int c = 0; c < row->desc->natts; c++)
		packed_column(&packer->columns[c], TupleDescAttr(row->desc, c));
	packer->context = GenerationContextCreate(row->context, "kanon row types met", ALLOCSET_DEFAULT_SIZES);
	packer->met = met_create(packer->context, 1024, NULL);
	return packer;
}

static void
forget_met(Packer *packer)
{
	MemoryContextReset(packer->context);
	packer->met = met_create(packer->context, 1024, NULL);
	packer->last = NULL;
}

/* All are told as one value: a row that is too large for that is refused before a byte of it is copied. */
static void
check_size(const Packer *packer)
{
	const RowArgument *row = packer->row;
	uint64 size = 0; /* (a Size of four bytes would begin anew) */

	for (int c = 0; c < row->desc->natts; c++)
		if (!row->nulls[c] && packer->columns[c].length == -1)
			size += toast_raw_datum_size(row->values[c]);
	if (size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the values of a row take more than a gigabyte"), errhint("Leave the largest out.")));
}

/* As hash_record_extended has it, which the server that asked computes again. */
static uint64
hash_values(Packer *packer)
{
	const RowArgument *row = packer->row;
	uint64 result = 0;

	for (int c = 0; c < row->desc->natts; c++)
		result =
			(result << 5) - result +
			(row->nulls[c]
				 ? 0
				 : DatumGetUInt64(FunctionCall2Coll(&packer->columns[c].hash, packer->columns[c].collation,
													row->values[c], UInt64GetDatum(packer->seed))));
	return result;
}

static void
pack_values(Packer *packer, StringInfo out)
{
	const RowArgument *row = packer->row;

	for (int c = 0; c < row->desc->natts; c++)
		if (row->nulls[c])
			pq_sendint32(out, (uint32) -1);
		else if (is_text(packer->columns[c].send.fn_oid))
		{
			text *value = DatumGetTextPP(row->values[c]);
			int size = VARSIZE_ANY_EXHDR(value);
			char *converted = GetDatabaseEncoding() == PG_SQL_ASCII
								  ? VARDATA_ANY(value)
								  : pg_server_to_any(VARDATA_ANY(value), size, PG_UTF8);

			if (converted != VARDATA_ANY(value))
				size = (int) strlen(converted);
			pq_sendint32(out, size);
			pq_sendbytes(out, converted, size);
		}
		else
		{
			bytea *value = SendFunctionCall(&packer->columns[c].send, row->values[c]);

			pq_sendint32(out, VARSIZE(value) - VARHDRSZ);
			pq_sendbytes(out, VARDATA(value), VARSIZE(value) - VARHDRSZ);
		}
}

static void
remember(Packer *packer, uint32 image_hash, uint64 hash)
{
	Met *met;
	MetImage *image;
	bool found;

	if (MemoryContextMemAllocated(packer->context, false) > get_hash_memory_limit())
		forget_met(packer);
	met = met_insert(packer->met, image_hash, &found);
	if (found)
		return; /* another with the same hash: this one is told each time */
	image = MemoryContextAllocHuge(packer->context, offsetof(MetImage, bytes) + packer->image_size);
	image->hash = hash;
	image->size = (uint32) packer->image_size;
	memcpy(image->bytes, packer->image, image->size);
	met->image = image;
}

static inline bool
has_image(const Packer *packer, const MetImage *met)
{
	return met != NULL && packer->image_size == met->size &&
		   memcmp(packer->image, met->bytes, met->size) == 0;
}

/* Eight bytes at a time. */
static inline uint32
hash_image(const char *bytes, Size size)
{
	uint64 hash = size, word;

	for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word))
	{
		memcpy(&word, bytes, sizeof(word));
		hash = kanon_hash_add(hash, word);
	}
	word = 0;
	memcpy(&word, bytes, size);
	return (uint32) kanon_hash_add(hash, word);
}

/* The row type at hand, or NULL: it was not met.  To see that costs a look at its bytes, and no function of its values. */
static const MetImage *
find_met(Packer *packer, uint32 *image_hash)
{
	const Met *met;

	if (has_image(packer, packer->last))
		return packer->last;
	*image_hash = hash_image(packer->image, packer->image_size);
	met = met_lookup(packer->met, *image_hash);
	packer->last = met != NULL ? met->image : NULL;
	return has_image(packer, packer->last) ? packer->last : NULL;
}

/* A row type that was met, as it is reported. */
static bytea *
pack_met(uint32 lot, uint64 hash)
{
	bytea *packed = palloc(VARHDRSZ + PACKED_BEFORE);

	lot = pg_hton32(lot);
	hash = pg_hton64(hash);
	SET_VARSIZE(packed, VARHDRSZ + PACKED_BEFORE);
	memcpy(VARDATA(packed), &lot, PACKED_LOT);
	memcpy(VARDATA(packed) + PACKED_LOT, &hash, PACKED_HASH);
	return packed;
}

Datum
kanon_row_type(PG_FUNCTION_ARGS)
{
	HeapTupleHeader header;
	RowArgument *row;
	Packer *packer;
	const MetImage *met;
	uint32 image_hash = 0, lot;
	uint64 hash;
	StringInfoData out;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	header = PG_GETARG_HEAPTUPLEHEADER(1);
	row = row_argument(fcinfo->flinfo, header, packer_create);
	packer = row->prepared;
	if (packer->seed != (uint64) PG_GETARG_INT64(0))
	{
		forget_met(packer);
		packer->seed = (uint64) PG_GETARG_INT64(0);
	}
	packer->image = row_image(header, &packer->image_size);
	lot = (uint32) random_draw(&packer->lots);
	met = find_met(packer, &image_hash);
	if (met != NULL)
		PG_RETURN_BYTEA_P(pack_met(lot, met->hash));
	row_deform(row, header);
	check_size(packer);
	hash = hash_values(packer);
	pq_begintypsend(&out);
	pq_sendint32(&out, lot);
	pq_sendint64(&out, hash);
	pack_values(packer, &out);
	remember(packer, image_hash, hash);
	PG_RETURN_BYTEA_P(pq_endtypsend(&out));
}

static const char *
packed_bytes(bytea *packed)
{
	if (VARSIZE_ANY_EXHDR(packed) < PACKED_BEFORE)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("this is no packed row type")));
	return VARDATA_ANY(packed);
}

uint64
packed_hash(bytea *packed)
{
	uint64 hash;

	memcpy(&hash, packed_bytes(packed) + PACKED_LOT, PACKED_HASH);
	return pg_ntoh64(hash);
}

int64
packed_lot(bytea *packed, int32 shard)
{
	uint32 lot;

	memcpy(&lot, packed_bytes(packed), PACKED_LOT);
	return (int64) ((uint64) pg_ntoh32(lot) << 32 | (uint32) shard);
}

Datum
kanon_row_type_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) packed_hash(PG_GETARG_BYTEA_PP(0)));
}

Datum
kanon_row_type_lot(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(packed_lot(PG_GETARG_BYTEA_PP(0), PG_GETARG_INT32(1)));
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
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED), errmsg("the reports of workers on row types cannot be read")));
}

uint64
packed_told(bytea *told)
{
	uint64 hash;

	if (VARSIZE_ANY_EXHDR(told) < PACKED_HASH)
		raise_corrupted();
	memcpy(&hash, VARDATA_ANY(told), PACKED_HASH);
	return pg_ntoh64(hash);
}

void
unpack(Unpacker *unpacker, bytea *told)
{
	StringInfoData in;

	initStringInfo(&in);
	appendBinaryStringInfo(&in, VARDATA_ANY(told), VARSIZE_ANY_EXHDR(told));
	in.cursor = PACKED_HASH;
	for (int c = 0; c < unpacker->n; c++)
	{
		StringInfoData value;
		int32 size;

		if (in.len - in.cursor < (int) sizeof(size))
			raise_corrupted();
		size = (int32) pq_getmsgint(&in, sizeof(size));
		unpacker->nulls[c] = size == -1;
		unpacker->values[c] = (Datum) 0;
		if (size == -1)
			continue;
		if (size < 0 || size > in.len - in.cursor)
			raise_corrupted();
		if (unpacker->text[c])
		{
			const char *bytes = pq_getmsgbytes(&in, size);
			const char *converted =
				GetDatabaseEncoding() == PG_SQL_ASCII ? bytes : pg_any_to_server(bytes, size, PG_UTF8);

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
