/*
 * program_model.h: instances, the program that chooses among them, its bounds, and branch and cut
 */
#ifndef KANON_PROGRAM_MODEL_H
#define KANON_PROGRAM_MODEL_H

#include "kanon.h"
#include "util/linear_program.h"
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

/* ---- bound.c: the lower bound: prices by Lagrangian relaxation, and what they rule out ---- */

/* lagrange.c */
typedef struct IlpPrices
{
	double *y;    /* [m] price of a row of each type */
	double bound; /* proven, base included */
	double *g;    /* [nf] g_f(y), a lower estimate where positive */
	int64_t steps;
	double lambda; /* by which steps were scaled at last, and are at first; 0: 1 */
} IlpPrices;

/*
 * Subgradient steps from prices->y (when set) until the gap to `upper` is
 * closed, or `steps` steps are done, or progress ends.
 */
extern KanonStatus ilp_lagrange(const IlpModel *model, double upper, int64_t steps, IlpPrices *prices,
								KanonPace *pace);

/*
 * The scale of the first steps where they go on from prices in a box around them: those were good
 * already.
 */
extern double ilp_steps_on(const IlpPrices *prices);
extern void ilp_prices_free(KanonEnv *env, IlpPrices *prices);

/* The bound and g at the prices as they are. */
extern KanonStatus ilp_price(const IlpModel *model, IlpPrices *prices, KanonPace *pace);

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

/* bound.c: prices that stay near what they are, and what can matter then */
typedef struct IlpBox
{
	double *low;  /* [m] */
	double *high; /* [m] */
} IlpBox;

extern void ilp_box_free(KanonEnv *env, IlpBox *box);

/* The prices within `reach` of y, up to c. */
extern KanonStatus ilp_box_around(const IlpModel *model, const double *y, double reach, IlpBox *box);

/*
 * The instances that open at some prices in the box, each with the types that
 * it can take then: at all prices in the box it has the same L.  id = position in
 * `model`.  Has no transpose.
 */
extern KanonStatus ilp_box_model(const IlpModel *model, const IlpBox *box, IlpModel *out, KanonPace *pace);

/*
 * The types of one instance of cost w that can be among its dearest so many `rows` (k at least: it can take
 * k at some prices in the box), and their number, 0 when it never opens.  cand: [ntypes] scratch.
 */
extern uint32_t ilp_box_sift(const IlpModel *model, const IlpBox *box, double w, int64_t rows,
							 const uint32_t *types, uint32_t ntypes, IlpCandidate *cand, uint32_t *kept);

/* As ilp_lagrange, with prices (which must be set) in the box. */
extern KanonStatus ilp_lagrange_within(const IlpModel *model, const IlpBox *box, double upper, int64_t steps,
									   IlpPrices *prices, KanonPace *pace);

/* bound.c */

/*
 * The best lower bound and prices that so many steps lead to; bound stays as it
 * is when that is better.
 */
extern KanonStatus ilp_bound(IlpModel *model, double upper, int64_t steps, IlpPrices *prices,
							 KanonPace *pace);

/*
 * Reduced-cost fixing: drops the instances that no solution of cost at most
 * `cutoff` uses.  Returns the number dropped in *dropped.
 */
extern KanonStatus ilp_fix(IlpModel *model, IlpPrices *prices, double cutoff, uint32_t *dropped,
						   KanonPace *pace);

/*
 * A copy of the model without the instances that no solution of cost at most
 * `cutoff` uses, reduced; id = position in `model`, also in *fixed.
 */
extern KanonStatus ilp_fixed_copy(const IlpModel *model, const IlpPrices *prices, double cutoff,
								  IlpModel *copy, IlpList *fixed, KanonPace *pace);

/* ---- cutting_planes.c: inequalities that a fractional solution violates ---- */

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
								 KanonPace *pace);
extern void ilp_cuts_free(KanonEnv *env, IlpCuts *cuts);

/* ---- flow.c: the cheapest assignment of rows to classes, and releases made of it ---- */

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

/*
 * The cheapest assignment to the classes open (all of which it fills); flows
 * count classes in that order, then each type's fallback.
 */
extern KanonStatus ilp_assign(const IlpModel *model, const IlpList *open, double *cost, KanonFlow **flows,
							  size_t *nflows, KanonPace *pace);

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
									  double *cost, KanonPace *pace);

/*
 * The release in which so many rows of each pair (of an instance and a row type, as instances have them, then each
 * row type fully suppressed) are together.  suppressed: those are a class, else left out.
 */
extern KanonStatus kanon_pairs_release(const KanonProblem *problem, const KanonInstances *instances,
									   const int64_t *rows, bool suppressed, KanonRelease *release);

/* offer.c: a method's start (greedy) and end (the better release). */
typedef struct IlpResult
{
	KanonRelease release;
	double cost; /* in units; rows left out are priced as fully suppressed */
} IlpResult;

/*
 * The beginning of the exact and the anytime method, for callers of both: all closed
 * instances (start NULL: they are not there, all but the grid) and greedy's release.
 */
typedef struct IlpStart
{
	KanonInstances instances;
	IlpResult greedy;
} IlpStart;

/* Greedy's release, or a copy of the start's (which may be NULL); cost INFINITY when it has none. */
extern KanonStatus ilp_greedy(const KanonProblem *problem, const KanonInstances *grid, const IlpStart *start,
							  IlpResult *result, KanonReport *report);

/*
 * The cheaper of both, at equal cost the more useful, takes the place of *result; mine's release is used up.
 */
extern KanonStatus ilp_keep(const KanonProblem *problem, IlpResult *mine, IlpResult *result);

/*
 * The release that uses these instances, when it is better than *result, takes
 * its place.  rest: what may be fully suppressed.  KANON_INFEASIBLE is not
 * returned: *result stays.
 */
extern KanonStatus ilp_offer(const KanonProblem *problem, const KanonInstances *instances,
							 const IlpList *used, IlpRest rest, IlpResult *result, KanonPace *pace);

/* The same with the best that the problem allows to do with the rest. */
extern KanonStatus ilp_offer_all(const KanonProblem *problem, const KanonInstances *instances,
								 const IlpList *used, IlpResult *result, KanonPace *pace);

/* Finishes: *release, and cost, lower_bound, proven of the report. */
extern KanonStatus ilp_conclude(const KanonProblem *problem, const KanonInstances *grid, IlpResult *result,
								double bound, KanonRelease *release, KanonReport *report);

/* ---- glpk.c: the integer program by GLPK, or KANON_UNAVAILABLE without it ---- */

typedef struct IlpSettings
{
	bool cuts;          /* those of cutting_planes.c, and Gomory's */
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
							IlpOutcome *outcome, IlpList *open, KanonPace *pace, KanonReport *report);

/* ---- glpk_run: one run of branch and cut ---- */

#ifdef HAVE_GLPK

typedef struct IlpRun
{
	LinearProgram lp;
	const IlpModel *model;
	const IlpSettings *settings;
	IlpOutcome *outcome;
	KanonPace *pace;
	bool full;          /* node limit */
	bool large;         /* many rows: nodes are solved where they can be cancelled */
	KanonStatus status; /* of the searches within */
	double most_rows;   /* of a type */
	int nz;             /* the column that feigns objectives */
	int *u_col;         /* [nf] */
	int *x_col;         /* [pairs]; 0: its instance has one column only */
	double *x;          /* [columns + 1] */
	bool *best;         /* [nf] used in the best solution */
	double target;      /* solutions above this do not count */
	double root;        /* the bound before branching */
	double feigned;     /* objective that GLPK believes to have; INFINITY: none */
	int iterations;     /* of the simplex method, counted as work */
	int ncols;
	int *ind; /* [columns + 1] a row or column of the matrix */
	double *val;
	IlpCuts cuts;
	double *u;     /* [nf] the relaxation's solution */
	double *share; /* [pairs] */
	bool *within;  /* [m] in the set of a cut */
	int node;      /* where cuts were added last, */
	double raised; /* bound that they raised noticeably, */
	int idle;      /* and rounds from then on */
} IlpRun;

/* The model's rows and columns, without those that are added where they are violated. */
extern KanonStatus ilp_glpk_load(IlpRun *run);

/* Adds the rows that limit how many instances of a group are open. */
extern void ilp_glpk_load_groups(IlpRun *run);

/*
 * A basis near the one sought: what a good solution uses is at its upper bound,
 * each row of the table in its cheapest class.
 */
extern void ilp_glpk_load_start(IlpRun *run, const IlpList *start);

/*
 * Adds rows that the solution at hand, of the given bound, violates: links, then
 * cuts, until these no longer raise the bound.
 */
extern bool ilp_glpk_tighten(IlpRun *run, double bound);

#endif /* HAVE_GLPK */

#endif
