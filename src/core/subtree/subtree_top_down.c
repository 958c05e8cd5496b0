/*
 * subtree_top_down.c: top-down specialization, and a second look at what it came to.
 *
 * Fung, Wang, Yu, ICDE 2005 and TKDE 2007: of the specializations that are valid
 * (the rules hold after it) and beneficial (more than one class value is below), the
 * one with the best score is made, until there is none.  The score is InfoGain /
 * (AnonyLoss + 1): how much less is unknown of the class value of the rows that show
 * the node (entropy in bits), and how much smaller the smallest class becomes.
 * Without a class column every specialization is beneficial, and what it saves of the
 * normalized certainty penalty takes the place of InfoGain.
 *
 * Being greedy, it may open one column so far that another, which says more of the
 * class value, cannot be opened at all.  So with a class column each quasi-identifier
 * is looked at a second time: it is closed, the others are specialized first, then it
 * again; and what leaves less unknown of the class value by classes stays.  (That is
 * ours, not the papers'; method tds does without.)
 */
#include <math.h>
#include <string.h>

#include "subtree/subtree.h"

typedef struct Descent
{
	Cut *cut;
	uint32_t nvalues; /* of the class column; 0: there is none */
	int64_t *below;   /* [nnodes * nvalues] rows with the class value below a node */
	int64_t *here; /* [nnodes * nvalues] ... that show it (as they would without the cut's other columns) */
	int64_t *scratch;          /* [nvalues] zero between classes */
	const KanonColumn *values; /* the class column, if any */
	int held;                  /* the quasi-identifier that stays as it is, or NONE_HELD */
	bool again;                /* a second look: how far it has come nobody knows */
} Descent;

#define NONE_HELD (-1)

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

/* The gain of specializing a node to all its children. */
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

/* The gain of showing one more child of a node. */
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
	memset(descent->scratch, 0, n * sizeof(int64_t));
	return gain;
}

/* The value of a move; negative: it is not beneficial. */
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
count_below(Descent *descent, int class_column)
{
	const Cut *cut = descent->cut;
	const CutTrees *trees = cut->trees;
	const KanonColumn *column = descent->values = &cut->problem->extra[class_column];
	size_t n = descent->nvalues = column->distinct;

	descent->below = kanon_take0(cut->scratch, trees->nnodes * n, sizeof(int64_t));
	descent->here = kanon_take(cut->scratch, trees->nnodes * n, sizeof(int64_t));
	descent->scratch = kanon_take0(cut->scratch, n, sizeof(int64_t));
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
	return KANON_OK;
}

/* By the cut as it is. */
static void
count_here(Descent *descent)
{
	const Cut *cut = descent->cut;
	const CutTrees *trees = cut->trees;
	size_t n = descent->nvalues;

	if (n == 0)
		return;
	memcpy(descent->here, descent->below, trees->nnodes * n * sizeof(int64_t));
	/* a node's rows that show a child of it; nobody asks what shows the others' */
	for (uint32_t i = 0; i < trees->nnodes; i++)
		for (size_t v = 0; v < n && trees->node[i].parent != i && cut->lowered[i]; v++)
			descent->here[trees->node[i].parent * n + v] -= descent->below[i * n + v];
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

		if (!cut_is_open(cut, i) || cut->dead[i] || !cut->allowed[i] ||
			cut->trees->node[i].qi == descent->held)
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

/*
 * A move that may not be made now (populations aside) may not later: each further move makes
 * smaller classes of the same.
 */
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

static KanonStatus
descend(Descent *descent, int held, int64_t *looked)
{
	Cut *cut = descent->cut;
	KanonStatus status = KANON_OK;
	double most = cut->cost;
	bool moved = true, since = false;

	descent->held = held;
	count_here(descent);
	memset(cut->dead, 0, cut->trees->nnodes * sizeof(bool));
	while (status == KANON_OK && moved && !cut->pace->late)
	{
		if (!cut->monotone)
			memset(cut->dead, 0, cut->trees->nnodes * sizeof(bool));
		if (!descent->again)
			kanon_tell_share(cut->pace, most > 0 ? 1 - fmin(fmax(cut->cost / most, 0), 1) : 0);
		status = cut_survey(cut);
		++*looked;
		/* what was found by a time limit is a cut all the same; a survey that was not ended is none */
		if (status != KANON_OK || cut->pace->late)
			break;
		bury(cut);
		status = step(descent, &moved);
		since = since || moved;
		/* what broke a rule about a population before other moves may keep it after them */
		if (!moved && since && cut->wandering)
		{
			memset(cut->dead, 0, cut->trees->nnodes * sizeof(bool));
			moved = true;
			since = false;
		}
	}
	return status;
}

/* ---- a second look ---- */

/*
 * The length (in nats) of telling the class values class by class, each by those of its
 * class that were told before it, with one of each kind to begin with (Laplace).  So
 * small classes get nothing for telling their rows apart from all others.
 */
static KanonStatus
tell_values(const Descent *descent, double *nats)
{
	const Cut *cut = descent->cut;
	double n = descent->nvalues;

	*nats = 0;
	for (size_t i = 0; i < cut->nclasses; i++)
	{
		const CutClass *class = &cut->classes[i];
		const uint32_t *member = cut->member + class->start;

		if (class->split)
			continue;
		if (kanon_stop(cut->pace, 2 * (uint64_t) class->n))
			return KANON_CANCELLED;
		for (uint32_t m = 0; m < class->n; m++)
			descent->scratch[descent->values->code[member[m]]] += cut->problem->rows[member[m]];
		*nats += lgamma((double) class->rows + n) - lgamma(n);
		for (uint32_t m = 0; m < class->n; m++)
		{
			int64_t *count = &descent->scratch[descent->values->code[member[m]]];

			*nats -= lgamma((double) *count + 1);
			*count = 0;
		}
	}
	return KANON_OK;
}

static bool
is_opened(const CutTrees *trees, const bool *lowered, int qi)
{
	const CutNode *root = &trees->node[trees->root[qi]];

	for (uint32_t c = root->child; c < root->child + root->nchildren; c++)
		if (lowered[c])
			return true;
	return false;
}

/* A cut, but for a quasi-identifier that it shows nothing of; *valid: does that keep the rules? */
static KanonStatus
close_column(Cut *cut, const bool *lowered, int qi, bool *valid)
{
	const CutTrees *trees = cut->trees;
	KanonStatus status;

	memcpy(cut->lowered, lowered, trees->nnodes * sizeof(bool));
	for (uint32_t i = 0; i < trees->nnodes; i++)
		cut->lowered[i] = cut->lowered[i] && (trees->node[i].qi != qi || trees->root[qi] == i);
	status = cut_build(cut);
	*valid = true;
	return status == KANON_OK && !cut->monotone ? cut_valid(cut, valid) : status;
}

/* Every quasi-identifier once more, until there is none for which it is of use. */
static KanonStatus
look_again(Descent *descent, int64_t *looked)
{
	Cut *cut = descent->cut;
	int nqis = cut->trees->nqis;
	bool *best = kanon_take(cut->scratch, cut->trees->nnodes, sizeof(bool));
	double least, nats;
	KanonStatus status = kanon_taken(cut->scratch);

	if (status == KANON_OK)
		status = tell_values(descent, &least);
	if (status != KANON_OK)
		return status;
	memcpy(best, cut->lowered, cut->trees->nnodes * sizeof(bool));
	for (int q = 0, vain = 0; vain < nqis && !cut->pace->late; q = (q + 1) % nqis)
	{
		bool valid;

		vain++;
		if (!is_opened(cut->trees, best, q))
			continue;
		status = close_column(cut, best, q, &valid);
		if (status == KANON_OK && !valid)
			continue;
		if (status == KANON_OK)
			status = descend(descent, q, looked);
		if (status == KANON_OK)
			status = descend(descent, NONE_HELD, looked);
		if (status == KANON_OK)
			status = tell_values(descent, &nats);
		if (status != KANON_OK)
			return status;
		if (nats >= least - CUT_TIE * fabs(least))
			continue;
		least = nats;
		memcpy(best, cut->lowered, cut->trees->nnodes * sizeof(bool));
		vain = 0;
	}
	memcpy(cut->lowered, best, cut->trees->nnodes * sizeof(bool));
	return cut_build(cut);
}

KanonStatus
cut_descend(Cut *cut, int class_column, bool again, int64_t *looked)
{
	Descent descent = {.cut = cut};
	KanonStatus status = class_column >= 0 ? count_below(&descent, class_column) : KANON_OK;

	if (status == KANON_OK)
		status = descend(&descent, NONE_HELD, looked);
	descent.again = true;
	return status == KANON_OK && again && class_column >= 0 ? look_again(&descent, looked) : status;
}
