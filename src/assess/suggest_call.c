/*
 * suggest_call.c: kanon_suggest_call: a call that publishes a relation by the roles that kanon_suggest finds.
 *
 * The call is a beginning that runs: quasi-identifiers with a hierarchy each that the builders know, what is kept of the
 * others, masks for measures.  Identifiers stay out.  Comments say why.
 */
#include "compat.h"
#include "assess/suggest.h"
#include "host/border.h"
#include "options/request.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_suggest_call);

enum
{
	ARG_RELATION,
	ARG_TARGET,
	ARG_K,
	ARG_LINKED
};

/* With more quasi-identifiers nearly everything would be blank: an attacker is taken to know so many of them. */
#define MOST_QIS 10
#define KNOWN 3

/* Numbers with so many values, or fewer, need no ranges. */
#define FEW_VALUES 12

/* The finest ranges and roundings leave so many rows a value on the average, at least. */
#define ROWS_A_STEP 20

/* The finest ranges are so many. */
#define FINEST_RANGES 16

static bool
is_called(const Suggestion *s, const char *const *words)
{
	for (; *words != NULL; words++)
		if (pg_strcasecmp(s->column->name, *words) == 0)
			return true;
	return false;
}

/* The least of 1, 2, 5, 10, … that is not below a number; of whole numbers a whole one. */
static double
nice_step(double least, bool whole)
{
	double power = pow(10, floor(log10(least)));
	double step = least <= power       ? power
				  : least <= 2 * power ? 2 * power
				  : least <= 5 * power ? 5 * power
									   : 10 * power;

	return whole ? Max(step, 1) : step;
}

static const char *
number_text(double number)
{
	return number >= 1 && number < 1e15 ? psprintf("%.0f", number) : psprintf("%g", number);
}

static bool
is_whole(const Suggestion *s)
{
	return s->base == INT2OID || s->base == INT4OID || s->base == INT8OID;
}

/* A ZIP code. */
static bool
has_prefix(const Suggestion *s)
{
	static const char *const zips[] = {"zip", "zipcode",      "zip_code",      "postcode", "postal_code",
									   "plz", "postleitzahl", "codigo_postal", "cp",       "code_postal",
									   NULL};

	return is_called(s, zips) && (s->varlen || is_whole(s));
}

/* Hardly any row shares it, but rows share what the builder makes of it; a label says otherwise. */
static bool
is_coarse(const Suggestion *s)
{
	return s->role == ROLE_IDENTIFIER && s->figures.identifies && has_prefix(s) &&
		   strncmp(s->why, "labelled", 8) != 0;
}

/* A builder for a quasi-identifier, as JSON; NULL: it is shown or not. */
static const char *
builder_for(const Suggestion *s, double rows)
{
	static const char *const ages[] = {"age", "alter", "edad", "âge", "age_years", "ageyears", NULL};
	static const char *const codes[] = {"icd", "icd10", "icd_code", "diagnosis_code", NULL};
	static const char *const countries[] = {"country", "country_code", "nationality", "land", "pays", NULL};
	double width;

	if (s->base == DATEOID || s->base == TIMESTAMPOID || s->base == TIMESTAMPTZOID)
		return "{\"calendar\": true}";
	if (s->base == INETOID || s->base == CIDROID)
		return "{\"prefix\": [24, 16]}";
	if (is_called(s, ages) && is_whole(s) && s->least >= 0 && s->most <= 130)
		return "{\"age\": true}";
	if (has_prefix(s))
		return "{\"prefix\": [3, 2, 1]}";
	if (s->varlen && is_called(s, codes))
		return "{\"icd10\": true}";
	if (s->varlen && is_called(s, countries) && s->bytes <= 3 * (rows - (double) s->nulls))
		return "{\"iso3166\": true}";
	if (!type_is_number(s->base) || s->figures.distinct <= FEW_VALUES || !(s->most > s->least) ||
		isinf(s->most - s->least))
		return NULL;
	width = nice_step((s->most - s->least) / FINEST_RANGES, is_whole(s));
	return psprintf("{\"interval\": [%s, %s, %s]}", number_text(width), number_text(2 * width),
					number_text(8 * width));
}

/* A mask for a kept measure of which few rows share a value; NULL: it is kept as it is. */
static const char *
mask_for(const Suggestion *s, double rows)
{
	double with_value = rows - (double) s->nulls;

	if (!type_is_number(s->base) || with_value >= ROWS_A_STEP * s->figures.distinct ||
		s->figures.distinct <= FEW_VALUES || !(s->most > s->least) || isinf(s->most - s->least))
		return NULL;
	return psprintf(
		"{\"round\": %s, \"top\": 0.99}",
		number_text(nice_step((s->most - s->least) * Min(ROWS_A_STEP / with_value, 0.25), is_whole(s))));
}

/* May it be kept, masked or not?  Texts and times that few rows share are not. */
static bool
may_be_kept(const Suggestion *s, double rows)
{
	if (s->role != ROLE_SENSITIVE && s->role != ROLE_HARMLESS)
		return false;
	return type_is_number(s->base) || (!s->figures.identifies && !s->varlen) ||
		   (s->varlen && rows - (double) s->nulls >= FEW_ROWS_A_VALUE * s->figures.distinct);
}

/* Facts that the name or type says others know come first, in the order of the table; then the others, the coarser first. */
static int
compare_columns(const void *a, const void *b)
{
	const Suggestion *left = *(Suggestion *const *) a, *right = *(Suggestion *const *) b;

	if (left->known != right->known)
		return left->known ? -1 : 1;
	if (!left->known && left->figures.distinct != right->figures.distinct)
		return left->figures.distinct < right->figures.distinct ? -1 : 1;
	return left < right ? -1 : left > right;
}

static void
append_quoted(StringInfo list, const char *element)
{
	appendStringInfo(list, "%s%s", list->len > 0 ? "," : "", element);
}

/* As an element of '{…}'. */
static const char *
array_element(const char *name)
{
	StringInfoData quoted;

	initStringInfo(&quoted);
	appendStringInfoChar(&quoted, '"');
	for (const char *c = name; *c != '\0'; c++)
		appendStringInfo(&quoted, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
	appendStringInfoChar(&quoted, '"');
	return quoted.data;
}

static void
append_pair(StringInfo object, const char *name, const char *value)
{
	StringInfoData key;

	initStringInfo(&key);
	escape_json(&key, name);
	appendStringInfo(object, "%s%s: %s", object->len > 0 ? ", " : "", key.data, value);
}

void
suggest_begin(SuggestedCall *call)
{
	call->nqis = 0;
	call->known = false;
	initStringInfo(&call->qis);
	initStringInfo(&call->keep);
	initStringInfo(&call->masks);
	initStringInfo(&call->hierarchies);
	initStringInfo(&call->out);
}

static bool
is_skipped(const List *skipped, const char *name)
{
	const ListCell *cell;

	foreach (cell, skipped)
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	return false;
}

void
suggest_collect(SuggestedCall *call, Suggest *suggest, const List *skipped)
{
	int n = suggest->source->nkept;
	Suggestion **qi = palloc(sizeof(Suggestion *) * Max(n, 1));
	double rows = (double) suggest->rows;

	for (int c = 0; c < n; c++)
	{
		Suggestion *s = &suggest->columns[c];

		if (is_skipped(skipped, s->column->name))
			continue;
		if ((s->role == ROLE_QUASI_IDENTIFIER || (call->known && is_coarse(s))) && OidIsValid(s->equality))
			qi[call->nqis++] = s;
		else if (may_be_kept(s, rows) && !spelling_unknown(s->column))
		{
			const char *mask = mask_for(s, rows);

			append_quoted(&call->keep, array_element(s->column->name));
			if (mask != NULL)
				append_pair(&call->masks, s->column->name, mask);
		}
		else
			appendStringInfo(&call->out, "%s%s", call->out.len > 0 ? ", " : "", s->column->quoted);
	}
	qsort(qi, call->nqis, sizeof(Suggestion *), compare_columns);
	call->nqis = Min(call->nqis, KANON_MAX_QIS);
	for (int i = 0; i < call->nqis; i++)
	{
		const char *builder = builder_for(qi[i], rows);

		append_quoted(&call->qis, array_element(qi[i]->column->name));
		if (builder != NULL)
			append_pair(&call->hierarchies, qi[i]->column->name, builder);
	}
}

static char *
write_call(const SuggestedCall *call, const Suggest *suggest, const char *schema, const char *target, int64 k)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(
		&text,
		"-- a beginning: look at each column, with somebody who knows the data\n"
		"-- k = " INT64_FORMAT
		": 5 is common for tables among colleagues, 11 and more for health data that leave the house\n",
		k);
	if (call->out.len > 0)
		appendStringInfo(
			&text, "-- left out, for it identifies, can hold anything, or few rows share its values: %s\n",
			call->out.data);
	if (call->nqis == 0)
	{
		appendStringInfoString(
			&text,
			"-- no column is a quasi-identifier by its name, type or values: name those that others know\n");
		return text.data;
	}
	if (call->nqis > MOST_QIS)
		appendStringInfo(
			&text, "-- %d quasi-identifiers: kanon protects against somebody who knows any %d of them\n",
			call->nqis, KNOWN);
	appendStringInfo(&text, "SELECT * FROM %s(%s, %s,\n    %s, " INT64_FORMAT,
					 quote_qualified_identifier(schema, "kanon_pattern_guided"),
					 quote_literal_cstr(suggest->source->name), quote_literal_cstr(target),
					 quote_literal_cstr(psprintf("{%s}", call->qis.data)), k);
	if (call->nqis > MOST_QIS)
		appendStringInfo(&text, ",\n    known_columns => %d", KNOWN);
	if (call->keep.len > 0)
		appendStringInfo(&text, ",\n    keep => %s", quote_literal_cstr(psprintf("{%s}", call->keep.data)));
	if (call->masks.len > 0)
		appendStringInfo(&text, ",\n    mask => %s", quote_literal_cstr(psprintf("{%s}", call->masks.data)));
	if (call->hierarchies.len > 0)
		appendStringInfo(&text, ",\n    hierarchies => %s",
						 quote_literal_cstr(psprintf("{%s}", call->hierarchies.data)));
	appendStringInfoString(&text, ");");
	return text.data;
}

/* kanon_suggest_call(relation regclass, target text, k bigint, linked boolean) */
Datum
kanon_suggest_call(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	Border *border;
	Suggest *suggest;
	SuggestedCall call;
	char *target, *words, *schema;
	int64 k;

	refuse_null(fcinfo, ARG_RELATION, "relation", "Name a table or view.");
	k = k_arg(fcinfo, ARG_K, 2, "5 is common.");
	schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	if (bool_arg(fcinfo, ARG_LINKED, "linked"))
		PG_RETURN_TEXT_P(suggest_linked(
			PG_GETARG_OID(ARG_RELATION),
			PG_ARGISNULL(ARG_TARGET) ? NULL : TextDatumGetCString(PG_GETARG_DATUM(ARG_TARGET)), k, schema));
	target =
		PG_ARGISNULL(ARG_TARGET)
			? quote_qualified_identifier(get_namespace_name(get_rel_namespace(PG_GETARG_OID(ARG_RELATION))),
										 psprintf("%.50s_public", get_rel_name(PG_GETARG_OID(ARG_RELATION))))
			: TextDatumGetCString(PG_GETARG_DATUM(ARG_TARGET));
	SPI_connect();
	border = border_create("kanon_suggest_call");
	suggest = suggest_read(PG_GETARG_OID(ARG_RELATION), border);
	suggest_begin(&call);
	suggest_collect(&call, suggest, NIL);
	words = MemoryContextStrdup(caller, write_call(&call, suggest, schema, target, k));
	MemoryContextDelete(border->context);
	PopActiveSnapshot();
	SPI_finish();
	PG_RETURN_TEXT_P(cstring_to_text(words));
}
