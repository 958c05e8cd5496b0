/*
 * privacy_population.c: the populations that privacy rules name, read as row types
 * in the codes of the source's values.
 *
 * NULL is a value here, as in the source: a population's NULL matches NULL, and what
 * shows nothing matches everything.
 */
#include "compat.h"
#include "core/privacy/population.h"
#include "hierarchies/hierarchy.h"
#include "run/privacy.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

static bool
is_population(const PrivacyWords *words)
{
	return words->kind == PRIVACY_K_MAP || words->kind == PRIVACY_DELTA_PRESENCE ||
		   words->kind == PRIVACY_PRESENCE;
}

bool
privacy_k_map(const Privacy *privacy)
{
	return privacy_find(privacy, PRIVACY_K_MAP) >= 0;
}

bool
privacy_asks_population(const Privacy *privacy)
{
	for (int r = 0; privacy != NULL && r < privacy->n; r++)
		if (is_population(&privacy->words[r]))
			return true;
	return false;
}

/* Rules that population rules cannot be combined with. */
static void
check_combination(const Privacy *privacy)
{
	int maps = 0;
	bool persons = false, shares = false;

	for (int r = 0; r < privacy->n; r++)
	{
		maps += privacy->words[r].kind == PRIVACY_K_MAP;
		persons |= privacy->words[r].kind == PRIVACY_SUBJECT;
		shares |= is_population(&privacy->words[r]) && privacy->words[r].kind != PRIVACY_K_MAP;
	}
	if (maps > 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("privacy has kanon_k_map twice"),
						errhint("k is counted in one population: name one.")));
	if (persons && shares)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("rules about presence cannot be combined with kanon_subject"),
			 errdetail(
				 "A person in several classes can be found in any of them, so the chance in one class is not the person's chance."),
			 errhint(
				 "Use a source and a population with one row per person, or take kanon_k_map, which counts persons of a population.")));
}

/* The column that tells persons of the population apart is none of the quasi-identifiers. */
static const char *
find_subject(Oid relid, const char *name, const char *subject, const Source *source)
{
	for (int c = 0; c < source->nqis; c++)
		if (strcmp(source->qis[c].name, subject) == 0)
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
							errmsg("subject of kanon_k_map is the quasi-identifier \"%s\"", subject),
							errhint("Name the column of the population that says who a row is about.")));
	if (source->nqis == KANON_MAX_QIS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("kanon_k_map with a subject takes at most %d quasi-identifiers", KANON_MAX_QIS - 1),
				 errhint("Leave one out, or count rows of the population.")));
	if (get_attnum(relid, subject) == InvalidAttrNumber)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("population \"%s\" has no column \"%s\"", name, subject),
						errhint("Name the column of the population that says who a row is about, or none.")));
	return subject;
}

/* The columns of the population that have the names of the quasi-identifiers. */
static Source *
open_population(Oid relid, const char *subject, const Source *source)
{
	const char **names = palloc(sizeof(char *) * (source->nqis + 1));
	int n = source->nqis;
	char *name = get_rel_name(relid);
	Source *population;

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("population with OID %u does not exist", relid),
				 errhint("Name a table or view that exists.")));
	for (int c = 0; c < source->nqis; c++)
	{
		names[c] = source->qis[c].name;
		if (get_attnum(relid, source->qis[c].name) == InvalidAttrNumber)
			ereport(
				ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("population \"%s\" has no column \"%s\"", name, source->qis[c].name),
				 errhint(
					 "A population has all quasi-identifiers, under the same names; use a view of it that renames them.")));
	}
	if (subject != NULL)
		names[n++] = find_subject(relid, name, subject, source);
	population = source_open_columns(relid, name_list(names, n), "quasi_identifiers");
	/* it tells rows of the population apart, and that is all */
	population->nqis = source->nqis;
	for (int c = 0; c < source->nqis; c++)
		if (getBaseType(population->qis[c].type) != getBaseType(source->qis[c].type))
			ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
							errmsg("column \"%s\" of the population %s has another type than in the source",
								   population->qis[c].name, population->name),
							errhint("Use a view of the population that casts it.")));
	source_lock(population);
	return population;
}

void
privacy_populations(Privacy *privacy, const Source *source)
{
	for (int r = 0; privacy != NULL && r < privacy->n; r++)
		if (is_population(&privacy->words[r]))
		{
			check_combination(privacy);
			privacy->population[r] =
				privacy->words[r].kind == PRIVACY_PRESENCE
					? shares_open(privacy->words[r].relation, source)
					: open_population(privacy->words[r].relation, privacy->words[r].subject, source);
		}
}

static void
say_population(void *arg)
{
	errcontext("population %s", ((const Source *) arg)->name);
}

/* The population's row types, with the levels of the source's hierarchies. */
static RowTypes *
read_population(Source *population, const Source *source, Border *border)
{
	ErrorContextCallback context = {
		.previous = error_context_stack, .callback = say_population, .arg = population};
	RowTypes *types;

	error_context_stack = &context;
	for (int c = 0; c < source->nqis; c++)
		if (source->qis[c].hierarchy != NULL)
		{
			population->qis[c].hierarchy = palloc0(sizeof(Hierarchy));
			hierarchy_open(population->qis[c].hierarchy, &source->qis[c].hierarchy->from, population, c);
		}
	population->levels = source->levels;
	types = rowtypes_read(population, border);
	if (types->nrows > 0)
		rowtypes_levels(types, border);
	error_context_stack = context.previous;
	return types;
}

/* The dictionary of a level of a quasi-identifier. */
static Dictionary *
level_dictionary(const Source *source, int qi, int level)
{
	return level == 0 ? source->qis[qi].dictionary : source->qis[qi].hierarchy->dictionary[level - 1];
}

const uint32_t *
population_codes(const RowTypes *types, int column, int level, const Source *source, int qi, Border *border)
{
	const Dictionary *from = level_dictionary(types->source, column, level);
	Dictionary *to = level_dictionary(source, qi, level);
	const uint32 *own = types->columns[types->source->levels.first[column] + level].code;
	uint32 n = dictionary_size(from);
	uint32 *translated = border_palloc(border, sizeof(uint32) * (Size) Max(n, 1));
	uint32 *codes = border_palloc(border, sizeof(uint32) * (Size) types->ntypes);

	for (uint32 code = 0; code < n; code++)
	{
		bool isnull;
		Datum value = dictionary_value(from, code, &isnull);

		CHECK_FOR_INTERRUPTS();
		translated[code] = dictionary_find(to, value, isnull);
		if (translated[code] == DICTIONARY_NONE)
			translated[code] = KANON_FOREIGN;
	}
	for (uint32 i = 0; i < types->ntypes; i++)
		codes[i] = translated[own[i]];
	border_pfree(border, translated);
	return codes;
}

const uint32_t *
population_below(const RowTypes *types, int column, const Source *source, int qi, Border *border)
{
	const Dictionary *from = types->source->qis[column].dictionary;
	Dictionary *to = source->qis[qi].dictionary;
	uint32 n = dictionary_size(from);
	uint32 *place;
	uint32 *below;

	if (source->qis[qi].show_as != SHOW_AS_RANGE)
		return NULL;
	place = border_palloc(border, sizeof(uint32) * (Size) Max(n, 1));
	below = border_palloc(border, sizeof(uint32) * (Size) Max(types->ntypes, 1));
	for (uint32 code = 0; code < n; code++)
	{
		bool isnull;
		Datum value = dictionary_value(from, code, &isnull);

		CHECK_FOR_INTERRUPTS();
		place[code] = isnull ? KANON_FOREIGN : dictionary_below(to, value);
	}
	for (uint32 i = 0; i < types->ntypes; i++)
		below[i] = place[types->columns[types->source->levels.first[column]].code[i]];
	border_pfree(border, place);
	return below;
}

static void
core_population(const PrivacyWords *words, Source *source_of, const Source *source,
				KanonPopulation *population, Border *border)
{
	RowTypes *types = read_population(source_of, source, border);

	memset(population, 0, sizeof(*population));
	population->ntypes = types->ntypes;
	population->rows = types->rows;
	population->total = types->nrows;
	if (words->subject != NULL)
	{
		population->person = types->grouped[source->nqis].code;
		population->total = types->nrows > 0 ? types->grouped[source->nqis].distinct : 0;
	}
	population->map = words->kind == PRIVACY_K_MAP;
	population->least = words->number;
	population->most = words->most;
	for (int qi = 0; qi < source->nqis && types->nrows > 0; qi++)
	{
		for (int c = source->levels.first[qi]; c < source->levels.first[qi + 1]; c++)
			population->code[c] =
				population_codes(types, qi, c - source->levels.first[qi], source, qi, border);
		population->below[source->levels.first[qi]] = population_below(types, qi, source, qi, border);
	}
}

/* The population has the source's rows, and could fulfil the rule with all of them in one class. */
static void
check_population(const PrivacyWords *words, int p, const Source *name, const RowTypes *types,
				 const KanonProblem *problem, Border *border)
{
	const KanonPopulation *population = &problem->populations[p];
	double share;
	int64 missing;

	if (words->kind == PRIVACY_PRESENCE)
	{
		if (population->total < types->nrows)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the population has fewer rows than the source"),
				 errdetail("population_rows is " INT64_FORMAT ", the source has " INT64_FORMAT " rows.",
						   population->total, types->nrows),
				 errhint(
					 "population_rows counts everybody who could be in the source, including those who are.")));
		return;
	}
	border_check(border, kanon_population_missing(problem, p, &missing), "");
	if (missing > 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("population %s does not contain the source", name->name),
			 errdetail("It has too few rows of " INT64_FORMAT " of the source's row types.", missing),
			 errhint(
				 "Use a population that has every row of the source, and a row for everybody else who could be in it.")));
	if (population->map && problem->k > population->total)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k is larger than the population"),
				 errdetail("k is " INT64_FORMAT ", the population has " INT64_FORMAT " %s.", problem->k,
						   population->total, population->person != NULL ? "persons" : "rows"),
				 errhint("Lower k: a class cannot match more than the whole population.")));
	share = (double) types->nrows / population->total;
	/* rows that are left out can only lower the share */
	if (!population->map &&
		(share < population->least * (1 - 1e-12) ||
		 (share > population->most * (1 + 1e-12) && problem->residual != KANON_RESIDUAL_DROP)))
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("no release of this table can fulfil the rule \"%s\"", privacy_sentence(words)),
				 errdetail("The source is a share of %.3f of the population.", share),
				 errhint("Choose a dmin of at most %.3f and a dmax of at least %.3f.",
						 floor(share * 1000) / 1000, ceil(share * 1000) / 1000)));
}

void
privacy_population_rules(const Privacy *privacy, const RowTypes *types, KanonProblem *problem, Border *border)
{
	KanonPopulation *populations = palloc(sizeof(KanonPopulation) * privacy->n);
	int n = 0;

	for (int r = 0; r < privacy->n; r++)
		if (privacy->words[r].kind == PRIVACY_PRESENCE)
			shares_read(&privacy->words[r], privacy->population[r], types, &populations[n++], border);
		else if (is_population(&privacy->words[r]))
			core_population(&privacy->words[r], privacy->population[r], types->source, &populations[n++],
							border);
	problem->npopulations = n;
	problem->populations = populations;
	problem->k_map = privacy_k_map(privacy);
	/* k is a population's then, and everybody in it matches what shows nothing */
	if (problem->k_map && problem->residual == KANON_RESIDUAL_FILL)
		problem->residual = KANON_RESIDUAL_SUPPRESS;
	n = 0;
	for (int r = 0; r < privacy->n; r++)
		if (is_population(&privacy->words[r]))
			check_population(&privacy->words[r], n++, privacy->population[r], types, problem, border);
}
