/*
 * linked_words.c: what the caller says of each table, taken out of its options: all other words are those of its model.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "linked/linked.h"
#include "distributed/citus.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#define REFERENCES_HINT "Write it like '{\"references\": {\"customer_id\": \"shop.customers\"}}'."

#define OWNER_HINT \
	"Write it like '{\"owner\": {\"type\": \"OWNER\"}}': rows with these values own the rows to which they refer."

/* So much less than another one a table may count. */
#define LEAST_WEIGHT 0.0001

#define TABLES_HINT                                                                                        \
	"Write it like '{\"shop.customers\": {\"quasi_identifiers\": [\"birth\", \"zip\"]}, \"shop.orders\": " \
	"{\"quasi_identifiers\": [\"placed\"], \"keep\": [\"amount\"]}}'."

void
linked_raise_table(const LinkedTable *table, const char *what, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("table \"%s\" %s", excerpt(table->name), what), errhint("%s", hint)));
}

static JsonbValue *
find_word(Jsonb *object, const char *word)
{
	JsonbValue key = {.type = jbvString, .val.string = {strlen(word), unconstify(char *, word)}};

	return findJsonbValueFromContainer(&object->root, JB_FOBJECT, &key);
}

bool
linked_lists(const LinkedTable *table, const char *word, const char *column)
{
	JsonbValue name = {.type = jbvString, .val.string = {strlen(column), unconstify(char *, column)}};
	JsonbValue *names = find_word(table->options, word);

	return names != NULL && names->type == jbvBinary && JsonContainerIsArray(names->val.binary.data) &&
		   findJsonbValueFromContainer(names->val.binary.data, JB_FARRAY, &name) != NULL;
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
		linked_raise_table(table, psprintf("has another \"%s\" than a string", word), TABLES_HINT);
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static void
take_names(LinkedTable *table)
{
	JsonbValue *value = take_word(table, "quasi_identifiers");
	JsonbContainer *list;
	const char **names;
	int n;

	/* (a record of none has NULL) */
	if (value == NULL || value->type == jbvNull)
		return;
	list = value->type == jbvBinary ? value->val.binary.data : NULL;
	if (list == NULL || !JsonContainerIsArray(list))
		linked_raise_table(table, "has other quasi_identifiers than a list of columns", TABLES_HINT);
	n = JsonContainerSize(list);
	names = palloc(sizeof(char *) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		JsonbValue *name = getIthJsonbValueFromContainer(list, i);

		if (name->type != jbvString || name->val.string.len >= NAMEDATALEN)
			linked_raise_table(table, "has other quasi_identifiers than a list of columns", TABLES_HINT);
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
		linked_raise_table(table, psprintf("has another \"%s\" than a whole number from 1 on", word), hint);
	return (int) DatumGetFloat8(number);
}

/* {"customer_id": "shop.customers"} */
static void
take_references(LinkedTable *table)
{
	JsonbValue *value = take_word(table, "references");
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue part;

	if (value == NULL)
		return;
	if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
		linked_raise_table(table, "has other \"references\" than an object of columns", REFERENCES_HINT);
	it = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &part, true)) != WJB_DONE)
	{
		if (token != WJB_KEY && token != WJB_VALUE)
			continue;
		if (part.type != jbvString)
			linked_raise_table(table, "has \"references\" to something else than a table's name",
							   REFERENCES_HINT);
		table->terms.references =
			lappend(table->terms.references, pnstrdup(part.val.string.val, part.val.string.len));
	}
}

/* {"type": "OWNER"} */
static void
take_owner(LinkedTable *table)
{
	JsonbValue *value = take_word(table, "owner");
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue part;

	if (value == NULL)
		return;
	if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data) ||
		JsonContainerSize(value->val.binary.data) == 0)
		linked_raise_table(table, "has another \"owner\" than an object of columns", OWNER_HINT);
	it = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &part, true)) != WJB_DONE)
	{
		if (token != WJB_KEY && token != WJB_VALUE)
			continue;
		if (part.type == jbvBool || part.type == jbvString)
			table->terms.owner =
				lappend(table->terms.owner, part.type == jbvBool
												? pstrdup(part.val.boolean ? "true" : "false")
												: pnstrdup(part.val.string.val, part.val.string.len));
		else if (part.type == jbvNumeric)
			table->terms.owner =
				lappend(table->terms.owner,
						DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(part.val.numeric))));
		else
			linked_raise_table(table, "has an \"owner\" whose value is no text, number or boolean",
							   OWNER_HINT);
	}
}

/* How much the table counts; its "weights" divide that among columns. */
static double
take_weight(LinkedTable *table)
{
	JsonbValue *value = take_word(table, "weight");
	double weight = value == NULL ? 1
					: value->type == jbvNumeric
						? DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
															 NumericGetDatum(value->val.numeric)))
						: 0;

	if (!(weight >= LEAST_WEIGHT && weight <= 1 / LEAST_WEIGHT))
		linked_raise_table(
			table,
			psprintf("has another \"weight\" than a number from %g to %g", LEAST_WEIGHT, 1 / LEAST_WEIGHT),
			"It is how much the loss of this table counts beside the loss of each other one: 1 if it is not given.");
	return weight;
}

static void
take_class_size(LinkedTable *table)
{
	JsonbValue *value = find_word(table->options, "class_size");

	if (value != NULL && value->type == jbvString && value->val.string.len == 4 &&
		memcmp(value->val.string.val, "auto", 4) == 0)
	{
		(void) take_word(table, "class_size");
		table->terms.tries_sizes = true;
	}
	else
		table->terms.class_size = take_number(
			table, "class_size", "It is how many persons a class of the subject's table has, or \"auto\".");
}

static bool
take_bool(LinkedTable *table, const char *word, bool initial, const char *hint)
{
	JsonbValue *value = take_word(table, word);

	if (value == NULL)
		return initial;
	if (value->type != jbvBool)
		linked_raise_table(table, psprintf("has another \"%s\" than true or false", word), hint);
	return value->val.boolean;
}

/* No key of the catalogs holds for rows of inheriting tables: two of them may have one key. */
static bool
has_inheriting_tables(Oid relid)
{
	return get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE &&
		   find_inheritance_children(relid, NoLock) != NIL;
}

uint64
linked_ask(const char *query, Oid relid)
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
		linked_ask(
			"SELECT DISTINCT d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass"
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
			linked_raise_table(table, "is named twice in tables", "Name each table once.");
	if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
		linked_raise_table(table, "has no object of options", TABLES_HINT);
	if (citus_reads(table->relid))
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" is distributed by Citus", excerpt(name)),
			 errhint(
				 "Tables of one release must be tables of this server: copy them, or publish each alone.")));
	table->keyed = linked->checks ? shown_table(table->relid) : table->relid;
	if (has_inheriting_tables(table->keyed))
		linked_raise_table(table, "has inheriting tables, whose rows its keys do not bind",
						   "Use partitions, or copy the rows into a table with the same keys.");
	table->options = JsonbValueToJsonb(unconstify(JsonbValue *, value));
	table->relname = table->target = name_bare(table->relid);
	take_names(table);
	table->terms.max_rows =
		take_number(table, "max_rows", "It is how many rows of a person are published at most.");
	table->terms.weight = take_weight(table);
	table->terms.key = take_text(table, "key");
	take_references(table);
	take_owner(table);
	take_class_size(table);
	table->linked = take_bool(table, "linked", true, "false publishes it without a key to the person.");
	table->terms.referenced =
		take_bool(table, "referenced", false, "true publishes rows alone to which published rows refer.");
	table->terms.constraint = take_text(table, "foreign_key");
	if (find_word(table->options, "target") != NULL)
		table->target = take_text(table, "target");
	for (int i = 0; i < linked->n; i++)
		if (strcmp(linked->tables[i].target, table->target) == 0)
			linked_raise_table(table, "would be published under a name that another one has",
							   "Say {\"target\": \"another_name\"} of one of them.");
	table->known = table->target;
	linked->n++;
}

void
linked_words(Linked *linked, Jsonb *tables)
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
