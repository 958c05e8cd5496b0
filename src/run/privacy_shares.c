/*
 * privacy_shares.c: a population without a list (kanon_presence): the shares of its values, column by
 * column, from a relation of (column_name, value, share).
 *
 * A value is text, which the input function of the column's type reads.  Its error is not repeated: it
 * would name the value.
 */
#include "compat.h"
#include "core/privacy/population.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "hierarchies/hierarchy.h"
#include "run/privacy.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

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
