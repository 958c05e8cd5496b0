/*
 * bench_cluster.c: one clustering of a table, whole or by parts.
 *
 *	bench_cluster TABLE METHOD ROWS K [PARTITION_SIZE [SEED]]
 *
 * TABLE: a file of Adult's columns (adult.csv of the reference tables), of which nine are taken:
 * ages as ranges, the other columns suppressed where rows differ; with sets: before it, as sets.
 * With ranges: before it all columns of any file of numbers, as ranges.
 * Or a table that is made up, the same everywhere:
 *
 *	mixed       3 ranges of 1,000 values, 3 categories of 4, 8 and 16, all as likely
 *	numbers     6 ranges of 1,000 values, sums of three dice each
 *	skewed      the same as mixed by squared numbers: low ones are frequent
 *	correlated  4 ranges and 2 categories that follow 2 hidden numbers, with noise
 *	categories  8 categories of 3 to 24 values, squared
 *	rare        2 ranges, most of it in a few places; 4 categories, most rows in the first
 *
 * Prints what is lost, seconds of processor time, peak memory in MiB and the classes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/clustering.h"
#include "fixture.h"

static double
processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

/* ---- tables ---- */

typedef struct Made
{
	const char *name;
	int ncolumns;
	int nranges;        /* of them, the first ones */
	uint32_t values[9]; /* of each column, at most */
	void (*draw)(uint64_t *random, const struct Made *made, uint32_t *row);
} Made;

static double
uniform(uint64_t *random)
{
	return (double) (random_next(random) >> 11) / 9007199254740992.0;
}

static uint32_t
place(double x, uint32_t values)
{
	double at = floor(x * values);

	return at < 0 ? 0 : at >= values ? values - 1 : (uint32_t) at;
}

static void
draw_even(uint64_t *random, const Made *made, uint32_t *row)
{
	for (int c = 0; c < made->ncolumns; c++)
		row[c] = random_below(random, made->values[c]);
}

static void
draw_dice(uint64_t *random, const Made *made, uint32_t *row)
{
	for (int c = 0; c < made->ncolumns; c++)
		row[c] = place((uniform(random) + uniform(random) + uniform(random)) / 3, made->values[c]);
}

static void
draw_squared(uint64_t *random, const Made *made, uint32_t *row)
{
	for (int c = 0; c < made->ncolumns; c++)
		row[c] = place(pow(uniform(random), 2), made->values[c]);
}

static void
draw_correlated(uint64_t *random, const Made *made, uint32_t *row)
{
	double hidden[2] = {uniform(random), uniform(random)};

	for (int c = 0; c < made->ncolumns; c++)
	{
		double mixed = c % 3 == 2 ? (hidden[0] + hidden[1]) / 2 : hidden[c % 3];

		row[c] = place(mixed + 0.1 * (uniform(random) - uniform(random)), made->values[c]);
	}
}

static void
draw_rare(uint64_t *random, const Made *made, uint32_t *row)
{
	for (int c = 0; c < made->ncolumns; c++)
	{
		double x = pow(uniform(random), c < made->nranges ? 1 : 4);
		uint32_t town = random_below(random, 8);

		if (c < made->nranges && random_below(random, 10) > 0)
			x = town / 8.0 + 0.02 * x;
		row[c] = place(x, made->values[c]);
	}
}

static const Made made_up[] = {{"mixed", 6, 3, {1000, 1000, 1000, 4, 8, 16}, draw_even},
							   {"numbers", 6, 6, {1000, 1000, 1000, 1000, 1000, 1000}, draw_dice},
							   {"skewed", 6, 3, {1000, 1000, 1000, 4, 8, 16}, draw_squared},
							   {"correlated", 6, 4, {1000, 1000, 1000, 1000, 12, 20}, draw_correlated},
							   {"categories", 8, 0, {3, 4, 6, 8, 10, 12, 16, 24}, draw_squared},
							   {"rare", 6, 2, {5000, 5000, 6, 9, 12, 20}, draw_rare}};

static KanonProblem *
make_up(Host *host, const Made *made, size_t rows, int64_t k, KanonClusterShow *show)
{
	uint64_t random = 24;
	size_t width = (size_t) made->ncolumns;
	uint32_t *code = malloc(rows * width * sizeof(uint32_t) + 1);
	KanonProblem *problem;

	for (size_t i = 0; i < rows; i++)
		made->draw(&random, made, code + i * width);
	problem = problem_from_codes(host, code, rows, made->ncolumns, k);
	free(code);
	for (int c = 0; c < made->nranges; c++)
	{
		double *number = malloc(problem->columns[c].distinct * sizeof(double));

		for (uint32_t v = 0; v < problem->columns[c].distinct; v++)
			number[v] = v;
		((KanonColumn *) problem->columns)[c].number = number;
		show[c] = KANON_CLUSTER_RANGE;
	}
	return problem;
}

static KanonProblem *
read_adult(Host *host, const char *name, size_t rows, int64_t k, KanonClusterShow *show)
{
	static const int adult2[9] = {0, 1, 3, 5, 6, 8, 9, 13, 14};
	static const int all[KANON_MAX_COLUMNS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	bool sets = strncmp(name, "sets:", 5) == 0;
	bool ranges = strncmp(name, "ranges:", 7) == 0;
	Table *table = table_read(sets ? name + 5 : ranges ? name + 7 : name);
	KanonProblem *problem;

	if (table == NULL)
		return NULL;
	table->nrows = rows < table->nrows ? rows : table->nrows;
	if (ranges)
	{
		for (int c = 0; c < table->ncolumns; c++)
			show[c] = KANON_CLUSTER_RANGE;
		return problem_make(host, table, all, table->ncolumns, UINT64_MAX, k);
	}
	problem = problem_make(host, table, adult2, 9, 1, k);
	show[0] = KANON_CLUSTER_RANGE;
	for (int c = 1; c < 9 && sets; c++)
		show[c] = KANON_CLUSTER_SET;
	return problem;
}

int
main(int argc, char **argv)
{
	KanonClusterShow show[KANON_MAX_COLUMNS] = {KANON_CLUSTER_SUPPRESS};
	struct KanonClusterOptions options = {.show = show};
	const KanonMethod *method = argc < 5 ? NULL : kanon_method_find(KANON_CLUSTER, argv[2]);
	KanonProblem *problem = NULL;
	KanonRelease release;
	KanonReport report = {0};
	KanonStatus status;
	Host host;
	double start;

	if (method == NULL)
	{
		fprintf(stderr, "usage: bench_cluster TABLE METHOD ROWS K [PARTITION_SIZE [SEED]]\n");
		return 2;
	}
	host_init(&host);
	fixture_take_time();
	for (size_t m = 0; m < sizeof(made_up) / sizeof(made_up[0]); m++)
		if (strcmp(argv[1], made_up[m].name) == 0)
			problem = make_up(&host, &made_up[m], strtoul(argv[3], NULL, 10), atoi(argv[4]), show);
	if (problem == NULL)
		problem = read_adult(&host, argv[1], strtoul(argv[3], NULL, 10), atoi(argv[4]), show);
	if (problem == NULL)
	{
		perror(argv[1]);
		return 2;
	}
	options.partition_size = argc > 5 ? (uint32_t) atoi(argv[5]) : 0;
	problem->cluster = &options;
	problem->residual = KANON_RESIDUAL_ERROR;
	problem->seed = argc > 6 ? strtoul(argv[6], NULL, 10) : 1;
	start = processor_seconds();
	status = method->solve(problem, &release, &report);
	if (status != KANON_OK)
	{
		fprintf(stderr, "status %d: %s\n", (int) status, report.detail);
		return 1;
	}
	printf("%s\t%s\t%u\t%s\t%u\t%.4f\t%.2f\t%.1f\t%u\n", argv[1], argv[2], problem->ntypes, argv[4],
		   options.partition_size, report.cost, processor_seconds() - start, (double) host.peak / (1 << 20),
		   release.nclasses);
	kanon_release_free(problem, &release);
	problem_free(problem);
	return host.blocks == 0 ? 0 : 1;
}
