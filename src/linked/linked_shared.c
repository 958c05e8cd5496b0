/*
 * linked_shared.c: rows that hang on several persons, such as loans of an account of which two clients dispose.
 *
 * Rows of a table between (dispositions) refer to the shared rows (accounts), on which others hang (loans).  Each row between
 * has a copy of the shared row and of all that hangs on it.  The copies say how many there are, so that counts and sums come
 * out right; that is a quasi-identifier unless the caller keeps it.  Where rows between own by a condition, the owner alone
 * has them.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "linked/linked_ways.h"
#include "rows/source.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* How many rows between refer to the shared one. */
#define COUNTED "kanon__copies"

/* The table of its own or above that hangs on shared rows; NULL: there is none. */
const LinkedTable *
linked_shared_root(const Linked *linked, const LinkedTable *table)
{
	for (int steps = 0; steps <= linked->n && table->parent >= 0; steps++)
	{
		if (table->shared.any)
			return table;
		table = &linked->tables[table->parent];
	}
	return NULL;
}

/* The column by which rows between refer to shared ones. */
const char *
linked_shared_by(const Linked *linked, const LinkedTable *table)
{
	return linked->tables[linked_shared_root(linked, table)->shared.through].reference;
}

/* The table between of shared rows, or of rows that hang on such. */
static const LinkedTable *
between(const Linked *linked, const LinkedTable *table)
{
	return &linked->tables[table->parent];
}

/* ---- once it is known how the tables hang together ---- */

/* The number of copies is known with the row. */
static void
add_copies(LinkedTable *table)
{
	int n = 0;
	char **names = table->qis == NULL ? NULL : name_array(table->qis, "quasi_identifiers", &n);
	const char **more = palloc(sizeof(char *) * (n + 1));

	if (get_attnum(table->relid, LINKED_COPIES) != InvalidAttrNumber)
		linked_raise_table(table,
						   "has rows of several persons, and a column \"" LINKED_COPIES "\" of its own",
						   "The copies say so how many there are: give that column another name in a view.");
	for (int i = 0; i < n; i++)
	{
		if (strcmp(names[i], LINKED_COPIES) == 0)
			return;
		more[i] = names[i];
	}
	more[n] = LINKED_COPIES;
	table->qis = name_list(more, n + 1);
}

bool
linked_is_copy(const Linked *linked, const LinkedTable *table)
{
	const LinkedTable *root = linked_shared_root(linked, table);

	return root != NULL && between(linked, root)->terms.owner == NIL;
}

/* The key of a copy is that of the row and of the row between. */
static void
compose_copy(const Linked *linked, LinkedTable *table)
{
	const LinkedTable *root = linked_shared_root(linked, table);

	/* (a row that is the only one has the key of the row between) */
	if (table->key == NULL || (table->shared.any && strcmp(table->key, table->parent_column) == 0))
	{
		table->key_type = table->shared.any ? between(linked, table)->key_type : table->key_type;
		return;
	}
	if (linked_parts(table, table->key) == NIL)
		linked_check_part(table, table->key);
	if (linked_parts(between(linked, root), between(linked, root)->key) == NIL &&
		between(linked, root)->key_type != TEXTOID)
		linked_check_part(between(linked, root), between(linked, root)->key);
	table->key_type = TEXTOID;
}

static void
refuse_spelled(const LinkedTable *from, const char *column, const LinkedTable *to)
{
	if (linked_spelled(from, column, to))
		linked_raise_table(
			from,
			psprintf("refers by \"%s\" to rows of several persons, whose equal keys may look different",
					 excerpt(column)),
			"Give both columns one type and collation.");
}

/* Does one of the tables that hang together on shared rows keep the number of copies?  Then all who join know it. */
static bool
keeps_copies(const Linked *linked, int shared)
{
	bool keeps = linked_lists(&linked->tables[shared], "keep", LINKED_COPIES);

	for (int i = 0; i < linked->n && !keeps; i++)
	{
		const LinkedTable *root = linked_shared_root(linked, &linked->tables[i]);

		keeps = root != NULL && root->shared.through == shared &&
				linked_lists(&linked->tables[i], "keep", LINKED_COPIES);
	}
	return keeps;
}

void
linked_finish_shared(Linked *linked)
{
	for (int i = 0; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];
		LinkedTable *parent = table->parent >= 0 ? &linked->tables[table->parent] : NULL;

		if (table->shared.any)
		{
			const LinkedTable *shared = &linked->tables[table->shared.through];

			parent->is_parent = true;
			if (!linked->checks)
			{
				refuse_spelled(table, table->parent_column, shared);
				refuse_spelled(parent, shared->reference, shared);
			}
		}
		table->shared.copied = !linked->checks && linked_is_copy(linked, table);
		if (table->shared.on && !linked->checks && parent->terms.owner == NIL && !keeps_copies(linked, i))
			add_copies(table);
		else if (table->shared.copied &&
				 !keeps_copies(linked, linked_shared_root(linked, table)->shared.through))
			add_copies(table);
		/* (parents come first) */
		if (table->shared.copied && table->reference == NULL)
			compose_copy(linked, table);
		else if (table->shared.any && table->key != NULL && strcmp(table->key, table->parent_column) == 0)
			table->key_type = parent->key_type;
	}
	for (int i = 0; i < linked->n; i++)
	{
		bool owns = linked->tables[i].terms.owner == NIL;

		for (int t = 0; t < linked->n && !owns; t++)
			owns = linked->tables[t].shared.on && linked->tables[t].parent == i;
		if (!owns)
			linked_raise_table(&linked->tables[i],
							   "has an \"owner\", and refers to no table on which others hang",
							   "Leave it out, or name the table whose rows have one owner each.");
	}
}

/* Does it publish how many copies there are? */
bool
linked_shows_copies(const LinkedTable *table)
{
	int n = 0;
	char **names = table->qis == NULL ? NULL : name_array(table->qis, "quasi_identifiers", &n);
	bool named = linked_lists(table, "keep", LINKED_COPIES);

	for (int i = 0; i < n; i++)
		named = named || strcmp(names[i], LINKED_COPIES) == 0;
	return named && get_attnum(table->relid, LINKED_COPIES) == InvalidAttrNumber;
}

/* ---- as it is read ---- */

/* The value as a text, for types whose texts depend on no setting. */
static void
put_condition(const LinkedTable *table, const char *alias, const char *column, const char *value,
			  StringInfo sql)
{
	Oid type = get_atttype(table->relid, get_attnum(table->relid, column));

	if (get_attnum(table->relid, column) <= 0)
		linked_raise_table(table, psprintf("has no column \"%s\", which \"owner\" names", excerpt(column)),
						   "Write it like {\"owner\": {\"type\": \"OWNER\"}}.");
	if (!type_is_enum(getBaseType(type)) && getBaseType(type) != BPCHAROID)
		linked_check_part(table, column);
	appendStringInfo(sql,
					 "%sCAST(%s.%s AS pg_catalog.text) COLLATE pg_catalog.\"C\" OPERATOR(pg_catalog.=) %s",
					 sql->len > 0 ? " AND " : "", alias, quote_identifier(column), quote_literal_cstr(value));
}

char *
linked_owner_condition(const LinkedTable *table, const char *alias)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int c = 0; c + 1 < list_length(table->terms.owner); c += 2)
		put_condition(table, alias, list_nth(table->terms.owner, c), list_nth(table->terms.owner, c + 1),
					  &sql);
	return sql.len > 0 ? sql.data : NULL;
}

/* The rows between, each with the number of those that have the same row; rows of nobody do not count. */
char *
linked_sharers(const Linked *linked, const LinkedTable *shared, const char *relation)
{
	const LinkedTable *table = between(linked, shared);

	return psprintf(
		"(SELECT d.*, pg_catalog.count(*)%s OVER (PARTITION BY d.%s) AS " COUNTED " FROM %s AS d)",
		table->parent_column == NULL || table->reference != NULL
			? ""
			: psprintf(" FILTER (WHERE NOT d.%s IS NULL)", quote_identifier(table->parent_column)),
		quote_identifier(shared->reference), relation);
}

char *
linked_shared_from(const Linked *linked, const LinkedTable *table)
{
	const LinkedTable *root = linked_shared_root(linked, table);
	const LinkedTable *shared = &linked->tables[root->shared.through], *parent = between(linked, root);
	const char *condition = linked_owner_condition(parent, "p");
	char *from = NULL;

	/* (from the row at hand to the one that hangs on the shared row) */
	for (const LinkedTable *at = table;; at = &linked->tables[at->parent])
	{
		const char *alias = at == table ? "t" : psprintf("t%d", at->parent);
		const char *up;

		if (from == NULL)
			from = psprintf("%s AS t", relation_name(at->relid));
		if (at == root)
			return psprintf("%s JOIN %s AS p ON p.%s OPERATOR(pg_catalog.=) %s%s%s", from,
							linked_sharers(linked, shared, relation_name(parent->request.source)),
							quote_identifier(shared->reference), linked_column(at, alias, at->parent_column),
							condition != NULL ? " AND " : "", condition != NULL ? condition : "");
		up = psprintf("t%d", linked->tables[at->parent].parent);
		from = psprintf("%s JOIN %s AS %s ON %s OPERATOR(pg_catalog.=) %s", from,
						relation_name(linked->tables[at->parent].relid), up,
						linked_column(&linked->tables[at->parent], up, linked->tables[at->parent].key),
						linked_column(at, alias, at->parent_column));
	}
}

/* A key of the source beside that of the row between. */
char *
linked_copy_key(const LinkedTable *table, const char *column)
{
	const Linked *linked = table->of;
	const LinkedTable *parent = between(linked, linked_shared_root(linked, table));

	return psprintf("CAST(pg_catalog.jsonb_build_array(%s, p.%s) AS pg_catalog.text)",
					linked_column(table, "t", column), quote_identifier(parent->key));
}

/* ---- owners ---- */

static bool
exists(const LinkedTable *table, const char *query)
{
	Gate *gate = gate_create(relation_name(table->relid), table->relid, 1);
	bool isnull;

	gate_computed(gate, "exists", BOOLOID);
	gate_query(gate,
			   psprintf("SELECT EXISTS (SELECT FROM %s AS d WHERE %s)", relation_name(table->relid), query),
			   true);
	return DatumGetBool(gate_value(0, 1, BOOLOID, &isnull));
}

/* Raises unless "owner" picks rows between, and at most one for each shared row. */
static void
check_owner(const LinkedTable *table, const LinkedTable *shared)
{
	const char *column = linked_column(table, "d", shared->reference);
	const char *condition = linked_owner_condition(table, "d");

	if (!exists(table, condition))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("\"owner\" of table \"%s\" picks no row", excerpt(table->name)),
						errhint("Name values that rows have: {\"owner\": {\"type\": \"OWNER\"}}.")));
	if (exists(
			table,
			psprintf("NOT %s IS NULL AND %s GROUP BY %s HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1",
					 column, condition, column)))
		ereport(
			ERROR,
			(errcode(ERRCODE_CARDINALITY_VIOLATION),
			 errmsg("\"owner\" of table \"%s\" picks several rows for one row of table \"%s\"",
					excerpt(table->name), excerpt(shared->name)),
			 errhint(
				 "Name columns by which each of these rows has one owner at most. Or leave \"owner\" out: then "
				 "each person has a copy.")));
}

void
linked_check_owners(const Linked *linked)
{
	PushActiveSnapshot(linked->snapshot);
	for (int i = 0; i < linked->n; i++)
		if (linked->tables[i].shared.on && between(linked, &linked->tables[i])->terms.owner != NIL)
			check_owner(between(linked, &linked->tables[i]), &linked->tables[i]);
	PopActiveSnapshot();
}
