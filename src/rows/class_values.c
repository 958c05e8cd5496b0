/*
 * class_values.c: counts what classes give away of kept columns, while their rows are written.
 *
 * If all rows of a class have one value of a kept column, it can be read off for everybody in the class, though k was
 * kept (A. Machanavajjhala et al., "l-Diversity", TKDD 2007).  And if a kept column repeats in a class as a person
 * would, k rows are fewer than k persons.
 *
 * Rows come class by class, and in random order within a class.  A column is looked at only until the class cannot be
 * one of those that are counted: with many values that is after two or three rows.  Classes that a reader cannot tell
 * apart are one class.
 */
#include "compat.h"
#include "rows/verify.h"
#include "rows/cell_values.h"
#include "core/util/number.h"
#include "hierarchies/hierarchy.h"
#include "masks/mask_apply.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "port/pg_bitutils.h"
#include "utils/lsyscache.h"

/* Different values of a class that are told apart: rows come in random order, so the most frequent is among the first. */
#define MOST_VALUES 16

/* Values of which it is remembered in how many classes they are; and rows after which a column is judged. */
#define MOST_SAMPLED 16384
#define ROWS_JUDGED 4096

/* A column that may be a person: so many of its rows repeat one of their class, and so many times as often as by chance. */
#define LEAST_REPEATED 0.05
#define ABOVE_CHANCE 10.0

/* Persons of a class are counted up to this many. */
#define MOST_PERSONS (1 << 20)

typedef struct Sampled
{
	uint64 hash;
	uint32 last;    /* the class of its last row, and 1 */
	uint32 rows;    /* saturates */
	uint32 classes; /* saturates */
	char status;
} Sampled;

#define SH_PREFIX sampled
#define SH_ELEMENT_TYPE Sampled
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(table, key) ((uint32) ((key) >> 32))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The different persons of a class, until they are enough. */
typedef struct Distinct
{
	uint64 *slot; /* [size], a power of two; 0: free */
	uint32 size;
	int64 n;
	int64 rows; /* that have one */
} Distinct;

/* The values of one column in a class. */
typedef struct ClassColumn
{
	bool open; /* one value may still have nine tenths of the rows */
	int nvalues;
	uint64 value[MOST_VALUES];
	uint32 count[MOST_VALUES];
	Distinct persons;
} ClassColumn;

typedef struct ClassState
{
	int64 rows; /* of the class, noted or not */
	int64 seen;
	ClassColumn *columns;
} ClassState;

typedef struct LookColumn
{
	bool by_value;
	int16 length;
	bool strong;          /* it need repeat but once */
	bool again;           /* a class with fewer than k has one of them twice */
	sampled_hash *sample; /* NULL: it is nobody */
	uint64 forgotten;     /* hashes with one of these bits are not in the sample */
	ColumnTold told;
} LookColumn;

struct ClassLook
{
	MemoryContext context;
	Border *border;
	int64 k;
	int ncolumns;
	LookColumn *columns;
	const KanonRelease *release;
	const uint32 *alike; /* [nclasses] the first class that looks the same; NULL: all differ */
	ClassState **kept;   /* [nclasses] of those that others look like */
	ClassState *own;     /* of a class like no other */
	ClassState *at;      /* the class at hand */
	uint32 number;       /* of it */
	int64 rows;          /* noted */
	int64 judged;        /* so many, when columns are judged next */
	double pairs;        /* the squares of the classes' rows, added up */
	int64 classes;
};

/* ---- begin ---- */

/* Measurements, dates and choices repeat, and are nobody. */
static bool
may_be_person(const SourceColumn *column)
{
	Oid base = getBaseType(column->type);
	char category;
	bool preferred;

	if (column->mask != NULL && mask_shows(column->mask) != MASK_SHOWS_NAME)
		return false;
	get_type_category_preferred(base, &category, &preferred);
	return category == TYPCATEGORY_STRING || base == INT2OID || base == INT4OID || base == INT8OID ||
		   base == NUMERICOID || base == UUIDOID || base == BYTEAOID;
}

/* One that is masked as what says whom a row is about, or is called so and let through by the caller. */
static bool
is_called_so(const SourceColumn *column)
{
	ColumnValues values = {.distinct = INFINITY};
	const char *why;

	return mask_shows(column->mask) == MASK_SHOWS_NAME ||
		   (column->answered && role_by_name(column->name, &values, &why) == ROLE_IDENTIFIER);
}

static ClassState *
make_state(ClassLook *look)
{
	ClassState *state = MemoryContextAllocZero(look->context, sizeof(ClassState));

	state->columns = MemoryContextAllocZero(look->context, sizeof(ClassColumn) * look->ncolumns);
	return state;
}

ClassLook *
class_look_begin(const Source *source, const Target *target, const KanonProblem *problem, bool persons,
				 Border *border)
{
	ClassLook *look;
	int ncolumns = source->nkept - target->beside;

	/* (records of a freeform release are no classes, and combinations of few columns are not either) */
	if (ncolumns == 0 || source->told == NULL || problem->freeform != NULL || problem->known != NULL)
		return NULL;
	persons = persons || target->numbered || target->taker != NULL || problem->k_map;
	look = palloc0(sizeof(ClassLook));
	look->border = border;
	look->context = AllocSetContextCreate(border->context, "kanon class values", ALLOCSET_DEFAULT_SIZES);
	look->k = Min(problem->k, MOST_PERSONS);
	look->ncolumns = ncolumns;
	look->columns = palloc0(sizeof(LookColumn) * ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		const SourceColumn *column = &source->kept[i];
		LookColumn *mine = &look->columns[i];

		get_typlenbyval(column->mask != NULL ? mask_type(column->mask, NULL) : column->type, &mine->length,
						&mine->by_value);
		mine->told.name = column->name;
		mine->strong = is_called_so(column);
		if (!persons && may_be_person(column) &&
			!label_answers(source->relid, get_attnum(source->relid, column->name)))
			mine->sample = sampled_create(look->context, 256, NULL);
	}
	look->own = make_state(look);
	look->judged = ROWS_JUDGED;
	return look;
}

/* ---- a class ---- */

static void
reset(ClassLook *look, ClassState *state, int64 rows)
{
	state->rows = rows;
	state->seen = 0;
	for (int i = 0; i < look->ncolumns; i++)
	{
		ClassColumn *column = &state->columns[i];

		column->open = true;
		column->nvalues = 0;
		column->persons.n = column->persons.rows = 0;
		if (column->persons.slot != NULL)
			memset(column->persons.slot, 0, sizeof(uint64) * column->persons.size);
	}
}

/* Its figures are added to those of the table. */
static void
close_class(ClassLook *look, ClassState *state)
{
	if (state->seen == 0)
		return;
	look->classes++;
	for (int i = 0; i < look->ncolumns; i++)
	{
		const ClassColumn *column = &state->columns[i];
		ColumnTold *told = &look->columns[i].told;
		int64 most = 0;

		for (int v = 0; column->open && v < column->nvalues; v++)
			most = Max(most, column->count[v]);
		if (most == state->seen)
		{
			told->one_classes++;
			told->one_rows += state->seen;
		}
		if (10 * most >= 9 * state->seen && most > 0)
		{
			told->most_classes++;
			told->most_rows += state->seen;
		}
		if (look->columns[i].sample == NULL)
			continue;
		if (look->classes == 1 || column->persons.n < told->least)
			told->least = column->persons.n;
		if (column->persons.n <= 1)
			told->single_classes++;
		if (column->persons.n < look->k && column->persons.rows > column->persons.n)
			look->columns[i].again = true;
		if (column->persons.n < look->k)
		{
			told->few_classes++;
			told->few_rows += state->seen;
		}
	}
	state->seen = 0;
}

/*
 * Classes can look the same to a reader where one shows a NULL of the source and the other nothing, or where a label
 * is the text of a value or of another level.
 */
static const uint32 *
find_alike(ShownClass *shown, Border *border)
{
	const Source *source = shown->source;
	bool may = false;

	for (int c = 0; c < source->nqis && !may; c++)
		may = shown->problem->columns[source->levels.first[c]].has_null ||
			  source->qis[c].show_as == SHOW_AS_TEXT;
	return may && !shown->target->mark ? shown_class_alike(shown, border) : NULL;
}

void
class_look_release(ClassLook *look, const KanonRelease *release, ShownClass *shown)
{
	const uint32 *alike;
	Size bytes = sizeof(ClassState *) * (Size) release->nclasses;

	if (look == NULL)
		return;
	if (look->release != NULL)
		close_class(look, look->own);
	alike = shown != NULL ? find_alike(shown, look->border) : NULL;
	look->release = release;
	look->alike = alike;
	if (alike == NULL)
		return;
	look->kept = MemoryContextAllocHuge(look->context, bytes);
	memset(look->kept, 0, bytes);
	for (uint32 i = 0; i < release->nclasses; i++)
		if (alike[i] != i && look->kept[alike[i]] == NULL)
		{
			look->kept[alike[i]] = make_state(look);
			reset(look, look->kept[alike[i]], release->classes[alike[i]].rows);
		}
	for (uint32 i = 0; i < release->nclasses; i++)
		if (alike[i] != i)
			look->kept[alike[i]]->rows += release->classes[i].rows;
}

static void
judge(ClassLook *look, LookColumn *column)
{
	double rows = 0, repeated = 0, pairs = 0, chance;
	sampled_iterator at;
	Sampled *value;

	sampled_start_iterate(column->sample, &at);
	while ((value = sampled_iterate(column->sample, &at)) != NULL)
	{
		rows += value->rows;
		repeated += value->rows - value->classes;
		pairs += (double) value->rows * (value->rows - 1.0) / 2;
	}
	/* two rows of one value are in one class by chance */
	chance = pairs * look->pairs / ((double) look->rows * (double) look->rows);
	column->told.repeats = column->strong
							   ? column->again
							   : rows >= LEAST_JUDGED && repeated > 0 && repeated >= LEAST_REPEATED * rows &&
									 repeated >= ABOVE_CHANCE * chance;
}

/* After so many rows most columns are nobody, and are not looked at any more. */
static void
judge_early(ClassLook *look)
{
	for (int i = 0; i < look->ncolumns; i++)
	{
		LookColumn *column = &look->columns[i];

		if (column->sample == NULL || column->strong)
			continue;
		judge(look, column);
		if (column->told.repeats)
			continue;
		sampled_destroy(column->sample);
		column->sample = NULL;
	}
}

void
class_look_enter(ClassLook *look, uint32 class_)
{
	int64 rows;
	uint32 first;

	if (look == NULL)
		return;
	rows = look->release->classes[class_].rows;
	first = look->alike != NULL ? look->alike[class_] : class_;
	close_class(look, look->own);
	if (look->rows >= look->judged)
	{
		judge_early(look);
		look->judged *= 2;
	}
	look->number++;
	look->pairs += (double) rows * (double) rows;
	if (look->alike != NULL && look->kept[first] != NULL)
		look->at = look->kept[first];
	else
	{
		look->at = look->own;
		reset(look, look->own, rows);
	}
}

/* ---- a row ---- */

static uint64
stored_hash(const LookColumn *column, Datum value, bool isnull)
{
	uint64 hash;

	if (isnull)
		return 1;
	if (column->by_value)
		hash = kanon_mix((uint64) value);
	else if (column->length == -1)
	{
		struct varlena *plain = PG_DETOAST_DATUM_PACKED(value);

		hash = hash_bytes_extended((const unsigned char *) VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain), 0);
		if ((Pointer) plain != DatumGetPointer(value))
			pfree(plain);
	}
	else
		hash = hash_bytes_extended((const unsigned char *) DatumGetPointer(value),
								   column->length > 0 ? column->length : (int) strlen(DatumGetCString(value)),
								   0);
	return hash > 1 ? hash : hash + 2;
}

static void
forget_half(ClassLook *look, LookColumn *column)
{
	sampled_hash *sample = sampled_create(look->context, MOST_SAMPLED, NULL);
	sampled_iterator at;
	Sampled *value;

	column->forgotten = column->forgotten << 1 | 1;
	sampled_start_iterate(column->sample, &at);
	while ((value = sampled_iterate(column->sample, &at)) != NULL)
		if ((value->hash & column->forgotten) == 0)
		{
			bool found;
			Sampled *copy = sampled_insert(sample, value->hash, &found);

			copy->last = value->last;
			copy->rows = value->rows;
			copy->classes = value->classes;
		}
	sampled_destroy(column->sample);
	column->sample = sample;
}

/* In how many classes a value is. */
static void
note_sample(ClassLook *look, LookColumn *column, uint64 hash)
{
	bool found;
	Sampled *value;

	if ((hash & column->forgotten) != 0)
		return;
	value = sampled_insert(column->sample, hash, &found);
	if (!found)
		value->last = value->rows = value->classes = 0;
	if (value->rows < PG_UINT32_MAX)
	{
		value->rows++;
		value->classes += value->last != look->number + 1 ? 1 : 0;
	}
	value->last = look->number + 1;
	if (column->sample->members >= MOST_SAMPLED)
		forget_half(look, column);
}

static void
note_person(const ClassLook *look, Distinct *persons, uint64 hash)
{
	uint32 place;

	persons->rows++;
	if (persons->n >= look->k)
		return;
	if (persons->slot == NULL)
	{
		persons->size = pg_nextpower2_32((uint32) (2 * look->k));
		persons->slot = MemoryContextAllocZero(look->context, sizeof(uint64) * persons->size);
	}
	place = (uint32) (hash >> 32) & (persons->size - 1);
	while (persons->slot[place] != 0 && persons->slot[place] != hash)
		place = (place + 1) & (persons->size - 1);
	persons->n += persons->slot[place] == 0 ? 1 : 0;
	persons->slot[place] = hash;
}

/* Closes the column when too many rows have other values than any. */
static void
note_value(ClassColumn *column, const ClassState *state, uint64 hash)
{
	uint32 most = 0;
	int v = 0;

	while (v < column->nvalues && column->value[v] != hash)
		v++;
	if (v == column->nvalues && v < MOST_VALUES)
	{
		column->value[v] = hash;
		column->count[v] = 0;
		column->nvalues++;
	}
	if (v < MOST_VALUES)
		column->count[v]++;
	for (v = 0; v < column->nvalues; v++)
		most = Max(most, column->count[v]);
	column->open = 10 * (state->seen - most) <= state->rows;
}

void
class_look_note(ClassLook *look, const Datum *values, const bool *nulls)
{
	ClassState *state = look != NULL ? look->at : NULL;

	if (look == NULL)
		return;
	state->seen++;
	look->rows++;
	for (int i = 0; i < look->ncolumns; i++)
	{
		LookColumn *column = &look->columns[i];
		ClassColumn *mine = &state->columns[i];
		uint64 hash;

		if (!mine->open && column->sample == NULL)
			continue;
		hash = stored_hash(column, values[i], nulls[i]);
		if (mine->open)
			note_value(mine, state, hash);
		if (column->sample == NULL || nulls[i])
			continue;
		note_sample(look, column, hash);
		note_person(look, &mine->persons, hash);
	}
}

/* ---- the end ---- */

/* k counts rows, and a class has fewer of what a kept column says: of persons, it may be. */
static void
tell_few(const ClassLook *look, const ColumnTold *told)
{
	ereport(
		NOTICE,
		(errmsg("classes have fewer than k different values of kept column \"%s\", which may be a person's",
				told->name),
		 errdetail("Its values repeat within classes, as those of persons with several rows do. " INT64_FORMAT
				   " of " INT64_FORMAT " classes, with " INT64_FORMAT " of " INT64_FORMAT
				   " rows, have fewer than " INT64_FORMAT " of them; the smallest has " INT64_FORMAT ".",
				   told->few_classes, look->classes, told->few_rows, look->rows, look->k, told->least),
		 errhint("Count persons by the rule kanon_subject('%s'). Label the column 'keep' if it does not "
				 "say whom a row is about.",
				 told->name)));
}

ClassesTold *
class_look_end(ClassLook *look)
{
	ClassesTold *told = palloc0(sizeof(ClassesTold));

	close_class(look, look->own);
	for (uint32 i = 0; look->alike != NULL && i < look->release->nclasses; i++)
		if (look->kept[i] != NULL)
			close_class(look, look->kept[i]);
	told->classes = look->classes;
	told->ncolumns = look->ncolumns;
	told->columns = palloc(sizeof(ColumnTold) * look->ncolumns);
	for (int i = 0; i < look->ncolumns; i++)
	{
		if (look->columns[i].sample != NULL && look->rows > 0)
			judge(look, &look->columns[i]);
		if (look->columns[i].told.repeats && look->columns[i].told.few_classes > 0)
			tell_few(look, &look->columns[i].told);
		told->columns[i] = look->columns[i].told;
	}
	MemoryContextDelete(look->context);
	return told;
}
