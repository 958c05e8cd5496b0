/*
 * item_rows.c: transactions as ranks of the items that they show.
 */
#include <stdio.h>

#include "itemsets/transactions.h"
#include "util/sort.h"

/* Sorts a row and takes doubles out; what is left. */
static size_t
tidy(uint32_t *items, uint32_t *scratch, size_t n)
{
	size_t kept = 0;

	kanon_sort(items, scratch, n, sizeof(uint32_t), kanon_compare_numbers, NULL);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || items[kept - 1] != items[i])
			items[kept++] = items[i];
	return kept;
}

/* The room that the transactions take, and the longest. */
static size_t
room(const KanonSets *sets, const uint32_t *tids, uint32_t ntids, size_t *longest)
{
	size_t sum = 0;

	*longest = 0;
	for (uint32_t i = 0; i < ntids; i++)
	{
		uint32_t t = tids == NULL ? i : tids[i];
		size_t length = sets->start[t + 1] - sets->start[t];

		sum += length;
		if (length > *longest)
			*longest = length;
	}
	return sum;
}

static KanonStatus
fill(KanonPace *pace, const KanonSets *sets, const uint32_t *shown, const uint32_t *rank,
	 const uint32_t *tids, uint32_t *scratch, KanonRows *rows)
{
	size_t n = 0;

	rows->start[0] = 0;
	for (uint32_t i = 0; i < rows->nrows; i++)
	{
		uint32_t t = tids == NULL ? i : tids[i];
		size_t from = n;

		for (size_t j = sets->start[t]; j < sets->start[t + 1]; j++)
		{
			uint32_t r = rank[shown == NULL ? sets->item[j] : shown[sets->item[j]]];

			if (r != KANON_NOTHING)
				rows->item[n++] = r;
		}
		n = from + tidy(rows->item + from, scratch, n - from);
		rows->start[i + 1] = n;
		if (kanon_stop(pace, 4 * (sets->start[t + 1] - sets->start[t]) + 1))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

KanonStatus
kanon_rows_make(KanonPace *pace, const KanonSets *sets, const uint32_t *shown, const uint32_t *rank,
				const uint32_t *tids, uint32_t ntids, KanonRows *rows)
{
	KanonEnv *env = pace->env;
	uint32_t *scratch = NULL;
	KanonStatus status = KANON_NO_MEMORY;
	size_t longest;
	size_t sum;

	if (tids == NULL)
		ntids = sets->ntransactions;
	sum = room(sets, tids, ntids, &longest);
	*rows = (KanonRows){.nrows = ntids};
	if ((scratch = kanon_alloc(env, longest, sizeof(uint32_t))) != NULL &&
		(rows->start = kanon_alloc(env, (size_t) ntids + 1, sizeof(size_t))) != NULL &&
		(rows->item = kanon_alloc(env, sum, sizeof(uint32_t))) != NULL)
		status = fill(pace, sets, shown, rank, tids, scratch, rows);
	kanon_free(env, scratch);
	return status;
}

void
kanon_rows_free(KanonEnv *env, KanonRows *rows)
{
	kanon_free(env, rows->start);
	kanon_free(env, rows->item);
	*rows = (KanonRows){0};
}

static int
compare_support(const void *a, const void *b, void *arg)
{
	const KanonForest *forest = arg;
	uint32_t v = *(const uint32_t *) a;
	uint32_t w = *(const uint32_t *) b;
	uint32_t left = kanon_support(forest, v);
	uint32_t right = kanon_support(forest, w);

	if (left != right)
		return left < right ? -1 : 1;
	return v < w ? -1 : v > w;
}

KanonStatus
kanon_by_support(KanonEnv *env, const KanonForest *forest, uint32_t *nodes, uint32_t n)
{
	uint32_t *scratch = kanon_alloc(env, n, sizeof(uint32_t));

	if (scratch == NULL)
		return KANON_NO_MEMORY;
	kanon_sort(nodes, scratch, n, sizeof(uint32_t), compare_support, (void *) forest);
	kanon_free(env, scratch);
	return KANON_OK;
}

KanonStatus
kanon_check_subsets(const KanonRows *rows, int size, KanonReport *report)
{
	double subsets = kanon_count_subsets(rows->start, rows->nrows, size);

	if (subsets <= KANON_MAX_SUBSETS)
		return KANON_OK;
	snprintf(report->detail, sizeof(report->detail), "Sets of %d items occur %.3g times, more than %.0g.",
			 size, subsets, KANON_MAX_SUBSETS);
	return KANON_TOO_LARGE;
}
