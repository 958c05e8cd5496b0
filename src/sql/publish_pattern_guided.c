/*
 * publish_pattern_guided.c: kanon_pattern_guided and kanon_pattern_clustering: a table is
 * published, and the patterns that were used come back.
 */
#include "compat.h"
#include "rows/cell_values.h"
#include "run/on_disk_types.h"
#include "run/run.h"

PG_FUNCTION_INFO_V1(kanon_pattern_guided);
PG_FUNCTION_INFO_V1(kanon_pattern_clustering);

static void
put_pattern(Lines *lines, const Run *run, const PatternUse *use)
{
	const Levels *levels = &run->source->levels;

	line_text(lines, pattern_text(use->pattern, levels));
	line_float8(lines, kanon_pattern_cost(&run->problem, use->pattern), true);
	line_int8(lines, use->classes, true);
	line_int8(lines, use->rows, true);
	line_int8(lines, use->rows * pattern_suppressed(use->pattern, levels), true);
	line_end(lines);
}

/* One row per pattern that was used, cheapest first. */
static void
put_patterns(Lines *lines, const Run *run)
{
	const KanonRelease *release = &run->release;

	if (run->parted != NULL)
	{
		for (int i = 0; i < run->parted->nused; i++)
			put_pattern(lines, run, &run->parted->used[i]);
		return;
	}
	for (uint32 i = 0; i < release->nclasses;)
	{
		PatternUse use = {.pattern = release->classes[i].pattern};

		for (; i < release->nclasses && kanon_same(release->classes[i].pattern, use.pattern); i++)
		{
			use.classes++;
			use.rows += release->classes[i].rows;
		}
		put_pattern(lines, run, &use);
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
