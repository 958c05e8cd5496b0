/*
 * measure_loss.c: what was lost, quasi-identifier by quasi-identifier, by the
 * measures of the literature.
 *
 * Notation: n rows in the table (published or left out), d quasi-identifiers, w_c the
 * weight of quasi-identifier c (all its levels together), D_c its distinct values, n_v
 * the rows that have the value v in it.  A cell stands for a set v' of values, which
 * n_v' rows have: itself alone; those under a node of its hierarchy (level r of L,
 * suppression being level L); those from one end of a range to the other; those of a
 * set; or, suppressed, every value.  Column c has lost_c suppressed cells; those of
 * rows that are left out are among them.
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
 *                   times, for a numerical quasi-identifier, the range of the
 *                   numbers that a cell stands for by that of them all, for any
 *                   other, and for a set, |v'| / |D_c|; nothing for a single
 *                   value.
 *   gcp             Ghinita et al., "Fast data anonymization with low information
 *                   loss", VLDB 2007: ncp / (n sum of w_c).
 *   precision       Sweeney, "Achieving k-anonymity privacy protection using
 *                   generalization and suppression", 2002: 1 - mean over the
 *                   cells of the height in the hierarchy by its full height,
 *                   r / L; with suppression alone a cell is at the bottom or the
 *                   top.  A range or a set is at no height: not a number, then.
 *   entropy         non-uniform entropy: Gionis and Tassa, "k-Anonymization with
 *                   minimal loss of information", TKDE 2009, after de Waal and
 *                   Willenborg: sum over the cells of -log2 of the share that
 *                   its value has among the rows with a value that the cell
 *                   stands for: -log2 (n_v / n_v').
 *
 * All but precision are finite for every input: a suppressed cell stands for the
 * whole column, whatever that holds (NULL, not-a-number and infinities are
 * values), so its range is all of the column's.
 *
 * The bits of a node are added up level by level: between two levels they are
 * those of the finer node's rows among the coarser one's.
 */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "util/pace.h"
#include "util/sort.h"
#include "util/scratch.h"

/* Flows ahead whose classes are fetched into the processor's memory. */
#define AHEAD 16

/* A value, or what some generalize to. */
typedef struct Node
{
	int64_t total; /* rows that have it */
	int64_t here;  /* cells that show it and no finer one */
	double low;    /* least number under it; NaN: there is a NULL */
	double high;
	uint32_t values; /* the table's values under it */
} Node;

/* Sums over the cells of a quasi-identifier that no column measure has. */
typedef struct QiLoss
{
	int64_t levels; /* suppressed ones */
	double values;  /* |v'| - 1 where it is neither a value nor suppressed */
	double ncp;     /* there, too */
	bool several;   /* a range or a set is shown */
} QiLoss;

typedef struct Loss
{
	KanonScratch memory;
	const KanonProblem *problem;
	const KanonRelease *release;
	KanonColumnMeasures *columns; /* [nqis] */
	KanonPace pace;
	int nqis;
	int first[KANON_MAX_COLUMNS + 1]; /* columns of level 0 */
	QiLoss qis[KANON_MAX_COLUMNS];
	int64_t rows; /* n */
	int64_t dropped;
	int64_t *lost[KANON_MAX_COLUMNS]; /* [distinct] cells that hid a value, by column */
	int64_t *total;                   /* [most distinct] rows that have it, of one column */
	bool *shown;                      /* [most distinct] */

	/* levels */
	Node *below; /* [most distinct], as above */
	Node *above;
	uint32_t *parent; /* [most distinct] in above, of one in below */

	/* ranges and sets, of one column */
	int64_t *before;   /* [most distinct + 1] rows with smaller codes */
	int64_t *holds;    /* [nclasses] n_v'; 0: a class that shows none */
	uint32_t *showing; /* [nclasses] classes that show one */
	uint32_t *scratch; /* [nclasses] */
	double range;      /* of its numbers, in units of scale */
	double scale;
} Loss;

/* -log2 of the share that count has in all, exact where that is almost 1 or 0. */
static double
bits(int64_t count, int64_t all)
{
	return log1p((double) (all - count) / (double) count) / log(2);
}

static const KanonCell *
cell_of(const Loss *loss, uint32_t class, int c)
{
	return &loss->release->cells[class * (size_t) loss->problem->ncolumns + (size_t) c];
}

/* The columns of a class of which nothing is shown, nor a range or a set beside them. */
static KanonPattern
hidden_columns(const Loss *loss, uint32_t class)
{
	KanonPattern hidden = loss->release->classes[class].pattern;

	for (int q = 0; q < loss->nqis; q++)
		if (kanon_shows_several(*cell_of(loss, class, loss->first[q])))
			hidden = kanon_minus(hidden, kanon_span(loss->first[q], loss->first[q + 1]));
	return hidden;
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
		bool dropped = flow->class_ == KANON_DROPPED;
		KanonPattern hidden = dropped              ? all
							  : release->npool > 0 ? hidden_columns(loss, flow->class_)
												   : release->classes[flow->class_].pattern;

		if (kanon_stop(&loss->pace, 2))
			return KANON_CANCELLED;
		/* (classes of one type and of the next lie anywhere in memory) */
		if (i + AHEAD < release->nflows && flow[AHEAD].class_ != KANON_DROPPED)
			__builtin_prefetch(&release->classes[flow[AHEAD].class_]);
		if (dropped)
			loss->dropped += flow->rows;
		KANON_EACH (c, hidden)
			loss->lost[c][problem->columns[c].code[flow->type]] += flow->rows;
	}
	for (int q = 0; q < loss->nqis; q++)
		for (int c = loss->first[q]; c < loss->first[q + 1]; c++)
		{
			int64_t lost = 0;

			for (uint32_t v = 0; v < problem->columns[c].distinct; v++)
				lost += loss->lost[c][v];
			loss->qis[q].levels += lost;
			loss->columns[q].lost = lost; /* in the end that of the last level */
		}
	return KANON_OK;
}

/* Which codes of a column are shown, where the column below it is not? */
static KanonStatus
mark_shown(Loss *loss, int c)
{
	const KanonColumn *column = &loss->problem->columns[c];
	const KanonRelease *release = loss->release;
	const KanonCell *cells = release->cells;
	size_t at = (size_t) c;
	bool upper = column->level > 0;
	bool *shown = loss->shown;

	memset(shown, 0, column->distinct * sizeof(bool));
	for (uint32_t i = 0; i < release->nclasses; i++, at += (size_t) loss->problem->ncolumns)
	{
		if (kanon_stop(&loss->pace, 1))
			return KANON_CANCELLED;
		if (cells[at].show == KANON_SHOW_VALUE && !(upper && cells[at - 1].show == KANON_SHOW_VALUE))
			shown[cells[at].code] = true;
	}
	return KANON_OK;
}

/* How many of them; a NULL that is shown stays NULL at every level, and is counted once. */
static uint32_t
count_shown(const Loss *loss, int c, bool *null_shown)
{
	const KanonColumn *column = &loss->problem->columns[c];
	uint32_t n = 0;

	for (uint32_t v = 0; v < column->distinct; v++)
	{
		bool is_null = column->has_null && v == column->distinct - 1;

		n += loss->shown[v] && !(is_null && *null_shown);
		*null_shown = *null_shown || (is_null && loss->shown[v]);
	}
	return n;
}

/* The nodes of column c + 1, from those of c in below, into above. */
static KanonStatus
climb(Loss *loss, int c)
{
	const KanonColumn *column = &loss->problem->columns[c];
	const KanonColumn *next = &loss->problem->columns[c + 1];

	for (uint32_t i = 0; i < loss->problem->ntypes; i++)
	{
		if (kanon_stop(&loss->pace, 1))
			return KANON_CANCELLED;
		loss->parent[column->code[i]] = next->code[i];
	}
	for (uint32_t p = 0; p < next->distinct; p++)
		loss->above[p] = (Node){.here = -loss->lost[c + 1][p], .low = INFINITY, .high = -INFINITY};
	for (uint32_t w = 0; w < column->distinct; w++)
	{
		const Node *node = &loss->below[w];
		Node *parent = &loss->above[loss->parent[w]];

		if (node->total == 0)
			continue;
		parent->total += node->total;
		parent->here += loss->lost[c][w];
		parent->values += node->values;
		if (node->low < parent->low || isnan(node->low))
			parent->low = node->low;
		if (node->high > parent->high || isnan(node->high))
			parent->high = node->high;
	}
	return KANON_OK;
}

/* The loss of cells that show a node, and the bits between the levels. */
static KanonStatus
measure_levels(Loss *loss, int q, bool *null_shown)
{
	const KanonColumn *values = &loss->problem->columns[loss->first[q]];
	KanonColumnMeasures *measures = &loss->columns[q];
	QiLoss *qi = &loss->qis[q];

	for (uint32_t v = 0; v < values->distinct; v++)
	{
		double number = values->number != NULL ? values->number[v] : 0;

		loss->below[v] = (Node){loss->total[v], 0, number, number, loss->total[v] > 0};
	}
	for (int c = loss->first[q]; c < loss->first[q + 1]; c++)
	{
		bool top = c + 1 == loss->first[q + 1];
		KanonStatus status = top ? KANON_OK : climb(loss, c);
		Node *swap = loss->below;

		if (status == KANON_OK && !top)
			status = mark_shown(loss, c + 1);
		if (status != KANON_OK)
			return status;
		if (!top)
			measures->shown += count_shown(loss, c + 1, null_shown);
		for (uint32_t w = 0; w < loss->problem->columns[c].distinct; w++)
			if (loss->below[w].total > 0)
				measures->entropy +=
					(double) loss->lost[c][w] *
					bits(loss->below[w].total, top ? loss->rows : loss->above[loss->parent[w]].total);
		for (uint32_t p = 0; !top && p < loss->problem->columns[c + 1].distinct; p++)
		{
			const Node *node = &loss->above[p];
			const double *areas = loss->problem->columns[c + 1].number;

			if (areas != NULL)
				qi->ncp += (double) node->here * areas[p];
			if (node->values < 2)
				continue; /* nothing lost with a name for a single value */
			qi->values += (double) node->here * (node->values - 1);
			if (areas != NULL)
				continue;
			qi->ncp +=
				(double) node->here *
				(values->number != NULL ? kanon_range_share(loss->range, loss->scale, node->low, node->high)
										: (double) node->values / values->distinct);
		}
		loss->below = loss->above;
		loss->above = swap;
	}
	return KANON_OK;
}

static int
compare_showing(const void *a, const void *b, void *arg)
{
	const Loss *loss = ((void **) arg)[0];
	int c = *(const int *) ((void **) arg)[1];

	return kanon_compare_shown(loss->release, *cell_of(loss, *(const uint32_t *) a, c),
							   *cell_of(loss, *(const uint32_t *) b, c));
}

/* How many different ranges and sets n classes show in column c. */
static uint32_t
count_different(Loss *loss, int c, uint32_t n)
{
	void *arg[] = {loss, &c};
	uint32_t different = n > 0;

	kanon_sort(loss->showing, loss->scratch, n, sizeof(uint32_t), compare_showing, arg);
	for (uint32_t i = 1; i < n; i++)
		different += compare_showing(&loss->showing[i - 1], &loss->showing[i], arg) != 0;
	return different;
}

/* The loss of cells that show a range or a set. */
static KanonStatus
measure_several(Loss *loss, int q)
{
	int c = loss->first[q];
	const KanonColumn *column = &loss->problem->columns[c];
	const KanonRelease *release = loss->release;
	QiLoss *qi = &loss->qis[q];
	uint32_t n = 0;

	loss->before[0] = 0;
	for (uint32_t v = 0; v < column->distinct; v++)
		loss->before[v + 1] = loss->before[v] + loss->total[v];
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		const KanonCell *cell = cell_of(loss, i, c);
		const uint32_t *code = release->pool + cell->code;
		double rows = (double) release->classes[i].rows;
		uint32_t values;

		loss->holds[i] = 0;
		if (kanon_stop(&loss->pace, 1))
			return KANON_CANCELLED;
		if (!kanon_shows_several(*cell))
			continue;
		loss->showing[n++] = i;
		if (cell->show == KANON_SHOW_RANGE)
		{
			values = code[1] - code[0] + 1;
			loss->holds[i] = loss->before[code[1] + 1] - loss->before[code[0]];
		}
		else
		{
			values = code[0];
			for (uint32_t j = 1; j <= values; j++)
				loss->holds[i] += loss->total[code[j]];
			loss->pace.work += values;
		}
		qi->values += rows * (values - 1);
		qi->ncp += rows * (cell->show == KANON_SHOW_RANGE && column->number != NULL
							   ? kanon_range_share(loss->range, loss->scale, column->number[code[0]],
												   column->number[code[1]])
							   : (double) values / column->distinct);
	}
	if (n == 0)
		return KANON_OK;
	qi->several = true;
	loss->columns[q].shown += count_different(loss, c, n);
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];

		if (kanon_stop(&loss->pace, 2))
			return KANON_CANCELLED;
		if (flow->class_ != KANON_DROPPED && loss->holds[flow->class_] > 0)
			loss->columns[q].entropy +=
				(double) flow->rows * bits(loss->total[column->code[flow->type]], loss->holds[flow->class_]);
	}
	return KANON_OK;
}

static KanonStatus
measure_qi(Loss *loss, int q)
{
	int c = loss->first[q];
	const KanonColumn *column = &loss->problem->columns[c];
	KanonColumnMeasures *measures = &loss->columns[q];
	bool has_levels = loss->first[q + 1] > c + 1;
	bool null_shown = false;
	KanonStatus status;

	memset(loss->total, 0, column->distinct * sizeof(int64_t));
	for (uint32_t type = 0; type < loss->problem->ntypes; type++)
	{
		if (kanon_stop(&loss->pace, 1))
			return KANON_CANCELLED;
		loss->total[column->code[type]] += loss->problem->rows[type];
	}
	status = mark_shown(loss, c);
	if (status != KANON_OK)
		return status;
	measures->shown = count_shown(loss, c, &null_shown);
	for (uint32_t i = 0; i < loss->release->nclasses; i++)
		for (int level = c; level < loss->first[q + 1]; level++)
		{
			const KanonColumn *shown = &loss->problem->columns[level];
			const KanonCell *cell = cell_of(loss, i, level);
			int64_t rows = loss->release->classes[i].rows;
			bool null = shown->has_null && cell->code == shown->distinct - 1;

			if (cell->show != KANON_SHOW_VALUE)
				continue;
			measures->kept += level == c ? rows : 0;
			measures->kept_nulls += level == c && null ? rows : 0;
			measures->nulls += null ? rows : 0;
			break; /* the first that is shown is the finest */
		}
	for (uint32_t v = 0; v < column->distinct; v++)
		if (loss->total[v] > 0)
		{
			double hides = bits(loss->total[v], loss->rows);

			if (!has_levels)
				measures->entropy += (double) loss->lost[c][v] * hides;
			measures->entropy_all += (double) loss->total[v] * hides;
		}
	if (column->number != NULL && (has_levels || loss->release->npool > 0))
		loss->range = kanon_number_range(column, &loss->scale);
	if (has_levels)
		status = measure_levels(loss, q, &null_shown);
	if (status == KANON_OK && loss->release->npool > 0)
		status = measure_several(loss, q);
	measures->suppressed = measures->lost - loss->dropped;
	/* who knows the only value there is loses nothing with it */
	if (loss->rows > 0 && column->distinct > 1)
		measures->ncp = ((double) measures->lost + loss->qis[q].ncp) / (double) loss->rows;
	return status;
}

/* Memory for as much as there is to look at. */
static KanonStatus
allocate(Loss *loss)
{
	const KanonProblem *problem = loss->problem;
	KanonScratch *scratch = &loss->memory;
	size_t nclasses = loss->release->nclasses;
	size_t distinct = 0;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		if (problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
		loss->lost[c] = kanon_take0(scratch, problem->columns[c].distinct, sizeof(int64_t));
	}
	loss->total = kanon_take(scratch, distinct, sizeof(int64_t));
	loss->shown = kanon_take(scratch, distinct, sizeof(bool));
	if (loss->nqis < problem->ncolumns)
	{
		loss->below = kanon_take(scratch, distinct, sizeof(Node));
		loss->above = kanon_take(scratch, distinct, sizeof(Node));
		loss->parent = kanon_take0(scratch, distinct, sizeof(uint32_t));
	}
	if (loss->release->npool > 0)
	{
		loss->before = kanon_take(scratch, distinct + 1, sizeof(int64_t));
		loss->holds = kanon_take(scratch, nclasses, sizeof(int64_t));
		loss->showing = kanon_take(scratch, nclasses, sizeof(uint32_t));
		loss->scratch = kanon_take(scratch, nclasses, sizeof(uint32_t));
	}
	return kanon_taken(scratch);
}

/* Fills loss->columns and loss->qis; problem, release and columns are set. */
static KanonStatus
measure_qis(Loss *loss)
{
	const KanonProblem *problem = loss->problem;
	KanonEnv *env = problem->env;
	KanonStatus status;

	loss->pace = kanon_pace_at_once(env, "measure");
	loss->nqis = kanon_count_qis(problem);
	for (int q = 0; q <= loss->nqis; q++)
		loss->first[q] = kanon_first_column(problem, q);
	memset(loss->columns, 0, (size_t) loss->nqis * sizeof(KanonColumnMeasures));
	for (uint32_t i = 0; i < problem->ntypes; i++)
		loss->rows += problem->rows[i];
	loss->memory.env = env;
	status = allocate(loss);
	if (status == KANON_OK)
		status = count_lost(loss);
	for (int q = 0; q < loss->nqis && status == KANON_OK; q++)
	{
		loss->pace.share = (1 + (double) q / loss->nqis) / 2;
		status = measure_qi(loss, q);
	}
	kanon_scratch_free(&loss->memory);
	return status;
}

KanonStatus
kanon_measure_columns(const KanonProblem *problem, const KanonRelease *release, KanonColumnMeasures *columns)
{
	Loss loss = {.problem = problem, .release = release, .columns = columns};

	return measure_qis(&loss);
}

KanonStatus
kanon_measure_loss(const KanonProblem *problem, const KanonRelease *release, KanonMeasures *measures)
{
	const KanonColumnMeasures *columns = measures->columns;
	Loss loss = {.problem = problem, .release = release, .columns = measures->columns};
	double rows = (double) measures->rows + (double) release->dropped;
	double weights = 0, heights = 0, entropy_all = 0;
	KanonStatus status = measure_qis(&loss);

	for (int q = 0; q < loss.nqis && status == KANON_OK; q++)
	{
		double values = problem->columns[loss.first[q]].distinct;
		double weight = 0;

		for (int c = loss.first[q]; c < loss.first[q + 1]; c++)
			weight += problem->columns[c].weight;
		weights += weight;
		heights +=
			loss.qis[q].several ? NAN : (double) loss.qis[q].levels / (loss.first[q + 1] - loss.first[q]);
		if (values > 0)
			measures->iloss += weight * (double) columns[q].lost * ((values - 1) / values) +
							   weight * loss.qis[q].values / values;
		measures->ncp += weight * columns[q].ncp * rows;
		measures->entropy += columns[q].entropy;
		entropy_all += columns[q].entropy_all;
	}
	measures->gcp = rows > 0 && weights > 0 ? measures->ncp / (rows * weights) : 0;
	measures->precision = rows > 0 ? 1 - heights / (rows * loss.nqis) : 1;
	measures->entropy_share = entropy_all > 0 ? measures->entropy / entropy_all : 0;
	return status;
}
