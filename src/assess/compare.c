/*
 * compare.c: kanon_compare: how far a published table is from its source, for a reader who analyses it:
 * distributions, means and spreads by column, correlations, and counts.
 *
 * The distance of two distributions is the total variation; of numbers and dates it is the earth mover's distance in
 * the order of the values (as t-closeness has both: Li, Li, Venkatasubramanian, ICDE 2007).  The distance of
 * correlation matrices is 1 - tr(A B) / (|A| |B|) (Herdin, Czink, Ozcelik, Bonek, "Correlation matrix distance", VTC
 * 2005).
 */
#include "compat.h"
#include "assess/assess.h"
#include "host/lines.h"
#include "core/model/model.h"
#include "rows/dictionary.h"
#include "options/request.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_compare);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE,
	ARG_TARGET,
	ARG_QIS,
	ARG_KEEP,
	ARG_HIERARCHIES,
	ARG_QUERIES,
	ARG_SELECTIVITY,
	ARG_SEED
};

#define MOST_QUERIES 1000000

/* How much of a cell is a number, the mean of these, less the center, and that of their squares. */
typedef struct Moments
{
	double part, x, xx;
} Moments;

/* A column of numbers; dates and times are seconds, as extract(epoch) has them. */
typedef struct Numbers
{
	int column;
	double center;
	Moments *sums;     /* [distinct + 1] of the values before this one */
	const double *own; /* of the target's cells, when they are values; as in the dictionary */
	double unit, origin;
	double low, high; /* between which the source's data is, as in the dictionary */
} Numbers;

static void
put(Lines *lines, const char *measure, const char *column, const double *before, const double *after,
	double value, const char *meaning)
{
	line_text(lines, measure);
	line_name(lines, column);
	line_float8(lines, before != NULL ? *before : 0, before != NULL && isfinite(*before));
	line_float8(lines, after != NULL ? *after : 0, after != NULL && isfinite(*after));
	line_float8(lines, value, isfinite(value));
	line_text(lines, meaning);
	line_end(lines);
}

/* ---- numbers ---- */

static Moments
of_number(const Numbers *numbers, double number)
{
	double x = numbers->high > numbers->low && kanon_is_far(numbers->low, numbers->high, number)
				   ? INFINITY
				   : number / numbers->unit + numbers->origin - numbers->center;

	return isfinite(x) ? (Moments){1, x, x * x} : (Moments){0, 0, 0};
}

/* Outliers far from the source's data have no part in its figures. */
static void
near_data(Numbers *numbers, const KanonColumn *values, Border *border)
{
	const double *data = numbers_of_data(values->number, values->distinct, border->context);

	numbers->low = INFINITY;
	numbers->high = -INFINITY;
	for (uint32 v = 0; data != values->number && v < values->distinct; v++)
		if (isfinite(data[v]))
		{
			numbers->low = fmin(numbers->low, data[v]);
			numbers->high = fmax(numbers->high, data[v]);
		}
}

static void
set_up(Numbers *numbers, const Compared *compared, int column, const double *before)
{
	const KanonColumn *values = &compared->rows->grouped[column];
	Oid type = getBaseType(compared->source->qis[column].type);
	bool stamp = type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
	bool clock = type == TIMEOID || type == TIMETZOID || type == INTERVALOID;
	double sum = 0, rows = 0;

	*numbers = (Numbers){.column = column, .unit = 1};
	if (stamp || clock)
		numbers->unit = USECS_PER_SEC;
	if (stamp)
		numbers->origin = (double) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
	if (compared->source->qis[column].show_as == SHOW_AS_VALUE)
		numbers->own = compared->records->grouped[column].number;
	near_data(numbers, values, compared->border);
	numbers->sums = border_palloc(compared->border, sizeof(Moments) * ((Size) values->distinct + 1));
	/* squares of what is far from 0 would lose their last digits */
	for (uint32 v = 0; v < values->distinct; v++)
	{
		Moments m = of_number(numbers, values->number[v]);

		sum += before[v] * m.x;
		rows += before[v] * m.part;
	}
	numbers->center = rows > 0 ? sum / rows : 0;
	numbers->sums[0] = (Moments){0, 0, 0};
	for (uint32 v = 0; v < values->distinct; v++)
	{
		Moments m = of_number(numbers, values->number[v]);
		const Moments *last = &numbers->sums[v];

		numbers->sums[v + 1] = (Moments){last->part + m.part, last->x + m.x, last->xx + m.xx};
	}
}

static void
add(Moments *sum, const Numbers *numbers, uint32 first, uint32 n)
{
	const Moments *a = &numbers->sums[first], *b = &numbers->sums[first + n];

	sum->part += b->part - a->part;
	sum->x += b->x - a->x;
	sum->xx += b->xx - a->xx;
}

/* Moments of a row of the source, or of a record of the target. */
static Moments
cell_moments(const Compared *compared, const Numbers *numbers, bool after, uint32 i)
{
	int c = numbers->column;
	Moments sum = {0, 0, 0};
	Spread spread = {1, 0, NULL};

	if (after && numbers->own != NULL)
	{
		uint32 code = compared->records->grouped[c].code[i];
		bool null =
			compared->records->grouped[c].has_null && code == compared->records->grouped[c].distinct - 1;

		/* it may be one that the source does not have */
		if (!null)
			return of_number(numbers, numbers->own[code]);
	}
	if (after)
		spread = compare_spread(compared, i, c);
	else
		spread.first = compared->rows->grouped[c].code[i];
	if (spread.n == 0)
		return sum;
	if (spread.codes == NULL)
		add(&sum, numbers, spread.first, spread.n);
	else
		for (uint32 j = 0; j < spread.n; j++)
			add(&sum, numbers, spread.codes[j], 1);
	return (Moments){sum.part / spread.n, sum.x / spread.n, sum.xx / spread.n};
}

/* As compared, or as an analyst's AVG has it, who leaves empty cells out. */
static void
mean_and_spread(const Compared *compared, const Numbers *numbers, bool after, bool shown, double *mean,
				double *spread)
{
	const RowTypes *types = after ? compared->records : compared->rows;
	Moments sum = {0, 0, 0};

	for (uint32 i = 0; i < types->ntypes; i++)
	{
		Moments m;

		if (after && shown &&
			compared->release->cells[(Size) i * compared->n + numbers->column].show == KANON_SHOW_NOTHING)
			continue;
		m = cell_moments(compared, numbers, after, i);
		double rows = after ? compare_weight(compared, i) : (double) types->rows[i];

		sum.part += rows * m.part;
		sum.x += rows * m.x;
		sum.xx += rows * m.xx;
	}
	*mean = sum.part > 0 ? numbers->center + sum.x / sum.part : NAN;
	*spread = sum.part > 0 ? sqrt(Max(sum.xx / sum.part - sum.x / sum.part * (sum.x / sum.part), 0)) : NAN;
}

/* The correlation of two columns over the rows with numbers in both; 0 when one column is constant. */
static double
correlation(const Compared *compared, const Numbers *one, const Numbers *other, bool after)
{
	const RowTypes *types = after ? compared->records : compared->rows;
	double w = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0, product;

	for (uint32 i = 0; i < types->ntypes; i++)
	{
		Moments a = cell_moments(compared, one, after, i);
		Moments b = cell_moments(compared, other, after, i);
		double rows = after ? compare_weight(compared, i) : (double) types->rows[i];

		w += rows * a.part * b.part;
		x += rows * a.x * b.part;
		y += rows * a.part * b.x;
		xx += rows * a.xx * b.part;
		yy += rows * a.part * b.xx;
		xy += rows * a.x * b.x;
	}
	if (w == 0)
		return 0;
	product = (xx / w - x / w * (x / w)) * (yy / w - y / w * (y / w));
	return product > 0 ? (xy / w - x / w * (y / w)) / sqrt(product) : 0;
}

static void
put_correlations(Lines *lines, const Compared *compared, const Numbers *numbers, int n)
{
	/* the ones of the diagonals */
	double trace = n, before = n, after = n;

	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
		{
			double a = correlation(compared, &numbers[i], &numbers[j], false);
			double b = correlation(compared, &numbers[i], &numbers[j], true);

			CHECK_FOR_INTERRUPTS();
			trace += 2 * a * b;
			before += 2 * a * a;
			after += 2 * b * b;
		}
	put(lines, "correlation_matrix_distance", NULL, NULL, NULL,
		n > 1 ? Max(1 - trace / sqrt(before * after), 0) : NAN,
		"0: the columns of numbers correlate as they did; 1: no correlation is left; NULL: there is at most one such column");
}

/* ---- distributions ---- */

static void
put_column(Lines *lines, const Compared *compared, int c, Numbers *numbers, bool *numerical)
{
	const SourceColumn *column = &compared->source->qis[c];
	const KanonColumn *values = &compared->rows->grouped[c];
	double *before = border_palloc(compared->border, sizeof(double) * values->distinct);
	double *after = border_palloc(compared->border, sizeof(double) * values->distinct);
	double rows = (double) compared->rows->nrows, records = compare_records(compared);
	double apart = 0, found = 0, ahead = 0, moved = 0;

	compare_shares(compared, c, before, after);
	for (uint32 v = 0; v < values->distinct; v++)
	{
		double p = before[v] / rows, q = after[v] / records;

		apart += fabs(p - q);
		found += q;
		ahead += p - q;
		if (v + 1 < values->distinct)
			moved += fabs(ahead);
	}
	if (rows == 0 || records == 0)
		apart = moved = NAN;
	else if (fabs(1 - found) > 1e-9)
	{
		/* values that the source does not have, which are nowhere in its order */
		apart += 1 - found;
		moved = NAN;
	}
	put(lines, "distribution_distance", column->name, NULL, NULL, apart / 2,
		"share of the rows that would have to change their value (total variation): 0 the same, 1 nothing in common");
	*numerical = column->numerical;
	if (*numerical)
	{
		double means[2], spreads[2];

		put(lines, "distribution_distance_ordered", column->name, NULL, NULL,
			values->distinct > 1 ? moved / (values->distinct - 1) : 0 * moved,
			"how far values would have to move in their order (earth mover's distance); NULL: to values that the source does not have");
		set_up(numbers, compared, c, before);
		for (int side = 0; side < 2; side++)
			mean_and_spread(compared, numbers, side == 1, false, &means[side], &spreads[side]);
		put(lines, "mean", column->name, &means[0], &means[1], means[1] - means[0],
			"of the numbers; of dates and times in seconds, as extract(epoch) has them");
		put(lines, "standard_deviation", column->name, &spreads[0], &spreads[1], spreads[1] - spreads[0],
			"of the same");
		mean_and_spread(compared, numbers, true, true, &means[1], &spreads[1]);
		put(lines, "mean_of_shown_cells", column->name, &means[0], &means[1], means[1] - means[0],
			"the mean again, without the empty cells of the target, as avg() leaves them out");
	}
	border_pfree(compared->border, before);
	border_pfree(compared->border, after);
}

/* ---- counts ---- */

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static void
put_queries(Lines *lines, const Compared *compared, int queries, double selectivity, uint64 seed)
{
	double *errors = border_palloc(compared->border, sizeof(double) * Max(queries, 1));
	int n = compare_queries(compared, queries, selectivity, seed, errors);
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += errors[i];
	qsort(errors, n, sizeof(double), compare_doubles);
	put(lines, "queries", NULL, NULL, NULL, n,
		"counts of rows by random ranges and sets of values that the source has");
	put(lines, "query_error_average", NULL, NULL, NULL, n > 0 ? sum / n : NAN,
		"how far the target's count is from the source's, as a share of that");
	put(lines, "query_error_median", NULL, NULL, NULL,
		n > 0 ? (errors[(n - 1) / 2] + errors[n / 2]) / 2 : NAN, "of half of these counts at most");
}

/* kanon_compare(source, target, quasi_identifiers, keep, hierarchies, queries, selectivity, seed) */
Datum
kanon_compare(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Compared *compared;
	Numbers *numbers;
	int queries, n = 0;
	double selectivity, rows, records;
	uint64 seed;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table that was published.");
	refuse_null(fcinfo, ARG_TARGET, "target", "Name what was published of it.");
	refuse_null(fcinfo, ARG_QUERIES, "queries", "1000 is the default.");
	refuse_null(fcinfo, ARG_SELECTIVITY, "selectivity", "0.05 is the default.");
	queries = PG_GETARG_INT32(ARG_QUERIES);
	selectivity = PG_GETARG_FLOAT8(ARG_SELECTIVITY);
	if (queries < 0 || queries > MOST_QUERIES)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("queries must be between 0 and %d", MOST_QUERIES),
						errhint("It is how many counts are compared; 1000 is the default.")));
	if (!(selectivity > 0 && selectivity <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("selectivity must be above 0 and at most 1"),
				 errhint("It is the share of the rows that a query is to find; 0.05 is the default.")));
	seed =
		PG_ARGISNULL(ARG_SEED) ? pg_prng_uint64(&pg_global_prng_state) : (uint64) PG_GETARG_INT64(ARG_SEED);
	lines = lines_begin(fcinfo);
	SPI_connect();
	compared = compare_read(
		PG_GETARG_OID(ARG_SOURCE), PG_GETARG_OID(ARG_TARGET), array_arg(fcinfo, ARG_QIS),
		array_arg(fcinfo, ARG_KEEP),
		hierarchies_asked(fcinfo, ARG_HIERARCHIES, PG_GETARG_OID(ARG_TARGET), array_arg(fcinfo, ARG_QIS)),
		true, "kanon_compare");
	numbers = border_palloc(compared->border, sizeof(Numbers) * compared->n);
	rows = (double) compared->rows->nrows;
	records = compare_records(compared);
	put(lines, "rows", NULL, &rows, &records, records - rows, "of the source, and of what was published");
	for (int c = 0; c < compared->n; c++)
	{
		bool numerical;

		put_column(lines, compared, c, &numbers[n], &numerical);
		n += numerical;
	}
	put_correlations(lines, compared, numbers, n);
	put_queries(lines, compared, queries, selectivity, seed);
	MemoryContextDelete(compared->border->context);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
