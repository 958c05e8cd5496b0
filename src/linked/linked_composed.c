/*
 * linked_composed.c: keys of several columns.
 *
 * They are published as one column, as a pseudonym like any key: a reference of several columns is shown or hidden as one.
 * A view of the release (linked_shapes.c) has it, under the names of its columns joined.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "linked/linked.h"
#include "rows/source.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Its values as a text: a name, and the columns (char *). */
typedef struct Composed
{
	char *name;
	List *parts;
} Composed;

static bool
are_same(const List *a, const List *b)
{
	const ListCell *one, *other;

	if (list_length(a) != list_length(b))
		return false;
	forboth (one, a, other, b)
		if (strcmp(lfirst(one), lfirst(other)) != 0)
			return false;
	return true;
}

List *
linked_parts(const LinkedTable *table, const char *column)
{
	const ListCell *cell;

	foreach (cell, table->parts.composed)
		if (strcmp(((const Composed *) lfirst(cell))->name, column) == 0)
			return ((const Composed *) lfirst(cell))->parts;
	return NIL;
}

List *
linked_composed_names(const LinkedTable *table)
{
	List *names = NIL;
	const ListCell *cell;

	foreach (cell, table->parts.composed)
		names = lappend(names, ((const Composed *) lfirst(cell))->name);
	return names;
}

/* Values of one text for equal values, whatever the session's settings are. */
void
linked_check_part(const LinkedTable *table, const char *part)
{
	static const Oid plain[] = {INT2OID, INT4OID, INT8OID, OIDOID,    UUIDOID,
								BOOLOID, DATEOID, TEXTOID, VARCHAROID};
	Oid type, collation;
	int32 typmod;
	bool found = false;

	get_atttypetypmodcoll(table->relid, get_attnum(table->relid, part), &type, &typmod, &collation);
	for (int i = 0; i < lengthof(plain); i++)
		found = found || getBaseType(type) == plain[i];
	if (!found || !equal_is_identical(getBaseType(type), collation))
		linked_raise_table(
			table,
			psprintf("has \"%s\" in a key of several columns, and equal values of it may look different",
					 part),
			"Give it another type: whole numbers, uuid, date and text will do. Or read it through a view that makes one "
			"column of the key, with \"key\" and \"references\" in the options.");
}

/* A free name: "code_ver", "code_ver_key", "code_ver_key2" … */
static char *
name_of(const LinkedTable *table, const List *parts)
{
	StringInfoData all;
	const ListCell *cell;

	initStringInfo(&all);
	foreach (cell, parts)
		appendStringInfo(&all, "%s%s", all.len > 0 ? "_" : "", (const char *) lfirst(cell));
	for (int n = 0;; n++)
	{
		char *more = n == 0 ? "" : n == 1 ? "_key" : psprintf("_key%d", n);
		int length = pg_mbcliplen(all.data, all.len, NAMEDATALEN - 5 - (int) strlen(more));
		char *name = psprintf("%.*s%s", length, all.data, more);

		CHECK_FOR_INTERRUPTS();
		if (get_attnum(table->relid, name) == InvalidAttrNumber && linked_parts(table, name) == NIL)
			return name;
	}
}

char *
linked_compose(LinkedTable *table, List *parts)
{
	Composed *composed;
	const ListCell *cell;

	foreach (cell, table->parts.composed)
		if (are_same(((const Composed *) lfirst(cell))->parts, parts))
			return ((const Composed *) lfirst(cell))->name;
	foreach (cell, parts)
		linked_check_part(table, lfirst(cell));
	composed = palloc(sizeof(Composed));
	*composed = (Composed){name_of(table, parts), parts};
	table->parts.composed = lappend(table->parts.composed, composed);
	return composed->name;
}

/* Types agree column by column. */
void
linked_check_composed(const LinkedTable *from, const char *column, const LinkedTable *to)
{
	const List *here = linked_parts(from, column), *there = linked_parts(to, to->key);
	const ListCell *one, *other;

	forboth (one, here, other, there)
	{
		Oid type = get_atttype(from->relid, get_attnum(from->relid, lfirst(one)));

		if (getBaseType(type) != getBaseType(get_atttype(to->relid, get_attnum(to->relid, lfirst(other)))))
			linked_raise_table(from,
							   psprintf("has in \"%s\" another type than the key that it refers to",
										(const char *) lfirst(one)),
							   "Give both columns one type.");
	}
}

char *
linked_column(const LinkedTable *table, const char *alias, const char *column)
{
	List *parts = linked_parts(table, column);
	StringInfoData list;
	const ListCell *cell;

	if (parts == NIL)
		return psprintf("%s.%s", alias, quote_identifier(column));
	initStringInfo(&list);
	foreach (cell, parts)
		appendStringInfo(&list, "%s%s.%s", list.len > 0 ? ", " : "", alias, quote_identifier(lfirst(cell)));
	/* (a reference that is NULL in one of its columns refers to nothing) */
	return psprintf("CASE WHEN pg_catalog.num_nulls(%s) OPERATOR(pg_catalog.=) 0 THEN CAST("
					"pg_catalog.jsonb_build_array(%s) AS pg_catalog.text) END",
					list.data, list.data);
}

/* ---- what the caller names ---- */

static bool
is_named(char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* A column that refers to a table by itself, too, stays. */
static bool
refers_alone(const LinkedTable *table, const char *column)
{
	const ListCell *cell;

	foreach (cell, table->keys)
		if (strcmp(((const LinkedKey *) lfirst(cell))->column, column) == 0)
			return true;
	return false;
}

/* All columns of a reference that are named become one. */
static void
put_together(const LinkedTable *table, const Composed *composed, char **names, int n)
{
	const ListCell *cell;
	bool put = false;

	foreach (cell, composed->parts)
		if (!is_named(names, n, lfirst(cell)))
			return;
	for (int i = 0; i < n; i++)
	{
		bool part = false;

		foreach (cell, composed->parts)
			part = part || (names[i] != NULL && strcmp(lfirst(cell), names[i]) == 0);
		if (!part || refers_alone(table, names[i]))
			continue;
		names[i] = put ? NULL : composed->name;
		put = true;
	}
}

ArrayType *
linked_together(const LinkedTable *table, ArrayType *array)
{
	const ListCell *cell;
	char **names;
	int n = 0, left = 0;

	if (array == NULL || table->parts.composed == NIL)
		return array;
	names = name_array(array, "keep", &n);
	foreach (cell, table->parts.composed)
		if (refers_alone(table, ((const Composed *) lfirst(cell))->name))
			put_together(table, lfirst(cell), names, n);
	for (int i = 0; i < n; i++)
		if (names[i] != NULL)
			names[left++] = names[i];
	return name_list((const char *const *) names, left);
}
