/*
 * identifying_columns.c: tells whether a kept column identifies.
 *
 * A name, an address or a number that nearly every row has for itself undoes any anonymity of the columns beside it.
 * So kanon counts the values of kept columns while it writes them.  It hashes the bytes as they are stored, which
 * runs nobody's code, and keeps a bounded sample of the hashes (adaptive sampling: P. Flajolet, "On adaptive
 * sampling", Computing 43, 1990).  Whenever the table of hashes is full, it forgets those with one more bit set.  A
 * fair sample of the values is left, with all their rows.  Small tables are counted exactly.
 */
#include "compat.h"
#include "rows/verify.h"
#include "host/gate.h"
#include "distributed/distributed.h"
#include "masks/mask_apply.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "core/privacy/rules.h"
#include "core/util/number.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

/* From so many rows with a value on a column is judged. */
#define LEAST_ROWS 10

/* Values that are remembered of a column, and of all columns of a wide table. */
#define MOST_VALUES 65536
#define MOST_OF_ALL (64 * MOST_VALUES)

typedef struct KeptValue
{
	uint32 hash;
	uint32 rows;   /* that have it; saturates */
	uint32 person; /* the first of them */
	bool shared;   /* by another person */
	char status;
} KeptValue;

#define SH_PREFIX kept
#define SH_ELEMENT_TYPE KeptValue
#define SH_KEY_TYPE uint32
#define SH_KEY hash
#define SH_HASH_KEY(table, key) murmurhash32(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct KeptColumn
{
	const SourceColumn *column;
	kept_hash *values;
	bool texts;       /* may be names: all of it is counted */
	bool shifted;     /* by a time that is a person's own, so that everybody's values differ */
	uint32 forgotten; /* hashes with one of these bits are not in the sample */
	bool by_value;
	int16 length;
	FmgrInfo hash; /* of a type or collation in which values are equal that differ in their bytes; or none */
	int64 shared;  /* rows noted with a value that is not a row's (or person's) own */
} KeptColumn;

struct KeptLook
{
	MemoryContext context;
	bool persons;
	int64 rows; /* that will be noted; 0: not known */
	int who;    /* the column that says whom rows are about, or -1 */
	bool who_by_value;
	int16 who_length;
	uint32 most; /* values that are remembered of a column */
	int nkept;
	KeptColumn *columns; /* [nkept] values NULL: not looked at */
	const Source *source;
};

/* Texts that are published as they are, and of which nobody has said that they name nobody. */
static bool
may_be_names(const Source *source, const SourceColumn *column)
{
	char category;
	bool preferred;

	get_type_category_preferred(getBaseType(column->type), &category, &preferred);
	return source->told != NULL && category == TYPCATEGORY_STRING && column->mask == NULL &&
		   !column->may_identify && !label_answers(source->relid, get_attnum(source->relid, column->name));
}

/* Texts that a collation calls equal count as one. */
static void
look_at_collation(KeptColumn *column, MemoryContext context)
{
	Oid base = getBaseType(column->column->type);

	if (column->column->mask == NULL && (base == TEXTOID || base == VARCHAROID) &&
		OidIsValid(column->column->collation) && !get_collation_isdeterministic(column->column->collation))
		fmgr_info_cxt(F_HASHTEXT, &column->hash, context);
}

KeptLook *
kept_begin(const Source *source, int who, int64 rows, Border *border)
{
	KeptLook *look;
	bool any = false;

	for (int i = 0; i < source->nkept; i++)
		any = any || !source->kept[i].may_identify;
	if (!any)
		return NULL;
	look = palloc0(sizeof(KeptLook));
	look->context = AllocSetContextCreate(border->context, "kanon kept", ALLOCSET_DEFAULT_SIZES);
	look->source = source;
	look->nkept = source->nkept;
	look->rows = rows;
	look->who = who;
	if (who >= 0)
		get_typlenbyval(source->kept[who].type, &look->who_length, &look->who_by_value);
	look->most = Min(MOST_VALUES, MOST_OF_ALL / source->nkept);
	look->columns = palloc0(sizeof(KeptColumn) * source->nkept);
	for (int i = 0; i < source->nkept; i++)
	{
		KeptColumn *column = &look->columns[i];

		column->column = &source->kept[i];
		get_typlenbyval(source->kept[i].mask != NULL ? mask_type(source->kept[i].mask, NULL)
													 : source->kept[i].type,
						&column->length, &column->by_value);
		column->shifted = mask_shows(source->kept[i].mask) == MASK_SHOWS_MOVED;
		column->texts = may_be_names(source, &source->kept[i]);
		look_at_collation(column, look->context);
		if (!source->kept[i].may_identify)
			column->values = kept_create(look->context, 256, NULL);
	}
	return look;
}

static inline uint32
image_hash(Datum datum, bool by_value, int16 length)
{
	return by_value ? (uint32) kanon_mix((uint64) datum) : datum_image_hash(datum, by_value, length);
}

/* Half of the values go, with all their rows. */
static void
forget_half(KeptLook *look, KeptColumn *column)
{
	kept_hash *values = kept_create(look->context, look->most, NULL);
	kept_iterator at;
	KeptValue *value;

	column->forgotten = column->forgotten << 1 | 1;
	kept_start_iterate(column->values, &at);
	while ((value = kept_iterate(column->values, &at)) != NULL)
		if ((value->hash & column->forgotten) == 0)
		{
			bool found;
			KeptValue *copy = kept_insert(values, value->hash, &found);

			copy->rows = value->rows;
			copy->person = value->person;
			copy->shared = value->shared;
		}
	kept_destroy(column->values);
	column->values = values;
}

/* Has no other row, or person, the value? */
static bool
is_own(const KeptLook *look, const KeptColumn *column, const KeptValue *value)
{
	return look->persons && !column->shifted ? !value->shared : value->rows == 1;
}

/* Once too many of all rows share their values with others, no more of them need be looked at. */
static void
end_early(const KeptLook *look, KeptColumn *column)
{
	if (look->rows == 0 || column->forgotten != 0 || column->texts ||
		(double) column->shared <= (1 - KANON_IDENTIFYING) * (double) look->rows + 1)
		return;
	kept_destroy(column->values);
	column->values = NULL;
}

static void
note_value(KeptLook *look, KeptColumn *column, Datum datum, uint32 person)
{
	uint32 hash =
		OidIsValid(column->hash.fn_oid)
			? murmurhash32(DatumGetUInt32(FunctionCall1Coll(&column->hash, column->column->collation, datum)))
			: image_hash(datum, column->by_value, column->length);
	KeptValue *value;
	bool found, was_own;

	if ((hash & column->forgotten) != 0)
		return;
	value = kept_insert(column->values, hash, &found);
	if (!found)
	{
		value->rows = 0;
		value->person = person;
		value->shared = false;
	}
	was_own = found && is_own(look, column, value);
	if (value->rows < PG_UINT32_MAX)
		value->rows++;
	value->shared = value->shared || value->person != person;
	if (!is_own(look, column, value))
		column->shared += was_own ? value->rows : 1;
	if (column->values->members >= look->most)
		forget_half(look, column);
	else
		end_early(look, column);
}

/* Two persons in some billions are taken for one, which hides nothing that matters. */
uint32
kept_person(const KeptLook *look, const Datum *values, const bool *nulls)
{
	if (look->who < 0)
		return KEPT_NOBODY;
	if (nulls[look->who])
		return 0;
	return image_hash(values[look->who], look->who_by_value, look->who_length) & (KEPT_NOBODY >> 1);
}

void
kept_note(KeptLook *look, const Datum *values, const bool *nulls, uint32 person)
{
	look->persons = person != KEPT_NOBODY;
	for (int i = 0; i < look->nkept; i++)
		if (look->columns[i].values != NULL && !nulls[i])
			note_value(look, &look->columns[i], values[i], person);
}

/* ---- counted where the rows are ---- */

/* At most so many columns are looked at together: the more there are, the fewer rows share all their values. */
#define MOST_AT_ONCE 64

typedef struct Count
{
	KeptLook *look;
	const char *name;     /* of what is read */
	KeptColumn **columns; /* [n] that are asked about */
	int n;
} Count;

static void
raise_no_sample(void)
{
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
					errmsg("the reports of workers on kept columns cannot be read")));
}

/* Least and largest hash of the rows' persons follow their number, when these are known. */
typedef struct ValueRows
{
	uint64 rows;
	int64 least;
	int64 most;
} ValueRows;

static ValueRows
rows_of(const Count *count, const TupleTableSlot *slot)
{
	ValueRows rows = {.rows = (uint64) gate_rows(count->name, slot, 1, 0)};

	gate_refuse_null(count->name, slot, 0);
	if (count->look->persons)
	{
		gate_refuse_null(count->name, slot, 2);
		gate_refuse_null(count->name, slot, 3);
		rows.least = DatumGetInt64(slot->tts_values[2]);
		rows.most = DatumGetInt64(slot->tts_values[3]);
	}
	return rows;
}

static void
count_value(KeptLook *look, KeptColumn *column, uint32 hash, ValueRows rows)
{
	uint32 person = look->persons ? (uint32) rows.least & (KEPT_NOBODY >> 1) : KEPT_NOBODY;
	bool found;
	KeptValue *value = kept_insert(column->values, hash, &found);

	if (!found)
	{
		value->rows = 0;
		value->person = person;
		value->shared = false;
	}
	value->rows = (uint32) Min(value->rows + rows.rows, (uint64) PG_UINT32_MAX);
	if (look->persons)
		value->shared = value->shared || value->person != person || rows.least != rows.most;
}

/* The hash of one column's value, and its rows. */
static bool
receive_count(void *arg, TupleTableSlot *slot)
{
	Count *count = arg;

	count_value(count->look, count->columns[0], (uint32) ((uint64) DatumGetInt64(slot->tts_values[0]) >> 32),
				rows_of(count, slot));
	return true;
}

/* Counts the values in the sample that several rows share, and these rows. */
static void
count_sampled_values(Count *count, bytea *sampled, ValueRows rows)
{
	const char *at = VARDATA_ANY(sampled);

	for (int left = VARSIZE_ANY_EXHDR(sampled); left > 0; left -= SAMPLED, at += SAMPLED)
	{
		uint16 c;
		uint32 hash;

		if (left < SAMPLED)
			raise_no_sample();
		memcpy(&c, at, sizeof(c));
		memcpy(&hash, at + sizeof(c), sizeof(hash));
		c = pg_ntoh16(c);
		if (c >= count->n)
			raise_no_sample();
		count_value(count->look, count->columns[c], pg_ntoh32(hash), rows);
	}
}

static bool
receive_sampled(void *arg, TupleTableSlot *slot)
{
	Count *count = arg;

	ValueRows rows = rows_of(count, slot);

	count_sampled_values(count, DatumGetByteaPP(slot->tts_values[0]), rows);
	return true;
}

static void
count_by(Count *count, const Source *source, const char *from, const char *key, const char *condition,
		 const char *person, bool sampled)
{
	Gate *gate = gate_create(source->name, source->relid, person != NULL ? 4 : 2);

	gate_computed(gate, "value", sampled ? BYTEAOID : INT8OID);
	gate_computed(gate, "count", INT8OID);
	if (person != NULL)
	{
		gate_computed(gate, "min", INT8OID);
		gate_computed(gate, "max", INT8OID);
	}
	gate_select(
		gate,
		psprintf("SELECT %s, pg_catalog.count(*)%s FROM %s WHERE %s GROUP BY 1", key,
				 person != NULL ? psprintf(", pg_catalog.min(%s), pg_catalog.max(%s)", person, person) : "",
				 from, condition),
		false, sampled ? receive_sampled : receive_count, count);
	count->n = 0;
}

static void
count_sampled(Count *count, const Source *source, const char *functions, StringInfo values, uint32 forgotten,
			  const char *from, const char *person)
{
	char *key = psprintf("%s.kanon_sampled(%u, ROW(%s))", functions, forgotten, values->data);

	count_by(count, source, from, key, psprintf("%s IS NOT NULL", key), person, true);
	resetStringInfo(values);
}

/* How many bits of a hash are ignored, so that a sample of the usual size is left of a table whose rows may all differ. */
static uint32
bits_forgotten(const KeptLook *look, int64 rows)
{
	uint32 forgotten = 0;

	while (rows / ((int64) forgotten + 1) > look->most && forgotten < PG_INT32_MAX)
		forgotten = forgotten << 1 | 1;
	return forgotten;
}

/* By a hash of the text, whatever type it is.  All columns at once where workers have kanon. */
void
kept_count(KeptLook *look, const Source *source, const char *functions, const char *from, const char *of,
		   const char *person, int64 rows)
{
	Count count = {.look = look, .name = source->name, .columns = palloc(sizeof(KeptColumn *) * look->nkept)};
	uint32 forgotten = bits_forgotten(look, rows);
	StringInfoData values;

	look->persons = person != NULL;
	initStringInfo(&values);
	for (int i = 0; i < look->nkept; i++)
	{
		KeptColumn *column = &look->columns[i];
		char *value = psprintf("%s%s", of, column->column->quoted);

		if (column->values == NULL)
			continue;
		column->forgotten = forgotten;
		count.columns[count.n++] = column;
		if (functions == NULL)
		{
			char *hash = psprintf(
				"pg_catalog.hashtextextended(pg_catalog.concat(%s) COLLATE pg_catalog.\"C\", 0)", value);

			count_by(&count, source, from, hash,
					 psprintf("%s IS NOT NULL AND %s OPERATOR(pg_catalog.&) %u::pg_catalog.int8"
							  " OPERATOR(pg_catalog.=) 0",
							  value, hash, forgotten),
					 person, false);
			continue;
		}
		appendStringInfo(&values, "%s%s", count.n > 1 ? ", " : "", value);
		if (count.n == MOST_AT_ONCE)
			count_sampled(&count, source, functions, &values, forgotten, from, person);
	}
	if (count.n > 0)
		count_sampled(&count, source, functions, &values, forgotten, from, person);
}

static void
receive_beside(void *arg, bytea *sampled, int64 rows)
{
	count_sampled_values(arg, sampled, (ValueRows){.rows = (uint64) rows});
}

void
kept_count_beside(KeptLook *look, Source *source, int64 rows)
{
	MemoryContext old = MemoryContextSwitchTo(look->context);
	ShardSample *sample = palloc0(sizeof(ShardSample));
	Count *count = palloc0(sizeof(Count));

	count->look = look;
	count->columns = palloc(sizeof(KeptColumn *) * look->nkept);
	sample->names = palloc(sizeof(char *) * look->nkept);
	sample->forgotten = bits_forgotten(look, rows);
	sample->receive = receive_beside;
	sample->arg = count;
	for (int i = 0; i < look->nkept; i++)
	{
		KeptColumn *column = &look->columns[i];

		if (column->values == NULL)
			continue;
		column->forgotten = sample->forgotten;
		count->columns[count->n++] = column;
		sample->names[sample->n++] = column->column->name;
	}
	look->persons = false;
	source->sample = sample;
	MemoryContextSwitchTo(old);
}

KeptFigures
kept_figures(const KeptLook *look, int c)
{
	const KeptColumn *column = &look->columns[c];
	KeptFigures figures = {0};
	double rows = 0, own = 0;
	kept_iterator at;
	KeptValue *value;

	if (column->values == NULL)
		return figures;
	kept_start_iterate(column->values, &at);
	while ((value = kept_iterate(column->values, &at)) != NULL)
	{
		rows += value->rows;
		if (is_own(look, column, value))
			own += value->rows;
	}
	/* each value that is remembered stands for as many as the sample leaves out */
	figures.distinct = (double) column->values->members * ((double) column->forgotten + 1);
	figures.rows = rows * ((double) column->forgotten + 1);
	figures.own = rows > 0 ? own / rows : 0;
	figures.identifies = rows >= LEAST_ROWS && figures.own >= KANON_IDENTIFYING;
	return figures;
}

static bool
is_integer(const SourceColumn *column)
{
	Oid base = getBaseType(column->type);

	return base == INT2OID || base == INT4OID || base == INT8OID;
}

static char *
rounding_text(double step)
{
	return step >= 1 ? psprintf("%.0f", step) : psprintf("%g", step);
}

/* Names a mask that fits: a rounded number for a measurement, a pseudonym for a name. */
static const char *
mask_fitting(const SourceColumn *column, double step, bool tried)
{
	if (step > 0 && !is_integer(column))
		return psprintf("{\"round\": %s}", rounding_text(step));
	return !tried && column->mask == NULL && !is_integer(column) && type_is_number(column->type)
			   ? "{\"round\": 1000}"
			   : "{\"pseudonym\": \"release\"}";
}

/* Says which roundings were tried and found, of numbers that may be measured or count something. */
static void
say_roundings(StringInfo hint, const SourceColumn *column, double step, bool tried)
{
	if (!type_is_number(column->type))
		return;
	if (!tried)
		appendStringInfo(hint, is_integer(column)
								   ? " A whole number that is measured can be rounded: {\"round\": 100}."
								   : " Rounding a number more coarsely hides more of it.");
	else if (step == 0)
		appendStringInfo(hint, " No rounding of \"%s\" hides enough of it.", column->name);
	else if (is_integer(column))
		appendStringInfo(
			hint, " If \"%s\" is measured, {\"round\": %s} is the least rounding that hides enough of it.",
			column->name, rounding_text(step));
	else
		appendStringInfo(hint, " No finer rounding of \"%s\" hides enough of it.", column->name);
}

char *
kept_way_out(TellsLook *rows, const SourceColumn *const *columns, int n, const char *sentence)
{
	StringInfoData hint;
	double *step = palloc0(sizeof(double) * Max(n, 1));
	bool times = false;

	initStringInfo(&hint);
	appendStringInfo(&hint, "%s Or mask it: let mask be '{", sentence);
	for (int i = 0; i < n; i++)
	{
		Oid base = getBaseType(columns[i]->type);

		if (rows != NULL && type_is_number(columns[i]->type))
			step[i] = tells_rounding(rows, columns[i]);
		times = times || base == DATEOID || base == TIMESTAMPOID || base == TIMESTAMPTZOID;
		appendStringInfo(&hint, "%s\"%s\": %s", i > 0 ? ", " : "", columns[i]->name,
						 mask_fitting(columns[i], step[i], rows != NULL));
	}
	appendStringInfoString(&hint, "}'.");
	for (int i = 0; i < n; i++)
		say_roundings(&hint, columns[i], step[i], rows != NULL);
	if (times)
		appendStringInfoString(
			&hint,
			" A date is coarsened as a quasi-identifier with a hierarchy; kept as a date it is shifted by a "
			"time that each person has: {\"shift\": \"case_id\", \"days\": 30}, where case_id tells the persons apart.");
	appendStringInfoString(&hint,
						   " If readers may know whom each row is about, name it in allow_identifying.");
	pfree(step);
	return hint.data;
}

/* A text that few rows share may be a name, whatever the column is called: kanon_suggest says so, too. */
static void
tell_names(const KeptLook *look)
{
	for (int i = 0; i < look->nkept; i++)
	{
		const SourceColumn *column = look->columns[i].column;
		KeptFigures figures = kept_figures(look, i);
		ColumnValues values = {.distinct = INFINITY, .texts = true};
		const char *why;

		/* (one that is called like a name was told before) */
		if (!look->columns[i].texts || figures.identifies ||
			!values_are_few(figures.rows, figures.distinct) ||
			role_by_name(column->name, &values, &why) != ROLE_NONE)
			continue;
		ereport(NOTICE, (errmsg("kept column \"%s\" may name persons", column->name),
						 errdetail("It has texts that few rows share: %.1f rows a value on the average.",
								   figures.rows / figures.distinct),
						 errhint("Leave it out or mask it if it names persons. Label it 'keep' if it names "
								 "nobody; name it in allow_identifying if readers may know the persons.")));
		kept_tell_name(look->source, column->name);
	}
}

void
kept_end(KeptLook *look)
{
	const SourceColumn **columns = palloc(sizeof(SourceColumn *) * look->nkept);
	StringInfoData names, shares;
	int n = 0;

	initStringInfo(&names);
	initStringInfo(&shares);
	for (int i = 0; i < look->nkept; i++)
	{
		KeptFigures figures = kept_figures(look, i);

		if (!figures.identifies)
			continue;
		appendStringInfo(&names, "%s\"%s\"", n > 0 ? ", " : "", look->columns[i].column->name);
		appendStringInfo(&shares, "%s%.0f %% in \"%s\"", n > 0 ? ", " : "", 100 * figures.own,
						 look->columns[i].column->name);
		columns[n++] = look->columns[i].column;
	}
	if (n > 0)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg_plural("kept column %s identifies", "kept columns %s identify", n, names.data),
				 look->persons ? errdetail("Rows with a value that no other person has: %s.", shares.data)
							   : errdetail("Rows with a value that no other row has: %s.", shares.data),
				 errhint("%s", kept_way_out(look->source->told != NULL ? look->source->told->rows : NULL,
											columns, n, "Leave out what identifies."))));
	tell_names(look);
	MemoryContextDelete(look->context);
}
