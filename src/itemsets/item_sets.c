/*
 * item_sets.c: transactions out of a relation: from an array column, or from one row per
 * item in the order of what tells transactions apart.
 *
 * It is read once.  The columns beside the items wait in a tuplesort, under a random
 * key, until it is known what the items become.
 */
#include "compat.h"
#include "itemsets/item_model.h"
#include "host/gate.h"
#include "rows/dictionary.h"

#include "access/relation.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/typcache.h"

/* Transactions between two looks at the clock, and at the dictionary's memory. */
#define PROGRESS_TRANSACTIONS 65536
#define CHARGE_TRANSACTIONS 64

/* ---- the columns ---- */

static void
raise_unordered(const char *name, Oid type, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("column \"%s\" cannot be %s", name, what),
					errdetail("Type %s has no order.", format_type_be(type)),
					errhint("Read it through a view that casts it to another type, such as text.")));
}

static void
check_ordered(const char *name, Oid type, const char *what)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC);

	if (!OidIsValid(entry->lt_opr) || !OidIsValid(entry->cmp_proc))
		raise_unordered(name, type, what);
}

/* The type of an item; raises if the column's is none that transactions come in. */
static Oid
item_type(const char *name, Oid type, bool by_row)
{
	Oid element = get_element_type(getBaseType(type));

	if (by_row && OidIsValid(element))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("column \"%s\" is an array, and transaction is given", name),
						errhint("An array column has a transaction in each row: leave out transaction.")));
	if (!by_row && !OidIsValid(element))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("column \"%s\" is of type %s, which is no array", name, format_type_be(type)),
						errhint("Name an array column, or in transaction the column that tells transactions "
								"apart when there is one row per item.")));
	if (by_row)
		element = type;
	check_ordered(name, element, "the items");
	return element;
}

/* Faults of the items' type are told before source_open asks for equality. */
static void
check_types(Oid relid, const char *items, const char *transaction)
{
	Relation rel = try_relation_open(relid, AccessShareLock);
	AttrNumber attnum;

	if (rel == NULL)
		return;
	attnum = get_attnum(relid, items);
	if (attnum > 0)
		(void) item_type(items, TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid,
						 transaction != NULL);
	attnum = transaction == NULL ? InvalidAttrNumber : get_attnum(relid, transaction);
	if (attnum > 0)
		check_ordered(transaction, TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid,
					  "what tells transactions apart");
	relation_close(rel, NoLock);
}

ItemSource *
items_open(Oid relid, const char *items, const char *transaction, ArrayType *keep)
{
	ItemSource *from = palloc0(sizeof(ItemSource));
	const char *names[2] = {items, transaction};
	int nkept;
	char **kept = name_array(keep, "keep", &nkept);

	from->by_row = transaction != NULL;
	if (transaction != NULL && strcmp(items, transaction) == 0)
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
						errmsg("column \"%s\" is named in items and in transaction", items),
						errhint("One column has the items, another one tells transactions apart.")));
	for (int i = 0; i < nkept; i++)
		if (strcmp(kept[i], items) == 0 || (transaction != NULL && strcmp(kept[i], transaction) == 0))
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
							errmsg("column \"%s\" is kept, and named in %s", kept[i],
								   strcmp(kept[i], items) == 0 ? "items" : "transaction"),
							errhint("A kept column is published unchanged; take it out of keep.")));
	check_types(relid, items, transaction);
	from->source = source_open(relid, name_list(names, from->by_row ? 2 : 1), keep, NULL);
	from->element = from->source->qis[0];
	from->element.type = item_type(items, from->source->qis[0].type, from->by_row);
	from->element.typmod = -1;
	return from;
}

/* ---- reading ---- */

typedef struct Reader
{
	ItemSource *from;
	Border *border;
	Transactions *into;
	MemoryContext row; /* what a row leaves behind */

	/* what is stored; room in items and transactions */
	size_t *start;
	uint32 *item;
	size_t item_room;
	size_t start_room;

	/* one row per item: the transaction at hand */
	MemoryContext group;
	bool open;
	Datum transaction;
	Datum *kept; /* [nkept] */
	bool *kept_null;
	FmgrInfo equal;
	Oid collation;

	Gate *gate;
} Reader;

static size_t
nitems(const Reader *reader)
{
	return reader->start[reader->into->sets.ntransactions];
}

/* One more item of the transaction at hand, which nobody counts until it ends. */
static void
add_item(Reader *reader, size_t at, Datum value, bool isnull)
{
	if (isnull)
	{
		reader->into->nulls++;
		return;
	}
	reader->item = border_grow(reader->border, reader->item, &reader->item_room, at + 1, sizeof(uint32));
	reader->item[at] = dictionary_add(reader->from->element.dictionary, value, false);
}

static void
charge_dictionary(Reader *reader)
{
	Size now = dictionary_memory(reader->from->element.dictionary);

	border_charge(reader->border, reader->into->charged, now);
	reader->into->charged = now;
}

/* The transaction at hand has these many items, doubles among them. */
static void
end_transaction(Reader *reader, size_t n, const Datum *kept, const bool *kept_null)
{
	KanonSets *sets = &reader->into->sets;
	size_t from = nitems(reader);

	if (reader->into->shuffled != NULL)
		shuffle_put(reader->into->shuffled, sets->ntransactions, kept, kept_null);
	if (sets->ntransactions == PG_UINT32_MAX - 1)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("the source has more than %u transactions", PG_UINT32_MAX - 1),
						errhint("Publish it in parts.")));
	reader->start = border_grow(reader->border, reader->start, &reader->start_room,
								(size_t) sets->ntransactions + 2, sizeof(size_t));
	reader->start[++sets->ntransactions] = from + unique_codes(reader->item + from, n);
	if (sets->ntransactions % CHARGE_TRANSACTIONS == 0)
		charge_dictionary(reader);
	if (sets->ntransactions % PROGRESS_TRANSACTIONS == 0)
		gate_tell(reader->gate);
}

static void
raise_nested(const char *name)
{
	ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					errmsg("column \"%s\" has arrays of more than one dimension", name),
					errhint("A transaction is a list of items; unnest the arrays in a view.")));
}

/* A row with an array: items, then kept columns. */
static bool
receive_array(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	Oid type = reader->from->element.type;
	size_t from = nitems(reader);
	size_t before = reader->into->nulls;
	int n = 0;

	if (!slot->tts_isnull[0])
	{
		MemoryContext old = MemoryContextSwitchTo(reader->row);
		ArrayType *array = DatumGetArrayTypeP(slot->tts_values[0]);
		Datum *values;
		bool *nulls;
		int16 typlen;
		bool typbyval;
		char typalign;
		int filled = 0;

		if (ARR_NDIM(array) > 1)
			raise_nested(reader->from->element.name);
		get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
		deconstruct_array(array, type, typlen, typbyval, typalign, &values, &nulls, &n);
		for (int i = 0; i < n; i++)
		{
			add_item(reader, from + filled, values[i], nulls[i]);
			filled += !nulls[i];
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(reader->row);
	}
	end_transaction(reader, n - (reader->into->nulls - before), slot->tts_values + 1, slot->tts_isnull + 1);
	return true;
}

/* Is the row of another transaction than the one at hand? */
static bool
begins_another(Reader *reader, Datum transaction)
{
	return !reader->open || !DatumGetBool(FunctionCall2Coll(&reader->equal, reader->collation, transaction,
															reader->transaction));
}

/* Where the transaction at hand began, and how far it is. */
typedef struct RowReader
{
	Reader reader;
	size_t n;
} RowReader;

static void
begin_group(RowReader *rows, TupleTableSlot *slot)
{
	Reader *reader = &rows->reader;
	int nkept = reader->from->source->nkept;
	Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor, 0);
	MemoryContext old;

	MemoryContextReset(reader->group);
	old = MemoryContextSwitchTo(reader->group);
	reader->transaction = datumCopy(slot->tts_values[0], att->attbyval, att->attlen);
	for (int i = 0; i < nkept; i++)
	{
		att = TupleDescAttr(slot->tts_tupleDescriptor, i + 2);
		reader->kept_null[i] = slot->tts_isnull[i + 2];
		reader->kept[i] =
			reader->kept_null[i] ? (Datum) 0 : datumCopy(slot->tts_values[i + 2], att->attbyval, att->attlen);
	}
	MemoryContextSwitchTo(old);
	reader->open = true;
	rows->n = 0;
}

/* A transaction is published with one value of each kept column: its rows must agree. */
static void
check_kept(const Reader *reader, TupleTableSlot *slot)
{
	for (int i = 0; i < reader->from->source->nkept; i++)
	{
		Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor, i + 2);

		if (reader->kept_null[i] == slot->tts_isnull[i + 2] &&
			(reader->kept_null[i] ||
			 datum_image_eq(reader->kept[i], slot->tts_values[i + 2], att->attbyval, att->attlen)))
			continue;
		ereport(ERROR, (errcode(ERRCODE_CARDINALITY_VIOLATION),
						errmsg("the rows of one transaction differ in column \"%s\"",
							   reader->from->source->kept[i].name),
						errhint("A kept column is one of the transaction, such as its year, not one of an "
								"item; take it out of keep.")));
	}
}

/* A row with an item: transaction, item, kept columns, in the order of transactions. */
static bool
receive_item(void *arg, TupleTableSlot *slot)
{
	RowReader *rows = arg;
	Reader *reader = &rows->reader;
	MemoryContext old;

	if (slot->tts_isnull[0])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("column \"%s\" has NULL, which is no transaction", reader->from->source->qis[1].name),
				 errhint("Use a view of the rows that belong to a transaction.")));
	if (begins_another(reader, slot->tts_values[0]))
	{
		if (reader->open)
			end_transaction(reader, rows->n, reader->kept, reader->kept_null);
		begin_group(rows, slot);
	}
	else
		check_kept(reader, slot);
	old = MemoryContextSwitchTo(reader->row);
	add_item(reader, nitems(reader) + rows->n, slot->tts_values[1], slot->tts_isnull[1]);
	rows->n += !slot->tts_isnull[1];
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row);
	return true;
}

/* From now on codes ascend in the type's order. */
static void
sort_codes(Reader *reader)
{
	KanonSets *sets = &reader->into->sets;
	Dictionary *dictionary = reader->from->element.dictionary;
	uint32 *renumber = dictionary_sort(dictionary);

	for (uint32 t = 0; t < sets->ntransactions; t++)
	{
		for (size_t i = reader->start[t]; i < reader->start[t + 1]; i++)
			reader->item[i] = renumber[reader->item[i]];
		(void) unique_codes(reader->item + reader->start[t], reader->start[t + 1] - reader->start[t]);
		if (t % PROGRESS_TRANSACTIONS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(renumber);
	sets->nitems = dictionary_size(dictionary);
	sets->start = reader->start;
	sets->item = reader->item;
}

static void
select_rows(RowReader *rows, bool read_only, bool shuffled)
{
	Reader *reader = &rows->reader;
	const Source *source = reader->from->source;
	bool by_row = reader->from->by_row;
	Gate *gate = gate_create(source->name, source->relid, source->nqis + source->nkept);
	const char *kept = source->nkept == 0 ? "" : psprintf(", %s", column_list(source->kept, source->nkept));
	char *sql;

	if (by_row)
		gate_columns(gate, &source->qis[1], 1);
	gate_columns(gate, &source->qis[0], 1);
	gate_columns(gate, source->kept, source->nkept);
	gate_watch(gate, reader->border, read_only ? "reading" : "verifying");
	reader->gate = gate;
	if (shuffled)
		reader->into->shuffled = shuffle_begin(gate->desc, source->nqis);
	if (by_row)
		sql = psprintf("SELECT %s, %s%s FROM %s ORDER BY 1", source->qis[1].quoted, source->qis[0].quoted,
					   kept, source->name);
	else
		sql = psprintf("SELECT %s%s FROM %s", source->qis[0].quoted, kept, source->name);
	gate_select(gate, sql, read_only, by_row ? receive_item : receive_array, by_row ? (void *) rows : reader);
}

Transactions *
items_read(ItemSource *from, bool read_only, bool shuffled, Border *border)
{
	RowReader *rows = palloc0(sizeof(RowReader));
	Reader *reader = &rows->reader;

	reader->from = from;
	reader->border = border;
	reader->into = palloc0(sizeof(Transactions));
	reader->into->from = from;
	reader->row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	reader->group = AllocSetContextCreate(CurrentMemoryContext, "kanon transaction", ALLOCSET_DEFAULT_SIZES);
	reader->kept = palloc(sizeof(Datum) * Max(from->source->nkept, 1));
	reader->kept_null = palloc(sizeof(bool) * Max(from->source->nkept, 1));
	reader->start = border_grow(border, NULL, &reader->start_room, 1, sizeof(size_t));
	reader->start[0] = 0;
	reader->item = border_grow(border, NULL, &reader->item_room, 1, sizeof(uint32));
	from->element.dictionary = dictionary_create(border->context, &from->element);
	if (from->by_row)
	{
		const SourceColumn *column = &from->source->qis[1];

		reader->equal = lookup_type_cache(column->type, TYPECACHE_EQ_OPR_FINFO)->eq_opr_finfo;
		reader->collation = column->collation;
	}
	select_rows(rows, read_only, shuffled);
	if (reader->open)
		end_transaction(reader, rows->n, reader->kept, reader->kept_null);
	sort_codes(reader);
	charge_dictionary(reader);
	MemoryContextDelete(reader->row);
	MemoryContextDelete(reader->group);
	return reader->into;
}

void
items_free(Transactions *transactions, Border *border)
{
	border_pfree(border, (void *) transactions->sets.start);
	border_pfree(border, (void *) transactions->sets.item);
	if (transactions->shuffled != NULL)
		shuffle_end(transactions->shuffled);
	border_charge(border, transactions->charged, 0);
	dictionary_free(transactions->from->element.dictionary);
	pfree(transactions);
}
