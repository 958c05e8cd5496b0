/*
 * type_table.c: finds the row type of a row by its values, when the source is read again.
 */
#include "compat.h"
#include "rows/row_types.h"

#include "port/pg_bitutils.h"

struct TypeIndex
{
	TypeTable table;
	const RowTypes *types;
	Border *border;
	bool filled; /* types can be found by values: it takes a row that comes at another place than before */
	Size row;    /* of those that were asked for */
};

/* So many rows ahead codes are fetched. */
#define ROWS_AHEAD 4

TypeIndex *
type_index_create(const RowTypes *types, Border *border)
{
	int n = types->source->ngrouped;
	TypeIndex *index = MemoryContextAllocZero(border->context, sizeof(TypeIndex));
	TypeTable *table = &index->table;

	index->types = types;
	index->border = border;
	table->row = row_at_hand(types->source->qis, n);
	table->codes = border_palloc(border, sizeof(uint32) * n * (Size) Max(types->ntypes, 1));
	for (int c = 0; c < n; c++)
		for (uint32 i = 0; i < types->ntypes; i++)
			table->codes[(Size) i * n + c] = types->grouped[c].code[i];
	return index;
}

static void
fill(TypeIndex *index)
{
	const RowTypes *types = index->types;
	TypeTable *table = &index->table;
	uint32 *codes = table->codes;
	int n = types->source->ngrouped;
	MemoryContext old = MemoryContextSwitchTo(index->border->context); /* rows come in one of their own */
	Datum *values = palloc(sizeof(Datum) * n);
	bool *nulls = palloc(sizeof(bool) * n);

	table_begin(table, index->border, types->source,
				(Size) 1 << (pg_leftmost_one_pos64((uint64) types->ntypes * 3 / 2 + 1) + 1));
	table->codes = codes;
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		for (int c = 0; c < n; c++)
			values[c] =
				dictionary_value(types->source->qis[c].dictionary, codes[(Size) i * n + c], &nulls[c]);
		/* (what is not even equal to itself is never found) */
		if (row_take(table->row, values, nulls, false))
			table_put(table, row_hash(table->row), i);
		row_leave(table->row);
	}
	pfree(values);
	pfree(nulls);
	MemoryContextSwitchTo(old);
	index->filled = true;
}

/* The type that the row had that came at this place before, if it has it still; else DICTIONARY_NONE. */
static inline uint32
find_in_sequence(TypeIndex *index)
{
	const RowTypes *types = index->types;
	const TypeTable *table = &index->table;
	Size at = index->row++;

	if (at >= types->nsequence)
		return DICTIONARY_NONE;
	if (at + ROWS_AHEAD < types->nsequence)
		__builtin_prefetch(&table->codes[(Size) types->sequence[at + ROWS_AHEAD] * table->row->n]);
	return table_has(table, types->sequence[at]) ? types->sequence[at] : DICTIONARY_NONE;
}

static uint32
find_by_values(TypeIndex *index, const Datum *values, const bool *nulls)
{
	if (!index->filled)
	{
		row_leave(index->table.row);
		fill(index);
		(void) row_take(index->table.row, values, nulls, false);
	}
	return table_find(&index->table, row_hash(index->table.row));
}

uint32
type_index_find(TypeIndex *index, const Datum *values, const bool *nulls)
{
	uint32 type = DICTIONARY_NONE;

	if (row_take(index->table.row, values, nulls, false))
	{
		type = find_in_sequence(index);
		if (type == DICTIONARY_NONE)
			type = find_by_values(index, values, nulls);
	}
	row_leave(index->table.row);
	return type;
}

RowTypes *
rowtypes_without_last(const RowTypes *types, uint32 *without, Border *border)
{
	RowTypes *fewer = palloc0(sizeof(RowTypes));
	int n = types->source->ngrouped - 1;
	uint32 **code = palloc(sizeof(uint32 *) * n);

	fewer->source = palloc(sizeof(Source));
	*fewer->source = *types->source;
	fewer->source->ngrouped = n;
	fewer->grouped = palloc0(sizeof(KanonColumn) * n);
	for (int c = 0; c < n; c++)
		fewer->grouped[c].code = code[c] = border_palloc(border, sizeof(uint32) * Max(types->ntypes, 1));
	/* types are sorted: those that are one come one after the other */
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		bool same = i > 0;

		for (int c = 0; c < n && same; c++)
			same = types->grouped[c].code[i] == types->grouped[c].code[i - 1];
		for (int c = 0; c < n && !same; c++)
			code[c][fewer->ntypes] = types->grouped[c].code[i];
		fewer->ntypes += !same;
		without[i] = fewer->ntypes - 1;
	}
	return fewer;
}
