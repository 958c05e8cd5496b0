/*
 * cluster_patterns.c: pattern clustering, where each listed pattern may be used
 * by one class only (listed twice: by two).
 *
 * R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip, "Pattern-Guided Data
 * Anonymization and Clustering", MFCS 2011.  No row is left over and the fully
 * suppressed pattern counts only when it is listed, so there may be no release
 * at all.  The model of ilp.h with every row in a class and sum of u_f over the
 * instances of a pattern at most the number of times that it is listed.
 *
 * fpt: every choice of instances, rows assigned to each by a flow: with t row types and
 * patterns listed p times in all there are at most (t + 1)^p.  Patterns that divide the
 * row types alike are no more than one for each of its instances, the cheapest: of two
 * classes that take the same row types the cheaper one takes all.  Different divisions are as
 * many as t types have, so that the work is bounded in t alone, whatever p.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "exact/ruled.h"
#include "program/flow.h"
#include "program/glpk.h"

/* Row types of all instances together that the exact model may have. */
#define MAX_PAIRS ((size_t) 2 * 1000 * 1000)
#define MAX_EXACT ((size_t) 300 * 1000)

/* Rows of a type: with more, floating point cannot tell what classes of k rows lack. */
#define MAX_ROWS ((int64_t) 10 * 1000 * 1000)

/* Of the share of all that of the heuristic, before the exact model. */
#define COVERED 0.3

/* Choices of instances to try, at most. */
#define MAX_CHOICES ((double) (1 << 20))

/* What proves that a release is optimal. */
typedef enum Proof
{
	BY_NOTHING,
	BY_PROGRAM, /* GLPK */
	BY_CHOICES
} Proof;

typedef struct Clusters
{
	const KanonProblem *problem;
	KanonReport *report;
	KanonPace pace;
	KanonInstances instances;
	IlpModel model;         /* instances->n is the fully suppressed one */
	KanonPattern *patterns; /* the different ones */
	size_t npatterns;
	uint32_t *limit; /* [npatterns] times listed */
	uint32_t *group; /* [nf of the model] position in patterns */
	IlpResult result;
	IlpList used; /* ids */
	int64_t nodes;
} Clusters;

static KanonPattern
pattern_of(const Clusters *c, uint32_t id)
{
	return id < c->instances.n ? c->instances.pattern[id] : kanon_pattern_all(c->problem->ncolumns);
}

/* Patterns, how often each may be used, and the model. */
static KanonStatus
prepare(Clusters *c)
{
	const KanonProblem *problem = c->problem;
	const KanonMask *mask = &problem->mask;
	KanonEnv *env = problem->env;
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	bool all_listed = mask->list == NULL;
	KanonStatus status;

	c->report->detail[0] = '\0';
	status =
		kanon_instances_build(problem, KANON_INSTANCES_ALL, INFINITY, MAX_PAIRS, &c->pace, &c->instances);
	if (status == KANON_TOO_LARGE && c->pace.late)
	{
		snprintf(c->report->detail, sizeof(c->report->detail),
				 "time was up before the possible classes were listed");
		return KANON_NOT_FOUND;
	}
	if (status == KANON_OK)
		status = kanon_mask_enumerate(problem, 1 << 16, &c->patterns, &c->npatterns);
	if (status != KANON_OK)
		return status;
	c->limit = kanon_alloc0(env, c->npatterns, sizeof(*c->limit));
	if (c->limit == NULL)
		return KANON_NO_MEMORY;
	for (size_t p = 0; p < c->npatterns; p++)
	{
		c->limit[p] = mask->list == NULL;
		for (size_t j = 0; mask->list != NULL && j < mask->nlist; j++)
			c->limit[p] += mask->list[j] == c->patterns[p];
		if (c->patterns[p] == all && c->limit[p] > 0)
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
		/* instances come pattern by pattern, in the same order */
		while (c->patterns[p] != pattern_of(c, c->model.id[f]))
			p++;
		c->group[f] = p;
	}
	return KANON_OK;
}

/* What a set of classes makes, if all rows find a place. */
static KanonStatus
offer(Clusters *c, const IlpList *classes)
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
		status = offer(c, &classes);
	kanon_free(env, covered);
	kanon_free(env, left);
	kanon_free(env, taken);
	kanon_free(env, classes.v);
	return status;
}

static KanonStatus
none_there(Clusters *c)
{
	snprintf(c->report->detail, sizeof(c->report->detail),
			 "the rows cannot be divided into classes of at least k rows, "
			 "one for each listed pattern");
	return KANON_INFEASIBLE;
}

static KanonStatus
solve_exactly(Clusters *c, double *bound)
{
	IlpSettings settings = {
		.cuts = true, .gap = c->problem->gap, .group = c->group, .limit = c->limit, .ngroups = c->npatterns};
	IlpOutcome outcome;
	IlpList open = {0};
	double cutoff = c->result.cost < INFINITY ? ilp_cutoff(&c->model, c->result.cost) : INFINITY;
	KanonStatus status = ilp_glpk(&c->model, cutoff, &settings, &outcome, &open, &c->pace, c->report);

	c->nodes = outcome.nodes;
	if (status == KANON_OK && outcome.found)
		status = offer(c, &open);
	if (status == KANON_OK && outcome.complete && c->result.cost == INFINITY)
		status = none_there(c);
	if (status == KANON_OK)
		*bound = fmin(c->result.cost, fmax(*bound, ilp_round_up(&c->model, outcome.bound)));
	kanon_free(c->model.env, open.v);
	return status;
}

/* ---- fpt ---- */

typedef struct Choices
{
	Clusters *c;
	IlpList classes;
	uint32_t *left;   /* [npatterns] classes that a pattern may still have */
	uint32_t *takers; /* [m] classes that take a type */
	double *cheapest; /* [m] scratch */
	uint32_t open;    /* types that none takes */
	int64_t most;     /* classes of k rows */
} Choices;

/* No release of these classes costs less. */
static double
floor_of(const Choices *s)
{
	const IlpModel *model = &s->c->model;
	double sum = model->base;

	for (uint32_t i = 0; i < model->m; i++)
		s->cheapest[i] = INFINITY;
	for (size_t j = 0; j < s->classes.n; j++)
		for (size_t p = model->start[s->classes.v[j]]; p < model->start[s->classes.v[j] + 1]; p++)
			s->cheapest[model->type[p]] = fmin(s->cheapest[model->type[p]], model->w[s->classes.v[j]]);
	for (uint32_t i = 0; i < model->m; i++)
		sum += (double) model->n[i] * s->cheapest[i];
	return sum;
}

/* Choices that extend the one at hand by instances from `from` on, while there is time. */
static KanonStatus
try_choices(Choices *s, uint32_t from)
{
	const IlpModel *model = &s->c->model;
	KanonStatus status = KANON_OK;

	s->c->nodes++;
	if (s->open == 0 && floor_of(s) <= ilp_cutoff(model, s->c->result.cost))
		status = offer(s->c, &s->classes);
	if ((int64_t) (s->classes.n + 1) > s->most)
		return status;
	for (uint32_t f = from; f < model->nf && status == KANON_OK && !s->c->pace.late; f++)
	{
		if (s->left[s->c->group[f]] == 0)
			continue;
		if (kanon_step(&s->c->pace, 16 + (int64_t) (model->start[f + 1] - model->start[f])))
			return KANON_CANCELLED;
		if (!ilp_list_add(model->env, &s->classes, f))
			return KANON_NO_MEMORY;
		s->left[s->c->group[f]]--;
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			s->open -= s->takers[model->type[p]]++ == 0;
		status = try_choices(s, f + 1);
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			s->open += --s->takers[model->type[p]] == 0;
		s->left[s->c->group[f]]++;
		s->classes.n--;
	}
	return status;
}

/* How a pattern divides the types: the first of those that are together with each; m: it takes it nowhere. */
static void
divide(const Clusters *c, uint32_t from, uint32_t end, uint32_t *division)
{
	const IlpModel *model = &c->model;

	for (uint32_t i = 0; i < model->m; i++)
		division[i] = model->m;
	for (uint32_t f = from; f < end; f++)
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			division[model->type[p]] = model->type[model->start[f]];
}

/* Of patterns that divide the types alike, cheapest first, as many uses as there are instances; how many choices that leaves. */
static KanonStatus
limit_alike(Clusters *c, uint32_t *left, double *choices)
{
	const IlpModel *model = &c->model;
	uint32_t *division = kanon_alloc(model->env, c->npatterns, (size_t) model->m * sizeof(*division));
	uint32_t *first = kanon_alloc0(model->env, c->npatterns + 1, sizeof(*first));

	if (division == NULL || first == NULL)
	{
		kanon_free(model->env, division);
		kanon_free(model->env, first);
		return KANON_NO_MEMORY;
	}
	for (uint32_t f = 0; f < model->nf; f++)
		first[c->group[f] + 1]++;
	for (size_t p = 0; p < c->npatterns; p++)
		first[p + 1] += first[p];
	*choices = 1;
	for (size_t p = 0; p < c->npatterns; p++)
	{
		uint32_t uses = first[p + 1] - first[p];
		double sum = 1, choose = 1;

		divide(c, first[p], first[p + 1], division + p * model->m);
		/* patterns come by ascending cost */
		for (size_t q = 0; q < p; q++)
			if (memcmp(division + q * model->m, division + p * model->m, model->m * sizeof(*division)) == 0)
				uses -= left[q] < uses ? left[q] : uses;
		left[p] = c->limit[p] < uses ? c->limit[p] : uses;
		for (uint32_t j = 1; j <= left[p] && sum <= MAX_CHOICES; j++)
		{
			choose *= (double) (first[p + 1] - first[p] - j + 1) / j;
			sum += choose;
		}
		*choices *= sum;
		if (kanon_step(&c->pace, (int64_t) (p + 1) * model->m))
			break;
	}
	kanon_free(model->env, division);
	kanon_free(model->env, first);
	return kanon_step(&c->pace, 0) ? KANON_CANCELLED : KANON_OK;
}

static KanonStatus
solve_by_choices(Clusters *c, double *bound)
{
	KanonEnv *env = c->problem->env;
	Choices s = {.c = c, .open = c->model.m};
	double choices = 0;
	KanonStatus status = KANON_NO_MEMORY;

	s.left = kanon_alloc(env, c->npatterns, sizeof(*s.left));
	s.takers = kanon_alloc0(env, c->model.m, sizeof(*s.takers));
	s.cheapest = kanon_alloc(env, c->model.m, sizeof(*s.cheapest));
	if (s.left != NULL && s.takers != NULL && s.cheapest != NULL)
		status = limit_alike(c, s.left, &choices);
	if (status == KANON_OK && choices > MAX_CHOICES)
	{
		snprintf(c->report->detail, sizeof(c->report->detail),
				 "%u row types and these patterns have more than %.0f choices of classes", c->problem->ntypes,
				 MAX_CHOICES);
		status = KANON_TOO_LARGE;
	}
	for (uint32_t i = 0; i < c->problem->ntypes; i++)
		s.most += c->problem->rows[i];
	s.most /= c->problem->k;
	if (status == KANON_OK)
		status = try_choices(&s, 0);
	if (status == KANON_OK && !c->pace.late && c->result.cost == INFINITY)
		status = none_there(c);
	if (status == KANON_OK && !c->pace.late)
		*bound = c->result.cost;
	kanon_free(env, s.classes.v);
	kanon_free(env, s.left);
	kanon_free(env, s.takers);
	kanon_free(env, s.cheapest);
	return status;
}

/* Heuristics, then, if asked for, what proves it. */
static KanonStatus
cluster(Clusters *c, Proof proof, KanonRelease *release)
{
	double bound = 0;
	int64_t most = 0;
	bool proves;
	KanonStatus status = prepare(c);

	for (uint32_t i = 0; i < c->problem->ntypes; i++)
		most = c->problem->rows[i] > most ? c->problem->rows[i] : most;
	proves = status == KANON_OK &&
			 (proof == BY_CHOICES ||
			  (proof == BY_PROGRAM && c->model.start[c->model.nf] <= MAX_EXACT && most <= MAX_ROWS));
	for (int round = 0; round < 4 && status == KANON_OK && !c->pace.late; round++)
	{
		static const double bias[] = {0, 0.2, 1, 100};

		kanon_pace_part(&c->pace, 0, proves ? COVERED : 1, round, 4);
		status = cover(c, bias[round]);
	}
	if (status == KANON_OK && proves && !c->pace.late)
	{
		kanon_pace_part(&c->pace, COVERED, 1, 0, 1);
		status = proof == BY_CHOICES ? solve_by_choices(c, &bound) : solve_exactly(c, &bound);
	}
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
	kanon_release_free(problem, &c.result.release);
	ilp_model_free(&c.model);
	kanon_instances_free(env, &c.instances);
	kanon_free(env, c.patterns);
	kanon_free(env, c.limit);
	kanon_free(env, c.group);
	kanon_free(env, c.used.v);
	return status;
}

KanonStatus
kanon_solve_pattern_clustering(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (problem->privacy != NULL)
		return ruled_solve(problem, kanon_solve_pattern_clustering, RULED_STRICT | RULED_ONCE, release,
						   report);
#ifdef HAVE_GLPK
	return solve(problem, BY_PROGRAM, release, report);
#else
	return solve(problem, BY_NOTHING, release, report);
#endif
}

KanonStatus
kanon_solve_pattern_clustering_greedy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (problem->privacy != NULL)
		return ruled_solve(problem, kanon_solve_pattern_clustering_greedy, RULED_STRICT | RULED_ONCE, release,
						   report);
	return solve(problem, BY_NOTHING, release, report);
}

KanonStatus
kanon_solve_pattern_clustering_fpt(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	if (problem->privacy != NULL)
		return ruled_solve(problem, kanon_solve_pattern_clustering_fpt, RULED_STRICT | RULED_ONCE, release,
						   report);
	return solve(problem, BY_CHOICES, release, report);
}
