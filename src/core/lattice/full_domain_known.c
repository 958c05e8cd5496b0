/*
 * full_domain_known.c: the rows that a node shows to somebody who knows few columns.
 *
 * Rows with a rare combination are suppressed whole.  That makes other combinations rarer, and so on until none is.
 * The rows that are left are the largest set without a rare combination: two such sets together are one, too.
 * It stays one at every node above, so that verdicts spread as those of k do.
 */
#include <math.h>
#include <string.h>

#include "lattice/lattice.h"
#include "util/fault.h"

typedef struct Suppression
{
	uint64_t *dead;
	bool any;
} Suppression;

static void
suppress(void *arg, const KanonRare *rare)
{
	Suppression *suppression = arg;

	suppression->any = true;
	for (uint32_t i = 0; i < rare->ntypes; i++)
		suppression->dead[rare->type[i] / 64] |= UINT64_C(1) << rare->type[i] % 64;
}

static bool
is_dead(const Checker *checker, uint32_t type)
{
	return (checker->dead[type / 64] >> type % 64 & 1) != 0;
}

/* Until no combination is rare that living rows show at the node. */
static KanonStatus
suppress_rare(Checker *checker, KanonPattern node, const int64_t *rows)
{
	const Lattice *lattice = checker->lattice;
	KanonProblem shown = *checker->problem;
	KanonKnown known = *shown.known;
	KanonColumn columns[KANON_MAX_QIS];
	const uint64_t *blank[KANON_MAX_QIS];
	Suppression suppression = {.dead = checker->dead, .any = true};
	KanonStatus status = KANON_OK;

	for (int q = 0; q < lattice->nqis; q++)
	{
		int level = lattice_level_of(lattice, node, q);
		bool gone = level == lattice->height[q];

		columns[q] = checker->problem->columns[lattice->first[q] + (gone ? 0 : level)];
		blank[q] = gone ? checker->all_dead : checker->dead;
	}
	known.k = shown.k;
	known.blank = blank;
	shown.ncolumns = lattice->nqis;
	shown.columns = columns;
	shown.rows = rows;
	shown.time_limit = INFINITY;
	while (status == KANON_OK && suppression.any && !FAULT(known_forgotten))
	{
		suppression.any = false;
		status = kanon_rare_find(&shown, &known, suppress, &suppression);
	}
	return status;
}

/* New rows of a class of which rows are suppressed that were there before are suppressed, too. */
static void
suppress_beside(Checker *checker)
{
	for (uint32_t g = 0; g < checker->self->count; g++)
	{
		bool dead = false;

		for (uint32_t i = checker->start[g]; i < checker->start[g + 1]; i++)
			dead = dead || (checker->before[checker->member[i]] > 0 && is_dead(checker, checker->member[i]));
		for (uint32_t i = checker->start[g]; i < checker->start[g + 1]; i++)
			if (dead)
				checker->dead[checker->member[i] / 64] |= UINT64_C(1) << checker->member[i] % 64;
			else if (checker->before[checker->member[i]] == 0)
				checker->dead[checker->member[i] / 64] &= ~(UINT64_C(1) << checker->member[i] % 64);
	}
}

KanonStatus
checker_find_dead(Checker *checker, KanonPattern node)
{
	const KanonProblem *problem = checker->problem;
	KanonStatus status = KANON_OK;

	memset(checker->dead, 0, ((size_t) problem->ntypes + 63) / 64 * sizeof(uint64_t));
	if (checker->before != NULL)
	{
		for (uint32_t type = 0; type < problem->ntypes; type++)
			if (checker->before[type] == 0)
				checker->dead[type / 64] |= UINT64_C(1) << type % 64;
		status = suppress_rare(checker, node, checker->before);
		suppress_beside(checker);
	}
	return status == KANON_OK ? suppress_rare(checker, node, problem->rows) : status;
}

bool
checker_shows(const Checker *checker, uint32_t type)
{
	return checker->dead == NULL || !is_dead(checker, type);
}

KanonStatus
checker_take_dead(Checker *checker)
{
	const KanonProblem *problem = checker->problem;
	const KanonPrevious *previous = problem->full_domain->previous;
	size_t words = ((size_t) problem->ntypes + 63) / 64;

	checker->dead = kanon_alloc0(problem->env, words, sizeof(uint64_t));
	checker->all_dead = kanon_alloc0(problem->env, words, sizeof(uint64_t));
	checker->of_group = kanon_alloc(problem->env, problem->ntypes, sizeof(uint32_t));
	if (checker->dead == NULL || checker->all_dead == NULL || checker->of_group == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		checker->all_dead[type / 64] |= UINT64_C(1) << type % 64;
	if (previous == NULL)
		return KANON_OK;
	checker->before = kanon_alloc0(problem->env, problem->ntypes, sizeof(int64_t));
	for (size_t f = 0; checker->before != NULL && f < previous->nflows; f++)
	{
		int64_t *before = &checker->before[previous->flows[f].type];

		*before += previous->flows[f].rows;
		if (*before > problem->rows[previous->flows[f].type])
			*before = problem->rows[previous->flows[f].type];
	}
	return checker->before == NULL ? KANON_NO_MEMORY : KANON_OK;
}
