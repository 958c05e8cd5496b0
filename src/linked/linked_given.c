/*
 * linked_given.c: keys and references that the caller gives, of relations whose catalogs have none: views, materialised
 * views, foreign tables.  Nothing enforces them, so the rows that are read are looked at.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "linked/linked.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* Raises where it has no such column. */
static void
check_column(const LinkedTable *table, const char *column, const char *word)
{
	if (get_attnum(table->relid, column) <= 0)
		linked_raise_table(table, psprintf("has no column \"%s\", which \"%s\" names", excerpt(column), word),
						   "Name columns of the relation, as in \\d.");
}

bool
linked_given_key(LinkedTable *table)
{
	if (table->terms.key == NULL)
		return false;
	check_column(table, table->terms.key, "key");
	table->key = table->terms.key;
	table->key_type = getBaseType(get_atttype(table->relid, get_attnum(table->relid, table->key)));
	return true;
}

int
linked_given_reference(const Linked *linked, const LinkedTable *table, const char *column, const char *name)
{
	check_column(table, column, "references");
	for (int i = 0; i < linked->n; i++)
	{
		const LinkedTable *to = &linked->tables[i];

		if (strcmp(to->name, name) != 0 && strcmp(to->relname, name) != 0)
			continue;
		if (to->key == NULL)
			linked_raise_table(to,
							   psprintf("has no key of one column to which \"%s\" refers", excerpt(column)),
							   "Say which column tells its rows apart: {\"key\": \"id\"}.");
		return i;
	}
	linked_raise_table(
		table, psprintf("refers by \"%s\" to \"%s\", which is not in tables", excerpt(column), excerpt(name)),
		"Name that table in tables, too: {\"references\": {\"customer_id\": \"shop.customers\"}}.");
}

/* ---- as it is read ---- */

static bool
exists(const LinkedTable *table, const LinkedTable *other, const char *query)
{
	char *name = relation_name(table->relid);
	Gate *gate = gate_create(name, table->relid, 1);
	bool isnull;

	if (other != NULL)
		(void) gate_also(gate, other->relid);
	gate_computed(gate, "exists", BOOLOID);
	gate_query(gate, query, true);
	return DatumGetBool(gate_value(0, 1, BOOLOID, &isnull));
}

static void
check_key(const LinkedTable *table)
{
	const char *key = quote_identifier(table->key);

	if (exists(table, NULL,
			   psprintf("SELECT EXISTS (SELECT FROM %s AS t GROUP BY t.%s HAVING pg_catalog.count(*) "
						"OPERATOR(pg_catalog.>) 1 OR t.%s IS NULL)",
						relation_name(table->relid), key, key)))
		ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION),
						errmsg("\"key\" of table \"%s\" is NULL, or in several rows", excerpt(table->name)),
						errhint("Name a column that tells all rows apart, or leave rows out in the view.")));
}

static void
check_reference(const LinkedTable *table, const char *column, const LinkedTable *to)
{
	if (exists(
			table, to,
			psprintf(
				"SELECT EXISTS (SELECT FROM %s AS t WHERE NOT t.%s IS NULL AND NOT EXISTS (SELECT FROM %s AS o "
				"WHERE o.%s OPERATOR(pg_catalog.=) t.%s))",
				relation_name(table->relid), quote_identifier(column), relation_name(to->relid),
				quote_identifier(to->key), quote_identifier(column))))
		ereport(ERROR, (errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
						errmsg("\"%s\" of table \"%s\" refers to rows that table \"%s\" does not have",
							   excerpt(column), excerpt(table->name), excerpt(to->name)),
						errhint("Leave such rows out in the view, or show NULL in them.")));
}

void
linked_check_given(const Linked *linked)
{
	PushActiveSnapshot(linked->snapshot);
	for (int i = 0; i < linked->n; i++)
	{
		const LinkedTable *table = &linked->tables[i];

		if (table->terms.key != NULL)
			check_key(table);
		for (int r = 0; r + 1 < list_length(table->terms.references); r += 2)
		{
			const char *column = list_nth(table->terms.references, r);

			check_reference(table, column,
							&linked->tables[linked_given_reference(
								linked, table, column, list_nth(table->terms.references, r + 1))]);
		}
	}
	PopActiveSnapshot();
}
