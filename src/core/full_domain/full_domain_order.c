/*
 * full_domain_order.c: in which order a full-domain search looks at nodes.
 */
#include <math.h>

#include "full_domain/lattice.h"
#include "util/sort.h"

typedef struct Ranked
{
	double key[3];
	uint32_t node;
} Ranked;

/* A sort that can be stopped: then everything is equal, and it is soon done. */
typedef struct Sorting
{
	KanonPace *pace;
	bool stopped;
} Sorting;

static int
compare_ranked(const void *a, const void *b, void *arg)
{
	const Ranked *left = a;
	const Ranked *right = b;
	Sorting *sorting = arg;

	sorting->stopped = sorting->stopped || kanon_stop(sorting->pace, 2);
	if (sorting->stopped)
		return 0;
	for (int i = 0; i < 3; i++)
		if (left->key[i] != right->key[i])
			return left->key[i] < right->key[i] ? -1 : 1;
	return left->node < right->node ? -1 : left->node > right->node;
}

/* The three keys of a node, of which the levels are given, too. */
typedef void (*NodeKeys)(const NodeSearch *search, const uint16_t *level, const double *logs, double *key);

/* Sorts nodes by three keys of each: all of them, or those that may be optimal. */
static KanonStatus
sort_nodes(NodeSearch *search, NodeKeys keys, bool (*wanted)(const NodeSearch *search, uint32_t node))
{
	const Lattice *lattice = search->lattice;
	KanonEnv *env = search->problem->env;
	Ranked *ranked = kanon_alloc(env, lattice->nnodes, sizeof(Ranked));
	Ranked *scratch = kanon_alloc(env, lattice->nnodes, sizeof(Ranked));
	Sorting sorting = {search->pace, false};
	KanonStatus status = ranked == NULL || scratch == NULL ? KANON_NO_MEMORY : KANON_OK;
	double logs[KANON_MAX_COLUMNS];
	uint16_t level[KANON_MAX_QIS] = {0};

	for (int c = 0; c < search->problem->ncolumns; c++)
		logs[c] = log(search->problem->columns[c].distinct);
	search->norder = 0;
	for (uint32_t node = 0; node < lattice->nnodes && status == KANON_OK; node++)
	{
		if (wanted == NULL || wanted(search, node))
		{
			keys(search, level, logs, ranked[search->norder].key);
			ranked[search->norder++].node = node;
		}
		lattice_next(lattice, level);
		if (kanon_stop(search->pace, (uint64_t) lattice->nqis))
			status = KANON_CANCELLED;
	}
	if (status == KANON_OK)
		kanon_sort(ranked, scratch, search->norder, sizeof(Ranked), compare_ranked, &sorting);
	if (sorting.stopped)
		status = KANON_CANCELLED;
	for (uint32_t i = 0; i < search->norder && status == KANON_OK; i++)
		search->order[i] = ranked[i].node;
	kanon_free(env, ranked);
	kanon_free(env, scratch);
	return status;
}

/*
 * Flash's three criteria: the height, from the bottom; how many groups there could be, the
 * most first; the mean level as a share of its height.  (The paper has the last two the
 * other way round, which takes more checks on Adult.)
 */
static void
keys_upwards(const NodeSearch *search, const uint16_t *level, const double *logs, double *key)
{
	const Lattice *lattice = search->lattice;

	key[0] = key[1] = key[2] = 0;
	for (int q = 0; q < lattice->nqis; q++)
	{
		key[0] += level[q];
		key[2] += (double) level[q] / lattice->height[q];
		if (level[q] < lattice->height[q])
			key[1] -= logs[lattice->first[q] + level[q]];
	}
}

/* By what is known without a check; then upwards. */
static void
keys_of_floors(const NodeSearch *search, const uint16_t *level, const double *logs, double *key)
{
	(void) logs;
	key[0] = (double) metric_floor(search->metric, search->lattice, level);
	key[1] = key[2] = 0;
	for (int q = 0; q < search->lattice->nqis; q++)
		key[1] += level[q];
}

KanonStatus
search_order(NodeSearch *search)
{
	return sort_nodes(search, keys_upwards, NULL);
}

KanonStatus
search_order_left(NodeSearch *search, bool (*left)(const NodeSearch *search, uint32_t node))
{
	return sort_nodes(search, keys_of_floors, left);
}
