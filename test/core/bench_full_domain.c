/*
 * bench_full_domain.c: the full-domain searches alone.
 *
 * Usage: bench_full_domain DATA_DIRECTORY
 * Adult with ARX's hierarchies: nodes checked and seconds (best of some) of each
 * search for k = 2, 5, 10 and limits 0, 0.05, 1, by metric.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "full_domain.h"

static void
run(Host *host, KanonProblem *problem, KanonFullDomainOptions *options)
{
	KanonOutcome outcome = {0};
	double		best = INFINITY;

	options->outcome = &outcome;
	problem->full_domain = options;
	for (int i = 0; i < 5; i++)
	{
		KanonRelease release;
		KanonReport report;
		double		start = host->env.now(host);
		KanonStatus status = kanon_solve_full_domain(problem, &release, &report);

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
		   kanon_search_names[options->search], (int) outcome.nodes, (int) outcome.checked,
		   (int) outcome.tagged, (int) outcome.rolled_up, 1000 * best, outcome.best.metric,
		   (int) outcome.best.classes, (int) outcome.best.suppressed);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static const int64_t ks[] = {2, 5, 10};
	static const double limits[] = {0, 0.05};
	const char *only = argc > 2 ? argv[2] : "";
	Host		host;
	KanonProblem *problem;

	host_init(&host);
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
					KanonFullDomainOptions options = {
						.suppression_limit = limits[l],
						.metric = (KanonMetric) metric,
						.search = (KanonSearch) search
					};

					problem->k = ks[i];
					if (strstr(kanon_metric_names[metric], only) != NULL)
						run(&host, problem, &options);
				}
	problem_free(problem);
	return 0;
}
