/*
 * scratch.c: memory that comes and goes together.
 */
#include <string.h>

#include "util/scratch.h"

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
