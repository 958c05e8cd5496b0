/*
 * known_release.c: a release that shows what is not blank: each row type has its class, and
 * kanon_release_finish makes one of those that show the same.
 */
#include <string.h>

#include "known/known.h"

KanonStatus
kanon_known_release(const KanonShownCells *cells, const KanonMaskIndex *index, KanonRelease *release,
					KanonReport *report)
{
	const KanonProblem *problem = cells->problem;
	KanonEnv *env = problem->env;
	size_t width = (size_t) problem->ncolumns;

	memset(release, 0, sizeof(*release));
	release->nclasses = problem->ntypes;
	release->nflows = problem->ntypes;
	release->classes = kanon_alloc0(env, problem->ntypes, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, problem->ntypes, width * sizeof(KanonCell));
	release->flows = kanon_alloc(env, problem->ntypes, sizeof(KanonFlow));
	if (release->classes == NULL || release->cells == NULL || release->flows == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		release->flows[i] = (KanonFlow){i, i, problem->rows[i]};
		for (int c = 0; c < problem->ncolumns; c++)
			if (kanon_cells_hides(cells, i, c))
				kanon_add(&release->classes[i].pattern, c);
		if (index != NULL)
			release->classes[i].pattern = known_cover(cells, index, i, release->classes[i].pattern);
		for (int c = 0; c < problem->ncolumns; c++)
			if (!kanon_has(release->classes[i].pattern, c))
				release->cells[i * width + (size_t) c] =
					(KanonCell){KANON_SHOW_VALUE, problem->columns[c].code[i] & KANON_MAX_TYPES};
		if (kanon_stop(cells->pace, width))
			return KANON_CANCELLED;
	}
	return kanon_release_finish(problem, release, report);
}
