/*
 * linked_shapes.c: copies of tables to which rows of persons refer, as views.
 *
 * Each row that refers to a table has a copy of its own, so that no reader sees who shares a row.  The copy has the key of the
 * row that refers to it.  A row that refers to nothing has a copy without values: whether a row refers to something is
 * known with its other columns.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked_histories.h"
#include "rows/source.h"
#include "rows/target.h"
#include "series/successive.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static const char *
reads(const LinkedTable *table)
{
	return relation_name(table->request.source);
}

static void
make_shape(const Linked *linked, LinkedTable *table)
{
	const LinkedTable *parent = &linked->tables[table->parent];
	char *name = held_name(linked, "copies");
	List *names = linked_names_used(table);
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 1, n = relation_natts(table->relid); i <= n; i++)
	{
		char *column = get_attname(table->relid, (AttrNumber) i, true);
		bool used = false;
		ListCell *cell;

		foreach (cell, names)
			used = used || (column != NULL && strcmp(lfirst(cell), column) == 0);
		if (used && strcmp(column, table->key) != 0)
			appendStringInfo(&columns, ", t.%s", quote_identifier(column));
	}
	/* (the look at both comes before they are read) */
	relation_trust(parent->relid);
	relation_trust(table->relid);
	run_utility(psprintf("CREATE %sVIEW %s AS SELECT p.%s AS %s%s FROM %s AS p LEFT JOIN %s AS t"
						 " ON t.%s OPERATOR(pg_catalog.=) p.%s",
						 strcmp(linked->schema, "pg_temp") == 0 ? "TEMPORARY " : "", name,
						 quote_identifier(parent->key), quote_identifier(table->key), columns.data,
						 reads(parent), relation_name(table->relid), quote_identifier(table->key),
						 quote_identifier(table->reference)));
	table->request.source = history_oid(name);
	keep_private(table->request.source);
}

void
linked_make_shapes(Linked *linked)
{
	/* (parents first) */
	for (int i = 0; i < linked->n; i++)
		if (linked->tables[i].reference != NULL)
			make_shape(linked, &linked->tables[i]);
}

void
linked_drop_shapes(Linked *linked)
{
	for (int i = linked->n - 1; i >= 0; i--)
		if (linked->tables[i].request.source != linked->tables[i].relid)
			run_utility(psprintf("DROP VIEW %s", relation_name(linked->tables[i].request.source)));
}
