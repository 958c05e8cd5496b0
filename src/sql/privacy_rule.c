/*
 * privacy_rule.c: kanon_distinct_l() and its like: a privacy rule as a JSON object.
 */
#include "compat.h"
#include "options/request.h"
#include "options/privacy.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_distinct_l);
PG_FUNCTION_INFO_V1(kanon_entropy_l);
PG_FUNCTION_INFO_V1(kanon_recursive_cl);
PG_FUNCTION_INFO_V1(kanon_alpha);
PG_FUNCTION_INFO_V1(kanon_t_closeness);
PG_FUNCTION_INFO_V1(kanon_delta_presence);
PG_FUNCTION_INFO_V1(kanon_presence);
PG_FUNCTION_INFO_V1(kanon_k_map);
PG_FUNCTION_INFO_V1(kanon_subject);

static const char *const column_hint = "Name a sensitive column, or several as an array.";

/* A name or a name[] as the first argument. */
static void
columns_arg(FunctionCallInfo fcinfo, PrivacyWords *words)
{
	refuse_null(fcinfo, 0, "column_name", column_hint);
	if (get_fn_expr_argtype(fcinfo->flinfo, 0) == NAMEARRAYOID)
		words->columns = name_array(PG_GETARG_ARRAYTYPE_P(0), "column_names", &words->ncolumns);
	else
	{
		words->columns = palloc(sizeof(char *));
		words->columns[0] = pstrdup(NameStr(*PG_GETARG_NAME(0)));
		words->ncolumns = 1;
	}
	if (words->ncolumns == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("column_names must name at least one column"), errhint("%s", column_hint)));
}

static double
number_arg(FunctionCallInfo fcinfo, int arg, const char *name)
{
	refuse_null(fcinfo, arg, name, "It is a number.");
	return PG_GETARG_FLOAT8(arg);
}

static Oid
population_arg(FunctionCallInfo fcinfo)
{
	refuse_null(fcinfo, 0, "population", "Name the table of all who could be in the source.");
	(void) privacy_relation(PG_GETARG_OID(0)); /* 0 is a regclass, too */
	return PG_GETARG_OID(0);
}

/* (columns, l), or with c between them. */
static Datum
diversity(FunctionCallInfo fcinfo, PrivacyKind kind)
{
	bool recursive = kind == PRIVACY_RECURSIVE_CL;
	PrivacyWords words = {.kind = kind, .number = recursive ? number_arg(fcinfo, 1, "c") : 0};

	refuse_null(fcinfo, recursive ? 2 : 1, "l", "It is a number of at least 2.");
	words.l = PG_GETARG_INT32(recursive ? 2 : 1);
	columns_arg(fcinfo, &words);
	PG_RETURN_JSONB_P(privacy_json(&words));
}

Datum
kanon_distinct_l(PG_FUNCTION_ARGS)
{
	return diversity(fcinfo, PRIVACY_DISTINCT_L);
}

Datum
kanon_entropy_l(PG_FUNCTION_ARGS)
{
	return diversity(fcinfo, PRIVACY_ENTROPY_L);
}

Datum
kanon_recursive_cl(PG_FUNCTION_ARGS)
{
	return diversity(fcinfo, PRIVACY_RECURSIVE_CL);
}

/* Values of a text[]; NULL elements are an error. */
static char **
values_arg(ArrayType *array, int *n)
{
	Datum *elements;
	bool *nulls;
	char **values;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, n);
	if (*n == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("listed must not be empty"),
						errhint("List the values that are sensitive, or leave it NULL for all.")));
	values = palloc(sizeof(char *) * *n);
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(
				ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("listed must not contain NULL"),
				 errhint(
					 "A rule about all values, NULL among them, leaves them out: kanon_alpha(column, alpha).")));
		values[i] = TextDatumGetCString(elements[i]);
	}
	return values;
}

Datum
kanon_alpha(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_ALPHA, .number = number_arg(fcinfo, 1, "alpha")};

	columns_arg(fcinfo, &words);
	if (!PG_ARGISNULL(2))
		words.values = values_arg(PG_GETARG_ARRAYTYPE_P(2), &words.nvalues);
	PG_RETURN_JSONB_P(privacy_json(&words));
}

Datum
kanon_t_closeness(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_T_CLOSENESS,
						  .number = number_arg(fcinfo, 1, "t"),
						  .distance = PG_ARGISNULL(2) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(2)),
						  .relation = PG_ARGISNULL(3) ? InvalidOid : PG_GETARG_OID(3),
						  .builder = jsonb_arg(fcinfo, 4)};

	if (OidIsValid(words.relation) && words.builder != NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("kanon_t_closeness takes a hierarchy or a builder of one, not both"),
						errhint("Leave one of them out.")));
	columns_arg(fcinfo, &words);
	PG_RETURN_JSONB_P(privacy_json(&words));
}

Datum
kanon_delta_presence(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_DELTA_PRESENCE,
						  .relation = population_arg(fcinfo),
						  .number = number_arg(fcinfo, 1, "dmin"),
						  .most = number_arg(fcinfo, 2, "dmax")};

	PG_RETURN_JSONB_P(privacy_json(&words));
}

Datum
kanon_presence(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_PRESENCE,
						  .number = number_arg(fcinfo, 2, "dmin"),
						  .most = number_arg(fcinfo, 3, "dmax"),
						  .confidence = number_arg(fcinfo, 4, "confidence")};

	refuse_null(fcinfo, 0, "distributions", "Name a relation of (column_name, value, share).");
	refuse_null(fcinfo, 1, "population_rows", "population_rows counts everybody who could be in the source.");
	(void) privacy_relation(PG_GETARG_OID(0)); /* 0 is a regclass, too */
	words.relation = PG_GETARG_OID(0);
	words.rows = PG_GETARG_INT64(1);
	PG_RETURN_JSONB_P(privacy_json(&words));
}

Datum
kanon_k_map(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_K_MAP, .relation = population_arg(fcinfo)};

	if (!PG_ARGISNULL(1))
		words.subject = pstrdup(NameStr(*PG_GETARG_NAME(1)));
	PG_RETURN_JSONB_P(privacy_json(&words));
}

Datum
kanon_subject(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_SUBJECT};

	columns_arg(fcinfo, &words);
	PG_RETURN_JSONB_P(privacy_json(&words));
}
