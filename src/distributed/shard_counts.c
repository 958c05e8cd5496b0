/*
 * shard_counts.c: rows of a shard that are alike, counted by the worker that has them.
 *
 * The executor's hash table needs three places in memory for a row, which the processor's caches do
 * not have when all shards are at work at once, and it calls functions of every column.  The counts
 * are told in groups that may be alike still: the caller adds them up by the equality of their
 * types.
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "host/catalog.h"
#include "host/gate.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "core/util/number.h"
#include "executor/nodeHash.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(kanon_shard_rows);
PG_FUNCTION_INFO_V1(kanon_shard_types);

/* ---- what is asked ---- */

char *
shard_call(const Source *source, const char *call)
{
	return psprintf("%s AS t, LATERAL %s.%s WHERE t.ctid OPERATOR(pg_catalog.=) '(0,1)'::pg_catalog.tid",
					source->name, source->functions, call);
}

/* Each shard has a first row, whose system column says which table it is. */
static char *
of_shards(const Source *source, const char *function, const char *more, const char *columns)
{
	return psprintf("(SELECT g.* FROM %s) AS s",
					shard_call(source, psprintf("%s(t.tableoid%s) AS g (%s)", function, more, columns)));
}

/* (In FROM each column has a name of its own.) */
static bool
names_differ(const Source *source)
{
	for (int c = 0; c < source->ngrouped; c++)
	{
		if (strcmp(source->qis[c].name, SHARD_COUNT) == 0 || strcmp(source->qis[c].name, SHARD_SAMPLED) == 0)
			return false;
		for (int other = 0; other < c; other++)
			if (strcmp(source->qis[c].name, source->qis[other].name) == 0)
				return false;
	}
	return true;
}

bool
shard_counts(const Source *source)
{
	return source->functions != NULL && (source->scattered || OidIsValid(source->staged_from)) &&
		   names_differ(source);
}

char *
shard_types(const Source *source)
{
	return of_shards(source, "kanon_shard_types", "",
					 PACKED_COLUMN " pg_catalog.bytea, " SHARD_COUNT " pg_catalog.int8");
}

/* As an array of names is written. */
static char *
names_as_text(const char *const *names, int n)
{
	return OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(name_list(names, n)));
}

char *
shard_rows(const Source *source)
{
	const ShardSample *sample = source->sample;
	StringInfoData columns;

	initStringInfo(&columns);
	for (int c = 0; c < source->ngrouped; c++)
	{
		const SourceColumn *column = &source->qis[c];

		appendStringInfo(&columns, "%s, ",
						 column_definition(column->quoted, column->type, column->typmod, column->collation));
	}
	if (sample != NULL)
		appendStringInfoString(&columns, SHARD_SAMPLED " pg_catalog.bytea, ");
	appendStringInfoString(&columns, SHARD_COUNT " pg_catalog.int8");
	return of_shards(
		source, "kanon_shard_rows",
		psprintf(", %u, %s::pg_catalog.name[]", sample != NULL ? sample->forgotten : 0,
				 sample != NULL ? quote_literal_cstr(names_as_text(sample->names, sample->n)) : "'{}'"),
		columns.data);
}

/* ---- on workers ---- */

typedef struct ShardLines
{
	Tuplestorestate *store;
	TupleDesc desc; /* the last column is how many rows there are */
	Datum *values;
	bool *nulls;
} ShardLines;

/* Columns as the query that asks has them, the count last. */
static ShardLines
lines_of_call(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ShardLines lines;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	lines.store = result->setResult;
	lines.desc = result->setDesc;
	if (lines.desc->natts < 2 || TupleDescAttr(lines.desc, lines.desc->natts - 1)->atttypid != INT8OID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("rows are counted as bigint")));
	lines.values = palloc(sizeof(Datum) * lines.desc->natts);
	lines.nulls = palloc0(sizeof(bool) * lines.desc->natts);
	return lines;
}

static void
put_line(const ShardLines *lines, int64 rows)
{
	lines->values[lines->desc->natts - 1] = Int64GetDatum(rows);
	tuplestore_putvalues(lines->store, lines->desc, lines->values, lines->nulls);
}

void
shard_read(Oid relid, TupleDesc desc, bool whole, GateReceive receive, void *arg)
{
	char *name = relation_name(relid);
	StringInfoData sql;
	Gate *gate;

	if (name == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("there is no table %u", relid)));
	relation_trust(relid);
	initStringInfo(&sql);
	for (int i = 0; i < desc->natts; i++)
		appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "SELECT ",
						 quote_identifier(NameStr(TupleDescAttr(desc, i)->attname)));
	appendStringInfo(&sql, " FROM ONLY %s", name);
	gate = gate_create(name, relid, desc->natts);
	gate_table(gate, desc);
	gate->whole = whole;
	SPI_connect();
	gate_select(gate, sql.data, true, receive, arg);
	SPI_finish();
}

/* ---- row types ---- */

typedef struct TypeCount
{
	uint64 hash;
	int64 rows;
	char status;
} TypeCount;

#define SH_PREFIX types
#define SH_ELEMENT_TYPE TypeCount
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(table, key) ((uint32) (key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct TypeCounter
{
	ShardLines lines;
	types_hash *types;
	MemoryContext scratch;
} TypeCounter;

static void
put_type(TypeCounter *counter, const char *bytes, int size, int64 rows)
{
	MemoryContext old = MemoryContextSwitchTo(counter->scratch);

	counter->lines.values[0] = PointerGetDatum(cstring_to_text_with_len(bytes, size));
	put_line(&counter->lines, rows);
	MemoryContextSwitchTo(old);
	MemoryContextReset(counter->scratch);
}

static void
put_types(TypeCounter *counter)
{
	types_iterator at;
	TypeCount *type;

	types_start_iterate(counter->types, &at);
	while ((type = types_iterate(counter->types, &at)) != NULL)
		put_type(counter, (const char *) &type->hash, sizeof(type->hash), type->rows);
	types_reset(counter->types);
}

static void
count_hash(TypeCounter *counter, const char *bytes)
{
	uint64 hash;
	bool found;
	TypeCount *type;

	memcpy(&hash, bytes, sizeof(hash));
	type = types_insert(counter->types, hash, &found);
	if (!found)
		type->rows = 0;
	type->rows++;
	if (!found && counter->types->members * sizeof(TypeCount) * 2 > get_hash_memory_limit())
		put_types(counter);
}

/* Rows that list values by themselves give the values; all other rows give a hash. */
static bool
receive_type(void *arg, TupleTableSlot *slot)
{
	TypeCounter *counter = arg;
	bytea *packed;
	const char *bytes;
	int size;

	if (slot->tts_isnull[0])
	{
		counter->lines.nulls[0] = true;
		put_line(&counter->lines, 1);
		counter->lines.nulls[0] = false;
		return true;
	}
	packed = DatumGetByteaPP(slot->tts_values[0]);
	bytes = VARDATA_ANY(packed) + PACKED_LOT;
	size = VARSIZE_ANY_EXHDR(packed) - PACKED_LOT;
	if (size == PACKED_HASH)
		count_hash(counter, bytes);
	else
		put_type(counter, bytes, Max(size, 0), 1);
	/* (otherwise the query's memory has it until the last row) */
	if (packed != (bytea *) DatumGetPointer(slot->tts_values[0]))
		pfree(packed);
	return true;
}

Datum
kanon_shard_types(PG_FUNCTION_ARGS)
{
	TypeCounter counter = {.lines = lines_of_call(fcinfo)};
	TupleDesc desc;

	if (counter.lines.desc->natts != 2 || TupleDescAttr(counter.lines.desc, 0)->atttypid != BYTEAOID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("a packed row type is bytea")));
	counter.types = types_create(CurrentMemoryContext, 1024, NULL);
	counter.scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon row type", ALLOCSET_DEFAULT_SIZES);
	desc = CreateTemplateTupleDesc(1);
	TupleDescCopyEntry(desc, 1, counter.lines.desc, 1);
	TupleDescFinalize(desc);
	shard_read(PG_GETARG_OID(0), desc, false, receive_type, &counter);
	put_types(&counter);
	return (Datum) 0;
}

/* ---- rows, whatever they are made of ---- */

typedef struct CountedRow
{
	int64 rows;
	Datum *values;
	bool *nulls;
} CountedRow;

typedef struct RowCount
{
	CountedRow *row;
	uint32 hash;
	char status;
} RowCount;

#define SH_PREFIX rows
#define SH_ELEMENT_TYPE RowCount
#define SH_KEY_TYPE uint32
#define SH_KEY hash
#define SH_HASH_KEY(table, key) (key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Rows with a value of a kept column, by its place and hash. */
typedef struct ValueCount
{
	uint64 value;
	int64 rows;
	char status;
} ValueCount;

#define SH_PREFIX values
#define SH_ELEMENT_TYPE ValueCount
#define SH_KEY_TYPE uint64
#define SH_KEY value
#define SH_HASH_KEY(table, key) ((uint32) kanon_mix(key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct RowCounter
{
	ShardLines lines;
	int n; /* columns by which rows are told apart */
	rows_hash *rows;
	CountedRow at;    /* the row at hand, these columns of it */
	CountedRow *last; /* equal rows often lie together, those of a target do */
	MemoryContext context;
	int *place;     /* [n + nkept] of columns in a whole row */
	Stored *stored; /* the last one, as it was stored */
	Datum *values_stored;
	bool *nulls_stored;
	int nkept; /* kept columns, and places from n on */
	Sampled *kept;
	uint32 forgotten;
	values_hash *values;
	MemoryContext scratch;
} RowCounter;

/* (The macro takes what lies elsewhere for short, too, of no bytes.) */
static inline bool
is_short(Datum value)
{
	return VARATT_IS_SHORT(DatumGetPointer(value)) && !VARATT_IS_EXTERNAL(DatumGetPointer(value));
}

static inline bool
is_same_value(Datum a, Datum b, int16 length)
{
	if (length == -1 && is_short(a) && is_short(b))
		return VARSIZE_SHORT(DatumGetPointer(a)) == VARSIZE_SHORT(DatumGetPointer(b)) &&
			   memcmp(DatumGetPointer(a), DatumGetPointer(b), VARSIZE_SHORT(DatumGetPointer(a))) == 0;
	return datum_image_eq(a, b, false, length);
}

/* By the bytes of their values, which equal ones may have different. */
static inline bool
is_same(const RowCounter *counter, const CountedRow *row)
{
	for (int c = 0; c < counter->n; c++)
	{
		Form_pg_attribute att = TupleDescAttr(counter->lines.desc, c);
		Datum a = row->values[c], b = counter->at.values[c];

		if (row->nulls[c] != counter->at.nulls[c])
			return false;
		if (!row->nulls[c] && (att->attbyval ? a != b : !is_same_value(a, b, att->attlen)))
			return false;
	}
	return true;
}

static uint32
values_hash_of(const RowCounter *counter)
{
	uint32 hash = 0;

	for (int c = 0; c < counter->n; c++)
	{
		Form_pg_attribute att = TupleDescAttr(counter->lines.desc, c);

		hash = hash_combine(hash, counter->at.nulls[c]
									  ? 0
									  : datum_image_hash(counter->at.values[c], att->attbyval, att->attlen));
	}
	return hash;
}

static void
begin_rows(RowCounter *counter)
{
	counter->rows = rows_create(counter->context, 1024, NULL);
	counter->last = NULL;
}

static void
put_row(const RowCounter *counter, const Datum *values, const bool *nulls, int64 rows)
{
	memcpy(counter->lines.values, values, sizeof(Datum) * counter->n);
	memcpy(counter->lines.nulls, nulls, sizeof(bool) * counter->n);
	if (counter->nkept > 0)
		counter->lines.nulls[counter->n] = true;
	put_line(&counter->lines, rows);
}

static void
put_rows(RowCounter *counter)
{
	rows_iterator at;
	RowCount *count;

	rows_start_iterate(counter->rows, &at);
	while ((count = rows_iterate(counter->rows, &at)) != NULL)
		put_row(counter, count->row->values, count->row->nulls, count->row->rows);
	MemoryContextReset(counter->context);
}

static CountedRow *
copy_row(const RowCounter *counter)
{
	MemoryContext old = MemoryContextSwitchTo(counter->context);
	CountedRow *row = palloc(sizeof(CountedRow));

	row->rows = 0;
	row->values = palloc(sizeof(Datum) * counter->n);
	row->nulls = palloc(sizeof(bool) * counter->n);
	for (int c = 0; c < counter->n; c++)
	{
		Form_pg_attribute att = TupleDescAttr(counter->lines.desc, c);

		row->nulls[c] = counter->at.nulls[c];
		row->values[c] =
			row->nulls[c] ? (Datum) 0 : datumCopy(counter->at.values[c], att->attbyval, att->attlen);
	}
	MemoryContextSwitchTo(old);
	return row;
}

/* The row's place, or NULL: another has the same hash, and the row is told at once. */
static CountedRow *
find_row(RowCounter *counter)
{
	RowCount *count;
	bool found;

	if (MemoryContextMemAllocated(counter->context, false) > get_hash_memory_limit())
	{
		put_rows(counter);
		begin_rows(counter);
	}
	count = rows_insert(counter->rows, values_hash_of(counter), &found);
	if (!found)
		count->row = copy_row(counter);
	return !found || is_same(counter, count->row) ? count->row : NULL;
}

/* ---- values of kept columns ---- */

static void
put_values(RowCounter *counter)
{
	values_iterator at;
	ValueCount *value;
	MemoryContext old = MemoryContextSwitchTo(counter->scratch);

	memset(counter->lines.nulls, true, sizeof(bool) * counter->n);
	counter->lines.nulls[counter->n] = false;
	values_start_iterate(counter->values, &at);
	while ((value = values_iterate(counter->values, &at)) != NULL)
	{
		StringInfoData out = {0};

		sampled_put(&out, (int) (value->value >> 32), (uint32) value->value);
		counter->lines.values[counter->n] = PointerGetDatum(pq_endtypsend(&out));
		put_line(&counter->lines, value->rows);
		MemoryContextReset(counter->scratch);
	}
	values_reset(counter->values);
	MemoryContextSwitchTo(old);
}

static void
note_values(RowCounter *counter, const Datum *values, const bool *nulls)
{
	MemoryContext old = MemoryContextSwitchTo(counter->scratch);

	for (int c = 0; c < counter->nkept; c++)
	{
		uint32 hash;
		bool found;
		ValueCount *value;

		int place = counter->place[counter->n + c];

		if (nulls[place] || !sampled_has(counter->kept, c, values[place], counter->forgotten, &hash))
			continue;
		if (counter->values->members * sizeof(ValueCount) * 2 > get_hash_memory_limit())
			put_values(counter);
		value = values_insert(counter->values, (uint64) c << 32 | hash, &found);
		if (!found)
			value->rows = 0;
		value->rows++;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(counter->scratch);
}

/* A row that is not the last one's repetition. */
static void
take_row(RowCounter *counter, TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	for (int c = 0; c < counter->n; c++)
	{
		counter->at.values[c] = slot->tts_values[counter->place[c]];
		counter->at.nulls[c] = slot->tts_isnull[counter->place[c]];
	}
	if (counter->last == NULL || !is_same(counter, counter->last))
		counter->last = find_row(counter);
	if (counter->last == NULL)
		put_row(counter, counter->at.values, counter->at.nulls, 1);
	else
		stored_remember(counter->stored, slot);
}

static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	RowCounter *counter = arg;
	bool repeats = counter->last != NULL &&
				   stored_repeats(counter->stored, slot, counter->values_stored, counter->nulls_stored);

	if (!repeats)
		take_row(counter, slot);
	if (counter->last != NULL)
		counter->last->rows++;
	if (counter->nkept > 0)
		note_values(counter, repeats ? counter->values_stored : slot->tts_values,
					repeats ? counter->nulls_stored : slot->tts_isnull);
	return true;
}

/* ---- whole rows ---- */

TupleDesc
shard_columns(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	List *columns = NIL;
	TupleDesc desc;
	int natts = 0, n = 0;
	ListCell *lc;

	if (HeapTupleIsValid(tuple))
	{
		natts = ((Form_pg_class) GETSTRUCT(tuple))->relnatts;
		ReleaseSysCache(tuple);
	}
	for (int16 a = 1; a <= natts; a++)
		if (HeapTupleIsValid(tuple = SearchSysCacheCopyAttNum(relid, a)))
			columns = lappend(columns, tuple);
	desc = CreateTemplateTupleDesc(list_length(columns));
	foreach (lc, columns)
	{
		Form_pg_attribute att = (Form_pg_attribute) GETSTRUCT((HeapTuple) lfirst(lc));

		TupleDescInitEntry(desc, ++n, NameStr(att->attname), att->atttypid, att->atttypmod, 0);
		TupleDescInitEntryCollation(desc, n, att->attcollation);
	}
	return desc;
}

static int
place_of(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return i;
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("column \"%s\" does not exist", name)));
}

/* Checks that the columns to be counted have the types that the query names. */
static TupleDesc
find_columns(RowCounter *counter, Oid relid, char **kept)
{
	TupleDesc desc = shard_columns(relid), sampled;
	int compared = 0, first = desc->natts, end = 0;

	if (counter->nkept > desc->natts)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
						errmsg("%d columns are named, but there are %d", counter->nkept, desc->natts)));
	sampled = CreateTemplateTupleDesc(counter->nkept);
	counter->place = palloc(sizeof(int) * (counter->n + counter->nkept));
	for (int i = 0; i < counter->n; i++)
	{
		int place = place_of(desc, NameStr(TupleDescAttr(counter->lines.desc, i)->attname));

		counter->place[i] = place;
		TupleDescCopyEntry(desc, place + 1, counter->lines.desc, i + 1);
		compared = Max(compared, place + 1);
	}
	for (int i = 0; i < counter->nkept; i++)
	{
		int place = place_of(desc, kept[i]);

		counter->place[counter->n + i] = place;
		TupleDescCopyEntry(sampled, i + 1, desc, place + 1);
		first = Min(first, place);
		end = Max(end, place + 1);
	}
	TupleDescFinalize(desc);
	TupleDescFinalize(sampled);
	counter->kept = sampled_create(sampled);
	counter->stored = stored_create(desc, compared, first, end);
	counter->values_stored = palloc(sizeof(Datum) * desc->natts);
	counter->nulls_stored = palloc(sizeof(bool) * desc->natts);
	counter->at.values = palloc(sizeof(Datum) * counter->n);
	counter->at.nulls = palloc(sizeof(bool) * counter->n);
	return desc;
}

Datum
kanon_shard_rows(PG_FUNCTION_ARGS)
{
	RowCounter counter = {.lines = lines_of_call(fcinfo), .forgotten = (uint32) PG_GETARG_INT32(1)};
	char **kept = name_array(PG_GETARG_ARRAYTYPE_P(2), "kept", &counter.nkept);
	TupleDesc desc;

	counter.n = counter.lines.desc->natts - 1 - (counter.nkept > 0);
	if (counter.nkept > 0 &&
		(counter.n == 0 || TupleDescAttr(counter.lines.desc, counter.n)->atttypid != BYTEAOID))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("values of kept columns are told as bytea, behind others")));
	desc = find_columns(&counter, PG_GETARG_OID(0), kept);
	counter.context =
		AllocSetContextCreate(CurrentMemoryContext, "kanon rows counted", ALLOCSET_DEFAULT_SIZES);
	counter.scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon kept", ALLOCSET_DEFAULT_SIZES);
	counter.values = values_create(CurrentMemoryContext, 256, NULL);
	begin_rows(&counter);
	shard_read(PG_GETARG_OID(0), desc, true, receive_row, &counter);
	put_rows(&counter);
	if (counter.nkept > 0)
		put_values(&counter);
	return (Datum) 0;
}
