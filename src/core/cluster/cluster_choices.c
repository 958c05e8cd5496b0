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
