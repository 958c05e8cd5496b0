/*
 * flow.c: row assignment, the cheapest way to fill given classes: a minimum
 * cost flow with lower bounds (Bredereck, Nichterlein, Niedermeier,
 * "Pattern-Guided k-Anonymity", Algorithms 6(4), 2013, Theorem 3).
 *
 * Every row starts in its cheapest class, which is optimal without lower
 * bounds; then each class that lacks rows gets them along cheapest augmenting
 * paths (successive shortest paths with potentials; Ahuja, Magnanti, Orlin,
 * "Network Flows", 1993, section 9.7).  A path runs from a class with rows to
 * spare over types that move up by one class.  Flows are whole numbers.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/program_model.h"
#include "util/sort.h"
#include "util/scratch.h"

typedef struct Flow
{
	KanonScratch scratch;
	const IlpClasses *cl;
	KanonPace *pace;
	int64_t *x;       /* [pairs] rows of the pair's type in its class */
	int64_t *load;    /* [n] */
	double *pi;       /* [n] what the class pays for a row; 0 unless it is short */
	size_t *by_start; /* [ntypes + 1]: pairs of a type */
	size_t *by_pair;
	uint32_t *by_class;
	double *dist;        /* [n] */
	size_t *via_from;    /* [n] pair that gives */
	size_t *via_to;      /* [n] pair that takes */
	uint32_t *via_class; /* [n] class that takes */
	uint32_t *seen;      /* [n] stamp: dist is set */
	uint32_t *done;      /* [n] stamp: dist is final */
	uint32_t stamp;
	uint32_t *order; /* [n] final in this round */
	KanonHeap heap;  /* classes by dist */
} Flow;

static bool
flow_alloc(Flow *w)
{
	KanonScratch *scratch = &w->scratch;
	const IlpClasses *cl = w->cl;
	size_t pairs = cl->start[cl->n];

	w->x = kanon_take0(scratch, pairs, sizeof(*w->x));
	w->load = kanon_take0(scratch, cl->n, sizeof(*w->load));
	w->pi = kanon_take0(scratch, cl->n, sizeof(*w->pi));
	w->by_start = kanon_take0(scratch, (size_t) cl->ntypes + 2, sizeof(*w->by_start));
	w->by_pair = kanon_take(scratch, pairs, sizeof(*w->by_pair));
	w->by_class = kanon_take(scratch, pairs, sizeof(*w->by_class));
	w->dist = kanon_take(scratch, cl->n, sizeof(*w->dist));
	w->via_from = kanon_take(scratch, cl->n, sizeof(*w->via_from));
	w->via_to = kanon_take(scratch, cl->n, sizeof(*w->via_to));
	w->via_class = kanon_take(scratch, cl->n, sizeof(*w->via_class));
	w->seen = kanon_take0(scratch, cl->n, sizeof(*w->seen));
	w->done = kanon_take0(scratch, cl->n, sizeof(*w->done));
	w->order = kanon_take(scratch, cl->n, sizeof(*w->order));
	if (scratch->failed)
		return false;
	for (size_t p = 0; p < pairs; p++)
		w->by_start[cl->type[p] + 2]++;
	for (size_t i = 2; i <= (size_t) cl->ntypes + 1; i++)
		w->by_start[i] += w->by_start[i - 1];
	for (uint32_t f = 0; f < cl->n; f++)
		for (size_t p = cl->start[f]; p < cl->start[f + 1]; p++)
		{
			size_t at = w->by_start[cl->type[p] + 1]++;

			w->by_pair[at] = p;
			w->by_class[at] = f;
		}
	return true;
}

/* Each row to its cheapest class, the first of equal ones. */
static KanonStatus
flow_start(Flow *w)
{
	const IlpClasses *cl = w->cl;

	for (uint32_t i = 0; i < cl->ntypes; i++)
	{
		size_t best = SIZE_MAX;

		for (size_t q = w->by_start[i]; q < w->by_start[i + 1]; q++)
			if (best == SIZE_MAX || cl->cost[w->by_class[q]] < cl->cost[w->by_class[best]])
				best = q;
		if (best == SIZE_MAX)
			return KANON_INFEASIBLE;
		w->x[w->by_pair[best]] = cl->rows[i];
		w->load[w->by_class[best]] += cl->rows[i];
		if (kanon_step(w->pace, (int64_t) (w->by_start[i + 1] - w->by_start[i])))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/*
 * One cheapest path to class d, which lacks rows.  The price of moving a row
 * from a to b is (w_b - pi_b) - (w_a - pi_a), never negative: each row is in
 * the class that is cheapest with the payments pi.  Only classes at their lower
 * bound pay, so that a class with rows to spare ends the search.
 */
static KanonStatus
flow_augment(Flow *w, uint32_t d)
{
	const IlpClasses *cl = w->cl;
	uint32_t norder = 0;
	uint32_t end = UINT32_MAX;
	double total = 0;
	int64_t amount;

	w->stamp++;
	w->heap.n = 0;
	w->dist[d] = 0;
	w->seen[d] = w->stamp;
	if (!kanon_heap_add(&w->scratch, &w->heap, 0, d))
		return KANON_NO_MEMORY;
	while (w->heap.n > 0)
	{
		KanonKeyed top = kanon_heap_take(&w->heap);
		uint32_t b = top.item;

		if (w->done[b] == w->stamp)
			continue;
		w->done[b] = w->stamp;
		if (b != d && w->load[b] > cl->need[b])
		{
			end = b;
			total = top.key;
			break;
		}
		w->order[norder++] = b;
		for (size_t p = cl->start[b]; p < cl->start[b + 1]; p++)
		{
			uint32_t i = cl->type[p];

			if (kanon_step(w->pace, (int64_t) (w->by_start[i + 1] - w->by_start[i])))
				return KANON_CANCELLED;
			for (size_t q = w->by_start[i]; q < w->by_start[i + 1]; q++)
			{
				uint32_t a = w->by_class[q];
				double dist;

				if (w->x[w->by_pair[q]] == 0 || w->done[a] == w->stamp)
					continue;
				dist = (cl->cost[b] - w->pi[b]) - (cl->cost[a] - w->pi[a]);
				dist = top.key + kanon_max(0, dist);
				if (w->seen[a] == w->stamp && w->dist[a] <= dist)
					continue;
				w->seen[a] = w->stamp;
				w->dist[a] = dist;
				w->via_from[a] = w->by_pair[q];
				w->via_to[a] = p;
				w->via_class[a] = b;
				if (!kanon_heap_add(&w->scratch, &w->heap, dist, a))
					return KANON_NO_MEMORY;
			}
		}
	}
	if (end == UINT32_MAX)
		return KANON_INFEASIBLE;
	for (uint32_t j = 0; j < norder; j++)
		w->pi[w->order[j]] += total - w->dist[w->order[j]];
	amount = cl->need[d] - w->load[d];
	if (w->load[end] - cl->need[end] < amount)
		amount = w->load[end] - cl->need[end];
	for (uint32_t a = end; a != d; a = w->via_class[a])
		if (w->x[w->via_from[a]] < amount)
			amount = w->x[w->via_from[a]];
	for (uint32_t a = end; a != d; a = w->via_class[a])
	{
		w->x[w->via_from[a]] -= amount;
		w->x[w->via_to[a]] += amount;
	}
	w->load[end] -= amount;
	w->load[d] += amount;
	return KANON_OK;
}

static KanonStatus
kanon_flow_assign(KanonEnv *env, const IlpClasses *classes, double *cost, KanonFlow **flows, size_t *nflows,
				  KanonPace *pace)
{
	Flow w = {.scratch = {.env = env}, .cl = classes, .pace = pace};
	KanonStatus status = KANON_NO_MEMORY;
	size_t n = 0;

	if (flow_alloc(&w))
		status = flow_start(&w);
	for (uint32_t f = 0; f < classes->n && status == KANON_OK; f++)
		while (w.load[f] < classes->need[f] && status == KANON_OK)
			status = flow_augment(&w, f);
	if (status == KANON_OK)
	{
		*cost = 0;
		for (uint32_t f = 0; f < classes->n; f++)
		{
			*cost += classes->cost[f] * (double) w.load[f];
			for (size_t p = classes->start[f]; p < classes->start[f + 1]; p++)
				n += w.x[p] > 0;
		}
		*nflows = n;
		if (flows != NULL)
		{
			*flows = kanon_alloc(env, n, sizeof(**flows));
			if (*flows == NULL)
				status = KANON_NO_MEMORY;
			n = 0;
			for (uint32_t f = 0; f < classes->n && status == KANON_OK; f++)
				for (size_t p = classes->start[f]; p < classes->start[f + 1]; p++)
					if (w.x[p] > 0)
						(*flows)[n++] = (KanonFlow){classes->type[p], f, w.x[p]};
		}
	}
	kanon_scratch_free(&w.scratch);
	return status;
}

KanonStatus
ilp_assign(const IlpModel *model, const IlpList *open, double *cost, KanonFlow **flows, size_t *nflows,
		   KanonPace *pace)
{
	KanonScratch scratch = {.env = model->env};
	IlpClasses cl = {.ntypes = model->m, .rows = model->n};
	size_t pairs = model->m;
	size_t n = open->n + model->m;
	KanonStatus status;

	for (size_t j = 0; j < open->n; j++)
		pairs += model->start[open->v[j] + 1] - model->start[open->v[j]];
	cl.start = kanon_take(&scratch, n + 1, sizeof(*cl.start));
	cl.type = kanon_take(&scratch, pairs, sizeof(*cl.type));
	cl.cost = kanon_take(&scratch, n, sizeof(*cl.cost));
	cl.need = kanon_take0(&scratch, n, sizeof(*cl.need));
	if ((status = kanon_taken(&scratch)) != KANON_OK)
		goto done;
	pairs = 0;
	for (size_t j = 0; j < open->n; j++)
	{
		uint32_t f = open->v[j];

		cl.start[cl.n] = pairs;
		cl.cost[cl.n] = model->w[f];
		cl.need[cl.n++] = model->k;
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			cl.type[pairs++] = model->type[p];
	}
	for (uint32_t i = 0; i < model->m; i++)
	{
		cl.start[cl.n] = pairs;
		cl.cost[cl.n++] = model->c[i];
		cl.type[pairs++] = i;
	}
	cl.start[cl.n] = pairs;
	status = kanon_flow_assign(model->env, &cl, cost, flows, nflows, pace);
	*cost += model->base;
done:
	kanon_scratch_free(&scratch);
	return status;
}

/* Classes from a list of instances, the fully suppressed one last. */
static bool
make_classes(const KanonProblem *problem, const KanonInstances *instances, const uint32_t *used, size_t nused,
			 IlpRest rest, KanonScratch *scratch, IlpClasses *classes)
{
	size_t pairs = problem->ntypes;

	for (size_t u = 0; u < nused; u++)
		pairs += instances->start[used[u] + 1] - instances->start[used[u]];
	classes->ntypes = problem->ntypes;
	classes->rows = problem->rows;
	classes->start = kanon_take(scratch, nused + 2, sizeof(*classes->start));
	classes->type = kanon_take(scratch, pairs, sizeof(*classes->type));
	classes->cost = kanon_take(scratch, nused + 1, sizeof(*classes->cost));
	classes->need = kanon_take(scratch, nused + 1, sizeof(*classes->need));
	if (scratch->failed)
		return false;
	pairs = 0;
	for (size_t u = 0; u < nused; u++)
	{
		size_t lo = instances->start[used[u]];
		size_t n = instances->start[used[u] + 1] - lo;

		classes->start[u] = pairs;
		classes->cost[u] = instances->cost[used[u]];
		classes->need[u] = problem->k;
		memcpy(classes->type + pairs, instances->type + lo, n * sizeof(*classes->type));
		pairs += n;
	}
	classes->n = (uint32_t) nused;
	if (rest != ILP_REST_NONE)
	{
		classes->start[nused] = pairs;
		classes->cost[nused] = instances->all_cost;
		classes->need[nused] = rest == ILP_REST_CLASS ? problem->k : 0;
		for (uint32_t i = 0; i < problem->ntypes; i++)
			classes->type[pairs++] = i;
		classes->n++;
	}
	classes->start[classes->n] = pairs;
	return true;
}

/* Classes and cells; `classes` as make_classes has left it. */
static bool
fill_release(const KanonProblem *problem, const KanonInstances *instances, const uint32_t *used, size_t nused,
			 const IlpClasses *classes, KanonRelease *release)
{
	KanonEnv *env = problem->env;
	uint32_t n = classes->n;
	int64_t rest = 0;

	release->classes = kanon_alloc0(env, n, sizeof(*release->classes));
	release->cells = kanon_alloc0(env, n, (size_t) problem->ncolumns * sizeof(*release->cells));
	if (release->classes == NULL || release->cells == NULL)
		return false;
	release->nclasses = n;
	for (uint32_t f = 0; f < n; f++)
	{
		KanonClass *class_ = &release->classes[f];

		class_->pattern = f < nused ? instances->pattern[used[f]] : kanon_pattern_all(problem->ncolumns);
		for (int c = 0; c < problem->ncolumns; c++)
		{
			KanonCell *cell = &release->cells[(size_t) f * (size_t) problem->ncolumns + (size_t) c];

			cell->show = KANON_SHOW_NOTHING;
			if (!kanon_has(class_->pattern, c))
			{
				cell->show = KANON_SHOW_VALUE;
				cell->code = problem->columns[c].code[classes->type[classes->start[f]]];
			}
		}
	}
	for (size_t j = 0; j < release->nflows; j++)
	{
		release->classes[release->flows[j].class_].rows += release->flows[j].rows;
		if (release->flows[j].class_ >= nused)
			rest += release->flows[j].rows;
	}
	/* fewer than k rows left over are dropped if they are to be */
	if (problem->residual == KANON_RESIDUAL_DROP && rest > 0 && rest < problem->k)
	{
		release->dropped = rest;
		release->classes[nused].rows = 0;
		for (size_t j = 0; j < release->nflows; j++)
			if (release->flows[j].class_ >= nused)
				release->flows[j].class_ = KANON_DROPPED;
	}
	return true;
}

KanonStatus
kanon_flow_release(const KanonProblem *problem, const KanonInstances *instances, const uint32_t *used,
				   size_t nused, IlpRest rest, KanonRelease *release, double *cost, KanonPace *pace)
{
	KanonScratch scratch = {.env = problem->env};
	IlpClasses classes = {0};
	KanonStatus status = KANON_NO_MEMORY;

	memset(release, 0, sizeof(*release));
	if (make_classes(problem, instances, used, nused, rest, &scratch, &classes))
		status = kanon_flow_assign(problem->env, &classes, cost, &release->flows, &release->nflows, pace);
	if (status == KANON_OK && !fill_release(problem, instances, used, nused, &classes, release))
		status = KANON_NO_MEMORY;
	kanon_scratch_free(&scratch);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	return status;
}

KanonStatus
kanon_pairs_release(const KanonProblem *problem, const KanonInstances *instances, const int64_t *rows,
					bool suppressed, KanonRelease *release)
{
	KanonEnv *env = problem->env;
	size_t pairs = instances->start[instances->n];
	size_t width = (size_t) problem->ncolumns;
	uint32_t f = 0;

	memset(release, 0, sizeof(*release));
	release->classes = kanon_alloc0(env, (size_t) instances->n + 1, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, (size_t) instances->n + 1, width * sizeof(KanonCell));
	release->flows = kanon_alloc(env, pairs + problem->ntypes, sizeof(KanonFlow));
	if (release->classes == NULL || release->cells == NULL || release->flows == NULL)
	{
		kanon_release_free(problem, release);
		return KANON_NO_MEMORY;
	}
	release->nclasses = instances->n + 1;
	release->nflows = pairs + problem->ntypes;
	for (size_t p = 0; p < pairs + problem->ntypes; p++)
	{
		while (f < instances->n && p >= instances->start[f + 1])
			f++;
		release->flows[p] = (KanonFlow){p < pairs ? instances->type[p] : (uint32_t) (p - pairs),
										f == instances->n && !suppressed ? KANON_DROPPED : f, rows[p]};
	}
	for (f = 0; f <= instances->n; f++)
	{
		KanonPattern pattern =
			f < instances->n ? instances->pattern[f] : kanon_pattern_all(problem->ncolumns);

		release->classes[f].pattern = pattern;
		for (size_t c = 0; c < width; c++)
			if (!kanon_has(pattern, (int) c))
				release->cells[f * width + c] = (KanonCell){
					KANON_SHOW_VALUE,
					problem->columns[c].code[instances->type[instances->start[f]]] & KANON_MAX_TYPES};
	}
	return KANON_OK;
}
