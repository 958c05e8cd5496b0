/*
 * tighten.c: a bound above that of the linear relaxation, by cuts that are relaxed, too.
 *
 * A cut of cutting_planes.c, of a set T of row types with `missing` = k - n(T) mod k,
 *     sum_F (u_f - x_f(outside T) / missing) <= floor(n(T) / k),
 * has a price nu >= 0, as a row has its y.  An instance of F pays nu to open and gets
 * nu / missing back for each row that is not of T; it still decides alone:
 *     L(y, nu) = sum_i n_i y_i - sum_cuts nu floor(n(T) / k) + sum_f min(0, g_f(y, nu))
 * is a lower bound whatever y, nu, T and F are; each instance may even be in F or not as
 * suits the bound.
 *
 * Cuts are found for a solution of the relaxation, which subgradient steps do not give: the
 * volume algorithm does, whose steps go along the average of what the subproblems choose (F.
 * Barahona, R. Anbil, "The volume algorithm: producing primal solutions with a subgradient
 * method", Math.  Program. 87, 2000).  The cuts that it violates are priced from there on:
 * relax and cut (A. Lucena, "Non delayed relax-and-cut algorithms", Ann.  Oper.  Res. 140,
 * 2005).  All on what matters around the prices (box.c); what counts is L of the whole.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/bound.h"

/* How far prices may go, in units of the largest difference of two costs. */
#define REACH 0.1

/* Steps between two searches for cuts, and between two looks at what is active. */
#define STEPS 300
#define BLOCK 50

/* Where steps aim at: so far from the bound to the best cost known. */
#define AIM 0.5

/* Length of a step, and share of its solution in the average: at first, after new cuts, at least. */
#define LENGTH 0.1
#define LENGTH_AGAIN 0.05
#define LEAST_LENGTH 1e-4
#define SHARE 0.1
#define SHARE_AGAIN 0.05
#define LEAST_SHARE 0.01

/* Steps without a better bound, after which they are shorter. */
#define PATIENCE 10

/* A round that gains less than this part of the gap is one of the last. */
#define GAINING 0.001
#define IDLE 3

/* Instances less open than this, and rows fewer, are noise of the average. */
#define OPEN 0.02
#define ROWS 1e-3

static bool
take_memory(Tight *t)
{
	const IlpModel *model = t->model;
	KanonScratch *s = &t->scratch;
	size_t m = model->m;
	size_t nf = model->nf;
	size_t pairs = model->start[nf];

	t->y = kanon_take(s, m, sizeof(*t->y));
	t->trial = kanon_take(s, m, sizeof(*t->trial));
	t->slack = kanon_take0(s, m, sizeof(*t->slack));
	t->now = kanon_take(s, m, sizeof(*t->now));
	t->g = kanon_take(s, nf, sizeof(*t->g));
	t->whole_g = kanon_take(s, t->whole->nf, sizeof(*t->whole_g));
	t->open = kanon_take(s, nf, sizeof(*t->open));
	t->rows = kanon_take(s, pairs, sizeof(*t->rows));
	t->taken = kanon_take(s, pairs, sizeof(*t->taken));
	t->u = kanon_take0(s, nf, sizeof(*t->u));
	t->x = kanon_take0(s, pairs, sizeof(*t->x));
	t->active = kanon_take(s, nf, sizeof(*t->active));
	t->cuts.first = kanon_take0(s, nf + 1, sizeof(*t->cuts.first));
	t->part_of = kanon_take(s, t->whole->nf, sizeof(*t->part_of));
	t->cand = kanon_take(s, m, sizeof(*t->cand));
	t->at = kanon_take(s, m, sizeof(*t->at));
	t->stamp = kanon_take0(s, m, sizeof(*t->stamp));
	t->seen = kanon_take0(s, nf, sizeof(*t->seen));
	t->users = kanon_take(s, pairs, sizeof(*t->users));
	return !s->failed;
}

/* ---- steps ---- */

/* The average goes that share of the way to the solution at hand. */
static void
average(Tight *t, double share)
{
	t->scale *= 1 - share;
	if (t->scale < 1e-60)
	{
		for (uint32_t f = 0; f < t->model->nf; f++)
			t->u[f] *= t->scale;
		for (size_t p = 0; p < t->model->start[t->model->nf]; p++)
			t->x[p] *= t->scale;
		t->scale = 1;
	}
	for (uint32_t o = 0; o < t->nopen; o++)
		t->u[t->open[o]] += share / t->scale;
	for (size_t j = 0; j < t->ntaken; j++)
		t->x[t->taken[j]] += share / t->scale * t->rows[t->taken[j]];
	for (uint32_t i = 0; i < t->model->m; i++)
		t->slack[i] += share * (t->now[i] - t->slack[i]);
	for (size_t c = 0; c < t->cuts.n; c++)
		t->cuts.cut[c].excess += share * (t->cuts.cut[c].now - t->cuts.cut[c].excess);
	t->pace->work += (int64_t) t->ntaken + t->model->m;
}

/* How far a price can follow: 0 where it is at its limit. */
static double
follow(double slack, double price, double low, double high)
{
	return (slack > 0 && price >= high) || (slack < 0 && price <= low) ? 0 : slack;
}

/* Products of what the average solution leaves, and of what the one at hand does. */
static void
compare_slacks(const Tight *t, double *old_old, double *old_new, double *new_new)
{
	*old_old = *old_new = *new_new = 0;
	for (uint32_t i = 0; i < t->model->m; i++)
	{
		double n = (double) t->model->n[i];
		double old = follow(t->slack[i], t->y[i], t->box->low[i], t->box->high[i]);
		double new = follow(t->now[i], t->y[i], t->box->low[i], t->box->high[i]);

		*old_old += old * old / n;
		*old_new += old * new / n;
		*new_new += new *new / n;
	}
	for (size_t c = 0; c < t->cuts.n; c++)
	{
		double old = follow(t->cuts.cut[c].excess, t->cuts.cut[c].nu, 0, INFINITY);
		double new = follow(t->cuts.cut[c].now, t->cuts.cut[c].nu, 0, INFINITY);

		*old_old += old * old;
		*old_new += old * new;
		*new_new += new *new;
	}
}

/* One step from the best prices; *better: to better ones. */
static KanonStatus
step(Tight *t, double norm, bool *better)
{
	double far = t->length * fmax(t->aim - t->best, 1e-4 * fabs(t->aim)) / norm;
	double value;
	double old_old, old_new, new_new;
	double share;
	KanonStatus status;

	for (uint32_t i = 0; i < t->model->m; i++)
		t->trial[i] = fmax(t->box->low[i],
						   fmin(t->box->high[i], t->y[i] + far * t->slack[i] / (double) t->model->n[i]));
	for (size_t c = 0; c < t->cuts.n; c++)
		t->cuts.cut[c].trial = fmax(0, t->cuts.cut[c].nu + far * t->cuts.cut[c].excess);
	status = tight_try(t, &value);
	if (status != KANON_OK)
		return status;
	/* the average that leaves least, but not far from the one before */
	compare_slacks(t, &old_old, &old_new, &new_new);
	share = (old_old - old_new) / fmax(old_old - 2 * old_new + new_new, 1e-12);
	average(t, fmax(t->share / 10, fmin(t->share, share)));
	*better = value > t->best + 1e-7 * fabs(t->best);
	if (value > t->best)
	{
		double *swap = t->y;

		t->best = value;
		t->y = t->trial;
		t->trial = swap;
		for (size_t c = 0; c < t->cuts.n; c++)
			t->cuts.cut[c].nu = t->cuts.cut[c].trial;
		if (old_new > 0)
			t->length = fmin(1.1 * t->length, 2);
	}
	return KANON_OK;
}

/* The volume algorithm, from the best prices. */
static KanonStatus
run_steps(Tight *t)
{
	int worse = 0;
	double before = t->best;

	for (int s = 1; s <= STEPS && !t->pace->late && kanon_worked(t->pace) < t->work_end; s++)
	{
		bool better = false;
		double norm, unused, also_unused;
		KanonStatus status;

		compare_slacks(t, &norm, &unused, &also_unused);
		if (norm < 1e-12)
			break;
		status = step(t, norm, &better);
		if (status != KANON_OK)
			return status;
		worse = better ? 0 : worse + 1;
		if (worse == PATIENCE)
		{
			worse = 0;
			t->length = fmax(0.7 * t->length, LEAST_LENGTH);
		}
		if (s % BLOCK == 0)
		{
			status = tight_activate(t);
			if (status != KANON_OK)
				return status;
			if (t->best < before + 0.001 * (t->aim - before))
				t->share = fmax(t->share / 2, LEAST_SHARE);
			before = t->best;
		}
	}
	return KANON_OK;
}

/* ---- cuts ---- */

/* The cuts that the average solution violates join those that have a price. */
static KanonStatus
separate(Tight *t)
{
	const IlpModel *model = t->model;
	KanonEnv *env = model->env;
	IlpCuts found = {0};
	double *u = kanon_alloc0(env, model->nf, sizeof(*u));
	double *x = kanon_alloc0(env, model->start[model->nf], sizeof(*x));
	size_t kept = 0;
	KanonStatus status = u == NULL || x == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (size_t c = 0; c < t->cuts.n; c++)
		if (t->cuts.cut[c].nu > 0)
			t->cuts.cut[kept++] = t->cuts.cut[c];
	t->cuts.n = kept;
	for (uint32_t f = 0; f < model->nf && status == KANON_OK; f++)
		if (t->u[f] * t->scale >= OPEN)
		{
			u[f] = fmin(1, t->u[f] * t->scale);
			for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
				x[p] = t->x[p] * t->scale >= ROWS ? t->x[p] * t->scale : 0;
		}
	if (status == KANON_OK)
		status = ilp_cuts_find(model, u, x, &found, t->pace);
	for (size_t c = 0; c < found.n && status == KANON_OK; c++)
	{
		const IlpCut *cut = &found.cut[c];

		if (!KANON_GROW(&t->scratch, &t->cuts.room, t->cuts.n + 1, KANON_ARRAY(t->cuts.cut)) ||
			!KANON_GROW(&t->scratch, &t->cuts.type_room, t->cuts.ntypes + cut->ntypes,
						KANON_ARRAY(t->cuts.types)))
		{
			status = KANON_NO_MEMORY;
			break;
		}
		memcpy(t->cuts.types + t->cuts.ntypes, found.number.v + cut->start,
			   cut->ntypes * sizeof(*t->cuts.types));
		t->cuts.cut[t->cuts.n++] = (Cut){.start = t->cuts.ntypes,
										 .ntypes = cut->ntypes,
										 .missing = (double) cut->missing,
										 .classes = (double) cut->classes};
		t->cuts.ntypes += cut->ntypes;
	}
	ilp_cuts_free(env, &found);
	kanon_free(env, u);
	kanon_free(env, x);
	return status;
}

/* The instances of a cut: those that add to its violation by the average. */
static KanonStatus
choose_members(Tight *t, uint32_t c)
{
	const IlpModel *model = t->model;
	Cut *cut = &t->cuts.cut[c];
	size_t nusers = 0;

	t->asked++;
	cut->excess = -cut->classes;
	for (uint32_t j = 0; j < cut->ntypes; j++)
	{
		uint32_t i = t->cuts.types[cut->start + j];

		t->stamp[i] = t->asked;
		for (size_t o = model->opt_start[i]; o < model->opt_start[i + 1]; o++)
		{
			uint32_t f = model->opt[o];

			if (t->seen[f] == t->asked || t->u[f] * t->scale < ILP_EPS)
				continue;
			t->seen[f] = t->asked;
			t->users[nusers++] = f;
		}
		t->pace->work += (int64_t) (model->opt_start[i + 1] - model->opt_start[i]);
	}
	for (size_t j = 0; j < nusers; j++)
	{
		uint32_t f = t->users[j];
		double term = t->u[f];

		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			if (t->stamp[model->type[p]] != t->asked)
				term -= t->x[p] / cut->missing;
		if (kanon_step(t->pace, (int64_t) (model->start[f + 1] - model->start[f])))
			return KANON_CANCELLED;
		if (term <= 0)
			continue;
		cut->excess += term * t->scale;
		if (!KANON_GROW(&t->scratch, &t->cuts.member_room, t->cuts.nmembers + 1, KANON_ARRAY(t->cuts.member)))
			return KANON_NO_MEMORY;
		t->cuts.member[t->cuts.nmembers++] = (Member){f, c};
	}
	return KANON_OK;
}

/* The cuts of each instance, from the members of each cut. */
static KanonStatus
list_cuts(Tight *t)
{
	const IlpModel *model = t->model;

	if (!KANON_GROW(&t->scratch, &t->cuts.of_room, t->cuts.nmembers + 1, KANON_ARRAY(t->cuts.of)))
		return KANON_NO_MEMORY;
	memset(t->cuts.first, 0, ((size_t) model->nf + 1) * sizeof(*t->cuts.first));
	for (size_t j = 0; j < t->cuts.nmembers; j++)
		t->cuts.first[t->cuts.member[j].f]++;
	for (uint32_t f = 0; f < model->nf; f++)
		t->cuts.first[f + 1] += t->cuts.first[f];
	for (size_t j = t->cuts.nmembers; j-- > 0;)
		t->cuts.of[--t->cuts.first[t->cuts.member[j].f]] = t->cuts.member[j].cut;
	return KANON_OK;
}

/* New cuts, and who is in which: L changes with that. */
static KanonStatus
add_cuts(Tight *t)
{
	KanonStatus status = separate(t);

	t->cuts.nmembers = 0;
	for (uint32_t c = 0; c < t->cuts.n && status == KANON_OK; c++)
		status = choose_members(t, c);
	if (status == KANON_OK)
		status = list_cuts(t);
	t->length = fmax(t->length, LENGTH_AGAIN);
	t->share = fmax(t->share, SHARE_AGAIN);
	return status == KANON_OK ? tight_activate(t) : status;
}

/* ---- all of it ---- */

static KanonStatus
run(Tight *t, double upper, int64_t work, IlpPrices *prices)
{
	int64_t begin = kanon_worked(t->pace);
	double before = prices->bound;
	double value;
	int idle = 0;
	KanonStatus status;

	t->work_end = begin + work;
	memset(t->part_of, 0xff, t->whole->nf * sizeof(*t->part_of));
	for (uint32_t f = 0; f < t->model->nf; f++)
		t->part_of[t->model->id[f]] = f;
	memcpy(t->y, prices->y, t->model->m * sizeof(*t->y));
	memcpy(t->trial, prices->y, t->model->m * sizeof(*t->trial));
	status = list_cuts(t); /* none yet */
	if (status == KANON_OK)
		status = tight_activate(t);
	if (status == KANON_OK)
		status = tight_try(t, &value);
	if (status == KANON_OK)
		average(t, 1);
	while (status == KANON_OK && idle < IDLE && !t->pace->late && kanon_worked(t->pace) < t->work_end &&
		   ilp_round_up(t->whole, prices->bound) < upper - ILP_EPS)
	{
		t->aim = t->best + AIM * (upper - t->best);
		status = run_steps(t);
		if (status == KANON_OK)
			status = tight_prove(t, prices);
		idle = prices->bound > before + GAINING * (upper - before) ? 0 : idle + 1;
		before = prices->bound;
		kanon_pace_done(t->pace, (double) (kanon_worked(t->pace) - begin) / (double) work);
		if (status == KANON_OK && idle < IDLE && !t->pace->late && kanon_worked(t->pace) < t->work_end)
			status = add_cuts(t);
	}
	return status;
}

KanonStatus
ilp_tighten(const IlpModel *model, const IlpBox *within, double upper, int64_t work, IlpPrices *prices,
			KanonPace *pace)
{
	KanonEnv *env = model->env;
	IlpBox box = {0};
	IlpModel part = {.env = env};
	Tight t = {.scratch = {.env = env},
			   .whole = model,
			   .model = &part,
			   .box = &box,
			   .pace = pace,
			   .length = LENGTH,
			   .share = SHARE,
			   .scale = 1};
	KanonStatus status = ilp_box_around(model, prices->y, REACH * ilp_cost_range(model), &box);

	for (uint32_t i = 0; i < model->m && status == KANON_OK && within != NULL; i++)
	{
		box.low[i] = fmax(box.low[i], within->low[i]);
		box.high[i] = fmin(box.high[i], within->high[i]);
	}
	if (status == KANON_OK)
		status = ilp_box_model(model, &box, &part, pace);
	if (status == KANON_OK)
		status = ilp_model_transpose(&part, pace);
	if (status == KANON_OK)
		status = take_memory(&t) ? run(&t, upper, work, prices) : KANON_NO_MEMORY;
	kanon_scratch_free(&t.scratch);
	ilp_model_free(&part);
	ilp_box_free(env, &box);
	/* for want of memory the bound is as good as it is */
	return status == KANON_NO_MEMORY ? KANON_OK : status;
}
