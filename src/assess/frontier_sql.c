/*
 * frontier_sql.c: kanon_frontier: what each of several ks would cost.
 */
#include "compat.h"
#include "host/lines.h"
#include "run/request.h"
#include "assess/assess.h"

PG_FUNCTION_INFO_V1(kanon_frontier);

#define ARG_KS 2

/* kanon_frontier(source, quasi_identifiers, ks, TAKES_DRY) */
Datum
kanon_frontier(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Datum values[FRONTIER_COLUMNS];
	bool nulls[FRONTIER_COLUMNS];
	Request request;
	Frontier *frontier;

	refuse_null(fcinfo, ARG_KS, "ks", "Name the ks to compare, such as '{2,5,10,20}'.");
	frontier = frontier_of(PG_GETARG_ARRAYTYPE_P(ARG_KS));
	lines = lines_begin(fcinfo);
	request_of_dry_call(&request, fcinfo, "kanon_frontier", TAKES_DRY, frontier->solutions[0].k);
	frontier_solve(frontier, &request);
	for (int i = 0; i < frontier->n; i++)
	{
		frontier_line(frontier, i, values, nulls);
		for (int c = 0; c < FRONTIER_COLUMNS; c++)
			line_value(lines, values[c], !nulls[c]);
		line_end(lines);
	}
	return (Datum) 0;
}
