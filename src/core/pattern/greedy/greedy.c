/*
 * greedy.c: the greedy heuristic for pattern-guided k-anonymity.
 *
 * Bredereck, Nichterlein, Niedermeier, "Pattern-Guided k-Anonymity", Algorithms
 * 6(4), 2013, Algorithm 1: patterns by increasing cost; each instance with at
 * least k remaining compatible rows takes them all.
 *
 * The result equals that of a loop over the patterns, but they are never written out
 * (unless listed): any consecutive part of their order is a batch.  One search over
 * the remaining rows finds all groups of at least k rows that patterns of the batch
 * could take (greedy_search.c); then these are gone through in the patterns' order,
 * counting anew the rows still there.  Rows taken by one batch do not burden the
 * search of the next, so batches are made small enough to profit and large enough to
 * share the work.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern/greedy/greedy.h"
#include "privacy/rules.h"
#include "privacy/population.h"
#include "release/release.h"
#include "util/sort.h"

/* Words that a batch's groups may take, or one per row type if that is more. */
#ifndef GREEDY_STORE_WORDS
#define GREEDY_STORE_WORDS ((size_t) 1 << 22)
#endif

/* Work of the search for all groups, for each row type, and for each that was taken. */
#define EXACT_WORK ((uint64_t) 1 << 27)
#define EXACT_TYPE_WORK ((uint64_t) 1 << 13)
#define EXACT_TAKEN_WORK ((uint64_t) 1 << 15)

/* The rest of a release takes, for each row type and column, so many seconds once time is up; so much work. */
#define FINISH_TIME 1e-7
#define FINISH_WORK 8

/* ---- batches ---- */

/* Is what a population has of a group enough, or (GREEDY_NOBODY) of those who match no class? */
static bool
is_present(const Greedy *greedy, uint32_t group, int64_t rows)
{
	return FAULT(population_miscounted) ||
		   (group == GREEDY_NOBODY ? kanon_presence_rest(greedy->presence, rows)
								   : kanon_presence_allows(greedy->presence, group, rows));
}

/* The group's rows that are left become a class, if they may; counted: which of the pattern's it is for populations. */
static KanonStatus
take_group(Greedy *greedy, KanonPattern pattern, uint32_t counted, const uint32_t *group, uint32_t ntypes)
{
	KanonRelease *release = greedy->release;
	uint32_t *types = greedy->search.spare;
	int64_t rows = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < ntypes; i++)
		if (greedy->class_[group[i]] == GREEDY_NOBODY)
		{
			rows += greedy->problem->rows[group[i]];
			types[n++] = group[i];
		}
	if (n == 0 || !kanon_class_allowed(greedy->problem, types, NULL, n, rows) ||
		!is_present(greedy, counted, rows))
		return KANON_OK;
	if (release->nclasses == greedy->classes_room)
	{
		size_t room = (size_t) greedy->classes_room + greedy->classes_room / 2 + 1024;
		KanonClass *classes = kanon_realloc(greedy->env, release->classes, room, sizeof(KanonClass));
		uint32_t *member;

		if (classes == NULL)
			return KANON_NO_MEMORY;
		release->classes = classes;
		member = kanon_realloc(greedy->env, greedy->member, room, sizeof(uint32_t));
		if (member == NULL)
			return KANON_NO_MEMORY;
		greedy->member = member;
		greedy->classes_room = (uint32_t) room;
	}
	release->classes[release->nclasses] = (KanonClass){pattern, rows};
	greedy->member[release->nclasses] = types[0];
	for (uint32_t i = 0; i < n; i++)
		greedy->class_[types[i]] = release->nclasses;
	release->nclasses++;
	greedy->rows_left -= rows;
	if (counted != GREEDY_NOBODY)
		kanon_presence_take(greedy->presence, counted);
	return KANON_OK;
}

/* The populations' counts of a pattern's groups, which are numbered as they come. */
static KanonStatus
count_present(Greedy *greedy, const GreedyStore *store, const GreedyPattern *pattern)
{
	uint32_t n = 0;

	if (greedy->presence == NULL)
		return KANON_OK;
	for (uint32_t g = pattern->first; g != GREEDY_NOBODY; g = store->groups[g].next)
		kanon_presence_types(greedy->presence)[n++] = store->types[store->groups[g].start];
	return kanon_presence_count(greedy->presence, pattern->pattern, n);
}

KanonStatus
greedy_take(Greedy *greedy, KanonPattern pattern, uint32_t *types, uint32_t ntypes)
{
	KanonStatus status = KANON_OK;

	if (greedy->presence != NULL)
	{
		kanon_presence_types(greedy->presence)[0] = types[0];
		status = kanon_presence_count(greedy->presence, pattern, 1);
	}
	return status == KANON_OK ? take_group(greedy, pattern, 0, types, ntypes) : status;
}

KanonStatus
greedy_list_left(Greedy *greedy)
{
	uint32_t n = 0;

	for (uint32_t type = 0; type < greedy->problem->ntypes; type++)
	{
		if (kanon_stop(&greedy->pace, 1))
			return KANON_CANCELLED;
		if (greedy->class_[type] == GREEDY_NOBODY)
			greedy->left[n++] = type;
	}
	greedy->nleft = n;
	greedy->pace.rows_left = greedy->rows_left;
	greedy->pace.share = 1 - (double) greedy->rows_left / (double) greedy->rows;
	return KANON_OK;
}

/* Goes through the candidates of a batch, in order; then lists the row types still left. */
static KanonStatus
take_batch(Greedy *greedy, const GreedyStore *store)
{
	KanonStatus status = KANON_OK;

	for (uint32_t p = 0; p < store->npatterns && status == KANON_OK; p++)
	{
		uint32_t counted = 0;

		status = count_present(greedy, store, &store->patterns[p]);
		for (uint32_t g = store->patterns[p].first; g != GREEDY_NOBODY && status == KANON_OK;
			 g = store->groups[g].next)
		{
			const GreedyGroup *group = &store->groups[g];

			status = take_group(greedy, store->patterns[p].pattern, counted++, store->types + group->start,
								group->count);
			if (kanon_stop(&greedy->pace, 4 * (uint64_t) group->count + 4))
				return KANON_CANCELLED;
		}
	}
	return status == KANON_OK ? greedy_list_left(greedy) : status;
}

/*
 * Will the rest be forbidden whatever classes are taken from it?  Two sets of rows that keep the rules keep them as one:
 * so would what is left now.
 */
static bool
is_hopeless(const Greedy *greedy)
{
	const KanonProblem *problem = greedy->problem;

	return problem->privacy != NULL && problem->npopulations == 0 &&
		   (problem->residual == KANON_RESIDUAL_FILL || problem->residual == KANON_RESIDUAL_SUPPRESS) &&
		   kanon_privacy_monotone(problem->privacy) &&
		   !kanon_rest_allowed(problem, greedy->left, NULL, greedy->nleft);
}

bool
greedy_is_over(const Greedy *greedy)
{
	const KanonProblem *problem = greedy->problem;

	return greedy->rows_left < greedy->searched.k || is_hopeless(greedy) ||
		   (problem->privacy != NULL && kanon_privacy_grows(problem->privacy) &&
			!kanon_class_allowed(problem, greedy->left, NULL, greedy->nleft, greedy->rows_left));
}

/* The highest level of a batch. */
static void
set_high(const Greedy *greedy, int batch, GreedyRange *range)
{
	range->high = greedy->bound[batch];
	if (range->high > greedy->index->max_level)
		range->high = greedy->index->max_level;
	if (range->high > KANON_LEVEL_MAX)
		range->high = KANON_LEVEL_MAX;
}

/* All groups of a range, which are taken; KANON_TOO_LARGE: the search was too long, and nothing is. */
static KanonStatus
search_batch(Greedy *greedy, GreedyRange *range)
{
	GreedyStore *store;
	KanonStatus status = greedy_find(greedy, range, &store);

	if (status == KANON_OK && store == NULL)
	{
		store = &greedy->store;
		status = greedy_search_range(&greedy->search, greedy->left, greedy->nleft, range);
		if (status == KANON_OK)
			status = greedy_store_sort(store);
	}
	if (status == KANON_OK)
		status = take_batch(greedy, store);
	else if (status == KANON_TOO_LARGE && greedy_list_left(greedy) != KANON_OK)
		status = KANON_CANCELLED;
	greedy_store_clear(&greedy->store);
	return status;
}

/* All batches of every combination, or of a rule set. */
static KanonStatus
run_rules(Greedy *greedy)
{
	GreedyRange range = {0};
	KanonStatus status = greedy_plan(greedy->index, greedy->bound, &greedy->nbounds);

	if (greedy->index->none)
		return status;
	for (int b = 0; b < greedy->nbounds && status == KANON_OK; b++)
	{
		bool more = true;

		while (more && status == KANON_OK && !greedy_is_over(greedy))
		{
			set_high(greedy, b, &range);
			range.has_upto = false;
			greedy->search.most = EXACT_WORK + EXACT_TYPE_WORK * greedy->problem->ntypes +
								  EXACT_TAKEN_WORK * (greedy->problem->ntypes - greedy->nleft);
			status = search_batch(greedy, &range);
			if (status == KANON_TOO_LARGE && (greedy->found == NULL || greedy->pace.late))
			{
				greedy->unsure = b == 0;
				return greedy_wide(greedy);
			}
			more = range.has_upto;
			range.has_after = range.has_upto;
			range.after = range.upto;
			range.low = range.has_upto ? range.high : range.high + 1;
		}
	}
	return status;
}

/* All batches of a list, which only time ends. */
static KanonStatus
run_list(Greedy *greedy)
{
	KanonStatus status =
		kanon_mask_enumerate(&greedy->searched, SIZE_MAX, &greedy->patterns, &greedy->npatterns);
	int64_t width = KANON_LEVEL_MAX / greedy->problem->ncolumns;
	size_t from = 0;

	greedy->search.most = UINT64_MAX;
	/* the last one is the all-suppressed one */
	if (status == KANON_OK)
		greedy->npatterns--;
	while (status == KANON_OK && from < greedy->npatterns && !greedy_is_over(greedy))
	{
		GreedyRange range = {.list = greedy->patterns + from};
		size_t to = from;

		range.low = kanon_fixed_level(kanon_fixed_cost(greedy->index, greedy->patterns[from]));
		for (; to < greedy->npatterns; to++)
		{
			int64_t level = kanon_fixed_level(kanon_fixed_cost(greedy->index, greedy->patterns[to]));

			if (level - range.low > width - width / 16)
				break;
			range.high = level;
		}
		range.nlist = to - from;
		status = search_batch(greedy, &range);
		if (status == KANON_TOO_LARGE)
		{
			greedy->unsure = true;
			return greedy_wide(greedy);
		}
		if (range.has_upto)
			while (!kanon_same(greedy->patterns[from], range.upto))
				from++;
		from = range.has_upto ? from + 1 : to;
	}
	return status;
}

/* ---- the release ---- */

/* Rows that no pattern but the all-suppressed one takes. */
static KanonStatus
take_rest(Greedy *greedy)
{
	const KanonProblem *problem = greedy->problem;
	uint32_t before = greedy->release->nclasses;
	uint32_t rest;
	KanonStatus status;

	if (greedy->nleft == 0)
		return KANON_OK;
	status = take_group(greedy, greedy->index->all, GREEDY_NOBODY, greedy->left, greedy->nleft);
	if (status != KANON_OK || greedy->release->nclasses > before)
		return status;
	if (problem->residual == KANON_RESIDUAL_ERROR ||
		(problem->residual == KANON_RESIDUAL_FILL && problem->privacy != NULL) ||
		(problem->residual == KANON_RESIDUAL_SUPPRESS &&
		 (!kanon_rest_allowed(problem, greedy->left, NULL, greedy->nleft) ||
		  !is_present(greedy, GREEDY_NOBODY, greedy->rows_left))))
	{
		snprintf(
			greedy->report->detail, sizeof(greedy->report->detail),
			problem->residual == KANON_RESIDUAL_ERROR
				? "rows that fit no class: %lld"
				: "rows that fit no class: %lld; they would break a privacy rule even when fully suppressed",
			(long long) greedy->rows_left);
		return problem->residual == KANON_RESIDUAL_ERROR ? KANON_RESIDUAL : KANON_REST_FORBIDDEN;
	}
	rest = GREEDY_NOBODY; /* which is KANON_DROPPED, too */
	if (problem->residual != KANON_RESIDUAL_DROP)
	{
		KanonClass *classes =
			kanon_realloc(greedy->env, greedy->release->classes, before + (size_t) 1, sizeof(KanonClass));
		uint32_t *member;

		if (classes == NULL)
			return KANON_NO_MEMORY;
		greedy->release->classes = classes;
		member = kanon_realloc(greedy->env, greedy->member, before + (size_t) 1, sizeof(uint32_t));
		if (member == NULL)
			return KANON_NO_MEMORY;
		greedy->member = member;
		classes[before] = (KanonClass){greedy->index->all, greedy->rows_left};
		member[before] = greedy->left[0];
		greedy->release->nclasses++;
		rest = before;
	}
	for (uint32_t i = 0; i < greedy->nleft; i++)
		greedy->class_[greedy->left[i]] = rest;
	return KANON_OK;
}

/* Everything but the release and the row types' classes is given back. */
static void
free_search(Greedy *greedy)
{
	greedy_search_close(&greedy->search);
	greedy_store_free(&greedy->store);
	kanon_presence_close(greedy->presence);
	kanon_free(greedy->env, greedy->left);
	greedy->left = NULL;
	kanon_free(greedy->env, greedy->patterns);
	greedy->patterns = NULL;
}

/* Nothing is taken yet. */
static KanonStatus
start(Greedy *greedy, GreedyTies ties)
{
	const KanonProblem *problem = greedy->problem;
	KanonStatus status;
	size_t most = problem->ntypes;

	greedy->searched = *problem;
	greedy->searched.k = kanon_least_rows(problem);
	greedy->searched.mask.order = ties.order;
	greedy->searched.seed = ties.seed;
	status = kanon_mask_open(&greedy->searched, &greedy->index);
	if (status != KANON_OK)
		return status;
	greedy_store_init(&greedy->store, greedy->index, &greedy->pace,
					  most < GREEDY_STORE_WORDS ? GREEDY_STORE_WORDS : most);
	greedy->left = kanon_alloc(greedy->env, problem->ntypes, sizeof(uint32_t));
	greedy->class_ = kanon_alloc(greedy->env, problem->ntypes, sizeof(uint32_t));
	if (greedy->left == NULL || greedy->class_ == NULL)
		return KANON_NO_MEMORY;
	status = kanon_presence_open(problem, &greedy->presence);
	if (status == KANON_OK && greedy->presence != NULL)
		status = kanon_presence_by_turns(greedy->presence);
	if (status != KANON_OK)
		return status;
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		if (kanon_stop(&greedy->pace, 1))
			return KANON_CANCELLED;
		greedy->left[type] = type;
		greedy->class_[type] = GREEDY_NOBODY;
		greedy->rows += problem->rows[type];
	}
	greedy->nleft = problem->ntypes;
	greedy->rows_left = greedy->rows;
	greedy->pace.rows_left = greedy->rows;
	greedy->found = greedy_shared(problem);
	return greedy_search_open(greedy->index, &greedy->pace, &greedy->store, &greedy->search);
}

/*
 * How many times the least cost it can be.  Rows of a type of k or more stay as they are,
 * before all others, if a pattern says so; any other row costs any release at least the
 * cheapest pattern that costs something, and here at most all columns: where each cell
 * costs 1, as many times as there are columns.  If several patterns cost nothing and are
 * not the same, the first may take rows that others need; rules may forbid a class: then
 * nothing is promised, 0.
 */
static double
factor(const KanonProblem *problem)
{
	double all = kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));
	double least = all;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		/* (what is less than that counts as nothing in the order of patterns) */
		if (!(problem->columns[c].weight > all * 0x1p-29) || kanon_by_types(problem))
			return 0;
		if (problem->mask.list == NULL)
			least = fmin(least, problem->columns[c].weight);
	}
	for (size_t j = 0; problem->mask.list != NULL && j < problem->mask.nlist; j++)
		if (!kanon_is_none(problem->mask.list[j]))
			least = fmin(least, kanon_pattern_cost(problem, problem->mask.list[j]));
	return all / least;
}

KanonStatus
greedy_run(const KanonProblem *problem, GreedyTies ties, uint64_t *work, KanonRelease *release,
		   KanonReport *report)
{
	KanonEnv *env = problem->env;
	double begin = env->now(env->arg);
	uint64_t before = *work;
	Greedy greedy = {.problem = problem,
					 .env = env,
					 .release = release,
					 .report = report,
					 .pace = {.env = env, .phase = "greedy", .work = KANON_POLL_WORK}};
	bool filled = false;
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	report->lower_bound = -INFINITY;
	for (int p = 0; p < problem->npopulations; p++)
		if (!problem->populations[p].map)
			return KANON_UNSUPPORTED;
	if (problem->time_limit < INFINITY)
	{
		greedy.end = begin + problem->time_limit;
		greedy.pace.deadline =
			greedy.end - fmin(problem->time_limit / 2,
							  FINISH_TIME * (double) problem->ntypes * (double) problem->ncolumns);
	}
	status = start(&greedy, ties);
	if (status == KANON_OK && problem->ntypes > 0)
		status = problem->mask.list != NULL ? run_list(&greedy) : run_rules(&greedy);
	if (status == KANON_OK)
		status = take_rest(&greedy);
	if (problem->privacy != NULL && kanon_privacy_failed(problem->privacy))
		status = KANON_NO_MEMORY;
	report->nodes = greedy.search.nodes;
	*work += (uint64_t) kanon_worked(&greedy.pace) +
			 FINISH_WORK * (uint64_t) problem->ntypes * (uint64_t) problem->ncolumns;
	if (greedy.index != NULL)
		free_search(&greedy);
	if (status == KANON_OK)
		status = greedy_make_release(&greedy);
	kanon_free(env, greedy.class_);
	kanon_free(env, greedy.member);
	kanon_mask_close(greedy.index);
	if (status == KANON_OK)
		status = kanon_fill(problem, false, release, report, &filled);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	/* (how few rows beside them would do, nobody knows) */
	if (status == KANON_OK)
		report->guarantee = filled || greedy.unsure ? 0 : factor(problem);
	else
		kanon_release_free(problem, release);
	report->seconds = env->now(env->arg) - begin;
	if ((status == KANON_TOO_LARGE || status == KANON_NO_MEMORY) && greedy.found != NULL)
	{
		/* alone it may fit */
		kanon_found_free(env, greedy.found);
		greedy.found->problem = NULL;
		*work = before;
		return greedy_run(problem, ties, work, release, report);
	}
	return status;
}
