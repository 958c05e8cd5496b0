/*
 * pairs.c: k = 2, by a [1,2]-factor of least weight.
 *
 * G. Aggarwal, T. Feder, K. Kenthapadi, R. Motwani, R. Panigrahy, D. Thomas,
 * A. Zhu, "Approximation algorithms for k-anonymity", Journal of Privacy
 * Technology, 2005, section 5.
 *
 * A [1,2]-factor gives every row one or two edges.  Without edges that both ends
 * could do without, it falls into single edges and paths of two: clusters of two
 * and three rows.  With weight F, it gives clusters of at most 3F: an edge w costs
 * its two rows 2w, a path x, y its three rows at most 3(x + y).
 *
 * A release may be taken to have classes of two and three rows.  One of two rows
 * w apart costs 2w and has a factor of w.  One of three rows that hides D of each
 * costs 3D; its two shortest edges are at most two thirds of all three, x + y + z.
 * Where a column has two values, or is a range, the three hide half of that:
 * D = (x + y + z) / 2, the factor has at most 4D/3, and F is at most half the cost
 * of any release: the clusters cost at most 1.5 times the least.  Elsewhere
 * x + y + z <= 3D, F is at most two thirds, and the clusters at most twice.
 *
 * As a matching: a row is a node that must be covered and one that may be; an
 * edge between two rows joins any of their nodes but two that may be.  (An edge
 * may be used twice so, but need not be at least weight.)  The rows of a type with
 * two or more (a hub) have edges of no weight among themselves, so they need no
 * others; each has one node that may be covered.  A second one would be of no use:
 * distances are a metric, so two rows that hang at one are joined to each other for
 * no more.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"

static uint32_t
most_copies(const Factor *f, uint32_t type)
{
	int64_t rows = f->problem->rows[type];

	return rows < f->problem->ntypes ? (uint32_t) rows : f->problem->ntypes;
}

static KanonStatus
build(Factor *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->problem->ntypes; i++)
	{
		f->node[i] = n;
		n += f->copies[i] > 0 ? f->copies[i] : 2;
	}
	f->nnodes = n;
	f->nown = n;
	f->must = kanon_alloc0(f->env, n, sizeof(bool));
	if (f->must == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < f->problem->ntypes; i++)
		f->must[f->node[i]] = f->copies[i] == 0;
	for (size_t i = 0; i < f->npairs; i++)
	{
		FactorPair pair = f->pair[i];
		uint32_t a = f->copies[pair.a] > 0 ? pair.b : pair.a;
		uint32_t b = f->copies[pair.a] > 0 ? pair.a : pair.b;
		uint32_t copies = f->copies[b] > 0 ? f->copies[b] : 2;

		if (f->copies[a] > 0)
			continue;
		for (uint32_t c = 0; c < copies; c++)
			if (!factor_edge(f, f->node[a], f->node[b] + c, pair.cost))
				return KANON_NO_MEMORY;
		if (f->copies[b] == 0 && !factor_edge(f, f->node[a] + 1, f->node[b], pair.cost))
			return KANON_NO_MEMORY;
		if (kanon_stop(&f->pace, copies))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

static KanonStatus
read(Factor *f)
{
	uint32_t n = f->problem->ntypes;
	uint32_t *type = kanon_alloc(f->env, f->nnodes, sizeof(uint32_t));

	if (type == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t nodes = f->copies[i] > 0 ? f->copies[i] : 2;
		int64_t most = FACTOR_NO_PRICE;

		for (uint32_t c = 0; c < nodes; c++)
		{
			int64_t price = f->price[f->node[i] + c];

			type[f->node[i] + c] = i;
			if ((c > 0 || f->copies[i] > 0) && price > most)
				most = price;
		}
		f->must_price[i] = f->copies[i] > 0 ? FACTOR_NO_PRICE : f->price[f->node[i]];
		f->may_price[i] = most;
	}
	for (uint32_t node = 0; node < f->nnodes; node++)
		if (f->used[node] != SIZE_MAX && f->edge[f->used[node]].a == node)
		{
			const MatchEdge *edge = &f->edge[f->used[node]];

			factor_link(f, type[edge->a], type[edge->b], edge->cost);
		}
	kanon_free(f->env, type);
	return KANON_OK;
}

typedef struct Pairs
{
	Factor *factor;
	uint32_t (*joined)[2]; /* [ntypes] whom a row has edges to */
	uint32_t *leaves;      /* [ntypes] first row that hangs at a type */
	uint32_t *next;        /* [ntypes] the next one at the same */
	ClusterParts *parts;
} Pairs;

/* Edges that both ends could do without go. */
static void
prune(Pairs *p)
{
	const Factor *f = p->factor;

	memset(p->joined, 0xff, f->problem->ntypes * sizeof(p->joined[0]));
	for (size_t i = 0; i < f->nlinks; i++)
		for (int end = 0; end < 2; end++)
		{
			uint32_t a = end == 0 ? f->link[i].a : f->link[i].b;
			uint32_t b = end == 0 ? f->link[i].b : f->link[i].a;

			p->joined[a][p->joined[a][0] != FACTOR_NOBODY] = b;
		}
	for (uint32_t a = 0; a < f->problem->ntypes; a++)
		for (int e = 0; e < 2 && p->joined[a][1] != FACTOR_NOBODY; e++)
		{
			uint32_t b = p->joined[a][e];

			if (f->copies[b] == 0)
			{
				if (p->joined[b][1] == FACTOR_NOBODY)
					continue;
				if (p->joined[b][0] == a)
					p->joined[b][0] = p->joined[b][1];
				p->joined[b][1] = FACTOR_NOBODY;
			}
			p->joined[a][0] = p->joined[a][1 - e];
			p->joined[a][1] = FACTOR_NOBODY;
		}
}

static bool
add(Pairs *p, uint32_t type, int64_t rows)
{
	return kanon_parts_add(p->factor->env, p->parts, type, p->parts->nclusters, rows);
}

/* A hub and what hangs at it: pairs of one of each.  A row of it that is left alone joins one. */
static bool
cluster_hub(Pairs *p, uint32_t hub, int64_t hanging)
{
	int64_t rows = p->factor->problem->rows[hub] - hanging;

	for (uint32_t leaf = p->leaves[hub]; leaf != FACTOR_NOBODY; leaf = p->next[leaf])
	{
		int64_t own = rows == 1 ? 2 : 1;

		if (own == 2)
			rows = 0;
		if (!add(p, leaf, 1) || !add(p, hub, own))
			return false;
		p->parts->nclusters++;
	}
	if (rows > 0)
	{
		if (!add(p, hub, rows))
			return false;
		p->parts->nclusters++;
	}
	return true;
}

/* From edges to clusters. */
static KanonStatus
make_clusters(Pairs *p)
{
	Factor *f = p->factor;
	uint32_t n = f->problem->ntypes;

	p->joined = kanon_alloc(f->env, n, sizeof(p->joined[0]));
	p->leaves = kanon_alloc(f->env, n, sizeof(uint32_t));
	p->next = kanon_alloc(f->env, n, sizeof(uint32_t));
	if (p->joined == NULL || p->leaves == NULL || p->next == NULL)
		return KANON_NO_MEMORY;
	prune(p);
	memset(p->leaves, 0xff, n * sizeof(uint32_t));
	for (uint32_t a = n; a-- > 0;)
	{
		uint32_t b = p->joined[a][0];

		if (f->copies[a] > 0 || b == FACTOR_NOBODY || p->joined[a][1] != FACTOR_NOBODY)
			continue;
		p->next[a] = p->leaves[b];
		p->leaves[b] = a;
	}
	for (uint32_t a = 0; a < n; a++)
	{
		int64_t hanging = 0;
		bool done = true;

		if (kanon_stop(&f->pace, 16))
			return KANON_CANCELLED;
		for (uint32_t leaf = p->leaves[a]; leaf != FACTOR_NOBODY; leaf = p->next[leaf])
			hanging++;
		if (f->copies[a] > 0)
			done = cluster_hub(p, a, hanging);
		/* of two rows that hang at one another, the first */
		else if (hanging > 0 && (p->joined[a][1] != FACTOR_NOBODY || p->joined[a][0] > a))
		{
			done = add(p, a, 1);
			for (uint32_t leaf = p->leaves[a]; leaf != FACTOR_NOBODY && done; leaf = p->next[leaf])
				done = add(p, leaf, 1);
			p->parts->nclusters++;
		}
		if (!done)
			return KANON_NO_MEMORY;
	}
	return KANON_OK;
}

static KanonStatus
cluster(Factor *f, ClusterParts *parts)
{
	Pairs p = {.factor = f, .parts = parts};
	KanonStatus status = make_clusters(&p);

	kanon_free(f->env, p.joined);
	kanon_free(f->env, p.leaves);
	kanon_free(f->env, p.next);
	return status;
}

KanonStatus
kanon_solve_pairs(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	static const FactorMethod method = {.phase = "pairs",
										.k = 2,
										.enough = 2,
										.most_copies = most_copies,
										.build = build,
										.read = read,
										.cluster = cluster,
										.guarantee = {2, 1.5},
										.bound = {1.5, 2}};

	if (kanon_by_types(problem))
		return cluster_solve_ruled(problem, kanon_solve_pairs, release, report);
	if (cluster_wants_parts(problem))
		return cluster_solve_by_parts(problem, kanon_solve_pairs, release, report);
	return factor_solve(&method, problem, release, report);
}
