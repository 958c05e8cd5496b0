/*
 * item_cut.c: a cut through the hierarchy of items.
 *
 * Global recoding by full subtrees, as Terrovitis, Mamoulis and Kalnis have it;
 * above each top of the hierarchy there is suppression, so that every table has a
 * cut that keeps the promise.  If a cut keeps k^m, every cut above it does.
 */
#include <string.h>

#include "itemsets/transactions.h"

/* The cost of showing v, in units of 1 / (items times occurrences) of NCP. */
static int64_t
node_cost(const KanonForest *forest, uint32_t v)
{
	uint32_t items = kanon_is_suppression(forest, v) ? forest->nitems : forest->high[v] - forest->low[v];

	return v < forest->nitems ? 0 : forest->occurs[v] * items;
}

static KanonStatus
allocate(KanonCut *cut, uint32_t ntops)
{
	KanonForest *forest = &cut->forest;
	KanonScratch *scratch = &cut->scratch;
	uint32_t nall = forest->nnodes + ntops;

	forest->parent = kanon_take(scratch, nall, sizeof(uint32_t));
	forest->child = kanon_take(scratch, nall, sizeof(uint32_t));
	forest->sibling = kanon_take(scratch, nall, sizeof(uint32_t));
	forest->low = kanon_take0(scratch, nall, sizeof(uint32_t));
	forest->high = kanon_take0(scratch, nall, sizeof(uint32_t));
	forest->depth = kanon_take0(scratch, nall, sizeof(uint32_t));
	forest->leaf = kanon_take(scratch, forest->nitems, sizeof(uint32_t));
	forest->occurs = kanon_take0(scratch, nall, sizeof(int64_t));
	forest->cost = kanon_take0(scratch, nall, sizeof(int64_t));
	forest->tid_start = kanon_take0(scratch, (size_t) nall + 1, sizeof(size_t));
	cut->shown = kanon_take(scratch, forest->nitems, sizeof(uint32_t));
	cut->in = kanon_take0(scratch, nall, sizeof(bool));
	cut->now = kanon_take0(scratch, nall, sizeof(int64_t));
	cut->rank = kanon_take(scratch, nall, sizeof(uint32_t));

	forest->nall = nall;
	return kanon_taken(scratch);
}

/* Parents have larger numbers than children: one pass up, one pass down. */
static void
link_nodes(KanonForest *forest, const uint32_t *parent)
{
	uint32_t ntops = 0;
	uint32_t next = 0;

	for (uint32_t v = 0; v < forest->nnodes; v++)
		forest->parent[v] = parent[v] == KANON_NOTHING ? forest->nnodes + ntops++ : parent[v];
	for (uint32_t v = forest->nnodes; v < forest->nall; v++)
		forest->parent[v] = KANON_NOTHING;
	for (uint32_t v = 0; v < forest->nall; v++)
		forest->child[v] = forest->sibling[v] = KANON_NOTHING;
	for (uint32_t v = forest->nnodes; v-- > 0;)
	{
		forest->sibling[v] = forest->child[forest->parent[v]];
		forest->child[forest->parent[v]] = v;
	}
	/* how many items each has; then where they are */
	for (uint32_t v = 0; v < forest->nall; v++)
	{
		if (v < forest->nitems)
			forest->high[v] = 1;
		if (forest->parent[v] != KANON_NOTHING)
			forest->high[forest->parent[v]] += forest->high[v];
	}
	for (uint32_t v = forest->nall; v-- > 0;)
	{
		uint32_t from = forest->low[v];

		if (forest->parent[v] == KANON_NOTHING)
		{
			from = next;
			next += forest->high[v];
		}
		forest->low[v] = from;
		forest->high[v] += from;
		for (uint32_t c = forest->child[v]; c != KANON_NOTHING; c = forest->sibling[c])
		{
			forest->low[c] = from;
			forest->depth[c] = forest->depth[v] + 1;
			from += forest->high[c];
		}
		if (v < forest->nitems)
			forest->leaf[forest->low[v]] = v;
	}
}

/* Lists the transactions of every node; counts them first (tid NULL), then fills. */
static KanonStatus
list_transactions(KanonCut *cut, uint32_t *last, bool fill)
{
	KanonForest *forest = &cut->forest;
	const KanonSets *sets = &cut->problem->sets;

	memset(last, 0xff, sizeof(uint32_t) * forest->nall);
	for (uint32_t t = 0; t < sets->ntransactions; t++)
	{
		for (size_t i = sets->start[t]; i < sets->start[t + 1]; i++)
			for (uint32_t v = sets->item[i]; v < forest->nnodes && last[v] != t; v = forest->parent[v])
			{
				last[v] = t;
				if (fill)
					forest->tid[forest->tid_start[v]++] = t;
				else
					forest->tid_start[v]++;
			}
		if (kanon_stop(&cut->pace, 4 * (sets->start[t + 1] - sets->start[t]) + 1))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

static KanonStatus
invert(KanonCut *cut)
{
	KanonForest *forest = &cut->forest;
	size_t sum = 0;
	KanonStatus status = list_transactions(cut, cut->rank, false);

	if (status != KANON_OK)
		return status;
	for (uint32_t v = 0; v < forest->nnodes; v++)
	{
		size_t n = forest->tid_start[v];

		forest->tid_start[v] = sum;
		sum += n;
	}
	forest->tid = kanon_take(&cut->scratch, sum, sizeof(uint32_t));
	if (forest->tid == NULL)
		return KANON_NO_MEMORY;
	status = list_transactions(cut, cut->rank, true);
	for (uint32_t v = forest->nnodes; v > 0; v--)
		forest->tid_start[v] = forest->tid_start[v - 1];
	forest->tid_start[0] = 0;
	return status;
}

KanonStatus
kanon_cut_open(KanonCut *cut, const KanonTransactions *problem)
{
	KanonForest *forest = &cut->forest;
	uint32_t ntops = 0;
	KanonStatus status;

	memset(cut, 0, sizeof(*cut));
	cut->problem = problem;
	cut->scratch.env = problem->env;
	cut->pace = kanon_pace(problem->env, "solve");
	forest->nitems = problem->sets.nitems;
	forest->nnodes = problem->nnodes;
	for (uint32_t v = 0; v < problem->nnodes; v++)
		ntops += problem->parent[v] == KANON_NOTHING;
	status = allocate(cut, ntops);
	if (status != KANON_OK)
		return status;
	link_nodes(forest, problem->parent);
	status = invert(cut);
	if (status != KANON_OK)
		return status;
	for (uint32_t i = 0; i < forest->nitems; i++)
	{
		forest->occurs[i] = kanon_support(forest, i);
		forest->occurrences += forest->occurs[i];
		cut->shown[i] = i;
		cut->in[i] = true;
	}
	for (uint32_t v = 0; v < forest->nall; v++)
	{
		if (forest->parent[v] != KANON_NOTHING)
			forest->occurs[forest->parent[v]] += forest->occurs[v];
		forest->cost[v] = node_cost(forest, v);
	}
	return KANON_OK;
}

void
kanon_cut_close(KanonCut *cut)
{
	kanon_scratch_free(&cut->scratch);
}

/* The items of v are shown as v. */
static void
show(KanonCut *cut, uint32_t v)
{
	const KanonForest *forest = &cut->forest;

	for (uint32_t i = forest->low[v]; i < forest->high[v]; i++)
		cut->shown[forest->leaf[i]] = v;
	cut->in[v] = true;
}

/* The cost of what is below v changed, and so above it. */
static void
reprice(KanonCut *cut, uint32_t v, int64_t delta)
{
	for (; v != KANON_NOTHING; v = cut->forest.parent[v])
		cut->now[v] += delta;
}

void
kanon_cut_raise(KanonCut *cut, uint32_t v)
{
	const KanonForest *forest = &cut->forest;

	for (uint32_t i = forest->low[v]; i < forest->high[v]; i++)
		cut->in[cut->shown[forest->leaf[i]]] = false;
	show(cut, v);
	reprice(cut, v, forest->cost[v] - cut->now[v]);
}

void
kanon_cut_split(KanonCut *cut, uint32_t v)
{
	const KanonForest *forest = &cut->forest;
	int64_t cost = 0;

	cut->in[v] = false;
	for (uint32_t c = forest->child[v]; c != KANON_NOTHING; c = forest->sibling[c])
	{
		show(cut, c);
		cut->now[c] = forest->cost[c];
		cost += forest->cost[c];
	}
	reprice(cut, v, cost - cut->now[v]);
}

/* The first place from `at` on of a list with tid or more; doubling steps, then halving. */
static uint32_t
gallop(const uint32_t *list, uint32_t at, uint32_t n, uint32_t tid)
{
	uint32_t step = 1;
	uint32_t high;

	while (at + step < n && list[at + step] < tid)
	{
		at += step;
		step *= 2;
	}
	high = at + step < n ? at + step : n;
	while (at < high)
	{
		uint32_t middle = at + (high - at) / 2;

		if (list[middle] < tid)
			at = middle + 1;
		else
			high = middle;
	}
	return at;
}

bool
kanon_cut_supported(const KanonCut *cut, const uint32_t *nodes, int n)
{
	const KanonForest *forest = &cut->forest;
	uint32_t at[KANON_MAX_SET] = {0};
	int64_t found = 0;
	int shortest = 0;
	const uint32_t *list;

	for (int i = 1; i < n; i++)
		if (kanon_support(forest, nodes[i]) < kanon_support(forest, nodes[shortest]))
			shortest = i;
	if (kanon_support(forest, nodes[shortest]) < cut->problem->k)
		return false;
	list = forest->tid + forest->tid_start[nodes[shortest]];
	for (uint32_t j = 0; j < kanon_support(forest, nodes[shortest]) && found < cut->problem->k; j++)
	{
		bool all = true;

		for (int i = 0; i < n && all; i++)
		{
			const uint32_t *other = forest->tid + forest->tid_start[nodes[i]];
			uint32_t support = kanon_support(forest, nodes[i]);

			if (i == shortest)
				continue;
			at[i] = gallop(other, at[i], support, list[j]);
			all = at[i] < support && other[at[i]] == list[j];
		}
		found += all;
	}
	return found >= cut->problem->k;
}

KanonStatus
kanon_cut_recoding(const KanonCut *cut, KanonRecoding *recoding, KanonReport *report)
{
	const KanonForest *forest = &cut->forest;
	int64_t cost = 0;

	recoding->shown = kanon_alloc(cut->problem->env, forest->nitems, sizeof(uint32_t));
	if (recoding->shown == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < forest->nitems; i++)
		recoding->shown[i] = kanon_is_suppression(forest, cut->shown[i]) ? KANON_NOTHING : cut->shown[i];
	for (uint32_t v = forest->nnodes; v < forest->nall; v++)
		cost += cut->now[v];
	report->cost = cost == 0 ? 0 : (double) cost / ((double) forest->occurrences * (double) forest->nitems);
	return KANON_OK;
}

void
kanon_recoding_free(const KanonTransactions *problem, KanonRecoding *recoding)
{
	kanon_free(problem->env, recoding->shown);
	recoding->shown = NULL;
}

/* ---- Raising a cut for one rare set, and lowering it where it may be lower ---- */

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

/* True: v is a node of the set itself.  The cut may then stay below v. */
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
