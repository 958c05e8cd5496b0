/*
 * item_sql.c: kanon_transactions: sets of items are published, and one row that
 * sums up comes back.
 */
#include "compat.h"
#include "itemsets/item_model.h"
#include "run/run.h"

#include <math.h>

PG_FUNCTION_INFO_V1(kanon_transactions);

static void
put_summary(Lines *lines, const Run *run)
{
	const SetRun *own = run->request->own;
	const KanonSetMeasures *measures = &own->measures;

	line_int8(lines, own->problem.sets.ntransactions, true);
	line_int8(lines, measures->empty_after, true);
	line_int8(lines, measures->items_before, true);
	line_int8(lines, measures->shown_after, true);
	line_int8(lines, measures->items_suppressed, true);
	line_int8(lines, measures->occurrences, true);
	line_int8(lines, measures->suppressed, true);
	line_float8(lines, measures->ncp, true);
	line_float8(lines, run->report.lower_bound, !isinf(run->report.lower_bound));
	line_bool(lines, run->report.proven, true);
	line_int4(lines, measures->frequent, true);
	line_int4(lines, measures->frequent_preserved, true);
	line_end(lines);
}

Datum
kanon_transactions(PG_FUNCTION_ARGS)
{
	Request request;

	request_of_call(&request, fcinfo, &transactions_model);
	if (request.given[OPTION_RHO] && request.k > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("method \"%s\" takes no k", request.method),
				 errhint("Its promise is rho alone.")));
	return publish_request(fcinfo, &request, put_summary);
}
