/*
 * linked_rows.c: whose the rows of a release are, and what they show.
 *
 * Row types of tables beside the subject's are told apart by the column that says whose they are; so each belongs to
 * one person (linked_persons.c), or to one row of the table above.
 */
#include "compat.h"
#include "core/util/number.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked_histories.h"
#include "masks/mask_apply.h"
#include "rows/dictionary.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/uuid.h"

#define NOBODY LINKED_NOBODY

/* A row that is left out counts as two that show nothing, as in the core. */
#define LEFT_OUT 2.0

void
linked_forget(Linked *linked)
{
	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++)
	{
		LinkedTable *table = &linked->tables[i];
		void *arrays[] = {table->row_of,    table->type,        table->person,     table->above,
						  table->gone,      table->like,        table->level,      table->whose,
						  table->joins.row, table->joins.apart, table->joins.hides};

		for (int a = 0; a < lengthof(arrays); a++)
			if (arrays[a] != NULL)
				border_pfree(table->run->border, arrays[a]);
		table->row_of = table->type = table->person = table->above = table->like = NULL;
		table->whose = table->joins.row = NULL;
		table->gone = table->joins.apart = table->joins.hides = NULL;
		table->level = NULL;
		linked_forget_looks(table);
		kanon_privacy_close(table->ruled.privacy);
		table->ruled.privacy = NULL;
		table->nrows = 0;
		table->tally.nobody = table->tally.over = table->tally.strange = table->tally.parted = 0;
	}
	linked_forget_persons(linked);
}

/* ---- whose rows they are ---- */

/* The row of another table that has each value of the column that refers to it. */
static uint32 *
rows_referred(const LinkedTable *table, int place, const LinkedTable *parent)
{
	const SourceColumn *column = &table->run->source->qis[place];
	const SourceColumn *key = &parent->run->source->qis[parent->grouped.key];
	const RowTypes *types = parent->run->types;
	uint32 nkeys = dictionary_size(key->dictionary), n = dictionary_size(column->dictionary);
	uint32 *row_of_key = border_palloc(table->run->border, sizeof(uint32) * Max(nkeys, 1));
	uint32 *row = border_palloc(table->run->border, sizeof(uint32) * Max(n, 1));

	memset(row_of_key, 0xff, sizeof(uint32) * nkeys);
	for (uint32 i = 0; i < types->ntypes; i++)
		row_of_key[types->grouped[parent->grouped.key].code[i]] = parent->row_of[i];
	for (uint32 code = 0; code < n; code++)
	{
		bool isnull;
		Datum value = dictionary_value(column->dictionary, code, &isnull);
		uint32 found = isnull ? DICTIONARY_NONE : dictionary_find(key->dictionary, value, false);

		row[code] = found == DICTIONARY_NONE ? NOBODY : row_of_key[found];
	}
	border_pfree(table->run->border, row_of_key);
	return row;
}

/* The rows of persons, each one by itself, in the order of row types. */
static void
find_rows(Linked *linked, LinkedTable *table)
{
	const LinkedTable *parent = &linked->tables[table->parent];
	const RowTypes *types = table->run->types;
	Border *border = table->run->border;
	bool direct = parent->role == LINKED_SUBJECT;
	uint32 *whose =
		direct ? linked_persons_of(linked, table) : rows_referred(table, table->grouped.parent, parent);
	int64 n = 0;

	table->row_of = border_palloc(border, sizeof(uint32) * Max(types->ntypes, 1));
	for (uint32 i = 0; i < types->ntypes; i++)
		n += types->rows[i];
	if (n >= PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the source has more than %u rows", PG_UINT32_MAX), errhint("Publish it in parts.")));
	table->type = border_palloc(border, sizeof(uint32) * Max(n, 1));
	table->person = border_palloc(border, sizeof(uint32) * Max(n, 1));
	table->above = direct ? NULL : border_palloc(border, sizeof(uint32) * Max(n, 1));
	table->gone = border_palloc(border, sizeof(bool) * Max(n, 1));
	memset(table->gone, 0, sizeof(bool) * n);
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		uint32 of = whose[types->grouped[table->grouped.parent].code[i]];

		table->row_of[i] = of == NOBODY ? NOBODY : table->nrows;
		if (of == NOBODY)
			table->tally.nobody += types->rows[i];
		for (int64 row = 0; row < types->rows[i] && of != NOBODY; row++)
		{
			table->type[table->nrows] = i;
			table->person[table->nrows] = direct ? of : parent->person[of];
			if (!direct)
			{
				table->above[table->nrows] = of;
				table->gone[table->nrows] = parent->gone[of];
			}
			table->nrows++;
		}
	}
	border_pfree(border, whose);
}

/* ---- to which other rows they refer ---- */

/* Does the row of the one table hang on that of another, or on that person? */
static bool
is_below(const Linked *linked, int from, uint32 row, int to, uint32 other)
{
	while (from != to && linked->tables[from].above != NULL)
	{
		row = linked->tables[from].above[row];
		from = linked->tables[from].parent;
	}
	return to == 0 ? linked->tables[from].person[row] == other : from == to && row == other;
}

/*
 * Rows that refer to none, to a row of another person or to one that is left out are apart: they do not show to which row
 * they refer.
 */
static void
find_joined(const Linked *linked, LinkedTable *table)
{
	const LinkedTable *to = &linked->tables[table->joins.table];
	Border *border = table->run->border;
	uint32 *row_of = rows_referred(table, table->grouped.joins, to);
	const uint32 *code = table->run->types->grouped[table->grouped.joins].code;
	const SourceColumn *column = &table->run->source->qis[table->grouped.joins];

	table->joins.row = border_palloc(border, sizeof(uint32) * Max(table->nrows, 1));
	table->joins.apart = border_palloc(border, sizeof(bool) * Max(table->nrows, 1));
	for (uint32 i = 0; i < table->nrows; i++)
	{
		uint32 type = table->type[i], row = row_of[code[type]];
		uint32 owner = table->above != NULL ? table->above[i] : table->person[i];
		bool isnull;

		(void) dictionary_value(column->dictionary, code[type], &isnull);
		if (!isnull && (row == NOBODY || !is_below(linked, table->joins.table, row, table->parent, owner)))
		{
			table->tally.strange++;
			row = NOBODY;
		}
		table->joins.row[i] = row;
		table->joins.apart[i] = row == NOBODY || to->gone[row];
	}
	border_pfree(border, row_of);
}

/* Rows of one type are treated alike: so the type says whether they are apart. */
static void
note_hidden(LinkedTable *table)
{
	const SourceColumn *column = &table->run->source->qis[table->grouped.joins];
	const uint32 *code = table->run->types->grouped[table->grouped.joins].code;
	uint32 ntypes = table->run->types->ntypes;

	table->joins.hides = border_palloc(table->run->border, sizeof(bool) * Max(ntypes, 1));
	memset(table->joins.hides, 0, sizeof(bool) * ntypes);
	for (uint32 i = 0; i < table->nrows; i++)
	{
		bool isnull;

		if (table->gone[i] || !table->joins.apart[i])
			continue;
		table->joins.hides[table->type[i]] = true;
		(void) dictionary_value(column->dictionary, code[table->type[i]], &isnull);
		table->tally.parted += !isnull;
	}
	for (uint32 i = 0; i < table->nrows; i++)
		if (!table->gone[i] && table->joins.hides[table->type[i]] != table->joins.apart[i])
			elog(ERROR, "rows of one type do not hang together alike");
}

/* ---- as many as are allowed ---- */

typedef struct Drawn
{
	const LinkedTable *table;
	uint64 seed;
	uint64 *
		hash; /* [ntypes] of the values that rows have, by a publication's secret; NULL: they do not matter */
} Drawn;

static uint64
draw_of(const Drawn *drawn, uint32 row)
{
	uint32 type = drawn->table->type[row];

	if (drawn->hash == NULL)
		return kanon_mix(drawn->seed ^ row);
	return kanon_mix(drawn->hash[type] + (row - drawn->table->row_of[type]));
}

static int
compare_drawn(const void *a, const void *b, void *arg)
{
	const Drawn *drawn = arg;
	uint32 left = *(const uint32 *) a, right = *(const uint32 *) b;
	uint64 one = draw_of(drawn, left), other = draw_of(drawn, right);

	if (one != other)
		return one < other ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* A value of the column has the same hash in each release. */
static void
add_hashes(const Linked *linked, const LinkedTable *table, int column, uint64 *hash)
{
	const SourceColumn *of = &table->run->source->qis[column];
	const RowTypes *types = table->run->types;
	uint32 n = dictionary_size(of->dictionary);
	uint64 *of_code = border_palloc(table->run->border, sizeof(uint64) * Max(n, 1));
	Pseudonyms *pseudonyms = pseudonyms_begin(linked->secret, of->type, "max_rows");
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_SMALL_SIZES);
	int nest = plain_text_begin();

	for (uint32 code = 0; code < n; code++)
	{
		MemoryContext old = MemoryContextSwitchTo(row);
		bool isnull;
		Datum value = dictionary_value(of->dictionary, code, &isnull);
		uint8 pseudonym[UUID_LEN];

		if (!isnull)
			pseudonym_of(pseudonyms, value, pseudonym);
		of_code[code] = isnull ? 0 : (uint64) pseudonym_number(pseudonym);
		MemoryContextSwitchTo(old);
		MemoryContextReset(row);
		CHECK_FOR_INTERRUPTS();
	}
	for (uint32 i = 0; i < types->ntypes; i++)
		hash[i] = kanon_mix(hash[i] + of_code[types->grouped[column].code[i]]);
	plain_text_end(nest);
	pseudonyms_end(pseudonyms);
	MemoryContextDelete(row);
	border_pfree(table->run->border, of_code);
}

/* In a publication rows that stay are drawn as before, whatever else comes or goes. */
static uint64 *
hash_types(const Linked *linked, const LinkedTable *table)
{
	uint32 n = table->run->types->ntypes;
	uint64 *hash;

	if (linked->publication == NULL)
		return NULL;
	hash = border_palloc(table->run->border, sizeof(uint64) * Max(n, 1));
	memset(hash, 0, sizeof(uint64) * n);
	/* (numbers and levels of private copies are no values; they are the last) */
	for (int column = 0; column < table->run->source->ngrouped - (linked->histories != NULL ? 2 : 0);
		 column++)
		add_hashes(linked, table, column, hash);
	return hash;
}

/* Rows that are not gone, person by person: those of p are from start[p] to start[p + 1]. */
static uint32 *
rows_by_person(const LinkedTable *table, uint32 npersons, uint32 *start)
{
	uint32 *order = border_palloc(table->run->border, sizeof(uint32) * Max(table->nrows, 1));

	memset(start, 0, sizeof(uint32) * ((Size) npersons + 2));
	for (uint32 i = 0; i < table->nrows; i++)
		if (!table->gone[i])
			start[table->person[i] + 2]++;
	for (uint32 p = 0; p < npersons; p++)
		start[p + 2] += start[p + 1];
	for (uint32 i = 0; i < table->nrows; i++)
		if (!table->gone[i])
			order[start[table->person[i] + 1]++] = i;
	return order;
}

/* Rows over max_rows are left out, drawn by the seed or by their values. */
static void
draw_rows(const Linked *linked, LinkedTable *table)
{
	Drawn drawn = {table, kanon_mix(linked->seed), hash_types(linked, table)};
	Border *border = table->run->border;
	uint32 *start = border_palloc(border, sizeof(uint32) * ((Size) linked->npersons + 2));
	uint32 *order = rows_by_person(table, linked->npersons, start);

	for (uint32 p = 0; p < linked->npersons; p++)
	{
		uint32 n = start[p + 1] - start[p];

		if (n <= (uint32) table->terms.max_rows)
			continue;
		qsort_arg(order + start[p], n, sizeof(uint32), compare_drawn, &drawn);
		for (uint32 i = start[p] + table->terms.max_rows; i < start[p + 1]; i++)
			table->gone[order[i]] = true;
		table->tally.over += n - table->terms.max_rows;
	}
	border_pfree(border, order);
	border_pfree(border, start);
	if (drawn.hash != NULL)
		border_pfree(border, drawn.hash);
}

/* ---- rules ---- */

int
linked_rule_columns(const LinkedTable *table)
{
	const Privacy *privacy = table->request.linked.rules;
	int n = 0;

	if (privacy == NULL || table->ruled.privacy == NULL)
		return 0;
	for (int r = 0; r < privacy->n; r++)
		for (int i = 0; i < privacy->words[r].ncolumns; i++)
			n = Max(n, privacy->column[r][i] + 1);
	return n;
}

/* A value counts as often as there are persons with it; rows of nobody are one person's. */
static void
open_rules(const Linked *linked, LinkedTable *table)
{
	const RowTypes *types = table->run->types;
	KanonColumn persons = {.distinct = linked->npersons + 1};

	table->ruled = table->run->problem;
	if (table->request.linked.rules == NULL)
		return;
	table->whose = border_palloc(table->run->border, sizeof(uint32) * Max(types->ntypes, 1));
	for (uint32 i = 0; i < types->ntypes; i++)
		table->whose[i] = table->row_of[i] == NOBODY ? linked->npersons : table->person[table->row_of[i]];
	persons.code = table->whose;
	privacy_rules(table->request.linked.rules, types, &persons, &table->ruled, true, NULL,
				  table->run->border);
}

/* ---- solve ---- */

/* The rows of a table, as the core wants them. */
static void
take_rows(Linked *linked, LinkedTable *table, KanonLinkedTable *to)
{
	find_rows(linked, table);
	if (table->joins.column != NULL)
		find_joined(linked, table);
	if (table->terms.max_rows > 0)
		draw_rows(linked, table);
	open_rules(linked, table);
	linked_look(linked, table);
	to->look = (const uint32 *const *) table->looks;
	to->problem = &table->run->problem;
	to->ruled = table->ruled.privacy != NULL ? &table->ruled : NULL;
	to->weight = linked_stake(linked, table);
	to->known = table->reference != NULL ? 0 : table->terms.known;
	to->parent = table->parent - 1;
	to->copies = table->reference != NULL;
	to->nrows = table->nrows;
	to->type = table->type;
	to->person = table->person;
	to->above = table->above;
	to->joins = table->joins.table - 1;
	to->joined = table->joins.row;
	to->apart = table->joins.apart;
	to->gone = table->gone;
	to->nqis = table->run->source->nqis;
	to->like = table->like = border_palloc(table->run->border, sizeof(uint32) * Max(table->nrows, 1));
	to->level = table->level = border_palloc(table->run->border, (Size) Max(table->nrows, 1) * to->nqis);
}

void
linked_solve(Linked *linked)
{
	KanonLinkedTable *tables = palloc0(sizeof(KanonLinkedTable) * KANON_MAX_LINKED);
	Border *border = linked->border;
	KanonLinked problem = {.env = &border->env,
						   .k = linked->k,
						   .m = linked->m,
						   .in_all = linked->in_all,
						   .tables = tables,
						   .nclasses = linked->nclasses,
						   .class_ = linked->class_,
						   .ruled = linked->values != NULL ? &linked->tables[0].run->problem : NULL,
						   .values = linked->values};
	KanonReport report = {0};
	KanonStatus status = KANON_OK;

	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++)
	{
		LinkedTable *table = &linked->tables[i];
		KanonLinkedTable *to = &tables[problem.ntables++];

		take_rows(linked, table, to);
	}
	if (linked->m == 0)
		linked_number_others(linked);
	problem.npersons = linked->npersons;
	linked_tell_many(linked);
	if (linked->histories != NULL)
		linked_hold_rows(linked, tables);
	if (problem.ntables > 0)
		status = kanon_solve_linked(&problem, &report);
	if (status == KANON_TOO_LARGE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a class of persons has more combinations of rows than can be counted"),
				 report.detail[0] ? errdetail("%s", report.detail) : 0,
				 errhint("Lower known_rows or class_size, or bound the rows of a person by max_rows.")));
	border_check(border, status, report.detail);
	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++)
		if (linked->tables[i].joins.column != NULL)
			note_hidden(&linked->tables[i]);
	if (linked->histories != NULL)
		linked_show_held(linked);
}

/* ---- what is lost ---- */

/* The share of a row's possible information that it does not show. */
static double
row_loss(const LinkedTable *table, uint32 row)
{
	const KanonProblem *problem = &table->run->problem;
	const Levels *levels = &table->run->source->levels;
	double lost = 0, all = 0;

	for (int q = 0; q < levels->nqis; q++)
		for (int c = levels->first[q]; c < levels->first[q + 1]; c++)
		{
			all += problem->columns[c].weight;
			if (c - levels->first[q] < table->level[(Size) row * levels->nqis + q])
				lost += problem->columns[c].weight;
		}
	return all > 0 ? lost / all : 0;
}

void
linked_measure(Linked *linked)
{
	const Run *run = linked->tables[0].run;

	linked->tables[0].tally.loss = run->measures.gcp;
	linked->loss = linked->tables[0].terms.weight * run->measures.gcp;
	linked->tables[0].tally.published = linked->published;
	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++)
	{
		LinkedTable *table = &linked->tables[i];
		double sum = LEFT_OUT * (double) table->tally.nobody;

		table->tally.published = 0;
		for (uint32 row = 0; row < table->nrows; row++)
		{
			sum += table->gone[row] ? LEFT_OUT : row_loss(table, row);
			table->tally.published += !table->gone[row];
		}
		table->tally.loss = sum / Max((double) (table->nrows + table->tally.nobody), 1);
		linked->loss += table->terms.weight * table->tally.loss;
	}
}

/* ---- what rows show, as a release ---- */

typedef struct Shown
{
	uint32 class_; /* after the cells, which are the key */
} Shown;

typedef struct Releaser
{
	Run *run;
	const LinkedTable *table;
	HTAB *classes;
	Size cell_bytes;
	Size class_room;
	Size cell_room;
	Size flow_room;
} Releaser;

static void
show(const Releaser *releaser, uint32 row, KanonCell *cells, KanonPattern *pattern)
{
	const LinkedTable *table = releaser->table;
	const KanonProblem *problem = &releaser->run->problem;
	const Levels *levels = &releaser->run->source->levels;

	memset(cells, 0, releaser->cell_bytes);
	*pattern = KANON_NONE;
	for (int q = 0; q < levels->nqis; q++)
		for (int c = levels->first[q]; c < levels->first[q + 1]; c++)
			if (c - levels->first[q] < table->level[(Size) row * levels->nqis + q])
				kanon_add(pattern, c);
			else
				cells[c] = (KanonCell){KANON_SHOW_VALUE, problem->columns[c].code[table->like[row]]};
}

static uint32
class_of_row(Releaser *releaser, uint32 row)
{
	KanonRelease *release = &releaser->run->release;
	KanonCell cells[KANON_MAX_COLUMNS];
	KanonPattern pattern;
	int n = releaser->run->problem.ncolumns;
	bool found;
	char *entry;
	Shown *shown;

	show(releaser, row, cells, &pattern);
	entry = hash_search(releaser->classes, cells, HASH_ENTER, &found);
	shown = (Shown *) (entry + releaser->cell_bytes);
	if (found)
		return shown->class_;
	release->classes = border_grow(releaser->run->border, release->classes, &releaser->class_room,
								   (Size) release->nclasses + 1, sizeof(KanonClass));
	release->cells = border_grow(releaser->run->border, release->cells, &releaser->cell_room,
								 ((Size) release->nclasses + 1) * n, sizeof(KanonCell));
	release->classes[release->nclasses] = (KanonClass){.pattern = pattern};
	if (n > 0)
		memcpy(release->cells + (Size) release->nclasses * n, cells, releaser->cell_bytes);
	shown->class_ = release->nclasses++;
	return shown->class_;
}

static void
put_flow(Releaser *releaser, uint32 type, uint32 class_, int64 rows)
{
	KanonRelease *release = &releaser->run->release;

	release->flows = border_grow(releaser->run->border, release->flows, &releaser->flow_room,
								 release->nflows + 1, sizeof(KanonFlow));
	release->flows[release->nflows++] = (KanonFlow){type, class_, rows};
	if (class_ == KANON_DROPPED)
		release->dropped += rows;
}

KanonStatus
linked_release(Run *run)
{
	const LinkedTable *table = run->request->own;
	Releaser releaser = {
		.run = run, .table = table, .cell_bytes = sizeof(KanonCell) * Max(run->problem.ncolumns, 1)};
	/* (rows without quasi-identifiers all look alike) */
	HASHCTL control = {.keysize = releaser.cell_bytes,
					   .entrysize = releaser.cell_bytes + sizeof(Shown),
					   .hcxt = run->border->context};
	uint32 row = 0;

	releaser.classes = hash_create("kanon shown", 1024, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (uint32 type = 0; type < run->types->ntypes; type++)
	{
		if (table->row_of[type] == NOBODY)
			put_flow(&releaser, type, KANON_DROPPED, run->types->rows[type]);
		for (; row < table->nrows && table->type[row] == type; row++)
			put_flow(&releaser, type, table->gone[row] ? KANON_DROPPED : class_of_row(&releaser, row), 1);
		if (type % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	hash_destroy(releaser.classes);
	if (table->joins.hides != NULL && run->target != NULL)
		target_hide(run->target, run->source, table->joins.column, table->joins.hides);
	run->report.lower_bound = -INFINITY;
	return kanon_release_finish(&run->problem, &run->release, &run->report);
}
