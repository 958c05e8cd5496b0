/*
 * forest.c: clusters from a spanning forest, with a proven factor.
 *
 * G. Aggarwal, T. Feder, K. Kenthapadi, R. Motwani, R. Panigrahy, D. Thomas,
 * A. Zhu, "Approximation algorithms for k-anonymity", Journal of Privacy
 * Technology, 2005, section 4.
 *
 * FOREST: as long as a tree has fewer than k rows, the row of it that has no edge out
 * gets one to one of its k-1 nearest rows; one of these is in another tree.  A release
 * hides of each row at least what it takes to look like the k-1 nearest ones, so that the
 * sum of these distances over all rows, and with it the weight of the forest, is at most
 * the cost of any release (also one that leaves rows out at the price of hiding them).
 * The sum is the larger of the two bounds, and is reported.
 *
 * DECOMPOSE-COMPONENT: trees are cut into clusters of k to L = max(2k-1, 3k-5) rows, no
 * edge in two of them.  A cluster hides of a row at most the weight of its edges, so all
 * clusters together cost at most L times the forest.  The paper cuts from any vertex;
 * here the trees are gone through once, from the leaves, which takes linear time: see
 * cut_at().
 *
 * At least so many distinct values in each class (Aggarwal et al., "Achieving anonymity
 * via clustering", PODS 2006, ask for them, too): a tree needs an edge until its rows
 * have them, to one of the nearest rows that would do.  Trees are then cut wherever what
 * hangs at a vertex is enough, and what is left over goes with the cluster next to
 * it.  All of the above holds but for L: values may lie so that clusters are larger.  The
 * largest one is the factor of the release.
 *
 * Vertices are row types.  Their equal rows are joined by edges of no weight; a
 * type of k rows or more needs no edge out and is the root of its tree.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "privacy/rules.h"
#include "util/pace.h"
#include "util/sort.h"

#define NOBODY UINT32_MAX

/* Rows of one type, in a list. */
typedef struct Entry
{
	uint32_t type;
	uint32_t next;
	int64_t rows;
} Entry;

/* Rows that hang together below a vertex: fewer than k. */
typedef struct Branch
{
	uint32_t first; /* entries */
	uint32_t last;
	uint32_t next; /* branch of the same vertex */
	int64_t rows;
} Branch;

typedef struct Forest
{
	const KanonProblem *problem;
	KanonEnv *env;
	KanonScratch scratch;
	ClusterLayout layout;
	ClusterSpace space;
	KanonPace pace;
	int64_t most; /* L */
	double bound;

	/* FOREST */
	SpaceNear *near; /* of all small types, each's nearest first */
	size_t nnear;
	size_t near_room;
	size_t *near_from; /* [ntypes + 1] */
	size_t *near_next; /* [ntypes] the nearest not known to be in its own tree */
	uint32_t *tree;    /* [ntypes] union-find */
	int64_t *size;     /* [ntypes] rows of the tree, at its representative */
	KanonHeap heap;    /* small types whose tree may need an edge, by its length */
	uint32_t *out;     /* [ntypes] where a type's edge goes, NOBODY: it is a root */

	/* DECOMPOSE-COMPONENT */
	uint32_t *children; /* [ntypes] not gone through yet */
	int64_t *left;      /* [ntypes] of a root: rows of its tree in no cluster */
	uint32_t *hub;      /* [ntypes] of a root: where the last cut will be made */
	uint32_t *branch;   /* [ntypes] first branch of a vertex */
	Branch *branches;   /* [ntypes] a branch is named by its top */
	Entry *entries;     /* [ntypes] one for each type */
	int64_t *own;       /* [ntypes] rows of the type itself that are in no cluster */
	uint32_t *order;    /* [ntypes] vertices whose children are done */
	uint32_t *root;     /* [ntypes] of a tree, at its representative */

	/* with a privacy rule */
	uint32_t *next;    /* [ntypes] of the same tree, in a circle */
	uint32_t *members; /* [ntypes] of a tree or cluster */
	uint32_t *nearby;  /* [ntypes] a cluster next to a vertex, or that of one below it */
	ClusterParts parts;
} Forest;

static uint32_t
tree_of(Forest *f, uint32_t type)
{
	while (f->tree[type] != type)
		type = f->tree[type] = f->tree[f->tree[type]];
	return type;
}

/* ---- FOREST ---- */

/* May these types be a class, by their rows and the rules? */
static bool
suffices(const Forest *f, const uint32_t *types, size_t n, int64_t rows)
{
	return rows >= f->problem->k &&
		   (f->problem->privacy == NULL || kanon_privacy_allows(f->problem, types, NULL, n, false, NULL));
}

/*
 * The nearest rows with which the rules are kept, too, where the n nearest are k: into
 * f->near + f->nnear, in order.  All rows together keep them.
 */
static KanonStatus
find_values(Forest *f, uint32_t type, uint32_t *n)
{
	const KanonProblem *problem = f->problem;
	uint32_t low = *n;
	uint32_t high = *n;
	SpaceNear *near;

	for (;;)
	{
		if (!KANON_GROW(&f->scratch, &f->near_room, f->nnear + high + 1, KANON_ARRAY(f->near)))
			return KANON_NO_MEMORY;
		near = f->near + f->nnear;
		if (high > *n)
			(void) space_nearest(&f->space, problem->rows, type, high, INT64_MAX, near);
		f->members[0] = type;
		for (uint32_t x = 0; x < high; x++)
			f->members[x + 1] = near[x].type;
		if (kanon_stop(&f->pace, (uint64_t) high * 32 + problem->ntypes))
			return KANON_CANCELLED;
		if (suffices(f, f->members, high + 1, problem->k))
			break;
		if (kanon_privacy_failed(problem->privacy))
			return KANON_NO_MEMORY;
		if (high == problem->ntypes - 1)
			return KANON_INFEASIBLE;
		low = high + 1;
		high = high < problem->ntypes / 4 ? 2 * high + 2 : problem->ntypes - 1;
	}
	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (suffices(f, f->members, middle + 1, problem->k))
			high = middle;
		else
			low = middle + 1;
		if (kanon_stop(&f->pace, (uint64_t) middle * 32))
			return KANON_CANCELLED;
	}
	*n = high;
	return KANON_OK;
}

/* The nearest rows of every small type with which it may be a class, as types; what they prove. */
static KanonStatus
find_nearest(Forest *f)
{
	const KanonProblem *problem = f->problem;

	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		int64_t wanted = problem->k - problem->rows[i];
		uint32_t most, n;
		KanonStatus status = KANON_OK;

		f->near_from[i] = f->near_next[i] = f->nnear;
		if (wanted <= 0 && problem->privacy == NULL)
			continue;
		wanted = wanted > 0 ? wanted : 0;
		f->pace.share = (double) i / problem->ntypes / 2;
		if (kanon_stop(&f->pace, space_measure(&f->space, i) + problem->ntypes))
			return KANON_CANCELLED;
		most = wanted < problem->ntypes ? (uint32_t) wanted : problem->ntypes;
		if (!KANON_GROW(&f->scratch, &f->near_room, f->nnear + most, KANON_ARRAY(f->near)))
			return KANON_NO_MEMORY;
		n = most == 0 ? 0 : space_nearest(&f->space, problem->rows, i, most, wanted, f->near + f->nnear);
		if (problem->privacy != NULL)
			status = find_values(f, i, &n);
		if (status != KANON_OK)
			return status;
		f->nnear += n;
		if (n > 0)
			f->bound += (double) f->near[f->nnear - 1].distance * (double) problem->rows[i];
	}
	f->near_from[problem->ntypes] = f->nnear;
	return KANON_OK;
}

/* The nearest row of a type's list that is in another tree; there is one. */
static SpaceNear
nearest_outside(Forest *f, uint32_t type)
{
	while (tree_of(f, f->near[f->near_next[type]].type) == tree_of(f, type))
		f->near_next[type]++;
	return f->near[f->near_next[type]];
}

/* Does a tree have to grow? */
static bool
is_small(Forest *f, uint32_t tree)
{
	size_t n = 0;
	uint32_t type = tree;

	if (f->size[tree] < f->problem->k)
		return true;
	if (f->problem->privacy == NULL)
		return false;
	do
		f->members[n++] = type;
	while ((type = f->next[type]) != tree);
	f->pace.work += n * 16;
	return !suffices(f, f->members, n, f->size[tree]);
}

static KanonStatus
grow_forest(Forest *f)
{
	const KanonProblem *problem = f->problem;

	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		f->tree[i] = f->next[i] = i;
		f->size[i] = problem->rows[i];
		f->out[i] = NOBODY;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (f->near_next[i] < f->near_from[i + 1] &&
			!kanon_heap_add(&f->scratch, &f->heap, nearest_outside(f, i).distance, i))
			return KANON_NO_MEMORY;
	while (f->heap.n > 0)
	{
		uint32_t type = kanon_heap_take(&f->heap).item;
		uint32_t tree = tree_of(f, type);
		uint64_t seen = f->near_next[type];
		SpaceNear edge;

		/* each tree has one type without an edge out: this one is its */
		if (!is_small(f, tree))
			continue;
		edge = nearest_outside(f, type);
		if (kanon_stop(&f->pace, 32 + f->near_next[type] - seen))
			return KANON_CANCELLED;
		if (f->heap.n > 0 && kanon_heap_before(f->heap.items[0], (KanonKeyed){edge.distance, type}))
		{
			if (!kanon_heap_add(&f->scratch, &f->heap, edge.distance, type))
				return KANON_NO_MEMORY;
			continue;
		}
		f->out[type] = edge.type;
		{
			uint32_t other = tree_of(f, edge.type);
			uint32_t after = f->next[tree];

			f->next[tree] = f->next[other];
			f->next[other] = after;
		}
		f->size[tree_of(f, edge.type)] += f->size[tree];
		f->tree[tree] = tree_of(f, edge.type);
	}
	return KANON_OK;
}

/* ---- DECOMPOSE-COMPONENT ---- */

static KanonStatus
add_rows(Forest *f, uint32_t type, int64_t rows)
{
	if (rows > 0 && !kanon_parts_add(f->env, &f->parts, type, f->parts.nclusters, rows))
		return KANON_NO_MEMORY;
	return KANON_OK;
}

/* The rows of some branches are in the cluster that is being made. */
static KanonStatus
add_branches(Forest *f, uint32_t from, uint32_t to)
{
	KanonStatus status = KANON_OK;

	for (uint32_t b = from; b != to && status == KANON_OK; b = f->branches[b].next)
		for (uint32_t e = f->branches[b].first; e != NOBODY && status == KANON_OK; e = f->entries[e].next)
			status = add_rows(f, f->entries[e].type, f->entries[e].rows);
	return status;
}

/* A cluster of branches from .. to (excluded) and rows of the vertex. */
static KanonStatus
close_cluster(Forest *f, uint32_t from, uint32_t to, uint32_t vertex, int64_t own)
{
	KanonStatus status = add_branches(f, from, to);

	if (status == KANON_OK)
		status = add_rows(f, vertex, own);
	f->parts.nclusters++;
	return kanon_stop(&f->pace, 64) ? KANON_CANCELLED : status;
}

/* The vertex has a branch with so many rows: it becomes the first one. */
static bool
bring_forward(Forest *f, uint32_t vertex, int64_t rows)
{
	uint32_t last = NOBODY;

	for (uint32_t b = f->branch[vertex]; b != NOBODY; last = b, b = f->branches[b].next)
		if (f->branches[b].rows == rows)
		{
			if (last == NOBODY)
				return true;
			f->branches[last].next = f->branches[b].next;
			f->branches[b].next = f->branch[vertex];
			f->branch[vertex] = b;
			return true;
		}
	return false;
}

/*
 * Cuts what hangs at a vertex, `rows` >= k rows, into clusters of k to L rows.
 * All branches have at most k-1.  Branches share the vertex as a point that need
 * not be in their cluster (a Steiner point of the tree), so any of them make a
 * cluster once they have k rows; such a cluster has at most 2k-2.
 *
 * If a branch has k-1 rows, it and one row of the vertex are the core, to which
 * what is left over goes: k + k-1 rows.
 *
 * Otherwise branches have at most k-2 rows, a cluster of them at most 2k-3, and
 * it is made when k rows or more remain.  When fewer than k would remain, all is
 * one cluster if that has at most L rows.  If not, 3k-4 rows and k > 3 is the only
 * possibility, the last branch having k-2 rows and those before k-1: these and
 * the vertex are k, the rest 2k-4.
 *
 * Rows of the vertex itself fill up the last cluster; k of them are one alone.
 */
static KanonStatus
cut_at(Forest *f, uint32_t vertex, int64_t rows)
{
	int64_t k = f->problem->k;
	int64_t own = f->own[vertex];
	bool core = rows >= 2 * k && bring_forward(f, vertex, k - 1);
	uint32_t from = core ? f->branches[f->branch[vertex]].next : f->branch[vertex];
	uint32_t last = NOBODY;
	int64_t sum = 0;
	KanonStatus status = KANON_OK;

	if (kanon_stop(&f->pace, 64))
		return KANON_CANCELLED;
	if (f->branch[vertex] == NOBODY)
		return close_cluster(f, NOBODY, NOBODY, vertex, own);
	if (core)
	{
		own--;
		rows -= k;
	}
	for (uint32_t b = from; b != NOBODY && status == KANON_OK; b = f->branches[b].next)
	{
		sum += f->branches[b].rows;
		if (sum < k)
			last = b;
		else if (core || rows - sum >= k)
		{
			status = close_cluster(f, from, f->branches[b].next, vertex, 0);
			from = f->branches[b].next;
			rows -= sum;
			sum = 0;
		}
		else if (rows > f->most)
		{
			status = close_cluster(f, from, f->branches[last].next, vertex, 1);
			if (status == KANON_OK)
				status = close_cluster(f, f->branches[last].next, NOBODY, vertex, own - 1);
			return status;
		}
	}
	/* left: branches from `from` on and rows of the vertex */
	if (status == KANON_OK && rows >= (core ? k : 2 * k) && sum < k)
	{
		status = close_cluster(f, from, NOBODY, vertex, k - sum);
		from = NOBODY;
		own -= k - sum;
		sum = 0;
		if (status == KANON_OK && core && own >= k)
		{
			status = close_cluster(f, NOBODY, NOBODY, vertex, own);
			own = 0;
		}
	}
	if (status == KANON_OK && core)
	{
		uint32_t first = f->branch[vertex];

		status = add_branches(f, first, f->branches[first].next);
		own++;
	}
	if (status == KANON_OK)
		status = close_cluster(f, from, NOBODY, vertex, own);
	return status;
}

/* All that hangs at a vertex becomes one branch of the vertex above. */
static void
pass_up(Forest *f, uint32_t vertex, uint32_t above, int64_t rows)
{
	Branch *branch = &f->branches[vertex];
	Entry *entry = &f->entries[vertex];
	uint32_t last = vertex;

	*entry = (Entry){vertex, NOBODY, f->own[vertex]};
	for (uint32_t b = f->branch[vertex]; b != NOBODY; b = f->branches[b].next)
	{
		f->entries[last].next = f->branches[b].first;
		last = f->branches[b].last;
	}
	*branch = (Branch){vertex, last, f->branch[above], rows};
	f->branch[above] = vertex;
}

/* A vertex whose children are done: cut there, or leave it to the one above. */
static KanonStatus
visit(Forest *f, uint32_t vertex, uint32_t root)
{
	int64_t k = f->problem->k;
	int64_t rows = f->own[vertex];

	for (uint32_t b = f->branch[vertex]; b != NOBODY; b = f->branches[b].next)
		rows += f->branches[b].rows;
	if (rows >= k && f->left[root] - rows > 0 && f->left[root] - rows < k)
	{
		/* what is above is too small: it will be one more branch, from the root */
		f->hub[root] = vertex;
		return KANON_OK;
	}
	if (rows >= k)
	{
		f->left[root] -= rows;
		return cut_at(f, vertex, rows);
	}
	if (vertex != root)
	{
		if (rows > 0)
			pass_up(f, vertex, f->out[vertex], rows);
		return KANON_OK;
	}
	if (f->hub[root] != NOBODY)
	{
		if (rows > 0)
			pass_up(f, root, f->hub[root], rows);
		return cut_at(f, f->hub[root], f->left[root]);
	}
	return KANON_OK;
}

/* All rows of types f->members[0..n) for a cluster: the next one, or one that is there. */
static KanonStatus
close_members(Forest *f, uint32_t cluster, size_t n)
{
	for (size_t x = 0; x < n; x++)
		if (!kanon_parts_add(f->env, &f->parts, f->members[x], cluster, f->problem->rows[f->members[x]]))
			return KANON_NO_MEMORY;
	if (cluster == f->parts.nclusters)
		f->parts.nclusters++;
	return kanon_stop(&f->pace, 64 + n) ? KANON_CANCELLED : KANON_OK;
}

/*
 * A vertex whose children are done, and what hangs at it: a cluster is closed whenever it
 * is enough.  The rest goes on to the vertex above, or from the root to the cluster
 * that is next to it: the way there is of edges that no other cluster has.
 */
static KanonStatus
visit_ruled(Forest *f, uint32_t vertex)
{
	uint32_t above = f->out[vertex];
	int64_t rows = f->problem->rows[vertex];
	size_t n = 1;
	KanonStatus status = KANON_OK;

	f->members[0] = vertex;
	for (uint32_t b = f->branch[vertex], after = b; status == KANON_OK; b = after)
	{
		if (n > 0 && suffices(f, f->members, n, rows))
		{
			f->nearby[vertex] = f->parts.nclusters;
			status = close_members(f, f->parts.nclusters, n);
			rows = 0;
			n = 0;
		}
		if (b == NOBODY || status != KANON_OK)
			break;
		after = f->branches[b].next;
		rows += f->branches[b].rows;
		for (uint32_t e = f->branches[b].first; e != NOBODY; e = f->entries[e].next)
			f->members[n++] = f->entries[e].type;
		if (kanon_stop(&f->pace, n * 32))
			status = KANON_CANCELLED;
	}
	/* a whole tree is enough, but where memory ran out */
	if (status == KANON_OK && n > 0 && above == NOBODY)
		return f->nearby[vertex] == NOBODY ? KANON_NO_MEMORY : close_members(f, f->nearby[vertex], n);
	if (status == KANON_OK && above != NOBODY && f->nearby[vertex] != NOBODY)
		f->nearby[above] = f->nearby[vertex];
	if (status != KANON_OK || n == 0 || above == NOBODY)
		return status;
	for (size_t x = 0; x < n; x++)
		f->entries[f->members[x]] =
			(Entry){f->members[x], x + 1 < n ? f->members[x + 1] : NOBODY, f->problem->rows[f->members[x]]};
	f->branches[vertex] = (Branch){f->members[0], f->members[n - 1], f->branch[above], rows};
	f->branch[above] = vertex;
	return KANON_OK;
}

static KanonStatus
decompose(Forest *f)
{
	const KanonProblem *problem = f->problem;
	int64_t k = problem->k;
	uint32_t n = 0;
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		f->hub[i] = f->branch[i] = f->nearby[i] = NOBODY;
		f->own[i] = problem->rows[i];
		f->left[i] = f->size[tree_of(f, i)];
		f->children[i] = 0;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		if (f->out[i] != NOBODY)
			f->children[f->out[i]]++;
		else
			f->root[tree_of(f, i)] = i;
	}
	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
	{
		/* with others in its tree, a type keeps k-1 rows at most for them */
		if (problem->privacy == NULL && f->children[i] > 0 && f->own[i] >= 2 * k - 1)
		{
			status = close_cluster(f, NOBODY, NOBODY, i, f->own[i] - (k - 1));
			f->left[i] -= f->own[i] - (k - 1);
			f->own[i] = k - 1;
		}
		if (f->children[i] == 0)
			f->order[n++] = i;
	}
	for (uint32_t at = 0; at < n && status == KANON_OK; at++)
	{
		uint32_t vertex = f->order[at];

		if (kanon_stop(&f->pace, 32))
			status = KANON_CANCELLED;
		else if (problem->privacy != NULL)
			status = visit_ruled(f, vertex);
		else
			status = visit(f, vertex, f->root[tree_of(f, vertex)]);
		if (f->out[vertex] != NOBODY && --f->children[f->out[vertex]] == 0)
			f->order[n++] = f->out[vertex];
	}
	return status;
}

/* ---- all of it ---- */

static KanonStatus
prepare(Forest *f)
{
	size_t n = f->problem->ntypes;

	f->near_from = kanon_take(&f->scratch, n + 1, sizeof(size_t));
	f->near_next = kanon_take(&f->scratch, n, sizeof(size_t));
	f->tree = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->size = kanon_take(&f->scratch, n, sizeof(int64_t));
	f->out = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->children = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->left = kanon_take(&f->scratch, n, sizeof(int64_t));
	f->hub = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->branch = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->branches = kanon_take(&f->scratch, n, sizeof(Branch));
	f->entries = kanon_take(&f->scratch, n, sizeof(Entry));
	f->own = kanon_take(&f->scratch, n, sizeof(int64_t));
	f->order = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->root = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->next = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->members = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->nearby = kanon_take(&f->scratch, n, sizeof(uint32_t));
	if (f->scratch.failed)
		return KANON_NO_MEMORY;
	return space_open(&f->layout, &f->scratch, &f->space);
}

KanonStatus
kanon_solve_forest(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	Forest f = {
		.problem = problem, .env = env, .scratch = {.env = env}, .pace = kanon_pace_at_once(env, "forest")};
	int64_t k = problem->k;
	KanonStatus status;

	if (!cluster_asks_values(problem))
		return cluster_solve_ruled(problem, kanon_solve_forest, release, report);
	if (cluster_wants_parts(problem))
		return cluster_solve_by_parts(problem, kanon_solve_forest, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	cluster_layout(problem, &f.layout);
	f.most = k > 4 ? 3 * k - 5 : 2 * k - 1;
	status = f.layout.rows < k ? cluster_too_few(report) : prepare(&f);
	if (status == KANON_OK)
		status = find_nearest(&f);
	if (status == KANON_INFEASIBLE)
		status = cluster_too_few(report);
	if (status == KANON_OK)
		status = grow_forest(&f);
	if (status == KANON_OK)
		status = decompose(&f);
	if (status == KANON_OK && problem->privacy == NULL && problem->residual == KANON_RESIDUAL_DROP)
		status = cluster_drop_outliers(&f.layout, &f.parts, &f.pace);
	if (status == KANON_OK && problem->privacy != NULL)
		status = kanon_privacy_failed(problem->privacy) ? KANON_NO_MEMORY
														: cluster_largest(&f.layout, &f.parts, &f.most);
	if (status == KANON_OK)
		status = cluster_conclude(&f.layout, &f.parts, release, report);
	if (status == KANON_OK)
	{
		report->lower_bound = fmin(f.bound * f.space.unit, report->cost);
		report->guarantee = (double) f.most;
		report->proven = report->lower_bound >= report->cost;
	}
	report->seconds = env->now(env->arg) - start;
	kanon_scratch_free(&f.scratch);
	kanon_parts_free(env, &f.parts);
	return status;
}
