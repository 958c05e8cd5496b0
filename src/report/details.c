/*
 * details.c: the sections at the end: the smallest classes, what k-anonymity
 * does not protect from, and the run itself.
 */
#include "compat.h"
#include "report/report.h"

/* Only when asked for: the one place where data is shown. */
void
put_values(Report *report)
{
	StringInfo page = &report->page;
	Rows *classes =
		select_rows(report, "kanon_equivalence_classes",
					"SELECT c.class, c.pattern, c.row_count, c.shown FROM {}.kanon_equivalence_classes c"
					" WHERE c.run = $1 AND c.shown <> '{ }' ORDER BY c.row_count, c.class LIMIT 10");

	html(page, "<section id='values'><h2>The smallest classes</h2>\n");
	if (classes->n == 0)
	{
		html(page, "<p>No class shows anything.</p></section>\n");
		return;
	}
	html(page, "<p>This section shows data, as it is in the published table.</p>\n");
	TABLE_BEGIN(page, "stack", "The ten smallest classes and what they show", {"Class", false},
				{"Rows", true}, {"Pattern", false}, {"Shows", false});
	for (int i = 0; i < classes->n; i++)
	{
		html(page, "<tr data-key='%s'><th scope='row'>%s</th>", value_of(classes, i, "class"),
			 value_of(classes, i, "class"));
		table_cell(page, "rows", figure(classes, i, "row_count", COUNT));
		html(page, "<td>%h</td><td class='wide name'>%s</td></tr>\n",
			 code_markup(value_of(classes, i, "pattern")), value_of(classes, i, "shown"));
	}
	table_end(page);
	html(page, "</section>\n");
}

void
put_limits(Report *report)
{
	html(
		&report->page,
		"<section id='limits'><h2>What this does not protect from</h2>\n<ul>"
		"<li><strong>Classes that agree.</strong> When all rows of a class share a value in a column that is published "
		"unchanged, that value is known of each of them.</li>\n"
		"<li><strong>Persons with several rows.</strong> k counts rows. A person with many rows can fill a class alone.</li>\n"
		"<li><strong>What was not named.</strong> A column published unchanged that outsiders know identifies "
		"as well as a birth date.</li>\n"
		"<li><strong>Several releases.</strong> Two tables of the same persons, each k-anonymous, may identify "
		"when they are joined.</li></ul></section>\n");
}

void
put_details(Report *report)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;
	Rows *options =
		select_rows(report, "options",
					"SELECT o.key, CASE jsonb_typeof(o.value) WHEN 'string' THEN o.value #>> '{ }'"
					" ELSE o.value::text END AS value"
					" FROM {}.kanon_usefulness u, jsonb_each(u.options) AS o WHERE u.run = $1"
					" ORDER BY o.key COLLATE \"C\"");

	html(page, "<section id='run'><h2>The run</h2>\n");
	table_begin(page, "", "When, how long, by what", NULL, 0);
	html(page, "<tr><th scope='row'>Run</th><td>%h, started %s by %s</td></tr>\n",
		 figure(run, 0, "run", TEXT), value_of(run, 0, "started"), value_of(run, 0, "run_by"));
	html(page, "<tr><th scope='row'>Version</th><td>kanon %s; this page by PostgreSQL %s</td></tr>\n",
		 value_of(run, 0, "version"), PG_VERSION);
	if (value_of(run, 0, "transactions") == NULL)
		html(page, "<tr><th scope='row'>Source</th><td>%h rows, %h different combinations</td></tr>\n",
			 figure(run, 0, "row_count", COUNT), figure(run, 0, "row_types", COUNT));
	html(page, "<tr><th scope='row'>Time</th><td>read %h, solve %h, write %h, check %h</td></tr>\n",
		 figure(run, 0, "read_ms", TIME), figure(run, 0, "solve_ms", TIME), figure(run, 0, "write_ms", TIME),
		 figure(run, 0, "verify_ms", TIME));
	table_end(page);
	if (options->n > 0)
	{
		TABLE_BEGIN(page, "", "Parameters of the call", {"Parameter", false}, {"Value", false});
		for (int i = 0; i < options->n; i++)
			html(page, "<tr><th scope='row'>%s</th><td class='name'>%s</td></tr>\n",
				 value_of(options, i, "key"), value_of(options, i, "value"));
		table_end(page);
	}
	html(
		page,
		"</section>\n<footer class='soft'><p>Made from what kanon recorded when the table was published. The page holds "
		"its style and figures; it loads nothing.</p></footer>\n</main></body></html>\n");
}
