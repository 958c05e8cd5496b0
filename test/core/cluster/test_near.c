/*
 * test_near.c: releases near the one before of models whose classes are not those of
 * patterns: whoever shared a class shares one still, and where all may stay, all stays.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "diverse.h"
#include "fixture.h"
#include "lattice/full_domain.h"
#include "model/model.h"
#include "privacy/rules.h"
#include "subtree/subtree.h"

/* How each family solves. */
typedef enum Family
{
	CLUSTERS,
	NODES,
	WIDE_NODES,
	CUTS,
	FAMILIES
} Family;

typedef struct Case
{
	Host host;
	Family family;
	KanonProblem *problem;
	KanonPrivacyRule rule;
	KanonFullDomainOptions full_domain;
	KanonSubtreeOptions subtree;
	struct KanonClusterOptions cluster;
	KanonClusterShow show[KANON_MAX_COLUMNS];
	KanonSolve solve;
	KanonPattern *pattern; /* of classes before */
	uint32_t *before;      /* [ntypes] class, KANON_DROPPED: none */
	KanonPrevious previous;
} Case;

static int asked; /* for a release of the whole */

static KanonStatus
ask_mondrian(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	asked++;
	return kanon_solve_mondrian(problem, release, report);
}

static KanonStatus
ask_bottom_up(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	asked++;
	return kanon_solve_bottom_up(problem, release, report);
}

static void
open_rule(Case *test)
{
	if (test->problem->nextra > 0)
		assert_int_equal(kanon_privacy_open(test->problem, &test->rule, 1, &test->problem->privacy),
						 KANON_OK);
}

/* At times the last quasi-identifier becomes what a rule looks at. */
static void
add_rule(Case *test, uint64_t *random)
{
	static const KanonPrivacyRule some[] = {{.kind = KANON_DISTINCT_L, .l = 2},
											{.kind = KANON_ALPHA, .share = 0.7}};
	KanonProblem *problem = test->problem;

	if (random_below(random, 2) == 0 || problem->columns[problem->ncolumns - 1].level > 0)
		return;
	problem->ncolumns--;
	problem->nextra = 1;
	problem->extra = problem->columns + problem->ncolumns;
	diverse_dense((KanonColumn *) problem->extra, problem->ntypes);
	test->rule = some[random_below(random, 2)];
}

static void
case_open(Case *test, Family family, uint64_t *random)
{
	KanonProblem *problem;

	memset(test, 0, sizeof(*test));
	test->family = family;
	host_init(&test->host);
	problem = test->problem = problem_random_levels(&test->host, random, 1 + random_below(random, 60), 4, 3,
													1 + random_below(random, 5));
	problem->residual = KANON_RESIDUAL_SUPPRESS;
	add_rule(test, random);
	if (family == CLUSTERS)
	{
		for (int c = 0, q = 0; c < problem->ncolumns; c++)
			if (problem->columns[c].level == 0)
				test->show[q++] =
					c + 1 < problem->ncolumns && problem->columns[c + 1].level > 0
						? KANON_CLUSTER_HIERARCHY
						: (KanonClusterShow) (random_below(random, 3) == 0   ? KANON_CLUSTER_SUPPRESS
											  : random_below(random, 2) == 0 ? KANON_CLUSTER_RANGE
																			 : KANON_CLUSTER_SET);
		test->cluster.show = test->show;
		problem->cluster = &test->cluster;
		test->solve = random_below(random, 2) == 0 ? ask_mondrian : ask_bottom_up;
		if (random_below(random, 3) == 0)
			problem->residual = KANON_RESIDUAL_DROP;
	}
	else if (family == CUTS)
	{
		test->subtree = (KanonSubtreeOptions){.method = (KanonSubtreeMethod) random_below(random, 3),
											  .scheme = (KanonScheme) random_below(random, 2),
											  .class_column = -1};
		problem->subtree = &test->subtree;
		problem->residual = KANON_RESIDUAL_ERROR;
	}
	else
	{
		test->full_domain =
			(KanonFullDomainOptions){.suppression_limit = random_below(random, 2) == 0 ? 0 : 0.2,
									 .metric = (KanonMetric) random_below(random, 6),
									 .search = (KanonSearch) random_below(random, 3),
									 .most_nodes = family == WIDE_NODES ? 0.5 : 0};
		problem->full_domain = &test->full_domain;
	}
	open_rule(test);
}

static void
case_close(Case *test)
{
	kanon_privacy_close(test->problem->privacy);
	test->problem->privacy = NULL;
	/* the column is the problem's again */
	test->problem->ncolumns += test->problem->nextra;
	test->problem->nextra = 0;
	problem_free(test->problem);
	assert_int_equal(test->host.blocks, 0);
	free(test->pattern);
	free(test->before);
	free((void *) test->previous.flows);
}

/* Near the release before, or without one. */
static KanonStatus
case_solve(Case *test, bool near, KanonRelease *release, KanonReport *report)
{
	KanonOutcome outcome;

	asked = 0;
	test->subtree.previous = test->full_domain.previous = near ? &test->previous : NULL;
	if (test->family == CUTS)
		return kanon_solve_subtree(test->problem, release, report);
	if (test->family != CLUSTERS)
		return kanon_solve_full_domain(test->problem, &outcome, release, report);
	return near ? kanon_cluster_near(test->problem, &test->previous, test->solve, release, report)
				: test->solve(test->problem, release, report);
}

/* Remembers a release, but for types that are new today, and changes what there is. */
static void
one_night(Case *test, uint64_t *random, KanonRelease *release)
{
	KanonProblem *problem = test->problem;
	KanonFlow *flows = malloc(sizeof(KanonFlow) * (release->nflows + 1));
	uint32_t share = random_below(random, 4);

	test->pattern = malloc(sizeof(KanonPattern) * (release->nclasses + 1));
	test->before = malloc(sizeof(uint32_t) * problem->ntypes);
	memset(test->before, 0xff, sizeof(uint32_t) * problem->ntypes);
	for (uint32_t c = 0; c < release->nclasses; c++)
		test->pattern[c] = release->classes[c].pattern;
	test->previous = (KanonPrevious){release->nclasses, test->pattern, 0, flows};
	for (size_t f = 0; f < release->nflows; f++)
	{
		KanonFlow flow = release->flows[f];

		if (flow.class_ == KANON_DROPPED || random_below(random, 10) < share)
			continue;
		flows[test->previous.nflows++] = flow;
		/* of a type that is in several classes nothing is asked */
		test->before[flow.type] = flow.rows == problem->rows[flow.type] ? flow.class_ : KANON_DROPPED;
	}
	/* no more than there is, so that a look beyond the end is seen */
	test->previous.flows = realloc(flows, sizeof(KanonFlow) * test->previous.nflows + 1);
	for (uint32_t type = 0; type < problem->ntypes && share > 0; type++)
		if (random_below(random, 3) == 0)
			((int64_t *) problem->rows)[type] = 1 + random_below(random, 3);
	/* as if some rows had gone */
	problem->k += random_below(random, 3);
	kanon_privacy_close(problem->privacy);
	problem->privacy = NULL;
	open_rule(test);
}

/* The class of each type that has one class; KANON_DROPPED: suppressed by a node, or left out. */
static void
classes_of(const Case *test, const KanonRelease *release, uint32_t *class_)
{
	KanonPattern all = kanon_pattern_all(test->problem->ncolumns);

	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];
		bool none = flow->class_ == KANON_DROPPED || flow->rows < test->problem->rows[flow->type] ||
					(test->family != CUTS && test->family != CLUSTERS &&
					 kanon_same(release->classes[flow->class_].pattern, all));

		class_[flow->type] = none ? KANON_DROPPED : flow->class_;
	}
}

/* Could all classes before be classes today, with the types that are new as their cells say? */
static bool
all_may_stay(const Case *test)
{
	const KanonProblem *problem = test->problem;

	if (test->previous.nflows == 0)
		return false;
	for (uint32_t c = 0; c < test->previous.nclasses; c++)
	{
		uint32_t types[64];
		size_t n = 0;
		int64_t rows = 0;

		for (uint32_t type = 0; type < problem->ntypes; type++)
			if (test->before[type] == c)
			{
				types[n++] = type;
				rows += problem->rows[type];
			}
		if (n > 0 && !kanon_class_allowed(problem, types, NULL, n, rows))
			return false;
	}
	for (uint32_t type = 0; type < problem->ntypes; type++)
		if (test->before[type] == KANON_DROPPED)
			return false;
	return true;
}

static void
together(void **state)
{
	int pairs[FAMILIES] = {0}, whole[FAMILIES] = {0}, merged[FAMILIES] = {0};
	uint64_t random = 20;

	(void) state;
	for (int i = 0; i < FAMILIES * cases(1200); i++)
	{
		Case test;
		Family family = (Family) (i % FAMILIES);
		KanonRelease release;
		KanonReport report;
		uint32_t class_[64];
		bool stays;

		case_open(&test, family, &random);
		if (case_solve(&test, false, &release, &report) != KANON_OK)
		{
			case_close(&test);
			continue;
		}
		one_night(&test, &random, &release);
		kanon_release_free(test.problem, &release);
		stays = all_may_stay(&test);
		if (case_solve(&test, true, &release, &report) == KANON_OK)
		{
			bool anew = family == CLUSTERS ? asked > 0 : report.lower_bound > -INFINITY && family == CUTS;

			classes_of(&test, &release, class_);
			for (uint32_t a = 0; a < test.problem->ntypes && !anew; a++)
				for (uint32_t b = 0; b < a; b++)
				{
					bool were = test.before[a] == test.before[b] && test.before[a] != KANON_DROPPED &&
								(family == CLUSTERS || family == CUTS ||
								 !kanon_same(test.pattern[test.before[a]],
											 kanon_pattern_all(test.problem->ncolumns)));

					/* a node may suppress either */
					if (were && (family == CLUSTERS || family == CUTS ||
								 (class_[a] != KANON_DROPPED && class_[b] != KANON_DROPPED)))
					{
						assert_int_equal(class_[a], class_[b]);
						pairs[family]++;
					}
					if (stays && test.before[a] != test.before[b] && family != NODES && family != WIDE_NODES)
						assert_true(class_[a] != class_[b]);
					merged[family] += !were && class_[a] == class_[b];
				}
			/* a cut goes no lower than it was */
			for (size_t f = 0; f < test.previous.nflows && family == CUTS && !anew; f++)
			{
				const KanonFlow *flow = &test.previous.flows[f];

				assert_true(
					kanon_within(test.pattern[flow->class_], release.classes[class_[flow->type]].pattern));
			}
			whole[family] += stays && !anew;
			assert_false(report.proven && !anew);
			assert_int_equal(kanon_release_finish(test.problem, &release, &report), KANON_OK);
			kanon_release_free(test.problem, &release);
		}
		case_close(&test);
	}
	for (int f = 0; f < FAMILIES; f++)
		assert_true(pairs[f] > cases(1200) && whole[f] > cases(1200) / 20 && merged[f] > cases(1200));
}

/* Who of a population is in a class depends on all other classes: under such rules nothing stays for its own sake. */
static void
among_people(void **state)
{
	int clusters = 0, patterns = 0;
	uint64_t random = 23;

	(void) state;
	for (int i = 0; i < cases(400); i++)
	{
		Case test;
		KanonProblem *problem;
		KanonRelease release, anew;
		KanonReport report, plain;
		bool listed = i % 2 == 0;
		KanonSolve solve;

		case_open(&test, CLUSTERS, &random);
		problem = test.problem;
		solve = listed ? kanon_solve_greedy : ask_mondrian;
		if (listed)
			problem->cluster = NULL;
		if (solve(problem, &release, &report) != KANON_OK)
		{
			case_close(&test);
			continue;
		}
		one_night(&test, &random, &release);
		kanon_release_free(problem, &release);
		diverse_populations(problem, &random);
		/* any rows of it may be in a release; greedy takes k_map alone */
		for (int p = 0; p < problem->npopulations; p++)
		{
			((KanonPopulation *) problem->populations)[p].map |= listed;
			((KanonPopulation *) problem->populations)[p].least = 0;
			((KanonPopulation *) problem->populations)[p].most = 1;
		}
		problem->k_map |= listed;
		if (test.previous.nflows > 0 && solve(problem, &anew, &plain) == KANON_OK)
		{
			/* who of a population belongs to a class depends on all other classes: none is known to stay */
			assert_int_equal(listed ? kanon_solve_stable(problem, &test.previous, solve, &release, &report)
									: kanon_cluster_near(problem, &test.previous, solve, &release, &report),
							 KANON_NOT_FOUND);
			clusters += !listed;
			patterns += listed;
			kanon_release_free(problem, &release);
			kanon_release_free(problem, &anew);
		}
		diverse_free_populations(problem);
		case_close(&test);
	}
	assert_true(clusters > cases(400) / 10 && patterns > cases(400) / 10);
}

/* A node that one type alone is known to have shown is gone below by none. */
static void
one_flow(void **state)
{
	static const uint32_t code[] = {0, 0, 1, 0};

	(void) state;
	for (int method = 0; method < 3; method++)
		for (int scheme = 0; scheme < 2; scheme++)
		{
			Host host;
			KanonPattern above = kanon_span(0, 1);
			KanonFlow flow = {0, 0, 1};
			KanonPrevious previous = {1, &above, 1, &flow};
			KanonSubtreeOptions options = {
				.method = (KanonSubtreeMethod) method, .scheme = (KanonScheme) scheme, .class_column = -1};
			KanonProblem *problem;
			KanonRelease release;
			KanonReport report;

			host_init(&host);
			problem = problem_from_codes(&host, code, 2, 2, 2);
			problem_set_levels(problem, (int[]){0, 1});
			problem->residual = KANON_RESIDUAL_ERROR;
			problem->subtree = &options;
			/* as many today as each needs to be a class of its own */
			((int64_t *) problem->rows)[0] = ((int64_t *) problem->rows)[1] = 2;
			for (int near = 0; near < 2; near++)
			{
				options.previous = near ? &previous : NULL;
				assert_int_equal(kanon_solve_subtree(problem, &release, &report), KANON_OK);
				assert_int_equal(release.nclasses, near ? 1 : 2);
				kanon_release_free(problem, &release);
			}
			problem_free(problem);
			assert_int_equal(host.blocks, 0);
		}
}

/* Of nodes: the one before if it fulfils the rules, else the best of those above it, by a list of all. */
static void
nodes_above(void **state)
{
	int stayed = 0, rose = 0, hidden = 0;
	uint64_t random = 21;

	(void) state;
	for (int i = 0; i < cases(1500); i++)
	{
		Case test;
		KanonRelease release;
		KanonReport report;
		KanonOutcome listed, near;
		KanonNode *best = NULL, *before = NULL;
		KanonPattern all, start;
		KanonStatus status, first;
		bool suppressed = false;

		case_open(&test, i % 2 == 0 ? NODES : WIDE_NODES, &random);
		all = kanon_pattern_all(test.problem->ncolumns);
		if (kanon_solve_full_domain(test.problem, &near, &release, &report) != KANON_OK)
		{
			case_close(&test);
			continue;
		}
		start = near.best.pattern;
		one_night(&test, &random, &release);
		kanon_release_free(test.problem, &release);
		if (test.previous.nflows == 0)
		{
			case_close(&test);
			continue;
		}
		/* what was suppressed stays that, and the others are another problem */
		for (size_t f = 0; f < test.previous.nflows; f++)
			suppressed = suppressed || kanon_same(test.pattern[test.previous.flows[f].class_], all);
		if (suppressed)
		{
			test.full_domain.previous = &test.previous;
			if (kanon_solve_full_domain(test.problem, &near, &release, &report) == KANON_OK)
			{
				assert_true(stay_together(&test.previous, &release));
				hidden++;
				kanon_release_free(test.problem, &release);
			}
			case_close(&test);
			continue;
		}
		test.full_domain.explore = true;
		test.full_domain.most_nodes = 0;
		first = kanon_solve_full_domain(test.problem, &listed, &release, &report);
		if (first == KANON_OK)
		{
			for (int64_t n = 0; n < listed.nodes; n++)
			{
				KanonNode *node = &listed.all[n];
				double sign = test.full_domain.metric == KANON_METRIC_PRECISION ? -1 : 1;

				if (!node->fulfils || !kanon_within(start, node->pattern))
					continue;
				before = kanon_same(node->pattern, start) ? node : before;
				if (best == NULL || sign * node->metric < sign * best->metric)
					best = node;
			}
			best = before != NULL ? before : best;
			kanon_release_free(test.problem, &release);
		}
		test.full_domain.explore = false;
		test.full_domain.most_nodes = i % 2 == 0 ? 0 : 0.5;
		test.full_domain.previous = &test.previous;
		status = kanon_solve_full_domain(test.problem, &near, &release, &report);
		if (status != KANON_OK)
			assert_null(best);
		else
		{
			/* with suppressed rows a node above may break what one below keeps */
			if (best != NULL)
			{
				assert_false(near.proven);
				assert_true(fabs(near.best.metric - best->metric) <= 1e-9 * (1 + fabs(best->metric)));
				if (before != NULL)
					assert_true(kanon_same(near.best.pattern, start));
				stayed += before != NULL;
				rose += before == NULL;
			}
			kanon_release_free(test.problem, &release);
		}
		if (first == KANON_OK)
			kanon_free(&test.host.env, listed.all);
		case_close(&test);
	}
	assert_true(stayed > cases(1500) / 10 && rose > cases(1500) / 40 && hidden > cases(1500) / 40);
}

/* What is left of a pattern clustering: each class as it was, each pattern as often as it is listed. */
static void
patterns_once(void **state)
{
	int stayed = 0, near = 0;
	uint64_t random = 22;

	(void) state;
	for (int i = 0; i < cases(4000); i++)
	{
		Case test;
		KanonPattern list[6];
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;

		case_open(&test, CLUSTERS, &random);
		problem = test.problem;
		problem->k = 1 + random_below(&random, 3);
		problem->residual = KANON_RESIDUAL_ERROR;
		for (int p = 0; p < 6; p++)
		{
			list[p] = p == 0 ? kanon_pattern_all(problem->ncolumns) : KANON_NONE;
			for (int c = 0; c < problem->ncolumns && p > 0; c++)
				if (problem->columns[c].level == 0
						? random_below(&random, 3) < 2
						: kanon_has(list[p], c - 1) && random_below(&random, 2) == 0)
					kanon_add(&list[p], c);
		}
		problem->mask.list = list;
		problem->mask.nlist = 6;
		problem->mask.order = KANON_ORDER_GIVEN;
		if (kanon_solve_pattern_clustering_greedy(problem, &release, &report) != KANON_OK)
		{
			case_close(&test);
			continue;
		}
		one_night(&test, &random, &release);
		kanon_release_free(problem, &release);
		/* at times some patterns are not listed any more */
		problem->mask.nlist = 6 - random_below(&random, 2) * 3;
		if (kanon_solve_stable_once(problem, &test.previous, kanon_solve_pattern_clustering_greedy, &release,
									&report) == KANON_OK)
		{
			uint32_t class_[64];

			memset(class_, 0xff, sizeof(class_));
			classes_of(&test, &release, class_);
			for (uint32_t c = 0; c < release.nclasses; c++)
			{
				int used = 0, listed = 0;

				for (uint32_t other = 0; other < release.nclasses; other++)
					used += kanon_same(release.classes[other].pattern, release.classes[c].pattern);
				for (size_t p = 0; p < problem->mask.nlist; p++)
					listed += kanon_same(list[p], release.classes[c].pattern);
				assert_true(used <= listed);
			}
			near++;
			for (uint32_t type = 0; type < problem->ntypes && report.lower_bound == -INFINITY; type++)
				if (test.before[type] != KANON_DROPPED && class_[type] != KANON_DROPPED)
					stayed +=
						kanon_same(release.classes[class_[type]].pattern, test.pattern[test.before[type]]);
			assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
			kanon_release_free(problem, &release);
		}
		case_close(&test);
	}
	assert_true(near > cases(4000) / 10 && stayed > cases(4000));
}

/* One class of pattern 1 and one of 2 stay; of two new row types one fits a class, the other has the pattern left. */
static void
patterns_left(void **state)
{
	static const uint32_t code[][2] = {{0, 0}, {0, 1}, {0, 5}, {1, 7}, {2, 7}, {8, 8}, {9, 9}};
	static const KanonPattern list[] = {KANON_BITS(2), KANON_BITS(1), KANON_BITS(3)};
	const KanonPattern pattern[] = {KANON_BITS(2), KANON_BITS(1)};
	const KanonFlow flows[] = {{0, 0, 1}, {1, 0, 1}, {3, 1, 1}, {4, 1, 1}};
	KanonPrevious previous = {2, pattern, 4, flows};
	Host host;
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, code[0], sizeof(code) / sizeof(code[0]), 2, 2);
	problem->residual = KANON_RESIDUAL_ERROR;
	problem->mask.list = list;
	problem->mask.nlist = 3;
	problem->mask.order = KANON_ORDER_GIVEN;
	assert_int_equal(
		kanon_solve_stable_once(problem, &previous, kanon_solve_pattern_clustering_greedy, &release, &report),
		KANON_OK);
	/* three of zip 0, two of age 7, and two that show nothing */
	assert_int_equal(release.nclasses, 3);
	assert_true(report.cost == 3 + 2 + 4);
	kanon_release_free(problem, &release);
	/* without a pattern for them, all is made anew: everybody shows nothing, or there is none */
	problem->mask.nlist = 2;
	assert_true(kanon_solve_stable_once(problem, &previous, kanon_solve_pattern_clustering_greedy, &release,
										&report) != KANON_OK);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* Every allocation refused once, every poll answered with yes once. */
static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int what = 0; what < 2 * FAMILIES; what++)
	{
		Failure failure = {.how = what % 2 == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

		while (fails_again(&failure))
		{
			uint64_t random = 6;
			Case test;
			KanonRelease release;
			KanonReport report;

			/* one that has a release before, and one near it */
			for (;; case_close(&test))
			{
				case_open(&test, (Family) (what / 2), &random);
				if (test.problem->ntypes < 20 || case_solve(&test, false, &release, &report) != KANON_OK)
					continue;
				one_night(&test, &random, &release);
				kanon_release_free(test.problem, &release);
				if (case_solve(&test, true, &release, &report) == KANON_OK)
					break;
			}
			kanon_release_free(test.problem, &release);
			fail_at(&test.host, &failure);
			failure.status = case_solve(&test, true, &release, &report);
			test.host.refuse_at = test.host.cancel_at = 0;
			if (failure.status == KANON_OK)
				kanon_release_free(test.problem, &release);
			case_close(&test);
		}
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(together),          cmocka_unit_test(nodes_above),  cmocka_unit_test(patterns_once),
		cmocka_unit_test(patterns_left),     cmocka_unit_test(among_people), cmocka_unit_test(one_flow),
		cmocka_unit_test(memory_and_cancel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
