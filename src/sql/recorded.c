/*
 * recorded.c: kanon_recorded: relations as a run has recorded them, as far as they are still
 * those and can be read without running code of others: what kanon_report reads.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/lines.h"

#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_recorded);

/* "" when it is not there. */
static char *
text_of(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString,
					  .val.string = {.val = unconstify(char *, name), .len = (int) strlen(name)}};
	JsonbValue *value =
		JsonContainerIsObject(object) ? findJsonbValueFromContainer(object, JB_FOBJECT, &key) : NULL;

	return value != NULL && value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len)
													 : pstrdup("");
}

/* Why it is not to be read, or NULL. */
static const char *
look_at(JsonbContainer *recorded, Oid relid)
{
	const char *name = relation_name(relid), *why;

	if (name == NULL)
		return "it is not there any more";
	if (strcmp(name, text_of(recorded, "name")) != 0)
		return "another relation has its name, or it has another one";
	why = relation_mistrusted(relid);
	if (why != NULL)
		return why;
	/* under a lock */
	if (get_rel_relkind(relid) != *text_of(recorded, "kind"))
		return "it is of another kind than it was";
	if (strcmp(psprintf("%u", relation_owner(relid)), text_of(recorded, "owner")) != 0)
		return "it belongs to another role than it did";
	return NULL;
}

/* kanon_recorded(relations jsonb): see relations_recorded */
Datum
kanon_recorded(PG_FUNCTION_ARGS)
{
	Jsonb *relations = PG_GETARG_JSONB_P(0);
	Lines *lines = lines_begin(fcinfo);
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;

	if (!JB_ROOT_IS_ARRAY(relations))
		return (Datum) 0;
	it = JsonbIteratorInit(&relations->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		JsonbContainer *recorded;
		const char *why;
		Oid relid;

		if (token != WJB_ELEM || value.type != jbvBinary)
			continue;
		recorded = value.val.binary.data;
		relid = (Oid) strtoul(text_of(recorded, "oid"), NULL, 10);
		why = look_at(recorded, relid);
		line_text(lines, text_of(recorded, "part"));
		line_text(lines, text_of(recorded, "name"));
		line_value(lines, ObjectIdGetDatum(relid), why == NULL);
		line_text(lines, why);
		line_end(lines);
	}
	return (Datum) 0;
}
