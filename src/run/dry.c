/*
 * dry.c: the arguments and the one read of functions that write nothing.
 */
#include "compat.h"
#include "run/args.h"
#include "run/dry.h"

/* In the order of the SQL declarations; 2 is k or ks. */
enum
{
	ARG_SOURCE,
	ARG_QIS,
	ARG_PATTERNS = 3,
	ARG_WEIGHTS,
	ARG_METHOD,
	ARG_CATEGORICAL,
	ARG_RESIDUAL,
	ARG_RULES,
	ARG_TIME_LIMIT,
	ARG_GAP,
	ARG_SEED,
	ARG_EFFORT,
	ARG_HIERARCHIES,
	ARG_LEVEL_COST,
	ARG_KEEP,
	ARG_PRIVACY
};

void
dry_begin(Dry *dry, FunctionCallInfo fcinfo, const char *function)
{
	KanonResidual residual;
	Limits limits;
	KanonProblem *problem;
	double *weights;
	LevelCost level_cost;
	const KanonSolver *solver;
	Privacy *privacy;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view to look at.");
	dry->method = text_arg(fcinfo, ARG_METHOD, "method", "'greedy' is the default.");
	solver = method_parse(dry->method);
	dry->solve = solver->solve;
	privacy = privacy_arg(fcinfo, ARG_PRIVACY);
	privacy_supported(privacy, dry->method, solver->privacy);
	residual =
		residual_parse(text_arg(fcinfo, ARG_RESIDUAL, "residual", "It is 'suppress', 'drop' or 'error'."));
	limits = limits_arg(fcinfo, ARG_TIME_LIMIT);
	level_cost = level_cost_arg(fcinfo, ARG_LEVEL_COST);

	dry->run = run_begin(fcinfo, function, PG_GETARG_OID(ARG_SOURCE), array_arg(fcinfo, ARG_QIS),
						 array_arg(fcinfo, ARG_KEEP), array_arg(fcinfo, ARG_CATEGORICAL));
	run_privacy(dry->run, privacy);
	run_hierarchies(dry->run, jsonb_arg(fcinfo, ARG_HIERARCHIES));
	problem = &dry->run->problem;
	problem->residual = residual;
	set_limits(problem, &limits);
	mask_args(fcinfo, ARG_PATTERNS, ARG_RULES, dry->run->source, &problem->mask);
	weights = weights_parse(array_arg(fcinfo, ARG_WEIGHTS), dry->run->source->nqis);
	run_read(dry->run, 0, weights, level_cost);
	rules_notice_empty(problem);
}
