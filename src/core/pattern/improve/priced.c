/*
 * priced.c: the instances that a large table's prices ask for.
 *
 * Few of hundreds of millions of pairs matter: an instance opens only where k of its
 * rows would pay more than it costs.  So nothing is stored before prices have been
 * asked: those of a release that is there (what each row costs in it) begin, all
 * instances are enumerated, and only those stay that some prices in a box around these
 * can open, with the rows that they would take then (bound.c).  On what stays the
 * Lagrangian bound is that of the whole program, at all prices in the box; it leads to
 * better prices, and these to a narrower box: column generation with the box of R.
 * Marsten, W. Hogan, J. Blankenship, "The boxstep method for large-scale
 * optimization", Operations Research 23, 1975.
 */
#include <math.h>
#include <string.h>

#include "pattern/improve/improve.h"

/*
 * How far prices may go, in units of the largest difference of two costs: in the first
 * round, and in those that follow while the bound rises by more than GAINING of itself.
 * The pairs that the last round leaves are listed once more, for the search.
 */
#define FIRST_REACH 0.09
#define REACH 0.035
#define GAINING 0.0002
#define ROUNDS 12

/*
 * The aim of steps: so much below the cost of the release in the first round, then so
 * far from the bound to that cost.  With the cost itself, from which the best bound is
 * far, they are too long.
 */
#define FIRST_AIM 0.05
#define AIM 0.15
#define LEAST_AIM 2 /* of whole costs: a bound is rounded up */

/* Steps in a round. */
#define STEPS 60

/* How far they may go in what the search has, and where cuts are priced, too. */
#define LAST_REACH 0.035

/* Rows that an instance then lists for the search, by k. */
#define LISTED 4

/* The reach is halved so often when its instances are too many. */
#define NARROWER 4

/* The share of the time for listing; the search has the rest. */
#define TIME_SHARE 0.5
#define LISTINGS_LEFT 4

typedef struct Sieve
{
	const IlpModel *model;
	const IlpBox *box;
	int64_t rows;       /* that an instance that can open lists, at least: its dearest */
	double highest;     /* price of all */
	IlpCandidate *cand; /* [m] */
	KanonPace *pace;
} Sieve;

static uint32_t
sift(void *arg, double cost, const uint32_t *types, uint32_t ntypes, uint32_t *kept)
{
	Sieve *sieve = arg;

	if (cost >= sieve->highest)
		return 0;
	(void) kanon_step(sieve->pace, ntypes);
	return ilp_box_sift(sieve->model, sieve->box, cost, sieve->rows, types, ntypes, sieve->cand, kept);
}

/* The state after the rounds. */
typedef struct Priced
{
	KanonInstances instances;
	IlpModel model;
	IlpPrices prices;
	IlpBox box;    /* where the model has the L of the whole program */
	double narrow; /* what the reach was multiplied by, that they are not too many */
	double listed; /* seconds that their listing took; 0: nobody counts */
} Priced;

static void
priced_free(KanonEnv *env, Priced *priced)
{
	kanon_instances_free(env, &priced->instances);
	ilp_model_free(&priced->model);
	ilp_prices_free(env, &priced->prices);
	ilp_box_free(env, &priced->box);
}

/* The cost of a row of each type in a release, on average. */
static void
set_prices(const KanonProblem *problem, const KanonInstances *grid, const KanonRelease *release, double *y)
{
	memset(y, 0, problem->ntypes * sizeof(*y));
	for (size_t j = 0; j < release->nflows; j++)
	{
		const KanonFlow *flow = &release->flows[j];
		double cost = flow->class_ == KANON_DROPPED
						  ? grid->all_cost
						  : kanon_instances_cost(problem, grid, release->classes[flow->class_].pattern);

		y[flow->type] += cost * (double) flow->rows / (double) problem->rows[flow->type];
	}
}

/* Appends a release's classes, each with the row types that it has there. */
static KanonStatus
append_classes(const KanonProblem *problem, const KanonRelease *release, KanonInstances *out)
{
	KanonEnv *env = problem->env;
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	size_t n = out->n;
	size_t pairs = out->start[n];
	size_t room[] = {n, n, n + 1, pairs};
	uint32_t *id = kanon_alloc(env, release->nclasses, sizeof(*id));
	KanonStatus status = KANON_NO_MEMORY;

	if (n + release->nclasses > KANON_MAX_TYPES)
		status = KANON_TOO_LARGE;
	else if (id != NULL &&
			 kanon_enlarge(env, &out->pattern, &room[0], n + release->nclasses, sizeof(*out->pattern)) &&
			 kanon_enlarge(env, &out->cost, &room[1], n + release->nclasses, sizeof(*out->cost)) &&
			 kanon_enlarge(env, &out->start, &room[2], n + release->nclasses + 1, sizeof(*out->start)) &&
			 kanon_enlarge(env, &out->type, &room[3], pairs + release->nflows, sizeof(*out->type)))
	{
		for (uint32_t c = 0; c < release->nclasses; c++)
		{
			id[c] = kanon_same(release->classes[c].pattern, all) ? UINT32_MAX : out->n;
			if (id[c] == UINT32_MAX)
				continue;
			out->pattern[out->n] = release->classes[c].pattern;
			out->cost[out->n] = kanon_instances_cost(problem, out, release->classes[c].pattern);
			out->start[++out->n] = 0;
		}
		/* a counting sort: flows of a class come in the order of their types */
		for (size_t j = 0; j < release->nflows; j++)
			if (release->flows[j].class_ != KANON_DROPPED && id[release->flows[j].class_] != UINT32_MAX)
				out->start[id[release->flows[j].class_] + 1]++;
		for (size_t f = n; f < out->n; f++)
			out->start[f + 1] += out->start[f];
		for (size_t f = out->n; f > n; f--)
			out->start[f] = out->start[f - 1];
		for (size_t j = 0; j < release->nflows; j++)
			if (release->flows[j].class_ != KANON_DROPPED && id[release->flows[j].class_] != UINT32_MAX)
				out->type[out->start[id[release->flows[j].class_] + 1]++] = release->flows[j].type;
		status = KANON_OK;
	}
	kanon_free(env, id);
	return status;
}

/* The same in what the rounds have left, and the transpose; the bound stays. */
static KanonStatus
add_classes(const KanonProblem *problem, const KanonRelease *release, Priced *priced, KanonPace *pace)
{
	double bound = priced->prices.bound;
	size_t pairs = priced->model.start[priced->model.nf];
	KanonStatus status = KANON_NO_MEMORY;

	priced->instances.type = kanon_alloc(problem->env, pairs, sizeof(*priced->instances.type));
	if (priced->instances.type != NULL)
	{
		memcpy(priced->instances.type, priced->model.type, pairs * sizeof(*priced->instances.type));
		status = append_classes(problem, release, &priced->instances);
	}
	ilp_model_free(&priced->model);
	kanon_free(problem->env, priced->prices.g);
	priced->prices.g = NULL;
	if (status == KANON_OK)
		status = ilp_model_build(problem, &priced->instances, false, pace, &priced->model);
	if (status == KANON_OK)
		status = ilp_model_transpose(&priced->model, pace);
	if (status == KANON_OK)
		status = ilp_price(&priced->model, &priced->prices, pace);
	priced->prices.bound = bound;
	return status;
}

typedef struct Round
{
	int64_t rows; /* that an instance that can open lists, at least */
	double aim, reach;
	int64_t steps;
	size_t most_pairs;
} Round;

/* One round: the instances that prices within reach can open, and better prices by them. */
static KanonStatus
run_round(const KanonProblem *problem, const IlpModel *none, const Round *round, const double *y, Priced *out,
		  KanonPace *pace)
{
	KanonEnv *env = problem->env;
	Sieve sieve = {.model = none, .box = &out->box, .rows = round->rows, .pace = pace};
	double since = pace->deadline > 0 ? env->now(env->arg) : 0;
	KanonStatus status = ilp_box_around(none, y, round->reach, &out->box);

	out->prices.y = kanon_alloc(env, none->m, sizeof(*out->prices.y));
	sieve.cand = kanon_alloc(env, none->m, sizeof(*sieve.cand));
	if (out->prices.y == NULL || sieve.cand == NULL)
		status = KANON_NO_MEMORY;
	if (status == KANON_OK)
	{
		memcpy(out->prices.y, y, none->m * sizeof(*y));
		for (uint32_t i = 0; i < none->m; i++)
			sieve.highest = fmax(sieve.highest, out->box.high[i]);
		status = kanon_instances_sift(problem, sift, &sieve, round->most_pairs, pace, &out->instances);
	}
	kanon_free(env, sieve.cand);
	if (status == KANON_OK)
		status = ilp_model_build(problem, &out->instances, false, pace, &out->model);
	/* the model has the same: add_classes gives them back */
	kanon_free(env, out->instances.type);
	out->instances.type = NULL;
	out->listed = pace->deadline > 0 ? env->now(env->arg) - since : 0;
	if (status == KANON_OK)
		status = ilp_lagrange_within(&out->model, &out->box, round->aim, round->steps, &out->prices, pace);
	if (status != KANON_OK)
		priced_free(env, out);
	return status;
}

/* The rounds; what the last whole one has made is in *last. */
static KanonStatus
run_rounds(const KanonProblem *problem, const IlpModel *none, double upper, size_t most_pairs, double effort,
		   double *y, Priced *last, KanonPace *pace)
{
	double range = none->m > 0 ? none->c[0] : 0;
	double narrow = 1;
	bool gaining = true;
	KanonStatus status = KANON_OK;

	for (int round = 0; round < ROUNDS && status == KANON_OK && gaining && (round == 0 || !pace->late);
		 round++)
	{
		Priced next = {0};
		double gap = upper - last->prices.bound;
		double aim = round == 0
						 ? upper - FIRST_AIM * fabs(upper)
						 : last->prices.bound + fmax(AIM * gap, none->integral ? fmin(gap, LEAST_AIM) : 0);

		do
		{
			Round how = {.rows = none->k,
						 .aim = aim,
						 .reach = (round == 0 ? FIRST_REACH : REACH) * range * narrow,
						 .steps = (int64_t) (STEPS * fmax(0.1, sqrt(effort))),
						 .most_pairs = most_pairs};

			next.prices.lambda = ilp_steps_on(&last->prices);
			status = run_round(problem, none, &how, y, &next, pace);
			if (status != KANON_TOO_LARGE && status != KANON_NO_MEMORY)
				break;
			narrow /= 2;
		} while (narrow > ldexp(1, -NARROWER) && !pace->late);
		if (status != KANON_OK)
			break;
		gaining = round == 0 || next.prices.bound - last->prices.bound > GAINING * fabs(next.prices.bound);
		next.prices.bound = fmax(next.prices.bound, last->prices.bound);
		next.narrow = narrow;
		priced_free(problem->env, last);
		*last = next;
		memcpy(y, last->prices.y, none->m * sizeof(*y));
	}
	/* for want of memory or time what is there is as good as it is */
	if ((status == KANON_TOO_LARGE || status == KANON_NO_MEMORY) && last->prices.y != NULL)
		status = KANON_OK;
	return status;
}

/*
 * The same once more, around the prices that the rounds have found, with so many rows of each instance:
 * a class is filled up with rows that the bound has no use for there, and cuts can be priced in
 * the box only where it has all.  Too many, or too late: the last round stands.
 */
static KanonStatus
list_more(const KanonProblem *problem, const IlpModel *none, int64_t rows, double upper, size_t most_pairs,
		  const double *y, Priced *last, KanonPace *pace)
{
	Priced next = {0};
	KanonStatus status = KANON_TOO_LARGE;

	if (pace->deadline <= 0 ||
		problem->env->now(problem->env->arg) + LISTINGS_LEFT * last->listed < pace->deadline)
		status = run_round(problem, none,
						   &(Round){.rows = rows,
									.aim = upper,
									.reach = LAST_REACH * none->c[0] * last->narrow,
									.most_pairs = most_pairs},
						   y, &next, pace);
	if (status == KANON_OK)
	{
		next.prices.bound = fmax(next.prices.bound, last->prices.bound);
		next.prices.steps = last->prices.steps;
		priced_free(problem->env, last);
		*last = next;
		return KANON_OK;
	}
	ilp_box_free(problem->env, &last->box);
	return status == KANON_TOO_LARGE || status == KANON_NO_MEMORY ? KANON_OK : status;
}

KanonStatus
improve_priced(const KanonProblem *problem, const IlpResult *from, size_t most_pairs, double effort,
			   const PricedInto *into, KanonPace *pace)
{
	KanonEnv *env = problem->env;
	IlpModel none = {.env = env,
					 .k = problem->k,
					 .integral = into->instances->integral,
					 .least = into->instances->least,
					 .wide = into->instances->wide,
					 .m = problem->ntypes};
	Priced last = {.prices.bound = -INFINITY};
	double deadline = pace->deadline;
	double *y = kanon_alloc(env, problem->ntypes, sizeof(*y));
	KanonStatus status = KANON_NO_MEMORY;

	none.n = kanon_alloc(env, none.m, sizeof(*none.n));
	none.c = kanon_alloc(env, none.m, sizeof(*none.c));
	kanon_pace_share(pace, deadline, TIME_SHARE);
	if (y != NULL && none.n != NULL && none.c != NULL)
	{
		set_prices(problem, into->instances, &from->release, y);
		memcpy(none.n, problem->rows, none.m * sizeof(*none.n));
		for (uint32_t i = 0; i < none.m; i++)
			none.c[i] = into->instances->all_cost;
		status = run_rounds(problem, &none, fmin(from->cost, ilp_model_ceiling(&none)), most_pairs, effort, y,
							&last, pace);
	}
	kanon_pace_share(pace, deadline, 1);
	if (status == KANON_OK)
		status = list_more(problem, &none, into->box != NULL ? INT64_MAX : LISTED * problem->k, from->cost,
						   most_pairs, y, &last, pace);
	*into->first = last.instances.n;
	if (status == KANON_OK)
		status = add_classes(problem, &from->release, &last, pace);
	if (status == KANON_OK)
	{
		*into->instances = last.instances;
		*into->model = last.model;
		*into->prices = last.prices;
		if (into->box != NULL)
			*into->box = last.box;
		else
			ilp_box_free(env, &last.box);
	}
	else
		priced_free(env, &last);
	kanon_free(env, y);
	kanon_free(env, none.n);
	kanon_free(env, none.c);
	return status;
}
