/*
 * check.c: kanon_check: how any relation groups by some columns.
 */
#include "compat.h"
#include "host/lines.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "read/grouping.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_check);

/*
 * Plain grouping, NULL equal to NULL.  A blank row has NULL in every column; k
 * and unique_rows are of the other rows.  Nearly every row may be a class of its own,
 * so the classes are counted by their size first, and all else is asked of these few.
 */
static const char *const query =
	"SELECT pg_catalog.min(s.n) FILTER (WHERE NOT s.blank),"
	" coalesce(pg_catalog.sum(s.classes), 0)::pg_catalog.int8,"
	" coalesce(pg_catalog.sum(s.rows), 0)::pg_catalog.int8,"
	" coalesce(pg_catalog.sum(s.classes) FILTER (WHERE s.n OPERATOR(pg_catalog.=) 1 AND NOT s.blank),"
	" 0)::pg_catalog.int8,"
	" coalesce(pg_catalog.sum(s.rows) FILTER (WHERE s.blank), 0)::pg_catalog.int8,"
	" (pg_catalog.sum(s.rows) OPERATOR(pg_catalog./) pg_catalog.sum(s.classes))::pg_catalog.float8,"
	" pg_catalog.max(s.n)"
	" FROM (SELECT g.n, g.blank, pg_catalog.count(*) AS classes,"
	" g.n OPERATOR(pg_catalog.*) pg_catalog.count(*) AS rows"
	" FROM (SELECT %s AS n, %s AS blank FROM %s GROUP BY %s) AS g"
	" GROUP BY g.n, g.blank) AS s";

#define CHECK_COLUMNS 7

static const Oid types[CHECK_COLUMNS] = {INT8OID, INT8OID, INT8OID, INT8OID, INT8OID, FLOAT8OID, INT8OID};

/* Says so when the caller's record has the relation as a freeform release. */
static void
notice_freeform(FunctionCallInfo fcinfo, const Source *source)
{
	const char *schema = quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	Oid text[1] = {TEXTOID};
	Datum values[1] = {CStringGetTextDatum(source->name)};
	bool isnull = true;

	if (SPI_execute_with_args(
			psprintf("SELECT u.matches FROM %s.kanon_usefulness u WHERE u.target OPERATOR(pg_catalog.=) $1"
					 " ORDER BY u.run DESC LIMIT 1",
					 schema),
			1, text, values, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the record of runs");
	if (SPI_processed == 1)
		(void) gate_value(0, 1, INT8OID, &isnull);
	if (!isnull)
		ereport(NOTICE, (errmsg("the table is a freeform release, which has no classes"),
						 errdetail("Its records overlap; the k of equal records says nothing about it."),
						 errhint("Ask kanon_check_freeform, with the table that was published.")));
}

/* kanon_check(relation regclass, quasi_identifiers name[]) */
Datum
kanon_check(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Source *source;
	Gate *gate;
	CountedRows rows;
	int nest;

	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("relation must not be NULL"),
						errhint("Name a table or view.")));
	lines = lines_begin(fcinfo);
	SPI_connect();
	source = source_open(PG_GETARG_OID(0), PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), NULL, NULL);
	source_snapshot(source);
	notice_freeform(fcinfo, source);
	nest = grouping_begin();
	gate = gate_create(source->name, source->relid, CHECK_COLUMNS);
	for (int i = 0; i < CHECK_COLUMNS; i++)
		gate_computed(gate, "", types[i]);
	rows = grouping_counted(source, gate);
	gate_query(gate, psprintf(query, rows.count, rows.blank, rows.from, rows.columns), true);
	grouping_end(nest);
	for (int i = 0; i < CHECK_COLUMNS; i++)
	{
		bool isnull;
		Datum value = gate_value(0, i + 1, types[i], &isnull);

		line_value(lines, value, !isnull);
	}
	line_end(lines);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
