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
 * METHOD may be pattern_guided, too: what greedy suppresses, priced the same way.
 *
 * With `samples`: the mean GCP of each method over N such tables, one after the
 * other in the shuffled file, beside the optimum.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "freeform.h"

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
	uint64_t	random = 14;
	size_t		width = (size_t) table->ncolumns;

	for (size_t i = table->nrows; i > 1; i--)
	{
		size_t		other = random_below(&random, (uint32_t) i);

		for (size_t c = 0; c < width; c++)
		{
			char	   *swap = table->cell[(i - 1) * width + c];

			table->cell[(i - 1) * width + c] = table->cell[other * width + c];
			table->cell[other * width + c] = swap;
		}
	}
}

static const int adult2[9] = {0, 1, 3, 5, 6, 8, 9, 13, 14};

/* Rows from `first` on; GCP, or a negative number. */
static double
solve(Host *host, const Table *all, size_t first, size_t rows, int columns, int64_t k,
	  const KanonFreeformOptions *options)
{
	Table		table = {.nrows = rows,.ncolumns = all->ncolumns,.cell = all->cell + first * (size_t) all->ncolumns};
	KanonProblem *problem = problem_make(host, &table, adult2, columns, 1, k);
	KanonRelease release;
	KanonReport report;
	KanonStatus status;

	problem->freeform = options;
	problem->seed = 1;
	status = kanon_solve_freeform(problem, &release, &report);
	if (status == KANON_OK)
		kanon_release_free(problem, &release);
	else
		fprintf(stderr, "status %d: %s\n", (int) status, report.detail);
	problem_free(problem);
	return status == KANON_OK ? report.cost / columns / (double) rows : -1;
}

/* Pattern-guided k-anonymity on the same table: a suppressed cell loses everything. */
static double
solve_patterns(Host *host, const Table *all, size_t rows, int columns, int64_t k)
{
	Table		table = {.nrows = rows,.ncolumns = all->ncolumns,.cell = all->cell};
	KanonProblem *problem = problem_make(host, &table, adult2, columns, 1, k);
	KanonRelease release;
	KanonReport report = {0};
	double		gcp = -1;

	if (kanon_solve_greedy(problem, &release, &report) == KANON_OK)
	{
		gcp = report.cost / columns / (double) rows;
		kanon_release_free(problem, &release);
	}
	problem_free(problem);
	return gcp;
}

static void
samples(Host *host, const Table *table, size_t n, size_t rows, int columns, int64_t k)
{
	for (int m = 0; kanon_freeform_name(m) != NULL; m++)
	{
		KanonFreeformOptions options = {.method = (KanonFreeformMethod) m};
		double		sum = 0;

		for (size_t s = 0; s < n; s++)
			sum += solve(host, table, s * rows, rows, columns, k, &options);
		printf("%s\t%zu\t%zu\t%d\t%d\t%.5f\n", kanon_freeform_name(m), n, rows, columns, (int) k, sum / (double) n);
	}
}

int
main(int argc, char **argv)
{
	KanonFreeformOptions options = {0};
	bool		sampled = argc == 7 && strcmp(argv[2], "samples") == 0;
	bool		patterns = argc == 6 && strcmp(argv[2], "pattern_guided") == 0;
	Host		host;
	Table	   *table;
	size_t		rows;
	double		start;
	double		gcp;

	if (argc < 6 || (!sampled && !patterns && !kanon_freeform_method(argv[2], &options.method)))
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
	if (sampled)
	{
		samples(&host, table, strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10), atoi(argv[5]), atoi(argv[6]));
		table_free(table);
		return host.blocks == 0 ? 0 : 1;
	}
	rows = strtoul(argv[3], NULL, 10);
	rows = rows < table->nrows ? rows : table->nrows;
	options.partition_size = argc > 6 ? (uint32_t) atoi(argv[6]) : 0;
	options.symmetric = argc > 7;
	start = processor_seconds();
	gcp = patterns ? solve_patterns(&host, table, rows, atoi(argv[4]), atoi(argv[5]))
		: solve(&host, table, 0, rows, atoi(argv[4]), atoi(argv[5]), &options);
	printf("%s\t%zu\t%s\t%s\t%u\t%.5f\t%.3f\t%.1f\n", argv[2], rows, argv[4], argv[5],
		   options.partition_size, gcp, processor_seconds() - start, (double) host.peak / (1 << 20));
	table_free(table);
	return host.blocks == 0 && gcp >= 0 ? 0 : 1;
}
