/*
 * excerpt.c: texts that somebody has given, in messages.
 */
#include "compat.h"
#include "host/excerpt.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/varlena.h"

/* Longer than any name and most patterns; an error of megabytes helps nobody. */
#define EXCERPT_BYTES 160

const char *
excerpt(const char *text)
{
	size_t length = strnlen(text, EXCERPT_BYTES + 1);

	if (length <= EXCERPT_BYTES)
		return text;
	return psprintf("%.*s...", pg_mbcliplen(text, (int) length, EXCERPT_BYTES), text);
}

const char *
excerpt_name(const char *name)
{
	return excerpt(NameListToString(textToQualifiedNameList(cstring_to_text(name))));
}

void
copy_clipped(char *to, const char *from, int size)
{
	int length = pg_mbcliplen(from, (int) strlen(from), size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

/*
 * ---- Which known name is meant by one that is not known: the one with the
 * least edit distance, capitals aside, as PostgreSQL's own hints about columns have it.
 */

/* More edits than this, or than half of the given word, make another word of it. */
#define MOST_EDITS 4

Nearest
nearest_to(const char *given)
{
	return (Nearest){.given = given, .distance = MOST_EDITS + 1};
}

static char *
small_letters(const char *name)
{
	char *small = pstrdup(name);

	for (char *at = small; *at != '\0'; at++)
		*at = pg_ascii_tolower(*at);
	return small;
}

void
nearest_try(Nearest *nearest, const char *known)
{
	char *given, *other;
	int distance;

	if (strlen(nearest->given) >= NAMEDATALEN || strlen(known) >= NAMEDATALEN)
		return;
	given = small_letters(nearest->given);
	other = small_letters(known);
	distance = varstr_levenshtein_less_equal(given, strlen(given), other, strlen(other), 1, 1, 1,
											 nearest->distance, true);
	if (distance < nearest->distance && distance <= (int) strlen(given) / 2)
	{
		nearest->best = known;
		nearest->distance = distance;
	}
	pfree(given);
	pfree(other);
}

const char *
nearest_hint(const Nearest *nearest, const char *hint)
{
	return nearest->best == NULL ? hint : psprintf("Perhaps you meant \"%s\". %s", nearest->best, hint);
}

static bool
is_readable_kind(char kind)
{
	return kind == RELKIND_RELATION || kind == RELKIND_VIEW || kind == RELKIND_MATVIEW ||
		   kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_FOREIGN_TABLE;
}

const char *
nearest_relation(const List *name, const char *hint)
{
	Nearest nearest = nearest_to(llast(name));
	Oid namespace =
		list_length(name) < 2 ? InvalidOid : get_namespace_oid(list_nth(name, list_length(name) - 2), true);
	Relation catalog = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_class class = (Form_pg_class) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		if (!is_readable_kind(class->relkind) || class->relnamespace == PG_CATALOG_NAMESPACE ||
			(list_length(name) < 2 ? !RelationIsVisible(class->oid) : class->relnamespace != namespace))
			continue;
		nearest_try(&nearest, NameStr(class->relname));
		if (nearest.best == NameStr(class->relname))
			nearest.best = pstrdup(nearest.best);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return nearest_hint(&nearest, hint);
}

const char *
nearest_column(Oid relid, const char *given, const char *hint)
{
	Nearest nearest = nearest_to(given);
	Relation rel = try_relation_open(relid, AccessShareLock);

	for (int i = 0; rel != NULL && i < RelationGetNumberOfAttributes(rel); i++)
		if (!TupleDescAttr(RelationGetDescr(rel), i)->attisdropped)
			nearest_try(&nearest, NameStr(TupleDescAttr(RelationGetDescr(rel), i)->attname));
	if (nearest.best != NULL)
		nearest.best = pstrdup(nearest.best);
	if (rel != NULL)
		relation_close(rel, NoLock);
	return nearest_hint(&nearest, hint);
}
