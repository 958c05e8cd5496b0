/*
 * classify.c: how well a published table still predicts one of its kept columns.
 *
 * V. S. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002:
 * a row is penalized when it is suppressed, or when its class mostly has another
 * value in that column than it has; CM is the mean penalty.
 */
#include "compat.h"
#include "rows/target.h"
#include "host/catalog.h"
#include "host/gate.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"

/* The sign that a row is fully suppressed; only where nothing is marked may a NULL be any NULL. */
static char *
is_blank(const Target *target, const Source *source)
{
	return target->mark ? pstrdup("pg_catalog.btrim(" KANON_MARK_COLUMN ", '*') OPERATOR(pg_catalog.=) ''")
						: psprintf("pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.=) 0",
								   column_list(source->qis, source->nqis));
}

/*
 * Grouped as a reader of the table would group it.  The columns get names of
 * their own (c1, c2, …), so that none can be mistaken for another.
 */
double
target_classification(const Target *target, const Source *source, const SourceColumn *column, int64 dropped)
{
	StringInfoData columns, names, query;
	Gate *gate = gate_create(target->building, target->relid, 2);
	int nest = grouping_begin();
	double wrong, rows;
	bool isnull;

	initStringInfo(&columns);
	initStringInfo(&names);
	initStringInfo(&query);
	for (int c = 0; c < source->nqis; c++)
	{
		appendStringInfo(&columns, "%s AS c%d, ", source->qis[c].quoted, c + 1);
		appendStringInfo(&names, "c%d, ", c + 1);
	}
	appendStringInfo(
		&query,
		"SELECT pg_catalog.sum(CASE WHEN g.blank THEN g.n ELSE g.n OPERATOR(pg_catalog.-) g.most END)::pg_catalog.float8,"
		" pg_catalog.sum(g.n)::pg_catalog.float8"
		" FROM (SELECT pg_catalog.sum(v.n)::pg_catalog.int8 AS n, pg_catalog.max(v.n) AS most, v.blank"
		" FROM (SELECT %s%s AS mark, pg_catalog.count(*) AS n,"
		" %s AS blank"
		" FROM %s GROUP BY %s%s%s) AS v GROUP BY %smark, blank) AS g",
		columns.data, target->mark ? KANON_MARK_COLUMN : "0", is_blank(target, source), target->building,
		column_list(source->qis, source->nqis), target->mark ? ", " KANON_MARK_COLUMN ", " : ", ",
		column->quoted, names.data);
	gate_computed(gate, "wrong", FLOAT8OID);
	gate_computed(gate, "rows", FLOAT8OID);
	gate_query(gate, query.data, false);
	grouping_end(nest);
	wrong = DatumGetFloat8(gate_value(0, 1, FLOAT8OID, &isnull));
	rows = isnull ? 0 : DatumGetFloat8(gate_value(0, 2, FLOAT8OID, &isnull));
	if (isnull)
		wrong = 0;
	return rows + dropped > 0 ? (wrong + dropped) / (rows + dropped) : 0;
}
