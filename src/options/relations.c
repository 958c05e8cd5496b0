/*
 * relations.c: names of relations in options, qualified, so that they mean the same under any
 * search_path: another role uses again what a run recorded or a publication stored.
 *
 * A publication also stores the OIDs, to find a relation that was renamed or moved.
 */
#include "compat.h"
#include "host/catalog.h"
#include "options/request.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

/* Keys above a name, from the outermost on. */
#define MOST_KEYS 4

/*
 * hierarchies: {column: NAME or {"table": NAME}}, privacy: [{"population": NAME}], … of one table, or of each of
 * tables: [{"table": NAME, hierarchies: …}]
 */
static bool
is_relation(char *const *keys, int n)
{
	bool chosen = n > 1 && (strcmp(keys[n - 1], "table") == 0 || strcmp(keys[n - 1], "population") == 0);

	if (n == 0)
		return false;
	if (strcmp(keys[0], "tables") == 0)
		return (n == 2 && strcmp(keys[1], "table") == 0) || is_relation(keys + 1, n - 1);
	if (strcmp(keys[0], "hierarchies") == 0)
		return n == 2 || (n == 3 && chosen);
	if (strcmp(keys[0], "privacy") == 0)
		return (n == 2 && (chosen || strcmp(keys[1], "hierarchy") == 0)) ||
			   (n == 3 && chosen && strcmp(keys[1], "hierarchy") == 0);
	return n == 1 && (strcmp(keys[0], "hierarchy") == 0 || strcmp(keys[0], "sensitive_items") == 0);
}

/* The relation that a name means now; InvalidOid: nothing. */
static Oid
relation_named(const char *name)
{
	List *names;

	if (!split_name(name, 3, &names))
		return InvalidOid;
	return RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))), NoLock,
							true);
}

/* The options with other names for the relations that they name, in the order of the options. */
static Jsonb *
rename_relations(Jsonb *options, char *key, char *(*rename)(char *name, void *arg), void *arg)
{
	char *keys[MOST_KEYS] = {key};
	int above = key != NULL ? 1 : 0, depth = 0;
	JsonbInState state = {0};
	JsonbValue value;
	JsonbIterator *it = JsonbIteratorInit(&options->root);
	JsonbIteratorToken token;

	if (!JB_ROOT_IS_OBJECT(options))
		return options;
	while ((token = JsonbIteratorNext(&it, &value, false)) != WJB_DONE)
	{
		int n = above + depth;

		if (token == WJB_KEY && n <= MOST_KEYS)
			keys[n - 1] = pnstrdup(value.val.string.val, value.val.string.len);
		if (token == WJB_VALUE && value.type == jbvString && n <= MOST_KEYS && is_relation(keys, n))
		{
			value.val.string.val = rename(pnstrdup(value.val.string.val, value.val.string.len), arg);
			value.val.string.len = (int) strlen(value.val.string.val);
		}
		depth += (token == WJB_BEGIN_OBJECT) - (token == WJB_END_OBJECT);
		kanon_push_jsonb(&state, token, token < WJB_BEGIN_ARRAY ? &value : NULL);
	}
	return JsonbValueToJsonb(state.result);
}

/* With its schema; what names nothing stays as it is, for who uses it to complain. */
static char *
resolved_name(char *name, void *arg)
{
	Oid relid = relation_named(name);

	return OidIsValid(relid) ? privacy_relation(relid) : name;
}

Jsonb *
relations_resolved(Jsonb *options, char *key)
{
	return rename_relations(options, key, resolved_name, NULL);
}

/* ---- as they are stored ---- */

typedef struct Stored
{
	Datum *relids;
	int n;
	int next;
	Oid publisher;
} Stored;

static char *
list_relation(char *name, void *arg)
{
	Stored *stored = arg;

	stored->relids = stored->relids == NULL
						 ? palloc(sizeof(Datum))
						 : repalloc(stored->relids, sizeof(Datum) * (Size) (stored->n + 1));
	stored->relids[stored->n++] = ObjectIdGetDatum(relation_named(name));
	return name;
}

ArrayType *
relations_listed(Jsonb *options)
{
	Stored stored = {0};

	(void) rename_relations(options, NULL, list_relation, &stored);
	return construct_array(stored.relids, stored.n, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT);
}

bool
names_strangers(Oid source, Jsonb *options)
{
	Stored stored = {0};

	(void) rename_relations(options, NULL, list_relation, &stored);
	for (int i = 0; i < stored.n; i++)
		if (OidIsValid(DatumGetObjectId(stored.relids[i])) &&
			relation_of_strangers(DatumGetObjectId(stored.relids[i])))
			return true;
	return relation_of_strangers(source);
}

/* ---- as they are recorded ---- */

static void
push_text(JsonbInState *state, const char *key, const char *text)
{
	JsonbValue value = {.type = jbvString};

	value.val.string.val = unconstify(char *, key);
	value.val.string.len = (int) strlen(key);
	kanon_push_jsonb(state, WJB_KEY, &value);
	value.val.string.val = unconstify(char *, text);
	value.val.string.len = (int) strlen(text);
	kanon_push_jsonb(state, WJB_VALUE, &value);
}

static void
push_relation(JsonbInState *state, const char *part, Oid relid)
{
	char *name = relation_name(relid);

	if (name == NULL)
		return;
	kanon_push_jsonb(state, WJB_BEGIN_OBJECT, NULL);
	push_text(state, "part", part);
	push_text(state, "name", name);
	push_text(state, "oid", psprintf("%u", relid));
	push_text(state, "kind", psprintf("%c", get_rel_relkind(relid)));
	push_text(state, "owner", psprintf("%u", relation_owner(relid)));
	kanon_push_jsonb(state, WJB_END_OBJECT, NULL);
}

Datum
relations_recorded(Oid source, Oid target, Oid beside, Datum options)
{
	JsonbInState state = {0};
	Stored stored = {0};

	if (options != (Datum) 0)
		(void) rename_relations(DatumGetJsonbP(options), NULL, list_relation, &stored);
	kanon_push_jsonb(&state, WJB_BEGIN_ARRAY, NULL);
	push_relation(&state, "source", source);
	push_relation(&state, "target", target);
	push_relation(&state, "beside", beside);
	for (int i = 0; i < stored.n; i++)
		push_relation(&state, "option", DatumGetObjectId(stored.relids[i]));
	kanon_push_jsonb(&state, WJB_END_ARRAY, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(state.result));
}

/*
 * May this take the place of a relation that is gone?  A view runs as the publication's owner.
 * The owner of the schema could have put it there all along; others have not been asked for.
 */
static bool
is_heir(Oid relid, Oid publisher)
{
	Oid owner = relation_owner(relid);

	return !OidIsValid(owner) || is_member_of_role_nosuper(publisher, owner) ||
		   kanon_owns_schema(get_rel_namespace(relid), owner);
}

/*
 * Renamed, or in another schema: it is followed.  Another one of the same owner that has
 * its name took its place.
 */
static char *
followed_name(char *name, void *arg)
{
	Stored *stored = arg;
	Oid was = stored->next < stored->n ? DatumGetObjectId(stored->relids[stored->next]) : InvalidOid;
	Oid owner = relation_owner(was);
	Oid now;

	stored->next++;
	now = relation_named(name);
	if (!OidIsValid(owner))
		return !OidIsValid(was) || is_heir(now, stored->publisher)
				   ? name
				   : quote_qualified_identifier("pg_catalog", psprintf("dropped: %s", name));
	return now == was || relation_owner(now) == owner ? name : privacy_relation(was);
}

Jsonb *
relations_followed(Jsonb *options, ArrayType *relations, Oid publisher)
{
	Stored stored = {.publisher = publisher};
	bool *nulls;
	Jsonb *followed;

	if (relations == NULL || ARR_NDIM(relations) > 1 || array_contains_nulls(relations))
		return options;
	deconstruct_array(relations, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &stored.relids, &nulls,
					  &stored.n);
	followed = rename_relations(options, NULL, followed_name, &stored);
	/* options that somebody wrote by hand name what they name */
	return stored.next == stored.n ? followed : options;
}
