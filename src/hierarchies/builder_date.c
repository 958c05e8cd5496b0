/*
 * builder_date.c: the month, quarter, year and so on of a date or timestamp, as a
 * range.  With a time zone: in UTC, whatever the session's.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "host/excerpt.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

/* A unit of the calendar, the finest first. */
typedef struct Unit
{
	const char *name; /* as date_trunc has it */
	Interval length;
	bool of_dates; /* coarser than a date */
	bool alone;    /* nothing coarser is made of whole ones */
} Unit;

static const Unit units[] = {{"minute", {.time = USECS_PER_MINUTE}},
							 {"hour", {.time = USECS_PER_HOUR}},
							 {"day", {.day = 1}},
							 {"week", {.day = 7}, true, true},
							 {"month", {.month = 1}, true},
							 {"quarter", {.month = 3}, true},
							 {"year", {.month = 12}, true},
							 {"decade", {.month = 120}, true, true}, /* 2000 to 2009, the century from 2001 */
							 {"century", {.month = 1200}, true},
							 {"millennium", {.month = 12000}, true}};

#define LEVELS_HINT(first) "Levels: " first "week, month, quarter, year, decade, century, millennium."

typedef struct Calendar
{
	const Unit *unit[HIERARCHY_MAX_LEVELS];
	Datum name[HIERARCHY_MAX_LEVELS]; /* text */
	bool known;                       /* the value before had a place among others: */
	Timestamp begin[HIERARCHY_MAX_LEVELS];
	Timestamp end[HIERARCHY_MAX_LEVELS];
} Calendar;

/* Within these all units have their bounds among the timestamps; others stand alone, as infinity does. */
#define FIRST_DAY (date2j(-2999, 1, 1) - POSTGRES_EPOCH_JDATE)
#define LAST_DAY (date2j(290000, 12, 31) - POSTGRES_EPOCH_JDATE)

static bool
has_place(const LevelBuilder *builder, Datum value, Timestamp *at)
{
	if (builder->type == DATEOID)
	{
		DateADT date = DatumGetDateADT(value);

		*at = (Timestamp) date * USECS_PER_DAY;
		return date >= FIRST_DAY && date <= LAST_DAY;
	}
	*at = DatumGetTimestamp(value);
	return *at >= FIRST_DAY * USECS_PER_DAY && *at <= LAST_DAY * USECS_PER_DAY;
}

/* A bound as one of the column's values. */
static Datum
bound(const LevelBuilder *builder, Timestamp at)
{
	return builder->type == DATEOID ? DateADTGetDatum((DateADT) (at / USECS_PER_DAY)) : TimestampGetDatum(at);
}

/* The last date has none after it, before which its range could end. */
static Datum
alone(const LevelBuilder *builder, Datum value)
{
	bool last =
		builder->type == DATEOID && DatumGetDateADT(value) == DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1;

	return builder_range(builder, &value, last ? NULL : &value, true);
}

static int
levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	Calendar *calendar = builder->own;
	bool known = builder->begun && calendar->known;
	Timestamp at;

	calendar->known = has_place(builder, value, &at);
	for (int h = 0; h < builder->nlevels; h++)
	{
		Datum low, high;

		if (!calendar->known)
		{
			nodes[h] = alone(builder, value);
			continue;
		}
		if (known && at >= calendar->begin[h] && at < calendar->end[h])
			return h;
		low = DirectFunctionCall2(timestamp_trunc, calendar->name[h], TimestampGetDatum(at));
		high = DirectFunctionCall2(timestamp_pl_interval, low,
								   IntervalPGetDatum(unconstify(Interval *, &calendar->unit[h]->length)));
		calendar->begin[h] = DatumGetTimestamp(low);
		calendar->end[h] = DatumGetTimestamp(high);
		low = bound(builder, calendar->begin[h]);
		high = bound(builder, calendar->end[h]);
		nodes[h] = builder_range(builder, &low, &high, false);
	}
	return builder->nlevels;
}

static const Unit *
find_unit(const char *word, const SourceColumn *column, bool of_dates)
{
	Nearest nearest = nearest_to(word);

	for (int i = 0; i < (int) lengthof(units); i++)
		if (units[i].of_dates || !of_dates)
		{
			if (strcmp(units[i].name, word) == 0)
				return &units[i];
			nearest_try(&nearest, units[i].name);
		}
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("level \"%s\" is not known for column \"%s\"", excerpt(word), column->name),
					errhint("%s", nearest_hint(&nearest, of_dates ? LEVELS_HINT("")
																  : LEVELS_HINT("minute, hour, day, ")))));
}

LevelBuilder *
builder_date(const char *name, const SourceColumn *column, char **words, int n)
{
	LevelBuilder *builder = builder_create(name, column, n);
	Calendar *calendar = palloc0(sizeof(Calendar));

	if (builder->type != DATEOID && builder->type != TIMESTAMPOID && builder->type != TIMESTAMPTZOID)
		builder_refuse("hierarchy of dates", column,
					   "Use a view that casts the column to date, if that is what it holds.");
	builder_of_ranges(builder);
	for (int i = 0; i < n; i++)
	{
		calendar->unit[i] = find_unit(words[i], column, builder->type == DATEOID);
		calendar->name[i] = CStringGetTextDatum(calendar->unit[i]->name);
		builder->words[i] = calendar->unit[i]->name;
		if (i > 0 && (calendar->unit[i] <= calendar->unit[i - 1] || calendar->unit[i - 1]->alone))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("level \"%s\" of column \"%s\" is not made of whole ones of level \"%s\"",
							calendar->unit[i]->name, column->name, calendar->unit[i - 1]->name),
					 errhint("Name the finest level first; weeks and decades can only be the last one.")));
	}
	builder->levels = levels;
	builder->own = calendar;
	return builder;
}
