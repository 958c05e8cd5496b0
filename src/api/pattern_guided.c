/*
 * pattern_guided.c: kanon_pattern_guided, from its arguments to the table that
 * is published and the patterns that were used.
 */
#include "compat.h"
#include "api/args.h"
#include "api/run.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_pattern_guided);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE, ARG_TARGET, ARG_QIS, ARG_K, ARG_PATTERNS, ARG_KEEP, ARG_WEIGHTS, ARG_METHOD,
	ARG_CATEGORICAL, ARG_RESIDUAL, ARG_MARK, ARG_REPLACE, ARG_DRY_RUN, ARG_RULES, ARG_TIME_LIMIT,
	ARG_GAP, ARG_SEED, ARG_EFFORT, ARG_CLASS_COLUMN
};

/* What the record keeps of the call: rules of the game and names, never a data value. */
static const int recorded[] = {
	ARG_QIS, ARG_K, ARG_PATTERNS, ARG_KEEP, ARG_WEIGHTS, ARG_METHOD, ARG_CATEGORICAL, ARG_RESIDUAL,
	ARG_MARK, ARG_REPLACE, ARG_RULES, ARG_TIME_LIMIT, ARG_GAP, ARG_SEED, ARG_EFFORT, ARG_CLASS_COLUMN
};

Datum
kanon_pattern_guided(PG_FUNCTION_ARGS)
{
	KanonResidual residual;
	Limits		limits;
	double	   *weights;
	KanonSolve	solve;
	Run		   *run;
	char	   *target = NULL;
	char	   *method;
	bool		dry_run,
				replace,
				mark;
	int64		k;

	/* everything that can be wrong with the arguments, before any work */
	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view to publish.");
	k = k_arg(fcinfo, ARG_K);
	method = text_arg(fcinfo, ARG_METHOD, "method", "'greedy' is the default.");
	solve = method_parse(method);
	residual = residual_parse(text_arg(fcinfo, ARG_RESIDUAL, "residual",
									   "It is 'suppress', 'drop' or 'error'."));
	mark = bool_arg(fcinfo, ARG_MARK, "mark");
	replace = bool_arg(fcinfo, ARG_REPLACE, "replace");
	dry_run = bool_arg(fcinfo, ARG_DRY_RUN, "dry_run");
	limits = limits_arg(fcinfo, ARG_TIME_LIMIT);
	if (!dry_run)
		target = text_arg(fcinfo, ARG_TARGET, "target",
						  "Name the table to create, or say dry_run => true to write nothing.");

	kanon_begin_srf(fcinfo);
	run = run_begin(fcinfo, "kanon_pattern_guided", PG_GETARG_OID(ARG_SOURCE),
					array_arg(fcinfo, ARG_QIS), array_arg(fcinfo, ARG_KEEP),
					array_arg(fcinfo, ARG_CATEGORICAL));
	run->problem.residual = residual;
	set_limits(&run->problem, &limits);
	mask_args(fcinfo, ARG_PATTERNS, ARG_RULES, run->source, &run->problem.mask);
	if (!PG_ARGISNULL(ARG_CLASS_COLUMN))
		run_class_column(run, NameStr(*PG_GETARG_NAME(ARG_CLASS_COLUMN)));
	weights = weights_parse(array_arg(fcinfo, ARG_WEIGHTS), run->source->nqis);
	if (!dry_run)
		run_target(run, target, replace, mark);

	run_read(run, k, weights);
	rules_notice_empty(&run->problem);
	run_solve(run, method, solve);
	if (strcmp(method, "ilp") == 0)
		run_notice_unproven(run);
	if (!dry_run)
	{
		run->record.options = call_options(fcinfo, recorded, lengthof(recorded));
		run_publish(run);
	}
	run_return_patterns(run, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
