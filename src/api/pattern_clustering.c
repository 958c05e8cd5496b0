/*
 * pattern_clustering.c: kanon_pattern_clustering, the earlier model in which each
 * listed pattern may be used by one class only.
 */
#include "compat.h"
#include "api/args.h"
#include "api/run.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_pattern_clustering);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE, ARG_TARGET, ARG_QIS, ARG_K, ARG_PATTERNS, ARG_KEEP, ARG_WEIGHTS, ARG_METHOD,
	ARG_CATEGORICAL, ARG_MARK, ARG_REPLACE, ARG_DRY_RUN, ARG_TIME_LIMIT, ARG_GAP, ARG_SEED, ARG_EFFORT
};

static const int recorded[] = {
	ARG_QIS, ARG_K, ARG_PATTERNS, ARG_KEEP, ARG_WEIGHTS, ARG_METHOD, ARG_CATEGORICAL, ARG_MARK,
	ARG_REPLACE, ARG_TIME_LIMIT, ARG_GAP, ARG_SEED, ARG_EFFORT
};

/* A team of one is a team: here k = 1 makes sense. */
static int64
team_size_arg(FunctionCallInfo fcinfo)
{
	refuse_null(fcinfo, ARG_K, "k", "Every cluster will have at least k rows.");
	if (PG_GETARG_INT64(ARG_K) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k must be at least 1"),
				 errhint("Every cluster will have at least k rows.")));
	return PG_GETARG_INT64(ARG_K);
}

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
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("method \"%s\" is not known", word),
			 errhint("Known methods: 'exact', 'greedy'.")));
}

Datum
kanon_pattern_clustering(PG_FUNCTION_ARGS)
{
	int64		k;
	const char *method;
	KanonSolve	solve;
	Limits		limits;
	Run		   *run;
	char	   *target = NULL;
	double	   *weights;
	bool		dry_run,
				replace,
				mark;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view to publish.");
	k = team_size_arg(fcinfo);
	refuse_null(fcinfo, ARG_PATTERNS, "patterns",
				"List the patterns; each may be used by one cluster, listed twice by two.");
	solve = clustering_method(text_arg(fcinfo, ARG_METHOD, "method", "It is 'exact' or 'greedy'."), &method);
	mark = bool_arg(fcinfo, ARG_MARK, "mark");
	replace = bool_arg(fcinfo, ARG_REPLACE, "replace");
	dry_run = bool_arg(fcinfo, ARG_DRY_RUN, "dry_run");
	limits = limits_arg(fcinfo, ARG_TIME_LIMIT);
	if (!dry_run)
		target = text_arg(fcinfo, ARG_TARGET, "target",
						  "Name the table to create, or say dry_run => true to write nothing.");

	kanon_begin_srf(fcinfo);
	run = run_begin(fcinfo, "kanon_pattern_clustering", PG_GETARG_OID(ARG_SOURCE),
					array_arg(fcinfo, ARG_QIS), array_arg(fcinfo, ARG_KEEP),
					array_arg(fcinfo, ARG_CATEGORICAL));
	run->problem.residual = KANON_RESIDUAL_ERROR;
	set_limits(&run->problem, &limits);
	run->problem.mask.list = patterns_parse(PG_GETARG_ARRAYTYPE_P(ARG_PATTERNS), run->source->nqis,
											&run->problem.mask.nlist);
	run->problem.mask.order = KANON_ORDER_GIVEN;
	weights = weights_parse(array_arg(fcinfo, ARG_WEIGHTS), run->source->nqis);
	if (!dry_run)
		run_target(run, target, replace, mark);

	run_read(run, k, weights);
	run_solve(run, method, solve);
	if (solve == kanon_solve_pattern_clustering)
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
