/*
 * item_cut_fix.c: raising a cut for one rare set, and lowering it where it may be lower.
 */
#include "itemsets/transactions.h"

/* Combinations of ancestors that are tried for one set; beyond, it is raised step by step. */
#ifndef KANON_FIX_MOST
#define KANON_FIX_MOST 4096
#endif

/* The nodes of a choice that are not below another one of it; those that show something first. */
static int
reduce(const KanonForest *forest, const uint32_t *choice, int size, uint32_t *kept, int *nshown)
{
	int n = 0;

	*nshown = 0;
	for (int i = 0; i < size; i++)
	{
		bool swallowed = false;

		for (int j = 0; j < size && !swallowed; j++)
			swallowed =
				j != i && kanon_below(forest, choice[i], choice[j]) && (choice[i] != choice[j] || j < i);
		if (swallowed)
			continue;
		kept[n] = choice[i];
		if (!kanon_is_suppression(forest, choice[i]))
		{
			kept[n] = kept[*nshown];
			kept[(*nshown)++] = choice[i];
		}
		n++;
	}
	return n;
}

static bool
holds(const KanonCut *cut, const uint32_t *kept, int nshown)
{
	return nshown == 0 || kanon_cut_supported(cut, kept, nshown);
}

/* Is this a node of the set itself?  The cut may well be below that, and stay there. */
static bool
among(uint32_t v, const uint32_t *set, int size)
{
	for (int i = 0; i < size; i++)
		if (set[i] == v)
			return true;
	return false;
}

/* The cost of raising the cut from the set to these nodes. */
static int64_t
price(const KanonCut *cut, const uint32_t *set, int size, const uint32_t *kept, int n)
{
	int64_t sum = 0;

	for (int i = 0; i < n; i++)
		if (!among(kept[i], set, size))
			sum += cut->forest.cost[kept[i]] - cut->now[kept[i]];
	return sum;
}

static void
raise_to(KanonCut *cut, const uint32_t *set, int size, const uint32_t *kept, int n)
{
	for (int i = 0; i < n; i++)
		if (!among(kept[i], set, size))
			kanon_cut_raise(cut, kept[i]);
}

/* The next combination of ancestors; false after the last. */
static bool
next_choice(const KanonForest *forest, const uint32_t *set, uint32_t *choice, int size)
{
	for (int i = 0; i < size; i++)
	{
		if (!kanon_is_suppression(forest, choice[i]))
		{
			choice[i] = forest->parent[choice[i]];
			return true;
		}
		choice[i] = set[i];
	}
	return false;
}

static void
fix_best(KanonCut *cut, const uint32_t *set, int size)
{
	uint32_t choice[KANON_MAX_SET], kept[KANON_MAX_SET], best[KANON_MAX_SET];
	int64_t least = INT64_MAX;
	int nbest = 0;
	int nshown;

	for (int i = 0; i < size; i++)
		choice[i] = set[i];
	do
	{
		int n = reduce(&cut->forest, choice, size, kept, &nshown);
		int64_t cost = price(cut, set, size, kept, n);

		if (cost < least && holds(cut, kept, nshown))
		{
			least = cost;
			nbest = n;
			for (int i = 0; i < n; i++)
				best[i] = kept[i];
		}
	} while (next_choice(&cut->forest, set, choice, size));
	raise_to(cut, set, size, best, nbest);
}

/* One step at a time, each the cheapest that there is. */
static void
fix_steps(KanonCut *cut, const uint32_t *set, int size)
{
	const KanonForest *forest = &cut->forest;
	uint32_t choice[KANON_MAX_SET], kept[KANON_MAX_SET];
	int nchoice = size;
	int nshown, n;

	for (int i = 0; i < size; i++)
		choice[i] = set[i];
	while (n = reduce(forest, choice, nchoice, kept, &nshown), !holds(cut, kept, nshown))
	{
		int64_t least = INT64_MAX;
		int step = 0;

		for (int i = 0; i < nshown; i++)
		{
			uint32_t above = forest->parent[kept[i]];
			int64_t cost = forest->cost[above] - cut->now[above];

			if (cost < least)
			{
				least = cost;
				step = i;
			}
		}
		kept[step] = forest->parent[kept[step]];
		nchoice = n;
		for (int i = 0; i < n; i++)
			choice[i] = kept[i];
	}
	raise_to(cut, set, size, kept, n);
}

void
kanon_cut_fix(KanonCut *cut, const uint32_t *set, int size)
{
	double choices = 1;

	for (int i = 0; i < size; i++)
		choices *= cut->forest.depth[set[i]] + 1;
	if (choices <= KANON_FIX_MOST)
		fix_best(cut, set, size);
	else
		fix_steps(cut, set, size);
}

/* Would all sets stay frequent if v of the cut became its children?  Ranks are by node numbers. */
static KanonStatus
may_split(KanonCut *cut, uint32_t v, bool *may)
{
	const KanonForest *forest = &cut->forest;
	KanonEnv *env = cut->problem->env;
	int64_t k = cut->problem->k;
	/* suppression has no list of its own: its one child has */
	uint32_t whose = kanon_is_suppression(forest, v) ? forest->child[v] : v;
	uint32_t nchildren = 0;
	KanonRows rows;
	KanonStatus status;

	*may = true;
	for (uint32_t c = forest->child[v]; c != KANON_NOTHING && *may; c = forest->sibling[c])
		*may = kanon_support(forest, c) >= k;
	if (!*may)
		return KANON_OK;
	kanon_cut_split(cut, v);
	/* a child's rank is its place among its siblings, everything else's comes after */
	for (uint32_t w = 0; w < forest->nall; w++)
		cut->rank[w] = kanon_is_suppression(forest, w) ? KANON_NOTHING : forest->nnodes + w;
	for (uint32_t c = forest->child[v]; c != KANON_NOTHING; c = forest->sibling[c])
		cut->rank[c] = nchildren++;
	status = kanon_rows_make(&cut->pace, &cut->problem->sets, cut->shown, cut->rank,
							 forest->tid + forest->tid_start[whose], kanon_support(forest, whose), &rows);
	if (status == KANON_OK)
	{
		KanonWalk walk = {.pace = &cut->pace,
						  .nitems = 2 * forest->nnodes,
						  .nrows = rows.nrows,
						  .start = rows.start,
						  .item = rows.item,
						  .first = nchildren,
						  .depth = cut->problem->m,
						  .below = (uint32_t) (k < UINT32_MAX ? k : UINT32_MAX),
						  .limit = UINT64_MAX,
						  .visit = kanon_stop_at_rare,
						  .arg = &k};

		status = kanon_walk_sets(&walk);
		*may = !walk.stopped;
	}
	kanon_rows_free(env, &rows);
	if (status != KANON_OK || !*may)
		kanon_cut_raise(cut, v);
	return status;
}

/* The node of the cut, not tried yet, whose split gains most; KANON_NOTHING: there is none. */
static uint32_t
best_split(const KanonCut *cut, const bool *tried)
{
	const KanonForest *forest = &cut->forest;
	uint32_t best = KANON_NOTHING;
	int64_t most = -1;

	for (uint32_t v = forest->nitems; v < forest->nall; v++)
	{
		int64_t gain = forest->cost[v];

		if (!cut->in[v] || tried[v])
			continue;
		for (uint32_t c = forest->child[v]; c != KANON_NOTHING; c = forest->sibling[c])
			gain -= forest->cost[c];
		if (gain > most)
		{
			most = gain;
			best = v;
		}
	}
	return best;
}

KanonStatus
kanon_cut_refine(KanonCut *cut)
{
	KanonEnv *env = cut->problem->env;
	bool *tried = kanon_alloc0(env, cut->forest.nall, sizeof(bool));
	KanonStatus status = tried == NULL ? KANON_NO_MEMORY : KANON_OK;
	uint32_t v;

	/* what may not be split now may not be when others are split, too */
	while (status == KANON_OK && (v = best_split(cut, tried)) != KANON_NOTHING)
	{
		bool may;

		tried[v] = true;
		status = may_split(cut, v, &may);
		if (status == KANON_OK && kanon_stop(&cut->pace, 2 * (uint64_t) cut->forest.nall))
			status = KANON_CANCELLED;
	}
	kanon_free(env, tried);
	return status;
}
