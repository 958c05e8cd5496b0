/*
 * telling_columns.c: what do kept columns tell of what a release hides?
 *
 * A copy of a quasi-identifier, or a finer value of it, undoes its suppression; so does whatever is beside
 * a masked column and goes with it.  And kept columns that name nobody alone may do so together.
 *
 * All of it is counted in a sample of the rows as they are written (all rows of small tables).  One column
 * determines another when rows that agree in the one agree in the other: each row is compared with the
 * others that have its value, so that values of a single row, which would determine anything, count for
 * nothing, and what is expected by chance is taken off (Goodman and Kruskal's tau, "Measures of association
 * for cross classifications", 1954, with the row itself left out).
 */
#include "compat.h"
#include "rows/verify.h"
#include "core/privacy/rules.h"
#include "core/util/hash.h"
#include "rows/dictionary.h"
#include "masks/mask_apply.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "port/pg_bitutils.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* Rows that are remembered, further ones of which something is hidden, and numbers of all of them. */
#define MOST_ROWS 20000
#define MOST_HIDDEN 5000
#define MOST_NUMBERS (1 << 21)

/* From so many rows with a value on a column is judged, as in identifying_columns.c. */
#define LEAST_ROWS 10

/* One column determines another in this share of the rows, and by chance once in e^14, a million. */
#define DETERMINES 0.9
#define CERTAIN 14.0

/* Kept columns of which groups are tried: those with the most values. */
#define MOST_GROUPED 16
#define MOST_TOLD 10

#define NOTHING PG_UINT32_MAX

/* Places among a row's numbers, after a code for each quasi-identifier: */
#define HIDDEN 0 /* bits of the quasi-identifiers that its class does not show */
#define PERSON 2
#define BEFORE_KEPT 3

struct TellsLook
{
	Source *source;
	const RowTypes *types;
	MemoryContext context;
	int nqis;
	int nkept;
	int width; /* numbers of a row */
	uint32 *
		numbers; /* [most + MOST_HIDDEN][width]: codes, HIDDEN and PERSON, hashes as published and in the source */
	int64 most;
	int64 rows;        /* noted */
	int64 rows_hidden; /* of those that are not among the first `most`, with something hidden */
	pg_prng_state random;
	const KanonCell *cells; /* of the class at hand */
	uint64 hidden;          /* its quasi-identifiers that are not shown */
};

/* A column of the sample: each row's value as a number below `distinct`, and the rows in the order of it. */
typedef struct Attribute
{
	uint32 *id; /* [n]; NOTHING: left out */
	uint32 distinct;
	uint32 *order; /* [start[distinct]] */
	uint32 *start; /* [distinct + 1] */
} Attribute;

/* ---- while rows are written ---- */

static bool
is_looked_at(const SourceColumn *column)
{
	return !column->answered && (column->mask == NULL || column->mask->kind != MASK_CONSTANT);
}

TellsLook *
tells_begin(const Source *source, const RowTypes *types, Border *border)
{
	TellsLook *look;
	bool any = false;

	for (int i = 0; i < source->nkept; i++)
		any = any || is_looked_at(&source->kept[i]);
	if (!any || source->told == NULL)
		return NULL;
	look = palloc0(sizeof(TellsLook));
	look->context = AllocSetContextCreate(border->context, "kanon tells", ALLOCSET_DEFAULT_SIZES);
	look->source = unconstify(Source *, source);
	look->types = types;
	look->nqis = source->nqis;
	look->nkept = source->nkept;
	look->width = source->nqis + BEFORE_KEPT + 2 * source->nkept;
	look->most = Min(MOST_ROWS, MOST_NUMBERS / look->width - MOST_HIDDEN);
	pg_prng_seed(&look->random, 1);
	return look;
}

void
tells_class(TellsLook *look, const KanonCell *cells)
{
	const int *first = look->source->levels.first;

	look->cells = cells;
	look->hidden = 0;
	for (int q = 0; q < look->nqis; q++)
		if (cells[first[q]].show != KANON_SHOW_VALUE)
			look->hidden |= UINT64CONST(1) << q;
}

static uint32
value_number(Oid type, Datum value, bool isnull)
{
	int16 length;
	bool byval;

	if (isnull)
		return NOTHING;
	get_typlenbyval(type, &length, &byval);
	return (byval ? (uint32) kanon_mix((uint64) value) : datum_image_hash(value, byval, length)) & ~1U;
}

/* A shifted time counts by its day: a column that goes with the day tells how far the time was shifted. */
static uint32
given_number(const SourceColumn *column, Datum value, bool isnull)
{
	if (isnull || column->mask == NULL || column->mask->kind != MASK_SHIFT ||
		getBaseType(column->type) == DATEOID)
		return value_number(column->type, value, isnull);
	return (uint32) kanon_mix((uint64) (DatumGetTimestamp(value) / USECS_PER_DAY)) & ~1U;
}

void
tells_note(TellsLook *look, uint32 type, const Datum *given, const Datum *shown, const bool *given_nulls,
		   const bool *shown_nulls, uint32 person)
{
	int64 place = look->rows++;
	uint32 *row;

	/* reservoir sampling */
	if (place >= look->most)
		place = (int64) pg_prng_uint64_range(&look->random, 0, (uint64) place);
	if (place >= look->most)
		return;
	if (look->numbers == NULL)
		look->numbers = MemoryContextAlloc(look->context, sizeof(uint32) * (Size) look->most * look->width);
	row = look->numbers + place * look->width;
	for (int q = 0; q < look->nqis; q++)
	{
		const KanonCell *cell = &look->cells[look->source->levels.first[q]];

		*row++ = look->types != NULL              ? look->types->grouped[q].code[type]
				 : cell->show == KANON_SHOW_VALUE ? cell->code
												  : NOTHING;
	}
	row[HIDDEN] = (uint32) look->hidden;
	row[HIDDEN + 1] = (uint32) (look->hidden >> 32);
	row[PERSON] = person;
	row += BEFORE_KEPT;
	for (int i = 0; i < look->nkept; i++)
	{
		const SourceColumn *column = &look->source->kept[i];
		Oid published = column->mask != NULL ? mask_type(column->mask, NULL) : column->type;

		row[i] = value_number(published, shown[i], shown_nulls[i]);
		row[look->nkept + i] = column->mask != NULL ? given_number(column, given[i], given_nulls[i]) : row[i];
	}
}

/* ---- columns of the sample ---- */

static int
compare_numbers(const void *a, const void *b)
{
	uint32 left = *(const uint32 *) a, right = *(const uint32 *) b;

	return left < right ? -1 : left > right;
}

static Attribute
attribute(const TellsLook *look, int64 n, int place)
{
	Attribute a = {.id = palloc(sizeof(uint32) * n), .order = palloc(sizeof(uint32) * n)};
	uint32 *sorted = palloc(sizeof(uint32) * n);
	uint32 *next;
	int64 values = 0;

	for (int64 i = 0; i < n; i++)
		if (look->numbers[i * look->width + place] != NOTHING)
			sorted[values++] = look->numbers[i * look->width + place];
	qsort(sorted, values, sizeof(uint32), compare_numbers);
	for (int64 i = 0; i < values; i++)
		if (i == 0 || sorted[i] != sorted[a.distinct - 1])
			sorted[a.distinct++] = sorted[i];
	a.start = palloc0(sizeof(uint32) * (a.distinct + 2));
	for (int64 i = 0; i < n; i++)
	{
		uint32 number = look->numbers[i * look->width + place];
		const uint32 *found =
			number == NOTHING ? NULL : bsearch(&number, sorted, a.distinct, sizeof(uint32), compare_numbers);

		a.id[i] = found == NULL ? NOTHING : (uint32) (found - sorted);
		if (found != NULL)
			a.start[a.id[i] + 2]++;
	}
	for (uint32 v = 2; v <= a.distinct; v++)
		a.start[v] += a.start[v - 1];
	next = a.start + 1;
	for (int64 i = 0; i < n; i++)
		if (a.id[i] != NOTHING)
			a.order[next[a.id[i]]++] = (uint32) i;
	pfree(sorted);
	return a;
}

typedef struct Determined
{
	bool all;    /* in nearly all rows */
	bool hidden; /* in nearly all of those in which the other is not shown */
} Determined;

/* Does a determine b?  hidden (or NULL): rows in which b is not shown. */
static Determined
determines(const Attribute *a, const Attribute *b, const bool *hidden)
{
	uint32 *count = palloc0(sizeof(uint32) * Max(b->distinct, 1));  /* in the group at hand */
	double *of_all = palloc0(sizeof(double) * Max(b->distinct, 1)); /* rows that have companions */
	double rows = 0, groups = 0, right = 0, by_chance = 0;
	double hidden_rows = 0, hidden_right = 0;
	Determined found = {false, false};

	for (uint32 v = 0; v < a->distinct; v++)
	{
		const uint32 *member = a->order + a->start[v], *end = a->order + a->start[v + 1];
		double r = 0;

		for (const uint32 *i = member; i < end; i++)
			if (b->id[*i] != NOTHING)
			{
				count[b->id[*i]]++;
				r++;
			}
		for (const uint32 *i = member; i < end && r >= 2; i++)
			if (b->id[*i] != NOTHING)
			{
				double agree = (count[b->id[*i]] - 1) / (r - 1);

				of_all[b->id[*i]]++;
				right += agree;
				rows++;
				if (hidden != NULL && hidden[*i])
				{
					hidden_right += agree;
					hidden_rows++;
				}
			}
		groups += r >= 2;
		for (const uint32 *i = member; i < end; i++)
			if (b->id[*i] != NOTHING)
				count[b->id[*i]] = 0;
	}
	for (uint32 v = 0; v < b->distinct && rows >= 2; v++)
		by_chance += of_all[v] * (of_all[v] - 1) / (rows * (rows - 1));
	pfree(count);
	pfree(of_all);
	/* (a column that hardly varies cannot be told from one that is told) */
	if (rows < LEAST_ROWS || by_chance >= 1)
		return found;
	by_chance = Max(by_chance, 1 / rows);
	found.all = right / rows >= by_chance + DETERMINES * (1 - by_chance) &&
				(rows - groups) * -log(by_chance) >= CERTAIN;
	found.hidden = hidden_rows >= LEAST_ROWS &&
				   hidden_right / hidden_rows >= by_chance + DETERMINES * (1 - by_chance) &&
				   hidden_rows / 2 * -log(by_chance) >= CERTAIN;
	return found;
}

/* ---- kept columns together ---- */

/* A combination of values that rows have, and whether two persons, or rows of nobody, share it. */
typedef struct Combination
{
	uint64 values;
	uint32 rows;
	uint32 person;
	bool shared;
} Combination;

/* The share of all rows in which these columns have values that no other row (or person) has together. */
static double
own_together(const TellsLook *look, int64 n, const Attribute *const *columns, int ncolumns)
{
	uint64 size = pg_nextpower2_64((uint64) n * 2);
	Combination *table = palloc0(sizeof(Combination) * size);
	double share = (double) look->rows / (double) n, shared = 0;

	for (int64 i = 0; i < n; i++)
	{
		uint32 person = look->numbers[i * look->width + look->nqis + PERSON];
		uint64 values = 1;
		uint64 at;

		for (int c = 0; c < ncolumns; c++)
			values = kanon_mix(values ^ ((uint64) columns[c]->id[i] + 1) << c);
		values |= 1;
		at = values & (size - 1);
		while (table[at].values != 0 && table[at].values != values)
			at = (at + 1) & (size - 1);
		table[at].shared = table[at].values != 0 &&
						   (table[at].shared || person == KEPT_NOBODY || person != table[at].person);
		table[at].values = values;
		table[at].person = person;
		table[at].rows++;
	}
	/*
	 * The rows are a sample.  A row that shares a combination with one other row meets that row in the sample once in
	 * `share` times; a combination of three rows of the sample is shared by many.
	 */
	for (uint64 at = 0; at < size; at++)
		if (table[at].shared)
			shared += table[at].rows * (table[at].rows > 2 ? 1 : share);
	pfree(table);
	return 1 - Min(shared / (double) n, 1);
}

static char *
names_of(const TellsLook *look, const int *columns, int n, bool quoted)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < n; i++)
		appendStringInfo(&names, quoted ? "%s\"%s\"" : "%s%s", i > 0 ? ", " : "",
						 look->source->kept[columns[i]].name);
	return names.data;
}

/* For the record, which outlives the look. */
static void
remember(const TellsLook *look, List **list, const char *what)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(look->source->told));

	*list = lappend(*list, pstrdup(what));
	MemoryContextSwitchTo(old);
}

static void
tell_group(TellsLook *look, const int *columns, int n, double own)
{
	KeptTold *told = look->source->told;

	if (list_length(told->together) < MOST_TOLD)
		ereport(
			NOTICE,
			(errmsg("kept columns %s identify together", names_of(look, columns, n, true)),
			 errdetail("%.0f %% of the rows have a combination of their values that no other %s has.",
					   100 * own, look->numbers[look->nqis + PERSON] == KEPT_NOBODY ? "row" : "person"),
			 errhint(
				 "Leave one of them out or mask it. If nobody outside can know them, name them in allow_identifying.")));
	remember(look, &told->together, names_of(look, columns, n, false));
}

/* Can readers know what is published of a column, so that what it tells is told? */
static bool
is_known(const SourceColumn *column)
{
	return column->mask == NULL || column->mask->kind == MASK_NUMBER || column->mask->kind == MASK_PARTIAL ||
		   column->mask->kind == MASK_MICROAGGREGATE;
}

/* Columns whose published values somebody may know, those with the most values first. */
static int
grouped_columns(const TellsLook *look, const Attribute *kept, int *columns)
{
	int n = 0;

	for (int i = 0; i < look->nkept; i++)
	{
		const SourceColumn *column = &look->source->kept[i];
		int at;

		if (column->answered || kept[i].distinct < 2 || !is_known(column))
			continue;
		for (at = Min(n, MOST_GROUPED - 1); at > 0 && kept[columns[at - 1]].distinct < kept[i].distinct; at--)
			columns[at] = columns[at - 1];
		if (at < MOST_GROUPED && (at < n || n < MOST_GROUPED))
			columns[at] = i;
		n = Min(n + 1, MOST_GROUPED);
	}
	return n;
}

static bool
try_group(TellsLook *look, int64 n, const Attribute *kept, const int *columns, int ncolumns)
{
	const Attribute *of[KANON_SUBSET_MOST];
	double combinations = 1, own;

	for (int c = 0; c < ncolumns; c++)
	{
		of[c] = &kept[columns[c]];
		combinations *= of[c]->distinct + 1.0;
	}
	/* (rows of one person may share them) */
	if (look->numbers[look->nqis + PERSON] == KEPT_NOBODY && combinations < KANON_IDENTIFYING * (double) n)
		return false;
	CHECK_FOR_INTERRUPTS();
	own = own_together(look, n, of, ncolumns);
	if (own < KANON_IDENTIFYING)
		return false;
	tell_group(look, columns, ncolumns, own);
	return true;
}

/* Pairs, then threes of which no pair was told. */
static void
try_groups(TellsLook *look, int64 n, const Attribute *kept)
{
	int columns[MOST_GROUPED];
	bool told[MOST_GROUPED][MOST_GROUPED] = {0};
	int m = grouped_columns(look, kept, columns);

	for (int i = 0; i < m; i++)
		for (int j = i + 1; j < m; j++)
			told[i][j] = try_group(look, n, kept, (int[]){columns[i], columns[j]}, 2);
	for (int i = 0; i < m; i++)
		for (int j = i + 1; j < m; j++)
			for (int l = j + 1; l < m && !told[i][j]; l++)
				if (!told[i][l] && !told[j][l])
					(void) try_group(look, n, kept, (int[]){columns[i], columns[j], columns[l]}, 3);
}

/* ---- the answer ---- */

static void
tell(TellsLook *look, const SourceColumn *column, const char *of, const char *how)
{
	ereport(NOTICE,
			(errmsg("kept column \"%s\" tells of \"%s\", %s", column->name, of, how),
			 errdetail("Nearly all rows with equal values in one have equal values in the other."),
			 errhint("Leave it out or mask it. If readers may know it, name it in allow_identifying.")));
	remember(look, &look->source->told->tells, psprintf("%s: %s", column->name, of));
}

static void
refuse(const SourceColumn *column, const SourceColumn *qi)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION),
		 errmsg("kept column \"%s\" tells the quasi-identifier \"%s\"", column->name, qi->name),
		 errdetail(
			 "Nearly all rows with equal values in one have equal values in the other, so a reader could find hidden values of \"%s\" from it.",
			 qi->name),
		 errhint("%s", kept_way_out(&column, 1, "Leave it out, or name it as a quasi-identifier."))));
}

/* Rows in which a quasi-identifier is not shown; how many. */
static int64
find_hidden(const TellsLook *look, int64 n, int q, bool *hidden)
{
	int64 found = 0;

	for (int64 i = 0; i < n; i++)
	{
		hidden[i] = (look->numbers[i * look->width + look->nqis + HIDDEN + q / 32] >> q % 32 & 1) != 0;
		found += hidden[i];
	}
	return found;
}

static void
compare_with_quasi_identifiers(TellsLook *look, int64 n, const SourceColumn *column, const Attribute *kept)
{
	bool *hidden = palloc(sizeof(bool) * n);

	for (int q = 0; q < look->nqis; q++)
	{
		const SourceColumn *qi = &look->source->qis[q];
		Attribute of = attribute(look, n, q);
		int64 nhidden = find_hidden(look, n, q, hidden);
		Determined there = determines(kept, &of, hidden), back = determines(&of, kept, NULL);

		CHECK_FOR_INTERRUPTS();
		/* what is hidden of types that are made up is not known: it is what it is elsewhere */
		if (look->types == NULL)
			there.hidden = there.all && nhidden >= LEAST_ROWS;
		if (column->mask == NULL && (there.hidden || (there.all && back.all)))
			refuse(column, qi);
		if ((there.all && back.all) || (is_known(column) && (there.all || there.hidden)))
			tell(look, column, qi->name, "a quasi-identifier");
		else if (column->mask == NULL && back.all && nhidden > 0)
			tell(look, column, qi->name, "a quasi-identifier that determines it");
		pfree(of.id);
		pfree(of.order);
		pfree(of.start);
	}
	pfree(hidden);
}

/* What is beside a masked column and goes with it undoes the mask. */
static void
compare_with_masked(TellsLook *look, int64 n, const SourceColumn *column, const Attribute *kept)
{
	for (int i = 0; i < look->nkept; i++)
	{
		const SourceColumn *masked = &look->source->kept[i];
		Attribute of;

		if (masked->mask == NULL || masked->mask->kind == MASK_CONSTANT || masked == column)
			continue;
		CHECK_FOR_INTERRUPTS();
		of = attribute(look, n, look->nqis + BEFORE_KEPT + look->nkept + i);
		if (determines(kept, &of, NULL).all ||
			(masked->mask->kind == MASK_SHIFT && determines(&of, kept, NULL).all))
			tell(look, column, masked->name, "which is masked");
	}
}

void
tells_end(TellsLook *look)
{
	MemoryContext old = MemoryContextSwitchTo(look->context);
	int64 n = Min(look->rows, look->most);
	int64 more = n + Min(look->rows_hidden, MOST_HIDDEN);
	Attribute *kept = palloc0(sizeof(Attribute) * look->nkept);

	if (n >= LEAST_ROWS)
	{
		for (int i = 0; i < look->nkept; i++)
			kept[i] = attribute(look, more, look->nqis + BEFORE_KEPT + i);
		for (int i = 0; i < look->nkept; i++)
			if (is_looked_at(&look->source->kept[i]))
				compare_with_quasi_identifiers(look, more, &look->source->kept[i], &kept[i]);
		for (int i = 0; i < look->nkept; i++)
			if (is_looked_at(&look->source->kept[i]) && look->source->kept[i].mask == NULL)
				compare_with_masked(look, more, &look->source->kept[i], &kept[i]);
		try_groups(look, n, kept);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(look->context);
}
