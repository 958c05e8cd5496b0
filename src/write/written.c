/*
 * written.c: a published table as a release again.
 *
 * Each different value of a column is looked at once: a range becomes the source's
 * values between its bounds, an array those in it, any other value itself.
 */
#include "compat.h"
#include "write/written.h"
#include "core/util/fault.h"
#include "read/dictionary.h"
#include "write/show.h"

#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

typedef struct Written
{
	const Source *source;
	Shower *shower;
	Border *border;
	uint32 *pool;
	Size npool;
	Size room;
} Written;

static const KanonCell nothing = {KANON_SHOW_NOTHING, 0};
static const KanonCell none_of_it = {KANON_SHOW_VALUE, WRITTEN_NOTHING_OF_IT};

/* The code of NULL, or DICTIONARY_NONE. */
static uint32
null_code(Dictionary *dictionary)
{
	return dictionary_find(dictionary, (Datum) 0, true);
}

/* The cell for n codes of the source, ascending; a range is its first and last one. */
static KanonCell
cell_of(Written *written, KanonShow show, const uint32 *codes, uint32 n)
{
	KanonCell cell;
	Size words = show == KANON_SHOW_SET ? (Size) n + 1 : 2;

	if (n == 0)
		return none_of_it;
	if (n == 1)
		return (KanonCell){KANON_SHOW_VALUE, codes[0]};
	written->pool =
		border_grow(written->border, written->pool, &written->room, written->npool + words, sizeof(uint32));
	if (written->npool > KANON_MAX_TYPES || FAULT(sets_many))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the table shows too many different sets"),
				 errhint("Publish it in parts, or name fewer quasi-identifiers.")));
	cell.show = show;
	cell.code = (uint32) written->npool;
	if (show == KANON_SHOW_SET)
		written->pool[written->npool++] = n;
	memcpy(written->pool + written->npool, codes, sizeof(uint32) * (show == KANON_SHOW_SET ? n : 2));
	written->npool += show == KANON_SHOW_SET ? n : 2;
	return cell;
}

/* Is a value before (-1), in (0) or after (1) a range, as the bounds go? */
static int
place(Written *written, int qi, uint32 code, const RangeBound *lower, const RangeBound *upper)
{
	bool isnull;
	Datum value = dictionary_value(written->source->qis[qi].dictionary, code, &isnull);
	TypeCacheEntry *range;
	int order;

	value = show_bound(written->shower, qi, value, &range);
	if (!lower->infinite)
	{
		order = DatumGetInt32(
			FunctionCall2Coll(&range->rng_cmp_proc_finfo, range->rng_collation, value, lower->val));
		if (order < 0 || (order == 0 && !lower->inclusive))
			return -1;
	}
	if (!upper->infinite)
	{
		order = DatumGetInt32(
			FunctionCall2Coll(&range->rng_cmp_proc_finfo, range->rng_collation, value, upper->val));
		if (order > 0 || (order == 0 && !upper->inclusive))
			return 1;
	}
	return 0;
}

static KanonCell
range_cell(Written *written, int qi, Datum datum)
{
	Dictionary *dictionary = written->source->qis[qi].dictionary;
	uint32 end = dictionary_size(dictionary) - (null_code(dictionary) != DICTIONARY_NONE);
	RangeType *value = DatumGetRangeTypeP(datum);
	TypeCacheEntry *entry = lookup_type_cache(RangeTypeGetOid(value), TYPECACHE_RANGE_INFO);
	RangeBound lower, upper;
	bool empty;
	uint32 ends[2];
	uint32 low = 0, high = end;

	range_deserialize(entry, value, &lower, &upper, &empty);
	if (empty)
		return none_of_it;
	/* the first value that is not before it */
	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;

		if (place(written, qi, middle, &lower, &upper) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	ends[0] = low;
	/* the first one after it */
	high = end;
	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;

		if (place(written, qi, middle, &lower, &upper) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	ends[1] = low - 1;
	return cell_of(written, KANON_SHOW_RANGE, ends, low == ends[0] ? 0 : ends[1] == ends[0] ? 1 : 2);
}

static KanonCell
set_cell(Written *written, int qi, Datum datum)
{
	Dictionary *dictionary = written->source->qis[qi].dictionary;
	ArrayType *array = DatumGetArrayTypeP(datum);
	int16 typlen;
	bool typbyval;
	char typalign;
	Datum *values;
	bool *nulls;
	int count;
	uint32 *codes;
	uint32 n = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign, &values, &nulls, &count);
	codes = palloc(sizeof(uint32) * Max(count, 1));
	for (int i = 0; i < count; i++)
	{
		codes[n] = dictionary_find(dictionary, values[i], nulls[i]);
		n += codes[n] != DICTIONARY_NONE;
	}
	return cell_of(written, KANON_SHOW_SET, codes, (uint32) unique_codes(codes, n));
}

/* What each different value of a published column shows. */
static KanonCell *
column_cells(Written *written, int qi, const SourceColumn *column)
{
	uint32 n = dictionary_size(column->dictionary);
	KanonCell *cells = border_palloc(written->border, sizeof(KanonCell) * n);
	MemoryContext scratch =
		AllocSetContextCreate(CurrentMemoryContext, "kanon written", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	for (uint32 code = 0; code < n; code++)
	{
		bool isnull;
		Datum value = dictionary_value(column->dictionary, code, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			cells[code] = nothing;
		else if (written->source->qis[qi].show_as == SHOW_AS_RANGE)
			cells[code] = range_cell(written, qi, value);
		else if (written->source->qis[qi].show_as == SHOW_AS_SET)
			cells[code] = set_cell(written, qi, value);
		else
		{
			uint32 own = dictionary_find(written->source->qis[qi].dictionary, value, false);

			cells[code] = cell_of(written, KANON_SHOW_VALUE, &own, own != DICTIONARY_NONE);
		}
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return cells;
}

KanonRelease *
written_release(const Source *source, const RowTypes *types, bool mark, Border *border)
{
	KanonRelease *release = palloc0(sizeof(KanonRelease));
	Written written = {.source = source, .shower = shower_create(source), .border = border};
	const SourceColumn *marks = &types->source->qis[source->nqis];
	KanonCell *cells[KANON_MAX_COLUMNS];
	uint32 null[KANON_MAX_COLUMNS];

	for (int c = 0; c < source->nqis; c++)
	{
		cells[c] = column_cells(&written, c, &types->source->qis[c]);
		null[c] = null_code(source->qis[c].dictionary);
	}
	release->nclasses = types->ntypes;
	release->classes = border_palloc(border, sizeof(KanonClass) * types->ntypes);
	release->cells = border_palloc(border, sizeof(KanonCell) * types->ntypes * source->nqis);
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		KanonCell *cell = &release->cells[(Size) i * source->nqis];
		const char *symbols = NULL;

		release->classes[i] = (KanonClass){0, types->rows[i]};
		if (mark)
		{
			bool isnull;
			Datum text = dictionary_value(marks->dictionary, types->columns[source->nqis].code[i], &isnull);

			if (!isnull && VARSIZE_ANY_EXHDR(DatumGetPointer(text)) == source->nqis)
				symbols = VARDATA_ANY(DatumGetPointer(text));
		}
		for (int c = 0; c < source->nqis; c++)
		{
			cell[c] = cells[c][types->columns[c].code[i]];
			if (cell[c].show == KANON_SHOW_NOTHING && symbols != NULL && symbols[c] == '-')
				cell[c] = cell_of(&written, KANON_SHOW_VALUE, &null[c], null[c] != DICTIONARY_NONE);
		}
	}
	for (int c = 0; c < source->nqis; c++)
		border_pfree(border, cells[c]);
	release->pool = written.pool;
	release->npool = written.npool;
	return release;
}

KanonCell *
written_cells(const KanonRelease *release, const Source *source, const KanonProblem *problem, bool mark,
			  Border *border)
{
	Size n = (Size) release->nclasses * problem->ncolumns;
	KanonCell *cells = border_palloc(border, sizeof(KanonCell) * n);

	if (n > 0)
		memcpy(cells, release->cells, sizeof(KanonCell) * n);
	for (Size i = 0; i < n && !mark; i++)
	{
		int c = i % problem->ncolumns;
		const KanonColumn *column = &problem->columns[c];

		/* an array of NULL is no NULL */
		if (source->qis[c].show_as != SHOW_AS_SET && cells[i].show == KANON_SHOW_VALUE && column->has_null &&
			cells[i].code == column->distinct - 1)
			cells[i] = nothing;
	}
	return cells;
}
