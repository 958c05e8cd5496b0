/*
 * freeform.c: kanon_freeform: a table is published without classes, and one row that
 * sums up comes back.
 */
#include "compat.h"
#include "run/freeform.h"

#include <math.h>

PG_FUNCTION_INFO_V1(kanon_freeform);

#define RESULT_COLUMNS 8

/* One row that sums up. */
static void
return_summary(const Run *run, const FreeformCall *call, ReturnSetInfo *rsinfo)
{
	const KanonReport *report = &run->report;
	bool none = run->types->nrows == 0;
	double cells = 0;
	Datum values[RESULT_COLUMNS];
	bool nulls[RESULT_COLUMNS] = {false};

	for (int c = 0; c < run->problem.ncolumns; c++)
		cells += run->problem.columns[c].weight * run->types->nrows;
	values[0] = Int64GetDatum(run->types->nrows);
	values[1] = Int64GetDatum(none ? 0 : call->parts);
	values[2] = Float8GetDatum(none ? 0 : report->cost / cells);
	values[3] = Float8GetDatum(report->cost);
	values[4] = Float8GetDatum(report->lower_bound);
	nulls[4] = none || isinf(report->lower_bound);
	values[5] = BoolGetDatum(report->proven);
	values[6] = Int32GetDatum(call->workers);
	values[7] = Float8GetDatum(run->record.solve_ms);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

Datum
kanon_freeform(PG_FUNCTION_ARGS)
{
	Request request;
	Run *run;

	request_of_call(&request, fcinfo, &freeform_model);
	InitMaterializedSRF(fcinfo, 0);
	run = run_request(&request);
	return_summary(run, request.own, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
