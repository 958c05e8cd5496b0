/*
 * hierarchy_prefix.c: kanon_hierarchy_prefix: the first characters of a text, the
 * network of an address.
 */
#include "compat.h"
#include "run/args.h"
#include "sql/hierarchy_build.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_hierarchy_prefix);

#define ARG_KEEP BUILD_ARGS

/*
 * A level's label says how long the value is, and so alone decides the next one.
 * Of a value that is an address with a netmask, no more is shown than that has.
 */
static const char *const of_text =
	"left(v::text, $1[%d]) || repeat('*', greatest(length(v::text) - $1[%d], 0))";
static const char *const of_address = "network(set_masklen(v::inet, least(masklen(v::inet), $1[%d])))::text";

static const char *
find_formula(const HierarchyBuild *build)
{
	char category;
	bool preferred;

	if (build->type == INETOID || build->type == CIDROID)
		return of_address;
	get_type_category_preferred(build->type, &category, &preferred);
	if (category == TYPCATEGORY_STRING || build->type == INT2OID || build->type == INT4OID ||
		build->type == INT8OID)
		return of_text;
	hierarchy_build_refuse(build, "hierarchy of prefixes", "Texts, integers and network addresses have one.");
}

static void
check_keep(const Datum *keep, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (DatumGetInt32(keep[i]) < 1)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("number %d of keep is not positive", i + 1),
							errhint("To keep nothing is suppression, which is always the last level.")));
		if (i > 0 && DatumGetInt32(keep[i]) >= DatumGetInt32(keep[i - 1]))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("number %d of keep is not less than number %d", i + 1, i),
							errhint("Write it like '{3,1}': how much each level keeps, the finest first.")));
	}
}

/* kanon_hierarchy_prefix(source, column_name, target, keep, replace) */
Datum
kanon_hierarchy_prefix(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	const char *formula = find_formula(build);
	ArrayType *array = array_arg(fcinfo, ARG_KEEP);
	StringInfoData query;
	Datum *keep;
	int n;

	keep = hierarchy_build_array(array, "keep", "{3,1}", &n);
	check_keep(keep, n);
	hierarchy_build_param(build, INT4ARRAYOID, PointerGetDatum(array));
	hierarchy_build_values(build);
	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT v");
	for (int i = 1; i <= n; i++)
	{
		appendStringInfoString(&query, ", ");
		appendStringInfo(&query, formula, i, i);
	}
	appendStringInfoString(&query, " FROM vals");
	PG_RETURN_INT64(hierarchy_build_write(build, n, TEXTOID, query.data));
}
