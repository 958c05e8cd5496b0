/*
 * cluster.c: kanon_cluster: a table is published in classes of any shape, and one row
 * that sums up comes back.
 */
#include "compat.h"
#include "run/run.h"

#include <math.h>

PG_FUNCTION_INFO_V1(kanon_cluster);

/* Columns of the result. */
enum
{
	OUT_CLASSES,
	OUT_ROW_COUNT,
	OUT_DROPPED,
	OUT_MIN,
	OUT_AVG,
	OUT_MAX,
	OUT_COST,
	OUT_BOUND,
	OUT_GUARANTEE,
	OUT_GCP,
	OUT_USEFULNESS,
	OUT_COLUMNS
};

static void
return_summary(const Run *run, ReturnSetInfo *rsinfo)
{
	const KanonReport *report = &run->report;
	const KanonMeasures *measures = &run->measures;
	bool none = run->release.nclasses == 0;
	bool classless = run->problem.freeform != NULL;
	Datum values[OUT_COLUMNS];
	bool nulls[OUT_COLUMNS] = {false};

	values[OUT_CLASSES] = Int64GetDatum(run->release.nclasses);
	values[OUT_ROW_COUNT] = Int64GetDatum(measures->rows);
	values[OUT_DROPPED] = Int64GetDatum(run->release.dropped);
	values[OUT_MIN] = Int64GetDatum(measures->class_min);
	values[OUT_AVG] = Float8GetDatum(measures->class_avg);
	values[OUT_MAX] = Int64GetDatum(measures->class_max);
	values[OUT_COST] = Float8GetDatum(report->cost);
	values[OUT_BOUND] = Float8GetDatum(report->lower_bound);
	values[OUT_GUARANTEE] = Float8GetDatum(report->guarantee);
	values[OUT_GCP] = Float8GetDatum(measures->gcp);
	values[OUT_USEFULNESS] = Float8GetDatum(measures->usefulness);
	nulls[OUT_CLASSES] = classless;
	nulls[OUT_MIN] = nulls[OUT_AVG] = nulls[OUT_MAX] = nulls[OUT_USEFULNESS] = none || classless;
	nulls[OUT_GCP] = none;
	nulls[OUT_BOUND] = none || isinf(report->lower_bound);
	nulls[OUT_GUARANTEE] = none || report->guarantee == 0;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

Datum
kanon_cluster(PG_FUNCTION_ARGS)
{
	Request request;
	Run *run;

	request_of_call(&request, fcinfo, &cluster_model);
	InitMaterializedSRF(fcinfo, 0);
	run = run_request(&request);
	return_summary(run, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
