/*
 * pieces.c: what the sections of a report are made of: figures out of kanon's
 * views, and tables.
 */
#include "compat.h"
#include "report/report.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"

/* ---- the views ---- */

Rows *
select_rows(const Report *report, const char *view, const char *query)
{
	Rows *rows = palloc(sizeof(Rows));
	Oid type = INT8OID;
	Datum run = Int64GetDatum(report->run);
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
	if (SPI_execute_with_args(sql.data, 1, &type, &run, NULL, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read %s", view);
	rows->view = view;
	rows->table = SPI_tuptable;
	rows->n = (int) SPI_processed;
	return rows;
}

char *
value_of(const Rows *rows, int row, const char *column)
{
	int attnum = SPI_fnumber(rows->table->tupdesc, column);

	if (attnum <= 0)
		elog(ERROR, "%s has no column %s", rows->view, column);
	return SPI_getvalue(rows->table->vals[row], rows->table->tupdesc, attnum);
}

int64
count_of(const Rows *rows, int row, const char *column)
{
	char *value = value_of(rows, row, column);

	return value == NULL ? 0 : (int64) strtoll(value, NULL, 10);
}

double
number_of(const Rows *rows, int row, const char *column)
{
	char *value = value_of(rows, row, column);

	return value == NULL ? NAN : strtod(value, NULL);
}

/* ---- markup ---- */

const char *
figure(const Rows *rows, int row, const char *column, Kind kind)
{
	StringInfoData out;
	char *value = value_of(rows, row, column);

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

const char *
code_markup(const char *text)
{
	StringInfoData out;

	initStringInfo(&out);
	html(&out, "<code>%s</code>", text);
	return out.data;
}

const char *
names_markup(const Rows *rows, const char *column)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < rows->n; i++)
		html(&out, "%h%h",
			 i == 0             ? ""
			 : i == rows->n - 1 ? " and "
								: ", ",
			 code_markup(value_of(rows, i, column)));
	return out.data;
}

const char *
plural(int64 n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

void
table_begin(StringInfo page, const char *class_, const char *caption, const Heading *headings, int n)
{
	html(page,
		 "<div class='scroll' tabindex='0' role='region' aria-label='%s'><table class='%s'>"
		 "<caption>%s</caption>",
		 caption, class_, caption);
	for (int i = 0; i < n; i++)
		html(page, "%h<th scope='col'%h>%s</th>%h", i == 0 ? "<thead><tr>" : "",
			 headings[i].number ? " class='num'" : "", headings[i].text, i == n - 1 ? "</tr></thead>" : "");
	html(page, "<tbody>\n");
}

void
table_end(StringInfo page)
{
	html(page, "</tbody></table></div>\n");
}

void
table_cell(StringInfo page, const char *heading, const char *markup)
{
	html(page, "<td class='num' data-head='%s'>%h</td>", heading, markup);
}
