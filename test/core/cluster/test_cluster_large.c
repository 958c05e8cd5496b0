/*
 * test_cluster_large.c: clusterings where it takes more than a small random table: rows
 * that hang at others, and many parts that wait.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "cluster/matching.h"
#include "exact.h"

static KanonClusterShow suppress[KANON_MAX_COLUMNS];
static struct KanonClusterOptions options = {.show = suppress};

static KanonSolve
method(const char *name)
{
	const KanonMethod *found = kanon_method_find(KANON_CLUSTER, name);

	for (int c = 0; c < KANON_MAX_COLUMNS; c++)
		suppress[c] = KANON_CLUSTER_SUPPRESS;
	assert_non_null(found);
	return found->solve;
}

#ifdef HAVE_LEMON
/* ---- pairs ---- */

#define MOST 8

static int
differ(const KanonProblem *problem, uint32_t a, uint32_t b)
{
	int n = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		n += problem->columns[c].code[a] != problem->columns[c].code[b];
	return n;
}

/*
 * The least weight of edges that cover the rows in `left`, each of which is of a type of
 * its own; a type with more rows needs none, and has room for two at each of its rows.
 */
static int
least_cover(const KanonProblem *problem, unsigned left, int64_t *room)
{
	uint32_t a = 0;
	int least = 1000;

	if (left == 0)
		return 0;
	while ((left >> a & 1) == 0)
		a++;
	for (uint32_t b = 0; b < problem->ntypes; b++)
	{
		int weight;

		if (a == b || (problem->rows[b] > 1 && room[b] == 0))
			continue;
		room[b] -= problem->rows[b] > 1;
		weight = differ(problem, a, b) + least_cover(problem, left & ~(1u << a) & ~(1u << b), room);
		room[b] += problem->rows[b] > 1;
		least = weight < least ? weight : least;
	}
	return least;
}

/* The bound is twice the least weight of edges, whichever rows they meet at; rows of one value take two each. */
static void
pairs_and_hubs(void **state)
{
	uint64_t random = 6;
	int crowded = 0;

	(void) state;
	for (int table = 0; table < cases(2000); table++)
	{
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;
		uint32_t code[MOST * 6];
		uint32_t n = 2 + random_below(&random, MOST - 1);
		int ncolumns = 2 + (int) random_below(&random, 5);
		unsigned single = 0;
		int64_t room[MOST];

		for (uint32_t i = 0; i < n; i++)
			for (int c = 0; c < ncolumns; c++)
				/* neighbours of the first row, most of them: they hang at it */
				code[i * (uint32_t) ncolumns + (uint32_t) c] =
					table % 2 == 0 ? random_below(&random, 2)
								   : i > 0 && (uint32_t) c == (i - 1) % (uint32_t) ncolumns;
		host_init(&host);
		problem = problem_from_codes(&host, code, n, ncolumns, 2);
		problem->cluster = &options;
		problem->residual = KANON_RESIDUAL_ERROR;
		if (random_below(&random, 2) == 0)
			((int64_t *) problem->rows)[table % 2 == 1 ? 0 : random_below(&random, problem->ntypes)] =
				2 + random_below(&random, 2);
		for (uint32_t i = 0; i < problem->ntypes; i++)
		{
			room[i] = 2 * problem->rows[i];
			single |= problem->rows[i] == 1 ? 1u << i : 0;
		}
		if (problem->ntypes == 1)
		{
			problem_free(problem);
			continue;
		}
		assert_int_equal(method("pairs")(problem, &release, &report), KANON_OK);
		for (uint32_t c = 0; c < release.nclasses; c++)
			assert_true(release.classes[c].rows >= 2);
		assert_true(fabs(report.lower_bound - fmin(2.0 * least_cover(problem, single, room), report.cost)) <
					1e-6);
		for (uint32_t i = 0; i < problem->ntypes; i++)
			crowded +=
				problem->rows[i] > 1 && __builtin_popcount(single) > problem->rows[i] && table % 2 == 1;
		/* the release is whole, as if it came from anywhere */
		assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(crowded > cases(100) / 2);
}

/* Rows of one value, and others that hang at them; the first thing that a cluster is made of. */
static KanonProblem *
hub_problem(Host *host, int columns)
{
	uint32_t code[MOST * MOST] = {0};
	KanonProblem *problem;

	for (int c = 0; c < columns; c++)
		code[(c + 1) * columns + c] = 1;
	host_init(host);
	problem = problem_from_codes(host, code, (size_t) columns + 1, columns, 2);
	problem->cluster = &options;
	((int64_t *) problem->rows)[0] = columns + 2;
	return problem;
}

static void
hubs_refused(void **state)
{
	(void) state;
	(void) method("pairs");
	for (int columns = 1; columns < MOST; columns++)
		exact_refuse_each(hub_problem, columns, method("pairs"), true);
}
/* LEMON is stopped while it works: the host says so, or its time is up. */
static void
lemon_is_stopped(void **state)
{
	enum
	{
		nodes = 800,
		edges = nodes * (nodes - 1) / 2
	};
	uint64_t random = 12;
	bool *must = calloc(nodes, sizeof(*must));
	size_t *used = calloc(nodes, sizeof(*used));
	int64_t *price = calloc(nodes, 2 * sizeof(*price));
	uint32_t *place = calloc(nodes, sizeof(*place));
	MatchEdge *edge = malloc(edges * sizeof(*edge));
	MatchGraph graph = {nodes, must, edges, edge, used, price, place, price + nodes};
	size_t n = 0;

	(void) state;
	for (uint32_t a = 0; a < nodes; a++)
		for (uint32_t b = a + 1; b < nodes; b++)
			edge[n++] = (MatchEdge){a, b, random_below(&random, 1000)};
	for (int late = 0; late < 2; late++)
	{
		Host host;

		host_init(&host);
		fixture_take_time();
		host.cancel_at = late ? 0 : 1;
		assert_int_equal(matching_solve(&host.env, "matching",
										late ? host.env.now(host.env.arg) + 1e-3 : INFINITY, &graph),
						 late ? KANON_TOO_LARGE : KANON_CANCELLED);
		assert_true(host.polls > 0);
	}
	free(must);
	free(used);
	free(price);
	free(place);
	free(edge);
}
#endif

/* ---- Mondrian ---- */

#define COLUMNS 60
#define STEPS 256

/*
 * A part waits for each column whose lowest value sets two rows apart from all others, and for
 * each time that the others are halved then: more of them than there was room for at first.
 */
static void
many_parts_wait(void **state)
{
	enum
	{
		ROWS = 2 * COLUMNS + 2 * STEPS
	};
	uint32_t *code = calloc(ROWS * (COLUMNS + 1), sizeof(uint32_t));
	Host host;
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;

	(void) state;
	for (uint32_t i = 0; i < ROWS; i++)
	{
		uint32_t *row = code + i * (COLUMNS + 1);

		for (uint32_t c = 0; c < COLUMNS; c++)
			row[c] = 1;
		if (i < 2 * COLUMNS)
			row[i / 2] = 0;
		row[COLUMNS] = i < 2 * COLUMNS ? 0 : (i - 2 * COLUMNS) / 2;
	}
	host_init(&host);
	problem = problem_from_codes(&host, code, ROWS, COLUMNS + 1, 2);
	problem->cluster = &options;
	for (int c = 0; c <= COLUMNS; c++)
	{
		double *number = calloc(STEPS, sizeof(double));

		for (int v = 0; v < STEPS; v++)
			number[v] = v;
		((KanonColumn *) problem->columns)[c].number = number;
	}
	assert_int_equal(method("mondrian")(problem, &release, &report), KANON_OK);
	/* two rows each, and nobody shows less than must be */
	assert_int_equal(release.nclasses, COLUMNS + STEPS);
	assert_true(report.cost == 0);
	kanon_release_free(problem, &release);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
	free(code);
}

/* ---- top-down ---- */

/*
 * Pairs of rows, each twice as far away as the next, in the first column and then, by little weight, in the
 * second: what is divided off waits for all the rest.
 */
static void
many_clusters_wait(void **state)
{
	enum
	{
		STEPS_AWAY = 45,
		PAIRS = 2 * STEPS_AWAY
	};
	uint32_t code[4 * PAIRS];
	Host host;
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;
	KanonSolve top_down = method("top_down");
	uint64_t at = 0;

	(void) state;
	for (uint32_t i = 0; i < 2 * PAIRS; i++)
	{
		code[2 * i] = i / 2 < STEPS_AWAY ? i / 2 : STEPS_AWAY;
		code[2 * i + 1] = i / 2 < STEPS_AWAY ? STEPS_AWAY : i / 2 - STEPS_AWAY;
	}
	host_init(&host);
	problem = problem_from_codes(&host, code, 2 * PAIRS, 2, 2);
	problem->cluster = &options;
	for (int c = 0; c < 2; c++)
	{
		double *number = calloc(STEPS_AWAY + 1, sizeof(double));

		for (int v = 0; v < STEPS_AWAY; v++)
			number[v] = -ldexp(1, STEPS_AWAY - v);
		((KanonColumn *) problem->columns)[c].number = number;
		suppress[c] = KANON_CLUSTER_RANGE;
	}
	((KanonColumn *) problem->columns)[1].weight = ldexp(1, -STEPS_AWAY);
	assert_int_equal(top_down(problem, &release, &report), KANON_OK);
	assert_int_equal(release.nclasses, PAIRS);
	kanon_release_free(problem, &release);
	assert_int_equal(host.blocks, 0);
	/* room for more of them is asked for once: refused, too */
	for (bool refused = true; refused;)
	{
		host.refuse_at = host.allocations + ++at;
		refused = top_down(problem, &release, &report) != KANON_OK;
		assert_int_equal(refused, host.allocations >= host.refuse_at);
		if (!refused)
			kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
	}
	problem_free(problem);
}

/* ---- by parts ---- */

static const char *const by_parts[] = {"bottom_up", "forest", "gather", "pairs", "triples"};

static void
parts_are_releases(void **state)
{
	uint64_t random = 1999;

	(void) state;
	for (int round = 0; round < cases(150); round++)
	{
		int m = round % 5;
		int64_t k = m == 3 ? 2 : m == 4 ? 3 : 2 + (int64_t) random_below(&random, 3);
		Host host;
		KanonProblem *problem;
		KanonRelease whole;
		KanonRelease release;
		KanonReport best;
		KanonReport report;
		KanonStatus status;
		int64_t rows = 0;

		host_init(&host);
		problem = problem_random_levels(&host, &random, 40 + random_below(&random, 200),
										2 + (int) random_below(&random, 3), 2, k);
		options.partition_size = 0;
		problem->cluster = &options;
		problem->residual = round % 2 == 0 ? KANON_RESIDUAL_DROP : KANON_RESIDUAL_ERROR;
		problem->seed = (uint64_t) round;
		(void) method(by_parts[m]);
		for (int c = 0, q = 0; c < problem->ncolumns; c++)
			if (problem->columns[c].level == 0)
				suppress[q++] = problem->columns[c].number != NULL ? KANON_CLUSTER_RANGE
								: c + 1 < problem->ncolumns && problem->columns[c + 1].level > 0
									? KANON_CLUSTER_HIERARCHY
									: KANON_CLUSTER_SUPPRESS;
		status = kanon_method_find(KANON_CLUSTER, by_parts[m])->solve(problem, &whole, &best);
#ifndef HAVE_LEMON
		if (status == KANON_UNAVAILABLE)
		{
			problem_free(problem);
			continue;
		}
#endif
		assert_int_equal(status, KANON_OK);
		options.partition_size = (uint32_t) (2 * k + (int64_t) random_below(&random, 20));
		/* at times there is none for anything */
		if (round % 7 == 0 && problem->ntypes / 2 >= options.partition_size)
			problem->time_limit = 1e-9;
		/* kanon_release_finish looks at every class */
		assert_int_equal(kanon_method_find(KANON_CLUSTER, by_parts[m])->solve(problem, &release, &report),
						 KANON_OK);
		for (uint32_t i = 0; i < release.nclasses; i++)
			rows += release.classes[i].rows;
		for (uint32_t i = 0; i < problem->ntypes; i++)
			rows -= problem->rows[i];
		assert_int_equal(rows, -release.dropped);
		assert_true(release.dropped == 0 || (m == 1 && problem->residual == KANON_RESIDUAL_DROP));
		if (problem->ntypes / 2 >= options.partition_size)
		{
			assert_true(report.guarantee == 0 && report.lower_bound == -INFINITY && !report.proven);
			/* the bound of the whole holds for any release */
			assert_true(report.cost >= best.lower_bound - 1e-6);
		}
		else
			assert_true(fabs(report.cost - best.cost) < 1e-9 * (1 + best.cost));
		kanon_release_free(problem, &release);
		kanon_release_free(problem, &whole);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
		options.partition_size = 0;
	}
}

/* A method finds a release in parts of so many rows; the problem goes. */
static void
solved_by_parts(Host *host, KanonProblem *problem, const char *name, int size)
{
	KanonRelease release;
	KanonReport report;

	problem->cluster = &options;
	problem->residual = KANON_RESIDUAL_ERROR;
	options.partition_size = size;
	assert_int_equal(method(name)(problem, &release, &report), KANON_OK);
	kanon_release_free(problem, &release);
	options.partition_size = 0;
	assert_int_equal(host->blocks, 0);
	problem_free(problem);
}

/* What rows lose is more than doubles can say, or less: their parts are solved all the same. */
static void
weights_without_measure(void **state)
{
	(void) state;
	for (int round = 0; round < 12; round++)
	{
		int m = round / 2 % 3;
		uint32_t code[64];
		Host host;
		KanonProblem *problem;

		for (uint32_t i = 0; i < 64; i++)
			code[i] = i;
		host_init(&host);
		problem = problem_from_codes(&host, code, 64, 1, 2 + 3 * (round % 2));
		((KanonColumn *) problem->columns)[0].weight = round < 6 ? 1e308 : 1e-310;
		solved_by_parts(&host, problem, by_parts[m], 8);
	}
}

/* The rows that say where to cut are unlike the others: a part of fewer than k rows is not one. */
static void
small_sides(void **state)
{
	enum
	{
		ROWS = 512,
		K = 100
	};

	(void) state;
	for (int m = 0; m < 3; m++)
	{
		uint32_t code[ROWS][2];
		Host host;
		KanonProblem *problem;

		/* every other one is asked, of which the first in three are apart from all */
		for (uint32_t i = 0; i < ROWS; i++)
		{
			code[i][0] = i;
			code[i][1] = i % 2 == 0 && i % 6 == 0 ? 0 : 1;
		}
		host_init(&host);
		problem = problem_from_codes(&host, &code[0][0], ROWS, 2, K);
		solved_by_parts(&host, problem, by_parts[m], 2 * K);
	}
}

/* Rows on either side of a cut come together again: little is lost against the whole. */
static void
borders_are_joined(void **state)
{
	static double number[2000];
	uint64_t random = 8;
	uint32_t *code = malloc(2000 * 3 * sizeof(uint32_t));
	Host host;
	KanonProblem *problem;
	double cost[2];

	(void) state;
	for (uint32_t i = 0; i < 2000; i++)
	{
		number[i] = i;
		code[3 * i] = random_below(&random, 1000);
		code[3 * i + 1] = random_below(&random, 1000);
		code[3 * i + 2] = random_below(&random, 3);
	}
	host_init(&host);
	problem = problem_from_codes(&host, code, 2000, 3, 5);
	free(code);
	(void) method("bottom_up");
	suppress[0] = suppress[1] = KANON_CLUSTER_RANGE;
	for (int c = 0; c < 2; c++)
		((KanonColumn *) problem->columns)[c].number = memcpy(malloc(sizeof(number)), number, sizeof(number));
	problem->cluster = &options;
	problem->residual = KANON_RESIDUAL_ERROR;
	for (int p = 0; p < 2; p++)
	{
		KanonRelease release;
		KanonReport report;

		options.partition_size = p == 0 ? 0 : 100;
		assert_int_equal(kanon_solve_bottom_up(problem, &release, &report), KANON_OK);
		cost[p] = report.cost;
		kanon_release_free(problem, &release);
	}
	options.partition_size = 0;
	/* 1.038 of it when nothing is cut again */
	assert_true(cost[1] < 0.98 * cost[0]);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* Four ranges and two categories that follow two hidden numbers. */
static KanonProblem *
hidden_numbers(Host *host, uint32_t n, int64_t k)
{
	uint64_t random = 3;
	uint32_t *code = malloc(n * 6 * sizeof(uint32_t));
	KanonProblem *problem;

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t hidden[2] = {random_below(&random, 900), random_below(&random, 900)};

		for (uint32_t c = 0; c < 6; c++)
			code[6 * i + c] = (hidden[c % 2] + random_below(&random, 100)) / (c < 4 ? 1 : 80);
	}
	host_init(host);
	problem = problem_from_codes(host, code, n, 6, k);
	free(code);
	(void) method("bottom_up");
	for (int c = 0; c < 4; c++)
	{
		double *number = malloc(problem->columns[c].distinct * sizeof(double));

		for (uint32_t v = 0; v < problem->columns[c].distinct; v++)
			number[v] = v;
		((KanonColumn *) problem->columns)[c].number = number;
		suppress[c] = KANON_CLUSTER_RANGE;
	}
	problem->cluster = &options;
	problem->residual = KANON_RESIDUAL_ERROR;
	return problem;
}

/* Cuts part few near rows: by the widest columns 7.6 per cent more than by the whole is lost. */
static void
cuts_spare_neighbours(void **state)
{
	double cost[2] = {0};

	(void) state;
	if (!real_tables())
		skip();
	for (int64_t k = 5; k <= 10; k += 5)
	{
		Host host;
		KanonProblem *problem = hidden_numbers(&host, 3000, k);

		for (int p = 0; p < 2; p++)
		{
			KanonRelease release;
			KanonReport report;

			options.partition_size = p == 0 ? 0 : 150;
			assert_int_equal(kanon_solve_bottom_up(problem, &release, &report), KANON_OK);
			cost[p] += report.cost;
			kanon_release_free(problem, &release);
		}
		options.partition_size = 0;
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(cost[1] < 1.03 * cost[0]);
}

/* Shows for the random table's quasi-identifiers: what there is for each, drawn by chance. */
static void
draw_shows(const KanonProblem *problem, uint64_t *random)
{
	for (int c = 0, q = 0; c < problem->ncolumns; c++)
	{
		bool levels = c + 1 < problem->ncolumns && problem->columns[c + 1].level > 0;

		if (problem->columns[c].level == 0)
			suppress[q++] = problem->columns[c].number != NULL ? KANON_CLUSTER_RANGE
							: levels                           ? KANON_CLUSTER_HIERARCHY
							: random_below(random, 2) == 0     ? KANON_CLUSTER_SET
															   : KANON_CLUSTER_SUPPRESS;
	}
}

/*
 * What a group would lose with each of many others is told from below, and by little: ranges with what is no
 * number, hierarchies, sets of few values and of more than have bits.
 */
static void
many_are_below(void **state)
{
	uint64_t random = 77;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		Host host;
		KanonProblem *problem;
		KanonScratch scratch;
		KanonPace pace;
		ClusterLayout layout;
		Penalty penalty;
		PenaltyMany many;
		char *memory;
		uint32_t n, wide[700];

		host_init(&host);
		scratch = (KanonScratch){.env = &host.env};
		pace = (KanonPace){.env = &host.env, .phase = "open"};
		for (uint32_t i = 0; i < 700; i++)
			wide[i] = i % 350;
		if (round % 10 == 0)
			problem = problem_from_codes(&host, wide, 350, 2, 3);
		else
			problem = problem_random_levels(&host, &random, 20 + random_below(&random, 300),
											1 + (int) random_below(&random, 4), 3, 3);
		problem->cluster = &options;
		draw_shows(problem, &random);
		/* what is no number may come first, too, and weigh all there is */
		for (int c = 0; c < problem->ncolumns && round % 3 == 1; c++)
		{
			if (problem->columns[c].number != NULL)
				((double *) problem->columns[c].number)[0] = -INFINITY;
			if (problem->columns[c].level == 0 && c > 0 && problem->columns[c].number == NULL)
				((KanonColumn *) problem->columns)[c].weight = 0;
		}
		if (round % 10 == 0)
			suppress[0] = KANON_CLUSTER_SET;
		cluster_layout(problem, &layout);
		n = problem->ntypes;
		assert_int_equal(penalty_open(&layout, &scratch, &pace, &penalty), KANON_OK);
		assert_int_equal(penalty_many_open(&penalty, n, &scratch, &many), KANON_OK);
		penalty.size = (penalty.size + 7) / 8 * 8;
		memory = malloc(n * penalty.size + 1);
#define GROUP(i) ((PenaltyGroup *) (memory + (i) *penalty.size))
		for (uint32_t i = 0; i < n; i++)
		{
			penalty_single(&penalty, i, 1, GROUP(i));
			for (uint32_t more = random_below(&random, 3); i > 0 && more > 0; more--)
				penalty_merge(&penalty, GROUP(i), GROUP(random_below(&random, i)));
			penalty_many_put(&many, i, GROUP(i));
		}
		for (uint32_t own = 0; own < n; own += 1 + n / 8)
		{
			penalty_many(&many, n, GROUP(own));
			for (uint32_t i = 0; i < n; i++)
			{
				double least = many.least[i] * layout.weight / PENALTY_ONE;
				double each = penalty_union(&penalty, GROUP(own), GROUP(i), INFINITY);

				assert_true(least <= each * (1 + 1e-12));
				assert_true(round % 3 == 1 ||
							least > each - 1e-6 * layout.weight - (round % 10 == 0 ? 0.01 : 0));
			}
		}
		free(memory);
		kanon_scratch_free(&scratch);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* Every allocation refused once, every poll answered with yes once. */
static void
parts_fail(void **state)
{
	Host host;
	KanonProblem *problem = hidden_numbers(&host, 120, 3);

	(void) state;
	options.partition_size = 16;
	for (int m = 0; m < 2; m++)
		for (int h = 0; h < 2; h++)
		{
			Failure failure = {.how = h == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

			while (fails_again(&failure))
			{
				KanonRelease release;
				KanonReport report;

				fail_at(&host, &failure);
				failure.status =
					(m == 0 ? kanon_solve_bottom_up : kanon_solve_forest)(problem, &release, &report);
				if (failure.status == KANON_OK)
					kanon_release_free(problem, &release);
				assert_int_equal(host.blocks, 0);
			}
			host.refuse_at = host.cancel_at = 0;
		}
	options.partition_size = 0;
	problem_free(problem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_releases),      cmocka_unit_test(borders_are_joined),
		cmocka_unit_test(cuts_spare_neighbours),   cmocka_unit_test(parts_fail),
		cmocka_unit_test(weights_without_measure), cmocka_unit_test(small_sides),
		cmocka_unit_test(many_are_below),
#ifdef HAVE_LEMON
		cmocka_unit_test(pairs_and_hubs),          cmocka_unit_test(hubs_refused),
		cmocka_unit_test(lemon_is_stopped),
#endif
		cmocka_unit_test(many_parts_wait),         cmocka_unit_test(many_clusters_wait),
	};

	return cmocka_run_group_tests_name("cluster_large", tests, NULL, NULL);
}
