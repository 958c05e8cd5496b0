/*
 * apriori.c: k^m-anonymity by the Apriori-based algorithm (AA) of Terrovitis,
 * Mamoulis and Kalnis, "Privacy-preserving Anonymization of Set-valued Data", PVLDB
 * 1, 2008, section 4.4.
 *
 * Sets of one item first; sets that are too rare are generalized at the least cost;
 * then sets of two in the table as it is by then, up to m.  The paper stores such sets
 * in a count tree; here they are walked depth first without one (item_walk.c), anew
 * while the walk before has changed the cut, and then through changed nodes alone.  At
 * the end nodes are split again where that breaks nothing: of a node that was
 * generalized for one set, another may have been enough.
 */
#include <stdio.h>
#include <string.h>

#include "itemsets/transactions.h"

typedef struct Pass
{
	KanonCut *cut;
	int size;
	uint32_t *node; /* of each rank */
	uint32_t n;
	uint32_t nchanged; /* ranks below it are new in the cut */
	bool *seen;        /* [nall] in the cut when a pass began */
} Pass;

static KanonVisit
fix_rare(void *arg, const uint32_t *set, int size, const KanonPlace *places, uint32_t count)
{
	Pass *pass = arg;
	KanonCut *cut = pass->cut;
	uint32_t nodes[KANON_MAX_SET];

	(void) places;
	for (int i = 0; i < size; i++)
	{
		nodes[i] = pass->node[set[i]];
		if (!cut->in[nodes[i]])
			return KANON_VISIT_PRUNE; /* the next pass looks at what it became */
	}
	if (size == pass->size && count < cut->problem->k)
		kanon_cut_fix(cut, nodes, size);
	return KANON_VISIT_GO;
}

/* Ranks of the cut's nodes: those that are new first, each part by support. */
static KanonStatus
rank_nodes(Pass *pass, bool all)
{
	KanonCut *cut = pass->cut;
	const KanonForest *forest = &cut->forest;
	uint32_t n = 0;
	KanonStatus status;

	for (int part = 0; part < 2; part++)
	{
		for (uint32_t v = 0; v < forest->nnodes; v++)
			if (cut->in[v] && (all || !pass->seen[v]) == (part == 0))
				pass->node[n++] = v;
		if (part == 0)
			pass->nchanged = n;
	}
	pass->n = n;
	status = kanon_by_support(cut->problem->env, forest, pass->node, pass->nchanged);
	if (status == KANON_OK)
		status = kanon_by_support(cut->problem->env, forest, pass->node + pass->nchanged, n - pass->nchanged);
	for (uint32_t v = 0; v < forest->nall; v++)
	{
		cut->rank[v] = KANON_NOTHING;
		pass->seen[v] = cut->in[v];
	}
	for (uint32_t r = 0; r < n; r++)
		cut->rank[pass->node[r]] = r;
	return status;
}

/* A walk through the sets of these rows that are too rare. */
static KanonWalk
walk_below_k(KanonCut *cut, const KanonRows *rows)
{
	int64_t k = cut->problem->k;

	return (KanonWalk){.pace = &cut->pace,
					   .nrows = rows->nrows,
					   .start = rows->start,
					   .item = rows->item,
					   .below = (uint32_t) (k < UINT32_MAX ? k : UINT32_MAX),
					   .limit = UINT64_MAX};
}

/* One walk through all sets of a size that have a node that is new. */
static KanonStatus
walk_once(Pass *pass, KanonReport *report)
{
	KanonCut *cut = pass->cut;
	KanonRows rows;
	KanonStatus status =
		kanon_rows_make(&cut->pace, &cut->problem->sets, cut->shown, cut->rank, NULL, 0, &rows);

	if (status == KANON_OK)
		status = kanon_check_subsets(&rows, pass->size, report);
	if (status == KANON_OK)
	{
		KanonWalk walk = walk_below_k(cut, &rows);

		walk.nitems = pass->n;
		walk.first = pass->nchanged;
		walk.depth = pass->size;
		walk.visit = fix_rare;
		walk.arg = pass;
		status = kanon_walk_sets(&walk);
		report->nodes++;
	}
	kanon_rows_free(cut->problem->env, &rows);
	return status;
}

static KanonStatus
generalize(KanonCut *cut, KanonReport *report)
{
	KanonEnv *env = cut->problem->env;
	const KanonForest *forest = &cut->forest;
	Pass pass = {.cut = cut};
	KanonStatus status = KANON_NO_MEMORY;

	if ((pass.node = kanon_alloc(env, forest->nnodes, sizeof(uint32_t))) != NULL &&
		(pass.seen = kanon_alloc0(env, forest->nall, sizeof(bool))) != NULL)
		status = KANON_OK;
	for (int size = 1; size <= cut->problem->m && status == KANON_OK; size++)
	{
		pass.size = size;
		cut->pace.share = (size - 1) / (double) cut->problem->m;
		status = rank_nodes(&pass, true);
		while (status == KANON_OK && pass.nchanged > 0)
		{
			status = walk_once(&pass, report);
			if (status == KANON_OK)
				status = rank_nodes(&pass, false);
		}
	}
	kanon_free(env, pass.node);
	kanon_free(env, pass.seen);
	return status;
}

KanonStatus
kanon_recode_apriori(const KanonTransactions *problem, KanonRecoding *recoding, KanonReport *report)
{
	KanonCut cut;
	KanonStatus status = kanon_cut_open(&cut, problem);

	if (status == KANON_OK)
		status = generalize(&cut, report);
	if (status == KANON_OK)
		status = kanon_cut_refine(&cut);
	if (status == KANON_OK)
		status = kanon_cut_recoding(&cut, recoding, report);
	kanon_cut_close(&cut);
	return status;
}

/*
 * ---- K^m-anonymity by direct anonymization (DA) of Terrovitis, Mamoulis and
 * Kalnis, "Privacy-preserving Anonymization of Set-valued Data", PVLDB 1, 2008,
 * section 4.3.
 *
 * One pass through all sets of at most m nodes, items and what they generalize to,
 * that occur: the nodes of the complete count tree, in its order, but none of it is
 * stored (item_walk.c).  A set with a node that is below the cut by then is not looked
 * at, nor are sets that extend it.  One pass is enough: whatever is in the cut at the
 * end was in it or above it all the time, so that each of its sets was looked at, and
 * cuts only rise.  As in apriori.c nodes are split again at the end where they may.
 */

/* The part of the phase that the walk through all sets of items and nodes takes. */
#define TREE_SHARE 0.9

typedef struct Tree
{
	KanonCut *cut;
	uint32_t *node; /* of each rank */
} Tree;

/* A node below the cut is shown by another one. */
static bool
generalized(const KanonCut *cut, uint32_t v)
{
	const KanonForest *forest = &cut->forest;
	uint32_t shown = cut->shown[forest->leaf[forest->low[v]]];

	return shown != v && kanon_below(forest, v, shown);
}

static KanonVisit
fix_rare_nodes(void *arg, const uint32_t *set, int size, const KanonPlace *places, uint32_t count)
{
	Tree *tree = arg;
	const KanonForest *forest = &tree->cut->forest;
	uint32_t nodes[KANON_MAX_SET];

	(void) places;
	for (int i = 0; i < size; i++)
	{
		nodes[i] = tree->node[set[i]];
		if (generalized(tree->cut, nodes[i]))
			return KANON_VISIT_PRUNE;
		for (int j = 0; j < i; j++)
			if (kanon_below(forest, nodes[i], nodes[j]) || kanon_below(forest, nodes[j], nodes[i]))
				return KANON_VISIT_PRUNE;
	}
	if (count >= tree->cut->problem->k)
		return KANON_VISIT_GO;
	kanon_cut_fix(tree->cut, nodes, size);
	return KANON_VISIT_PRUNE; /* one of them is below the cut now */
}

/* The tables' items and all that is above them, as one table. */
static KanonStatus
extend_sets(KanonCut *cut, KanonSets *extended)
{
	const KanonForest *forest = &cut->forest;
	const KanonSets *sets = &cut->problem->sets;
	KanonEnv *env = cut->problem->env;
	size_t *start = kanon_alloc(env, (size_t) sets->ntransactions + 1, sizeof(size_t));
	uint32_t *item = kanon_alloc(env, forest->tid_start[forest->nnodes], sizeof(uint32_t));
	size_t sum = 0;

	*extended = (KanonSets){forest->nnodes, sets->ntransactions, start, item};
	if (start == NULL || item == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t v = 0; v < forest->nnodes; v++)
		cut->rank[v] = KANON_NOTHING; /* the last transaction that it was put into */
	for (uint32_t t = 0; t < sets->ntransactions; t++)
	{
		start[t] = sum;
		for (size_t i = sets->start[t]; i < sets->start[t + 1]; i++)
			for (uint32_t v = sets->item[i]; v < forest->nnodes && cut->rank[v] != t; v = forest->parent[v])
			{
				item[sum++] = v;
				cut->rank[v] = t;
			}
		if (kanon_stop(&cut->pace, 4 * (sets->start[t + 1] - sets->start[t]) + 1))
			return KANON_CANCELLED;
	}
	start[sets->ntransactions] = sum;
	return KANON_OK;
}

static KanonStatus
walk_tree(Tree *tree, const KanonSets *extended, KanonReport *report)
{
	KanonCut *cut = tree->cut;
	const KanonForest *forest = &cut->forest;
	KanonRows rows;
	KanonStatus status;

	for (uint32_t v = 0; v < forest->nnodes; v++)
		tree->node[v] = v;
	status = kanon_by_support(cut->problem->env, forest, tree->node, forest->nnodes);
	for (uint32_t r = 0; r < forest->nnodes; r++)
		cut->rank[tree->node[r]] = r;
	if (status != KANON_OK)
		return status;
	status = kanon_rows_make(&cut->pace, extended, NULL, cut->rank, NULL, 0, &rows);
	for (int size = 1; size <= cut->problem->m && status == KANON_OK; size++)
		status = kanon_check_subsets(&rows, size, report);
	if (status == KANON_OK)
	{
		KanonWalk walk = walk_below_k(cut, &rows);

		walk.nitems = walk.first = forest->nnodes;
		walk.depth = cut->problem->m;
		walk.visit = fix_rare_nodes;
		walk.arg = tree;
		/* what is refined afterwards takes less, and tells nothing */
		kanon_pace_part(&cut->pace, 0, TREE_SHARE, 0, 1);
		status = kanon_walk_sets(&walk);
		kanon_pace_part(&cut->pace, TREE_SHARE, TREE_SHARE, 0, 1);
	}
	kanon_rows_free(cut->problem->env, &rows);
	return status;
}

KanonStatus
kanon_recode_direct(const KanonTransactions *problem, KanonRecoding *recoding, KanonReport *report)
{
	KanonEnv *env = problem->env;
	KanonCut cut;
	Tree tree = {.cut = &cut};
	KanonSets extended = {0};
	KanonStatus status = kanon_cut_open(&cut, problem);

	if (status == KANON_OK)
	{
		tree.node = kanon_alloc(env, problem->nnodes, sizeof(uint32_t));
		status = tree.node == NULL ? KANON_NO_MEMORY : extend_sets(&cut, &extended);
		if (status == KANON_OK)
			status = walk_tree(&tree, &extended, report);
		kanon_free(env, tree.node);
		kanon_free(env, (void *) extended.start);
		kanon_free(env, (void *) extended.item);
	}
	if (status == KANON_OK)
		status = kanon_cut_refine(&cut);
	if (status == KANON_OK)
		status = kanon_cut_recoding(&cut, recoding, report);
	kanon_cut_close(&cut);
	return status;
}

/*
 * ---- The k^m-anonymous cut of least NCP, the optimum that Terrovitis,
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

/* *may: v goes into the cut, since all sets of v and of nodes taken before are frequent. */
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
