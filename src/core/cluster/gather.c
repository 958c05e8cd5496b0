/*
 * gather.c: clusters of at least k rows around centres, of least largest radius.
 *
 * G. Aggarwal, T. Feder, K. Kenthapadi, S. Khuller, R. Panigrahy, D. Thomas,
 * A. Zhu, "Achieving anonymity via clustering", PODS 2006: r-gather, a
 * 2-approximation.
 *
 * For a distance d: as long as there is a row that is farther than d from all
 * centres, it becomes a centre.  d will do if every centre can have k rows within
 * d of it, no row in two clusters.  It will do whenever d is at least twice the
 * least possible radius: then centres are in different clusters of the best
 * release, each of k rows, all within d of the centre.  So the smallest d that will
 * do, the one below it not, is at most twice that radius; and as what is within
 * d changes at distances between rows only, half of d is a lower bound.  It is
 * searched for by halving: distances are whole numbers.
 *
 * Who goes where is a bipartite flow from the centres to row types.  Edges are not
 * stored: each row type starts at its nearest centre, and a centre that lacks rows
 * gets them along a shortest path of exchanges (breadth first, by distances).
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "util/pace.h"

#define NOBODY UINT32_MAX

/* Rows of one type that a centre has. */
typedef struct Held
{
	uint32_t centre;
	uint32_t type;
	uint32_t next; /* of the same type */
	int64_t rows;
} Held;

typedef struct Gather
{
	const KanonProblem *problem;
	KanonEnv *env;
	KanonScratch scratch;
	ClusterLayout layout;
	ClusterSpace space;
	KanonPace pace;
	uint32_t ncentres;
	uint32_t *centre;  /* [ntypes] types */
	int64_t *has;      /* [ntypes] rows of each centre */
	uint32_t *nearest; /* [ntypes] distance of a type to its nearest centre */
	uint32_t *closest; /* [ntypes] that centre */
	uint32_t *first;   /* [ntypes] held rows of a type */
	Held *held;
	uint32_t nheld;
	size_t held_room;
	uint32_t *queue; /* [ntypes] centres of a search */
	uint32_t *from;  /* [ntypes] centre that a centre gives rows to */
	uint32_t *via;   /* [ntypes] the type of these rows */
	ClusterParts parts;
} Gather;

/* Centres so that no row is farther than d from one, and no centre from another nearer. */
static KanonStatus
choose_centres(Gather *g, uint32_t d)
{
	g->ncentres = 0;
	for (uint32_t i = 0; i < g->problem->ntypes; i++)
		g->nearest[i] = UINT32_MAX;
	for (uint32_t i = 0; i < g->problem->ntypes; i++)
	{
		if (g->nearest[i] <= d)
			continue;
		if (kanon_stop(&g->pace, space_measure(&g->space, i) + g->problem->ntypes))
			return KANON_CANCELLED;
		for (uint32_t j = 0; j < g->problem->ntypes; j++)
			if (g->space.distance[j] < g->nearest[j])
			{
				g->nearest[j] = g->space.distance[j];
				g->closest[j] = g->ncentres;
			}
		g->centre[g->ncentres++] = i;
	}
	return KANON_OK;
}

/* More rows of a type for a centre. */
static KanonStatus
hold(Gather *g, uint32_t centre, uint32_t type, int64_t rows)
{
	uint32_t h = g->first[type];

	g->has[centre] += rows;
	while (h != NOBODY && g->held[h].centre != centre)
		h = g->held[h].next;
	if (h != NOBODY)
	{
		g->held[h].rows += rows;
		return KANON_OK;
	}
	if (!KANON_GROW(&g->scratch, &g->held_room, g->nheld + (size_t) 1, KANON_ARRAY(g->held)))
		return KANON_NO_MEMORY;
	g->held[g->nheld] = (Held){centre, type, g->first[type], rows};
	g->first[type] = g->nheld++;
	return KANON_OK;
}

/* Rows of a type that a centre has. */
static int64_t *
held_rows(Gather *g, uint32_t centre, uint32_t type)
{
	uint32_t h = g->first[type];

	while (g->held[h].centre != centre)
		h = g->held[h].next;
	return &g->held[h].rows;
}

/* Along the path to a centre with more than k rows, rows change hands. */
static KanonStatus
exchange(Gather *g, uint32_t centre, uint32_t giver)
{
	int64_t rows = g->problem->k - g->has[centre];
	KanonStatus status = KANON_OK;

	if (g->has[giver] - g->problem->k < rows)
		rows = g->has[giver] - g->problem->k;
	for (uint32_t c = giver; c != centre; c = g->from[c])
	{
		int64_t own = *held_rows(g, c, g->via[c]);

		rows = own < rows ? own : rows;
	}
	for (uint32_t c = giver; c != centre && status == KANON_OK; c = g->from[c])
	{
		*held_rows(g, c, g->via[c]) -= rows;
		g->has[c] -= rows;
		status = hold(g, g->from[c], g->via[c], rows);
	}
	return status;
}

/*
 * The centres that can give a centre rows, nearest in exchanges first, up to one
 * with more than k: *giver, NOBODY if there is none.
 */
static KanonStatus
find_giver(Gather *g, uint32_t centre, uint32_t d, uint32_t *giver)
{
	uint32_t n = 1;

	for (uint32_t c = 0; c < g->ncentres; c++)
		g->from[c] = NOBODY;
	g->from[centre] = centre;
	g->queue[0] = centre;
	*giver = NOBODY;
	for (uint32_t at = 0; at < n; at++)
	{
		uint32_t to = g->queue[at];

		if (kanon_stop(&g->pace, space_measure(&g->space, g->centre[to]) + g->problem->ntypes))
			return KANON_CANCELLED;
		for (uint32_t i = 0; i < g->problem->ntypes; i++)
		{
			if (g->space.distance[i] > d)
				continue;
			for (uint32_t h = g->first[i]; h != NOBODY; h = g->held[h].next)
			{
				uint32_t c = g->held[h].centre;

				if (g->held[h].rows == 0 || g->from[c] != NOBODY)
					continue;
				g->from[c] = to;
				g->via[c] = i;
				g->queue[n++] = c;
				if (g->has[c] > g->problem->k)
				{
					*giver = c;
					return KANON_OK;
				}
			}
		}
	}
	return KANON_OK;
}

/* Can every centre have k rows within d? */
static KanonStatus
assign(Gather *g, uint32_t d, bool *answer)
{
	KanonStatus status = KANON_OK;

	*answer = true;
	g->nheld = 0;
	for (uint32_t c = 0; c < g->ncentres; c++)
		g->has[c] = 0;
	for (uint32_t i = 0; i < g->problem->ntypes && status == KANON_OK; i++)
	{
		g->first[i] = NOBODY;
		status = hold(g, g->closest[i], i, g->problem->rows[i]);
	}
	for (uint32_t c = 0; c < g->ncentres && status == KANON_OK && *answer; c++)
		while (status == KANON_OK && *answer && g->has[c] < g->problem->k)
		{
			uint32_t giver;

			status = find_giver(g, c, d, &giver);
			if (status != KANON_OK || giver == NOBODY)
				*answer = false;
			else
				status = exchange(g, c, giver);
		}
	return status;
}

/* Will d do?  The centres and what they hold are then there. */
static KanonStatus
try_distance(Gather *g, uint32_t d, bool *answer)
{
	KanonStatus status = choose_centres(g, d);

	*answer = false;
	if (status != KANON_OK || (double) g->ncentres * (double) g->problem->k > (double) g->layout.rows)
		return status;
	return assign(g, d, answer);
}

/* Every row has k-1 others within the distance that will do. */
static KanonStatus
least_distance(Gather *g, uint32_t *least)
{
	const KanonProblem *problem = g->problem;
	SpaceNear *near = kanon_alloc(g->env, problem->ntypes, sizeof(SpaceNear));
	KanonStatus status = near == NULL ? KANON_NO_MEMORY : KANON_OK;

	*least = 0;
	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
	{
		int64_t wanted = problem->k - problem->rows[i];
		uint32_t n;

		if (wanted <= 0)
			continue;
		g->pace.share = (double) i / problem->ntypes / 2;
		if (kanon_stop(&g->pace, space_measure(&g->space, i) + problem->ntypes))
			status = KANON_CANCELLED;
		n = space_nearest(&g->space, problem->rows, i, problem->ntypes, wanted, near);
		if (near[n - 1].distance > *least)
			*least = near[n - 1].distance;
	}
	kanon_free(g->env, near);
	return status;
}

/* The least distance that will do, *d; the clusters are then there. */
static KanonStatus
search(Gather *g, uint32_t *d)
{
	uint32_t low;
	uint32_t high = KANON_SPACE_ONE + KANON_MAX_COLUMNS;
	uint32_t last = UINT32_MAX;
	bool answer = true;
	KanonStatus status = least_distance(g, &low);

	while (status == KANON_OK && low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		status = try_distance(g, middle, &answer);
		last = middle;
		if (answer)
			high = middle;
		else
			low = middle + 1;
	}
	if (status == KANON_OK && last != high)
		status = try_distance(g, high, &answer);
	*d = high;
	return status;
}

/* What centres hold becomes clusters; *radius is the largest distance to a centre. */
static KanonStatus
make_clusters(Gather *g, uint32_t *radius)
{
	*radius = 0;
	for (uint32_t h = 0; h < g->nheld; h++)
	{
		const Held *held = &g->held[h];
		uint32_t distance;

		if (held->rows == 0)
			continue;
		if (kanon_stop(&g->pace, (uint64_t) g->space.naxes))
			return KANON_CANCELLED;
		distance = space_distance(&g->space, g->centre[held->centre], held->type);
		*radius = distance > *radius ? distance : *radius;
		if (!cluster_add(g->env, &g->parts, held->type, held->centre, held->rows))
			return KANON_NO_MEMORY;
	}
	g->parts.nclusters = g->ncentres;
	return KANON_OK;
}

static KanonStatus
prepare(Gather *g)
{
	size_t n = g->problem->ntypes;

	g->centre = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->has = kanon_take(&g->scratch, n, sizeof(int64_t));
	g->nearest = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->closest = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->first = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->queue = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->from = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->via = kanon_take(&g->scratch, n, sizeof(uint32_t));
	if (g->scratch.failed)
		return KANON_NO_MEMORY;
	return space_open(&g->layout, &g->scratch, &g->space);
}

KanonStatus
kanon_solve_gather(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	Gather g = {.problem = problem,
				.env = env,
				.scratch = {.env = env},
				.pace = {.env = env, .phase = "gather", .rows_left = -1, .work = KANON_POLL_WORK}};
	uint32_t d = 0, radius = 0;
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	cluster_layout(problem, &g.layout);
	status = g.layout.rows < problem->k ? cluster_too_few(report) : prepare(&g);
	if (status == KANON_OK)
		status = search(&g, &d);
	if (status == KANON_OK)
		status = make_clusters(&g, &radius);
	if (status == KANON_OK)
		status = cluster_conclude(&g.layout, &g.parts, release, report);
	if (status == KANON_OK)
	{
		report->cost = radius * g.space.unit;
		report->lower_bound = fmin((d + 1) / 2 * g.space.unit, report->cost);
		report->guarantee = 2;
		report->proven = report->lower_bound >= report->cost;
	}
	report->seconds = env->now(env->arg) - start;
	kanon_scratch_free(&g.scratch);
	cluster_parts_free(env, &g.parts);
	return status;
}
