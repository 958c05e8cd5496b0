/*
 * compare_queries.c: the workload of the anatomy paper (section 6.1 there): how many rows have, in
 * each of some columns, one of b values?  With |A| values of a column and d columns asked about, b
 * = |A| * selectivity ^ (1 / d), rounded up.  A query's values of a column of numbers or dates
 * follow one another, as in a range; of others they are any.  A query asks about one kept column
 * at most, like the paper's sensitive one.
 */
#include "compat.h"
#include "assess/assess.h"

#include <math.h>

#include "util/random.h"

/* A query's values of a column: below[v] of the values before v. */
typedef struct Asked
{
	int column;
	uint32 *below; /* [distinct + 1] */
} Asked;

static uint32
draw(uint64 *state, uint32 n)
{
	return (uint32) (kanon_random_split(state) % n);
}

/* Some b of the first n values. */
static void
ask(Asked *asked, const Compared *compared, double share, uint32 *codes, uint64 *state)
{
	const KanonColumn *values = &compared->rows->grouped[asked->column];
	bool numerical = compared->source->qis[asked->column].numerical;
	uint32 n = values->distinct - (numerical && values->has_null && values->distinct > 1);
	uint32 b = (uint32) Min(ceil(n * share), n);

	memset(asked->below, 0, sizeof(uint32) * ((Size) values->distinct + 1));
	if (numerical)
	{
		uint32 first = draw(state, n - b + 1);

		for (uint32 v = first; v < first + b; v++)
			asked->below[v + 1] = 1;
	}
	else
	{
		for (uint32 v = 0; v < n; v++)
			codes[v] = v;
		for (uint32 v = 0; v < b; v++)
		{
			uint32 other = v + draw(state, n - v);
			uint32 code = codes[other];

			codes[other] = codes[v];
			codes[v] = code;
			asked->below[code + 1] = 1;
		}
	}
	for (uint32 v = 0; v < values->distinct; v++)
		asked->below[v + 1] += asked->below[v];
}

/* The share of a cell's values that are asked about. */
static double
answer(const Asked *asked, Spread spread)
{
	uint32 fitting = 0;

	if (spread.n == 0)
		return 0;
	if (spread.codes == NULL)
		fitting = asked->below[spread.first + spread.n] - asked->below[spread.first];
	else
		for (uint32 j = 0; j < spread.n; j++)
			fitting += asked->below[spread.codes[j] + 1] - asked->below[spread.codes[j]];
	return (double) fitting / spread.n;
}

static double
count_rows(const Compared *compared, const Asked *asked, int n)
{
	double rows = 0;

	for (uint32 i = 0; i < compared->rows->ntypes; i++)
	{
		bool fits = true;

		for (int d = 0; d < n && fits; d++)
			fits = answer(&asked[d], (Spread){1, compared->rows->grouped[asked[d].column].code[i], NULL}) > 0;
		if (fits)
			rows += (double) compared->rows->rows[i];
	}
	return rows;
}

static double
estimate_rows(const Compared *compared, const Asked *asked, int n)
{
	double rows = 0;

	for (uint32 i = 0; i < compared->records->ntypes; i++)
	{
		double share = (double) compared->records->rows[i];

		for (int d = 0; d < n && share > 0; d++)
			share *= answer(&asked[d], compare_spread(compared, i, asked[d].column));
		rows += share;
	}
	return rows;
}

/* Which columns a query asks about: some quasi-identifiers, and one that was kept. */
static int
choose(const Compared *compared, const Asked *all, int *order, Asked *query, uint64 *state)
{
	int n = 1 + (int) draw(state, compared->nqis);
	int nkept = compared->n - compared->nqis;

	for (int d = 0; d < n; d++)
	{
		int other = d + (int) draw(state, compared->nqis - d);
		int column = order[other];

		order[other] = order[d];
		order[d] = column;
		query[d] = all[column];
	}
	if (nkept > 0)
		query[n++] = all[compared->nqis + (int) draw(state, nkept)];
	return n;
}

int
compare_queries(const Compared *compared, int queries, double selectivity, uint64 seed, double *errors)
{
	Border *border = compared->border;
	uint64 state = seed;
	uint32 most = 1;
	uint32 *codes;
	Asked *all = border_palloc(border, sizeof(Asked) * compared->n);
	Asked *query = border_palloc(border, sizeof(Asked) * compared->n);
	int *order = border_palloc(border, sizeof(int) * compared->n);
	int found = 0;

	if (compared->rows->nrows == 0)
		return 0;
	for (int c = 0; c < compared->n; c++)
	{
		uint32 distinct = compared->rows->grouped[c].distinct;

		order[c] = c;
		all[c] = (Asked){c, border_palloc(border, sizeof(uint32) * ((Size) distinct + 1))};
		most = Max(most, distinct);
	}
	codes = border_palloc(border, sizeof(uint32) * (Size) most);
	for (int q = 0; q < queries; q++)
	{
		int n = choose(compared, all, order, query, &state);
		double rows;

		CHECK_FOR_INTERRUPTS();
		for (int d = 0; d < n; d++)
			ask(&query[d], compared, pow(selectivity, 1.0 / n), codes, &state);
		rows = count_rows(compared, query, n);
		if (rows > 0)
			errors[found++] = fabs(estimate_rows(compared, query, n) - rows) / rows;
	}
	return found;
}
