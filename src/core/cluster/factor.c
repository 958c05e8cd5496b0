/*
 * factor.c: factors of least weight of the complete graph, by pricing.
 *
 * The complete graph over t row types has t^2 / 2 edges, nearly all of them of no
 * use.  So the matching that a factor is reduced to (pairs.c, triples.c) is
 * solved over the edges to the nearest types only; its dual prices then say which
 * of the edges left out could be of use: those that cost less than the prices of
 * their ends, without what the blossoms that hold both are worth (where one holds
 * most rows, prices alone would ask for edges between all of them).  With these
 * added it is solved again, until there are none: the factor is then of least
 * weight in the complete graph.  (Linear programming's
 * column generation; for matchings, Derigs and Metz, "Solving (large scale)
 * matching problems combinatorially", Mathematical Programming, 1991.)
 *
 * When memory or time do not suffice for that, the last factor is taken, and
 * nothing is promised; when there is none in time, forest.c's clusters.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/clustering.h"
#include "util/number.h"

/* Candidates of a type at first, and at most so many more in a round. */
#define NEAREST 6
#define MORE 6

/* Rows of a hub that can be opened: all their edges among one another are candidates. */
#define OPEN_ROWS 64

/* ---- candidates ---- */

static size_t
slot_of(const Factor *f, uint32_t a, uint32_t b)
{
	size_t at = kanon_hash_add(0, (uint64_t) a << 32 | b) & (f->nslots - 1);

	while (f->slot[at] != SIZE_MAX && (f->pair[f->slot[at]].a != a || f->pair[f->slot[at]].b != b))
		at = (at + 1) & (f->nslots - 1);
	return at;
}

static bool
is_candidate(const Factor *f, uint32_t a, uint32_t b)
{
	return f->slot[a < b ? slot_of(f, a, b) : slot_of(f, b, a)] != SIZE_MAX;
}

static KanonStatus
grow_slots(Factor *f)
{
	size_t nslots = f->nslots == 0 ? 1024 : f->nslots * 2;
	size_t *slot = kanon_take(&f->scratch, nslots, sizeof(size_t));

	if (slot == NULL)
		return KANON_NO_MEMORY;
	kanon_drop(&f->scratch, f->slot);
	f->slot = slot;
	f->nslots = nslots;
	memset(slot, 0xff, nslots * sizeof(size_t));
	for (size_t i = 0; i < f->npairs; i++)
		slot[slot_of(f, f->pair[i].a, f->pair[i].b)] = i;
	return KANON_OK;
}

static KanonStatus
add_candidate(Factor *f, uint32_t a, uint32_t b, uint32_t cost)
{
	uint32_t low = a < b ? a : b;
	uint32_t high = a < b ? b : a;
	size_t at;

	if (f->npairs * 2 >= f->nslots && grow_slots(f) != KANON_OK)
		return KANON_NO_MEMORY;
	at = slot_of(f, low, high);
	if (f->slot[at] != SIZE_MAX)
		return KANON_OK;
	if (!KANON_GROW(&f->scratch, &f->pair_room, f->npairs + 1, KANON_ARRAY(f->pair)))
		return KANON_NO_MEMORY;
	f->slot[at] = f->npairs;
	f->pair[f->npairs++] = (FactorPair){low, high, cost};
	return KANON_OK;
}

/* The nearest types of every type that needs others, and what they prove. */
static KanonStatus
first_candidates(Factor *f)
{
	const KanonProblem *problem = f->problem;
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
	{
		SpaceNear nearest[NEAREST];
		int64_t wanted = problem->k - problem->rows[i];
		uint32_t n;

		if (wanted <= 0)
			continue;
		f->pace.share = (double) i / problem->ntypes;
		if (f->env->now(f->env->arg) > f->deadline)
			return KANON_TOO_LARGE;
		if (kanon_stop(&f->pace, space_measure(&f->space, i) + problem->ntypes))
			return KANON_CANCELLED;
		n = space_nearest(&f->space, problem->rows, i, NEAREST, INT64_MAX, nearest);
		for (uint32_t j = 0; j < n && status == KANON_OK; j++)
		{
			status = add_candidate(f, i, nearest[j].type, nearest[j].distance);
			if (wanted > 0 && wanted <= problem->rows[nearest[j].type])
				f->near_bound += (double) nearest[j].distance * (double) problem->rows[i];
			wanted -= problem->rows[nearest[j].type];
		}
	}
	return status;
}

/* ---- rounds ---- */

bool
factor_edge(Factor *f, uint32_t a, uint32_t b, uint32_t cost)
{
	if (!KANON_GROW(&f->scratch, &f->edge_room, f->nedges + 1, KANON_ARRAY(f->edge)))
		return false;
	f->edge[f->nedges++] = (MatchEdge){a, b, cost};
	return true;
}

void
factor_link(Factor *f, uint32_t a, uint32_t b, uint32_t cost)
{
	f->link[f->nlinks++] = (FactorLink){a, b};
	f->weight += cost;
}

static void
close_round(Factor *f)
{
	kanon_free(f->env, f->must);
	kanon_free(f->env, f->used);
	kanon_free(f->env, f->price);
	kanon_free(f->env, f->place);
	kanon_free(f->env, f->shared);
	f->must = NULL;
	f->used = NULL;
	f->price = NULL;
	f->place = NULL;
	f->shared = NULL;
	kanon_scratch_free(&f->round);
}

/* Is all covered that must be? */
static bool
complete(const Factor *f)
{
	for (uint32_t i = 0; i < f->nnodes; i++)
		if (f->must[i] && f->used[i] == SIZE_MAX)
			return false;
	return true;
}

/* Solves over the candidates.  The last factor stays when it cannot. */
static KanonStatus
solve_round(Factor *f)
{
	MatchGraph graph;
	FactorLink *link;
	KanonStatus status;

	f->nedges = 0;
	status = f->method->build(f);
	if (status != KANON_OK)
		return status;
	if (f->env->foreign > 0 && matching_memory(f->nnodes, (double) f->nedges) > (double) f->env->foreign)
	{
		f->env->refused = (size_t) matching_memory(f->nnodes, (double) f->nedges);
		return KANON_NO_MEMORY;
	}
	f->used = kanon_alloc(f->env, f->nnodes, sizeof(size_t));
	f->price = kanon_alloc(f->env, f->nnodes, sizeof(int64_t));
	f->place = kanon_alloc(f->env, f->nnodes, sizeof(uint32_t));
	f->shared = kanon_alloc(f->env, f->nnodes, sizeof(int64_t));
	link = kanon_alloc(f->env, f->nnodes, sizeof(FactorLink));
	if (f->used == NULL || f->price == NULL || f->place == NULL || f->shared == NULL || link == NULL)
	{
		kanon_free(f->env, link);
		return KANON_NO_MEMORY;
	}
	graph = (MatchGraph){f->nnodes, f->must, f->nedges, f->edge, f->used, f->price, f->place, f->shared};
	status = matching_solve(f->env, f->pace.phase, f->deadline, &graph);
	if (status != KANON_OK)
	{
		kanon_free(f->env, link);
		return status;
	}
	kanon_free(f->env, f->link);
	f->link = link;
	f->nlinks = 0;
	f->weight = 0;
	f->complete = false;
	status = f->method->read(f);
	f->complete = status == KANON_OK && complete(f);
	return status;
}

/* The sum that the prices would pay for an edge between two types. */
static int64_t
paid(const Factor *f, uint32_t a, uint32_t b)
{
	int64_t both = f->must_price[a] + f->must_price[b];
	int64_t one = f->must_price[a] + f->may_price[b];
	int64_t other = f->may_price[a] + f->must_price[b];

	both = one > both ? one : both;
	return other > both ? other : both;
}

/* ---- what nodes share ---- */

/* Orders the nodes of types; stores what each shares with the next. */
static KanonStatus
order_nodes(Factor *f)
{
	uint32_t *at = kanon_take(&f->round, f->nnodes, sizeof(uint32_t));
	int64_t *least = kanon_take(&f->round, f->nown, sizeof(int64_t));
	int64_t shared = INT64_MAX;
	uint32_t n = 0;

	f->least[0] = least;
	f->span = kanon_take(&f->round, f->problem->ntypes, sizeof(f->span[0]));
	if (f->round.failed)
		return KANON_NO_MEMORY;
	memset(at, 0, f->nnodes * sizeof(uint32_t));
	for (uint32_t i = 0; i < f->nown; i++)
		at[f->place[i]] = 1;
	for (uint32_t x = 0; x < f->nnodes; x++)
	{
		if (at[x] == 1)
		{
			if (n > 0)
				least[n - 1] = shared;
			shared = INT64_MAX;
			at[x] = n++;
		}
		shared = f->shared[x] < shared ? f->shared[x] : shared;
	}
	least[n - 1] = 0;
	for (uint32_t i = 0; i < f->problem->ntypes; i++)
	{
		uint32_t end = i + 1 < f->problem->ntypes ? f->node[i + 1] : f->nown;

		f->span[i][0] = f->nown;
		f->span[i][1] = 0;
		for (uint32_t node = f->node[i]; node < end; node++)
		{
			uint32_t x = at[f->place[node]];

			f->span[i][0] = x < f->span[i][0] ? x : f->span[i][0];
			f->span[i][1] = x > f->span[i][1] ? x : f->span[i][1];
		}
	}
	return kanon_stop(&f->pace, f->nnodes * (uint64_t) 4) ? KANON_CANCELLED : KANON_OK;
}

static KanonStatus
open_shared(Factor *f)
{
	KanonStatus status = order_nodes(f);

	for (int d = 1; d < FACTOR_DOUBLED && status == KANON_OK; d++)
	{
		uint32_t half = (uint32_t) 1 << (d - 1);

		if (f->nown < 2 * half)
			break;
		f->least[d] = kanon_take(&f->round, f->nown, sizeof(int64_t));
		if (f->least[d] == NULL)
			return KANON_NO_MEMORY;
		for (uint32_t x = 0; x + 2 * half <= f->nown; x++)
		{
			int64_t one = f->least[d - 1][x];
			int64_t other = f->least[d - 1][x + half];

			f->least[d][x] = one < other ? one : other;
		}
		if (kanon_stop(&f->pace, f->nown))
			return KANON_CANCELLED;
	}
	return status;
}

/*
 * The worth of the blossoms that hold all nodes of both types.  Nodes that an edge would have of
 * its own (triples.c) can be in just these: they stay odd, and lose nothing of what they are worth.
 */
static int64_t
shared_by(const Factor *f, uint32_t a, uint32_t b)
{
	uint32_t low = f->span[a][0] < f->span[b][0] ? f->span[a][0] : f->span[b][0];
	uint32_t high = f->span[a][1] > f->span[b][1] ? f->span[a][1] : f->span[b][1];
	uint32_t n = high - low;
	int d = 31 - __builtin_clz(n);
	int64_t one = f->least[d][low];
	int64_t other = f->least[d][high - ((uint32_t) 1 << d)];

	return one < other ? one : other;
}

/*
 * Adds the edges of one type that are worth more than they cost, the most first.
 * Types before it have added their own edges already.
 */
static KanonStatus
price_type(Factor *f, uint32_t type)
{
	const uint32_t *distance = f->space.distance;
	int64_t gain[MORE];
	uint32_t best[MORE];
	int n = 0;
	KanonStatus status = KANON_OK;

	if (kanon_stop(&f->pace, space_measure(&f->space, type) + f->problem->ntypes))
		return KANON_CANCELLED;
	for (uint32_t i = 0; i < f->problem->ntypes; i++)
	{
		int64_t more = paid(f, type, i) - 4 * (int64_t) distance[i];
		int at;

		if (more <= 0 || i == type || (n == MORE && more <= gain[n - 1]))
			continue;
		/* (a fresh copy of a hub would be in no blossom) */
		if (f->copies[type] == 0 && f->copies[i] == 0)
			more -= shared_by(f, type, i);
		if (more <= 0 || (n == MORE && more <= gain[n - 1]) || is_candidate(f, type, i))
			continue;
		if (n < MORE)
			n++;
		for (at = n - 1; at > 0 && gain[at - 1] < more; at--)
		{
			gain[at] = gain[at - 1];
			best[at] = best[at - 1];
		}
		gain[at] = more;
		best[at] = i;
	}
	for (int i = 0; i < n && status == KANON_OK; i++)
		status = add_candidate(f, type, best[i], distance[best[i]]);
	return status;
}

/*
 * Hubs that a fresh copy of would be of use get twice as many.  One that may have no
 * more is none any more, but rows like any others, if these are not too many.
 */
static bool
grow_hubs(Factor *f)
{
	size_t npairs = f->npairs;
	bool grown = false;

	f->capped = false;
	memset(f->grown, 0, f->problem->ntypes * sizeof(bool));
	for (size_t i = 0; i < npairs; i++)
		for (int end = 0; end < 2; end++)
		{
			uint32_t hub = end == 0 ? f->pair[i].a : f->pair[i].b;
			uint32_t other = end == 0 ? f->pair[i].b : f->pair[i].a;
			uint32_t most;

			if (f->copies[hub] == 0 || f->grown[hub] || f->must_price[other] <= 4 * (int64_t) f->pair[i].cost)
				continue;
			most = f->method->most_copies(f, hub);
			if (f->copies[hub] < most)
			{
				f->copies[hub] = f->copies[hub] < most / 2 ? f->copies[hub] * 2 : most;
				f->grown[hub] = grown = true;
			}
			else if (f->method->spare && f->problem->rows[hub] <= OPEN_ROWS)
			{
				f->copies[hub] = 0;
				grown = true;
			}
			else
				f->capped = f->capped || f->method->spare;
		}
	return grown;
}

/* Adds what is missing; *done if nothing is. */
static KanonStatus
price_all(Factor *f, bool *done)
{
	size_t npairs = f->npairs;
	KanonStatus status = open_shared(f);

	for (uint32_t i = 0; i < f->problem->ntypes && status == KANON_OK; i++)
		if (f->must_price[i] > FACTOR_NO_PRICE)
			status = price_type(f, i);
	*done = !grow_hubs(f) && f->npairs == npairs;
	return status;
}

static KanonStatus
factor_find(Factor *f, KanonReport *report)
{
	uint32_t n = f->problem->ntypes;
	bool done = false;
	KanonStatus status;

	f->copies = kanon_take0(&f->scratch, n, sizeof(uint32_t));
	f->grown = kanon_take(&f->scratch, n, sizeof(bool));
	f->node = kanon_take(&f->scratch, n, sizeof(uint32_t));
	f->must_price = kanon_take(&f->scratch, n, sizeof(int64_t));
	f->may_price = kanon_take(&f->scratch, n, sizeof(int64_t));
	if (f->scratch.failed)
		return KANON_NO_MEMORY;
	status = space_open(&f->layout, &f->scratch, &f->space);
	for (uint32_t i = 0; i < n && status == KANON_OK; i++)
		if (factor_hub(f, i))
			f->copies[i] = f->method->most_copies(f, i) < 2 ? f->method->most_copies(f, i) : 2;
	if (status == KANON_OK)
		status = first_candidates(f);
	while (status == KANON_OK && !done)
	{
		status = solve_round(f);
		if (status == KANON_OK)
			status = price_all(f, &done);
		close_round(f);
	}
	f->exact = done && !f->capped;
	if (status == KANON_UNAVAILABLE)
		snprintf(report->detail, sizeof(report->detail),
				 "pairs and triples need the library LEMON, which this build is without");
	else if ((status == KANON_NO_MEMORY || status == KANON_TOO_LARGE) && f->complete)
	{
		snprintf(report->detail, sizeof(report->detail),
				 status == KANON_NO_MEMORY
					 ? "only the nearest rows were joined, all of them would take more memory than allowed"
					 : "only the nearest rows were joined, all of them would take more time than allowed");
		status = KANON_OK;
	}
	else if (status == KANON_OK && !f->exact)
		snprintf(report->detail, sizeof(report->detail),
				 "more rows would be joined to equal ones than the method can");
	return status;
}

/* There is not one matching in time: clusters that take none are better than no release. */
static KanonStatus
solve_at_once(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = kanon_solve_mondrian(problem, release, report);

	if (status == KANON_OK)
		snprintf(report->detail, sizeof(report->detail),
				 "a matching would take more time than allowed, these are the classes of mondrian");
	return status;
}

KanonStatus
factor_solve(const FactorMethod *method, const KanonProblem *problem, KanonRelease *release,
			 KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	Factor f = {.problem = problem,
				.env = env,
				.pace = kanon_pace_at_once(env, method->phase),
				.deadline = start + problem->time_limit,
				.scratch = {.env = env},
				.round = {.env = env},
				.method = method};
	ClusterParts parts = {0};
	KanonStatus status = KANON_OK;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	cluster_layout(problem, &f.layout);
	if (problem->k != method->k)
	{
		snprintf(report->detail, sizeof(report->detail), "%s is for k = %d only", method->phase,
				 (int) method->k);
		status = KANON_TOO_LARGE;
	}
	else if (f.layout.rows < problem->k)
		status = cluster_too_few(report);
	if (status == KANON_OK)
		status = factor_find(&f, report);
	if (status == KANON_OK)
		status = method->cluster(&f, &parts);
	if (status == KANON_OK)
		status = cluster_conclude(&f.layout, &parts, release, report);
	if (status == KANON_OK)
	{
		double bound = f.near_bound;

		/* (both are proven of releases that leave nothing out) */
		if (f.exact && problem->residual != KANON_RESIDUAL_DROP)
		{
			report->guarantee = method->guarantee[f.space.halves];
			bound = fmax(bound, f.weight * method->bound[f.space.halves]);
		}
		report->lower_bound = fmin(bound * f.space.unit, report->cost);
		report->proven = report->lower_bound >= report->cost;
	}
	close_round(&f);
	kanon_free(env, f.link);
	kanon_scratch_free(&f.scratch);
	kanon_parts_free(env, &parts);
	if (status == KANON_TOO_LARGE && problem->k == method->k)
		status = solve_at_once(problem, release, report);
	report->seconds = env->now(env->arg) - start;
	return status;
}
