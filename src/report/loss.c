/*
 * loss.c: the sections on what was lost: by column, by pattern, and in figures.
 */
#include "compat.h"
#include "report/report.h"
#include "report/svg.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

/* More would help nobody. */
#define MOST_PATTERNS 25

void
put_columns(Report *report)
{
	StringInfo page = &report->page;
	const Rows *columns = report->columns;
	SvgBar *bars = palloc0(sizeof(SvgBar) * columns->n);
	int most = 0;
	SvgBars chart = {.caption = {"columns", "Share of blank cells by column", NULL},
					 .nseries = 1,
					 .nbars = columns->n,
					 .bars = bars,
					 .full = true};

	html(page, "<section id='columns'><h2>What was lost, column by column</h2>\n");
	for (int i = 0; i < columns->n; i++)
	{
		bars[i].label = value_of(columns, i, "column_name");
		bars[i].share[0] = number_of(columns, i, "share");
		if (bars[i].share[0] > bars[most].share[0])
			most = i;
	}
	if (count_of(report->run_row, 0, "published_rows") > 0)
	{
		chart.caption.description = bars[most].share[0] > 0
										? psprintf("Most was lost of %s: %.1f per cent of its cells.",
												   bars[most].label, 100 * bars[most].share[0])
										: "Nothing was lost.";
		html(
			page,
			"<figure><figcaption>Share of each column&rsquo;s published cells that are blank</figcaption>\n");
		svg_bars(page, &chart);
		html(page, "</figure>\n");
	}
	TABLE_BEGIN(page, "stack", "Blank cells and distinct values by column", {"Column", false},
				{"Blank cells", true}, {"Share", true}, {"Values before", true}, {"Values after", true},
				{"NCP", true});
	for (int i = 0; i < columns->n; i++)
	{
		char *comment = value_of(columns, i, "comment");

		html(page, "<tr data-key='%s'><th scope='row' class='name'>%s <span class='soft'>%s%h%s</span></th>",
			 value_of(columns, i, "column_name"), value_of(columns, i, "column_name"),
			 value_of(columns, i, "type"), comment != NULL ? " &middot; " : "", comment);
		table_cell(page, "blank cells", figure(columns, i, "suppressed", COUNT));
		table_cell(page, "share", figure(columns, i, "share", SHARE));
		table_cell(page, "values before", figure(columns, i, "distinct_before", COUNT));
		table_cell(page, "values after", figure(columns, i, "distinct_after", COUNT));
		table_cell(page, "NCP", figure(columns, i, "ncp", NUMBER));
		html(page, "</tr>\n");
	}
	table_end(page);
	html(page,
		 "<p class='soft'>Values: how many different ones the column has (a real empty value counts as one). "
		 "NCP: what share of its information the column lost, 0 nothing, 1 all.</p></section>\n");
}

/* The quasi-identifiers as name[]. */
static Datum
column_names(const Report *report)
{
	int n = report->columns->n;
	NameData *names = palloc0(sizeof(NameData) * n);
	Datum *elements = palloc(sizeof(Datum) * n);

	for (int i = 0; i < n; i++)
	{
		namestrcpy(&names[i], value_of(report->columns, i, "column_name"));
		elements[i] = NameGetDatum(&names[i]);
	}
	return PointerGetDatum(construct_array(elements, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR));
}

void
put_patterns(Report *report)
{
	StringInfo page = &report->page;
	Rows *patterns = select_rows(
		report, "kanon_equivalence_classes",
		"SELECT p.*, p.row_count::float8 / u.published AS share"
		" FROM (SELECT c.pattern, count(*) AS classes, sum(c.row_count)::bigint AS row_count,"
		"              sum(c.suppressed_cells)::bigint AS suppressed_cells, min(c.class) AS first,"
		"              count(*) OVER () AS patterns"
		"         FROM {}.kanon_equivalence_classes c WHERE c.run = $1 GROUP BY c.pattern) p,"
		" (SELECT u.row_count - u.dropped_rows AS published FROM {}.kanon_usefulness u WHERE u.run = $1) u"
		" ORDER BY p.row_count DESC, p.first");
	Datum names = column_names(report);
	int shown = Min(patterns->n, MOST_PATTERNS);
	int64 rest = 0;

	html(
		page,
		"<section id='patterns'><h2>Patterns used</h2>\n"
		"<p>One symbol for each quasi-identifier, in their order: <code>-</code> keeps the cell, <code>*</code> "
		"leaves it blank%h. %h different %s allowed, %n %s used.</p>\n",
		value_of(report->run_row, 0, "coarser") != NULL ? ", a digit shows that level of its hierarchy" : "",
		figure(report->run_row, 0, "patterns", COUNT),
		plural(count_of(report->run_row, 0, "patterns"), "pattern was", "patterns were"), (int64) patterns->n,
		plural(patterns->n, "was", "were"));
	TABLE_BEGIN(page, "stack",
				shown < patterns->n ? "The patterns that most rows have" : "Patterns, by number of rows",
				{"Pattern", false}, {"In words", false}, {"Rows", true}, {"Share", true}, {"Classes", true},
				{"Blank cells", true});
	for (int i = 0; i < shown; i++)
	{
		const char *pattern = value_of(patterns, i, "pattern");

		html(page, "<tr data-key='%s'><th scope='row' class='keep'>%h</th><td class='wide'>%s</td>", pattern,
			 code_markup(pattern),
			 TextDatumGetCString(DirectFunctionCall2(kanon_describe, CStringGetTextDatum(pattern), names)));
		table_cell(page, "rows", figure(patterns, i, "row_count", COUNT));
		table_cell(page, "share", figure(patterns, i, "share", SHARE));
		table_cell(page, "classes", figure(patterns, i, "classes", COUNT));
		table_cell(page, "blank cells", figure(patterns, i, "suppressed_cells", COUNT));
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
	table_cell(&report->page, "value", figure(report->run_row, 0, column, kind));
	html(&report->page, "<td class='wide'>%h</td></tr>\n", reading);
}

void
put_measures(Report *report)
{
	StringInfo page = &report->page;

	html(page, "<section id='measures'><h2>What was lost, in figures</h2>\n"
			   "<p>Each compares releases of the same table; none says by itself what is good enough.</p>\n");
	TABLE_BEGIN(page, "stack", "Measures of the release, and how to read them", {"Measure", false},
				{"Value", true}, {"How to read it", false});
	measure_row(report, "Suppressed cells", "suppressed_cells", COUNT,
				"Blank cells among the quasi-identifiers. Fewer is better.");
	measure_row(report, "Suppressed share", "suppressed_share", SHARE,
				"Their share of all published cells of quasi-identifiers.");
	measure_row(report, "Cost", "cost", NUMBER,
				"Suppressed cells, each at its column&rsquo;s weight. What the method tries to keep small.");
	measure_row(report, "Lower bound", "lower_bound", NUMBER,
				"Proven: no release under these rules costs less.");
	measure_row(report, "Usefulness", "usefulness", NUMBER,
				"How different the original rows of a class are, over the classes. Smaller is better.");
	measure_row(report, "Average class", "class_avg", MEAN, "Rows of a class. Close to k is better for use.");
	measure_row(report, "Largest class", "class_max", COUNT, "Rows of the largest class.");
	measure_row(report, "C_avg", "c_avg", NUMBER, "Average class in units of k. 1 is best.");
	measure_row(report, "Discernibility", "discernibility", NUMBER,
				"Each row counts the rows it cannot be told from. Smaller is better.");
	measure_row(report, "ILoss", "iloss", NUMBER,
				"Information lost over all cells, weighted. Smaller is better.");
	measure_row(report, "NCP", "ncp", NUMBER, "Certainty lost, added up over all rows. Smaller is better.");
	measure_row(report, "GCP", "gcp", SHARE, "The same as a share: 0 nothing lost, 100&#8239;% everything.");
	measure_row(report, "Precision", "precision", SHARE, "100&#8239;% nothing lost, 0 everything.");
	measure_row(report, "Entropy lost", "entropy", NUMBER,
				"Bits that the blank cells held. Smaller is better.");
	measure_row(report, "Entropy lost, share", "entropy_share", SHARE,
				"Of what blanking every cell would lose.");
	measure_row(report, "Classification metric", "classification", SHARE,
				"Rows unlike most of their class in the class column. Smaller is better.");
	table_end(page);
	html(page, "</section>\n");
}
