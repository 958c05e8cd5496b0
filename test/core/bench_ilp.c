/*
 * bench_ilp.c: the exact and the anytime method, alone, on the paper's cases.
 *
 * Usage: bench_ilp DATA_DIRECTORY [-v] [-t SECONDS] [-e EFFORT] [-s SEED] [-n ROWS] [-l L] CASE K METHOD ...
 * with CASE one of cmc-mask2, adult2-mask15, cmc-all, adult2-all, nursery-all,
 * adult-all, mixed9 (1.2 million rows of Adult's nine columns, each cell of a row taken with probability 0.4
 * from one other row), mixed8 (540,000 of eight, 0.15) and METHOD a method of kanon_pattern_guided.  L: so many different values of
 * relationship in each class of a table of Adult, and rows may be left out.  Prints one line for each CASE K
 * METHOD: cost, bound, whether proven, seconds of processor time, nodes, peak memory of the core
 * and of the process, and the longest time between two polls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>

#include "fixture.h"
#include "pattern/exact/exact.h"
#include "pattern/improve/improve.h"
#include "diverse.h"

/* Processor time, also for time limits: figures of a machine shared with others. */
static double
now(void *arg)
{
	struct timespec time;

	(void) arg;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static Host host;

static const int cmc_columns[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const int adult2_columns[] = {0, 1, 3, 5, 6, 8, 9, 13, 14};
static const int mixed9_columns[] = {0, 1, 3, 5, 6, 8, 9, 12, 13};
#define RELATIONSHIP 7

static const int nursery_columns[] = {0, 1, 2, 3, 4, 5, 6, 7};

static const KanonRule adult2_rules[] = {
	{KANON_TOGETHER, KANON_BITS(1 << 1 | 1 << 4), KANON_NONE},
	{KANON_AT_MOST_ONE, KANON_BITS(1 << 0 | 1 << 5 | 1 << 6), KANON_NONE}};

/*
 * So many rows of a table over and over, of whose cells each is taken with that probability
 * from one other row, drawn for that row: as many row types as one likes, whose columns belong together.
 */
static KanonProblem *
mix(const KanonProblem *from, size_t nrows, double probability, int64_t k)
{
	int ncolumns = from->ncolumns;
	uint32_t *code = malloc(nrows * (size_t) ncolumns * sizeof(*code));
	uint32_t *row;
	size_t n = 0;
	uint64_t random = 25;
	KanonProblem *problem;

	for (uint32_t i = 0; i < from->ntypes; i++)
		n += (size_t) from->rows[i];
	row = malloc(n * sizeof(*row));
	n = 0;
	for (uint32_t i = 0; i < from->ntypes; i++)
		for (int64_t r = 0; r < from->rows[i]; r++)
			row[n++] = i;
	for (size_t i = 0; i < nrows; i++)
	{
		size_t one = random_below(&random, (uint32_t) n);

		for (int c = 0; c < ncolumns; c++)
		{
			bool other = random_below(&random, 1000000) < probability * 1e6;

			code[i * (size_t) ncolumns + (size_t) c] = from->columns[c].code[row[other ? one : i % n]];
		}
	}
	problem = problem_from_codes(&host, code, nrows, ncolumns, k);
	free(row);
	free(code);
	return problem;
}

/* The problem of a case; *table is its table. */
static KanonProblem *
make(const char *data, const char *name, int64_t k, size_t nrows, double values, Table **table)
{
	char path[1000];
	const int *columns = adult14;
	int with_values[15];
	int ncolumns = 14;
	KanonProblem *problem;

	if (strncmp(name, "cmc", 3) == 0)
	{
		columns = cmc_columns;
		ncolumns = 10;
	}
	else if (strncmp(name, "adult2", 6) == 0 || strncmp(name, "mixed", 5) == 0)
	{
		columns = strcmp(name, "mixed9") == 0 ? mixed9_columns : adult2_columns;
		ncolumns = strcmp(name, "mixed8") == 0 ? 8 : 9;
	}
	else if (strncmp(name, "nursery", 7) == 0)
	{
		columns = nursery_columns;
		ncolumns = 8;
	}
	snprintf(path, sizeof(path), "%s/%s.csv", data,
			 name[0] == 'c'   ? "cmc"
			 : name[0] == 'n' ? "nursery"
							  : "adult");
	*table = table_read(path);
	if (*table == NULL)
	{
		fprintf(stderr, "no file %s\n", path);
		exit(1);
	}
	memcpy(with_values, columns, (size_t) ncolumns * sizeof(int));
	with_values[ncolumns] = RELATIONSHIP;
	problem = problem_make(&host, *table, with_values, ncolumns + (values > 0), 0, k);
	if (values > 0)
	{
		diverse_ask(problem, values);
		problem->residual = KANON_RESIDUAL_DROP;
	}
	if (strncmp(name, "mixed", 5) == 0)
	{
		KanonProblem *mixed = mix(problem,
								  nrows > 0       ? nrows
								  : ncolumns == 9 ? 1200000
												  : 540000,
								  ncolumns == 9 ? 0.4 : 0.15, k);

		problem_free(problem);
		problem = mixed;
	}
	problem->time_limit = INFINITY;
	problem->effort = 1;
	problem->gap = 0;
	if (strstr(name, "-mask") != NULL)
	{
		problem->mask.order = KANON_ORDER_GIVEN;
		problem->mask.max_suppressed = 2;
	}
	if (strcmp(name, "adult2-mask15") == 0)
	{
		problem->mask.never = KANON_BITS(1 << 2 | 1 << 8);
		problem->mask.rules = adult2_rules;
		problem->mask.nrules = 2;
	}
	return problem;
}

int
main(int argc, char **argv)
{
	bool verbose = false;
	double limit = INFINITY;
	double effort = 1;
	uint64_t seed = 1;
	size_t nrows = 0;
	double values = 0;
	int a = 2;

	for (; a + 1 < argc && argv[a][0] == '-'; a++)
	{
		if (argv[a][1] == 'v')
			verbose = true;
		else if (argv[a][1] == 't')
			limit = atof(argv[++a]);
		else if (argv[a][1] == 'e')
			effort = atof(argv[++a]);
		else if (argv[a][1] == 'n')
			nrows = strtoull(argv[++a], NULL, 10);
		else if (argv[a][1] == 'l')
			values = atof(argv[++a]);
		else if (argv[a][1] == 's')
			seed = strtoull(argv[++a], NULL, 10);
	}
	if (a + 3 > argc)
	{
		fprintf(stderr, "usage: bench_ilp DATA_DIRECTORY [-v] [-t SECONDS] [-e EFFORT] [-s SEED] [-n ROWS] "
						"[-l L] CASE K METHOD ...\n");
		return 1;
	}
	printf("%-14s %4s %-8s %10s %12s %6s %8s %8s %8s %8s %8s\n", "case", "k", "method", "cost", "bound",
		   "proven", "seconds", "nodes", "core MB", "all MB", "poll ms");
	for (; a + 2 < argc; a += 3)
	{
		Table *table;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report = {0};
		KanonStatus status;
		const KanonMethod *method = kanon_method_find(KANON_PATTERN_GUIDED, argv[a + 2]);
		struct rusage usage;

		host_init(&host);
		fixture_take_time();
		host.env.now = now;
		problem = make(argv[1], argv[a], atoll(argv[a + 1]), nrows, values, &table);
		problem->time_limit = limit;
		if (verbose)
			fprintf(stderr, "%u row types\n", problem->ntypes);
		problem->effort = effort;
		problem->seed = seed;
		host.peak = host.live;
		if (values == 0 && strcmp(argv[a + 2], "improve") == 0)
			status = improve_from(problem, NULL, &release, &report);
		else if (method != NULL)
			status = method->solve(problem, &release, &report);
		else
		{
			fprintf(stderr, "no method %s\n", argv[a + 2]);
			return 1;
		}
		getrusage(RUSAGE_SELF, &usage);
		if (status != KANON_OK)
			printf("%-14s %4s %-8s status %d %s\n", argv[a], argv[a + 1], argv[a + 2], (int) status,
				   report.detail);
		else
			printf("%-14s %4s %-8s %10.0f %12.2f %6s %8.2f %8lld %8.1f %8.1f %8.1f\n", argv[a], argv[a + 1],
				   argv[a + 2], report.cost, report.lower_bound, report.proven ? "yes" : "no", report.seconds,
				   (long long) report.nodes, (double) host.peak / 1e6, (double) usage.ru_maxrss / 1e3,
				   host.longest * 1e3);
		fflush(stdout);
		if (status == KANON_OK)
			kanon_release_free(problem, &release);
		diverse_free(problem);
		problem_free(problem);
		table_free(table);
		if (host.blocks != 0)
			printf("%zu blocks leaked\n", host.blocks);
	}
	return 0;
}
