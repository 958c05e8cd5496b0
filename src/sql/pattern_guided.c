/*
 * pattern_guided.c: kanon_pattern_guided and kanon_pattern_clustering: a table is
 * published, and the patterns that were used come back.
 */
#include "compat.h"
#include "read/patterns.h"
#include "run/run.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_pattern_guided);
PG_FUNCTION_INFO_V1(kanon_pattern_clustering);

/* One row per pattern that was used, cheapest first. */
static void
return_patterns(const Run *run, ReturnSetInfo *rsinfo)
{
	const KanonProblem *problem = &run->problem;
	const KanonRelease *release = &run->release;

	for (uint32 i = 0; i < release->nclasses;)
	{
		KanonPattern pattern = release->classes[i].pattern;
		int64 classes = 0, rows = 0;
		Datum values[5];
		bool nulls[5] = {false};

		for (; i < release->nclasses && release->classes[i].pattern == pattern; i++)
		{
			classes++;
			rows += release->classes[i].rows;
		}
		values[0] = CStringGetTextDatum(pattern_text(pattern, &run->source->levels));
		values[1] = Float8GetDatum(kanon_pattern_cost(problem, pattern));
		values[2] = Int64GetDatum(classes);
		values[3] = Int64GetDatum(rows);
		values[4] = Int64GetDatum(rows * pattern_suppressed(pattern, &run->source->levels));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

static Datum
publish(FunctionCallInfo fcinfo, const Model *model)
{
	Request request;
	Run *run;

	request_of_call(&request, fcinfo, model);
	InitMaterializedSRF(fcinfo, 0);
	run = run_request(&request);
	return_patterns(run, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}

Datum
kanon_pattern_guided(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &pattern_guided_model);
}

Datum
kanon_pattern_clustering(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &pattern_clustering_model);
}
