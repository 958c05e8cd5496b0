/*
 * secure_random.c: random numbers that nobody can foresee.
 */
#include "compat.h"
#include "host/secure_random.h"
#include "core/util/fault.h"

void
random_fill(void *to, Size size)
{
	if (FAULT(no_random) || !pg_strong_random(to, size))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
}

uint64
random_number(void)
{
	uint64 number;

	random_fill(&number, sizeof(number));
	return number;
}

uint64
random_draw(RandomPool *pool)
{
	if (pool->left == 0)
	{
		random_fill(pool->number, sizeof(pool->number));
		pool->left = lengthof(pool->number);
	}
	return pool->number[--pool->left];
}
