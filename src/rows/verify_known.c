/*
 * verify_known.c: combinations of few columns, counted in the written target: each set of columns whole, whatever
 * the method believed, and by another way than its own.
 */
#include "compat.h"
#include "core/util/hash.h"
#include "rare/rare.h"
#include "rows/verify.h"

#define BLANK PG_UINT32_MAX

/* The combinations of a set: of each row type its number, or that a cell is blank. */
typedef struct Numbered
{
	uint32 *number; /* [ntypes] */
	uint32 n;
} Numbered;

/* A combination of a number and a value; of an older set when the stamp is another one. */
typedef struct Slot
{
	uint64 key;
	uint32 stamp;
	uint32 number;
} Slot;

typedef struct Count
{
	const RowTypes *types;
	const KanonKnown *known;
	int ncolumns;
	Border *border;
	Numbered *numbered; /* [most + 1] by columns of the set */
	Slot *slot;
	uint32 mask; /* slots - 1 */
	uint32 stamp;
	KanonPattern columns; /* of the set that is counted */
	uint32 *number;       /* [mask] by number of the set without its last column, and value */
	int64 *rows;          /* [ntypes] by number */
} Count;

/* Numbers the combinations of a set with one column more by a table of all that could be. */
static void
number_by_table(Count *count, const Numbered *from, Numbered *to, const KanonColumn *column, uint32 null)
{
	uint32 distinct = column->distinct;

	memset(count->number, 0xff, sizeof(uint32) * from->n * distinct);
	for (uint32 i = 0; i < count->types->ntypes; i++)
	{
		uint32 *number;

		if (from->number[i] == BLANK || column->code[i] == null)
		{
			to->number[i] = BLANK;
			continue;
		}
		number = &count->number[from->number[i] * distinct + column->code[i]];
		if (*number == BLANK)
		{
			*number = to->n;
			count->rows[to->n++] = 0;
		}
		to->number[i] = *number;
		count->rows[*number] += count->types->rows[i];
	}
}

/* The same by hashing, where that table would be too large. */
static void
number_by_hash(Count *count, const Numbered *from, Numbered *to, const KanonColumn *column, uint32 null)
{
	if (++count->stamp == 0)
	{
		memset(count->slot, 0, sizeof(Slot) * ((Size) count->mask + 1));
		count->stamp = 1;
	}
	for (uint32 i = 0; i < count->types->ntypes; i++)
	{
		uint64 key = (uint64) from->number[i] << 32 | column->code[i];
		uint32 at;

		if (from->number[i] == BLANK || column->code[i] == null)
		{
			to->number[i] = BLANK;
			continue;
		}
		for (at = (uint32) (kanon_hash_add(0, key) & count->mask);
			 count->slot[at].stamp == count->stamp && count->slot[at].key != key; at = (at + 1) & count->mask)
			;
		if (count->slot[at].stamp != count->stamp)
		{
			count->slot[at] = (Slot){key, count->stamp, to->n};
			count->rows[to->n++] = 0;
		}
		to->number[i] = count->slot[at].number;
		count->rows[to->number[i]] += count->types->rows[i];
	}
}

/* Rows with blank cells agree with combinations that have too few of their own. */
static void
add_agreeing(Count *count, const Numbered *to, int64 k)
{
	for (uint32 type = 0; type < count->types->ntypes; type++)
	{
		int64 *rows = to->number[type] == BLANK ? NULL : &count->rows[to->number[type]];

		for (uint32 other = 0; rows != NULL && other < count->types->ntypes && *rows < k; other++)
		{
			bool agrees = to->number[other] == BLANK;

			KANON_EACH (c, count->columns)
			{
				const KanonColumn *column = &count->types->grouped[c];

				agrees = agrees && (column->code[other] == column->code[type] ||
									(column->has_null && column->code[other] == column->distinct - 1));
			}
			*rows += agrees ? count->types->rows[other] : 0;
		}
		if (rows != NULL && *rows < k)
			return; /* raised */
	}
}

/* The set with one column more; raises if fewer than k rows show one of its combinations. */
static void
count_set(Count *count, const Numbered *from, Numbered *to, int c, int64 k)
{
	const KanonColumn *column = &count->types->grouped[c];
	uint32 null = column->has_null ? column->distinct - 1 : BLANK;

	CHECK_FOR_INTERRUPTS();
	to->n = 0;
	if ((uint64) from->n * column->distinct <= count->mask)
		number_by_table(count, from, to, column, null);
	else
		number_by_hash(count, from, to, column, null);
	if (count->known->missing == KANON_MISSING_ANY)
		add_agreeing(count, to, k);
	for (uint32 i = 0; i < to->n; i++)
		if (count->rows[i] < k)
			raise_unsafe(psprintf("A combination that somebody may know has " INT64_FORMAT
								  " rows, k is " INT64_FORMAT ".",
								  count->rows[i], k));
}

/* The sets with these columns and further ones from `first` on. */
static void
count_larger(Count *count, KanonPattern columns, int ncolumns, int first)
{
	for (int c = first; c < count->ncolumns; c++)
	{
		KanonPattern larger = columns;
		int64 k;

		kanon_add(&larger, c);
		k = kanon_known_k(count->known, larger);
		if (k == 0)
			continue;
		count->columns = larger;
		count_set(count, &count->numbered[ncolumns], &count->numbered[ncolumns + 1], c, k);
		count_larger(count, larger, ncolumns + 1, c + 1);
	}
}

void
verify_known(const RowTypes *types, const Source *source, const KanonProblem *problem, Border *border)
{
	int most = kanon_known_most(problem->known, source->nqis);
	Size ntypes = Max(types->ntypes, 1);
	Count count = {.types = types, .known = problem->known, .ncolumns = source->nqis, .border = border};

	count.mask = 15;
	while (count.mask / 2 < types->ntypes)
		count.mask = count.mask * 2 + 1;
	count.slot = border_palloc(border, sizeof(Slot) * ((Size) count.mask + 1));
	memset(count.slot, 0, sizeof(Slot) * ((Size) count.mask + 1));
	count.number = border_palloc(border, sizeof(uint32) * count.mask);
	count.rows = border_palloc(border, sizeof(int64) * ntypes);
	count.numbered = palloc0(sizeof(Numbered) * (most + 2));
	for (int i = 0; i <= most + 1; i++)
		count.numbered[i].number = border_palloc(border, sizeof(uint32) * ntypes);
	memset(count.numbered[0].number, 0, sizeof(uint32) * ntypes);
	count.numbered[0].n = 1;
	count_larger(&count, KANON_NONE, 0, 0);
	for (int i = 0; i <= most + 1; i++)
		border_pfree(border, count.numbered[i].number);
	border_pfree(border, count.rows);
	border_pfree(border, count.number);
	border_pfree(border, count.slot);
}
