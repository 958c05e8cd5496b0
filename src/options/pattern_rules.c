/*
 * pattern_rules.c: rules about which columns may be suppressed together, from SQL's
 * words to a mask; kanon_patterns and kanon_describe.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "options/request.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/varlena.h"

/* Patterns that kanon_patterns lists at most. */
#define MOST_LISTED 5000000

#define NO_LIMIT (-1)

/* Rules as they were given; a list is NULL or n strings. */
typedef struct RuleWords
{
	int max_suppressed; /* or NO_LIMIT */
	double max_cost;
	char **never, **always, **together, **at_most_one, **implies, **coarsen;
	int nnever, nalways, ntogether, nat_most_one, nimplies, ncoarsen;
} RuleWords;

/*
 * Names of the quasi-identifiers, for looking rules' columns up.  Rules are about
 * suppression, so in a pattern a quasi-identifier is the column of its highest level.
 */
typedef struct ColumnNames
{
	char **names;
	int n;
	Levels levels;
} ColumnNames;

PG_FUNCTION_INFO_V1(kanon_patterns);
PG_FUNCTION_INFO_V1(kanon_describe);

static void
raise_rule(int sqlstate, const char *kind, const char *rule, const char *problem, const char *hint)
{
	ereport(ERROR, (errcode(sqlstate), errmsg("rule %s \"%s\" %s", kind, excerpt(rule), problem),
					errhint("%s", hint)));
}

static int
limit_of(double max_suppressed)
{
	if (!(max_suppressed >= 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_suppressed must not be negative"),
				 errhint("It is the number of columns that a pattern may suppress at most.")));
	return (int) Min(max_suppressed, KANON_MAX_QIS);
}

static inline int
column_of(const ColumnNames *columns, int c)
{
	return columns->levels.first[c + 1] - 1;
}

/* The first or the last quasi-identifier in a set. */
static const char *
column_name(const ColumnNames *columns, KanonPattern set, bool last)
{
	const char *name = "";

	for (int c = 0; c < columns->n; c++)
		if (kanon_has(set, column_of(columns, c)))
		{
			name = columns->names[c];
			if (!last)
				break;
		}
	return name;
}

static int
rule_column(const ColumnNames *columns, const char *kind, const char *rule, const char *name)
{
	Nearest nearest = nearest_to(name);

	for (int c = 0; c < columns->n; c++)
	{
		if (strcmp(columns->names[c], name) == 0)
			return column_of(columns, c);
		nearest_try(&nearest, columns->names[c]);
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("rule %s \"%s\" names \"%s\", which is not a quasi-identifier", kind, excerpt(rule),
					excerpt(name)),
			 errhint("%s", nearest_hint(&nearest, "In groups names are written as in SQL: quote them when "
												  "they have capitals, commas or arrows."))));
}

/* "a,\"B c\"" as a set of columns. */
static KanonPattern
rule_group(const ColumnNames *columns, const char *kind, const char *rule, const char *group, int *n)
{
	KanonPattern set = KANON_NONE;
	List *names;
	ListCell *lc;

	*n = 0;
	if (!split_names(group, &names))
		raise_rule(ERRCODE_INVALID_PARAMETER_VALUE, kind, rule, "is not a list of column names",
				   "Write it like 'workclass,occupation', with odd names quoted as in SQL.");
	foreach (lc, names)
	{
		int column = rule_column(columns, kind, rule, lfirst(lc));

		if (kanon_has(set, column))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("rule %s \"%s\" names \"%s\" twice", kind, excerpt(rule), (char *) lfirst(lc)),
					 errhint("Name each column once.")));
		kanon_add(&set, column);
		(*n)++;
	}
	return set;
}

/* Where "->" stands outside quotes, or NULL. */
static char *
find_arrow(char *rule)
{
	bool quoted = false;

	for (char *p = rule; *p; p += pg_mblen(p))
	{
		if (*p == '"')
			quoted = !quoted;
		else if (!quoted && p[0] == '-' && p[1] == '>')
			return p;
	}
	return NULL;
}

static void
group_rules(const ColumnNames *columns, KanonRuleKind kind, const char *word, char **rules, int n,
			KanonRule *out)
{
	for (int i = 0; i < n; i++)
	{
		int members;

		out[i].kind = kind;
		out[i].implied = KANON_NONE;
		out[i].columns = rule_group(columns, word, rules[i], rules[i], &members);
		if (members < 2)
			raise_rule(
				ERRCODE_INVALID_PARAMETER_VALUE, word, rules[i],
				members == 0 ? "is empty" : "has only one column",
				"A group has at least two columns; in an array it is quoted: '{\"workclass,occupation\"}'.");
	}
}

static void
implication(const ColumnNames *columns, const char *rule, KanonRule *out)
{
	char *left = pstrdup(rule);
	char *arrow = find_arrow(left);
	int nleft = 0, nright = 0;

	out->kind = KANON_IMPLIES;
	if (arrow != NULL)
	{
		*arrow = '\0';
		out->columns = rule_group(columns, "implies", rule, left, &nleft);
		out->implied = rule_group(columns, "implies", rule, arrow + 2, &nright);
	}
	if (nleft == 0 || nright == 0)
		raise_rule(ERRCODE_INVALID_PARAMETER_VALUE, "implies", rule,
				   arrow == NULL ? "has no arrow" : "has nothing on one side of its arrow",
				   "Write it like 'city->zip': when city is suppressed, zip is too.");
}

/* All that must be suppressed when `set` is. */
static KanonPattern
closure(KanonPattern set, const KanonRule *rules, int nrules)
{
	KanonPattern before;

	do
	{
		before = set;
		for (int i = 0; i < nrules; i++)
			if (kanon_meet(set, rules[i].columns))
			{
				if (rules[i].kind == KANON_TOGETHER)
					set = kanon_union(set, rules[i].columns);
				else if (rules[i].kind == KANON_IMPLIES)
					set = kanon_union(set, rules[i].implied);
			}
	} while (!kanon_same(set, before));
	return set;
}

static void
raise_contradiction(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the rules contradict each other"),
			 errdetail("%s", detail), errhint("Every pattern would break one of them; take one out.")));
}

static void
check_contradictions(const ColumnNames *columns, const KanonMask *mask)
{
	KanonPattern always = closure(mask->always, mask->rules, mask->nrules);
	KanonPattern both = kanon_both(always, mask->never);

	if (!kanon_is_none(both))
	{
		const char *name = column_name(columns, both, false);

		raise_contradiction(
			kanon_meet(both, mask->always)
				? psprintf("Column \"%s\" is in never and in always.", name)
				: psprintf("Column \"%s\" is in never, but goes with a column that is always suppressed.",
						   name));
	}
	for (int i = 0; i < mask->nrules; i++)
		if (mask->rules[i].kind == KANON_AT_MOST_ONE &&
			kanon_count(kanon_both(always, mask->rules[i].columns)) > 1)
			raise_contradiction(psprintf(
				"Columns \"%s\" and \"%s\" are always suppressed, but at_most_one allows one of them.",
				column_name(columns, kanon_both(always, mask->rules[i].columns), false),
				column_name(columns, kanon_both(always, mask->rules[i].columns), true)));
	if (mask->max_suppressed >= 0 && kanon_count(always) > mask->max_suppressed)
		raise_contradiction(psprintf("%d columns are always suppressed, but max_suppressed is %d.",
									 kanon_count(always), mask->max_suppressed));
}

/* A column that shows no value of its own: a level, or nothing where it has none. */
static void
coarsen(const ColumnNames *columns, const char *name, KanonMask *mask)
{
	int last = rule_column(columns, "coarsen", name, name), c = 0;

	while (column_of(columns, c) != last)
		c++;
	if (columns->levels.first[c] == last && kanon_has(mask->never, last))
		raise_contradiction(
			psprintf("Column \"%s\" is in never and in coarsen, and has no hierarchy.", columns->names[c]));
	kanon_add(&mask->always, columns->levels.first[c]);
}

static void
build_mask(const ColumnNames *columns, const RuleWords *words, KanonMask *mask)
{
	KanonRule *rules;

	if (isnan(words->max_cost) || words->max_cost < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_cost must not be negative"),
						errhint("It is the cost that a pattern may have at most.")));
	memset(mask, 0, sizeof(KanonMask));
	mask->max_suppressed = words->max_suppressed;
	mask->max_cost = words->max_cost;
	for (int i = 0; i < words->nnever; i++)
		kanon_add(&mask->never, rule_column(columns, "never", words->never[i], words->never[i]));
	for (int i = 0; i < words->nalways; i++)
		kanon_add(&mask->always, rule_column(columns, "always", words->always[i], words->always[i]));
	mask->nrules = words->ntogether + words->nat_most_one + words->nimplies;
	mask->rules = rules = palloc(sizeof(KanonRule) * Max(mask->nrules, 1));
	group_rules(columns, KANON_TOGETHER, "together", words->together, words->ntogether, rules);
	rules += words->ntogether;
	group_rules(columns, KANON_AT_MOST_ONE, "at_most_one", words->at_most_one, words->nat_most_one, rules);
	rules += words->nat_most_one;
	for (int i = 0; i < words->nimplies; i++)
		implication(columns, words->implies[i], &rules[i]);
	check_contradictions(columns, mask);
	for (int i = 0; i < words->ncoarsen; i++)
		coarsen(columns, words->coarsen[i], mask);
}

/* ---- kanon_rules' JSON ---- */

static char *
json_string(const JsonbValue *value, const char *key)
{
	if (value->type != jbvString)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("\"%s\" in rules must be a list of strings", key),
						errhint("Make rules with kanon_rules(...).")));
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static char **
json_strings(JsonbValue *value, const char *key, int *n)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue item;
	char **strings;

	*n = 0;
	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
		(void) json_string(&(JsonbValue){.type = jbvNull}, key);
	strings = palloc(sizeof(char *) * Max(JsonContainerSize(value->val.binary.data), 1));
	it = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &item, true)) != WJB_DONE)
		if (token == WJB_ELEM)
			strings[(*n)++] = json_string(&item, key);
	return strings;
}

static double
json_number(const JsonbValue *value, const char *key)
{
	if (value->type != jbvNumeric)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" in rules must be a number", key),
				 errhint("Make rules with kanon_rules(...).")));
	return DatumGetFloat8(
		DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
}

void
rules_parse(Jsonb *json, const Source *source, KanonMask *mask)
{
	RuleWords words = {.max_suppressed = NO_LIMIT, .max_cost = INFINITY};
	ColumnNames columns = {palloc(sizeof(char *) * source->nqis), source->nqis, source->levels};
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue key, value;

	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("rules must be a JSON object"),
						errhint("Make rules with kanon_rules(...).")));
	for (int c = 0; c < source->nqis; c++)
		columns.names[c] = source->qis[c].name;
	it = JsonbIteratorInit(&json->root);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		char *word;

		if (token != WJB_KEY)
			continue;
		word = pnstrdup(key.val.string.val, key.val.string.len);
		(void) JsonbIteratorNext(&it, &value, true);
		if (value.type == jbvNull)
			continue;
		if (strcmp(word, "max_suppressed") == 0)
			words.max_suppressed = limit_of(json_number(&value, word));
		else if (strcmp(word, "max_cost") == 0)
			words.max_cost = json_number(&value, word);
		else if (strcmp(word, "never") == 0)
			words.never = json_strings(&value, word, &words.nnever);
		else if (strcmp(word, "always") == 0)
			words.always = json_strings(&value, word, &words.nalways);
		else if (strcmp(word, "together") == 0)
			words.together = json_strings(&value, word, &words.ntogether);
		else if (strcmp(word, "at_most_one") == 0)
			words.at_most_one = json_strings(&value, word, &words.nat_most_one);
		else if (strcmp(word, "implies") == 0)
			words.implies = json_strings(&value, word, &words.nimplies);
		else if (strcmp(word, "coarsen") == 0)
			words.coarsen = json_strings(&value, word, &words.ncoarsen);
		else
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("rule \"%s\" is not known", excerpt(word)),
				 errhint(
					 "Known rules: max_suppressed, max_cost, never, always, together, at_most_one, implies, coarsen.")));
	}
	build_mask(&columns, &words, mask);
}

void
rules_notice_empty(const KanonProblem *problem)
{
	if (problem->mask.list == NULL && kanon_mask_count(problem, 1) == 1)
		ereport(NOTICE, (errmsg("the rules leave only the all-suppressed pattern"),
						 errdetail("It is always allowed; every other pattern breaks a rule."),
						 errhint("Loosen the rules.")));
}

/* ---- functions ---- */

/* Strings of a text[]; NULL elements are an error. */
static char **
text_array(ArrayType *array, const char *argument, int *n)
{
	Datum *elements;
	bool *nulls;
	char **strings;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, n);
	strings = palloc(sizeof(char *) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not contain NULL", argument),
					 errhint("Leave it empty when there is no such rule.")));
		strings[i] = TextDatumGetCString(elements[i]);
	}
	return strings;
}

/* Names that need not belong to a table: given once each, at most 64. */
static ColumnNames
free_names(ArrayType *array)
{
	ColumnNames columns;

	columns.names = name_array(array, "quasi_identifiers", &columns.n);
	if (columns.n == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("quasi_identifiers must name at least one column"),
						errhint("Name them in the order in which patterns are to be written.")));
	if (columns.n > KANON_MAX_QIS)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
						errmsg("%d quasi-identifiers are more than the %d that kanon can take", columns.n,
							   KANON_MAX_QIS),
						errhint("Leave out columns that attackers cannot know, or keep or drop them.")));
	for (int i = 0; i < columns.n; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(columns.names[i], columns.names[j]) == 0)
				ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
								errmsg("column \"%s\" is named twice in quasi_identifiers", columns.names[i]),
								errhint("Name each column once.")));
	return columns;
}

/* Highest levels of their hierarchies below suppression; NULL: there are none. */
static void
set_max_levels(ColumnNames *columns, ArrayType *array)
{
	Datum *elements;
	bool *nulls;
	int n;
	int next = 0;

	columns->levels = no_levels(columns->n);
	if (array == NULL)
		return;
	deconstruct_array(array, INT4OID, sizeof(int32), true, TYPALIGN_INT, &elements, &nulls, &n);
	if (ARR_NDIM(array) > 1 || n != columns->n)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%d numbers in max_level do not fit %d quasi-identifiers", n, columns->n),
			 errhint(
				 "Give one for each quasi-identifier, in their order; 0 for those without a hierarchy.")));
	for (int c = 0; c < n; c++)
	{
		int level = nulls[c] ? 0 : DatumGetInt32(elements[c]);

		if (level < 0 || level > HIERARCHY_MAX_LEVELS)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("max_level %d of column \"%s\" is not one of 0 to %d", level,
								   columns->names[c], HIERARCHY_MAX_LEVELS),
							errhint("It is the number of levels between the values and suppression.")));
		columns->levels.first[c] = next;
		next += 1 + level;
		if (next > KANON_MAX_COLUMNS)
			ereport(ERROR,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("the quasi-identifiers and their levels are more than %d", KANON_MAX_COLUMNS),
					 errhint("Leave out levels.")));
	}
	columns->levels.first[n] = next;
}

#define TEXTS_ARG(i, name, n) \
	(PG_ARGISNULL(i) ? (*(n) = 0, NULL) : text_array(PG_GETARG_ARRAYTYPE_P(i), name, n))

/*
 * kanon_patterns(quasi_identifiers, max_suppressed, max_cost, never, always,
 * together, at_most_one, implies, weights, max_level): the allowed patterns,
 * cheapest first.
 */
Datum
kanon_patterns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ColumnNames columns = free_names(array_arg(fcinfo, 0));
	RuleWords words = {0};
	KanonProblem problem = {0};
	KanonColumn *problem_columns;
	double *weights;
	Border *border;
	KanonPattern *patterns;
	size_t npatterns;
	KanonStatus status;

	words.max_suppressed = PG_ARGISNULL(1) ? NO_LIMIT : limit_of(PG_GETARG_INT32(1));
	words.max_cost = PG_ARGISNULL(2) ? INFINITY : PG_GETARG_FLOAT8(2);
	words.never = name_array(array_arg(fcinfo, 3), "never", &words.nnever);
	words.always = name_array(array_arg(fcinfo, 4), "always", &words.nalways);
	words.together = TEXTS_ARG(5, "together", &words.ntogether);
	words.at_most_one = TEXTS_ARG(6, "at_most_one", &words.nat_most_one);
	words.implies = TEXTS_ARG(7, "implies", &words.nimplies);
	weights = weights_parse(jsonb_arg(fcinfo, 8), columns.names, columns.n);
	set_max_levels(&columns, array_arg(fcinfo, 9));

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	border = border_create("kanon_patterns");
	problem.env = &border->env;
	problem.ncolumns = columns.levels.first[columns.n];
	problem.columns = problem_columns = palloc0(sizeof(KanonColumn) * problem.ncolumns);
	for (int c = 0; c < columns.n; c++)
	{
		int n = columns.levels.first[c + 1] - columns.levels.first[c];

		for (int level = 0; level < n; level++)
			*problem_columns++ = (KanonColumn){.weight = weights[c] / n, .distinct = 1, .level = level};
	}
	build_mask(&columns, &words, &problem.mask);
	rules_notice_empty(&problem);
	status = kanon_mask_enumerate(&problem, MOST_LISTED, &patterns, &npatterns);
	if (status == KANON_TOO_LARGE)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the rules allow more than %d patterns", MOST_LISTED),
			 errhint(
				 "Hand the rules to kanon_pattern_guided with kanon_rules(...): there they are never written out.")));
	border_check(border, status, "");
	for (size_t i = 0; i < npatterns; i++)
	{
		Datum value = CStringGetTextDatum(pattern_text(patterns[i], &columns.levels));
		bool isnull = false;

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value, &isnull);
		pfree(DatumGetPointer(value));
	}
	MemoryContextDelete(border->context);
	return (Datum) 0;
}

/* "a", "a and b", "a, b and c" */
static void
append_list(StringInfo text, List *words)
{
	int left = list_length(words);
	ListCell *lc;

	foreach (lc, words)
	{
		appendStringInfoString(text, lfirst(lc));
		left--;
		appendStringInfoString(text, left == 0 ? "" : left == 1 ? " and " : ", ");
	}
}

/* The name that levels, as kanon_columns has them, give to a level of a column; its number where they have none. */
static char *
level_word(Jsonb *levels, const char *column, int level)
{
	JsonbValue buffer, *names, *name;

	if (levels == NULL || !JB_ROOT_IS_OBJECT(levels))
		return psprintf("level %d", level);
	names = getKeyJsonValueFromContainer(&levels->root, column, strlen(column), &buffer);
	if (names == NULL || names->type != jbvBinary || !JsonContainerIsArray(names->val.binary.data))
		return psprintf("level %d", level);
	name = getIthJsonbValueFromContainer(names->val.binary.data, level - 1);
	if (name == NULL || name->type != jbvString)
		return psprintf("level %d", level);
	return pnstrdup(name->val.string.val, name->val.string.len);
}

/*
 * kanon_describe(pattern text, quasi_identifiers name[] [, levels jsonb]).  How many
 * levels a hierarchy has is not known here: a symbol is what it says.  Published patterns
 * may also have '~', for a range or set, which nobody can ask for.
 */
Datum
kanon_describe(PG_FUNCTION_ARGS)
{
	ColumnNames columns = free_names(PG_GETARG_ARRAYTYPE_P(1));
	char *pattern = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char *asked = pstrdup(pattern);
	Jsonb *levels = PG_NARGS() > 2 ? PG_GETARG_JSONB_P(2) : NULL;
	List *suppressed = NIL, *generalized = NIL, *several = NIL, *kept = NIL;
	StringInfoData text;

	for (char *symbol = asked; (symbol = strchr(symbol, '~')) != NULL;)
		*symbol = '*';
	pattern_check(asked, columns.n);
	for (int c = 0; c < columns.n; c++)
	{
		if (pattern[c] == '*')
			suppressed = lappend(suppressed, columns.names[c]);
		else if (pattern[c] == '-' || pattern[c] == '0')
			kept = lappend(kept, columns.names[c]);
		else if (pattern[c] == '~')
			several = lappend(several, columns.names[c]);
		else
			generalized = lappend(
				generalized, psprintf("%s to %s", columns.names[c],
									  level_word(levels, columns.names[c], symbol_of_level(pattern[c]))));
	}
	initStringInfo(&text);
	if (suppressed == NIL && generalized == NIL && several == NIL)
		appendStringInfoString(&text, "suppresses nothing");
	else if (list_length(suppressed) == columns.n)
		appendStringInfoString(&text, "suppresses everything");
	else
	{
		if (suppressed != NIL)
		{
			appendStringInfoString(&text, "suppresses ");
			append_list(&text, suppressed);
		}
		if (generalized != NIL)
		{
			appendStringInfoString(&text, suppressed != NIL ? "; generalizes " : "generalizes ");
			append_list(&text, generalized);
		}
		if (several != NIL)
		{
			appendStringInfoString(&text,
								   text.len > 0 ? "; shows several values of " : "shows several values of ");
			append_list(&text, several);
		}
		if (kept != NIL)
		{
			appendStringInfoString(&text, "; keeps ");
			append_list(&text, kept);
		}
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(text.data, text.len));
}
