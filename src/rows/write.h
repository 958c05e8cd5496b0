/*
 * write.h: the release becomes rows.
 */
#ifndef KANON_WRITE_H
#define KANON_WRITE_H

#include "compat.h"
#include "rows/row_types.h"
#include "rows/target.h"

/* The release's rows; returns how many were written. */
extern int64 target_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
						  const KanonRelease *release, Border *border);

/*
 * The same of a release of which some classes are at hand at a time.  problem and release stay where they
 * are, and are those of the classes at hand when these are written; `total` rows will be.
 */
typedef struct Writer Writer;

/* The next row of a class, with what it keeps; false: there is none. */
typedef bool (*NextRow)(void *arg, uint32 class_, const Datum **kept, const bool **nulls);

extern Writer *target_write_begin(const Target *target, const RowTypes *types, const KanonProblem *problem,
								  const KanonRelease *release, int64 total, Border *border);

/* next: NULL without kept columns. */
extern void target_write_classes(Writer *writer, NextRow next, void *arg);
extern int64 target_write_end(Writer *writer);

/* The source is another when it is read again. */
pg_noreturn extern void raise_source_changed(void);

#endif
