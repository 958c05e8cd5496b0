/*
 * cluster_patterns.c: pattern clustering, where each listed pattern may be used
 * by one class only (listed twice: by two).
 *
 * R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip, "Pattern-Guided Data
 * Anonymization and Clustering", MFCS 2011.  No row is left over and the fully
 * suppressed pattern counts only when it is listed, so there may be no release
 * at all.  The model of program_model.h with every row in a class and sum of u_f over the
 * instances of a pattern at most the number of times that it is listed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/clustering.h"
#include "cluster/cluster_patterns.h"
#include "model/model.h"
#include "pattern/exact/exact.h"
#include "pattern/program/program_model.h"

/* Row types of all instances together: 4 bytes each, and more where they are searched. */
#define MAX_PAIRS ((size_t) 256 * 1000 * 1000)

/* Up to so many GLPK is quick enough. */
#define CLUSTERS_PROGRAM ((size_t) 20 * 1000)

/* Rows of a type: with more, GLPK's floating point cannot tell what classes of k rows lack. */
#define MAX_ROWS ((int64_t) 10 * 1000 * 1000)

/* The heuristic's part of the progress, before the exact model. */
#define COVERED 0.3

/* Proves that a release is optimal. */
typedef enum Proof
{
	BY_NOTHING,
	BY_PROGRAM, /* GLPK, or by branches */
	BY_BRANCHES,
	BY_CHOICES
} Proof;

static KanonPattern
pattern_of(const Clusters *c, uint32_t id)
{
	return id < c->instances.n ? c->instances.pattern[id] : kanon_pattern_all(c->problem->ncolumns);
}

/* Patterns, how often each may be used, and the model. */
static KanonStatus
prepare(Clusters *c, KanonSolve relaxed)
{
	KanonProblem listed = *c->problem;
	const KanonProblem *problem = c->problem;
	const KanonMask *mask = &problem->mask;
	KanonEnv *env = problem->env;
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	bool all_listed = mask->list == NULL;
	KanonStatus status = KANON_OK;

	int64_t count = mask->list != NULL ? 0 : kanon_mask_count(problem, (int64_t) CLUSTERS_LISTED);

	c->enough = true;
	if (count == KANON_COUNT_CANCELLED)
		return KANON_CANCELLED;
	if (count < 0)
	{
		status = clusters_list(c, relaxed);
		if (status == KANON_TOO_LARGE)
			snprintf(c->report->detail, sizeof(c->report->detail),
					 "the rules allow more than %zu patterns that divide %u row types differently",
					 CLUSTERS_LISTED, problem->ntypes);
		if (status != KANON_OK)
			return status;
		listed.mask =
			(KanonMask){.list = c->listed, .nlist = c->nlisted, .max_suppressed = -1, .max_cost = INFINITY};
	}
	status =
		kanon_instances_build(&listed, KANON_INSTANCES_ALL, INFINITY, MAX_PAIRS, &c->pace, &c->instances);
	if (status == KANON_TOO_LARGE && c->pace.late)
	{
		snprintf(c->report->detail, sizeof(c->report->detail),
				 "time was up before the possible classes were listed");
		return KANON_NOT_FOUND;
	}
	if (status == KANON_OK)
		status = kanon_instances_patterns(&listed, SIZE_MAX, &c->patterns, &c->npatterns);
	if (status != KANON_OK)
		return status;
	c->limit = kanon_alloc0(env, c->npatterns, sizeof(*c->limit));
	if (c->limit == NULL)
		return KANON_NO_MEMORY;
	for (size_t p = 0; p < c->npatterns; p++)
	{
		c->limit[p] = kanon_mask_times(mask, c->patterns[p]);
		if (kanon_same(c->patterns[p], all) && c->limit[p] > 0)
			all_listed = true;
	}
	status = ilp_model_build(problem, &c->instances, all_listed, &c->pace, &c->model);
	if (status != KANON_OK)
		return status;
	c->group = kanon_alloc(env, c->model.nf, sizeof(*c->group));
	if (c->group == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t f = 0, p = 0; f < c->model.nf; f++)
	{
		/* instances come pattern by pattern, mostly in the same order */
		while (!kanon_same(c->patterns[p], pattern_of(c, c->model.id[f])))
			p = p + 1 < c->npatterns ? p + 1 : 0;
		c->group[f] = p;
	}
	return KANON_OK;
}

KanonStatus
clusters_offer(Clusters *c, const IlpList *classes)
{
	IlpRest rest = ILP_REST_NONE;

	c->used.n = 0;
	for (size_t j = 0; j < classes->n; j++)
	{
		if (c->model.id[classes->v[j]] == c->instances.n)
			rest = ILP_REST_CLASS;
		else if (!ilp_list_add(c->problem->env, &c->used, c->model.id[classes->v[j]]))
			return KANON_NO_MEMORY;
	}
	return ilp_offer(c->problem, &c->instances, &c->used, rest, &c->result, &c->pace);
}

/*
 * Greedy: again and again the instance, of a pattern not used up, that places
 * the most rows still free, weighed by what they save; bias 0 looks at rows
 * only, so that it covers where a release is hard to find.
 */
static KanonStatus
cover(Clusters *c, double bias)
{
	const IlpModel *model = &c->model;
	KanonEnv *env = model->env;
	bool *covered = kanon_alloc0(env, model->m, sizeof(*covered));
	uint32_t *left = kanon_alloc(env, c->npatterns, sizeof(*left));
	bool *taken = kanon_alloc0(env, model->nf, sizeof(*taken));
	IlpList classes = {0};
	KanonStatus status = covered == NULL || left == NULL || taken == NULL ? KANON_NO_MEMORY : KANON_OK;
	int64_t open = 0;
	int64_t all;

	if (status == KANON_OK)
		memcpy(left, c->limit, c->npatterns * sizeof(*left));
	for (uint32_t i = 0; i < model->m; i++)
		open += model->n[i];
	all = open;
	while (status == KANON_OK && open > 0 && !c->pace.late)
	{
		uint32_t best = UINT32_MAX;
		double best_worth = 0;

		for (uint32_t f = 0; f < model->nf && status == KANON_OK; f++)
		{
			int64_t rows = 0;
			double worth;

			if (taken[f] || left[c->group[f]] == 0)
				continue;
			for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
				if (!covered[model->type[p]])
					rows += model->n[model->type[p]];
			if (kanon_step(&c->pace, (int64_t) (model->start[f + 1] - model->start[f])))
				status = KANON_CANCELLED;
			worth = (double) rows * (1 + bias * (c->instances.all_cost - model->w[f]));
			if (rows > 0 && (rows >= c->problem->k || bias == 0) && worth > best_worth)
			{
				best = f;
				best_worth = worth;
			}
		}
		if (best == UINT32_MAX)
			break;
		kanon_pace_done(&c->pace, 1 - (double) open / (double) all);
		taken[best] = true;
		left[c->group[best]]--;
		if (status == KANON_OK && !ilp_list_add(env, &classes, best))
			status = KANON_NO_MEMORY;
		for (size_t p = model->start[best]; p < model->start[best + 1]; p++)
			if (!covered[model->type[p]])
			{
				covered[model->type[p]] = true;
				open -= model->n[model->type[p]];
			}
	}
	if (status == KANON_OK && open == 0)
		status = clusters_offer(c, &classes);
	kanon_free(env, covered);
	kanon_free(env, left);
	kanon_free(env, taken);
	kanon_free(env, classes.v);
	return status;
}

double
clusters_cutoff(const Clusters *c)
{
	return c->result.cost < INFINITY ? ilp_cutoff(&c->model, c->result.cost) : INFINITY;
}

KanonStatus
clusters_none(Clusters *c)
{
	snprintf(c->report->detail, sizeof(c->report->detail),
			 "the rows cannot be divided into classes of at least k rows%s, one for each listed pattern",
			 kanon_by_types(c->problem) ? " that keep the privacy rules" : "");
	return KANON_INFEASIBLE;
}

static KanonStatus
solve_exactly(Clusters *c, double *bound)
{
	IlpSettings settings = {
		.cuts = true, .gap = c->problem->gap, .group = c->group, .limit = c->limit, .ngroups = c->npatterns};
	IlpOutcome outcome;
	IlpList open = {0};
	KanonStatus status =
		ilp_glpk(&c->model, clusters_cutoff(c), &settings, &outcome, &open, &c->pace, c->report);

	c->nodes = outcome.nodes;
	if (status == KANON_OK && outcome.found)
		status = clusters_offer(c, &open);
	if (status == KANON_OK && outcome.complete && c->result.cost == INFINITY)
		status = clusters_none(c);
	if (status == KANON_OK)
		*bound = fmin(c->result.cost, fmax(*bound, ilp_round_up(&c->model, outcome.bound)));
	kanon_free(c->model.env, open.v);
	return status;
}

/* Heuristics, then, if asked for, what proves it. */
static KanonStatus
cluster(Clusters *c, Proof proof, KanonRelease *release)
{
	KanonEnv *env = c->problem->env;
	double bound = 0;
	int64_t most = 0;
	bool proves = proof != BY_NOTHING;
	KanonStatus status = prepare(c, proof == BY_CHOICES   ? NULL
									: proof == BY_NOTHING ? kanon_solve_greedy
														  : kanon_solve_best);
	double end = c->pace.deadline, now = end > 0 ? env->now(env->arg) : 0;

	for (uint32_t i = 0; i < c->problem->ntypes; i++)
		most = c->problem->rows[i] > most ? c->problem->rows[i] : most;
	if (proof == BY_PROGRAM && status == KANON_OK &&
		(c->model.start[c->model.nf] > CLUSTERS_PROGRAM || most > MAX_ROWS || !c->enough))
		proof = BY_BRANCHES;
	if (proof == BY_BRANCHES && end > 0)
		c->pace.deadline = now + COVERED * (end - now);
	for (int round = 0; round < 4 && status == KANON_OK && !c->pace.late; round++)
	{
		static const double bias[] = {0, 0.2, 1, 100};

		kanon_pace_part(&c->pace, 0, proves ? COVERED : 1, round, 4);
		status = cover(c, bias[round]);
	}
	if (proof == BY_BRANCHES && status == KANON_OK)
	{
		c->pace.deadline = end;
		c->pace.late = end > 0 && env->now(env->arg) >= end;
	}
	if (status == KANON_OK && proves && !c->pace.late)
	{
		kanon_pace_part(&c->pace, COVERED, 1, 0, 1);
		status = proof == BY_CHOICES    ? clusters_choose(c, &bound)
				 : proof == BY_BRANCHES ? clusters_branch(c, &bound)
										: solve_exactly(c, &bound);
	}
	if (!c->enough)
		bound = fmin(c->result.cost, c->often / c->instances.unit);
	if (status == KANON_OK && c->result.cost == INFINITY)
	{
		snprintf(c->report->detail, sizeof(c->report->detail),
				 c->pace.late ? "time was up before classes were found that take all rows"
							  : "the heuristic found no classes that take all rows; there may be some");
		status = KANON_NOT_FOUND;
	}
	if (status == KANON_OK)
		status = ilp_conclude(c->problem, &c->instances, &c->result, bound, release, c->report);
	return status;
}

static void
close_clusters(Clusters *c)
{
	KanonEnv *env = c->problem->env;

	kanon_release_free(c->problem, &c->result.release);
	ilp_model_free(&c->model);
	kanon_instances_free(env, &c->instances);
	kanon_free(env, c->listed);
	kanon_free(env, c->patterns);
	kanon_free(env, c->limit);
	kanon_free(env, c->group);
	kanon_free(env, c->used.v);
}

static KanonStatus
solve(const KanonProblem *problem, Proof proof, KanonRelease *release, KanonReport *report)
{
	Clusters c = {.problem = problem, .report = report};
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	kanon_pace_limit(&c.pace, problem, "cluster");
	kanon_pace_open(&c.pace, "cluster");
	c.result.cost = INFINITY;
	status = cluster(&c, proof, release);
	report->nodes = c.nodes;
	report->seconds = env->now(env->arg) - start;
	close_clusters(&c);
	return status;
}

/* ---- under privacy rules ---- */

/* With few rows *release, if there is one, gives way to the best. */
static KanonStatus
solve_few(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	bool found = release->nclasses > 0;
	double start = problem->env->now(problem->env->arg);
	KanonProblem late = *problem;
	Clusters c = {.problem = &late, .report = report, .nodes = report->nodes};
	double bound;
	KanonStatus status;

	late.time_limit = fmax(1e-6, problem->time_limit - report->seconds);
	kanon_pace_limit(&c.pace, &late, "cluster");
	kanon_pace_open(&c.pace, "cluster");
	c.result.release = *release;
	c.result.cost = INFINITY;
	memset(release, 0, sizeof(*release));
	status = prepare(&c, NULL);
	bound = found && status == KANON_OK ? report->lower_bound / c.instances.unit : 0;
	if (found && status == KANON_OK)
		c.result.cost = report->cost / c.instances.unit;
	if (status == KANON_OK && !c.pace.late)
		status = clusters_place(&c, &bound);
	if (status == KANON_OK && bound == INFINITY)
		status = clusters_none(&c);
	else if (status == KANON_OK && c.result.cost == INFINITY)
		status = KANON_NOT_FOUND;
	else if (status == KANON_OK)
		status = ilp_conclude(&late, &c.instances, &c.result, bound, release, report);
	report->nodes = c.nodes;
	report->seconds += problem->env->now(problem->env->arg) - start;
	close_clusters(&c);
	return status;
}

/* Mends the release that the method finds without the rules; and of few rows what is best. */
static KanonStatus
solve_ruled(const KanonProblem *problem, KanonSolve plain, bool proves, KanonRelease *release,
			KanonReport *report)
{
	KanonStatus status =
		ruled_solve(problem, plain, RULED_STRICT | RULED_ONCE | (proves ? RULED_EXACT : 0), release, report);

	if ((status == KANON_OK ? report->proven : status != KANON_NOT_FOUND) || !proves ||
		!clusters_few(problem))
		return status;
	return solve_few(problem, release, report);
}

KanonStatus
kanon_solve_pattern_clustering(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (kanon_by_types(problem))
		return solve_ruled(problem, kanon_solve_pattern_clustering, true, release, report);
#ifdef HAVE_GLPK
	return solve(problem, BY_PROGRAM, release, report);
#else
	return solve(problem, BY_BRANCHES, release, report);
#endif
}

KanonStatus
kanon_solve_pattern_clustering_greedy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (kanon_by_types(problem))
		return solve_ruled(problem, kanon_solve_pattern_clustering_greedy, false, release, report);
	return solve(problem, BY_NOTHING, release, report);
}

KanonStatus
kanon_solve_pattern_clustering_fpt(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (kanon_by_types(problem))
		return solve_ruled(problem, kanon_solve_pattern_clustering_fpt, true, release, report);
	return solve(problem, BY_CHOICES, release, report);
}
