/*
 * linked_recount.c: what a release of several tables keeps, from the tables alone.
 *
 * It shares nothing with what made the release: the tables are read and joined by their keys, persons are in
 * classes by what the subject's table shows, and every combination of rows that one person has is written down
 * in one form and counted.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked.h"
#include "rows/dictionary.h"
#include "rows/source.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Words of the combinations of one class. */
#define CLASS_WORDS (INT64CONST(1) << 30)

/* The end of a row's form, and the mark for values that are not known. */
#define END PG_UINT32_MAX
#define UNKNOWN (PG_UINT32_MAX - 1)

typedef struct Table
{
	const LinkedTable *like;
	Source *source;
	int parent;
	Dictionary *keys; /* of its rows, where others hang on them; code: the row */
	Size room;
	uint32 n;
	uint32 *above; /* [n] row of the parent, of the subject: the person */
	uint32 *tuple; /* [n] what it shows; of the subject: the class */
} Table;

/* A row of a person. */
typedef struct Row
{
	int table;
	uint32 number;
	int above; /* place among the person's rows; -1: the person's own */
} Row;

/* A combination of rows, in the class at hand. */
typedef struct Form
{
	Size at;
	uint32 words;
	uint32 persons;
	uint32 last; /* who had it last */
	uint32 hash;
} Form;

typedef struct Recount
{
	const Linked *linked;
	Border *border;
	int n;
	Table tables[KANON_MAX_LINKED];
	uint32 groups; /* of the table that is read */
	Table *reading;
	LinkedFound found;

	/* rows by person */
	uint32 *start; /* [persons + 1] */
	Row *rows;

	/* the class at hand */
	Size nforms, form_room;
	Form *forms;
	Size nslots, slot_room; /* the first a power of 2 */
	uint32 *slots;          /* form, from 1 */
	Size nwords, word_room;
	uint32 *words;

	/* the person at hand */
	uint32 at;
	int nrows;
	const Row *own;
	bool *chosen; /* [rows of the person with most] */
	bool *inside; /* chosen, or something that hangs on it is */
	int known[KANON_MAX_LINKED];
} Recount;

/* ---- the tables are read ---- */

static void
add_row(Recount *recount, Datum above, bool above_null, Datum key, bool key_null)
{
	Table *table = recount->reading;
	Table *parent = table->parent < 0 ? NULL : &recount->tables[table->parent];
	uint32 found = 0;

	if (parent != NULL)
		found = above_null ? DICTIONARY_NONE : dictionary_find(parent->keys, above, false);
	if (found == DICTIONARY_NONE)
	{
		recount->found.dangling++;
		return;
	}
	if (table->keys != NULL && (key_null || dictionary_add(table->keys, key, false) != table->n))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("a key of table %s is NULL, or in several rows", table->source->name),
						errhint("Keys of a release tell rows apart.")));
	if (table->n == table->room)
	{
		Size room = table->room;

		table->above = border_grow(recount->border, table->above, &room, (Size) table->n + 1, sizeof(uint32));
		table->tuple =
			border_grow(recount->border, table->tuple, &table->room, (Size) table->n + 1, sizeof(uint32));
	}
	table->above[table->n] = found;
	table->tuple[table->n++] = recount->groups;
}

/* One column of all rows that show the same. */
static void
take_array(Datum value, Oid type, Datum **values, bool **nulls, int *n)
{
	int16 length;
	bool byval;
	char align;

	get_typlenbyvalalign(type, &length, &byval, &align);
	deconstruct_array(DatumGetArrayTypeP(value), type, length, byval, align, values, nulls, n);
}

static bool
receive_group(void *arg, TupleTableSlot *slot)
{
	Recount *recount = arg;
	const Source *source = recount->reading->source;
	bool has_parent = recount->reading->parent >= 0;
	Datum *values[2];
	bool *nulls[2];
	int n = 0;

	for (int i = 0; i < source->nkept; i++)
		take_array(slot->tts_values[i], getBaseType(source->kept[i].type), &values[i], &nulls[i], &n);
	for (int i = 0; i < n; i++)
	{
		int key = source->nkept - 1;

		add_row(recount, values[0][i], has_parent && nulls[0][i], values[key][i],
				recount->reading->keys != NULL && nulls[key][i]);
	}
	for (int i = 0; i < source->nkept; i++)
	{
		pfree(values[i]);
		pfree(nulls[i]);
	}
	recount->groups++;
	return true;
}

static void
read_table(Recount *recount, Table *table)
{
	const LinkedTable *like = table->like;
	const char *names[2];
	int n = 0, nest;
	StringInfoData columns;
	Gate *gate;

	if (table->parent >= 0)
		names[n++] = like->parent_column;
	if (table->parent < 0 || like->is_parent)
		names[n++] = like->key;
	table->source = source_open(like->relid, like->qis, name_list(names, n), NULL);
	if (table->parent < 0 || like->is_parent)
		table->keys = dictionary_create(recount->border->context, &table->source->kept[n - 1]);
	gate = gate_create(table->source->name, table->source->relid, n);
	initStringInfo(&columns);
	for (int i = 0; i < n; i++)
	{
		Oid type = getBaseType(table->source->kept[i].type);

		appendStringInfo(&columns, "%spg_catalog.array_agg(CAST(%s AS %s))", i > 0 ? ", " : "",
						 table->source->kept[i].quoted,
						 format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY));
		gate_columns(gate,
					 &(SourceColumn){.name = "array_agg",
									 .type = get_array_type(type),
									 .typmod = -1,
									 .collation = table->source->kept[i].collation},
					 1);
	}
	recount->groups = 0;
	recount->reading = table;
	nest = grouping_begin();
	gate_select(gate,
				psprintf("SELECT %s FROM %s GROUP BY %s", columns.data, table->source->name,
						 column_list(table->source->qis, table->source->nqis)),
				false, receive_group, recount);
	grouping_end(nest);
}

/* ---- rows by person ---- */

static uint32
person_of(const Recount *recount, int table, uint32 row)
{
	while (recount->tables[table].parent >= 0)
	{
		row = recount->tables[table].above[row];
		table = recount->tables[table].parent;
	}
	return row;
}

static void
sort_rows(Recount *recount)
{
	uint32 persons = recount->tables[0].n;
	uint32 **local = palloc0(sizeof(uint32 *) * recount->n);
	Size all = 0;

	recount->start = border_palloc(recount->border, sizeof(uint32) * ((Size) persons + 2));
	memset(recount->start, 0, sizeof(uint32) * ((Size) persons + 2));
	for (int t = 1; t < recount->n; t++)
	{
		all += recount->tables[t].n;
		local[t] = border_palloc(recount->border, sizeof(uint32) * Max(recount->tables[t].n, 1));
		for (uint32 r = 0; r < recount->tables[t].n; r++)
			recount->start[person_of(recount, t, r) + 2]++;
	}
	recount->rows = border_palloc(recount->border, sizeof(Row) * Max(all, 1));
	for (uint32 p = 0; p < persons; p++)
		recount->start[p + 2] += recount->start[p + 1];
	for (int t = 1; t < recount->n; t++)
		for (uint32 r = 0; r < recount->tables[t].n; r++)
		{
			int parent = recount->tables[t].parent;
			uint32 place = recount->start[person_of(recount, t, r) + 1]++;

			local[t][r] = place;
			recount->rows[place] =
				(Row){t, r, parent == 0 ? -1 : (int) local[parent][recount->tables[t].above[r]]};
		}
	/* from places among all rows to places among the person's */
	for (uint32 p = 0; p < persons; p++)
		for (uint32 i = recount->start[p]; i < recount->start[p + 1]; i++)
			if (recount->rows[i].above >= 0)
				recount->rows[i].above -= (int) recount->start[p];
	for (int t = 1; t < recount->n; t++)
		border_pfree(recount->border, local[t]);
}

/* ---- forms ---- */

static void
put_word(Recount *recount, uint32 word)
{
	if (recount->nwords >= CLASS_WORDS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("one class of persons has more combinations of rows than can be counted"),
						errhint("Lower known_rows, or bound the rows of a person by max_rows.")));
	recount->words = border_grow(recount->border, recount->words, &recount->word_room, recount->nwords + 1,
								 sizeof(uint32));
	recount->words[recount->nwords++] = word;
}

static int
compare_words(const uint32 *a, Size n, const uint32 *b, Size m)
{
	for (Size i = 0; i < n && i < m; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return n < m ? -1 : n > m;
}

/* Parts of the words from `from` on, each of them sorted in among those before it. */
static void
sort_part(Recount *recount, Size from, Size last)
{
	Size length = recount->nwords - last, at = from;
	uint32 *part;

	/* where the first part begins that is not less */
	while (at < last)
	{
		Size end = at;
		int depth = 0;

		do
		{
			depth += recount->words[end] == END ? -1 : 1;
			end += recount->words[end] == END ? 1 : 2;
		} while (depth > 0);
		if (compare_words(recount->words + at, end - at, recount->words + last, length) >= 0)
			break;
		at = end;
	}
	if (at == last)
		return;
	part = palloc(sizeof(uint32) * length);
	memcpy(part, recount->words + last, sizeof(uint32) * length);
	memmove(recount->words + at + length, recount->words + at, sizeof(uint32) * (last - at));
	memcpy(recount->words + at, part, sizeof(uint32) * length);
	pfree(part);
}

/* Table, what is shown, what hangs on it in one order, the end: of all rows inside that hang on this one. */
static void
write_rows(Recount *recount, int above)
{
	Size from = recount->nwords;

	for (int i = above + 1; i < recount->nrows; i++)
	{
		const Row *row = &recount->own[i];
		Size last = recount->nwords;

		if (row->above != above || !recount->inside[i])
			continue;
		put_word(recount, (uint32) row->table);
		put_word(recount, recount->chosen[i] ? recount->tables[row->table].tuple[row->number] : UNKNOWN);
		write_rows(recount, i);
		put_word(recount, END);
		sort_part(recount, from, last);
	}
}

static uint32 *
find_slot(Recount *recount, const Form *form)
{
	Size at = form->hash & (recount->nslots - 1);

	for (; recount->slots[at] != 0; at = (at + 1) & (recount->nslots - 1))
	{
		const Form *other = &recount->forms[recount->slots[at] - 1];

		if (other->hash == form->hash && compare_words(recount->words + other->at, other->words,
													   recount->words + form->at, form->words) == 0)
			break;
	}
	return &recount->slots[at];
}

static void
grow_slots(Recount *recount)
{
	recount->nslots = Max(2 * recount->nslots, 1024);
	recount->slots =
		border_grow(recount->border, recount->slots, &recount->slot_room, recount->nslots, sizeof(uint32));
	memset(recount->slots, 0, sizeof(uint32) * recount->nslots);
	for (Size i = 0; i < recount->nforms; i++)
		*find_slot(recount, &recount->forms[i]) = (uint32) i + 1;
}

/* The form that has been written last: of how many persons it is. */
static void
count_form(Recount *recount, Size at)
{
	Form form = {.at = at, .words = (uint32) (recount->nwords - at), .persons = 1, .last = recount->at};
	uint32 *slot;

	form.hash =
		hash_bytes((const unsigned char *) (recount->words + at), (int) (form.words * sizeof(uint32)));
	if (2 * (recount->nforms + 1) > recount->nslots)
		grow_slots(recount);
	slot = find_slot(recount, &form);
	if (*slot != 0)
	{
		Form *known = &recount->forms[*slot - 1];

		known->persons += known->last != recount->at;
		known->last = recount->at;
		recount->nwords = at;
		return;
	}
	recount->forms =
		border_grow(recount->border, recount->forms, &recount->form_room, recount->nforms + 1, sizeof(Form));
	recount->forms[recount->nforms++] = form;
	*slot = (uint32) recount->nforms;
}

static void
put_form(Recount *recount)
{
	Size at = recount->nwords;

	write_rows(recount, -1);
	count_form(recount, at);
}

/* Is anything inside that hangs on it? */
static void
mark_inside(Recount *recount)
{
	for (int i = recount->nrows - 1; i >= 0; i--)
	{
		recount->inside[i] = recount->inside[i] || recount->chosen[i];
		if (recount->inside[i] && recount->own[i].above >= 0)
			recount->inside[recount->own[i].above] = true;
	}
}

static void
put_chosen(Recount *recount)
{
	memset(recount->inside, 0, sizeof(bool) * recount->nrows);
	mark_inside(recount);
	put_form(recount);
}

/* Rows that look alike, on which nothing hangs: sets of them are those of the first ones. */
static bool
is_like_before(const Recount *recount, int i)
{
	const Row *row = &recount->own[i], *before = row - 1;

	return row->table == before->table && row->above == before->above &&
		   recount->tables[row->table].tuple[row->number] ==
			   recount->tables[row->table].tuple[before->number] &&
		   !recount->tables[row->table].like->is_parent;
}

/* Every set of the person's rows from `from` on, with those that are chosen. */
static void
choose(Recount *recount, int from)
{
	CHECK_FOR_INTERRUPTS();
	for (int i = from; i < recount->nrows; i++)
	{
		int table = recount->own[i].table;

		if (recount->known[table] == recount->linked->m || (i > from && is_like_before(recount, i)))
			continue;
		recount->known[table]++;
		recount->chosen[i] = true;
		put_chosen(recount);
		choose(recount, i + 1);
		recount->chosen[i] = false;
		recount->known[table]--;
	}
}

/* ---- a class ---- */

static void
begin_forms(Recount *recount)
{
	recount->nforms = recount->nwords = 0;
	if (recount->nslots > 0)
		memset(recount->slots, 0, sizeof(uint32) * recount->nslots);
}

/* How many persons have each of them. */
static void
look_at_forms(Recount *recount)
{
	LinkedFound *found = &recount->found;

	for (Size i = 0; i < recount->nforms; i++)
	{
		int64 persons = recount->forms[i].persons;

		found->combinations++;
		found->below += persons < recount->linked->k;
		if (found->smallest == 0 || persons < found->smallest)
			found->smallest = persons;
	}
}

static void
put_person(Recount *recount, uint32 person)
{
	recount->at = person;
	recount->own = recount->rows + recount->start[person];
	recount->nrows = (int) (recount->start[person + 1] - recount->start[person]);
	if (recount->linked->m > 0)
	{
		choose(recount, 0);
		return;
	}
	memset(recount->chosen, true, sizeof(bool) * recount->nrows);
	put_chosen(recount);
	memset(recount->chosen, false, sizeof(bool) * recount->nrows);
}

/* How many rows of each table the person has, as a form. */
static void
put_counts(Recount *recount, uint32 person)
{
	uint32 counts[KANON_MAX_LINKED] = {0};
	Size at = recount->nwords;

	recount->at = person;
	for (uint32 i = recount->start[person]; i < recount->start[person + 1]; i++)
		counts[recount->rows[i].table]++;
	for (int t = 0; t < recount->n; t++)
		put_word(recount, counts[t]);
	count_form(recount, at);
}

/* Persons first .. next - 1 are a class: the subject was read class by class. */
static void
count_class(Recount *recount, uint32 first, uint32 next)
{
	LinkedFound *found = &recount->found;
	int64 size = next - first;

	found->classes++;
	if (found->smallest_class == 0 || size < found->smallest_class)
		found->smallest_class = size;
	begin_forms(recount);
	for (uint32 p = first; p < next; p++)
		put_person(recount, p);
	look_at_forms(recount);
	begin_forms(recount);
	for (uint32 p = first; p < next; p++)
		put_counts(recount, p);
	for (Size i = 0; i < recount->nforms; i++)
		found->alone += recount->forms[i].persons == 1;
}

LinkedFound
linked_recount(const Linked *linked, Border *border)
{
	Recount *recount = palloc0(sizeof(Recount));
	const Table *subject = &recount->tables[0];
	uint32 most = 1;

	recount->linked = linked;
	recount->border = border;
	while (recount->n < linked->n && linked->tables[recount->n].role <= LINKED_ROWS)
	{
		Table *table = &recount->tables[recount->n];

		table->like = &linked->tables[recount->n++];
		table->parent = table->like->parent;
		read_table(recount, table);
	}
	sort_rows(recount);
	for (uint32 p = 0; p < subject->n; p++)
		most = Max(most, recount->start[p + 1] - recount->start[p]);
	recount->chosen = border_palloc(border, sizeof(bool) * most);
	recount->inside = border_palloc(border, sizeof(bool) * most);
	memset(recount->chosen, false, sizeof(bool) * most);
	recount->found.persons = subject->n;
	for (uint32 first = 0, next; first < subject->n; first = next)
	{
		for (next = first + 1; next < subject->n && subject->tuple[next] == subject->tuple[first];)
			next++;
		count_class(recount, first, next);
	}
	return recount->found;
}
