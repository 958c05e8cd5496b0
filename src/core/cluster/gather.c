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
 * The assignment is a bipartite flow from the centres to row types.  Edges are not
 * stored: each row type starts at its nearest centre, as far as that needs rows, and one
 * that lacks rows gets them along a shortest path of exchanges (breadth first, by
 * distances).  Rows that no centre needs stay with the nearest.
 *
 * With at least l distinct values in each cluster (the paper's extension to sensitive
 * values) all of this holds: l of the rows that a centre needs flow through nodes of
 * one value each, with room for one row.  So the factor stays 2.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "model/model.h"
#include "privacy/rules.h"
#include "util/pace.h"

#define NOBODY UINT32_MAX

/* Rows of one type that a holder has. */
typedef struct GatherCandidate
{
	uint32_t holder;
	uint32_t type;
	uint32_t next; /* of the same type */
	int64_t rows;
} GatherCandidate;

typedef struct Gather
{
	const KanonProblem *problem;
	KanonEnv *env;
	KanonScratch scratch;
	ClusterLayout layout;
	ClusterSpace space;
	KanonPace pace;
	uint32_t ncentres;
	uint32_t *centre;      /* [ntypes] types */
	int64_t least;         /* rows of each cluster */
	uint32_t nplaces;      /* of which so many have different values */
	const uint32_t *value; /* [ntypes] or NULL */
	uint32_t nvalues;
	uint32_t *stamp; /* [nvalues + 1] */
	uint32_t stamps;
	int64_t *has;      /* [ntypes] rows of each centre but those of its places */
	uint32_t *place;   /* [centres * nplaces] whose row is there */
	int64_t *spare;    /* [ntypes] rows that nobody has */
	uint32_t *nearest; /* [ntypes] distance of a type to its nearest centre */
	uint32_t *closest; /* [ntypes] that centre */
	uint32_t *first;   /* [ntypes] held rows of a type */
	GatherCandidate *held;
	uint32_t nheld;
	size_t held_room;
	uint32_t *queue; /* [holders] of a search */
	uint32_t *from;  /* [holders] that a holder gives rows to */
	uint32_t *via;   /* [holders] the type of these rows */
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

/*
 * The holders of rows: a centre's places for one row of a value each, then what it has of any
 * row.  Below these are the centres themselves where they lack a value.
 */
static uint32_t
any_of(const Gather *g, uint32_t centre)
{
	return g->ncentres + centre;
}

static uint32_t
place_of(const Gather *g, uint32_t centre, uint32_t place)
{
	return 2 * g->ncentres + centre * g->nplaces + place;
}

static uint32_t
centre_of(const Gather *g, uint32_t holder)
{
	return holder < 2 * g->ncentres ? holder % g->ncentres : (holder - 2 * g->ncentres) / g->nplaces;
}

static bool
is_place(const Gather *g, uint32_t holder)
{
	return holder >= 2 * g->ncentres;
}

static uint32_t
value_of(const Gather *g, uint32_t type)
{
	return g->value != NULL ? g->value[type] : 0;
}

/* More rows of a type for a holder, or fewer. */
static KanonStatus
hold(Gather *g, uint32_t holder, uint32_t type, int64_t rows)
{
	uint32_t h = g->first[type];

	if (is_place(g, holder) && rows > 0)
		g->place[holder - 2 * g->ncentres] = type;
	else if (!is_place(g, holder))
		g->has[centre_of(g, holder)] += rows;
	while (h != NOBODY && g->held[h].holder != holder)
		h = g->held[h].next;
	if (h != NOBODY)
	{
		g->held[h].rows += rows;
		return KANON_OK;
	}
	if (!KANON_GROW(&g->scratch, &g->held_room, g->nheld + (size_t) 1, KANON_ARRAY(g->held)))
		return KANON_NO_MEMORY;
	g->held[g->nheld] = (GatherCandidate){holder, type, g->first[type], rows};
	g->first[type] = g->nheld++;
	return KANON_OK;
}

/* Rows of a type that a holder has. */
static int64_t
held_rows(const Gather *g, uint32_t holder, uint32_t type)
{
	uint32_t h = g->first[type];

	while (g->held[h].holder != holder)
		h = g->held[h].next;
	return g->held[h].rows;
}

/* An empty place of a centre; nplaces: there is none. */
static uint32_t
empty_place(const Gather *g, uint32_t centre)
{
	uint32_t place = 0;

	while (place < g->nplaces && g->place[centre * (size_t) g->nplaces + place] != NOBODY)
		place++;
	return place;
}

/*
 * The rows of a type that nobody has go to the holder that a search ended with; what that
 * one had goes to the one it was found from, and so on to the one that lacks rows.
 */
static KanonStatus
exchange(Gather *g, uint32_t lacking, int64_t lacks, uint32_t end, uint32_t type)
{
	int64_t rows = g->spare[type] < lacks ? g->spare[type] : lacks;
	KanonStatus status = KANON_OK;

	for (uint32_t x = end; x != lacking; x = g->from[x])
	{
		int64_t own = g->via[x] == NOBODY || is_place(g, x) ? 1 : held_rows(g, x, g->via[x]);

		rows = own < rows ? own : rows;
	}
	g->spare[type] -= rows;
	for (uint32_t x = end; status == KANON_OK; x = g->from[x])
	{
		uint32_t gives = x != lacking ? g->via[x] : NOBODY;

		/* a centre that lost the row of a place takes another value there */
		if (x < g->ncentres && x != lacking)
			continue;
		if (x < g->ncentres)
			return hold(g, place_of(g, x, empty_place(g, x)), type, rows);
		if (gives != NOBODY)
			status = hold(g, x, gives, -rows);
		if (status == KANON_OK)
			status = hold(g, x, type, rows);
		if (x == lacking)
			break;
		type = gives;
	}
	return status;
}

/* A holder may be asked for its rows of a type by another one. */
static void
ask(Gather *g, uint32_t holder, uint32_t from, uint32_t type, uint32_t *n)
{
	if (g->from[holder] != NOBODY)
		return;
	g->from[holder] = from;
	g->via[holder] = type;
	g->queue[(*n)++] = holder;
}

/*
 * Holders that could give rows to one that lacks them, nearest in exchanges first, up to
 * one that can have rows of a type that nobody has: *end, NOBODY if there is none.
 */
static KanonStatus
search_rows(Gather *g, uint32_t lacking, uint32_t d, uint32_t *end, uint32_t *type)
{
	uint32_t n = 0;

	for (uint32_t x = 0; x < 2 * g->ncentres + g->ncentres * g->nplaces; x++)
		g->from[x] = NOBODY;
	*end = NOBODY;
	ask(g, lacking, lacking, NOBODY, &n);
	for (uint32_t at = 0; at < n; at++)
	{
		uint32_t x = g->queue[at];
		uint32_t centre = centre_of(g, x);
		uint32_t same = is_place(g, x) ? value_of(g, g->place[x - 2 * g->ncentres]) : NOBODY;

		if (kanon_stop(&g->pace, space_measure(&g->space, g->centre[centre]) + g->problem->ntypes))
			return KANON_CANCELLED;
		g->stamps++;
		for (uint32_t p = 0; p < g->nplaces && x < g->ncentres; p++)
			if (g->place[centre * (size_t) g->nplaces + p] != NOBODY)
				g->stamp[value_of(g, g->place[centre * (size_t) g->nplaces + p])] = g->stamps;
		if (is_place(g, x))
			ask(g, centre, x, NOBODY, &n);
		for (uint32_t i = 0; i < g->problem->ntypes; i++)
		{
			if (g->space.distance[i] > d || (is_place(g, x) && value_of(g, i) != same) ||
				(x < g->ncentres && g->stamp[value_of(g, i)] == g->stamps))
				continue;
			if (g->spare[i] > 0)
			{
				*end = x;
				*type = i;
				return KANON_OK;
			}
			for (uint32_t h = g->first[i]; h != NOBODY; h = g->held[h].next)
				if (g->held[h].rows > 0)
					ask(g, g->held[h].holder, x, i, &n);
		}
	}
	return KANON_OK;
}

/* Rows go to their nearest centres as far as these need them. */
static KanonStatus
begin(Gather *g)
{
	KanonStatus status = KANON_OK;

	g->nheld = 0;
	for (uint32_t c = 0; c < g->ncentres; c++)
		g->has[c] = 0;
	for (size_t x = 0; x < (size_t) g->ncentres * g->nplaces; x++)
		g->place[x] = NOBODY;
	for (uint32_t i = 0; i < g->problem->ntypes; i++)
	{
		g->first[i] = NOBODY;
		g->spare[i] = g->problem->rows[i];
	}
	for (uint32_t i = 0; i < g->problem->ntypes && status == KANON_OK; i++)
	{
		uint32_t centre = g->closest[i];
		uint32_t empty = empty_place(g, centre);
		int64_t lacks;

		for (uint32_t p = 0; p < empty && empty < g->nplaces; p++)
			if (value_of(g, g->place[centre * (size_t) g->nplaces + p]) == value_of(g, i))
				empty = g->nplaces;
		if (empty < g->nplaces)
		{
			status = hold(g, place_of(g, centre, empty), i, 1);
			g->spare[i]--;
		}
		lacks = g->least - g->nplaces - g->has[centre];
		lacks = lacks < g->spare[i] ? lacks : g->spare[i];
		if (status == KANON_OK && lacks > 0)
		{
			status = hold(g, any_of(g, centre), i, lacks);
			g->spare[i] -= lacks;
		}
		if (kanon_stop(&g->pace, g->nplaces))
			status = KANON_CANCELLED;
	}
	return status;
}

/* Can every centre have the rows that it needs within d? */
static KanonStatus
assign(Gather *g, uint32_t d, bool *answer)
{
	KanonStatus status = begin(g);

	*answer = true;
	for (uint32_t x = 0; x < 2 * g->ncentres && status == KANON_OK && *answer; x++)
		for (;;)
		{
			uint32_t centre = centre_of(g, x);
			int64_t lacks = x < g->ncentres ? empty_place(g, centre) < g->nplaces
											: g->least - g->nplaces - g->has[centre];
			uint32_t end;
			uint32_t type;

			if (lacks == 0)
				break;
			status = search_rows(g, x, d, &end, &type);
			*answer = status == KANON_OK && end != NOBODY;
			if (!*answer)
				break;
			status = exchange(g, x, lacks, end, type);
			if (status != KANON_OK)
				break;
		}
	/* the others stay with the nearest */
	for (uint32_t i = 0; i < g->problem->ntypes && status == KANON_OK && *answer; i++)
		if (g->spare[i] > 0)
			status = hold(g, any_of(g, g->closest[i]), i, g->spare[i]);
	return status;
}

/* Will d do?  The centres and what they hold are then there. */
static KanonStatus
try_distance(Gather *g, uint32_t d, bool *answer)
{
	KanonStatus status = choose_centres(g, d);

	*answer = false;
	if (status != KANON_OK || (double) g->ncentres * (double) g->least > (double) g->layout.rows)
		return status;
	return assign(g, d, answer);
}

/* Every row has as many others as a cluster within the distance that will do. */
static KanonStatus
least_distance(Gather *g, uint32_t *least)
{
	const KanonProblem *problem = g->problem;
	SpaceNear *near = kanon_alloc(g->env, problem->ntypes, sizeof(SpaceNear));
	KanonStatus status = near == NULL ? KANON_NO_MEMORY : KANON_OK;

	*least = 0;
	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
	{
		int64_t wanted = g->least - problem->rows[i];
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
	uint32_t high = KANON_SPACE_ONE + (g->space.naxes > 64 ? (uint32_t) g->space.naxes : 64);
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

/* The rows of a centre become a cluster; *radius is the largest distance to a centre. */
static KanonStatus
make_clusters(Gather *g, uint32_t *radius)
{
	*radius = 0;
	for (uint32_t h = 0; h < g->nheld; h++)
	{
		const GatherCandidate *held = &g->held[h];
		uint32_t centre = centre_of(g, held->holder);
		uint32_t distance;

		if (held->rows == 0)
			continue;
		if (kanon_stop(&g->pace, (uint64_t) g->space.naxes))
			return KANON_CANCELLED;
		distance = space_distance(&g->space, g->centre[centre], held->type);
		*radius = distance > *radius ? distance : *radius;
		if (!kanon_parts_add(g->env, &g->parts, held->type, centre, held->rows))
			return KANON_NO_MEMORY;
	}
	g->parts.nclusters = g->ncentres;
	return KANON_OK;
}

/* The needs of a cluster: l different values are l rows, and k - l are any. */
static void
find_need(Gather *g)
{
	const KanonPrivacyRule *rules;

	g->least = g->problem->k;
	if (g->problem->privacy == NULL || kanon_privacy_rules(g->problem->privacy, &rules) == 0)
		return;
	g->nplaces = (uint32_t) rules[0].l;
	g->value = g->problem->extra[rules[0].column].code;
	g->nvalues = g->problem->extra[rules[0].column].distinct;
	g->least = g->least < g->nplaces ? g->nplaces : g->least;
}

static KanonStatus
prepare(Gather *g)
{
	size_t n = g->problem->ntypes;
	/* no more centres than rows have room for */
	double most = fmin((double) n, (double) g->layout.rows / (double) g->least);
	size_t places = (size_t) (most * g->nplaces);
	size_t holders = 2 * n + places;

	if (2.0 * (double) n + most * g->nplaces > UINT32_MAX / 2)
		return KANON_NO_MEMORY;
	g->place = kanon_take(&g->scratch, places, sizeof(uint32_t));
	g->spare = kanon_take(&g->scratch, n, sizeof(int64_t));
	g->stamp = kanon_take0(&g->scratch, (size_t) g->nvalues + 1, sizeof(uint32_t));
	g->centre = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->has = kanon_take(&g->scratch, n, sizeof(int64_t));
	g->nearest = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->closest = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->first = kanon_take(&g->scratch, n, sizeof(uint32_t));
	g->queue = kanon_take(&g->scratch, holders, sizeof(uint32_t));
	g->from = kanon_take(&g->scratch, holders, sizeof(uint32_t));
	g->via = kanon_take(&g->scratch, holders, sizeof(uint32_t));
	if (g->scratch.failed)
		return KANON_NO_MEMORY;
	return space_open(&g->layout, &g->scratch, &g->space);
}

/* Members of a class that are tried as its centre, at most. */
#define CENTRES 64

KanonStatus
gather_radius(const KanonProblem *problem, const KanonRelease *release, double *radius)
{
	KanonEnv *env = problem->env;
	Gather g = {.problem = problem, .env = env, .scratch = {.env = env}};
	KanonPace pace = kanon_pace(env, "gather");
	KanonMembers members;
	uint32_t most = 0;
	KanonStatus status;

	cluster_layout(problem, &g.layout);
	status = space_open(&g.layout, &g.scratch, &g.space);
	if (status == KANON_OK)
		status = kanon_release_members(release, &g.scratch, &members);
	for (uint32_t c = 0; c < release->nclasses && status == KANON_OK; c++)
	{
		size_t from = members.start[c];
		size_t n = members.start[c + 1] - from;
		uint32_t least = UINT32_MAX;

		for (size_t i = 0; i < n; i += (n + CENTRES - 1) / CENTRES)
		{
			uint32_t farthest = 0;

			for (size_t j = 0; j < n; j++)
			{
				uint32_t distance = space_distance(&g.space, members.type[from + i], members.type[from + j]);

				farthest = distance > farthest ? distance : farthest;
			}
			least = farthest < least ? farthest : least;
			if (kanon_stop(&pace, n * (uint64_t) g.space.naxes))
				status = KANON_CANCELLED;
		}
		most = least > most ? least : most;
	}
	*radius = most * g.space.unit;
	kanon_scratch_free(&g.scratch);
	return status;
}

KanonStatus
kanon_solve_gather(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	Gather g = {
		.problem = problem, .env = env, .scratch = {.env = env}, .pace = kanon_pace_at_once(env, "gather")};
	uint32_t d = 0, radius = 0;
	const KanonPrivacyRule *rules;
	KanonStatus status;

	if (!cluster_asks_values(problem) ||
		(problem->privacy != NULL && kanon_privacy_rules(problem->privacy, &rules) > 1))
		return cluster_solve_ruled(problem, kanon_solve_gather, release, report);
	if (cluster_wants_parts(problem))
		return cluster_solve_by_parts(problem, kanon_solve_gather, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	cluster_layout(problem, &g.layout);
	find_need(&g);
	status = g.layout.rows < g.least || g.nvalues < g.nplaces ? cluster_too_few(report) : prepare(&g);
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
	kanon_parts_free(env, &g.parts);
	return status;
}
