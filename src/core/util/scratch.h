/*
 * scratch.h: memory that comes and goes together.
 *
 * A scratch takes blocks of the host's memory and remembers them.  The function that
 * opened it gives all of them back at once, or those since a mark; large blocks that
 * are done with may go before.  A refusal is remembered, too: who takes many things
 * asks once.
 *
 *     KanonScratch scratch = {.env = env};
 *     a = kanon_take(&scratch, n, sizeof(*a));
 *     b = kanon_take0(&scratch, n, sizeof(*b));
 *     status = kanon_taken(&scratch);
 *     ...
 *     kanon_scratch_free(&scratch);
 */
#ifndef KANON_SCRATCH_H
#define KANON_SCRATCH_H

#include "kanon.h"

typedef struct KanonScratch
{
	KanonEnv *env;
	void **block; /* [n] in the order of taking; NULL: dropped */
	size_t n;
	size_t room;
	bool failed; /* something was refused */
} KanonScratch;

/* Room for count items; NULL when it is refused. */
extern void *kanon_take(KanonScratch *scratch, size_t count, size_t size);
extern void *kanon_take0(KanonScratch *scratch, size_t count, size_t size); /* zeroed */

/* KANON_NO_MEMORY when anything was refused so far. */
static inline KanonStatus
kanon_taken(const KanonScratch *scratch)
{
	return scratch->failed ? KANON_NO_MEMORY : KANON_OK;
}

/* Gives one block back early; NULL, too. */
extern void kanon_drop(KanonScratch *scratch, void *block);

/* The block is the caller's from now on, for kanon_free; returns it. */
extern void *kanon_keep(KanonScratch *scratch, void *block);

/* Takes care of what kanon_alloc or the like gave; returns it.  NULL counts as refused. */
extern void *kanon_adopt(KanonScratch *scratch, void *block);

/* Blocks that are taken after a mark go back with kanon_release. */
static inline size_t
kanon_mark(const KanonScratch *scratch)
{
	return scratch->n;
}

extern void kanon_release(KanonScratch *scratch, size_t mark);

/* All of it; the scratch may be used again. */
extern void kanon_scratch_free(KanonScratch *scratch);

/*
 * Growing arrays of a scratch that have one room: KANON_GROW makes sure that there is
 * room for `need` items in each, half as many again when it has to grow.  False when it
 * is refused; what the arrays hold stays.
 *
 *     if (!KANON_GROW(&s->scratch, &s->room, s->n + 1, KANON_ARRAY(s->unit), KANON_ARRAY(s->from)))
 *         return KANON_NO_MEMORY;
 */
typedef struct KanonArray
{
	void *array; /* address of the pointer to the first item; NULL in it: none yet */
	size_t size; /* of an item */
} KanonArray;

#define KANON_ARRAY(array)         \
	{                              \
		&(array), sizeof(*(array)) \
	}
#define KANON_GROW(scratch, room, need, ...)                                                 \
	((need) <= *(room) || kanon_grow(scratch, room, need, (const KanonArray[]){__VA_ARGS__}, \
									 sizeof((const KanonArray[]){__VA_ARGS__}) / sizeof(KanonArray)))

extern bool kanon_grow(KanonScratch *scratch, size_t *room, size_t need, const KanonArray *arrays,
					   size_t narrays);

#endif
