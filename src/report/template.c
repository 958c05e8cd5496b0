/*
 * template.c: puts a document into a template, as in Mustache (mustache.github.io/mustache.5.html):
 *
 *   {{name}}              text, escaped: there is no way to write markup from a document
 *   {{#name}} … {{/name}} for each element of an array; once for anything else that is there
 *   {{^name}} … {{/name}} where it is null, false, or an empty array
 *   {{.}}                 the element itself; {{name.inner}} what is inside
 *
 * and, beyond it, numbers as people read them, with their place in the document and
 * their value, so that a page can be checked:
 *
 *   {{count name}}  1,234        {{share name}}  7.3 %, of 0.0734
 *   {{risk name}} 7.4 %, rounded up
 *   {{number name}} 0.0734       {{time name}}   2.3 s, of milliseconds
 *
 *   <data data-of='measures.3.value' value='4398'>4,398</data>
 *
 * A name is looked for in the innermost section first, then outwards.  One that is
 * nowhere is an error: a document has null for what it does not say.
 *
 * All text of a document goes through append_text, which escapes it.
 */
#include "compat.h"
#include "options/request.h"
#include "assess/assess.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

/* The text where a figure is not defined. */
#define NOTHING "n/a"

/* Sections in sections. */
#define MOST_DEPTH 16

/* A section's topic, and its place in the document. */
typedef struct Scope
{
	const JsonbValue *value;
	const char *place;
} Scope;

typedef struct Filling
{
	StringInfo page;
	Scope scopes[MOST_DEPTH];
	int depth;
} Filling;

/* ---- text and numbers ---- */

/* One character reference for each character beyond ASCII. */
static void
append_other(StringInfo page, const unsigned char *utf8, int length)
{
	pg_wchar c = utf8_to_unicode(utf8);

	/* HTML has no name for control characters; a lone byte is none either */
	if (length == 1 || (c >= 0x80 && c < 0xa0))
		appendStringInfoString(page, "&#xfffd;");
	else
		appendStringInfo(page, "&#x%x;", (unsigned int) c);
}

static void
append_text(StringInfo page, const char *text)
{
	int length = strlen(text);
	const char *utf8 = text;

	/* bytes of a database without an encoding mean nothing that could be shown */
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		utf8 = pg_server_to_any(text, length, PG_UTF8);
	for (const unsigned char *p = (const unsigned char *) utf8; *p != '\0';)
	{
		switch (*p)
		{
			case '&':
				appendStringInfoString(page, "&amp;");
				break;
			case '<':
				appendStringInfoString(page, "&lt;");
				break;
			case '>':
				appendStringInfoString(page, "&gt;");
				break;
			case '"':
				appendStringInfoString(page, "&quot;");
				break;
			case '\'':
				appendStringInfoString(page, "&#39;");
				break;
			default:
				if (*p >= 0x80)
				{
					int n = GetDatabaseEncoding() == PG_SQL_ASCII ? 1 : pg_utf_mblen(p);

					append_other(page, p, n);
					p += n;
					continue;
				}
				if ((*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
					appendStringInfoString(page, "&#xfffd;");
				else
					appendStringInfoCharMacro(page, (char) *p);
		}
		p++;
	}
}

static void
append_count(StringInfo page, int64 count)
{
	char digits[32];
	int n = pg_snprintf(digits, sizeof(digits), UINT64_FORMAT, count < 0 ? -(uint64) count : (uint64) count);

	if (count < 0)
		appendStringInfoString(page, "&minus;");
	for (int i = 0; i < n; i++)
	{
		appendStringInfoChar(page, digits[i]);
		if (i < n - 1 && (n - 1 - i) % 3 == 0)
			appendStringInfoChar(page, ',');
	}
}

/* Three digits that count, and no end of zeros; from 1,000 on whole. */
static void
append_number(StringInfo page, double number)
{
	if (fabs(number) < 1e15 && (fabs(number) >= 999.5 || number == rint(number)))
		append_count(page, (int64) rint(number));
	else
		appendStringInfo(page, "%.3g", number);
}

/* A risk is never told lower than it is. */
static void
append_risk(StringInfo page, double risk)
{
	double percent = ceil(risk * 1000 - 1e-9) / 10;

	if (risk <= 0 || percent >= 100)
		appendStringInfo(page, "%d&#8239;%%", risk <= 0 ? 0 : 100);
	else
		appendStringInfo(page, "%.1f&#8239;%%", percent);
}

/* A share above nothing never shows as 0 %, and a share below all never as 100 %. */
static void
append_share(StringInfo page, double share)
{
	if (share > 0 && share < 0.0005)
		appendStringInfoString(page, "&lt;&#8239;0.1&#8239;%");
	else if (share < 1 - 1e-12 && share >= 0.9995)
		appendStringInfoString(page, "&gt;&#8239;99.9&#8239;%");
	else if (share == 0 || fabs(share - 1) < 1e-12)
		appendStringInfo(page, "%.0f&#8239;%%", share * 100);
	else
		appendStringInfo(page, "%.1f&#8239;%%", share * 100);
}

static void
append_time(StringInfo page, double ms)
{
	if (ms >= 120000)
		appendStringInfo(page, "%.1f min", ms / 60000);
	else if (ms >= 1000)
		appendStringInfo(page, "%.1f s", ms / 1000);
	else
		appendStringInfo(page, ms < 10 ? "%.1f ms" : "%.0f ms", ms);
}

/* ---- looking up ---- */

pg_noreturn static void
raise_unfit(const char *what, const char *name)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the document does not fit the page"),
					errdetail("%s: %s", what, name), errhint("It is what kanon_report_data returns.")));
}

/* An object's member of that name, or NULL. */
static const JsonbValue *
member(const JsonbValue *object, const char *name, int length)
{
	if (object->type != jbvBinary || !JsonContainerIsObject(object->val.binary.data))
		return NULL;
	return getKeyJsonValueFromContainer(object->val.binary.data, name, length, NULL);
}

/* A name with dots, from the innermost scope that knows how it begins. */
static Scope
look_up(const Filling *filling, const char *name)
{
	Scope found = filling->scopes[filling->depth - 1];
	int length = strcspn(name, ".");

	if (strcmp(name, ".") == 0)
		return found;
	for (int i = filling->depth - 1; i >= 0; i--)
	{
		found.value = member(filling->scopes[i].value, name, length);
		found.place = filling->scopes[i].place;
		if (found.value != NULL)
			break;
	}
	if (found.value == NULL)
		raise_unfit("it lacks", name);
	found.place = psprintf("%s%s%s", found.place, *found.place != '\0' ? "." : "", name);
	for (const char *rest = name + length; *rest == '.' && found.value->type != jbvNull; rest += length)
	{
		rest++;
		length = strcspn(rest, ".");
		found.value = member(found.value, rest, length);
		if (found.value == NULL)
			raise_unfit("it lacks", name);
	}
	return found;
}

static bool
is_array(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data);
}

static bool
says_something(const JsonbValue *value)
{
	return !(value->type == jbvNull || (value->type == jbvBool && !value->val.boolean) ||
			 (is_array(value) && JsonContainerSize(value->val.binary.data) == 0));
}

/* A scalar's text; NULL for null. */
static char *
text_of(const JsonbValue *value, const char *name)
{
	switch ((int) value->type)
	{
		case jbvNull:
			return NULL;
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return numeric_normalize(value->val.numeric);
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		default:
			raise_unfit("it has more than a value", name);
	}
}

/* ---- filling in ---- */

static void
put_number(Filling *filling, const char *kind, const char *name)
{
	Scope scope = look_up(filling, name);
	char *text = text_of(scope.value, name);
	double number = text == NULL ? NAN : strtod(text, NULL);

	appendStringInfoString(filling->page, "<data data-of='");
	append_text(filling->page, scope.place);
	appendStringInfoString(filling->page, "' value='");
	if (text != NULL)
		append_text(filling->page, text);
	appendStringInfoString(filling->page, "'>");
	if (!isfinite(number))
		appendStringInfoString(filling->page, NOTHING);
	else if (strcmp(kind, "count") == 0)
		append_number(filling->page, rint(number));
	else if (strcmp(kind, "share") == 0)
		append_share(filling->page, number);
	else if (strcmp(kind, "risk") == 0)
		append_risk(filling->page, number);
	else if (strcmp(kind, "time") == 0)
		append_time(filling->page, number);
	else if (strcmp(kind, "number") == 0 && fabs(number) < 9999.5 && number >= 999.5)
		/* a year has no comma */
		appendStringInfo(filling->page, "%.0f", number);
	else if (strcmp(kind, "number") == 0)
		append_number(filling->page, number);
	else
		elog(ERROR, "a template does not know how to write a %s", kind);
	appendStringInfoString(filling->page, "</data>");
}

static void
put_tag(Filling *filling, const char *tag)
{
	const char *blank = strchr(tag, ' ');

	if (blank != NULL)
		put_number(filling, pnstrdup(tag, blank - tag), blank + 1);
	else
	{
		char *text = text_of(look_up(filling, tag).value, tag);

		if (text != NULL)
			append_text(filling->page, text);
	}
}

/* Where the next tag is, and what it says; NULL: there is none before the end. */
static const char *
next_tag(const char *from, const char *end, char **tag, const char **after)
{
	const char *open = from;

	while (open + 1 < end && !(open[0] == '{' && open[1] == '{'))
		open++;
	if (open + 1 >= end)
		return NULL;
	*after = strstr(open, "}}");
	if (*after == NULL)
		elog(ERROR, "a tag of a template has no end");
	*tag = pnstrdup(open + 2, *after - open - 2);
	*after += 2;
	return open;
}

/* The end of the section that begins here: its closing tag, and what comes after it. */
static const char *
section_end(const char *from, const char *end, const char *name, const char **after)
{
	int depth = 1;
	char *tag;

	for (const char *open; (open = next_tag(from, end, &tag, after)) != NULL; from = *after)
	{
		if (*tag == '/' && --depth == 0)
		{
			if (strcmp(tag + 1, name) != 0)
				break;
			return open;
		}
		depth += *tag == '#' || *tag == '^';
	}
	elog(ERROR, "section %s of a template has no end", name);
}

static void fill(Filling *filling, const char *from, const char *end);

static void
fill_inside(Filling *filling, Scope scope, const char *from, const char *end)
{
	if (filling->depth == MOST_DEPTH)
		elog(ERROR, "sections of a template are too deep");
	filling->scopes[filling->depth++] = scope;
	fill(filling, from, end);
	filling->depth--;
}

static void
put_section(Filling *filling, const char *tag, const char *from, const char *end)
{
	Scope scope = look_up(filling, tag + 1);
	bool some = says_something(scope.value);

	if (*tag == '^')
	{
		if (!some)
			fill(filling, from, end);
	}
	else if (some && is_array(scope.value))
	{
		JsonbContainer *array = scope.value->val.binary.data;

		for (uint32 i = 0; i < JsonContainerSize(array); i++)
		{
			CHECK_FOR_INTERRUPTS();
			fill_inside(filling,
						(Scope){getIthJsonbValueFromContainer(array, i), psprintf("%s.%u", scope.place, i)},
						from, end);
		}
	}
	else if (some)
		fill_inside(filling, scope, from, end);
}

static void
fill(Filling *filling, const char *from, const char *end)
{
	const char *after;
	char *tag;

	for (const char *open; (open = next_tag(from, end, &tag, &after)) != NULL; from = after)
	{
		appendBinaryStringInfo(filling->page, from, open - from);
		if (*tag == '#' || *tag == '^')
		{
			const char *inside = after;
			const char *close = section_end(inside, end, tag + 1, &after);

			put_section(filling, tag, inside, close);
		}
		else
			put_tag(filling, tag);
	}
	appendBinaryStringInfo(filling->page, from, end - from);
}

/* ASCII, whatever the encodings of database and client: other characters are references. */
static void
template_fill(StringInfo page, const char *template, Jsonb *document)
{
	JsonbValue root = {.type = jbvBinary, .val.binary = {VARSIZE(document) - VARHDRSZ, &document->root}};
	Filling filling = {.page = page, .scopes = {{&root, ""}}, .depth = 1};

	fill(&filling, template, template + strlen(template));
}

/*
 * ---- Kanon_page: a document as a page that needs neither psql nor the network.
 * The look of the pages is in *.html and style.css, which the Makefile makes strings
 * of.
 */

PG_FUNCTION_INFO_V1(kanon_page);
PG_FUNCTION_INFO_V1(kanon_page_asked);

static const char style[] =
#include "report/style.css.h"
	;

static const char report[] =
#include "report/report.html.h"
	;

static const char explore[] =
#include "report/explore.html.h"
	;

static const char budget[] =
#include "report/budget.html.h"
	;

/* Which page a document is for: only that of kanon_explore has series, only that of a budget is of one. */
static const char *
template_of(Jsonb *document)
{
	JsonbValue value;

	if (!JB_ROOT_IS_OBJECT(document))
		return report;
	if (getKeyJsonValueFromContainer(&document->root, "series", strlen("series"), &value) != NULL)
		return explore;
	if (getKeyJsonValueFromContainer(&document->root, "budget_of", strlen("budget_of"), &value) != NULL)
		return budget;
	return report;
}

/* kanon_page(document jsonb) */
Datum
kanon_page(PG_FUNCTION_ARGS)
{
	StringInfoData page;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no such run of yours"),
				 errhint("The view kanon_usefulness lists the runs that you or a role of yours made.")));
	initStringInfo(&page);
	appendStringInfo(&page,
					 "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>\n"
					 "<meta name='viewport' content='width=device-width,initial-scale=1'>\n"
					 "<meta name='color-scheme' content='light dark'>\n"
					 "<meta name='referrer' content='no-referrer'>\n"
					 "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; "
					 "style-src 'unsafe-inline'; img-src data:\">\n"
					 "<link rel='icon' href='data:,'>\n<style>\n%s</style>\n",
					 style);
	template_fill(&page, template_of(PG_GETARG_JSONB_P(0)), PG_GETARG_JSONB_P(0));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(page.data, page.len));
}

/*
 * kanon_page_asked(frontier bigint[], threshold float8, metadata jsonb, methods text[]): true, or raises
 * what is wrong with the arguments of functions in SQL, where it is called as these do.
 */
Datum
kanon_page_asked(PG_FUNCTION_ARGS)
{
	enum
	{
		ARG_FRONTIER,
		ARG_THRESHOLD,
		ARG_METADATA,
		ARG_METHODS
	};

	if (!PG_ARGISNULL(ARG_FRONTIER))
		frontier_check(PG_GETARG_ARRAYTYPE_P(ARG_FRONTIER), "frontier");
	(void) threshold_arg(fcinfo, ARG_THRESHOLD);
	if (!PG_ARGISNULL(ARG_METADATA) && !JB_ROOT_IS_OBJECT(PG_GETARG_JSONB_P(ARG_METADATA)))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("metadata must be a JSON object"),
						errhint("Write it like '{\"for whom\": \"Institute of Health\"}'.")));
	refuse_null(fcinfo, ARG_METHODS, "methods", "'{greedy}' is the default.");
	if (ARR_NDIM(PG_GETARG_ARRAYTYPE_P(ARG_METHODS)) == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("methods must not be empty"),
						errhint("'{greedy}' is the default.")));
	PG_RETURN_BOOL(true);
}
