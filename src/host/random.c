/*
 * random.c: random numbers that nobody can foresee.
 */
#include "compat.h"
#include "host/random.h"
#include "core/util/fault.h"

uint64
random_draw(RandomPool *pool)
{
	if (pool->left == 0)
	{
		if (FAULT(no_random) || !pg_strong_random(pool->number, sizeof(pool->number)))
			ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
		pool->left = lengthof(pool->number);
	}
	return pool->number[--pool->left];
}
