/*
 * bench_freeform.c: one freeform release of a part of Adult.
 *
 *	bench_freeform FILE METHOD ROWS COLUMNS K [PARTITION_SIZE [symmetric]]
 *	bench_freeform FILE samples N ROWS COLUMNS K
 *
 * COLUMNS: the first so many of age (a number), workclass, education,
 * marital_status, occupation, race, sex, native_country, salary_class.  Prints
 * GCP, seconds of processor time, peak memory in MiB.  The first ROWS of the
 * file are taken after a shuffle that is always the same.
 *
 * METHOD may also be one with classes, priced the same way: pattern_guided (what
 * greedy suppresses) or one of kanon_cluster's, which shows numbers as ranges and
 * the rest as sets.
 *
 * With `samples`: the mean GCP of each method over N such tables, one after the
 * other in the shuffled file, beside the optimum.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/clustering.h"
#include "fixture.h"
#include "freeform/freeform_work.h"

static double
processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static void
shuffle_rows(Table *table)
{
	uint64_t random = 14;
	size_t width = (size_t) table->ncolumns;

	for (size_t i = table->nrows; i > 1; i--)
	{
		size_t other = random_below(&random, (uint32_t) i);

		for (size_t c = 0; c < width; c++)
		{
			char *swap = table->cell[(i - 1) * width + c];

			table->cell[(i - 1) * width + c] = table->cell[other * width + c];
			table->cell[other * width + c] = swap;
		}
	}
}

static const int adult2[9] = {0, 1, 3, 5, 6, 8, 9, 13, 14};

/* What a cell of a release loses, of 1. */
static double
lost(const KanonRelease *release, const KanonColumn *column, KanonCell cell)
{
	const uint32_t *pool = release->pool + cell.code;

	if (cell.show == KANON_SHOW_VALUE)
		return 0;
	if (cell.show == KANON_SHOW_RANGE)
		return (column->number[pool[1]] - column->number[pool[0]]) /
			   (column->number[column->distinct - 1] - column->number[0]);
	if (cell.show == KANON_SHOW_SET)
		return (double) (pool[0] - 1) / (column->distinct - 1);
	return 1;
}

/* By what is shown, whoever solved it: one formula for all methods. */
static double
gcp_of(const KanonProblem *problem, const KanonRelease *release, size_t rows)
{
	size_t width = (size_t) problem->ncolumns;
	double sum = 0;

	for (uint32_t i = 0; i < release->nclasses; i++)
		for (size_t c = 0; c < width; c++)
			sum += (double) release->classes[i].rows *
				   lost(release, &problem->columns[c], release->cells[i * width + c]);
	return sum / (double) width / (double) rows;
}

/* Rows from `first` on; GCP, or a negative number. */
static double
solve(Host *host, const Table *all, size_t first, size_t rows, int columns, int64_t k, KanonSolve method,
	  const KanonFreeformOptions *options)
{
	static const KanonClusterShow show[9] = {KANON_CLUSTER_RANGE, KANON_CLUSTER_SET, KANON_CLUSTER_SET,
											 KANON_CLUSTER_SET,   KANON_CLUSTER_SET, KANON_CLUSTER_SET,
											 KANON_CLUSTER_SET,   KANON_CLUSTER_SET, KANON_CLUSTER_SET};
	struct KanonClusterOptions shows = {.show = show};
	Table table = {
		.nrows = rows, .ncolumns = all->ncolumns, .cell = all->cell + first * (size_t) all->ncolumns};
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report = {0};
	KanonStatus status;
	double gcp = -1;

	problem = problem_make(host, &table, adult2, columns, 1, k);
	/* with these a release is taken for a graph */
	problem->freeform = method == kanon_solve_freeform ? options : NULL;
	problem->cluster = &shows;
	problem->seed = 1;
	status = method(problem, &release, &report);
	if (status == KANON_OK)
	{
		gcp = gcp_of(problem, &release, rows);
		kanon_release_free(problem, &release);
	}
	else
		fprintf(stderr, "status %d: %s\n", (int) status, report.detail);
	problem_free(problem);
	return gcp;
}

/* By its name; NULL: there is none such. */
static KanonSolve
find_method(const char *name, KanonFreeformOptions *options)
{
	const KanonMethod *cluster = kanon_method_find(KANON_CLUSTER, name);

	if (strcmp(name, "pattern_guided") == 0)
		return kanon_solve_greedy;
	if (cluster != NULL)
		return cluster->solve;
	cluster = kanon_method_find(KANON_FREEFORM, name);
	if (cluster != NULL)
		options->method = cluster->number;
	return cluster != NULL ? cluster->solve : NULL;
}

static void
samples(Host *host, const Table *table, const char *name, size_t n, size_t rows, int columns, int64_t k)
{
	KanonFreeformOptions options = {0};
	KanonSolve method = find_method(name, &options);
	double sum = 0;

	for (size_t s = 0; s < n; s++)
		sum += solve(host, table, s * rows, rows, columns, k, method, &options);
	printf("%s\t%zu\t%zu\t%d\t%d\t%.5f\n", name, n, rows, columns, (int) k, sum / (double) n);
}

int
main(int argc, char **argv)
{
	KanonFreeformOptions options = {0};
	bool sampled = argc == 7 && strcmp(argv[2], "samples") == 0;
	KanonSolve method = argc < 3 || sampled ? NULL : find_method(argv[2], &options);
	Host host;
	Table *table;
	size_t rows;
	double start;
	double gcp;

	if (argc < 6 || (!sampled && method == NULL))
	{
		fprintf(stderr, "usage: bench_freeform FILE METHOD ROWS COLUMNS K [PARTITION_SIZE [symmetric]]\n"
						"       bench_freeform FILE samples N ROWS COLUMNS K\n");
		return 2;
	}
	table = table_read(argv[1]);
	if (table == NULL)
	{
		perror(argv[1]);
		return 2;
	}
	shuffle_rows(table);
	host_init(&host);
	fixture_take_time();
	if (sampled)
	{
		static const char *const classes[] = {"mondrian", "bottom_up", "pattern_guided"};
		size_t n = strtoul(argv[3], NULL, 10);

		rows = strtoul(argv[4], NULL, 10);
		for (int m = 0; kanon_methods(KANON_FREEFORM)[m].name != NULL; m++)
			samples(&host, table, kanon_methods(KANON_FREEFORM)[m].name, n, rows, atoi(argv[5]),
					atoi(argv[6]));
		for (int m = 0; m < 3; m++)
			samples(&host, table, classes[m], n, rows, atoi(argv[5]), atoi(argv[6]));
		table_free(table);
		return host.blocks == 0 ? 0 : 1;
	}
	rows = strtoul(argv[3], NULL, 10);
	rows = rows < table->nrows ? rows : table->nrows;
	options.partition_size = argc > 6 ? (uint32_t) atoi(argv[6]) : 0;
	options.symmetric = argc == 8;
	start = processor_seconds();
	gcp = solve(&host, table, 0, rows, atoi(argv[4]), atoi(argv[5]), method, &options);
	printf("%s\t%zu\t%s\t%s\t%u\t%.5f\t%.3f\t%.1f\n", argv[2], rows, argv[4], argv[5], options.partition_size,
		   gcp, processor_seconds() - start, (double) host.peak / (1 << 20));
	table_free(table);
	return host.blocks == 0 && gcp >= 0 ? 0 : 1;
}
