/*
 * subsets.h: which columns tell a table's rows apart.
 */
#ifndef KANON_SUBSETS_H
#define KANON_SUBSETS_H

#include "kanon.h"

/* Columns of a subset, at most. */
#define KANON_SUBSET_MOST 3

/* How well some columns tell rows apart. */
typedef struct KanonSubset
{
	int ncolumns;
	int column[KANON_SUBSET_MOST]; /* ascending */
	int64_t classes;               /* different combinations of values */
	int64_t unique;                /* rows that are the only one with theirs */
	double distinction;            /* classes / rows */
	double separation;             /* share of the pairs of rows that differ; 0 for a single row */
	bool minimal;                  /* no part of it has as many classes, or identifies already */
} KanonSubset;

/* Some columns identify when this share of the rows, or more, has a combination of its own. */
#define KANON_IDENTIFYING 0.9

/*
 * Every subset of up to KANON_SUBSET_MOST columns, most identifying first: by
 * distinction, then separation, then fewer columns, then columns as listed.
 * Reads env, ncolumns, columns (code, distinct), ntypes and rows of the problem.
 * *subsets is env memory.
 */
extern KanonStatus kanon_rank_subsets(const KanonProblem *problem, KanonSubset **subsets, size_t *n);

#endif
