/*
 * builder_prefix.c: the first characters of a text, the network of an address.
 *
 * A level's label says how long the value is, and so alone decides the next one.
 * An address with a netmask never shows more than the netmask leaves.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "rows/dictionary.h"

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

/* Levels that keep all there is of every value, and numbers of which 5 and 50 begin alike, are told. */
static void
prepare(LevelBuilder *builder, const Dictionary *values, const int64 *rows)
{
	const int *keep = builder->own;
	bool bits = builder->levels == levels_of_address;
	int shortest = INT_MAX, longest = 0, idle = 0;
	char category;
	bool preferred;

	for (uint32 code = 0; code < dictionary_size(values); code++)
	{
		bool isnull;
		Datum value = dictionary_value(values, code, &isnull);
		int length = 0;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		if (bits)
			length = DatumGetInt32(DirectFunctionCall1(network_masklen, value));
		else
		{
			char *text = builder_text(builder, value);

			length = pg_mbstrlen(text);
			pfree(text);
		}
		shortest = Min(shortest, length);
		longest = Max(longest, length);
	}
	while (longest > 0 && idle < builder->nlevels && keep[idle] >= longest)
		idle++;
	if (idle > 0)
		ereport(NOTICE, (errmsg("%d of the levels of %s for column \"%s\" change%s no value", idle,
								builder->name, builder->column->name, idle == 1 ? "s" : ""),
						 errdetail("The longest value has %d %s, the level keeps %d.", longest,
								   bits ? "bits" : "characters", keep[idle - 1]),
						 errhint("Keep fewer, or leave the level out.")));
	get_type_category_preferred(builder->type, &category, &preferred);
	if (category == TYPCATEGORY_NUMERIC && shortest < longest)
		ereport(
			NOTICE,
			(errmsg("prefixes of numbers of different lengths, column \"%s\"", builder->column->name),
			 errdetail(
				 "A prefix follows the digits, not the size: at one digit 5 is alone, and 50 is with 59."),
			 errhint(
				 "Group numbers by size, '{\"%s\": {\"interval\": [10]}}'; codes that lost their zeros need a "
				 "view that casts them to text of one length.",
				 builder->column->name)));
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
	builder->prepare = prepare;
	builder->own = memcpy(palloc(sizeof(int) * n), keep, sizeof(int) * n);
	return builder;
}
