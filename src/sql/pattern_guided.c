/*
 * pattern_guided.c: kanon_pattern_guided, from its arguments to the table that
 * is published and the patterns that were used.
 */
#include "compat.h"
#include "run/publish.h"

PG_FUNCTION_INFO_V1(kanon_pattern_guided);

/* In the order of the SQL declaration. */
enum
{
	ARG_PATTERNS = PUBLISH_K + 1,
	ARG_KEEP,
	ARG_WEIGHTS,
	ARG_METHOD,
	ARG_CATEGORICAL,
	ARG_RESIDUAL,
	ARG_MARK,
	ARG_REPLACE,
	ARG_DRY_RUN,
	ARG_RULES,
	ARG_TIME_LIMIT,
	ARG_GAP,
	ARG_SEED,
	ARG_EFFORT,
	ARG_CLASS_COLUMN,
	ARG_HIERARCHIES,
	ARG_LEVEL_COST,
	ARG_PRIVACY
};

/* What the record keeps of the call: rules of the game and names, never a data value. */
static const int recorded[] = {PUBLISH_QIS,      PUBLISH_K,       ARG_PATTERNS,  ARG_KEEP, ARG_WEIGHTS,
							   ARG_METHOD,       ARG_CATEGORICAL, ARG_RESIDUAL,  ARG_MARK, ARG_REPLACE,
							   ARG_RULES,        ARG_TIME_LIMIT,  ARG_GAP,       ARG_SEED, ARG_EFFORT,
							   ARG_CLASS_COLUMN, ARG_HIERARCHIES, ARG_LEVEL_COST};

static const PublishSignature signature = {.function = "kanon_pattern_guided",
										   .least_k = 2,
										   .k_hint = K_HINT,
										   PUBLISH_COMMON,
										   .limits = ARG_TIME_LIMIT,
										   .class_column = ARG_CLASS_COLUMN,
										   .hierarchies = ARG_HIERARCHIES,
										   .level_cost = ARG_LEVEL_COST,
										   .privacy = ARG_PRIVACY};

Datum
kanon_pattern_guided(PG_FUNCTION_ARGS)
{
	Publish publish;
	KanonResidual residual;
	const char *method;
	const KanonSolver *solver;
	Run *run;

	publish_args(&publish, fcinfo, &signature);
	method = text_arg(fcinfo, ARG_METHOD, "method", "'greedy' is the default.");
	solver = method_parse(method);
	privacy_supported(publish.privacy, method, solver->privacy);
	residual =
		residual_parse(text_arg(fcinfo, ARG_RESIDUAL, "residual", "It is 'suppress', 'drop' or 'error'."));

	run = publish_begin(&publish);
	run->problem.residual = residual;
	mask_args(fcinfo, ARG_PATTERNS, ARG_RULES, run->source, &run->problem.mask);
	publish_read(&publish);
	rules_notice_empty(&run->problem);
	run_solve(run, method, solver->solve);
	if (strcmp(method, "ilp") == 0)
		run_notice_unproven(run, true);
	publish_end(&publish);
	run_return_patterns(run, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
