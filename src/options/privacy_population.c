/*
 * privacy_population.c: the populations that privacy rules name, read as row types
 * in the codes of the source's values.
 *
 * NULL is a value here, as in the source: a population's NULL matches NULL, and what
 * shows nothing matches everything.
 */
#include "compat.h"
#include "options/together.h"
#include "core/privacy/population.h"
#include "hierarchies/hierarchy.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "options/privacy.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

static bool
is_population(const PrivacyWords *words)
{
	return privacy_about(words->kind) == PRIVACY_OF_POPULATION;
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
		together_refuse(TOGETHER_PRESENCE_PERSONS, NULL, NULL);
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

/*
 * ---- A population without a list (kanon_presence): the shares of its values, column by
 * column, from a relation of (column_name, value, share).
 *
 * A value is text, which the input function of the column's type reads.  Its error is not repeated: it
 * would name the value.
 */

static const char *const names[] = {"column_name", "value", "share"};

/* One line of the relation. */
typedef struct Line
{
	char *value; /* NULL: NULL */
	double share;
} Line;

typedef struct Lines
{
	Line *lines;
	Size n;
	Size room;
} Lines;

typedef struct Reader
{
	const Source *distributions;
	const Source *source;
	Border *border;
	MemoryContext line;
	Lines *lines; /* [nqis] */
	const char *fault;
} Reader;

Source *
shares_open(Oid relid, const Source *source)
{
	Source *distributions;

	for (int i = 0; i < lengthof(names); i++)
		if (get_attnum(relid, names[i]) == InvalidAttrNumber)
			ereport(
				ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("distributions have no column \"%s\"", names[i]),
				 errhint(
					 "They are a relation of (column_name, value, share); use a view that renames them.")));
	distributions = source_open_columns(relid, name_list(names, lengthof(names)), "distributions");
	if (!type_is_numerical(distributions->qis[2].type))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("share of distributions is no number"),
						errhint("It is the share of the population that has the value, 0 to 1.")));
	source_lock(distributions);
	return distributions;
}

static char *
text_of(const SourceColumn *column, Datum value)
{
	Oid function;
	bool isvarlena;

	getTypeOutputInfo(column->type, &function, &isvarlena);
	return OidOutputFunctionCall(function, value);
}

static char *
kept_text(Border *border, const char *text)
{
	Size size = strlen(text) + 1;

	return memcpy(border_palloc(border, size), text, size);
}

static bool
read_line(Reader *reader, TupleTableSlot *slot)
{
	const SourceColumn *columns = reader->distributions->qis;
	char *name = slot->tts_isnull[0] ? "" : text_of(&columns[0], slot->tts_values[0]);
	double share = slot->tts_isnull[2] ? NAN : value_as_number(columns[2].type, slot->tts_values[2]);

	for (int q = 0; q < reader->source->nqis; q++)
	{
		Lines *lines = &reader->lines[q];

		if (strcmp(reader->source->qis[q].name, name) != 0)
			continue;
		if (!(share >= 0 && share <= 1))
		{
			reader->fault = "A share is not between 0 and 1.";
			return false;
		}
		lines->lines = border_grow(reader->border, lines->lines, &lines->room, lines->n + 1, sizeof(Line));
		lines->lines[lines->n++] = (Line){
			slot->tts_isnull[1] ? NULL : kept_text(reader->border, text_of(&columns[1], slot->tts_values[1])),
			share};
	}
	return true;
}

static bool
receive_line(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	MemoryContext old = MemoryContextSwitchTo(reader->line);
	bool more = read_line(reader, slot);

	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->line);
	return more;
}

/* The values of one quasi-identifier as row types, each value once; double shares are added up. */
typedef struct Values
{
	const Lines *lines;
	SourceColumn *column;
	Border *border;
	RowTypes *types;
	double rest;   /* share of everybody else */
	double *share; /* [types->ntypes + 1] */
} Values;

static void
read_values(void *arg)
{
	Values *values = arg;
	Dictionary *dictionary = values->column->dictionary;
	uint32 *code = border_palloc(values->border, sizeof(uint32) * Max(values->lines->n, 1));
	uint32 *renumber;

	for (Size i = 0; i < values->lines->n; i++)
	{
		char *text = values->lines->lines[i].value;

		CHECK_FOR_INTERRUPTS();
		code[i] =
			text == NULL
				? dictionary_add(dictionary, (Datum) 0, true)
				: dictionary_add(dictionary,
								 text_as_value(text, values->column->type, values->column->typmod), false);
	}
	border_charge(values->border, 0, dictionary_memory(dictionary));
	renumber = dictionary_sort(dictionary);
	values->share = border_palloc(values->border, sizeof(double) * ((Size) dictionary_size(dictionary) + 1));
	memset(values->share, 0, sizeof(double) * ((Size) dictionary_size(dictionary) + 1));
	for (Size i = 0; i < values->lines->n; i++)
		values->share[renumber[code[i]]] += values->lines->lines[i].share;
	values->share[dictionary_size(dictionary)] = values->rest;
	border_pfree(values->border, code);
}

/* As if the values were a relation, so that hierarchies can be read for them. */
static RowTypes *
values_as_types(const SourceColumn *original, const HierarchyChoice *hierarchy, Values *values)
{
	Border *border = values->border;
	Source *one = palloc0(sizeof(Source));
	RowTypes *types = palloc0(sizeof(RowTypes));
	int nest = plain_text_begin();
	ErrorData *error;
	uint32 *code;

	one->nqis = one->ngrouped = 1;
	one->qis = palloc(sizeof(SourceColumn));
	one->qis[0] = *original;
	one->qis[0].hierarchy = NULL;
	one->qis[0].dictionary = dictionary_create(border->context, &one->qis[0]);
	values->column = &one->qis[0];
	error = attempt(read_values, values);
	plain_text_end(nest);
	if (error != NULL)
	{
		raise_unless_of_value(error);
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("distributions have a value that is none of column \"%s\"", original->name),
						errhint("Values are text in the form of the column's type.")));
	}
	types->source = one;
	types->ntypes = dictionary_size(one->qis[0].dictionary);
	types->nrows = types->ntypes;
	types->rows = border_palloc(border, sizeof(int64) * (Size) Max(types->ntypes, 1));
	types->grouped = types->columns = palloc0(sizeof(KanonColumn));
	code = border_palloc(border, sizeof(uint32) * (Size) Max(types->ntypes, 1));
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		code[i] = i;
		types->rows[i] = 1;
	}
	types->grouped[0] =
		(KanonColumn){.code = code,
					  .distinct = types->ntypes,
					  .has_null = dictionary_has_null(one->qis[0].dictionary),
					  .number = original->numerical ? dictionary_numbers(one->qis[0].dictionary) : NULL};
	if (hierarchy != NULL)
	{
		one->qis[0].hierarchy = palloc0(sizeof(Hierarchy));
		hierarchy_open(one->qis[0].hierarchy, hierarchy, one, 0);
	}
	return types;
}

static void
read_shares(const Lines *lines, const Source *source, int qi, Values *values)
{
	const SourceColumn *original = &source->qis[qi];
	double sum = 0;

	for (Size i = 0; i < lines->n; i++)
		sum += lines->lines[i].share;
	if (lines->n == 0 || sum > 1 + 1e-6)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 lines->n == 0 ? errmsg("distributions say nothing of column \"%s\"", original->name)
							   : errmsg("the shares of column \"%s\" add up to more than 1", original->name),
				 errhint("Give the share of each value in the population, for each quasi-identifier.")));
	values->lines = lines;
	values->rest = Max(1 - sum, 0);
	values->types =
		values_as_types(original, original->hierarchy != NULL ? &original->hierarchy->from : NULL, values);
	values->types->source->levels.nqis = 1;
	values->types->source->levels.first[1] = source->levels.first[qi + 1] - source->levels.first[qi];
	rowtypes_levels(values->types, values->border);
}

/* The shares that are told of the values, and last of everybody else, who has none that the table has. */
static const uint32_t *
and_rest(const uint32_t *codes, const RowTypes *types, Border *border)
{
	uint32_t *more = border_palloc(border, sizeof(uint32_t) * ((Size) types->ntypes + 1));

	memcpy(more, codes, sizeof(uint32_t) * types->ntypes);
	more[types->ntypes] = KANON_FOREIGN;
	border_pfree(border, unconstify(uint32_t *, codes));
	return more;
}

void
shares_read(const PrivacyWords *words, Source *distributions, const RowTypes *types,
			KanonPopulation *population, Border *border)
{
	const Source *source = types->source;
	Reader reader = {.distributions = distributions,
					 .source = source,
					 .border = border,
					 .lines = palloc0(sizeof(Lines) * source->nqis)};
	Gate *gate = gate_create(distributions->name, distributions->relid, lengthof(names));
	uint32_t *nvalues = palloc(sizeof(uint32_t) * source->nqis);
	const double **share = palloc(sizeof(double *) * source->nqis);

	reader.line = AllocSetContextCreate(CurrentMemoryContext, "kanon line", ALLOCSET_DEFAULT_SIZES);
	gate_columns(gate, distributions->qis, lengthof(names));
	gate_select(
		gate,
		psprintf("SELECT %s FROM %s", column_list(distributions->qis, lengthof(names)), distributions->name),
		true, receive_line, &reader);
	MemoryContextDelete(reader.line);
	if (reader.fault != NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("distributions cannot be used"),
						errdetail("%s", reader.fault),
						errhint("They are a relation of (column_name, value, share).")));
	memset(population, 0, sizeof(*population));
	for (int qi = 0; qi < source->nqis; qi++)
	{
		Values values = {.border = border};

		read_shares(&reader.lines[qi], source, qi, &values);
		nvalues[qi] = values.types->ntypes + 1;
		share[qi] = values.share;
		for (int c = source->levels.first[qi]; c < source->levels.first[qi + 1]; c++)
			population->code[c] =
				and_rest(population_codes(values.types, 0, c - source->levels.first[qi], source, qi, border),
						 values.types, border);
		if (source->qis[qi].show_as == SHOW_AS_RANGE)
			population->below[source->levels.first[qi]] =
				and_rest(population_below(values.types, 0, source, qi, border), values.types, border);
	}
	population->total = words->rows;
	population->least = words->number;
	population->most = words->most;
	population->confidence = words->confidence;
	population->nvalues = nvalues;
	population->share = share;
}
