/*
 * subtree_bottom_up.c: bottom-up generalization.
 *
 * Wang, Yu, Chakraborty, ICDM 2004: from the values up, one node at a time, the one
 * that loses the least for what it does for anonymity, until the rules hold.  What is
 * lost is the normalized certainty penalty, and what a node does for anonymity is the
 * number of rows below it whose class breaks a rule: no others can come of it into a
 * larger class that needs to be.  A cut so found may be lower than it must be in places,
 * where a later step did what an earlier one was for: at the end it goes down again as
 * far as the rules allow.
 */
#include <string.h>

#include "subtree/subtree_cut.h"

typedef struct Ascent
{
	Cut *cut;
	double *loss;  /* [nnodes] of the rows below, as the cut is */
	int64_t *help; /* [nnodes] rows in broken classes, by the move that would be taken back */
	bool any;      /* of them are there */
	bool broken;
} Ascent;

/* What the rows below each node lose. */
static void
add_losses(Ascent *ascent)
{
	const Cut *cut = ascent->cut;

	for (uint32_t i = cut->trees->nnodes; i-- > 0;)
	{
		const CutNode *node = &cut->trees->node[i];

		if (node->nchildren == 0)
			ascent->loss[i] = node->loss * (double) node->rows;
		else
			ascent->loss[i] = 0;
		for (uint32_t c = node->child; c < node->child + node->nchildren; c++)
			ascent->loss[i] +=
				cut->lowered[c] ? ascent->loss[c] : node->loss * (double) cut->trees->node[c].rows;
	}
}

static void
blame(Ascent *ascent, uint32_t move, int64_t rows)
{
	ascent->help[move] += rows;
	ascent->any = true;
}

/* A class breaks a rule: which moves, taken back, would bring other rows into it? */
static void
blame_moves(Ascent *ascent, size_t class_)
{
	const Cut *cut = ascent->cut;
	int64_t rows = cut->classes[class_].rows;

	for (int q = 0; q < cut->trees->nqis; q++)
	{
		uint32_t shown = cut->shown[class_ * (size_t) cut->trees->nqis + (size_t) q];
		const CutNode *node = &cut->trees->node[shown];

		if (node->parent != shown)
			blame(ascent, cut->scheme == KANON_SCHEME_SUBTREE ? node->parent : shown, rows);
		for (uint32_t c = node->child; c < node->child + node->nchildren; c++)
			if (cut->lowered[c])
				blame(ascent, c, rows);
	}
}

static KanonStatus
find_broken(Ascent *ascent)
{
	Cut *cut = ascent->cut;
	KanonStatus status;
	bool keeps;

	memset(ascent->help, 0, cut->trees->nnodes * sizeof(int64_t));
	ascent->any = ascent->broken = false;
	for (size_t i = 0; i < cut->nclasses; i++)
	{
		if (kanon_stop(cut->pace, cut->classes[i].n))
			return KANON_CANCELLED;
		if (cut->classes[i].split || cut_class_allowed(cut, &cut->classes[i]))
			continue;
		ascent->broken = true;
		blame_moves(ascent, i);
	}
	if (ascent->broken)
		return KANON_OK;
	status = cut_present(cut, &keeps);
	ascent->broken = !keeps;
	return status;
}

/* Has a move been made? */
static bool
is_made(const Cut *cut, uint32_t move)
{
	const CutNode *node = &cut->trees->node[move];

	return cut_is_move(cut, move) && cut->lowered[cut->scheme == KANON_SCHEME_SUBTREE ? node->child : move];
}

/* The move whose taking back costs the least for what it helps. */
static uint32_t
choose(const Ascent *ascent)
{
	const Cut *cut = ascent->cut;
	uint32_t best = NO_NODE;
	double least = 0;

	for (uint32_t i = 0; i < cut->trees->nnodes; i++)
	{
		const CutNode *node = &cut->trees->node[i];
		double lost, score;

		if (!is_made(cut, i) || (ascent->any && ascent->help[i] == 0))
			continue;
		lost = (cut->scheme == KANON_SCHEME_SUBTREE ? node->loss : cut->trees->node[node->parent].loss) *
				   (double) node->rows -
			   ascent->loss[i];
		score = lost / (double) (ascent->any ? ascent->help[i] : node->rows);
		if (best == NO_NODE || score < least)
		{
			best = i;
			least = score;
		}
	}
	return best;
}

/* The node shows again what all below it do, or (a sibling) shows its parent. */
static void
take_back(Cut *cut, uint32_t move)
{
	uint32_t last = move;

	if (cut->scheme == KANON_SCHEME_SIBLING)
		cut->lowered[move] = false;
	/* level by level: each node's children lie together */
	for (uint32_t first = move; cut->trees->node[first].nchildren > 0;)
	{
		uint32_t from = cut->trees->node[first].child;
		uint32_t to = cut->trees->node[last].child + cut->trees->node[last].nchildren;

		memset(cut->lowered + from, 0, (to - from) * sizeof(bool));
		first = from;
		last = to - 1;
	}
}

KanonStatus
cut_climb(Cut *cut, int64_t *looked)
{
	Ascent ascent = {.cut = cut, .broken = true};
	KanonStatus status = KANON_OK;

	ascent.loss = kanon_take(cut->scratch, cut->trees->nnodes, sizeof(double));
	ascent.help = kanon_take(cut->scratch, cut->trees->nnodes, sizeof(int64_t));
	if (cut->scratch->failed)
		return KANON_NO_MEMORY;
	memcpy(cut->lowered, cut->may, cut->trees->nnodes * sizeof(bool));
	while (status == KANON_OK && ascent.broken)
	{
		uint32_t move = NO_NODE;

		++*looked;
		status = cut_build(cut);
		if (status == KANON_OK)
			status = find_broken(&ascent);
		if (status != KANON_OK || !ascent.broken)
			break;
		add_losses(&ascent);
		if (!cut->pace->late)
			move = choose(&ascent);
		if (move != NO_NODE)
		{
			take_back(cut, move);
			continue;
		}
		/* out of time: there is no cut but the one at the roots that is known to keep the rules */
		cut_raise(cut);
		status = cut_build(cut);
		break;
	}
	return status == KANON_OK ? cut_descend(cut, -1, false, looked) : status;
}
