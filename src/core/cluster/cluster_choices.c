/*
 * cluster_choices.c: pattern clustering by every choice of instances, rows assigned to each by a
 * flow: with t row types and patterns listed p times in all there are at most (t + 1)^p.
 * Patterns that divide the row types alike are no more than one for each of its instances, the
 * cheapest: of two classes that take the same row types the cheaper one takes all.  Different
 * divisions are as many as t types have, so that the work is bounded in t alone, whatever p.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/cluster_patterns.h"
#include "cluster/clustering.h"
#include "pattern/exact/exact.h"
#include "privacy/rules.h"

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
	if (s->open == 0 && floor_of(s) <= clusters_cutoff(s->c))
		status = clusters_offer(s->c, &s->classes);
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

/* Patterns that divide the types alike, cheapest first, get as many uses as there are instances; counts the choices left. */
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
		for (uint32_t j = 1; j <= left[p] && sum <= CLUSTERS_CHOICES; j++)
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
	return c->pace.cancelled ? KANON_CANCELLED : KANON_OK;
}

/* All of them. */
static KanonStatus
try_all(Choices *s, double *bound)
{
	Clusters *c = s->c;
	KanonStatus status;

	for (uint32_t i = 0; i < c->problem->ntypes; i++)
		s->most += c->problem->rows[i];
	s->most /= c->problem->k;
	status = try_choices(s, 0);
	if (status == KANON_OK && !c->pace.late && c->result.cost == INFINITY)
		status = clusters_none(c);
	if (status == KANON_OK && !c->pace.late)
		*bound = c->result.cost;
	return status;
}

KanonStatus
clusters_choose(Clusters *c, double *bound)
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
	if (status == KANON_OK && choices <= CLUSTERS_CHOICES)
		status = try_all(&s, bound);
	else if (status == KANON_OK)
	{
		snprintf(c->report->detail, sizeof(c->report->detail),
				 "%u row types and these patterns have more than %.0f choices of classes", c->problem->ntypes,
				 CLUSTERS_CHOICES);
		status = KANON_TOO_LARGE;
	}
	kanon_free(env, s.classes.v);
	kanon_free(env, s.left);
	kanon_free(env, s.takers);
	kanon_free(env, s.cheapest);
	return status;
}

/*
 * ---- Pattern clustering of few rows under any privacy rules, by every way to
 * divide each row type among the classes.  On tables of 12 to 60 rows of CMC this found less than mending did in 6 of 18
 * cases, by 17 to 40 % of the cost: under entropy, recursive (c,l) and t-closeness, whose rules no linear program states.
 *
 * Row types come one after the other; the rows of each go to the classes that take them,
 * cheapest first.  A branch ends where
 *     its cost, and for each row left its cheapest class that may still be used, is too high;
 *     a class that is used can no longer have k rows;
 *     a class has all rows that it will ever have, and they break a rule.
 */

typedef struct Places
{
	Clusters *c;
	uint32_t *left; /* [npatterns] classes that a pattern may still have */
	int64_t *rows;  /* [nf] rows of each class so far */
	int64_t *count; /* [pairs] rows of each type in each class */
	int64_t *best;  /* [pairs] those of the cheapest release so far */
	IlpList used;   /* classes that have rows */
	double cost;
	double cutoff; /* what costs more does not count */
	bool found;
	int64_t nodes;
	bool ended; /* by its work: nothing is proven */
} Places;

static bool
may_use(const Places *s, uint32_t f)
{
	return s->rows[f] > 0 || s->left[s->c->group[f]] > 0;
}

/* No release costs less that goes on from here: `rows` of a type go to classes from `option` on, then come others. */
static double
least_from(const Places *s, uint32_t type, size_t option, int64_t rows)
{
	const IlpModel *model = &s->c->model;
	double sum = s->cost;

	for (uint32_t i = type; i < model->m; i++)
	{
		size_t o = i == type ? option : model->opt_start[i];

		while (o < model->opt_start[i + 1] && !may_use(s, model->opt[o]))
			o++;
		if (o == model->opt_start[i + 1])
			return INFINITY;
		sum += (double) (i == type ? rows : model->n[i]) * model->w[model->opt[o]];
	}
	return sum;
}

/* Can every class that is used still have k rows? */
static bool
may_fill(const Places *s, uint32_t type, int64_t rows)
{
	const IlpModel *model = &s->c->model;

	for (size_t j = 0; j < s->used.n; j++)
	{
		uint32_t f = s->used.v[j];
		int64_t most = s->rows[f];

		for (size_t p = model->start[f + 1]; p > model->start[f] && model->type[p - 1] >= type; p--)
			most += model->type[p - 1] == type ? rows : model->n[model->type[p - 1]];
		if (most < model->k)
			return false;
	}
	return true;
}

/* Do the classes that no later type goes to keep the rules? */
static bool
keep_rules(const Places *s, uint32_t type)
{
	const IlpModel *model = &s->c->model;

	for (size_t j = 0; j < s->used.n; j++)
	{
		uint32_t f = s->used.v[j];
		size_t from = model->start[f];
		size_t n = model->start[f + 1] - from;

		if (model->type[from + n - 1] == type &&
			!kanon_class_allowed(s->c->problem, model->type + from, s->count + from, n, s->rows[f]))
			return false;
	}
	return true;
}

/* So many rows of the type more are in the class, or fewer. */
static bool
put(Places *s, uint32_t type, uint32_t f, int64_t rows)
{
	const IlpModel *model = &s->c->model;
	size_t p = model->start[f];
	bool was_used = s->rows[f] > 0;

	while (model->type[p] != type)
		p++;
	s->count[p] += rows;
	s->rows[f] += rows;
	s->cost += (double) rows * model->w[f];
	if (s->rows[f] == 0 && was_used)
	{
		s->left[s->c->group[f]]++;
		s->used.n--; /* it was the last that came */
	}
	else if (!was_used && s->rows[f] > 0)
	{
		s->left[s->c->group[f]]--;
		return ilp_list_add(model->env, &s->used, f);
	}
	return true;
}

/* One class of all rows. */
static void
take_best(Places *s)
{
	const IlpModel *model = &s->c->model;

	for (size_t p = 0; p < model->start[model->nf]; p++)
		s->best[p] = s->count[p];
	s->found = true;
	s->cutoff = ilp_cutoff(model, s->cost);
	s->c->result.cost = s->cost;
}

/* `rows` of the type go to classes from `option` on, then come others: no deeper than there are rows and types. */
static KanonStatus
place(Places *s, uint32_t type, size_t option, int64_t rows)
{
	const IlpModel *model = &s->c->model;
	KanonPace *pace = &s->c->pace;
	KanonStatus status = KANON_OK;
	double cost = s->cost;

	if (rows == 0)
	{
		if (!keep_rules(s, type))
			return KANON_OK;
		if (type + 1 < model->m)
			return place(s, type + 1, model->opt_start[type + 1], model->n[type + 1]);
		take_best(s);
		return KANON_OK;
	}
	for (; status == KANON_OK && !pace->late && !s->ended; option++)
	{
		double least = least_from(s, type, option, rows);
		uint32_t f;

		s->c->nodes++;
		s->ended = ++s->nodes >= KANON_CLUSTERING_NODES;
		if (kanon_step(pace, model->m + 8 * s->used.n))
			return KANON_CANCELLED;
		if (least == INFINITY || least > s->cutoff || !may_fill(s, type, rows))
			return KANON_OK;
		while (!may_use(s, model->opt[option]))
			option++;
		f = model->opt[option];
		for (int64_t n = rows; n > 0 && status == KANON_OK && !pace->late && !s->ended; n--)
		{
			if (!put(s, type, f, n))
				return KANON_NO_MEMORY;
			status = place(s, type, option + 1, rows - n);
			put(s, type, f, -n);
			s->cost = cost;
		}
	}
	return status;
}

bool
clusters_few(const KanonProblem *problem)
{
	int64_t rows = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (problem->rows[i] > KANON_CLUSTERING_ROWS || (rows += problem->rows[i]) > KANON_CLUSTERING_ROWS)
			return false;
	return problem->ntypes > 0 && kanon_mask_count(problem, KANON_CLUSTERING_PATTERNS) >= 0;
}

bool
kanon_clustering_proves(const KanonProblem *problem)
{
	int64_t most = KANON_CLUSTERING_PAIRS / (problem->ntypes > 0 ? problem->ntypes : 1);

	return problem->privacy == NULL || clusters_few(problem) ||
		   (ilp_privacy_takes(problem) && kanon_mask_count(problem, most) >= 0);
}

KanonStatus
clusters_place(Clusters *c, double *bound)
{
	KanonEnv *env = c->problem->env;
	const IlpModel *model = &c->model;
	KanonScratch scratch = {.env = env};
	size_t pairs = model->start[model->nf];
	size_t whole = c->instances.start[c->instances.n] + c->problem->ntypes;
	Places s = {.c = c, .cutoff = clusters_cutoff(c)};
	KanonStatus status = ilp_model_transpose(&c->model, &c->pace);

	s.left = kanon_take(&scratch, c->npatterns, sizeof(*s.left));
	s.rows = kanon_take0(&scratch, model->nf, sizeof(*s.rows));
	s.count = kanon_take0(&scratch, pairs, sizeof(*s.count));
	s.best = kanon_take0(&scratch, whole, sizeof(*s.best));
	if (status == KANON_OK)
		status = kanon_taken(&scratch);
	for (size_t p = 0; p < c->npatterns && status == KANON_OK; p++)
		s.left[p] = c->limit[p];
	if (status == KANON_OK)
		status = place(&s, 0, model->opt_start[0], model->n[0]);
	if (status == KANON_OK && kanon_privacy_failed(c->problem->privacy))
		status = KANON_NO_MEMORY;
	if (status == KANON_OK && s.found)
	{
		kanon_release_free(c->problem, &c->result.release);
		status = kanon_pairs_release(c->problem, &c->instances, s.best, true, &c->result.release);
	}
	if (status == KANON_OK && !c->pace.late && !s.ended)
		*bound = c->result.cost;
	kanon_free(env, s.used.v);
	kanon_scratch_free(&scratch);
	return status;
}
