/*
 * improve_search.h: the state of ruin and recreate, shared by its three files:
 * improve_state.c (what is where), improve_moves.c (a move) and
 * improve_search.c (the annealing).
 */
#ifndef KANON_IMPROVE_SEARCH_H
#define KANON_IMPROVE_SEARCH_H

#include "ilp.h"

#define NONE UINT32_MAX

typedef struct Search
{
	const IlpModel *model;
	KanonEnv   *env;
	KanonWatch *watch;
	uint64_t	random;
	uint32_t	opened;			/* by the move at hand, or NONE */
	bool		failed;			/* it left a class below k */
	const double *g;			/* [nf] reduced costs; may be NULL */
	double		temperature;
	double		cost;
	uint32_t	n;				/* units */
	uint32_t   *type;			/* [n] */
	int64_t    *rows;			/* [n] */
	size_t	   *first;			/* [m + 1] units of a type */
	uint32_t   *in;				/* [n] instance, or NONE */
	uint32_t   *next;			/* [n] within its class, NONE at the end */
	uint32_t   *prev;
	uint32_t   *head;			/* [nf] */
	int64_t    *load;			/* [nf] rows; 0: closed */
	/* the move at hand */
	uint32_t   *log_unit;
	uint32_t   *log_from;
	size_t		nlog;
	size_t		log_room;
	uint32_t   *freed;			/* [n] */
	size_t		nfreed;
	uint32_t   *donor;			/* [n] scratch */
	size_t	   *place;			/* [m] scratch */
	uint32_t   *pick;			/* [n + 2 look] scratch */
	bool		single;			/* every unit is one row */
	uint64_t   *fits;			/* bits, instance by instance; NULL: too many */
	uint32_t   *best;			/* [n] in, of the best solution saved */
	double		best_cost;
} Search;

/* Random numbers: xorshift64*. */
static inline uint64_t
search_next(Search *s)
{
	uint64_t	x = s->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	s->random = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

static inline uint32_t
search_below(Search *s, size_t n)
{
	return (uint32_t) ((search_next(s) >> 32) * (uint64_t) n >> 32);
}

static inline double
search_random(Search *s)
{
	return (double) (search_next(s) >> 11) * 0x1p-53;
}

/* Cost of a row of a unit's type in f, or at its fallback. */
static inline double
search_cost(const Search *s, uint32_t unit, uint32_t f)
{
	return f == NONE ? s->model->c[s->type[unit]] : s->model->w[f];
}

/* improve_state.c */

/* Memory and units; all rows at their fallback. */
extern bool search_alloc(Search *s);
extern void search_free(Search *s);

/* The start: the given classes first (may be NULL), then greedily by cost. */
extern KanonStatus search_start(Search *s, const IlpList *start);

/* Does the instance take the type? */
extern bool search_fits(const Search *s, uint32_t f, uint32_t i);

/* Moves a unit; the cost follows. */
extern void search_put(Search *s, uint32_t u, uint32_t f);

/* As search_put, to be undone if the move is not accepted.  False: no memory. */
extern bool search_move(Search *s, uint32_t u, uint32_t f);
extern void search_undo(Search *s);

/* The cheapest open class of a type, or NONE when its fallback is as cheap. */
extern uint32_t search_cheapest(Search *s, uint32_t i);

/* Takes a unit to f; its class, if that drops below k, is dissolved. */
extern bool search_take(Search *s, uint32_t u, uint32_t f);

/* improve_moves.c */

/* Tries one move; *delta is the change of cost.  False: out of memory. */
extern bool search_try(Search *s, double *delta);

/* All rows that gain in f and can be spared elsewhere move there. */
extern void search_attract(Search *s, uint32_t f);

#endif
