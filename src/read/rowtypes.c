/*
 * rowtypes.c: a relation becomes row types.  Of a source the executor makes the
 * groups; a target, whose rows lie together by class, is read as it is, and each
 * run of identical rows is a group.  The groups' values become codes.
 */
#include "compat.h"
#include "core/util/hash.h"
#include "read/rowtypes.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "read/dictionary.h"
#include "read/grouping.h"

#include "executor/tuptable.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#define CHUNK_BITS 12
#define CHUNK_TYPES ((uint32) 1 << CHUNK_BITS)

/* More than any table has. */
#define MOST_ROWS (INT64CONST(1) << 48)

typedef struct GroupReceiver
{
	Source *source;
	Border *border;
	Gate *gate;

	/*
	 * Groups arrive in unknown number, so they are kept in chunks until the end,
	 * column by column, so that each can go when its final array is made.
	 */
	uint32 ***codes; /* [ngrouped][chunk][CHUNK_TYPES] */
	int64 **rows;    /* [chunk][CHUNK_TYPES] */
	uint32 nchunks;
	Size room; /* of chunks */
	uint32 ntypes;
	int64 nrows;          /* of groups */
	int nattrs;           /* attributes of a group; its count is the last */
	TupleTableSlot *last; /* when reading runs: the row that began this one */
	const RowsBeside *beside;
	Size dictionaries; /* bytes, as charged so far */
} GroupReceiver;

static void
charge_dictionaries(GroupReceiver *recv)
{
	Size now = 0;

	for (int c = 0; c < recv->source->ngrouped; c++)
		now += dictionary_memory(recv->source->qis[c].dictionary);
	border_charge(recv->border, recv->dictionaries, now);
	recv->dictionaries = now;
}

static void
add_chunk(GroupReceiver *recv)
{
	uint32 n = recv->nchunks;
	Size room;

	if (n == KANON_MAX_TYPES / CHUNK_TYPES)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("the source has more than %u row types", n * CHUNK_TYPES),
						errhint("Publish fewer or coarser quasi-identifiers.")));
	charge_dictionaries(recv);
	for (int c = 0; c < recv->source->ngrouped; c++)
	{
		room = recv->room;
		recv->codes[c] = border_grow(recv->border, recv->codes[c], &room, n + 1, sizeof(uint32 *));
	}
	recv->rows = border_grow(recv->border, recv->rows, &recv->room, n + 1, sizeof(int64 *));
	for (int c = 0; c < recv->source->ngrouped; c++)
		recv->codes[c][n] = border_palloc(recv->border, sizeof(uint32) * CHUNK_TYPES);
	recv->rows[n] = border_palloc(recv->border, sizeof(int64) * CHUNK_TYPES);
	recv->nchunks++;
	gate_tell(recv->gate);
}

/* Gives back the chunks of one column. */
static void
free_chunks(GroupReceiver *recv, void *list)
{
	if (list == NULL)
		return;
	for (uint32 i = 0; i < recv->nchunks; i++)
		border_pfree(recv->border, ((void **) list)[i]);
	border_pfree(recv->border, list);
}

static inline uint32 *
chunk_code(const GroupReceiver *recv, int c, uint32 type)
{
	return &recv->codes[c][type >> CHUNK_BITS][type & (CHUNK_TYPES - 1)];
}

static inline int64 *
chunk_rows(const GroupReceiver *recv, uint32 type)
{
	return &recv->rows[type >> CHUNK_BITS][type & (CHUNK_TYPES - 1)];
}

static void
add_group(GroupReceiver *recv, TupleTableSlot *slot, int64 rows)
{
	Source *source = recv->source;
	uint32 type = recv->ntypes;

	if ((type & (CHUNK_TYPES - 1)) == 0)
		add_chunk(recv);
	for (int c = 0; c < source->ngrouped; c++)
		*chunk_code(recv, c, type) =
			dictionary_add(source->qis[c].dictionary, slot->tts_values[c], slot->tts_isnull[c]);
	*chunk_rows(recv, type) = rows;
	recv->ntypes++;
}

/* The server of a foreign table counts for itself, and can say anything. */
static bool
receive_group(void *arg, TupleTableSlot *slot)
{
	GroupReceiver *recv = arg;
	int64 rows = slot->tts_isnull[recv->nattrs - 1] ? 0 : DatumGetInt64(slot->tts_values[recv->nattrs - 1]);

	if (rows < 1 || rows > MOST_ROWS - recv->nrows)
		ereport(ERROR, (errcode(ERRCODE_FDW_ERROR),
						errmsg("%s has groups of an impossible number of rows", recv->source->name),
						errhint("A foreign server that has the rows counted them wrongly.")));
	recv->nrows += rows;
	add_group(recv, slot, rows);
	return true;
}

static bool
same_row(const TupleTableSlot *a, const TupleTableSlot *b, int ngrouped)
{
	TupleDesc desc = a->tts_tupleDescriptor;

	for (int i = 0; i < ngrouped; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (a->tts_isnull[i] != b->tts_isnull[i])
			return false;
		if (!a->tts_isnull[i] &&
			!datum_image_eq(a->tts_values[i], b->tts_values[i], att->attbyval, att->attlen))
			return false;
	}
	return true;
}

static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	GroupReceiver *recv = arg;
	int ngrouped = recv->source->ngrouped;

	if (recv->beside != NULL)
		recv->beside->receive(recv->beside->arg, slot->tts_values + ngrouped, slot->tts_isnull + ngrouped);
	if (recv->ntypes > 0 && same_row(slot, recv->last, ngrouped))
	{
		(*chunk_rows(recv, recv->ntypes - 1))++;
		return true;
	}
	add_group(recv, slot, 1);
	ExecCopySlot(recv->last, slot);
	slot_getallattrs(recv->last);
	return true;
}

/* What comes in row by row: the columns, and what is beside them. */
static Gate *
runs_gate(const Source *source, const RowsBeside *beside)
{
	Gate *gate =
		gate_create(source->name, source->relid, source->ngrouped + (beside != NULL ? beside->n : 0));

	gate_columns(gate, source->qis, source->ngrouped);
	if (beside != NULL)
		gate_columns(gate, beside->columns, beside->n);
	return gate;
}

/* The types in ascending order of codes: a stable counting sort per column. */
static uint32 *
sort_types(GroupReceiver *recv)
{
	Source *source = recv->source;
	uint32 n = recv->ntypes;
	uint32 *order = border_palloc(recv->border, sizeof(uint32) * (Size) n);
	uint32 *next = border_palloc(recv->border, sizeof(uint32) * (Size) n);

	for (uint32 i = 0; i < n; i++)
		order[i] = i;
	for (int c = source->ngrouped - 1; c >= 0; c--)
	{
		uint32 distinct = dictionary_size(source->qis[c].dictionary);
		uint32 *start = border_palloc(recv->border, sizeof(uint32) * ((Size) distinct + 1));
		uint32 *swap;

		CHECK_FOR_INTERRUPTS();
		memset(start, 0, sizeof(uint32) * ((Size) distinct + 1));
		for (uint32 i = 0; i < n; i++)
			start[*chunk_code(recv, c, i) + 1]++;
		for (uint32 code = 0; code < distinct; code++)
			start[code + 1] += start[code];
		for (uint32 i = 0; i < n; i++)
			next[start[*chunk_code(recv, c, order[i])]++] = order[i];
		swap = order;
		order = next;
		next = swap;
		border_pfree(recv->border, start);
	}
	border_pfree(recv->border, next);
	return order;
}

/* Adds up neighbours that have the same codes. */
static void
merge_equal(RowTypes *types)
{
	uint32 last = 0;

	for (uint32 i = 1; i < types->ntypes; i++)
	{
		bool equal = true;

		for (int c = 0; c < types->source->ngrouped && equal; c++)
			equal = types->grouped[c].code[i] == types->grouped[c].code[last];
		if (equal)
			types->rows[last] += types->rows[i];
		else
		{
			last++;
			for (int c = 0; c < types->source->ngrouped; c++)
				((uint32 *) types->grouped[c].code)[last] = types->grouped[c].code[i];
			types->rows[last] = types->rows[i];
		}
	}
	types->ntypes = last + 1;
}

static RowTypes *
collect_types(GroupReceiver *recv, bool repeated)
{
	Source *source = recv->source;
	RowTypes *types = MemoryContextAllocZero(recv->border->context, sizeof(RowTypes));
	uint32 n = recv->ntypes;
	uint32 *order;

	types->source = source;
	types->ntypes = n;
	types->grouped = MemoryContextAllocZero(recv->border->context, sizeof(KanonColumn) * source->ngrouped);
	for (int c = 0; c < source->ngrouped; c++)
	{
		Dictionary *dict = source->qis[c].dictionary;
		uint32 *renumber = dictionary_sort(dict);

		for (uint32 i = 0; i < n; i++)
		{
			uint32 *code = chunk_code(recv, c, i);

			*code = renumber[*code];
		}
		pfree(renumber);
		repeated |= dictionary_has_spellings(dict);
		types->grouped[c].distinct = dictionary_size(dict);
		types->grouped[c].weight = 1;
		types->grouped[c].number = source->qis[c].numerical ? dictionary_numbers(dict) : NULL;
		types->grouped[c].has_null = dictionary_has_null(dict);
	}
	charge_dictionaries(recv);

	order = sort_types(recv);
	for (int c = 0; c < source->ngrouped; c++)
	{
		uint32 *codes = border_palloc(recv->border, sizeof(uint32) * (Size) n);

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < n; i++)
			codes[i] = *chunk_code(recv, c, order[i]);
		types->grouped[c].code = codes;
		free_chunks(recv, recv->codes[c]);
	}
	types->rows = border_palloc(recv->border, sizeof(int64) * (Size) n);
	for (uint32 i = 0; i < n; i++)
	{
		types->rows[i] = *chunk_rows(recv, order[i]);
		types->nrows += types->rows[i];
	}
	free_chunks(recv, recv->rows);
	border_pfree(recv->border, order);
	if (repeated && n > 0)
		merge_equal(types);
	types->columns = types->grouped;
	return types;
}

/* How the groups come about, and what is seen. */
typedef enum ReadMode
{
	READ_SOURCE,  /* grouped, under the active snapshot */
	READ_WRITTEN, /* grouped, what this transaction has written */
	READ_RUNS     /* the same row by row: equal neighbours are a group */
} ReadMode;

static RowTypes *
read_types(Source *source, Border *border, ReadMode mode, const RowsBeside *beside)
{
	bool runs = mode == READ_RUNS;
	GroupReceiver recv = {.source = source, .border = border, .beside = runs ? beside : NULL};
	Gate *gate;
	RowTypes *types;

	for (int c = 0; c < source->ngrouped; c++)
		source->qis[c].dictionary = dictionary_create(border->context, &source->qis[c]);
	gate = runs ? runs_gate(source, recv.beside) : grouping_gate(source);
	recv.nattrs = gate->desc->natts;
	recv.codes = palloc0(sizeof(uint32 **) * source->ngrouped);
	gate_watch(gate, border, mode == READ_SOURCE ? "reading" : "verifying");
	recv.gate = gate;
	if (runs)
	{
		recv.last = MakeSingleTupleTableSlot(gate->desc, &TTSOpsMinimalTuple);
		gate_select(gate,
					psprintf("SELECT %s%s%s FROM %s", column_list(source->qis, source->ngrouped),
							 beside != NULL ? ", " : "",
							 beside != NULL ? column_list(beside->columns, beside->n) : "", source->name),
					false, receive_row, &recv);
		ExecDropSingleTupleTableSlot(recv.last);
	}
	else
	{
		int nest = grouping_begin();

		gate_select(gate, grouping_query(source, gate), mode == READ_SOURCE, receive_group, &recv);
		grouping_end(nest);
	}
	types = collect_types(&recv, runs);
	if (beside != NULL && !runs)
		rows_read_written(source->name, source->relid, beside);
	return types;
}

static bool
show_beside(void *arg, TupleTableSlot *slot)
{
	const RowsBeside *beside = arg;

	beside->receive(beside->arg, slot->tts_values, slot->tts_isnull);
	return true;
}

void
rows_read_written(const char *name, Oid relid, const RowsBeside *beside)
{
	Gate *gate = gate_create(name, relid, beside->n);

	gate_columns(gate, beside->columns, beside->n);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(beside->columns, beside->n), name), false,
				show_beside, unconstify(RowsBeside *, beside));
}

RowTypes *
rowtypes_read(Source *source, Border *border)
{
	return read_types(source, border, READ_SOURCE, NULL);
}

RowTypes *
rowtypes_read_written(Source *source, const RowsBeside *beside, Border *border)
{
	bool grouped = source->scattered || source->ngrouped > source->nqis;

	return read_types(source, border, grouped ? READ_WRITTEN : READ_RUNS, beside);
}

/* ---- looking a row's type up again ---- */

/*
 * A table of its own: four bytes a slot. simplehash.h takes twice to three times that, and
 * with a million types and kept columns a seventh more time in all.
 */
struct TypeIndex
{
	const RowTypes *types;
	uint32 mask;   /* slots - 1 */
	uint32 *slots; /* type or DICTIONARY_NONE */
};

TypeIndex *
type_index_create(const RowTypes *types, Border *border)
{
	TypeIndex *index = MemoryContextAlloc(border->context, sizeof(TypeIndex));
	Size nslots = (Size) 1 << (pg_leftmost_one_pos64((uint64) types->ntypes * 3 / 2 + 1) + 1);

	index->types = types;
	index->mask = (uint32) (nslots - 1);
	index->slots = border_palloc(border, sizeof(uint32) * nslots);
	memset(index->slots, 0xff, sizeof(uint32) * nslots);
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		uint64 at = 0;

		for (int c = 0; c < types->source->ngrouped; c++)
			at = kanon_hash_add(at, types->grouped[c].code[i]);
		at &= index->mask;
		while (index->slots[at] != DICTIONARY_NONE)
			at = (at + 1) & index->mask;
		index->slots[at] = i;
	}
	return index;
}

uint32
type_index_find(const TypeIndex *index, const uint32 *codes)
{
	const RowTypes *types = index->types;
	uint64 at = 0;
	uint32 type;

	for (int c = 0; c < types->source->ngrouped; c++)
		at = kanon_hash_add(at, codes[c]);
	at &= index->mask;
	while ((type = index->slots[at]) != DICTIONARY_NONE)
	{
		int c = 0;

		while (c < types->source->ngrouped && types->grouped[c].code[type] == codes[c])
			c++;
		if (c == types->source->ngrouped)
			return type;
		at = (at + 1) & index->mask;
	}
	return DICTIONARY_NONE;
}
