/*
 * known_release.c: a release that shows what is not blank: each row type has its class, and
 * kanon_release_finish makes one of those that show the same.
 */
#include <string.h>

#include "known/known.h"

KanonStatus
known_release_open(const KanonProblem *problem, KanonRelease *release)
{
	KanonEnv *env = problem->env;

	memset(release, 0, sizeof(*release));
	release->nclasses = problem->ntypes;
	release->nflows = problem->ntypes;
	release->classes = kanon_alloc0(env, problem->ntypes, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, problem->ntypes, (size_t) problem->ncolumns * sizeof(KanonCell));
	release->flows = kanon_alloc(env, problem->ntypes, sizeof(KanonFlow));
	return release->classes == NULL || release->cells == NULL || release->flows == NULL ? KANON_NO_MEMORY
																						: KANON_OK;
}

void
known_release_show(const KanonProblem *problem, KanonRelease *release, uint32_t type)
{
	size_t width = (size_t) problem->ncolumns;

	release->flows[type] = (KanonFlow){type, type, problem->rows[type]};
	for (int c = 0; c < problem->ncolumns; c++)
		if (!kanon_has(release->classes[type].pattern, c))
			release->cells[type * width + (size_t) c] =
				(KanonCell){KANON_SHOW_VALUE, problem->columns[c].code[type] & KANON_MAX_TYPES};
}

KanonStatus
kanon_known_release(const KanonShownCells *cells, const KanonMaskIndex *index, KanonRelease *release,
					KanonReport *report)
{
	const KanonProblem *problem = cells->problem;
	KanonStatus status = known_release_open(problem, release);

	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
	{
		for (int c = 0; c < problem->ncolumns; c++)
			if (kanon_cells_hides(cells, i, c))
				kanon_add(&release->classes[i].pattern, c);
		if (index != NULL)
			release->classes[i].pattern = known_cover(cells, index, i, release->classes[i].pattern);
		known_release_show(problem, release, i);
		if (kanon_stop(cells->pace, (size_t) problem->ncolumns))
			status = KANON_CANCELLED;
	}
	return status == KANON_OK ? kanon_release_finish(problem, release, report) : status;
}
