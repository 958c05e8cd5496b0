/*
 * test_turns.c: rules about the chance to be in the release where classes may overlap: greedy and
 * Mondrian.  Releases are judged by values, from the definitions alone; greedy's are those of the
 * paper's algorithm, pattern by pattern.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/cluster.h"
#include "exact/ruled.h"
#include "fixture.h"
#include "model/mask.h"
#include "privacy/population.h"
#include "release/repair.h"

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

/* The first class that shows all these values, or how many there are. */
static uint32_t
first_class(const World *world, const KanonRelease *release, const uint32_t *values)
{
	for (uint32_t class = 0; class < release->nclasses; class ++)
	{
		int c = 0;

		while (c < world->ncolumns && shows(world, release, class, c, values[c]))
			c++;
		if (c == world->ncolumns)
			return class;
	}
	return release->nclasses;
}

/* What share of those whose values are drawn one by one is first of each class. */
static void
add_shares(const World *world, const KanonRelease *release, uint32_t *values, int c, double share,
		   double *sums)
{
	if (c == world->ncolumns)
	{
		sums[first_class(world, release, values)] += share;
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

/* Of what the classes show, NULL and nothing look the same. */
static bool
look_alike(const World *world, const KanonRelease *release, uint32_t a, uint32_t b)
{
	for (int c = 0; c < world->ncolumns; c++)
	{
		KanonCell left = release->cells[a * (size_t) world->ncolumns + (size_t) c];
		KanonCell right = release->cells[b * (size_t) world->ncolumns + (size_t) c];
		bool blank[2] = {left.show == KANON_SHOW_NOTHING, right.show == KANON_SHOW_NOTHING};

		blank[0] |= left.show == KANON_SHOW_VALUE && world->value[c][left.code] == VALUES - 1;
		blank[1] |= right.show == KANON_SHOW_VALUE && world->value[c][right.code] == VALUES - 1;
		if (blank[0] != blank[1] || (!blank[0] && (left.show != right.show || left.code != right.code)))
			return false;
	}
	return true;
}

/* Does a release of the world keep the rules? */
static bool
keeps(const World *world, const KanonRelease *release)
{
	double sums[ROWS + 2] = {0};
	uint32_t values[COLUMNS];
	int found[ROWS + 2] = {0};

	for (uint32_t i = 0; i < world->npeople; i++)
		found[first_class(world, release, world->person[i])]++;
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
		for (uint32_t i = 0; i < release->nclasses && population->nvalues != NULL; i++)
		{
			int64_t rows = 0;
			double sum = 0;

			for (uint32_t j = 0; j <= i; j++)
				if (look_alike(world, release, i, j))
				{
					rows += release->classes[j].rows;
					sum += sums[j];
				}
			if (likelihood(population, rows, population->total - world->nrows, sum) <
				population->confidence - 1e-6)
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
		assert_int_equal(first_class(world, release, values),
						 flow->class_ == KANON_DROPPED ? release->nclasses : flow->class_);
	}
}

/* ---- the paper's algorithm ---- */

typedef struct Naive
{
	KanonClass classes[ROWS + 1];
	KanonCell cells[(ROWS + 1) * COLUMNS];
	KanonRelease release;
	bool taken[ROWS];
} Naive;

/* The last class alone: does it keep the rules when those before do? */
static bool
last_keeps(const World *world, const Naive *naive)
{
	uint32_t last = naive->release.nclasses - 1;
	uint32_t values[COLUMNS];
	double sums[ROWS + 2] = {0};
	int found[ROWS + 2] = {0};

	for (uint32_t i = 0; i < world->npeople; i++)
		found[first_class(world, &naive->release, world->person[i])]++;
	add_shares(world, &naive->release, values, 0, 1, sums);
	for (int p = 0; p < world->problem->npopulations; p++)
	{
		const KanonPopulation *population = &world->problem->populations[p];
		int64_t rows = naive->classes[last].rows;

		if (population->nvalues != NULL ? likelihood(population, rows, population->total - world->nrows,
													 sums[last]) < population->confidence - 1e-6
										: (double) rows > population->most * found[last] + 1e-9 ||
											  population->least * found[last] > (double) rows + 1e-9)
			return false;
	}
	return true;
}

static void
take_naively(const World *world, Naive *naive, KanonPattern pattern, uint32_t type)
{
	const KanonProblem *problem = world->problem;
	uint32_t class = naive->release.nclasses;
	KanonCell *cells = naive->cells + class * (size_t) world->ncolumns;
	bool member[ROWS] = {false};
	int64_t rows = 0;

	for (int c = 0; c < world->ncolumns; c++)
		cells[c] = kanon_has(pattern, c)
					   ? (KanonCell){KANON_SHOW_NOTHING, 0}
					   : (KanonCell){KANON_SHOW_VALUE, problem->columns[c].code[type] & KANON_MAX_TYPES};
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		uint32_t values[COLUMNS];
		int c = 0;

		values_of(world, i, values);
		while (c < world->ncolumns && shows(world, &naive->release, class, c, values[c]))
			c++;
		member[i] = c == world->ncolumns && !naive->taken[i];
		rows += member[i] ? problem->rows[i] : 0;
	}
	naive->classes[class] = (KanonClass){pattern, rows};
	naive->release.nclasses++;
	if (rows < problem->k || !last_keeps(world, naive))
	{
		naive->release.nclasses--;
		return;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		naive->taken[i] |= member[i];
}

static void
solve_naively(const World *world, Naive *naive)
{
	const KanonProblem *problem = world->problem;
	KanonPattern *patterns;
	size_t n;

	memset(naive, 0, sizeof(*naive));
	naive->release.classes = naive->classes;
	naive->release.cells = naive->cells;
	assert_int_equal(kanon_mask_enumerate(problem, 1000, &patterns, &n), KANON_OK);
	for (size_t p = 0; p + 1 < n; p++)
		for (uint32_t type = 0; type < problem->ntypes; type++)
			if (!naive->taken[type])
				take_naively(world, naive, patterns[p], type);
	problem->env->free(problem->env->arg, patterns);
}

/* ---- tests ---- */

static void
greedy(void **state)
{
	uint64_t random = 22;
	int published = 0, several = 0;

	(void) state;
	for (int round = 0; round < cases(3000); round++)
	{
		World world;
		Naive naive;
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		open_world(&world, &random);
		solve_naively(&world, &naive);
		status = kanon_solve_greedy(world.problem, &release, &report);
		if (status == KANON_OK)
		{
			uint32_t shown = 0;

			judge(&world, &release);
			for (uint32_t i = 0; i < release.nclasses; i++)
				shown += !kanon_same(release.classes[i].pattern, kanon_pattern_all(world.ncolumns));
			assert_int_equal(shown, naive.release.nclasses);
			for (uint32_t i = 0; i < shown; i++)
				assert_true(kanon_same(release.classes[i].pattern, naive.classes[i].pattern));
			assert_true(report.guarantee == 0);
			published++;
			several += shown > 2;
			kanon_release_free(world.problem, &release);
		}
		else
		{
			if (status != KANON_NOT_FOUND && status != KANON_REST_FORBIDDEN)
				fail_msg("round %d: status %d, %s", round, status, report.detail);
		}
		close_world(&world);
	}
	assert_true(published > cases(3000) / 10 && several > cases(3000) / 20);
}

static void
mondrian(void **state)
{
	uint64_t random = 2010;
	int published = 0, several = 0, alone = 0;

	(void) state;
	for (int round = 0; round < cases(3000); round++)
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
	assert_true(published > cases(3000) / 10 && several > cases(3000) / 20 && alone > 0);
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

/* Releases that the check has to find out: a row in a later class, a class with too many rows. */
static void
broken(void **state)
{
	uint64_t random = 5;
	int seen = 0;

	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		World world;
		KanonRelease release;
		KanonReport report;
		uint32_t class;

		open_world(&world, &random);
		world.problem->npopulations = 0;
		if (kanon_solve_greedy(world.problem, &release, &report) == KANON_OK)
		{
			KanonStatus status;

			world.problem->npopulations = 1;
			status = kanon_presence_check(world.problem, &release, &class);
			assert_int_equal(status == KANON_OK && class > release.nclasses, keeps(&world, &release));
			assert_true(status == KANON_OK || status == KANON_NOT_FOUND);
			seen += class <= release.nclasses;
			world.population[0].least = 0;
			world.population[0].most = world.population[0].confidence = 1;
			world.problem->populations = world.population;
			/* the last class that shows something first: its rows match it no less, others may, too */
			if (release.nclasses > 1 && release.flows[0].class_ != KANON_DROPPED)
			{
				release.flows[0].class_ = (release.flows[0].class_ + 1) % release.nclasses;
				assert_int_equal(kanon_presence_check(world.problem, &release, &class), KANON_OK);
				assert_true(class <= release.nclasses);
			}
			kanon_release_free(world.problem, &release);
		}
		close_world(&world);
	}
	assert_true(seen > cases(1000) / 20);
}

/* Two classes that keep a rule, and do not when nobody can tell NULL from what is suppressed. */
static void
alike(void **state)
{
	static const uint32_t codes[] = {0, 0, 0, 1};
	static const uint32_t nvalues[] = {2, 2};
	static const uint32_t first[] = {0, KANON_FOREIGN}, second[] = {0, 1};
	static const double share[2][2] = {{0.02, 0.98}, {0.5, 0.5}};
	const double *const shares[] = {share[0], share[1]};
	KanonPopulation population = {.total = 72,
								  .code = {first, second},
								  .most = 0.5,
								  .nvalues = nvalues,
								  .share = shares,
								  .confidence = 0.5};
	KanonClass classes[] = {{KANON_NONE, 1}, {KANON_BITS(2), 1}};
	KanonCell cells[] = {
		{KANON_SHOW_VALUE, 0}, {KANON_SHOW_VALUE, 1}, {KANON_SHOW_VALUE, 0}, {KANON_SHOW_NOTHING, 0}};
	KanonFlow flows[] = {{0, 1, 1}, {1, 0, 1}};
	KanonRelease release = {.nclasses = 2, .classes = classes, .cells = cells, .nflows = 2, .flows = flows};

	(void) state;
	for (int null = 0; null < 2; null++)
	{
		Host host;
		KanonProblem *problem;
		uint32_t class;

		host_init(&host);
		problem = problem_from_codes(&host, codes, 2, 2, 1);
		((KanonColumn *) problem->columns)[1].has_null = null == 1;
		problem->npopulations = 1;
		problem->populations = &population;
		assert_int_equal(kanon_presence_check(problem, &release, &class),
						 null == 1 ? KANON_NOT_FOUND : KANON_OK);
		assert_int_equal(class, 3);
		problem_free(problem);
	}
}

/* Of a share that it takes too long to find out nothing is said, least of all that a solver was wrong. */
static void
unknown(void **state)
{
	enum
	{
		WIDTH = 64,
		BEFORE = 150 /* with other numbers in the last eight columns, and zeros in eight of the others */
	};
	static uint32_t codes[(BEFORE + 1) * WIDTH];
	static KanonCell cells[(BEFORE + 1) * WIDTH];
	static KanonClass classes[BEFORE + 1];
	static KanonFlow flows[BEFORE + 1];
	static const uint32_t both[] = {0, 1};
	static const double half[] = {0.5, 0.5};
	uint32_t nvalues[WIDTH];
	const double *shares[WIDTH];
	KanonPopulation population = {.total = 1000, .most = 1, .nvalues = nvalues, .share = shares};
	KanonRelease release = {
		.nclasses = BEFORE + 1, .classes = classes, .cells = cells, .nflows = BEFORE + 1, .flows = flows};
	uint64_t random = 3;
	uint32_t class;
	Host host;
	KanonProblem *problem;

	(void) state;
	host_init(&host);
	for (uint32_t i = 0; i < (BEFORE + 1) * WIDTH; i++)
		codes[i] = i > 0;
	for (uint32_t i = 0; i < BEFORE; i++)
	{
		for (int n = 0; n < 8; n++)
			codes[(i + 1) * WIDTH + 1 + random_below(&random, WIDTH - 9)] = 0;
		for (uint32_t bit = 0; bit < 8; bit++)
			codes[(i + 1) * WIDTH + WIDTH - 8 + bit] = i >> bit & 1;
	}
	problem = problem_from_codes(&host, codes, BEFORE + 1, WIDTH, 1);
	assert_int_equal(problem->ntypes, BEFORE + 1);
	/* the first type shows its zero alone, after all others */
	for (uint32_t type = 0; type <= BEFORE; type++)
	{
		uint32_t at = (type + BEFORE) % (BEFORE + 1);

		classes[at] = (KanonClass){KANON_NONE, 1};
		flows[type] = (KanonFlow){type, at, 1};
		for (int c = 0; c < WIDTH; c++)
		{
			uint32_t code = problem->columns[c].code[type];

			if (code == 0 || (c >= WIDTH - 8 && type > 0))
				cells[at * WIDTH + (uint32_t) c] = (KanonCell){KANON_SHOW_VALUE, code & 1};
		}
	}
	for (int c = 0; c < WIDTH; c++)
	{
		nvalues[c] = 2;
		shares[c] = half;
		population.code[c] = both;
	}
	problem->npopulations = 1;
	problem->populations = &population;
	assert_int_equal(kanon_presence_check(problem, &release, &class), KANON_NOT_FOUND);
	assert_true(class > release.nclasses);
	problem_free(problem);
}

static void
every_failure(void **state)
{
	static const KanonSolve solves[] = {kanon_solve_greedy, kanon_solve_mondrian, kanon_solve_improve,
										kanon_solve_bottom_up};

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
			world.problem->effort = 0.01;
			if (round % 2 != 1)
				world.problem->cluster = NULL;
			failure.status = solves[round % 4](world.problem, &release, &report);
			if (failure.status == KANON_OK)
				kanon_release_free(world.problem, &release);
			close_world(&world);
		}
		assert_true(failure.status == KANON_OK || failure.status == KANON_NOT_FOUND);
	}
}

/* ---- solvers that know k alone ---- */

static void
others(void **state)
{
	uint64_t random = 24;
	int published = 0, better = 0;

	(void) state;
	for (int round = 0; round < cases(1500); round++)
	{
		World world;
		KanonRelease greedy = {0};
		KanonReport least = {0};
		double cost;

		open_world(&world, &random);
		world.problem->cluster = NULL;
		world.problem->effort = 0.01;
		world.problem->k += world.problem->k == 1;
		cost = kanon_solve_greedy(world.problem, &greedy, &least) == KANON_OK
				   ? least.cost + (double) greedy.dropped * world.ncolumns
				   : INFINITY;
		kanon_release_free(world.problem, &greedy);
		for (const KanonSolver *solver = kanon_solvers + 1; solver->name != NULL; solver++)
		{
			KanonRelease release = {0};
			KanonReport report = {0};
			KanonProblem plain = *world.problem;
			KanonRelease alone = {0};
			KanonReport best = {0};
			KanonStatus status;

			if ((solver->only_k != 0 && solver->only_k != world.problem->k) ||
				(solver->solve == kanon_solve_fpt && (world.ncolumns > 1 || world.nrows > 14)))
				continue;
			status = solver->solve(world.problem, &release, &report);
			if (status == KANON_UNAVAILABLE)
				continue;
			if (status == KANON_OK)
			{
				double found = report.cost + (double) release.dropped * world.ncolumns;

				judge(&world, &release);
				assert_true(found <= cost + 1e-9);
				published++;
				better += found < cost - 1e-9;
				/* the bound is that of k alone */
				plain.npopulations = 0;
				plain.residual = KANON_RESIDUAL_SUPPRESS;
				if (solver->solve == kanon_solve_ilp)
				{
					assert_int_equal(solver->solve(&plain, &alone, &best), KANON_OK);
					assert_true(report.lower_bound + (double) release.dropped * world.ncolumns <
								best.cost + 1e-9);
					kanon_release_free(&plain, &alone);
				}
			}
			else
				assert_true(cost == INFINITY &&
							(status == KANON_NOT_FOUND || status == KANON_REST_FORBIDDEN));
			kanon_release_free(world.problem, &release);
		}
		close_world(&world);
	}
	assert_true(published > cases(1500) && better > 0);
}

static void
clusterings_by_patterns(void **state)
{
	static const KanonSolve solves[] = {kanon_solve_pattern_clustering, kanon_solve_pattern_clustering_greedy,
										kanon_solve_pattern_clustering_fpt};
	uint64_t random = 11;
	int published = 0, several = 0;

	(void) state;
	for (int round = 0; round < cases(1500); round++)
	{
		World world;
		KanonPattern list[4];

		open_world(&world, &random);
		world.problem->cluster = NULL;
		world.problem->residual = KANON_RESIDUAL_ERROR;
		for (int i = 0; i < 3; i++)
			list[i] = KANON_BITS(random_below(&random, 1u << world.ncolumns));
		list[3] = kanon_pattern_all(world.ncolumns);
		/* else all patterns, each once */
		if (round % 3 < 2)
		{
			world.problem->mask.list = list;
			world.problem->mask.nlist = 4;
		}
		for (int i = 0; i < 3; i++)
		{
			KanonRelease release = {0};
			KanonReport report = {0};
			KanonStatus status = solves[i](world.problem, &release, &report);

			if (status == KANON_OK)
			{
				judge(&world, &release);
				assert_int_equal(release.dropped, 0);
				published++;
				several += release.nclasses > 1;
			}
			else
				assert_true(status == KANON_NOT_FOUND || status == KANON_INFEASIBLE ||
							status == KANON_UNAVAILABLE || (status == KANON_TOO_LARGE && i == 2));
			kanon_release_free(world.problem, &release);
		}
		world.problem->mask.list = NULL;
		close_world(&world);
	}
	assert_true(published > cases(1500) / 4 && several > published / 10);
}

/* ---- time ---- */

static double given; /* to the solver */
static double clock_now;

static double
stands(void *arg)
{
	(void) arg;
	return clock_now;
}

/* Uses up all that it has, and more. */
static KanonStatus
takes_long(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	given = problem->time_limit;
	clock_now += given;
	return kanon_solve_greedy(problem, release, report);
}

/* Under rules about populations the solver has a part of the time that is allowed, and the rest is for its classes. */
static void
time_is_shared(void **state)
{
	uint64_t random = 3;
	int tried = 0;

	(void) state;
	for (int round = 0; round < cases(200); round++)
	{
		World world;
		KanonRelease release = {0};
		KanonReport report = {0};

		open_world(&world, &random);
		world.problem->cluster = NULL;
		world.problem->time_limit = 8;
		world.population[0].map = round % 2 == 1;
		world.problem->k_map = round % 2 == 1;
		world.problem->npopulations = 1;
		world.problem->populations = world.population;
		world.host.env.now = stands;
		clock_now = 100;
		given = 0;
		(void) ruled_solve(world.problem, takes_long, RULED_ONCE, &release, &report);
		tried += given > 0;
		assert_true(given <= 4 && clock_now < 108);
		kanon_release_free(world.problem, &release);
		close_world(&world);
	}
	assert_true(tried > cases(200) / 2);
}

/* When time has ended no more classes are taken: what comes out keeps the rules all the same, and less is shown. */
static void
turns_in_time(void **state)
{
	uint64_t random = 31;
	int shown[2] = {0};

	(void) state;
	for (int round = 0; round < cases(300); round++)
		for (int late = 0; late < 2; late++)
		{
			uint64_t same = random;
			World world;
			KanonProblem plain;
			KanonRelease solved = {0};
			KanonReport report = {0};

			open_world(&world, late == 1 ? &random : &same);
			world.problem->cluster = NULL;
			world.host.env.now = stands;
			clock_now = 100;
			plain = *world.problem;
			plain.npopulations = 0;
			plain.residual = KANON_RESIDUAL_SUPPRESS;
			if (kanon_solve_greedy(&plain, &solved, &report) == KANON_OK)
			{
				KanonRelease release = {0};
				KanonStatus status =
					kanon_take_in_turn(world.problem, &solved, false, late ? 99 : 101, &release, &report);

				assert_true(status == KANON_OK || status == KANON_NOT_FOUND);
				if (status == KANON_OK)
				{
					judge(&world, &release);
					for (uint32_t i = 0; i < release.nclasses; i++)
						shown[late] += !kanon_class_blank(world.problem, &release, i);
				}
				else if (late)
					assert_non_null(strstr(report.detail, "time was up"));
				kanon_release_free(world.problem, &release);
			}
			kanon_release_free(&plain, &solved);
			close_world(&world);
		}
	assert_true(shown[1] < shown[0] / 2);
}

/* What clusters show may overlap: they are taken in turn, or it is Mondrian's release, whichever loses less. */
static void
clusterings(void **state)
{
	uint64_t random = 2007;
	int published = 0, better = 0, left_out = 0;

	(void) state;
	for (int round = 0; round < cases(600); round++)
	{
		World world;
		KanonRelease mondrian = {0};
		KanonReport least = {0};
		double cost;

		open_world(&world, &random);
		world.problem->k += world.problem->k == 1;
		if (round % 4 == 3)
			world.problem->residual = KANON_RESIDUAL_DROP;
		cost = kanon_solve_mondrian(world.problem, &mondrian, &least) == KANON_OK ? least.cost : INFINITY;
		kanon_release_free(world.problem, &mondrian);
		for (const KanonSolver *method = kanon_cluster_methods + 1; method->name != NULL; method++)
		{
			KanonRelease release = {0};
			KanonReport report = {0};
			KanonStatus status;

			if (method->only_k != 0 && method->only_k != world.problem->k)
				continue;
			status = method->solve(world.problem, &release, &report);
			if (status == KANON_UNAVAILABLE)
				continue;
			if (status == KANON_OK)
			{
				judge(&world, &release);
				for (uint32_t i = 0; i < release.nclasses; i++)
					assert_true(release.classes[i].rows >= world.problem->k);
				assert_true(release.dropped == 0 || world.problem->residual == KANON_RESIDUAL_DROP);
				assert_true(report.lower_bound <= report.cost + 1e-9);
				assert_true(report.guarantee == 0 ||
							report.cost <= report.guarantee * report.lower_bound + 1e-9 ||
							report.lower_bound == -INFINITY);
				if (method->solve != kanon_solve_gather)
					assert_true(report.cost <= cost + 1e-9);
				published++;
				better += report.cost < cost - 1e-9 && method->solve != kanon_solve_gather;
				left_out += release.dropped > 0;
			}
			else
				assert_true((cost == INFINITY || status == KANON_INFEASIBLE) &&
							(status == KANON_NOT_FOUND || status == KANON_INFEASIBLE));
			kanon_release_free(world.problem, &release);
		}
		close_world(&world);
	}
	print_message("published %d, better than Mondrian %d, rows left out %d\n", published, better, left_out);
	assert_true(published > cases(600) && better > published / 10 && left_out > 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others),        cmocka_unit_test(clusterings_by_patterns),
		cmocka_unit_test(clusterings),   cmocka_unit_test(time_is_shared),
		cmocka_unit_test(turns_in_time), cmocka_unit_test(greedy),
		cmocka_unit_test(mondrian),      cmocka_unit_test(unbounded),
		cmocka_unit_test(broken),        cmocka_unit_test(alike),
		cmocka_unit_test(unknown),       cmocka_unit_test(every_failure),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
