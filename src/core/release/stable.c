/*
 * stable.c: a release that stays near the one before.
 *
 * Who compares two releases learns from whatever changes between them (Fung,
 * Wang, Fu, Pei, "Anonymity for continuous data publishing", EDBT 2008), so a row type
 * stays in its class as long as the class may be one.  The rows of other classes,
 * and new ones, are a problem of their own, which any solver solves; what comes
 * out dearer than a class that stays and fits goes there afterwards.
 *
 * In pattern clusterings each listed pattern is one class's.  Classes that stay use theirs up,
 * so rows go first to such classes as they fit, and what is left has the other patterns.
 */
#include <math.h>
#include <string.h>

#include "privacy/allowed.h"
#include "model/mask.h"
#include "release/fill.h"
#include "release/part.h"
#include "util/sort.h"

typedef struct Stable
{
	const KanonProblem *problem;
	const KanonPrevious *previous;
	KanonEnv *env;
	KanonScratch scratch;
	KanonPace pace;
	KanonPattern all;
	bool once; /* patterns are used up */

	/* of the classes before */
	int64_t *class_rows; /* [nclasses] rows that stay; 0: the class goes */
	uint32_t *sample;    /* [nclasses] a row type in it */
	int64_t *take;       /* [nflows] rows that stay */

	/* what is left */
	int64_t *left; /* [ntypes] */
	uint32_t nrest;
	KanonPart rest;
	KanonRelease solved;  /* of the rest */
	KanonPattern *unused; /* [nunused] patterns that the rest has, when they are used up */
	size_t nunused;
	uint32_t *joined; /* [ntypes] the place in `kept` of the class that a row type goes to; or NULL */

	/* classes that stay, in order of cost, pattern and what they show */
	uint32_t nkept;
	uint32_t *kept;   /* [nkept] */
	uint32_t *number; /* [nclasses] in the release */
} Stable;

static bool
stop(Stable *s, uint64_t work)
{
	return kanon_stop(&s->pace, work);
}

static double
cost_of(const Stable *s, KanonPattern pattern)
{
	return kanon_pattern_cost(s->problem, pattern);
}

/*
 * Each flow takes as many rows as it had.  Rows more than there were go along to
 * the cheapest of the type's classes.
 */
static KanonStatus
distribute(Stable *s)
{
	const KanonPrevious *previous = s->previous;
	size_t f = 0;

	for (uint32_t type = 0; type < s->problem->ntypes; type++)
	{
		int64_t left = s->problem->rows[type];
		size_t cheapest = f;
		size_t first = f;

		if (stop(s, 4))
			return KANON_CANCELLED;
		for (; f < previous->nflows && previous->flows[f].type == type; f++)
		{
			const KanonFlow *flow = &previous->flows[f];

			s->take[f] = flow->rows < left ? flow->rows : left;
			left -= s->take[f];
			if (cost_of(s, previous->pattern[flow->class_]) <
				cost_of(s, previous->pattern[previous->flows[cheapest].class_]))
				cheapest = f;
		}
		if (f > first)
			s->take[cheapest] += left;
	}
	return KANON_OK;
}

/* Takes a pattern out of those that are left; false: it is none of them. */
static bool
use_up(Stable *s, KanonPattern pattern)
{
	for (size_t i = 0; i < s->nunused; i++)
		if (kanon_same(s->unused[i], pattern))
		{
			s->unused[i] = s->unused[--s->nunused];
			return true;
		}
	return false;
}

/*
 * Classes that may not be one any more get no rows.  The members of each are
 * listed one after the other, by a counting sort of the flows.
 */
static KanonStatus
drop_classes(Stable *s, const KanonMaskIndex *mask, size_t *end, uint32_t *types, int64_t *counts)
{
	const KanonProblem *problem = s->problem;
	const KanonPrevious *previous = s->previous;

	for (size_t f = 0; f < previous->nflows; f++)
		end[previous->flows[f].class_ + 1]++;
	for (uint32_t c = 0; c < previous->nclasses; c++)
		end[c + 1] += end[c];
	for (size_t f = 0; f < previous->nflows; f++)
	{
		size_t place = end[previous->flows[f].class_]++;

		types[place] = previous->flows[f].type;
		counts[place] = s->take[f];
	}
	for (uint32_t c = 0; c < previous->nclasses; c++)
	{
		size_t from = c == 0 ? 0 : end[c - 1];

		if (stop(s, 16 * (end[c] - from) + 4))
			return KANON_CANCELLED;
		if (!kanon_mask_contains(mask, previous->pattern[c]) ||
			!kanon_class_allowed(problem, types + from, counts + from, end[c] - from, s->class_rows[c]) ||
			(s->once && !use_up(s, previous->pattern[c])))
			s->class_rows[c] = 0;
	}
	return KANON_OK;
}

/* Which classes stay, and what is left then. */
static KanonStatus
choose_classes(Stable *s)
{
	const KanonProblem *problem = s->problem;
	const KanonPrevious *previous = s->previous;
	size_t mark = kanon_mark(&s->scratch);
	size_t *end = kanon_take0(&s->scratch, (size_t) previous->nclasses + 1, sizeof(size_t));
	uint32_t *types = kanon_take(&s->scratch, previous->nflows, sizeof(uint32_t));
	int64_t *counts = kanon_take(&s->scratch, previous->nflows, sizeof(int64_t));
	KanonMaskIndex *mask = NULL;
	KanonStatus status = kanon_taken(&s->scratch);

	for (size_t f = 0; f < previous->nflows; f++)
	{
		s->class_rows[previous->flows[f].class_] += s->take[f];
		s->sample[previous->flows[f].class_] = previous->flows[f].type;
	}
	if (status == KANON_OK)
		status = kanon_mask_open(problem, &mask);
	if (status == KANON_OK)
		status = drop_classes(s, mask, end, types, counts);
	kanon_mask_close(mask);
	kanon_release(&s->scratch, mark);
	if (status != KANON_OK)
		return status;
	memcpy(s->left, problem->rows, sizeof(int64_t) * problem->ntypes);
	for (size_t f = 0; f < previous->nflows; f++)
	{
		if (s->class_rows[previous->flows[f].class_] == 0)
			s->take[f] = 0;
		s->left[previous->flows[f].type] -= s->take[f];
	}
	return stop(s, previous->nflows) ? KANON_CANCELLED : KANON_OK;
}

/* Are rows of the type left, which have not joined a class? */
static bool
is_rest(const Stable *s, uint32_t type)
{
	return s->left[type] > 0 && (s->joined == NULL || s->joined[type] == s->nkept);
}

/* The rows that are left as a problem of their own. */
static KanonStatus
make_rest(Stable *s)
{
	const KanonProblem *problem = s->problem;
	uint32_t *type;
	int64_t *rows;
	KanonStatus status;

	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (is_rest(s, i))
			s->nrest++;
	type = kanon_take(&s->scratch, s->nrest, sizeof(uint32_t));
	rows = kanon_take(&s->scratch, s->nrest, sizeof(int64_t));
	if (s->scratch.failed)
		return KANON_NO_MEMORY;
	s->nrest = 0;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (is_rest(s, i))
		{
			type[s->nrest] = i;
			rows[s->nrest++] = s->left[i];
		}
	status = kanon_part_open(problem, s->nrest, type, rows, &s->scratch, &s->pace, &s->rest);
	if (s->once)
	{
		s->rest.problem.mask.list = s->unused;
		s->rest.problem.mask.nlist = s->nunused;
	}
	return status;
}

/* What two row types show under a pattern, the first column that differs deciding. */
static int
compare_shown(const KanonProblem *problem, KanonPattern pattern, uint32_t a, uint32_t b)
{
	for (int c = 0; c < problem->ncolumns; c++)
	{
		uint32_t left = problem->columns[c].code[a];
		uint32_t right = problem->columns[c].code[b];

		if (!kanon_has(pattern, c) && left != right)
			return left < right ? -1 : 1;
	}
	return 0;
}

static int
compare_patterns(const Stable *s, KanonPattern a, KanonPattern b)
{
	double left = cost_of(s, a);
	double right = cost_of(s, b);

	if (left != right)
		return left < right ? -1 : 1;
	return kanon_order(a, b);
}

static int
compare_kept(const void *a, const void *b, void *arg)
{
	const Stable *s = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;
	int order = compare_patterns(s, s->previous->pattern[left], s->previous->pattern[right]);

	return order != 0
			   ? order
			   : compare_shown(s->problem, s->previous->pattern[left], s->sample[left], s->sample[right]);
}

static KanonStatus
order_kept(Stable *s)
{
	uint32_t *spare;

	s->kept = kanon_take(&s->scratch, s->previous->nclasses, sizeof(uint32_t));
	spare = kanon_take(&s->scratch, s->previous->nclasses, sizeof(uint32_t));
	if (s->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t c = 0; c < s->previous->nclasses; c++)
		if (s->class_rows[c] > 0)
			s->kept[s->nkept++] = c;
	kanon_sort(s->kept, spare, s->nkept, sizeof(uint32_t), compare_kept, s);
	kanon_drop(&s->scratch, spare);
	for (uint32_t i = 0; i < s->nkept; i++)
		s->number[s->kept[i]] = i;
	return KANON_OK;
}

/*
 * The cheapest class that stays, costs less than `limit` and takes this type; as
 * a place in `kept`, nkept for none.  One binary search for each pattern.
 */
static uint32_t
find_kept(const Stable *s, uint32_t type, double limit, uint64_t *work)
{
	uint32_t first = 0;

	while (first < s->nkept)
	{
		KanonPattern pattern = s->previous->pattern[s->kept[first]];
		uint32_t low = first, high = s->nkept;

		if (cost_of(s, pattern) >= limit)
			return s->nkept;
		/* the end of this pattern's classes, then the type among them */
		while (low < high)
		{
			uint32_t middle = low + (high - low) / 2;

			if (compare_patterns(s, s->previous->pattern[s->kept[middle]], pattern) > 0)
				high = middle;
			else
				low = middle + 1;
		}
		for (uint32_t end = low, begin = first; begin < end;)
		{
			uint32_t middle = begin + (end - begin) / 2;
			int order = compare_shown(s->problem, pattern, s->sample[s->kept[middle]], type);

			if (order == 0)
				return middle;
			if (order < 0)
				begin = middle + 1;
			else
				end = middle;
		}
		*work += (uint64_t) s->problem->ncolumns * 8;
		first = low;
	}
	return s->nkept;
}

/* Row types that are left go to the cheapest class that stays and takes them. */
static KanonStatus
join_first(Stable *s)
{
	s->joined = kanon_take(&s->scratch, s->problem->ntypes, sizeof(uint32_t));
	if (s->joined == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t type = 0; type < s->problem->ntypes; type++)
	{
		uint64_t work = 4;

		s->joined[type] = s->left[type] > 0 ? find_kept(s, type, INFINITY, &work) : s->nkept;
		if (stop(s, work))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* May rows leave a class of the rest?  (Without rules beyond k.) */
static bool
may_leave(const Stable *s, uint32_t class_, int64_t rows)
{
	const KanonClass *from;

	if (class_ == KANON_DROPPED)
		return true;
	from = &s->solved.classes[class_];
	return from->rows == rows || kanon_class_allowed(s->problem, NULL, NULL, 0, from->rows - rows) ||
		   (kanon_same(from->pattern, s->all) &&
			(s->problem->residual == KANON_RESIDUAL_SUPPRESS || kanon_fills(s->problem)));
}

/* Flows of the rest into classes that stay and are cheaper. */
static KanonStatus
join_kept(Stable *s)
{
	for (size_t f = 0; f < s->solved.nflows; f++)
	{
		KanonFlow *flow = &s->solved.flows[f];
		bool dropped = flow->class_ == KANON_DROPPED;
		uint64_t work = 4;
		uint32_t to;

		if (!may_leave(s, flow->class_, flow->rows))
			continue;
		to = find_kept(s, s->rest.type[flow->type],
					   cost_of(s, dropped ? s->all : s->solved.classes[flow->class_].pattern), &work);
		if (stop(s, work))
			return KANON_CANCELLED;
		if (to == s->nkept)
			continue;
		if (!dropped)
			s->solved.classes[flow->class_].rows -= flow->rows;
		/* numbers from here on are those of the release: the rest's classes come after */
		flow->class_ = s->solved.nclasses + to;
	}
	return KANON_OK;
}

/* Both together. */
static KanonStatus
merge(Stable *s, KanonRelease *release)
{
	const KanonProblem *problem = s->problem;
	const KanonPrevious *previous = s->previous;
	uint32_t nsolved = s->solved.nclasses;
	size_t ncolumns = (size_t) problem->ncolumns;
	size_t n = 0;

	release->classes = kanon_alloc0(s->env, (size_t) nsolved + s->nkept, sizeof(KanonClass));
	release->cells = kanon_alloc0(s->env, (size_t) nsolved + s->nkept, sizeof(KanonCell) * ncolumns);
	release->flows =
		kanon_alloc(s->env, previous->nflows + s->solved.nflows + (s->joined != NULL ? problem->ntypes : 0),
					sizeof(KanonFlow));
	if (release->classes == NULL || release->cells == NULL || release->flows == NULL)
		return KANON_NO_MEMORY;
	release->nclasses = nsolved + s->nkept;
	if (nsolved > 0)
	{
		memcpy(release->classes, s->solved.classes, sizeof(KanonClass) * nsolved);
		memcpy(release->cells, s->solved.cells, sizeof(KanonCell) * ncolumns * nsolved);
	}
	for (uint32_t i = 0; i < s->nkept; i++)
	{
		KanonCell *cell = release->cells + ncolumns * (nsolved + i);
		KanonPattern pattern = previous->pattern[s->kept[i]];

		if (stop(s, ncolumns))
			return KANON_CANCELLED;
		release->classes[nsolved + i].pattern = pattern;
		for (int c = 0; c < problem->ncolumns; c++)
			if (!kanon_has(pattern, c))
			{
				cell[c].show = KANON_SHOW_VALUE;
				cell[c].code = problem->columns[c].code[s->sample[s->kept[i]]] & KANON_MAX_TYPES;
			}
	}
	for (size_t f = 0; f < previous->nflows; f++)
		if (s->take[f] > 0)
		{
			release->flows[n].type = previous->flows[f].type;
			release->flows[n].class_ = nsolved + s->number[previous->flows[f].class_];
			release->flows[n++].rows = s->take[f];
		}
	for (uint32_t type = 0; type < problem->ntypes && s->joined != NULL; type++)
		if (s->joined[type] < s->nkept)
		{
			release->flows[n].type = type;
			release->flows[n].class_ = nsolved + s->joined[type];
			release->flows[n++].rows = s->left[type];
		}
	for (size_t f = 0; f < s->solved.nflows; f++, n++)
	{
		release->flows[n] = s->solved.flows[f];
		release->flows[n].type = s->rest.type[s->solved.flows[f].type];
	}
	release->nflows = n;
	return stop(s, n) ? KANON_CANCELLED : KANON_OK;
}

static KanonStatus
solve_near(Stable *s, KanonSolve solve, KanonRelease *release, KanonReport *report)
{
	const KanonPrevious *previous = s->previous;
	KanonStatus status;

	s->class_rows = kanon_take0(&s->scratch, previous->nclasses, sizeof(int64_t));
	s->sample = kanon_take0(&s->scratch, previous->nclasses, sizeof(uint32_t));
	s->number = kanon_take0(&s->scratch, previous->nclasses, sizeof(uint32_t));
	s->take = kanon_take0(&s->scratch, previous->nflows, sizeof(int64_t));
	s->left = kanon_take(&s->scratch, s->problem->ntypes, sizeof(int64_t));
	if (s->once)
	{
		s->nunused = s->problem->mask.nlist;
		s->unused = kanon_take(&s->scratch, s->nunused, sizeof(KanonPattern));
	}
	if (s->scratch.failed)
		return KANON_NO_MEMORY;
	if (s->once)
		memcpy(s->unused, s->problem->mask.list, sizeof(KanonPattern) * s->nunused);
	status = distribute(s);
	if (status == KANON_OK)
		status = choose_classes(s);
	if (status == KANON_OK)
		status = order_kept(s);
	if (status == KANON_OK && s->once)
		status = join_first(s);
	if (status == KANON_OK)
		status = make_rest(s);
	if (status == KANON_OK && s->nrest > 0 && s->once && s->nunused == 0)
		status = KANON_NOT_FOUND;
	/* rows of the classes that stay may fill it up, in the end */
	if (kanon_fills(s->problem))
		s->rest.problem.residual = KANON_RESIDUAL_SUPPRESS;
	if (status == KANON_OK && s->nrest > 0)
		status = solve(&s->rest.problem, &s->solved, report);
	/* who comes to a class that keeps other rules, or leaves one, may break them */
	if (status == KANON_OK && s->problem->privacy == NULL && !s->once)
		status = join_kept(s);
	if (status == KANON_OK)
		status = merge(s, release);
	if (status == KANON_OK)
		status = kanon_release_finish(s->problem, release, report);
	if (status != KANON_OK)
		kanon_release_free(s->problem, release);
	return status;
}

static KanonStatus
solve_stable(const KanonProblem *problem, const KanonPrevious *previous, bool once, KanonSolve solve,
			 KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	Stable s = {.problem = problem,
				.previous = previous,
				.env = env,
				.scratch = {.env = env},
				.pace = kanon_pace(env, "staying near the release before"),
				.all = kanon_pattern_all(problem->ncolumns),
				.once = once};
	KanonStatus status;

	/* who of a population belongs to a class depends on all other classes */
	if (problem->npopulations > 0 || (once && problem->mask.list == NULL))
		return solve(problem, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	status = solve_near(&s, solve, release, report);
	kanon_release_free(problem, &s.solved);
	kanon_part_close(&s.rest);
	kanon_scratch_free(&s.scratch);
	if (status != KANON_OK && status != KANON_CANCELLED && status != KANON_NO_MEMORY)
		return solve(problem, release, report);
	/* no bound of the rest's is one for the whole */
	report->lower_bound = -INFINITY;
	report->guarantee = 0;
	report->proven = false;
	report->seconds = env->now(env->arg) - start;
	return status;
}

KanonStatus
kanon_solve_stable(const KanonProblem *problem, const KanonPrevious *previous, KanonSolve solve,
				   KanonRelease *release, KanonReport *report)
{
	return solve_stable(problem, previous, false, solve, release, report);
}

KanonStatus
kanon_solve_stable_once(const KanonProblem *problem, const KanonPrevious *previous, KanonSolve solve,
						KanonRelease *release, KanonReport *report)
{
	return solve_stable(problem, previous, true, solve, release, report);
}
