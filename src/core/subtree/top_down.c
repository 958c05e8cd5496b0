/*
 * top_down.c: top-down specialization.
 *
 * Fung, Wang, Yu, ICDE 2005 and TKDE 2007: of the specializations that are valid
 * (the rules hold after it) and beneficial (more than one class value is below), the
 * one with the best score is made, until there is none.  The score is InfoGain /
 * (AnonyLoss + 1): how much less is unknown of the class value of the rows that show
 * the node (entropy in bits), and how much smaller the smallest class becomes.
 * Without a class column every specialization is beneficial, and what it saves of the
 * normalized certainty penalty takes the place of InfoGain.
 */
#include <math.h>
#include <string.h>

#include "subtree/cut.h"

typedef struct Descent
{
	Cut *cut;
	uint32_t nvalues; /* of the class column; 0: there is none */
	int64_t *below;   /* [nnodes * nvalues] rows with the class value below a node */
	int64_t *here; /* [nnodes * nvalues] ... that show it (as they would without the cut's other columns) */
	int64_t *scratch; /* [nvalues] */
} Descent;

/* ---- information gain ---- */

static double
entropy(const int64_t *count, uint32_t n, double *total)
{
	double sum = 0;

	*total = 0;
	for (uint32_t v = 0; v < n; v++)
		*total += (double) count[v];
	for (uint32_t v = 0; v < n; v++)
		if (count[v] > 0)
			sum -= (double) count[v] / *total * log2((double) count[v] / *total);
	return sum;
}

/* More than one class value? */
static bool
is_mixed(const int64_t *count, uint32_t n)
{
	uint32_t values = 0;

	for (uint32_t v = 0; v < n && values < 2; v++)
		values += count[v] > 0;
	return values > 1;
}

/* Of specializing a node to all its children. */
static double
gain_of_children(const Descent *descent, const CutNode *node, const int64_t *here)
{
	uint32_t n = descent->nvalues;
	double total;
	double gain = entropy(here, n, &total);

	for (uint32_t c = 0; c < node->nchildren; c++)
	{
		double part;
		double rest = entropy(descent->below + (size_t) (node->child + c) * n, n, &part);

		gain -= part / total * rest;
	}
	return gain;
}

/* Of showing one more child of a node. */
static double
gain_of_child(const Descent *descent, uint32_t child, const int64_t *here)
{
	uint32_t n = descent->nvalues;
	const int64_t *below = descent->below + (size_t) child * n;
	double total, part, left;
	double gain = entropy(here, n, &total);

	gain -= entropy(below, n, &part) * part / total;
	for (uint32_t v = 0; v < n; v++)
		descent->scratch[v] = here[v] - below[v];
	gain -= entropy(descent->scratch, n, &left) * left / total;
	return gain;
}

/* What a move is good for; negative: it is not beneficial. */
static double
benefit(const Descent *descent, uint32_t move)
{
	const Cut *cut = descent->cut;
	const CutNode *node = &cut->trees->node[move];
	bool sibling = cut->scheme == KANON_SCHEME_SIBLING;
	const int64_t *here;

	if (descent->nvalues == 0)
		return fmax(cut->saving[move], 0);
	here = descent->here + (size_t) (sibling ? node->parent : move) * descent->nvalues;
	if (!is_mixed(here, descent->nvalues))
		return -1;
	return fmax(sibling ? gain_of_child(descent, move, here) : gain_of_children(descent, node, here), 0);
}

static KanonStatus
count_values(Descent *descent, int class_column)
{
	const Cut *cut = descent->cut;
	const CutTrees *trees = cut->trees;
	const KanonColumn *column = &cut->problem->extra[class_column];
	size_t n = descent->nvalues = column->distinct;

	descent->below = kanon_take0(cut->scratch, trees->nnodes * n, sizeof(int64_t));
	descent->here = kanon_take(cut->scratch, trees->nnodes * n, sizeof(int64_t));
	descent->scratch = kanon_take(cut->scratch, n, sizeof(int64_t));
	if (cut->scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t type = 0; type < cut->problem->ntypes; type++)
		for (int q = 0; q < trees->nqis; q++)
		{
			int c = trees->first[q];
			uint32_t leaf = trees->at[c][cut->problem->columns[c].code[type]];

			if (kanon_stop(cut->pace, 2))
				return KANON_CANCELLED;
			descent->below[leaf * n + column->code[type]] += cut->problem->rows[type];
		}
	for (uint32_t i = trees->nnodes; i-- > 0;)
		for (size_t v = 0; v < n && trees->node[i].parent != i; v++)
			descent->below[trees->node[i].parent * n + v] += descent->below[i * n + v];
	memcpy(descent->here, descent->below, trees->nnodes * n * sizeof(int64_t));
	/* a node's rows that show a child of it; nobody asks what shows the others' */
	for (uint32_t i = 0; i < trees->nnodes; i++)
		for (size_t v = 0; v < n && trees->node[i].parent != i && cut->lowered[i]; v++)
			descent->here[trees->node[i].parent * n + v] -= descent->below[i * n + v];
	return KANON_OK;
}

/* ---- the search ---- */

/* The best move; NO_NODE: there is none. */
static uint32_t
choose(const Descent *descent)
{
	const Cut *cut = descent->cut;
	uint32_t best = NO_NODE;
	double most = 0;

	for (uint32_t i = 0; i < cut->trees->nnodes; i++)
	{
		double good, score;

		if (!cut_is_open(cut, i) || cut->dead[i] || !cut->allowed[i])
			continue;
		good = benefit(descent, i);
		if (good < 0)
			continue;
		score = good / ((double) (cut->least[i] < cut->smallest ? cut->smallest - cut->least[i] : 0) + 1);
		if (best == NO_NODE || score > most)
		{
			best = i;
			most = score;
		}
	}
	return best;
}

/* What may not be made now may not later: each further move makes smaller classes of the same. */
static void
bury(Cut *cut)
{
	for (uint32_t i = 0; i < cut->trees->nnodes && cut->monotone; i++)
		cut->dead[i] = cut->dead[i] || (cut_is_open(cut, i) && !cut->allowed[i]);
}

/* The best move is made, unless it breaks a rule about a population. */
static KanonStatus
step(Descent *descent, bool *moved)
{
	Cut *cut = descent->cut;
	uint32_t n = descent->nvalues;
	bool keeps = false;

	*moved = false;
	while (!keeps)
	{
		uint32_t move = choose(descent);
		size_t nclasses = cut->nclasses;
		double cost = cut->cost;
		KanonStatus status;

		if (move == NO_NODE)
			return KANON_OK;
		status = cut_move(cut, move);
		if (status == KANON_OK)
			status = cut_present(cut, &keeps);
		if (status != KANON_OK)
			return status;
		if (!keeps)
		{
			cut_undo(cut, move, nclasses, cost);
			cut->dead[move] = true;
			continue;
		}
		*moved = true;
		for (uint32_t v = 0; v < n && cut->scheme == KANON_SCHEME_SIBLING; v++)
			descent->here[(size_t) cut->trees->node[move].parent * n + v] -=
				descent->below[(size_t) move * n + v];
	}
	cut_compact(cut);
	return KANON_OK;
}

KanonStatus
cut_descend(Cut *cut, int class_column, int64_t *looked)
{
	Descent descent = {.cut = cut};
	KanonStatus status = class_column >= 0 ? count_values(&descent, class_column) : KANON_OK;
	double most = cut->cost;
	bool moved = true;

	memset(cut->dead, 0, cut->trees->nnodes * sizeof(bool));
	while (status == KANON_OK && moved && !cut->pace->late)
	{
		if (!cut->monotone)
			memset(cut->dead, 0, cut->trees->nnodes * sizeof(bool));
		kanon_tell_share(cut->pace, most > 0 ? 1 - fmin(fmax(cut->cost / most, 0), 1) : 0);
		status = cut_survey(cut);
		++*looked;
		/* what was found by a time limit is a cut all the same; a survey that was not ended is none */
		if (status != KANON_OK || cut->pace->late)
			break;
		bury(cut);
		status = step(&descent, &moved);
	}
	return status;
}
