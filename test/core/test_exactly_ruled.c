/*
 * test_exactly_ruled.c: what comes out under rules beyond k, in parts, and of a table so large
 * that prices choose its instances, on tables that are the same everywhere (exactly.h).  Here
 * k alone is solved and the rules are seen to afterwards: a wrong line on the way there is hidden
 * by the last check, and shows as a release that is only worse.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "anytime/improve.h"
#include "cluster/cluster.h"
#include "diverse.h"
#include "exact.h"
#include "exact/ruled.h"
#include "exactly.h"
#include "freeform/graph.h"
#include "search/search.h"
#include "unclassed.h"

/* With tiny limits how often somebody looks, and what is told, is a matter of estimates of work. */
static const bool is_timed = KANON_POLL_WORK == 1 << 18;

static void
begin(Host *host)
{
	host->said = 0;
	host_tick(host);
}

static void
see_outcome(Seen *seen, const KanonProblem *problem, KanonStatus status, KanonRelease *release,
			const KanonReport *report)
{
	Host *host = problem->env->arg;

	seen_value(seen, status);
	if (is_timed)
	{
		seen_value(seen, host->said);
		seen_figure(seen, 0, (double) host->looks);
	}
	if (status == KANON_OK)
	{
		seen_figure(seen, 1, report->cost);
		seen_figure(seen, 2, report->lower_bound);
		seen_figure(seen, 3, report->guarantee);
		seen_figure(seen, 4, report->proven);
		seen_figure(seen, 5, (double) report->nodes);
		seen_figure(seen, 6, release->nclasses);
		seen_release(seen, problem, release);
	}
	seen_text(seen, report->detail);
	kanon_release_free(problem, release);
}

static void
solve_one(Seen *seen, const KanonProblem *problem, KanonSolve solve)
{
	KanonRelease release;
	KanonReport report = seen_garbage;
	KanonStatus status;

	begin(problem->env->arg);
	status = solve(problem, &release, &report);
	see_outcome(seen, problem, status, &release, &report);
}

/* ---- classes of any shape ---- */

static double squares[64];
static double with_null[KANON_MAX_COLUMNS][64];

/* The last columns are what rules look at; of the others some are numbers, and some of these have NULLs. */
static KanonProblem *
any_shape(Host *host, uint64_t *random, int i, bool rules, KanonClusterShow *show)
{
	KanonProblem *problem = exact_problem(host, random, 20 + (size_t) i % 5 * 9, rules ? 5 : 3,
										  3 + (uint32_t) i % 5, 1 + i % 4, i % 3 == 0);

	if (rules)
		diverse_make(problem, random, DIVERSE_ALL);
	for (int c = 0; c < problem->ncolumns; c++)
	{
		KanonColumn *column = &((KanonColumn *) problem->columns)[c];

		column->weight = (c + i) % 4;
		if (i % 3 == 2 && (c + i) % 2 == 0)
		{
			column->number = squares;
			if (i % 4 == 1)
			{
				memcpy(with_null[c], squares, sizeof(squares));
				with_null[c][column->distinct - 1] = NAN;
				column->number = with_null[c];
				column->has_null = true;
			}
		}
		show[c] = i % 3 == 0       ? KANON_CLUSTER_HIERARCHY
				  : column->number ? KANON_CLUSTER_RANGE
				  : i % 2 == 0     ? KANON_CLUSTER_SET
								   : KANON_CLUSTER_SUPPRESS;
	}
	problem->residual = (KanonResidual) (i % 3);
	problem->seed = (uint64_t) i;
	return problem;
}

static void
end(KanonProblem *problem, bool rules)
{
	Host *host = problem->env->arg;

	if (rules)
		diverse_free(problem);
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].number = NULL;
	assert_int_equal(host->blocks, 0);
	problem_free(problem);
}

static void
shapes(void **state)
{
	(void) state;
	for (int v = 0; v < 64; v++)
		squares[v] = v * v;
	for (const KanonSolver *method = kanon_cluster_methods; method->name != NULL; method++)
		for (int how = 0; how < 3; how++)
		{
			char what[48];
			Seen seen = {what};
			bool rules = how != 1;

			/* (which rows are matched is others' code's choice) */
			if (method->only_k != 0)
				continue;
			snprintf(what, sizeof(what), "%s, %s%s", method->name, rules ? "ruled" : "k alone",
					 how == 0 ? "" : ", in parts");
			for (int i = 0; i < (how == 0 ? 3 : 1) * SEEN_TABLES; i++)
			{
				KanonClusterShow show[KANON_MAX_COLUMNS];
				struct KanonClusterOptions options = {show, how == 0 ? 0 : 6 + (uint32_t) i % 7};
				uint64_t random = 800 + (uint64_t) i;
				Host host;
				KanonProblem *problem = any_shape(&host, &random, i, rules, show);

				problem->cluster = &options;
				if (i % 5 == 4 && is_timed)
					problem->time_limit = i % 7 * 4.5;
				solve_one(&seen, problem, method->solve);
				problem->cluster = NULL;
				end(problem, rules);
			}
			seen_compare(&seen);
		}
}

/* ---- patterns ---- */

static KanonProblem *
patterned(Host *host, uint64_t *random, int i, bool values)
{
	KanonProblem *problem =
		exact_problem(host, random, 50 + (size_t) i % 4 * 10, 7, 2 + (uint32_t) i % 2, 2 + i % 3, false);

	if (values)
		diverse_ask(problem, 2);
	else
		diverse_make(problem, random, DIVERSE_ALL);
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight =
			i % 5 == 3 ? 1 + 0.37 * ((c + i) % 3) : 1 + (c + i) % 3;
	problem->residual = (KanonResidual) (i % 3);
	problem->seed = (uint64_t) i;
	problem->effort = 0.003;
	return problem;
}

/* Greedy, as one that knew half its cost for a bound. */
static KanonStatus
solve_bounded(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = kanon_solve_greedy(problem, release, report);

	report->lower_bound = report->cost / 2;
	return status;
}

/* A solver of k alone, mended, compared with greedy, bounded and searched; with any time. */
static void
patterns(void **state)
{
	static const unsigned hows[] = {RULED_SEARCH | RULED_STRICT, RULED_SEARCH, RULED_STRICT, 0};

	(void) state;
	for (int how = 0; how < 4; how++)
	{
		char what[40];
		Seen seen = {what};

		snprintf(what, sizeof(what), "patterns, ruled %d", how);
		for (int i = 0; i < SEEN_TABLES; i++)
		{
			uint64_t random = 900 + (uint64_t) i;
			Host host;
			KanonProblem *problem = patterned(&host, &random, i, false);
			KanonRelease release;
			KanonReport report = seen_garbage;
			KanonStatus status;

			begin(&host);
			if (i % 4 == 3 && is_timed)
				problem->time_limit = 1.5 + i;
			status = ruled_solve(problem, hows[how] == RULED_STRICT ? solve_bounded : kanon_solve_greedy,
								 hows[how], &release, &report);
			see_outcome(&seen, problem, status, &release, &report);
			end(problem, true);
		}
		seen_compare(&seen);
	}
}

static double
search_one(Seen *seen, const KanonProblem *problem, const KanonInstances *instances,
		   const KanonRelease *start, double target, KanonPace *pace)
{
	KanonRelease release;
	double cost;
	KanonStatus status =
		kanon_search_ruled(problem, instances, start, NULL, 20000, target, &cost, &release, pace);

	seen_value(seen, status);
	seen_figure(seen, 0, cost);
	seen_figure(seen, 1, (double) kanon_worked(pace));
	if (status == KANON_OK && cost < INFINITY)
		seen_release(seen, problem, &release);
	kanon_release_free(problem, &release);
	return cost;
}

/* A row type of very many rows goes in and out: what its moves add up to has no last digits any more. */
static void
among_many(void **state)
{
	int searched = 0;

	(void) state;
	for (int i = 0; i < SEEN_TABLES; i++)
	{
		uint64_t random = 970 + (uint64_t) i;
		Host host;
		KanonProblem *problem = patterned(&host, &random, i, true);
		KanonInstances instances;
		KanonRelease start;
		KanonRelease found;
		KanonReport report = seen_garbage;
		KanonPace pace;
		double cost;

		problem->residual = KANON_RESIDUAL_SUPPRESS;
		((KanonColumn *) problem->columns)[1].weight = 1e6;
		((int64_t *) problem->rows)[i % 7] = INT64_C(1700000000000);
		diverse_reopen(problem);
		kanon_pace_limit(&pace, problem, "test");
		if (kanon_solve_greedy(problem, &start, &report) == KANON_OK)
		{
			assert_int_equal(
				kanon_instances_build(problem, KANON_INSTANCES_ALL, INFINITY, 1000000, &pace, &instances),
				KANON_OK);
			assert_int_equal(kanon_search_ruled(problem, &instances, &start, NULL, 300000, -INFINITY, &cost,
												&found, &pace),
							 KANON_OK);
			if (cost < INFINITY)
			{
				assert_int_equal(kanon_release_finish(problem, &found, &report), KANON_OK);
				assert_true(fabs(cost * instances.unit - report.cost) <= 1e-9 * report.cost);
				searched++;
			}
			kanon_release_free(problem, &found);
			kanon_instances_free(problem->env, &instances);
		}
		kanon_release_free(problem, &start);
		end(problem, true);
	}
	assert_true(searched > 0);
}

/* From what greedy finds: as it is, and without some rows, which are then in no class. */
static void
searches(void **state)
{
	Seen seen = {"searches, ruled"};
	int forbidden = 0;

	(void) state;
	for (int i = 0; i < SEEN_TABLES; i++)
	{
		uint64_t random = 950 + (uint64_t) i;
		Host host;
		KanonProblem *problem = patterned(&host, &random, i, i % 2 == 1);
		KanonInstances instances;
		KanonRelease release;
		KanonReport report = seen_garbage;
		KanonPace pace;

		kanon_pace_limit(&pace, problem, "test");
		if (kanon_solve_greedy(problem, &release, &report) == KANON_OK && release.nclasses > 1)
		{
			assert_int_equal(kanon_instances_build(problem,
												   i % 2 == 0 ? KANON_INSTANCES_ALL : KANON_INSTANCES_CLOSED,
												   INFINITY, 1000000, &pace, &instances),
							 KANON_OK);
			search_one(&seen, problem, &instances, &release, -INFINITY, &pace);
			search_one(&seen, problem, &instances, &release, report.cost * 0.97, &pace);
			/* the start is as good as the target, so that all that counts is whether it may be */
			for (size_t f = 0; f < release.nflows; f += 3)
			{
				uint32_t class = release.flows[f].class_;

				release.flows[f].class_ = KANON_DROPPED;
				forbidden += search_one(&seen, problem, &instances, &release, INFINITY, &pace) == INFINITY;
				release.flows[f].class_ = class;
			}
			kanon_instances_free(&host.env, &instances);
		}
		kanon_release_free(problem, &release);
		end(problem, true);
	}
	assert_true(forbidden > 0);
	seen_compare(&seen);
}

/* ---- instances that prices choose ---- */

static KanonProblem *
priced_problem(Host *host, uint64_t *random, int i)
{
	/* (one after the other: compilers take arguments in any order) */
	int64_t k = 2 + random_below(random, 4);
	int columns = 3 + (int) random_below(random, 4);
	size_t rows = 20 + random_below(random, 60);
	KanonProblem *problem = exact_problem(host, random, rows, columns, 3, k, true);

	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight =
			i % 3 == 2 ? 1 + 0.37 * ((c + i) % 3) : 1 + (c + i) % 3;
	problem->residual = (KanonResidual) (i % 3);
	return problem;
}

/* refuse_at: the allocation to refuse; 0: none.  False: it did not come to so many. */
static bool
price_one(Seen *seen, int i, size_t most, double limit, uint64_t refuse_at)
{
	uint64_t random = 1000 + (uint64_t) i;
	Host host;
	KanonProblem *problem = priced_problem(&host, &random, i);
	KanonInstances chosen;
	KanonReport report = seen_garbage;
	KanonPace pace;
	IlpResult greedy;
	IlpModel model;
	IlpPrices prices = {0};
	KanonStatus status;
	uint32_t first;
	bool reached;

	kanon_instances_grid(problem, &chosen);
	assert_int_equal(ilp_greedy(problem, &chosen, NULL, &greedy, &report), KANON_OK);
	begin(&host);
	problem->time_limit = limit;
	kanon_pace_limit(&pace, problem, "test");
	host.allocations = 0;
	host.refuse_at = refuse_at;
	status = improve_priced(problem, &greedy, most, i % 4 == 0 ? 0.2 : 1, &chosen, &first, &model, &prices,
							NULL, &pace);
	reached = host.allocations >= refuse_at;
	seen_value(seen, status);
	seen_value(seen, pace.late);
	seen_figure(seen, 0, (double) host.looks);
	seen_figure(seen, 1, pace.deadline);
	seen_figure(seen, 2, (double) kanon_worked(&pace));
	if (status == KANON_OK)
	{
		seen_value(seen, first);
		seen_value(seen, chosen.n);
		for (uint32_t f = 0; f < chosen.n; f++)
		{
			seen_pattern(seen, chosen.pattern[f]);
			seen_figure(seen, 3, (f % 7 + 1) * chosen.cost[f]);
			for (size_t p = chosen.start[f]; p < chosen.start[f + 1]; p++)
				seen_value(seen, chosen.type[p]);
		}
		seen_figure(seen, 4, prices.bound);
		seen_figure(seen, 5, (double) prices.steps);
		for (uint32_t t = 0; t < model.m; t++)
			seen_figure(seen, 6, (t % 7 + 1) * prices.y[t]);
		for (uint32_t f = 0; f < model.nf && prices.g != NULL; f++)
			seen_figure(seen, 7, (f % 7 + 1) * prices.g[f]);
		ilp_model_free(&model);
		ilp_prices_free(&host.env, &prices);
		kanon_instances_free(&host.env, &chosen);
	}
	kanon_release_free(problem, &greedy.release);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
	return reached;
}

static void
prices(void **state)
{
	static const size_t most[] = {1000000, 400, 200, 100, 40};
	static const double limits[] = {0.5, 1.5, 2.5, 4.5, 8.5, 16.5, 40.5};
	Seen seen = {"prices"};
	Seen late = {"prices in time"};
	Seen refused = {"prices refused"};

	(void) state;
	for (int i = 0; i < SEEN_TABLES; i++)
	{
		price_one(&seen, i, most[i % 5], INFINITY, 0);
		price_one(&late, i, most[i % 2], limits[i % 7], 0);
	}
	for (int i = 0; i < 3; i++)
		for (uint64_t at = 1; at < 400 && price_one(&refused, i, most[i], INFINITY, at); at++)
			;
	seen_compare(&seen);
	seen_compare(&late);
	seen_compare(&refused);
}

/* ---- graphs ---- */

static void
rings(void **state)
{
	Seen seen = {"ring, ruled"};

	(void) state;
	for (int i = 0; i < 2 * SEEN_TABLES; i++)
	{
		KanonFreeformOptions options = {.method = KANON_FREEFORM_RING, .partition_size = i % 5 == 2 ? 11 : 0};
		uint64_t random = 1100 + (uint64_t) i;
		Host host;
		KanonProblem *problem =
			exact_problem(&host, &random, 12 + (size_t) i % 30, 4, 2 + (uint32_t) i % 9, 1 + i % 4, false);

		diverse_make(problem, &random, 1u << KANON_DISTINCT_L | 1u << KANON_ALPHA);
		for (int r = 0; r < diverse_nrules; r++)
		{
			diverse_rules[r].joined = 0;
			diverse_rules[r].share = 0.3 + 0.1 * (i % 6);
		}
		diverse_reopen(problem);
		for (int c = 0; c < problem->ncolumns; c++)
		{
			((KanonColumn *) problem->columns)[c].weight = 1 + (c + i) % 3;
			if ((c + i) % 2 == 0)
				((KanonColumn *) problem->columns)[c].number = squares;
		}
		problem->freeform = &options;
		problem->seed = (uint64_t) i;
		solve_one(&seen, problem, kanon_solve_freeform);
		end(problem, true);
	}
	seen_compare(&seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),     cmocka_unit_test(patterns), cmocka_unit_test(searches),
		cmocka_unit_test(among_many), cmocka_unit_test(prices),   cmocka_unit_test(rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
