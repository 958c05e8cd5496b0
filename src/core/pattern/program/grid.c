/*
 * grid.c: the grid on which the costs of instances lie, and the patterns in their order.
 */
#include <math.h>
#include <string.h>

#include "pattern/program/program_model.h"
#include "util/scratch.h"
#include "util/sort.h"

/* The loss that sums of the cost of all rows may have, as a part of the most that all rows cost. */
#define ROUNDING 1e-15

/* The smallest weight, as a part of the largest, that GLPK's tolerance for prices (1e-7 of these) leaves in sight. */
#define WIDEST 1e-4
#define WIDEST_WHOLE 1e-7

/*
 * The largest number of which all weights are whole multiples, by Euclid's
 * algorithm in floating point; none when the multiples get too large for
 * exact sums.
 */
void
kanon_instances_grid(const KanonProblem *problem, KanonInstances *instances)
{
	double unit = 0;
	double largest = 0;
	double least = INFINITY;
	double total = 0;
	double rows = 0;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		double a = problem->columns[c].weight;
		double b = unit;

		largest = fmax(largest, a);
		least = a > 0 ? fmin(least, a) : least;
		total += a;
		if (b > a)
		{
			b = a;
			a = unit;
		}
		while (b > 1e-9 * largest)
		{
			double r = fmod(a, b);

			if (b - r < 1e-9 * largest)
				r = 0;
			a = b;
			b = r;
		}
		unit = a;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows += (double) problem->rows[i];
	instances->unit = largest > 0 ? largest : 1;
	instances->integral = false;
	if (unit > 0 && total / unit * rows < 1e12)
	{
		bool whole = true;

		for (int c = 0; c < problem->ncolumns; c++)
		{
			double multiple = problem->columns[c].weight / unit;

			/* all roundings together must stay far below one unit, and no weight is lost by them */
			if (fabs(multiple - rint(multiple)) * rows * problem->ncolumns > 1e-4 ||
				fabs(multiple - rint(multiple)) > KANON_SAME * multiple)
				whole = false;
		}
		if (whole)
		{
			instances->unit = unit;
			instances->integral = true;
		}
	}
	instances->all_cost = kanon_instances_cost(problem, instances, kanon_pattern_all(problem->ncolumns));
	instances->least = least < INFINITY ? least / instances->unit : 1;
	instances->rounding = instances->integral ? 0 : ROUNDING * rows * instances->all_cost;
	instances->wide =
		largest / instances->unit * (instances->integral ? WIDEST_WHOLE : WIDEST) > instances->least;
}

double
kanon_instances_slack(const KanonInstances *instances, double cost)
{
	return instances->integral ? 1e-3 : KANON_SAME * fmax(instances->least, fabs(cost));
}

double
kanon_instances_cost(const KanonProblem *problem, const KanonInstances *instances, KanonPattern pattern)
{
	double cost = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		if (kanon_has(pattern, c))
			cost += instances->integral ? rint(problem->columns[c].weight / instances->unit)
										: problem->columns[c].weight / instances->unit;
	return cost;
}

/*
 * A mask takes costs for equal that differ by a billionth of all weights, and puts these
 * patterns into another order.
 */
static bool
in_order(const double *cost, size_t n)
{
	for (size_t p = 1; p < n; p++)
		if (cost[p - 1] > cost[p] * (1 + KANON_SAME / 2))
			return false;
	return true;
}

KanonStatus
kanon_instances_patterns(const KanonProblem *problem, size_t limit, KanonPattern **patterns,
						 size_t *npatterns)
{
	KanonStatus status = kanon_mask_enumerate(problem, limit, patterns, npatterns);
	KanonScratch scratch = {.env = problem->env};
	KanonKeyed *order;
	KanonPattern *old;
	double *cost;
	size_t n = *npatterns;

	if (status != KANON_OK)
		return status;
	cost = kanon_take(&scratch, n, sizeof(*cost));
	order = kanon_take(&scratch, n, 2 * sizeof(*order));
	old = kanon_take(&scratch, n, sizeof(*old));
	status = kanon_taken(&scratch);
	for (size_t p = 0; p < n && status == KANON_OK; p++)
		cost[p] = kanon_pattern_cost(problem, (*patterns)[p]);
	if (status == KANON_OK && !in_order(cost, n))
	{
		memcpy(old, *patterns, n * sizeof(*old));
		for (size_t p = 0; p < n; p++)
			order[p] = (KanonKeyed){cost[p], (uint32_t) p};
		kanon_sort(order, order + n, n, sizeof(*order), kanon_compare_keyed, NULL);
		for (size_t p = 0; p < n; p++)
			(*patterns)[p] = old[order[p].item];
	}
	kanon_scratch_free(&scratch);
	if (status != KANON_OK)
	{
		kanon_free(problem->env, *patterns);
		*patterns = NULL;
	}
	return status;
}
