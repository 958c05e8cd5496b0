/*
 * one_class.c: all rows in one class that shows nothing, which everybody matches.  A method that found nothing else has this
 * release where the table as a whole keeps the rules.
 */
#include <string.h>

#include "privacy/population.h"
#include "privacy/rules.h"
#include "release/release.h"

/* All rows in one class that shows nothing. */
static KanonStatus
fill_one_class(const KanonProblem *problem, KanonRelease *release)
{
	release->classes = kanon_alloc0(problem->env, 1, sizeof(KanonClass));
	release->cells = kanon_alloc0(problem->env, (size_t) problem->ncolumns, sizeof(KanonCell));
	release->flows = kanon_alloc(problem->env, problem->ntypes, sizeof(KanonFlow));
	if (release->classes == NULL || release->cells == NULL || release->flows == NULL)
		return KANON_NO_MEMORY;
	release->nclasses = 1;
	release->nflows = problem->ntypes;
	release->classes[0].pattern = kanon_pattern_all(problem->ncolumns);
	for (int c = 0; c < problem->ncolumns; c++)
		release->cells[c].show = KANON_SHOW_NOTHING;
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		release->flows[i] = (KanonFlow){i, 0, problem->rows[i]};
		release->classes[0].rows += problem->rows[i];
	}
	return KANON_OK;
}

KanonStatus
kanon_release_one_class(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonScratch scratch = {.env = problem->env};
	uint32_t *types = kanon_take(&scratch, problem->ntypes, sizeof(uint32_t));
	uint32_t class = 0;
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	status = types == NULL ? KANON_NO_MEMORY : fill_one_class(problem, release);
	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
		types[i] = i;
	if (status == KANON_OK &&
		!kanon_class_allowed(problem, types, NULL, problem->ntypes, release->classes[0].rows))
		status = KANON_INFEASIBLE;
	if (status == KANON_OK)
		status = kanon_presence_check(problem, release, &class);
	if (status == KANON_OK && problem->npopulations > 0 && class <= release->nclasses)
		status = KANON_INFEASIBLE;
	kanon_scratch_free(&scratch);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	return status;
}

KanonStatus
kanon_release_one_class_or(const KanonProblem *problem, KanonStatus status, KanonRelease *release,
						   KanonReport *report)
{
	KanonReport told = *report;
	KanonRelease whole;
	KanonStatus joined = kanon_release_one_class(problem, &whole, &told);

	if (joined == KANON_INFEASIBLE || joined == KANON_BROKEN)
		return status;
	if (joined != KANON_OK)
		return joined;
	kanon_release_free(problem, release);
	*release = whole;
	*report = told;
	report->detail[0] = '\0';
	report->guarantee = 0;
	report->proven = false;
	return KANON_OK;
}
