/*
 * test_steps.c: the steps of the exact and the anytime method, each taken alone: parts of a model, bounds, cuts,
 * rounding, the search.  In a release they hardly show: a worse bound, cut or move only takes longer, or proves less.
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
#include "pattern/program/program_model.h"
#include "pattern/search/search.h"

/* What all steps need of a table. */
typedef struct Steps
{
	Host host;
	KanonProblem *problem;
	KanonPace pace;
	KanonInstances instances;
	IlpModel model;
} Steps;

#define TABLES 60

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
end(Steps *steps)
{
	ilp_model_free(&steps->model);
	kanon_instances_free(steps->problem->env, &steps->instances);
	assert_int_equal(steps->host.blocks, 0);
	problem_free(steps->problem);
}

/* Rows that some instance has together are in one part, and a part's model has all their instances, at their costs. */
static void
parts(void **state)
{
	uint64_t random = 22;
	int divided = 0;

	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		Steps steps;
		IlpModel *model = &steps.model;
		uint32_t *part, *types, *renumber, nparts;
		uint32_t instances = 0;

		begin(&steps, &random, i, 0.3);
		part = malloc(3 * (model->m + 1) * sizeof(*part));
		types = part + model->m + 1;
		renumber = types + model->m + 1;
		assert_int_equal(ilp_model_components(model, part, &nparts), KANON_OK);
		for (uint32_t f = 0; f < model->nf; f++)
			for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
				assert_int_equal(part[model->type[p]], part[model->type[model->start[f]]]);
		for (uint32_t of = 0; of < nparts; of++)
		{
			uint32_t ntypes = 0;
			IlpModel other;

			for (uint32_t t = 0; t < model->m; t++)
				if (part[t] == of)
					types[ntypes++] = t;
			assert_int_equal(ilp_model_part(model, types, ntypes, &other, renumber), KANON_OK);
			assert_int_equal(other.m, ntypes);
			for (uint32_t t = 0; t < ntypes; t++)
			{
				assert_int_equal(other.n[renumber[types[t]]], model->n[types[t]]);
				assert_true(other.c[renumber[types[t]]] == model->c[types[t]]);
			}
			instances += other.nf;
			ilp_model_free(&other);
		}
		assert_int_equal(instances, model->nf);
		divided += nparts > 1;
		free(part);
		end(&steps);
	}
	assert_true(divided > TABLES / 10);
}

/* What belongs to a type goes with it where instances die. */
static void
compacted(void **state)
{
	uint64_t random = 26;

	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		Steps steps;
		IlpModel *model = &steps.model;
		bool *dead;
		uint32_t live = 0;

		begin(&steps, &random, i, i % 2 == 0 ? 1 : 0.6);
		dead = calloc(model->nf + 1, sizeof(*dead));
		for (uint32_t f = 0; f < model->nf; f++)
		{
			dead[f] = f % 4 == 0;
			live += !dead[f];
		}
		model->price = calloc(model->m + 1, sizeof(*model->price));
		memcpy(model->price, model->c, model->m * sizeof(*model->price));
		assert_int_equal(ilp_model_compact(model, dead, &steps.pace), KANON_OK);
		assert_int_equal(model->nf, live);
		assert_memory_equal(model->price, model->c, model->m * sizeof(*model->price));
		free(model->price);
		model->price = NULL;
		free(dead);
		end(&steps);
	}
}

static int
compare_ids(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *) a, right = *(const uint32_t *) b;

	return left < right ? -1 : left > right;
}

/*
 * A bound holds for all that a search finds, rises with more steps, keeps that solution's instances when others are
 * ruled out at its cost, and in the sum comes close to what searches find.
 */
static void
bounds_and_searches(void **state)
{
	uint64_t random = 23;
	double bound = 0, first = 0, last = 0;
	uint32_t ruled_out = 0, instances = 0;

	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		Steps steps;
		IlpModel *model = &steps.model;
		IlpPrices prices = {0};
		double cost = INFINITY, before = -INFINITY;
		uint32_t dropped, *best;
		size_t nbest = 0;

		begin(&steps, &random, i, 1);
		best = malloc((model->nf + 1) * sizeof(*best));
		for (int64_t more = 20; more <= 320; more *= 4)
		{
			assert_int_equal(ilp_bound(model, ilp_model_ceiling(model), more, &prices, &steps.pace),
							 KANON_OK);
			assert_true(prices.bound >= before);
			before = prices.bound;
		}
		assert_int_equal(ilp_price(model, &prices, &steps.pace), KANON_OK);
		for (int again = 0; again < 4; again++)
		{
			IlpList open = {0};
			double found = INFINITY, assigned;
			KanonFlow *flows;
			size_t nflows;

			assert_int_equal(ilp_search(model,
										&(SearchPlan){(uint64_t) (i + again), 600 << 2 * again, -INFINITY,
													  again % 2 == 0 ? prices.g : NULL},
										&found, &open, &steps.pace),
							 KANON_OK);
			assert_int_equal(ilp_assign(model, &open, &assigned, &flows, &nflows, &steps.pace), KANON_OK);
			assert_true(fabs(assigned - found) <= 1e-9 * (1 + found));
			assert_true(prices.bound <= found * (1 + 1e-9) + 1e-9);
			first += again == 0 ? found : 0;
			last += again == 3 ? found : 0;
			if (found < cost)
			{
				cost = found;
				for (nbest = 0; nbest < open.n; nbest++)
					best[nbest] = model->id[open.v[nbest]];
				qsort(best, nbest, sizeof(*best), compare_ids);
			}
			kanon_free(model->env, flows);
			kanon_free(model->env, open.v);
		}
		bound += prices.bound;
		instances += model->nf;
		assert_int_equal(ilp_fix(model, &prices, cost + 1e-6 * (1 + cost), &dropped, &steps.pace), KANON_OK);
		ruled_out += dropped;
		/* (what is open in the best solution costs no more than that) */
		for (size_t n = 0, f = 0; n < nbest; n++)
		{
			while (f < model->nf && model->id[f] < best[n])
				f++;
			assert_true(f < model->nf && model->id[f] == best[n]);
		}
		free(best);
		ilp_prices_free(model->env, &prices);
		end(&steps);
	}
	print_message("bound %g, searches %g to %g, ruled out %u of %u\n", bound, first, last, ruled_out,
				  instances);
	assert_true(bound >= 0.95 * last && last <= 0.98 * first);
	assert_true(ruled_out > instances / 10);
}

/* What is found violated is, by some solution by chance. */
static void
cuts(void **state)
{
	uint64_t random = 24;
	size_t found = 0;

	(void) state;
	for (int i = 0; i < TABLES; i++)
	{
		Steps steps;
		IlpModel *model = &steps.model;
		IlpCuts cuts = {0};
		double *u, *x;

		begin(&steps, &random, i, 1);
		u = malloc((model->nf + 1) * sizeof(*u));
		x = malloc((model->start[model->nf] + 1) * sizeof(*x));
		for (int again = 0; again < 3; again++)
		{
			for (uint32_t f = 0; f < model->nf; f++)
			{
				u[f] = random_below(&random, 3) == 0 ? random_below(&random, 5) / 4.0 : 0;
				for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
					x[p] = random_below(&random, 3) > 0 ? u[f] * (double) model->n[model->type[p]] / 2 : 0;
			}
			assert_int_equal(ilp_cuts_find(model, u, x, &cuts, &steps.pace), KANON_OK);
		}
		found += cuts.n;
		ilp_cuts_free(model->env, &cuts);
		free(u);
		free(x);
		end(&steps);
	}
	print_message("%zu cuts\n", found);
	assert_true(found > TABLES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test(compacted),
		cmocka_unit_test(bounds_and_searches),
		cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
