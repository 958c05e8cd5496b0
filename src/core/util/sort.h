/*
 * sort.h: sorting with scratch memory of the caller.
 */
#ifndef KANON_SORT_H
#define KANON_SORT_H

#include "kanon.h"

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

#endif
