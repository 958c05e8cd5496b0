/*
 * test_mondrian_presence.c: rules about the chance to be in the release, under Mondrian.  Releases are
 * judged by values, from the definitions alone: nobody matches two classes, and each keeps the bounds.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "fixture.h"
#include "privacy/population.h"

enum
{
	COLUMNS = 3,
	VALUES = 7, /* the last is NULL */
	ROWS = 40,
	PEOPLE = 80
};

/* A table and those who could be in it, by values. */
typedef struct World
{
	Host host;
	KanonProblem *problem;
	int ncolumns;
	uint32_t nrows;
	uint32_t npeople;
	uint32_t person[PEOPLE][COLUMNS]; /* the table's rows come first */
	bool has_null[COLUMNS];
	uint32_t distinct[COLUMNS];
	uint32_t value[COLUMNS][VALUES]; /* of each code */
	double *number[COLUMNS];         /* of each code; the problem's */
	double share[COLUMNS][VALUES + 1];

	/* the core's */
	KanonPopulation population[2];
	uint32_t code[2][COLUMNS][PEOPLE];
	uint32_t below[2][COLUMNS][PEOPLE];
	uint32_t nvalues[COLUMNS];
	const double *shares[COLUMNS];
	int64_t ones[PEOPLE];
	KanonClusterShow show[COLUMNS];
	struct KanonClusterOptions cluster;
} World;

/* Where a value is among the table's. */
static void
place(const World *world, int c, uint32_t value, uint32_t *code, uint32_t *below)
{
	*code = KANON_FOREIGN;
	*below = 0;
	for (uint32_t i = 0; i < world->distinct[c]; i++)
	{
		if (world->value[c][i] == value)
			*code = i;
		*below += world->value[c][i] < value;
	}
	if (value == VALUES - 1)
		*below = KANON_FOREIGN;
}

static void
draw_people(World *world, uint64_t *random)
{
	uint32_t spread = 2 + random_below(random, VALUES - 2);

	world->ncolumns = 1 + (int) random_below(random, COLUMNS);
	world->nrows = 4 + random_below(random, ROWS - 4);
	world->npeople = world->nrows + random_below(random, PEOPLE - world->nrows);
	for (uint32_t i = 0; i < world->npeople; i++)
		for (int c = 0; c < world->ncolumns; c++)
			world->person[i][c] = random_below(random, 12) == 0 ? VALUES - 1
								  : i > world->nrows && random_below(random, 2) == 0
									  ? world->person[random_below(random, world->nrows)][c]
									  : random_below(random, spread);
	for (int c = 0; c < world->ncolumns; c++)
	{
		world->distinct[c] = 0;
		for (uint32_t v = 0; v < VALUES; v++)
			for (uint32_t i = 0; i < world->nrows; i++)
				if (world->person[i][c] == v)
				{
					world->value[c][world->distinct[c]++] = v;
					break;
				}
		world->has_null[c] = world->value[c][world->distinct[c] - 1] == VALUES - 1;
	}
}

static void
set_bounds(KanonPopulation *population, uint64_t *random)
{
	static const double least[] = {0, 0, 0, 0.1, 0.25};
	static const double most[] = {0.3, 0.5, 0.7, 0.9, 1};

	population->least = least[random_below(random, 5)];
	population->most = most[random_below(random, 5)];
	population->confidence = population->nvalues == NULL ? 0 : random_below(random, 2) == 0 ? 0.5 : 0.9;
}

static void
open_world(World *world, uint64_t *random)
{
	uint32_t table[ROWS * COLUMNS];
	uint32_t ignored;

	memset(world, 0, sizeof(*world));
	host_init(&world->host);
	draw_people(world, random);
	for (uint32_t i = 0; i < world->nrows; i++)
		for (int c = 0; c < world->ncolumns; c++)
			place(world, c, world->person[i][c], &table[i * (uint32_t) world->ncolumns + (uint32_t) c],
				  &ignored);
	world->problem =
		problem_from_codes(&world->host, table, world->nrows, world->ncolumns, 1 + random_below(random, 3));
	for (int c = 0; c < world->ncolumns; c++)
	{
		double left = 1;

		world->number[c] = calloc(VALUES, sizeof(double));
		for (uint32_t i = 0; i < world->distinct[c]; i++)
			world->number[c][i] = world->value[c][i] < VALUES - 1 ? world->value[c][i] : NAN;
		((KanonColumn *) world->problem->columns)[c].number = world->number[c];
		((KanonColumn *) world->problem->columns)[c].has_null = world->has_null[c];
		world->show[c] = (KanonClusterShow[]){KANON_CLUSTER_RANGE, KANON_CLUSTER_SET,
											  KANON_CLUSTER_SUPPRESS}[random_below(random, 3)];
		world->nvalues[c] = VALUES + 1;
		for (uint32_t v = 0; v < VALUES; v++)
		{
			world->share[c][v] =
				left * (random_below(random, 4) == 0 ? 0 : 0.1 + 0.1 * random_below(random, 4));
			left -= world->share[c][v];
			place(world, c, v, &world->code[1][c][v], &world->below[1][c][v]);
		}
		/* everybody else */
		world->share[c][VALUES] = left;
		world->code[1][c][VALUES] = world->below[1][c][VALUES] = KANON_FOREIGN;
		world->shares[c] = world->share[c];
		for (uint32_t i = 0; i < world->npeople; i++)
			place(world, c, world->person[i][c], &world->code[0][c][i], &world->below[0][c][i]);
	}
	for (uint32_t i = 0; i < PEOPLE; i++)
		world->ones[i] = 1;
	world->population[0] =
		(KanonPopulation){.ntypes = world->npeople, .rows = world->ones, .total = world->npeople};
	world->population[1] = (KanonPopulation){
		.total = world->nrows + random_below(random, 60), .nvalues = world->nvalues, .share = world->shares};
	for (int p = 0; p < 2; p++)
	{
		for (int c = 0; c < world->ncolumns; c++)
		{
			world->population[p].code[c] = world->code[p][c];
			world->population[p].below[c] = world->below[p][c];
		}
		set_bounds(&world->population[p], random);
	}
	world->cluster.show = world->show;
	world->problem->cluster = &world->cluster;
	world->problem->residual = (KanonResidual) random_below(random, 2);
	ignored = random_below(random, 3);
	world->problem->npopulations = ignored == 2 ? 2 : 1;
	world->problem->populations = world->population + (ignored == 1);
}

static void
close_world(World *world)
{
	problem_free(world->problem);
	assert_int_equal(world->host.blocks, 0);
}

/* ---- by the definitions ---- */

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
			return world->value[c][part[0]] <= value && value <= world->value[c][part[1]] &&
				   value != VALUES - 1;
		case KANON_SHOW_SET:
			for (uint32_t i = 1; i <= part[0]; i++)
				if (world->value[c][part[i]] == value)
					return true;
	}
	return false;
}

/* How many classes show all these values; *found is one of them, or how many classes there are. */
static int
count_classes(const World *world, const KanonRelease *release, const uint32_t *values, uint32_t *found)
{
	int n = 0;

	*found = release->nclasses;
	for (uint32_t class = 0; class < release->nclasses; class ++)
	{
		int c = 0;

		while (c < world->ncolumns && shows(world, release, class, c, values[c]))
			c++;
		if (c == world->ncolumns)
		{
			*found = class;
			n++;
		}
	}
	return n;
}

/* They are never two. */
static uint32_t
class_of(const World *world, const KanonRelease *release, const uint32_t *values)
{
	uint32_t found;

	assert_true(count_classes(world, release, values, &found) <= 1);
	return found;
}

/* Is there nobody who could match two classes, whatever their values? */
static bool
lie_apart(const World *world, const KanonRelease *release, uint32_t *values, int c)
{
	bool apart = true;
	uint32_t found;

	if (c == world->ncolumns)
		return count_classes(world, release, values, &found) <= 1;
	for (values[c] = 0; values[c] < VALUES && apart; values[c]++)
		apart = lie_apart(world, release, values, c + 1);
	return apart;
}

/* What share of those whose values are drawn one by one matches each class. */
static void
add_shares(const World *world, const KanonRelease *release, uint32_t *values, int c, double share,
		   double *sums)
{
	if (c == world->ncolumns)
	{
		sums[class_of(world, release, values)] += share;
		return;
	}
	for (values[c] = 0; values[c] <= VALUES; values[c]++)
		if (world->share[c][values[c]] > 0)
			add_shares(world, release, values, c + 1, share * world->share[c][values[c]], sums);
}

static double
likelihood(const KanonPopulation *population, int64_t rows, int64_t n, double p)
{
	double sum = 0;

	for (int64_t x = 0; x <= n; x++)
	{
		double chance = (double) rows / (double) (rows + x);

		if (chance >= population->least - 1e-9 && chance <= population->most + 1e-9)
			sum += p >= 1 - 1e-12 ? x == n
				   : p <= 0
					   ? x == 0
					   : exp(lgamma((double) n + 1) - lgamma((double) x + 1) - lgamma((double) (n - x) + 1) +
							 (double) x * log(p) + (double) (n - x) * log1p(-p));
	}
	return sum;
}

/* Does a release of the world keep the rules? */
static bool
keeps(const World *world, const KanonRelease *release)
{
	double sums[ROWS + 2] = {0};
	uint32_t values[COLUMNS];
	int found[ROWS + 2] = {0};

	for (uint32_t i = 0; i < world->npeople; i++)
		found[class_of(world, release, world->person[i])]++;
	add_shares(world, release, values, 0, 1, sums);
	for (int p = 0; p < world->problem->npopulations; p++)
	{
		const KanonPopulation *population = &world->problem->populations[p];

		for (uint32_t i = 0; i <= release->nclasses; i++)
		{
			int64_t rows = i < release->nclasses ? release->classes[i].rows : 0;

			if (population->nvalues != NULL
					? rows > 0 && likelihood(population, rows, population->total - world->nrows, sums[i]) <
									  population->confidence - 1e-6
					: (double) rows > population->most * found[i] + 1e-9 ||
						  population->least * found[i] > (double) rows + 1e-9)
				return false;
		}
	}
	return true;
}

/* The values of a row type. */
static void
values_of(const World *world, uint32_t type, uint32_t *values)
{
	for (int c = 0; c < world->ncolumns; c++)
		values[c] = world->value[c][world->problem->columns[c].code[type]];
}

static void
judge(const World *world, const KanonRelease *release)
{
	uint32_t values[COLUMNS];

	assert_true(keeps(world, release));
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];

		values_of(world, flow->type, values);
		assert_int_equal(class_of(world, release, values),
						 flow->class_ == KANON_DROPPED ? release->nclasses : flow->class_);
	}
}

/* ---- tests ---- */

static void
mondrian(void **state)
{
	uint64_t random = 2010;
	int published = 0, several = 0, alone = 0;

	(void) state;
	for (int round = 0; round < cases_or(3000, 5000); round++)
	{
		World world;
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		open_world(&world, &random);
		status = kanon_solve_mondrian(world.problem, &release, &report);
		if (status == KANON_OK)
		{
			judge(&world, &release);
			for (uint32_t i = 0; i < release.nclasses; i++)
				assert_true(release.classes[i].rows >= world.problem->k);
			published++;
			several += release.nclasses > 2;
			kanon_release_free(world.problem, &release);
		}
		else
		{
			if (status != KANON_NOT_FOUND && status != KANON_INFEASIBLE)
				fail_msg("round %d: status %d, %s", round, status, report.detail);
			alone++;
		}
		close_world(&world);
	}
	assert_true(published > cases_or(3000, 5000) / 10 && several > cases_or(3000, 5000) / 20 && alone > 0);
	print_message("published %d, in more than two classes %d\n", published, several);
}

/* Bounds that forbid nothing: Mondrian divides as far as it does alone. */
static void
unbounded(void **state)
{
	uint64_t random = 7;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		World world;
		KanonRelease release, alone;
		KanonReport report;

		open_world(&world, &random);
		world.problem->npopulations = 1;
		world.problem->populations = world.population;
		world.population[0].least = 0;
		world.population[0].most = 1;
		for (int c = 0; c < world.ncolumns; c++)
		{
			world.show[c] = KANON_CLUSTER_RANGE;
			/* (the last value is a number, too) */
			((KanonColumn *) world.problem->columns)[c].has_null = false;
			world.number[c][world.distinct[c] - 1] = world.value[c][world.distinct[c] - 1];
		}
		if (kanon_solve_mondrian(world.problem, &release, &report) == KANON_OK)
		{
			double cost = report.cost;

			world.problem->npopulations = 0;
			assert_int_equal(kanon_solve_mondrian(world.problem, &alone, &report), KANON_OK);
			assert_int_equal(release.nclasses, alone.nclasses);
			assert_true(fabs(cost - report.cost) < 1e-6);
			kanon_release_free(world.problem, &alone);
			kanon_release_free(world.problem, &release);
		}
		close_world(&world);
	}
}

/* Releases that the check has to find out: bounds that a class breaks, a row in another class, classes that overlap. */
static void
broken(void **state)
{
	uint64_t random = 5;
	int seen = 0, moved = 0, overlapping = 0;

	(void) state;
	for (int round = 0; round < cases_or(2000, 5000); round++)
	{
		World world;
		KanonRelease release;
		KanonReport report;
		uint32_t class;

		open_world(&world, &random);
		world.problem->npopulations = 0;
		if (kanon_solve_mondrian(world.problem, &release, &report) == KANON_OK)
		{
			uint32_t values[COLUMNS];
			bool apart = lie_apart(&world, &release, values, 0);
			KanonStatus status;

			world.problem->npopulations = 1;
			status = kanon_presence_check(world.problem, &release, &class);
			assert_int_equal(status, KANON_OK);
			if (apart)
				assert_int_equal(class > release.nclasses, keeps(&world, &release));
			/* of rows it is looked at whether any of them matches two */
			else if (world.problem->populations[0].nvalues != NULL)
				assert_true(class <= release.nclasses);
			seen += apart && class <= release.nclasses;
			overlapping += !apart;
			world.population[0].least = 0;
			world.population[0].most = 1;
			world.problem->populations = world.population;
			if (apart && release.nclasses > 1)
			{
				release.flows[0].class_ = (release.flows[0].class_ + 1) % release.nclasses;
				assert_int_equal(kanon_presence_check(world.problem, &release, &class), KANON_OK);
				assert_true(class <= release.nclasses);
				moved++;
			}
			kanon_release_free(world.problem, &release);
		}
		close_world(&world);
	}
	assert_true(seen > cases_or(2000, 5000) / 20 && moved > cases_or(2000, 5000) / 4 && overlapping > 0);
}

/* Two classes overlap where nobody of the table is: (*, 1) and (1, *).  That is refused if anybody can be there. */
static void
overlap(void **state)
{
	static const uint32_t codes[] = {0, 1, 1, 0};
	static const uint32_t nvalues[] = {2, 2}, both[] = {0, 1};
	static const double half[] = {0.5, 0.5};
	static const double *const shares[] = {half, half};
	static const uint32_t first[] = {0, 1, 1}, second[] = {1, 0, 1};
	static const int64_t rows[] = {2, 2, 1};
	KanonPopulation unlisted = {
		.total = 72, .code = {both, both}, .most = 1, .nvalues = nvalues, .share = shares};
	KanonPopulation listed = {.ntypes = 2, .rows = rows, .total = 4, .code = {first, second}, .most = 1};
	KanonClass classes[] = {{KANON_BITS(1), 1}, {KANON_BITS(2), 1}};
	KanonCell cells[] = {{0, 0}, {KANON_SHOW_VALUE, 1}, {KANON_SHOW_VALUE, 1}, {0, 0}};
	KanonFlow flows[] = {{0, 0, 1}, {1, 1, 1}};
	KanonRelease release = {.nclasses = 2, .classes = classes, .cells = cells, .nflows = 2, .flows = flows};
	struct KanonClusterOptions cluster = {0};
	Host host;
	KanonProblem *problem;
	uint32_t class;

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, codes, 2, 2, 1);
	problem->cluster = &cluster;
	problem->npopulations = 1;
	problem->populations = &unlisted;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 1);
	problem->populations = &listed;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_int_equal(class, 3);
	/* and one more is there */
	listed.ntypes = 3;
	listed.total = 5;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_OK);
	assert_true(class <= 2);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

static void
every_failure(void **state)
{
	(void) state;
	for (int round = 0; round < cases(24); round++)
	{
		Failure failure = {.how = round % 8 < 4 ? KANON_NO_MEMORY : KANON_CANCELLED};

		while (fails_again(&failure))
		{
			uint64_t random = 11 + (uint64_t) round;
			World world;
			KanonRelease release;
			KanonReport report;

			open_world(&world, &random);
			world.problem->npopulations = 2;
			world.problem->populations = world.population;
			for (int p = 0; p < 2; p++)
			{
				world.population[p].least = 0;
				world.population[p].most = 1;
			}
			fail_at(&world.host, &failure);
			failure.status = kanon_solve_mondrian(world.problem, &release, &report);
			if (failure.status == KANON_OK)
				kanon_release_free(world.problem, &release);
			close_world(&world);
		}
		assert_true(failure.status == KANON_OK || failure.status == KANON_NOT_FOUND);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mondrian), cmocka_unit_test(unbounded),     cmocka_unit_test(broken),
		cmocka_unit_test(overlap),  cmocka_unit_test(every_failure),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
