/*
 * subtree.c: the cut of a method as a release.
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
