/*
 * distributions.c: kanon_distributions: how many rows have which values, before and after, in
 * so few bars that k or more rows are behind each of them on either side.
 *
 * Numbers are counted by ranges whose bounds are round and as wide as the bulk of the values
 * asks for, so that no bound is somebody's value; the first and the last range are open.  In
 * other columns the most frequent values have a bar each.
 */
#include "compat.h"
#include "assess/assess.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/lines.h"
#include "rows/dictionary.h"
#include "options/request.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_distributions);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE,
	ARG_TARGET,
	ARG_QIS,
	ARG_K,
	ARG_KEEP,
	ARG_HIERARCHIES
};

#define MOST_BARS 12
#define MOST_BINS 40

/* The unit of a range's bounds. */
typedef enum Unit
{
	UNIT_NONE, /* no ranges: values */
	UNIT_WHOLE,
	UNIT_REAL,
	UNIT_DAY,
	UNIT_MONTH,
	UNIT_YEAR
} Unit;

typedef struct Bar
{
	double before, after;
} Bar;

/* Ranges as wide as step, from first * step on. */
typedef struct Bins
{
	Unit unit;
	double step;
	double first;
	int n;
	Bar bars[MOST_BINS];
	bool below, above; /* there are values outside, which are in the first and the last one */
} Bins;

static void
put(Lines *lines, const SourceColumn *column, const char *bar, Bar rows)
{
	line_name(lines, column->name);
	line_text(lines, bar);
	line_float8(lines, rows.before, true);
	line_float8(lines, rows.after, true);
	line_end(lines);
}

static bool
enough(Bar bar, int64 k)
{
	return bar.before >= (double) k - 1e-9 && bar.after >= (double) k - 1e-9;
}

/* ---- ranges ---- */

/* A number in the unit; NaN: it has no place. */
static double
in_unit(Unit unit, double number)
{
	struct pg_tm tm;
	fsec_t fsec;

	if (!isfinite(number))
		return NAN;
	if (unit == UNIT_WHOLE || unit == UNIT_REAL)
		return number;
	if (unit == UNIT_DAY)
		return floor(number / USECS_PER_DAY);
	if (number < (double) MIN_TIMESTAMP || number >= (double) END_TIMESTAMP ||
		timestamp2tm((Timestamp) number, NULL, &tm, &fsec, NULL, NULL) != 0)
		return NAN;
	return unit == UNIT_YEAR ? tm.tm_year : tm.tm_year * 12.0 + tm.tm_mon - 1;
}

/* A bound, or, for what is counted in whole units, the last one before it. */
static char *
bound_text(Unit unit, double bound)
{
	switch (unit)
	{
		case UNIT_DAY:
			return DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum((DateADT) bound)));
		case UNIT_MONTH:
			return psprintf("%04d-%02d", (int) floor(bound / 12), (int) (bound - 12 * floor(bound / 12)) + 1);
		case UNIT_NONE:
		case UNIT_WHOLE:
		case UNIT_REAL:
		case UNIT_YEAR:
			break;
	}
	return psprintf("%.12g", bound);
}

/* From bin a to bin b. */
static char *
range_text(const Bins *bins, int a, int b)
{
	double low = (bins->first + a) * bins->step, high = (bins->first + b + 1) * bins->step;
	bool date = bins->unit >= UNIT_DAY;
	bool below = a == 0 && bins->below, above = b == bins->n - 1 && bins->above;

	if (below && above)
		return "all together";
	if (below)
		return psprintf("%s %s", date ? "before" : "below", bound_text(bins->unit, high));
	if (above)
		return psprintf("%s or %s", bound_text(bins->unit, low), date ? "later" : "more");
	if (bins->unit == UNIT_REAL)
		return psprintf("%s to below %s", bound_text(bins->unit, low), bound_text(bins->unit, high));
	if (high - low == 1)
		return bound_text(bins->unit, low);
	return psprintf("%s to %s", bound_text(bins->unit, low), bound_text(bins->unit, high - 1));
}

/* 1, 2 or 5 by a power of ten, so that about ten of them are as wide. */
static double
round_step(double width)
{
	double power = pow(10, floor(log10(width / 10)));
	double times = width / 10 / power;

	return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

/* Between which values nine tenths of the rows of the source are. */
static bool
bulk(const KanonColumn *values, const double *before, double *low, double *high)
{
	double rows = 0, seen = 0;
	bool any = false;

	for (uint32 v = 0; v < values->distinct; v++)
		rows += isfinite(values->number[v]) ? before[v] : 0;
	for (uint32 v = 0; v < values->distinct; v++)
	{
		if (!isfinite(values->number[v]))
			continue;
		seen += before[v];
		if (!any && seen >= 0.05 * rows)
		{
			*low = values->number[v];
			any = true;
		}
		*high = values->number[v];
		if (seen >= 0.95 * rows)
			break;
	}
	return any;
}

static Unit
unit_of(Oid type, double low, double high)
{
	double days = (high - low) / USECS_PER_DAY;

	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return UNIT_WHOLE;
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return UNIT_REAL;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return days > 1100 ? UNIT_YEAR : days > 100 ? UNIT_MONTH : UNIT_DAY;
	}
	return UNIT_NONE;
}

static bool
make_bins(Bins *bins, Oid type, const KanonColumn *values, const double *before, const double *after)
{
	double low = 0, high = 0;

	memset(bins, 0, sizeof(Bins));
	if (values->number == NULL || !bulk(values, before, &low, &high))
		return false;
	bins->unit = unit_of(type, low, high);
	if (bins->unit == UNIT_NONE)
		return false;
	low = in_unit(bins->unit, low);
	high = in_unit(bins->unit, high);
	if (isnan(low) || isnan(high))
		return false;
	bins->step = high > low ? round_step(high - low) : 1;
	if (bins->unit != UNIT_REAL)
		bins->step = Max(bins->step, 1);
	bins->first = floor(low / bins->step);
	bins->n = (int) Min(floor(high / bins->step) - bins->first + 1, MOST_BINS);
	for (uint32 v = 0; v < values->distinct; v++)
	{
		double at = in_unit(bins->unit, values->number[v]);
		double bin = floor(at / bins->step) - bins->first;

		if (isnan(at) || (before[v] == 0 && after[v] == 0))
			continue;
		bins->below |= bin < 0;
		bins->above |= bin > bins->n - 1;
		bin = Max(Min(bin, bins->n - 1), 0);
		bins->bars[(int) bin].before += before[v];
		bins->bars[(int) bin].after += after[v];
	}
	return true;
}

/*
 * Data that begin or end within a year, month or day give it a bar that looks like a slump: it
 * joins its neighbour, and the text says that the range is open.
 */
static int
join_ends(Bins *bins, int *begins, Bar *sums, int n)
{
	if (n > 2 && 2 * sums[n - 1].before < sums[n - 2].before)
	{
		n--;
		sums[n - 1].before += sums[n].before;
		sums[n - 1].after += sums[n].after;
		begins[n] = begins[n + 1];
		bins->above = true;
	}
	if (n > 2 && 2 * sums[0].before < sums[1].before)
	{
		n--;
		sums[1].before += sums[0].before;
		sums[1].after += sums[0].after;
		memmove(sums, sums + 1, sizeof(Bar) * n);
		memmove(begins + 1, begins + 2, sizeof(int) * n);
		bins->below = true;
	}
	return n;
}

/* Neighbours together until there are enough; what is left at the end goes to the last. */
static void
put_bins(Lines *lines, const SourceColumn *column, Bins *bins, int64 k)
{
	int begins[MOST_BINS + 1];
	Bar sums[MOST_BINS], sum = {0, 0};
	int n = 0;

	begins[0] = 0;
	for (int b = 0; b < bins->n; b++)
	{
		sum.before += bins->bars[b].before;
		sum.after += bins->bars[b].after;
		if (!enough(sum, k))
			continue;
		sums[n] = sum;
		sum = (Bar){0, 0};
		begins[++n] = b + 1;
	}
	if (n == 0)
		return;
	sums[n - 1].before += sum.before;
	sums[n - 1].after += sum.after;
	begins[n] = bins->n;
	if (bins->unit >= UNIT_DAY)
		n = join_ends(bins, begins, sums, n);
	for (int i = 0; i < n; i++)
		put(lines, column, range_text(bins, begins[i], begins[i + 1] - 1), sums[i]);
}

/* ---- values ---- */

typedef struct Named
{
	uint32 code;
	Bar bar;
} Named;

static int
compare_named(const void *a, const void *b)
{
	const Named *x = a, *y = b;

	if (x->bar.before != y->bar.before)
		return x->bar.before > y->bar.before ? -1 : 1;
	return (x->code > y->code) - (x->code < y->code);
}

static char *
value_text(const SourceColumn *column, uint32 code)
{
	Oid function;
	bool isvarlena, isnull;
	Datum value = dictionary_value(column->dictionary, code, &isnull);

	if (isnull)
		return "(empty)";
	getTypeOutputInfo(column->type, &function, &isvarlena);
	return pstrdup(excerpt(OidOutputFunctionCall(function, value)));
}

/* The most frequent ones, and the others together, if these are enough, too. */
static void
put_named(Lines *lines, const SourceColumn *column, Named *named, uint32 count, int64 k)
{
	Bar others = {0, 0};
	uint32 n = 0;

	qsort(named, count, sizeof(Named), compare_named);
	/* a frequent value that the target hardly shows takes no bar away from those after it */
	for (uint32 i = 0; i < count; i++)
	{
		if (n < MOST_BARS && enough(named[i].bar, k))
			named[n++] = named[i];
		else
		{
			others.before += named[i].bar.before;
			others.after += named[i].bar.after;
		}
	}
	/* what would be left over is told by the sum of all */
	while (n > 0 && n < count && !enough(others, k))
	{
		n--;
		others.before += named[n].bar.before;
		others.after += named[n].bar.after;
	}
	for (uint32 i = 0; i < n; i++)
		put(lines, column, value_text(column, named[i].code), named[i].bar);
	if (n < count && enough(others, k))
		put(lines, column, n == 0 ? "all together" : "all others", others);
}

static void
put_column(Lines *lines, const Compared *compared, int c, int64 k)
{
	const SourceColumn *column = &compared->source->qis[c];
	const KanonColumn *values = &compared->rows->grouped[c];
	Border *border = compared->border;
	double *before = border_palloc(border, sizeof(double) * values->distinct);
	double *after = border_palloc(border, sizeof(double) * values->distinct);
	uint32 null = values->distinct - 1;
	Bins bins;

	compare_shares(compared, c, before, after);
	if (make_bins(&bins, column->type, values, before, after))
	{
		put_bins(lines, column, &bins, k);
		if (values->has_null && enough((Bar){before[null], after[null]}, k))
			put(lines, column, "(empty)", (Bar){before[null], after[null]});
	}
	else
	{
		Named *named = border_palloc(border, sizeof(Named) * values->distinct);

		for (uint32 v = 0; v < values->distinct; v++)
			named[v] = (Named){v, {before[v], after[v]}};
		put_named(lines, column, named, values->distinct, k);
		border_pfree(border, named);
	}
	border_pfree(border, before);
	border_pfree(border, after);
}

/* kanon_distributions(source, target, quasi_identifiers, k, keep, hierarchies) */
Datum
kanon_distributions(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Compared *compared;
	int64 k;
	int nest;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table that was published.");
	refuse_null(fcinfo, ARG_TARGET, "target", "Name what was published of it.");
	k = k_arg(fcinfo, ARG_K, 1, "How many rows have to be behind each bar.");
	lines = lines_begin(fcinfo);
	SPI_connect();
	compared = compare_read(
		PG_GETARG_OID(ARG_SOURCE), PG_GETARG_OID(ARG_TARGET), array_arg(fcinfo, ARG_QIS),
		array_arg(fcinfo, ARG_KEEP),
		hierarchies_asked(fcinfo, ARG_HIERARCHIES, PG_GETARG_OID(ARG_TARGET), array_arg(fcinfo, ARG_QIS)),
		false, "kanon_distributions");
	nest = plain_text_begin();
	for (int c = 0; c < compared->n; c++)
		put_column(lines, compared, c, k);
	plain_text_end(nest);
	MemoryContextDelete(compared->border->context);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
