/*
 * pattern_guided.c: kanon_pattern_guided, from its arguments to the table that
 * is published and the patterns that were used.
 */
#include "compat.h"
#include "api/args.h"
#include "api/run.h"

#include <math.h>

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_pattern_guided);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE, ARG_TARGET, ARG_QIS, ARG_K, ARG_PATTERNS, ARG_KEEP, ARG_WEIGHTS, ARG_METHOD,
	ARG_CATEGORICAL, ARG_RESIDUAL, ARG_MARK, ARG_REPLACE, ARG_DRY_RUN, ARG_RULES, ARG_TIME_LIMIT,
	ARG_GAP, ARG_SEED, ARG_EFFORT
};

/* Which patterns are allowed: a list, rules, or every combination. */
static void
mask_args(FunctionCallInfo fcinfo, const Source *source, KanonMask *mask)
{
	mask->max_suppressed = -1;
	mask->max_cost = INFINITY;
	mask->order = KANON_ORDER_DOMAIN;
	if (!PG_ARGISNULL(ARG_PATTERNS) && !PG_ARGISNULL(ARG_RULES))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("patterns and rules cannot both be given"),
				 errhint("List the patterns, or say them in rules.")));
	if (!PG_ARGISNULL(ARG_PATTERNS))
	{
		mask->order = KANON_ORDER_GIVEN;
		mask->list = patterns_parse(PG_GETARG_ARRAYTYPE_P(ARG_PATTERNS), source->nqis, &mask->nlist);
	}
	else if (!PG_ARGISNULL(ARG_RULES))
		rules_parse(PG_GETARG_JSONB_P(ARG_RULES), source, mask);
}

/* One row per pattern that was used, cheapest first. */
static void
return_patterns(ReturnSetInfo *rsinfo, const KanonProblem *problem, const KanonRelease *release)
{
	for (uint32 i = 0; i < release->nclasses;)
	{
		KanonPattern pattern = release->classes[i].pattern;
		int64		classes = 0,
					rows = 0;
		Datum		values[5];
		bool		nulls[5] = {false};

		for (; i < release->nclasses && release->classes[i].pattern == pattern; i++)
		{
			classes++;
			rows += release->classes[i].rows;
		}
		values[0] = CStringGetTextDatum(pattern_text(pattern, problem->ncolumns));
		values[1] = Float8GetDatum(kanon_pattern_cost(problem, pattern));
		values[2] = Int64GetDatum(classes);
		values[3] = Int64GetDatum(rows);
		values[4] = Int64GetDatum(rows * pg_popcount64(pattern));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/* An exact method that did not come to its proof says so. */
static void
notice_unproven(const char *method, const KanonReport *report)
{
	if (report->proven || isinf(report->lower_bound))
		return;
	if (strcmp(method, "ilp") == 0)
		ereport(NOTICE,
				(errmsg("the release is not proven to be optimal"),
				 errdetail("Its cost is %.10g, no release costs less than %.10g (gap %.2f %%).",
						   report->cost, report->lower_bound,
						   100 * report_gap(report)),
				 errhint("Raise time_limit, or accept the gap by gap => %.3f.",
						 ceil(1000 * report_gap(report)) / 1000)));
}

Datum
kanon_pattern_guided(PG_FUNCTION_ARGS)
{
	KanonProblem wanted = {0};	/* its limits, until there is a run */
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
	wanted.residual = residual_parse(text_arg(fcinfo, ARG_RESIDUAL, "residual",
											  "It is 'suppress', 'drop' or 'error'."));
	mark = bool_arg(fcinfo, ARG_MARK, "mark");
	replace = bool_arg(fcinfo, ARG_REPLACE, "replace");
	dry_run = bool_arg(fcinfo, ARG_DRY_RUN, "dry_run");
	wanted.time_limit = time_limit_arg(fcinfo, ARG_TIME_LIMIT);
	wanted.gap = gap_arg(fcinfo, ARG_GAP);
	refuse_null(fcinfo, ARG_SEED, "seed", "Any number will do; the same one gives the same release.");
	wanted.seed = (uint64) PG_GETARG_INT64(ARG_SEED);
	wanted.effort = effort_arg(fcinfo, ARG_EFFORT);
	if (!dry_run)
		target = text_arg(fcinfo, ARG_TARGET, "target",
						  "Name the table to create, or say dry_run => true to write nothing.");

	kanon_begin_srf(fcinfo);
	run = run_begin(fcinfo, "kanon_pattern_guided", PG_GETARG_OID(ARG_SOURCE),
					array_arg(fcinfo, ARG_QIS), array_arg(fcinfo, ARG_KEEP),
					array_arg(fcinfo, ARG_CATEGORICAL));
	run->problem.residual = wanted.residual;
	run->problem.time_limit = wanted.time_limit;
	run->problem.gap = wanted.gap;
	run->problem.seed = wanted.seed;
	run->problem.effort = wanted.effort;
	mask_args(fcinfo, run->source, &run->problem.mask);
	weights = weights_parse(array_arg(fcinfo, ARG_WEIGHTS), run->source->nqis);
	if (!dry_run)
		run_target(run, target, replace, mark);

	run_read(run, k, weights);
	rules_notice_empty(&run->problem);
	run_solve(run, method, solve);
	if (run->types->nrows > 0)
		notice_unproven(method, &run->report);
	if (!dry_run)
		run_publish(run);
	return_patterns((ReturnSetInfo *) fcinfo->resultinfo, &run->problem, &run->release);
	run_end(run);
	return (Datum) 0;
}
