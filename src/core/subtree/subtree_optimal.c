/*
 * subtree_optimal.c: the cut that loses the least, by cost-bounded enumeration.
 *
 * After Liu and Wang, "On optimal anonymization for l+-diversity", ICDE 2010: cuts are
 * enumerated from the roots down, each once: a move that could be made next is made
 * first, and then declined for good.  A part of the enumeration is left out when
 *
 *	- the cut breaks the rules, and with it (the rules being monotone) each that goes
 *	  further down: a move that may not be made now is declined at once;
 *	- not even with all moves that are left, each of which saves what is at most to be
 *	  saved below its node, would it cost less than the best cut so far.
 *
 * The most that can be saved below a node is found before, by asking of each node
 * whether the rows below it could be a class with all other columns suppressed.  Where
 * rules are not monotone (persons), only the number of rows of a cut that breaks the
 * rules says anything of those further down; and where a population's rows may come to
 * other classes there, these classes are asked with all that may.
 */
#include <math.h>
#include <string.h>

#include "privacy/rules.h"
#include "subtree/subtree.h"

/* ---- what can be saved ---- */

/* Could the rows below each node of a column be a class? */
static KanonStatus
judge_column(Cut *cut, int c, bool *possible)
{
	const CutTrees *trees = cut->trees;
	const KanonProblem *problem = cut->problem;
	const KanonColumn *column = &problem->columns[c];
	uint32_t at = 0;

	if (kanon_stop(cut->pace, 4 * (uint64_t) problem->ntypes))
		return KANON_CANCELLED;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		cut->count[trees->at[c][column->code[type]]]++;
	for (uint32_t code = 0; code < column->distinct; code++)
		if (trees->at[c][code] != NO_NODE)
		{
			cut->end[trees->at[c][code]] = at;
			at += cut->count[trees->at[c][code]];
		}
	for (uint32_t type = 0; type < problem->ntypes; type++)
		cut->buffer[cut->end[trees->at[c][column->code[type]]]++] = type;
	for (uint32_t code = 0; code < column->distinct; code++)
	{
		uint32_t node = trees->at[c][code];

		if (node == NO_NODE)
			continue;
		possible[node] = trees->node[node].rows >= kanon_least_rows(problem);
		if (possible[node] && cut->monotone)
			possible[node] = kanon_class_allowed(problem, cut->buffer + cut->end[node] - cut->count[node],
												 NULL, cut->count[node], trees->node[node].rows);
		cut->count[node] = 0;
	}
	return KANON_OK;
}

/* The most that a move saves with all that come after it; 0 when it can never be made. */
static double
gain_of(const Cut *cut, const bool *possible, const double *gain, uint32_t move)
{
	const CutNode *node = &cut->trees->node[move];
	double sum = cut->saving[move];

	if (!cut_is_move(cut, move) || (cut->scheme == KANON_SCHEME_SIBLING && !possible[move]))
		return 0;
	for (uint32_t c = node->child; c < node->child + node->nchildren; c++)
	{
		if (cut->scheme == KANON_SCHEME_SUBTREE && !possible[c])
			return 0;
		sum += gain[c];
	}
	return fmax(sum, 0);
}

KanonStatus
cut_bound(Cut *cut, double *gain, double *bound)
{
	const CutTrees *trees = cut->trees;
	size_t mark = kanon_mark(cut->scratch);
	bool *possible = kanon_take0(cut->scratch, trees->nnodes, sizeof(bool));
	double *gains = gain != NULL ? gain : kanon_take(cut->scratch, trees->nnodes, sizeof(double));
	KanonStatus status = kanon_taken(cut->scratch);

	for (int c = 0; c < cut->problem->ncolumns && status == KANON_OK; c++)
		status = judge_column(cut, c, possible);
	*bound = 0;
	for (uint32_t i = trees->nnodes; i-- > 0 && status == KANON_OK;)
	{
		const CutNode *node = &trees->node[i];

		gains[i] = gain_of(cut, possible, gains, i);
		if (node->parent != i)
			continue;
		*bound += node->loss * (double) node->rows;
		if (cut->scheme == KANON_SCHEME_SUBTREE)
			*bound -= gains[i];
		for (uint32_t c = 0; c < node->nchildren && cut->scheme == KANON_SCHEME_SIBLING; c++)
			*bound -= gains[node->child + c];
	}
	kanon_release(cut->scratch, mark);
	return status;
}

/* ---- enumeration ---- */

/* A move that was made, to be declined when all cuts with it are done. */
typedef struct Frame
{
	uint32_t move;
	bool declined;
	size_t nclasses; /* before it */
	double cost;
	double bound;  /* of the cuts without it */
	size_t before; /* buried moves when its cut was come to */
	size_t buried; /* ... when it had been surveyed */
} Frame;

typedef struct Enumeration
{
	Cut *cut;
	double *gain;     /* [nnodes] */
	uint32_t *buried; /* [nnodes] dead moves, in the order of their death */
	size_t nburied;
	Frame *frames;
	size_t depth;
	size_t room;
	bool *best; /* [nnodes] lowered */
	double least;
	double bound; /* of all cuts */
	bool found;
	double tie; /* costs nearer to one another than this are equal */
	int64_t *looked;
} Enumeration;

static void
bury(Enumeration *search, uint32_t move)
{
	search->cut->dead[move] = true;
	search->buried[search->nburied++] = move;
}

static void
dig_up(Enumeration *search, size_t buried)
{
	while (search->nburied > buried)
		search->cut->dead[search->buried[--search->nburied]] = false;
}

/* The cut at hand is the best so far, if it keeps the rules. */
static KanonStatus
take(Enumeration *search)
{
	Cut *cut = search->cut;
	bool valid = true;
	KanonStatus status = KANON_OK;

	if (search->found && cut->cost >= search->least - search->tie)
		return KANON_OK;
	if (!cut->monotone)
		status = cut_valid(cut, &valid);
	else if (cut->wandering)
		status = cut_present(cut, &valid);
	if (status != KANON_OK || !valid)
		return status;
	memcpy(search->best, cut->lowered, cut->trees->nnodes * sizeof(bool));
	search->least = cut->cost;
	search->found = true;
	return KANON_OK;
}

/* Moves that can lead to no cut that keeps the rules are none. */
static KanonStatus
survey(Enumeration *search)
{
	Cut *cut = search->cut;
	KanonStatus status = cut_survey(cut);

	++*search->looked;
	for (uint32_t i = 0; i < cut->trees->nnodes && status == KANON_OK; i++)
		if (cut_is_open(cut, i) && !cut->dead[i] && (cut->monotone ? !cut->allowed[i] : !cut->large[i]))
			bury(search, i);
	return status;
}

/* The least that a cut below the one at hand can cost; *move: the one that promises the most. */
static double
bound_of(const Enumeration *search, uint32_t *move)
{
	const Cut *cut = search->cut;
	double bound = cut->cost;

	*move = NO_NODE;
	for (uint32_t i = 0; i < cut->trees->nnodes; i++)
		if (cut_is_open(cut, i) && !cut->dead[i])
		{
			bound -= search->gain[i];
			if (*move == NO_NODE || search->gain[i] > search->gain[*move])
				*move = i;
		}
	return bound;
}

static bool
is_hopeless(const Enumeration *search, double bound)
{
	return search->found && bound >= search->least - search->tie;
}

/* Makes the most promising move, or, where it breaks a rule about a population, declines it. */
static KanonStatus
branch(Enumeration *search, size_t before, bool *deeper)
{
	Cut *cut = search->cut;
	uint32_t move;
	double bound = bound_of(search, &move);
	bool keeps = true;
	Frame *frame;
	KanonStatus status;

	*deeper = false;
	if (move == NO_NODE || is_hopeless(search, bound))
		return KANON_OK;
	if (!KANON_GROW(cut->scratch, &search->room, search->depth + 1, KANON_ARRAY(search->frames)))
		return KANON_NO_MEMORY;
	frame = &search->frames[search->depth++];
	*frame = (Frame){.move = move,
					 .nclasses = cut->nclasses,
					 .cost = cut->cost,
					 .bound = bound + search->gain[move],
					 .before = before,
					 .buried = search->nburied};
	status = cut_move(cut, move);
	if (status == KANON_OK && cut->monotone)
		status = cut_may_present(cut, &keeps);
	*deeper = keeps;
	return status;
}

/* Back to the last move that can still be declined; false: there is none. */
static bool
decline(Enumeration *search)
{
	Cut *cut = search->cut;

	for (; search->depth > 0; search->depth--)
	{
		Frame *frame = &search->frames[search->depth - 1];

		if (!frame->declined)
		{
			cut_undo(cut, frame->move, frame->nclasses, frame->cost);
			dig_up(search, frame->buried);
			frame->declined = true;
			if (!is_hopeless(search, frame->bound))
			{
				bury(search, frame->move);
				return true;
			}
		}
		dig_up(search, frame->before);
	}
	return false;
}

/*
 * How much of the enumeration is over, each move that is still open being half of what is
 * left at it (the weight of a tree's leaves: P. Kilby et al., "Estimating search tree
 * size", AAAI 2006).
 */
static double
weight_done(const Enumeration *search)
{
	double left = 1;
	double done = 0;

	for (size_t i = 0; i < search->depth && left > 1e-9; i++)
	{
		left /= 2;
		done += search->frames[i].declined ? left : 0;
	}
	return done;
}

static KanonStatus
enumerate(Enumeration *search)
{
	Cut *cut = search->cut;
	bool going = true;
	bool fresh = true; /* the cut at hand has not been looked at */
	KanonStatus status = KANON_OK;

	while (status == KANON_OK && going && !cut->pace->late)
	{
		size_t before = fresh ? search->nburied : search->frames[search->depth - 1].before;
		bool deeper = false;

		if (fresh)
		{
			status = take(search);
			if (status == KANON_OK)
				status = survey(search);
		}
		cut->pace->bounded = search->found;
		cut->pace->cost = search->least;
		cut->pace->bound = fmin(search->bound, search->least);
		kanon_pace_done(cut->pace, weight_done(search));
		if (status == KANON_OK && !cut->pace->late)
			status = branch(search, before, &deeper);
		fresh = deeper;
		if (status == KANON_OK && !deeper && !cut->pace->late)
			going = decline(search);
	}
	return status;
}

/* The bound that no cut can beat, when the enumeration was not ended. */
static double
open_bound(const Enumeration *search)
{
	double bound = search->least;
	uint32_t move;

	for (size_t i = 0; i < search->depth; i++)
		if (!search->frames[i].declined)
			bound = fmin(bound, search->frames[i].bound);
	return fmin(bound, bound_of(search, &move));
}

KanonStatus
cut_enumerate(Cut *cut, int64_t *looked, double *bound)
{
	size_t nnodes = cut->trees->nnodes;
	Enumeration search = {.cut = cut, .least = INFINITY, .looked = looked};
	double root = cut->cost;
	double least = -INFINITY;
	KanonStatus status;

	search.gain = kanon_take(cut->scratch, nnodes, sizeof(double));
	search.buried = kanon_take(cut->scratch, nnodes, sizeof(uint32_t));
	search.best = kanon_take0(cut->scratch, nnodes, sizeof(bool));
	search.tie = CUT_TIE * root;
	status = kanon_taken(cut->scratch);
	if (status == KANON_OK)
		status = cut_bound(cut, search.gain, &least);
	search.bound = least;
	kanon_pace_open(cut->pace, cut->pace->phase);
	cut->pace->within = true;
	/* a good cut to begin with */
	if (status == KANON_OK && cut->monotone)
		status = cut_descend(cut, -1, false, looked);
	if (status == KANON_OK && cut->monotone)
		status = take(&search);
	memset(cut->dead, 0, nnodes * sizeof(bool));
	cut_raise(cut);
	if (status == KANON_OK)
		status = cut_build(cut);
	if (status == KANON_OK && !cut->pace->late)
		status = enumerate(&search);
	if (status != KANON_OK)
		return status;
	*bound = cut->pace->late ? fmax(least, fmin(open_bound(&search), search.least)) : search.least;
	if (!search.found)
		return cut->pace->late ? KANON_NOT_FOUND : KANON_INFEASIBLE;
	memcpy(cut->lowered, search.best, nnodes * sizeof(bool));
	memset(cut->dead, 0, nnodes * sizeof(bool));
	return cut_build(cut);
}
