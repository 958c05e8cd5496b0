/*
 * builder_prefix.c: the first characters of a text, the network of an address.
 *
 * A level's label says how long the value is, and so alone decides the next one.
 * An address with a netmask never shows more than the netmask leaves.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

static int
levels_of_text(LevelBuilder *builder, Datum value, Datum *nodes)
{
	const int *keep = builder->own;
	char *text = builder_text(builder, value);
	int length = (int) strlen(text);
	int characters = pg_mbstrlen_with_len(text, length);

	for (int h = 0; h < builder->nlevels; h++)
	{
		int kept = pg_mbcharcliplen(text, length, keep[h]);
		int stars = Max(characters - keep[h], 0);
		bytea *label = palloc(VARHDRSZ + kept + stars);

		SET_VARSIZE(label, VARHDRSZ + kept + stars);
		memcpy(VARDATA(label), text, kept);
		memset(VARDATA(label) + kept, '*', stars);
		nodes[h] = PointerGetDatum(label);
	}
	return builder->nlevels;
}

static int
levels_of_address(LevelBuilder *builder, Datum value, Datum *nodes)
{
	const int *keep = builder->own;
	int bits = DatumGetInt32(DirectFunctionCall1(network_masklen, value));

	for (int h = 0; h < builder->nlevels; h++)
		nodes[h] = DirectFunctionCall1(
			network_show,
			DirectFunctionCall1(network_network, DirectFunctionCall2(inet_set_masklen, value,
																	 Int32GetDatum(Min(bits, keep[h])))));
	return builder->nlevels;
}

LevelBuilder *
builder_prefix(const char *name, const SourceColumn *column, const int *keep, int n)
{
	LevelBuilder *builder = builder_create(name, column, n);
	char category;
	bool preferred;

	get_type_category_preferred(builder->type, &category, &preferred);
	if (builder->type == INETOID || builder->type == CIDROID)
		builder->levels = levels_of_address;
	else if (category == TYPCATEGORY_STRING || builder->type == INT2OID || builder->type == INT4OID ||
			 builder->type == INT8OID)
		builder->levels = levels_of_text;
	else
		builder_refuse(
			"hierarchy of prefixes", column,
			category == TYPCATEGORY_ENUM
				? "Cast it to text in a view of the source."
				: "Texts, integers and network addresses have one: cast the column in a view of the source.");
	for (int i = 0; i < n; i++)
	{
		if (keep[i] < 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number %d of %s for column \"%s\" is not positive", i + 1, name, column->name),
					 errhint("To keep nothing is suppression, which is always the last level.")));
		if (i > 0 && keep[i] >= keep[i - 1])
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("number %d of %s for column \"%s\" is not less than number %d", i + 1,
								   name, column->name, i),
							errhint("Say how much each level keeps, the finest first: 3, then 1.")));
	}
	for (int i = 0; i < n; i++)
		builder->words[i] = builder->levels == levels_of_address ? psprintf("the first %d bits", keep[i])
							: keep[i] == 1                       ? "the first character"
										   : psprintf("the first %d characters", keep[i]);
	builder->own = memcpy(palloc(sizeof(int) * n), keep, sizeof(int) * n);
	return builder;
}
