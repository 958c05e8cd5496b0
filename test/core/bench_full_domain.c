/*
 * bench_full_domain.c: the full-domain searches alone.
 *
 * Usage: bench_full_domain DATA_DIRECTORY [PART_OF_METRIC [ROW_TYPES]]
 * Adult with ARX's hierarchies: nodes checked and milliseconds (best of some) of
 * each search for k = 2, 5, 10 and limits 0, 0.05, 1, by metric.  Then row types
 * that do not collapse: the share of the work that a team divides, in CPU time,
 * which other processes on the machine do not disturb.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "lattice/full_domain.h"

static void
run(Host *host, KanonProblem *problem, KanonFullDomainOptions *options)
{
	KanonOutcome outcome = {0};
	double best = INFINITY;

	problem->full_domain = options;
	for (int i = 0; i < 5; i++)
	{
		KanonRelease release;
		KanonReport report;
		double start = host->env.now(host);
		KanonStatus status = kanon_solve_full_domain(problem, &outcome, &release, &report);

		best = fmin(best, host->env.now(host) - start);
		if (status != KANON_OK)
		{
			printf("status %d %s\n", (int) status, report.detail);
			return;
		}
		kanon_release_free(problem, &release);
	}
	printf("%4d %6.2f %-20s %-10s %8d %8d %8d %8d %9.1f %14.10g %8d %8d\n", (int) problem->k,
		   options->suppression_limit, kanon_metric_names[options->metric],
		   kanon_methods(KANON_FULL_DOMAIN)[options->search].name, (int) outcome.nodes, (int) outcome.checked,
		   (int) outcome.tagged, (int) outcome.rolled_up, 1000 * best, outcome.best.metric,
		   (int) outcome.best.classes, (int) outcome.best.suppressed);
	fflush(stdout);
}

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

/* A team of members who take turns, so that each can be timed. */
typedef struct Turns
{
	Host *host;
	int wanted;
	void *block;
	KanonMember *member[KANON_MAX_MEMBERS];
	double own_began; /* the caller's share of a task */
	double saved;     /* if the members had worked at the same time */
} Turns;

static void *
turns_open(void *arg, size_t size, int *members)
{
	Turns *turns = arg;

	turns->block = malloc(size);
	*members = turns->wanted;
	return turns->block;
}

static void
turns_start(void *arg)
{
	((Turns *) arg)->own_began = cpu_seconds();
}

static bool
turns_wait(void *arg)
{
	Turns *turns = arg;
	double sum = cpu_seconds() - turns->own_began;
	double longest = sum;

	for (int m = 1; m < turns->wanted; m++)
	{
		double began = cpu_seconds();

		if (turns->member[m] == NULL)
			turns->member[m] = kanon_member_open(&turns->host->env, turns->block, m);
		kanon_member_work(turns->member[m]);
		began = cpu_seconds() - began;
		sum += began;
		longest = fmax(longest, began);
	}
	turns->saved += sum - longest;
	return true;
}

/* The same search by so many members: seconds, if they had worked at the same time. */
static double
run_team(Host *host, KanonProblem *problem, int members)
{
	Turns turns = {.host = host, .wanted = members};
	KanonTeam team = {&turns, KANON_MAX_MEMBERS, turns_open, turns_start, turns_wait};
	KanonOutcome outcome;
	KanonFullDomainOptions options = {.suppression_limit = 0.02,
									  .search = members > 1 ? KANON_SEARCH_SPEEDY : KANON_SEARCH_FLASH,
									  .team = &team};
	KanonRelease release;
	KanonReport report;
	double began = cpu_seconds();
	KanonStatus status;

	problem->full_domain = &options;
	status = kanon_solve_full_domain(problem, &outcome, &release, &report);
	began = cpu_seconds() - began - turns.saved;
	for (int m = 1; m < members; m++)
		kanon_member_close(turns.member[m]);
	free(turns.block);
	if (status != KANON_OK)
		printf("status %d %s\n", (int) status, report.detail);
	kanon_release_free(problem, &release);
	return began;
}

/* Row types all different: mixed radix with levels, and two columns by chance. */
static void
run_distinct(Host *host, size_t nrows)
{
	static const int level[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0};
	uint32_t *code = malloc(nrows * 12 * sizeof(uint32_t));
	uint64_t random = 1;
	KanonProblem *problem;
	double alone;

	for (size_t i = 0; i < nrows; i++)
	{
		uint32_t a = (uint32_t) (i % 500);
		uint32_t b = (uint32_t) (i / 500 % 100);
		uint32_t c = (uint32_t) (i / 50000);
		uint32_t d = random_below(&random, 16);
		uint32_t row[] = {a, a / 5, a / 50, b, b / 5, b / 20,
						  c, c / 4, c / 20, d, d / 4, random_below(&random, 8)};

		memcpy(code + i * 12, row, sizeof(row));
	}
	problem = problem_from_codes(host, code, nrows, 12, 5);
	free(code);
	problem_set_levels(problem, level);
	alone = run_team(host, problem, 1);
	printf("%u row types that do not collapse: alone %.2f s", problem->ntypes, alone);
	for (int members = 2; members <= 4; members++)
	{
		double team = run_team(host, problem, members);

		printf(", %d members %.2f s (%.2f times faster)", members, team, alone / team);
	}
	printf("\n");
	problem_free(problem);
}

int
main(int argc, char **argv)
{
	static const int64_t ks[] = {2, 5, 10};
	static const double limits[] = {0, 0.05};
	const char *only = argc > 2 ? argv[2] : "";
	Host host;
	KanonProblem *problem;

	host_init(&host);
	fixture_take_time();
	problem = problem_read_levels(&host, argc > 1 ? argv[1] : ".", "adult-arx", "adult-hierarchies", 2);
	if (problem == NULL)
		return 0;
	printf("%u row types\n", problem->ntypes);
	printf("%4s %6s %-20s %-10s %8s %8s %8s %8s %9s %14s %8s %8s\n", "k", "limit", "metric", "search",
		   "nodes", "checked", "tagged", "rolledup", "ms", "value", "classes", "suppr.");
	for (int l = 0; l < 2; l++)
		for (int i = 0; i < 3; i++)
			for (int metric = 0; kanon_metric_names[metric] != NULL; metric++)
				for (int search = 0; search < 3; search++)
				{
					KanonFullDomainOptions options = {.suppression_limit = limits[l],
													  .metric = (KanonMetric) metric,
													  .search = (KanonSearch) search};

					problem->k = ks[i];
					if (strstr(kanon_metric_names[metric], only) != NULL)
						run(&host, problem, &options);
				}
	problem_free(problem);
	run_distinct(&host, argc > 3 ? strtoul(argv[3], NULL, 10) : 3000000);
	return 0;
}
