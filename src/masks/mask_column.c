/*
 * mask_column.c: masks that need to know all of a column before the first row is masked.
 *
 * noise: a normal number with a share of the column's standard deviation is added (J. J. Kim, "A method for
 * limiting disclosure in microdata based on random noise and transformation", ASA Survey Research Methods, 1986).
 * swap: rank swapping: each value changes places with one at most so many per cent of the ranks away (R. Moore,
 * "Controlled data-swapping techniques for masking public use microdata sets", US Bureau of the Census, 1996).
 * pram: a value stays with some probability, else one is drawn from the column: the distribution is expected to
 * stay (P. P. de Wolf, J. M. Gouweleeuw, P. Kooiman, L. Willenborg, "Reflections on PRAM", 1998).
 * Or a matrix says how likely each value becomes each other one.
 * microaggregate: means (or medians) of groups of at least k neighbours with the least sum of squares
 * (core/cluster/microaggregate.c); equal values share a group.
 */
#include "compat.h"
#include "core/cluster/clustering.h"
#include "host/border.h"
#include "masks/mask_apply.h"
#include "rows/dictionary.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

bool
mask_of_column(const Mask *mask)
{
	return mask->person == NULL && (mask->kind == MASK_NOISE || mask->kind == MASK_SWAP ||
									mask->kind == MASK_PRAM || mask->kind == MASK_MICROAGGREGATE);
}

const char *
mask_column_read(Mask *mask, double number)
{
	mask->share = number;
	switch (mask->kind)
	{
		case MASK_NOISE:
			if (mask->person != NULL)
				return number > 0 && !isinf(number) ? NULL : "a standard deviation above 0, beside \"by\"";
			return number > 0 && number <= 10 ? NULL
											  : "a share of the standard deviation, above 0 and at most 10";
		case MASK_SWAP:
			return number > 0 && number <= 100 ? NULL : "a per cent of the ranks, above 0 and at most 100";
		case MASK_PRAM:
			return number >= 0 && number < 1 ? NULL : "the probability that a value stays, from 0 to below 1";
		case MASK_MICROAGGREGATE:
			return number >= 2 && number <= 1000000 && number == rint(number)
					   ? NULL
					   : "the least number of rows of a group, 2 or more";
		case MASK_PSEUDONYM:
		case MASK_NUMBER:
		case MASK_PARTIAL:
		case MASK_SHIFT:
		case MASK_CONSTANT:
		case MASK_ANON:
			break;
	}
	elog(ERROR, "this mask has no number");
}

static double
uniform(RandomPool *pool)
{
	return (double) (random_draw(pool) >> 11) / 9007199254740992.0;
}

static int64
below(MaskColumn *column, int64 bound)
{
	return (int64) (random_draw(&column->pool) % (uint64) bound);
}

/* Box and Muller's way to a normal number. */
static double
normal(uint64 one, uint64 other)
{
	double u = 1 - (double) (one >> 11) / 9007199254740992.0, v = (double) (other >> 11) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

double
mask_normal(RandomPool *pool)
{
	uint64 one = random_draw(pool);

	return normal(one, random_draw(pool));
}

/* ---- what the column has ---- */

void
mask_column_begin(Mask *mask, Border *border)
{
	const TypeCacheEntry *entry = lookup_type_cache(mask->base, TYPECACHE_LT_OPR);

	mask->whole = MemoryContextAllocZero(border->context, sizeof(MaskColumn));
	mask->whole->border = border;
	if (!OidIsValid(entry->lt_opr))
		elog(ERROR, "a masked column has no order");
	mask->whole->sort = tuplesort_begin_datum(mask->base, entry->lt_opr, mask->column->collation, false,
											  work_mem, NULL, TUPLESORT_NONE);
}

void
mask_column_note(Mask *mask, Datum value)
{
	tuplesort_putdatum(mask->whole->sort, value, false);
	mask->whole->rows++;
}

static Datum
keep_value(const Mask *mask, Datum value)
{
	Size size;
	void *copy;

	if (mask->byval)
		return value;
	if (mask->length == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	size = datumGetSize(value, false, mask->length);
	copy = border_palloc(mask->whole->border, size);
	memcpy(copy, DatumGetPointer(value), size);
	return PointerGetDatum(copy);
}

static int
compare(const Mask *mask, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(mask->compare, mask->column->collation, a, b));
}

/* Different values, from the sorted ones of all rows. */
static void
read_values(Mask *mask)
{
	MaskColumn *column = mask->whole;
	Size room = 0, room_first = 0;
	int64 rank = 0;
	Datum value;
	bool isnull;

	tuplesort_performsort(column->sort);
	while (kanon_getdatum(column->sort, &value, &isnull))
	{
		if (rank % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		if (column->n == 0 || compare(mask, column->value[column->n - 1], value) != 0)
		{
			column->value = border_grow(column->border, column->value, &room, column->n + 1, sizeof(Datum));
			column->first =
				border_grow(column->border, column->first, &room_first, column->n + 2, sizeof(int64));
			column->value[column->n] = keep_value(mask, value);
			column->first[column->n++] = rank;
		}
		rank++;
	}
	if (column->n > 0)
		column->first[column->n] = rank;
	tuplesort_end(column->sort);
	column->sort = NULL;
}

/* The place among the values of the rank, or of the value. */
static uint32
value_at(const MaskColumn *column, int64 rank)
{
	uint32 low = 0, high = column->n;

	while (high - low > 1)
	{
		uint32 middle = low + (high - low) / 2;

		if (column->first[middle] <= rank)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32
place_of(const Mask *mask, Datum value)
{
	const MaskColumn *column = mask->whole;
	uint32 low = 0, high = column->n;

	while (high - low > 1)
	{
		uint32 middle = low + (high - low) / 2;

		if (compare(mask, column->value[middle], value) <= 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* For types without numbers it is the middle of the value's ranks. */
static double *
read_numbers(const Mask *mask)
{
	const MaskColumn *column = mask->whole;
	double *number = border_palloc(column->border, sizeof(double) * (Size) Max(column->n, 1));

	for (uint32 i = 0; i < column->n; i++)
	{
		if (!mask->number_type)
		{
			number[i] = (double) (column->first[i] + column->first[i + 1] - 1) / 2;
			continue;
		}
		number[i] = value_as_number(mask->base, column->value[i]);
		if (isnan(number[i]) || isinf(number[i]))
			ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
							errmsg("masked column \"%s\" has infinity or NaN", mask->column->name),
							errhint("Take it out in a view of the source.")));
	}
	return number;
}

/* ---- before the first row ---- */

static void
find_deviation(MaskColumn *column, const double *number)
{
	double mean = 0, squares = 0;

	for (uint32 i = 0; i < column->n; i++)
		mean += number[i] * (double) (column->first[i + 1] - column->first[i]) / (double) column->rows;
	for (uint32 i = 0; i < column->n; i++)
		squares +=
			(number[i] - mean) * (number[i] - mean) * (double) (column->first[i + 1] - column->first[i]);
	column->deviation = column->rows > 1 ? sqrt(squares / (double) (column->rows - 1)) : 0;
}

/* From the lowest rank on: with one above it, near enough, that has not changed places yet. */
static void
swap_ranks(Mask *mask)
{
	MaskColumn *column = mask->whole;
	int64 window = Max((int64) (mask->share / 100 * (double) column->rows), 1);

	column->partner = border_palloc(column->border, sizeof(int64) * (Size) Max(column->rows, 1));
	column->next = border_palloc(column->border, sizeof(int64) * (Size) Max(column->n, 1));
	for (uint32 i = 0; i < column->n; i++)
		column->next[i] = column->first[i];
	for (int64 i = 0; i < column->rows; i++)
		column->partner[i] = -1;
	for (int64 i = 0; i < column->rows; i++)
	{
		int64 last = Min(i + window, column->rows - 1), other = -1;

		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		if (column->partner[i] >= 0)
			continue;
		for (int tries = 0; tries < 32 && last > i && other < 0; tries++)
		{
			int64 drawn = i + 1 + below(column, last - i);

			other = column->partner[drawn] < 0 ? drawn : -1;
		}
		for (int64 j = last; j > i && other < 0; j--)
			other = column->partner[j] < 0 ? j : -1;
		if (other < 0)
			other = i;
		column->partner[i] = other;
		column->partner[other] = i;
	}
}

/* A number as a value of the column's type. */
Datum
mask_number_value(const Mask *mask, double number)
{
	switch (mask->base)
	{
		case INT2OID:
			return Int16GetDatum((int16) fmin(fmax(rint(number), PG_INT16_MIN), PG_INT16_MAX));
		case INT4OID:
			return Int32GetDatum((int32) fmin(fmax(rint(number), PG_INT32_MIN), PG_INT32_MAX));
		case INT8OID:
			return Int64GetDatum((int64) fmin(fmax(rint(number), -9.2e18), 9.2e18));
		case FLOAT4OID:
			return Float4GetDatum((float4) number);
		case FLOAT8OID:
			return Float8GetDatum(number);
		default:
			return DirectFunctionCall1(float8_numeric, Float8GetDatum(number));
	}
}

/* The mean, or the lower one of the values in the middle. */
static Datum
group_value(const Mask *mask, const double *sum, uint32 from, uint32 to, double zero)
{
	const MaskColumn *column = mask->whole;
	double mean = zero + (sum[to] - sum[from]) / (double) (column->first[to] - column->first[from]);

	if (mask->median)
		return column->value[value_at(column, (column->first[from] + column->first[to] - 1) / 2)];
	return keep_value(mask, mask_number_value(mask, mean));
}

static void
find_means(Mask *mask, const double *number)
{
	MaskColumn *column = mask->whole;
	Border *border = column->border;
	double *sum = border_palloc(border, sizeof(double) * ((Size) column->n + 1));
	int64 *rows = border_palloc(border, sizeof(int64) * (Size) Max(column->n, 1));
	uint32 *from = border_palloc(border, sizeof(uint32) * ((Size) column->n + 1));

	if (column->rows > 0 && (double) column->rows < mask->share)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("masked column \"%s\" has fewer values than a group must have", mask->column->name),
				 errhint("Lower \"microaggregate\", or mask it by {\"constant\": null}.")));
	sum[0] = 0;
	for (uint32 i = 0; i < column->n; i++)
	{
		rows[i] = column->first[i + 1] - column->first[i];
		sum[i + 1] = sum[i] + (double) rows[i] * (number[i] - number[0]);
	}
	column->mean = border_palloc(border, sizeof(Datum) * (Size) Max(column->n, 1));
	border_check(border, kanon_group_sorted(&border->env, number, rows, column->n, (int64) mask->share, from),
				 "");
	for (uint32 to = column->n; to > 0; to = from[to])
	{
		Datum value = group_value(mask, sum, from[to], to, number[0]);

		for (uint32 i = from[to]; i < to; i++)
			column->mean[i] = value;
	}
	border_pfree(border, sum);
	border_pfree(border, rows);
	border_pfree(border, from);
}

/* The matrix' row of a value. */
static int
find_state(const Mask *mask, Datum value)
{
	const MaskMatrix *matrix = mask->matrix;
	int s = 0;

	while (s < matrix->n && compare(mask, matrix->value[s], value) != 0)
		s++;
	if (s == matrix->n)
		ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
						errmsg("masked column \"%s\" has a value that the matrix of \"pram\" does not name",
							   mask->column->name),
						errhint("Give each value of the column a row of the matrix.")));
	return s;
}

static void
find_chances(Mask *mask)
{
	MaskColumn *column = mask->whole;

	column->state = border_palloc(column->border, sizeof(int) * (Size) Max(column->n, 1));
	for (uint32 i = 0; i < column->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		column->state[i] = find_state(mask, column->value[i]);
	}
}

/* By the matrix: the first value up to which the chances come to what is drawn. */
static Datum
drawn_by_matrix(const Mask *mask, int state, double left)
{
	const MaskMatrix *matrix = mask->matrix;
	const double *chance = &matrix->chance[state * matrix->n];
	int last = state;

	for (int s = 0; s < matrix->n; s++)
	{
		if (chance[s] == 0)
			continue;
		last = s;
		if (left < chance[s])
			break;
		left -= chance[s];
	}
	return matrix->value[last];
}

void
mask_column_noted(Mask *mask)
{
	read_values(mask);
	if (mask->together != NULL)
		read_numbers(mask); /* they are finite */
	else if (mask->kind == MASK_NOISE)
		find_deviation(mask->whole, read_numbers(mask));
	else if (mask->kind == MASK_MICROAGGREGATE)
		find_means(mask, read_numbers(mask));
	else if (mask->matrix != NULL)
		find_chances(mask);
	else if (mask->kind == MASK_SWAP)
		swap_ranks(mask);
}

/* ---- a row ---- */

/* A numeric keeps its digits behind the point. */
static Datum
moved(const Mask *mask, Datum value, double by)
{
	Datum sum;

	if (mask->base != NUMERICOID)
		return mask_number_value(mask, value_as_number(mask->base, value) + by);
	sum = DirectFunctionCall2(numeric_add, value, DirectFunctionCall1(float8_numeric, Float8GetDatum(by)));
	return DirectFunctionCall2(numeric_round, sum, DirectFunctionCall1(numeric_scale, value));
}

static Datum
with_noise(Mask *mask, Datum value)
{
	MaskColumn *column = mask->whole;

	return moved(mask, value,
				 mask->together != NULL ? *column->drawn
										: mask->share * column->deviation * mask_normal(&column->pool));
}

/*
 * Beside its own part a noise has one that all columns of its group share.  That part is a person's, whatever the
 * values: a value keeps its noise when another column's value changes.
 */
static double
together(Masks *masks, Mask *mask, Datum person, double own)
{
	double shared = fabs(mask->correlation);
	uint64 drawn[2];

	if (shared == 0)
		return own;
	mask_key_draw(masks, mask, person, &own, 0, drawn);
	return sqrt(1 - shared) * own + copysign(sqrt(shared), mask->correlation) * normal(drawn[0], drawn[1]);
}

/*
 * Noise is a person's and a value's: who is told a value twice is told one number, and the difference of two values
 * is no difference of two numbers.  A state of a matrix is a person's.
 */
Datum
mask_column_draw(Masks *masks, Mask *mask, Datum value, Datum person, bool nobody)
{
	double number = mask->kind == MASK_NOISE ? value_as_number(mask->base, value) : 0;
	uint64 drawn[2];

	if (isnan(number) || isinf(number))
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
						errmsg("masked column \"%s\" has infinity or NaN", mask->column->name),
						errhint("Take it out in a view of the source.")));
	/* noise that is drawn anew each night is averaged away */
	if (nobody && (mask->lasting || mask->correlation != 0))
		ereport(
			ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("column \"%s\" is drawn by \"%s\", which is NULL in a row", mask->column->name,
					mask->person),
			 errhint(
				 "Leave such rows out in a view of the source, or name a column without NULL in \"by\".")));
	if (nobody)
		random_fill(drawn, sizeof(drawn));
	else
		mask_key_draw(masks, mask, person, &number, sizeof(number), drawn);
	if (mask->kind == MASK_NOISE)
		return moved(mask, value, mask->share * together(masks, mask, person, normal(drawn[0], drawn[1])));
	return drawn_by_matrix(mask, find_state(mask, value), (double) (drawn[0] >> 11) / 9007199254740992.0);
}

Datum
mask_column_apply(Mask *mask, Datum value)
{
	MaskColumn *column = mask->whole;
	uint32 place;

	if (column->n == 0)
		elog(ERROR, "a masked column was not looked at");
	switch (mask->kind)
	{
		case MASK_NOISE:
			return with_noise(mask, value);
		case MASK_MICROAGGREGATE:
			return mask->together != NULL ? *column->shown : column->mean[place_of(mask, value)];
		case MASK_PRAM:
			if (mask->matrix != NULL)
				return drawn_by_matrix(mask, column->state[place_of(mask, value)], uniform(&column->pool));
			return uniform(&column->pool) < mask->share
					   ? value
					   : column->value[value_at(column, below(column, column->rows))];
		case MASK_SWAP:
			place = place_of(mask, value);
			if (column->next[place] == column->first[place + 1])
				elog(ERROR, "a masked column has other rows than before");
			return column->value[value_at(column, column->partner[column->next[place]++])];
		case MASK_PSEUDONYM:
		case MASK_NUMBER:
		case MASK_PARTIAL:
		case MASK_SHIFT:
		case MASK_CONSTANT:
		case MASK_ANON:
			break;
	}
	elog(ERROR, "this mask does not know its column");
}

/* ---- How likely each value becomes each other one, as JSON has it ---- */

#define MATRIX_MOST 1000

static char *
text_of(const JsonbValue *value)
{
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* A value's chances, of the matrix' values by their texts. */
static const char *
read_chances(const Mask *mask, JsonbContainer *row, char **names, double *chance)
{
	static const char expected[] =
		"a matrix: for each value the chances of values that the matrix names, which sum to 1";
	JsonbIterator *it = JsonbIteratorInit(row);
	JsonbIteratorToken token;
	JsonbValue value;
	double sum = 0;
	int to = 0;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			char *name = text_of(&value);

			to = 0;
			while (to < mask->matrix->n && strcmp(names[to], name) != 0)
				to++;
			if (to == mask->matrix->n)
				return expected;
		}
		if (token != WJB_VALUE)
			continue;
		chance[to] = mask_json_number(&value);
		if (!(chance[to] >= 0 && chance[to] <= 1))
			return expected;
		sum += chance[to];
	}
	if (fabs(sum - 1) > 1e-9)
		return expected;
	return NULL;
}

const char *
mask_matrix_read(Mask *mask, JsonbContainer *object)
{
	MaskMatrix *matrix = mask->matrix = palloc0(sizeof(MaskMatrix));
	int most = JsonContainerSize(object), row = 0;
	char **names = palloc(sizeof(char *) * Max(most, 1));
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;
	const char *expected = NULL;

	if (!JsonContainerIsObject(object) || most < 2 || most > MATRIX_MOST)
		return psprintf("a matrix of 2 to %d values", MATRIX_MOST);
	matrix->value = palloc(sizeof(Datum) * most);
	matrix->chance = palloc0(sizeof(double) * most * most);
	it = JsonbIteratorInit(object);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
		if (token == WJB_KEY)
		{
			names[matrix->n] = text_of(&value);
			matrix->value[matrix->n++] = mask_value_read(mask, text_of(&value));
		}
	it = JsonbIteratorInit(object);
	while (expected == NULL && (token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token != WJB_VALUE)
			continue;
		if (value.type != jbvBinary || !JsonContainerIsObject(value.val.binary.data))
			return "a matrix: for each value an object of chances";
		expected = read_chances(mask, value.val.binary.data, names, &matrix->chance[row++ * most]);
	}
	return expected;
}

/* (a kind that is not here is judged as the most that readers may see) */
MaskShows
mask_shows(const Mask *mask)
{
	if (mask == NULL)
		return MASK_SHOWS_ALL;
	switch (mask->kind)
	{
		case MASK_NUMBER:
		case MASK_PARTIAL:
		case MASK_MICROAGGREGATE:
			return MASK_SHOWS_PART;
		case MASK_SHIFT:
			return MASK_SHOWS_MOVED;
		case MASK_NOISE:
		case MASK_SWAP:
		case MASK_PRAM:
			return MASK_SHOWS_DRAWN;
		case MASK_ANON:
			return mask_anon_shows(mask);
		case MASK_PSEUDONYM:
			return MASK_SHOWS_NAME;
		case MASK_CONSTANT:
			return MASK_SHOWS_NOTHING;
	}
	return MASK_SHOWS_PART;
}
