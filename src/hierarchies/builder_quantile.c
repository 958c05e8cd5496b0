/*
 * builder_quantile.c: groups of neighbouring values with as many rows each as can
 * be.
 *
 * A group is shown from its lower end to that of the next one, and the outer
 * ones without an end: their extremes would be single rows' values.  A value
 * belongs where the middle one of its rows falls; all its rows stay together, so
 * groups of frequent values come out larger, and some stay empty.
 *
 * An end is a value that k rows have, or lies between two values (builder_cut.c).  Where there is none, the
 * nearest one is taken that moves fewer rows than half a group has; without one two groups are one.
 */
#include "compat.h"
#include "host/catalog.h"
#include "hierarchies/hierarchy.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

typedef struct Quantiles
{
	int groups[HIERARCHY_MAX_LEVELS];
	TypeCacheEntry *order;
	uint32 n;                          /* finest groups with values */
	uint64 *number;                    /* [n] which of all groups they are, ascending */
	Datum *start;                      /* [n] where each begins; the first one's is not known of kept ones */
	bool kept;                         /* they were those of a release before */
	Datum *node[HIERARCHY_MAX_LEVELS]; /* [n] what it is in at a level */
	uint32 before;                     /* the finest group of the value before */
} Quantiles;

/* div((2 * before + rows) * groups, 2 * total), whatever their sizes. */
static uint64
group_of(int64 before, int64 rows, int64 total, int groups)
{
#ifdef HAVE_INT128
	return (uint64) (((int128) 2 * before + rows) * groups / ((int128) 2 * total));
#else
	return (uint64) ((2.0 * before + rows) * groups / (2.0 * total));
#endif
}

/* As the range's subtype has it: exactly the same. */
static Datum
as_bound(const LevelBuilder *builder, Datum value)
{
	if (builder->type == INT2OID)
		return Int32GetDatum(DatumGetInt16(value));
	return value;
}

static Datum
make_node(const LevelBuilder *builder, const Datum *low, const Datum *high)
{
	if (builder->range != NULL)
	{
		Datum lower = low != NULL ? as_bound(builder, *low) : (Datum) 0;
		Datum upper = high != NULL ? as_bound(builder, *high) : (Datum) 0;

		return builder_range(builder, low != NULL ? &lower : NULL, high != NULL ? &upper : NULL, false);
	}
	return CStringGetTextDatum(psprintf("%s%s,%s)", low != NULL ? "[" : "(",
										low != NULL ? builder_text(builder, *low) : "",
										high != NULL ? builder_text(builder, *high) : ""));
}

/* The groups of level h above the finest ones, which have these numbers. */
static void
make_level(LevelBuilder *builder, int h, const uint64 *number)
{
	Quantiles *own = builder->own;
	int merged = own->groups[0] / own->groups[h];

	own->node[h] = palloc(sizeof(Datum) * Max(own->n, 1));
	/* a source of NULLs alone has no bounds: values of a population are all in one group */
	if (own->n == 0)
		own->node[h][0] = make_node(builder, NULL, NULL);
	for (uint32 first = 0, next; first < own->n; first = next)
	{
		Datum node;

		next = first + 1;
		while (next < own->n && number[next] / merged == number[first] / merged)
			next++;
		node = make_node(builder, first > 0 ? &own->start[first] : NULL,
						 next < own->n ? &own->start[next] : NULL);
		for (uint32 i = first; i < next; i++)
			own->node[h][i] = node;
	}
}

/* The rows below each value, and all of them. */
static int64 *
rows_below(uint32 size, const int64 *rows)
{
	int64 *below = palloc(sizeof(int64) * ((Size) size + 1));

	below[0] = 0;
	for (uint32 code = 0; code < size; code++)
		below[code + 1] = below[code] + (rows != NULL ? rows[code] : 1);
	return below;
}

/*
 * The cut that is nearest to the one before a value, after the value `from`, and not so far from it that half a group
 * changes its side; false: there is none.
 */
static bool
nearest_cut(Cutter *cutter, const int64 *below, uint32 size, int groups, uint32 from, uint32 *code,
			Datum *cut)
{
	int64 most = below[size] / (2 * (int64) groups);
	uint32 down = *code, up = *code + 1;

	while (true)
	{
		bool may_down = down > from && below[*code] - below[down] <= most;
		bool may_up = up < size && below[up] - below[*code] <= most;
		bool lower = may_down && (!may_up || below[*code] - below[down] <= below[up] - below[*code]);
		uint32 at = lower ? down-- : up++;

		CHECK_FOR_INTERRUPTS();
		if (!may_down && !may_up)
			return false;
		if (cutter_cut(cutter, at, cut))
		{
			*code = at;
			return true;
		}
	}
}

/* Values of which there are several, and none of which a range may end in, are one group: that is told. */
static void
tell_whole(const LevelBuilder *builder, const Cutter *cutter)
{
	const char *column = builder->column->name;

	if (!cutter_may_cut_between(cutter))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s for column \"%s\" of type %s would show values of few rows", builder->name,
						column, format_type_be(builder->column->type)),
				 errdetail("Ranges end in values that " INT64_FORMAT
						   " rows or persons have: there is none. Between "
						   "values of this type nothing can be named.",
						   builder->holders->least),
				 errhint("Use another builder, or a view that casts the column to a number, date or text.")));
	ereport(NOTICE, (errmsg("%s makes one range of all values of column \"%s\"", builder->name, column),
					 errdetail("Every other range would end in a value that fewer than " INT64_FORMAT
							   " rows or persons have.",
							   builder->holders->least),
					 errhint("Use another builder, such as \"interval\" or \"prefix\".")));
}

static void
find_groups(LevelBuilder *builder, const Dictionary *values, const int64 *rows)
{
	Quantiles *own = builder->own;
	uint32 size = dictionary_size(values) - dictionary_has_null(values);
	int64 *below = rows_below(size, rows);
	Cutter *cutter = cutter_create(builder, values);
	uint32 begin = 0;
	uint64 before = 0;

	own->number = palloc(sizeof(uint64) * Max(size, 1));
	own->start = palloc0(sizeof(Datum) * Max(size, 1));
	for (uint32 code = 0; code < size; code++)
	{
		uint64 group = group_of(below[code], below[code + 1] - below[code], below[size], own->groups[0]);
		uint32 at = code;

		if (own->n > 0 && (group == before || !nearest_cut(cutter, below, size, own->groups[0], begin, &at,
														   &own->start[own->n])))
		{
			before = group;
			continue;
		}
		own->number[own->n++] = group;
		before = group;
		begin = at;
	}
	if (own->n == 1 && size > 1)
		tell_whole(builder, cutter);
	pfree(below);
}

static void
prepare(LevelBuilder *builder, const Dictionary *values, const int64 *rows)
{
	Quantiles *own = builder->own;

	if (!own->kept)
		find_groups(builder, values, rows);
	for (int h = 0; h < builder->nlevels; h++)
		make_level(builder, h, own->number);
}

/* ---- bounds that are kept ---- */

/* Writes each group's number and lower bound; the first group needs no bound. */
static char **
bounds(const LevelBuilder *builder, int *n)
{
	const Quantiles *own = builder->own;
	char **texts = palloc(sizeof(char *) * 2 * (Size) Max(own->n, 1));
	int nest = plain_text_begin();
	Oid function;
	bool isvarlena;

	getTypeOutputInfo(builder->column->type, &function, &isvarlena);
	for (uint32 i = 0; i < own->n; i++)
	{
		texts[2 * i] = psprintf(UINT64_FORMAT, own->number[i]);
		texts[2 * i + 1] = i > 0 ? OidOutputFunctionCall(function, own->start[i]) : NULL;
	}
	plain_text_end(nest);
	*n = 2 * (int) own->n;
	return texts;
}

/* Numbers ascend, and so do values: else somebody has written into them. */
static bool
in_order(const LevelBuilder *builder, uint32 i)
{
	const Quantiles *own = builder->own;

	return own->number[i] < (uint64) own->groups[0] && (i == 0 || own->number[i] > own->number[i - 1]) &&
		   (i < 2 || DatumGetInt32(FunctionCall2Coll(&own->order->cmp_proc_finfo, builder->column->collation,
													 own->start[i - 1], own->start[i])) < 0);
}

static void
keep(LevelBuilder *builder, char **texts, int n)
{
	Quantiles *own = builder->own;
	int nest = plain_text_begin();

	own->number = palloc(sizeof(uint64) * Max(n, 1));
	own->start = palloc0(sizeof(Datum) * Max(n, 1));
	own->kept = n > 0 && n % 2 == 0;
	for (int i = 0; 2 * i < n && own->kept; i++)
	{
		own->kept = texts[2 * i] != NULL && (i == 0 || texts[2 * i + 1] != NULL);
		if (!own->kept)
			break;
		own->number[i] = strtou64(texts[2 * i], NULL, 10);
		if (i > 0)
			own->start[i] = text_as_value(texts[2 * i + 1], builder->column->type, builder->column->typmod);
		own->kept = in_order(builder, (uint32) i);
	}
	own->n = own->kept ? (uint32) n / 2 : 0;
	plain_text_end(nest);
}

/* The last group that does not begin after it; what is before all of them is in the first one. */
static uint32
find_group(const LevelBuilder *builder, Datum value)
{
	const Quantiles *own = builder->own;
	uint32 low = 1, high = own->n;

	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;

		if (DatumGetInt32(FunctionCall2Coll(&own->order->cmp_proc_finfo, builder->column->collation, value,
											own->start[middle])) < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low - 1;
}

static int
levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	Quantiles *own = builder->own;
	uint32 group = find_group(builder, value);

	if (builder->begun && group == own->before)
		return 0;
	own->before = group;
	for (int h = 0; h < builder->nlevels; h++)
		nodes[h] = own->node[h][group];
	return builder->nlevels;
}

LevelBuilder *
builder_quantile(const char *name, const SourceColumn *column, const int *groups, int n)
{
	LevelBuilder *builder = builder_create(name, column, n);
	Quantiles *own = palloc0(sizeof(Quantiles));

	own->order = lookup_type_cache(column->type, TYPECACHE_CMP_PROC_FINFO | TYPECACHE_LT_OPR);
	if (!OidIsValid(own->order->lt_opr) || !OidIsValid(own->order->cmp_proc))
		builder_refuse("hierarchy", column,
					   "Use a view that casts the column to a type with an order, such as text.");
	for (int i = 0; i < n; i++)
	{
		if (groups[i] < 2)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number %d of %s for column \"%s\" is less than 2", i + 1, name, column->name),
					 errhint("One group is suppression, which is always the last level.")));
		if (i > 0 && (groups[i] >= groups[i - 1] || groups[i - 1] % groups[i] != 0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number %d of %s for column \"%s\" is not a smaller divisor of number %d", i + 1,
							name, column->name, i),
					 errhint("Say how many groups each level has, the finest first: 16, then 8, then 2.")));
		own->groups[i] = groups[i];
		builder->words[i] = psprintf("%d groups of equal size", groups[i]);
	}
	builder_of_ranges(builder);
	builder->prepare = prepare;
	builder->levels = levels;
	builder->bounds = bounds;
	builder->keep = keep;
	builder->own = own;
	return builder;
}
