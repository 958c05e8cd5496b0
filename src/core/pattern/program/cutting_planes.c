/*
 * cutting_planes.c: cutting planes of the model in program_model.h.
 *
 * For a set T of row types with n(T) rows, and any set F of instances, the
 * classes of F take from T at least k u_f - x_f(outside T) rows each:
 *     sum_F (k u_f - x_f(outside T)) <= n(T).
 * Dividing by k and rounding (G. Nemhauser, L. Wolsey, "A recursive procedure to
 * generate all cuts for 0-1 mixed integer programs", 1990) gives, with
 * r = n(T) mod k > 0,
 *     sum_F ((k - r) u_f - x_f(outside T)) <= (k - r) floor(n(T) / k).
 * With k = 2 and instances within T these are the blossom inequalities of
 * matching.  Given T, the best F is plain: the instances whose term is positive.
 * T grows from the rows of one fractional class, greedily.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/program_model.h"
#include "util/scratch.h"

/* Sets are grown by so many types. */
#define STEPS 40

/* Fractional classes to begin with, and the violation that counts. */
#define FRACTION 0.001
#define VIOLATION 1e-3

/* Sums kept while a set grows, by the rows that it has beyond a multiple of k. */
#define SUMS 64

typedef struct Share
{
	uint32_t f;
	double x;
} Share;

typedef struct Separation
{
	KanonScratch scratch;
	const IlpModel *model;
	KanonPace *pace;
	const double *u;
	const double *x;
	/* the pairs in use, by type and by instance */
	size_t *by_type; /* [m + 2] into share */
	Share *share;
	size_t *by_instance; /* [nf + 1] into type */
	uint32_t *type;
	/* the set T */
	uint32_t *set; /* [m] */
	uint32_t nset;
	int64_t rows;
	uint32_t *member; /* [m] stamp of the set that it is in */
	uint32_t stamp;
	uint32_t *tried; /* [m] stamp of the step that looked at it */
	uint32_t step;
	/* the instances that use T */
	uint32_t *user; /* [nf] */
	uint32_t nusers;
	uint32_t *used;  /* [nf] stamp */
	double *outside; /* [nf] x_f outside T */
	/* sums over them, for a number of missing rows */
	int64_t sum_for[SUMS];
	uint32_t sum_step[SUMS];
	double sum[SUMS];
	uint32_t *best; /* [m] */
} Separation;

static bool
separation_alloc(Separation *s)
{
	const IlpModel *model = s->model;
	KanonScratch *scratch = &s->scratch;
	size_t pairs = model->start[model->nf];

	s->by_type = kanon_take0(scratch, (size_t) model->m + 2, sizeof(*s->by_type));
	s->share = kanon_take(scratch, pairs, sizeof(*s->share));
	s->by_instance = kanon_take(scratch, (size_t) model->nf + 1, sizeof(*s->by_instance));
	s->type = kanon_take(scratch, pairs, sizeof(*s->type));
	s->set = kanon_take(scratch, model->m, sizeof(*s->set));
	s->member = kanon_take0(scratch, model->m, sizeof(*s->member));
	s->tried = kanon_take0(scratch, model->m, sizeof(*s->tried));
	s->user = kanon_take(scratch, model->nf, sizeof(*s->user));
	s->used = kanon_take0(scratch, model->nf, sizeof(*s->used));
	s->outside = kanon_take(scratch, model->nf, sizeof(*s->outside));
	s->best = kanon_take(scratch, model->m, sizeof(*s->best));
	return !scratch->failed;
}

/* The pairs that the solution uses; by_type begins one further, until it is filled. */
static void
list_shares(Separation *s)
{
	const IlpModel *model = s->model;
	size_t n = 0;

	for (uint32_t f = 0; f < model->nf; f++)
	{
		s->by_instance[f] = n;
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			if (s->x[p] > ILP_EPS)
			{
				s->type[n++] = model->type[p];
				s->by_type[model->type[p] + 2]++;
			}
	}
	s->by_instance[model->nf] = n;
	for (uint32_t i = 2; i <= model->m; i++)
		s->by_type[i] += s->by_type[i - 1];
	for (uint32_t f = 0; f < model->nf; f++)
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			if (s->x[p] > ILP_EPS)
				s->share[s->by_type[model->type[p] + 1]++] = (Share){f, s->x[p]};
}

static int64_t
missing_rows(const Separation *s, int64_t rows)
{
	return s->model->k - rows % s->model->k;
}

static void
add_type(Separation *s, uint32_t i)
{
	s->member[i] = s->stamp;
	s->set[s->nset++] = i;
	s->rows += s->model->n[i];
	for (size_t p = s->by_type[i]; p < s->by_type[i + 1]; p++)
	{
		uint32_t f = s->share[p].f;

		if (s->used[f] != s->stamp)
		{
			s->used[f] = s->stamp;
			s->user[s->nusers++] = f;
			s->outside[f] = 0;
			for (size_t q = s->model->start[f]; q < s->model->start[f + 1]; q++)
				s->outside[f] += s->x[q];
		}
		s->outside[f] -= s->share[p].x;
	}
}

/* sum over f of max(0, u_f - x_f(outside T) / missing). */
static double
sum_users(Separation *s, int64_t missing)
{
	int at = (int) (missing % SUMS);

	if (s->sum_step[at] != s->step || s->sum_for[at] != missing)
	{
		s->sum_step[at] = s->step;
		s->sum_for[at] = missing;
		s->sum[at] = 0;
		for (uint32_t j = 0; j < s->nusers; j++)
			s->sum[at] += kanon_max(0, s->u[s->user[j]] - s->outside[s->user[j]] / (double) missing);
		s->pace->work += s->nusers;
	}
	return s->sum[at];
}

/* How much the solution violates the cut of T, and of T with type i. */
static double
violation(Separation *s)
{
	if (s->rows % s->model->k == 0)
		return -INFINITY;
	return sum_users(s, missing_rows(s, s->rows)) - (double) (s->rows / s->model->k);
}

static double
violation_with(Separation *s, uint32_t i)
{
	int64_t rows = s->rows + s->model->n[i];
	int64_t missing = missing_rows(s, rows);
	double sum;

	if (rows % s->model->k == 0)
		return -INFINITY;
	sum = sum_users(s, missing) - (double) (rows / s->model->k);
	for (size_t p = s->by_type[i]; p < s->by_type[i + 1]; p++)
	{
		uint32_t f = s->share[p].f;
		double before;

		/* not a user yet: most of its rows are outside */
		if (s->used[f] != s->stamp)
			continue;
		before = s->u[f] - s->outside[f] / (double) missing;
		sum += kanon_max(0, before + s->share[p].x / (double) missing) - kanon_max(0, before);
	}
	s->pace->work += (int64_t) (s->by_type[i + 1] - s->by_type[i]) + 4;
	return sum;
}

/* The type that fits best: of those in a class with rows in T. */
static uint32_t
best_type(Separation *s)
{
	double most = -INFINITY;
	uint32_t type = UINT32_MAX;

	for (uint32_t j = 0; j < s->nusers; j++)
	{
		uint32_t f = s->user[j];

		if (s->outside[f] < ILP_EPS)
			continue;
		for (size_t p = s->by_instance[f]; p < s->by_instance[f + 1]; p++)
		{
			uint32_t i = s->type[p];
			double value;

			if (s->member[i] == s->stamp || s->tried[i] == s->step)
				continue;
			s->tried[i] = s->step;
			value = violation_with(s, i);
			if (value > most)
			{
				most = value;
				type = i;
			}
		}
	}
	return type;
}

/* The most violated cut on the way from the rows of f; types into s->best. */
static uint32_t
grow(Separation *s, uint32_t f)
{
	double most = VIOLATION;
	uint32_t nbest = 0;

	s->stamp++;
	s->nset = 0;
	s->nusers = 0;
	s->rows = 0;
	for (size_t p = s->by_instance[f]; p < s->by_instance[f + 1]; p++)
		add_type(s, s->type[p]);
	for (int n = 0; n < STEPS; n++)
	{
		uint32_t i;
		double value;

		s->step++;
		value = violation(s);
		if (value > most + 1e-6)
		{
			most = value;
			nbest = s->nset;
			memcpy(s->best, s->set, nbest * sizeof(*s->best));
		}
		i = best_type(s);
		if (i == UINT32_MAX)
			break;
		add_type(s, i);
	}
	return nbest;
}

/* Has the same set been found?  Its members have the stamp. */
static bool
is_known(const Separation *s, const IlpCuts *cuts, uint32_t n, int64_t rows)
{
	for (size_t c = 0; c < cuts->n; c++)
	{
		const IlpCut *cut = &cuts->cut[c];
		bool same = cut->ntypes == n && cut->rows == rows;

		for (uint32_t j = 0; j < n && same; j++)
			same = s->member[cuts->number.v[cut->start + j]] == s->stamp;
		if (same)
			return true;
	}
	return false;
}

/* The cut of the set s->best. */
static bool
add_cut(Separation *s, uint32_t n, IlpCuts *cuts)
{
	const IlpModel *model = s->model;
	KanonEnv *env = model->env;
	IlpCut *cut;
	int64_t rows = 0;
	int64_t missing;

	s->stamp++;
	for (uint32_t j = 0; j < n; j++)
	{
		s->member[s->best[j]] = s->stamp;
		rows += model->n[s->best[j]];
	}
	if (is_known(s, cuts, n, rows))
		return true;
	if (!kanon_enlarge(env, &cuts->cut, &cuts->room, cuts->n + 1, sizeof(IlpCut)))
		return false;
	missing = missing_rows(s, rows);
	cut = &cuts->cut[cuts->n++];
	*cut = (IlpCut){
		.start = cuts->number.n, .ntypes = n, .rows = rows, .missing = missing, .classes = rows / model->k};
	for (uint32_t j = 0; j < n; j++)
		if (!ilp_list_add(env, &cuts->number, s->best[j]))
			return false;
	for (uint32_t f = 0; f < model->nf; f++)
	{
		double out = 0;
		int64_t most = 0;

		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			if (s->member[model->type[p]] != s->stamp)
			{
				out += s->x[p];
				most += model->n[model->type[p]];
			}
		/* a term that is never negative belongs to the cut, whatever the solution */
		if (most < missing || s->u[f] - out / (double) missing > ILP_EPS)
		{
			if (!ilp_list_add(env, &cuts->number, f))
				return false;
			cut->ninstances++;
		}
	}
	s->pace->work += (int64_t) model->start[model->nf];
	return true;
}

KanonStatus
ilp_cuts_find(const IlpModel *model, const double *u, const double *x, IlpCuts *cuts, KanonPace *pace)
{
	Separation s = {.scratch = {.env = model->env}, .model = model, .pace = pace, .u = u, .x = x};
	KanonStatus status = separation_alloc(&s) ? KANON_OK : KANON_NO_MEMORY;

	cuts->n = 0;
	cuts->number.n = 0;
	if (status == KANON_OK)
		list_shares(&s);
	for (uint32_t f = 0; f < model->nf && status == KANON_OK; f++)
	{
		uint32_t n;

		if (u[f] < FRACTION || u[f] > 1 - FRACTION)
			continue;
		n = grow(&s, f);
		if (n > 0 && !add_cut(&s, n, cuts))
			status = KANON_NO_MEMORY;
		else if (kanon_step(pace, 100))
			status = KANON_CANCELLED;
	}
	kanon_scratch_free(&s.scratch);
	return status;
}

void
ilp_cuts_free(KanonEnv *env, IlpCuts *cuts)
{
	kanon_free(env, cuts->cut);
	kanon_free(env, cuts->number.v);
	memset(cuts, 0, sizeof(*cuts));
}
