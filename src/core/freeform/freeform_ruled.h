/*
 * freeform_ruled.h: rings whose windows keep rules beyond k, and groups that do.
 */
#ifndef FREEFORM_RULED_H
#define FREEFORM_RULED_H

#include "freeform/freeform_work.h"
#include "util/sort.h"

typedef struct FreeformRules
{
	FreeformWork *work;
	int n;
	uint32_t *rows; /* [n] of the part, group by group: freeform_ring.c's */
	int32_t *code[KANON_FREEFORM_RULES];
	uint32_t *count;    /* [n] zero between calls */
	uint32_t *order;    /* [2 * n] */
	KanonKeyed *spread; /* [2 * n] */
	/* of each record: how many rows it shows, which group it is of, and where in that these begin */
	uint32_t *window;
	uint32_t *first;
	uint32_t *size;
	uint32_t *place;
	uint32_t *given;
} FreeformRules;

/* In memory of the work's scratch. */
extern KanonStatus freeform_rules_open(FreeformRules *rules, FreeformWork *work);

/* By all that rules look at; arg: the FreeformRules. */
extern int freeform_compare_kinds(const void *a, const void *b, void *arg);

/* Rows by that, those that are the same in random order. */
extern void freeform_rules_sort(FreeformRules *rules, uint32_t *row, uint32_t n);

/* The most that one value may have of so many rows by rule r. */
extern uint32_t freeform_rules_most(const FreeformRules *rules, int r, uint32_t n);

/* Do these rows keep the rules, all together? */
extern bool freeform_rules_allow(FreeformRules *rules, const uint32_t *row, uint32_t n);

/* These rows, which do, become a ring: row + n is within rules->rows. */
extern KanonStatus freeform_rules_ring(FreeformRules *rules, uint32_t *row, uint32_t n);

/* These rows, which keep the rules, become a group, whose records all show all of it: as above. */
extern void freeform_rules_group(FreeformRules *rules, uint32_t *row, uint32_t n);

/* All rows are in rings or groups: the graph, and what was drawn. */
extern KanonStatus freeform_rules_graph(const FreeformRules *rules, KanonFreeformGraph *graph);

#endif
