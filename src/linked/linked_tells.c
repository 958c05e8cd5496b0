/*
 * linked_tells.c: what kept columns of one table tell of quasi-identifiers of another, which joins.
 *
 * A reader joins what hangs together: orders.ship_zip tells customers.zip, whatever that table shows.  All rows of some
 * persons are read again under the release's snapshot, and judged as a table by itself is (telling_columns.c).
 * A person counts once for each pair of values: rows of one person agree anyway.
 */
#include "compat.h"
#include "host/gate.h"
#include "host/excerpt.h"
#include "linked/linked_ways.h"
#include "rows/source.h"
#include "rows/verify.h"
#include "run/run.h"

#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

/* Rows that are compared; of so few persons all rows are read, so that none of them stands for all. */
#define MOST_ROWS 20000
#define FEW_PERSONS 500

typedef LinkedPlace Place;

/* Rows of two places that a person has together. */
typedef struct Pair
{
	const Place *place[2];
	int first[2]; /* of the numbers: columns kept there, then quasi-identifiers */
	int width;
	int64 n;
	int64 seen;
	pg_prng_state random;
	uint32 *numbers; /* [n][width]: the person, then those of the one and of the other */
} Pair;

/* A key that is kept tells what it refers to, as it is or as a pseudonym. */
static bool
is_reference(const Place *place, const SourceColumn *column)
{
	return linked_is_reference(place->table, column->name);
}

/* (A key that joins rows of a person is known with them: the promise is counted so.) */
static bool
is_looked_at(const Place *place, const SourceColumn *column)
{
	if (place->table->joins.column != NULL && strcmp(place->table->joins.column, column->name) == 0)
		return false;
	return is_reference(place, column) ? !linked_answers(place->table, column->name)
									   : !column->answered && column->mask == NULL;
}

/* (A table by itself is judged when it is written, but for its keys.) */
static bool
may_tell(const Place *from, const Place *to)
{
	const Source *source = linked_source(from);
	bool any = false;

	for (int i = 0; i < source->nkept; i++)
		any = any ||
			  (is_looked_at(from, &source->kept[i]) && (from != to || is_reference(from, &source->kept[i])));
	return any && linked_source(to)->nqis > 0 && to->table->role != LINKED_LOOKUP;
}

/* ---- rows of both ---- */

static void
put_columns(StringInfo sql, Gate *gate, int place, const SourceColumn *columns, int n)
{
	for (int i = 0; i < n; i++)
		appendStringInfo(sql, ", t%d.%s", place, columns[i].quoted);
	gate_columns(gate, columns, n);
}

static bool
receive(void *arg, TupleTableSlot *slot)
{
	Pair *pair = arg;
	int64 place = pair->seen < MOST_ROWS
					  ? pair->seen
					  : (int64) pg_prng_uint64_range(&pair->random, 0, (uint64) pair->seen);

	pair->seen++;
	if (place >= MOST_ROWS)
		return true;
	for (int i = 0; i < pair->width; i++)
		pair->numbers[place * pair->width + i] = tells_number(
			TupleDescAttr(slot->tts_tupleDescriptor, i)->atttypid, slot->tts_values[i], slot->tts_isnull[i]);
	pair->n = Max(pair->n, place + 1);
	return true;
}

/* Reads the rows of a share of the persons: all of them, or one more than are compared. */
static void
read_pair(const Place *places, int a, int b, uint32 share, bool all, Pair *pair)
{
	int root = linked_root(places, a), both[2] = {a, b};
	const Source *first = linked_source(&places[root]);
	const SourceColumn *person = linked_person(&places[root]);
	StringInfoData sql;
	Gate *gate = gate_create(first->name, first->relid,
							 1 + linked_source(&places[a])->nkept + linked_source(&places[a])->nqis +
								 linked_source(&places[b])->nkept + linked_source(&places[b])->nqis);

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT t%d.%s", root, person->quoted);
	gate_columns(gate, person, 1);
	*pair = (Pair){.width = 1};
	pg_prng_seed(&pair->random, 1);
	for (int side = 0; side < 2; side++)
	{
		const Source *source = linked_source(&places[both[side]]);

		pair->place[side] = &places[both[side]];
		pair->first[side] = pair->width;
		pair->width += source->nkept + source->nqis;
		put_columns(&sql, gate, both[side], source->kept, source->nkept);
		put_columns(&sql, gate, both[side], source->qis, source->nqis);
	}
	pair->numbers = palloc(sizeof(uint32) * MOST_ROWS * pair->width);
	linked_join(places, a, b, &sql, gate);
	linked_some_persons(places, root, share, &sql);
	if (!all)
		appendStringInfo(&sql, " LIMIT %d", MOST_ROWS + 1);
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

pg_noreturn static void
refuse_reference(const Place *place, const SourceColumn *column, const char *qi)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION),
		 errmsg("kept column \"%s.%s\" tells the quasi-identifier \"%s\"", place->table->relname,
				column->name, qi),
		 errdetail(
			 "The column is a key. Nearly all rows with equal values in it have equal values in \"%s\", so a "
			 "reader could find hidden values from it.",
			 qi),
		 errhint("Take it out of \"keep\" of table \"%s\"%s. If readers may know it, name it in "
				 "allow_identifying there.",
				 excerpt(place->table->name),
				 place->table->role == LINKED_LOOKUP ? ""
													 : ", or name it in \"quasi_identifiers\" instead")));
}

/* A kept column of the one side, and a quasi-identifier of the other. */
static void
compare(const Pair *pair, int side, int c, int q)
{
	const LinkedTable *table = pair->place[side]->table, *other = pair->place[!side]->table;
	const Source *from = table->run->source, *to = other->run->source;
	const char *qi = psprintf("%s.%s", other->relname, to->qis[q].name);
	int64 hidden = count_hidden(other->run, q), n = 0;
	uint32 *triples = palloc(sizeof(uint32) * 3 * Max(pair->n, 1));
	Attribute kept, of;

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
	if (!is_reference(pair->place[side], &from->kept[c]))
		(void) tells_compare(from, &from->kept[c], psprintf("%s.%s", table->relname, from->kept[c].name),
							 &kept, qi, &of, NULL, hidden);
	else if (hidden > 0 && determines(&kept, &of, NULL, BY_CHANCE).all)
		refuse_reference(pair->place[side], &from->kept[c], qi);
	attribute_forget(&kept);
	attribute_forget(&of);
	pfree(triples);
}

static void
look_at(const Linked *linked, const Place *places, int a, int b)
{
	Pair pair = {0};
	uint32 share = linked_share(linked);

	/* (what the first rows tell may be what a few persons with many rows tell) */
	for (bool all = false; !all; share *= 2)
	{
		if (pair.numbers != NULL)
			pfree(pair.numbers);
		all = linked->published / share <= FEW_PERSONS;
		read_pair(places, a, b, share, all, &pair);
		if (pair.seen <= MOST_ROWS)
			break;
	}
	for (int side = 0; side < (a == b ? 1 : 2); side++)
	{
		const Source *source = linked_source(pair.place[side]);

		for (int c = 0; c < source->nkept; c++)
			for (int q = 0; q < linked_source(pair.place[!side])->nqis; q++)
				if (is_looked_at(pair.place[side], &source->kept[c]) &&
					(a != b || is_reference(pair.place[side], &source->kept[c])))
					compare(&pair, side, c, q);
	}
	pfree(pair.numbers);
}

void
linked_tells(const Linked *linked)
{
	int n;
	Place *places = linked_places(linked, true, &n);

	border_progress(linked->border, "comparing columns of all tables", 0, -1);
	PushActiveSnapshot(linked->snapshot);
	for (int a = 0; a < n; a++)
		for (int b = a; b < n; b++)
			if (linked_root(places, a) == linked_root(places, b) &&
				(may_tell(&places[a], &places[b]) || may_tell(&places[b], &places[a])))
				look_at(linked, places, a, b);
	PopActiveSnapshot();
	pfree(places);
}
