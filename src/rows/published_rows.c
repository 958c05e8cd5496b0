/*
 * published_rows.c: a published table as a release again.
 *
 * Each different value of a column is looked at once: a range becomes the source's
 * values between its bounds, an array those in it, a label those below it, any other
 * value itself.
 */
#include "compat.h"
#include "rows/target.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "rows/dictionary.h"
#include "hierarchies/hierarchy.h"
#include "rows/cell_values.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
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

/* A place of a text in a hierarchy. */
typedef struct Label
{
	int level; /* 0: the values themselves */
	uint32 node;
	uint32 next; /* another place of the text; NO_LABEL: none */
} Label;

#define NO_LABEL PG_UINT32_MAX

/* The texts of a column's values and of the levels above them. */
typedef struct Labels
{
	Dictionary *texts;
	uint32 *first; /* of each text a place */
	Label *place;
	uint32 nplaces;
} Labels;

static Labels
read_labels(Written *written, int qi)
{
	const SourceColumn text = {.name = "label", .type = TEXTOID, .typmod = -1, .collation = C_COLLATION_OID};
	const SourceColumn *column = &written->source->qis[qi];
	const Levels *levels = &written->source->levels;
	int first = levels->first[qi], n = levels->first[qi + 1] - first;
	KanonCell *cells = palloc0(sizeof(KanonCell) * levels->first[qi + 1]);
	Labels labels = {.texts = dictionary_create(CurrentMemoryContext, &text)};
	Size room = 0, text_room = 0;
	int nest = plain_text_begin();

	for (int level = 0; level < n; level++)
	{
		uint32 size =
			dictionary_size(level == 0 ? column->dictionary : column->hierarchy->dictionary[level - 1]);

		for (uint32 node = 0; node < size; node++)
		{
			uint32 known = dictionary_size(labels.texts), at;
			bool isnull;
			Datum label;

			CHECK_FOR_INTERRUPTS();
			cells[first + level] = (KanonCell){KANON_SHOW_VALUE, node};
			label = show_cell(written->shower, qi, cells, NULL, &isnull);
			if (isnull)
				continue;
			labels.place =
				border_grow(written->border, labels.place, &room, (Size) labels.nplaces + 1, sizeof(Label));
			labels.first =
				border_grow(written->border, labels.first, &text_room, (Size) known + 1, sizeof(uint32));
			at = dictionary_add(labels.texts, label, false);
			labels.place[labels.nplaces] = (Label){level, node, at == known ? NO_LABEL : labels.first[at]};
			labels.first[at] = labels.nplaces++;
		}
		cells[first + level] = nothing;
	}
	plain_text_end(nest);
	return labels;
}

static void
labels_free(Labels *labels)
{
	if (labels->texts != NULL)
		dictionary_free(labels->texts);
}

/* Nobody can tell at which of its places a text was meant: it stands for the values of all. */
static KanonCell
label_cell(Written *written, int qi, const Labels *labels, Datum text)
{
	const SourceColumn *column = &written->source->qis[qi];
	uint32 label = dictionary_find(labels->texts, text, false);
	uint32 distinct = dictionary_size(column->dictionary);
	bool *there;
	uint32 *codes;
	uint32 n = 0;

	if (label == DICTIONARY_NONE)
		return none_of_it;
	there = palloc0(sizeof(bool) * distinct);
	codes = palloc(sizeof(uint32) * distinct);
	for (uint32 at = labels->first[label]; at != NO_LABEL; at = labels->place[at].next)
	{
		const Label *place = &labels->place[at];

		if (place->level == 0)
			there[place->node] = true;
		else
			for (uint32 code = 0; code < distinct; code++)
				there[code] |= column->hierarchy->node[place->level - 1][code] == place->node;
	}
	for (uint32 code = 0; code < distinct; code++)
		if (there[code])
			codes[n++] = code;
	return cell_of(written, KANON_SHOW_SET, codes, n);
}

/* The node that a published value shows. */
static KanonCell
shown_cell(Written *written, int qi, const Labels *labels, Datum value)
{
	uint32 own;

	switch (written->source->qis[qi].show_as)
	{
		case SHOW_AS_RANGE:
			return range_cell(written, qi, value);
		case SHOW_AS_SET:
			return set_cell(written, qi, value);
		case SHOW_AS_TEXT:
			return label_cell(written, qi, labels, value);
		case SHOW_AS_VALUE:
			break;
	}
	own = dictionary_find(written->source->qis[qi].dictionary, value, false);
	return cell_of(written, KANON_SHOW_VALUE, &own, own != DICTIONARY_NONE);
}

/* The nodes of each different value of a published column. */
static KanonCell *
column_cells(Written *written, int qi, const SourceColumn *column)
{
	uint32 n = dictionary_size(column->dictionary);
	KanonCell *cells = border_palloc(written->border, sizeof(KanonCell) * n);
	Labels labels = {0};
	MemoryContext scratch, old;

	if (written->source->qis[qi].show_as == SHOW_AS_TEXT)
		labels = read_labels(written, qi);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon written", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(scratch);

	for (uint32 code = 0; code < n; code++)
	{
		bool isnull;
		Datum value = dictionary_value(column->dictionary, code, &isnull);

		CHECK_FOR_INTERRUPTS();
		cells[code] = isnull ? nothing : shown_cell(written, qi, &labels, value);
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	labels_free(&labels);
	return cells;
}

void
written_match(SourceColumn *column, const SourceColumn *shown)
{
	Oid type = getBaseType(column->type);
	Oid as = getBaseType(shown->type);

	/* it was opened with a hierarchy, and the target shows its levels */
	if ((column->show_as == SHOW_AS_TEXT || column->show_as == SHOW_AS_RANGE) && as == shown_type(column))
		return;
	if (as == type)
		column->show_as = SHOW_AS_VALUE;
	else if (as == range_type_of(column->type))
		column->show_as = SHOW_AS_RANGE;
	else if (as == get_array_type(type))
		column->show_as = SHOW_AS_SET;
	else
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of the target shows no values of the source", column->name),
			 errdetail("It is of type %s, in the source of type %s.", format_type_be(shown->type),
					   format_type_be(column->type)),
			 errhint("A range, an array or the source's own type can be compared, and levels of a hierarchy "
					 "that hierarchies names.")));
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

		release->classes[i] = (KanonClass){KANON_NONE, types->rows[i]};
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

/* The text of a value or a node, as a reader gives it back: it is printed, and read again. */
static KanonCell
node_cell(Written *written, int qi, const KanonCell *cells, const Labels *labels)
{
	bool isnull;
	Datum value = show_cell(written->shower, qi, cells, NULL, &isnull);

	return isnull ? nothing : shown_cell(written, qi, labels, value);
}

/* The values and nodes of a quasi-identifier, each once, in all classes; to[nclasses * nqis] */
static void
node_cells(Written *written, const KanonRelease *release, int qi, KanonCell *to)
{
	const Levels *levels = &written->source->levels;
	int first = levels->first[qi], n = levels->first[qi + 1] - first, width = levels->first[levels->nqis];
	const SourceColumn *column = &written->source->qis[qi];
	KanonCell *known[KANON_MAX_COLUMNS];
	Labels labels = {0};
	MemoryContext scratch, old;
	int nest = plain_text_begin();

	if (column->show_as == SHOW_AS_TEXT)
		labels = read_labels(written, qi);
	for (int level = 0; level < n; level++)
		known[level] = palloc0(
			sizeof(KanonCell) *
			dictionary_size(level == 0 ? column->dictionary : column->hierarchy->dictionary[level - 1]));
	scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon written", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(scratch);
	for (uint32 i = 0; i < release->nclasses; i++)
	{
		const KanonCell *cells = &release->cells[(Size) i * width];
		int level = 0;

		CHECK_FOR_INTERRUPTS();
		while (level < n && cells[first + level].show == KANON_SHOW_NOTHING)
			level++;
		if (level < n)
		{
			KanonCell *cell = &known[level][cells[first + level].code];

			/* (what shows NULL is shown anew each time) */
			if (cell->show == KANON_SHOW_NOTHING)
				*cell = node_cell(written, qi, cells, &labels);
			/* NULL is known by its mark */
			if (level > 0 || cell->show != KANON_SHOW_NOTHING)
				to[(Size) i * levels->nqis + qi] = *cell;
		}
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	plain_text_end(nest);
	labels_free(&labels);
}

KanonRelease
written_promise(const KanonRelease *release, const Source *source, const KanonProblem *problem, bool mark,
				Border *border)
{
	Written written = {.source = source, .shower = shower_create(source), .border = border};
	KanonRelease promise = *release;

	written.pool = border_grow(border, NULL, &written.room, release->npool, sizeof(uint32));
	if (release->npool > 0)
		memcpy(written.pool, release->pool, sizeof(uint32) * release->npool);
	written.npool = release->npool;
	promise.cells = border_palloc(border, sizeof(KanonCell) * Max(release->nclasses, 1) * source->nqis);
	for (int c = 0; c < source->nqis; c++)
	{
		int first = source->levels.first[c];
		const KanonColumn *column = &problem->columns[first];

		for (uint32 i = 0; i < release->nclasses; i++)
		{
			KanonCell cell = release->cells[(Size) i * problem->ncolumns + first];

			/* an array of NULL is no NULL */
			if (!mark && source->qis[c].show_as != SHOW_AS_SET && cell.show == KANON_SHOW_VALUE &&
				column->has_null && cell.code == column->distinct - 1)
				cell = nothing;
			promise.cells[(Size) i * source->nqis + c] = cell;
		}
		if (source->levels.first[c + 1] - first > 1)
			node_cells(&written, release, c, promise.cells);
	}
	promise.pool = written.pool;
	promise.npool = written.npool;
	return promise;
}
