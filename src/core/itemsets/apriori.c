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

/* One walk through all sets of a size that have a node that is new. */
static KanonStatus
walk_once(Pass *pass, KanonReport *report)
{
	KanonCut *cut = pass->cut;
	int64_t k = cut->problem->k;
	KanonRows rows;
	KanonStatus status =
		kanon_rows_make(&cut->pace, &cut->problem->sets, cut->shown, cut->rank, NULL, 0, &rows);

	if (status == KANON_OK)
		status = kanon_check_subsets(&rows, pass->size, report);
	if (status == KANON_OK)
	{
		KanonWalk walk = {.pace = &cut->pace,
						  .nitems = pass->n,
						  .nrows = rows.nrows,
						  .start = rows.start,
						  .item = rows.item,
						  .first = pass->nchanged,
						  .depth = pass->size,
						  .below = (uint32_t) (k < UINT32_MAX ? k : UINT32_MAX),
						  .limit = UINT64_MAX,
						  .visit = fix_rare,
						  .arg = pass};

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
