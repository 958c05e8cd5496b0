/*
 * follow.c: which class the rows of each class before are in, where row types are not divided but for
 * rows that were suppressed.
 */
#include "release/release.h"

void
kanon_follow(const KanonProblem *problem, const KanonPrevious *previous, const KanonRelease *release)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	size_t at = 0;

	if (previous->became == NULL)
		return;
	for (uint32_t c = 0; c < previous->nclasses; c++)
		previous->became[c] = KANON_DROPPED;
	for (size_t f = 0; f < previous->nflows; f++)
	{
		const KanonFlow *flow = &previous->flows[f];
		bool hidden = kanon_same(previous->pattern[flow->class_], all);

		/* of rows that are gone the others of their type tell nothing */
		if (flow->rows == 0)
			continue;
		while (at < release->nflows && release->flows[at].type < flow->type)
			at++;
		for (size_t i = at; i < release->nflows && release->flows[i].type == flow->type; i++)
		{
			uint32_t to = release->flows[i].class_;
			bool alone = i == at && (i + 1 == release->nflows || release->flows[i + 1].type != flow->type);

			if (alone || hidden == (to == KANON_DROPPED || kanon_class_blank(problem, release, to)))
				previous->became[flow->class_] = to;
		}
	}
}
