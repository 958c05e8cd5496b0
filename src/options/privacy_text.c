/*
 * privacy_text.c: privacy rules as JSON objects: what kanon_distinct_l() and its like
 * (sql/privacy_rule.c) return, and what `privacy => ARRAY[...]` is read from; and as the sentences that
 * people are told.
 *
 * In a sentence's pattern %c is a column, %C a list of columns, %r a relation (all
 * quoted as in SQL), %i and %q integers, %n, %m and %p numbers, %w a word, %v a list of
 * values in quotes.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "options/request.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/varlena.h"

typedef struct Sentence
{
	PrivacyKind kind;
	const char *pattern;
} Sentence;

/* The longer ones of a kind first. */
static const Sentence sentences[] = {
	{PRIVACY_DISTINCT_L,
	 "at least %i distinct values of each of %C, the others joined to the quasi-identifiers"},
	{PRIVACY_DISTINCT_L, "at least %i distinct values of %c"},
	{PRIVACY_ENTROPY_L,
	 "entropy of at least log %i of each of %C, the others joined to the quasi-identifiers"},
	{PRIVACY_ENTROPY_L, "entropy of at least log %i of %c"},
	{PRIVACY_RECURSIVE_CL,
	 "recursive (%n, %i)-diversity of each of %C, the others joined to the quasi-identifiers"},
	{PRIVACY_RECURSIVE_CL, "recursive (%n, %i)-diversity of %c"},
	{PRIVACY_ALPHA, "none of the values %v of %c in more than a share of %n"},
	{PRIVACY_ALPHA, "no value of %c in more than a share of %n"},
	{PRIVACY_T_CLOSENESS, "distribution of %c within %n of the table's, %w distance by %r"},
	{PRIVACY_T_CLOSENESS, "distribution of %c within %n of the table's, %w distance"},
	{PRIVACY_DELTA_PRESENCE, "presence in population %r between %n and %m"},
	{PRIVACY_PRESENCE,
	 "presence between %n and %m with a confidence of %p among %q rows distributed as in %r"},
	{PRIVACY_K_MAP, "classes counted in population %r, in distinct %s"},
	{PRIVACY_K_MAP, "classes counted in population %r"},
	{PRIVACY_SUBJECT, "classes counted in distinct %c"},
};

/* ---- writing ---- */

static void
append_columns(StringInfo text, const PrivacyWords *words)
{
	for (int i = 0; i < words->ncolumns; i++)
		appendStringInfo(text, "%s%s", i > 0 ? ", " : "", quote_identifier(words->columns[i]));
}

char *
privacy_relation(Oid relid)
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
	/* (not as float8out, which rounds it as extra_float_digits says) */
	return double_to_shortest_decimal(number);
}

static bool
has_relation(const PrivacyWords *words)
{
	return OidIsValid(words->relation) || words->builder != NULL;
}

/* Does this sentence say what the words are about? */
static bool
sentence_fits(const Sentence *sentence, const PrivacyWords *words)
{
	return sentence->kind == words->kind &&
		   (strstr(sentence->pattern, "%C") != NULL) == (words->ncolumns > 1) &&
		   (strstr(sentence->pattern, "%v") != NULL) == (words->nvalues > 0) &&
		   (strstr(sentence->pattern, "%s") != NULL) == (words->subject != NULL) &&
		   (strstr(sentence->pattern, "%r") != NULL) == has_relation(words);
}

char *
privacy_sentence(const PrivacyWords *words)
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
					appendStringInfoString(
						&text, words->builder != NULL
								   ? JsonbToCString(NULL, &words->builder->root, VARSIZE(words->builder))
								   : privacy_relation(words->relation));
					break;
				case 's':
					appendStringInfoString(&text, quote_identifier(words->subject));
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
				case 'p':
					appendStringInfoString(&text, number_text(words->confidence));
					break;
				case 'q':
					appendStringInfo(&text, INT64_FORMAT, words->rows);
					break;
				case 'w':
					appendStringInfoString(&text, words->distance);
					break;
				case 'v':
					appendStringInfo(&text, "(%d)", words->nvalues);
					break;
			}
		}
		return text.data;
	}
	elog(ERROR, "no sentence for privacy rule %d", (int) words->kind);
}

/* ---- rules as JSON ---- */

/* Rows of a population that a double counts exactly. */
#define MOST_ROWS 1e15

/* The parameters of a rule of a kind beside its name; a NULL or false: nothing of the sort. */
typedef struct RuleShape
{
	PrivacyKind kind;
	const char *name; /* "rule" of the object; kanon_NAME makes it */
	bool columns;     /* "column": one; or, where several, "columns": a list */
	bool several;
	bool l; /* "l" */
	const char *number;
	const char *most;
	const char *relation; /* the name of one */
	bool shares;          /* "population_rows" and "confidence" */
	bool distance;        /* "distance", and the relation only with one of them */
	bool listed;          /* "listed", a list of values, or nothing */
	bool subject;         /* "subject", a column of the relation, or nothing */
} RuleShape;

static const RuleShape shapes[] = {
	{PRIVACY_DISTINCT_L, "distinct_l", .columns = true, .several = true, .l = true},
	{PRIVACY_ENTROPY_L, "entropy_l", .columns = true, .several = true, .l = true},
	{PRIVACY_RECURSIVE_CL, "recursive_cl", .columns = true, .several = true, .l = true, .number = "c"},
	{PRIVACY_ALPHA, "alpha", .columns = true, .number = "alpha", .listed = true},
	{PRIVACY_T_CLOSENESS, "t_closeness", .columns = true, .number = "t", .relation = "hierarchy",
	 .distance = true},
	{PRIVACY_DELTA_PRESENCE, "delta_presence", .number = "dmin", .most = "dmax", .relation = "population"},
	{PRIVACY_PRESENCE, "presence", .number = "dmin", .most = "dmax", .relation = "distributions",
	 .shares = true},
	{PRIVACY_K_MAP, "k_map", .relation = "population", .subject = true},
	{PRIVACY_SUBJECT, "subject", .columns = true},
};

StaticAssertDecl(lengthof(shapes) == PRIVACY_KINDS, "a kind of rules has no shape, or two");

static void
raise_unreadable(const char *detail)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a privacy rule cannot be read"),
		 errdetail("%s", detail),
		 errhint("Make rules with kanon_distinct_l, kanon_entropy_l, kanon_recursive_cl, kanon_alpha, "
				 "kanon_t_closeness, kanon_delta_presence, kanon_presence, kanon_k_map or kanon_subject.")));
}

static void
push_key(JsonbInState *state, const char *name)
{
	JsonbValue key = {.type = jbvString, .val.string = {strlen(name), unconstify(char *, name)}};

	kanon_push_jsonb(state, WJB_KEY, &key);
}

static void
push_string(JsonbInState *state, JsonbIteratorToken token, const char *text)
{
	JsonbValue value = {.type = jbvString, .val.string = {strlen(text), unconstify(char *, text)}};

	kanon_push_jsonb(state, token, &value);
}

/* As many digits as read back the same. */
static void
push_number(JsonbInState *state, const char *name, double number)
{
	JsonbValue value = {.type = jbvNumeric};

	push_key(state, name);
	value.val.numeric = DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(number_text(number)),
															ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
	kanon_push_jsonb(state, WJB_VALUE, &value);
}

static void
push_strings(JsonbInState *state, const char *name, char **strings, int n)
{
	push_key(state, name);
	kanon_push_jsonb(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < n; i++)
		push_string(state, WJB_ELEM, strings[i]);
	kanon_push_jsonb(state, WJB_END_ARRAY, NULL);
}

/* For the record a list of values is their number, and the sentence is with it. */
static Jsonb *
rule_json(const RuleShape *shape, const PrivacyWords *words, bool recorded)
{
	JsonbInState state = {0};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	push_key(&state, "rule");
	push_string(&state, WJB_VALUE, shape->name);
	if (shape->columns && words->ncolumns == 1)
	{
		push_key(&state, "column");
		push_string(&state, WJB_VALUE, words->columns[0]);
	}
	else if (shape->columns)
		push_strings(&state, "columns", words->columns, words->ncolumns);
	if (shape->l)
		push_number(&state, "l", words->l);
	if (shape->number != NULL)
		push_number(&state, shape->number, words->number);
	if (shape->most != NULL)
		push_number(&state, shape->most, words->most);
	if (shape->shares)
	{
		push_number(&state, "population_rows", (double) words->rows);
		push_number(&state, "confidence", words->confidence);
	}
	if (shape->distance)
	{
		push_key(&state, "distance");
		push_string(&state, WJB_VALUE, words->distance);
	}
	if (OidIsValid(words->relation))
	{
		push_key(&state, shape->relation);
		push_string(&state, WJB_VALUE, privacy_relation(words->relation));
	}
	if (words->subject != NULL)
	{
		push_key(&state, "subject");
		push_string(&state, WJB_VALUE, words->subject);
	}
	if (words->builder != NULL)
	{
		JsonbValue value;

		JsonbToJsonbValue(words->builder, &value);
		push_key(&state, shape->relation);
		kanon_push_jsonb(&state, WJB_VALUE, &value);
	}
	if (words->nvalues > 0 && recorded)
		push_number(&state, "listed", words->nvalues);
	else if (words->nvalues > 0)
		push_strings(&state, "listed", words->values, words->nvalues);
	if (recorded)
	{
		push_key(&state, "says");
		push_string(&state, WJB_VALUE, privacy_sentence(words));
	}
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbValueToJsonb(state.result);
}

static char *
string_of(const JsonbValue *value, const char *name)
{
	if (value->type != jbvString)
		raise_unreadable(psprintf("\"%s\" must be a string.", name));
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static double
number_of(const JsonbValue *value, const char *name)
{
	if (value->type != jbvNumeric)
		raise_unreadable(psprintf("\"%s\" must be a number.", name));
	return DatumGetFloat8(
		DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
}

static char **
strings_of(const JsonbValue *value, const char *name, int *n)
{
	JsonbContainer *list = value->type == jbvBinary ? value->val.binary.data : NULL;
	char **strings;

	if (list == NULL || !JsonContainerIsArray(list) || JsonContainerSize(list) == 0)
		raise_unreadable(psprintf("\"%s\" must be a list of strings.", name));
	*n = (int) JsonContainerSize(list);
	strings = palloc(sizeof(char *) * *n);
	for (int i = 0; i < *n; i++)
		strings[i] = string_of(getIthJsonbValueFromContainer(list, i), name);
	return strings;
}

static Oid
relation_of(const char *name)
{
	List *names;
	Oid relid = InvalidOid;

	if (split_name(name, 2, &names))
		relid = RangeVarGetRelid(
			makeRangeVar(list_length(names) == 2 ? linitial(names) : NULL, llast(names), -1), NoLock, true);
	if (!OidIsValid(relid))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation \"%s\" of a privacy rule does not exist", excerpt(name)),
						errhint("Make the rule again with the relation's name of today.")));
	return relid;
}

/* A key of an object that gives a rule; false: a rule of this kind has none of that name. */
static bool
read_pair(const RuleShape *shape, const char *name, const JsonbValue *value, PrivacyWords *words)
{
	if (strcmp(name, "rule") == 0)
		return true;
	if (shape->columns && strcmp(name, "column") == 0)
	{
		words->columns = palloc(sizeof(char *));
		words->columns[0] = string_of(value, name);
		words->ncolumns = 1;
		return true;
	}
	if (shape->several && strcmp(name, "columns") == 0)
		words->columns = strings_of(value, name, &words->ncolumns);
	else if (shape->l && strcmp(name, "l") == 0)
	{
		double l = number_of(value, name);

		if (l != rint(l) || fabs(l) > PG_INT32_MAX)
			raise_unreadable("\"l\" must be a whole number.");
		words->l = (int) l;
	}
	else if (shape->number != NULL && strcmp(name, shape->number) == 0)
		words->number = number_of(value, name);
	else if (shape->most != NULL && strcmp(name, shape->most) == 0)
		words->most = number_of(value, name);
	else if (shape->shares && strcmp(name, "confidence") == 0)
		words->confidence = number_of(value, name);
	else if (shape->shares && strcmp(name, "population_rows") == 0)
	{
		double rows = number_of(value, name);

		if (rows != rint(rows) || fabs(rows) > MOST_ROWS)
			raise_unreadable("\"population_rows\" must be a whole number.");
		words->rows = (int64) rows;
	}
	else if (shape->distance && strcmp(name, "distance") == 0)
		words->distance = string_of(value, name);
	else if (shape->distance && strcmp(name, shape->relation) == 0 && value->type == jbvBinary &&
			 JsonContainerIsObject(value->val.binary.data))
		words->builder = JsonbValueToJsonb(unconstify(JsonbValue *, value));
	else if (shape->relation != NULL && strcmp(name, shape->relation) == 0)
		words->relation = relation_of(string_of(value, name));
	else if (shape->subject && strcmp(name, "subject") == 0)
		words->subject = string_of(value, name);
	else if (shape->listed && strcmp(name, "listed") == 0)
		words->values = strings_of(value, name, &words->nvalues);
	else
		return false;
	return true;
}

/* l-diversity has several rules here; another name may be near one. */
static void
raise_unknown_rule(const char *given, const char *known)
{
	Nearest nearest = nearest_to(given);
	const char *hint;

	for (int i = 0; i < lengthof(shapes); i++)
		nearest_try(&nearest, shapes[i].name);
	hint = nearest_hint(&nearest, psprintf("Known rules: %s.", known));
	if (strncmp(given, "l_", 2) == 0)
		hint = "l-diversity is one of distinct_l, entropy_l and recursive_cl: write "
			   "{\"rule\": \"distinct_l\", \"column\": ..., \"l\": 2}.";
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("privacy rule \"%s\" is not known", excerpt(given)), errhint("%s", hint)));
}

static const RuleShape *
shape_of(Jsonb *rule)
{
	JsonbValue key = {.type = jbvString, .val.string = {4, "rule"}};
	JsonbValue *name =
		JB_ROOT_IS_OBJECT(rule) ? findJsonbValueFromContainer(&rule->root, JB_FOBJECT, &key) : NULL;

	const char *given =
		name != NULL && name->type == jbvString ? pnstrdup(name->val.string.val, name->val.string.len) : NULL;
	StringInfoData known;

	if (given == NULL)
		raise_unreadable("It is no JSON object whose \"rule\" is known.");
	initStringInfo(&known);
	for (int i = 0; i < lengthof(shapes); i++)
	{
		if (strcmp(given, shapes[i].name) == 0)
			return &shapes[i];
		appendStringInfo(&known, "%s%s", i > 0 ? ", " : "", shapes[i].name);
	}
	raise_unknown_rule(given, known.data);
	pg_unreachable();
}

/* ---- what a rule may say ---- */

static void
check_share(double share, const char *what, const char *function, const char *hint)
{
	if (!(share > 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s of %s must be above 0 and at most 1", what, function), errhint("%s", hint)));
}

/* Unless it is said: by the hierarchy, if there is one. */
static void
choose_distance(PrivacyWords *words)
{
	if (words->kind == PRIVACY_T_CLOSENESS && words->distance == NULL)
		words->distance = has_relation(words) ? "hierarchical" : "equal";
}

static void
check_distance(const PrivacyWords *words)
{
	bool hierarchical = strcmp(words->distance, "hierarchical") == 0;

	if (!hierarchical && strcmp(words->distance, "equal") != 0 && strcmp(words->distance, "ordered") != 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("distance \"%s\" is not known", excerpt(words->distance)),
						errhint("It is 'equal', 'ordered' or 'hierarchical'.")));
	if (hierarchical != has_relation(words))
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
								errmsg("%s names column \"%s\" twice", function, excerpt(words->columns[i])),
								errhint("Name each column once.")));
}

static void
check_chance(const PrivacyWords *words, const char *function)
{
	if (!(words->number >= 0 && words->number <= words->most && words->most <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dmin and dmax of %s must be in order between 0 and 1", function),
				 errhint("They bound the probability that somebody of the population is in the release.")));
}

static void
check_words(const PrivacyWords *words, const char *function)
{
	check_columns(words, function);
	switch (words->kind)
	{
		case PRIVACY_DISTINCT_L:
		case PRIVACY_ENTROPY_L:
		case PRIVACY_RECURSIVE_CL:
			if (words->l < 2)
				ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
								errmsg("l of %s must be at least 2", function),
								errhint("With l = 1 all members of a class may have the same value.")));
			if (words->kind == PRIVACY_RECURSIVE_CL && (!(words->number > 0) || isinf(words->number)))
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
		case PRIVACY_PRESENCE:
			check_share(words->confidence, "confidence", function,
						"It is how probable the bounds have to be, such as 0.95.");
			if (words->rows < 1 || words->rows > MOST_ROWS)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("population_rows of %s must be between 1 and %.0f", function, MOST_ROWS),
						 errhint("population_rows counts everybody who could be in the source.")));
			check_chance(words, function);
			break;
		case PRIVACY_DELTA_PRESENCE:
			check_chance(words, function);
			break;
		case PRIVACY_SUBJECT:
		case PRIVACY_K_MAP:
			break;
	}
}

void
privacy_parse(Jsonb *rule, PrivacyWords *words)
{
	const RuleShape *shape = shape_of(rule);
	JsonbIterator *it = JsonbIteratorInit(&rule->root);
	JsonbIteratorToken token;
	JsonbValue value;
	char *name = NULL;
	int numbers = 0;

	memset(words, 0, sizeof(*words));
	words->kind = shape->kind;
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			name = pnstrdup(value.val.string.val, value.val.string.len);
		if (token != WJB_VALUE)
			continue;
		if (!read_pair(shape, name, &value, words))
			raise_unreadable(psprintf("A rule \"%s\" has no \"%s\".", shape->name, excerpt(name)));
		numbers += value.type == jbvNumeric;
	}
	if ((shape->columns && words->ncolumns == 0) ||
		numbers < shape->l + (shape->number != NULL) + (shape->most != NULL) + 2 * shape->shares ||
		(shape->relation != NULL && !shape->distance && !OidIsValid(words->relation)))
		raise_unreadable(psprintf("Something of a rule \"%s\" is missing.", shape->name));
	choose_distance(words);
	check_words(words, psprintf("kanon_%s", shape->name));
}

static const RuleShape *
shape_of_kind(PrivacyKind kind)
{
	const RuleShape *shape = shapes;

	while (shape->kind != kind)
		shape++;
	return shape;
}

Jsonb *
privacy_rule_recorded(const PrivacyWords *words)
{
	return rule_json(shape_of_kind(words->kind), words, true);
}

Jsonb *
privacy_json(PrivacyWords *words)
{
	const RuleShape *shape = shape_of_kind(words->kind);

	choose_distance(words);
	check_words(words, psprintf("kanon_%s", shape->name));
	return rule_json(shape, words, false);
}
