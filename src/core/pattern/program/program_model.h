/*
 * program_model.h: instances, and the program that chooses among them
 */
#ifndef KANON_PROGRAM_MODEL_H
#define KANON_PROGRAM_MODEL_H

#include "kanon.h"
#include "util/pace.h"
#include "util/number.h"
#include "util/scratch.h"

/*
 * ---- instances.c: the instances that a release may use, and who fits them.
 *
 * An instance is a pattern with the values that it shows; here it is the set
 * of row types compatible with it.  Only live instances count: those with at
 * least k compatible rows.
 */

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
 * The row types of an instance that are wanted: writes the row types and returns their
 * number (0: nothing).
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

/*
 * ---- program_model.c: the integer program shared by the exact and the anytime method.
 *
 * min  sum_i n_i c_i - sum_if (c_i - w_f) x_if   over instances f, row types i
 *      sum_f x_if <= n_i                        rows left take their fallback
 *      x_if <= n_i u_f,  sum_i x_if >= k u_f    a class holds k rows or none
 *      u_f in {0,1},  x_if >= 0
 *
 * c_i is the cost of a row's fallback: fully suppressed, or in a class that is
 * open anyway.  x needs no integrality: given u it is a transportation problem.
 * Costs are in units of the grid (see KanonInstances).
 */

#define ILP_EPS 1e-6

/* Shadow prices and the like use a tolerance; this is one on sums of costs. */
typedef struct IlpModel
{
	KanonEnv *env;
	KanonScratch scratch; /* of the arrays below; a copy of the struct does not own them */
	int64_t k;
	bool integral;  /* costs are whole */
	double least;   /* the smallest weight, and */
	bool wide;      /* GLPK proves nothing: see KanonInstances */
	double base;    /* cost decided outside of the arrays below */
	uint32_t m;     /* row types, those with equal options merged */
	int64_t *n;     /* [m] rows */
	double *c;      /* [m] fallback cost of a row */
	uint32_t nf;    /* instances */
	uint32_t *id;   /* [nf] position in KanonInstances */
	double *w;      /* [nf] cost of a row */
	double *price;  /* [m] what a row is worth by the bound; for the search alone, NULL: nobody knows */
	size_t *start;  /* [nf + 1] into type */
	uint32_t *type; /* ascending within an instance */
	/* the same by type, made by ilp_model_transpose */
	size_t *opt_start; /* [m + 1] into opt */
	uint32_t *opt;     /* instances, cheapest first */

	/*
	 * Rows of a class must have so many different values, too (exact_ruled.c): for the bound alone
	 * (ilp_lagrange).  0: any will do.
	 */
	uint32_t values_needed;
	const uint32_t *value; /* [m] of each type */
	uint32_t nvalues;

	/*
	 * At most limit[j] of the instances f with group[f] == j are open (pattern clustering): for the
	 * same bound. group NULL: as many as there are.
	 */
	const uint32_t *group;
	const uint32_t *limit; /* [ngroups] */
	size_t ngroups;
} IlpModel;

/* A growing list of numbers. */
typedef struct IlpList
{
	uint32_t *v;
	size_t n;
	size_t room;
} IlpList;

extern bool ilp_list_add(KanonEnv *env, IlpList *list, uint32_t value);

/* with_rest: the fully suppressed rows are an instance, too: id instances->n. */
extern KanonStatus ilp_model_build(const KanonProblem *problem, const KanonInstances *instances,
								   bool with_rest, KanonPace *pace, IlpModel *model);
/* Room in a model (all 0 but env) for m types, nf instances and that many pairs; ilp_model_free in any case. */
extern bool ilp_model_alloc(IlpModel *model, uint32_t m, uint32_t nf, size_t pairs);
extern void ilp_model_free(IlpModel *model);
extern KanonStatus ilp_model_transpose(IlpModel *model, KanonPace *pace);

/*
 * Takes out the instances with dead[f]; types left without options go to base,
 * types with equal options (and c) are merged.  The transpose is dropped.
 */
extern KanonStatus ilp_model_compact(IlpModel *model, const bool *dead, KanonPace *pace);

/*
 * A copy of the part that has the given types (whole components); base 0, id =
 * position in `model`.
 */
extern KanonStatus ilp_model_part(const IlpModel *model, const uint32_t *types, uint32_t ntypes,
								  IlpModel *out, uint32_t *renumber);

/* Connected components: part[i] for each type, in order of their first type. */
extern KanonStatus ilp_model_components(const IlpModel *model, uint32_t *part, uint32_t *nparts);

/* sum over the types of rows times cheapest option: a lower bound, base included. */
extern double ilp_model_floor(const IlpModel *model);

/* sum n_i c_i + base: nothing open. */
extern double ilp_model_ceiling(const IlpModel *model);

/* reduce.c: all reductions that need no bound, to a fixed point. */
extern KanonStatus ilp_reduce(IlpModel *model, IlpList *open, KanonPace *pace);

/* A bound rounded up to the grid of the costs. */
extern double ilp_round_up(const IlpModel *model, double bound);

/* The largest cost that counts as better than `cost`. */
extern double ilp_cutoff(const IlpModel *model, double cost);

/* The least cost that is above it. */
extern double ilp_beyond(const IlpModel *model, double cutoff);

#endif
