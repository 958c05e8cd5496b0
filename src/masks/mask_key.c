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
#include "core/util/number.h"
#include "masks/mask_apply.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/sha2.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* ---- what was issued ---- */

/*
 * A number that stands for a value, and whose it is by bytes of the same hash that are not shown.  Numbers have 63 bits;
 * of uuids, which have 122, two that agree are not to be expected.
 */
typedef struct Issued
{
	uint64 shown;
	uint64 hidden;
} Issued;

/*
 * Looked up one by one they would be anywhere in a large table.  So they are put aside by their
 * first byte, and each part, which is small, is looked through at the end.  Before it takes more
 * room than PART_ROOM, it is looked through for those that were issued again.
 */
#define PARTS 256
#define PART_ROOM 16384

typedef struct IssuedPart
{
	Issued *issued;
	Size n;
	Size room;
} IssuedPart;

#define ST_SORT sort_issued
#define ST_ELEMENT_TYPE Issued
#define ST_COMPARE(a, b)                                           \
	((a)->shown != (b)->shown ? ((a)->shown < (b)->shown ? -1 : 1) \
							  : ((a)->hidden > (b)->hidden) - ((a)->hidden < (b)->hidden))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void
look_through(const Mask *mask, IssuedPart *part)
{
	Size n = 0;

	CHECK_FOR_INTERRUPTS();
	sort_issued(part->issued, part->n);
	for (Size i = 0; i < part->n; i++)
	{
		const Issued *last = n > 0 ? &part->issued[n - 1] : NULL;

		if (last == NULL || last->shown != part->issued[i].shown)
			part->issued[n++] = part->issued[i];
		else if (last->hidden != part->issued[i].hidden)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("two values of column \"%s\" would have one pseudonym", mask->column->name),
					 errhint("Run the call again: pseudonyms are drawn anew.")));
	}
	part->n = n;
}

static void
note_issued(const Masks *masks, const Mask *mask, const uint64 *hash)
{
	uint64 shown = FAULT(pseudonym_shared) ? 0 : (uint64) pseudonym_number(hash);
	IssuedPart *part = &mask->keyed.issued[shown >> 56];

	if (part->n == part->room)
	{
		if (part->room >= PART_ROOM)
			look_through(mask, part);
		if (part->n >= part->room / 2)
			part->issued =
				border_grow(masks->border, part->issued, &part->room, part->room + 1, sizeof(Issued));
	}
	part->issued[part->n++] = (Issued){shown, hash[2]};
}

static void
end_issued(Masks *masks, Mask *mask)
{
	for (int i = 0; i < PARTS; i++)
	{
		if (mask->keyed.issued[i].issued == NULL)
			continue;
		look_through(mask, &mask->keyed.issued[i]);
		border_pfree(masks->border, mask->keyed.issued[i].issued);
	}
	pfree(mask->keyed.issued);
	mask->keyed.issued = NULL;
}

/* ---- what is remembered ---- */

#define FIRST_SLOTS 1024
#define GROWTH 4
#define MOST_SLOTS 262144
#define WAYS 8
#define LINE 64 /* bytes of a cache line: of one, two or four slots */

/* Words of a value's bytes, the first of which is their number: a slot of them is a cache line. */
#define BYTES_WORDS 6

/*
 * Where nearly every row has a value of its own nothing is won: of so many values at least one
 * row in so many has to have been of a value that was met before.
 */
#define JUDGED_SLOTS 65536
#define LEAST_MET 16

struct MaskMemo
{
	void *block;
	uint64 *words; /* [slots][stride]: the value, then its hash; its first word 0: empty */
	uint32 slots;  /* a power of 2 */
	uint32 used;
	uint64 met; /* values that it had */
	bool off;   /* they were too few */
	int key;    /* words of the value: 1 when it is no pointer */
	int stride; /* and of its hash, filled up to a part of a cache line */
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
	uint64 in_line = LINE / sizeof(uint64) / memo->stride - 1;
	uint64 *slot = NULL;

	/* all of its line first, then those of the next */
	for (uint64 i = 0; i < WAYS; i++)
	{
		slot = memo_slot(memo, ((place + (i & ~in_line)) & ~in_line) | ((place + i) & in_line));
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

	memo->slots *= GROWTH;
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

	if (memo->used >= memo->slots / 4 * 3 && memo->slots < MOST_SLOTS)
	{
		memo->off = memo->slots == JUDGED_SLOTS && memo->met < memo->used / LEAST_MET;
		if (memo->off)
			return;
		memo_grow(memo, border);
	}
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
	Size length = mask->keyed.length;

	if (mask->keyed.byval)
	{
		*key = (uint64) value;
		return true;
	}
	if (mask->keyed.length == -1)
	{
		const void *packed = PG_DETOAST_DATUM_PACKED(value);

		bytes = VARDATA_ANY(packed);
		length = VARSIZE_ANY_EXHDR(packed);
	}
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

	if (mask->keyed.type == TEXTOID || mask->keyed.type == VARCHAROID || mask->keyed.type == BPCHAROID)
	{
		const void *packed = PG_DETOAST_DATUM_PACKED(value);

		text = VARDATA_ANY(packed);
		*length = VARSIZE_ANY_EXHDR(packed);
		while (mask->keyed.type == BPCHAROID && *length > 0 && text[*length - 1] == ' ')
			(*length)--;
		return text;
	}
	if (mask->keyed.type == NUMERICOID)
		value = DirectFunctionCall1(numeric_trim_scale, value);
	text = OutputFunctionCall(&mask->keyed.output, value);
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

static void
must_hmac(Masks *masks, int key, bool keeps, const char *use, const char *text, Size length, uint64 *hash)
{
	if (masks->hmac[key] == NULL || !hmac(masks, key, keeps, use, text, length, hash))
		elog(ERROR, "could not compute HMAC: %s", pg_hmac_error(masks->hmac[key]));
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
	must_hmac(masks, key, false, "kanon", "", 0, given);
	masks->hmac_keeps[key] =
		hmac(masks, key, true, "kanon", "", 0, kept) && memcmp(given, kept, sizeof(given)) == 0;
}

/* HMAC of a value's text, which is of a mask's own use of the key. */
static void
hash_text(Masks *masks, Mask *mask, Datum value, uint64 *hash)
{
	const char *use = mask->kind == MASK_SHIFT                               ? "kanon shift"
					  : mask->person != NULL && mask->kind != MASK_PSEUDONYM ? "kanon draw"
					  : mask->group != NULL                                  ? mask->group
																			 : mask->column->name;
	Size length;
	const char *text = text_of(mask, value, &length);

	must_hmac(masks, mask->lasting, masks->hmac_keeps[mask->lasting], use, text, length, hash);
}

/* Version and variant of RFC 9562. */
static void
mark_version(uint8 *uuid)
{
	uuid[6] = 0x80 | (uuid[6] & 0x0f);
	uuid[8] = 0x80 | (uuid[8] & 0x3f);
}

const uint64 *
mask_key_hash(Masks *masks, Mask *mask, Datum value)
{
	uint64 key[BYTES_WORDS];
	MaskMemo *memo = mask->keyed.memo;
	bool keeps = !memo->off && value_key(mask, value, key);

	if (keeps)
	{
		const uint64 *slot = memo_find(memo, key);

		if (slot_has(memo, slot, key))
		{
			memo->met++;
			return slot + memo->key;
		}
	}
	hash_text(masks, mask, value, mask->keyed.hash);
	if (mask->kind == MASK_PSEUDONYM)
	{
		mark_version((uint8 *) mask->keyed.hash);
		if (mask->number)
			note_issued(masks, mask, mask->keyed.hash);
	}
	if (keeps)
		memo_keep(memo, key, mask->keyed.hash, masks->border);
	return mask->keyed.hash;
}

void
mask_key_draw(Masks *masks, Mask *mask, Datum person, const void *value, Size length, uint64 *drawn)
{
	uint64 hash[4];
	char text[2 * sizeof(uint64) + sizeof(double)];

	Assert(length <= sizeof(double));
	memcpy(text, mask_key_hash(masks, mask, person), 2 * sizeof(uint64));
	memcpy(text + 2 * sizeof(uint64), value, length);
	must_hmac(masks, mask->lasting, masks->hmac_keeps[mask->lasting],
			  length > 0 ? mask->column->name : mask->group, text, 2 * sizeof(uint64) + length, hash);
	memcpy(drawn, hash, 2 * sizeof(uint64));
}

bool
mask_key_remembers(const Mask *mask)
{
	return !mask->keyed.memo->off;
}

void
mask_key_expect(const Mask *mask, Datum value)
{
	uint64 key[BYTES_WORDS];

	if (mask_key_remembers(mask) && value_key(mask, value, key))
		__builtin_prefetch(memo_slot(mask->keyed.memo, key_hash(mask->keyed.memo, key)));
}

void
mask_key_begin(Masks *masks, Mask *mask, const SourceColumn *column)
{
	Oid function;
	bool isvarlena;

	if (masks->hmac[mask->lasting] == NULL)
		begin_hmac(masks, mask->lasting);
	mask->keyed.type = getBaseType(column->type);
	get_typlenbyval(column->type, &mask->keyed.length, &mask->keyed.byval);
	getTypeOutputInfo(column->type, &function, &isvarlena);
	fmgr_info(function, &mask->keyed.output);
	mask->keyed.memo = MemoryContextAllocZero(masks->border->context, sizeof(MaskMemo));
	mask->keyed.memo->slots = FIRST_SLOTS;
	mask->keyed.memo->key = mask->keyed.byval ? 1 : BYTES_WORDS;
	mask->keyed.memo->stride = mask->keyed.byval ? mask->kind == MASK_SHIFT ? 2 : 4 : LINE / sizeof(uint64);
	memo_begin(mask->keyed.memo, masks->border);
	if (mask->number)
		mask->keyed.issued = MemoryContextAllocZero(masks->border->context, sizeof(IssuedPart) * PARTS);
}

void
mask_key_end(Masks *masks, Mask *mask)
{
	if (mask->keyed.memo != NULL)
	{
		border_pfree(masks->border, mask->keyed.memo->block);
		pfree(mask->keyed.memo);
		mask->keyed.memo = NULL;
	}
	if (mask->keyed.issued != NULL)
		end_issued(masks, mask);
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

/* ---- without rows to write ---- */

struct Pseudonyms
{
	Masks masks;
	Mask mask;
};

Pseudonyms *
pseudonyms_begin(const bytea *key, Oid type, const char *group)
{
	Pseudonyms *pseudonyms = palloc0(sizeof(Pseudonyms));
	Oid function;
	bool isvarlena;

	Assert(VARSIZE_ANY_EXHDR(key) == MASK_KEY_LENGTH);
	memcpy(pseudonyms->masks.key[1], VARDATA_ANY(key), MASK_KEY_LENGTH);
	begin_hmac(&pseudonyms->masks, 1);
	pseudonyms->mask.kind = MASK_PSEUDONYM;
	pseudonyms->mask.lasting = true;
	pseudonyms->mask.group = psprintf("kanon group %s", group);
	pseudonyms->mask.keyed.type = getBaseType(type);
	getTypeOutputInfo(type, &function, &isvarlena);
	fmgr_info(function, &pseudonyms->mask.keyed.output);
	return pseudonyms;
}

void
pseudonym_of(Pseudonyms *pseudonyms, Datum value, uint8 *pseudonym)
{
	uint64 hash[4];

	hash_text(&pseudonyms->masks, &pseudonyms->mask, value, hash);
	memcpy(pseudonym, hash, UUID_LEN);
	mark_version(pseudonym);
}

/* (the halves have their version and variant in other places, so that all bits are the hash's) */
int64
pseudonym_number(const void *pseudonym)
{
	uint64 half[2];

	memcpy(half, pseudonym, sizeof(half));
	return (int64) ((half[0] ^ half[1]) & PG_INT64_MAX);
}

void
pseudonyms_end(Pseudonyms *pseudonyms)
{
	mask_key_forget(&pseudonyms->masks);
	pfree(pseudonyms);
}

void
masks_instead(Source *source, const List *columns, char *of)
{
	const ListCell *cell;

	foreach (cell, columns)
		for (int i = 0; i < source->nkept; i++)
			if (strcmp(source->kept[i].name, lfirst(cell)) == 0)
				source->kept[i].mask->person = of;
}
