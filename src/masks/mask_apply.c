/*
 * mask_apply.c: kept values are masked as their rows are written, and found again in the target.
 *
 * Pseudonyms and shifts come from HMAC-SHA-256 (RFC 2104) with a key that nobody is told
 * and that is forgotten with the release, unless a publication keeps one of its own.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "core/util/number.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/border.h"
#include "masks/mask_apply.h"
#include "rows/verify.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* ---- with the key ---- */

/* As RFC 9562 has numbers that an application makes in its own way (version 8); or a bigint. */
static Datum
pseudonym(Masks *masks, Mask *mask, Datum value)
{
	memcpy(mask->keyed.pseudonym, mask_key_hash(masks, mask, value), UUID_LEN);
	if (mask->number)
		return Int64GetDatum(pseudonym_number(mask->keyed.pseudonym));
	return PointerGetDatum(mask->keyed.pseudonym);
}

/*
 * The same for all columns of a person, so that the time between them stays.  Shifts are whole seconds,
 * or days: a fraction of a second would stay as it is, and is a row's own.
 */
static Datum
shifted(Masks *masks, Mask *mask, Datum value, Datum person, bool nobody)
{
	uint64 drawn;
	uint64 span = (uint64) (2 * mask->days * SECS_PER_DAY + 1);
	int64 by;

	/* rows of nobody have nothing in common */
	if (nobody)
	{
		random_fill(&drawn, sizeof(drawn));
	}
	else
		drawn = *mask_key_hash(masks, mask, person);
	by = (int64) (drawn % span) - mask->days * SECS_PER_DAY;
	if (mask->base == DATEOID)
	{
		/* the same shift as that of the person's timestamps, in whole days */
		by = (by + mask->days * SECS_PER_DAY) * (2 * mask->days + 1) / (int64) span - mask->days;
		DateADT date = DatumGetDateADT(value);

		if (DATE_NOT_FINITE(date))
			return value;
		/* the other way where the type ends */
		return DateADTGetDatum((DateADT) (IS_VALID_DATE(date + by) ? date + by : date - by));
	}
	else
	{
		Timestamp at = DatumGetTimestamp(value);
		int64 fraction = at % USECS_PER_SEC;
		int64 sum;

		if (TIMESTAMP_NOT_FINITE(at))
			return value;
		at -= fraction;
		if (pg_add_s64_overflow(at, by * USECS_PER_SEC, &sum) || !IS_VALID_TIMESTAMP(sum))
			sum = at - by * USECS_PER_SEC;
		return TimestampGetDatum(sum);
	}
}

/* ---- without it ---- */

static Datum
rounded(const Mask *mask, Datum value)
{
	if (mask->base == NUMERICOID)
	{
		Datum step = NumericGetDatum(mask->step);
		Numeric number = DatumGetNumeric(value); /* once: each look would copy it */
		Datum steps;

		if (numeric_is_nan(number) || numeric_is_inf(number))
			return value;
		value = NumericGetDatum(number);
		if (mask->decimal)
			return DirectFunctionCall2(numeric_round, value, Int32GetDatum(mask->digits));
		steps = DirectFunctionCall2(numeric_round, DirectFunctionCall2(numeric_div, value, step),
									Int32GetDatum(0));
		return DirectFunctionCall2(numeric_mul, steps, step);
	}
	if (mask->base == FLOAT8OID)
		return Float8GetDatum(rint(DatumGetFloat8(value) / mask->fraction) * mask->fraction);
	if (mask->base == FLOAT4OID)
		return Float4GetDatum((float4) (rint(DatumGetFloat4(value) / mask->fraction) * mask->fraction));
	else
	{
		int64 number = mask->base == INT2OID   ? DatumGetInt16(value)
					   : mask->base == INT4OID ? DatumGetInt32(value)
											   : DatumGetInt64(value);
		int64 least = mask->base == INT2OID   ? PG_INT16_MIN
					  : mask->base == INT4OID ? PG_INT32_MIN
											  : PG_INT64_MIN;
		int64 most = -(least + 1);
		int64 step = (int64) mask->fraction;
		int64 low = number / step * step;
		int64 rest = number - low;

		/* the half away from zero, where the type has that number */
		if (rest >= 0 && rest >= step - rest && low <= most - step)
			low += step;
		else if (rest < 0 && -rest >= step + rest && low >= least + step)
			low -= step;
		return mask->base == INT2OID   ? Int16GetDatum((int16) low)
			   : mask->base == INT4OID ? Int32GetDatum((int32) low)
									   : Int64GetDatum(low);
	}
}

/* (A value that equals a bound is spelled as the bound is.) */
static Datum
cut(const Mask *mask, Datum value)
{
	if (mask->top.known &&
		DatumGetInt32(FunctionCall2Coll(mask->compare, InvalidOid, value, mask->top.value)) >= 0)
		value = mask->top.value;
	if (mask->bottom.known &&
		DatumGetInt32(FunctionCall2Coll(mask->compare, InvalidOid, value, mask->bottom.value)) <= 0)
		value = mask->bottom.value;
	return spelling_plain(mask->base, mask->step != NULL ? rounded(mask, value) : value);
}

/* Where characters end that are so many from the beginning; texts are ASCII, mostly. */
static int
clip(const char *text, int length, int characters, bool ascii)
{
	return ascii ? Min(characters, length) : pg_mbcharcliplen(text, length, characters);
}

/* At least half of a text stays hidden, and so many characters; of a text that is too short for that, all. */
#define LEAST_HIDDEN 3

/* How much is hidden is not told. */
static Datum
part(Mask *mask, Datum value)
{
	static const char hidden[] = "***";
	const int stars = sizeof(hidden) - 1;
	const void *packed = PG_DETOAST_DATUM_PACKED(value);
	const char *text = VARDATA_ANY(packed);
	int length = VARSIZE_ANY_EXHDR(packed);
	int characters, begin = 0, end;
	unsigned char bits = 0;
	bytea *shown;

	while (mask->base == BPCHAROID && length > 0 && text[length - 1] == ' ')
		length--;
	for (int i = 0; i < length; i++)
		bits |= (unsigned char) text[i];
	characters = bits < 0x80 ? length : pg_mbstrlen_with_len(text, length);
	end = length;
	if (characters - mask->first - mask->last >= Max(LEAST_HIDDEN, (characters + 1) / 2))
	{
		mask->shows = true;
		begin = clip(text, length, mask->first, bits < 0x80);
		end = clip(text, length, characters - mask->last, bits < 0x80);
	}
	else
		mask->longest = Max(mask->longest, characters);
	shown = palloc(VARHDRSZ + begin + stars + length - end);
	SET_VARSIZE(shown, VARHDRSZ + begin + stars + length - end);
	memcpy(VARDATA(shown), text, begin);
	memcpy(VARDATA(shown) + begin, hidden, stars);
	memcpy(VARDATA(shown) + begin + stars, text + end, length - end);
	return PointerGetDatum(shown);
}

/* ---- rows ---- */

int
masks_ahead(const Source *source)
{
	for (int i = 0; source->masks != NULL && i < source->masks->nkeyed; i++)
		if (mask_key_remembers(source->masks->keyed[i]))
			return MASK_ROWS_AHEAD;
	return 1;
}

void
masks_expect(const Masks *masks, const Datum *values, const bool *nulls)
{
	for (int i = 0; i < masks->nkeyed; i++)
		if (!nulls[masks->keyed[i]->place])
			mask_key_expect(masks->keyed[i], values[masks->keyed[i]->place]);
}

/* The row as it is spelled, which is the row itself where there is one way alone to spell it. */
static const Datum *
spelled(Masks *masks, const Datum *values, const bool *nulls)
{
	if (masks->spelling == NULL)
		return values;
	for (int i = 0; i < masks->n; i++)
		masks->spelled[i] =
			masks->spelling[i] == NULL || nulls[i] ? values[i] : spelling_of(masks->spelling[i], values[i]);
	return masks->spelled;
}

void
masks_apply(Masks *masks, const Datum *given, const bool *nulls)
{
	const Datum *values;
	MemoryContext old;

	MemoryContextReset(masks->row);
	old = MemoryContextSwitchTo(masks->row);
	values = spelled(masks, given, nulls);
	masks_together_row(masks, values, nulls);
	for (int i = 0; i < masks->n; i++)
	{
		Mask *mask = masks->columns[i]->mask;

		masks->values[i] = values[i];
		masks->nulls[i] = nulls[mask != NULL && mask->kind == MASK_PSEUDONYM ? mask->place : i];
		if (mask == NULL || (masks->nulls[i] && mask->kind != MASK_CONSTANT))
			continue;
		switch (mask->kind)
		{
			case MASK_PSEUDONYM:
				masks->values[i] = pseudonym(masks, mask, values[mask->place]);
				break;
			case MASK_NUMBER:
				masks->values[i] = cut(mask, values[i]);
				break;
			case MASK_PARTIAL:
				masks->values[i] = part(mask, values[i]);
				break;
			case MASK_SHIFT:
				masks->values[i] = shifted(masks, mask, values[i], values[mask->place], nulls[mask->place]);
				break;
			case MASK_CONSTANT:
				masks->values[i] = mask->constant;
				masks->nulls[i] = mask->isnull;
				break;
			case MASK_NOISE:
			case MASK_SWAP:
			case MASK_PRAM:
			case MASK_MICROAGGREGATE:
				if (mask->person != NULL)
					masks->values[i] =
						mask_column_draw(masks, mask, values[i], values[mask->place], nulls[mask->place]);
				else
					masks->values[i] = mask_column_apply(mask, values[i]);
				break;
			case MASK_ANON:
				masks->values[i] = mask_anon_apply(masks, mask, values, nulls, &masks->nulls[i]);
				break;
		}
	}
	MemoryContextSwitchTo(old);
}

/* ---- before and after the rows ---- */

/* How many of so many values have a quantile's bound or are beyond it. */
static int64
values_beyond(const MaskBound *bound, bool top, int64 rows, int64 k)
{
	int64 beyond = (int64) ceil(bound->quantile * (double) rows);

	return Min(Max(top ? rows - beyond + 1 : beyond, k), rows);
}

/* Only as many values are kept as may be beyond it: with NULLs there are fewer. */
static void
begin_quantile(const Mask *mask, MaskBound *bound, bool top, int64 rows, int64 k)
{
	const TypeCacheEntry *entry = lookup_type_cache(mask->base, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	if (bound->quantile == 0)
		return;
	bound->rows = 0;
	bound->known = false;
	bound->sort = tuplesort_begin_datum(mask->base, top ? entry->gt_opr : entry->lt_opr, InvalidOid, false,
										work_mem, NULL, TUPLESORT_ALLOWBOUNDED);
	if (rows > 0)
		tuplesort_set_bound(bound->sort, values_beyond(bound, top, rows, k));
}

static void
note_quantile(const Mask *mask, MaskBound *bound, Datum value)
{
	if (bound->sort == NULL || isnan(value_as_number(mask->base, value)))
		return;
	tuplesort_putdatum(bound->sort, value, false);
	bound->rows++;
}

/* The bound is one of the values: the one that so many rows, and no fewer than k, have or are beyond. */
static void
find_quantile(const Mask *mask, MaskBound *bound, bool top, int64 k)
{
	Datum value;
	bool isnull;

	if (bound->sort == NULL)
		return;
	tuplesort_performsort(bound->sort);
	bound->known = bound->rows > 0 &&
				   tuplesort_skiptuples(bound->sort, values_beyond(bound, top, bound->rows, k) - 1, true) &&
				   kanon_getdatum(bound->sort, &value, &isnull);
	if (bound->known)
		bound->value = mask->length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value))
										  : datumCopy(value, mask->byval, mask->length);
	tuplesort_end(bound->sort);
	bound->sort = NULL;
}

static void
begin_mask(Masks *masks, Mask *mask, int64 rows, int64 k)
{
	const char *looked_at = mask->person != NULL ? mask->person : mask->column->name;

	mask->sum = 0;
	get_typlenbyval(mask->type, &mask->length, &mask->byval);
	mask->compare = &lookup_type_cache(mask->base, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
	mask->place = 0;
	while (mask->place < masks->n && strcmp(masks->columns[mask->place]->name, looked_at) != 0)
		mask->place++;
	if (mask->place == masks->n)
		elog(ERROR, "the column of persons is not read");
	begin_quantile(mask, &mask->top, true, rows, k);
	begin_quantile(mask, &mask->bottom, false, rows, k);
	if (mask_of_column(mask))
		mask_column_begin(mask, masks->border);
	if (mask->top.sort != NULL || mask->bottom.sort != NULL || mask_of_column(mask))
		masks->cut[masks->ncut++] = mask;
	if (mask->person != NULL || mask->kind == MASK_PSEUDONYM)
	{
		mask_key_begin(masks, mask, masks->columns[mask->place]);
		masks->keyed[masks->nkeyed++] = mask;
	}
	if (mask->kind == MASK_ANON)
		mask_anon_begin(masks, mask);
}

/* Is what a mask shows of equal values the same, however they are spelled? */
static bool
shows_alike(const Mask *mask)
{
	return mask != NULL && (mask->kind == MASK_CONSTANT || (mask->kind == MASK_NUMBER && mask->step != NULL));
}

static bool
needs_spelling(const SourceColumn *column)
{
	return !shows_alike(column->mask) && spelling_varies(column);
}

static void
begin_spelling(Masks *masks)
{
	masks->spelling = NULL;
	for (int i = 0; i < masks->n; i++)
	{
		if (!needs_spelling(masks->columns[i]))
			continue;
		if (masks->spelling == NULL)
		{
			masks->spelling = palloc0(sizeof(Spelling *) * masks->n);
			masks->spelled = palloc(sizeof(Datum) * masks->n);
		}
		masks->spelling[i] = spelling_begin(masks->columns[i], masks->border);
	}
}

void
masks_spell(Source *source)
{
	for (int i = 0; i < source->nkept && source->masks == NULL; i++)
		if (needs_spelling(&source->kept[i]))
			source->masks = palloc0(sizeof(Masks));
}

bool
masks_any(const Source *source)
{
	for (int i = 0; i < source->nkept && source->masks != NULL; i++)
		if (source->kept[i].mask != NULL)
			return true;
	return false;
}

void
masks_begin(const Source *source, int64 rows, int64 k, Border *border)
{
	Masks *masks = source->masks;

	if (masks == NULL)
		return;
	masks->border = border;
	masks->n = source->nkept;
	masks->columns = palloc(sizeof(SourceColumn *) * source->nkept);
	masks->values = palloc(sizeof(Datum) * source->nkept);
	masks->nulls = palloc(sizeof(bool) * source->nkept);
	masks->keyed = palloc(sizeof(Mask *) * source->nkept);
	masks->nkeyed = 0;
	masks->cut = palloc(sizeof(Mask *) * source->nkept);
	masks->ncut = 0;
	masks->row = AllocSetContextCreate(border->context, "kanon masked", ALLOCSET_SMALL_SIZES);
	random_fill(masks->key[0], MASK_KEY_LENGTH);
	for (int i = 0; i < source->nkept; i++)
		masks->columns[i] = &source->kept[i];
	for (int i = 0; i < source->nkept; i++)
		if (source->kept[i].mask != NULL)
			begin_mask(masks, source->kept[i].mask, rows, k);
	masks_together_begin(masks);
	begin_spelling(masks);
}

void
masks_look(const Masks *masks, const Datum *values, const bool *nulls)
{
	for (int i = 0; i < masks->ncut; i++)
	{
		Mask *mask = masks->cut[i];

		if (nulls[mask->place])
			continue;
		if (mask_of_column(mask))
			mask_column_note(mask, values[mask->place]);
		note_quantile(mask, &mask->top, values[mask->place]);
		note_quantile(mask, &mask->bottom, values[mask->place]);
	}
	masks_together_look(masks, values, nulls);
	for (int i = 0; i < masks->n && masks->spelling != NULL; i++)
		if (masks->spelling[i] != NULL && !nulls[i])
			spelling_note(masks->spelling[i], values[i]);
}

/* Quantiles are values of rows, and spelled as these are. */
static void
spell_bounds(Mask *mask, Spelling *spelling)
{
	if (mask->top.known && mask->top.quantile != 0)
		mask->top.value = spelling_of(spelling, mask->top.value);
	if (mask->bottom.known && mask->bottom.quantile != 0)
		mask->bottom.value = spelling_of(spelling, mask->bottom.value);
}

void
masks_looked(const Masks *masks, int64 k)
{
	for (int i = 0; i < masks->ncut; i++)
	{
		if (mask_of_column(masks->cut[i]))
			mask_column_noted(masks->cut[i]);
		find_quantile(masks->cut[i], &masks->cut[i]->top, true, k);
		find_quantile(masks->cut[i], &masks->cut[i]->bottom, false, k);
		if (masks->spelling != NULL && masks->spelling[masks->cut[i]->place] != NULL)
			spell_bounds(masks->cut[i], masks->spelling[masks->cut[i]->place]);
	}
	masks_together_looked(masks);
}

static bool
receive_kept(void *arg, TupleTableSlot *slot)
{
	masks_look(arg, slot->tts_values, slot->tts_isnull);
	return true;
}

void
masks_read_source(const Source *source, int64 k)
{
	Gate *gate;

	if (source->masks == NULL || (source->masks->ncut == 0 && source->masks->spelling == NULL))
		return;
	gate = gate_create(source->name, source->relid, source->nkept);
	gate_columns(gate, source->kept, source->nkept);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), source->name),
				true, receive_kept, source->masks);
	masks_looked(source->masks, k);
}

int
masks_who(const Source *source)
{
	for (int i = 0; i < source->nkept && source->masks != NULL; i++)
		if (source->kept[i].mask != NULL && source->kept[i].mask->person != NULL &&
			source->kept[i].mask->kind != MASK_PSEUDONYM)
			return source->kept[i].mask->place;
	return -1;
}

/* The hash of a value; a value with a header is the same whatever header it is stored with. */
static uint64
masked_hash(const Mask *mask, Datum value, bool isnull)
{
	uint32 hash;

	if (isnull)
		return UINT64CONST(0x9e3779b97f4a7c15);
	if (mask->byval)
		return kanon_mix((uint64) value);
	if (mask->kind == MASK_PSEUDONYM)
	{
		uint64 half[2];

		memcpy(half, DatumGetPointer(value), sizeof(half));
		return kanon_mix(half[0]) ^ half[1];
	}
	hash = datum_image_hash(value, mask->byval, mask->length);
	return hash_bytes_uint32_extended(hash, 0);
}

void
masks_count(Masks *masks, int64 rows)
{
	for (int i = 0; i < masks->n; i++)
	{
		Mask *mask = masks->columns[i]->mask;

		if (mask != NULL)
			mask->sum += (uint64) rows * masked_hash(mask, masks->values[i], masks->nulls[i]);
	}
}

static void
raise_too_much(const Mask *mask)
{
	int room = Max(Min(mask->longest / 2, mask->longest - LEAST_HIDDEN), 0);
	int first = Min(mask->first, (room + 1) / 2);

	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("\"partial\" of column \"%s\" in mask would show too much", mask->column->name),
			 errdetail("At least half of a text stays hidden, and at least %d characters; no text of the "
					   "column is long enough for %d at the beginning and %d at the end.",
					   LEAST_HIDDEN, mask->first, mask->last),
			 room > 0
				 ? errhint("Show less: '{\"%s\": {\"partial\": [%d, %d]}}', or mask it whole by "
						   "{\"pseudonym\": \"release\"}.",
						   mask->column->name, first, Min(mask->last, room - first))
				 : errhint("Mask it whole: '{\"%s\": {\"pseudonym\": \"release\"}}'.", mask->column->name)));
}

void
masks_end(Masks *masks)
{
	if (masks == NULL)
		return;
	mask_key_forget(masks);
	MemoryContextDelete(masks->row);
	for (int i = 0; i < masks->n; i++)
	{
		Mask *mask = masks->columns[i]->mask;

		if (mask != NULL)
			mask_key_end(masks, mask);
		if (mask != NULL && mask->kind == MASK_ANON)
			mask_anon_end(mask);
		if (mask != NULL && mask->kind == MASK_PARTIAL && mask->longest > 0 && !mask->shows)
			raise_too_much(mask);
		if (masks->spelling != NULL && masks->spelling[i] != NULL)
			spelling_end(masks->spelling[i]);
	}
}

/* ---- the target ---- */

static void
sum_row(void *arg, const Datum *values, const bool *nulls)
{
	Masks *masks = arg;

	for (int i = 0; i < masks->beside.n; i++)
	{
		Mask *mask = masks->beside.columns[i].mask;

		mask->found += masked_hash(mask, values[i], nulls[i]);
	}
}

const RowsBeside *
masks_beside(const Source *source)
{
	Masks *masks = source->masks;
	SourceColumn *columns;
	int n = 0;

	if (!masks_any(source))
		return NULL;
	columns = palloc(sizeof(SourceColumn) * source->nkept);
	for (int i = 0; i < source->nkept; i++)
		if (source->kept[i].mask != NULL)
		{
			columns[n] = source->kept[i];
			columns[n].type = mask_type(columns[n].mask, &columns[n].collation);
			columns[n].typmod = -1;
			columns[n].shape = type_shape(columns[n].type);
			columns[n++].mask->found = 0;
		}
	masks->beside = (RowsBeside){.columns = columns, .n = n, .receive = sum_row, .arg = masks};
	masks->summed = true;
	return &masks->beside;
}

/* Compares the target's values, unless that was done as they were read for something else. */
static void
find_sums(const Target *target, const Source *source)
{
	if (!source->masks->summed)
		rows_read_written(target->building, target->relid, masks_beside(source));
	source->masks->summed = false;
}

void
masks_verify(const Target *target, const Source *source)
{
	if (!masks_any(source))
		return;
	find_sums(target, source);
	for (int i = 0; i < source->nkept; i++)
	{
		const Mask *mask = source->kept[i].mask;

		if (mask != NULL && mask->found != mask->sum)
			raise_unsafe(psprintf("Column \"%s\" does not have the values that it was masked with.",
								  source->kept[i].name));
	}
}
