/*
 * linked_known.c: how many rows of a person somebody may know: of each table, of some tables, of all tables together.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "linked/linked.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/numeric.h"

#define IN_ALL "in all"

pg_noreturn static void
raise_known(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("known_rows must be 1 to %d, such a number in all, or 'all'; or say it of each table",
					KANON_MAX_KNOWN_ROWS),
			 detail != NULL ? errdetail("%s", detail) : 0, errhint(KNOWN_HINT)));
}

/* A digit from `least` on; or -1. */
static int
digit_of(char c, int least)
{
	return c >= '0' + least && c <= '0' + KANON_MAX_KNOWN_ROWS ? c - '0' : -1;
}

static int
number_of(const JsonbValue *value, int least)
{
	char *text = value->type == jbvNumeric
					 ? DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)))
					 : "";
	int number = strlen(text) == 1 ? digit_of(text[0], least) : -1;

	if (number < 0)
		raise_known(psprintf("Of a table it is 0 to %d, and in all tables 1 to %d.", KANON_MAX_KNOWN_ROWS,
							 KANON_MAX_KNOWN_ROWS));
	return number;
}

static bool
is_in_all(const JsonbValue *key)
{
	return key->val.string.len == (int) strlen(IN_ALL) &&
		   memcmp(key->val.string.val, IN_ALL, strlen(IN_ALL)) == 0;
}

/* {"stays": 1, "labs": 0, "in all": 2}: one row of each table that is not named */
static void
know_tables(Linked *linked, const char *text)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;
	bool all = false;

	linked->known_of = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
	linked->m = 1;
	it = JsonbIteratorInit(&linked->known_of->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			all = is_in_all(&value);
		if (token != WJB_VALUE)
			continue;
		if (all)
			linked->in_all = number_of(&value, 1);
		else
			linked->m = Max(linked->m, number_of(&value, 0));
	}
}

static bool
is_name(const JsonbValue *key, const char *name)
{
	return key->val.string.len == (int) strlen(name) &&
		   memcmp(key->val.string.val, name, key->val.string.len) == 0;
}

/* By the name in tables, that of the relation, or that which readers know. */
static LinkedTable *
table_named(const Linked *linked, const JsonbValue *key)
{
	for (int i = 1; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];

		/* (copies are known with their rows) */
		if (table->role == LINKED_ROWS && table->reference == NULL &&
			(is_name(key, table->name) || is_name(key, table->relname) || is_name(key, table->known)))
			return table;
	}
	return NULL;
}

void
linked_know_tables(Linked *linked)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;
	LinkedTable *table = NULL;

	for (int i = 0; i < linked->n; i++)
		linked->tables[i].terms.known = linked->known_of != NULL ? 1 : linked->m;
	/* (what tables there are may come later) */
	if (linked->known_of == NULL || linked->n == 0)
		return;
	it = JsonbIteratorInit(&linked->known_of->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_VALUE && table != NULL)
			table->terms.known = number_of(&value, 0);
		if (token != WJB_KEY)
			continue;
		table = table_named(linked, &value);
		if (table == NULL && !is_in_all(&value))
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("known_rows names \"%s\", which is no table of rows of persons",
						excerpt(pnstrdup(value.val.string.val, value.val.string.len))),
				 errhint(
					 "Write it like '{\"stays\": 1, \"labs\": 0, \"in all\": 2}'; of lookups and the subject "
					 "it says nothing.")));
	}
}

void
linked_know(Linked *linked, const char *text)
{
	linked->known_of = NULL;
	linked->in_all = 0;
	if (strcmp(text, "all") == 0)
		linked->m = 0;
	else if (text[0] == '{')
		know_tables(linked, text);
	else
	{
		linked->m = digit_of(text[0], 1);
		if (linked->m < 0 || (text[1] != '\0' && strcmp(text + 1, " " IN_ALL) != 0))
			raise_known(NULL);
		linked->in_all = text[1] != '\0' ? linked->m : 0;
	}
	linked_know_tables(linked);
}

char *
linked_known_text(const Linked *linked)
{
	StringInfoData json;

	if (linked->m == 0)
		return "all";
	if (linked->known_of == NULL)
		return psprintf(linked->in_all > 0 ? "%d " IN_ALL : "%d", linked->m);
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++)
	{
		if (linked->tables[i].reference != NULL)
			continue;
		if (json.len > 1)
			appendStringInfoString(&json, ", ");
		escape_json(&json, linked->tables[i].known);
		appendStringInfo(&json, ": %d", linked->tables[i].terms.known);
	}
	if (linked->in_all > 0)
		appendStringInfo(&json, "%s\"" IN_ALL "\": %d", json.len > 1 ? ", " : "", linked->in_all);
	appendStringInfoChar(&json, '}');
	return json.data;
}

static char *
rows_words(int n)
{
	return n == 1 ? "1 row" : psprintf("%d rows", n);
}

char *
linked_known_words(const Linked *linked)
{
	StringInfoData words;

	if (linked->m == 0)
		return "all rows of a person";
	if (linked->known_of == NULL && linked->in_all > 0)
		return psprintf("%s of a person in all tables together", rows_words(linked->in_all));
	if (linked->known_of == NULL)
		return linked->m == 1 ? "a row of a person in each table"
							  : psprintf("%d rows of a person in each table", linked->m);
	initStringInfo(&words);
	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++)
		if (linked->tables[i].reference == NULL)
			appendStringInfo(&words, "%s%s of a person in \"%s\"", words.len > 0 ? ", " : "",
							 rows_words(linked->tables[i].terms.known), linked->tables[i].known);
	if (linked->in_all > 0)
		appendStringInfo(&words, ", but no more than %s in all tables together", rows_words(linked->in_all));
	return words.data;
}
