/*
 * worker_row_types.c: row types that Citus workers have reported so far (coordinator).
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "host/secure_random.h"
#include "rows/dictionary.h"
#include "rows/row_types.h"

#include "common/hashfn.h"

#define SH_PREFIX hashes
#define SH_ELEMENT_TYPE Told
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(table, key) ((uint32) (key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct ToldTypes
{
	Border *border;
	RandomPool random;
	uint64 seed;
	hashes_hash *hashes;
	Size charged;
	bool iterating;
	hashes_iterator at;
};

ToldTypes *
told_begin(Border *border)
{
	ToldTypes *types = palloc0(sizeof(ToldTypes));

	types->border = border;
	types->seed = random_draw(&types->random);
	types->hashes = hashes_create(border->context, FIRST_SLOTS, NULL);
	return types;
}

Told *
told_add(ToldTypes *types, bytea *value, int64 rows)
{
	bool found;
	Told *told = hashes_insert(types->hashes, packed_told(value), &found);

	border_charge(types->border, types->charged, types->hashes->size * sizeof(Told));
	types->charged = types->hashes->size * sizeof(Told);
	if (!found)
	{
		told->rows = 0;
		told->type = DICTIONARY_NONE;
	}
	told->rows += rows;
	return told;
}

uint64
told_bytes(const ToldTypes *types, bytea *value)
{
	return DatumGetUInt64(
		hash_any_extended((unsigned char *) VARDATA_ANY(value), (int) VARSIZE_ANY_EXHDR(value), types->seed));
}

Told *
told_next(ToldTypes *types)
{
	if (!types->iterating)
		hashes_start_iterate(types->hashes, &types->at);
	types->iterating = true;
	return hashes_iterate(types->hashes, &types->at);
}

void
told_end(ToldTypes *types)
{
	hashes_destroy(types->hashes);
	border_charge(types->border, types->charged, 0);
	pfree(types);
}
