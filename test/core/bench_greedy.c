/*
 * bench_greedy.c: the greedy method against the plain loop, method alone.
 *
 * Usage: bench_greedy DATA_DIRECTORY [ROW_TYPES [PART_OF_CASE]]
 * Prints one line per case: seconds of the method (best of some), of the plain
 * loop where that ends in time, their ratio, and the core's peak memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "plain.h"

/* Of the processor: others may be at work here, too. */
static double
seconds(void)
{
	return (double) clock() / CLOCKS_PER_SEC;
}

/* Runs one case. */
static void
run(const char *name, Host *host, KanonProblem *problem, int repeat, bool plain)
{
	KanonRelease release;
	KanonReport report = {0};
	double best = INFINITY;
	double loop = NAN;
	double cost = 0;
	uint32_t classes = 0;

	host->peak = host->live;

	size_t before = host->live;

	for (int i = 0; i < repeat; i++)
	{
		double start = seconds();
		KanonStatus status;

		memset(&report, 0, sizeof(report));
		status = kanon_solve_greedy(problem, &release, &report);

		best = fmin(best, seconds() - start);
		if (status != KANON_OK)
		{
			printf("%-28s status %d %s\n", name, (int) status, report.detail);
			return;
		}
		cost = report.cost;
		classes = release.nclasses;
		kanon_release_free(problem, &release);
	}

	double peak = (double) (host->peak - before) / problem->ntypes;

	if (plain)
	{
		double start = seconds();

		memset(&report, 0, sizeof(report));
		plain_greedy(problem, &release, &report);
		loop = seconds() - start;
		if (report.cost != cost || release.nclasses != classes)
			printf("%s: DIFFERENT RELEASES %g %u\n", name, report.cost, release.nclasses);
		kanon_release_free(problem, &release);
	}
	printf("%-28s %10u %12.0f %10u %9.4f %9.3f %7.1f %9.1f\n", name, problem->ntypes, cost, classes, best,
		   loop, loop / best, peak);
	fflush(stdout);
}

static void
weigh(KanonProblem *problem, uint64_t seed)
{
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight =
			seed == 0 ? 1 : 0.5 + (double) (random_next(&seed) >> 11) * 0x1p-53;
}

/*
 * Every column in fours and sixteens of its codes: columns of three levels.  codes row by row;
 * into has room for thrice as many.
 */
static KanonProblem *
nested(Host *host, const uint32_t *code, size_t nrows, int ncolumns, int64_t k)
{
	static const int levels[3] = {0, 1, 2};
	int level[KANON_MAX_COLUMNS];
	uint32_t *into = malloc(nrows * 3 * (size_t) ncolumns * sizeof(uint32_t));
	KanonProblem *problem;

	for (size_t i = 0; i < nrows * (size_t) ncolumns; i++)
		for (size_t l = 0; l < 3; l++)
			into[3 * i + l] = code[i] >> 2 * l;
	for (int c = 0; c < 3 * ncolumns; c++)
		level[c] = levels[c % 3];
	problem = problem_from_codes(host, into, nrows, 3 * ncolumns, k);
	free(into);
	problem_set_levels(problem, level);
	for (int c = 0; c < 3 * ncolumns; c++)
		((KanonColumn *) problem->columns)[c].weight = 1.0 / 3;
	return problem;
}

/* Unrelated columns, all row types different; and Adult with each cell taken from another row now and then. */
static void
run_levels(Host *host, const KanonProblem *adult, size_t most, const char *only)
{
	uint64_t seed = 24;
	size_t nrows = most < 200000 ? most : 200000;
	uint32_t *code = malloc(1200000 * 9 * sizeof(uint32_t));
	static const uint32_t distinct[8] = {100, 64, 48, 32, 24, 16, 12, 8};
	KanonProblem *problem;

	for (size_t i = 0; i < nrows * 8; i++)
		code[i] = random_below(&seed, distinct[i % 8]);
	if (strstr("levels8", only) != NULL)
	{
		problem = nested(host, code, nrows, 8, 5);
		run("levels 8 unrelated k=5", host, problem, 1, false);
		problem_free(problem);
	}
	for (size_t i = 0; i < nrows * 8; i++)
	{
		uint32_t x = random_below(&seed, 1000);

		code[i] = (uint32_t) ((uint64_t) distinct[i % 8] * x * x * x / 1000000000);
	}
	if (strstr("skewed8", only) != NULL)
	{
		problem = nested(host, code, nrows, 8, 5);
		run("levels 8 skewed k=5", host, problem, 1, false);
		problem_free(problem);
	}
	for (nrows = 30000; adult != NULL && nrows <= most && nrows <= 1200000; nrows *= 40)
	{
		uint32_t n = adult->ntypes;
		char name[40];

		for (size_t i = 0; i < nrows; i++)
			for (size_t c = 0; c < 9; c++)
				code[i * 9 + c] =
					adult->columns[c].code[random_below(&seed, 10) < 4 ? random_below(&seed, n) : i % n];
		snprintf(name, sizeof(name), "mixed%zu", nrows);
		if (strstr(name, only) == NULL)
			continue;
		problem = problem_from_codes(host, code, nrows, 9, 5);
		snprintf(name, sizeof(name), "mixed9 %zu k=5", nrows);
		run(name, host, problem, 1, false);
		problem_free(problem);
		problem = nested(host, code, nrows, 9, 5);
		snprintf(name, sizeof(name), "mixed9 levels %zu k=5", nrows);
		run(name, host, problem, 1, false);
		problem_free(problem);
	}
	free(code);
}

int
main(int argc, char **argv)
{
	const char *directory = argc > 1 ? argv[1] : ".";
	size_t nrows = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000000;
	const char *only = argc > 3 ? argv[3] : "";
	char path[1024];
	int column[20];
	const int adult2[9] = {0, 1, 3, 5, 6, 8, 9, 13, 14};
	Host host;

	host_init(&host);
	fixture_take_time();
	for (int c = 0; c < 20; c++)
		column[c] = c;
	printf("%-28s %10s %12s %10s %9s %9s %7s %9s\n", "case", "row types", "cost", "classes", "seconds",
		   "plain s", "ratio", "B/type");

	snprintf(path, sizeof(path), "%s/adult.csv", directory);

	Table *adult = table_read(path);

	if (adult != NULL)
	{
		Table *wide = adult_widen(adult);
		KanonProblem *problem = problem_make(&host, adult, adult14, 14, 0, 10);

		if (strstr("adult14", only) != NULL)
			for (int64_t k = 10; k <= 100; k *= 10)
			{
				snprintf(path, sizeof(path), "adult14 k=%d", (int) k);
				problem->k = k;
				run(path, &host, problem, 5, true);
				weigh(problem, 1);
				snprintf(path, sizeof(path), "adult14 weights k=%d", (int) k);
				run(path, &host, problem, 5, true);
				weigh(problem, 0);
			}
		problem_free(problem);
		problem = problem_make(&host, adult, adult2, 9, 0, 10);
		if (strstr("adult9", only) != NULL)
			run("adult2 9 QIs k=10", &host, problem, 20, true);
		if (strstr("levels8 skewed8 mixed30000 mixed1200000", only) != NULL)
			run_levels(&host, problem, nrows, only);
		problem_free(problem);
		problem = problem_make(&host, wide, column, 20, 0, 10);
		if (strstr("adult20", only) != NULL)
		{
			run("adult20 k=10", &host, problem, 2, false);
			problem->k = 100;
			run("adult20 k=100", &host, problem, 2, false);
			weigh(problem, 1);
			problem->k = 10;
			run("adult20 weights k=10", &host, problem, 2, false);
		}
		problem_free(problem);
		table_free(wide);
		table_free(adult);
	}

	if (nrows > 0)
	{
		/* all distinct: a permutation of 0 .. 2^k - 1 in mixed radix, cut off */
		static const uint32_t radix[6] = {50, 40, 30, 20, 12, 8};
		uint64_t total = 1;
		uint32_t *code = malloc(nrows * 6 * sizeof(uint32_t));

		for (int c = 0; c < 6; c++)
			total *= radix[c];
		for (size_t i = 0; i < nrows; i++)
		{
			uint64_t rest = (i * UINT64_C(7368787) + 12345) % total;

			for (int c = 0; c < 6; c++)
			{
				code[i * 6 + (size_t) c] = (uint32_t) (rest % radix[c]);
				rest /= radix[c];
			}
		}

		KanonProblem *problem = problem_from_codes(&host, code, nrows, 6, 5);

		free(code);
		if (strstr("distinct", only) != NULL)
			run("distinct 6 QIs k=5", &host, problem, 1, true);
		problem_free(problem);
	}
	return 0;
}
