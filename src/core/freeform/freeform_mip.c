/*
 * freeform_mip.c: the exact optimum, for small tables.
 *
 * Doka, Xue, Tsoumakos, Karras, "k-Anonymization by Freeform Generalization",
 * ASIACCS 2015, section 4, has a variable for every pair of row and record.  Here
 * a variable counts the records that show one set of k rows, so that the price of
 * a record is exact in the linear relaxation, too:
 *
 *     min  sum_T c_T y_T     over sets T of k rows (equal rows are one type,
 *          sum_T m_Ti y_T = k n_i    which T has m_Ti <= n_i times)
 *          y_T >= 0, whole
 *
 * Every k-regular graph is such a multiset of n records; and any one can be
 * regular row by row, as the k n_i matches of a type are shared out among its rows
 * in turn.  There are too many sets to list: the relaxation begins with those of
 * hungarian's graph, and others come in as long as they cost less than the prices of their
 * rows (freeform_sets.c).  Then only sets whose reduced cost does not exceed the gap
 * to hungarian's graph can be in a cheaper one: these make the integer program.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/linear_program.h"

/* Sets of k rows that there may be; most of them are passed over unseen. */
#define MOST_SETS 1e8

/* Sets of the integer program; each takes some 100 bytes and k entries of GLPK's. */
#define MOST_COLUMNS 200000

/* Sets that come in together. */
#define MOST_AT_ONCE 200

#ifdef HAVE_GLPK
#include <limits.h>

/* Prices a record this close are the same: GLPK is no more exact. */
#define CLOSE 1e-7

/* GLPK leaves out what is better by less than this, by the cost (its tol_obj). */
#define LEFT_OUT 1e-7

typedef struct Mip
{
	KanonScratch scratch;
	LinearProgram lp;
	FreeformWork *work;
	KanonPace pace;
	uint32_t ntypes;
	uint32_t *type;  /* [n] of each row */
	uint32_t *first; /* [ntypes] a row of each type: its rows follow one another */
	uint32_t *rows;  /* [ntypes] */
	FreeformSets sets;
	uint32_t *best; /* [n * k] types of the records of the best solution */
	uint32_t nbest; /* of them so far */
	int *ind;       /* [k + 1] */
	double *val;
	double upper; /* cost of the best solution known, of 1 a record that shows nothing */
	bool found;   /* it is GLPK's */
	double bound;
	double root; /* the bound before branching */
	int64_t nodes;
} Mip;

static bool
same_values(const FreeformWork *work, uint32_t a, uint32_t b)
{
	for (int c = 0; c < work->ncolumns; c++)
		if (work->value[c][a] != work->value[c][b])
			return false;
	return true;
}

/* Equal rows follow one another. */
static bool
find_types(Mip *mip)
{
	const FreeformWork *work = mip->work;

	mip->type = kanon_take(&mip->scratch, work->n, sizeof(uint32_t));
	mip->first = kanon_take(&mip->scratch, work->n, sizeof(uint32_t));
	mip->rows = kanon_take0(&mip->scratch, work->n, sizeof(uint32_t));
	mip->ind = kanon_take(&mip->scratch, (size_t) work->n + 2, sizeof(int));
	mip->val = kanon_take(&mip->scratch, (size_t) work->n + 2, sizeof(double));
	if (mip->scratch.failed)
		return false;
	for (uint32_t i = 0; i < work->n; i++)
	{
		if (i == 0 || !same_values(work, i - 1, i))
			mip->first[mip->ntypes++] = i;
		mip->type[i] = mip->ntypes - 1;
		mip->rows[mip->ntypes - 1]++;
	}
	return true;
}

static KanonStatus
open_sets(Mip *mip)
{
	mip->best = kanon_take(&mip->scratch, mip->work->n, mip->work->k * sizeof(uint32_t));
	mip->sets = (FreeformSets){.work = mip->work,
							   .pace = &mip->pace,
							   .scratch = &mip->scratch,
							   .ntypes = mip->ntypes,
							   .first = mip->first,
							   .rows = mip->rows};
	return freeform_sets_open(&mip->sets);
}

/* How many sets there are; beyond MOST_SETS it does not matter. */
static double
count_sets(const Mip *mip, double *ways)
{
	uint32_t k = mip->work->k;

	/* ways[m]: to choose m rows among the types so far */
	memset(ways, 0, (k + 1) * sizeof(double));
	ways[0] = 1;
	for (uint32_t t = 0; t < mip->ntypes; t++)
		for (uint32_t m = k; m > 0; m--)
			for (uint32_t own = 1; own <= mip->rows[t] && own <= m; own++)
				ways[m] += ways[m - own];
	return ways[k];
}

/* The cost of a record that shows these types. */
static double
set_cost(const Mip *mip, const uint32_t *set)
{
	const FreeformWork *work = mip->work;
	uint32_t k = work->k;
	int64_t cost = 0;

	for (int c = 0; c < work->ncolumns; c++)
	{
		const int32_t *value = work->value[c];
		int32_t low = value[mip->first[set[0]]];
		int32_t high = low;
		int64_t distinct = 0;

		if (work->space->columns[c].levels > 0)
		{
			uint32_t node = (uint32_t) low;

			for (uint32_t x = 1; x < k; x++)
				node = freeform_join(work, c, node, (uint32_t) value[mip->first[set[x]]]);
			cost += work->price[c][node];
			continue;
		}
		for (uint32_t x = 0; x < k; x++)
		{
			int32_t v = value[mip->first[set[x]]];
			uint32_t y = 0;

			low = v < low ? v : low;
			high = v > high ? v : high;
			while (value[mip->first[set[y]]] != v)
				y++;
			distinct += x == y;
		}
		if (work->space->columns[c].number)
			cost += high - low < work->space->columns[c].full ? high - low : work->space->columns[c].full;
		else
			cost += (distinct - 1) * work->step[c];
	}
	return (double) cost / KANON_FREEFORM_UNITS;
}

static KanonStatus
check_sets(Mip *mip)
{
	FreeformWork *work = mip->work;
	double *ways = kanon_alloc(work->env, (size_t) work->k + 1, sizeof(double));
	double n;

	if (ways == NULL)
		return KANON_NO_MEMORY;
	n = count_sets(mip, ways);
	kanon_free(work->env, ways);
	if (n <= MOST_SETS)
		return KANON_OK;
	snprintf(work->detail, work->detail_size, "the %u rows have %.3g sets of %u rows, mip takes at most %.0f",
			 work->n, n, work->k, MOST_SETS);
	return KANON_TOO_LARGE;
}

/* k matches of each row. */
static void
load_rows(Mip *mip)
{
	double k = mip->work->k;

	lp_add_rows(&mip->lp, (int) mip->ntypes);
	for (uint32_t t = 0; t < mip->ntypes; t++)
		lp_bound_row(&mip->lp, (int) t + 1, k * mip->rows[t], k * mip->rows[t]);
}

/* A set of types, ascending, as a column. */
static void
load_set(Mip *mip, const uint32_t *set, double cost, bool whole)
{
	int column = lp_add_columns(&mip->lp, 1);
	int n = 0;

	for (uint32_t x = 0; x < mip->work->k; x++)
		if (n > 0 && mip->ind[n] == (int) set[x] + 1)
			mip->val[n] += 1;
		else
		{
			mip->ind[++n] = (int) set[x] + 1;
			mip->val[n] = 1;
		}
	lp_set_column(&mip->lp, column, n, mip->ind, mip->val);
	lp_set_cost(&mip->lp, column, cost);
	lp_bound_column(&mip->lp, column, 0, INFINITY);
	if (whole)
		lp_set_whole(&mip->lp, column);
}

/* The sets that were found last. */
static void
load_found(Mip *mip, bool whole)
{
	for (size_t x = 0; x < mip->sets.n; x++)
	{
		const FreeformSet *set = &mip->sets.found[x];

		load_set(mip, mip->sets.set + (size_t) set->slot * mip->work->k, set->cost, whole);
	}
}

/* No solution is cheaper than the one at hand, or enough so. */
static bool
is_enough(const Mip *mip)
{
	return mip->bound >= mip->upper * (1 - mip->work->space->gap) - CLOSE * mip->work->n;
}

/* The records of GLPK's solution. */
static void
note_best(Mip *mip)
{
	size_t width = mip->work->k * sizeof(uint32_t);

	mip->nbest = 0;
	for (size_t x = 0; x < mip->sets.n; x++)
		for (int copy = (int) floor(lp_whole_value(&mip->lp, (int) x + 1) + 0.5);
			 copy > 0 && mip->nbest < mip->work->n; copy--)
			memcpy(mip->best + (size_t) mip->nbest++ * mip->work->k,
				   mip->sets.set + (size_t) mip->sets.found[x].slot * mip->work->k, width);
}

static void
on_tree(void *arg, LpEvent event)
{
	Mip *mip = arg;

	mip->nodes = mip->lp.nodes;
	kanon_pace_gap(&mip->pace, mip->root, mip->bound, mip->upper);
	if (kanon_step(&mip->pace, KANON_STEPS / 8))
		mip->lp.cancelled = true;
	if (event == LP_SOLUTION && lp_whole_cost(&mip->lp) < mip->upper)
	{
		mip->upper = lp_whole_cost(&mip->lp);
		mip->found = true;
		note_best(mip);
	}
	mip->bound = fmax(mip->bound, fmin(mip->upper, mip->lp.bound));
	if (lp_is_spent(&mip->lp) || mip->lp.cancelled || mip->pace.late || is_enough(mip))
		lp_stop(&mip->lp);
}

static KanonStatus
branch(Mip *mip)
{
	bool complete;
	KanonStatus status;

	mip->root = mip->bound;
	status = lp_branch(&mip->lp,
					   &(LpSearch){.branching = LP_BY_PSEUDO_COSTS,
								   .gomory = true,
								   .rounding_cuts = true,
								   .at = on_tree,
								   .arg = mip},
					   &complete);
	if (complete && status == KANON_OK && !mip->sets.cut)
		mip->bound = fmax(mip->bound, mip->upper - LEFT_OUT * (1 + mip->upper));
	return status;
}

/* Hungarian's records. */
static void
load_start(Mip *mip)
{
	const FreeformWork *work = mip->work;

	for (uint32_t j = 0; j < work->n; j++)
	{
		uint32_t *set = mip->best;

		for (uint32_t m = 0; m < work->k; m++)
		{
			uint32_t type = mip->type[work->match[(size_t) j * work->degree + m]];
			uint32_t at = m;

			for (; at > 0 && set[at - 1] > type; at--)
				set[at] = set[at - 1];
			set[at] = type;
		}
		load_set(mip, set, set_cost(mip, set), false);
	}
}

/* The relaxation over all sets, and its prices. */
static KanonStatus
relax(Mip *mip)
{
	FreeformSets *sets = &mip->sets;
	KanonStatus status = KANON_OK;

	sets->most = MOST_AT_ONCE;
	do
	{
		double value;

		load_found(mip, false);
		status = lp_relax(&mip->lp, LP_PRIMAL);
		if (status != KANON_OK || mip->pace.late)
			return status;
		if (lp_is_spent(&mip->lp))
			return KANON_NO_MEMORY;
		for (uint32_t t = 0; t < mip->ntypes; t++)
			sets->price[t] = lp_price(&mip->lp, (int) t + 1);
		value = lp_cost(&mip->lp);
		sets->limit = -CLOSE / 2;
		status = freeform_sets_find(sets);
		/* each of the n records may be as much cheaper */
		if (status == KANON_OK && !sets->late)
			mip->bound = fmax(
				mip->bound,
				fmin(mip->upper, value + mip->work->n * (sets->n > 0 ? sets->found[0].reduced : -CLOSE / 2)));
	} while (status == KANON_OK && sets->n > 0 && !sets->late && !is_enough(mip));
	return status;
}

/* The code that runs under the guard: calls to GLPK, and between them the search for sets. */
static KanonStatus
solve(void *arg)
{
	Mip *mip = arg;
	FreeformSets *sets = &mip->sets;
	KanonStatus status;

	mip->lp.fine = 1e-9;
	load_rows(mip);
	load_start(mip);
	status = relax(mip);
	if (status != KANON_OK || mip->pace.late || is_enough(mip))
		return status;
	/* only these can be part of a cheaper solution */
	sets->limit = mip->upper - mip->bound + CLOSE * mip->work->n;
	sets->most = MOST_COLUMNS;
	status = freeform_sets_find(sets);
	if (status != KANON_OK || sets->late)
		return status;
	lp_clear(&mip->lp);
	load_rows(mip);
	load_found(mip, true);
	mip->lp.fine = 0;
	status = lp_relax(&mip->lp, LP_PRIMAL);
	if (status != KANON_OK || mip->pace.late)
		return status;
	/* where not all of them found room, those that did may make no graph: hungarian's stands, and the bound */
	return lp_is_feasible(&mip->lp) ? branch(mip) : KANON_OK;
}

/* The records of the solution; the matches of a type go to its rows in turn. */
static KanonStatus
make_graph(Mip *mip, KanonFreeformGraph *graph)
{
	KanonEnv *env = mip->work->env;
	uint32_t n = mip->work->n;
	uint32_t k = mip->work->k;
	uint32_t *turn = kanon_alloc0(env, mip->ntypes, sizeof(uint32_t));

	graph->start = kanon_alloc(env, (size_t) n + 1, sizeof(uint32_t));
	graph->match = kanon_alloc(env, n, k * sizeof(uint32_t));
	if (turn == NULL || graph->start == NULL || graph->match == NULL)
	{
		kanon_free(env, turn);
		return KANON_NO_MEMORY;
	}
	for (uint32_t record = 0; record <= n; record++)
		graph->start[record] = record * k;
	for (uint32_t x = 0; x < mip->nbest * k; x++)
	{
		uint32_t t = mip->best[x];

		graph->match[x] = mip->first[t] + turn[t]++ % mip->rows[t];
	}
	kanon_free(env, turn);
	return mip->nbest == n ? KANON_OK : KANON_BROKEN;
}

/* The costs of hungarian's graph: a record at a time. */
static double
work_cost(Mip *mip)
{
	FreeformWork *work = mip->work;
	double cost = 0;

	for (uint32_t j = 0; j < work->n; j++)
	{
		for (uint32_t m = 0; m < work->degree; m++)
			mip->ind[m] = (int) mip->type[work->match[(size_t) j * work->degree + m]];
		cost += set_cost(mip, (const uint32_t *) mip->ind);
	}
	return cost;
}

KanonStatus
freeform_mip(FreeformWork *work, KanonFreeformGraph *graph)
{
	Mip mip = {.scratch = {.env = work->env}, .work = work, .pace = kanon_pace(work->env, "mip")};
	KanonStatus status;

	mip.pace.deadline = work->space->deadline;
	status = find_types(&mip) ? KANON_OK : KANON_NO_MEMORY;
	if (status == KANON_OK)
		status = check_sets(&mip);
	if (status == KANON_OK)
		status = freeform_hungarian(work);
	if (status == KANON_OK)
		status = open_sets(&mip);
	if (status == KANON_OK)
	{
		mip.upper = work_cost(&mip);
		mip.bound = 0;
		kanon_pace_open(&mip.pace, "mip");
		status = lp_run(&mip.lp, &mip.pace, solve, &mip);
		if (status == KANON_BROKEN)
			snprintf(work->detail, work->detail_size, "GLPK: %s", mip.lp.text);
	}
	/* otherwise what hungarian has left in the work stands */
	if (status == KANON_OK && mip.found)
		status = make_graph(&mip, graph);
	/* what little weights cost beside large ones, GLPK does not see */
	if (CLOSE * work->n > KANON_FREEFORM_SEEN * mip.upper)
		mip.bound = 0;
	graph->bound = mip.bound * KANON_FREEFORM_UNITS;
	graph->proven = status == KANON_OK && is_enough(&mip);
	graph->nodes = mip.nodes;
	kanon_scratch_free(&mip.scratch);
	return status;
}

#else /* HAVE_GLPK */

KanonStatus
freeform_mip(FreeformWork *work, KanonFreeformGraph *graph)
{
	(void) graph;
	snprintf(work->detail, work->detail_size, "built without GLPK");
	return KANON_UNAVAILABLE;
}

#endif /* HAVE_GLPK */
