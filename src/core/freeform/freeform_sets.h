/*
 * freeform_sets.h: sets of k rows that cost less than their rows are worth, for freeform_mip.c.
 */
#ifndef KANON_FREEFORM_SETS_H
#define KANON_FREEFORM_SETS_H

#include "freeform/freeform_work.h"

/* A set that was found; its types are set[slot * k ..]. */
typedef struct FreeformSet
{
	double reduced; /* cost less prices */
	double cost;    /* of a record that shows it; 1: nothing is shown */
	uint32_t slot;
} FreeformSet;

typedef struct FreeformSets
{
	FreeformWork *work;
	KanonPace *pace;
	KanonScratch *scratch;
	/* equal rows are a type, of which a set has as many as there are at most */
	uint32_t ntypes;
	const uint32_t *first; /* [ntypes] a row of each */
	const uint32_t *rows;  /* [ntypes] */
	double *price;         /* [ntypes] */

	/* what is looked for: sets of a reduced cost of at most `limit`; no more than `most`, the least */
	double limit;
	size_t most;

	/* what was found */
	size_t n;
	FreeformSet *found; /* [n] */
	uint32_t *set;      /* types, ascending */
	bool cut;           /* there are more */
	bool late;          /* time has ended: who knows */
	size_t room;

	/* while it is looked for */
	uint32_t *order;  /* [ntypes] types by price, the highest first */
	uint32_t *chosen; /* [k] */
	int32_t *low;     /* [(k + 1) * ncolumns] numbers; of hierarchies the node */
	int32_t *high;
} FreeformSets;

/* In memory of the scratch. */
extern KanonStatus freeform_sets_open(FreeformSets *sets);

/* Fills found[n], the least reduced cost first. */
extern KanonStatus freeform_sets_find(FreeformSets *sets);

#endif
