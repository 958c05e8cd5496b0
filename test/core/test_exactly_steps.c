/*
 * test_exactly_steps.c: what the steps of the exact and the anytime solver come to, each taken
 * alone, on tables that are the same everywhere (exactly.h): the instances, the model and its
 * reductions, bounds, cuts, rounding, the search.  In a release they hardly show: a worse bound,
 * cut or move only takes longer, or proves less.  None of them needs GLPK.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"
#include "exactly.h"
#include "program/bound.h"
#include "program/cuts.h"
#include "program/flow.h"
#include "search/search.h"

/* What all steps need of a table. */
typedef struct Steps
{
	Host host;
	KanonProblem *problem;
	KanonPace pace;
	KanonInstances instances;
	IlpModel model;
} Steps;

static double
random_double(uint64_t *random)
{
	return (double) random_below(random, 1000001) / 1e6;
}

/* The table's costs are whole, or not; some of the instances may be missing. */
static void
begin(Steps *steps, uint64_t *random, int i, double share)
{
	/* (one after the other: compilers take arguments in any order) */
	int64_t k = 2 + random_below(random, 4);
	int columns = 2 + (int) random_below(random, 4);
	size_t rows = 12 + random_below(random, 30);
	KanonProblem *problem = exact_problem(&steps->host, random, rows, columns, 3, k, true);

	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight =
			i % 3 == 2 ? 1 + 0.37 * ((c + i) % 3) : 1 + (c + i) % 3;
	steps->problem = problem;
	kanon_pace_limit(&steps->pace, problem, "test");
	kanon_instances_grid(problem, &steps->instances);
	assert_int_equal(kanon_instances_build(problem, KANON_INSTANCES_CLOSED,
										   share < 1 ? steps->instances.all_cost * share : INFINITY, 1000000,
										   &steps->pace, &steps->instances),
					 KANON_OK);
	assert_int_equal(ilp_model_build(problem, &steps->instances, i % 4 == 1, &steps->pace, &steps->model),
					 KANON_OK);
	assert_int_equal(ilp_model_compact(&steps->model, NULL, &steps->pace), KANON_OK);
	assert_int_equal(ilp_model_transpose(&steps->model, &steps->pace), KANON_OK);
}

static void
end(Seen *seen, Steps *steps)
{
	seen_figure(seen, 9, (double) kanon_worked(&steps->pace));
	seen_value(seen, steps->host.said);
	ilp_model_free(&steps->model);
	kanon_instances_free(steps->problem->env, &steps->instances);
	assert_int_equal(steps->host.blocks, 0);
	problem_free(steps->problem);
}

static void
see_list(Seen *seen, const IlpList *list)
{
	seen_value(seen, (int64_t) list->n);
	for (size_t i = 0; i < list->n; i++)
		seen_value(seen, list->v[i]);
}

static void
see_instances(Seen *seen, const KanonInstances *instances)
{
	seen_value(seen, instances->n);
	seen_value(seen, instances->integral);
	seen_value(seen, instances->closed);
	seen_value(seen, instances->steps);
	for (uint32_t f = 0; f < instances->n; f++)
	{
		seen_pattern(seen, instances->pattern[f]);
		seen_figure(seen, 0, (f % 7 + 1) * instances->cost[f]);
		seen_value(seen, (int64_t) instances->start[f + 1]);
		for (size_t p = instances->start[f]; p < instances->start[f + 1]; p++)
			seen_value(seen, instances->type[p]);
	}
	seen_figure(seen, 1, instances->all_cost);
	seen_figure(seen, 2, instances->unit);
}

static void
see_model(Seen *seen, const IlpModel *model)
{
	seen_value(seen, model->k);
	seen_value(seen, model->integral);
	seen_value(seen, model->m);
	seen_value(seen, model->nf);
	seen_figure(seen, 0, model->base);
	for (uint32_t i = 0; i < model->m; i++)
	{
		seen_value(seen, model->n[i]);
		seen_figure(seen, 1, (i % 7 + 1) * model->c[i]);
	}
	for (uint32_t f = 0; f < model->nf; f++)
	{
		seen_value(seen, model->id[f]);
		seen_figure(seen, 2, (f % 7 + 1) * model->w[f]);
		seen_value(seen, (int64_t) model->start[f + 1]);
		for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
			seen_value(seen, model->type[p]);
	}
	for (uint32_t i = 0; i < model->m && model->opt_start != NULL; i++)
		for (size_t p = model->opt_start[i]; p < model->opt_start[i + 1]; p++)
			seen_value(seen, model->opt[p]);
	if (model->opt_start != NULL)
		seen_figure(seen, 3, ilp_model_floor(model));
	seen_figure(seen, 4, ilp_model_ceiling(model));
}

static void
see_prices(Seen *seen, const IlpModel *model, const IlpPrices *prices)
{
	seen_figure(seen, 0, prices->bound);
	seen_figure(seen, 1, (double) prices->steps);
	for (uint32_t i = 0; i < model->m; i++)
		seen_figure(seen, 2, (i % 7 + 1) * prices->y[i]);
	for (uint32_t f = 0; f < model->nf && prices->g != NULL; f++)
		seen_figure(seen, 3, (f % 7 + 1) * prices->g[f]);
}

/* Of what a pattern shows every second type, of some patterns nothing. */
static uint32_t
sieve(void *arg, double cost, const uint32_t *types, uint32_t ntypes, uint32_t *kept)
{
	uint32_t *calls = arg;
	uint32_t n = 0;

	for (uint32_t j = 0; j < ntypes && ++*calls % 5 != 0; j++)
		if ((types[j] + (uint32_t) cost) % 2 == 0)
			kept[n++] = types[j];
	return n;
}

static void
instances(void **state)
{
	Seen seen = {"instances"};
	uint64_t random = 21;

	(void) state;
	for (int i = 0; i < 4 * SEEN_TABLES; i++)
	{
		Host host;
		KanonProblem *problem;
		KanonPace pace;
		KanonInstances grid;

		host_init(&host);
		problem = problem_random(&host, &random, 40, 5);
		kanon_pace_limit(&pace, problem, "test");
		kanon_instances_grid(problem, &grid);
		for (int mode = 0; mode < 6; mode++)
		{
			KanonInstances found;
			KanonStatus status;

			/* all; those that cost less than some; more than there may be */
			status = kanon_instances_build(
				problem, mode % 2 == 0 ? KANON_INSTANCES_ALL : KANON_INSTANCES_CLOSED,
				mode / 2 == 1 ? grid.all_cost / 2 : INFINITY, mode / 2 == 2 ? 40 : 100000, &pace, &found);
			seen_value(&seen, status);
			if (status == KANON_OK)
				see_instances(&seen, &found);
			kanon_instances_free(&host.env, &found);
		}
		for (int few = 0; few < 2; few++)
		{
			KanonInstances found = {0};
			uint32_t calls = 0;
			KanonStatus status =
				kanon_instances_sift(problem, sieve, &calls, few ? 30 : 100000, &pace, &found);

			seen_value(&seen, status);
			seen_value(&seen, calls);
			if (status == KANON_OK)
				see_instances(&seen, &found);
			kanon_instances_free(&host.env, &found);
		}
		seen_figure(&seen, 9, (double) kanon_worked(&pace));
		problem_random_free(problem);
		assert_int_equal(host.blocks, 0);
	}
	seen_compare(&seen);
}

/* Reduced, divided, with other rows. */
static void
models(void **state)
{
	Seen seen = {"models"};
	uint64_t random = 22;

	(void) state;
	for (int i = 0; i < 2 * SEEN_TABLES; i++)
	{
		Steps steps;
		IlpModel *model = &steps.model;
		IlpModel other;
		IlpList list = {0};
		uint32_t *part, *types, *renumber;
		uint32_t nparts, ntypes = 0;
		double *c;
		bool *dead;

		begin(&steps, &random, i, i % 2 == 0 ? 1 : 0.6);
		see_model(&seen, model);
		part = malloc(3 * (model->m + 1) * sizeof(*part));
		types = part + model->m + 1;
		renumber = types + model->m + 1;
		c = malloc((model->m + 1) * sizeof(*c));
		assert_int_equal(ilp_model_components(model, part, &nparts), KANON_OK);
		seen_value(&seen, nparts);
		for (uint32_t t = 0; t < model->m; t++)
		{
			seen_value(&seen, part[t]);
			if (part[t] != nparts / 2)
				types[ntypes++] = t;
		}
		assert_int_equal(ilp_model_part(model, types, ntypes, &other, renumber), KANON_OK);
		see_model(&seen, &other);
		for (uint32_t t = 0; t < ntypes; t++)
			seen_value(&seen, renumber[types[t]]);
		ilp_model_free(&other);
		ntypes = 0;
		for (uint32_t t = 0; t < model->m; t++)
			if (t % 3 != 1)
			{
				c[ntypes] = model->c[t] + t % 2;
				types[ntypes++] = t;
			}
		for (uint32_t f = 0; f < model->nf; f++)
			if (f % 3 != 0)
				assert_true(ilp_list_add(model->env, &list, f));
		assert_int_equal(ilp_model_within(model, types, ntypes, model->n, c, &list, &other, renumber),
						 KANON_OK);
		see_model(&seen, &other);
		ilp_model_free(&other);
		dead = calloc(model->nf + 1, sizeof(*dead));
		for (uint32_t f = 0; f < model->nf; f++)
			dead[f] = f % 4 == 0;
		if (i % 2 == 0)
		{
			/* what belongs to a type goes with it */
			model->price = calloc(model->m + 1, sizeof(*model->price));
			memcpy(model->price, model->c, model->m * sizeof(*model->price));
			assert_int_equal(ilp_model_compact(model, dead, &steps.pace), KANON_OK);
			assert_memory_equal(model->price, model->c, model->m * sizeof(*model->price));
			free(model->price);
			model->price = NULL;
		}
		see_model(&seen, model);
		list.n = 0;
		/* some rows are dearer where others are that would save: the least dear make up the k */
		for (uint32_t t = 0; t < model->m && i % 3 == 1; t++)
			model->c[t] *= 0.1 * (1 + t * 7 % 10);
		assert_int_equal(ilp_reduce(model, &list, &steps.pace), KANON_OK);
		see_model(&seen, model);
		see_list(&seen, &list);
		for (int x = 0; x < 5; x++)
		{
			double cost = ilp_model_ceiling(model) * random_double(&random);

			seen_figure(&seen, 5, ilp_round_up(model, cost));
			seen_figure(&seen, 6, ilp_cutoff(model, floor(cost)));
			seen_figure(&seen, 7, ilp_beyond(model, cost));
		}
		kanon_free(model->env, list.v);
		free(dead);
		free(c);
		free(part);
		end(&seen, &steps);
	}
	seen_compare(&seen);
}

/* Whole and not, from no prices and from some, in a box; what they rule out. */
static void
bounds(void **state)
{
	Seen seen = {"bounds"};
	uint64_t random = 23;

	(void) state;
	for (int i = 0; i < 2 * SEEN_TABLES; i++)
	{
		Steps steps;
		IlpModel *model = &steps.model;
		IlpPrices prices = {0};
		double upper;

		begin(&steps, &random, i, i % 2 == 0 ? 1 : 0.3 + 0.5 * random_double(&random));
		upper = ilp_model_ceiling(model) * (0.6 + 0.4 * random_double(&random));
		for (int64_t more = 20; more <= 320; more *= 4)
		{
			assert_int_equal(ilp_bound(model, upper, more, &prices, &steps.pace), KANON_OK);
			see_prices(&seen, model, &prices);
		}
		if (i % 2 == 0)
		{
			IlpModel copy;
			IlpList fixed = {0};
			IlpBox box;
			uint32_t dropped;

			assert_int_equal(ilp_box_around(model, prices.y, 0.4, &box), KANON_OK);
			for (uint32_t t = 0; t < model->m; t++)
				seen_figure(&seen, 4, (t % 7 + 1) * (box.low[t] + 2 * box.high[t]));
			assert_int_equal(ilp_box_model(model, &box, &copy, &steps.pace), KANON_OK);
			see_model(&seen, &copy);
			assert_int_equal(ilp_lagrange_within(&copy, &box, upper, 600, &prices, &steps.pace), KANON_OK);
			ilp_model_free(&copy);
			ilp_box_free(model->env, &box);
			assert_int_equal(ilp_price(model, &prices, &steps.pace), KANON_OK);
			see_prices(&seen, model, &prices);
			assert_int_equal(
				ilp_fixed_copy(model, &prices, prices.bound + 1 + i % 5, &copy, &fixed, &steps.pace),
				KANON_OK);
			see_model(&seen, &copy);
			see_list(&seen, &fixed);
			ilp_model_free(&copy);
			kanon_free(model->env, fixed.v);
			assert_int_equal(ilp_fix(model, &prices, prices.bound + 1 + i % 5, &dropped, &steps.pace),
							 KANON_OK);
			seen_value(&seen, dropped);
			see_model(&seen, model);
		}
		ilp_prices_free(model->env, &prices);
		end(&seen, &steps);
	}
	seen_compare(&seen);
}

/* A fractional solution by chance: what it violates, and what it is rounded to. */
static void
cuts(void **state)
{
	Seen seen = {"cuts"};
	uint64_t random = 24;

	(void) state;
	for (int i = 0; i < 2 * SEEN_TABLES; i++)
	{
		Steps steps;
		IlpModel *model = &steps.model;
		IlpCuts found = {0};
		double *u, *x;

		begin(&steps, &random, i, 1);
		u = malloc((model->nf + 1) * sizeof(*u));
		x = malloc((model->start[model->nf] + 1) * sizeof(*x));
		for (int again = 0; again < 3; again++)
		{
			IlpList open = {0};
			double cost = INFINITY;

			for (uint32_t f = 0; f < model->nf; f++)
			{
				u[f] = random_below(&random, 3) == 0 ? random_below(&random, 5) / 4.0 : 0;
				for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
					x[p] = random_below(&random, 3) > 0 ? u[f] * (double) model->n[model->type[p]] / 2 : 0;
			}
			assert_int_equal(ilp_cuts_find(model, u, x, &found, &steps.pace), KANON_OK);
			seen_figure(&seen, 0, (double) found.n);
			for (size_t c = 0; c < found.n; c++)
			{
				const IlpCut *cut = &found.cut[c];

				seen_value(&seen, (int64_t) cut->start);
				seen_value(&seen, cut->ntypes);
				seen_value(&seen, cut->ninstances);
				seen_value(&seen, cut->rows);
				seen_value(&seen, cut->missing);
				seen_value(&seen, cut->classes);
			}
			see_list(&seen, &found.number);
			assert_int_equal(ilp_round(model, u, &cost, &open, &steps.pace), KANON_OK);
			seen_figure(&seen, 1, cost);
			see_list(&seen, &open);
			if (isfinite(cost))
			{
				KanonFlow *flows;
				size_t nflows;

				assert_int_equal(ilp_assign(model, &open, &cost, &flows, &nflows, &steps.pace), KANON_OK);
				seen_figure(&seen, 2, cost);
				for (size_t n = 0; n < nflows; n++)
				{
					seen_value(&seen, flows[n].type);
					seen_value(&seen, flows[n].class_);
					seen_value(&seen, flows[n].rows);
				}
				kanon_free(model->env, flows);
			}
			kanon_free(model->env, open.v);
		}
		ilp_cuts_free(model->env, &found);
		free(u);
		free(x);
		end(&seen, &steps);
	}
	seen_compare(&seen);
}

/* By reduced costs and without, with more work each time. */
static void
searches(void **state)
{
	Seen seen = {"searches"};
	uint64_t random = 25;

	(void) state;
	for (int i = 0; i < SEEN_TABLES; i++)
	{
		Steps steps;
		IlpModel *model = &steps.model;
		IlpPrices prices = {0};

		begin(&steps, &random, i, 1);
		assert_int_equal(ilp_bound(model, ilp_model_ceiling(model), 100, &prices, &steps.pace), KANON_OK);
		assert_int_equal(ilp_price(model, &prices, &steps.pace), KANON_OK);
		for (int again = 0; again < 4; again++)
		{
			IlpList open = {0};
			double cost = INFINITY;

			assert_int_equal(ilp_search(model, (uint64_t) (i + again), 600 << 2 * again, 0,
										again == 3 ? prices.bound + 1 : -INFINITY,
										again % 2 == 0 ? prices.g : NULL, &cost, &open, &steps.pace),
							 KANON_OK);
			seen_figure(&seen, again, cost);
			see_list(&seen, &open);
			seen_figure(&seen, 4 + again, (double) kanon_worked(&steps.pace));
			kanon_free(model->env, open.v);
		}
		ilp_prices_free(model->env, &prices);
		end(&seen, &steps);
	}
	seen_compare(&seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instances), cmocka_unit_test(models),   cmocka_unit_test(bounds),
		cmocka_unit_test(cuts),      cmocka_unit_test(searches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
