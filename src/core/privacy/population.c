/*
 * population.c: rules about the population that a table's rows are from.
 *
 *	k_map			L. Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS
 *					10(5), 2002: what a class shows matches at least k rows of the
 *					population, however few rows the class has.
 *	delta-presence	M. Nergiz, M. Atzori, C. Clifton, "Hiding the presence of
 *					individuals from shared databases", SIGMOD 2007: for each tuple of
 *					the population the chance to be in the release, which is the
 *					number of rows of the class that it matches by the number of
 *					tuples that match this class, is between dmin and dmax.
 *
 * Both are about releases whose classes show the same columns, so that a tuple
 * matches one class at most.  Tuples that match no class are in the release only
 * by its fully suppressed rows, all with the same chance; without such rows it is 0.
 *
 * k_map holds for whatever is added to a class that keeps it.  The chance of two
 * classes as one is between theirs, so they keep dmin and dmax; with a group that is
 * no class it may be anything.
 */
#include <string.h>

#include "privacy/population.h"
#include "model/mask.h"
#include "util/pace.h"
#include "util/scratch.h"
#include "util/hash.h"

#define NO_GROUP UINT32_MAX

struct KanonPresence
{
	KanonScratch scratch;
	const KanonProblem *problem;
	KanonPace pace;
	uint32_t *type;  /* [ntypes] of each group */
	uint32_t *slots; /* a group or NO_GROUP */
	size_t mask;     /* number of slots - 1 */
	int64_t **found; /* [npopulations][ntypes] by group */
	int64_t *rest;   /* [npopulations] rows that match no class */
};

/* The columns that tell what a pattern shows: of levels, the finest. */
static int
finest_columns(const KanonProblem *problem, KanonPattern pattern, int *columns)
{
	int n = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		if ((pattern & KANON_BIT(c)) == 0 &&
			(problem->columns[c].level == 0 || (pattern & KANON_BIT(c - 1)) != 0))
			columns[n++] = c;
	return n;
}

/* The slot of the group that shows these codes, or an empty one. */
static uint32_t *
find_slot(const KanonPresence *presence, const int *columns, int ncolumns, const uint32_t *codes)
{
	uint64_t hash = 0;
	size_t at;

	for (int i = 0; i < ncolumns; i++)
		hash = kanon_hash_add(hash, codes[i]);
	for (at = hash & presence->mask; presence->slots[at] != NO_GROUP; at = (at + 1) & presence->mask)
	{
		uint32_t type = presence->type[presence->slots[at]];
		int i = 0;

		while (i < ncolumns && presence->problem->columns[columns[i]].code[type] == codes[i])
			i++;
		if (i == ncolumns)
			break;
	}
	return &presence->slots[at];
}

static KanonStatus
count_one(KanonPresence *presence, int p, const int *columns, int ncolumns)
{
	const KanonPopulation *population = &presence->problem->populations[p];
	uint32_t codes[KANON_MAX_COLUMNS];

	for (uint32_t type = 0; type < population->ntypes; type++)
	{
		uint32_t group;
		int i = 0;

		if (kanon_stop(&presence->pace, (uint64_t) ncolumns * 2 + 2))
			return KANON_CANCELLED;
		for (; i < ncolumns; i++)
		{
			codes[i] = population->code[columns[i]][type];
			if (codes[i] == KANON_FOREIGN)
				break;
		}
		if (i < ncolumns)
			continue;
		group = *find_slot(presence, columns, ncolumns, codes);
		if (group != NO_GROUP)
			presence->found[p][group] += population->rows[type];
	}
	return KANON_OK;
}

KanonStatus
kanon_presence_count(KanonPresence *presence, KanonPattern pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;
	int columns[KANON_MAX_COLUMNS];
	int ncolumns = finest_columns(problem, pattern, columns);
	uint32_t codes[KANON_MAX_COLUMNS];
	KanonStatus status = KANON_OK;

	for (presence->mask = 15; presence->mask / 2 < n; presence->mask = presence->mask * 2 + 1)
		;
	memset(presence->slots, 0xff, (presence->mask + 1) * sizeof(uint32_t));
	for (uint32_t group = 0; group < n; group++)
	{
		if (kanon_stop(&presence->pace, (uint64_t) ncolumns * 2 + 2))
			return KANON_CANCELLED;
		for (int i = 0; i < ncolumns; i++)
			codes[i] = problem->columns[columns[i]].code[presence->type[group]];
		*find_slot(presence, columns, ncolumns, codes) = group;
	}
	for (int p = 0; p < problem->npopulations && status == KANON_OK; p++)
	{
		memset(presence->found[p], 0, n * sizeof(int64_t));
		presence->rest[p] = problem->populations[p].total;
		status = count_one(presence, p, columns, ncolumns);
	}
	return status;
}

/* So many rows of so many: is the chance within the bounds? */
static bool
within(const KanonPopulation *population, int64_t rows, int64_t of)
{
	return (double) rows <= population->most * (double) of * (1 + 1e-12) &&
		   population->least * (double) of <= (double) rows * (1 + 1e-12);
}

bool
kanon_presence_allows(const KanonPresence *presence, uint32_t group, int64_t rows)
{
	const KanonProblem *problem;

	if (presence == NULL)
		return true;
	problem = presence->problem;
	for (int p = 0; p < problem->npopulations; p++)
	{
		const KanonPopulation *population = &problem->populations[p];
		int64_t found = presence->found[p][group];

		if (population->map ? found < problem->k : !within(population, rows, found))
			return false;
	}
	return true;
}

void
kanon_presence_take(KanonPresence *presence, uint32_t group)
{
	for (int p = 0; presence != NULL && p < presence->problem->npopulations; p++)
		presence->rest[p] -= presence->found[p][group];
}

bool
kanon_presence_rest(const KanonPresence *presence, int64_t rows)
{
	for (int p = 0; presence != NULL && p < presence->problem->npopulations; p++)
	{
		const KanonPopulation *population = &presence->problem->populations[p];

		/* what shows nothing matches everybody */
		if (population->map ? rows > 0 && population->total < presence->problem->k
							: !within(population, rows, presence->rest[p]))
			return false;
	}
	return true;
}

KanonStatus
kanon_presence_open(const KanonProblem *problem, KanonPresence **result)
{
	KanonEnv *env = problem->env;
	size_t nslots = 16;
	KanonPresence *presence;

	*result = NULL;
	if (problem->npopulations == 0)
		return KANON_OK;
	presence = kanon_alloc0(env, 1, sizeof(KanonPresence));
	if (presence == NULL)
		return KANON_NO_MEMORY;
	while (nslots / 2 < (size_t) problem->ntypes + 1)
		nslots *= 2;
	presence->problem = problem;
	presence->scratch.env = env;
	presence->pace = (KanonPace){.env = env, .phase = "population", .rows_left = -1};
	presence->type = kanon_take(&presence->scratch, problem->ntypes, sizeof(uint32_t));
	presence->slots = kanon_take(&presence->scratch, nslots, sizeof(uint32_t));
	presence->rest = kanon_take(&presence->scratch, (size_t) problem->npopulations, sizeof(int64_t));
	presence->found = kanon_take0(&presence->scratch, (size_t) problem->npopulations, sizeof(int64_t *));
	for (int p = 0; p < problem->npopulations && !presence->scratch.failed; p++)
		presence->found[p] = kanon_take(&presence->scratch, problem->ntypes, sizeof(int64_t));
	if (presence->scratch.failed)
	{
		kanon_presence_close(presence);
		return KANON_NO_MEMORY;
	}
	*result = presence;
	return KANON_OK;
}

void
kanon_presence_close(KanonPresence *presence)
{
	KanonEnv *env;

	if (presence == NULL)
		return;
	env = presence->problem->env;
	kanon_scratch_free(&presence->scratch);
	kanon_free(env, presence);
}

uint32_t *
kanon_presence_types(KanonPresence *presence)
{
	return presence->type;
}

/* The classes that show something, which come first; *rows of the one that shows nothing. */
static KanonStatus
list_classes(KanonPresence *presence, const KanonRelease *release, uint32_t *n, int64_t *rows)
{
	const KanonProblem *problem = presence->problem;
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	*rows = 0;
	for (*n = 0; *n < release->nclasses && release->classes[*n].pattern != all; (*n)++)
		if (release->classes[*n].pattern != release->classes[0].pattern || *n >= problem->ntypes)
			return KANON_BROKEN;
	for (uint32_t i = *n; i < release->nclasses; i++)
		*rows += release->classes[i].rows;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ < *n)
			presence->type[release->flows[f].class_] = release->flows[f].type;
	return KANON_OK;
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
	status = list_classes(presence, release, &n, &rest);
	if (status == KANON_OK)
		status = kanon_presence_count(presence, n > 0 ? release->classes[0].pattern : 0, n);
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
	uint32_t n = 0;

	*missing = 0;
	if (presence == NULL)
		return status;
	/* they are in order: those that are alike are neighbours */
	for (uint32_t type = 0; type < problem->ntypes; type++)
		if (type == 0 || !same_cells(problem, type - 1, type))
			presence->type[n++] = type;
	status = kanon_presence_count(presence, 0, n);
	for (uint32_t i = 0; i < n && status == KANON_OK; i++)
	{
		int64_t rows = 0;

		for (uint32_t type = presence->type[i]; type < (i + 1 < n ? presence->type[i + 1] : problem->ntypes);
			 type++)
			rows += problem->rows[type];
		*missing += presence->found[population][i] < rows;
	}
	kanon_presence_close(presence);
	return status;
}
