/*
 * linked_ways.c: from persons to all that joins to them, over as many steps as it takes.
 */
#include "compat.h"
#include "linked/linked_ways.h"

#include "utils/builtins.h"

/* Persons who are looked at first, some 4,000. */
#define MOST_PERSONS 4000

/* Ways to lookups, which double with each table of two keys to the next one. */
#define MOST_PLACES 4096

typedef struct Ways
{
	const Linked *linked;
	bool joined;
	LinkedPlace *places;
	int n;
	int room;
} Ways;

bool
linked_keeps(const LinkedTable *table, const char *column)
{
	const Source *source = table->run->source;

	for (int i = 0; i < source->nkept; i++)
		if (strcmp(source->kept[i].name, column) == 0)
			return true;
	return false;
}

bool
linked_is_reference(const LinkedTable *table, const char *column)
{
	const ListCell *cell;

	foreach (cell, table->keys)
		if (strcmp(((const LinkedKey *) lfirst(cell))->column, column) == 0)
			return true;
	return false;
}

static int
add_place(Ways *ways, LinkedPlace place)
{
	if (ways->n == MOST_PLACES)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("rows of persons refer to lookups in more than %d ways", MOST_PLACES),
						errdetail("Each of them may tell who somebody is, and all of them are looked at."),
						errhint("Leave out lookups, or columns that refer to them.")));
	if (ways->n == ways->room)
	{
		ways->room = Max(2 * ways->room, 64);
		ways->places = ways->places == NULL ? palloc(sizeof(LinkedPlace) * ways->room)
											: repalloc(ways->places, sizeof(LinkedPlace) * ways->room);
	}
	ways->places[ways->n] = place;
	return ways->n++;
}

/* Was the table left by this column before?  (A lookup may refer to itself.) */
static bool
was_here(const Ways *ways, int place, const LinkedTable *from, const char *column)
{
	for (; place >= 0 && ways->places[place].refers != NULL; place = ways->places[place].above)
		if (ways->places[ways->places[place].above].table == from &&
			strcmp(ways->places[place].refers, column) == 0)
			return true;
	return false;
}

static bool
is_way(const Ways *ways, const LinkedTable *from, const char *column, const LinkedTable *lookup)
{
	if (lookup->role != LINKED_LOOKUP)
		return false;
	return ways->joined || lookup->terms.referenced ? linked_keeps(from, column) : true;
}

static void
add_lookups(Ways *ways, int from)
{
	const LinkedTable *table = ways->places[from].table;
	ListCell *cell;

	foreach (cell, table->keys)
	{
		const LinkedKey *key = lfirst(cell);
		const LinkedTable *lookup = &ways->linked->tables[key->table];

		if (is_way(ways, table, key->column, lookup) && !was_here(ways, from, table, key->column))
			add_lookups(ways, add_place(ways, (LinkedPlace){lookup, from, lookup->key, key->column}));
	}
}

LinkedPlace *
linked_places(const Linked *linked, bool joined, int *n)
{
	Ways ways = {.linked = linked, .joined = joined};
	int of[KANON_MAX_LINKED];

	for (int i = 0; i < linked->n && linked->tables[i].role != LINKED_LOOKUP; i++)
	{
		const LinkedTable *table = &linked->tables[i];

		of[i] = add_place(
			&ways, (LinkedPlace){table, table->role != LINKED_ROWS ? -1 : of[table->parent],
								 table->role == LINKED_SUBJECT ? table->key : table->parent_column, NULL});
	}
	for (int i = 0, tables = ways.n; i < tables; i++)
		add_lookups(&ways, i);
	*n = ways.n;
	return ways.places;
}

int
linked_root(const LinkedPlace *places, int place)
{
	while (places[place].above >= 0)
		place = places[place].above;
	return place;
}

static bool
is_on_the_way(const LinkedPlace *places, int place, int to)
{
	while (to > place)
		to = places[to].above;
	return to == place;
}

const SourceColumn *
linked_person(const LinkedPlace *root)
{
	int n;

	return source_columns(linked_source(root), name_list(&root->column, 1), "foreign_key", "a key", &n);
}

void
linked_join(const LinkedPlace *places, int a, int b, StringInfo sql, Gate *gate)
{
	int root = linked_root(places, a);

	appendStringInfo(sql, " FROM %s AS t%d", linked_source(&places[root])->name, root);
	for (int i = root + 1; i <= Max(a, b); i++)
		if (is_on_the_way(places, i, a) || is_on_the_way(places, i, b))
			appendStringInfo(sql, " JOIN %s AS t%d ON t%d.%s OPERATOR(pg_catalog.=) t%d.%s",
							 gate_also(gate, linked_source(&places[i])->relid), i, i,
							 quote_identifier(places[i].column), places[i].above,
							 quote_identifier(places[i].refers != NULL ? places[i].refers
																	   : places[places[i].above].table->key));
}

uint32
linked_share(const Linked *linked)
{
	uint32 share = 1;

	while (linked->published / share > MOST_PERSONS)
		share *= 2;
	return share;
}

void
linked_some_persons(const LinkedPlace *places, int root, uint32 share, StringInfo sql)
{
	const SourceColumn *person = linked_person(&places[root]);

	if (share > 1)
		appendStringInfo(sql,
						 " WHERE pg_catalog.hashtext(%s) OPERATOR(pg_catalog.&) %u OPERATOR(pg_catalog.=) 0",
						 text_expression(psprintf("t%d.%s", root, person->quoted), person->type), share - 1);
}
