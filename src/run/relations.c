/*
 * relations.c: relations that options name, as names that mean the same whatever the
 * search_path: what is recorded of a run, or stored of a publication, is used again
 * by somebody else.
 */
#include "compat.h"
#include "run/request.h"

#include "catalog/namespace.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

/* Keys above a name, from the outermost on. */
#define MOST_KEYS 3

/* hierarchies: {column: NAME or {"table": NAME}}, privacy: [{"population": NAME}], … */
static bool
is_relation(char *const *keys, int n)
{
	bool chosen = n > 1 && (strcmp(keys[n - 1], "table") == 0 || strcmp(keys[n - 1], "population") == 0);

	if (n == 0)
		return false;
	if (strcmp(keys[0], "hierarchies") == 0)
		return n == 2 || (n == 3 && chosen);
	if (strcmp(keys[0], "privacy") == 0)
		return (n == 2 && (chosen || strcmp(keys[1], "hierarchy") == 0)) ||
			   (n == 3 && chosen && strcmp(keys[1], "hierarchy") == 0);
	return n == 1 && (strcmp(keys[0], "hierarchy") == 0 || strcmp(keys[0], "sensitive_items") == 0);
}

/* With its schema; what names nothing stays as it is, for who uses it to complain. */
static char *
resolved_name(char *name)
{
	List *names;
	Oid relid;

	if (!SplitIdentifierString(pstrdup(name), '.', &names) || names == NIL || list_length(names) > 3)
		return name;
	relid = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))), NoLock,
							 true);
	return OidIsValid(relid) ? privacy_relation(relid) : name;
}

Jsonb *
relations_resolved(Jsonb *options, char *key)
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
			value.val.string.val = resolved_name(pnstrdup(value.val.string.val, value.val.string.len));
			value.val.string.len = (int) strlen(value.val.string.val);
		}
		depth += (token == WJB_BEGIN_OBJECT) - (token == WJB_END_OBJECT);
		kanon_push_jsonb(&state, token, token < WJB_BEGIN_ARRAY ? &value : NULL);
	}
	return JsonbValueToJsonb(state.result);
}
