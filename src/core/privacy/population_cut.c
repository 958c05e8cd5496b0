/*
 * population_cut.c: a population counted for the classes of a cut, where what a value shows is the
 * same in every row.
 */
#include <math.h>
#include <string.h>

#include "privacy/population.h"
#include "util/hash.h"

#define SHOWN(column, code) ((uint64_t) (column) << 32 | (code))

/* The slot of the group that shows all this, or an empty one. */
static uint32_t *
find_shown(const KanonPresence *presence, const uint64_t *shown)
{
	size_t nqis = (size_t) presence->nqis;
	uint64_t hash = 0;
	size_t at;

	for (size_t q = 0; q < nqis; q++)
		hash = kanon_hash_add(hash, shown[q]);
	for (at = hash & presence->mask; presence->slots[at] != NO_GROUP; at = (at + 1) & presence->mask)
		if (memcmp(presence->shown + presence->slots[at] * nqis, shown, nqis * sizeof(uint64_t)) == 0)
			break;
	return &presence->slots[at];
}

static KanonStatus
list_shown(KanonPresence *presence, const KanonPattern *pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;

	for (int c = 0; c < problem->ncolumns; c++)
		memset(presence->is_shown[c], 0, problem->columns[c].distinct * sizeof(bool));
	memset(presence->blank, 0, sizeof(presence->blank));
	for (uint32_t group = 0; group < n; group++)
	{
		uint64_t *shown = presence->shown + group * (size_t) presence->nqis;

		if (kanon_stop(&presence->pace, (uint64_t) problem->ncolumns * 2))
			return KANON_CANCELLED;
		for (int q = 0; q < presence->nqis; q++)
		{
			int c = presence_shown_column(presence, q, pattern[group]);
			uint32_t code = c < presence->first[q + 1] ? problem->columns[c].code[presence->type[group]] : 0;

			shown[q] = SHOWN(c, code);
			if (c < presence->first[q + 1])
				presence->is_shown[c][code] = true;
			else
				presence->blank[q] = true;
		}
		*find_shown(presence, shown) = group;
	}
	return KANON_OK;
}

/* The values that a row of a population shows of a quasi-identifier; false: nobody shows that. */
static bool
show_tuple(const KanonPresence *presence, const KanonPopulation *population, uint32_t type, int q,
		   uint64_t *shown)
{
	for (int c = presence->first[q]; c < presence->first[q + 1]; c++)
	{
		uint32_t code = population->code[c][type];

		if (code != KANON_FOREIGN && presence->is_shown[c][code])
		{
			*shown = SHOWN(c, code);
			return true;
		}
	}
	*shown = SHOWN(presence->first[q + 1], 0);
	return presence->blank[q];
}

/* The finest that any group shows of a value. */
static int
shown_by_cut(const KanonPresence *presence, const KanonPopulation *population, int q, uint32_t value,
			 const void *arg)
{
	int c = presence->first[q];

	(void) arg;
	while (c < presence->first[q + 1] && (population->code[c][value] == KANON_FOREIGN ||
										  !presence->is_shown[c][population->code[c][value]]))
		c++;
	return c;
}

/* Does the table lack its value, but not what is above?  It may come to show what is above that, too. */
static bool
wanders(const KanonPresence *presence, const KanonPopulation *population, uint32_t type, int q)
{
	return population->code[presence->first[q]][type] == KANON_FOREIGN &&
		   population->code[presence->first[q + 1] - 1][type] != KANON_FOREIGN;
}

/* Might a row that shows this now show what the group does, or what is below that, at a cut below? */
static bool
may_come_to(const KanonPresence *presence, const KanonPopulation *population, uint32_t type,
			const uint64_t *shown, const uint64_t *group)
{
	for (int q = 0; q < presence->nqis; q++)
	{
		int c = (int) (group[q] >> 32);

		if (group[q] != shown[q] &&
			(!wanders(presence, population, type, q) ||
			 (c < presence->first[q + 1] && population->code[c][type] != (uint32_t) group[q])))
			return false;
	}
	return true;
}

KanonStatus
kanon_presence_count_below(KanonPresence *presence, const KanonPattern *pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;
	uint64_t shown[KANON_MAX_COLUMNS];
	KanonStatus status = kanon_presence_count_cut(presence, pattern, n);

	for (int p = 0; p < problem->npopulations && status == KANON_OK; p++)
	{
		const KanonPopulation *population = &problem->populations[p];

		for (uint32_t type = 0; type < population->ntypes && population->nvalues == NULL; type++)
		{
			bool wandering = false, somewhere = true;

			if (kanon_stop(&presence->pace, (uint64_t) presence->nqis))
				return KANON_CANCELLED;
			for (int q = 0; q < presence->nqis; q++)
				wandering = wandering || wanders(presence, population, type, q);
			if (!wandering)
				continue;
			for (int q = 0; q < presence->nqis; q++)
				somewhere = show_tuple(presence, population, type, q, &shown[q]) && somewhere;
			if (kanon_stop(&presence->pace, (uint64_t) n * (uint64_t) presence->nqis))
				return KANON_CANCELLED;
			/* its own group has it; of a person that counts twice there is too much, not too little */
			for (uint32_t group = 0; group < n; group++)
			{
				const uint64_t *there = presence->shown + group * (size_t) presence->nqis;
				bool own = somewhere && memcmp(there, shown, (size_t) presence->nqis * sizeof(uint64_t)) == 0;

				if (!own && may_come_to(presence, population, type, shown, there))
					presence->found[p][group] += population->person != NULL ? 1 : population->rows[type];
			}
		}
	}
	return status;
}

bool
kanon_presence_may_allow(const KanonPresence *presence, uint32_t group, int64_t rows)
{
	for (int p = 0; p < presence->problem->npopulations; p++)
	{
		const KanonPopulation *population = &presence->problem->populations[p];
		int64_t most = presence->found[p][group];

		if (population->map ? most < presence->problem->k
							: (double) rows > population->most * (double) most * (1 + 1e-12))
			return false;
	}
	return true;
}

KanonStatus
kanon_presence_count_cut(KanonPresence *presence, const KanonPattern *pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;
	uint64_t shown[KANON_MAX_COLUMNS];
	KanonStatus status;

	presence_empty_slots(presence, n);
	status = list_shown(presence, pattern, n);
	for (int p = 0; p < problem->npopulations && status == KANON_OK; p++)
	{
		const KanonPopulation *population = &problem->populations[p];
		size_t npairs = 0;

		memset(presence->found[p], 0, n * sizeof(int64_t));
		presence->rest[p] = population->total;
		if (population->nvalues != NULL)
		{
			presence_add_portions(presence, population, shown_by_cut, NULL);
			status = presence_match_groups(presence, p, pattern, false, n);
			continue;
		}
		for (uint32_t type = 0; type < population->ntypes; type++)
		{
			uint32_t group = NO_GROUP;
			int q = 0;

			if (kanon_stop(&presence->pace, (uint64_t) presence->nqis * 3 + 2))
				return KANON_CANCELLED;
			while (q < presence->nqis && show_tuple(presence, population, type, q, &shown[q]))
				q++;
			if (q == presence->nqis)
				group = *find_shown(presence, shown);
			if (group != NO_GROUP)
				presence_found_type(presence, p, group, type, &npairs);
		}
		status = presence_count_persons(presence, p, npairs);
	}
	return status;
}
