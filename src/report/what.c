/*
 * what.c: the section that says in words what was published and under which rules.
 */
#include "compat.h"
#include "core/cluster/cluster.h"
#include "report/report.h"

#include <math.h>

static bool
is_clustering(const Report *report)
{
	return strncmp(value_of(report->run_row, 0, "method"), "pattern_clustering",
				   strlen("pattern_clustering")) == 0;
}

/* Which patterns were allowed, in words. */
static void
put_patterns_allowed(Report *report)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;
	Rows *rules;

	if (kanon_cluster_method_find(value_of(run, 0, "method")) != NULL)
	{
		html(page,
			 "<p>Rows near one another form a class, of any shape. Where they differ, it shows a range, "
			 "a set, a level of a hierarchy, or nothing.</p>\n");
		return;
	}
	if (value_of(run, 0, "listed") != NULL)
	{
		html(page,
			 is_clustering(report)
				 ? "<p>Of the %h patterns that were listed, each may be that of one class of rows only.</p>\n"
				 : "<p>A row may be blanked in one of the %h ways that were listed, or as a whole.</p>\n",
			 figure(run, 0, "listed", COUNT));
		return;
	}
	rules = select_rows(
		report, "rules",
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
		char *listed = value_of(rules, i, "names");

		html(page, "<li>%s%h%h</li>\n", value_of(rules, i, "rule"), listed ? " " : "",
			 listed ? code_markup(listed) : "");
	}
	html(page, "</ul><p>A row for which this leaves nothing is blanked as a whole.</p>\n");
}

static void
put_method(Report *report)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;
	char *proven = value_of(run, 0, "proven");
	double gap = number_of(run, 0, "gap");

	html(page, "<p>Which cells are blank was decided by the method <code>%h</code>",
		 figure(run, 0, "method", TEXT));
	if (proven != NULL && strcmp(proven, "t") == 0 && gap == 0)
		html(page, ": under these rules no release loses less; that is proven.</p>\n");
	else if (!isnan(gap) && isfinite(gap))
		html(page,
			 ": no release under these rules costs less than %h, this one costs %h (%h more at most).</p>\n",
			 figure(run, 0, "lower_bound", NUMBER), figure(run, 0, "cost", NUMBER),
			 figure(run, 0, "gap", SHARE));
	else
		html(page, ", a heuristic: it loses little, but perhaps not the least that is possible.</p>\n");
}

void
put_what(Report *report)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;
	Rows *coarser;
	Rows *weights;
	char *residual = value_of(run, 0, "residual");
	char *comment = value_of(run, 0, "comment");
	int64 dropped = count_of(run, 0, "dropped_rows");
	int64 k = count_of(run, 0, "k");

	html(page,
		 "<section id='what'><h2>What was published, and under which rules</h2>\n"
		 "<p>On %h the role %h published the %h %s of %h as the table %h.",
		 figure(run, 0, "started", TEXT), code_markup(value_of(run, 0, "run_by")),
		 figure(run, 0, "row_count", COUNT), plural(count_of(run, 0, "row_count"), "row", "rows"),
		 code_markup(value_of(run, 0, "source")), code_markup(value_of(run, 0, "target")));
	if (dropped > 0)
		html(page, " %h %s left out.", figure(run, 0, "dropped_rows", COUNT),
			 plural(dropped, "row was", "rows were"));
	html(page, "</p>\n");
	if (comment != NULL)
		html(page, "<p class='soft'>The source is described as: &ldquo;%s&rdquo;</p>\n", comment);
	html(
		page,
		"<p>%s %h %s <em>quasi-identifiers</em>: what somebody could know of a person and look for. "
		"In the table, their values either stand as they were or are left blank (<em>suppressed</em>), such that "
		"<strong>every combination that it shows occurs at least %n %s</strong>.</p>\n",
		plural(report->columns->n, "The column", "The columns"), names_markup(report->columns, "column_name"),
		plural(report->columns->n, "is taken as the", "are taken as the"), k, plural(k, "time", "times"));
	if (report->kept->n > 0)
		html(page,
			 "<p>%h %s published beside them, unchanged. Nothing else of the source is in the table.</p>\n",
			 names_markup(report->kept, "name"), plural(report->kept->n, "is", "are"));
	else
		html(page, "<p>Nothing else of the source is in the table.</p>\n");
	coarser =
		select_rows(report, "hierarchies",
					"SELECT c.column_name FROM {}.kanon_usefulness u JOIN {}.kanon_columns c USING (run)"
					" WHERE u.run = $1 AND jsonb_typeof(u.options -> 'hierarchies') = 'object'"
					" AND u.options -> 'hierarchies' ? c.column_name ORDER BY c.ordinal");
	if (coarser->n > 0)
		html(page,
			 "<p>Of %h a cell may also show something coarser than the value, a level of the column&rsquo;s "
			 "<em>hierarchy</em>; only above the last level is it blank.</p>\n",
			 names_markup(coarser, "column_name"));
	put_patterns_allowed(report);
	weights =
		select_rows(report, "weights",
					"SELECT c.column_name, w.weight FROM {}.kanon_usefulness u, {}.kanon_columns c,"
					" jsonb_array_elements_text(u.options -> 'weights') WITH ORDINALITY AS w (weight, nr)"
					" WHERE u.run = $1 AND c.run = $1 AND w.nr = c.ordinal ORDER BY w.nr");
	if (weights->n > 0)
	{
		html(page, "<p>A blank cell costs: ");
		for (int i = 0; i < weights->n; i++)
			html(page, "%h%h %s", i > 0 ? ", " : "", code_markup(value_of(weights, i, "column_name")),
				 value_of(weights, i, "weight"));
		html(page, ". The release was chosen to cost little.</p>\n");
	}
	if (residual != NULL)
		html(page, "<p>Rows that fit nowhere, if they are fewer than %n, %s.</p>\n", k,
			 strcmp(residual, "suppress") == 0 ? "are published with all these columns blank"
			 : strcmp(residual, "drop") == 0   ? "are left out"
											   : "would have stopped the publication");
	put_method(report);
	html(page, "</section>\n");
}
