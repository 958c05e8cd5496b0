/*
 * point_target.c: points that were moved by noise become a table, which is read again.
 *
 * As with rows drawn from a domain (synthetic_model.c), what can be checked is that the table has them, and
 * nothing else.
 */
#include "compat.h"
#include "noise/models.h"
#include "core/util/fault.h"
#include "rows/dictionary.h"
#include "rows/target.h"
#include "rows/verify.h"

#include "access/table.h"
#include "miscadmin.h"
#include "utils/memutils.h"

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
