/*
 * report.h: what the parts of kanon_report have in common: report.c (the page),
 * pieces.c (what sections are made of), and a file for each few sections.
 */
#ifndef KANON_REPORT_H
#define KANON_REPORT_H

#include "report/html.h"

#include "executor/spi.h"

/* The outcome of a query; `view` is what its columns are called after. */
typedef struct Rows
{
	const char *view;
	SPITupleTable *table;
	int n;
} Rows;

typedef struct Report
{
	StringInfoData page;
	int64 run;
	Oid caller;         /* the function that was called */
	const char *schema; /* the extension's, quoted */
	Datum ks;           /* bigint[], or 0: no frontier */
	bool with_values;
	Rows *run_row;
	Rows *columns;
	Rows *kept;
	Rows *risk; /* source, target */
} Report;

/* ---- pieces.c: the views ---- */

/* In the query $1 is the run, and each {} the extension's schema. */
extern Rows *select_rows(const Report *report, const char *view, const char *query);

/* As SQL shows it; NULL for NULL. */
extern char *value_of(const Rows *rows, int row, const char *column);

/* 0 for NULL. */
extern int64 count_of(const Rows *rows, int row, const char *column);

/* NaN for NULL. */
extern double number_of(const Rows *rows, int row, const char *column);

/* ---- pieces.c: markup ---- */

/* How a figure is shown. */
typedef enum Kind
{
	COUNT,
	NUMBER,
	MEAN,
	SHARE,
	TIME,
	TEXT
} Kind;

/*
 * A figure with its origin: <data data-of='view.column' value='...'>, with the
 * value as SQL gives it, so that the page can be checked against the views.
 */
extern const char *figure(const Rows *rows, int row, const char *column, Kind kind);
extern const char *code_markup(const char *text);

/* "a, b and c" */
extern const char *names_markup(const Rows *rows, const char *column);
extern const char *plural(int64 n, const char *one, const char *many);

/* A heading of a table's column: its text, and whether numbers stand below. */
typedef struct Heading
{
	const char *text;
	bool number;
} Heading;

extern void table_begin(StringInfo page, const char *class_, const char *caption, const Heading *headings,
						int n);
extern void table_end(StringInfo page);

#define TABLE_BEGIN(page, class_, caption, ...)                             \
	do                                                                      \
	{                                                                       \
		const Heading headings_[] = {__VA_ARGS__};                          \
		table_begin(page, class_, caption, headings_, lengthof(headings_)); \
	} while (0)

/* A cell of numbers; on a phone, where rows are stacked, it carries its heading. */
extern void table_cell(StringInfo page, const char *heading, const char *markup);

/*
 * What the page asks of kanon's other functions it asks of them in C: by their names
 * in SQL others might be found, in a schema where somebody may make some.
 */
extern Datum kanon_describe(PG_FUNCTION_ARGS);

/* report.c: everything up to the page's heading; `what` kind of release it is. */
extern void put_style(Report *report, const char *what);

/* transactions.c: the whole page of a run over sets of items, which the following are not of. */
extern void put_transactions(Report *report);

/* ---- the sections, in the page's order ---- */
extern void put_what(Report *report);  /* what.c */
extern void put_check(Report *report); /* risk.c */
extern void put_risk(Report *report);
extern void put_columns(Report *report); /* loss.c */
extern void put_patterns(Report *report);
extern void put_measures(Report *report);
extern void put_frontier(Report *report); /* frontier.c; under the caller's search_path */
extern void put_values(Report *report);   /* details.c */
extern void put_limits(Report *report);
extern void put_details(Report *report);

#endif
