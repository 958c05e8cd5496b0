/*
 * test_exists.c: where a release keeps the rules, there is one: by brute force over small tables, under every rule.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "diverse.h"
#include "exact.h"
#include "lattice/full_domain.h"
#include "subtree/subtree.h"

/* Rows of a table that brute force takes, and ways to give them patterns. */
#define MAX_ROWS 7
#define MAX_WAYS 60000

static void
check_release(const KanonProblem *problem, const KanonRelease *release)
{
	uint32_t types[64];
	int64_t counts[64];

	assert_int_equal(release->dropped, 0);
	for (uint32_t class = 0; class < release->nclasses; class ++)
	{
		bool few = problem->residual == KANON_RESIDUAL_SUPPRESS && kanon_class_blank(problem, release, class);
		size_t n = 0;

		for (size_t f = 0; f < release->nflows; f++)
			if (release->flows[f].class_ == class)
			{
				types[n] = release->flows[f].type;
				counts[n++] = release->flows[f].rows;
			}
		assert_true(release->classes[class].rows >= problem->k || few);
		assert_true(diverse_allows(problem, types, counts, n, few));
	}
}

typedef struct Method
{
	const char *name;
	KanonSolve solve;
	int found;
	int none;
	int refused; /* though there is one */
	double lost; /* over the least, */
	double least;
} Method;

/* A table that brute force takes, with rules of all kinds; NULL: not this one. */
static KanonProblem *
small_problem(Host *host, uint64_t *random)
{
	KanonProblem *problem = problem_random(host, random, MAX_ROWS, 4);
	double rows = 0;

	if (problem->ncolumns >= 2 && problem->ntypes > 0)
	{
		diverse_make(problem, random, DIVERSE_ALL);
		for (uint32_t t = 0; t < problem->ntypes; t++)
			rows += (double) problem->rows[t];
		if (rows <= MAX_ROWS && kanon_mask_count(problem, 1000) >= 0 &&
			pow((double) kanon_mask_count(problem, 1000), rows) <= MAX_WAYS)
			return problem;
		diverse_free(problem);
	}
	problem_random_free(problem);
	return NULL;
}

static void
small_tables(void **state)
{
	static Method methods[] = {{"greedy", kanon_solve_greedy, 0, 0, 0, 0, 0},
							   {"improve", kanon_solve_improve, 0, 0, 0, 0, 0},
							   {"ilp", kanon_solve_ilp, 0, 0, 0, 0, 0},
							   {"best", kanon_solve_best, 0, 0, 0, 0, 0},
							   {"fpt", kanon_solve_fpt, 0, 0, 0, 0, 0}};
	unsigned kinds = 0;
	int tried = 0;
	int none = 0;

	(void) state;
	for (uint64_t i = 0; tried < exact_cases(5000); i++)
	{
		uint64_t random = 31000000 + i;
		Host host;
		KanonProblem *problem;
		double least;

		host_init(&host);
		problem = small_problem(&host, &random);
		if (problem == NULL)
			continue;
		problem->residual = tried % 4 == 0 ? KANON_RESIDUAL_SUPPRESS : KANON_RESIDUAL_FILL;
		problem->effort = 0.01;
		least = diverse_least(problem);
		/* of most of them the whole breaks a rule: one in four is enough */
		if (least == INFINITY && 4 * none > tried)
		{
			diverse_free(problem);
			problem_random_free(problem);
			continue;
		}
		tried++;
		none += least == INFINITY;
		kinds |= kanon_privacy_kinds(problem->privacy);
		for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
		{
			Method *method = &methods[m];
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			if (m > 0 && tried % 10 != 0)
				break;
			status = method->solve(problem, &release, &report);
			if (status == KANON_OK)
			{
				check_release(problem, &release);
				assert_true(report.cost >= least - 1e-6);
				method->lost += report.cost - least;
				method->least += least;
				method->found++;
			}
			else if (status != KANON_UNAVAILABLE && status != KANON_TOO_LARGE)
			{
				assert_true(report.detail[0] != '\0');
				method->refused += least < INFINITY;
				method->none++;
				if (least < INFINITY)
					print_error("%s, seed %llu: status %d, least %g: %s\n", method->name,
								(unsigned long long) (31000000 + i), (int) status, least, report.detail);
			}
			kanon_release_free(problem, &release);
		}
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	assert_int_equal(kinds, DIVERSE_ALL);
	for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
	{
		print_message("%s: %d releases, %d none, %.3f of the least cost\n", methods[m].name, methods[m].found,
					  methods[m].none, 1 + methods[m].lost / methods[m].least);
		assert_int_equal(methods[m].refused, 0);
		assert_true(methods[m].found > 0 && methods[m].none > 0);
	}
}

/* What is called proven is the least under the residual that was asked for, and "no release" is true: by every way to give rows patterns. */
static void
proofs(void **state)
{
	static const struct
	{
		const char *name;
		KanonSolve solve;
	} exact[] = {{"ilp", kanon_solve_ilp},
				 {"best", kanon_solve_best},
				 {"fpt", kanon_solve_fpt},
				 {"matching", kanon_solve_matching}};
	static const KanonResidual residuals[] = {KANON_RESIDUAL_FILL, KANON_RESIDUAL_SUPPRESS,
											  KANON_RESIDUAL_DROP, KANON_RESIDUAL_ERROR};
	int proven[4] = {0}, by_residual[4] = {0}, none = 0, tried = 0;

	(void) state;
	for (uint64_t i = 0; tried < exact_cases(3000); i++)
	{
		uint64_t random = 53000000 + i;
		Host host;
		KanonProblem *problem;
		double least;

		host_init(&host);
		problem = small_problem(&host, &random);
		if (problem == NULL)
			continue;
		if (i % 2 == 0)
			problem->k = 2;
		problem->residual = residuals[tried % 4];
		problem->effort = 0.01;
		least = diverse_least(problem);
		for (int m = 0; m < 4 && (least < INFINITY || 4 * none <= tried); m++)
		{
			KanonRelease release;
			KanonReport report;
			KanonStatus status;
			double cost;

			if (exact[m].solve == kanon_solve_matching && problem->k != 2)
				continue;
			status = exact[m].solve(problem, &release, &report);
			cost = status == KANON_OK ? exact_cost(problem, &release, &report) : INFINITY;
			if (status == KANON_INFEASIBLE
					? least < INFINITY
					: status == KANON_OK && (cost < least - 1e-6 || (report.proven && cost > least + 1e-6)))
			{
				print_error("%s, residual %d, seed %llu: status %d, cost %g, proven %d, least %g\n",
							exact[m].name, (int) problem->residual, (unsigned long long) (53000000 + i),
							(int) status, cost, report.proven, least);
				fail();
			}
			proven[m] += status == KANON_OK && report.proven;
			by_residual[tried % 4] += status == KANON_OK && report.proven;
			kanon_release_free(problem, &release);
		}
		tried += least < INFINITY || 4 * none <= tried;
		none += least == INFINITY && 4 * none <= tried;
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	print_message(
		"%d tables; proven: ilp %d, best %d, fpt %d, matching %d; fill %d, suppress %d, drop %d, error %d\n",
		tried, proven[0], proven[1], proven[2], proven[3], by_residual[0], by_residual[1], by_residual[2],
		by_residual[3]);
	for (int r = 0; r < 4; r++)
		assert_true(by_residual[r] > tried / 100);
}

/* Each pattern is in no more classes than it may be. */
static void
check_once(const KanonProblem *problem, const KanonRelease *release)
{
	for (uint32_t f = 0; f < release->nclasses; f++)
	{
		uint32_t classes = 0;
		uint32_t times = problem->mask.list == NULL;

		for (uint32_t g = 0; g < release->nclasses; g++)
			classes += kanon_same(release->classes[f].pattern, release->classes[g].pattern);
		for (size_t j = 0; problem->mask.list != NULL && j < problem->mask.nlist; j++)
			times += kanon_same(release->classes[f].pattern, problem->mask.list[j]);
		assert_true(classes <= times);
	}
}

/* Pattern clustering of few rows is exact under every rule: the least cost, proven, or that there is none. */
static void
small_clusterings(void **state)
{
	static const KanonSolve solves[] = {kanon_solve_pattern_clustering, kanon_solve_pattern_clustering_fpt,
										kanon_solve_pattern_clustering_greedy};
	unsigned kinds = 0;
	int tried = 0;
	int none = 0;
	int missed = 0; /* by who is a heuristic */
	int dearer = 0;

	(void) state;
	for (uint64_t i = 0; tried < exact_cases(5000); i++)
	{
		uint64_t random = 37000000 + i;
		Host host;
		KanonProblem *problem;
		double least;

		host_init(&host);
		problem = small_problem(&host, &random);
		if (problem == NULL)
			continue;
		problem->residual = KANON_RESIDUAL_ERROR;
		least = diverse_least_once(problem);
		if (least < INFINITY || 4 * none <= tried)
		{
			tried++;
			none += least == INFINITY;
			kinds |= kanon_privacy_kinds(problem->privacy);
			for (int m = 0; m < 3; m++)
			{
				KanonRelease release;
				KanonReport report;
				KanonStatus status = solves[m](problem, &release, &report);

				if (status == KANON_OK)
				{
					check_release(problem, &release);
					check_once(problem, &release);
					assert_true(report.lower_bound <= least + 1e-6 * fmax(1, least));
				}
				else
					assert_true(report.detail[0] != '\0');
				if (m < 2 && (least < INFINITY ? status != KANON_OK ||
													 (!report.proven && exact_provable(problem, least)) ||
													 fabs(report.cost - least) > 1e-6 * fmax(1, least)
											   : status != KANON_INFEASIBLE))
				{
					print_error("method %d, seed %llu: status %d, cost %g, least %g: %s\n", m,
								(unsigned long long) (37000000 + i), (int) status, report.cost, least,
								report.detail);
					fail();
				}
				missed += m == 2 && least < INFINITY && status != KANON_OK;
				dearer += m == 2 && status == KANON_OK && report.cost > least + 1e-6 * fmax(1, least);
				kanon_release_free(problem, &release);
			}
		}
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	print_message("%d tables, %d without a release; greedy misses %d and costs more in %d\n", tried, none,
				  missed, dearer);
	assert_int_equal(kinds, DIVERSE_ALL);
	assert_true(dearer > 0 && none > 0);
}

static bool
may_be_class(const KanonProblem *problem)
{
	uint32_t types[64];
	double rows = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		types[i] = i;
		rows += (double) problem->rows[i];
	}
	return problem->ntypes > 0 && rows >= (double) problem->k &&
		   diverse_allows(problem, types, NULL, problem->ntypes, false);
}

/* Places in the list of whole_tables. */
enum
{
	PAIRS = 10,
	TRIPLES,
	MATCHING,
	FULL_DOMAIN,
	TOP_DOWN
};

static KanonStatus
solve_full_domain(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonOutcome outcome;

	return kanon_solve_full_domain(problem, &outcome, release, report);
}

/* Where all rows together are a class, every method that makes classes of rows or patterns finds a release, and none breaks a rule. */
static void
whole_tables(void **state)
{
	static const Method methods[] = {{"greedy", kanon_solve_greedy, 0, 0, 0, 0, 0},
									 {"improve", kanon_solve_improve, 0, 0, 0, 0, 0},
									 {"ilp", kanon_solve_ilp, 0, 0, 0, 0, 0},
									 {"best", kanon_solve_best, 0, 0, 0, 0, 0},
									 {"mondrian", kanon_solve_mondrian, 0, 0, 0, 0, 0},
									 {"mondrian_relaxed", kanon_solve_mondrian_relaxed, 0, 0, 0, 0, 0},
									 {"forest", kanon_solve_forest, 0, 0, 0, 0, 0},
									 {"bottom_up", kanon_solve_bottom_up, 0, 0, 0, 0, 0},
									 {"top_down", kanon_solve_top_down, 0, 0, 0, 0, 0},
									 {"gather", kanon_solve_gather, 0, 0, 0, 0, 0},
									 {"pairs", kanon_solve_pairs, 0, 0, 0, 0, 0},
									 {"triples", kanon_solve_triples, 0, 0, 0, 0, 0},
									 {"matching", kanon_solve_matching, 0, 0, 0, 0, 0},
									 {"full_domain", solve_full_domain, 0, 0, 0, 0, 0},
									 {"top_down", kanon_solve_subtree, 0, 0, 0, 0, 0},
									 {"optimal", kanon_solve_subtree, 0, 0, 0, 0, 0},
									 {"tds", kanon_solve_subtree, 0, 0, 0, 0, 0}};
	KanonClusterShow show[KANON_MAX_COLUMNS] = {0};
	struct KanonClusterOptions options = {.show = show};
	KanonFullDomainOptions recoded = {.search = KANON_SEARCH_FLASH};
	int found[sizeof(methods) / sizeof(methods[0])] = {0};
	unsigned kinds = 0;
	int tried = 0;

	(void) state;
	for (int q = 0; q < KANON_MAX_COLUMNS; q++)
		show[q] = KANON_CLUSTER_SUPPRESS;
	for (uint64_t i = 0; tried < exact_cases(5000); i++)
	{
		uint64_t random = 41000000 + i;
		Host host;
		KanonProblem *problem;
		KanonMask mask;
		bool fine;

		host_init(&host);
		problem = problem_random(&host, &random, 30, 5);
		if (problem->ncolumns < 2 || problem->ntypes == 0)
		{
			problem_random_free(problem);
			continue;
		}
		diverse_make(problem, &random, DIVERSE_ALL);
		mask = problem->mask;
		fine = may_be_class(problem);
		tried += fine;
		kinds |= fine ? kanon_privacy_kinds(problem->privacy) : 0;
		problem->effort = 0.001;
		for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]) && fine; m++)
		{
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			KanonSubtreeOptions cuts = {.class_column = -1, .method = (KanonSubtreeMethod) (m - TOP_DOWN)};
			int64_t k = problem->k;

			if ((m == MATCHING || m == PAIRS) && k != 2)
				continue;
			if (m == TRIPLES && k != 3)
				continue;
			problem->cluster = m < 4 || m >= MATCHING ? NULL : &options;
			problem->full_domain = m == FULL_DOMAIN ? &recoded : NULL;
			problem->subtree = m >= TOP_DOWN ? &cuts : NULL;
			if (m == 4)
				problem->mask = (KanonMask){.max_suppressed = -1, .max_cost = INFINITY};
			problem->residual = m < 4 || m == MATCHING ? KANON_RESIDUAL_FILL : KANON_RESIDUAL_ERROR;
			status = methods[m].solve(problem, &release, &report);
			if (status != KANON_OK && status != KANON_TOO_LARGE && status != KANON_UNAVAILABLE)
			{
				print_error("%s, seed %llu: status %d: %s\n", methods[m].name,
							(unsigned long long) (41000000 + i), (int) status, report.detail);
				fail();
			}
			if (status == KANON_OK)
				check_release(problem, &release);
			found[m] += status == KANON_OK;
			kanon_release_free(problem, &release);
			problem->subtree = NULL;
			problem->full_domain = NULL;
		}
		problem->cluster = NULL;
		problem->mask = mask;
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	assert_int_equal(kinds, DIVERSE_ALL);
	for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
		print_message("%s: %d releases\n", methods[m].name, found[m]);
}

/* Do all rows together keep the rules about populations?  Everybody matches what shows nothing. */
static bool
keeps_populations(const KanonProblem *problem, int64_t rows)
{
	bool keeps = problem->k_map || rows >= problem->k;

	for (int p = 0; p < problem->npopulations; p++)
	{
		const KanonPopulation *population = &problem->populations[p];
		double chance = (double) rows / (double) population->total;

		keeps = keeps && (population->map ? population->total >= problem->k
										  : chance >= population->least && chance <= population->most);
	}
	return keeps;
}

/* The same under rules about populations, by the methods that take them. */
static void
whole_populations(void **state)
{
	static const char *const names[] = {"greedy", "mondrian", "samarati", "incognito", "flash",
										"speedy", "top_down", "optimal",  "tds"};
	int tried = 0, found[9] = {0};

	(void) state;
	for (uint64_t i = 0; tried < exact_cases(5000); i++)
	{
		uint64_t random = 61000000 + i;
		KanonClusterShow show[KANON_MAX_COLUMNS] = {0};
		struct KanonClusterOptions options = {.show = show};
		Host host;
		KanonProblem *problem;
		int64_t rows = 0;
		bool maps = true, whole;

		host_init(&host);
		problem = problem_random_levels(&host, &random, 1 + random_below(&random, 12),
										1 + (int) random_below(&random, 2), 3, 1 + random_below(&random, 4));
		diverse_populations(problem, &random);
		for (uint32_t t = 0; t < problem->ntypes; t++)
			rows += problem->rows[t];
		for (int p = 0; p < problem->npopulations; p++)
			maps = maps && problem->populations[p].map;
		for (int q = 0; q < kanon_count_qis(problem); q++)
			show[q] = kanon_first_column(problem, q + 1) > kanon_first_column(problem, q) + 1
						  ? KANON_CLUSTER_HIERARCHY
						  : KANON_CLUSTER_SUPPRESS;
		whole = keeps_populations(problem, rows);
		tried += whole;
		for (int m = 0; m < 9 && whole; m++)
		{
			KanonFullDomainOptions recoded = {.search = (KanonSearch) (m - 2),
											  .suppression_limit = i % 2 == 0 ? 0 : 0.4};
			KanonSubtreeOptions cuts = {.class_column = -1,
										.method = (KanonSubtreeMethod) (m - 6),
										.scheme = i % 3 == 0 ? KANON_SCHEME_SIBLING : KANON_SCHEME_SUBTREE};
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			if (m == 0 && !maps)
				continue;
			problem->residual = m == 1 || m >= 6 ? KANON_RESIDUAL_ERROR : (KanonResidual) (i % 4);
			/* (k is not asked of what is suppressed then: so it is set for a call) */
			if (problem->k_map && problem->residual == KANON_RESIDUAL_FILL)
				problem->residual = KANON_RESIDUAL_SUPPRESS;
			/* (greedy refuses then what it would have to fill up) */
			if (m == 0 && problem->residual == KANON_RESIDUAL_ERROR)
				continue;
			problem->cluster = m == 1 ? &options : NULL;
			problem->full_domain = m >= 2 && m < 6 ? &recoded : NULL;
			problem->subtree = m >= 6 ? &cuts : NULL;
			status = m == 0   ? kanon_solve_greedy(problem, &release, &report)
					 : m == 1 ? kanon_solve_mondrian(problem, &release, &report)
					 : m < 6  ? solve_full_domain(problem, &release, &report)
							  : kanon_solve_subtree(problem, &release, &report);
			if (status != KANON_OK)
			{
				print_error("%s, residual %d, seed %llu: status %d: %s\n", names[m], (int) problem->residual,
							(unsigned long long) (61000000 + i), (int) status, report.detail);
				fail();
			}
			found[m]++;
			kanon_release_free(problem, &release);
		}
		problem->cluster = NULL;
		problem->full_domain = NULL;
		problem->subtree = NULL;
		assert_int_equal(host.blocks, 0);
		diverse_free_populations(problem);
		problem_free(problem);
	}
	for (int m = 0; m < 9; m++)
		print_message("%s: %d releases under rules about populations\n", names[m], found[m]);
}

/* A dozen rows, and patterns that no row may lack; the last column is what a rule of a kind is about. */
static KanonProblem *
dozen(Host *host, KanonPrivacyKind kind)
{
	static const KanonPattern list[] = {KANON_NONE,    KANON_BITS(1), KANON_BITS(2), KANON_BITS(3),
										KANON_BITS(5), KANON_BITS(6), KANON_BITS(7)};
	uint64_t random = 3;
	uint32_t code[12 * 4];
	KanonProblem *problem;

	host_init(host);
	for (size_t i = 0; i < 12 * 4; i++)
		code[i] = random_below(&random, 3);
	problem = problem_from_codes(host, code, 12, 4, 3);
	problem->residual = KANON_RESIDUAL_ERROR;
	problem->mask.list = list;
	problem->mask.nlist = 7;
	diverse_ask(problem, 2);
	diverse_rules[0].kind = kind;
	diverse_reopen(problem);
	return problem;
}

/* Memory that is refused, or a poll answered with yes, at any time. */
static void
failing_clusterings(void **state)
{
	static const KanonPrivacyKind kinds[] = {KANON_DISTINCT_L, KANON_ENTROPY_L};

	(void) state;
	for (int i = 0; i < 4; i++)
	{
		bool reached = true;

		for (uint64_t at = 1; reached; at = next_failure(at))
		{
			Host host;
			KanonProblem *problem = dozen(&host, kinds[i / 2]);
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			if (i % 2 == 0)
				host.refuse_at = host.allocations + at;
			else
				host.cancel_at = at;
			status = kanon_solve_pattern_clustering(problem, &release, &report);
			reached = i % 2 == 0 ? host.allocations >= host.refuse_at : host.polls >= at;
			assert_true(status == (!reached     ? KANON_OK
								   : i % 2 == 0 ? KANON_NO_MEMORY
												: KANON_CANCELLED) ||
						(i % 2 == 0 && status == KANON_OK));
			if (status == KANON_OK)
				check_release(problem, &release);
			if (status == KANON_OK && !reached)
				assert_true(report.proven);
			kanon_release_free(problem, &release);
			diverse_free(problem);
			assert_int_equal(host.blocks, 0);
			problem_free(problem);
		}
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_tables),      cmocka_unit_test(proofs),
		cmocka_unit_test(small_clusterings), cmocka_unit_test(failing_clusterings),
		cmocka_unit_test(whole_tables),      cmocka_unit_test(whole_populations),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
