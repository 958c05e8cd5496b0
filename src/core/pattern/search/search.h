/*
 * search.h: the state of ruin and recreate, shared by its files:
 * search_state.c (what is where), search_state.c (who fits an instance), moves.c (a move), search_ruled.c (rules beyond k),
 * anneal.c (the annealing, and the better of two states, piece by piece).
 */
#ifndef KANON_SEARCH_H
#define KANON_SEARCH_H

#include "pattern/program/program_model.h"
#include "util/scratch.h"
#include "util/number.h"

#define NONE UINT32_MAX

/* Rows above which a table is a large one: rows that have many like them rest, and there is time for one search. */
#ifndef ILP_ONE_SEARCH_ROWS
#define ILP_ONE_SEARCH_ROWS 200000
#endif

/* And rows for each of k, if rows are to rest: classes of many rows need those that are like them. */
#ifndef ILP_RESTING_ROWS
#define ILP_RESTING_ROWS 384
#endif

/*
 * Moves jump all over the memory, and wait for it most of the time: what they want of a unit, a
 * type or an instance stands together, in a line of the processor's cache or half of one.
 */
typedef struct SearchUnit
{
	int64_t rows;
	uint32_t type;
	uint32_t in;   /* instance, or NONE */
	uint32_t next; /* within its class, NONE at the end */
	uint32_t prev;
	uint32_t along; /* units that a scan has met, linked from SearchInstance.chain */
} SearchUnit;

typedef struct SearchType
{
	double least;    /* cost of a row in its cheapest instance; INFINITY: there is none */
	size_t options;  /* IlpModel.opt_start */
	size_t gaining;  /* where its options that cost less than its fallback end */
	uint32_t first;  /* its units; one more type than there are says where the last one's end */
	uint32_t within; /* Search.stamp: is in the instance scanned */
} SearchType;

typedef struct SearchInstance
{
	double w;       /* the model's */
	int64_t load;   /* rows; 0: closed */
	uint32_t head;  /* units of the class */
	uint32_t stamp; /* Search.stamp: the next three are what that scan has met */
	uint32_t chain; /* units, linked by along */
	int64_t count;  /* rows */
	double score;
} SearchInstance;

/* Rules beyond k, while a search goes on. */
typedef struct SearchRules
{
	uint32_t *types;        /* [n] of the rows at hand */
	int64_t *counts;        /* [n] */
	uint32_t values_needed; /* a class has so many different ones at least; 0: it need not */
	const uint32_t *value;  /* [m] of each type */
	bool values_alone;      /* no rule asks for more */
	uint32_t *seen;         /* [values] seen_stamp: it was met */
	uint32_t seen_stamp;
	uint32_t *met; /* [values] met_stamp: the same while a class is looked at */
	uint32_t met_stamp;
	uint32_t *kept; /* [n] the best solution, while another is tried */
} SearchRules;

typedef struct Search
{
	const IlpModel *model;
	KanonEnv *env;
	KanonScratch scratch; /* of all arrays here */
	KanonPace *pace;
	uint64_t random;
	int64_t looks;   /* units looked at for one that wants to move */
	bool failed;     /* it left a class below k */
	const double *g; /* [nf] reduced costs; may be NULL */
	double temperature;
	double reach; /* reduced cost at which opening is tried one time in e */
	double scale; /* of costs: a cell, or what stands for one where costs are not whole */
	double cost;
	uint32_t n;               /* units */
	SearchUnit *unit;         /* [n] those of a type follow each other */
	SearchType *type;         /* [m + 1] */
	SearchInstance *instance; /* [nf] */
	uint64_t *wants;          /* [n] bits: there is a cheaper instance than the one it is in */
	uint64_t *
		open; /* [nf] bits, all of which the processor's cache has: load is k or more, and it is not hidden */
	/*
	 * In a large table, rows of types that have more than others can make use of rest in
	 * their cheapest instance, and are no units.
	 */
	bool large;
	bool rests;
	int64_t *resting; /* [nf] */
	double rest_cost; /* of all of them */
	/* the move at hand */
	uint32_t *log_unit;
	uint32_t *log_from;
	size_t nlog;
	size_t log_room;
	uint32_t *freed; /* [n] */
	size_t nfreed;
	double *alternative; /* [n] cost of a freed row in its cheapest open class */
	size_t *place;       /* [m] scratch */
	/* what a scan has met */
	uint32_t stamp;
	uint32_t *touched; /* [nf] classes met */
	size_t ntouched;
	uint32_t *loose; /* [n] units at their fallback */
	size_t nloose;
	uint32_t *best; /* [n] in, of the best solution saved */
	double best_cost;
	/* rules beyond k: the model's types are those of the problem; NULL: there are none */
	const KanonProblem *problem;
	SearchRules rules;
	/* a class has so many different values at least; 0: it need not */
} Search;

static inline uint32_t
search_below(Search *s, size_t n)
{
	return (uint32_t) ((kanon_random_shift(&s->random) >> 32) * (uint64_t) n >> 32);
}

static inline double
search_random(Search *s)
{
	return (double) (kanon_random_shift(&s->random) >> 11) * 0x1p-53;
}

/* Cost of a row of a unit's type in f, or at its fallback. */
static inline double
search_cost(const Search *s, uint32_t unit, uint32_t f)
{
	return f == NONE ? s->model->c[s->unit[unit].type] : s->instance[f].w;
}

/* The bit of a unit, or of an instance. */
static inline bool
search_has_bit(const uint64_t *bits, uint32_t at)
{
	return (bits[at / 64] >> at % 64 & 1) != 0;
}

static inline void
search_set_bit(uint64_t *bits, uint32_t at, bool to)
{
	uint64_t bit = UINT64_C(1) << at % 64;

	bits[at / 64] = to ? bits[at / 64] | bit : bits[at / 64] & ~bit;
}

/* Rows that f has whatever moves. */
static inline int64_t
search_resting(const Search *s, uint32_t f)
{
	return s->rests ? s->resting[f] : 0;
}

/* Until it is shown again a class is nobody's cheapest. */
static inline void
search_hide(Search *s, uint32_t f)
{
	search_set_bit(s->open, f, false);
}

static inline void
search_show(Search *s, uint32_t f)
{
	search_set_bit(s->open, f, s->instance[f].load >= s->model->k);
}

/* Notes whether there is a cheaper instance than the one that a unit is in. */
static inline void
search_note_want(Search *s, uint32_t u)
{
	search_set_bit(s->wants, u, s->type[s->unit[u].type].least < search_cost(s, u, s->unit[u].in));
}

/* search_state.c */

/* Memory (s->scratch, for the caller to free) and units; all rows at their fallback. */
extern bool search_alloc(Search *s);

/* The start: greedily by cost. */
extern KanonStatus search_start(Search *s);

/*
 * A unit for which there is something cheaper; false: none of some was one.  Most rows of a large
 * table are where they cost least: neither do they gain by a move, nor is their class worth a ruin.
 * (Of those that would, one that pays much more than its price is rather found.)
 */
extern bool search_find_wanting(Search *s, uint32_t *u);

/* Moves a unit; the cost follows. */
extern void search_put(Search *s, uint32_t u, uint32_t f);

/* As search_put, to be undone if the move is not accepted.  False: no memory. */
extern bool search_move(Search *s, uint32_t u, uint32_t f);
extern void search_undo(Search *s);

/* Where all units are. */
extern void search_where(const Search *s, uint32_t *in);

/* The cheapest open class of a type, or NONE when its fallback is as cheap. */
extern uint32_t search_cheapest(Search *s, uint32_t i);

/* Frees all rows of a class. */
extern bool search_dissolve(Search *s, uint32_t f);

/* Takes a unit to f; its class, if that drops below k or breaks a rule, is dissolved. */
extern bool search_take(Search *s, uint32_t u, uint32_t f);

/* search_ruled.c */

/* May the rows of an open class without one unit (NONE: all) be one? */
extern bool search_keeps(Search *s, uint32_t f, uint32_t without);

/* Is f as it is a class? */
static inline bool
search_stands(Search *s, uint32_t f)
{
	return s->instance[f].load >= s->model->k && (s->problem == NULL || search_keeps(s, f, NONE));
}

/* Is a unit's class one without it? */
static inline bool
search_spares(Search *s, uint32_t u)
{
	uint32_t b = s->unit[u].in;

	return s->instance[b].load - s->unit[u].rows >= s->model->k &&
		   (s->problem == NULL || search_keeps(s, b, u));
}

/* After a scan of f, which has k rows: it gets the values that it lacks.  False: it cannot; *ok false: no memory. */
extern bool search_complete(Search *s, uint32_t f, bool *ok);

/* Sets of values as bits, several to one bit if they are many; how many are lacking in one. */
static inline uint32_t
search_value_bit(const Search *s, uint32_t i)
{
	return s->rules.values_needed > 0 ? UINT32_C(1) << s->rules.value[i] % 32 : 0;
}

static inline int
search_values_lacking(const Search *s, uint32_t values)
{
	/* what falls on one bit is not told apart: of many, fewer are lacking than it seems */
	int lacking = s->rules.values_needed > 8 ? 0 : (int) s->rules.values_needed - __builtin_popcount(values);

	return lacking > 0 ? lacking : 0;
}

/* After a scan of f: what the rows with the values that it lacks beside these cost; INFINITY: there are none. */
extern double search_values_loss(Search *s, uint32_t f, uint32_t values);

/* Do the classes that the move at hand has touched keep the rules? */
extern bool search_keeps_rules(Search *s);

/* May what is at its fallback, by in[n], be published as the problem's residual says? */
extern bool search_rest_allowed(Search *s, const uint32_t *in);

/* anneal.c: where the state at hand is better than the best one saved, that follows it. */
extern void search_cross(Search *s);

/* search_state.c */

/*
 * Sorts the units of f by their class (SearchInstance.chain and count, s->touched), those
 * at their fallback into s->loose, and stamps f's types.  In a large instance only a
 * stretch from a random place is looked at.
 */
extern void search_scan(Search *s, uint32_t f);

/* Moves units of b that a scan has met to f, at most `rows` rows, all to spare.  False: no memory. */
extern bool search_take_spare(Search *s, uint32_t b, uint32_t f, int64_t rows);

/* After a scan of f: what dissolving b costs; its rows go to f or to their next class. */
extern double search_dissolving(Search *s, uint32_t b, uint32_t f);

/* moves.c */

/* Tries one move; *delta is the change of cost.  False: out of memory. */
extern bool search_try(Search *s, double *delta);

/* anneal.c */

/*
 * Annealing from hot to cold, or, from a good start, from warm; stops at the target.
 * It takes at most a share of the time left.  The best solution is in s->best.
 */
extern KanonStatus search_anneal(Search *s, double work, double time_share, bool warm, double target);

/* How a search goes. */
typedef struct SearchPlan
{
	uint64_t seed;
	double work;     /* of ruin and recreate, in steps of kanon_stop */
	double target;   /* ends early at a cost of at most this */
	const double *g; /* reduced costs to go by, or NULL */
} SearchPlan;

/*
 * Ruin and recreate.  *best_open lists the instances (positions in
 * the model, ascending) of the best solution, *best its cost with base.  The model must be transposed.
 * Where memory ends on the way that is said, and the best solution so far is there all the same; *best is INFINITY
 * where there is none.
 */
extern KanonStatus ilp_search(const IlpModel *model, const SearchPlan *plan, double *best, IlpList *best_open,
							  KanonPace *pace);

/*
 * search_ruled.c: the same under the problem's rules beyond k, from a release that keeps them, as
 * far as its classes are among the instances, whose reduced costs are the plan's; its seed is the problem's.
 * *cost, in their units, and *release of what was found, which is not finished; INFINITY and nothing: the rest may not be published.
 */
extern KanonStatus kanon_search_ruled(const KanonProblem *problem, const KanonInstances *instances,
									  const KanonRelease *start, const SearchPlan *plan, double *cost,
									  KanonRelease *release, KanonPace *pace);

#endif
