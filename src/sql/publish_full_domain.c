/*
 * publish_full_domain.c: kanon_full_domain: a table is published with every row generalized
 * to the same levels, and the node chosen, or all of them, comes back.
 */
#include "compat.h"
#include "rows/cell_values.h"
#include "run/run.h"

PG_FUNCTION_INFO_V1(kanon_full_domain);

static void
put_node(Lines *lines, const Run *run, const KanonNode *node)
{
	const KanonOutcome *outcome = full_domain_outcome(run);
	bool best = kanon_same(node->pattern, outcome->best.pattern);

	line_text(lines, pattern_text(node->pattern, &run->source->levels));
	line_text(lines, best ? (outcome->proven ? "optimal" : "best") : node->fulfils ? "fulfils" : "fails");
	line_float8(lines, node->metric, node->fulfils);
	line_int8(lines, node->suppressed, node->checked);
	line_int8(lines, node->classes, node->checked);
	line_int8(lines, outcome->nodes, true);
	line_int8(lines, outcome->checked, true);
	line_int8(lines, outcome->tagged, true);
	line_int4(lines, outcome->members - 1, true);
	line_float8(lines, run->report.seconds * 1000, true);
	line_float8(lines, outcome->bound, best);
	line_end(lines);
}

static void
put_nodes(Lines *lines, const Run *run)
{
	const KanonOutcome *outcome = full_domain_outcome(run);

	if (run_is_empty(run))
		return;
	if (outcome->all == NULL)
		put_node(lines, run, &outcome->best);
	for (int64 i = 0; outcome->all != NULL && i < outcome->nodes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_node(lines, run, &outcome->all[i]);
	}
}

Datum
kanon_full_domain(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &full_domain_model, put_nodes);
}
