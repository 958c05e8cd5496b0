/*
 * population_check.c: a release, and a table, looked at for rules about populations.
 */
#include <string.h>

#include "privacy/population.h"
#include "model/model.h"
#include "util/scratch.h"
#include "util/pace.h"
#include "privacy/rules.h"

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

/* ---- greedy: k_map, pattern by pattern ---- */

/* The table as one more population: a class has all of its rows that match it and no class of an earlier pattern. */
static void
add_table(KanonProblem *with, KanonPopulation *table)
{
	*table = (KanonPopulation){.ntypes = with->ntypes, .rows = with->rows, .map = true};
	for (uint32_t type = 0; type < with->ntypes; type++)
		table->total += with->rows[type];
	for (int c = 0; c < with->ncolumns; c++)
		table->code[c] = with->columns[c].code;
	with->npopulations++;
}

/* Has a class k of each population, and its own rows?  group: its number among those that were counted. */
static bool
keeps_map(const KanonPresence *presence, const KanonProblem *problem, const KanonRelease *release,
		  uint32_t class_, uint32_t group)
{
	bool may_lack =
		problem->residual == KANON_RESIDUAL_SUPPRESS && kanon_class_blank(problem, release, class_);

	for (int p = 0; p < problem->npopulations; p++)
		if (kanon_presence_found(presence, p, group) < problem->k &&
			!(may_lack && problem->populations[p].total >= problem->k))
			return false;
	return kanon_presence_found(presence, problem->npopulations, group) == release->classes[class_].rows;
}

/* Counts the classes of one pattern, from `from` to before `to`. */
static KanonStatus
check_pattern(KanonPresence *presence, const KanonProblem *problem, const KanonRelease *release,
			  const uint32_t *member, uint32_t from, uint32_t to, uint32_t *class_)
{
	uint32_t *type = kanon_presence_types(presence);
	KanonStatus status;

	if (to - from > problem->ntypes)
		return KANON_BROKEN;
	for (uint32_t i = from; i < to; i++)
		type[i - from] = member[i];
	status = kanon_presence_count(presence, release->classes[from].pattern, to - from);
	for (uint32_t i = from; i < to && status == KANON_OK; i++)
	{
		if (*class_ > release->nclasses && !keeps_map(presence, problem, release, i, i - from))
			*class_ = i;
		kanon_presence_take(presence, i - from);
	}
	return status;
}

static KanonStatus
check_patterns(const KanonProblem *problem, const KanonRelease *release, uint32_t *class_)
{
	KanonEnv *env = problem->env;
	KanonProblem with = *problem;
	KanonPopulation *populations =
		kanon_alloc(env, (size_t) problem->npopulations + 1, sizeof(KanonPopulation));
	uint32_t *member = kanon_alloc0(env, (size_t) release->nclasses + 1, sizeof(uint32_t));
	KanonPresence *presence = NULL;
	KanonStatus status = populations != NULL && member != NULL ? KANON_OK : KANON_NO_MEMORY;

	if (status == KANON_OK)
	{
		memcpy(populations, problem->populations, (size_t) problem->npopulations * sizeof(KanonPopulation));
		with.populations = populations;
		add_table(&with, &populations[problem->npopulations]);
		for (size_t f = 0; f < release->nflows; f++)
			if (release->flows[f].class_ != KANON_DROPPED)
				member[release->flows[f].class_] = release->flows[f].type;
		status = kanon_presence_open(&with, &presence);
	}
	if (status == KANON_OK)
		status = kanon_presence_by_turns(presence);
	for (uint32_t from = 0, to; from < release->nclasses && status == KANON_OK; from = to)
	{
		for (to = from + 1; to < release->nclasses &&
							kanon_same(release->classes[to].pattern, release->classes[from].pattern);
			 to++)
			;
		status = check_pattern(presence, problem, release, member, from, to, class_);
	}
	kanon_presence_close(presence);
	kanon_free(env, populations);
	kanon_free(env, member);
	return status;
}

/* ---- all ---- */

/* Counts the populations for classes that are one node, one cut or boxes; *n of them, and *rest fully suppressed rows beside. */
static KanonStatus
count_classes(const KanonProblem *problem, KanonPresence *presence, const KanonRelease *release, uint32_t *n,
			  int64_t *rest, uint32_t *class_)
{
	KanonStatus status;

	*n = release->nclasses;
	*rest = 0;
	if (problem->subtree != NULL)
		return count_release_cut(problem, presence, release);
	if (problem->full_domain == NULL)
		return presence_count_boxes(presence, release, class_);
	status = list_classes(problem, presence, release, n, rest);
	return status == KANON_OK
			   ? kanon_presence_count(presence, *n > 0 ? release->classes[0].pattern : KANON_NONE, *n)
			   : status;
}

KanonStatus
kanon_presence_check(const KanonProblem *problem, const KanonRelease *release, uint32_t *class_)
{
	KanonPresence *presence;
	KanonStatus status;
	uint32_t n;
	int64_t rest;

	*class_ = release->nclasses + 1;
	if (problem->npopulations == 0)
		return KANON_OK;
	if (!kanon_global_recoding(problem) && problem->cluster == NULL)
		return check_patterns(problem, release, class_);
	status = kanon_presence_open(problem, &presence);
	if (status != KANON_OK)
		return status;
	status = count_classes(problem, presence, release, &n, &rest, class_);
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

/* ---- a table ---- */

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

/* ---- rules about classes ---- */

KanonStatus
kanon_privacy_check(const KanonProblem *problem, const KanonRelease *release, uint32_t *class_, int *broken)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	KanonPace pace = {.env = problem->env, .phase = "check", .work = KANON_POLL_WORK};
	KanonScratch scratch = {.env = problem->env};
	KanonMembers members;
	KanonStatus status = kanon_release_members(release, &scratch, &members);

	for (*class_ = 0; *class_ < release->nclasses && status == KANON_OK; (*class_)++)
	{
		size_t from = members.start[*class_];
		size_t n = members.start[*class_ + 1] - from;
		bool few = kanon_same(release->classes[*class_].pattern, all) &&
				   kanon_class_blank(problem, release, *class_) &&
				   problem->residual == KANON_RESIDUAL_SUPPRESS;

		if (kanon_stop(&pace, 16 * n))
			status = KANON_CANCELLED;
		else if (!kanon_privacy_allows(problem, members.type + from, members.rows + from, n, few, broken))
			break;
	}
	if (kanon_privacy_failed(problem->privacy))
		status = KANON_NO_MEMORY;
	kanon_scratch_free(&scratch);
	return status;
}
