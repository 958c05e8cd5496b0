/*
 * risk_columns.c: kanon_risk_columns: which columns of a relation tell its rows
 * apart.
 */
#include "compat.h"
#include "host/lines.h"
#include "core/privacy/rules.h"
#include "run/request.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_risk_columns);

static void
put_subset(Lines *lines, const Source *source, const KanonSubset *subset, bool pairs)
{
	const char *names[KANON_SUBSET_MOST];
	ArrayType *list;

	for (int i = 0; i < subset->ncolumns; i++)
		names[i] = source->qis[subset->column[i]].name;
	list = name_list(names, subset->ncolumns);
	line_value(lines, PointerGetDatum(list), true);
	line_int8(lines, subset->classes, true);
	line_int8(lines, subset->unique, true);
	line_float8(lines, subset->distinction, true);
	line_float8(lines, subset->separation, pairs);
	line_end(lines);
	pfree(list);
}

/* kanon_risk_columns(relation regclass, columns name[], supersets boolean) */
Datum
kanon_risk_columns(PG_FUNCTION_ARGS)
{
	Lines *lines;
	KanonProblem problem = {0};
	Border *border;
	Source *source;
	RowTypes *types;
	KanonSubset *subsets;
	size_t n;
	bool supersets;

	refuse_null(fcinfo, 0, "relation", "Name a table or view.");
	supersets = bool_arg(fcinfo, 2, "supersets");
	lines = lines_begin(fcinfo);
	SPI_connect();
	border = border_create("kanon_risk_columns");
	source = source_open_columns(PG_GETARG_OID(0), array_arg(fcinfo, 1), "columns");
	source_snapshot(source);
	types = rowtypes_read_unsorted(source, 0, border);
	problem.env = &border->env;
	problem.ncolumns = source->nqis;
	problem.columns = types->columns;
	problem.ntypes = types->ntypes;
	problem.rows = types->rows;
	border_check(border, kanon_rank_subsets(&problem, &subsets, &n), "");
	for (size_t i = 0; i < n; i++)
		if (subsets[i].minimal || supersets)
			put_subset(lines, source, &subsets[i], types->nrows > 1);
	MemoryContextDelete(border->context);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
