/*
 * linked_schema.c: how the tables of a release hang together, by the primary and foreign keys of the catalogs.
 *
 * Each table reaches the subject along one foreign key to a table that does; where there are several, the caller
 * names one.  Tables that rows refer to are lookups.  All else is an error before any row is read.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "linked/linked.h"
#include "distributed/citus.h"
#include "hierarchies/hierarchy.h"
#include "rows/source.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#define TABLES_HINT                                                                                        \
	"Write it like '{\"shop.customers\": {\"quasi_identifiers\": [\"birth\", \"zip\"]}, \"shop.orders\": " \
	"{\"quasi_identifiers\": [\"placed\"], \"keep\": [\"amount\"]}}'."

/* A foreign key as the catalogs have it. */
typedef struct ForeignKey
{
	char *name;
	int from;
	int to;
	char *column; /* NULL: it has several */
	char *refers; /* to this column */
} ForeignKey;

typedef struct Schema
{
	Linked *linked;
	ForeignKey *keys;
	int nkeys;
	bool *reached; /* [n] */
} Schema;

pg_noreturn static void
raise_table(const LinkedTable *table, const char *what, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("table \"%s\" %s", excerpt(table->name), what), errhint("%s", hint)));
}

/* ---- what the caller says ---- */

static JsonbValue *
find_word(Jsonb *object, const char *word)
{
	JsonbValue key = {.type = jbvString, .val.string = {strlen(word), unconstify(char *, word)}};

	return findJsonbValueFromContainer(&object->root, JB_FOBJECT, &key);
}

/* A word of ours goes out of the options. */
static JsonbValue *
take_word(LinkedTable *table, const char *word)
{
	JsonbValue *value = find_word(table->options, word);

	if (value != NULL)
		table->options = DatumGetJsonbP(
			DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(table->options), CStringGetTextDatum(word)));
	return value;
}

static char *
take_text(LinkedTable *table, const char *word)
{
	JsonbValue *value = take_word(table, word);

	if (value == NULL)
		return NULL;
	if (value->type != jbvString)
		raise_table(table, psprintf("has another \"%s\" than a string", word), TABLES_HINT);
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static void
take_names(LinkedTable *table)
{
	JsonbValue *value = take_word(table, "quasi_identifiers");
	JsonbContainer *list;
	const char **names;
	int n;

	if (value == NULL)
		return;
	list = value->type == jbvBinary ? value->val.binary.data : NULL;
	if (list == NULL || !JsonContainerIsArray(list))
		raise_table(table, "has other quasi_identifiers than a list of columns", TABLES_HINT);
	n = JsonContainerSize(list);
	names = palloc(sizeof(char *) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		JsonbValue *name = getIthJsonbValueFromContainer(list, i);

		if (name->type != jbvString || name->val.string.len >= NAMEDATALEN)
			raise_table(table, "has other quasi_identifiers than a list of columns", TABLES_HINT);
		names[i] = pnstrdup(name->val.string.val, name->val.string.len);
	}
	table->qis = n > 0 ? name_list(names, n) : NULL;
}

/* A whole number from 1 on; 0: it is not given. */
static int
take_number(LinkedTable *table, const char *word, const char *hint)
{
	JsonbValue *value = take_word(table, word);
	Datum number;

	if (value == NULL)
		return 0;
	number = value->type == jbvNumeric
				 ? DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric))
				 : Float8GetDatum(0);
	if (!(DatumGetFloat8(number) >= 1 && DatumGetFloat8(number) <= PG_INT32_MAX &&
		  DatumGetFloat8(number) == (int) DatumGetFloat8(number)))
		raise_table(table, psprintf("has another \"%s\" than a whole number from 1 on", word), hint);
	return (int) DatumGetFloat8(number);
}

static void
take_class_size(LinkedTable *table)
{
	JsonbValue *value = find_word(table->options, "class_size");

	if (value != NULL && value->type == jbvString && value->val.string.len == 4 &&
		memcmp(value->val.string.val, "auto", 4) == 0)
	{
		(void) take_word(table, "class_size");
		table->tries_sizes = true;
	}
	else
		table->class_size = take_number(
			table, "class_size", "It is how many persons a class of the subject's table has, or \"auto\".");
}

static bool
take_bool(LinkedTable *table, const char *word, bool initial, const char *hint)
{
	JsonbValue *value = take_word(table, word);

	if (value == NULL)
		return initial;
	if (value->type != jbvBool)
		raise_table(table, psprintf("has another \"%s\" than true or false", word), hint);
	return value->val.boolean;
}

/* No key of the catalogs holds for rows of inheriting tables: two of them may have one key. */
static bool
has_inheriting_tables(Oid relid)
{
	return get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE &&
		   find_inheritance_children(relid, NoLock) != NIL;
}

static uint64
ask(const char *query, Oid relid)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(relid)};
	int nest = catalog_path_begin();
	uint64 n = gate_ask(query, 1, types, values, NULL, false, 0);

	catalog_path_end(nest);
	return n;
}

/* The one relation that a view reads, or the view itself. */
static Oid
shown_table(Oid view)
{
	bool isnull;

	if (get_rel_relkind(view) != RELKIND_VIEW ||
		ask("SELECT DISTINCT d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass"
			" AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class"
			" WHERE r.ev_class = $1 AND r.rulename = '_RETURN'",
			view) != 1)
		return view;
	return DatumGetObjectId(gate_value(0, 1, OIDOID, &isnull));
}

static void
take_table(Linked *linked, char *name, const JsonbValue *value)
{
	LinkedTable *table = &linked->tables[linked->n];

	table->name = name;
	table->parent = -1;
	table->relid = relation_to_read("table", name);
	for (int i = 0; i < linked->n; i++)
		if (linked->tables[i].relid == table->relid)
			raise_table(table, "is named twice in tables", "Name each table once.");
	if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
		raise_table(table, "has no object of options", TABLES_HINT);
	if (citus_reads(table->relid))
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" is distributed by Citus", excerpt(name)),
			 errhint(
				 "Tables of one release must be tables of this server: copy them, or publish each alone.")));
	table->keyed = linked->checks ? shown_table(table->relid) : table->relid;
	if (has_inheriting_tables(table->keyed))
		raise_table(table, "has inheriting tables, whose rows its keys do not bind",
					"Use partitions, or copy the rows into a table with the same keys.");
	table->options = JsonbValueToJsonb(unconstify(JsonbValue *, value));
	table->relname = table->target = get_rel_name(table->relid);
	take_names(table);
	table->max_rows =
		take_number(table, "max_rows", "It is how many rows of a person are published at most.");
	take_class_size(table);
	table->linked = take_bool(table, "linked", true, "false publishes it without a key to the person.");
	table->referenced =
		take_bool(table, "referenced", false, "true publishes rows alone to which published rows refer.");
	table->constraint = take_text(table, "foreign_key");
	if (find_word(table->options, "target") != NULL)
		table->target = take_text(table, "target");
	for (int i = 0; i < linked->n; i++)
		if (strcmp(linked->tables[i].target, table->target) == 0)
			raise_table(table, "would be published under a name that another one has",
						"Say {\"target\": \"another_name\"} of one of them.");
	table->known = table->target;
	linked->n++;
}

static void
take_tables(Linked *linked, Jsonb *tables)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;
	char *name = NULL;

	if (!JB_ROOT_IS_OBJECT(tables))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("tables must be a JSON object"),
						errhint(TABLES_HINT)));
	if (JB_ROOT_COUNT(tables) > KANON_MAX_LINKED)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("a release has at most %d tables", KANON_MAX_LINKED),
						errhint("Leave out tables, or join lookups in views.")));
	linked->tables = palloc0(sizeof(LinkedTable) * KANON_MAX_LINKED);
	it = JsonbIteratorInit(&tables->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			name = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE)
			take_table(linked, name, &value);
	}
}

/* ---- what the catalogs say ---- */

static char *
name_value(uint64 row, int column)
{
	bool isnull;
	Datum value = gate_value(row, column, NAMEOID, &isnull);

	return isnull ? NULL : pstrdup(NameStr(*DatumGetName(value)));
}

static void
find_primary_key(LinkedTable *table)
{
	if (ask("SELECT a.attname FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid"
			" AND a.attnum = c.conkey[1] WHERE c.conrelid = $1 AND c.contype = 'p' AND cardinality(c.conkey) = 1",
			table->keyed) == 0)
		return;
	/* (a view may have it under another name) */
	if (get_attnum(table->relid, name_value(0, 1)) <= 0)
		return;
	table->key = name_value(0, 1);
	table->key_type = getBaseType(get_atttype(table->keyed, get_attnum(table->keyed, table->key)));
}

static int
table_of(const Linked *linked, Oid relid)
{
	for (int i = 0; i < linked->n; i++)
		if (linked->tables[i].relid == relid)
			return i;
	return -1;
}

/* By whose keys it has. */
static int
keyed_table(const Linked *linked, Oid relid)
{
	for (int i = 0; i < linked->n; i++)
		if (linked->tables[i].keyed == relid)
			return i;
	return -1;
}

/* Foreign keys between tables that are named, in the order of their names. */
static void
find_foreign_keys(Schema *schema)
{
	Linked *linked = schema->linked;
	int room = 0;

	for (int i = 0; i < linked->n; i++)
	{
		uint64 n =
			ask("SELECT c.conname, c.confrelid,"
				" CASE WHEN cardinality(c.conkey) = 1 THEN a.attname END, f.attname FROM pg_constraint c"
				" JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
				" JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = c.confkey[1]"
				" WHERE c.conrelid = $1 AND c.contype = 'f' ORDER BY 1, 2",
				linked->tables[i].keyed);

		for (uint64 row = 0; row < n; row++)
		{
			bool isnull;
			int to = keyed_table(linked, DatumGetObjectId(gate_value(row, 2, OIDOID, &isnull)));

			/* (a view may have the column under another name) */
			if (to < 0 ||
				(name_value(row, 3) != NULL && get_attnum(linked->tables[i].relid, name_value(row, 3)) <= 0))
				continue;
			if (schema->nkeys == room)
			{
				room = Max(2 * room, 16);
				schema->keys = schema->keys == NULL ? palloc(sizeof(ForeignKey) * room)
													: repalloc(schema->keys, sizeof(ForeignKey) * room);
			}
			schema->keys[schema->nkeys++] =
				(ForeignKey){name_value(row, 1), i, to, name_value(row, 3), name_value(row, 4)};
		}
	}
}

/* May a table's rows hang on persons by this key? */
static bool
leads(const Schema *schema, const ForeignKey *key)
{
	const LinkedTable *from = &schema->linked->tables[key->from];

	return key->from != key->to && from->role != LINKED_SUBJECT &&
		   (from->constraint == NULL || strcmp(from->constraint, key->name) == 0);
}

static void
check_named(const Schema *schema)
{
	for (int i = 0; i < schema->linked->n; i++)
	{
		const LinkedTable *table = &schema->linked->tables[i];
		bool found = table->constraint == NULL;

		for (int c = 0; c < schema->nkeys && !found; c++)
			found = schema->keys[c].from == i && leads(schema, &schema->keys[c]);
		if (!found)
			raise_table(table,
						psprintf("has no foreign key \"%s\" to another table that is named",
								 excerpt(table->constraint)),
						"Name a constraint of the table, as in \\d, whose other table is in tables, too.");
	}
}

static void
reach(Schema *schema)
{
	bool more = true;

	while (more)
	{
		more = false;
		for (int c = 0; c < schema->nkeys; c++)
		{
			const ForeignKey *key = &schema->keys[c];

			if (schema->reached[key->to] && !schema->reached[key->from] && leads(schema, key))
				more = schema->reached[key->from] = true;
		}
	}
}

/* The one key along which a table reaches persons. */
static void
choose_path(const Schema *schema, int table)
{
	LinkedTable *from = &schema->linked->tables[table];
	const ForeignKey *path = NULL;
	StringInfoData names;
	int n = 0;

	initStringInfo(&names);
	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];

		if (key->from != table || !schema->reached[key->to] || !leads(schema, key))
			continue;
		path = key;
		appendStringInfo(&names, "%s\"%s\"", n++ > 0 ? ", " : "", key->name);
	}
	if (n > 1)
		raise_table(from, psprintf("reaches the subject by several foreign keys: %s", names.data),
					"Say by {\"foreign_key\": \"its name\"} whose the rows are.");
	if (path->column == NULL)
		raise_table(from, psprintf("reaches the subject by a key of several columns, \"%s\"", path->name),
					"Keys of one column alone can be published as pseudonyms: publish a table with one.");
	from->parent = path->to;
	from->parent_column = path->column;
}

/* Rows refer to it, or to what refers to it. */
static void
find_lookups(Schema *schema)
{
	Linked *linked = schema->linked;
	bool *referred = palloc0(sizeof(bool) * linked->n);
	bool more = true;

	while (more)
	{
		more = false;
		for (int c = 0; c < schema->nkeys; c++)
		{
			const ForeignKey *key = &schema->keys[c];

			if ((schema->reached[key->from] || referred[key->from]) && !schema->reached[key->to] &&
				!referred[key->to])
				more = referred[key->to] = true;
		}
	}
	for (int i = 0; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];

		if (schema->reached[i])
			continue;
		if (!referred[i])
			raise_table(
				table, "has no path to the subject, and no other table refers to it",
				"Foreign keys of the catalogs must lead from it to the subject's table, over tables that "
				"are named; or publish it alone.");
		if (table->qis != NULL || table->max_rows > 0 || !table->linked)
			raise_table(table, "is a lookup, on which no person hangs",
						"Of lookups say what to \"keep\" and \"mask\", and no more.");
		table->role = LINKED_LOOKUP;
	}
}

/* ---- the order, and the keys that are published ---- */

static int
depth_of(const Linked *linked, int table)
{
	int depth = 0;

	/* (parents come nearer to the subject with each step: choose_path took keys to tables that reach it) */
	while (linked->tables[table].parent >= 0 && depth <= linked->n)
	{
		table = linked->tables[table].parent;
		depth++;
	}
	return depth;
}

/* The subject, then by distance from it; those without a key to persons and lookups last. */
static void
sort_tables(Schema *schema)
{
	Linked *linked = schema->linked;
	LinkedTable *sorted = palloc0(sizeof(LinkedTable) * KANON_MAX_LINKED);
	int *place = palloc(sizeof(int) * linked->n);
	int n = 0;

	for (int i = 0; i < linked->n; i++)
		if (depth_of(linked, i) > linked->n)
			raise_table(&linked->tables[i], "reaches the subject along no path: foreign keys go in a circle",
						"Say by {\"foreign_key\": \"its name\"} whose the rows are.");
	for (int role = LINKED_SUBJECT; role <= LINKED_LOOKUP; role++)
		for (int depth = 0; depth <= linked->n; depth++)
			for (int i = 0; i < linked->n; i++)
				if ((int) linked->tables[i].role == role && depth_of(linked, i) == depth)
				{
					sorted[n] = linked->tables[i];
					place[i] = n++;
				}
	for (int i = 0; i < linked->n; i++)
		if (sorted[i].parent >= 0)
			sorted[i].parent = place[sorted[i].parent];
	for (int c = 0; c < schema->nkeys; c++)
	{
		schema->keys[c].from = place[schema->keys[c].from];
		schema->keys[c].to = place[schema->keys[c].to];
	}
	linked->tables = sorted;
}

/* A key and what it refers to are one type, whose equal values look the same. */
static void
check_key(const Linked *linked, const LinkedTable *from, const char *column, const LinkedTable *to,
		  const char *refers)
{
	AttrNumber attnum = get_attnum(from->relid, column);
	Oid type, collation;
	int32 typmod;

	get_atttypetypmodcoll(from->relid, attnum, &type, &typmod, &collation);
	if (to->key == NULL || (refers != NULL && strcmp(to->key, refers) != 0))
		raise_table(to,
					psprintf("has no primary key of one column that \"%s\" refers to", excerpt(from->name)),
					"Keys are published as pseudonyms where one column is the primary key.");
	if (getBaseType(type) != to->key_type)
		raise_table(from, psprintf("has in \"%s\" another type than the key that it refers to", column),
					"Give both columns one type.");
	if (!OidIsValid(get_array_type(to->key_type)))
		raise_table(to, "has a key that is an array",
					"Take a key of another type, such as bigint, uuid or text.");
	/* (of equal numerics the shortest text is hashed) */
	if (getBaseType(type) != NUMERICOID && !equal_is_identical(getBaseType(type), collation))
		raise_table(from, psprintf("has a key \"%s\" whose equal values may look different", column),
					"Give both columns another type or collation: bigint, uuid and text will do.");
}

static void
note_keys(Schema *schema)
{
	Linked *linked = schema->linked;

	for (int c = 0; c < schema->nkeys; c++)
	{
		const ForeignKey *key = &schema->keys[c];
		LinkedTable *from = &linked->tables[key->from], *to = &linked->tables[key->to];
		LinkedKey *noted;

		if (key->column == NULL)
			continue;
		if (from->parent == key->to && strcmp(from->parent_column, key->column) == 0)
		{
			check_key(linked, from, key->column, to, key->refers);
			to->is_parent = to->is_parent || from->role == LINKED_ROWS;
			continue;
		}
		noted = palloc(sizeof(LinkedKey));
		*noted = (LinkedKey){key->column, key->to};
		from->keys = lappend(from->keys, noted);
		if (to->role == LINKED_LOOKUP)
			check_key(linked, from, key->column, to, key->refers);
	}
}

static void
check_subject(Linked *linked, Oid subject)
{
	int place = table_of(linked, subject);
	LinkedTable *table;

	if (place < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the subject's table is not in tables"),
				 errhint("Name it there, too, with its quasi-identifiers.")));
	table = &linked->tables[place];
	if (table->key == NULL)
		raise_table(table, "has no primary key of one column, by which persons are told apart",
					"The subject must be a table whose primary key is one column; views have none.");
	if (table->constraint != NULL || table->max_rows > 0 || !table->linked)
		raise_table(table, "is the subject: \"foreign_key\", \"max_rows\" and \"linked\" are of other tables",
					"Leave them out.");
	if (table->class_size > 0 && table->class_size < linked->k)
		raise_table(table, "has a \"class_size\" below k",
					"Classes of more persons than k lose less of their rows.");
	check_key(linked, table, table->key, table, NULL);
}

/* Which rows of another lookup are published is known too late. */
static void
check_referenced(const Linked *linked, int lookup)
{
	const LinkedTable *table = &linked->tables[lookup];

	if (table->role != LINKED_LOOKUP)
		raise_table(table, "is no lookup, of which alone rows may be \"referenced\"", "Leave it out.");
	for (int i = 0; i < linked->n; i++)
	{
		const ListCell *cell;

		foreach (cell, linked->tables[i].role == LINKED_LOOKUP ? linked->tables[i].keys : NIL)
			if (((const LinkedKey *) lfirst(cell))->table == lookup)
				raise_table(table, "is \"referenced\", and another lookup refers to it",
							"Leave \"referenced\" out, or the other lookup.");
	}
}

void
linked_schema(Linked *linked, Oid subject, Jsonb *tables)
{
	Schema schema = {.linked = linked};

	take_tables(linked, tables);
	schema.reached = palloc0(sizeof(bool) * Max(linked->n, 1));
	for (int i = 0; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];

		find_primary_key(table);
		table->role = table->relid == subject ? LINKED_SUBJECT : table->linked ? LINKED_ROWS : LINKED_ALONE;
		schema.reached[i] = table->role == LINKED_SUBJECT;
	}
	check_subject(linked, subject);
	find_foreign_keys(&schema);
	check_named(&schema);
	reach(&schema);
	find_lookups(&schema);
	for (int i = 0; i < linked->n; i++)
		if (schema.reached[i] && linked->tables[i].role != LINKED_SUBJECT)
			choose_path(&schema, i);
	sort_tables(&schema);
	note_keys(&schema);
	for (int i = 0; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];

		if ((table->class_size > 0 || table->tries_sizes) && table->role != LINKED_SUBJECT)
			raise_table(table, "is not the subject, whose classes alone have a \"class_size\"",
						"Leave it out.");
		if (table->referenced)
			check_referenced(linked, i);
		if (table->qis == NULL && table->role != LINKED_LOOKUP)
			raise_table(
				table, "has no quasi_identifiers",
				"Name at least one column that somebody may know of a person, or leave the table out.");
		if (table->role == LINKED_ALONE && table->parent != 0)
			raise_table(
				table, "is not linked, and does not refer to the subject itself",
				"Only tables that refer to the subject's can be published without a key to the person.");
		if (table->parent > 0 && linked->tables[table->parent].role == LINKED_ALONE)
			raise_table(table, "hangs on a table that is published without a key to the person",
						"Leave it out, or link the other one.");
	}
}
