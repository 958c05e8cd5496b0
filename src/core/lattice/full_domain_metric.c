/*
 * full_domain_metric.c: what a node loses.
 *
 * n rows; a node puts them into classes E; s rows are suppressed.  A cell shows
 * g, which stands for the values v that generalize to it; w its column's share
 * of the weights.  Sums are over all cells of all rows, suppressed ones included.
 *
 *	loss			Iyengar, "Transforming data to satisfy privacy constraints",
 *					KDD 2002: mean of w (|g| - 1) / (|D| - 1), |g| the values of
 *					the data that g stands for, D all of them; for a numerical
 *					column the range of the numbers in g by that of D.  1 for a
 *					suppressed cell, of a column with one value, too.
 *	precision		Sweeney, "Achieving k-anonymity privacy protection using
 *					generalization and suppression", 2002: 1 - mean of w r / h,
 *					r of h levels gone.
 *	entropy			de Waal and Willenborg, "Information loss through global
 *					recoding and local suppression", 1999: sum of w log2 (n_g / n_v),
 *					n_g the rows of the table with a value in g, n_v those with v;
 *					n_g = n for a suppressed cell.  As a share of what
 *					suppressing all cells would lose.
 *	discernibility	Bayardo and Agrawal, "Data privacy through optimal
 *					k-anonymization", ICDE 2005: sum of |E|^2, and n for each
 *					suppressed row.
 *	average			LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional
 *					k-anonymity", ICDE 2006: n by the number of classes, the
 *					suppressed rows being one.
 *	height			Samarati, TKDE 2001: sum of the levels.
 *
 * The first three are computed from the information left in a shown cell (1 - its loss):
 * lost = everything - sum over the shown cells.  A metric's value, which is to be
 * least, is an integer (the number of classes, negative, for the average), so the sum is
 * the same in whatever order.  A cell's share is rounded to one unit:
 * two nodes that lose the same by the formula may be some units apart, and count as
 * equal (Metric.tie).
 *
 * A search wants to know what nodes lose before they are checked.  A value is
 * the sum of two parts, one of which only rises from a node to those above it,
 * the other only falls:
 *
 *	cells			what the levels lose, if no row were suppressed; what the cells of
 *					the suppressed rows would have said
 *	discernibility	the squares of all groups, suppressed or not: groups are only
 *					merged; |E| (n - |E|) for each suppressed group E: the groups of
 *					a lower node are parts of E and suppressed as well
 *	average			no class can come about further up but from a class, or from k of
 *					the suppressed rows, and they may be one; nothing
 *	height			itself; nothing
 */
#include <math.h>
#include <string.h>

#include "lattice/lattice.h"
#include "privacy/rules.h"
#include "util/scratch.h"

/* Entropies are less than this many bits. */
#define MOST_BITS 64

/* Scratch for one column: what is known of each of its values. */
typedef struct Values
{
	uint32_t *type;     /* [distinct at level 0] one that has it, or UINT32_MAX: what it becomes is its */
	int64_t *base_rows; /* [distinct at level 0] */
	int64_t *rows;      /* [distinct] */
	uint32_t *count;    /* [distinct] values of level 0 below it */
	double *low;        /* [distinct] halves of the numbers below it */
	double *high;
	const double
		*areas;      /* [distinct] shares of an area that cells of the level lose; NULL: values are counted */
	bool *endless;   /* [distinct] NULL, not-a-number or an infinity is below it */
	double distinct; /* of the whole column, and */
	double range;    /* half that of its finite numbers */
} Values;

/* The values of a quasi-identifier. */
static KanonStatus
gather_base(const KanonProblem *problem, const KanonColumn *base, KanonPace *pace, Values *values)
{
	if (kanon_stop(pace, 2 * (uint64_t) problem->ntypes))
		return KANON_CANCELLED;
	for (uint32_t v = 0; v < base->distinct; v++)
	{
		values->type[v] = UINT32_MAX;
		values->base_rows[v] = 0;
	}
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		values->type[base->code[type]] = type;
		values->base_rows[base->code[type]] += problem->rows[type];
	}
	return KANON_OK;
}

/* The same at one of its levels. */
static void
gather(const KanonColumn *base, const KanonColumn *column, Values *values)
{
	values->areas = column->level > 0 ? column->number : NULL;
	for (uint32_t g = 0; g < column->distinct; g++)
	{
		values->rows[g] = 0;
		values->count[g] = 0;
		values->low[g] = INFINITY;
		values->high[g] = -INFINITY;
		values->endless[g] = false;
	}
	for (uint32_t v = 0; v < base->distinct; v++)
	{
		uint32_t g;

		if (values->type[v] == UINT32_MAX)
			continue;
		g = column->code[values->type[v]];
		values->rows[g] += values->base_rows[v];
		values->count[g]++;
		if (base->number == NULL)
			continue;
		if (!isfinite(base->number[v]))
			values->endless[g] = true;
		values->low[g] = fmin(values->low[g], base->number[v] / 2);
		values->high[g] = fmax(values->high[g], base->number[v] / 2);
	}
}

static void
whole_column(const KanonColumn *base, Values *values)
{
	double low = INFINITY, high = -INFINITY;

	values->distinct = 0;
	for (uint32_t v = 0; v < base->distinct; v++)
	{
		if (values->type[v] == UINT32_MAX)
			continue;
		values->distinct += 1;
		if (base->number != NULL && isfinite(base->number[v]))
		{
			low = fmin(low, base->number[v] / 2);
			high = fmax(high, base->number[v] / 2);
		}
	}
	values->range = high > low ? high - low : 0;
}

/* The information in a cell with that value, 0 .. 1. */
static double
kept_share(const Metric *metric, const Lattice *lattice, int q, int level, bool numerical,
		   const Values *values, uint32_t g)
{
	if (metric->kind == KANON_METRIC_PRECISION)
		return 1 - (double) level / lattice->height[q];
	if (metric->kind == KANON_METRIC_ENTROPY)
		return values->rows[g] > 0 ? log2((double) metric->rows / (double) values->rows[g]) / MOST_BITS : 0;
	if (values->areas != NULL)
		return 1 - values->areas[g];
	if (values->count[g] <= 1)
		return 1;
	if (numerical)
		return values->endless[g] || values->range == 0
				   ? 0
				   : 1 - fmin((values->high[g] - values->low[g]) / values->range, 1);
	return 1 - (values->count[g] - 1) / (values->distinct - 1);
}

/* One level of a quasi-identifier; the level below it is done. */
static KanonStatus
add_level(const KanonProblem *problem, const Lattice *lattice, int q, int level, double weight,
		  KanonPace *pace, Values *values, Metric *metric)
{
	int c = lattice->first[q] + level;
	const KanonColumn *base = &problem->columns[lattice->first[q]];
	const KanonColumn *column = &problem->columns[c];
	uint64_t *kept = kanon_alloc(problem->env, column->distinct, sizeof(uint64_t));

	metric->kept[c] = kept;
	if (kept == NULL)
		return KANON_NO_MEMORY;
	if (kanon_stop(pace, 2 * (uint64_t) base->distinct))
		return KANON_CANCELLED;
	gather(base, column, values);
	whole_column(base, values);
	for (uint32_t g = 0; g < column->distinct; g++)
		kept[g] = (uint64_t) llround(METRIC_UNIT * weight *
									 kept_share(metric, lattice, q, level, base->number != NULL, values, g));
	/* to generalize never says more, not by a rounding either */
	if (level > 0)
	{
		const KanonColumn *below = &problem->columns[c - 1];

		for (uint32_t v = 0; v < base->distinct; v++)
		{
			uint32_t type = values->type[v];

			if (type != UINT32_MAX && kept[column->code[type]] > metric->kept[c - 1][below->code[type]])
				kept[column->code[type]] = metric->kept[c - 1][below->code[type]];
		}
	}
	for (uint32_t g = 0; g < column->distinct; g++)
		metric->kept_sum[c] += (KanonWide) kept[g] * values->rows[g];
	return KANON_OK;
}

static KanonStatus
add_levels(const KanonProblem *problem, const Lattice *lattice, KanonPace *pace, Values *values,
		   Metric *metric)
{
	double total = 0;
	KanonStatus status = KANON_OK;

	for (int c = 0; c < problem->ncolumns; c++)
		total += problem->columns[c].weight;
	for (int q = 0; q < lattice->nqis; q++)
	{
		double weight = 0;

		for (int level = 0; level < lattice->height[q]; level++)
			weight += problem->columns[lattice->first[q] + level].weight;
		if (status == KANON_OK)
			status = gather_base(problem, &problem->columns[lattice->first[q]], pace, values);
		for (int level = 0; level < lattice->height[q] && status == KANON_OK; level++)
			status =
				add_level(problem, lattice, q, level, total > 0 ? weight / total : 0, pace, values, metric);
		metric->everything += metric->kept_sum[lattice->first[q]];
	}
	return status;
}

/* The largest k of what somebody may know: all of it is blank in a suppressed row. */
static int64_t
most_asked(const KanonProblem *problem)
{
	const KanonKnown *known = problem->known;
	int64_t most = known == NULL || known->most > 0 || known->nsets == 0 ? problem->k : 0;

	for (int s = 0; known != NULL && s < known->nsets; s++)
	{
		int64_t k = known->sets[s].k > 0 ? known->sets[s].k : problem->k;

		most = k > most ? k : most;
	}
	return most;
}

KanonStatus
metric_open(const KanonProblem *problem, const Lattice *lattice, KanonMetric kind, KanonPace *pace,
			Metric *metric)
{
	KanonScratch scratch = {.env = problem->env};
	uint32_t distinct = 0;
	Values values;
	KanonStatus status;

	memset(metric, 0, sizeof(*metric));
	metric->kind = kind;
	metric->k = kanon_least_rows(problem);
	metric->blank = most_asked(problem);
	metric->fill = problem->residual == KANON_RESIDUAL_FILL && !kanon_by_types(problem) ? metric->blank : 0;
	metric->of_cells =
		kind == KANON_METRIC_LOSS || kind == KANON_METRIC_PRECISION || kind == KANON_METRIC_ENTROPY;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		metric->rows += problem->rows[type];
	/* rows of a class of more than half of all cost less when they are suppressed */
	if (kind == KANON_METRIC_DISCERNIBILITY)
		metric->slack = problem->residual == KANON_RESIDUAL_FILL && problem->privacy != NULL
							? (KanonWide) metric->rows * metric->rows / 4 + 1
							: (KanonWide) metric->fill * metric->rows;
	if (!metric->of_cells)
		return KANON_OK;
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
	values.type = kanon_take(&scratch, distinct, sizeof(uint32_t));
	values.base_rows = kanon_take(&scratch, distinct, sizeof(int64_t));
	values.rows = kanon_take(&scratch, distinct, sizeof(int64_t));
	values.count = kanon_take(&scratch, distinct, sizeof(uint32_t));
	values.low = kanon_take(&scratch, distinct, sizeof(double));
	values.high = kanon_take(&scratch, distinct, sizeof(double));
	values.endless = kanon_take(&scratch, distinct, sizeof(bool));
	status = kanon_taken(&scratch);
	if (status == KANON_OK)
		status = add_levels(problem, lattice, pace, &values, metric);
	metric->tie = (KanonWide) METRIC_OFF * metric->rows * lattice->nqis;
	kanon_scratch_free(&scratch);
	return status;
}

void
metric_close(const KanonProblem *problem, Metric *metric)
{
	for (int c = 0; c < problem->ncolumns; c++)
		kanon_free(problem->env, metric->kept[c]);
	memset(metric->kept, 0, sizeof(metric->kept));
}

/* The loss of the generalized cells, if no row is suppressed. */
static KanonWide
lost_by_levels(const Metric *metric, const Lattice *lattice, const uint16_t *level)
{
	KanonWide lost = metric->everything;

	for (int q = 0; q < lattice->nqis; q++)
		if (level[q] < lattice->height[q])
			lost -= metric->kept_sum[lattice->first[q] + level[q]];
	return lost;
}

KanonWide
metric_floor(const Metric *metric, const Lattice *lattice, const uint16_t *level)
{
	KanonWide height = 0;

	for (int q = 0; q < lattice->nqis && metric->kind == KANON_METRIC_HEIGHT; q++)
		height += level[q];
	if (metric->kind == KANON_METRIC_HEIGHT)
		return height;
	if (metric->kind == KANON_METRIC_AVERAGE)
		return -(KanonWide) metric->rows;
	return metric->of_cells ? lost_by_levels(metric, lattice, level) : 0;
}

KanonWide
metric_rising(const Metric *metric, const Lattice *lattice, const uint16_t *level, const Count *count)
{
	if (metric->kind == KANON_METRIC_DISCERNIBILITY)
		return count->squares;
	if (metric->kind == KANON_METRIC_AVERAGE)
		return -(KanonWide) count->classes - (count->suppressed > 0 ? count->suppressed / metric->k + 1 : 0);
	return metric_floor(metric, lattice, level);
}

KanonWide
metric_falling(const Metric *metric, const Count *count)
{
	/* (a class of more than half of all rows is dearer than they are when they are suppressed) */
	if (metric->kind == KANON_METRIC_DISCERNIBILITY)
		return count->class_squares + (KanonWide) count->suppressed * metric->rows - count->squares -
			   metric->slack;
	return metric->of_cells ? count->kept : 0;
}

KanonWide
metric_of(const Metric *metric, const Lattice *lattice, const uint16_t *level, const Count *count)
{
	if (metric->kind == KANON_METRIC_AVERAGE)
		return -(KanonWide) count->classes - (count->suppressed > 0) + count->loss;
	return metric_rising(metric, lattice, level, count) + metric_falling(metric, count) + metric->slack +
		   count->loss;
}

KanonWide
metric_suppressing(const Metric *metric, int64_t rows, KanonWide kept, int64_t suppressed)
{
	KanonWide left = rows - suppressed;

	switch (metric->kind)
	{
		case KANON_METRIC_DISCERNIBILITY:
			return (KanonWide) suppressed * metric->rows - (KanonWide) rows * rows + left * left;
		case KANON_METRIC_AVERAGE:
			return left == 0;
		case KANON_METRIC_HEIGHT:
			return 0;
		case KANON_METRIC_LOSS:
		case KANON_METRIC_PRECISION:
		case KANON_METRIC_ENTROPY:
			break;
	}
	return kept * suppressed;
}

double
metric_shown(const Metric *metric, KanonWide value)
{
	double rows = (double) metric->rows;

	switch (metric->kind)
	{
		case KANON_METRIC_LOSS:
			return rows > 0 ? (double) value / (rows * METRIC_UNIT) : 0;
		case KANON_METRIC_PRECISION:
			return rows > 0 ? 1 - (double) value / (rows * METRIC_UNIT) : 1;
		case KANON_METRIC_ENTROPY:
			return metric->everything > 0 ? (double) value / (double) metric->everything : 0;
		case KANON_METRIC_AVERAGE:
			return value != 0 ? rows / -(double) value : 0;
		case KANON_METRIC_DISCERNIBILITY:
		case KANON_METRIC_HEIGHT:
			break;
	}
	return (double) value;
}
