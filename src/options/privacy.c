/*
 * privacy.c: privacy rules beyond k: from rules and columns to what the core
 * asks of each class.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "options/privacy.h"
#include "core/cluster/clustering.h"
#include "hierarchies/hierarchy.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

/* A kind of the core that has no words does not get past the compiler. */
StaticAssertDecl(PRIVACY_DELTA_PRESENCE == KANON_PRIVACY_KINDS, "PrivacyKind lacks a kind of the core");

PrivacyAbout
privacy_about(PrivacyKind kind)
{
	switch (kind)
	{
		case PRIVACY_DISTINCT_L:
		case PRIVACY_ENTROPY_L:
		case PRIVACY_RECURSIVE_CL:
		case PRIVACY_ALPHA:
		case PRIVACY_T_CLOSENESS:
			return PRIVACY_OF_VALUES;
		case PRIVACY_SUBJECT:
			return PRIVACY_OF_PERSONS;
		case PRIVACY_DELTA_PRESENCE:
		case PRIVACY_K_MAP:
		case PRIVACY_PRESENCE:
			break;
	}
	return PRIVACY_OF_POPULATION;
}

Privacy *
privacy_read(ArrayType *rules)
{
	Privacy *privacy = palloc0(sizeof(Privacy));
	Datum *elements;
	bool *nulls;
	int subjects = 0;

	deconstruct_array(rules, JSONBOID, -1, false, TYPALIGN_INT, &elements, &nulls, &privacy->n);
	if (privacy->n == 0)
		return NULL;
	privacy->words = palloc0(sizeof(PrivacyWords) * privacy->n);
	privacy->population = palloc0(sizeof(Source *) * privacy->n);
	privacy->hierarchy = palloc0(sizeof(HierarchyChoice) * privacy->n);
	privacy->column = palloc0(sizeof(*privacy->column) * privacy->n);
	for (int r = 0; r < privacy->n; r++)
	{
		if (nulls[r])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("privacy must not contain NULL"),
							errhint("Leave privacy NULL when there are no rules beyond k.")));
		privacy_parse(DatumGetJsonbP(elements[r]), &privacy->words[r]);
		subjects += privacy->words[r].kind == PRIVACY_SUBJECT;
	}
	if (subjects > 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("privacy has kanon_subject twice"),
						errhint("A row is of one person: name one column.")));
	return privacy;
}

static const SourceColumn *
kept_column(const Source *source, const char *name)
{
	for (int i = 0; i < source->nkept; i++)
		if (strcmp(source->kept[i].name, name) == 0)
			return &source->kept[i];
	return NULL;
}

/* Finds a column of a rule, or adds it to those that tell row types apart. */
static int
extra_column(Source *source, const PrivacyWords *words, char *name)
{
	SourceColumn *found;
	int n;

	for (int c = source->nqis; c < source->ngrouped; c++)
		if (strcmp(source->qis[c].name, name) == 0)
			return c - source->nqis;
	if (get_attnum(source->relid, name) == InvalidAttrNumber)
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("a privacy rule names column \"%s\", which the source does not have", excerpt(name)),
			 errhint("%s", nearest_column(source->relid, name,
										  "Names are taken exactly as written; several columns are an array: "
										  "ARRAY['a', 'b']."))));
	found =
		source_columns(source, name_list((const char *const *) &name, 1), "privacy",
					   words->kind == PRIVACY_SUBJECT ? "the column of persons" : "a sensitive column", &n);
	if (words->kind != PRIVACY_SUBJECT && kept_column(source, name) == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("a privacy rule names \"%s\", which is not kept", name),
						errhint("The rule is about what a class publishes: name the column in keep, too.")));
	if (words->kind != PRIVACY_SUBJECT && kept_column(source, name)->mask != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a privacy rule names \"%s\", which is masked", name),
			 errdetail(
				 "A mask may show two values as one: what a class then says is not what the rule counts."),
			 errhint(
				 "Leave its mask out. If readers must not see its values, publish a view that coarsens them.")));
	if (source->ngrouped - source->nqis == 64)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
						errmsg("the privacy rules name more than 64 columns"), errhint("Leave out rules.")));
	return source_group_by(source, found) - source->nqis;
}

/* The same; k counts the persons of the column of persons. */
static int
extra_column_of(Source *source, const PrivacyWords *words, char *name)
{
	int column = extra_column(source, words, name);

	if (words->kind == PRIVACY_SUBJECT)
		source->persons = source->nqis + column;
	return column;
}

/* The hierarchy of a distance, which is locked. */
static void
choose_hierarchy(Privacy *privacy, int r, const Source *source)
{
	const PrivacyWords *words = &privacy->words[r];
	HierarchyChoice *choice = &privacy->hierarchy[r];

	if (words->kind != PRIVACY_T_CLOSENESS)
		return;
	if (words->builder != NULL)
		*choice = hierarchy_choose(&words->builder->root, &source->qis[source->nqis + privacy->column[r][0]]);
	else
		choice->relation = words->relation;
	hierarchy_lock(choice);
}

void
privacy_columns(Privacy *privacy, Source *source)
{
	for (int r = 0; privacy != NULL && r < privacy->n; r++)
		for (int i = 0; i < privacy->words[r].ncolumns; i++)
			privacy->column[r][i] = extra_column_of(source, &privacy->words[r], privacy->words[r].columns[i]);
	if (privacy == NULL)
		return;
	for (int r = 0; r < privacy->n; r++)
	{
		choose_hierarchy(privacy, r, source);
		if (OidIsValid(privacy->words[r].relation))
			source->beside = lappend_oid(source->beside, privacy->words[r].relation);
	}
	source_check_groupable(source->qis, source->ngrouped);
}

Privacy *
privacy_of_persons(const Privacy *privacy, Source *source, const char *column)
{
	Privacy *copy = palloc0(sizeof(Privacy));
	int n = privacy != NULL ? privacy->n : 0;

	copy->n = n + 1;
	copy->words = palloc0(sizeof(PrivacyWords) * copy->n);
	copy->population = palloc0(sizeof(Source *) * copy->n);
	copy->hierarchy = palloc0(sizeof(HierarchyChoice) * copy->n);
	copy->column = palloc0(sizeof(*copy->column) * copy->n);
	if (n > 0)
	{
		memcpy(copy->words, privacy->words, sizeof(PrivacyWords) * n);
		memcpy(copy->population, privacy->population, sizeof(Source *) * n);
		memcpy(copy->hierarchy, privacy->hierarchy, sizeof(HierarchyChoice) * n);
		memcpy(copy->column, privacy->column, sizeof(*copy->column) * n);
	}
	copy->words[n].kind = PRIVACY_SUBJECT;
	copy->words[n].columns = palloc(sizeof(char *));
	copy->words[n].columns[0] = pstrdup(column);
	copy->words[n].ncolumns = 1;
	copy->column[n][0] = extra_column_of(source, &copy->words[n], copy->words[n].columns[0]);
	source_check_groupable(source->qis, source->ngrouped);
	return copy;
}

int
privacy_find(const Privacy *privacy, PrivacyKind kind)
{
	for (int r = 0; privacy != NULL && r < privacy->n; r++)
		if (privacy->words[r].kind == kind)
			return r;
	return -1;
}

Datum
privacy_recorded(const Privacy *privacy)
{
	JsonbInState state = {0};
	JsonbValue string = {.type = jbvString};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	string.val.string.val = pstrdup("privacy");
	string.val.string.len = strlen("privacy");
	kanon_push_jsonb(&state, WJB_KEY, &string);
	kanon_push_jsonb(&state, WJB_BEGIN_ARRAY, NULL);
	for (int r = 0; r < privacy->n; r++)
	{
		Jsonb *rule = privacy_rule_recorded(&privacy->words[r]);
		JsonbValue object = {.type = jbvBinary, .val.binary = {VARSIZE(rule) - VARHDRSZ, &rule->root}};

		kanon_push_jsonb(&state, WJB_ELEM, &object);
	}
	kanon_push_jsonb(&state, WJB_END_ARRAY, NULL);
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(state.result));
}

/* ---- the core's rules ---- */

/* Which values of a column are listed, by their text. */
static const bool *
listed_values(const PrivacyWords *words, const SourceColumn *column, Border *border)
{
	uint32 distinct = dictionary_size(column->dictionary);
	bool *listed;
	Oid function;
	bool isvarlena;
	int found = 0;

	if (words->nvalues == 0)
		return NULL;
	listed = border_palloc(border, sizeof(bool) * Max(distinct, 1));
	getTypeOutputInfo(column->type, &function, &isvarlena);
	for (uint32 code = 0; code < distinct; code++)
	{
		bool isnull;
		Datum value = dictionary_value(column->dictionary, code, &isnull);
		char *text;

		listed[code] = false;
		if (isnull)
			continue;
		text = OidOutputFunctionCall(function, value);
		for (int i = 0; i < words->nvalues && !listed[code]; i++)
			listed[code] = strcmp(text, words->values[i]) == 0;
		found += listed[code];
		pfree(text);
	}
	if (found < words->nvalues)
		ereport(NOTICE, (errmsg("%d of the %d values that a privacy rule lists do not occur in column \"%s\"",
								words->nvalues - found, words->nvalues, column->name)));
	return listed;
}

static void
core_rule(const Privacy *privacy, int r, int of, const RowTypes *types, KanonPrivacyRule *rule,
		  Border *border)
{
	const PrivacyWords *words = &privacy->words[r];
	const SourceColumn *column = &types->source->qis[types->source->nqis + privacy->column[r][of]];

	memset(rule, 0, sizeof(*rule));
	rule->kind = (KanonPrivacyKind) words->kind;
	rule->column = privacy->column[r][of];
	rule->l = words->l;
	rule->table = types->totals != NULL ? types->totals[rule->column] : NULL;
	for (int i = 0; i < words->ncolumns; i++)
		if (i != of)
			rule->joined |= UINT64CONST(1) << privacy->column[r][i];
	if (words->kind == PRIVACY_RECURSIVE_CL)
		rule->c = words->number;
	if (words->kind == PRIVACY_ALPHA)
	{
		rule->share = words->number;
		rule->listed = listed_values(words, column, border);
	}
	if (words->kind == PRIVACY_T_CLOSENESS)
	{
		rule->share = words->number;
		rule->distance = strcmp(words->distance, "equal") == 0     ? KANON_DISTANCE_EQUAL
						 : strcmp(words->distance, "ordered") == 0 ? KANON_DISTANCE_ORDERED
																   : KANON_DISTANCE_HIERARCHICAL;
		if (hierarchy_chosen(&privacy->hierarchy[r]))
			rule->taxonomy =
				taxonomy_read(&privacy->hierarchy[r], types, (int) (column - types->source->qis), border);
	}
	if (words->kind == PRIVACY_SUBJECT && types->grouped[types->source->nqis + rule->column].has_null)
		ereport(
			ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("column \"%s\" of persons contains NULL", column->name),
			 errhint(
				 "Every row needs its person: use a view that leaves the other rows out or numbers them.")));
}

bool
privacy_too_few(const Privacy *privacy, const RowTypes *types, int64 k)
{
	int persons = privacy_find(privacy, PRIVACY_SUBJECT);
	int64 most = types->nrows;

	if (persons >= 0)
		most = types->grouped[types->source->nqis + privacy->column[persons][0]].distinct;
	return types->nrows > 0 && most < k && !privacy_k_map(privacy);
}

static void
check_persons(const KanonPrivacyRule *rule, const KanonProblem *problem, const char *column, bool *too_few)
{
	uint32 persons = problem->extra[rule->column].distinct;

	if (problem->k <= persons)
		return;
	if (too_few != NULL)
		*too_few = true;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k is larger than the number of persons"),
			 errdetail("k is " INT64_FORMAT ", column \"%s\" has %u persons.", problem->k, column, persons),
			 errhint("Lower k: no class could ever have that many persons.")));
}

/*
 * The figures of the whole table as one class: no release has a class that is
 * better everywhere.  They are rounded to the side on which the rule can be kept.
 */
static void
check_attainable(const PrivacyWords *words, const KanonPrivacyRule *rule, int core,
				 const KanonProblem *problem, const char *column, bool leaves_out, bool *too_few,
				 Border *border)
{
	KanonDiversity table;
	const char *attainable = NULL;

	kanon_privacy_table(problem->privacy, core, &table);
	if (kanon_privacy_failed(problem->privacy))
		border_check(border, KANON_NO_MEMORY, "");
	if (rule->kind == KANON_DISTINCT_L && table.distinct < rule->l)
		attainable = psprintf("The column has %u distinct values.", table.distinct);
	/* rows that are left out can mend the rest; and a person in two classes counts in each, in the table once */
	else if (problem->residual == KANON_RESIDUAL_DROP || kanon_privacy_person(problem->privacy) >= 0)
		return;
	else if (rule->kind == KANON_ENTROPY_L && table.entropy < rule->l)
		attainable =
			psprintf("The entropy of the column is at least log %.3f.", floor(table.entropy * 1000) / 1000);
	else if (rule->kind == KANON_RECURSIVE_CL && rule->l <= KANON_RECURSIVE_MOST &&
			 !(table.recursive[(int) rule->l] < rule->c))
		attainable = isinf(table.recursive[(int) rule->l])
						 ? psprintf("The column has %u distinct values.", table.distinct)
						 : psprintf("With l = %d, c must be above %.3f.", (int) rule->l,
									ceil(table.recursive[(int) rule->l] * 1000) / 1000);
	else if (rule->kind == KANON_ALPHA && rule->listed == NULL && table.alpha > rule->share)
		attainable =
			psprintf("The most frequent value has a share of at most %.3f.", ceil(table.alpha * 1000) / 1000);
	if (attainable == NULL)
		return;
	if (too_few != NULL)
		*too_few = true;
	ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
					errmsg("no release of this table can fulfil the rule \"%s\"", privacy_sentence(words)),
					errdetail("%s", attainable),
					errhint("Ask for what column \"%s\" can give%s.", column,
							rule->kind == KANON_DISTINCT_L || !leaves_out
								? ""
								: ", or let residual be 'drop', which leaves rows out")));
}

/* Behind the source's columns stands one that says whose each type is. */
static void
add_persons(const KanonColumn *persons, KanonProblem *problem, KanonPrivacyRule *rule)
{
	KanonColumn *extra = palloc(sizeof(KanonColumn) * (problem->nextra + 1));

	memcpy(extra, problem->extra, sizeof(KanonColumn) * problem->nextra);
	extra[problem->nextra] = *persons;
	*rule = (KanonPrivacyRule){.kind = KANON_SUBJECT, .column = problem->nextra++};
	problem->extra = extra;
}

void
privacy_rules(const Privacy *privacy, const RowTypes *types, const KanonColumn *persons,
			  KanonProblem *problem, bool leaves_out, bool *too_few, Border *border)
{
	const Source *source = types->source;
	KanonPrivacyRule *rules;
	int *from;
	int n = 0;

	if (privacy == NULL || types->nrows == 0)
		return;
	problem->nextra = source->ngrouped - source->nqis;
	problem->extra = types->grouped + source->nqis;
	rules = palloc(sizeof(KanonPrivacyRule) * (privacy->n * KANON_MAX_COLUMNS + 1));
	from = palloc(sizeof(int) * privacy->n * KANON_MAX_COLUMNS);
	for (int r = 0; r < privacy->n; r++)
		for (int i = 0; i < privacy->words[r].ncolumns; i++)
		{
			core_rule(privacy, r, i, types, &rules[n], border);
			from[n++] = r;
		}
	privacy_population_rules(privacy, types, problem, border);
	if (n == 0)
		return;
	if (persons != NULL)
		add_persons(persons, problem, &rules[n]);
	border_check(border, kanon_privacy_open(problem, rules, n + (persons != NULL), &problem->privacy), "");
	for (int i = 0; i < n; i++)
	{
		const char *column = source->qis[source->nqis + rules[i].column].name;

		if (rules[i].kind == KANON_SUBJECT && !privacy_k_map(privacy))
			check_persons(&rules[i], problem, column, too_few);
		if (rules[i].kind != KANON_SUBJECT && rules[i].joined == 0)
			check_attainable(&privacy->words[from[i]], &rules[i], i, problem, column, leaves_out, too_few,
							 border);
	}
}
