/*
 * subtree.c: the cut of a method as a release; hierarchies as trees.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "privacy/rules.h"
#include "release/release.h"
#include "subtree/subtree.h"

const char *const kanon_scheme_names[] = {"subtree", "sibling", NULL};

/* One class, shown by its first row type. */
static void
show_class(const Cut *cut, size_t from, uint32_t class_, KanonRelease *release)
{
	const KanonProblem *problem = cut->problem;
	const CutClass *class = &cut->classes[from];
	KanonPattern pattern = cut_pattern(cut, from);
	KanonCell *cell = release->cells + class_ * (size_t) problem->ncolumns;

	release->classes[class_] = (KanonClass){pattern, 0};
	for (int c = 0; c < problem->ncolumns; c++)
	{
		bool shown = !kanon_has(pattern, c);

		cell[c].show = shown ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING;
		cell[c].code = shown ? problem->columns[c].code[cut->member[class->start]] & KANON_MAX_TYPES : 0;
	}
	for (uint32_t i = 0; i < class->n; i++)
	{
		uint32_t type = cut->member[class->start + i];

		release->flows[type] = (KanonFlow){type, class_, problem->rows[type]};
	}
}

static KanonStatus
make_release(const Cut *cut, KanonRelease *release)
{
	const KanonProblem *problem = cut->problem;
	KanonEnv *env = problem->env;
	size_t nclasses = cut->nclasses - cut->nsplit;

	release->classes = kanon_alloc(env, nclasses, sizeof(KanonClass));
	release->cells = kanon_alloc(env, nclasses * (size_t) problem->ncolumns, sizeof(KanonCell));
	release->flows = kanon_alloc(env, problem->ntypes, sizeof(KanonFlow));
	if (release->classes == NULL || release->cells == NULL || release->flows == NULL)
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < cut->nclasses; i++)
	{
		if (cut->classes[i].split)
			continue;
		if (kanon_stop(cut->pace, 2 * (uint64_t) cut->classes[i].n))
			return KANON_CANCELLED;
		show_class(cut, i, release->nclasses++, release);
	}
	release->nflows = problem->ntypes;
	return KANON_OK;
}

/* The cut of the method; *bound: what none costs less than. */
static KanonStatus
find_cut(Cut *cut, const KanonPrevious *previous, KanonReport *report, double *bound)
{
	const KanonSubtreeOptions *options = cut->problem->subtree;
	bool valid;
	KanonStatus status;

	if (previous != NULL)
	{
		status = cut_stay(cut, previous, &valid);
		if (status != KANON_OK || valid)
			return status;
	}
	status = cut_valid(cut, &valid);
	if (status != KANON_OK)
		return status;
	if (!valid && (cut->monotone || options->method != KANON_SUBTREE_OPTIMAL))
	{
		snprintf(report->detail, sizeof(report->detail), "all rows together may not be a class");
		return cut->monotone ? KANON_INFEASIBLE : KANON_NOT_FOUND;
	}
	if (options->method == KANON_SUBTREE_OPTIMAL)
		return cut_enumerate(cut, &report->nodes, bound);
	status = cut_bound(cut, NULL, bound);
	if (status != KANON_OK)
		return status;
	return cut_descend(cut, options->class_column, options->method == KANON_SUBTREE_TOP_DOWN, &report->nodes);
}

static KanonStatus
solve(const KanonProblem *problem, const KanonPrevious *previous, KanonPace *pace, KanonRelease *release,
	  KanonReport *report)
{
	KanonScratch own = {.env = problem->env};
	KanonScratch *scratch = &own;
	Cut made = {.nclasses = 0};
	Cut *cut = &made;
	CutTrees trees;
	double bound = -INFINITY, most = 0, cost;
	KanonStatus status = cut_trees(problem, scratch, pace, &trees, report);

	if (status == KANON_OK)
		status = kanon_presence_open(problem, &cut->presence);
	if (status == KANON_OK)
		status = cut_open(problem, &trees, scratch, pace, cut);
	most = cut->cost;
	if (status == KANON_OK)
		status = find_cut(cut, previous, report, &bound);
	if (problem->privacy != NULL && kanon_privacy_failed(problem->privacy))
		status = KANON_NO_MEMORY;
	if (status == KANON_OK)
	{
		cut_add_up(cut);
		status = make_release(cut, release);
	}
	cost = cut->cost;
	kanon_presence_close(cut->presence);
	kanon_scratch_free(scratch);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	if (status != KANON_OK)
		return status;
	report->cost = cost;
	report->proven = previous == NULL && cost - bound <= CUT_TIE * most;
	report->lower_bound = previous != NULL ? -INFINITY : report->proven ? cost : fmax(bound, 0);
	if (pace->late && !report->proven)
		snprintf(report->detail, sizeof(report->detail), "time_limit");
	return KANON_OK;
}

KanonStatus
kanon_solve_subtree(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	const KanonPrevious *previous = problem->subtree->previous;
	KanonPace pace;
	KanonStatus status = KANON_OK;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	kanon_pace_limit(&pace, problem, kanon_methods(KANON_SUBTREE)[problem->subtree->method].name);
	pace.work = KANON_POLL_WORK;
	if (problem->ntypes > 0)
		status = solve(problem, previous, &pace, release, report);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	else if (previous != NULL)
		kanon_follow(problem, previous, release);
	report->seconds = env->now(env->arg) - start;
	return status;
}

/* ---- The levels of the quasi-identifiers as trees, and what a cell loses that shows a node ---- */

/* The parent of each code in a column; the nodes above are there, and *nchildren of them are counted. */
static KanonStatus
find_parents(const KanonProblem *problem, const CutTrees *trees, int qi, int c, KanonPace *pace,
			 uint32_t *parent, KanonReport *report)
{
	const KanonColumn *column = &problem->columns[c];

	memset(parent, 0xff, column->distinct * sizeof(uint32_t));
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		uint32_t *known = &parent[column->code[type]];
		uint32_t above = c + 1 < trees->first[qi + 1] ? trees->at[c + 1][problem->columns[c + 1].code[type]]
													  : trees->root[qi];

		if (kanon_stop(pace, 2))
			return KANON_CANCELLED;
		if (*known == NO_NODE)
			trees->node[above].nchildren++;
		else if (*known != above)
		{
			snprintf(report->detail, sizeof(report->detail), "levels %d and %d of a hierarchy do not nest",
					 column->level, column->level + 1);
			return KANON_BROKEN;
		}
		*known = above;
	}
	return KANON_OK;
}

/* The nodes of one column: those of a parent one after the other. */
static KanonStatus
add_column(const KanonProblem *problem, CutTrees *trees, int qi, int c, uint32_t *parent, KanonPace *pace,
		   KanonReport *report)
{
	const KanonColumn *column = &problem->columns[c];
	uint32_t above = c + 1 < trees->first[qi + 1] ? trees->level[c + 1] : trees->root[qi];
	KanonStatus status = find_parents(problem, trees, qi, c, pace, parent, report);

	if (status != KANON_OK)
		return status;
	trees->level[c] = trees->nnodes;
	for (uint32_t p = above; p < trees->level[c]; p++)
	{
		trees->node[p].child = trees->nnodes;
		trees->nnodes += trees->node[p].nchildren;
		trees->node[p].nchildren = 0;
	}
	for (uint32_t code = 0; code < column->distinct; code++)
	{
		CutNode *up;

		trees->at[c][code] = NO_NODE;
		if (parent[code] == NO_NODE)
			continue;
		up = &trees->node[parent[code]];
		trees->at[c][code] = up->child + up->nchildren++;
		trees->node[trees->at[c][code]] =
			(CutNode){.parent = parent[code], .qi = qi, .column = c, .low = INFINITY, .high = -INFINITY};
		if (column->level > 0 && column->number != NULL)
			trees->node[trees->at[c][code]].loss = column->number[code];
	}
	return KANON_OK;
}

/* The table's part below each node of a quasi-identifier. */
static void
add_up(const KanonProblem *problem, CutTrees *trees, int qi, uint32_t end)
{
	const KanonColumn *values = &problem->columns[trees->first[qi]];
	const uint32_t *at = trees->at[trees->first[qi]];

	for (uint32_t type = 0; type < problem->ntypes; type++)
		trees->node[at[values->code[type]]].rows += problem->rows[type];
	for (uint32_t v = 0; v < values->distinct; v++)
		if (at[v] != NO_NODE)
		{
			CutNode *node = &trees->node[at[v]];

			node->values = 1;
			node->low = node->high = values->number != NULL ? values->number[v] : 0;
		}
	for (uint32_t i = end - 1; i > trees->root[qi]; i--)
	{
		const CutNode *node = &trees->node[i];
		CutNode *up = &trees->node[node->parent];

		up->rows += node->rows;
		up->values += node->values;
		if (node->low < up->low || isnan(node->low))
			up->low = node->low;
		if (node->high > up->high || isnan(node->high))
			up->high = node->high;
	}
}

/* As kanon_measure has it: normalized certainty penalty. */
static void
set_losses(const KanonProblem *problem, CutTrees *trees, int qi, uint32_t end)
{
	const KanonColumn *values = &problem->columns[trees->first[qi]];
	double weight = 0;
	double range = 0, scale = 1;

	for (int c = trees->first[qi]; c < trees->first[qi + 1]; c++)
		weight += problem->columns[c].weight;
	if (values->number != NULL)
		range = kanon_number_range(values, &scale);
	for (uint32_t i = trees->root[qi]; i < end; i++)
	{
		CutNode *node = &trees->node[i];
		double share = 1;

		/* (an area: the loss is its share until here) */
		if (i > trees->root[qi] && node->column > trees->first[qi] &&
			problem->columns[node->column].number != NULL)
			share = node->loss;
		else if (values->distinct < 2 || (i > trees->root[qi] && node->values < 2))
			share = 0;
		else if (i > trees->root[qi])
			share = values->number != NULL ? kanon_range_share(range, scale, node->low, node->high)
										   : (double) node->values / values->distinct;
		node->loss = weight * share;
	}
}

static KanonStatus
add_tree(const KanonProblem *problem, CutTrees *trees, int qi, uint32_t *parent, KanonPace *pace,
		 KanonReport *report)
{
	uint32_t root = trees->root[qi] = trees->nnodes++;

	trees->node[root] = (CutNode){
		.parent = root, .qi = qi, .column = trees->first[qi + 1], .low = INFINITY, .high = -INFINITY};
	for (int c = trees->first[qi + 1] - 1; c >= trees->first[qi]; c--)
	{
		KanonStatus status = add_column(problem, trees, qi, c, parent, pace, report);

		if (status != KANON_OK)
			return status;
	}
	add_up(problem, trees, qi, trees->nnodes);
	set_losses(problem, trees, qi, trees->nnodes);
	return KANON_OK;
}

KanonStatus
cut_trees(const KanonProblem *problem, KanonScratch *scratch, KanonPace *pace, CutTrees *trees,
		  KanonReport *report)
{
	size_t most = 0, distinct = 0;
	uint32_t *parent;
	KanonStatus status;

	memset(trees, 0, sizeof(*trees));
	trees->nqis = kanon_count_qis(problem);
	for (int q = 0; q <= trees->nqis; q++)
		trees->first[q] = kanon_first_column(problem, q);
	for (int c = 0; c < problem->ncolumns; c++)
	{
		most += problem->columns[c].distinct;
		distinct = problem->columns[c].distinct > distinct ? problem->columns[c].distinct : distinct;
		trees->at[c] = kanon_take(scratch, problem->columns[c].distinct, sizeof(uint32_t));
	}
	trees->node = kanon_take(scratch, most + (size_t) trees->nqis, sizeof(CutNode));
	parent = kanon_take(scratch, distinct, sizeof(uint32_t));
	status = most + (size_t) trees->nqis < NO_NODE ? kanon_taken(scratch) : KANON_NO_MEMORY;
	for (int q = 0; q < trees->nqis && status == KANON_OK; q++)
		status = add_tree(problem, trees, q, parent, pace, report);
	kanon_drop(scratch, parent);
	return status;
}
