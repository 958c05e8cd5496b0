/*
 * transactions.c: the page of a run over sets of items: what it promises and what it
 * lost.  Such a run has no classes, patterns or quasi-identifiers.
 */
#include "compat.h"
#include "report/report.h"

static void
put_head(Report *report)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;

	put_style(report, "sets of items");
	html(page,
		 "<header><p class='over'>Release report &middot; kanon %h &middot; run %h</p>\n"
		 "<h1>What was published as %s</h1>\n",
		 figure(run, 0, "version", TEXT), figure(run, 0, "run", TEXT), value_of(run, 0, "target"));
	html(page,
		 "<ul class='tiles'><li><b>%h</b><span>transactions published</span></li>"
		 "<li><b>%h</b><span>NCP: what the items lost, of all they could</span></li>"
		 "<li><b>%h</b><span>items left out, of their occurrences</span></li></ul></header>\n",
		 figure(run, 0, "row_count", COUNT), figure(run, 0, "ncp", SHARE),
		 figure(run, 0, "suppressed_cells", COUNT));
	html(page, "<nav aria-label='Contents'><a href='#what'>What and how</a> <a href='#measures'>Measures</a> "
			   "<a href='#limits'>Limits</a> <a href='#run'>The run</a></nav>\n");
}

static void
put_sets_what(Report *report)
{
	StringInfo page = &report->page;
	const Rows *run = report->run_row;

	html(page,
		 "<section id='what'><h2>What was published, and under which rules</h2>\n"
		 "<p>On %h the role %h published the %h %s of %h as the table %h.</p>\n",
		 figure(run, 0, "started", TEXT), code_markup(value_of(run, 0, "run_by")),
		 figure(run, 0, "row_count", COUNT),
		 plural(count_of(run, 0, "row_count"), "transaction", "transactions"),
		 code_markup(value_of(run, 0, "source")), code_markup(value_of(run, 0, "target")));
	html(
		page,
		"<p>Each transaction is a set of items. In the table an item stands as it was, as a label of a "
		"<em>hierarchy</em> that stands for several, or not at all, and it is the same in every transaction. "
		"Counted in the table itself: <strong>%s</strong>.</p>\n",
		value_of(run, 0, "note"));
	if (report->kept->n > 0)
		html(page,
			 "<p>%h %s published beside them, unchanged. Nothing else of the source is in the table.</p>\n",
			 names_markup(report->kept, "name"), plural(report->kept->n, "is", "are"));
	else
		html(page, "<p>Nothing else of the source is in the table.</p>\n");
	html(page, "<p>What the items became was decided by the method <code>%h</code>.</p>\n</section>\n",
		 figure(run, 0, "method", TEXT));
}

static void
put_loss(Report *report)
{
	static const struct
	{
		const char *column, *what, *reading;
	} rows[] = {
		{"items_before", "Items before", "Different items in the source."},
		{"items_shown", "Items and labels after", "Different things that the table shows."},
		{"items_suppressed", "Items suppressed", "Items that are nowhere in the table."},
		{"occurrences", "Occurrences", "Items in all transactions of the source."},
		{"occurrences_suppressed", "Occurrences suppressed", "Of these, those of suppressed items."},
		{"empty_before", "Empty before", "Transactions without items in the source."},
		{"empty_after", "Empty after", "Transactions that show nothing. They are in the table all the same."},
		{"frequent_sets", "Most frequent sets",
		 "The most frequent sets of items of the source, 100 at most."},
		{"frequent_preserved", "Of them preserved",
		 "Those that are among as many of the table&rsquo;s, too. More is better."},
	};
	StringInfo page = &report->page;
	Rows *sets = select_rows(report, "transactions",
							 "SELECT s.* FROM {}.kanon_usefulness u, jsonb_to_record(u.transactions) AS s("
							 "items_before bigint, items_shown bigint, items_suppressed bigint,"
							 " occurrences bigint, occurrences_suppressed bigint, empty_before bigint,"
							 " empty_after bigint, frequent_sets bigint, frequent_preserved bigint)"
							 " WHERE u.run = $1");

	html(page, "<section id='measures'><h2>What was lost, in figures</h2>\n");
	TABLE_BEGIN(page, "stack", "Measures of the release, and how to read them", {"Measure", false},
				{"Value", true}, {"How to read it", false});
	html(page, "<tr data-key='ncp'><th scope='row'>NCP</th>");
	table_cell(page, "value", figure(report->run_row, 0, "ncp", NUMBER));
	html(page, "<td class='wide'>Over all occurrences: the share of all items that what is shown may stand "
			   "for. 0 lost nothing, 1 everything.</td></tr>\n");
	for (int i = 0; i < lengthof(rows); i++)
	{
		html(page, "<tr data-key='%s'><th scope='row'>%s</th>", rows[i].column, rows[i].what);
		table_cell(page, "value", figure(sets, 0, rows[i].column, COUNT));
		html(page, "<td class='wide'>%h</td></tr>\n", rows[i].reading);
	}
	table_end(page);
	html(page, "</section>\n");
}

static void
put_sets_limits(Report *report)
{
	html(
		&report->page,
		"<section id='limits'><h2>What this does not protect from</h2>\n<ul>"
		"<li><strong>More knowledge than was assumed.</strong> k<sup>m</sup>-anonymity and coherence are about "
		"who knows at most as many items as were asked for.</li>\n"
		"<li><strong>Knowing what is missing.</strong> Who knows that a person does not have an item knows "
		"more than was counted.</li>\n"
		"<li><strong>What is published beside the items.</strong> A kept column that outsiders know joins "
		"what they know of the items.</li>\n"
		"<li><strong>Several releases.</strong> Two tables of the same persons may identify when they are "
		"joined.</li></ul></section>\n");
}

void
put_transactions(Report *report)
{
	put_head(report);
	put_sets_what(report);
	put_loss(report);
	put_sets_limits(report);
	put_details(report);
}
