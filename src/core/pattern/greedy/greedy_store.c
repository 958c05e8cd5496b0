/*
 * greedy_store.c: the candidates of a batch of patterns, within bounds.
 */
#include <string.h>

#include "pattern/greedy/greedy.h"
#include "util/sort.h"
#include "util/number.h"

#define FIRST_ROOM 1024

void
greedy_store_init(GreedyStore *store, const KanonMaskIndex *index, KanonPace *pace, size_t most)
{
	memset(store, 0, sizeof(*store));
	store->index = index;
	store->env = index->problem->env;
	store->pace = pace;
	store->most = most;
}

void
greedy_store_clear(GreedyStore *store)
{
	store->words = 0;
	store->ntypes = 0;
	store->ngroups = 0;
	store->npatterns = 0;
	if (store->hash != NULL)
		memset(store->hash, 0xff, 2 * (size_t) store->patterns_room * sizeof(uint32_t));
}

void
greedy_store_free(GreedyStore *store)
{
	kanon_free(store->env, store->types);
	kanon_free(store->env, store->groups);
	kanon_free(store->env, store->patterns);
	kanon_free(store->env, store->hash);
	memset(store, 0, sizeof(*store));
}

/* Where a pattern's number is, or would be, in the hash table. */
static uint32_t *
hash_slot(const GreedyStore *store, KanonPattern pattern)
{
	size_t mask = 2 * (size_t) store->patterns_room - 1;
	size_t at = kanon_pattern_hash(pattern) & mask;

	while (store->hash[at] != GREEDY_NOBODY && !kanon_same(store->patterns[store->hash[at]].pattern, pattern))
		at = (at + 1) & mask;
	return &store->hash[at];
}

/* All patterns into the (cleared) hash table. */
static void
hash_fill(GreedyStore *store)
{
	memset(store->hash, 0xff, 2 * (size_t) store->patterns_room * sizeof(uint32_t));
	for (uint32_t p = 0; p < store->npatterns; p++)
		*hash_slot(store, store->patterns[p].pattern) = p;
}

/* Room for one more pattern; a power of two, for the hash table's sake. */
static bool
grow_patterns(GreedyStore *store)
{
	uint32_t room = store->patterns_room == 0 ? FIRST_ROOM : store->patterns_room * 2;
	GreedyPattern *patterns;
	uint32_t *hash;

	if (room == 0)
		return false;
	patterns = kanon_realloc(store->env, store->patterns, room, sizeof(GreedyPattern));
	if (patterns == NULL)
		return false;
	store->patterns = patterns;
	hash = kanon_alloc(store->env, 2 * (size_t) room, sizeof(uint32_t));
	if (hash == NULL)
		return false;
	kanon_free(store->env, store->hash);
	store->hash = hash;
	store->patterns_room = room;
	hash_fill(store);
	return true;
}

/* A quarter more than before, at least what is asked for. */
static size_t
more_room(size_t room, size_t needed)
{
	room += room / 4 + FIRST_ROOM;
	return room < needed ? needed : room;
}

uint32_t *
greedy_store_add(GreedyStore *store, KanonPattern pattern, uint32_t count)
{
	uint32_t *slot;
	uint32_t number;
	uint32_t *types;

	if (store->npatterns == store->patterns_room && !grow_patterns(store))
		return NULL;
	if (store->ngroups == store->groups_room)
	{
		size_t room = more_room(store->groups_room, 0);
		GreedyGroup *groups;

		if (room >= GREEDY_NOBODY)
			return NULL;
		groups = kanon_realloc(store->env, store->groups, room, sizeof(GreedyGroup));
		if (groups == NULL)
			return NULL;
		store->groups = groups;
		store->groups_room = (uint32_t) room;
	}
	if (store->ntypes + count > store->types_room)
	{
		size_t room = more_room(store->types_room, store->ntypes + count);

		/* groups say with 32 bits where their types start */
		if (room > UINT32_MAX)
			return NULL;
		types = kanon_realloc(store->env, store->types, room, sizeof(uint32_t));
		if (types == NULL)
			return NULL;
		store->types = types;
		store->types_room = room;
	}

	slot = hash_slot(store, pattern);
	if (*slot == GREEDY_NOBODY)
	{
		*slot = store->npatterns;
		store->patterns[store->npatterns++] = (GreedyPattern){pattern, GREEDY_NOBODY, 0};
	}
	number = *slot;
	store->groups[store->ngroups] =
		(GreedyGroup){number, store->patterns[number].first, (uint32_t) store->ntypes, count};
	store->patterns[number].first = store->ngroups++;
	store->patterns[number].words += GREEDY_GROUP_WORDS(count);
	store->words += GREEDY_GROUP_WORDS(count);
	types = store->types + store->ntypes;
	store->ntypes += count;
	return types;
}

/* For a sort that is to end early all are equal. */
static int
compare_patterns(const void *a, const void *b, void *arg)
{
	GreedyStore *store = arg;

	if (store->stopped)
		return 0;
	store->stopped = kanon_stop(store->pace, 16);
	return kanon_mask_compare(store->index, ((const GreedyPattern *) a)->pattern,
							  ((const GreedyPattern *) b)->pattern);
}

KanonStatus
greedy_store_sort(GreedyStore *store)
{
	GreedyPattern *scratch = kanon_alloc(store->env, store->npatterns, sizeof(GreedyPattern));

	if (scratch == NULL)
		return KANON_NO_MEMORY;
	kanon_sort(store->patterns, scratch, store->npatterns, sizeof(GreedyPattern), compare_patterns, store);
	kanon_free(store->env, scratch);
	if (store->stopped)
		return KANON_CANCELLED;

	/* groups and hash table follow */
	for (uint32_t p = 0; p < store->npatterns; p++)
		for (uint32_t g = store->patterns[p].first; g != GREEDY_NOBODY; g = store->groups[g].next)
			store->groups[g].pattern = p;
	if (store->hash != NULL)
		hash_fill(store);
	return KANON_OK;
}

void
greedy_store_pack(GreedyStore *store)
{
	uint32_t ngroups = 0;

	store->ntypes = 0;
	store->words = 0;
	for (uint32_t p = 0; p < store->npatterns; p++)
		store->patterns[p].first = GREEDY_NOBODY;
	for (uint32_t g = 0; g < store->ngroups; g++)
	{
		GreedyGroup group = store->groups[g];

		if (group.count == 0)
			continue;
		memmove(store->types + store->ntypes, store->types + group.start, group.count * sizeof(uint32_t));
		group.start = (uint32_t) store->ntypes;
		group.next = store->patterns[group.pattern].first;
		store->patterns[group.pattern].first = ngroups;
		store->ntypes += group.count;
		store->words += GREEDY_GROUP_WORDS(group.count);
		store->groups[ngroups++] = group;
	}
	store->ngroups = ngroups;
}

void
greedy_store_trim(GreedyStore *store)
{
	uint32_t *types = kanon_realloc(store->env, store->types, store->ntypes, sizeof(uint32_t));
	GreedyGroup *groups = kanon_realloc(store->env, store->groups, store->ngroups, sizeof(GreedyGroup));

	if (types != NULL)
	{
		store->types = types;
		store->types_room = store->ntypes;
	}
	if (groups != NULL)
	{
		store->groups = groups;
		store->groups_room = store->ngroups;
	}
}

KanonStatus
greedy_store_shrink(GreedyStore *store, KanonPattern *last)
{
	KanonStatus status = greedy_store_sort(store);
	size_t sum = 0;
	uint32_t kept = 0;

	if (status != KANON_OK)
		return status;

	while (kept < store->npatterns && (kept == 0 || sum + store->patterns[kept].words <= store->most / 2))
		sum += store->patterns[kept++].words;
	*last = store->patterns[kept - 1].pattern;
	for (uint32_t g = 0; g < store->ngroups; g++)
		if (store->groups[g].pattern >= kept)
			store->groups[g].count = 0;
	store->npatterns = kept;
	greedy_store_pack(store);
	hash_fill(store);
	return KANON_OK;
}
