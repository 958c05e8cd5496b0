/*
 * value_number.c: values of numeric and date/time types as doubles, for measures.
 */
#include "postgres.h"
#include "rows/dictionary.h"

#include <math.h>

#include "core/model/model.h"

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/cash.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

bool
type_is_number(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return true;
	}
	return false;
}

bool
type_is_numerical(Oid type)
{
	switch (getBaseType(type))
	{
		case MONEYOID:
		case DATEOID:
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
			return true;
	}
	return type_is_number(type);
}

static double
timestamp_as_number(Timestamp value)
{
	if (TIMESTAMP_IS_NOBEGIN(value))
		return -INFINITY;
	if (TIMESTAMP_IS_NOEND(value))
		return INFINITY;
	return (double) value;
}

double
value_as_number(Oid type, Datum value)
{
	switch (getBaseType(type))
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return (double) DatumGetInt64(value);
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case FLOAT8OID:
			return DatumGetFloat8(value);
		case NUMERICOID:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
		case MONEYOID:
			return (double) DatumGetCash(value);
		case DATEOID:
		{
			DateADT date = DatumGetDateADT(value);

			if (DATE_IS_NOBEGIN(date))
				return -INFINITY;
			if (DATE_IS_NOEND(date))
				return INFINITY;
			return (double) date * USECS_PER_DAY;
		}
		case TIMEOID:
			return (double) DatumGetTimeADT(value);
		case TIMETZOID:
		{
			TimeTzADT *time = DatumGetTimeTzADTP(value);

			return (double) (time->time + time->zone * USECS_PER_SEC);
		}
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return timestamp_as_number(DatumGetTimestamp(value));
		case INTERVALOID:
		{
			Interval *span = DatumGetIntervalP(value);

			/* as interval_cmp: months of 30 days of 24 hours */
			return (double) span->time +
				   ((double) span->month * DAYS_PER_MONTH + span->day) * (double) USECS_PER_DAY;
		}
	}
	elog(ERROR, "type %u is not numerical", type);
}

Numeric
float_as_numeric(Oid type, Datum value)
{
	char text[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (type == FLOAT4OID)
		float_to_shortest_decimal_buf(DatumGetFloat4(value), text);
	else
		double_to_shortest_decimal_buf(DatumGetFloat8(value), text);
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text),
											   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

static int
compare_numbers(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

const double *
numbers_of_data(const double *numbers, uint32 n, MemoryContext context)
{
	double *own = MemoryContextAllocHuge(context, sizeof(double) * (Size) Max(n, 1));
	uint32 finite = 0;
	bool ascending = true;
	double low, high;

	for (uint32 i = 0; i < n; i++)
		if (isfinite(numbers[i]))
		{
			ascending = ascending && (finite == 0 || own[finite - 1] < numbers[i]);
			own[finite++] = numbers[i];
		}
	if (!ascending)
		qsort(own, finite, sizeof(double), compare_numbers);
	kanon_data_range(own, finite, &low, &high);
	if (finite == 0 || (own[0] == low && own[finite - 1] == high))
	{
		pfree(own);
		return numbers;
	}
	for (uint32 i = 0; i < n; i++)
		own[i] = numbers[i] < low ? -INFINITY : numbers[i] > high ? INFINITY : numbers[i];
	return own;
}

Oid
range_type_of(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
			return INT4RANGEOID;
		case INT8OID:
			return INT8RANGEOID;
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return NUMRANGEOID;
		case DATEOID:
			return DATERANGEOID;
		case TIMESTAMPOID:
			return TSRANGEOID;
		case TIMESTAMPTZOID:
			return TSTZRANGEOID;
	}
	return InvalidOid;
}
