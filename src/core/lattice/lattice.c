/*
 * lattice.c: the nodes of a lattice of levels, numbered in mixed radix.
 */
#include <math.h>

#include "lattice/lattice.h"
#include "util/sort.h"

double
lattice_nodes(const Lattice *lattice)
{
	double nodes = 1;

	for (int q = 0; q < lattice->nqis; q++)
		nodes *= lattice->height[q] + 1;
	return nodes;
}

void
lattice_open(const KanonProblem *problem, double most, Lattice *lattice)
{
	uint32_t stride = 1;

	lattice->nqis = 0;
	lattice->top = problem->ncolumns;
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].level > 0)
			lattice->height[lattice->nqis - 1]++;
		else
		{
			lattice->first[lattice->nqis] = c;
			lattice->height[lattice->nqis++] = 1;
		}
	lattice->wide = lattice_nodes(lattice) > most;
	for (int q = lattice->nqis - 1; q >= 0 && !lattice->wide; q--)
	{
		lattice->stride[q] = stride;
		stride *= (uint32_t) lattice->height[q] + 1;
	}
	lattice->nnodes = lattice->wide ? 0 : stride;
}

int
lattice_height(const Lattice *lattice, uint32_t node)
{
	int height = 0;

	for (int q = 0; q < lattice->nqis; q++)
		height += lattice_level(lattice, node, q);
	return height;
}

KanonPattern
lattice_pattern(const Lattice *lattice, uint32_t node)
{
	KanonPattern pattern = KANON_NONE;

	for (int q = 0; q < lattice->nqis; q++)
		for (int r = lattice_level(lattice, node, q) - 1; r >= 0; r--)
			kanon_add(&pattern, lattice->first[q] + r);
	return pattern;
}

uint32_t
lattice_node(const Lattice *lattice, KanonPattern pattern)
{
	uint32_t node = 0;

	for (int q = 0; q < lattice->nqis; q++)
		node += (uint32_t) lattice_level_of(lattice, pattern, q) * lattice->stride[q];
	return node;
}

void
lattice_levels(const Lattice *lattice, uint32_t node, uint16_t *level)
{
	/* the digits from the last: a division each */
	for (int q = lattice->nqis - 1; q >= 0; q--)
	{
		uint32_t radix = (uint32_t) lattice->height[q] + 1;

		level[q] = (uint16_t) (node % radix);
		node /= radix;
	}
}

void
lattice_next(const Lattice *lattice, uint16_t *level)
{
	int q = lattice->nqis - 1;

	while (q >= 0 && level[q] == lattice->height[q])
		level[q--] = 0;
	if (q >= 0)
		level[q]++;
}

void
lattice_levels_of(const Lattice *lattice, KanonPattern node, uint16_t *level)
{
	for (int q = 0; q < lattice->nqis; q++)
		level[q] = (uint16_t) lattice_level_of(lattice, node, q);
}

KanonPattern
lattice_beside(const Lattice *lattice, KanonPattern node, int q)
{
	int first = lattice->first[q];

	return kanon_minus(kanon_span(0, lattice->top), kanon_span(first + lattice_level_of(lattice, node, q) - 1,
															   first + lattice->height[q]));
}

/* ---- In which order a full-domain search looks at nodes ---- */

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

/* Nodes are sorted by the first key, a whole number, and among equals by the second. */
typedef struct Span
{
	double low[2];
	double high[2];
} Span;

/* 0 .. bins - 1, and for no node less than for one before it. */
static inline uint32_t
bin_of(const Span *span, const Ranked *ranked, uint32_t bins)
{
	double range = span->high[1] - span->low[1];
	double within = range > 0 ? (ranked->key[1] - span->low[1]) / range : 0;
	double place = (ranked->key[0] - span->low[0] + within) / (span->high[0] - span->low[0] + 1);

	return (uint32_t) (place * (bins - 1));
}

/*
 * Into the scratch memory, in their order: nodes are dealt out to bins, of which there are as many, so
 * that those of one bin alone are left to compare.  start: [n] zeros.
 */
static KanonStatus
sort_by_bins(NodeSearch *search, Ranked *ranked, Ranked *scratch, uint32_t *start, uint32_t n)
{
	Sorting sorting = {search->pace, false};
	Span span = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};

	for (uint32_t i = 0; i < n; i++)
		for (int key = 0; key < 2; key++)
		{
			span.low[key] = fmin(span.low[key], ranked[i].key[key]);
			span.high[key] = fmax(span.high[key], ranked[i].key[key]);
		}
	for (uint32_t i = 0; i < n; i++)
		start[bin_of(&span, &ranked[i], n)]++;
	/* first where each ends; from the last node on it shrinks to where it begins */
	for (uint32_t b = 1; b < n; b++)
		start[b] += start[b - 1];
	for (uint32_t i = n; i-- > 0;)
		scratch[--start[bin_of(&span, &ranked[i], n)]] = ranked[i];
	if (kanon_stop(search->pace, 4 * (uint64_t) n))
		return KANON_CANCELLED;
	for (uint32_t b = 0; b < n; b++)
		kanon_sort(scratch + start[b], ranked, (b + 1 < n ? start[b + 1] : n) - start[b], sizeof(Ranked),
				   compare_ranked, &sorting);
	return sorting.stopped ? KANON_CANCELLED : KANON_OK;
}

/* Sorts nodes by three keys of each: all of them, or those that may be optimal. */
static KanonStatus
sort_nodes(NodeSearch *search, NodeKeys keys, bool (*wanted)(const NodeSearch *search, uint32_t node))
{
	const Lattice *lattice = search->lattice;
	KanonEnv *env = search->problem->env;
	Ranked *ranked = kanon_alloc(env, lattice->nnodes, sizeof(Ranked));
	Ranked *scratch = kanon_alloc(env, lattice->nnodes, sizeof(Ranked));
	uint32_t *start = kanon_alloc0(env, lattice->nnodes, sizeof(uint32_t));
	KanonStatus status = ranked == NULL || scratch == NULL || start == NULL ? KANON_NO_MEMORY : KANON_OK;
	double logs[KANON_MAX_COLUMNS];
	uint16_t level[KANON_MAX_QIS] = {0};

	/* (those of an empty table have no values) */
	for (int c = 0; c < search->problem->ncolumns; c++)
		logs[c] = log(fmax(search->problem->columns[c].distinct, 1));
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
		status = sort_by_bins(search, ranked, scratch, start, search->norder);
	for (uint32_t i = 0; i < search->norder && status == KANON_OK; i++)
		search->order[i] = scratch[i].node;
	kanon_free(env, ranked);
	kanon_free(env, scratch);
	kanon_free(env, start);
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
