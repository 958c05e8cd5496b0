/*
 * env.c: memory through the host's callbacks.
 */
#include <string.h>

#include "kanon.h"
#include "util/fault.h"

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
