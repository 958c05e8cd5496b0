/*
 * pattern_guided.c: kanon_pattern_guided and kanon_pattern_clustering: a table is
 * published, and the patterns that were used come back.
 */
#include "compat.h"
#include "read/patterns.h"
#include "sql/publish.h"

PG_FUNCTION_INFO_V1(kanon_pattern_guided);
PG_FUNCTION_INFO_V1(kanon_pattern_clustering);

/* One row per pattern that was used, cheapest first. */
static void
put_patterns(Lines *lines, const Run *run)
{
	const KanonRelease *release = &run->release;
	const Levels *levels = &run->source->levels;

	for (uint32 i = 0; i < release->nclasses;)
	{
		KanonPattern pattern = release->classes[i].pattern;
		int64 classes = 0, rows = 0;

		for (; i < release->nclasses && kanon_same(release->classes[i].pattern, pattern); i++)
		{
			classes++;
			rows += release->classes[i].rows;
		}
		line_text(lines, pattern_text(pattern, levels));
		line_float8(lines, kanon_pattern_cost(&run->problem, pattern), true);
		line_int8(lines, classes, true);
		line_int8(lines, rows, true);
		line_int8(lines, rows * pattern_suppressed(pattern, levels), true);
		line_end(lines);
	}
}

Datum
kanon_pattern_guided(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &pattern_guided_model, put_patterns);
}

Datum
kanon_pattern_clustering(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &pattern_clustering_model, put_patterns);
}
