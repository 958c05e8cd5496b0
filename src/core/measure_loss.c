/*
 * measure_loss.c: what was lost, column by column, by the measures of the
 * literature.
 *
 * Notation: n rows in the table (published or left out), d columns, w_c the
 * weight of column c, D_c its distinct values, n_v the rows that have the value
 * v in it.  What a cell shows stands for a set of values: itself alone, or,
 * suppressed, every value of the column.  Of the latter sort column c has lost_c
 * cells; those of rows that are left out are among them.
 *
 *   discernibility  DM: Bayardo and Agrawal, "Data privacy through optimal
 *                   k-anonymization", ICDE 2005: for each row the number of rows
 *                   that it cannot be told from: the size of its class; n for a
 *                   row that is fully suppressed or left out.
 *   c_avg           LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional
 *                   k-anonymity", ICDE 2006: (rows / classes) / k.
 *   iloss           Xiao and Tao, "Personalized privacy preservation", SIGMOD
 *                   2006: sum of w_c (|v'| - 1) / |D_c|, |v'| the number of
 *                   values that a cell stands for.
 *   ncp             normalized certainty penalty: Xu et al., "Utility-based
 *                   anonymization using local recoding", KDD 2006: sum of w_c
 *                   times, for a numerical column, the range of the numbers that
 *                   a cell stands for by that of the column, for any other
 *                   |v'| / |D_c|; nothing for a single value.
 *   gcp             Ghinita et al., "Fast data anonymization with low information
 *                   loss", VLDB 2007: ncp / (n sum of w_c).
 *   precision       Sweeney, "Achieving k-anonymity privacy protection using
 *                   generalization and suppression", 2002: 1 - mean over the
 *                   cells of the height in the hierarchy by its full height;
 *                   with suppression alone a cell is at the bottom or the top.
 *   entropy         non-uniform entropy: Gionis and Tassa, "k-Anonymization with
 *                   minimal loss of information", TKDE 2009, after de Waal and
 *                   Willenborg: sum over the cells of -log2 of the share that
 *                   its value has among the rows with a value that the cell
 *                   stands for: -log2 (n_v / n) when it is suppressed.
 *
 * All are finite for every input: a suppressed cell stands for the whole column,
 * whatever that holds (NULL, not-a-number and infinities are values), so its
 * range is all of the column's.
 */
#include <math.h>
#include <string.h>

#include "internal.h"

typedef struct Loss
{
	const KanonProblem *problem;
	const KanonRelease *release;
	KanonPace	pace;
	int64_t		rows;			/* n */
	int64_t    *lost;			/* [distinct] suppressed cells that hid a value */
	int64_t    *total;			/* [distinct] rows that have it */
	bool	   *shown;			/* [distinct] */
} Loss;

/* -log2 of the share that count has in all, exact where that is almost 1. */
static double
bits(int64_t count, int64_t all)
{
	return -log1p(-(double) (all - count) / (double) all) / log(2);
}

static KanonStatus
measure_column(Loss *loss, int c, KanonColumnMeasures *measures)
{
	const KanonColumn *column = &loss->problem->columns[c];
	const KanonRelease *release = loss->release;

	memset(measures, 0, sizeof(*measures));
	memset(loss->lost, 0, column->distinct * sizeof(int64_t));
	memset(loss->total, 0, column->distinct * sizeof(int64_t));
	memset(loss->shown, 0, column->distinct * sizeof(bool));
	for (size_t i = 0; i < release->nflows; i++)
	{
		const KanonFlow *flow = &release->flows[i];
		uint32_t	code = column->code[flow->type];

		if (kanon_stop(&loss->pace, 4))
			return KANON_CANCELLED;
		loss->total[code] += flow->rows;
		if (flow->class_ != KANON_DROPPED)
		{
			const KanonCell *cell = &release->cells[flow->class_ * (size_t) loss->problem->ncolumns + (size_t) c];

			if (cell->show == KANON_SHOW_VALUE)
			{
				loss->shown[cell->code] = true;
				continue;
			}
			measures->suppressed += flow->rows;
		}
		measures->lost += flow->rows;
		loss->lost[code] += flow->rows;
	}
	for (uint32_t v = 0; v < column->distinct; v++)
		if (loss->total[v] > 0)
		{
			double		hides = bits(loss->total[v], loss->rows);

			measures->shown += loss->shown[v];
			measures->entropy += (double) loss->lost[v] * hides;
			measures->entropy_all += (double) loss->total[v] * hides;
		}
	/* who knows the only value there is loses nothing with it */
	if (loss->rows > 0 && column->distinct > 1)
		measures->ncp = (double) measures->lost / (double) loss->rows;
	return KANON_OK;
}

KanonStatus
kanon_measure_columns(const KanonProblem *problem, const KanonRelease *release,
					  KanonColumnMeasures *columns)
{
	KanonEnv   *env = problem->env;
	Loss		loss = {
		.problem = problem,
		.release = release,
		.pace = {env, "measure", 0, 0, KANON_POLL_WORK}
	};
	KanonStatus status = KANON_OK;
	uint32_t	distinct = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		loss.rows += problem->rows[i];
	loss.lost = kanon_alloc(env, distinct, sizeof(int64_t));
	loss.total = kanon_alloc(env, distinct, sizeof(int64_t));
	loss.shown = kanon_alloc(env, distinct, sizeof(bool));
	if (loss.lost == NULL || loss.total == NULL || loss.shown == NULL)
		status = KANON_NO_MEMORY;
	for (int c = 0; c < problem->ncolumns && status == KANON_OK; c++)
		status = measure_column(&loss, c, &columns[c]);
	kanon_free(env, loss.lost);
	kanon_free(env, loss.total);
	kanon_free(env, loss.shown);
	return status;
}

/* Each row counts the rows that it cannot be told from. */
static double
discernibility(const KanonProblem *problem, const KanonRelease *release, double rows)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	double		sum = (double) release->dropped * rows;

	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		double		size = (double) release->classes[i].rows;

		sum += size * (release->classes[i].pattern == all ? rows : size);
	}
	return sum;
}

KanonStatus
kanon_measure_loss(const KanonProblem *problem, const KanonRelease *release, KanonMeasures *measures)
{
	double		rows = (double) measures->rows + (double) release->dropped;
	double		cells = rows * problem->ncolumns;
	KanonColumnMeasures *columns;
	double		weights = 0,
				lost = 0,
				entropy_all = 0;
	KanonStatus status;

	columns = kanon_alloc(problem->env, (size_t) problem->ncolumns, sizeof(KanonColumnMeasures));
	if (columns == NULL)
		return KANON_NO_MEMORY;
	status = kanon_measure_columns(problem, release, columns);
	for (int c = 0; c < problem->ncolumns && status == KANON_OK; c++)
	{
		const KanonColumn *column = &problem->columns[c];
		double		values = column->distinct;

		weights += column->weight;
		lost += (double) columns[c].lost;
		if (values > 0)
			measures->iloss += column->weight * (double) columns[c].lost * ((values - 1) / values);
		measures->ncp += column->weight * columns[c].ncp * rows;
		measures->entropy += columns[c].entropy;
		entropy_all += columns[c].entropy_all;
	}
	kanon_free(problem->env, columns);
	measures->discernibility = discernibility(problem, release, rows);
	measures->c_avg = measures->class_avg / (double) problem->k;
	measures->gcp = rows > 0 && weights > 0 ? measures->ncp / (rows * weights) : 0;
	measures->precision = cells > 0 ? 1 - lost / cells : 1;
	measures->entropy_share = entropy_all > 0 ? measures->entropy / entropy_all : 0;
	return status;
}
