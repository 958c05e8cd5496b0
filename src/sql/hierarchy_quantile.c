/*
 * hierarchy_quantile.c: kanon_hierarchy_quantile: groups of neighbouring values
 * with as many rows each as can be.
 *
 * A group is shown from its least value to that of the next one, and the outer
 * ones without an end: their extremes would be single rows' values.
 */
#include "compat.h"
#include "run/args.h"
#include "sql/hierarchy_build.h"

#include "catalog/pg_type.h"

PG_FUNCTION_INFO_V1(kanon_hierarchy_quantile);

#define ARG_GROUPS BUILD_ARGS

/* Each divides the one before, so that whole groups are merged. */
static void
check_groups(const Datum *groups, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (DatumGetInt32(groups[i]) < 2)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("number %d of groups is less than 2", i + 1),
							errhint("One group is suppression, which is always the last level.")));
		if (i > 0 && (DatumGetInt32(groups[i]) >= DatumGetInt32(groups[i - 1]) ||
					  DatumGetInt32(groups[i - 1]) % DatumGetInt32(groups[i]) != 0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number %d of groups is not a smaller divisor of number %d", i + 1, i),
					 errhint("Write it like '{16,8,2}': how many groups each level has, the finest first.")));
	}
}

/*
 * A value belongs where the middle one of its rows falls; all its rows stay
 * together, so groups of frequent values come out larger, and some stay empty.
 */
static const char *const finest =
	"WITH counted AS (SELECT v, n, place, sum(n) OVER (ORDER BY place) - n AS before, sum(n) OVER () AS total"
	"  FROM vals),"
	" finest AS (SELECT v, place, div((2 * before + n) * $1[1], 2 * total) AS g FROM counted)";

/* kanon_hierarchy_quantile(source, column_name, target, groups, replace) */
Datum
kanon_hierarchy_quantile(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	ArrayType *array = array_arg(fcinfo, ARG_GROUPS);
	Oid range = hierarchy_build_range(build);
	StringInfoData query, levels, joins;
	Datum *groups;
	int n;

	groups = hierarchy_build_array(array, "groups", "{16,8,2}", &n);
	check_groups(groups, n);
	hierarchy_build_param(build, INT4ARRAYOID, PointerGetDatum(array));
	hierarchy_build_values(build);
	initStringInfo(&query);
	initStringInfo(&levels);
	initStringInfo(&joins);
	appendStringInfoString(&query, finest);
	for (int i = 1; i <= n; i++)
	{
		/* where a group begins, and where the next one does */
		appendStringInfo(
			&query,
			", ends%d AS (SELECT e.g, low.v AS low, high.v AS high"
			" FROM (SELECT g, min(place) AS first, max(place) + 1 AS next"
			"  FROM (SELECT div(g, $1[1] / $1[%d]) AS g, place FROM finest) AS merged GROUP BY g) AS e"
			" LEFT JOIN finest AS low ON low.place = e.first AND e.first > 1"
			" LEFT JOIN finest AS high ON high.place = e.next)",
			i, i);
		appendStringInfo(&joins, " JOIN ends%d ON ends%d.g = div(f.g, $1[1] / $1[%d])", i, i, i);
		if (OidIsValid(range))
			appendStringInfo(&levels, ", %s(ends%d.low::%s, ends%d.high::%s)",
							 hierarchy_build_range_name(build), i, hierarchy_build_bound_name(build), i,
							 hierarchy_build_bound_name(build));
		else
			appendStringInfo(
				&levels,
				", coalesce('[' || ends%d.low::text, '(') || ',' || coalesce(ends%d.high::text, '') || ')'",
				i, i);
	}
	appendStringInfo(&query, " SELECT f.v%s FROM finest AS f%s", levels.data, joins.data);
	PG_RETURN_INT64(hierarchy_build_write(build, n, OidIsValid(range) ? range : TEXTOID, query.data));
}
