/*
 * frontier.c: the section on other ks, which alone reads the source.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "run/frontier.h"
#include "report/report.h"
#include "report/svg.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"

/* Of the recorded call; kept columns and rules beyond k are left out. */
#define AGAIN (TAKES_DRY & ~(TAKES(KEEP) | TAKES(PRIVACY)))

/* Its lines as rows, in which each figure has its origin. */
static Rows *
rows_of(const Frontier *frontier)
{
	Rows *rows = palloc(sizeof(Rows));
	Datum values[FRONTIER_COLUMNS];
	bool nulls[FRONTIER_COLUMNS];

	rows->view = "kanon_frontier";
	rows->n = frontier->n;
	rows->table = palloc0(sizeof(SPITupleTable));
	rows->table->tupdesc = frontier_desc();
	rows->table->vals = palloc(sizeof(HeapTuple) * rows->n);
	for (int i = 0; i < rows->n; i++)
	{
		frontier_line(frontier, i, values, nulls);
		rows->table->vals[i] = heap_form_tuple(rows->table->tupdesc, values, nulls);
	}
	return rows;
}

/*
 * The recorded request again, for other ks.  It is read with kanon's own search_path;
 * the source's views may rely on the caller's.
 */
static Rows *
solve_again(Report *report)
{
	Frontier *frontier = frontier_of(DatumGetArrayTypeP(report->ks));
	Request request;
	bool isnull;
	int nest = catalog_path_begin();

	(void) select_rows(
		report, "options",
		"SELECT c.oid::regclass,"
		" ARRAY(SELECT x::name FROM jsonb_array_elements_text(options -> 'quasi_identifiers') AS x),"
		" options FROM {}.kanon_usefulness u,"
		" pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
		" WHERE u.run = $1 AND format('%I.%I', n.nspname, c.relname) = u.source");
	request_of_record(&request, &pattern_guided_model, AGAIN,
					  DatumGetJsonbP(gate_value(0, 3, JSONBOID, &isnull)));
	catalog_path_end(nest);
	request.function = "kanon_frontier";
	request.caller = report->caller;
	request.source = DatumGetObjectId(gate_value(0, 1, REGCLASSOID, &isnull));
	request.qis = DatumGetArrayTypeP(gate_value(0, 2, NAMEARRAYOID, &isnull));
	frontier_solve(frontier, &request);
	return rows_of(frontier);
}

void
put_frontier(Report *report)
{
	StringInfo page = &report->page;
	Rows *ks;
	SvgPoint *points;
	SvgLine chart = {.caption = {"frontier-chart", "Share of blank cells by k", NULL}, .x_name = "k"};

	if (report->ks == (Datum) 0)
		return;
	html(page, "<section id='frontier'><h2>What other ks would cost</h2>\n");
	if (value_of(report->run_row, 0, "source_oid") == NULL)
	{
		html(page, "<p>The source is not there any more, so other ks cannot be tried.</p></section>\n");
		return;
	}
	if (kanon_solver_find(value_of(report->run_row, 0, "method")) == NULL)
	{
		html(
			page,
			"<p>Other ks can be tried only for what <code>kanon_pattern_guided</code> published.</p></section>\n");
		return;
	}
	ks = solve_again(report);
	points = palloc(sizeof(SvgPoint) * ks->n);
	for (int i = 0; i < ks->n; i++)
	{
		SvgPoint point = {count_of(ks, i, "k"), number_of(ks, i, "suppressed_share"), value_of(ks, i, "k")};

		/* not for a k that has no release */
		if (!isnan(point.share))
			points[chart.npoints++] = point;
	}
	chart.points = points;
	chart.mark = count_of(report->run_row, 0, "k");
	chart.mark_label = psprintf("published: k = %s", value_of(report->run_row, 0, "k"));
	html(page,
		 "<p>With the same rules, tried on the source as it was when this page was made. A larger k hides "
		 "every row among more, and leaves more cells blank.</p>\n");
	if (chart.npoints > 0)
	{
		chart.caption.description =
			psprintf("From %.1f per cent at k = %s to %.1f per cent at k = %s.", 100 * points[0].share,
					 points[0].label, 100 * points[chart.npoints - 1].share, points[chart.npoints - 1].label);
		html(page, "<figure><figcaption>Share of blank cells by k</figcaption>\n");
		svg_line(page, &chart);
		html(page, "</figure>\n");
	}
	TABLE_BEGIN(page, "", "Releases for several ks", {"k", true}, {"Blank cells", true}, {"Share", true},
				{"Usefulness", true}, {"GCP", true}, {"Classes", true}, {"Average class", true},
				{"Largest class", true}, {"Left over", true});
	for (int i = 0; i < ks->n; i++)
		html(
			page,
			"<tr data-key='%s'%h><th scope='row' class='num'>%s</th><td class='num'>%h</td><td class='num'>%h</td>"
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
