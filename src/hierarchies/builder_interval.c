/*
 * builder_interval.c: intervals [lower, upper) of equal width.
 *
 * All is worked out in numeric, hence exactly: a value lies in its interval, and
 * intervals nest.  Dates count as days, timestamps as microseconds (with time zone:
 * in UTC, so that no clock change bends an interval) since 1970; a float counts as
 * the shortest decimal number that stands for it.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "rows/dictionary.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* PostgreSQL counts from 2000. */
#define DAYS_TO_2000 (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

typedef struct Scale
{
	Oid type;
	int64 unit;  /* of widths and origin, which are whole ones; 0: 1, and they need not be whole */
	int64 zero;  /* what is added to a value as it is stored */
	int64 least; /* bounds that the type has, as stored; both 0: all */
	int64 most;
} Scale;

static const Scale scales[] = {
	{INT2OID, 1, 0, PG_INT32_MIN, PG_INT32_MAX},
	{INT4OID, 1, 0, PG_INT32_MIN, PG_INT32_MAX},
	{INT8OID, 1, 0, PG_INT64_MIN, PG_INT64_MAX},
	{NUMERICOID},
	{FLOAT4OID},
	{FLOAT8OID},
	{DATEOID, 1, DAYS_TO_2000, DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE,
	 DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1},
	{TIMESTAMPOID, USECS_PER_DAY, DAYS_TO_2000 *USECS_PER_DAY, MIN_TIMESTAMP, END_TIMESTAMP - 1},
	{TIMESTAMPTZOID, USECS_PER_DAY, DAYS_TO_2000 *USECS_PER_DAY, MIN_TIMESTAMP, END_TIMESTAMP - 1},
};

typedef struct Intervals
{
	const Scale *scale;
	Numeric origin;
	Numeric width[HIERARCHY_MAX_LEVELS]; /* in the scale's units */
	Numeric zero, least, most;
	Numeric from;        /* what is below is not known; NULL: no such thing */
	Numeric bottom, top; /* what is below, and what is not below, stands together; NULL: no such thing */
	bool known;          /* the value before had a place among others: */
	Numeric low[HIERARCHY_MAX_LEVELS];
	Numeric high[HIERARCHY_MAX_LEVELS]; /* both NULL: without an end */
} Intervals;

static Numeric
calculate(PGFunction function, Numeric a, Numeric b)
{
	return DatumGetNumeric(DirectFunctionCall2(function, NumericGetDatum(a), NumericGetDatum(b)));
}

static int
compare(Numeric a, Numeric b)
{
	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(a), NumericGetDatum(b)));
}

static bool
is_finite(Numeric number)
{
	return !numeric_is_nan(number) && !numeric_is_inf(number);
}

/* A value's place among the others; NULL: it has none. */
static Numeric
position(const LevelBuilder *builder, Datum value)
{
	const Intervals *intervals = builder->own;
	Numeric number;
	int64 stored;

	switch (builder->type)
	{
		case INT2OID:
			return int64_to_numeric(DatumGetInt16(value));
		case INT4OID:
			return int64_to_numeric(DatumGetInt32(value));
		case INT8OID:
			return int64_to_numeric(DatumGetInt64(value));
		case DATEOID:
			stored = DatumGetDateADT(value);
			if (DATE_NOT_FINITE((DateADT) stored))
				return NULL;
			return int64_to_numeric(stored + intervals->scale->zero);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			stored = DatumGetTimestamp(value);
			if (TIMESTAMP_NOT_FINITE(stored))
				return NULL;
			return calculate(numeric_add, int64_to_numeric(stored), intervals->zero);
		case NUMERICOID:
			number = DatumGetNumeric(value);
			break;
		default:
			number = float_as_numeric(builder->type, value);
	}
	return is_finite(number) ? number : NULL;
}

/* A number as a bound of the column's ranges; false: the type has no such value. */
static bool
bound(const LevelBuilder *builder, Numeric number, Datum *value)
{
	const Intervals *intervals = builder->own;
	const Scale *scale = intervals->scale;

	if (scale->unit == 0)
	{
		*value = DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(number));
		return true;
	}
	if (scale->zero != 0)
		number = calculate(numeric_sub, number, intervals->zero);
	if (compare(number, intervals->least) < 0 || compare(number, intervals->most) > 0)
		return false;
	*value = DirectFunctionCall1(scale->least == PG_INT32_MIN || builder->type == DATEOID ? numeric_int4
																						  : numeric_int8,
								 NumericGetDatum(number));
	return true;
}

/* The interval of one level, as a range or (floats) as its text; numbers that are NULL: without an end. */
static Datum
node(const LevelBuilder *builder, Numeric low, Numeric high)
{
	Datum lower, upper;
	bool has_lower = low != NULL && bound(builder, low, &lower);
	bool has_upper = high != NULL && bound(builder, high, &upper);

	if (builder->range != NULL)
		return builder_range(builder, has_lower ? &lower : NULL, has_upper ? &upper : NULL, false);
	return PointerGetDatum(
		cstring_to_text(psprintf("%s%s,%s)", has_lower ? "[" : "(",
								 has_lower ? DatumGetCString(DirectFunctionCall1(numeric_out, lower)) : "",
								 has_upper ? DatumGetCString(DirectFunctionCall1(numeric_out, upper)) : "")));
}

/* Values that are not finite stand alone. */
static void
stand_alone(const LevelBuilder *builder, Datum value, Datum *nodes)
{
	for (int h = 0; h < builder->nlevels; h++)
		nodes[h] = builder->range != NULL ? builder_range(builder, &value, &value, true)
										  : CStringGetTextDatum(builder_text(builder, value));
}

/* div and mod cut towards zero. */
static Numeric
interval_begin(const Intervals *intervals, Numeric distance, Numeric width)
{
	Numeric whole = calculate(numeric_div_trunc, distance, width);

	if (compare(calculate(numeric_mod, distance, width), int64_to_numeric(0)) < 0)
		whole = calculate(numeric_sub, whole, int64_to_numeric(1));
	return calculate(numeric_add, intervals->origin, calculate(numeric_mul, whole, width));
}

static int
levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	Intervals *intervals = builder->own;
	bool known = builder->begun && intervals->known;
	Numeric at = position(builder, value);
	Numeric distance;
	bool above = at != NULL && intervals->top != NULL && compare(at, intervals->top) >= 0;
	bool below = at != NULL && intervals->bottom != NULL && compare(at, intervals->bottom) < 0;
	int changed = 0;

	if (intervals->from != NULL && (at == NULL || compare(at, intervals->from) < 0))
		return BUILDER_UNKNOWN;
	intervals->known = at != NULL;
	if (at == NULL)
	{
		stand_alone(builder, value, nodes);
		return builder->nlevels;
	}
	while (known && changed < builder->nlevels)
	{
		if ((intervals->low[changed] == NULL || compare(at, intervals->low[changed]) >= 0) &&
			(intervals->high[changed] == NULL || compare(at, intervals->high[changed]) < 0))
			break;
		changed++;
	}
	if (!known)
		changed = builder->nlevels;
	if (changed == 0)
		return 0;
	distance = calculate(numeric_sub, at, intervals->origin);
	for (int h = 0; h < changed; h++)
	{
		Numeric low = above ? intervals->top : interval_begin(intervals, distance, intervals->width[h]);
		Numeric high = above ? NULL : calculate(numeric_add, low, intervals->width[h]);
		MemoryContext old;

		if (below)
			low = NULL;
		else if (intervals->bottom != NULL && compare(low, intervals->bottom) < 0)
			low = intervals->bottom;
		if (below)
			high = intervals->bottom;
		else if (high != NULL && intervals->top != NULL && compare(high, intervals->top) > 0)
			high = intervals->top;
		nodes[h] = node(builder, low, high);
		if (builder->begun)
		{
			if (intervals->low[h] != NULL)
				pfree(intervals->low[h]);
			if (intervals->high[h] != NULL)
				pfree(intervals->high[h]);
		}
		old = MemoryContextSwitchTo(GetMemoryChunkContext(intervals));
		intervals->low[h] = low != NULL ? DatumGetNumericCopy(NumericGetDatum(low)) : NULL;
		intervals->high[h] = high != NULL ? DatumGetNumericCopy(NumericGetDatum(high)) : NULL;
		MemoryContextSwitchTo(old);
	}
	return changed;
}

static bool
is_whole(Numeric number)
{
	return compare(calculate(numeric_mod, number, int64_to_numeric(1)), int64_to_numeric(0)) == 0;
}

/* Each width is a multiple of the one before, so that the intervals nest. */
static void
check_widths(const LevelBuilder *builder, const Scale *scale, const Numeric *widths, int n, Numeric origin)
{
	const char *column = builder->column->name;
	Numeric unit = int64_to_numeric(Max(scale->unit, 1));
	bool whole = is_finite(origin);

	for (int i = 0; i < n; i++)
		if (!is_finite(widths[i]) || !is_finite(origin) || compare(widths[i], int64_to_numeric(0)) <= 0)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all of %s for column \"%s\" must be positive, and the origin finite", builder->name,
						column),
				 errhint(
					 "One for each level, the finest first, such as 5, 10, 20; days for dates and timestamps.")));
	for (int i = 0; i < n; i++)
		whole = whole && is_whole(calculate(numeric_mul, widths[i], unit));
	whole = whole && is_whole(calculate(numeric_mul, origin, unit));
	if (scale->unit != 0 && !whole)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s or origin for column \"%s\" is finer than values of type %s", builder->name, column,
					format_type_be(builder->column->type)),
			 errhint(
				 "Give whole numbers for integers, whole days for dates, days down to a microsecond for timestamps.")));
	for (int i = 1; i < n; i++)
		if (compare(widths[i], widths[i - 1]) <= 0 ||
			compare(calculate(numeric_mod, widths[i], widths[i - 1]), int64_to_numeric(0)) != 0)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("number %d of %s for column \"%s\" is not a larger multiple of number %d",
								   i + 1, builder->name, column, i),
							errdetail("Intervals of one level must lie within those of the next."),
							errhint("Each is a multiple of the one before, such as 5, 10, 20.")));
}

/* Values below the one stand together, and those not below the other. */
static void
check_ends(const LevelBuilder *builder, const Scale *scale, Numeric lower, Numeric upper)
{
	Numeric ends[] = {lower, upper};
	Numeric unit = int64_to_numeric(Max(scale->unit, 1));

	for (int i = 0; i < (int) lengthof(ends); i++)
		if (ends[i] != NULL &&
			(!is_finite(ends[i]) || (scale->unit != 0 && !is_whole(calculate(numeric_mul, ends[i], unit)))))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s for column \"%s\" must be a value of type %s", i == 0 ? "lower" : "upper",
							builder->column->name, format_type_be(builder->column->type)),
					 errhint("Dates and timestamps count as days since 1970-01-01.")));
	if (lower != NULL && upper != NULL && compare(lower, upper) >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lower for column \"%s\" is not less than upper", builder->column->name),
				 errhint("Values below lower stand together, and those from upper on: 20 and 85, say.")));
}

LevelBuilder *
builder_interval(const char *name, const SourceColumn *column, const Numeric *widths, int n, Numeric origin,
				 Numeric lower, Numeric upper)
{
	LevelBuilder *builder = builder_create(name, column, n);
	Intervals *intervals = palloc0(sizeof(Intervals));
	const Scale *scale = NULL;
	Numeric unit;

	for (int i = 0; i < (int) lengthof(scales); i++)
		if (scales[i].type == builder->type)
			scale = &scales[i];
	if (scale == NULL)
		builder_refuse(
			"hierarchy of intervals", column,
			"Integers, numeric, floats, dates and timestamps have one; quantiles take every type with an order.");
	check_widths(builder, scale, widths, n, origin);
	check_ends(builder, scale, lower, upper);
	builder_of_ranges(builder);
	unit = int64_to_numeric(Max(scale->unit, 1));
	intervals->scale = scale;
	intervals->zero = int64_to_numeric(scale->zero);
	intervals->least = int64_to_numeric(scale->least);
	intervals->most = int64_to_numeric(scale->most);
	intervals->origin = calculate(numeric_mul, origin, unit);
	for (int i = 0; i < n; i++)
	{
		intervals->width[i] = calculate(numeric_mul, widths[i], unit);
		builder->words[i] =
			psprintf("ranges of %s%s", numeric_normalize(widths[i]), scale->zero != 0 ? " days" : "");
	}
	intervals->bottom = lower != NULL ? calculate(numeric_mul, lower, unit) : NULL;
	intervals->top = upper != NULL ? calculate(numeric_mul, upper, unit) : NULL;
	builder->levels = levels;
	builder->own = intervals;
	return builder;
}

/* Years, five and ten of them; those of 90 and above together, as HIPAA asks (45 CFR 164.514 (b) (2) (i) (C)). */
LevelBuilder *
builder_age(const char *name, const SourceColumn *column)
{
	Numeric widths[] = {int64_to_numeric(1), int64_to_numeric(5), int64_to_numeric(10)};
	Oid type = getBaseType(column->type);
	LevelBuilder *builder;
	Intervals *intervals;

	if (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID)
		builder_refuse("hierarchy of ages", column, "Use a view that has the age in years.");
	builder = builder_interval(name, column, widths, lengthof(widths), int64_to_numeric(0), NULL,
							   int64_to_numeric(90));
	intervals = builder->own;
	intervals->from = int64_to_numeric(0);
	builder->words[0] = "single years, 90 and above together";
	return builder;
}
