/*
 * sort.c: a stable merge sort with the caller's scratch memory.
 */
#include <string.h>

#include "util/sort.h"

/* Runs of this length are made by insertion before merging starts. */
#define RUN_LENGTH 8

/* Sorts a short run by insertion; the free slot is at `spare`. */
static void
sort_run(char *items, char *spare, size_t count, size_t size, KanonCompare compare, void *arg)
{
	for (size_t i = 1; i < count; i++)
	{
		size_t to = i;

		while (to > 0 && compare(items + (to - 1) * size, items + i * size, arg) > 0)
			to--;
		if (to == i)
			continue;
		memcpy(spare, items + i * size, size);
		memmove(items + (to + 1) * size, items + to * size, (i - to) * size);
		memcpy(items + to * size, spare, size);
	}
}

/* Merges two adjacent sorted runs from[0, half) and from[half, count) into `into`. */
static void
merge_runs(char *into, const char *from, size_t half, size_t count, size_t size, KanonCompare compare,
		   void *arg)
{
	size_t left = 0;
	size_t right = half;

	while (left < half && right < count)
	{
		if (compare(from + left * size, from + right * size, arg) <= 0)
			memcpy(into, from + left++ * size, size);
		else
			memcpy(into, from + right++ * size, size);
		into += size;
	}
	memcpy(into, from + left * size, (half - left) * size);
	memcpy(into + (half - left) * size, from + right * size, (count - right) * size);
}

void
kanon_sort(void *items, void *scratch, size_t count, size_t size, KanonCompare compare, void *arg)
{
	char *from = items;
	char *into = scratch;

	if (count < 2)
		return;
	for (size_t start = 0; start < count; start += RUN_LENGTH)
		sort_run(from + start * size, into, count - start < RUN_LENGTH ? count - start : RUN_LENGTH, size,
				 compare, arg);
	for (size_t run = RUN_LENGTH; run < count; run *= 2)
	{
		char *swap = from;

		for (size_t start = 0; start < count; start += 2 * run)
		{
			size_t rest = count - start;
			size_t length = rest < 2 * run ? rest : 2 * run;

			merge_runs(into + start * size, from + start * size, length < run ? length : run, length, size,
					   compare, arg);
		}
		from = into;
		into = swap;
	}
	if (from != (char *) items)
		memcpy(items, from, count * size);
}

int
kanon_compare_numbers(const void *a, const void *b, void *arg)
{
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	(void) arg;
	return left < right ? -1 : left > right;
}

int
kanon_compare_longs(const void *a, const void *b, void *arg)
{
	uint64_t left = *(const uint64_t *) a;
	uint64_t right = *(const uint64_t *) b;

	(void) arg;
	return left < right ? -1 : left > right;
}

int
kanon_compare_keyed(const void *a, const void *b, void *arg)
{
	const KanonKeyed *left = a;
	const KanonKeyed *right = b;

	(void) arg;
	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return left->item < right->item ? -1 : left->item > right->item;
}
