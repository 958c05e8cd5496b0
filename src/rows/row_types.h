/*
 * row_types.h: row types: read, grouped, counted, looked up
 */
#ifndef KANON_ROW_TYPES_H
#define KANON_ROW_TYPES_H

#include "host/border.h"
#include "rows/source.h"
#include "rows/dictionary.h"
#include "host/gate.h"

#include "access/tupdesc.h"
#include "postgres.h"
#include "catalog/pg_attribute.h"
#include "nodes/pg_list.h"

/* ---- row_types.c: a relation as row types ---- */

typedef struct RowTypes
{
	Source *source;
	uint32 ntypes;
	int64 nrows;
	KanonColumn *grouped; /* [ngrouped] what was read; weights are 1 */
	KanonColumn *columns; /* the problem's (Levels): grouped itself when there are no hierarchies */
	int64 *rows;          /* [ntypes] */
	uint32 *sequence; /* [nsequence] types of rows as they came, and probably come again; NULL: not noted */
	Size nsequence;
	const int64 **totals;    /* [ngrouped - nqis] of types that are made up: rows with each value; or NULL */
	struct Waiting *waiting; /* the rows themselves, which are not read again; or NULL */
} RowTypes;

/* Further columns of a table that is read, shown row by row. */
typedef struct RowsBeside
{
	const SourceColumn *columns;
	int n;
	void (*receive)(void *arg, const Datum *values, const bool *nulls);
	void *arg;
} RowsBeside;

/* Groups the source under the active snapshot. */
extern RowTypes *rowtypes_read(Source *source, Border *border);

/*
 * The same; NULL: of rows that were set aside two row types have the same hash (set aside under another
 * seed they hardly have); of others, kanon would have more than so many bytes in memory (0: the budget
 * alone says how many).
 */
extern RowTypes *rowtypes_read_within(Source *source, Size limit, Border *border);

/*
 * The same for who asks for no order, neither of row types nor of codes: those in which they came.
 */
extern RowTypes *rowtypes_read_unsorted(Source *source, Size limit, Border *border);

/*
 * The same of a table that this transaction has written, as it stands now.  The columns
 * beside (or NULL) are shown on the way; of a table that is scattered by a reading of its
 * own.
 */
extern RowTypes *rowtypes_read_written(Source *source, const RowsBeside *beside, Border *border);

/* A table that this transaction has written: those columns alone. */
extern void rows_read_written(const char *name, Oid relid, const RowsBeside *beside);

/* Raises if rows that were set aside are more or fewer by now. */
extern void rowtypes_check_staged(const Source *source, int64 nrows);

/* Finds a row's type again; DICTIONARY_NONE: it has none. */
typedef struct TypeIndex TypeIndex;
extern TypeIndex *type_index_create(const RowTypes *types, Border *border);
extern uint32 type_index_find(TypeIndex *index, const Datum *values, const bool *nulls);

/* Types to find, where the last column does not tell them apart; without: [ntypes] which of them each is. */
extern RowTypes *rowtypes_without_last(const RowTypes *types, uint32 *without, Border *border);

/* ---- type_table.c: row types by their values ---- */

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

/* ---- grouping.c: the query that makes groups of a source's rows ---- */

/* Are the rows those of tables of this server?  A view may read anything. */
extern bool source_is_stored(const Source *source);

/* Are they, and does one process group them as fast as the server's workers? */
extern bool source_is_here(const Source *source);

/* A function of the system's that gives the binary form of such values and depends on nothing else; or NULL. */
extern char *binary_form(Oid type);

/*
 * The gate for the columns that tell row types apart, their spellings, and the
 * count.  The columns have their dictionaries.
 */
extern Gate *grouping_gate(const Source *source);

/* The query for that gate, to which it adds whatever else must keep its name. */
extern char *grouping_query(const Source *source, Gate *gate);

/* The count, attribute `last` of a group; the groups before have so many rows. */
extern int64 grouping_count(const Source *source, const TupleTableSlot *slot, int last, int64 before);

/* Is it no group, but a value of a kept column, which source->sample takes? */
extern bool grouping_sampled(const Source *source, const TupleTableSlot *slot, int last);

/*
 * For queries that group by the quasi-identifiers and ask of the groups nothing but how
 * many rows they have: what to select from, and what is called what there.
 */
typedef struct CountedRows
{
	char *columns;     /* the quasi-identifiers, "a, b, c" */
	char *from;        /* with an alias where it is no relation */
	const char *count; /* the rows of a group */
	char *blank;       /* a group has NULL in all columns */
} CountedRows;

extern CountedRows grouping_counted(const Source *source, Gate *gate);

/* ---- class_sizes.c: how many classes of each size a relation has by its quasi-identifiers ---- */

/* Classes of one size. */
typedef struct SizeCount
{
	int64 size;
	bool blank; /* NULL in all columns: there is one such class at most */
	int64 classes;
	int64 rows; /* of these; more than size * classes where persons have several */
} SizeCount;

/*
 * Under the active snapshot, the smallest first, the blank one last.  With a subject (or NULL) sizes
 * are in persons; raises when a row has none.
 */
extern SizeCount *class_sizes(Source *source, const SourceColumn *subject, size_t *n);

/* ---- marginals.c: rows in the order of a key, on disk where they are too many for work_mem ---- */

/* Columns before those that are kept. */
#define KEYED_BEFORE 2

typedef struct Keyed Keyed;

/* The values of the last keyed_next, until the next one. */
typedef struct KeyedRow
{
	const unsigned char *key;
	int length;
	int64 rows;        /* it stands for */
	const Datum *kept; /* [nkept] */
	const bool *nulls;
} KeyedRow;

/* Rows with these columns beside their key; `again`: they will be read from a place that was marked. */
extern Keyed *keyed_begin(const SourceColumn *kept, int nkept, bool again);
extern void keyed_put(Keyed *keyed, const unsigned char *key, int length, int64 rows, const Datum *kept,
					  const bool *nulls);

/* All are there: in ascending order of keys, byte by byte. */
extern void keyed_sort(Keyed *keyed);

/* NULL: there is none. */
extern const KeyedRow *keyed_next(Keyed *keyed);

extern TupleDesc keyed_columns(const Keyed *keyed);

/* The next row is the next one again, later. */
extern void keyed_mark(Keyed *keyed);
extern void keyed_return(Keyed *keyed);
extern void keyed_rewind(Keyed *keyed);

/* NULL is fine. */
extern void keyed_end(Keyed *keyed);

/* Numbers in a key, in the order of their bytes. */
static inline unsigned char *
key_put(unsigned char *key, uint32 number)
{
	for (int i = 0; i < 4; i++)
		key[i] = (unsigned char) (number >> (24 - 8 * i));
	return key + 4;
}

static inline uint32
key_get(const unsigned char *key)
{
	return (uint32) key[0] << 24 | (uint32) key[1] << 16 | (uint32) key[2] << 8 | key[3];
}

/*
 * ---- marginals.c: how many rows have each value of each column that tells row types apart, whatever goes
 * together.
 *
 * That is known of a source whose row types do not fit into memory, and says all that
 * hierarchies, prices of levels and measures of columns ask for.
 */

/* Rows in which a value is hidden up to some level; the last kind: rows that are left out. */
typedef struct Marginals
{
	const Source *source;
	int kinds[KANON_MAX_COLUMNS];   /* of each column; more than one of quasi-identifiers alone */
	int64 *rows[KANON_MAX_COLUMNS]; /* [distinct * kinds] */
} Marginals;

/*
 * Reads the values of a source alone, under the active snapshot: its dictionaries, and how many rows
 * have each value (one kind).  The row types have those, and are otherwise made up: at most as many as there
 * are values in all quasi-identifiers; of the columns beside these they have the totals alone.
 */
extern RowTypes *marginals_read(Source *source, Border *border, Marginals *marginals);

/* A look at what a row keeps. */
typedef void (*LookAtKept)(void *arg, const Datum *kept, const bool *nulls);

/*
 * Once more, row by row, or group by group where no kept columns are asked for: sorted by the code of
 * a column, then those of all.  False: there are values now that there were not.
 */
extern bool marginals_rows(const Source *source, int column, int nkept, Border *border, Keyed *keyed,
						   LookAtKept look, void *arg);

/*
 * Row types that have these.  kind[type * nqis + quasi-identifier], unless NULL: the kind of each.
 * As many rows have a value of each quasi-identifier.
 */
extern RowTypes *marginals_types(const Marginals *marginals, const RowTypes *like, Border *border,
								 uint8 **kind);

/* ---- digest.c: what a relation holds, as a few bytes: equal for equal rows in any order ---- */

/*
 * A hash of a value's own bytes, its form in memory: 0.0 and -0.0 differ, and so do 1.0 and 1.00.  A type
 * need not have a hash function, nor equality.  May allocate.
 */
extern uint64 value_hash(Form_pg_attribute attribute, Datum value, bool isnull, uint64 seed);

/* Seeds of such hashes that follow from a secret, one for each purpose. */
extern void secret_seeds(const bytea *secret, const char *purpose, uint64 *seeds, int n);

/*
 * Reads every row of these relations once, under the active snapshot: a digest of their columns that the
 * caller may read, of their rows, and of a text.  Without the secret nobody can tell which rows have one.
 */
extern bytea *relations_digest(List *relations, const char *text, const bytea *secret);

#endif
