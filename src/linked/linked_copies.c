/*
 * linked_copies.c: private copies that a release of protected persons is made of.
 *
 * The copies have the rows that were published last of persons who stay as they were, and the source's rows of all others
 * (linked_plan.c).
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked_histories.h"
#include "masks/mask_apply.h"
#include "rows/target.h"
#include "series/successive.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* ---- private tables ---- */

/* A free name beside the targets. */
char *
held_name(const Linked *linked, const char *what)
{
	return quote_qualified_identifier(linked->schema,
									  psprintf("kanon_%s_" UINT64_FORMAT, what, random_number()));
}

Oid
held_private(const char *name)
{
	Oid relid = history_oid(name);

	keep_private(relid);
	keep_uncounted(relid);
	gate_see_written();
	return relid;
}

void
held_lasting(const char *name)
{
	(void) held_private(name);
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'persons and rows of a kanon release; never to be published'", name));
}

Oid
held_empty(const char *name, const char *columns)
{
	history_sql("CREATE UNLOGGED TABLE %s (%s)", name, columns);
	return held_private(name);
}

/* ---- which columns are copied ---- */

static List *
add_names(List *names, ArrayType *array)
{
	int n = 0;
	char **all = array == NULL ? NULL : name_array(array, "keep", &n);

	for (int i = 0; i < n; i++)
		names = lappend(names, all[i]);
	return names;
}

/* All that the options of a table may mean by a column's name. */
List *
linked_names_used(const LinkedTable *table)
{
	JsonbIterator *it = JsonbIteratorInit(&table->options->root);
	List *names = add_names(add_names(NIL, table->qis), table->request.columns.keep);
	JsonbIteratorToken token;
	JsonbValue value;

	while ((token = JsonbIteratorNext(&it, &value, false)) != WJB_DONE)
		if ((token == WJB_KEY || token == WJB_VALUE || token == WJB_ELEM) && value.type == jbvString)
			names = lappend(names, pnstrdup(value.val.string.val, value.val.string.len));
	for (int c = 0; c < list_length(table->terms.owner); c += 2)
		names = lappend(names, list_nth(table->terms.owner, c));
	if (table->key != NULL)
		names = lappend(names, table->key);
	if (table->parent_column != NULL)
		names = lappend(names, table->parent_column);
	return names;
}

/* With what leads to lookups, published or not: their columns are compared with persons (linked_owned.c). */
static Source *
open_used(const Linked *linked, const LinkedTable *table)
{
	List *names = linked_names_used(table);
	int natts = relation_natts(table->relid), n = 0;
	const char **used = palloc(sizeof(char *) * Max(natts, 1));
	ListCell *lc;

	foreach (lc, table->keys)
		if (linked->tables[((const LinkedKey *) lfirst(lc))->table].role == LINKED_LOOKUP)
			names = lappend(names, ((const LinkedKey *) lfirst(lc))->column);
	for (int i = 1; i <= natts; i++)
	{
		char *name = get_attname(table->relid, (AttrNumber) i, true);
		bool found = false;
		ListCell *cell;

		foreach (cell, names)
			found = found || (name != NULL && strcmp(lfirst(cell), name) == 0);
		if (found)
			used[n++] = name;
	}
	return source_open_kept(table->relid, name_list(used, n));
}

/* A key that the copies have by numbers of their own. */
static bool
is_number(const LinkedTable *table, const char *name)
{
	const ListCell *cell;

	foreach (cell, table->request.linked.numbers)
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	return false;
}

/* Raises where columns have changed: rows of the release before could not be published again. */
static void
check_before(const LinkedTable *table, const Source *source, Oid before)
{
	for (int i = 0; i < source->nkept && OidIsValid(before); i++)
	{
		const SourceColumn *column = &source->kept[i];
		AttrNumber attnum = get_attnum(before, column->name);
		Oid type = InvalidOid, collation = InvalidOid;
		int32 typmod = -1;

		if (attnum > 0)
			get_atttypetypmodcoll(before, attnum, &type, &typmod, &collation);
		/* (the number of what is a person's only row is the key of the row above) */
		if (is_number(table, column->name) && type == INT8OID)
			continue;
		if (type != column->type || typmod != column->typmod || collation != column->collation)
			histories_raise_columns();
	}
}

/* ---- the source as it is now ---- */

/* "w.a, w.b": of what is copied. */
static char *
columns_of(const HeldTable *held, const char *of)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < held->source->nkept; i++)
		appendStringInfo(&list, "%s%s.%s", i > 0 ? ", " : "", of, held->source->kept[i].quoted);
	return list.data;
}

static char *
key_text(const Source *source, const char *name)
{
	for (int i = 0; i < source->nkept && name != NULL; i++)
		if (strcmp(source->kept[i].name, name) == 0)
			return text_expression(psprintf("s.%s", source->kept[i].quoted), source->kept[i].type);
	return TEXT_NULL;
}

/* The rows under the release's snapshot: with the text of the key above them, of their own one, and a hash of all. */
static void
copy_source(Linked *linked, int t, const char *name, bool lasting)
{
	const LinkedTable *table = &linked->tables[t];
	Source *source = open_used(linked, table);
	HeldTable *held = &linked->histories->tables[t];
	char *columns = column_list(source->kept, source->nkept);
	Gate *gate = gate_create(source->name, source->relid, source->nkept + 3);
	BulkWriter *bulk;
	Relation rel;

	check_before(table, source, held->before);
	held->source = source;
	held->now = name;
	history_sql("CREATE %sTABLE %s AS SELECT %s, " TEXT_NULL " AS kanon__of, " TEXT_NULL
				" AS kanon__key, " TEXT_NULL " AS kanon__hash FROM %s WITH NO DATA",
				lasting ? "" : "UNLOGGED ", name, columns, source->name);
	rel = table_open(held_private(name), RowExclusiveLock);
	bulk = bulk_begin(rel);
	gate_columns(gate, source->kept, source->nkept);
	gate_computed(gate, "kanon__of", TEXTOID);
	gate_computed(gate, "kanon__key", TEXTOID);
	gate_computed(gate, "kanon__hash", TEXTOID);
	gate_select(
		gate,
		psprintf(
			"SELECT %s, %s AS kanon__of, %s AS kanon__key, pg_catalog.md5(%s) AS kanon__hash FROM %s AS s",
			columns, key_text(source, table->parent_column), key_text(source, table->key),
			history_text(source->kept, source->nkept, "s"), source->name),
		true, bulk_receive, bulk);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/* Rows below others have the person of the row above.  If that row changes, so does their hash. */
static void
find_whose(Linked *linked, int t)
{
	const HeldTable *held = &linked->histories->tables[t];
	int parent = linked->tables[t].parent;

	history_sql("ALTER TABLE %s ADD COLUMN kanon__whose pg_catalog.text", held->now);
	if (parent == 0)
		history_sql("UPDATE %s SET kanon__whose = kanon__of", held->now);
	else
		history_sql("UPDATE %s AS w SET kanon__whose = a.kanon__whose, kanon__hash ="
					" pg_catalog.md5(pg_catalog.concat(a.kanon__hash, w.kanon__hash))"
					" FROM %s AS a WHERE a.kanon__key" EQ "w.kanon__of",
					held->now, linked->histories->tables[parent].now);
}

/* A lookup keeps rows to which published rows may refer. */
static void
copy_lookup(Linked *linked, int t)
{
	HeldTable *held = &linked->histories->tables[t];

	copy_source(linked, t, held->after, true);
	if (OidIsValid(held->before))
		history_sql(
			"INSERT INTO %s SELECT %s, kanon__of, kanon__key, kanon__hash FROM %s AS b WHERE NOT EXISTS"
			" (SELECT 1 FROM %s AS s WHERE s.kanon__key" EQ "b.kanon__key) AND b.kanon__key IS NOT NULL",
			held->after, columns_of(held, "b"), name_relation(held->before), held->after);
}

/* ---- what the release is made of ---- */

static void
copy_persons(const Linked *linked)
{
	const LinkedHistories *histories = linked->histories;
	const HeldTable *held = &histories->tables[0];

	history_sql(
		"CREATE TABLE %s AS SELECT %s, p.id AS kanon__person, p.part AS kanon__part FROM %s AS w JOIN %s AS p ON p.key" EQ
		"w.kanon__key WHERE p.part IS NOT NULL",
		held->after, columns_of(held, "w"), held->now, histories->plan);
	if (OidIsValid(held->before))
		history_sql(
			"INSERT INTO %s SELECT %s, p.id, OPERATOR(pg_catalog.-) p.history FROM %s AS e JOIN %s AS p ON p.id" EQ
			"e.kanon__person WHERE p.part IS NULL AND p.here",
			held->after, columns_of(held, "e"), name_relation(held->before), histories->plan);
}

/* The columns of rows, keys by numbers: the same row of another person, or below another row, is another row. */
static char *
numbered_columns(const Linked *linked, int t, const char *number)
{
	const LinkedTable *table = &linked->tables[t];
	const Source *source = linked->histories->tables[t].source;
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < source->nkept; i++)
	{
		const SourceColumn *column = &source->kept[i];
		bool is_parent = strcmp(column->name, table->parent_column) == 0;

		if (i > 0)
			appendStringInfoString(&list, ", ");
		if (!is_number(table, column->name))
			appendStringInfo(&list, "w.%s", column->quoted);
		else if (is_parent)
			appendStringInfo(&list, "a.%s AS %s", quote_identifier(linked->tables[table->parent].key),
							 column->quoted);
		else
			appendStringInfo(&list, "%s AS %s", number, column->quoted);
	}
	return list.data;
}

/* Rows that stay have their number, and are never shown more closely than before. */
static void
copy_rows(const Linked *linked, int t)
{
	const LinkedHistories *histories = linked->histories;
	const HeldTable *held = &histories->tables[t];
	int parent = linked->tables[t].parent;
	const char *shown = OidIsValid(held->shown_before) ? name_relation(held->shown_before) : NULL;
	char *number = psprintf(
		"coalesce(h." HELD_ROW ", w.kanon__of_all OPERATOR(pg_catalog.+) %s)",
		shown == NULL ? "0"
					  : psprintf("(SELECT coalesce(pg_catalog.max(m." HELD_ROW "), 0) FROM %s AS m)", shown));

	history_sql(
		"CREATE TABLE %s AS SELECT %s, w.kanon__person, %s AS " HELD_ROW ", %s AS " HELD_ABOVE
		", h." HELD_LEVELS ", w.kanon__key, w.kanon__hash, w.kanon__nth"
		" FROM (SELECT w.*, p.id AS kanon__person, pg_catalog.row_number() OVER (ORDER BY w.kanon__hash COLLATE pg_catalog.\"C\", p.id) AS kanon__of_all,"
		" pg_catalog.row_number() OVER (PARTITION BY w.kanon__whose, w.kanon__hash) AS kanon__nth FROM %s AS w JOIN %s AS p"
		" ON p.key" EQ
		"w.kanon__whose WHERE p.part IS NOT NULL) AS w%s LEFT JOIN %s AS h ON h.kanon__person" EQ
		"w.kanon__person AND h.kanon__hash" EQ "w.kanon__hash AND h.kanon__nth" EQ "w.kanon__nth",
		held->after, numbered_columns(linked, t, number), number,
		parent == 0 ? "w.kanon__person" : "a." HELD_ROW, held->now, histories->plan,
		parent == 0 ? ""
					: psprintf(" JOIN %s AS a ON a.kanon__person" EQ "w.kanon__person AND a.kanon__key" EQ
							   "w.kanon__of",
							   histories->tables[parent].after),
		shown != NULL ? shown
					  : "(SELECT " INT8_NULL " AS kanon__person, " INT8_NULL " AS " HELD_ROW
						", NULL::pg_catalog.bytea AS " HELD_LEVELS ", " TEXT_NULL
						" AS kanon__hash, " INT8_NULL " AS kanon__nth)");
	if (shown != NULL)
		history_sql("INSERT INTO %s SELECT %s, e.kanon__person, e." HELD_ROW
					", e.kanon__above, h." HELD_LEVELS
					", e.kanon__key, e.kanon__hash, e.kanon__nth FROM %s AS e JOIN %s AS p ON p.id" EQ
					"e.kanon__person JOIN (SELECT h." HELD_ROW ", h." HELD_LEVELS
					" FROM %s AS h WHERE h.kanon__shown) AS h ON h." HELD_ROW EQ "e." HELD_ROW
					" WHERE p.part IS NULL AND p.here",
					held->after, columns_of(held, "e"), name_relation(held->before), histories->plan, shown);
}

void
linked_copy_now(Linked *linked)
{
	for (int t = 0; t < linked->n; t++)
		if (linked->tables[t].role == LINKED_LOOKUP)
			copy_lookup(linked, t);
		else
			copy_source(linked, t, held_name(linked, "now"), false);
	for (int t = 1; t < linked->n && linked->tables[t].role == LINKED_ROWS; t++)
		find_whose(linked, t);
}

static Oid
column_type(const char *table, const char *column)
{
	Oid relid = history_oid(table);

	return get_atttype(relid, get_attnum(relid, column));
}

void
linked_copy_held(Linked *linked)
{
	copy_persons(linked);
	for (int t = 0; t < linked->n; t++)
	{
		const HeldTable *held = &linked->histories->tables[t];

		if (linked->tables[t].role == LINKED_ROWS)
			copy_rows(linked, t);
		held_lasting(held->after);
		if (linked->tables[t].role == LINKED_ROWS && (column_type(held->after, HELD_ROW) != INT8OID ||
													  column_type(held->after, HELD_LEVELS) != BYTEAOID))
			linked_raise_altered();
		linked->tables[t].request.linked.held = history_oid(held->after);
		if (linked->tables[t].role != LINKED_LOOKUP)
			history_sql("DROP TABLE %s", held->now);
	}
}
