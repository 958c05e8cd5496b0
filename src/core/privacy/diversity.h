/*
 * diversity.h: how the values of a sensitive column spread over a class.
 */
#ifndef KANON_DIVERSITY_H
#define KANON_DIVERSITY_H

#include "kanon.h"

/* Recursive (c,l)-diversity is measured for l = 2 .. this. */
#define KANON_RECURSIVE_MOST 5

/* A hierarchy above a column's codes: what t-closeness calls the tree of values. */
typedef struct KanonTaxonomy
{
	int height;                    /* levels above the codes; the highest has one node */
	const uint32_t *nodes;         /* [height] of each level, from below */
	const uint32_t *const *parent; /* [height]: level h's node of each node one level below */
} KanonTaxonomy;

/*
 * How a class, or the worst of several, fulfils the usual rules about a
 * sensitive column.  Distances are from the column's distribution in the table.
 */
typedef struct KanonDiversity
{
	uint32_t distinct; /* different values (distinct l) */
	double entropy;    /* largest l of entropy l-diversity */
	double recursive[KANON_RECURSIVE_MOST +
					 1]; /* [l]: (c,l)-diverse for every c above this; INFINITY: for none */
	double alpha;        /* share of the most frequent value */
	double t_equal;
	double t_ordered;      /* codes in the order of the values */
	double t_hierarchical; /* 0 without a taxonomy */
} KanonDiversity;

/* How far apart values are; diversity.c says how. */
typedef enum KanonDistance
{
	KANON_DISTANCE_EQUAL,
	KANON_DISTANCE_ORDERED,
	KANON_DISTANCE_HIERARCHICAL
} KanonDistance;

/* What is known of a sensitive column before its classes are looked at. */
typedef struct KanonDiversityMeter KanonDiversityMeter;

/*
 * count: [distinct] of each code in the table, all > 0.  taxonomy: NULL or one
 * that outlives the meter.
 */
extern KanonStatus kanon_diversity_open(KanonEnv *env, const int64_t *count, uint32_t distinct,
										const KanonTaxonomy *taxonomy, KanonDiversityMeter **meter);
extern void kanon_diversity_close(KanonDiversityMeter *meter);

/*
 * A class in which the codes (ascending, n > 0 of them) occur so many times.
 * size: what alpha is a share of: the sum of the counts, or, where a person may
 * have several values, the number of persons.
 */
extern void kanon_diversity_class(KanonDiversityMeter *meter, const uint32_t *code, const int64_t *count,
								  uint32_t n, int64_t size, KanonDiversity *diversity);

/* The distance alone (hierarchical: 0 without a taxonomy), and the entropy as an l. */
extern double kanon_diversity_distance(KanonDiversityMeter *meter, KanonDistance distance,
									   const uint32_t *code, const int64_t *count, uint32_t n);
extern double kanon_diversity_entropy(const int64_t *count, uint32_t n);

/* worst becomes the worse of both in each respect. */
extern void kanon_diversity_worse(KanonDiversity *worst, const KanonDiversity *other);

#endif
