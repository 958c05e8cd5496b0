/*
 * linked_paths.c: along which keys rows hang on persons, and on rows of persons.
 *
 * One of several references says whose a row is: the one to the table that is nearest to the person, if all others lead over
 * it.  One of the others may join, too: rows refer to rows of the same person.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "linked/linked_schema.h"

#include "lib/stringinfo.h"

/* May a table's rows hang on persons by this key? */
bool
linked_leads(const Schema *schema, const ForeignKey *key)
{
	const LinkedTable *from = &schema->linked->tables[key->from];

	return key->from != key->to && from->role != LINKED_SUBJECT &&
		   (from->terms.constraint == NULL || strcmp(from->terms.constraint, key->name) == 0);
}

/* The reference of which a table's rows are copies? */
bool
linked_is_copied(const Schema *schema, const ForeignKey *key)
{
	const LinkedTable *to = &schema->linked->tables[key->to];

	return !schema->reached[key->to] && key->from != key->to &&
		   (to->terms.constraint == NULL || strcmp(to->terms.constraint, key->name) == 0);
}

/* Do rows of the one table hang on those of the other, over so many steps at most? */
static bool
hangs_on(const Linked *linked, int table, int other, int steps)
{
	const LinkedTable *from = &linked->tables[table];

	if (table == other)
		return true;
	return steps > 0 && from->parent >= 0 &&
		   (hangs_on(linked, from->parent, other, steps - 1) ||
			(from->joins.column != NULL && hangs_on(linked, from->joins.table, other, steps - 1)));
}

static bool
is_known(const Linked *linked, int table)
{
	return linked->tables[table].role == LINKED_SUBJECT || linked->tables[table].parent >= 0;
}

pg_noreturn static void
raise_several(const Schema *schema, int table)
{
	StringInfoData names;
	const char *first = NULL;

	initStringInfo(&names);
	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];

		if (key->from != table || !schema->reached[key->to] || !linked_leads(schema, key))
			continue;
		appendStringInfo(&names, "%s\"%s\"", first != NULL ? ", " : "", key->name);
		first = first != NULL ? first : key->name;
	}
	linked_raise_table(
		&schema->linked->tables[table],
		psprintf("reaches the subject by several foreign keys: %s", names.data),
		psprintf(
			"Say whose the rows are: {\"foreign_key\": \"%s\"}. If both are, publish a view with a row for each of "
			"them (UNION ALL), with \"references\".",
			excerpt(first)));
}

/* Does every other key lead over the table to which this one does?  Then it is the nearest one to the person. */
static bool
is_nearest(const Schema *schema, const ForeignKey *nearest)
{
	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];

		if (key != nearest && key->from == nearest->from && schema->reached[key->to] &&
			linked_leads(schema, key) &&
			(key->to == nearest->to || !hangs_on(schema->linked, key->to, nearest->to, schema->linked->n)))
			return false;
	}
	return true;
}

/* The key along which a table reaches persons; NULL: it is not known yet. */
static const ForeignKey *
find_path(const Schema *schema, int table)
{
	const ForeignKey *path = NULL, *nearest = NULL;
	bool all = true;
	int n = 0;

	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];

		if (key->from != table || !schema->reached[key->to] || !linked_leads(schema, key))
			continue;
		path = key;
		n++;
		all = all && is_known(schema->linked, key->to);
	}
	if (n == 1)
		return path;
	for (int c = 0; c < schema->nkeys && all; c++)
	{
		const ForeignKey *key = &schema->keys[c];

		if (key->from == table && schema->reached[key->to] && linked_leads(schema, key) &&
			is_nearest(schema, key))
			nearest = key;
	}
	if (all && nearest == NULL)
		raise_several(schema, table);
	return nearest;
}

static void
take_path(const Schema *schema, int table, const ForeignKey *path)
{
	LinkedTable *from = &schema->linked->tables[table];

	if (path->column == NULL)
		linked_raise_table(
			from, psprintf("reaches the subject by a key of several columns, \"%s\"", path->name),
			"It refers to other columns than the primary key. Give the table to which it refers a primary key of these, or "
			"name another constraint by {\"foreign_key\": \"its name\"}.");
	from->parent = path->to;
	from->parent_column = path->column;
}

/* ---- keys that join beside it ---- */

/* Is the column published?  (What is checked shows all that it has.) */
static bool
is_named(const Linked *linked, const LinkedTable *table, const char *column)
{
	const List *parts = linked_parts(table, column);
	const ListCell *cell;

	if (linked->checks)
		return true;
	foreach (cell, parts)
		if (!linked_lists(table, "keep", lfirst(cell)))
			return false;
	return parts != NIL || linked_lists(table, "keep", column);
}

/* Does the key refer to rows of the same person, below the row that says whose this one is? */
static bool
may_join(const Schema *schema, const ForeignKey *key)
{
	const Linked *linked = schema->linked;
	const LinkedTable *from = &linked->tables[key->from], *to = &linked->tables[key->to];

	return key->column != NULL && strcmp(key->column, from->parent_column) != 0 && to->role == LINKED_ROWS &&
		   schema->reached[key->to] && key->to != from->parent &&
		   hangs_on(linked, key->to, from->parent, linked->n) &&
		   !hangs_on(linked, key->to, key->from, linked->n) && linked_shared_root(linked, from) == NULL &&
		   linked_shared_root(linked, to) == NULL;
}

static void
find_joins(const Schema *schema, int table)
{
	LinkedTable *from = &schema->linked->tables[table];

	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];

		if (key->from != table || !may_join(schema, key) || !is_named(schema->linked, from, key->column))
			continue;
		if (from->joins.column != NULL && strcmp(from->joins.column, key->column) != 0)
			linked_raise_table(
				from,
				psprintf("has two columns that refer to further rows of the person: \"%s\" and \"%s\"",
						 from->joins.column, key->column),
				schema->linked->checks ? "Check a view without one of them."
									   : "One of them can be published: take the other one out of \"keep\".");
		from->joins.column = key->column;
		from->joins.table = key->to;
	}
}

void
linked_choose_paths(const Schema *schema)
{
	Linked *linked = schema->linked;
	bool more = true;

	while (more)
	{
		more = false;
		for (int i = 0; i < linked->n; i++)
		{
			const ForeignKey *path = schema->reached[i] && !is_known(linked, i) ? find_path(schema, i) : NULL;

			if (path == NULL)
				continue;
			take_path(schema, i, path);
			more = true;
		}
	}
	/* (keys that go in a circle) */
	for (int i = 0; i < linked->n; i++)
		if (schema->reached[i] && !is_known(linked, i))
			raise_several(schema, i);
	for (int i = 0; i < linked->n; i++)
		if (schema->reached[i] && linked->tables[i].role == LINKED_ROWS)
			find_joins(schema, i);
}

/* The one reference of which a table's rows are copies; NULL: no row of a person refers to it. */
static const ForeignKey *
find_reference(const Schema *schema, int table)
{
	const Linked *linked = schema->linked;
	const ForeignKey *found = NULL;
	StringInfoData names;
	int n = 0;

	initStringInfo(&names);
	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];
		const LinkedTable *from = &linked->tables[key->from];

		if (key->to != table || !linked_is_copied(schema, key) ||
			!(schema->reached[key->from] || from->reference != NULL) || from->role == LINKED_ALONE)
			continue;
		found = key;
		appendStringInfo(&names, "%s\"%s\"", n++ > 0 ? ", " : "", key->name);
	}
	if (n > 1)
		linked_raise_table(&linked->tables[table],
						   psprintf("is referred to by several foreign keys: %s", names.data),
						   "Say by {\"foreign_key\": \"its name\"} of it whose columns it has.");
	if (found != NULL && found->column == NULL)
		linked_raise_table(
			&linked->tables[table],
			psprintf("is referred to by a key of several columns, \"%s\"", found->name),
			"Copies are made by keys of one column: take \"quasi_identifiers\" out, and it is a lookup.");
	return found;
}

/* Each row that refers has a copy. */
static void
take_reference(const Schema *schema, int copies, const ForeignKey *key)
{
	LinkedTable *table = &schema->linked->tables[copies];

	if (table->terms.max_rows > 0 || !table->linked || table->terms.referenced)
		linked_raise_table(table, "has rows to which rows of persons refer, as their columns",
						   "Leave out \"max_rows\", \"linked\" and \"referenced\".");
	if (table->key == NULL)
		linked_raise_table(table, "has no primary key of one column",
						   "Copies are made by keys of one column.");
	table->parent = key->from;
	table->parent_column = table->key;
	table->reference = key->column;
}

/* Tables to which a person or a row refers, with columns that somebody may know of it: each row that refers has a copy. */
void
linked_find_copies(Schema *schema)
{
	Linked *linked = schema->linked;
	bool more = true;

	while (more)
	{
		more = false;
		for (int i = 0; i < linked->n; i++)
		{
			LinkedTable *table = &linked->tables[i];
			const ForeignKey *key = schema->reached[i] || table->reference != NULL || table->qis == NULL
										? NULL
										: find_reference(schema, i);

			if (key == NULL)
				continue;
			take_reference(schema, i, key);
			more = true;
		}
	}
}

/* ---- rows of several persons ---- */

bool *
linked_find_referred(const Schema *schema)
{
	const Linked *linked = schema->linked;
	bool *referred = palloc0(sizeof(bool) * linked->n);
	bool more = true;

	while (more)
	{
		more = false;
		for (int c = 0; c < schema->nkeys; c++)
		{
			const ForeignKey *key = &schema->keys[c];

			if ((schema->reached[key->from] || referred[key->from] ||
				 linked->tables[key->from].reference != NULL) &&
				!schema->reached[key->to] && !referred[key->to])
				more = referred[key->to] = true;
		}
	}
	return referred;
}

/* Is it a key to a table to whose rows rows of persons refer, from rows that hang on these? */
static bool
is_shared(const Schema *schema, const ForeignKey *key, const bool *referred)
{
	const LinkedTable *from = &schema->linked->tables[key->from], *to = &schema->linked->tables[key->to];

	return key->column != NULL && key->from != key->to && !schema->reached[key->from] &&
		   from->reference == NULL && !referred[key->from] && referred[key->to] &&
		   !schema->reached[key->to] &&
		   (from->terms.constraint == NULL || strcmp(from->terms.constraint, key->name) == 0) &&
		   to->key != NULL;
}

/* Rows of the parent's table refer to the rows on which these hang. */
static void
share(const Schema *schema, const ForeignKey *key)
{
	LinkedTable *from = &schema->linked->tables[key->from], *to = &schema->linked->tables[key->to];
	const ForeignKey *reference = to->reference == NULL ? find_reference(schema, key->to) : NULL;

	if (reference != NULL)
		take_reference(schema, key->to, reference);
	/* (copies of copies do not say which rows they are copies of) */
	if (to->reference == NULL || schema->linked->tables[to->parent].reference != NULL)
		return;
	if (!from->linked)
		linked_raise_table(
			from,
			psprintf("is not linked, and hangs on table \"%s\", to which rows of several persons may refer",
					 excerpt(to->name)),
			"Leave \"linked\" out, or leave the table out.");
	schema->reached[key->from] = true;
	to->shared.on = true;
	from->shared.any = true;
	from->shared.through = key->to;
	from->parent = to->parent;
	from->parent_column = key->column;
}

/* Other tables that hang on what is reached now. */
static void
reach_below(Schema *schema, const bool *referred)
{
	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];

		if (schema->reached[key->to] && !schema->reached[key->from] && !referred[key->from] &&
			linked_leads(schema, key))
		{
			schema->reached[key->from] = true;
			c = -1;
		}
	}
}

void
linked_find_shared(Schema *schema)
{
	bool *referred = linked_find_referred(schema);

	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];

		if (!is_shared(schema, key, referred))
			continue;
		for (int other = c + 1; other < schema->nkeys; other++)
			if (schema->keys[other].from == key->from && is_shared(schema, &schema->keys[other], referred))
				linked_raise_table(
					&schema->linked->tables[key->from],
					psprintf("hangs on rows of several persons by several foreign keys: \"%s\", \"%s\"",
							 key->name, schema->keys[other].name),
					psprintf("Say whose the rows are: {\"foreign_key\": \"%s\"}.", excerpt(key->name)));
		share(schema, key);
		if (!schema->reached[key->from])
			continue;
		reach_below(schema, referred);
		linked_find_copies(schema);
		pfree(referred);
		referred = linked_find_referred(schema);
		c = -1;
	}
	pfree(referred);
}
