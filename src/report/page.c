/*
 * page.c: kanon_page: a document as a page that needs neither psql nor the network.
 * The look of the pages is in *.html and style.css, which the Makefile makes strings
 * of.
 */
#include "compat.h"
#include "report/template.h"
#include "run/request.h"
#include "assess/assess.h"

#include "utils/builtins.h"

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

/* Which page a document is for: only that of kanon_explore has series. */
static const char *
template_of(Jsonb *document)
{
	JsonbValue value;

	if (!JB_ROOT_IS_OBJECT(document))
		return report;
	return getKeyJsonValueFromContainer(&document->root, "series", strlen("series"), &value) != NULL ? explore
																									 : report;
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
