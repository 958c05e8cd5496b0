/*
 * full_domain_near.c: a release of one node that stays near the one before.
 *
 * The node goes up and never down, so that classes are merged (kanon_solve_full_domain).  Rows that
 * were suppressed stay that: shown in a class again, each would leave those who were suppressed
 * with it.  The others are solved alone, with what is left of the suppression limit; rules about populations
 * count those who are suppressed, too.
 */
#include <math.h>
#include <string.h>

#include "lattice/lattice.h"
#include "privacy/rules.h"
#include "release/release.h"

typedef struct Near
{
	const KanonProblem *problem;
	const KanonPrevious *previous;
	KanonScratch scratch;
	KanonPace pace;
	KanonPattern all;
	int64_t *blank; /* [ntypes] rows that stay suppressed */
	int64_t nblank; /* all of them */
	KanonPart rest;
	KanonFullDomainOptions options; /* of the rest */
	KanonPrevious shown;            /* the classes before, of the rest */
	KanonKnown known;               /* with the persons of the rest */
	KanonRelease solved;
} Near;

static bool
is_blank(const Near *near, uint32_t class_)
{
	return kanon_same(near->previous->pattern[class_], near->all);
}

static KanonStatus
count_suppressed(Near *near)
{
	const KanonPrevious *previous = near->previous;

	near->blank = kanon_take0(&near->scratch, near->problem->ntypes, sizeof(int64_t));
	if (near->blank == NULL)
		return KANON_NO_MEMORY;
	for (size_t f = 0; f < previous->nflows; f++)
	{
		const KanonFlow *flow = &previous->flows[f];
		int64_t *blank = &near->blank[flow->type];
		int64_t all = near->problem->rows[flow->type];
		int64_t before = *blank;

		if (!is_blank(near, flow->class_))
			continue;
		/* new rows of the type cannot be told from these, unless rows are known one by one */
		*blank = !kanon_known_by_row(previous, flow->type) || *blank + flow->rows > all ? all
																						: *blank + flow->rows;
		near->nblank += *blank - before;
	}
	return KANON_OK;
}

/* The persons of the rest. */
static KanonStatus
take_persons(Near *near)
{
	const KanonKnown *known = near->problem->known;
	uint32_t n = near->rest.problem.ntypes, *person;

	if (known == NULL || known->person == NULL)
		return KANON_OK;
	person = kanon_take(&near->scratch, n, sizeof(uint32_t));
	for (uint32_t i = 0; person != NULL && i < n; i++)
		person[i] = known->person[near->rest.type[i]];
	near->known = *known;
	near->known.person = person;
	near->rest.problem.known = &near->known;
	return kanon_taken(&near->scratch);
}

/* The rows that are not suppressed, with the classes that they were in. */
static KanonStatus
open_rest(Near *near)
{
	const KanonProblem *problem = near->problem;
	const KanonPrevious *previous = near->previous;
	uint32_t *type = kanon_take(&near->scratch, problem->ntypes, sizeof(uint32_t));
	uint32_t *place = kanon_take(&near->scratch, problem->ntypes, sizeof(uint32_t));
	int64_t *rows = kanon_take(&near->scratch, problem->ntypes, sizeof(int64_t));
	KanonFlow *flows = kanon_take(&near->scratch, previous->nflows, sizeof(KanonFlow));
	int64_t total = 0;
	uint32_t n = 0;
	KanonStatus status;

	if (near->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		place[i] = n;
		if (near->blank[i] == problem->rows[i])
			continue;
		type[n] = i;
		total += rows[n++] = problem->rows[i] - near->blank[i];
	}
	status = kanon_part_open(problem, n, type, rows, &near->scratch, &near->pace, &near->rest);
	if (status == KANON_OK)
		status = take_persons(near);
	if (status != KANON_OK)
		return status;
	near->shown = *previous;
	near->shown.nflows = 0;
	near->shown.flows = flows;
	for (size_t f = 0; f < previous->nflows; f++)
		if (!is_blank(near, previous->flows[f].class_) &&
			near->blank[previous->flows[f].type] < problem->rows[previous->flows[f].type])
		{
			flows[near->shown.nflows] = previous->flows[f];
			flows[near->shown.nflows++].type = place[previous->flows[f].type];
		}
	near->options = *problem->full_domain;
	near->options.previous = &near->shown;
	if (total > 0)
		near->options.suppression_limit =
			fmax(0, (near->options.suppression_limit * (double) (total + near->nblank) -
					 (double) near->nblank)) /
			(double) total;
	near->rest.problem.full_domain = &near->options;
	near->rest.problem.pinned = near->nblank;
	/* what is suppressed is filled up by whole classes, in the end */
	if (kanon_rest_strict(problem))
		near->rest.problem.residual = KANON_RESIDUAL_SUPPRESS;
	return KANON_OK;
}

/* Classes of the rest, and a last one of all suppressed rows; everything: all rows are. */
static KanonStatus
join(Near *near, bool everything, KanonRelease *release)
{
	const KanonProblem *problem = near->problem;
	KanonEnv *env = problem->env;
	size_t width = (size_t) problem->ncolumns;
	uint32_t n = everything ? 0 : near->solved.nclasses;
	size_t nsolved = everything ? 0 : near->solved.nflows;
	int64_t suppressed = everything ? 0 : near->nblank;
	uint32_t blank = n;

	memset(release, 0, sizeof(*release));
	release->classes = kanon_alloc0(env, (size_t) n + 1, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, (size_t) n + 1, width * sizeof(KanonCell));
	release->flows = kanon_alloc(env, nsolved + problem->ntypes, sizeof(KanonFlow));
	if (release->classes == NULL || release->cells == NULL || release->flows == NULL)
		return KANON_NO_MEMORY;
	if (n > 0)
	{
		memcpy(release->classes, near->solved.classes, n * sizeof(KanonClass));
		memcpy(release->cells, near->solved.cells, n * width * sizeof(KanonCell));
	}
	release->classes[n].pattern = near->all;
	release->nclasses = n + 1;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		suppressed += everything ? problem->rows[type] : 0;
	for (size_t f = 0; f < nsolved; f++)
		if (near->solved.flows[f].class_ == KANON_DROPPED ||
			kanon_same(near->solved.classes[near->solved.flows[f].class_].pattern, near->all))
			suppressed += near->solved.flows[f].rows;
	if (suppressed < kanon_least_rows(problem) && problem->residual == KANON_RESIDUAL_DROP)
		blank = KANON_DROPPED;
	for (size_t f = 0; f < nsolved; f++)
	{
		KanonFlow flow = near->solved.flows[f];

		flow.type = near->rest.type[flow.type];
		if (flow.class_ == KANON_DROPPED || kanon_same(near->solved.classes[flow.class_].pattern, near->all))
			flow.class_ = blank;
		release->flows[release->nflows++] = flow;
	}
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		int64_t rows = everything ? problem->rows[type] : near->blank[type];

		if (rows > 0)
			release->flows[release->nflows++] = (KanonFlow){type, blank, rows};
		if (kanon_stop(&near->pace, 4))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* May the suppressed rows, of that class, be one? */
static KanonStatus
may_stay(Near *near, const KanonRelease *release, uint32_t blank, bool *may)
{
	size_t mark = kanon_mark(&near->scratch);
	uint32_t *types = kanon_take(&near->scratch, release->nflows, sizeof(uint32_t));
	int64_t *counts = kanon_take(&near->scratch, release->nflows, sizeof(int64_t));
	int64_t rows = 0;
	size_t n = 0;

	if (near->scratch.failed)
		return KANON_NO_MEMORY;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ == blank)
		{
			types[n] = release->flows[f].type;
			rows += counts[n++] = release->flows[f].rows;
		}
	*may = rows == 0 || kanon_class_allowed(near->problem, types, counts, n, rows);
	kanon_release(&near->scratch, mark);
	return kanon_stop(&near->pace, 16 * release->nflows + 1) ? KANON_CANCELLED : KANON_OK;
}

/* Suppressed rows that are too few are joined by whole classes, the smallest first: nobody leaves those beside. */
static KanonStatus
fill_up(Near *near, KanonRelease *release)
{
	uint32_t blank = release->nclasses - 1;
	int64_t *rows = kanon_take0(&near->scratch, release->nclasses, sizeof(int64_t));
	KanonStatus status = KANON_OK;
	bool may = !kanon_rest_strict(near->problem);

	if (rows == NULL)
		return KANON_NO_MEMORY;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			rows[release->flows[f].class_] += release->flows[f].rows;
	while (status == KANON_OK && !may)
	{
		uint32_t least = blank;

		status = may_stay(near, release, blank, &may);
		for (uint32_t c = 0; c < blank && !may; c++)
			if (rows[c] > 0 && (least == blank || rows[c] < rows[least]))
				least = c;
		if (may || least == blank)
			break;
		for (size_t f = 0; f < release->nflows; f++)
			if (release->flows[f].class_ == least)
				release->flows[f].class_ = blank;
		rows[least] = 0;
	}
	return status;
}

static KanonStatus
finish(Near *near, bool everything, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = join(near, everything, release);

	if (status == KANON_OK)
		status = fill_up(near, release);
	if (status == KANON_OK)
		status = kanon_release_finish(near->problem, release, report);
	/* what fills the suppressed rows up is more of them to a population */
	if (status == KANON_BROKEN && near->problem->npopulations > 0)
		status = KANON_NOT_FOUND;
	if (status != KANON_OK)
		kanon_release_free(near->problem, release);
	return status;
}

static bool
is_final(KanonStatus status)
{
	return status == KANON_OK || status == KANON_CANCELLED || status == KANON_NO_MEMORY;
}

KanonStatus
full_domain_near(const KanonProblem *problem, KanonOutcome *outcome, KanonRelease *release,
				 KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	Near near = {.problem = problem,
				 .previous = problem->full_domain->previous,
				 .scratch = {.env = env},
				 .pace = kanon_pace(env, "staying near the release before"),
				 .all = kanon_pattern_all(problem->ncolumns)};
	KanonStatus status = count_suppressed(&near);

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	memset(outcome, 0, sizeof(*outcome));
	if (status == KANON_OK && near.nblank == 0 && (problem->npopulations > 0 || !kanon_rest_strict(problem)))
		status = full_domain_solve(problem, problem->full_domain, outcome, release, report);
	else if (status == KANON_OK)
	{
		status = open_rest(&near);
		if (status == KANON_OK && near.rest.problem.ntypes > 0)
			status = full_domain_solve(&near.rest.problem, &near.options, outcome, &near.solved, report);
		if (status == KANON_OK)
			status = finish(&near, false, release, report);
		/* the top node is always above */
		if (!is_final(status))
			status = finish(&near, true, release, report);
	}
	if (status == KANON_OK)
		kanon_follow(problem, near.previous, release);
	kanon_release_free(&near.rest.problem, &near.solved);
	kanon_part_close(&near.rest);
	kanon_scratch_free(&near.scratch);
	report->lower_bound = -INFINITY;
	report->proven = false;
	report->seconds = env->now(env->arg) - start;
	return status;
}
