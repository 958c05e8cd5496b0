/*
 * transactions.c: kanon_transactions: sets of items are published, and one row that
 * sums up comes back.
 */
#include "compat.h"
#include "run/transactions.h"

#include <math.h>

PG_FUNCTION_INFO_V1(kanon_transactions);

/* Columns of the result. */
enum
{
	OUT_TRANSACTIONS,
	OUT_EMPTY,
	OUT_ITEMS,
	OUT_SHOWN,
	OUT_SUPPRESSED,
	OUT_OCCURRENCES,
	OUT_OCCURRENCES_SUPPRESSED,
	OUT_NCP,
	OUT_BOUND,
	OUT_PROVEN,
	OUT_FREQUENT,
	OUT_PRESERVED,
	OUT_COLUMNS
};

static void
return_summary(const Run *run, ReturnSetInfo *rsinfo)
{
	const SetRun *own = run->request->own;
	const KanonSetMeasures *measures = &own->measures;
	bool unbounded = isinf(run->report.lower_bound);
	Datum values[OUT_COLUMNS];
	bool nulls[OUT_COLUMNS] = {false};

	values[OUT_TRANSACTIONS] = Int64GetDatum(own->problem.sets.ntransactions);
	values[OUT_EMPTY] = Int64GetDatum(measures->empty_after);
	values[OUT_ITEMS] = Int64GetDatum(measures->items_before);
	values[OUT_SHOWN] = Int64GetDatum(measures->shown_after);
	values[OUT_SUPPRESSED] = Int64GetDatum(measures->items_suppressed);
	values[OUT_OCCURRENCES] = Int64GetDatum(measures->occurrences);
	values[OUT_OCCURRENCES_SUPPRESSED] = Int64GetDatum(measures->suppressed);
	values[OUT_NCP] = Float8GetDatum(measures->ncp);
	values[OUT_BOUND] = Float8GetDatum(run->report.lower_bound);
	values[OUT_PROVEN] = BoolGetDatum(run->report.proven);
	values[OUT_FREQUENT] = Int32GetDatum(measures->frequent);
	values[OUT_PRESERVED] = Int32GetDatum(measures->frequent_preserved);
	nulls[OUT_BOUND] = unbounded;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

Datum
kanon_transactions(PG_FUNCTION_ARGS)
{
	Request request;
	Run *run;

	request_of_call(&request, fcinfo, &transactions_model);
	if (request.given[OPTION_RHO] && request.k > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("method \"%s\" takes no k", request.method),
				 errhint("Its promise is rho alone.")));
	InitMaterializedSRF(fcinfo, 0);
	run = run_request(&request);
	return_summary(run, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
