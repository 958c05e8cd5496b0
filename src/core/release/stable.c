/*
 * stable.c: a release that stays near the one before.
 *
 * A reader who keeps several releases intersects them: if a person shared a class with
 * somebody before and does no longer, although neither has changed, there is one candidate
 * less (Fung, Wang, Fu, Pei, "Anonymity for continuous data publishing", EDBT 2008).  So
 * classes of rows that are still there may be merged and are never divided:
 *
 * - a class keeps its rows and what it shows, as long as it may be one;
 * - rows that are new join a class that takes their row type, first such as lack rows, where
 *   the rules allow it; the others are a problem of their own, which any method solves, but
 *   what comes out dearer than a class that stays and takes them goes there;
 * - a class that may be none any more is merged as a whole with what loses the least by it, or
 *   is suppressed as a whole (release/repair.c, release/patterned.c).
 *
 * In pattern clusterings each listed pattern is one class's: classes use theirs up, rows go
 * first to such as they fit, and what is left has the other patterns.
 */
#include <math.h>
#include <string.h>

#include "privacy/rules.h"
#include "model/model.h"
#include "release/release.h"

#define NONE UINT32_MAX

/* Rows that are new in a class. */
typedef struct Joiner
{
	uint32_t type;
	uint32_t next; /* of the same class, or NONE */
	int64_t rows;
	size_t from; /* the flow of the solved rest that they were; SIZE_MAX: none */
	bool bound;  /* they cannot be told from rows of the class */
} Joiner;

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
	int64_t *take;    /* [nflows] rows that stay */
	size_t *first;    /* [nclasses + 1] */
	uint32_t *member; /* [nflows] flows, by class */
	int64_t *rows;    /* [nclasses] joiners among them */
	uint32_t *joiner; /* [nclasses] the first, or NONE */
	bool *fits;       /* [nclasses] it may have the pattern that it had */
	bool *stays;      /* [nclasses] it is a class */
	Joiner *joiners;  /* [njoiners] */
	size_t njoiners, room_joiners;
	uint32_t *types; /* of a class at hand */
	int64_t *counts;
	size_t room_types, room_counts;

	/* what is left */
	int64_t *left; /* [ntypes] rows that are in no class */
	KanonPart rest;
	KanonRelease solved; /* of the rest */
	bool is_solved;
	KanonPattern *unused; /* [nunused] patterns that the rest has, when they are used up */
	size_t nunused;
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

/* Fully suppressed rows are the rest, but of a clustering. */
static bool
is_blank(const Stable *s, uint32_t class_)
{
	return !s->once && kanon_same(s->previous->pattern[class_], s->all);
}

/* ---- rows of classes ---- */

static KanonStatus
join(Stable *s, uint32_t class_, uint32_t type, int64_t rows, size_t from, bool bound)
{
	Joiner *joiner;

	if (!kanon_enlarge(s->env, &s->joiners, &s->room_joiners, s->njoiners + 1, sizeof(Joiner)))
		return KANON_NO_MEMORY;
	joiner = &s->joiners[s->njoiners];
	*joiner = (Joiner){.type = type, .next = s->joiner[class_], .rows = rows, .from = from, .bound = bound};
	s->joiner[class_] = (uint32_t) s->njoiners++;
	s->rows[class_] += rows;
	return KANON_OK;
}

/*
 * Each flow keeps its rows; of a type that has fewer the last ones lack them.  Rows more than
 * there were go along to the cheapest of the type's classes; where rows are known one by one not to such as show
 * nothing.
 */
static KanonStatus
distribute(Stable *s)
{
	const KanonPrevious *previous = s->previous;
	size_t f = 0;

	for (uint32_t type = 0; type < s->problem->ntypes; type++)
	{
		int64_t left = s->problem->rows[type];
		uint32_t cheapest = NONE;

		if (stop(s, 4))
			return KANON_CANCELLED;
		for (; f < previous->nflows && previous->flows[f].type == type; f++)
		{
			const KanonFlow *flow = &previous->flows[f];

			s->take[f] = flow->rows < left ? flow->rows : left;
			s->rows[flow->class_] += s->take[f];
			left -= s->take[f];
			if (!(kanon_known_by_row(s->previous, type) && is_blank(s, flow->class_)) &&
				(cheapest == NONE ||
				 cost_of(s, previous->pattern[flow->class_]) < cost_of(s, previous->pattern[cheapest])))
				cheapest = flow->class_;
		}
		s->left[type] = left;
		if (left > 0 && cheapest != NONE)
		{
			KanonStatus status =
				join(s, cheapest, type, left, SIZE_MAX, !kanon_known_by_row(s->previous, type));

			if (status != KANON_OK)
				return status;
			s->left[type] = 0;
		}
	}
	return KANON_OK;
}

/* The flows of each class, one after the other, by a counting sort. */
static void
list_members(Stable *s)
{
	const KanonPrevious *previous = s->previous;

	for (size_t f = 0; f < previous->nflows; f++)
		s->first[previous->flows[f].class_ + 1]++;
	for (uint32_t c = 0; c < previous->nclasses; c++)
		s->first[c + 1] += s->first[c];
	for (size_t f = 0; f < previous->nflows; f++)
		s->member[s->first[previous->flows[f].class_]++] = (uint32_t) f;
	for (uint32_t c = previous->nclasses; c > 0; c--)
		s->first[c] = s->first[c - 1];
	s->first[0] = 0;
}

static KanonStatus
add_type(Stable *s, size_t *n, uint32_t type, int64_t rows)
{
	if (!kanon_enlarge(s->env, &s->types, &s->room_types, *n + 1, sizeof(uint32_t)) ||
		!kanon_enlarge(s->env, &s->counts, &s->room_counts, *n + 1, sizeof(int64_t)))
		return KANON_NO_MEMORY;
	s->types[*n] = type;
	s->counts[(*n)++] = rows;
	return KANON_OK;
}

/* Lists the rows that have stayed in a class, and those that cannot be told from them. */
static KanonStatus
list_stayed(Stable *s, uint32_t class_, size_t *n, int64_t *rows)
{
	KanonStatus status = KANON_OK;

	*n = 0;
	*rows = 0;
	for (size_t m = s->first[class_]; m < s->first[class_ + 1] && status == KANON_OK; m++)
		if (s->take[s->member[m]] > 0)
		{
			status = add_type(s, n, s->previous->flows[s->member[m]].type, s->take[s->member[m]]);
			*rows += s->take[s->member[m]];
		}
	for (uint32_t j = s->joiner[class_]; j != NONE && status == KANON_OK; j = s->joiners[j].next)
		if (s->joiners[j].bound)
		{
			status = add_type(s, n, s->joiners[j].type, s->joiners[j].rows);
			*rows += s->joiners[j].rows;
		}
	return status == KANON_OK && stop(s, 16 * (*n + 1)) ? KANON_CANCELLED : status;
}

/* A joiner is turned away: back to the solved rest, or in no class. */
static void
turn_away(Stable *s, uint32_t class_, const Joiner *joiner)
{
	s->rows[class_] -= joiner->rows;
	if (joiner->from == SIZE_MAX)
		s->left[joiner->type] += joiner->rows;
	else
		s->solved.flows[joiner->from].rows = joiner->rows;
}

/*
 * Is it a class?  One that may be one without those who are new gets no more of them than it may have;
 * one that may not takes whoever fits.
 */
static KanonStatus
settle(Stable *s, uint32_t class_)
{
	size_t nstayed, n;
	int64_t stayed, rows;
	uint32_t at = s->joiner[class_];
	KanonStatus status = list_stayed(s, class_, &nstayed, &stayed);

	n = nstayed;
	for (uint32_t j = at; j != NONE && status == KANON_OK; j = s->joiners[j].next)
		if (!s->joiners[j].bound)
			status = add_type(s, &n, s->joiners[j].type, s->joiners[j].rows);
	if (status != KANON_OK)
		return status;
	s->stays[class_] = kanon_class_allowed(s->problem, s->types, s->counts, n, s->rows[class_]);
	if (s->stays[class_] || at == NONE ||
		!kanon_class_allowed(s->problem, s->types, s->counts, nstayed, stayed))
		return stop(s, 16 * (n + 1)) ? KANON_CANCELLED : KANON_OK;
	s->stays[class_] = true;
	s->joiner[class_] = NONE;
	n = nstayed;
	rows = stayed;
	while (at != NONE)
	{
		Joiner *joiner = &s->joiners[at];
		uint32_t next = joiner->next;

		s->types[n] = joiner->type;
		s->counts[n] = joiner->rows;
		if (joiner->bound)
		{
			joiner->next = s->joiner[class_];
			s->joiner[class_] = at;
		}
		else if (kanon_class_allowed(s->problem, s->types, s->counts, n + 1, rows + joiner->rows))
		{
			joiner->next = s->joiner[class_];
			s->joiner[class_] = at;
			rows += joiner->rows;
			n++;
		}
		else
			turn_away(s, class_, joiner);
		if (stop(s, 16 * (n + 1)))
			return KANON_CANCELLED;
		at = next;
	}
	return KANON_OK;
}

static KanonStatus
settle_all(Stable *s)
{
	KanonStatus status = KANON_OK;

	for (uint32_t c = 0; c < s->previous->nclasses && status == KANON_OK; c++)
		if (s->rows[c] > 0 && !is_blank(s, c))
			status = settle(s, c);
	return status;
}

/* Takes a pattern out of those that are left; false: it is none of them. */
static bool
use_up(Stable *s, KanonPattern pattern)
{
	/* of rules each is there once, and no class before shares its own */
	if (s->problem->mask.list == NULL)
		return true;
	for (size_t i = 0; i < s->nunused; i++)
		if (kanon_same(s->unused[i], pattern))
		{
			s->unused[i] = s->unused[--s->nunused];
			return true;
		}
	return false;
}

/* Which classes may have the pattern that they had. */
static KanonStatus
look_at_patterns(Stable *s)
{
	KanonMaskIndex *mask = NULL;
	KanonStatus status = kanon_mask_open(s->problem, &mask);

	for (uint32_t c = 0; c < s->previous->nclasses && status == KANON_OK; c++)
	{
		s->fits[c] = s->rows[c] > 0 && kanon_mask_contains(mask, s->previous->pattern[c]);
		if (s->once && s->rows[c] > 0 && !(s->fits[c] && use_up(s, s->previous->pattern[c])))
			status = KANON_NOT_FOUND;
		if (stop(s, 4))
			status = KANON_CANCELLED;
	}
	kanon_mask_close(mask);
	return status;
}

/* Those that show something they may show, and are classes or are not. */
static KanonStatus
list_shown(Stable *s, bool stays, ShownClasses *shown)
{
	uint32_t n = s->previous->nclasses;

	*shown = (ShownClasses){.problem = s->problem, .pattern = s->previous->pattern};
	shown->class_ = kanon_take(&s->scratch, n, sizeof(uint32_t));
	shown->sample = kanon_take(&s->scratch, n, sizeof(uint32_t));
	if (s->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t c = 0; c < n; c++)
		if (s->rows[c] > 0 && s->fits[c] && s->stays[c] == stays && !is_blank(s, c))
		{
			shown->sample[c] = s->previous->flows[s->member[s->first[c]]].type;
			shown->class_[shown->n++] = c;
		}
	return shown_order(shown, &s->scratch);
}

/* Row types in no class go to the cheapest of these that takes them. */
static KanonStatus
join_classes(Stable *s, bool stays)
{
	ShownClasses shown;
	KanonStatus status = list_shown(s, stays, &shown);

	for (uint32_t type = 0; type < s->problem->ntypes && shown.n > 0 && status == KANON_OK; type++)
	{
		uint64_t work = 4;
		uint32_t to = s->left[type] > 0 ? shown_find(&shown, type, INFINITY, &work) : SHOWN_NONE;

		if (stop(s, work))
			return KANON_CANCELLED;
		if (to == SHOWN_NONE)
			continue;
		status = join(s, to, type, s->left[type], SIZE_MAX, false);
		s->left[type] = 0;
	}
	return status == KANON_OK ? settle_all(s) : status;
}

/* ---- the rest ---- */

/* Rows in no class are a problem of their own, of which rows may be left. */
static KanonStatus
solve_rest(Stable *s, KanonSolve solve)
{
	const KanonProblem *problem = s->problem;
	uint32_t *type = kanon_take(&s->scratch, problem->ntypes, sizeof(uint32_t));
	int64_t *rows = kanon_take(&s->scratch, problem->ntypes, sizeof(int64_t));
	int64_t total = 0;
	uint32_t n = 0;
	KanonReport report;
	KanonStatus status;

	if (s->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (s->left[i] > 0)
		{
			type[n] = i;
			total += rows[n++] = s->left[i];
		}
	if (total < kanon_least_rows(problem) || n == 0 || (s->once && s->nunused == 0))
		return KANON_OK;
	status = kanon_part_open(problem, n, type, rows, &s->scratch, &s->pace, &s->rest);
	if (status != KANON_OK)
		return status;
	if (s->once)
	{
		s->rest.problem.mask.list = s->unused;
		s->rest.problem.mask.nlist = s->nunused;
	}
	else
		s->rest.problem.residual = KANON_RESIDUAL_DROP;
	memset(&report, 0, sizeof(report));
	status = solve(&s->rest.problem, &s->solved, &report);
	s->is_solved = status == KANON_OK;
	if (status == KANON_CANCELLED || status == KANON_NO_MEMORY)
		return status;
	for (uint32_t i = 0; i < n && s->is_solved; i++)
		s->left[type[i]] = 0;
	return KANON_OK;
}

/* May rows leave a class of the rest?  Under rules whole classes are not asked: they are mended. */
static bool
may_leave(const Stable *s, uint32_t class_, int64_t rows)
{
	int64_t left;

	if (class_ == KANON_DROPPED)
		return true;
	left = s->solved.classes[class_].rows - rows;
	return left == 0 || left >= kanon_least_rows(s->problem) ||
		   kanon_same(s->solved.classes[class_].pattern, s->all);
}

/* Flows of the rest into classes that stay and are cheaper. */
static KanonStatus
join_cheaper(Stable *s)
{
	ShownClasses shown;
	KanonStatus status = list_shown(s, true, &shown);

	for (size_t f = 0; f < s->solved.nflows && shown.n > 0 && status == KANON_OK; f++)
	{
		KanonFlow *flow = &s->solved.flows[f];
		bool dropped = flow->class_ == KANON_DROPPED;
		uint64_t work = 4;
		uint32_t to;

		if (!may_leave(s, flow->class_, flow->rows))
			continue;
		to = shown_find(&shown, s->rest.type[flow->type],
						dropped ? INFINITY : cost_of(s, s->solved.classes[flow->class_].pattern), &work);
		if (stop(s, work))
			return KANON_CANCELLED;
		if (to == SHOWN_NONE)
			continue;
		if (!dropped)
			s->solved.classes[flow->class_].rows -= flow->rows;
		status = join(s, to, s->rest.type[flow->type], flow->rows, f, false);
		flow->rows = 0;
	}
	return status == KANON_OK ? settle_all(s) : status;
}

/* ---- both together ---- */

static KanonStatus
add_part(Stable *s, KanonParts *parts, uint32_t type, uint32_t cluster, int64_t rows)
{
	if (rows == 0)
		return KANON_OK;
	if (stop(s, 4))
		return KANON_CANCELLED;
	return kanon_parts_add(s->env, parts, type, cluster, rows) ? KANON_OK : KANON_NO_MEMORY;
}

/* Rows that are in no class begin as a cluster for each row type; of a clustering they are in none. */
static KanonStatus
add_alone(Stable *s, KanonParts *parts, uint32_t type, int64_t rows)
{
	if (rows == 0)
		return KANON_OK;
	if (!s->once && parts->nclusters >= KANON_MAX_TYPES)
		return KANON_TOO_LARGE;
	return add_part(s, parts, type, s->once ? KANON_DROPPED : parts->nclusters++, rows);
}

/*
 * Classes before come first, then those of the rest, then row types alone.  (Joiners of a class that shows nothing
 * are in the rest, as it is.)
 */
static KanonStatus
gather(Stable *s, KanonParts *parts)
{
	const KanonPrevious *previous = s->previous;
	KanonStatus status = KANON_OK;

	parts->nclusters = previous->nclasses + s->solved.nclasses;
	parts->nbecame = previous->became != NULL ? previous->nclasses : 0;
	parts->became = previous->became;
	for (uint32_t c = 0; c < parts->nbecame; c++)
		previous->became[c] = is_blank(s, c) ? KANON_DROPPED : c;
	for (size_t f = 0; f < previous->nflows && status == KANON_OK; f++)
		status = add_part(s, parts, previous->flows[f].type,
						  is_blank(s, previous->flows[f].class_) ? KANON_DROPPED : previous->flows[f].class_,
						  s->take[f]);
	for (uint32_t c = 0; c < previous->nclasses && status == KANON_OK; c++)
		for (uint32_t j = s->joiner[c]; j != NONE && status == KANON_OK; j = s->joiners[j].next)
			status = add_part(s, parts, s->joiners[j].type, is_blank(s, c) ? KANON_DROPPED : c,
							  s->joiners[j].rows);
	for (size_t f = 0; f < s->solved.nflows && status == KANON_OK; f++)
	{
		const KanonFlow *flow = &s->solved.flows[f];
		uint32_t type = s->rest.type[flow->type];

		if (flow->class_ == KANON_DROPPED)
			status = add_alone(s, parts, type, flow->rows);
		else if (!s->once && kanon_same(s->solved.classes[flow->class_].pattern, s->all))
			status = add_part(s, parts, type, KANON_DROPPED, flow->rows);
		else
			status = add_part(s, parts, type, previous->nclasses + flow->class_, flow->rows);
	}
	for (uint32_t type = 0; type < s->problem->ntypes && status == KANON_OK; type++)
		status = add_alone(s, parts, type, s->left[type]);
	return status;
}

/* The least that each cluster suppresses: the columns that it suppressed before. */
static KanonStatus
conclude(Stable *s, double end, KanonRelease *release, KanonReport *report)
{
	KanonParts parts = {0};
	KanonStatus status = gather(s, &parts);
	KanonPattern *least = NULL;

	if (status == KANON_OK)
	{
		least = kanon_alloc0(s->env, (size_t) parts.nclusters + 1, sizeof(KanonPattern));
		status = least != NULL ? KANON_OK : KANON_NO_MEMORY;
	}
	for (uint32_t c = 0; c < parts.nclusters && status == KANON_OK; c++)
		least[c] = c < s->previous->nclasses ? s->previous->pattern[c]
				   : c < s->previous->nclasses + s->solved.nclasses
					   ? s->solved.classes[c - s->previous->nclasses].pattern
					   : KANON_NONE;
	if (status == KANON_OK)
		status = kanon_mend_parts(s->problem, &parts, least, s->once, end, release, report);
	kanon_parts_free(s->env, &parts);
	kanon_free(s->env, least);
	return status;
}

static KanonStatus
set_up(Stable *s)
{
	const KanonPrevious *previous = s->previous;

	s->take = kanon_take0(&s->scratch, previous->nflows, sizeof(int64_t));
	s->member = kanon_take(&s->scratch, previous->nflows, sizeof(uint32_t));
	s->first = kanon_take0(&s->scratch, (size_t) previous->nclasses + 1, sizeof(size_t));
	s->rows = kanon_take0(&s->scratch, previous->nclasses, sizeof(int64_t));
	s->joiner = kanon_take(&s->scratch, previous->nclasses, sizeof(uint32_t));
	s->fits = kanon_take0(&s->scratch, previous->nclasses, sizeof(bool));
	s->stays = kanon_take0(&s->scratch, previous->nclasses, sizeof(bool));
	s->left = kanon_take(&s->scratch, s->problem->ntypes, sizeof(int64_t));
	if (s->once && s->problem->mask.list != NULL)
	{
		s->nunused = s->problem->mask.nlist;
		s->unused = kanon_take(&s->scratch, s->nunused, sizeof(KanonPattern));
	}
	if (s->scratch.failed)
		return KANON_NO_MEMORY;
	if (s->nunused > 0)
		memcpy(s->unused, s->problem->mask.list, sizeof(KanonPattern) * s->nunused);
	memset(s->joiner, 0xff, sizeof(uint32_t) * previous->nclasses);
	list_members(s);
	return distribute(s);
}

static KanonStatus
solve_near(Stable *s, KanonSolve solve, double end, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = set_up(s);

	if (status == KANON_OK)
		status = look_at_patterns(s);
	if (status == KANON_OK)
		status = settle_all(s);
	if (status == KANON_OK)
		status = join_classes(s, false);
	if (status == KANON_OK && s->once)
		status = join_classes(s, true);
	if (status == KANON_OK)
		status = solve_rest(s, solve);
	if (status == KANON_OK && !s->once)
		status = join_cheaper(s);
	return status == KANON_OK ? conclude(s, end, release, report) : status;
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
	KanonStatus status = KANON_NOT_FOUND;

	if (previous->nflows == 0)
		return solve(problem, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	/* who of a population belongs to a class depends on all other classes */
	if (problem->npopulations == 0)
		status = solve_near(&s, solve, start + problem->time_limit, release, report);
	kanon_release_free(problem, &s.solved);
	kanon_part_close(&s.rest);
	kanon_free(env, s.joiners);
	kanon_free(env, s.types);
	kanon_free(env, s.counts);
	kanon_scratch_free(&s.scratch);
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
