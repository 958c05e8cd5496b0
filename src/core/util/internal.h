/*
 * internal.h: what the core's files share among themselves and with nobody else.
 */
#ifndef KANON_INTERNAL_H
#define KANON_INTERNAL_H

#include "kanon.h"
#include "privacy/privacy.h"
#include "util/fault.h"

/* Column c's bit in a pattern. */
#define KANON_BIT(c) (UINT64_C(1) << (c))

/*
 * Costs are compared as integers, so that sums do not depend on the order of
 * adding: a weight is its share of the total weight in units of 2^-60
 * (FIXED), and a cost's level is its sum rounded to units of 2^-30 (about one
 * billionth of the total weight).  Equal levels are equal costs.
 */
#define KANON_FIXED_BITS 60
#define KANON_LEVEL_SHIFT 30
#define KANON_LEVEL_MAX ((int64_t) 1 << (KANON_FIXED_BITS - KANON_LEVEL_SHIFT))

/* A listed pattern and its first place in the list. */
typedef struct KanonListed
{
	KanonPattern pattern;
	size_t place;
} KanonListed;

struct KanonMaskIndex
{
	const KanonProblem *problem;
	KanonPattern all;                  /* the all-suppressed pattern */
	KanonPattern last;                 /* columns that are their quasi-identifier's last level */
	int64_t weight[KANON_MAX_COLUMNS]; /* fixed point */
	double log_distinct[KANON_MAX_COLUMNS];
	int64_t max_level; /* of max_cost */

	/* a list: without doubles and the all-suppressed pattern, by pattern */
	KanonListed *listed;
	size_t nlisted;

	/*
	 * Rules.  Each says that one decision forces another, so a partial
	 * decision (columns that go, columns that stay) is closed under them by
	 * or-ing masks, and is then contradictory at once or can be completed by
	 * keeping every undecided column.
	 */
	bool none;                                 /* only the all-suppressed pattern fulfils the rules */
	KanonPattern go;                           /* goes in every pattern */
	KanonPattern stay;                         /* stays in every pattern but the all-suppressed one */
	KanonPattern go_go[KANON_MAX_COLUMNS];     /* c goes: these go, c among them */
	KanonPattern go_stay[KANON_MAX_COLUMNS];   /* c goes: these stay */
	KanonPattern stay_stay[KANON_MAX_COLUMNS]; /* c stays: these stay, c among them */
};

/* Sum of fixed-point weights over a pattern. */
static inline int64_t
kanon_fixed_cost(const KanonMaskIndex *index, KanonPattern pattern)
{
	int64_t sum = 0;

	for (; pattern != 0; pattern &= pattern - 1)
		sum += index->weight[__builtin_ctzll(pattern)];
	return sum;
}

static inline int64_t
kanon_fixed_level(int64_t fixed)
{
	return (fixed + ((int64_t) 1 << (KANON_LEVEL_SHIFT - 1))) >> KANON_LEVEL_SHIFT;
}

/* Work (a memory access or two each) between two polls: a millisecond or so. */
#ifndef KANON_POLL_WORK
#define KANON_POLL_WORK (1 << 18)
#endif

/* When to poll, and what to say then. */
typedef struct KanonPace
{
	KanonEnv *env;
	const char *phase;
	double share;
	int64_t rows_left;
	uint64_t work; /* since the last poll */
} KanonPace;

/* Some work was done: true if the host wants to stop. */
static inline bool
kanon_stop(KanonPace *pace, uint64_t work)
{
	pace->work += work;
	if (pace->work < KANON_POLL_WORK)
		return false;
	pace->work = 0;
	return pace->env->poll(
		pace->env->arg,
		&(KanonProgress){.phase = pace->phase, .share = pace->share, .rows_left = pace->rows_left});
}

/* Rows that every class has. */
static inline int64_t
kanon_least_rows(const KanonProblem *problem)
{
	return problem->k_map ? 1 : problem->k;
}

/* Are there rules that need to know which row types a class has? */
static inline bool
kanon_by_types(const KanonProblem *problem)
{
	return problem->privacy != NULL || problem->npopulations > 0;
}

/*
 * May these rows form a class?  The one place that knows the rules: rows is their
 * number together; types[ntypes] are what they are, with counts[ntypes] rows of
 * each (NULL: all that it has).  (But for rules about populations: population.c.)
 * Solvers may count on it that a set with fewer
 * than k rows never may, and, without problem->privacy, that any other may (then
 * types need not be at hand: NULL).
 */
static inline bool
kanon_class_allowed(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t ntypes,
					int64_t rows)
{
	return rows >= kanon_least_rows(problem) - FAULT(class_short) &&
		   (problem->privacy == NULL || FAULT(rule_forgotten) ||
			kanon_privacy_allows(problem, types, counts, ntypes, false, NULL));
}

/*
 * May these rows, which are left for no class, be published fully suppressed?
 * There may be fewer than k of them, but what they say must keep the other rules.
 */
static inline bool
kanon_rest_allowed(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t ntypes)
{
	return problem->privacy == NULL || kanon_privacy_allows(problem, types, counts, ntypes, true, NULL);
}

/* mask.c: the columns that are the last level of their quasi-identifier. */
extern KanonPattern kanon_last_levels(const KanonProblem *problem);

/* mask.c: orders different patterns of equal cost, neither of them the all-suppressed one. */
extern int kanon_mask_compare_equal(const KanonMaskIndex *index, KanonPattern a, KanonPattern b);

/* Quasi-identifiers that a pattern suppresses whole; last as above. */
static inline int
kanon_suppressed_whole(KanonPattern last, KanonPattern pattern)
{
	return __builtin_popcountll(pattern & last);
}

/* Does a pattern suppress levels from below, as all must?  last as above. */
static inline bool
kanon_levels_allow(KanonPattern last, KanonPattern pattern)
{
	return (pattern & ~last << 1 & ~(pattern << 1)) == 0;
}

/* release.c: orders what two cells of a column show; 0: the same. */
extern int kanon_compare_shown(const KanonRelease *release, KanonCell a, KanonCell b);

/* Is what a cell shows true of a code? */
extern bool kanon_cell_matches(const KanonRelease *release, KanonCell cell, uint32_t code);

/* As kanon_compare_shown, of cells of two releases. */
extern int kanon_compare_cells(const KanonRelease *one, KanonCell a, const KanonRelease *other, KanonCell b);

/* A range or a set: what stands for values that differ. */
static inline bool
kanon_shows_several(KanonCell cell)
{
	return cell.show == KANON_SHOW_RANGE || cell.show == KANON_SHOW_SET;
}

/*
 * measure.c: the range of the finite numbers of a column (negative: there are
 * none), in units that make it a double: times *scale.
 */
extern double kanon_number_range(const KanonColumn *column, double *scale);

/*
 * The share of that range that values from low to high take.  NULL (and
 * not-a-number, which no range holds) is as far as can be from everything else;
 * so is an infinity, which does not stretch the range.
 */
extern double kanon_range_share(double range, double scale, double low, double high);

/* measure_loss.c: the measures of the literature, when the sizes are there. */
extern KanonStatus kanon_measure_loss(const KanonProblem *problem, const KanonRelease *release,
									  KanonMeasures *measures);

/*
 * freeform_flow.c: is there a graph in which each of as many records as rows has
 * exactly k, among the matches of class i with type[start[i]..start[i + 1])?
 */
extern KanonStatus kanon_freeform_regular(const KanonProblem *problem, const KanonRelease *release, int64_t k,
										  const size_t *start, const uint32_t *type, KanonPace *pace,
										  bool *regular);

/* sort.c */
typedef int (*KanonCompare)(const void *a, const void *b, void *arg);

/*
 * Stable merge sort; scratch has room for count items.  qsort_r is no
 * alternative: glibc's takes memory behind the host's back.
 */
extern void kanon_sort(void *items, void *scratch, size_t count, size_t size, KanonCompare compare,
					   void *arg);

/* Of uint32_t, ascending. */
extern int kanon_compare_numbers(const void *a, const void *b, void *arg);

#endif
