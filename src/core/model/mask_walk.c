/*
 * mask_walk.c: the patterns that a mask allows: all of them in their order, or how
 * many there are.
 */
#include "model/model.h"
#include "util/pace.h"
#include "util/sort.h"

/* Partial decisions of a count: beyond, the patterns are too many to count. */
#define COUNTED_NODES (UINT32_C(1) << 22)

/* A walk through the patterns that fulfil the rules. */
typedef struct Walk
{
	const KanonMaskIndex *index;
	KanonPattern *patterns; /* NULL: only count */
	size_t npatterns;
	size_t capacity;
	size_t limit;
	KanonStatus status;
	KanonPace pace;
	uint32_t nodes; /* of a count */
} Walk;

/* May this closed partial decision be completed? */
static bool
can_complete(const KanonMaskIndex *index, KanonPattern go, KanonPattern stay)
{
	int most = index->problem->mask.max_suppressed;

	/* keeping all that is undecided breaks no rule and costs nothing */
	return !kanon_meet(go, stay) && (most < 0 || kanon_suppressed_whole(index->last, go) <= most) &&
		   kanon_fixed_level(kanon_fixed_cost(index, go)) <= index->max_level;
}

/* Takes down one pattern. */
static void
walk_found(Walk *walk, KanonPattern pattern)
{
	KanonEnv *env = walk->index->problem->env;

	if (kanon_same(pattern, walk->index->all))
		return; /* whose turn comes at the end */
	if (walk->npatterns + 1 >= walk->limit)
	{
		walk->status = KANON_TOO_LARGE;
		return;
	}
	if (walk->patterns != NULL &&
		!kanon_enlarge(env, &walk->patterns, &walk->capacity, walk->npatterns + 2, sizeof(KanonPattern)))
	{
		walk->status = KANON_NO_MEMORY;
		return;
	}
	if (walk->patterns != NULL)
		walk->patterns[walk->npatterns] = pattern;
	walk->npatterns++;
}

/* All completions of a partial decision that can be completed, from column c on. */
static void
walk_rules(Walk *walk, int c, KanonPattern go, KanonPattern stay)
{
	const KanonMaskIndex *index = walk->index;

	if (kanon_stop(&walk->pace, 8))
		walk->status = KANON_CANCELLED;
	while (c < index->problem->ncolumns && (kanon_has(go, c) || kanon_has(stay, c)))
		c++;
	if (c == index->problem->ncolumns)
	{
		walk_found(walk, go);
		return;
	}
	if (walk->status == KANON_OK)
		walk_rules(walk, c + 1, go, kanon_union(stay, index->stay_stay[c]));
	go = kanon_union(go, index->go_go[c]);
	stay = kanon_union(stay, index->go_stay[c]);
	if (walk->status == KANON_OK && can_complete(index, go, stay))
		walk_rules(walk, c + 1, go, stay);
}

/* A pattern to be sorted. */
typedef struct Ranked
{
	KanonPattern pattern;
	int64_t level;
} Ranked;

/* For a sort that is to end early all are equal. */
static int
compare_ranked(const void *a, const void *b, void *arg)
{
	const Ranked *left = a;
	const Ranked *right = b;
	Walk *walk = arg;

	if (walk->status != KANON_OK)
		return 0;
	if (kanon_stop(&walk->pace, 16))
		walk->status = KANON_CANCELLED;
	if (left->level != right->level)
		return left->level < right->level ? -1 : 1;
	return kanon_mask_compare_equal(walk->index, left->pattern, right->pattern);
}

/* Puts the patterns found into order, the all-suppressed one at the end. */
static void
walk_sort(Walk *walk)
{
	KanonEnv *env = walk->index->problem->env;
	Ranked *ranked = kanon_alloc(env, walk->npatterns, sizeof(Ranked));
	Ranked *scratch = kanon_alloc(env, walk->npatterns, sizeof(Ranked));

	if (ranked == NULL || scratch == NULL)
		walk->status = KANON_NO_MEMORY;
	else
	{
		for (size_t i = 0; i < walk->npatterns; i++)
		{
			ranked[i].pattern = walk->patterns[i];
			ranked[i].level = kanon_fixed_level(kanon_fixed_cost(walk->index, walk->patterns[i]));
		}
		kanon_sort(ranked, scratch, walk->npatterns, sizeof(Ranked), compare_ranked, walk);
		for (size_t i = 0; i < walk->npatterns; i++)
			walk->patterns[i] = ranked[i].pattern;
		walk->patterns[walk->npatterns++] = walk->index->all;
	}
	kanon_free(env, ranked);
	kanon_free(env, scratch);
}

KanonStatus
kanon_mask_enumerate(const KanonProblem *problem, size_t limit, KanonPattern **patterns, size_t *npatterns)
{
	KanonEnv *env = problem->env;
	KanonMaskIndex *index;
	KanonStatus status = kanon_mask_open(problem, &index);
	Walk walk = {.index = index, .limit = limit, .pace = kanon_pace(env, "patterns")};

	*patterns = NULL;
	*npatterns = 0;
	if (status != KANON_OK)
		return status;
	walk.capacity = index->nlisted < 64 ? 64 : index->nlisted + 1;
	if (index->nlisted >= limit)
		walk.status = KANON_TOO_LARGE;
	else
	{
		walk.patterns = kanon_alloc(env, walk.capacity, sizeof(KanonPattern));
		if (walk.patterns == NULL)
			walk.status = KANON_NO_MEMORY;
	}
	if (walk.status == KANON_OK && problem->mask.list != NULL)
		for (size_t i = 0; i < index->nlisted; i++)
			walk.patterns[walk.npatterns++] = index->listed[i].pattern;
	else if (walk.status == KANON_OK && !index->none)
		walk_rules(&walk, 0, index->go, index->stay);
	if (walk.status == KANON_OK)
		walk_sort(&walk);
	if (walk.status == KANON_OK)
	{
		*patterns = walk.patterns;
		*npatterns = walk.npatterns;
	}
	else
		kanon_free(env, walk.patterns);
	kanon_mask_close(index);
	return walk.status;
}

/*
 * Number of completions of a closed partial decision that suppress at most
 * `most` more quasi-identifiers whole, when nothing ties the open columns but
 * the order of levels; above limit: limit + 1.
 */
static uint64_t
count_open(const KanonMaskIndex *index, KanonPattern open, int most, uint64_t limit)
{
	uint64_t ways[KANON_MAX_COLUMNS + 1] = {1}; /* by how many go whole; limit + 1 and more are one */
	uint64_t sum = 0;
	int nwhole = 0;
	int levels = 0;

	for (int c = 0; c < index->problem->ncolumns; c++)
	{
		bool whole = kanon_has(open, c) && kanon_has(index->last, c);

		levels += kanon_has(open, c);
		if (!kanon_has(index->last, c))
			continue;
		/* the open levels are neighbours: some of them go, from below */
		nwhole += whole;
		for (int i = nwhole; i >= 0; i--)
		{
			__uint128_t more = (__uint128_t) ways[i] * (unsigned) (levels + !whole);

			if (whole && i > 0)
				more += ways[i - 1];
			ways[i] = more > limit ? limit + 1 : (uint64_t) more;
		}
		levels = 0;
	}
	for (int i = 0; i <= nwhole && i <= most; i++)
	{
		if (ways[i] > limit - sum)
			return limit + 1;
		sum += ways[i];
	}
	return sum;
}

/* Does a decision on an open column force others, but for levels of the same quasi-identifier? */
static bool
is_tied(const KanonMaskIndex *index, int c, KanonPattern open)
{
	KanonPattern below = KANON_NONE;

	for (int d = c; d >= 0 && d >= c - index->problem->columns[c].level; d--)
		kanon_add(&below, d);
	return !kanon_same(kanon_both(index->go_go[c], open), kanon_both(below, open)) ||
		   kanon_meet(index->go_stay[c], open);
}

/* As walk_rules, counting columns that no rule ties to others at once. */
static void
count_rules(Walk *walk, KanonPattern go, KanonPattern stay, bool tied)
{
	const KanonMaskIndex *index = walk->index;
	KanonPattern open = kanon_minus(kanon_minus(index->all, go), stay);
	int c = -1;
	int most = index->problem->mask.max_suppressed;

	if (kanon_stop(&walk->pace, 64))
		walk->status = KANON_CANCELLED;
	else if (++walk->nodes > COUNTED_NODES)
		walk->status = KANON_TOO_LARGE;
	if (walk->status != KANON_OK)
		return;
	/* what ties columns is decided first: of the others nothing depends then */
	KANON_EACH (d, open)
		if (tied && c < 0 && is_tied(index, d, open))
			c = d;
	if (c < 0 && kanon_fixed_level(kanon_fixed_cost(index, kanon_union(go, open))) <= index->max_level)
	{
		int n = kanon_suppressed_whole(index->last, open);
		int left = most < 0 ? n : most - kanon_suppressed_whole(index->last, go);
		uint64_t found = count_open(index, open, left, walk->limit);

		/* the all-suppressed pattern is counted at the end */
		if (kanon_same(kanon_union(go, open), index->all) && left >= n)
			found--;
		if (found + walk->npatterns + 1 > walk->limit)
			walk->status = KANON_TOO_LARGE;
		else
			walk->npatterns += found;
		return;
	}
	tied = c >= 0;
	if (!tied)
		c = kanon_next(open, 0);
	count_rules(walk, go, kanon_union(stay, index->stay_stay[c]), tied);
	go = kanon_union(go, index->go_go[c]);
	stay = kanon_union(stay, index->go_stay[c]);
	if (walk->status == KANON_OK && can_complete(index, go, stay))
		count_rules(walk, go, stay, tied);
}

int64_t
kanon_mask_count_indexed(const KanonMaskIndex *index, int64_t limit)
{
	Walk walk = {.index = index,
				 .limit = limit < 0 ? 0 : (size_t) limit,
				 .npatterns = index->nlisted,
				 .pace = kanon_pace(index->problem->env, "patterns")};

	if (walk.npatterns + 1 > walk.limit)
		walk.status = KANON_TOO_LARGE;
	else if (index->problem->mask.list == NULL && !index->none)
		count_rules(&walk, index->go, index->stay, true);
	if (walk.status == KANON_OK)
		return (int64_t) (walk.npatterns + 1);
	return walk.status == KANON_CANCELLED ? KANON_COUNT_CANCELLED : -1;
}

int64_t
kanon_mask_count(const KanonProblem *problem, int64_t limit)
{
	KanonMaskIndex *index;
	int64_t n;

	if (kanon_mask_open(problem, &index) != KANON_OK)
		return -1;
	n = kanon_mask_count_indexed(index, limit);
	kanon_mask_close(index);
	return n;
}
