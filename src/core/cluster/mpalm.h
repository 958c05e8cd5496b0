/*
 * mpalm.h: between mpalm.c and mpalm_class.c.
 */
#ifndef KANON_MPALM_H
#define KANON_MPALM_H

#include "cluster/clustering.h"
#include "privacy/population.h"

/* Nothing is shown: no code. */
#define HIDDEN ((KanonHull){0, UINT32_MAX})

typedef struct Mpalm
{
	const KanonProblem *problem;
	ClusterLayout layout;
	KanonScratch scratch;
	KanonPace pace;
	size_t width;      /* columns */
	uint32_t *type;    /* [ntypes] the table's row types, part by part */
	uint32_t n;        /* of them in parts that wait */
	uint32_t **people; /* [npopulations] row types of each population, part by part; NULL: of shares */
	uint32_t *npeople; /* [npopulations] those in parts that wait */
	uint32_t *from;    /* where each part begins: of the table, then of each population */
	KanonHull *hull;   /* [width] of each part */
	size_t nparts;
	size_t from_room;
	size_t hull_room;
	ClusterParts parts;
	KanonHull *shown; /* [width] of each cluster */
	size_t shown_room;

	/* a division that is tried */
	uint32_t nchildren;
	uint32_t *child;       /* [most distinct, or 2] of a code */
	uint32_t *sorted;      /* [ntypes] by child */
	uint32_t *spare;       /* [ntypes] */
	uint32_t *start;       /* [ntypes + 2] */
	int64_t *rows;         /* [ntypes + 1] by child */
	KanonHull *child_hull; /* [ntypes + 1] of the column that tells children apart: */
	int column;
	int64_t *found;          /* [ntypes + 1] of a population, by child; the last: nobody's */
	uint32_t *people_sorted; /* [most row types of a population] */
	uint64_t *pairs;         /* [twice that] a child and a person; NULL: no population has persons */
} Mpalm;

/* The part that is divided: the last. */
typedef struct Part
{
	const uint32_t *from; /* of the table, and of each population */
	KanonHull *hull;
	uint32_t low[KANON_MAX_COLUMNS]; /* of its rows, by column */
	uint32_t high[KANON_MAX_COLUMNS];
	int64_t rows;
} Part;

/* Counts the persons of n pairs: each once in a child. */
extern KanonStatus mpalm_count_persons(Mpalm *m, size_t n, int64_t *found);

static inline bool
mpalm_is_ordered(const ClusterQi *qi)
{
	return qi->show == KANON_CLUSTER_RANGE || qi->show == KANON_CLUSTER_SET;
}

/* The code of NULL in a column of ranges, beside which it shows none. */
extern uint32_t mpalm_null_code(const Mpalm *m, const ClusterQi *qi);

/* Does a value of a population show what a region shows of a quasi-identifier? */
extern bool mpalm_matches(const Mpalm *m, const KanonPopulation *population, const ClusterQi *qi, uint32_t i,
						  const KanonHull *hull);

/* The share of a population that a region matches. */
extern double mpalm_share(const Mpalm *m, const KanonPopulation *population, const KanonHull *hull);

/* May a part of so many rows be, of which a population has found so many, or that share matches it? */
extern bool mpalm_keeps(const Mpalm *m, int p, int64_t rows, int64_t found, double match);

/* The last part is a class, if it may be: *allowed. */
extern KanonStatus mpalm_take_class(Mpalm *m, const Part *part, bool *allowed);

#endif
