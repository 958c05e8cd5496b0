/*
 * search_parts.c: exactly solved neighbourhoods.
 *
 * P. Shaw, "Using constraint programming and local search methods to solve
 * vehicle routing problems", CP 1998 (large neighbourhood search).  Some classes
 * that lie near each other are dissolved and the rows freed are divided anew at
 * least cost, by prices, fixing and GLPK, while all other classes stand (and
 * take freed rows at their price).  Most parts are proven to be as good as they
 * can be by the prices alone.
 */
#include <math.h>
#include <string.h>

#include "pattern/search/search.h"
#include "pattern/program/bound.h"
#include "pattern/program/glpk.h"
#include "util/sort.h"
#include "util/scratch.h"

/* Rows of the first part, and of the smallest. */
#define FIRST_ROWS 60
#define LEAST_ROWS 12

/* Subgradient steps for a part. */
#define PRICE_STEPS 150

/* Pairs that are left to GLPK, and nodes that it gets. */
#define MAX_PAIRS 6000
#define MAX_NODES 10

typedef struct Part
{
	size_t nunits;
	uint32_t *unit; /* [n] freed, by type once sort_units is done */
	uint32_t *mark; /* [n] stamp: unit is in the part */
	uint32_t stamp;
	IlpList classes; /* dissolved */
	double cost;     /* of the rows as they are */
	uint32_t ntypes;
	uint32_t *type;     /* [m] ascending */
	int64_t *rows;      /* [m] of the part's type */
	double *fallback;   /* [m] cheapest class that stands, or the model's */
	uint32_t *standing; /* [m] that class, or NONE */
	size_t *first;      /* [m + 1] its units */
	uint32_t *renumber; /* [m] scratch */
	IlpList instances;  /* that the freed rows can fill */
	IlpModel model;
} Part;

static void
add_unit(Search *s, Part *part, uint32_t u)
{
	if (part->mark[u] == part->stamp)
		return;
	part->mark[u] = part->stamp;
	part->unit[part->nunits++] = u;
	part->cost += search_cost(s, u, s->unit[u].in) * (double) s->unit[u].rows;
}

/* A unit's class with all its rows, or the unit alone when it has none. */
static bool
add_class(Search *s, Part *part, uint32_t u)
{
	uint32_t f = s->unit[u].in;

	if (part->mark[u] == part->stamp)
		return true;
	if (f == NONE)
	{
		add_unit(s, part, u);
		return true;
	}
	for (uint32_t v = s->instance[f].head; v != NONE; v = s->unit[v].next)
		add_unit(s, part, v);
	return ilp_list_add(s->env, &part->classes, f);
}

/*
 * Classes near each other: with rows that fit an instance of a row that is in
 * already, and dearer ones first, as there is more to gain.
 */
static bool
choose(Search *s, Part *part, size_t rows)
{
	const IlpModel *model = s->model;
	uint32_t start = search_below(s, s->n);
	uint32_t other = search_below(s, s->n);

	if (search_cost(s, other, s->unit[other].in) > search_cost(s, start, s->unit[start].in))
		start = other;
	part->stamp++;
	part->nunits = 0;
	part->cost = 0;
	part->classes.n = 0;
	if (!add_class(s, part, start))
		return false;
	for (size_t tries = 0; tries < 4 * rows && part->nunits < rows; tries++)
	{
		uint32_t u = part->unit[search_below(s, part->nunits)];
		uint32_t i = s->unit[u].type;
		size_t options = model->opt_start[i + 1] - model->opt_start[i];
		uint32_t f = model->opt[model->opt_start[i] + search_below(s, options)];
		size_t size = model->start[f + 1] - model->start[f];
		uint32_t j = model->type[model->start[f] + search_below(s, size)];
		size_t units = s->type[j + 1].first - s->type[j].first;

		if (!add_class(s, part, (uint32_t) s->type[j].first + search_below(s, units)))
			return false;
	}
	s->pace->work += (int64_t) (part->nunits + rows) * 4;
	return true;
}

/* Units by type, rows and fallback of each type. */
static void
sort_units(Search *s, Part *part)
{
	const IlpModel *model = s->model;
	uint32_t *at = part->renumber;
	size_t sum = 0;

	memset(at, 0, model->m * sizeof(*at));
	for (size_t j = 0; j < part->nunits; j++)
		at[s->unit[part->unit[j]].type]++;
	/* classes of the part do not stand */
	for (size_t j = 0; j < part->classes.n; j++)
		search_hide(s, part->classes.v[j]);
	part->ntypes = 0;
	for (uint32_t i = 0; i < model->m; i++)
		if (at[i] > 0)
		{
			uint32_t t = part->ntypes++;
			uint32_t f = search_cheapest(s, i);

			part->type[t] = i;
			part->rows[t] = at[i];
			part->standing[t] = f;
			part->fallback[t] = f == NONE ? model->c[i] : model->w[f];
			part->first[t] = sum;
			sum += at[i];
		}
	part->first[part->ntypes] = sum;
	for (size_t j = 0; j < part->classes.n; j++)
		search_show(s, part->classes.v[j]);
	/* the units of a type stand together, so those in the part are found anew */
	sum = 0;
	for (uint32_t t = 0; t < part->ntypes; t++)
	{
		uint32_t i = part->type[t];

		for (size_t u = s->type[i].first; u < s->type[i + 1].first; u++)
			if (part->mark[u] == part->stamp)
				part->unit[sum++] = (uint32_t) u;
		s->pace->work += (int64_t) (s->type[i + 1].first - s->type[i].first);
	}
	s->pace->work += model->m / 4;
}

/* The instances with k freed rows at least, of which one would gain. */
static KanonStatus
list_instances(Search *s, Part *part)
{
	const IlpModel *model = s->model;
	size_t ntouched = 0;

	s->stamp++;
	for (uint32_t t = 0; t < part->ntypes; t++)
	{
		uint32_t i = part->type[t];

		for (size_t p = model->opt_start[i]; p < model->opt_start[i + 1]; p++)
		{
			uint32_t f = model->opt[p];

			if (s->instance[f].stamp != s->stamp)
			{
				s->instance[f].stamp = s->stamp;
				s->instance[f].count = 0;
				s->instance[f].score = 0;
				s->touched[ntouched++] = f;
			}
			s->instance[f].count += part->rows[t];
			s->instance[f].score = kanon_max(s->instance[f].score, part->fallback[t] - model->w[f]);
		}
		s->pace->work += (int64_t) (model->opt_start[i + 1] - model->opt_start[i]) * 2;
	}
	part->instances.n = 0;
	for (size_t j = 0; j < ntouched; j++)
		if (s->instance[s->touched[j]].count >= model->k && s->instance[s->touched[j]].score > 0 &&
			!ilp_list_add(s->env, &part->instances, s->touched[j]))
			return KANON_NO_MEMORY;
	/* s->touched is free again */
	kanon_sort(part->instances.v, s->touched, part->instances.n, sizeof(uint32_t), kanon_compare_numbers,
			   NULL);
	return KANON_OK;
}

/* The part's rows go to the instances `open` of its model, at least cost. */
static KanonStatus
divide(Search *s, Part *part, const IlpList *open)
{
	KanonFlow *flows = NULL;
	size_t nflows = 0;
	double cost;
	KanonStatus status = ilp_assign(&part->model, open, &cost, &flows, &nflows, s->pace);

	if (status == KANON_OK && cost < part->cost - 1e-9)
	{
		for (size_t j = 0; j < part->nunits; j++)
			search_put(s, part->unit[j], NONE);
		for (size_t j = 0; j < nflows; j++)
		{
			uint32_t t = flows[j].type;
			uint32_t f =
				flows[j].class_ < open->n ? part->model.id[open->v[flows[j].class_]] : part->standing[t];

			for (int64_t r = 0; r < flows[j].rows; r++)
				search_put(s, part->unit[part->first[t]++], f);
		}
	}
	kanon_free(s->env, flows);
	return status;
}

/* GLPK for what fixing leaves of a part; *solved: nothing better is in it. */
static KanonStatus
solve_part(Search *s, Part *part, const IlpPrices *prices, double cutoff, bool *solved)
{
	static const IlpSettings settings = {
		.cuts = true, .branching = 2, .max_nodes = MAX_NODES, .free_fallback = true};
	KanonEnv *env = s->env;
	KanonReport report;
	IlpModel copy;
	IlpOutcome outcome = {.cost = INFINITY};
	IlpList open = {0};
	IlpList used = {0};
	KanonStatus status = ilp_fixed_copy(&part->model, prices, cutoff, &copy, &used, s->pace);

	*solved = false;
	if (status == KANON_OK && copy.start[copy.nf] <= MAX_PAIRS)
	{
		if (copy.nf == 0)
		{
			outcome.found = copy.base <= cutoff + ILP_EPS;
			outcome.complete = true;
		}
		else
			status = ilp_glpk(&copy, cutoff, &settings, &outcome, &open, s->pace, &report);
		*solved = outcome.complete;
		if (status == KANON_OK && outcome.found)
		{
			for (size_t j = 0; j < open.n && status == KANON_OK; j++)
				if (!ilp_list_add(env, &used, copy.id[open.v[j]]))
					status = KANON_NO_MEMORY;
			if (status == KANON_OK)
				status = divide(s, part, &used);
		}
	}
	ilp_model_free(&copy);
	kanon_free(env, open.v);
	kanon_free(env, used.v);
	return status;
}

/* One part of about so many rows. */
static KanonStatus
try_part(Search *s, Part *part, size_t rows, bool *solved)
{
	KanonEnv *env = s->env;
	IlpPrices prices = {0};
	double cutoff;
	KanonStatus status;

	if (!choose(s, part, rows))
		return KANON_NO_MEMORY;
	sort_units(s, part);
	status = list_instances(s, part);
	if (status != KANON_OK)
		return status;
	status = ilp_model_within(s->model, part->type, part->ntypes, part->rows, part->fallback,
							  &part->instances, &part->model, part->renumber);
	if (status == KANON_OK)
		status = ilp_model_transpose(&part->model, s->pace);
	cutoff = ilp_cutoff(s->model, part->cost);
	if (status == KANON_OK)
		status = ilp_lagrange(&part->model, part->cost, PRICE_STEPS, &prices, s->pace);
	*solved = true;
	if (status == KANON_OK && ilp_round_up(s->model, prices.bound) <= cutoff + ILP_EPS && !s->pace->late)
		status = solve_part(s, part, &prices, cutoff, solved);
	ilp_prices_free(env, &prices);
	ilp_model_free(&part->model);
	return status;
}

KanonStatus
search_parts(Search *s, double work, double target)
{
	const IlpModel *model = s->model;
	KanonScratch scratch = {.env = s->env};
	Part part = {0};
	int64_t begin = kanon_worked(s->pace);
	double rows = FIRST_ROWS;
	KanonStatus status;

	part.unit = kanon_take(&scratch, s->n, sizeof(*part.unit));
	part.mark = kanon_take0(&scratch, s->n, sizeof(*part.mark));
	part.type = kanon_take(&scratch, model->m, sizeof(*part.type));
	part.rows = kanon_take(&scratch, model->m, sizeof(*part.rows));
	part.fallback = kanon_take(&scratch, model->m, sizeof(*part.fallback));
	part.standing = kanon_take(&scratch, model->m, sizeof(*part.standing));
	part.first = kanon_take(&scratch, (size_t) model->m + 1, sizeof(*part.first));
	part.renumber = kanon_take(&scratch, model->m, sizeof(*part.renumber));
	status = kanon_taken(&scratch);
	while (status == KANON_OK && s->cost > target && !s->pace->late &&
		   (double) (kanon_worked(s->pace) - begin) < work)
	{
		bool solved = false;

		kanon_tell_share(s->pace, kanon_min(1, (double) (kanon_worked(s->pace) - begin) / work));
		status = try_part(s, &part, (size_t) rows, &solved);
		/* as large as can be solved */
		rows = solved ? kanon_min(rows * 1.04, s->n) : kanon_max(rows * 0.85, LEAST_ROWS);
		if (status == KANON_OK && kanon_step(s->pace, 100))
			status = KANON_CANCELLED;
	}
	/* without GLPK, or memory for it, what was found stands */
	if (status == KANON_UNAVAILABLE || status == KANON_NO_MEMORY)
		status = KANON_OK;
	kanon_scratch_free(&scratch);
	kanon_free(s->env, part.classes.v);
	kanon_free(s->env, part.instances.v);
	return status;
}
