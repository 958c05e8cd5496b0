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

/*
 * Work since the last poll, and the end of the time allowed.  Every loop of
 * the exact and the anytime solver reports its steps here.
 */
typedef struct KanonWatch
{
	KanonEnv *env;
	const char *phase;
	double share;    /* of the phase done, for the progress report */
	bool within;     /* searches within a phase do not tell their share */
	bool bounded;    /* the next two are known, for the report, too */
	double cost;     /* of the best solution so far */
	double bound;    /* of all */
	double deadline; /* env->now when time is up; INFINITY: never */
	int64_t work;    /* steps since the last poll */
	int64_t total;   /* steps up to the last poll */
	bool cancelled;
	bool late;
} KanonWatch;

/* So much of the phase's work is done. */
static inline void
kanon_watch_share(KanonWatch *watch, double share)
{
	if (!watch->within)
		watch->share = share;
}

extern void kanon_watch_init(KanonWatch *watch, const KanonProblem *problem, const char *phase);

/* Polls now: true when the host wants the solver to stop. */
extern bool kanon_watch_poll(KanonWatch *watch);

/* Steps between two polls: well under a millisecond of simple work. */
#define KANON_WATCH_STEPS 200000

/* All steps so far: the same in every run. */
static inline int64_t
kanon_watch_total(const KanonWatch *watch)
{
	return watch->total + watch->work;
}

static inline bool
kanon_watch(KanonWatch *watch, int64_t steps)
{
	watch->work += steps;
	if (watch->work < KANON_WATCH_STEPS)
		return false;
	return kanon_watch_poll(watch);
}

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
	size_t patterns; /* in the mask; 0: every combination */
	double max_cost; /* instances above this cost (in units) are missing */
} KanonInstances;

typedef enum KanonInstanceMode
{
	KANON_INSTANCES_ALL,   /* every live one (for oracles) */
	KANON_INSTANCES_CLOSED /* those not within one that costs no more */
} KanonInstanceMode;

/*
 * The live instances but the fully suppressed one.  KANON_TOO_LARGE when they
 * hold more than max_pairs row types in all, or the mask has too many patterns,
 * or when time is up (watch->late).  Failing leaves the grid of the costs.
 */
extern KanonStatus kanon_instances_build(const KanonProblem *problem, KanonInstanceMode mode, double max_cost,
										 size_t max_pairs, KanonWatch *watch, KanonInstances *out,
										 KanonReport *report);

/*
 * What of an instance is wanted: writes the row types and returns their number
 * (0: nothing).
 */
typedef uint32_t (*KanonSieve)(void *arg, double cost, const uint32_t *types, uint32_t ntypes,
							   uint32_t *kept);

/*
 * The closed live instances that cost more than `above`, as the sieve leaves
 * them.  It may be spared those of which no row type i has most[i] > above.
 */
extern KanonStatus kanon_instances_above(const KanonProblem *problem, double above, const double *most,
										 KanonSieve sieve, void *arg, size_t max_pairs, KanonWatch *watch,
										 KanonInstances *out);
extern void kanon_instances_free(KanonEnv *env, KanonInstances *instances);

/* Cost of a pattern in units of the grid. */
extern double kanon_instances_cost(const KanonProblem *problem, const KanonInstances *instances,
								   KanonPattern pattern);

/* Sets unit, integral and all_cost. */
extern void kanon_instances_grid(const KanonProblem *problem, KanonInstances *instances);

#endif
