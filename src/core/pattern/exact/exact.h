/*
 * exact.h: exact methods
 */
#ifndef KANON_EXACT_H
#define KANON_EXACT_H

#include <math.h>

#include "privacy/rules.h"
#include "pattern/program/program_model.h"
#include "util/scratch.h"

/* ---- exact_ruled.c: methods that know k alone, under rules beyond k ---- */

/* Work beside mending the method's release of the plain problem (release/repair.c). */
#define RULED_STRICT 1u /* it asks kanon_class_allowed, or its instances are those of program_model.h */
#define RULED_SEARCH 2u /* the release is improved by ruin and recreate */
#define RULED_EXACT 4u  /* linear rules: small models are solved exactly */
#define RULED_ONCE 8u   /* pattern clustering: patterns are used up, and there is no rest */

/* Row types of all instances together, at most, of which a model is solved exactly (clustering.h tells). */
#define RULED_PAIRS ((size_t) 40 * 1000)

/*
 * A release that keeps problem->privacy (not NULL).  The bound is the one of the plain
 * problem, or of an exact model; never worse than greedy, but for RULED_ONCE.
 */
extern KanonStatus ruled_solve(const KanonProblem *problem, KanonSolve solve, unsigned how,
							   KanonRelease *release, KanonReport *report);

/* ---- groups.c: k = 2 as a partition of the rows into pairs and triples (groups.c) ---- */

/* Rounding: of whole costs; of reduced costs in GLPK, and in a sum. */
#define GROUPS_EPS 1e-7
#define GROUPS_GLPK 1e-9
#define GROUPS_FINE 1e-12

/* Rows that become a class: two or three, or one, where a row may stay alone. */
typedef struct Group
{
	uint32_t type[3]; /* [n] ascending, each as often as rows of it are there */
	uint32_t n;
	double cost; /* of all its rows, in units of the grid */
} Group;

/* The cost for a row to show nothing of the columns in which its group differs. */
typedef struct GroupCost
{
	KanonPattern differ;
	KanonPattern pattern; /* the cheapest that is allowed */
	double cost;
} GroupCost;

/* Sets of types with an odd number of rows: a group with an odd number of these goes out, or is of three. */
typedef struct OddSets
{
	size_t n;
	IlpList end; /* [n] into type: where each ends */
	IlpList type;
	size_t *in_start; /* [ntypes + 1] the same by type */
	uint32_t *in;     /* ascending */
	size_t in_room;
} OddSets;

/* The best partition found. */
typedef struct GroupsBest
{
	bool found;
	Group *chosen;
	int64_t *times; /* [n] how often it has each */
	size_t n;
	double cost;
} GroupsBest;

typedef struct Groups
{
	const KanonProblem *problem;
	KanonEnv *env;
	KanonScratch scratch;
	KanonPace pace;
	KanonInstances grid; /* of the costs; no instances */
	uint32_t ntypes;
	int64_t *rows;  /* [ntypes] no more of a type than could be of use, and as odd as all of them */
	uint32_t *code; /* [ntypes * ncolumns] by type */

	KanonMaskIndex *index;
	KanonPattern *patterns; /* all that are allowed, cheapest first; NULL: not asked for so far */
	size_t npatterns;
	GroupCost *known; /* [nslots] hash table; cost < 0: empty */
	size_t nknown;
	size_t nslots;

	/* columns of the linear program; the first ntypes are of one row */
	Group *group;
	size_t ngroups;
	size_t room;
	size_t *place; /* [nplaces] hash table of the groups; SIZE_MAX: empty */
	size_t nplaces;
	double *used; /* [used_room] the solution */
	size_t used_room;

	OddSets odd;

	/* the dual solution, and what is worked out of it */
	double *price;  /* [ntypes] of a row */
	double *weight; /* [weight_room] of an odd set, >= 0 */
	size_t weight_room;
	double *reach; /* [ntypes] price and weights of the sets that a type is in */

	/* pricing's own */
	IlpList near;       /* types j > i, by type i, that may be in a triple with i */
	size_t *near_start; /* [ntypes + 1] */
	uint32_t *mark;     /* [ntypes] */

	/*
	 * Many partitions cost the same, and linear programs go from one to the next
	 * without getting ahead: so at first a pair costs up to this more, at random, and
	 * a triple half of what its pairs do.  nudged: of all rows together at most.
	 */
	double nudge;
	double nudged;
	double fine;   /* of reduced costs */
	bool strict;   /* no row may stay alone */
	double bound;  /* proven, in units of the grid */
	double first;  /* the first one; -INFINITY: none yet */
	double cutoff; /* only what costs at most so much is of use */
	double base;   /* of the rows of a type that it need not know: what is above and below is without it */

	GroupsBest best;

	int64_t nodes;
	char text[120]; /* GLPK's last words */
} Groups;

/* groups.c */

/* Adds a group, if it is not there; *added counts. */
extern KanonStatus groups_add(Groups *g, const Group *group, size_t *added);

/* The groups that every program has: of one row, and of a type's own. */
extern KanonStatus groups_begin(Groups *g);

/* The solution at hand is of whole numbers: it is the best partition if it costs less. */
extern KanonStatus groups_take(Groups *g);

/* The largest cost that counts as better than `cost`, the least that is above a cutoff, a bound on the costs' grid. */
static inline double
groups_below(const Groups *g, double cost)
{
	return g->grid.integral ? cost - 1 + GROUPS_EPS : cost - 1e-9 * cost;
}

static inline double
groups_beyond(const Groups *g, double cutoff)
{
	return g->grid.integral ? floor(cutoff + 1e-6) + 1 : cutoff;
}

static inline double
groups_round_up(const Groups *g, double bound)
{
	return g->grid.integral ? ceil(bound - 1e-4) : bound;
}

/* kanon_solve_matching with a start (or NULL) and so much work at most (0: any), without rules beyond k. */
extern KanonStatus groups_solve_limited(const KanonProblem *problem, const IlpStart *start, uint64_t most,
										KanonRelease *release, KanonReport *report);

/* groups_price.c */

/* The cheapest pattern for rows that differ in these columns. */
extern KanonStatus groups_cost(Groups *g, KanonPattern differ, GroupCost *cost);

/* The columns in which the rows of a group differ. */
extern KanonPattern groups_differ(const Groups *g, const Group *group);

/* A group's extra cost (Groups.nudge). */
extern double groups_nudge(const Groups *g, const Group *group);

/*
 * Adds groups whose reduced cost at the prices is below 0, the most useful of each
 * type; with a gap above 0 all of those up to the gap, KANON_TOO_LARGE if they
 * are too many.
 */
extern KanonStatus groups_price(Groups *g, double gap, size_t *added);

/* The odd sets that hold an odd number of a group's rows: how many, into ids (room for all of them). */
extern int groups_odd_of(const Groups *g, const Group *group, int *ids);

/* groups.c: odd sets that the solution at hand violates, added; how many in *added. */
extern KanonStatus groups_odd_find(Groups *g, size_t *added);

/* groups_lp.c: the best partition, or what is known of it when time is up. */
extern KanonStatus groups_program(Groups *g);

/* ---- ilp.c: solutions of least cost, with a proof ---- */

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

/* ilp.c: kanon_solve_ilp with at most max_nodes nodes (0: any) and a start (or NULL). */
extern KanonStatus ilp_solve_limited(const KanonProblem *problem, const IlpStart *start,
									 KanonRelease *release, KanonReport *report, int64_t max_nodes);

/*
 * ilp_privacy.c: what costs less than *best under privacy rules that are linear takes its place; *bound is raised,
 * to INFINITY when there is no release at all.  In so many nodes at most (0: any).  instances: of the
 * problem's row types, all (but dominated ones where the rules are monotone).  once: pattern clustering,
 * with each pattern in as many classes as it is listed, fully suppressed rows a class as well.
 * KANON_UNSUPPORTED: other rules, which it does not take.
 */
extern bool ilp_privacy_takes(const KanonProblem *problem);
extern KanonStatus ilp_solve_privacy(const KanonProblem *problem, const KanonInstances *instances, bool once,
									 int64_t max_nodes, IlpResult *best, double *bound, int64_t *nodes,
									 KanonReport *report);

/*
 * ---- ilp_privacy.c: the exact method's model under privacy rules that are linear:
 * ilp_privacy_model.c builds it, ilp_privacy.c solves it.
 */

#ifdef HAVE_GLPK

/* Entries of the matrix, at most. */
#define ILP_PRIVACY_ENTRIES ((size_t) 20 * 1000 * 1000)

/* A row or column of the model. */
typedef struct IlpLine
{
	double low;
	double high;
	double cost; /* of a column */
	bool whole;
} IlpLine;

typedef struct IlpLines
{
	IlpLine *v; /* from 1 on */
	size_t n;
	size_t room;
} IlpLines;

typedef struct IlpPrivacy
{
	LinearProgram lp;
	const KanonProblem *problem;
	const KanonInstances *instances;
	KanonPace *pace;
	bool once; /* each pattern is in as many classes as it is listed */
	KanonScratch memory;
	IlpLines rows;
	IlpLines columns;
	int *entry_row; /* from 1 on */
	int *entry_column;
	double *entry;
	size_t nentries;
	size_t entries_room;
	int first_x; /* column of the first pair; pairs as in instances, then the rest */

	/* members of an instance at hand, by what a rule tells apart */
	const uint32_t *types;
	int x; /* column of the first */
	uint32_t n;
	uint32_t *order; /* [ntypes] places among the types */
	uint32_t *scratch;
	uint32_t *all; /* [ntypes] every type */

	double cutoff;     /* solutions above do not count */
	int64_t *solution; /* [pairs] of the best solution */
	bool found;
	bool complete;
	double root; /* the bound before branching */
	double bound;
	int64_t nodes;
	int64_t max_nodes; /* 0: any number */
	bool cancelled;
	bool coarse; /* classes of many rows may have a larger share than the model knows: it proves nothing */
} IlpPrivacy;

/*
 * Rows, columns and entries, from problem, instances, cutoff and the scratch arrays.
 * no_memory, cancelled or too many entries: it is not complete.
 */
extern void ilp_privacy_build(IlpPrivacy *model);

#endif /* HAVE_GLPK */

#endif
