/*
 * freeform_tree.h: what nodes of hierarchies cost, before there are parts.
 */
#ifndef KANON_FREEFORM_TREE_H
#define KANON_FREEFORM_TREE_H

#include "freeform/graph.h"

/* What each node of the space's column c loses: fills plan->share of its levels. */
extern KanonStatus freeform_tree_price(KanonFreeformPlan *plan, int c);

/* In units, of the node that a row type has at a level (0: its value; after the last level: everything). */
extern int32_t freeform_tree_cost(const KanonFreeformPlan *plan, int c, int level, uint32_t type);

/* The lowest level at which two row types have the same node; after the last one there is everything. */
extern int freeform_tree_meet(const KanonFreeformPlan *plan, int c, uint32_t a, uint32_t b);

#endif
