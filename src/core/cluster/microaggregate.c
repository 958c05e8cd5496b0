/*
 * microaggregate.c: groups of at least k rows that are near one another, with a small sum of squares within them.
 *
 * One column: the least of all, by dynamic programming (S. L. Hansen, S. Mukherjee, "A polynomial algorithm for
 * optimal univariate microaggregation", IEEE TKDE 15, 2003): a group that can be divided in two never costs less.
 * Several: MDAV (J. Domingo-Ferrer, V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through
 * microaggregation", Data Mining and Knowledge Discovery 11, 2005): a group around the point farthest from the
 * middle, and one around the point farthest from that, until all points have a group.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "util/sort.h"

/* ---- one column ---- */

/* Sums up to each value, of numbers less the first one: differences of large sums would say little. */
typedef struct Sums
{
	double *rows; /* [n + 1] */
	double *sum;
	double *squares;
} Sums;

static double
group_squares(const Sums *sums, uint32_t from, uint32_t to)
{
	double rows = sums->rows[to] - sums->rows[from], sum = sums->sum[to] - sums->sum[from];

	return sums->squares[to] - sums->squares[from] - sum * sum / rows;
}

static KanonStatus
divide_sorted(const Sums *sums, double *cost, uint32_t n, double least, KanonPace *pace, uint32_t *from)
{
	uint32_t latest = 0; /* the last group of the values up to `to` begins here or before */

	cost[0] = 0;
	for (uint32_t to = 1; to <= n; to++)
	{
		uint32_t first;

		cost[to] = INFINITY;
		from[to] = 0;
		if (sums->rows[to] < least)
			continue;
		while (latest + 1 < to && sums->rows[to] - sums->rows[latest + 1] >= least)
			latest++;
		first = latest + 1;
		for (uint32_t f = latest + 1; f-- > 0;)
		{
			double all = cost[f] + group_squares(sums, f, to);

			first = f;
			if (all < cost[to])
			{
				cost[to] = all;
				from[to] = f;
			}
			if (f < latest && sums->rows[latest] - sums->rows[f] >= least)
				break;
		}
		if (kanon_stop(pace, (uint64_t) (latest + 1 - first)))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

KanonStatus
kanon_group_sorted(KanonEnv *env, const double *number, const int64_t *weight, uint32_t n, int64_t least,
				   uint32_t *from)
{
	KanonScratch scratch = {.env = env};
	KanonPace pace = kanon_pace(env, "groups of values");
	Sums sums = {kanon_take0(&scratch, (size_t) n + 1, sizeof(double)),
				 kanon_take0(&scratch, (size_t) n + 1, sizeof(double)),
				 kanon_take0(&scratch, (size_t) n + 1, sizeof(double))};
	double *cost = kanon_take(&scratch, (size_t) n + 1, sizeof(double));
	KanonStatus status = kanon_taken(&scratch);

	for (uint32_t i = 0; i < n && status == KANON_OK; i++)
	{
		double rows = weight != NULL ? (double) weight[i] : 1, away = number[i] - number[0];

		sums.rows[i + 1] = sums.rows[i] + rows;
		sums.sum[i + 1] = sums.sum[i] + rows * away;
		sums.squares[i + 1] = sums.squares[i] + rows * away * away;
	}
	if (status == KANON_OK)
		status = divide_sorted(&sums, cost, n, (double) least, &pace, from);
	kanon_scratch_free(&scratch);
	return status;
}

/* ---- several columns ---- */

/* Points that have no group yet, and where they lie. */
typedef struct Rest
{
	const double *at; /* [points * columns] */
	const int64_t *weight;
	int columns;
	uint32_t n;
	uint32_t *point; /* [n] */
	double *away;    /* [n] from the point that is looked at */
	int64_t rows;    /* that they stand for */
	double *middle;  /* [columns] */
	uint32_t *near;  /* [least rows of a group] places in the rest, the nearest first */
	uint32_t *group; /* [points] */
	uint32_t ngroups;
	KanonPace pace;
} Rest;

/* Measures all points from a place; the farthest one. */
static uint32_t
measure(Rest *rest, const double *from)
{
	uint32_t farthest = 0;

	for (uint32_t i = 0; i < rest->n; i++)
	{
		const double *at = &rest->at[rest->point[i] * (size_t) rest->columns];
		double sum = 0;

		for (int c = 0; c < rest->columns; c++)
			sum += (at[c] - from[c]) * (at[c] - from[c]);
		/* (beyond all numbers, as from the middle of such points) */
		rest->away[i] = isnan(sum) ? INFINITY : sum;
		if (rest->away[i] > rest->away[farthest])
			farthest = i;
	}
	return farthest;
}

static void
find_middle(Rest *rest)
{
	memset(rest->middle, 0, sizeof(double) * (size_t) rest->columns);
	for (uint32_t i = 0; i < rest->n; i++)
		for (int c = 0; c < rest->columns; c++)
			rest->middle[c] += rest->at[rest->point[i] * (size_t) rest->columns + (size_t) c] *
							   (double) rest->weight[rest->point[i]];
	for (int c = 0; c < rest->columns; c++)
		rest->middle[c] /= (double) rest->rows;
}

/* The points nearest to what was measured from, until they stand for enough rows; so many. */
static uint32_t
find_near(const Rest *rest, int64_t least)
{
	uint32_t n = 0;
	int64_t rows = 0;

	for (uint32_t i = 0; i < rest->n; i++)
	{
		uint32_t at;

		if (rows >= least && rest->away[i] >= rest->away[rest->near[n - 1]])
			continue;
		for (at = n++; at > 0 && rest->away[rest->near[at - 1]] > rest->away[i]; at--)
			rest->near[at] = rest->near[at - 1];
		rest->near[at] = i;
		rows += rest->weight[rest->point[i]];
		while (rows - rest->weight[rest->point[rest->near[n - 1]]] >= least)
			rows -= rest->weight[rest->point[rest->near[--n]]];
	}
	return n;
}

/* A group of the points that are nearest to what was measured from, or of all where too few would be left. */
static void
take_group(Rest *rest, int64_t least)
{
	uint32_t near = rest->rows < 2 * least ? rest->n : find_near(rest, least), kept = 0;
	int64_t rows = 0;

	for (uint32_t i = 0; i < near && near < rest->n; i++)
		rows += rest->weight[rest->point[rest->near[i]]];
	if (near == rest->n || rest->rows - rows < least)
	{
		for (uint32_t i = 0; i < rest->n; i++)
			rest->group[rest->point[i]] = rest->ngroups;
		rest->n = 0;
		rest->rows = 0;
	}
	else
	{
		for (uint32_t i = 0; i < near; i++)
		{
			rest->group[rest->point[rest->near[i]]] = rest->ngroups;
			rest->away[rest->near[i]] = -1;
		}
		for (uint32_t i = 0; i < rest->n; i++)
			if (rest->away[i] >= 0)
				rest->point[kept++] = rest->point[i];
		rest->n = kept;
		rest->rows -= rows;
	}
	rest->ngroups++;
}

static KanonStatus
find_groups(Rest *rest, int64_t least, double *around)
{
	while (rest->n > 0)
	{
		uint32_t farthest;

		if (kanon_stop(&rest->pace, 4 * (uint64_t) rest->n * (uint64_t) rest->columns))
			return KANON_CANCELLED;
		find_middle(rest);
		farthest = measure(rest, rest->middle);
		for (int side = 0; side < 2 && (side == 0 || rest->rows >= 2 * least); side++)
		{
			/* the second time from the point that the first group lay around */
			if (side == 1)
				farthest = measure(rest, around);
			memcpy(around, &rest->at[rest->point[farthest] * (size_t) rest->columns],
				   sizeof(double) * (size_t) rest->columns);
			measure(rest, around);
			take_group(rest, least);
		}
	}
	return KANON_OK;
}

KanonStatus
kanon_mdav(KanonEnv *env, const KanonPoints *points, int64_t least, uint32_t *group, uint32_t *ngroups)
{
	KanonScratch scratch = {.env = env};
	size_t n = points->n, columns = (size_t) points->columns;
	Rest rest = {.at = points->at,
				 .weight = points->weight,
				 .columns = points->columns,
				 .group = group,
				 .pace = kanon_pace(env, "groups of rows")};
	double *around = kanon_take(&scratch, columns, sizeof(double));
	KanonStatus status;

	rest.point = kanon_take(&scratch, n, sizeof(uint32_t));
	rest.away = kanon_take(&scratch, n, sizeof(double));
	rest.near = kanon_take(&scratch, (size_t) (least < points->n ? least : points->n) + 2, sizeof(uint32_t));
	rest.middle = kanon_take(&scratch, columns, sizeof(double));
	status = kanon_taken(&scratch);
	for (uint32_t i = 0; i < points->n && status == KANON_OK; i++)
	{
		rest.point[rest.n++] = i;
		rest.rows += points->weight[i];
	}
	if (status == KANON_OK)
		status = find_groups(&rest, least, around);
	*ngroups = rest.ngroups;
	kanon_scratch_free(&scratch);
	return status;
}

/* ---- a clustering ---- */

/* Row types as points: numbers in standard deviations, times the root of the column's weight; at the mean without a number. */
static KanonStatus
place_types(const ClusterLayout *layout, double *at)
{
	const KanonProblem *problem = layout->problem;
	KanonPace pace = kanon_pace(problem->env, "groups of rows");

	for (int q = 0; q < layout->nqis; q++)
	{
		const ClusterQi *qi = &layout->qi[q];
		const uint32_t *code = cluster_column(layout, qi)->code;
		double mean = 0, squares = 0, rows = 0, scale;

		for (uint32_t i = 0; i < problem->ntypes; i++)
		{
			double number = cluster_number(qi, code[i]), more = (double) problem->rows[i],
				   away = number - mean;

			if (!isfinite(number))
				continue;
			rows += more;
			mean += away * more / rows;
			squares += more * away * (number - mean);
		}
		scale = squares > 0 && isfinite(squares) ? sqrt(qi->weight * (rows - 1) / squares) : 0;
		for (uint32_t i = 0; i < problem->ntypes; i++)
		{
			double away = (cluster_number(qi, code[i]) - mean) * scale;

			at[i * (size_t) layout->nqis + (size_t) q] = isfinite(away) ? away : 0;
		}
		if (kanon_stop(&pace, 2 * (uint64_t) problem->ntypes))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* Rows of one column in its order; a row type may be in two groups. */
static KanonStatus
group_rows(const ClusterLayout *layout, const double *at, KanonScratch *scratch, ClusterParts *parts)
{
	const KanonProblem *problem = layout->problem;
	uint32_t n = (uint32_t) layout->rows, row = 0, begin = 0, *from, *end;
	KanonKeyed *order = kanon_take(scratch, 2 * (size_t) problem->ntypes, sizeof(KanonKeyed));
	double *number = kanon_take(scratch, n, sizeof(double));
	KanonStatus status;

	from = kanon_take(scratch, (size_t) n + 1, sizeof(uint32_t));
	end = kanon_take(scratch, (size_t) n + 1, sizeof(uint32_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		order[i] = (KanonKeyed){.key = at[i], .item = i};
	kanon_sort(order, order + problem->ntypes, problem->ntypes, sizeof(KanonKeyed), kanon_compare_keyed,
			   NULL);
	for (uint32_t i = 0; i < problem->ntypes; i++)
		for (int64_t r = 0; r < problem->rows[order[i].item]; r++)
			number[row++] = order[i].key;
	status = kanon_group_sorted(problem->env, number, NULL, n, problem->k, from);
	for (uint32_t to = n; to > 0 && status == KANON_OK; to = from[to])
		end[from[to]] = to;
	row = 0;
	parts->nclusters = 1;
	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
		for (int64_t left = problem->rows[order[i].item]; left > 0;)
		{
			int64_t take;

			if (row == end[begin])
			{
				begin = row;
				parts->nclusters++;
			}
			take = left < (int64_t) end[begin] - row ? left : (int64_t) end[begin] - row;
			if (!kanon_parts_add(problem->env, parts, order[i].item, parts->nclusters - 1, take))
				return KANON_NO_MEMORY;
			row += (uint32_t) take;
			left -= take;
		}
	return status;
}

/* Points of several columns; equal rows share a group. */
static KanonStatus
group_types(const ClusterLayout *layout, const double *at, KanonScratch *scratch, ClusterParts *parts)
{
	const KanonProblem *problem = layout->problem;
	KanonPoints points = {problem->ntypes, layout->nqis, at, problem->rows};
	uint32_t *group = kanon_take(scratch, problem->ntypes, sizeof(uint32_t));
	KanonStatus status = group == NULL
							 ? KANON_NO_MEMORY
							 : kanon_mdav(problem->env, &points, problem->k, group, &parts->nclusters);

	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
		if (!kanon_parts_add(problem->env, parts, i, group[i], problem->rows[i]))
			status = KANON_NO_MEMORY;
	return status;
}

KanonStatus
microaggregate_squares(const KanonProblem *problem, const KanonRelease *release, double *squares)
{
	KanonScratch scratch = {.env = problem->env};
	ClusterLayout layout;
	size_t width, n = release->nclasses;
	double *at, *sum, *square, *rows;
	KanonStatus status;

	cluster_layout(problem, &layout);
	width = (size_t) layout.nqis;
	at = kanon_take(&scratch, problem->ntypes, width * sizeof(double));
	sum = kanon_take0(&scratch, n, width * sizeof(double));
	square = kanon_take0(&scratch, n, width * sizeof(double));
	rows = kanon_take0(&scratch, n, sizeof(double));
	status = kanon_taken(&scratch);
	if (status == KANON_OK)
		status = place_types(&layout, at);
	*squares = 0;
	for (size_t f = 0; f < release->nflows && status == KANON_OK; f++)
	{
		const KanonFlow *flow = &release->flows[f];
		double more = (double) flow->rows;

		if (flow->class_ == KANON_DROPPED)
			continue;
		rows[flow->class_] += more;
		/* (B. P. Welford, 1962) */
		for (size_t q = 0; q < width; q++)
		{
			double *mean = &sum[flow->class_ * width + q], away = at[flow->type * width + q] - *mean;

			*mean += away * more / rows[flow->class_];
			square[flow->class_ * width + q] += more * away * (at[flow->type * width + q] - *mean);
		}
	}
	for (size_t i = 0; i < n * width && status == KANON_OK; i++)
		*squares += square[i];
	kanon_scratch_free(&scratch);
	return status;
}

KanonStatus
kanon_solve_microaggregate(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg), *at;
	KanonScratch scratch = {.env = env};
	ClusterLayout layout;
	ClusterParts parts = {0};
	KanonStatus status;

	if (kanon_by_types(problem))
		return cluster_solve_ruled(problem, kanon_solve_microaggregate, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	report->lower_bound = -INFINITY;
	cluster_layout(problem, &layout);
	if (layout.rows < problem->k)
		return cluster_too_few(report);
	at = kanon_take(&scratch, problem->ntypes, (size_t) layout.nqis * sizeof(double));
	status = at == NULL ? KANON_NO_MEMORY : place_types(&layout, at);
	if (status == KANON_OK)
		status = (layout.nqis == 1 && layout.rows < UINT32_MAX ? group_rows : group_types)(&layout, at,
																						   &scratch, &parts);
	if (status == KANON_OK)
		status = cluster_conclude(&layout, &parts, release, report);
	if (status == KANON_OK)
		status = microaggregate_squares(problem, release, &report->cost);
	if (status == KANON_OK && layout.nqis == 1)
	{
		report->lower_bound = report->cost;
		report->proven = true;
	}
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	report->seconds = env->now(env->arg) - start;
	kanon_scratch_free(&scratch);
	kanon_parts_free(env, &parts);
	return status;
}
