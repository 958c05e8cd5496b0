/*
 * mask.c: kept values are masked as their rows are written, and found again in the target.
 *
 * Pseudonyms and shifts come from HMAC-SHA-256 (RFC 2104) with a key that nobody is told
 * and that is forgotten with the release, unless a publication keeps one of its own.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "core/util/hash.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "write/mask.h"
#include "write/verify.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/int.h"
#include "common/sha2.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* Bytes of a pseudonym; as many more of the same hash tell values apart that would share one. */
#define PSEUDONYM_BYTES 16

/* ---- what was issued ---- */

/* A pseudonym by its first bytes, and whose it is by bytes that are not shown. */
typedef struct Issued
{
	uint64 shown;
	uint64 hidden;
	char status;
} Issued;

#define SH_PREFIX issued
#define SH_ELEMENT_TYPE Issued
#define SH_KEY_TYPE uint64
#define SH_KEY shown
#define SH_HASH_KEY(table, key) ((uint32) (key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Hashes of texts that were met before: most persons have several rows. */
#define MOST_MEMO_SLOTS 262144
#define MEMO_TEXT 31
#define MEMO_WAYS 4

struct MaskMemo
{
	uint8 length; /* 0: empty */
	char text[MEMO_TEXT];
	uint8 hash[PSEUDONYM_BYTES];
};

static void
note_issued(Masks *masks, Mask *mask, const uint8 *hash)
{
	uint64 shown, hidden;
	Issued *issued;
	bool found;

	memcpy(&shown, hash, sizeof(shown));
	memcpy(&hidden, hash + PSEUDONYM_BYTES, sizeof(hidden));
	if (FAULT(pseudonym_shared))
		shown = 0;
	issued = issued_insert(mask->issued, shown, &found);
	if (found && issued->hidden != hidden)
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("two values of column \"%s\" would have one pseudonym", mask->column->name),
						errhint("Run the call again: pseudonyms are drawn anew.")));
	if (!found)
	{
		Size now = mask->issued->size * sizeof(Issued);

		issued->hidden = hidden;
		if (now != mask->charged)
			border_charge(masks->border, mask->charged, now);
		mask->charged = now;
	}
}

/* ---- with the key ---- */

/* HMAC of a text, which is of a mask's own use of the key. */
static void
keyed_hash(Masks *masks, const Mask *mask, const char *use, const char *text, Size length, uint8 *hash)
{
	if (pg_hmac_init(masks->hmac, masks->key[mask->lasting], MASK_KEY_LENGTH) < 0 ||
		pg_hmac_update(masks->hmac, (const uint8 *) use, strlen(use) + 1) < 0 ||
		pg_hmac_update(masks->hmac, (const uint8 *) text, length) < 0 ||
		pg_hmac_final(masks->hmac, hash, PG_SHA256_DIGEST_LENGTH) < 0)
		elog(ERROR, "could not compute HMAC: %s", pg_hmac_error(masks->hmac));
}

/* The text of a value by which it is known; equal numerics have one. */
static const char *
text_of(Mask *mask, const SourceColumn *column, Datum value, Size *length)
{
	Oid base = getBaseType(column->type);
	char *text;

	if (base == TEXTOID || base == VARCHAROID || base == BPCHAROID)
	{
		const void *packed = PG_DETOAST_DATUM_PACKED(value);

		text = VARDATA_ANY(packed);
		*length = VARSIZE_ANY_EXHDR(packed);
		while (base == BPCHAROID && *length > 0 && text[*length - 1] == ' ')
			(*length)--;
		return text;
	}
	if (base == NUMERICOID)
		value = DirectFunctionCall1(numeric_trim_scale, value);
	text = OutputFunctionCall(&mask->output, value);
	*length = strlen(text);
	return text;
}

/* The slot that has a text, or the one that it may take; NULL: it is none to remember. */
static MaskMemo *
find_memo(const Mask *mask, const char *text, Size length)
{
	uint32 place;

	if (length == 0 || length > MEMO_TEXT)
		return NULL;
	place = DatumGetUInt32(hash_any((const unsigned char *) text, (int) length));
	for (int i = 0; i < MEMO_WAYS; i++)
	{
		MaskMemo *memo = &mask->memo[(place + i) & (mask->memo_slots - 1)];

		if (memo->length == 0 || (memo->length == length && memcmp(memo->text, text, length) == 0))
			return memo;
	}
	return &mask->memo[(place + (place >> 24)) & (mask->memo_slots - 1)];
}

/* The first bytes of the keyed hash of a value's text. */
static void
hash_value(Masks *masks, Mask *mask, const char *use, const SourceColumn *column, Datum value,
		   uint8 hash[PSEUDONYM_BYTES])
{
	Size length;
	const char *text = text_of(mask, column, value, &length);
	MaskMemo *memo = find_memo(mask, text, length);
	uint8 whole[PG_SHA256_DIGEST_LENGTH];

	if (memo != NULL && memo->length == length && memcmp(memo->text, text, length) == 0)
	{
		memcpy(hash, memo->hash, PSEUDONYM_BYTES);
		return;
	}
	keyed_hash(masks, mask, use, text, length, whole);
	if (mask->kind == MASK_PSEUDONYM)
		note_issued(masks, mask, whole);
	memcpy(hash, whole, PSEUDONYM_BYTES);
	if (memo != NULL)
	{
		memo->length = (uint8) length;
		memcpy(memo->text, text, length);
		memcpy(memo->hash, hash, PSEUDONYM_BYTES);
	}
}

static Datum
pseudonym(Masks *masks, Mask *mask, Datum value)
{
	uint8 hash[PSEUDONYM_BYTES];
	text *shown = palloc(VARHDRSZ + 2 * PSEUDONYM_BYTES);

	hash_value(masks, mask, mask->column->name, mask->column, value, hash);
	SET_VARSIZE(shown, VARHDRSZ + 2 * PSEUDONYM_BYTES);
	(void) hex_encode((const char *) hash, PSEUDONYM_BYTES, VARDATA(shown));
	return PointerGetDatum(shown);
}

/* The same for all columns of a person, so that the time between them stays. */
static Datum
shifted(Masks *masks, Mask *mask, Datum value, Datum person, bool nobody)
{
	uint8 hash[PSEUDONYM_BYTES];
	uint64 drawn;
	int64 unit = mask->base == DATEOID ? 1 : SECS_PER_DAY;
	uint64 span = 2 * (uint64) mask->days * unit + 1;
	int64 by;

	/* rows of nobody have nothing in common */
	if (nobody)
	{
		if (!pg_strong_random(&drawn, sizeof(drawn)))
			ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	}
	else
	{
		hash_value(masks, mask, "kanon shift", masks->columns[mask->place], person, hash);
		memcpy(&drawn, hash, sizeof(drawn));
	}
	by = (int64) (drawn % span) - (int64) mask->days * unit;
	if (mask->base == DATEOID)
	{
		int64 date = DatumGetDateADT(value) + by;

		return DATE_NOT_FINITE(DatumGetDateADT(value)) || !IS_VALID_DATE(date)
				   ? value
				   : DateADTGetDatum((DateADT) date);
	}
	else
	{
		Timestamp at = DatumGetTimestamp(value);
		int64 sum;

		if (TIMESTAMP_NOT_FINITE(at) || pg_add_s64_overflow(at, by * USECS_PER_SEC, &sum) ||
			!IS_VALID_TIMESTAMP(sum))
			return value;
		return TimestampGetDatum(sum);
	}
}

/* ---- without it ---- */

static Datum
rounded(const Mask *mask, Datum value)
{
	if (mask->base == NUMERICOID)
	{
		Datum step = NumericGetDatum(mask->step);
		Datum steps;

		if (numeric_is_nan(DatumGetNumeric(value)) || numeric_is_inf(DatumGetNumeric(value)))
			return value;
		if (mask->decimal)
			return DirectFunctionCall2(numeric_round, value, Int32GetDatum(mask->digits));
		steps = DirectFunctionCall2(numeric_round, DirectFunctionCall2(numeric_div, value, step),
									Int32GetDatum(0));
		return DirectFunctionCall2(numeric_mul, steps, step);
	}
	if (mask->base == FLOAT8OID)
		return Float8GetDatum(rint(DatumGetFloat8(value) / mask->fraction) * mask->fraction);
	if (mask->base == FLOAT4OID)
		return Float4GetDatum((float4) (rint(DatumGetFloat4(value) / mask->fraction) * mask->fraction));
	else
	{
		int64 number = mask->base == INT2OID   ? DatumGetInt16(value)
					   : mask->base == INT4OID ? DatumGetInt32(value)
											   : DatumGetInt64(value);
		int64 least = mask->base == INT2OID   ? PG_INT16_MIN
					  : mask->base == INT4OID ? PG_INT32_MIN
											  : PG_INT64_MIN;
		int64 most = -(least + 1);
		int64 step = (int64) mask->fraction;
		int64 low = number / step * step;
		int64 rest = number - low;

		/* the half away from zero, where the type has that number */
		if (rest >= 0 && rest >= step - rest && low <= most - step)
			low += step;
		else if (rest < 0 && -rest >= step + rest && low >= least + step)
			low -= step;
		return mask->base == INT2OID   ? Int16GetDatum((int16) low)
			   : mask->base == INT4OID ? Int32GetDatum((int32) low)
									   : Int64GetDatum(low);
	}
}

static Datum
cut(const Mask *mask, Datum value)
{
	if (mask->top.known &&
		DatumGetInt32(FunctionCall2Coll(mask->compare, InvalidOid, value, mask->top.value)) > 0)
		value = mask->top.value;
	if (mask->bottom.known &&
		DatumGetInt32(FunctionCall2Coll(mask->compare, InvalidOid, value, mask->bottom.value)) < 0)
		value = mask->bottom.value;
	return mask->step != NULL ? rounded(mask, value) : value;
}

/* Where characters end that are so many from the beginning; texts are ASCII, mostly. */
static int
clip(const char *text, int length, int characters, bool ascii)
{
	return ascii ? Min(characters, length) : pg_mbcharcliplen(text, length, characters);
}

/* How much is hidden is not told; nothing is shown of a text that would be shown whole. */
static Datum
part(const Mask *mask, Datum value)
{
	static const char hidden[] = "***";
	const int stars = sizeof(hidden) - 1;
	const void *packed = PG_DETOAST_DATUM_PACKED(value);
	const char *text = VARDATA_ANY(packed);
	int length = VARSIZE_ANY_EXHDR(packed);
	int characters, begin = 0, end;
	unsigned char bits = 0;
	bytea *shown;

	while (mask->base == BPCHAROID && length > 0 && text[length - 1] == ' ')
		length--;
	for (int i = 0; i < length; i++)
		bits |= (unsigned char) text[i];
	characters = bits < 0x80 ? length : pg_mbstrlen_with_len(text, length);
	end = length;
	if (characters > mask->first + mask->last)
	{
		begin = clip(text, length, mask->first, bits < 0x80);
		end = clip(text, length, characters - mask->last, bits < 0x80);
	}
	shown = palloc(VARHDRSZ + begin + stars + length - end);
	SET_VARSIZE(shown, VARHDRSZ + begin + stars + length - end);
	memcpy(VARDATA(shown), text, begin);
	memcpy(VARDATA(shown) + begin, hidden, stars);
	memcpy(VARDATA(shown) + begin + stars, text + end, length - end);
	return PointerGetDatum(shown);
}

void
masks_apply(Masks *masks, const Datum *values, const bool *nulls)
{
	MemoryContext old;

	MemoryContextReset(masks->row);
	old = MemoryContextSwitchTo(masks->row);
	for (int i = 0; i < masks->n; i++)
	{
		Mask *mask = masks->columns[i]->mask;

		masks->values[i] = values[i];
		masks->nulls[i] = nulls[i];
		if (mask == NULL || (nulls[i] && mask->kind != MASK_CONSTANT))
			continue;
		switch (mask->kind)
		{
			case MASK_PSEUDONYM:
				masks->values[i] = pseudonym(masks, mask, values[i]);
				break;
			case MASK_NUMBER:
				masks->values[i] = cut(mask, values[i]);
				break;
			case MASK_PARTIAL:
				masks->values[i] = part(mask, values[i]);
				break;
			case MASK_SHIFT:
				masks->values[i] = shifted(masks, mask, values[i], values[mask->place], nulls[mask->place]);
				break;
			case MASK_CONSTANT:
				masks->values[i] = mask->constant;
				masks->nulls[i] = mask->isnull;
				break;
		}
	}
	MemoryContextSwitchTo(old);
}

/* ---- before and after the rows ---- */

/* A query of one value about a column. */
static Datum
ask(const Source *source, const Mask *mask, Oid type, const char *what, const char *rest, bool *isnull)
{
	Gate *gate = gate_create(source->name, source->relid, 1);

	gate_computed(gate, "value", type);
	gate_query(gate, psprintf("SELECT %s FROM %s %s", what, source->name, rest), true);
	*isnull = SPI_processed == 0;
	return *isnull ? (Datum) 0 : gate_value(0, 1, type, isnull);
}

/*
 * A quantile of the source's rows, as one of their values: the one that so many rows, and
 * no fewer than k, have or are beyond.
 */
static void
find_quantile(const Source *source, const Mask *mask, MaskBound *bound, bool top, int64 k)
{
	char *column = psprintf("(%s)::%s", mask->column->quoted, format_type_be_qualified(mask->base));
	int64 rows, beyond;
	bool isnull;

	if (!bound->given || bound->quantile == 0)
		return;
	rows = DatumGetInt64(ask(source, mask, INT8OID, psprintf("pg_catalog.count(%s)", column), "", &isnull));
	beyond = (int64) ceil(bound->quantile * (double) rows);
	beyond = Min(Max(top ? rows - beyond + 1 : beyond, k), rows);
	bound->value = ask(source, mask, mask->base, column,
					   psprintf("WHERE %s IS NOT NULL ORDER BY 1%s OFFSET " INT64_FORMAT " LIMIT 1", column,
								top ? " DESC" : "", Max(beyond - 1, 0)),
					   &isnull);
	bound->known = !isnull;
	if (bound->known)
		bound->value = datumCopy(bound->value, get_typbyval(mask->base), get_typlen(mask->base));
}

static void
begin_mask(const Source *source, Masks *masks, Mask *mask, int64 rows, int64 k)
{
	const SourceColumn *hashed = mask->column;
	Oid function;
	bool isvarlena;

	mask->sum = 0;
	get_typlenbyval(mask->type, &mask->length, &mask->byval);
	find_quantile(source, mask, &mask->top, true, k);
	find_quantile(source, mask, &mask->bottom, false, k);
	mask->compare = &lookup_type_cache(mask->base, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
	if (mask->kind == MASK_SHIFT)
	{
		mask->place = 0;
		while (mask->place < source->nkept && strcmp(source->kept[mask->place].name, mask->person) != 0)
			mask->place++;
		if (mask->place == source->nkept)
			elog(ERROR, "the column of persons is not read");
		hashed = &source->kept[mask->place];
	}
	if (mask->kind == MASK_SHIFT || mask->kind == MASK_PSEUDONYM)
	{
		getTypeOutputInfo(hashed->type, &function, &isvarlena);
		fmgr_info(function, &mask->output);
		mask->memo_slots = 1024;
		while (mask->memo_slots < rows && mask->memo_slots < MOST_MEMO_SLOTS)
			mask->memo_slots *= 2;
		mask->memo = border_palloc(masks->border, sizeof(MaskMemo) * mask->memo_slots);
		memset(mask->memo, 0, sizeof(MaskMemo) * mask->memo_slots);
	}
	if (mask->kind == MASK_PSEUDONYM)
		mask->issued = issued_create(masks->border->context, 256, NULL);
}

void
masks_begin(const Source *source, int64 rows, int64 k, Border *border)
{
	Masks *masks = source->masks;

	if (masks == NULL)
		return;
	masks->border = border;
	masks->n = source->nkept;
	masks->columns = palloc(sizeof(SourceColumn *) * source->nkept);
	masks->values = palloc(sizeof(Datum) * source->nkept);
	masks->nulls = palloc(sizeof(bool) * source->nkept);
	masks->row = AllocSetContextCreate(border->context, "kanon masked", ALLOCSET_SMALL_SIZES);
	masks->hmac = pg_hmac_create(PG_SHA256);
	if (masks->hmac == NULL || FAULT(no_mask_key) || !pg_strong_random(masks->key[0], MASK_KEY_LENGTH))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	for (int i = 0; i < source->nkept; i++)
	{
		masks->columns[i] = &source->kept[i];
		if (source->kept[i].mask != NULL)
			begin_mask(source, masks, source->kept[i].mask, rows, k);
	}
}

int
masks_who(const Source *source)
{
	for (int i = 0; i < source->nkept && source->masks != NULL; i++)
		if (source->kept[i].mask != NULL && source->kept[i].mask->kind == MASK_SHIFT)
			return source->kept[i].mask->place;
	return -1;
}

/* Of a value as it is stored, whatever its header. */
static uint64
value_hash(const Mask *mask, Datum value, bool isnull)
{
	uint32 hash;

	if (isnull)
		return UINT64CONST(0x9e3779b97f4a7c15);
	if (mask->byval)
		return kanon_mix((uint64) value);
	hash = datum_image_hash(value, mask->byval, mask->length);
	return hash_bytes_uint32_extended(hash, 0);
}

void
masks_count(Masks *masks, int64 rows)
{
	for (int i = 0; i < masks->n; i++)
	{
		Mask *mask = masks->columns[i]->mask;

		if (mask != NULL)
			mask->sum += (uint64) rows * value_hash(mask, masks->values[i], masks->nulls[i]);
	}
}

void
masks_end(Masks *masks)
{
	if (masks == NULL)
		return;
	explicit_bzero(masks->key[0], MASK_KEY_LENGTH);
	explicit_bzero(masks->key[1], MASK_KEY_LENGTH);
	pg_hmac_free(masks->hmac);
	masks->hmac = NULL;
	MemoryContextDelete(masks->row);
	for (int i = 0; i < masks->n; i++)
	{
		Mask *mask = masks->columns[i]->mask;

		if (mask == NULL)
			continue;
		if (mask->memo != NULL)
			border_pfree(masks->border, mask->memo);
		if (mask->issued != NULL)
		{
			issued_destroy(mask->issued);
			border_charge(masks->border, mask->charged, 0);
		}
	}
}

/* ---- the target ---- */

typedef struct Check
{
	Mask *mask[KANON_MAX_COLUMNS];
	uint64 sum[KANON_MAX_COLUMNS];
	int n;
} Check;

static bool
check_row(void *arg, TupleTableSlot *slot)
{
	Check *check = arg;

	for (int i = 0; i < check->n; i++)
		check->sum[i] += value_hash(check->mask[i], slot->tts_values[i], slot->tts_isnull[i]);
	return true;
}

/* Reads the target; raises when it has not what was masked, unless that is to be what it has. */
static void
read_sums(const Target *target, const Source *source, bool verify)
{
	SourceColumn *columns = palloc(sizeof(SourceColumn) * Max(source->nkept, 1));
	Mask **masks = palloc(sizeof(Mask *) * Max(source->nkept, 1));
	int n = 0;

	for (int i = 0; i < source->nkept; i++)
		if (source->kept[i].mask != NULL)
		{
			masks[n] = source->kept[i].mask;
			columns[n] = source->kept[i];
			columns[n].type = mask_type(masks[n], &columns[n].collation);
			columns[n].typmod = -1;
			columns[n].shape = type_shape(columns[n].type);
			n++;
		}
	/* so many at a time */
	for (int first = 0; first < n; first += KANON_MAX_COLUMNS)
	{
		Check check = {.n = Min(n - first, KANON_MAX_COLUMNS)};
		Gate *gate = gate_create(target->building, target->relid, check.n);

		memcpy(check.mask, masks + first, sizeof(Mask *) * check.n);
		gate_columns(gate, columns + first, check.n);
		gate_select(gate,
					psprintf("SELECT %s FROM %s", column_list(columns + first, check.n), target->building),
					false, check_row, &check);
		for (int i = 0; i < check.n; i++)
		{
			if (verify && check.sum[i] != check.mask[i]->sum)
				raise_unsafe(psprintf("Column \"%s\" does not have the values that it was masked with.",
									  columns[first + i].name));
			check.mask[i]->sum = check.sum[i];
		}
	}
}

void
masks_verify(const Target *target, const Source *source)
{
	read_sums(target, source, true);
}

void
masks_recount(const Target *target, const Source *source)
{
	read_sums(target, source, false);
}
