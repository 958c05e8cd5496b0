/*
 * test_map.c: k_map under greedy and Mondrian.  Releases are judged by values: the population is divided among
 * the classes by matching its rows one by one, and each class has k rows that match no class before.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "diverse.h"
#include "fixture.h"
#include "model/model.h"
#include "privacy/population.h"

enum
{
	COLUMNS = 3,
	VALUES = 6,
	ROWS = 24,
	PEOPLE = 48,
	CLASSES = ROWS + 2
};

/* A table and those who could be in it, by values. */
typedef struct World
{
	Host host;
	KanonProblem *problem;
	int ncolumns;
	uint32_t nrows;
	uint32_t npeople;
	bool persons;
	uint32_t tuple[PEOPLE][COLUMNS + 1]; /* the table's rows come first; whose it is comes last */
	uint32_t distinct[COLUMNS];
	uint32_t value[COLUMNS][VALUES]; /* of each code */
	double number[COLUMNS][VALUES];

	/* the core's */
	KanonPopulation population;
	uint32_t code[COLUMNS][PEOPLE];
	uint32_t below[COLUMNS][PEOPLE];
	uint32_t person[PEOPLE];
	int64_t rows[PEOPLE];
	KanonClusterShow show[COLUMNS];
	struct KanonClusterOptions cluster;
} World;

static uint32_t
code_of(const World *world, int c, uint32_t value)
{
	for (uint32_t i = 0; i < world->distinct[c]; i++)
		if (world->value[c][i] == value)
			return i;
	return KANON_FOREIGN;
}

/* Tuples that are alike, and one person's where these count, are one row type. */
static void
make_population(World *world)
{
	KanonPopulation *population = &world->population;
	size_t width = sizeof(uint32_t) * ((size_t) COLUMNS + world->persons);
	uint32_t number[2 * PEOPLE] = {0};
	uint32_t last = 0;

	*population = (KanonPopulation){.rows = world->rows, .map = true};
	for (uint32_t i = 0; i < world->npeople; i++)
	{
		uint32_t first = 0;
		uint32_t at = population->ntypes;

		while (memcmp(world->tuple[first], world->tuple[i], width) != 0)
			first++;
		if (first < i)
		{
			for (at = 0; at < population->ntypes && world->person[at] != first; at++)
				;
			world->rows[at]++;
			continue;
		}
		world->person[at] = i;
		world->rows[at] = 1;
		population->ntypes++;
		for (int c = 0; c < world->ncolumns; c++)
		{
			world->code[c][at] = code_of(world, c, world->tuple[i][c]);
			world->below[c][at] = 0;
			for (uint32_t v = 0; v < world->distinct[c]; v++)
				world->below[c][at] += world->value[c][v] < world->tuple[i][c];
		}
	}
	population->total = world->npeople;
	/* persons have numbers without gaps */
	for (uint32_t i = 0; i < world->npeople && world->persons; i++)
		number[world->tuple[i][COLUMNS]] = 1;
	for (uint32_t p = 0; p < 2 * PEOPLE; p++)
		number[p] = number[p] > 0 ? last++ : 0;
	for (uint32_t i = 0; i < population->ntypes && world->persons; i++)
		world->person[i] = number[world->tuple[world->person[i]][COLUMNS]];
	if (world->persons)
	{
		population->person = world->person;
		population->total = last;
	}
	for (int c = 0; c < world->ncolumns; c++)
	{
		population->code[c] = world->code[c];
		population->below[c] = world->below[c];
	}
}

static void
open_world(World *world, uint64_t *random, int64_t k)
{
	uint32_t table[ROWS * (COLUMNS + 1)];
	uint32_t spread = 2 + random_below(random, VALUES - 1);
	uint32_t most = 4 + random_below(random, PEOPLE);
	bool ruled = random_below(random, 2) == 0;
	int width;

	memset(world, 0, sizeof(*world));
	host_init(&world->host);
	world->persons = random_below(random, 3) == 0;
	world->ncolumns = 1 + (int) random_below(random, COLUMNS);
	world->nrows = 3 + random_below(random, ROWS - 3);
	world->npeople = world->nrows + random_below(random, PEOPLE - world->nrows);
	for (uint32_t i = 0; i < world->npeople; i++)
		for (int c = 0; c <= COLUMNS; c++)
			world->tuple[i][c] = c == COLUMNS           ? random_below(random, most)
								 : c >= world->ncolumns ? 0
								 : i >= world->nrows && random_below(random, 2) == 0
									 ? world->tuple[random_below(random, world->nrows)][c]
									 : random_below(random, spread);
	for (int c = 0; c < world->ncolumns; c++)
		for (uint32_t v = 0; v < VALUES; v++)
			for (uint32_t i = 0; i < world->nrows; i++)
				if (world->tuple[i][c] == v)
				{
					world->number[c][world->distinct[c]] = v;
					world->value[c][world->distinct[c]++] = v;
					break;
				}
	width = world->ncolumns + ruled;
	for (uint32_t i = 0; i < world->nrows; i++)
		for (int c = 0; c < width; c++)
			table[i * (uint32_t) width + (uint32_t) c] =
				c == world->ncolumns ? i % 2 : code_of(world, c, world->tuple[i][c]);
	world->problem = problem_from_codes(&world->host, table, world->nrows, width, k);
	if (ruled)
		diverse_ask(world->problem, 2);
	for (int c = 0; c < world->ncolumns; c++)
	{
		world->show[c] = (KanonClusterShow[]){KANON_CLUSTER_RANGE, KANON_CLUSTER_SET,
											  KANON_CLUSTER_SUPPRESS}[random_below(random, 3)];
		((KanonColumn *) world->problem->columns)[c].number = world->number[c];
	}
	make_population(world);
	world->cluster.show = world->show;
	world->problem->effort = 0.01;
	world->problem->residual = (KanonResidual) random_below(random, 3);
	world->problem->npopulations = 1;
	world->problem->populations = &world->population;
	world->problem->k_map = true;
}

static void
close_world(World *world)
{
	for (int c = 0; c < world->ncolumns; c++)
		((KanonColumn *) world->problem->columns)[c].number = NULL;
	if (world->problem->privacy != NULL)
		diverse_free(world->problem);
	problem_free(world->problem);
	assert_int_equal(world->host.blocks, 0);
}

/* ---- by the definition ---- */

static bool
shows(const World *world, const KanonRelease *release, uint32_t class, int c, uint32_t value)
{
	KanonCell cell = release->cells[class * (size_t) world->ncolumns + (size_t) c];
	const uint32_t *part = release->pool + cell.code;

	switch ((KanonShow) cell.show)
	{
		case KANON_SHOW_NOTHING:
			return true;
		case KANON_SHOW_VALUE:
			return world->value[c][cell.code] == value;
		case KANON_SHOW_RANGE:
			return world->value[c][part[0]] <= value && value <= world->value[c][part[1]];
		case KANON_SHOW_SET:
			for (uint32_t i = 1; i <= part[0]; i++)
				if (world->value[c][part[i]] == value)
					return true;
	}
	return false;
}

static bool
matches(const World *world, const KanonRelease *release, uint32_t class, uint32_t i)
{
	for (int c = 0; c < world->ncolumns; c++)
		if (!shows(world, release, class, c, world->tuple[i][c]))
			return false;
	return true;
}

/* A tuple for one more place of a class, others moving if need be. */
static bool
find_tuple(const World *world, const KanonRelease *release, uint32_t class, uint32_t *of, bool *tried)
{
	for (uint32_t i = 0; i < world->npeople; i++)
	{
		if (tried[i] || !matches(world, release, class, i))
			continue;
		tried[i] = true;
		if (of[i] == UINT32_MAX || find_tuple(world, release, of[i], of, tried))
		{
			of[i] = class;
			return true;
		}
	}
	return false;
}

static bool
has_division(const World *world, const KanonRelease *release)
{
	uint32_t of[PEOPLE];

	memset(of, 0xff, sizeof(of));
	for (uint32_t class = 0; class < release->nclasses; class ++)
	{
		int64_t places = release->classes[class].rows;

		if ((world->problem->residual != KANON_RESIDUAL_SUPPRESS ||
			 !kanon_class_blank(world->problem, release, class)) &&
			places < world->problem->k)
			places = world->problem->k;
		for (int64_t i = 0; i < places; i++)
		{
			bool tried[PEOPLE] = {false};

			if (!find_tuple(world, release, class, of, tried))
				return false;
		}
	}
	return true;
}

static int64_t
count_persons(const World *world, const bool *match)
{
	bool seen[2 * PEOPLE] = {false};
	int64_t n = 0;

	for (uint32_t i = 0; i < world->npeople; i++)
		if (match[i])
		{
			n += !world->persons || !seen[world->tuple[i][COLUMNS]];
			seen[world->tuple[i][COLUMNS]] = true;
		}
	return n;
}

static bool
have_persons(const World *world, const KanonRelease *release)
{
	for (uint32_t class = 0; class < release->nclasses; class ++)
	{
		bool match[PEOPLE];

		for (uint32_t i = 0; i < world->npeople; i++)
			match[i] = matches(world, release, class, i);
		if (!kanon_class_blank(world->problem, release, class) &&
			count_persons(world, match) < world->problem->k)
			return false;
	}
	return true;
}

static bool
keeps(const World *world, const KanonRelease *release)
{
	return world->persons ? have_persons(world, release) : has_division(world, release);
}

/* The cheapest class of each row that k match, among these patterns. */
static double
least_cost(const World *world, const KanonPattern *patterns, size_t npatterns)
{
	double sum = 0;

	for (uint32_t row = 0; row < world->nrows; row++)
	{
		double least = world->ncolumns;

		for (size_t p = 0; p < npatterns; p++)
		{
			bool match[PEOPLE];

			for (uint32_t i = 0; i < world->npeople; i++)
			{
				match[i] = true;
				for (int c = 0; c < world->ncolumns; c++)
					match[i] =
						match[i] && (kanon_has(patterns[p], c) || world->tuple[i][c] == world->tuple[row][c]);
			}
			if (count_persons(world, match) >= world->problem->k)
				least = fmin(least, kanon_count(patterns[p]));
		}
		sum += least;
	}
	return sum;
}

static const KanonPattern every[] = {{{0}}, {{1}}, {{2}}, {{3}}, {{4}}, {{5}}, {{6}}, {{7}}};

/* ---- the methods ---- */

static int published;
static int small_ones; /* classes of fewer rows than k */

/* Has each class k of the population that match it and no class before? */
static bool
have_first(const World *world, const KanonRelease *release)
{
	int64_t found[CLASSES] = {0};

	for (uint32_t i = 0; i < world->npeople; i++)
	{
		uint32_t class = 0;

		while (class < release->nclasses && !matches(world, release, class, i))
			class ++;
		found[class]++;
	}
	for (uint32_t class = 0; class < release->nclasses; class ++)
		if (found[class] < world->problem->k && !(world->problem->residual == KANON_RESIDUAL_SUPPRESS &&
												  kanon_class_blank(world->problem, release, class)))
			return false;
	return true;
}

/* true: a release. */
static bool
judge(World *world, KanonSolve solve, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = solve(world->problem, release, report);

	if (status != KANON_OK)
	{
		assert_true(status == KANON_NOT_FOUND || status == KANON_INFEASIBLE ||
					status == KANON_REST_FORBIDDEN || status == KANON_RESIDUAL);
		return false;
	}
	assert_true(keeps(world, release) && (world->persons || have_first(world, release)));
	assert_true(report->lower_bound == -INFINITY && report->guarantee == 0 && !report->proven);
	for (uint32_t i = 0; i < release->nclasses; i++)
		small_ones += release->classes[i].rows < world->problem->k;
	published++;
	return true;
}

static void
greedy(void **state)
{
	uint64_t random = 2002;
	int cheapest = 0;

	(void) state;
	published = small_ones = 0;
	for (int round = 0; round < cases_or(3000, 5000); round++)
	{
		World world;
		KanonRelease release = {0};
		KanonReport report = {0};
		int64_t k = 2 + random_below(&random, 3);
		double least;

		open_world(&world, &random, k);
		least = least_cost(&world, every, (size_t) 1 << world.ncolumns);
		/* without other rules there is always one, if the population has k */
		if (!judge(&world, kanon_solve_greedy, &release, &report))
			assert_true(world.problem->privacy != NULL || k > world.population.total ||
						world.problem->residual == KANON_RESIDUAL_ERROR);
		else
		{
			double cost = report.cost + (double) release.dropped * world.ncolumns;

			assert_true(cost > least - 1e-9);
			if (world.persons && world.problem->privacy == NULL)
				assert_true(cost < least + 1e-9);
			cheapest += cost < least + 1e-9;
		}
		kanon_release_free(world.problem, &release);
		close_world(&world);
	}
	assert_true(published > cases_or(3000, 5000) / 2 && small_ones > published && cheapest > published / 20);
}

/* The same table among other people: most are drawn anew. */
static void
open_other(const World *world, World *other, uint64_t *random)
{
	uint32_t spread = 2 + random_below(random, VALUES - 1);

	*other = *world;
	other->persons = random_below(random, 3) == 0;
	other->npeople = world->nrows + random_below(random, PEOPLE - world->nrows);
	for (uint32_t i = world->nrows; i < other->npeople; i++)
		for (int c = 0; c < world->ncolumns; c++)
			other->tuple[i][c] = random_below(random, 3) > 0
									 ? world->tuple[random_below(random, world->nrows)][c]
									 : random_below(random, spread);
	for (uint32_t i = 0; i < other->npeople; i++)
		other->tuple[i][COLUMNS] = random_below(random, PEOPLE);
	make_population(other);
}

/* Two rules of a population at once: each holds, and where all rows may be one class, there is a release. */
static void
greedy_of_two(void **state)
{
	uint64_t random = 2043;
	int costlier = 0; /* than what either alone allows */

	(void) state;
	published = small_ones = 0;
	for (int round = 0; round < cases_or(1000, 5000); round++)
	{
		World world;
		World other;
		KanonPopulation both[2];
		KanonRelease release = {0};
		KanonReport report = {0};

		open_world(&world, &random, 2 + random_below(&random, 3));
		open_other(&world, &other, &random);
		both[0] = world.population;
		both[1] = other.population;
		world.problem->npopulations = 2;
		world.problem->populations = both;
		world.problem->residual = (KanonResidual) random_below(&random, 3);
		if (!judge(&world, kanon_solve_greedy, &release, &report))
			assert_true(world.problem->privacy != NULL || world.problem->k > world.population.total ||
						world.problem->k > other.population.total ||
						world.problem->residual == KANON_RESIDUAL_ERROR);
		else
		{
			double cost = report.cost + (double) release.dropped * world.ncolumns;
			double least = least_cost(&world, every, (size_t) 1 << world.ncolumns);
			double others = least_cost(&other, every, (size_t) 1 << world.ncolumns);

			assert_true(keeps(&other, &release) && (other.persons || have_first(&other, &release)));
			assert_true(cost > fmax(least, others) - 1e-9);
			costlier += cost > fmax(least, others) + 1e-9;
		}
		kanon_release_free(world.problem, &release);
		close_world(&world);
	}
	assert_true(published > cases_or(1000, 5000) / 2 && small_ones > published && costlier > published / 20);
}

static void
mondrian(void **state)
{
	uint64_t random = 2008;

	(void) state;
	published = small_ones = 0;
	for (int round = 0; round < cases_or(3000, 5000); round++)
	{
		World world;
		KanonRelease release = {0};
		KanonReport report = {0};

		open_world(&world, &random, 2 + random_below(&random, 3));
		world.problem->cluster = &world.cluster;
		(void) judge(&world, kanon_solve_mondrian, &release, &report);
		kanon_release_free(world.problem, &release);
		close_world(&world);
	}
	assert_true(published > cases_or(3000, 5000) / 2 && small_ones > published / 2);
}

/* Every other method says that it does not take the rule, and greedy that it does not take presence. */
static void
refused(void **state)
{
	static const KanonSolve by_patterns[] = {kanon_solve_pattern_clustering,
											 kanon_solve_pattern_clustering_greedy,
											 kanon_solve_pattern_clustering_fpt};
	uint64_t random = 3;
	World world;
	KanonRelease release;
	KanonReport report;

	(void) state;
	open_world(&world, &random, 2);
	for (const KanonMethod *method = kanon_methods(KANON_PATTERN_GUIDED); method->name != NULL; method++)
		if (method->solve != kanon_solve_greedy)
			assert_int_equal(method->solve(world.problem, &release, &report), KANON_UNSUPPORTED);
	for (int i = 0; i < 3; i++)
		assert_int_equal(by_patterns[i](world.problem, &release, &report), KANON_UNSUPPORTED);
	world.population.map = false;
	assert_int_equal(kanon_solve_greedy(world.problem, &release, &report), KANON_UNSUPPORTED);
	world.population.map = true;
	world.problem->cluster = &world.cluster;
	for (const KanonMethod *method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
		if (method->solve != kanon_solve_mondrian)
		{
			world.problem->k = method->only_k != 0 ? method->only_k : 2;
			assert_int_equal(method->solve(world.problem, &release, &report), KANON_UNSUPPORTED);
		}
	close_world(&world);
}

/* ---- the check ---- */

/* Three rows (0, 0) and one (0, 1) are all there are, and all are published: who shows 0 alone is the last one. */
static void
ruled_out(void **state)
{
	static const uint32_t table[] = {0, 0, 0, 0, 0, 0, 0, 1};
	static uint32_t codes[2][2] = {{0, 0}, {0, 1}};
	static int64_t rows[] = {3, 1};
	static uint32_t person[] = {0, 1};
	Host host;
	KanonProblem *problem;
	KanonPopulation population = {
		.ntypes = 2, .rows = rows, .total = 4, .map = true, .code = {codes[0], codes[1]}};
	KanonClass classes[] = {{KANON_NONE, 3}, {KANON_BITS(2), 1}};
	KanonCell cells[] = {{KANON_SHOW_VALUE, 0}, {KANON_SHOW_VALUE, 0}, {KANON_SHOW_VALUE, 0}, {0, 0}};
	KanonFlow flows[] = {{0, 0, 3}, {1, 1, 1}};
	KanonRelease release = {.nclasses = 2, .classes = classes, .cells = cells, .nflows = 2, .flows = flows};
	uint32_t class;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, table, 4, 2, 3);
	problem->npopulations = 1;
	problem->populations = &population;
	problem->k_map = true;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 1);
	/* one more like the three is of no use to it; two more like itself are */
	population.total = rows[0] = 4;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 1);
	rows[1] = 3;
	population.total = 7;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 3);
	/* a row of the table in a later class than the first that it matches */
	flows[0].rows = classes[0].rows = 2;
	classes[1].rows = 2;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 0);
	flows[0].rows = classes[0].rows = 3;
	classes[1].rows = 1;
	/* what shows nothing may have too few of its own, if residual says so, but the population has k */
	rows[0] = 3;
	rows[1] = 1;
	population.total = 4;
	classes[1].pattern = KANON_BITS(3);
	cells[2].show = KANON_SHOW_NOTHING;
	for (int residual = 0; residual < 2; residual++)
	{
		problem->residual = residual == 0 ? KANON_RESIDUAL_SUPPRESS : KANON_RESIDUAL_DROP;
		assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
		assert_int_equal(class, residual == 0 ? 3 : 1);
	}
	problem->residual = KANON_RESIDUAL_SUPPRESS;
	population.total = 2;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 1);
	/* a person may have rows in both */
	classes[1].pattern = KANON_BITS(2);
	cells[2].show = KANON_SHOW_VALUE;
	problem->k = 2;
	population.person = person;
	population.total = 2;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 0);
	release.nclasses = 1;
	classes[0] = (KanonClass){KANON_BITS(2), 4};
	cells[1] = (KanonCell){0, 0};
	flows[1].class_ = 0;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 2);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* ---- what fails ---- */

/* The round's world, solved with this failure, or (NULL) without one. */
static KanonStatus
solve_round(int round, const Failure *failure)
{
	uint64_t random = 11 + (uint64_t) round;
	KanonSolve solve = round % 2 == 0 ? kanon_solve_greedy : kanon_solve_mondrian;
	KanonRelease release = {0};
	KanonReport report = {0};
	World world;
	size_t blocks;
	KanonStatus status;

	open_world(&world, &random, 2);
	if (solve == kanon_solve_mondrian)
		world.problem->cluster = &world.cluster;
	blocks = world.host.blocks;
	if (failure != NULL)
		fail_at(&world.host, failure);
	status = solve(world.problem, &release, &report);
	/* what fails leaves nothing */
	assert_true(status == KANON_OK || world.host.blocks == blocks);
	kanon_release_free(world.problem, &release);
	close_world(&world);
	return status;
}

static void
failures(void **state)
{
	int solved = 0;

	(void) state;
	for (int round = 0; round < cases(40); round++)
	{
		Failure failure = {.how = round % 4 < 2 ? KANON_NO_MEMORY : KANON_CANCELLED};

		if (solve_round(round, NULL) != KANON_OK)
			continue;
		while (fails_again(&failure))
			failure.status = solve_round(round, &failure);
		solved++;
	}
	assert_true(solved > cases(40) / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ruled_out),     cmocka_unit_test(greedy),
									   cmocka_unit_test(greedy_of_two), cmocka_unit_test(mondrian),
									   cmocka_unit_test(refused),       cmocka_unit_test(failures)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
