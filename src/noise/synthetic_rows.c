/*
 * synthetic_rows.c: rows that were drawn from a domain become a table, which is read again.
 *
 * The promise is of how they were drawn, which no table shows; what can be checked is
 * that the table has them, and nothing else.
 */
#include "compat.h"
#include "noise/models.h"
#include "core/util/fault.h"
#include "rows/target.h"
#include "rows/verify.h"

#include "access/table.h"

void
made_write(const Target *target, const Domains *domains, KanonDrawn *drawn, Border *border)
{
	const Source *source = domains->source;
	Relation rel = target_open(target);
	Shuffle *shuffle;
	BulkWriter *bulk;
	const Datum *values;
	const bool *nulls;
	int64 number;

	if (!target_is_plain(rel, target, source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	shuffle = shuffle_numbers((int64) drawn->n);
	bulk = bulk_begin(rel);
	bulk_tell(bulk, border, 0, (int64) drawn->n);
	while (shuffle_next(shuffle, &number, &values, &nulls))
	{
		TupleTableSlot *slot = bulk_slot(bulk);
		uint64 tuple = drawn->tuple[number];

		if (FAULT(value_fine) && bulk_empty(bulk))
			tuple = tuple == 0 ? 1 : 0;
		for (int c = 0; c < source->nkept; c++)
			slot->tts_values[c] = domains_value(domains, tuple, c, &slot->tts_isnull[c]);
		if (FAULT(row_blank) && bulk_empty(bulk))
			memset(slot->tts_isnull, true, source->nkept);
		if (!FAULT(rows_skipped))
			bulk_put(bulk);
	}
	shuffle_end(shuffle);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
}

static int
compare_tuples(const void *a, const void *b)
{
	uint64 x = *(const uint64 *) a, y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

void
made_verify(const Target *target, const Domains *domains, const KanonDrawn *drawn, Border *border)
{
	int64 n, inside, outside;
	uint64 *found = domains_tuples(domains, target->building, target->relid, false, "verifying", &inside,
								   &outside, border);

	n = inside + outside;
	if (n != (int64) drawn->n)
		raise_unsafe(
			psprintf("It has " INT64_FORMAT " rows instead of " INT64_FORMAT ".", n, (int64) drawn->n));
	if (n > 0)
		qsort(drawn->tuple, drawn->n, sizeof(uint64), compare_tuples);
	/* a value that is in no domain was not drawn */
	for (int64 i = 0; i < n; i++)
		if (outside > 0 || found[i] != drawn->tuple[i])
			raise_unsafe("It has other rows than those that were drawn.");
}
