/*
 * record_json.c: the parts of a run's record that are JSON.
 *
 * Values become JSON as the caller, and by the type's own output function: a cast to json belongs to
 * the owner of the type.
 */
#include "compat.h"
#include "record/record.h"
#include "rows/verify.h"
#include "host/catalog.h"
#include "rows/cell_values.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

/* How values of a type become JSON. */
typedef struct JsonMaker
{
	FmgrInfo function;
	bool text;   /* the function is an output function */
	Oid element; /* whose output function it is, or InvalidOid */
} JsonMaker;

/* Values that were JSON before, in one context that is emptied when they were so many; and bytes of each at most. */
#define MOST_REMEMBERED 4096
#define MOST_BYTES 64

/* A value of a quasi-identifier, found by the last bits of its code. */
#define REMEMBERED 256

typedef struct Remembered
{
	uint32 code; /* and 1; 0: there is none */
	JsonbValue value;
} Remembered;

/*
 * Would to_jsonb look for a cast to json?  The owner of a type can make one at any time, by a
 * function of theirs; that of an extension which a superuser installed is trusted.
 */
static bool
is_castable(Oid type)
{
	Oid base = getBaseType(type), element = get_element_type(base), cast;
	bool castable = false;
	TupleDesc desc;

	check_stack_depth();
	if (base < FirstNormalObjectId)
		return false;
	if (OidIsValid(element))
		return is_castable(element);
	if (!type_is_rowtype(base))
		return find_coercion_pathway(JSONOID, base, COERCION_EXPLICIT, &cast) != COERCION_PATH_FUNC ||
			   !superuser_arg(function_owner(cast));
	desc = lookup_rowtype_tupdesc(base, -1);
	for (int i = 0; i < desc->natts && !castable; i++)
		castable = !TupleDescAttr(desc, i)->attisdropped && is_castable(TupleDescAttr(desc, i)->atttypid);
	ReleaseTupleDesc(desc);
	return castable;
}

/* to_jsonb for a type, as the parser would have set it up, or the text of its values. */
static void
json_maker(Oid type, int32 typmod, Oid collation, JsonMaker *maker)
{
	bool isvarlena;
	Oid base = getBaseType(type), function = F_TO_JSONB;

	/* of texts to_jsonb makes the same string, the long way */
	maker->text = base == TEXTOID || base == VARCHAROID || is_castable(type);
	maker->element = maker->text ? get_element_type(base) : InvalidOid;
	if (maker->text)
		getTypeOutputInfo(OidIsValid(maker->element) ? maker->element : type, &function, &isvarlena);
	fmgr_info(function, &maker->function);
	if (!maker->text)
		fmgr_info_set_expr((Node *) makeFuncExpr(F_TO_JSONB, JSONBOID,
												 list_make1(makeNullConst(type, typmod, collation)),
												 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL),
						   &maker->function);
}

static JsonbValue
text_value(char *text)
{
	JsonbValue value = {.type = jbvString};

	value.val.string.val = text;
	value.val.string.len = strlen(text);
	return value;
}

static void
push_array(JsonbInState *state, ArrayType *array, JsonMaker *maker)
{
	int16 length;
	bool byval, *nulls;
	char align;
	Datum *elements;
	int n;

	get_typlenbyvalalign(maker->element, &length, &byval, &align);
	deconstruct_array(array, maker->element, length, byval, align, &elements, &nulls, &n);
	kanon_push_jsonb(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < n; i++)
	{
		JsonbValue value = {.type = jbvNull};

		if (!nulls[i])
			value = text_value(OutputFunctionCall(&maker->function, elements[i]));
		kanon_push_jsonb(state, WJB_ELEM, &value);
	}
	kanon_push_jsonb(state, WJB_END_ARRAY, NULL);
}

/* A value that is no array of texts. */
static JsonbValue
json_value(Datum datum, JsonMaker *maker)
{
	JsonbValue value;
	Jsonb *json;

	if (maker->text)
		return text_value(OutputFunctionCall(&maker->function, datum));
	json = DatumGetJsonbP(FunctionCall1(&maker->function, datum));
	if (!JB_ROOT_IS_SCALAR(json) || !JsonbExtractScalar(&json->root, &value))
	{
		value.type = jbvBinary;
		value.val.binary.data = &json->root;
		value.val.binary.len = VARSIZE_ANY_EXHDR(json);
	}
	return value;
}

static void
push_key(JsonbInState *state, const char *name)
{
	JsonbValue key = text_value(unconstify(char *, name));

	kanon_push_jsonb(state, WJB_KEY, &key);
}

/* "name": value */
static void
push_pair(JsonbInState *state, const char *name, Datum datum, bool isnull, JsonMaker *maker)
{
	JsonbValue value = {.type = jbvNull};

	push_key(state, name);
	if (!isnull && OidIsValid(maker->element))
	{
		push_array(state, DatumGetArrayTypeP(datum), maker);
		return;
	}
	if (!isnull)
		value = json_value(datum, maker);
	kanon_push_jsonb(state, WJB_VALUE, &value);
}

struct ShownJson
{
	const Source *source;
	Shower *shower;
	JsonMaker *makers; /* [nqis] */
	int *order; /* [nqis] quasi-identifiers as jsonb sorts their names, so that it has nothing to sort */
	MemoryContext context; /* of what is remembered */
	int nremembered;
	Remembered *remembered; /* [nqis][REMEMBERED] */
};

static int
compare_names(const void *a, const void *b, void *arg)
{
	const SourceColumn *qis = arg;
	const char *left = qis[*(const int *) a].name, *right = qis[*(const int *) b].name;
	size_t nleft = strlen(left), nright = strlen(right);

	return nleft != nright ? (nleft < nright ? -1 : 1) : memcmp(left, right, nleft);
}

ShownJson *
shown_json_open(const Source *source)
{
	ShownJson *json = palloc(sizeof(ShownJson));

	json->source = source;
	json->shower = shower_create(source);
	json->makers = palloc0(sizeof(JsonMaker) * source->nqis);
	json->order = palloc(sizeof(int) * source->nqis);
	json->context = AllocSetContextCreate(CurrentMemoryContext, "kanon JSON", ALLOCSET_SMALL_SIZES);
	json->nremembered = 0;
	json->remembered = palloc0(sizeof(Remembered) * REMEMBERED * source->nqis);
	for (int c = 0; c < source->nqis; c++)
	{
		const SourceColumn *column = &source->qis[c];

		json_maker(shown_type(column), column->show_as == SHOW_AS_VALUE ? column->typmod : -1,
				   shown_collation(column), &json->makers[c]);
		json->order[c] = c;
	}
	qsort_arg(json->order, source->nqis, sizeof(int), compare_names, source->qis);
	return json;
}

/* Short texts and numbers are remembered. */
static void
remember(ShownJson *json, Remembered *one, uint32 code, const JsonbValue *value)
{
	bool number = value->type == jbvNumeric;
	char *bytes = number ? (char *) value->val.numeric : value->val.string.val;
	Size length = number ? VARSIZE(value->val.numeric) : (Size) value->val.string.len;

	if ((!number && value->type != jbvString) || length > MOST_BYTES)
		return;
	if (++json->nremembered > MOST_REMEMBERED)
	{
		MemoryContextReset(json->context);
		memset(json->remembered, 0, sizeof(Remembered) * REMEMBERED * json->source->nqis);
		json->nremembered = 1;
	}
	bytes = memcpy(MemoryContextAlloc(json->context, Max(length, 1)), bytes, length);
	one->code = code + 1;
	one->value = *value;
	if (number)
		one->value.val.numeric = (Numeric) bytes;
	else
		one->value.val.string.val = bytes;
}

/* A single value of a column that shows values. */
static void
push_shown(JsonbInState *state, ShownJson *json, int c, const KanonCell *cells)
{
	const KanonCell *cell = &cells[json->source->levels.first[c]];
	Remembered *one = &json->remembered[c * REMEMBERED + cell->code % REMEMBERED];
	JsonbValue value = one->value;

	push_key(state, json->source->qis[c].name);
	if (one->code != cell->code + 1)
	{
		bool isnull;
		Datum shown = show_cell(json->shower, c, cells, NULL, &isnull);

		value = isnull ? (JsonbValue){.type = jbvNull} : json_value(shown, &json->makers[c]);
		remember(json, one, cell->code, &value);
	}
	kanon_push_jsonb(state, WJB_VALUE, &value);
}

Datum
shown_json(ShownJson *json, const KanonCell *cells, const uint32 *pool)
{
	const Source *source = json->source;
	JsonbInState state = {0};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < source->nqis; i++)
	{
		int c = json->order[i];
		Datum shown;
		bool isnull;

		if (shows_nothing(&source->levels, c, cells))
			continue;
		if (cells[source->levels.first[c]].show == KANON_SHOW_VALUE && !OidIsValid(json->makers[c].element))
		{
			push_shown(&state, json, c, cells);
			continue;
		}
		shown = show_cell(json->shower, c, cells, pool, &isnull);
		push_pair(&state, source->qis[c].name, shown, isnull, &json->makers[c]);
	}
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(state.result));
}

Datum
recorded_options(const RecordedOption *options, int n)
{
	JsonbInState state = {0};
	int nest = plain_text_begin(); /* a record is spelled alike in every session */

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < n; i++)
	{
		JsonMaker maker;

		json_maker(options[i].type, -1, get_typcollation(options[i].type), &maker);
		push_pair(&state, options[i].name, options[i].value, false, &maker);
	}
	plain_text_end(nest);
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(state.result));
}

static void
push_number(JsonbInState *state, const char *name, int64 number)
{
	JsonbValue value = {.type = jbvNumeric};

	value.val.numeric = int64_to_numeric(number);
	push_key(state, name);
	kanon_push_jsonb(state, WJB_VALUE, &value);
}

Datum
recorded_classes(const ClassesTold *told)
{
	JsonbInState state = {0};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	push_number(&state, "classes", told->classes);
	push_key(&state, "columns");
	kanon_push_jsonb(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < told->ncolumns; i++)
	{
		const ColumnTold *column = &told->columns[i];
		JsonbValue name = text_value(unconstify(char *, column->name));

		kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
		push_key(&state, "column");
		kanon_push_jsonb(&state, WJB_VALUE, &name);
		push_number(&state, "one_classes", column->one_classes);
		push_number(&state, "one_rows", column->one_rows);
		push_number(&state, "most_classes", column->most_classes);
		push_number(&state, "most_rows", column->most_rows);
		if (column->repeats)
		{
			push_number(&state, "least_persons", column->least);
			push_number(&state, "single_classes", column->single_classes);
			push_number(&state, "few_classes", column->few_classes);
			push_number(&state, "few_rows", column->few_rows);
		}
		kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	}
	kanon_push_jsonb(&state, WJB_END_ARRAY, NULL);
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(state.result));
}
