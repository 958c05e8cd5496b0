/*
 * cluster_turns.c: clusterings under rules about presence.
 *
 * What clusters show may overlap, so that they are taken in turn (release/in_turn.c): each has all rows that match it
 * and no cluster before, in the order of a release, where these may be a class then.  Rows that are in none are
 * clustered again, with twice the k: the more rows a class has, the nearer is its share of the population to that of
 * the table.  What is found so, or Mondrian's release, whose parts do not overlap: whichever loses less.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/clustering.h"
#include "model/mask.h"
#include "release/part.h"

/* Shares of the time that the method has, round by round, of what is left; classes are then taken in the rest. */
#define ROUND_TIME 0.5

typedef struct ClusterTurns
{
	const KanonProblem *problem;
	KanonSolve solve;
	ClusterLayout layout;
	KanonPlain plain;
	KanonScratch scratch;
	KanonPace pace;
	double end;          /* of the time allowed; 0: never */
	KanonRelease all;    /* classes of all rounds, in the order of a release; no flows */
	size_t classes_room; /* of it: */
	size_t cells_room;
	size_t pool_room;
	uint32_t *class_; /* [ntypes] those that the rows are in */
	uint32_t *left;   /* [plain types] in no class */
	uint32_t nleft;
	int64_t rows_left;
	KanonRelease best;
	double cost; /* of it; INFINITY: there is none */
	char detail[sizeof(((KanonReport *) NULL)->detail)];
} ClusterTurns;

static double
now(const ClusterTurns *t)
{
	return t->problem->env->now(t->problem->env->arg);
}

/* What a row loses in a class, by what this shows. */
static double
shown_cost(const ClusterTurns *t, const KanonRelease *release, uint32_t class)
{
	const KanonCell *cells = release->cells + class * (size_t) t->problem->ncolumns;
	double sum = 0;

	for (int q = 0; q < t->layout.nqis; q++)
	{
		const ClusterQi *qi = &t->layout.qi[q];

		if (qi->show == KANON_CLUSTER_HIERARCHY)
			for (int c = qi->first; c < qi->first + qi->levels; c++)
				sum += cells[c].show == KANON_SHOW_VALUE ? 0 : t->problem->columns[c].weight;
		else if (cells[qi->first].show == KANON_SHOW_RANGE)
			sum += qi->weight * cluster_share(qi, release->pool[cells[qi->first].code],
											  release->pool[cells[qi->first].code + 1]);
		else if (cells[qi->first].show != KANON_SHOW_VALUE)
			sum += qi->weight;
	}
	return sum;
}

/* What the rows lose, those that are left out with the others (which a radius does not do). */
static double
cost_of(const ClusterTurns *t, const KanonRelease *release)
{
	double cost = t->layout.weight * (double) release->dropped;

	for (uint32_t i = 0; i < release->nclasses; i++)
		cost += shown_cost(t, release, i) * (double) release->classes[i].rows;
	return cost;
}

/* ---- classes of all rounds ---- */

static KanonStatus
add_classes(ClusterTurns *t, const KanonRelease *more)
{
	KanonRelease *all = &t->all;
	size_t width = (size_t) t->problem->ncolumns;
	size_t n = (size_t) all->nclasses + more->nclasses;

	if (all->npool + more->npool > KANON_MAX_TYPES || n > KANON_MAX_TYPES)
		return KANON_NO_MEMORY;
	if (!KANON_GROW(&t->scratch, &t->classes_room, n, KANON_ARRAY(all->classes)) ||
		!KANON_GROW(&t->scratch, &t->cells_room, n * width, KANON_ARRAY(all->cells)) ||
		!KANON_GROW(&t->scratch, &t->pool_room, all->npool + more->npool + 1, KANON_ARRAY(all->pool)))
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < more->nclasses; i++, all->nclasses++)
	{
		KanonCell *cells = all->cells + all->nclasses * width;

		all->classes[all->nclasses] = more->classes[i];
		for (size_t c = 0; c < width; c++)
		{
			cells[c] = more->cells[i * width + c];
			if (cells[c].show == KANON_SHOW_RANGE || cells[c].show == KANON_SHOW_SET)
				cells[c].code = (cells[c].code + all->npool) & KANON_MAX_TYPES;
		}
	}
	if (more->npool > 0)
		memcpy(all->pool + all->npool, more->pool, more->npool * sizeof(uint32_t));
	all->npool += more->npool;
	return kanon_stop(&t->pace, 2 * more->nclasses * width + more->npool) ? KANON_CANCELLED : KANON_OK;
}

/* Those with stay[i] alone are left, in the order of the numbers order[nclasses]. */
static KanonStatus
rearrange(ClusterTurns *t, const uint32_t *order, const bool *stay)
{
	KanonRelease *all = &t->all;
	size_t width = (size_t) t->problem->ncolumns;
	KanonClass *classes = kanon_take(&t->scratch, all->nclasses, sizeof(KanonClass));
	KanonCell *cells = kanon_take(&t->scratch, all->nclasses, width * sizeof(KanonCell));
	uint32_t n = 0;

	if (t->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < all->nclasses; i++)
	{
		uint32_t from = order != NULL ? order[i] : i;

		if (stay != NULL && !stay[from])
			continue;
		classes[n] = all->classes[from];
		memcpy(cells + n++ * width, all->cells + from * width, width * sizeof(KanonCell));
	}
	memcpy(all->classes, classes, n * sizeof(KanonClass));
	memcpy(all->cells, cells, n * width * sizeof(KanonCell));
	all->nclasses = n;
	kanon_drop(&t->scratch, classes);
	kanon_drop(&t->scratch, cells);
	return KANON_OK;
}

/* In the order of a release, which is that in which they are taken. */
static KanonStatus
sort_classes(ClusterTurns *t)
{
	uint32_t *order = kanon_take(&t->scratch, t->all.nclasses, 2 * sizeof(uint32_t));
	KanonStatus status = order == NULL
							 ? KANON_NO_MEMORY
							 : kanon_release_order(t->problem, &t->all, order, order + t->all.nclasses);

	if (status == KANON_OK)
		status = rearrange(t, order, NULL);
	kanon_drop(&t->scratch, order);
	return status;
}

/* ---- rounds ---- */

/* What the method makes of the rows left, of k rows each; the bound is the first round's. */
static KanonStatus
cluster_left(ClusterTurns *t, int64_t k, KanonReport *report)
{
	const KanonProblem *plain = &t->plain.problem;
	KanonPart *part = kanon_alloc0(plain->env, 1, sizeof(KanonPart));
	KanonSolve solve = t->solve;
	size_t mark = kanon_mark(&t->scratch);
	int64_t *rows = kanon_take(&t->scratch, t->nleft, sizeof(int64_t));
	KanonRelease solved = {0};
	KanonStatus status = part != NULL && rows != NULL ? KANON_OK : KANON_NO_MEMORY;

	for (uint32_t i = 0; i < t->nleft && status == KANON_OK; i++)
		rows[i] = plain->rows[t->left[i]];
	if (status == KANON_OK)
		status = kanon_part_open(plain, t->nleft, t->left, rows, &t->scratch, &t->pace, part);
	if (status == KANON_OK)
	{
		part->problem.k = k;
		part->problem.time_limit =
			t->end > 0 ? fmax(1e-6, ROUND_TIME * (t->end - now(t))) : plain->time_limit;
		/* those of pairs and triples alone know no other k */
		if (k != t->problem->k && (solve == kanon_solve_pairs || solve == kanon_solve_triples))
			solve = kanon_solve_mondrian;
		status = solve(&part->problem, &solved, report);
	}
	if (part != NULL)
		kanon_part_close(part);
	kanon_free(plain->env, part);
	kanon_release(&t->scratch, mark);
	if (status == KANON_OK)
		status = add_classes(t, &solved);
	kanon_release_free(plain, &solved);
	return status;
}

/* Lists the types that are in no class. */
static void
find_left(ClusterTurns *t)
{
	t->nleft = 0;
	t->rows_left = 0;
	for (uint32_t i = 0; i < t->plain.problem.ntypes; i++)
		if (t->class_[t->plain.first[i]] == KANON_DROPPED)
		{
			t->left[t->nleft++] = i;
			t->rows_left += t->plain.problem.rows[i];
		}
}

/* The rows in their classes, if that may be: a release. */
static KanonStatus
offer(ClusterTurns *t)
{
	const KanonProblem *problem = t->problem;
	const KanonRelease *all = &t->all;
	KanonEnv *env = problem->env;
	size_t width = (size_t) problem->ncolumns;
	KanonRelease release = {.nclasses = all->nclasses, .nflows = problem->ntypes, .npool = all->npool};
	KanonReport report = {0};
	double cost;
	KanonStatus status = KANON_OK;

	release.classes = kanon_alloc(env, (size_t) all->nclasses + 1, sizeof(KanonClass));
	release.cells = kanon_alloc(env, (size_t) all->nclasses + 1, width * sizeof(KanonCell));
	release.pool = kanon_alloc(env, all->npool + 1, sizeof(uint32_t));
	release.flows = kanon_alloc(env, problem->ntypes, sizeof(KanonFlow));
	if (release.classes == NULL || release.cells == NULL || release.pool == NULL || release.flows == NULL)
		status = KANON_NO_MEMORY;
	else
	{
		memcpy(release.classes, all->classes, all->nclasses * sizeof(KanonClass));
		memcpy(release.cells, all->cells, all->nclasses * width * sizeof(KanonCell));
		if (all->npool > 0)
			memcpy(release.pool, all->pool, all->npool * sizeof(uint32_t));
		for (uint32_t i = 0; i < problem->ntypes; i++)
			release.flows[i] = (KanonFlow){i, t->class_[i], problem->rows[i]};
		status = kanon_release_finish(problem, &release, &report);
	}
	if (status == KANON_OK && (cost = cost_of(t, &release)) < t->cost)
	{
		KanonRelease worse = t->best;

		t->best = release;
		t->cost = cost;
		release = worse;
	}
	kanon_release_free(problem, &release);
	/* (of classes that look alike the check says that there is none) */
	return status == KANON_NOT_FOUND ? KANON_OK : status;
}

/* The classes that have no rows go, and of the others, from the last on, those whose rows it takes to have so many left. */
static KanonStatus
keep_classes(ClusterTurns *t, int64_t rows_left)
{
	uint32_t n = t->all.nclasses;
	int64_t *rows = kanon_take0(&t->scratch, (size_t) n + 1, sizeof(int64_t));
	bool *stay = kanon_take0(&t->scratch, (size_t) n + 1, sizeof(bool));
	KanonStatus status;

	if (t->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < t->problem->ntypes; i++)
		if (t->class_[i] != KANON_DROPPED)
			rows[t->class_[i]] += t->problem->rows[i];
	for (uint32_t i = n; i-- > 0;)
	{
		stay[i] = rows[i] > 0 && t->rows_left >= rows_left;
		if (!stay[i])
			t->rows_left += rows[i];
	}
	for (uint32_t i = 0; i < t->problem->ntypes; i++)
		if (t->class_[i] != KANON_DROPPED && !stay[t->class_[i]])
			t->class_[i] = KANON_DROPPED;
	find_left(t);
	status = rearrange(t, NULL, stay);
	kanon_drop(&t->scratch, rows);
	kanon_drop(&t->scratch, stay);
	return status;
}

/* The classes so far are taken in turn. */
static KanonStatus
take_turns(ClusterTurns *t)
{
	bool fine = false;
	KanonStatus status = sort_classes(t);

	if (status == KANON_OK)
		status = kanon_turns_of_clusters(t->problem, &t->all, t->end, t->class_, &fine);
	if (status != KANON_OK)
		return status;
	find_left(t);
	return fine && (t->nleft == 0 || t->problem->residual == KANON_RESIDUAL_DROP) ? offer(t) : KANON_OK;
}

static bool
is_late(const ClusterTurns *t)
{
	return t->end > 0 && now(t) >= t->end;
}

/* first: what the method says of the rows with k alone. */
static KanonStatus
go_round(ClusterTurns *t, KanonReport *first)
{
	int64_t rows = t->layout.rows;
	int64_t k = t->problem->k;
	KanonStatus status = cluster_left(t, k, first);

	if (status == KANON_OK)
		status = take_turns(t);
	while (status == KANON_OK && t->nleft > 0 && k < rows && !is_late(t))
	{
		KanonReport report = {0};

		k = k > rows / 2 ? rows : 2 * k;
		status = keep_classes(t, k);
		if (status == KANON_OK)
			status = cluster_left(t, k, &report);
		/* (these rows alone may be too many for the method, or none of a part) */
		if (status != KANON_OK && status != KANON_NO_MEMORY && status != KANON_CANCELLED)
			return KANON_OK;
		if (status == KANON_OK)
			status = take_turns(t);
	}
	return status;
}

/* Mondrian's release instead, if that loses less. */
static KanonStatus
try_mondrian(ClusterTurns *t)
{
	KanonRelease release = {0};
	KanonReport report = {0};
	double cost;
	KanonStatus status = mondrian_under_populations(t->problem, &release, &report);

	if (status == KANON_OK && (cost = cost_of(t, &release)) < t->cost * (1 - 1e-12))
	{
		kanon_release_free(t->problem, &t->best);
		t->best = release;
		t->cost = cost;
		return KANON_OK;
	}
	memcpy(t->detail, report.detail, sizeof(t->detail));
	kanon_release_free(t->problem, &release);
	return t->cost < INFINITY && (status == KANON_NOT_FOUND || status == KANON_INFEASIBLE) ? KANON_OK
																						   : status;
}

static KanonStatus
conclude(ClusterTurns *t, const KanonReport *first, KanonRelease *release, KanonReport *report)
{
	bool gathered = t->solve == kanon_solve_gather && t->best.dropped > 0;
	KanonStatus status = kanon_release_finish(t->problem, &t->best, report);

	report->cost = t->cost;
	if (status == KANON_OK && t->solve == kanon_solve_gather)
		status = gather_radius(t->problem, &t->best, &report->cost);
	if (status != KANON_OK)
		return status;
	*release = t->best;
	t->best = (KanonRelease){0};
	/* a radius says nothing of rows that are left out; and k of a population is not k of the table */
	report->lower_bound = gathered || t->problem->k_map ? -INFINITY : fmin(first->lower_bound, report->cost);
	report->guarantee = !gathered && report->cost <= first->cost * (1 + 1e-12) ? first->guarantee : 0;
	report->proven = report->lower_bound >= report->cost;
	return KANON_OK;
}

KanonStatus
cluster_solve_in_turn(const KanonProblem *problem, KanonSolve solve, KanonRelease *release,
					  KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	ClusterTurns *t = kanon_alloc0(env, 1, sizeof(ClusterTurns));
	KanonReport first = {0};
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	if (t == NULL)
		return KANON_NO_MEMORY;
	t->problem = problem;
	t->solve = solve;
	t->scratch.env = env;
	t->pace = kanon_pace_at_once(env, "rules");
	t->cost = INFINITY;
	t->end = problem->time_limit < INFINITY ? start + problem->time_limit : 0;
	cluster_layout(problem, &t->layout);
	status = kanon_plain_open(problem, false, &t->plain);
	t->plain.problem.npopulations = 0;
	t->plain.problem.k_map = false;
	t->class_ = kanon_take(&t->scratch, problem->ntypes, sizeof(uint32_t));
	t->left = kanon_take(&t->scratch, problem->ntypes, sizeof(uint32_t));
	if (status == KANON_OK)
		status = kanon_taken(&t->scratch);
	if (status == KANON_OK)
	{
		memset(t->class_, 0xff, problem->ntypes * sizeof(uint32_t));
		find_left(t);
		status = go_round(t, &first);
	}
	/* without k_map, k of the rows is too much whoever tries */
	if (status == KANON_OK || (status == KANON_INFEASIBLE && problem->k_map))
		status = try_mondrian(t);
	else
		memcpy(t->detail, first.detail, sizeof(t->detail));
	if (status == KANON_OK)
		status = conclude(t, &first, release, report);
	else
		memcpy(report->detail, t->detail, sizeof(report->detail));
	report->seconds = env->now(env->arg) - start;
	kanon_release_free(problem, &t->best);
	kanon_plain_close(&t->plain);
	kanon_scratch_free(&t->scratch);
	kanon_free(env, t);
	return status;
}
