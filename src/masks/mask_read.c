/*
 * mask_read.c: masks of kept columns, as JSON has them.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "masks/mask_apply.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

typedef struct MaskForm
{
	const char *name;
	MaskKind kind;
	const char *example;
	const char *beside; /* another key that may stand with it, or NULL */
} MaskForm;

static const MaskForm forms[] = {
	{"pseudonym", MASK_PSEUDONYM, "{\"pseudonym\": \"release\"}", "group"},
	{"round", MASK_NUMBER, "{\"round\": 100, \"top\": 0.99}", NULL},
	{"top", MASK_NUMBER, "{\"round\": 100, \"top\": 0.99}", NULL},
	{"bottom", MASK_NUMBER, "{\"bottom\": 0.01, \"top\": 0.99}", NULL},
	{"partial", MASK_PARTIAL, "{\"partial\": [2, 4]}", NULL},
	{"shift", MASK_SHIFT, "{\"shift\": \"patient_id\", \"days\": 30}", "days"},
	{"constant", MASK_CONSTANT, "{\"constant\": null}", NULL},
	{"noise", MASK_NOISE, "{\"noise\": 0.1}", NULL},
	{"swap", MASK_SWAP, "{\"swap\": 5}", NULL},
	{"pram", MASK_PRAM, "{\"pram\": 0.8}", NULL},
	{"microaggregate", MASK_MICROAGGREGATE, "{\"microaggregate\": 5}", NULL},
	{"anon", MASK_ANON, "{\"anon\": \"anon.fake_last_name()\"}", NULL},
};

static void
raise_form(const SourceColumn *column, const MaskForm *form, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("\"%s\" of column \"%s\" in mask must be %s", form->name, column->name, what),
					errhint("Write it like '{\"%s\": %s}'.", column->name, form->example)));
}

static void
refuse_type(const SourceColumn *column, const MaskForm *form, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("a column of type %s cannot be masked by \"%s\"", format_type_be(column->type),
						   form->name),
					errdetail("Column \"%s\" is of this type.", column->name), errhint("%s", hint)));
}

static JsonbValue *
find_key(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString, .val.string = {strlen(name), unconstify(char *, name)}};

	return findJsonbValueFromContainer(object, JB_FOBJECT, &key);
}

double
mask_json_number(const JsonbValue *value)
{
	if (value == NULL || value->type != jbvNumeric)
		return NAN;
	return DatumGetFloat8(
		DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
}

/* A text as one of the column's values. */
Datum
mask_value_read(const Mask *mask, char *text)
{
	Oid input, element;
	Datum read;
	int nest;

	getTypeInputInfo(mask->base, &input, &element);
	/* a night's session may have other settings than the one that wrote it */
	nest = plain_text_begin();
	read = OidInputFunctionCall(input, text, element, -1);
	plain_text_end(nest);
	return read;
}

/* A string, number or boolean as one of the column's values. */
static Datum
value_of(const JsonbValue *value, const Mask *mask, const MaskForm *form)
{
	char *text = NULL;

	if (value->type == jbvString)
		text = pnstrdup(value->val.string.val, value->val.string.len);
	else if (value->type == jbvNumeric)
		text = DatumGetCString(DirectFunctionCall1(
			numeric_out, DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(value->val.numeric))));
	else if (value->type == jbvBool)
		text = value->val.boolean ? "true" : "false";
	else
		raise_form(mask->column, form, "a value of the column, or null");
	return mask_value_read(mask, text);
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_number(Oid type)
{
	return is_integer(type) || type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID;
}

static bool
is_time(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/* ---- each of them ---- */

static void
read_pseudonym(Mask *mask, const MaskForm *form, const JsonbValue *value, const Masks *masks)
{
	char *word = value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len) : "";

	if (strcmp(word, "release") != 0 && strcmp(word, "publication") != 0)
		raise_form(mask->column, form, "\"release\" or \"publication\"");
	mask->lasting = word[0] == 'p';
	if (mask->lasting && !masks->has_lasting)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only a publication has pseudonyms that last"),
				 errhint("Write {\"pseudonym\": \"release\"}: a value has one pseudonym in a release, and "
						 "another one in the next.")));
	mask->type = mask->number ? INT8OID : UUIDOID;
	mask->collation = InvalidOid;
}

static void
raise_group(const Mask *mask)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"group\" of column \"%s\" in mask must be a name, beside \"pseudonym\", "
					"\"noise\" or \"microaggregate\"",
					mask->column->name),
			 errhint("Columns of one group have one pseudonym for equal values: '{\"%s\": "
					 "{\"pseudonym\": \"release\", \"group\": \"persons\"}}'. kanon draws noise, and groups "
					 "rows, for all columns of a group together.",
					 mask->column->name)));
}

static void
read_group(Mask *mask, const JsonbValue *value)
{
	if (value->type != jbvString || value->val.string.len == 0)
		raise_group(mask);
	mask->group = psprintf("kanon group %.*s", value->val.string.len, value->val.string.val);
}

pg_noreturn static void
raise_beside(const Mask *mask, const char *word, const char *what, const char *example)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("\"%s\" of column \"%s\" in mask must be %s", word, mask->column->name, what),
					errhint("Write it like '{\"%s\": %s}'.", mask->column->name, example)));
}

pg_noreturn static void
raise_type(const Mask *mask)
{
	raise_beside(mask, "type", "\"uuid\" or \"bigint\", beside \"pseudonym\"",
				 "{\"pseudonym\": \"release\", \"type\": \"bigint\"}");
}

pg_noreturn static void
raise_show(const Mask *mask)
{
	raise_beside(mask, "show", "\"mean\" or \"median\", beside \"microaggregate\"",
				 "{\"microaggregate\": 5, \"show\": \"median\"}");
}

/* (keys of jsonb are sorted by length: it stands before "pseudonym") */
static void
read_type(Mask *mask, const JsonbValue *value)
{
	char *word = value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len) : "";

	mask->number = strcmp(word, "bigint") == 0;
	if (!mask->number && strcmp(word, "uuid") != 0)
		raise_type(mask);
}

static void
read_round(Mask *mask, const MaskForm *form, const JsonbValue *value)
{
	mask->fraction = mask_json_number(value);
	if (!(mask->fraction > 0) || isinf(mask->fraction) ||
		(is_integer(mask->base) && (mask->fraction != rint(mask->fraction) || mask->fraction > 1e15)))
		raise_form(mask->column, form,
				   is_integer(mask->base) ? "a positive whole number" : "a positive number");
	if (!is_number(mask->base))
		refuse_type(mask->column, form,
					"Numbers can be rounded; of dates a hierarchy shows the month or year.");
	mask->step = DatumGetNumericCopy(NumericGetDatum(value->val.numeric));
	mask->digits = (int) -rint(log10(mask->fraction));
	mask->decimal = DatumGetBool(
		DirectFunctionCall2(numeric_eq, NumericGetDatum(mask->step),
							DirectFunctionCall3(numeric_in, CStringGetDatum(psprintf("1e%d", -mask->digits)),
												ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1))));
}

/* The mask depends on all values of the night: two nights are equations about persons who did not change. */
pg_noreturn static void
refuse_nights(const MaskForm *form, const char *hint)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		 errmsg("a publication does not take the mask \"%s\" like that", form->name),
		 errdetail(
			 "It follows from all values of each night: a reader who keeps releases could solve for values "
			 "of persons who have not changed."),
		 errhint("%s With stable => false it is taken.", hint)));
}

/* A number between 0 and 1 is a quantile, any other one a value; an object says which. */
static void
read_bound(Mask *mask, const MaskForm *form, const JsonbValue *value, const Masks *masks)
{
	MaskBound *bound = form->name[0] == 't' ? &mask->top : &mask->bottom;
	const JsonbValue *inner = value;
	JsonbValue *quantile = NULL;
	double number;

	if (!is_number(mask->base) && !is_time(mask->base))
		refuse_type(mask->column, form, "Numbers, dates and timestamps have a top and a bottom.");
	if (value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data) &&
		JsonContainerSize(value->val.binary.data) == 1)
	{
		quantile = find_key(value->val.binary.data, "quantile");
		inner = quantile != NULL ? quantile : find_key(value->val.binary.data, "value");
		if (inner == NULL)
			raise_form(mask->column, form, "a number, {\"quantile\": 0.99} or {\"value\": 1000}");
	}
	number = mask_json_number(inner);
	bound->given = true;
	if (quantile != NULL || (inner == value && number > 0 && number < 1))
	{
		if (!(number > 0 && number < 1))
			raise_form(mask->column, form, "a quantile between 0 and 1");
		if (masks->stay)
			refuse_nights(form, "Take a value, like {\"value\": 1000}.");
		bound->quantile = number;
		return;
	}
	if (inner->type != jbvNumeric && inner->type != jbvString)
		raise_form(mask->column, form, "a number, {\"quantile\": 0.99} or {\"value\": 1000}");
	bound->value = value_of(inner, mask, form);
	bound->known = true;
}

static void
read_partial(Mask *mask, const MaskForm *form, const JsonbValue *value)
{
	JsonbContainer *list = value->type == jbvBinary ? value->val.binary.data : NULL;
	double shown[2];

	/* (a type that is text without a cast, such as citext, is text in the target, whose equality is that of letters) */
	if (!IsBinaryCoercible(mask->base, TEXTOID) && mask->base != BPCHAROID)
		refuse_type(mask->column, form, "Texts have parts: cast the column to text in a view of the source.");
	if (mask->base != VARCHAROID && mask->base != BPCHAROID)
		mask->type = TEXTOID;
	if (!OidIsValid(mask->collation) || !get_collation_isdeterministic(mask->collation))
		mask->collation = DEFAULT_COLLATION_OID;
	if (list == NULL || !JsonContainerIsArray(list) || JsonContainerSize(list) != 2)
		raise_form(mask->column, form, "how many characters are shown at the beginning and at the end");
	for (int i = 0; i < 2; i++)
	{
		shown[i] = mask_json_number(getIthJsonbValueFromContainer(list, i));
		if (!(shown[i] >= 0 && shown[i] <= 1000 && shown[i] == rint(shown[i])))
			raise_form(mask->column, form, "how many characters are shown at the beginning and at the end");
	}
	mask->first = (int) shown[0];
	mask->last = (int) shown[1];
}

static void
read_shift(Mask *mask, const MaskForm *form, const JsonbValue *value, JsonbContainer *object,
		   const Masks *masks)
{
	double days;

	if (!is_time(mask->base))
		refuse_type(mask->column, form, "Dates and timestamps can be shifted.");
	if (value->type != jbvString)
		raise_form(mask->column, form, "the column that says who a row is about");
	mask->person = pnstrdup(value->val.string.val, value->val.string.len);
	days = mask_json_number(find_key(object, "days"));
	if (!(days >= 1 && days <= 36500 && days == rint(days)))
		raise_form(mask->column, form, "beside \"days\", a whole number from 1 to 36500");
	mask->days = (int64) days;
	/* shifts that are drawn anew for each release would cancel out over many of them */
	mask->lasting = masks->has_lasting;
}

/* (it stands before "microaggregate") */
static void
read_show(Mask *mask, const JsonbValue *value)
{
	char *word = value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len) : "";

	mask->median = strcmp(word, "median") == 0;
	if (!mask->median && strcmp(word, "mean") != 0)
		raise_show(mask);
}

pg_noreturn static void
raise_by(const Mask *mask)
{
	raise_beside(mask, "by",
				 "a column that says who a row is about, beside \"noise\", or \"pram\" with a matrix",
				 "{\"noise\": 250, \"by\": \"patient_id\"}");
}

pg_noreturn static void
refuse_draws(const MaskForm *form)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a publication does not take the mask \"%s\" like that", form->name),
			 errdetail("It is drawn anew for each release: a reader who keeps several can average it out."),
			 errhint("Take {\"round\": 100}, {\"noise\": 250, \"by\": "
					 "\"patient_id\"} with a standard deviation, or \"pram\" with a matrix and \"by\".")));
}

/*
 * A reader who keeps the releases averages noise away that is drawn anew each night.  Drawn by the
 * key it is not, if its size is the same each night: the night's spread can be solved for from two
 * releases.
 */
static void
read_by(Mask *mask, const MaskForm *form, const JsonbValue *value, JsonbContainer *object, const Masks *masks)
{
	JsonbValue *by = find_key(object, "by");

	if (mask->kind == MASK_MICROAGGREGATE && masks->stay)
		refuse_nights(form, "Take {\"round\": 100}, or {\"noise\": 250, \"by\": \"patient_id\"}.");
	if (by == NULL && mask->kind != MASK_MICROAGGREGATE && masks->has_lasting)
		refuse_draws(form);
	if (by == NULL)
		return;
	if (by->type != jbvString ||
		(mask->kind != MASK_NOISE && !(mask->kind == MASK_PRAM && value->type == jbvBinary)))
		raise_by(mask);
	mask->person = pnstrdup(by->val.string.val, by->val.string.len);
	mask->lasting = masks->has_lasting;
}

static void
read_of_column(Mask *mask, const MaskForm *form, const JsonbValue *value, JsonbContainer *object,
			   const Masks *masks)
{
	const char *expected;

	read_by(mask, form, value, object, masks);
	mask->number_type = is_number(mask->base);
	if ((mask->kind == MASK_NOISE || (mask->kind == MASK_MICROAGGREGATE && !mask->median)) &&
		!mask->number_type)
		refuse_type(mask->column, form,
					"Numbers have means and noise; \"swap\" and \"pram\" take other types, and so do groups "
					"that show the median: {\"microaggregate\": 5, \"show\": \"median\"}.");
	if (!OidIsValid(lookup_type_cache(mask->base, TYPECACHE_LT_OPR)->lt_opr))
		refuse_type(mask->column, form, "Values of this type have no order.");
	if (mask->kind == MASK_PRAM && value->type == jbvBinary)
		expected = mask_matrix_read(mask, value->val.binary.data);
	else
		expected = mask_column_read(mask, mask_json_number(value));
	if (expected != NULL)
		raise_form(mask->column, form, expected);
}

static const MaskForm *
find_form(const char *word)
{
	for (int i = 0; i < (int) lengthof(forms); i++)
		if (strcmp(forms[i].name, word) == 0)
			return &forms[i];
	return NULL;
}

static void
raise_unknown(const SourceColumn *column, const char *word)
{
	Nearest nearest = nearest_to(word);
	StringInfoData known;

	initStringInfo(&known);
	for (int i = 0; i < (int) lengthof(forms); i++)
	{
		nearest_try(&nearest, forms[i].name);
		appendStringInfo(&known, "%s\"%s\"", i > 0 ? ", " : "", forms[i].name);
	}
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("\"%s\" of column \"%s\" is no mask", excerpt(word), column->name),
					errhint("%s", nearest_hint(&nearest, psprintf("Known: %s.", known.data)))));
}

static void
read_part(Mask *mask, const MaskForm *form, const JsonbValue *value, JsonbContainer *object,
		  const Source *source, const Masks *masks)
{
	switch (form->kind)
	{
		case MASK_PSEUDONYM:
			read_pseudonym(mask, form, value, masks);
			break;
		case MASK_NUMBER:
			if (form->name[0] == 'r')
				read_round(mask, form, value);
			else
				read_bound(mask, form, value, masks);
			break;
		case MASK_PARTIAL:
			read_partial(mask, form, value);
			break;
		case MASK_SHIFT:
			read_shift(mask, form, value, object, masks);
			break;
		case MASK_CONSTANT:
			mask->isnull = value->type == jbvNull;
			if (!mask->isnull)
				mask->constant = value_of(value, mask, form);
			break;
		case MASK_NOISE:
		case MASK_SWAP:
		case MASK_PRAM:
		case MASK_MICROAGGREGATE:
			read_of_column(mask, form, value, object, masks);
			break;
		case MASK_ANON:
			if (value->type != jbvString)
				raise_form(mask->column, form, "an expression");
			mask_anon_read(mask, source, pnstrdup(value->val.string.val, value->val.string.len));
			if (masks->has_lasting && contain_volatile_functions((Node *) mask->expression) &&
				contain_var_clause((Node *) mask->expression))
				refuse_draws(form);
			break;
	}
}

/* The field beside a mask that fits another kind alone (-1: there is none). */
static void
check_beside(Mask *mask, int kind, JsonbContainer *object)
{
	if (find_key(object, "by") != NULL && kind != MASK_NOISE && kind != MASK_PRAM && kind >= 0)
		raise_by(mask);
	if (mask->group != NULL && kind != MASK_PSEUDONYM && kind != MASK_NOISE && kind != MASK_MICROAGGREGATE)
		raise_group(mask);
	if (find_key(object, "type") != NULL && kind != MASK_PSEUDONYM)
		raise_type(mask);
	if (find_key(object, "show") != NULL && kind != MASK_MICROAGGREGATE)
		raise_show(mask);
	mask_correlation_read(mask, find_key(object, "correlation"));
}

/* A key that stands beside a mask; false: it is none of these. */
static bool
read_beside(Mask *mask, const char *word, const JsonbValue *value)
{
	if (strcmp(word, "group") == 0)
		read_group(mask, value);
	else if (strcmp(word, "type") == 0)
		read_type(mask, value);
	else if (strcmp(word, "show") == 0)
		read_show(mask, value);
	else
		return strcmp(word, "days") == 0 || strcmp(word, "by") == 0 || strcmp(word, "correlation") == 0;
	return true;
}

/* One column's mask: keys of one kind, and what may stand beside them. */
static Mask *
read_mask(SourceColumn *column, JsonbContainer *object, const Source *source, const Masks *masks)
{
	Mask *mask = palloc0(sizeof(Mask));
	const MaskForm *first = NULL;
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbIteratorToken token;
	JsonbValue value;
	char *word = NULL;
	bool days = find_key(object, "days") != NULL;

	mask->column = column;
	mask->base = mask->type = getBaseType(column->type);
	mask->collation = column->collation;
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		const MaskForm *form;

		if (token == WJB_KEY)
			word = pnstrdup(value.val.string.val, value.val.string.len);
		if (token != WJB_VALUE)
			continue;
		if (read_beside(mask, word, &value))
			continue;
		form = find_form(word);
		if (form == NULL)
			raise_unknown(column, word);
		if (first != NULL && form->kind != first->kind)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" has two masks, \"%s\" and \"%s\"", column->name, first->name,
						form->name),
				 errhint("Choose one of them. Only \"round\", \"top\" and \"bottom\" can stand together.")));
		first = form;
		mask->kind = form->kind;
		read_part(mask, form, &value, object, source, masks);
	}
	check_beside(mask, first == NULL ? -1 : (int) first->kind, object);
	if (first == NULL || (days && first->kind != MASK_SHIFT))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 days ? errmsg("\"days\" of column \"%s\" in mask need a \"shift\"", column->name)
					  : errmsg("the mask of column \"%s\" is empty", column->name),
				 days ? errhint("Write it like '{\"%s\": {\"shift\": \"patient_id\", \"days\": 30}}'.",
								column->name)
					  : errhint("Write it like '{\"%s\": {\"pseudonym\": \"release\"}}'.", column->name)));
	return mask;
}

Oid
mask_type(const Mask *mask, Oid *collation)
{
	if (collation != NULL)
		*collation = mask->collation;
	return mask->type;
}

static SourceColumn *
find_kept(Source *source, const char *name)
{
	Nearest nearest = nearest_to(name);

	for (int i = 0; i < source->nkept; i++)
	{
		if (strcmp(source->kept[i].name, name) == 0)
			return &source->kept[i];
		nearest_try(&nearest, source->kept[i].name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("mask names \"%s\", which is not kept", excerpt(name)),
			 errhint("%s", nearest_hint(&nearest, "Name the column in keep, too."))));
}

/* The column of persons is read with the kept ones: it is one of them, or the key. */
static void
check_persons(const Source *source, const char *key)
{
	for (int i = 0; i < source->nkept; i++)
	{
		const Mask *mask = source->kept[i].mask;
		bool found = mask == NULL || mask->person == NULL || (key != NULL && strcmp(mask->person, key) == 0);

		for (int j = 0; j < source->nkept && !found; j++)
			found = strcmp(source->kept[j].name, mask->person) == 0;
		if (!found)
			ereport(
				ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" is %s by \"%s\", which is not kept", source->kept[i].name,
						mask->kind == MASK_SHIFT ? "shifted" : "drawn", excerpt(mask->person)),
				 errhint("Name it in keep, too; {\"constant\": null} or {\"pseudonym\": \"release\"} masks "
						 "it.")));
	}
}

/* A mask as an object: "pseudonym" alone is short for {"pseudonym": "release"}, which could mean nothing else. */
static JsonbContainer *
mask_object(const SourceColumn *column, const JsonbValue *value)
{
	if (value->type == jbvString && value->val.string.len == strlen("pseudonym") &&
		memcmp(value->val.string.val, "pseudonym", value->val.string.len) == 0)
		return &DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("{\"pseudonym\": \"release\"}")))
					->root;
	if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the mask of column \"%s\" must be a JSON object", column->name),
						errhint("Write it like '{\"%s\": {\"pseudonym\": \"release\"}}'.", column->name)));
	return value->val.binary.data;
}

void
masks_read(Source *source, Jsonb *json, const char *key, const bytea *lasting, bool stay)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;
	SourceColumn *column = NULL;
	Masks *masks;

	if (json == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("mask must be a JSON object"),
				 errhint("Write it like '{\"patient_id\": {\"pseudonym\": \"release\"}}': kept column to "
						 "mask.")));
	masks = palloc0(sizeof(Masks));
	masks->stay = stay;
	masks->has_lasting = lasting != NULL && VARSIZE_ANY_EXHDR(lasting) == MASK_KEY_LENGTH;
	if (masks->has_lasting)
		memcpy(masks->key[1], VARDATA_ANY(lasting), MASK_KEY_LENGTH);
	it = JsonbIteratorInit(&json->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			column = find_kept(source, pnstrdup(value.val.string.val, value.val.string.len));
		if (token != WJB_VALUE)
			continue;
		column->mask = read_mask(column, mask_object(column, &value), source, masks);
		masks->n++;
		/* what is shown instead says nothing of the value but where it is the same */
		if (mask_shows(column->mask) == MASK_SHOWS_NAME || mask_shows(column->mask) == MASK_SHOWS_NOTHING)
			column->may_identify = true;
	}
	if (masks->n > 0)
		source->masks = masks;
	check_persons(source, key);
	masks_together_check(source);
	for (int i = 0; i < source->nkept; i++)
		if (source->kept[i].mask != NULL && source->kept[i].mask->kind == MASK_ANON)
			mask_anon_check(source->kept[i].mask, source);
}
