/*
 * linked_recount.c: what a release of several tables keeps, from the tables alone.
 *
 * It shares nothing with what made the release: the tables are read and joined by their keys.
 * Persons are in classes by their cells in the subject's table.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "core/privacy/rules.h"
#include "linked/linked_recount.h"
#include "rows/verify.h"

#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* ---- the tables are read ---- */

/* The values that rules look at, of the row that comes next. */
static void
add_values(Recount *recount, const Datum *values, const bool *nulls)
{
	RecountTable *table = recount->reading;
	const Source *source = table->like->run->source;

	table->values = border_grow(recount->border, table->values, &table->value_room,
								((Size) table->n + 1) * table->nvalues, sizeof(uint32));
	for (int c = 0; c < table->nvalues; c++)
	{
		uint32 code = dictionary_find(source->qis[source->nqis + c].dictionary, values[c], nulls[c]);

		if (code == DICTIONARY_NONE)
			raise_unsafe("A row has a value that the source does not have.");
		table->values[(Size) table->n * table->nvalues + c] = code;
	}
}

/* Does a row hang on a row of another table, which may be a person? */
static bool
is_below(const Recount *recount, int table, uint32 row, int other, uint32 of)
{
	while (table > other && table > 0)
	{
		row = recount->tables[table].above[row];
		table = recount->tables[table].parent;
	}
	return table == other && row == of;
}

/* The row to which one refers beside the parent's, whose it has to be. */
static uint32
joined_row(Recount *recount, uint32 of, Datum value, bool isnull)
{
	const RecountTable *table = recount->reading;
	const RecountTable *to = &recount->tables[table->like->joins.table];
	uint32 row = isnull ? DICTIONARY_NONE : dictionary_find(to->keys, value, false);

	if (isnull ||
		(row != DICTIONARY_NONE && is_below(recount, table->like->joins.table, row, table->parent, of)))
		return row;
	/* (it would tell of two persons that they belong together) */
	recount->found.dangling++;
	return DICTIONARY_NONE;
}

/* A row as it is read: keys. */
typedef struct RecountKeys
{
	Datum above;
	Datum key;
	Datum joined;
	bool above_null;
	bool key_null;
	bool joined_null;
} RecountKeys;

/* A row of a person, or of one of several. */
static void
put_row(Recount *recount, const RecountKeys *row, uint32 above)
{
	RecountTable *table = recount->reading;

	if (table->n == table->room)
	{
		Size room = table->room, also = table->room, third = table->room;

		if (table->like->joins.column != NULL)
			table->joined =
				border_grow(recount->border, table->joined, &also, (Size) table->n + 1, sizeof(uint32));
		table->copy_of =
			border_grow(recount->border, table->copy_of, &third, (Size) table->n + 1, sizeof(uint32));
		table->above = border_grow(recount->border, table->above, &room, (Size) table->n + 1, sizeof(uint32));
		table->tuple =
			border_grow(recount->border, table->tuple, &table->room, (Size) table->n + 1, sizeof(uint32));
	}
	table->above[table->n] = above;
	table->copy_of[table->n] = table->nread;
	if (table->joined != NULL)
		table->joined[table->n] = joined_row(recount, above, row->joined, row->joined_null);
	table->tuple[table->n++] = recount->groups;
}

/* A row for each row of the parent's table on which it hangs: how many there were. */
static uint32
put_rows(Recount *recount, const RecountKeys *row)
{
	const RecountTable *table = recount->reading, *parent = &recount->tables[table->parent];
	uint32 first = table->n, found;

	if (row->above_null)
		return 0;
	if (table->like->shared.any)
	{
		const RecountTable *shared = &recount->tables[table->like->shared.through];

		found = dictionary_find(shared->keys, row->above, false);
		for (uint32 r = found == DICTIONARY_NONE ? found : shared->sharers[found]; r != DICTIONARY_NONE;
			 r = shared->sharer[r])
			put_row(recount, row, r);
		return table->n - first;
	}
	found = dictionary_find(parent->keys, row->above, false);
	if (found == DICTIONARY_NONE)
		return 0;
	for (uint32 r = parent->copies != NULL ? parent->copies[found] : found;
		 r < (parent->copies != NULL ? parent->copies[found + 1] : found + 1); r++)
		put_row(recount, row, r);
	return table->n - first;
}

/* Where the rows of each row as it was read begin. */
static void
note_copies(Recount *recount, RecountTable *table)
{
	table->copies = border_grow(recount->border, table->copies, &table->copy_room, (Size) table->nread + 2,
								sizeof(uint32));
	if (table->nread == 0)
		table->copies[0] = 0;
	table->copies[table->nread + 1] = table->n;
}

static void
add_row(Recount *recount, const RecountKeys *row)
{
	RecountTable *table = recount->reading;
	bool hangs = table->parent >= 0 && table->like->reference == NULL;
	uint32 n = 1;

	if (hangs)
		n = put_rows(recount, row);
	else
		put_row(recount, row, 0);
	if (n == 0)
	{
		recount->found.dangling++;
		return;
	}
	if (n > 1 && table->nvalues > 0)
		raise_unsafe("A row belongs to several persons.");
	if (table->keys != NULL &&
		(row->key_null || dictionary_add(table->keys, row->key, false) != table->nread))
		ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION),
						errmsg("a key of table %s is NULL, or in several rows", table->source->name),
						errhint("Keys of a release tell rows apart.")));
	if (linked_shared_root(recount->linked, table->like) != NULL)
		note_copies(recount, table);
	table->nread++;
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
	bool has_parent = recount->reading->parent >= 0 && recount->reading->like->reference == NULL;
	bool joins = recount->reading->like->joins.column != NULL;
	int keys = source->nkept - recount->reading->nvalues;
	Datum *values[KANON_MAX_COLUMNS + 3];
	bool *nulls[KANON_MAX_COLUMNS + 3];
	int n = 0;

	for (int i = 0; i < source->nkept; i++)
		take_array(slot->tts_values[i], getBaseType(source->kept[i].type), &values[i], &nulls[i], &n);
	for (int i = 0; i < n; i++)
	{
		/* (rows that are a person's only ones have one key of both) */
		int last = keys - 1, key = last - (joins ? 1 : 0);
		Datum row[KANON_MAX_COLUMNS];
		bool isnull[KANON_MAX_COLUMNS];

		for (int c = keys; c < source->nkept; c++)
		{
			row[c - keys] = values[c][i];
			isnull[c - keys] = nulls[c][i];
		}
		if (recount->reading->nvalues > 0)
			add_values(recount, row, isnull);
		add_row(recount, &(RecountKeys){.above = values[0][i],
										.above_null = has_parent && nulls[0][i],
										.key = values[key][i],
										.key_null = recount->reading->keys != NULL && nulls[key][i],
										.joined = values[last][i],
										.joined_null = joins && nulls[last][i]});
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
read_table(Recount *recount, RecountTable *table)
{
	const LinkedTable *like = table->like;
	const char *names[KANON_MAX_COLUMNS + 3];
	int n = 0, key, nest;
	StringInfoData columns;
	Gate *gate;

	if (table->parent >= 0 && like->reference == NULL)
		names[n++] = like->parent_column;
	/* (a person's only row may have one key of both) */
	if (table->parent < 0 || like->reference != NULL ||
		(like->is_parent && strcmp(like->key, like->parent_column) != 0))
		names[n++] = like->key;
	key = n - 1;
	if (like->joins.column != NULL)
		names[n++] = like->joins.column;
	table->nvalues = linked_rule_columns(like);
	for (int c = 0; c < table->nvalues; c++)
		names[n++] = like->run->source->qis[like->run->source->nqis + c].name;
	table->source = (table->parent < 0 ? source_open : source_open_rows)(
		like->relid, like->qis != NULL ? like->qis : name_list(NULL, 0), name_list(names, n), NULL);
	if (table->parent < 0 || like->reference != NULL || like->is_parent)
		table->keys = dictionary_create(recount->border->context, &table->source->kept[key]);
	gate = gate_create(table->source->name, table->source->relid, n);
	initStringInfo(&columns);
	for (int i = 0; i < n; i++)
	{
		Oid type = getBaseType(table->source->kept[i].type);

		appendStringInfo(
			&columns, "%spg_catalog.array_agg(CAST(%s AS %s))", i > 0 ? ", " : "",
			table->source->kept[i].quoted,
			format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
		gate_columns(gate,
					 &(SourceColumn){.name = "array_agg",
									 .type = get_array_type(type),
									 .typmod = -1,
									 .collation = table->source->kept[i].collation},
					 1);
	}
	gate_watch(gate, recount->border, "checking");
	recount->groups = 0;
	recount->reading = table;
	nest = grouping_begin();
	gate_select(gate,
				psprintf("SELECT %s FROM %s GROUP BY %s", columns.data, table->source->name,
						 table->source->nqis > 0 ? column_list(table->source->qis, table->source->nqis)
												 : "() HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0"),
				false, receive_group, recount);
	grouping_end(nest);
	table->groups = recount->groups;
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
	recount->rows = border_palloc(recount->border, sizeof(RecountRow) * Max(all, 1));
	for (uint32 p = 0; p < persons; p++)
		recount->start[p + 2] += recount->start[p + 1];
	for (int t = 1; t < recount->n; t++)
		for (uint32 r = 0; r < recount->tables[t].n; r++)
		{
			const RecountTable *table = &recount->tables[t];
			uint32 place = recount->start[person_of(recount, t, r) + 1]++;
			bool joins = table->joined != NULL && table->joined[r] != DICTIONARY_NONE;
			int parent = joins ? table->like->joins.table : table->parent;

			local[t][r] = place;
			recount->rows[place] = (RecountRow){
				t, r, parent == 0 ? -1 : (int) local[parent][joins ? table->joined[r] : table->above[r]]};
		}
	/* from places among all rows to places among the person's */
	for (uint32 p = 0; p < persons; p++)
		for (uint32 i = recount->start[p]; i < recount->start[p + 1]; i++)
			if (recount->rows[i].above >= 0)
				recount->rows[i].above -= (int) recount->start[p];
	for (int t = 1; t < recount->n; t++)
		border_pfree(recount->border, local[t]);
}

/* ---- rules ---- */

/* The solver's rules, of the rows as they were written. */
static void
open_rules(Recount *recount, int t)
{
	RecountTable *table = &recount->tables[t];
	KanonColumn *extra;
	int64 *ones;

	if (table->nvalues == 0)
		return;
	table->ruled = table->like->ruled;
	extra = palloc(sizeof(KanonColumn) * table->ruled.nextra);
	memcpy(extra, table->ruled.extra, sizeof(KanonColumn) * table->ruled.nextra);
	ones = border_palloc(recount->border, sizeof(int64) * Max(table->n, 1));
	for (int c = 0; c < table->nvalues + 1; c++)
	{
		uint32 *code = border_palloc(recount->border, sizeof(uint32) * Max(table->n, 1));

		for (uint32 r = 0; r < table->n; r++)
		{
			code[r] =
				c < table->nvalues ? table->values[(Size) r * table->nvalues + c] : person_of(recount, t, r);
			ones[r] = 1;
		}
		extra[c < table->nvalues ? c : kanon_privacy_person(table->ruled.privacy)].code = code;
	}
	table->ruled.extra = extra;
	table->ruled.rows = ones;
	table->ruled.ntypes = table->n;
}

LinkedFound
linked_recount(const Linked *linked, Border *border)
{
	Recount *recount = palloc0(sizeof(Recount));
	const RecountTable *subject = &recount->tables[0];
	uint32 most = 1;

	recount->linked = linked;
	recount->border = border;
	while (recount->n < linked->n && linked->tables[recount->n].role <= LINKED_ROWS)
	{
		RecountTable *table = &recount->tables[recount->n];

		table->like = &linked->tables[recount->n++];
		table->parent = table->like->parent;
		read_table(recount, table);
		table->strays =
			table->like->joins.column != NULL || (table->parent > 0 && recount->tables[table->parent].strays);
		if (table->like->reference != NULL)
			linked_copy_rows(recount, recount->n - 1);
	}
	sort_rows(recount);
	linked_read_values(recount);
	recount->marked = -1;
	for (int t = 1; t < recount->n; t++)
	{
		open_rules(recount, t);
		recount->ruled_rows = recount->ruled_rows || recount->tables[t].nvalues > 0;
		recount->found.rows += recount->tables[t].n;
	}
	for (uint32 p = 0; p < subject->n; p++)
		most = Max(most, recount->start[p + 1] - recount->start[p]);
	recount->chosen = border_palloc(border, sizeof(bool) * most);
	recount->inside = border_palloc(border, sizeof(uint32) * most);
	recount->list = border_palloc(border, sizeof(int) * most);
	recount->shape = border_palloc(border, sizeof(uint64) * most);
	memset(recount->chosen, false, sizeof(bool) * most);
	memset(recount->inside, 0, sizeof(uint32) * most);
	recount->found.persons = subject->n;
	for (uint32 first = 0, next; first < subject->n; first = next)
	{
		for (next = first + 1; next < subject->n && subject->tuple[next] == subject->tuple[first];)
			next++;
		if (recount->found.classes % 256 == 0)
			border_progress(border, "counting combinations", (double) first / subject->n, -1);
		linked_count_class(recount, first, next);
	}
	return recount->found;
}
