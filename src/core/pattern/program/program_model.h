/*
 * program_model.h: the integer program shared by the exact and the anytime solver.
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
#ifndef KANON_PROGRAM_MODEL_H
#define KANON_PROGRAM_MODEL_H

#include "pattern/program/instances.h"
#include "util/number.h"
#include "util/scratch.h"

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
	 * Of the instances f with group[f] == j at most limit[j] are open (pattern clustering): for the
	 * same bound.  group NULL: as many as there are.
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

/*
 * Some instances on some types only (both ascending), with other numbers of
 * rows and fallbacks; base 0, id = position in `model`.
 */
extern KanonStatus ilp_model_within(const IlpModel *model, const uint32_t *types, uint32_t ntypes,
									const int64_t *n, const double *c, const IlpList *instances,
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
