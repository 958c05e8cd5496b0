/*
 * builder_cut.c: where a range may end so that its end is no value of a few persons.
 *
 * A value that k rows have (or k persons) may be an end as it is.  Any other end lies between two neighbouring
 * values and is none of them: the roundest number or time there, of texts the shortest beginning that k of
 * them share.  Integers next to each other, and types of which nobody knows what is between, have no such end.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "host/catalog.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* The values of a column with who has them, while cuts are looked for. */
struct Cutter
{
	const LevelBuilder *builder;
	const Dictionary *values;
	uint32 n; /* values but NULL */
	TypeCacheEntry *order;
	const Holders *holders;
	bool text;
	uint32 *counted; /* [persons] the number of the count in which each was met last; NULL: rows count */
	uint32 count;
};

Cutter *
cutter_create(const LevelBuilder *builder, const Dictionary *values)
{
	Cutter *cutter = palloc0(sizeof(Cutter));
	char category;
	bool preferred;

	cutter->builder = builder;
	cutter->values = values;
	cutter->n = dictionary_size(values) - dictionary_has_null(values);
	cutter->order = lookup_type_cache(builder->column->type, TYPECACHE_CMP_PROC_FINFO);
	cutter->holders = builder->holders;
	get_type_category_preferred(builder->type, &category, &preferred);
	cutter->text = category == TYPCATEGORY_STRING;
	if (cutter->holders != NULL && cutter->holders->person != NULL)
		cutter->counted = palloc0(sizeof(uint32) * (Size) Max(cutter->holders->persons, 1));
	return cutter;
}

static int
compare(const Cutter *cutter, Datum a, Datum b)
{
	return DatumGetInt32(
		FunctionCall2Coll(&cutter->order->cmp_proc_finfo, cutter->builder->column->collation, a, b));
}

/* Adds the rows, or the persons who were not met in this count, that have a value; are they enough? */
static bool
count_holders(Cutter *cutter, uint32 code, int64 *met)
{
	const Holders *holders = cutter->holders;

	if (cutter->counted == NULL)
		*met += holders->rows[code];
	for (Size i = cutter->counted == NULL ? 0 : holders->first[code];
		 cutter->counted != NULL && i < holders->first[code + 1]; i++)
	{
		*met += cutter->counted[holders->person[i]] != cutter->count;
		cutter->counted[holders->person[i]] = cutter->count;
	}
	return *met >= holders->least;
}

static bool
is_between(const Cutter *cutter, Datum low, Datum cut, Datum high)
{
	return compare(cutter, low, cut) < 0 && compare(cutter, cut, high) < 0;
}

/* ---- numbers ---- */

static Numeric
as_numeric(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return int64_to_numeric(DatumGetInt16(value));
		case INT4OID:
			return int64_to_numeric(DatumGetInt32(value));
		case INT8OID:
			return int64_to_numeric(DatumGetInt64(value));
		case NUMERICOID:
			return DatumGetNumeric(value);
		default:
			return float_as_numeric(type, value);
	}
}

static Datum
of_numeric(Oid type, Numeric number)
{
	PGFunction function = type == INT2OID     ? numeric_int2
						  : type == INT4OID   ? numeric_int4
						  : type == INT8OID   ? numeric_int8
						  : type == FLOAT4OID ? numeric_float4
											  : numeric_float8;

	if (type == NUMERICOID)
		return DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(number));
	return DirectFunctionCall1(function, NumericGetDatum(number));
}

static bool
is_finite(Numeric number)
{
	return !numeric_is_nan(number) && !numeric_is_inf(number);
}

static Numeric
calculate(PGFunction function, Numeric a, Numeric b)
{
	return DatumGetNumeric(DirectFunctionCall2(function, NumericGetDatum(a), NumericGetDatum(b)));
}

/* The least multiple of 10^-digits above a number. */
static Numeric
next_decimal(Numeric low, int digits)
{
	Datum cut = DirectFunctionCall2(numeric_trunc, NumericGetDatum(low), Int32GetDatum(digits));
	Numeric step = DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(psprintf("1e%d", -digits)),
													   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));

	/* (trunc goes towards zero) */
	if (DatumGetBool(DirectFunctionCall2(numeric_gt, cut, NumericGetDatum(low))))
		return DatumGetNumeric(cut);
	return calculate(numeric_add, DatumGetNumeric(cut), step);
}

/* How many digits are before the point of the larger one, at most. */
static int
most_whole_digits(Numeric low, Numeric high)
{
	double most =
		Max(fabs(DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(low)))),
			fabs(DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(high)))));

	return isinf(most) ? 400 : most < 1 ? 1 : (int) log10(most) + 2;
}

/* Digits behind the point that are tried: of a float all there are. */
#define MOST_DIGITS 20

static bool
cut_numbers(const Cutter *cutter, Datum low, Datum high, Datum *cut)
{
	Oid type = cutter->builder->type;
	Numeric a = as_numeric(type, low), b = as_numeric(type, high);
	bool whole = type == INT2OID || type == INT4OID || type == INT8OID;

	if (!is_finite(a) || !is_finite(b))
		return false;
	for (int digits = -most_whole_digits(a, b); digits <= (whole ? 0 : MOST_DIGITS); digits++)
	{
		Numeric between = next_decimal(a, digits);

		if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(between), NumericGetDatum(b))) >=
			0)
			continue;
		*cut = of_numeric(type, between);
		return is_between(cutter, low, *cut, high);
	}
	return false;
}

/* ---- dates and times ---- */

static const struct
{
	const char *name;
	const char *length;
	bool of_dates;
} units[] = {{"millennium", "1000 years", true}, {"century", "100 years", true},
			 {"decade", "10 years", true},       {"year", "1 year", true},
			 {"month", "1 month", true},         {"day", "1 day", true},
			 {"hour", "1 hour", false},          {"minute", "1 minute", false},
			 {"second", "1 second", false},      {"milliseconds", "1 millisecond", false}};

/* Beyond these nothing is cut. */
#define FIRST_DAY (date2j(-2999, 1, 1) - POSTGRES_EPOCH_JDATE)
#define LAST_DAY (date2j(290000, 12, 31) - POSTGRES_EPOCH_JDATE)

static bool
cut_times(const Cutter *cutter, Datum low, Datum high, Datum *cut)
{
	bool dates = cutter->builder->type == DATEOID;
	Timestamp ends[2];

	for (int i = 0; i < 2; i++)
	{
		Datum end = i == 0 ? low : high;

		if (dates && (DatumGetDateADT(end) < FIRST_DAY || DatumGetDateADT(end) > LAST_DAY))
			return false;
		ends[i] = dates ? (Timestamp) DatumGetDateADT(end) * USECS_PER_DAY : DatumGetTimestamp(end);
		if (ends[i] < FIRST_DAY * USECS_PER_DAY || ends[i] > LAST_DAY * USECS_PER_DAY)
			return false;
	}
	for (int u = 0; u < (int) lengthof(units) && (units[u].of_dates || !dates); u++)
	{
		Datum begin = DirectFunctionCall2(timestamp_trunc, CStringGetTextDatum(units[u].name),
										  TimestampGetDatum(ends[0]));
		Datum length = DirectFunctionCall3(interval_in, CStringGetDatum(units[u].length),
										   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
		Timestamp next = DatumGetTimestamp(DirectFunctionCall2(timestamp_pl_interval, begin, length));

		if (next <= ends[0] || next >= ends[1])
			continue;
		*cut = dates ? DateADTGetDatum((DateADT) (next / USECS_PER_DAY)) : TimestampGetDatum(next);
		return true;
	}
	return false;
}

/* ---- texts ---- */

/* The shortest beginning of a value that is above the one before it, and that enough have. */
static bool
cut_texts(Cutter *cutter, uint32 code, Datum low, Datum high, Datum *cut)
{
	const LevelBuilder *builder = cutter->builder;
	char *text = builder_text(builder, high);
	int all = (int) strlen(text);

	for (int length = pg_mblen(text); length < all; length += pg_mblen(text + length))
	{
		Datum beginning =
			text_as_value(pnstrdup(text, length), builder->column->type, builder->column->typmod);
		int64 met = 0;

		if (!is_between(cutter, low, beginning, high))
			continue;
		cutter->count++;
		for (uint32 other = code; other < cutter->n; other++)
		{
			bool isnull;
			char *same = builder_text(builder, dictionary_value(cutter->values, other, &isnull));
			bool begins = strncmp(same, text, length) == 0;

			CHECK_FOR_INTERRUPTS();
			pfree(same);
			if (!begins)
				break;
			if (count_holders(cutter, other, &met))
			{
				*cut = beginning;
				return true;
			}
		}
		/* fewer still have a longer one */
		return false;
	}
	return false;
}

bool
cutter_may_cut_between(const Cutter *cutter)
{
	Oid type = cutter->builder->type;

	return cutter->text || type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID ||
		   type == INT2OID || type == INT4OID || type == INT8OID || type == NUMERICOID || type == FLOAT4OID ||
		   type == FLOAT8OID;
}

bool
cutter_cut(Cutter *cutter, uint32 code, Datum *cut)
{
	Oid type = cutter->builder->type;
	bool isnull;
	Datum low = dictionary_value(cutter->values, code - 1, &isnull);
	Datum high = dictionary_value(cutter->values, code, &isnull);
	int64 met = 0;

	*cut = high;
	cutter->count++;
	if (cutter->holders == NULL || count_holders(cutter, code, &met))
		return true;
	if (cutter->text)
		return cut_texts(cutter, code, low, high, cut);
	if (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID)
		return cut_times(cutter, low, high, cut);
	return cutter_may_cut_between(cutter) && cut_numbers(cutter, low, high, cut);
}
