/*
 * instances.h: the instances that a release may use, and who fits them.
 *
 * An instance is a pattern with the values that it shows; here it is the set
 * of row types compatible with it.  Only live instances count: those with at
 * least k compatible rows.
 */
#ifndef KANON_INSTANCES_H
#define KANON_INSTANCES_H

#include "kanon.h"
#include "util/pace.h"

/*
 * Costs in here are in units of the costs' grid: when all weights are whole
 * multiples of one number (`unit`), costs are whole numbers and a bound may be
 * rounded up; else unit is the largest weight and `integral` false.
 */
typedef struct KanonInstances
{
	uint32_t n;
	KanonPattern *pattern; /* [n] */
	double *cost;          /* [n] of a row in it */
	size_t *start;         /* [n + 1] into type */
	uint32_t *type;        /* row types compatible with each, ascending */
	double all_cost;       /* of a fully suppressed row */
	double unit;
	bool integral;
	double least;    /* the smallest weight above 0, in units: other costs are 0 */
	double rounding; /* by which sums of the costs of all rows may be wrong */
	bool wide;       /* weights are of so different magnitude that GLPK's tolerances hide the small ones */
	bool closed;     /* those within one that costs no more are left out */
	int64_t steps;   /* work that it took to find them */
} KanonInstances;

/* Part of a cost by which another may differ and still be the same, where costs are not whole. */
#define KANON_SAME 1e-8

/*
 * Patterns that rules allow which are looked at one by one, at most; of more, only the closed
 * instances are found, whatever is asked for.
 */
#ifndef KANON_INSTANCE_PATTERNS
#define KANON_INSTANCE_PATTERNS ((size_t) 1 << 16)
#endif

typedef enum KanonInstanceMode
{
	KANON_INSTANCES_ALL,   /* every live one (for oracles) */
	KANON_INSTANCES_CLOSED /* those not within one that costs no more */
} KanonInstanceMode;

/*
 * The live instances but the fully suppressed one.  KANON_TOO_LARGE when they
 * hold more than max_pairs row types in all, or when time is up (pace->late); without those above max_cost (in units).  Failing
 * leaves the grid of the costs.
 */
extern KanonStatus kanon_instances_build(const KanonProblem *problem, KanonInstanceMode mode, double max_cost,
										 size_t max_pairs, KanonPace *pace, KanonInstances *out);

/*
 * What of an instance is wanted: writes the row types and returns their number
 * (0: nothing).
 */
typedef uint32_t (*KanonSieve)(void *arg, double cost, const uint32_t *types, uint32_t ntypes,
							   uint32_t *kept);

/* The closed live instances as the sieve leaves them. */
extern KanonStatus kanon_instances_sift(const KanonProblem *problem, KanonSieve sieve, void *arg,
										size_t max_pairs, KanonPace *pace, KanonInstances *out);
extern void kanon_instances_free(KanonEnv *env, KanonInstances *instances);

/*
 * The mask's patterns as kanon_mask_enumerate does, but cheapest first to all digits of
 * their costs: what is dropped for a pattern that costs no more is then no loss.
 */
extern KanonStatus kanon_instances_patterns(const KanonProblem *problem, size_t limit,
											KanonPattern **patterns, size_t *npatterns);

/* Cost of a pattern in units of the grid. */
extern double kanon_instances_cost(const KanonProblem *problem, const KanonInstances *instances,
								   KanonPattern pattern);

/* Sets unit, integral and what else is known from the weights. */
extern void kanon_instances_grid(const KanonProblem *problem, KanonInstances *instances);

/* Costs (in units) nearer to this one are the same: what is proven is so to that. */
extern double kanon_instances_slack(const KanonInstances *instances, double cost);

#endif
