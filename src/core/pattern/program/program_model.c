/*
 * program_model.c: the arrays of the model: building, transposing, compacting and
 * splitting it; the grid of its costs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pattern/program/program_model.h"
#include "util/scratch.h"
#include "util/sort.h"
#include "util/number.h"

bool
ilp_list_add(KanonEnv *env, IlpList *list, uint32_t value)
{
	if (!kanon_enlarge(env, &list->v, &list->room, list->n + 1, sizeof(*list->v)))
		return false;
	list->v[list->n++] = value;
	return true;
}

static void
drop_transpose(IlpModel *model)
{
	kanon_drop(&model->scratch, model->opt);
	kanon_drop(&model->scratch, model->opt_start);
	model->opt_start = NULL;
	model->opt = NULL;
}

void
ilp_model_free(IlpModel *model)
{
	if (model->env == NULL)
		return;
	kanon_scratch_free(&model->scratch);
	memset(model, 0, sizeof(*model));
}

/* Room for m types, nf instances and that many pairs. */
bool
ilp_model_alloc(IlpModel *model, uint32_t m, uint32_t nf, size_t pairs)
{
	KanonScratch *scratch = &model->scratch;

	scratch->env = model->env;
	model->n = kanon_take(scratch, m, sizeof(*model->n));
	model->c = kanon_take(scratch, m, sizeof(*model->c));
	model->id = kanon_take(scratch, nf, sizeof(*model->id));
	model->w = kanon_take(scratch, nf, sizeof(*model->w));
	model->start = kanon_take0(scratch, (size_t) nf + 1, sizeof(*model->start));
	model->type = kanon_take(scratch, pairs, sizeof(*model->type));
	return !scratch->failed;
}

/* The fully suppressed rows as an instance of all types, at the end. */
static void
add_rest(const KanonInstances *instances, IlpModel *model)
{
	size_t pairs = model->start[model->nf];

	model->id[model->nf] = instances->n;
	model->w[model->nf] = instances->all_cost;
	for (uint32_t i = 0; i < model->m; i++)
		model->type[pairs++] = i;
	model->start[++model->nf] = pairs;
}

KanonStatus
ilp_model_build(const KanonProblem *problem, const KanonInstances *instances, bool with_rest, KanonPace *pace,
				IlpModel *model)
{
	size_t pairs = instances->start[instances->n];

	memset(model, 0, sizeof(*model));
	model->env = problem->env;
	model->k = problem->k;
	model->integral = instances->integral;
	model->least = instances->least;
	model->wide = instances->wide;
	if (!ilp_model_alloc(model, problem->ntypes, instances->n + with_rest,
						 pairs + (with_rest ? problem->ntypes : 0)))
	{
		ilp_model_free(model);
		return KANON_NO_MEMORY;
	}
	model->m = problem->ntypes;
	for (uint32_t i = 0; i < model->m; i++)
	{
		model->n[i] = problem->rows[i];
		model->c[i] = instances->all_cost;
	}
	model->nf = instances->n;
	for (uint32_t f = 0; f < model->nf; f++)
	{
		model->id[f] = f;
		model->w[f] = instances->cost[f];
		model->start[f] = instances->start[f];
	}
	model->start[model->nf] = pairs;
	memcpy(model->type, instances->type, pairs * sizeof(*model->type));
	if (with_rest)
		add_rest(instances, model);
	if (kanon_step(pace, (int64_t) pairs))
	{
		ilp_model_free(model);
		return KANON_CANCELLED;
	}
	return KANON_OK;
}

KanonStatus
ilp_model_transpose(IlpModel *model, KanonPace *pace)
{
	KanonEnv *env = model->env;
	size_t pairs = model->start[model->nf];
	KanonKeyed *order = kanon_alloc(env, model->nf, 2 * sizeof(*order));

	drop_transpose(model);
	model->opt_start = kanon_take0(&model->scratch, (size_t) model->m + 2, sizeof(*model->opt_start));
	model->opt = kanon_take(&model->scratch, pairs, sizeof(*model->opt));
	if (order == NULL || model->opt_start == NULL || model->opt == NULL)
	{
		kanon_free(env, order);
		drop_transpose(model);
		return KANON_NO_MEMORY;
	}
	for (uint32_t f = 0; f < model->nf; f++)
		order[f] = (KanonKeyed){model->w[f], f};
	kanon_sort(order, order + model->nf, model->nf, sizeof(*order), kanon_compare_keyed, NULL);
	/* places shifted by two, so that filling leaves them right */
	for (size_t p = 0; p < pairs; p++)
		if (model->type[p] + 2 <= model->m)
			model->opt_start[model->type[p] + 2]++;
	for (uint32_t i = 2; i <= model->m; i++)
		model->opt_start[i] += model->opt_start[i - 1];
	for (uint32_t o = 0; o < model->nf; o++)
	{
		uint32_t f = order[o].item;

		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			model->opt[model->opt_start[model->type[p] + 1]++] = f;
	}
	kanon_free(env, order);
	return kanon_step(pace, (int64_t) pairs * 3) ? KANON_CANCELLED : KANON_OK;
}

typedef struct TypeOrder
{
	uint64_t hash;
	uint32_t i;
} TypeOrder;

static int
compare_type(const void *a, const void *b, void *arg)
{
	const TypeOrder *x = a;
	const TypeOrder *y = b;

	(void) arg;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static bool
same_options(const IlpModel *model, uint32_t i, uint32_t j)
{
	size_t n = model->opt_start[i + 1] - model->opt_start[i];

	return model->c[i] == model->c[j] && model->opt_start[j + 1] - model->opt_start[j] == n &&
		   memcmp(model->opt + model->opt_start[i], model->opt + model->opt_start[j],
				  n * sizeof(*model->opt)) == 0;
}

/*
 * Merging is exact: the constraints see types of equal options only by the sum
 * of their rows, and any flow of the sum can be divided among them.
 */
KanonStatus
ilp_model_compact(IlpModel *model, const bool *dead, KanonPace *pace)
{
	KanonEnv *env = model->env;
	uint32_t nf = 0;
	size_t pairs = 0;
	uint32_t *to = kanon_alloc(env, model->m, sizeof(*to));
	TypeOrder *order = kanon_alloc(env, model->m, 2 * sizeof(*order));
	uint32_t norder = 0;
	uint32_t m = 0;
	KanonStatus status = KANON_NO_MEMORY;

	drop_transpose(model);
	if (to == NULL || order == NULL)
		goto done;
	for (uint32_t f = 0; f < model->nf; f++)
	{
		size_t lo = model->start[f];
		size_t n = model->start[f + 1] - lo;

		if (dead != NULL && dead[f])
			continue;
		memmove(model->type + pairs, model->type + lo, n * sizeof(*model->type));
		model->id[nf] = model->id[f];
		model->w[nf] = model->w[f];
		model->start[nf++] = pairs;
		pairs += n;
	}
	model->nf = nf;
	model->start[nf] = pairs;
	if ((status = ilp_model_transpose(model, pace)) != KANON_OK)
		goto done;
	for (uint32_t i = 0; i < model->m; i++)
	{
		uint64_t hash = 0;

		to[i] = UINT32_MAX;
		if (model->opt_start[i] == model->opt_start[i + 1])
		{
			model->base += (double) model->n[i] * model->c[i];
			continue;
		}
		for (size_t p = model->opt_start[i]; p < model->opt_start[i + 1]; p++)
			hash += kanon_mix(model->opt[p]);
		order[norder++] = (TypeOrder){hash, i};
	}
	kanon_sort(order, order + model->m, norder, sizeof(*order), compare_type, NULL);
	for (uint32_t lo = 0, hi; lo < norder; lo = hi)
	{
		for (hi = lo + 1; hi < norder && order[hi].hash == order[lo].hash; hi++)
			;
		/* to[i] = the first type with the same options */
		for (uint32_t a = lo; a < hi; a++)
		{
			if (to[order[a].i] != UINT32_MAX)
				continue;
			to[order[a].i] = order[a].i;
			for (uint32_t b = a + 1; b < hi; b++)
				if (to[order[b].i] == UINT32_MAX && same_options(model, order[a].i, order[b].i))
					to[order[b].i] = order[a].i;
		}
	}
	drop_transpose(model);
	/* numbers of the types that stay; the first of a group has the smallest */
	for (uint32_t i = 0; i < model->m; i++)
	{
		if (to[i] == UINT32_MAX)
			continue;
		if (to[i] == i)
		{
			model->n[m] = model->n[i];
			model->c[m] = model->c[i];
			if (model->price != NULL)
				model->price[m] = model->price[i];
			to[i] = m++;
		}
		else
		{
			to[i] = to[to[i]] | 0x80000000u;
			model->n[to[i] & 0x7fffffffu] += model->n[i];
		}
	}
	model->m = m;
	pairs = 0;
	for (uint32_t f = 0; f < nf; f++)
	{
		size_t lo = model->start[f];

		model->start[f] = pairs;
		for (size_t p = lo; p < model->start[f + 1]; p++)
			if ((to[model->type[p]] & 0x80000000u) == 0)
				model->type[pairs++] = to[model->type[p]];
	}
	model->start[nf] = pairs;
	if (kanon_step(pace, (int64_t) pairs))
		status = KANON_CANCELLED;
done:
	kanon_free(env, to);
	kanon_free(env, order);
	return status;
}

KanonStatus
ilp_model_components(const IlpModel *model, uint32_t *part, uint32_t *nparts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < model->m; i++)
		part[i] = i;
	for (uint32_t f = 0; f < model->nf; f++)
	{
		uint32_t root = UINT32_MAX;

		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
		{
			uint32_t i = model->type[p];

			while (part[i] != i)
				i = part[i] = part[part[i]];
			if (root == UINT32_MAX)
				root = i;
			else if (i < root)
			{
				part[root] = i;
				root = i;
			}
			else
				part[i] = root;
		}
	}
	/* roots are the smallest of their part, so they are numbered first */
	for (uint32_t i = 0; i < model->m; i++)
	{
		if (part[i] == i)
			part[i] = n++ | 0x80000000u;
		else
			part[i] = part[part[i]];
	}
	for (uint32_t i = 0; i < model->m; i++)
		part[i] &= 0x7fffffffu;
	*nparts = n;
	return KANON_OK;
}

/*
 * `types` are those of whole components, ascending; id counts in `model`, which
 * must be transposed.  `renumber` [m of the whole] is scratch.
 */
KanonStatus
ilp_model_part(const IlpModel *model, const uint32_t *types, uint32_t ntypes, IlpModel *out,
			   uint32_t *renumber)
{
	uint32_t nf = 0;
	size_t pairs = 0;

	memset(out, 0, sizeof(*out));
	out->env = model->env;
	out->k = model->k;
	out->integral = model->integral;
	out->least = model->least;
	out->wide = model->wide;
	for (uint32_t j = 0; j < ntypes; j++)
		renumber[types[j]] = j;
	/* an instance belongs to the part of its first type: counted there */
	for (uint32_t j = 0; j < ntypes; j++)
		for (size_t p = model->opt_start[types[j]]; p < model->opt_start[types[j] + 1]; p++)
		{
			uint32_t f = model->opt[p];

			if (model->type[model->start[f]] == types[j])
			{
				nf++;
				pairs += model->start[f + 1] - model->start[f];
			}
		}
	if (!ilp_model_alloc(out, ntypes, nf, pairs))
	{
		ilp_model_free(out);
		return KANON_NO_MEMORY;
	}
	out->m = ntypes;
	for (uint32_t j = 0; j < ntypes; j++)
	{
		out->n[j] = model->n[types[j]];
		out->c[j] = model->c[types[j]];
	}
	pairs = 0;
	for (uint32_t j = 0; j < ntypes; j++)
		for (size_t p = model->opt_start[types[j]]; p < model->opt_start[types[j] + 1]; p++)
		{
			uint32_t f = model->opt[p];

			if (model->type[model->start[f]] != types[j])
				continue;
			out->id[out->nf] = f;
			out->w[out->nf] = model->w[f];
			out->start[out->nf++] = pairs;
			for (size_t q = model->start[f]; q < model->start[f + 1]; q++)
				out->type[pairs++] = renumber[model->type[q]];
		}
	out->start[out->nf] = pairs;
	return KANON_OK;
}

double
ilp_model_floor(const IlpModel *model)
{
	double sum = model->base;

	for (uint32_t i = 0; i < model->m; i++)
	{
		double least = model->c[i];

		if (model->opt_start[i] < model->opt_start[i + 1])
			least = fmin(least, model->w[model->opt[model->opt_start[i]]]);
		sum += (double) model->n[i] * least;
	}
	return sum;
}

double
ilp_model_ceiling(const IlpModel *model)
{
	double sum = model->base;

	for (uint32_t i = 0; i < model->m; i++)
		sum += (double) model->n[i] * model->c[i];
	return sum;
}

double
ilp_round_up(const IlpModel *model, double bound)
{
	return model->integral ? ceil(bound - 1e-4) : bound;
}

double
ilp_cutoff(const IlpModel *model, double cost)
{
	return model->integral ? cost - 1 : cost - 1e-9 * fmax(model->least, fabs(cost));
}

double
ilp_beyond(const IlpModel *model, double cutoff)
{
	/* (a gap leaves cutoffs that are no whole numbers) */
	return model->integral ? floor(cutoff + 1e-6) + 1 : cutoff + 1e-9 * fmax(model->least, fabs(cutoff));
}

/* ---- The grid on which the costs of instances lie, and the patterns in their order ---- */

/* The loss that sums of the cost of all rows may have, as a part of the most that all rows cost. */
#define ROUNDING 1e-15

/* The smallest weight, as a part of the largest, that GLPK's tolerance for prices (1e-7 of these) leaves in sight. */
#define WIDEST 1e-4
#define WIDEST_WHOLE 1e-7

/*
 * The largest number of which all weights are whole multiples, by Euclid's
 * algorithm in floating point; none when the multiples get too large for
 * exact sums.
 */
void
kanon_instances_grid(const KanonProblem *problem, KanonInstances *instances)
{
	double unit = 0;
	double largest = 0;
	double least = INFINITY;
	double total = 0;
	double rows = 0;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		double a = problem->columns[c].weight;
		double b = unit;

		largest = fmax(largest, a);
		least = a > 0 ? fmin(least, a) : least;
		total += a;
		if (b > a)
		{
			b = a;
			a = unit;
		}
		while (b > 1e-9 * largest)
		{
			double r = fmod(a, b);

			if (b - r < 1e-9 * largest)
				r = 0;
			a = b;
			b = r;
		}
		unit = a;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows += (double) problem->rows[i];
	instances->unit = largest > 0 ? largest : 1;
	instances->integral = false;
	if (unit > 0 && total / unit * rows < 1e12)
	{
		bool whole = true;

		for (int c = 0; c < problem->ncolumns; c++)
		{
			double multiple = problem->columns[c].weight / unit;

			/* all roundings together must stay far below one unit, and no weight is lost by them */
			if (fabs(multiple - rint(multiple)) * rows * problem->ncolumns > 1e-4 ||
				fabs(multiple - rint(multiple)) > KANON_SAME * multiple)
				whole = false;
		}
		if (whole)
		{
			instances->unit = unit;
			instances->integral = true;
		}
	}
	instances->all_cost = kanon_instances_cost(problem, instances, kanon_pattern_all(problem->ncolumns));
	instances->least = least < INFINITY ? least / instances->unit : 1;
	instances->rounding = instances->integral ? 0 : ROUNDING * rows * instances->all_cost;
	instances->wide =
		largest / instances->unit * (instances->integral ? WIDEST_WHOLE : WIDEST) > instances->least;
}

double
kanon_instances_slack(const KanonInstances *instances, double cost)
{
	return instances->integral ? 1e-3 : KANON_SAME * fmax(instances->least, fabs(cost));
}

double
kanon_instances_cost(const KanonProblem *problem, const KanonInstances *instances, KanonPattern pattern)
{
	double cost = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		if (kanon_has(pattern, c))
			cost += instances->integral ? rint(problem->columns[c].weight / instances->unit)
										: problem->columns[c].weight / instances->unit;
	return cost;
}

/*
 * A mask takes costs for equal that differ by a billionth of all weights, and puts these
 * patterns into another order.
 */
static bool
in_order(const double *cost, size_t n)
{
	for (size_t p = 1; p < n; p++)
		if (cost[p - 1] > cost[p] * (1 + KANON_SAME / 2))
			return false;
	return true;
}

KanonStatus
kanon_instances_patterns(const KanonProblem *problem, size_t limit, KanonPattern **patterns,
						 size_t *npatterns)
{
	KanonStatus status = kanon_mask_enumerate(problem, limit, patterns, npatterns);
	KanonScratch scratch = {.env = problem->env};
	KanonKeyed *order;
	KanonPattern *old;
	double *cost;
	size_t n = *npatterns;

	if (status != KANON_OK)
		return status;
	cost = kanon_take(&scratch, n, sizeof(*cost));
	order = kanon_take(&scratch, n, 2 * sizeof(*order));
	old = kanon_take(&scratch, n, sizeof(*old));
	status = kanon_taken(&scratch);
	for (size_t p = 0; p < n && status == KANON_OK; p++)
		cost[p] = kanon_pattern_cost(problem, (*patterns)[p]);
	if (status == KANON_OK && !in_order(cost, n))
	{
		memcpy(old, *patterns, n * sizeof(*old));
		for (size_t p = 0; p < n; p++)
			order[p] = (KanonKeyed){cost[p], (uint32_t) p};
		kanon_sort(order, order + n, n, sizeof(*order), kanon_compare_keyed, NULL);
		for (size_t p = 0; p < n; p++)
			(*patterns)[p] = old[order[p].item];
	}
	kanon_scratch_free(&scratch);
	if (status != KANON_OK)
	{
		kanon_free(problem->env, *patterns);
		*patterns = NULL;
	}
	return status;
}
