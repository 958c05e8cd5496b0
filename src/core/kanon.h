/*
 * kanon.h: the core library's public header.
 *
 * The core thinks about row types and never sees a table: plain C11, no PostgreSQL
 * header, no SQL, no I/O. The program that links it passes a KanonEnv with its memory,
 * clock and interrupt; every method has the shape
 *
 *     KanonStatus solve(const KanonProblem *, KanonRelease *, KanonReport *)
 *
 * Model and words: Bredereck, Nichterlein, Niedermeier, "Pattern-Guided
 * k-Anonymity", Algorithms 6(4), 2013.
 */
#ifndef KANON_H
#define KANON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pattern.h"

#if UINTPTR_MAX < UINT64_MAX || !defined(__SIZEOF_INT128__)
#error "kanon needs a 64-bit machine"
#endif

/* Row types, classes and a column's values are numbered with 29 bits (KanonCell). */
#define KANON_MAX_TYPES UINT32_C(0x1fffffff)

/* A flow to this class leaves its rows out of the release. */
#define KANON_DROPPED UINT32_MAX

typedef enum KanonStatus
{
	KANON_OK = 0,
	KANON_CANCELLED,      /* env->poll asked to stop */
	KANON_NO_MEMORY,      /* env->alloc refused; env->refused has the size */
	KANON_INFEASIBLE,     /* proven: no release fulfils the rules */
	KANON_NOT_FOUND,      /* a heuristic found none; one may exist */
	KANON_TOO_LARGE,      /* beyond the method's limit; report says which */
	KANON_UNAVAILABLE,    /* built without the library it needs */
	KANON_UNSUPPORTED,    /* the method does not take one of the privacy rules */
	KANON_RESIDUAL,       /* rows are left over and residual is ERROR (FILL: the table has too few) */
	KANON_REST_FORBIDDEN, /* rows are left over which privacy rules forbid to publish as such */
	KANON_BROKEN          /* a method's release failed the core's own check */
} KanonStatus;

/* How far a method is. */
typedef struct KanonProgress
{
	const char *phase;  /* its name */
	double share;       /* of it done, in [0,1]; 0: not known */
	int64_t rows_left;  /* to place; -1: not known */
	bool bounded;       /* the next two are known */
	double cost;        /* of the best release so far */
	double lower_bound; /* of every release */
} KanonProgress;

/* Processes of a team, the caller among them. */
#define KANON_MAX_MEMBERS 16

/*
 * How the host lets several processes work together.  open gives memory that all of them
 * see (NULL: there is none, work alone) and says in *members how many there are, the caller
 * (number 0) among them, of at most `most`.  From then on each of the others waits for start, does its share and
 * says that it is done; wait returns when all are, or false when that will not happen.  The host takes the team back.
 * open may end the call by a jump past the core: nothing of a linked library is held then.  speedy alone has a team:
 * two processes take 0.55 of the time of flash on three million row types.
 */
typedef struct KanonTeam
{
	void *arg;
	int most;
	void *(*open)(void *arg, size_t size, int *members);
	void (*start)(void *arg);
	bool (*wait)(void *arg);
} KanonTeam;

/*
 * The services that the core needs of its host. alloc returns NULL when memory or the
 * budget is spent; it never longjmps. poll is called at least every few milliseconds
 * and returns true when the method is to stop; it also carries progress.  No callback
 * is called from inside a foreign library in a way that could unwind it.
 */
typedef struct KanonEnv
{
	void *arg;
	void *(*alloc)(void *arg, size_t size);
	void *(*realloc)(void *arg, void *ptr, size_t size); /* ptr may be NULL */
	void (*free)(void *arg, void *ptr);                  /* ptr may be NULL */
	bool (*poll)(void *arg, const KanonProgress *progress);
	double (*now)(void *arg); /* seconds, monotonic */
	size_t refused;           /* out: bytes of the request that failed */
	size_t foreign;           /* bytes a linked library may take beside alloc; 0: no limit */
} KanonEnv;

typedef enum KanonOrder
{
	KANON_ORDER_GIVEN,  /* equal cost: as listed; without a list from the left, keep before suppress */
	KANON_ORDER_DOMAIN, /* equal cost: larger product of the suppressed columns'
						 * distinct counts first, then from the left */
	KANON_ORDER_SMALL,  /* smaller product first, */
	KANON_ORDER_FINE,   /* fewer quasi-identifiers suppressed whole first, */
	KANON_ORDER_DRAWN   /* as the problem's seed says: for greedy alone */
} KanonOrder;

typedef enum KanonRuleKind
{
	KANON_TOGETHER,    /* all of `columns` suppressed or none */
	KANON_AT_MOST_ONE, /* at most one of `columns` suppressed */
	KANON_IMPLIES      /* one of `columns` suppressed: all of `implied` too */
} KanonRuleKind;

typedef struct KanonRule
{
	KanonRuleKind kind;
	KanonPattern columns;
	KanonPattern implied;
} KanonRule;

/*
 * The allowed patterns: a list (list != NULL), or every combination that fulfils the
 * rules (no rules: every combination), never written out.  The all-suppressed pattern
 * is always allowed and comes last, listed or not, whatever the rules say.  A pattern
 * may not suppress a level (KanonColumn) without those below it, even if it is listed.
 */
typedef struct KanonMask
{
	const KanonPattern *list;
	size_t nlist;
	KanonOrder order;
	KanonPattern never;  /* columns that stay */
	KanonPattern always; /* columns that go */
	int max_suppressed;  /* quasi-identifiers suppressed whole, at most; negative: no limit */
	double max_cost;     /* cost at most; INFINITY: no limit */
	const KanonRule *rules;
	int nrules;
} KanonMask;

/*
 * A column: a quasi-identifier, or a level of one.  A quasi-identifier with a
 * hierarchy is as many columns, one after the other, as it has levels below
 * suppression: its own values (level 0), what these generalize to (level 1), and
 * so on; rows that agree in a level agree in the next.  A pattern suppresses
 * the levels from below: column c + 1 of level > 0 only together with column c,
 * which every mask says by itself.  A pattern thus generalizes to level r when
 * it suppresses r of them, and suppresses the quasi-identifier when it
 * suppresses them all; nothing else in the core needs to know that a column is
 * a level, but for what a release has lost.
 *
 * Codes 0 .. distinct-1 ascend in the type's own order.
 */
typedef struct KanonColumn
{
	const uint32_t *code; /* [ntypes] */
	uint32_t distinct;    /* number of distinct values, NULL among them */
	double weight;        /* cost of suppressing one cell (over the level before), >= 0, finite */
	const double *number; /* [distinct] numerical (NaN: NULL), else NULL; of a level: areas' shares */
	int level;            /* of its quasi-identifier; 0: the values themselves */
	bool has_null;        /* its last code is NULL */
} KanonColumn;

/* The fate of the rows (fewer than k) that no class takes. */
typedef enum KanonResidual
{
	KANON_RESIDUAL_SUPPRESS, /* published fully suppressed, though fewer than k */
	KANON_RESIDUAL_DROP,     /* left out */
	KANON_RESIDUAL_ERROR,    /* KANON_RESIDUAL (an exact method avoids it if it can) */
	KANON_RESIDUAL_FILL      /* fully suppressed are none, or so many that they may be a class */
} KanonResidual;

typedef struct KanonProblem
{
	KanonEnv *env;
	int ncolumns;               /* 1 .. KANON_MAX_COLUMNS, of at most KANON_MAX_QIS quasi-identifiers */
	const KanonColumn *columns; /* [ncolumns], most important first; the first is of level 0 */
	uint32_t ntypes;            /* row types, pairwise different (with extra), in ascending order of codes */
	const int64_t *rows;        /* [ntypes], > 0: rows of each type; their sum fits, too */
	int64_t k;                  /* least rows of a class */

	/*
	 * Rules beyond k (privacy.h), or NULL: what they look at are further columns
	 * by which row types differ, sensitive values and persons.
	 */
	struct KanonPrivacy *privacy;
	int nextra;               /* <= 64 */
	const KanonColumn *extra; /* [nextra] level 0, no weight; every code occurs */

	/*
	 * Without rules, of a problem that has some: could rows of these types, k or more, be a class
	 * of that?  Row types that could not are no class here either (release/repair.c).  NULL: all
	 * could.
	 */
	bool (*viable)(const struct KanonProblem *problem, const uint32_t *types, size_t ntypes);
	void *viable_arg;

	/* Rules about populations (population.h): full-domain, sub-trees and strict Mondrian take all, greedy k_map. */
	int npopulations;
	const struct KanonPopulation *populations; /* [npopulations] */
	int64_t pinned; /* suppressed rows of the table beside these, which rules about populations count */
	bool k_map;     /* k is asked of a population: a class may have any number of rows */

	/* Somebody knows few columns: k is asked of combinations, and a class may have any number of rows (rare.h); or NULL. */
	const struct KanonKnown *known;
	KanonMask mask;
	KanonResidual residual;
	bool leaves_out;   /* with DROP: any number of rows, left out for what is promised of other tables */
	double time_limit; /* seconds; INFINITY: none */
	double gap;        /* stop at this relative gap */
	uint64_t seed;
	double effort; /* work of an anytime method; 1 is its normal */

	/* what only one family of methods is told; NULL for the others */
	const struct KanonFullDomainOptions *full_domain; /* full_domain.h */
	const struct KanonClusterOptions *cluster;        /* clustering.h */
	const struct KanonFreeformOptions *freeform;      /* run.h */
	const struct KanonSubtreeOptions *subtree;        /* subtree.h */
	struct KanonFound *found;                         /* greedy/found.h */
} KanonProblem;

/*
 * A class's cell in one column.  In a quasi-identifier with levels it shows
 * the finest level that has a value.  Ranges and sets are in columns of level 0
 * and stand for values that differ; the class's pattern has the columns that do
 * not show their one value.
 */
typedef enum KanonShow
{
	KANON_SHOW_NOTHING, /* suppressed; the cell's code is 0 */
	KANON_SHOW_VALUE,   /* the value with this code */
	KANON_SHOW_RANGE,   /* pool[code] .. pool[code + 1]: the least and the largest code; no NULL */
	KANON_SHOW_SET      /* pool[code] codes, ascending, from pool[code + 1] on; NULL may be one */
} KanonShow;

/* Four bytes: at ten million row types the cells are a fifth of a release. */
typedef struct KanonCell
{
	uint32_t show : 3;  /* KanonShow */
	uint32_t code : 29; /* or a place in the release's pool */
} KanonCell;

typedef struct KanonClass
{
	KanonPattern pattern;
	int64_t rows; /* rows that flow in */
} KanonClass;

/* rows of a row type that go to a class (or to KANON_DROPPED). */
typedef struct KanonFlow
{
	uint32_t type;
	uint32_t class_;
	int64_t rows;
} KanonFlow;

/* By type and class, for kanon_sort and qsort_arg. */
extern int kanon_compare_flows(const void *a, const void *b, void *arg);

/*
 * The outcome of a method (empty unless its status is KANON_OK).  After
 * kanon_release_finish: classes in order of pattern cost, then mask order, then
 * what is shown: codes, ranges, sets, nothing (so the fully suppressed class,
 * if any, is last), pairwise different; flows by type, then class, all with
 * rows > 0 and summing to each type's rows.  Memory is env's.
 */
typedef struct KanonRelease
{
	uint32_t nclasses;
	KanonClass *classes; /* [nclasses] */
	KanonCell *cells;    /* [nclasses * ncolumns], class by class */
	size_t nflows;
	KanonFlow *flows; /* [nflows] */
	int64_t dropped;  /* rows left out */
	size_t npool;     /* <= 2^29 */
	uint32_t *pool;   /* [npool] what ranges and sets hold; NULL: there are none */

	/*
	 * Freeform alone: the generalisation graph.  Class i shows row types
	 * graph[graph_start[i] .. graph_start[i + 1]), one for each match of its records.
	 */
	size_t ngraph;
	size_t *graph_start; /* [nclasses + 1] */
	uint32_t *graph;     /* NULL: there is none */

	/* Numbers of classes that somebody else has, which kanon_release_finish keeps true: [nfollow], theirs. */
	uint32_t nfollow;
	uint32_t *follow;
} KanonRelease;

typedef struct KanonReport
{
	double cost;        /* sum over published rows of their pattern's cost, or the method's own measure */
	double lower_bound; /* proven, on that cost of any release; -INFINITY: none */
	double guarantee;   /* cost is at most this many times the optimum; 0: not promised */
	bool proven;        /* cost is optimal (within the gap asked for) */
	bool stopped;       /* time_limit ended a method that ends by itself: with more time it loses less */
	int64_t nodes;      /* branch-and-bound nodes, or what the method counts */
	double seconds;     /* in the method */
	char detail[160];   /* why a status is not KANON_OK; no data value ever */
} KanonReport;

typedef KanonStatus (*KanonSolve)(const KanonProblem *problem, KanonRelease *release, KanonReport *report);

/* The methods of one function of SQL, or of one kind within it. */
typedef enum KanonFamily
{
	KANON_NO_METHODS,
	KANON_PATTERN_GUIDED,
	KANON_KNOWN_COLUMNS, /* of kanon_pattern_guided: somebody knows few columns */
	KANON_PATTERN_CLUSTERING,
	KANON_CLUSTER,
	KANON_RELAXED, /* of kanon_cluster: one_k, k_one, k_k */
	KANON_FULL_DOMAIN,
	KANON_SUBTREE,
	KANON_FREEFORM,
	KANON_ITEM_SETS
} KanonFamily;

/* The loss that a method keeps small. */
typedef enum KanonCostKind
{
	KANON_COST_SUM,     /* over the rows, of what their class hides */
	KANON_COST_SQUARES, /* of the numbers, from the means of their class */
	KANON_COST_RADIUS,  /* the largest distance of a row from its class's centre: no sum */
	KANON_COST_METRIC,  /* a metric of levels that the call names */
	KANON_COST_ITEMS    /* of occurrences of items */
} KanonCostKind;

/* A method's claim about the least cost, if neither time nor memory ends it. */
typedef enum KanonProof
{
	KANON_PROOF_NONE,
	KANON_PROOF_BOUND,  /* lower_bound */
	KANON_PROOF_FACTOR, /* guarantee */
	KANON_PROOF_OPTIMUM /* proven */
} KanonProof;

#define KANON_TAKES_K_MAP 1     /* k counted in a population */
#define KANON_TAKES_PRESENCE 2  /* delta-presence, by a population or by shares */
#define KANON_TAKES_PARTS 4     /* partition_size */
#define KANON_TAKES_HIERARCHY 8 /* item sets: the items' own */
#define KANON_ASKS_HIERARCHY 16 /* and does nothing without it */
#define KANON_DROPS_FAR 32      /* under `drop`, rows that are far from all others (without rules) */

struct KanonTransactions;
struct KanonRecoding;
typedef KanonStatus (*KanonRecode)(const struct KanonTransactions *problem, struct KanonRecoding *recoding,
								   KanonReport *report);

/* A line of the registry: `name` is its name in SQL. */
typedef struct KanonMethod
{
	const char *name;
	int number; /* its place in the enum of its family, where that has one */
	KanonSolve solve;
	KanonRecode recode; /* item sets alone */
	KanonCostKind cost;
	KanonProof proof;
	unsigned takes; /* KANON_TAKES_... */
	int only_k;     /* the one k that it is for; 0: any */
} KanonMethod;

/* methods.c: the registry.  A family's methods end with name == NULL. */
extern const KanonMethod *kanon_methods(KanonFamily family);
extern const KanonMethod *kanon_method_find(KanonFamily family, const char *name); /* NULL: none such */
extern const KanonMethod *kanon_method_of(KanonSolve solve); /* the first that is done by it; never NULL */

/* greedy.c: Algorithm 1 of the paper. */
extern KanonStatus kanon_solve_greedy(const KanonProblem *problem, KanonRelease *release,
									  KanonReport *report);

/*
 * ilp.c: proven least cost for the mask, by integer programming (GLPK), never
 * worse than greedy.  When time_limit stops it, proven is false.  Rows left out
 * (residual DROP) are priced as if fully suppressed.
 */
extern KanonStatus kanon_solve_ilp(const KanonProblem *problem, KanonRelease *release, KanonReport *report);

/*
 * fpt.c: the same by trying every set of instances (Theorem 3), for tiny tables;
 * KANON_TOO_LARGE beyond.
 */
extern KanonStatus kanon_solve_fpt(const KanonProblem *problem, KanonRelease *release, KanonReport *report);

/*
 * groups.c: proven least cost for k = 2 and any mask (Theorem 2);
 * other k: KANON_TOO_LARGE.  As ilp, never worse than greedy, and without a proof when
 * time_limit stops it.
 */
extern KanonStatus kanon_solve_matching(const KanonProblem *problem, KanonRelease *release,
										KanonReport *report);

/*
 * best.c: anytime improvement of the greedy release (improve.c), with a lower bound;
 * `effort` counts its work.  Never worse than greedy.  Small models are solved
 * exactly at once.
 */
extern KanonStatus kanon_solve_improve(const KanonProblem *problem, KanonRelease *release,
									   KanonReport *report);

/*
 * best.c: tries the exact method when the model is small enough for a likely proof;
 * otherwise, or without a proof, runs the anytime method.
 */
extern KanonStatus kanon_solve_best(const KanonProblem *problem, KanonRelease *release, KanonReport *report);

/*
 * cluster_patterns.c: each pattern listed in the mask may be used by one class
 * only (listed twice: by two), no row is left over, residual does not matter,
 * and k = 1 is allowed.  Exact: KANON_INFEASIBLE is proven; greedy (also when
 * time was up before): KANON_NOT_FOUND.
 */
extern KanonStatus kanon_solve_pattern_clustering(const KanonProblem *problem, KanonRelease *release,
												  KanonReport *report);
extern KanonStatus kanon_solve_pattern_clustering_greedy(const KanonProblem *problem, KanonRelease *release,
														 KanonReport *report);

/*
 * A release that the next one is to stay near: persons who shared a class in it, and have not
 * changed, share one in the next.  Each family of methods has its own way: kanon_solve_stable (patterns),
 * kanon_cluster_near (clustering.h), and where the whole table is recoded alike an option.
 */
typedef struct KanonPrevious
{
	uint32_t nclasses;
	const KanonPattern *pattern; /* [nclasses] */
	size_t nflows;
	const KanonFlow *flows; /* [nflows] of row types of this problem, by type; rows that are there still */

	/*
	 * [ntypes] (or NULL: no) Are its rows known one by one?  Then new rows of the type may go elsewhere than those that were there;
	 * else these would not be told from those.
	 */
	const bool *by_row;
	uint32_t *became; /* [nclasses] out: the class that the rows of each are in, or KANON_DROPPED; or NULL */
} KanonPrevious;

static inline bool
kanon_known_by_row(const KanonPrevious *previous, uint32_t type)
{
	return previous->by_row != NULL && previous->by_row[type];
}

/*
 * stable.c: another method's release that stays near the one before: classes are merged and
 * never divided, new rows that no class takes are solved anew.  A status other than
 * KANON_OK says that there is no such release, or that none was found.
 */
extern KanonStatus kanon_solve_stable(const KanonProblem *problem, const KanonPrevious *previous,
									  KanonSolve solve, KanonRelease *release, KanonReport *report);

/* The same of pattern clusterings: what a class that stays shows by is used up. */
extern KanonStatus kanon_solve_stable_once(const KanonProblem *problem, const KanonPrevious *previous,
										   KanonSolve solve, KanonRelease *release, KanonReport *report);

/*
 * partition.c: the rows of each value of a column of level 0 are solved alone where there
 * are k of them, then together what was left over.  Where that leads nowhere, the
 * whole problem is solved.
 */
typedef struct KanonPartitionFacts
{
	uint32_t parts;    /* 0: the whole was solved */
	int64_t left_over; /* rows, */
	double left_over_cost;
} KanonPartitionFacts;

/* Row types by a column's values: type[start[code] .. start[code + 1]), ascending. */
typedef struct KanonValueTypes
{
	uint32_t distinct;
	uint32_t *type;      /* [ntypes] */
	const size_t *start; /* [distinct + 1] */
} KanonValueTypes;

/*
 * Somebody who solves values ahead.  Each value that has k rows is asked for once, in ascending order: true
 * says that status, report and (of KANON_OK) release are what kanon_solve_value gave; the release is read
 * before the next question, and stays theirs.  False: it is solved here.
 */
typedef struct KanonPartitionHelp
{
	void *arg;
	bool (*solved)(void *arg, const KanonValueTypes *values, uint32_t code, KanonStatus *status,
				   KanonRelease *release, KanonReport *report);
} KanonPartitionHelp;

/* help: NULL, too */
extern KanonStatus kanon_solve_partitioned(const KanonProblem *problem, int column, KanonSolve solve,
										   const KanonPartitionHelp *help, KanonRelease *release,
										   KanonReport *report, KanonPartitionFacts *facts);

/*
 * Rows that a value's release does not place are left over, with `left` rows of the others: are
 * these, all in all, too few to fill up what is suppressed of them (or, where there are other
 * rules, perhaps too much alike)?  The last value's rows are then left over, too.
 */
extern bool kanon_value_lacks(const KanonProblem *problem, const KanonRelease *release, int64_t left);

/*
 * A helper's task: a value's rows alone, in so many seconds.  Types of the release are places
 * among type[n].
 */
extern KanonStatus kanon_solve_value(const KanonProblem *problem, uint32_t *type, uint32_t n, double seconds,
									 KanonSolve solve, KanonRelease *release, KanonReport *report);

/* mask.c */

/* Sum of the weights of the columns that a pattern suppresses. */
extern double kanon_pattern_cost(const KanonProblem *problem, KanonPattern pattern);

/* The all-suppressed pattern of a problem with that many columns. */
extern KanonPattern kanon_pattern_all(int ncolumns);

/* How many quasi-identifiers a pattern suppresses whole: up to their last level. */
extern int kanon_pattern_suppressed(const KanonProblem *problem, KanonPattern pattern);

/* How many quasi-identifiers there are; the same as columns if none has levels. */
extern int kanon_count_qis(const KanonProblem *problem);

/* The column of level 0 of the qi-th quasi-identifier, from 0; ncolumns after the last one. */
extern int kanon_first_column(const KanonProblem *problem, int qi);

/*
 * A mask made ready for look-ups.  The problem must outlive it and stay as it is.
 * kanon_mask_close takes NULL, too.
 */
typedef struct KanonMaskIndex KanonMaskIndex;

extern KanonStatus kanon_mask_open(const KanonProblem *problem, KanonMaskIndex **index);
extern void kanon_mask_close(KanonMaskIndex *index);

/* True if the mask allows the pattern; in O(log of the list). */
extern bool kanon_mask_contains(const KanonMaskIndex *index, KanonPattern pattern);

/*
 * Before (<0) or after (>0) in the order in which a greedy method tries two
 * patterns; 0 only for the same pattern.  By cost (mask.c says when two costs
 * are equal), then by mask->order, a listed pattern at its first place in the
 * list; the all-suppressed one last, whatever it costs.
 */
extern int kanon_mask_compare(const KanonMaskIndex *index, KanonPattern a, KanonPattern b);

/* mask_walk.c */

/*
 * Every allowed pattern in that order, the all-suppressed one last (listed
 * doubles once), into *patterns (env memory).  KANON_TOO_LARGE above `limit`.
 */
extern KanonStatus kanon_mask_enumerate(const KanonProblem *problem, size_t limit, KanonPattern **patterns,
										size_t *npatterns);

#define KANON_COUNT_CANCELLED (-2)

/*
 * How many patterns the mask allows; -1 when that is above `limit` or memory is short;
 * KANON_COUNT_CANCELLED when the host wants the method to stop.
 */
extern int64_t kanon_mask_count(const KanonProblem *problem, int64_t limit);

/* release.c */

/*
 * Brings what a method has filled in (classes with pattern; cells; flows; in any
 * order, empty classes and equal instances allowed) to the form above, and checks it:
 * flows add up, every row matches what its class shows, the mask allows each pattern
 * (but for classes that show a range or a set), classes hold k rows (the fully
 * suppressed one may hold fewer where residual says so, and only then rows, fewer than
 * k, are dropped).  Sets the classes' rows, release->dropped and report->cost.
 * KANON_BROKEN with a detail if not; but KANON_NOT_FOUND if classes were equal and
 * break privacy rules as one.  The caller frees release whatever the status.
 */
extern KanonStatus kanon_release_finish(const KanonProblem *problem, KanonRelease *release,
										KanonReport *report);

/* All rows in one class that shows nothing.  KANON_INFEASIBLE: they may not be one. */
extern KanonStatus kanon_release_one_class(const KanonProblem *problem, KanonRelease *release,
										   KanonReport *report);

/* A release without rows, where the problem leaves out any number of them. */
extern KanonStatus kanon_release_nobody(const KanonProblem *problem, KanonRelease *release,
										KanonReport *report);
extern void kanon_release_free(const KanonProblem *problem, KanonRelease *release);

/* How many quasi-identifiers a class shows nothing of: not a level, a range or a set. */
extern int kanon_class_suppressed(const KanonProblem *problem, const KanonRelease *release, uint32_t class_);

/* True if a class shows nothing at all (ranges everywhere have the pattern of that, too). */
extern bool kanon_class_blank(const KanonProblem *problem, const KanonRelease *release, uint32_t class_);

/* The outcome of one quasi-identifier. */
typedef struct KanonColumnMeasures
{
	int64_t suppressed;              /* published cells that are suppressed whole */
	int64_t kept, kept_nulls, nulls; /* cells that show their value; of these NULL; NULL at any level */
	int64_t lost;                    /* those and the cells of rows left out */
	uint32_t shown;                  /* different things that are still shown: values, nodes, ranges, sets */
	double ncp;                      /* mean over all rows, 0 .. 1 */
	double entropy;                  /* bits lost */
	double entropy_all;              /* bits that suppressing the whole column would lose */
} KanonColumnMeasures;

/* measure.c: how good a release is.  Takes any release, by whatever method. */
typedef struct KanonMeasures
{
	int64_t rows;             /* published */
	int64_t suppressed_cells; /* of quasi-identifiers suppressed whole */
	double usefulness;        /* mean tuple diversity over the classes (Definition 5) */
	uint32_t classes;
	int64_t class_min;
	double class_avg;
	int64_t class_max;

	/*
	 * Measures of the literature; measure_loss.c has sources and formulas.  They count
	 * rows that are left out as if fully suppressed, so that leaving out never looks
	 * better than suppressing.
	 */
	double discernibility;
	double c_avg; /* class_avg / k */
	double iloss;
	double ncp;
	double gcp;           /* 0 nothing lost .. 1 everything */
	double precision;     /* 1 nothing lost .. 0 everything; NaN: a range or a set is shown */
	double entropy;       /* bits */
	double entropy_share; /* of what suppressing every cell would lose */
	KanonColumnMeasures columns[KANON_MAX_QIS];
} KanonMeasures;

/* These alone: fills columns[kanon_count_qis(problem)]. */
extern KanonStatus kanon_measure_columns(const KanonProblem *problem, const KanonRelease *release,
										 KanonColumnMeasures *columns);

/*
 * Fills *measures, and tuple_diversity[nclasses] unless NULL (Definition 4: the
 * sum over the quasi-identifiers of the attribute diversity, Definition 3: for a numerical
 * column the range of the class's values by the range of the table's, for any
 * other the number of distinct values by that of the table's).
 */
extern KanonStatus kanon_measure(const KanonProblem *problem, const KanonRelease *release,
								 KanonMeasures *measures, double *tuple_diversity);

/* scratch.c: helpers around KanonEnv; all sizes are checked for overflow. */
extern void *kanon_alloc(KanonEnv *env, size_t count, size_t size);
extern void *kanon_alloc0(KanonEnv *env, size_t count, size_t size);
extern void *kanon_realloc(KanonEnv *env, void *ptr, size_t count, size_t size);
/* array: address of the pointer to the first of *room items; half as many again when need is more.  False: refused. */
extern bool kanon_enlarge(KanonEnv *env, void *array, size_t *room, size_t need, size_t size);
extern void kanon_free(KanonEnv *env, void *ptr);

#endif
