/*
 * test_subtree.c: cuts against all cuts there are, by the definitions; top-down
 * specialization against the papers' algorithm taken at its word; Adult; memory,
 * cancelling, time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "fixture.h"
#include "privacy/rules.h"
#include "privacy/population.h"
#include "subtree/subtree.h"
#include "util/pace.h"

#define MOST_VALUES 6

/* ---- cuts by their definition ---- */

/* At which level each value of each quasi-identifier is shown; its height: not at all. */
typedef struct Plain
{
	const KanonProblem *problem;
	int nqis;
	int first[KANON_MAX_COLUMNS + 1];
	uint32_t up[4][4][MOST_VALUES]; /* the code of each value at each level; the last: 0 */
	int level[4][MOST_VALUES];
	int64_t n;
} Plain;

static int
height_of(const Plain *plain, int q)
{
	return plain->first[q + 1] - plain->first[q];
}

static uint32_t
values_of(const Plain *plain, int q)
{
	return plain->problem->columns[plain->first[q]].distinct;
}

static uint32_t
value_of(const Plain *plain, int q, uint32_t type)
{
	return plain->problem->columns[plain->first[q]].code[type];
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
	{
		plain->n += problem->rows[i];
		for (int q = 0; q < plain->nqis; q++)
			for (int h = 0; h < height_of(plain, q); h++)
				plain->up[q][h][value_of(plain, q, i)] = problem->columns[plain->first[q] + h].code[i];
	}
}

static void
plain_blank(Plain *plain)
{
	for (int q = 0; q < plain->nqis; q++)
		for (uint32_t v = 0; v < values_of(plain, q); v++)
			plain->level[q][v] = height_of(plain, q);
}

/* The next assignment of levels to values, a cut or not; false after the last. */
static bool
plain_next(Plain *plain)
{
	for (int q = 0; q < plain->nqis; q++)
		for (uint32_t v = 0; v < values_of(plain, q); v++)
		{
			if (++plain->level[q][v] <= height_of(plain, q))
				return true;
			plain->level[q][v] = 0;
		}
	return false;
}

/* Is the node at that level above a value shown for it or one below it? */
static bool
is_lowered(const Plain *plain, int q, uint32_t v, int level)
{
	for (uint32_t u = 0; u < values_of(plain, q); u++)
		if (plain->up[q][level][u] == plain->up[q][level][v] && plain->level[q][u] <= level)
			return true;
	return level == height_of(plain, q);
}

/*
 * sibling: a value shows the lowest node above it that is shown at all.  subtree: what
 * is shown at all has all its siblings shown at that level or below.
 */
static bool
is_cut(const Plain *plain, KanonScheme scheme)
{
	for (int q = 0; q < plain->nqis; q++)
		for (uint32_t v = 0; v < values_of(plain, q); v++)
		{
			int level = plain->level[q][v];

			if (level > 0 && is_lowered(plain, q, v, level - 1))
				return false;
			/* of every node on the way up */
			for (int h = level; h < height_of(plain, q) && scheme == KANON_SCHEME_SUBTREE; h++)
				for (uint32_t u = 0; u < values_of(plain, q); u++)
					if (plain->level[q][u] > h && plain->up[q][h + 1][u] == plain->up[q][h + 1][v])
						return false;
		}
	return true;
}

/* What a cell loses by what its value shows: normalized certainty penalty. */
static double
cell_loss(const Plain *plain, int q, uint32_t value)
{
	const KanonColumn *column = &plain->problem->columns[plain->first[q]];
	int level = plain->level[q][value];
	double low = INFINITY, high = -INFINITY, least = INFINITY, most = -INFINITY;
	double weight = 0, values = 0;
	bool endless = false;

	for (int c = plain->first[q]; c < plain->first[q + 1]; c++)
		weight += plain->problem->columns[c].weight;
	if (column->distinct == 1 || level == 0)
		return 0;
	if (level == height_of(plain, q))
		return weight;
	for (uint32_t v = 0; v < column->distinct; v++)
	{
		bool below = plain->up[q][level][v] == plain->up[q][level][value];

		values += below;
		if (column->number == NULL)
			continue;
		if (isfinite(column->number[v]))
		{
			least = fmin(least, column->number[v]);
			most = fmax(most, column->number[v]);
		}
		if (!below)
			continue;
		endless = endless || !isfinite(column->number[v]);
		low = fmin(low, column->number[v]);
		high = fmax(high, column->number[v]);
	}
	if (values < 2)
		return 0;
	if (column->number == NULL)
		return weight * values / column->distinct;
	return weight * (endless ? 1 : (high - low) / (most - least));
}

static double
plain_cost(const Plain *plain)
{
	double cost = 0;

	for (uint32_t i = 0; i < plain->problem->ntypes; i++)
		for (int q = 0; q < plain->nqis; q++)
			cost += (double) plain->problem->rows[i] * cell_loss(plain, q, value_of(plain, q, i));
	return cost;
}

/* Do two values show the same? */
static bool
same_cell(const Plain *plain, int q, uint32_t a, uint32_t b)
{
	int level = plain->level[q][a];

	return level == plain->level[q][b] &&
		   (level == height_of(plain, q) || plain->up[q][level][a] == plain->up[q][level][b]);
}

static bool
same_class(const Plain *plain, uint32_t a, uint32_t b)
{
	for (int q = 0; q < plain->nqis; q++)
		if (!same_cell(plain, q, value_of(plain, q, a), value_of(plain, q, b)))
			return false;
	return true;
}

/* Does a tuple of a population show what a row type does? */
static bool
matches(const Plain *plain, const KanonPopulation *population, uint32_t tuple, uint32_t type)
{
	for (int q = 0; q < plain->nqis; q++)
	{
		int height = height_of(plain, q);
		int level = 0;
		uint32_t code = 0;
		uint32_t value = value_of(plain, q, type);

		/* the lowest node above the tuple's value that some row shows */
		for (; level < height; level++)
		{
			bool shown = false;

			code = population->code[plain->first[q] + level][tuple];
			for (uint32_t v = 0; v < values_of(plain, q) && code != KANON_FOREIGN; v++)
				shown = shown || (plain->level[q][v] == level && plain->up[q][level][v] == code);
			if (shown)
				break;
		}
		if (plain->level[q][value] != level || (level < height && plain->up[q][level][value] != code))
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

/* X of n rows, each with the probability p: how probable is it that r / (r + X) is within the bounds?  Term by term. */
static double
likelihood(const KanonPopulation *population, int64_t r, int64_t n, double p)
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
	return sum;
}

/* The share of a population that shows what a row type does. */
static double
share_of(const Plain *plain, const KanonPopulation *population, uint32_t type)
{
	double share = 1;

	for (int q = 0; q < plain->nqis; q++)
	{
		int height = height_of(plain, q);
		uint32_t value = value_of(plain, q, type);
		double sum = 0, hidden = 1;

		for (uint32_t v = 0; v < population->nvalues[q]; v++)
		{
			int level = 0;
			bool shown = false;

			for (; level < height && !shown; level += !shown)
				for (uint32_t u = 0;
					 u < values_of(plain, q) && population->code[plain->first[q] + level][v] != KANON_FOREIGN;
					 u++)
					shown = shown || (plain->level[q][u] == level &&
									  plain->up[q][level][u] == population->code[plain->first[q] + level][v]);
			hidden -= shown ? population->share[q][v] : 0;
			if (shown && level == plain->level[q][value] &&
				population->code[plain->first[q] + level][v] == plain->up[q][level][value])
				sum += population->share[q][v];
		}
		share *= plain->level[q][value] == height ? fmax(hidden, 0) : sum;
	}
	return share;
}

/* How often rules about populations decided something. */
static int forbidden;

static bool
populations_allow(const Plain *plain, const bool *leader, const int64_t *rows)
{
	const KanonProblem *problem = plain->problem;

	for (int p = 0; p < problem->npopulations; p++)
	{
		const KanonPopulation *population = &problem->populations[p];
		int64_t rest = population->total;

		for (uint32_t type = 0; type < problem->ntypes; type++)
		{
			int64_t found;
			bool *alike;

			if (!leader[type])
				continue;
			if (population->nvalues != NULL)
			{
				if (likelihood(population, rows[type], population->total - plain->n,
							   share_of(plain, population, type)) < population->confidence * (1 - 1e-8))
					return false;
				continue;
			}
			alike = calloc(population->ntypes + 1, sizeof(bool));
			for (uint32_t tuple = 0; tuple < population->ntypes; tuple++)
				alike[tuple] = matches(plain, population, tuple, type);
			found = diverse_found(population, alike);
			free(alike);
			rest -= found;
			if (population->map ? found < problem->k : !is_chance(population, rows[type], found))
				return false;
		}
		if (population->nvalues == NULL && !population->map && !is_chance(population, 0, rest))
			return false;
	}
	return true;
}

/* Do the classes of a cut keep all rules?  *smallest: rows of one. */
static bool
plain_valid(const Plain *plain, int64_t *smallest)
{
	const KanonProblem *problem = plain->problem;
	uint32_t ntypes = problem->ntypes;
	uint32_t *member = malloc((ntypes + 1) * sizeof(uint32_t));
	bool *leader = calloc(ntypes + 1, sizeof(bool));
	bool *done = calloc(ntypes + 1, sizeof(bool));
	int64_t *rows = calloc(ntypes + 1, sizeof(int64_t));
	bool valid = true;

	*smallest = INT64_MAX;
	for (uint32_t i = 0; i < ntypes; i++)
	{
		size_t n = 0;

		if (done[i])
			continue;
		leader[i] = true;
		for (uint32_t j = i; j < ntypes; j++)
			if (!done[j] && same_class(plain, i, j))
			{
				done[j] = true;
				member[n++] = j;
				rows[i] += problem->rows[j];
			}
		if (rows[i] < *smallest)
			*smallest = rows[i];
		valid = valid && rows[i] >= (problem->k_map ? 1 : problem->k) &&
				(problem->privacy == NULL || diverse_allows(problem, member, NULL, n, false));
	}
	if (valid && !populations_allow(plain, leader, rows))
	{
		valid = false;
		forbidden++;
	}
	free(member);
	free(leader);
	free(done);
	free(rows);
	return valid;
}

/* The least cost of all cuts; INFINITY: none keeps the rules. */
static double
exhaustive(Plain *plain, KanonScheme scheme)
{
	double least = INFINITY;

	memset(plain->level, 0, sizeof(plain->level));
	do
	{
		int64_t smallest;

		if (is_cut(plain, scheme) && plain_cost(plain) < least && plain_valid(plain, &smallest))
			least = plain_cost(plain);
	} while (plain_next(plain));
	return least;
}

/* How many assignments of levels there are, or more than enough. */
static double
assignments(const Plain *plain)
{
	double n = 1;

	for (int q = 0; q < plain->nqis; q++)
		n *= pow(height_of(plain, q) + 1, values_of(plain, q));
	return n;
}

/* What a release shows of each value; it must be the same in every row. */
static void
plain_of_release(Plain *plain, const KanonRelease *release)
{
	for (int q = 0; q < plain->nqis; q++)
		for (uint32_t v = 0; v < values_of(plain, q); v++)
			plain->level[q][v] = -1;
	assert_int_equal(release->dropped, 0);
	for (size_t f = 0; f < release->nflows; f++)
		for (int q = 0; q < plain->nqis; q++)
		{
			int *level = &plain->level[q][value_of(plain, q, release->flows[f].type)];
			KanonPattern pattern = release->classes[release->flows[f].class_].pattern;
			int here = 0;

			while (plain->first[q] + here < plain->first[q + 1] && kanon_has(pattern, plain->first[q] + here))
				here++;
			assert_true(*level == -1 || *level == here);
			*level = here;
		}
	for (int q = 0; q < plain->nqis; q++)
		for (uint32_t v = 0; v < values_of(plain, q); v++)
			assert_true(plain->level[q][v] >= 0);
}

/* ---- moves by their definition ---- */

/* Shows one child of the node that stands for value v (sibling), or all of them; false: there is none. */
static bool
specialize(Plain *plain, int q, uint32_t v, KanonScheme scheme, Plain *result)
{
	int level = plain->level[q][v];

	*result = *plain;
	if (level == 0)
		return false;
	for (uint32_t u = 0; u < values_of(plain, q); u++)
		if (same_cell(plain, q, u, v) &&
			(scheme == KANON_SCHEME_SUBTREE || plain->up[q][level - 1][u] == plain->up[q][level - 1][v]))
			result->level[q][u] = level - 1;
	return true;
}

/* Each move once: v is the least value that it concerns. */
static bool
is_first(const Plain *plain, const Plain *result, int q, uint32_t v)
{
	for (uint32_t u = 0; u < v; u++)
		if (plain->level[q][u] != result->level[q][u])
			return false;
	return true;
}

static bool
is_maximal(Plain *plain, KanonScheme scheme)
{
	for (int q = 0; q < plain->nqis; q++)
		for (uint32_t v = 0; v < values_of(plain, q); v++)
		{
			Plain result;
			int64_t smallest;

			if (specialize(plain, q, v, scheme, &result) && plain_valid(&result, &smallest))
				return false;
		}
	return true;
}

static double
entropy(const double *count, uint32_t n)
{
	double total = 0, sum = 0;

	for (uint32_t v = 0; v < n; v++)
		total += count[v];
	for (uint32_t v = 0; v < n; v++)
		if (count[v] > 0)
			sum -= count[v] / total * log2(count[v] / total);
	return sum * total;
}

/* Bits of the class value that are not known of the rows concerned, all together, by what they show of a column. */
static double
unknown(const Plain *plain, const Plain *before, int q, uint32_t v, double *rows, bool *mixed)
{
	const KanonProblem *problem = plain->problem;
	const KanonColumn *column = &problem->extra[problem->subtree->class_column];
	double sum = 0;
	bool done[MOST_VALUES] = {false};

	*rows = 0;
	*mixed = false;
	for (uint32_t u = 0; u < values_of(plain, q); u++)
	{
		double *count = calloc(column->distinct, sizeof(double));
		uint32_t values = 0;

		for (uint32_t i = 0; i < problem->ntypes; i++)
		{
			uint32_t w = value_of(plain, q, i);

			if (done[u] || !same_cell(before, q, w, v) || !same_cell(plain, q, w, u) ||
				!same_cell(before, q, u, v))
				continue;
			count[column->code[i]] += (double) problem->rows[i];
			*rows += (double) problem->rows[i];
		}
		for (uint32_t w = 0; w < values_of(plain, q); w++)
			done[w] = done[w] || same_cell(plain, q, w, u);
		for (uint32_t c = 0; c < column->distinct; c++)
			values += count[c] > 0;
		*mixed = *mixed || values > 1;
		sum += entropy(count, column->distinct);
		free(count);
	}
	return sum;
}

/* The papers' score of a move; negative: it is not beneficial. */
static double
score_of(const Plain *plain, const Plain *result, int q, uint32_t v, int64_t smallest, int64_t then)
{
	double rows, left;
	bool mixed, dummy;
	double gain;

	if (plain->problem->subtree->class_column < 0)
		return fmax(plain_cost(plain) - plain_cost(result), 0) / (double) (smallest - then + 1);
	gain = unknown(plain, plain, q, v, &rows, &mixed) / rows;
	if (!mixed)
		return -1;
	left = unknown(result, plain, q, v, &rows, &dummy) / rows;
	return fmax(gain - left, 0) / (double) (smallest - then + 1);
}

/* Is the cut at the end one that the algorithm may come to?  Scores that are as good as equal are ties. */
static bool
may_come_to(Plain *plain, const Plain *end, KanonScheme scheme, int *steps)
{
	int64_t smallest;
	double best = -1;
	Plain moves[4 * MOST_VALUES];
	double scores[4 * MOST_VALUES];
	int n = 0;

	if (--*steps < 0)
		return true;
	(void) plain_valid(plain, &smallest);
	for (int q = 0; q < plain->nqis; q++)
		for (uint32_t v = 0; v < values_of(plain, q); v++)
		{
			int64_t then;

			if (!specialize(plain, q, v, scheme, &moves[n]) || !is_first(plain, &moves[n], q, v) ||
				!plain_valid(&moves[n], &then))
				continue;
			scores[n] = score_of(plain, &moves[n], q, v, smallest, then);
			best = fmax(best, scores[n]);
			n += scores[n] >= 0;
		}
	if (n == 0)
		return memcmp(plain->level, end->level, sizeof(plain->level)) == 0;
	for (int i = 0; i < n; i++)
		if (scores[i] >= best - 1e-9 * (1 + best) && may_come_to(&moves[i], end, scheme, steps))
			return true;
	return false;
}

/* ---- problems ---- */

static KanonProblem *
make(Host *host, uint64_t *random, size_t nrows, int nqis, int more)
{
	int level[KANON_MAX_COLUMNS];
	uint32_t up[KANON_MAX_COLUMNS][MOST_VALUES];
	uint32_t most[KANON_MAX_COLUMNS];
	int ncolumns = 0;
	uint32_t *code;
	KanonProblem *problem;

	for (int q = 0; q < nqis; q++)
	{
		int height = 1 + (int) random_below(random, 3);

		for (int h = 0; h < height; h++, ncolumns++)
		{
			uint32_t step = 0;

			level[ncolumns] = h;
			most[ncolumns] = 1 + random_below(random, MOST_VALUES);
			for (uint32_t v = 0; v < MOST_VALUES; v++)
				up[ncolumns][v] = v == 0 ? 0 : (step += random_below(random, 2));
		}
	}
	for (int e = 0; e < more; e++, ncolumns++)
	{
		level[ncolumns] = 0;
		most[ncolumns] = 3;
	}
	code = calloc(nrows * (size_t) ncolumns, sizeof(*code));
	for (size_t i = 0; i < nrows; i++)
		for (int c = 0; c < ncolumns; c++)
		{
			uint32_t *cell = code + i * (size_t) ncolumns + (size_t) c;

			*cell = level[c] > 0 ? up[c][cell[-1]] : random_below(random, 1 + random_below(random, most[c]));
		}
	problem = problem_from_codes(host, code, nrows, ncolumns, 1 + random_below(random, 4));
	free(code);
	problem_set_levels(problem, level);
	for (int c = 0; c < problem->ncolumns; c++)
	{
		KanonColumn *column = (KanonColumn *) &problem->columns[c];

		diverse_dense(column, problem->ntypes);
		column->level = level[c];
		column->weight = 1 + random_below(random, 3);
	}
	if (random_below(random, 2) == 0)
	{
		double *number = malloc(MOST_VALUES * sizeof(double));

		for (uint32_t v = 0; v < MOST_VALUES; v++)
			number[v] = v * v;
		if (random_below(random, 3) == 0)
			number[problem->columns[0].distinct - 1] = NAN;
		((KanonColumn *) problem->columns)[0].number = number;
	}
	problem->residual = KANON_RESIDUAL_ERROR;
	return problem;
}

/* A class column as the one column beside the quasi-identifiers, without a rule. */
static void
make_class_column(KanonProblem *problem, KanonSubtreeOptions *options)
{
	problem->ncolumns--;
	problem->nextra = 1;
	problem->extra = problem->columns + problem->ncolumns;
	options->class_column = 0;
}

static bool
is_monotone(const KanonProblem *problem)
{
	return kanon_presence_monotone(problem) &&
		   (problem->privacy == NULL || kanon_privacy_monotone(problem->privacy));
}

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-8 * (1 + fabs(a) + fabs(b));
}

/* ---- tests ---- */

/* What each method must keep, and the optimum. */
static void
check(const KanonProblem *problem, Plain *plain, double least, const KanonRelease *release,
	  const KanonReport *report)
{
	KanonScheme scheme = problem->subtree->scheme;
	KanonMeasures measures;
	int64_t smallest;

	plain_of_release(plain, release);
	assert_true(is_cut(plain, scheme));
	assert_true(plain_valid(plain, &smallest));
	assert_true(near(report->cost, plain_cost(plain)));
	assert_int_equal(kanon_measure(problem, release, &measures, NULL), KANON_OK);
	assert_true(near(report->cost, measures.ncp));
	assert_true(report->lower_bound <= least + 1e-9 * (1 + least));
	if (report->proven || problem->subtree->method == KANON_SUBTREE_OPTIMAL)
		assert_true(near(report->cost, least) && report->proven);
	if (is_monotone(problem) && problem->subtree->class_column < 0 &&
		problem->subtree->method != KANON_SUBTREE_OPTIMAL)
		assert_true(is_maximal(plain, scheme));
}

static void
brute_force(void **state)
{
	uint64_t random = 22;
	int solved[4][2] = {{0}}, none = 0, unproven = 0, not_found = 0;

	(void) state;
	for (int round = 0; round < cases_or(700, 5000);)
	{
		Host host;
		bool rules = round % 3 == 1;
		bool classes = !rules && round / 2 % 2 == 0;
		KanonSubtreeOptions options = {.class_column = -1, .scheme = (KanonScheme) (round % 2)};
		KanonProblem *problem;
		Plain plain;
		double least;

		host_init(&host);
		problem = make(&host, &random, 1 + random_below(&random, 30), 1 + (int) random_below(&random, 3),
					   rules ? 2 : classes);
		if (rules)
			diverse_make(problem, &random, DIVERSE_ALL);
		if (classes)
			make_class_column(problem, &options);
		if (round % 7 >= 5 && (problem->privacy == NULL || kanon_privacy_person(problem->privacy) < 0))
		{
			if (round % 14 >= 12)
				diverse_shares(problem, &random);
			else
				diverse_populations(problem, &random);
		}
		plain_open(&plain, problem);
		if (rules && round / 2 % 2 == 0 && problem->nextra > 0)
			options.class_column = 0;
		problem->subtree = &options;
		/* privacy rules may have taken a level for a column of theirs */
		if (plain.nqis == 0 || plain.nqis > 4 || assignments(&plain) > 3000)
		{
			diverse_free_populations(problem);
			diverse_free(problem);
			problem_free(problem);
			continue;
		}
		round++;
		least = exhaustive(&plain, options.scheme);
		none += least == INFINITY;
		for (int method = 0; kanon_methods(KANON_SUBTREE)[method].name != NULL; method++)
		{
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			options.method = (KanonSubtreeMethod) method;
			status = kanon_solve_subtree(problem, &release, &report);
			if (status == KANON_NOT_FOUND)
			{
				assert_true(!is_monotone(problem) && method != KANON_SUBTREE_OPTIMAL);
				not_found++;
				continue;
			}
			assert_int_equal(status, least == INFINITY ? KANON_INFEASIBLE : KANON_OK);
			if (status == KANON_OK)
			{
				check(problem, &plain, least, &release, &report);
				solved[method][options.scheme]++;
				unproven += !report.proven;
				kanon_release_free(problem, &release);
			}
		}
		diverse_free_populations(problem);
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(none > 0 && unproven > 0 && forbidden > 0 && not_found > 0);
	for (int method = 0; kanon_methods(KANON_SUBTREE)[method].name != NULL; method++)
		assert_true(solved[method][0] > cases(700) / 40 && solved[method][1] > cases(700) / 40);
}

/* Shares of a population lie below hidden nodes.  Columns are few, so that many cuts hide some values alone. */
static void
hidden_shares(void **state)
{
	uint64_t random = 23;

	(void) state;
	for (int i = 0; i < cases(900); i++)
	{
		Host host;
		KanonSubtreeOptions options = {.class_column = -1, .method = KANON_SUBTREE_OPTIMAL};
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;
		Plain plain;
		double least;

		host_init(&host);
		problem = make(&host, &random, 4 + random_below(&random, 12), 1 + (int) random_below(&random, 2), 0);
		diverse_shares(problem, &random);
		plain_open(&plain, problem);
		options.scheme = (KanonScheme) (i % 2);
		problem->subtree = &options;
		least = assignments(&plain) > 3000 ? NAN : exhaustive(&plain, options.scheme);
		if (!isnan(least))
		{
			KanonStatus status = kanon_solve_subtree(problem, &release, &report);

			assert_int_equal(status, least == INFINITY ? KANON_INFEASIBLE : KANON_OK);
			if (status == KANON_OK)
			{
				check(problem, &plain, least, &release, &report);
				kanon_release_free(problem, &release);
			}
		}
		diverse_free_populations(problem);
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* tds comes to a cut that the papers' algorithm comes to; without a class column top_down is the same. */
static void
as_published(void **state)
{
	uint64_t random = 2005;
	int followed = 0;

	(void) state;
	for (int round = 0; round < cases(400); round++)
	{
		Host host;
		bool classes = round % 4 < 3;
		KanonSubtreeOptions options = {
			.method = KANON_SUBTREE_TDS, .class_column = -1, .scheme = (KanonScheme) (round % 2)};
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;
		KanonStatus status;
		Plain plain, end;
		int steps = 2000;

		host_init(&host);
		problem =
			make(&host, &random, 5 + random_below(&random, 60), 1 + (int) random_below(&random, 3), classes);
		if (classes)
			make_class_column(problem, &options);
		problem->subtree = &options;
		plain_open(&plain, problem);
		end = plain;
		status = kanon_solve_subtree(problem, &release, &report);
		assert_true(status == KANON_OK || plain.n < problem->k);
		if (status == KANON_OK)
		{
			plain_of_release(&end, &release);
			plain_blank(&plain);
			assert_true(may_come_to(&plain, &end, options.scheme, &steps));
			followed += steps >= 0;
			kanon_release_free(problem, &release);
		}
		assert_int_equal(host.blocks, 0);
		problem->ncolumns += problem->nextra;
		problem_free(problem);
	}
	assert_true(followed * 100 >= cases(400) * 80);
}

/* Nats for telling a cut's class values one after the other, each by those of its class before it (Laplace). */
static double
nats_of(const Plain *plain)
{
	const KanonProblem *problem = plain->problem;
	const KanonColumn *column = &problem->extra[problem->subtree->class_column];
	double sum = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
		for (int64_t row = 0; row < problem->rows[i]; row++)
		{
			int64_t all = row, same = row;

			for (uint32_t j = 0; j < i; j++)
				if (same_class(plain, i, j))
				{
					all += problem->rows[j];
					same += column->code[j] == column->code[i] ? problem->rows[j] : 0;
				}
			sum -= log((double) (same + 1) / (double) (all + column->distinct));
		}
	return sum;
}

static KanonStatus
solve_plain(const KanonProblem *problem, Plain *plain)
{
	KanonRelease release;
	KanonReport report;
	KanonStatus status = kanon_solve_subtree(problem, &release, &report);

	if (status == KANON_OK)
	{
		plain_of_release(plain, &release);
		kanon_release_free(problem, &release);
	}
	return status;
}

/* A second look never leaves more of the class value unknown, and often less. */
static void
second_look(void **state)
{
	uint64_t random = 7;
	int better = 0, found = 0;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		Host host;
		KanonSubtreeOptions options = {.class_column = -1, .scheme = (KanonScheme) (round % 2)};
		KanonProblem *problem;
		Plain plain, once;
		int64_t smallest;

		host_init(&host);
		problem = make(&host, &random, 30 + random_below(&random, 60), 3 + (int) random_below(&random, 2), 1);
		make_class_column(problem, &options);
		problem->subtree = &options;
		plain_open(&plain, problem);
		once = plain;
		if (solve_plain(problem, &plain) == KANON_OK)
		{
			double nats = nats_of(&plain);

			assert_true(is_cut(&plain, options.scheme));
			assert_true(plain_valid(&plain, &smallest));
			options.method = KANON_SUBTREE_TDS;
			assert_int_equal(solve_plain(problem, &once), KANON_OK);
			assert_true(nats <= nats_of(&once) * (1 + 1e-9));
			better += nats < nats_of(&once) * (1 - 1e-9);
			found++;
		}
		assert_int_equal(host.blocks, 0);
		problem->ncolumns += problem->nextra;
		problem_free(problem);
	}
	assert_true(better * 5 >= found);
}

/* A table of more rows, for what fails. */
static KanonProblem *
larger(Host *host, KanonSubtreeOptions *options, int what)
{
	uint64_t random = 5;
	KanonProblem *problem = make(host, &random, 300, 3, what % 2);

	problem->k = 4;
	options->class_column = -1;
	if (what % 2 == 1)
		make_class_column(problem, options);
	problem->subtree = options;
	return problem;
}

/* Every allocation refused once, every poll answered with yes once. */
static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int what = 0; what < 24; what++)
	{
		KanonSubtreeOptions options = {.method = (KanonSubtreeMethod) (what % 3),
									   .scheme = (KanonScheme) (what / 3 % 2)};
		bool memory = what / 6 % 2 == 0;
		bool populations = what >= 12;
		Failure failure = {.how = memory ? KANON_NO_MEMORY : KANON_CANCELLED};

		while (fails_again(&failure))
		{
			uint64_t random = 3;
			Host host;
			KanonProblem *problem;
			KanonRelease release;
			KanonReport report;

			host_init(&host);
			problem = larger(&host, &options, populations ? 0 : what % 3 == 0);
			if (populations)
				diverse_populations(problem, &random);
			for (int p = 0; p < problem->npopulations; p++)
			{
				((KanonPopulation *) problem->populations)[p].least = 0;
				((KanonPopulation *) problem->populations)[p].most = 1;
			}
			fail_at(&host, &failure);
			failure.status = kanon_solve_subtree(problem, &release, &report);
			if (failure.status == KANON_OK)
				kanon_release_free(problem, &release);
			assert_int_equal(host.blocks, 0);
			diverse_free_populations(problem);
			problem->ncolumns += problem->nextra;
			problem_free(problem);
		}
		assert_true(failure.at > (memory ? 20 : 2));
	}
}

/* Time that is up at once: the cut at the roots keeps the rules, and the report says what happened. */
static void
in_no_time(void **state)
{
	(void) state;
	for (int method = 0; kanon_methods(KANON_SUBTREE)[method].name != NULL; method++)
	{
		KanonSubtreeOptions options = {.method = (KanonSubtreeMethod) method};
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;

		host_init(&host);
		problem = larger(&host, &options, 0);
		assert_int_equal(kanon_solve_subtree(problem, &release, &report), KANON_OK);
		assert_true(release.nclasses > 1);
		assert_string_equal(report.detail, "");
		kanon_release_free(problem, &release);
		problem->time_limit = 0;
		assert_int_equal(kanon_solve_subtree(problem, &release, &report), KANON_OK);
		assert_int_equal(release.nclasses, 1);
		assert_true(!report.proven && report.lower_bound < report.cost);
		assert_string_equal(report.detail, "time_limit");
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

static void
refused(void **state)
{
	Host host;
	KanonSubtreeOptions options = {.class_column = -1};
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;
	uint32_t unnested[] = {0, 0, 0, 1};
	int level[] = {0, 1};

	(void) state;
	host_init(&host);
	problem = problem_from_codes(&host, unnested, 2, 2, 2);
	problem_set_levels(problem, level);
	problem->subtree = &options;
	assert_int_equal(kanon_solve_subtree(problem, &release, &report), KANON_BROKEN);
	assert_non_null(strstr(report.detail, "do not nest"));
	((KanonColumn *) problem->columns)[1].level = 0;
	problem->k = 3;
	assert_int_equal(kanon_solve_subtree(problem, &release, &report), KANON_INFEASIBLE);
	assert_non_null(strstr(report.detail, "may not be a class"));
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/*
 * Cuts that break k-map with k = 3 above one that keeps it.  Of one column, values and the nodes above; the
 * population has, beside `all` of each value, two rows of a value that the table does not have, below node 0.
 * These show that node, or, with 0 and 1 shown instead of it, the root.
 */
typedef struct Wandering
{
	uint32_t nvalues;
	uint32_t above[4];
	int64_t rows[4];
	int64_t all[5];
} Wandering;

static const Wandering wanderings[] = {
	/* what is left of the root is 2: one row, or three; no single move from the root leads there */
	{3, {0, 0, 1}, {1, 1, 1}, {7, 6, 1, 2}},
	/* what is left is 3, once 2 is shown: that move breaks the rule before 0 and 1 are shown, and keeps it after */
	{4, {0, 0, 1, 2}, {1, 5, 3, 1}, {3, 5, 3, 1, 2}},
};

static void
solve_wandering(const Wandering *table)
{
	int level[] = {0, 1};
	uint32_t n = table->nvalues;
	uint32_t code[8], value[5], above[5];
	KanonPopulation population = {
		.ntypes = n + 1, .rows = table->all, .code = {value, above}, .map = true, .most = 1};
	KanonSubtreeOptions options = {.class_column = -1, .scheme = KANON_SCHEME_SIBLING};
	Host host;
	KanonProblem *problem;
	Plain plain;

	for (uint32_t v = 0; v <= n; v++)
	{
		value[v] = v < n ? v : KANON_FOREIGN;
		above[v] = v < n ? table->above[v] : 0;
		population.total += table->all[v];
	}
	for (uint32_t v = 0; v < n; v++)
	{
		code[2 * v] = value[v];
		code[2 * v + 1] = above[v];
	}
	host_init(&host);
	problem = problem_from_codes(&host, code, n, 2, 3);
	problem_set_levels(problem, level);
	memcpy((int64_t *) problem->rows, table->rows, n * sizeof(int64_t));
	problem->residual = KANON_RESIDUAL_ERROR;
	problem->populations = &population;
	problem->npopulations = 1;
	problem->k_map = true;
	problem->subtree = &options;
	plain_open(&plain, problem);
	/* one row is suppressed, in a column of weight 2 */
	assert_true(near(exhaustive(&plain, options.scheme), 2));
	for (int method = 0; kanon_methods(KANON_SUBTREE)[method].name != NULL; method++)
	{
		KanonRelease release;
		KanonReport report;

		options.method = (KanonSubtreeMethod) method;
		assert_int_equal(kanon_solve_subtree(problem, &release, &report), KANON_OK);
		check(problem, &plain, 2, &release, &report);
		kanon_release_free(problem, &release);
	}
	problem->populations = NULL;
	problem->npopulations = 0;
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

static void
wandering(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(wanderings) / sizeof(*wanderings); i++)
		solve_wandering(&wanderings[i]);
}

/* The enumeration tells how much of it is over, never less than before. */
static void
shares(void **state)
{
	KanonSubtreeOptions options = {.class_column = -1, .method = KANON_SUBTREE_OPTIMAL};
	int most = 0;

	(void) state;
	if (KANON_POLL_WORK > 64)
		skip();
	for (uint64_t seed = 1; seed <= 20; seed++)
	{
		uint64_t random = seed;
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;

		host_init(&host);
		host.watched = "optimal";
		problem = problem_random_levels(&host, &random, 400, 3, 4, 2);
		problem->subtree = &options;
		if (kanon_solve_subtree(problem, &release, &report) == KANON_OK)
			kanon_release_free(problem, &release);
		most = host.shares > most ? host.shares : most;
		assert_false(host.backwards);
		problem_free(problem);
	}
	assert_true(most >= 3);
}

/* Adult, k = 5: the least that a cut can lose is proven, and what siblings one by one lose is less. */
static void
adult(void **state)
{
	const char *data = getenv("KANON_DATA");
	KanonSubtreeOptions options = {.class_column = -1};
	Host host;
	KanonProblem *problem;
	double cost[2][2] = {{0}};

	(void) state;
	host_init(&host);
	problem = data == NULL || !real_tables()
				  ? NULL
				  : problem_read_levels(&host, data, "adult-arx", "adult-hierarchies", 5);
	if (problem == NULL)
		skip();
	problem->residual = KANON_RESIDUAL_ERROR;
	problem->subtree = &options;
	for (int scheme = 0; scheme < 2; scheme++)
		for (int method = 0; method < 2 - scheme; method++)
		{
			KanonRelease release;
			KanonReport report;

			options.scheme = (KanonScheme) scheme;
			options.method = (KanonSubtreeMethod) method;
			assert_int_equal(kanon_solve_subtree(problem, &release, &report), KANON_OK);
			cost[scheme][method] = report.cost;
			assert_true(report.lower_bound > 0 && report.lower_bound <= report.cost);
			assert_int_equal(report.proven, method == KANON_SUBTREE_OPTIMAL);
			kanon_release_free(problem, &release);
		}
	assert_true(fabs(cost[0][KANON_SUBTREE_OPTIMAL] - 353568) < 0.5);
	assert_true(cost[0][KANON_SUBTREE_TOP_DOWN] >= cost[0][KANON_SUBTREE_OPTIMAL] - 1e-6);
	assert_true(cost[1][KANON_SUBTREE_TOP_DOWN] < cost[0][KANON_SUBTREE_TOP_DOWN]);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brute_force), cmocka_unit_test(hidden_shares),     cmocka_unit_test(as_published),
		cmocka_unit_test(second_look), cmocka_unit_test(memory_and_cancel), cmocka_unit_test(in_no_time),
		cmocka_unit_test(refused),     cmocka_unit_test(wandering),         cmocka_unit_test(adult),
		cmocka_unit_test(shares),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
