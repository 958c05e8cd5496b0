/*
 * linked_stakes.c: how much the loss of one table counts beside that of another.
 *
 * Row by row a table of few rows would be given up for one of many.  So the loss of each table counts as a share of what
 * it could lose.  In a publication it counts by the rows of the first release: a class in which nothing has changed shows what
 * it showed, whatever comes to other classes.
 */
#include "compat.h"
#include "linked/linked.h"

#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* The bounds of a publication have the rows of each table under this name, which no table has. */
#define ROWS ""

static JsonbValue *
find(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString, .val.string = {(int) strlen(name), unconstify(char *, name)}};

	return object == NULL || !JsonContainerIsObject(object)
			   ? NULL
			   : findJsonbValueFromContainer(object, JB_FOBJECT, &key);
}

static double
rows_of(const Linked *linked, const LinkedTable *table)
{
	Jsonb *bounds = linked->publication != NULL ? linked->series.bounds : NULL;
	JsonbValue *all = bounds == NULL ? NULL : find(&bounds->root, ROWS);
	JsonbValue *rows =
		all == NULL || all->type != jbvBinary ? NULL : find(all->val.binary.data, table->known);

	if (rows != NULL && rows->type == jbvNumeric)
		return Max(DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(rows->val.numeric))),
				   1);
	return Max((double) table->run->types->nrows, 1);
}

/* The price of a row that shows nothing, by its columns alone. */
static double
blank_of(const LinkedTable *table)
{
	const Levels *levels = &table->run->source->levels;
	double blank = 0;

	for (int c = 0; c < levels->first[levels->nqis]; c++)
		blank += table->run->problem.columns[c].weight;
	return blank > 0 ? blank : 1;
}

double
linked_stake(const Linked *linked, const LinkedTable *table)
{
	double rows = 0;
	int n = 0;

	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++, n++)
		rows += rows_of(linked, &linked->tables[i]);
	return table->terms.weight * rows / n / rows_of(linked, table) / blank_of(table);
}

void
linked_push_rows(const Linked *linked, JsonbInState *state)
{
	JsonbValue value = {.type = jbvString, .val.string = {(int) strlen(ROWS), ROWS}};

	kanon_push_jsonb(state, WJB_KEY, &value);
	kanon_push_jsonb(state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++)
	{
		const LinkedTable *table = &linked->tables[i];

		value.type = jbvString;
		value.val.string.val = table->known;
		value.val.string.len = (int) strlen(table->known);
		kanon_push_jsonb(state, WJB_KEY, &value);
		value.type = jbvNumeric;
		value.val.numeric = int64_to_numeric((int64) rows_of(linked, table));
		kanon_push_jsonb(state, WJB_VALUE, &value);
	}
	kanon_push_jsonb(state, WJB_END_OBJECT, NULL);
}
