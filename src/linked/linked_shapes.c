/*
 * linked_shapes.c: views of tables that are not published just as they are.
 *
 * Each row that refers to a table of copies has a copy of its own, so that no reader sees who shares a row.  The copy has the
 * key of the row that refers to it.  A row that refers to nothing has a copy without values: whether a row refers to
 * something is known with its other columns.
 *
 * A table below others that is published without a key to the person shows the person all the same, to be counted.
 *
 * A column that refers to a key of char(n), or of a collation that ignores case, has the key's own spelling.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked_histories.h"
#include "linked/linked_ways.h"
#include "rows/source.h"
#include "rows/target.h"
#include "series/successive.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static const char *
reads(const LinkedTable *table)
{
	return relation_name(table->request.source);
}

static Oid
key_collation(const LinkedTable *table)
{
	Oid type, collation;
	int32 typmod;

	if (linked_parts(table, table->key) != NIL)
		return InvalidOid;
	get_atttypetypmodcoll(table->relid, get_attnum(table->relid, table->key), &type, &typmod, &collation);
	return collation;
}

static Oid
collation_namespace(Oid collation)
{
	HeapTuple tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	Oid namespace;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	namespace = ((Form_pg_collation) GETSTRUCT(tuple))->collnamespace;
	ReleaseSysCache(tuple);
	return namespace;
}

/* A view as it is written. */
typedef struct Shape
{
	const Linked *linked;
	const LinkedTable *table;
	StringInfoData joins;
	int njoins;
	List *columns;      /* char *: these columns, … */
	List *instead;      /* … show that */
	const char *copies; /* how many copies there are; or NULL */
	const char *shared; /* of which row; or NULL */
} Shape;

bool
linked_spelled(const LinkedTable *from, const char *column, const LinkedTable *to)
{
	Oid type, collation;
	int32 typmod;

	if (linked_parts(from, column) != NIL)
		return false;
	get_atttypetypmodcoll(from->relid, get_attnum(from->relid, column), &type, &typmod, &collation);
	if (getBaseType(type) == NUMERICOID)
		return false;
	return !equal_is_identical(getBaseType(type), collation) || collation != key_collation(to);
}

static void
show_instead(Shape *shape, const char *column, char *what)
{
	shape->columns = lappend(shape->columns, unconstify(char *, column));
	shape->instead = lappend(shape->instead, what);
}

/* The row of a table to which a column refers, by the collation of its key. */
static int
join(Shape *shape, const char *kind, const char *relation, const LinkedTable *to, const char *refers)
{
	Oid collation = key_collation(to);
	int n = shape->njoins++;

	appendStringInfo(&shape->joins, " %s %s AS r%d ON %s OPERATOR(pg_catalog.=) r%d.%s", kind, relation, n,
					 refers, n, quote_identifier(to->key));
	if (OidIsValid(collation))
		appendStringInfo(&shape->joins, " COLLATE %s",
						 quote_qualified_identifier(get_namespace_name(collation_namespace(collation)),
													get_collation_name(collation)));
	return n;
}

/* In the spelling of the key that it refers to. */
static void
spell(Shape *shape, const char *column, const LinkedTable *to)
{
	int n;

	if (!linked_spelled(shape->table, column, to))
		return;
	n = join(shape, "LEFT JOIN", relation_name(to->relid), to, psprintf("t.%s", quote_identifier(column)));
	show_instead(shape, column, psprintf("r%d.%s", n, quote_identifier(to->key)));
}

static void
spell_references(Shape *shape)
{
	const LinkedTable *table = shape->table;
	const ListCell *cell;

	if (table->parent_column != NULL && table->reference == NULL && !table->shared.any &&
		!table->shared.copied &&
		(table->role == LINKED_ROWS || (table->role == LINKED_ALONE && table->parent == 0)))
		spell(shape, table->parent_column, &shape->linked->tables[table->parent]);
	foreach (cell, table->keys)
	{
		const LinkedKey *key = lfirst(cell);

		if (shape->linked->tables[key->table].role == LINKED_LOOKUP ||
			linked_is_joined(table, key->column, key->table))
			spell(shape, key->column, &shape->linked->tables[key->table]);
	}
}

/* The person of each row, over the tables between. */
static void
find_person(Shape *shape)
{
	const LinkedTable *table = shape->table, *above = &shape->linked->tables[table->parent];
	const char *refers;

	if (table->role != LINKED_ALONE || table->parent == 0)
		return;
	refers = linked_column(table, "t", table->parent_column);
	for (;;)
	{
		int n = join(shape, "JOIN", reads(above), above, refers);

		refers = psprintf("r%d.%s", n, quote_identifier(above->parent_column));
		/* (that one has the person already) */
		if (above->role == LINKED_ALONE || above->parent == 0)
			break;
		above = &shape->linked->tables[above->parent];
	}
	show_instead(shape, table->parent_column, unconstify(char *, refers));
}

/* The expression that a view has instead of a column; or NULL. */
static const char *
shown_instead(const Shape *shape, const char *column)
{
	const ListCell *cell, *what;

	forboth (cell, shape->columns, what, shape->instead)
		if (strcmp(lfirst(cell), column) == 0)
			return lfirst(what);
	return NULL;
}

/* Keys of several columns. */
static void
put_composed(const Shape *shape, StringInfo columns)
{
	ListCell *cell;

	foreach (cell, linked_composed_names(shape->table))
	{
		const char *shown = shown_instead(shape, lfirst(cell));

		appendStringInfo(columns, "%s%s AS %s", columns->len > 0 ? ", " : "",
						 shown != NULL ? shown : linked_column(shape->table, "t", lfirst(cell)),
						 quote_identifier(lfirst(cell)));
	}
}

static char *
shape_columns(const Shape *shape)
{
	const LinkedTable *table = shape->table;
	List *names = linked_names_used(table);
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 1, n = relation_natts(table->relid); i <= n; i++)
	{
		char *column = get_attname(table->relid, (AttrNumber) i, true);
		const char *shown = NULL;
		bool used = false;
		ListCell *cell;

		foreach (cell, names)
			used = used || (column != NULL && strcmp(lfirst(cell), column) == 0);
		/* (what is joined to find persons is read, too, published or not) */
		if (!used && (column == NULL || !linked_is_reference(table, column)))
			continue;
		shown = shown_instead(shape, column);
		appendStringInfo(&columns, "%s%s AS %s", columns.len > 0 ? ", " : "",
						 shown != NULL ? shown : psprintf("t.%s", quote_identifier(column)),
						 quote_identifier(column));
	}
	put_composed(shape, &columns);
	if (shape->shared != NULL)
		appendStringInfo(&columns, "%s%s AS " LINKED_SHARED_ROW, columns.len > 0 ? ", " : "", shape->shared);
	if (shape->copies != NULL)
		appendStringInfo(&columns, "%s%s AS " LINKED_COPIES, columns.len > 0 ? ", " : "", shape->copies);
	return columns.data;
}

/* Each row that refers has a copy, with its key. */
static char *
copy_rows(Shape *shape)
{
	const LinkedTable *table = shape->table, *parent = &shape->linked->tables[table->parent];
	const char *condition = table->shared.on ? linked_owner_condition(parent, "p") : NULL;
	const char *refers = psprintf("p.%s", quote_identifier(table->reference));

	show_instead(shape, table->key, psprintf("p.%s", quote_identifier(parent->key)));
	if (table->shared.on)
		shape->shared = refers;
	if (linked_shows_copies(table))
		shape->copies = psprintf("CASE WHEN NOT %s IS NULL THEN p.kanon__copies END", refers);
	return psprintf("%s AS p LEFT JOIN %s AS t ON %s OPERATOR(pg_catalog.=) %s%s%s",
					shape->copies != NULL ? linked_sharers(shape->linked, table, reads(parent))
										  : reads(parent),
					relation_name(table->relid), refers, linked_column(table, "t", table->key),
					condition != NULL ? " AND " : "", condition != NULL ? condition : "");
}

/* Each person has a copy of what hangs on rows to which rows of several persons refer. */
static char *
share_rows(Shape *shape)
{
	const LinkedTable *table = shape->table, *parent = &shape->linked->tables[table->parent];
	bool only = table->key != NULL && strcmp(table->key, table->parent_column) == 0;

	if (table->shared.any)
		show_instead(shape, table->parent_column, psprintf("p.%s", quote_identifier(parent->key)));
	else if (table->shared.copied)
		show_instead(shape, table->parent_column, linked_copy_key(table, table->parent_column));
	if (table->shared.copied && table->key != NULL && !only)
		show_instead(shape, table->key, linked_copy_key(table, table->key));
	if (linked_shows_copies(table))
		shape->copies = "p.kanon__copies";
	shape->shared = psprintf("p.%s", quote_identifier(linked_shared_by(shape->linked, table)));
	return linked_shared_from(shape->linked, table);
}

static void
make_shape(const Linked *linked, LinkedTable *table)
{
	Shape shape = {.linked = linked, .table = table};
	const char *from = psprintf("%s AS t", relation_name(table->relid));
	char *name;

	initStringInfo(&shape.joins);
	spell_references(&shape);
	find_person(&shape);
	if (table->reference != NULL)
		from = copy_rows(&shape);
	else if (linked_shared_root(linked, table) != NULL)
		from = share_rows(&shape);
	if (shape.columns == NIL && table->parts.composed == NIL)
		return;
	/* (the look at all of them comes before they are read) */
	for (int i = 0; i < linked->n; i++)
		relation_trust(linked->tables[i].relid);
	name = held_name(linked, "shape");
	run_utility(psprintf("CREATE %sVIEW %s AS SELECT %s FROM %s%s",
						 strcmp(linked->schema, "pg_temp") == 0 ? "TEMPORARY " : "", name,
						 shape_columns(&shape), from, shape.joins.data));
	table->request.source = history_oid(name);
	keep_private(table->request.source);
}

void
linked_make_shapes(Linked *linked)
{
	/* (parents first; a lookup stays as it is, but for what it refers to) */
	for (int i = 0; i < linked->n; i++)
		make_shape(linked, &linked->tables[i]);
}

bool
linked_is_spelled(const Linked *linked, const LinkedTable *table)
{
	Shape shape = {.linked = linked, .table = table};

	initStringInfo(&shape.joins);
	spell_references(&shape);
	return shape.columns != NIL;
}

void
linked_drop_shapes(Linked *linked)
{
	for (int i = linked->n - 1; i >= 0; i--)
		if (linked->tables[i].request.source != linked->tables[i].relid)
			run_utility(psprintf("DROP VIEW %s", relation_name(linked->tables[i].request.source)));
}
