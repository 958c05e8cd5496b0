/*
 * direct.c: k^m-anonymity by direct anonymization (DA) of Terrovitis, Mamoulis and
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
#include <stdio.h>

#include "itemsets/transactions.h"

/* The part of the phase that the walk through all sets of items and nodes takes. */
#define TREE_SHARE 0.9

typedef struct Tree
{
	KanonCut *cut;
	uint32_t *node; /* of each rank */
} Tree;

/* Is a node below the cut? */
static bool
generalized(const KanonCut *cut, uint32_t v)
{
	const KanonForest *forest = &cut->forest;
	uint32_t shown = cut->shown[forest->leaf[forest->low[v]]];

	return shown != v && kanon_below(forest, v, shown);
}

static KanonVisit
fix_rare(void *arg, const uint32_t *set, int size, const KanonPlace *places, uint32_t count)
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
	int64_t k = cut->problem->k;
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
		KanonWalk walk = {.pace = &cut->pace,
						  .nitems = forest->nnodes,
						  .nrows = rows.nrows,
						  .start = rows.start,
						  .item = rows.item,
						  .first = forest->nnodes,
						  .depth = cut->problem->m,
						  .below = (uint32_t) (k < UINT32_MAX ? k : UINT32_MAX),
						  .limit = UINT64_MAX,
						  .visit = fix_rare,
						  .arg = tree};

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
