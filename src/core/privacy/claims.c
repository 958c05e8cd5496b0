/*
 * claims.c: k_map, of classes that may overlap.
 *
 * Rows of a population are in the table once at most.  So it is not enough that a class matches k of
 * them: who of these has to be in another class is ruled out.  Let three rows (a, b) and one (a, c) be the
 * population, and all four be published, three as (a, b) and one as (a, *): that one matches four, and is (a, c)'s.
 * Therefore each class has k rows of the population for itself: these can be divided among the classes
 * such that each has k that match it, as many as it publishes at least.  Then any of those can be the ones that it
 * publishes, whoever the others' are.
 *
 * Such a division is found here, or not: the rows of the table are in the classes that publish them, rows like them
 * go where these are, while k are lacking there, all others to the first class that they match and that
 * lacks some.  That finds one for what greedy makes of classes in turn, and for classes that have k among
 * rows that are like their own (release/mapped.c).
 *
 * A person may have rows in several classes, whatever rows the population has of them: nobody is ruled out.
 * So persons count in every class that they match.
 */
#include <string.h>

#include "model/shown.h"
#include "privacy/counted.h"
#include "privacy/turns.h"
#include "util/hash.h"
#include "util/sort.h"

/* ---- rows of a population that are like rows of the table ---- */

static bool
same_cells(const KanonProblem *problem, uint32_t a, uint32_t b)
{
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].level == 0 && problem->columns[c].code[a] != problem->columns[c].code[b])
			return false;
	return true;
}

static bool
is_like(const KanonProblem *problem, uint32_t type, const KanonPopulation *population, uint32_t i)
{
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].level == 0 && problem->columns[c].code[type] != population->code[c][i])
			return false;
	return true;
}

KanonStatus
kanon_population_alike(const KanonProblem *problem, const KanonPopulation *population, KanonScratch *scratch,
					   KanonPace *pace, uint32_t **result)
{
	uint32_t *of = *result = kanon_take(scratch, population->ntypes, sizeof(uint32_t));
	size_t mask = 15;
	uint32_t *slots;
	uint64_t work = 2 * (uint64_t) problem->ncolumns + 2;

	while (mask / 2 < problem->ntypes)
		mask = mask * 2 + 1;
	slots = kanon_take(scratch, mask + 1, sizeof(uint32_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	memset(slots, 0xff, (mask + 1) * sizeof(uint32_t));
	/* they are in order: those that are alike are neighbours */
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		uint64_t hash = 0;
		size_t at;

		if (type > 0 && same_cells(problem, type - 1, type))
			continue;
		for (int c = 0; c < problem->ncolumns; c++)
			if (problem->columns[c].level == 0)
				hash = kanon_hash_add(hash, problem->columns[c].code[type]);
		for (at = hash & mask; slots[at] != UINT32_MAX; at = (at + 1) & mask)
			;
		slots[at] = type;
		if (kanon_stop(pace, work))
			return KANON_CANCELLED;
	}
	for (uint32_t i = 0; i < population->ntypes; i++)
	{
		uint64_t hash = 0;
		size_t at;

		for (int c = 0; c < problem->ncolumns; c++)
			if (problem->columns[c].level == 0)
				hash = kanon_hash_add(hash, population->code[c][i]);
		for (at = hash & mask; slots[at] != UINT32_MAX && !is_like(problem, slots[at], population, i);
			 at = (at + 1) & mask)
			;
		of[i] = slots[at];
		if (kanon_stop(pace, work))
			return KANON_CANCELLED;
	}
	kanon_drop(scratch, slots);
	return KANON_OK;
}

/* ---- rows, each for one class ---- */

typedef struct Claims
{
	const KanonProblem *problem;
	const KanonPopulation *population;
	const KanonRelease *release;
	KanonScratch *scratch;
	KanonPace *pace;
	int64_t *lacks; /* [nclasses] rows of the population, to k */
	int64_t *free;  /* [types of the population] rows that are in no class */
} Claims;

static void
give(Claims *claims, uint32_t type, uint32_t class)
{
	int64_t rows = claims->free[type] < claims->lacks[class] ? claims->free[type] : claims->lacks[class];

	if (rows <= 0)
		return;
	claims->free[type] -= rows;
	claims->lacks[class] -= rows;
}

/* What the classes publish is theirs, and rows like that before others. */
static KanonStatus
give_alike(Claims *claims)
{
	const KanonProblem *problem = claims->problem;
	const KanonRelease *release = claims->release;
	uint32_t ntypes = problem->ntypes;
	uint32_t *like = kanon_take(claims->scratch, ntypes, sizeof(uint32_t));
	uint32_t *of;
	KanonStatus status =
		kanon_population_alike(problem, claims->population, claims->scratch, claims->pace, &of);

	if (status != KANON_OK || like == NULL)
		return status != KANON_OK ? status : KANON_NO_MEMORY;
	memset(like, 0xff, ntypes * sizeof(uint32_t));
	for (uint32_t i = 0; i < claims->population->ntypes; i++)
		if (of[i] != KANON_FOREIGN)
			like[of[i]] = i;
	for (uint32_t type = 1; type < ntypes; type++)
		if (like[type] == UINT32_MAX && same_cells(problem, type - 1, type))
			like[type] = like[type - 1];
	for (int own = 1; own >= 0; own--)
		for (size_t f = 0; f < release->nflows; f++)
		{
			const KanonFlow *flow = &release->flows[f];

			if (flow->class_ == KANON_DROPPED || like[flow->type] == UINT32_MAX)
				continue;
			if (own)
				claims->free[like[flow->type]] -= flow->rows;
			else
				give(claims, like[flow->type], flow->class_);
		}
	return kanon_stop(claims->pace, 4 * (uint64_t) release->nflows + 2 * (uint64_t) ntypes) ? KANON_CANCELLED
																							: KANON_OK;
}

/* A row type's, to the classes of a block that lack some. */
static void
give_first(Claims *claims, const Finder *finder, uint32_t type, uint32_t from, uint64_t *lacking)
{
	uint64_t left[WORDS];

	memcpy(left, lacking, sizeof(left));
	if (!finder_match(finder, claims->population, type, left))
		return;
	for (int w = 0; w < WORDS; w++)
		for (; left[w] != 0 && claims->free[type] > 0; left[w] &= left[w] - 1)
		{
			uint32_t class = from + (uint32_t) (w * 64 + __builtin_ctzll(left[w]));

			give(claims, type, class);
			if (claims->lacks[class] == 0)
				lacking[w] &= ~(left[w] & -left[w]);
		}
}

static bool
any_lacks(const int64_t *lacks, uint32_t from, uint32_t nclasses, uint64_t *lacking)
{
	bool any = false;

	memset(lacking, 0, WORDS * sizeof(uint64_t));
	for (uint32_t i = from; i < nclasses && i < from + BLOCK; i++)
		if (lacks[i] > 0)
		{
			lacking[(i - from) / 64] |= UINT64_C(1) << (i - from) % 64;
			any = true;
		}
	return any;
}

static KanonStatus
check_rows(Claims *claims, const Finder *finder)
{
	const KanonPopulation *population = claims->population;
	uint32_t nclasses = claims->release->nclasses;
	Finder block = *finder;
	KanonStatus status;

	claims->free = kanon_take(claims->scratch, population->ntypes, sizeof(int64_t));
	if (claims->free == NULL)
		return KANON_NO_MEMORY;
	memcpy(claims->free, population->rows, population->ntypes * sizeof(int64_t));
	for (uint32_t i = 0; i < nclasses; i++)
		claims->lacks[i] -= claims->release->classes[i].rows;
	status = give_alike(claims);
	for (uint32_t from = 0; from < nclasses && status == KANON_OK; from += BLOCK)
	{
		uint64_t lacking[WORDS];

		if (!any_lacks(claims->lacks, from, nclasses, lacking))
			continue;
		status = finder_take_block(&block, from);
		for (uint32_t i = 0; i < population->ntypes && status == KANON_OK; i++)
		{
			if (claims->free[i] > 0)
				give_first(claims, &block, i, from, lacking);
			if (kanon_stop(claims->pace, WORDS))
				status = KANON_CANCELLED;
		}
	}
	return status;
}

/* ---- persons, each for all classes ---- */

static int
compare_persons(const void *a, const void *b, void *arg)
{
	const uint32_t *person = arg;
	uint32_t left = person[*(const uint32_t *) a];
	uint32_t right = person[*(const uint32_t *) b];

	return left < right ? -1 : left > right;
}

static KanonStatus
check_persons(Claims *claims, const Finder *finder)
{
	const KanonPopulation *population = claims->population;
	uint32_t nclasses = claims->release->nclasses;
	uint32_t *order = kanon_take(claims->scratch, population->ntypes, 2 * sizeof(uint32_t));
	uint32_t *last = kanon_take(claims->scratch, nclasses, sizeof(uint32_t));
	Finder block = *finder;
	KanonStatus status = kanon_taken(claims->scratch);

	if (status != KANON_OK)
		return status;
	for (uint32_t i = 0; i < population->ntypes; i++)
		order[i] = i;
	if (population->person != NULL)
		kanon_sort(order, order + population->ntypes, population->ntypes, sizeof(uint32_t), compare_persons,
				   (void *) population->person);
	memset(last, 0xff, nclasses * sizeof(uint32_t));
	for (uint32_t from = 0; from < nclasses && status == KANON_OK; from += BLOCK)
	{
		uint64_t lacking[WORDS];

		if (!any_lacks(claims->lacks, from, nclasses, lacking))
			continue;
		status = finder_take_block(&block, from);
		for (uint32_t i = 0; i < population->ntypes && status == KANON_OK; i++)
		{
			uint64_t left[WORDS];
			uint32_t type = order[i];

			memcpy(left, lacking, sizeof(left));
			if (kanon_stop(claims->pace, 2 * WORDS))
				status = KANON_CANCELLED;
			if (!finder_match(&block, population, type, left))
				continue;
			for (int w = 0; w < WORDS; w++)
				for (; left[w] != 0; left[w] &= left[w] - 1)
				{
					uint32_t class = from + (uint32_t) (w * 64 + __builtin_ctzll(left[w]));

					if (population->person == NULL)
						claims->lacks[class] -= population->rows[type];
					else if (last[class] != population->person[type])
						claims->lacks[class]--;
					last[class] = population->person != NULL ? population->person[type] : 0;
					if (claims->lacks[class] <= 0)
						lacking[w] &= ~(left[w] & -left[w]);
				}
		}
	}
	return status;
}

KanonStatus
presence_check_map(KanonPresence *presence, int p, const KanonRelease *release, uint32_t *class_)
{
	const KanonProblem *problem = presence->problem;
	Claims claims = {.problem = problem,
					 .population = &problem->populations[p],
					 .release = release,
					 .scratch = &presence->scratch,
					 .pace = &presence->pace};
	Finder finder = {.problem = problem, .release = release, .pace = &presence->pace};
	KanonStatus status = finder_open(&finder, claims.scratch);

	claims.lacks = kanon_take(claims.scratch, release->nclasses, sizeof(int64_t));
	if (status != KANON_OK || claims.lacks == NULL)
		return KANON_NO_MEMORY;
	/* what shows nothing matches everybody; there may be too few of it */
	for (uint32_t i = 0; i < release->nclasses; i++)
		claims.lacks[i] = kanon_class_blank(problem, release, i) && claims.population->total >= problem->k &&
								  (problem->residual == KANON_RESIDUAL_SUPPRESS ||
								   kanon_population_shares(claims.population))
							  ? INT64_MIN / 2
							  : problem->k;
	status = kanon_population_shares(claims.population) ? check_persons(&claims, &finder)
														: check_rows(&claims, &finder);
	for (uint32_t i = 0; i < release->nclasses && status == KANON_OK && *class_ > release->nclasses; i++)
		if (claims.lacks[i] > 0)
			*class_ = i;
	return status;
}
