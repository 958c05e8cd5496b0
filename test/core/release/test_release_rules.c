/*
 * test_release_rules.c: a release whose classes break a rule beyond k, or one about a
 * population, is found out; and a release near the one before keeps the rules, too.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "privacy/population.h"
#include "privacy/rules.h"
#include "lattice/full_domain.h"
#include "model/model.h"
#include "util/sort.h"

/* ---- populations ---- */

/* Three values, and classes that show them; one row of each, and maybe one that shows nothing. */
typedef struct Counted
{
	Host host;
	KanonProblem *problem;
	KanonPopulation population;
	const uint32_t *code[1];
	KanonRelease release;
	KanonReport report;
} Counted;

static const uint32_t three[] = {0, 1, 2};

static KanonStatus
finish(const int64_t *rows, bool map, double least, double most, bool blank, const char **detail)
{
	static Counted c;
	static KanonFullDomainOptions options;
	uint32_t shown = blank ? 2 : 3;
	KanonStatus status;

	memset(&c, 0, sizeof(c));
	host_init(&c.host);
	c.problem = problem_from_codes(&c.host, three, 3, 1, 3);
	c.code[0] = three;
	c.population = (KanonPopulation){.map = map,
									 .least = least,
									 .most = most,
									 .ntypes = 3,
									 .rows = rows,
									 .total = rows[0] + rows[1] + rows[2]};
	c.population.code[0] = three;
	c.problem->populations = &c.population;
	c.problem->npopulations = 1;
	c.problem->k_map = true;
	/* the rules of classes that do not overlap */
	c.problem->full_domain = &options;
	c.release.nclasses = 3;
	c.release.classes = kanon_alloc0(c.problem->env, 3, sizeof(KanonClass));
	c.release.cells = kanon_alloc0(c.problem->env, 3, sizeof(KanonCell));
	c.release.nflows = 3;
	c.release.flows = kanon_alloc(c.problem->env, 3, sizeof(KanonFlow));
	for (uint32_t i = 0; i < 3; i++)
	{
		c.release.flows[i] = (KanonFlow){i, i, 1};
		c.release.classes[i].pattern = KANON_BITS(i >= shown);
		if (i < shown)
			c.release.cells[i] = (KanonCell){KANON_SHOW_VALUE, i};
	}
	status = kanon_release_finish(c.problem, &c.release, &c.report);
	*detail = c.report.detail;
	kanon_release_free(c.problem, &c.release);
	assert_int_equal(c.host.blocks, 0);
	problem_free(c.problem);
	return status;
}

#define ASSERT_FINE(...) assert_int_equal(finish(__VA_ARGS__, &detail), KANON_OK)
#define ASSERT_BREAKS(which, ...)                                                        \
	do                                                                                   \
	{                                                                                    \
		assert_int_equal(finish(__VA_ARGS__, &detail), KANON_BROKEN);                    \
		assert_string_equal(detail, "class " which " breaks a rule about a population"); \
	} while (0)

static void
populations(void **state)
{
	const char *detail;

	(void) state;
	/* k = 3 of the population for each class, the first and the last */
	ASSERT_FINE(((int64_t[]){3, 4, 3}), true, 0, 1, false);
	ASSERT_BREAKS("0", ((int64_t[]){2, 4, 3}), true, 0, 1, false);
	ASSERT_BREAKS("1", ((int64_t[]){3, 2, 3}), true, 0, 1, false);
	ASSERT_BREAKS("2", ((int64_t[]){3, 4, 2}), true, 0, 1, false);
	/* what shows nothing matches everybody */
	ASSERT_FINE(((int64_t[]){3, 3, 1}), true, 0, 1, true);
	/* the chance to be in the release: one of so many */
	ASSERT_FINE(((int64_t[]){2, 2, 4}), false, 0.25, 0.5, false);
	ASSERT_BREAKS("0", ((int64_t[]){5, 2, 4}), false, 0.25, 0.5, false);
	ASSERT_BREAKS("1", ((int64_t[]){2, 1, 4}), false, 0.25, 0.5, false);
	ASSERT_BREAKS("2", ((int64_t[]){2, 2, 5}), false, 0.25, 0.5, false);
	/* of those who match no class: one of the third value's */
	ASSERT_FINE(((int64_t[]){2, 2, 2}), false, 0.25, 0.5, true);
	ASSERT_BREAKS("2", ((int64_t[]){2, 2, 1}), false, 0.25, 0.5, true);
	ASSERT_BREAKS("2", ((int64_t[]){2, 2, 5}), false, 0.25, 0.5, true);
}

/* ---- rules ---- */

static void
use(KanonProblem *problem, KanonPrivacyRule one, KanonPrivacyRule two)
{
	memset(diverse_rules, 0, sizeof(diverse_rules));
	diverse_nrules = 2;
	diverse_rules[0] = one;
	diverse_rules[1] = two;
	diverse_reopen(problem);
}

/* Only what any row more cannot break grows: each rule is asked. */
static void
grows(void **state)
{
	static const uint32_t code[] = {0, 0, 0, 0, 1, 1, 1, 0, 2, 1, 1, 3};
	static const KanonPrivacyRule subject = {.kind = KANON_SUBJECT, .column = 1};
	static const KanonPrivacyRule distinct = {.kind = KANON_DISTINCT_L, .column = 0, .l = 2};
	static const KanonPrivacyRule joined = {.kind = KANON_DISTINCT_L, .column = 0, .l = 2, .joined = 2};
	static const KanonPrivacyRule alpha = {.kind = KANON_ALPHA, .column = 0, .share = 0.5};
	Host host;
	KanonProblem *problem;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, code, 4, 3, 2);
	problem->ncolumns = 1;
	problem->nextra = 2;
	problem->extra = problem->columns + 1;
	use(problem, subject, distinct);
	assert_true(kanon_privacy_grows(problem->privacy));
	use(problem, distinct, subject);
	assert_true(kanon_privacy_grows(problem->privacy));
	use(problem, alpha, distinct);
	assert_false(kanon_privacy_grows(problem->privacy));
	use(problem, distinct, alpha);
	assert_false(kanon_privacy_grows(problem->privacy));
	use(problem, joined, subject);
	assert_false(kanon_privacy_grows(problem->privacy));
	diverse_free(problem);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* ---- near the release before ---- */

/* The rows of a type that a class of the release before would have: all that the type has. */
static size_t
members(const KanonProblem *problem, const KanonPrevious *previous, uint32_t class_, uint32_t *types,
		int64_t *rows)
{
	size_t n = 0;

	*rows = 0;
	for (size_t f = 0; f < previous->nflows; f++)
		if (previous->flows[f].class_ == class_)
		{
			types[n++] = previous->flows[f].type;
			*rows += problem->rows[previous->flows[f].type];
		}
	return n;
}

/* Under rules, too, classes stay that may, and no others: those with the first flow among them. */
static void
near_under_rules(void **state)
{
	uint64_t random = 404;
	int stayed = 0, first = 0, went = 0;

	(void) state;
	for (int i = 0; i < cases(1500); i++)
	{
		Host host;
		KanonProblem *problem;
		KanonRelease before, after;
		KanonReport report;
		KanonPrevious previous = {0};
		KanonPattern *pattern;
		uint32_t *types;
		int64_t left;
		KanonStatus status;

		host_init(&host);
		while ((problem = problem_random(&host, &random, 60, 4))->ncolumns < 2 || problem->ntypes == 0)
			problem_random_free(problem);
		diverse_make(problem, &random, DIVERSE_ALL & ~(1u << KANON_T_CLOSENESS));
		problem->residual = KANON_RESIDUAL_DROP;
		status = kanon_solve_greedy(problem, &before, &report);
		if (status == KANON_OK)
		{
			pattern = malloc((before.nclasses + 1) * sizeof(KanonPattern));
			types = malloc((before.nflows + 1) * sizeof(uint32_t));
			for (uint32_t c = 0; c < before.nclasses; c++)
				pattern[c] = before.classes[c].pattern;
			previous =
				(KanonPrevious){.nclasses = before.nclasses, .pattern = pattern, .flows = before.flows};
			/* rows left out are in no class */
			for (size_t f = previous.nflows = 0; f < before.nflows; f++)
				if (before.flows[f].class_ != KANON_DROPPED)
					before.flows[previous.nflows++] = before.flows[f];
			for (uint32_t type = 0; type < problem->ntypes; type++)
				if (random_below(&random, 4) == 0)
					((int64_t *) problem->rows)[type] = 1 + random_below(&random, 4);
			diverse_reopen(problem);
			status = kanon_solve_stable(problem, &previous, kanon_solve_greedy, &after, &report);
			left = 0;
			for (uint32_t type = 0; type < problem->ntypes; type++)
				left += problem->rows[type];
			for (uint32_t c = 0; c < previous.nclasses; c++)
			{
				int64_t rows;
				size_t n = members(problem, &previous, c, types, &rows);

				if (n == 0 || rows < problem->k || !diverse_allows(problem, types, NULL, n, false))
					continue;
				left -= rows;
				stayed++;
				first += c == previous.flows[0].class_;
			}
			if (status == KANON_OK)
			{
				assert_true(stay_together(&previous, &after));
				went += left > 0;
				assert_int_equal(kanon_release_finish(problem, &after, &report), KANON_OK);
				kanon_release_free(problem, &after);
			}
			kanon_release_free(problem, &before);
			free(pattern);
			free(types);
		}
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	assert_true(stayed > cases(100) && went > cases(10) && first > cases(10));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(populations),
		cmocka_unit_test(grows),
		cmocka_unit_test(near_under_rules),
	};

	return cmocka_run_group_tests_name("release_rules", tests, NULL, NULL);
}
