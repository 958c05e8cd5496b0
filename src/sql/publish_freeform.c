/*
 * publish_freeform.c: kanon_freeform: a table is published without classes, and one row that
 * sums up comes back.
 */
#include "compat.h"
#include "run/run.h"

#include <math.h>

PG_FUNCTION_INFO_V1(kanon_freeform);

static void
put_summary(Lines *lines, const Run *run)
{
	const FreeformCall *call = run->request->own;
	const KanonReport *report = &run->report;
	bool some = run->types->nrows > 0;
	double cells = 0;

	for (int c = 0; c < run->problem.ncolumns; c++)
		cells += run->problem.columns[c].weight * run->types->nrows;
	line_int8(lines, run->types->nrows, true);
	line_int8(lines, some ? call->parts : 0, true);
	line_float8(lines, some ? report->cost / cells : 0, true);
	line_float8(lines, report->cost, true);
	line_float8(lines, report->lower_bound, some && !isinf(report->lower_bound));
	line_bool(lines, report->proven, true);
	line_int4(lines, call->workers, true);
	line_float8(lines, run->record.solve_ms, true);
	line_end(lines);
}

Datum
kanon_freeform(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &freeform_model, put_summary);
}
