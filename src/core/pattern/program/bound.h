/*
 * bound.h: bounds of that program
 */
#ifndef KANON_BOUND_H
#define KANON_BOUND_H

#include "pattern/program/program_model.h"
#include "util/scratch.h"

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

#endif
