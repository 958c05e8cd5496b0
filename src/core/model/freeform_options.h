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
	KANON_FREEFORM_PLAIN_SORT_GREEDY, /* these two as the paper has them: no round is made anew */
	KANON_FREEFORM_PLAIN_HUNGARIAN,
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
	const int64_t
		*own_k; /* [ntypes] matches that rows of a type want; the problem's k is the least; NULL: it is all */
} KanonFreeformOptions;

/* Matches that each row of a type has to have; without options the problem's k. */
static inline int64_t
kanon_freeform_own_k(const KanonProblem *problem, uint32_t type)
{
	const KanonFreeformOptions *options = problem->freeform;

	return options != NULL && options->own_k != NULL && options->own_k[type] > problem->k
			   ? options->own_k[type]
			   : problem->k;
}

/* The most of them. */
static inline int64_t
kanon_freeform_most_k(const KanonProblem *problem)
{
	int64_t most = problem->k;

	for (uint32_t i = 0; problem->freeform->own_k != NULL && i < problem->ntypes; i++)
		if (problem->freeform->own_k[i] > most)
			most = problem->freeform->own_k[i];
	return most;
}

#endif
