/*
 * merged_rows.h: the rows of clusters that are merged, as rules look at them: those that these do
 * not tell apart are added up.  What is asked of a cluster then takes as long as it has
 * different ones, however many rows it has.
 */
#ifndef KANON_MERGED_ROWS_H
#define KANON_MERGED_ROWS_H

#include "util/pace.h"
#include "util/scratch.h"

/* Combinations of what rules look at: rows of one are the same to them. */
typedef struct KanonValues
{
	uint32_t n;
	uint32_t *of;      /* [ntypes] */
	uint32_t *typical; /* [n] a type with it */
} KanonValues;

/* In memory of the scratch. */
extern KanonStatus kanon_number_values(const KanonProblem *problem, KanonScratch *scratch, KanonPace *pace,
									   KanonValues *values);

typedef struct HeldRows
{
	uint32_t type;
	uint32_t next;
	int64_t rows;
} HeldRows;

typedef struct Held
{
	KanonPace *pace;
	KanonValues values;
	HeldRows *items; /* [most] */
	uint32_t n;
	/* by cluster */
	uint32_t *first; /* items, linked up */
	uint32_t *last;
	uint32_t *length;  /* so many, */
	uint32_t *counted; /* and when equal ones were last added up */
	uint32_t *became;  /* the cluster that its rows went to; else itself */
	int64_t *rows;     /* 0: it is gone */

	uint32_t *met;    /* [values.n] stamp: the cluster at hand has it, */
	uint32_t *met_at; /* [values.n] as this item */
	uint32_t stamp;
} Held;

/* Empty clusters, and room for so many items.  In memory of the scratch. */
extern KanonStatus held_open(Held *held, const KanonProblem *problem, uint32_t nclusters, size_t most,
							 KanonScratch *scratch, KanonPace *pace);

extern void held_add(Held *held, uint32_t cluster, uint32_t type, int64_t rows);

/* Adds up what is equal: after the last of held_add. */
extern void held_add_up(Held *held, uint32_t cluster);

/* The rows of one are another's from now on. */
extern void held_hand_over(Held *held, uint32_t from, uint32_t to);

/* The cluster that has the rows which one had at first. */
extern uint32_t held_by(Held *held, uint32_t cluster);

/* Writes the rows of a cluster after `n` that are there; how many there are then. */
extern size_t held_list(const Held *held, uint32_t cluster, uint32_t *types, int64_t *counts, size_t n);

#endif
