/*
 * cluster_predicate.c: pattern clustering where rules allow more patterns than can be listed,
 * each for one class: which of them to list all the same.
 *
 * Enough: a pattern divides the row types by the columns in which they agree, and with the
 * columns that it keeps it may keep all that follow from these.  Sets of columns that have all
 * that follows from them are what some row types agree on, and intersections of such sets;
 * patterns that divide the types alike lie below one of them.  Only the cheapest of these are
 * of use, and no more than there are classes of that division (as in cluster_choices.c): a
 * best-first search lists them.  Where that is too much, those are taken that the classes of a
 * release need in which patterns are used as often as one likes, or the next cheaper ones that
 * are not used up: then there is a release, but nothing is proven by the list.
 */
#include <math.h>
#include <string.h>

#include "cluster/cluster_patterns.h"
#include "model/model.h"
#include "util/number.h"
#include "util/sort.h"

/* Patterns listed at most, and, where they are not enough, row types of all of them together. */
#define MOST_PATTERNS ((size_t) 1 << 16)
#define MOST_PAIRS ((size_t) 8 * 1000 * 1000)

/* Row types of which all pairs are compared, at most, and work until it is too much. */
#define MOST_TYPES 512
#define MOST_WORK ((int64_t) 1 << 28)

/* Different patterns, in the order in which they came. */
typedef struct Patterns
{
	KanonPattern *v;
	uint32_t *slot; /* [2 * room of v] place in v + 1; 0: empty */
	size_t n, room, slots;
} Patterns;

typedef struct Lister
{
	const KanonProblem *problem;
	KanonMaskIndex *index;
	KanonPace *pace;
	KanonScratch scratch;
	Patterns found;
	Patterns seen; /* by one best-first search */
	KanonHeap heap;
	int64_t end; /* of the work */
} Lister;

/* Adds a pattern unless it is there; *added tells whether.  False: no memory. */
static bool
patterns_add(Lister *l, Patterns *set, KanonPattern pattern, bool *added)
{
	size_t at;

	if (2 * (set->n + 1) > set->slots)
	{
		size_t slots = set->slots == 0 ? 64 : 2 * set->slots;

		kanon_drop(&l->scratch, set->slot);
		set->slot = kanon_take0(&l->scratch, slots, sizeof(*set->slot));
		if (set->slot == NULL)
			return false;
		set->slots = slots;
		for (size_t j = 0; j < set->n; j++)
		{
			for (at = kanon_pattern_hash(set->v[j]) & (slots - 1); set->slot[at] != 0;
				 at = (at + 1) & (slots - 1))
				;
			set->slot[at] = (uint32_t) j + 1;
		}
	}
	for (at = kanon_pattern_hash(pattern) & (set->slots - 1); set->slot[at] != 0;
		 at = (at + 1) & (set->slots - 1))
		if (kanon_same(set->v[set->slot[at] - 1], pattern))
		{
			*added = false;
			return true;
		}
	if (!KANON_GROW(&l->scratch, &set->room, set->n + 1, KANON_ARRAY(set->v)))
		return false;
	set->v[set->n++] = pattern;
	set->slot[at] = (uint32_t) set->n;
	*added = true;
	return true;
}

/* For another best-first search. */
static void
patterns_clear(Lister *l)
{
	Patterns *set = &l->seen;

	if (set->slots > 0)
		memset(set->slot, 0, set->slots * sizeof(*set->slot));
	l->pace->work += set->slots / 8;
	set->n = 0;
	l->heap.n = 0;
}

/* KANON_TOO_LARGE: it takes too long. */
static KanonStatus
work(Lister *l, int64_t steps)
{
	if (kanon_step(l->pace, (uint64_t) steps))
		return KANON_CANCELLED;
	return l->pace->late || kanon_worked(l->pace) > l->end ? KANON_TOO_LARGE : KANON_OK;
}

/* The columns in which two types agree. */
static KanonPattern
agreed(const KanonProblem *problem, uint32_t i, uint32_t j)
{
	KanonPattern same = KANON_NONE;

	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].code[i] == problem->columns[c].code[j])
			kanon_add(&same, c);
	return same;
}

/* Classes of k rows that patterns with these columns kept have, at most. */
static uint32_t
count_classes(const Lister *l, const KanonPattern *same, KanonPattern keep)
{
	const KanonProblem *problem = l->problem;
	uint32_t n = problem->ntypes, classes = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		int64_t rows = 0;
		bool first = true;

		for (uint32_t j = 0; j < n && first; j++)
			if (kanon_within(keep, same[(size_t) i * n + j]))
			{
				first = j >= i;
				rows += problem->rows[j];
			}
		classes += first && rows >= problem->k;
	}
	return classes;
}

/* Do types that agree on `less` agree on all of `keep`? */
static bool
implies(const Patterns *sets, KanonPattern less, KanonPattern keep)
{
	/* what follows is the intersection of the sets that have `less`; each of them must have all of keep */
	for (size_t j = 0; j < sets->n; j++)
		if (kanon_within(less, sets->v[j]) && !kanon_within(keep, sets->v[j]))
			return false;
	return true;
}

/*
 * The cheapest `most` allowed patterns that keep part of `keep`, a set that has what follows from
 * it, and so much that all of it follows.
 */
static KanonStatus
list_below(Lister *l, const Patterns *agreements, KanonPattern keep, uint32_t most)
{
	KanonPattern all = l->index->all;
	KanonStatus status = KANON_OK;
	bool added;

	patterns_clear(l);
	if (!patterns_add(l, &l->seen, kanon_minus(all, keep), &added) ||
		!kanon_heap_add(&l->scratch, &l->heap, 0, 0))
		return KANON_NO_MEMORY;
	while (l->heap.n > 0 && most > 0 && status == KANON_OK)
	{
		KanonPattern pattern = l->seen.v[kanon_heap_take(&l->heap).item];
		KanonPattern kept = kanon_minus(all, pattern);

		if (!kanon_same(pattern, all) && kanon_mask_contains(l->index, pattern))
		{
			most--;
			if (!patterns_add(l, &l->found, pattern, &added))
				return KANON_NO_MEMORY;
			if (l->found.n >= MOST_PATTERNS)
				return KANON_TOO_LARGE;
		}
		for (int c = kanon_next(kept, 0); c >= 0 && status == KANON_OK; c = kanon_next(kept, c + 1))
		{
			KanonPattern next = pattern;

			kanon_add(&next, c);
			status = work(l, (int64_t) agreements->n + 16);
			if (!implies(agreements, kanon_minus(all, next), keep))
				continue;
			if (!patterns_add(l, &l->seen, next, &added) ||
				(added && !kanon_heap_add(&l->scratch, &l->heap, (double) kanon_fixed_cost(l->index, next),
										  (uint32_t) l->seen.n - 1)))
				return KANON_NO_MEMORY;
		}
	}
	return status;
}

/* Enough patterns, or KANON_TOO_LARGE. */
static KanonStatus
list_enough(Lister *l)
{
	const KanonProblem *problem = l->problem;
	uint32_t n = problem->ntypes;
	KanonPattern *same;
	Patterns agreements = {0}, closed = {0};
	KanonStatus status = KANON_OK;
	bool added;

	if (n > MOST_TYPES)
		return KANON_TOO_LARGE;
	same = kanon_take(&l->scratch, (size_t) n * n, sizeof(*same));
	if (same == NULL || !patterns_add(l, &closed, l->index->all, &added))
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
		{
			same[(size_t) i * n + j] = agreed(problem, i, j);
			if (i < j && !patterns_add(l, &agreements, same[(size_t) i * n + j], &added))
				return KANON_NO_MEMORY;
			l->pace->work += (uint64_t) problem->ncolumns;
		}
	for (size_t a = 0; a < agreements.n && status == KANON_OK; a++)
		for (size_t j = 0, before = closed.n; j < before && status == KANON_OK; j++)
		{
			if (!patterns_add(l, &closed, kanon_both(closed.v[j], agreements.v[a]), &added))
				return KANON_NO_MEMORY;
			status = closed.n > MOST_PATTERNS ? KANON_TOO_LARGE : work(l, 8);
		}
	for (size_t j = 0; j < closed.n && status == KANON_OK; j++)
	{
		uint32_t classes = count_classes(l, same, closed.v[j]);

		status = work(l, (int64_t) n * n);
		if (status == KANON_OK && classes > 0)
			status = list_below(l, &agreements, closed.v[j], classes);
	}
	return status;
}

/* A pattern for one more class that could have `base`: the cheapest that is not listed yet. */
static KanonStatus
list_above(Lister *l, KanonPattern base)
{
	KanonPattern all = l->index->all;
	bool added = false;

	if (kanon_same(base, all))
		return KANON_OK;
	patterns_clear(l);
	if (!patterns_add(l, &l->seen, base, &added) || !kanon_heap_add(&l->scratch, &l->heap, 0, 0))
		return KANON_NO_MEMORY;
	while (l->heap.n > 0 && l->seen.n < 10000)
	{
		KanonPattern pattern = l->seen.v[kanon_heap_take(&l->heap).item];
		KanonPattern kept = kanon_minus(all, pattern);
		KanonStatus status;

		if (!patterns_add(l, &l->found, pattern, &added))
			return KANON_NO_MEMORY;
		if (added)
			break;
		KANON_EACH (c, kept)
		{
			KanonPattern next = kanon_mask_cover(l->index, kanon_union(pattern, kanon_only(c)));

			if (kanon_same(next, all))
				continue;
			if (!patterns_add(l, &l->seen, next, &added) ||
				(added && !kanon_heap_add(&l->scratch, &l->heap, (double) kanon_fixed_cost(l->index, next),
										  (uint32_t) l->seen.n - 1)))
				return KANON_NO_MEMORY;
		}
		status = work(l, 64 * l->problem->ncolumns);
		if (status == KANON_TOO_LARGE)
			break;
		if (status != KANON_OK)
			return status;
	}
	return KANON_OK;
}

static int
compare_rows(const void *a, const void *b, void *arg)
{
	const KanonClass *left = a, *right = b;

	(void) arg;
	return left->rows != right->rows ? (left->rows > right->rows ? -1 : 1)
									 : kanon_order(left->pattern, right->pattern);
}

/* Those that the classes of a release need in which each may be used again. */
static KanonStatus
list_likely(Lister *l, KanonSolve relaxed, Clusters *c)
{
	KanonProblem often = *l->problem;
	KanonEnv *env = often.env;
	size_t most = MOST_PAIRS / (often.ntypes > 0 ? often.ntypes : 1) + 16;
	KanonRelease release;
	KanonClass *classes;
	KanonStatus status;

	/* rows left over may be suppressed, fewer than k, too: that costs no more */
	often.residual = KANON_RESIDUAL_SUPPRESS;
	if (l->pace->deadline > 0)
		often.time_limit = fmax(1e-6, 0.4 * (l->pace->deadline - env->now(env->arg)));
	status = relaxed(&often, &release, c->report);
	c->report->detail[0] = '\0';
	c->report->guarantee = 0;
	if (status != KANON_OK)
		return status;
	c->often = fmax(0, c->report->lower_bound);
	classes = kanon_take(&l->scratch, release.nclasses, 2 * sizeof(*classes));
	if (classes == NULL)
		status = KANON_NO_MEMORY;
	else
	{
		for (uint32_t f = 0; f < release.nclasses; f++)
			classes[f] = release.classes[f];
		kanon_sort(classes, classes + release.nclasses, release.nclasses, sizeof(*classes), compare_rows,
				   NULL);
	}
	for (uint32_t f = 0; f < release.nclasses && status == KANON_OK; f++)
		if (l->found.n < most && l->found.n < MOST_PATTERNS)
			status = list_above(l, classes[f].pattern);
	kanon_release_free(&often, &release);
	return status;
}

KanonStatus
clusters_list(Clusters *c, KanonSolve relaxed)
{
	Lister l = {.problem = c->problem, .pace = &c->pace, .scratch = {.env = c->problem->env}};
	KanonStatus status = kanon_mask_open(c->problem, &l.index);

	l.end = kanon_worked(&c->pace) + MOST_WORK;
	if (status == KANON_OK)
		status = list_enough(&l);
	c->enough = status == KANON_OK;
	if (status == KANON_TOO_LARGE && relaxed != NULL)
	{
		l.found = (Patterns){0};
		l.end = kanon_worked(&c->pace) + MOST_WORK;
		status = list_likely(&l, relaxed, c);
	}
	if (status == KANON_OK)
	{
		bool added;

		/* (always allowed; no list is empty) */
		if (!patterns_add(&l, &l.found, l.index->all, &added))
			status = KANON_NO_MEMORY;
		c->listed = kanon_keep(&l.scratch, l.found.v);
		c->nlisted = l.found.n;
	}
	kanon_mask_close(l.index);
	kanon_scratch_free(&l.scratch);
	return status;
}
