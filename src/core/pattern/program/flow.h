/*
 * flow.h: the cheapest assignment of rows to classes, and releases made of it.
 */
#ifndef KANON_FLOW_H
#define KANON_FLOW_H

#include "pattern/program/program_model.h"

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
									 KanonFlow **flows, size_t *nflows, KanonPace *pace);

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
 * The best solution found next to a solution u[nf] of the linear relaxation; *cost
 * INFINITY: none.  Its instances (positions in the model) in *open, empty before.
 */
extern KanonStatus ilp_round(const IlpModel *model, const double *u, double *cost, IlpList *open,
							 KanonPace *pace);

/* offer.c: a solver's start (greedy) and end (the better release). */
typedef struct IlpResult
{
	KanonRelease release;
	double cost; /* in units; rows left out are priced as fully suppressed */
} IlpResult;

/*
 * What the exact and the anytime solver begin with, for who calls both: all closed
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
