/*
 * test_anatomy.c: groups by a sensitive value against all partitions of small tables,
 * and whether chance alone says which row goes where.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "anatomy/anatomy.h"
#include "fixture.h"

#define TABLES 3000
#define MOST_VALUES 12
#define MOST_ROWS 8 /* of tables all of whose partitions are looked at */

static uint64_t
draw(void *arg)
{
	return random_next(arg);
}

typedef struct Values
{
	Host host;
	int64_t rows[MOST_VALUES];
	uint64_t random;
	KanonAnatomyProblem problem;
} Values;

static void
values_init(Values *values, uint64_t seed, int64_t l)
{
	memset(values, 0, sizeof(*values));
	host_init(&values->host);
	values->random = seed;
	values->problem = (KanonAnatomyProblem){
		.env = &values->host.env, .rows = values->rows, .l = l, .draw = draw, .arg = &values->random};
}

static void
values_random(Values *values, uint64_t *random, uint32_t most_rows)
{
	values_init(values, random_next(random), 1 + random_below(random, 5));
	values->problem.nvalues = 1 + random_below(random, MOST_VALUES < most_rows ? MOST_VALUES : most_rows);
	for (uint32_t v = 0; v < values->problem.nvalues; v++)
		values->rows[v] = 1;
	for (uint32_t i = values->problem.nvalues; i < most_rows; i++)
		if (random_below(random, 8) > 0)
			values->rows[random_below(random, values->problem.nvalues)]++;
}

static int64_t
all_rows(const Values *values)
{
	int64_t n = 0;

	for (uint32_t v = 0; v < values->problem.nvalues; v++)
		n += values->rows[v];
	return n;
}

static bool
possible(const Values *values)
{
	for (uint32_t v = 0; v < values->problem.nvalues; v++)
		if (values->rows[v] * values->problem.l > all_rows(values))
			return false;
	return true;
}

/* What is promised of the groups, and that both ways of telling them agree. */
static void
check(const Values *values, const KanonAnatomy *anatomy)
{
	uint32_t nvalues = values->problem.nvalues;
	uint32_t smallest = UINT32_MAX, largest = 0;
	uint32_t *found = calloc(((size_t) anatomy->ngroups + 1) * nvalues, sizeof(uint32_t));

	assert_int_equal(anatomy->nrows, all_rows(values));
	assert_int_equal(anatomy->first[anatomy->ngroups], anatomy->nrows);
	for (uint32_t v = 0; v < nvalues; v++)
	{
		assert_int_equal(anatomy->start[v + 1] - anatomy->start[v], values->rows[v]);
		for (uint32_t i = anatomy->start[v]; i < anatomy->start[v + 1]; i++)
		{
			assert_true(anatomy->group[i] < anatomy->ngroups);
			found[(size_t) anatomy->group[i] * nvalues + v]++;
		}
	}
	for (uint32_t g = 0; g < anatomy->ngroups; g++)
	{
		uint32_t size = anatomy->first[g + 1] - anatomy->first[g];

		smallest = size < smallest ? size : smallest;
		largest = size > largest ? size : largest;
		for (uint32_t i = anatomy->first[g]; i < anatomy->first[g + 1]; i++)
		{
			assert_true(i == anatomy->first[g] || anatomy->value[i - 1] < anatomy->value[i]);
			assert_int_equal(found[(size_t) g * nvalues + anatomy->value[i]]--, 1);
		}
		for (uint32_t v = 0; v < nvalues; v++)
			assert_int_equal(found[(size_t) g * nvalues + v], 0);
	}
	assert_true(smallest >= values->problem.l && largest <= smallest + 1);
	free(found);
}

/* ---- all partitions ---- */

typedef struct Search
{
	uint32_t value[MOST_ROWS];
	uint32_t n;
	int64_t l;
	uint32_t count[MOST_ROWS][MOST_VALUES];
	uint32_t size[MOST_ROWS];
	double least; /* reconstruction error */
} Search;

static void
try_partitions(Search *search, uint32_t row, uint32_t ngroups)
{
	double error = 0;

	if (row < search->n)
	{
		for (uint32_t g = 0; g <= ngroups; g++)
		{
			search->count[g][search->value[row]]++;
			search->size[g]++;
			try_partitions(search, row + 1, g == ngroups ? ngroups + 1 : ngroups);
			search->count[g][search->value[row]]--;
			search->size[g]--;
		}
		return;
	}
	for (uint32_t g = 0; g < ngroups; g++)
		for (uint32_t v = 0; v < MOST_VALUES; v++)
		{
			double share = (double) search->count[g][v] / search->size[g];

			if (search->count[g][v] * search->l > search->size[g])
				return;
			/* c rows, each of which is believed to have its own value by that share, and others' */
			error += search->count[g][v] * (1 - share) * (1 - share);
			error += (search->size[g] - search->count[g][v]) * share * share;
		}
	search->least = fmin(search->least, error);
}

static double
least_error(const Values *values)
{
	Search search = {.l = values->problem.l, .least = INFINITY};

	for (uint32_t v = 0; v < values->problem.nvalues; v++)
		for (int64_t i = 0; i < values->rows[v]; i++)
			search.value[search.n++] = v;
	try_partitions(&search, 0, 0);
	return search.least;
}

static void
brute_force(void **state)
{
	uint64_t random = 22;
	int refused = 0, found = 0;

	(void) state;
	for (int i = 0; i < cases(TABLES / 10); i++)
	{
		Values values;
		KanonAnatomy anatomy;
		KanonStatus status;
		double least;

		values_random(&values, &random, 1 + random_below(&random, MOST_ROWS));
		status = kanon_anatomize(&values.problem, &anatomy);
		least = least_error(&values);
		assert_int_equal(status, isinf(least) ? KANON_INFEASIBLE : KANON_OK);
		if (status == KANON_OK)
			assert_true(fabs(anatomy.error - least) < 1e-9);
		refused += isinf(least) ? 1 : 0;
		found += isinf(least) ? 0 : 1;
		kanon_anatomy_free(values.problem.env, &anatomy);
		assert_int_equal(values.host.blocks, 0);
	}
	assert_true(refused > 5 && found > 5);
}

static void
promise(void **state)
{
	uint64_t random = 5;

	(void) state;
	for (int i = 0; i < cases(TABLES); i++)
	{
		Values values;
		KanonAnatomy anatomy;
		KanonStatus status;

		values_random(&values, &random, 1 + random_below(&random, 200));
		status = kanon_anatomize(&values.problem, &anatomy);
		assert_int_equal(status, possible(&values) ? KANON_OK : KANON_INFEASIBLE);
		if (status == KANON_OK)
			check(&values, &anatomy);
		kanon_anatomy_free(values.problem.env, &anatomy);
		assert_int_equal(values.host.blocks, 0);
	}
}

/* ---- chance ---- */

#define DRAWS 4000

static void
near(int times, double share)
{
	double deviation = sqrt(DRAWS * share * (1 - share));

	assert_true(fabs(times - DRAWS * share) < 5 * deviation);
}

/* Four values of four rows, groups of two: who is with whom, and under which number? */
static void
chance(void **state)
{
	int together = 0, numbered = 0, second = 0;

	(void) state;
	for (uint64_t seed = 1; seed <= DRAWS; seed++)
	{
		Values values;
		KanonAnatomy anatomy;
		const uint32_t *group;

		values_init(&values, seed * UINT64_C(0x9e3779b97f4a7c15), 2);
		values.problem.nvalues = 4;
		for (int v = 0; v < 4; v++)
			values.rows[v] = 4;
		assert_int_equal(kanon_anatomize(&values.problem, &anatomy), KANON_OK);
		group = anatomy.group;
		/* each value is in half of the groups: the third is where the first is */
		together += group[0] == group[8];
		numbered += group[0] == 0 || group[1] == 0 || group[2] == 0 || group[3] == 0;
		second += group[0] < group[1];
		kanon_anatomy_free(values.problem.env, &anatomy);
	}
	near(together, 1.0 / 4);
	near(numbered, 1.0 / 2);
	near(second, 1.0 / 2);
}

/* ---- the rest ---- */

static void
nothing(void **state)
{
	Values values;
	KanonAnatomy anatomy;

	(void) state;
	values_init(&values, 1, 3);
	assert_int_equal(kanon_anatomize(&values.problem, &anatomy), KANON_OK);
	assert_int_equal(anatomy.nrows, 0);
	assert_int_equal(anatomy.ngroups, 0);
	kanon_anatomy_free(values.problem.env, &anatomy);
	assert_int_equal(values.host.blocks, 0);
}

/* Every allocation refused once, every poll answered with yes once. */
static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int what = 0; what < 2; what++)
	{
		Failure failure = {.how = what == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

		while (fails_again(&failure))
		{
			Values values;
			KanonAnatomy anatomy;

			values_init(&values, 7, 4);
			values.problem.nvalues = MOST_VALUES;
			for (int v = 0; v < MOST_VALUES; v++)
				values.rows[v] = what == 0 ? 5 + v : 20000 + v;
			fail_at(&values.host, &failure);
			failure.status = kanon_anatomize(&values.problem, &anatomy);
			kanon_anatomy_free(values.problem.env, &anatomy);
			assert_int_equal(values.host.blocks, 0);
			assert_true(what == 0 || failure.status == KANON_OK || values.host.polls == failure.at);
		}
		assert_true(failure.at > 5);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brute_force), cmocka_unit_test(promise),           cmocka_unit_test(chance),
		cmocka_unit_test(nothing),     cmocka_unit_test(memory_and_cancel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
