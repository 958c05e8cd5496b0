/*
 * risk_columns.c: kanon_risk_columns: which columns of a relation tell its rows
 * apart.
 */
#include "compat.h"
#include "core/privacy/subsets.h"
#include "run/args.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_risk_columns);

#define SUBSET_COLUMNS 5

static void
put_subset(ReturnSetInfo *rsinfo, const Source *source, const KanonSubset *subset, bool pairs)
{
	Datum values[SUBSET_COLUMNS];
	bool nulls[SUBSET_COLUMNS] = {false, false, false, false, !pairs};
	const char *names[KANON_SUBSET_MOST];

	for (int i = 0; i < subset->ncolumns; i++)
		names[i] = source->qis[subset->column[i]].name;
	values[0] = PointerGetDatum(name_list(names, subset->ncolumns));
	values[1] = Int64GetDatum(subset->classes);
	values[2] = Int64GetDatum(subset->unique);
	values[3] = Float8GetDatum(subset->distinction);
	values[4] = Float8GetDatum(subset->separation);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	pfree(DatumGetPointer(values[0]));
}

/* kanon_risk_columns(relation regclass, columns name[], supersets boolean) */
Datum
kanon_risk_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	KanonProblem problem = {0};
	Border *border;
	Source *source;
	RowTypes *types;
	KanonSubset *subsets;
	size_t n;
	bool supersets;

	refuse_null(fcinfo, 0, "relation", "Name a table or view.");
	supersets = bool_arg(fcinfo, 2, "supersets");
	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	border = border_create("kanon_risk_columns");
	source = source_open_columns(PG_GETARG_OID(0), array_arg(fcinfo, 1), "columns");
	source_snapshot(source);
	types = rowtypes_read(source, border);
	problem.env = &border->env;
	problem.ncolumns = source->nqis;
	problem.columns = types->columns;
	problem.ntypes = types->ntypes;
	problem.rows = types->rows;
	border_check(border, kanon_rank_subsets(&problem, &subsets, &n), "");
	for (size_t i = 0; i < n; i++)
		if (subsets[i].minimal || supersets)
			put_subset(rsinfo, source, &subsets[i], types->nrows > 1);
	MemoryContextDelete(border->context);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
