/*
 * type_table.h: row types by their values.
 */
#ifndef KANON_TYPE_TABLE_H
#define KANON_TYPE_TABLE_H

#include "host/border.h"
#include "rows/dictionary.h"
#include "rows/source.h"

/* They are kept in chunks of so many. */
#define CHUNK_BITS 12
#define CHUNK_TYPES ((uint32) 1 << CHUNK_BITS)

/* Open addressing, 8 bytes a slot. */
typedef struct TypeTable
{
	Border *border;
	RowAtHand *row;
	uint32 ***chunks; /* [type >> CHUNK_BITS][column][the other bits], or */
	uint32 *codes;    /* [type][column], which fetches a type's codes at once */
	uint32 used;
	uint32 mask;   /* slots - 1 */
	uint64 *slots; /* hash and type, or EMPTY_SLOT */
} TypeTable;

#define EMPTY_SLOT PG_UINT64_MAX
#define FIRST_SLOTS 1024

static inline void
table_begin(TypeTable *table, Border *border, const Source *source, Size nslots)
{
	memset(table, 0, sizeof(TypeTable));
	table->border = border;
	table->row = row_at_hand(source->qis, source->ngrouped);
	table->mask = (uint32) (nslots - 1);
	table->slots = border_palloc(border, sizeof(uint64) * nslots);
	memset(table->slots, 0xff, sizeof(uint64) * nslots);
}

static inline bool
table_has(const TypeTable *table, uint32 type)
{
	if (table->codes != NULL)
		return row_has(table->row, &table->codes[(Size) type * table->row->n]);
	return row_is(table->row, table->chunks[type >> CHUNK_BITS], type & (CHUNK_TYPES - 1));
}

/* The type of the row at hand, or DICTIONARY_NONE. */
static inline uint32
table_find(const TypeTable *table, uint32 hash)
{
	uint64 slot;

	for (uint32 at = hash & table->mask; (slot = table->slots[at]) != EMPTY_SLOT; at = (at + 1) & table->mask)
		if (slot >> 32 == hash && table_has(table, (uint32) slot))
			return (uint32) slot;
	return DICTIONARY_NONE;
}

static inline void
table_store(TypeTable *table, uint64 slot)
{
	uint32 at = (uint32) (slot >> 32) & table->mask;

	while (table->slots[at] != EMPTY_SLOT)
		at = (at + 1) & table->mask;
	table->slots[at] = slot;
}

static inline void
table_put(TypeTable *table, uint32 hash, uint32 type)
{
	Size nslots = (Size) table->mask + 1;
	uint64 *before = table->slots;

	if ((Size) table->used * 3 >= nslots * 2)
	{
		table->slots = border_palloc(table->border, sizeof(uint64) * 2 * nslots);
		memset(table->slots, 0xff, sizeof(uint64) * 2 * nslots);
		table->mask = (uint32) (2 * nslots - 1);
		for (Size i = 0; i < nslots; i++)
			if (before[i] != EMPTY_SLOT)
				table_store(table, before[i]);
		border_pfree(table->border, before);
	}
	table_store(table, (uint64) hash << 32 | type);
	table->used++;
}

#endif
