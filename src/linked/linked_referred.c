/*
 * linked_referred.c: a table to which rows of persons refer, counted as columns of these rows.
 *
 * In a release each row that refers has a row of its own there; in other tables several may share one.
 */
#include "compat.h"
#include "host/gate.h"
#include "linked/linked_recount.h"

#include "utils/builtins.h"

typedef struct References
{
	Recount *recount;
	const RecountTable *from;
	const RecountTable *to;
	uint32 *row; /* of each row of the one table as it was read, that of the other */
} References;

static bool
receive_reference(void *arg, TupleTableSlot *slot)
{
	References *references = arg;
	const Datum *values = slot->tts_values;
	uint32 row =
		slot->tts_isnull[0] ? DICTIONARY_NONE : dictionary_find(references->from->keys, values[0], false);

	/* (a row that belongs to nobody was counted) */
	if (row == DICTIONARY_NONE)
		return true;
	references->row[row] =
		slot->tts_isnull[1] ? DICTIONARY_NONE : dictionary_find(references->to->keys, values[1], false);
	/* in a release no row refers to nothing */
	if (references->row[row] == DICTIONARY_NONE &&
		(!slot->tts_isnull[1] || references->to->like->run != NULL))
		references->recount->found.dangling++;
	return true;
}

static void
read_references(References *references)
{
	const LinkedTable *from = references->from->like;
	const char *names[2] = {from->key, references->to->like->reference};
	const Source *source = source_open_kept(from->relid, name_list(names, 2));
	Gate *gate = gate_create(source->name, source->relid, 2);

	gate_columns(gate, source->kept, 2);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, 2), source->name), false,
				receive_reference, references);
}

/* The rows of the parent's table that refer to each row of this one, on which others hang. */
static void
note_sharers(Recount *recount, RecountTable *table)
{
	const RecountTable *from = &recount->tables[table->parent];
	uint32 read = dictionary_size(table->keys);

	table->sharers = border_palloc(recount->border, sizeof(uint32) * Max(read, 1));
	table->sharer = border_palloc(recount->border, sizeof(uint32) * Max(from->n, 1));
	memset(table->sharers, 0xff, sizeof(uint32) * read);
	for (uint32 r = from->n; r-- > 0;)
	{
		uint32 row = table->row_of[r];

		if (row == DICTIONARY_NONE)
			continue;
		table->sharer[r] = table->sharers[row];
		table->sharers[row] = r;
	}
}

void
linked_copy_rows(Recount *recount, int t)
{
	RecountTable *table = &recount->tables[t];
	const RecountTable *from = &recount->tables[table->parent];
	/* (a table of copies has as many rows as were read of it, which rows may share) */
	uint32 read = dictionary_size(from->keys);
	References references = {recount, from, table,
							 border_palloc(recount->border, sizeof(uint32) * Max(read, 1))};
	uint32 *tuple = border_palloc(recount->border, sizeof(uint32) * Max(from->n, 1));
	uint32 *values = table->nvalues > 0
						 ? border_palloc(recount->border, sizeof(uint32) * Max(from->n, 1) * table->nvalues)
						 : NULL;

	memset(references.row, 0xff, sizeof(uint32) * read);
	read_references(&references);
	table->above = border_palloc(recount->border, sizeof(uint32) * Max(from->n, 1));
	table->row_of = border_palloc(recount->border, sizeof(uint32) * Max(from->n, 1));
	for (uint32 r = 0; r < from->n; r++)
	{
		uint32 one = from->like->reference != NULL ? from->row_of[r] : from->copy_of[r];
		uint32 row = one == DICTIONARY_NONE ? DICTIONARY_NONE : references.row[one];

		table->above[r] = r;
		table->row_of[r] = row;
		/* (rows that refer to nothing are alike) */
		tuple[r] = row == DICTIONARY_NONE ? recount->groups : table->tuple[row];
		for (int c = 0; c < table->nvalues; c++)
			values[(Size) r * table->nvalues + c] =
				row == DICTIONARY_NONE ? 0 : table->values[(Size) row * table->nvalues + c];
	}
	if (table->like->shared.on)
		note_sharers(recount, table);
	table->groups++;
	recount->tables[table->parent].copied = true;
	table->tuple = tuple;
	table->values = values;
	table->n = from->n;
}
