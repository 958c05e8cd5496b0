/*
 * full_domain_history.c: groups of lower nodes that are remembered, in a buffer of bounded size; what was not used for longest
 * gives way (Kohlmayer, Prasser, Eckert, Kemper, Kuhn, "Flash: efficient, stable and optimal k-anonymity", PASSAT 2012).
 */
#include <string.h>

#include "lattice/lattice.h"

Groups *
history_find(Checker *checker, const uint16_t *level)
{
	Groups *best = &checker->base;

	for (int i = 0; i < MAX_SNAPSHOTS; i++)
	{
		Groups *groups = &checker->history[i];
		bool below = groups->age > 0 && groups->total < best->total;

		for (int q = 0; q < checker->lattice->nqis && below; q++)
			below = groups->level[q] <= level[q];
		if (below)
			best = groups;
	}
	best->age = ++checker->age;
	return best;
}

/* The parts of one lie one after the other. */
static size_t
end_of(const Checker *checker, const Groups *groups)
{
	return groups->at[0] + groups->total * ((size_t) checker->block->words + 1);
}

/* So many free words, the first there are, and how many of the groups in use lie before them. */
static bool
find_room(const Checker *checker, size_t words, size_t *at, int *place)
{
	*at = checker->arena_at;
	for (*place = 0; *place < checker->nplaces; (*place)++)
	{
		const Groups *groups = &checker->history[checker->place[*place]];

		if (*at + words <= groups->at[0])
			return true;
		*at = end_of(checker, groups);
	}
	return *at + words <= checker->arena_at + checker->arena_words;
}

/* The groups that were not used for longest give way. */
static void
forget_oldest(Checker *checker)
{
	uint16_t *place = checker->place;
	int oldest = 0;

	for (int i = 1; i < checker->nplaces; i++)
		if (checker->history[place[i]].age < checker->history[place[oldest]].age)
			oldest = i;
	checker->history[place[oldest]].age = 0;
	checker->nplaces--;
	memmove(place + oldest, place + oldest + 1, sizeof(*place) * (size_t) (checker->nplaces - oldest));
}

Groups *
history_reserve(Checker *checker, size_t words, size_t *at)
{
	uint16_t unused = 0;
	int place;

	while (checker->nplaces == MAX_SNAPSHOTS || !find_room(checker, words, at, &place))
		forget_oldest(checker);
	while (checker->history[unused].age > 0)
		unused++;
	memmove(checker->place + place + 1, checker->place + place,
			sizeof(*checker->place) * (size_t) (checker->nplaces - place));
	checker->place[place] = unused;
	checker->nplaces++;
	return &checker->history[unused];
}
