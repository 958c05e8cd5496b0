/*
 * model.h: what cells show, what is allowed, what is lost
 */
#ifndef KANON_MODEL_H
#define KANON_MODEL_H

#include "kanon.h"
#include "util/scratch.h"

/*
 * ---- freeform_options: what is asked of a freeform method (src/core/freeform), and
 * what its methods promise: the check of every release must know.
 */

typedef enum KanonFreeformMethod
{
	KANON_FREEFORM_GREEDY,
	KANON_FREEFORM_SORT_GREEDY,
	KANON_FREEFORM_HUNGARIAN,
	KANON_FREEFORM_PLAIN_SORT_GREEDY, /* these two as the paper has them: no round is made anew */
	KANON_FREEFORM_PLAIN_HUNGARIAN,
	KANON_FREEFORM_MIP,
	KANON_FREEFORM_MIN_COST_FLOW,
	KANON_FREEFORM_RING,
	KANON_FREEFORM_CONCEALMENT, /* weaker: the graph is not k-regular */

	/* weaker still, and each record has what was kept of its own row: kanon_cluster's */
	KANON_FREEFORM_ONE_K, /* every row matches k records */
	KANON_FREEFORM_K_ONE, /* every record matches k rows */
	KANON_FREEFORM_K_K    /* both */
} KanonFreeformMethod;

/* Are they (1,k)-, (k,1)- or (k,k)-anonymity? */
static inline bool
kanon_freeform_relaxed(KanonFreeformMethod method)
{
	return method >= KANON_FREEFORM_ONE_K;
}

/* A method's promise: k records to every row, k rows to every record. */
static inline bool
kanon_freeform_promises_rows(KanonFreeformMethod method)
{
	return method != KANON_FREEFORM_K_ONE;
}

static inline bool
kanon_freeform_promises_records(KanonFreeformMethod method)
{
	return method != KANON_FREEFORM_ONE_K;
}

/* Random bytes nobody can foresee; false: there are none. */
typedef bool (*KanonStrongRandom)(void *to, size_t size);

typedef struct KanonFreeformOptions
{
	KanonFreeformMethod method;
	uint32_t partition_size;  /* rows of a part, at least; 0: one part */
	bool symmetric;           /* row i matches record j only if row j matches record i */
	KanonStrongRandom strong; /* NULL: random numbers follow from problem->seed */
	const int64_t
		*own_k; /* [ntypes] matches that rows of a type want; the problem's k is the least; NULL: it is all */
} KanonFreeformOptions;

/* Matches that each row of a type has to have; without options the problem's k. */
static inline int64_t
kanon_freeform_own_k(const KanonProblem *problem, uint32_t type)
{
	const KanonFreeformOptions *options = problem->freeform;

	return options != NULL && options->own_k != NULL && options->own_k[type] > problem->k
			   ? options->own_k[type]
			   : problem->k;
}

/* The most of them. */
static inline int64_t
kanon_freeform_most_k(const KanonProblem *problem)
{
	int64_t most = problem->k;

	for (uint32_t i = 0; problem->freeform->own_k != NULL && i < problem->ntypes; i++)
		if (problem->freeform->own_k[i] > most)
			most = problem->freeform->own_k[i];
	return most;
}

/* ---- mask.c: what a mask's index knows of its patterns; patterns of levels ---- */

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

	KANON_EACH (c, pattern)
		sum += index->weight[c];
	return sum;
}

static inline int64_t
kanon_fixed_level(int64_t fixed)
{
	return (fixed + ((int64_t) 1 << (KANON_LEVEL_SHIFT - 1))) >> KANON_LEVEL_SHIFT;
}

/*
 * mask.c, by rules: all that goes when these columns do, and the least allowed pattern that
 * suppresses them (the all-suppressed one if no other does): it costs no more than any other.
 */
extern KanonPattern kanon_mask_forced(const KanonMaskIndex *index, KanonPattern pattern);
extern KanonPattern kanon_mask_cover(const KanonMaskIndex *index, KanonPattern pattern);

/* How often a pattern is listed; of rules: once. */
extern uint32_t kanon_mask_times(const KanonMask *mask, KanonPattern pattern);

/* mask_walk.c: as kanon_mask_count. */
extern int64_t kanon_mask_count_indexed(const KanonMaskIndex *index, int64_t limit);

/* mask.c: the columns that are the last level of their quasi-identifier. */
extern KanonPattern kanon_last_levels(const KanonProblem *problem);

/* mask.c: orders different patterns of equal cost, neither of them the all-suppressed one. */
extern int kanon_mask_compare_equal(const KanonMaskIndex *index, KanonPattern a, KanonPattern b);

/* Quasi-identifiers that a pattern suppresses whole; last as above. */
static inline int
kanon_suppressed_whole(KanonPattern last, KanonPattern pattern)
{
	return kanon_count(kanon_both(pattern, last));
}

/* Does a pattern suppress levels from below, as all must?  last as above. */
static inline bool
kanon_levels_allow(KanonPattern last, KanonPattern pattern)
{
	uint64_t carry = 0; /* column c stays and is not the last: c + 1 is to stay, too */

	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
	{
		uint64_t stays = ~(pattern.word[w] | last.word[w]);

		if ((pattern.word[w] & (stays << 1 | carry)) != 0)
			return false;
		carry = stays >> 63;
	}
	return true;
}

/* ---- measure.c: how much of its column a range takes; the measures of the literature ---- */

/*
 * measure.c: where the data is.  Among n different finite numbers, ascending, those that stand for
 * nothing measured (9999-12-31, 999998, year 1) lie far from all others: from the middle 80 % on
 * each next number belongs to the data that is not farther from what belongs to it than KANON_FAR
 * times its range.  *low and *high: its ends; of fewer than KANON_FEW_NUMBERS those of all.
 */
#define KANON_FAR 3
#define KANON_FEW_NUMBERS 10
extern void kanon_data_range(const double *number, size_t n, double *low, double *high);

/* Does a number lie far from the data that has these ends? */
extern bool kanon_is_far(double low, double high, double number);

/*
 * measure.c: the range of the finite numbers of a column (negative: there are
 * none), in units that make it a double: times *scale.
 */
extern double kanon_number_range(const KanonColumn *column, double *scale);

/*
 * The share of that range that values from low to high take.  NULL (and
 * not-a-number, which no range holds) is as far as can be from everything else;
 * so is an infinity, which does not stretch the range.  (The host makes numbers infinite that are
 * far from the data.)
 */
extern double kanon_range_share(double range, double scale, double low, double high);

/* measure.c: the usefulness alone (KanonMeasures): less is better. */
extern KanonStatus kanon_usefulness(const KanonProblem *problem, const KanonRelease *release,
									double *usefulness);

/* True if one is more useful than another, by more than sums in another order differ. */
static inline bool
kanon_more_useful(double usefulness, double other)
{
	return usefulness < other * (1 - 1e-12);
}

/* measure_loss.c: the measures of the literature, when the sizes are there. */
extern KanonStatus kanon_measure_loss(const KanonProblem *problem, const KanonRelease *release,
									  KanonMeasures *measures);

/* ---- shown.c: what the cells of a release show ---- */

/* Orders what two cells of a column show; 0: the same. */
extern int kanon_compare_shown(const KanonRelease *release, KanonCell a, KanonCell b);

/* Is a code among those that a range or a set stands for? */
extern bool kanon_cell_holds(const KanonRelease *release, KanonCell cell, uint32_t code);

/* Is what a cell shows true of a code? */
static inline bool
kanon_cell_matches(const KanonRelease *release, KanonCell cell, uint32_t code)
{
	if (cell.show == KANON_SHOW_VALUE)
		return cell.code == code;
	return cell.show == KANON_SHOW_NOTHING || kanon_cell_holds(release, cell, code);
}

/* As kanon_compare_shown, of cells of two releases. */
extern int kanon_compare_cells(const KanonRelease *one, KanonCell a, const KanonRelease *other, KanonCell b);

/* A range or a set: what stands for values that differ. */
static inline bool
kanon_shows_several(KanonCell cell)
{
	return cell.show == KANON_SHOW_RANGE || cell.show == KANON_SHOW_SET;
}

/* The row types of each class: those of class i from start[i] on, ascending. */
typedef struct KanonMembers
{
	size_t *start;  /* [nclasses + 1] */
	uint32_t *type; /* [start[nclasses]] */
	int64_t *rows;  /* that flow to the class */
} KanonMembers;

/* From flows in the order of types; in memory of the scratch. */
extern KanonStatus kanon_release_members(const KanonRelease *release, KanonScratch *scratch,
										 KanonMembers *members);

#endif
