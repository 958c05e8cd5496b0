/*
 * compare_read.c: a source and what was published of it, read under one snapshot.
 */
#include "compat.h"
#include "assess/assess.h"
#include "rows/dictionary.h"

#include "catalog/pg_type.h"

/* Quasi-identifiers, and what was kept beside them. */
static ArrayType *
both_lists(ArrayType *qis, ArrayType *keep, int *nqis)
{
	int nkept = 0;
	char **names = name_array(qis, "quasi_identifiers", nqis);
	char **kept = keep != NULL ? name_array(keep, "keep", &nkept) : NULL;
	const char **all = palloc(sizeof(char *) * Max(*nqis + nkept, 1));

	for (int i = 0; i < *nqis; i++)
		all[i] = names[i];
	for (int i = 0; i < nkept; i++)
		all[*nqis + i] = kept[i];
	return name_list(all, *nqis + nkept);
}

Compared *
compare_read(Oid source, Oid target, ArrayType *qis, ArrayType *keep, Jsonb *hierarchies, const char *who)
{
	Compared *compared = palloc0(sizeof(Compared));
	Border *border = border_create(who);
	ArrayType *names = both_lists(qis, keep, &compared->nqis);

	compared->border = border;
	compared->source = source_open_beside(source, names, "quasi_identifiers");
	compared->target = source_open_beside(target, names, "quasi_identifiers");
	compared->n = compared->source->nqis;
	source_hierarchies(compared->source, hierarchies);
	source_lock(compared->target);
	source_snapshot(compared->source);
	source_levels_beside(compared->source, compared->nqis);
	for (int c = 0; c < compared->n; c++)
		written_match(&compared->source->qis[c], &compared->target->qis[c]);
	compared->rows = rowtypes_read(compared->source, border);
	rowtypes_levels(compared->rows, border);
	compared->records = rowtypes_read(compared->target, border);
	compared->release = written_release(compared->source, compared->records, false, border);
	return compared;
}

Spread
compare_spread(const Compared *compared, uint32 record, int column)
{
	KanonCell cell = compared->release->cells[(Size) record * compared->n + column];
	const KanonColumn *values = &compared->rows->grouped[column];
	const uint32 *pool = compared->release->pool;

	switch (cell.show)
	{
		case KANON_SHOW_NOTHING:
			if (column < compared->nqis)
				return (Spread){values->distinct, 0, NULL};
			/* of a kept column it is NULL */
			return (Spread){values->has_null, values->distinct - 1, NULL};
		case KANON_SHOW_VALUE:
			return (Spread){cell.code != WRITTEN_NOTHING_OF_IT, cell.code, NULL};
		case KANON_SHOW_RANGE:
			return (Spread){pool[cell.code + 1] - pool[cell.code] + 1, pool[cell.code], NULL};
		case KANON_SHOW_SET:
			return (Spread){pool[cell.code], 0, &pool[cell.code + 1]};
	}
	return (Spread){0, 0, NULL};
}

void
compare_shares(const Compared *compared, int column, double *before, double *after)
{
	const KanonColumn *values = &compared->rows->grouped[column];
	double *begins = border_palloc(compared->border, sizeof(double) * ((Size) values->distinct + 1));
	double running = 0;

	memset(begins, 0, sizeof(double) * ((Size) values->distinct + 1));
	for (uint32 v = 0; v < values->distinct; v++)
		before[v] = after[v] = 0;
	for (uint32 i = 0; i < compared->rows->ntypes; i++)
		before[values->code[i]] += (double) compared->rows->rows[i];
	for (uint32 i = 0; i < compared->records->ntypes; i++)
	{
		Spread spread = compare_spread(compared, i, column);
		double each = spread.n > 0 ? (double) compared->records->rows[i] / spread.n : 0;

		CHECK_FOR_INTERRUPTS();
		if (spread.n == 1)
			after[spread.codes != NULL ? spread.codes[0] : spread.first] += each;
		else if (spread.n > 0 && spread.codes == NULL)
		{
			begins[spread.first] += each;
			begins[spread.first + spread.n] -= each;
		}
		else
			for (uint32 j = 0; j < spread.n; j++)
				after[spread.codes[j]] += each;
	}
	for (uint32 v = 0; v < values->distinct; v++)
	{
		running += begins[v];
		after[v] += Max(running, 0);
	}
	border_pfree(compared->border, begins);
}
