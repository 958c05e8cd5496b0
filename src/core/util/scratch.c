/*
 * scratch.c: memory that comes and goes together.
 */
#include <string.h>

#include "util/scratch.h"
#include "kanon.h"
#include "util/fault.h"

/* Where a block is: mostly among the last ones. */
static void **
find(KanonScratch *scratch, const void *block)
{
	for (size_t i = scratch->n; i-- > 0;)
		if (scratch->block[i] == block)
			return &scratch->block[i];
	return NULL;
}

/* The scratch knows the block no longer. */
static void
forget(KanonScratch *scratch, const void *block)
{
	void **place = find(scratch, block);

	if (place == &scratch->block[scratch->n - 1])
		scratch->n--;
	else
		*place = NULL;
}

void *
kanon_adopt(KanonScratch *scratch, void *block)
{
	if (block == NULL ||
		!kanon_enlarge(scratch->env, &scratch->block, &scratch->room, scratch->n + 1, sizeof(void *)))
	{
		kanon_free(scratch->env, block);
		scratch->failed = true;
		return NULL;
	}
	return scratch->block[scratch->n++] = block;
}

void *
kanon_take(KanonScratch *scratch, size_t count, size_t size)
{
	return kanon_adopt(scratch, scratch->failed ? NULL : kanon_alloc(scratch->env, count, size));
}

void *
kanon_take0(KanonScratch *scratch, size_t count, size_t size)
{
	return kanon_adopt(scratch, scratch->failed ? NULL : kanon_alloc0(scratch->env, count, size));
}

void
kanon_drop(KanonScratch *scratch, void *block)
{
	if (block != NULL)
		forget(scratch, block);
	kanon_free(scratch->env, block);
}

void *
kanon_keep(KanonScratch *scratch, void *block)
{
	if (block != NULL)
		forget(scratch, block);
	return block;
}

void
kanon_release(KanonScratch *scratch, size_t mark)
{
	while (scratch->n > mark)
		kanon_free(scratch->env, scratch->block[--scratch->n]);
}

void
kanon_scratch_free(KanonScratch *scratch)
{
	kanon_release(scratch, 0);
	kanon_free(scratch->env, scratch->block);
	*scratch = (KanonScratch){.env = scratch->env};
}

bool
kanon_grow(KanonScratch *scratch, size_t *room, size_t need, const KanonArray *arrays, size_t narrays)
{
	size_t wanted = *room + *room / 2 + 64;

	if (wanted < need)
		wanted = need;
	for (size_t a = 0; a < narrays && !scratch->failed; a++)
	{
		void *old;
		void *grown;

		memcpy(&old, arrays[a].array, sizeof(old));
		grown = kanon_realloc(scratch->env, old, wanted, arrays[a].size);
		if (old != NULL && grown != NULL)
			*find(scratch, old) = grown;
		else if (old != NULL)
			scratch->failed = true;
		else
			grown = kanon_adopt(scratch, grown);
		if (grown != NULL)
			memcpy(arrays[a].array, &grown, sizeof(grown));
	}
	if (!scratch->failed)
		*room = wanted;
	return !scratch->failed;
}

/* ---- Memory through the host's callbacks ---- */

#ifdef KANON_FAULTS
int kanon_fault = KANON_FAULT_none;
int kanon_refuse = 0;
#endif

/* count * size bytes, or SIZE_MAX when that does not fit. */
static size_t
total_size(size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		return SIZE_MAX;
	return total > 0 ? total : 1;
}

/* Memory for count items; NULL (and env->refused set) when there is none. */
void *
kanon_alloc(KanonEnv *env, size_t count, size_t size)
{
	return kanon_realloc(env, NULL, count, size);
}

void *
kanon_alloc0(KanonEnv *env, size_t count, size_t size)
{
	void *ptr = kanon_alloc(env, count, size);

	if (ptr != NULL)
		memset(ptr, 0, total_size(count, size));
	return ptr;
}

/* As kanon_alloc, keeping the content of ptr (may be NULL); on NULL ptr stays. */
void *
kanon_realloc(KanonEnv *env, void *ptr, size_t count, size_t size)
{
	size_t total = total_size(count, size);
	void *result = NULL;

	if (total < SIZE_MAX)
		result = ptr == NULL ? env->alloc(env->arg, total) : env->realloc(env->arg, ptr, total);
	if (result == NULL)
		env->refused = total;
	return result;
}

bool
kanon_enlarge(KanonEnv *env, void *array, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room + *room / 2 + 64;
	void *items;

	if (need <= *room)
		return true;
	if (wanted < need)
		wanted = need;
	memcpy(&items, array, sizeof(items));
	items = kanon_realloc(env, items, wanted, size);
	if (items == NULL)
		return false;
	memcpy(array, &items, sizeof(items));
	*room = wanted;
	return true;
}

void
kanon_free(KanonEnv *env, void *ptr)
{
	if (ptr != NULL)
		env->free(env->arg, ptr);
}
