/*
 * known_columns.c: reads from the arguments known_columns and combinations which columns an attacker may know.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "options/together.h"
#include "run/run.h"

#include "utils/builtins.h"

/* Words of `missing`. */
static KanonMissing
missing_parse(const char *missing)
{
	static const char *const words[] = {"value", "any", "aside"};

	for (int i = 0; i < lengthof(words); i++)
		if (strcmp(missing, words[i]) == 0)
			return (KanonMissing) i;
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown missing \"%s\"", excerpt(missing)),
		 errhint(
			 "It is 'value' (NULL is a value like others), 'any' (NULL agrees with every value) or "
			 "'aside' (NULL agrees with nothing, as a blank cell); kanon_check takes 'marked', too (a value, unless "
			 "kanon_pattern says that it is blank).")));
	return KANON_MISSING_VALUE;
}

static void
refuse_set(const char *text, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" in combinations is not a set of columns", excerpt(text)), errdetail("%s", why),
			 errhint("Write names between commas, such as 'age,zip', and 'age,zip=5' for a k of their "
					 "own. A name with a comma or \"=\" stands between double quotes.")));
}

/* The next name, and what ends it: a comma, "=" or the end. */
static char *
next_name(const char *text, const char **at)
{
	StringInfoData name;
	const char *c = *at;

	initStringInfo(&name);
	while (*c == ' ')
		c++;
	if (*c == '"')
	{
		for (c++; *c != '"' || *++c == '"'; c++)
			if (*c == '\0')
				refuse_set(text, "A double quote is not closed.");
			else
				appendStringInfoChar(&name, *c);
		while (*c == ' ')
			c++;
	}
	else
	{
		while (*c != '\0' && *c != ',' && *c != '=')
			appendStringInfoChar(&name, *c++);
		while (name.len > 0 && name.data[name.len - 1] == ' ')
			name.data[--name.len] = '\0';
	}
	if (*c != '\0' && *c != ',' && *c != '=')
		refuse_set(text, "Something follows a name between double quotes.");
	if (name.len == 0)
		refuse_set(text, "A name is empty.");
	*at = c;
	return name.data;
}

static void
add_name(const Source *source, const char *text, const char *name, KanonKnownSet *set)
{
	int c = 0;

	while (c < source->nqis && strcmp(source->qis[c].name, name) != 0)
		c++;
	if (c == source->nqis)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("\"%s\" in combinations is no quasi-identifier", excerpt(name)),
						errhint("Name it in quasi_identifiers, too. Names are taken exactly as written, "
								"capitals included.")));
	if (kanon_has(set->columns, c))
		refuse_set(text, "It names a column twice.");
	kanon_add(&set->columns, c);
	if (kanon_count(set->columns) > KNOWN_SET_MOST)
		refuse_set(text, psprintf("It has more than %d columns.", KNOWN_SET_MOST));
}

static KanonKnownSet
parse_set(const Source *source, const char *text)
{
	KanonKnownSet set = {KANON_NONE, 0};
	const char *at = text;

	for (;; at++)
	{
		add_name(source, text, next_name(text, &at), &set);
		if (*at != ',')
			break;
	}
	if (*at == '=')
	{
		char *end;

		errno = 0;
		set.k = strtoll(at + 1, &end, 10);
		if (errno != 0 || end == at + 1 || *end != '\0' || set.k < 2)
			refuse_set(text, "A k of its own is a whole number from 2 on.");
	}
	return set;
}

KanonKnown
known_columns_parse(const Source *source, int known_columns, int64 k, ArrayType *combinations,
					const char *missing)
{
	KanonKnown known = {.k = k, .missing = missing_parse(missing)};

	if (known_columns >= 0 && (known_columns < 1 || known_columns > source->nqis))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("known_columns must be between 1 and %d, the number of quasi-identifiers",
							   source->nqis),
						errhint("It says how many of them somebody knows of a person at most.")));
	known.most = Max(known_columns, 0);
	if (combinations != NULL)
	{
		Datum *texts;
		bool *nulls;
		KanonKnownSet *sets;

		deconstruct_array(combinations, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &known.nsets);
		known.sets = sets = palloc(sizeof(KanonKnownSet) * Max(known.nsets, 1));
		for (int i = 0; i < known.nsets; i++)
		{
			if (nulls[i])
				refuse_set("NULL", "It is NULL.");
			sets[i] = parse_set(source, TextDatumGetCString(texts[i]));
		}
	}
	if (known.most == 0 && known.nsets == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("neither known_columns nor combinations is given"),
						errhint("Say known_columns => 3, or name sets as in combinations => "
								"'{\"age,zip\",\"zip,sex\"}'.")));
	return known;
}

/* ---- of a run ---- */

bool
known_check(const Request *request)
{
	bool few = request->guided.known_columns >= 0 || request->guided.combinations != NULL;

	if (!few && request->guided.missing != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("missing is about known_columns or combinations, and neither is given"),
				 errhint("Say known_columns => 3, or leave missing out: NULL is a value like any other.")));
	if (!few)
		return false;
	if (request->privacy != NULL &&
		(request->privacy->n > 1 || privacy_find(request->privacy, PRIVACY_SUBJECT) < 0))
		together_refuse(TOGETHER_KNOWN_RULES, NULL, NULL);
	if (request->residual != KANON_RESIDUAL_FILL)
		together_refuse(TOGETHER_KNOWN_RESIDUAL, NULL, NULL);
	if (request->series.key != NULL)
		together_refuse(TOGETHER_KNOWN_KEY, NULL, NULL);
	return true;
}

void
known_set(Run *run)
{
	const Request *request = run->request;
	const char *missing = request->guided.missing != NULL ? request->guided.missing : "aside";
	KanonKnown *known;

	if (!known_check(request))
		return;
	if (request->guided.known_columns > KNOWN_SET_MOST)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("known_columns must be at most %d where rows are published", KNOWN_SET_MOST),
						errhint("Leave it out: then no row is rare in all quasi-identifiers together.")));
	known = palloc(sizeof(KanonKnown));
	*known = known_columns_parse(run->source, request->guided.known_columns, request->k,
								 request->guided.combinations, missing);
	if (request->series.stable &&
		(known->missing == KANON_MISSING_ANY ||
		 (known->missing == KANON_MISSING_VALUE && request->model->family == KANON_FULL_DOMAIN)))
		together_refuse(known->missing == KANON_MISSING_ANY ? TOGETHER_KNOWN_ANY_STABLE
															: TOGETHER_KNOWN_VALUE_STABLE,
						missing, NULL);
	if (known->missing == KANON_MISSING_ANY && request->privacy != NULL)
		together_refuse(TOGETHER_KNOWN_ANY_PERSONS, NULL, NULL);
	run->problem.known = known;
	/* the fully suppressed rows are a combination of nothing, and as many as there are */
	run->problem.residual = KANON_RESIDUAL_SUPPRESS;
}

void
known_ready(Run *run)
{
	KanonProblem *problem = &run->problem;
	KanonKnown *known;
	int person;

	if (problem->known == NULL || problem->privacy == NULL)
		return;
	person = kanon_privacy_person(problem->privacy);
	known = palloc(sizeof(KanonKnown));
	*known = *problem->known;
	known->person = problem->extra[person].code;
	known->npersons = problem->extra[person].distinct;
	problem->known = known;
}
