/*
 * unclassed.h: what the tests of methods without classes have in common.
 */
#ifndef UNCLASSED_H
#define UNCLASSED_H

#include "fixture.h"

/* A table of random codes; some columns are numbers, some of these have NULLs. */
extern KanonProblem *random_table(Host *host, uint64_t *random, size_t rows, int columns, uint32_t domain,
								  int64_t k);

/*
 * The same of so many quasi-identifiers, some of them numbers, some with hierarchies of up to three levels, numbers
 * and values whose nodes are anywhere among the codes, with weights from 1 to 3.
 */
extern KanonProblem *random_trees(Host *host, uint64_t *random, size_t rows, int qis, uint32_t domain,
								  int64_t k);

/* Is a method built in?  The optimum takes GLPK. */
extern bool is_there(int method);

/* Does a method make graphs in which both match each other? */
extern bool makes_mutual(int method);

/*
 * By brute force, at most 6 rows: the cheapest n sets of k rows in which every row is k times.  type: of each row;
 * set: of rows, as bits.
 */
extern double least_graph(const KanonProblem *problem, unsigned n, unsigned k,
						  double (*set_price)(const KanonProblem *problem, const uint32_t *type,
											  unsigned set));

/* GCP (of nodes: NCP) of what a class shows, by the definition, times its weight, in the sum of weights. */
extern double cost_by_hand(const KanonProblem *problem, const KanonRelease *release);

#define MOST_RECORDS 40

/* Records by chance, in two columns, and who matches them. */
typedef struct Shown
{
	KanonClass classes[MOST_RECORDS];
	KanonCell cells[2 * MOST_RECORDS];
	uint32_t pool[6 * MOST_RECORDS];
	KanonRelease release;
	uint32_t type[MOST_RECORDS];            /* of each row */
	bool match[MOST_RECORDS][MOST_RECORDS]; /* record, row */
} Shown;

/* n records by chance of two columns whose values are below `domain`. */
extern void random_records(const KanonProblem *problem, uint64_t *random, unsigned n, uint32_t domain,
						   Shown *s);

#endif
