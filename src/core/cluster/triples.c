/*
 * triples.c: k = 3, by a 2-factor of least weight.
 *
 * G. Aggarwal, T. Feder, K. Kenthapadi, R. Motwani, R. Panigrahy, D. Thomas,
 * A. Zhu, "Approximation algorithms for k-anonymity", Journal of Privacy
 * Technology, 2005, section 6.
 *
 * In a 2-factor every row has two edges: it falls into cycles of three rows or
 * more.  With weight F, it gives clusters of at most 3F.  A cycle as a whole hides
 * at most half its weight of each row, for what its rows differ in changes twice
 * around it: three rows cost 1.5, four twice, five 2.5 times its weight.  A longer
 * one is cut into clusters of three, and one or two of four; three rows in a row
 * cost three times their two edges, four four times their three, so that over all
 * ways to begin they cost on average at most 3 times the weight, and the best way
 * no more.
 *
 * A release may be taken to have classes of three to five rows.  With D hidden per
 * row, three rows cost 3D, and where a column has two values, or is a range, a cycle
 * of them weighs 2D; of four rows, that cost 4D, the best of the three cycles at most
 * 8D/3; of five, 3D of 5D (cut by cut: a cut of 2 and 3 of five rows is crossed by 6
 * of 10 edges, and a cycle has half of the edges on average).  So F is at most two
 * thirds of the cost of any release, and the clusters cost at most twice the least.
 * Elsewhere a cycle of n rows weighs at most nD: F is at most the cost, the clusters
 * at most 3 times the least.
 *
 * As a matching: a row has two nodes, which must be covered.  An edge between two
 * rows may be used but once, so it has two nodes of its own, one for each end:
 * each is joined to both nodes of the row there (one side bears the cost), and to
 * the other for nothing; if the edge is not used, these two cover one another.
 *
 * The rows of a type with many (a hub) need no others.  A hub has as many slots,
 * of two nodes each, as rows may pass through it; a slot that is not used covers
 * itself for nothing.  A row may have both its edges to one hub: to two rows of
 * it.  Between two visits to hubs, rows are a path, which is cut as a cycle is, one
 * or two rows of the hub being there at each end for the asking.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"

/* From so many rows a type is a hub. */
#define HUB_ROWS 8

/* Each visit to a hub takes two rows of it at most, a slot is two visits, and three rows stay. */
static uint32_t
most_copies(const Factor *f, uint32_t type)
{
	int64_t rows = f->problem->rows[type];

	return rows / 4 < f->problem->ntypes ? (uint32_t) ((rows - 3) / 4) : f->problem->ntypes;
}

/* A type's rows as vertices of the factor, or a hub as one. */
static uint32_t
vertices_of(const Factor *f, uint32_t type)
{
	return f->copies[type] > 0 ? 1 : (uint32_t) f->problem->rows[type];
}

/* Nodes of a type: two for each row or slot. */
static uint32_t
nodes_of(const Factor *f, uint32_t type)
{
	return 2 * (f->copies[type] > 0 ? f->copies[type] : (uint32_t) f->problem->rows[type]);
}

/* An edge between two rows, whose first nodes are a and b. */
static bool
row_edge(Factor *f, uint32_t *n, uint32_t a, uint32_t b, uint32_t cost)
{
	uint32_t at = *n;

	*n += 2;
	return factor_edge(f, at, at + 1, 0) && factor_edge(f, a, at, cost) && factor_edge(f, a + 1, at, cost) &&
		   factor_edge(f, at + 1, b, 0) && factor_edge(f, at + 1, b + 1, 0);
}

/* All edges between two types. */
static bool
type_edges(Factor *f, uint32_t *n, FactorPair pair)
{
	for (uint32_t x = 0; x < nodes_of(f, pair.a); x += 2)
		for (uint32_t y = 0; y < nodes_of(f, pair.b); y += 2)
		{
			uint32_t a = f->node[pair.a] + x;
			uint32_t b = f->node[pair.b] + y;

			if (f->copies[pair.a] == 0 && f->copies[pair.b] == 0)
			{
				if (!row_edge(f, n, a, b, pair.cost))
					return false;
				continue;
			}
			for (int i = 0; i < 4; i++)
				if (!factor_edge(f, a + (uint32_t) (i & 1), b + (uint32_t) (i >> 1), pair.cost))
					return false;
		}
	return true;
}

/* Edges of no cost within a type. */
static bool
own_edges(Factor *f, uint32_t *n, uint32_t type)
{
	uint32_t node = f->node[type];

	for (uint32_t x = 0; x < nodes_of(f, type); x += 2)
	{
		if (f->copies[type] > 0 && !factor_edge(f, node + x, node + x + 1, 0))
			return false;
		for (uint32_t y = 0; y < x && f->copies[type] == 0; y += 2)
			if (!row_edge(f, n, node + x, node + y, 0))
				return false;
	}
	return true;
}

static KanonStatus
build(Factor *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->problem->ntypes; i++)
	{
		f->node[i] = n;
		n += nodes_of(f, i);
	}
	f->nown = n;
	for (uint32_t i = 0; i < f->problem->ntypes; i++)
		if (!own_edges(f, &n, i))
			return KANON_NO_MEMORY;
	for (size_t i = 0; i < f->npairs; i++)
	{
		if (f->copies[f->pair[i].a] > 0 && f->copies[f->pair[i].b] > 0)
			continue;
		if (!type_edges(f, &n, f->pair[i]))
			return KANON_NO_MEMORY;
		if (kanon_stop(&f->pace, 64))
			return KANON_CANCELLED;
	}
	f->nnodes = n;
	f->must = kanon_alloc(f->env, n, sizeof(bool));
	if (f->must == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		f->must[i] = true;
	return KANON_OK;
}

/* The vertex of each node; of an edge's own nodes none. */
static uint32_t *
vertices(const Factor *f)
{
	uint32_t *vertex = kanon_alloc(f->env, f->nnodes, sizeof(uint32_t));
	uint32_t v = 0;

	if (vertex == NULL)
		return NULL;
	memset(vertex, 0xff, f->nnodes * sizeof(uint32_t));
	for (uint32_t i = 0; i < f->problem->ntypes; i++)
	{
		for (uint32_t x = 0; x < nodes_of(f, i); x++)
			vertex[f->node[i] + x] = v + (f->copies[i] > 0 ? 0 : x / 2);
		v += vertices_of(f, i);
	}
	return vertex;
}

/* The node at the other end of what covers a node. */
static uint32_t
mate(const Factor *f, uint32_t node)
{
	const MatchEdge *edge = &f->edge[f->used[node]];

	return edge->a == node ? edge->b : edge->a;
}

static KanonStatus
read(Factor *f)
{
	uint32_t *vertex = vertices(f);

	if (vertex == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < f->problem->ntypes; i++)
	{
		int64_t most = FACTOR_NO_PRICE;

		for (uint32_t x = 0; x < nodes_of(f, i); x++)
			if (f->price[f->node[i] + x] > most)
				most = f->price[f->node[i] + x];
		/* a slot more could be had for nothing */
		f->must_price[i] = f->copies[i] > 0 ? FACTOR_NO_PRICE : most;
		f->may_price[i] = f->copies[i] == 0 ? FACTOR_NO_PRICE : most > 0 ? most : 0;
	}
	for (size_t e = 0; e < f->nedges; e++)
	{
		const MatchEdge *edge = &f->edge[e];
		uint32_t a = vertex[edge->a];
		uint32_t b = vertex[edge->b];

		if (f->used[edge->a] != e || (a == FACTOR_NOBODY && b == FACTOR_NOBODY))
			continue;
		if (a != FACTOR_NOBODY && b != FACTOR_NOBODY)
		{
			/* with a hub, or of a hub's slot with itself */
			if (a != b)
				factor_link(f, a, b, edge->cost);
		}
		else if (a != FACTOR_NOBODY && f->used[edge->b ^ 1] != SIZE_MAX)
			factor_link(f, a, vertex[mate(f, edge->b ^ 1)], edge->cost);
	}
	kanon_free(f->env, vertex);
	return KANON_OK;
}

/* ---- from the factor to clusters ---- */

typedef struct Triples
{
	Factor *factor;
	ClusterParts *parts;
	uint32_t nvertices;
	uint32_t *type;        /* [nvertices] */
	uint32_t (*joined)[2]; /* [nvertices] of a row */
	bool *done;            /* [nvertices] */
	int64_t *left;         /* [ntypes] rows of a hub that are in no cluster */
	uint32_t *row;         /* [nvertices] the rows of a path or cycle, as vertices, in order */
	double *best;          /* [nvertices + 1] least cost of the first so many */
	uint32_t *from;        /* [nvertices + 1] where their last cluster begins */
} Triples;

/* The hub at an end of a path, FACTOR_NOBODY for a cycle. */
typedef struct Ends
{
	uint32_t hub[2];
} Ends;

static bool
is_hub(const Triples *t, uint32_t vertex)
{
	return t->factor->copies[t->type[vertex]] > 0;
}

/*
 * Cost of a cluster of the rows from .. to of n; *hub is the type that fills it up,
 * if it has fewer than three rows and is at an end where there is one.
 */
static double
cost_of(const Triples *t, uint32_t from, uint32_t to, uint32_t n, Ends ends, uint32_t *hub)
{
	uint32_t types[6];
	uint32_t rows = to - from;
	double least = INFINITY;

	*hub = FACTOR_NOBODY;
	for (uint32_t i = 0; i < rows; i++)
		types[i] = t->type[t->row[from + i]];
	if (rows >= 3)
		return cluster_charge(&t->factor->layout, types, rows) * rows;
	for (int end = 0; end < 2; end++)
	{
		double cost;

		if (ends.hub[end] == FACTOR_NOBODY || (end == 0 ? from > 0 : to < n))
			continue;
		types[rows] = ends.hub[end];
		cost = cluster_charge(&t->factor->layout, types, rows + 1) * 3;
		if (cost < least)
		{
			least = cost;
			*hub = ends.hub[end];
		}
	}
	return least;
}

/* The best way to cut n rows in a row, as t->from; returns its cost. */
static double
cut(Triples *t, uint32_t n, Ends ends)
{
	t->best[0] = 0;
	for (uint32_t to = 1; to <= n; to++)
	{
		t->best[to] = INFINITY;
		for (uint32_t rows = 1; rows <= 5 && rows <= to; rows++)
		{
			uint32_t hub;
			double cost = t->best[to - rows];

			if (isinf(cost))
				continue;
			cost += cost_of(t, to - rows, to, n, ends, &hub);
			if (cost < t->best[to])
			{
				t->best[to] = cost;
				t->from[to] = to - rows;
			}
		}
	}
	return t->best[n];
}

static KanonStatus
add(Triples *t, uint32_t type, int64_t rows)
{
	return kanon_parts_add(t->factor->env, t->parts, type, t->parts->nclusters, rows) ? KANON_OK
																					  : KANON_NO_MEMORY;
}

/* The clusters of the last cut. */
static KanonStatus
take(Triples *t, uint32_t n, Ends ends)
{
	KanonStatus status = KANON_OK;

	for (uint32_t to = n; to > 0 && status == KANON_OK; to = t->from[to])
	{
		uint32_t from = t->from[to];
		uint32_t hub;

		(void) cost_of(t, from, to, n, ends, &hub);
		for (uint32_t i = from; i < to && status == KANON_OK; i++)
			status = add(t, t->type[t->row[i]], 1);
		if (hub != FACTOR_NOBODY && status == KANON_OK)
		{
			status = add(t, hub, 3 - (to - from));
			t->left[hub] -= 3 - (to - from);
		}
		t->parts->nclusters++;
	}
	return status;
}

/* Follows the edges from a row, coming from `before`; the hub that ends it. */
static uint32_t
follow(Triples *t, uint32_t vertex, uint32_t before, uint32_t *n)
{
	for (;;)
	{
		uint32_t next = t->joined[vertex][0] == before ? t->joined[vertex][1] : t->joined[vertex][0];

		t->row[(*n)++] = vertex;
		t->done[vertex] = true;
		if (is_hub(t, next))
			return t->type[next];
		if (t->done[next])
			return FACTOR_NOBODY;
		before = vertex;
		vertex = next;
	}
}

static KanonStatus
cluster_path(Triples *t, uint32_t vertex, uint32_t hub)
{
	uint32_t n = 0;
	Ends ends = {{t->type[hub], 0}};

	ends.hub[1] = follow(t, vertex, hub, &n);
	if (kanon_stop(&t->factor->pace, 64 * (uint64_t) n))
		return KANON_CANCELLED;
	cut(t, n, ends);
	return take(t, n, ends);
}

static void
rotate(Triples *t, uint32_t n)
{
	uint32_t first = t->row[0];

	memmove(t->row, t->row + 1, (n - 1) * sizeof(uint32_t));
	t->row[n - 1] = first;
}

/* No cluster has more than five rows: one begins at one of the first five. */
static KanonStatus
cluster_cycle(Triples *t, uint32_t vertex)
{
	uint32_t n = 0;
	Ends ends = {{FACTOR_NOBODY, FACTOR_NOBODY}};
	double least = INFINITY;
	uint32_t best = 0;

	(void) follow(t, vertex, t->joined[vertex][0], &n);
	if (kanon_stop(&t->factor->pace, 320 * (uint64_t) n))
		return KANON_CANCELLED;
	for (uint32_t turn = 0; turn < 5 && turn < n; turn++)
	{
		double cost = cut(t, n, ends);

		if (cost < least)
		{
			least = cost;
			best = turn;
		}
		rotate(t, n);
	}
	for (uint32_t turn = n < 5 ? n : 5; turn % n != best; turn++)
		rotate(t, n);
	cut(t, n, ends);
	return take(t, n, ends);
}

static KanonStatus
prepare(Triples *t)
{
	const Factor *f = t->factor;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->problem->ntypes; i++)
		n += vertices_of(f, i);
	t->nvertices = n;
	t->type = kanon_alloc(f->env, n, sizeof(uint32_t));
	t->joined = kanon_alloc(f->env, n, sizeof(t->joined[0]));
	t->done = kanon_alloc0(f->env, n, sizeof(bool));
	t->left = kanon_alloc(f->env, f->problem->ntypes, sizeof(int64_t));
	t->row = kanon_alloc(f->env, n, sizeof(uint32_t));
	t->best = kanon_alloc(f->env, (size_t) n + 1, sizeof(double));
	t->from = kanon_alloc(f->env, (size_t) n + 1, sizeof(uint32_t));
	if (t->type == NULL || t->joined == NULL || t->done == NULL || t->left == NULL || t->row == NULL ||
		t->best == NULL || t->from == NULL)
		return KANON_NO_MEMORY;
	n = 0;
	for (uint32_t i = 0; i < f->problem->ntypes; i++)
	{
		t->left[i] = f->problem->rows[i];
		for (uint32_t v = 0; v < vertices_of(f, i); v++)
			t->type[n++] = i;
	}
	memset(t->joined, 0xff, n * sizeof(t->joined[0]));
	for (size_t i = 0; i < f->nlinks; i++)
		for (int end = 0; end < 2; end++)
		{
			uint32_t a = end == 0 ? f->link[i].a : f->link[i].b;
			uint32_t b = end == 0 ? f->link[i].b : f->link[i].a;

			if (!is_hub(t, a))
				t->joined[a][t->joined[a][0] != FACTOR_NOBODY] = b;
		}
	return KANON_OK;
}

static KanonStatus
make_clusters(Triples *t)
{
	const Factor *f = t->factor;
	KanonStatus status = prepare(t);

	for (uint32_t v = 0; v < t->nvertices && status == KANON_OK; v++)
		for (int end = 0; end < 2 && status == KANON_OK; end++)
			if (!is_hub(t, v) && !t->done[v] && is_hub(t, t->joined[v][end]))
				status = cluster_path(t, v, t->joined[v][end]);
	for (uint32_t v = 0; v < t->nvertices && status == KANON_OK; v++)
		if (!is_hub(t, v) && !t->done[v])
			status = cluster_cycle(t, v);
	for (uint32_t i = 0; i < f->problem->ntypes && status == KANON_OK; i++)
		if (f->copies[i] > 0)
		{
			status = add(t, i, t->left[i]);
			t->parts->nclusters++;
		}
	return status;
}

static KanonStatus
cluster(Factor *f, ClusterParts *parts)
{
	Triples t = {.factor = f, .parts = parts};
	KanonStatus status = make_clusters(&t);
	void *all[] = {t.type, t.joined, t.done, t.left, t.row, t.best, t.from};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		kanon_free(f->env, all[i]);
	return status;
}

KanonStatus
kanon_solve_triples(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	static const FactorMethod method = {.phase = "triples",
										.k = 3,
										.enough = HUB_ROWS,
										.spare = true,
										.most_copies = most_copies,
										.build = build,
										.read = read,
										.cluster = cluster,
										.guarantee = {3, 2},
										.bound = {1, 1.5}};

	if (kanon_by_types(problem))
		return cluster_solve_ruled(problem, kanon_solve_triples, release, report);
	if (cluster_wants_parts(problem))
		return cluster_solve_by_parts(problem, kanon_solve_triples, release, report);
	return factor_solve(&method, problem, release, report);
}
