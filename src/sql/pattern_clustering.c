/*
 * pattern_clustering.c: kanon_pattern_clustering, the earlier model in which each
 * listed pattern may be used by one class only.
 */
#include "compat.h"
#include "run/publish.h"

PG_FUNCTION_INFO_V1(kanon_pattern_clustering);

/* In the order of the SQL declaration. */
enum
{
	ARG_PATTERNS = PUBLISH_K + 1,
	ARG_KEEP,
	ARG_WEIGHTS,
	ARG_METHOD,
	ARG_CATEGORICAL,
	ARG_MARK,
	ARG_REPLACE,
	ARG_DRY_RUN,
	ARG_TIME_LIMIT,
	ARG_GAP,
	ARG_SEED,
	ARG_EFFORT,
	ARG_CLASS_COLUMN,
	ARG_HIERARCHIES,
	ARG_LEVEL_COST,
	ARG_PRIVACY
};

static const int recorded[] = {PUBLISH_QIS, PUBLISH_K,        ARG_PATTERNS,    ARG_KEEP,
							   ARG_WEIGHTS, ARG_METHOD,       ARG_CATEGORICAL, ARG_MARK,
							   ARG_REPLACE, ARG_TIME_LIMIT,   ARG_GAP,         ARG_SEED,
							   ARG_EFFORT,  ARG_CLASS_COLUMN, ARG_HIERARCHIES, ARG_LEVEL_COST};

static const PublishSignature signature = {.function = "kanon_pattern_clustering",
										   .least_k = 1, /* a team of one is a team */
										   .k_hint = "Every cluster will have at least k rows.",
										   PUBLISH_COMMON,
										   .limits = ARG_TIME_LIMIT,
										   .class_column = ARG_CLASS_COLUMN,
										   .hierarchies = ARG_HIERARCHIES,
										   .level_cost = ARG_LEVEL_COST,
										   .privacy = ARG_PRIVACY};

static KanonSolve
clustering_method(const char *word, const char **recorded_name)
{
	if (strcmp(word, "exact") == 0)
	{
		*recorded_name = "pattern_clustering";
		return kanon_solve_pattern_clustering;
	}
	if (strcmp(word, "greedy") == 0)
	{
		*recorded_name = "pattern_clustering_greedy";
		return kanon_solve_pattern_clustering_greedy;
	}
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("method \"%s\" is not known", word),
					errhint("Known methods: 'exact', 'greedy'.")));
}

Datum
kanon_pattern_clustering(PG_FUNCTION_ARGS)
{
	Publish publish;
	const char *method;
	KanonSolve solve;
	KanonMask *mask;
	Run *run;

	publish_args(&publish, fcinfo, &signature);
	refuse_null(fcinfo, ARG_PATTERNS, "patterns",
				"List the patterns; each may be used by one cluster, listed twice by two.");
	solve = clustering_method(text_arg(fcinfo, ARG_METHOD, "method", "It is 'exact' or 'greedy'."), &method);
	privacy_supported(publish.privacy, method, 0);

	run = publish_begin(&publish);
	run->problem.residual = KANON_RESIDUAL_ERROR;
	mask = &run->problem.mask;
	mask->list = patterns_parse(PG_GETARG_ARRAYTYPE_P(ARG_PATTERNS), &run->source->levels, &mask->nlist);
	mask->order = KANON_ORDER_GIVEN;
	publish_read(&publish);
	run_solve(run, method, solve);
	if (solve == kanon_solve_pattern_clustering)
		run_notice_unproven(run, true);
	publish_end(&publish);
	run_return_patterns(run, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
