/*
 * full_domain.c: kanon_full_domain: a table is published with every row generalized
 * to the same levels, and the node chosen, or all of them, comes back.
 */
#include "compat.h"
#include "read/patterns.h"
#include "run/models.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_full_domain);

static void
return_node(const Run *run, const KanonOutcome *outcome, const KanonNode *node, ReturnSetInfo *rsinfo)
{
	Datum values[10];
	bool nulls[10] = {false};
	bool best = node->pattern == outcome->best.pattern;

	values[0] = CStringGetTextDatum(pattern_text(node->pattern, &run->source->levels));
	values[1] = CStringGetTextDatum(best ? "optimal" : node->fulfils ? "fulfils" : "fails");
	values[2] = Float8GetDatum(node->metric);
	values[3] = Int64GetDatum(node->suppressed);
	values[4] = Int64GetDatum(node->classes);
	values[5] = Int64GetDatum(outcome->nodes);
	values[6] = Int64GetDatum(outcome->checked);
	values[7] = Int64GetDatum(outcome->tagged);
	values[8] = Int32GetDatum(outcome->members - 1);
	values[9] = Float8GetDatum(run->report.seconds * 1000);
	nulls[2] = !node->fulfils;
	nulls[3] = nulls[4] = !node->checked;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The node chosen, or every node of the lattice. */
static void
return_outcome(const Run *run, const KanonOutcome *outcome, ReturnSetInfo *rsinfo)
{
	if (run->types->nrows == 0)
		return;
	if (outcome->all == NULL)
		return_node(run, outcome, &outcome->best, rsinfo);
	for (int64 i = 0; outcome->all != NULL && i < outcome->nodes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		return_node(run, outcome, &outcome->all[i], rsinfo);
	}
}

Datum
kanon_full_domain(PG_FUNCTION_ARGS)
{
	Request request;
	Run *run;

	request_of_call(&request, fcinfo, &full_domain_model);
	InitMaterializedSRF(fcinfo, 0);
	run = run_request(&request);
	return_outcome(run, full_domain_outcome(run), (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
