/*
 * population_check.c: a release, and a table, looked at for rules about populations.
 */
#include "privacy/population.h"
#include "privacy/turns.h"

/* The classes that show something, which come first; *rows of the one that shows nothing. */
static KanonStatus
list_classes(const KanonProblem *problem, KanonPresence *presence, const KanonRelease *release, uint32_t *n,
			 int64_t *rows)
{
	uint32_t *type = kanon_presence_types(presence);
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	*rows = 0;
	for (*n = 0; *n < release->nclasses && !kanon_same(release->classes[*n].pattern, all); (*n)++)
		if (!kanon_same(release->classes[*n].pattern, release->classes[0].pattern) || *n >= problem->ntypes)
			return KANON_BROKEN;
	for (uint32_t i = *n; i < release->nclasses; i++)
		*rows += release->classes[i].rows;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ < *n)
			type[release->flows[f].class_] = release->flows[f].type;
	return KANON_OK;
}

/* All classes of a cut, that which shows nothing among them. */
static KanonStatus
count_release_cut(const KanonProblem *problem, KanonPresence *presence, const KanonRelease *release)
{
	KanonEnv *env = problem->env;
	uint32_t *type = kanon_presence_types(presence);
	KanonPattern *pattern = kanon_alloc(env, release->nclasses, sizeof(KanonPattern));
	KanonStatus status = KANON_NO_MEMORY;

	if (pattern == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < release->nclasses; i++)
		pattern[i] = release->classes[i].pattern;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			type[release->flows[f].class_] = release->flows[f].type;
	status = kanon_presence_count_cut(presence, pattern, release->nclasses);
	kanon_free(env, pattern);
	return status;
}

KanonStatus
kanon_presence_check(const KanonProblem *problem, const KanonRelease *release, uint32_t *class_)
{
	KanonPresence *presence;
	KanonStatus status = kanon_presence_open(problem, &presence);
	uint32_t n = 0;
	int64_t rest = 0;

	*class_ = release->nclasses + 1;
	if (presence == NULL)
		return status;
	if (kanon_presence_in_turn(problem))
	{
		status = presence_check_turns(presence, release, class_);
		kanon_presence_close(presence);
		return status;
	}
	status = problem->subtree != NULL ? count_release_cut(problem, presence, release)
									  : list_classes(problem, presence, release, &n, &rest);
	if (problem->subtree != NULL)
		n = release->nclasses;
	else if (status == KANON_OK)
		status = kanon_presence_count(presence, n > 0 ? release->classes[0].pattern : KANON_NONE, n);
	for (uint32_t i = 0; i < n && status == KANON_OK && *class_ > release->nclasses; i++)
	{
		if (kanon_presence_allows(presence, i, release->classes[i].rows))
			kanon_presence_take(presence, i);
		else
			*class_ = i;
	}
	if (status == KANON_OK && *class_ > release->nclasses && !kanon_presence_rest(presence, rest))
		*class_ = n;
	kanon_presence_close(presence);
	return status;
}

/* Do two row types differ in sensitive values only? */
static bool
same_cells(const KanonProblem *problem, uint32_t a, uint32_t b)
{
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].code[a] != problem->columns[c].code[b])
			return false;
	return true;
}

KanonStatus
kanon_population_missing(const KanonProblem *problem, int population, int64_t *missing)
{
	KanonPresence *presence;
	KanonStatus status = kanon_presence_open(problem, &presence);
	uint32_t *shows;
	uint32_t n = 0;

	*missing = 0;
	if (presence == NULL)
		return status;
	shows = kanon_presence_types(presence);
	/* they are in order: those that are alike are neighbours */
	for (uint32_t type = 0; type < problem->ntypes; type++)
		if (type == 0 || !same_cells(problem, type - 1, type))
			shows[n++] = type;
	status = kanon_presence_count(presence, KANON_NONE, n);
	for (uint32_t i = 0; i < n && status == KANON_OK; i++)
	{
		int64_t rows = 0;

		for (uint32_t type = shows[i]; type < (i + 1 < n ? shows[i + 1] : problem->ntypes); type++)
			rows += problem->rows[type];
		/* a person of the table may have more rows than there are persons alike */
		*missing += problem->populations[population].person != NULL
						? kanon_presence_found(presence, population, i) == 0
						: kanon_presence_found(presence, population, i) < rows;
	}
	kanon_presence_close(presence);
	return status;
}
