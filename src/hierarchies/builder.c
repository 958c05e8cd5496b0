/*
 * builder.c: what builders of hierarchies have in common, and how JSON names them.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "rows/dictionary.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

LevelBuilder *
builder_create(const char *name, const SourceColumn *column, int n)
{
	LevelBuilder *builder = palloc0(sizeof(LevelBuilder));

	builder->name = name;
	builder->column = column;
	builder->type = getBaseType(column->type);
	builder->nlevels = n;
	if (n < 1 || n > HIERARCHY_MAX_LEVELS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s for column \"%s\" must be a list of 1 to %d levels", name, column->name,
							   HIERARCHY_MAX_LEVELS),
						errhint("Say one for each level, the finest first.")));
	return builder;
}

void
builder_refuse(const char *what, const SourceColumn *column, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("there is no %s for column \"%s\" of type %s", what, column->name,
						   format_type_be(column->type)),
					errhint("%s", hint)));
}

/* Labels, not ranges, for floats: a decimal bound is not where a binary one is. */
void
builder_of_ranges(LevelBuilder *builder)
{
	Oid range =
		builder->type == FLOAT4OID || builder->type == FLOAT8OID ? InvalidOid : range_type_of(builder->type);

	if (OidIsValid(range))
		builder->range = lookup_type_cache(range, TYPECACHE_RANGE_INFO);
}

Datum
builder_range(const LevelBuilder *builder, const Datum *low, const Datum *high, bool closed)
{
	RangeBound lower = {
		.val = low != NULL ? *low : (Datum) 0, .infinite = low == NULL, .inclusive = true, .lower = true};
	RangeBound upper = {.val = high != NULL ? *high : (Datum) 0,
						.infinite = high == NULL,
						.inclusive = closed,
						.lower = false};

	return RangeTypePGetDatum(kanon_make_range(builder->range, &lower, &upper));
}

char *
builder_text(const LevelBuilder *builder, Datum value)
{
	Oid function;
	bool isvarlena;
	char *text;
	Size length;

	getTypeOutputInfo(builder->column->type, &function, &isvarlena);
	text = OidOutputFunctionCall(function, value);
	length = strlen(text);
	while (builder->type == BPCHAROID && length > 0 && text[length - 1] == ' ')
		text[--length] = '\0';
	return text;
}

LevelBuilder *
builder_of_words(const char *name, const SourceColumn *column, const char *const *known, char **words, int n)
{
	LevelBuilder *builder = builder_create(name, column, n);
	int *level = palloc(sizeof(int) * n);

	for (int i = 0; i < n; i++)
	{
		Nearest nearest = nearest_to(words[i]);
		StringInfoData list;

		initStringInfo(&list);
		for (level[i] = 0; known[level[i]] != NULL && strcmp(known[level[i]], words[i]) != 0; level[i]++)
		{
			nearest_try(&nearest, known[level[i]]);
			appendStringInfo(&list, "%s%s", level[i] > 0 ? ", " : "", known[level[i]]);
		}
		if (known[level[i]] == NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("level \"%s\" of %s is not known for column \"%s\"", excerpt(words[i]),
								   name, column->name),
							errhint("%s", nearest_hint(&nearest, psprintf("Levels: %s.", list.data)))));
		if (i > 0 && level[i] <= level[i - 1])
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("level \"%s\" of %s for column \"%s\" comes after level \"%s\"", words[i],
								   name, column->name, words[i - 1]),
							errhint("Name the finest level first, and each once.")));
	}
	for (int i = 0; i < n; i++)
		builder->words[i] = known[level[i]];
	builder->own = level;
	return builder;
}

void
builder_of_texts(const LevelBuilder *builder, const char *what)
{
	char category;
	bool preferred;

	get_type_category_preferred(builder->type, &category, &preferred);
	if (category != TYPCATEGORY_STRING)
		builder_refuse(what, builder->column, "Use a view that casts the column to text.");
}

/* ---- as JSON has them ---- */

/* A builder's arguments. */
typedef struct Arguments
{
	const char *name;
	const SourceColumn *column;
	JsonbValue *list; /* [n] what stands beside its name: a list's elements, or one alone */
	int n;
	JsonbContainer *object; /* all of it */
	const char *example;
} Arguments;

typedef struct Form
{
	const char *name;
	const char *example;
	const char *further; /* a key that may stand beside it, but for "missing", or NULL */
	LevelBuilder *(*make)(const Arguments *arguments);
	bool bounds; /* "lower" and "upper" may, too */
	bool ready; /* true may stand for its usual levels, and what it does not know is suppressed unless told */
} Form;

static void
raise_argument(const Arguments *arguments, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("\"%s\" of column \"%s\" in hierarchies must be %s", arguments->name,
						   arguments->column->name, what),
					errhint("Write it like '{\"%s\": %s}'.", arguments->column->name, arguments->example)));
}

static JsonbValue *
find_key(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString, .val.string = {strlen(name), unconstify(char *, name)}};

	return findJsonbValueFromContainer(object, JB_FOBJECT, &key);
}

static Numeric
number_at(const Arguments *arguments, int i)
{
	if (arguments->list[i].type != jbvNumeric)
		raise_argument(arguments, "a list of numbers");
	return arguments->list[i].val.numeric;
}

static int *
integers_of(const Arguments *arguments)
{
	int *integers = palloc(sizeof(int) * Max(arguments->n, 1));

	for (int i = 0; i < arguments->n; i++)
	{
		double number = DatumGetFloat8(
			DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(number_at(arguments, i))));

		if (!(fabs(number) <= PG_INT32_MAX) || number != rint(number))
			raise_argument(arguments, "a list of whole numbers");
		integers[i] = (int) number;
	}
	return integers;
}

static LevelBuilder *
prefix_of(const Arguments *arguments)
{
	return builder_prefix(arguments->name, arguments->column, integers_of(arguments), arguments->n);
}

/* NULL: none. */
static Numeric
end_of(const Arguments *arguments, const char *key)
{
	JsonbValue *value = find_key(arguments->object, key);

	if (value != NULL && value->type != jbvNumeric)
		raise_argument(arguments, psprintf("beside a \"%s\" that is a number", key));
	return value != NULL ? value->val.numeric : NULL;
}

static LevelBuilder *
quantile_of(const Arguments *arguments)
{
	LevelBuilder *builder =
		builder_quantile(arguments->name, arguments->column, integers_of(arguments), arguments->n);
	Numeric k = end_of(arguments, "k");
	double number =
		k == NULL ? 0 : DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(k)));

	if (k != NULL && !(number >= 1 && number <= PG_INT32_MAX && number == rint(number)))
		raise_argument(arguments, "beside a \"k\" that is a whole number of rows");
	builder->least = (int64) number;
	return builder;
}

static LevelBuilder *
interval_of(const Arguments *arguments)
{
	Numeric *widths = palloc(sizeof(Numeric) * Max(arguments->n, 1));
	JsonbValue *origin = find_key(arguments->object, "origin");

	for (int i = 0; i < arguments->n; i++)
		widths[i] = number_at(arguments, i);
	if (origin != NULL && origin->type != jbvNumeric)
		raise_argument(arguments, "beside an \"origin\" that is a number");
	return builder_interval(arguments->name, arguments->column, widths, arguments->n,
							origin != NULL ? origin->val.numeric : int64_to_numeric(0),
							end_of(arguments, "lower"), end_of(arguments, "upper"));
}

static char **
words_of(const Arguments *arguments)
{
	char **words = palloc(sizeof(char *) * Max(arguments->n, 1));

	for (int i = 0; i < arguments->n; i++)
	{
		if (arguments->list[i].type != jbvString)
			raise_argument(arguments, "a list of words");
		words[i] = pnstrdup(arguments->list[i].val.string.val, arguments->list[i].val.string.len);
	}
	return words;
}

static LevelBuilder *
date_of(const Arguments *arguments)
{
	return builder_date(arguments->name, arguments->column, words_of(arguments), arguments->n);
}

/* The calendar above a day is the same of dates and of timestamps. */
static LevelBuilder *
calendar_of(const Arguments *arguments)
{
	static char *usual[] = {"day", "month", "quarter", "year"};
	bool of_dates = getBaseType(arguments->column->type) == DATEOID;

	if (arguments->n > 0)
		return date_of(arguments);
	return builder_date(arguments->name, arguments->column, usual + of_dates, lengthof(usual) - of_dates);
}

static LevelBuilder *
icd10_of(const Arguments *arguments)
{
	static char *usual[] = {"category", "chapter"};

	return arguments->n > 0
			   ? builder_icd10(arguments->name, arguments->column, words_of(arguments), arguments->n)
			   : builder_icd10(arguments->name, arguments->column, usual, lengthof(usual));
}

static LevelBuilder *
iso3166_of(const Arguments *arguments)
{
	static char *usual[] = {"region", "continent"};

	return arguments->n > 0
			   ? builder_country(arguments->name, arguments->column, words_of(arguments), arguments->n)
			   : builder_country(arguments->name, arguments->column, usual, lengthof(usual));
}

static LevelBuilder *
grid_of(const Arguments *arguments)
{
	static char *usual[] = {"1 km", "10 km", "100 km"};
	JsonbValue *show = find_key(arguments->object, "show");

	if (show != NULL && show->type != jbvString)
		raise_argument(arguments, "beside a \"show\" that is a word");
	return builder_grid(arguments->name, arguments->column, arguments->n > 0 ? words_of(arguments) : usual,
						arguments->n > 0 ? arguments->n : (int) lengthof(usual),
						show != NULL ? pnstrdup(show->val.string.val, show->val.string.len) : NULL);
}

static LevelBuilder *
age_of(const Arguments *arguments)
{
	if (arguments->n > 0)
		raise_argument(arguments, "true");
	return builder_age(arguments->name, arguments->column);
}

static LevelBuilder *
zip3_of(const Arguments *arguments)
{
	JsonbValue *population = find_key(arguments->object, "population");

	if (arguments->n > 0)
		raise_argument(arguments, "true");
	if (population == NULL)
		return builder_zip3(arguments->name, arguments->column, InvalidOid);
	if (population->type != jbvString)
		raise_argument(arguments, "beside a \"population\" that is the name of a relation");
	return builder_zip3(
		arguments->name, arguments->column,
		relation_to_read("population", pnstrdup(population->val.string.val, population->val.string.len)));
}

/* "table" is made by who knows relations. */
static const Form forms[] = {
	{"age", "{\"age\": true}", NULL, age_of, .ready = true},
	{"calendar", "{\"calendar\": true}", NULL, calendar_of, .ready = true},
	{"date", "{\"date\": [\"month\", \"year\"]}", NULL, date_of},
	{"grid", "{\"grid\": [\"500 m\", \"5 km\", \"50 km\"], \"show\": \"polygon\"}", "show", grid_of,
	 .ready = true},
	{"hipaa_zip3", "{\"hipaa_zip3\": true, \"population\": \"census.zip\"}", "population", zip3_of,
	 .ready = true},
	{"icd10", "{\"icd10\": [\"category\", \"chapter\"]}", NULL, icd10_of, .ready = true},
	{"interval", "{\"interval\": [5, 10, 20]}", "origin", interval_of, .bounds = true},
	{"iso3166", "{\"iso3166\": [\"region\", \"continent\"]}", NULL, iso3166_of, .ready = true},
	{"prefix", "{\"prefix\": [3, 1]}", NULL, prefix_of},
	{"quantile", "{\"quantile\": [8, 4]}", "k", quantile_of},
	{"table", "{\"table\": \"clinic.icd\", \"missing\": \"suppress\"}", NULL, NULL},
};

#define FORMS ((int) lengthof(forms))

static char *
known_forms(void)
{
	StringInfoData known;

	initStringInfo(&known);
	for (int i = 0; i < FORMS; i++)
		appendStringInfo(&known, "%s\"%s\"", i > 0 ? ", " : "", forms[i].name);
	return known.data;
}

static void
raise_unknown(const char *word, const SourceColumn *column, const Form *form)
{
	Nearest nearest = nearest_to(word);
	const char *hint;

	for (int i = 0; form == NULL && i < FORMS; i++)
		nearest_try(&nearest, forms[i].name);
	if (form != NULL && form->further != NULL)
		nearest_try(&nearest, form->further);
	if (form != NULL && form->bounds)
	{
		nearest_try(&nearest, "lower");
		nearest_try(&nearest, "upper");
	}
	nearest_try(&nearest, "missing");
	hint = form == NULL            ? psprintf("Known: %s; or name a relation.", known_forms())
		   : form->further == NULL ? "It takes \"missing\"."
								   : psprintf("It takes \"%s\"%s and \"missing\".", form->further,
											  form->bounds ? ", \"lower\", \"upper\"" : "");
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					form == NULL ? errmsg("\"%s\" of column \"%s\" is no builder of hierarchies",
										  excerpt(word), column->name)
								 : errmsg("\"%s\" of column \"%s\" does not take \"%s\"", form->name,
										  column->name, excerpt(word)),
					errhint("%s", nearest_hint(&nearest, hint))));
}

static const Form *
find_form(const char *word)
{
	for (int i = 0; i < FORMS; i++)
		if (strcmp(forms[i].name, word) == 0)
			return &forms[i];
	return NULL;
}

const char *
builder_example(const char *name)
{
	const Form *form = find_form(name);

	return form != NULL ? form->example : NULL;
}

/* The next key of an object, or NULL. */
static char *
next_key(JsonbIterator **it)
{
	JsonbValue key;
	JsonbIteratorToken token;

	while ((token = JsonbIteratorNext(it, &key, true)) != WJB_DONE)
		if (token == WJB_KEY)
			return pnstrdup(key.val.string.val, key.val.string.len);
	return NULL;
}

/* The one builder that the object names, all of whose keys are known. */
static const Form *
only_form(JsonbContainer *object, const SourceColumn *column)
{
	const Form *form = NULL;
	char *word, *unknown = NULL;
	bool bounds = false;
	JsonbIterator *it = JsonbIteratorInit(object);

	while ((word = next_key(&it)) != NULL)
	{
		const Form *found = find_form(word);

		if (found != NULL && form != NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("column \"%s\" has two builders of hierarchies, \"%s\" and \"%s\"",
								   column->name, form->name, found->name),
							errhint("Name one of them.")));
		if (found != NULL)
			form = found;
		else if (strcmp(word, "lower") == 0 || strcmp(word, "upper") == 0)
			bounds = true;
		else if (strcmp(word, "missing") != 0)
			unknown = word;
	}
	if (bounds && unknown == NULL && (form == NULL || !form->bounds))
		unknown = find_key(object, "lower") != NULL ? "lower" : "upper";
	if (form == NULL && unknown == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the hierarchy of column \"%s\" names no builder", column->name),
						errhint("Known: %s; or name a relation.", known_forms())));
	if (unknown != NULL && (form == NULL || form->further == NULL || strcmp(form->further, unknown) != 0))
		raise_unknown(unknown, column, form);
	return form;
}

/* The arguments beside the builder's name. */
static void
read_list(Arguments *arguments, const Form *form)
{
	JsonbValue *value = find_key(arguments->object, form->name);
	JsonbContainer *list = value->type == jbvBinary ? value->val.binary.data : NULL;

	if (list != NULL && JsonContainerIsArray(list))
	{
		arguments->n = (int) JsonContainerSize(list);
		arguments->list = palloc(sizeof(JsonbValue) * Max(arguments->n, 1));
		for (int i = 0; i < arguments->n; i++)
			arguments->list[i] = *getIthJsonbValueFromContainer(list, i);
		return;
	}
	if (form->ready && value->type == jbvBool && value->val.boolean)
		return;
	arguments->n = 1;
	arguments->list = value;
}

static bool
read_missing(const Arguments *arguments, bool initial)
{
	JsonbValue *value = find_key(arguments->object, "missing");
	char *word;
	Nearest nearest;

	if (value == NULL)
		return initial;
	word = value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len) : "";
	if (strcmp(word, "suppress") == 0 || strcmp(word, "error") == 0)
		return word[0] == 's';
	nearest = nearest_to(word);
	nearest_try(&nearest, "suppress");
	nearest_try(&nearest, "error");
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("\"missing\" of column \"%s\" must be \"suppress\" or \"error\"", arguments->column->name),
		 errhint("%s", nearest_hint(&nearest, "\"suppress\" shows values without a line as they are or "
											  "suppresses them; \"error\" ends the call."))));
}

LevelBuilder *
builder_read(JsonbContainer *object, const SourceColumn *column, char **table, bool *suppress)
{
	const Form *form = only_form(object, column);
	Arguments arguments = {.name = form->name, .column = column, .object = object, .example = form->example};

	read_list(&arguments, form);
	*table = NULL;
	*suppress = read_missing(&arguments, form->ready);
	if (form->make != NULL)
		return form->make(&arguments);
	if (arguments.list[0].type != jbvString || arguments.n != 1)
		raise_argument(&arguments, "the name of a relation");
	*table = pnstrdup(arguments.list[0].val.string.val, arguments.list[0].val.string.len);
	return NULL;
}
