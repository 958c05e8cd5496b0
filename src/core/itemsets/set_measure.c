/*
 * set_measure.c: what a recoding of items has lost: NCP (Xu et al., "Utility-based
 * Anonymization Using Local Recoding", KDD 2006, over items as Terrovitis, Mamoulis
 * and Kalnis have it), and how many of the most frequent sets of items are so in the
 * published table, too (tKd of Terrovitis et al., "Local and Global Recoding Methods
 * for Anonymizing Set-valued Data", VLDB Journal 20, 2011).
 */
#include <string.h>

#include "itemsets/transactions.h"

/* Most frequent sets that are compared. */
#define TOP 100

typedef struct Frequent
{
	uint32_t support;
	int size;
	uint32_t set[KANON_MAX_SET];
} Frequent;

typedef struct Tops
{
	Frequent top[TOP]; /* the most frequent first */
	int n;
} Tops;

/* More frequent; of equal ones with fewer items, then with lesser ones. */
static bool
before(const Frequent *a, const Frequent *b)
{
	if (a->support != b->support)
		return a->support > b->support;
	if (a->size != b->size)
		return a->size < b->size;
	for (int i = 0; i < a->size; i++)
		if (a->set[i] != b->set[i])
			return a->set[i] < b->set[i];
	return false;
}

static KanonVisit
note_frequent(void *arg, const uint32_t *set, int size, const KanonPlace *places, uint32_t count)
{
	Tops *tops = arg;
	Frequent new = {.support = count, .size = size};
	int at = tops->n;

	(void) places;
	memcpy(new.set, set, sizeof(uint32_t) * (size_t) size);
	/* what extends it is no more frequent, and longer */
	if (tops->n == TOP && !before(&new, &tops->top[TOP - 1]))
		return KANON_VISIT_PRUNE;
	if (tops->n < TOP)
		tops->n++;
	else
		at--;
	for (; at > 0 && before(&new, &tops->top[at - 1]); at--)
		tops->top[at] = tops->top[at - 1];
	tops->top[at] = new;
	return KANON_VISIT_GO;
}

/* Supports of nodes in a table that shows them. */
static KanonStatus
count_shown(KanonPace *pace, const KanonSets *sets, const uint32_t *shown, uint32_t *rank, uint32_t nnodes,
			uint32_t *support)
{
	memset(support, 0, sizeof(uint32_t) * nnodes);
	memset(rank, 0xff, sizeof(uint32_t) * nnodes);
	for (uint32_t t = 0; t < sets->ntransactions; t++)
	{
		for (size_t i = sets->start[t]; i < sets->start[t + 1]; i++)
		{
			uint32_t v = shown == NULL ? sets->item[i] : shown[sets->item[i]];

			if (v == KANON_NOTHING || rank[v] == t)
				continue;
			rank[v] = t;
			support[v]++;
		}
		if (kanon_stop(pace, sets->start[t + 1] - sets->start[t] + 1))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* The least support of the TOP most frequent nodes: no set with less is among the TOP sets. */
static uint32_t
least_support(const uint32_t *support, uint32_t nnodes)
{
	uint32_t top[TOP] = {0};

	for (uint32_t v = 0; v < nnodes; v++)
	{
		int at = TOP - 1;

		if (support[v] <= top[at])
			continue;
		for (; at > 0 && top[at - 1] < support[v]; at--)
			top[at] = top[at - 1];
		top[at] = support[v];
	}
	return top[TOP - 1] > 0 ? top[TOP - 1] : 1;
}

/* The most frequent sets of what is shown (NULL: of the items). */
static KanonStatus
find_tops(const KanonTransactions *problem, const uint32_t *shown, uint32_t *rank, uint32_t *support,
		  Tops *tops)
{
	KanonPace pace = kanon_pace(problem->env, "measure");
	KanonRows rows = {0};
	KanonStatus status = count_shown(&pace, &problem->sets, shown, rank, problem->nnodes, support);
	uint32_t least = least_support(support, problem->nnodes);

	for (uint32_t v = 0; v < problem->nnodes; v++)
		rank[v] = support[v] >= least ? v : KANON_NOTHING;
	rank[problem->nnodes] = KANON_NOTHING; /* suppressed */
	tops->n = 0;
	if (status == KANON_OK)
		status = kanon_rows_make(&pace, &problem->sets, shown, rank, NULL, 0, &rows);
	if (status == KANON_OK)
	{
		KanonWalk walk = {.pace = &pace,
						  .nitems = problem->nnodes,
						  .nrows = rows.nrows,
						  .start = rows.start,
						  .item = rows.item,
						  .first = problem->nnodes,
						  .depth = KANON_MAX_SET,
						  .below = UINT32_MAX,
						  .limit = UINT64_MAX,
						  .visit = note_frequent,
						  .arg = tops};

		status = kanon_walk_sets(&walk);
	}
	kanon_rows_free(problem->env, &rows);
	return status;
}

static bool
among_tops(const Frequent *frequent, const Tops *tops)
{
	for (int i = 0; i < tops->n; i++)
		if (tops->top[i].size == frequent->size &&
			memcmp(tops->top[i].set, frequent->set, sizeof(uint32_t) * (size_t) frequent->size) == 0)
			return true;
	return false;
}

static KanonStatus
compare_tops(const KanonTransactions *problem, const KanonRecoding *recoding, KanonSetMeasures *measures)
{
	KanonEnv *env = problem->env;
	uint32_t *shown = kanon_alloc(env, problem->sets.nitems, sizeof(uint32_t));
	uint32_t *rank = kanon_alloc(env, (size_t) problem->nnodes + 1, sizeof(uint32_t));
	uint32_t *support = kanon_alloc(env, (size_t) problem->nnodes + 1, sizeof(uint32_t));
	Tops *tops = kanon_alloc(env, 2, sizeof(Tops));
	KanonStatus status = KANON_NO_MEMORY;

	if (shown != NULL && rank != NULL && support != NULL && tops != NULL)
	{
		for (uint32_t i = 0; i < problem->sets.nitems; i++)
			shown[i] = recoding->shown[i] == KANON_NOTHING ? problem->nnodes : recoding->shown[i];
		status = find_tops(problem, NULL, rank, support, &tops[0]);
		if (status == KANON_OK)
			status = find_tops(problem, shown, rank, support, &tops[1]);
	}
	if (status == KANON_OK)
	{
		measures->frequent = tops[0].n;
		for (int i = 0; i < tops[0].n; i++)
			measures->frequent_preserved += among_tops(&tops[0].top[i], &tops[1]);
	}
	kanon_free(env, shown);
	kanon_free(env, rank);
	kanon_free(env, support);
	kanon_free(env, tops);
	return status;
}

/* Items and losses; under[nnodes]: first how many items each node is above, then whether it is shown. */
static void
count_items(const KanonTransactions *problem, const KanonRecoding *recoding, uint32_t *under,
			KanonSetMeasures *measures)
{
	const KanonSets *sets = &problem->sets;
	double lost = 0;

	for (uint32_t v = 0; v < problem->nnodes; v++)
		under[v] = v < sets->nitems;
	for (uint32_t v = 0; v < problem->nnodes; v++)
		if (problem->parent[v] != KANON_NOTHING)
			under[problem->parent[v]] += under[v];
	measures->occurrences = (int64_t) sets->start[sets->ntransactions];
	measures->items_before = sets->nitems;
	for (uint32_t t = 0; t < sets->ntransactions; t++)
	{
		bool empty = true;

		for (size_t i = sets->start[t]; i < sets->start[t + 1]; i++)
		{
			uint32_t v = recoding->shown[sets->item[i]];

			empty &= v == KANON_NOTHING;
			measures->suppressed += v == KANON_NOTHING;
			if (v == KANON_NOTHING)
				lost += sets->nitems;
			else if (v >= sets->nitems)
				lost += under[v];
		}
		measures->empty_before += sets->start[t] == sets->start[t + 1];
		measures->empty_after += empty;
	}
	measures->ncp = lost == 0 ? 0 : lost / ((double) measures->occurrences * sets->nitems);
	memset(under, 0, sizeof(uint32_t) * problem->nnodes);
	for (uint32_t i = 0; i < sets->nitems; i++)
	{
		uint32_t v = recoding->shown[i];

		if (v == KANON_NOTHING)
			measures->items_suppressed++;
		else
			measures->shown_after += under[v]++ == 0;
	}
}

KanonStatus
kanon_measure_sets(const KanonTransactions *problem, const KanonRecoding *recoding,
				   KanonSetMeasures *measures)
{
	uint32_t *under = kanon_alloc(problem->env, problem->nnodes, sizeof(uint32_t));

	*measures = (KanonSetMeasures){0};
	if (under == NULL)
		return KANON_NO_MEMORY;
	count_items(problem, recoding, under, measures);
	kanon_free(problem->env, under);
	return compare_tops(problem, recoding, measures);
}
