/*
 * report.c: kanon_report: one run as a page that needs neither psql nor the
 * network.
 *
 * Everything comes from what was recorded when the run was made, through the
 * views that show a user the runs of the roles they belong to: the report reads
 * as its caller, and works when source and target are long gone.  Only a
 * frontier, when asked for, reads the source.
 */
#include "compat.h"
#include "report/report.h"
#include "host/catalog.h"
#include "report/style.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_report);

enum
{
	ARG_RUN,
	ARG_WITH_VALUES,
	ARG_FRONTIER
};

/* Everything up to the page's heading; `what` kind of release it is. */
void
put_style(Report *report, const char *what)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;

	html(
		page,
		"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>\n"
		"<meta name='viewport' content='width=device-width,initial-scale=1'>\n"
		"<meta name='color-scheme' content='light dark'>\n"
		"<meta name='referrer' content='no-referrer'>\n"
		"<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
		"<link rel='icon' href='data:,'>\n"
		"<title>%s: %s, run %d</title>\n<style>\n%h</style></head>\n<body><main>\n",
		value_of(run, 0, "target"), what, report->run, report_style);
}

static void
put_head(Report *report)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;

	put_style(report, "k-anonymous release");
	html(page,
		 "<header><p class='over'>Release report &middot; kanon %h &middot; run %h</p>\n"
		 "<h1>What was published as %s</h1>\n",
		 figure(run, 0, "version", TEXT), figure(run, 0, "run", TEXT), value_of(run, 0, "target"));
	html(page,
		 "<ul class='tiles'><li><b>%h</b><span>k: least rows that look alike</span></li>"
		 "<li><b>%h</b><span>rows published</span></li>"
		 "<li><b>%h</b><span>of their identifying cells left blank</span></li>",
		 figure(run, 0, "k", COUNT), figure(run, 0, "published_rows", COUNT),
		 figure(run, 0, "suppressed_share", SHARE));
	html(page,
		 "<li><b>%h &rarr; %h</b><span>rows that stand alone, before and after</span></li></ul></header>\n",
		 figure(report->risk, 0, "unique_rows", COUNT), figure(report->risk, 1, "unique_rows", COUNT));
	html(
		page,
		"<nav aria-label='Contents'><a href='#what'>What and how</a> <a href='#check'>Was k reached?</a> "
		"<a href='#risk'>Risk</a> <a href='#columns'>Loss by column</a> <a href='#patterns'>Patterns</a> "
		"<a href='#measures'>Measures</a> %h%h<a href='#limits'>Limits</a> <a href='#run'>The run</a></nav>\n",
		report->ks != (Datum) 0 ? "<a href='#frontier'>Other ks</a> " : "",
		report->with_values ? "<a href='#values'>Smallest classes</a> " : "");
}

static void
read_run(Report *report)
{
	/* the source of today by its name: only for its description and a frontier */
	report->run_row = select_rows(
		report, "kanon_usefulness",
		"SELECT u.*, u.row_count - u.dropped_rows AS published_rows,"
		" to_char(u.started_at AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' AS started,"
		" u.options ->> 'residual' AS residual, u.options ->> 'hierarchies' AS coarser,"
		" CASE WHEN jsonb_typeof(u.options -> 'patterns') = 'array'"
		"      THEN jsonb_array_length(u.options -> 'patterns') END AS listed,"
		" s.oid AS source_oid, obj_description(s.oid, 'pg_class') AS comment"
		" FROM {}.kanon_usefulness u LEFT JOIN LATERAL (SELECT c.oid FROM pg_class c"
		" JOIN pg_namespace n ON n.oid = c.relnamespace"
		" WHERE format('%I.%I', n.nspname, c.relname) = u.source) s ON true"
		" WHERE u.run = $1");
	if (report->run_row->n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no run " INT64_FORMAT " of yours", report->run),
				 errhint("The view kanon_usefulness lists the runs that you or a role of yours made.")));
	if (value_of(report->run_row, 0, "matches") != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("run " INT64_FORMAT " is a freeform release, which has no page", report->run),
			 errdetail("The page tells of classes, and such a release has none."),
			 errhint(
				 "kanon_usefulness and kanon_columns say what was lost, kanon_check_freeform what it keeps.")));
	report->kept =
		select_rows(report, "kept",
					"SELECT k.name FROM {}.kanon_usefulness u, unnest(u.kept) WITH ORDINALITY AS k (name, nr)"
					" WHERE u.run = $1 ORDER BY k.nr");
	if (value_of(report->run_row, 0, "transactions") != NULL)
		return;
	report->columns = select_rows(
		report, "kanon_columns",
		"SELECT c.*, col_description(a.attrelid, a.attnum) AS comment"
		" FROM {}.kanon_usefulness u JOIN {}.kanon_columns c USING (run)"
		" LEFT JOIN (pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace)"
		"   ON format('%I.%I', n.nspname, r.relname) = u.source"
		" LEFT JOIN pg_attribute a ON a.attrelid = r.oid AND a.attname = c.column_name AND a.attnum > 0"
		" WHERE u.run = $1 ORDER BY c.ordinal");
	report->risk = select_rows(report, "kanon_run_risk",
							   "SELECT * FROM {}.kanon_run_risk WHERE run = $1 ORDER BY stage");
	if (report->risk->n != 2)
		elog(ERROR, "the record of run " INT64_FORMAT " is not complete", report->run);
}

/* Of a release with classes; between catalog_path_begin and _end, which *nest is of. */
static void
put_classes(Report *report, int *nest)
{
	put_head(report);
	put_what(report);
	put_check(report);
	put_risk(report);
	put_columns(report);
	put_patterns(report);
	put_measures(report);
	catalog_path_end(*nest);
	/* reads the source, whose views may rely on the caller's search_path */
	put_frontier(report);
	*nest = catalog_path_begin();
	if (report->with_values)
		put_values(report);
	put_limits(report);
	put_details(report);
}

/* kanon_report(run bigint, with_values boolean, frontier bigint[]) */
Datum
kanon_report(PG_FUNCTION_ARGS)
{
	Report report = {0};
	MemoryContext caller = CurrentMemoryContext;
	text *result;
	int nest;

	if (PG_ARGISNULL(ARG_RUN))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("run must not be NULL"),
				 errhint("The view kanon_usefulness lists the runs that you or a role of yours made.")));
	if (PG_ARGISNULL(ARG_WITH_VALUES))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("with_values must not be NULL"),
						errhint("It is true or false.")));
	report.run = PG_GETARG_INT64(ARG_RUN);
	report.with_values = PG_GETARG_BOOL(ARG_WITH_VALUES);
	report.caller = fcinfo->flinfo->fn_oid;
	report.schema = quote_identifier(get_namespace_name(get_func_namespace(report.caller)));
	if (!PG_ARGISNULL(ARG_FRONTIER))
		report.ks = PG_GETARG_DATUM(ARG_FRONTIER);
	SPI_connect();
	initStringInfo(&report.page);
	nest = catalog_path_begin();
	read_run(&report);
	if (value_of(report.run_row, 0, "transactions") != NULL)
		put_transactions(&report);
	else
		put_classes(&report, &nest);
	catalog_path_end(nest);
	MemoryContextSwitchTo(caller);
	result = cstring_to_text_with_len(report.page.data, report.page.len);
	SPI_finish();
	PG_RETURN_TEXT_P(result);
}
