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
 * in turn.  The number of sets is what limits the table.
 *
 * First the relaxation; then only sets whose reduced cost does not exceed the gap
 * to hungarian's graph stay in the integer program.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "freeform/freeform_work.h"
#include "program/glpk_guard.h"

/* Sets of k rows at most; each takes some 100 bytes and k entries of GLPK's. */
#define MOST_SETS 200000

#ifdef HAVE_GLPK
#include <glpk.h>
#include <limits.h>

/* Prices a record this close are the same: GLPK is no more exact. */
#define CLOSE 1e-7

/* GLPK leaves out what is better by less than this, by the cost (its tol_obj). */
#define LEFT_OUT 1e-7

typedef struct Mip
{
	KanonScratch scratch;
	GlpkGuard guard;
	FreeformWork *work;
	KanonPace pace;
	uint32_t ntypes;
	uint32_t *type;  /* [n] of each row */
	uint32_t *first; /* [ntypes] a row of each type: its rows follow one another */
	uint32_t *rows;  /* [ntypes] */
	uint32_t nsets;
	uint32_t *set;  /* [nsets * k] types, ascending */
	double *cost;   /* [nsets] 1: nothing is shown */
	bool *kept;     /* [nsets] */
	int *column;    /* [nsets] in the integer program; 0: none */
	int32_t *count; /* [nsets] records of the best solution */
	int *ind;       /* [k + 1] */
	double *val;
	double upper; /* cost of the best solution known, of 1 a record that shows nothing */
	bool found;   /* it is GLPK's */
	double bound;
	double root; /* the bound before branching */
	int64_t nodes;
	glp_prob *lp;
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

/* How many sets there are; more than MOST_SETS is as good as infinity. */
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

/* What a record costs that shows these types. */
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

/* All sets, one after the other. */
static KanonStatus
list_sets(Mip *mip)
{
	FreeformWork *work = mip->work;
	KanonEnv *env = work->env;
	uint32_t k = work->k;
	double *ways = kanon_alloc(env, (size_t) k + 1, sizeof(double));
	double n;
	uint32_t *set;

	if (ways == NULL)
		return KANON_NO_MEMORY;
	n = count_sets(mip, ways);
	kanon_free(env, ways);
	if (!(n <= MOST_SETS))
	{
		snprintf(work->detail, work->detail_size,
				 "the %u rows have %.3g sets of %u rows, mip takes at most %d", work->n, n, k, MOST_SETS);
		return KANON_TOO_LARGE;
	}
	mip->set = kanon_take(&mip->scratch, (size_t) n + 1, k * sizeof(uint32_t));
	mip->cost = kanon_take(&mip->scratch, (size_t) n, sizeof(double));
	mip->kept = kanon_take(&mip->scratch, (size_t) n, sizeof(bool));
	mip->column = kanon_take0(&mip->scratch, (size_t) n, sizeof(int));
	mip->count = kanon_take0(&mip->scratch, (size_t) n, sizeof(int32_t));
	if (mip->scratch.failed)
		return KANON_NO_MEMORY;
	set = mip->set;
	for (uint32_t x = 0, t = 0, used = 0; x < k; x++)
	{
		used = x > 0 && set[x - 1] == t ? used : 0;
		if (used == mip->rows[t])
		{
			t++;
			used = 0;
		}
		set[x] = t;
		used++;
	}
	while (mip->nsets < (uint32_t) n)
	{
		uint32_t at = k;

		if (kanon_step(&mip->pace, (int64_t) k * k * work->ncolumns))
			return KANON_CANCELLED;
		mip->cost[mip->nsets++] = set_cost(mip, set);
		memcpy(set + k, set, k * sizeof(uint32_t));
		set += k;
		/* the next one: the last place that can go up does, the rest follow it as low as can be */
		while (at > 0)
		{
			uint32_t t = set[at - 1] + 1;
			uint32_t x = at - 1;
			uint32_t used = 0;

			for (; x < k && t < mip->ntypes; x++)
			{
				set[x] = t;
				if (++used == mip->rows[t])
				{
					t++;
					used = 0;
				}
			}
			if (x == k)
				break;
			memcpy(set, set - k, k * sizeof(uint32_t));
			at--;
		}
	}
	return KANON_OK;
}

/* The sets that are kept, as columns. */
static void
load(Mip *mip, bool whole)
{
	uint32_t k = mip->work->k;
	glp_prob *lp = mip->lp;
	int column = 0;

	for (uint32_t s = 0; s < mip->nsets; s++)
		mip->column[s] = mip->kept[s] ? ++column : 0;
	glp_set_obj_dir(lp, GLP_MIN);
	glp_add_rows(lp, (int) mip->ntypes);
	for (uint32_t t = 0; t < mip->ntypes; t++)
		glp_set_row_bnds(lp, (int) t + 1, GLP_FX, (double) k * mip->rows[t], (double) k * mip->rows[t]);
	if (column > 0)
		glp_add_cols(lp, column);
	for (uint32_t s = 0; s < mip->nsets; s++)
	{
		const uint32_t *set = mip->set + (size_t) s * k;
		int n = 0;

		if (mip->column[s] == 0)
			continue;
		for (uint32_t x = 0; x < k; x++)
			if (n > 0 && mip->ind[n] == (int) set[x] + 1)
				mip->val[n] += 1;
			else
			{
				mip->ind[++n] = (int) set[x] + 1;
				mip->val[n] = 1;
			}
		glp_set_mat_col(lp, mip->column[s], n, mip->ind, mip->val);
		glp_set_obj_coef(lp, mip->column[s], mip->cost[s]);
		glp_set_col_bnds(lp, mip->column[s], GLP_LO, 0, 0);
		if (whole)
			glp_set_col_kind(lp, mip->column[s], GLP_IV);
	}
}

/* No solution is cheaper than the one at hand, or enough so. */
static bool
is_enough(const Mip *mip)
{
	return mip->bound >= mip->upper * (1 - mip->work->space->gap) - CLOSE * mip->work->n;
}

static void
on_tree(glp_tree *tree, void *info)
{
	Mip *mip = info;
	int node = glp_ios_best_node(tree);
	int total;

	glp_ios_tree_size(tree, NULL, NULL, &total);
	mip->nodes = total;
	kanon_pace_gap(&mip->pace, mip->root, mip->bound, mip->upper);
	if (kanon_step(&mip->pace, KANON_STEPS / 8))
		mip->guard.cancelled = true;
	if (glp_ios_reason(tree) == GLP_IBINGO && glp_mip_obj_val(mip->lp) < mip->upper)
	{
		mip->upper = glp_mip_obj_val(mip->lp);
		mip->found = true;
		for (uint32_t s = 0; s < mip->nsets; s++)
			mip->count[s] =
				mip->column[s] > 0 ? (int32_t) floor(glp_mip_col_val(mip->lp, mip->column[s]) + 0.5) : 0;
	}
	if (node != 0)
		mip->bound = fmax(mip->bound, fmin(mip->upper, glp_ios_node_bound(tree, node)));
	if (glpk_is_spent(&mip->guard) || mip->guard.cancelled || mip->pace.late || is_enough(mip))
		glp_ios_terminate(tree);
}

static KanonStatus
branch(Mip *mip)
{
	glp_iocp parm;
	bool complete;
	KanonStatus status;

	glp_init_iocp(&parm);
	parm.gmi_cuts = GLP_ON;
	parm.mir_cuts = GLP_ON;
	parm.br_tech = GLP_BR_PCH;
	parm.cb_func = on_tree;
	parm.cb_info = mip;
	mip->root = mip->bound;
	status = glpk_branch(&mip->guard, mip->lp, &parm, &complete);
	if (complete && status == KANON_OK)
		mip->bound = fmax(mip->bound, mip->upper - LEFT_OUT * (1 + mip->upper));
	return status;
}

/* What runs under the guard: calls to GLPK only. */
static KanonStatus
solve(void *arg)
{
	Mip *mip = arg;
	KanonStatus status;

	mip->lp = glp_create_prob();
	load(mip, false);
	status = glpk_relax(&mip->guard, mip->lp, GLP_PRIMAL);
	if (status != KANON_OK || mip->pace.late)
		return status;
	mip->bound = fmin(mip->upper, glp_get_obj_val(mip->lp));
	if (is_enough(mip))
		return KANON_OK;
	/* only these can be part of a cheaper solution */
	for (uint32_t s = 0; s < mip->nsets; s++)
		mip->kept[s] =
			glp_get_col_dual(mip->lp, (int) s + 1) <= mip->upper - mip->bound + CLOSE * mip->work->n;
	glp_erase_prob(mip->lp);
	load(mip, true);
	status = glpk_relax(&mip->guard, mip->lp, GLP_PRIMAL);
	return status == KANON_OK && !mip->pace.late ? branch(mip) : status;
}

/* The records of the solution; the matches of a type go to its rows in turn. */
static KanonStatus
make_graph(Mip *mip, KanonFreeformGraph *graph)
{
	KanonEnv *env = mip->work->env;
	uint32_t n = mip->work->n;
	uint32_t k = mip->work->k;
	uint32_t *turn = kanon_alloc0(env, mip->ntypes, sizeof(uint32_t));
	uint32_t records = 0;

	graph->start = kanon_alloc(env, (size_t) n + 1, sizeof(uint32_t));
	graph->match = kanon_alloc(env, n, k * sizeof(uint32_t));
	if (turn == NULL || graph->start == NULL || graph->match == NULL)
	{
		kanon_free(env, turn);
		return KANON_NO_MEMORY;
	}
	graph->start[0] = 0;
	for (uint32_t s = 0; s < mip->nsets; s++)
		for (int32_t copy = 0; copy < mip->count[s] && records < n; copy++)
		{
			for (uint32_t x = 0; x < k; x++)
			{
				uint32_t t = mip->set[(size_t) s * k + x];

				graph->match[records * k + x] = mip->first[t] + turn[t]++ % mip->rows[t];
			}
			records++;
			graph->start[records] = records * k;
		}
	kanon_free(env, turn);
	return records == n ? KANON_OK : KANON_BROKEN;
}

/* What hungarian's graph costs: a record at a time. */
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
	Mip mip = {
		.scratch = {.env = work->env},
		.work = work,
		.pace = {.env = work->env, .phase = "mip", .rows_left = -1, .deadline = work->space->deadline}};
	KanonStatus status = find_types(&mip) ? KANON_OK : KANON_NO_MEMORY;

	if (status == KANON_OK)
		status = list_sets(&mip);
	if (status == KANON_OK)
		status = freeform_hungarian(work);
	if (status == KANON_OK)
	{
		mip.upper = work_cost(&mip);
		mip.bound = 0;
		memset(mip.kept, true, mip.nsets);
		kanon_pace_open(&mip.pace, "mip");
		status = glpk_guarded(&mip.guard, &mip.pace, solve, &mip);
		if (status == KANON_BROKEN)
			snprintf(work->detail, work->detail_size, "GLPK: %s", mip.guard.text);
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
