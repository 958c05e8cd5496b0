/*
 * telling_columns.c: tells what kept columns reveal of what a release hides.
 *
 * A kept column that is a copy or a finer value of a quasi-identifier undoes its suppression.  A kept column from
 * which the value of a masked one follows undoes the mask.  Columns that each tell nothing, or identify nobody, may
 * do so together.
 *
 * All of it is counted in a sample of the rows as they are written (all rows of small tables).
 */
#include "compat.h"
#include "rows/verify.h"
#include "rows/telling.h"
#include "core/privacy/rules.h"
#include "core/util/number.h"
#include "rows/dictionary.h"
#include "masks/mask_apply.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* Rows that are remembered, further ones of which something is hidden; and numbers of all of them, unless a row has so many. */
#define MOST_ROWS 20000
#define MOST_HIDDEN 5000
#define MOST_NUMBERS (1 << 21)
#define FEWEST_ROWS 1000

/* ---- while rows are written ---- */

static bool
is_looked_at(const SourceColumn *column)
{
	return !column->answered && mask_shows(column->mask) != MASK_SHOWS_NOTHING;
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
	look->measured = palloc0(sizeof(int) * source->nkept);
	for (int i = 0; i < source->nkept; i++)
		if (is_looked_at(&source->kept[i]) && type_is_number(source->kept[i].type))
		{
			look->measured[i] = look->width;
			look->width += 2;
		}
	look->most = Max(Min(MOST_ROWS, MOST_NUMBERS / look->width), FEWEST_ROWS);
	look->most_hidden = look->most / (MOST_ROWS / MOST_HIDDEN);
	pg_prng_seed(&look->random, 1);
	return source->told->rows = look;
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

uint32
tells_number(Oid type, Datum value, bool isnull)
{
	int16 length;
	bool byval;

	if (isnull)
		return NO_VALUE;
	get_typlenbyval(type, &length, &byval);
	return (byval ? (uint32) kanon_mix((uint64) value) : datum_image_hash(value, byval, length)) & ~1U;
}

/* A shifted time counts by its day: a column that goes with the day tells how far the time was shifted. */
static uint32
given_number(const SourceColumn *column, Datum value, bool isnull)
{
	if (isnull || mask_shows(column->mask) != MASK_SHOWS_MOVED || getBaseType(column->type) == DATEOID)
		return tells_number(column->type, value, isnull);
	return (uint32) kanon_mix((uint64) (DatumGetTimestamp(value) / USECS_PER_DAY)) & ~1U;
}

/* Reservoir sampling: a place for the row, or -1. */
static int64
place_for(pg_prng_state *random, int64 rows, int64 most)
{
	int64 place = rows < most ? rows : (int64) pg_prng_uint64_range(random, 0, (uint64) rows);

	return place < most ? place : -1;
}

void
tells_note(TellsLook *look, uint32 type, const Datum *given, const Datum *shown, const bool *given_nulls,
		   const bool *shown_nulls, uint32 person)
{
	int64 place = place_for(&look->random, look->rows++, look->most);
	uint32 *row;

	if (place < 0 && look->hidden != 0)
	{
		place = place_for(&look->random, look->rows_hidden++, look->most_hidden);
		place += place < 0 ? 0 : look->most;
	}
	if (place < 0)
		return;
	if (look->numbers == NULL)
		look->numbers = MemoryContextAlloc(look->context, sizeof(uint32) * look->width *
															  (Size) (look->most + look->most_hidden));
	row = look->numbers + place * look->width;
	for (int q = 0; q < look->nqis; q++)
	{
		const KanonCell *cell = &look->cells[look->source->levels.first[q]];

		*row++ = look->types != NULL              ? look->types->grouped[q].code[type]
				 : cell->show == KANON_SHOW_VALUE ? cell->code
												  : NO_VALUE;
	}
	row[HIDDEN] = (uint32) look->hidden;
	row[HIDDEN + 1] = (uint32) (look->hidden >> 32);
	row[PERSON] = person;
	row += BEFORE_KEPT;
	for (int i = 0; i < look->nkept; i++)
		if (look->measured[i] > 0)
		{
			double number = given_nulls[i] ? NAN : value_as_number(look->source->kept[i].type, given[i]);

			memcpy(row - look->nqis - BEFORE_KEPT + look->measured[i], &number, sizeof(number));
		}
	for (int i = 0; i < look->nkept; i++)
	{
		const SourceColumn *column = &look->source->kept[i];
		Oid published = column->mask != NULL ? mask_type(column->mask, NULL) : column->type;

		row[i] = tells_number(published, shown[i], shown_nulls[i]);
		row[look->nkept + i] = column->mask != NULL ? given_number(column, given[i], given_nulls[i]) : row[i];
	}
}

/* ---- the answer ---- */

static void
tell(const Source *source, const char *column, const char *of, const char *how)
{
	ereport(NOTICE,
			(errmsg("kept column \"%s\" tells of \"%s\", %s", column, of, how),
			 errdetail("Nearly all rows with equal values in one have equal values in the other."),
			 errhint("Leave it out or mask it. If readers may know it, name it in allow_identifying.")));
	tells_remember(source, &source->told->tells, psprintf("%s: %s", column, of));
}

static void
refuse(const Source *source, const SourceColumn *column, const char *name, const char *qi)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION),
		 errmsg("kept column \"%s\" tells the quasi-identifier \"%s\"", name, qi),
		 errdetail(
			 "Nearly all rows with equal values in one have equal values in the other, so a reader could find hidden values of \"%s\" from it.",
			 qi),
		 errhint("%s", kept_way_out(source->told->rows, &column, 1,
									"Leave it out, or name it as a quasi-identifier."))));
}

/* Codes of the quasi-identifiers, and the rows in which each is not shown. */
static void
look_at_quasi_identifiers(Sample *sample)
{
	const TellsLook *look = sample->look;

	sample->qis = palloc(sizeof(Attribute) * look->nqis);
	sample->hidden = palloc(sizeof(bool *) * look->nqis);
	for (int q = 0; q < look->nqis; q++)
	{
		bool *hidden = sample->hidden[q] = palloc(sizeof(bool) * sample->more);

		sample->qis[q] = attribute_of(look->numbers + q, look->width, sample->more);
		for (int64 i = 0; i < sample->more; i++)
		{
			hidden[i] = (look->numbers[i * look->width + look->nqis + HIDDEN + q / 32] >> q % 32 & 1) != 0;
			if (hidden[i])
				sample->some_hidden |= UINT64CONST(1) << q;
		}
		CHECK_FOR_INTERRUPTS();
	}
}

static int64
count_hidden(const Sample *sample, int q)
{
	int64 n = 0;

	for (int64 i = 0; i < sample->more; i++)
		n += sample->hidden[q][i];
	return n;
}

bool
tells_compare(const Source *source, const SourceColumn *column, const char *name, const Attribute *kept,
			  const char *qi, const Attribute *of, const bool *hidden, int64 nhidden)
{
	Determined there = determines(kept, of, hidden, BY_CHANCE);
	Determined back = determines(of, kept, NULL, BY_CHANCE);

	CHECK_FOR_INTERRUPTS();
	if (hidden == NULL)
		there.hidden = there.all && nhidden >= LEAST_JUDGED;
	if (tells_known(column) && (there.hidden || (there.all && back.all)))
		refuse(source, column, name, qi);
	if ((there.all && back.all) || (tells_known(column) && there.all))
	{
		tell(source, name, qi, "a quasi-identifier");
		return true;
	}
	if (column->mask == NULL && back.all && nhidden > 0)
		tell(source, name, qi, "a quasi-identifier from which it follows");
	return false;
}

static void
compare_with_quasi_identifiers(Sample *sample, int c)
{
	const TellsLook *look = sample->look;
	const SourceColumn *column = &look->source->kept[c];

	/* (what is hidden of types that are made up is not known: it is what it is elsewhere) */
	for (int q = 0; q < look->nqis; q++)
		if (tells_compare(look->source, column, column->name, &sample->kept[c], look->source->qis[q].name,
						  &sample->qis[q], look->types != NULL ? sample->hidden[q] : NULL,
						  count_hidden(sample, q)))
			sample->tells[c] |= UINT64CONST(1) << q;
}

/* A column beside a masked one that goes with it undoes the mask. */
static void
compare_with_masked(TellsLook *look, int64 n, const SourceColumn *column, const Attribute *kept)
{
	for (int i = 0; i < look->nkept; i++)
	{
		const SourceColumn *masked = &look->source->kept[i];
		Attribute of;

		if (masked->mask == NULL || mask_shows(masked->mask) == MASK_SHOWS_NOTHING || masked == column)
			continue;
		CHECK_FOR_INTERRUPTS();
		of = attribute_of(look->numbers + look->nqis + BEFORE_KEPT + look->nkept + i, look->width, n);
		if (determines(kept, &of, NULL, BY_CHANCE).all ||
			(mask_shows(masked->mask) == MASK_SHOWS_MOVED && determines(&of, kept, NULL, BY_CHANCE).all))
			tell(look->source, column->name, masked->name, "which is masked");
	}
}

static void
find_what_tells(Sample *sample)
{
	TellsLook *look = sample->look;
	const SourceColumn *kept = look->source->kept;

	sample->kept = palloc(sizeof(Attribute) * look->nkept);
	sample->tells = palloc0(sizeof(uint64) * look->nkept);
	look_at_quasi_identifiers(sample);
	for (int i = 0; i < look->nkept; i++)
		sample->kept[i] =
			attribute_of(look->numbers + look->nqis + BEFORE_KEPT + i, look->width, sample->more);
	for (int i = 0; i < look->nkept; i++)
		if (is_looked_at(&kept[i]))
			compare_with_quasi_identifiers(sample, i);
	for (int i = 0; i < look->nkept; i++)
		if (is_looked_at(&kept[i]) && kept[i].mask == NULL)
			compare_with_masked(look, sample->more, &kept[i], &sample->kept[i]);
	tells_groups(sample);
}

void
tells_end(TellsLook *look)
{
	MemoryContext old = MemoryContextSwitchTo(look->context);
	int64 n = Min(look->rows, look->most);
	Sample sample = {.look = look, .n = n, .more = n + Min(look->rows_hidden, look->most_hidden)};

	if (n >= LEAST_JUDGED)
		find_what_tells(&sample);
	look->source->told->rows = NULL;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(look->context);
}

/* ---- roundings ---- */

/* After a rounding so few rows have a value of their own, and so few hidden values follow from it. */
#define FEW_OWN 0.05
#define FEW_TOLD 0.5

/* From how many thousandths of the range on a rounding is tried, and up to the range itself. */
#define FINEST 1e-5

static bool
is_integral(const SourceColumn *column)
{
	Oid base = getBaseType(column->type);

	return base == INT2OID || base == INT4OID || base == INT8OID;
}

static bool
hides_enough(const Sample *sample, const double *value, double step)
{
	uint32 *number = palloc(sizeof(uint32) * sample->more);
	Attribute rounded;
	bool enough;

	for (int64 i = 0; i < sample->more; i++)
		number[i] =
			isnan(value[i])
				? NO_VALUE
				: (uint32) kanon_mix((uint64) (int64) fmin(fmax(rint(value[i] / step), -9e18), 9e18)) & ~1U;
	rounded = attribute_of(number, 1, sample->more);
	enough = tells_own(sample->look, sample->n, &rounded) <= FEW_OWN;
	for (int q = 0; q < sample->look->nqis && enough; q++)
		if (sample->some_hidden & UINT64CONST(1) << q)
		{
			Determined told = determines(&rounded, &sample->qis[q], sample->hidden[q], BY_CHANCE);

			enough = !told.hidden && !(count_hidden(sample, q) >= LEAST_JUDGED && told.of_hidden > FEW_TOLD);
		}
	attribute_forget(&rounded);
	pfree(number);
	CHECK_FOR_INTERRUPTS();
	return enough;
}

double
tells_rounding(TellsLook *look, const SourceColumn *column)
{
	static const double leading[] = {1, 2, 5};
	int64 n = Min(look->rows, look->most);
	Sample sample = {.look = look, .n = n, .more = n + Min(look->rows_hidden, look->most_hidden)};
	int place = look->measured[column - look->source->kept];
	double *value = palloc(sizeof(double) * Max(sample.more, 1));
	double least = INFINITY, most = -INFINITY;

	if (place == 0 || n < LEAST_JUDGED)
		return 0;
	for (int64 i = 0; i < sample.more; i++)
	{
		memcpy(&value[i], look->numbers + i * look->width + place, sizeof(double));
		value[i] = isinf(value[i]) ? NAN : value[i];
		least = fmin(least, value[i]);
		most = fmax(most, value[i]);
	}
	look_at_quasi_identifiers(&sample);
	for (double power = pow(10, floor(log10((most - least) * FINEST))); power <= most - least; power *= 10)
		for (int l = 0; l < (int) lengthof(leading); l++)
			if ((power >= 1 || !is_integral(column)) && hides_enough(&sample, value, leading[l] * power))
				return leading[l] * power;
	return 0;
}
