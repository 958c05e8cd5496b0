/*
 * linked_tells.c: what kept columns of one table tell of quasi-identifiers of another, which joins.
 *
 * A reader joins what hangs together: orders.ship_zip tells customers.zip, whatever that table shows.  All rows of some
 * persons are read again under the release's snapshot, and judged as a table by itself is (telling_columns.c).
 * A person counts once for each pair of values: rows of one person agree anyway.
 */
#include "compat.h"
#include "host/gate.h"
#include "linked/linked.h"
#include "rows/source.h"
#include "rows/verify.h"
#include "run/run.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#define MOST_PERSONS 4000
#define MOST_ROWS 20000

/* A table as it is met on the way from persons, or a lookup by one of the columns that refer to it. */
typedef struct Place
{
	const LinkedTable *table;
	int above;          /* place; -1: rows say themselves whose they are */
	const char *column; /* says whose they are, or refers to what is above, … */
	const char *refers; /* … or, above, to this lookup; NULL: it is none */
} Place;

/* Rows of two places that a person has together. */
typedef struct Pair
{
	const Place *place[2];
	int first[2]; /* of the numbers: columns kept there, then quasi-identifiers */
	int width;
	int64 n;
	uint32 *numbers; /* [n][width]: the person, then those of the one and of the other */
} Pair;

static const Source *
source_of(const Place *place)
{
	return place->table->run->source;
}

static bool
is_looked_at(const SourceColumn *column)
{
	return !column->answered && column->mask == NULL;
}

static bool
may_tell(const Place *from, const Place *to)
{
	bool any = false;

	for (int i = 0; i < source_of(from)->nkept; i++)
		any = any || is_looked_at(&source_of(from)->kept[i]);
	return any && source_of(to)->nqis > 0 && to->table->role != LINKED_LOOKUP;
}

/* ---- how they join ---- */

/* (A lookup whose key is a quasi-identifier is found where that is shown.) */
static bool
keeps(const LinkedTable *table, const char *column)
{
	const Source *source = table->run->source;

	for (int i = 0; i < source->nkept; i++)
		if (strcmp(source->kept[i].name, column) == 0)
			return true;
	return false;
}

static int
find_places(const Linked *linked, Place *places, int most)
{
	int n = 0, of[KANON_MAX_LINKED];

	for (int i = 0; i < linked->n && linked->tables[i].role != LINKED_LOOKUP; i++)
	{
		const LinkedTable *table = &linked->tables[i];
		bool whose = table->role != LINKED_ROWS;
		int own = of[i] = n;
		ListCell *cell;

		places[n++] = (Place){table, whose ? -1 : of[table->parent],
							  table->role == LINKED_SUBJECT ? table->key : table->parent_column, NULL};
		foreach (cell, table->keys)
		{
			const LinkedKey *key = lfirst(cell);
			const LinkedTable *lookup = &linked->tables[key->table];

			if (n < most && lookup->role == LINKED_LOOKUP && keeps(table, key->column))
				places[n++] = (Place){lookup, own, lookup->key, key->column};
		}
	}
	return n;
}

static int
root_of(const Place *places, int place)
{
	while (places[place].above >= 0)
		place = places[place].above;
	return place;
}

static bool
is_on_the_way(const Place *places, int place, int to)
{
	while (to > place)
		to = places[to].above;
	return to == place;
}

static void
put_columns(StringInfo sql, Gate *gate, int place, const SourceColumn *columns, int n)
{
	for (int i = 0; i < n; i++)
		appendStringInfo(sql, ", t%d.%s", place, columns[i].quoted);
	gate_columns(gate, columns, n);
}

/* A share of all persons, by a hash of their keys. */
static void
put_persons(const Linked *linked, int root, const SourceColumn *key, StringInfo sql)
{
	uint32 share = 1;

	while (linked->published / share > MOST_PERSONS)
		share *= 2;
	if (share > 1)
		appendStringInfo(sql,
						 " WHERE pg_catalog.hashtext(%s) OPERATOR(pg_catalog.&) %u OPERATOR(pg_catalog.=) 0",
						 text_expression(psprintf("t%d.%s", root, key->quoted), key->type), share - 1);
}

static bool
receive(void *arg, TupleTableSlot *slot)
{
	Pair *pair = arg;

	for (int i = 0; i < pair->width; i++)
		pair->numbers[pair->n * pair->width + i] = tells_number(
			TupleDescAttr(slot->tts_tupleDescriptor, i)->atttypid, slot->tts_values[i], slot->tts_isnull[i]);
	pair->n++;
	return true;
}

static void
read_pair(const Linked *linked, const Place *places, int a, int b, Pair *pair)
{
	int root = root_of(places, a), both[2] = {a, b}, n;
	const Source *first = source_of(&places[root]);
	const SourceColumn *key =
		source_columns(first, name_list(&places[root].column, 1), "foreign_key", "a key", &n);
	StringInfoData sql;
	Gate *gate = gate_create(first->name, first->relid,
							 1 + source_of(&places[a])->nkept + source_of(&places[a])->nqis +
								 source_of(&places[b])->nkept + source_of(&places[b])->nqis);

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT t%d.%s", root, key->quoted);
	gate_columns(gate, key, 1);
	*pair = (Pair){.width = 1};
	for (int side = 0; side < 2; side++)
	{
		const Source *source = source_of(&places[both[side]]);

		pair->place[side] = &places[both[side]];
		pair->first[side] = pair->width;
		pair->width += source->nkept + source->nqis;
		put_columns(&sql, gate, both[side], source->kept, source->nkept);
		put_columns(&sql, gate, both[side], source->qis, source->nqis);
	}
	pair->numbers = palloc(sizeof(uint32) * MOST_ROWS * pair->width);
	appendStringInfo(&sql, " FROM %s AS t%d", first->name, root);
	for (int i = root + 1; i <= Max(a, b); i++)
		if (is_on_the_way(places, i, a) || is_on_the_way(places, i, b))
			appendStringInfo(&sql, " JOIN %s AS t%d ON t%d.%s OPERATOR(pg_catalog.=) t%d.%s",
							 gate_also(gate, places[i].table->relid), i, i,
							 quote_identifier(places[i].column), places[i].above,
							 quote_identifier(places[i].refers != NULL ? places[i].refers
																	   : places[places[i].above].table->key));
	put_persons(linked, root, key, &sql);
	appendStringInfo(&sql, " LIMIT %d", MOST_ROWS);
	gate_select(gate, sql.data, true, receive, pair);
}

/* ---- what one tells ---- */

static int
compare_triples(const void *a, const void *b)
{
	const uint32 *left = a, *right = b;

	for (int i = 0; i < 3; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

/* Rows of the release that do not show a quasi-identifier. */
static int64
count_hidden(const Run *run, int q)
{
	int64 n = 0;

	if (run->parted != NULL)
		return run->record.row_count;
	for (uint32 i = 0; i < run->release.nclasses; i++)
		if (run->release.cells[(Size) i * run->problem.ncolumns + run->source->levels.first[q]].show !=
			KANON_SHOW_VALUE)
			n += run->release.classes[i].rows;
	return n;
}

/* A kept column of the one side, and a quasi-identifier of the other. */
static void
compare(const Pair *pair, int side, int c, int q)
{
	const LinkedTable *table = pair->place[side]->table, *other = pair->place[!side]->table;
	const Source *from = table->run->source, *to = other->run->source;
	uint32 *triples = palloc(sizeof(uint32) * 3 * Max(pair->n, 1));
	Attribute kept, of;
	int64 n = 0;

	for (int64 i = 0; i < pair->n; i++)
	{
		const uint32 *row = pair->numbers + i * pair->width;

		triples[3 * i] = row[0];
		triples[3 * i + 1] = row[pair->first[side] + c];
		triples[3 * i + 2] = row[pair->first[!side] + to->nkept + q];
	}
	CHECK_FOR_INTERRUPTS();
	qsort(triples, pair->n, 3 * sizeof(uint32), compare_triples);
	for (int64 i = 0; i < pair->n; i++)
		if (i == 0 || compare_triples(triples + 3 * i, triples + 3 * (n - 1)) != 0)
			memmove(triples + 3 * n++, triples + 3 * i, 3 * sizeof(uint32));
	kept = attribute_of(triples + 1, 3, n);
	of = attribute_of(triples + 2, 3, n);
	(void) tells_compare(from, &from->kept[c], psprintf("%s.%s", table->relname, from->kept[c].name), &kept,
						 psprintf("%s.%s", other->relname, to->qis[q].name), &of, NULL,
						 count_hidden(other->run, q));
	attribute_forget(&kept);
	attribute_forget(&of);
	pfree(triples);
}

static void
look_at(const Linked *linked, const Place *places, int a, int b)
{
	Pair pair;

	read_pair(linked, places, a, b, &pair);
	for (int side = 0; side < 2; side++)
		for (int c = 0; c < source_of(pair.place[side])->nkept; c++)
			for (int q = 0; q < source_of(pair.place[!side])->nqis; q++)
				if (is_looked_at(&source_of(pair.place[side])->kept[c]))
					compare(&pair, side, c, q);
	pfree(pair.numbers);
}

void
linked_tells(const Linked *linked)
{
	Place places[4 * KANON_MAX_LINKED];
	int n = find_places(linked, places, 3 * KANON_MAX_LINKED);

	border_progress(linked->border, "comparing columns of all tables", 0, -1);
	PushActiveSnapshot(linked->snapshot);
	for (int a = 0; a < n; a++)
		for (int b = a + 1; b < n; b++)
			if (root_of(places, a) == root_of(places, b) &&
				(may_tell(&places[a], &places[b]) || may_tell(&places[b], &places[a])))
				look_at(linked, places, a, b);
	PopActiveSnapshot();
}
