/*
 * greedy_found.c: groups that runs with several ks share.
 *
 * A group of k rows that are left is part of one of k rows of the whole problem, of the same pattern.  So while few
 * rows are taken, a run looks for groups in the whole problem, and runs with larger ks take from these what is left:
 * the same classes, as each group's rows are counted before it becomes one.
 */
#include <string.h>

#include "pattern/greedy/greedy.h"

/* As long as so many row types are left, all are searched: so many times the work at most, for each k to come. */
#define SHARED_LEFT 0.5

KanonFound *
greedy_shared(const KanonProblem *problem)
{
	KanonFound *found = problem->found;

	if (found == NULL || found->problem != problem || found->k > problem->k || problem->mask.list != NULL ||
		problem->privacy != NULL || problem->viable != NULL || problem->npopulations > 0)
		return NULL;
	found->k = problem->k;
	return found;
}

void
kanon_found_free(KanonEnv *env, KanonFound *found)
{
	while (found->kept != NULL)
	{
		GreedyKept *kept = found->kept;

		found->kept = kept->next;
		greedy_store_free(&kept->store);
		kanon_free(env, kept);
	}
}

static bool
same_range(const GreedyRange *a, const GreedyRange *b)
{
	return a->low == b->low && a->high == b->high && a->has_after == b->has_after &&
		   (!a->has_after || kanon_same(a->after, b->after));
}

/* The bytes of a store's groups. */
static size_t
size_of(const GreedyStore *store)
{
	return store->types_room * sizeof(uint32_t) + store->groups_room * sizeof(GreedyGroup) +
		   store->patterns_room * (sizeof(GreedyPattern) + 2 * sizeof(uint32_t));
}

/* Forgets groups that are too small for this k, since those that follow are larger; their memory is free for others. */
static void
forget_small(const Greedy *greedy, GreedyStore *store)
{
	size_t before = size_of(store);

	for (uint32_t g = 0; g < store->ngroups; g++)
	{
		GreedyGroup *group = &store->groups[g];
		int64_t rows = 0;

		for (uint32_t i = 0; i < group->count && rows < greedy->searched.k; i++)
			rows += greedy->problem->rows[store->types[group->start + i]];
		if (rows < greedy->searched.k)
			group->count = 0;
	}
	greedy_store_pack(store);
	greedy_store_trim(store);
	greedy->found->room += before - size_of(store);
}

/* Searches the whole problem into the run's own store; *into: where the groups are kept, if there is room for them. */
static KanonStatus
search_all(Greedy *greedy, GreedyRange *range, GreedyStore **into)
{
	uint32_t ntypes = greedy->problem->ntypes;
	uint32_t *types = kanon_alloc(greedy->env, ntypes, sizeof(uint32_t));
	GreedyKept *kept = kanon_alloc0(greedy->env, 1, sizeof(GreedyKept));
	GreedyStore *store = &greedy->store;
	int64_t before = kanon_worked(&greedy->pace);
	KanonStatus status = KANON_NO_MEMORY;

	if (types != NULL && kept != NULL)
	{
		for (uint32_t type = 0; type < ntypes; type++)
			types[type] = type;
		kept->asked = *range;
		status = greedy_search_range(&greedy->search, types, ntypes, range);
	}
	if (status == KANON_OK)
		status = greedy_store_sort(store);
	kanon_free(greedy->env, types);
	greedy_store_trim(store);
	*into = store;
	if (status != KANON_OK || size_of(store) > greedy->found->room)
	{
		greedy->found->needed = size_of(store);
		kanon_free(greedy->env, kept);
		return status;
	}
	greedy->found->room -= size_of(store);
	kept->range = *range;
	kept->work = (uint64_t) (kanon_worked(&greedy->pace) - before);
	kept->store = *store;
	greedy_store_init(store, greedy->index, &greedy->pace, store->most);
	kept->next = greedy->found->kept;
	greedy->found->kept = kept;
	*into = &kept->store;
	return KANON_OK;
}

KanonStatus
greedy_find(Greedy *greedy, GreedyRange *range, GreedyStore **into)
{
	KanonFound *found = greedy->found;
	GreedyKept *kept = found != NULL ? found->kept : NULL;

	*into = NULL;
	while (kept != NULL && !same_range(&kept->asked, range))
		kept = kept->next;
	if (kept != NULL)
	{
		forget_small(greedy, &kept->store);
		*into = &kept->store;
		*range = kept->range;
		/* as if they had been searched for: work ends a search (greedy_enough) */
		return kanon_stop(&greedy->pace, kept->work) ? KANON_CANCELLED : KANON_OK;
	}
	if (found == NULL || !found->more || found->room < found->needed ||
		greedy->nleft < SHARED_LEFT * greedy->problem->ntypes)
		return KANON_OK;
	return search_all(greedy, range, into);
}
