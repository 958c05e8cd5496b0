/*
 * privacy_text.c: privacy rules as sentences: what kanon_distinct_l() and its like
 * return, and what `privacy => ARRAY[...]` is read from.  One table has them all.
 *
 * In a sentence's pattern %c is a column, %C a list of columns, %r a relation (all
 * quoted as in SQL), %i an integer, %n and %m numbers, %w a word, %v a list of
 * values in quotes.
 */
#include "compat.h"
#include "run/args.h"
#include "run/privacy.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_distinct_l);
PG_FUNCTION_INFO_V1(kanon_entropy_l);
PG_FUNCTION_INFO_V1(kanon_recursive_cl);
PG_FUNCTION_INFO_V1(kanon_alpha);
PG_FUNCTION_INFO_V1(kanon_t_closeness);
PG_FUNCTION_INFO_V1(kanon_delta_presence);
PG_FUNCTION_INFO_V1(kanon_k_map);
PG_FUNCTION_INFO_V1(kanon_subject);

typedef struct Sentence
{
	PrivacyKind kind;
	const char *function;
	const char *pattern;
} Sentence;

/* The longer ones of a kind first. */
static const Sentence sentences[] = {
	{PRIVACY_DISTINCT_L, "kanon_distinct_l",
	 "at least %i distinct values of each of %C, the others joined to the quasi-identifiers"},
	{PRIVACY_DISTINCT_L, "kanon_distinct_l", "at least %i distinct values of %c"},
	{PRIVACY_ENTROPY_L, "kanon_entropy_l",
	 "entropy of at least log %i of each of %C, the others joined to the quasi-identifiers"},
	{PRIVACY_ENTROPY_L, "kanon_entropy_l", "entropy of at least log %i of %c"},
	{PRIVACY_RECURSIVE_CL, "kanon_recursive_cl",
	 "recursive (%n, %i)-diversity of each of %C, the others joined to the quasi-identifiers"},
	{PRIVACY_RECURSIVE_CL, "kanon_recursive_cl", "recursive (%n, %i)-diversity of %c"},
	{PRIVACY_ALPHA, "kanon_alpha", "none of the values %v of %c in more than a share of %n"},
	{PRIVACY_ALPHA, "kanon_alpha", "no value of %c in more than a share of %n"},
	{PRIVACY_T_CLOSENESS, "kanon_t_closeness",
	 "distribution of %c within %n of the table's, %w distance by %r"},
	{PRIVACY_T_CLOSENESS, "kanon_t_closeness", "distribution of %c within %n of the table's, %w distance"},
	{PRIVACY_DELTA_PRESENCE, "kanon_delta_presence", "presence in population %r between %n and %m"},
	{PRIVACY_K_MAP, "kanon_k_map", "classes counted in population %r"},
	{PRIVACY_SUBJECT, "kanon_subject", "classes counted in distinct %c"},
};

/* ---- writing ---- */

static void
append_columns(StringInfo text, const PrivacyWords *words)
{
	for (int i = 0; i < words->ncolumns; i++)
		appendStringInfo(text, "%s%s", i > 0 ? ", " : "", quote_identifier(words->columns[i]));
}

static void
append_values(StringInfo text, const PrivacyWords *words, bool with_values)
{
	if (!with_values)
	{
		appendStringInfo(text, "(%d)", words->nvalues);
		return;
	}
	for (int i = 0; i < words->nvalues; i++)
		appendStringInfo(text, "%s%s", i > 0 ? ", " : "", quote_literal_cstr(words->values[i]));
}

static char *
relation_text(Oid relid)
{
	char *name = get_rel_name(relid);
	char *schema = name != NULL ? get_namespace_name(get_rel_namespace(relid)) : NULL;

	if (schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid),
				 errhint("Name a table or view that exists.")));
	return quote_qualified_identifier(schema, name);
}

/* A number that reads back the same. */
static char *
number_text(double number)
{
	return DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(number)));
}

/* Does this sentence say what the words are about? */
static bool
sentence_fits(const Sentence *sentence, const PrivacyWords *words)
{
	return sentence->kind == words->kind &&
		   (strstr(sentence->pattern, "%C") != NULL) == (words->ncolumns > 1) &&
		   (strstr(sentence->pattern, "%v") != NULL) == (words->nvalues > 0) &&
		   (strstr(sentence->pattern, "%r") != NULL) == OidIsValid(words->relation);
}

char *
privacy_sentence(const PrivacyWords *words, bool with_values)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < lengthof(sentences); i++)
	{
		if (!sentence_fits(&sentences[i], words))
			continue;
		for (const char *p = sentences[i].pattern; *p != '\0'; p++)
		{
			if (*p != '%')
			{
				appendStringInfoChar(&text, *p);
				continue;
			}
			switch (*++p)
			{
				case 'c':
				case 'C':
					append_columns(&text, words);
					break;
				case 'r':
					appendStringInfoString(&text, relation_text(words->relation));
					break;
				case 'i':
					appendStringInfo(&text, "%d", words->l);
					break;
				case 'n':
					appendStringInfoString(&text, number_text(words->number));
					break;
				case 'm':
					appendStringInfoString(&text, number_text(words->most));
					break;
				case 'w':
					appendStringInfoString(&text, words->distance);
					break;
				case 'v':
					append_values(&text, words, with_values);
					break;
			}
		}
		return text.data;
	}
	elog(ERROR, "no sentence for privacy rule %d", (int) words->kind);
}

/* ---- reading ---- */

/* A name as in SQL, unquoted; false if there is none. */
static bool
scan_name(const char **text, char **name)
{
	const char *p = *text;
	StringInfoData scanned;

	initStringInfo(&scanned);
	if (*p == '"')
	{
		for (p++; *p != '\0' && (*p != '"' || p[1] == '"'); p++)
		{
			p += *p == '"';
			appendStringInfoChar(&scanned, *p);
		}
		if (*p++ != '"')
			return false;
	}
	else
		while (IS_HIGHBIT_SET(*p) || isalnum((unsigned char) *p) || *p == '_' || *p == '$')
			appendStringInfoChar(&scanned, *p++);
	if (scanned.len == 0 || scanned.len >= NAMEDATALEN)
		return false;
	*name = scanned.data;
	*text = p;
	return true;
}

/* Names with a separator between them. */
static bool
scan_names(const char **text, const char *separator, char ***names, int *n)
{
	size_t length = strlen(separator);
	int room = 1;

	for (const char *p = *text; *p != '\0'; p++)
		room += *p == separator[0];
	*names = palloc(sizeof(char *) * room);
	*n = 0;
	do
	{
		if (*n > 0)
			*text += length;
		if (!scan_name(text, &(*names)[(*n)++]))
			return false;
		/* a comma may also end the list */
	} while (strncmp(*text, separator, length) == 0 && strncmp(*text, ", the others", 12) != 0);
	return true;
}

static bool
scan_relation(const char **text, PrivacyWords *words)
{
	char **names;
	int n;

	if (!scan_names(text, ".", &names, &n) || n > 2)
		return false;
	words->relation = RangeVarGetRelid(
		n == 2 ? makeRangeVar(names[0], names[1], -1) : makeRangeVar(NULL, names[0], -1), NoLock, true);
	if (!OidIsValid(words->relation))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation \"%s\" of a privacy rule does not exist", names[n - 1]),
						errhint("Make the rule again with the relation's name of today.")));
	return true;
}

static bool
scan_number(const char **text, double *number)
{
	char *end;

	if (!isdigit((unsigned char) **text) && **text != '.' && **text != '-')
		return false;
	*number = strtod(*text, &end);
	if (end == *text)
		return false;
	*text = end;
	return true;
}

static bool
scan_integer(const char **text, int *number)
{
	double value;

	if (!scan_number(text, &value) || value != rint(value) || fabs(value) > PG_INT32_MAX)
		return false;
	*number = (int) value;
	return true;
}

static bool
scan_values(const char **text, PrivacyWords *words)
{
	const char *p = *text;
	int room = 1;

	for (const char *q = p; *q != '\0'; q++)
		room += *q == '\'';
	words->values = palloc(sizeof(char *) * room);
	words->nvalues = 0;
	do
	{
		StringInfoData value;
		bool escaped = *p == 'E';

		initStringInfo(&value);
		p += (words->nvalues > 0 ? 2 : 0) + (escaped ? 1 : 0);
		if (words->nvalues > 0 && *p == 'E')
		{
			escaped = true;
			p++;
		}
		if (*p++ != '\'')
			return false;
		for (; *p != '\0' && (*p != '\'' || p[1] == '\''); p++)
		{
			p += *p == '\'' || (escaped && *p == '\\');
			appendStringInfoChar(&value, *p);
		}
		if (*p++ != '\'')
			return false;
		words->values[words->nvalues++] = value.data;
	} while (strncmp(p, ", '", 3) == 0 || strncmp(p, ", E'", 4) == 0);
	*text = p;
	return true;
}

static bool
scan_part(char part, const char **text, PrivacyWords *words)
{
	switch (part)
	{
		case 'c':
			words->columns = palloc(sizeof(char *));
			words->ncolumns = 1;
			return scan_name(text, &words->columns[0]);
		case 'C':
			return scan_names(text, ", ", &words->columns, &words->ncolumns) && words->ncolumns > 1;
		case 'r':
			return scan_relation(text, words);
		case 'i':
			return scan_integer(text, &words->l);
		case 'n':
			return scan_number(text, &words->number);
		case 'm':
			return scan_number(text, &words->most);
		case 'w':
			return scan_name(text, &words->distance);
		case 'v':
			return scan_values(text, words);
	}
	return false;
}

static bool
scan_sentence(const Sentence *sentence, const char *text, PrivacyWords *words)
{
	memset(words, 0, sizeof(*words));
	words->kind = sentence->kind;
	for (const char *p = sentence->pattern; *p != '\0'; p++)
	{
		if (*p == '%')
		{
			if (!scan_part(*++p, &text, words))
				return false;
		}
		else if (*text++ != *p)
			return false;
	}
	return *text == '\0';
}

/* ---- what a rule may say ---- */

static void
check_l(const PrivacyWords *words, const char *function)
{
	if (words->l < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("l of %s must be at least 2", function),
				 errhint("With l = 1 a class could say the same of all its members.")));
}

static void
check_share(double share, const char *what, const char *function, const char *hint)
{
	if (!(share > 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s of %s must be above 0 and at most 1", what, function), errhint("%s", hint)));
}

static void
check_distance(const PrivacyWords *words)
{
	bool hierarchical = strcmp(words->distance, "hierarchical") == 0;

	if (!hierarchical && strcmp(words->distance, "equal") != 0 && strcmp(words->distance, "ordered") != 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("distance \"%s\" is not known", excerpt(words->distance)),
						errhint("It is 'equal', 'ordered' or 'hierarchical'.")));
	if (hierarchical != OidIsValid(words->relation))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						hierarchical ? errmsg("the hierarchical distance needs a hierarchy")
									 : errmsg("the %s distance takes no hierarchy", words->distance),
						errhint("kanon_t_closeness(column, t, 'hierarchical', hierarchy) has both.")));
}

static void
check_columns(const PrivacyWords *words, const char *function)
{
	for (int i = 0; i < words->ncolumns; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(words->columns[i], words->columns[j]) == 0)
				ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
								errmsg("%s names column \"%s\" twice", function, words->columns[i]),
								errhint("Name each column once.")));
}

static void
check_words(const PrivacyWords *words, const char *function)
{
	check_columns(words, function);
	switch (words->kind)
	{
		case PRIVACY_DISTINCT_L:
		case PRIVACY_ENTROPY_L:
			check_l(words, function);
			break;
		case PRIVACY_RECURSIVE_CL:
			check_l(words, function);
			if (!(words->number > 0) || isinf(words->number))
				ereport(
					ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("c of %s must be positive", function),
					 errhint(
						 "The most frequent value occurs less than c times as often as the rare ones together.")));
			break;
		case PRIVACY_ALPHA:
			check_share(words->number, "alpha", function,
						"It is the largest share of a class that one value may have.");
			break;
		case PRIVACY_T_CLOSENESS:
			check_share(
				words->number, "t", function,
				"A distance of 0 is attainable only by classes that are all distributed as the table is, such as a single one.");
			check_distance(words);
			break;
		case PRIVACY_DELTA_PRESENCE:
			if (!(words->number >= 0 && words->number <= words->most && words->most <= 1))
				ereport(
					ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("dmin and dmax of %s must be in order between 0 and 1", function),
					 errhint(
						 "They bound the probability that somebody of the population is in the release.")));
			break;
		case PRIVACY_K_MAP:
		case PRIVACY_SUBJECT:
			break;
	}
}

void
privacy_parse(const char *text, PrivacyWords *words)
{
	for (int i = 0; i < lengthof(sentences); i++)
		if (scan_sentence(&sentences[i], text, words))
		{
			check_words(words, sentences[i].function);
			return;
		}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a privacy rule cannot be read"),
			 errhint("Make rules with kanon_distinct_l, kanon_entropy_l, kanon_recursive_cl, kanon_alpha, "
					 "kanon_t_closeness, kanon_delta_presence, kanon_k_map or kanon_subject.")));
}

/* ---- constructors ---- */

static Datum
sentence_datum(const PrivacyWords *words, const char *function)
{
	check_words(words, function);
	PG_RETURN_TEXT_P(cstring_to_text(privacy_sentence(words, true)));
}

static const char *const column_hint = "Name a sensitive column, or several as an array.";

/* A name or a name[] as the first argument. */
static void
columns_arg(FunctionCallInfo fcinfo, PrivacyWords *words)
{
	refuse_null(fcinfo, 0, "column", column_hint);
	if (get_fn_expr_argtype(fcinfo->flinfo, 0) == NAMEARRAYOID)
		words->columns = name_array(PG_GETARG_ARRAYTYPE_P(0), "columns", &words->ncolumns);
	else
	{
		words->columns = palloc(sizeof(char *));
		words->columns[0] = pstrdup(NameStr(*PG_GETARG_NAME(0)));
		words->ncolumns = 1;
	}
	if (words->ncolumns == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("columns must name at least one column"), errhint("%s", column_hint)));
}

static int
l_arg(FunctionCallInfo fcinfo, int arg)
{
	refuse_null(fcinfo, arg, "l", "It is a number of at least 2.");
	return PG_GETARG_INT32(arg);
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
	(void) relation_text(PG_GETARG_OID(0)); /* 0 is a regclass, too */
	return PG_GETARG_OID(0);
}

Datum
kanon_distinct_l(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_DISTINCT_L, .l = l_arg(fcinfo, 1)};

	columns_arg(fcinfo, &words);
	return sentence_datum(&words, "kanon_distinct_l");
}

Datum
kanon_entropy_l(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_ENTROPY_L, .l = l_arg(fcinfo, 1)};

	columns_arg(fcinfo, &words);
	return sentence_datum(&words, "kanon_entropy_l");
}

Datum
kanon_recursive_cl(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {
		.kind = PRIVACY_RECURSIVE_CL, .number = number_arg(fcinfo, 1, "c"), .l = l_arg(fcinfo, 2)};

	columns_arg(fcinfo, &words);
	return sentence_datum(&words, "kanon_recursive_cl");
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
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("values must not be empty"),
						errhint("List the values that are sensitive, or leave it NULL for all.")));
	values = palloc(sizeof(char *) * *n);
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(
				ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("values must not contain NULL"),
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
	return sentence_datum(&words, "kanon_alpha");
}

Datum
kanon_t_closeness(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_T_CLOSENESS,
						  .number = number_arg(fcinfo, 1, "t"),
						  .distance =
							  text_arg(fcinfo, 2, "distance", "It is 'equal', 'ordered' or 'hierarchical'."),
						  .relation = PG_ARGISNULL(3) ? InvalidOid : PG_GETARG_OID(3)};

	columns_arg(fcinfo, &words);
	return sentence_datum(&words, "kanon_t_closeness");
}

Datum
kanon_delta_presence(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_DELTA_PRESENCE,
						  .relation = population_arg(fcinfo),
						  .number = number_arg(fcinfo, 1, "dmin"),
						  .most = number_arg(fcinfo, 2, "dmax")};

	return sentence_datum(&words, "kanon_delta_presence");
}

Datum
kanon_k_map(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_K_MAP, .relation = population_arg(fcinfo)};

	return sentence_datum(&words, "kanon_k_map");
}

Datum
kanon_subject(PG_FUNCTION_ARGS)
{
	PrivacyWords words = {.kind = PRIVACY_SUBJECT};

	columns_arg(fcinfo, &words);
	return sentence_datum(&words, "kanon_subject");
}
