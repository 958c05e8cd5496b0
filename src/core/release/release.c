/*
 * release.c: brings a method's release into its one canonical form, and checks
 * it before anybody trusts it.
 *
 * A method that hands its release over in that form already (greedy does, with
 * millions of classes) costs a few passes and no memory.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "privacy/rules.h"
#include "privacy/population.h"
#include "release/release.h"
#include "util/pace.h"
#include "util/sort.h"

typedef struct Finish
{
	const KanonProblem *problem;
	KanonRelease *release;
	KanonReport *report;
	KanonMaskIndex *index;
	KanonPace pace;
	int ncolumns;
	bool joined; /* equal classes have become one */
} Finish;

/* Says what is wrong; numbers of types and classes only, never a value. */
static KanonStatus
broken(Finish *finish, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finish->report->detail, sizeof(finish->report->detail), format, args);
	va_end(args);
	return KANON_BROKEN;
}

static KanonCell *
cells_of(const Finish *finish, size_t class)
{
	return finish->release->cells + class * (size_t) finish->ncolumns;
}

/* Are the n codes of a range or set the column's, and ascending? */
static bool
ascend(const KanonColumn *column, const uint32_t *code, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (code[i - 1] >= code[i])
			return false;
	return code[n - 1] < column->distinct;
}

/*
 * Does a class show a range or a set in column c, as they must be?  Nothing of
 * the levels above is shown beside it.
 */
static bool
check_several(Finish *finish, uint32_t class, int c)
{
	const KanonRelease *release = finish->release;
	const KanonColumn *column = &finish->problem->columns[c];
	const KanonCell *cell = &cells_of(finish, class)[c];
	size_t from = cell->code;
	uint32_t n;

	if (!kanon_shows_several(*cell) || column->level > 0 || from >= release->npool)
		return false;
	for (int above = c + 1; above < finish->ncolumns && finish->problem->columns[above].level > 0; above++)
		if (!kanon_has(release->classes[class].pattern, above))
			return false;
	if (cell->show == KANON_SHOW_RANGE)
		return release->npool - from >= 2 && ascend(column, release->pool + from, 2) &&
			   !(column->has_null && release->pool[from + 1] == column->distinct - 1);
	n = release->pool[from];
	finish->pace.work += n;
	return n >= 2 && n <= release->npool - from - 1 && ascend(column, release->pool + from + 1, n);
}

/*
 * Each class shows what its pattern says, and the mask allows that.  A mask says
 * what may be suppressed; of a class that shows a range or a set the pattern
 * only says where the one value is missing, so no mask speaks of it.
 */
static KanonStatus
check_classes(Finish *finish)
{
	const KanonRelease *release = finish->release;
	KanonPattern known = finish->index->all;

	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		KanonPattern pattern = release->classes[i].pattern;
		const KanonCell *cell = cells_of(finish, i);
		bool several = false;

		if (kanon_stop(&finish->pace, (uint64_t) finish->ncolumns))
			return KANON_CANCELLED;
		for (int c = 0; c < finish->ncolumns; c++)
		{
			bool shown = !kanon_has(pattern, c);

			if (cell[c].show == (shown ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING))
			{
				if (shown ? cell[c].code >= finish->problem->columns[c].distinct : cell[c].code != 0)
					return broken(finish, "class %u shows no value of column %d", i, c);
			}
			else if (!shown && check_several(finish, i, c))
				several = true;
			else
				return broken(finish, "class %u does not show column %d as its pattern says", i, c);
		}
		if (several ? !kanon_within(pattern, finish->index->all) ||
						  !kanon_levels_allow(finish->index->last, pattern)
					: !kanon_same(pattern, known) && !kanon_mask_contains(finish->index, pattern))
			return broken(finish, "class %u has a pattern that is not allowed", i);
		if (!several)
			known = pattern;
	}
	return KANON_OK;
}

/* Counts the rows of each class from the flows, and the rows left out. */
static KanonStatus
count_rows(Finish *finish)
{
	KanonRelease *release = finish->release;

	release->dropped = 0;
	for (uint32_t i = 0; i < release->nclasses; i++)
		release->classes[i].rows = 0;
	for (size_t i = 0; i < release->nflows; i++)
	{
		const KanonFlow *flow = &release->flows[i];
		int64_t *sum = &release->dropped;

		if (kanon_stop(&finish->pace, 1))
			return KANON_CANCELLED;
		if (flow->type >= finish->problem->ntypes)
			return broken(finish, "flow %zu comes from no row type", i);
		if (flow->class_ != KANON_DROPPED)
		{
			if (flow->class_ >= release->nclasses)
				return broken(finish, "flow %zu goes to no class", i);
			sum = &release->classes[flow->class_].rows;
		}
		if (flow->rows < 0 || __builtin_add_overflow(*sum, flow->rows, sum))
			return broken(finish, "flow %zu has an impossible number of rows", i);
	}
	return KANON_OK;
}

/* By pattern in mask order, then by what is shown. */
static int
compare_classes(const Finish *finish, size_t a, size_t b)
{
	const KanonRelease *release = finish->release;
	const KanonCell *left = cells_of(finish, a);
	const KanonCell *right = cells_of(finish, b);

	if (!kanon_same(release->classes[a].pattern, release->classes[b].pattern))
		return kanon_mask_compare(finish->index, release->classes[a].pattern, release->classes[b].pattern);
	for (int c = 0; c < finish->ncolumns; c++)
	{
		int order;

		if (left[c].show == right[c].show && left[c].code == right[c].code)
			continue;
		order = kanon_compare_shown(release, left[c], right[c]);
		if (order != 0)
			return order;
	}
	return 0;
}

static int
compare_class_numbers(const void *a, const void *b, void *arg)
{
	return compare_classes(arg, *(const uint32_t *) a, *(const uint32_t *) b);
}

/* Are the classes non-empty, pairwise different and in order? */
static KanonStatus
classes_in_order(Finish *finish, bool *answer)
{
	*answer = true;
	for (uint32_t i = 0; i < finish->release->nclasses && *answer; i++)
	{
		if (kanon_stop(&finish->pace, 4))
			return KANON_CANCELLED;
		*answer = finish->release->classes[i].rows > 0 && (i == 0 || compare_classes(finish, i - 1, i) < 0);
	}
	return KANON_OK;
}

/* The graph's edges follow their classes: nclasses of them in this order, that become `kept`. */
static KanonStatus
order_graph(Finish *finish, const uint32_t *order, uint32_t nclasses, const uint32_t *renumber, uint32_t kept)
{
	KanonRelease *release = finish->release;
	KanonEnv *env = finish->problem->env;
	size_t *start;
	uint32_t *graph;
	size_t edges = 0;

	if (release->graph == NULL)
		return KANON_OK;
	start = kanon_alloc(env, (size_t) kept + 1, sizeof(size_t));
	graph = kanon_alloc(env, release->ngraph, sizeof(uint32_t));
	if (start == NULL || graph == NULL)
	{
		kanon_free(env, start);
		kanon_free(env, graph);
		return KANON_NO_MEMORY;
	}
	start[0] = 0;
	for (uint32_t i = 0; i < nclasses; i++)
	{
		size_t from = release->graph_start[order[i]];
		size_t n = release->graph_start[order[i] + 1] - from;

		memcpy(graph + edges, release->graph + from, n * sizeof(uint32_t));
		edges += n;
		start[renumber[order[i]] + 1] = edges;
	}
	kanon_free(env, release->graph_start);
	kanon_free(env, release->graph);
	release->graph_start = start;
	release->graph = graph;
	release->ngraph = edges;
	return KANON_OK;
}

/*
 * Puts the classes in order, one per instance and none empty; the flows follow.
 * order and renumber have room for a number per class.
 */
static KanonStatus
rebuild_classes(Finish *finish, uint32_t *order, uint32_t *renumber)
{
	KanonRelease *release = finish->release;
	KanonEnv *env = finish->problem->env;
	size_t row = (size_t) finish->ncolumns * sizeof(KanonCell);
	KanonClass *classes;
	KanonCell *cells;
	uint32_t nclasses = 0;

	for (uint32_t i = 0; i < release->nclasses; i++)
		if (release->classes[i].rows > 0)
			order[nclasses++] = i;
	kanon_sort(order, renumber, nclasses, sizeof(uint32_t), compare_class_numbers, finish);

	classes = kanon_alloc(env, nclasses, sizeof(KanonClass));
	cells = kanon_alloc(env, nclasses, row);
	if (classes == NULL || cells == NULL)
	{
		kanon_free(env, classes);
		kanon_free(env, cells);
		return KANON_NO_MEMORY;
	}

	uint32_t kept = 0;

	for (uint32_t i = 0; i < nclasses; i++)
	{
		if (i == 0 || compare_classes(finish, order[i - 1], order[i]) != 0)
		{
			classes[kept] = release->classes[order[i]];
			memcpy(cells + (size_t) kept * (size_t) finish->ncolumns, cells_of(finish, order[i]), row);
			kept++;
		}
		else
			classes[kept - 1].rows += release->classes[order[i]].rows;
		renumber[order[i]] = kept - 1;
	}
	for (uint32_t i = 0; i < release->nfollow; i++)
		if (release->follow[i] != KANON_DROPPED)
			release->follow[i] =
				release->classes[release->follow[i]].rows > 0 ? renumber[release->follow[i]] : KANON_DROPPED;
	if (order_graph(finish, order, nclasses, renumber, kept) != KANON_OK)
	{
		kanon_free(env, classes);
		kanon_free(env, cells);
		return KANON_NO_MEMORY;
	}
	for (size_t i = 0; i < release->nflows; i++)
		if (release->flows[i].class_ != KANON_DROPPED && release->flows[i].rows > 0)
			release->flows[i].class_ = renumber[release->flows[i].class_];
	kanon_free(env, release->classes);
	kanon_free(env, release->cells);
	release->classes = classes;
	release->cells = cells;
	release->nclasses = kept;
	finish->joined = kept < nclasses;
	return KANON_OK;
}

static KanonStatus
order_classes(Finish *finish)
{
	KanonEnv *env = finish->problem->env;
	uint32_t *order;
	uint32_t *renumber;
	bool done;
	KanonStatus status = classes_in_order(finish, &done);

	if (status != KANON_OK || done)
		return status;
	status = KANON_NO_MEMORY;
	order = kanon_alloc(env, finish->release->nclasses, sizeof(uint32_t));
	renumber = kanon_alloc(env, finish->release->nclasses, sizeof(uint32_t));
	if (order != NULL && renumber != NULL)
		status = rebuild_classes(finish, order, renumber);
	kanon_free(env, order);
	kanon_free(env, renumber);
	return status;
}

int
kanon_compare_flows(const void *a, const void *b, void *arg)
{
	const KanonFlow *left = a;
	const KanonFlow *right = b;

	(void) arg;
	if (left->type != right->type)
		return left->type < right->type ? -1 : 1;
	return left->class_ < right->class_ ? -1 : left->class_ > right->class_;
}

/* Flows by type and class, one for each pair, none empty. */
static KanonStatus
order_flows(Finish *finish)
{
	KanonRelease *release = finish->release;
	KanonEnv *env = finish->problem->env;
	KanonFlow *flows = release->flows;
	KanonFlow *scratch;
	size_t kept = 0;
	bool done = true;

	for (size_t i = 0; i < release->nflows; i++)
	{
		if (kanon_stop(&finish->pace, 2))
			return KANON_CANCELLED;
		if (flows[i].rows > 0)
		{
			done = done && (kept == 0 || kanon_compare_flows(&flows[kept - 1], &flows[i], NULL) < 0);
			flows[kept++] = flows[i];
		}
	}
	release->nflows = kept;
	if (done)
		return KANON_OK;

	scratch = kanon_alloc(env, kept, sizeof(KanonFlow));
	if (scratch == NULL)
		return KANON_NO_MEMORY;
	kanon_sort(flows, scratch, kept, sizeof(KanonFlow), kanon_compare_flows, NULL);
	kanon_free(env, scratch);
	kept = 0;
	for (size_t i = 0; i < release->nflows; i++)
	{
		if (kept > 0 && kanon_compare_flows(&flows[kept - 1], &flows[i], NULL) == 0)
			flows[kept - 1].rows += flows[i].rows;
		else
			flows[kept++] = flows[i];
	}
	release->nflows = kept;
	return KANON_OK;
}

/* Every row goes somewhere once, and to a class that shows only what is true of it. */
static KanonStatus
check_flows(Finish *finish)
{
	const KanonProblem *problem = finish->problem;
	const KanonRelease *release = finish->release;
	size_t f = 0;

	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		int64_t left = problem->rows[type];

		if (kanon_stop(&finish->pace, (uint64_t) finish->ncolumns))
			return KANON_CANCELLED;
		for (; f < release->nflows && release->flows[f].type == type; f++)
		{
			const KanonCell *cell;

			/* no overflow: each is at most what all flows to its class add up to */
			left -= release->flows[f].rows;
			if (left < 0)
				break;
			if (release->flows[f].class_ == KANON_DROPPED)
				continue;
			cell = cells_of(finish, release->flows[f].class_);
			for (int c = 0; c < finish->ncolumns; c++)
			{
				uint32_t code = problem->columns[c].code[type];

				if (!kanon_cell_matches(release, cell[c], code))
					return broken(finish, "row type %u goes to a class that it does not match", type);
			}
		}
		if (left != 0)
			return broken(finish, "the flows of row type %u do not add up to its rows", type);
	}
	return KANON_OK;
}

/*
 * The classes fulfil the rules beyond k.  If two classes that show the same each
 * fulfil them, the one that they are now need not, where persons are counted.
 */
static KanonStatus
check_privacy(Finish *finish)
{
	uint32_t class = finish->release->nclasses;
	int rule = 0;
	KanonStatus status = KANON_OK;

	if (finish->problem->privacy != NULL)
		status = kanon_privacy_check(finish->problem, finish->release, &class, &rule);
	if (status == KANON_OK && class < finish->release->nclasses)
	{
		if (finish->joined && !kanon_privacy_monotone(finish->problem->privacy))
			return KANON_NOT_FOUND;
		return broken(finish, "class %u breaks privacy rule %d", class, rule + 1);
	}
	if (status == KANON_OK)
		status = kanon_presence_check(finish->problem, finish->release, &class);
	if (status == KANON_OK && class <= finish->release->nclasses)
		return broken(finish, "class %u breaks a rule about a population", class);
	return status;
}

/*
 * Freeform: no class need have k rows, but every record shows k rows and every row
 * is shown k times, as far as the method promises.  That the graph is regular is checked where it is made, row by
 * row; here equal rows and equal records are one.
 */
static KanonStatus
check_graph(Finish *finish)
{
	const KanonProblem *problem = finish->problem;
	const KanonRelease *release = finish->release;
	KanonFreeformMethod method = problem->freeform->method;
	int64_t *shown = kanon_alloc0(problem->env, problem->ntypes, sizeof(int64_t));
	double *least = kanon_alloc0(problem->env, release->nclasses, sizeof(double));
	KanonStatus status = shown != NULL && least != NULL ? KANON_OK : KANON_NO_MEMORY;

	/* a record shows as many rows as the one whose kept values it has wants matches */
	for (size_t f = 0; f < release->nflows && status == KANON_OK && release->dropped == 0; f++)
		least[release->flows[f].class_] +=
			(double) kanon_freeform_own_k(problem, release->flows[f].type) * (double) release->flows[f].rows;

	if (status == KANON_OK && (release->graph == NULL || release->dropped > 0))
		status = broken(finish, "the release is no graph of all rows");
	for (uint32_t i = 0; i < release->nclasses && status == KANON_OK; i++)
	{
		const KanonCell *cell = cells_of(finish, i);
		size_t edges = release->graph_start[i + 1] - release->graph_start[i];

		if (kanon_stop(&finish->pace, edges * (size_t) finish->ncolumns))
			status = KANON_CANCELLED;
		if (kanon_freeform_promises_records(method) && (double) edges < least[i])
			status = broken(finish, "the records of class %u show fewer than k rows", i);
		for (size_t e = release->graph_start[i]; e < release->graph_start[i + 1] && status == KANON_OK; e++)
		{
			uint32_t type = release->graph[e];

			if (type >= problem->ntypes)
			{
				status = broken(finish, "class %u shows a row type that is none", i);
				break;
			}
			shown[type]++;
			for (int c = 0; c < finish->ncolumns; c++)
				if (!kanon_cell_matches(release, cell[c], problem->columns[c].code[type]))
					status = broken(finish, "class %u does not show row type %u", i, type);
		}
	}
	for (uint32_t type = 0; type < problem->ntypes && status == KANON_OK; type++)
		if (kanon_freeform_promises_rows(method) &&
			(double) shown[type] <
				(double) kanon_freeform_own_k(problem, type) * (double) problem->rows[type])
			status = broken(finish, "rows of type %u are shown fewer than k times", type);
	kanon_free(problem->env, shown);
	kanon_free(problem->env, least);
	return status;
}

/* The classes have k rows, and the rows left over are as residual says. */
static KanonStatus
check_rules(Finish *finish)
{
	const KanonProblem *problem = finish->problem;
	const KanonRelease *release = finish->release;
	KanonPattern known = KANON_NONE;
	double cost = 0;

	finish->report->cost = 0;
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		const KanonClass *class = &release->classes[i];

		if (!kanon_same(class->pattern, known))
			cost = kanon_pattern_cost(problem, class->pattern);
		known = class->pattern;
		finish->report->cost += cost * (double) class->rows;
		if (problem->freeform != NULL || class->rows >= kanon_least_rows(problem))
			continue;
		if (!kanon_class_blank(problem, release, i))
			return broken(finish, "class %u may not be one", i);
		if (problem->residual != KANON_RESIDUAL_SUPPRESS)
			return broken(finish, "the fully suppressed rows may not be a class");
	}
	if (release->dropped > 0 && problem->residual != KANON_RESIDUAL_DROP)
		return broken(finish, "rows are left out");
	if (!kanon_by_types(problem) && !problem->leaves_out && release->dropped >= problem->k)
		return broken(finish, "rows are left out that may be a class");
	return kanon_by_types(problem) ? check_privacy(finish) : KANON_OK;
}

KanonStatus
kanon_release_finish(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	Finish finish = {.problem = problem,
					 .release = release,
					 .report = report,
					 .pace = {.env = problem->env, .phase = "check", .work = KANON_POLL_WORK},
					 .ncolumns = problem->ncolumns};
	bool filled = false;
	KanonStatus status = kanon_mask_open(problem, &finish.index);

	if (status == KANON_OK)
		status = check_classes(&finish);
	if (status == KANON_OK)
		status = count_rows(&finish);
	if (status == KANON_OK)
		status = kanon_fill(problem, true, release, report, &filled);
	if (status == KANON_OK && filled)
		status = count_rows(&finish);
	if (status == KANON_OK)
		status = order_classes(&finish);
	if (status == KANON_OK)
		status = order_flows(&finish);
	if (status == KANON_OK)
		status = check_flows(&finish);
	if (status == KANON_OK)
		status = check_rules(&finish);
	if (status == KANON_OK && problem->freeform != NULL && problem->ntypes > 0)
		status = check_graph(&finish);
	kanon_mask_close(finish.index);
	return status;
}

KanonStatus
kanon_release_nobody(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonStatus status;

	memset(report, 0, sizeof(*report));
	memset(release, 0, sizeof(*release));
	release->flows = kanon_alloc0(problem->env, problem->ntypes, sizeof(KanonFlow));
	if (release->flows == NULL)
		return KANON_NO_MEMORY;
	release->nflows = problem->ntypes;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		release->flows[i] = (KanonFlow){i, KANON_DROPPED, problem->rows[i]};
	report->proven = true;
	status = kanon_release_finish(problem, release, report);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	return status;
}
