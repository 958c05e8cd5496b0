/*
 * hierarchy_date.c: kanon_hierarchy_date: the month, quarter, year and so on of a
 * date or timestamp, as a range.  With a time zone: in UTC, whatever the session's.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "run/args.h"
#include "sql/hierarchy_build.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_hierarchy_date);

#define ARG_LEVELS BUILD_ARGS

/* A unit of the calendar, the finest first. */
typedef struct Unit
{
	const char *name; /* as date_trunc has it */
	const char *length;
	bool of_dates; /* coarser than a date */
	bool alone;    /* nothing coarser is made of whole ones */
} Unit;

/* Within these all units have their bounds among the timestamps; others stand alone, as infinity does. */
#define USUAL "v BETWEEN '3000-01-01 BC' AND '290000-12-31'"

static const Unit units[] = {{"minute", "1 minute"},
							 {"hour", "1 hour"},
							 {"day", "1 day"},
							 {"week", "7 days", true, true},
							 {"month", "1 month", true},
							 {"quarter", "3 months", true},
							 {"year", "1 year", true},
							 {"decade", "10 years", true, true}, /* 2000 to 2009, the century from 2001 */
							 {"century", "100 years", true},
							 {"millennium", "1000 years", true}};

static const Unit *
find_unit(const char *name, bool of_dates)
{
	for (int i = 0; i < (int) lengthof(units); i++)
		if (strcmp(units[i].name, name) == 0 && (units[i].of_dates || !of_dates))
			return &units[i];
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("level \"%s\" is not known for this column", excerpt(name)),
					errhint("Levels: %sweek, month, quarter, year, decade, century, millennium.",
							of_dates ? "" : "minute, hour, day, ")));
}

static const Unit **
levels_arg(ArrayType *array, bool of_dates, int *n)
{
	Datum *names = hierarchy_build_array(array, "levels", "{month,year,decade}", n);
	const Unit **levels = palloc(sizeof(Unit *) * *n);

	for (int i = 0; i < *n; i++)
	{
		levels[i] = find_unit(TextDatumGetCString(names[i]), of_dates);
		if (i > 0 && (levels[i] <= levels[i - 1] || levels[i - 1]->alone))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("level \"%s\" is not made of whole ones of level \"%s\"", levels[i]->name,
							levels[i - 1]->name),
					 errhint("Name the finest level first; weeks and decades can only be the last one.")));
	}
	return levels;
}

/* kanon_hierarchy_date(source, column_name, target, levels, replace) */
Datum
kanon_hierarchy_date(PG_FUNCTION_ARGS)
{
	HierarchyBuild *build = hierarchy_build_begin(fcinfo);
	bool zoned = build->type == TIMESTAMPTZOID;
	const char *back = zoned ? "AT TIME ZONE 'UTC'" : build->type == DATEOID ? "::date" : "";
	const char *range;
	const Unit **levels;
	StringInfoData query;
	int n;

	if (!zoned && build->type != DATEOID && build->type != TIMESTAMPOID)
		hierarchy_build_refuse(build, "hierarchy of dates",
							   "Use a view that casts the column to date, if that is what it holds.");
	levels = levels_arg(array_arg(fcinfo, ARG_LEVELS), build->type == DATEOID, &n);
	range = hierarchy_build_range_name(build);
	hierarchy_build_values(build);
	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT v");
	for (int i = 0; i < n; i++)
	{
		char *begin = psprintf("date_trunc('%s', %s)", levels[i]->name,
							   zoned ? "v AT TIME ZONE 'UTC'" : "v::timestamp");

		/* the last date has none after it, before which its range could end */
		appendStringInfo(
			&query, ", CASE WHEN " USUAL " THEN %s((%s)%s, (%s + interval '%s')%s) ELSE %s(v, %s, '[]') END",
			range, begin, back, begin, levels[i]->length, back, range,
			build->type == DATEOID ? "nullif(v, '5874897-12-31')" : "v");
	}
	appendStringInfoString(&query, " FROM vals");
	PG_RETURN_INT64(hierarchy_build_write(build, n, hierarchy_build_range(build), query.data));
}
