/*
 * hierarchy_bounds.c: a publication keeps the bounds of hierarchies that follow from the values
 * (quantile).
 *
 * Worked out anew each night, the bounds would move with every row that comes or goes.  A reader who
 * keeps two releases could then tell rows of one class apart that share a class in both.
 */
#include "compat.h"
#include "run/run.h"
#include "hierarchies/hierarchy.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

static JsonbValue *
member(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString,
					  .val.string = {.val = unconstify(char *, name), .len = strlen(name)}};

	return JsonContainerIsObject(object) ? findJsonbValueFromContainer(object, JB_FOBJECT, &key) : NULL;
}

/* The builder of a column, as the request has it. */
static JsonbValue *
builder_of(const Run *run, const char *column)
{
	return run->request->columns.hierarchies != NULL
			   ? member(&run->request->columns.hierarchies->root, column)
			   : NULL;
}

static LevelBuilder *
bounded(const SourceColumn *column)
{
	LevelBuilder *builder = column->hierarchy != NULL ? column->hierarchy->from.builder : NULL;

	return builder != NULL && builder->bounds != NULL ? builder : NULL;
}

static char **
texts_of(const JsonbValue *array, int *n)
{
	JsonbContainer *list = array->val.binary.data;
	char **texts = palloc(sizeof(char *) * Max(JsonContainerSize(list), 1));

	*n = (int) JsonContainerSize(list);
	for (int i = 0; i < *n; i++)
	{
		const JsonbValue *value = getIthJsonbValueFromContainer(list, i);

		texts[i] = value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len) : NULL;
	}
	return texts;
}

static void
take(const Run *run, const SourceColumn *column, LevelBuilder *builder)
{
	const JsonbValue *kept = member(&run->request->series.bounds->root, column->name);
	const JsonbValue *now = builder_of(run, column->name);
	const JsonbValue *by, *bounds;
	char **texts;
	int n;

	if (kept == NULL || kept->type != jbvBinary || now == NULL || now->type != jbvBinary)
		return;
	by = member(kept->val.binary.data, "by");
	bounds = member(kept->val.binary.data, "bounds");
	if (by == NULL || by->type != jbvBinary || bounds == NULL || bounds->type != jbvBinary ||
		!JsonContainerIsArray(bounds->val.binary.data) ||
		compareJsonbContainers(by->val.binary.data, now->val.binary.data) != 0)
		return;
	texts = texts_of(bounds, &n);
	builder->keep(builder, texts, n);
}

void
kept_bounds_take(Run *run)
{
	if (run->request->series.bounds == NULL)
		return;
	for (int c = 0; c < run->source->nqis; c++)
		if (bounded(&run->source->qis[c]) != NULL)
			take(run, &run->source->qis[c], bounded(&run->source->qis[c]));
}

static void
push_text(JsonbInState *state, JsonbIteratorToken token, const char *text)
{
	JsonbValue value = {.type = text != NULL ? jbvString : jbvNull};

	if (text != NULL)
	{
		value.val.string.val = unconstify(char *, text);
		value.val.string.len = strlen(text);
	}
	kanon_push_jsonb(state, token, &value);
}

Jsonb *
kept_bounds_tell(Run *run)
{
	JsonbInState state = {0};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	for (int c = 0; c < run->source->nqis; c++)
	{
		const SourceColumn *column = &run->source->qis[c];
		LevelBuilder *builder = bounded(column);
		JsonbValue *by = builder_of(run, column->name);
		char **texts;
		int n;

		if (builder == NULL || !builder->prepared || by == NULL)
			continue;
		texts = builder->bounds(builder, &n);
		push_text(&state, WJB_KEY, column->name);
		kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
		push_text(&state, WJB_KEY, "by");
		kanon_push_jsonb(&state, WJB_VALUE, by);
		push_text(&state, WJB_KEY, "bounds");
		kanon_push_jsonb(&state, WJB_BEGIN_ARRAY, NULL);
		for (int i = 0; i < n; i++)
			push_text(&state, WJB_ELEM, texts[i]);
		kanon_push_jsonb(&state, WJB_END_ARRAY, NULL);
		kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	}
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbValueToJsonb(state.result);
}
