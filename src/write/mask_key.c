/*
 * mask_key.c: hashes of values with a key, by which pseudonyms and shifts are drawn.
 *
 * HMAC-SHA-256 (RFC 2104) with a key that nobody is told and that is forgotten with the
 * release, unless a publication keeps one of its own.  Most persons have several rows:
 * hashes are remembered by the values' own bytes, so that of a person's further rows
 * neither the value's text nor the hash is made again.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "core/util/hash.h"
#include "write/mask.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/sha2.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* ---- what was issued ---- */

/* A pseudonym by what it shows, and whose it is by bytes of the same hash that are not shown. */
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

static void
note_issued(Masks *masks, Mask *mask, const uint64 *hash)
{
	uint64 shown = FAULT(pseudonym_shared) ? 0 : hash[0] ^ hash[1];
	uint64 hidden = hash[2];
	Issued *issued;
	bool found;

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

/* ---- what is remembered ---- */

#define FIRST_SLOTS 1024
#define MOST_SLOTS 262144
#define WAYS 8
#define LINE 64 /* bytes of a cache line: four of the smallest slots */

/* Words of a value's bytes, the first of which is their number: a slot of them is a cache line. */
#define BYTES_WORDS 6

struct MaskMemo
{
	void *block;
	uint64 *words; /* [slots][stride]: the value, then its hash; its first word 0: empty */
	uint32 slots;  /* a power of 2 */
	uint32 used;
	int key;    /* words of the value: 1 when it is no pointer */
	int stride; /* and of its hash */
};

static void
memo_begin(MaskMemo *memo, Border *border)
{
	Size bytes = sizeof(uint64) * memo->stride * memo->slots;

	memo->block = border_palloc(border, bytes + LINE);
	memo->words = (uint64 *) TYPEALIGN(LINE, memo->block);
	memset(memo->words, 0, bytes);
	memo->used = 0;
}

static uint64
key_hash(const MaskMemo *memo, const uint64 *key)
{
	return memo->key == 1 ? kanon_mix(*key)
						  : hash_bytes_extended((const unsigned char *) key, memo->key * sizeof(uint64), 0);
}

static inline uint64 *
memo_slot(const MaskMemo *memo, uint64 place)
{
	return memo->words + (place & (memo->slots - 1)) * memo->stride;
}

static inline bool
slot_has(const MaskMemo *memo, const uint64 *slot, const uint64 *key)
{
	return slot[0] == key[0] && slot[memo->key] != 0 &&
		   (memo->key == 1 || memcmp(slot, key, sizeof(uint64) * memo->key) == 0);
}

/* The slot that has a value, or else the one that it takes. */
static uint64 *
memo_find(const MaskMemo *memo, const uint64 *key)
{
	uint64 place = key_hash(memo, key);
	uint64 *slot = NULL;

	/* all four around it first, which share a line where they are small, then the next four */
	for (uint64 i = 0; i < WAYS; i++)
	{
		slot = memo_slot(memo, ((place + (i & ~(uint64) 3)) & ~(uint64) 3) | ((place + i) & 3));
		if (slot_has(memo, slot, key) || slot[memo->key] == 0)
			return slot;
	}
	return slot;
}

/* More room, where values are many; their number is not known before. */
static void
memo_grow(MaskMemo *memo, Border *border)
{
	MaskMemo old = *memo;

	memo->slots *= 2;
	memo_begin(memo, border);
	for (uint32 i = 0; i < old.slots; i++)
	{
		const uint64 *slot = old.words + (Size) i * old.stride;

		if (slot[old.key] == 0)
			continue;
		memcpy(memo_find(memo, slot), slot, sizeof(uint64) * old.stride);
		memo->used++;
	}
	border_pfree(border, old.block);
}

static void
memo_keep(MaskMemo *memo, const uint64 *key, const uint64 *hash, Border *border)
{
	uint64 *slot;

	if (memo->used >= memo->slots / 8 * 7 && memo->slots < MOST_SLOTS)
		memo_grow(memo, border);
	slot = memo_find(memo, key);
	memo->used += slot[memo->key] == 0;
	memcpy(slot, key, sizeof(uint64) * memo->key);
	memcpy(slot + memo->key, hash, sizeof(uint64) * (memo->stride - memo->key));
}

/* A value's own bytes; false: they are too many to be remembered. */
static bool
value_key(const Mask *mask, Datum value, uint64 *key)
{
	const char *bytes = DatumGetPointer(value);
	Size length = mask->keyed_length;

	if (mask->keyed_byval)
	{
		*key = (uint64) value;
		return true;
	}
	if (mask->keyed_length == -1)
	{
		const void *packed = PG_DETOAST_DATUM_PACKED(value);

		bytes = VARDATA_ANY(packed);
		length = VARSIZE_ANY_EXHDR(packed);
	}
	else if (mask->keyed_length == -2)
		length = strlen(bytes);
	if (length >= BYTES_WORDS * sizeof(uint64))
		return false;
	memset(key, 0, sizeof(uint64) * BYTES_WORDS);
	*(uint8 *) key = (uint8) length;
	memcpy((uint8 *) key + 1, bytes, length);
	return true;
}

/* ---- the hash ---- */

/* The text of a value by which it is known; equal numerics have one. */
static const char *
text_of(Mask *mask, Datum value, Size *length)
{
	char *text;

	if (mask->keyed == TEXTOID || mask->keyed == VARCHAROID || mask->keyed == BPCHAROID)
	{
		const void *packed = PG_DETOAST_DATUM_PACKED(value);

		text = VARDATA_ANY(packed);
		*length = VARSIZE_ANY_EXHDR(packed);
		while (mask->keyed == BPCHAROID && *length > 0 && text[*length - 1] == ' ')
			(*length)--;
		return text;
	}
	if (mask->keyed == NUMERICOID)
		value = DirectFunctionCall1(numeric_trim_scale, value);
	text = OutputFunctionCall(&mask->output, value);
	*length = strlen(text);
	return text;
}

static bool
hmac(const Masks *masks, int key, bool kept, const char *use, const char *text, Size length, uint64 *hash)
{
	pg_hmac_ctx *context = masks->hmac[key];

	return pg_hmac_init(context, kept ? NULL : masks->key[key], kept ? 0 : MASK_KEY_LENGTH) >= 0 &&
		   pg_hmac_update(context, (const uint8 *) use, strlen(use) + 1) >= 0 &&
		   pg_hmac_update(context, (const uint8 *) text, length) >= 0 &&
		   pg_hmac_final(context, (uint8 *) hash, PG_SHA256_DIGEST_LENGTH) >= 0;
}

/*
 * Three quarters of an HMAC's time are the key's.  OpenSSL keeps what it made of it where it
 * begins again without one; PostgreSQL built without OpenSSL would take an empty key.  So it
 * is tried: kept is a key by which the same text has the same hash.
 */
static void
begin_hmac(Masks *masks, int key)
{
	uint64 given[4], kept[4];

	masks->hmac[key] = pg_hmac_create(PG_SHA256);
	if (masks->hmac[key] == NULL || !hmac(masks, key, false, "kanon", "", 0, given))
		elog(ERROR, "could not compute HMAC: %s", pg_hmac_error(masks->hmac[key]));
	masks->hmac_keeps[key] =
		hmac(masks, key, true, "kanon", "", 0, kept) && memcmp(given, kept, sizeof(given)) == 0;
}

/* HMAC of a value's text, which is of a mask's own use of the key. */
static void
hash_text(Masks *masks, Mask *mask, Datum value, uint64 *hash)
{
	const char *use = mask->kind == MASK_SHIFT ? "kanon shift" : mask->column->name;
	Size length;
	const char *text = text_of(mask, value, &length);

	if (!hmac(masks, mask->lasting, masks->hmac_keeps[mask->lasting], use, text, length, hash))
		elog(ERROR, "could not compute HMAC: %s", pg_hmac_error(masks->hmac[mask->lasting]));
}

const uint64 *
mask_key_hash(Masks *masks, Mask *mask, Datum value)
{
	uint64 key[BYTES_WORDS];
	bool keeps = value_key(mask, value, key);

	if (keeps)
	{
		const uint64 *slot = memo_find(mask->memo, key);

		if (slot_has(mask->memo, slot, key))
			return slot + mask->memo->key;
	}
	hash_text(masks, mask, value, mask->hash);
	if (mask->kind == MASK_PSEUDONYM)
	{
		uint8 *bytes = (uint8 *) mask->hash;

		bytes[6] = 0x80 | (bytes[6] & 0x0f); /* version and variant of RFC 9562 */
		bytes[8] = 0x80 | (bytes[8] & 0x3f);
		note_issued(masks, mask, mask->hash);
	}
	if (keeps)
		memo_keep(mask->memo, key, mask->hash, masks->border);
	return mask->hash;
}

void
mask_key_expect(const Mask *mask, Datum value)
{
	uint64 key[BYTES_WORDS];

	if (value_key(mask, value, key))
		__builtin_prefetch(memo_slot(mask->memo, key_hash(mask->memo, key)));
}

void
mask_key_begin(Masks *masks, Mask *mask, const SourceColumn *column)
{
	Oid function;
	bool isvarlena;

	if (masks->hmac[mask->lasting] == NULL)
		begin_hmac(masks, mask->lasting);
	mask->keyed = getBaseType(column->type);
	get_typlenbyval(column->type, &mask->keyed_length, &mask->keyed_byval);
	getTypeOutputInfo(column->type, &function, &isvarlena);
	fmgr_info(function, &mask->output);
	mask->memo = MemoryContextAlloc(masks->border->context, sizeof(MaskMemo));
	mask->memo->slots = FIRST_SLOTS;
	mask->memo->key = mask->keyed_byval ? 1 : BYTES_WORDS;
	mask->memo->stride = mask->memo->key + (mask->kind == MASK_SHIFT ? 1 : 2);
	memo_begin(mask->memo, masks->border);
	if (mask->kind == MASK_PSEUDONYM)
		mask->issued = issued_create(masks->border->context, 256, NULL);
}

void
mask_key_end(Masks *masks, Mask *mask)
{
	if (mask->memo != NULL)
	{
		border_pfree(masks->border, mask->memo->block);
		pfree(mask->memo);
		mask->memo = NULL;
	}
	if (mask->issued != NULL)
	{
		issued_destroy(mask->issued);
		border_charge(masks->border, mask->charged, 0);
		mask->issued = NULL;
		mask->charged = 0;
	}
}

void
mask_key_forget(Masks *masks)
{
	for (int key = 0; key < 2; key++)
	{
		explicit_bzero(masks->key[key], MASK_KEY_LENGTH);
		pg_hmac_free(masks->hmac[key]);
		masks->hmac[key] = NULL;
	}
}
