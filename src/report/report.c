/*
 * report.c: kanon_report: one run as a page that needs neither psql nor the
 * network.
 *
 * Everything comes from what was recorded when the run was made, through the
 * views that show a user the runs of the roles they belong to: the report reads
 * as its caller, and works when source and target are long gone.  Only a
 * frontier, when asked for, reads the source.
 *
 * A figure is written as <data data-of='view.column' value='...'>, with the value
 * as SQL gives it, so that the page can be checked against the views.
 */
#include "compat.h"
#include "kanon_pg.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "report/html.h"
#include "report/style.h"
#include "report/svg.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_report);

enum
{
	ARG_RUN, ARG_WITH_VALUES, ARG_FRONTIER
};

/* More would help nobody. */
#define MOST_PATTERNS 25

typedef struct Report
{
	StringInfoData page;
	int64		run;
	const char *schema;			/* the extension's, quoted */
	Datum		ks;				/* int[], or 0: no frontier */
	bool		with_values;
	struct Rows *run_row;
	struct Rows *columns;
	struct Rows *kept;
	struct Rows *risk;			/* source, target */
} Report;

/* ---- the views ---- */

/* The outcome of a query; `view` is what its columns are called after. */
typedef struct Rows
{
	const char *view;
	SPITupleTable *table;
	int			n;
} Rows;

/* In the query $1 is the run, $2 the ks, and each {} the extension's schema. */
static Rows *
select_rows(const Report *report, const char *view, const char *query)
{
	Rows	   *rows = palloc(sizeof(Rows));
	Oid			types[2] = {INT8OID, INT4ARRAYOID};
	Datum		values[2];
	char		nulls[2];
	StringInfoData sql;

	initStringInfo(&sql);
	for (const char *p = query; *p != '\0'; p++)
	{
		if (p[0] != '{' || p[1] != '}')
			appendStringInfoChar(&sql, *p);
		else
		{
			appendStringInfoString(&sql, report->schema);
			p++;
		}
	}
	values[0] = Int64GetDatum(report->run);
	values[1] = report->ks;
	nulls[0] = ' ';
	nulls[1] = report->ks == (Datum) 0 ? 'n' : ' ';
	if (SPI_execute_with_args(sql.data, 2, types, values, nulls, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read %s", view);
	rows->view = view;
	rows->table = SPI_tuptable;
	rows->n = (int) SPI_processed;
	return rows;
}

/* As SQL shows it; NULL for NULL. */
static char *
value_of(const Rows *rows, int row, const char *column)
{
	int			attnum = SPI_fnumber(rows->table->tupdesc, column);

	if (attnum <= 0)
		elog(ERROR, "%s has no column %s", rows->view, column);
	return SPI_getvalue(rows->table->vals[row], rows->table->tupdesc, attnum);
}

static int64
count_of(const Rows *rows, int row, const char *column)
{
	char	   *value = value_of(rows, row, column);

	return value == NULL ? 0 : (int64) strtoll(value, NULL, 10);
}

/* NaN for NULL. */
static double
number_of(const Rows *rows, int row, const char *column)
{
	char	   *value = value_of(rows, row, column);

	return value == NULL ? NAN : strtod(value, NULL);
}

/* ---- pieces of markup ---- */

typedef enum Kind
{
	COUNT, NUMBER, MEAN, SHARE, TIME, TEXT
} Kind;

/* A figure with its origin. */
static const char *
figure(const Rows *rows, int row, const char *column, Kind kind)
{
	StringInfoData out;
	char	   *value = value_of(rows, row, column);

	initStringInfo(&out);
	html(&out, "<data data-of='%s.%s' value='%s'>", rows->view, column, value);
	if (value == NULL)
		html(&out, HTML_NOTHING);
	else if (kind == COUNT)
		html(&out, "%n", count_of(rows, row, column));
	else if (kind == NUMBER)
		html(&out, "%f", number_of(rows, row, column));
	else if (kind == MEAN)
		html(&out, "%o", number_of(rows, row, column));
	else if (kind == SHARE)
		html(&out, "%p", number_of(rows, row, column));
	else if (kind == TIME)
		html(&out, "%t", number_of(rows, row, column));
	else
		html(&out, "%s", value);
	html(&out, "</data>");
	return out.data;
}

static const char *
code(const char *text)
{
	StringInfoData out;

	initStringInfo(&out);
	html(&out, "<code>%s</code>", text);
	return out.data;
}

/* "a, b and c" */
static const char *
names(const Rows *rows, const char *column)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < rows->n; i++)
		html(&out, "%h%h", i == 0 ? "" : i == rows->n - 1 ? " and " : ", ",
			 code(value_of(rows, i, column)));
	return out.data;
}

static const char *
plural(int64 n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* A heading of a table's column: its text, and whether numbers stand below. */
typedef struct Heading
{
	const char *text;
	bool		number;
} Heading;

static void
table_begin(StringInfo page, const char *class_, const char *caption, const Heading *headings, int n)
{
	html(page, "<div class='scroll' tabindex='0' role='region' aria-label='%s'><table class='%s'>"
		 "<caption>%s</caption>", caption, class_, caption);
	for (int i = 0; i < n; i++)
		html(page, "%h<th scope='col'%h>%s</th>%h", i == 0 ? "<thead><tr>" : "",
			 headings[i].number ? " class='num'" : "", headings[i].text, i == n - 1 ? "</tr></thead>" : "");
	html(page, "<tbody>\n");
}

#define TABLE_BEGIN(page, class_, caption, ...) \
	do { \
		const Heading headings_[] = {__VA_ARGS__}; \
		table_begin(page, class_, caption, headings_, lengthof(headings_)); \
	} while (0)

static void
table_end(StringInfo page)
{
	html(page, "</tbody></table></div>\n");
}

/* A cell of numbers; on a phone, where rows are stacked, it carries its heading. */
static void
cell(StringInfo page, const char *heading, const char *markup)
{
	html(page, "<td class='num' data-head='%s'>%h</td>", heading, markup);
}

/* ---- the sections ---- */

static void
put_head(Report *report)
{
	StringInfo	page = &report->page;
	const Rows *run = report->run_row;

	html(page, "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>\n"
		 "<meta name='viewport' content='width=device-width,initial-scale=1'>\n"
		 "<meta name='color-scheme' content='light dark'>\n"
		 "<meta name='referrer' content='no-referrer'>\n"
		 "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
		 "<link rel='icon' href='data:,'>\n"
		 "<title>%s: k-anonymous release, run %d</title>\n<style>\n%h</style></head>\n<body><main>\n",
		 value_of(run, 0, "target"), report->run, report_style);
	html(page, "<header><p class='over'>Release report &middot; kanon %h &middot; run %h</p>\n"
		 "<h1>What was published as %s</h1>\n",
		 figure(run, 0, "version", TEXT), figure(run, 0, "run", TEXT), value_of(run, 0, "target"));
	html(page, "<ul class='tiles'><li><b>%h</b><span>k: least rows that look alike</span></li>"
		 "<li><b>%h</b><span>rows published</span></li>"
		 "<li><b>%h</b><span>of their identifying cells left blank</span></li>",
		 figure(run, 0, "k", COUNT), figure(run, 0, "published_rows", COUNT),
		 figure(run, 0, "suppressed_share", SHARE));
	html(page, "<li><b>%h &rarr; %h</b><span>rows that stand alone, before and after</span></li></ul></header>\n",
		 figure(report->risk, 0, "unique_rows", COUNT), figure(report->risk, 1, "unique_rows", COUNT));
	html(page, "<nav aria-label='Contents'><a href='#what'>What and how</a> <a href='#check'>Was k reached?</a> "
		 "<a href='#risk'>Risk</a> <a href='#columns'>Loss by column</a> <a href='#patterns'>Patterns</a> "
		 "<a href='#measures'>Measures</a> %h%h<a href='#limits'>Limits</a> <a href='#run'>The run</a></nav>\n",
		 report->ks != (Datum) 0 ? "<a href='#frontier'>Other ks</a> " : "",
		 report->with_values ? "<a href='#values'>Smallest classes</a> " : "");
}

/* Which patterns were allowed, in words. */
static void
put_patterns_allowed(Report *report)
{
	StringInfo	page = &report->page;
	const Rows *run = report->run_row;
	Rows	   *rules;

	if (value_of(run, 0, "listed") != NULL)
	{
		html(page, "<p>A row may be blanked in one of the %h ways that were listed, or as a whole.</p>\n",
			 figure(run, 0, "listed", COUNT));
		return;
	}
	rules = select_rows(report, "rules",
						"SELECT CASE e.key"
						"  WHEN 'max_suppressed' THEN 'at most ' || v.item || ' columns of a row blank'"
						"  WHEN 'max_cost' THEN 'the blank cells of a row cost at most ' || v.item"
						"  WHEN 'never' THEN 'never blank:'"
						"  WHEN 'always' THEN 'always blank:'"
						"  WHEN 'together' THEN 'all of these blank, or none:'"
						"  WHEN 'at_most_one' THEN 'at most one of these blank:'"
						"  WHEN 'implies' THEN 'where the left is blank, so is the right:'"
						"  ELSE e.key || ':' END AS rule,"
						" CASE WHEN e.key NOT IN ('max_suppressed', 'max_cost') THEN v.item END AS names"
						" FROM {}.kanon_usefulness u, jsonb_each(u.options -> 'rules') WITH ORDINALITY AS e (key, value, nr),"
						" LATERAL (SELECT t.item, t.nr FROM jsonb_array_elements_text("
						"   CASE WHEN jsonb_typeof(e.value) = 'array' AND e.key IN ('never', 'always')"
						"        THEN CASE WHEN e.value = '[]' THEN '[]' ELSE jsonb_build_array("
						"          (SELECT string_agg(n, ', ') FROM jsonb_array_elements_text(e.value) AS n)) END"
						"        WHEN jsonb_typeof(e.value) = 'array' THEN e.value"
						"        ELSE jsonb_build_array(e.value) END) WITH ORDINALITY AS t (item, nr)) AS v"
						" WHERE u.run = $1 ORDER BY e.nr, v.nr");
	if (rules->n == 0)
	{
		html(page, "<p>Any combination of these columns may be blank in a row.</p>\n");
		return;
	}
	html(page, "<p>Which cells of a row may be blank was ruled:</p><ul>\n");
	for (int i = 0; i < rules->n; i++)
	{
		char	   *listed = value_of(rules, i, "names");

		html(page, "<li>%s%h%h</li>\n", value_of(rules, i, "rule"), listed ? " " : "",
			 listed ? code(listed) : "");
	}
	html(page, "</ul><p>A row for which this leaves nothing is blanked as a whole.</p>\n");
}

static void
put_method(Report *report)
{
	StringInfo	page = &report->page;
	const Rows *run = report->run_row;
	char	   *proven = value_of(run, 0, "proven");
	double		gap = number_of(run, 0, "gap");

	html(page, "<p>Which cells are blank was decided by the method <code>%h</code>",
		 figure(run, 0, "method", TEXT));
	if (proven != NULL && strcmp(proven, "t") == 0 && gap == 0)
		html(page, ": under these rules no release loses less; that is proven.</p>\n");
	else if (!isnan(gap) && isfinite(gap))
		html(page, ": no release under these rules costs less than %h, this one costs %h (%h more at most).</p>\n",
			 figure(run, 0, "lower_bound", NUMBER), figure(run, 0, "cost", NUMBER),
			 figure(run, 0, "gap", SHARE));
	else
		html(page, ", a heuristic: it loses little, but perhaps not the least that is possible.</p>\n");
}

static void
put_what(Report *report)
{
	StringInfo	page = &report->page;
	const Rows *run = report->run_row;
	Rows	   *weights;
	char	   *residual = value_of(run, 0, "residual");
	char	   *comment = value_of(run, 0, "comment");
	int64		dropped = count_of(run, 0, "dropped_rows");
	int64		k = count_of(run, 0, "k");

	html(page, "<section id='what'><h2>What was published, and under which rules</h2>\n"
		 "<p>On %h the role %h published the %h %s of %h as the table %h.",
		 figure(run, 0, "started", TEXT), code(value_of(run, 0, "run_by")),
		 figure(run, 0, "row_count", COUNT), plural(count_of(run, 0, "row_count"), "row", "rows"),
		 code(value_of(run, 0, "source")), code(value_of(run, 0, "target")));
	if (dropped > 0)
		html(page, " %h %s left out.", figure(run, 0, "dropped_rows", COUNT),
			 plural(dropped, "row was", "rows were"));
	html(page, "</p>\n");
	if (comment != NULL)
		html(page, "<p class='soft'>The source is described as: &ldquo;%s&rdquo;</p>\n", comment);
	html(page, "<p>%s %h %s <em>quasi-identifiers</em>: what somebody could know of a person and look for. "
		 "In the table, their values either stand as they were or are left blank (<em>suppressed</em>), such that "
		 "<strong>every combination that it shows occurs at least %n times</strong>.</p>\n",
		 plural(report->columns->n, "The column", "The columns"), names(report->columns, "column"),
		 plural(report->columns->n, "is taken as the", "are taken as the"), k);
	if (report->kept->n > 0)
		html(page, "<p>%h %s published beside them, unchanged. Nothing else of the source is in the table.</p>\n",
			 names(report->kept, "name"), plural(report->kept->n, "is", "are"));
	else
		html(page, "<p>Nothing else of the source is in the table.</p>\n");
	put_patterns_allowed(report);
	weights = select_rows(report, "weights",
						  "SELECT c.\"column\", w.weight FROM {}.kanon_usefulness u, {}.kanon_columns c,"
						  " jsonb_array_elements_text(u.options -> 'weights') WITH ORDINALITY AS w (weight, nr)"
						  " WHERE u.run = $1 AND c.run = $1 AND w.nr = c.ordinal ORDER BY w.nr");
	if (weights->n > 0)
	{
		html(page, "<p>A blank cell costs: ");
		for (int i = 0; i < weights->n; i++)
			html(page, "%h%h %s", i > 0 ? ", " : "", code(value_of(weights, i, "column")),
				 value_of(weights, i, "weight"));
		html(page, ". The release was chosen to cost little.</p>\n");
	}
	if (residual != NULL)
		html(page, "<p>Rows that fit nowhere, if they are fewer than %n, %s.</p>\n", k,
			 strcmp(residual, "suppress") == 0 ? "are published with all these columns blank" :
			 strcmp(residual, "drop") == 0 ? "are left out" : "would have stopped the publication");
	put_method(report);
	html(page, "</section>\n");
}

/* "5", "5 to 9", "10+" */
static const char *
size_label(const Rows *sizes, int i)
{
	int64		from = count_of(sizes, i, "size_from");
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, INT64_FORMAT, from);
	if (value_of(sizes, i, "size_to") == NULL)
		appendStringInfoChar(&out, '+');
	else if (count_of(sizes, i, "size_to") > from)
		appendStringInfo(&out, " to " INT64_FORMAT, count_of(sizes, i, "size_to"));
	return out.data;
}

/* Rows by the size of their class, before and after. */
static void
put_sizes(Report *report)
{
	StringInfo	page = &report->page;
	Rows	   *sizes = select_rows(report, "kanon_class_sizes",
									"SELECT * FROM {}.kanon_class_sizes WHERE run = $1 ORDER BY size_from");
	int64		k = count_of(report->run_row, 0, "k");
	int64		before = count_of(report->risk, 0, "row_count");
	int64		after = count_of(report->run_row, 0, "published_rows");
	int64		blank = count_of(report->risk, 1, "blank_rows");
	SvgBar	   *bars = palloc0(sizeof(SvgBar) * (sizes->n + 1));
	SvgBars		chart = {
		.caption = {"sizes", "Rows by the size of their class, before and after", NULL},
		.nseries = 2,
		.series = {"source, before", "target, after"},
		.bars = bars
	};

	if (before == 0 || sizes->n == 0)
		return;
	for (int i = 0; i < sizes->n; i++)
	{
		int64		from = count_of(sizes, i, "size_from");

		bars[i].label = psprintf("%s %s", size_label(sizes, i), strcmp(size_label(sizes, i), "1") == 0 ? "row" : "rows");
		bars[i].share[0] = (double) count_of(sizes, i, "source_rows") / before;
		bars[i].share[1] = after > 0 ? (double) count_of(sizes, i, "target_rows") / after : NAN;
		if (from == k)
			chart.border = i;
	}
	chart.nbars = sizes->n;
	if (blank > 0)
	{
		bars[chart.nbars].label = "nothing shown: all blank";
		bars[chart.nbars].share[0] = NAN;
		bars[chart.nbars++].share[1] = (double) blank / after;
	}
	chart.border_label = psprintf("k = " INT64_FORMAT ": from here on", k);
	chart.caption.description = psprintf("Of the source's rows, %.1f per cent stood in classes of fewer than "
										 INT64_FORMAT " rows; of the target's, %.1f per cent do.",
										 100 * number_of(report->risk, 0, "share_below_k"), k,
										 isnan(number_of(report->risk, 1, "share_below_k")) ? 0 :
										 100 * number_of(report->risk, 1, "share_below_k"));
	html(page, "<h3>How large are the classes?</h3><p>A <em>class</em> is the rows that show the same in all "
		 "quasi-identifiers. The larger it is, the better each of its rows is hidden.</p>\n"
		 "<figure><figcaption>Share of the rows that stand in classes of so many rows</figcaption>\n");
	svg_bars(page, &chart);
	html(page, "</figure>\n");
	TABLE_BEGIN(page, "", "Classes and rows by class size",
				{"Class size", false}, {"Classes before", true}, {"Rows before", true},
				{"Classes after", true}, {"Rows after", true});
	for (int i = 0; i < sizes->n; i++)
		html(page, "<tr data-key='%d'><th scope='row' class='keep'>%s</th><td class='num'>%h</td><td class='num'>%h</td>"
			 "<td class='num'>%h</td><td class='num'>%h</td></tr>\n",
			 count_of(sizes, i, "size_from"), size_label(sizes, i),
			 figure(sizes, i, "source_classes", COUNT), figure(sizes, i, "source_rows", COUNT),
			 figure(sizes, i, "target_classes", COUNT), figure(sizes, i, "target_rows", COUNT));
	table_end(page);
}

static void
put_check(Report *report)
{
	StringInfo	page = &report->page;
	const Rows *run = report->run_row;
	const Rows *risk = report->risk;
	int64		k = count_of(run, 0, "k");
	int64		blank = count_of(risk, 1, "blank_rows");
	char	   *reached = value_of(risk, 1, "k");
	StringInfoData qis;

	html(page, "<section id='check'><h2>Was k reached?</h2>\n");
	if (count_of(run, 0, "published_rows") == 0)
		html(page, "<p class='verdict yes'><strong>Nothing to protect.</strong> The table has no rows.</p>\n");
	else if (reached == NULL)
		html(page, "<p class='verdict yes'><strong>Yes.</strong> No row shows any of the quasi-identifiers, "
			 "so nothing tells the rows apart.</p>\n");
	else if (count_of(risk, 1, "k") >= k)
		html(page, "<p class='verdict yes'><strong>Yes.</strong> The smallest class of rows that look alike has %h; "
			 "%n were asked for.</p>\n", figure(risk, 1, "k", COUNT), k);
	else
		html(page, "<p class='verdict no'><strong>No.</strong> The smallest class of rows that look alike has %h; "
			 "%n were asked for.</p>\n", figure(risk, 1, "k", COUNT), k);
	html(page, "<p>The table was read back and grouped anew before anybody could see it, in the transaction that "
		 "wrote it (%h). Had a class been too small, nothing would have been published.</p>\n",
		 figure(run, 0, "verify_ms", TIME));
	if (blank > 0)
		html(page, "<p>%h %s blank in all quasi-identifiers%s. They are left aside here: such a row could be "
			 "anybody&rsquo;s.</p>\n",
			 figure(risk, 1, "blank_rows", COUNT), plural(blank, "row is", "rows are"),
			 blank < k ? ", though fewer than k" : "");
	initStringInfo(&qis);
	for (int i = 0; i < report->columns->n; i++)
		appendStringInfo(&qis, "%s%s", i > 0 ? ", " : "", quote_literal_cstr(value_of(report->columns, i, "column")));
	html(page, "<p>Whoever may read the table can check it without trusting this page:</p>\n"
		 "<pre>SELECT * FROM kanon_check(%s, ARRAY[%s]);</pre>\n",
		 quote_literal_cstr(value_of(run, 0, "target")), qis.data);
	put_sizes(report);
	html(page, "</section>\n");
}

static void
risk_row(Report *report, const char *what, const char *column, Kind kind, const char *reading)
{
	html(&report->page, "<tr data-key='%s'><th scope='row'>%s</th>", column, what);
	cell(&report->page, "before", figure(report->risk, 0, column, kind));
	cell(&report->page, "after", figure(report->risk, 1, column, kind));
	html(&report->page, "<td class='wide'>%h</td></tr>\n", reading);
}

static void
put_risk(Report *report)
{
	StringInfo	page = &report->page;

	html(page, "<section id='risk'><h2>Risk before and after</h2>\n"
		 "<p>The figures assume somebody who knows that a person is in the table and knows all of their "
		 "quasi-identifiers (the <em>prosecutor</em>).</p>\n");
	TABLE_BEGIN(page, "stack", "Risk of being singled out, by the quasi-identifiers",
				{"", false}, {"Before", true}, {"After", true}, {"How to read it", false});
	risk_row(report, "Rows that stand alone", "unique_rows", COUNT,
			 "No other row shows the same: whoever knows the person knows the row.");
	risk_row(report, "Rows in classes below k", "below_k", COUNT, "Has to be 0 after.");
	risk_row(report, "Their share", "share_below_k", SHARE, "Of all rows.");
	risk_row(report, "Smallest class", "k", COUNT, "The k that the table has, whatever was asked for.");
	risk_row(report, "Highest risk", "prosecutor_highest", SHARE,
			 "The chance to pick the right row of the smallest class: 1 by its size.");
	risk_row(report, "Average risk", "prosecutor_average", SHARE, "The same chance, averaged over all rows.");
	risk_row(report, "Classes", "classes", COUNT, "Different combinations of quasi-identifiers.");
	risk_row(report, "Rows", "row_count", COUNT, "Of the source, and of the target.");
	risk_row(report, "Blank rows", "blank_rows", COUNT, "They show none of the quasi-identifiers and count as without risk.");
	table_end(page);
	html(page, "</section>\n");
}

static void
put_columns(Report *report)
{
	StringInfo	page = &report->page;
	const Rows *columns = report->columns;
	SvgBar	   *bars = palloc0(sizeof(SvgBar) * columns->n);
	int			most = 0;
	SvgBars		chart = {
		.caption = {"columns", "Share of blank cells by column", NULL},
		.nseries = 1,
		.nbars = columns->n,
		.bars = bars,
		.full = true
	};

	html(page, "<section id='columns'><h2>What was lost, column by column</h2>\n");
	for (int i = 0; i < columns->n; i++)
	{
		bars[i].label = value_of(columns, i, "column");
		bars[i].share[0] = number_of(columns, i, "share");
		if (bars[i].share[0] > bars[most].share[0])
			most = i;
	}
	if (count_of(report->run_row, 0, "published_rows") > 0)
	{
		chart.caption.description = bars[most].share[0] > 0
			? psprintf("Most was lost of %s: %.1f per cent of its cells.", bars[most].label, 100 * bars[most].share[0])
			: "Nothing was lost.";
		html(page, "<figure><figcaption>Share of each column&rsquo;s published cells that are blank</figcaption>\n");
		svg_bars(page, &chart);
		html(page, "</figure>\n");
	}
	TABLE_BEGIN(page, "stack", "Blank cells and distinct values by column",
				{"Column", false}, {"Blank cells", true}, {"Share", true},
				{"Values before", true}, {"Values after", true}, {"NCP", true});
	for (int i = 0; i < columns->n; i++)
	{
		char	   *comment = value_of(columns, i, "comment");

		html(page, "<tr data-key='%s'><th scope='row' class='name'>%s <span class='soft'>%s%h%s</span></th>",
			 value_of(columns, i, "column"), value_of(columns, i, "column"), value_of(columns, i, "type"),
			 comment != NULL ? " &middot; " : "", comment);
		cell(page, "blank cells", figure(columns, i, "suppressed", COUNT));
		cell(page, "share", figure(columns, i, "share", SHARE));
		cell(page, "values before", figure(columns, i, "distinct_before", COUNT));
		cell(page, "values after", figure(columns, i, "distinct_after", COUNT));
		cell(page, "NCP", figure(columns, i, "ncp", NUMBER));
		html(page, "</tr>\n");
	}
	table_end(page);
	html(page, "<p class='soft'>Values: how many different ones the column has (a real empty value counts as one). "
		 "NCP: what share of its information the column lost, 0 nothing, 1 all.</p></section>\n");
}

static void
put_patterns(Report *report)
{
	StringInfo	page = &report->page;
	Rows	   *patterns = select_rows(report, "kanon_equivalence_classes",
									   "SELECT p.*, {}.kanon_describe(p.pattern, q.names) AS words,"
									   " p.row_count::float8 / u.published AS share"
									   " FROM (SELECT c.pattern, count(*) AS classes, sum(c.row_count)::bigint AS row_count,"
									   "              sum(c.suppressed_cells)::bigint AS suppressed_cells, min(c.class) AS first,"
									   "              count(*) OVER () AS patterns"
									   "         FROM {}.kanon_equivalence_classes c WHERE c.run = $1 GROUP BY c.pattern) p,"
									   " (SELECT array_agg(c.\"column\"::name ORDER BY c.ordinal) AS names"
									   "    FROM {}.kanon_columns c WHERE c.run = $1) q,"
									   " (SELECT u.row_count - u.dropped_rows AS published FROM {}.kanon_usefulness u WHERE u.run = $1) u"
									   " ORDER BY p.row_count DESC, p.first");
	int			shown = Min(patterns->n, MOST_PATTERNS);
	int64		rest = 0;

	html(page, "<section id='patterns'><h2>Patterns used</h2>\n"
		 "<p>One symbol for each quasi-identifier, in their order: <code>-</code> keeps the cell, <code>*</code> "
		 "leaves it blank. %h different %s allowed, %n %s used.</p>\n",
		 figure(report->run_row, 0, "patterns", COUNT),
		 plural(count_of(report->run_row, 0, "patterns"), "pattern was", "patterns were"),
		 (int64) patterns->n, plural(patterns->n, "was", "were"));
	TABLE_BEGIN(page, "stack", shown < patterns->n ? "The patterns that most rows have" : "Patterns, by number of rows",
				{"Pattern", false}, {"In words", false}, {"Rows", true}, {"Share", true},
				{"Classes", true}, {"Blank cells", true});
	for (int i = 0; i < shown; i++)
	{
		html(page, "<tr data-key='%s'><th scope='row' class='keep'>%h</th><td class='wide'>%s</td>",
			 value_of(patterns, i, "pattern"), code(value_of(patterns, i, "pattern")),
			 value_of(patterns, i, "words"));
		cell(page, "rows", figure(patterns, i, "row_count", COUNT));
		cell(page, "share", figure(patterns, i, "share", SHARE));
		cell(page, "classes", figure(patterns, i, "classes", COUNT));
		cell(page, "blank cells", figure(patterns, i, "suppressed_cells", COUNT));
		html(page, "</tr>\n");
	}
	table_end(page);
	for (int i = shown; i < patterns->n; i++)
		rest += count_of(patterns, i, "row_count");
	if (shown < patterns->n)
		html(page, "<p class='soft'>%n more patterns have %n rows together.</p>\n",
			 (int64) patterns->n - shown, rest);
	html(page, "</section>\n");
}

static void
measure_row(Report *report, const char *what, const char *column, Kind kind, const char *reading)
{
	/* what this run or this method does not have */
	if (value_of(report->run_row, 0, column) == NULL)
		return;
	html(&report->page, "<tr data-key='%s'><th scope='row'>%s</th>", column, what);
	cell(&report->page, "value", figure(report->run_row, 0, column, kind));
	html(&report->page, "<td class='wide'>%h</td></tr>\n", reading);
}

static void
put_measures(Report *report)
{
	StringInfo	page = &report->page;

	html(page, "<section id='measures'><h2>What was lost, in figures</h2>\n"
		 "<p>Each compares releases of the same table; none says by itself what is good enough.</p>\n");
	TABLE_BEGIN(page, "stack", "Measures of the release, and how to read them",
				{"Measure", false}, {"Value", true}, {"How to read it", false});
	measure_row(report, "Suppressed cells", "suppressed_cells", COUNT, "Blank cells among the quasi-identifiers. Fewer is better.");
	measure_row(report, "Suppressed share", "suppressed_share", SHARE, "Their share of all published cells of quasi-identifiers.");
	measure_row(report, "Cost", "cost", NUMBER, "Suppressed cells, each at its column&rsquo;s weight. What the method tries to keep small.");
	measure_row(report, "Lower bound", "lower_bound", NUMBER, "Proven: no release under these rules costs less.");
	measure_row(report, "Usefulness", "usefulness", NUMBER, "How different the original rows of a class are, over the classes. Smaller is better.");
	measure_row(report, "Average class", "class_avg", MEAN, "Rows of a class. Close to k is better for use.");
	measure_row(report, "Largest class", "class_max", COUNT, "Rows of the largest class.");
	measure_row(report, "C_avg", "c_avg", NUMBER, "Average class in units of k. 1 is best.");
	measure_row(report, "Discernibility", "discernibility", NUMBER, "Each row counts the rows it cannot be told from. Smaller is better.");
	measure_row(report, "ILoss", "iloss", NUMBER, "Information lost over all cells, weighted. Smaller is better.");
	measure_row(report, "NCP", "ncp", NUMBER, "Certainty lost, added up over all rows. Smaller is better.");
	measure_row(report, "GCP", "gcp", SHARE, "The same as a share: 0 nothing lost, 100&#8239;% everything.");
	measure_row(report, "Precision", "precision", SHARE, "100&#8239;% nothing lost, 0 everything.");
	measure_row(report, "Entropy lost", "entropy", NUMBER, "Bits that the blank cells held. Smaller is better.");
	measure_row(report, "Entropy lost, share", "entropy_share", SHARE, "Of what blanking every cell would lose.");
	measure_row(report, "Classification metric", "classification", SHARE, "Rows unlike most of their class in the class column. Smaller is better.");
	table_end(page);
	html(page, "</section>\n");
}

/*
 * The recorded call again, for other ks.  Its arguments are read with kanon's own
 * search_path and handed over as parameters: the source's views may rely on the
 * caller's.
 */
static Rows *
select_frontier(Report *report)
{
	Rows	   *rows = palloc(sizeof(Rows));
	Rows	   *call;
	int			nest = catalog_path_begin();
	StringInfoData sql;
	Oid		   *types;
	Datum	   *values;
	char	   *nulls;
	int			n;

	call = select_rows(report, "options",
					   "SELECT c.oid::regclass,"
					   " ARRAY(SELECT x::name FROM jsonb_array_elements_text(o -> 'quasi_identifiers') AS x),"
					   " $2,"
					   " CASE WHEN o ? 'patterns' THEN"
					   "  ARRAY(SELECT x FROM jsonb_array_elements_text(o -> 'patterns') AS x) END,"
					   " CASE WHEN o ? 'weights' THEN"
					   "  ARRAY(SELECT x::float8 FROM jsonb_array_elements_text(o -> 'weights') AS x) END,"
					   " o ->> 'method',"
					   " ARRAY(SELECT x::name FROM jsonb_array_elements_text(o -> 'categorical') AS x),"
					   " o ->> 'residual', o -> 'rules', (o ->> 'time_limit')::interval, (o ->> 'gap')::float8,"
					   " (o ->> 'seed')::bigint, (o ->> 'effort')::float8"
					   " FROM {}.kanon_usefulness u, LATERAL (SELECT u.options AS o) o,"
					   " pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
					   " WHERE u.run = $1 AND format('%I.%I', n.nspname, c.relname) = u.source");
	catalog_path_end(nest);
	n = call->table->tupdesc->natts;
	types = palloc(sizeof(Oid) * n);
	values = palloc(sizeof(Datum) * n);
	nulls = palloc(n);
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT * FROM %s.kanon_frontier(", report->schema);
	for (int i = 0; i < n; i++)
	{
		bool		isnull;

		types[i] = SPI_gettypeid(call->table->tupdesc, i + 1);
		values[i] = SPI_getbinval(call->table->vals[0], call->table->tupdesc, i + 1, &isnull);
		nulls[i] = isnull ? 'n' : ' ';
		appendStringInfo(&sql, "%s$%d", i > 0 ? ", " : "", i + 1);
	}
	appendStringInfoChar(&sql, ')');
	if (SPI_execute_with_args(sql.data, n, types, values, nulls, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not compute the frontier");
	rows->view = "kanon_frontier";
	rows->table = SPI_tuptable;
	rows->n = (int) SPI_processed;
	return rows;
}

static void
put_frontier(Report *report)
{
	StringInfo	page = &report->page;
	Rows	   *ks;
	SvgPoint   *points;
	SvgLine		chart = {
		.caption = {"frontier-chart", "Share of blank cells by k", NULL},
		.x_name = "k"
	};

	if (report->ks == (Datum) 0)
		return;
	html(page, "<section id='frontier'><h2>What other ks would cost</h2>\n");
	if (value_of(report->run_row, 0, "source_oid") == NULL)
	{
		html(page, "<p>The source is not there any more, so other ks cannot be tried.</p></section>\n");
		return;
	}
	ks = select_frontier(report);
	points = palloc(sizeof(SvgPoint) * ks->n);
	for (int i = 0; i < ks->n; i++)
	{
		SvgPoint	point = {
			count_of(ks, i, "k"), number_of(ks, i, "suppressed_share"), value_of(ks, i, "k")
		};

		/* not for a k that has no release */
		if (!isnan(point.share))
			points[chart.npoints++] = point;
	}
	chart.points = points;
	chart.mark = count_of(report->run_row, 0, "k");
	chart.mark_label = psprintf("published: k = %s", value_of(report->run_row, 0, "k"));
	html(page, "<p>With the same rules, tried on the source as it was when this page was made. A larger k hides "
		 "every row among more, and leaves more cells blank.</p>\n");
	if (chart.npoints > 0)
	{
		chart.caption.description = psprintf("From %.1f per cent at k = %s to %.1f per cent at k = %s.",
											 100 * points[0].share, points[0].label,
											 100 * points[chart.npoints - 1].share,
											 points[chart.npoints - 1].label);
		html(page, "<figure><figcaption>Share of blank cells by k</figcaption>\n");
		svg_line(page, &chart);
		html(page, "</figure>\n");
	}
	TABLE_BEGIN(page, "", "Releases for several ks",
				{"k", true}, {"Blank cells", true}, {"Share", true}, {"Usefulness", true}, {"GCP", true},
				{"Classes", true}, {"Average class", true}, {"Largest class", true}, {"Left over", true});
	for (int i = 0; i < ks->n; i++)
		html(page, "<tr data-key='%s'%h><th scope='row' class='num'>%s</th><td class='num'>%h</td><td class='num'>%h</td>"
			 "<td class='num'>%h</td><td class='num'>%h</td><td class='num'>%h</td><td class='num'>%h</td>"
			 "<td class='num'>%h</td><td class='num'>%h</td></tr>\n",
			 value_of(ks, i, "k"), count_of(ks, i, "k") == chart.mark ? " class='here'" : "",
			 value_of(ks, i, "k"), figure(ks, i, "suppressed_cells", COUNT),
			 figure(ks, i, "suppressed_share", SHARE), figure(ks, i, "usefulness", NUMBER),
			 figure(ks, i, "gcp", SHARE), figure(ks, i, "classes", COUNT), figure(ks, i, "class_avg", MEAN),
			 figure(ks, i, "class_max", COUNT), figure(ks, i, "residual_rows", COUNT));
	table_end(page);
	html(page, "</section>\n");
}

/* Only when asked for: the one place where data is shown. */
static void
put_values(Report *report)
{
	StringInfo	page = &report->page;
	Rows	   *classes = select_rows(report, "kanon_equivalence_classes",
									  "SELECT c.class, c.pattern, c.row_count, c.shown FROM {}.kanon_equivalence_classes c"
									  " WHERE c.run = $1 AND c.shown <> '{ }' ORDER BY c.row_count, c.class LIMIT 10");

	html(page, "<section id='values'><h2>The smallest classes</h2>\n");
	if (classes->n == 0)
	{
		html(page, "<p>No class shows anything.</p></section>\n");
		return;
	}
	html(page, "<p>This section shows data, as it is in the published table.</p>\n");
	TABLE_BEGIN(page, "stack", "The ten smallest classes and what they show",
				{"Class", false}, {"Rows", true}, {"Pattern", false}, {"Shows", false});
	for (int i = 0; i < classes->n; i++)
	{
		html(page, "<tr data-key='%s'><th scope='row'>%s</th>", value_of(classes, i, "class"), value_of(classes, i, "class"));
		cell(page, "rows", figure(classes, i, "row_count", COUNT));
		html(page, "<td>%h</td><td class='wide name'>%s</td></tr>\n", code(value_of(classes, i, "pattern")),
			 value_of(classes, i, "shown"));
	}
	table_end(page);
	html(page, "</section>\n");
}

static void
put_limits(Report *report)
{
	html(&report->page, "<section id='limits'><h2>What this does not protect from</h2>\n<ul>"
		 "<li><strong>Classes that agree.</strong> When all rows of a class share a value in a column that is published "
		 "unchanged, that value is known of each of them.</li>\n"
		 "<li><strong>Persons with several rows.</strong> k counts rows. A person with many rows can fill a class alone.</li>\n"
		 "<li><strong>What was not named.</strong> A column published unchanged that outsiders know identifies "
		 "as well as a birth date.</li>\n"
		 "<li><strong>Several releases.</strong> Two tables of the same persons, each k-anonymous, may identify "
		 "when they are joined.</li></ul></section>\n");
}

static void
put_details(Report *report)
{
	StringInfo	page = &report->page;
	const Rows *run = report->run_row;
	Rows	   *options = select_rows(report, "options",
									  "SELECT o.key, CASE jsonb_typeof(o.value) WHEN 'string' THEN o.value #>> '{ }'"
									  " ELSE o.value::text END AS value"
									  " FROM {}.kanon_usefulness u, jsonb_each(u.options) AS o WHERE u.run = $1"
									  " ORDER BY o.key COLLATE \"C\"");

	html(page, "<section id='run'><h2>The run</h2>\n");
	table_begin(page, "", "When, how long, by what", NULL, 0);
	html(page, "<tr><th scope='row'>Run</th><td>%h, started %s by %s</td></tr>\n", figure(run, 0, "run", TEXT),
		 value_of(run, 0, "started"), value_of(run, 0, "run_by"));
	html(page, "<tr><th scope='row'>Version</th><td>kanon %s; this page by PostgreSQL %s</td></tr>\n",
		 value_of(run, 0, "version"), PG_VERSION);
	html(page, "<tr><th scope='row'>Source</th><td>%h rows, %h different combinations</td></tr>\n",
		 figure(run, 0, "row_count", COUNT), figure(run, 0, "row_types", COUNT));
	html(page, "<tr><th scope='row'>Time</th><td>read %h, solve %h, write %h, check %h</td></tr>\n",
		 figure(run, 0, "read_ms", TIME), figure(run, 0, "solve_ms", TIME),
		 figure(run, 0, "write_ms", TIME), figure(run, 0, "verify_ms", TIME));
	table_end(page);
	if (options->n > 0)
	{
		TABLE_BEGIN(page, "", "Parameters of the call", {"Parameter", false}, {"Value", false});
		for (int i = 0; i < options->n; i++)
			html(page, "<tr><th scope='row'>%s</th><td class='name'>%s</td></tr>\n",
				 value_of(options, i, "key"), value_of(options, i, "value"));
		table_end(page);
	}
	html(page, "</section>\n<footer class='soft'><p>Made from what kanon recorded when the table was published. The page holds "
		 "its style and figures; it loads nothing.</p></footer>\n</main></body></html>\n");
}

/* ---- the call ---- */

static void
read_run(Report *report)
{
	/* the source of today by its name: only for its description and a frontier */
	report->run_row = select_rows(report, "kanon_usefulness",
								  "SELECT u.*, u.row_count - u.dropped_rows AS published_rows,"
								  " to_char(u.started_at AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' AS started,"
								  " u.options ->> 'residual' AS residual,"
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
	report->columns = select_rows(report, "kanon_columns",
								  "SELECT c.*, col_description(a.attrelid, a.attnum) AS comment"
								  " FROM {}.kanon_usefulness u JOIN {}.kanon_columns c USING (run)"
								  " LEFT JOIN (pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace)"
								  "   ON format('%I.%I', n.nspname, r.relname) = u.source"
								  " LEFT JOIN pg_attribute a ON a.attrelid = r.oid AND a.attname = c.\"column\" AND a.attnum > 0"
								  " WHERE u.run = $1 ORDER BY c.ordinal");
	report->kept = select_rows(report, "kept",
							   "SELECT k.name FROM {}.kanon_usefulness u, unnest(u.kept) WITH ORDINALITY AS k (name, nr)"
							   " WHERE u.run = $1 ORDER BY k.nr");
	report->risk = select_rows(report, "kanon_run_risk",
							   "SELECT * FROM {}.kanon_run_risk WHERE run = $1 ORDER BY stage");
	if (report->risk->n != 2)
		elog(ERROR, "the record of run " INT64_FORMAT " is not complete", report->run);
}

/* kanon_report(run bigint, with_values boolean, frontier int[]) */
Datum
kanon_report(PG_FUNCTION_ARGS)
{
	Report		report = {0};
	MemoryContext caller = CurrentMemoryContext;
	text	   *result;
	int			nest;

	if (PG_ARGISNULL(ARG_RUN))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("run must not be NULL"),
				 errhint("The view kanon_usefulness lists the runs that you or a role of yours made.")));
	if (PG_ARGISNULL(ARG_WITH_VALUES))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("with_values must not be NULL"),
				 errhint("It is true or false.")));
	report.run = PG_GETARG_INT64(ARG_RUN);
	report.with_values = PG_GETARG_BOOL(ARG_WITH_VALUES);
	report.schema = quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	if (!PG_ARGISNULL(ARG_FRONTIER))
		report.ks = PG_GETARG_DATUM(ARG_FRONTIER);
	SPI_connect();
	initStringInfo(&report.page);
	nest = catalog_path_begin();
	read_run(&report);
	put_head(&report);
	put_what(&report);
	put_check(&report);
	put_risk(&report);
	put_columns(&report);
	put_patterns(&report);
	put_measures(&report);
	catalog_path_end(nest);
	/* reads the source, whose views may rely on the caller's search_path */
	put_frontier(&report);
	nest = catalog_path_begin();
	if (report.with_values)
		put_values(&report);
	put_limits(&report);
	put_details(&report);
	catalog_path_end(nest);
	MemoryContextSwitchTo(caller);
	result = cstring_to_text_with_len(report.page.data, report.page.len);
	SPI_finish();
	PG_RETURN_TEXT_P(result);
}
