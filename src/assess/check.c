/*
 * check.c: kanon_check: how any relation groups by some columns.
 */
#include "compat.h"
#include "host/lines.h"
#include "host/gate.h"
#include "rows/row_types.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_check);

/* Says so when the caller's record has the relation as a freeform release. */
static void
notice_freeform(FunctionCallInfo fcinfo, const Source *source)
{
	const char *schema = quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	Oid text[1] = {TEXTOID};
	Datum values[1] = {CStringGetTextDatum(source->name)};
	bool isnull = true;

	if (gate_ask(
			psprintf("SELECT u.matches FROM %s.kanon_usefulness u WHERE u.target OPERATOR(pg_catalog.=) $1"
					 " ORDER BY u.run DESC LIMIT 1",
					 schema),
			1, text, values, NULL, true, 1) > 0)
		(void) gate_value(0, 1, INT8OID, &isnull);
	if (!isnull)
		ereport(NOTICE, (errmsg("the table is a freeform release, which has no classes"),
						 errdetail("Its records overlap; the k of equal records says nothing about it."),
						 errhint("Ask kanon_check_freeform, with the table that was published.")));
}

/* A blank row has NULL in every column; the blank ones are a class like any other. */
static void
put_sizes(Lines *lines, const SizeCount *sizes, size_t n)
{
	int64 k = PG_INT64_MAX, classes = 0, rows = 0, unique = 0, blank = 0, largest = 0;

	for (size_t i = 0; i < n; i++)
	{
		classes += sizes[i].classes;
		rows += sizes[i].rows;
		largest = Max(largest, sizes[i].size);
		k = Min(k, sizes[i].size);
		unique += sizes[i].size == 1 ? sizes[i].classes : 0;
		if (sizes[i].blank)
			blank = sizes[i].rows;
	}
	line_int8(lines, k, n > 0);
	line_int8(lines, classes, true);
	line_int8(lines, rows, true);
	line_int8(lines, unique, true);
	line_int8(lines, blank, true);
	line_float8(lines, n > 0 ? (double) rows / (double) classes : 0, n > 0);
	line_int8(lines, largest, n > 0);
	line_end(lines);
}

/* kanon_check(relation regclass, quasi_identifiers name[]) */
Datum
kanon_check(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Source *source;
	SizeCount *sizes;
	size_t n;

	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("relation must not be NULL"),
						errhint("Name a table or view.")));
	lines = lines_begin(fcinfo);
	SPI_connect();
	source = source_open(PG_GETARG_OID(0), PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), NULL, NULL);
	source_snapshot(source);
	notice_freeform(fcinfo, source);
	sizes = class_sizes(source, NULL, &n);
	put_sizes(lines, sizes, n);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
