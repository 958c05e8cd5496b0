/*
 * suggest.c: kanon_suggest: for each column of a relation the role that fits it.
 *
 * Nobody but the owner knows what a column is about.  kanon sees signs: labels, the column's name, its type, and how
 * its values spread.  It counts the values in one read, in the way in which kept columns are counted while they are
 * written (identifying_columns.c).  So a column that would be refused there is an identifier here.  When in doubt a
 * column is a quasi-identifier, which protects the most.
 *
 * Goodman and Kruskal's lambda says whether one column tells another ("Measures of association for cross
 * classifications", 1954): by how much less often one errs in the one if the other is known.  It is counted in a
 * sample of the rows.
 */
#include "compat.h"
#include "assess/suggest.h"
#include "host/lines.h"
#include "host/gate.h"
#include "rows/source.h"
#include "options/request.h"
#include "rows/verify.h"

#include <math.h>

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(kanon_suggest);

/* A column is told by another when guesses err so much less often with it. */
#define TELLS 0.9

/* The text of a column is free when it is, on average, as long as this. */
#define FREE_TEXT 40

/* Whole numbers of which so many of those between the least and the largest are there number the rows. */
#define RUNNING 0.5

/* A survey gives nearly every row a weight. */
#define MOST_NULLS 0.05

/* So few values, each of so many rows on average, name nobody. */
#define COARSE_VALUES 12
#define COARSE_ROWS 5

/* ---- what surveys have ---- */

/* A column that is about the survey rather than the person: by its name, without marks, and by its values. */
typedef struct SurveyUse
{
	const char *names; /* between blanks */
	bool number;       /* its values are numbers above 0 */
	bool doubtful; /* the name has other meanings: some values have a fraction, and nearly all rows a value */
	double least, most; /* rows that a value has on the average */
	const char *use;
} SurveyUse;

static const SurveyUse survey_uses[] = {
	{" surveyweight surveywt surveywgt samplingweight samplingwgt sampleweight sampweight sampwt samplewgt designweight pweight "
	 "perweight perwt personweight pwgtp wgt hwgt hhweight hhwgt householdweight householdweights fnlwgt finalweight finalwgt "
	 "finalwt grossingweight expansionfactor gewichtung gewichtungsfaktor designgewicht hochrechnung hochrechnungsfaktor "
	 "ponderation pondération coefponderation coefpondération coefpond pondfin poidsfinal wegingsfactor weegfactor factorexpansion ",
	 true, false, 0, INFINITY, "by its name a survey weight: kanon_risk takes it as weights"},
	{" weight weights wt gewicht poids pond peso ", true, true, 0, INFINITY,
	 "by its name and values it may be a survey weight: kanon_risk takes one as weights"},
	{" hid hhid household householdid hhno hhnr hhnum householdno householdnr orihid familyid haushalt haushaltid haushaltsid "
	 "haushaltnr haushaltsnr haushaltsnummer menage ménage menageid idmenage identmen foyer foyerid huishouden huishoudenid hogar "
	 "hogarid idhogar ",
	 false, false, 1.01, 8, "by its name a household: kanon_risk takes it as household"},
	{" stratum strata stratumid strataid samplingstratum samplestratum designstratum strate strates idstrate schicht schichtung "
	 "estrato ",
	 false, false, 5, INFINITY, "by its name a stratum of a survey, in which all rows were drawn alike"},
};

static const SurveyUse *
survey_use_by_name(const char *name, Oid base)
{
	bool number = base == INT2OID || base == INT4OID || base == INT8OID || base == FLOAT4OID ||
				  base == FLOAT8OID || base == NUMERICOID;
	StringInfoData word;

	initStringInfo(&word);
	appendStringInfoChar(&word, ' ');
	for (const char *c = name; *c != '\0'; c++)
		if (strchr("_ -.", *c) == NULL)
			appendStringInfoChar(&word, (char) pg_ascii_tolower((unsigned char) *c));
	appendStringInfoChar(&word, ' ');
	for (int i = 0; i < lengthof(survey_uses); i++)
		if (strstr(survey_uses[i].names, word.data) != NULL && (number || !survey_uses[i].number))
			return &survey_uses[i];
	return NULL;
}

/* ---- the one read ---- */

static void
note_sample(Suggest *suggest, const TupleTableSlot *slot)
{
	int64 place = suggest->rows;

	/* reservoir sampling, the same each time */
	if (place >= SUGGEST_SAMPLE)
		place = (int64) pg_prng_uint64_range(&suggest->random, 0, (uint64) place);
	if (place >= SUGGEST_SAMPLE)
		return;
	for (int c = 0; c < Min(suggest->source->nkept, SUGGEST_COMPARED); c++)
		suggest->columns[c].sample[place] =
			slot->tts_isnull[c] ? 0
								: datum_image_hash(slot->tts_values[c], suggest->columns[c].by_value,
												   suggest->columns[c].length);
}

static bool
has_fraction(Oid base, Datum value)
{
	if (base == FLOAT4OID)
		return DatumGetFloat4(value) != rintf(DatumGetFloat4(value));
	if (base == FLOAT8OID)
		return DatumGetFloat8(value) != rint(DatumGetFloat8(value));
	if (base != NUMERICOID || numeric_is_nan(DatumGetNumeric(value)) ||
		numeric_is_inf(DatumGetNumeric(value)))
		return false;
	return DatumGetInt32(DirectFunctionCall1(numeric_min_scale, value)) > 0;
}

static void
note_number(Suggestion *column, double number)
{
	column->least = fmin(column->least, number);
	column->most = fmax(column->most, number);
}

static bool
note_row(void *arg, TupleTableSlot *slot)
{
	Suggest *suggest = arg;
	MemoryContext before = MemoryContextSwitchTo(suggest->scratch);

	for (int c = 0; c < suggest->source->nkept; c++)
	{
		Suggestion *column = &suggest->columns[c];

		column->nulls += slot->tts_isnull[c];
		if (column->varlen && !slot->tts_isnull[c])
			column->bytes += (double) (toast_raw_datum_size(slot->tts_values[c]) - VARHDRSZ);
		if (column->survey != NULL && column->survey->number && !slot->tts_isnull[c] &&
			!(value_as_number(column->base, slot->tts_values[c]) > 0))
			column->survey = NULL;
		if (!column->fractions && !slot->tts_isnull[c])
			column->fractions = has_fraction(column->base, slot->tts_values[c]);
		if (type_is_number(column->base) && !slot->tts_isnull[c])
			note_number(column, value_as_number(column->base, slot->tts_values[c]));
	}
	kept_note(suggest->look, slot->tts_values, slot->tts_isnull, KEPT_NOBODY);
	note_sample(suggest, slot);
	suggest->rows++;
	MemoryContextSwitchTo(before);
	MemoryContextReset(suggest->scratch);
	return true;
}

static void
read_all(Suggest *suggest)
{
	const Source *source = suggest->source;
	Gate *gate = gate_create(source->name, source->relid, source->nkept);

	gate_columns(gate, source->kept, source->nkept);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), source->name),
				true, note_row, suggest);
	for (int c = 0; c < source->nkept; c++)
		suggest->columns[c].figures = kept_figures(suggest->look, c);
}

/* ---- which column tells which ---- */

static int
compare_pairs(const void *a, const void *b)
{
	uint64 left = *(const uint64 *) a;
	uint64 right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/*
 * Reads n pairs in order, each of a value of the one column (its high half) and of the
 * other: rows in which the other one is right when guessed from the one; how many
 * values the one has.
 */
static int
guessed(const uint64 *pairs, int n, int *distinct)
{
	int right = 0, best = 0, run = 0;

	*distinct = 0;
	for (int i = 0; i < n; i++)
	{
		bool other = i == 0 || pairs[i] >> 32 != pairs[i - 1] >> 32;

		if (other)
		{
			right += best;
			best = 0;
			(*distinct)++;
		}
		run = other || pairs[i] != pairs[i - 1] ? 1 : run + 1;
		best = Max(best, run);
	}
	return right + best;
}

/* Says whether column a tells column b. */
static void
compare_columns(Suggestion *a, const Suggestion *b, int n, uint64 *pairs)
{
	int right, plain, distinct, values;

	for (int i = 0; i < n; i++)
		pairs[i] = b->sample[i];
	qsort(pairs, n, sizeof(uint64), compare_pairs);
	plain = guessed(pairs, n, &values); /* without knowing anything */
	for (int i = 0; i < n; i++)
		pairs[i] = (uint64) a->sample[i] << 32 | b->sample[i];
	qsort(pairs, n, sizeof(uint64), compare_pairs);
	right = guessed(pairs, n, &distinct);
	/* from values that nearly every row has for itself anything could be guessed */
	if (plain == n || distinct > n / 5 || (double) (right - plain) < TELLS * (n - plain))
		return;
	a->tells[a->ntells++] = b->column->name;
}

static void
compare_all(Suggest *suggest)
{
	int n = (int) Min(suggest->rows, SUGGEST_SAMPLE);
	int ncolumns = Min(suggest->source->nkept, SUGGEST_COMPARED);
	uint64 *pairs = palloc(sizeof(uint64) * Max(n, 1));

	for (int a = 0; a < ncolumns; a++)
		for (int b = 0; b < ncolumns; b++)
		{
			CHECK_FOR_INTERRUPTS();
			if (a != b)
				compare_columns(&suggest->columns[a], &suggest->columns[b], n, pairs);
		}
}

/* ---- roles ---- */

/* The first that decides is right. */
static void
decide(Suggestion *s, ColumnRole role, const char *why)
{
	if (s->role != ROLE_NONE)
		return;
	s->role = role;
	s->why = why;
}

static void
decide_by_label(Suggestion *s, Oid relid)
{
	AttrNumber attnum = get_attnum(relid, s->column->name);
	LabelledRole label = label_role(relid, attnum);

	if (label_identifies(relid, attnum))
		decide(s, ROLE_IDENTIFIER, "labelled so, here or below a view");
	else if (label.quasi_identifier || !isnan(label.weight))
		decide(s, ROLE_QUASI_IDENTIFIER, "labelled so");
	else if (label.sensitive)
		decide(s, ROLE_SENSITIVE, "labelled so");
	else if (label.keep)
		decide(s, ROLE_HARMLESS, "labelled to be kept");
}

/* Numbers that differ in nearly every row, without large gaps, number the rows; others may be an income. */
static bool
numbers_rows(const Suggestion *s)
{
	return s->figures.identifies && !s->fractions &&
		   s->figures.distinct >= RUNNING * (s->most - s->least + 1);
}

/* A measure, a date or a number is coarsened, not left out. */
static bool
is_measured(const Suggestion *s, char category)
{
	return s->fractions || category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN ||
		   type_is_number(s->base);
}

/* Signs in the values, whatever the column is called. */
static void
decide_by_values(Suggestion *s, int64 rows, const ColumnValues *values, char category)
{
	double with_value = (double) (rows - s->nulls);
	double length = with_value > 0 ? s->bytes / with_value : 0;

	if (category == TYPCATEGORY_COMPOSITE || s->base == JSONOID || s->base == XMLOID)
		decide(s, ROLE_IDENTIFIER, "its type can hold anything");
	/* a column without values tells nothing of those that it may have tomorrow */
	if (rows > 1 && s->nulls == 0 && s->figures.distinct == 1)
		decide(s, ROLE_HARMLESS, "the same value in every row");
	if (s->base == JSONBOID || s->base == BYTEAOID)
		decide(s, ROLE_IDENTIFIER, "its type can hold anything");
	if (values->coarse)
		return;
	if (s->figures.identifies && !is_measured(s, category))
		decide(s, ROLE_IDENTIFIER, "nearly every row has a value of its own");
	/* in few rows, too; texts that many rows share are answers of a list */
	if (s->varlen && with_value > 1 && length >= FREE_TEXT &&
		with_value < FEW_ROWS_A_VALUE * s->figures.distinct)
		decide(s, ROLE_IDENTIFIER, "long text, which may name persons");
}

static void
decide_by_type(Suggestion *s, const ColumnValues *values, char category)
{
	double with_value = values->distinct > 0 ? s->figures.rows / values->distinct : 0;

	if (category == TYPCATEGORY_DATETIME)
		decide(s, ROLE_QUASI_IDENTIFIER, "when something happened can be known");
	if (category == TYPCATEGORY_NETWORK || category == TYPCATEGORY_GEOMETRIC)
		decide(s, ROLE_QUASI_IDENTIFIER, "where somebody was can be known");
	if (numbers_rows(s) && !values->coarse)
		decide(s, ROLE_IDENTIFIER, "a number for each row, without large gaps");
	if (values->few && !values->coarse && (s->varlen || s->base == UUIDOID))
		decide(s, ROLE_IDENTIFIER,
			   psprintf("%.1f rows share a value on the average, as with a name or number of persons",
						with_value));
	s->known = s->role == ROLE_QUASI_IDENTIFIER;
	decide(s, ROLE_QUASI_IDENTIFIER, "nothing says that attackers cannot know it");
}

/* A date or measure as fine as that is refused as it is; what makes it coarse is said. */
static void
say_remedy(Suggestion *s, char category)
{
	if (!s->figures.identifies || s->role == ROLE_IDENTIFIER)
		return;
	if (category == TYPCATEGORY_DATETIME)
		s->why = psprintf("%s; nearly every row has its own: a hierarchy of dates makes it coarse", s->why);
	else if (is_measured(s, category))
		s->why =
			psprintf("%s; nearly every row has its own: a hierarchy of intervals, or a mask that rounds, "
					 "makes it coarse",
					 s->why);
}

/* A column's part in a survey is told beside the role, which it does not change. */
static void
say_survey(Suggestion *s, double with_value)
{
	if (s->survey != NULL && s->figures.distinct > 1 &&
		with_value >= s->survey->least * s->figures.distinct &&
		with_value <= s->survey->most * s->figures.distinct &&
		(!s->survey->doubtful || (s->fractions && (double) s->nulls <= MOST_NULLS * with_value)))
		s->why = psprintf("%s; %s", s->why, s->survey->use);
}

static void
find_role(Suggest *suggest, Suggestion *s)
{
	int64 rows = suggest->rows;
	double with_value = (double) (rows - s->nulls);
	const char *why;
	char category;
	bool preferred;
	ColumnRole role;
	ColumnValues values = {.distinct = s->figures.distinct};

	get_type_category_preferred(s->base, &category, &preferred);
	values.few = values_are_few(with_value, s->figures.distinct);
	values.texts = category == TYPCATEGORY_STRING;
	values.coarse = category == TYPCATEGORY_BOOLEAN || category == TYPCATEGORY_ENUM ||
					(s->figures.distinct > 0 && s->figures.distinct <= COARSE_VALUES &&
					 with_value >= COARSE_ROWS * s->figures.distinct);
	values.flag = values.coarse && s->figures.distinct == 2;
	decide_by_label(s, suggest->source->relid);
	decide_by_values(s, rows, &values, category);
	role = role_by_name(s->column->name, &values, &why);
	decide(s, role, why);
	decide_by_type(s, &values, category);
	say_remedy(s, category);
	say_survey(s, with_value);
}

/* ---- the answer ---- */

static void
put_suggestion(Lines *lines, const Suggest *suggest, const Suggestion *s)
{
	line_name(lines, s->column->name);
	line_text(lines, role_name(s->role));
	line_text(lines, s->why);
	line_text(lines, format_type_with_typemod(s->column->type, s->column->typmod));
	line_int8(lines, (int64) rint(s->figures.distinct), true);
	line_float8(lines, s->figures.own, suggest->rows != s->nulls);
	line_int8(lines, s->nulls, true);
	line_value(lines, PointerGetDatum(name_list(s->tells, s->ntells)), s->ntells > 0);
	line_text(lines,
			  psprintf("SELECT %s(%s, %s, '%s');", suggest->label, quote_literal_cstr(suggest->source->name),
					   quote_literal_cstr(s->column->name), role_label(s->role)));
	line_end(lines);
}

static void
open_column(Suggestion *s, const SourceColumn *column)
{
	s->column = column;
	s->base = getBaseType(column->type);
	get_typlenbyval(column->type, &s->length, &s->by_value);
	s->varlen = s->length == -1 && (s->base == TEXTOID || s->base == VARCHAROID || s->base == BPCHAROID);
	s->sample = palloc(sizeof(uint32) * SUGGEST_SAMPLE);
	s->role = ROLE_NONE;
	s->least = INFINITY;
	s->most = -INFINITY;
	s->survey = survey_use_by_name(column->name, s->base);
	s->equality = lookup_type_cache(column->type, TYPECACHE_EQ_OPR)->eq_opr;
}

Suggest *
suggest_read(Oid relid, Border *border)
{
	Suggest *suggest = palloc0(sizeof(Suggest));

	suggest->source = source_open_all(relid);
	suggest->columns = palloc0(sizeof(Suggestion) * Max(suggest->source->nkept, 1));
	for (int c = 0; c < suggest->source->nkept; c++)
		open_column(&suggest->columns[c], &suggest->source->kept[c]);
	suggest->look = kept_begin(suggest->source, -1, 0, border);
	suggest->scratch = AllocSetContextCreate(border->context, "kanon rows", ALLOCSET_DEFAULT_SIZES);
	pg_prng_seed(&suggest->random, 1);
	source_snapshot(suggest->source);
	if (suggest->look != NULL)
		read_all(suggest);
	for (int c = 0; c < suggest->source->nkept; c++)
		find_role(suggest, &suggest->columns[c]);
	return suggest;
}

/* kanon_suggest(relation regclass) */
Datum
kanon_suggest(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Suggest *suggest;
	Border *border;

	refuse_null(fcinfo, 0, "relation", "Name a table or view.");
	lines = lines_begin(fcinfo);
	SPI_connect();
	border = border_create("kanon_suggest");
	suggest = suggest_read(PG_GETARG_OID(0), border);
	suggest->label = quote_qualified_identifier(
		get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)), "kanon_label");
	compare_all(suggest);
	for (int c = 0; c < suggest->source->nkept; c++)
		put_suggestion(lines, suggest, &suggest->columns[c]);
	MemoryContextDelete(border->context);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
