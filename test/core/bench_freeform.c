/*
 * bench_freeform.c: one freeform release of a part of Adult.
 *
 *	bench_freeform FILE METHOD ROWS COLUMNS K [PARTITION_SIZE [symmetric]]
 *
 * COLUMNS: the first so many of age (a number), workclass, education,
 * marital_status, occupation, race, sex, native_country, salary_class.  Prints
 * GCP, seconds of processor time, peak memory in MiB.  The first ROWS of the
 * file are taken after a shuffle that is always the same.
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

int
main(int argc, char **argv)
{
	static const int adult2[9] = {0, 1, 3, 5, 6, 8, 9, 13, 14};
	KanonFreeformOptions options = {0};
	Host		host;
	Table	   *table;
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;
	KanonStatus status;
	size_t		rows,
				all;
	int			columns;
	double		start;

	if (argc < 6 || !kanon_freeform_method(argv[2], &options.method))
	{
		fprintf(stderr, "usage: bench_freeform FILE METHOD ROWS COLUMNS K [PARTITION_SIZE [symmetric]]\n");
		return 2;
	}
	table = table_read(argv[1]);
	if (table == NULL)
	{
		perror(argv[1]);
		return 2;
	}
	shuffle_rows(table);
	rows = strtoul(argv[3], NULL, 10);
	columns = atoi(argv[4]);
	options.partition_size = argc > 6 ? (uint32_t) atoi(argv[6]) : 0;
	options.symmetric = argc > 7;
	host_init(&host);
	all = table->nrows;
	table->nrows = rows < all ? rows : all;
	problem = problem_make(&host, table, adult2, columns, 1, atoi(argv[5]));
	problem->freeform = &options;
	problem->seed = 1;
	start = processor_seconds();
	status = kanon_solve_freeform(problem, &release, &report);
	if (status != KANON_OK)
	{
		fprintf(stderr, "status %d: %s\n", (int) status, report.detail);
		return 1;
	}
	printf("%s\t%zu\t%d\t%s\t%u\t%.5f\t%.3f\t%.1f\n", argv[2], table->nrows, columns, argv[5],
		   options.partition_size, report.cost / columns / (double) table->nrows,
		   processor_seconds() - start, (double) host.peak / (1 << 20));
	kanon_release_free(problem, &release);
	problem_free(problem);
	table->nrows = all;
	table_free(table);
	return host.blocks == 0 ? 0 : 1;
}
