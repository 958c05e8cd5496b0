/*
 * options_json.c: a JSON object of options as values of their types.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/excerpt.h"
#include "hierarchies/hierarchy.h"
#include "options/request.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include <math.h>

/* A publication's target is never another's, and always written. */
bool
option_may_be_said(const Model *model, Option option)
{
	return ((model->options | OF_PUBLICATIONS) & UINT64CONST(1) << option) != 0 && option != OPTION_REPLACE &&
		   option != OPTION_DRY_RUN;
}

char *
options_known(const Model *model)
{
	StringInfoData known;

	initStringInfo(&known);
	for (Option option = 0; option < OPTIONS; option++)
		if (option_may_be_said(model, option))
			appendStringInfo(&known, "%s%s", known.len > 0 ? ", " : "", option_name(option));
	return known.data;
}

/* Refuses an argument of the call as an option, and says how to give it. */
static void
refuse_argument(const char *name)
{
	static const char *const arguments[][2] = {
		{"k", "k is an argument of its own: write it before options, as k => 5."},
		{"quasi_identifiers", "quasi_identifiers is an argument of its own."},
		{"source", "source is an argument of its own."},
		{"target", "The releases of a publication are tables that it names itself."},
		{"dry_run",
		 "kanon_alter_publication(..., dry_run => true) tries a publication. Before it is created, call "
		 "the model's own function with dry_run => true."},
		{"replace", "Each release replaces the one before: leave it out."},
		{"key", "key is an argument of kanon_create_publication and kanon_alter_publication."},
		{"stable", "stable is an argument of kanon_create_publication and kanon_alter_publication."},
		{"model", "model is an argument of its own."}};

	for (int i = 0; i < lengthof(arguments); i++)
		if (strcmp(name, arguments[i][0]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" does not belong into options", name), errhint("%s", arguments[i][1])));
}

static Option
find_option(const Model *model, const char *name)
{
	Nearest nearest = nearest_to(name);

	for (Option option = 0; option < OPTIONS; option++)
	{
		if (!option_may_be_said(model, option))
			continue;
		if (strcmp(option_name(option), name) == 0)
			return option;
		nearest_try(&nearest, option_name(option));
	}
	refuse_argument(name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("option \"%s\" is not known to the model", excerpt(name)),
			 errhint("%s", nearest_hint(&nearest, psprintf("Known options: %s.", options_known(model))))));
}

/* JSON's type of an option's type, and an example of it. */
static const char *
json_form(Option option, const char **example)
{
	Oid type = option_type(option);

	if (option == OPTION_WEIGHTS)
	{
		*example = "{\"...\": 2}";
		return "an object or a list of numbers";
	}
	switch (type)
	{
		case BOOLOID:
			*example = "true";
			return "true or false";
		case INT4OID:
		case INT8OID:
		case FLOAT8OID:
			*example = type == FLOAT8OID ? "0.1" : "2";
			return type == FLOAT8OID ? "a number"
				   : type == INT4OID ? "a whole number of 32 bits"
									 : "a whole number of 64 bits";
		case INTERVALOID:
			*example = "\"60 s\"";
			return "an interval in a string";
		case JSONBOID:
			*example = "{\"...\": \"...\"}";
			return "an object";
		case JSONBARRAYOID:
			*example = "[{\"rule\": \"distinct_l\", \"column\": \"...\", \"l\": 3}]";
			return "a list of objects";
		default:
			*example = OidIsValid(get_element_type(type)) ? "[\"...\", \"...\"]" : "\"...\"";
			return OidIsValid(get_element_type(type)) ? "a list of strings" : "a string";
	}
}

/* Is a number in the range of its type, and whole where that is? */
static bool
number_fits(Numeric value, Oid type)
{
	const char *text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)));
	char *end;
	double real;
	int64 whole;

	errno = 0;
	if (type == FLOAT8OID)
	{
		real = strtod(text, &end);
		return !isinf(real) && (errno == 0 || real != 0);
	}
	whole = strtoi64(text, &end, 10);
	return errno == 0 && *end == '\0' &&
		   (type == INT8OID || (whole >= PG_INT32_MIN && whole <= PG_INT32_MAX));
}

/* NULLs, and objects that are no rules, are left to who reads them. */
static bool
elements_fit(JsonbContainer *list, Oid type)
{
	if (type == JSONBARRAYOID)
		return true;
	for (uint32 i = 0; i < JsonContainerSize(list); i++)
	{
		JsonbValue *element = getIthJsonbValueFromContainer(list, i);

		if (element->type != jbvNull && element->type != jbvString)
			return false;
	}
	return true;
}

static void
read_interval(void *text)
{
	(void) DirectFunctionCall3(interval_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/* Only who reads it knows. */
static bool
interval_fits(const JsonbValue *value)
{
	return attempt(read_interval, pnstrdup(value->val.string.val, value->val.string.len)) == NULL;
}

/* The server's own complaint would name neither the option nor what it should be. */
static void
check_form(Option option, const JsonbValue *value)
{
	Oid type = option_type(option);
	bool list = OidIsValid(get_element_type(type));
	const char *example;
	const char *form = json_form(option, &example);
	bool fits;

	if (value->type == jbvNull)
		return;
	if (value->type == jbvBinary)
		fits = JsonContainerIsArray(value->val.binary.data)
				   ? option == OPTION_WEIGHTS || (list && elements_fit(value->val.binary.data, type))
				   : type == JSONBOID;
	else if (type == BOOLOID)
		fits = value->type == jbvBool;
	else if (type == INT4OID || type == INT8OID || type == FLOAT8OID)
		fits = value->type == jbvNumeric && number_fits(value->val.numeric, type);
	else
		fits = !list && type != JSONBOID && value->type == jbvString &&
			   (type != INTERVALOID || interval_fits(value));
	if (fits && type == REGCLASSOID)
		(void) relation_to_read(option_name(option), pnstrdup(value->val.string.val, value->val.string.len));
	if (!fits)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("option \"%s\" must be %s", option_name(option), form),
						errhint("Write it like '{\"%s\": %s}'.", option_name(option), example)));
}

/* jsonb_populate_record, as the parser would have set it up for any record. */
static void
populate_function(FmgrInfo *function)
{
	List *args =
		list_make2(makeNullConst(RECORDOID, -1, InvalidOid), makeNullConst(JSONBOID, -1, InvalidOid));

	fmgr_info(F_JSONB_POPULATE_RECORD, function);
	fmgr_info_set_expr((Node *) makeFuncExpr(F_JSONB_POPULATE_RECORD, RECORDOID, args, InvalidOid, InvalidOid,
											 COERCE_EXPLICIT_CALL),
					   function);
}

/* Which options an object names; raises those that the model does not have, or in another form. */
static void
find_options(const Model *model, Jsonb *options, bool *given)
{
	JsonbIterator *it = JsonbIteratorInit(&options->root);
	JsonbIteratorToken token;
	JsonbValue value;
	Option named = OPTIONS;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
		if (token == WJB_KEY)
		{
			named = find_option(model, pnstrdup(value.val.string.val, value.val.string.len));
			given[named] = true;
		}
		else if (token == WJB_VALUE)
			check_form(named, &value);
}

/*
 * The options of a JSON object as values of their types; not by a query, since its plan
 * with the values in it could be logged.
 */
static void
convert_options(const Model *model, Jsonb *options, Datum *values, bool *nulls)
{
	TupleDesc desc = CreateTemplateTupleDesc(OPTIONS);
	FmgrInfo populate;
	HeapTupleData tuple;

	for (Option option = 0; option < OPTIONS; option++)
	{
		/* two options may have one name, but not of one model */
		TupleDescInitEntry(desc, option + 1, option_may_be_said(model, option) ? option_name(option) : NULL,
						   option_type(option), -1, 0);
		values[option] = (Datum) 0;
		nulls[option] = true;
	}
	TupleDescFinalize(desc);
	BlessTupleDesc(desc);
	populate_function(&populate);
	tuple.t_data = DatumGetHeapTupleHeader(FunctionCall2(
		&populate, HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)), JsonbPGetDatum(options)));
	tuple.t_len = HeapTupleHeaderGetDatumLength(tuple.t_data);
	heap_deform_tuple(&tuple, desc, values, nulls);
}

void
options_of_json(const Model *model, Jsonb *options, Datum *values, bool *nulls, bool *given)
{
	find_options(model, options, given);
	convert_options(model, options, values, nulls);
}
