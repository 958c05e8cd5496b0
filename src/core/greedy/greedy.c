/*
 * greedy.c: the greedy heuristic for pattern-guided k-anonymity.
 *
 * Bredereck, Nichterlein, Niedermeier, "Pattern-Guided k-Anonymity", Algorithms
 * 6(4), 2013, Algorithm 1: patterns by increasing cost; each instance with at
 * least k remaining compatible rows takes them all.
 *
 * The result is that of a loop over the patterns, but they are never written
 * out (unless listed): any consecutive part of their order is a batch.  One
 * search over the remaining rows finds all groups of at least k rows that
 * patterns of the batch could take (greedy_search.c); then these are gone
 * through in the patterns' order, counting anew the rows still there.  Rows
 * taken by one batch do not burden the search of the next, so batches are made
 * small enough to profit and large enough to share the work.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "greedy/greedy.h"
#include "privacy/allowed.h"
#include "privacy/population.h"
#include "util/sort.h"

/* Words that a batch's groups may take, or one per row type if that is more. */
#ifndef GREEDY_STORE_WORDS
#define GREEDY_STORE_WORDS ((size_t) 1 << 22)
#endif

/* From so many classes of a pattern on, they are sorted by radix. */
#ifndef RADIX_CLASSES
#define RADIX_CLASSES 256
#endif
#define RADIX_BITS 11

typedef struct Greedy
{
	const KanonProblem *problem;
	KanonProblem searched; /* the same with as many rows for k as a class has at least */
	KanonEnv *env;
	KanonMaskIndex *index;
	KanonPace pace;
	KanonRelease *release;
	KanonReport *report;
	uint32_t *left; /* row types not taken yet, ascending */
	uint32_t nleft;
	int64_t rows; /* of all types */
	int64_t rows_left;
	uint32_t *class_; /* [ntypes] GREEDY_NOBODY: not taken */
	uint32_t *member; /* [nclasses] one row type of each class */
	uint32_t classes_room;
	GreedyStore store;
	GreedySearch search;
	KanonPresence *presence; /* NULL: no rules about populations */
	KanonPattern *patterns;  /* of a list, in order */
	size_t npatterns;
	int64_t bound[KANON_MAX_COLUMNS + 2]; /* highest levels of the batches */
	int nbounds;
} Greedy;

/* ---- batches ---- */

/* Is what a population has of a group enough, or (GREEDY_NOBODY) of those who match no class? */
static bool
is_present(const Greedy *greedy, uint32_t group, int64_t rows)
{
	return FAULT(population_miscounted) ||
		   (group == GREEDY_NOBODY ? kanon_presence_rest(greedy->presence, rows)
								   : kanon_presence_allows(greedy->presence, group, rows));
}

/* The group's rows become a class, if they still may; counted: which of the pattern's it is for populations. */
static KanonStatus
take_group(Greedy *greedy, KanonPattern pattern, uint32_t counted, uint32_t *types, uint32_t ntypes)
{
	KanonRelease *release = greedy->release;
	int64_t rows = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < ntypes; i++)
		if (greedy->class_[types[i]] == GREEDY_NOBODY)
		{
			rows += greedy->problem->rows[types[i]];
			types[n++] = types[i];
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

/* What the populations have of a pattern's groups, which are numbered as they come. */
static KanonStatus
count_present(Greedy *greedy, const GreedyPattern *pattern)
{
	const GreedyStore *store = &greedy->store;
	uint32_t n = 0;

	if (greedy->presence == NULL)
		return KANON_OK;
	for (uint32_t g = pattern->first; g != GREEDY_NOBODY; g = store->groups[g].next)
		kanon_presence_types(greedy->presence)[n++] = store->types[store->groups[g].start];
	return kanon_presence_count(greedy->presence, pattern->pattern, n);
}

/* Goes through the candidates of a batch; then lists the row types still left. */
static KanonStatus
take_batch(Greedy *greedy)
{
	GreedyStore *store = &greedy->store;
	KanonStatus status = greedy_store_sort(store);
	uint32_t n = 0;

	for (uint32_t p = 0; p < store->npatterns && status == KANON_OK; p++)
	{
		uint32_t counted = 0;

		status = count_present(greedy, &store->patterns[p]);
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
	greedy_store_clear(store);
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

		while (more && status == KANON_OK && greedy->rows_left >= greedy->searched.k)
		{
			range.high = greedy->bound[b];
			if (range.high > greedy->index->max_level)
				range.high = greedy->index->max_level;
			if (range.high > KANON_LEVEL_MAX)
				range.high = KANON_LEVEL_MAX;
			range.has_upto = false;
			status = greedy_search_range(&greedy->search, greedy->left, greedy->nleft, &range);
			if (status == KANON_OK)
				status = take_batch(greedy);
			more = range.has_upto;
			range.has_after = range.has_upto;
			range.after = range.upto;
			range.low = range.has_upto ? range.high : range.high + 1;
		}
	}
	return status;
}

/* All batches of a list. */
static KanonStatus
run_list(Greedy *greedy)
{
	KanonStatus status =
		kanon_mask_enumerate(greedy->problem, SIZE_MAX, &greedy->patterns, &greedy->npatterns);
	int64_t width = KANON_LEVEL_MAX / greedy->problem->ncolumns;
	size_t from = 0;

	/* the last one is the all-suppressed one */
	while (status == KANON_OK && from + 1 < greedy->npatterns && greedy->rows_left >= greedy->searched.k)
	{
		GreedyRange range = {.list = greedy->patterns + from};
		size_t to = from;

		range.low = kanon_fixed_level(kanon_fixed_cost(greedy->index, greedy->patterns[from]));
		for (; to + 1 < greedy->npatterns; to++)
		{
			int64_t level = kanon_fixed_level(kanon_fixed_cost(greedy->index, greedy->patterns[to]));

			if (level - range.low > width - width / 16)
				break;
			range.high = level;
		}
		range.nlist = to - from;
		status = greedy_search_range(&greedy->search, greedy->left, greedy->nleft, &range);
		if (status == KANON_OK)
			status = take_batch(greedy);
		if (range.has_upto)
			while (!kanon_same(greedy->patterns[from], range.upto))
				from++;
		from = range.has_upto ? from + 1 : to;
	}
	return status;
}

/* ---- the release ---- */

static KanonStatus
nobody_left_out(Greedy *greedy)
{
	snprintf(greedy->report->detail, sizeof(greedy->report->detail),
			 "some of a population would be in no published row");
	return KANON_NOT_FOUND;
}

/* Rows that no pattern but the all-suppressed one takes. */
static KanonStatus
take_rest(Greedy *greedy)
{
	const KanonProblem *problem = greedy->problem;
	uint32_t before = greedy->release->nclasses;
	uint32_t rest;
	KanonStatus status;

	if (greedy->nleft == 0)
		return is_present(greedy, GREEDY_NOBODY, 0) ? KANON_OK : nobody_left_out(greedy);
	status = take_group(greedy, greedy->index->all, GREEDY_NOBODY, greedy->left, greedy->nleft);
	if (status != KANON_OK || greedy->release->nclasses > before)
		return status;
	if (problem->residual == KANON_RESIDUAL_ERROR ||
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
	if (problem->residual == KANON_RESIDUAL_DROP && !is_present(greedy, GREEDY_NOBODY, 0))
		return nobody_left_out(greedy);
	rest = GREEDY_NOBODY; /* which is KANON_DROPPED, too */
	if (problem->residual == KANON_RESIDUAL_SUPPRESS)
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

/* What the sort of classes needs to know. */
typedef struct Sorting
{
	const Greedy *greedy;
	KanonPattern kept;
} Sorting;

static int
compare_classes(const void *a, const void *b, void *arg)
{
	const Sorting *sorting = arg;
	uint32_t left = sorting->greedy->member[*(const uint32_t *) a];
	uint32_t right = sorting->greedy->member[*(const uint32_t *) b];

	KANON_EACH (c, sorting->kept)
	{
		const uint32_t *code = sorting->greedy->problem->columns[c].code;

		if (code[left] != code[right])
			return code[left] < code[right] ? -1 : 1;
	}
	return 0;
}

/* Sorts classes of one pattern by what they show, last column first. */
static KanonStatus
radix_sort(Greedy *greedy, KanonPattern kept, uint32_t *order, uint32_t *scratch, uint32_t n)
{
	const KanonProblem *problem = greedy->problem;
	uint32_t *from = order;
	uint32_t *into = scratch;
	uint32_t start[(1 << RADIX_BITS) + 1];
	uint32_t digit_mask = (1 << RADIX_BITS) - 1;

	for (int c = problem->ncolumns - 1; c >= 0; c--)
	{
		const KanonColumn *column = &problem->columns[c];

		if (!kanon_has(kept, c))
			continue;
		for (int shift = 0; shift < 32 && (column->distinct - 1) >> shift != 0; shift += RADIX_BITS)
		{
			uint32_t *swap = from;

			memset(start, 0, sizeof(start));
			for (uint32_t i = 0; i < n; i++)
			{
				if (kanon_stop(&greedy->pace, 8))
					return KANON_CANCELLED;
				start[(column->code[greedy->member[from[i]]] >> shift & digit_mask) + 1]++;
			}
			for (uint32_t d = 0; d < digit_mask; d++)
				start[d + 1] += start[d];
			for (uint32_t i = 0; i < n; i++)
				into[start[column->code[greedy->member[from[i]]] >> shift & digit_mask]++] = from[i];
			from = into;
			into = swap;
		}
	}
	if (from != order)
		memcpy(order, from, n * sizeof(uint32_t));
	return KANON_OK;
}

/*
 * The release's order: patterns are in order already, the classes of each are
 * put in order of what they show.
 */
static KanonStatus
sort_classes(Greedy *greedy, uint32_t *order, uint32_t *scratch)
{
	const KanonRelease *release = greedy->release;
	uint32_t from = 0;

	for (uint32_t i = 0; i < release->nclasses; i++)
		order[i] = i;
	while (from < release->nclasses)
	{
		KanonPattern pattern = release->classes[from].pattern;
		Sorting sorting = {greedy, kanon_minus(greedy->index->all, pattern)};
		uint32_t to = from;

		while (to < release->nclasses && kanon_same(release->classes[to].pattern, pattern))
			to++;
		if (to - from < RADIX_CLASSES)
		{
			if (kanon_stop(&greedy->pace, (to - from) * (uint64_t) greedy->problem->ncolumns))
				return KANON_CANCELLED;
			kanon_sort(order + from, scratch, to - from, sizeof(uint32_t), compare_classes, &sorting);
		}
		else if (radix_sort(greedy, sorting.kept, order + from, scratch, to - from) != KANON_OK)
			return KANON_CANCELLED;
		from = to;
	}
	for (uint32_t i = 0; i < release->nclasses; i++)
		scratch[order[i]] = i;
	for (uint32_t type = 0; type < greedy->problem->ntypes; type++)
	{
		if (kanon_stop(&greedy->pace, 2))
			return KANON_CANCELLED;
		if (greedy->class_[type] != KANON_DROPPED)
			greedy->class_[type] = scratch[greedy->class_[type]];
	}
	return KANON_OK;
}

/* What the classes show; a class's rows are counted by kanon_release_finish. */
static KanonStatus
fill_cells(Greedy *greedy, const uint32_t *order)
{
	const KanonProblem *problem = greedy->problem;
	KanonRelease *release = greedy->release;
	KanonCell *cell;

	release->cells =
		kanon_alloc(greedy->env, release->nclasses, (size_t) problem->ncolumns * sizeof(KanonCell));
	if (release->cells == NULL)
		return KANON_NO_MEMORY;
	cell = release->cells;
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		uint32_t type = greedy->member[order[i]];

		if (kanon_stop(&greedy->pace, (uint64_t) problem->ncolumns))
			return KANON_CANCELLED;
		for (int c = 0; c < problem->ncolumns; c++, cell++)
		{
			bool shown = !kanon_has(release->classes[i].pattern, c);

			cell->show = shown ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING;
			cell->code = shown ? problem->columns[c].code[type] & 0x1fffffff : 0;
		}
	}
	return KANON_OK;
}

/*
 * One flow per row type, made in the place of the class numbers, from the last
 * on: at ten million row types that saves their four bytes each at the peak.
 */
static KanonStatus
fill_flows(Greedy *greedy)
{
	const KanonProblem *problem = greedy->problem;
	KanonFlow *flows = kanon_realloc(greedy->env, greedy->class_, problem->ntypes, sizeof(KanonFlow));

	if (flows == NULL)
		return KANON_NO_MEMORY;
	greedy->class_ = NULL;
	greedy->release->flows = flows;
	greedy->release->nflows = problem->ntypes;
	for (uint32_t type = problem->ntypes; type-- > 0;)
	{
		uint32_t class;

		if (kanon_stop(&greedy->pace, 2))
			return KANON_CANCELLED;
		memcpy(&class, (char *) flows + type * sizeof(class), sizeof(class));
		flows[type] = (KanonFlow){type, class, problem->rows[type]};
	}
	return KANON_OK;
}

static KanonStatus
make_release(Greedy *greedy)
{
	KanonRelease *release = greedy->release;
	uint32_t *order = kanon_alloc(greedy->env, release->nclasses, sizeof(uint32_t));
	uint32_t *scratch = kanon_alloc(greedy->env, release->nclasses, sizeof(uint32_t));
	KanonStatus status = KANON_NO_MEMORY;

	if (order != NULL && scratch != NULL)
		status = sort_classes(greedy, order, scratch);
	kanon_free(greedy->env, scratch);
	if (status == KANON_OK && release->nclasses > 0)
	{
		/* what was taken for classes to come goes back */
		KanonClass *classes =
			kanon_realloc(greedy->env, release->classes, release->nclasses, sizeof(KanonClass));

		if (classes != NULL)
			release->classes = classes;
		else
			status = KANON_NO_MEMORY;
	}
	if (status == KANON_OK)
		status = fill_cells(greedy, order);
	kanon_free(greedy->env, order);
	kanon_free(greedy->env, greedy->member);
	greedy->member = NULL;
	if (status == KANON_OK)
		status = fill_flows(greedy);
	return status;
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
start(Greedy *greedy)
{
	const KanonProblem *problem = greedy->problem;
	KanonStatus status;
	size_t most = problem->ntypes;

	greedy->searched = *problem;
	greedy->searched.k = kanon_least_rows(problem);
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
	return greedy_search_open(greedy->index, &greedy->pace, &greedy->store, &greedy->search);
}

/*
 * How many times the least cost it can be.  Rows of a type of k or more stay as they are,
 * before all others, if a pattern says so; any other row costs any release at least the
 * cheapest pattern that costs something, and here at most all columns: where each cell
 * costs 1, as many times as there are columns.  Of patterns that cost
 * nothing and are not the same, the first may take rows that others need; rules may
 * forbid a class: then nothing is promised, 0.
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
kanon_solve_greedy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double begin = env->now(env->arg);
	Greedy greedy = {.problem = problem,
					 .env = env,
					 .release = release,
					 .report = report,
					 .pace = {.env = env, .phase = "greedy", .work = KANON_POLL_WORK}};
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	report->lower_bound = -INFINITY;
	status = start(&greedy);
	if (status == KANON_OK && problem->ntypes > 0)
		status = problem->mask.list != NULL ? run_list(&greedy) : run_rules(&greedy);
	if (status == KANON_OK)
		status = take_rest(&greedy);
	if (problem->privacy != NULL && kanon_privacy_failed(problem->privacy))
		status = KANON_NO_MEMORY;
	report->nodes = greedy.search.nodes;
	if (greedy.index != NULL)
		free_search(&greedy);
	if (status == KANON_OK)
		status = make_release(&greedy);
	kanon_free(env, greedy.class_);
	kanon_free(env, greedy.member);
	kanon_mask_close(greedy.index);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	if (status == KANON_OK)
		report->guarantee = factor(problem);
	else
		kanon_release_free(problem, release);
	report->seconds = env->now(env->arg) - begin;
	return status;
}
