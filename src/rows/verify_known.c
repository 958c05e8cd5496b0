/*
 * verify_known.c: counts combinations of few columns in the written target, one set of columns after the other.
 *
 * It uses nothing that the method has counted, and counts in another way.
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "core/util/number.h"
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
	bool whole; /* NULL is a value, whether a cell is blank or not */
	Border *border;
	Numbered *numbered; /* [most + 1] by columns of the set */
	Slot *slot;
	uint32 mask; /* slots - 1 */
	uint32 stamp;
	KanonPattern columns; /* of the set that is counted */
	const uint32 *person; /* [ntypes] in ascending order, or NULL: rows count */
	uint32 *last;         /* [ntypes] person before, from 1 on, by number */
	uint32 *number;       /* [mask] by number of the set without its last column, and value */
	int64 *rows;          /* [ntypes] by number */
	uint32 *blank;        /* [ntypes] row types with a blank cell in the set */
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

/* The persons of each combination instead of its rows. */
static void
count_persons(Count *count, const Numbered *to)
{
	memset(count->rows, 0, sizeof(int64) * to->n);
	memset(count->last, 0, sizeof(uint32) * to->n);
	for (uint32 i = 0; i < count->types->ntypes; i++)
	{
		uint32 number = to->number[i];

		if (number == BLANK)
			continue;
		count->rows[number] += count->last[number] != count->person[i] + 1;
		count->last[number] = count->person[i] + 1;
	}
}

/* Rows with a blank cell in the set agree with combinations that have too few of their own. */
static void
add_agreeing(Count *count, const Numbered *to, int64 k)
{
	uint32 ntypes = count->types->ntypes, nblank = 0;

	for (uint32 type = 0; type < ntypes; type++)
		if (to->number[type] == BLANK)
			count->blank[nblank++] = type;
	for (uint32 type = 0; type < ntypes; type++)
	{
		int64 *rows = to->number[type] == BLANK ? NULL : &count->rows[to->number[type]];

		for (uint32 i = 0; rows != NULL && i < nblank && *rows < k; i++)
		{
			uint32 other = count->blank[i];
			bool agrees = true;

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
	uint32 null = column->has_null && !count->whole ? column->distinct - 1 : BLANK;

	CHECK_FOR_INTERRUPTS();
	to->n = 0;
	if ((uint64) from->n * column->distinct <= count->mask)
		number_by_table(count, from, to, column, null);
	else
		number_by_hash(count, from, to, column, null);
	if (count->person != NULL)
		count_persons(count, to);
	if (count->known->missing == KANON_MISSING_ANY)
		add_agreeing(count, to, k);
	for (uint32 i = 0; i < to->n; i++)
		if (count->rows[i] < k)
			raise_unsafe(psprintf("A combination that somebody may know has " INT64_FORMAT
								  " %s, k is " INT64_FORMAT ".",
								  count->rows[i], count->person != NULL ? "persons" : "rows", k));
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

/*
 * NULL is a value, and blank cells are none: the mark beside tells them apart.  (A full-domain release has no blank
 * cells but in rows that are blank.)
 */
static bool
tells_blank(const KanonProblem *problem)
{
	return problem->known->missing == KANON_MISSING_VALUE && problem->full_domain == NULL;
}

static void
count_all(const RowTypes *types, const uint32 *person, int nqis, const KanonProblem *problem, Border *border)
{
	int most = kanon_known_most(problem->known, nqis);
	Size ntypes = Max(types->ntypes, 1);
	Count count = {
		.types = types, .known = problem->known, .ncolumns = nqis, .border = border, .person = person};

	count.whole = problem->known->missing == KANON_MISSING_VALUE && !tells_blank(problem);
	count.mask = 15;
	while (count.mask / 2 < types->ntypes)
		count.mask = count.mask * 2 + 1;
	count.slot = border_palloc(border, sizeof(Slot) * ((Size) count.mask + 1));
	memset(count.slot, 0, sizeof(Slot) * ((Size) count.mask + 1));
	count.number = border_palloc(border, sizeof(uint32) * count.mask);
	count.rows = border_palloc(border, sizeof(int64) * ntypes);
	count.last = border_palloc(border, sizeof(uint32) * ntypes);
	count.blank = border_palloc(border, sizeof(uint32) * ntypes);
	count.numbered = palloc0(sizeof(Numbered) * (most + 2));
	for (int i = 0; i <= most + 1; i++)
		count.numbered[i].number = border_palloc(border, sizeof(uint32) * ntypes);
	memset(count.numbered[0].number, 0, sizeof(uint32) * ntypes);
	count.numbered[0].n = 1;
	count_larger(&count, KANON_NONE, 0, 0);
	for (int i = 0; i <= most + 1; i++)
		border_pfree(border, count.numbered[i].number);
	border_pfree(border, count.rows);
	border_pfree(border, count.last);
	border_pfree(border, count.blank);
	border_pfree(border, count.number);
	border_pfree(border, count.slot);
}

/* The columns with one code more, of cells that the mark says are blank. */
static KanonColumn *
columns_by_mark(const RowTypes *types, int nqis, Border *border)
{
	KanonColumn *columns = palloc0(sizeof(KanonColumn) * nqis);

	if (types->source->nqis != nqis + 1)
		elog(ERROR, "the target has no mark");
	for (int q = 0; q < nqis; q++)
	{
		const KanonColumn *from = &types->grouped[q];
		uint32 *code = border_palloc(border, sizeof(uint32) * Max(types->ntypes, 1));

		columns[q] = (KanonColumn){.code = code, .distinct = from->distinct + 1, .has_null = true};
		for (uint32 i = 0; i < types->ntypes; i++)
		{
			bool isnull, null = from->has_null && from->code[i] == from->distinct - 1;
			Datum mark =
				dictionary_value(types->source->qis[nqis].dictionary, types->grouped[nqis].code[i], &isnull);

			if (isnull || VARSIZE_ANY_EXHDR(DatumGetPointer(mark)) != (Size) nqis)
				raise_unsafe("A row has no mark for each quasi-identifier.");
			code[i] = null && VARDATA_ANY(DatumGetPointer(mark))[q] == '*' ? from->distinct : from->code[i];
		}
	}
	return columns;
}

void
verify_known(const RowTypes *types, const Source *source, const KanonProblem *problem, Border *border)
{
	RowTypes marked = *types;

	/* the target does not show whose a row is: persons.c has noted that */
	if (problem->known->person != NULL)
		return;
	if (tells_blank(problem))
		marked.grouped = columns_by_mark(types, source->nqis, border);
	count_all(&marked, NULL, source->nqis, problem, border);
	for (int q = 0; q < source->nqis && tells_blank(problem); q++)
		border_pfree(border, (void *) marked.grouped[q].code);
}

/* ---- persons ---- */

static int
compare_persons(const void *a, const void *b, void *arg)
{
	const uint32 *person = arg;
	uint32 left = person[((const KanonFlow *) a)->type], right = person[((const KanonFlow *) b)->type];

	return left < right ? -1 : left > right;
}

/* The column that classes show of a quasi-identifier: a value of one of its levels, or (the last code) nothing. */
static KanonColumn
shown_column(const KanonProblem *problem, const KanonRelease *release, int qi, const KanonFlow *written,
			 Size n, Border *border)
{
	int first = kanon_first_column(problem, qi), end = kanon_first_column(problem, qi + 1);
	uint32 *code = border_palloc(border, sizeof(uint32) * Max(n, 1));
	KanonColumn column = {.code = code, .has_null = true};

	for (int c = first; c < end; c++)
		column.distinct += problem->columns[c].distinct;
	for (Size i = 0; i < n; i++)
	{
		const KanonCell *cells = &release->cells[(Size) written[i].class_ * problem->ncolumns];
		uint32 start = 0;

		code[i] = column.distinct;
		for (int c = first; c < end && code[i] == column.distinct; c++)
		{
			bool null = !tells_blank(problem) && problem->columns[c].has_null &&
						cells[c].code == problem->columns[c].distinct - 1;

			if (cells[c].show == KANON_SHOW_VALUE && null)
				break;
			if (cells[c].show == KANON_SHOW_VALUE)
				code[i] = start + cells[c].code;
			start += problem->columns[c].distinct;
		}
	}
	column.distinct++;
	return column;
}

void
verify_known_persons(KanonFlow *written, Size n, const KanonProblem *problem, const KanonRelease *release,
					 Border *border)
{
	int nqis = kanon_count_qis(problem);
	RowTypes types = {.ntypes = (uint32) n, .grouped = palloc0(sizeof(KanonColumn) * nqis)};
	uint32 *person = border_palloc(border, sizeof(uint32) * Max(n, 1));
	int64 *rows = border_palloc(border, sizeof(int64) * Max(n, 1));

	qsort_arg(written, n, sizeof(KanonFlow), compare_persons,
			  (void *) problem->extra[kanon_privacy_person(problem->privacy)].code);
	for (Size i = 0; i < n; i++)
	{
		person[i] = problem->extra[kanon_privacy_person(problem->privacy)].code[written[i].type];
		rows[i] = written[i].rows;
	}
	types.rows = rows;
	for (int q = 0; q < nqis; q++)
		types.grouped[q] = shown_column(problem, release, q, written, n, border);
	count_all(&types, person, nqis, problem, border);
	for (int q = 0; q < nqis; q++)
		border_pfree(border, (void *) types.grouped[q].code);
	border_pfree(border, person);
	border_pfree(border, rows);
}
