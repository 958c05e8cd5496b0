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
	KanonColumnMeasures *columns;
	KanonPace	pace;
	int64_t		rows;			/* n */
	int64_t    *lost[KANON_MAX_COLUMNS];	/* [distinct] cells that hid a value, by column */
	int64_t    *total;			/* [most distinct] rows that have it, of one column */
	bool	   *shown;			/* [most distinct] */
} Loss;

/* -log2 of the share that count has in all, exact where that is almost 1. */
static double
bits(int64_t count, int64_t all)
{
	return -log1p(-(double) (all - count) / (double) all) / log(2);
}

/* Counts the hidden values: a visit to each flow's class, as few as can be. */
static KanonStatus
count_lost(Loss *loss)
{
	const KanonProblem *problem = loss->problem;
	const KanonRelease *release = loss->release;
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	for (size_t i = 0; i < release->nflows; i++)
	{
		const KanonFlow *flow = &release->flows[i];
		bool		dropped = flow->class_ == KANON_DROPPED;
		KanonPattern hidden = dropped ? all : release->classes[flow->class_].pattern;

		if (kanon_stop(&loss->pace, 2))
			return KANON_CANCELLED;
		for (; hidden != 0; hidden &= hidden - 1)
		{
			int			c = __builtin_ctzll(hidden);

			loss->lost[c][problem->columns[c].code[flow->type]] += flow->rows;
			loss->columns[c].lost += flow->rows;
			if (!dropped)
				loss->columns[c].suppressed += flow->rows;
		}
	}
	return KANON_OK;
}

static KanonStatus
measure_column(Loss *loss, int c)
{
	const KanonColumn *column = &loss->problem->columns[c];
	const KanonRelease *release = loss->release;
	KanonColumnMeasures *measures = &loss->columns[c];

	memset(loss->total, 0, column->distinct * sizeof(int64_t));
	memset(loss->shown, 0, column->distinct * sizeof(bool));
	for (uint32_t type = 0; type < loss->problem->ntypes; type++)
	{
		if (kanon_stop(&loss->pace, 1))
			return KANON_CANCELLED;
		loss->total[column->code[type]] += loss->problem->rows[type];
	}
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		const KanonCell *cell = &release->cells[i * (size_t) loss->problem->ncolumns + (size_t) c];

		if (kanon_stop(&loss->pace, 1))
			return KANON_CANCELLED;
		if (cell->show == KANON_SHOW_VALUE)
			loss->shown[cell->code] = true;
	}
	for (uint32_t v = 0; v < column->distinct; v++)
		if (loss->total[v] > 0)
		{
			double		hides = bits(loss->total[v], loss->rows);

			measures->shown += loss->shown[v];
			measures->entropy += (double) loss->lost[c][v] * hides;
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
		.columns = columns,
		.pace = {env, "measure", 0, 0, KANON_POLL_WORK}
	};
	KanonStatus status = KANON_OK;
	uint32_t	distinct = 0;

	memset(columns, 0, (size_t) problem->ncolumns * sizeof(KanonColumnMeasures));
	for (int c = 0; c < problem->ncolumns; c++)
	{
		if (problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
		loss.lost[c] = kanon_alloc0(env, problem->columns[c].distinct, sizeof(int64_t));
		if (loss.lost[c] == NULL)
			status = KANON_NO_MEMORY;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		loss.rows += problem->rows[i];
	loss.total = kanon_alloc(env, distinct, sizeof(int64_t));
	loss.shown = kanon_alloc(env, distinct, sizeof(bool));
	if (loss.total == NULL || loss.shown == NULL)
		status = KANON_NO_MEMORY;
	if (status == KANON_OK)
		status = count_lost(&loss);
	for (int c = 0; c < problem->ncolumns && status == KANON_OK; c++)
		status = measure_column(&loss, c);
	for (int c = 0; c < problem->ncolumns; c++)
		kanon_free(env, loss.lost[c]);
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
