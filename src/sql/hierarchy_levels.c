/*
 * hierarchy_levels.c: kanon_hierarchy_interval, _prefix, _date and _quantile: the
 * levels of a builder (hierarchies/builder.c) as a table.
 */
#include "compat.h"
#include "run/request.h"
#include "sql/hierarchy_build.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_hierarchy_interval);
PG_FUNCTION_INFO_V1(kanon_hierarchy_prefix);
PG_FUNCTION_INFO_V1(kanon_hierarchy_date);
PG_FUNCTION_INFO_V1(kanon_hierarchy_quantile);

/* After the arguments that all have. */
#define ARG_LEVELS BUILD_ARGS
#define ARG_ORIGIN (BUILD_ARGS + 1)
#define ARG_LOWER (BUILD_ARGS + 2)
#define ARG_UPPER (BUILD_ARGS + 3)

static int *
integers_arg(FunctionCallInfo fcinfo, const char *name, const char *example, int *n)
{
	Datum *elements = hierarchy_build_array(array_arg(fcinfo, ARG_LEVELS), name, example, n);
	int *integers = palloc(sizeof(int) * *n);

	for (int i = 0; i < *n; i++)
		integers[i] = DatumGetInt32(elements[i]);
	return integers;
}

/* kanon_hierarchy_interval(source, column_name, target, widths, origin, lower, upper, replace) */
Datum
kanon_hierarchy_interval(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	int n;
	Datum *elements = hierarchy_build_array(array_arg(fcinfo, ARG_LEVELS), "widths", "{5,10,20}", &n);
	Numeric *widths = palloc(sizeof(Numeric) * n);

	refuse_null(fcinfo, ARG_ORIGIN, "origin", "0 is the default: some interval begins there.");
	for (int i = 0; i < n; i++)
		widths[i] = DatumGetNumeric(elements[i]);
	PG_RETURN_INT64(hierarchy_build_levels(
		build, builder_interval("widths", build->column, widths, n, PG_GETARG_NUMERIC(ARG_ORIGIN),
								PG_ARGISNULL(ARG_LOWER) ? NULL : PG_GETARG_NUMERIC(ARG_LOWER),
								PG_ARGISNULL(ARG_UPPER) ? NULL : PG_GETARG_NUMERIC(ARG_UPPER))));
}

/* kanon_hierarchy_prefix(source, column_name, target, keep, replace) */
Datum
kanon_hierarchy_prefix(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	int n;
	int *keep = integers_arg(fcinfo, "keep", "{3,1}", &n);

	PG_RETURN_INT64(hierarchy_build_levels(build, builder_prefix("keep", build->column, keep, n)));
}

/* kanon_hierarchy_date(source, column_name, target, levels, replace) */
Datum
kanon_hierarchy_date(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	int n;
	Datum *elements =
		hierarchy_build_array(array_arg(fcinfo, ARG_LEVELS), "levels", "{month,year,decade}", &n);
	char **levels = palloc(sizeof(char *) * n);

	for (int i = 0; i < n; i++)
		levels[i] = TextDatumGetCString(elements[i]);
	PG_RETURN_INT64(hierarchy_build_levels(build, builder_date("levels", build->column, levels, n)));
}

/* kanon_hierarchy_quantile(source, column_name, target, groups, replace) */
Datum
kanon_hierarchy_quantile(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	int n;
	int *groups = integers_arg(fcinfo, "groups", "{16,8,2}", &n);

	PG_RETURN_INT64(hierarchy_build_levels(build, builder_quantile("groups", build->column, groups, n)));
}
