/*
 * test_freeform_groups.c: groups of rows that keep rules by their colours: what can be told of
 * a row's value by who knows how they are made.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "freeform/graph.h"
#include "privacy/rules.h"

/* Methods that make groups. */
static const KanonFreeformMethod methods[] = {
	KANON_FREEFORM_GREEDY,          KANON_FREEFORM_SORT_GREEDY,
	KANON_FREEFORM_HUNGARIAN,       KANON_FREEFORM_PLAIN_SORT_GREEDY,
	KANON_FREEFORM_PLAIN_HUNGARIAN, KANON_FREEFORM_MIN_COST_FLOW};

#define NMETHODS ((uint32_t) (sizeof(methods) / sizeof(methods[0])))

/* A table of one quasi-identifier and one column that a rule looks at. */
typedef struct Ruled
{
	Host host;
	KanonProblem *problem;
	KanonColumn extra[1];
	KanonPrivacyRule rules[1];
	KanonFreeformOptions options;
} Ruled;

#define MOST_GROUPED 8

/* Rows of different places, of which so many each have a value, in two groups of k. */
typedef struct Grouped
{
	uint32_t k;
	double l;
	uint32_t count[3];
} Grouped;

static void
make_grouped(Ruled *t, const Grouped *how, uint64_t *random, uint32_t *value)
{
	uint32_t code[MOST_GROUPED * 2];
	uint32_t n = 0;
	double *number;

	for (uint32_t v = 0; v < 3; v++)
		for (uint32_t x = 0; x < how->count[v]; x++)
		{
			uint32_t y = random_below(random, n + 1);

			value[n++] = value[y];
			value[y] = v;
		}
	for (uint32_t i = 0; i < n; i++)
	{
		code[2 * i] = i;
		code[2 * i + 1] = value[i];
	}
	memset(t, 0, sizeof(*t));
	host_init(&t->host);
	t->problem = problem_from_codes(&t->host, code, n, 2, how->k);
	t->problem->ncolumns = 1;
	number = malloc(n * sizeof(double));
	for (uint32_t i = 0; i < n; i++)
		number[i] = i * i;
	((KanonColumn *) t->problem->columns)[0].number = number;
	t->extra[0] = t->problem->columns[1];
	diverse_dense(&t->extra[0], t->problem->ntypes);
	t->problem->nextra = 1;
	t->problem->extra = t->extra;
	t->rules[0] = (KanonPrivacyRule){.kind = KANON_DISTINCT_L, .l = how->l};
	assert_int_equal(kanon_privacy_open(t->problem, t->rules, 1, &t->problem->privacy), KANON_OK);
	t->problem->freeform = &t->options;
	t->problem->seed = random_next(random);
}

/* How often a row had each value, by who is in its group and what values that has. */
typedef struct Seen
{
	uint32_t n;
	uint32_t own[3];
	uint32_t has[3];
} Seen;

#define SEEN (256 * 81)

/* One release: what is seen of row i. */
static void
see_group(const Grouped *how, KanonFreeformMethod method, uint64_t *random, uint32_t i, Seen *seen)
{
	Ruled t;
	uint32_t value[MOST_GROUPED];
	uint32_t has[3] = {0};
	uint32_t set = 0;
	KanonRelease release;
	KanonReport report;

	make_grouped(&t, how, random, value);
	t.options = (KanonFreeformOptions){.method = method};
	assert_int_equal(kanon_solve_freeform(t.problem, &release, &report), KANON_OK);
	for (size_t f = 0; f < release.nflows; f++)
	{
		uint32_t j = release.flows[f].class_;
		uint32_t shows = 0;

		for (size_t e = release.graph_start[j]; e < release.graph_start[j + 1]; e++)
			shows |= 1u << release.graph[e];
		if ((shows >> i & 1) == 0)
			continue;
		/* the records that a row matches are alike */
		assert_true(set == 0 || set == shows);
		set = shows;
		has[value[release.flows[f].type]] += (uint32_t) release.flows[f].rows;
	}
	assert_int_equal(has[0] + has[1] + has[2], how->k);
	seen += set * 81 + has[1] * 9 + has[2];
	memcpy(seen->has, has, sizeof(has));
	seen->n++;
	seen->own[value[i]]++;
	kanon_release_free(t.problem, &release);
	kanon_privacy_close(t.problem->privacy);
	t.problem->ncolumns = 2;
	problem_free(t.problem);
}

/*
 * Whoever sees the groups and the values in each, and knows how they are made, asks which of
 * its group's values is a row's: each is as likely as it is frequent there.
 */
static void
values_are_equally_likely(void **state)
{
	static const Grouped how[] = {{3, 2, {3, 2, 1}}, {4, 2, {4, 3, 1}}, {3, 2, {3, 1, 2}}, {4, 2, {5, 2, 1}}};
	uint64_t random = 2015;
	double sum = 0;
	double n = 0;

	(void) state;
	for (uint32_t run = 0; run < NMETHODS * 4; run++)
	{
		const Grouped *at = &how[run % 4];
		Seen *seen = calloc(SEEN, sizeof(*seen));

		for (int draw = 0; draw < cases(2000); draw++)
			see_group(at, methods[run / 4], &random, at->k / 2, seen);
		for (uint32_t x = 0; x < SEEN; x++)
			for (int v = 2; v >= 0 && seen[x].n >= 15; v--)
				if (seen[x].has[v] > 0 && seen[x].has[v] < at->k)
				{
					double share = (double) seen[x].has[v] / at->k;
					double off = seen[x].own[v] - seen[x].n * share;

					sum += off * off / (seen[x].n * share * (1 - share));
					n++;
					break;
				}
		free(seen);
	}
	assert_true(n > 40);
	assert_true((sum - n) / sqrt(2 * n) < 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_equally_likely)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
