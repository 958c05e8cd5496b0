/*
 * on_disk_rows.h: what the files share that have row types on disk: what is there, and row types
 * of which some are in memory.
 */
#ifndef KANON_ON_DISK_ROWS_H
#define KANON_ON_DISK_ROWS_H

#include "run/on_disk_types.h"
#include "core/model/mask.h"
#include "host/secure_random.h"
#include "rows/keyed.h"
#include "rows/marginals.h"

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

#endif
