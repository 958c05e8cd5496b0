/*
 * point_source.c: rows of numbers as points, and places between a column's bounds as its values.
 */
#include "compat.h"
#include "noise/models.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "core/util/fault.h"
#include "rows/target.h"
#include "rows/verify.h"

#include <float.h>
#include <math.h>

#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

/* Rows that a table may have, and how far apart their numbers may be. */
#define MOST_ROWS 1000000000
#define MOST_RANGE 1e300

static bool
is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID || type == FLOAT8OID ||
		   type == NUMERICOID;
}

Points *
points_open(Oid relid, ArrayType *columns)
{
	Points *points = palloc0(sizeof(Points));
	Source *source = source_open_kept(relid, columns);
	for (int c = 0; c < source->nkept; c++)
		if (!is_number(source->kept[c].type))
			ereport(
				ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s, which is no number", source->kept[c].name,
						format_type_be(source->kept[c].type)),
				 errhint("Name columns of type smallint, integer, bigint, real, double precision or numeric, "
						 "or a view that makes such numbers: of a date, its days since another one.")));
	points->source = source;
	points->least = palloc(sizeof(double) * source->nkept);
	points->greatest = palloc(sizeof(double) * source->nkept);
	return points;
}

/* ---- bounds ---- */

static double
bound(const SourceColumn *column, JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString};
	JsonbValue *value;

	key.val.string.val = unconstify(char *, name);
	key.val.string.len = strlen(name);
	value = findJsonbValueFromContainer(object, JB_FOBJECT, &key);
	if (value == NULL || value->type != jbvNumeric)
		return NAN;
	return value_as_number(NUMERICOID, NumericGetDatum(value->val.numeric));
}

static void
column_bounds(Points *points, int c, Jsonb *json)
{
	const SourceColumn *column = &points->source->kept[c];
	JsonbValue key = {.type = jbvString}, *value = NULL;

	key.val.string.val = column->name;
	key.val.string.len = strlen(column->name);
	if (JB_ROOT_IS_OBJECT(json))
		value = findJsonbValueFromContainer(&json->root, JB_FOBJECT, &key);
	points->least[c] = points->greatest[c] = NAN;
	if (value != NULL && value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data) &&
		JsonContainerSize(value->val.binary.data) == 2)
	{
		points->least[c] = bound(column, value->val.binary.data, "from");
		points->greatest[c] = bound(column, value->val.binary.data, "to");
	}
	if (!(points->least[c] < points->greatest[c]) || !(points->greatest[c] - points->least[c] < MOST_RANGE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("domains must say between which numbers column \"%s\" is", column->name),
				 errhint("Write it like '{\"age\": {\"from\": 0, \"to\": 120}}', the lesser one first.")));
}

void
points_bounds(Points *points, Jsonb *json)
{
	for (int c = 0; c < points->source->nkept; c++)
		if (json != NULL)
			column_bounds(points, c, json);
		else
		{
			points->least[c] = -DBL_MAX;
			points->greatest[c] = DBL_MAX;
		}
	if (json != NULL && JB_ROOT_COUNT(json) != points->source->nkept)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("domains names a column that is not published"),
				 errhint("Give a domain to each of the columns, and to no other.")));
}

void
points_fit(Points *points)
{
	int ncolumns = points->source->nkept;

	for (int c = 0; c < ncolumns; c++)
	{
		points->least[c] = INFINITY;
		points->greatest[c] = -INFINITY;
		for (int64 i = 0; i < points->n; i++)
		{
			double number = points->number[i * ncolumns + c];

			points->least[c] = Min(points->least[c], number);
			points->greatest[c] = Max(points->greatest[c], number);
		}
	}
}

/* ---- rows ---- */

typedef struct Reader
{
	Points *points;
	Border *border;
	MemoryContext row;
	Size room;
} Reader;

static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	Points *points = reader->points;
	const Source *source = points->source;
	int64 from = points->n * source->nkept;
	MemoryContext old;
	bool inside = true;

	if (points->n == MOST_ROWS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("more than %d rows cannot be points", MOST_ROWS),
						errhint("Name a view with a sample of them.")));
	points->number =
		border_grow(reader->border, points->number, &reader->room, from + source->nkept, sizeof(double));
	old = MemoryContextSwitchTo(reader->row);
	for (int c = 0; c < source->nkept && inside; c++)
	{
		double number =
			slot->tts_isnull[c] ? NAN : value_as_number(source->kept[c].type, slot->tts_values[c]);

		inside = number >= points->least[c] && number <= points->greatest[c];
		points->number[from + c] = number;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row);
	if (inside)
		points->n++;
	else
		points->outside++;
	return true;
}

void
points_read(Points *points, const char *name, Oid relid, bool read_only, const char *phase, Border *border)
{
	const Source *source = points->source;
	Reader reader = {.points = points, .border = border};
	Gate *gate = gate_create(name, relid, source->nkept);

	points->n = points->outside = 0;
	points->number = NULL;
	reader.row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	gate_columns(gate, source->kept, source->nkept);
	gate_watch(gate, border, phase);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), name),
				read_only, receive_row, &reader);
	MemoryContextDelete(reader.row);
}

/* ---- places ---- */

/* How wide a place is. */
static double
step_of(const Points *points, int column)
{
	return (points->greatest[column] - points->least[column]) / (UINT64CONST(1) << KANON_PLACE_BITS);
}

uint32 *
points_places(const Points *points, Border *border)
{
	const uint32 last = (UINT32_C(1) << KANON_PLACE_BITS) - 1;
	int ncolumns = points->source->nkept;
	uint32 *places = border_palloc(border, sizeof(uint32) * Max(points->n * ncolumns, 1));

	for (int c = 0; c < ncolumns && points->n > 0; c++)
	{
		double step = step_of(points, c);

		if (!(step > 0) || !(step * last < MOST_RANGE))
			ereport(
				ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg(step == 0 ? "column \"%s\" has one value alone"
								  : "the numbers of column \"%s\" are too far apart",
						points->source->kept[c].name),
				 errhint(
					 "Without a range kanon cannot choose the noise: give the columns domains, or leave this one out.")));
		for (int64 i = 0; i < points->n; i++)
		{
			double place = (points->number[i * ncolumns + c] - points->least[c]) / step;

			places[i * ncolumns + c] = place < last ? (uint32) place : last;
		}
	}
	return places;
}

/* The bound of a numeric column, when it is declared with so many digits. */
static double
most_of_numeric(int32 typmod)
{
	int precision, scale;

	if (typmod < (int32) VARHDRSZ)
		return DBL_MAX;
	precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
	scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
	/* (a double has 15 digits for sure) */
	return Min(pow(10, precision - scale) - pow(10, -scale), pow(10, precision - scale) * (1 - 1e-15));
}

static double
within(double number, double least, double most)
{
	return number < least ? least : number > most ? most : number;
}

Datum
points_value(const Points *points, int column, int64 place)
{
	const SourceColumn *of = &points->source->kept[column];
	/* the middle of the place: computed of it and the bounds alone, it tells nothing else */
	double number = points->least[column] + ((double) place + 0.5) * step_of(points, column);

	switch (of->type)
	{
		case INT2OID:
			return Int16GetDatum((int16) rint(within(number, PG_INT16_MIN, PG_INT16_MAX)));
		case INT4OID:
			return Int32GetDatum((int32) rint(within(number, PG_INT32_MIN, PG_INT32_MAX)));
		case INT8OID:
			/* (the next double below 2^63) */
			return Int64GetDatum((int64) rint(within(number, -0x1p63, 0x1.fffffffffffffp62)));
		case FLOAT4OID:
			return Float4GetDatum((float4) within(number, -FLT_MAX, FLT_MAX));
		case FLOAT8OID:
			return Float8GetDatum(within(number, -DBL_MAX, DBL_MAX));
		default:
		{
			double most = most_of_numeric(of->typmod);

			return DirectFunctionCall2(
				numeric,
				NumericGetDatum(float_as_numeric(FLOAT8OID, Float8GetDatum(within(number, -most, most)))),
				Int32GetDatum(of->typmod));
		}
	}
}

/*
 * ---- Points that were moved by noise become a table, which is read again.
 *
 * As with rows drawn from a domain (synthetic_model.c), what can be checked is that the table has them, and
 * nothing else.
 */

void
points_write(const Target *target, const Points *points, const int64 *moved, Border *border)
{
	const Source *source = points->source;
	Relation rel = target_open(target);
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	Shuffle *shuffle;
	BulkWriter *bulk;
	const Datum *values;
	const bool *nulls;
	int64 number;

	if (!target_is_plain(rel, target, source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	shuffle = shuffle_numbers(points->n);
	bulk = bulk_begin(rel);
	bulk_tell(bulk, border, 0, points->n);
	while (shuffle_next(shuffle, &number, &values, &nulls))
	{
		TupleTableSlot *slot = bulk_slot(bulk);
		int64 off = FAULT(value_fine) && bulk_empty(bulk) ? INT64CONST(1) << KANON_PLACE_BITS : 0;
		MemoryContext old = MemoryContextSwitchTo(row);

		for (int c = 0; c < source->nkept; c++)
		{
			slot->tts_values[c] = points_value(points, c, moved[number * source->nkept + c] + off);
			slot->tts_isnull[c] = FAULT(row_blank) && bulk_empty(bulk);
		}
		MemoryContextSwitchTo(old);
		if (!FAULT(rows_skipped))
			bulk_put(bulk);
		MemoryContextReset(row);
	}
	shuffle_end(shuffle);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
	MemoryContextDelete(row);
}

/* Rows of so many numbers. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	const double *x = a, *y = b;
	int n = *(const int *) arg;

	CHECK_FOR_INTERRUPTS();
	for (int c = 0; c < n; c++)
		if (x[c] != y[c])
			return x[c] < y[c] ? -1 : 1;
	return 0;
}

void
points_verify(const Target *target, const Points *points, const int64 *moved, Border *border)
{
	int ncolumns = points->source->nkept;
	Size size = sizeof(double) * ncolumns;
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	double *expected = border_palloc(border, size * Max(points->n, 1));
	Points found = {.source = points->source, .least = palloc(size), .greatest = palloc(size)};
	int64 n;

	points_bounds(&found, NULL);
	points_read(&found, target->building, target->relid, false, "verifying", border);
	n = found.n + found.outside;
	if (n != points->n)
		raise_unsafe(psprintf("It has " INT64_FORMAT " rows instead of " INT64_FORMAT ".", n, points->n));
	for (int64 i = 0; i < points->n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(row);

		CHECK_FOR_INTERRUPTS();
		for (int c = 0; c < ncolumns; c++)
			expected[i * ncolumns + c] = value_as_number(points->source->kept[c].type,
														 points_value(points, c, moved[i * ncolumns + c]));
		MemoryContextSwitchTo(old);
		MemoryContextReset(row);
	}
	MemoryContextDelete(row);
	if (points->n > 0)
	{
		qsort_arg(expected, points->n, size, compare_rows, &ncolumns);
		qsort_arg(found.number, found.n, size, compare_rows, &ncolumns);
	}
	for (int64 i = 0; i < points->n; i++)
		if (found.outside > 0 ||
			compare_rows(found.number + i * ncolumns, expected + i * ncolumns, &ncolumns) != 0)
			raise_unsafe("It has other rows than those that were drawn.");
}
