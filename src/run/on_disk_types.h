/*
 * on_disk_types.h: row types on disk, or in shared memory, for partition_by
 */
#ifndef KANON_ON_DISK_TYPES_H
#define KANON_ON_DISK_TYPES_H

#include "run/run.h"
#include "core/model/measure.h"
#include "core/model/model.h"
#include "host/border.h"
#include "rows/row_types.h"

/*
 * ---- on_disk_types.c: partition_by of a source whose row types do not fit into memory: the rows of each
 * value of a column by themselves, on disk, and what is left over together.
 */

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
 * May row types stay on disk, where partition_by is given?  A model that looks at a whole release
 * has them in memory: a caller who is short of memory is told why.
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

/*
 * ---- on_disk_classes.c: what the files share that have row types on disk: what is there, and row types
 * of which some are in memory.
 */

#define MOST_KEY (KANON_MAX_COLUMNS / 8 + 8 * KANON_MAX_COLUMNS + 8)

typedef struct PartedRows
{
	Run *run;
	bool kept; /* rows come with what they keep, and are written */
	Marginals values;
	Keyed *source;
	Keyed *left;
	int64 nleft;
	int64
		held; /* the last value of k rows, which may have to be solved with what is left over; -1: there is none */
	int64 later; /* rows of the values after it */
	Keyed *flows;
	Keyed *placed;
	instr_time started;
	int64 solved; /* rows whose turn is over */
	int64 dropped;
	RandomPool random;
	KanonColumn columns[KANON_MAX_COLUMNS]; /* of the part or chunk at hand */
	KanonColumn extra[KANON_MAX_COLUMNS];   /* and what privacy rules look at */
} PartedRows;

/* Row types that come one after the other. */
typedef struct PartedTypes
{
	uint32 n;
	Size room;
	uint32 *code[KANON_MAX_COLUMNS]; /* of each column that tells row types apart */
	int64 *rows;
} PartedTypes;

extern void parted_add_type(PartedTypes *types, const Source *source, const unsigned char *codes, int64 rows,
							Border *border);
extern void parted_free_types(PartedTypes *types, const Source *source, Border *border);

/* Was such a type the last one? */
extern bool parted_is_type(const PartedTypes *types, const Source *source, const unsigned char *codes);

/* The run's problem, of these row types alone; codes of levels are made, until the problem is closed. */
extern KanonProblem parted_open_problem(PartedRows *parted, const PartedTypes *types);
extern void parted_close_problem(PartedRows *parted);

/* A class as a key: its pattern, then what it shows. */
extern unsigned char *parted_put_class(unsigned char *key, const KanonProblem *problem, KanonPattern pattern,
									   const KanonCell *cells);

/* The same back; how long it is. */
extern int parted_get_class(const unsigned char *key, const KanonProblem *problem, KanonPattern *pattern,
							KanonCell *cells);

/* on_disk_classes.c: measures of what was placed. */
extern void parted_measure(PartedRows *parted);

/* ---- partition_by.c: a problem in shared memory, for parallel workers ---- */

/* Its pointers, and the columns', mean nothing there; its arrays lie behind it. */
typedef struct SharedProblem
{
	KanonProblem problem;
	KanonColumn columns[KANON_MAX_COLUMNS];
} SharedProblem;

/* A process's own, whose arrays are the shared ones. */
typedef struct FoundProblem
{
	KanonProblem problem;
	KanonColumn columns[KANON_MAX_COLUMNS];
} FoundProblem;

/* Privacy rules stay where their dictionaries are. */
extern bool problem_can_be_shared(const KanonProblem *problem);

/* Bytes that the arrays take. */
extern Size shared_problem_size(const KanonProblem *problem);

extern void shared_problem_put(const KanonProblem *problem, SharedProblem *shared, char *arrays);
extern void shared_problem_find(const SharedProblem *shared, char *arrays, Border *border,
								FoundProblem *found);

#endif
