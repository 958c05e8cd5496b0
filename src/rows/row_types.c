/*
 * row_types.c: a relation becomes row types.
 *
 * kanon groups rows of this server's own tables, and rows that are read once (target.h), as they
 * come: the row types have to fit into memory anyway, and comparing a row by its bytes takes a
 * third of the executor's time.  The executor groups all other sources.
 */
#include "compat.h"
#include "core/util/number.h"
#include "rows/row_types.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "distributed/distributed.h"
#include "rows/target.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "utils/builtins.h"

typedef struct GroupReceiver
{
	Source *source;
	Border *border;
	Gate *gate;

	/*
	 * Groups arrive in unknown number, so they are kept in chunks until the end,
	 * column by column, so that each can go when its final array is made.
	 */
	uint32 ***codes; /* [chunk][ngrouped][CHUNK_TYPES] */
	int64 **rows;    /* [chunk][CHUNK_TYPES] */
	uint32 nchunks;
	Size room; /* of chunks */
	uint32 ntypes;
	int64 nrows;
	int nattrs;       /* attributes of a group; its count is the last */
	uint32 last;      /* row by row: the type of the last one */
	TypeTable table;  /* and types by values */
	bool noting;      /* of rows that will be read again, the types in the order in which they come: */
	uint32 *sequence; /* [nsequence] */
	Size nsequence;
	Size sequence_room;
	const RowsBeside *beside;
	Waiting *waiting;  /* of rows that will not be read again; or NULL */
	Size dictionaries; /* bytes, as charged so far */
	Size limit;        /* of all that kanon has in memory; 0: none but the budget's */
	bool full;         /* it was reached */
	bool unsorted;     /* nobody asks in which order types and codes are */
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
	room = recv->room;
	recv->codes = border_grow(recv->border, recv->codes, &room, n + 1, sizeof(uint32 **));
	recv->codes[n] = border_palloc(recv->border, sizeof(uint32 *) * recv->source->ngrouped);
	recv->rows = border_grow(recv->border, recv->rows, &recv->room, n + 1, sizeof(int64 *));
	for (int c = 0; c < recv->source->ngrouped; c++)
		recv->codes[n][c] = border_palloc(recv->border, sizeof(uint32) * CHUNK_TYPES);
	recv->rows[n] = border_palloc(recv->border, sizeof(int64) * CHUNK_TYPES);
	recv->nchunks++;
	gate_tell(recv->gate);
}

static inline uint32 *
chunk_code(const GroupReceiver *recv, int c, uint32 type)
{
	return &recv->codes[type >> CHUNK_BITS][c][type & (CHUNK_TYPES - 1)];
}

static inline int64 *
chunk_rows(const GroupReceiver *recv, uint32 type)
{
	return &recv->rows[type >> CHUNK_BITS][type & (CHUNK_TYPES - 1)];
}

/* Types between two looks at what they have taken. */
#define LOOK_TYPES 64

/* Have they taken too much? */
static bool
is_over(const GroupReceiver *recv)
{
	Size taken = recv->border->used - recv->dictionaries;

	for (int c = 0; c < recv->source->ngrouped; c++)
		taken += dictionary_memory(recv->source->qis[c].dictionary);
	return taken > recv->limit;
}

static void
add_group(GroupReceiver *recv, const Datum *values, const bool *nulls, int64 rows)
{
	Source *source = recv->source;
	uint32 type = recv->ntypes;

	if ((type & (CHUNK_TYPES - 1)) == 0)
		add_chunk(recv);
	for (int c = 0; c < source->ngrouped; c++)
		*chunk_code(recv, c, type) = dictionary_add(source->qis[c].dictionary, values[c], nulls[c]);
	*chunk_rows(recv, type) = rows;
	recv->ntypes++;
	if (recv->limit > 0 && recv->ntypes % LOOK_TYPES == 0)
		recv->full = is_over(recv);
}

static int64
group_count(GroupReceiver *recv, const TupleTableSlot *slot)
{
	int64 rows = grouping_count(recv->source, slot, recv->nattrs - 1, recv->nrows);

	recv->nrows += rows;
	return rows;
}

static bool
receive_group(void *arg, TupleTableSlot *slot)
{
	GroupReceiver *recv = arg;

	if (grouping_sampled(recv->source, slot, recv->nattrs - 1))
		return true;
	add_group(recv, slot->tts_values, slot->tts_isnull, group_count(recv, slot));
	return !recv->full;
}

/* The share of the memory limit that rows may take beside row types: one part in so many. */
#define SEQUENCE_SHARE 16

/* The first rows alone are worth it, too. */
static void
note_row(GroupReceiver *recv)
{
	Size most = recv->border->limit / SEQUENCE_SHARE / sizeof(uint32);

	if (recv->nsequence < recv->sequence_room ||
		(recv->sequence_room < most / 2 &&
		 kanon_enlarge(&recv->border->env, &recv->sequence, &recv->sequence_room, recv->nsequence + 1,
					   sizeof(uint32))))
		recv->sequence[recv->nsequence++] = recv->last;
	else
		recv->noting = false;
}

/* Equal rows often lie together, those of a target do. */
static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	GroupReceiver *recv = arg;
	TypeTable *table = &recv->table;
	int ngrouped = recv->source->ngrouped;

	if (recv->beside != NULL)
		recv->beside->receive(recv->beside->arg, slot->tts_values + ngrouped, slot->tts_isnull + ngrouped);
	row_take(table->row, slot->tts_values, slot->tts_isnull, true);
	if (recv->ntypes == 0 || !table_has(table, recv->last))
	{
		uint32 hash = row_hash(table->row);

		recv->last = table_find(table, hash);
		if (recv->last == DICTIONARY_NONE)
		{
			recv->last = recv->ntypes;
			add_group(recv, slot->tts_values, slot->tts_isnull, 0);
			table->chunks = recv->codes;
			table_put(table, hash, recv->last);
		}
	}
	(*chunk_rows(recv, recv->last))++;
	recv->nrows++;
	if (recv->noting)
		note_row(recv);
	if (recv->waiting != NULL)
		waiting_put(recv->waiting, recv->last, slot->tts_values + ngrouped, slot->tts_isnull + ngrouped);
	row_leave(table->row);
	return !recv->full;
}

/* The rows as they come in: the columns, and what is beside them. */
static Gate *
rows_gate(const Source *source, const RowsBeside *beside)
{
	Gate *gate =
		gate_create(source->name, source->relid, source->ngrouped + (beside != NULL ? beside->n : 0));

	gate_columns(gate, source->qis, source->ngrouped);
	if (beside != NULL)
		gate_columns(gate, beside->columns, beside->n);
	return gate;
}

/* From now on a column's codes ascend in the type's order. */
static void
renumber(GroupReceiver *recv, int c)
{
	uint32 *number = dictionary_sort(recv->source->qis[c].dictionary);

	for (uint32 i = 0; i < recv->ntypes; i++)
	{
		uint32 *code = chunk_code(recv, c, i);

		*code = number[*code];
	}
	pfree(number);
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

/* Adds up neighbours that have the same codes; place: what becomes of each, or NULL. */
static void
merge_equal(RowTypes *types, uint32 *place)
{
	uint32 last = 0;

	if (place != NULL)
		place[0] = 0;
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
		if (place != NULL)
			place[i] = last;
	}
	types->ntypes = last + 1;
}

/* The numbers that types have when they are sorted, as they are where rows are looked at again. */
static uint32 *
numbers_of(GroupReceiver *recv, const uint32 *order)
{
	uint32 *number = border_palloc(recv->border, sizeof(uint32) * (Size) recv->ntypes);

	Assert(order != NULL);
	for (uint32 i = 0; i < recv->ntypes; i++)
		number[order[i]] = i;
	return number;
}

static void
collect_sequence(GroupReceiver *recv, const uint32 *order, RowTypes *types)
{
	uint32 *number = numbers_of(recv, order);

	for (Size i = 0; i < recv->nsequence; i++)
		recv->sequence[i] = number[recv->sequence[i]];
	types->sequence = recv->sequence;
	types->nsequence = recv->nsequence;
	border_pfree(recv->border, number);
}

static void
collect_waiting(GroupReceiver *recv, const uint32 *order, const uint32 *place, RowTypes *types)
{
	uint32 *number = numbers_of(recv, order);

	for (uint32 i = 0; i < recv->ntypes && place != NULL; i++)
		number[i] = place[number[i]];
	waiting_renumber(recv->waiting, number);
	types->waiting = recv->waiting;
}

/* Pairs of so many rows are counted exactly by doubles, in whatever order. */
#define MOST_UNSORTED (1 << 26)

static void
raise_unknown_types(void)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("the rows that were set aside have other row types than workers reported"),
					errdetail("Somebody has changed them."), errhint("Run the call again.")));
}

void
rowtypes_check_staged(const Source *source, int64 nrows)
{
	if (OidIsValid(source->staged_from) && nrows != source->staged_rows)
		raise_unknown_types();
}

static RowTypes *
collect_types(GroupReceiver *recv)
{
	Source *source = recv->source;
	bool sorted = !recv->unsorted || recv->nrows > MOST_UNSORTED;
	bool repeated = false; /* types of equal codes */
	RowTypes *types = MemoryContextAllocZero(recv->border->context, sizeof(RowTypes));
	uint32 n = recv->ntypes;
	uint32 *order = NULL, *place = NULL;

	rowtypes_check_staged(source, recv->nrows);
	types->source = source;
	types->ntypes = n;
	types->grouped = MemoryContextAllocZero(recv->border->context, sizeof(KanonColumn) * source->ngrouped);
	for (int c = 0; c < source->ngrouped; c++)
	{
		Dictionary *dict = source->qis[c].dictionary;

		if (sorted)
			renumber(recv, c);
		repeated |= dictionary_has_spellings(dict);
		types->grouped[c].distinct = dictionary_size(dict);
		types->grouped[c].weight = 1;
		types->grouped[c].number = source->qis[c].numerical ? dictionary_numbers(dict) : NULL;
		types->grouped[c].has_null = dictionary_has_null(dict);
	}
	charge_dictionaries(recv);

	if (sorted || repeated)
		order = sort_types(recv);
	for (int c = 0; c < source->ngrouped; c++)
	{
		uint32 *codes = border_palloc(recv->border, sizeof(uint32) * (Size) n);

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < n; i++)
			codes[i] = *chunk_code(recv, c, order != NULL ? order[i] : i);
		types->grouped[c].code = codes;
		for (uint32 i = 0; i < recv->nchunks; i++)
			border_pfree(recv->border, recv->codes[i][c]);
	}
	types->rows = border_palloc(recv->border, sizeof(int64) * (Size) n);
	for (uint32 i = 0; i < n; i++)
	{
		types->rows[i] = *chunk_rows(recv, order != NULL ? order[i] : i);
		types->nrows += types->rows[i];
	}
	for (uint32 i = 0; i < recv->nchunks; i++)
	{
		border_pfree(recv->border, recv->codes[i]);
		border_pfree(recv->border, recv->rows[i]);
	}
	border_pfree(recv->border, recv->codes);
	border_pfree(recv->border, recv->rows);
	if (recv->sequence != NULL)
		collect_sequence(recv, order, types);
	if (repeated && n > 0)
	{
		if (recv->waiting != NULL)
			place = border_palloc(recv->border, sizeof(uint32) * (Size) n);
		merge_equal(types, place);
	}
	if (types->ntypes < n)
		types->nsequence = 0;
	if (recv->waiting != NULL)
		collect_waiting(recv, order, place, types);
	if (place != NULL)
		border_pfree(recv->border, place);
	if (order != NULL)
		border_pfree(recv->border, order);
	types->columns = types->grouped;
	return types;
}

/* ---- packed row types ---- */

typedef struct PackedReceiver
{
	GroupReceiver *groups;
	ToldTypes *told;
	Unpacker *unpacker;
	MemoryContext scratch;
	bool alike; /* two row types have the same hash */
} PackedReceiver;

/* Has the type these values?  (Their spellings are noted, too.) */
static bool
has_values(const GroupReceiver *recv, uint32 type, const Datum *values, const bool *nulls)
{
	bool same = true;

	for (int c = 0; c < recv->source->ngrouped; c++)
		same = dictionary_add(recv->source->qis[c].dictionary, values[c], nulls[c]) ==
				   *chunk_code(recv, c, type) &&
			   same;
	return same;
}

/*
 * Values, which come once or a few times for each hash; false: they are others than before.  Where they come again in
 * the same bytes, as another hash of these says, nobody looks at them again.
 */
static bool
receive_told(PackedReceiver *packed, Told *told, bytea *value)
{
	const Unpacker *unpacker = packed->unpacker;
	uint64 bytes = told_bytes(packed->told, value);
	MemoryContext old;

	if (told->type != DICTIONARY_NONE && told->bytes == bytes)
		return true;
	old = MemoryContextSwitchTo(packed->scratch);
	unpack(packed->unpacker, value);
	MemoryContextSwitchTo(old);
	if (told->type != DICTIONARY_NONE)
		return has_values(packed->groups, told->type, unpacker->values, unpacker->nulls);
	told->type = packed->groups->ntypes;
	told->bytes = bytes;
	add_group(packed->groups, unpacker->values, unpacker->nulls, 0);
	return true;
}

/* The hash with the values or without, and how many rows have just these. */
static bool
receive_packed(void *arg, TupleTableSlot *slot)
{
	PackedReceiver *packed = arg;
	GroupReceiver *recv = packed->groups;
	int64 rows = group_count(recv, slot);
	bytea *value;
	Told *told;
	MemoryContext old;

	if (slot->tts_isnull[0])
		raise_unknown_types();
	old = MemoryContextSwitchTo(packed->scratch);
	value = DatumGetByteaPP(slot->tts_values[0]);
	MemoryContextSwitchTo(old);
	told = told_add(packed->told, value, rows);
	if (VARSIZE_ANY_EXHDR(value) > PACKED_HASH)
		packed->alike = !receive_told(packed, told, value);
	MemoryContextReset(packed->scratch);
	return !packed->alike;
}

/* Reads rows that were set aside without the values of their row types; false: two row types have the same hash. */
static bool
read_packed(GroupReceiver *recv)
{
	Source *source = recv->source;
	PackedReceiver packed = {
		.groups = recv,
		.told = told_begin(recv->border),
		.unpacker = unpacker_create(source->qis, source->ngrouped),
		.scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon packed", ALLOCSET_SMALL_SIZES)};
	Told *told;
	int nest = grouping_begin();

	recv->gate = gate_create(source->name, source->relid, 2);
	gate_computed(recv->gate, "type", BYTEAOID);
	gate_computed(recv->gate, "count", INT8OID);
	recv->nattrs = 2;
	gate_watch(recv->gate, recv->border, "reading");
	gate_select(recv->gate,
				psprintf("SELECT " PACKED_COLUMN ", " SHARD_COUNT " FROM %s", shard_types(source)), true,
				receive_packed, &packed);
	grouping_end(nest);
	while (!packed.alike && (told = told_next(packed.told)) != NULL)
	{
		if (told->type == DICTIONARY_NONE)
			raise_unknown_types();
		*chunk_rows(recv, told->type) += told->rows;
	}
	told_end(packed.told);
	MemoryContextDelete(packed.scratch);
	return !packed.alike;
}

/* Frees the received rows; there are no row types. */
static RowTypes *
forget_groups(GroupReceiver *recv)
{
	for (uint32 i = 0; i < recv->nchunks; i++)
	{
		for (int c = 0; c < recv->source->ngrouped; c++)
			border_pfree(recv->border, recv->codes[i][c]);
		border_pfree(recv->border, recv->codes[i]);
		border_pfree(recv->border, recv->rows[i]);
	}
	if (recv->nchunks > 0)
	{
		border_pfree(recv->border, recv->codes);
		border_pfree(recv->border, recv->rows);
	}
	if (recv->sequence != NULL)
		border_pfree(recv->border, recv->sequence);
	if (recv->waiting != NULL)
		waiting_end(recv->waiting);
	border_charge(recv->border, recv->dictionaries, 0);
	for (int c = 0; c < recv->source->ngrouped; c++)
	{
		dictionary_free(recv->source->qis[c].dictionary);
		recv->source->qis[c].dictionary = NULL;
	}
	return NULL;
}

/* By the executor, or else row by row; of a source under the active snapshot, or else what this transaction has written. */
static RowTypes *
read_types(GroupReceiver recv, bool grouped, bool written, const RowsBeside *beside)
{
	Source *source = recv.source;
	Border *border = recv.border;
	RowsBeside kept = {.columns = source->kept, .n = source->nwaiting};
	Gate *gate;
	RowTypes *types;

	if (!grouped)
		recv.beside = beside;
	if (source->once)
		beside = &kept;
	for (int c = 0; c < source->ngrouped; c++)
		source->qis[c].dictionary = dictionary_create(border->context, &source->qis[c]);
	if (source->staged_packed)
		return read_packed(&recv) ? collect_types(&recv) : forget_groups(&recv);
	gate = grouped ? grouping_gate(source) : rows_gate(source, beside);
	recv.nattrs = gate->desc->natts;
	gate_watch(gate, border, written ? "verifying" : "reading");
	recv.gate = gate;
	if (grouped)
	{
		int nest = grouping_begin();

		gate_select(gate, grouping_query(source, gate), !written, receive_group, &recv);
		grouping_end(nest);
	}
	else
	{
		if (source->once)
			recv.waiting = waiting_begin(gate->desc, source->ngrouped);
		recv.noting = !written && source->nkept > 0 && !source->once;
		table_begin(&recv.table, border, source, FIRST_SLOTS);
		gate_select(gate,
					psprintf("SELECT %s%s%s FROM %s", column_list(source->qis, source->ngrouped),
							 beside != NULL && beside->n > 0 ? ", " : "",
							 beside != NULL ? column_list(beside->columns, beside->n) : "", source->name),
					!written, receive_row, &recv);
		border_pfree(border, recv.table.slots);
	}
	if (recv.full)
		return forget_groups(&recv);
	types = collect_types(&recv);
	if (beside != NULL && grouped)
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
	return rowtypes_read_within(source, 0, border);
}

RowTypes *
rowtypes_read_within(Source *source, Size limit, Border *border)
{
	return read_types((GroupReceiver){.source = source, .border = border, .limit = limit},
					  !source->once && !source_is_here(source), false, NULL);
}

RowTypes *
rowtypes_read_unsorted(Source *source, Size limit, Border *border)
{
	return read_types((GroupReceiver){.source = source, .border = border, .limit = limit, .unsorted = true},
					  !source_is_here(source), false, NULL);
}

RowTypes *
rowtypes_read_written(Source *source, const RowsBeside *beside, Border *border)
{
	return read_types((GroupReceiver){.source = source, .border = border}, source->scattered, true, beside);
}
