/*
 * sort.h: sorting with scratch memory of the caller, and a heap.
 */
#ifndef KANON_SORT_H
#define KANON_SORT_H

#include "kanon.h"
#include "util/scratch.h"

typedef int (*KanonCompare)(const void *a, const void *b, void *arg);

/*
 * Stable merge sort; scratch has room for count items.  qsort_r is no
 * alternative: glibc's takes memory behind the host's back.
 */
extern void kanon_sort(void *items, void *scratch, size_t count, size_t size, KanonCompare compare,
					   void *arg);

/* Something by its number, with what it is ordered by. */
typedef struct KanonKeyed
{
	double key;
	uint32_t item;
} KanonKeyed;

/* Compares KanonKeyed by key, then by item, ascending. */
extern int kanon_compare_keyed(const void *a, const void *b, void *arg);

/* Compares uint32_t, ascending. */
extern int kanon_compare_numbers(const void *a, const void *b, void *arg);

/* The same of uint64_t. */
extern int kanon_compare_longs(const void *a, const void *b, void *arg);

/*
 * ---- A binary heap in a growing array of a scratch: the item with the least key is on top, and of equal keys the one
 * with the least number.
 */

typedef struct KanonHeap
{
	KanonKeyed *items;
	size_t n;
	size_t room;
} KanonHeap;

static inline bool
kanon_heap_before(KanonKeyed a, KanonKeyed b)
{
	return a.key < b.key || (a.key == b.key && a.item < b.item);
}

/* False when memory is refused. */
static inline bool
kanon_heap_add(KanonScratch *scratch, KanonHeap *heap, double key, uint32_t item)
{
	KanonKeyed added = {key, item};
	size_t at = heap->n;

	if (!KANON_GROW(scratch, &heap->room, heap->n + 1, KANON_ARRAY(heap->items)))
		return false;
	for (heap->n++; at > 0 && kanon_heap_before(added, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = added;
	return true;
}

/* Takes the top off a heap that is not empty. */
static inline KanonKeyed
kanon_heap_take(KanonHeap *heap)
{
	KanonKeyed top = heap->items[0];
	KanonKeyed last = heap->items[--heap->n];
	size_t at = 0;

	for (size_t child = 1; child < heap->n; child = 2 * at + 1)
	{
		child += child + 1 < heap->n && kanon_heap_before(heap->items[child + 1], heap->items[child]);
		if (!kanon_heap_before(heap->items[child], last))
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = last;
	return top;
}

#endif
