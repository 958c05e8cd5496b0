/*
 * publish_cluster.c: kanon_cluster: a table is published in classes of any shape, and one row
 * that sums up comes back.
 */
#include "compat.h"
#include "run/run.h"

#include <math.h>

PG_FUNCTION_INFO_V1(kanon_cluster);

static void
put_summary(Lines *lines, const Run *run)
{
	const KanonReport *report = &run->report;
	const KanonMeasures *measures = &run->measures;
	bool some = run->release.nclasses > 0;
	bool classes = run->problem.freeform == NULL;

	line_int8(lines, run->release.nclasses, classes);
	line_int8(lines, measures->rows, true);
	line_int8(lines, run->release.dropped, true);
	line_int8(lines, measures->class_min, some && classes);
	line_float8(lines, measures->class_avg, some && classes);
	line_int8(lines, measures->class_max, some && classes);
	line_float8(lines, report->cost, true);
	line_float8(lines, report->lower_bound, some && !isinf(report->lower_bound));
	line_float8(lines, report->guarantee, some && report->guarantee != 0);
	line_float8(lines, measures->gcp, some);
	line_float8(lines, measures->usefulness, some && classes);
	line_end(lines);
}

Datum
kanon_cluster(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &cluster_model, put_summary);
}
