/*
 * freeform_options.h: what is asked of a freeform solver (src/core/freeform), and
 * what its methods promise: the check of every release must know.
 */
#ifndef KANON_FREEFORM_OPTIONS_H
#define KANON_FREEFORM_OPTIONS_H

#include "kanon.h"

typedef enum KanonFreeformMethod
{
	KANON_FREEFORM_GREEDY,
	KANON_FREEFORM_SORT_GREEDY,
	KANON_FREEFORM_HUNGARIAN,
	KANON_FREEFORM_MIP,
	KANON_FREEFORM_MIN_COST_FLOW,
	KANON_FREEFORM_RING,
	KANON_FREEFORM_CONCEALMENT, /* weaker: the graph is not k-regular */

	/* weaker still, and each record has what was kept of its own row: kanon_cluster's */
	KANON_FREEFORM_ONE_K, /* every row matches k records */
	KANON_FREEFORM_K_ONE, /* every record matches k rows */
	KANON_FREEFORM_K_K    /* both */
} KanonFreeformMethod;

/* Are they (1,k)-, (k,1)- or (k,k)-anonymity? */
static inline bool
kanon_freeform_relaxed(KanonFreeformMethod method)
{
	return method >= KANON_FREEFORM_ONE_K;
}

/* What a method promises: k records to every row, k rows to every record. */
static inline bool
kanon_freeform_promises_rows(KanonFreeformMethod method)
{
	return method != KANON_FREEFORM_K_ONE;
}

static inline bool
kanon_freeform_promises_records(KanonFreeformMethod method)
{
	return method != KANON_FREEFORM_ONE_K;
}

/* Random bytes nobody can foresee; false: there are none. */
typedef bool (*KanonStrongRandom)(void *to, size_t size);

typedef struct KanonFreeformOptions
{
	KanonFreeformMethod method;
	uint32_t partition_size;  /* rows of a part, at least; 0: one part */
	bool symmetric;           /* row i matches record j only if row j matches record i */
	KanonStrongRandom strong; /* NULL: random numbers follow from problem->seed */
} KanonFreeformOptions;

#endif
