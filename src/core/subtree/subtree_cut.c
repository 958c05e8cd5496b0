/*
 * subtree_cut.c: cuts, their classes, and what a move would make of them.
 *
 * Classes are runs of one permutation of the row types.  A move splits some of them in
 * place and adds the parts as further classes, so that to take it back is to forget these.
 */
#include <string.h>

#include "model/model.h"
#include "privacy/rules.h"
#include "subtree/subtree.h"

/* ---- memory ---- */

/* Do two classes that keep all rules always keep them as one? */
static bool
is_monotone(const KanonProblem *problem)
{
	return kanon_presence_monotone(problem) &&
		   (problem->privacy == NULL || kanon_privacy_monotone(problem->privacy));
}

/*
 * May a cut that breaks a rule about a population be above one that keeps it?  Siblings alone: a row whose
 * value the table does not have, but a node above, shows that until all its children are shown instead; then
 * it shows what is above that, and belongs to another class, or to one where it was in none.
 */
static KanonStatus
find_wandering(Cut *cut)
{
	const KanonProblem *problem = cut->problem;

	for (int p = 0; p < problem->npopulations && cut->scheme == KANON_SCHEME_SIBLING; p++)
		for (int c = 0; c < problem->ncolumns && !cut->wandering; c++)
		{
			const KanonPopulation *population = &problem->populations[p];

			/* shares are not monotone anyway */
			if (problem->columns[c].level == 0 || population->nvalues != NULL)
				continue;
			if (kanon_stop(cut->pace, population->ntypes))
				return KANON_CANCELLED;
			for (uint32_t type = 0; type < population->ntypes && !cut->wandering; type++)
				cut->wandering = population->code[c - 1][type] == KANON_FOREIGN &&
								 population->code[c][type] != KANON_FOREIGN;
		}
	return KANON_OK;
}

static void
set_savings(Cut *cut)
{
	const CutTrees *trees = cut->trees;

	for (uint32_t i = 0; i < trees->nnodes; i++)
	{
		const CutNode *node = &trees->node[i];

		if (cut->scheme == KANON_SCHEME_SIBLING)
			cut->saving[i] = (trees->node[node->parent].loss - node->loss) * (double) node->rows;
		else
			cut->saving[i] = node->loss * (double) node->rows;
		for (uint32_t c = 0; c < node->nchildren && cut->scheme == KANON_SCHEME_SUBTREE; c++)
			cut->saving[i] -= trees->node[node->child + c].loss * (double) trees->node[node->child + c].rows;
	}
}

KanonStatus
cut_open(const KanonProblem *problem, const CutTrees *trees, KanonScratch *scratch, KanonPace *pace, Cut *cut)
{
	size_t nnodes = trees->nnodes;
	size_t ntypes = problem->ntypes;

	cut->problem = problem;
	cut->trees = trees;
	cut->scratch = scratch;
	cut->pace = pace;
	cut->scheme = problem->subtree->scheme;
	cut->monotone = is_monotone(problem);
	cut->lowered = kanon_take0(scratch, nnodes, sizeof(bool));
	cut->may = kanon_take(scratch, nnodes, sizeof(bool));
	cut->dead = kanon_take0(scratch, nnodes, sizeof(bool));
	cut->saving = kanon_take(scratch, nnodes, sizeof(double));
	cut->allowed = kanon_take(scratch, nnodes, sizeof(bool));
	cut->large = kanon_take(scratch, nnodes, sizeof(bool));
	cut->least = kanon_take(scratch, nnodes, sizeof(int64_t));
	cut->member = kanon_take(scratch, ntypes, sizeof(uint32_t));
	cut->buffer = kanon_take(scratch, ntypes, sizeof(uint32_t));
	cut->others = kanon_take(scratch, ntypes, sizeof(uint32_t));
	cut->touched = kanon_take(scratch, nnodes, sizeof(uint32_t));
	cut->count = kanon_take0(scratch, nnodes, sizeof(uint32_t));
	cut->end = kanon_take(scratch, nnodes, sizeof(uint32_t));
	cut->rows = kanon_take0(scratch, nnodes, sizeof(int64_t));
	if (cut->presence != NULL)
		cut->pattern = kanon_take(scratch, ntypes, sizeof(KanonPattern));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	set_savings(cut);
	memset(cut->may, true, nnodes * sizeof(bool));
	cut_raise(cut);
	return find_wandering(cut) == KANON_OK ? cut_build(cut) : KANON_CANCELLED;
}

void
cut_raise(Cut *cut)
{
	for (uint32_t i = 0; i < cut->trees->nnodes; i++)
		cut->lowered[i] = cut->trees->node[i].parent == i;
}

/* ---- classes ---- */

/* A class more, that shows what `like` does. */
static CutClass *
add_class(Cut *cut, uint32_t from)
{
	size_t nqis = (size_t) cut->trees->nqis;
	uint32_t *shown;

	if (cut->nclasses >= KANON_MAX_TYPES ||
		!KANON_GROW(cut->scratch, &cut->room, cut->nclasses + 1, KANON_ARRAY(cut->classes),
					{&cut->shown, nqis * sizeof(uint32_t)}))
		return NULL;
	shown = cut->shown + cut->nclasses * nqis;
	if (from < cut->nclasses)
		memcpy(shown, cut->shown + from * nqis, nqis * sizeof(uint32_t));
	cut->classes[cut->nclasses] = (CutClass){.from = from};
	return &cut->classes[cut->nclasses++];
}

/* The node below that a row type has. */
static inline uint32_t
child_of(const Cut *cut, uint32_t node, uint32_t type)
{
	int column = cut->trees->node[node].column - 1;

	return cut->trees->at[column][cut->problem->columns[column].code[type]];
}

/* The node of a quasi-identifier that a row type shows. */
static uint32_t
shown_by(const Cut *cut, int qi, uint32_t type)
{
	uint32_t node = cut->trees->root[qi];

	while (cut->trees->node[node].nchildren > 0 && cut->lowered[child_of(cut, node, type)])
		node = child_of(cut, node, type);
	return node;
}

/*
 * Puts a class's members into the buffer by their nodes: those in touched[0 .. result),
 * each with its rows, count and end there.  The nodes are those below `node` (only: but
 * members of other children stay with it), or what the members show.
 */
static uint32_t
spread(Cut *cut, const CutClass *class, int qi, uint32_t node, uint32_t only, bool by_shown)
{
	const uint32_t *member = cut->member + class->start;
	uint32_t n = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < class->n; i++)
	{
		uint32_t key = by_shown ? shown_by(cut, qi, member[i]) : child_of(cut, node, member[i]);

		if (only != NO_NODE && key != only)
			key = node;
		if (cut->count[key]++ == 0)
			cut->touched[n++] = key;
		cut->rows[key] += cut->problem->rows[member[i]];
		cut->others[i] = key;
	}
	for (uint32_t i = 0; i < n; i++)
	{
		cut->end[cut->touched[i]] = at;
		at += cut->count[cut->touched[i]];
	}
	for (uint32_t i = 0; i < class->n; i++)
		cut->buffer[cut->end[cut->others[i]]++] = member[i];
	return n;
}

static void
clear(Cut *cut, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		cut->count[cut->touched[i]] = 0;
		cut->rows[cut->touched[i]] = 0;
	}
}

/* The class becomes those that the buffer has, of one quasi-identifier. */
static bool
split(Cut *cut, uint32_t class_, int qi, uint32_t n)
{
	uint32_t start = cut->classes[class_].start;

	memcpy(cut->member + start, cut->buffer, cut->classes[class_].n * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t node = cut->touched[i];
		CutClass *part = add_class(cut, class_);

		if (part == NULL)
			return false;
		part->start = start + cut->end[node] - cut->count[node];
		part->n = cut->count[node];
		part->rows = cut->rows[node];
		cut->shown[(cut->nclasses - 1) * (size_t) cut->trees->nqis + (size_t) qi] = node;
	}
	cut->classes[class_].split = true;
	cut->nsplit++;
	return true;
}

void
cut_compact(Cut *cut)
{
	size_t nqis = (size_t) cut->trees->nqis;
	size_t kept = 0;

	if (cut->nsplit <= cut->nclasses / 2)
		return;
	for (size_t i = 0; i < cut->nclasses; i++)
		if (!cut->classes[i].split)
		{
			cut->classes[kept] = cut->classes[i];
			memmove(cut->shown + kept * nqis, cut->shown + i * nqis, nqis * sizeof(uint32_t));
			kept++;
		}
	cut->nclasses = kept;
	cut->nsplit = 0;
}

void
cut_add_up(Cut *cut)
{
	cut->cost = 0;
	for (size_t i = 0; i < cut->nclasses; i++)
		for (int q = 0; q < cut->trees->nqis && !cut->classes[i].split; q++)
			cut->cost += cut->trees->node[cut->shown[i * (size_t) cut->trees->nqis + (size_t) q]].loss *
						 (double) cut->classes[i].rows;
}

KanonStatus
cut_build(Cut *cut)
{
	const CutTrees *trees = cut->trees;
	CutClass *all;

	cut->nclasses = cut->nsplit = 0;
	all = add_class(cut, 0);
	if (all == NULL)
		return KANON_NO_MEMORY;
	all->n = cut->problem->ntypes;
	for (uint32_t i = 0; i < all->n; i++)
	{
		cut->member[i] = i;
		all->rows += cut->problem->rows[i];
	}
	for (int q = 0; q < trees->nqis; q++)
	{
		size_t before = cut->nclasses;

		for (uint32_t i = 0; i < before; i++)
		{
			CutClass class = cut->classes[i];
			uint32_t n;

			if (class.split)
				continue;
			if (kanon_stop(cut->pace, 4 * (uint64_t) class.n))
				return KANON_CANCELLED;
			n = spread(cut, &class, q, NO_NODE, NO_NODE, true);
			if (n == 1)
				cut->shown[i * (size_t) trees->nqis + (size_t) q] = cut->touched[0];
			else if (!split(cut, i, q, n))
				return KANON_NO_MEMORY;
			clear(cut, n);
		}
		cut_compact(cut);
	}
	cut_add_up(cut);
	return KANON_OK;
}

KanonPattern
cut_pattern(const Cut *cut, size_t class_)
{
	KanonPattern pattern = KANON_NONE;

	for (int q = 0; q < cut->trees->nqis; q++)
	{
		const CutNode *node = &cut->trees->node[cut->shown[class_ * (size_t) cut->trees->nqis + (size_t) q]];

		for (int c = cut->trees->first[q]; c < node->column; c++)
			kanon_add(&pattern, c);
	}
	return pattern;
}

/* ---- rules ---- */

/* May a class be one, populations aside? */
static bool
cut_class_allowed(const Cut *cut, const CutClass *class)
{
	return kanon_class_allowed(cut->problem, cut->member + class->start, NULL, class->n, class->rows);
}

/* The classes' cells, for the populations. */
static uint32_t
list_classes(Cut *cut)
{
	uint32_t *type = kanon_presence_types(cut->presence);
	uint32_t n = 0;

	for (size_t i = 0; i < cut->nclasses; i++)
		if (!cut->classes[i].split)
		{
			type[n] = cut->member[cut->classes[i].start];
			cut->pattern[n++] = cut_pattern(cut, i);
		}
	return n;
}

KanonStatus
cut_may_present(Cut *cut, bool *may)
{
	uint32_t n = 0;
	KanonStatus status;

	*may = true;
	if (!cut->wandering)
		return cut_present(cut, may);
	status = kanon_presence_count_below(cut->presence, cut->pattern, list_classes(cut));
	for (size_t i = 0; i < cut->nclasses && status == KANON_OK && *may; i++)
		if (!cut->classes[i].split)
			*may = kanon_presence_may_allow(cut->presence, n++, cut->classes[i].rows);
	return status;
}

KanonStatus
cut_present(Cut *cut, bool *keeps)
{
	uint32_t n = 0;
	KanonStatus status;

	*keeps = true;
	if (cut->presence == NULL)
		return KANON_OK;
	status = kanon_presence_count_cut(cut->presence, cut->pattern, list_classes(cut));
	for (size_t i = 0; i < cut->nclasses && status == KANON_OK && *keeps; i++)
		if (!cut->classes[i].split)
		{
			*keeps =
				FAULT(population_miscounted) || kanon_presence_allows(cut->presence, n, cut->classes[i].rows);
			kanon_presence_take(cut->presence, n++);
		}
	*keeps = *keeps && (FAULT(population_miscounted) || kanon_presence_rest(cut->presence, 0));
	return status;
}

KanonStatus
cut_valid(Cut *cut, bool *valid)
{
	*valid = true;
	for (size_t i = 0; i < cut->nclasses && *valid; i++)
	{
		if (cut->classes[i].split)
			continue;
		if (kanon_stop(cut->pace, cut->classes[i].n))
			return KANON_CANCELLED;
		*valid = cut_class_allowed(cut, &cut->classes[i]);
	}
	return *valid ? cut_present(cut, valid) : KANON_OK;
}

/* ---- moves ---- */

/* Rows of the buffer's members [from .. to) as a class that the move would make. */
static void
judge(Cut *cut, uint32_t move, const uint32_t *types, uint32_t n, int64_t rows)
{
	const KanonProblem *problem = cut->problem;

	if (rows < cut->least[move])
		cut->least[move] = rows;
	if (rows < kanon_least_rows(problem) - FAULT(class_short))
		cut->large[move] = cut->allowed[move] = false;
	else if (cut->allowed[move])
		cut->allowed[move] = kanon_class_allowed(problem, types, NULL, n, rows);
}

/* The rest of the buffer, when the members of one node go. */
static void
judge_rest(Cut *cut, const CutClass *class, uint32_t move)
{
	uint32_t to = cut->end[move];
	uint32_t from = to - cut->count[move];

	if (cut->count[move] == class->n)
		return;
	if (cut->problem->privacy != NULL)
	{
		memcpy(cut->others, cut->buffer, from * sizeof(uint32_t));
		memcpy(cut->others + from, cut->buffer + to, (class->n - to) * sizeof(uint32_t));
	}
	judge(cut, move, cut->others, class->n - cut->count[move], class->rows - cut->rows[move]);
}

/* Is anything of a move still to be found out? */
static inline bool
in_question(const Cut *cut, uint32_t move)
{
	return !cut->dead[move] && (cut->allowed[move] || (!cut->monotone && cut->large[move]));
}

/* One class, by its node of one quasi-identifier. */
static KanonStatus
survey_class(Cut *cut, const CutClass *class, int qi, uint32_t node)
{
	bool sibling = cut->scheme == KANON_SCHEME_SIBLING;
	uint32_t n;

	if (cut->trees->node[node].nchildren == 0 || (!sibling && !in_question(cut, node)))
		return KANON_OK;
	if (kanon_stop(cut->pace, 4 * (uint64_t) class->n))
		return KANON_CANCELLED;
	n = spread(cut, class, qi, node, NO_NODE, false);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t part = cut->touched[i];
		uint32_t move = sibling ? part : node;

		if (!in_question(cut, move))
			continue;
		judge(cut, move, cut->buffer + cut->end[part] - cut->count[part], cut->count[part], cut->rows[part]);
		if (sibling && in_question(cut, move))
			judge_rest(cut, class, move);
		cut->pace->work += sibling && cut->problem->privacy != NULL ? class->n : 0;
	}
	clear(cut, n);
	return KANON_OK;
}

KanonStatus
cut_survey(Cut *cut)
{
	cut->smallest = INT64_MAX;
	for (uint32_t i = 0; i < cut->trees->nnodes; i++)
	{
		cut->allowed[i] = cut->large[i] = true;
		cut->least[i] = INT64_MAX;
	}
	for (size_t i = 0; i < cut->nclasses; i++)
	{
		const CutClass *class = &cut->classes[i];

		if (class->split)
			continue;
		if (class->rows < cut->smallest)
			cut->smallest = class->rows;
		for (int q = 0; q < cut->trees->nqis; q++)
		{
			KanonStatus status =
				survey_class(cut, class, q, cut->shown[i * (size_t) cut->trees->nqis + (size_t) q]);

			if (status != KANON_OK)
				return status;
		}
	}
	return KANON_OK;
}

static void
set_lowered(Cut *cut, uint32_t move, bool lowered)
{
	const CutNode *node = &cut->trees->node[move];

	if (cut->scheme == KANON_SCHEME_SIBLING)
		cut->lowered[move] = lowered;
	for (uint32_t c = 0; c < node->nchildren && cut->scheme == KANON_SCHEME_SUBTREE; c++)
		cut->lowered[node->child + c] = lowered;
}

KanonStatus
cut_move(Cut *cut, uint32_t move)
{
	bool sibling = cut->scheme == KANON_SCHEME_SIBLING;
	const CutNode *node = &cut->trees->node[move];
	uint32_t from = sibling ? node->parent : move;
	size_t before = cut->nclasses;

	for (uint32_t i = 0; i < before; i++)
	{
		CutClass class = cut->classes[i];
		uint32_t n;

		if (class.split || cut->shown[i * (size_t) cut->trees->nqis + (size_t) node->qi] != from)
			continue;
		if (kanon_stop(cut->pace, 4 * (uint64_t) class.n))
			return KANON_CANCELLED;
		n = spread(cut, &class, node->qi, from, sibling ? move : NO_NODE, false);
		if ((n > 1 || cut->touched[0] != from) && !split(cut, i, node->qi, n))
			return KANON_NO_MEMORY;
		clear(cut, n);
	}
	set_lowered(cut, move, true);
	cut->cost -= cut->saving[move];
	return KANON_OK;
}

void
cut_undo(Cut *cut, uint32_t move, size_t nclasses, double cost)
{
	for (; cut->nclasses > nclasses; cut->nclasses--)
	{
		CutClass *from = &cut->classes[cut->classes[cut->nclasses - 1].from];

		cut->nsplit -= from->split;
		from->split = false;
	}
	set_lowered(cut, move, false);
	cut->cost = cost;
}

/*
 * ---- The cut of the release before, where the next one may go no lower.
 *
 * Everybody who shared a class then shares one at each cut above.  The earlier cut is read
 * from its classes: which level of each column they showed.
 */

/* The nodes of a row type that a class of that pattern shows. */
static uint32_t
node_shown(const Cut *cut, KanonPattern pattern, int qi, uint32_t type)
{
	const CutTrees *trees = cut->trees;
	int c = trees->first[qi];

	while (c < trees->first[qi + 1] && kanon_has(pattern, c))
		c++;
	return c == trees->first[qi + 1] ? trees->root[qi] : trees->at[c][cut->problem->columns[c].code[type]];
}

/*
 * The cut of the release before is found again in the trees of today, which may have changed.  Three kinds of nodes
 * are told: nodes that it showed, nodes that have one at or below them, and nodes with a value that it showed by one
 * above.  A new value shows what the others beside it did.
 */
static KanonStatus
find_cut(Cut *cut, const KanonPrevious *previous, bool *shown, bool *known, bool *covered)
{
	const CutTrees *trees = cut->trees;

	for (size_t f = 0; f < previous->nflows; f++)
		for (int q = 0; q < trees->nqis; q++)
		{
			const KanonFlow *flow = &previous->flows[f];
			uint32_t node = node_shown(cut, previous->pattern[flow->class_], q, flow->type);

			if (kanon_stop(cut->pace, 4))
				return KANON_CANCELLED;
			shown[node] = true;
			for (uint32_t below =
					 trees->at[trees->first[q]][cut->problem->columns[trees->first[q]].code[flow->type]];
				 below != node; below = trees->node[below].parent)
				covered[below] = true;
			for (; !known[node]; node = trees->node[node].parent)
				known[node] = true;
		}
	for (uint32_t i = 0; i < trees->nnodes; i++)
	{
		uint32_t parent = trees->node[i].parent;

		cut->may[i] = parent == i ||
					  (cut->may[parent] &&
					   (!shown[parent] || (cut->scheme == KANON_SCHEME_SIBLING && known[i] && !covered[i])));
	}
	return KANON_OK;
}

KanonStatus
cut_stay(Cut *cut, const KanonPrevious *previous, bool *valid)
{
	size_t mark = kanon_mark(cut->scratch);
	bool *shown = kanon_take0(cut->scratch, cut->trees->nnodes, sizeof(bool));
	bool *known = kanon_take0(cut->scratch, cut->trees->nnodes, sizeof(bool));
	bool *covered = kanon_take0(cut->scratch, cut->trees->nnodes, sizeof(bool));
	KanonStatus status = kanon_taken(cut->scratch);

	if (status == KANON_OK)
		status = find_cut(cut, previous, shown, known, covered);
	kanon_release(cut->scratch, mark);
	memcpy(cut->lowered, cut->may, cut->trees->nnodes * sizeof(bool));
	if (status == KANON_OK)
		status = cut_build(cut);
	if (status == KANON_OK)
		status = cut_valid(cut, valid);
	if (status != KANON_OK || *valid)
		return status;
	cut_raise(cut);
	return cut_build(cut);
}
