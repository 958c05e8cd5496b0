/*
 * test_full_domain.c: every search against an exhaustive one that takes the
 * definitions at their word; Adult's figures; memory, cancelling, teams.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "exact.h"
#include "fixture.h"
#include "util/pace.h"
#include "lattice/lattice.h"
#include "privacy/rules.h"
#include "model/model.h"
#include "util/sort.h"
#include "privacy/population.h"

/* ---- the definitions ---- */

typedef struct Plain
{
	const KanonProblem *problem;
	int nqis;
	int first[KANON_MAX_COLUMNS + 1];
	int level[KANON_MAX_COLUMNS];
	int64_t n;
	int64_t limit; /* rows that may be suppressed */
	int64_t suppressed;
	int64_t classes;
	bool left_over;
	bool absent; /* a tuple of a population has too small a chance */
	double value;
} Plain;

static int
height_of(const Plain *plain, int q)
{
	return plain->first[q + 1] - plain->first[q];
}

static void
plain_open(Plain *plain, const KanonProblem *problem)
{
	memset(plain, 0, sizeof(*plain));
	plain->problem = problem;
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].level == 0)
			plain->first[plain->nqis++] = c;
	plain->first[plain->nqis] = problem->ncolumns;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		plain->n += problem->rows[i];
}

/* The next node, or false after the last. */
static bool
plain_next(Plain *plain)
{
	for (int q = plain->nqis - 1; q >= 0; q--)
	{
		if (++plain->level[q] <= height_of(plain, q))
			return true;
		plain->level[q] = 0;
	}
	return false;
}

static bool
same_class(const Plain *plain, uint32_t a, uint32_t b)
{
	for (int q = 0; q < plain->nqis; q++)
		if (plain->level[q] < height_of(plain, q))
		{
			const uint32_t *code = plain->problem->columns[plain->first[q] + plain->level[q]].code;

			if (code[a] != code[b])
				return false;
		}
	return true;
}

/* What one cell of a row type loses at a level. */
static double
cell_loss(const Plain *plain, KanonMetric metric, int q, int level, uint32_t type)
{
	const KanonProblem *problem = plain->problem;
	const KanonColumn *base = &problem->columns[plain->first[q]];
	const KanonColumn *here = &problem->columns[plain->first[q] + level];
	bool whole = level == height_of(plain, q);
	double below[2] = {0, 0}; /* values below the cell, and in all */
	double low[2] = {INFINITY, INFINITY};
	double high[2] = {-INFINITY, -INFINITY};
	bool endless = false;
	double rows = 0;
	double own = 0;

	if (metric == KANON_METRIC_PRECISION)
		return (double) level / height_of(plain, q);
	for (uint32_t v = 0; v < base->distinct; v++)
	{
		int64_t count = 0;
		bool in = false;

		for (uint32_t i = 0; i < problem->ntypes; i++)
			if (base->code[i] == v)
			{
				count += problem->rows[i];
				in = in || whole || here->code[i] == here->code[type];
			}
		if (count == 0)
			continue;
		below[1]++;
		below[0] += in;
		rows += in ? (double) count : 0;
		if (v == base->code[type])
			own = (double) count;
		if (base->number == NULL)
			continue;
		endless = endless || (in && isnan(base->number[v]));
		for (int i = in ? 0 : 1; i < 2; i++)
		{
			low[i] = fmin(low[i], base->number[v]);
			high[i] = fmax(high[i], base->number[v]);
		}
	}
	if (metric == KANON_METRIC_ENTROPY)
		return log2(rows / own);
	if (whole)
		return 1;
	if (below[0] <= 1)
		return 0;
	if (base->number == NULL)
		return (below[0] - 1) / (below[1] - 1);
	return endless ? 1 : (high[0] - low[0]) / (high[1] - low[1]);
}

static double
row_loss(const Plain *plain, KanonMetric metric, uint32_t type, bool suppressed)
{
	double loss = 0;
	double weights = 0;

	for (int q = 0; q < plain->nqis; q++)
	{
		double weight = 0;

		for (int c = plain->first[q]; c < plain->first[q + 1]; c++)
			weight += plain->problem->columns[c].weight;
		weights += weight;
		loss +=
			weight * cell_loss(plain, metric, q, suppressed ? height_of(plain, q) : plain->level[q], type);
	}
	return loss / weights;
}

/* How often rules about a population decided something. */
static int forbidden;
static int mapped;

/* ... and in persons. */
static int persons;
static int absent;

/* Suppressed rows that were filled up: by a part of a class, by a whole one, by parts of several. */
static int filled[3];

/* Does a tuple of a population show at the node at hand what a row type does? */
static bool
matches(const Plain *plain, const KanonPopulation *population, uint32_t tuple, uint32_t type)
{
	for (int q = 0; q < plain->nqis; q++)
		if (plain->level[q] < height_of(plain, q))
		{
			int c = plain->first[q] + plain->level[q];

			if (population->code[c][tuple] != plain->problem->columns[c].code[type])
				return false;
		}
	return true;
}

static bool
is_chance(const KanonPopulation *population, int64_t rows, int64_t of)
{
	return (double) rows <= population->most * (double) of + 1e-9 &&
		   (double) rows >= population->least * (double) of - 1e-9;
}

/* The share of a population that shows at the node at hand what a row type does. */
static double
share_of(const Plain *plain, const KanonPopulation *population, uint32_t type)
{
	double share = 1;

	for (int q = 0; q < plain->nqis; q++)
	{
		int c = plain->first[q] + plain->level[q];
		double sum = 0;

		if (plain->level[q] == height_of(plain, q))
			continue;
		for (uint32_t v = 0; v < population->nvalues[q]; v++)
			if (population->code[c][v] == plain->problem->columns[c].code[type])
				sum += population->share[q][v];
		share *= sum;
	}
	return share;
}

/* X of n rows, each with the probability p: how probable is it that r / (r + X) is within the bounds?  Term by term. */
static bool
is_likely(const KanonPopulation *population, int64_t r, int64_t n, double p)
{
	double sum = 0;

	p = fmin(fmax(p, 0), 1);
	for (int64_t x = 0; x <= n; x++)
		if (is_chance(population, r, r + x))
			sum += p <= 0 ? x == 0
				   : p >= 1
					   ? x == n
					   : exp(lgamma((double) n + 1) - lgamma((double) x + 1) - lgamma((double) (n - x) + 1) +
							 (double) x * log(p) + (double) (n - x) * log1p(-p));
	return sum >= population->confidence * (1 - 1e-8);
}

/* May the row types that show what this one does, with so many rows, be a class by the populations? */
static bool
populations_allow(const Plain *plain, uint32_t type, int64_t rows)
{
	for (int p = 0; p < plain->problem->npopulations; p++)
	{
		const KanonPopulation *population = &plain->problem->populations[p];
		int64_t found;
		bool *alike;

		if (population->nvalues != NULL)
		{
			if (is_likely(population, rows, population->total - plain->n, share_of(plain, population, type)))
				continue;
			forbidden++;
			return false;
		}
		alike = calloc(population->ntypes + 1, sizeof(bool));
		for (uint32_t tuple = 0; tuple < population->ntypes; tuple++)
			alike[tuple] = matches(plain, population, tuple, type);
		found = diverse_found(population, alike);
		free(alike);
		if (population->map ? found < plain->problem->k : !is_chance(population, rows, found))
		{
			forbidden++;
			return false;
		}
		mapped += population->map && rows < plain->problem->k;
		persons += population->person != NULL;
	}
	return true;
}

/* May so many rows be all that there is of the tuples that match no class? */
static bool
populations_rest(const Plain *plain, const bool *in_class, int64_t rows)
{
	for (int p = 0; p < plain->problem->npopulations; p++)
	{
		const KanonPopulation *population = &plain->problem->populations[p];
		int64_t others = 0;

		if (population->nvalues != NULL)
		{
			double share = 1;

			/* each class once: by its first row type */
			for (uint32_t type = 0; type < plain->problem->ntypes; type++)
			{
				bool first = in_class[type];

				for (uint32_t before = 0; before < type && first; before++)
					first = !same_class(plain, before, type);
				share -= first ? share_of(plain, population, type) : 0;
			}
			if (rows > 0 && !is_likely(population, rows, population->total - plain->n, share))
				return false;
			continue;
		}
		for (uint32_t tuple = 0; tuple < population->ntypes; tuple++)
		{
			bool found = false;

			for (uint32_t type = 0; type < plain->problem->ntypes && !found; type++)
				found = in_class[type] && matches(plain, population, tuple, type);
			others += found ? 0 : population->rows[tuple];
		}
		if (population->map ? rows > 0 && population->total < plain->problem->k
							: !is_chance(population, rows, others))
			return false;
	}
	return true;
}

/* Every way to suppress rows of classes until the suppressed rows are k, of which no part would do. */
typedef struct Ways
{
	int64_t k;
	int64_t n;
	int64_t nclasses;
	const int64_t *class_rows;
	const double *class_more; /* what suppressing a row of it adds, by cells */
	KanonMetric metric;
	int64_t fill; /* rows that are missing */
	int64_t room; /* that the limit leaves */
	int64_t *take;

	/* the best so far: within the limit, then the least loss, then the fewest rows */
	bool any;
	int64_t rows;
	double loss;
	int64_t emptied;
	int64_t givers;
} Ways;

/* The next smaller number of rows that a class can give; -1: it gives none. */
static int64_t
give_less(const Ways *ways, int64_t i)
{
	int64_t take = ways->take[i], most = ways->class_rows[i] - ways->k;

	return take == 0 ? -1 : take == ways->class_rows[i] ? (most > 0 ? most : 0) : take - 1;
}

static void
one_way(Ways *ways)
{
	int64_t rows = 0, emptied = 0, givers = 0;
	double loss = 0;
	bool fits, before;

	for (int64_t i = 0; i < ways->nclasses; i++)
	{
		double had = (double) ways->class_rows[i], left = (double) (ways->class_rows[i] - ways->take[i]);

		rows += ways->take[i];
		givers += ways->take[i] > 0;
		emptied += ways->take[i] > 0 && left == 0;
		if (ways->metric == KANON_METRIC_DISCERNIBILITY)
			loss += (double) (ways->take[i] * ways->n) - had * had + left * left;
		else if (ways->metric != KANON_METRIC_AVERAGE && ways->metric != KANON_METRIC_HEIGHT)
			loss += (double) ways->take[i] * ways->class_more[i];
	}
	if (ways->metric == KANON_METRIC_AVERAGE)
		loss = (double) emptied;
	if (rows < ways->fill)
		return;
	for (int64_t i = 0; i < ways->nclasses; i++)
		if (ways->take[i] > 0 && rows - ways->take[i] + give_less(ways, i) >= ways->fill)
			return;
	fits = rows <= ways->room;
	before = ways->rows <= ways->room;
	if (ways->any && fits != before
			? before
			: ways->any && (!fits || fabs(loss - ways->loss) <= 1e-9 * (1 + fabs(loss)) ? rows >= ways->rows
																						: loss > ways->loss))
		return;
	ways->any = true;
	ways->rows = rows;
	ways->loss = loss;
	ways->emptied = emptied;
	ways->givers = givers;
}

static void
every_way(Ways *ways, int64_t class)
{
	int64_t rows = 0;

	for (int64_t i = 0; i < class; i++)
		rows += ways->take[i];
	/* (with enough rows further ones would do no good) */
	if (class == ways->nclasses || rows >= ways->fill)
	{
		one_way(ways);
		return;
	}
	for (int64_t take = 0; take <= ways->class_rows[class] - ways->k && take <= ways->fill; take++)
	{
		ways->take[class] = take;
		every_way(ways, class + 1);
	}
	ways->take[class] = ways->class_rows[class];
	every_way(ways, class + 1);
	ways->take[class] = 0;
}

static int mended[3]; /* without an emptied class, with one, with several */

/* Every choice of rows of classes that are suppressed beside those that are no class, under rules. */
typedef struct Mends
{
	const Plain *plain;
	KanonMetric metric;
	const uint32_t *class_of; /* [ntypes] UINT32_MAX: none */
	const double *more;       /* [nclasses] by cells */
	int64_t nclasses;
	int64_t room;
	int64_t *take; /* [ntypes] */
	bool any;
	int64_t rows;
	double loss;
	int64_t emptied;
} Mends;

/* Is what is left of a class one; UINT32_MAX: are the suppressed rows?  *rows: how many, and *had. */
static bool
keeps(const Mends *mends, uint32_t class, int64_t *rows, int64_t *had)
{
	const KanonProblem *problem = mends->plain->problem;
	uint32_t *types = malloc((problem->ntypes + 1) * sizeof(uint32_t));
	int64_t *counts = malloc((problem->ntypes + 1) * sizeof(int64_t));
	size_t n = 0;
	bool allowed;

	*rows = *had = 0;
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		bool here = mends->class_of[type] == class;
		int64_t count = class == UINT32_MAX ? (here ? problem->rows[type] : mends->take[type])
											: (here ? problem->rows[type] - mends->take[type] : 0);

		*had += here ? problem->rows[type] : 0;
		if (count == 0)
			continue;
		types[n] = type;
		counts[n++] = count;
		*rows += count;
	}
	allowed = *rows == 0 || kanon_class_allowed(problem, types, counts, n, *rows);
	free(types);
	free(counts);
	return allowed;
}

static void
one_mend(Mends *mends, int64_t more)
{
	int64_t emptied = 0, rows, had;
	double loss = 0;

	if (more == 0 || !keeps(mends, UINT32_MAX, &rows, &had))
		return;
	for (uint32_t class = 0; class < (uint32_t) mends->nclasses; class ++)
	{
		if (!keeps(mends, class, &rows, &had))
			return;
		emptied += rows == 0;
		if (mends->metric == KANON_METRIC_DISCERNIBILITY)
			loss += (double) ((had - rows) * mends->plain->n) - (double) had * (double) had +
					(double) rows * (double) rows;
		else if (mends->metric != KANON_METRIC_AVERAGE && mends->metric != KANON_METRIC_HEIGHT)
			loss += (double) (had - rows) * mends->more[class];
	}
	if (mends->metric == KANON_METRIC_AVERAGE)
		loss = (double) emptied;
	if (mends->any &&
		(fabs(loss - mends->loss) <= 1e-9 * (1 + fabs(loss)) ? more >= mends->rows : loss > mends->loss))
		return;
	mends->any = true;
	mends->rows = more;
	mends->loss = loss;
	mends->emptied = emptied;
}

static void
every_mend(Mends *mends, uint32_t type, int64_t more)
{
	const KanonProblem *problem = mends->plain->problem;

	if (type == problem->ntypes)
	{
		one_mend(mends, more);
		return;
	}
	for (int64_t take = 0; take <= (mends->class_of[type] == UINT32_MAX ? 0 : problem->rows[type]) &&
						   more + take <= mends->room;
		 take++)
	{
		mends->take[type] = take;
		every_mend(mends, type + 1, more + take);
	}
	mends->take[type] = 0;
}

/* Classes, suppressed rows and metric of the node at hand. */
static void
plain_measure(Plain *plain, KanonMetric metric)
{
	const KanonProblem *problem = plain->problem;
	uint32_t ntypes = problem->ntypes;
	bool *done = calloc(ntypes + 1, sizeof(bool));
	bool *in_class = calloc(ntypes + 1, sizeof(bool));
	bool present;
	bool published;
	uint32_t *member = malloc((ntypes + 1) * sizeof(uint32_t));
	uint32_t *rest = malloc((ntypes + 1) * sizeof(uint32_t));
	size_t nrest = 0;
	double squares = 0;
	double lost = 0;
	double everything = 0;
	bool of_cells =
		metric == KANON_METRIC_LOSS || metric == KANON_METRIC_PRECISION || metric == KANON_METRIC_ENTROPY;
	int64_t *class_rows = calloc(ntypes + 1, sizeof(int64_t));
	double *class_more = calloc(ntypes + 1, sizeof(double));
	uint32_t *class_of = malloc((ntypes + 1) * sizeof(uint32_t));
	int64_t fill;

	plain->suppressed = plain->classes = 0;
	for (uint32_t i = 0; i < ntypes; i++)
	{
		size_t n = 0;
		int64_t rows = 0;
		bool allowed;

		for (uint32_t j = i; j < ntypes && !done[i]; j++)
			if (!done[j] && same_class(plain, i, j))
			{
				member[n++] = j;
				rows += problem->rows[j];
			}
		if (n == 0)
			continue;
		allowed = kanon_class_allowed(problem, member, NULL, n, rows) && populations_allow(plain, i, rows);
		plain->classes += allowed;
		squares += (double) rows * (double) (allowed ? rows : plain->n);
		for (size_t j = 0; j < n; j++)
		{
			done[member[j]] = true;
			in_class[member[j]] = allowed;
			class_of[member[j]] = allowed ? (uint32_t) plain->classes - 1 : UINT32_MAX;
			if (of_cells)
			{
				lost += (double) problem->rows[member[j]] * row_loss(plain, metric, member[j], !allowed);
				everything += (double) problem->rows[member[j]] * row_loss(plain, metric, member[j], true);
			}
			if (!allowed)
				rest[nrest++] = member[j];
			if (allowed && of_cells)
				class_more[plain->classes - 1] =
					row_loss(plain, metric, member[j], true) - row_loss(plain, metric, member[j], false);
		}
		if (!allowed)
			plain->suppressed += rows;
		else
			class_rows[plain->classes - 1] = rows;
	}
	present = populations_rest(plain, in_class, plain->suppressed);
	published = plain->suppressed > 0 && present &&
				kanon_class_allowed(problem, rest, NULL, nrest, plain->suppressed);
	plain->left_over =
		plain->suppressed > 0 && !published &&
		(exact_strict(problem) || (problem->residual == KANON_RESIDUAL_SUPPRESS &&
								   !(present && kanon_rest_allowed(problem, rest, NULL, nrest))));
	plain->absent = (plain->suppressed == 0 || (problem->residual == KANON_RESIDUAL_DROP && !published)) &&
					!populations_rest(plain, in_class, 0);
	absent += plain->absent;
	fill = problem->k - plain->suppressed;
	if (problem->residual == KANON_RESIDUAL_FILL && problem->privacy == NULL && problem->npopulations == 0 &&
		plain->suppressed > 0 && fill > 0)
	{
		Ways ways = {problem->k,
					 plain->n,
					 plain->classes,
					 class_rows,
					 class_more,
					 metric,
					 fill,
					 plain->limit - plain->suppressed,
					 .take = calloc(ntypes + 1, sizeof(int64_t))};

		every_way(&ways, 0);
		free(ways.take);
		if (ways.any)
		{
			plain->left_over = false;
			plain->suppressed += ways.rows;
			plain->classes -= ways.emptied;
			if (of_cells)
				lost += ways.loss;
			squares += metric == KANON_METRIC_DISCERNIBILITY ? ways.loss : 0;
			filled[ways.emptied > 0 ? 1 : ways.givers > 1 ? 2 : 0]++;
		}
	}
	if (problem->residual == KANON_RESIDUAL_FILL && problem->privacy != NULL && problem->npopulations == 0 &&
		plain->left_over)
	{
		Mends mends = {.plain = plain,
					   .metric = metric,
					   .class_of = class_of,
					   .more = class_more,
					   .nclasses = plain->classes,
					   .room = plain->limit - plain->suppressed,
					   .take = calloc(ntypes + 1, sizeof(int64_t))};

		every_mend(&mends, 0, 0);
		free(mends.take);
		if (mends.any)
		{
			plain->left_over = false;
			plain->suppressed += mends.rows;
			plain->classes -= mends.emptied;
			if (of_cells)
				lost += mends.loss;
			squares += metric == KANON_METRIC_DISCERNIBILITY ? mends.loss : 0;
			mended[mends.emptied > 1 ? 2 : mends.emptied > 0]++;
		}
	}
	free(class_of);
	free(class_rows);
	free(class_more);
	free(in_class);
	free(done);
	free(member);
	free(rest);
	plain->value = metric == KANON_METRIC_DISCERNIBILITY ? squares
				   : metric == KANON_METRIC_AVERAGE
					   ? (double) plain->n / (double) (plain->classes + (plain->suppressed > 0))
				   : metric == KANON_METRIC_ENTROPY ? (everything > 0 ? lost / everything : 0)
													: lost / (double) plain->n;
	if (metric == KANON_METRIC_HEIGHT)
	{
		plain->value = 0;
		for (int q = 0; q < plain->nqis; q++)
			plain->value += plain->level[q];
	}
}

/* The least of all nodes within the limit; false: there is none. */
static bool
exhaustive(Plain *plain, KanonMetric metric, int64_t limit, double *least)
{
	bool any = false;

	*least = INFINITY;
	plain->limit = limit;
	memset(plain->level, 0, sizeof(plain->level));
	do
	{
		plain_measure(plain, metric);
		if (plain->suppressed > limit || plain->absent)
			continue;
		any = true;
		if (!plain->left_over)
			*least = fmin(*least, plain->value);
	} while (plain_next(plain));
	return any;
}

/* Goes to the node of a pattern. */
static void
plain_go(Plain *plain, KanonPattern pattern)
{
	for (int q = 0; q < plain->nqis; q++)
	{
		plain->level[q] = 0;
		for (int c = plain->first[q]; c < plain->first[q + 1]; c++)
			plain->level[q] += kanon_has(pattern, c);
	}
}

/* ---- a team of members who take turns ---- */

typedef struct Turns
{
	Host *host;
	int wanted;
	int members;
	void *block;
	KanonMember *member[KANON_MAX_MEMBERS];
	int64_t started;
} Turns;

static void *
turns_open(void *arg, size_t size, int *members)
{
	Turns *turns = arg;

	turns->block = malloc(size);
	*members = turns->members = turns->wanted;
	return turns->block;
}

static void
turns_start(void *arg)
{
	((Turns *) arg)->started++;
}

static bool
turns_wait(void *arg)
{
	Turns *turns = arg;

	for (int m = 1; m < turns->members; m++)
	{
		if (turns->member[m] == NULL)
			turns->member[m] = kanon_member_open(&turns->host->env, turns->block, m);
		if (turns->member[m] == NULL)
			return false;
		kanon_member_work(turns->member[m]);
	}
	return true;
}

static void
turns_end(Turns *turns)
{
	for (int m = 1; m < turns->members; m++)
	{
		kanon_member_close(turns->member[m]);
		turns->member[m] = NULL;
	}
	free(turns->block);
	turns->block = NULL;
	turns->members = 0;
}

/* ---- tests ---- */

static int64_t
some_limit(double share, int64_t n)
{
	return (int64_t) floor(share * (double) n + 1e-9);
}

static bool
close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/* Under rules about values, and about populations: checks that began with a lower node's groups, and searches by a team. */
static int64_t rolled_up[2];
static int teamed[2];
static int64_t ruled_out; /* nodes, of rules that merging may break, with suppressed rows */
static int cut_short;     /* searches without a proof */

/* One search; its node for the others to be compared with (all of them 1: the first). */
static void
compare(Host *host, KanonProblem *problem, KanonFullDomainOptions *options, bool any, double least,
		KanonPattern *pattern)
{
	KanonOutcome outcome;
	KanonRelease release;
	KanonReport report;
	Plain plain;
	Turns turns = {.host = host, .wanted = 2 + (int) (problem->k % 3)};
	KanonTeam team = {&turns, KANON_MAX_MEMBERS, turns_open, turns_start, turns_wait};
	KanonStatus status;
	int64_t limit;

	plain_open(&plain, problem);
	limit = some_limit(options->suppression_limit, plain.n);
	options->team = &team;
	problem->full_domain = options;
	status = kanon_solve_full_domain(problem, &outcome, &release, &report);
	turns_end(&turns);
	if (least == INFINITY)
	{
		assert_int_equal(status, any ? (exact_strict(problem) ? KANON_RESIDUAL : KANON_REST_FORBIDDEN)
									 : KANON_INFEASIBLE);
		assert_int_equal(host->blocks > 0, problem->privacy != NULL);
		return;
	}
	if (status != KANON_OK)
		print_error("status %d: %s\n", (int) status, report.detail);
	assert_int_equal(status, KANON_OK);
	if (problem->privacy != NULL || problem->npopulations > 0)
	{
		rolled_up[problem->npopulations > 0] += outcome.rolled_up;
		teamed[problem->npopulations > 0] += turns.started > 0;
	}
	if (problem->privacy != NULL && problem->npopulations == 0)
	{
		if (limit > 0 && !kanon_privacy_grows(problem->privacy))
			ruled_out += outcome.tagged;
	}
	plain.limit = limit;
	plain_go(&plain, outcome.best.pattern);
	plain_measure(&plain, options->metric);
	assert_true(plain.suppressed <= limit && !plain.left_over && !plain.absent);
	assert_int_equal(outcome.best.suppressed, plain.suppressed);
	/* (of ways to fill up that are equal in all else one may empty a class that another does not) */
	if (problem->privacy == NULL || problem->residual != KANON_RESIDUAL_FILL)
		assert_int_equal(outcome.best.classes, plain.classes);
	if (options->metric == KANON_METRIC_PRECISION)
		outcome.best.metric = 1 - outcome.best.metric;
	if (!close_to(outcome.best.metric, plain.value) || !close_to(plain.value, least))
		print_error("%s %s: %.12g, is %.12g, least %.12g\n", kanon_metric_names[options->metric],
					kanon_methods(KANON_FULL_DOMAIN)[options->search].name, outcome.best.metric, plain.value,
					least);
	assert_true(close_to(outcome.best.metric, plain.value));
	assert_true(close_to(plain.value, least));
	if (options->search == 0)
		*pattern = outcome.best.pattern;
	assert_true(kanon_same(outcome.best.pattern, *pattern));
	assert_true(outcome.checked + outcome.tagged <= outcome.nodes);
	if (options->explore)
	{
		double found = INFINITY;

		assert_int_equal(outcome.checked + outcome.tagged, outcome.nodes);
		for (int64_t i = 0; i < outcome.nodes; i++)
		{
			KanonNode *node = &outcome.all[i];

			plain_go(&plain, node->pattern);
			plain_measure(&plain, options->metric);
			assert_int_equal(node->fulfils, plain.suppressed <= limit && !plain.absent && !plain.left_over);
			assert_true(node->checked || !node->fulfils);
			if (node->checked)
				assert_int_equal(node->suppressed, plain.suppressed);
			if (node->fulfils)
			{
				double value = options->metric == KANON_METRIC_PRECISION ? 1 - node->metric : node->metric;

				assert_true(close_to(value, plain.value));
				assert_int_equal(node->classes, plain.classes);
				if (value < found)
				{
					found = value;
				}
			}
		}
		assert_true(close_to(found, least));
		kanon_free(&host->env, outcome.all);
	}
	kanon_release_free(problem, &release);
}

/* The same of a lattice of which not every node is looked at; then stopped after the first check. */
static void
compare_wide(Host *host, KanonProblem *problem, KanonFullDomainOptions options, bool any, double least,
			 KanonPattern pattern)
{
	KanonOutcome outcome;
	KanonRelease release;
	KanonReport report;
	double limit = problem->time_limit;

	options.explore = false;
	options.most_nodes = 0.5;
	/* (a name that is not the first: the node is compared with that of the others) */
	options.search = KANON_SEARCH_SPEEDY;
	compare(host, problem, &options, any, least, &pattern);
	options.team = NULL;
	for (int stopped = 0; stopped < 2; stopped++)
	{
		bool precision = options.metric == KANON_METRIC_PRECISION;
		double lost;
		double bound;

		problem->time_limit = stopped ? 0 : limit;
		if (kanon_solve_full_domain(problem, &outcome, &release, &report) != KANON_OK)
			continue;
		lost = precision ? 1 - outcome.best.metric : outcome.best.metric;
		bound = precision ? 1 - outcome.bound : outcome.bound;
		assert_true(stopped || outcome.proven);
		assert_true(!outcome.proven || bound == lost);
		if (stopped && !outcome.proven)
			cut_short++;
		assert_true(bound <= least + 1e-9 * (1 + fabs(least)) && least <= lost + 1e-9 * (1 + fabs(lost)));
		kanon_release_free(problem, &release);
	}
	problem->time_limit = limit;
}

/* The last two columns become sensitive values and persons, with rules. */
static void
add_rules(uint64_t *random, KanonProblem *problem)
{
	static const KanonPrivacyRule some[] = {
		{.kind = KANON_DISTINCT_L, .l = 2},
		{.kind = KANON_DISTINCT_L, .l = 2, .joined = 2},
		{.kind = KANON_ALPHA, .share = 0.6},
		{.kind = KANON_ENTROPY_L, .l = 2},
		{.kind = KANON_RECURSIVE_CL, .c = 2, .l = 2},
		{.kind = KANON_T_CLOSENESS, .share = 0.3, .distance = KANON_DISTANCE_EQUAL}};
	KanonPrivacyRule rules[2] = {some[random_below(random, 6)], {.kind = KANON_SUBJECT, .column = 1}};
	KanonColumn *extra = (KanonColumn *) problem->columns + problem->ncolumns - 2;

	problem->ncolumns -= 2;
	problem->nextra = 2;
	problem->extra = extra;
	diverse_dense(&extra[0], problem->ntypes);
	diverse_dense(&extra[1], problem->ntypes);
	assert_int_equal(kanon_privacy_open(problem, rules, 1 + (int) random_below(random, 2), &problem->privacy),
					 KANON_OK);
}

static void
optimal(void **state)
{
	uint64_t random = 2024;
	static const double limits[] = {0, 0, 0.05, 0.1, 0.3, 1};
	int none = 0;

	(void) state;
	for (int round = 0; round < cases_or(400, 5000); round++)
	{
		Host host;
		bool rules = round % 2 == 1;
		int nqis = 1 + (int) random_below(&random, 4);
		KanonProblem *problem;
		KanonFullDomainOptions options = {.explore = round % 3 == 0};
		Plain plain;

		host_init(&host);
		problem = problem_random_levels(&host, &random, 1 + random_below(&random, 60), nqis + 2 * rules, 3,
										1 + random_below(&random, 6));
		if (rules)
			add_rules(&random, problem);
		if (round % 10 == 9)
			diverse_shares(problem, &random);
		else if (round % 5 >= 3)
			diverse_populations(problem, &random);
		problem->residual = (KanonResidual) random_below(&random, 4);
		/* (to try every way to fill up under rules takes fewer rows: mends) */
		if (rules && problem->residual == KANON_RESIDUAL_FILL && problem->npopulations == 0)
			problem->residual = KANON_RESIDUAL_ERROR;
		if (round % 4 >= 2)
			for (int c = 0; c < problem->ncolumns; c++)
				((KanonColumn *) problem->columns)[c].weight = 0.1 + random_below(&random, 10);
		options.suppression_limit = limits[random_below(&random, 6)];
		plain_open(&plain, problem);
		for (int metric = 0; kanon_metric_names[metric] != NULL; metric++)
		{
			double least;
			bool any = exhaustive(&plain, (KanonMetric) metric,
								  some_limit(options.suppression_limit, plain.n), &least);
			KanonPattern pattern = KANON_NONE;

			none += least == INFINITY;
			options.metric = (KanonMetric) metric;
			for (int search = 0; kanon_methods(KANON_FULL_DOMAIN)[search].name != NULL; search++)
			{
				options.search = (KanonSearch) search;
				compare(&host, problem, &options, any, least, &pattern);
			}
			compare_wide(&host, problem, options, any, least, pattern);
		}
		kanon_privacy_close(problem->privacy);
		assert_int_equal(host.blocks, 0);
		diverse_free_populations(problem);
		problem->ncolumns += problem->nextra;
		problem_free(problem);
	}
	assert_true(none > 0 && forbidden > 0 && mapped > 0 && absent > 0 && persons > 0);
	assert_true(rolled_up[0] > 0 && rolled_up[1] > 0 && ruled_out > 0 && cut_short > 0);
#if FULL_DOMAIN_SHARED < 100
	assert_true(teamed[0] > 0 && teamed[1] > 0);
#endif
}

/* Fewer than k suppressed rows are filled up, and the node is the best of those that are. */
static void
fills(void **state)
{
	static const double limits[] = {0.1, 0.3, 0.5, 1};

	(void) state;
	for (int round = 0; round < cases(3000); round++)
	{
		uint64_t random = 81400 + (uint64_t) round;
		KanonFullDomainOptions options = {0};
		Host host;
		KanonProblem *problem;
		Plain plain;

		host_init(&host);
		problem = problem_random_levels(&host, &random, 4 + random_below(&random, 24), 2, 3,
										2 + random_below(&random, 5));
		problem->residual = KANON_RESIDUAL_FILL;
		options.suppression_limit = limits[random_below(&random, 4)];
		plain_open(&plain, problem);
		for (int metric = 0; kanon_metric_names[metric] != NULL; metric++)
		{
			double least;
			bool any = exhaustive(&plain, (KanonMetric) metric,
								  some_limit(options.suppression_limit, plain.n), &least);
			KanonPattern pattern = KANON_NONE;

			options.metric = (KanonMetric) metric;
			options.search = KANON_SEARCH_SAMARATI;
			compare(&host, problem, &options, any, least, &pattern);
			options.search = (KanonSearch) (1 + round % 3);
			compare(&host, problem, &options, any, least, &pattern);
			compare_wide(&host, problem, options, any, least, pattern);
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(filled[0] > 0 && filled[1] > 0 && filled[2] > 0);
}

/* The same under privacy rules, of tables in which every choice of rows can be tried. */
static void
mends(void **state)
{
	static const double limits[] = {0.3, 0.5, 0.8, 1};

	(void) state;
	for (int round = 0; round < cases(3000); round++)
	{
		uint64_t random = 91400 + (uint64_t) round;
		KanonFullDomainOptions options = {0};
		Host host;
		KanonProblem *problem;
		Plain plain;

		host_init(&host);
		problem = problem_random_levels(&host, &random, 4 + random_below(&random, 6),
										1 + random_below(&random, 2) + 2, 3, 1 + random_below(&random, 3));
		add_rules(&random, problem);
		problem->residual = KANON_RESIDUAL_FILL;
		options.suppression_limit = limits[random_below(&random, 4)];
		plain_open(&plain, problem);
		for (int metric = 0; kanon_metric_names[metric] != NULL; metric++)
		{
			double least;
			bool any = exhaustive(&plain, (KanonMetric) metric,
								  some_limit(options.suppression_limit, plain.n), &least);
			KanonPattern pattern = KANON_NONE;

			options.metric = (KanonMetric) metric;
			options.search = KANON_SEARCH_SAMARATI;
			compare(&host, problem, &options, any, least, &pattern);
			options.search = (KanonSearch) (1 + round % 3);
			compare(&host, problem, &options, any, least, &pattern);
			compare_wide(&host, problem, options, any, least, pattern);
		}
		kanon_privacy_close(problem->privacy);
		assert_int_equal(host.blocks, 0);
		problem->ncolumns += problem->nextra;
		problem_free(problem);
	}
	print_message("filled up under rules: %d by parts of classes, %d by a whole one, %d by several\n",
				  mended[0], mended[1], mended[2]);
	/* (several at once are rare) */
	assert_true(mended[0] > 0 && mended[1] > 0 && (mended[2] > 0 || cases(3000) < 3000));
}

/* Precision in whole numbers: sixtieths of a weight, by whole weights. */
static int64_t
whole_precision(const Plain *plain)
{
	int64_t levels = 0;
	int64_t all = 0;

	for (int q = 0; q < plain->nqis; q++)
	{
		int64_t weight = 0;

		for (int c = plain->first[q]; c < plain->first[q + 1]; c++)
			weight += (int64_t) (plain->problem->columns[c].weight * height_of(plain, q) + 0.5);
		weight /= height_of(plain, q);
		levels += weight * (60 / height_of(plain, q)) * plain->level[q];
		all += weight * 60;
	}
	return levels * (plain->n - plain->suppressed) + all * plain->suppressed;
}

/* The node that the order of preference names: value, suppressed rows, height, the earlier columns less. */
static KanonPattern
preferred_node(Plain *plain, int64_t limit, int *ties)
{
	int64_t best[3] = {INT64_MAX};
	KanonPattern pattern = KANON_NONE;

	memset(plain->level, 0, sizeof(plain->level));
	do
	{
		int64_t key[3];
		KanonPattern here = KANON_NONE;
		int i = 0;

		plain_measure(plain, KANON_METRIC_PRECISION);
		if (plain->suppressed > limit)
			continue;
		key[0] = whole_precision(plain);
		key[1] = plain->suppressed;
		key[2] = 0;
		for (int q = 0; q < plain->nqis; q++)
		{
			key[2] += plain->level[q];
			here = kanon_union(here, kanon_span(plain->first[q], plain->first[q] + plain->level[q]));
		}
		while (i < 3 && key[i] == best[i])
			i++;
		*ties += i > 0;
		if (i == 3 || key[i] > best[i])
			continue;
		memcpy(best, key, sizeof(best));
		pattern = here;
	} while (plain_next(plain));
	return pattern;
}

/* Nodes that lose the same are told apart by what is preferred, not by how sums are rounded. */
static void
equal_nodes(void **state)
{
	uint64_t random = 72;
	int ties = 0;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		Host host;
		int nqis = 2 + (int) random_below(&random, 3);
		KanonProblem *problem;
		KanonFullDomainOptions options = {.metric = KANON_METRIC_PRECISION};
		KanonPattern pattern;
		Plain plain;

		host_init(&host);
		problem = problem_random_levels(&host, &random, 4 + random_below(&random, 30), nqis, 3,
										2 + random_below(&random, 3));
		plain_open(&plain, problem);
		for (int q = 0; q < plain.nqis; q++)
		{
			double weight = 1 + random_below(&random, 4);

			for (int c = plain.first[q]; c < plain.first[q + 1]; c++)
				((KanonColumn *) problem->columns)[c].weight = weight / height_of(&plain, q);
		}
		options.suppression_limit = 1;
		pattern = preferred_node(&plain, plain.n, &ties);
		for (int search = 0; kanon_methods(KANON_FULL_DOMAIN)[search].name != NULL; search++)
		{
			KanonOutcome outcome;
			KanonRelease release;
			KanonReport report;

			options.search = (KanonSearch) search;
			problem->full_domain = &options;
			assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_OK);
			assert_true(kanon_same(outcome.best.pattern, pattern));
			kanon_release_free(problem, &release);
			options.most_nodes = 0.5;
			assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_OK);
			assert_true(kanon_same(outcome.best.pattern, pattern) && outcome.proven);
			kanon_release_free(problem, &release);
			options.most_nodes = 0;
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(ties > 0);
}

/*
 * Weights that differ by as little as rounding makes of equal ones: whatever comes first, of all that
 * are as near to the least value as that the preferred one is taken.
 */
static void
nearly_equal_nodes(void **state)
{
	uint64_t random = 73;
	int near = 0, edges = 0, solved = 0;

	(void) state;
	for (int round = 0; round < cases(600); round++)
	{
		Host host;
		KanonProblem *problem;
		KanonFullDomainOptions options = {
			.metric = KANON_METRIC_PRECISION, .suppression_limit = 0.25, .explore = true};
		KanonPattern pattern = KANON_NONE;
		uint32_t code[30 * 6];
		double least = INFINITY, tie;

		host_init(&host);
		for (int i = 0; i < 30 * 6; i++)
			code[i] = random_below(&random, 2);
		problem = problem_from_codes(&host, code, 30, 6, 2);
		problem->full_domain = &options;
		for (int c = 0; c < problem->ncolumns; c++)
			((KanonColumn *) problem->columns)[c].weight = 1 + 0x1p-46 * random_below(&random, 16);
		tie = METRIC_OFF * kanon_count_qis(problem) / METRIC_UNIT;
		for (int search = 0; kanon_methods(KANON_FULL_DOMAIN)[search].name != NULL; search++)
		{
			KanonOutcome outcome;
			KanonRelease release;
			KanonReport report;
			const KanonNode *best = NULL;
			bool edge = false;
			KanonStatus status;

			options.search = (KanonSearch) search;
			status = kanon_solve_full_domain(problem, &outcome, &release, &report);
			assert_true(status == KANON_OK || status == KANON_INFEASIBLE);
			if (status != KANON_OK)
				continue;
			/* (precision is what is left) */
			for (int64_t i = 0; i < outcome.nodes && search == 0; i++)
				if (outcome.all[i].fulfils)
					least = fmin(least, 1 - outcome.all[i].metric);
			for (int64_t i = 0; i < outcome.nodes && search == 0; i++)
			{
				const KanonNode *node = &outcome.all[i];

				edge = edge || (node->fulfils && fabs(1 - node->metric - least - tie) < 2 / METRIC_UNIT);
				if (!node->fulfils || 1 - node->metric > least + tie)
					continue;
				near += 1 - node->metric > least;
				if (best == NULL || node->suppressed < best->suppressed ||
					(node->suppressed == best->suppressed &&
					 kanon_count(node->pattern) < kanon_count(best->pattern)))
					best = node;
			}
			/* (which side of that is one of the last digit, doubles do not tell) */
			edges += edge;
			solved += search == 0;
			pattern = edge ? outcome.best.pattern : best != NULL ? best->pattern : pattern;
			assert_true(kanon_same(outcome.best.pattern, pattern));
			kanon_release_free(problem, &release);
			kanon_free(&host.env, outcome.all);
			options.explore = false;
			for (int wide = 0; wide < 2; wide++)
			{
				options.most_nodes = wide ? 0.5 : 0;
				assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_OK);
				assert_true(kanon_same(outcome.best.pattern, pattern));
				kanon_release_free(problem, &release);
			}
			options.most_nodes = 0;
			options.explore = true;
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	/* most are decided by the rule */
	assert_true(edges < solved / 4);
	assert_true(near > cases(600) / 3);
}

/* Codes that take more than one word. */
static void
many_values(void **state)
{
	uint64_t random = 7;
	Host host;
	uint32_t *code = malloc(3000 * 8 * sizeof(uint32_t));
	int level[8] = {0, 1, 0, 1, 0, 1, 0, 1};
	KanonProblem *problem;
	KanonPattern first = KANON_NONE;

	(void) state;
	for (size_t i = 0; i < 3000; i++)
		for (int c = 0; c < 8; c += 2)
		{
			code[i * 8 + (size_t) c] = random_below(&random, 1 << 22);
			code[i * 8 + (size_t) c + 1] = code[i * 8 + (size_t) c] >> 18;
		}
	host_init(&host);
	problem = problem_from_codes(&host, code, 3000, 8, 3);
	free(code);
	problem_set_levels(problem, level);
	for (int search = 0; kanon_methods(KANON_FULL_DOMAIN)[search].name != NULL; search++)
	{
		Turns turns = {.host = &host, .wanted = 2};
		KanonTeam team = {&turns, KANON_MAX_MEMBERS, turns_open, turns_start, turns_wait};
		KanonOutcome outcome;
		KanonFullDomainOptions options = {
			.suppression_limit = 0.1, .search = (KanonSearch) search, .team = &team};
		KanonRelease release;
		KanonReport report;
		Plain plain;

		problem->full_domain = &options;
		assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_OK);
		turns_end(&turns);
		plain_open(&plain, problem);
		plain_go(&plain, outcome.best.pattern);
		plain_measure(&plain, KANON_METRIC_HEIGHT);
		assert_int_equal(plain.suppressed, outcome.best.suppressed);
		assert_int_equal(plain.classes, outcome.best.classes);
		if (search == 0)
			first = outcome.best.pattern;
		assert_true(kanon_same(outcome.best.pattern, first));
		kanon_release_free(problem, &release);
	}
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* Figures that were computed independently, by brute force. */
static void
adult(void **state)
{
	static const struct
	{
		int64_t k;
		double limit;
		KanonMetric metric;
		double value;
		int64_t classes;
		int64_t suppressed;
	} figure[] = {{2, 0.05, KANON_METRIC_DISCERNIBILITY, 4602798, -1, -1},
				  {5, 0.05, KANON_METRIC_DISCERNIBILITY, 7220555, 356, 105},
				  {5, 0, KANON_METRIC_DISCERNIBILITY, 33627534, -1, 0},
				  {5, 0.05, KANON_METRIC_AVERAGE, 28.81, -1, -1}};
	const char *data = getenv("KANON_DATA");
	Host host;
	KanonProblem *problem;

	(void) state;
	host_init(&host);
	problem = data == NULL || !real_tables()
				  ? NULL
				  : problem_read_levels(&host, data, "adult-arx", "adult-hierarchies", 2);
	if (problem == NULL)
		skip();
	for (size_t i = 0; i < sizeof(figure) / sizeof(figure[0]); i++)
	{
		int64_t checked[4];

		for (int search = 0; kanon_methods(KANON_FULL_DOMAIN)[search].name != NULL; search++)
		{
			KanonOutcome outcome;
			KanonFullDomainOptions options = {.suppression_limit = figure[i].limit,
											  .metric = figure[i].metric,
											  .search = (KanonSearch) search};
			KanonRelease release;
			KanonReport report;

			problem->k = figure[i].k;
			problem->full_domain = &options;
			assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_OK);
			assert_int_equal(outcome.nodes, 12960);
			assert_true(fabs(outcome.best.metric - figure[i].value) < 0.005);
			if (figure[i].classes >= 0)
				assert_int_equal(outcome.best.classes, figure[i].classes);
			if (figure[i].suppressed >= 0)
				assert_int_equal(outcome.best.suppressed, figure[i].suppressed);
			checked[search] = outcome.checked;
			kanon_release_free(problem, &release);
		}
		/* (with suppressed rows both leave out what cannot be the optimum, each by the best node that it has) */
		assert_true(figure[i].limit > 0 || checked[KANON_SEARCH_FLASH] <= checked[KANON_SEARCH_INCOGNITO]);
		assert_int_equal(checked[KANON_SEARCH_FLASH], checked[KANON_SEARCH_SPEEDY]);
	}
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* Every allocation refused once, every poll answered with yes once. */
static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int search = 0; kanon_methods(KANON_FULL_DOMAIN)[search].name != NULL; search++)
		for (int what = 0; what < 6; what++)
		{
			bool memory = what % 2 == 0;
			bool wide = what / 2 == 2;
			KanonStatus expected = memory ? KANON_NO_MEMORY : KANON_CANCELLED;
			bool failed = true;
			int best = 0;

			for (uint64_t at = 1; failed; at = next_failure(at))
			{
				uint64_t random = 11;
				Host host;
				Turns turns = {.host = &host, .wanted = 3};
				KanonTeam team = {&turns, KANON_MAX_MEMBERS, turns_open, turns_start, turns_wait};
				KanonOutcome outcome;
				KanonFullDomainOptions options = {.suppression_limit = 0.05,
												  .metric = KANON_METRIC_ENTROPY,
												  .search = (KanonSearch) search,
												  .explore = !wide,
												  .most_nodes = wide ? 0.5 : 0,
												  .team = &team};
				KanonProblem *problem;
				KanonRelease release;
				KanonReport report;
				KanonStatus status;

				host_init(&host);
				problem = problem_random_levels(&host, &random, 200, 3, 3, 3);
				problem->full_domain = &options;
				if (what / 2 == 1)
					diverse_populations(problem, &random);
				/* such that there is a release */
				for (int p = 0; p < problem->npopulations; p++)
				{
					((KanonPopulation *) problem->populations)[p].least = 0;
					((KanonPopulation *) problem->populations)[p].most = 1;
				}
				if (memory)
					host.refuse_at = at;
				else
					host.cancel_at = at;
				status = kanon_solve_full_domain(problem, &outcome, &release, &report);
				/* a member who could not begin is gone for the team */
				if (memory && status == KANON_CANCELLED)
					status = KANON_NO_MEMORY;
				turns_end(&turns);
				failed = memory ? host.allocations >= at : status == expected;
				if (status == KANON_OK)
				{
					/* the best node that was found before */
					best += wide && failed && !outcome.proven;
					assert_true(outcome.bound <= outcome.best.metric);
					kanon_release_free(problem, &release);
					kanon_free(&host.env, outcome.all);
				}
				assert_true(status == KANON_OK || status == expected);
				assert_int_equal(host.blocks, 0);
				diverse_free_populations(problem);
				problem_free(problem);
			}
			if (wide && memory)
				assert_true(best > 0);
		}
}

/* Every search tells how far it is, and never less than before. */
static void
shares(void **state)
{
	(void) state;
	if (KANON_POLL_WORK > 64)
		skip();
	for (int search = 0; kanon_methods(KANON_FULL_DOMAIN)[search].name != NULL; search++)
	{
		int64_t told = 0;

		for (uint64_t seed = 1; seed <= 5; seed++)
		{
			uint64_t random = seed;
			Host host;
			KanonOutcome outcome;
			KanonFullDomainOptions options = {.metric = KANON_METRIC_ENTROPY, .search = (KanonSearch) search};
			KanonProblem *problem;
			KanonRelease release;
			KanonReport report;

			host_init(&host);
			host.watched = "search";
			problem = problem_random_levels(&host, &random, 1500, 4, 4, 5);
			problem->full_domain = &options;
			assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_OK);
			print_message("%s: %d shares\n", kanon_methods(KANON_FULL_DOMAIN)[search].name, host.shares);
			assert_true(!host.backwards);
			told += host.shares;
			kanon_release_free(problem, &release);
			problem_free(problem);
		}
		assert_true(told >= 10);
	}
}

/* What cannot be solved says so. */
static void
refused(void **state)
{
	uint64_t random = 3;
	Host host;
	KanonOutcome outcome;
	KanonFullDomainOptions options = {0};
	KanonRelease release;
	KanonReport report;
	KanonProblem *problem;
	uint32_t code[30] = {0};
	uint32_t many[128];
	uint32_t unnested[] = {0, 0, 0, 1};
	int level[] = {0, 1};

	(void) state;
	for (uint32_t i = 0; i < 128; i++)
		many[i] = i / 64;
	host_init(&host);
	problem = problem_random_levels(&host, &random, 10, 2, 3, 11);
	problem->full_domain = &options;
	assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_INFEASIBLE);
	assert_non_null(strstr(report.detail, "would suppress 10 rows"));
	problem_free(problem);

	problem = problem_from_codes(&host, code, 1, 30, 2);
	problem->full_domain = &options;
	assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_INFEASIBLE);
	assert_non_null(strstr(report.detail, "would suppress 1 rows"));
	options.explore = true;
	assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_TOO_LARGE);
	assert_non_null(strstr(report.detail, "1073741824 nodes"));
	options.explore = false;
	problem_free(problem);

	/* 2^64 nodes: the last number that there is */
	problem = problem_from_codes(&host, many, 2, 64, 2);
	problem->full_domain = &options;
	assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_OK);
	assert_true(outcome.proven && outcome.nodes == INT64_MAX &&
				kanon_same(outcome.best.pattern, kanon_pattern_all(64)));
	kanon_release_free(problem, &release);
	problem_free(problem);

	problem = problem_from_codes(&host, unnested, 2, 2, 2);
	problem_set_levels(problem, level);
	problem->full_domain = &options;
	assert_int_equal(kanon_solve_full_domain(problem, &outcome, &release, &report), KANON_BROKEN);
	problem_free(problem);
	assert_int_equal(host.blocks, 0);
}

/* Groups of one quasi-identifier at a level, as they come into the history. */
static Groups *
remembered(Checker *checker, uint16_t level, size_t entries)
{
	size_t at;
	Groups *groups = history_reserve(checker, 2 * entries, &at);

	*groups = (Groups){.level = {level}, .nparts = 1, .total = entries, .age = ++checker->age};
	groups->at[0] = at;
	groups->count[0] = entries;
	assert_true(at >= checker->arena_at && at + 2 * entries <= checker->arena_at + checker->arena_words);
	return groups;
}

/* What was not used for longest gives way, and only as much as is needed. */
static void
test_history(void **state)
{
	Groups history[MAX_SNAPSHOTS] = {{.age = 0}};
	Lattice lattice = {.nqis = 1};
	Block block = {.words = 1};
	Checker checker = {.lattice = &lattice,
					   .block = &block,
					   .base = {.total = 1000, .age = 1},
					   .arena_at = 10,
					   .arena_words = 100,
					   .history = history};
	Groups *old, *other, *new;

	(void) state;
	old = remembered(&checker, 1, 20);
	other = remembered(&checker, 3, 20);
	assert_true(old->age > 0 && old->at[0] != other->at[0]);
	assert_ptr_equal(history_find(&checker, (uint16_t[]){0}), &checker.base);
	assert_ptr_equal(history_find(&checker, (uint16_t[]){2}), old);
	new = remembered(&checker, 4, 15);
	/* the one made first was used since */
	assert_true(old->age > 0 && old->level[0] == 1);
	assert_true(new->at[0] >= old->at[0] + 40 || new->at[0] + 30 <= old->at[0]);
	for (int i = 0; i < MAX_SNAPSHOTS; i++)
		assert_true(history[i].age == 0 || history[i].level[0] != 3);
	/* the smallest of which it can be made */
	assert_ptr_equal(history_find(&checker, (uint16_t[]){9}), new);
	/* no more than there are places, however small they are */
	for (int i = 0; i < 2 * MAX_SNAPSHOTS; i++)
		remembered(&checker, 5, 0);
	/* and all give way to one that needs all */
	new = remembered(&checker, 6, 50);
	for (int i = 0; i < MAX_SNAPSHOTS; i++)
		assert_true(&history[i] == new || history[i].age == 0 || history[i].total == 0);
}

/* Of paths with equal heights and as many groups, that with the smaller levels comes first. */
static void
test_order(void **state)
{
	/* the first column has 4 values that generalize to 2, the other has 2 */
	static const uint32_t code[] = {0, 0, 0, 1, 0, 1, 2, 1, 0, 3, 1, 1};
	Host host;
	KanonProblem *problem;
	Lattice lattice;
	KanonPace pace;
	NodeSearch search = {0};
	uint32_t order[6];

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, code, 4, 3, 1);
	problem_set_levels(problem, (int[]){0, 1, 0});
	lattice_open(problem, KANON_MAX_NODES, &lattice);
	assert_int_equal(lattice.nnodes, 6);
	pace = (KanonPace){.env = &host.env, .phase = "test"};
	search.problem = problem;
	search.lattice = &lattice;
	search.pace = &pace;
	search.order = order;
	assert_int_equal(search_order(&search), KANON_OK);
	/* 4 groups at most by either step; half of three levels is less than all of one */
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], lattice.stride[0]);
	assert_int_equal(order[2], lattice.stride[1]);
	problem_free(problem);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_order),
		cmocka_unit_test(optimal),
		cmocka_unit_test(fills),
		cmocka_unit_test(mends),
		cmocka_unit_test(equal_nodes),
		cmocka_unit_test(nearly_equal_nodes),
		cmocka_unit_test(many_values),
		cmocka_unit_test(adult),
		cmocka_unit_test(memory_and_cancel),
		cmocka_unit_test(shares),
		cmocka_unit_test(refused),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
