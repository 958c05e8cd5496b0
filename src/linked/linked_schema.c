/*
 * linked_schema.c: how the tables of a release hang together, by the primary and foreign keys of the catalogs.
 *
 * Each table reaches the subject along one foreign key to a table that does; where there are several, the caller
 * names one.  Tables that rows refer to are lookups.  All else is an error before any row is read.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "linked/linked_schema.h"
#include "hierarchies/hierarchy.h"
#include "rows/source.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Columns of copies are known with the row that they are copies for. */
#define COPIES_HINT \
	"A table with quasi_identifiers to which one column of the subject's table, or of its rows, refers is published in copies."

/* ---- what the catalogs say ---- */

static char *
name_value(uint64 row, int column)
{
	bool isnull;
	Datum value = gate_value(row, column, NAMEOID, &isnull);

	return isnull ? NULL : pstrdup(NameStr(*DatumGetName(value)));
}

static void
find_primary_key(LinkedTable *table)
{
	uint64 n;

	if (linked_given_key(table))
		return;
	n = linked_ask(
		"SELECT a.attname FROM pg_constraint c, unnest(c.conkey) WITH ORDINALITY AS u (attnum, n)"
		" JOIN pg_attribute a ON a.attnum = u.attnum WHERE a.attrelid = c.conrelid AND c.conrelid = $1"
		" AND c.contype = 'p' ORDER BY u.n",
		table->keyed);
	for (uint64 row = 0; row < n && n > 1; row++)
		table->parts.primary = lappend(table->parts.primary, name_value(row, 1));
	if (n != 1)
		return;
	/* (a view may have it under another name) */
	if (get_attnum(table->relid, name_value(0, 1)) <= 0)
		return;
	table->key = name_value(0, 1);
	table->key_type = getBaseType(get_atttype(table->keyed, get_attnum(table->keyed, table->key)));
}

static int
table_of(const Linked *linked, Oid relid)
{
	for (int i = 0; i < linked->n; i++)
		if (linked->tables[i].relid == relid)
			return i;
	return -1;
}

/* By whose keys it has. */
static int
keyed_table(const Linked *linked, Oid relid)
{
	for (int i = 0; i < linked->n; i++)
		if (linked->tables[i].keyed == relid)
			return i;
	return -1;
}

static void
add_key(Schema *schema, ForeignKey key)
{
	if (schema->nkeys == schema->room)
	{
		schema->room = Max(2 * schema->room, 16);
		schema->keys = schema->keys == NULL ? palloc(sizeof(ForeignKey) * schema->room)
											: repalloc(schema->keys, sizeof(ForeignKey) * schema->room);
	}
	schema->keys[schema->nkeys++] = key;
}

/* Those that the caller gives, where the catalogs have none; they are called like their columns. */
static void
add_given(Schema *schema, int from)
{
	const LinkedTable *table = &schema->linked->tables[from];

	for (int r = 0; r + 1 < list_length(table->terms.references); r += 2)
	{
		char *column = list_nth(table->terms.references, r);
		int to =
			linked_given_reference(schema->linked, table, column, list_nth(table->terms.references, r + 1));
		bool known = false;

		for (int c = 0; c < schema->nkeys; c++)
			known = known || (schema->keys[c].from == from && schema->keys[c].to == to &&
							  schema->keys[c].column != NULL && strcmp(schema->keys[c].column, column) == 0);
		if (!known)
			add_key(schema, (ForeignKey){column, from, to, column, schema->linked->tables[to].key});
	}
}

/* A foreign key of several columns to the primary key becomes one of one column. */
static void
compose_key(Linked *linked, ForeignKey *key)
{
	LinkedTable *from = &linked->tables[key->from], *to = &linked->tables[key->to];
	List *parts = NIL;
	ListCell *cell;
	uint64 n = linked_ask(
		psprintf(
			"SELECT a.attname, f.attname FROM pg_constraint c, unnest(c.conkey, c.confkey) AS u (k, r),"
			" pg_attribute a, pg_attribute f WHERE c.conrelid = $1 AND c.conname = %s AND c.contype = 'f'"
			" AND a.attrelid = c.conrelid AND a.attnum = u.k AND f.attrelid = c.confrelid AND f.attnum = u.r",
			quote_literal_cstr(key->name)),
		from->keyed);

	if (n != (uint64) list_length(to->parts.primary))
		return;
	foreach (cell, to->parts.primary)
		for (uint64 row = 0; row < n; row++)
			if (strcmp(name_value(row, 2), lfirst(cell)) == 0)
				parts = lappend(parts, name_value(row, 1));
	if (list_length(parts) != list_length(to->parts.primary))
		return;
	key->column = linked_compose(from, parts);
	to->key = key->refers = linked_compose(to, to->parts.primary);
	to->key_type = TEXTOID;
}

/* A key of several columns, where persons are told apart by it, or a lookup is published with it. */
static void
compose_primary(const Linked *linked, LinkedTable *table)
{
	if (table->key != NULL || table->parts.primary == NIL || linked->checks)
		return;
	table->key = linked_compose(table, table->parts.primary);
	table->key_type = TEXTOID;
}

/* Foreign keys between tables that are named, in the order of their names. */
static void
find_foreign_keys(Schema *schema)
{
	Linked *linked = schema->linked;

	for (int i = 0; i < linked->n; i++)
	{
		int first = schema->nkeys;
		uint64 n = linked_ask(
			"SELECT c.conname, c.confrelid,"
			" CASE WHEN cardinality(c.conkey) = 1 THEN a.attname END, f.attname FROM pg_constraint c"
			" JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
			" JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = c.confkey[1]"
			" WHERE c.conrelid = $1 AND c.contype = 'f' ORDER BY 1, 2",
			linked->tables[i].keyed);

		for (uint64 row = 0; row < n; row++)
		{
			bool isnull;
			int to = keyed_table(linked, DatumGetObjectId(gate_value(row, 2, OIDOID, &isnull)));

			/* (a view may have the column under another name) */
			if (to < 0 ||
				(name_value(row, 3) != NULL && get_attnum(linked->tables[i].relid, name_value(row, 3)) <= 0))
				continue;
			add_key(schema, (ForeignKey){name_value(row, 1), i, to, name_value(row, 3), name_value(row, 4)});
		}
		for (int c = first; c < schema->nkeys && !linked->checks; c++)
			if (schema->keys[c].column == NULL)
				compose_key(linked, &schema->keys[c]);
		add_given(schema, i);
	}
}

static void
check_named(const Schema *schema)
{
	for (int i = 0; i < schema->linked->n; i++)
	{
		const LinkedTable *table = &schema->linked->tables[i];
		bool found = table->terms.constraint == NULL;

		for (int c = 0; c < schema->nkeys && !found; c++)
			found = (schema->keys[c].from == i && linked_leads(schema, &schema->keys[c])) ||
					(schema->keys[c].to == i && linked_is_copied(schema, &schema->keys[c]));
		if (!found)
			linked_raise_table(
				table,
				psprintf("has no foreign key \"%s\" to another table that is named",
						 excerpt(table->terms.constraint)),
				"Name a constraint of the table, as in \\d, whose other table is in tables, too.");
	}
}

static void
reach(Schema *schema)
{
	bool more = true;

	while (more)
	{
		more = false;
		for (int c = 0; c < schema->nkeys; c++)
		{
			const ForeignKey *key = &schema->keys[c];

			if (schema->reached[key->to] && !schema->reached[key->from] && linked_leads(schema, key))
				more = schema->reached[key->from] = true;
		}
	}
}

/* Not over tables of which rows have copies of copies. */
static void
refuse_shared(const Schema *schema, int table)
{
	for (int c = 0; c < schema->nkeys; c++)
		if (schema->keys[c].from == table && schema->linked->tables[schema->keys[c].to].reference != NULL)
			linked_raise_table(
				&schema->linked->tables[table],
				psprintf("hangs on table \"%s\", to which rows refer that several persons may have",
						 excerpt(schema->linked->tables[schema->keys[c].to].name)),
				"Publish a view instead that joins it with the table that refers to that one, with \"key\" and "
				"\"references\": each person has a copy of the row then. Or leave this one out.");
}

/* Rows refer to it, or to what refers to it. */
static void
find_lookups(Schema *schema)
{
	Linked *linked = schema->linked;
	const bool *referred = linked_find_referred(schema);

	for (int i = 0; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];

		if (schema->reached[i] || table->reference != NULL)
			continue;
		if (!referred[i])
			refuse_shared(schema, i);
		if (!referred[i])
			linked_raise_table(
				table, "has no path to the subject, and no other table refers to it",
				"Foreign keys of the catalogs must lead from it to the subject's table, over tables that "
				"are named; or publish it alone.");
		if (table->qis != NULL || table->terms.max_rows > 0 || !table->linked ||
			table->terms.constraint != NULL)
			linked_raise_table(table, "is a lookup, on which no person hangs",
							   "Of lookups say what to \"keep\" and \"mask\", and no more. " COPIES_HINT);
		table->role = LINKED_LOOKUP;
		compose_primary(linked, table);
	}
}

/* ---- the order, and the keys that are published ---- */

/* Steps to the subject; more than there are tables: keys go in a circle. */
static int
depth_of(const Linked *linked, int table, int most)
{
	const LinkedTable *from = &linked->tables[table];
	int depth;

	if (from->parent < 0 || most < 0)
		return 0;
	depth = depth_of(linked, from->parent, most - 1);
	if (from->joins.column != NULL)
		depth = Max(depth, depth_of(linked, from->joins.table, most - 1));
	if (from->shared.any)
		depth = Max(depth, depth_of(linked, from->shared.through, most - 1));
	return depth + 1;
}

/* The subject, then by distance from it; those without a key to persons and lookups last. */
static void
sort_tables(Schema *schema)
{
	Linked *linked = schema->linked;
	LinkedTable *sorted = palloc0(sizeof(LinkedTable) * KANON_MAX_LINKED);
	int *place = palloc(sizeof(int) * linked->n);
	int n = 0;

	for (int i = 0; i < linked->n; i++)
		if (depth_of(linked, i, linked->n) > linked->n)
			linked_raise_table(&linked->tables[i],
							   "reaches the subject along no path: foreign keys go in a circle",
							   "Say by {\"foreign_key\": \"its name\"} whose the rows are.");
	for (int role = LINKED_SUBJECT; role <= LINKED_LOOKUP; role++)
		for (int depth = 0; depth <= linked->n; depth++)
			for (int i = 0; i < linked->n; i++)
				if ((int) linked->tables[i].role == role && depth_of(linked, i, linked->n) == depth)
				{
					sorted[n] = linked->tables[i];
					place[i] = n++;
				}
	for (int i = 0; i < linked->n; i++)
	{
		if (sorted[i].parent >= 0)
			sorted[i].parent = place[sorted[i].parent];
		if (sorted[i].joins.column != NULL)
			sorted[i].joins.table = place[sorted[i].joins.table];
		if (sorted[i].shared.any)
			sorted[i].shared.through = place[sorted[i].shared.through];
	}
	for (int c = 0; c < schema->nkeys; c++)
	{
		schema->keys[c].from = place[schema->keys[c].from];
		schema->keys[c].to = place[schema->keys[c].to];
	}
	linked->tables = sorted;
}

/* A key and what it refers to are one type, whose equal values look the same. */
static void
check_key(const Linked *linked, const LinkedTable *from, const char *column, const LinkedTable *to,
		  const char *refers)
{
	AttrNumber attnum = get_attnum(from->relid, column);
	Oid type, collation;
	int32 typmod;

	if (to->key != NULL && linked_parts(from, column) != NIL && linked_parts(to, to->key) != NIL)
	{
		linked_check_composed(from, column, to);
		return;
	}
	get_atttypetypmodcoll(from->relid, attnum, &type, &typmod, &collation);
	if (to->key == NULL || (refers != NULL && strcmp(to->key, refers) != 0))
		linked_raise_table(
			to, psprintf("has no primary key of one column that \"%s\" refers to", excerpt(from->name)),
			"Keys are published as pseudonyms where one column is the primary key.");
	if (getBaseType(type) != to->key_type)
		linked_raise_table(from,
						   psprintf("has in \"%s\" another type than the key that it refers to", column),
						   "Give both columns one type.");
	if (!OidIsValid(get_array_type(to->key_type)))
		linked_raise_table(to, "has a key that is an array",
						   "Take a key of another type, such as bigint, uuid or text.");
	/* (of equal numerics the shortest text is hashed; texts are read in the spelling of the key) */
	if (getBaseType(type) != NUMERICOID && getBaseType(type) != BPCHAROID && getBaseType(type) != TEXTOID &&
		getBaseType(type) != VARCHAROID && !equal_is_identical(getBaseType(type), collation))
		linked_raise_table(from, psprintf("has a key \"%s\" whose equal values may look different", column),
						   "Give both columns another type: bigint, uuid and text will do.");
}

static void
note_keys(Schema *schema)
{
	Linked *linked = schema->linked;

	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];
		LinkedTable *from = &linked->tables[key->from], *to = &linked->tables[key->to];
		LinkedKey *noted;

		if (key->column == NULL)
			continue;
		if (to->reference != NULL && to->parent == key->from && strcmp(to->reference, key->column) == 0)
		{
			check_key(linked, from, key->column, to, key->refers);
			compose_primary(linked, from);
			if (from->key == NULL)
				linked_raise_table(
					from,
					psprintf("has no primary key of one column, by which copies of \"%s\" are told apart",
							 excerpt(to->name)),
					"Give it one, or leave the other table out.");
			from->is_parent = true;
			continue;
		}
		if (from->reference == NULL && from->parent == key->to &&
			strcmp(from->parent_column, key->column) == 0)
		{
			check_key(linked, from, key->column, to, key->refers);
			to->is_parent = to->is_parent || from->role == LINKED_ROWS;
			continue;
		}
		if (from->shared.any && from->shared.through == key->to &&
			strcmp(from->parent_column, key->column) == 0)
		{
			check_key(linked, from, key->column, to, key->refers);
			continue;
		}
		noted = palloc(sizeof(LinkedKey));
		*noted = (LinkedKey){key->column, key->to};
		from->keys = lappend(from->keys, noted);
		if (linked_is_joined(from, key->column, key->to))
			to->is_parent = true;
		if (to->role == LINKED_LOOKUP || linked_is_joined(from, key->column, key->to))
			check_key(linked, from, key->column, to, key->refers);
	}
}

LinkedTable *
linked_copied_for(const Linked *linked, const LinkedTable *table)
{
	while (table->reference != NULL)
		table = &linked->tables[table->parent];
	return unconstify(LinkedTable *, table);
}

static void
check_subject(Linked *linked, Oid subject)
{
	int place = table_of(linked, subject);
	LinkedTable *table;

	if (place < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the subject's table is not in tables"),
				 errhint("Name it there, too, with its quasi-identifiers.")));
	table = &linked->tables[place];
	if (table->key == NULL)
		linked_raise_table(table, "has no primary key of one column, by which persons are told apart",
						   "Give it a primary key of one column; or say {\"key\": \"id\"} of a view.");
	if (table->terms.constraint != NULL || table->terms.max_rows > 0 || !table->linked)
		linked_raise_table(table,
						   "is the subject: \"foreign_key\", \"max_rows\" and \"linked\" are of other tables",
						   "Leave them out.");
	if (table->terms.class_size > 0 && table->terms.class_size < linked->k)
		linked_raise_table(table, "has a \"class_size\" below k",
						   "Classes of more persons than k lose less of their rows.");
	check_key(linked, table, table->key, table, NULL);
}

/* Which rows of another lookup are published is known too late. */
static void
check_referenced(const Linked *linked, int lookup)
{
	const LinkedTable *table = &linked->tables[lookup];

	if (table->role != LINKED_LOOKUP)
		linked_raise_table(table, "is no lookup, of which alone rows may be \"referenced\"", "Leave it out.");
	for (int i = 0; i < linked->n; i++)
	{
		const ListCell *cell;

		foreach (cell, linked->tables[i].role == LINKED_LOOKUP ? linked->tables[i].keys : NIL)
			if (((const LinkedKey *) lfirst(cell))->table == lookup)
				linked_raise_table(table, "is \"referenced\", and another lookup refers to it",
								   "Leave \"referenced\" out, or the other lookup.");
	}
}

void
linked_schema(Linked *linked, Oid subject, Jsonb *tables)
{
	Schema schema = {.linked = linked};

	linked_words(linked, tables);
	schema.reached = palloc0(sizeof(bool) * Max(linked->n, 1));
	for (int i = 0; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];

		find_primary_key(table);
		table->role = table->relid == subject ? LINKED_SUBJECT : table->linked ? LINKED_ROWS : LINKED_ALONE;
		schema.reached[i] = table->role == LINKED_SUBJECT;
		if (table->role == LINKED_SUBJECT)
			compose_primary(linked, table);
	}
	check_subject(linked, subject);
	find_foreign_keys(&schema);
	reach(&schema);
	check_named(&schema);
	linked_find_copies(&schema);
	linked_find_shared(&schema);
	find_lookups(&schema);
	linked_choose_paths(&schema);
	sort_tables(&schema);
	note_keys(&schema);
	for (int i = 0; i < linked->n; i++)
		linked->tables[i].qis = linked_together(&linked->tables[i], linked->tables[i].qis);
	linked_finish_shared(linked);
	linked_know_tables(linked);
	for (int i = 0; i < linked->n; i++)
		if (linked->tables[i].reference != NULL)
			linked->tables[i].key_type = linked_copied_for(linked, &linked->tables[i])->key_type;
	for (int i = 0; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];

		if ((table->terms.class_size > 0 || table->terms.tries_sizes) && table->role != LINKED_SUBJECT)
			linked_raise_table(table, "is not the subject, whose classes alone have a \"class_size\"",
							   "Leave it out.");
		if (table->terms.weight != 1 && table->role > LINKED_ROWS)
			linked_raise_table(table, "has a \"weight\", and is not solved with others",
							   "Only the subject and tables of rows have one.");
		/* (rows may refer to it by a key of several columns alone) */
		if (table->role == LINKED_LOOKUP && table->key == NULL && !linked->checks)
			linked_raise_table(table, "is a lookup without a primary key of one column",
							   "Keys are published as pseudonyms where one column is the primary key.");
		if (table->terms.referenced)
			check_referenced(linked, i);
		if (table->qis == NULL && (table->role == LINKED_SUBJECT || table->role == LINKED_ALONE))
			linked_raise_table(
				table, "has no quasi_identifiers",
				"Name at least one column that somebody may know of a person, or leave the table out.");
		if (table->parent > 0 && table->role == LINKED_ROWS && table->reference == NULL &&
			linked->tables[table->parent].role == LINKED_ALONE)
			linked_raise_table(table, "hangs on a table that is published without a key to the person",
							   "Link the other one, or say {\"linked\": false} of this one, too.");
	}
}
