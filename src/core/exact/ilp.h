/*
 * ilp.h: the model shared by the exact and the anytime solver.
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
#ifndef KANON_ILP_H
#define KANON_ILP_H

#include "exact/instances.h"
#include "util/internal.h"

#define ILP_EPS 1e-6

/* Shadow prices and the like use a tolerance; this is one on sums of costs. */
typedef struct IlpModel
{
	KanonEnv *env;
	int64_t k;
	bool integral;  /* costs are whole */
	double base;    /* cost decided outside of the arrays below */
	uint32_t m;     /* row types, those with equal options merged */
	int64_t *n;     /* [m] rows */
	double *c;      /* [m] fallback cost of a row */
	uint32_t nf;    /* instances */
	uint32_t *id;   /* [nf] position in KanonInstances */
	double *w;      /* [nf] cost of a row */
	size_t *start;  /* [nf + 1] into type */
	uint32_t *type; /* ascending within an instance */
	/* the same by type, made by ilp_model_transpose */
	size_t *opt_start; /* [m + 1] into opt */
	uint32_t *opt;     /* instances, cheapest first */
} IlpModel;

/* A growing list of numbers. */
typedef struct IlpList
{
	uint32_t *v;
	size_t n;
	size_t room;
} IlpList;

extern bool ilp_list_add(KanonEnv *env, IlpList *list, uint32_t value);

/* ilp_model.c */

/* with_rest: the fully suppressed rows are an instance, too: id instances->n. */
extern KanonStatus ilp_model_build(const KanonProblem *problem, const KanonInstances *instances,
								   bool with_rest, KanonWatch *watch, IlpModel *model);
extern void ilp_model_free(IlpModel *model);
extern KanonStatus ilp_model_transpose(IlpModel *model, KanonWatch *watch);

/*
 * Takes out the instances with dead[f]; types left without options go to base,
 * types with equal options (and c) are merged.  The transpose is dropped.
 */
extern KanonStatus ilp_model_compact(IlpModel *model, const bool *dead, KanonWatch *watch);

/* As that with none dead; map: [m] new numbers of the types, UINT32_MAX: gone. */
extern KanonStatus ilp_model_merge(IlpModel *model, uint32_t *map, KanonWatch *watch);

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

/* ilp_reduce.c: all reductions that need no bound, to a fixed point. */
extern KanonStatus ilp_reduce(IlpModel *model, IlpList *open, KanonWatch *watch);

/* A bound rounded up to the grid of the costs. */
extern double ilp_round_up(const IlpModel *model, double bound);

/* The largest cost that counts as better than `cost`. */
extern double ilp_cutoff(const IlpModel *model, double cost);

/* The least cost that is above it. */
extern double ilp_beyond(const IlpModel *model, double cutoff);

/* ilp_lagrange.c */
typedef struct IlpPrices
{
	double *y;    /* [m] price of a row of each type */
	double bound; /* proven, base included */
	double *g;    /* [nf] g_f(y), a lower estimate where positive */
	int64_t steps;
} IlpPrices;

/*
 * Subgradient steps from prices->y (when set) until the gap to `upper` is
 * closed, or `steps` steps are done, or progress ends.
 */
extern KanonStatus ilp_lagrange(const IlpModel *model, double upper, int64_t steps, IlpPrices *prices,
								KanonWatch *watch);
extern void ilp_prices_free(KanonEnv *env, IlpPrices *prices);

/* The bound and g at the prices as they are. */
extern KanonStatus ilp_price(const IlpModel *model, IlpPrices *prices, KanonWatch *watch);

typedef struct IlpCandidate
{
	double y;
	uint32_t i;
} IlpCandidate;

/*
 * The `need` rows of highest price among the n candidates, by quickselect: they
 * come first.  Returns the sum of w - y over them, and takes them off slack when
 * that is given.
 */
extern double ilp_take_dearest(const IlpModel *model, IlpCandidate *c, size_t n, int64_t need, double w,
							   double *slack);

/* ilp_box.c: prices that stay near what they are, and what can matter then */
typedef struct IlpBox
{
	double *low;  /* [m] */
	double *high; /* [m] */
} IlpBox;

extern void ilp_box_free(KanonEnv *env, IlpBox *box);

/*
 * The prices within `reach` of y, up to c; those at most `reach` below `cap` may rise
 * to c at once.
 */
extern KanonStatus ilp_box_around(const IlpModel *model, const double *y, double reach, double cap,
								  IlpBox *box);

/*
 * The instances that open at some prices in the box, each with the types that
 * it can take then: at all prices in the box it has the same L.  id = position in
 * `model`.  Has no transpose.
 */
extern KanonStatus ilp_box_model(const IlpModel *model, const IlpBox *box, IlpModel *out, KanonWatch *watch);

/*
 * The types of one instance of cost w that it can take at some prices in the box, and
 * their number, 0 when it never opens.  cand: [ntypes] scratch.
 */
extern uint32_t ilp_box_sift(const IlpModel *model, const IlpBox *box, double w, const uint32_t *types,
							 uint32_t ntypes, IlpCandidate *cand, uint32_t *kept);

/* Appends instances, of id UINT32_MAX; their types are those of the model. */
extern KanonStatus ilp_box_append(IlpModel *model, const KanonInstances *instances);

/* As ilp_lagrange, with prices (which must be set) in the box. */
extern KanonStatus ilp_lagrange_within(const IlpModel *model, const IlpBox *box, double upper, int64_t steps,
									   IlpPrices *prices, KanonWatch *watch);

/* ilp_bound.c */

/*
 * Where the model lacks the instances above a cost: these, as far as prices in a
 * box can open them.  map: types of the problem to types of the model, UINT32_MAX
 * where no instance of the model takes them.
 */
typedef struct IlpMissing
{
	const KanonProblem *problem;
	const KanonInstances *instances;
	const uint32_t *map;
} IlpMissing;

/*
 * The best lower bound and prices that so many steps lead to; bound stays as it
 * is when that is better.  missing: NULL when the model is whole.
 */
extern KanonStatus ilp_bound(IlpModel *model, const IlpMissing *missing, double upper, int64_t steps,
							 IlpPrices *prices, KanonWatch *watch);

/*
 * Reduced-cost fixing: drops the instances that no solution of cost at most
 * `cutoff` uses.  Returns the number dropped in *dropped.
 */
extern KanonStatus ilp_fix(IlpModel *model, IlpPrices *prices, double cutoff, uint32_t *dropped,
						   KanonWatch *watch);

/*
 * A copy of the model without the instances that no solution of cost at most
 * `cutoff` uses, reduced; id = position in `model`, also in *fixed.
 */
extern KanonStatus ilp_fixed_copy(const IlpModel *model, const IlpPrices *prices, double cutoff,
								  IlpModel *copy, IlpList *fixed, KanonWatch *watch);

/* improve_search.c */

/*
 * Ruin and recreate: that much work (kanon_watch steps), warm from the classes in
 * `start` (NULL: hot from none), then `parts` work on exactly solved parts; ends
 * early at a cost of at most `target`.  *best_open lists the instances (positions in
 * the model, ascending) of the best solution, *best its cost with base.  g: reduced costs to go by, or NULL.  The model must be transposed.
 */
extern KanonStatus ilp_search(const IlpModel *model, uint64_t seed, double work, double parts, double target,
							  const double *g, const IlpList *start, double *best, IlpList *best_open,
							  KanonWatch *watch);

/* ilp_cuts.c */

/*
 * sum over the instances f of missing * u_f - x_f(outside the types) is at most
 * missing * classes, in every solution with whole u.
 */
typedef struct IlpCut
{
	size_t start; /* into IlpCuts.number: types, then instances */
	uint32_t ntypes;
	uint32_t ninstances;
	int64_t rows; /* of the types */
	int64_t missing;
	int64_t classes;
} IlpCut;

typedef struct IlpCuts
{
	size_t n;
	size_t room;
	IlpCut *cut;
	IlpList number;
} IlpCuts;

/* Cuts that a fractional solution violates: u[nf], x[pairs]. */
extern KanonStatus ilp_cuts_find(const IlpModel *model, const double *u, const double *x, IlpCuts *cuts,
								 KanonWatch *watch);
extern void ilp_cuts_free(KanonEnv *env, IlpCuts *cuts);

/* ilp_round.c */

/*
 * The best solution found next to a solution u[nf] of the linear relaxation; *cost
 * INFINITY: none.  Its instances (positions in the model) in *open, empty before.
 */
extern KanonStatus ilp_round(const IlpModel *model, const double *u, double *cost, IlpList *open,
							 KanonWatch *watch);

/* ilp_glpk.c */
typedef struct IlpSettings
{
	bool cuts;          /* those of ilp_cuts.c, and Gomory's */
	bool rounding_cuts; /* GLPK's, too */
	int branching;      /* 0: pseudo-costs, 1: most fractional, 2: Driebeck-Tomlin */
	int64_t max_nodes;  /* 0: no limit */
	double gap;
	bool free_fallback;   /* false: every row must be in a class */
	const IlpList *start; /* instances that a good solution uses; NULL: none known */
	/* of the instances f with group[f] == j at most limit[j] are open; may be NULL */
	const uint32_t *group;
	const uint32_t *limit;
	size_t ngroups;
} IlpSettings;

typedef struct IlpOutcome
{
	bool found;    /* a solution of at most cutoff */
	bool complete; /* searched through: `found` is optimal, or none exists */
	double cost;
	double bound;
	int64_t nodes;
} IlpOutcome;

/*
 * Least-cost solution of the model of cost at most `cutoff`; its instances
 * (positions in the model) in *open.
 */
extern KanonStatus ilp_glpk(const IlpModel *model, double cutoff, const IlpSettings *settings,
							IlpOutcome *outcome, IlpList *open, KanonWatch *watch, KanonReport *report);

/* ilp_solve.c */
typedef void (*IlpTrace)(int depth, const IlpModel *model, double cost, double bound, double cutoff);

typedef struct IlpPlan
{
	KanonWatch *watch;
	KanonReport *report;
	uint64_t seed;
	double effort;     /* of the searches within */
	double gap;        /* good enough, relative */
	int64_t max_nodes; /* of branch and bound; 0: any number */
	int64_t nodes;     /* out: done */
	int64_t solves;    /* out: calls of GLPK */
	IlpTrace trace;    /* tells a benchmark what goes on; may be NULL */
} IlpPlan;

typedef struct IlpAnswer
{
	double cost;
	double bound;
	IlpList open; /* instances used, by their id in the model */
} IlpAnswer;

/*
 * A solution of least cost.  Only those of at most `cutoff` are searched for:
 * when there is none, answer->bound is above it and answer some solution.  The
 * model is used up.
 */
extern KanonStatus ilp_solve(IlpModel *model, double cutoff, IlpPlan *plan, IlpAnswer *answer);

/* flow.c */

/*
 * The cheapest assignment of all rows to the given classes: class f takes the
 * types type[start[f]..start[f+1]) at cost[f] per row and needs `need[f]` rows
 * (0: none).  Every type must have a class that takes it, or KANON_INFEASIBLE;
 * also when some class cannot be filled.  Flows into *flows, by class then type.
 */
typedef struct IlpClasses
{
	uint32_t ntypes;
	const int64_t *rows; /* [ntypes] */
	uint32_t n;
	size_t *start; /* [n + 1] */
	uint32_t *type;
	double *cost;
	int64_t *need;
} IlpClasses;

extern KanonStatus kanon_flow_assign(KanonEnv *env, const IlpClasses *classes, double *cost,
									 KanonFlow **flows, size_t *nflows, KanonWatch *watch);

/*
 * The release that uses the instances listed, and suppresses fully what they
 * do not take (see IlpRest).
 */
typedef enum IlpRest
{
	ILP_REST_ANY,   /* any number of fully suppressed rows */
	ILP_REST_CLASS, /* at least k */
	ILP_REST_NONE   /* none */
} IlpRest;

extern KanonStatus kanon_flow_release(const KanonProblem *problem, const KanonInstances *instances,
									  const uint32_t *used, size_t nused, IlpRest rest, KanonRelease *release,
									  double *cost, KanonWatch *watch);

/* ilp_release.c: a solver's start (greedy) and end (the better release). */
typedef struct IlpResult
{
	KanonRelease release;
	double cost; /* in units; rows left out are priced as fully suppressed */
} IlpResult;

/* Greedy's release; cost INFINITY when it has none. */
extern KanonStatus ilp_greedy(const KanonProblem *problem, const KanonInstances *grid, IlpResult *result,
							  KanonReport *report);

/*
 * The release that uses these instances, when it is better than *result, takes
 * its place.  rest: what may be fully suppressed.  KANON_INFEASIBLE is not
 * returned: *result stays.
 */
extern KanonStatus ilp_offer(const KanonProblem *problem, const KanonInstances *instances,
							 const IlpList *used, IlpRest rest, IlpResult *result, KanonWatch *watch);

/* Fully suppressed rows of a result, those left out included. */
extern int64_t ilp_rest_rows(const KanonProblem *problem, const IlpResult *result);

/* Finishes: *release, and cost, lower_bound, proven of the report. */
extern KanonStatus ilp_conclude(const KanonProblem *problem, const KanonInstances *grid, IlpResult *result,
								double bound, KanonRelease *release, KanonReport *report);

/* ilp.c: kanon_solve_ilp with at most max_nodes nodes (0: any) and a trace. */
extern KanonStatus ilp_solve_limited(const KanonProblem *problem, KanonRelease *release, KanonReport *report,
									 int64_t max_nodes, IlpTrace trace);

/* ilp_privacy.c: the same under privacy rules, which are not NULL. */
extern KanonStatus ilp_solve_privacy(const KanonProblem *problem, KanonRelease *release, KanonReport *report);

/* improve.c: kanon_solve_improve without the exact solver before it, with a trace. */
extern KanonStatus improve_traced(const KanonProblem *problem, KanonRelease *release, KanonReport *report,
								  IlpTrace trace);

#endif
