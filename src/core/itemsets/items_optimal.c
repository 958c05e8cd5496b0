/*
 * items_optimal.c: the k^m-anonymous cut of least NCP, the optimum that Terrovitis,
 * Mamoulis and Kalnis (PVLDB 1, 2008, section 4.2) find by going through the lattice
 * of cuts.
 *
 * Branch and bound from the top: a node is taken into the cut, or its children are
 * decided on.  Taken nodes are checked with those taken before; what is undecided
 * could still be suppressed, so that a set of taken nodes that is rare is so in
 * every cut from here on.  Each undecided subtree costs at least what its cheapest
 * cut of nodes that are frequent by themselves does, which spares up to two fifths of a call's time.  It starts from
 * AA's cut.
 */
#include <stdio.h>
#include <string.h>

#include "itemsets/transactions.h"

/* Nodes of the search, at most. */
#ifndef KANON_OPTIMAL_NODES
#define KANON_OPTIMAL_NODES 20000000
#endif

typedef struct Search
{
	KanonCut *cut;
	KanonReport *report;
	int64_t *least;  /* [nall] bound of the cost below a node */
	uint32_t *stack; /* undecided nodes */
	uint32_t nstack;
	uint32_t *taken; /* [nitems] by item: the taken node above it, or KANON_NOTHING */
	uint32_t *best;  /* [nitems] the cheapest cut so far */
	int64_t best_cost;
	int64_t cost;  /* of what is taken */
	int64_t bound; /* of what is undecided */
	double until;
	bool late;
} Search;

/* Are all sets of v and nodes that are taken frequent? */
static KanonStatus
may_take(Search *search, uint32_t v, bool *may)
{
	KanonCut *cut = search->cut;
	const KanonForest *forest = &cut->forest;
	int64_t k = cut->problem->k;
	KanonRows rows;
	KanonStatus status;

	*may = kanon_is_suppression(forest, v) || kanon_support(forest, v) >= k;
	if (kanon_is_suppression(forest, v) || !*may)
		return KANON_OK;
	/* items under v are shown as v, whose rank is 0 */
	for (uint32_t i = forest->low[v]; i < forest->high[v]; i++)
		search->taken[forest->leaf[i]] = v;
	for (uint32_t w = 0; w < forest->nall; w++)
		cut->rank[w] = w < forest->nnodes ? w + 1 : KANON_NOTHING;
	cut->rank[v] = 0;
	status = kanon_rows_make(&cut->pace, &cut->problem->sets, search->taken, cut->rank,
							 forest->tid + forest->tid_start[v], kanon_support(forest, v), &rows);
	if (status == KANON_OK)
		status = kanon_check_subsets(&rows, cut->problem->m, search->report);
	if (status == KANON_OK)
	{
		KanonWalk walk = {.pace = &cut->pace,
						  .nitems = forest->nnodes + 1,
						  .nrows = rows.nrows,
						  .start = rows.start,
						  .item = rows.item,
						  .first = 1,
						  .depth = cut->problem->m,
						  .below = (uint32_t) (k < UINT32_MAX ? k : UINT32_MAX),
						  .limit = UINT64_MAX,
						  .visit = kanon_stop_at_rare,
						  .arg = &k};

		status = kanon_walk_sets(&walk);
		*may = !walk.stopped;
	}
	kanon_rows_free(cut->problem->env, &rows);
	for (uint32_t i = forest->low[v]; i < forest->high[v]; i++)
		search->taken[forest->leaf[i]] = forest->nnodes; /* suppression of any tree: not shown */
	return status;
}

static void
show_taken(Search *search, uint32_t v, uint32_t as)
{
	const KanonForest *forest = &search->cut->forest;

	for (uint32_t i = forest->low[v]; i < forest->high[v]; i++)
		search->taken[forest->leaf[i]] = as;
}

static KanonStatus decide(Search *search);

/* v is taken, and the undecided nodes are decided. */
static KanonStatus
take(Search *search, uint32_t v)
{
	const KanonForest *forest = &search->cut->forest;
	bool may;
	KanonStatus status = KANON_OK;

	if (search->cost + forest->cost[v] + search->bound >= search->best_cost)
		return KANON_OK;
	status = may_take(search, v, &may);
	if (status != KANON_OK || !may)
		return status;
	show_taken(search, v, v);
	search->cost += forest->cost[v];
	status = decide(search);
	search->cost -= forest->cost[v];
	show_taken(search, v, forest->nnodes);
	return status;
}

/* v's children are decided instead. */
static KanonStatus
open_node(Search *search, uint32_t v)
{
	const KanonForest *forest = &search->cut->forest;
	uint32_t before = search->nstack;
	int64_t bound = search->bound;
	KanonStatus status;

	for (uint32_t c = forest->child[v]; c != KANON_NOTHING; c = forest->sibling[c])
	{
		search->stack[search->nstack++] = c;
		search->bound += search->least[c];
	}
	status = decide(search);
	search->nstack = before;
	search->bound = bound;
	return status;
}

static KanonStatus
decide(Search *search)
{
	KanonCut *cut = search->cut;
	const KanonForest *forest = &cut->forest;
	KanonStatus status = KANON_OK;
	uint32_t v;

	if (search->cost + search->bound >= search->best_cost || search->late)
		return KANON_OK;
	if (search->nstack == 0)
	{
		memcpy(search->best, search->taken, sizeof(uint32_t) * forest->nitems);
		search->best_cost = search->cost;
		return KANON_OK;
	}
	if (++search->report->nodes > KANON_OPTIMAL_NODES)
	{
		snprintf(search->report->detail, sizeof(search->report->detail),
				 "The search went through %d partial cuts of the hierarchy without an end.",
				 KANON_OPTIMAL_NODES);
		return KANON_TOO_LARGE;
	}
	if ((search->report->nodes & 255) == 0)
		search->late = cut->problem->env->now(cut->problem->env->arg) >= search->until;
	if (kanon_stop(&cut->pace, 16))
		return KANON_CANCELLED;
	v = search->stack[--search->nstack];
	search->bound -= search->least[v];
	/* what shows more first */
	if (forest->child[v] != KANON_NOTHING)
		status = open_node(search, v);
	if (status == KANON_OK)
		status = take(search, v);
	search->stack[search->nstack++] = v;
	search->bound += search->least[v];
	return status;
}

/* Costs below a node that no cut can avoid. */
static void
bound_nodes(Search *search)
{
	const KanonCut *cut = search->cut;
	const KanonForest *forest = &cut->forest;

	for (uint32_t v = 0; v < forest->nall; v++)
	{
		bool alone = kanon_is_suppression(forest, v) || kanon_support(forest, v) >= cut->problem->k;
		int64_t sum = forest->child[v] == KANON_NOTHING ? INT64_MAX / 4 : 0;

		for (uint32_t c = forest->child[v]; c != KANON_NOTHING; c = forest->sibling[c])
			sum = search->least[c] > INT64_MAX / 4 - sum ? INT64_MAX / 4 : sum + search->least[c];
		search->least[v] = alone && forest->cost[v] < sum ? forest->cost[v] : sum;
	}
}

/* Starts from a recoding that holds. */
static KanonStatus
search_open(Search *search, const KanonRecoding *start)
{
	KanonCut *cut = search->cut;
	const KanonForest *forest = &cut->forest;
	KanonEnv *env = cut->problem->env;

	if ((search->least = kanon_alloc(env, forest->nall, sizeof(int64_t))) == NULL ||
		(search->stack = kanon_alloc(env, forest->nall, sizeof(uint32_t))) == NULL ||
		(search->taken = kanon_alloc(env, forest->nitems, sizeof(uint32_t))) == NULL ||
		(search->best = kanon_alloc(env, forest->nitems, sizeof(uint32_t))) == NULL)
		return KANON_NO_MEMORY;
	search->until = env->now(env->arg) + cut->problem->time_limit;
	bound_nodes(search);
	for (uint32_t i = 0; i < forest->nitems; i++)
	{
		uint32_t v = i;

		while (v != start->shown[i] && !kanon_is_suppression(forest, v))
			v = forest->parent[v];
		search->best[i] = v;
		search->taken[i] = forest->nnodes;
		if (cut->shown[i] != v)
			kanon_cut_raise(cut, v);
	}
	for (uint32_t v = forest->nnodes; v < forest->nall; v++)
	{
		search->best_cost += cut->now[v];
		search->stack[search->nstack++] = v;
		search->bound += search->least[v];
	}
	return KANON_OK;
}

static void
show_best(const Search *search)
{
	KanonCut *cut = search->cut;
	const KanonForest *forest = &cut->forest;

	/* from the top down to where each item is shown */
	for (uint32_t v = forest->nnodes; v < forest->nall; v++)
		kanon_cut_raise(cut, v);
	for (uint32_t i = 0; i < forest->nitems; i++)
		while (cut->shown[i] != search->best[i])
			kanon_cut_split(cut, cut->shown[i]);
}

KanonStatus
kanon_recode_optimal(const KanonTransactions *problem, KanonRecoding *recoding, KanonReport *report)
{
	KanonEnv *env = problem->env;
	KanonCut cut;
	KanonRecoding start = {0};
	Search search = {.cut = &cut, .report = report};
	int64_t bound = 0;
	KanonStatus status = kanon_recode_apriori(problem, &start, report);

	if (status != KANON_OK)
		return status;
	report->nodes = 0;
	status = kanon_cut_open(&cut, problem);
	if (status == KANON_OK)
		status = search_open(&search, &start);
	kanon_recoding_free(problem, &start);
	if (status == KANON_OK)
	{
		bound = search.bound;
		status = decide(&search);
	}
	if (status == KANON_OK)
	{
		show_best(&search);
		report->proven = !search.late;
		status = kanon_cut_recoding(&cut, recoding, report);
	}
	if (status == KANON_OK)
		report->lower_bound =
			report->proven ? report->cost
						   : (double) bound / ((double) cut.forest.occurrences * (double) cut.forest.nitems);
	kanon_free(env, search.least);
	kanon_free(env, search.stack);
	kanon_free(env, search.taken);
	kanon_free(env, search.best);
	kanon_cut_close(&cut);
	return status;
}
