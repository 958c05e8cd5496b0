/*
 * by_parts.c: tables that are too large for methods that compare all rows with all others.
 *
 * The row types are cut in two, again and again (as Mondrian does: LeFevre, DeWitt, Ramakrishnan,
 * ICDE 2006), until a part has fewer than twice as many as it should have; each part is solved
 * alone.  The price is near rows on different sides of a cut.  So a cut is where it parts the
 * fewest of some rows from those that are nearest to them: between categories that clusters do not
 * mix, or along the column in which these are narrow.  Then the half of the clusters that loses
 * most by row is divided again, with cuts elsewhere, and what the method makes of the rows of such
 * a part takes its clusters' place where less is lost by that.  When that gains little, it is a
 * quarter that is divided, and so on: parts of as many rows reach farther then.
 *
 * Nothing is proven of the whole: a method's bound and factor are of its part.
 */
#include <math.h>
#include <string.h>

#include "cluster/cluster_patterns.h"
#include "privacy/rules.h"
#include "release/release.h"
#include "util/sort.h"
#include "cluster/clustering.h"
#include "util/pace.h"

/* Times that clusters are taken apart, at most; after one that gains less than this, half as many, down to so few. */
#define MOST_TIMES 12
#define LEAST_GAIN 0.001
#define LEAST_SHARE 16

typedef struct ByParts
{
	const KanonProblem *problem;
	KanonSolve solve;
	struct KanonClusterOptions whole; /* the problem's, but not by parts */
	ClusterLayout layout;
	KanonScratch scratch;
	KanonPace pace;
	double end; /* of the time allowed */
	uint32_t size;
	uint32_t share; /* one cluster in so many is divided again */
	Cuts cuts;
	bool begun;     /* what is divided are clusters, and not types */
	int64_t *left;  /* [ntypes] rows of a part; else 0 */
	uint32_t *type; /* [ntypes] its types */

	/* clusters, at first a type each; their flows are one after the other */
	ClusterParts parts;
	double *cost;   /* [nclusters] what their rows lose; INFINITY: they may not be classes */
	uint32_t *item; /* [nclusters] those to divide, part by part */
	size_t *start;  /* [nclusters + 1] */
	uint32_t todo;  /* of the clusters to divide: not in a part that was solved */
	uint32_t all;

	/* what becomes of them */
	ClusterParts next;
	double *next_cost;
	size_t cost_room;
	double sum;
	char detail[sizeof(((KanonReport *) NULL)->detail)];
} ByParts;

bool
cluster_wants_parts(const KanonProblem *problem)
{
	uint32_t size = problem->cluster->partition_size;

	return size > 0 && problem->ntypes / 2 >= size;
}

/*
 * Rows of these types that are a part have to be k, and keep rules if there are any; those of clusters do so together.
 * (A cut is where it halves some of the rows: the others may all be on one side.)
 */
static bool
may_be_part(const ByParts *p, const uint32_t *type, uint32_t n)
{
	int64_t rows = 0;

	if (p->begun)
		return true;
	for (uint32_t i = 0; i < n && rows < p->problem->k; i++)
		rows += p->problem->rows[type[i]];
	return rows >= p->problem->k &&
		   (p->problem->privacy == NULL || kanon_privacy_allows(p->problem, type, NULL, n, false, NULL));
}

/* ---- a part ---- */

static KanonStatus
add_cluster(ByParts *p, double cost)
{
	if (!kanon_enlarge(p->problem->env, &p->next_cost, &p->cost_room, (size_t) p->next.nclusters + 1,
					   sizeof(double)))
		return KANON_NO_MEMORY;
	p->next_cost[p->next.nclusters++] = cost;
	p->sum += cost;
	return KANON_OK;
}

/* A cluster as it was. */
static KanonStatus
keep_cluster(ByParts *p, uint32_t cluster)
{
	KanonStatus status = add_cluster(p, p->cost[cluster]);

	for (size_t f = p->start[cluster]; f < p->start[cluster + 1] && status == KANON_OK; f++)
		if (!kanon_parts_add(p->problem->env, &p->next, p->parts.flows[f].type, p->next.nclusters - 1,
							 p->parts.flows[f].rows))
			status = KANON_NO_MEMORY;
	return status;
}

static KanonStatus
keep_clusters(ByParts *p, const uint32_t *item, uint32_t n)
{
	KanonStatus status = KANON_OK;

	for (uint32_t x = 0; x < n && status == KANON_OK; x++)
		status = keep_cluster(p, item[x]);
	return status;
}

/*
 * A part's release, as a method has made it: flow[start[i] .. start[i + 1]) are class i's, cost[i]
 * is what its rows lose.
 */
typedef struct Classes
{
	size_t *start;
	size_t *flow;
	double *cost;
	double sum;
} Classes;

static KanonStatus
price_classes(ByParts *p, const KanonPart *part, const KanonRelease *solved, Classes *classes)
{
	size_t *start = kanon_take0(&p->scratch, (size_t) solved->nclasses + 2, sizeof(size_t));
	uint32_t *types = kanon_take(&p->scratch, solved->nflows, sizeof(uint32_t));

	classes->flow = kanon_take(&p->scratch, solved->nflows, sizeof(size_t));
	classes->cost = kanon_take(&p->scratch, solved->nclasses, sizeof(double));
	classes->start = start;
	classes->sum = 0;
	if (p->scratch.failed)
		return KANON_NO_MEMORY;
	for (size_t f = 0; f < solved->nflows; f++)
		start[solved->flows[f].class_ + 2]++;
	for (uint32_t i = 2; i <= solved->nclasses; i++)
		start[i] += start[i - 1];
	for (size_t f = 0; f < solved->nflows; f++)
		classes->flow[start[solved->flows[f].class_ + 1]++] = f;
	for (uint32_t i = 0; i < solved->nclasses; i++)
	{
		size_t n = 0;

		for (size_t x = start[i]; x < start[i + 1]; x++)
			types[n++] = part->type[solved->flows[classes->flow[x]].type];
		classes->cost[i] = cluster_charge(&p->layout, types, n) * (double) solved->classes[i].rows;
		classes->sum += classes->cost[i];
	}
	return KANON_OK;
}

/* They become clusters. */
static KanonStatus
take_classes(ByParts *p, const KanonPart *part, const KanonRelease *solved, const Classes *classes)
{
	for (uint32_t i = 0; i < solved->nclasses; i++)
	{
		KanonStatus status = add_cluster(p, classes->cost[i]);

		for (size_t x = classes->start[i]; x < classes->start[i + 1] && status == KANON_OK; x++)
		{
			const KanonFlow *flow = &solved->flows[classes->flow[x]];

			if (!kanon_parts_add(p->problem->env, &p->next, part->type[flow->type], p->next.nclusters - 1,
								 flow->rows))
				status = KANON_NO_MEMORY;
		}
		if (status != KANON_OK)
			return status;
	}
	return KANON_OK;
}

/* The rows of these clusters: left[] of the types; how many types. */
static uint32_t
pool_rows(ByParts *p, const uint32_t *item, uint32_t n)
{
	uint32_t ntypes = 0;

	for (uint32_t x = 0; x < n; x++)
		for (size_t f = p->start[item[x]]; f < p->start[item[x] + 1]; f++)
		{
			const KanonFlow *flow = &p->parts.flows[f];

			if (p->left[flow->type] == 0)
				p->type[ntypes++] = flow->type;
			p->left[flow->type] += flow->rows;
		}
	return ntypes;
}

/* A part's share of the time that is left. */
static double
time_for(const ByParts *p, uint32_t n)
{
	KanonEnv *env = p->problem->env;

	return isinf(p->end) ? p->end : fmax((p->end - env->now(env->arg)) * n / p->todo, 1e-3);
}

/* These clusters together: what the method makes of their rows, or they stay as they are if that is no better. */
static KanonStatus
solve_part(ByParts *p, const uint32_t *item, uint32_t n)
{
	size_t mark = kanon_mark(&p->scratch);
	uint32_t ntypes = pool_rows(p, item, n);
	uint32_t *type = kanon_take(&p->scratch, ntypes, 2 * sizeof(uint32_t));
	int64_t *rows = kanon_take(&p->scratch, ntypes, sizeof(int64_t));
	KanonPart *part = kanon_take0(&p->scratch, 1, sizeof(KanonPart));
	KanonRelease solved = {0};
	KanonReport report = {0};
	Classes classes;
	double before = 0;
	KanonStatus status = kanon_taken(&p->scratch);

	for (uint32_t x = 0; x < n; x++)
		before += p->cost[item[x]];
	if (status == KANON_OK)
	{
		memcpy(type, p->type, ntypes * sizeof(uint32_t));
		kanon_sort(type, type + ntypes, ntypes, sizeof(uint32_t), kanon_compare_numbers, NULL);
		for (uint32_t i = 0; i < ntypes; i++)
			rows[i] = p->left[type[i]];
		status = kanon_part_open(p->problem, ntypes, type, rows, &p->scratch, &p->pace, part);
	}
	for (uint32_t i = 0; i < ntypes; i++)
		p->left[p->type[i]] = 0;
	if (status == KANON_OK)
	{
		part->problem.cluster = &p->whole;
		/* who leaves rows out does so once, for all parts */
		part->problem.residual = KANON_RESIDUAL_ERROR;
		part->problem.time_limit = time_for(p, n);
		status = p->solve(&part->problem, &solved, &report);
	}
	if (status == KANON_OK)
		status = price_classes(p, part, &solved, &classes);
	/* (types alone are no classes, whatever their rows would lose) */
	if (status == KANON_OK && (!p->begun || classes.sum < before))
	{
		status = take_classes(p, part, &solved, &classes);
		if (report.detail[0] != '\0')
			memcpy(p->detail, report.detail, sizeof(p->detail));
	}
	else if (status == KANON_OK)
		status = keep_clusters(p, item, n);
	p->todo -= n;
	p->pace.share = 1 - (double) p->todo / p->all;
	kanon_release_free(p->problem, &solved);
	if (part != NULL)
		kanon_part_close(part);
	kanon_release(&p->scratch, mark);
	return status;
}

/* The depth is logarithmic: each side has an eighth of the clusters at least. */
static KanonStatus
divide(ByParts *p, uint32_t *item, uint32_t n)
{
	size_t flows = 0;
	KanonStatus status;

	if (kanon_stop(&p->pace, (uint64_t) n * 16))
		return KANON_CANCELLED;
	if (p->begun && p->pace.late)
		return keep_clusters(p, item, n);
	for (uint32_t x = 0; x < n; x++)
		flows += p->start[item[x] + 1] - p->start[item[x]];
	if (flows / 2 < p->size || n < 4)
		return solve_part(p, item, n);
	status = cuts_find(&p->cuts, item, n);
	for (int tried = 0; tried < p->layout.nqis && status == KANON_OK; tried++)
	{
		uint32_t before;

		status = cuts_next(&p->cuts, item, n, &before);
		if (status == KANON_OK && may_be_part(p, item, before) && may_be_part(p, item + before, n - before))
		{
			status = divide(p, item, before);
			return status == KANON_OK ? divide(p, item + before, n - before) : status;
		}
	}
	return status == KANON_OK ? solve_part(p, item, n) : status;
}

/* ---- the whole ---- */

/* Where the flows of each cluster begin; the clusters to divide: those that lose most by row. */
static KanonStatus
choose(ByParts *p)
{
	uint32_t n = p->parts.nclusters;
	KanonKeyed *order = kanon_take(&p->scratch, n, 2 * sizeof(KanonKeyed));
	int64_t *rows = kanon_take0(&p->scratch, n, sizeof(int64_t));
	uint32_t *type;

	p->item = kanon_take(&p->scratch, n, sizeof(uint32_t));
	p->start = kanon_take(&p->scratch, (size_t) n + 1, sizeof(size_t));
	type = kanon_take(&p->scratch, n, sizeof(uint32_t));
	if (p->scratch.failed)
		return KANON_NO_MEMORY;
	for (size_t f = p->parts.nflows; f-- > 0;)
	{
		p->start[p->parts.flows[f].class_] = f;
		type[p->parts.flows[f].class_] = p->parts.flows[f].type;
		rows[p->parts.flows[f].class_] += p->parts.flows[f].rows;
	}
	p->cuts.type = type;
	p->start[n] = p->parts.nflows;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (KanonKeyed){-p->cost[i] / (double) rows[i], i};
	kanon_sort(order, order + n, n, sizeof(KanonKeyed), kanon_compare_keyed, NULL);
	p->todo = p->begun ? (n + p->share - 1) / p->share : n;
	p->all = p->todo;
	for (uint32_t x = 0; x < n; x++)
		p->item[x] = order[x].item;
	return kanon_stop(&p->pace, p->parts.nflows * 4) ? KANON_CANCELLED : KANON_OK;
}

/* Clusters, or at first types, are divided, and what parts they make solved. */
static KanonStatus
once(ByParts *p)
{
	KanonEnv *env = p->problem->env;
	size_t mark = kanon_mark(&p->scratch);
	KanonStatus status = choose(p);
	uint32_t n = p->todo;

	p->sum = 0;
	if (status == KANON_OK && n > 0)
		status = divide(p, p->item, n);
	if (status == KANON_OK)
		status = keep_clusters(p, p->item + n, p->parts.nclusters - n);
	kanon_release(&p->scratch, mark);
	kanon_parts_free(env, &p->parts);
	kanon_free(env, p->cost);
	p->parts = p->next;
	p->cost = p->next_cost;
	p->next = (ClusterParts){0};
	p->next_cost = NULL;
	p->cost_room = 0;
	p->begun = true;
	return status;
}

/* Each type is a cluster, but no class. */
static KanonStatus
prepare(ByParts *p)
{
	const KanonProblem *problem = p->problem;
	KanonEnv *env = problem->env;
	KanonStatus status;

	p->type = kanon_take(&p->scratch, problem->ntypes, sizeof(uint32_t));
	p->left = kanon_take0(&p->scratch, problem->ntypes, sizeof(int64_t));
	p->cost = kanon_alloc(env, problem->ntypes, sizeof(double));
	if (p->scratch.failed || p->cost == NULL)
		return KANON_NO_MEMORY;
	status = cuts_open(&p->cuts);
	if (status != KANON_OK)
		return status;
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		p->cost[i] = INFINITY;
		if (!kanon_parts_add(env, &p->parts, i, i, problem->rows[i]))
			return KANON_NO_MEMORY;
	}
	p->parts.nclusters = problem->ntypes;
	return KANON_OK;
}

/* The largest distance of `gather` is no sum: less of one is not less of the other. */
static KanonStatus
join_borders(ByParts *p)
{
	KanonEnv *env = p->problem->env;
	KanonStatus status = KANON_OK;

	for (int times = 0;
		 times < MOST_TIMES && status == KANON_OK && kanon_method_of(p->solve)->cost == KANON_COST_SUM &&
		 p->share <= LEAST_SHARE && env->now(env->arg) < p->end;
		 times++)
	{
		double before = p->sum;

		status = once(p);
		if (p->sum > before * (1 - LEAST_GAIN))
			p->share *= 2;
	}
	return status;
}

KanonStatus
cluster_solve_by_parts(const KanonProblem *problem, KanonSolve solve, KanonRelease *release,
					   KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	ByParts p = {
		.problem = problem,
		.solve = solve,
		.whole = {.show = problem->cluster->show},
		.scratch = {.env = env},
		.pace = kanon_pace(env, "solve by parts"),
		.end = start + problem->time_limit,
		.size = problem->cluster->partition_size,
		.share = 2,
		.cuts = {.layout = &p.layout, .scratch = &p.scratch, .pace = &p.pace, .random = problem->seed}};
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	p.pace.deadline = p.end;
	cluster_layout(problem, &p.layout);
	status = prepare(&p);
	if (status == KANON_OK)
		status = once(&p);
	if (status == KANON_OK)
		status = join_borders(&p);
	if (status == KANON_OK && (kanon_method_of(solve)->takes & KANON_DROPS_FAR) != 0 &&
		problem->privacy == NULL && problem->residual == KANON_RESIDUAL_DROP)
		status = cluster_drop_outliers(&p.layout, &p.parts, &p.pace);
	kanon_scratch_free(&p.scratch);
	kanon_free(env, p.cost);
	kanon_free(env, p.next_cost);
	kanon_parts_free(env, &p.next);
	if (status == KANON_OK)
		status = cluster_conclude(&p.layout, &p.parts, release, report);
	kanon_parts_free(env, &p.parts);
	if (status == KANON_OK)
		status = cluster_own_cost(problem, solve, release, &report->cost);
	if (p.detail[0] != '\0')
		memcpy(report->detail, p.detail, sizeof(p.detail));
	report->lower_bound = -INFINITY;
	report->guarantee = 0;
	report->proven = false;
	report->seconds = env->now(env->arg) - start;
	return status;
}

/*
 * ---- Rows that are better left out of a partition: what their clusters would
 * then show of the others is worth more than they are.  `forest` with residual => 'drop' costs 1 to 4 % less by
 * it at k = 5 and 11 to 16 % at k = 20 (CMC, Adult), in the same time.
 */

/* The flows from .. to are a cluster: marks those that cost less when hidden altogether. */
static KanonStatus
drop_outliers(const ClusterLayout *layout, KanonFlow *flows, size_t from, size_t to, uint32_t *types,
			  KanonPace *pace)
{
	const KanonProblem *problem = layout->problem;
	int64_t rows = 0;
	size_t n = 0;

	for (size_t i = from; i < to; i++)
	{
		types[n++] = flows[i].type;
		rows += flows[i].rows;
	}
	while (rows > problem->k)
	{
		double each = cluster_charge(layout, types, n);
		double best = layout->weight * 1e-9;
		size_t who = to;
		size_t at = 0;

		for (size_t i = from; i < to; i++)
		{
			uint32_t last = types[n - 1];
			int64_t stay = rows - flows[i].rows;
			double gain;

			if (flows[i].class_ == KANON_DROPPED)
				continue;
			/* the others are in front for a moment */
			types[n - 1] = types[at];
			types[at] = last;
			gain = stay < problem->k ? 0
									 : (double) stay * (each - cluster_charge(layout, types, n - 1)) -
										   (double) flows[i].rows * (layout->weight - each);
			types[at] = types[n - 1];
			types[n - 1] = last;
			at++;
			if (gain > best)
			{
				best = gain;
				who = i;
			}
			if (kanon_stop(pace, n * (uint64_t) problem->ncolumns))
				return KANON_CANCELLED;
		}
		if (who == to)
			break;
		flows[who].class_ = KANON_DROPPED;
		rows -= flows[who].rows;
		n = 0;
		for (size_t i = from; i < to; i++)
			if (flows[i].class_ != KANON_DROPPED)
				types[n++] = flows[i].type;
	}
	return KANON_OK;
}

/*
 * Leaves out what costs less so, cluster by cluster.  When that is enough rows,
 * they are a class.
 */
KanonStatus
cluster_drop_outliers(const ClusterLayout *layout, ClusterParts *parts, KanonPace *pace)
{
	const KanonProblem *problem = layout->problem;
	uint32_t *types = kanon_alloc(problem->env, parts->nflows, sizeof(uint32_t));
	int64_t dropped = 0;
	KanonStatus status = types == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (size_t from = 0, to; from < parts->nflows && status == KANON_OK; from = to)
	{
		for (to = from + 1; to < parts->nflows; to++)
			if (parts->flows[to].class_ != parts->flows[from].class_)
				break;
		status = drop_outliers(layout, parts->flows, from, to, types, pace);
	}
	kanon_free(problem->env, types);
	for (size_t i = 0; i < parts->nflows; i++)
		if (parts->flows[i].class_ == KANON_DROPPED)
			dropped += parts->flows[i].rows;
	if (dropped < problem->k)
		return status;
	for (size_t i = 0; i < parts->nflows; i++)
		if (parts->flows[i].class_ == KANON_DROPPED)
			parts->flows[i].class_ = parts->nclusters;
	parts->nclusters++;
	return status;
}
