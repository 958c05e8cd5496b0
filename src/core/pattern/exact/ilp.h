/*
 * ilp.h: solutions of least cost, with a proof.
 */
#ifndef KANON_ILP_H
#define KANON_ILP_H

#include "pattern/program/flow.h"

typedef void (*IlpTrace)(int depth, const IlpModel *model, double cost, double bound, double cutoff);

typedef struct IlpPlan
{
	KanonPace *pace;
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

/* ilp.c: kanon_solve_ilp with at most max_nodes nodes (0: any), a start (or NULL) and a trace. */
extern KanonStatus ilp_solve_limited(const KanonProblem *problem, const IlpStart *start,
									 KanonRelease *release, KanonReport *report, int64_t max_nodes,
									 IlpTrace trace);

/*
 * ilp_privacy.c: what costs less than *best under privacy rules that are linear takes its place; *bound is raised,
 * to INFINITY when there is no release at all.  In so many nodes at most (0: any).  instances: of the
 * problem's row types, all (but dominated ones where the rules are monotone).
 * KANON_UNSUPPORTED: other rules.
 */
extern KanonStatus ilp_solve_privacy(const KanonProblem *problem, const KanonInstances *instances,
									 int64_t max_nodes, IlpResult *best, double *bound, int64_t *nodes,
									 KanonReport *report);

#endif
