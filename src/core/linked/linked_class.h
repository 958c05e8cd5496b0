/*
 * linked_class.h: the rows of one class of persons at hand.
 */
#ifndef KANON_LINKED_CLASS_H
#define KANON_LINKED_CLASS_H

#include "linked/linked.h"
#include "util/pace.h"
#include "util/scratch.h"

#define KANON_NO_ROW UINT32_MAX

/* A row of any table. */
typedef struct LinkedRow
{
	uint32_t person; /* of the class, from 0 */
	uint32_t above;  /* the row that it hangs on, by its place in the class; or KANON_NO_ROW */
	uint32_t node;
	uint32_t row; /* in its table */
	uint8_t table;
	bool gone;
} LinkedRow;

/* What some rows of a table show: their least common generalisation. */
typedef struct LinkedNode
{
	uint32_t like; /* a row type that it shows */
	uint32_t rows;
	double cost; /* of a row that shows it */
	uint8_t table;
	bool merged; /* into another node, whose number is `like` */
} LinkedNode;

/* A table's quasi-identifiers, and what generalising them costs. */
typedef struct LinkedShape
{
	int nqis;
	int first[KANON_MAX_QIS + 1]; /* columns of each; [nqis]: all */
	double *price;                /* [columns + nqis] of level 0, 1, … of the first, then of the next one */
	int price_of[KANON_MAX_QIS];
	double blank;    /* cost of a row that shows nothing */
	uint32_t *tuple; /* [ntypes] numbers of what row types have in all columns */
	uint32_t ntuples;
	uint32_t *node;  /* [ntuples] in the class at hand, */
	uint32_t *stamp; /* [ntuples] where this is its number */
} LinkedShape;

typedef struct LinkedClass
{
	KanonLinked *linked;
	KanonReport *report;
	KanonPace *pace;
	LinkedShape *shapes; /* [ntables] */
	int most_qis;

	uint32_t number; /* of the class, from 1 */
	uint32_t npersons;
	uint32_t *start; /* [npersons + 1] rows of each person */
	uint32_t nrows;
	LinkedRow *rows; /* [nrows] of a person those of parents first */
	uint32_t nnodes;
	LinkedNode *nodes; /* [<= nrows] */
	uint8_t *level;    /* [nnodes][most_qis] */
} LinkedClass;

/* The node that stands for a node by now. */
static inline uint32_t
kanon_linked_node(LinkedClass *class, uint32_t node)
{
	while (class->nodes[node].merged)
		node = class->nodes[node].like;
	return node;
}

/* What two nodes of a table have in common: its levels, and what a row that shows it costs. */
extern double kanon_linked_common(const LinkedClass *class, uint32_t a, uint32_t b, uint8_t *level);

/* Node b becomes a, which shows what both have in common. */
extern void kanon_linked_merge(LinkedClass *class, uint32_t a, uint32_t b);

/* Leaves out a row and all that hangs on it. */
extern void kanon_linked_leave_out(LinkedClass *class, uint32_t row);

/* What a row that is left out costs, with all that hangs on it. */
extern double kanon_linked_price(const LinkedClass *class, uint32_t row);

/* linked_combinations.c, linked_all.c: the class keeps the promise from now on. */
extern KanonStatus kanon_linked_combinations(LinkedClass *class);
extern KanonStatus kanon_linked_all(LinkedClass *class);

#endif
