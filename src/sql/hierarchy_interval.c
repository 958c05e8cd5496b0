/*
 * hierarchy_interval.c: kanon_hierarchy_interval: intervals [lower, upper) of
 * equal width.
 *
 * All is worked out in numeric, hence exactly: a value lies in its interval, and
 * intervals nest.  Dates count as days since 1970-01-01, timestamps as
 * microseconds since then (with time zone: in UTC, so that no clock change bends
 * an interval); a float counts as the shortest decimal number that stands for it.
 */
#include "compat.h"
#include "run/args.h"
#include "sql/hierarchy_build.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_hierarchy_interval);

enum
{
	ARG_WIDTHS = BUILD_ARGS,
	ARG_ORIGIN
};

#define EPOCH "date '1970-01-01'"
#define DAY_US "86400000000"
#define DAYS(last) "(date '" last "' - " EPOCH ")"

/* How one type's values become numbers, and numbers bounds. */
typedef struct Scale
{
	Oid type;
	const char *finite;   /* true for values that have a place among others */
	const char *position; /* v as a number */
	const char *bound;    /* number %1$s as a bound */
	const char *least;    /* bounds that the type has; NULL: all */
	const char *most;
	const char *unit; /* of widths and origin; they must be whole ones, unless NULL */
} Scale;

#define INT4_LEAST "-2147483648"
#define INT4_MOST "2147483647"
#define TS_POSITION(v)                                                              \
	"(" v "::date - " EPOCH ")::numeric * " DAY_US " + round(extract(epoch FROM " v \
	"::time)::numeric * 1000000)"
#define TS_BOUND                                                              \
	"(" EPOCH " + div(%1$s, " DAY_US ")::int)::timestamp + mod(%1$s, " DAY_US \
	")::float8 * interval '1 microsecond'"
#define TS_LEAST DAYS("4714-11-24 BC") "::numeric * " DAY_US
#define TS_MOST DAYS("294276-12-31") "::numeric * " DAY_US " + " DAY_US " - 1"
#define FLOAT_FINITE "v NOT IN ('NaN', 'Infinity', '-Infinity')"

static const Scale scales[] = {
	{INT2OID, "true", "v::numeric", "(%1$s)::int4", INT4_LEAST, INT4_MOST, "1"},
	{INT4OID, "true", "v::numeric", "(%1$s)::int4", INT4_LEAST, INT4_MOST, "1"},
	{INT8OID, "true", "v::numeric", "(%1$s)::int8", "-9223372036854775808", "9223372036854775807", "1"},
	/* as text: version 13 has no infinite numeric to compare with */
	{NUMERICOID, "v::text NOT IN ('NaN', 'Infinity', '-Infinity')", "v", "trim_scale(%1$s)", NULL, NULL,
	 NULL},
	{FLOAT4OID, FLOAT_FINITE, "v::text::numeric", "trim_scale(%1$s)::text", NULL, NULL, NULL},
	{FLOAT8OID, FLOAT_FINITE, "v::text::numeric", "trim_scale(%1$s)::text", NULL, NULL, NULL},
	{DATEOID, "isfinite(v)", "(v - " EPOCH ")::numeric", EPOCH " + (%1$s)::int", DAYS("4714-11-24 BC"),
	 DAYS("5874897-12-31"), "1"},
	{TIMESTAMPOID, "isfinite(v)", TS_POSITION("v"), TS_BOUND, TS_LEAST, TS_MOST, DAY_US},
	{TIMESTAMPTZOID, "isfinite(v)", TS_POSITION("(v AT TIME ZONE 'UTC')"),
	 "(" TS_BOUND ") AT TIME ZONE 'UTC'", TS_LEAST, TS_MOST, DAY_US},
	{InvalidOid}};

static const Scale *
find_scale(const HierarchyBuild *build)
{
	const Scale *scale = scales;

	while (OidIsValid(scale->type) && scale->type != build->type)
		scale++;
	if (!OidIsValid(scale->type))
		hierarchy_build_refuse(
			build, "hierarchy of intervals",
			"Integers, numeric, floats, dates and timestamps have one; kanon_hierarchy_quantile takes every type with an order.");
	return scale;
}

/* Each width is a multiple of the one before, so that the intervals nest. */
static void
check_widths(HierarchyBuild *build, const Scale *scale)
{
	int64 i;

	i = hierarchy_build_ask(
		build, "SELECT min(i) FROM unnest($1 || $2) WITH ORDINALITY AS u (w, i)"
			   " WHERE w::text IN ('NaN', 'Infinity', '-Infinity') OR (w <= 0 AND i <= cardinality($1))");
	if (i > 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("widths must be positive and origin finite"),
			 errhint(
				 "Write them like '{5,10,20}': one for each level, the finest first; days for dates and timestamps.")));
	if (scale->unit != NULL &&
		hierarchy_build_ask(build,
							psprintf("SELECT count(*) FROM unnest($1 || $2) AS w WHERE mod(w * %s, 1) <> 0",
									 scale->unit)) > 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a width or the origin is finer than values of type %s",
					format_type_be(build->column->type)),
			 errhint(
				 "Give whole numbers for integers, whole days for dates, days down to a microsecond for timestamps.")));
	i = hierarchy_build_ask(
		build,
		"SELECT min(i) FROM (SELECT i, w, lag(w) OVER (ORDER BY i) AS below"
		" FROM unnest($1) WITH ORDINALITY AS u (w, i)) AS pairs WHERE w <= below OR mod(w, below) <> 0");
	if (i > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("width no. " INT64_FORMAT " is not a larger multiple of width no. " INT64_FORMAT, i,
						i - 1),
				 errdetail("Intervals of one level must lie within those of the next."),
				 errhint("Write them like '{5,10,20}': each a multiple of the one before.")));
}

/* Bounds outside the type's limits are infinite. */
static char *
bound_text(const Scale *scale, const char *number)
{
	char *bound = psprintf(scale->bound, number);

	if (scale->least == NULL)
		return bound;
	return psprintf("CASE WHEN %s BETWEEN %s AND %s THEN %s END", number, scale->least, scale->most, bound);
}

/* The interval of one level, as a range or (floats) as its text. */
static char *
interval_text(const HierarchyBuild *build, const Scale *scale, int i, const char *width)
{
	char *low = bound_text(scale, psprintf("l%d.low", i));
	char *high = bound_text(scale, psprintf("(l%d.low + %s)", i, width));
	const char *range;

	if (!OidIsValid(hierarchy_build_range(build)))
		return psprintf("CASE WHEN p.x IS NULL THEN v::text ELSE '[' || %s || ',' || %s || ')' END", low,
						high);
	range = hierarchy_build_range_name(build);
	return psprintf("CASE WHEN p.x IS NULL THEN %s(v, v, '[]') ELSE %s(%s, %s) END", range, range, low, high);
}

/* kanon_hierarchy_interval(source, column_name, target, widths, origin, replace) */
Datum
kanon_hierarchy_interval(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	const Scale *scale = find_scale(build);
	const char *unit = scale->unit != NULL ? scale->unit : "1";
	ArrayType *widths = array_arg(fcinfo, ARG_WIDTHS);
	Oid range = hierarchy_build_range(build);
	StringInfoData levels, joins;
	int n;

	(void) hierarchy_build_array(widths, "widths", "{5,10,20}", &n);
	refuse_null(fcinfo, ARG_ORIGIN, "origin", "0 is the default: some interval begins there.");
	hierarchy_build_param(build, NUMERICARRAYOID, PointerGetDatum(widths));
	hierarchy_build_param(build, NUMERICOID, PG_GETARG_DATUM(ARG_ORIGIN));
	check_widths(build, scale);
	hierarchy_build_values(build);
	initStringInfo(&levels);
	initStringInfo(&joins);
	for (int i = 1; i <= n; i++)
	{
		char *width = psprintf("$1[%d] * %s", i, unit);

		/* div and mod cut towards zero; OFFSET 0: worked out once, not wherever it is used */
		appendStringInfo(
			&joins,
			", LATERAL (SELECT $2 * %s + (div(p.d, %s) - CASE WHEN mod(p.d, %s) < 0 THEN 1 ELSE 0 END) * %s AS low OFFSET 0) AS l%d",
			unit, width, width, width, i);
		appendStringInfo(&levels, ", %s", interval_text(build, scale, i, width));
	}
	/* what is not finite stands alone */
	PG_RETURN_INT64(hierarchy_build_write(
		build, n, OidIsValid(range) ? range : TEXTOID,
		psprintf("SELECT v%s FROM vals, LATERAL (SELECT CASE WHEN %s THEN %s END AS x) AS o,"
				 " LATERAL (SELECT o.x, o.x - $2 * %s AS d OFFSET 0) AS p%s",
				 levels.data, scale->finite, scale->position, unit, joins.data)));
}
