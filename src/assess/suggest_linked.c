/*
 * suggest_linked.c: a call of kanon_linked for all tables that foreign keys join with a table.
 *
 * The subject is the table that is called like persons, and on which most others hang.  Tables that hang on it have rows of
 * persons; tables to which these refer are lookups, or columns of the row where few rows refer to each of theirs.
 */
#include "compat.h"
#include "assess/suggest.h"
#include "host/border.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Tables of a release, as kanon_linked takes them. */
#define MOST_TABLES 17

/* Fewer rows refer to a row on the average: then it is a column of the row that refers to it. */
#define FEW_ROWS 4

/* Classes of so many ks lose less of the rows, where there are ten of them. */
#define CLASS_OF_KS 8

typedef enum Part
{
	PART_NONE,
	PART_SUBJECT,
	PART_ROWS,
	PART_LOOKUP,
	PART_COPIES /* … or shared rows, on which others hang */
} Part;

typedef struct Joined
{
	Oid relid;
	char *name;
	Part part;
	List *keys; /* char *: columns of keys, and of references to other tables */
	Suggest *suggest;
	SuggestedCall call;
} Joined;

typedef struct TableKey
{
	int from;
	int to;
	char *name;
	char *column; /* NULL: there are several */
} TableKey;

typedef struct Tables
{
	int n;
	Joined tables[MOST_TABLES];
	int nlinks;
	TableKey *links;
	bool more; /* than are listed */
	int subject;
} Tables;

/* ---- what the catalogs say ---- */

static int
place_of(const Tables *tables, Oid relid)
{
	for (int i = 0; i < tables->n; i++)
		if (tables->tables[i].relid == relid)
			return i;
	return -1;
}

static uint64
ask(const char *query, Oid relid)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(relid)};
	int nest = catalog_path_begin();
	uint64 n = gate_ask(query, 1, types, values, NULL, true, 0);

	catalog_path_end(nest);
	return n;
}

/* Tables that foreign keys join with it over any number of steps, in either direction, and that the caller may read. */
static void
find_tables(Tables *tables, Oid relid)
{
	uint64 n = ask(
		"WITH RECURSIVE keys AS (SELECT conrelid AS one, confrelid AS other FROM pg_constraint WHERE contype = 'f'"
		" AND conparentid = 0 UNION SELECT confrelid, conrelid FROM pg_constraint WHERE contype = 'f' AND conparentid = 0),"
		" found AS (SELECT $1 AS oid UNION SELECT k.other FROM found AS f JOIN keys AS k ON k.one = f.oid"
		" WHERE has_table_privilege(k.other, 'SELECT')) SELECT oid FROM found ORDER BY oid <> $1, oid::regclass::text",
		relid);

	tables->more = n > MOST_TABLES;
	tables->n = (int) Min(n, MOST_TABLES);
	for (int i = 0; i < tables->n; i++)
	{
		bool isnull;

		tables->tables[i].relid = DatumGetObjectId(gate_value(i, 1, OIDOID, &isnull));
	}
	for (int i = 0; i < tables->n; i++)
		tables->tables[i].name = relation_name(tables->tables[i].relid);
}

static char *
name_value(uint64 row, int column)
{
	bool isnull;
	Datum value = gate_value(row, column, NAMEOID, &isnull);

	return isnull ? NULL : pstrdup(NameStr(*DatumGetName(value)));
}

static void
find_joins(Tables *tables, int i)
{
	uint64 n = ask(
		"SELECT c.conname, c.confrelid, CASE WHEN cardinality(c.conkey) = 1 THEN a.attname END FROM pg_constraint c"
		" JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
		" WHERE c.conrelid = $1 AND c.contype = 'f' ORDER BY 1, 2",
		tables->tables[i].relid);

	tables->links = tables->links == NULL
						? palloc(sizeof(TableKey) * Max(n, 1))
						: repalloc(tables->links, sizeof(TableKey) * Max(tables->nlinks + n, 1));
	for (uint64 row = 0; row < n; row++)
	{
		bool isnull;
		int to = place_of(tables, DatumGetObjectId(gate_value(row, 2, OIDOID, &isnull)));

		if (to >= 0 && to != i)
			tables->links[tables->nlinks++] = (TableKey){i, to, name_value(row, 1), name_value(row, 3)};
	}
	n = ask(
		"SELECT DISTINCT a.attname FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)"
		" WHERE c.conrelid = $1 AND (c.contype = 'f' OR c.contype = 'p' AND cardinality(c.conkey) = 1) ORDER BY 1",
		tables->tables[i].relid);
	for (uint64 row = 0; row < n; row++)
		tables->tables[i].keys = lappend(tables->tables[i].keys, name_value(row, 1));
}

/* ---- the subject ---- */

/* Words for persons, in one number or several: those who are asked about before those who serve them. */
static int
rank_of(const char *name)
{
	static const char *const words[] = {"patient",     "person",    "people",     "customer",   "client",
										"participant", "subject",   "respondent", "citizen",    "resident",
										"student",     "pupil",     "member",     "subscriber", "user",
										"author",      "applicant", "employee",   "household"};

	for (int w = 0; w < lengthof(words); w++)
	{
		size_t length = strlen(words[w]);

		if (pg_strncasecmp(name, words[w], length) == 0 && strlen(name) <= length + 2)
			return w;
	}
	return lengthof(words);
}

/* Counts the tables that hang on one, over any number of steps. */
static int
count_reached(const Tables *tables, int subject, bool *reached)
{
	bool more = true;
	int n = 1;

	memset(reached, 0, sizeof(bool) * MOST_TABLES);
	reached[subject] = true;
	while (more)
	{
		more = false;
		for (int j = 0; j < tables->nlinks; j++)
			if (reached[tables->links[j].to] && !reached[tables->links[j].from])
			{
				more = reached[tables->links[j].from] = true;
				n++;
			}
	}
	return n;
}

static int
find_subject(const Tables *tables)
{
	bool reached[MOST_TABLES];
	int best = 0, rank = 0, most = 0;

	for (int i = 0; i < tables->n; i++)
	{
		int own = rank_of(get_rel_name(tables->tables[i].relid)), n = count_reached(tables, i, reached);

		if (i > 0 && (own > rank || (own == rank && n <= most)))
			continue;
		best = i;
		rank = own;
		most = n;
	}
	return best;
}

/* ---- the parts of the others ---- */

/* Few rows refer to each row of it. */
static bool
is_few(const Tables *tables, int lookup)
{
	int64 rows = tables->tables[lookup].suggest->rows;

	for (int j = 0; j < tables->nlinks; j++)
		if (tables->links[j].to == lookup && tables->links[j].column != NULL &&
			tables->tables[tables->links[j].from].part != PART_LOOKUP &&
			tables->tables[tables->links[j].from].part != PART_NONE &&
			tables->tables[tables->links[j].from].suggest->rows < FEW_ROWS * rows)
			return true;
	return false;
}

static void
find_referred(Tables *tables, bool *referred)
{
	bool more = true;

	while (more)
	{
		more = false;
		for (int j = 0; j < tables->nlinks; j++)
		{
			const TableKey *join = &tables->links[j];

			if ((tables->tables[join->from].part != PART_NONE || referred[join->from]) &&
				tables->tables[join->to].part == PART_NONE && !referred[join->to])
				more = referred[join->to] = true;
		}
	}
}

/* Tables that hang on tables to which rows refer have rows of persons, too: of several. */
static void
find_parts(Tables *tables, int subject)
{
	bool reached[MOST_TABLES], referred[MOST_TABLES] = {false}, more = true;

	(void) count_reached(tables, subject, reached);
	for (int i = 0; i < tables->n; i++)
		tables->tables[i].part = i == subject ? PART_SUBJECT : reached[i] ? PART_ROWS : PART_NONE;
	find_referred(tables, referred);
	while (more)
	{
		more = false;
		for (int j = 0; j < tables->nlinks; j++)
		{
			Joined *from = &tables->tables[tables->links[j].from], *to = &tables->tables[tables->links[j].to];

			if (from->part != PART_NONE || referred[tables->links[j].from] ||
				!(to->part == PART_ROWS || to->part == PART_COPIES || referred[tables->links[j].to]))
				continue;
			from->part = PART_ROWS;
			if (to->part == PART_NONE)
				to->part = PART_COPIES;
			more = true;
			find_referred(tables, referred);
		}
	}
	for (int i = 0; i < tables->n; i++)
		if (referred[i] && tables->tables[i].part == PART_NONE)
			tables->tables[i].part = PART_LOOKUP;
	for (int i = 0; i < tables->n; i++)
		if (tables->tables[i].part == PART_LOOKUP && is_few(tables, i))
			tables->tables[i].part = PART_COPIES;
}

/* ---- the call ---- */

static void
put_list(StringInfo json, const char *word, const char *list)
{
	if (list[0] != '\0')
		appendStringInfo(json, "%s\"%s\": [%s]", json->len > 0 ? ", " : "", word, list);
}

static void
put_object(StringInfo json, const char *word, const char *object)
{
	if (object[0] != '\0')
		appendStringInfo(json, "%s\"%s\": {%s}", json->len > 0 ? ", " : "", word, object);
}

static void
put_name(StringInfo list, const char *name)
{
	appendStringInfoString(list, list->len > 0 ? "," : "");
	escape_json(list, name);
}

/* References to lookups are quasi-identifiers; a second one to rows of persons joins. */
static void
put_references(Tables *tables, int i)
{
	Joined *table = &tables->tables[i];
	bool joins = false;

	for (int j = 0; j < tables->nlinks && table->part != PART_LOOKUP; j++)
	{
		const TableKey *join = &tables->links[j];
		bool own = false, nearer = false;

		if (join->from != i || join->column == NULL)
			continue;
		if (tables->tables[join->to].part == PART_LOOKUP)
			put_name(&table->call.qis, join->column);
		for (int k = 0; k < tables->nlinks; k++)
			if (tables->links[k].from == i && k != j)
			{
				own = own || tables->links[k].column == NULL;
				/* (what the other key leads to is above this one) */
				for (int l = 0; l < tables->nlinks; l++)
					nearer = nearer || (tables->links[l].from == join->to &&
										tables->links[l].to == tables->links[k].to);
			}
		if (tables->tables[join->to].part != PART_ROWS || joins || !nearer || own)
			continue;
		put_name(&table->call.keep, join->column);
		joins = true;
	}
}

/* Do rows of persons hang on it, which cannot reach a person otherwise? */
static bool
has_rows(const Tables *tables, int i)
{
	bool reached[MOST_TABLES];

	(void) count_reached(tables, tables->subject, reached);
	for (int j = 0; j < tables->nlinks; j++)
		if (tables->links[j].to == i && tables->tables[tables->links[j].from].part == PART_ROWS &&
			!reached[tables->links[j].from])
			return true;
	return false;
}

/* Does a table that is published refer to it? */
static bool
is_referred(const Tables *tables, int i)
{
	for (int j = 0; j < tables->nlinks; j++)
		if (tables->links[j].to == i && tables->tables[tables->links[j].from].part != PART_NONE)
			return true;
	return false;
}

/* Columns of a row all of which identify are not published, nor what only they refer to. */
static void
leave_out(Tables *tables)
{
	bool more = true;

	while (more)
	{
		more = false;
		for (int i = 0; i < tables->n; i++)
		{
			Joined *table = &tables->tables[i];

			if (table->part != PART_COPIES && table->part != PART_LOOKUP)
				continue;
			if (is_referred(tables, i) &&
				(table->part == PART_LOOKUP ? table->call.keep.len > 0
											: table->call.qis.len > 0 || has_rows(tables, i)))
				continue;
			table->part = PART_NONE;
			more = true;
		}
	}
}

/* Lookups tell nothing of persons but by who refers to them: all that may be grouped is kept. */
static void
keep_all(Joined *table)
{
	for (int c = 0; c < table->suggest->source->nkept; c++)
	{
		const Suggestion *s = &table->suggest->columns[c];
		const ListCell *cell;
		bool key = false;

		foreach (cell, table->keys)
			key = key || strcmp(lfirst(cell), s->column->name) == 0;
		if (!key && OidIsValid(s->equality))
			put_name(&table->call.keep, s->column->name);
	}
}

static char *
options_of(const Joined *table, int64 k)
{
	StringInfoData json;

	initStringInfo(&json);
	put_list(&json, "quasi_identifiers", table->call.qis.data);
	put_list(&json, "keep", table->call.keep.data);
	put_object(&json, "mask", table->call.masks.data);
	put_object(&json, "hierarchies", table->call.hierarchies.data);
	if (table->part == PART_SUBJECT && table->suggest->rows >= 10 * CLASS_OF_KS * k)
		appendStringInfo(&json, ", \"class_size\": " INT64_FORMAT, CLASS_OF_KS * k);
	return json.data;
}

static const char *
part_name(Part part)
{
	return part == PART_SUBJECT  ? "a row for each person"
		   : part == PART_ROWS   ? "rows of persons"
		   : part == PART_LOOKUP ? "a lookup"
								 : "its rows are columns of rows that refer to them";
}

static char *
write_call(const Tables *tables, int subject, const char *target, int64 k, const char *schema)
{
	StringInfoData text, json;

	initStringInfo(&text);
	initStringInfo(&json);
	appendStringInfoString(
		&text, "-- a beginning: look at each table and column, with somebody who knows the data\n");
	if (tables->more)
		appendStringInfo(&text, "-- more than %d tables hang together: these are some of them\n",
						 MOST_TABLES);
	for (int i = 0; i < tables->n; i++)
	{
		const Joined *table = &tables->tables[i];

		if (table->part == PART_NONE)
		{
			appendStringInfo(
				&text,
				"-- %s: left out, for no keys lead from it to a person, or all of its columns identify\n",
				table->name);
			continue;
		}
		appendStringInfo(&text, "-- %s: %s%s%s\n", table->name, part_name(table->part),
						 table->call.out.len > 0 ? "; left out: " : "", table->call.out.data);
		appendStringInfoString(&json, json.len > 0 ? ",\n  " : "");
		escape_json(&json, table->name);
		appendStringInfo(&json, ": {%s}", options_of(table, k));
	}
	appendStringInfoString(
		&text, "-- known_rows: somebody knows one row of any table, beside what is known of the person\n");
	if (tables->tables[subject].call.qis.len == 0)
	{
		appendStringInfo(
			&text,
			"-- no column of %s is a quasi-identifier by its name, type or values: name those that others know\n",
			tables->tables[subject].name);
		return text.data;
	}
	appendStringInfo(
		&text, "SELECT * FROM %s(%s, %s, %s,\n    k => " INT64_FORMAT ", known_rows => '1 in all');",
		quote_qualified_identifier(schema, "kanon_linked"), quote_literal_cstr(tables->tables[subject].name),
		quote_literal_cstr(psprintf("{\n  %s}", json.data)), quote_literal_cstr(target), k);
	return text.data;
}

text *
suggest_linked(Oid relid, const char *target, int64 k, const char *schema)
{
	MemoryContext caller = CurrentMemoryContext;
	Tables *tables = palloc0(sizeof(Tables));
	Border *border;
	char *words;
	int subject;

	if (target == NULL)
		target = psprintf("%.50s_public", get_namespace_name(get_rel_namespace(relid)));
	SPI_connect();
	border = border_create("kanon_suggest_call");
	find_tables(tables, relid);
	for (int i = 0; i < tables->n; i++)
		find_joins(tables, i);
	subject = find_subject(tables);
	for (int i = 0; i < tables->n; i++)
	{
		Joined *table = &tables->tables[i];

		table->suggest = suggest_read(table->relid, border);
		suggest_begin(&table->call);
		PopActiveSnapshot();
	}
	tables->subject = subject;
	find_parts(tables, subject);
	for (int i = 0; i < tables->n; i++)
	{
		Joined *table = &tables->tables[i];

		if (table->part == PART_LOOKUP)
			keep_all(table);
		else
		{
			table->call.known = true;
			suggest_collect(&table->call, table->suggest, table->keys);
		}
		put_references(tables, i);
	}
	leave_out(tables);
	words = MemoryContextStrdup(caller, write_call(tables, subject, target, k, schema));
	MemoryContextDelete(border->context);
	SPI_finish();
	return cstring_to_text(words);
}
