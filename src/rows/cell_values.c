/*
 * cell_values.c: what a class shows in a quasi-identifier, as a value of the column
 * that is published.
 */
#include "compat.h"
#include "rows/cell_values.h"
#include "hierarchies/hierarchy.h"
#include "rows/dictionary.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

typedef struct ShownColumn
{
	const SourceColumn *column;
	FmgrInfo output; /* of the column's type */
	FmgrInfo label;  /* of its hierarchy's levels, when they are labels */
	TypeCacheEntry *range;
	Oid base; /* the column's type, domains looked through */
	int16 typlen;
	bool typbyval;
	char typalign;
} ShownColumn;

struct Shower
{
	const Source *source;
	ShownColumn *columns; /* [nqis] */
};

Oid
shown_type(const SourceColumn *column)
{
	switch (column->show_as)
	{
		case SHOW_AS_VALUE:
			return column->type;
		case SHOW_AS_TEXT:
			return TEXTOID;
		case SHOW_AS_RANGE:
			return column->hierarchy != NULL && OidIsValid(column->hierarchy->range)
					   ? column->hierarchy->range
					   : range_type_of(column->type);
		case SHOW_AS_SET:
			return get_array_type(getBaseType(column->type));
	}
	return InvalidOid;
}

Oid
shown_collation(const SourceColumn *column)
{
	switch (column->show_as)
	{
		case SHOW_AS_TEXT:
			return DEFAULT_COLLATION_OID;
		case SHOW_AS_RANGE:
			return InvalidOid;
		case SHOW_AS_VALUE:
		case SHOW_AS_SET:
			break;
	}
	return column->collation;
}

Shower *
shower_create(const Source *source)
{
	Shower *shower = palloc(sizeof(Shower));

	shower->source = source;
	shower->columns = palloc0(sizeof(ShownColumn) * source->nqis);
	for (int c = 0; c < source->nqis; c++)
	{
		ShownColumn *shown = &shower->columns[c];
		const SourceColumn *column = &source->qis[c];
		Oid function;
		bool isvarlena;

		shown->column = column;
		shown->base = getBaseType(column->type);
		get_typlenbyvalalign(shown->base, &shown->typlen, &shown->typbyval, &shown->typalign);
		getTypeOutputInfo(column->type, &function, &isvarlena);
		fmgr_info(function, &shown->output);
		if (column->show_as == SHOW_AS_TEXT && column->hierarchy != NULL && column->hierarchy->nlevels > 0)
		{
			getTypeOutputInfo(column->hierarchy->levels[0].type, &function, &isvarlena);
			fmgr_info(function, &shown->label);
		}
		if (column->show_as == SHOW_AS_RANGE)
			shown->range = lookup_type_cache(shown_type(column), TYPECACHE_RANGE_INFO);
	}
	return shower;
}

/* A value as one of the range's subtype: exactly the same, in more digits if need be. */
static Datum
as_subtype(const ShownColumn *shown, Datum value)
{
	Oid subtype = shown->range->rngelemtype->type_id;

	if (subtype == shown->base)
		return value;
	if (shown->base == INT2OID && subtype == INT4OID)
		return Int32GetDatum(DatumGetInt16(value));
	if ((shown->base == FLOAT4OID || shown->base == FLOAT8OID) && subtype == NUMERICOID)
		return NumericGetDatum(float_as_numeric(shown->base, value));
	elog(ERROR, "type %u has no range of type %u", shown->base, shown->range->type_id);
}

Datum
show_bound(Shower *shower, int qi, Datum value, TypeCacheEntry **range)
{
	*range = shower->columns[qi].range;
	return as_subtype(&shower->columns[qi], value);
}

/*
 * A range over integers or dates ends before its upper bound.  The last integer
 * has none after it; after the last date there is infinity, a value of its own,
 * which the range must not hold.
 */
static void
end_with_last(Oid subtype, RangeBound *upper)
{
	if (subtype == INT4OID)
		upper->infinite = DatumGetInt32(upper->val) == PG_INT32_MAX;
	else if (subtype == INT8OID)
		upper->infinite = DatumGetInt64(upper->val) == PG_INT64_MAX;
	else if (subtype == DATEOID && DatumGetDateADT(upper->val) == DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1)
	{
		upper->val = DateADTGetDatum(DATEVAL_NOEND);
		upper->inclusive = false;
	}
}

/* From one value to another, both in it. */
static Datum
range_between(const ShownColumn *shown, Datum low, Datum high)
{
	RangeBound lower = {as_subtype(shown, low), false, true, true};
	RangeBound upper = {as_subtype(shown, high), false, true, false};

	end_with_last(shown->range->rngelemtype->type_id, &upper);
	return RangeTypePGetDatum(kanon_make_range(shown->range, &lower, &upper));
}

static Datum
set_of(const ShownColumn *shown, const uint32 *codes, uint32 n)
{
	Datum *values = palloc(sizeof(Datum) * n);
	bool *nulls = palloc(sizeof(bool) * n);
	int dims[1] = {(int) n};
	int lbs[1] = {1};

	for (uint32 i = 0; i < n; i++)
		values[i] = dictionary_value(shown->column->dictionary, codes[i], &nulls[i]);
	return PointerGetDatum(construct_md_array(values, nulls, 1, dims, lbs, shown->base, shown->typlen,
											  shown->typbyval, shown->typalign));
}

/* The padding of a char is none of its text. */
static Datum
as_text(ShownColumn *shown, Datum value)
{
	char *text = OutputFunctionCall(&shown->output, value);
	Size length = strlen(text);

	while (shown->base == BPCHAROID && length > 0 && text[length - 1] == ' ')
		length--;
	return PointerGetDatum(cstring_to_text_with_len(text, (int) length));
}

/* A single value in the form of the column; NULL stays NULL, but in a set. */
static Datum
show_value(ShownColumn *shown, uint32 code, bool *isnull)
{
	Datum value = dictionary_value(shown->column->dictionary, code, isnull);

	if (shown->column->show_as == SHOW_AS_SET)
	{
		*isnull = false;
		return set_of(shown, &code, 1);
	}
	if (*isnull)
		return (Datum) 0;
	switch (shown->column->show_as)
	{
		case SHOW_AS_TEXT:
			return as_text(shown, value);
		case SHOW_AS_RANGE:
			return range_between(shown, value, value);
		case SHOW_AS_VALUE:
		case SHOW_AS_SET:
			break;
	}
	return value;
}

/* The label of a value at a level. */
static Datum
show_level(ShownColumn *shown, int level, uint32 code, bool *isnull)
{
	Datum value = dictionary_value(shown->column->hierarchy->dictionary[level - 1], code, isnull);

	if (*isnull)
		return (Datum) 0;
	if (shown->column->show_as == SHOW_AS_TEXT)
		return CStringGetTextDatum(OutputFunctionCall(&shown->label, value));
	return value;
}

Datum
show_cell(Shower *shower, int qi, const KanonCell *cells, const uint32 *pool, bool *isnull)
{
	const Levels *levels = &shower->source->levels;
	ShownColumn *shown = &shower->columns[qi];
	int first = levels->first[qi];
	bool null_low, null_high;

	*isnull = false;
	switch (cells[first].show)
	{
		case KANON_SHOW_VALUE:
			return show_value(shown, cells[first].code, isnull);
		case KANON_SHOW_RANGE:
		{
			const uint32 *ends = &pool[cells[first].code];
			Datum low = dictionary_value(shown->column->dictionary, ends[0], &null_low);
			Datum high = dictionary_value(shown->column->dictionary, ends[1], &null_high);

			if (null_low || null_high)
				elog(ERROR, "a range ends in NULL");
			return range_between(shown, low, high);
		}
		case KANON_SHOW_SET:
			return set_of(shown, &pool[cells[first].code + 1], pool[cells[first].code]);
		default:
			break;
	}
	for (int level = 1; first + level < levels->first[qi + 1]; level++)
		if (cells[first + level].show == KANON_SHOW_VALUE)
			return show_level(shown, level, cells[first + level].code, isnull);
	*isnull = true;
	return (Datum) 0;
}
