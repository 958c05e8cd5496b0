/*
 * border.h: what the core asks of its host, answered by PostgreSQL.
 */
#ifndef KANON_BORDER_H
#define KANON_BORDER_H

#include "postgres.h"

#include "core/kanon.h"

#include "portability/instr_time.h"

typedef struct Border
{
	KanonEnv env;
	MemoryContext context; /* everything of one run; deleted with the caller's */
	struct Border *above;  /* whose budget it shares, and which counts what it holds, too; or NULL */
	Size limit;            /* kanon_memory_limit() when the run began */
	Size used;             /* bytes the core holds */
	Size peak;             /* most it held */
	Size full;             /* held when memory was refused last */
	instr_time started;
	instr_time said; /* last progress notice */

	/* what hints may advise: an argument that the function has, a number that can still be less */
	bool no_residual;
	bool least_k;

	/* for users who are short of memory, sentences: why so much is needed, and what needs less; or NULL */
	const char *why;
	const char *instead;
} Border;

extern Border *border_create(const char *name);

/* The memory that counts against the budget. */
static inline Size
border_used(const Border *border)
{
	return border->above != NULL ? border->above->used : border->used;
}

/* The run is one of several, whose memory together is under the budget of `above`; NULL: it is none. */
extern void border_share(Border *border, Border *above);

/* Its memory is given back as a whole. */
extern void border_delete(Border *border);

/* Raises the error for a status that is not KANON_OK. */
extern void border_check(Border *border, KanonStatus status, const char *detail);

/* Says how far a phase is, at most every five seconds.  left: rows, or -1. */
extern void border_progress(Border *border, const char *phase, double share, int64 left);

/* Memory under the run's budget for the PostgreSQL side; raises when it is spent. */
extern void *border_palloc(Border *border, Size size);
extern void border_pfree(Border *border, void *ptr);

/* The array with room for so many items: it grows by doubling, and *room with it. */
extern void *border_grow(Border *border, void *array, Size *room, Size needed, Size item);

/* Memory of a table that is met here and there. */
extern void *zeroed_in_large_pages(MemoryContext context, Size size);

/* Counts memory that was taken elsewhere (a dictionary grew from..to bytes). */
extern void border_charge(Border *border, Size from, Size to);

/* ---- random numbers that nobody can foresee ---- */

/* Drawn from the system so many at a time; begins as zeros. */
typedef struct RandomPool
{
	uint64 number[1024];
	int left;
} RandomPool;

/* All raise when the system has none. */
extern void random_fill(void *to, Size size);
extern uint64 random_number(void);
extern uint64 random_draw(RandomPool *pool);

#endif
