/*
 * bounds.c: kanon_estimate_bounds: how many rows of the source fulfil a condition, by a published table alone: at least,
 * at most, and expected.
 *
 * A cell stands for one value or for several: those of its range, set or label, all of them of an empty one.  A row fulfils
 * the condition for certain if all values of each of its cells do, and possibly if some of each do.  The expected count takes
 * the values of a cell for equally likely, empty cells for such as the others of their column, and columns for independent.
 */
#include "compat.h"
#include "assess/assess.h"
#include "host/gate.h"
#include "host/lines.h"
#include "options/request.h"
#include "rows/dictionary.h"
#include "rows/source.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rangetypes.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(kanon_estimate_bounds);

enum
{
	ARG_RELATION,
	ARG_CONDITION,
	ARG_LABELS
};

#define MOST_COLUMNS 10

typedef enum Shows
{
	SHOWS_VALUE,
	SHOWS_RANGE,
	SHOWS_SET
} Shows;

/* The condition of a column, and how its cells are read. */
typedef struct Wanted
{
	Shows shows;
	Oid type; /* of one value: no domain */
	Oid collation;
	TypeCacheEntry *own;   /* of a range or an array */
	TypeCacheEntry *value; /* of one value */
	FmgrInfo output;
	bool between;
	double from, to; /* both belong to it */
	int n;           /* values, otherwise */
	Datum *values;
	const JsonbValue *labels; /* what texts stand for, or NULL */
	bool stars;               /* texts that end in stars stand for all that begin so */
	double sum;               /* of the shares that are known, */
	int64 known;              /* and of so many cells */
} Wanted;

/* Which share of a cell's values fulfils the condition. */
typedef struct Verdict
{
	bool certain, possible;
	double share; /* NAN: not known */
} Verdict;

typedef struct Bounds
{
	int n;
	Wanted wanted[MOST_COLUMNS];
	int64 rows, least, most;
	MemoryContext row;
	double expected[1 << MOST_COLUMNS]; /* by the columns of which nothing is known */
} Bounds;

static const Verdict nothing_known = {false, true, NAN};

/* ---- the condition ---- */

pg_noreturn static void
raise_condition(const char *name, const char *what)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("the condition of column \"%s\" cannot be read", name), errdetail("%s", what),
		 errhint("Write it like '{\"zip\": [\"48101\", \"48103\"], \"age\": {\"from\": 30, \"to\": 39}}'.")));
}

static char *
scalar_text(const char *name, const JsonbValue *value)
{
	switch ((int) value->type)
	{
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
		case jbvBool:
			return value->val.boolean ? "true" : "false";
		default:
			raise_condition(name, "A value is a string, a number or a boolean.");
	}
}

static Datum
value_of_text(const Wanted *wanted, const char *name, char *text)
{
	Oid function, parameter;

	/* (the type's message would repeat it) */
	if (TypeCategory(wanted->type) != TYPCATEGORY_STRING && strlen(text) > 1000)
		raise_condition(name, "A value of its type is shorter.");
	getTypeInputInfo(wanted->type, &function, &parameter);
	return OidInputFunctionCall(function, text, parameter, -1);
}

/* A number or time as a double; NAN for a text that is no number. */
static double
number_of(const Wanted *wanted, Datum value)
{
	char *written, *end;
	double number;

	if (wanted->type != TEXTOID && wanted->type != VARCHAROID && wanted->type != BPCHAROID)
		return value_as_number(wanted->type, value);
	written = TextDatumGetCString(value);
	number = strtod(written, &end);
	return end == written || strspn(end, " ") != strlen(end) ? NAN : number;
}

static bool
is_ordered(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return true;
	}
	return false;
}

static double
end_of(const Wanted *wanted, const char *name, const JsonbValue *object, const char *key, double otherwise)
{
	const JsonbValue *value = getKeyJsonValueFromContainer(object->val.binary.data, key, strlen(key), NULL);
	double number;

	if (value == NULL)
		return otherwise;
	number = number_of(wanted, value_of_text(wanted, name, scalar_text(name, value)));
	if (isnan(number))
		raise_condition(name, "\"from\" and \"to\" are numbers or times.");
	return number;
}

static void
read_object(Wanted *wanted, const char *name, const JsonbValue *object)
{
	JsonbIterator *it = JsonbIteratorInit(object->val.binary.data);
	JsonbValue key;
	JsonbIteratorToken token;

	if (!is_ordered(wanted->type))
		raise_condition(name, "\"from\" and \"to\" are for numbers and times.");
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
		if (token == WJB_KEY && !(key.val.string.len == 4 && memcmp(key.val.string.val, "from", 4) == 0) &&
			!(key.val.string.len == 2 && memcmp(key.val.string.val, "to", 2) == 0))
			raise_condition(name, "A range has \"from\" and \"to\", one of them or both, and nothing else.");
	wanted->between = true;
	wanted->from = end_of(wanted, name, object, "from", -INFINITY);
	wanted->to = end_of(wanted, name, object, "to", INFINITY);
}

static void
read_condition(Wanted *wanted, const char *name, const JsonbValue *value)
{
	if (value->type != jbvBinary)
	{
		wanted->n = 1;
		wanted->values = palloc(sizeof(Datum));
		wanted->values[0] = value_of_text(wanted, name, scalar_text(name, value));
		return;
	}
	if (JsonContainerIsObject(value->val.binary.data))
	{
		read_object(wanted, name, value);
		return;
	}
	wanted->n = JsonContainerSize(value->val.binary.data);
	wanted->values = palloc(sizeof(Datum) * Max(wanted->n, 1));
	for (int i = 0; i < wanted->n; i++)
		wanted->values[i] = value_of_text(
			wanted, name, scalar_text(name, getIthJsonbValueFromContainer(value->val.binary.data, i)));
}

/* ---- the column ---- */

/* kanon's comment on the column says whether some of its texts are labels; prefixes explain themselves. */
static bool
needs_labels(Oid relid, const SourceColumn *column, bool *stars)
{
	const char *comment = GetComment(relid, RelationRelationId, get_attnum(relid, column->name));

	*stars = comment != NULL && strncmp(comment, "kanon: ", 7) == 0 && strstr(comment, "the first ") != NULL;
	return comment != NULL && strncmp(comment, "kanon: as it was", 16) == 0 && comment[16] == ',' && !*stars;
}

static void
open_column(Wanted *wanted, Oid relid, const SourceColumn *column, const Jsonb *labels)
{
	Oid type = getBaseType(column->type), output;
	bool isvarlena;

	memset(wanted, 0, sizeof(*wanted));
	wanted->own = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
	if (wanted->own->rngelemtype != NULL)
	{
		wanted->shows = SHOWS_RANGE;
		type = wanted->own->rngelemtype->type_id;
	}
	else if (OidIsValid(get_element_type(type)))
	{
		wanted->shows = SHOWS_SET;
		type = get_element_type(type);
	}
	wanted->type = type = getBaseType(type);
	wanted->value = lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO);
	wanted->collation = OidIsValid(column->collation) ? column->collation : get_typcollation(type);
	if ((type >= FirstNormalObjectId && !type_is_enum(type)) ||
		!OidIsValid(wanted->value->eq_opr_finfo.fn_oid) ||
		(wanted->shows == SHOWS_RANGE && !is_ordered(type)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" is of a type that kanon_estimate_bounds does not take", column->name),
				 errhint("Cast the column to a type of the system's in a view.")));
	getTypeOutputInfo(type, &output, &isvarlena);
	fmgr_info(output, &wanted->output);
	if (labels != NULL)
		wanted->labels = getKeyJsonValueFromContainer(&unconstify(Jsonb *, labels)->root, column->name,
													  strlen(column->name), NULL);
	if (wanted->shows == SHOWS_VALUE && type == TEXTOID && needs_labels(relid, column, &wanted->stars) &&
		wanted->labels == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" shows labels, and labels does not say what they stand for", column->name),
			 errhint("Give the values of each label, like labels => '{\"age\": {\"young\": [18, 19]}}'.")));
}

/* ---- a cell ---- */

static bool
fulfils(Wanted *wanted, Datum value)
{
	if (wanted->between)
	{
		double number = number_of(wanted, value);

		return number >= wanted->from && number <= wanted->to;
	}
	for (int i = 0; i < wanted->n; i++)
		if (DatumGetBool(
				FunctionCall2Coll(&wanted->value->eq_opr_finfo, wanted->collation, value, wanted->values[i])))
			return true;
	return false;
}

static Verdict
of_parts(int64 some, int64 all)
{
	return all <= 0 ? nothing_known : (Verdict){some == all, some > 0, (double) some / (double) all};
}

/* A text of `labels`: its values as texts. */
static bool
of_label(Wanted *wanted, const char *text, Verdict *verdict)
{
	const JsonbValue *values;
	int n, some = 0;

	if (wanted->labels == NULL || wanted->labels->type != jbvBinary ||
		!JsonContainerIsObject(wanted->labels->val.binary.data))
		return false;
	values = getKeyJsonValueFromContainer(wanted->labels->val.binary.data, text, strlen(text), NULL);
	if (values == NULL)
		return false;
	if (values->type != jbvBinary || !JsonContainerIsArray(values->val.binary.data))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("labels cannot be read"),
			 errhint("Give the values of each label, like labels => '{\"age\": {\"young\": [18, 19]}}'.")));
	n = JsonContainerSize(values->val.binary.data);
	for (int i = 0; i < n; i++)
		some += fulfils(
			wanted,
			value_of_text(wanted, "labels",
						  scalar_text("labels", getIthJsonbValueFromContainer(values->val.binary.data, i))));
	*verdict = of_parts(some, n);
	return true;
}

/* "4810*": which of the values asked for begin so, and are as long; how many others do is not known. */
static Verdict
of_stars(Wanted *wanted, const char *label)
{
	size_t begins = strcspn(label, "*");

	if (wanted->between)
		return nothing_known;
	for (int i = 0; i < wanted->n; i++)
	{
		const char *value = TextDatumGetCString(wanted->values[i]);

		if (strncmp(value, label, begins) == 0 && pg_mbstrlen(value) == pg_mbstrlen(label))
			return nothing_known;
	}
	return (Verdict){false, false, 0};
}

static Verdict
of_value(Wanted *wanted, Datum value)
{
	Verdict verdict;
	bool some;

	if (wanted->labels != NULL || wanted->stars)
	{
		char *text = OutputFunctionCall(&wanted->output, value);

		if (of_label(wanted, text, &verdict))
			return verdict;
		if (wanted->stars && *text != '\0' && text[strlen(text) - 1] == '*')
			return of_stars(wanted, text);
	}
	if (wanted->between && isnan(number_of(wanted, value)) && wanted->type == TEXTOID)
		return nothing_known;
	some = fulfils(wanted, value);
	return (Verdict){some, some, some ? 1 : 0};
}

/* A range of numbers that are not whole counts by its length. */
static Verdict
of_length(const Wanted *wanted, double low, double high, bool above)
{
	double from = Max(low, wanted->from), to = Min(high, wanted->to);
	bool certain = low >= wanted->from && high <= wanted->to;
	bool possible = from < to || (from == to && !(above && to == high && low < high));

	if (!wanted->between || isinf(low) || isinf(high))
		return (Verdict){wanted->between && certain, wanted->between ? possible : true,
						 wanted->between && certain ? 1 : NAN};
	return (Verdict){certain, possible,
					 certain                  ? 1
					 : possible && high > low ? (to - from) / (high - low)
											  : 0};
}

/* A range of whole numbers or days, or of others. */
static Verdict
of_range(Wanted *wanted, Datum value)
{
	RangeType *range = DatumGetRangeTypeP(value);
	RangeBound lower, upper;
	bool empty, whole = wanted->type == INT4OID || wanted->type == INT8OID || wanted->type == DATEOID;
	double step = wanted->type == DATEOID ? (double) USECS_PER_DAY : 1, low, high;
	int64 some = 0;

	range_deserialize(wanted->own, range, &lower, &upper, &empty);
	if (empty)
		return nothing_known;
	low = lower.infinite ? -INFINITY : value_as_number(wanted->type, lower.val);
	high = upper.infinite ? INFINITY : value_as_number(wanted->type, upper.val);
	if (low == high)
		return of_value(wanted, lower.val);
	if (!whole || isinf(low) || isinf(high))
		return of_length(wanted, low, high, !upper.inclusive);
	high = upper.inclusive ? high : high - step;
	low = lower.inclusive ? low : low + step;
	if (wanted->between)
		some = (int64) (floor(Min(high, wanted->to) / step) - ceil(Max(low, wanted->from) / step)) + 1;
	for (int i = 0; i < wanted->n; i++)
	{
		double number = value_as_number(wanted->type, wanted->values[i]);
		bool again = false;

		for (int j = 0; j < i; j++)
			again |= value_as_number(wanted->type, wanted->values[j]) == number;
		some += !again && number >= low && number <= high;
	}
	return of_parts(Max(some, 0), (int64) ((high - low) / step) + 1);
}

static Verdict
of_set(Wanted *wanted, Datum value)
{
	ArrayType *array = DatumGetArrayTypeP(value);
	Verdict all;
	Datum *values;
	bool *nulls;
	int n, some = 0, unknown = 0;

	deconstruct_array(array, wanted->type, wanted->value->typlen, wanted->value->typbyval,
					  wanted->value->typalign, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		/* a value that is missing may be any, or none */
		unknown += nulls[i];
		some += !nulls[i] && fulfils(wanted, values[i]);
	}
	all = of_parts(some, n);
	all.possible |= unknown > 0;
	return all;
}

static bool
take_row(void *arg, TupleTableSlot *slot)
{
	Bounds *bounds = arg;
	bool certain = true, possible = true;
	double share = 1;
	int unknown = 0;
	MemoryContext old = MemoryContextSwitchTo(bounds->row);

	slot_getallattrs(slot);
	for (int c = 0; c < bounds->n; c++)
	{
		Wanted *wanted = &bounds->wanted[c];
		Verdict cell = nothing_known;

		if (!slot->tts_isnull[c])
			cell = wanted->shows == SHOWS_RANGE ? of_range(wanted, slot->tts_values[c])
				   : wanted->shows == SHOWS_SET ? of_set(wanted, slot->tts_values[c])
												: of_value(wanted, slot->tts_values[c]);
		certain &= cell.certain;
		possible &= cell.possible;
		if (isnan(cell.share))
			unknown |= 1 << c;
		else
		{
			share *= cell.share;
			wanted->sum += cell.share;
			wanted->known++;
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(bounds->row);
	bounds->rows++;
	bounds->least += certain;
	bounds->most += possible;
	bounds->expected[unknown] += possible ? share : 0;
	return true;
}

/* Cells of which nothing is known are as the others of their column are. */
static double
expected(const Bounds *bounds)
{
	double sum = 0;

	for (int unknown = 0; unknown < 1 << bounds->n; unknown++)
	{
		double share = bounds->expected[unknown];

		for (int c = 0; c < bounds->n; c++)
			if (unknown & 1 << c)
				share *= bounds->wanted[c].known > 0
							 ? bounds->wanted[c].sum / (double) bounds->wanted[c].known
							 : 0.5;
		sum += share;
	}
	return Min(Max(sum, (double) bounds->least), (double) bounds->most);
}

/* The names of the columns that the condition is about. */
static ArrayType *
columns_asked(Jsonb *condition)
{
	JsonbIterator *it = JsonbIteratorInit(&condition->root);
	JsonbValue key;
	JsonbIteratorToken token;
	Datum names[MOST_COLUMNS];
	int n = 0;

	if (!JB_ROOT_IS_OBJECT(condition) || JB_ROOT_COUNT(condition) == 0 ||
		JB_ROOT_COUNT(condition) > MOST_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("condition must be a JSON object of at least 1 and at most %d columns", MOST_COLUMNS),
				 errhint("Write it like '{\"zip\": \"48101\", \"age\": {\"from\": 30, \"to\": 39}}'.")));
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
		if (token == WJB_KEY)
			names[n++] = DirectFunctionCall1(
				namein, CStringGetDatum(pnstrdup(key.val.string.val, key.val.string.len)));
	return construct_array(names, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

/* kanon_estimate_bounds(relation regclass, condition jsonb, labels jsonb) */
Datum
kanon_estimate_bounds(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Bounds *bounds;
	Source *source;
	Jsonb *condition, *labels;
	Gate *gate;

	refuse_null(fcinfo, ARG_RELATION, "relation", "Name a published table or view.");
	refuse_null(fcinfo, ARG_CONDITION, "condition", "Write it like '{\"zip\": \"48101\"}'.");
	condition = PG_GETARG_JSONB_P(ARG_CONDITION);
	labels = PG_ARGISNULL(ARG_LABELS) ? NULL : PG_GETARG_JSONB_P(ARG_LABELS);
	if (labels != NULL && !JB_ROOT_IS_OBJECT(labels))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("labels cannot be read"),
			 errhint("Give the values of each label, like labels => '{\"age\": {\"young\": [18, 19]}}'.")));
	lines = lines_begin(fcinfo);
	SPI_connect();
	source = source_open_kept(PG_GETARG_OID(ARG_RELATION), columns_asked(condition));
	source_snapshot(source);
	bounds = palloc0(sizeof(Bounds));
	bounds->n = source->nkept;
	bounds->row = AllocSetContextCreate(CurrentMemoryContext, "kanon bounds", ALLOCSET_DEFAULT_SIZES);
	for (int c = 0; c < source->nkept; c++)
	{
		const SourceColumn *column = &source->kept[c];

		open_column(&bounds->wanted[c], source->relid, column, labels);
		read_condition(
			&bounds->wanted[c], column->name,
			getKeyJsonValueFromContainer(&condition->root, column->name, strlen(column->name), NULL));
	}
	gate = gate_create(source->name, source->relid, source->nkept);
	gate_columns(gate, source->kept, source->nkept);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), source->name),
				true, take_row, bounds);
	line_int8(lines, bounds->least, true);
	line_int8(lines, bounds->most, true);
	line_float8(lines, expected(bounds), true);
	line_int8(lines, bounds->rows, true);
	line_text(
		lines,
		"the values of a range, set or label are equally likely; an empty cell is as the others of its column; "
		"columns are independent of one another");
	line_end(lines);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
