/*
 * risk.c: the sections on whether k was reached and what risk is left.
 */
#include "compat.h"
#include "report/report.h"
#include "report/svg.h"

#include <math.h>

#include "utils/builtins.h"

/* "5", "5 to 9", "10+" */
static const char *
size_label(const Rows *sizes, int i)
{
	int64 from = count_of(sizes, i, "size_from");
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
	StringInfo page = &report->page;
	Rows *sizes = select_rows(report, "kanon_class_sizes",
							  "SELECT * FROM {}.kanon_class_sizes WHERE run = $1 ORDER BY size_from");
	int64 k = count_of(report->run_row, 0, "k");
	int64 before = count_of(report->risk, 0, "row_count");
	int64 after = count_of(report->run_row, 0, "published_rows");
	int64 blank = count_of(report->risk, 1, "blank_rows");
	SvgBar *bars = palloc0(sizeof(SvgBar) * (sizes->n + 1));
	SvgBars chart = {.caption = {"sizes", "Rows by the size of their class, before and after", NULL},
					 .nseries = 2,
					 .series = {"source, before", "target, after"},
					 .bars = bars};

	if (before == 0 || sizes->n == 0)
		return;
	for (int i = 0; i < sizes->n; i++)
	{
		int64 from = count_of(sizes, i, "size_from");

		bars[i].label =
			psprintf("%s %s", size_label(sizes, i), strcmp(size_label(sizes, i), "1") == 0 ? "row" : "rows");
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
	chart.caption.description =
		psprintf("Of the source's rows, %.1f per cent stood in classes of fewer than " INT64_FORMAT
				 " rows; of the target's, %.1f per cent do.",
				 100 * number_of(report->risk, 0, "share_below_k"), k,
				 isnan(number_of(report->risk, 1, "share_below_k"))
					 ? 0
					 : 100 * number_of(report->risk, 1, "share_below_k"));
	html(page, "<h3>How large are the classes?</h3><p>A <em>class</em> is the rows that show the same in all "
			   "quasi-identifiers. The larger it is, the better each of its rows is hidden.</p>\n"
			   "<figure><figcaption>Share of the rows that stand in classes of so many rows</figcaption>\n");
	svg_bars(page, &chart);
	html(page, "</figure>\n");
	TABLE_BEGIN(page, "", "Classes and rows by class size", {"Class size", false}, {"Classes before", true},
				{"Rows before", true}, {"Classes after", true}, {"Rows after", true});
	for (int i = 0; i < sizes->n; i++)
		html(
			page,
			"<tr data-key='%d'><th scope='row' class='keep'>%s</th><td class='num'>%h</td><td class='num'>%h</td>"
			"<td class='num'>%h</td><td class='num'>%h</td></tr>\n",
			count_of(sizes, i, "size_from"), size_label(sizes, i), figure(sizes, i, "source_classes", COUNT),
			figure(sizes, i, "source_rows", COUNT), figure(sizes, i, "target_classes", COUNT),
			figure(sizes, i, "target_rows", COUNT));
	table_end(page);
}

void
put_check(Report *report)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;
	const Rows *risk = report->risk;
	int64 k = count_of(run, 0, "k");
	int64 blank = count_of(risk, 1, "blank_rows");
	char *reached = value_of(risk, 1, "k");
	StringInfoData qis;

	html(page, "<section id='check'><h2>Was k reached?</h2>\n");
	if (count_of(run, 0, "published_rows") == 0)
		html(page,
			 "<p class='verdict yes'><strong>Nothing to protect.</strong> The table has no rows.</p>\n");
	else if (reached == NULL)
		html(page, "<p class='verdict yes'><strong>Yes.</strong> No row shows any of the quasi-identifiers, "
				   "so nothing tells the rows apart.</p>\n");
	else if (count_of(risk, 1, "k") >= k)
		html(
			page,
			"<p class='verdict yes'><strong>Yes.</strong> The smallest class of rows that look alike has %h; "
			"%n were asked for.</p>\n",
			figure(risk, 1, "k", COUNT), k);
	else
		html(page,
			 "<p class='verdict no'><strong>No.</strong> The smallest class of rows that look alike has %h; "
			 "%n were asked for.</p>\n",
			 figure(risk, 1, "k", COUNT), k);
	html(page,
		 "<p>The table was read back and grouped anew before anybody could see it, in the transaction that "
		 "wrote it (%h). Had a class been too small, nothing would have been published.</p>\n",
		 figure(run, 0, "verify_ms", TIME));
	if (blank > 0)
		html(page,
			 "<p>%h %s blank in all quasi-identifiers%s. They are left aside here: such a row could be "
			 "anybody&rsquo;s.</p>\n",
			 figure(risk, 1, "blank_rows", COUNT), plural(blank, "row is", "rows are"),
			 blank < k ? ", though fewer than k" : "");
	initStringInfo(&qis);
	for (int i = 0; i < report->columns->n; i++)
		appendStringInfo(&qis, "%s%s", i > 0 ? ", " : "",
						 quote_literal_cstr(value_of(report->columns, i, "column_name")));
	html(page,
		 "<p>Whoever may read the table can check it without trusting this page:</p>\n"
		 "<pre>SELECT * FROM kanon_check(%s, ARRAY[%s]);</pre>\n",
		 quote_literal_cstr(value_of(run, 0, "target")), qis.data);
	put_sizes(report);
	html(page, "</section>\n");
}

static void
risk_row(Report *report, const char *what, const char *column, Kind kind, const char *reading)
{
	html(&report->page, "<tr data-key='%s'><th scope='row'>%s</th>", column, what);
	table_cell(&report->page, "before", figure(report->risk, 0, column, kind));
	table_cell(&report->page, "after", figure(report->risk, 1, column, kind));
	html(&report->page, "<td class='wide'>%h</td></tr>\n", reading);
}

void
put_risk(Report *report)
{
	StringInfo page = &report->page;

	html(page,
		 "<section id='risk'><h2>Risk before and after</h2>\n"
		 "<p>The figures assume somebody who knows that a person is in the table and knows all of their "
		 "quasi-identifiers (the <em>prosecutor</em>).</p>\n");
	TABLE_BEGIN(page, "stack", "Risk of being singled out, by the quasi-identifiers", {"", false},
				{"Before", true}, {"After", true}, {"How to read it", false});
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
	risk_row(report, "Blank rows", "blank_rows", COUNT,
			 "They show none of the quasi-identifiers and count as without risk.");
	table_end(page);
	html(page, "</section>\n");
}
