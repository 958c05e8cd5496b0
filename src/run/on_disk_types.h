/*
 * on_disk_types.h: partition_by of a source whose row types do not fit into memory: the rows of each
 * value of a column by themselves, on disk, and what is left over together.
 */
#ifndef KANON_ON_DISK_TYPES_H
#define KANON_ON_DISK_TYPES_H

#include "run/run.h"

/* Row types that need more than 1/PARTED_SHARE of kanon.max_memory stay on disk. */
#define PARTED_SHARE 4

/* A pattern, and what it was used for. */
typedef struct PatternUse
{
	KanonPattern pattern;
	int64 classes;
	int64 rows;
} PatternUse;

typedef struct Parted
{
	int qi; /* by whose values */
	KanonPartitionFacts facts;
	PatternUse *used; /* [nused] in the mask's order, once it is solved */
	int nused;
	RunSizes sizes; /* of the source's classes and the target's */
	struct PartedRows *rows;
} Parted;

/*
 * May row types stay on disk, where partition_by is given?  What looks at a whole release has them in memory: who
 * is short of it is told why.
 */
extern bool parted_may(Run *run);

/*
 * Reads the source's row types; of a source that has too many, the values alone: the run's row types are
 * made up then, but have them in as many rows each, and so do the problem's.
 */
extern void parted_read(Run *run);

/*
 * Solves and measures, reading the source once more: the release is made up, too, but has what measures of
 * columns ask for.
 */
extern KanonStatus parted_solve(Run *run);

/* The classes are recorded, and the target written. */
extern void parted_write(Run *run);

#endif
