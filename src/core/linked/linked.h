/*
 * linked.h: rows of persons in several tables
 */
#ifndef KANON_LINKED_H
#define KANON_LINKED_H

#include "kanon.h"
#include "util/pace.h"
#include "util/scratch.h"

/*
 * ---- linked.c: rows of several tables that hang on persons, generalised class by class.
 *
 * (k, k^m)-anonymity: Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos, "Anonymizing Data with
 * Relational and Transaction Attributes", ECML PKDD 2013.  The cells of persons in the subject's
 * table make their classes.  Inside each class, k persons have every combination of at most m rows
 * of each table that one person has.  Among the persons who have it, the values of each of its rows
 * keep the rules of the row's table, and those of the persons' own values.  m = 0 stands for all rows: k persons of the class agree in
 * everything (Nergiz, Clifton, Nergiz, "Multirelational k-Anonymity", 2009).
 */

/* Releases, and classes, of more rows are not improved once they keep the promise. */
#define KANON_IMPROVED_ROWS 200000
#define KANON_IMPROVED_CLASS 2000

/* Tables beside the subject's, and rows of each table that somebody may know. */
#define KANON_MAX_LINKED 16
#define KANON_MAX_KNOWN_ROWS 4

typedef struct KanonLinkedTable
{
	const KanonProblem
		*problem; /* columns with their weights, row types; types that agree in all columns are neighbours */
	const KanonProblem *ruled; /* the same with rules, by types whose persons are told apart; or NULL */
	int known;                 /* rows that somebody may know; unless all are */
	double weight;             /* of what all its columns cost; 0: 1 */
	int parent;                /* the table on whose rows its rows hang, a lesser number; -1: on persons */
	bool
		copies; /* one for each of those, which is known with it and left out with it alone: they are its columns */
	uint32_t nrows;
	const uint32_t *type;   /* [nrows] */
	const uint32_t *person; /* [nrows] */
	const uint32_t *above;  /* [nrows] the row of the parent; NULL: persons are */
	int joins;              /* a table between the parent's and this one, to whose rows some refer, too; */
	const uint32_t *
		joined; /* [nrows] its row, of the same parent's row; KANON_NO_ROW: none.  NULL: there is no such table */
	bool *
		apart; /* [nrows] the row hangs on the parent's row alone; in: those that do; out: all.  A row apart looks as if it referred to nothing */
	bool *gone; /* [nrows] left out; in: those that are already; out: all */
	const uint32_t *const *
		look; /* [columns] of each code: a number of what readers see, the same at all levels; 0: nothing.  NULL: cells that differ look different */

	/* Out: what a row shows: row type `like[i]`, of quasi-identifier q from level[i * nqis + q] on. */
	int nqis;
	uint32_t *like;
	uint8_t *level;
} KanonLinkedTable;

typedef struct KanonLinked
{
	KanonEnv *env;
	int64_t k;
	int m;      /* rows of a table that somebody may know, at most; 0: all rows of all tables are known */
	int in_all; /* of all tables together at most; 0: no more than of each */
	int ntables;
	KanonLinkedTable *tables;
	uint32_t npersons;
	uint32_t nclasses;
	const uint32_t *class_; /* [npersons] */
	const KanonProblem
		*ruled; /* rules of the persons' own values, which those who have a combination keep; or NULL */
	const uint32_t *values; /* [npersons] a row type of it with the person's values */
} KanonLinked;

#define KANON_NO_ROW UINT32_MAX

/*
 * Fills in the cells of rows, and the rows that are left out.  KANON_TOO_LARGE (detail): too many
 * combinations.
 */
extern KanonStatus kanon_solve_linked(KanonLinked *linked, KanonReport *report);

/* ---- linked_class: the rows of one class of persons at hand ---- */

/* Rows of all tables that somebody may know, at most. */
extern int kanon_linked_most(const KanonLinked *linked);

/* A row of any table. */
typedef struct LinkedRow
{
	uint32_t person; /* of the class, from 0 */
	uint32_t above;  /* the row that it hangs on, by its place in the class; or KANON_NO_ROW */
	uint32_t owner;  /* the same of a row apart: another one if the row joins */
	uint32_t node;
	uint32_t row; /* in its table */
	uint8_t table;
	bool gone;
} LinkedRow;

/* The least common generalisation of some rows of a table. */
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

	bool improved;   /* the release is small enough to look for what loses less */
	uint32_t number; /* of the class, from 1 */
	uint32_t npersons;
	const uint32_t *members; /* [npersons] their numbers */
	uint32_t *start;         /* [npersons + 1] rows of each person */
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

/* The common part of two nodes of a table: its levels, and what a row that shows it costs. */
extern double kanon_linked_common(const LinkedClass *class, uint32_t a, uint32_t b, uint8_t *level);

/* Node b becomes a, which shows what both have in common. */
extern void kanon_linked_merge(LinkedClass *class, uint32_t a, uint32_t b);

/* Does the row refer to another one beside the parent's? */
static inline bool
kanon_linked_joins(const LinkedClass *class, uint32_t row)
{
	return class->rows[row].above != class->rows[row].owner;
}

/* Rows of a person that look alike on one row do not show that reference any more. */
extern void kanon_linked_part(LinkedClass *class, uint32_t row);

/* Leaves out a row and all that hangs on it, but rows that only join it. */
extern void kanon_linked_leave_out(LinkedClass *class, uint32_t row);

/* The price of a row that is left out, or shows no reference; and of one that is left out with all that hangs on it. */
extern double kanon_linked_left_out(const LinkedShape *shape);
extern double kanon_linked_parted(const LinkedShape *shape);
extern double kanon_linked_price(const LinkedClass *class, uint32_t row);

/* linked_combinations.c, linked_all.c: the class keeps the promise from now on. */
extern KanonStatus kanon_linked_combinations(LinkedClass *class);
extern KanonStatus kanon_linked_all(LinkedClass *class);

/* linked_counter.c: does the class keep the promise as it is?  A counter that failed is ended, too. */
typedef struct LinkedCounter LinkedCounter;
extern KanonStatus kanon_linked_counter(LinkedClass *class, LinkedCounter *counter);
extern KanonStatus kanon_linked_keeps(LinkedCounter *counter, bool *keeps);
extern void kanon_linked_counter_end(LinkedCounter *counter);

/* linked_improve.c: a class that keeps the promise loses less; its nodes are of the scratch then. */
extern KanonStatus kanon_linked_improve(LinkedClass *class, KanonScratch *scratch);

#endif
