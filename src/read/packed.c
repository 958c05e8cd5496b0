/*
 * packed.c: the values of a row type as workers of Citus send them: a hash, a lot, and where
 * they had not met the values before, the binary form of each.
 */
#include "compat.h"
#include "read/packed.h"
#include "host/random.h"
#include "host/row.h"
#include "read/grouping.h"

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
is_numbered_by_server(Oid type)
{
	Oid of = getBaseType(type);

	return of != OIDOID &&
		   lookup_type_cache(of, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc == F_HASHOIDEXTENDED;
}

bool
packable(const SourceColumn *columns, int n)
{
	for (int c = 0; c < n; c++)
	{
		Oid type = getBaseType(columns[c].type);

		if ((binary_form(type) == NULL && !is_text(send_function(type))) || is_numbered_by_server(type) ||
			!OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
			return false;
	}
	return true;
}

char *
packing(const Source *source)
{
	return psprintf("%s.kanon_row_type((%s)[1], ROW(%s))", source->functions, source->staged_seed_sql,
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

/* Row types that a query has met: by their bytes, since what is spelled otherwise is told as well. */
typedef struct Met
{
	uint64 image_hash;
	uint64 hash; /* what is said of it from now on */
	char *image;
	Size size;
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
	const Row *row; /* at hand */
	PackedColumn *columns;
	char *image; /* of its values */
	Size image_size;
	Size image_room;
	const Met *last; /* the row type of the one before: equal rows often lie together, those of a target do */
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
packer_create(const Row *row)
{
	Packer *packer = palloc0(sizeof(Packer));

	packer->row = row;
	packer->columns = palloc(sizeof(PackedColumn) * row->desc->natts);
	for (int c = 0; c < row->desc->natts; c++)
		packed_column(&packer->columns[c], TupleDescAttr(row->desc, c));
	packer->image_room = 256;
	packer->image = palloc(packer->image_room);
	packer->context = AllocSetContextCreate(row->context, "kanon row types met", ALLOCSET_DEFAULT_SIZES);
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

/* Room for so many bytes more; where they go. */
static inline char *
image_room(Packer *packer, Size size)
{
	if (packer->image_size + size > packer->image_room)
	{
		packer->image_room = 2 * (packer->image_size + size);
		packer->image = repalloc_huge(packer->image, packer->image_room);
	}
	return packer->image + packer->image_size;
}

/* All are told as one value: what is too large for that is refused before a byte of it is copied. */
static void
check_size(const Packer *packer)
{
	const Row *row = packer->row;
	uint64 size = 0; /* (a Size of four bytes would begin anew) */

	for (int c = 0; c < row->desc->natts; c++)
		if (!row->nulls[c] && packer->columns[c].length == -1)
			size += toast_raw_datum_size(row->values[c]);
	if (size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the values of a row take more than a gigabyte"), errhint("Leave the largest out.")));
}

/* The values as they are stored, so that no function of theirs need be called for a row type that was met. */
static void
take_image(Packer *packer)
{
	const Row *row = packer->row;

	packer->image_size = 0;
	for (int c = 0; c < row->desc->natts; c++)
	{
		const PackedColumn *column = &packer->columns[c];
		const char *bytes;
		int32 size;
		char *at;

		if (row->nulls[c] || column->by_value)
		{
			at = image_room(packer, sizeof(bool) + sizeof(Datum));
			*at++ = row->nulls[c];
			memcpy(at, &row->values[c], sizeof(Datum));
			packer->image_size += sizeof(bool) + (row->nulls[c] ? 0 : sizeof(Datum));
			continue;
		}
		if (column->length == -1)
		{
			struct varlena *value = PG_DETOAST_DATUM_PACKED(row->values[c]);

			bytes = VARDATA_ANY(value);
			size = VARSIZE_ANY_EXHDR(value);
		}
		else
		{
			bytes = DatumGetPointer(row->values[c]);
			size = column->length > 0 ? column->length : (int32) strlen(bytes);
		}
		at = image_room(packer, sizeof(bool) + sizeof(size) + size);
		*at++ = false;
		memcpy(at, &size, sizeof(size));
		memcpy(at + sizeof(size), bytes, size);
		packer->image_size += sizeof(bool) + sizeof(size) + size;
	}
}

/* As hash_record_extended has it, which the server that asked computes again. */
static uint64
hash_values(Packer *packer)
{
	const Row *row = packer->row;
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
	const Row *row = packer->row;

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
remember(Packer *packer, uint64 image_hash, uint64 hash)
{
	Met *met;
	bool found;

	if (MemoryContextMemAllocated(packer->context, false) > get_hash_memory_limit())
		forget_met(packer);
	packer->last = NULL; /* (the table may move) */
	met = met_insert(packer->met, image_hash, &found);
	if (found)
		return; /* another with the same hash: this one is told each time */
	met->hash = hash;
	met->size = packer->image_size;
	met->image = MemoryContextAllocHuge(packer->context, met->size);
	memcpy(met->image, packer->image, met->size);
}

static inline bool
has_image(const Packer *packer, const Met *met)
{
	return met != NULL && packer->image_size == met->size &&
		   memcmp(packer->image, met->image, met->size) == 0;
}

/* Was the row type at hand met?  To see that costs a look at its bytes. */
static bool
was_met(Packer *packer, uint64 *image_hash)
{
	if (has_image(packer, packer->last))
		return true;
	*image_hash = hash_bytes_extended((const unsigned char *) packer->image,
									  (int) Min(packer->image_size, MaxAllocSize), 0);
	packer->last = met_lookup(packer->met, *image_hash);
	return has_image(packer, packer->last);
}

Datum
kanon_row_type(PG_FUNCTION_ARGS)
{
	Packer *packer;
	uint64 image_hash = 0, hash;
	StringInfoData out;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	packer = row_argument(fcinfo->flinfo, PG_GETARG_HEAPTUPLEHEADER(1), packer_create)->prepared;
	if (packer->seed != (uint64) PG_GETARG_INT64(0))
	{
		forget_met(packer);
		packer->seed = (uint64) PG_GETARG_INT64(0);
	}
	check_size(packer);
	take_image(packer);
	if (was_met(packer, &image_hash))
	{
		bytea *packed = palloc(VARHDRSZ + PACKED_BEFORE);
		uint64 sent = pg_hton64(packer->last->hash);
		uint32 lot = (uint32) random_draw(&packer->lots);

		SET_VARSIZE(packed, VARHDRSZ + PACKED_BEFORE);
		memcpy(VARDATA(packed), &sent, PACKED_HASH);
		memcpy(VARDATA(packed) + PACKED_HASH, &lot, PACKED_LOT);
		PG_RETURN_BYTEA_P(packed);
	}
	hash = hash_values(packer);
	pq_begintypsend(&out);
	pq_sendint64(&out, hash);
	pq_sendint32(&out, (uint32) random_draw(&packer->lots));
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

	memcpy(&hash, packed_bytes(packed), PACKED_HASH);
	return pg_ntoh64(hash);
}

int64
packed_lot(bytea *packed, int32 shard)
{
	uint32 lot;

	memcpy(&lot, packed_bytes(packed) + PACKED_HASH, PACKED_LOT);
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
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("what workers say of row types cannot be read")));
}

void
unpack(Unpacker *unpacker, bytea *packed)
{
	StringInfoData in;

	initStringInfo(&in);
	appendBinaryStringInfo(&in, VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));
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
