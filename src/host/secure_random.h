/*
 * secure_random.h: random numbers that nobody can foresee.
 */
#ifndef KANON_SECURE_RANDOM_H
#define KANON_SECURE_RANDOM_H

#include "postgres.h"

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
